"""Directions over time for labels that have none: how they are cut into pieces, and files of trajectories.

A track is what is known of where a sound is: rows of time (s), azimuth, elevation (degrees) and distance (m), by time.
Between two rows the direction goes along a great circle and the distance in a straight line; before the first row and
after the last one nothing is known, nor between rows without an azimuth (NaN). One row is a place that does not move.

``NAME.trajectory.csv`` next to the labels holds the track of the clip NAME::

    time,azimuth,elevation,distance
    0.0,-40,0,1.5
    2.0,-10,5,1.5

A column ``label`` says of which class a row is, in any spelling; without it, the labels without directions must not
overlap, as one place cannot be that of two sounds.
"""

from __future__ import annotations

import csv
import dataclasses
import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio import clock, geometry
from seldio.findings import Finding, Sink
from seldio.formats.base import TRAJECTORY, TextFile
from seldio.formats.cells import number_in
from seldio.reader_rules import READER_RULES
from seldio.schema.events import FARTHEST
from seldio.text import clipped, listed, plural
from seldio.vocabularies import spelling, vocabulary

if TYPE_CHECKING:
    from seldio.formats.label_tools import ToolLabel

#: Seconds (a day) that no recording lasts.
LONGEST = 86_400
#: Rows of time, azimuth, elevation and distance; NaN is unknown.
Track = np.ndarray[Any, np.dtype[np.float64]]
_FIELDS = ("azimuth", "elevation", "distance")
_RANGES = {"azimuth": (-180.0, 180.0), "elevation": (-90.0, 90.0), "distance": (0.0, FARTHEST)}
_LABELS = ("label", "class", "class_name", "sound")


# --- files ------------------------------------------------------------------------------------------------------------


def clip_of(name: str) -> str:
    """The clip that a trajectory file is about."""
    return posixpath.basename(name)[: -len(TRAJECTORY)]


def read_tracks(file: TextFile, sink: Sink) -> dict[str, Track]:
    """The tracks of a trajectory file by class, as it is spelled in comparisons, or by an empty name.

    None of a file in which something is wrong, which goes to *sink*.
    """
    wrong: list[Finding] = []
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        sink(READER_RULES["SYN101"].at(file.path, "the file is not UTF-8", line=1))
        return {}
    lines = text.splitlines()
    try:
        rows = list(csv.reader(lines))
    except csv.Error as error:
        sink(READER_RULES["SYN501"].at(file.path, f"the rows cannot be separated: {error}", line=1))
        return {}
    header = [name.strip().lower() for name in rows[0]] if rows else []
    if lacking := [name for name in ("time", "azimuth", "elevation") if name not in header]:
        message = f"no column {listed(lacking)}: a trajectory has time,azimuth,elevation[,distance][,label]"
        sink(READER_RULES["SYN113"].at(file.path, message, line=1, excerpt=lines[0] if lines else ""))
        return {}
    label = next((header.index(name) for name in _LABELS if name in header), None)
    points: dict[str, list[list[float]]] = {}

    def number(row: Sequence[str], name: str, line: int) -> float:
        at = header.index(name) if name in header else None
        cell = row[at] if at is not None and at < len(row) else ""
        if name == "distance" and not cell.strip():
            return float("nan")
        value = number_in(cell, name)
        low, high = _RANGES.get(name, (-np.inf, np.inf))
        if value is not None and low <= value <= high:
            return value
        why = f"outside [{low:g}, {high:g}]" if value is not None else "not a number"
        column = 1 + len(",".join(row[:at])) + (1 if at else 0)
        wrong.append(READER_RULES["SYN502"].at(
            file.path, f"{name} is {clipped(cell, 30) or 'empty'}, {why}", None, line, column, cell,
            lines[line - 1] if line <= len(lines) else None,
        ))  # fmt: skip
        return float("nan")

    for line, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            point = [number(row, name, line) for name in ("time", *_FIELDS)]
            name = spelling(row[label]) if label is not None and label < len(row) else ""
            points.setdefault(name, []).append(point)
    for finding in wrong:
        sink(finding)
    if wrong:
        return {}
    return {name: np.array(sorted(rows, key=lambda row: row[0])) for name, rows in points.items()}


def by_trajectory(
    labels: Sequence[ToolLabel], classes: str, clip: str, around: Iterable[TextFile], sink: Sink
) -> Sequence[ToolLabel]:
    """*labels* of a clip with directions from its trajectory file, where they have none.

    Args:
        labels: of the clip.
        classes: the name of their class list.
        clip: its name.
        around: files next to the labels, of which one may be about the clip.
        sink: takes what is wrong with it, and is told if it does not say which of several sounds it is about.
    """
    own = next((file for file in around if clip_of(file.name) == posixpath.basename(clip)), None)
    if own is None or all("azimuth" in label.values for label in labels):
        return labels
    tracks, known = read_tracks(own, sink), vocabulary(classes)

    def track_of(label: ToolLabel) -> Track | None:
        number = known.indices.get(spelling(label.name))
        names = (label.name, *(known.classes[number] if number is not None else ()))
        return next((tracks[name] for name in (*map(spelling, names), "") if name in tracks), None)

    if "" in tracks:
        meant = sorted(
            (label for label in labels if "azimuth" not in label.values and track_of(label) is tracks[""]),
            key=lambda label: label.onset,
        )
        latest = np.maximum.accumulate([label.offset for label in meant])
        together = [label for label, before in zip(meant[1:], latest, strict=False) if label.onset < before]
        if together:
            message = (
                f"{plural(len(together), 'label')} without a direction begin while another sounds, "
                f"first at {together[0].onset:g} s"
            )
            hint = "add a column label to the trajectory, or the directions to the labels"
            sink(READER_RULES["SYN501"].at(own.path, message, hint, 1))
            return labels
    return placed(labels, track_of)


