"""Grain, datasets, tf.data and Ray Data go through windows; polars, duckdb and pandas take the tables."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from seldio.data import collate
from seldio.errors import UsageError

Keys = list[tuple[str, int]]
_MISSING = "is not installed: make test-frameworks installs it"


def _key(window: Any) -> tuple[str, int]:
    clip = window["clip"]
    return clip if isinstance(clip, str) else str(clip, "utf-8"), int(window["frames"][0])


@pytest.fixture
def grain() -> Any:
    return pytest.importorskip("grain", reason=f"grain {_MISSING}")


def test_grain_takes_windows_as_a_source(grain: Any, windows: Any, keys: Keys) -> None:
    assert isinstance(windows, grain.sources.RandomAccessDataSource)

    found = [_key(window) for window in grain.MapDataset.source(windows).shuffle(seed=3)]

    assert keys != found
    assert sorted(keys) == sorted(found)


def test_grain_goes_on_from_its_state(grain: Any, windows: Any) -> None:
    def batches() -> Any:
        return iter(grain.MapDataset.source(windows).shuffle(seed=3).to_iter_dataset().batch(3))

    expected = [batch["audio"] for batch in batches()]
    for taken in range(len(expected)):
        iterator = batches()
        for _ in range(taken):
            next(iterator)
        state = json.loads(json.dumps(iterator.get_state()))
        again = batches()
        again.set_state(state)
        tail = [batch["audio"] for batch in again]
        assert len(expected) - taken == len(tail)
        assert all(np.array_equal(*pair) for pair in zip(expected[taken:], tail, strict=True))


def _negated(window: Any) -> Any:
    return window | {"audio": -window["audio"]}


def test_grain_takes_windows_of_any_option(grain: Any, dataset: Any) -> None:
    windows = dataset.windows(seconds=0.2, target="rows", dtype="int16", transform=_negated)
    batches = grain.MapDataset.source(windows).batch(
        6, batch_fn=partial(collate, pad={"target": float("nan")})
    )  # fmt: skip

    found = list(batches)

    assert np.array_equal(
        np.concatenate([batch["audio"] for batch in found]),
        [-window["audio"] for window in dataset.windows(seconds=0.2, dtype="int16")],
    )
    assert [len(window["target"]) for window in windows] == [
        int(rows) for batch in found for rows in batch["target_mask"].sum(axis=1)
    ]


def test_workers_of_grain(grain: Any, windows: Any, keys: Keys) -> None:
    sampler = grain.samplers.IndexSampler(len(windows), num_epochs=1, shuffle=True, seed=2)

    loader = grain.DataLoader(data_source=windows, sampler=sampler, worker_count=2)

    assert sorted(keys) == sorted(map(_key, loader))


@pytest.fixture
def datasets(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    pytest.importorskip("datasets.distributed", reason=f"datasets {_MISSING}")
    return sys.modules["datasets"]


def test_datasets_takes_the_tables(datasets: Any, dataset: Any) -> None:
    found = datasets.Dataset(pa.table(dataset.events))

    assert dataset.events.table().to_pylist() == found.to_list()
    assert 3 == len(datasets.Dataset(dataset.clips))


def test_datasets_goes_through_a_stream(datasets: Any, windows: Any, keys: Keys) -> None:
    found = datasets.IterableDataset.from_generator(windows.stream().__iter__)

    assert keys == [_key(window) for window in found]


def _read(found: Any, workers: int) -> Keys:
    data = pytest.importorskip("torch.utils.data", reason=f"torch {_MISSING}")
    return [_key(window) for window in data.DataLoader(found, batch_size=None, num_workers=workers)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
def test_workers_share_shards_of_datasets(datasets: Any, windows: Any, keys: Keys, workers: int) -> None:
    found = datasets.IterableDataset.from_generator(windows.stream, gen_kwargs={"shards": list(range(len(windows)))})

    assert sorted(keys) == sorted(_read(found, workers))
    mixed = _read(found.shuffle(seed=3, buffer_size=1), workers)
    assert sorted(keys) == sorted(mixed) != mixed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shards", [20, 21])
def test_nodes_share_shards_of_datasets(
    datasets: Any, windows: Any, keys: Keys, workers: int, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = list(range(min(shards, len(windows))))
    found = datasets.IterableDataset.from_generator(windows.stream, gen_kwargs={"shards": numbers})
    taken = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        taken += _read(datasets.distributed.split_dataset_by_node(found, rank, 2), workers)

    assert sorted(keys[:shards]) == sorted(taken)


@pytest.mark.filterwarnings("ignore")
def test_datasets_does_not_split_a_stream_again(
    datasets: Any, windows: Any, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = datasets.IterableDataset.from_generator(windows.stream)
    with pytest.raises(UsageError, match=r"datasets\.IterableDataset may split this stream"):
        _read(found, 2)
    assert keys == _read(datasets.IterableDataset.from_generator(windows.stream, gen_kwargs={"split": False}), 2)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match=r"datasets( or \w+)* may split this stream"):
        _read(datasets.distributed.split_dataset_by_node(found, 0, 2), 0)


def test_tensorflow_goes_through_a_stream(windows: Any, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    tf = pytest.importorskip("tensorflow", reason=f"tensorflow {_MISSING}")
    signature = {name: tf.TensorSpec(*part) for name, part in windows.signature.items()}

    found = tf.data.Dataset.from_generator(windows.stream, output_signature=signature)
    batches = list(found.batch(4).as_numpy_iterator())

    assert keys == [_key(window) for window in found.as_numpy_iterator()]
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(tf.errors.OpError, match=r"tensorflow( or \w+)* may split this stream"):
        list(found.as_numpy_iterator())
    assert np.array_equal(np.stack([w["target"] for w in windows]), np.concatenate([b["target"] for b in batches]))


@pytest.fixture(scope="module")
def ray() -> Any:
    ray = pytest.importorskip("ray", reason=f"ray {_MISSING}")
    pytest.importorskip("ray.data")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_ray_reads_windows_where_they_are_needed(ray: Any, windows: Any, keys: Keys) -> None:
    found = ray.data.range(len(windows)).map(lambda row: windows[row["id"]]).take_all()

    assert sorted(keys) == sorted(map(_key, found))
    by_key = {_key(window): window["audio"] for window in found}
    assert all(np.array_equal(window["audio"], by_key[_key(window)]) for window in windows)


@pytest.mark.filterwarnings("ignore")
def test_ray_takes_windows_as_a_torch_data_set(ray: Any, windows: Any, keys: Keys) -> None:
    pytest.importorskip("torch", reason=f"torch {_MISSING}")

    found = [row["item"] for row in ray.data.from_torch(windows).take_all()]

    assert keys == [_key(window) for window in found]


@pytest.mark.filterwarnings("ignore")
def test_ray_takes_the_tables(ray: Any, dataset: Any) -> None:
    assert dataset.events.table().to_pylist() == ray.data.from_arrow(pa.table(dataset.events)).take_all()


def test_polars_takes_the_tables(dataset: Any, questions: Any) -> None:
    polars = pytest.importorskip("polars", reason=f"polars {_MISSING}")

    assert dataset.events.table().to_pylist() == polars.DataFrame(dataset.events).to_dicts()
    assert dataset.clips.to_pylist() == polars.DataFrame(dataset.clips).to_dicts()
    assert ["a", "b"] == polars.DataFrame(questions)["id"].to_list()


def test_duckdb_takes_the_tables(dataset: Any, questions: Any) -> None:
    duckdb = pytest.importorskip("duckdb", reason=f"duckdb {_MISSING}")
    events = dataset.events

    found = duckdb.sql("select clip, count(*) as rows from events group by clip order by clip").fetchall()

    assert [("b",)] == duckdb.sql("select id from questions where task = 'detect_time'").fetchall()
    assert events is not None
    assert [("fold3_room21_mix001", 4), ("fold3_room4_mix001", 5)] == found


def test_pandas_takes_the_tables(dataset: Any, questions: Any) -> None:
    pandas = pytest.importorskip("pandas", reason=f"pandas {_MISSING}")

    assert 9 == len(pandas.DataFrame.from_arrow(dataset.events))
    assert [None, ["now", "never"]] == [
        x if x is None else list(x) for x in pandas.DataFrame.from_arrow(questions)["options"]
    ]
