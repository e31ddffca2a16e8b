"""What a conversion loses, lacks and changes, worked out before anything is written."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio.conversion.carry import classes, filled, folds, resolved
from seldio.conversion.changes import milliseconds, notes
from seldio.conversion.columns import has
from seldio.conversion.frames import are_events, frames_of, grouped, rescaled, takes_events
from seldio.formats import Format
from seldio.formats.annotations import points
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.events import origin_of
from seldio.text import listed, plural
from seldio.vocabularies import vocabulary

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a conversion means for the data.

    Args:
        losses: fields whose information the target cannot carry, with what is lost.
        missing: fields that the target needs and the table lacks, with how.
        notes: what changes without a loss: rounding, units, numbers of classes.
    """

    losses: dict[str, str]
    missing: dict[str, str]
    notes: list[str]


def plan(table: pa.Table, source: Format, target: Format, fill: Mapping[str, Any] = NOTHING) -> Plan:
    """Work out what converting *table* from *source* to *target* loses, lacks and changes.

    Args:
        table: an event table.
        source: the format it was read from, or the Parquet format.
        target: the format to write.
        fill: values for fields that are unknown, by field.

    Raises:
        UsageError: *fill* names a field that cannot be filled, or holds a value that cannot be one.
    """
    source = resolved(source, table)
    given, table = table, filled(table, target, fill)
    if target.role == "table" or not table.num_rows:
        return Plan({}, {}, [])
    missing = dict(_missing(table, target))
    complete = not {"frame", "onset", "class_id"} & set(missing)
    losses = dict(_losses(table, source, target)) if complete else {}
    changes = notes(table, source, target) if complete else []
    return Plan(losses, missing, [*_idle(given, table, fill), *changes])


def _idle(given: pa.Table, table: pa.Table, fill: Mapping[str, Any]) -> Iterator[str]:
    """Notes about values of *fill* that changed nothing."""
    for field in fill:
        if field in given.column_names and given[field].equals(table[field]):
            yield f"--fill {field} has no use: every row has its own"


# --- what the target needs -------------------------------------------------------------------------


def _missing(table: pa.Table, target: Format) -> Iterator[tuple[str, str]]:
    needs = (*target.needs, "class_id") if "class_id" in target.carries else target.needs
    for field in dict.fromkeys(needs):
        if field in _TIMES:
            columns = ("onset", "offset") if are_events(table) else ("frame",)
            unknown = max(_unknown(table, name) for name in columns)
        else:
            unknown = _unknown(table, *({"class_id": ("class_id", "class_name")}.get(field, (field,))))
        if unknown and not _does_without(table, field, target, unknown):
            many = f"{unknown:,} of {plural(table.num_rows, 'row')} have none"
            yield field, "the table has none" if unknown == table.num_rows else many


_TIMES = ("frame", "onset", "offset")


def _unknown(table: pa.Table, *fields: str) -> int:
    """The number of rows in which all of *fields* are unknown."""
    columns = [table[field].is_null().to_numpy() for field in fields if field in table.column_names]
    return int(np.logical_and.reduce([np.ones(table.num_rows, dtype=bool), *columns]).sum())


def _does_without(table: pa.Table, field: str, target: Format, unknown: int) -> bool:
    """Whether the target can be written although *field* is unknown in some rows."""
    if field == "distance":  # that some distances are unknown is a loss, where there is no mark for it
        return (
            _marks_unknown(target) is not None
            or unknown < table.num_rows
            or (isinstance(target, JsonFormat) and "distance" in table.column_names)
        )
    return field in ("azimuth", "elevation") and "segmentation" in {*table.column_names} & {*target.carries}


def _marks_unknown(target: Format) -> int | None:
    """The number that stands for an unknown distance."""
    return target.unknown_distance if isinstance(target, Dialect) else None


# --- what the target cannot carry ------------------------------------------------------------------


def _losses(table: pa.Table, source: Format, target: Format) -> Iterator[tuple[str, str]]:
    """Fields, and what of them is lost."""
    yield from _time_losses(table, source, target)
    if foreign := classes(table, source, target).lost:
        yield "class_id", _lost_classes(foreign, source, target)
    for field, describe in _DESCRIPTIONS.items():
        lost = field in table.column_names and field not in target.carries
        if lost and (what := describe(table[field])):
            yield field, what
    if "x" not in target.carries and (what := _norm(table, source)):
        yield from dict.fromkeys("xyz", what).items()
    if folds(source, target) and (what := _folded(table)):
        yield "azimuth", what
    if isinstance(target, Dialect) and (what := _unknown_distances(table, target)):
        yield "distance", what
    if "extra" not in target.carries and (keys := _further_keys(table)):
        yield "extra", f"further keys: {listed(keys)}"


def _time_losses(table: pa.Table, source: Format, target: Format) -> Iterator[tuple[str, str]]:
    if are_events(table) and not takes_events(target):
        if what := _between_frames(table, target):
            yield "frame", what
    elif not are_events(table) and takes_events(target):
        yield from _movements(table, source, target)
    elif not are_events(table) and source.hop < target.hop:
        rows = rescaled(table, source.hop, target.hop).num_rows
        what = f"frames of {milliseconds(source)} fall together in frames of {milliseconds(target)}"
        yield "frame", f"{what}: {plural(table.num_rows, 'row')} become {rows:,}"


