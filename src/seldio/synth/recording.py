"""Render a scene: every source through both array responses, in a room and with noise.

A label says what is heard at the array: sound that leaves a source in label frame k arrives in label frame k.
Reflections come later than that by their longer way.
"""

from __future__ import annotations

import dataclasses
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
from seldio.synth.sounds import Floats, Random, band, sound

Sound = np.ndarray[Any, np.dtype[np.float32]]

#: Amplitudes of W, Y, Z, X (SN3D) in a diffuse field whose pressure has power 1.
DIFFUSE = np.sqrt(np.array([[1], [1 / 3], [1 / 3], [1 / 3]]))
#: When the tail sets in and is whole, in mean times between two walls: before, the images are heard.
_TAIL = (1.0, 2.5)


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """A shoebox with the array in it, all walls alike."""

    size: tuple[float, float, float] = (7.0, 6.4, 3.0)  # metres: depth (front to back), width, height
    #: where the microphones are: metres from the back wall, from the right wall, from the floor
    array: tuple[float, float, float] = (3.6, 3.1, 1.5)
    reverberation: float = 0.25  # seconds in which sound falls by 60 dB (RT60); 0 is the open

    def __post_init__(self) -> None:
        """Refuse rooms that cannot be."""
        if not (math.isfinite(self.reverberation) and 0 <= self.reverberation <= 10):
            raise UsageError(f"a reverberation time is 0 to 10 seconds, not {self.reverberation}")
        if not all(0 < place < size < math.inf for place, size in zip(self.array, self.size, strict=True)):
            raise UsageError(f"the array at {self.array} m is not inside of a room of {self.size} m")
        if 0 < self.reverberation < self.shortest:
            raise UsageError(
                f"walls that swallow everything still leave {self.shortest:.2f} s in this room: "
                f"a reverberation of {self.reverberation} s cannot be (0 is the open)"
            )

    @property
    def walls(self) -> tuple[Floats, Floats]:
        """Coordinates (front, left, up of the array) of the walls: back, right and floor; front, left and ceiling."""
        low = -np.array(self.array)
        return low, np.array(self.size) + low

    @property
    def volume(self) -> float:
        """Cubic metres."""
        return math.prod(self.size)

    @property
    def surface(self) -> float:
        """Square metres."""
        depth, width, height = self.size
        return 2 * (depth * width + depth * height + width * height)

    @property
    def shortest(self) -> float:
        """The reverberation (s) if walls swallow all sound, by Sabine's formula."""
        return 24 * math.log(10) / SPEED * self.volume / self.surface

    @property
    def reflection(self) -> float:
        """The share of the amplitude that a wall gives back (Sabine: 1 - absorption is that of the power)."""
        return math.sqrt(1 - self.shortest / self.reverberation) if self.reverberation else 0.0

    @property
    def between_walls(self) -> float:
        """Seconds that sound takes from wall to wall in the mean: 4 V / (c S)."""
        return 4 * self.volume / (SPEED * self.surface)

    @property
    def critical(self) -> float:
        """The distance (m) at which a source and its reverberation are equally loud; endless in the open."""
        absorption = self.surface * (1 - self.reflection**2)
        return math.sqrt(absorption / (16 * math.pi)) if self.reverberation else math.inf

    def images(self, positions: Floats) -> Iterator[Floats]:
        """Return the first mirror images of *positions* (n, 3), one for each wall; UsageError outside the room."""
        if not self.reverberation:
            return
        low, high = self.walls
        if (positions <= low).any() or (positions >= high).any():
            far = positions[((positions <= low) | (positions >= high)).any(axis=1)][0].round(2).tolist()
            raise UsageError(f"a source at {far} m (front, left, up) is outside of the room; make the room larger")
        for walls in (low, high):
            for axis in range(3):
                image = positions.copy()
                image[:, axis] = 2 * walls[axis] - image[:, axis]
                yield image

    def tail(self, rate: int, rng: Random) -> Floats:
        """Impulse response of the diffuse field for a source of level 1 at 1 m: W, Y, Z, X, shape (4, frames).

        Noise of the power ``d / r² exp(-d t)`` with the decay ``d = 6 ln 10 / RT60`` and the critical distance r:
        all of it together is as loud as the source itself at the distance r.
        """
        decay = 6 * math.log(10) / self.reverberation
        time = np.arange(int(1.1 * self.reverberation * rate)) / rate
        first, whole = (times * self.between_walls for times in _TAIL)
        power = decay / rate / self.critical**2 * np.exp(-decay * time)
        fade = np.clip((time - first) / (whole - first), 0, 1)
        return np.asarray(np.sqrt(power) * np.sin(np.pi / 2 * fade) * DIFFUSE * rng.standard_normal((4, len(time))))


