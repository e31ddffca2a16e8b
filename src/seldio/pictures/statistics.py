"""What a set of labels holds, counted and drawn: classes, overlaps, directions, distances, lengths, rooms."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from typing import Any

import numpy as np
import pyarrow.compute as pc

from seldio.conversion.columns import class_keys, has
from seldio.conversion.frames import grouped
from seldio.formats.trees import read_tree
from seldio.pictures.canvas import blank, said, style
from seldio.pictures.colours import colour
from seldio.pictures.tracks import Labels
from seldio.schema.events import clip_codes, origin_of
from seldio.text import plural
from seldio.vocabularies import vocabulary

Floats = np.ndarray[Any, np.dtype[np.float64]]

_BLUE = "#33608c"


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What a set of labels holds.

    Args:
        clips: how many, silent ones too.
        silent: clips without an event.
        seconds: event frames of each class, in seconds, by name in the order of the vocabulary.
        numbers: index of each of these classes, which gives its colour.
        polyphony: seconds in which so many events sound at a time; 0 counts up to the last frame with an event
            of each clip only, since labels do not say how long a clip is.
        azimuth: degrees of all event frames that have a direction.
        elevation: likewise.
        distance: metres of those that have a distance.
        lengths: seconds of each event.
        rooms: clips by room, as far as their names tell.
        splits: clips by split folder.
    """

    clips: int
    silent: int
    seconds: dict[str, float]
    numbers: dict[str, int]
    polyphony: dict[int, float]
    azimuth: Floats
    elevation: Floats
    distance: Floats
    lengths: Floats
    rooms: dict[str, int]
    splits: dict[str, int]


def statistics(labels: Labels) -> Statistics:
    """Count what a set of labels holds."""
    table, hop = labels.table, float(labels.hop)
    rooms, splits = _places(labels)
    keys, rows = class_keys(table)
    words = vocabulary(labels.vocabulary)
    order = sorted(range(len(keys)), key=lambda n: (keys[n][0] is None, keys[n][0] or 0, keys[n][1] or ""))
    counts = np.bincount(rows, minlength=len(keys))
    seconds: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    for place, key in enumerate(order):
        number, given = keys[key]
        name = said(given) if given else words.label(-1 if number is None else number)
        if counts[key]:
            seconds[name] += counts[key] * hop
            numbers.setdefault(name, place if number is None else number)
    events = grouped(table, labels.hop) if table.num_rows else None
    lengths = np.diff(events.starts) * hop if events is not None else np.zeros(0)
    sounding = len(np.unique(clip_codes(table)[0])) if table.num_rows else 0
    azimuth, elevation, distance = (_values(table, field) for field in ("azimuth", "elevation", "distance"))
    clips = len(origin_of(table).files)
    return Statistics(
        clips, clips - sounding, dict(seconds), numbers, _polyphony(table, hop), azimuth, elevation, distance,
        np.asarray(lengths, np.float64), rooms, splits,
    )  # fmt: skip


def _values(table: Any, field: str) -> Floats:
    if not has(table, field):
        return np.zeros(0)
    return np.asarray(pc.drop_null(table[field]).to_numpy(), np.float64)


def _polyphony(table: Any, hop: float) -> dict[int, float]:
    if not table.num_rows:
        return {}
    clip, frame = clip_codes(table)[0].astype(np.int64), table["frame"].to_numpy().astype(np.int64)
    width = int(frame.max()) + 1
    _, counts = np.unique(clip * width + frame, return_counts=True)
    last = np.full(int(clip.max()) + 1, -1, np.int64)
    np.maximum.at(last, clip, frame)
    silent = int((last + 1).sum()) - len(counts)
    levels, many = np.unique(counts, return_counts=True)
    return {0: silent * hop} | {int(n): int(m) * hop for n, m in zip(levels, many, strict=True)}


def _places(labels: Labels) -> tuple[dict[str, int], dict[str, int]]:
    """Clips by room and by split, as the names of their files tell."""
    tree = read_tree([file.name for file in origin_of(labels.table).files], os.fspath(labels.path))
    rooms = Counter(clip.room for clip in tree.clips if clip.room is not None)
    splits = Counter(clip.split for clip in tree.clips if clip.split is not None)
    return {f"{room}": rooms[room] for room in sorted(rooms)}, {split: splits[split] for split in sorted(splits)}


# --- drawing -----------------------------------------------------------------------------------------------


