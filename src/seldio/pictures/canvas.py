"""Blank figures and how they are saved: the same picture gives the same bytes, without a screen and without dates."""

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
    """See that matplotlib is there.

    Raises:
        SeldioError: it is not.
    """
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
    """A figure of *width* × *height* inches that makes room for its texts.

    Raises:
        UsageError: it would be too high to look at.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if height * DPI > MOST_PIXELS:
        raise UsageError(f"a picture {height * DPI:,.0f} pixels high shows nothing: choose a part of it, as one clip")
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a picture is written as, by the suffix of its file.

    Raises:
        UsageError: pictures are not written so.
    """
    suffix = PurePath(path).suffix.lower().removeprefix(".")
    if suffix not in KINDS:
        raise UsageError(f"{clipped(os.fspath(path), 200)}: a picture ends with .{', .'.join(KINDS)}")
    return suffix


def rendered(figure: Any, kind: str) -> bytes:
    """A figure as the bytes of a file of *kind*; equal figures give equal bytes."""
    out = io.BytesIO()
    with style():
        figure.savefig(out, format=kind, dpi=DPI, metadata=KINDS[kind])
    return out.getvalue()


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure as its name says: ``.png``, ``.svg`` or ``.pdf``.

    Raises:
        UsageError: pictures are not written so, or there is no such folder.
        SeldioError: the disk fails.
    """
    write_bytes(path, rendered(figure, kind_of(path)))


def said(text: str) -> str:
    """*text* from a file, fit to be drawn."""
    return clipped(text) if len(text) > 60 else printable(text)


def named(text: str, width: int = 60) -> str:
    """The name of a system, fit to be drawn: of a long path its end, which tells it from others."""
    return printable(text) if len(text) <= width else f"…{printable(text[1 - width :])}"
