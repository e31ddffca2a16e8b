"""Estimate directions of sound by label frame: active intensity of FOA, and of MIC made into FOA.

The active intensity of a plane wave points to its source: ``Re(conj(W) X)``, and so on (Merimaa and Pulkki,
"Spatial Impulse Response Rendering", 2005; Pulkki, "Directional audio coding", 2007). It is summed here over short
windows and narrow bands, in which one source is most often the loudest, and each band counts as much as it is
direct (little diffuse sound) and above its own noise. From the four capsules of MIC, whose phases tell the
direction, the same is computed after the filters of :mod:`seldio.media.encoding`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seldio import clock
from seldio.errors import DataError, SeldioError
from seldio.files import Entry
from seldio.media.arrays import Format
from seldio.media.encoding import encoding_response, power_of_two
from seldio.media.recording import Recording
from seldio.text import listed, plural, printable

Floats = np.ndarray[Any, np.dtype[np.float64]]

#: Edges of the bands, Hz: from where rooms do not rumble to where order 1 of the capsules is still most of the sound.
EDGES: dict[Format, tuple[float, ...]] = {
    "foa": (200, 325, 450, 600, 775, 975, 1200, 1475, 1800, 2200, 2700, 3300),
    "mic": (250, 375, 500, 650, 825, 1025, 1250, 1525, 1850, 2250),
}
#: Hz between which the four capsules, 7 cm apart, hear nearly the same.
TOGETHER = (120.0, 500.0)
#: Seconds of a window, and of the step between windows, about.
_WINDOW, _STEP = 0.040, 0.020
#: Label frames that are read at once.
_BLOCK = 100
#: The share of label frames, the quietest, whose level counts as noise.
_QUIET = 0.1
#: The channels X, Y, Z: front, left, up.
XYZ = [3, 1, 2]


@dataclasses.dataclass(frozen=True)
class SoundField:
    """The covariance of the four channels of a recording, in each label frame.

    Args:
        covariance: real part of the covariance of W, Y, Z, X in each band: shape (label frames, bands, 4, 4).
        raw: the same of the channels as they are in the file, below 500 Hz, of the whole recording, scaled to a
            total power of 1 (0 for silence): shape (4, 4). Label frames count by their amplitude, so that a few
            loud ones are not all of it.
    """

    covariance: np.ndarray[Any, np.dtype[np.float32]]
    raw: Floats

    def __len__(self) -> int:
        return len(self.covariance)

    @property
    def power(self) -> Floats:
        """Twice the energy density in each label frame and band, shape (label frames, bands)."""
        return np.asarray(np.trace(self.covariance, axis1=2, axis2=3), np.float64)

    @property
    def noise(self) -> Floats:
        """The level of each band in the quietest label frames, shape (bands,)."""
        return np.quantile(self.power, _QUIET, axis=0) if len(self) else np.zeros(self.covariance.shape[1])

    def activity(self) -> Floats:
        """Return how far each label frame is above the noise, the mean over bands, 0 to 3 Bel: (label frames,)."""
        if not self.covariance.any():
            return np.zeros(len(self))
        floor = np.maximum(self.noise, self.power.max(axis=0) * 1e-4 + 1e-30)  # digital silence is no noise
        return np.asarray(np.log10(np.clip(self.power / floor, 1.0, 1e3)).mean(axis=1))

    def directions(self) -> Floats:
        """Return the direction of the sound in each label frame: front, left and up.

        Vectors, shape (label frames, 3), have lengths from 0 (diffuse, or noise) to 1 (one plane wave in all bands).
        """
        power = self.power[:, :, np.newaxis]
        flow = self.covariance[:, :, 0, XYZ].astype(np.float64)
        share = np.divide(2 * flow, power, out=np.zeros_like(flow), where=power > 0)
        direct = np.minimum(np.linalg.norm(share, axis=2, keepdims=True), 1.0)
        above = np.divide(self.noise[:, np.newaxis], power, out=np.ones_like(power), where=power > 0)
        return np.asarray((np.clip(1 - above, 0.0, 1.0) * direct * share).mean(axis=1))


def listen(recording: Recording, format: Format, hop: Fraction = clock.HOP) -> SoundField:
    """Return the sound field of a recording with four channels, read once, block by block; *hop* is that of its labels.

    Any rate will do that holds the bands (6.6 kHz and above).
    """
    plan, frames = _plan(recording.rate, format), recording.probe.label_frames(hop)
    bands = len(EDGES[format]) - 1
    covariances, raw = [np.zeros((0, bands, 4, 4), np.float32)], np.zeros((4, 4))
    for first in range(0, frames, _BLOCK):
        count = min(_BLOCK, frames - first)
        spectra = _spectra(recording, first, count, hop)
        low = spectra[..., plan.low]
        low = np.einsum("aktf,bktf->kab", low, low.conj(), optimize=True).real
        sound = spectra[..., plan.bins]
        if plan.encode is not None:
            sound = np.einsum("fab,bktf->aktf", plan.encode, sound, optimize=True)
        covariance = np.empty((count, bands, 4, 4), np.float32)
        for a, b in combinations_with_replacement(range(4), 2):
            product = (sound[a] * sound[b].conj()).real.sum(axis=1)
            covariance[:, :, a, b] = covariance[:, :, b, a] = np.add.reduceat(product, plan.starts, axis=1)
        covariances.append(covariance)
        raw += _by_amplitude(low.astype(np.float64))
    return SoundField(np.concatenate(covariances), raw / (np.trace(raw) or 1.0))


@dataclasses.dataclass(frozen=True)
class _Plan:
    """Bins of a spectrum: those of the bands, where each band begins, those of low frequencies; the encoding."""

    bins: slice
    starts: np.ndarray[Any, np.dtype[np.int64]]
    low: slice
    encode: np.ndarray[Any, np.dtype[np.complex64]] | None


@lru_cache(maxsize=8)
def _plan(rate: int, format: Format) -> _Plan:
    frequencies = np.asarray(np.fft.rfftfreq(power_of_two(rate * _WINDOW), 1 / rate), np.float64)
    edges = np.searchsorted(frequencies, EDGES[format])
    bins = slice(int(edges[0]), int(edges[-1]))
    low = slice(*np.searchsorted(frequencies, TOGETHER).tolist())
    encode = None
    if format == "mic":
        encode = encoding_response(rate, "foa", frequencies[bins]).astype(np.complex64)
    return _Plan(bins, edges[:-1] - edges[0], low, encode)


def _spectra(recording: Recording, first: int, count: int, hop: Fraction) -> Any:
    """Return spectra of all windows that begin in some label frames: shape (4, label frames, windows, bins)."""
    rate, width = recording.rate, int(recording.rate * _WINDOW)
    each = max(1, round(float(hop) / _STEP))
    starts = np.array([int(n * rate * hop / each) for n in range(first * each, (first + count) * each)])
    sound = recording.read(int(starts[0]), int(starts[-1] - starts[0]) + width, pad=True)
    sound = np.nan_to_num(sound, nan=0.0, posinf=0.0, neginf=0.0)
    windows = np.lib.stride_tricks.sliding_window_view(sound, width, axis=1)[:, starts - starts[0]]
    shape = np.hanning(width + 1)[:-1].astype(np.float32)
    return np.fft.rfft(windows * shape, power_of_two(rate * _WINDOW)).reshape(len(sound), count, each, -1)


# --- what the channels are, without any labels -------------------------------------------------------------

#: Coherence that neighbouring capsules have at low frequencies, at least; levels that differ by less (2 dB).
_COHERENT, _LEVEL = 0.7, 1.6
#: Coherence of channels that are copies of each other but for some noise; of capsules, two hear a sound apart.
_SAME = 0.99
#: Power of W over that of Y, Z and X together: 1 in SN3D, 1/2 in FuMa, 1/3 for four channels that are equally loud.
_SN3D = (0.7, 1.5)


def array_of(raw: Floats) -> Format | None:
    """Return which format four channels look like, from :attr:`SoundField.raw`; None where that cannot be told.

    At low frequencies the capsules of MIC hear the same, equally loud. W of FOA is as loud as the others together,
    and those are as little like it as sound comes from many sides.
    """
    power = np.diagonal(raw)
    if not (power > 0).all():
        return None
    coherence = (raw / np.sqrt(np.outer(power, power)))[np.triu_indices(4, 1)]
    alike = np.abs(coherence).min()
    if _COHERENT < alike < _SAME and power.max() < _LEVEL * power.min():
        return "mic"
    share = power[0] / power[1:].sum()
    return "foa" if _SN3D[0] < share < _SN3D[1] and np.abs(coherence).max() < _COHERENT else None


#: Label frames of a piece of a recording, and pieces of it, that are heard to tell which array it is.
_PIECE, _PIECES = 10, 12


def _by_amplitude(covariances: Any) -> Any:
    """Return the sum of covariances of label frames, each as its amplitude: a few loud ones are not all of it."""
    total = np.trace(covariances, axis1=1, axis2=2)
    return (covariances[total > 0] / np.sqrt(total[total > 0, np.newaxis, np.newaxis])).sum(axis=0, dtype=np.float64)


def one_sound(raw: Floats) -> bool:
    """Return whether all four channels are one sound, however loud in each: mono, from :attr:`SoundField.raw`."""
    power = np.diagonal(raw)
    return bool((power > 0).all() and (np.abs(raw) >= _SAME * np.sqrt(np.outer(power, power))).all())


def inverted(raw: Floats) -> tuple[int, ...]:
    """Return the capsules of MIC (from 0) that have another sign than most, from :attr:`SoundField.raw`."""
    if array_of(raw) != "mic":
        return ()
    signs = np.sign(raw[int(np.argmax(np.sign(raw).sum(axis=1)))])
    consistent = (np.sign(raw) == np.outer(signs, signs)).all()
    return tuple(np.flatnonzero(signs < 0).tolist()) if consistent else ()


# --- which array recordings are of, and what their folders and names say ------------------------------------

#: What each array is called in short.
SHORT: dict[Format, str] = {"foa": "FOA", "mic": "MIC"}
#: A folder ``foa`` or ``foa_…``, or a file whose name begins or ends so; ``mic`` in the same way.
_NAMED = re.compile(r"(?i)(?:^|[/\\])(foa|mic)(?=[_./\\]|$)|_(foa|mic)(?=\.\w+$)")


def renamed(path: str, array: Format) -> str:
    """Return *path* with the name of *array* in the place of that of another one.

    >>> renamed("flat/mix001_foa.wav", "mic"), renamed("mix001.wav", "mic")
    ('flat/mix001_mic.wav', 'mix001.wav')
    """
    return _NAMED.sub(lambda match: re.sub("(?i)foa|mic", array, match.group()), path)


class ArrayHeard(NamedTuple):
    """The array format of a recording with four channels, as named and as heard."""

    path: str  # as shown to people
    named: Format | None  # what its folder or its name says; None if nothing
    heard: Format | None  # what it sounds like; None where that cannot be told


def named_array(path: str) -> Format | None:
    """Return the array that a path names, by the last of its parts that names one.

    >>> named_array("starss23/foa_dev/dev-test-sony/fold4_room23_mix001.wav"), named_array("mix001_mic.flac")
    ('foa', 'mic')
    >>> named_array("michael/sofa.wav")
    """
    *_, last = (None, *(match[1] or match[2] for match in _NAMED.finditer(path)))
    return None if last is None else "foa" if last.lower() == "foa" else "mic"


def array_heard(entry: Entry, path: str | None = None) -> ArrayHeard | None:
    """Detect the array of a recording, whose *path* may name it, from at most 12 s; None unless it has four channels.

    Whatever cannot be read is None as well: whoever needs the sound says why. What is heard is None where a channel is
    silent, and where all channels are the same or have nothing in common.
    """
    if path is None:  # of a dataset the folder, the split and the file
        path = "/".join(Path(entry.path).absolute().parts[-3:]) if entry.real is not None else entry.path
    try:
        with Recording(entry) as recording:
            if recording.channels != 4:
                return None
            frames, heard = recording.probe.label_frames(), None
            if frames:
                count = min(_PIECE, frames)
                starts = np.linspace(0, frames - count, min(_PIECES, -(-frames // count)), dtype=np.int64)
                raw, low = np.zeros((4, 4)), _plan(recording.rate, "foa").low
                for first in starts.tolist():
                    spectra = _spectra(recording, first, count, clock.HOP)[..., low]
                    raw += _by_amplitude(np.einsum("aktf,bktf->kab", spectra, spectra.conj(), optimize=True).real)
                heard = array_of(raw)
    except SeldioError:
        return None
    return ArrayHeard(entry.path, named_array(path), heard)


def check_heard(recordings: Iterable[ArrayHeard], hint: str) -> None:
    """Raise DataError where recordings sound like another array than they are named; *hint* says what to do."""
    named = [recording for recording in recordings if recording.named is not None]
    wrong = [recording for recording in named if recording.heard not in (None, recording.named)]
    for array in SHORT:
        if paths := [recording.path for recording in wrong if recording.heard == array]:
            said = SHORT["mic" if array == "foa" else "foa"]
            raise DataError(
                f"{plural(len(paths), 'recording')} named {said} {'sounds' if len(paths) == 1 else 'sound'} like "
                f"{SHORT[array]} ({listed([printable(path) for path in paths], 3)}): {hint}"
            )
