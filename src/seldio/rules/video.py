"""VID: the videos of a dataset tree or folder, judged by their packets.

:func:`check_videos` reads the packets of each video once, and decodes video frames only on request. A recording
without a video is LAY105, or LAY115 for the twelve that never had one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from seldio.catalogues.trees import Tree
from seldio.clock import centre
from seldio.files.entries import packed
from seldio.findings import Finding, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.parallel import parallel_map
from seldio.rules.audio import check_sounds
from seldio.rules.collection import Collection, Found, by_folder
from seldio.rules.registry import ERROR, INFO, WARNING, rule, run
from seldio.rules.tree_media import MANY, Prescription, place_name
from seldio.rules.tree_video import TreeVideo, VideoFacts, VideoFile, WatchedVideo, decoded
from seldio.text import listed, plural, printable

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


@rule("VID116", INFO)
def last_labels_without_picture(video: TreeVideo, found: Found) -> Iterator[Finding]:
    """Label frames at the start or end without a video frame, within the usual 0.30 s."""
    usual = [(one, facts) for one, facts in video.readable if facts.whole and facts.bare and not _far(facts)]
    near = {one.path: facts for one, facts in usual}
    for inside in by_folder((one for one, _ in usual), place_name):
        if len(inside) >= MANY:
            frames = sum(len(near[one.path].bare) for one in inside)
            names = listed([one.file for one in inside], 3)
            message = f"{plural(len(inside), 'video')} without a frame for {plural(frames, 'label frame')}: {names}"
            yield found([one.place for one in inside], message, "repeat the nearest frame")
        else:
            yield from (found(one.path, _bare(one, near[one.path]), "repeat the nearest frame") for one in inside)


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


@rule("VID118", WARNING)
def rotated_video(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video that players turn by 90, 180 or 270 degrees."""
    if facts.rotation:
        shown = f"{facts.size[0]}×{facts.size[1]}"
        message = f"{one.file} is rotated by {facts.rotation}° counter-clockwise when it is shown, as {shown}"
        yield found(message, "remove the display matrix, or re-encode the video upright")


@rule("VID108", INFO)
def video_without_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video container without timestamps."""
    if not facts.stamped:
        times = f"times are computed at {float(facts.rate):.6g} fps"
        message = f"{one.file} has no presentation timestamps: {times}"
        yield found(message, "compare its length with that of the recording")


@rule("VID109", WARNING)
def sound_inside_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Embedded audio that begins or ends more than 0.30 s before or after the video frames."""
    start, end = facts.sound or (facts.start, facts.end)
    if facts.whole and max(abs(start - facts.start), abs(end - facts.end)) > USUAL + 1e-6:
        message = (
            f"{one.file} has video from {facts.start:.3f} to {facts.end:.3f} s, but its embedded audio "
            f"runs from {start:.3f} to {end:.3f} s"
        )
        yield found(message, "use the published file, or combine both again")


@rule("VID110", INFO)
def sound_without_pictures(one: VideoFile, found: Found) -> Iterator[Finding]:
    """Recording in a video container, such as AAC in .mp4."""
    if one.is_recording:
        message = f"{one.file} is a recording that libsndfile cannot read: {printable(one.fault or '')}"
        yield found(message, "write it as WAV or FLAC, which programs can read and seldio can check")


@rule("VID111", INFO)
def pictures_hidden(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video frames hidden by an edit list."""
    if facts.hidden:
        total = plural(facts.hidden + facts.frames, "frame")
        message = (
            f"{one.file}: {facts.hidden:,} of {total} are hidden by an edit list, {facts.frames:,} are shown "
            f"from {facts.start:.3f} to {facts.end:.3f} s"
        )
        yield found(message, "programs that ignore edit lists are late by that many frames")


@rule("VID201", ERROR)
def picture_damaged(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video frames that cannot be decoded."""
    one, facts, pictures = watched
    if (gone := facts.frames - pictures.there) > 0:
        why = f" ({printable(pictures.fault)})" if pictures.fault else ""
        message = f"{gone:,} of {plural(facts.frames, 'frame')} of {one.file} cannot be decoded{why}"
        yield found(message, one.again)


@rule("VID202", WARNING)
def pictures_black(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video that is black for two seconds or more."""
    if black := watched.pictures.black:
        yield found(f"{watched.video.file} is black {_spans(black)}", "use the published video")


@rule("VID203", WARNING)
def pictures_frozen(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video that is frozen for ten seconds or more."""
    if frozen := watched.pictures.frozen:
        yield found(f"{watched.video.file} is frozen {_spans(frozen)}", "use the published video")


def _spans(spans: Sequence[tuple[float, float]]) -> str:
    """Spans of time in seconds, the longest first; and the total, if there are several."""
    longest = sorted(spans, key=lambda span: span[0] - span[1])
    named = listed([f"from {start:.1f} to {end:.1f} s" for start, end in longest], 3)
    total = sum(end - start for start, end in spans)
    return named if len(spans) == 1 else f"{named} ({total:.1f} s in total)"


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


def check_videos(collection: Collection, tree: Tree, sink: Sink, *, deep: bool = False) -> int:
    """Check the videos of a tree or folder, or a single one; return how many there are.

    With *deep* all their frames are decoded as well, and the samples of recordings in video containers are read.
    """
    video = TreeVideo(collection, tree)
    run(video, sink)
    if deep:
        check_sounds([one for one in video.all if one.is_recording], sink)
        entries = [one.entry for one, _ in video.readable]
        surveys = parallel_map(decoded, entries, what="decoding videos", size=attrgetter("size"), here=packed(entries))
        for (one, facts), survey in zip(video.readable, surveys, strict=True):
            run(WatchedVideo(one, facts, survey), sink)
    return len(video.all)
