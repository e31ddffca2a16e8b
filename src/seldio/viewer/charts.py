"""Pictures of whole sets: statistics of labels, and scores as bars."""

from __future__ import annotations

import dataclasses
import math
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from seldio.catalogues.trees import read_tree
from seldio.conversion.frames import class_keys, grouped, has
from seldio.errors import UsageError
from seldio.files import open_source, read_entries
from seldio.findings import raise_errors
from seldio.formats import json_text
from seldio.reports import json_report
from seldio.reports.tables import Cell, Column, Interval, ScoreReport, Table, UnreliableInterval
from seldio.schema.arrays import pc
from seldio.schema.events import clip_codes, origin_of
from seldio.text import clipped, plural, printable
from seldio.viewer.canvas import blank, colour, drawable, shortened, style
from seldio.viewer.tracks import PlottedLabels
from seldio.vocabularies import vocabulary

Floats = np.ndarray[Any, np.dtype[np.float64]]

_BLUE = "#33608c"


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What a set of labels holds."""

    clips: int  # how many, silent ones too
    silent: int  # clips without an event
    seconds: dict[str, float]  # event frames of each class, in seconds, by name in the order of the vocabulary
    numbers: dict[str, int]  # index of each of these classes, which gives its colour
    #: seconds in which so many events sound at a time; 0 counts up to the last frame with an event of each clip only,
    #: since labels do not say how long a clip is
    polyphony: dict[int, float]
    azimuth: Floats  # degrees of all event frames that have a direction
    elevation: Floats  # likewise
    distance: Floats  # metres of those that have a distance
    lengths: Floats  # seconds of each event
    rooms: dict[str, int]  # clips by room, as far as their names tell
    splits: dict[str, int]  # clips by split folder


def statistics(labels: PlottedLabels) -> Statistics:
    """Count what a set of labels holds."""
    table, hop = labels.table, float(labels.hop)
    clips = read_tree([file.name for file in origin_of(table).files], os.fspath(labels.path)).clips
    rooms = Counter(clip.room for clip in clips if clip.room is not None)  # as the names of files tell
    splits = Counter(clip.split for clip in clips if clip.split is not None)
    keys, rows = class_keys(table)
    words = vocabulary(labels.vocabulary)
    order = sorted(range(len(keys)), key=lambda n: (keys[n][0] is None, keys[n][0] or 0, keys[n][1] or ""))
    counts = np.bincount(rows, minlength=len(keys))
    seconds: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    for place, key in enumerate(order):
        number, spelled = keys[key]
        name = drawable(spelled) if spelled else words.label(-1 if number is None else number)
        if counts[key]:
            seconds[name] += counts[key] * hop
            numbers.setdefault(name, place if number is None else number)
    events = grouped(table, labels.hop) if table.num_rows else None
    lengths = np.diff(events.starts) * hop if events is not None else np.zeros(0)
    sounding = len(np.unique(clip_codes(table)[0])) if table.num_rows else 0
    azimuth, elevation, distance = (
        np.asarray(pc.drop_null(table[field]).to_numpy(), np.float64) if has(table, field) else np.zeros(0)
        for field in ("azimuth", "elevation", "distance")
    )
    count = len(origin_of(table).files)
    return Statistics(
        count, count - sounding, dict(seconds), numbers, _polyphony(table, hop), azimuth, elevation, distance,
        np.asarray(lengths, np.float64), {f"{room}": rooms[room] for room in sorted(rooms)},
        {split: splits[split] for split in sorted(splits)},
    )  # fmt: skip


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


# --- drawing -----------------------------------------------------------------------------------------------


def draw_statistics(found: Statistics, title: str = "") -> Any:
    """A matplotlib figure of the whole: a panel for each thing that is known."""
    with style():
        figure = blank(13.0, max(7.0, 0.22 * len(found.seconds) + 4))
        panels = figure.subplot_mosaic([["classes", "polyphony", "lengths"], ["classes", "azimuth", "elevation"],
                                        ["distance", "rooms", "splits"]], width_ratios=(1.5, 1, 1))  # fmt: skip
        _classes(panels["classes"], found)
        _polyphony_panel(panels["polyphony"], found.polyphony)
        low, high = (found.lengths.min(), found.lengths.max()) if found.lengths.size else (0.1, 1.0)
        bins = np.geomspace(low / 1.05, max(high, low * 2) * 1.05, 25)
        _spread(panels["lengths"], found.lengths, bins, "events by length", "seconds")
        _spread(panels["azimuth"], found.azimuth, np.arange(-180, 181, 10), "azimuth", "azimuth (°), +90 is left")
        panels["azimuth"].set(xlim=(180, -180), xticks=np.arange(-180, 181, 90))
        _spread(panels["elevation"], found.elevation, np.arange(-90, 91, 5), "elevation", "degrees")
        panels["elevation"].set(xlim=(-90, 90), xticks=np.arange(-90, 91, 30))
        top = max(1.0, float(found.distance.max(initial=0)))
        _spread(panels["distance"], found.distance, np.linspace(0, top, 41), "distance", "metres")
        _clips(panels["rooms"], found.rooms, "clips by room")
        _clips(panels["splits"], found.splits, "clips by split")
        if found.lengths.size:
            panels["lengths"].set_xscale("log")
            panels["lengths"].set_xticks(_steps(low, high))
            panels["lengths"].xaxis.set_major_formatter("{x:g}")
            panels["lengths"].minorticks_off()
        counts = f"{plural(found.clips, 'clip')} ({found.silent:,} silent), {plural(len(found.lengths), 'event')}"
        figure.suptitle(f"{drawable(title)}: {counts}" if title else counts, fontsize=11)
    return figure


def _classes(axes: Any, found: Statistics) -> None:
    names, values = list(found.seconds), list(found.seconds.values())
    bars = axes.barh(names, values, color=[colour(found.numbers[name]) for name in names])
    axes.bar_label(bars, [f"{value:,.1f}" for value in values], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.16)
    axes.grid(visible=False, axis="y")
    axes.set_title("seconds by class")
    _empty(axes, names)


def _polyphony_panel(axes: Any, seconds: dict[int, float]) -> None:
    whole, values = sum(seconds.values()) or 1.0, list(seconds.values())
    bars = axes.bar([str(n) for n in seconds], values, color=_BLUE)
    axes.bar_label(bars, [f"{100 * value / whole:.1f} %" for value in values], fontsize=6.5)
    axes.margins(y=0.12)
    axes.set(title="seconds by events at a time", ylabel="seconds")
    _empty(axes, values)


def _steps(low: float, high: float) -> list[float]:
    """Round numbers for a logarithmic axis, as many as have room for their names.

    >>> _steps(0.9, 11.3), _steps(0.1, 45)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [0.1, 1.0, 10.0, 100.0])
    """
    digits = (1, 2, 5) if high < 50 * low else (1,)
    steps = [float(f"{digit}e{power}") for power in range(-4, 6) for digit in digits]
    first = max((number for number, step in enumerate(steps) if step <= low), default=0)
    last = next((number for number, step in enumerate(steps) if step >= high), len(steps) - 1)
    return steps[first : last + 1]


def _spread(axes: Any, values: Floats, bins: Any, title: str, unit: str) -> None:
    axes.hist(values, bins=bins, color=_BLUE, edgecolor="white", linewidth=0.3)
    axes.set(title=title if unit == "seconds" else f"event frames by {title}", xlabel=unit)
    _empty(axes, values)


def _clips(axes: Any, counts: dict[str, int], title: str) -> None:
    names = [drawable(name).replace("dev-", "").replace("-", "-\n", 1) for name in counts]
    bars = axes.bar(names, list(counts.values()), color=_BLUE)
    axes.bar_label(bars, fontsize=8)
    axes.margins(y=0.12)
    axes.set_title(title)
    axes.yaxis.get_major_locator().set_params(integer=True)
    if len(counts) > 12:
        axes.tick_params(axis="x", labelrotation=90, labelsize=7)
    _empty(axes, counts)


def _empty(axes: Any, values: Any) -> None:
    """Say so where nothing is known."""
    if not len(values):
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        axes.text(0.5, 0.5, "nothing to count here", transform=axes.transAxes, ha="center", color="#666666")


#: The tables that are drawn by themselves, the first one that a report has; then that of the overall scores.
TABLES = ("classes", "tasks")
_COUNTS = ("references", "clips", "rows", "items")
#: Inches of a row, of what stands around the rows, of a panel with its numbers, and of a letter of the title.
_ROW, _AROUND, _PANEL, _LETTER = 0.3, 1.7, 3.2, 0.09
#: The greatest score that there can be, by unit.
_GREATEST = {"%": 100.0, "°": 180.0}


def read_reports(path: str | os.PathLike[str]) -> tuple[ScoreReport, ...]:
    """The reports of a file that ``seldio score --json`` wrote."""
    with open_source(path, raise_errors) as source:
        files = list(read_entries(source, raise_errors))
    if len(files) != 1:
        raise UsageError(f"{printable(os.fspath(path))}: choose one file written by seldio score --json")
    document = json_text.parse(files[0][1], files[0][0].path, raise_errors)
    return json_report.reports(None if document is None else document.value, printable(files[0][0].path))


def draw_scores(reports: Sequence[ScoreReport], table: str | None = None) -> Any:
    """A matplotlib figure of one table of each report, systems side by side, overall scores as dashed lines.

    The tables have the same rows; without the name of one, they are those of the classes or tasks, else of all.
    """
    chosen = [_table(report, table) for report in reports]
    columns = [column for column in chosen[0].columns[1:] if column.better is not None]
    if not columns:
        raise UsageError(f"the table {chosen[0].name} holds no scores to draw")
    rows = [str(row[0]) for row in chosen[0].rows]
    whole = chosen[0].name == reports[0].tables[0].name
    for report, other in zip(reports, chosen, strict=True):
        same = other.columns == chosen[0].columns and (whole or [str(row[0]) for row in other.rows] == rows)
        if not same:
            raise UsageError(
                f"{printable(report.system)} has other rows or scores than {printable(reports[0].system)}: draw them "
                "one by one"
            )
    if whole:  # the overall scores of several systems are one table with a row for each
        all_rows = [(report.system, *row[1:]) if len(table.rows) == 1 else row
                    for report, table in zip(reports, chosen, strict=True) for row in table.rows]  # fmt: skip
        chosen = [Table("overall", chosen[0].title, chosen[0].columns, tuple(all_rows))]
    return _figure(reports, chosen, columns, overall=not whole)


def _table(report: ScoreReport, name: str | None) -> Table:
    by_name = {table.name: table for table in report.tables}
    if name is not None and name not in by_name:
        raise UsageError(f"{printable(report.system)} has no table {clipped(name)}; choose from {', '.join(by_name)}")
    found = name if name is not None else next((each for each in TABLES if each in by_name), report.tables[0].name)
    return by_name[found]


def _figure(reports: Sequence[ScoreReport], tables: Sequence[Table], columns: Sequence[Column], overall: bool) -> Any:
    rows = [_row_name(row, tables[0]) for row in tables[0].rows]
    height = _AROUND + _ROW * max(2, len(rows)) * (0.5 + 0.5 * len(tables))
    with style():
        figure = blank(2.4 + _PANEL * len(columns), height)
        panels = np.atleast_1d(figure.subplots(1, len(columns), sharey=True))
        for axes, column in zip(panels, columns, strict=True):
            axes.set_xlim(_ends(tables, column))
            for number, table in enumerate(tables):
                _bars(axes, table, column, number, len(tables), reports[number].system)
                if overall and column.name in reports[number].overall:
                    value, _, _ = _scaled(reports[number].overall[column.name], column)
                    if math.isfinite(value):
                        axes.axvline(value, color=_shade(number, len(tables)), linestyle="--", linewidth=1)
            better = f"{column.better} is better"
            axes.set_title(f"{column.title}{f' ({column.unit})' if column.unit else ''}\n{better}", fontsize=9)
            axes.grid(visible=False, axis="y")
            axes.margins(y=0.02)
        panels[0].set_yticks(range(len(rows)), rows)
        panels[0].invert_yaxis()
        first = reports[0]
        names = _joined([shortened(report.system) for report in reports], int(figure.get_figwidth() / _LETTER))
        figure.suptitle(f"{names}\n{first.profile}: {first.over}", fontsize=10, x=0.01, ha="left")
        if len(tables) > 1:
            handles, labels = panels[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower left", ncols=3, frameon=False)
    return figure


def _row_name(row: Sequence[Cell], table: Table) -> str:
    """The name of a row, with how much it is over."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    count = next((row[places[name]] for name in _COUNTS if name in places), None)
    return f"{shortened(str(row[0]))} ({count:,.0f})" if isinstance(count, int | float) else shortened(str(row[0]))


