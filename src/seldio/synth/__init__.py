"""Synthetic scenes: sources that move, pause and overlap as in the real recordings, made with a seed.

A scene is a list of :class:`Track`, from which its labels follow. What it sounds like in both array formats is
:mod:`seldio.synth.recording`, and a dataset of scenes, with what it looks like, :mod:`seldio.synth.tree`.
"""

from __future__ import annotations

import dataclasses
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from seldio import clock, geometry
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin
from seldio.vocabularies import vocabulary

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Clips of a small set: name and split folder, as in STARSS23.
CLIPS = (
    ("fold3_room4_mix001", "dev-train-tau"),
    ("fold3_room21_mix013", "dev-train-sony"),
    ("fold4_room2_mix001", "dev-test-tau"),
    ("fold4_room23_mix001", "dev-test-sony"),
)
#: Classes that stand still in a room; everything else may walk about.
_STILL = frozenset({3, 5, 7, 8, 10, 11})


@dataclasses.dataclass(frozen=True)
class Track:
    """One source while it sounds: its class and number, its first label frame, and its positions."""

    class_id: int  # index into the STARSS vocabulary
    source: int  # number of the actor, 0 for what is not an actor
    first: int  # label frame of the first position
    #: metres, shape (frames, 3): front, left, up of the microphone, in the middle of each label frame
    positions: np.ndarray

    @property
    def end(self) -> int:
        """The label frame after the last one."""
        return self.first + len(self.positions)

    @property
    def knots(self) -> Floats:
        """The times (s) of the positions: the middles of the label frames."""
        return np.array([float(clock.centre(frame)) for frame in range(self.first, self.end)])

    def at(self, times: ArrayLike) -> Floats:
        """Return the positions of the source at *times* (s of the clip), shape (n, 3).

        Straight between the middles of label frames; over the outer half of the first and the last frame it goes
        on as before; earlier and later it stands.
        """
        inside = np.clip(np.asarray(times, np.float64), clock.onset(self.first), clock.onset(self.end))
        if len(self.positions) == 1:
            return np.repeat(self.positions.astype(np.float64), len(inside), axis=0)
        place = (inside - self.knots[0]) / float(clock.HOP)
        left = np.clip(np.floor(place).astype(np.int64), 0, len(self.positions) - 2)
        share = (place - left)[:, np.newaxis]
        return np.asarray((1 - share) * self.positions[left] + share * self.positions[left + 1])


def scene(seed: int, seconds: float = 60.0, tracks: int = 14) -> list[Track]:
    """Return *tracks* events in a clip of *seconds*, each on a smooth path through a room; alike for the same seed."""
    rng = np.random.default_rng(seed)
    frames = int(seconds * 10)
    drawn: list[Track] = []
    sources: list[int] = []
    for _ in range(tracks):
        class_id = int(rng.integers(len(vocabulary("starss"))))
        length = int(rng.integers(8, min(120, frames)))
        first = int(rng.integers(0, frames - length + 1))
        still = class_id in _STILL
        source = 0 if still else int(rng.integers(1, 5))
        overlaps = [first <= track.end and track.first <= first + length for track in drawn]
        near = [*compress(zip(drawn, sources, strict=True), overlaps)]
        if (class_id, source) not in [(track.class_id, number) for track, number in near]:
            busy = {track.source for track, _ in near}  # no actor is in two places
            free = (number for number in (source, *range(1, tracks + 2)) if number not in busy)
            drawn.append(Track(class_id, source if still else next(free), first, _path(rng, length, still)))
            sources.append(source)
    return sorted(drawn, key=lambda track: track.first)


def _path(rng: np.random.Generator, length: int, still: bool) -> np.ndarray:
    """Return a walk on an arc around the microphone, at most 1.2 m/s, or one place."""
    azimuth, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.8, 2.8)
    height = rng.uniform(-1.1, 0.5)
    turn = 0.0 if still else rng.uniform(-1.2, 1.2) / distance / 10
    bearing = azimuth + turn * np.arange(length)
    return np.stack((distance * np.cos(bearing), distance * np.sin(bearing), np.full(length, height)), axis=1)


def labels(clip: str, tracks: list[Track]) -> pa.Table:
    """Return the event table of a scene: whole degrees and centimetres, as STARSS23 has them; rows by frame."""
    rows = [
        (track.first + number, track.class_id, track.source, *position)
        for track in tracks
        for number, position in enumerate(track.positions.tolist())
    ]
    rows.sort(key=lambda row: row[0])
    frame, class_id, source, x, y, z = (np.array(column) for column in zip(*rows, strict=True))
    azimuth, elevation = geometry.to_polar(x, y, z)
    columns = {
        "clip": pa.array([clip] * len(rows), pa.string()).dictionary_encode(),
        "frame": frame,
        "class_id": class_id,
        "source": source,
        "azimuth": np.rint(azimuth) + 0.0,
        "elevation": np.rint(elevation) + 0.0,
        "distance": np.rint(100 * np.sqrt(x * x + y * y + z * z)) / 100,
    }
    table = pa.table({name: pa.array(values).cast(COLUMNS[name]) for name, values in columns.items()})
    return with_origin(table, Origin("starss23", "starss", (ClipFile(clip, f"{clip}.csv"),)))
