"""Time: label frames, seconds and video frames, in exact rationals.

A label frame covers the time from ``k * hop`` up to ``(k + 1) * hop``; video frame numbers count from 0 at time 0.
Nothing is rounded unless a whole number is asked for, and then the docstring says how.
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

    #: *nearest*: the video frame nearest to the aim; *shown*: the one on the screen just before the middle of the label
    #: frame; *number*: counted, whatever the time stamps say
    by: Literal["nearest", "shown", "number"]
    aim: Fraction = Fraction(0)  # the moment that it is meant for, counted in hops from the start of the label frame
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


#: By name; the first is the default. How far off each is, and which programs have it, is in
#: ``docs/concepts/video-clock.md``.
CONVENTIONS: dict[str, Convention] = {
    "centre": Convention("nearest", _HALF),
    "start": Convention("nearest"),
    # Sony's seld_data_loader.py: int(cap.get(CAP_PROP_FPS) * start_sec), in floats as OpenCV programs compute it
    "dcase2023-training": Convention("number", counted=lambda frame, rate, hop: int(float(rate) * onset(frame, hop))),
    # Sony's seld_predictor.py: one frame for each chunk, that at its start
    "dcase2023-inference": Convention("number", counted=_by_chunk),
    # the baselines of 2024 and 2025: every third video frame, as if there were 30 a second
    "dcase2024": Convention("number", counted=lambda frame, _rate, _hop: 3 * frame),
    # the baseline of 2026: ffmpeg's fps=10, frames numbered from 0
    "dcase2026": Convention("shown"),
}
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