def _between_frames(table: pa.Table, target: Format) -> str:
    """What is lost when events become frames; empty if the frames tell the events exactly."""
    times = np.concatenate([table["onset"].to_numpy(), table["offset"].to_numpy()]) / float(target.hop)
    off = int((np.abs(times - np.rint(times)) > 1e-6).sum())
    if off:
        return (
            f"{off:,} of {len(times):,} onsets and offsets lie between frames of {milliseconds(target)}: "
            "an event fills each frame that it touches"
        )
    merged = table.num_rows - len(grouped(frames_of(table, target.hop), target.hop))
    events = plural(table.num_rows, "event")
    return f"{merged:,} of {events} touch another of their class and become one with it" if merged > 0 else ""


def _movements(table: pa.Table, source: Format, target: Format) -> Iterator[tuple[str, str]]:
    """What is lost when a row is a whole event: how its direction and distance change."""
    events = grouped(table, source.hop)
    lengths = np.diff(events.starts)
    middle = (events.starts[:-1] + events.starts[1:] - 1) // 2
    for field in ("azimuth", "elevation", "distance"):
        if field not in target.carries or not has(table, field):
            continue
        values = np.nan_to_num(table[field].to_numpy()[events.rows], nan=-1.0)
        if field == "azimuth":
            values = values % 360.0  # -180 and 180 are one place
        changed = values != np.repeat(values[middle], lengths)
        moving = len(np.unique(np.repeat(np.arange(len(lengths)), lengths)[changed]))
        if moving:
            yield (
                field,
                f"it changes in {moving:,} of {plural(len(events), 'event')}; the middle frame's is kept",
            )


def _lost_classes(lost: Mapping[str, int], source: Format, target: Format) -> str:
    """The classes that the target's list does not have, most rows first."""
    ordered = sorted(lost.items(), key=lambda item: (-item[1], item[0]))
    names = listed([f'"{name}" ({plural(rows, "row")})' for name, rows in ordered], most=20)
    other = [alias for alias, name in target.alias_vocabularies.items() if name == source.vocabulary]
    hint = f" ({other[0]} is the same layout with the classes of {source.vocabulary})" if other else ""
    classes = len(vocabulary(target.vocabulary))
    return f"{names} not among the {classes} classes of {target.vocabulary}{hint}; their rows are left out"


def _norm(table: pa.Table, source: Format) -> str:
    """The norm of (x, y, z); nothing where it is 1 throughout."""
    if not has(table, "x"):
        return ""
    norm = np.sqrt(sum(table[axis].to_numpy() ** 2 for axis in "xyz"))
    norm = norm[np.isfinite(norm)]
    if np.abs(norm - 1.0).max(initial=0.0) <= 1e-6:
        return ""
    what = "a distance or an activity" if source.role == "label" else "an activity"
    return f"the norm, {what} ({norm.min():.2f} to {norm.max():.2f})"


def _folded(table: pa.Table) -> str:
    if not has(table, "azimuth"):
        return ""
    behind = int((np.abs(table["azimuth"].to_numpy()) > 90.0).sum())
    rows = plural(table.num_rows, "row")
    return f"front or back: {behind:,} of {rows} lie behind and are folded to the front" if behind else ""


def _unknown_distances(table: pa.Table, target: Dialect) -> str:
    if "distance" not in target.carries or target.unknown_distance is not None or not has(table, "distance"):
        return ""
    unknown = table["distance"].null_count
    return f"{unknown:,} of {plural(table.num_rows, 'row')} have none; 0 is written for it" if unknown else ""


def _further_keys(table: pa.Table) -> list[str]:
    """Keys of the source files, and of their rows, that are no fields."""
    rows = table["extra"].unique().to_pylist() if "extra" in table.column_names else []
    files = [file.extra for file in origin_of(table).files]
    keys = dict.fromkeys(key for text in (*files, *rows) if text for key in json.loads(text))
    return [key for key in keys if key != "annotations"]


# --- what columns hold -----------------------------------------------------------------------------


def _source(column: pa.ChunkedArray) -> str:
    """Numbers of sources; a constant 0 or -1 says nothing."""
    if column.null_count == len(column):
        return ""
    low, high = pc.min(column).as_py(), pc.max(column).as_py()
    if low == high:
        return "" if low in (0, -1) else f"the number {low}"
    return f"the numbers {low} to {high}"


def _range(unit: str) -> Callable[[pa.ChunkedArray], str]:
    def describe(column: pa.ChunkedArray) -> str:
        if column.null_count == len(column):
            return ""
        return f"values from {pc.min(column).as_py():g} to {pc.max(column).as_py():g}{unit}"

    return describe


def _onscreen(column: pa.ChunkedArray) -> str:
    known = len(column) - column.null_count
    return f"whether the source is in the picture ({plural(known, 'row')})" if known else ""


def _hemisphere(column: pa.ChunkedArray) -> str:
    open_ended = pc.sum(column).as_py() or 0
    return f"{plural(open_ended, 'elevation')} known only as up or down; ±90 is written" if open_ended else ""


def _segmentation(column: pa.ChunkedArray) -> str:
    """Energy maps; a single point of energy 1 says no more than a direction."""
    maps = column.combine_chunks()
    row, triplet = points(maps)
    count, energy = (np.bincount(row, weights, len(maps)) for weights in (None, triplet[:, 2]))
    extended = pc.is_valid(maps).to_numpy(zero_copy_only=False) & ~((count == 1) & (energy == 1.0))
    return f"the energy maps of {plural(int(extended.sum()), 'row')}" if extended.any() else ""


_DESCRIPTIONS: dict[str, Callable[[pa.ChunkedArray], str]] = {
    "source": _source,
    "elevation": _range("°"),
    "distance": _range(" m"),
    "onscreen": _onscreen,
    "hemisphere": _hemisphere,
    "score": _range(""),
    "segmentation": _segmentation,
}
