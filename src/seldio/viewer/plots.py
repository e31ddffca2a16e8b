"""Pictures of one clip: the timeline of its events, their directions over time, and the map of where they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seldio.text import plural
from seldio.viewer.canvas import blank, drawable, style
from seldio.viewer.tracks import EventTrack, classes, line, pieces, row_name

#: Inches.
_WIDTH = 12.0
#: Inches of a row of the timeline for each event that sounds at a time, and what stands around the rows.
_LANE, _AROUND = 0.22, 1.3
#: The length of the axis of time, by that of the events.
_ROOM = 1.02
#: Degrees between the lines of the grid.
_AZIMUTHS, _ELEVATIONS = np.arange(-180, 181, 45), np.arange(-90, 91, 30)


def timeline(reference: Sequence[EventTrack], predictions: Sequence[EventTrack] | None = None, title: str = "") -> Any:
    """A matplotlib figure with a row for each class and a bar for each event; predictions below in outline, hatched.

    Predictions are empty if a system heard nothing, None if there is none.
    """
    with style():
        rows = classes(reference, predictions or ())
        sides = [(False, reference)] + ([(True, predictions)] if predictions is not None else [])
        placed = {name: [_lanes([t for t in side if row_name(t, rows) == name]) for _, side in sides] for name in rows}
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


def directions(
    reference: Sequence[EventTrack], predictions: Sequence[EventTrack] | None = None, title: str = ""
) -> Any:
    """Azimuth and elevation over time, a line for each event in the colour of its class.

    Azimuth runs upwards from -180 (behind, by the right) to +180 (behind, by the left). A line that leaves at one
    edge goes on at the other. References are wide and pale, predictions thin and dark.
    """
    with style():
        rows = classes(reference, predictions or ())
        figure = blank(_WIDTH, 7.0)
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for track, stroke, predicted in _strokes(reference, predictions, rows):
            time, azimuth, _ = line(track)
            _draw(upper, pieces(time, azimuth), stroke, predicted)
            time, _, elevation = line(track, round=False)
            _draw(lower, pieces(time, elevation), stroke, predicted)
        _degrees(upper, _AZIMUTHS, "azimuth (°), +90 is left")
        _degrees(lower, _ELEVATIONS, "elevation, degrees")
        lower.set_xlabel("seconds")
        _ended(lower, [*reference, *(predictions or ())])
        upper.set_title(_titled(title, reference, predictions))
        _keys(figure, rows, predictions is not None)
    return figure


def directions_map(
    reference: Sequence[EventTrack], predictions: Sequence[EventTrack] | None = None, title: str = "",
    energy: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Where events were, as the panorama shows it: azimuth +180 at the left edge, the front in the middle.

    A line for each event with a dot where it begins; the longest event of each class bears the class's name, which
    is where nothing else is. *energy*, the strongest energy of each class over time (rows from +90 down, columns from
    +180 to the right), lies below.
    """
    with style():
        rows = classes(reference, predictions or ())
        figure = blank(_WIDTH, 7.2)
        axes = figure.subplots()
        drawn = []
        for name, strongest in (energy or {}).items():
            _shade(axes, strongest, rows[name])
        for track, stroke, predicted in _strokes(reference, predictions, rows):
            _, azimuth, elevation = line(track)
            drawn += pieces(azimuth, elevation)
            _draw(axes, pieces(azimuth, elevation), stroke, predicted)
            axes.plot(
                azimuth[:1], elevation[:1], marker="o", markersize=6, clip_on=False, zorder=3,
                color=stroke["color"], markerfacecolor="none" if predicted else stroke["color"],
            )  # fmt: skip
        axes.set(xlim=(180, -180), ylim=(-90, 90), aspect="equal")
        axes.set_xticks(_AZIMUTHS, [_bearing(int(degrees)) for degrees in _AZIMUTHS])
        axes.set_yticks(_ELEVATIONS)
        axes.set(xlabel="azimuth, degrees", ylabel="elevation, degrees")
        axes.spines[["top", "right"]].set_visible(True)
        _names(axes, list(reference) or list(predictions or ()), rows, drawn)
        if not reference and not predictions:
            _silent(axes)
        axes.set_title(_titled(title, reference, predictions))
        _keys(figure, rows, predictions is not None)
    return figure


