"""Exports in several processes: the same bytes as in one, also where they were killed or stopped and started again."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import soundfile

from seldio import progress, synth
from seldio.data import export
from seldio.data.export_shards import LabelShard, ParquetShard
from seldio.data.export_table import ClipColumns, ExportPlan
from seldio.data.exporting import LEDGER
from seldio.data.index import Index
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.parallel import running
from seldio.reports.bars import Bars
from seldio.schema.events import ClipFile

pytestmark = pytest.mark.slow

CLIPS = 12
#: A shard of an earlier export, of another number of shards.
OLD = "data/train-00000-of-00009.parquet"
KINDS = ("parquet", "webdataset", "audiofolder", "files")


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


def content(folder: Path) -> dict[str, bytes]:
    files = (
        path for path in folder.rglob("*") if path.is_file() and "/." not in path.relative_to(folder.parent).as_posix()
    )
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of a tenth of a second with labels, and some files of no clip."""
    folder = tmp_path_factory.mktemp("many") / "starss23"
    noise = np.random.default_rng(5).integers(-9000, 9000, (2400 + CLIPS, 4)).astype(np.int16)
    for number in range(CLIPS):
        split, fold = ("dev-train-sony", 3) if number % 3 else ("dev-test-sony", 4)
        clip = f"fold{fold}_room21_mix{number:03}"
        for top in ("foa_dev", "metadata_dev"):
            (folder / top / split).mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / f"foa_dev/{split}/{clip}.wav", noise[number : number + 2400], 24_000)
        table = synth.labels("m", synth.scene(number, 5.0, 3))
        (folder / f"metadata_dev/{split}/{clip}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
        (folder / f"notes{number}.md").write_text(f"{number}\n")
    return folder


@pytest.fixture(scope="module")
def whole(tree: Path) -> dict[str, dict[str, bytes]]:
    """What an export in one process writes, by kind."""
    for kind in KINDS:
        export(tree, tree.parent / kind, kind, shard_bytes=1)
    return {kind: content(tree.parent / kind) for kind in KINDS}


def test_two_workers_write_the_same_bytes(tree: Path, whole: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    packed = tmp_path / "starss23.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content(tree).items():
            archive.writestr(name, data)
    with running(2):
        for kind in KINDS:
            export(tree, tmp_path / "out" / kind, kind, shard_bytes=1)
            assert whole[kind] == content(tmp_path / "out" / kind)
            export(packed, tmp_path / "packed" / kind, kind, shard_bytes=1)
            assert whole[kind] == content(tmp_path / "packed" / kind)
    assert [LEDGER] * 2 * len(KINDS) == hidden(tmp_path)


def test_shards_take_no_more_along_than_they_need(tree: Path) -> None:
    plan = ExportPlan(Index(open_source(tree, raise_errors)), "foa")
    columns = ClipColumns.of(plan, embed=True)
    row = plan.rows[0]
    alone = pickle.dumps(ParquetShard(columns, [row]).portable())
    labels = LabelShard(plan.events, [row.name], plan.events.schema, plan.events.vocabulary, {}).portable()
    others = [other.name.encode() for other in plan.rows[1:]]
    for data in (alone, pickle.dumps(labels)):
        assert row.name.encode() in data
        assert not any(name in data for name in others)
    assert [row.name] == list(labels.events)


def test_layouts_are_told_by_the_whole_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that says little by itself has the layout of those beside it, also in another process."""
    for number in range(3):
        (tmp_path / f"c{number}.csv").write_text("0,1,0,10,0,120\n" * 9 if number else "")
    plan = ExportPlan(Index(open_source(tmp_path, raise_errors)), "foa")
    elsewhere = pickle.loads(pickle.dumps(plan.events.part(["c0"])))
    monkeypatch.delattr("seldio.data.arrow_tables._layout")  # so that it cannot be told from the one file
    assert ["c0"] == list(elsewhere)
    assert plan.events.format("c0") == elsewhere.format("c0") == get("starss23")
    assert plan.events.schema == elsewhere.schema


def test_long_work_is_announced(tree: Path, tmp_path: Path) -> None:
    class Clock:
        now = 0.0

        def __call__(self) -> float:
            self.now += 1.0
            return self.now

    bars = Bars(io.StringIO(), Clock())
    with progress.shown_on(bars):
        export(tree, tmp_path / "out")
    told = [line.partition(",")[0] for line in bars.summary()]
    assert [f"reading headers: {CLIPS}", f"copying files: {CLIPS}", "writing shards: 4"] == told
