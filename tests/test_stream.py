"""Streams: shards, order, batches, and states from which they go on exactly."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import types
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import starss_tree
from hypothesis import given
from hypothesis import strategies as st

import seldio
from seldio.data import Stream, collate
from seldio.data.stream import permutation
from seldio.errors import UsageError

LENGTHS = st.integers(0, 40)
SEEDS = st.one_of(st.none(), st.integers(-(2**70), 2**70))
COUNTS = st.integers(1, 5)


def _states(stream: Stream) -> list[dict[str, Any]]:
    iterator = iter(stream)
    states = [stream.state_dict()]
    states += [stream.state_dict() for _ in iterator]
    return [json.loads(json.dumps(state)) for state in states]


def _resumed(state: dict[str, Any], stream: Stream) -> list[Any]:
    stream.load_state_dict(state)
    return list(stream)


@given(LENGTHS, SEEDS, COUNTS, COUNTS, st.integers(0, 10))
def test_one_state_is_enough_where_all_shards_came_equally_far(
    length: int, seed: int | None, before: int, after: int, steps: int
) -> None:
    stream = Stream(range(length), seed=seed)
    expected = list(stream)

    taken, states = [], []
    for index in range(before):
        shard = stream.shard(before, index)
        taken += list(islice(iter(shard), steps))
        states.append(shard.state_dict())

    if steps * before <= length:
        for state in states:
            found = [value for index in range(after) for value in _resumed(state, stream.shard(after, index))]
            assert sorted(expected) == sorted([*taken, *found])


@given(st.integers(0, 200), st.integers(-(2**70), 2**70), st.integers(0, 2**40))
def test_an_order_has_each_number_once(length: int, seed: int, epoch: int) -> None:
    assert list(range(length)) == sorted(permutation(length, seed, epoch).tolist())


@given(LENGTHS, SEEDS, COUNTS, COUNTS)
def test_all_ranks_and_workers_take_each_element_once(length: int, seed: int | None, world: int, workers: int) -> None:
    stream = Stream(range(length), seed=seed)

    shares = [
        list(stream.shard(world, rank).shard(workers, worker)) for rank in range(world) for worker in range(workers)
    ]

    assert list(range(length)) == sorted(value for share in shares for value in share)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.slow
@given(LENGTHS, SEEDS, COUNTS, st.data())
def test_a_stream_goes_on_exactly_from_every_element(
    length: int, seed: int | None, count: int, draw: st.DataObject
) -> None:
    stream = Stream(range(length), seed=seed).shard(count, draw.draw(st.integers(0, count - 1)))
    everything = list(stream)

    for done, state in enumerate(_states(stream)):
        again = pickle.loads(pickle.dumps(stream))
        again.load_state_dict(state)
        for further, second in enumerate(_states(again)):
            assert everything[done + further :] == _resumed(second, stream)
        assert everything == list(again)  # a new pass is a whole one


def test_orders_stay_what_they_are() -> None:
    """A state that was saved last year must find the same order."""
    assert [3, 5, 2, 4, 1, 0, 6, 7] == permutation(8, 1, 0).tolist()
    expected = [17, 6, 14, 18, 12, 11, 5, 0, 13, 1, 15, 7, 19, 16, 4, 8, 10, 2, 9, 3]  # by SplitMix64, as published
    assert expected == permutation(20, 1, 9).tolist()


def test_epochs_are_shuffled_differently_and_repeatably() -> None:
    stream, orders = Stream(range(50)).shuffle(3), []
    for epoch in (0, 1, 2, 1):
        stream.set_epoch(epoch)
        orders.append(list(stream))

    assert orders[1] == orders[3]
    assert 3 == len(set(map(tuple, orders)))
    assert orders[0] != list(Stream(range(50)).shuffle(4))
    assert list(range(50)) == list(Stream(range(50)))


def test_a_stream_older_than_the_import_of_torch_says_so() -> None:
    with pytest.raises(UsageError, match="import torch before"):
        Stream(range(3))[0]


def test_another_epoch_than_that_of_the_state_begins_anew() -> None:
    stream = Stream(range(10), seed=1)
    next(iter(stream))
    for epoch, length in ((0, 9), (1, 10)):
        again = Stream(range(10), seed=1)
        again.load_state_dict(stream.state_dict())
        again.set_epoch(epoch)
        assert length == len(list(again))


@given(LENGTHS, SEEDS, st.integers(1, 7), st.integers(1, 4), st.booleans(), st.data())
def test_batches_are_the_same_with_any_number_of_workers(
    length: int, seed: int | None, size: int, workers: int, drop: bool, draw: st.DataObject
) -> None:
    """Also of a pass that is resumed where the workers had taken the batches of some rounds, and on two ranks."""
    batches = Stream(range(length), seed=seed).shard(2, draw.draw(st.integers(0, 1))).batch(size, drop_last=drop)
    expected = [batch.tolist() for batch in batches]
    rounds = draw.draw(st.integers(0, 3))
    shares = []
    for index in range(workers):
        info = types.SimpleNamespace(num_workers=workers, id=index, dataset=batches)
        data: Any = types.SimpleNamespace(get_worker_info=lambda info=info: info)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "torch.utils.data", data)
            iterator = iter(batches)
            head = [batch.tolist() for batch in islice(iterator, rounds)]
            shares.append(head + _resumed(json.loads(json.dumps(batches.state_dict())), batches.map(np.ndarray.tolist)))
    assert expected == [batch for turn in zip_longest(*shares) for batch in turn if batch is not None]
    assert len(batches) == len(expected)


def test_shards_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, found = Stream(range(11)), []
    for rank in range(2):
        for worker in range(3):
            for name, value in {"WORLD_SIZE": 2, "RANK": rank, "NUM_WORKERS": 3, "WORKER": worker}.items():
                monkeypatch.setenv(name, str(value))
            found.append(list(stream))
            assert [0, 2, 4, 6, 8, 10] == list(stream.shard(2, 0))  # arguments come first
    assert list(range(11)) == sorted(value for share in found for value in share)

    monkeypatch.setenv("RANK", "two")
    with pytest.raises(UsageError, match="the environment has WORLD_SIZE and RANK: shard two of 2"):
        list(stream)
    monkeypatch.delenv("RANK")
    monkeypatch.delenv("WORKER")
    assert list(range(11)) == list(stream)  # half of a pair says nothing


def test_torch_is_asked_where_it_is_imported_and_not_imported_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(range(12))
    monkeypatch.delitem(sys.modules, "torch.utils.data", raising=False)
    registered: list[type] = []
    worker = types.SimpleNamespace(num_workers=3, id=1, dataset=stream)
    iterable = types.SimpleNamespace(register=registered.append)
    data: Any = types.SimpleNamespace(get_worker_info=lambda: worker, IterableDataset=iterable)
    ranks: Any = types.SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_world_size=lambda: 2, get_rank=lambda: 1
    )
    monkeypatch.setitem(sys.modules, "torch.utils.data", data)
    monkeypatch.setitem(sys.modules, "torch.distributed", ranks)

    assert [3, 9] == list(stream)
    assert [1, 4, 7, 10] == list(stream.shard(1, 0))  # workers still share what their process has
    assert {Stream} == set(registered)


@pytest.mark.parametrize("library", ["datasets", "accelerate"])
def test_a_stream_is_not_split_twice(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, types.ModuleType(library))
    assert [0, 1, 2, 3] == list(Stream(range(4)))
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(
        UsageError, match=rf"\b{library}( or \w+)* may split this stream .*again \(shard 1 of 2\).*split=False"
    ):
        list(Stream(range(4)))
    assert [0, 1, 2, 3] == list(Stream(range(4), split=False))
    assert [1, 3] == list(Stream(range(4), split=True))
    assert [0, 2] == list(Stream(range(4)).shard(2, 0))
    monkeypatch.delitem(sys.modules, library)
    assert [1, 3] == list(Stream(range(4)))


def test_workers_of_a_loader_of_something_else_do_not_split_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine:
        pass

    class TheirChain:
        __module__ = "torch.utils.data.dataset"

    def worker_of(dataset: object, count: int = 2) -> None:
        info = types.SimpleNamespace(num_workers=count, id=0, dataset=dataset)
        data: Any = types.SimpleNamespace(get_worker_info=lambda: info)
        monkeypatch.setitem(sys.modules, "torch.utils.data", data)

    stream = Stream(range(4))
    for dataset in (stream, stream.batch(2), TheirChain()):
        worker_of(dataset)
        assert [0, 2] == list(stream)
    worker_of(Mine())
    with pytest.raises(UsageError, match=r"^test_stream\.Mine may split this stream"):
        list(stream)
    with pytest.raises(UsageError, match=r"^test_stream\.Mine may split this stream"):
        list(stream.shard(2, 1))
    assert [0, 1, 2, 3] == list(Stream(range(4), split=False))
    assert [0, 2] == list(Stream(range(4), split=True))
    worker_of(Mine(), 1)
    assert [0, 1, 2, 3] == list(stream)


def test_shards_of_windows_are_not_split_any_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows = seldio.open(starss_tree.write(tmp_path)).windows(seconds=0.2, target="rows")
    starts = [(window["clip"], window["start"]) for window in windows]
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")

    stream = windows.stream(shards=[7, 0, 3])

    assert [starts[7], starts[0], starts[3]] == [(window["clip"], window["start"]) for window in stream]
    assert 2 == len(next(iter(stream.batch(2, pad=0)))["target_mask"])
    assert [starts[0]] == [(one["clip"], one["start"]) for one in windows.stream(shards=[7, 0, 3], split=True)]
    assert f"Stream(3 of {windows!r}, split=False)" == repr(stream)


@given(LENGTHS, SEEDS, COUNTS, COUNTS, st.sampled_from(["drop", "repeat"]), st.integers(1, 3), st.data())
def test_even_ranks_have_the_same_number_of_batches(
    length: int, seed: int | None, world: int, workers: int, even: Any, size: int, draw: st.DataObject
) -> None:
    stream = Stream(range(length), seed=seed, even=even)
    taken = draw.draw(st.integers(0, length))
    iterator = iter(stream)
    before = [next(iterator) for _ in range(taken)]
    state = stream.state_dict()
    ranks = []
    for rank in range(world):
        shares = []
        for worker in range(workers):
            part = stream.batch(size)
            part.load_state_dict(state)
            with pytest.MonkeyPatch.context() as patch:
                for name, value in {
                    "WORLD_SIZE": world,
                    "RANK": rank,
                    "NUM_WORKERS": workers,
                    "WORKER": worker,
                }.items():
                    patch.setenv(name, str(value))
                shares.append([batch.tolist() for batch in part])
        ranks.append(shares)

    assert 1 == len({tuple(map(len, shares)) for shares in ranks})
    found = [number for shares in ranks for share in shares for batch in share for number in batch]
    rest = set(range(length)) - set(before)
    over = len(rest) % world
    if even == "drop":
        assert len(rest) - over == len(found) == len(set(found) & rest)
    else:
        assert rest <= set(found)
        assert len(found) == len(rest) + (world - over if over else 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", ["spawn", pytest.param("fork", marks=pytest.mark.skipif(os.name == "nt", reason="Windows has no fork"))]
)
def test_workers_that_stay_hear_of_a_new_epoch(start: str, tmp_path: Path) -> None:
    code = f"""
