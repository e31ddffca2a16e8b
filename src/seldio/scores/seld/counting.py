"""Count the matches and errors of labels: rows as arrays, paired by least angle, and sums over segments or frames.

Each distance is written with the order of operations of the program it stands for: two sources exactly 20 degrees
apart pass or fail by the last bit, so the last bit has to be the same.

Programs go by segments of one second (2021 to 2023) or frame by frame (2024, 2025). In a segment a class has as many
references and predictions as in its fullest frame. In each frame they are paired; the errors of a pair are averaged
over the segment by the place of the reference among the rows of its frame (not by its source number, as the official
program has it), and one average counts once.

Counts of clips are an array of shape [clips, counts, classes], see :class:`Count`: a resample, a jackknife and a sum
over clips are products with a matrix of weights. Macro scores are means over the classes of the vocabulary, micro
scores those of all classes pooled; the error rate is always pooled. A class of 2022 and 2023 without a match has an
error of 180 degrees, one of later years has none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.machinery import ExtensionFileLoader, PathFinder
from importlib.util import module_from_spec
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio import geometry
from seldio.errors import UsageError
from seldio.geometry import Floats as Floats
from seldio.geometry import Ints as Ints
from seldio.schema.arrays import pc, to_mask, to_numpy
from seldio.schema.events import clip_codes


@dataclasses.dataclass(frozen=True, slots=True)
class EventFrames:
    """Rows of an event table, one entry for each active source in each label frame; a field is one array.

    What no row has is None.
    """

    clip: Ints  # index of the clip, in the order both sides share
    frame: Ints  # label frame
    class_id: Ints  # index into the vocabulary
    azimuth: Floats  # azimuth (°), +90 is left
    elevation: Floats | None = None  # degrees, +90 is up; stereo labels have none
    distance: Floats | None = None  # metres, NaN where it is unknown
    onscreen: NDArray[np.bool_] | None = None  # whether the source is in the picture
    source: Ints | None = None  # number of the source
    pointless: NDArray[np.bool_] | None = None  # whether the vector is (0, 0, 0), which has no direction

    def take(self, rows: Any) -> EventFrames:
        """Return the rows chosen by a mask, a slice or indices."""
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        taken: Any = (None if values is None else values[rows] for values in fields)
        return EventFrames(*taken)

    def __len__(self) -> int:
        return len(self.frame)


#: Steps of a degree and of a metre that a digest tells apart; digests are of 63 bits; an odd number that mixes bits.
_STEPS, WORD, _MIXED = 10**4, (1 << 63) - 1, np.uint64(0x9E3779B97F4A7C15)
#: The side of clips that have no file.
_NO_INTS = np.empty(0, dtype=np.int64)
NOTHING = EventFrames(_NO_INTS, _NO_INTS, _NO_INTS, np.empty(0))


def event_frames(table: pa.Table, clips: Mapping[str, int]) -> EventFrames:
    """Return the rows of *table* about *clips*, which gives each clip its index; other clips are left out.

    Directions given as x, y, z become degrees by ``arctan2(..) * 180 / pi``, in this order of operations even where
    the table has angles as well, because scores at exactly the threshold and equal pairings depend on it: tables that
    were read have angles with other last bits than the official programs get.

    Raises:
        UsageError: the table has no frames or classes, or a row has neither angles nor x, y and z.
    """
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for field in ("frame", "class_id"):
        if field not in columns or columns[field].null_count:
            raise UsageError(f"scores need {field} in every row; convert the labels to a format that has it")
    fields = ("azimuth", "elevation", "distance", "x", "y", "z")
    given = {field: columns[field] for field in fields if field in columns}
    azimuth, elevation, distance, x, y, z = (
        np.asarray(to_numpy(given[field]), dtype=np.float64)
        if field in given and given[field].null_count < table.num_rows
        else None
        for field in fields
    )
    pointless = None
    if x is not None and y is not None and z is not None:
        # programs square by the power function (Python's x**2), which differs from x * x in the last bit of one row in
        # a thousand
        flat = np.sqrt(np.float_power(x, 2.0) + np.float_power(y, 2.0))
        unknown = np.isnan(x) | np.isnan(y) | np.isnan(z)
        angles = np.arctan2(y, x) * 180 / np.pi, np.arctan2(z, flat) * 180 / np.pi
        azimuth, elevation = (
            np.where(unknown, np.nan if angle is None else angle, by_axes)
            for angle, by_axes in zip((azimuth, elevation), angles, strict=True)
        )
        if not x.all():
            pointless = (x == 0) & (y == 0) & (z == 0)
    if azimuth is None:
        if table.num_rows:
            raise UsageError("scoring requires directions: azimuth and elevation, or x, y and z")
        azimuth = np.empty(0)
    if np.isnan(azimuth).any() or (elevation is not None and np.isnan(elevation).any()):
        raise UsageError("scoring requires a direction in every row")
    codes, names = clip_codes(table)
    index = np.array([clips.get(name, -1) for name in names] or [-1], dtype=np.int64)[codes]
    frame, class_id = (np.asarray(to_numpy(columns[field]), dtype=np.int64) for field in ("frame", "class_id"))
    source = columns.get("source")
    if source is not None:
        source = np.asarray(to_numpy(pc.fill_null(source, -1) if source.null_count else source), dtype=np.int64)
    onscreen = to_mask(pc.fill_null(columns["onscreen"], False)) if "onscreen" in columns else None
    rows = EventFrames(index, frame, class_id, azimuth, elevation, distance, onscreen, source, pointless)
    return rows if (index >= 0).all() else rows.take(index >= 0)


def digest(side: EventFrames, clips: Sequence[str]) -> tuple[int, int]:
    """Return a digest of some clips' rows, in any order and format, and how many rows are like another one.

    Digests of further clips add up, without the carry. A clip goes by its own name, whatever folder it lies in, and one
    without rows counts too.
    """
    numbers = np.zeros(len(side), np.uint64)  # one for each row, the same for the same values
    for field in (side.frame, side.class_id, side.source, side.azimuth, side.elevation, side.distance, side.onscreen):
        values = np.full(len(side), np.nan)
        if field is not None:
            values = np.rint(np.asarray(field, np.float64) * (1 if field.dtype.kind in "iub" else _STEPS)) + 0.0
            values[np.isnan(values)] = np.nan  # of which there are several
        numbers = (numbers ^ values.view(np.uint64)) * _MIXED
        numbers ^= numbers >> np.uint64(29)
    order = np.argsort(side.clip, kind="stable")
    ends = np.searchsorted(side.clip[order], np.arange(len(clips) + 1))
    numbers, total, repeated = numbers[order], 0, 0
    for clip, start, stop in zip(clips, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        name = clip.rpartition("/")[2].encode("utf-8", "surrogatepass") + b"\0"
        ordered = np.sort(numbers[start:stop])
        repeated += int(np.count_nonzero(ordered[1:] == ordered[:-1]))
        total += int.from_bytes(sha256(name + ordered.tobytes()).digest()[:8], "little")
    return total & WORD, repeated


def last_frames(side: EventFrames, clips: int) -> Ints:
    """Return the last frame of each clip; -1 where it has none."""
    last = np.full(clips, -1, dtype=np.int64)
    np.maximum.at(last, side.clip, side.frame)
    return last


# --- angles ------------------------------------------------------------------------------------------

#: Angular distances: that of 2021 to 2023, of 2024, and of 2025.
Measure = Literal["spherical", "cartesian", "folded"]


def oriented(side: EventFrames, measure: Measure) -> Floats:
    """Return the directions of rows as a *measure* needs them, shape [parts, rows]."""
    if measure == "folded":  # azimuth folded front to back, in degrees; the program wraps (and rounds) others as well
        return geometry.fold((side.azimuth + 180) % 360 - 180)[None]
    elevation = np.zeros(len(side)) if side.elevation is None else side.elevation
    azimuth, elevation = side.azimuth * np.pi / 180.0, elevation * np.pi / 180.0
    if measure == "spherical":  # for the law of cosines
        return np.stack([azimuth, np.sin(elevation), np.cos(elevation)])
    # unit vectors: a constant under the root keeps equal ones 0.0008 degrees apart
    flat = np.cos(elevation)
    x, y, z = np.cos(azimuth) * flat, np.sin(azimuth) * flat, np.sin(elevation)
    norm = np.sqrt(x**2 + y**2 + z**2 + 1e-10)
    return np.stack([x / norm, y / norm, z / norm])


def degrees_between(a: Floats, b: Floats, measure: Measure) -> Floats:
    """Return the degrees between :func:`oriented` rows, whose shapes [parts, ...] broadcast."""
    if measure == "folded":
        return np.asarray(np.abs(a[0] - b[0]))
    if measure == "spherical":
        cosine = a[1] * b[1] + a[2] * b[2] * np.cos(np.abs(a[0] - b[0]))
    else:
        cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) * 180 / np.pi)


# --- pairs -------------------------------------------------------------------------------------------


class Matches(NamedTuple):
    """Pairs of rows that belong together; one entry each."""

    cell: Ints
    track: Ints  # which of the references of the cell, by their order in the file
    reference: Ints  # its row
    prediction: Ints  # row of the prediction
    error: Floats  # degrees between them


def cell_groups(
    a: EventFrames, b: EventFrames, cells: tuple[Ints, Ints], counts: tuple[Ints, Ints], measure: Measure
) -> Iterator[tuple[Ints, Ints, Ints, Floats]]:
    """Yield the cells that both sides have, equally many rows in each, and how far these are from each other.

    Of each group come the numbers of the cells, the references and the predictions of each in the order that counts
    for ties, and the degrees between them, shape [cells, references, predictions].

    *cells* are those of each reference row and of each predicted row; *counts* how many of both each cell has.
    """
    places = oriented(a, measure), oriented(b, measure)
    alone = np.flatnonzero((counts[0] == 1) & (counts[1] == 1))
    row = np.empty(len(counts[0]), dtype=np.int64)
    row[cells[0]] = np.arange(len(cells[0]))
    r = row[alone]
    row[cells[1]] = np.arange(len(cells[1]))
    p = row[alone]
    cost = degrees_between(places[0][:, r], places[1][:, p], measure)
    yield alone, r[:, None], p[:, None], cost[:, None, None]
    many = (counts[0] > 0) & (counts[1] > 0) & (counts[0] + counts[1] > 2)
    if not many.any():
        return
    # cells with more rows, all cells of one shape together
    by_cell, starts = [], []
    for cell_of_row in cells:
        rows = np.flatnonzero(many[cell_of_row])
        order = np.argsort(cell_of_row[rows], kind="stable")
        by_cell.append(rows[order])
        starts.append(np.flatnonzero(np.diff(cell_of_row[rows][order], prepend=-1)))
    crowded = np.flatnonzero(many)
    shapes = counts[0][crowded] * (int(counts[1].max()) + 1) + counts[1][crowded]
    for shape in np.unique(shapes):
        here = np.flatnonzero(shapes == shape)
        height, width = (count[crowded[here[0]]] for count in counts)
        r = by_cell[0][starts[0][here][:, None] + np.arange(height)]
        p = by_cell[1][starts[1][here][:, None] + np.arange(width)]
        cost = degrees_between(places[0][:, r][:, :, :, None], places[1][:, p][:, :, None, :], measure)
        yield crowded[here], r, p, cost


def assigned(cost: Floats | Ints) -> tuple[Ints, Ints]:
    """Return rows and columns of the cheapest pairings of many cost matrices, shape [matrices, pairs] each.

    With one row or one column the cheapest entry is the answer, the first of equal ones, as scipy has it.
    """
    count, height, width = cost.shape
    if height == 1:
        return np.zeros((count, 1), dtype=np.int64), cost[:, 0].argmin(axis=1)[:, None]
    if width == 1:
        return cost[:, :, 0].argmin(axis=1)[:, None], np.zeros((count, 1), dtype=np.int64)
    return solved(cost)


def solved(cost: Floats | Ints) -> tuple[Ints, Ints]:
    """Return the cheapest pairings as scipy finds them, matrix by matrix."""
    solve = linear_sum_assignment()
    chosen = [solve(matrix) for matrix in cost]
    return np.array([i for i, _ in chosen]), np.array([j for _, j in chosen])


@cache
def linear_sum_assignment() -> Any:
    """Return scipy's function of this name, without the rest of scipy.optimize, which takes 0.4 s to load."""
    import scipy

    compiled = PathFinder.find_spec("_lsap", [f"{folder}/optimize" for folder in scipy.__path__])
    if compiled is None or not isinstance(compiled.loader, ExtensionFileLoader):
        return import_module("scipy.optimize").linear_sum_assignment
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return module.linear_sum_assignment