def reverberated(dry: Sound, tail: Floats) -> Sound:
    """*dry* (frames,) through a tail (4, t): shape (4, frames)."""
    taps = np.concatenate((np.zeros((4, tail.shape[1])), tail), axis=1)
    return _joined(encoding.filtered([dry[np.newaxis]], taps), len(dry))


def on_capsules(diffuse: Sound, rate: int) -> Sound:
    """A diffuse field in FOA as the capsules of MIC hear it, both of shape (4, frames).

    The mixtures of capsules that follow W, Y, Z and X keep the phase of those and get the power that the rigid
    sphere gives them in a diffuse field, so that level and coherence are right at all frequencies.
    """
    mixtures = _joined(encoding.filtered([diffuse], _capsule_taps(rate)), diffuse.shape[1])
    return np.asarray(encoding.MIX.T.astype(np.float32) @ mixtures)


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


def _joined(parts: Iterator[Floats], frames: int) -> Sound:
    made, at = np.empty((4, frames), np.float32), 0
    for part in parts:
        made[:, at : at + part.shape[1]] = part
        at += part.shape[1]
    return made


Samples = np.ndarray[Any, np.dtype[np.int16]]

RATE = 24_000
FORMATS: tuple[Format, ...] = ("foa", "mic")
#: Full scale of 16-bit recordings.
FULL = 32767
#: Sources nearer than this (m) are no louder than there.
NEAREST = 0.2
#: Power of what the microphones themselves hiss, as a share of all noise.
HISS = 0.1


@dataclasses.dataclass(frozen=True, slots=True)
class RecordingOptions:
    """How scenes are recorded."""

    room: Room = dataclasses.field(default_factory=Room)  # walls and reverberation
    #: decibels between the mean power while something sounds and the noise, in W; None is without noise
    snr: float | None = 30.0
    rate: int = RATE  # samples per second

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.snr is not None and not math.isfinite(self.snr):
            raise UsageError(f"a signal-to-noise ratio is a number of decibels, not {self.snr}")
        if not 8000 <= self.rate <= 192_000:
            raise UsageError(f"a sampling rate of {self.rate} Hz: choose one from 8000 to 192000")


def record(
    tracks: Sequence[Track], seconds: float, seed: int, options: RecordingOptions | None = None
) -> dict[Format, Samples]:
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
    options = options or RecordingOptions()
    waves = mix(tracks, seconds, seed, options)
    peak = max(float(np.abs(wave).max(initial=0.0)) for wave in waves.values())
    gain = FULL * min(1.0, 0.98 / peak if peak else 1.0)
    return {name: np.rint(wave * np.float32(gain)).astype(np.int16) for name, wave in waves.items()}


