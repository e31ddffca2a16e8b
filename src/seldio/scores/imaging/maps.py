"""Energy maps as the program draws and compares them: points on a grid of 100 x 50 pixels, and their average precision.

A label or a detection has polygons of points ``(x, y, energy)`` on a panorama of 360 x 180 (x = 180 is the front,
x = 90 the left). Each polygon is interpolated linearly between its points, the polygons are joined by their maximum,
and the map is divided by its peak. Every operation, its order and its precision are those of the program, so that
maps are equal to the last bit; only pixels outside of the box around a polygon, which are 0, are not looked at, nor
maps whose boxes do not meet. Threads of the linear algebra would wait for each other over systems of two equations, so
that there is one of them.

A pair needs a label and a detection of one class and frame whose boxes meet: all others have an overlap of 0 and no
Pearson r, whatever they look like. The order of detections by score is the same in every resample, so that it is made
once, and a resample is a weight for each detection. Precision rises only at hits, so that nothing is looked at in
between.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.interpolate import LinearNDInterpolator
from scipy.optimize import linear_sum_assignment
from scipy.spatial import QhullError
from threadpoolctl import threadpool_limits

from seldio.formats.dcase_json import list_offsets
from seldio.scores.resampling import ENOUGH, FEWEST, Over, effective, units_of

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

#: The panorama that points are on, and the pixels of a map.
PANORAMA = (360, 180)
WIDTH, HEIGHT = 100, 50
#: Maps that are kept: those of a source that stays where it is are drawn once.
_KEPT = 256
#: x and y of each pixel of the grid that polygons are drawn on.
_PIXELS = np.stack(np.meshgrid(np.arange(2.0 * WIDTH), np.arange(1.0 * HEIGHT)), -1)
#: Farther from a polygon than this (in pixels), nothing of it is found.
_NEAR = 1e-6


class Outline(NamedTuple):
    """The polygons of one label or detection."""

    points: Floats  # x, y and energy, float32, shape n x 3
    ends: tuple[int, ...]  # after the last point of each polygon


class Polygon(NamedTuple):
    """A polygon in pixels, on a grid twice as wide as the map so that it is in one piece."""

    x: Floats  # float32
    y: Floats
    energy: Floats


def polygons(shape: Outline) -> list[Polygon]:
    """Return the polygons in pixels; one that crosses the left edge of the panorama goes on beyond the right one."""
    parts = []
    start = 0
    for end in shape.ends:
        points, start = shape.points[start:end], end
        if not len(points):
            continue
        x, y = points[:, 0] * (WIDTH / PANORAMA[0]), points[:, 1] * (HEIGHT / PANORAMA[1])
        if x.max() - x.min() > WIDTH / 2:
            across = np.sort(x)
            gaps = np.diff(across)
            widest = np.argmax(gaps)
            if gaps[widest] > WIDTH / 2:
                x = np.where(x <= across[widest], x + WIDTH, x)
        parts.append(Polygon(x, y, points[:, 2]))
    return parts


def draw(parts: list[Polygon]) -> Floats:
    """Return the map of some polygons, shape ``HEIGHT`` x ``WIDTH``, its peak 1 unless it is 0 everywhere.

    float64, or float32 where all polygons are single pixels: as in the program, whose sums depend on it.
    """
    canvas: Floats = np.zeros((HEIGHT, WIDTH), np.float32)
    for part in parts:
        canvas = _draw_polygon(part, canvas)
    peak = canvas.max()
    if peak > 1e-8:
        canvas /= peak
    return canvas


def _draw_polygon(part: Polygon, canvas: Floats) -> Floats:
    if len(part.x) >= 3:
        ends = []  # the first pixel in the box around it and the one after the last
        for values, size in ((part.x, 2 * WIDTH), (part.y, HEIGHT)):
            low, high = float(values.min()), float(values.max())
            ends += [min(max(int(np.ceil(low - _NEAR)), 0), size), max(min(int(np.floor(high + _NEAR)) + 1, size), 0)]
        left, right, top, bottom = ends
        try:
            # as griddata does it; pixels row by row, since the search for a triangle starts where the last one ended
            field = LinearNDInterpolator(
                np.column_stack((part.x, part.y)).astype(np.float64), part.energy, fill_value=0.0
            )
            values = np.fmax(field(_PIXELS[top:bottom, left:right]), 0.0)  # NaN becomes 0, too
        except QhullError:  # all on one line
            pass
        else:
            drawn = canvas.astype(np.float64)
            for start, stop, shift in ((left, min(right, WIDTH), 0), (max(left, WIDTH), right, WIDTH)):
                if start < stop:
                    window = drawn[top:bottom, start - shift : stop - shift]
                    np.maximum(window, values[:, start - left : stop - left], out=window)
            return drawn
    for x, y, energy in zip(part.x.tolist(), part.y.tolist(), part.energy, strict=True):
        # the nearest pixel, of two the even one
        row, column = min(max(round(y), 0), HEIGHT - 1), min(max(round(x), 0), 2 * WIDTH - 1) % WIDTH
        canvas[row, column] = max(canvas[row, column], energy)
    return canvas


class EnergyMap:
    """The map of an outline, from the bytes of its points; drawn when it is looked at."""

    def __init__(self, points: bytes, ends: tuple[int, ...]) -> None:
        self.polygons = polygons(Outline(np.frombuffer(points, np.float32).reshape(-1, 3), ends))

    @cached_property
    def pixels(self) -> Floats:
        """Return all of it; see :func:`draw`."""
        return draw(self.polygons)

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Return the first and last column and row that can be above 0, with a pixel to spare."""
        x, y = ([end for part in self.polygons for end in (part[n].min(), part[n].max())] for n in (0, 1))
        rows = np.clip((min(y) - 1, max(y) + 1), 0, HEIGHT - 1).tolist()
        return float(min(x)) - 1, float(max(x)) + 1, *rows

    def meets(self, other: EnergyMap) -> bool:
        """Return whether both can have a pixel in common, around the panorama too."""
        if not self.polygons or not other.polygons:
            return False
        left, right, top, bottom = self.box
        first, last, upper, lower = other.box
        beside = any(left <= last + turn and first + turn <= right for turn in (-WIDTH, 0, WIDTH))
        return beside and top <= lower and upper <= bottom


