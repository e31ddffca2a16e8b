"""Pictures of one clip: the timeline of its events, their directions over time, and the map of where they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seldio.pictures.canvas import blank, said, style
from seldio.pictures.tracks import Track, classes, line, named, pieces
from seldio.text import plural

#: Inches.
_WIDTH = 12.0
#: Inches of a row of the timeline for each event that sounds at a time, and what stands around the rows.
_LANE, _AROUND = 0.22, 1.3
#: Degrees between the lines of the grid.
_AZIMUTHS, _ELEVATIONS = np.arange(-180, 181, 45), np.arange(-90, 91, 30)


def timeline(reference: Sequence[Track], predictions: Sequence[Track] | None = None, title: str = "") -> Any:
    """A row for each class with a bar for each event; predictions below in outline, hatched.

    Args:
        reference: events of a clip.
        predictions: what a system heard; empty if it heard nothing, None if there is none.
        title: of the picture.

    Returns:
        A matplotlib figure; time in seconds.
    """
    with style():
        rows = classes(reference, predictions or ())
        sides = [(False, reference)] + ([(True, predictions)] if predictions is not None else [])
        placed = {name: [_lanes([t for t in side if named(t, rows) == name]) for _, side in sides] for name in rows}
        heights = {name: [max(1, len(lanes)) for lanes in both] for name, both in placed.items()}
        figure = blank(_WIDTH, _AROUND + _LANE * max(3.0, sum(sum(both) + 0.5 for both in heights.values())))
        axes, at, ticks = figure.subplots(), 0.0, []
        for name, both in placed.items():
            ticks.append(at + sum(heights[name]) / 2)
            for (predicted, _), lanes, height in zip(sides, both, heights[name], strict=True):
                for number, lane in enumerate(lanes):
                    _bars(axes, lane, at + number, rows[name], predicted)
                at += height
            axes.axhline(at + 0.25, color="#bbbbbb", linewidth=0.6)
            at += 0.5
        axes.set_ylim(max(at, 1.0) - 0.25, -0.25)
        axes.set_yticks(ticks, list(rows))
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("seconds")
        _ended(axes, [t for _, side in sides for t in side])
        axes.set_title(_titled(title, reference, predictions))
        if predictions is not None:
            _legend(figure, [_patch(False), _patch(True)])
    return figure


def directions(reference: Sequence[Track], predictions: Sequence[Track] | None = None, title: str = "") -> Any:
    """Azimuth and elevation over time, a line for each event in the colour of its class.

    Azimuth runs upwards from -180 (behind, by the right) to +180 (behind, by the left). A line that leaves at one
    edge goes on at the other. References are wide and pale, predictions thin and dark.

    Args:
        reference: as in :func:`timeline`.
        predictions: likewise.
        title: of the picture.
    """
    with style():
        rows = classes(reference, predictions or ())
        figure = blank(_WIDTH, 7.0)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for predicted, side in ((False, reference), (True, predictions or ())):
            for track in side:
                look = _line_look(rows[named(track, rows)], predicted)
                time, azimuth, _ = line(track)
                _draw(upper, pieces(time, azimuth), look, predicted)
                time, _, elevation = line(track, round=False)
                _draw(lower, pieces(time, elevation), look, predicted)
        _degrees(upper, _AZIMUTHS, "azimuth, degrees (+90 is left)")
        _degrees(lower, _ELEVATIONS, "elevation, degrees")
        lower.set_xlabel("seconds")
        _ended(lower, [*reference, *(predictions or ())])
        upper.set_title(_titled(title, reference, predictions))
        _keys(figure, rows, predictions is not None)
    return figure


def directions_map(reference: Sequence[Track], predictions: Sequence[Track] | None = None, title: str = "") -> Any:
    """Where events were, as the panorama shows it: azimuth +180 at the left edge, the front in the middle.

    A line for each event with a dot where it begins; the longest event of each class bears the class's name.

    Args:
        reference: as in :func:`timeline`.
        predictions: likewise.
        title: of the picture.
    """
    with style():
        rows = classes(reference, predictions or ())
        figure = blank(_WIDTH, 7.2)
        axes = figure.subplots()
        for predicted, side in ((False, reference), (True, predictions or ())):
            for track in side:
                look = _line_look(rows[named(track, rows)], predicted)
                _, azimuth, elevation = line(track)
                _draw(axes, pieces(azimuth, elevation), look, predicted)
                axes.plot(
                    azimuth[:1], elevation[:1], marker="o", markersize=6, clip_on=False, zorder=3,
                    color=look["color"], markerfacecolor="none" if predicted else look["color"],
                )  # fmt: skip
        axes.set(xlim=(180, -180), ylim=(-90, 90), aspect="equal")
        axes.set_xticks(_AZIMUTHS, [_bearing(int(degrees)) for degrees in _AZIMUTHS])
        axes.set_yticks(_ELEVATIONS)
        axes.set(xlabel="azimuth, degrees", ylabel="elevation, degrees")
        axes.spines[["top", "right"]].set_visible(True)
        _names(axes, list(reference) or list(predictions or ()), rows)
        if not reference and not predictions:
            _silent(axes)
        axes.set_title(_titled(title, reference, predictions))
        _keys(figure, rows, predictions is not None)
    return figure


def _lanes(events: Sequence[Track]) -> list[list[Track]]:
    """*events* of one class in as many lanes as sound at a time, each in the first one that is free."""
    lanes: list[list[Track]] = []
    for event in sorted(events, key=lambda event: (event.onset, event.offset)):
        lane = next((lane for lane in lanes if lane[-1].offset <= event.onset), None)
        if lane is None:
            lanes.append([event])
        else:
            lane.append(event)
    return lanes


def _bars(axes: Any, lane: Sequence[Track], at: float, colour: str, predicted: bool) -> None:
    spans = [(event.onset, event.offset - event.onset) for event in lane]
    # the outline has a width of its own, so that an event of one frame is seen in a clip of ten minutes
    look = {"facecolor": "white", "hatch": "/////"} if predicted else {"facecolor": colour}
    axes.broken_barh(spans, (at + 0.08, 0.84), edgecolor=colour, linewidth=0.8, **look)


def _line_look(colour: str, predicted: bool) -> dict[str, Any]:
    return {"color": colour, "linewidth": 1.2 if predicted else 4.5, "alpha": 1.0 if predicted else 0.5}


def _draw(axes: Any, lines: Sequence[Any], look: dict[str, Any], predicted: bool) -> None:
    from matplotlib.collections import LineCollection

    if lines:
        axes.add_collection(LineCollection(lines, capstyle="round", zorder=2.5 if predicted else 2, **look))


def _degrees(axes: Any, ticks: Any, name: str) -> None:
    axes.set_yticks(ticks)
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_ylabel(name)


def _bearing(azimuth: int) -> str:
    words = {180: "behind", 90: "left", 0: "front", -90: "right", -180: "behind"}
    number = f"{azimuth:+d}" if azimuth else "0"
    return f"{number}\n{words[azimuth]}" if azimuth in words else number


def _ended(axes: Any, tracks: Sequence[Track]) -> None:
    """Let the axis of time run from 0 to the last offset."""
    axes.set_xlim(0, max((track.offset for track in tracks), default=1.0))
    if not tracks:
        axes.set_xticks([])
        _silent(axes)


def _silent(axes: Any) -> None:
    axes.text(0.5, 0.5, "nothing sounds in this clip", transform=axes.transAxes, ha="center", va="center", color="#666")


def _titled(title: str, reference: Sequence[Track], predictions: Sequence[Track] | None) -> str:
    counts = plural(len(reference), "event")
    if predictions is not None:
        counts += f", {len(predictions):,} predicted"
    return f"{said(title)}: {counts}" if title else counts


def _patch(predicted: bool) -> Any:
    from matplotlib.patches import Patch

    if predicted:
        return Patch(facecolor="white", edgecolor="#333333", hatch="/////", label="prediction")
    return Patch(facecolor="#333333", edgecolor="#333333", label="reference")


def _keys(figure: Any, rows: dict[str, str], compared: bool) -> None:
    """What the colours and the widths of lines mean, below everything."""
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=colour, linewidth=4, label=name) for name, colour in rows.items()]
    if compared:
        names = ("reference", "prediction")
        looks = (_line_look("#333333", predicted) for predicted in (False, True))
        marks += [Line2D([], [], label=name, **look) for name, look in zip(names, looks, strict=True)]
    if marks:
        _legend(figure, marks)


def _legend(figure: Any, marks: Sequence[Any]) -> None:
    figure.legend(handles=marks, loc="outside lower left", ncols=min(5, len(marks)), frameon=False)


def _names(axes: Any, tracks: Sequence[Track], rows: dict[str, str]) -> None:
    """The name of each class at its longest event, moved up until it stands clear of those before."""
    taken: list[tuple[float, float, float]] = []
    for name, colour in rows.items():
        known = [t for t in tracks if named(t, rows) == name and not np.isnan(t.azimuth[0] + t.elevation[0])]
        if not known:
            continue
        longest = max(known, key=lambda track: len(track.frames))
        half = 1.15 * len(name) + 2  # degrees that half a name takes
        x = float(np.clip(longest.azimuth[0], half - 180, 180 - half))
        y = min(float(longest.elevation[0]) + 14, 84.0)
        while any(abs(y - other) < 5.5 and abs(x - place) < half + wide for place, other, wide in taken) and y < 120:
            y += 1
        y = y if y <= 86 else float(longest.elevation[0]) - 14
        taken.append((x, y, half))
        axes.annotate(
            name, (float(longest.azimuth[0]), float(longest.elevation[0])), xytext=(x, y), ha="center", va="center",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": colour, "alpha": 0.85}, zorder=4,
            fontsize=8, arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6},
        )  # fmt: skip
