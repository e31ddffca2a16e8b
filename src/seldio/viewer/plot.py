"""One clip as a picture: its classes, azimuths, elevations and distances over time, drawn by matplotlib."""

from __future__ import annotations

import dataclasses
import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio import geometry
from seldio.data.index import Path, open_clip
from seldio.errors import SeldioError, UsageError, needing
from seldio.files import write_bytes
from seldio.text import Displayed, clipped, listed, plural, printable
from seldio.viewer.page_content import COLOURS, PageLabels, file_stem, of_another_clip, prediction_of, side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The kinds of files, each with the metadata that keeps dates and versions out: equal plots are equal bytes.
KINDS: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
#: The panels below that of the classes: the field of an event, the name of the axis, its marks.
PANELS = (
    ("a", "azimuth (°)", range(-180, 181, 90)),
    ("e", "elevation (°)", range(-90, 91, 45)),
    ("d", "distance (m)", None),
)
#: Inches: the width, the height of a class, the height of a panel. A picture of more classes cannot be looked at.
WIDTH, CLASS_HEIGHT, PANEL_HEIGHT, MOST_CLASSES = 12.0, 0.22, 2.0, 300


@dataclasses.dataclass(frozen=True, repr=False)
class Plotted(Displayed):
    """A plot that was written; a notebook shows it.

    Args:
        path: of the file.
        figure: the plot as a figure of matplotlib, to be changed and saved again.
        notes: what there is to know, a line each.
    """

    path: str
    figure: Figure = dataclasses.field(compare=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.path, *map(printable, self.notes)])

    def _repr_png_(self) -> bytes:
        return _rendered(self.figure, "png")

    def _repr_html_(self) -> None:
        """Leave the display to the picture."""


def plot(
    source: Path,
    out: Path | None = None,
    *,
    clip: str | None = None,
    predictions: Path | None = None,
    format: str | None = None,
    predictions_format: str | None = None,
) -> Plotted:
    """Draw the labels of a clip over time, with predictions if there are any, and write the picture.

    Args:
        source: the label file of the clip, or a dataset: a folder, archive, export, or ``hf://datasets/USER/NAME``.
        out: the file, ``.png``, ``.svg`` or ``.pdf``; ``CLIP.png`` in the current folder by default.
        clip: the clip to draw, if the dataset has several.
        predictions: a file of predictions, or a folder with one of the clip's name.
        format: the format of the labels; detected from their content by default.
        predictions_format: the format of the predictions; detected by default.

    Raises:
        UsageError: a file or clip is missing, or holds something else.
        DataError: nothing in it can be read.
        SeldioError: matplotlib is missing, it is more than a picture can hold, or the disk fails.
    """
    with needing("matplotlib"):
        import matplotlib as mpl  # noqa: F401 - said before anything is read
    if out is not None:
        _kind_of(out)
    if predictions_format is not None and predictions is None:
        raise UsageError("--predictions-format requires --predictions")
    with open_clip(source, clip) as (labels, media):
        stem = media.clip.clip
        sides = {"labels": side(labels, format)}
    notes: list[str] = []
    if predictions is not None:
        sides["predictions"] = side(prediction_of(predictions, stem), predictions_format)
        notes += of_another_clip(sides["predictions"], stem, named=clip is not None)
    for name, page_labels in sides.items():
        if codes := [finding["code"] for finding in page_labels.findings]:
            notes.append(f"{plural(len(codes), 'finding')} in the {name} ({listed(codes)}): see seldio validate")
    path = os.fspath(out) if out is not None else f"{file_stem(stem)}.png"
    figure = draw(sides, stem)
    write_bytes(path, _rendered(figure, _kind_of(path)), None if out is not None else ".")
    return Plotted(path, figure, tuple(notes))


