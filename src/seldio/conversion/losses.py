"""Losses, gaps and changes of a conversion: found by carrying a table over, writing it and reading it back."""

from __future__ import annotations

import dataclasses
import json
import math
import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.catalogues.parts import resolved
from seldio.conversion.frames import (
    are_events,
    class_keys,
    grouped,
    has,
    numbered,
    pieces_of,
    takes_events,
    with_column,
    with_directions,
    with_times,
)
from seldio.conversion.outputs import clip_tables
from seldio.errors import DataError, LossError, UsageError
from seldio.formats import LabelFormat, LabelReading, TextFile, stem_of
from seldio.formats.base import UNITS
from seldio.formats.cells import LIMIT
from seldio.formats.dcase_json import JsonFormat, points
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import from_numpy, from_texts, known_values, pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS, FARTHEST, ClipFile, Origin, clip_codes, origin_of, with_origin
from seldio.text import listed, plural, printable
from seldio.vocabularies import short, spelling, vocabulary

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
#: Columns that ``--fill`` can set: one number or flag for every row that has none.
FILLABLE = ("class_id", "source", "azimuth", "elevation", "distance", "onscreen", "hemisphere", "score")
_CLASS = ("class_id", "class_name")
#: The value of ``source`` that counts the events of each class in a clip.
COUNT = "count"
#: The units of its values, whatever those of a format are.
_UNITS = {"azimuth": " in degrees", "elevation": " in degrees", "distance": " in metres"}


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
        The table and its files; where rows lack what *target* needs, that alone.

    Raises:
        UsageError: *fill* names a field that cannot be filled, or holds a value that cannot be one.
        DataError: times are far beyond what a recording has, or numbers have no place in a file.
    """
    source = resolved(source, table)
    held_back(table, target)
    before = filled(table, target, fill)
    if target.role == "table":
        origin = origin_of(table)
        origin = origin if origin.format else dataclasses.replace(origin, vocabulary=source.vocabulary)
        return Converted(with_origin(_held(before, target), origin))
    placed = located(before, target)
    if missing := _missing(before, placed, target):
        return Converted(before.slice(0, 0), missing=missing)
    classed = classes(placed, source, target)
    rows = _in_classes(placed, classed)
    timed = with_times(rows, source, target)
    after = with_origin(_as_written(timed, source, target), _origin(before, source, target))
    files = tuple((file, target.write(written, file)) for file, written in clip_tables(after))
    if not before.num_rows:
        return Converted(after, files)
    texts = [TextFile(file.name, file.name, file.clip, data) for file, data in files]
    read_back = target.read(texts, lambda _: None)
    losses = [*_time_losses(rows, timed, source, target), *_losses(before, placed, source, target, classed)]
    useless = [field for field in fill if not _unknown(table, *(_CLASS if field == "class_id" else [field]))]
    notes = (
        *(f"--fill {field} has no effect: every row already has a value" for field in useless),
        *_changes(rows, timed, source, target, classed),
        *_rounding(after, read_back.table, target),
        *_gaps(timed if timed.num_rows else placed, source, target),  # of no rows, none has anything
    )
    return Converted(after, files, _joined(losses), notes=notes, read_back=read_back)


# --- values that the caller gives -----------------------------------------------------------------------------------


def folded(format: LabelFormat) -> bool:
    """Return whether azimuths behind are given as those in front."""
    return isinstance(format, Dialect) and format.folded


def located(table: pa.Table, target: LabelFormat) -> pa.Table:
    """Return *table* without the rows that have no direction at all, where *target* cannot do without one."""
    if "segmentation" in table.column_names or not {"azimuth", "elevation"} & set(target.needs):
        return table
    has_direction = _known(table, "azimuth", "elevation")
    return table if has_direction.all() else table.filter(from_numpy(has_direction))


def filled(table: pa.Table, target: LabelFormat, fill: Mapping[str, Any]) -> pa.Table:
    """Return *table* with the values of *fill* wherever a field is unknown and does not follow from others."""
    if target.role != "table":
        table = with_directions(table)
    for field, value in fill.items():
        if field not in FILLABLE:
            raise UsageError(f"--fill {field}: only {', '.join(FILLABLE)} can be filled")
        if field not in target.carries:
            raise UsageError(f"--fill {field}: {target.name} has no such field")
        if field == "source" and value == COUNT:
            table = numbered(table)
            continue
        scalar = _scalar(field, value)
        if field == "class_id" and target.role != "table":  # a number of the target's list, found by its name
            number, ours = scalar.as_py(), vocabulary(target.vocabulary)
            if number >= len(ours):
                many = f"{ours.name} has {len(ours)} classes, numbered from 0"
                raise UsageError(f"--fill class_id={number}: {many}; seldio formats {target.name} shows them")
            named = pa.array(_known(table, *_CLASS))
            field, scalar = "class_name", pc.if_else(named, pa.scalar(None, pa.string()), ours.label(number))
        values = table[field] if field in table.column_names else pa.nulls(table.num_rows, COLUMNS[field])
        table = with_column(table, field, pc.fill_null(values, scalar))
    return table


def _scalar(field: str, value: Any) -> pa.Scalar:
    from seldio.schema.event_rows import Event

    try:
        scalar = pa.scalar(value).cast(COLUMNS[field])
        Event.model_validate({"clip": "-", field: scalar.as_py()})
        if not scalar.is_valid:
            raise ValueError
    except (pa.ArrowException, ValueError):
        raise UsageError(f"--fill {field}={value}: not a valid {field}{_UNITS.get(field, '')}") from None
    if field == "distance" and scalar.as_py() > FARTHEST:
        far = f"{FARTHEST:g} m is the maximum"
        raise UsageError(f"--fill distance={value}: the unit is metres, whatever the format uses, and {far}")
    return scalar


# --- classes --------------------------------------------------------------------------------------------------------


class Classes(NamedTuple):
    """The classes of a table in the target's list."""

    ids: pa.Array  # the target's class of each row; null where it has none
    names: pa.Array  # for targets that write names, how a class is spelled where its id does not say it
    lost: Mapping[str, int]  # rows of each class that it cannot hold
    foreign: Mapping[str, int]  # rows of each class that it can hold by its name alone
    spelled: Sequence[str]  # names in the table of classes that have a number as well


