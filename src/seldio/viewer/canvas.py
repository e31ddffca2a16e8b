"""Blank figures, the colours of classes, and how figures are saved: the same picture gives the same bytes."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from seldio.errors import SeldioError, UsageError
from seldio.files import write_bytes
from seldio.text import clipped, printable

#: What pictures can be written as, with the metadata that keeps dates and versions out.
KINDS: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
#: Pixels an inch.
DPI = 110
#: Pixels that a picture may be high: what is longer cannot be looked at.
MOST_PIXELS = 20_000
#: Names from files are no formulas (``$``), and a picture does not depend on the settings of its user.
_STYLE: dict[str, Any] = {
    "text.parse_math": False,
    "svg.hashsalt": "seldio",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "hatch.linewidth": 0.7,
}


def check_installed() -> None:
    """See that matplotlib is there."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise SeldioError("pictures need matplotlib; install it with: pip install 'seldio[plot]'") from None


@contextmanager
def style() -> Iterator[None]:
    """Draw as seldio does, whatever the settings of the user are."""
    check_installed()
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        mpl.rcdefaults()
        settings: Any = mpl.rcParams  # its type lists every name
        settings.update(_STYLE)
        yield


def blank(width: float, height: float) -> Any:
    """A figure of *width* × *height* inches that makes room for its texts."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if height * DPI > MOST_PIXELS:
        raise UsageError(f"a picture {height * DPI:,.0f} pixels high shows nothing: choose a part of it, as one clip")
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a picture is written as, by the suffix of its file."""
    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in KINDS:
        raise UsageError(f"{clipped(os.fspath(path), 200)}: the name of a picture must end with .{', .'.join(KINDS)}")
    return suffix


def rendered(figure: Any, kind: str) -> bytes:
    """A figure as the bytes of a file of *kind*; equal figures give equal bytes."""
    out = io.BytesIO()
    with style():
        figure.savefig(out, format=kind, dpi=DPI, metadata=KINDS[kind])
    return out.getvalue()


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure as its name says: ``.png``, ``.svg`` or ``.pdf``."""
    write_bytes(path, rendered(figure, kind_of(path)))


def drawable(text: str) -> str:
    """*text* from a file, fit to be drawn."""
    return clipped(text) if len(text) > 60 else printable(text)


def shortened(text: str, width: int = 60) -> str:
    """The name of a system, fit to be drawn: of a long path its end, which tells it from others."""
    return printable(text) if len(text) <= width else f"…{printable(text[1 - width :])}"


#: The colours of classes, the same in every picture and on the page, by index; the next one is always far from those
#: before.
#:
#: They were chosen by a search for the greatest least difference (CIE76 in CIELAB) between any two of them as seen
#: with normal, protanopic, deuteranopic and tritanopic eyes (Machado, Oliveira and Fernandes 2009, severity 1). No
#: two come closer than 23 there, and all stand out from white (contrast of 1.75 at least) and from black (2.2).
#: A picture never tells classes apart by colour alone: their names are there too.
COLOURS: tuple[str, ...] = (
    "#0000ff", "#ff2700", "#d8b1ff", "#89143b", "#62d89d", "#4e3b76", "#d862ff", "#8900c4", "#9dc462", "#9d0000",
    "#ffb100", "#8976b1", "#4e7676", "#9d764e",
)  # fmt: skip


def colour(class_id: int) -> str:
    """The colour of a class as ``#rrggbb``; after the last one they begin again."""
    return COLOURS[class_id % len(COLOURS)]


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``, 0 to 255."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def luminance(colour: str) -> float:
    """How bright a colour is, from 0 to 1, as WCAG 2 defines it."""
    shares = [part / 255 for part in rgb(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink(colour: str) -> str:
    """Black or white, whichever is easier to read on *colour*."""
    return "#000000" if luminance(colour) > 0.179 else "#ffffff"
