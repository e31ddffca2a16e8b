"""Exports in several processes: the same bytes as in one, also where they were killed or stopped and started again."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import seldio
from seldio import progress, synth
from seldio.data import Manifest, export, exporting
from seldio.data.export_shards import LabelShard, ParquetShard
from seldio.data.export_table import ClipColumns, ExportPlan
from seldio.data.exporting import LEDGER, RESULTS, ExportFile
from seldio.data.index import Index
from seldio.engines import running
from seldio.engines.ledger import Ledger
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.formats import get
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


# --- killed and stopped --------------------------------------------------------------------------------------

#: A command that sends a signal to itself: when it notes files in the ledger, or in the midst of writing one.
STRUCK = """
import os, sys
from seldio.cli import main
from seldio.data import exporting
from seldio.engines.ledger import Ledger
name, count, sign = sys.argv.pop(1), int(sys.argv.pop(1)), int(sys.argv.pop(1))
exporting._LOT_FILES = 4
place = {"put": Ledger, "write": exporting._Hashed}[name]
real, calls = getattr(place, name), []
def struck(*given):
    done = real(*given)
    calls.append(name)
    if len(calls) == count:
        os.kill(os.getpid(), sign)
    return done
setattr(place, name, struck)
if __name__ == "__main__":
    main()
"""


def struck(tree: Path, out: Path, kind: str, workers: int, place: str, count: int, sign: signal.Signals) -> Any:
    """An export that gets a signal at the *count*-th call of a method."""
    options = ["convert", str(tree), "--to", kind, "-o", str(out), "--workers", str(workers)]
    command = [sys.executable, "-c", STRUCK, place, str(count), str(int(sign)), *options]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)


def noted(out: Path) -> int:
    """How many files the ledger calls finished."""
    return len({file.name for results in Ledger(out / LEDGER).results(RESULTS) for key, file in results if key})


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send signals")
@pytest.mark.parametrize(
    ("kind", "workers", "points"),
    [("webdataset", 1, [("put", 3), ("write", 12)]), ("audiofolder", 1, [("write", 9), ("put", 5)]),
     ("audiofolder", 2, [("put", 5)])],
)  # fmt: skip
def test_killed_and_started_again_it_ends_with_the_same_bytes(
    kind: str, workers: int, points: list[tuple[str, int]], tree: Path, whole: dict[str, dict[str, bytes]],
    tmp_path: Path,
) -> None:  # fmt: skip
    out, before = tmp_path / "out", 0
    for place, count in points:
        run = struck(tree, out, kind, workers, place, count, signal.SIGKILL)
        assert -signal.SIGKILL == run.returncode, run.stderr
        assert noted(out) >= before + (4 * (count - 1) if place == "put" else 0), "what was finished stays"
        assert not (out / "manifest.json").exists()
        assert workers > 1 or 1 + (place == "write") == len(hidden(out)), "a half file is left of a kill while writing"
        before = noted(out)
    stay = {path: path.stat().st_ino for path in out.rglob("*") if path.is_file()}
    export(tree, out, kind)
    assert whole_of(tree, kind, tmp_path) == content(out)
    assert [LEDGER] == hidden(out)
    assert before <= sum(path.is_file() and path.stat().st_ino == inode for path, inode in stay.items())


def whole_of(tree: Path, kind: str, place: Path) -> dict[str, bytes]:
    export(tree, place / "whole", kind)
    return content(place / "whole")


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send signals")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_says_how_to_go_on(workers: int, tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = struck(tree, out, "audiofolder", workers, "put", 4, signal.SIGINT)
    said = f"seldio: stopped; 12 of 38 files are written in {out}: run the same command again to resume\n"
    assert (130, said) == (run.returncode, run.stderr)
    assert 12 == noted(out)
    export(tree, out, "audiofolder")
    assert whole_of(tree, "audiofolder", tmp_path) == content(out)


# --- ledgers -----------------------------------------------------------------------------------------------


@pytest.fixture
def made(tree: Path, whole: dict[str, dict[str, bytes]], tmp_path: Path) -> Iterator[Path]:
    """An export that is about to be made again."""
    export(tree, tmp_path / "out", shard_bytes=1)
    yield tmp_path / "out"
    assert whole["parquet"] == content(tmp_path / "out")


def inodes(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_ino for name in content(folder) if name != "manifest.json"}


def noting(folder: Path, name: str, key: str = "", content: bytes = b"") -> None:
    """Have the ledger of an export name a file."""
    file = ExportFile(name, len(content), hashlib.sha256(content).hexdigest())
    Ledger(folder / LEDGER).put("0" * 64, RESULTS, [(key, file)])


def test_what_another_version_wrote_is_not_believed(
    made: Path, tree: Path, whole: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = inodes(made)
    export(tree, made, shard_bytes=1)
    assert before == inodes(made)
    with monkeypatch.context() as patch:
        patch.setattr(exporting, "__version__", f"{seldio.__version__}.1")
        export(tree, made, shard_bytes=1)
    assert not before.items() & inodes(made).items()
    # the ledger names a file that is no longer made
    (made / OLD).write_bytes(b"old")
    noting(made, OLD, content=b"old")
    before = inodes(made)
    export(tree, made, shard_bytes=1)
    assert not before.items() & inodes(made).items()
    assert not (made / OLD).exists()


def test_a_ledger_cannot_take_away_what_lies_elsewhere(made: Path, tree: Path) -> None:
    mine = made.parent / "mine.txt"
    mine.write_text("mine")
    (made / "media").symlink_to(made.parent)
    for name in ("../mine.txt", str(mine), "media/mine.txt"):
        noting(made, name, "key", b"mine")
        export(tree, made, shard_bytes=1)
    (made / "media").unlink()
    assert "mine" == mine.read_text()


def test_what_killed_workers_of_other_machines_left_is_swept_away(made: Path, tree: Path) -> None:
    (made / "data/.seldio-tmp-00000000-1-abcd.tmp").write_bytes(b"half")
    export(tree, made, shard_bytes=1)
    assert [LEDGER] == hidden(made)


def test_what_was_taken_away_is_written_again(made: Path, tree: Path) -> None:
    shutil.rmtree(made / "data")
    export(tree, made, shard_bytes=1)
    assert Manifest.load(made).statistics["clips"] == CLIPS
