"""Datasets of scenes in STARSS23's folders and names: right ones, ones with planted faults, and those of the demo."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock, geometry, progress
from seldio.errors import UsageError
from seldio.files import atomic_write, make_folder, write_bytes
from seldio.formats import get
from seldio.schema.events import origin_of
from seldio.synth import CLIPS, Track, labels, scene
from seldio.synth.outputs import write_outputs
from seldio.synth.recording import FORMATS, RecordingOptions, Samples, record

Floats = np.ndarray[Any, np.dtype[np.float64]]
Picture = np.ndarray[Any, np.dtype[np.uint8]]

#: Width and height of the videos.
SMALL = (640, 320)
#: Red, green, blue of each class of the STARSS vocabulary in videos, and how bright the rest is.
COLOURS = np.array([
    (240, 98, 146), (66, 165, 245), (255, 213, 79), (38, 198, 218), (255, 138, 101), (174, 174, 190), (156, 204, 101),
    (188, 140, 110), (186, 104, 200), (149, 117, 255), (79, 220, 255), (255, 238, 130), (236, 112, 70),
], np.uint8)  # fmt: skip
_GROUND = 64
#: Metres from the middle of a source to its edge.
_HEAD = 0.22
#: Seconds of a scene, and the events that it is made of (a few more than are heard: some would fall on another).
SECONDS, TRACKS = 60.0, 14


def write_clip(
    folder: Path,
    clip: str,
    split: str,
    tracks: Sequence[Track],
    seconds: float,
    seed: int,
    *,
    options: RecordingOptions | None = None,
    size: tuple[int, int] = SMALL,
    media: Iterable[str] = ("audio", "video"),
) -> pa.Table:
    """Write one scene as ``{foa,mic,video,metadata}_dev/SPLIT/CLIP.{wav,mp4,csv}``.

    Args:
        folder: the root of the dataset; folders are made as needed.
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
    """
    options, wanted = options or RecordingOptions(), frozenset(media)
    for track in tracks:
        if track.first < 0 or track.end > round(seconds * 10):
            raise UsageError(f"a track of the frames {track.first} to {track.end - 1} is not inside of {seconds:g} s")
    table = labels(clip, list(tracks))
    file = origin_of(table).files[0]
    write_bytes(Path(folder, "metadata_dev", split, file.name), get("starss23").write(table, file), folder)
    if "audio" in wanted:
        sounds = record(tracks, seconds, seed, options)
        for name in FORMATS:
            _write_sound(folder, f"{name}_dev/{split}/{clip}.wav", sounds[name], options.rate)
    if "video" in wanted:
        write_video(folder, f"video_dev/{split}/{clip}.mp4", tracks, seconds, size)
    return table


def write_tree(
    folder: Path,
    seed: int,
    *,
    seconds: float = SECONDS,
    clips: Sequence[tuple[str, str]] = CLIPS,
    options: RecordingOptions | None = None,
    size: tuple[int, int] = SMALL,
    media: Iterable[str] = ("audio", "video"),
) -> list[pa.Table]:
    """Write a small dataset; clip k (from 1) is the scene of seed ``seed + k``.

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
        return write_clip(folder, clip, split, tracks, seconds, seed + number, options=options, size=size, media=wanted)

    # the work is FFmpeg's and NumPy's, which let other threads run; two scenes at once hold the memory down
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1) if wanted else 1) as pool:
        jobs = [
            pool.submit(copy_context().run, made, number, clip, split) for number, (clip, split) in enumerate(clips, 1)
        ]
        return [job.result() for job in jobs]


def write_video(folder: Path, name: str, tracks: Sequence[Track], seconds: float, size: tuple[int, int]) -> None:
    """Write a video of 30000/1001 frames per second, each painted for its own time, until the clip ends or later."""
    from seldio.media.video_writing import VideoWriter

    width, height = size
    azimuth, elevation = geometry.from_pixels(np.arange(width), np.arange(height), width, height)
    total = math.ceil(seconds * 30000 / 1001)
    with (
        atomic_write(Path(folder, name), folder) as stream,
        VideoWriter(stream, size) as video,
        progress.task("painting videos", total) as advance,
    ):
        for number in range(total):
            video.picture(painted(tracks, float(number / clock.NTSC), azimuth, elevation))
            advance(1, 0)