def classes(table: pa.Table, source: LabelFormat, target: LabelFormat) -> Classes:
    """Find the classes of *table* in *target*'s list."""
    theirs, ours = vocabulary(source.vocabulary), vocabulary(target.vocabulary)
    keys, rows = class_keys(table)
    same, by_name = theirs.classes == ours.classes, "class_name" in target.carries
    lost, foreign = Counter[str](), Counter[str]()
    numbers, spellings = list[int | None](), list[str | None]()
    for (key, name), count in zip(keys, np.bincount(rows, minlength=len(keys)).tolist(), strict=True):
        label = name or theirs.label(key or 0)
        if key is not None:
            number = key if same else theirs.mapping(ours).get(key)
        else:
            number = ours.indices.get(spelling(name or ""))
        written = None if not by_name else label if number is None else name if same else None
        if number is None:
            (lost if written is None else foreign)[label] += count
        numbers.append(number)
        spellings.append(written)
    filled_numbers = np.array([-1 if number is None else number for number in numbers], np.int32)
    ids = from_numpy(filled_numbers[rows], np.array([number is None for number in numbers], bool)[rows])
    names = from_texts(spellings)
    names = names.take(from_numpy(rows)) if names.null_count < len(names) else pa.nulls(len(rows), pa.string())
    spelled = [name for key, name in keys if key is not None and name is not None]
    return Classes(ids, names, lost, foreign, spelled)


# --- as the target holds it -------------------------------------------------------------------------------------------


def _origin(table: pa.Table, source: LabelFormat, target: LabelFormat) -> Origin:
    """Return the files of *table* as *target* calls them."""
    files = origin_of(table).files
    if source.name != target.name:
        as_json, newline = isinstance(target, JsonFormat), target.newline if isinstance(target, Dialect) else "\n"
        # a system's output is called otherwise than labels: by these names the program pairs them
        label = source.role == "label" or (source.role == "table" and not has(table, "score"))
        end = ("_std" if as_json and label else "") + target.suffix
        places = [posixpath.split(file.name) for file in files]
        names = [posixpath.join(folder, stem_of(base) + end) for folder, base in places]
        files = tuple(
            ClipFile(file.clip, name, newline, not as_json, file.frames)
            for file, name in zip(files, names, strict=True)
        )
    return Origin(target.name, target.vocabulary, files)


def _in_classes(table: pa.Table, classed: Classes) -> pa.Table:
    """Return the rows that have a class of the target, with it."""
    table = with_column(table, "class_id", classed.ids)
    if classed.names.null_count < len(classed.names):
        table = with_column(table, "class_name", classed.names)
    elif "class_name" in table.column_names:
        table = table.drop_columns(["class_name"])
    has_class = _known(table, *_CLASS)
    return table if has_class.all() else table.filter(from_numpy(has_class))