#: Cells (frames times classes) of a grid: few enough to stay in the processor's cache and in memory.
CELLS = 1 << 18


class Paired(NamedTuple):
    """Some clips, their frames laid end to end, their rows put together by frame and class.

    A cell is a frame and a class: ``frame * classes + class_id``.
    """

    lengths: Ints  # frames of each clip
    classes: int  # how many count
    reference: EventFrames  # rows about the clips, with their place ``frame`` in the grid
    prediction: EventFrames
    references: Ints  # rows of the reference in each cell
    predictions: Ints  # rows of the prediction in each cell
    matches: Matches  # the pairs of all cells; in no particular order


def paired(
    reference: EventFrames, prediction: EventFrames, lengths: Ints, classes: int, measure: Measure
) -> Iterator[Paired]:
    """Yield the rows of both sides in pairs, by groups of clips; their order counts for ties.

    Rows beyond the label frames of their clip, with a negative frame or with a class of *classes* or more are left out.
    """
    sides = []
    for side in (reference, prediction):
        counts = (side.frame >= 0) & (side.frame < lengths[side.clip]) & (side.class_id >= 0)
        counts &= side.class_id < classes
        counting = side if counts.all() else side.take(counts)
        # as files are read one after the other, rows are mostly in the order of their clips
        in_order = (np.diff(counting.clip) >= 0).all()
        sides.append(counting if in_order else counting.take(np.argsort(counting.clip, kind="stable")))
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        frames_before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, frames_before + CELLS // classes, side="right")))
        first_frames = ends[start:stop] - lengths[start:stop] - frames_before  # frame of each clip in the grid
        parts = (side.take(slice(*np.searchsorted(side.clip, [start, stop]))) for side in sides)
        a, b = (dataclasses.replace(part, frame=part.frame + first_frames[part.clip - start]) for part in parts)
        cells = a.frame * classes + a.class_id, b.frame * classes + b.class_id
        grid = int(ends[stop - 1] - frames_before) * classes
        rows = np.bincount(cells[0], minlength=grid), np.bincount(cells[1], minlength=grid)
        matches = []
        for numbers, references, predictions, cost in cell_groups(a, b, cells, rows, measure):
            if cost.shape[1:] == (1, 1):  # nothing to choose
                track = np.zeros(len(numbers), dtype=np.int64)
                matches.append(Matches(numbers, track, references[:, 0], predictions[:, 0], cost[:, 0, 0]))
                continue
            (i, j), n = assigned(cost), np.arange(len(numbers))[:, None]
            chosen = i.ravel(), references[n, i].ravel(), predictions[n, j].ravel(), cost[n, i, j].ravel()
            matches.append(Matches(np.repeat(numbers, i.shape[1]), *chosen))
        together = Matches(*map(np.concatenate, zip(*matches, strict=True)))
        yield Paired(lengths[start:stop], classes, a, b, *rows, together)
        start = stop


