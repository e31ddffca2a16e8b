"""Synthetic sounds of the classes of STARSS, made from noise, pulses and damped tones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

Floats = np.ndarray[Any, np.dtype[np.float64]]
Random = np.random.Generator
Wave = TypeVar("Wave", bound=np.ndarray[Any, Any])


def fast_size(frames: int) -> int:
    """Return a length of at least *frames* that transforms fast: 2, 3, 5 or 9 times a power of two, over 8."""
    best = 1 << max(1, (frames - 1).bit_length())
    return min(size for size in (best, best // 8 * 5, best // 4 * 3, best // 16 * 9) if size >= frames)


def band(frames: int, rate: int, rng: Random, low: float, high: float, slope: float = 0.0) -> Floats:
    """Return noise of power 1 between *low* and *high* (Hz), its edges half an octave wide.

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


def damped(rate: int, seconds: float, pitches: ArrayLike, falls: ArrayLike, levels: ArrayLike) -> Floats:
    """Return a sum of tones that fall by 1/e in *falls* seconds, from *levels*; without those above 45 % of *rate*."""
    time = np.arange(int(seconds * rate)) / rate
    rows = np.broadcast_arrays(np.asarray(pitches, np.float64), falls, levels)
    made = np.zeros(len(time))
    for pitch, fall, level in zip(*rows, strict=True):
        if pitch < 0.45 * rate:
            made += level * np.exp(-time / fall) * np.sin(2 * np.pi * pitch * time)
    return made


def placed(out: Wave, grains: Iterable[tuple[int, Wave]]) -> Wave:
    """Add grains to *out*, each from its frame on; what lies past the end is cut off."""
    for start, grain in grains:
        target = out[..., start : start + grain.shape[-1]]
        target += grain[..., : target.shape[-1]]
    return out


def pulses(tune: Floats, rate: int, ring: Floats) -> Floats:
    """Return a train of pulses, *tune* (Hz for each frame) of them a second, each of which rings like *ring*."""
    phase = np.cumsum(tune) / rate
    train = np.diff(np.floor(phase), prepend=0.0)
    size = fast_size(len(tune) + len(ring))
    return np.asarray(np.fft.irfft(np.fft.rfft(train, size) * np.fft.rfft(ring, size), size)[: len(tune)])


#: Root mean square of every sound at 1 m, full scale being 1; short ones are held down by :data:`PEAK`.
LEVEL = 0.04
#: The largest sample of any sound at 1 m.
PEAK = 0.24
#: Level of the rustle that runs below each sound, so that no label frame is silent.
_RUSTLE = 0.05

#: Formants (Hz) of five vowels of a man: a, e, i, o, u.
_VOWELS = np.array([(730, 1090, 2440), (530, 1840, 2480), (270, 2290, 3010), (570, 840, 2410), (300, 870, 2240)])
_WIDTHS = np.array([80.0, 100.0, 140.0])


