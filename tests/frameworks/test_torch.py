"""torch's DataLoader and torchdata's StatefulDataLoader take windows and streams as they are."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-frameworks installs it")
data = pytest.importorskip("torch.utils.data")

import seldio  # noqa: E402 - behind the skip
from seldio.data import Stream  # noqa: E402 - behind the skip
from seldio.errors import UsageError  # noqa: E402 - behind the skip

#: What torch says about itself and about machines with few cores.
pytestmark = [
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]
Keys = list[tuple[str, int]]


def _keys(batch: Any) -> Keys:
    return list(zip(batch["clip"], batch["frames"][:, 0].tolist(), strict=True))


def _all(loader: Any) -> Keys:
    return [key for batch in loader for key in _keys(batch)]


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_windows_are_a_map_style_data_set(windows: Any, keys: Keys, workers: int) -> None:
    loader = data.DataLoader(windows, batch_size=6, num_workers=workers)

    batches = list(loader)

    assert keys == [key for batch in batches for key in _keys(batch)]
    for part in ("audio", "target"):
        assert np.array_equal(np.stack([w[part] for w in windows]), torch.cat([b[part] for b in batches]).numpy())
    assert torch.float32 == batches[0]["audio"].dtype


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_workers_share_a_stream(windows: Any, keys: Keys, workers: int) -> None:
    stream = windows.stream(seed=4)

    loader = data.DataLoader(stream, batch_size=4, num_workers=workers)

    assert isinstance(stream, data.IterableDataset)
    assert sorted(keys) == sorted(_all(loader))
    stream.set_epoch(1)
    assert sorted(keys) == sorted(_all(loader))


def test_a_stream_makes_the_batches_itself(dataset: Any, keys: Keys) -> None:
    stream = dataset.windows(target="rows").stream().batch(2, pad={"audio": 0, "target": float("nan")})

    batches = list(data.DataLoader(stream, batch_size=None, num_workers=2))

    assert [2, 1] == [len(batch["clip"]) for batch in batches]
    assert torch.bool == batches[0]["audio_mask"].dtype


@pytest.mark.parametrize(("kind", "start"), [("zip", "fork"), ("gztar", "fork"), ("zip", "spawn")])
def test_workers_read_an_archive(root: Path, tmp_path: Path, keys: Keys, kind: str, start: str) -> None:
    place = shutil.make_archive(str(tmp_path / "starss23"), kind, root)
    windows = seldio.windows(place, seconds=0.2, target="multi-accdoa", distance=True)
    next(iter(data.DataLoader(windows)))  # it is open here

    loader = data.DataLoader(windows.stream(), batch_size=1, num_workers=2, multiprocessing_context=start)
    assert sorted(keys) == sorted(_all(loader))


@pytest.mark.parametrize(("start", "stateful"), [("fork", False), ("fork", True), ("spawn", False)])
def test_workers_that_stay_have_a_new_order_each_epoch(windows: Any, start: str, stateful: bool) -> None:
    kind = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader if stateful else data.DataLoader
    stream = windows.stream(seed=4)
    loader = kind(stream, batch_size=4, num_workers=2, persistent_workers=True, multiprocessing_context=start)

    orders = []
    for epoch in (0, 1, 2, 1):
        stream.set_epoch(epoch)
        orders.append(_all(loader))
        again = windows.stream(seed=4)
        again.set_epoch(epoch)
        assert orders[-1] == _all(data.DataLoader(again, batch_size=4, num_workers=2))
    assert 3 == len(set(map(tuple, orders)))


def test_a_data_set_that_reads_a_stream_says_who_splits(windows: Any, keys: Keys) -> None:
    class Mine(data.IterableDataset):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __iter__(self) -> Any:
            return iter(self.stream)

    with pytest.raises(UsageError, match=r"test_torch\.Mine may split this stream"):
        _all(data.DataLoader(Mine(windows.stream()), num_workers=2))
    assert sorted(keys) == sorted(_all(data.DataLoader(Mine(windows.stream(split=True)), num_workers=2)))
    assert sorted(2 * keys) == sorted(_all(data.DataLoader(Mine(windows.stream(split=False)), num_workers=2)))


def test_even_ranks_have_the_same_number_of_batches(windows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    for even, batches in ((None, [4, 3, 3, 3]), ("drop", [3] * 4), ("repeat", [4] * 4)):
        found = []
        for rank in range(4):
            monkeypatch.setenv("RANK", str(rank))
            found.append(len(list(data.DataLoader(windows.stream(even=even, split=True), batch_size=2, num_workers=2))))
        assert batches == found


@pytest.mark.parametrize("stateful", [False, True])
def test_a_loader_is_as_long_as_its_batches(stateful: bool) -> None:
    kind = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader if stateful else data.DataLoader
    for length, workers, drop in ((20, 0, False), (23, 2, False), (23, 2, True), (7, 3, False), (0, 1, False)):
        batched = Stream(range(length), seed=1).batch(4, drop_last=drop)
        loader = kind(batched, batch_size=None, num_workers=workers)
        assert len(loader) == sum(1 for _ in loader)
        assert [batch.tolist() for batch in batched] == [batch.tolist() for batch in loader]
        loader = kind(Stream(range(length), seed=1), batch_size=4, num_workers=workers, drop_last=drop)
        # torch divides what all workers have by the size of its batches, which the stream is not told
        assert sum(1 for _ in loader) - len(loader) == (1 if (length, workers) == (7, 3) else 0)


def test_workers_give_the_same_sound_with_all_options(dataset: Any, keys: Keys) -> None:
    pytest.importorskip("soxr", reason="soxr is not installed")
    windows = dataset.windows(seconds=0.2, target="rows", rate=1_500, dtype="int16", transform=_marked)
    together = partial(seldio.data.collate, pad={"target": float("nan")}, tensors=True)
    expected = torch.stack([torch.from_numpy(window["audio"]) for window in windows])

    for workers, start in ((0, None), (2, "fork"), (1, "spawn")):
        loader = data.DataLoader(
            windows, batch_size=6, num_workers=workers, multiprocessing_context=start, collate_fn=together
        )
        batches = list(loader)
        assert keys == _all(batches)
        assert torch.equal(expected, torch.cat([batch["audio"] for batch in batches]))
        assert expected.dtype == torch.int16 == batches[0]["audio"].dtype
        assert torch.bool == batches[0]["target_mask"].dtype
        assert all(torch.equal(batch["mark"], batch["frames"][:, 0]) for batch in batches)
        assert all(batch["audio"].is_shared() for batch in batches) or not workers
        assert not any(batch["frames"].is_shared() for batch in batches)  # to hand over memory costs more than these


def _marked(window: Any) -> Any:
    return window | {"mark": window["frames"][0]}


def test_a_batch_of_arrays_is_a_batch_of_torch_too(windows: Any, keys: Keys) -> None:
    loader = data.DataLoader(windows, batch_size=6, num_workers=1, collate_fn=seldio.data.collate)

    assert keys == [key for batch in loader for key in _keys(batch)]


def test_ranks_and_workers_together_take_each_window_once(
    windows: Any, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: Keys = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        found += _all(data.DataLoader(windows.stream(seed=1, split=True), batch_size=2, num_workers=2))

    assert sorted(keys) == sorted(found)


def test_a_process_group_shares_a_stream(tmp_path: Path) -> None:
    """Two processes of torch.distributed over gloo."""
    code = """