# --- labels in pieces -------------------------------------------------------------------------------------------------


def placed(labels: Sequence[ToolLabel], track_of: Callable[[ToolLabel], Track | None]) -> list[ToolLabel]:
    """*labels* with the directions of their tracks: each in pieces that end where a label frame of 100 ms does.

    Pieces with one direction that follow each other are one. Several pieces of a label share a source, counted by
    onset among the labels of the class where it has none, so that they are one event as frames are. Labels with an
    azimuth, and those of which *track_of* knows nothing, stay as they are.
    """
    found = {
        number: _pieces(label, track)
        for number, label in enumerate(labels)
        if "azimuth" not in label.values and (track := track_of(label)) is not None and len(track)
    }
    taken: dict[str, set[float]] = {}
    for label in labels:
        if "source" in label.values:
            taken.setdefault(spelling(label.name), set()).add(label.values["source"])
    for number in sorted(found, key=lambda number: labels[number].onset):
        label, used = labels[number], taken.setdefault(spelling(labels[number].name), set())
        if len(found[number]) > 1 and "source" not in label.values:
            free = next(float(count) for count in range(len(used) + 1) if count not in used)
            used.add(free)
            for piece in found[number]:
                piece.values["source"] = free
    return [piece for number, label in enumerate(labels) for piece in found.get(number, [label])]


def _pieces(label: ToolLabel, track: Track) -> list[ToolLabel]:
    start, end = label.onset, label.offset
    spans = [(start, end, (start + end) / 2)]
    if 0 <= start <= end < LONGEST:
        spans = []
        for frame in clock.frames_between(start, end):
            begin = max(start, clock.onset(frame))
            spans.append((begin, max(begin, min(end, clock.offset(frame))), float(clock.centre(frame))))
    pieces: list[ToolLabel] = []
    last: object = ()
    for begin, stop, time in spans:
        where = place(track, time, float(clock.HOP))
        if pieces and where == last:
            pieces[-1].offset = stop
            continue
        given = {} if where is None else {name: value for name, value in zip(_FIELDS, where, strict=True)
                                          if value is not None}  # fmt: skip
        pieces.append(dataclasses.replace(
            label, onset=begin, offset=stop, values={**label.values, **given}, at=dict(label.at),
            extra=dict(label.extra),
        ))  # fmt: skip
        last = where
    return pieces


def united(labels: Iterable[ToolLabel]) -> list[ToolLabel]:
    """Labels that continue each other, of one source and with the same keys, as one: what :func:`placed` has cut."""
    found: list[ToolLabel] = []
    ends: dict[tuple[str, float], ToolLabel] = {}
    for label in labels:
        key = label.name, label.values.get("source", float("nan"))
        before = ends.get(key)
        if before is not None and before.offset == label.onset and before.extra == label.extra:
            before.offset = label.offset
            continue
        ends[key] = dataclasses.replace(label)
        found.append(ends[key])
    return found


def place(track: Track, time: float, hop: float) -> tuple[float, float, float | None] | None:
    """Azimuth and elevation (degrees) and distance (metres, None where unknown) at *time* (seconds); None outside.

    The centre of a frame that begins before the first row or ends after the last one is as near as it can be.
    """
    first, last = track[0, 0], track[-1, 0]
    if len(track) > 1 and not first - hop <= time <= last + hop:
        return None
    time = min(max(time, first), last)
    right = min(int(np.searchsorted(track[:, 0], time, side="right")), len(track) - 1)
    left = max(right - 1, 0)
    span = track[right, 0] - track[left, 0]
    share = (time - track[left, 0]) / span if span > 0 else 0.0
    if len(track) == 1 or track[left, 0] == time:
        share = 0.0
    if np.isnan(track[left, 1]) or (share and np.isnan(track[right, 1])):
        return None
    one, other = (np.array(geometry.to_cartesian(track[at, 1], track[at, 2])) for at in (left, right))
    angle = np.arccos(np.clip(one @ other, -1.0, 1.0))
    if share == 0.0 or angle < 1e-9:
        azimuth, elevation = track[left, 1], track[left, 2]
    elif share == 1.0:
        azimuth, elevation = track[right, 1], track[right, 2]
    elif np.pi - angle < 1e-6:  # opposite places: any way leads there
        return None
    else:
        vector = (np.sin((1 - share) * angle) * one + np.sin(share * angle) * other) / np.sin(angle)
        azimuth, elevation = np.round(geometry.to_polar(*vector), 6) + 0.0
    distance = (1 - share) * track[left, 3] + share * track[right, 3] if share else track[left, 3]
    return float(azimuth), float(elevation), None if np.isnan(distance) else round(float(distance), 6)
