"""Two versions of labels and questions: planted changes are told as what they are, and nothing else is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import json_lines, laid
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.differences.report import Difference
from seldio.errors import UsageError

Row = tuple[int, ...]
Clips = dict[str, list[Row]]


def scene(seed: int = 0, frames: int = 200) -> list[Row]:
    """Rows of STARSS22: events of three sources, each of which moves a little."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for source in range(3):
        frame = int(draw.integers(0, 10))
        while frame < frames:
            length, label = int(draw.integers(8, 30)), int(draw.integers(0, 13))
            azimuth, elevation = int(draw.integers(-170, 140)), int(draw.integers(-40, 40))
            steps = range(frame, min(frame + length, frames))
            rows += [(n, label, source, azimuth + (n - frame), elevation) for n in steps]
            frame += length + int(draw.integers(5, 30))
    return sorted(rows)


CLIPS: Clips = {f"fold3_room4_mix{number:03}": scene(number) for number in range(6)}


def written(folder: Path, clips: Clips) -> Path:
    files = {f"{clip}.csv": "".join(",".join(map(str, row)) + "\n" for row in rows) for clip, rows in clips.items()}
    return laid(folder, files)


def compared(tmp_path: Path, change: Callable[[Row], Row | None], some: range = range(6)) -> Difference:
    """What is told when *change* is made to the rows of some clips."""
    new: Clips = {}
    for number, (clip, rows) in enumerate(CLIPS.items()):
        made = [change(row) if number in some else row for row in rows]
        new[clip] = sorted(row for row in made if row is not None)
    return seldio.diff(written(tmp_path / "old", CLIPS), written(tmp_path / "new", new), format="starss22")


def changes(report: Difference) -> dict[str, tuple[Any, ...]]:
    return {str(row[0]): row[1:] for row in report.table("changes")}


def turned(degrees: int) -> Callable[[Row], Row]:
    return lambda row: (*row[:3], (row[3] + degrees + 180) % 360 - 180, row[4])


WHOLE: dict[str, tuple[Callable[[Row], Row], str]] = {
    "turned": (turned(30), "azimuth turned by 30° to the left"),
    "turned right": (turned(-90), "azimuth turned by 90° to the right"),
    "mirrored": (lambda row: (*row[:3], -row[3], row[4]), "azimuth mirrored: left and right are swapped"),
    "behind": (lambda row: (*row[:3], (360 - row[3]) % 360 - 180, row[4]),
               "azimuth measured from the back, clockwise: front and back are swapped"),
    "flipped": (lambda row: (*row[:4], -row[4]), "elevation negated: up and down are swapped"),
    "raised": (lambda row: (*row[:4], row[4] + 7), "elevation 7° higher"),
    "late": (lambda row: (row[0] + 4, *row[1:]), "everything 0.4 s later"),
    "renumbered": (lambda row: (*row[:2], row[2] + 5, *row[3:]), "sources renumbered"),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("clips", [1, 6])
def test_a_change_of_whole_clips_is_one_line(tmp_path: Path, name: str, clips: int) -> None:
    change, text = WHOLE[name]
    report = compared(tmp_path, change, range(clips))
    ((told, (count, _, where)),) = changes(report).items()
    assert told == text
    assert count == clips
    assert where == ("all clips" if clips == 6 else "fold3_room4_mix000")
    assert not report.same


def test_two_causes_are_both_named(tmp_path: Path) -> None:
    report = compared(tmp_path, lambda row: (row[0] + 3, *row[1:3], -row[3], row[4]))
    assert list(changes(report)) == ["everything 0.3 s later", "azimuth mirrored: left and right are swapped"]


@given(st.integers(0, 10_000), st.sampled_from([0, 1, 5]), st.booleans())
@settings(max_examples=examples(20))
def test_every_row_that_changed_is_in_an_event_that_is_told(seed: int, clip: int, drop: bool) -> None:
    """Whatever is done to one row, its clip is told, and no other."""
    new = {name: list(rows) for name, rows in CLIPS.items()}
    name = list(CLIPS)[clip]
    old = new[name].pop(int(np.random.default_rng(seed).integers(len(new[name]))))
    if not drop:
        new[name] = sorted([*new[name], (*old[:4], old[4] + 20)])
    with tempfile.TemporaryDirectory() as folder:
        sides = written(Path(folder) / "old", CLIPS), written(Path(folder) / "new", new)
        report = seldio.diff(*sides, format="starss22")
    assert not report.same
    assert {event[0] for event in report.table("events")} == {name}
    spans = [(float(str(event[1])), float(str(event[2]))) for event in report.table("events")]
    assert any(start - 0.11 <= old[0] / 10 <= stop + 0.11 for start, stop in spans)  # a frame less at an end


def test_reading_labels_and_questions_asks_which(tmp_path: Path) -> None:
    question = {"id": "q0", "audio": ["a.wav"], "task": "t", "question": "Is it?", "answer": "yes"}
    json_lines(written(tmp_path, CLIPS) / "questions.jsonl", [question])
    with pytest.raises(UsageError, match=r"holds labels \(starss22\) and questions \(\w+\): .*format='starss22' or "):
        seldio.read(tmp_path)
    assert seldio.read(tmp_path, format="starss22").num_rows == sum(map(len, CLIPS.values()))
    assert seldio.read(tmp_path, format="items").num_rows == 1
    laid(tmp_path, {"metadata.csv": "file_name,split\na.wav,train\n"})
    with pytest.raises(UsageError, match=r"holds labels \(starss22\) and questions"):  # a table of words is passed over
        seldio.read(tmp_path)
