"""Events of one clip as they are drawn: their times, their directions, and the lines these make."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.catalogues.parts import resolved
from seldio.conversion.carry import with_directions
from seldio.conversion.frames import LONGEST, are_events, class_keys, frames_of, grouped
from seldio.conversion.inputs import read_single
from seldio.errors import DataError, UsageError
from seldio.schema.arrays import pc
from seldio.schema.events import clip_codes, origin_of
from seldio.text import clipped, listed, printable
from seldio.viewer.canvas import colour, drawable
from seldio.vocabularies import spelling, vocabulary

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Path = str | os.PathLike[str]

#: A source that moves by more degrees from one frame to the next is not joined by a line: it is another place.
JUMP = 45.0


@dataclasses.dataclass(frozen=True)
class PlottedLabels:
    """The labels of a source: event frames of one format, with directions wherever they are known or follow.

    *single* is whether the source is a single file, *faults* are errors in the rows, which are drawn all the same.
    """

    path: str
    table: pa.Table
    hop: Fraction
    vocabulary: str
    single: bool = False
    faults: tuple[str, ...] = ()

    @property
    def clips(self) -> list[str]:
        """The names of all clips, silent ones too, in alphabetic order."""
        return sorted({file.clip for file in origin_of(self.table).files})

    def file(self, clip: str) -> str:
        """The path of a clip's file below the source."""
        return next(file.name for file in origin_of(self.table).files if file.clip == clip)


@dataclasses.dataclass(frozen=True)
class EventTrack:
    """One event."""

    name: str  # of its class
    class_id: int | None  # index into the vocabulary, None where the class has only a name
    source: int | None  # number of the source, None where the labels have none
    frames: Ints  # label frames, ascending, without a gap
    azimuth: Floats  # of each frame, azimuth (°), +90 is left; nan where it is not known
    elevation: Floats  # likewise
    hop: Fraction  # seconds between frames

    @property
    def onset(self) -> float:
        """Seconds at which it begins."""
        return clock.onset(int(self.frames[0]), self.hop)

    @property
    def offset(self) -> float:
        """Seconds at which it ends."""
        return clock.offset(int(self.frames[-1]), self.hop)


def read_labels(path: Path, format: str | None = None) -> PlottedLabels:
    """The labels or predictions of a file, folder or archive, all of one format."""
    table, read_as, single, faults, _ = read_single(path, format)
    layout = resolved(read_as, table)
    table, hop = with_frames(table, layout.hop)
    last = pc.max(table["frame"]).as_py() if "frame" in table.column_names and table.num_rows else 0
    if last * hop > LONGEST:
        raise DataError(f"frames of up to {float(last * hop):,.1f} s: no recording is longer than {LONGEST:,} s")
    return PlottedLabels(
        os.fspath(path), table, hop, layout.vocabulary, single, tuple(map(str, faults.settle(force=True)))
    )


def choose_clip(labels: PlottedLabels, name: str | None) -> str:
    """The clip called *name*, or the only one there is."""
    clips = labels.clips
    found = [clip for clip in clips if name is None or clip == name] or [
        clip for clip in clips if name is not None and clip.rpartition("/")[2] == name
    ]
    if len(found) == 1:
        return found[0]
    where = printable(labels.path)
    if not clips:
        raise UsageError(f"{where} holds no clips")
    if name is None:
        raise UsageError(f"{where} holds {len(clips):,} clips ({listed(clips, 3)}): choose one with --clip")
    if found:
        raise UsageError(f"{clipped(name)} names {listed(found, 3)} in {where}: add its folder")
    raise UsageError(f"{where} has no clip {clipped(name)}; its clips are {listed(clips, 3)}")


def with_frames(table: pa.Table, hop: Fraction) -> tuple[pa.Table, Fraction]:
    """Event frames with directions wherever these follow, and the seconds between them; events become frames."""
    table = with_directions(table)
    return (frames_of(table, clock.HOP), clock.HOP) if are_events(table) else (table, hop)


class EventRows(NamedTuple):
    """The rows of an event, ascending, with the name and number of its class and the number of its source."""

    name: str
    class_id: int | None
    source: int | None
    rows: Ints


def events_of(table: pa.Table, hop: Fraction, class_list: str) -> Iterator[EventRows]:
    """The events in the event frames of a clip by onset; every row is in one of them."""
    if not table.num_rows or "frame" not in table.column_names:
        return
    (keys, codes), events, words = class_keys(table), grouped(table, hop), vocabulary(class_list)
    sources = table["source"].to_pylist() if "source" in table.column_names else None
    for number in range(len(events)):
        rows = events.trajectory(number)
        class_id, name = keys[int(codes[rows[0]])]
        shown = name or words.label(-1 if class_id is None else class_id)
        yield EventRows(shown, class_id, sources[rows[0]] if sources is not None else None, rows)