Average = Literal["macro", "micro"]
#: The official programs add it to every denominator.
EPSILON = float(np.finfo(float).eps)
#: Label frames in a segment.
SECOND = 10
#: Sources of a class that a frame of ``dcase2025`` can have.
TRACKS = 10
#: More than any vocabulary has.
_CLASSES = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholds:
    """The limits that a well-placed matched prediction must not exceed."""

    angle: float  # degrees
    distance: float = np.inf  # metres
    relative: float = np.inf  # distance error over the distance of the reference
    onscreen: bool = False  # whether both must agree on being in the picture


class Count(IntEnum):
    """Counts of each class, by their place in an array of counts."""

    TRUE = 0  # predictions matched in class, place and (where asked) distance and picture
    MISPLACED = 1  # matched predictions that miss a threshold
    FALSE = 2  # predictions beyond the number of references
    MISSED = 3  # references beyond the number of predictions
    REFERENCES = 4  # references counted
    MATCHED = 5  # pairs of prediction and reference, well placed or not
    ANGLE = 6  # sum of their angular errors, degrees
    DISTANCE = 7  # sum of their distance errors, metres
    RELATIVE = 8  # sum of their distance errors, each divided by the distance
    ONSCREEN = 9  # pairs that agree on being on screen
    ERRORS = 10  # by segment or frame the greater number of wrong or missing sources, in all classes; with the first