_map_of = lru_cache(maxsize=_KEPT)(EnergyMap)


def compared(pairs: Iterable[tuple[Outline, Outline]]) -> tuple[Floats, Floats]:
    """Return the overlap (float32) and Pearson r of each pair of a label and a detection, as the program has them."""
    values = []
    with threadpool_limits(1, "blas"):
        for shapes in pairs:
            label, detection = (_map_of(shape.points.tobytes(), shape.ends) for shape in shapes)
            if label.meets(detection):
                a, b = label.pixels, detection.pixels
                values.append((overlap(b, a), pearson(a, b)))
            else:
                values.append((0.0, np.nan))
    iou, r = np.array(values).reshape(-1, 2).T
    return iou.astype(np.float32), r


def overlap(a: Floats, b: Floats) -> float:
    """Return the soft IoU of two maps: the sum of minima over the sum of maxima; 0 where both are empty."""
    union = np.maximum(a, b).sum()
    return 0.0 if union < 1e-8 else float(np.minimum(a, b).sum() / union)


def pearson(label: Floats, detection: Floats) -> float:
    """Return Pearson's r of pixels with a label above 0; NaN where there are fewer than two, or one side is flat."""
    inside = np.flatnonzero(label > 0)
    if len(inside) < 2:
        return float("nan")
    sides = []
    for side in (label, detection):
        values = side.ravel()[inside].astype(np.float64)
        away = values - values.mean()
        spread = np.sqrt((away * away).mean())
        if spread < 1e-12:
            return float("nan")
        sides.append(away / spread)
    return float(np.mean(sides[0] * sides[1]))


#: The program, and the overlaps (IoU) at which a pair counts as a detection.
PROFILE = "dcase2026"
PROGRAM = "DCASE2026_Task3_SAISELD_baseline at d4df662 (30 June 2026), evaluate.py"
THRESHOLDS = (0.25, 0.5, 0.75)
#: Mean over the classes that have labels, or one list of all detections; the first is the default.
Average = Literal["macro", "micro"]
AVERAGES: tuple[Average, ...] = ("macro", "micro")

_RECALLS = np.linspace(0.0, 1.0, 101)
#: Numbers of one batch of resamples: 16 MB.
_BATCH = 1 << 21


class Detections(NamedTuple):
    """The detections of a clip, in the order of the official program."""

    class_id: Ints
    score: Floats
    overlap: Floats  # IoU with the label that it is paired with, 0 without one
    r: Floats  # Pearson r with that label, NaN without one
    references: Ints  # labels of each class


