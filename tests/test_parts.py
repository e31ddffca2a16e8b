"""Any cut of a data set into parts gives the same results: for all verbs, workers and engines, in memory or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from seldio.engines import running
from seldio.files import open_source
from seldio.findings import Finding, raise_errors
from seldio.formats import parts as cutting
from seldio.formats.parts import parts
from seldio.reports import render
from seldio.scores.seld import count
from seldio.scores.seld.score_labels import SeldOptions, score_labels


@pytest.mark.parametrize("size", [1, 5000, 1 << 30])
def test_parts_hold_every_file_once_and_say_why(shared: Path, size: int) -> None:
    with open_source(shared / "data/starss22-labels", raise_errors) as source:
        found = parts(source, None, raise_errors, size=size)
        files = [file.entry.path for part in found for file in part.files]
        assert sorted(files) == sorted(entry.path for entry in source if entry.name.endswith(".csv"))
        assert {"starss22"} == {part.layout for part in found}
        assert all(part.evidence for part in found)
        rows = sum(len(one.reading.table) for part in found for one in part.labels(raise_errors))
        assert rows == sum(len(one.reading.table) for part in parts(source, None, raise_errors)
                           for one in part.labels(raise_errors))  # fmt: skip


def test_what_is_held_and_what_is_not_reads_alike(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    for hold in (1 << 40, 0):
        monkeypatch.setattr(cutting, "HOLD", hold)
        found: list[Finding] = []
        with open_source(shared / "data/so-bench", found.append) as source:
            cut = parts(source, None, found.append)
            rows = [row for part in cut for reading in part.items(found.append) for row in reading.rows]
            tables = [one.reading.table.num_rows for part in cut for one in part.labels(found.append)]
        read.append(([(part.format, part.files) for part in cut], rows, tables, found))
    assert read[0] == read[1]
    assert read[0][1]


def test_large_files_of_lines_are_split_between_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"id": "%03d", "audio": ["x.wav"], "task": "t", "question": "Is there a dog?", "answer": "yes"}\n'
    (tmp_path / "qa.jsonl").write_bytes(b"".join(line % number for number in range(100)))
    monkeypatch.setattr(cutting, "LINES", 1000)
    monkeypatch.setattr(cutting, "CHUNK", 700)
    with open_source(tmp_path / "qa.jsonl", raise_errors) as source:
        found = parts(source, None, raise_errors)
        ids = [row.id for part in found for reading in part.items(raise_errors) for row in reading.rows]
        assert 1 == len(parts(source, None, raise_errors, whole=True))
    assert len(found) > 10
    assert [f"{number:03}" for number in range(100)] == ids


def test_scores_are_the_same_in_any_cut(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels, system = shared / "data/starss22-labels", shared / "data/starss23-predictions/system-a-cartesian"
    (tmp_path / "ref").mkdir()
    for path in list(labels.rglob("*.csv"))[:12]:
        shutil.copy(path, tmp_path / "ref" / path.name)
    options = SeldOptions("dcase2024-angles", jackknife=True, by_clip=True, allow_missing=True)

    def scored() -> str:
        return "".join(render([score_labels(system, tmp_path / "ref", options)], "json"))

    whole = scored()
    assert '"clips"' in whole
    for size, hold, workers in ((1, 1 << 40, 1), (1 << 12, 0, 1), (1 << 14, 0, 2), (1, 1 << 40, 3)):
        monkeypatch.setattr(count, "PART", size)
        monkeypatch.setattr(cutting, "HOLD", hold)
        with running(workers, resume=tmp_path / f"{size}-{hold}"):
            assert scored() == whole
