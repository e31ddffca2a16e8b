"""Rates of ``seldio validate --deep`` on scenes whose rooms and microphones are those of pyroomacoustics.

``python benchmarks/deep.py --pyroomacoustics [SCENES [KEPT]]`` (needs ``pip install pyroomacoustics``): an outside
check of what :mod:`deep` measures on scenes of seldio's own renderer. Each scene has a room of its own (4 to 9 m, 0.25
to 0.6 s, floor, ceiling and walls unlike each other) with an array anywhere in it, even next to a wall: an
omnidirectional microphone and three figures of eight at one point. Sources stand still at 12 places, 1 m away or
further, 20 dB above noise; their sounds are those of :mod:`seldio.synth.sounds`. Only FOA: it has no rigid sphere.
What is heard of the scenes is kept in the folder KEPT, if given.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from deep import field, mixed
from deep_labels import ERRORS, SMALL, Scene, fit, said
from scipy.signal import fftconvolve

from seldio import geometry
from seldio.catalogues.trees import read_tree
from seldio.media.intensity import SoundField
from seldio.rules.deep_fit import LabelledClip
from seldio.synth.recording import RATE
from seldio.synth.sounds import sound

#: Gains of W, Y, Z, X.
GAINS = {"N3D": (1, 3**0.5, 3**0.5, 3**0.5), "FuMa's W": (0.5**0.5, 1, 1, 1), "Z 6 dB louder": (1, 1, 2, 1)}
SECONDS, PLACES, SNR, SET = 60, 12, 20.0, 16
#: Label frames of an event, and of the pause after it; a tenth of the events begin before the last one ends.
_LENGTHS, _PAUSES = (10, 45), (-6, 8)


def made(number: int, kept: Path | None) -> Scene:
    """The scene of a number."""
    stored = kept / f"room{number:03d}.npz" if kept is not None else None
    if stored is not None and stored.exists():
        arrays = np.load(stored)
        rows, foa = arrays["rows"], SoundField(arrays["foa"], arrays["raw"])
    else:
        rng = np.random.default_rng((7, number))
        places, responses = _room(rng)
        rows, waves = _scene(rng, places, responses)
        foa = field(waves, "foa")
        if stored is not None:
            np.savez(stored, rows=rows, foa=foa.covariance, raw=foa.raw)
    event, frame = 100_000 * rows[:, 1].astype(np.int64), rows[:, 0].astype(np.int64)
    place = read_tree([f"metadata_dev/dev-train-tau/fold3_room{number + 1}_mix001.csv"]).places[0]
    clip = LabelledClip(f"room{number}.csv", frame, rows[:, 2], rows[:, 3], event, Fraction(1, 10), 1, place)
    return Scene(f"room{number}", clip, {"foa": foa})


def _room(rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Directions (degrees) of the places of a room, and the response of W, Y, Z, X to each: (4, samples)."""
    import pyroomacoustics as pra
    from pyroomacoustics.directivities import DirectionVector, FigureEight, Omnidirectional

    size = rng.uniform((4.0, 3.5, 2.4), (9.0, 7.0, 3.4))
    array = rng.uniform((0.8, 0.8, 1.0), (*(size[:2] - 0.8), 1.7))
    absorption, order = pra.inverse_sabine(rng.uniform(0.25, 0.6), size)
    unlike = np.clip(absorption * rng.uniform(0.5, 1.6, 6), 0.02, 0.95)
    walls = dict(zip(("east", "west", "north", "south", "ceiling", "floor"), unlike.tolist(), strict=True))
    room = pra.ShoeBox(size, fs=RATE, materials=pra.make_materials(**walls), max_order=min(order, 14))
    axes = [DirectionVector(azimuth=90, colatitude=90), DirectionVector(azimuth=0, colatitude=0),
            DirectionVector(azimuth=0, colatitude=90)]  # fmt: skip
    eights = [FigureEight(orientation=axis) for axis in axes]
    room.add_microphone_array(np.repeat(array[:, np.newaxis], 4, axis=1), directivity=[Omnidirectional(), *eights])
    places: list[Any] = []
    while len(places) < PLACES:
        place = rng.uniform(0.3, size - 0.3)
        if 1.0 <= np.linalg.norm(place - array) <= 3.5:
            room.add_source(place.tolist())
            places.append(geometry.to_polar(*(place - array)))
    room.compute_rir()
    longest = [max(len(room.rir[channel][place]) for channel in range(4)) for place in range(PLACES)]
    responses = [
        np.stack([np.pad(room.rir[channel][place], (0, longest[place] - len(room.rir[channel][place])))
                  for channel in range(4)])
        for place in range(PLACES)
    ]  # fmt: skip
    return np.array(places), responses


