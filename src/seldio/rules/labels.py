"""LAB1 and LAB2: values out of range, and inconsistent rows."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from seldio.clock import LONGEST
from seldio.findings import Severity
from seldio.formats.base import Ints
from seldio.formats.cells import ABSENT, absent
from seldio.formats.label_csv import headed_by
from seldio.rules.base import POSITION, Bools, Labels, RowFault, Values
from seldio.schema.arrays import to_mask
from seldio.schema.events import FARTHEST
from seldio.text import clipped, plural, times
from seldio.vocabularies import spelling, vocabulary

#: What to say of azimuths that are many, or far out of range.
NOT_WRAPPED = "; not repaired: wrapping is safe only for a few that are just outside"
#: According to the task page, recordings have up to six overlapping events; more mean that a system went wrong.
MOST_OVERLAPS = 6
#: No vector of real outputs is longer; activities are near 1, and no cause but another column makes one this long.
LONGEST_ACTIVITY, LONGEST_VECTOR = 1.65, 3


#: What people write where there is no class or no distance.
ABSENT_VALUES = (-1, ABSENT)


def frame_range(frame: Values, labels: Labels) -> Bools:
    return (frame < 0) | (frame >= int(LONGEST / labels.format.hop))


def class_range(class_id: Values, labels: Labels) -> Iterator[RowFault]:
    if class_id.min() >= 0 and class_id.max() < labels.classes:
        return
    classes = vocabulary(labels.format.vocabulary)
    field = "class_name" if labels.has("class_name") else "class_id"
    if field == "class_name" and (labels.origin.tool or labels.origin.name == "seld-studio"):
        return  # names of people's own choice: LAB120
    for row in labels.where(field, (class_id < 0) | (class_id >= len(classes))):
        text = labels.text(row, field)
        if field == "class_name":
            hint = f"the classes are {', '.join(names[0] for names in classes.classes)}"
            yield RowFault(row, field, message=f"{text} is not a class of {classes.name}", hint=hint)
        elif class_id[row] in ABSENT_VALUES:
            message, hint = absent(field)
            yield RowFault(row, field, message=f"{message}: {text} stands for none", hint=hint)
        else:
            yield RowFault(row, field, {"last": len(classes) - 1, "list": classes.name})


def unknown_class_name(onset: Values, class_id: Values, labels: Labels) -> Iterator[RowFault]:
    if not labels.format.tool:
        return
    classes = vocabulary(labels.format.vocabulary)
    for row in labels.where("onset", class_id < 0):
        name = str(labels.column("class_name")[row]) if labels.has("class_name") else ""
        if not name:
            yield RowFault(row, None)
            continue
        spelled = spelling(name)
        begins = [key for key in classes.indices if key.startswith(f"{spelled} ")]
        near = begins or difflib.get_close_matches(spelled, list(classes.indices), 1, 0.7)
        close = classes.label(classes.indices[near[0]]) if near else None
        hint = f"did you mean {close}?" if close else f"the classes are {'; '.join(n[0] for n in classes.classes if n)}"
        message = f"{clipped(name, 40)} is not a class of {classes.name}"
        yield RowFault(row, "class_name", message=message, hint=hint)


def azimuth_range(azimuth: Values, labels: Labels, widest: int) -> Iterator[RowFault]:
    outside = np.abs(azimuth) > widest
    if not outside.any():
        return
    from seldio.changes import crosses_the_seam  # a table that clean labels do not need

    wrapped = crosses_the_seam(azimuth, widest)
    for row in labels.where("azimuth", outside):
        yield RowFault(row, "azimuth", {"but": "" if wrapped else NOT_WRAPPED}, fixable=wrapped)


def elevation_range(elevation: Values, labels: Labels) -> Bools:
    wrong: Bools = np.abs(elevation) > 90
    if labels.has("segmentation"):  # there LAB111 says it, of the points that directions come from
        wrong &= to_mask(labels.reading.table["segmentation"].is_null())
    return wrong


def distance_range(distance: Values, labels: Labels) -> Iterator[RowFault]:
    written = distance * (labels.metre or 1)
    wrong = (distance < 0) | (distance > FARTHEST)
    unknown = wrong & np.isin(written, ABSENT_VALUES)
    for row in labels.where("distance", wrong & ~unknown):
        yield RowFault(row, "distance")
    for row in labels.where("distance", unknown):
        message, hint = absent("distance")
        text = labels.text(row, "distance")
        yield RowFault(row, "distance", message=f"{message}: {text} stands for none", hint=hint)
    nearest = np.array([spec.nearest if spec is not None else 0 for spec in labels.datasets])
    near = (distance >= 0) & (written < np.repeat(nearest, labels.sizes))
    for row in labels.where("distance", near):
        message = f"distance {labels.text(row, 'distance')}: the dataset has none below {nearest[labels.owners(row)]}"
        yield RowFault(row, "distance", message=message, severity=Severity.WARNING)


def source_range(source: Values, numbered: bool) -> Bools:
    return (source < 0) & numbered


def no_direction(x: Values, y: Values, z: Values) -> Bools:
    return np.asarray((x == 0) & (y == 0) & (z == 0))


def vector_length(x: Values, y: Values, z: Values, length: Values, labels: Labels) -> Iterator[RowFault]:
    if labels.headed:
        return
    for row in labels.where("x", length > LONGEST_VECTOR):
        yield RowFault(row, "x")
    wrong = (length > LONGEST_ACTIVITY) & (length <= LONGEST_VECTOR)
    for file in np.flatnonzero(labels.count(wrong)).tolist() if wrong.any() else ():
        row, marked = labels.first_row(file, wrong), wrong[labels.rows_of(file)]
        peak, rows = length[labels.rows_of(file)][marked].max(), plural(int(marked.sum()), "row")
        message = f"the vector has length {length[row]:.2f}, with up to {peak:.2f} in {rows} of the file: activities "
        hint = "the longest vector of real outputs has length 1.61"
        yield RowFault(row, "x", message=f"{message}are near 1", hint=hint, severity=Severity.WARNING)


def map_range(segmentation: pa.Array, labels: Labels) -> Iterator[RowFault]:
    from seldio.formats.dcase_json import PANORAMA, points  # for energy maps alone

    rows, spots = points(segmentation)
    limits = np.array(PANORAMA)
    outside = (spots[:, :2] < 0) | (spots[:, :2] > limits)
    first = {int(rows[at]): at for at in np.flatnonzero(outside.any(axis=1))[::-1].tolist()}
    wrong = np.zeros(len(labels), bool)
    wrong[list(first)] = True
    for row in labels.where("segmentation", wrong):
        x, y, _ = spots[first[row]].tolist()
        yield RowFault(row, "segmentation", {"right": x, "down": y, "width": PANORAMA[0], "height": PANORAMA[1]})


def missing_direction(labels: Labels) -> Iterator[RowFault]:
    table = labels.reading.table
    for field in table.column_names if labels.format.role == "table" else ():
        if pa.types.is_floating(table.schema.field(field).type):
            hint = "leave it empty (null) where it is not known"
            for row in labels.where(field, np.isnan(labels.column(field))):
                yield RowFault(row, field, message=f"{field} is NaN", hint=hint)
        if field in ("azimuth", "elevation") and 0 < table[field].null_count < len(labels):
            for row in labels.firsts(np.flatnonzero(to_mask(table[field].is_null()))):
                yield RowFault(row, None, {"field": field}, severity=Severity.WARNING)


def event_times(onset: Values, offset: Values) -> Bools:
    return (onset < 0) | (offset < onset) | (offset > LONGEST)


def frame_order(frame: Values, labels: Labels) -> Iterator[RowFault]:
    files, firsts, counts = np.unique(labels.owners(labels.unsorted), return_index=True, return_counts=True)
    for file, row, count in zip(files.tolist(), labels.unsorted[firsts].tolist(), counts.tolist(), strict=True):
        # the first frame with rows on both sides of a fall of the frame number, if any
        rows = labels.rows_of(file)
        in_order = labels.rows(np.arange(rows.start, rows.stop))
        frames, pieces = labels.column("frame")[in_order], labels.pieces[in_order]
        torn = np.flatnonzero((np.diff(frames) == 0) & (np.diff(pieces) != 0))
        one_clip, whole = "sort the rows by frame if all are of one clip", False
        if len(torn):
            hint = f"{one_clip}: those of frame {frames[torn[0]]} do not stand together, as in a file of two clips"
        elif _may_be_two_clips(labels, file):
            hint = f"{one_clip}: where frames fall far and seldom, the rows of another one may begin"
        else:
            part = labels.filled[file]
            if labels.dialect is not None:  # whether each line, but blank ones and the header, is a row that was read
                lines = [line for line in part.file.data.splitlines() if line.strip()]
                whole = len(lines) - headed_by(lines[0].decode(), labels.dialect.header) == part.rows
            hint = f"{'' if whole else 'put the lines right that cannot be read, then '}sort the rows by frame"
        words = {"before": labels.text(row - 1, "frame"), "times": times(count)}
        yield RowFault(row, "frame", words, hint=hint, fixable=whole)


#: Frames that a fall is at least if another clip begins there, and rows of the shortest clip; what has fewer and goes
#: on where it was cut is a piece. Where a fall comes with a quarter of the frames, rows are in any order.
_FAR, _CLIP, _OFTEN = 20, 10, 4


def _may_be_two_clips(labels: Labels, file: int) -> bool:
    """Return whether the frame number falls far and seldom."""
    frame = labels.values(file, "frame")
    steps = np.diff(frame)
    if _OFTEN * np.count_nonzero(steps < 0) >= len(np.unique(frame)) or steps.min() >= -_FAR:
        return False
    pieces = sorted(np.split(frame, np.flatnonzero(steps < 0) + 1), key=lambda piece: int(piece[0]))
    goes_on = all(after[0] - before[-1] <= 1 for before, after in itertools.pairwise(pieces))
    return not goes_on or sorted(map(len, pieces))[-2] >= _CLIP


def duplicate_row(frame: Values, labels: Labels) -> Iterator[RowFault]:
    first, second = labels.twins
    for field in (*POSITION, "onscreen", "score"):
        if labels.has(field):
            values = labels.ordered(field)
            same = (values[first] == values[second]) | (np.isnan(values[first]) & np.isnan(values[second]))
            first, second = first[same], second[same]
    numbered = labels.has("source") and labels.numbered
    for row, line in _repeated(labels, first, second):
        yield RowFault(row, None, {"line": line}, fixable=numbered)


def _repeated(labels: Labels, first: Ints, second: Ints) -> Iterator[tuple[int, int]]:
    """Yield rows to report of those at positions *second*, and the lines of the rows at *first* that they repeat."""
    repeated, at = np.unique(second, return_index=True)
    rows, originals = labels.rows(repeated), labels.rows(first[at])
    order = np.argsort(rows, kind="stable")
    rows, originals = rows[order], originals[order]
    for row in labels.firsts(rows):
        yield row, labels.reading.place(int(originals[np.searchsorted(rows, row)]), None).line


def source_in_two_places(frame: Values, source: Values, azimuth: Values, labels: Labels) -> Iterator[RowFault]:
    if not labels.numbered:
        return
    first, second = labels.twins_apart
    if labels.format.role == "label" and labels.has("elevation"):
        first, second = (np.concatenate(pair) for pair in zip((first, second), labels.wide, strict=True))
    for row, line in _repeated(labels, first, second):
        yield RowFault(row, "azimuth", {"number": labels.text(row, "source"), "line": line})


def overlaps(frame: Values, labels: Labels) -> Iterator[RowFault]:
    sizes = np.diff(labels.frame_starts)
    crowded = np.flatnonzero(sizes > MOST_OVERLAPS)
    rows = labels.rows(labels.frame_starts[crowded] + MOST_OVERLAPS)
    order = np.argsort(rows, kind="stable")
    rows, sizes = rows[order], sizes[crowded][order]
    for row in labels.firsts(rows):
        yield RowFault(row, "frame", {"events": sizes[np.searchsorted(rows, row)]})


def decimal_angle(labels: Labels) -> Iterator[RowFault]:
    for field in ("azimuth", "elevation", "distance"):
        integers = labels.dialect is not None and labels.dialect.kind(field) == "whole"
        if not integers or not labels.has(field) or field in labels.reading.whole:
            continue
        values, unit = labels.column(field), "degrees"
        if field == "distance":
            values, unit = np.round(values * (labels.metre or 1), 9), "centimetres" if labels.metre == 100 else "metres"
        for row in labels.where(field, (values != np.rint(values)) & ~np.isnan(values)):
            spec = labels.datasets[labels.owners(row)]
            source = "submissions have" if spec is None else f"{spec.title} has"
            asked = spec is not None or labels.format.role == "submission"
            whole = f", but {source} whole numbers" if asked else ""
            words = {"field": field, "whole": whole, "unit": unit}
            yield RowFault(row, field, words, severity=None if asked else Severity.WARNING)


#: Rows of actors and of things from which on they show how sources are numbered.
_ENOUGH = 20


def source_of_class(class_id: Values, source: Values, labels: Labels) -> Iterator[RowFault]:
    wrong, judged = (np.zeros(len(labels), dtype=bool) for _ in range(2))
    for file, spec in enumerate(labels.datasets):
        if spec is not None:
            rows = labels.rows_of(file)
            classes, actor = class_id[rows], source[rows] > 0
            if classes.max() < labels.classes:  # the classes are those of its list
                wrong[rows] = np.where(actor, np.isin(classes, [*spec.things]), np.isin(classes, [*spec.actors]))
                judged[rows] = np.isin(classes, [*spec.things, *spec.actors])
    # where many are otherwise, they are numbered in another way, or not at all; other datasets call clips so, too
    if judged.sum() >= _ENOUGH and 4 * wrong.sum() > judged.sum():
        share = f"{int(wrong.sum()):,} of {int(judged.sum()):,} rows"
        message = f"{share} have source numbers that no sound of their class has"
        hint = "fine if sources are numbered in another way, or are not known"
        yield RowFault(int(np.argmax(wrong)), "source", message=message, hint=hint, severity=Severity.INFO)
        return
    for row in labels.where("source", wrong):
        name = vocabulary(labels.format.vocabulary).label(int(class_id[row]))
        what = "what is not an actor has source 0" if source[row] > 0 else "actors count from 1"
        yield RowFault(row, "source", {"name": name, "what": what})


#: The rules for rows, in the order in which they run.
ROW_RULES = (
    frame_range,
    class_range,
    unknown_class_name,
    azimuth_range,
    elevation_range,
    distance_range,
    source_range,
    no_direction,
    vector_length,
    map_range,
    missing_direction,
    event_times,
    frame_order,
    duplicate_row,
    source_in_two_places,
    overlaps,
    decimal_angle,
    source_of_class,
)
