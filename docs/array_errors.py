"""The tables of docs/concepts/channels.md, measured on the filters as they are applied (at 24 kHz)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seldio import geometry
from seldio.media import arrays, encoding, rotations

RATE = 24_000
OCTAVES = (63, 125, 250, 500, 1000, 2000, 4000, 8000)
TOP = 9_000
POINTS = 24


def tables() -> dict[str, str]:
    """Each table by the name of its place in the page."""
    return {
        "mic-to-foa": _table(
            ("octave (Hz)", "median", "95 %", "worst", "below 30° el.", "30° to 60°", "above 60°",
             "W", "Y, Z, X", "W by direction", "noise"),
            _mic_to_foa(),
        ),
        "foa-to-mic": _table(
            ("octave (Hz)", "error", "level", "level by direction", "found: median", "95 %", "worst"), _foa_to_mic()
        ),
        "rotations": _table(("name", "azimuth", "elevation", "W, Y, Z, X", "M1, M2, M3, M4"), _rotations()),
    }  # fmt: skip


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _bands() -> Iterator[tuple[str, np.ndarray]]:
    for octave in OCTAVES:
        low, high = octave / 2**0.5, min(octave * 2**0.5, TOP)
        yield f"{octave}" if high < TOP else f"{octave} (to 9000)", np.geomspace(low, high, POINTS)


def _sphere(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Directions spread evenly over the sphere (Fibonacci)."""
    number = np.arange(count)
    azimuth = geometry.wrap(number * 180 * (3 - 5**0.5) % 360)
    return azimuth, np.degrees(np.arcsin(1 - (2 * number + 1) / count))


def _mic_to_foa() -> Iterator[tuple[str, ...]]:
    azimuth, elevation = _sphere(1000)
    groups = [(np.abs(elevation) >= low) & (np.abs(elevation) < low + 30) for low in (0, 30, 60)]
    for name, frequencies in _bands():
        filter = encoding.encoding_response(RATE, "foa", frequencies)
        made = np.einsum("foc,nfc->nfo", filter, arrays.mic_response(azimuth, elevation, frequencies))
        intensity = (made[..., :1].conj() * made[..., 1:]).real.sum(axis=1)
        y, z, x = intensity.T
        off = geometry.great_circle(*geometry.to_polar(x, y, z), azimuth, elevation)
        power = np.abs(made) ** 2
        level = _db(power.mean(axis=(0, 1)) * [1, 3, 3, 3])
        noise = _db((np.abs(filter[:, 1:]) ** 2).sum(axis=2).max())
        yield (
            name,
            *(f"{value:.1f}°" for value in (*np.percentile(off, (50, 95, 100)), *(off[g].mean() for g in groups))),
            _signed(level[0]),
            _signed(level[1:].mean()),
            _range(_db(power[..., 0].mean(axis=1))),
            _signed(noise),
        )


def _foa_to_mic() -> Iterator[tuple[str, ...]]:
    azimuth, elevation = _sphere(300)
    around = _sphere(3000)
    for name, frequencies in _bands():
        true = arrays.mic_response(azimuth, elevation, frequencies)
        filter = encoding.encoding_response(RATE, "mic", frequencies)
        made = np.einsum("foc,nc->nfo", filter, arrays.foa_response(azimuth, elevation))
        off = geometry.great_circle(*_best_match(made, frequencies, *around), azimuth, elevation)
        level = _db((np.abs(made) ** 2).mean(axis=1) / (np.abs(true) ** 2).mean(axis=1))
        total = (np.abs(true) ** 2).sum()
        yield (
            name,
            _signed(_db((np.abs(made - true) ** 2).sum() / total)),
            _signed(_db((np.abs(made) ** 2).sum() / total)),
            _range(level),
            *(f"{value:.1f}°" for value in np.percentile(off, (50, 95, 100))),
        )


def _best_match(
    sound: np.ndarray, frequencies: np.ndarray, azimuth: np.ndarray, elevation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of these directions the one whose steering vectors, taken over the band, fit each row of *sound* best."""
    steering = arrays.mic_response(azimuth, elevation, frequencies)
    steering /= np.linalg.norm(steering, axis=2, keepdims=True)
    fit = sum(np.abs(sound[:, f] @ steering[:, f].conj().T) ** 2 for f in range(len(frequencies)))
    best = np.argmax(fit, axis=1)
    return azimuth[best], elevation[best]


def _rotations() -> Iterator[tuple[str, ...]]:
    for name, rotation in rotations.ROTATIONS["foa"].items():
        azimuth, elevation = name.split(" ")
        moved = [", ".join(_channels(rotation, "foa"))]
        moved.append(", ".join(_channels(rotation, "mic")) if name in rotations.ROTATIONS["mic"] else "")
        yield f"`{name}`", azimuth.replace("+0", ""), f"{elevation[2:].replace('+', '')}el", *moved


def _channels(rotation: rotations.Rotation, format: arrays.Format) -> Iterator[str]:
    for source, sign in rotations.channels(rotation, format):
        yield f"{'-' if sign < 0 else ''}{arrays.CHANNELS[format][source]}"


def _db(power: np.ndarray | float) -> np.ndarray:
    return 10 * np.log10(power)


def _signed(value: float) -> str:
    return f"{np.round(value, 1) + 0.0:+.1f} dB"


def _range(values: np.ndarray) -> str:
    return f"{_signed(values.min())[:-3]} to {_signed(values.max())}"
