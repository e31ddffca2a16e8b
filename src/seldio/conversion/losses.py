"""Losses, gaps and changes of a conversion: found by carrying a table over, writing it and reading it back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.catalogues.parts import resolved
from seldio.conversion.carry import (
    COUNT,
    FILLABLE,
    Classes,
    carried,
    classes,
    filled,
    folded,
    given_class,
    held_back,
    located,
)
from seldio.conversion.frames import are_events, grouped, has, pieces_of, takes_events, with_times
from seldio.conversion.outputs import clip_tables
from seldio.errors import LossError, UsageError
from seldio.formats import LabelFormat, LabelReading, TextFile
from seldio.formats.base import UNITS
from seldio.formats.dcase_json import JsonFormat, points
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import known_values, pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS, ClipFile, clip_codes, origin_of
from seldio.text import listed, plural
from seldio.vocabularies import short, vocabulary

NOTHING: Mapping[str, Any] = MappingProxyType({})
#: The name that allows every loss.
ALL = "all"
TIMES = ("frame", "onset", "offset")
#: Numbers that a target may round, with their units.
_ROUNDED = {"azimuth": "°", "elevation": "°", "distance": " m", "onset": " s", "offset": " s"}
#: Less is noise of binary numbers.
_NOISE = 1e-6
#: Columns that are described where the target lacks them.
_DESCRIBED = ("source", "elevation", "distance", "onscreen", "hemisphere", "score", "segmentation")


class Converted(NamedTuple):
    """A table as its target holds it, its files unless the target is a table, and what that meant for the data."""

    table: pa.Table
    files: tuple[tuple[ClipFile, bytes], ...] = ()
    losses: Mapping[str, str] = NOTHING  # fields whose information the target cannot carry, with what is lost
    missing: Mapping[str, str] = NOTHING  # fields that the target needs and the table lacks, with how
    notes: Sequence[str] = ()  # what changes without a loss: rounding, units, numbers of classes
    read_back: LabelReading | None = None  # what the files say; None where there are none, or no rows


def carry_out(
    table: pa.Table, source: LabelFormat, target: LabelFormat, fill: Mapping[str, Any] = NOTHING
) -> Converted:
    """Convert *table* in memory, read back what was written, and compare.

    Args:
        table: an event table.
        source: the format it was read from, or the Parquet format.
        target: the format to write.
        fill: values for fields that are unknown, by field.

    Returns:
        The table and its files, which are empty where rows lack what *target* needs.

    Raises:
        UsageError: *fill* names a field that cannot be filled, or holds a value that cannot be one.
        DataError: times are far beyond what a recording has, or numbers have no place in a file.
    """
    source = resolved(source, table)
    held_back(table, target)
    given, before = given_class(fill, target), filled(table, target, fill)
    if target.role == "table":
        return Converted(carried(before, source, target, given))
    missing = _missing(before, target, given)
    if {*TIMES, "class_id"} & {*missing}:  # nothing can be carried over
        return Converted(before.slice(0, 0), missing=missing)
    after = carried(before, source, target, given)
    classed, timed = classes(before, source, target, given), with_times(located(before, target), source, target)
    losses = dict(_losses(before, timed, source, target, classed)) if before.num_rows else {}
    if missing:
        return Converted(after, (), losses, missing)
    files = tuple((file, target.write(rows, file)) for file, rows in clip_tables(after))
    if not before.num_rows:
        return Converted(after, files)
    read_back = target.read([TextFile(file.name, file.name, file.clip, data) for file, data in files], lambda _: None)
    unclassed = given is not None and bool(_unclassed(before))
    notes = (
        *(
            f"--fill {field} has no effect: every row already has a value"
            for field, value in fill.items()
            if not (classed.filled or unclassed if field == "class_id" else _changed(table, before, field, value))
        ),
        *_class_notes(before, source, target, classed, given),
        *_time_notes(before, timed.num_rows, source, target),
        *_rounding(after, read_back.table, target),
        *_value_notes(timed, source, target),
        *_clip_notes(timed, target, source.clip_frames),
    )
    return Converted(after, files, losses, missing, notes, read_back)


# --- what the target needs ------------------------------------------------------------------------------------------


def _unknown(table: pa.Table, field: str) -> int:
    return int(table[field].null_count) if field in table.column_names else int(table.num_rows)


def _unclassed(table: pa.Table) -> int:
    known_masks = [to_mask(table[field]) for field in ("class_id", "class_name") if field in table.column_names]
    return int((~np.logical_or.reduce([np.zeros(table.num_rows, bool), *known_masks])).sum())


def _missing(table: pa.Table, target: LabelFormat, given: int | None) -> dict[str, str]:
    placed, missing = located(table, target), dict[str, str]()
    for field in dict.fromkeys([*target.needs, *(["class_id"] if "class_id" in target.carries else [])]):
        if field in TIMES:
            unknown = max(_unknown(table, time) for time in (TIMES[1:] if are_events(table) else TIMES[:1]))
        elif field == "class_id":
            unknown = _unclassed(table) if given is None else 0
        else:
            unknown = _unknown(placed if field == "distance" and has(table, field) else table, field)
        if unknown and not _does_without(table, field, unknown, target):
            many = f"{unknown:,} of {plural(table.num_rows, 'row')} have none"
            missing[field] = "the table has none" if unknown == table.num_rows else many
    return missing


def _does_without(table: pa.Table, field: str, unknown: int, target: LabelFormat) -> bool:
    """Return whether the target can be written although *field* is unknown in some rows."""
    if field == "distance":  # unknown ones are never written as 0: a format has a mark for them, or needs a value
        marked = isinstance(target, Dialect) and target.unknown_distance is not None
        return marked or (isinstance(target, JsonFormat) and "distance" in table.column_names)
    if field in ("azimuth", "elevation"):  # that some rows have no direction at all is a loss
        left_out = unknown == table.num_rows - located(table, target).num_rows < table.num_rows
        return left_out or "segmentation" in {*table.column_names} & {*target.carries}
    return False


def _changed(table: pa.Table, before: pa.Table, field: str, value: object) -> bool:
    return value == COUNT or field not in table.column_names or not table[field].equals(before[field])


# --- what the target cannot carry -----------------------------------------------------------------------------------


def _losses(
    before: pa.Table, timed: pa.Table, source: LabelFormat, target: LabelFormat, classed: Classes
) -> Iterator[tuple[str, str]]:
    rows, columns, held_fields = plural(before.num_rows, "row"), {*before.column_names}, {*target.carries}
    if are_events(before) and not takes_events(target):
        if timed.num_rows and (what := _between_frames(before, timed, target)):
            yield "frame", what
    elif takes_events(target) and not are_events(before):
        yield from _movements(before, source, target)
    elif not takes_events(target) and source.hop < target.hop:
        merged = f"frames of {_length(source)} are merged into frames of {_length(target)}"
        yield "frame", f"{merged}: {rows} become {timed.num_rows:,}"
    if classed.lost:
        yield "class_id", _lost_classes(classed.lost, source, target)
    for field in _DESCRIBED:
        if field in columns - held_fields and has(before, field) and (what := _description(before[field], field)):
            yield field, what
    if "x" not in target.carries and has(before, "x") and (what := _norm(before, source)):
        yield from dict.fromkeys("xyz", what).items()
    if nowhere := before.num_rows - located(before, target).num_rows:
        many = f"{nowhere:,} of {rows} have none, nor an elevation, and are left out"
        yield "azimuth", f"{many}; --fill azimuth=DEGREES gives them one"
    azimuths = to_numpy(before["azimuth"]) if has(before, "azimuth") else np.zeros(0)
    behind = int((np.abs(azimuths) > 90.0).sum()) if folded(target) and not folded(source) else 0
    if behind:
        yield "azimuth", f"front or back: {behind:,} of {rows} lie behind and are folded to the front"
    texts = [file.extra for file in origin_of(before).files] if source.name != target.name else []
    texts += before["extra"].unique().to_pylist() if "extra" in columns - held_fields else []
    keys = dict.fromkeys(key for text in texts if text for key in json.loads(text) if key != "annotations")
    if keys:
        yield "extra", f"additional keys: {listed([*keys])}"


def _length(format: LabelFormat) -> str:
    return f"{float(format.hop * 1000):g} ms"


def _between_frames(table: pa.Table, timed: pa.Table, target: LabelFormat) -> str:
    times = np.concatenate([to_numpy(table["onset"]), to_numpy(table["offset"])]) / float(target.hop)
    if off := int((np.abs(times - np.rint(times)) > _NOISE).sum()):
        many = f"{off:,} of {len(times):,} onsets and offsets fall between frames of {_length(target)}"
        return f"{many}: an event fills every frame that it touches"
    merged = table.num_rows - pieces_of(table) - len(grouped(timed, target.hop))
    many = f"{merged:,} of {plural(table.num_rows - pieces_of(table), 'event')}"
    return f"{many} touch another of the same class and are merged with it" if merged > 0 else ""


def _movements(table: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[tuple[str, str]]:
    """Yield directions and distances that change in the course of events, of which one value is kept."""
    events = grouped(table, source.hop)
    numbers = np.repeat(np.arange(len(events)), np.diff(events.starts))
    middle = (events.starts[:-1] + events.starts[1:] - 1) // 2
    for field in ("azimuth", "elevation", "distance"):
        if field in target.carries and has(table, field):
            values = np.nan_to_num(to_numpy(table[field])[events.rows], nan=-1.0)
            values = values % 360.0 if field == "azimuth" else values  # -180 and 180 are one place
            if moving := len(np.unique(numbers[values != values[middle][numbers]])):
                many = f"{moving:,} of {plural(len(events), 'event')}"
                yield field, f"it changes in {many}; the value of the middle frame is kept"


def _lost_classes(lost: Mapping[str, int], source: LabelFormat, target: LabelFormat) -> str:
    names = _with_rows(dict(sorted(lost.items(), key=lambda item: (-item[1], item[0]))))
    other = [alias for alias, name in target.alias_vocabularies.items() if name == source.vocabulary]
    hint = f" ({other[0]} is the same format with the classes of {short(source.vocabulary)})" if other else ""
    count = len(vocabulary(target.vocabulary))
    return f"{names} not among the {count} classes of {short(target.vocabulary)}{hint}; their rows are left out"


def _with_rows(classes: Mapping[str, int]) -> str:
    return listed([f'"{name}" ({plural(rows, "row")})' for name, rows in classes.items()], most=20)


def _norm(table: pa.Table, source: LabelFormat) -> str:
    norm = np.sqrt(sum(to_numpy(table[axis]) ** 2 for axis in "xyz"))
    norm = norm[np.isfinite(norm)]
    what = "a distance or an activity" if source.role == "label" else "an activity"
    is_other = np.abs(norm - 1.0).max(initial=0.0) > _NOISE
    return f"the norm, {what} ({norm.min():.2f} to {norm.max():.2f})" if is_other else ""


def _description(column: pa.ChunkedArray, field: str) -> str:
    """Describe what a column says; empty where it says nothing, such as one source number of 0."""
    if field == "onscreen":
        return f"whether the source is on screen ({plural(len(column) - column.null_count, 'row')})"
    if field == "hemisphere":
        count = pc.sum(column).as_py() or 0
        return f"{plural(count, 'elevation')} known only as up or down; written as ±90" if count else ""
    if field == "segmentation":
        maps = _energy_maps(column.combine_chunks())
        return f"the energy maps of {plural(maps, 'row')}" if maps else ""
    values = known_values(column)
    low, high = np.fmin.reduce(values).item(), np.fmax.reduce(values).item()
    if field != "source":
        return f"values from {low:g} to {high:g}{_ROUNDED.get(field, '')}"
    if low < high:
        return f"the numbers {low} to {high}"
    return "" if low in (0, -1) else f"the number {low}"


def _energy_maps(maps: pa.Array) -> int:
    """Count the maps that are more than a single point of energy 1, which is a direction."""
    row, triplet = points(maps)
    count, energy = (np.bincount(row, weights, len(maps)) for weights in (None, triplet[:, 2]))
    return int((pc.is_valid(maps).to_numpy(zero_copy_only=False) & ~((count == 1) & (energy == 1.0))).sum())


# --- what changes without a loss: it is always said ------------------------------------------------------------------


def _class_notes(
    table: pa.Table, source: LabelFormat, target: LabelFormat, classed: Classes, given: int | None
) -> Iterator[str]:
    theirs, ours = short(source.vocabulary), short(target.vocabulary)
    if source.vocabulary != target.vocabulary:
        yield f"classes of {theirs} are mapped to those of {ours} by name"
    if classed.filled and given is not None:
        name = listed([vocabulary(target.vocabulary).label(given)])
        yield f"{_with_rows(classed.filled)} not in {ours}, written as {name}"
    if classed.foreign:
        names = listed([f'"{name}"' for name in sorted(classed.foreign)], most=20)
        yield f"{plural(len(classed.foreign), 'class', 'classes')} not in {ours}, written by name: {names}"
    if {"class_name", "class_id"} <= set(table.column_names) and "class_name" not in target.carries:
        spelled = table["class_name"].filter(table["class_id"].is_valid()).drop_null().unique().to_pylist()
        if spelled:
            yield f"the spelling of classes is not kept: {listed(sorted(spelled))}"


def _time_notes(before: pa.Table, rows: int, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    if are_events(before) and not takes_events(target):
        events = before.num_rows - pieces_of(before)
        yield f"{plural(events, 'event')} {'becomes' if events == 1 else 'become'} {plural(rows, 'event frame')}"
    elif takes_events(target) and not are_events(before):
        yield f"{plural(before.num_rows, 'event frame')} become {plural(rows, 'event')}"
    elif not takes_events(target) and source.hop > target.hop:
        yield f"each frame of {_length(source)} becomes {int(source.hop / target.hop)} frames of {_length(target)}"


def _rounding(after: pa.Table, again: pa.Table, target: LabelFormat) -> Iterator[str]:
    if after.num_rows != again.num_rows:
        return
    after = pa.concat_tables(rows for _, rows in clip_tables(after))
    for field, unit in _ROUNDED.items():
        written = not isinstance(target, Dialect) or target.kind(field) is not None
        if written and {field} <= {*after.column_names} & {*again.column_names}:
            moved = np.abs(to_numpy(after[field]) - to_numpy(again[field]))
            moved = np.minimum(moved, np.abs(360.0 - moved)) if field == "azimuth" else moved
            most = float(moved[np.isfinite(moved)].max(initial=0.0))
            if most > _NOISE:
                yield f"{field} is rounded by up to {most:.2g}{unit}"


def _value_notes(timed: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    ours, theirs = getattr(target, "metre", None), getattr(source, "metre", None)
    if ours and theirs and ours != theirs and has(timed, "distance") and "distance" in target.carries:
        yield f"distances in {UNITS[theirs][1]} are converted to {UNITS[ours][1]}"
    if "x" in target.carries and "x" not in timed.column_names:
        yield "x, y and z are written as unit vectors: the table has no activity"
    fills = target.fills if isinstance(target, (Dialect, JsonFormat)) else {}
    yield from (
        f"{field} is written as {value}: the table has none" for field, value in fills.items() if not has(timed, field)
    )
    if isinstance(target, Dialect) and target.unknown_distance is not None and not has(timed, "distance"):
        yield f"distance is written as {target.unknown_distance}, unknown: the table has none"
    if isinstance(target, JsonFormat) and not isinstance(source, JsonFormat):
        if source.role != "label" and not has(timed, "score"):
            yield "score is left out: the official scorer reads it as 0 (--fill score=1 sets it)"
        if "distance" in timed.column_names and (unknown := _unknown(timed, "distance")):
            yield f"distance is left out of {plural(unknown, 'row')}: the official scorer reads it as 0"
    if folded(source) and not folded(target):
        yield "azimuth is folded: front and back cannot be distinguished"


def _clip_notes(timed: pa.Table, target: LabelFormat, frames_before: int | None) -> Iterator[str]:
    codes, names = clip_codes(timed)
    last = np.full(len(names), -1)
    if has(timed, "frame"):
        np.maximum.at(last, codes, to_numpy(timed["frame"]))
    limit = target.clip_frames if target.clip_frames != frames_before else None
    if limit and (long := int((last >= limit).sum())):
        yield f"{plural(long, 'clip')} with frames past the {limit:,} that every {target.name} clip has"
    ends = dict(zip(names, last.tolist(), strict=True))
    longer = sum((file.frames or 0) > ends.get(file.clip, -1) + 1 for file in origin_of(timed).files)
    if longer and not (isinstance(target, Dialect) and target.silence):
        yield f"silent frames are not listed: the length of {plural(longer, 'clip')} is not kept"


# --- what is allowed ------------------------------------------------------------------------------------------------


def checked_fields(allow_loss: Collection[str], known: Iterable[str] = COLUMNS) -> tuple[str, ...]:
    """The names, or UsageError unless every one is one of *known*, or ``all``; a text has commas between them."""
    names = allow_loss.split(",") if isinstance(allow_loss, str) else allow_loss
    wanted, choices = tuple(name.strip() for name in names), (*known, ALL)
    if unknown := [name for name in wanted if name and name not in choices]:
        raise UsageError(f"--allow-loss {','.join(unknown)}: unknown field; choose from {', '.join(choices)}")
    return wanted


def _joined(texts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    joined: dict[str, list[str]] = {}
    for field, what in (pair for texts_of_part in texts for pair in texts_of_part.items()):
        joined.setdefault(field, []).append(what)
    return {field: "; ".join(whats) for field, whats in joined.items()}


def accepted(converted: Sequence[Converted], target: LabelFormat, allow_loss: Collection[str]) -> dict[str, str]:
    """Return the losses of several tables; raise UsageError for missing fields, LossError for losses not allowed."""
    if missing := _joined(part.missing for part in converted):
        reasons = "; ".join(f"{field} ({why})" for field, why in missing.items())
        values = {"distance": "METRES"}  # where 0 would be a wrong one: no source is 0 m away
        fills = " ".join(f"--fill {field}={values.get(field, '0')}" for field in missing if field in FILLABLE)
        metres = " (metres, whatever the format uses)" if "distance" in missing else ""
        hint = f" To set one value for all, use {fills}{metres}" if fills else ""
        raise UsageError(f"{target.name} needs {reasons}.{hint}")
    return allowed(_joined(part.losses for part in converted), target.name, allow_loss)


def allowed(losses: dict[str, str], target: str, allow_loss: Collection[str]) -> dict[str, str]:
    """*losses* of a conversion to *target*, or LossError unless all are allowed."""
    refused = {field: what for field, what in losses.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target, refused)
    return losses
