"""Time: label frames, seconds and video frames, in exact rationals.

A label frame covers the time from ``k * hop`` up to ``(k + 1) * hop``; sample and video frame numbers count from
0 at time 0. Nothing is rounded unless a whole number is asked for, and then the docstring says how.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from seldio.errors import UsageError

#: Seconds between label frames in every format since 2020.
HOP = Fraction(1, 10)
#: Seconds (a day) that no recording lasts.
LONGEST = 86_400
#: Video frames per second, called 29.97 for short.
NTSC = Fraction(30_000, 1_001)

_HALF = Fraction(1, 2)


def seconds(label_frame: int, hop: Fraction = HOP) -> Fraction:
    """Return when a label frame begins."""
    return label_frame * hop


def centre(label_frame: int, hop: Fraction = HOP) -> Fraction:
    """Return the middle of a label frame, in seconds."""
    return (label_frame + _HALF) * hop


def onset(frame: int, hop: Fraction = HOP) -> float:
    """Return seconds at which label frame *frame* begins."""
    return float(seconds(frame, hop))


def offset(last_frame: int, hop: Fraction = HOP) -> float:
    """Return seconds at which an event ends whose last label frame is *last_frame*: ``(last_frame + 1) * hop``."""
    return float(seconds(last_frame + 1, hop))


def frames_between(start: float, end: float, hop: Fraction = HOP) -> range:
    """Return the label frames that an event from *start* to *end* (seconds) touches.

    Boundaries within a millionth of a hop count as exact, so that 1.2 s to 1.3 s is frame 12 alone.
    An event of no length touches the frame it lies in.
    """
    slack = Fraction(1, 1_000_000)
    first = int(Fraction(start) / hop + slack)
    last = -int(-(Fraction(end) / hop - slack) // 1)  # ceiling
    return range(first, max(first + 1, last))


# --- video ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Convention:
    """A way to choose the picture of a label frame."""

    name: str  # e.g. ``centre``.
    title: str  # what it does, in a sentence
    aim: Fraction  # the moment that it is meant for, counted in hops from the start of the label frame
    #: *nearest*: the video frame nearest to that moment; *shown*: the one on the screen just before the middle of the
    #: label frame; *number*: counted, whatever the time stamps say
    by: Literal["nearest", "shown", "number"]
    error: str  # what is wrong with it, as documented
    source: str = ""  # who does so
    #: of those that count, the video frame of a label frame, from rate and hop
    counted: Callable[[int, Fraction, Fraction], int] | None = None

    def number(self, label_frame: int, rate: Fraction, hop: Fraction = HOP) -> int:
        """Return the video frame of a label frame at a constant *rate*."""
        if self.counted is not None:
            return self.counted(label_frame, rate, hop)
        if self.by == "shown":
            return max(0, math.ceil(centre(label_frame, hop) * rate) - 1)
        return max(0, math.ceil(self.moment(label_frame, hop) * rate - _HALF))  # of two equally near the earlier

    def moment(self, label_frame: int, hop: Fraction = HOP) -> Fraction:
        """Return the time (seconds) at which the picture ought to be taken."""
        return (label_frame + self.aim) * hop


#: Seconds of sound in a chunk of Sony's inference, which sees one picture.
CHUNK = 1.2


def chunk_frame(chunk: int, hop: Fraction = HOP) -> int:
    """Return the label frame at which Sony's inference writes chunk *chunk*: ``int(time * 10)``, in floats as there.

    31 of the 250 chunks of 5 minutes come one label frame too early (107 instead of 108, 215, 371, …): that
    frame is written twice, and the last one of the chunk never.
    """
    return int(chunk * CHUNK * float(1 / hop))


def _by_chunk(label_frame: int, rate: Fraction, hop: Fraction) -> int:
    chunk = int(onset(label_frame, hop) / CHUNK) + 1
    while chunk > 0 and chunk_frame(chunk, hop) > label_frame:
        chunk -= 1
    return int(float(rate) * (chunk * CHUNK))


#: By name; the first is the default.
CONVENTIONS: dict[str, Convention] = {
    row.name: row
    for row in (
        Convention(
            "centre", "the video frame nearest to the middle of the label frame", _HALF, "nearest",
            "none but rounding: at most half a video frame, 16.7 ms",
        ),
        Convention(
            "start", "the video frame nearest to the start of the label frame", Fraction(0), "nearest",
            "none but rounding: at most half a video frame, 16.7 ms",
        ),
        Convention(
            "dcase2023-training", "the start times the rate, truncated: int(fps * seconds)", Fraction(0), "number",
            "0 to 33.4 ms early, 16.7 ms on average",
            "Sony's audio-visual-seld-dcase2023, seld_data_loader.py",
            # int(cap.get(CAP_PROP_FPS) * start_sec), in floats as OpenCV programs compute it
            lambda frame, rate, hop: int(float(rate) * onset(frame, hop)),
        ),
        Convention(
            "dcase2023-inference", "one frame per chunk of 1.2 s, at its start, truncated", Fraction(0),
            "number", "up to 1.1 s old; 31 of 250 chunks in 5 minutes begin one label frame early",
            "Sony's audio-visual-seld-dcase2023, seld_predictor.py", _by_chunk,
        ),
        Convention(
            "dcase2024", "every third video frame, as if there were 30 per second", Fraction(0), "number",
            "0.1 ms later with each label frame: one label frame late at 100 s, three at 5 minutes",
            "the baselines of 2024 (cls_feature_class.py) and 2025 (utils.py)", lambda frame, _rate, _hop: 3 * frame,
        ),
        Convention(
            "dcase2026", "ffmpeg's fps=10, frames numbered from 0", Fraction(0), "shown",
            "16.6 to 50 ms late, 33.3 ms on average",
            "the README of the 2026 baseline",
        ),
    )
}  # fmt: skip
_ALSO = {"center": "centre", "dcase2025": "dcase2024"}


def named(name: str) -> Convention:
    """Return the convention called *name*; raise UsageError if there is none."""
    try:
        return CONVENTIONS[_ALSO.get(name, name)]
    except KeyError:
        raise UsageError(f"unknown convention {name!r}; choose from {', '.join(CONVENTIONS)}") from None


def video_frame(label_frame: int, convention: str = "centre", rate: Fraction = NTSC, hop: Fraction = HOP) -> int:
    """Return the video frame of a label frame at a constant *rate*; raise UsageError for unknown conventions."""
    return named(convention).number(label_frame, Fraction(rate), hop)


def video_error(label_frame: int, convention: str, rate: Fraction = NTSC, hop: Fraction = HOP) -> Fraction:
    """Return seconds by which the picture of a label frame comes from later (above 0) than the convention means."""
    chosen = named(convention)
    return chosen.number(label_frame, Fraction(rate), hop) / Fraction(rate) - chosen.moment(label_frame, hop)
