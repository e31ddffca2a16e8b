"""Synthetic sounds of the classes of STARSS: grains of noise and of damped tones, one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft

Floats = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator
Wave = TypeVar("Wave", bound=np.ndarray[Any, Any])

#: Root mean square of every sound at 1 m, full scale being 1; short ones are held down by :data:`PEAK`.
LEVEL = 0.04
#: The largest sample of any sound at 1 m.
PEAK = 0.24
#: Level of the rustle that runs below each sound, so that no label frame is silent.
_RUSTLE = 0.05
#: Seconds that a voice rings after each of its pulses.
_RING = 0.03


class Grains(NamedTuple):
    """The grains of a sound."""

    every: float  # seconds from one grain to the next
    seconds: float  # length of a grain
    tones: tuple[float, ...]  # Hz
    fall: float  # seconds in which the first tone and the noise fall by 1/e; higher tones fall faster
    noise: tuple[float, float, float]  # its band from and to (Hz), and its level beside that of the tones
    voice: float = 0.0  # Hz, pulses that the tones answer all through the grain; 0 where they are struck once
    jitter: float = 0.1  # share by which *every* varies


#: By index into the STARSS vocabulary.
SOUNDS = (
    Grains(0.25, 0.24, (590, 2000, 2800), 0.004, (2500, 7500, 0.2), 210),  # female speech
    Grains(0.28, 0.26, (500, 1700, 2400), 0.004, (2500, 7500, 0.2), 115),  # male speech
    Grains(0.2, 0.06, (1100, 1900), 0.011, (700, 5000, 1.0), jitter=0.2),  # clapping
    Grains(1.5, 1.0, (950, 1190, 1900, 2850, 4750), 0.6, (900, 5000, 0.02), jitter=0),  # telephone
    Grains(0.2, 0.13, (800, 1200, 2700), 0.004, (600, 5000, 0.3), 250),  # laughter
    Grains(0.5, 0.5, (118, 236, 354, 472, 590, 708), 2.0, (200, 9000, 1.0), jitter=0),  # domestic sounds
    Grains(0.55, 0.12, (75, 160, 420), 0.03, (900, 6000, 0.3)),  # footsteps
    Grains(0.8, 0.35, (55, 95, 180, 310, 640, 1250), 0.09, (300, 6000, 0.5), 45),  # door
    Grains(0.25, 0.6, (110, 220, 277, 330, 440, 554, 660, 880), 0.4, (6000, 11_000, 0.1), jitter=0),  # music
    Grains(0.3, 0.6, (440, 880, 1320, 1760, 2200, 2640), 0.45, (440, 5000, 0.02), jitter=0),  # instrument
    Grains(0.05, 0.1, (600, 900, 1500), 0.03, (500, 10_000, 3.0), jitter=0.7),  # water
    Grains(1.2, 2.4, (360, 720, 860, 1080, 1440, 1970, 2950), 1.2, (500, 6000, 0.02), jitter=0),  # bell
    Grains(0.25, 0.1, (170, 390, 820, 1900), 0.02, (800, 8000, 0.4)),  # knock
)


def sound(class_id: int, frames: int, rate: int, rng: Random) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one event of a STARSS class as heard at 1 m, without a room: *frames* samples, *rate* a second, float32.

    It fades in and out over 5 ms within them; every label frame holds some sound. *rng* makes each event another one.
    """
    grains, pitch = SOUNDS[class_id], rng.uniform(0.8, 1.25)
    wave, start = np.zeros(frames), 0.0
    while start < frames / rate:
        placed(wave, [(int(start * rate), _grain(grains, pitch * rng.uniform(0.95, 1.05), rate, rng))])
        start += grains.every * (1 + grains.jitter * rng.uniform(-1, 1))
    wave += _RUSTLE * np.sqrt(np.mean(wave**2)) * band(frames, rate, rng, 150, 6000)
    wave *= min(LEVEL / float(np.sqrt(np.mean(wave**2))), PEAK / float(np.abs(wave).max()))
    edge = min(frames // 2, rate // 200)
    fade = np.sin(np.pi / 2 * (np.arange(edge) + 0.5) / edge) ** 2
    wave[:edge] *= fade
    wave[frames - edge :] *= fade[::-1]
    return wave.astype(np.float32)


def _grain(grains: Grains, pitch: float, rate: int, rng: Random) -> Floats:
    """Return one grain, its tones of power 1; *pitch* is a factor."""
    frames = int(grains.seconds * rate)
    tones = pitch * np.array(grains.tones)
    falls = grains.fall * np.sqrt(tones[0] / tones)
    wave = damped(rate, _RING if grains.voice else grains.seconds, tones, falls)
    low, high, level = grains.noise
    noise = band(frames, rate, rng, low, high)
    if grains.voice:
        phase = np.cumsum(grains.voice * pitch * np.linspace(1.08, 0.92, frames)) / rate
        wave = np.convolve(np.diff(np.floor(phase), prepend=0.0), wave)[:frames] * np.hanning(frames) ** 0.5
    else:
        noise *= np.exp(-np.arange(frames) / (grains.fall * rate))
    return np.asarray(wave / np.sqrt(np.mean(wave**2)) + level * noise)


def band(frames: int, rate: int, rng: Random, low: float, high: float, slope: float = 0.0) -> Floats:
    """Return noise of power 1 between *low* and *high* (Hz), its edges half an octave wide.

    Amplitudes go with the frequency to the power *slope* (-0.5 is pink).
    """
    size = fft.next_fast_len(max(frames, 64), real=True)
    frequencies = fft.rfftfreq(size, 1 / rate)[1:]
    with np.errstate(over="ignore"):
        gain = 1 / np.sqrt((1 + (low / frequencies) ** 8) * (1 + (frequencies / high) ** 16))
    gain *= (frequencies / low) ** slope
    spectrum = fft.rfft(rng.standard_normal(size, np.float32))
    spectrum[0] = 0
    spectrum[1:] *= (gain / np.sqrt(2 * np.sum(gain**2) / size)).astype(np.float32)
    return np.asarray(fft.irfft(spectrum, size)[:frames], np.float64)


def damped(rate: int, seconds: float, pitches: ArrayLike, falls: ArrayLike) -> Floats:
    """Return a sum of tones (Hz) that fall by 1/e in *falls* seconds, the higher the softer; none above 0.45 *rate*."""
    time = np.arange(int(seconds * rate))[:, np.newaxis] / rate
    tones = np.asarray(pitches, np.float64)
    loud = (tones < 0.45 * rate) * np.sqrt(tones.min() / tones)
    return np.asarray(np.sum(loud * np.exp(-time / np.asarray(falls)) * np.sin(2 * np.pi * tones * time), axis=1))


def placed(out: Wave, grains: Iterable[tuple[int, Wave]]) -> Wave:
    """Add grains to *out*, each from its frame on; what lies past the end is cut off."""
    for start, grain in grains:
        target = out[..., start : start + grain.shape[-1]]
        target += grain[..., : target.shape[-1]]
    return out
