"""Time: label frames and seconds, in exact rationals."""

from __future__ import annotations

from fractions import Fraction

#: Seconds between label frames in every layout since 2020.
HOP = Fraction(1, 10)
#: Seconds between the frames of 2019's outputs.
HOP_2019 = Fraction(1, 50)


def onset(frame: int, hop: Fraction = HOP) -> float:
    """Seconds at which label frame *frame* begins."""
    return float(frame * hop)


def offset(last_frame: int, hop: Fraction = HOP) -> float:
    """Seconds at which an event ends whose last label frame is *last_frame*: ``(last_frame + 1) * hop``."""
    return float((last_frame + 1) * hop)


def frames_between(start: float, end: float, hop: Fraction = HOP) -> range:
    """The label frames that an event from *start* to *end* (seconds) touches.

    Boundaries within a millionth of a hop count as exact, so that 1.2 s to 1.3 s is frame 12 alone.
    An event of no length touches the frame it lies in.
    """
    slack = Fraction(1, 1_000_000)
    first = int(Fraction(start) / hop + slack)
    last = -int(-(Fraction(end) / hop - slack) // 1)  # ceiling
    return range(first, max(first + 1, last))
