"""LAB1 and LAB2: values out of range, and inconsistent rows."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seldio.findings import Finding
from seldio.formats.base import Ints
from seldio.formats.diagnosis import headed_by
from seldio.rules.base import POSITION, Labels
from seldio.rules.registry import ERROR, INFO, WARNING, Marked, row_rule, rule
from seldio.schema.arrays import to_mask
from seldio.schema.events import FARTHEST
from seldio.text import clipped, plural, times
from seldio.vocabularies import Vocabulary, spelling, vocabulary

if TYPE_CHECKING:
    from seldio.rules.collection import Found

#: According to the task page, recordings have up to six overlapping events; more mean that a system went wrong.
MOST_OVERLAPS = 6
#: No vector of real outputs is longer.
LONGEST_ACTIVITY = 1.65
_DIRECTIONS = "scores, and most formats, need a direction in every row; NaN in a DataFrame counts as missing"
#: The column that a rule depends on, where that is not the one it reports: rows are not compared where their frames
#: mean something else.
JUDGED_BY = {"LAB202": "frame", "LAB203": "frame", "LAB206": "class_id"}


@row_rule(
    "LAB101", ERROR, field="frame", needs="frame", message="frame {text} is before the start of the recording",
    hint="frames count from 0",
)  # fmt: skip
def frame_range(labels: Labels) -> Marked:
    """Negative frame number."""
    return labels.column("frame") < 0


@rule("LAB102", ERROR, needs="class_id")
def class_range(labels: Labels, found: Found) -> Iterator[Finding]:
    """Class outside the vocabulary."""
    classes, ids = vocabulary(labels.format.vocabulary), labels.column("class_id")
    named = "class_name" in labels.reading.table.column_names
    if ids.min() >= 0 and ids.max() < len(classes):
        return
    for row in labels.where("class_name" if named else "class_id", (ids < 0) | (ids >= len(classes))):
        if named:
            if labels.format.tool:
                continue  # LAB120
            if labels.format.name != "seld-studio":
                message = f"{labels.text(row, 'class_name')} is not a class of {classes.name}"
                hint = f"the classes are {', '.join(names[0] for names in classes.classes)}"
                yield found(row, "class_name", message, hint)
            continue
        message = f"class {labels.text(row, 'class_id')} is outside [0, {len(classes) - 1}]"
        yield found(row, "class_id", message, f"{classes.name} has {len(classes)} classes, numbered from 0")


@rule("LAB120", WARNING, needs="onset class_id")
def unknown_class_name(labels: Labels, found: Found) -> Iterator[Finding]:
    """Label whose text is not the name of a class."""
    if not labels.format.tool:
        return
    classes = vocabulary(labels.format.vocabulary)
    for row in labels.where("onset", labels.column("class_id") < 0):
        name = labels.cell(row, "class_name") if labels.has("class_name") else ""
        if not name:
            yield found(row, None, "the label has no text: its class is not known", "write the name of a class")
            continue
        close = _close(name, classes)
        hint = f"did you mean {close}?" if close else f"the classes are {'; '.join(n[0] for n in classes.classes if n)}"
        yield found(row, "class_name", f"{clipped(name, 40)} is not a class of {classes.name}", hint)


def _close(name: str, classes: Vocabulary) -> str | None:
    """The class that *name* is the beginning of, or is close to."""
    spelled = spelling(name)
    begins = [key for key in classes.indices if key.startswith(f"{spelled} ")]
    near = begins or difflib.get_close_matches(spelled, list(classes.indices), 1, 0.7)
    return classes.label(classes.indices[near[0]]) if near else None


@row_rule(
    "LAB103", ERROR, fix="unsafe", field="azimuth", needs="azimuth",
    message="azimuth {text} is outside [-{widest}, {widest}]", hint="counter-clockwise from the front, +90 is left",
)  # fmt: skip
def azimuth_range(labels: Labels) -> Marked:
    """Azimuth outside [-180, 180] degrees."""
    return np.abs(labels.column("azimuth")) > labels.widest


@row_rule(
    "LAB104", ERROR, field="elevation", needs="elevation", message="elevation {text} is outside [-90, 90]",
    hint="elevation is the column after azimuth, positive upwards",
)  # fmt: skip
def elevation_range(labels: Labels) -> Marked:
    """Elevation outside [-90, 90] degrees."""
    wrong: Marked = np.abs(labels.column("elevation")) > 90
    if "segmentation" in labels.fields:  # there LAB111 says it, of the points that directions come from
        wrong &= labels.reading.table["segmentation"].is_null().to_numpy()
    return wrong


@row_rule(
    "LAB105", ERROR, field="distance", needs="distance", message="distance {text} ({distance:g} m) is impossible",
    hint="distances are 0 to 100 m, in the unit of the format",
)  # fmt: skip
def distance_range(labels: Labels) -> Marked:
    """Distance below 0 or above 100 m."""
    distance = labels.column("distance")
    return (distance < 0) | (distance > FARTHEST)


@row_rule(
    "LAB106", WARNING, field="source", needs="source", message="source {text} is below 0",
    hint="sources count from 0",
)  # fmt: skip
def source_range(labels: Labels) -> Marked:
    """Negative source number."""
    free = labels.dialect is not None and "source" in labels.dialect.fills
    return None if free else labels.column("source") < 0


@row_rule(
    "LAB107", WARNING, field="x", needs="x y z", hint="leave the row out if nothing was detected",
    message="the vector has length 0: no direction, scored as straight ahead",
)  # fmt: skip
def no_direction(labels: Labels) -> Marked:
    """Vector of length 0, which has no direction."""
    x, y, z = (labels.column(axis) for axis in "xyz")
    return (x == 0) & (y == 0) & (z == 0)


@row_rule(
    "LAB108", ERROR, field="x", needs="x y z", message="the vector has length {length:.1f}, but activities are near 1",
    hint="columns are x (front), y (left), z (up)",
)  # fmt: skip
def vector_length(labels: Labels) -> Marked:
    """Vector longer than 3 where a length of about 1 is expected."""
    return None if labels.dialect is not None and labels.dialect.header else labels.length > 3


@rule("LAB110", WARNING, needs="x y z")
def long_vector(labels: Labels, found: Found) -> Iterator[Finding]:
    """Vector longer than any plausible activity."""
    if labels.dialect is not None and labels.dialect.header:
        return
    length = labels.length
    wrong = (length > LONGEST_ACTIVITY) & (length <= 3)
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        if count := int(np.count_nonzero(wrong[rows])):
            row = rows.start + int(np.argmax(wrong[rows]))
            peak = float(length[rows][wrong[rows]].max())
            yield found(row, "x", f"the vector has length {length[row]:.2f}, with up to {peak:.2f} in "
                        f"{plural(count, 'row')} of the file: activities are near 1",
                        "the longest vector of real outputs has length 1.61")  # fmt: skip


@rule("LAB111", ERROR, needs="segmentation")
def map_range(labels: Labels, found: Found) -> Iterator[Finding]:
    """Point of an energy map outside the panorama."""
    from seldio.formats.dcase_json import PANORAMA, points  # for energy maps alone

    rows, spots = points(labels.reading.table["segmentation"].combine_chunks())
    limits = np.array(PANORAMA)
    outside = (spots[:, :2] < 0) | (spots[:, :2] > limits)
    first = {int(rows[at]): at for at in np.flatnonzero(outside.any(axis=1))[::-1].tolist()}
    wrong = np.zeros(len(labels), bool)
    wrong[list(first)] = True
    for row in labels.where("segmentation", wrong):
        x, y, _ = spots[first[row]].tolist()
        message = f"the point ({x:g}, {y:g}) is outside [0, {PANORAMA[0]}] × [0, {PANORAMA[1]}]"
        yield found(row, "segmentation", message, "the official program ends there, without a score for any clip")


@rule("LAB112", ERROR, needs="clip")
def nan_in_table(labels: Labels, found: Found) -> Iterator[Finding]:
    """Number of a table that is NaN."""
    table = labels.reading.table
    for field in table.column_names if labels.format.role == "table" else ():
        if pa.types.is_floating(table.schema.field(field).type):
            for row in labels.where(field, np.isnan(labels.column(field))):
                yield found(row, field, f"{field} is NaN", "leave it empty (null) where it is not known")


@rule("LAB113", WARNING, needs="clip")
def missing_direction(labels: Labels, found: Found) -> Iterator[Finding]:
    """Row of a table without the direction that other rows have."""
    table = labels.reading.table
    for field in ("azimuth", "elevation") if labels.format.role == "table" else ():
        if field in labels.fields and 0 < table[field].null_count < len(labels):
            for row in labels.firsts(np.flatnonzero(to_mask(table[field].is_null()))):
                yield found(row, None, f"the row has no {field}, but others have one", _DIRECTIONS)


@row_rule(
    "LAB109", ERROR, field="onset", needs="onset offset", message="the event runs from {onset:g} s to {offset:g} s",
    hint="the start must be 0 or later, and before the end",
)  # fmt: skip
def event_times(labels: Labels) -> Marked:
    """Event that ends before it begins, or begins before the recording."""
    onset, offset = labels.column("onset"), labels.column("offset")
    return (onset < 0) | (offset < onset)


@rule("LAB201", WARNING, fix="safe", needs="frame")
def frame_order(labels: Labels, found: Found) -> Iterator[Finding]:
    """Frames that are not in ascending order."""
    owners, firsts, counts = np.unique(labels.owners(labels.unsorted), return_index=True, return_counts=True)
    for owner, row, count in zip(owners.tolist(), labels.unsorted[firsts].tolist(), counts.tolist(), strict=True):
        apart = _frame_apart(labels, owner)
        whole = apart is None and _every_line_read(labels, owner)
        hint = "sort the rows by frame"
        if apart is not None:
            hint += f" if all are of one clip: those of frame {apart} do not stand together, as in a file of two clips"
        elif not whole:
            hint = "put the lines right that cannot be read, then sort the rows by frame"
        one = found(row, "frame", f"frame {labels.text(row, 'frame')} comes after frame "
                    f"{labels.text(row - 1, 'frame')}: the order breaks {times(count)}",
                    hint)  # fmt: skip
        yield dataclasses.replace(one, fixable=whole)


def _frame_apart(labels: Labels, owner: int) -> int | None:
    """The first frame of a file that has rows on both sides of a fall of the frame number, if any."""
    own = labels.rows_of(owner)  # the same rows in frame order
    frames, pieces = labels.ordered("frame")[own], labels.pieces[labels.rows(np.arange(own.start, own.stop))]
    apart = np.flatnonzero((np.diff(frames) == 0) & (np.diff(pieces) != 0))
    return int(frames[apart[0]]) if len(apart) else None


def _every_line_read(labels: Labels, owner: int) -> bool:
    """Whether each line of a file of text, but blank ones and the header, is a row that was read."""
    part = labels.parts[labels.filled[owner]]
    if labels.dialect is None:
        return False
    lines = [line for line in part.file.data.splitlines() if line.strip()]
    return bool(len(lines) - headed_by(lines[0].decode(), labels.dialect.header) == part.rows)


@rule("LAB202", WARNING, fix="unsafe", needs="frame")
def duplicate_row(labels: Labels, found: Found) -> Iterator[Finding]:
    """Duplicate row."""
    first, second = labels.twins
    for field in (*POSITION, "onscreen", "score"):
        if field in labels.fields:
            values = labels.ordered(field)
            keep = (values[first] == values[second]) | (np.isnan(values[first]) & np.isnan(values[second]))
            first, second = first[keep], second[keep]
    numbered = "source" in labels.fields and not (labels.dialect and "source" in labels.dialect.fills)
    for row, line in _repeated(labels, first, second):
        one = found(row, None, f"same row as line {line}", "a repeated row counts as a second source")
        yield one if numbered else dataclasses.replace(one, fixable=False)


def _repeated(labels: Labels, first: Ints, second: Ints) -> Iterator[tuple[int, int]]:
    """Rows to report of those at positions *second*, and the lines of the rows at *first* that they repeat."""
    repeated, at = np.unique(second, return_index=True)
    rows, originals = labels.rows(repeated), labels.rows(first[at])
    order = np.argsort(rows, kind="stable")
    rows, originals = rows[order], originals[order]
    for row in labels.firsts(rows):
        before = int(originals[np.searchsorted(rows, row)])
        part = labels.reading.part_of(before)
        yield row, part.place(before - part.first, None).line


@rule("LAB203", WARNING, needs="frame source azimuth")
def source_in_two_places(labels: Labels, found: Found) -> Iterator[Finding]:
    """One source in two places in the same frame."""
    if labels.dialect and "source" in labels.dialect.fills:
        return
    first, second = labels.twins_apart
    if labels.format.role == "label" and "elevation" in labels.fields:
        first, second = (np.concatenate(pair) for pair in zip((first, second), labels.wide, strict=True))
    for row, line in _repeated(labels, first, second):
        yield found(row, "azimuth", f"source {labels.text(row, 'source')} is at a different position in line {line}, "
                    "in the same frame", "give each source its own number")  # fmt: skip


@rule("LAB204", WARNING, needs="frame")
def overlaps(labels: Labels, found: Found) -> Iterator[Finding]:
    """More than six events in one frame."""
    sizes = np.diff(labels.frame_starts)
    crowded = np.flatnonzero(sizes > MOST_OVERLAPS)
    rows = labels.rows(labels.frame_starts[crowded] + MOST_OVERLAPS)
    order = np.argsort(rows, kind="stable")
    rows, sizes = rows[order], sizes[crowded][order]
    for row in labels.firsts(rows):
        size = sizes[np.searchsorted(rows, row)]
        yield found(row, "frame", f"frame {labels.text(row, 'frame')} has {size} events",
                    "no recording has more than six at once")  # fmt: skip


@rule("LAB205", ERROR)
def decimal_angle(labels: Labels, found: Found) -> Iterator[Finding]:
    """Decimals where integers are expected."""
    for field in ("azimuth", "elevation", "distance"):
        asked = labels.dialect is not None and labels.dialect.kind(field) == "whole"
        if not asked or field not in labels.fields or field in labels.reading.whole:
            continue
        values, unit = labels.column(field), "degrees"
        if field == "distance":
            metre = getattr(labels.dialect, "metre", None) or 1
            values, unit = np.round(values * metre, 9), "centimetres" if metre == 100 else "metres"
        for row in labels.where(field, (values != np.rint(values)) & ~np.isnan(values)):
            spec = labels.datasets[int(labels.owners(np.array([row]))[0])]
            whole = "" if spec is None else f", but {spec.title} has whole numbers"
            one = found(row, field, f"{field} {labels.text(row, field)} has decimals{whole}",
                        f"if these are {unit}, round to the nearest integer, and do not truncate")  # fmt: skip
            yield one if spec is not None else dataclasses.replace(one, severity=WARNING)


#: Rows of actors and of things from which on they show how sources are numbered.
_ENOUGH = 20


@rule("LAB206", WARNING, needs="source class_id")
def source_of_class(labels: Labels, found: Found) -> Iterator[Finding]:
    """Source number that sounds of its class do not have."""
    wrong, judged = (np.zeros(len(labels), dtype=bool) for _ in range(2))
    for index, spec in enumerate(labels.datasets):
        if spec is not None:
            rows = labels.rows_of(index)
            classes, actor = labels.column("class_id")[rows], labels.column("source")[rows] > 0
            if classes.max() < len(vocabulary(labels.format.vocabulary)):  # the classes are those of its list
                wrong[rows] = np.where(actor, np.isin(classes, [*spec.things]), np.isin(classes, [*spec.actors]))
                judged[rows] = np.isin(classes, [*spec.things, *spec.actors])
    # where many are otherwise, they are numbered in another way, or not at all; other datasets call clips so, too
    another = judged.sum() >= _ENOUGH and 4 * wrong.sum() > judged.sum()
    if another:
        row = int(np.flatnonzero(wrong)[0])
        share = f"{int(wrong.sum()):,} of {int(judged.sum()):,} rows"
        message = f"{share} have source numbers that sounds of their class do not have"
        one = found(row, "source", message, "fine if sources are numbered in another way, or are not known")
        yield dataclasses.replace(one, severity=INFO)
        return
    for row in labels.where("source", wrong):
        named = vocabulary(labels.format.vocabulary).label(int(labels.column("class_id")[row]))
        what = "what is not an actor has source 0" if labels.column("source")[row] > 0 else "actors count from 1"
        yield found(row, "source", f"source {labels.text(row, 'source')} of {named}: {what}",
                    "give each actor one number for all of its sounds, and 0 to loudspeakers and machines")  # fmt: skip
