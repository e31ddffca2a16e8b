"""The recordings and videos of a tree, each read once, and what data sets prescribe for recordings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio.clock import HOP
from seldio.engines import each
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.formats.trees import AUDIO, TYPES, Place, Tree
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, probed
from seldio.rules.layout import last_part
from seldio.rules.tree_gaps import spot
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

#: Channels by what a folder holds.
CHANNELS = {"foa": 4, "mic": 4, "stereo": 2}
#: libsndfile's names of what a file with this suffix may be.
CONTAINERS = {
    "wav": ("WAV", "WAVEX", "RF64"), "flac": ("FLAC",), "ogg": ("OGG",), "opus": ("OGG",),
    "mp3": ("MP3", "MPEG"), "aif": ("AIFF",), "aiff": ("AIFF",), "w64": ("W64",),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Heard:
    """A recording of a tree."""

    entry: Entry  # the file
    place: Place  # where it stands
    expected: bool  # whether its folder is one of a data set, which prescribes what is in it
    probe: Probe | None  # its header; None where it cannot be read
    fault: str | None  # why it cannot

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.entry.path

    @property
    def file(self) -> str:
        """Its file name, printable."""
        return printable(last_part(self.place))

    @property
    def header(self) -> Probe:
        """The header, of one that has a header."""
        assert self.probe is not None
        return self.probe

    @property
    def whole(self) -> bool:
        """Whether it has sound, and all that its header promises."""
        return self.probe is not None and self.probe.frames > 0 and not self.probe.cut_off


class TreeAudio:
    """What the rules for recordings look at: those that libsndfile can read, by their suffix."""

    def __init__(self, collection: Collection, tree: Tree) -> None:
        self.collection, self.tree = collection, tree
        entries = {entry.name: entry for entry in collection.entries if is_sound(entry.name)}
        if collection.kind != "file":  # in folders, empty ones are LAY113
            entries = {name: entry for name, entry in entries.items() if entry.size != 0}
        places = [place for place in tree.places if place.name in entries]
        those = [entries[place.name] for place in places]
        headers = each(probed, those, batch=64, what="reading headers", key=attrgetter("stamp"))
        self.all = [
            Heard(entry, place, place.inside and place.top is not None and place.field in AUDIO, *header)
            for entry, place, header in zip(those, places, headers, strict=True)
        ]

    @property
    def heard(self) -> Iterator[tuple[Heard, Probe]]:
        """Those with sound, with their headers."""
        for one in self.all:
            if one.probe is not None and one.probe.frames:
                yield one, one.probe

    @property
    def whole(self) -> Iterator[Heard]:
        """Those with all the sound that their headers promise."""
        return (one for one in self.all if one.whole)

    @cached_property
    def by_name(self) -> dict[str, Heard]:
        """All of them by their names in the source."""
        return {one.place.name: one for one in self.all}

    @cached_property
    def ends(self) -> dict[str, Heard]:
        """The longest recording of each label file, by the name of that; none where one is not whole."""
        found: dict[str, Heard] = {}
        for clip in self.tree.clips:
            names = (clip.foa, clip.mic, clip.stereo, clip.audio)
            those = [self.by_name[name] for name in names if name in self.by_name]
            if clip.metadata is not None and those and all(one.whole for one in those):
                found[clip.metadata] = max(those, key=lambda one: one.header.seconds)
        return found

    def folder(self, those: Iterable[Heard]) -> str:
        """The path of the folder that they have in common."""
        return spot(self.collection, [one.place for one in those])


def is_sound(name: str) -> bool:
    """Whether a file is a recording that libsndfile may read, by its suffix."""
    return name.rpartition(".")[2].lower() in CONTAINERS


assert set(CONTAINERS) < set(TYPES)


Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclasses.dataclass(frozen=True)
class Facts:
    """What the packets of a video tell."""

    size: tuple[int, int]  # width and height
    rate: Fraction  # pictures a second
    frames: int  # how many pictures
    promised: int  # how many the header counts; 0 if it does not
    start: float  # seconds at which the first picture is shown
    end: float  # seconds at which the last one ends
    stamped: bool  # whether the container says when each picture is shown
    off: float  # seconds by which the picture that is farthest from rate and number is shown later than they say
    worst: int  # the number of that picture
    fault: str  # why reading stopped, if it did
    hidden: int  # how many pictures an edit list hides
    #: seconds from which to which the sound inside of it lasts; None where there is none
    heard: tuple[float, float] | None
    bare: tuple[int, ...]  # label frames with labels and without a picture, ascending
    hop: Fraction  # seconds between label frames

    @property
    def whole(self) -> bool:
        """Whether all is there that the header promises."""
        return not self.fault and self.frames >= self.promised


@dataclasses.dataclass(frozen=True)
class Film:
    """A video of a tree."""

    entry: Entry  # the file
    place: Place  # where it stands
    facts: Facts | None  # what it is; None where it cannot be read
    fault: str  # why it cannot
    only_sound: bool  # whether that is because it has sound and no pictures
    sound: float | None  # seconds of the longest whole recording of the same clip; None if there is none

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.entry.path

    @property
    def file(self) -> str:
        """Its file name, printable."""
        return printable(last_part(self.place))


class TreeVideo:
    """What the rules for videos look at: all files that are videos, or in containers of videos, by their suffix."""

    def __init__(self, collection: Collection, tree: Tree) -> None:
        self.collection, self.tree = collection, tree
        self._entries = {entry.name: entry for entry in collection.entries}
        labelled = dict(_labelled(collection))
        clips = {clip.video: clip for clip in tree.clips if clip.video is not None}
        looks: list[_Look] = []
        others: list[tuple[Place, float | None]] = []
        for place in tree.places:
            entry = self._entries.get(place.name)
            if entry is None or not is_video(place.name) or (entry.size == 0 and collection.kind != "file"):
                continue  # an empty one in a folder is LAY113
            clip = clips.get(place.name)
            of_labels = clip is not None and clip.metadata is not None and self._entries[clip.metadata].path
            sound = self._sound((clip.foa, clip.mic, clip.stereo, clip.audio)) if clip is not None else None
            looks.append(_Look(entry, *labelled.get(of_labels or "", (np.zeros(0, np.int64), HOP))))
            others.append((place, sound))
        seen = each(_looked_at, looks, batch=8, what="reading the packets of videos", key=attrgetter("stamp"))
        self.all = [
            Film(look.entry, place, facts, fault, only_sound, sound)
            for look, (place, sound), (facts, fault, only_sound) in zip(looks, others, seen, strict=True)
        ]

    @property
    def seen(self) -> Iterator[tuple[Film, Facts]]:
        """Those that can be read."""
        for one in self.all:
            if one.facts is not None:
                yield one, one.facts

    @property
    def whole(self) -> Iterator[tuple[Film, Facts]]:
        """Those with all pictures that their headers promise."""
        return ((one, facts) for one, facts in self.seen if facts.whole)

    def _sound(self, names: Iterable[str | None]) -> float | None:
        probes = [probed(self._entries[name])[0] for name in names if name is not None and name in self._entries]
        return max((probe.seconds for probe in probes if probe is not None and not probe.cut_off), default=None)


def is_video(name: str) -> bool:
    """Whether a file is a video by its suffix, or a recording in a container of videos, such as ``.m4a``."""
    return TYPES.get(name.rpartition(".")[2].lower(), "metadata") != "metadata" and not is_sound(name)


def _labelled(collection: Collection) -> Iterator[tuple[str, tuple[Ints, Fraction]]]:
    """The label frames with labels of each file, and the seconds between them."""
    for reading in collection.readings:
        labels = Labels(reading)
        if labels.has("frame"):
            frames = labels.column("frame")
            for index, number in enumerate(labels.filled):
                rows = np.unique(frames[labels.rows_of(index)])
                yield labels.parts[number].file.path, (rows, labels.format.hop)


class _Look(NamedTuple):
    """A video, the label frames of its clip that have labels, and the seconds between label frames."""

    entry: Entry
    frames: Ints
    hop: Fraction

    def portable(self) -> _Look:
        """The same as it can go to another process."""
        return self._replace(entry=self.entry.portable())

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the video or its labels do."""
        return self.entry.stamp, self.frames.tobytes(), self.hop