import sys, torch.distributed as dist
from seldio.data import Stream
rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
print(*Stream(range(9)))
dist.destroy_process_group()
"""
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(rank), tmp_path / "meet"], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    assert ["0 2 4 6 8", "1 3 5 7"] == [run.communicate(timeout=60)[0].strip() for run in runs]


@pytest.fixture
def stateful() -> Any:
    return pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed").StatefulDataLoader


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("taken", range(0, 10, 3))
def test_a_stateful_loader_goes_on_exactly_and_once_more(windows: Any, stateful: Any, workers: int, taken: int) -> None:
    stream = windows.stream(seed=9)
    expected = [_keys(batch) for batch in data.DataLoader(stream, batch_size=2, num_workers=workers)]

    for again in (taken, min(taken + 1, len(expected))):
        loader = stateful(stream, batch_size=2, num_workers=workers)
        iterator = iter(loader)
        head = [_keys(next(iterator)) for _ in range(again)]
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        resumed = stateful(windows.stream(seed=9), batch_size=2, num_workers=workers)
        resumed.load_state_dict(state)
        iterator = iter(resumed)
        assert expected == head + [_keys(batch) for batch in iterator]


def test_a_stateful_loader_goes_on_with_batches_of_the_stream(windows: Any, stateful: Any) -> None:
    def loader() -> Any:
        return stateful(windows.stream(seed=2).batch(3, pad=0), batch_size=None, num_workers=2)

    expected = [_keys(batch) for batch in loader()]
    first = loader()
    iterator = iter(first)
    head = [_keys(next(iterator)) for _ in range(3)]
    again = loader()
    again.load_state_dict(first.state_dict())

    assert expected == head + [_keys(batch) for batch in again]


def test_a_stateful_loader_takes_windows(windows: Any, keys: Keys, stateful: Any) -> None:
    loader = stateful(windows, batch_size=2, num_workers=2)
    iterator = iter(loader)
    head = [key for _ in range(4) for key in _keys(next(iterator))]
    resumed = stateful(windows, batch_size=2, num_workers=2)
    resumed.load_state_dict(loader.state_dict())

    assert keys == head + _all(resumed)


def test_no_cuda_package_was_installed() -> None:
    from importlib.metadata import distributions

    names = {str(found.metadata["Name"]).lower() for found in distributions()}
    assert [] == sorted(name for name in names if name.startswith(("nvidia-", "cuda-")))
    assert torch.version.cuda is None
