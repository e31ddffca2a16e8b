"""Masks as the program of 2 April drew them, and their COCO average precision.

Each point becomes a blob on the sphere (σ = 6°) on 360 x 180 pixels, blobs add up, and what is at least a tenth of
the peak is the mask. Detections are matched to labels as COCO does (best score first, at each IoU from 0.50 to 0.95);
Pearson r and the distance error are over pairs of one class whose peaks are at most 20° apart.
The program takes elevations from -90 in row 179, so that y = 90 is -0.5°.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import binary_dilation
from scipy.optimize import linear_sum_assignment

from seldio.scores.imaging.count import Annotations, AverageScore, ImagingScore, Precision
from seldio.scores.imaging.energy_maps import PANORAMA, Floats, Ints

WIDTH, HEIGHT = PANORAMA
_SIGMA = math.radians(6.0)
_SHARPNESS = 0.5 / (_SIGMA * _SIGMA)
#: Blobs end here.
_CUTOFF = 4.0 * _SIGMA
#: The share of the peak from which on a pixel is in the mask.
_SHARE = 0.1
#: Degrees between the peaks of a pair, and the cost of a pair that is none.
_NEAR, _FAR = 20.0, 1000.0
#: Detections of a class and frame that count.
_MOST = 100
_AZIMUTHS = np.radians((np.arange(WIDTH, dtype=np.float32) / WIDTH) * 360.0 - 180.0)
_ELEVATIONS = np.radians(90.0 - (np.arange(HEIGHT, dtype=np.float32) / (HEIGHT - 1)) * 180.0)
_COSINES = np.cos(_ELEVATIONS).astype(np.float32)
_RECALLS = np.linspace(0.0, 1.0, 101)


class Mask(NamedTuple):
    """A label or detection as it is compared."""

    class_id: int
    score: float
    distance: float  # centimetres, 0 where there is none
    peak: tuple[float, float]  # x and y of the point of highest energy
    energy: Floats  # the map, float32, shape ``HEIGHT`` x ``WIDTH``
    inside: np.ndarray[tuple[int, int], np.dtype[np.bool_]]  # the mask


class MaskCounts(NamedTuple):
    """What is counted in a clip; clips add up in their order."""

    #: of each detection: class, score, and at which of the thresholds it is a hit
    class_id: Ints
    score: Floats
    hits: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    references: Ints  # labels of each class
    r: Floats  # Pearson r of each pair
    distance: Floats  # error of each pair, in per cent of the distance

    @staticmethod
    def joined(some: Sequence[MaskCounts], classes: int, thresholds: int) -> MaskCounts:
        """All of some clips as one."""
        every = [*some, _counts([], np.zeros(classes, np.int64), [], [], thresholds)]
        numbers, scores, hits, references, r, distance = zip(*every, strict=True)
        return MaskCounts(
            np.concatenate(numbers), np.concatenate(scores), np.concatenate(hits), np.sum(references, axis=0),
            np.concatenate(r), np.concatenate(distance),
        )  # fmt: skip


def _counts(
    rows: Sequence[tuple[int, float, Sequence[bool]]], references: Ints, r: Sequence[float],
    distance: Sequence[float], thresholds: int,
) -> MaskCounts:  # fmt: skip
    numbers, scores, hits = zip(*rows, strict=True) if rows else ([], [], [])
    return MaskCounts(
        np.array(numbers, np.int64), np.array(scores, np.float64), np.array(hits, bool).reshape(-1, thresholds),
        references, np.array(r, np.float64), np.array(distance, np.float64),
    )  # fmt: skip


def counted(labels: Annotations, detections: Annotations, classes: int, thresholds: Sequence[float]) -> MaskCounts:
    """What there is in a clip."""
    references = np.zeros(classes, np.int64)
    rows: list[tuple[int, float, Sequence[bool]]] = []
    r: list[float] = []
    distances: list[float] = []
    sides = [_by_frame(side, classes) for side in (labels, detections)]
    for frame in sorted(sides[0].keys() | sides[1].keys()):
        truth, found = (
            [mask for row in rows.get(frame, ()) if (mask := _mask(side, row)) is not None]
            for side, rows in zip((labels, detections), sides, strict=True)
        )
        for mask in truth:
            references[mask.class_id] += 1
        for number in sorted({mask.class_id for mask in found}):
            own, others = ([mask for mask in side if mask.class_id == number] for side in (truth, found))
            rows += _hits(own, others, number, thresholds)
        for a, b in _near(truth, found):
            if a.distance > 1e-3:
                distances.append(abs(a.distance - b.distance) / a.distance * 100.0)
            r += _pearson(a, b)
    return _counts(rows, references, r, distances, len(thresholds))


def _by_frame(side: Annotations, classes: int) -> dict[int, list[int]]:
    """The rows of each frame whose class the program knows."""
    found: dict[int, list[int]] = {}
    for row, (frame, number) in enumerate(zip(side.frames, side.classes, strict=True)):
        if 0 <= number < classes:
            found.setdefault(frame, []).append(row)
    return found


def _mask(side: Annotations, row: int) -> Mask | None:
    """The mask of a row; None where nothing has energy."""
    energy: Floats = np.zeros((HEIGHT, WIDTH), np.float32)
    peak, highest = (0.0, 0.0), 0.0
    for x, y, e in side.spots(row).tolist():
        _add_blob(energy, x, y, e)
        if e > highest:
            peak, highest = (x, y), e
    top = energy.max()
    if top < 1e-9:
        return None
    return Mask(side.classes[row], side.scores[row], side.distances[row], peak, energy, energy >= _SHARE * top)


def _add_blob(canvas: Floats, x: float, y: float, energy: float) -> None:
    """Add the blob of a point, in float32 and in the program's order of operations."""
    azimuth, elevation = x / WIDTH * 360.0 - 180.0, 90.0 - y / (HEIGHT - 1) * 180.0
    middle, height = math.radians(azimuth), math.radians(elevation)
    half = math.pi / 2.0
    low, high = max(-half, height - _CUTOFF), min(half, height + _CUTOFF)
    first = max(0, math.floor((half - high) / math.pi * (HEIGHT - 1)))
    last = min(HEIGHT, math.ceil((half - low) / math.pi * (HEIGHT - 1)) + 1)
    if first >= last:
        return
    # near the poles a blob spans more columns, up to a limit; the degrees come from radians, as in the program
    wide = math.degrees(min(math.pi, _CUTOFF / max(math.cos(height), 0.087)))
    azimuth = math.degrees(middle)
    start, stop = (math.floor((azimuth - wide + 180.0) / 360.0 * WIDTH),
                   math.ceil((azimuth + wide + 180.0) / 360.0 * WIDTH) + 1)  # fmt: skip
    rows = np.sin((_ELEVATIONS[first:last] - height) / 2.0) ** 2
    factor = math.cos(height) * _COSINES[first:last]
    if start >= 0 and stop <= WIDTH:
        pieces = [slice(start, stop)]
    else:
        pieces = [slice(start % WIDTH, WIDTH), slice(0, stop % WIDTH or WIDTH)]
    for columns in pieces:
        across = np.sin((_AZIMUTHS[columns] - middle) / 2.0) ** 2
        blob = rows[:, None] + factor[:, None] * across[None, :]
        blob *= -4.0 * _SHARPNESS
        np.exp(blob, out=blob)
        blob *= energy
        canvas[first:last, columns] += blob


