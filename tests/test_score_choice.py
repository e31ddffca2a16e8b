"""What a score of labels says about its rows, its classes and its sides."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from commands import invoke, laid, noticed, rows_of

import seldio
from seldio.errors import UsageError
from seldio.schema.events import ClipFile, Origin, with_origin
from seldio.schema.frames import event_table
from seldio.scores.seld.scoring import SeldAccumulator


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