def draw(found: Statistics, title: str = "") -> Any:
    """A matplotlib figure of the whole: a panel for each thing that is known."""
    with style():
        figure = blank(13.0, max(7.0, 0.22 * len(found.seconds) + 4))
        panels = figure.subplot_mosaic([["classes", "polyphony", "lengths"], ["classes", "azimuth", "elevation"],
                                        ["distance", "rooms", "splits"]], width_ratios=(1.5, 1, 1))  # fmt: skip
        _classes(panels["classes"], found)
        _polyphony_panel(panels["polyphony"], found)
        _spread(panels["lengths"], found.lengths, _length_bins(found.lengths), "events by length", "seconds")
        _spread(panels["azimuth"], found.azimuth, np.arange(-180, 181, 10), "azimuth", "degrees, +90 is left")
        panels["azimuth"].set(xlim=(180, -180), xticks=np.arange(-180, 181, 90))
        _spread(panels["elevation"], found.elevation, np.arange(-90, 91, 5), "elevation", "degrees")
        panels["elevation"].set(xlim=(-90, 90), xticks=np.arange(-90, 91, 30))
        top = max(1.0, float(found.distance.max(initial=0)))
        _spread(panels["distance"], found.distance, np.linspace(0, top, 41), "distance", "metres")
        _clips(panels["rooms"], found.rooms, "clips by room")
        _clips(panels["splits"], found.splits, "clips by split")
        if found.lengths.size:
            panels["lengths"].set_xscale("log")
            panels["lengths"].set_xticks(_steps(found.lengths.min(), found.lengths.max()))
            panels["lengths"].xaxis.set_major_formatter("{x:g}")
            panels["lengths"].minorticks_off()
        counts = f"{plural(found.clips, 'clip')} ({found.silent:,} silent), {plural(len(found.lengths), 'event')}"
        figure.suptitle(f"{said(title)}: {counts}" if title else counts, fontsize=11)
    return figure


def _steps(low: float, high: float) -> list[float]:
    """Round numbers for a logarithmic axis, so many that their names have room.

    >>> _steps(0.9, 11.3), _steps(0.1, 45)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [0.1, 1.0, 10.0, 100.0])
    """
    digits = (1, 2, 5) if high < 50 * low else (1,)
    steps = [float(f"{digit}e{power}") for power in range(-4, 6) for digit in digits]
    first = max((number for number, step in enumerate(steps) if step <= low), default=0)
    last = next((number for number, step in enumerate(steps) if step >= high), len(steps) - 1)
    return steps[first : last + 1]


def _classes(axes: Any, found: Statistics) -> None:
    names = list(found.seconds)
    bars = axes.barh(names, list(found.seconds.values()), color=[colour(found.numbers[name]) for name in names])
    axes.bar_label(bars, [f"{value:,.1f}" for value in found.seconds.values()], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.16)
    axes.grid(visible=False, axis="y")
    axes.set_title("seconds by class")
    _empty(axes, names)


def _polyphony_panel(axes: Any, found: Statistics) -> None:
    whole = sum(found.polyphony.values()) or 1.0
    bars = axes.bar([str(n) for n in found.polyphony], list(found.polyphony.values()), color=_BLUE)
    axes.bar_label(bars, [f"{100 * value / whole:.1f} %" for value in found.polyphony.values()], fontsize=8)
    axes.margins(y=0.12)
    axes.set(title="seconds by events at a time", ylabel="seconds")
    _empty(axes, found.polyphony)


def _length_bins(lengths: Floats) -> Floats:
    low, high = (float(lengths.min()), float(lengths.max())) if lengths.size else (0.1, 1.0)
    return np.geomspace(low / 1.05, max(high, low * 2) * 1.05, 25)


def _spread(axes: Any, values: Floats, bins: Any, title: str, unit: str) -> None:
    axes.hist(values, bins=bins, color=_BLUE, edgecolor="white", linewidth=0.3)
    axes.set(title=title if unit == "seconds" else f"event frames by {title}", xlabel=unit)
    _empty(axes, values)


def _clips(axes: Any, counts: dict[str, int], title: str) -> None:
    bars = axes.bar([said(name).replace("dev-", "").replace("-", "-\n", 1) for name in counts], list(counts.values()),
                    color=_BLUE)  # fmt: skip
    axes.bar_label(bars, fontsize=8)
    axes.margins(y=0.12)
    axes.set_title(title)
    if len(counts) > 12:
        axes.tick_params(axis="x", labelrotation=90, labelsize=7)
    _empty(axes, counts)


def _empty(axes: Any, values: Any) -> None:
    """Say so where nothing is known."""
    if not len(values):
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.text(0.5, 0.5, "nothing to count here", transform=axes.transAxes, ha="center", color="#666666")
