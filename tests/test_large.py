"""Sets of labels too large for memory are checked a shard at a time, and nothing else changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from seldio import label_validation, line_validation, synth
from seldio.check.reference import load
from seldio.check.validation import validate
from seldio.engines import running
from seldio.findings import Finding
from seldio.formats import get
from seldio.schema.events import ClipFile
from seldio.synth.tree import write_tree


def watched(monkeypatch: pytest.MonkeyPatch, module: ModuleType, cutter: str, size: str, limit: int) -> list[int]:
    """Let everything be large for *module*, and parts have *limit* bytes; the bytes of each part that is cut."""
    sizes: list[int] = []
    cut = getattr(module, cutter)

    def counted(*args: object) -> list[Any]:
        found = list(cut(*args))
        sizes.extend(part.size for part in found)
        return found

    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, size, limit)
    monkeypatch.setattr(module, cutter, counted)
    return sizes


@pytest.fixture
def shards(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All label files are large."""
    return watched(monkeypatch, label_validation, "_cut", "SHARD", 20_000)


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty label files, five of them with something wrong."""
    folder = tmp_path_factory.mktemp("large")
    for number in range(40):
        table = synth.labels("m", synth.scene(number, 30.0, 8))
        (folder / f"mix{number:03}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
    wrong = {
        3: b"nonsense,1,2,3,4,5\n",
        11: b"5000,1,0,10,10,200\n",
        19: b"7,99,0,10,10,200\n",
        27: b"8,1,0,400,10,200\n",
    }
    for number, row in wrong.items():
        with (folder / f"mix{number:03}.csv").open("ab") as file:
            file.write(row)
    (folder / "mix035.csv").write_bytes(b"")
    return folder


def found(path: Path, **options: object) -> list[Finding]:
    return list(validate(path, **options).findings)  # type: ignore[arg-type]


def test_the_same_is_found(labels: Path, shards: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    assert (there := found(labels))
    assert len(shards) > 5
    assert max(shards) < 40_000
    expected = load("mix001..mix044")
    held = found(labels, reference=expected)
    with monkeypatch.context() as usual:
        usual.setattr(label_validation, "LARGE", 1 << 60)
        assert found(labels) == there
        assert found(labels, reference=expected) == held
    assert {"SUB101", "SUB102"} < {finding.code for finding in held}
    assert 3 == len({finding.path for finding in there})


def test_workers_and_kept_parts_change_nothing(labels: Path, shards: list[int], tmp_path: Path) -> None:
    alone = found(labels)
    for _ in range(2):
        with running(2, resume=tmp_path / "parts"):
            assert alone == found(labels)


def test_a_single_shard_is_the_usual_way(shared: Path, shards: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """On all bad inputs there are, whatever rules speak."""
    monkeypatch.setattr(label_validation, "SHARD", 1 << 40)
    folders = sorted({path.parent for path in (shared / "corpora").rglob("*.csv")})
    for folder in folders[:40]:
        there = found(folder)
        with monkeypatch.context() as usual:
            usual.setattr(label_validation, "LARGE", 1 << 60)
            assert set(found(folder)) == set(there), folder
    assert shards


@pytest.mark.slow
def test_recordings_are_held_against_their_labels(
    tmp_path: Path, shards: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path, 5, seconds=6.0, clips=synth.CLIPS[:3])
    for path in tmp_path.rglob("metadata_dev/*/*.csv"):
        with path.open("ab") as file:
            file.write(b"90,1,0,10,10,200\n")  # behind the end of sound and pictures
    foa, mic = tmp_path / "foa_dev", tmp_path / "mic_dev"
    shutil.move(foa, tmp_path / "was")
    shutil.move(mic, foa)
    shutil.move(tmp_path / "was", mic)
    there = found(tmp_path, deep=True)
    assert {"AUD107", "VID106", "AUD307"} <= {finding.code for finding in there}
    assert all(finding.line for finding in there if finding.code == "AUD107")
    monkeypatch.setattr(label_validation, "LARGE", 1 << 60)
    assert there == found(tmp_path, deep=True)


def test_repairs_see_everything(labels: Path, shards: list[int], tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from seldio.cli import app

    shutil.copytree(labels, tmp_path / "some")
    (tmp_path / "some" / "mix000.csv").write_bytes(b"3,1,0,10,10,200\n1,2,0,10,10,200\n")
    CliRunner().invoke(app, ["validate", str(tmp_path / "some"), "--diff"])
    assert [] == shards


# --- questions -------------------------------------------------------------------------------------------------

ITEM = {"audio": ["x.wav"], "task": "source_existence", "question": "Is there a dog?", "answer": "yes"}


@pytest.fixture
def chunks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All files of lines are large."""
    return watched(monkeypatch, line_validation, "_chunks", "CHUNK", 300)


def write_items(path: Path, ids: list[str], newline: str = "\n") -> None:
    lines = [json.dumps({"id": id, **ITEM}, sort_keys=True) for id in ids]
    path.write_bytes(newline.join(lines).encode() + (newline * (len(ids) % 2)).encode())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_questions_chunk_by_chunk(
    tmp_path: Path, chunks: list[int], newline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "qa.jsonl"
    write_items(path, [str(number) for number in range(40)] + ["3", "39", "3"], newline)
    lines = path.read_bytes().split(newline.encode())
    lines[20] = b'{"broken": '
    lines[30] = lines[30].replace(b"x.wav", b"../x.wav")
    path.write_bytes(newline.encode().join(lines))
    there = found(path)
    assert len(chunks) > 10
    assert 4200 < sum(chunks) == path.stat().st_size
    assert [41, 42, 43] == sorted(finding.line or 0 for finding in there if finding.code == "QAI101")
    assert ["the id 3 stands in line 4 already"] * 2 == [
        f.message for f in there if f.line in (41, 43) and f.code == "QAI101"
    ]
    with running(2, resume=tmp_path / "parts"):
        assert there == found(path)
    monkeypatch.setattr(line_validation, "LARGE", 1 << 60)
    assert sorted(map(str, found(path))) == sorted(map(str, there))


def test_real_questions_and_bad_ones(shared: Path, chunks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_validation, "CHUNK", 5000)
    files = sorted(path for path in (shared).rglob("*.jsonl") if path.stat().st_size)
    for path in files:
        there = {(f.code, f.line, f.column) for f in found(path) if f.code != "QAI107"}
        with monkeypatch.context() as usual:
            usual.setattr(line_validation, "LARGE", 1 << 60)
            assert there == {(f.code, f.line, f.column) for f in found(path) if f.code != "QAI107"}, path
    assert files