import multiprocessing
from seldio.data import Stream

def work(stream, passes, orders):
    while passes.get():
        orders.put(list(stream))

if __name__ == "__main__":
    context = multiprocessing.get_context({start!r})
    passes, orders = context.SimpleQueue(), context.SimpleQueue()
    stream = Stream(range(30), seed=1)
    other = stream.map(abs)
    worker = context.Process(target=work, args=(stream, passes, orders))
    worker.start()
    found, expected = [], []
    for epoch in (0, 0, 1, 2, 1):
        stream.set_epoch(epoch)
        passes.put(True)
        found.append(orders.get())
        alone = Stream(range(30), seed=1)
        alone.set_epoch(epoch)
        expected.append(list(alone))
    passes.put(False)
    worker.join()
    print(found == expected, len(set(map(tuple, found))), list(other) == expected[0])
"""
    (tmp_path / "code.py").write_text(code)
    done = subprocess.run(
        [sys.executable, tmp_path / "code.py"], capture_output=True, text=True, check=False, timeout=60
    )

    assert "True 3 True" == done.stdout.strip(), done.stderr


def test_windows_are_streamed_in_batches_with_masks(tmp_path: Path) -> None:
    dataset = seldio.open(starss_tree.write(tmp_path))
    stream = dataset.windows(target="rows").stream().batch(3, pad={"audio": 0, "target": np.nan})

    (batch,) = stream

    assert [700, 2000, 1250] == batch["audio_mask"].sum(axis=1).tolist() == batch["length"].tolist()
    assert [0, 4, 5] == batch["target_mask"].sum(axis=1).tolist()
    assert ((3, 4, 2000), (3, 5, 7)) == (batch["audio"].shape, batch["target"].shape)
    assert not batch["audio"][0, :, 700:].any()
    assert np.isnan(batch["target"][1, 4:]).all()
    assert ["fold4_room2_mix001", "fold3_room21_mix001", "fold3_room4_mix001"] == batch["clip"]
    assert [set(batch)] * 3 == [set(one) for one in dataset.windows(target="rows").stream().batch(1, pad=0)]
    with pytest.raises(UsageError, match="use pad=0"):
        next(iter(dataset.windows().stream().batch(2)))


def test_what_cannot_be_put_together_is_refused() -> None:
    with pytest.raises(UsageError, match="x cannot be stacked"):
        collate([{"x": np.zeros((1, 2))}, {"x": np.zeros((2, 3))}], 0)
    with pytest.raises(UsageError, match="batches of 0"):
        Stream(range(3)).batch(0)
    found = collate([{"n": 1, "t": "a", "x": np.zeros(2)}, {"n": 2, "t": "b", "x": np.ones(3)}], 9)
    assert ([1, 2], ["a", "b"]) == (found["n"].tolist(), found["t"])
    assert [[0, 0, 9], [1, 1, 1]] == found["x"].tolist()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({}, "version None"),
        ({"version": 1, "length": 9, "seed": None}, "length 9, but this stream has 10"),
        ({"version": 1, "length": 10, "seed": 7}, "seed 7"),
        ({"version": 1, "length": 10, "seed": None, "epoch": -1}, "epoch -1"),
        ({"version": 1, "length": 10, "seed": None, "epoch": 0, "cursor": 11}, "cursor 11"),
        ({"version": 1, "length": 10, "seed": None, "epoch": 0, "cursor": 5, "left": [5]}, "does not fit"),
    ],
)
def test_states_of_another_stream_are_refused(state: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Stream(range(10)).load_state_dict(state)


@pytest.mark.parametrize("shard", [(0, 0), (2, 2), (2, -1)])
def test_shards_are_counted_from_0(shard: tuple[int, int]) -> None:
    odd: Any = "pad"
    with pytest.raises(UsageError, match="even='pad': choose 'drop' or 'repeat'"):
        Stream(range(3), even=odd)
    with pytest.raises(UsageError, match="counted from 0"):
        Stream(range(10)).shard(*shard)