class Annotations:
    """The labels or detections of a clip."""

    def __init__(self, table: pa.Table | None) -> None:
        columns = {} if table is None else {name: table[name] for name in table.column_names}
        rows = 0 if table is None else table.num_rows
        self.frames: list[int] = columns["frame"].to_pylist() if rows else []
        self.classes: list[int] = columns["class_id"].to_pylist() if rows else []
        scores = columns["score"].to_pylist() if "score" in columns else [None] * rows
        self.unscored = scores.count(None)
        self.scores = [0.0 if score is None else float(score) for score in scores]
        points = np.zeros((0, 3))
        #: where the polygons of each row begin, and the points of each polygon; and where the last ones end
        self.rows, self.polygons = np.zeros(rows + 1, np.int64), np.zeros(1, np.int64)
        if "segmentation" in columns:
            self.rows, self.polygons, points = list_offsets(columns["segmentation"].combine_chunks())
        self.single: Floats = points.astype(np.float32)

    def __len__(self) -> int:
        return len(self.frames)

    def shape(self, row: int) -> Outline:
        """Return the polygons of a row."""
        ends = self.polygons[self.rows[row] : self.rows[row + 1] + 1]
        start = ends[0]
        return Outline(self.single[start : ends[-1]], tuple((ends[1:] - start).tolist()))


def paired(labels: Annotations, detections: Annotations, classes: int) -> Detections:
    """Return the detections of a clip with the label that each is paired with, for the largest sum of overlaps."""
    of_label: dict[tuple[int, int], list[int]] = {}  # rows of each frame and class, both in the order of the file
    of_detection: dict[tuple[int, int], list[int]] = {}
    for side, rows_of in ((labels, of_label), (detections, of_detection)):
        for row, key in enumerate(zip(side.frames, side.classes, strict=True)):
            rows_of.setdefault(key, []).append(row)
    references = np.zeros(classes, np.int64)
    for (_, number), rows in of_label.items():
        if 0 <= number < classes:
            references[number] += len(rows)
    # the union of two sets: its order, which decides between equal scores, is that of the program
    keys = [key for key in set(of_detection.keys()) | set(of_label.keys()) if 0 <= key[1] < classes]
    shared = [key for key in keys if key in of_label and key in of_detection]
    pairs = [(a, b) for key in shared for b in of_detection[key] for a in of_label[key]]
    iou, r = compared((labels.shape(a), detections.shape(b)) for a, b in pairs)
    order, overlaps, correlations, start = list[int](), list[float](), list[float](), 0
    for key in keys:
        detected, partners = of_detection.get(key, []), dict[int, int]()
        if key in of_label and detected:
            shape = len(detected), len(of_label[key])
            matrix = iou[start : start + shape[0] * shape[1]].reshape(shape)
            ends = linear_sum_assignment(-matrix) if matrix.size > 1 else ((0,), (0,))
            partners = {int(b): start + int(b) * shape[1] + int(a) for b, a in zip(*ends, strict=True)}
            start += matrix.size
        for place in (*partners, *(index for index in range(len(detected)) if index not in partners)):
            order.append(detected[place])
            overlaps.append(float(iou[partners[place]]) if place in partners else 0.0)
            correlations.append(float(r[partners[place]]) if place in partners else np.nan)
    class_id, score = np.array(detections.classes, np.int64)[order], np.array(detections.scores)[order]
    return Detections(class_id, score, np.array(overlaps), np.array(correlations), references)


# --- average precision ------------------------------------------------------------------------------


def average_precision(hits: Any, often: Floats, references: Floats) -> Floats:
    """Return the mean, over 101 recalls, of the best precision at that recall or a higher one, as the program has it.

    It counts in float32.

    Args:
        hits: whether each detection is one, best score first.
        often: how often each of them counts, shape [batch, detections].
        references: the number of labels, shape [batch].
    """
    often, places = often.astype(np.float32), np.flatnonzero(hits)
    right = np.cumsum(often[:, places], axis=1)
    best = right / (np.cumsum(often, axis=1)[:, places] + np.float32(1e-9))
    best = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        recalls = (right / references.astype(np.float32)[:, None]).astype(np.float64)
    reached = np.searchsorted(_RECALLS, np.nan_to_num(recalls), side="right")
    # what no hit reaches has a precision of 0
    nothing = np.zeros((len(often), 1), np.float32)
    steps = np.diff(reached, axis=1, prepend=0, append=len(_RECALLS))
    each = np.repeat(np.hstack((best, nothing)).ravel(), steps.ravel()).reshape(len(often), -1)
    return (np.cumsum(each, axis=1, dtype=np.float32)[:, -1] / np.float32(101.0)).astype(np.float64)


