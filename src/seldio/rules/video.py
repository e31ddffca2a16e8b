"""VID: the videos of a dataset tree or folder, judged by their packets.

:func:`check_videos` reads the packets of each video once, and decodes none. A recording without a video is LAY105, or
LAY115 for the twelve that never had one.
"""

from __future__ import annotations

from collections.abc import Iterator

from seldio.catalogues.trees import Tree
from seldio.clock import centre
from seldio.findings import Finding, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.rules.collection import Collection, Found
from seldio.rules.registry import ERROR, INFO, WARNING, rule, run
from seldio.rules.tree_media import Prescription
from seldio.rules.tree_video import TreeVideo, VideoFacts, VideoFile
from seldio.text import plural, printable

#: Largest difference in length between audio and video in STARSS23, in seconds.
USUAL = 0.30
#: Rates that differ by less are the same, written with fewer digits.
_SAME_RATE = 1e-5


@rule("VID101", ERROR)
def video_unreadable(one: VideoFile, found: Found) -> Iterator[Finding]:
    """Video that cannot be read, or has no video frames."""
    if one.facts is None and not one.is_recording:
        yield found(f"{one.file} cannot be read as video: {printable(one.fault or '')}", one.again)


@rule("VID102", ERROR)
def video_cut_off(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video with fewer frames than its header declares."""
    if not facts.whole:
        promised = f" of {facts.promised:,}" if facts.promised > facts.frames else ""
        why = f" ({printable(facts.fault)})" if facts.fault else ""
        message = f"{one.file} ends after {facts.frames:,}{promised} frames, at {facts.end:.3f} s{why}"
        yield found(message, one.again)


def _size(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted, (width, height) = row.picture if one.place.inside else None, facts.size
    if wanted is None or (width * wanted[1] == height * wanted[0] and facts.size <= wanted):
        return None
    return f"frames of {width}×{height}, not {wanted[0]}×{wanted[1]} or the same scaled down"


def _rate(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted = row.pictures if one.place.inside else None
    if wanted is None or abs(float(facts.rate / wanted) - 1) < _SAME_RATE:
        return None
    return f"a frame rate of {float(facts.rate):.6g} fps, not {float(wanted):.6g}"


Prescription(TreeVideo, "VID103", "video-size", WARNING, _size, "use the published video")
Prescription(TreeVideo, "VID104", "video-rate", WARNING, _rate, "use the published video, or select frames by time")


@rule("VID105", WARNING)
def video_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video that is more than 0.30 s shorter or longer than its recording."""
    if facts.whole and one.sound is not None and abs(facts.end - one.sound) > USUAL + 1e-6:
        longer = "longer" if facts.end > one.sound else "shorter"
        message = (
            f"{one.file} ends at {facts.end:.3f} s, its recording at {one.sound:.3f} s: the video is "
            f"{abs(facts.end - one.sound):.3f} s {longer}"
        )
        yield found(message, "use the published files")


@rule("VID106", WARNING)
def labels_without_picture(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Label frames more than 0.30 s before the first video frame or after the last one."""
    if facts.whole and _far(facts):
        yield found(_bare(one, facts), "use the published video, or leave those label frames out")


@rule("VID107", WARNING)
def video_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video frames shown at times that do not match the frame rate, by more than half a frame."""
    half = 0.5 / float(facts.rate)
    if facts.stamped and abs(facts.off) > half + 1e-3:
        shown = facts.worst / float(facts.rate) + facts.off
        late = facts.start > half and abs(facts.off - facts.start) <= half
        cause = f"it starts at {facts.start:.3f} s" if late else "frames are missing, or the rate is variable"
        message = (
            f"{one.file}: video frame {facts.worst:,} is shown at {shown:.3f} s, but at {shown - facts.off:.3f} s "
            f"according to its number and the frame rate ({cause})"
        )
        yield found(message, "select frames by timestamp, or re-encode the video at a constant rate")


@rule("VID110", INFO)
def sound_without_pictures(one: VideoFile, found: Found) -> Iterator[Finding]:
    """Recording in a video container, such as AAC in .mp4."""
    if one.is_recording:
        message = f"{one.file} is a recording that libsndfile cannot read: {printable(one.fault or '')}"
        yield found(message, "write it as WAV or FLAC, which programs can read and seldio can check")


def _far(facts: VideoFacts) -> bool:
    """Whether more label frames than usual have no video frame."""
    times = [float(centre(frame, facts.hop)) for frame in (*facts.bare[:1], *facts.bare[-1:])]
    return any(time < facts.start - USUAL or time >= facts.end + USUAL for time in times)


def _bare(one: VideoFile, facts: VideoFacts) -> str:
    frames = f"{facts.bare[0]:,}" if len(facts.bare) == 1 else f"{facts.bare[0]:,} … {facts.bare[-1]:,}"
    return (
        f"{plural(len(facts.bare), 'label frame')} without a video frame ({frames}): "
        f"{one.file} runs from {facts.start:.3f} to {facts.end:.3f} s"
    )


def check_videos(collection: Collection, tree: Tree, sink: Sink) -> int:
    """Check the videos of a tree or folder, or a single one; return how many there are."""
    video = TreeVideo(collection, tree)
    run(video, sink)
    return len(video.all)