def draw(sides: dict[str, PageLabels], title: str) -> Figure:
    """Return a figure with a panel of classes, and one for each of azimuth, elevation and distance that is known."""
    events = [event for labels in sides.values() for event in labels.events]
    numbers = {event["c"]: event["n"] for event in events}
    classes = sorted(numbers, key=lambda name: (numbers[name] is None, numbers[name] or 0, name))
    if len(classes) > MOST_CLASSES:
        raise SeldioError(f"{printable(title)} has {len(classes):,} classes; a plot holds up to {MOST_CLASSES}")
    indices = {name: row if numbers[name] is None else numbers[name] for row, name in enumerate(classes)}
    colours = {name: COLOURS[index % len(COLOURS)] for name, index in indices.items()}
    panels = [panel for panel in PANELS if any(panel[0] in event for event in events)]
    heights = [1 + CLASS_HEIGHT * len(sides) * max(1, len(classes)), *(PANEL_HEIGHT for _ in panels)]
    with _style():
        from matplotlib.figure import Figure

        figure = Figure((WIDTH, 0.5 + sum(heights)), dpi=110, layout="constrained")
        top, *below = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for number, labels in enumerate(sides.values()):
            height, hop = 0.8 / len(sides), float(labels.hop)
            for event in labels.events:
                colour, bottom = colours[event["c"]], classes.index(event["c"]) - 0.4 + number * height
                face, hatch = ("white", "/////") if number else (colour, None)
                span = event["f"] * hop, event["k"] * hop
                top.broken_barh([span], (bottom, height), edgecolor=colour, facecolor=face, hatch=hatch)
            for (field, name, marks), axes in zip(panels, below, strict=True):
                _draw_lines(axes, labels, field, colours, predicted=number > 0)
                axes.set_ylabel(name)
                if marks is None:
                    axes.set_ylim(bottom=0)
                else:
                    axes.set(yticks=marks, ylim=(marks[0], marks[-1]))
        top.set_yticks(range(len(classes)), [name[:40] for name in classes])
        top.set(ylim=(max(len(classes), 1) - 0.5, -0.5))
        counts = ", ".join(f"{plural(len(labels.events), 'event')} in the {name}" for name, labels in sides.items())
        top.set_title(f"{clipped(title) if len(title) > 60 else printable(title)}: {counts}", loc="left")
        figure.axes[-1].set(xlabel="seconds", xlim=(0, max(labels.seconds for labels in sides.values()) or 1))
        for axes in figure.axes:
            axes.grid(color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
        figure.align_ylabels(below)
    return figure


def _draw_lines(axes: Axes, labels: PageLabels, field: str, colours: dict[str, str], *, predicted: bool) -> None:
    look: dict[str, Any] = {"linewidth": 1.2} if predicted else {"linewidth": 4.5, "alpha": 0.5}
    hop = float(labels.hop)
    for event in labels.events:
        if field in event:
            first, frames = event["f"], event["k"]
            seconds = hop * np.concatenate(([first], first + 0.5 + np.arange(frames), [first + frames]))
            values = np.pad(np.array(event[field], np.float64), 1, mode="edge")
            if field == "a":
                values = geometry.wrap(values)
                passed = np.flatnonzero(np.abs(np.diff(values)) > 180) + 1  # behind the listener, from ±180 to ∓180
                seconds, values = (np.insert(part, passed, np.nan) for part in (seconds, values))
            axes.plot(seconds, values, color=colours[event["c"]], **look)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        mpl.rcdefaults()
        mpl.rcParams.update({"text.parse_math": False, "svg.hashsalt": "seldio", "font.size": 9.0})
        yield


def _kind_of(path: Path) -> str:
    kind = PurePath(path).suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise UsageError(f"{clipped(os.fspath(path), 200)}: the name of a plot must end with .{', .'.join(KINDS)}")
    return kind


def _rendered(figure: Figure, kind: str) -> bytes:
    content = io.BytesIO()
    with _style():
        figure.savefig(content, format=kind, metadata=KINDS[kind])
    return content.getvalue()
