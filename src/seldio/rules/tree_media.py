"""The recordings and videos of a tree, each read once, and what a data set prescribes for all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio.clock import HOP
from seldio.engines import each
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.findings import Finding, Rule, Severity
from seldio.formats.trees import AUDIO, TYPES, Tree, TreePlace
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Found, probed
from seldio.rules.layout import folders, wrong_alike
from seldio.rules.registry import register
from seldio.rules.tree_gaps import spot
from seldio.schema.clips import Clip
from seldio.text import listed, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe
    from seldio.media.surveys import PictureSurvey

Ints = np.ndarray[Any, np.dtype[np.int64]]

#: Channels by what a folder holds.
CHANNELS = {"foa": 4, "mic": 4, "stereo": 2}
#: libsndfile's names of what a file with this suffix may be.
CONTAINERS = {
    "wav": ("WAV", "WAVEX", "RF64"), "flac": ("FLAC",), "ogg": ("OGG",), "opus": ("OGG",),
    "mp3": ("MP3", "MPEG"), "aif": ("AIFF",), "aiff": ("AIFF",), "w64": ("W64",),
}  # fmt: skip
assert set(CONTAINERS) < set(TYPES)


def is_sound(name: str) -> bool:
    """Whether a file is a recording that libsndfile may read, by its suffix."""
    return name.rpartition(".")[2].lower() in CONTAINERS


def is_video(name: str) -> bool:
    """Whether a file is a video by its suffix, or a recording in a container of videos, such as ``.m4a``."""
    return TYPES.get(name.rpartition(".")[2].lower(), "metadata") != "metadata" and not is_sound(name)


@dataclasses.dataclass(frozen=True)
class TreeFile:
    """A recording or video of a tree."""

    entry: Entry
    place: TreePlace

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.entry.path

    @property
    def file(self) -> str:
        """Its file name, printable."""
        return printable(self.place.file)


class TreeMedia:
    """All recordings or videos of a tree; empty files in folders are left out, as that is LAY113."""

    def __init__(self, collection: Collection, tree: Tree, wanted: Callable[[str], bool]) -> None:
        self.collection, self.tree = collection, tree
        self.entries = {entry.name: entry for entry in collection.entries}
        whole = collection.kind == "file"
        self.places = [
            place for place in tree.places
            if wanted(place.name) and place.name in self.entries and (whole or self.entries[place.name].size != 0)
        ]  # fmt: skip


def _recordings(clip: Clip) -> list[str]:
    """The names of the recordings of a clip."""
    return list(clip.recordings.values())


# --- recordings ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class RecordingFile(TreeFile):
    """A recording of a tree."""

    expected: bool  # whether its folder is one of a data set, which prescribes what is in it
    probe: Probe | None  # its header; None where it cannot be read
    fault: str | None  # why it cannot

    @property
    def header(self) -> Probe:
        """The header, of one that has a header."""
        assert self.probe is not None
        return self.probe

    @property
    def whole(self) -> bool:
        """Whether it has sound, and all that its header promises."""
        return self.probe is not None and self.probe.frames > 0 and not self.probe.cut_off


class TreeAudio(TreeMedia):
    """What the rules for recordings look at: those that libsndfile can read, by their suffix."""

    noun = "recording"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, is_sound)
        entries = [self.entries[place.name] for place in self.places]
        headers = each(probed, entries, batch=64, what="reading headers", key=attrgetter("stamp"))
        self.all = [
            RecordingFile(entry, place, place.inside and place.top is not None and place.field in AUDIO, *header)
            for entry, place, header in zip(entries, self.places, headers, strict=True)
        ]
        self.readable = [one for one in self.all if one.probe is not None and one.probe.frames]
        self.by_name = {one.place.name: one for one in self.all}

    @cached_property
    def ends(self) -> dict[str, RecordingFile]:
        """The longest recording of each label file, by the name of that; none where one is not whole."""
        found: dict[str, RecordingFile] = {}
        for clip in self.tree.clips:
            those = [self.by_name[name] for name in _recordings(clip) if name in self.by_name]
            if clip.metadata is not None and those and all(one.whole for one in those):
                found[clip.metadata] = max(those, key=lambda one: one.header.seconds)
        return found


# --- videos -------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class VideoFacts:
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
    sound: tuple[float, float] | None  # seconds from and to which the sound inside of it lasts, if there is any
    bare: tuple[int, ...]  # label frames with labels and without a picture, ascending
    hop: Fraction  # seconds between label frames

    @property
    def whole(self) -> bool:
        """Whether all is there that the header promises."""
        return not self.fault and self.frames >= self.promised


@dataclasses.dataclass(frozen=True)
class VideoFile(TreeFile):
    """A video of a tree."""

    facts: VideoFacts | None  # None where it cannot be read
    fault: str  # why it cannot
    only_sound: bool  # whether that is because it has sound and no pictures
    sound: float | None  # seconds of the longest whole recording of the same clip, if there is any

    @property
    def is_recording(self) -> bool:
        """Whether it is a recording in a container that may hold videos, and not in a folder for these."""
        return self.only_sound and (self.place.top is None or self.place.top.field != "video")


class TreeVideo(TreeMedia):
    """What the rules for videos look at: all files that are videos, or in containers of videos, by their suffix."""

    noun = "video"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, is_video)
        labelled = dict(_labelled(collection)) if self.places else {}
        clips = {clip.video: clip for clip in tree.clips if clip.video is not None}
        tasks: list[_VideoTask] = []
        lengths: list[float | None] = []
        for place in self.places:
            clip = clips.get(place.name)
            labels = self.entries[clip.metadata].path if clip is not None and clip.metadata is not None else ""
            tasks.append(_VideoTask(self.entries[place.name], *labelled.get(labels, (np.zeros(0, np.int64), HOP))))
            lengths.append(self._seconds(clip) if clip is not None else None)
        with_facts = each(_facts, tasks, batch=8, what="reading the packets of videos", key=attrgetter("stamp"))
        rows = zip(tasks, self.places, with_facts, lengths, strict=True)
        self.all = [VideoFile(task.entry, place, *facts, length) for task, place, facts, length in rows]
        self.readable = [one for one in self.all if one.facts is not None]

    @property
    def with_facts(self) -> Iterator[tuple[VideoFile, VideoFacts]]:
        """Those that can be read."""
        return ((one, one.facts) for one in self.all if one.facts is not None)

    @property
    def whole(self) -> Iterator[tuple[VideoFile, VideoFacts]]:
        """Those with all pictures that their headers promise."""
        return ((one, facts) for one, facts in self.with_facts if facts.whole)

    def _seconds(self, clip: Clip) -> float | None:
        probes = [probed(self.entries[name])[0] for name in _recordings(clip) if name in self.entries]
        return max((probe.seconds for probe in probes if probe is not None and not probe.cut_off), default=None)


def _labelled(collection: Collection) -> Iterator[tuple[str, tuple[Ints, Fraction]]]:
    """The label frames with labels of each file, and the seconds between them."""
    for reading in collection.readings:
        labels = Labels(reading)
        if labels.has("frame"):
            frames = labels.column("frame")
            for index, number in enumerate(labels.filled):
                rows = np.unique(frames[labels.rows_of(index)])
                yield labels.parts[number].file.path, (rows, labels.format.hop)


class _VideoTask(NamedTuple):
    """A video, the label frames of its clip that have labels, and the seconds between label frames."""

    entry: Entry
    frames: Ints
    hop: Fraction

    def portable(self) -> _VideoTask:
        """The same as it can go to another process."""
        return self._replace(entry=self.entry.portable())

    @property
    def stamp(self) -> tuple[object, ...]:
        """What changes when the video or its labels do."""
        return self.entry.stamp, self.frames.tobytes(), self.hop


def _facts(task: _VideoTask) -> tuple[VideoFacts | None, str, bool]:
    from seldio.media.video import SoundOnly, Video

    entry, frames, hop = task
    try:
        with entry.open() as stream, Video(stream) as video:
            bare = frames[video.numbers(frames.tolist(), hop=hop) < 0]
            scan, ahead = video.scan, video.scan.ahead
            far = np.abs(ahead)
            worst = int(np.argmax(far > far.max() - 1e-6))  # the first of equals
            return VideoFacts(
                video.size, scan.rate, len(scan), scan.promised, float(scan.start), float(scan.end), scan.stamped,
                float(ahead[worst]), worst, scan.fault, scan.hidden, scan.sound, tuple(bare.tolist()), hop,
            ), "", False  # fmt: skip
    except SeldioError as error:
        return None, str(error), isinstance(error, SoundOnly)


class WatchedVideo(NamedTuple):
    """A video with its packets and its pictures, all of which were decoded."""

    video: VideoFile
    facts: VideoFacts
    pictures: PictureSurvey


def decoded(entry: Entry) -> PictureSurvey:
    """What the pictures of a video look like; decodes all of it."""
    from seldio.media.surveys import PictureSurvey
    from seldio.media.video import Video

    try:
        with entry.open() as stream, Video(stream) as video:
            return video.survey()
    except SeldioError as error:
        return PictureSurvey(0, fault=str(error))


# --- what is prescribed -------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Prescription:
    """A rule about what a data set prescribes for all its recordings or videos."""

    media: type[TreeAudio | TreeVideo]
    code: str
    name: str
    severity: Severity
    #: what is wrong with a file, in words behind "has"; None where nothing is, or nothing is prescribed
    wrong: Callable[[Any, Any], str | None]
    hint: str

    def __post_init__(self) -> None:
        register(Rule(self.code, self.name, self.severity, "none", self.findings, (self.media.__name__,)))

    def findings(self, media: TreeAudio | TreeVideo, found: Found) -> Iterator[Finding]:
        """A finding for each file; a single one for a folder that is wrong as a whole and in one way."""
        for inside in folders(media.readable):
            for value, some, all_of_many in wrong_alike(inside, lambda one: self.wrong(media, one)):
                if all_of_many:
                    names = listed([one.file for one in some], 3)
                    message = f"all {len(some):,} {media.noun}s of the folder have {value}: {names}"
                    yield found(spot(media.collection, [one.place for one in some]), message, self.hint)
                else:
                    yield from (found(one.path, f"{one.file} has {value}", self.hint) for one in some)