def _as_written(table: pa.Table, source: LabelFormat, target: LabelFormat) -> pa.Table:
    """Return the columns that *target* holds, null ones included for which its writer looks."""
    if folded(target) and not folded(source) and has(table, "azimuth"):
        table = with_column(table, "azimuth", geometry.fold(to_numpy(table["azimuth"])))
    for field in target.needs:
        if field not in table.column_names:
            table = with_column(table, field, pa.nulls(table.num_rows))
    return _held(table, target)


def _held(table: pa.Table, target: LabelFormat) -> pa.Table:
    return table.select([name for name in COLUMNS if name in table.column_names and name in target.carries])


# --- numbers that no file may hold -----------------------------------------------------------------


def held_back(table: pa.Table, target: LabelFormat) -> None:
    """Raise DataError, naming row and column, for a number that is not finite or too large for *target*."""
    for field in (name for name in table.column_names if name != "score" or name in target.carries):
        kind, odd = COLUMNS[field], np.zeros(table.num_rows, bool)
        if field == "segmentation":
            row, triplet = points(table[field].combine_chunks())
            odd[row] = ~np.isfinite(triplet).all(axis=1)
        elif pa.types.is_floating(kind) or (pa.types.is_integer(kind) and isinstance(target, Dialect)):
            values = to_numpy(table[field]).astype(np.float64)
            limit = (LIMIT - 0.5) / ((getattr(target, "metre", None) or 1) if field == "distance" else 1)
            limit = np.inf if target.role == "table" or field == "score" else limit
            odd = ~(np.abs(values) < limit) & to_mask(table[field])
        if not odd.any():
            continue
        wrong = int(odd.argmax())
        value, clips = table[field][wrong].as_py(), table["clip"].slice(0, wrong + 1).to_pylist()
        where = f"{field} in row {wrong + 1:,} (row {clips.count(clips[-1]):,} of clip {printable(clips[-1])})"
        if field == "segmentation" or not math.isfinite(value):
            what = "has a number that is not finite" if field == "segmentation" else f"is {value}, not a finite number"
            raise DataError(f"{where} {what}; leave out the row, or the value (null) if it is unknown")
        raise DataError(f"{where} is {value:g}: {target.name} has numbers of up to nine digits")


# --- what the target needs ------------------------------------------------------------------------------------------


def _known(table: pa.Table, *fields: str) -> Any:
    """Return a mask of the rows in which one of *fields* at least has a value."""
    columns = [table[field] for field in fields if field in table.column_names]
    masks = [to_mask(column.is_valid() if pa.types.is_boolean(column.type) else column) for column in columns]
    return np.logical_or.reduce([np.zeros(table.num_rows, bool), *masks])


def _unknown(table: pa.Table, *fields: str) -> int:
    return int((~_known(table, *fields)).sum())


def _missing(table: pa.Table, placed: pa.Table, target: LabelFormat) -> dict[str, str]:
    """Say how many rows lack a field that *target* cannot do without; *placed*: the rows that have a direction."""
    missing, columns, nowhere = dict[str, str](), {*table.column_names}, table.num_rows - placed.num_rows
    for field in dict.fromkeys([*target.needs, *{"class_id"} & {*target.carries}]):
        unknown = _unknown(table, field)
        if field in TIMES:
            unknown = max(_unknown(table, time) for time in (TIMES[1:] if are_events(table) else TIMES[:1]))
        elif field == "class_id":
            unknown = _unknown(table, *_CLASS)
        elif field in ("azimuth", "elevation"):  # that some rows have no direction at all is a loss
            if unknown == nowhere < table.num_rows or "segmentation" in columns & {*target.carries}:
                continue
        elif field == "distance":  # unknown ones are never written as 0: a format has a mark for them, or needs a value
            marked = isinstance(target, Dialect) and target.unknown_distance is not None
            if marked or (isinstance(target, JsonFormat) and "distance" in columns):
                continue
            unknown = _unknown(placed if has(table, field) else table, field)
        if unknown:
            many = f"{unknown:,} of {plural(table.num_rows, 'row')} have none"
            missing[field] = "the table has none" if unknown == table.num_rows else many
    return missing


# --- what the target cannot carry -----------------------------------------------------------------------------------


