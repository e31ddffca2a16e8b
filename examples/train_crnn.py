"""Train a small CRNN with torch, score it live, stop and resume within an epoch, write, check and score a submission.

Run it anywhere: it makes its own small dataset in a temporary folder, and learns it by heart.
"""

import tempfile
from pathlib import Path

import torch
from features import adpit, features
from torch import Tensor, nn

import seldio
from seldio.data import Stream, Windows
from seldio.synth.tree import write_tree


class CRNN(nn.Module):
    """Convolutions over time and bands, a recurrent layer over time, and three tracks of x, y, z, metres per class."""

    def __init__(self) -> None:
        super().__init__()
        layers = []
        for channels, time, bands in ((7, 5, 4), (32, 1, 4), (32, 1, 2)):  # five frames become one label frame
            layers += [nn.Conv2d(channels, 32, 3, padding=1), nn.BatchNorm2d(32)]
            layers += [nn.ReLU(), nn.MaxPool2d((time, bands))]
        self.convolutions = nn.Sequential(nn.BatchNorm2d(7), *layers)
        self.recurrent = nn.GRU(64, 64, batch_first=True, bidirectional=True)
        self.head = nn.Linear(128, 3 * 4 * 13)

    def forward(self, audio: Tensor) -> Tensor:
        """(batch, 4, samples) -> (batch, label frames, 3 tracks, 4 parts, 13 classes)."""
        hidden = self.convolutions(features(audio)).transpose(1, 2).flatten(2)
        return self.head(self.recurrent(hidden)[0]).unflatten(-1, (3, 4, 13))


def make(windows: Windows) -> tuple[CRNN, torch.optim.Optimizer, Stream]:
    """A network, its optimizer and the batches that it learns from."""
    torch.manual_seed(0)
    network = CRNN()
    return network, torch.optim.Adam(network.parameters(), lr=3e-3), windows.stream(seed=1).batch(8)


def train(network: CRNN, optimizer: torch.optim.Optimizer, batches: Stream, most: int | None = None) -> None:
    """An epoch, or what is left of it; no more than *most* batches."""
    network.train()
    for number, batch in enumerate(batches, 1):
        loss = adpit(network(torch.from_numpy(batch["audio"])), torch.from_numpy(batch["target"]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number == most:
            break


with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    write_tree(root / "starss23", seed=7, seconds=10, media=["audio"])
    dataset = seldio.open(root / "starss23")
    training = dataset.windows(seconds=2, hop=0.5, target="multi-accdoa", distance=True, audio="foa")
    scoring = dataset.windows(seconds=2, hop=1, target="multi-accdoa", distance=True, audio="foa")
    network, optimizer, batches = make(training)
    live = seldio.SeldAccumulator("dcase2024", "micro")

    for epoch in range(6):
        batches.set_epoch(epoch)
        if epoch == 2:  # stop in the middle; another process may go on from the file
            train(network, optimizer, batches, most=4)
            parts = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**parts, "batches": batches.state_dict()}, root / "checkpoint.pt")
            saved = torch.load(root / "checkpoint.pt")
            network, optimizer, batches = make(training)
            for name, part in {"network": network, "optimizer": optimizer, "batches": batches}.items():
                part.load_state_dict(saved[name])
        train(network, optimizer, batches)

        network.eval()
        with torch.no_grad():
            outputs = [network(torch.from_numpy(batch["audio"])) for batch in scoring.stream().batch(8)]
        table = seldio.decode(outputs, scoring, median=3)
        live.reset()
        live.update_all(dataset.events, table)
        if epoch % 2 == 1:
            print(f"epoch {epoch}: " + ", ".join(f"{name} {value:.2f}" for name, value in live.compute().items()))

    seldio.write(table, root / "submission", "dcase2024-submission")
    print(seldio.validate(root / "submission", reference=root / "starss23/foa_dev"))
    report = seldio.score(root / "submission", root / "starss23/metadata_dev", profile="dcase2024", average="micro")
    print({name: round(value, 2) for name, value in report.overall.items() if isinstance(value, float)})
