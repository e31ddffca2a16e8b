"""The videos of a tree, each with what its packets say."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio.catalogues.trees import Tree
from seldio.clock import HOP
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.parallel import parallel_map
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, probed
from seldio.rules.tree_media import TreeFile, TreeMedia, is_video

if TYPE_CHECKING:
    pass

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclasses.dataclass(frozen=True)
class VideoFacts:
    """The facts from the packets of a video."""

    size: tuple[int, int]  # width and height, as players show it
    rate: Fraction  # frame rate, fps
    frames: int  # number of video frames
    promised: int  # the number in the header; 0 if it has none
    start: float  # seconds at which the first frame is shown
    end: float  # seconds at which the last one ends
    stamped: bool  # whether the container has timestamps
    off: float  # seconds by which the frame that is farthest from its nominal time is shown later than that
    worst: int  # the number of that frame
    fault: str  # why reading stopped, if it did
    bare: tuple[int, ...]  # label frames with labels but without a video frame, ascending
    hop: Fraction  # seconds between label frames

    @property
    def whole(self) -> bool:
        """Whether all frames exist that the header declares."""
        return not self.fault and self.frames >= self.promised


@dataclasses.dataclass(frozen=True)
class VideoFile(TreeFile[VideoFacts]):
    """A video of a tree."""

    only_sound: bool = False  # whether it cannot be read because it has audio but no video frames
    sound: float | None = None  # seconds of the longest complete recording of the same clip, if there is any

    @property
    def is_recording(self) -> bool:
        """Whether it is a recording in a video container, outside the folders for videos."""
        return self.only_sound and (self.place.top is None or self.place.top.field != "video")


class TreeVideo(TreeMedia[VideoFile, VideoFacts]):
    """The videos that rules check: all files that are videos, or in video containers, by their suffix."""

    noun = "video"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, is_video)
        labelled: dict[str, tuple[Ints, Fraction]] = {}  # the label frames of each file and the seconds between them
        for labels in map(Labels, collection.readings if self.places else ()):
            for index, part in enumerate(labels.filled if labels.has("frame") else ()):
                frames = np.unique(labels.column("frame")[labels.rows_of(index)])
                labelled[part.file.path] = frames, labels.format.hop
        clips = {clip.video: clip for clip in tree.clips if clip.video is not None}
        tasks: list[_VideoTask] = []
        lengths: list[float | None] = []
        for place in self.places:
            clip = clips.get(place.name)
            path = self.entries[clip.metadata].path if clip is not None and clip.metadata is not None else ""
            tasks.append(_VideoTask(self.entries[place.name], *labelled.get(path, (np.zeros(0, np.int64), HOP))))
            names = clip.recordings.values() if clip is not None else ()
            probes = [probed(self.entries[name])[0] for name in names if name in self.entries]
            lengths.append(max((probe.seconds for probe in probes if probe and not probe.cut_off), default=None))
        here = packed(task.entry for task in tasks)
        facts = parallel_map(_facts, tasks, batch=8, what="reading the packets of videos", here=here)
        rows = zip(tasks, self.places, facts, lengths, strict=True)
        self.all = [
            VideoFile(task.entry, place, *found, length, dataset=tree.layout) for task, place, found, length in rows
        ]
        self.readable = [(one, one.facts) for one in self.all if one.facts is not None]


class _VideoTask(NamedTuple):
    """A video, the label frames of its clip that have labels, and the seconds between label frames."""

    entry: Entry
    frames: Ints
    hop: Fraction


def _facts(task: _VideoTask) -> tuple[VideoFacts | None, str, bool]:
    """The facts from packets, why they cannot be read, and whether that is because there is only audio."""
    from seldio.media.video import SoundOnly, Video

    entry, frames, hop = task
    try:
        with entry.open() as stream, Video(stream) as video:
            bare = frames[video.numbers(frames.tolist(), hop=hop) < 0]
            scan, ahead = video.scan, video.scan.ahead
            far = np.abs(ahead)
            worst = int(np.argmax(far > far.max() - 1e-6))  # the first of equals
            return VideoFacts(
                video.size, scan.rate, len(scan), scan.promised, float(scan.start), float(scan.end),
                scan.stamped,
                float(ahead[worst]), worst, scan.fault, tuple(bare.tolist()), hop,
            ), "", False  # fmt: skip
    except SeldioError as error:
        return None, error.text, isinstance(error, SoundOnly)
