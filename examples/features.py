"""What a network sees of FOA recordings, and the loss of multi-ACCDOA that it learns by, with torch.

Run it to see what comes out for a plane wave, and that the order of the tracks does not matter. The features are those
of Cao et al., "Polyphonic Sound Event Detection and Localization using a Two-Stage Strategy", DCASE 2019, section 3,
which the DCASE baselines use as well. The loss is auxiliary duplicating permutation invariant training (ADPIT): Shimada
et al., "Multi-ACCDOA: Localizing and Detecting Overlapping Sounds from the Same Class with Auxiliary Duplicating
Permutation Invariant Training", ICASSP 2022, section 3.2; distances join x, y, z as in Krause et al., "Sound Event
Detection and Localization with Distance Estimation", EUSIPCO 2024.
"""

import math
from itertools import permutations

import torch
from torch import Tensor

#: The ways to give one source (A0), two (B0, B1) or three (C0, C1, C2) to three tracks, by dummy track of the target.
ONE = [(0, 0, 0)]
TWO = sorted({*permutations((1, 1, 2)), *permutations((1, 2, 2))})
THREE = sorted(permutations((3, 4, 5)))
WAYS = [*ONE, *TWO, *THREE]


def mel_filters(rate: int, fft: int, bands: int) -> Tensor:
    """Triangles of equal area on the mel scale, 2595 log10(1 + f / 700); shape (bands, fft // 2 + 1)."""
    mel = torch.linspace(0, 2595 * math.log10(1 + rate / 1400), bands + 2)
    edges = 700 * (10 ** (mel / 2595) - 1)  # Hz: where a band begins, has its peak, and ends
    frequency = torch.linspace(0, rate / 2, fft // 2 + 1)
    low, peak, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangles = torch.minimum((frequency - low) / (peak - low), (high - frequency) / (high - peak)).clamp(min=0)
    return triangles * 2 / (high - low)


def features(audio: Tensor, rate: int = 24_000, bands: int = 64, hop: float = 0.02) -> Tensor:
    """What a network sees of FOA audio (channels W, Y, Z, X; SN3D).

    Args:
        audio: shape (batch, 4, samples).
        rate: samples per second.
        bands: mel bands.
        hop: seconds between frames; five are a label frame.

    Returns:
        Shape (batch, 7, frames, bands): the log-mel power of W, Y, Z and X in dB, then the intensity vector's x, y
        and z. For a plane wave, that is the unit vector to its source: the intensity Re(W* [X, Y, Z]) is divided
        by the energy density (|W|² + |X|² + |Y|² + |Z|²) / 2, both summed over the band (Perotin et al.,
        "CRNN-Based Multiple DoA Estimation Using Acoustic Intensity Features for Ambisonics Recordings", 2019).
    """
    step = round(hop * rate)
    window = torch.hann_window(2 * step, device=audio.device)
    fft = 1 << (2 * step - 1).bit_length()
    spectrum = torch.stft(
        audio.flatten(0, 1), fft, step, 2 * step, window, pad_mode="constant", return_complex=True
    ).unflatten(0, audio.shape[:2])[..., : audio.shape[-1] // step]
    mel = mel_filters(rate, fft, bands).to(audio.device)
    w, y, z, x = spectrum.unbind(1)
    power = mel @ spectrum.abs() ** 2
    intensity = torch.stack([mel @ (w.conj() * part).real for part in (x, y, z)], dim=1)
    energy = power.sum(1, keepdim=True) / 2
    decibels = 10 * torch.log10(power + 1e-10)
    return torch.cat([decibels, intensity / (energy + 1e-10)], dim=1).transpose(2, 3)


def adpit(output: Tensor, target: Tensor) -> Tensor:
    """The mean squared error under the best of the 13 ways, chosen for each class and frame.

    Args:
        output: three tracks, shape (batch, frames, 3, parts, classes).
        target: ``multi-accdoa`` of seldio, shape (batch, frames, 6, 1 + parts, classes), the activity first.

    Returns:
        A scalar.
    """
    active = target[:, :, :, 0]  # (batch, frames, 6, classes)
    sources = target[:, :, :, 1:] * active[:, :, :, None]
    errors = torch.stack([(output - sources[:, :, list(way)]).square().mean((2, 3)) for way in WAYS])
    # as many sources as there are decide which ways apply; A0 is zero where the class is silent
    two, three = active[:, :, 1], active[:, :, 3]
    applies = torch.stack([1 - two - three] * len(ONE) + [two] * len(TWO) + [three] * len(THREE))
    return errors.masked_fill(applies < 0.5, torch.inf).min(0).values.mean()


if __name__ == "__main__":
    azimuth, elevation = math.radians(60), math.radians(20)
    flat = math.cos(elevation)
    gains = torch.tensor([1, math.sin(azimuth) * flat, math.sin(elevation), math.cos(azimuth) * flat])
    found = features(gains[None, :, None] * torch.randn(1, 1, 24_000))
    x, y, z = found[0, 4:].mean(dim=(1, 2)).tolist()
    heard = f"{math.degrees(math.atan2(y, x)):.0f}, {math.degrees(math.asin(z)):.0f}"
    print(f"{tuple(found.shape)}: noise from azimuth 60, elevation 20 is heard from {heard}")

    target = torch.zeros(1, 1, 6, 4, 13)
    target[0, 0, 1, :, 2] = torch.tensor([1.0, 1, 0, 0])  # two sources of class 2: front and left
    target[0, 0, 2, :, 2] = torch.tensor([1.0, 0, 1, 0])
    output = torch.zeros(1, 1, 3, 3, 13)
    output[0, 0, :, :, 2] = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 1, 0]])
    print(f"left, front, left: {adpit(output, target):.4f}")
    output[0, 0, 1, :, 2] = torch.tensor([-1.0, 0, 0])
    print(f"left, back, left: {adpit(output, target):.4f}")
