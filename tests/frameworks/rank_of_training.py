"""One rank of a training loop of accelerate, transformers or Lightning, as a process of its own: prints what it took.

Its arguments are the library, the folder of the dataset, and workers of the loader; who is who stands in the
environment, as ``torchrun`` leaves it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from functools import partial
from typing import Any

import torch

import seldio
from seldio.data import collate

library, root, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
windows = seldio.windows(root, seconds=0.2, target="multi-accdoa", distance=True, texts=False)
taken: list[tuple[int, int]] = []


def note(batch: Any) -> None:
    taken.extend(zip(batch["clip"].tolist(), batch["frames"][:, 0].tolist(), strict=True))


class Network(torch.nn.Module):
    """As small as a network can be; it notes what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, **batch: Any) -> dict[str, Any]:
        note(batch)
        return {"loss": (batch["audio"] * self.weight).square().mean()}


if library == "accelerate":  # the stream by worker, accelerate by rank
    from accelerate import Accelerator

    stream = windows.stream(seed=1, split=True).shard(1, 0)
    loader = torch.utils.data.DataLoader(stream, batch_size=2, num_workers=workers)
    for batch in Accelerator(cpu=True).prepare(loader):
        note(batch)
elif library == "transformers":  # its Trainer: likewise
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            folder, use_cpu=True, per_device_train_batch_size=2, num_train_epochs=1, report_to=[], save_strategy="no",
            remove_unused_columns=False, dataloader_num_workers=workers, max_steps=11 // int(os.environ["WORLD_SIZE"]),
            disable_tqdm=True,
        )  # fmt: skip
        stream = windows.stream(seed=1, split=True).shard(1, 0)
        Trainer(Network(), settings, train_dataset=stream, data_collator=partial(collate, tensors=True)).train()
else:  # Lightning leaves streams as they are, and stops at len(loader): the stream by rank and worker, in batches
    import lightning

    class Module(lightning.LightningModule):
        """The same network as Lightning wants it."""

        def __init__(self) -> None:
            super().__init__()
            self.network = Network()

        def training_step(self, batch: Any, _number: int) -> Any:
            return self.network(**batch)["loss"]

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 1e-3)

    trainer = lightning.Trainer(
        accelerator="cpu", devices=int(os.environ["WORLD_SIZE"]), strategy="ddp", max_epochs=1, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    stream = windows.stream(seed=1, even="drop").batch(2)
    trainer.fit(Module(), torch.utils.data.DataLoader(stream, batch_size=None, num_workers=workers))

print(json.dumps(taken), flush=True)
os._exit(0)  # what gloo's threads say at the end is of no interest
