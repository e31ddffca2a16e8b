"""Render a scene: every source through both array responses, in a room and with noise.

A label says what is heard at the array: sound that leaves a source in label frame k arrives in label frame k.
Reflections come later than that by their longer way. The room is a shoebox with the array in it, all walls alike.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from seldio import clock, geometry
from seldio.errors import UsageError
from seldio.media import arrays, encoding
from seldio.media.arrays import CHANNELS, SPEED, Format
from seldio.media.encoding import render
from seldio.synth import Track
from seldio.synth.sounds import Floats, Random, band, placed, sound

Sound = np.ndarray[Any, np.dtype[np.float32]]
Samples = np.ndarray[Any, np.dtype[np.int16]]

RATE = 24_000
FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Full scale of 16-bit recordings.
FULL = 32767
#: Sources nearer than this (m) are no louder than there.
NEAREST = 0.2
#: Power of what the microphones themselves hiss, as a share of all noise.
HISS = 0.1
#: Metres of the room: depth (front to back), width, height; and where the array is, from back, right wall and floor.
ROOM, ARRAY = (7.0, 6.4, 3.0), (3.6, 3.1, 1.5)
#: Coordinates (front, left, up of the array) of back wall, right wall and floor; of front, left wall and ceiling.
WALLS = -np.array(ARRAY), np.array(ROOM) - np.array(ARRAY)
VOLUME = math.prod(ROOM)
SURFACE = 2 * (ROOM[0] * ROOM[1] + ROOM[0] * ROOM[2] + ROOM[1] * ROOM[2])
#: Seconds in which sound falls by 60 dB (RT60) if walls swallow all of it, by Sabine's formula.
SHORTEST = 24 * math.log(10) / SPEED * VOLUME / SURFACE
#: Seconds that sound takes from wall to wall in the mean: 4 V / (c S).
BETWEEN_WALLS = 4 * VOLUME / (SPEED * SURFACE)
#: Amplitudes of W, Y, Z, X (SN3D) in a diffuse field whose pressure has power 1.
DIFFUSE = np.sqrt(np.array([[1], [1 / 3], [1 / 3], [1 / 3]]))
#: When the tail sets in and is whole, in mean times between two walls: before, the images are heard.
_TAIL = (1.0, 2.5)


@dataclasses.dataclass(frozen=True, slots=True)
class RecordingOptions:
    """How scenes are recorded."""

    reverberation: float = 0.25  # seconds in which sound falls by 60 dB (RT60); 0 is the open
    #: decibels between the mean power while something sounds and the noise, in W; None is without noise
    snr: float | None = 30.0
    rate: int = RATE  # samples per second

    def __post_init__(self) -> None:
        """Refuse a reverberation that these walls cannot have."""
        if self.reverberation and not SHORTEST <= self.reverberation <= 10:
            raise UsageError(f"a reverberation time is {SHORTEST:.2f} to 10 seconds, or 0, not {self.reverberation}")

    @property
    def reflection(self) -> float:
        """The share of the amplitude that a wall gives back (Sabine: 1 - absorption is that of the power)."""
        return math.sqrt(1 - SHORTEST / self.reverberation)


def record(
    tracks: Sequence[Track], seconds: float, seed: int, options: RecordingOptions | None = None
) -> dict[Format, Samples]:
    """Return a scene in both formats, made of the same sources, the same room and the same noise around.

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
    options = options or RecordingOptions()
    rate, frames = options.rate, round(seconds * options.rate)
    waves = {name: np.zeros((len(CHANNELS[name]), frames), np.float32) for name in FORMATS}
    dry = np.zeros(frames, np.float32)
    active = np.zeros(frames, bool)
    for number, track in enumerate(tracks):
        start, end = (round(clock.seconds(frame) * rate) for frame in (track.first, track.end))
        active[start:end] = True
        wave = sound(track.class_id, end - start, rate, np.random.default_rng((seed, 1, number)))
        placed(dry, [(start, wave)])
        # times from the start of the sound, and positions: the labels' own, and those of start and end
        times = np.concatenate(([clock.onset(track.first)], track.knots, [clock.onset(track.end)]))
        positions = track.at(times)
        if not np.ptp(track.positions, axis=0).any():
            times, positions = times[:1], positions[:1]
        times = times - clock.onset(track.first)
        for arriving, places, late in _ways(wave, times, positions, options):
            azimuth, elevation = geometry.to_polar(*places.T)
            for name in FORMATS:
                moving = times if len(times) > 1 else None
                placed(waves[name], [(start + late, render(arriving, azimuth, elevation, rate, name, moving))])
    around = np.zeros((4, frames), np.float32)
    if options.reverberation and tracks:
        around = _filtered(dry[np.newaxis], _tail(options, np.random.default_rng((seed, 2))))
    if options.snr is not None:
        heard = (waves["foa"][0] + around[0])[active]
        level = float(np.sqrt(np.mean(heard**2, dtype=np.float64))) if len(heard) else 1e-3
        level *= 10 ** (-options.snr / 20)
        # a room hums and rushes: a diffuse field of power 1 in W, pink above 60 Hz
        rng = np.random.default_rng((seed, 3))
        noises = np.stack([band(frames, rate, rng, 60, 0.48 * rate, slope=-0.5) for _ in range(4)])
        around += level * math.sqrt(1 - HISS) * np.asarray((noises * DIFFUSE).astype(np.float32))
        for number, name in enumerate(FORMATS):
            hiss = np.random.default_rng((seed, 4, number)).standard_normal((4, frames), np.float32)
            waves[name] += np.float32(level * math.sqrt(HISS)) * hiss
    waves["foa"] += around
    # mixtures of the capsules follow W, Y, Z and X with the power that the rigid sphere gives them in a diffuse field
    waves["mic"] += encoding.MIX.T.astype(np.float32) @ _filtered(around, _capsule_taps(rate))
    peak = max(float(np.abs(wave).max(initial=0.0)) for wave in waves.values())
    gain = FULL * min(1.0, 0.98 / peak if peak else 1.0)
    return {name: np.rint(wave * np.float32(gain)).astype(np.int16) for name, wave in waves.items()}


