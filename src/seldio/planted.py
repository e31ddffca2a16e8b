"""One fault of each kind between labels and sound, planted into copies of good clips."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from seldio import geometry
from seldio.files import make_folder, write_bytes
from seldio.media.audio import Decoder, probe, write_wav

Rows = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Samples = np.ndarray[tuple[int, ...], np.dtype[np.int16]]


class Fault(NamedTuple):
    """A fault.

    Args:
        name: of its folder.
        rows: what it does to labels, whole numbers of shape (rows, 6).
        sound: what it does to W, Y, Z, X, shape (4, frames).
    """

    name: str
    rows: Callable[[Rows], Rows] = lambda rows: rows
    sound: Callable[[Samples], Samples] = lambda sound: sound


def _times(column: int, factor: int) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        return np.where(np.arange(rows.shape[1]) == column, rows * factor, rows)

    return change


def _turned(rows: Rows) -> Rows:
    return np.column_stack((rows[:, :3], geometry.wrap(rows[:, 3] + 60).astype(np.int64), rows[:, 4:]))


def _late(rows: Rows) -> Rows:
    return np.column_stack((rows[:, 0] + 12, rows[:, 1:]))


FAULTS = (
    Fault("mirrored-azimuth", rows=_times(3, -1)),
    Fault("flipped-elevation", rows=_times(4, -1)),
    Fault("rotated-by-60", rows=_turned),
    Fault("late-by-1.2-s", rows=_late),
    Fault("channels-in-fuma-order", sound=lambda sound: sound[[0, 3, 1, 2]]),
    Fault("channels-swapped", sound=lambda sound: sound[[0, 3, 2, 1]]),
    Fault("channel-inverted", sound=lambda sound: sound * np.array([[1], [-1], [1], [1]], dtype=np.int16)),
)
#: The folder in which two clips have each other's labels.
EXCHANGED = "labels-of-another-clip"


def plant(tree: Path, out: Path, clip: str, other: str) -> None:
    """Write a small tree for each fault.

    Args:
        tree: a data set in the layout of STARSS23, with FOA recordings of 16 bits.
        out: gets a folder for each of ``FAULTS`` with one clip, and one in which two clips are exchanged.
        clip: folder and name of a clip, e.g. ``dev-test-tau/fold4_room2_mix001``.
        other: of another one.
    """
    for fault in FAULTS:
        rows, sound, rate = _read(tree, clip)
        _write(out / fault.name, clip, fault.rows(rows), fault.sound(sound), rate)
    clips = {name: _read(tree, name) for name in (clip, other)}
    for name, wrong in ((clip, other), (other, clip)):
        _write(out / EXCHANGED, name, clips[wrong][0], *clips[name][1:])


def _read(tree: Path, clip: str) -> tuple[Rows, Samples, int]:
    with (tree / "metadata_dev" / f"{clip}.csv").open() as labels:
        rows = np.array([[int(cell) for cell in line.split(",")] for line in labels])
    with (tree / "foa_dev" / f"{clip}.wav").open("rb") as stream:
        found = probe(stream)
        with Decoder(stream) as decoder:
            sound = decoder.read(0, found.frames)
    return rows, np.rint(sound * 32768).astype(np.int16), found.rate


def _write(folder: Path, clip: str, rows: Rows, sound: Samples, rate: int) -> None:
    labels, recording = folder / "metadata_dev" / f"{clip}.csv", folder / "foa_dev" / f"{clip}.wav"
    for folder in (labels.parent, recording.parent):
        make_folder(folder)
    write_bytes(labels, "".join(",".join(map(str, row)) + "\n" for row in rows.tolist()).encode())
    data = io.BytesIO()
    write_wav(data, sound, rate)
    write_bytes(recording, data.getvalue())