def _hits(
    truth: Sequence[Mask], found: Sequence[Mask], number: int, thresholds: Sequence[float]
) -> list[tuple[int, float, Sequence[bool]]]:
    """Which detections of one class and frame COCO matches, at each threshold."""
    order = np.argsort([-mask.score for mask in found], kind="stable")[:_MOST]
    ious = np.array([[_iou(found[n], mask) for mask in truth] for n in order]).reshape(len(order), -1)
    hits = np.zeros((len(order), len(thresholds)), bool)
    for t, threshold in enumerate(thresholds):
        free = np.ones(len(truth), bool)
        for place, row in enumerate(ious):
            able = np.flatnonzero(free & (row >= min(threshold, 1 - 1e-10)))
            if len(able):
                best = able[row[able] == row[able].max()][-1]  # of equals the last one
                free[best], hits[place, t] = False, True
    return [(number, found[n].score, hit) for n, hit in zip(order, hits.tolist(), strict=True)]


def _iou(a: Mask, b: Mask) -> float:
    both = int((a.inside & b.inside).sum())
    return both / (int(a.inside.sum()) + int(b.inside.sum()) - both)


def _near(truth: Sequence[Mask], found: Sequence[Mask]) -> list[tuple[Mask, Mask]]:
    """Pairs of one class whose peaks are near each other, for the least sum of angles."""
    if not truth or not found:
        return []
    angles = []
    for side in (truth, found):
        peaks = np.array([mask.peak for mask in side], np.float32)
        angles.append((np.radians((peaks[:, 0] / WIDTH) * 360.0 - 180.0),
                       np.radians(90.0 - (peaks[:, 1] / (HEIGHT - 1)) * 180.0)))  # fmt: skip
    (az, el), (az2, el2) = angles
    haversine = (
        np.sin((el[:, None] - el2[None, :]) / 2.0) ** 2
        + np.cos(el)[:, None] * np.cos(el2)[None, :] * np.sin((az[:, None] - az2[None, :]) / 2.0) ** 2
    )
    cost = np.degrees(2.0 * np.arcsin(np.sqrt(np.clip(haversine, 0.0, 1.0))))
    classes = [np.array([mask.class_id for mask in side]) for side in (truth, found)]
    cost[classes[0][:, None] != classes[1][None, :]] = _FAR
    cost[cost > _NEAR] = _FAR
    rows, columns = linear_sum_assignment(cost)
    return [(truth[a], found[b]) for a, b in zip(rows, columns, strict=True) if cost[a, b] <= _NEAR]