def _shade(number: int, many: int) -> str:
    return _BLUE if many == 1 else colour(number)


def _scaled(cell: Cell, column: Column) -> tuple[float, float, float]:
    """Value, lower and upper end as they are shown; nan where a score is not defined."""
    times = 100.0 if column.unit == "%" else 1.0
    if isinstance(cell, Interval) and not isinstance(cell, UnreliableInterval):
        value, low, high = (float(part) * times for part in cell)
        return value, low, high
    value = float(cell) * times if isinstance(cell, int | float) else math.nan
    if isinstance(cell, UnreliableInterval):
        value = cell.value * times
    return value, math.nan, math.nan


def _bars(axes: Any, table: Table, column: Column, number: int, many: int, system: str) -> None:
    """The bars of one system in one panel; with numbers next to them if there is only one."""
    place = [each.name for each in table.columns].index(column.name)
    cells = [_scaled(row[place], column) for row in table.rows]
    thick = 0.8 / many
    at = np.arange(len(cells)) + (number - (many - 1) / 2) * thick
    values = np.array([value if math.isfinite(value) else math.nan for value, _, _ in cells])
    axes.barh(at, np.nan_to_num(values), height=thick * 0.92, color=_shade(number, many), label=shortened(system))
    ends = np.array([(low, high) for _, low, high in cells])
    known = np.isfinite(ends).all(axis=1) & np.isfinite(values)
    if known.any():
        axes.hlines(at[known], ends[known, 0], ends[known, 1], color="#222222", linewidth=1.2)
    if many == 1:
        for y, (value, low, high) in zip(at, cells, strict=True):
            right = min(max(part for part in (value, high, 0.0) if math.isfinite(part)), axes.get_xlim()[1])
            axes.annotate(_number(value, low, high, column.digits), (right, y), xytext=(4, 0), va="center",
                          textcoords="offset points", fontsize=7.5,
                          bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6})  # fmt: skip