def _losses(
    before: pa.Table, placed: pa.Table, source: LabelFormat, target: LabelFormat, classed: Classes
) -> Iterator[tuple[str, str]]:
    rows, columns, held_fields = plural(before.num_rows, "row"), {*before.column_names}, {*target.carries}
    if classed.lost:
        lost = sorted(classed.lost.items(), key=lambda item: (-item[1], item[0]))
        names = listed([f'"{name}" ({plural(count, "row")})' for name, count in lost], most=20)
        other = [alias for alias, name in target.alias_vocabularies.items() if name == source.vocabulary]
        hint = f" ({other[0]} is the same format with the classes of {short(source.vocabulary)})" if other else ""
        count = len(vocabulary(target.vocabulary))
        ours = f"the {count} classes of {short(target.vocabulary)}"
        yield "class_id", f"{names} not among {ours}{hint}; their rows are left out"
    for field in _DESCRIBED:
        if field in columns - held_fields and has(before, field) and (what := _description(before[field], field)):
            yield field, what
    if "x" not in target.carries and has(before, "x"):
        norm = np.sqrt(sum(to_numpy(before[axis]) ** 2 for axis in "xyz"))
        norm = norm[np.isfinite(norm)]
        if np.abs(norm - 1.0).max(initial=0.0) > _NOISE:
            what = "a distance or an activity" if source.role == "label" else "an activity"
            yield from dict.fromkeys("xyz", f"the norm, {what} ({norm.min():.2f} to {norm.max():.2f})").items()
    if nowhere := before.num_rows - placed.num_rows:
        many = f"{nowhere:,} of {rows} have none, nor an elevation, and are left out"
        yield "azimuth", f"{many}; --fill azimuth=DEGREES gives them one"
    if folded(target) and not folded(source) and (behind := int((np.abs(to_numpy(placed["azimuth"])) > 90.0).sum())):
        yield "azimuth", f"front or back: {behind:,} of {rows} lie behind and are folded to the front"
    texts = [file.extra for file in origin_of(before).files] if source.name != target.name else []
    texts += before["extra"].unique().to_pylist() if "extra" in columns - held_fields else []
    keys = dict.fromkeys(key for text in texts if text for key in json.loads(text) if key != "annotations")
    if keys:
        yield "extra", f"additional keys: {listed([*keys])}"


def _length(format: LabelFormat) -> str:
    return f"{float(format.hop * 1000):g} ms"


def _time_losses(
    table: pa.Table, timed: pa.Table, source: LabelFormat, target: LabelFormat
) -> Iterator[tuple[str, str]]:
    """Yield what other rows, or other frames, lose: times between frames, and what changes in the course of events."""
    if are_events(table) and not takes_events(target):
        times = np.concatenate([to_numpy(table["onset"]), to_numpy(table["offset"])]) / float(target.hop)
        count = table.num_rows - pieces_of(table)
        merged = count - len(grouped(timed, target.hop)) if timed.num_rows else 0
        if off := int((np.abs(times - np.rint(times)) > _NOISE).sum()) if timed.num_rows else 0:
            many = f"{off:,} of {len(times):,} onsets and offsets fall between frames of {_length(target)}"
            yield "frame", f"{many}: an event fills every frame that it touches"
        elif merged > 0:
            many = f"{merged:,} of {plural(count, 'event')}"
            yield "frame", f"{many} touch another of the same class and are merged with it"
    elif takes_events(target) and has(table, "frame"):
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
    elif not takes_events(target) and source.hop < target.hop and table.num_rows:
        merging = f"frames of {_length(source)} are merged into frames of {_length(target)}"
        yield "frame", f"{merging}: {plural(table.num_rows, 'row')} become {timed.num_rows:,}"


def _description(column: pa.ChunkedArray, field: str) -> str:
    """Describe what a column says; empty where it says nothing, such as one source number of 0."""
    if field == "onscreen":
        return f"whether the source is on screen ({plural(len(column) - column.null_count, 'row')})"
    if field == "hemisphere":
        count = pc.sum(column).as_py() or 0
        return f"{plural(count, 'elevation')} known only as up or down; written as ±90" if count else ""
    if field == "segmentation":  # a single point of energy 1 is a direction, and no map
        maps = column.combine_chunks()
        row, triplet = points(maps)
        count, energy = (np.bincount(row, weights, len(maps)) for weights in (None, triplet[:, 2]))
        directions = (count == 1) & (energy == 1.0)
        count = int((pc.is_valid(maps).to_numpy(zero_copy_only=False) & ~directions).sum())
        return f"the energy maps of {plural(count, 'row')}" if count else ""
    values = known_values(column)
    low, high = np.fmin.reduce(values).item(), np.fmax.reduce(values).item()
    if field != "source":
        return f"values from {low:g} to {high:g}{_ROUNDED.get(field, '')}"
    if low < high:
        return f"the numbers {low} to {high}"
    return "" if low in (0, -1) else f"the number {low}"