def painted(tracks: Iterable[Track], time: float, azimuth: Floats, elevation: Floats) -> Picture:
    """Return a panorama of what sounds at *time* (s): a disc in the colour of its class, the larger the nearer.

    Args:
        tracks: of the scene.
        time: from its start.
        azimuth: degrees, one for each column of the picture.
        elevation: degrees, one for each row.

    Returns:
        Shape (height, width, 3): red, green, blue.
    """
    picture = np.full((len(elevation), len(azimuth), 3), _GROUND, np.uint8)
    for track in tracks:
        if clock.onset(track.first) <= time < clock.onset(track.end):
            position = track.at([time])[0]
            centre_azimuth, centre_elevation = map(float, geometry.to_polar(*position))
            radius = math.degrees(math.asin(_HEAD / max(float(np.linalg.norm(position)), 2 * _HEAD)))
            narrower = max(math.cos(math.radians(centre_elevation)), 0.01)  # a panorama is too wide near the poles
            aside = geometry.wrap(azimuth - centre_azimuth) * narrower
            columns, rows = np.abs(aside) < radius, np.abs(elevation - centre_elevation) < radius
            away = np.hypot(aside[columns], (elevation[rows] - centre_elevation)[:, np.newaxis])
            patch = picture[np.ix_(rows, columns)]
            patch[away < radius] = COLOURS[track.class_id % len(COLOURS)]
            picture[np.ix_(rows, columns)] = patch
    return picture


def _write_sound(folder: Path, name: str, sound: Samples, rate: int) -> None:
    from seldio.media.audio import write_wav

    with atomic_write(Path(folder, name), folder) as stream:  # a text is a folder too
        write_wav(stream, sound, rate)


# --- planted faults ----------------------------------------------------------------------------------------

Rows = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


#: Faults by name: what is done to labels, whole numbers of shape (rows, 6), and to W, Y, Z, X, shape (4, frames).
FAULTS: dict[str, tuple[Callable[[Rows], Rows], Callable[[Samples], Samples]]] = {
    "late-by-1.2-s": (lambda rows: rows + np.array([12, 0, 0, 0, 0, 0]), lambda sound: sound),
    "channels-swapped": (lambda rows: rows, lambda sound: sound[[0, 3, 2, 1]]),
}


def plant(tree: Path, out: Path, clip: str) -> None:
    """Write a small tree for each fault.

    Args:
        tree: a dataset in the layout of STARSS23, with FOA recordings of 16 bits.
        out: gets a folder for each of ``FAULTS`` with one clip.
        clip: folder and name of a clip, e.g. ``dev-test-tau/fold4_room2_mix001``.
    """
    from seldio.media.recording import Recording

    rows = np.loadtxt(tree / "metadata_dev" / f"{clip}.csv", np.int64, delimiter=",", ndmin=2)
    with Recording(tree / "foa_dev" / f"{clip}.wav") as recording:
        sound, rate = np.rint(recording.read() * 32768).astype(np.int16), recording.rate
    for fault, (of_rows, of_sound) in FAULTS.items():
        text = "".join(",".join(map(str, row)) + "\n" for row in of_rows(rows).tolist())
        write_bytes(out / fault / "metadata_dev" / f"{clip}.csv", text.encode(), out)
        _write_sound(out, f"{fault}/foa_dev/{clip}.wav", of_sound(sound), rate)


# --- the demo's files --------------------------------------------------------------------------------------

#: The clip that faults are planted into: enough events of it sound alone.
PLANTED = "dev-test-tau/fold4_room2_mix001"


def write_demo(folder: Path, seed: int = 7, *, media: bool = False) -> None:
    """Write a small STARSS23-shaped dataset, outputs of a system, and a submission with the usual mistakes.

    Args:
        folder: gets ``starss23/metadata_dev/…``, ``output/`` with what a simulated system makes of its clips, and
            ``submission/mix001.csv`` to ``mix004.csv``.
        seed: the same seed gives the same bytes.
        media: also record and film the scenes, into ``starss23/foa_dev``, ``mic_dev`` and ``video_dev``, and plant
            a fault of each kind between labels and sound into copies, below ``planted``.
    """
    for name in ("starss23", "output", *(("planted",) if media else ())):
        make_folder(folder / name, folder)
    tables = write_tree(folder / "starss23", seed, media=("audio", "video") if media else ())
    write_outputs(folder / "output", tables, seed)
    for number, table in enumerate(tables, 1):
        submitted = get("dcase2023-submission").write(table, origin_of(table).files[0]).decode()
        write_bytes(folder / "submission" / f"mix{number:03d}.csv", _spoiled(submitted, number).encode(), folder)
    if media:
        plant(folder / "starss23", folder / "planted", PLANTED)


def _spoiled(text: str, number: int) -> str:
    """Damage a submission: a header and BOM, azimuths from 0 to 360, decimal frames, a truncated row."""
    lines = text.splitlines()
    cells = [line.split(",") for line in lines]
    if number == 1:
        return "\ufeffframe,class,azimuth,elevation\r\n" + "\r\n".join(lines) + "\r\n"
    if number == 2:
        return "".join(f"{f},{c},{int(az) % 360},{el}\n" for f, c, az, el in cells)
    if number == 3:
        moved = [*cells[5:], *cells[:5]]
        return "".join(f"{f}.0,{c}, {az}, {el}\n" for f, c, az, el in moved)
    return "\n".join([*lines[:20], lines[20].replace(",", ",1", 1), *lines[21:], "599,7,-1"])