def no_counts(clips: int, classes: int) -> Floats:
    """Return counts of which all are 0."""
    return np.zeros((clips, len(Count), classes))


# --- counts of the official programs --------------------------------------------------------------


def unit_counts(pairing: Paired, unit: int, limits: Thresholds) -> tuple[dict[Count, Any], Ints, dict[Count, Floats]]:
    """Count every segment of *unit* frames, or every frame, laid end to end.

    Returns:
        Numbers of each class in each of them, shape [units, classes]; the cell of each match, its unit times classes
        and its class; and the errors of each match.
    """
    matches, classes = pairing.matches, pairing.classes
    references, predictions = (
        side.reshape(-1, unit, classes).max(axis=1) for side in (pairing.references, pairing.predictions)
    )
    error, cell = matches.error, matches.cell
    errors: dict[Count, Floats] = {}
    if unit > 1:
        # the mean error of each place of a reference in each segment and class; the errors of a track are added frame
        # by frame: a mean at exactly the threshold depends on it
        frame, class_id = np.divmod(matches.cell, classes)
        segment, within = np.divmod(frame, unit)
        order = np.argsort(within.astype(np.uint8), kind="stable")
        width = int(matches.track.max(initial=0)) + 1
        track = ((segment * classes + class_id) * width + matches.track)[order]
        frames, total = np.bincount(track), np.bincount(track, weights=matches.error[order])
        tracks = np.flatnonzero(frames)
        error, cell = total[tracks] / frames[tracks], tracks // width
        poor = error > limits.angle
    else:
        distance, relative, onscreen = pair_errors(
            pairing.reference, pairing.prediction, matches.reference, matches.prediction
        )
        poor = (error > limits.angle) | (distance > limits.distance) | (relative > limits.relative)
        poor |= limits.onscreen & (onscreen != 1)
        errors = {Count.DISTANCE: distance, Count.RELATIVE: relative, Count.ONSCREEN: onscreen}
    matched, misplaced = (
        np.bincount(cell, weights, references.size).reshape(references.shape) for weights in (None, poor)
    )
    missed, false = np.maximum(references - predictions, 0), np.maximum(predictions - references, 0)
    if unit > 1:
        # where both sides have the class but no frame in common, the predictions count as misses and nothing else
        separate = (matched == 0) & (references > 0) & (predictions > 0)
        missed, false = np.where(separate, predictions, missed), np.where(separate, 0, false)
    by_unit = {
        Count.TRUE: matched - misplaced,
        Count.MISPLACED: misplaced,
        Count.FALSE: false,
        Count.MISSED: missed,
        Count.REFERENCES: references,
        Count.MATCHED: matched,
    }
    return by_unit, cell, {Count.ANGLE: error, **errors}


