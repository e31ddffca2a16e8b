"""What a score of labels says about itself: padded outputs, made-up errors, rows that count twice."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.reports.tables import Notice, ScoreReport

#: Frame, class, source, azimuth, elevation and distance in centimetres.
Label = tuple[int, int, int, int, int, int]


def line(*cells: float) -> str:
    return ",".join(f"{cell:g}" for cell in cells) + "\n"


def label(frames: Iterable[int], class_id: int, azimuth: int, source: int = 0, distance: int = 100) -> list[Label]:
    return [(frame, class_id, source, azimuth, 0, distance) for frame in frames]


def labels(folder: Path, **clips: list[Label]) -> Path:
    return _written(folder, {clip: "".join(line(*row) for row in sorted(rows)) for clip, rows in clips.items()})


def outputs(folder: Path, metres: bool = False, **clips: list[Label]) -> Path:
    """Outputs of a system, 2023 or with the distances of 2024."""
    texts = {}
    for clip, rows in clips.items():
        found = []
        for frame, class_id, _, azimuth, _, distance in sorted(rows):
            x, y = (round(function(math.radians(azimuth)), 9) for function in (math.cos, math.sin))
            found.append(f"{frame},{class_id},0,{x},{y},0.0,{distance / 100 if metres else 0}\n")
        texts[clip] = "".join(found)
    return _written(folder, texts)


def _written(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for clip, text in texts.items():
        (folder / f"{clip}.csv").write_text(text)
    return folder


def said(done: ScoreReport) -> dict[str, Notice]:
    return {notice.name: notice for notice in done.notices}


def row(done: ScoreReport, table: str, name: str) -> dict[str, Any]:
    found = next(each for each in done.tables if each.name == table)
    cells = next(cells for cells in found.rows if cells[0] == name)
    return dict(zip((column.name for column in found.columns), cells, strict=True))


LONG = range(1, 100)
ONE, TWO = label(LONG, 0, 30), label(LONG, 0, 30) + label(LONG, 1, 90)
NEAR, WIDE = label(range(1, 21), 0, 30), label(range(1, 21), 0, 50)
TWICE = ONE + label([7, 8], 0, 30) + label([9], 0, 30, source=1)
AT = label(LONG, 0, 30) + label(range(50, 52), 1, 90, distance=0)
OFF = label(LONG, 0, 30) + label(range(50, 52), 1, 90, distance=100)
MISSED = ("unmatched-classes", "absent-classes", "present-classes")
#: Labels and output of a clip, options, a notice with its words, and whether it is grave; without words it is not there.
SAID: tuple[tuple[list[Label], list[Label], dict[str, Any], str, tuple[str, ...], bool], ...] = (
    (label(range(1, 97), 0, 30), label(range(400), 0, 30), {}, "last-frame",
     ("300 of 400 predicted rows (75%) not scored", "padding of an output that was not cut at the end of the recording"),
     True),
    (label(range(1, 97), 0, 30), label(range(102), 0, 30), {}, "last-frame", ("not scored",), False),
    (TWO, label(LONG, 0, 40), {}, "unmatched-classes",
     ('no prediction of "Male speech, man speaking" is matched: LE 180 counts for it',
      "(LE 166.9°, 10.0° over the classes with a match)"), True),
    (TWO, label(LONG, 0, 40), {"profile": "dcase2024"}, "unmatched-classes", ("errors are means over the other classes",),
     False),
    *((TWO, label(LONG, 0, 40), {"average": "micro"}, name, (), False) for name in MISSED),
    (AT, OFF, {"profile": "dcase2024"}, "zero-distance", ("2 reference rows with a distance of 0", "RDE and SELD"), True),
    (TWICE, ONE, {}, "duplicate-rows", ("2 reference rows like", "each counts as a source of its own"), False),
    (ONE, ONE + label([7], 0, 30), {}, "duplicate-rows", ("1 predicted row like",), False),
    (ONE, ONE, {}, "distance-unused", ("--profile dcase2024",), True),
    (ONE, ONE, {"profile": "dcase2023"}, "distance-unused", ("--profile dcase2024",), False),
    (ONE, ONE, {"profile": "dcase2024"}, "distance-unused", (), False),
)  # fmt: skip


@pytest.mark.parametrize("case", SAID, ids=[f"{row[3]}-{number}" for number, row in enumerate(SAID)])
def test_what_a_score_says_of_itself(tmp_path: Path, case: Any) -> None:
    truth, given, options, name, words, grave = case
    done = seldio.score(outputs(tmp_path / "out", True, a=given), labels(tmp_path / "ref", a=truth), **options)
    notice = said(done).get(name)
    if notice is None or not words:
        assert notice is None
        assert not words
        return
    assert notice.grave == grave
    for each in words:
        assert each in notice.text


def test_numbers_that_the_notices_are_about(tmp_path: Path) -> None:
    padded, truth = label(range(400), 0, 30), label(range(1, 97), 0, 30)
    done = seldio.score(outputs(tmp_path / "out", a=padded), labels(tmp_path / "ref", a=truth))
    assert done.overall["ER"] == 0  # padding is not held against the system
    done = seldio.score(outputs(tmp_path / "far", True, a=OFF), labels(tmp_path / "at", a=AT), profile="dcase2024")
    assert float(str(done.overall["RelDistE"])) > 1e10


def test_vectors_without_a_direction(tmp_path: Path) -> None:
    given = _written(tmp_path / "out", {"a": "".join(f"{frame},0,0,0.0,0.0,0.0,0\n" for frame in (3, 4))
                                        + "5,0,0,1.0,0.0,0.0,0\n"})  # fmt: skip
    notice = said(seldio.score(given, labels(tmp_path / "ref", a=NEAR), format="dcase2023-output"))["zero-vector"]
    assert notice.grave
    assert "2 predicted rows with the vector (0, 0, 0)" in notice.text
    assert "azimuth 0, elevation 0" in notice.text
    older = outputs(tmp_path / "older", a=NEAR)  # whose distances are all 0
    assert "distance-unused" not in said(seldio.score(older, tmp_path / "ref", format="dcase2023-output"))


def test_jackknives_of_the_programs(tmp_path: Path) -> None:
    clips = {clip: label(range(1, 40), 0, 30) for clip in ("a", "b")} | {"c": label(range(1, 40), 1, 30)}
    given, truth = outputs(tmp_path / "out", True, **clips), labels(tmp_path / "ref", **clips)
    done = said(seldio.score(given, truth, intervals="jackknife"))
    assert "without it F and LR are 0 and LE is set to 180" in done["sentinel-interval"].text
    assert "intervals of F, LE, LR, SELD" in done["sentinel-interval"].text
    newer = said(seldio.score(given, truth, profile="dcase2024", intervals="jackknife"))
    assert "F and LR are 0 and no error is defined" in newer["sentinel-interval"].text


def test_parts_are_scored_over_the_classes_that_they_have(tmp_path: Path) -> None:
    rooms = {
        "fold4_room1_mix001": label(range(1, 100), 0, 30) + label(range(1, 100), 1, 90),
        "fold4_room2_mix001": label(range(1, 100), 2, 0),
        "fold4_room2_mix002": [],
    }
    given = dict(rooms, fold4_room1_mix001=label(range(1, 100), 0, 40))
    given["fold4_room2_mix001"] = rooms["fold4_room2_mix001"] + label(range(1, 100), 5, 0)
    truth = labels(tmp_path / "ref", **rooms)
    done = seldio.score(outputs(tmp_path / "out", **given), truth, table="clips", reference_format="starss23")
    first, second = (row(done, "clips", clip) for clip in list(rooms)[:2])
    assert (first["F"], first["LR"], first["ER"]) == pytest.approx((0.5, 0.5, 0.5))
    assert first["LE"] == pytest.approx((10 + 180) / 2)
    assert (second["F"], second["LE"]) == pytest.approx((1, 0), abs=1e-6)
    assert second["ER"] == pytest.approx(1)  # false alarms of another class
    assert math.isnan(row(done, "clips", "fold4_room2_mix002")["ER"])
    assert row(done, "rooms", "room 2")["F"] == pytest.approx(1)
    assert "by clip and room" in said(done)["present-classes"].text
    assert done.overall["F"] == pytest.approx((1 + 0 + 1) / 13)  # as the official program has it
    micro = seldio.score(tmp_path / "out", truth, table="clips", average="micro", reference_format="starss23")
    assert row(micro, "clips", "fold4_room1_mix001")["F"] == pytest.approx(1 / 1.5)


def test_swapped_sides_are_said_before_the_tables(tmp_path: Path) -> None:
    rows = label(range(1, 100), 0, 30)
    given, truth = outputs(tmp_path / "out", a=rows), labels(tmp_path / "ref", a=rows)
    done = seldio.score(truth, given, reference_format="dcase2023-output", format="starss23")
    notice = done.notices[0]
    assert (notice.name, notice.first, notice.grave) == ("reference-is-output", True, True)
    assert "probably swapped" in notice.text
    common = ["score", str(truth), "-r", str(given), "--reference-format", "dcase2023-output", "-f", "starss23"]
    for output in ("text", "markdown", "html"):
        shown = CliRunner().invoke(app, [*common, "--output", output]).stdout
        assert shown.count("reference-is-output") == 1
        assert shown.index("reference-is-output") < shown.index("by class"), output
        both = CliRunner().invoke(app, [*common, str(truth), "--output", output]).stdout
        assert both.count("reference-is-output") == 1, output  # once for one cause
        table = {"text": "──", "markdown": "| ---", "html": "<table"}[output]
        assert both.index("reference-is-output") < both.index(table), output
    kept = json.loads(CliRunner().invoke(app, [*common, "--json"]).stdout)["reports"][0]["notices"]
    assert [each["first"] for each in kept][:2] == [True, False]
    careful = said(seldio.score(given, given, reference_format="dcase2023-output"))["reference-is-output"]
    assert "make sure that they are not swapped" in careful.text
