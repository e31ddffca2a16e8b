"""Pairs of maps in each frame and class, and what they come to: average precision and Pearson r.

A pair needs both sides, so that maps are drawn only where a frame has a label and a detection of one class whose
boxes meet: all others have an overlap of 0 and no Pearson r, whatever they look like.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from seldio.formats.dcase_json import list_offsets
from seldio.scores.imaging.energy_maps import Floats, Ints, Outline, compared

_NAN = float("nan")


class Detections(NamedTuple):
    """Detections in the order in which the program sees them."""

    class_id: Ints
    score: Floats
    overlap: Floats  # IoU with the label that it is paired with, 0 without one
    r: Floats  # Pearson r with that label, NaN without one
    references: Ints  # labels of each class

    @staticmethod
    def of(rows: Sequence[tuple[int, float, float, float]], references: Ints) -> Detections:
        """From a row for each detection."""
        numbers = np.array([row[0] for row in rows], np.int64)
        values = np.array([row[1:] for row in rows], np.float64).reshape(-1, 3)
        return Detections(numbers, values[:, 0], values[:, 1], values[:, 2], references)

    @staticmethod
    def joined(some: Sequence[Detections], classes: int) -> Detections:
        """Return all of some clips as one."""
        every = [*some, Detections.of([], np.zeros(classes, np.int64))]
        numbers, score, iou, r, references = zip(*every, strict=True)
        return Detections(
            np.concatenate(numbers), np.concatenate(score), np.concatenate(iou), np.concatenate(r),
            np.sum(references, axis=0),
        )  # fmt: skip

    def of_class(self, number: int) -> Detections:
        """Those of one class."""
        chosen = self.class_id == number
        numbers, score, iou, r = (column[chosen] for column in self[:4])
        return Detections(numbers, score, iou, r, self.references[[number]])


class Annotations:
    """The labels or detections of a clip."""

    def __init__(self, table: pa.Table | None) -> None:
        rows = table.num_rows if table is not None else 0
        self.frames: list[int] = table["frame"].to_pylist() if table is not None else []
        self.classes: list[int] = table["class_id"].to_pylist() if table is not None else []
        given = table is not None and "score" in table.column_names
        scores = table["score"].to_pylist() if table is not None and given else [None] * rows
        self.unscored = scores.count(None)
        self.scores = [0.0 if score is None else float(score) for score in scores]
        given = table is not None and "distance" in table.column_names
        distances = table["distance"].to_pylist() if table is not None and given else []
        #: how many rows have one above 0
        self.distances = sum(value is not None and value > 0 for value in distances)
        points = np.zeros((0, 3))
        #: where the polygons of each row begin, and the points of each polygon; and where the last ones end
        self.rows, self.polygons = np.zeros(rows + 1, np.int64), np.zeros(1, np.int64)
        if table is not None and "segmentation" in table.column_names:
            self.rows, self.polygons, points = list_offsets(table["segmentation"].combine_chunks())
        self.single: Floats = points.astype(np.float32)

    def __len__(self) -> int:
        return len(self.frames)

    def shape(self, row: int) -> Outline:
        """Return the polygons of a row."""
        ends = self.polygons[self.rows[row] : self.rows[row + 1] + 1]
        start = ends[0]
        return Outline(self.single[start : ends[-1]], tuple((ends[1:] - start).tolist()))

    def groups(self) -> dict[tuple[int, int], list[int]]:
        """Return the rows of each frame and class, both in the order of the file."""
        found: dict[tuple[int, int], list[int]] = {}
        for row, key in enumerate(zip(self.frames, self.classes, strict=True)):
            found.setdefault(key, []).append(row)
        return found


def paired(labels: Annotations, detections: Annotations, classes: int) -> Detections:
    """Return the detections of a clip with the label that each is paired with, for the largest sum of overlaps."""
    of_label, of_detection = labels.groups(), detections.groups()
    references = np.zeros(classes, np.int64)
    for (_, number), rows in of_label.items():
        if 0 <= number < classes:
            references[number] += len(rows)
    # the union of two sets: its order, which decides between equal scores, is that of the program
    keys = [key for key in set(of_detection.keys()) | set(of_label.keys()) if 0 <= key[1] < classes]
    sides = [(of_label[key], of_detection[key]) for key in keys if key in of_label and key in of_detection]
    every = [(a, b) for rows, others in sides for b in others for a in rows]
    iou, r = compared((labels.shape(a), detections.shape(b)) for a, b in every)
    found, start = list[tuple[int, float, float, float]](), 0
    for key in keys:
        if key not in of_detection:
            continue
        others, pairs = of_detection[key], dict[int, int]()
        if key in of_label:
            shape = len(others), len(of_label[key])
            matrix = iou[start : start + shape[0] * shape[1]].reshape(shape)
            ends = linear_sum_assignment(-matrix) if matrix.size > 1 else ((0,), (0,))
            pairs = {int(b): start + int(b) * shape[1] + int(a) for b, a in zip(*ends, strict=True)}
            start += matrix.size
        for place in (*pairs, *(n for n in range(len(others)) if n not in pairs)):
            values = (float(iou[pairs[place]]), float(r[pairs[place]])) if place in pairs else (0.0, _NAN)
            found.append((key[1], detections.scores[others[place]], *values))
    return Detections.of(found, references)


# --- average precision ------------------------------------------------------------------------------

_RECALLS = np.linspace(0.0, 1.0, 101)


@dataclasses.dataclass(frozen=True)
class Precision:
    """Scores over some detections."""

    aps: Floats  # average precision at each threshold, NaN where there is no label
    r: float  # mean Pearson r over pairs, NaN where no pair has one
    pairs: int  # that have one
    references: int  # labels
    detections: int

    @property
    def mean(self) -> float:
        """The mean over thresholds."""
        return float(self.aps.mean()) if len(self.aps) else _NAN


def precision(found: Detections, thresholds: Sequence[float], *, undetected: bool) -> Precision:
    """Average precision of *found* as one list; *undetected*: 0, not NaN, where there are labels and no detection."""
    references, count = int(found.references.sum()), len(found.score)
    known = found.r[~np.isnan(found.r)]
    r = float(known.mean()) if len(known) else _NAN
    if not references or not count:
        aps = np.full(len(thresholds), 0.0 if references and undetected else _NAN)
    else:
        order = np.argsort(-found.score)  # not stable, which decides between equal scores
        aps = np.array([average_precision(found.overlap[order] >= value, references) for value in thresholds])
    return Precision(aps, r, len(known), references, count)


def average_precision(hits: np.ndarray[Any, np.dtype[np.bool_]], references: int) -> float:
    """The mean, over 101 recalls, of the best precision at that recall or a higher one, in float32 as in the program.

    Args:
        hits: whether each detection is one, best score first.
        references: the number of labels.
    """
    ordered = hits.astype(np.float32)
    right, wrong = np.cumsum(ordered), np.cumsum(np.float32(1.0) - ordered)
    recalls = (right / np.float32(references)).astype(np.float64)
    best = np.maximum.accumulate((right / (right + wrong + np.float32(1e-9)))[::-1])[::-1]
    places = np.searchsorted(recalls, _RECALLS, side="left")
    steps = np.append(best, np.float32(0.0))[places]
    return float(np.cumsum(steps, dtype=np.float32)[-1] / np.float32(101.0))


def tied(found: Detections, thresholds: Sequence[float]) -> tuple[int, float, float]:
    """Equal scores: detections that share theirs with one that is a hit where they are none, and the bounds of AP.

    The program sorts by score with an algorithm that leaves the order of equals open; the bounds are the means over
    thresholds if hits come last, and if they come first.
    """
    if not len(found.score) or not found.references.sum():
        return 0, _NAN, _NAN
    hits = [found.overlap >= value for value in thresholds]
    _, group = np.unique(found.score, return_inverse=True)
    mixed = np.zeros(group.max() + 1, bool)
    for one in hits:
        right = np.bincount(group, one)
        mixed |= (right > 0) & (right < np.bincount(group))
    ends = []
    for sign in (1, -1):
        orders = (np.lexsort((sign * one, -found.score)) for one in hits)
        total = int(found.references.sum())
        ends.append(np.mean([average_precision(h[o], total) for h, o in zip(hits, orders, strict=True)]))
    return int(mixed[group].sum()), float(ends[0]), float(ends[1])


class AverageScore(NamedTuple):
    """Scores over all classes."""

    aps: Floats  # at each threshold
    mean: float  # over thresholds
    r: float  # Pearson r

    @staticmethod
    def macro(classes: Sequence[Precision], thresholds: int) -> AverageScore:
        """Means over the classes that have labels, as far as they are defined."""
        labelled = [one for one in classes if one.references]
        aps = np.array([one.aps for one in labelled]).reshape(-1, thresholds)
        r = _mean(np.array([one.r for one in labelled]))
        return AverageScore(
            np.array([_mean(column) for column in aps.T]), _mean(np.array([one.mean for one in labelled])), r
        )


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else _NAN


@dataclasses.dataclass(frozen=True)
class ImagingScore:
    """Scores by class and over all."""

    classes: tuple[Precision, ...]
    averages: dict[str, AverageScore]  # by the name of the average
    pairs: int  # with a Pearson r


def scored(found: Detections, thresholds: Sequence[float], *, undetected: bool) -> ImagingScore:
    """Return the scores of all detections."""
    each = (precision(found.of_class(n), thresholds, undetected=undetected) for n in range(len(found.references)))
    classes = tuple(each)
    micro = precision(found, thresholds, undetected=undetected)
    averages = {
        "macro": AverageScore.macro(classes, len(thresholds)), "micro": AverageScore(micro.aps, micro.mean, micro.r),
    }  # fmt: skip
    return ImagingScore(classes, averages, micro.pairs)
