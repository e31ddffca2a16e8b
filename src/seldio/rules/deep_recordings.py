"""Which recordings belong to which labels, and these as numbers."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from seldio import clock, geometry
from seldio.files.sources import Lookup
from seldio.formats.trees import TYPES, Place, Tree
from seldio.media.arrays import Format
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Entry
from seldio.rules.deep_evidence import Said, said
from seldio.schema.clips import Clip

FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Of recordings, the usual one first.
_SUFFIXES = [suffix for suffix, kind in TYPES.items() if kind == "audio"]


@dataclasses.dataclass(frozen=True)
class Rows:
    """The label rows of a clip: label frames, directions (degrees, NaN where unknown), numbers of class and source.

    A frame may be *step* label frames of the file, see :meth:`coarse`; *place* is where the file stands in a tree.
    """

    path: str
    frame: Any
    azimuth: Any
    elevation: Any
    event: Any
    hop: Fraction
    step: int = 1
    place: Place | None = None

    def coarse(self) -> Rows:
        """The same in frames of 0.1 s, if they are finer: what is asked of the sound is asked of so many frames."""
        step = int(clock.HOP / self.hop)
        if step < 2:
            return self
        return dataclasses.replace(self, frame=self.frame // step, hop=self.hop * step, step=step)

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the labels do."""
        columns = (self.frame, self.azimuth, self.elevation, self.event)
        data = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
        return self.path, hashlib.sha256(data).hexdigest(), self.hop, self.step

    def said(self, count: int) -> Said:
        """What they say of the first *count* label frames."""
        return said(self.frame, self.azimuth, self.elevation, self.event, count)


class Recordings:
    """Finds the recordings of the clips of a tree."""

    def __init__(self, collection: Collection, tree: Tree, look: Lookup) -> None:
        self.tree, self._look = tree, look
        self._entries = {entry.name: entry for entry in collection.entries}
        self._places = {place.name: place for place in tree.places}
        self.rows = rows_of(collection)

    def pairs(self, clip: Clip) -> Iterator[Pair]:
        """The labels of a clip with each of its recordings."""
        assert clip.metadata is not None
        rows = dataclasses.replace(self.rows[clip.metadata], place=self._places.get(clip.metadata))
        for entry, format in self._recordings(clip) if len(rows.frame) else ():
            yield Pair(clip.clip, rows, entry, self._places.get(entry.name), format)

    def _recordings(self, clip: Clip) -> Iterator[tuple[Entry, Format | None]]:
        """The recordings of a clip with their formats; None where no folder tells it."""
        named: dict[Format | None, str | None] = {"foa": clip.foa, "mic": clip.mic, None: clip.audio}
        inside = {format: name for format, name in named.items() if name is not None}
        for format, name in inside.items():
            if name in self._entries:
                yield self._entries[name], format
        if not inside and clip.metadata is not None:
            yield from self._beside(self._places[clip.metadata])

    def _beside(self, labels: Place) -> Iterator[tuple[Entry, Format | None]]:
        """Recordings that are not in the source, but on disk where they belong."""
        below = "/".join((*labels.below, labels.stem))
        tops = {name: top for name, top in self.tree.row.tops.items() if top.set == labels.set or top.set is None}
        for format in FORMATS:
            folders = [name for name, top in tops.items() if top.field == format] or [format]
            paths = [f"{folder}/{path}" for folder in folders for path in dict.fromkeys((below, labels.stem))]
            if entry := self._find(paths, labels):
                yield entry, format
        folder = labels.name.rpartition("/")[0]
        if not tops and (entry := self._find([f"{folder}/{labels.stem}".lstrip("/")], labels)):
            yield entry, None

    def _find(self, paths: Iterable[str], labels: Place) -> Entry | None:
        """The first recording there is of *paths*, whatever type it has."""
        names = (f"{path}.{suffix}" for path in paths for suffix in _SUFFIXES)
        return next(filter(None, (self._look.find(name, labels.name) for name in names)), None)


def rows_of(collection: Collection) -> dict[str, Rows]:
    """The rows of each label file by its name; a system's results are left out."""
    found = {}
    for reading in collection.readings:
        labels = Labels(reading)
        polar = labels.has("frame", "azimuth", "elevation")
        if reading.format.role not in ("label", "table") or not (polar or labels.has("frame", "x", "y", "z")):
            continue
        columns = [labels.column(name) for name in (("azimuth", "elevation") if polar else ("x", "y", "z"))]
        azimuth, elevation = columns if polar else geometry.to_polar(*columns)
        event = np.zeros(len(labels), np.int64)
        for name in ("class_id", "source"):
            if labels.has(name):
                event = event * 100_000 + labels.column(name).astype(np.int64) % 100_000
        for index, number in enumerate(labels.filled):
            rows, file = labels.rows_of(index), reading.parts[number].file
            frame = labels.column("frame")[rows].astype(np.int64)
            where = [np.asarray(column[rows], np.float64) for column in (azimuth, elevation)]
            fine = Rows(file.path, frame, where[0], where[1], event[rows], reading.format.hop)
            found[file.name] = fine.coarse()
    return found


class Pair(NamedTuple):
    """The labels of a clip and a recording of it; the format is None where no folder tells it."""

    clip: str
    rows: Rows
    entry: Entry
    place: Place | None
    format: Format | None

    def portable(self) -> Pair:
        """The same as it can go to another process."""
        return self._replace(entry=self.entry.portable())

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the recording or the labels do."""
        return self.clip, self.entry.path, self.entry.stamp, self.place, self.format, self.rows.stamp
