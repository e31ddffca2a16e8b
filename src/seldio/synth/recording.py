"""What a scene sounds like: every source through both array responses, with a room and with noise.

A label says what is heard at the array: sound that leaves a source in label frame k arrives in label frame k.
Reflections come later than that by their longer way.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seldio import clock, geometry
from seldio.errors import UsageError
from seldio.media.arrays import CHANNELS, SPEED, Format
from seldio.media.render import render
from seldio.synth.grains import Floats, band
from seldio.synth.room import DIFFUSE, Room, Sound, on_capsules, reverberated
from seldio.synth.scenes import Track
from seldio.synth.sounds import sound

Samples = np.ndarray[Any, np.dtype[np.int16]]

RATE = 24_000
FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Full scale of 16-bit recordings.
FULL = 32767
#: Sources nearer than this (m) are no louder than there.
_NEAREST = 0.2
#: Power of what the microphones themselves hiss, as a share of all noise.
_HISS = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How scenes are recorded.

    Args:
        room: walls and reverberation.
        snr: decibels between the mean power while something sounds and the noise, in W; None is without noise.
        rate: samples a second.
    """

    room: Room = dataclasses.field(default_factory=Room)
    snr: float | None = 30.0
    rate: int = RATE

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.snr is not None and not math.isfinite(self.snr):
            raise UsageError(f"a signal-to-noise ratio is a number of decibels, not {self.snr}")
        if not 8000 <= self.rate <= 192_000:
            raise UsageError(f"a sampling rate of {self.rate} Hz: choose one from 8000 to 192000")


def record(
    tracks: Sequence[Track], seconds: float, seed: int, options: Options | None = None
) -> dict[Format, Samples]:  # fmt: skip
    """A scene in both formats, made of the same sources, the same room and the same noise around.

    Args:
        tracks: what sounds; sound outside of the clip is cut off.
        seconds: length of the clip.
        seed: for sounds and noise; the same seed gives the same samples.
        options: room, noise and rate.

    Returns:
        ``foa`` (W, Y, Z, X) and ``mic`` (M1 … M4), each of shape (4, frames), 16 bits. One gain is used for all
        channels of both formats: 1, unless the scene would be cut off at full scale.

    Raises:
        UsageError: a track outside of the room.
    """
    options = options or Options()
    waves = mix(tracks, seconds, seed, options)
    peak = max(float(np.abs(wave).max(initial=0.0)) for wave in waves.values())
    gain = FULL * min(1.0, 0.98 / peak if peak else 1.0)
    return {name: np.rint(wave * np.float32(gain)).astype(np.int16) for name, wave in waves.items()}


def mix(tracks: Sequence[Track], seconds: float, seed: int, options: Options) -> dict[Format, Sound]:
    """What :func:`record` rounds: float32, full scale being 1, shape (4, frames)."""
    frames = round(seconds * options.rate)
    waves = {name: np.zeros((len(CHANNELS[name]), frames), np.float32) for name in FORMATS}
    dry = np.zeros(frames, np.float32)
    for number, track in enumerate(tracks):
        start = round(clock.sample(track.first, options.rate))
        wave = sound(track.class_id, _length(track, options.rate), options.rate, _random(seed, 1, number))
        _add(dry, wave, start)
        for heard, way, late in _ways(wave, track, options):
            for name in FORMATS:
                _add(waves[name], _rendered(heard, way, options.rate, name), start + late)
    around = np.zeros((4, frames), np.float32)
    if options.room.reverberation and tracks:
        around = reverberated(dry, options.room.tail(options.rate, _random(seed, 2)))
    if options.snr is not None:
        level = _level(waves["foa"][0] + around[0], tracks, options.rate) * 10 ** (-options.snr / 20)
        around += level * math.sqrt(1 - _HISS) * _room_noise(frames, options.rate, seed)
        for number, name in enumerate(FORMATS):
            hiss = _random(seed, 4, number).standard_normal((4, frames), np.float32)
            waves[name] += np.float32(level * math.sqrt(_HISS)) * hiss
    waves["foa"] += around
    waves["mic"] += on_capsules(around, options.rate)
    return waves


