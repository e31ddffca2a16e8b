"""Directions from a trajectory file next to the labels, for events that have none of their own.

``NAME.trajectory.csv`` belongs to the labels of the clip NAME::

    time,azimuth,elevation,distance
    0.0,-40,0,1.5
    2.0,-10,5,1.5

Between two points the direction goes along a great circle and the distance in a straight line; before the first point
and after the last one nothing is known. A single point is the place of a source that does not move. A column ``label``
says of which class a point is, in any spelling; without it, the labels without directions must not overlap, as one
place cannot be that of two sounds.
"""

from __future__ import annotations

import csv
import dataclasses
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.conversion.frames import are_events, class_keys, takes_events, with_column
from seldio.errors import InvalidData
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.formats.label_tools import number_in
from seldio.formats.recognise import TRAJECTORY
from seldio.reader_rules import READER_RULES
from seldio.rules.labels import FARTHEST
from seldio.schema.events import clip_codes
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import spelling, vocabulary

#: The key in a table's metadata under which stands how many of its rows are further pieces of events.
PIECES = b"pieces"
#: The same for events whose direction changes, of which the target holds one.
MOVING = b"moving"
_FIELDS = ("azimuth", "elevation", "distance")
_RANGES = {"azimuth": (-180.0, 180.0), "elevation": (-90.0, 90.0), "distance": (0.0, FARTHEST)}
_LABELS = ("label", "class", "class_name", "sound")


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """A trajectory file as it was found, to be read when its clip is."""

    path: str  # as shown
    data: bytes

    def tracks(self) -> dict[str, Any]:
        """The points by class as it is spelled in comparisons, or by an empty name: rows of time and :data:`_FIELDS`.

        Raises:
            InvalidData: it cannot be read.
        """
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidData(READER_RULES["SYN101"].at(self.path, "the file is not UTF-8", line=1)) from None
        lines = text.splitlines()
        rows = list(csv.reader(lines))
        header = [name.strip().lower() for name in rows[0]] if rows else []
        lacking = [name for name in ("time", "azimuth", "elevation") if name not in header]
        if lacking:
            message = f"no column {listed(lacking)}: a trajectory has time,azimuth,elevation[,distance][,label]"
            raise InvalidData(READER_RULES["SYN113"].at(self.path, message, line=1, excerpt=lines[0] if lines else ""))
        label = next((header.index(name) for name in _LABELS if name in header), None)
        points: dict[str, list[list[float]]] = {}
        for number, row in enumerate(rows[1:], 2):
            if not any(cell.strip() for cell in row):
                continue
            point = [self._number(row, header, name, number, lines) for name in ("time", *_FIELDS)]
            name = spelling(row[label]) if label is not None and label < len(row) else ""
            points.setdefault(name, []).append(point)
        return {name: np.array(sorted(rows, key=lambda row: row[0])) for name, rows in points.items()}

    def _number(self, row: Sequence[str], header: Sequence[str], name: str, line: int, lines: Sequence[str]) -> float:
        at = header.index(name) if name in header else None
        cell = row[at] if at is not None and at < len(row) else ""
        if name == "distance" and not cell.strip():
            return float("nan")
        value = number_in(cell, name)
        low, high = _RANGES.get(name, (-np.inf, np.inf))
        if value is not None and low <= value <= high:
            return value
        wrong = f"outside [{low:g}, {high:g}]" if value is not None else "not a number"
        column = 1 + len(",".join(row[:at])) + (1 if at else 0)
        raise InvalidData(READER_RULES["SYN502"].at(
            self.path, f"{name} is {clipped(cell, 30) or 'empty'}, {wrong}", None, line, column, cell,
            lines[line - 1] if line <= len(lines) else None,
        ))  # fmt: skip


Trajectories = Mapping[str, Trajectory]


def trajectories_of(source: Source) -> dict[str, Trajectory]:
    """The trajectory files of a folder or archive, or next to a file on disk, by the names of their clips."""
    found = {
        _clip(entry.name): Trajectory(entry.path, entry.read())
        for entry in source if entry.name.lower().endswith(TRAJECTORY)
    }  # fmt: skip
    local = source.entries[0].local if source.single and source.entries else None
    if local is not None:
        for path in sorted(Path(local).parent.glob(f"*{TRAJECTORY}")):
            found.setdefault(_clip(path.name), Trajectory(printable(str(path)), path.read_bytes()))
    return found