def _shade(axes: Any, energy: Any, colour: str) -> None:
    """Energy from 0 to 1 over the panorama: the stronger, the more of the colour."""
    from matplotlib.colors import to_rgb

    height, width = energy.shape
    shade = np.concatenate([np.broadcast_to(to_rgb(colour), (height, width, 3)), 0.75 * energy[..., None]], axis=-1)
    # pixels are around their points: half of the first row and column is outside of the panorama
    half_x, half_y = 180 / width, 90 / height
    box = (180 + half_x, -180 + half_x, -90 + half_y, 90 + half_y)
    axes.imshow(shade, extent=box, interpolation="nearest", zorder=1.5, aspect="equal")
    axes.imshow(shade[:, :1], extent=(-180 + half_x, -180 - half_x, *box[2:]), interpolation="nearest", zorder=1.5)


def _lanes(events: Sequence[EventTrack]) -> list[list[EventTrack]]:
    """*events* of one class in as many lanes as sound at a time, each in the first one that is free."""
    lanes: list[list[EventTrack]] = []
    for event in sorted(events, key=lambda event: (event.onset, event.offset)):
        lane = next((lane for lane in lanes if lane[-1].offset <= event.onset), None)
        if lane is None:
            lanes.append([event])
        else:
            lane.append(event)
    return lanes


def _bars(axes: Any, lane: Sequence[EventTrack], at: float, colour: str, predicted: bool) -> None:
    spans = [(event.onset, event.offset - event.onset) for event in lane]
    # the outline has a width of its own, so that an event of one frame is seen in a clip of ten minutes
    stroke = {"facecolor": "white", "hatch": "/////"} if predicted else {"facecolor": colour}
    axes.broken_barh(spans, (at + 0.08, 0.84), edgecolor=colour, linewidth=0.8, **stroke)


def _strokes(
    reference: Sequence[EventTrack], predictions: Sequence[EventTrack] | None, rows: dict[str, str]
) -> Iterator[tuple[EventTrack, dict[str, Any], bool]]:
    """All events with the strokes of their lines, and whether they are predicted; those lie above the others."""
    for predicted, side in ((False, reference), (True, predictions or ())):
        for track in side:
            yield track, _stroke(rows[row_name(track, rows)], predicted), predicted


def _stroke(colour: str, predicted: bool) -> dict[str, Any]:
    return {"color": colour, "linewidth": 1.2 if predicted else 4.5, "alpha": 1.0 if predicted else 0.5}


def _draw(axes: Any, lines: Sequence[Any], stroke: dict[str, Any], predicted: bool) -> None:
    from matplotlib.collections import LineCollection

    if lines:
        axes.add_collection(LineCollection(lines, capstyle="round", zorder=2.5 if predicted else 2, **stroke))


def _degrees(axes: Any, ticks: Any, name: str) -> None:
    axes.set_yticks(ticks)
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_ylabel(name)


def _bearing(azimuth: int) -> str:
    words = {180: "behind", 90: "left", 0: "front", -90: "right", -180: "behind"}
    number = f"{azimuth:+d}" if azimuth else "0"
    return f"{number}\n{words[azimuth]}" if azimuth in words else number


def _ended(axes: Any, tracks: Sequence[EventTrack]) -> None:
    """Let the axis of time run from 0 to a little past the last offset, so that it is seen to be the last."""
    axes.set_xlim(0, _ROOM * max((track.offset for track in tracks), default=1.0))
    if not tracks:
        axes.set_xticks([])
        _silent(axes)


