"""What all samples of a recording and all pictures of a video are like, each in one pass and little memory."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from seldio.errors import SeldioError
from seldio.media.audio import BLOCK, ReadableSound
from seldio.media.video_packets import Scan

#: Samples at full scale in a row that make a flat top.
_FLAT = 3
#: A channel is dead below this level (dB of full scale) if another one is louder by so many dB: what the microphones
#: of one array hear differs by less, and so do W, Y, Z, X in a room;
_QUIET, _BELOW = -60.0, 30.0
#: by less than that, if no peak of it is so many dB above its level, as in noise without any event.
_BELOW_STEADY, _STEADY = 20.0, 20.0
#: All channels are dead below this level if nothing in them reaches this peak: noise of 16 bits, and no sound.
_NOTHING, _NO_PEAK = -70.0, -55.0


@dataclasses.dataclass
class SoundSurvey:
    """What is known of a recording's samples; channels count from 0."""

    frames: int  # read, all of them unless *fault* is set
    lowest: Any  # smallest sample of each channel (samples that are no numbers left out)
    highest: Any  # largest one
    total: Any  # sum of each channel
    squares: Any  # sum of the squares of each channel
    flat: Any  # times that a channel stays at full scale for three samples or more
    loud: Any  # samples of each channel beyond full scale, which floats allow
    broken: Any  # samples that are no numbers, or infinite
    same: list[tuple[int, int]]  # pairs of channels that are the same sample by sample
    opposite: list[tuple[int, int]]  # pairs that differ in their sign only
    digest: str = ""  # of all samples, the rate and the number of channels
    fault: str | None = None  # why the rest could not be read

    @property
    def silent(self) -> list[int]:
        """Channels in which all samples are alike."""
        return np.flatnonzero((self.lowest >= self.highest) & (self.broken == 0)).tolist()

    @property
    def offsets(self) -> Any:
        """The mean of each channel, full scale being 1."""
        return self.total / max(1, self.frames)

    @property
    def levels(self) -> Any:
        """Of each channel the root of the mean square, without its offset, in dB of full scale; -inf for silence."""
        return _decibels(np.sqrt(np.maximum(0.0, self.squares / max(1, self.frames) - self.offsets**2)))

    @property
    def peaks(self) -> Any:
        """The largest absolute sample of each channel, in dB of full scale; -inf for silence."""
        return _decibels(np.maximum(0.0, np.maximum(self.highest, -self.lowest)))

    @property
    def dead(self) -> list[int]:
        """Channels in which nothing sounds above noise: by their level, alone or against the loudest channel."""
        levels, peaks = self.levels, self.peaks
        below = levels.max(initial=-np.inf) - np.maximum(levels, -1e3)
        steady = peaks < levels + _STEADY
        quiet = (levels < _QUIET) & ((below > _BELOW) | (steady & (below > _BELOW_STEADY)))
        nothing = ((levels < _NOTHING) & (peaks < _NO_PEAK)).all()
        return np.flatnonzero((quiet | nothing) & (self.broken == 0)).tolist()


def listen(recording: ReadableSound) -> SoundSurvey:
    """Read all of *recording* once, in blocks.

    Raises:
        SeldioError: it cannot be opened; what breaks later is in ``fault``.
    """
    channels = recording.channels
    full = 1 - (2.0**-7 if recording.probe.subtype.endswith(("U8", "S8")) else 2.0**-15)
    pairs = list(combinations(range(channels), 2))
    flat, loud, broken = np.zeros((3, channels), np.int64)
    lowest, highest = np.full(channels, np.inf), np.full(channels, -np.inf)
    total, squares = np.zeros((2, channels))
    sound = SoundSurvey(0, lowest, highest, total, squares, flat, loud, broken, pairs, list(pairs))
    digest = hashlib.blake2b(f"{recording.rate} {channels}".encode(), digest_size=16)
    before = np.zeros((channels, _FLAT), np.float32)
    try:
        for block in recording.blocks(BLOCK):
            digest.update(block.data)
            _add(sound, block, before, np.float32(full))
            before = np.concatenate((before, block), axis=1)[:, -_FLAT:]
    except SeldioError as error:
        sound.fault = str(error)
    sound.digest = digest.hexdigest()
    return sound


def _add(sound: SoundSurvey, block: Any, before: Any, full: np.float32) -> None:
    fine = np.isfinite(block)
    clean = block if fine.all() else np.where(fine, block, np.float32(0))
    sound.frames += block.shape[1]
    sound.broken += (~fine).sum(axis=1)
    sound.lowest = np.minimum(sound.lowest, clean.min(axis=1))
    sound.highest = np.maximum(sound.highest, clean.max(axis=1))
    sound.total = sound.total + clean.sum(axis=1, dtype=np.float64)
    sound.squares = sound.squares + np.square(clean, dtype=np.float64).sum(axis=1)
    for channel in np.flatnonzero((clean.max(axis=1) >= full) | (clean.min(axis=1) <= -full)).tolist():
        wave = np.concatenate((before[channel], clean[channel]))
        sound.flat[channel] += _flat_tops(wave >= full) + _flat_tops(wave <= -full)
        sound.loud[channel] += int(np.count_nonzero(np.abs(clean[channel]) > 1))
    sound.same = [(a, b) for a, b in sound.same if np.array_equal(block[a], block[b])]
    sound.opposite = [(a, b) for a, b in sound.opposite if np.array_equal(block[a], -block[b])]


