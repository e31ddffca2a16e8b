"""What all pictures of a video look like, from one pass: which decode, and where it is black or stands still."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from seldio.media.video_scan import Scan

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
class Survey:
    """What all pictures of a video look like.

    Args:
        there: how many come out of the decoder.
        black: spans in which pictures are black.
        frozen: spans in which pictures are all the same, black ones left out.
    """

    there: int
    black: tuple[Span, ...] = ()
    frozen: tuple[Span, ...] = ()


def survey(pictures: Iterable[tuple[int, VideoFrame]], scan: Scan) -> Survey:
    """Look at all *pictures*, each with its number, in their order; nothing is kept."""
    luma = _Luma()
    black, still = _Runs(scan), _Runs(scan)
    there, first = 0, np.zeros((0, 0), np.uint8)
    for number, frame in pictures:
        there += 1
        shown = luma(frame)
        dark = bool(np.mean(shown <= _DARK) >= _SHARE)
        black.add(number, dark, goes_on=dark)
        same = shown.shape == first.shape and _differ(shown, first) <= _SAME
        still.add(number, not dark, goes_on=same and not dark)
        first = first if same else shown.copy()
    return Survey(there, _long(black.done(), BLACK), _frozen(still.done(), float(scan.end - scan.start)))


def _long(spans: list[Span], least: float) -> tuple[Span, ...]:
    return tuple(span for span in spans if span[1] - span[0] >= least)


def _frozen(spans: list[Span], seconds: float) -> tuple[Span, ...]:
    """The long ones, if the rest of the video is not drawn."""
    found = _long(spans, FROZEN)
    inside, every = (sum(end - start for start, end in those) for those in (found, spans))
    return found if every - inside <= _DRAWN * (seconds - inside) else ()


def _differ(one: Luma, other: Luma) -> int:
    return int((np.maximum(one, other) - np.minimum(one, other)).max(initial=0))


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

    def done(self) -> list[Span]:
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
