"""Synthetic sounds of the classes of STARSS: tones and noise in the rhythm, pitch and range of each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator


def fast_size(frames: int) -> int:
    """A length of at least *frames* that transforms fast: 2, 3, 5 or 9 times a power of two, over 8."""
    best = 1 << max(1, (frames - 1).bit_length())
    return min(size for size in (best, best // 8 * 5, best // 4 * 3, best // 16 * 9) if size >= frames)


def band(frames: int, rate: int, rng: Random, low: float, high: float, slope: float = 0.0) -> Floats:
    """Noise of power 1 between *low* and *high* (Hz), its edges half an octave wide.

    Amplitudes go with the frequency to the power *slope* (-0.5 is pink).
    """
    size = fast_size(max(frames, 64))
    frequencies = np.fft.rfftfreq(size, 1 / rate)[1:]
    with np.errstate(over="ignore"):
        gain = 1 / np.sqrt((1 + (low / frequencies) ** 8) * (1 + (frequencies / high) ** 16))
    gain *= (frequencies / low) ** slope
    spectrum = np.fft.rfft(rng.standard_normal(size, np.float32))
    spectrum[0] = 0
    spectrum[1:] *= (gain / np.sqrt(2 * np.sum(gain**2) / size)).astype(np.float32)
    return np.asarray(np.fft.irfft(spectrum, size)[:frames], np.float64)


class Timbre(NamedTuple):
    """How a class sounds."""

    low: float  # Hz: the range of its noise
    high: float
    pitch: float  # Hz of its tones
    tonal: float  # the share of tones, from 0 to 1
    beats: float  # a second
    fall: float  # seconds in which a beat falls by 1/e


#: By index into the STARSS vocabulary.
TIMBRES = (
    Timbre(300, 5000, 210, 0.7, 4.5, 0.3),  # female speech
    Timbre(200, 4000, 115, 0.7, 4.0, 0.3),  # male speech
    Timbre(700, 5000, 100, 0.0, 5.0, 0.011),  # clapping
    Timbre(800, 6000, 950, 0.9, 1.0, 0.8),  # telephone
    Timbre(600, 5000, 260, 0.6, 5.0, 0.07),  # laughter
    Timbre(200, 9000, 118, 0.3, 1.0, 9.0),  # domestic sounds
    Timbre(100, 6000, 75, 0.4, 1.8, 0.03),  # footsteps
    Timbre(100, 6000, 95, 0.4, 0.6, 0.1),  # door
    Timbre(200, 9000, 220, 0.8, 4.0, 0.4),  # music
    Timbre(300, 8000, 440, 0.9, 3.3, 0.4),  # musical instrument
    Timbre(500, 9000, 100, 0.0, 1.0, 9.0),  # water tap
    Timbre(500, 9000, 720, 0.9, 0.8, 0.9),  # bell
    Timbre(170, 8000, 170, 0.4, 5.0, 0.02),  # knock
)
#: Root mean square of every sound at 1 m, full scale being 1; short ones are held down by :data:`PEAK`.
LEVEL = 0.04
#: The largest sample of any sound at 1 m.
PEAK = 0.24
#: Level of the rustle that runs below each sound, so that no label frame is silent.
_RUSTLE = 0.05
_HARMONICS = 10


def sound(class_id: int, frames: int, rate: int, rng: Random) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One event of a STARSS class as it is heard at 1 m, without a room: *frames* samples, *rate* a second, float32.

    It fades in and out over 5 ms within them; every label frame holds some sound. *rng* makes each event another one.
    """
    timbre = TIMBRES[class_id]
    time = np.arange(frames) / rate
    pitch, beats = (value * rng.uniform(0.9, 1.1) for value in (timbre.pitch, timbre.beats))
    wave = np.sqrt(1 - timbre.tonal) * band(frames, rate, rng, timbre.low, timbre.high)
    turns = pitch * (time - 0.01 / (2 * np.pi * beats) * np.cos(2 * np.pi * beats * time))  # one percent to and fro
    for harmonic in range(1, _HARMONICS + 1):
        if timbre.tonal and harmonic * pitch < 0.45 * rate:
            wave += np.sqrt(timbre.tonal) / harmonic * np.sin(2 * np.pi * (harmonic * turns + rng.random()))
    wave *= np.exp(-(time * beats % 1) / beats / timbre.fall)
    wave += _RUSTLE * np.sqrt(np.mean(wave**2)) * band(frames, rate, rng, 150, 6000)
    wave *= min(LEVEL / float(np.sqrt(np.mean(wave**2))), PEAK / float(np.abs(wave).max()))
    edge = min(frames // 2, rate // 200)
    fade = np.sin(np.pi / 2 * (np.arange(edge) + 0.5) / edge) ** 2
    wave[:edge] *= fade
    wave[frames - edge :] *= fade[::-1]
    return np.asarray(wave, np.float32)
