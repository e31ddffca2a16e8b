"""VID: the videos of a data set tree or folder, as far as their packets tell.

:func:`check_videos` goes through the packets of each video once, and decodes pictures only where the user wants to
wait for it. A recording without any video is LAY105, and LAY115 for the twelve that never had one.
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
from seldio.rules.tree_media import (
    MANY,
    Prescription,
    TreeVideo,
    VideoFacts,
    VideoFile,
    WatchedVideo,
    decoded,
    place_name,
)
from seldio.text import listed, plural, printable

#: Seconds by which sound and pictures of STARSS23 differ in length, at most.
USUAL = 0.30
#: Rates that differ by less are the same, written with fewer digits.
_SAME_RATE = 1e-5


@rule("VID101", ERROR)
def video_unreadable(one: VideoFile, found: Found) -> Iterator[Finding]:
    """A video that cannot be read, or has no pictures.

    Web pages and texts saved under the name of a video, downloads without their end (an MP4 file often keeps its
    index there), sound without pictures in a folder for videos (VID110 elsewhere). A text that names other files
    is never followed, whatever its suffix. (In a folder, files of 0 bytes are LAY113.)

    Example:
        video_dev/dev-train-tau/fold3_room4_mix001.mp4, which begins with <!DOCTYPE html>

    Fix:
        Download or unpack it again.

    Reference: FFmpeg follows lists of files (ffconcat, HLS) of any name; seldio does not let it.
    """
    if one.facts is None and not one.is_recording:
        yield found(f"{one.file} cannot be read as video: {printable(one.fault or '')}", "fetch it again")


@rule("VID102", ERROR)
def video_cut_off(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """A video with fewer pictures than its header counts.

    Downloads break off. Players and loaders show what is there, without a word, and all later label frames
    get no picture, or the last one. Pictures that an edit list hides are not missing: that is VID111.

    Example:
        9,000 pictures in the index, and the file ends after 3,120

    Fix:
        Download or unpack it again.

    Reference: ISO/IEC 14496-12, sample tables; FFmpeg ends in silence.
    """
    if not facts.whole:
        promised = f" of {facts.promised:,}" if facts.promised > facts.frames else ""
        why = f" ({printable(facts.fault)})" if facts.fault else ""
        message = f"{one.file} breaks off after {facts.frames:,}{promised} pictures, at {facts.end:.3f} s{why}"
        yield found(message, "fetch it again")


def _size(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted, (width, height) = row.picture if one.place.inside else None, facts.size
    if wanted is None or (width * wanted[1] == height * wanted[0] and facts.size <= wanted):
        return None
    return f"pictures of {width}×{height}, not {wanted[0]}×{wanted[1]} or the same made smaller"


def _rate(row: DatasetSpec, one: VideoFile, facts: VideoFacts) -> str | None:
    wanted = row.pictures if one.place.inside else None
    if wanted is None or abs(float(facts.rate / wanted) - 1) < _SAME_RATE:
        return None
    return f"{float(facts.rate):.6g} pictures a second, not {float(wanted):.6g}"


Prescription(TreeVideo, "VID103", "video-size", WARNING, _size, "take it as published")
Prescription(TreeVideo, "VID104", "video-rate", WARNING, _rate, "take it as published, or choose pictures by time")


@rule("VID105", WARNING)
def video_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """A video that is shorter or longer than its recording by more than 0.30 s.

    Sound and pictures of STARSS23 differ by up to 0.30 s, and nobody minds. More than that means another
    recording, a cut at one of the two, or a wrong rate, and pictures that show what is not heard.

    Example:
        fold3_room4_mix001.mp4 has 65.1 s, its recording 180.0 s

    Fix:
        Take both as published; compare the checksums on Zenodo.

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
    if facts.whole and one.sound is not None and abs(facts.end - one.sound) > USUAL + 1e-6:
        longer = "longer" if facts.end > one.sound else "shorter"
        message = (
            f"{one.file} ends at {facts.end:.3f} s, its recording at {one.sound:.3f} s: "
            f"{abs(facts.end - one.sound):.3f} s {longer}"
        )
        yield found(message, "take both as published")


