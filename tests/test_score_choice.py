"""Which layout the two sides of a score are read as, and what a score says about its rows."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from seldio.errors import UnknownFormat, UsageError
from seldio.reports.tables import Notice, ScoreReport
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


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "a.csv").write_text(text, "utf-8")
    return folder / name


def scored(
    folder: Path, prediction: str, reference: str, profile: str | None = None, force: bool = False
) -> ScoreReport:
    options = SeldOptions(profile, "micro", force=force)
    return score_labels(write(folder, "pred", prediction), write(folder, "ref", reference), options)


def notice(report: ScoreReport, name: str) -> Notice | None:
    return next((notice for notice in report.notices if notice.name == name), None)


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
    found = notice(report, "format-chosen")
    assert found is not None
    assert found.text.startswith(f"the prediction is read as {read}; the content also fits ")
    assert instead in found.text
    assert "use --format " in found.text
    same = score_labels(tmp_path / "pred", tmp_path / "ref", SeldOptions(profile, "micro"), format=read)
    assert same.overall == report.overall
    assert notice(same, "format-chosen") is None


def test_the_reference_is_labels(tmp_path: Path) -> None:
    reference = "".join(f"{frame},1,0,0,0,0\n" for frame in range(25))
    report = scored(tmp_path, "".join(f"{f},1,0,1.0,0.0,0.0,0.5\n" for f in range(25)), reference)
    found = notice(report, "format-chosen")
    assert found is not None
    assert found.text.startswith("the reference is read as starss23; the content also fits")
    assert "use --reference-format " in found.text
    with pytest.raises(UnknownFormat, match="reference_format=NAME reads the file as one of them"):
        scored(tmp_path, FOUR, "1,2\n" * 9)


def test_a_layout_that_the_content_tells_needs_no_word(tmp_path: Path) -> None:
    good = "".join(f"{f},1,0,0.9,0.1,0.2,0\n" for f in range(25))
    for prediction in (good, STARSS23, "".join(f"{f},1,10,5,150\n" for f in range(25))):
        assert notice(scored(tmp_path, prediction, STARSS23), "format-chosen") is None


@pytest.mark.parametrize("profile", ["dcase2023", "dcase2024", "dcase2025"])
def test_an_empty_prediction_is_not_misread(tmp_path: Path, profile: str) -> None:
    report = scored(tmp_path, "", STEREO + "1,0,0,5,100,1\n5,0,0,5,100,1\n", profile)
    assert notice(report, "misread") is None
    assert report.overall["F"] == 0
    full = scored(tmp_path, STARSS23, STARSS23, "dcase2023")
    assert notice(full, "misread") is not None


def test_stereo_scores_say_what_they_do_not_see(tmp_path: Path) -> None:
    reference = STEREO + "".join(f"{frame},0,0,60,100,1\n" for frame in range(9))
    behind = STEREO + "".join(f"{frame},0,0,{120 if frame < 4 else 60},100,1\n" for frame in range(9))
    report = scored(tmp_path, behind, reference, force=True)  # stereo has no azimuth of 120
    assert report.overall["AngE"] == pytest.approx(0)  # 120 is 60 in front
    found = notice(report, "folded")
    assert found is not None
    assert found.text.startswith("4 predicted rows with an azimuth beyond ±90°")
    assert notice(report, "elevation-unused") is None
    above = "".join(f"{frame},0,0,60,{30 * (frame % 2)},100\n" for frame in range(9))
    report = scored(tmp_path, above, reference)
    found = notice(report, "elevation-unused")
    assert found is not None
    assert found.text == "4 predicted rows with an elevation, which dcase2025 does not look at"
    assert {"folded", "elevation-unused"}.isdisjoint(one.name for one in scored(tmp_path, reference, reference).notices)


@pytest.mark.parametrize("profile", ["dcase2023", "dcase2024", "dcase2025", "dcase2021"])
def test_nothing_counted_is_no_score(profile: str) -> None:
    live = SeldAccumulator(profile)
    assert all(value != value for value in live.compute().values())
    assert [value != value for value in live.score().values()[:, 0].tolist()].count(False) == 0


def test_a_clip_in_both_accumulators_counts_once_if_it_is_the_same() -> None:
    rows = {"frame": [0, 1, 2], "class_id": [0, 0, 0], "azimuth": [0.0, 0.0, 0.0], "elevation": [0.0, 0.0, 0.0]}
    turned = rows | {"azimuth": [50.0, 50.0, 50.0]}
    one, other, third = SeldAccumulator(), SeldAccumulator(), SeldAccumulator()
    one.update("a", rows, rows)
    other.update("a", rows, rows)
    other.update("b", rows, turned)
    one.merge(other)
    assert one.score().clips == ("a", "b")
    third.update("b", rows, rows)
    with pytest.raises(UsageError, match="both accumulators counted b, and not the same"):
        one.merge(third)
    assert one.score().clips == ("a", "b")


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
    one.reset()
    assert () == one.score().clips


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
