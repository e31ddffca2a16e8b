"""A data set of scenes: STARSS23's folders and names, with recordings, videos and labels that agree."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa

from seldio.errors import UsageError
from seldio.files import atomic_write, write_bytes
from seldio.formats import get
from seldio.schema.events import origin_of
from seldio.synth.pictures import SMALL, Painter
from seldio.synth.recording import FORMATS, Options, record
from seldio.synth.scenes import CLIPS, Track, labels, scene

#: Seconds of a scene, and the events that it is made of (a few more than are heard: some would fall on another).
SECONDS, TRACKS = 60.0, 14
#: The longest scene: what 16-bit recordings of one take is held in memory.
_LONGEST = 1800.0


def write_clip(
    folder: Path, clip: str, split: str, tracks: Sequence[Track], seconds: float, seed: int, *,
    options: Options | None = None, size: tuple[int, int] = SMALL, media: Iterable[str] = ("audio", "video"),
) -> pa.Table:  # fmt: skip
    """One scene as ``{foa,mic,video,metadata}_dev/SPLIT/CLIP.{wav,mp4,csv}``.

    Args:
        folder: the root of the data set; folders are made as needed.
        clip: name of the clip.
        split: name of the folder, such as ``dev-train-tau``.
        tracks: of the scene.
        seconds: length of the clip.
        seed: for sounds and noise.
        options: room, noise and rate.
        size: width and height of the video.
        media: ``audio``, ``video``, both or none.

    Returns:
        The labels, as they were written.

    Raises:
        UsageError: a track is outside of the room or of the clip, or a number makes no sense.
        SeldioError: the disk fails.
    """
    options, wanted = options or Options(), frozenset(media)
    _check(tracks, seconds, wanted)
    table = labels(clip, list(tracks))
    file = origin_of(table).files[0]
    write_bytes(_place(folder, "metadata_dev", split, file.name), get("starss23").write(table, file))
    if "audio" in wanted:
        _write_audio(folder, clip, split, tracks, seconds, seed, options)
    if "video" in wanted:
        painter = Painter(tracks, size, options.room)
        write_video(_place(folder, "video_dev", split, f"{clip}.mp4"), painter, seconds)
    return table


def write_tree(
    folder: Path, seed: int, *, seconds: float = SECONDS, clips: Sequence[tuple[str, str]] = CLIPS,
    options: Options | None = None, size: tuple[int, int] = SMALL, media: Iterable[str] = ("audio", "video"),
) -> list[pa.Table]:  # fmt: skip
    """A small data set; clip k (from 1) is the scene of seed ``seed + k``.

    Args:
        folder: gets ``foa_dev``, ``mic_dev``, ``video_dev`` and ``metadata_dev``.
        seed: the same seed gives the same bytes.
        seconds: length of each clip.
        clips: names and folders.
        options: room, noise and rate.
        size: width and height of the videos.
        media: ``audio``, ``video``, both or none.

    Returns:
        The labels of each clip.

    Raises:
        UsageError: see :func:`write_clip`.
        SeldioError: the disk fails.
    """
    wanted = tuple(media)

    def made(number: int, clip: str, split: str) -> pa.Table:
        tracks = scene(seed + number, seconds, max(1, round(TRACKS * seconds / SECONDS)))
        return write_clip(
            folder, clip, split, tracks, seconds, seed + number, options=options, size=size, media=wanted
        )  # fmt: skip

    # the work is FFmpeg's and NumPy's, which let other threads run; two scenes at once hold the memory down
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1) if wanted else 1) as pool:
        jobs = [pool.submit(made, number, clip, split) for number, (clip, split) in enumerate(clips, 1)]
        return [job.result() for job in jobs]


def write_video(path: Path, painter: Painter, seconds: float) -> None:
    """A video of 30000/1001 pictures a second, each painted for its own time; the last one ends with the clip or after.

    Raises:
        SeldioError: FFmpeg cannot write it, or the disk fails.
    """
    from seldio.media.encode import VideoWriter

    with atomic_write(path) as stream, VideoWriter(stream, painter.size) as video:
        for picture in painter.pictures(seconds):
            video.picture(picture)


def _write_audio(
    folder: Path, clip: str, split: str, tracks: Sequence[Track], seconds: float, seed: int, options: Options
) -> None:  # fmt: skip
    from seldio.media.audio import write_wav

    sounds = record(tracks, seconds, seed, options)
    for name in FORMATS:
        with atomic_write(_place(folder, f"{name}_dev", split, f"{clip}.wav")) as stream:
            write_wav(stream, sounds[name], options.rate)


def _check(tracks: Sequence[Track], seconds: float, media: frozenset[str]) -> None:
    if not 0 < seconds <= _LONGEST:
        raise UsageError(f"a scene of {seconds} s: choose a length above 0, {_LONGEST:g} at most")
    if strange := media - {"audio", "video"}:
        raise UsageError(f"there is no {', '.join(sorted(strange))}; choose audio, video, both or none")
    for track in tracks:
        if track.first < 0 or track.end > round(seconds * 10):
            raise UsageError(f"a track of the frames {track.first} to {track.end - 1} is not inside of {seconds:g} s")


def _place(folder: Path, field: str, split: str, name: str) -> Path:
    path = folder / field / split / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