def _pearson(a: Mask, b: Mask) -> list[float]:
    """Pearson r of two maps over both masks and two pixels around them; nothing where a map is flat."""
    around = binary_dilation(a.inside | b.inside, iterations=2)
    one, other = a.energy[around], b.energy[around]
    if not (np.ptp(one) > 1e-7 and np.ptp(other) > 1e-7):
        return []
    r = float(np.corrcoef(one, other)[0, 1])
    return [] if math.isnan(r) else [r]


def mask_score(found: MaskCounts, thresholds: Sequence[float]) -> ImagingScore:
    """The scores of all clips; Pearson r is not by class, and neither is the distance error."""
    classes, nan = [], math.nan
    for number, references in enumerate(found.references.tolist()):
        aps = np.full(len(thresholds), nan)
        chosen = found.class_id == number
        # without any detection of any class the program does not come to AP
        if references and len(found.score):
            order = np.argsort(-found.score[chosen], kind="stable")
            aps = np.array([_coco_precision(one, references) for one in found.hits[chosen][order].T])
        classes.append(Precision(aps, nan, 0, references, int(chosen.sum())))
    mean, r = AverageScore.macro(classes, len(thresholds)), float(found.r.mean()) if len(found.r) else nan
    distance = float(found.distance.mean()) / 100 if len(found.distance) else nan
    return ImagingScore(tuple(classes), {"macro": mean._replace(r=r)}, len(found.r), distance)


def _coco_precision(hits: np.ndarray[tuple[int], np.dtype[np.bool_]], references: int) -> float:
    """The mean, over 101 recalls, of the best precision at that recall or a higher one."""
    right = np.cumsum(hits, dtype=np.float64)
    wrong = np.cumsum(~hits, dtype=np.float64)
    best = np.maximum.accumulate((right / (wrong + right + np.spacing(1)))[::-1])[::-1]
    places = np.searchsorted(right / references, _RECALLS, side="left")
    return float(np.append(best, 0.0)[places].mean())
