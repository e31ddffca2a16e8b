"""Grain, datasets and tf.data go through windows; polars, duckdb and pandas take the tables."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from seldio.errors import UsageError

Keys = list[tuple[str, int]]
_MISSING = "is not installed: make test-frameworks installs it"


def _key(window: Any) -> tuple[str, int]:
    clip = window["clip"]
    return clip if isinstance(clip, str) else str(clip, "utf-8"), int(window["frames"][0])


@pytest.fixture
def grain() -> Any:
    return pytest.importorskip("grain", reason=f"grain {_MISSING}")


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


@pytest.fixture
def datasets(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    pytest.importorskip("datasets.distributed", reason=f"datasets {_MISSING}")
    return sys.modules["datasets"]


def _read(found: Any, workers: int) -> Keys:
    data = pytest.importorskip("torch.utils.data", reason=f"torch {_MISSING}")
    return [_key(window) for window in data.DataLoader(found, batch_size=None, num_workers=workers)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shards", [20, 21])
def test_nodes_share_what_datasets_takes_as_shards(
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
def test_a_stream_is_not_split_once_more_by_datasets(
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
