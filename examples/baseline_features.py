"""The input features of the DCASE baselines, with numpy alone: log-mel spectra, intensity vectors, GCC and SALSA-lite.

Run it to see that each of them tells where a plane wave is from. They are what the program of DCASE 2023 feeds its
network (sharathadavanne/seld-dcase2023 at 24d14c9, cls_feature_class.py), number for number, in the shape
(channels, frames, bands); `examples/features.py` has features for torch whose intensity vectors are unit vectors.

What to know about them:

- Signals are samples from -1 to 1. To all of them 1e-8 is added, so that silence has a phase.
- Frames are 20 ms apart (five to a label frame) and 40 ms long; the first one is centred on the first sample. What lies
  before that is zero with librosa since 0.10, and the mirrored signal before: `pad="reflect"`.
- The level of a channel ends 80 dB below its loudest value in the recording.
- Intensity vectors have the order of the channels behind W (Y, Z, X). Each bin is divided by |W|² + a third of
  |Y|² + |Z|² + |X|² before bands are summed up, so that lengths depend on the width of a band: directions count.
- SALSA-lite (Nguyen et al., "SALSA-Lite", ICASSP 2022) is meant to have no phases above 2 kHz, where pairs of the array
  alias. The program counts these bins from the first one that it keeps, so that two more have them.
"""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Spectra = NDArray[np.complex128]

RATE, HOP, WINDOW, FFT, BANDS = 24_000, 480, 960, 1024, 64
SOUND = 343.0  # metres per second
TINY = 1e-8


def spectra(audio: Floats, pad: str = "constant") -> Spectra:
    """The spectra of a recording.

    Args:
        audio: samples of four channels at 24 kHz, shape (samples, 4).
        pad: what lies outside of it: ``constant`` or ``reflect``.

    Returns:
        Shape (channels, frames, bins); a last frame that is not whole is left out.
    """
    edges = np.pad(audio.T + TINY, ((0, 0), (FFT // 2, FFT // 2)), "reflect" if pad == "reflect" else "constant")
    frames = np.lib.stride_tricks.sliding_window_view(edges, FFT, axis=1)[:, ::HOP][:, : len(audio) // HOP]
    bell = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
    return np.fft.rfft(frames * np.pad(bell, (FFT - WINDOW) // 2))


def mel_filters() -> Floats:
    """Triangles of equal area on the mel scale of Slaney's Auditory Toolbox; shape (bins, bands).

    It is linear up to 1 kHz (15 mel), then logarithmic: 27 mel to a factor of 6.4.
    """
    step = math.log(6.4) / 27
    mel = np.linspace(0, 15 + math.log(RATE / 2 / 1000) / step, BANDS + 2)
    edges = np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(step * (mel - 15)))
    low, peak, high = edges[:-2], edges[1:-1], edges[2:]
    bins = np.linspace(0, RATE / 2, FFT // 2 + 1)[:, None]
    sides = np.minimum((bins - low) / (peak - low), (high - bins) / (high - peak))
    return np.asarray(np.maximum(sides, 0) * 2 / (high - low))


def decibels(power: Floats, floor: float = 1e-10) -> Floats:
    """Levels in dB; nothing is below *floor*."""
    return np.asarray(10 * np.log10(np.maximum(power, floor)))


def log_mel(found: Spectra) -> Floats:
    """The level of each channel in each band."""
    levels = decibels(np.abs(found) ** 2 @ mel_filters())
    return np.maximum(levels, levels.max(axis=(1, 2), keepdims=True) - 80)


def intensity_vectors(found: Spectra) -> Floats:
    """Of FOA (W, Y, Z, X), the intensity towards y, z and x in each band."""
    w, others = found[0], found[1:]
    energy = TINY + np.abs(w) ** 2 + (np.abs(others) ** 2).sum(axis=0) / 3
    return np.asarray((w.conj() * others).real / energy @ mel_filters())


def gcc(found: Spectra) -> Floats:
    """Of each pair of microphones, GCC-PHAT at delays from -32 to 31 samples.

    The pairs are 0-1, 0-2, 0-3, 1-2, 1-3, 2-3; where the sound reaches the second one later, the delay is positive.
    """
    half = BANDS // 2

    def pairs() -> Iterator[Floats]:
        for one, other in combinations(found, 2):
            delays = np.fft.irfft(np.exp(1j * np.angle(one.conj() * other)))
            yield np.roll(delays, half, axis=-1)[..., :BANDS]

    return np.stack([*pairs()])


def salsa_lite(found: Spectra, lowest: float = 50, aliased: float = 2000, highest: float = 9000) -> Floats:
    """The level of each microphone, then how much nearer the second, third and fourth are than the first, in metres.

    Args:
        found: the spectra.
        lowest: the lowest frequency.
        aliased: the frequency above which phases say nothing.
        highest: the highest frequency.
    """
    first, alias, last = (int(frequency * FFT / RATE) for frequency in (lowest, aliased, highest))
    waves = 2 * np.pi * np.fft.rfftfreq(FFT, 1 / RATE)[max(first, 1) : last] / SOUND  # radians to the metre
    kept = found[:, :, max(first, 1) : last]
    ways = np.angle(kept[1:] * kept[0].conj()) / waves
    ways[..., alias:] = 0
    return np.concatenate([decibels(np.abs(kept) ** 2), ways])


if __name__ == "__main__":
    azimuth, elevation = math.radians(60), math.radians(20)
    flat = math.cos(elevation)
    towards = np.array([math.cos(azimuth) * flat, math.sin(azimuth) * flat, math.sin(elevation)])
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, RATE)

    foa = noise[:, None] * [1, towards[1], towards[2], towards[0]]
    y, z, x = intensity_vectors(spectra(foa)).mean(axis=(1, 2))
    print(
        f"intensity vectors: {math.degrees(math.atan2(y, x)):.0f}, {math.degrees(math.atan2(z, math.hypot(x, y))):.0f}"
    )

    # the tetrahedron of the MIC format: 4.2 cm from its centre
    looks = np.radians([[45, 35], [-45, -35], [135, -35], [-135, 35]])
    microphones = 0.042 * np.array(
        [[math.cos(a) * math.cos(e), math.sin(a) * math.cos(e), math.sin(e)] for a, e in looks]
    )
    ways = -microphones @ towards  # further than to the centre, in metres
    waves = np.fft.rfftfreq(len(noise), 1 / RATE)
    late = np.exp(-2j * np.pi * waves[:, None] * ways / SOUND)
    mic = np.fft.irfft(np.fft.rfft(noise)[:, None] * late, axis=0)
    found = spectra(mic)
    delay = gcc(found)[:, 1:-1].mean(axis=1).argmax(axis=-1) - BANDS // 2
    lags = [(ways[other] - ways[one]) * RATE / SOUND for one, other in combinations(range(4), 2)]
    print(f"GCC: {delay.tolist()} samples later, where {np.round(lags, 1).tolist()} are right")
    nearer = np.median(salsa_lite(found)[4:, 1:-1, :80], axis=(1, 2))
    right = 100 * (ways[0] - ways[1:])
    print(f"SALSA-lite: {(100 * nearer).round(1).tolist()} cm nearer, where {right.round(1).tolist()} are right")
