"""Clips with labels and recordings, each listened to once: does the sound come from where the labels say?"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio import angles
from seldio.engines import each
from seldio.errors import SeldioError
from seldio.files.lookup import Lookup
from seldio.formats.trees import Place, Tree
from seldio.media.arrays import Format
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Entry
from seldio.rules.deep_causes import PLACES, Verdict, judge
from seldio.rules.deep_evidence import Pieces, Said, joined, pieces, said
from seldio.rules.deep_timing import FURTHEST, Heard, Other, Shift, fitting, heard, other, shift
from seldio.schema.clips import Clip
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.media.intensity import SoundField

#: Lowest and highest rate that is listened to: the bands end at 3.3 kHz.
_RATES = (8_000, 192_000)
#: From so many clips on, what they share is a finding of its own.
MANY = 4
FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Share of label frames that fit from which labels are beyond doubt.
_SURE = 0.7


@dataclasses.dataclass(frozen=True)
class Rows:
    """The label rows of a clip: label frames, directions (degrees, NaN where unknown), numbers of class and source."""

    path: str
    frame: Any
    azimuth: Any
    elevation: Any
    event: Any
    hop: Fraction

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the labels do."""
        columns = (self.frame, self.azimuth, self.elevation, self.event)
        data = b"".join(np.ascontiguousarray(column).tobytes() for column in columns)
        return self.path, hashlib.sha256(data).hexdigest(), self.hop

    def said(self, count: int) -> Said:
        """What they say of the first *count* label frames."""
        return said(self.frame, self.azimuth, self.elevation, self.event, count)


@dataclasses.dataclass(frozen=True)
class Fit:
    """A recording held against the labels of its clip.

    Args:
        clip: its name.
        labels: the path of its labels.
        recording: the path of the recording.
        place: where that stands in the tree.
        hop: seconds of a label frame.
        format: of the recording, as its folder says.
        taken: the other format, where the channels look like that; None where they look as they should.
        turned: channels whose sign is the wrong one (from 0), where that can be told without labels.
        said: what the labels say.
        heard: what is heard.
        pieces: both together, by the channel that is taken for W.
        verdict: why directions differ.
    """

    clip: str
    labels: str
    recording: str
    place: Place | None
    hop: Fraction
    format: Format
    taken: Format | None
    turned: tuple[int, ...]
    said: Said
    heard: Heard
    pieces: Mapping[int, Pieces]
    verdict: Verdict | None

    @property
    def kind(self) -> str:
        """That of its cause; empty without one."""
        return self.verdict.cause.kind if self.verdict is not None else ""

    @property
    def file(self) -> str:
        """The file name of the recording, printable."""
        return printable(self.recording.replace("\\", "/").rpartition("/")[2])

    @property
    def sound(self) -> bool:
        """Whether the four channels are what they should be, as far as that is heard without labels."""
        return self.taken is None and not self.turned

    @property
    def telling(self) -> bool:
        """Whether it has enough places to tell anything."""
        return self.sound and self.pieces[0].places >= PLACES

    @cached_property
    def fits(self) -> bool:
        """Whether labels and sound agree beyond doubt."""
        return self.telling and fitting(self.said, self.heard) >= _SURE


def timing(fit: Fit, every: Mapping[str, Said]) -> Shift | Other | None:
    """The shift, or the clip of *every* (by the path of its labels), that explains a recording best."""
    if not fit.sound or fit.verdict is not None:
        return None
    explained = (shift(fit.said, fit.heard), other(fit.labels, {**every, fit.labels: fit.said}, fit.heard))
    return max((one for one in explained if one is not None), key=lambda one: one.likelihood, default=None)


