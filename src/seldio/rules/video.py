"""VID: the videos of a dataset tree or folder, judged by their packets.

:func:`check_videos` reads the packets of each video once, and decodes none. A recording without a video is LAY105.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from seldio.catalogues.trees import Tree
from seldio.clock import centre
from seldio.findings import Finding, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.rules.collection import Collection, Found
from seldio.rules.registry import findings
from seldio.rules.tree_media import prescribed
from seldio.rules.tree_video import TreeVideo, VideoFacts, VideoFile
from seldio.text import plural, printable

#: Largest difference in length between audio and video in STARSS23, in seconds.
USUAL = 0.30
#: Rates that differ by less are the same, written with fewer digits.
_SAME_RATE = 1e-5


def video_unreadable(one: VideoFile, found: Found) -> Iterator[Finding]:
    if one.facts is None and not one.is_recording:
        yield found(f"{one.file} cannot be read as video: {printable(one.fault or '')}", one.again)


def video_cut_off(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    if not facts.whole:
        promised = f" of {facts.promised:,}" if facts.promised > facts.frames else ""
        why = f" ({printable(facts.fault)})" if facts.fault else ""
        message = f"{one.file} ends after {facts.frames:,}{promised} frames, at {facts.end:.3f} s{why}"
        yield found(message, one.again)


def video_size(video: TreeVideo, found: Found) -> Iterator[Finding]:
    return prescribed(video, found, _size)


def _size(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted, (width, height) = row.picture if one.place.inside else None, facts.size
    if wanted is None or (width * wanted[1] == height * wanted[0] and facts.size <= wanted):
        return None
    return f"frames of {width}×{height}, not {wanted[0]}×{wanted[1]} or the same scaled down"


def video_rate(video: TreeVideo, found: Found) -> Iterator[Finding]:
    return prescribed(video, found, _rate)


def _rate(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted = row.pictures if one.place.inside else None
    if wanted is None or abs(float(facts.rate / wanted) - 1) < _SAME_RATE:
        return None
    return f"a frame rate of {float(facts.rate):.6g} fps, not {float(wanted):.6g}"


def video_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    if facts.whole and one.sound is not None and abs(facts.end - one.sound) > USUAL + 1e-6:
        longer = "longer" if facts.end > one.sound else "shorter"
        message = f"{one.file} ends at {facts.end:.3f} s, its recording at {one.sound:.3f} s: the video is "
        yield found(f"{message}{abs(facts.end - one.sound):.3f} s {longer}")


def labels_without_picture(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    if facts.whole and _far(facts):
        frames = f"{facts.bare[0]:,}" if len(facts.bare) == 1 else f"{facts.bare[0]:,} … {facts.bare[-1]:,}"
        message = f"{plural(len(facts.bare), 'label frame')} without a video frame ({frames}): "
        yield found(f"{message}{one.file} runs from {facts.start:.3f} to {facts.end:.3f} s")


def video_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    half = 0.5 / float(facts.rate)
    if facts.stamped and abs(facts.off) > half + 1e-3:
        shown = facts.worst / float(facts.rate) + facts.off
        late = facts.start > half and abs(facts.off - facts.start) <= half
        cause = f"it starts at {facts.start:.3f} s" if late else "frames are missing, or the rate is variable"
        message = f"{one.file}: video frame {facts.worst:,} is shown at {shown:.3f} s, but at "
        yield found(f"{message}{shown - facts.off:.3f} s according to its number and the frame rate ({cause})")


def sound_without_pictures(one: VideoFile, found: Found) -> Iterator[Finding]:
    if one.is_recording:
        yield found(f"{one.file} is a recording that libsndfile cannot read: {printable(one.fault or '')}")


def _far(facts: VideoFacts) -> bool:
    """Whether more label frames than usual have no video frame."""
    times = [float(centre(frame, facts.hop)) for frame in (*facts.bare[:1], *facts.bare[-1:])]
    return any(time < facts.start - USUAL or time >= facts.end + USUAL for time in times)


TREE_RULES = (video_size, video_rate)
FILE_RULES = (video_unreadable, sound_without_pictures)
PACKET_RULES = (video_cut_off, video_length, labels_without_picture, video_clock)


def check_videos(collection: Collection, tree: Tree, sink: Sink) -> int:
    """Check the videos of a tree or folder, or a single one; return how many there are."""
    video = TreeVideo(collection, tree)
    judged = [findings(TREE_RULES, video), *(findings(FILE_RULES, file) for file in video.all)]
    judged += [findings(PACKET_RULES, file, facts) for file, facts in video.readable]
    for finding in chain.from_iterable(judged):
        sink(finding)
    return len(video.all)