# --- what changes without a loss: it is always said ------------------------------------------------------------------


def _changes(
    table: pa.Table, timed: pa.Table, source: LabelFormat, target: LabelFormat, classed: Classes
) -> Iterator[str]:
    """Yield the notes on classes, and on the number of rows or frames."""
    theirs, ours = short(source.vocabulary), short(target.vocabulary)
    if source.vocabulary != target.vocabulary:
        yield f"classes of {theirs} are mapped to those of {ours} by name"
    if classed.foreign:
        names = listed([f'"{name}"' for name in sorted(classed.foreign)], most=20)
        yield f"{plural(len(classed.foreign), 'class', 'classes')} not in {ours}, written by name: {names}"
    if classed.spelled and "class_name" not in target.carries:
        yield f"the spelling of classes is not kept: {listed(sorted(classed.spelled))}"
    if are_events(table) and not takes_events(target):
        events, become = table.num_rows - pieces_of(table), plural(timed.num_rows, "event frame")
        yield f"{plural(events, 'event')} {'becomes' if events == 1 else 'become'} {become}"
    elif takes_events(target) and has(table, "frame"):
        yield f"{plural(table.num_rows, 'event frame')} become {plural(timed.num_rows, 'event')}"
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


def _gaps(timed: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
    """Yield the notes on values that one side has and the other has not, and on lengths of clips."""
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
    codes, names = clip_codes(timed)
    last = np.full(len(names), -1)
    if has(timed, "frame"):
        np.maximum.at(last, codes, to_numpy(timed["frame"]))
    limit = target.clip_frames if target.clip_frames != source.clip_frames else None
    if limit and (long := int((last >= limit).sum())):
        yield f"{plural(long, 'clip')} with frames past the {limit:,} that every {target.name} clip has"
    ends = dict(zip(names, last.tolist(), strict=True))
    longer = sum((file.frames or 0) > ends.get(file.clip, -1) + 1 for file in origin_of(timed).files)
    if longer and not (isinstance(target, Dialect) and target.silence):
        yield f"silent frames are not listed: the length of {plural(longer, 'clip')} is not kept"


# --- what is allowed ------------------------------------------------------------------------------------------------


def checked_fields(allow_loss: Collection[str], fields: Iterable[str] = COLUMNS) -> tuple[str, ...]:
    """Return the names; raise UsageError unless each is one of *fields* or ``all``; a text has commas between them."""
    names = allow_loss.split(",") if isinstance(allow_loss, str) else allow_loss
    wanted, choices = tuple(name.strip() for name in names), (*fields, ALL)
    if unknown := [name for name in wanted if name and name not in choices]:
        raise UsageError(f"--allow-loss {','.join(unknown)}: unknown field; choose from {', '.join(choices)}")
    return wanted


def _joined(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the texts of each field as one."""
    joined: dict[str, list[str]] = {}
    for field, text in texts:
        joined.setdefault(field, []).append(text)
    return {field: "; ".join(texts) for field, texts in joined.items()}


def accepted(converted: Sequence[Converted], target: LabelFormat, allow_loss: Collection[str]) -> dict[str, str]:
    """Return the losses of several tables; raise UsageError for missing fields, LossError for losses not allowed."""
    if missing := _joined(pair for part in converted for pair in part.missing.items()):
        reasons = "; ".join(f"{field} ({why})" for field, why in missing.items())
        values = {"distance": "METRES"}  # where 0 would be a wrong one: no source is 0 m away
        fills = " ".join(f"--fill {field}={values.get(field, '0')}" for field in missing if field in FILLABLE)
        metres = " (metres, whatever the format uses)" if "distance" in missing else ""
        hint = f" To set one value for all, use {fills}{metres}" if fills else ""
        raise UsageError(f"{target.name} needs {reasons}.{hint}")
    return allowed(_joined(pair for part in converted for pair in part.losses.items()), target.name, allow_loss)


def allowed(losses: dict[str, str], target: str, allow_loss: Collection[str]) -> dict[str, str]:
    """Return *losses* of a conversion to *target*; raise LossError unless all are allowed."""
    refused = {field: what for field, what in losses.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target, refused)
    return losses