def sound(class_id: int, frames: int, rate: int, rng: Random) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return one event of a STARSS class as heard at 1 m, without a room: *frames* samples, *rate* a second, float32.

    It fades in and out over 5 ms within them; every label frame holds some sound. *rng* makes each event another one.
    """
    wave = SOUNDS[class_id](frames, rate, rng)
    wave += _RUSTLE * np.sqrt(np.mean(wave**2)) * band(frames, rate, rng, 150, 6000)
    wave *= min(LEVEL / float(np.sqrt(np.mean(wave**2))), PEAK / float(np.abs(wave).max()))
    edge = min(frames // 2, rate // 200)
    fade = np.sin(np.pi / 2 * (np.arange(edge) + 0.5) / edge) ** 2
    wave[:edge] *= fade
    wave[frames - edge :] *= fade[::-1]
    return wave.astype(np.float32)


# --- people ------------------------------------------------------------------------------------------------


def _speech(pitch: float, scale: float) -> Callable[[int, int, Random], Floats]:
    def made(frames: int, rate: int, rng: Random) -> Floats:
        out = np.zeros(frames)
        at = 0
        base = pitch * rng.uniform(0.9, 1.1)
        while at < frames:
            long = int(rate * rng.uniform(0.16, 0.3))
            tune = base * (1 + 0.15 * rng.uniform(-1, 1)) * np.linspace(1.08, 0.92, long)
            voiced = _voiced(tune, _VOWELS[rng.integers(5)] * scale, rate)
            parts = [(at, voiced * np.hanning(long) ** 0.5)]
            if rng.random() < 0.4:
                hiss = band(int(0.08 * rate), rate, rng, 2500, 7500)
                parts.append((at, 0.25 * np.std(voiced) * hiss * np.hanning(len(hiss))))
            placed(out, parts)
            at += int(long * (1.0 if rng.random() < 0.85 else 2.0))
        return out

    return made


def _laughter(frames: int, rate: int, rng: Random) -> Floats:
    out = np.zeros(frames)
    step, pitch = int(0.2 * rate), rng.uniform(190, 320)
    for number, at in enumerate(range(0, frames, step)):
        turn = number % 7
        if turn == 6:
            continue
        tune = np.full(int(0.13 * rate), pitch * (1.3 - 0.08 * turn))
        voiced = _voiced(tune, _VOWELS[0] * 1.1, rate) * np.hanning(len(tune))
        breath = band(int(0.09 * rate), rate, rng, 600, 5000) * np.hanning(int(0.09 * rate))
        placed(out, [(at + int(0.06 * rate), voiced), (at, 0.3 * np.std(voiced) * breath)])
    return out


def _voiced(tune: Floats, formants: Floats, rate: int) -> Floats:
    ring = damped(rate, 0.03, formants, 1 / (np.pi * _WIDTHS), (1.0, 0.6, 0.3))
    return pulses(tune, rate, ring)


def _clapping(frames: int, rate: int, rng: Random) -> Floats:
    grain = int(0.06 * rate)
    fall = np.exp(-np.arange(grain) / (0.011 * rate))
    starts = _steps(frames, rate, rng, 0.2, 0.12)
    return placed(np.zeros(frames), [(at, band(grain, rate, rng, 700, 5000) * fall) for at in starts])


def _footsteps(frames: int, rate: int, rng: Random) -> Floats:
    heel = damped(rate, 0.12, (75, 160, 420), (0.03, 0.02, 0.008), (1, 0.8, 0.5))
    out = np.zeros(frames)
    for at in _steps(frames, rate, rng, 0.55, 0.05):
        sole = band(int(0.09 * rate), rate, rng, 900, 6000) * np.hanning(int(0.09 * rate))
        click = band(int(0.012 * rate), rate, rng, 500, 8000) * np.linspace(1, 0, int(0.012 * rate))
        placed(out, [(at, heel), (at, 0.5 * click), (at + int(0.09 * rate), 0.12 * sole)])
    return out


def _steps(frames: int, rate: int, rng: Random, seconds: float, jitter: float) -> Iterable[int]:
    at = 0.0
    while at < frames / rate:
        yield int(at * rate)
        at += seconds * (1 + jitter * rng.uniform(-1, 1))


# --- things ------------------------------------------------------------------------------------------------


def _telephone(frames: int, rate: int, rng: Random) -> Floats:
    time = np.arange(frames) / rate
    low = rng.uniform(850, 1050)
    pitch = np.where((time * 20).astype(int) % 2, low, low * 1.25)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    tone = np.sin(phase) + 0.4 * np.sin(2 * phase) + 0.25 * np.sin(3 * phase) + 0.15 * np.sin(5 * phase)
    width = int(0.005 * rate)  # it fades on and off without clicks: a running mean
    total = np.concatenate((np.zeros(width), np.cumsum(time % 1.5 < 1.0, dtype=np.float64)))
    return np.asarray(tone * (total[width:] - total[:-width]) / width)


def _domestic(frames: int, rate: int, rng: Random) -> Floats:
    time = np.arange(frames) / rate
    motor = sum(np.sin(2 * np.pi * 118 * k * time + rng.uniform(0, 6.28)) / k for k in range(1, 9))
    out = np.asarray(0.4 * motor + band(frames, rate, rng, 200, 9000, slope=-0.5))
    for at in _steps(frames, rate, rng, 1.1, 0.6):
        tones = rng.uniform(1800, 6500, 4)
        placed(out, [(at, 2.5 * damped(rate, 0.25, tones, (0.05, 0.04, 0.03, 0.02), (1, 0.8, 0.6, 0.5)))])
    return out


def _door(frames: int, rate: int, rng: Random) -> Floats:
    slam = damped(rate, 0.3, (55, 95, 180, 310), (0.09, 0.06, 0.04, 0.02), (1, 1, 0.6, 0.4))
    slam[: rate // 50] += 1.5 * band(rate // 50, rate, rng, 300, 6000) * np.linspace(1, 0, rate // 50)
    time = np.arange(frames) / rate
    tune = 38 + 22 * np.sin(2 * np.pi * 0.7 * time) + 6 * np.sin(2 * np.pi * 5.1 * time)
    ring = damped(rate, 0.02, rng.uniform(0.9, 1.1) * np.array([640, 1250, 2700]), (0.006, 0.005, 0.003), (1, 0.9, 0.7))
    creak = pulses(tune, rate, ring)
    return placed(0.25 * creak, [(max(0, frames - int(0.35 * rate)), slam)])


def _water(frames: int, rate: int, rng: Random) -> Floats:
    flutter = 1 + 0.3 * band(frames, rate, rng, 2, 14)
    out = band(frames, rate, rng, 500, 10_000, slope=-0.25) * flutter
    for at in _steps(frames, rate, rng, 0.05, 0.7):
        rise = np.linspace(1, 1.25, int(0.03 * rate)) * rng.uniform(500, 1800)
        bubble = np.sin(2 * np.pi * np.cumsum(rise) / rate) * np.exp(-np.arange(len(rise)) / (0.009 * rate))
        placed(out, [(at, rng.uniform(0.5, 1.6) * bubble)])
    return out


def _bell(frames: int, rate: int, rng: Random) -> Floats:
    partials = np.array([0.5, 1.0, 1.19, 1.5, 2.0, 2.74, 3.0, 4.1]) * rng.uniform(550, 900)
    strike = damped(
        rate, 2.4, partials, (1.2, 0.9, 0.6, 0.5, 0.5, 0.25, 0.2, 0.1), (0.5, 1, 0.7, 0.5, 0.9, 0.5, 0.4, 0.4)
    )
    return placed(np.zeros(frames), [(at, strike) for at in _steps(frames, rate, rng, 1.2, 0.02)])


def _knock(frames: int, rate: int, rng: Random) -> Floats:
    wood = damped(rate, 0.1, (170, 390, 820, 1900), (0.02, 0.016, 0.01, 0.004), (1, 0.9, 0.5, 0.5))
    wood[: rate // 250] += 0.6 * band(rate // 250, rate, rng, 800, 8000)
    starts = [at for number, at in enumerate(_steps(frames, rate, rng, 0.19, 0.06)) if number % 5 < 3]
    return placed(np.zeros(frames), [(at, wood) for at in starts])


# --- music -------------------------------------------------------------------------------------------------

#: Chords of four bars in semitones above the key: I, V, vi, IV.
_CHORDS = ((0, 4, 7, 12), (-5, -1, 2, 7), (-3, 0, 4, 9), (-7, -3, 0, 5))
_PENTATONIC = np.array([0, 2, 4, 7, 9, 12, 14, 16])


def _music(frames: int, rate: int, rng: Random) -> Floats:
    key, beat = 220 * 2 ** (rng.integers(0, 12) / 12), int(0.25 * rate)
    pads = [sum(_note(key * 2 ** (tone / 12), 1.1, rate) for tone in chord) for chord in _CHORDS]
    basses = [1.5 * _note(key / 2 * 2 ** (chord[0] / 12), 0.5, rate) for chord in _CHORDS]
    out = np.zeros(frames)
    for number, at in enumerate(range(0, frames, beat)):
        chord = number // 4 % 4
        cymbal = band(beat // 3, rate, rng, 6000, 11_000) * np.exp(-np.arange(beat // 3) / (0.02 * rate))
        parts = [(at, 0.35 * cymbal)]
        if number % 2 == 0:
            parts.append((at, basses[chord]))
        if number % 4 == 0:
            parts.append((at, np.asarray(pads[chord])))
        placed(out, parts)
    return out


def _instrument(frames: int, rate: int, rng: Random) -> Floats:
    key = 330 * 2 ** (rng.integers(0, 8) / 12)
    notes = {int(tone): _note(key * 2 ** (tone / 12), 0.6, rate) for tone in _PENTATONIC}
    tune = _PENTATONIC[np.clip(np.cumsum(rng.integers(-2, 3, 8 + frames * 4 // rate)) % 8, 0, 7)]
    starts = _steps(frames, rate, rng, 0.3, 0.0)
    return placed(np.zeros(frames), [(at, notes[int(tone)]) for at, tone in zip(starts, tune, strict=False)])


def _note(pitch: float, seconds: float, rate: int) -> Floats:
    number = np.arange(1, 1 + max(1, min(10, int(0.45 * rate / pitch))))
    falls: Sequence[float] = (0.45 / number).tolist()
    wave = damped(rate, seconds, pitch * number, falls, (1 / number).tolist())
    attack = np.minimum(1, np.arange(len(wave)) / (0.004 * rate))
    return np.asarray(wave * attack * np.minimum(1, np.linspace(20, 0, len(wave))))


#: By index into the STARSS vocabulary.
SOUNDS: tuple[Callable[[int, int, Random], Floats], ...] = (
    _speech(210, 1.17), _speech(115, 1.0), _clapping, _telephone, _laughter, _domestic, _footsteps, _door, _music,
    _instrument, _water, _bell, _knock,
)  # fmt: skip
