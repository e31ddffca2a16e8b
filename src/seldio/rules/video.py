"""VID: the videos of a dataset tree or folder, judged by their packets.

:func:`check_videos` reads the packets of each video once, and decodes video frames only on request. A recording
without a video is LAY105, or LAY115 for the twelve that never had one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from seldio.clock import centre
from seldio.engines import each
from seldio.findings import Finding, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.formats.trees import Tree
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
    """Video that cannot be read, or has no video frames.

    Web pages and texts saved under the name of a video, incomplete downloads (an MP4 file often keeps its index
    at the end), or a file with only sound in a folder for videos (VID110 elsewhere). A text that refers to other
    files is never followed, whatever its suffix. (In a folder, files of 0 bytes are LAY113.)

    Example:
        video_dev/dev-train-tau/fold3_room4_mix001.mp4, which begins with <!DOCTYPE html>

    Fix:
        Download or unpack it again.

    Reference: FFmpeg follows lists of files (ffconcat, HLS) of any name; seldio does not let it.
    """
    if one.facts is None and not one.is_recording:
        yield found(f"{one.file} cannot be read as video: {printable(one.fault or '')}", "download it again")


@rule("VID102", ERROR)
def video_cut_off(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video with fewer frames than its header declares.

    Downloads get interrupted. Players and loaders silently show the part that exists, and all later label frames
    get no video frame, or the last one. Frames hidden by an edit list are not missing: that is VID111.

    Example:
        9,000 video frames in the index, and the file ends after 3,120

    Fix:
        Download or unpack it again.

    Reference: ISO/IEC 14496-12, sample tables; FFmpeg ends silently.
    """
    if not facts.whole:
        promised = f" of {facts.promised:,}" if facts.promised > facts.frames else ""
        why = f" ({printable(facts.fault)})" if facts.fault else ""
        message = f"{one.file} ends after {facts.frames:,}{promised} frames, at {facts.end:.3f} s{why}"
        yield found(message, "download it again")


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
    """Video that is more than 0.30 s shorter or longer than its recording.

    Audio and video of STARSS23 differ by up to 0.30 s, which is harmless. A larger difference means a different
    recording, a cut in one of the two, or a wrong frame rate, and video frames that do not match the sound.

    Example:
        fold3_room4_mix001.mp4 lasts 65.1 s, its recording 180.0 s

    Fix:
        Use the published files; compare the checksums on Zenodo.

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
    if facts.whole and one.sound is not None and abs(facts.end - one.sound) > USUAL + 1e-6:
        longer = "longer" if facts.end > one.sound else "shorter"
        message = (
            f"{one.file} ends at {facts.end:.3f} s, its recording at {one.sound:.3f} s: the video is "
            f"{abs(facts.end - one.sound):.3f} s {longer}"
        )
        yield found(message, "use the published files")


@rule("VID106", WARNING)
def labels_without_picture(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Label frames more than 0.30 s before the first video frame or after the last one.

    Loaders that fill a batch from labels and video fail there, repeat a frame, or, like the generator of 2024,
    continue with the frames of the next recording, and so on for all that follow.

    Example:
        labels up to frame 599 (60.0 s), and the video ends at 42.3 s

    Fix:
        Use the published video, or leave out the label frames that are not covered.

    Reference: DCASE2024_seld_baseline, cls_data_generator.py.
    """
    if facts.whole and _far(facts):
        yield found(_bare(one, facts), "use the published video, or leave those label frames out")


@rule("VID116", INFO)
def last_labels_without_picture(video: TreeVideo, found: Found) -> Iterator[Finding]:
    """Label frames at the start or end without a video frame, within the usual 0.30 s.

    Audio and video were cut separately. A loader that needs a video frame for every label frame still fails
    there, or pairs the rest with frames of the next recording.

    Example:
        labels up to frame 599 (60.0 s), and the video ends at 59.9 s

    Fix:
        Nothing is wrong; repeat the nearest frame: frames_at(label_frames, missing="hold").

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
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
    """Video frames shown at times that do not match the frame rate, by more than half a frame.

    The video starts late, has a variable frame rate, or frames are missing. Programs that count frames, as all
    baselines do, are off by that much; selecting frames by timestamp is correct.

    Example:
        video frame 4,500 is shown at 150.65 s, but at 150.15 s according to its number

    Fix:
        Select frames by timestamp: Video(...).frames_at(label_frames), or re-encode the video at a constant rate.

    Reference: no baseline reads timestamps.
    """
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
    """Video that players turn by 90, 180 or 270 degrees.

    A display matrix in the container says so. Players, ``seldio view`` and ``Video`` follow it; OpenCV and
    the baselines may not, so that left and right, or above and below, depend on the program. A panorama is
    never meant to be turned.

    Example:
        a video of 1920×960 with a display matrix of 90 degrees, which is shown as 960×1920

    Fix:
        Remove the matrix, as ``ffmpeg -display_rotation 0 -i IN.mp4 -c copy OUT.mp4`` does, or re-encode the
        video upright.

    Reference: ISO/IEC 14496-12, the matrix of the track header.
    """
    if facts.rotation:
        shown = f"{facts.size[0]}×{facts.size[1]}"
        message = f"{one.file} is rotated by {facts.rotation}° counter-clockwise when it is shown, as {shown}"
        yield found(message, "remove the display matrix, or re-encode the video upright")


@rule("VID108", INFO)
def video_without_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video container without timestamps.

    AVI files and raw H.264 streams hold frames in order and a frame rate, nothing else. If frames were lost while
    recording, everything after them is too early, and nothing reveals it.

    Example:
        fold3_room4_mix001.avi

    Fix:
        Nothing, if the lengths of video and recording agree.

    Reference: AVI has no presentation timestamps.
    """
    if not facts.stamped:
        times = f"times are computed at {float(facts.rate):.6g} fps"
        message = f"{one.file} has no presentation timestamps: {times}"
        yield found(message, "compare its length with that of the recording")


