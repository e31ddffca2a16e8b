"""Which layout the two sides of a score are read as, and what a score says about its rows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import invoke, laid, noticed, rows_of

import seldio
from seldio.errors import UnknownFormat, UsageError
from seldio.reports.tables import ScoreReport
from seldio.schema.events import ClipFile, Origin, with_origin
from seldio.schema.frames import event_table
from seldio.scores.seld.score_labels import SeldOptions, score_labels
from seldio.scores.seld.scoring import SeldAccumulator

STARSS22 = "".join(f"{frame},1,0,0,0\n" for frame in range(25))
STARSS23 = "".join(f"{frame},1,0,0,0,100\n" for frame in range(25))
#: What a system writes about STARSS: four columns, and directions that happen to lie on a grid of 10 degrees.
FOUR = "".join(f"{frame},1,0,0\n" for frame in range(25))
GRID = "".join(f"{frame},{frame % 11},{frame % 36 * 10 - 180},{-10 * (frame % 3)}\n" for frame in range(100))
GRID_LABELS = "".join(f"{frame},{frame % 11},0,{frame % 36 * 10 - 180},{-10 * (frame % 3)}\n" for frame in range(100))
AXES = "".join(f"{frame},1,0,1,0,0\n" for frame in range(25))
STEREO = "frame,class,source,azimuth,distance,onscreen\n"


def scored(
    folder: Path, prediction: str, reference: str, profile: str | None = None, force: bool = False
) -> ScoreReport:
    options = SeldOptions(profile, "micro", force=force)
    laid(folder, {"pred/a.csv": prediction, "ref/a.csv": reference})
    return score_labels(folder / "pred", folder / "ref", options)


@pytest.mark.parametrize(
    ("prediction", "reference", "profile", "read", "instead"),
    [
        (FOUR, STARSS22, None, "dcase2023-submission", "dcase2019-output"),
        (FOUR, STARSS23, "dcase2024-angles", "dcase2023-submission", "dcase2019-output"),
        (GRID, GRID_LABELS, "dcase2023", "dcase2023-submission", "dcase2019-output"),
        (AXES, STARSS23, None, "dcase2020-output", "starss23"),
    ],
)
def test_predictions_are_outputs_of_the_year_of_the_labels(
    tmp_path: Path, prediction: str, reference: str, profile: str | None, read: str, instead: str
) -> None:
    report = scored(tmp_path, prediction, reference, profile)
    assert report.overall["F"] == pytest.approx(1)
    found = noticed(report).get("format-chosen")
    assert found.text.startswith(f"the prediction is read as {read}; the content also fits ")
    assert instead in found.text
    assert "use --format " in found.text
    if prediction is FOUR and profile is None:
        misread = noticed(report)["misread"]
        assert (misread.grave, "four-column rows" in misread.text, "F 0" in misread.text) == (True, True, True)
    same = score_labels(tmp_path / "pred", tmp_path / "ref", SeldOptions(profile, "micro"), format=read)
    assert same.overall == report.overall
    assert noticed(same).get("format-chosen") is None


def test_the_reference_is_labels(tmp_path: Path) -> None:
    reference = "".join(f"{frame},1,0,0,0,0\n" for frame in range(25))
    report = scored(tmp_path, "".join(f"{f},1,0,1.0,0.0,0.0,0.5\n" for f in range(25)), reference)
    found = noticed(report).get("format-chosen")
    assert found.text.startswith("the reference is read as starss23; the content also fits")
    assert "use --reference-format " in found.text
    with pytest.raises(UnknownFormat, match="reference_format=NAME reads the file as one of them"):
        scored(tmp_path, FOUR, "1,2\n" * 9)


@pytest.mark.parametrize("profile", ["dcase2023", "dcase2024", "dcase2025"])
def test_an_empty_prediction_is_not_misread(tmp_path: Path, profile: str) -> None:
    report = scored(tmp_path, "", STEREO + "1,0,0,5,100,1\n5,0,0,5,100,1\n", profile)
    assert noticed(report).get("misread") is None
    assert report.overall["F"] == 0
    full = scored(tmp_path, STARSS23, STARSS23, "dcase2023")
    assert noticed(full).get("misread") is not None


def test_stereo_scores_say_what_they_do_not_see(tmp_path: Path) -> None:
    reference = STEREO + "".join(f"{frame},0,0,60,100,1\n" for frame in range(9))
    behind = STEREO + "".join(f"{frame},0,0,{120 if frame < 4 else 60},100,1\n" for frame in range(9))
    report = scored(tmp_path, behind, reference, force=True)  # stereo has no azimuth of 120
    assert report.overall["AngE"] == pytest.approx(0)  # 120 is 60 in front
    assert noticed(report)["folded"].text.startswith("4 predicted rows with an azimuth beyond ±90°")
    above = "".join(f"{frame},0,0,60,{30 * (frame % 2)},100\n" for frame in range(9))
    unused = noticed(scored(tmp_path, above, reference))["elevation-unused"].text
    assert unused == "4 predicted rows with an elevation, which dcase2025 ignores"
    assert {"folded", "elevation-unused"}.isdisjoint(noticed(scored(tmp_path, reference, reference)))


def test_accumulators_have_the_names_of_torchmetrics() -> None:
    """update, compute, reset, forward (a call), merge_state, state_dict: all but the tensors."""
    rows = {"frame": [0, 1], "class_id": [0, 5], "azimuth": [0.0, 9.0], "elevation": [0.0, 0.0]}
    turned = rows | {"azimuth": [50.0, 50.0]}
    one, other = SeldAccumulator("dcase2024-angles"), SeldAccumulator("dcase2024-angles")

    assert one("a", rows, rows)["F"] == pytest.approx(1)  # of this clip alone, over its two classes
    assert one.forward("b", rows, turned)["F"] == 0
    other.update("c", rows, rows)
    other.merge_state(one)
    one.merge_state(json.loads(json.dumps(other.state_dict())))

    assert ("a", "b", "c") == one.score().clips == other.score().clips
    assert one.compute() == other.compute()


def test_a_table_of_several_clips_is_counted_clip_by_clip() -> None:
    rows = {"clip": ["b", "a", "b"], "frame": [0, 0, 1], "class_id": [3, 3, 3], "azimuth": [0.0, 9.0, 0.0]}
    truth = event_table(pa.table(rows | {"elevation": [0.0, 0.0, 0.0]}))
    silent = tuple(ClipFile(clip, f"{clip}.csv") for clip in "abc")
    given = with_origin(truth.slice(0, 2), Origin("", "starss", silent))
    live, expected = SeldAccumulator("dcase2024-angles"), SeldAccumulator("dcase2024-angles")

    live.update_all({"a": truth.slice(1, 1), "b": truth.take([0, 2]), "c": truth.slice(0, 0)}, given)

    expected.update("a", truth.slice(1, 1), truth.slice(1, 1))
    expected.update("b", truth.take([0, 2]), truth.slice(0, 1))
    expected.update("c", truth.slice(0, 0), truth.slice(0, 0))
    assert json.dumps(expected.state_dict()) == json.dumps(live.state_dict())
    with pytest.raises(UsageError, match="no reference labels for the clip c"):
        live.update_all(truth, given)


#: Frame, class, source, azimuth, elevation and distance in centimetres.
Label = tuple[int, int, int, int, int, int]


def label(frames: Iterable[int], class_id: int, azimuth: int, source: int = 0, distance: int = 100) -> list[Label]:
    return [(frame, class_id, source, azimuth, 0, distance) for frame in frames]


def labels(folder: Path, **clips: list[Label]) -> Path:
    return laid(
        folder,
        {
            f"{clip}.csv": "".join(f"{','.join(map(str, row))}\n" for row in sorted(rows))
            for clip, rows in clips.items()
        },
    )


def outputs(folder: Path, metres: bool = False, **clips: list[Label]) -> Path:
    texts = {}
    for clip, rows in clips.items():
        found = []
        for frame, class_id, _, azimuth, _, distance in sorted(rows):
            x, y = (round(function(math.radians(azimuth)), 9) for function in (math.cos, math.sin))
            found.append(f"{frame},{class_id},0,{x},{y},0.0,{distance / 100 if metres else 0}\n")
        texts[f"{clip}.csv"] = "".join(found)
    return laid(folder, texts)


LONG = range(1, 100)
ONE, TWO = label(LONG, 0, 30), label(LONG, 0, 30) + label(LONG, 1, 90)
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
    notice = noticed(done).get(name)
    if notice is None or not words:
        assert notice is None
        assert not words
        return
    assert notice.grave == grave
    for each in words:
        assert each in notice.text


def test_vectors_without_a_direction(tmp_path: Path) -> None:
    rows = "".join(f"{frame},0,0,{x}.0,0.0,0.0,0\n" for frame, x in ((3, 0), (4, 0), (5, 1)))
    truth = labels(tmp_path / "ref", a=label(range(1, 21), 0, 30))
    notice = noticed(seldio.score(laid(tmp_path / "out", {"a.csv": rows}), truth, format="dcase2023-output"))[
        "zero-vector"
    ]
    assert notice.grave
    assert "2 predicted rows with the vector (0, 0, 0)" in notice.text


def test_jackknives_of_the_programs(tmp_path: Path) -> None:
    clips = {clip: label(range(1, 40), 0, 30) for clip in ("a", "b")} | {"c": label(range(1, 40), 1, 30)}
    given, truth = outputs(tmp_path / "out", True, **clips), labels(tmp_path / "ref", **clips)
    done = noticed(seldio.score(given, truth, intervals="jackknife"))
    assert "without it F and LR are 0 and LE is set to 180" in done["sentinel-interval"].text
    assert "intervals of F, LE, LR, SELD" in done["sentinel-interval"].text
    newer = noticed(seldio.score(given, truth, profile="dcase2024", intervals="jackknife"))
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
    first, second = (rows_of(done, "clips")[clip] for clip in list(rooms)[:2])
    assert (first["F"], first["LR"], first["ER"]) == pytest.approx((0.5, 0.5, 0.5))
    assert first["LE"] == pytest.approx((10 + 180) / 2)
    assert (second["F"], second["LE"]) == pytest.approx((1, 0), abs=1e-6)
    assert second["ER"] == pytest.approx(1)  # false alarms of another class
    assert math.isnan(rows_of(done, "clips")["fold4_room2_mix002"]["ER"])
    assert rows_of(done, "rooms")["room 2"]["F"] == pytest.approx(1)
    assert "by clip and room" in noticed(done)["present-classes"].text
    assert done.overall["F"] == pytest.approx((1 + 0 + 1) / 13)  # as the official program has it


def test_swapped_sides_are_said_before_the_tables(tmp_path: Path) -> None:
    rows = label(range(1, 100), 0, 30)
    given, truth = outputs(tmp_path / "out", a=rows), labels(tmp_path / "ref", a=rows)
    done = seldio.score(truth, given, reference_format="dcase2023-output", format="starss23")
    notice = done.notices[0]
    assert (notice.name, notice.first, notice.grave) == ("reference-is-output", True, True)
    assert "probably swapped" in notice.text
    common = ["score", str(truth), "-r", str(given), "--reference-format", "dcase2023-output", "-f", "starss23"]
    for output in ("text", "markdown", "html"):
        shown = invoke(*common, "--output", output).stdout
        assert shown.count("reference-is-output") == 1
        assert shown.index("reference-is-output") < shown.index("by class"), output
    kept = json.loads(invoke(*common, "--json").stdout)["reports"][0]["notices"]
    assert [each["first"] for each in kept][:2] == [True, False]
    careful = noticed(seldio.score(given, given, reference_format="dcase2023-output"))["reference-is-output"]
    assert "make sure that they are not swapped" in careful.text