def _silent(axes: Any) -> None:
    axes.text(
        0.5, 0.5, "no source is active in this clip", transform=axes.transAxes, ha="center", va="center", color="#666"
    )


def _titled(title: str, reference: Sequence[EventTrack], predictions: Sequence[EventTrack] | None) -> str:
    counts = plural(len(reference), "event")
    if predictions is not None:
        counts += f", {len(predictions):,} predicted"
    return f"{drawable(title)}: {counts}" if title else counts


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
        strokes = (_stroke("#333333", predicted) for predicted in (False, True))
        marks += [Line2D([], [], label=name, **stroke) for name, stroke in zip(names, strokes, strict=True)]
    if marks:
        _legend(figure, marks)


def _legend(figure: Any, marks: Sequence[Any]) -> None:
    figure.legend(handles=marks, loc="outside lower left", ncols=min(5, len(marks)), frameon=False)


#: Degrees that a name takes: half its height, half of one letter, half of what stands around it, and beside its dot.
_HALF_HEIGHT, _HALF_LETTER, _HALF_EDGE = 4.0, 1.15, 2.5


def _names(axes: Any, tracks: Sequence[EventTrack], rows: dict[str, str], drawn: Sequence[Any]) -> None:
    """The name of each class near its longest event, where it covers no line and no other name."""
    blocked = np.unique(np.round(np.concatenate([*map(_dense, drawn), np.empty((0, 2))])), axis=0)
    for name, colour in rows.items():
        known = [t for t in tracks if row_name(t, rows) == name and not np.isnan(t.azimuth[0] + t.elevation[0])]
        if not known:
            continue
        longest = max(known, key=lambda track: len(track.frames))
        at = np.array([longest.azimuth[0], longest.elevation[0]], float)
        half = np.array([_HALF_LETTER * len(drawable(name)) + _HALF_EDGE, _HALF_HEIGHT])
        place = _free(at, half, blocked)
        axes.annotate(
            drawable(name), at, xytext=place, ha="center", va="center", fontsize=8, zorder=4,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": colour, "alpha": 0.85},
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6},
        )  # fmt: skip
        inside = np.stack(np.meshgrid(*(np.linspace(-each, each, 9) for each in half)), axis=-1).reshape(-1, 2)
        blocked = np.concatenate([blocked, place + inside])


def _dense(points: Any) -> Any:
    """The points of a line with some in between, one a degree or two; shape (n, 2)."""
    points = np.asarray(points, float)
    steps = int(np.ceil(np.abs(np.diff(points, axis=0)).max(initial=0.0))) + 1
    ends, share = points[:-1, np.newaxis], np.linspace(0, 1, steps, endpoint=False)[:, np.newaxis]
    between = (ends + share * (points[1:, np.newaxis] - ends)).reshape(-1, 2)
    return np.concatenate([between, points[-1:]])


def _free(at: Any, half: Any, blocked: Any) -> Any:
    """The middle of the free place nearest to *at* that has room for a name; of full ones the one least covered.

    All in degrees of azimuth and elevation: *half* the size of the name; *blocked*, shape (n, 2), is not to be covered.
    """
    grid = np.stack(np.meshgrid(np.arange(-180.0, 181, 3), np.arange(-90.0, 91, 3)), axis=-1).reshape(-1, 2)
    edge = np.array([180.0, 90.0]) - half
    middles = np.unique(np.clip(np.vstack([grid, at + np.array([[0, 10], [0, -10]])]), -edge, edge), axis=0)
    far = np.hypot(*((middles - at) * (0.5, 1.0)).T)  # names are wide: aside is nearer than it strokes
    order = np.argsort(far, kind="stable")
    best, fewest = middles[order[0]], np.inf
    for number in order:
        covered = (np.abs(blocked - middles[number]) < half).all(axis=1).sum()
        if covered < fewest:
            best, fewest = middles[number], covered
        if not covered:
            break
    return best
