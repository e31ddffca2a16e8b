"""VID: the videos of a dataset tree or folder, judged by their packets.

:func:`check_videos` reads the packets of each video once, and decodes none. A recording without a video is LAY103.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from seldio.catalogues.trees import Tree, TreePlace
from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.findings import Finding, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.parallel import parallel_map
from seldio.rules import INFO
from seldio.rules.audio import TreeFile, TreeMedia, is_video, prescribed
from seldio.rules.collection import Collection, MakeFinding, probed
from seldio.text import printable

#: Largest difference in length between audio and video in STARSS23, in seconds.
USUAL = 0.30
#: Rates that differ by less are the same, written with fewer digits.
_SAME_RATE = 1e-5


@dataclasses.dataclass(frozen=True)
class VideoFacts:
    """The facts from the packets of a video."""

    size: tuple[int, int]  # width and height, as players show it
    rate: Fraction  # frame rate, fps
    frames: int  # number of video frames
    promised: int  # the number in the header; 0 if it has none
    start: float  # seconds at which the first frame is shown
    end: float  # seconds at which the last one ends
    off: float  # seconds by which the frame that is farthest from its nominal time is shown later than that
    worst: int  # the number of that frame
    fault: str  # why reading stopped, if it did

    @property
    def whole(self) -> bool:
        """Whether all frames exist that the header declares."""
        return not self.fault and self.frames >= self.promised


#: The facts from the packets of a video, why they cannot be read, and whether that is because there is only audio.
PacketsRead = tuple[VideoFacts | None, str, bool]


class VideoFile(TreeFile[VideoFacts]):
    """A video of a tree."""

    def __init__(self, entry: Entry, place: TreePlace, read: PacketsRead, sound: float | None, dataset: str) -> None:
        facts, fault, only_sound = read
        super().__init__(entry, place, facts, fault, dataset=dataset)
        #: seconds of the longest complete recording of the same clip, if there is any
        self.sound = sound
        #: whether it has audio but no video frames, outside the folders for videos: a recording in a video container
        self.is_recording = only_sound and (place.top is None or place.top.field != "video")


class TreeVideo(TreeMedia[VideoFile, VideoFacts]):
    """The videos that rules check: all files that are videos, or in video containers, by their suffix."""

    noun = "video"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, is_video)
        clips = {clip.video: clip for clip in tree.clips if clip.video is not None}
        entries = [self.entries[place.name] for place in self.places]
        lengths: list[float | None] = []
        for place in self.places:
            clip = clips.get(place.name)
            names = clip.recordings.values() if clip is not None else ()
            probes = [probed(self.entries[name])[0] for name in names if name in self.entries]
            lengths.append(max((probe.seconds for probe in probes if probe and not probe.cut_off), default=None))
        what = "reading the packets of videos"
        facts = parallel_map(_facts, entries, batch=8, what=what, here=packed(entries))
        rows = zip(entries, self.places, facts, lengths, strict=True)
        self.all = [VideoFile(*row, tree.layout) for row in rows]
        self.readable = [(video, video.facts) for video in self.all if video.facts is not None]


def _facts(entry: Entry) -> PacketsRead:
    from seldio.media.video import SoundOnly, Video

    try:
        with entry.open() as stream, Video(stream) as video:
            # seconds by which each is shown later than rate and number say
            ahead = video.times * float(video.time_base) - np.arange(video.frames) / float(video.rate)
            far = np.abs(ahead)
            worst = int(np.argmax(far > far.max() - 1e-6))  # the first of equals
            times = float(video.start), float(video.end), float(ahead[worst]), worst
            facts = VideoFacts(video.size, video.rate, video.frames, video.promised, *times, video.fault)
            return facts, "", False
    except SeldioError as error:
        return None, error.text, isinstance(error, SoundOnly)


def video_unreadable(video: VideoFile, finding: MakeFinding) -> Iterator[Finding]:
    fault = printable(video.fault or "")
    if video.is_recording:
        message = f"{video.file} is a recording that libsndfile cannot read: {fault}"
        hint = "write it as WAV or FLAC, which programs can read and seldio can check"
        yield finding(message, hint, severity=INFO)
    elif (facts := video.facts) is None:
        yield finding(f"{video.file} cannot be read as video: {fault}", video.again)
    elif not facts.whole:
        promised = f" of {facts.promised:,}" if facts.promised > facts.frames else ""
        why = f" ({printable(facts.fault)})" if facts.fault else ""
        message = f"{video.file} ends after {facts.frames:,}{promised} frames, at {facts.end:.3f} s{why}"
        yield finding(message, video.again)


def video_size(media: TreeVideo, finding: MakeFinding) -> Iterator[Finding]:
    yield from _other_size(media, finding)
    yield from _other_rate(media, partial(finding, hint="use the published video, or select frames by time"))


@prescribed
def _other_size(row: DatasetSpec, video: VideoFile, facts: VideoFacts) -> str | None:
    wanted, (width, height) = row.picture if video.place.inside else None, facts.size
    if wanted is None or (width * wanted[1] == height * wanted[0] and facts.size <= wanted):
        return None
    return f"frames of {width}×{height}, not {wanted[0]}×{wanted[1]} or the same scaled down"


@prescribed
def _other_rate(row: DatasetSpec, video: VideoFile, facts: VideoFacts) -> str | None:
    wanted = row.pictures if video.place.inside else None
    if wanted is None or abs(float(facts.rate / wanted) - 1) < _SAME_RATE:
        return None
    return f"a frame rate of {float(facts.rate):.6g} fps, not {float(wanted):.6g}"


def video_length(video: VideoFile, facts: VideoFacts, finding: MakeFinding) -> Iterator[Finding]:
    if facts.whole and video.sound is not None and abs(facts.end - video.sound) > USUAL + 1e-6:
        longer = "longer" if facts.end > video.sound else "shorter"
        message = f"{video.file} ends at {facts.end:.3f} s, its recording at {video.sound:.3f} s: the video is "
        yield finding(f"{message}{abs(facts.end - video.sound):.3f} s {longer}")


def video_clock(video: VideoFile, facts: VideoFacts, finding: MakeFinding) -> Iterator[Finding]:
    half = 0.5 / float(facts.rate)
    if abs(facts.off) > half + 1e-3:
        shown = facts.worst / float(facts.rate) + facts.off
        late = facts.start > half and abs(facts.off - facts.start) <= half
        cause = f"it starts at {facts.start:.3f} s" if late else "frames are missing, or the rate is variable"
        message = f"{video.file}: video frame {facts.worst:,} is shown at {shown:.3f} s, but at "
        yield finding(f"{message}{shown - facts.off:.3f} s according to its number and the frame rate ({cause})")


TREE_RULES = (video_size,)
FILE_RULES = (video_unreadable,)
PACKET_RULES = (video_length, video_clock)


def check_videos(collection: Collection, tree: Tree, sink: Sink) -> int:
    """Check the videos of a tree or folder, or a single one; return how many there are."""
    return TreeVideo(collection, tree).check(TREE_RULES, FILE_RULES, PACKET_RULES, sink)