class Fits:
    """The clips of a tree that have both labels and a recording with four channels."""

    def __init__(self, collection: Collection, tree: Tree, look: Lookup) -> None:
        self.collection, self.tree, self._look = collection, tree, look
        self._entries = {entry.name: entry for entry in collection.entries}
        self._places = {place.name: place for place in tree.places}
        self.rows = _rows(collection)
        pairs = [pair for clip in tree.clips if clip.metadata in self.rows for pair in self._pairs(clip)]
        fits = each(_fit, pairs, what="holding labels against the sound", size=_size, key=attrgetter("stamp"))
        self.all = [fit for fit in fits if fit is not None]

    @cached_property
    def together(self) -> dict[Format, tuple[list[Fit], Verdict]]:
        """What all recordings of a format share, by the format, where the places of all of them speak for it."""
        found: dict[Format, tuple[list[Fit], Verdict]] = {}
        for format in FORMATS:
            those = [fit for fit in self.all if fit.format == format and fit.sound and len(fit.pieces[0])]
            if len(those) >= MANY:
                pooled = {reference: joined([fit.pieces[reference] for fit in those]) for reference in those[0].pieces}
                verdict = judge(pooled, format)
                if verdict is not None:
                    found[format] = those, verdict
        return found

    @cached_property
    def timings(self) -> list[tuple[Fit, Shift | Other]]:
        """The recordings whose labels fit at another time, or are those of another clip."""
        every = {fit.labels: fit.said for fit in self.all}
        found = ((fit, timing(fit, every)) for fit in self.all)
        return [(fit, one) for fit, one in found if one is not None]

    def _pairs(self, clip: Clip) -> Iterator[_Pair]:
        assert clip.metadata is not None
        rows = self.rows[clip.metadata]
        for entry, format in self._recordings(clip) if len(rows.frame) else ():
            yield _Pair(clip.clip, rows, entry, self._places.get(entry.name), format)

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
            found = (self._look.find(f"{folder}/{path}.wav", labels.name) for folder in folders
                     for path in dict.fromkeys((below, labels.stem)))  # fmt: skip
            if entry := next(filter(None, found), None):
                yield entry, format
        folder = labels.name.rpartition("/")[0]
        if not tops and (entry := self._look.find(f"{folder}/{labels.stem}.wav".lstrip("/"), labels.name)):
            yield entry, None


def _rows(collection: Collection) -> dict[str, Rows]:
    """The rows of each label file by its name; a system's results are left out."""
    found = {}
    for reading in collection.readings:
        labels = Labels(reading)
        polar = labels.has("frame", "azimuth", "elevation")
        if reading.format.role not in ("label", "table") or not (polar or labels.has("frame", "x", "y", "z")):
            continue
        columns = [labels.column(name) for name in (("azimuth", "elevation") if polar else ("x", "y", "z"))]
        azimuth, elevation = columns if polar else angles.to_polar(*columns)
        event = np.zeros(len(labels), np.int64)
        for name in ("class_id", "source"):
            if labels.has(name):
                event = event * 100_000 + labels.column(name).astype(np.int64) % 100_000
        for index, number in enumerate(labels.filled):
            rows, file = labels.rows_of(index), reading.parts[number].file
            frame = labels.column("frame")[rows].astype(np.int64)
            where = [np.asarray(column[rows], np.float64) for column in (azimuth, elevation)]
            found[file.name] = Rows(file.path, frame, where[0], where[1], event[rows], reading.format.hop)
    return found


class _Pair(NamedTuple):
    """The labels of a clip and a recording of it; the format is None where no folder tells it."""

    clip: str
    rows: Rows
    entry: Entry
    place: Place | None
    format: Format | None

    def portable(self) -> _Pair:
        """The same as it can go to another process."""
        return self._replace(entry=self.entry.portable())

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the recording or the labels do."""
        return self.clip, self.entry.path, self.entry.stamp, self.place, self.format, self.rows.stamp


def _size(pair: _Pair) -> int:
    return max(0, pair.entry.size)


def _fit(pair: _Pair) -> Fit | None:
    """A recording held against labels; None where it cannot be listened to, which other rules tell."""
    from seldio.media.intensity import array_of, inverted, listen
    from seldio.media.windows import Recording

    clip, rows, entry, place, format = pair
    try:
        with Recording(entry) as recording:
            if recording.channels != 4 or not _RATES[0] <= recording.rate <= _RATES[1] or not len(recording):
                return None
            field = listen(recording, format or "foa", rows.hop)
            looks = array_of(field.raw)
            if format is None and looks is None:
                return None
            if format is None and looks == "mic":
                field = listen(recording, "mic", rows.hop)
    except SeldioError:
        return None
    told: Format = format or looks or "foa"
    taken = looks if looks != told else None
    return judged(clip, rows, entry.path, place, told, taken, inverted(field.raw) if told == "mic" else (), field)


def judged(
    clip: str, rows: Rows, recording: str, place: Place | None, format: Format, taken: Format | None,
    turned: tuple[int, ...], field: SoundField,
) -> Fit:  # fmt: skip
    """What :class:`Fit` tells, from the sound field of a recording."""
    labels = rows.said(len(field) + FURTHEST)
    directions = {reference: field.directions(reference) for reference in (range(4) if format == "foa" else (0,))}
    those = pieces(labels, directions)
    verdict = judge(those, format) if taken is None and not turned else None
    sound = heard(directions[0], field.activity())
    return Fit(clip, rows.path, recording, place, rows.hop, format, taken, turned, labels, sound, those, verdict)