def clip_counts(pairing: Paired, unit: int, limits: Thresholds) -> Floats:
    """Return the counts of each clip, shape [clips, counts, classes]."""
    by_unit, cell, errors_of_matches = unit_counts(pairing, unit, limits)
    units, classes = pairing.lengths // unit, pairing.classes
    clips, filled = len(units), np.flatnonzero(units)
    counts = no_counts(clips, classes)
    if len(filled):
        starts = (np.cumsum(units) - units)[filled]
        for place, numbers in by_unit.items():
            counts[filled, place] = np.add.reduceat(numbers, starts, axis=0)
        wrong = (by_unit[Count.MISPLACED] + by_unit[Count.FALSE]).sum(axis=1)
        counts[filled, Count.ERRORS, 0] = np.add.reduceat(np.maximum(wrong, by_unit[Count.MISSED].sum(axis=1)), starts)
    clip_of_unit, (unit_of_match, class_of_match) = np.repeat(np.arange(clips), units), np.divmod(cell, classes)
    place_of_match = clip_of_unit[unit_of_match] * classes + class_of_match
    for place, errors in errors_of_matches.items():
        counts[:, place] = np.bincount(place_of_match, errors, clips * classes).reshape(clips, classes)
    return counts


def pair_errors(a: EventFrames, b: EventFrames, reference: Ints, prediction: Ints) -> tuple[Floats, Floats, Floats]:
    """Return errors of distance, absolute and relative, and agreement on being on screen (0 or 1), of pairs of rows.

    NaN where one of the two is unknown.
    """
    unknown = np.full(len(reference), np.nan)
    distance, relative = unknown, unknown
    if a.distance is not None and b.distance is not None:
        true = a.distance[reference]
        distance = np.abs(true - b.distance[prediction])
        relative = distance / (true + EPSILON)
    if a.onscreen is None or b.onscreen is None:
        return distance, relative, unknown
    agree = a.onscreen[reference] == b.onscreen[prediction]
    return distance, relative, agree.astype(np.float64)