def tracks(labels: PlottedLabels, clip: str) -> list[EventTrack]:
    """The events of a clip by onset; every row is in one of them."""
    table = labels.table
    codes, names = clip_codes(table)
    table = table.filter(pa.array(codes == names.index(clip)) if clip in names else pa.repeat(False, len(codes)))
    if "frame" not in table.column_names:
        return []
    frame = table["frame"].to_numpy().astype(np.int64)
    azimuth, elevation = _degrees(table, "azimuth"), _degrees(table, "elevation")
    return [
        EventTrack(drawable(name), class_id, source, frame[rows], azimuth[rows], elevation[rows], labels.hop)
        for name, class_id, source, rows in events_of(table, labels.hop, labels.vocabulary)
    ]


def _degrees(table: pa.Table, field: str) -> Floats:
    """A column of degrees, azimuths brought into -180 … 180; nan where there is none."""
    if field not in table.column_names:
        return np.full(table.num_rows, np.nan)
    values = np.asarray(pc.fill_null(table[field].cast(pa.float64()), np.nan).to_numpy(), np.float64)
    return geometry.wrap(values) if field == "azimuth" else values


def classes(*sides: Sequence[EventTrack]) -> dict[str, str]:
    """The classes of all sides by their order in the vocabulary, each with its colour; a spelling counts once."""
    ids: dict[str, tuple[int, str]] = {}
    for track in (track for side in sides for track in side):
        number = 2**31 if track.class_id is None else track.class_id
        key = spelling(track.name)
        ids[key] = min(ids.get(key, (number, track.name)), (number, track.name))
    ordered = sorted(ids.values())
    beyond = max((number for number, _ in ordered if number < 2**31), default=-1) + 1
    return {name: colour(number if number < 2**31 else beyond + place) for place, (number, name) in enumerate(ordered)}


def row_name(track: EventTrack, rows: dict[str, str]) -> str:
    """The name under which *rows* has the class of *track*."""
    return track.name if track.name in rows else next(n for n in rows if spelling(n) == spelling(track.name))


# --- lines -------------------------------------------------------------------------------------------------


def line(track: EventTrack, round: bool = True) -> tuple[Floats, Floats, Floats]:
    """Seconds, azimuth and elevation along an event, fit to be drawn as lines.

    Each label frame has a point in its middle; the line begins at the onset and ends at the offset, so that an
    event of one frame is seen too. Where the azimuth passes ±180 the line is led to the one edge and goes on at
    the other, with nan between; where the source jumps by over :data:`JUMP` degrees there is a gap.

    Args:
        track: the event.
        round: whether ±180 breaks the line; not needed where azimuth is not an axis.
    """
    hop = float(track.hop)
    middles = (track.frames + 0.5) * hop
    time = np.concatenate(([track.onset], middles, [track.offset]))
    azimuth, elevation = (np.pad(part, 1, mode="edge") for part in (track.azimuth, track.elevation))
    jumps = np.nan_to_num(geometry.great_circle(azimuth[:-1], elevation[:-1], azimuth[1:], elevation[1:])) > JUMP
    wraps = ~jumps & round & (np.abs(np.diff(azimuth)) > 180.0)
    points = np.stack((time, azimuth, elevation))
    time, azimuth, elevation = _broken(points, np.flatnonzero(wraps), np.flatnonzero(jumps))
    return time, azimuth, elevation


def _broken(points: Floats, wraps: Ints, jumps: Ints) -> Floats:
    """*points* (time, azimuth and elevation in rows) with the edge or the gap put in behind the columns named."""
    before, after = points[:, wraps], points[:, wraps + 1]
    step = geometry.wrap(after[1] - before[1])
    edge = np.copysign(180.0, before[1])
    part = np.divide(edge - before[1], step, out=np.full_like(step, 0.5), where=step != 0)
    middle = before + np.clip(part, 0, 1) * (after - before)
    leave, enter = middle.copy(), middle.copy()
    leave[1], enter[1] = edge, -edge
    gap = np.full_like(middle, np.nan)
    inserted = np.stack((leave, gap, enter), axis=2).reshape(3, -1)
    places = np.concatenate((np.repeat(wraps + 1, 3), jumps + 1))
    inserted = np.concatenate((inserted, np.full((3, len(jumps)), np.nan)), axis=1)
    return np.insert(points, places, inserted, axis=1)


def pieces(x: Floats, y: Floats) -> list[Floats]:
    """The lines between the gaps (nan) of x and y, each of shape (points, 2), with two points at least."""
    points = np.stack((x, y), axis=1)
    known = ~np.isnan(points).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False]))))
    return [points[low:high].repeat(1 if high - low > 1 else 2, axis=0) for low, high in edges.reshape(-1, 2)]