@rule("VID106", WARNING)
def labels_without_picture(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Label frames without a picture: more than 0.30 s before the first one or behind the last one.

    Loaders that fill a batch from labels and pictures stop there, repeat a picture, or, as the generator of
    2024 does, take those of the next recording, and of all that follow.

    Example:
        labels up to frame 599 (60.0 s), and the video ends at 42.3 s

    Fix:
        Take the video as published, or leave out what cannot be seen.

    Reference: DCASE2024_seld_baseline, cls_data_generator.py.
    """
    if facts.whole and _far(facts):
        yield found(_bare(one, facts), "take it as published, or leave those label frames out")


@rule("VID116", INFO)
def last_labels_without_picture(video: TreeVideo, found: Found) -> Iterator[Finding]:
    """The first or last few label frames have no picture, within the 0.30 s that are usual.

    Sound and pictures were cut separately. A loader that wants a picture for every label frame stops there all
    the same, or pairs the rest with pictures of the next recording.

    Example:
        labels up to frame 599 (60.0 s), and the video ends at 59.9 s

    Fix:
        Nothing is wrong; repeat the nearest picture: frames_at(label_frames, missing="hold").

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
    usual = [(one, facts) for one, facts in video.readable if facts.whole and facts.bare and not _far(facts)]
    near = {one.path: facts for one, facts in usual}
    for inside in by_folder((one for one, _ in usual), place_name):
        if len(inside) >= MANY:
            frames = sum(len(near[one.path].bare) for one in inside)
            names = listed([one.file for one in inside], 3)
            message = f"{plural(len(inside), 'video')} without a picture for {plural(frames, 'label frame')}: {names}"
            yield found([one.place for one in inside], message, "hold the nearest picture")
        else:
            yield from (found(one.path, _bare(one, near[one.path]), "hold the nearest picture") for one in inside)


@rule("VID107", WARNING)
def video_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Pictures are shown at other times than their number and the rate say, by more than half a picture.

    The video starts late, has a variable rate, or pictures are missing. Programs that count pictures, as all
    baselines do, are off by that much; what is chosen by time stamps is right.

    Example:
        picture 4,500 is shown at 150.65 s, and by number at 150.15 s

    Fix:
        Choose pictures by time stamps: Video(...).frames_at(label_frames), or encode it anew at a constant rate.

    Reference: no baseline reads time stamps.
    """
    half = 0.5 / float(facts.rate)
    if facts.stamped and abs(facts.off) > half + 1e-3:
        shown = facts.worst / float(facts.rate) + facts.off
        late = facts.start > half and abs(facts.off - facts.start) <= half
        cause = f"it starts at {facts.start:.3f} s" if late else "pictures are missing, or the rate is not constant"
        message = (
            f"{one.file}: picture {facts.worst:,} is shown at {shown:.3f} s, by number and rate at "
            f"{shown - facts.off:.3f} s ({cause})"
        )
        yield found(message, "choose pictures by time stamps, or encode it at a constant rate")


@rule("VID108", INFO)
def video_without_clock(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """A video whose container does not say when each picture is shown.

    AVI files and bare H.264 streams hold pictures in order and a rate, nothing else. If pictures were lost
    while recording, everything behind them comes too early, and nobody can tell.

    Example:
        fold3_room4_mix001.avi

    Fix:
        Nothing, if the lengths of video and recording agree.

    Reference: AVI has no presentation time stamps.
    """
    if not facts.stamped:
        times = f"times are counted at {float(facts.rate):.6g} a second"
        message = f"{one.file} has no presentation time stamps: {times}"
        yield found(message, "compare its length with the recording's")


@rule("VID109", WARNING)
def sound_inside_length(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """The sound inside of a video begins or ends more than 0.30 s before or after its pictures.

    One of the two was cut, replaced by that of another recording, or runs at another rate; what is seen and heard
    together in a player belongs apart. Recordings beside the video are VID105.

    Example:
        fold3_room4_mix001.mp4 has pictures up to 60.0 s, and sound up to 41.2 s

    Fix:
        Take it as published, or put pictures and sound together again from their sources.

    Reference: others have measured up to 0.30 s on the 156 videos of STARSS23.
    """
    start, end = facts.sound or (facts.start, facts.end)
    if facts.whole and max(abs(start - facts.start), abs(end - facts.end)) > USUAL + 1e-6:
        message = (
            f"{one.file} has pictures from {facts.start:.3f} to {facts.end:.3f} s, and the sound inside of it "
            f"lasts from {start:.3f} to {end:.3f} s"
        )
        yield found(message, "take it as published, or put both together again")


@rule("VID110", INFO)
def sound_without_pictures(one: VideoFile, found: Found) -> Iterator[Finding]:
    """A recording in a container that may hold videos, such as AAC in ``.mp4``.

    It is not a broken video. But libsndfile does not read it, and nor do the baselines. A deep check looks at its
    samples, and does not compare labels with them. Lossy codecs also change the differences between channels, by
    which directions are heard.

    Example:
        fold3_room4_mix001.mp4 with four channels of AAC and no pictures

    Fix:
        Take the original recording, or write it as WAV or FLAC.

    Reference: libsndfile, which soundfile, torchaudio and librosa read audio with.
    """
    if one.is_recording:
        message = f"{one.file} is a recording that libsndfile does not read: {printable(one.fault or '')}"
        yield found(message, "write it as WAV or FLAC: programs read it, and its header is checked")


@rule("VID111", INFO)
def pictures_hidden(one: VideoFile, facts: VideoFacts, found: Found) -> Iterator[Finding]:
    """Pictures that an edit list hides, as ``ffmpeg -ss … -c copy`` leaves them at the beginning.

    The file is complete: players, FFmpeg and seldio begin at the moment that was asked for. Programs that do not
    know edit lists show the hidden pictures too, or count them, and everything is late by as many.

    Example:
        101 of 902 pictures come before the beginning of the clip

    Fix:
        Nothing, if all your programs agree on the length; otherwise encode it anew.

    Reference: ISO/IEC 14496-12, 8.6.6, the edit list box.
    """
    if facts.hidden:
        total = plural(facts.hidden + facts.frames, "picture")
        message = (
            f"{one.file}: {facts.hidden:,} of {total} are hidden by an edit list, {facts.frames:,} are shown "
            f"from {facts.start:.3f} to {facts.end:.3f} s"
        )
        yield found(message, "programs that ignore edit lists are late by as many pictures")


@rule("VID201", ERROR)
def picture_damaged(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Pictures that cannot be decoded.

    Bytes were damaged on the way. Decoders leave such pictures out, and whoever counts pictures is off by so
    many from there on. Looked for in a deep check only, since it decodes everything.

    Example:
        12 of 9,000 pictures of fold3_room4_mix001.mp4

    Fix:
        Download or unpack it again.

    Reference: loaders through OpenCV end such a video there, or show the picture before.
    """
    one, facts, pictures = watched
    if (gone := facts.frames - pictures.there) > 0:
        why = f" ({printable(pictures.fault)})" if pictures.fault else ""
        message = f"{gone:,} of {plural(facts.frames, 'picture')} of {one.file} cannot be decoded{why}"
        yield found(message, "fetch it again")


@rule("VID202", WARNING)
def pictures_black(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Pictures that are black for two seconds or more.

    The camera was off or covered, or an edit has filled a gap. Labels and sound go on, and a model that looks
    learns nothing there. A picture is black if 98 % of it are darker than an eighth of white. Looked for in a
    deep check only.

    Example:
        fold3_room4_mix001.mp4 is black from 12.0 to 20.5 s

    Fix:
        Take it as published, or leave that part out where pictures are used.

    Reference: FFmpeg's blackdetect has the same measure and the same two seconds.
    """
    if black := watched.pictures.black:
        yield found(f"{watched.video.file} is black {_spans(black)}", "take it as published")


@rule("VID203", WARNING)
def pictures_frozen(watched: WatchedVideo, found: Found) -> Iterator[Finding]:
    """Pictures that do not change for ten seconds or more.

    The camera or an encoder hung, and the last picture was written again and again. In a real recording there is
    noise in every picture, and somebody moves. Two pictures are the same if no pixel differs by more than 6 of
    255, which is what encoding again makes of them. Nothing is said of videos that often stand still for
    shorter: such scenes are drawn. Looked for in a deep check only.

    Example:
        fold3_room4_mix001.mp4 stands still from 30.1 to 59.9 s

    Fix:
        Take it as published, or leave that part out where pictures are used.

    Reference: FFmpeg's freezedetect looks for the same.
    """
    if frozen := watched.pictures.frozen:
        yield found(f"{watched.video.file} stands still {_spans(frozen)}", "take it as published")


def _spans(spans: Sequence[tuple[float, float]]) -> str:
    """Where something is so, in seconds, the longest first; and how long in all, where there are several."""
    longest = sorted(spans, key=lambda span: span[0] - span[1])
    named = listed([f"from {start:.1f} to {end:.1f} s" for start, end in longest], 3)
    total = sum(end - start for start, end in spans)
    return named if len(spans) == 1 else f"{named} ({total:.1f} s in all)"


def _far(facts: VideoFacts) -> bool:
    """Whether labels have no picture beyond what is usual."""
    times = [float(centre(frame, facts.hop)) for frame in (*facts.bare[:1], *facts.bare[-1:])]
    return any(time < facts.start - USUAL or time >= facts.end + USUAL for time in times)


def _bare(one: VideoFile, facts: VideoFacts) -> str:
    frames = f"{facts.bare[0]:,}" if len(facts.bare) == 1 else f"{facts.bare[0]:,} … {facts.bare[-1]:,}"
    return (
        f"{plural(len(facts.bare), 'label frame')} without a picture ({frames}): "
        f"{one.file} is shown from {facts.start:.3f} to {facts.end:.3f} s"
    )


def check_videos(collection: Collection, tree: Tree, sink: Sink, *, deep: bool = False) -> int:
    """Check the videos of a tree or folder, or a single one; return how many there are.

    With *deep* all their pictures are decoded as well, and what is a recording in their place is listened to.
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