def mix(tracks: Sequence[Track], seconds: float, seed: int, options: RecordingOptions) -> dict[Format, Sound]:
    """Return the sound that :func:`record` rounds: float32, full scale being 1, shape (4, frames)."""
    frames = round(seconds * options.rate)
    waves = {name: np.zeros((len(CHANNELS[name]), frames), np.float32) for name in FORMATS}
    dry = np.zeros(frames, np.float32)
    for number, track in enumerate(tracks):
        start = round(clock.sample(track.first, options.rate))
        length = round(clock.sample(track.end, options.rate)) - start
        wave = sound(track.class_id, length, options.rate, random(seed, 1, number))
        add(dry, wave, start)
        times, positions = _knots(track)
        for arriving, places, late in ways(wave, times, positions, options):
            azimuth, elevation = geometry.to_polar(*places.T)
            for name in FORMATS:
                moving = times if len(times) > 1 else None
                add(waves[name], render(arriving, azimuth, elevation, options.rate, name, moving), start + late)
    around = np.zeros((4, frames), np.float32)
    if options.room.reverberation and tracks:
        around = reverberated(dry, options.room.tail(options.rate, random(seed, 2)))
    if options.snr is not None:
        level = _level(waves["foa"][0] + around[0], tracks, options.rate) * 10 ** (-options.snr / 20)
        around += level * math.sqrt(1 - HISS) * room_noise(frames, options.rate, seed)
        for number, name in enumerate(FORMATS):
            hiss = random(seed, 4, number).standard_normal((4, frames), np.float32)
            waves[name] += np.float32(level * math.sqrt(HISS)) * hiss
    waves["foa"] += around
    waves["mic"] += on_capsules(around, options.rate)
    return waves


def random(*seed: int) -> np.random.Generator:
    """Random numbers of their own for each use."""
    return np.random.default_rng(seed)


def add(out: Sound, wave: Sound, start: int) -> None:
    """Add *wave* to *out* from frame *start* on; what lies past the end is cut off."""
    target = out[..., start : start + wave.shape[-1]]
    target += wave[..., : target.shape[-1]]


# --- ways from a source to the array ------------------------------------------------------------------------


def ways(
    wave: Sound, times: Floats, positions: Floats, options: RecordingOptions
) -> Iterator[tuple[Sound, Floats, int]]:
    """The sound as it comes straight and from each wall, where it then seems to be, and how many frames later."""
    straight = np.linalg.norm(positions, axis=1)
    yield _at_distance(wave, times, straight, options.rate), positions, 0
    for image in options.room.images(positions):
        distance = np.linalg.norm(image, axis=1)
        quiet = _at_distance(wave, times, distance / options.room.reflection, options.rate)
        delayed, late = _delayed(quiet, times, (distance - straight) / SPEED, options.rate)
        yield delayed, image, late


def _knots(track: Track) -> tuple[Floats, Floats]:
    """Return times (s from the start of the sound) and positions: the labels' own, and those of start and end."""
    times = np.concatenate(([clock.onset(track.first)], track.knots, [clock.onset(track.end)]))
    positions = track.at(times)
    if not np.ptp(track.positions, axis=0).any():
        times, positions = times[:1], positions[:1]
    return times - clock.onset(track.first), positions


def _at_distance(wave: Sound, times: Floats, distance: Floats, rate: int) -> Sound:
    """Scale *wave* by 1/distance, which changes smoothly."""
    gain = 1 / np.maximum(distance, NEAREST)
    return np.asarray(wave * _on_samples(gain, times, len(wave), rate).astype(np.float32))


def _delayed(wave: Sound, times: Floats, delay: Floats, rate: int) -> tuple[Sound, int]:
    """Delay *wave* by *delay* (s), linear between samples; the whole frames of the shortest delay are left out."""
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


# --- noise --------------------------------------------------------------------------------------------------


def room_noise(frames: int, rate: int, *seed: int) -> Sound:
    """A diffuse field of power 1 in W that hums and rushes like a room: pink above 60 Hz."""
    rng = random(seed[0], 3, *seed[1:])
    noises = [band(frames, rate, rng, 60, 0.48 * rate, slope=-0.5) for _ in range(4)]
    return np.asarray((np.stack(noises) * DIFFUSE).astype(np.float32))


def _level(wave: Sound, tracks: Sequence[Track], rate: int) -> float:
    """Return the root mean square of *wave* (frames,) in the label frames in which something sounds."""
    active = np.zeros(len(wave), bool)
    for track in tracks:
        active[round(clock.sample(track.first, rate)) : round(clock.sample(track.end, rate))] = True
    return float(np.sqrt(np.mean(wave[active] ** 2, dtype=np.float64))) if active.any() else 1e-3