def _looked_at(look: _Look) -> tuple[Facts | None, str, bool]:
    from seldio.media.video import SoundOnly, Video

    entry, frames, hop = look
    try:
        with entry.open() as stream, Video(stream) as video:
            bare = frames[video.numbers(frames.tolist(), hop=hop) < 0]
            scan, ahead = video.scan, video.scan.ahead
            far = np.abs(ahead)
            worst = int(np.argmax(far > far.max() - 1e-6))  # the first of equals
            return Facts(
                video.size, scan.rate, len(scan), scan.promised, float(scan.start), float(scan.end), scan.stamped,
                float(ahead[worst]), worst, scan.fault, scan.hidden, scan.sound, tuple(bare.tolist()), hop,
            ), "", False  # fmt: skip
    except SeldioError as error:
        return None, str(error), isinstance(error, SoundOnly)


class Decoded(NamedTuple):
    """What came out of the decoder."""

    pictures: int  # how many
    fault: str = ""  # why there are no more, if it says so
    black: tuple[tuple[float, float], ...] = ()  # seconds from which to which pictures are black
    frozen: tuple[tuple[float, float], ...] = ()  # the same of pictures that do not change


def decoded(entry: Entry) -> Decoded:
    """What the pictures of a video look like; decodes all of it."""
    from seldio.media.video import Video

    try:
        with entry.open() as stream, Video(stream) as video:
            found = video.survey()
            return Decoded(found.there, "", found.black, found.frozen)
    except SeldioError as error:
        return Decoded(0, str(error))