def _random(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _length(track: Track, rate: int) -> int:
    return round(clock.sample(track.end, rate)) - round(clock.sample(track.first, rate))


def _add(out: Sound, wave: Sound, start: int) -> None:
    some = out[..., start : start + wave.shape[-1]]
    some += wave[..., : some.shape[-1]]


# --- ways from a source to the array ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class _Way:
    """Directions (degrees) at times (s) from the start of a sound."""

    times: Floats
    azimuth: Floats
    elevation: Floats


def _ways(wave: Sound, track: Track, options: Options) -> Iterator[tuple[Sound, _Way, int]]:
    """The sound as it comes straight and from each wall, with its directions, and how many frames later."""
    times, positions = _knots(track)
    straight = np.linalg.norm(positions, axis=1)
    yield _at_distance(wave, times, straight, options.rate), _way(times, positions), 0
    for image in options.room.images(positions):
        distance = np.linalg.norm(image, axis=1)
        gain = options.room.reflection
        quiet = _at_distance(wave, times, distance / gain, options.rate)
        delayed, late = _delayed(quiet, times, (distance - straight) / SPEED, options.rate)
        yield delayed, _way(times, image), late


def _knots(track: Track) -> tuple[Floats, Floats]:
    """Times (s from the start of the sound) and positions: the labels' own, and where the sound begins and ends."""
    times = np.concatenate(([clock.onset(track.first)], track.knots, [clock.onset(track.end)]))
    positions = track.at(times)
    if not np.ptp(track.positions, axis=0).any():
        times, positions = times[:1], positions[:1]
    return times - clock.onset(track.first), positions


def _way(times: Floats, positions: Floats) -> _Way:
    return _Way(times, *geometry.to_polar(*positions.T))


def _at_distance(wave: Sound, times: Floats, distance: Floats, rate: int) -> Sound:
    """*wave* by 1/distance, which changes smoothly."""
    gain = 1 / np.maximum(distance, _NEAREST)
    return np.asarray(wave * _on_samples(gain, times, len(wave), rate).astype(np.float32))


def _delayed(wave: Sound, times: Floats, delay: Floats, rate: int) -> tuple[Sound, int]:
    """*wave* later by *delay* (s), straight between samples; the whole frames of the shortest delay are left out."""
    late = int(delay.min() * rate)
    spare = int(delay.max() * rate) + 2 - late
    shift = _on_samples(delay * rate - late, times, len(wave) + spare, rate)
    place = np.arange(len(wave) + spare) - shift
    left = np.floor(place).astype(np.int64)
    share = (place - left).astype(np.float32)
    padded = np.concatenate((np.zeros(spare + 1, np.float32), wave, np.zeros(spare + 2, np.float32)))
    left += spare + 1
    return (1 - share) * padded[left] + share * padded[left + 1], late


def _on_samples(values: Floats, times: Floats, frames: int, rate: int) -> Floats:
    return np.interp(np.arange(frames) / rate, times, values) if len(values) > 1 else np.full(frames, values[0])


def _rendered(wave: Sound, way: _Way, rate: int, name: Format) -> Sound:
    times = way.times if len(way.times) > 1 else None
    return render(wave, way.azimuth, way.elevation, rate, name, times)


# --- noise --------------------------------------------------------------------------------------------------


def _room_noise(frames: int, rate: int, seed: int) -> Sound:
    """A diffuse field of power 1 in W that hums and rushes like a room: pink above 60 Hz."""
    rng = _random(seed, 3)
    found = [band(frames, rate, rng, 60, 0.48 * rate, slope=-0.5) for _ in range(4)]
    return np.asarray((np.stack(found) * DIFFUSE).astype(np.float32))


def _level(wave: Sound, tracks: Sequence[Track], rate: int) -> float:
    """Root mean square of *wave* (frames,) in the label frames in which something sounds."""
    active = np.zeros(len(wave), bool)
    for track in tracks:
        active[round(clock.sample(track.first, rate)) : round(clock.sample(track.end, rate))] = True
    return float(np.sqrt(np.mean(wave[active] ** 2, dtype=np.float64))) if active.any() else 1e-3