def _scene(
    rng: np.random.Generator, places: np.ndarray, responses: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Rows (frame, class, azimuth, elevation) of whole degrees, and int16 samples (4, frames)."""
    rows, out, frame = [], np.zeros((4, (SECONDS + 2) * RATE)), 5
    while True:
        length, place, kind = int(rng.integers(*_LENGTHS)), int(rng.integers(PLACES)), int(rng.integers(13))
        if frame + length > 10 * SECONDS - 5:
            break
        dry = sound(kind, length * RATE // 10, RATE, rng)
        response = responses[place]
        early = int(np.argmax(np.abs(response[0]) > 0.5 * np.abs(response[0]).max()))
        wet = fftconvolve(dry[np.newaxis], response[:, early:], axes=1)
        first = frame * RATE // 10
        out[:, first : first + wet.shape[1]] += wet[:, : out.shape[1] - first]
        rows += [(frame + late, kind, *np.rint(places[place])) for late in range(length)]
        frame += max(1, length + int(rng.integers(*_PAUSES)))
    out = out[:, : SECONDS * RATE]
    level = float(np.sqrt((out[0] ** 2).mean())) * 10 ** (-SNR / 20)
    out += level * np.sqrt(np.array([[1], [1 / 3], [1 / 3], [1 / 3]])) * rng.standard_normal(out.shape)
    return np.array(rows, np.float64), np.rint(out * (20_000 / np.abs(out).max())).astype(np.int16)


def report(scenes: Sequence[Scene]) -> Iterator[str]:
    """The tables."""
    yield "| error in one clip | named | fits badly | wrong |"
    yield "| --- | --- | --- | --- |"
    clean = [said([fit(scene, "foa")]) for scene in scenes]
    yield f"| none | 0 of {len(scenes)} | 0 | {sum(bool(one) for one in clean)} |"
    for name, (change, code, _) in ERRORS.items():
        told = [said([fit(scene, "foa", change)]) for scene in scenes]
        yield _row(name, code, told)
    for name, gain in GAINS.items():
        change = mixed((0, 1, 2, 3), gain)
        told = [said([fit(scene, "foa", lambda rows, heard: (rows, change(heard)))]) for scene in scenes]  # noqa: B023
        yield _row(name, "AUD312", told)
    sets = [scenes[first : first + SET] for first in range(0, len(scenes) - SET + 1, SET)]
    if sets:
        clean = [said([fit(scene, "foa") for scene in some]) for some in sets]
        yield from ("", f"| error in all {SET} clips of a set | named | wrong |", "| --- | --- | --- |")
        yield f"| none | 0 of {len(sets)} | {sum(bool(one) for one in clean)} |"
        for name, (change, code) in SMALL.items():
            told = [said([fit(scene, "foa", change) for scene in some]) for some in sets]
            yield _row(name, f"{code}*", [Counter({key: n for key, n in one.items() if "*" in key}) for one in told])


def _row(name: str, code: str, told: Sequence[Counter[str]]) -> str:
    """A rule that is named, labels that fit badly for no known cause, and others; of sets, named and others."""
    badly = sum(set(one) == {"AUD310"} for one in told)
    wrong = sum(bool(one.keys() - {code, "AUD310"}) for one in told)
    middle = "" if code.endswith("*") else f" {badly} |"
    return f"| {name} | {sum(code in one for one in told)} of {len(told)} |{middle} {wrong} |"


def main(words: Sequence[str]) -> None:
    """Print the tables."""
    count = int(words[0]) if words else 32
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        kept = Path(words[1]) if len(words) > 1 else Path(folder)
        scenes = list(pool.map(partial(made, kept=kept), range(count)))
    print(f"{count} scenes, {SNR:g} dB", *report(scenes), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