# --- ways from a source to the array ------------------------------------------------------------------------


def _ways(
    wave: Sound, times: Floats, positions: Floats, options: RecordingOptions
) -> Iterator[tuple[Sound, Floats, int]]:
    """Yield the sound as it comes straight and from each wall, where it then seems to be, and how many frames later."""
    straight = np.linalg.norm(positions, axis=1)
    yield _at_distance(wave, times, straight, options.rate), positions, 0
    if not options.reverberation:
        return
    low, high = WALLS
    if (positions <= low).any() or (positions >= high).any():
        raise UsageError(f"a source is outside of the room, which is {ROOM[0]:g} x {ROOM[1]:g} x {ROOM[2]:g} m")
    for wall, axis in itertools.product((low, high), range(3)):  # the first mirror images
        image = positions.copy()
        image[:, axis] = 2 * wall[axis] - image[:, axis]
        distance = np.linalg.norm(image, axis=1)
        quiet = _at_distance(wave, times, distance / options.reflection, options.rate)
        delayed, late = _delayed(quiet, times, (distance - straight) / SPEED, options.rate)
        yield delayed, image, late


def _at_distance(wave: Sound, times: Floats, distance: Floats, rate: int) -> Sound:
    """Scale *wave* by 1/distance, which changes smoothly."""
    gain = 1 / np.maximum(distance, NEAREST)
    return np.asarray(wave * np.interp(np.arange(len(wave)) / rate, times, gain).astype(np.float32))


def _delayed(wave: Sound, times: Floats, delay: Floats, rate: int) -> tuple[Sound, int]:
    """Delay *wave* by *delay* (s), linear between samples; the whole frames of the shortest delay are left out."""
    late = int(delay.min() * rate)
    spare = int(delay.max() * rate) + 2 - late
    samples = np.arange(len(wave) + spare)
    place = samples - np.interp(samples / rate, times, delay * rate - late)
    return np.interp(place, np.arange(len(wave)), wave, 0, 0).astype(np.float32), late


# --- what surrounds the array -------------------------------------------------------------------------------


def _tail(options: RecordingOptions, rng: Random) -> Floats:
    """Return the impulse response of the diffuse field for a source of level 1 at 1 m: W, Y, Z, X, shape (4, frames).

    Noise of the power ``d / r² exp(-d t)`` with the decay ``d = 6 ln 10 / RT60`` and the critical distance r:
    all of it together is as loud as the source itself at the distance r.
    """
    decay = 6 * math.log(10) / options.reverberation
    critical = SURFACE * (1 - options.reflection**2) / (16 * math.pi)  # its square
    time = np.arange(int(1.1 * options.reverberation * options.rate)) / options.rate
    first, whole = (times * BETWEEN_WALLS for times in _TAIL)
    power = decay / options.rate / critical * np.exp(-decay * time)
    fade = np.clip((time - first) / (whole - first), 0, 1)
    wave = np.sqrt(power) * np.sin(np.pi / 2 * fade) * DIFFUSE * rng.standard_normal((4, len(time)))
    return np.concatenate((np.zeros(wave.shape), wave), axis=1)


@lru_cache(maxsize=4)
def _capsule_taps(rate: int) -> Floats:
    length = encoding.power_of_two(0.02 * rate)
    frequencies = encoding.grid(rate, length)
    terms = arrays.terms_for(float(frequencies[-1]))
    covariance = arrays.diffuse_covariance(frequencies, terms)
    power = np.einsum("im,fmk,ik->if", encoding.MIX, covariance, encoding.MIX)
    modes = arrays.modes(frequencies, terms)[:, [0, 1, 1, 1]].T
    size = np.abs(modes)
    phase = np.divide(modes, size, out=np.ones_like(modes), where=size > 0)
    return encoding.taps_of(phase * np.sqrt(power) / DIFFUSE, length)


def _filtered(waves: Sound, taps: Floats) -> Sound:
    """Return one or four *waves* through four filters, shape (4, frames)."""
    frames = waves.shape[1]
    return np.concatenate([*encoding.filtered([waves], taps)], axis=1)[:, :frames].astype(np.float32)