def _flat_tops(full: Any) -> int:
    """How many times three in a row are reached, not by the first three, which were counted before."""
    third = full[2:] & full[1:-1] & full[:-2]
    return int(np.count_nonzero(third[1:] & ~third[:-1]))


def _decibels(amplitude: Any) -> Any:
    with np.errstate(divide="ignore"):
        return 20 * np.log10(amplitude)


# --- pictures --------------------------------------------------------------------------------------------

Luma = np.ndarray[Any, np.dtype[np.uint8]]
#: Seconds, from and to.
Span = tuple[float, float]

#: Pixels across that are looked at; every nth of a larger picture.
_ACROSS = 240
#: Brightness (of 255) up to which a pixel is black, and the share of black pixels in a black picture.
_DARK, _SHARE = 32, 0.98
#: By how much (of 255) a pixel may differ in pictures that are the same, written once more by a lossy encoder.
_SAME = 6
#: Seconds from which on it is told: fades are shorter, and somebody always moves.
BLACK, FROZEN = 2.0, 10.0
#: Share of the rest of a video that may stand still for shorter. Where more does, pictures are drawn: such scenes stand
#: still whenever nothing moves, and in those of cameras there is noise.
_DRAWN = 0.2
#: Formats of pixels whose first plane is the brightness, a byte each.
_PLANES = ("yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "nv12", "gray")


@dataclasses.dataclass(frozen=True)
class PictureSurvey:
    """What all pictures of a video look like."""

    there: int  # how many come out of the decoder
    black: tuple[Span, ...] = ()  # spans in which pictures are black
    frozen: tuple[Span, ...] = ()  # spans in which pictures are all the same, black ones left out
    fault: str = ""  # why there are no more pictures, if decoding says so


def survey(pictures: Iterable[tuple[int, VideoFrame]], scan: Scan) -> PictureSurvey:
    """Look at all *pictures*, each with its number, in their order; nothing is kept."""
    luma = _Luma()
    black, still = _Runs(scan), _Runs(scan)
    there, first = 0, np.zeros((0, 0), np.uint8)
    for number, frame in pictures:
        there += 1
        shown = luma(frame)
        dark = bool(np.mean(shown <= _DARK) >= _SHARE)
        black.add(number, dark, goes_on=dark)
        same = (
            shown.shape == first.shape and (np.maximum(shown, first) - np.minimum(shown, first)).max(initial=0) <= _SAME
        )
        still.add(number, not dark, goes_on=same and not dark)
        first = first if same else shown.copy()
    return PictureSurvey(there, _long(black.spans(), BLACK), _frozen(still.spans(), float(scan.end - scan.start)))


def _long(spans: list[Span], least: float) -> tuple[Span, ...]:
    return tuple(span for span in spans if span[1] - span[0] >= least)


def _frozen(spans: list[Span], seconds: float) -> tuple[Span, ...]:
    """The long ones, if the rest of the video is not drawn."""
    found = _long(spans, FROZEN)
    inside, every = (sum(end - start for start, end in those) for those in (found, spans))
    return found if every - inside <= _DRAWN * (seconds - inside) else ()


class _Runs:
    """Runs of two pictures or more."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._start, self._count = 0, 0
        self._found: list[Span] = []

    def add(self, number: int, possible: bool, *, goes_on: bool) -> None:
        """The next picture: whether one like it may begin a run, and whether it goes on with the last one."""
        if not goes_on:
            self._end(float(self._scan.time(number)))
        if possible:
            self._start = self._start if self._count else number
            self._count += 1

    def spans(self) -> list[Span]:
        """All of them, in seconds."""
        self._end(float(self._scan.end))
        return self._found

    def _end(self, time: float) -> None:
        if self._count > 1:
            self._found.append((float(self._scan.time(self._start)), time))
        self._count = 0


class _Luma:
    """The brightness of a picture, at most so many pixels across."""

    def __init__(self) -> None:
        self._reformatter = VideoReformatter()

    def __call__(self, frame: VideoFrame) -> Luma:
        plain = frame if frame.format.name in _PLANES else self._reformatter.reformat(frame, format="gray")
        plane: Any = plain.planes[0]
        rows = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
        step = max(1, plain.width // _ACROSS)
        return np.asarray(rows[: plain.height : step, : plain.width : step])
