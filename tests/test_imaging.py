"""Energy maps of 2026 score as by the official program, whatever they hold."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from commands import noticed, records_of
from conftest import Kept
from hypothesis import example, given
from hypothesis import strategies as st
from imaging_sets import Document, imaging_set

import seldio
from seldio.errors import UsageError
from seldio.formats import TextFile, get
from seldio.scores.imaging import maps as energy_maps
from seldio.scores.imaging.maps import Annotations, Average, Detections, MapScores, paired

#: What the program makes of the sets of :func:`imaging_set`, by their seeds.
OFFICIAL = Path(__file__).parent / "cases" / "imaging" / "official-2026.jsonl"


def table(document: Document) -> pa.Table:
    return get("dcase2026").read([TextFile("a.json", "a.json", "a", json.dumps(document).encode())], print).table


def counted(clips: Iterable[tuple[Document, Document]]) -> list[Detections]:
    sides = ((Annotations(table(label)), Annotations(table(detection))) for label, detection in clips)
    return [paired(*both, 13) for both in sides]


def scores(clips: Sequence[Detections], average: Average = "macro") -> list[float]:
    return of_clips(clips, average).scores(np.ones((1, len(clips))))[0].tolist()


def of_clips(clips: Sequence[Detections], average: Average) -> MapScores:
    return MapScores({str(number): detections for number, detections in enumerate(clips)}, average)


def by_class(clips: Sequence[Detections]) -> list[tuple[int, int, int, list[float]]]:
    found = of_clips(clips, "macro")
    counts = found.references.sum(axis=0), np.bincount(found.class_id, minlength=13), found.pairs.sum(axis=0)
    values = found.by_class(np.ones((1, len(clips))))[0].tolist()
    return list(zip(*(each.astype(int).tolist() for each in counts), values, strict=True))


def same(official: float | None, own: float) -> bool:
    return own != own if official is None else math.isclose(official, own, rel_tol=0, abs_tol=1e-9)


def test_golden(official: Kept) -> None:
    """AP, Pearson r and counts are those of the golden; its means were made in float32, those of the program are not."""
    for row in records_of(official / "seld-2026.jsonl"):
        clips, wanted = counted((clip["truth"], clip["prediction"]) for clip in row["sequences"]), row["expected"]
        for number, (references, detections, pairs, (mean, *aps, r)) in enumerate(by_class(clips)):
            of_class = wanted["per_class"].get(str(number))
            if of_class is None:
                assert references == 0
                continue
            assert (of_class["n_gt"], of_class["n_det"], of_class["pairs"]) == (references, detections, pairs)
            assert all(map(same, [*of_class["AP"], of_class["pearson_r"]], [*aps, r]))
            assert math.isclose(of_class["mAP"], mean, abs_tol=1e-7)
        assert sum(pairs for _, _, pairs, _ in by_class(clips)) == wanted["micro_pairs"]
        assert all(map(same, [*wanted["micro_AP"], wanted["micro_pearson_r"]], scores(clips, "micro")[1:]))
        mean, *aps, r = scores(clips)
        assert same(wanted["macro_pearson_r"], r)
        means = zip([*wanted["macro_AP"], wanted["macro_mAP"]], [*aps, mean], strict=True)
        assert all(each != each or math.isclose(each, own, abs_tol=1e-7) for each, own in means)


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.slow)])
def test_random_sets_score_as_by_the_program(step: int) -> None:
    for row in records_of(OFFICIAL)[::step]:
        clips, official, seed = counted(imaging_set(row["seed"])), row["dcase2026"], row["seed"]
        (mean, *aps, r), (pooled, *pooled_aps, pooled_r) = scores(clips), scores(clips, "micro")
        assert all(map(same, official["macro"], (mean, r))), seed
        classes = by_class(clips)
        assert all(map(same, official["micro"], (pooled, pooled_r, sum(pairs for _, _, pairs, _ in classes)))), seed
        if "AP" in official:
            assert all(map(same, official["AP"][0] + official["AP"][1], [*aps, *pooled_aps])), seed
            for wanted, (*counts, values) in zip(official["classes"], classes, strict=True):
                if wanted is not None:
                    assert wanted[:3] == counts, seed
                    assert all(map(same, wanted[3:], (values[0], values[-1]))), seed


POINTS = st.lists(st.tuples(*[st.integers(0, 360), st.integers(0, 180)]), min_size=1, max_size=12)


def cloud(seed: int, x: float, y: float) -> list[list[float]]:
    luck = np.random.default_rng(seed)
    points = np.array((x, y)) + luck.normal(0, luck.choice([2, 8, 30]), (int(luck.integers(3, 60)), 2))
    energy = luck.uniform(0.01, 1, len(points))
    return np.column_stack((points[:, 0] % 360, points[:, 1].clip(0, 180), energy)).round(4).tolist()


CLOUDS = st.builds(cloud, st.integers(0, 2**32), st.floats(0, 360), st.floats(0, 180))
WHOLE = POINTS.map(lambda points: [[float(x), float(y), (1 + (x + y) % 7) / 8] for x, y in points])
SHAPES = st.lists(st.lists(CLOUDS | WHOLE, max_size=3), min_size=1, max_size=4)


@given(SHAPES, SHAPES)
@example([[[[0.0, 1.0, 0.25], [0.0, 1.0, 0.25], [0.0, 2.0, 0.375]]]], [[]])
def test_many_pairs_are_compared_as_each_is_by_the_program(
    shapes: list[list[list[list[float]]]], others: list[list[list[list[float]]]]
) -> None:
    sides = [
        Annotations(table({"annotations": [label(0, 1) | {"segmentation": shape} for shape in some]}))
        for some in (shapes, others + shapes)
    ]
    labels, detections = ([side.shape(n) for n in range(len(side))] for side in sides)
    pairs = list(itertools.product(labels, detections))
    for (a, b), iou, r in zip(pairs, *energy_maps.compared(pairs), strict=True):
        drawn = [energy_maps.draw(energy_maps.polygons(shape)) for shape in (a, b)]
        assert iou == np.float32(energy_maps.overlap(drawn[1], drawn[0]))
        official = energy_maps.pearson(*drawn)
        assert same(None if official != official else official, float(r))


def written(folder: Path, clips: Sequence[tuple[Document, Document]]) -> tuple[Path, Path]:
    labels, predictions = folder / "labels" / "dev-test-tau", folder / "predictions"
    labels.mkdir(parents=True)
    predictions.mkdir()
    for number, (label, detection) in enumerate(clips, 1):
        name = f"fold4_room2_mix{number:03d}"
        (labels / f"{name}_std.json").write_text(json.dumps(label), "utf-8")
        (predictions / f"{name}.json").write_text(json.dumps(detection), "utf-8")
    return predictions, labels.parent


def test_json_of_2026_is_scored_as_energy_maps(tmp_path: Path) -> None:
    clips = imaging_set(1)
    predictions, labels = written(tmp_path, clips)
    report = seldio.score(predictions, labels)
    assert report.profile == "dcase2026"
    official = records_of(OFFICIAL)[1]["dcase2026"]["macro"]
    assert same(official[0], report.overall["mAP"])  # type: ignore[arg-type]
    assert same(official[1], report.overall["r"])  # type: ignore[arg-type]
    micro = seldio.score(predictions, labels, average="micro", table="clips")
    assert micro.overall["mAP"] == dict(zip(("a", "b"), [row[1] for row in report.table("averages")], strict=True))["b"]
    assert len(micro.table("clips").rows) == len(clips)
    assert "prediction-names" not in noticed(report)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_resample_scores_as_its_clips_would(average: Average) -> None:
    """Equal scores, whose order is open, do not occur."""
    some = counted(clip for seed in (0, 1, 2, 4) for clip in imaging_set(seed))
    kept = np.random.default_rng(1).integers(0, 2, (6, len(some)))
    kept[0] = 1
    for row, drawn in zip(kept, of_clips(some, average).scores(kept.astype(float)), strict=True):
        own = scores([clip for clip, there in zip(some, row, strict=True) if there], average)
        assert np.allclose(own, drawn, rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_systems_have_their_difference_where_no_clip_changes_sides(average: Average) -> None:
    clips = counted(clip for seed in range(3, 40, 4) for clip in imaging_set(seed))  # with equal scores
    for number in range(0, len(clips) - 5, 2):
        one, other = (of_clips(clips[start : start + 3], average) for start in (number, number + 2))
        low, high = one.bounds()
        assert low - 1e-7 <= one.scores(np.ones((1, 3)))[0, 0] <= high + 1e-7
        apart = other.scores(np.ones((1, 3))) - one.scores(np.ones((1, 3)))
        assert np.allclose(one.exchanged(other)(np.zeros((1, 3))), apart, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.slow
def test_systems_are_compared(tmp_path: Path) -> None:
    clips = [clip for seed in (0, 1, 2, 4, 5) for clip in imaging_set(seed)]
    predictions, labels = written(tmp_path / "one", clips)
    fewer = [(truth, {"annotations": found["annotations"][::2]}) for truth, found in clips]
    other, _ = written(tmp_path / "two", fewer)
    report = seldio.compare([predictions, other], labels, intervals="bootstrap=200")
    alone = [seldio.score(one, labels).overall for one in (predictions, other)]
    for row, single in zip(report.table("overall"), alone, strict=True):
        assert [cell.value for cell in row[1:]] == list(single.values())[1:]  # type: ignore[union-attr]
    assert "few-clips" in noticed(seldio.score(predictions, labels, intervals="bootstrap"))
    with pytest.raises(UsageError, match="threshold= does not apply here"):
        seldio.compare([predictions, other], labels, threshold={"angle": 5})


def label(frame: int, number: int) -> dict[str, Any]:
    square = [[100.0, 80.0, 0.5], [130.0, 80.0, 1.0], [100.0, 110.0, 1.0], [130.0, 110.0, 0.4]]
    return {"metadata_frame_index": frame, "instance_id": 0, "category_id": number, "distance": 150.0,
            "segmentation": [square]}  # fmt: skip


@given(st.integers(0, 99), st.integers(5, 60))
def test_a_packed_map_is_the_map(column: int, wide: int) -> None:
    from seldio.viewer.page import packed

    x = column * 3.6
    square = [[x, 80.0, 1.0], [(x + wide) % 360, 80.0, 0.9], [x, 100.0, 0.8], [(x + wide) % 360, 100.0, 1.0]]
    rows = table({"annotations": [label(0, 1) | {"segmentation": [square]}, label(1, 1) | {"segmentation": []}]})
    first, empty = packed(rows) or [None, None]
    assert empty is None
    assert first is not None
    left, top, width, levels = first
    drawn = energy_maps.draw(energy_maps.polygons(Annotations(rows).shape(0)))
    wanted, found = np.rint(drawn * 15), np.zeros((50, 100))
    for number, level in enumerate(levels):
        found[top + number // width, (left + number % width) % 100] = int(level, 16)
    assert np.array_equal(wanted, found)
