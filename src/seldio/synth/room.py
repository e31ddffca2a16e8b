"""A room: early reflections by image sources, and a diffuse tail that decays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from seldio.errors import UsageError
from seldio.media import arrays, encoding, filters
from seldio.media.arrays import SPEED
from seldio.synth.grains import Floats, Random

Sound = np.ndarray[Any, np.dtype[np.float32]]

#: Amplitudes of W, Y, Z, X (SN3D) in a diffuse field whose pressure has power 1.
DIFFUSE = np.sqrt(np.array([[1], [1 / 3], [1 / 3], [1 / 3]]))
#: When the tail sets in and is whole, in mean times between two walls: before, the images are heard.
_TAIL = (1.0, 2.5)


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """A shoebox with the array in it, all walls alike.

    Args:
        size: metres: depth (front to back), width, height.
        array: where the microphones are: metres from the back wall, from the right wall, from the floor.
        reverberation: seconds in which sound falls by 60 dB (RT60); 0 is the open.
    """

    size: tuple[float, float, float] = (7.0, 6.4, 3.0)
    array: tuple[float, float, float] = (3.6, 3.1, 1.5)
    reverberation: float = 0.25

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
        """The first mirror images of *positions* (n, 3), one for each wall; none in the open.

        Raises:
            UsageError: a position is outside of the room.
        """
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
    return _joined(filters.filtered([dry[np.newaxis]], taps), len(dry))


def on_capsules(diffuse: Sound, rate: int) -> Sound:
    """A diffuse field in FOA as the capsules of MIC hear it, both of shape (4, frames).

    The mixtures of capsules that follow W, Y, Z and X keep the phase of those and get the power that the rigid
    sphere gives them in a diffuse field, so that level and coherence are right at all frequencies.
    """
    made = _joined(filters.filtered([diffuse], _capsule_taps(rate)), diffuse.shape[1])
    return np.asarray(encoding.MIX.T.astype(np.float32) @ made)


@lru_cache(maxsize=4)
def _capsule_taps(rate: int) -> Floats:
    length = filters.power_of_two(0.02 * rate)
    frequencies = filters.grid(rate, length)
    terms = arrays.terms_for(float(frequencies[-1]))
    covariance = arrays.diffuse_covariance(frequencies, terms)
    power = np.einsum("im,fmk,ik->if", encoding.MIX, covariance, encoding.MIX)
    modes = arrays.modes(frequencies, terms)[:, [0, 1, 1, 1]].T
    size = np.abs(modes)
    phase = np.divide(modes, size, out=np.ones_like(modes), where=size > 0)
    return filters.taps_of(phase * np.sqrt(power) / DIFFUSE, length)


def _joined(parts: Iterator[Floats], frames: int) -> Sound:
    made, at = np.empty((4, frames), np.float32), 0
    for part in parts:
        made[:, at : at + part.shape[1]] = part
        at += part.shape[1]
    return made
