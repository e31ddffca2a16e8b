"""Scenes made from labels: what a recording would sound like in which everything sounds where its labels say.

Real labels have few places, long events, overlaps and directions that jitter. Scenes that follow them have all of that
and labels that are known to be right, so that a check or a network can be tried on it. A scene is made in blocks of
some seconds, so that a clip of any length takes the same memory.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from seldio import clock, geometry, progress
from seldio.data.arrow_tables import ClipLabelFile
from seldio.data.dataset import Dataset, open_dataset
from seldio.data.window_sources import sound_facts
from seldio.errors import DataError, UsageError
from seldio.files import atomic_write, write_bytes
from seldio.files.names import suffix_of
from seldio.formats import get
from seldio.media.arrays import Format
from seldio.media.audio import write_blocks
from seldio.media.encoding import render
from seldio.schema.arrays import pc
from seldio.schema.events import ClipFile, origin_of
from seldio.schema.spans import spans
from seldio.synth import Track
from seldio.synth.recording import (
    FORMATS,
    HISS,
    NEAREST,
    RecordingOptions,
    Room,
    Sound,
    add,
    on_capsules_in_blocks,
    random,
    reverberated,
    room_noise,
    ways,
)  # fmt: skip
from seldio.synth.sounds import PEAK, SOUNDS, Floats, sound
from seldio.text import printable
from seldio.vocabularies import spelling, vocabulary

#: Label frames of a block.
BLOCK = 200
#: Metres of a source whose labels do not say how far away it is.
DISTANCE = 2.0
#: Metres between a source and the walls of a room that was made larger for it.
_SPARE = 0.5
#: How much louder than in the open a capsule of the sphere can be, and reverberation than its mean.
_SPHERE, _CREST = 2.0, 4.0
#: Seconds in which the noise of a block fades into that of the next one.
_FADE = 0.05


def tracks_of(table: pa.Table, distance: float = DISTANCE) -> list[Track]:
    """The sources that the event table of one clip describes, to be recorded as a scene.

    An event is a run of frames of one class and source number; two rows of a frame with the same are two sources.
    Directions are those of the middle of their label frames, and between them a source moves straight.

    Args:
        table: label frames of 0.1 s with azimuth, such as :func:`seldio.read` gives; without elevations all is level.
        distance: metres where the table has no distance, or none for a row.

    Returns:
        Tracks by their first frame. Classes of another list than that of STARSS sound like the class of that name
        there; those that it does not have get the sound of some other one, always the same.

    Raises:
        UsageError: *distance* is not positive.
        DataError: a row has no frame, no direction or no class.
    """
    if not 0 < distance < math.inf:
        raise UsageError(f"distance={distance}: choose metres above 0")
    needed = ("frame", "class_id", "azimuth")
    if lacking := [name for name in needed if name not in table.column_names or table[name].null_count]:
        raise DataError(f"the labels have rows without {' and '.join(lacking)}: nothing can sound there")
    if not table.num_rows:
        return []
    numbers = {
        name: pc.fill_null(table[name].cast(pa.float64()), math.nan).to_numpy() if name in table.column_names
        else np.full(table.num_rows, math.nan)
        for name in ("azimuth", "elevation", "distance", "source")
    }  # fmt: skip
    away = np.where(numbers["distance"] > 0, numbers["distance"], distance)
    places = np.stack(geometry.to_cartesian(numbers["azimuth"], np.nan_to_num(numbers["elevation"])), 1) * away[:, None]
    if not np.isfinite(places).all():
        raise DataError("the labels have rows without a direction: nothing can sound there")
    like = _sounds_like(origin_of(table).vocabulary)
    frames, classes = (np.asarray(table[name].to_numpy(), np.int64) for name in ("frame", "class_id"))
    source = np.nan_to_num(numbers["source"]).astype(np.int64)
    found = spans(table)
    tracks = []
    for number in range(len(found)):
        rows = found.trajectory(number)
        one = rows[0]
        class_id = like[classes[one]] if 0 <= classes[one] < len(like) else int(classes[one]) % len(SOUNDS)
        tracks.append(Track(class_id, int(source[one]), int(frames[one]), places[rows]))
    return sorted(tracks, key=lambda track: track.first)


@lru_cache(maxsize=8)
def _sounds_like(name: str) -> tuple[int, ...]:
    """The class of STARSS that each class of a list sounds like."""
    known, here = vocabulary("starss").indices, vocabulary(name)
    return tuple(
        known.get(spelling(here.label(index)), index % len(SOUNDS)) for index in range(len(here))
    )  # fmt: skip


def room_for(tracks: Sequence[Track], room: Room | None = None) -> Room:
    """*room*, or a larger one with the same array in it, in which all sources are inside.

    It reverberates as long, or as long as a room of this size at least does.
    """
    room = room or Room()
    if not tracks or not room.reverberation:
        return room
    places = np.concatenate([track.at(_outer(track)) for track in tracks])
    low, high = room.walls
    low = np.minimum(low, places.min(axis=0) - _SPARE)
    high = np.maximum(high, places.max(axis=0) + _SPARE)
    depth, width, height = (high - low).tolist()
    back, right, floor = (-low).tolist()
    if ((depth, width, height), (back, right, floor)) == (room.size, room.array):
        return room
    larger = Room((depth, width, height), (back, right, floor), 0.0)
    return dataclasses.replace(larger, reverberation=max(room.reverberation, 1.1 * larger.shortest))


def _outer(track: Track) -> Floats:
    """The times of all knots of a track, and those at which it begins and ends."""
    return np.concatenate(([clock.onset(track.first)], track.knots, [clock.onset(track.end)]))


# --- blocks ----------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """The part of a track that lies in one block: label frames *first* to *stop* - 1."""

    number: int
    track: Track
    first: int
    stop: int

    @property
    def knots(self) -> tuple[Floats, Floats]:
        """Times (s from its start) and positions, as the track has them there."""
        inner = [float(clock.centre(frame)) for frame in range(self.first, self.stop)]
        times = np.array([float(clock.onset(self.first)), *inner, float(clock.onset(self.stop))])
        positions = self.track.at(times)
        if not np.ptp(self.track.positions, axis=0).any():
            times, positions = times[:1], positions[:1]
        return times - float(clock.onset(self.first)), positions


def scene_blocks(
    tracks: Sequence[Track], seconds: float, seed: int, format: Format, options: RecordingOptions | None = None
) -> Iterator[Sound]:
    """A scene of any length, block by block, in memory that does not grow with it.

    It is made like that of :func:`seldio.synth.recording.record`, with three differences: a source that sounds for
    longer than a block begins a new sound there, and level of the noise and gain are chosen before anything is heard,
    from what the sources will be like in the mean and at most.

    Args:
        tracks: what sounds; sound outside of the clip is cut off.
        seconds: length of the clip.
        seed: for sounds and noise; both formats of one seed are one scene.
        format: ``foa`` (W, Y, Z, X) or ``mic`` (M1 … M4).
        options: room, noise and rate.

    Yields:
        Shape (4, frames), float32, full scale being 1 and never passed by the sources.

    Raises:
        UsageError: a track outside of the room.
    """
    options = options or RecordingOptions()
    level, gain = _level_and_gain(tracks, options)
    waiting: deque[Sound] = deque()  # no tee, which keeps dozens of blocks

    def diffuse() -> Iterator[Sound]:
        for waves, rest in _parts(tracks, seconds, seed, format, options, level):
            waiting.append(waves)
            yield rest

    for rest in diffuse() if format == "foa" else on_capsules_in_blocks(diffuse(), options.rate):
        yield np.asarray((waiting.popleft() + rest) * np.float32(gain), np.float32)


def _parts(
    tracks: Sequence[Track], seconds: float, seed: int, format: Format, options: RecordingOptions, level: float
) -> Iterator[tuple[Sound, Sound]]:
    """What comes from somewhere in each block, with the hiss of the channels, and W, Y, Z, X of what is diffuse."""
    rate, room = options.rate, options.room
    total, step = round(seconds * rate), round(clock.sample(BLOCK, rate))
    tail = room.tail(rate, random(seed, 2)) if room.reverberation else np.zeros((4, 0))
    # what is still to be heard when a block ends: reflections, which come from less than two diagonals away, and tail
    spill = max(tail.shape[1], math.ceil(2 * math.hypot(*room.size) / 300 * rate)) + rate // 10
    fade = round(_FADE * rate)
    waves, dry_spill = np.zeros((4, step + spill), np.float32), np.zeros((4, step + spill), np.float32)
    noise = np.zeros((4, fade), np.float32)
    rise = np.sin(np.pi / 2 * (np.arange(fade) + 0.5) / fade).astype(np.float32)
    by_block: dict[int, list[Piece]] = {}
    for piece in _pieces(tracks):
        by_block.setdefault(piece.first // BLOCK, []).append(piece)
    for block, start in enumerate(range(0, total, step)):
        frames = min(step, total - start)
        dry = np.zeros(step, np.float32)
        for piece in by_block.get(block, ()):
            at = round(clock.sample(piece.first, rate))
            length = round(clock.sample(piece.stop, rate)) - at
            times, positions = piece.knots
            wave = sound(piece.track.class_id, length, rate, random(seed, 1, piece.number, piece.first))
            add(dry, wave, at - start)
            for arriving, places, late in ways(wave, times, positions, options):
                azimuth, elevation = geometry.to_polar(*places.T)
                moving = times if len(times) > 1 else None
                add(waves, render(arriving, azimuth, elevation, rate, format, moving), at - start + late)
        if tail.shape[1] and dry.any():
            padded = np.concatenate((dry, np.zeros(tail.shape[1], np.float32)))
            add(dry_spill, reverberated(padded, tail), 0)
        if options.snr is not None:
            quiet = level * 10 ** (-options.snr / 20)
            more = np.float32(quiet * math.sqrt(1 - HISS)) * room_noise(step + fade, rate, seed, block)
            if block:
                more[:, :fade] *= rise
                more[:, :fade] += noise * rise[::-1]
            dry_spill[:, :step] += more[:, :step]
            noise = more[:, step:]
            hiss = random(seed, 4, FORMATS.index(format), block).standard_normal((4, step), np.float32)
            waves[:, :step] += np.float32(quiet * math.sqrt(HISS)) * hiss
        yield waves[:, :frames].copy(), dry_spill[:, :frames].copy()
        for buffer in (waves, dry_spill):
            buffer[:, :spill] = buffer[:, step:].copy()
            buffer[:, spill:] = 0


def _pieces(tracks: Sequence[Track]) -> Iterator[Piece]:
    """The tracks, cut where blocks end."""
    for number, track in enumerate(tracks):
        for block in range(track.first // BLOCK, -(-track.end // BLOCK)):
            first, stop = max(track.first, block * BLOCK), min(track.end, (block + 1) * BLOCK)
            yield Piece(number, track, first, stop)


def _level_and_gain(tracks: Sequence[Track], options: RecordingOptions) -> tuple[float, float]:
    """The level (RMS in W) to be expected while something sounds, and a gain with which nothing passes full scale."""
    room = options.room
    last = max((track.end for track in tracks), default=0)
    power, peak = np.zeros(last), np.zeros(last)
    far = 1 / room.critical
    for track in tracks:
        own = slice(track.first, track.end)
        nearness = 1 / np.maximum(np.linalg.norm(track.positions, axis=1), NEAREST)
        echoes = [room.reflection / np.linalg.norm(image, axis=1) for image in room.images(track.positions)]
        loudness = _loudness(track.class_id) ** 2
        power[own] += loudness * (nearness**2 + sum(echo**2 for echo in echoes) + far**2)
        peak[own] += PEAK * (_SPHERE * (nearness + sum(echoes)) + far)
    active = power > 0
    level = math.sqrt(float(power[active].mean())) if active.any() else 1e-3
    around = 0.0 if options.snr is None else _CREST * level * 10 ** (-options.snr / 20)
    return level, min(1.0, 0.98 / (float(peak.max(initial=0.0)) + around or 1.0))


@lru_cache(maxsize=len(SOUNDS))
def _loudness(class_id: int) -> float:
    """The root mean square of a sound of a class at 1 m."""
    return float(np.sqrt(np.mean(sound(class_id, 72_000, 24_000, random(1, class_id)) ** 2)))


# --- files -----------------------------------------------------------------------------------------------


class WrittenScene(NamedTuple):
    """A scene that was written."""

    clip: str
    split: str  # its folder
    seconds: float
    events: int  # sources that sound
    room: Room  # it was recorded in


def write_scenes(
    labels: str | os.PathLike[str], folder: str | os.PathLike[str], *, seed: int = 7, seconds: float | None = None,
    distance: float = DISTANCE, options: RecordingOptions | None = None, formats: Iterable[Format] = FORMATS,
) -> list[WrittenScene]:  # fmt: skip
    """Scenes for label files: recordings in FOA and MIC in which everything sounds where the labels say.

    Args:
        labels: a label file, a folder, an archive: whatever :func:`seldio.open` takes, with label frames of 0.1 s.
        folder: gets ``foa_dev``, ``mic_dev`` and ``metadata_dev`` with the label files as they are, byte for byte,
            under their names if these are like those of STARSS, else as ``fold1_room1_mix001`` and so on.
        seed: the same seed gives the same bytes; clip k (from 0) has ``seed + k``.
        seconds: length of the clips. None for that of a clip's recording, or else of its format, or else up to the end
            of the last label, in whole seconds.
        distance: metres where labels do not say it.
        options: room, noise and rate. The room is made larger where labels are outside of it.
        formats: of the recordings.

    Raises:
        UsageError: there are no labels, they have other label frames, or *seconds* makes no sense.
        InvalidData: labels are wrong, with file, line and column.
        DataError: labels have no direction or class.
    """
    options, wanted = options or RecordingOptions(), tuple(formats)
    if unknown := set(wanted) - set(FORMATS):
        raise UsageError(f"unknown formats {', '.join(sorted(unknown))}; choose from {', '.join(FORMATS)}")
    if seconds is not None and not 0 < seconds < math.inf:
        raise UsageError(f"seconds={seconds}: choose a length above 0")
    with open_dataset(labels) as dataset:
        if not len(dataset.events):
            raise UsageError(f"{printable(os.fspath(labels))} holds no labels to make scenes from")
        if dataset.events.hop != clock.HOP:
            hop = float(dataset.events.hop)
            raise UsageError(f"the labels have frames of {hop:g} s; convert them to frames of 0.1 s first")
        splits = {row["clip"]: row["split"] for row in dataset.clips.to_pylist()}
        # a name that datasets have stays; of others, programs could not tell the fold
        kept = {clip for clip in dataset.events if _NAMED.fullmatch(clip)}
        free = (name for number in itertools.count(1) if (name := f"fold1_room1_mix{number:03}") not in kept)
        done = []
        with progress.task("rendering scenes", len(dataset.events)) as advance:
            for number, (clip, table) in enumerate(dataset.events.items()):
                tracks = tracks_of(table, distance)
                length = seconds if seconds is not None else _length(dataset, clip, tracks)
                split = splits.get(clip) or "dev-train-synth"
                media = dataset.media[clip].files.values()
                here = dataclasses.replace(options, room=room_for(tracks, options.room))
                named = clip if clip in kept else next(free)
                _write_labels(folder, f"metadata_dev/{split}", named, table, dataset.events.source(clip))
                for name in wanted:
                    path = Path(folder, f"{name}_dev", split, f"{named}.wav")
                    if path.exists() and any(path.samefile(one.local) for one in media if one.local is not None):
                        raise UsageError(f"{printable(str(path))} is their own recording: choose another folder")
                    with atomic_write(path, folder) as stream:
                        write_blocks(stream, scene_blocks(tracks, length, seed + number, name, here), here.rate)
                done.append(WrittenScene(named, split, length, len(tracks), here.room))
                advance(1, 0)
    return done


def _length(dataset: Dataset, clip: str, tracks: Sequence[Track]) -> float:
    """Seconds of the clip's recording, or else of its format, or else up to the last label."""
    if (entry := dataset.media[clip].entry()) is not None:
        facts = sound_facts(entry)
        return facts.frames / facts.rate
    stated = dataset.events.format(clip).clip_frames or max((track.end for track in tracks), default=10)
    return float(math.ceil(stated * clock.HOP))


#: Names of clips of the datasets that have recordings in these folders.
_NAMED = re.compile(r"fold[0-9]+_room[0-9]+_mix[0-9]+\w*")


def _write_labels(
    folder: str | os.PathLike[str], inside: str, name: str, table: pa.Table, file: ClipLabelFile
) -> None:  # fmt: skip
    if file.table is None:
        suffix = suffix_of(file.entry.name)
        write_bytes(Path(folder, inside, f"{name}.{suffix}"), file.entry.read(), folder)
    else:  # one clip of a table of many
        layout = get("starss23" if "distance" in table.column_names else "starss22")
        one = ClipFile(file.clip, f"{name}.csv")
        write_bytes(Path(folder, inside, one.name), layout.write(table, one), folder)
