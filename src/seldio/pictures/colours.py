"""The colours of classes, the same in every picture and on the page.

They were chosen by a search for the greatest least difference (CIE76 in CIELAB) between any two of them as seen
with normal, protanopic, deuteranopic and tritanopic eyes (Machado, Oliveira and Fernandes 2009, severity 1). No
two come closer than 23 there, and all stand out from white (contrast of 1.75 at least) and from black (2.2).
A picture never tells classes apart by colour alone: their names are there too.
"""

from __future__ import annotations

#: By index of the class; the next one is always far from those before.
COLOURS: tuple[str, ...] = (
    "#0000ff", "#ff2700", "#d8b1ff", "#89143b", "#62d89d", "#4e3b76", "#d862ff", "#8900c4", "#9dc462", "#9d0000",
    "#ffb100", "#8976b1", "#4e7676", "#9d764e",
)  # fmt: skip


def colour(class_id: int) -> str:
    """The colour of a class as ``#rrggbb``; behind the last one they begin anew."""
    return COLOURS[class_id % len(COLOURS)]


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``, 0 to 255."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1, as WCAG 2 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _shares(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink(colour: str) -> str:
    """Black or white, whichever is easier to read on *colour*."""
    return "#000000" if luminance(colour) > 0.179 else "#ffffff"


def _shares(colour: str) -> list[float]:
    return [part / 255 for part in rgb(colour)]