class MapScores:
    """Scores of all detections of some clips, with a weight for each clip."""

    def __init__(self, detections: Mapping[str, Detections], average: Average, systems: int = 1) -> None:
        self.detections, self.clips, self.average, self.systems = detections, [*detections], average, systems
        every = detections.values()
        self.class_id, self.score, self.overlap, r = (
            np.concatenate([clip[field] for clip in every]) for field in range(4)
        )
        sizes: Any = [len(clip.score) for clip in every]
        self.clip: Ints = np.repeat(np.arange(len(every)), sizes)
        #: labels, sums of Pearson r and pairs that have one, shape [clips, classes]
        self.references = np.array([clip.references for clip in every], np.float64)
        correlated, classes = np.flatnonzero(~np.isnan(r)), self.references.shape[1]
        place = self.clip[correlated] * classes + self.class_id[correlated]
        self.r, self.pairs = (
            np.bincount(place, values, self.references.size).astype(np.float64).reshape(-1, classes)
            for values in (r[correlated], None)
        )

    def take(self, clips: Sequence[str]) -> MapScores:
        """Return the scores of some of the clips."""
        return MapScores({clip: self.detections[clip] for clip in clips}, self.average)

    @property
    def references_by_clip(self) -> Ints:
        """Return how many labels each clip has."""
        return np.asarray(self.references.sum(axis=1).astype(int))

    def alone(self) -> Floats:
        """Return the scores of each clip by itself."""
        return self.scores(np.eye(len(self.clips)))

    def support(self, over: Over = "clips") -> Floats:
        """Return on how many clips, or rooms, each score rests in effect, shape [scores, 1]."""
        support = effective(self.references.sum(axis=1), units_of(self.clips, over))
        return np.full((len(THRESHOLDS) + 2, 1), support)

    def few_classes(self, over: Over) -> int:
        """Return how many classes of a mean over classes rest on too few clips, or rooms."""
        support = effective(self.references, units_of(self.clips, over))
        return int(np.count_nonzero((support > 0) & (support < FEWEST))) if self.average == "macro" else 0

    def weak(self, over: Over) -> Any:
        """Return which scores rest on few clips in effect, or on a class that too few tell about."""
        return (self.support(over)[:, 0] < ENOUGH) | (self.few_classes(over) > 0)

    def scores(self, weights: Floats) -> Floats:
        """Return mAP, AP at each threshold and Pearson r where clips have *weights*, shape [batch, clips]."""
        step = max(1, _BATCH // max(1, len(self.clip)))
        scores = []
        for batch in (weights[start : start + step] for start in range(0, len(weights), step)):
            if self.average == "macro":
                values = self.by_class(batch)
                counted = (batch @ self.references > 0)[:, :, None] & ~np.isnan(values)
                scores.append(_share(np.where(counted, values, 0.0).sum(axis=1), counted.sum(axis=1)))
            else:
                references, pairs, r = ((batch @ sums).sum(axis=1) for sums in (self.references, self.pairs, self.r))
                precision = self._precision(batch, np.arange(len(self.clip)), references)
                scores.append(np.column_stack((precision.mean(axis=1), precision, _share(r, pairs))))
        return np.concatenate(scores)

    def bounds(self) -> list[float]:
        """Return the lowest and the highest mAP over all orders of detections that have the same score."""
        ends, whole = [], np.ones((1, len(self.clips)))
        for sign in (-1, 1):
            ordered = copy.copy(self)
            ordered.score = np.argsort(np.lexsort((sign * self.overlap, self.score)))
            ends.append(float(ordered.scores(whole)[0, 0]))
        return ends

    def exchanged(self, other: MapScores) -> Callable[[Floats], Floats]:
        """Return what makes the differences from *other* where some clips change sides."""
        others = {f"{clip}, exchanged": detections for clip, detections in other.detections.items()}
        both = MapScores({**self.detections, **others}, self.average, systems=2)

        def differences(sides: Floats) -> Floats:
            return both.scores(np.hstack((sides, 1 - sides))) - both.scores(np.hstack((1 - sides, sides)))

        return differences

    def by_class(self, weights: Floats) -> Floats:
        """Return the same scores for each class, shape [batch, classes, scores]; NaN where it has no labels."""
        references, pairs, r = (weights @ sums for sums in (self.references, self.pairs, self.r))
        aps = [
            self._precision(weights, np.flatnonzero(self.class_id == number), each)
            for number, each in enumerate(references.T)
        ]
        precision = np.stack(aps, axis=1)
        return np.dstack((precision.mean(axis=2), precision, _share(r, pairs)))

    def _precision(self, weights: Floats, rows: Ints, references: Floats) -> Floats:
        """Return AP at each threshold; 0 where there are labels and no detection."""
        system = self.clip[rows] * self.systems // len(self.clips)
        parts = [rows[system == number] for number in range(self.systems)]
        rows = np.concatenate([part[np.argsort(-self.score[part])] for part in parts])  # not stable: settles ties
        rows = rows[np.argsort(-self.score[rows], kind="stable")]  # each system in the order that it has alone
        often = weights[:, self.clip[rows]]
        aps = [average_precision(self.overlap[rows] >= value, often, references) for value in THRESHOLDS]
        return np.where(references[:, None] > 0, np.stack(aps, axis=1), np.nan)


def _share(part: Floats, whole: Any) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share
