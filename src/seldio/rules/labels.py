"""LAB1 and LAB2: values out of range, and rows that do not go together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from seldio.findings import Finding
from seldio.formats.base import Ints
from seldio.rules.base import POSITION, Labels
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, WARNING, Marked, row_rule, rule
from seldio.text import plural
from seldio.vocabularies import vocabulary

#: Recordings have up to six overlapping events, says the task page; more are a system gone wrong.
MOST_OVERLAPS = 6
#: No vector of real outputs is longer.
LONGEST_ACTIVITY = 1.65
#: No room of any data set is larger (metres).
FARTHEST = 100.0
#: The column that a rule judges by, where that is not the one it points at: frames that mean something else do not
#: bring rows together.
JUDGED_BY = {"LAB202": "frame", "LAB203": "frame"}


@row_rule(
    "LAB101", ERROR, field="frame", needs="frame", message="frame {text} is before the recording begins",
    hint="frames count from 0",
)  # fmt: skip
def frame_range(labels: Labels) -> Marked:
    """Frame number below 0.

    Frames count from 0, 100 ms each. The official scorers drop negative frames without a word.

    Example:
        -1,1,0,-50,30

    Fix:
        Count frames from 0; shift all of them if the whole file is off by one.

    Reference: DCASE 2023 Task 3, "Frame, class, and source enumeration begins at 0".
    """
    return labels.column("frame") < 0


@rule("LAB102", ERROR, needs="class_id")
def class_range(labels: Labels, found: Found) -> Iterator[Finding]:
    """Class outside the vocabulary.

    Class numbers count from 0. The official scorers never check them: a class beyond the last one
    vanishes from the score, and its events count as missed.

    Example:
        7,13,0,-50,30  (STARSS has classes 0 to 12)

    Fix:
        Use the numbers of the vocabulary; ``seldio formats`` names it for each format.

    Reference: DCASE 2023 Task 3, class descriptions.
    """
    classes, ids = vocabulary(labels.format.vocabulary), labels.column("class_id")
    named = "class_name" in labels.reading.table.column_names
    if ids.min() >= 0 and ids.max() < len(classes):
        return
    for row in labels.where("class_name" if named else "class_id", (ids < 0) | (ids >= len(classes))):
        if named:
            if labels.format.name != "seld-studio":
                message = f"{labels.text(row, 'class_name')} is no class of {classes.name}"
                hint = f"the classes are {', '.join(names[0] for names in classes.classes)}"
                yield found(row, "class_name", message, hint)
            continue
        message = f"class {labels.text(row, 'class_id')} is not in 0 to {len(classes) - 1}"
        yield found(row, "class_id", message, f"{classes.name} has {len(classes)} classes, numbered from 0")


@row_rule(
    "LAB103", ERROR, fix="unsafe", field="azimuth", needs="azimuth",
    message="azimuth {text} is outside -{widest} to {widest}", hint="counter-clockwise from the front, +90 is left",
)  # fmt: skip
def azimuth_range(labels: Labels) -> Marked:
    """Azimuth outside -180 to 180 degrees.

    Azimuth counts counter-clockwise from the front: +90 is left, -90 is right, and both -180 and
    180 (behind) are legal. In 2025's stereo layout it is folded into -90 to 90. Training code that
    bins or normalises angles puts other values somewhere else.

    Example:
        7,1,0,270,30

    Fix:
        ``--unsafe-fixes`` wraps it: 270 becomes -90.

    Reference: DCASE 2023 Task 3, "azimuth in [-180, 180]"; DCASE 2025 Task 3 (stereo).
    """
    return np.abs(labels.column("azimuth")) > labels.widest


@row_rule(
    "LAB104", ERROR, field="elevation", needs="elevation", message="elevation {text} is outside -90 to 90",
    hint="elevation is the column behind azimuth, up positive",
)  # fmt: skip
def elevation_range(labels: Labels) -> Marked:
    """Elevation outside -90 to 90 degrees.

    Elevation is up positive from the horizon; nothing is beyond straight up or down.

    Example:
        7,1,0,-50,91

    Fix:
        Look at the order of columns: azimuth stands before elevation (but not in 2019's labels).

    Reference: DCASE 2023 Task 3, "elevation in [-90, 90]".
    """
    return np.abs(labels.column("elevation")) > 90


@row_rule(
    "LAB105", ERROR, field="distance", needs="distance", message="distance {text} ({distance:g} m) is impossible",
    hint="0 to 100 m, in the unit of the layout",
)  # fmt: skip
def distance_range(labels: Labels) -> Marked:
    """Distance below 0 or beyond 100 m.

    Distances are centimetres in labels and submissions, metres in 2024's outputs and in
    SpatialScaper's labels; only SO-Dataset has a mark for an unknown distance (-1).

    Example:
        7,1,0,-50,30,-5

    Fix:
        Write the distance in the unit of the layout; leave the column away where none is known, by
        choosing a layout without it.

    Reference: DCASE 2024 Task 3; ``seldio formats``.
    """
    distance = labels.column("distance")
    return (distance < 0) | (distance > FARTHEST)


@row_rule(
    "LAB106", WARNING, field="source", needs="source", message="source {text} is below 0",
    hint="sources count from 0",
)  # fmt: skip
def source_range(labels: Labels) -> Marked:
    """Source number below 0.

    Sources count from 0; 0 is what is no actor, a loudspeaker for example. In 2020's submissions the
    track is free, and -1 is common there.

    Example:
        7,1,-2,-50,30

    Fix:
        Number the sources from 0.

    Reference: DCASE 2023 Task 3, "Independent sources that are not actors get a 0 identifier".
    """
    free = labels.dialect is not None and "source" in labels.dialect.fills
    return None if free else labels.column("source") < 0


@row_rule(
    "LAB107", WARNING, field="x", needs="x y z", hint="leave the row out if nothing was detected",
    message="the vector is 0: it points nowhere, and is scored as straight ahead",
)  # fmt: skip
def no_direction(labels: Labels) -> Marked:
    """A vector of length 0, which points nowhere.

    In Cartesian outputs the length of (x, y, z) is the activity. A zero vector has no direction;
    the official scorers take it for azimuth 0, elevation 0: straight ahead.

    Example:
        7,1,0,0.0,0.0,0.0

    Fix:
        Leave the row out: nothing was detected.

    Reference: arctan2(0, 0) = 0 in the official conversion to polar coordinates.
    """
    x, y, z = (labels.column(axis) for axis in "xyz")
    return (x == 0) & (y == 0) & (z == 0)


@row_rule(
    "LAB108", ERROR, field="x", needs="x y z", message="the vector has length {length:.1f}, an activity is near 1",
    hint="columns are x (front), y (left), z (up)",
)  # fmt: skip
def vector_length(labels: Labels) -> Marked:
    """A vector longer than 3, where directions of length up to about 1 are meant.

    Systems write vectors whose length is an activity, from 0.5 to about 1.5. Longer ones are
    positions in metres, or columns in another order.

    Example:
        7,1,0,-150.0,30.0,181.0

    Fix:
        Check the columns: x (front), y (left), z (up).

    Reference: measured: the longest of 256 real output files has length 1.61.
    """
    return None if labels.dialect is not None and labels.dialect.header else labels.length > 3


@rule("LAB110", WARNING, needs="x y z")
def long_vector(labels: Labels, found: Found) -> Iterator[Finding]:
    """A vector longer than any activity.

    In outputs with x, y, z the length of the vector is the activity of its class, trained towards 1. Real outputs
    reach 1.61. Longer ones were scaled, or they are positions in metres, whose directions are right and whose
    lengths mean something else; code that takes the length for a probability is misled.

    Example:
        7,1,0,1.36,0.91,0.45

    Fix:
        Write the network's output as it is, or unit vectors.

    Reference: measured: the longest of 256 real output files has length 1.61.
    """
    if labels.dialect is not None and labels.dialect.header:
        return
    length = labels.length
    wrong = (length > LONGEST_ACTIVITY) & (length <= 3)
    for index in range(len(labels.filled)):
        rows = labels.rows_of(index)
        if count := int(np.count_nonzero(wrong[rows])):
            row = rows.start + int(np.argmax(wrong[rows]))
            peak = float(length[rows][wrong[rows]].max())
            yield found(row, "x", f"the vector has length {length[row]:.2f}, and {plural(count, 'row')} of the file "
                        f"up to {peak:.2f}: an activity is near 1",
                        "the longest vector of real outputs has length 1.61")  # fmt: skip


@row_rule(
    "LAB109", ERROR, field="onset", needs="onset offset", message="the event lasts from {onset:g} s to {offset:g} s",
    hint="the start stands before the end, and not before 0",
)  # fmt: skip
def event_times(labels: Labels) -> Marked:
    """An event that ends before it begins, or begins before the recording.

    The official loader turns both times into frames and fills the slice between them. That slice is
    empty where the end stands before the start, and where the start is negative: the event is lost in
    silence.

    Example:
        cough,2.5,1.2,0,30,1

    Fix:
        start_time stands before end_time, both in seconds.

    Reference: seld-dcase2019, cls_feature_class.py: se_label[start_frame:end_frame + 1, …] = 1.
    """
    onset, offset = labels.column("onset"), labels.column("offset")
    return (onset < 0) | (offset < onset)


@rule("LAB201", WARNING, fix="safe", needs="frame")
def frame_order(labels: Labels, found: Found) -> Iterator[Finding]:
    """Frames that do not ascend.

    The official files are ordered by frame. The scorers do not mind; soundata splits an event in
    two where the order breaks, and people cannot read the file.

    Example:
        5,1,0,0,0
        1,1,0,0,0

    Fix:
        ``--fix`` sorts the rows by frame and keeps their order inside a frame.

    Reference: DCASE 2023 Task 3, the example sequence.
    """
    if not len(labels.unsorted):
        return
    rows, counts = labels.unsorted, np.zeros(len(labels.filled), dtype=int)
    owners = np.searchsorted(labels.starts, rows, side="right") - 1
    np.add.at(counts, owners, 1)
    for owner in np.unique(owners).tolist():
        row = int(rows[np.searchsorted(owners, owner)])
        yield found(row, "frame", f"frame {labels.text(row, 'frame')} stands behind frame "
                    f"{labels.text(row - 1, 'frame')}: the order breaks {plural(int(counts[owner]), 'time')}",
                    "sort the rows by frame")  # fmt: skip


@rule("LAB202", WARNING, fix="unsafe", needs="frame")
def duplicate_row(labels: Labels, found: Found) -> Iterator[Finding]:
    """The same row twice.

    A repeated row counts as a second source: in a reference it is one more event to find, in a
    submission one more false alarm. Real STARSS22 labels have 883 of them.

    Example:
        7,1,0,-50,30
        7,1,0,-50,30

    Fix:
        ``--unsafe-fixes`` keeps the first of them. Two sources at one place are possible, so look.

    Reference: measured on the STARSS22 development labels (fold3_room21_mix023 and two others).
    """
    first, second = labels.twins
    for field in (*POSITION, "onscreen", "score"):
        if field in labels.fields:
            values = labels.ordered(field)
            keep = (values[first] == values[second]) | (np.isnan(values[first]) & np.isnan(values[second]))
            first, second = first[keep], second[keep]
    for row, line in _repeated(labels, first, second):
        yield found(row, None, f"the same row as line {line}", "a repeated row counts as a second source")


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
    """One source of one class in two places in the same frame.

    A source number stands for one person or thing. Two positions of it in one frame mean that two
    sources got one number, or that one event was written twice.

    Example:
        7,1,2,0,0
        7,1,2,90,0

    Fix:
        Give the second source a number of its own.

    Reference: DCASE 2023 Task 3, "a unique integer for each source in the scene".
    """
    if labels.dialect and "source" in labels.dialect.fills:
        return
    first, second = labels.twins
    apart = np.zeros(len(first), dtype=bool)
    for field in POSITION:
        if field in labels.fields:
            apart |= labels.ordered(field)[first] != labels.ordered(field)[second]
    for row, line in _repeated(labels, first[apart], second[apart]):
        yield found(row, "azimuth", f"source {labels.text(row, 'source')} is somewhere else in line {line}, "
                    "in the same frame", "two sources need two numbers")  # fmt: skip


@rule("LAB204", WARNING, needs="frame")
def overlaps(labels: Labels, found: Found) -> Iterator[Finding]:
    """More than six events in one frame.

    Up to three at a time are common in the recordings, six are rare, and more do not occur. In a
    submission this is a threshold set too low: each row too many is a false alarm.

    Example:
        seven rows that begin with the same frame number

    Fix:
        Raise the detection threshold, or merge detections of one source.

    Reference: DCASE 2023 Task 3, "higher numbers of overlapping events (up to 6) can occur but are rare".
    """
    sizes = np.diff(labels.frame_starts)
    crowded = np.flatnonzero(sizes > MOST_OVERLAPS)
    rows = labels.rows(labels.frame_starts[crowded] + MOST_OVERLAPS)
    order = np.argsort(rows, kind="stable")
    rows, sizes = rows[order], sizes[crowded][order]
    for row in labels.firsts(rows):
        size = sizes[np.searchsorted(rows, row)]
        yield found(row, "frame", f"frame {labels.text(row, 'frame')} has {size} events",
                    "no recording has more than six at a time")  # fmt: skip


@rule("LAB205", WARNING, fix="unsafe")
def decimal_angle(labels: Labels, found: Found) -> Iterator[Finding]:
    """Decimals where whole numbers are asked for.

    Angles are whole degrees and distances whole centimetres, rounded to the closest. The official
    scorers read decimals too; loaders that call int() stop, or turn a whole table into floats.

    Example:
        7,1,0,-50.4,30

    Fix:
        ``--unsafe-fixes`` rounds to the closest whole number. Never cut the decimals off: that moves
        every source towards the front.

    Reference: DCASE 2023 Task 3, "[azimuth (int)], [elevation (int)]".
    """
    for field in ("azimuth", "elevation", "distance"):
        asked = labels.dialect is not None and labels.dialect.kind(field) == "whole"
        if not asked or field not in labels.fields or field in labels.reading.whole:
            continue
        values = labels.column(field)
        if field == "distance":
            values = np.round(values * (getattr(labels.dialect, "metre", None) or 1), 9)
        for row in labels.where(field, (values != np.rint(values)) & ~np.isnan(values)):
            tiny = _tiny(labels, row)
            hint = "round to the closest whole number, do not cut off"
            if tiny:
                hint = "all azimuths are within ±π: are these radians? Rounding would destroy them"
            one = found(row, field, f"{field} {labels.text(row, field)} has decimals", hint)
            yield dataclasses.replace(one, fixable=False) if tiny else one


def _tiny(labels: Labels, row: int) -> bool:
    """Whether the azimuths of a row's file have decimals and no value beyond π, so that rounding may lose them all."""
    if "azimuth" not in labels.fields:
        return False
    azimuth = labels.column("azimuth")[labels.rows_of(int(np.searchsorted(labels.starts, row, side="right")) - 1)]
    return bool(0.3 < np.abs(azimuth).max() <= 3.15 and np.mean(azimuth != np.rint(azimuth)) >= 0.8)