def ten_tracks(side: EventFrames) -> EventFrames:
    """Return *side* as ``dcase2025`` reads it: ten tracks of a class in a frame, the last source instead of track 0.

    A source keeps its number as track while that is below ten and free (a negative number is a track of its own),
    and gets the lowest free one otherwise.
    """
    cell = (side.clip * (int(side.frame.max(initial=0)) + 1) + side.frame) * _CLASSES + side.class_id
    _, inverse, many = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(cell) or many.max() <= TRACKS:
        return side
    order = np.arange(len(side))
    dropped: list[int] = []
    for crowded in np.flatnonzero(many > TRACKS):
        rows = np.flatnonzero(inverse == crowded)
        row_of_track: dict[int, int] = {}  # in the end, by the order in which tracks were first taken
        sources = side.source[rows].tolist() if side.source is not None else [0] * len(rows)
        for row, source in zip(rows.tolist(), sources, strict=True):
            free = set(range(TRACKS)) - row_of_track.keys()
            track = source if source < TRACKS and source not in row_of_track else min(free, default=0)
            row_of_track[track] = row
        order[rows[: len(row_of_track)]] = list(row_of_track.values())
        dropped += rows[len(row_of_track) :].tolist()
    return side.take(np.delete(order, dropped))


def nanmean(values: Floats, axis: int) -> Floats:
    """Return the mean of the numbers; NaN, without a warning, where there are none."""
    numbers = ~np.isnan(values)
    count = numbers.sum(axis=axis)
    total = np.where(numbers, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