def _ends(tables: Sequence[Table], column: Column) -> tuple[float, float]:
    """Where the axis of a column begins and ends.

    A jackknife may give ends that no score can have: no axis shows them, the numbers tell them.
    """
    place = [each.name for each in tables[0].columns].index(column.name)
    cells = [_scaled(row[place], column) for table in tables for row in table.rows]
    values = [value for value, _, _ in cells if math.isfinite(value)]
    highs = [*values, *(high for _, _, high in cells if math.isfinite(high))]
    least, most = min([0.0, *values]), max(highs, default=1.0)
    return least * 1.1, min(most * 1.05 or 1.0, max([_GREATEST.get(column.unit, math.inf), *values]))


def _joined(names: Sequence[str], width: int) -> str:
    """*names* in lines of at most *width* letters, where no name is longer."""
    lines: list[str] = []
    for name in names:
        if lines and len(lines[-1]) + len(name) + 2 <= width:
            lines[-1] += f", {name}"
        else:
            lines.append(name)
    return ",\n".join(lines)


def _number(value: float, low: float, high: float, digits: int) -> str:
    if math.isnan(value):
        return "not defined"
    text, *ends = (f"{round(part, digits) + 0.0:.{digits}f}" for part in (value, low, high))  # + 0.0: no -0.0
    return f"{text} [{', '.join(ends)}]" if math.isfinite(low) and math.isfinite(high) else text