@rule("VID109", WARNING)
def sound_inside_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Embedded audio that begins or ends more than 0.30 s before or after the video frames.

    One of the two was cut, replaced by that of another recording, or runs at a different rate, so what is seen
    and heard together in a player does not belong together. Recordings in a separate file are VID105.

    Example:
        fold3_room4_mix001.mp4 has video up to 60.0 s, and audio up to 41.2 s

    Fix:
        Use the published file, or combine video and audio again from their sources.

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
    start, end = facts.sound or (facts.start, facts.end)
    if facts.whole and max(abs(start - facts.start), abs(end - facts.end)) > USUAL + 1e-6:
        message = (
            f"{one.file} has video from {facts.start:.3f} to {facts.end:.3f} s, but its embedded audio "
            f"runs from {start:.3f} to {end:.3f} s"
        )
        yield found(message, "use the published file, or combine both again")


@rule("VID110", INFO)
def sound_without_pictures(one: VideoFile, found: Found) -> Iterator[Finding]:
    """Recording in a video container, such as AAC in .mp4.

    It is not a broken video, but neither libsndfile nor the baselines can read it. A deep check looks at its
    samples, but does not compare labels with them. Lossy codecs also alter the differences between channels that
    carry direction.

    Example:
        fold3_room4_mix001.mp4 with four channels of AAC and no video frames

    Fix:
        Use the original recording, or write it as WAV or FLAC.

    Reference: libsndfile, which soundfile, torchaudio and librosa read audio with.
    """
    if one.is_recording:
        message = f"{one.file} is a recording that libsndfile cannot read: {printable(one.fault or '')}"
        yield found(message, "write it as WAV or FLAC, which programs can read and seldio can check")


@rule("VID111", INFO)
def pictures_hidden(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Video frames hidden by an edit list.

    ``ffmpeg -ss … -c copy`` leaves them at the beginning. The file is complete: players, FFmpeg and seldio start
    at the requested time. Programs that ignore edit lists also show or count the hidden frames, and everything is
    late by that number.

    Example:
        101 of 902 frames are before the start of the clip

    Fix:
        Nothing, if all your programs agree on the length; otherwise re-encode it.

    Reference: ISO/IEC 14496-12, 8.6.6, the edit list box.
    """
    if facts.hidden:
        total = plural(facts.hidden + facts.frames, "frame")
        message = (
            f"{one.file}: {facts.hidden:,} of {total} are hidden by an edit list, {facts.frames:,} are shown "
            f"from {facts.start:.3f} to {facts.end:.3f} s"
        )
        yield found(message, "programs that ignore edit lists are late by that many frames")


@rule("VID201", ERROR)
def picture_damaged(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video frames that cannot be decoded.

    The data was damaged. Decoders skip such frames, and programs that count frames are off by that number from
    there on. Checked only by a deep check, since it decodes everything.

    Example:
        12 of 9,000 video frames of fold3_room4_mix001.mp4

    Fix:
        Download or unpack it again.

    Reference: loaders based on OpenCV end such a video there, or repeat the previous frame.
    """
    one, facts, pictures = watched
    if (gone := facts.frames - pictures.there) > 0:
        why = f" ({printable(pictures.fault)})" if pictures.fault else ""
        message = f"{gone:,} of {plural(facts.frames, 'frame')} of {one.file} cannot be decoded{why}"
        yield found(message, "download it again")


@rule("VID202", WARNING)
def pictures_black(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video that is black for two seconds or more.

    The camera was off or covered, or an edit filled a gap. Labels and audio continue, and an audiovisual model
    learns nothing there. A frame is black if 98 % of its pixels are darker than an eighth of white. Checked only
    by a deep check.

    Example:
        fold3_room4_mix001.mp4 is black from 12.0 to 20.5 s

    Fix:
        Use the published video, or leave that part out where video is used.

    Reference: FFmpeg's blackdetect uses the same measure and the same two seconds.
    """
    if black := watched.pictures.black:
        yield found(f"{watched.video.file} is black {_spans(black)}", "use the published video")


@rule("VID203", WARNING)
def pictures_frozen(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Video that is frozen for ten seconds or more.

    The camera or an encoder hung, and the last frame was written again and again. In a real recording every frame
    has noise, and people move. Two frames are the same if no pixel differs by more than 6 of 255, which is the
    effect of re-encoding. Videos that often stand still for shorter times are not reported: such scenes are
    drawn. Checked only by a deep check.

    Example:
        fold3_room4_mix001.mp4 is frozen from 30.1 to 59.9 s

    Fix:
        Use the published video, or leave that part out where video is used.

    Reference: FFmpeg's freezedetect looks for the same.
    """
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
        surveys = each(decoded, entries, what="decoding videos", size=attrgetter("size"), key=attrgetter("stamp"))
        for (one, facts), survey in zip(video.readable, surveys, strict=True):
            run(WatchedVideo(one, facts, survey), sink)
    return len(video.all)
