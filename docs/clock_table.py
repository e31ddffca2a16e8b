"""The tables of docs/concepts/video-clock.md, computed by the conventions themselves."""

from __future__ import annotations

from fractions import Fraction

from seldio.clock import CONVENTIONS, HOP, seconds, video_error, video_frame

#: Label frames: the first ones, where counting first differs, and 60 s, 100 s, 5 min and 9 min.
SHOWN = (0, 1, 10, 167, 599, 1000, 3000, 5400)
#: Label frames over which errors are averaged: 10 minutes.
MANY = 6000


def tables() -> dict[str, str]:
    """Each table by the name of its place in the page."""
    return {"conventions": _conventions(), "errors": _errors()}


def _conventions() -> str:
    lines = ["| convention | video frame of a label frame | error | who |", "| --- | --- | --- | --- |"]
    rows = CONVENTIONS.values()
    lines += [f"| `{row.name}` | {row.title} | {row.error} | {row.source or 'seldio'} |" for row in rows]
    return "\n".join(lines)


def _errors() -> str:
    head = ["label frame", "time"] + [f"`{name}`" for name in CONVENTIONS]
    lines = [" | ".join(head).join(("| ", " |")), "| " + " | ".join(["---:"] * len(head)) + " |"]
    for frame in SHOWN:
        cells = [f"{_ms(video_error(frame, name))} ({video_frame(frame, name):,})" for name in CONVENTIONS]
        lines.append(f"| {frame:,} | {float(seconds(frame, HOP)):.1f} s | " + " | ".join(cells) + " |")
    for title, of in (("earliest", min), ("mean", _mean), ("latest", max)):
        cells = [_ms(of([video_error(frame, name) for frame in range(MANY)])) for name in CONVENTIONS]
        lines.append(f"| {title} | 10 min | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _ms(error: Fraction) -> str:
    return f"{float(round(error * 1000, 1)) + 0:+.1f}"  # + 0: never -0.0