def _clip(name: str) -> str:
    return posixpath.basename(name)[: -len(TRAJECTORY)]


def directed(table: pa.Table, format: LabelFormat, target: LabelFormat, given: Trajectories) -> pa.Table:
    """*table* with directions from trajectory files for events that have none.

    For a target of frames, an event becomes a piece for each frame, all with its class and its source.

    Raises:
        InvalidData: a file cannot be read, or does not say which of several sounds it is about.
    """
    codes, names = clip_codes(table)
    mine = [number for number, name in enumerate(names) if name.rpartition("/")[2] in given]
    unknown = np.isin(codes, mine)
    if "azimuth" in table.column_names:
        unknown &= table["azimuth"].is_null().to_numpy()
    if not are_events(table) or not unknown.any():
        return table
    keys, classes = class_keys(table)
    spelled = [_spellings(number, name, format) for number, name in keys]
    onset, offset = (table[field].to_numpy() for field in ("onset", "offset"))
    rows: list[int] = []
    times: list[tuple[float, float, float]] = []  # onset, offset, and the time at which the direction is wanted
    tracks = {number: given[names[number].rpartition("/")[2]].tracks() for number in mine}
    values: list[Any] = []
    moving = 0
    for number in mine:
        if "" in tracks[number]:
            path = given[names[number].rpartition("/")[2]].path
            _check_alone(path, onset, offset, np.flatnonzero(unknown & (codes == number)))
    for row in range(table.num_rows):
        track = None
        if unknown[row]:
            own = tracks[codes[row]]
            track = next((own[name] for name in (*spelled[classes[row]], "") if name in own), None)
        start, end = float(onset[row]), float(offset[row])
        pieces = [(start, end, (start + end) / 2)]
        if track is not None and not takes_events(target) and 0 <= start <= end < 86_400:
            hop = target.hop
            pieces = []
            for frame in clock.frames_between(start, end, hop):
                begin = max(start, clock.onset(frame, hop))
                pieces.append((begin, max(begin, min(end, clock.offset(frame, hop))), float(clock.centre(frame, hop))))
        if track is not None and takes_events(target):
            moving += place(track, start, 0.0) != place(track, end, 0.0)
        rows += [row] * len(pieces)
        times += pieces
        values += [place(track, time, float(target.hop)) if track is not None else None for *_, time in pieces]
    counts = {PIECES: len(rows) - table.num_rows, MOVING: moving}
    pieced = table.take(pa.array(rows)).replace_schema_metadata(
        {**(table.schema.metadata or {}), **{key: str(count).encode() for key, count in counts.items()}}
    )
    for at, field in enumerate(("onset", "offset")):
        pieced = with_column(pieced, field, np.array([time[at] for time in times]))
    for at, field in enumerate(_FIELDS):
        old = pieced[field].to_pylist() if field in pieced.column_names else [None] * len(rows)
        new = [own if value is None else value[at] for own, value in zip(old, values, strict=True)]
        if any(value is not None for value in new):
            pieced = with_column(pieced, field, pa.array(new, pa.float64()))
    return pieced


def _spellings(number: int | None, name: str | None, format: LabelFormat) -> list[str]:
    known = vocabulary(format.vocabulary)
    names = known.classes[number] if number is not None and number < len(known) else ()
    return [spelling(one) for one in (*((name,) if name else ()), *names)]


def _check_alone(path: str, onset: Any, offset: Any, rows: Any) -> None:
    """See that no two events for which a trajectory without labels is meant sound together."""
    order = rows[np.argsort(onset[rows], kind="stable")]
    together = np.flatnonzero(onset[order[1:]] < np.maximum.accumulate(offset[order])[:-1])
    if len(together):
        time = float(onset[order[1:]][together[0]])
        message = (
            f"{plural(len(together), 'label')} without a direction begin while another sounds, first at {time:g} s"
        )
        hint = "add a column label to the trajectory, or the directions to the labels"
        raise InvalidData(READER_RULES["SYN501"].at(path, message, hint, 1))


def place(track: Any, time: float, hop: float) -> tuple[float, float, float | None] | None:
    """Azimuth and elevation (degrees) and distance (metres, None where unknown) at *time* (seconds); None outside.

    *track* has rows of time, azimuth, elevation and distance, by time. The centre of a frame that begins before the
    first point or ends after the last one is as near as it can be.
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
