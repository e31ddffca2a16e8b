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
    folds,
    given_class,
    held_back,
    located,
)
from seldio.conversion.frames import are_events, frames_of, grouped, has, pieces_of, rescaled, takes_events, with_times
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
#: Columns whose value may change in the course of an event.
MOVABLE = ("azimuth", "elevation", "distance")
#: Kinds of columns that round, in words.
_ROUNDED = {"whole": "", "real3": "three decimals", "real3inf": "three decimals"}
#: Columns that are described where the target lacks them, with the unit of their values.
_DESCRIBED = {
    "source": "", "elevation": "°", "distance": " m", "onscreen": "", "hemisphere": "", "score": "", "segmentation": "",
}  # fmt: skip


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
    unclassed = 0 if given is not None else _unclassed(before)
    missing = dict(_missing(before, target, unclassed))
    untimed = _untimed(before) if set(TIMES) & set(target.needs) else 0
    if untimed or ("class_id" in target.carries and unclassed):  # nothing can be carried over
        return Converted(before.slice(0, 0), missing=missing)
    after = carried(before, source, target, given)
    classed = classes(before, source, target, given)
    losses = dict(_losses(before, source, target, classed)) if before.num_rows else {}
    if missing:
        return Converted(after, (), losses, missing)
    files = tuple((file, target.write(rows, file)) for file, rows in clip_tables(after))
    if not before.num_rows:
        return Converted(after, files)
    timed = with_times(located(before, target), source, target)
    read_back = target.read([TextFile(file.name, file.name, file.clip, data) for file, data in files], lambda _: None)
    notes = (
        *_unused(table, before, fill, classed),
        *_class_notes(before, source, target, classed, given),
        *_time_notes(before, timed.num_rows, source, target),
        *_rounding(after, read_back.table, target),
        *_value_notes(timed, source, target),
        *_clip_notes(timed, source, target),
    )
    return Converted(after, files, losses, missing, notes, read_back)


# --- what the target needs ------------------------------------------------------------------------------------------


def _unknown(table: pa.Table, field: str) -> int:
    return int(table[field].null_count) if field in table.column_names else int(table.num_rows)


def _untimed(table: pa.Table) -> int:
    return max(_unknown(table, field) for field in (TIMES[1:] if are_events(table) else TIMES[:1]))


def _unclassed(table: pa.Table) -> int:
    known_masks = [to_mask(table[field]) for field in ("class_id", "class_name") if field in table.column_names]
    return int((~np.logical_or.reduce([np.zeros(table.num_rows, bool), *known_masks])).sum())


def _missing(table: pa.Table, target: LabelFormat, unclassed: int) -> Iterator[tuple[str, str]]:
    placed = located(table, target)
    for field in dict.fromkeys([*target.needs, *(["class_id"] if "class_id" in target.carries else [])]):
        if field in TIMES:
            unknown = _untimed(table)
        elif field == "class_id":
            unknown = unclassed
        else:
            unknown = _unknown(placed if field == "distance" and has(table, field) else table, field)
        if unknown and not _does_without(table, field, unknown, target):
            many = f"{unknown:,} of {plural(table.num_rows, 'row')} have none"
            yield field, "the table has none" if unknown == table.num_rows else many


def _does_without(table: pa.Table, field: str, unknown: int, target: LabelFormat) -> bool:
    """Return whether the target can be written although *field* is unknown in some rows."""
    if field == "distance":  # unknown ones are never written as 0: a format has a mark for them, or needs a value
        marked = isinstance(target, Dialect) and target.unknown_distance is not None
        return marked or (isinstance(target, JsonFormat) and "distance" in table.column_names)
    if field in ("azimuth", "elevation"):  # that some rows have no direction at all is a loss
        left_out = unknown == table.num_rows - located(table, target).num_rows < table.num_rows
        return left_out or "segmentation" in {*table.column_names} & {*target.carries}
    return False


# --- what the target cannot carry -----------------------------------------------------------------------------------


def _losses(before: pa.Table, source: LabelFormat, target: LabelFormat, classed: Classes) -> Iterator[tuple[str, str]]:
    yield from _time_losses(before, source, target)
    rows = plural(before.num_rows, "row")
    if classed.lost:
        yield "class_id", _lost_classes(classed.lost, source, target)
    for field in (field for field in _DESCRIBED if field in {*before.column_names} - {*target.carries}):
        if what := _description(before, field):
            yield field, what
    if "x" not in target.carries and has(before, "x") and (what := _norm(before, source)):
        yield from dict.fromkeys("xyz", what).items()
    if nowhere := before.num_rows - located(before, target).num_rows:
        many = f"{nowhere:,} of {rows} have none, nor an elevation, and are left out"
        yield "azimuth", f"{many}; --fill azimuth=DEGREES gives them one"
    azimuths = to_numpy(before["azimuth"]) if folds(source, target) and has(before, "azimuth") else np.zeros(0)
    if behind := int((np.abs(azimuths) > 90.0).sum()):
        yield "azimuth", f"front or back: {behind:,} of {rows} lie behind and are folded to the front"
    texts = [file.extra for file in origin_of(before).files] if source.name != target.name else []
    texts += before["extra"].unique().to_pylist() if "extra" in {*before.column_names} - {*target.carries} else []
    keys = dict.fromkeys(key for text in texts if text for key in json.loads(text) if key != "annotations")
    if keys:
        yield "extra", f"additional keys: {listed([*keys])}"


def _time_losses(table: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[tuple[str, str]]:
    if are_events(table):
        if not takes_events(target) and (what := _between_frames(table, target)):
            yield "frame", what
    elif takes_events(target):
        yield from _movements(table, source, target)
    elif source.hop < target.hop:
        rows = rescaled(table, source.hop, target.hop).num_rows
        merged = f"frames of {milliseconds(source)} are merged into frames of {milliseconds(target)}"
        yield "frame", f"{merged}: {plural(table.num_rows, 'row')} become {rows:,}"


def _between_frames(table: pa.Table, target: LabelFormat) -> str:
    times = np.concatenate([to_numpy(table["onset"]), to_numpy(table["offset"])]) / float(target.hop)
    rows, off = table.num_rows - pieces_of(table), int((np.abs(times - np.rint(times)) > 1e-6).sum())
    if off:
        many = f"{off:,} of {2 * rows:,} onsets and offsets fall between frames of {milliseconds(target)}"
        return f"{many}: an event fills every frame that it touches"
    merged = rows - len(grouped(frames_of(table, target.hop), target.hop))
    many = f"{merged:,} of {plural(rows, 'event')}"
    return f"{many} touch another of the same class and are merged with it" if merged > 0 else ""


def _movements(table: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[tuple[str, str]]:
    """Yield directions and distances that change in the course of events, of which one value is kept."""
    events = grouped(table, source.hop)
    lengths = np.diff(events.starts)
    numbers = np.repeat(np.arange(len(lengths)), lengths)
    middle = (events.starts[:-1] + events.starts[1:] - 1) // 2
    for field in (field for field in MOVABLE if field in target.carries and has(table, field)):
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
    is_other = np.abs(norm - 1.0).max(initial=0.0) > 1e-6
    return f"the norm, {what} ({norm.min():.2f} to {norm.max():.2f})" if is_other else ""


def _description(table: pa.Table, field: str) -> str:
    rows = plural(table.num_rows - table[field].null_count, "row")
    if not has(table, field):
        return ""
    if field == "onscreen":
        return f"whether the source is on screen ({rows})"
    if field == "hemisphere":
        count = pc.sum(table["hemisphere"]).as_py() or 0
        return f"{plural(count, 'elevation')} known only as up or down; written as ±90" if count else ""
    if field == "segmentation":
        maps = _energy_maps(table["segmentation"].combine_chunks())
        return f"the energy maps of {plural(maps, 'row')}" if maps else ""
    values = known_values(table[field])
    low, high = np.fmin.reduce(values).item(), np.fmax.reduce(values).item()
    if field != "source":
        return f"values from {low:g} to {high:g}{_DESCRIBED[field]}"
    if low < high:
        return f"the numbers {low} to {high}"
    return "" if low in (0, -1) else f"the number {low}"  # a constant 0 or -1 says nothing


def _energy_maps(maps: pa.Array) -> int:
    """Count the maps that are more than a single point of energy 1, which is a direction."""
    row, triplet = points(maps)
    count, energy = (np.bincount(row, weights, len(maps)) for weights in (None, triplet[:, 2]))
    direction = (count == 1) & (energy == 1.0)
    return int((pc.is_valid(maps).to_numpy(zero_copy_only=False) & ~direction).sum())


# --- what changes without a loss: it is always said ------------------------------------------------------------------


def milliseconds(format: LabelFormat) -> str:
    """Return the length of a format's frames, for people."""
    return f"{float(format.hop * 1000):g} ms"


def _unused(table: pa.Table, before: pa.Table, fill: Mapping[str, Any], classed: Classes) -> Iterator[str]:
    for field, value in fill.items():
        same = field in table.column_names and table[field].equals(before[field])
        if value != COUNT and (not classed.filled and not _unclassed(before) if field == "class_id" else same):
            yield f"--fill {field} has no effect: every row already has a value"


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
    if are_events(before):
        events = before.num_rows - pieces_of(before)
        if not takes_events(target):
            become = "becomes" if events == 1 else "become"
            yield f"{plural(events, 'event')} {become} {plural(rows, 'event frame')}"
    elif takes_events(target):
        yield f"{plural(before.num_rows, 'event frame')} become {plural(rows, 'event')}"
    elif source.hop > target.hop:
        times = int(source.hop / target.hop)
        yield f"each frame of {milliseconds(source)} becomes {times} frames of {milliseconds(target)}"


def _rounding(after: pa.Table, again: pa.Table, target: LabelFormat) -> Iterator[str]:
    if after.num_rows != again.num_rows:
        return
    after = pa.concat_tables(rows for _, rows in clip_tables(after))
    kinds = {field: target.kind(field) or "" for field in MOVABLE} if isinstance(target, Dialect) else {}
    moved = {field: _moved(after, again, field) for field in kinds if kinds[field] in _ROUNDED}
    if changed := [field for field in ("azimuth", "elevation") if moved.get(field, 0.0) > 1e-6]:
        decimals, most = max(_ROUNDED[kinds[field]] for field in changed), max(moved[field] for field in changed)
        are = "are" if len(changed) == 2 else "is"
        amount = f"{decimals or 'whole degrees'}, by up to {_amount(most, decimals)}°"
        yield f"{' and '.join(changed)} {are} rounded to {amount}"
    late = max(_moved(after, again, field) for field in ("onset", "offset"))
    if target.time_decimals is not None and late > 1e-10:  # less is noise of binary numbers
        yield f"times are rounded to {target.time_decimals} decimals, by up to {1000 * late:.3g} ms"
    metre = (target.metre or 1) if isinstance(target, Dialect) else 1
    if (most := moved.get("distance", 0.0) * metre) > 1e-6:
        decimals, (unit, units) = _ROUNDED[kinds["distance"]], UNITS[metre]
        yield f"distance is rounded to {decimals or f'whole {units}'}, by up to {_amount(most, decimals)} {unit}"


def _moved(after: pa.Table, again: pa.Table, field: str) -> float:
    if field not in after.column_names:
        return 0.0
    values = to_numpy(after[field])
    # a reader leaves out a distance that is 0 throughout
    differences = np.abs(values - (to_numpy(again[field]) if field in again.column_names else 0.0))
    differences = np.minimum(differences, np.abs(360.0 - differences)) if field == "azimuth" else differences
    return float(differences[np.isfinite(differences)].max(initial=0.0))


def _amount(most: float, decimals: str) -> str:
    """Return an amount with two digits more than are left, rounded up."""
    digits = 5 if decimals else 2
    return f"{np.ceil(most * 10**digits - 1e-6) / 10**digits:.{digits}f}"


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
    if isinstance(source, Dialect) and source.folded and not (isinstance(target, Dialect) and target.folded):
        yield "azimuth is folded: front and back cannot be distinguished"


def _clip_notes(timed: pa.Table, source: LabelFormat, target: LabelFormat) -> Iterator[str]:
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


def checked_fields(allow_loss: Collection[str], known: Iterable[str] = COLUMNS) -> tuple[str, ...]:
    """The names, or UsageError unless every one is one of *known*, or ``all``; a text has commas between them."""
    names = allow_loss.split(",") if isinstance(allow_loss, str) else allow_loss
    wanted, choices = tuple(name.strip() for name in names), (*known, ALL)
    if unknown := [name for name in wanted if name and name not in choices]:
        raise UsageError(f"--allow-loss {','.join(unknown)}: unknown field; choose from {', '.join(choices)}")
    return wanted


def joined_texts(texts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return what several tables say of each field, joined."""
    joined: dict[str, str] = {}
    for field, what in (pair for texts_of_part in texts for pair in texts_of_part.items()):
        joined[field] = f"{joined[field]}; {what}" if field in joined else what
    return joined


def accepted(converted: Sequence[Converted], target: LabelFormat, allow_loss: Collection[str]) -> dict[str, str]:
    """Return the losses of several tables; raise UsageError for missing fields, LossError for losses not allowed."""
    if missing := joined_texts(part.missing for part in converted):
        reasons = "; ".join(f"{field} ({why})" for field, why in missing.items())
        values = {"distance": "METRES"}  # where 0 would be a wrong one: no source is 0 m away
        fills = " ".join(f"--fill {field}={values.get(field, '0')}" for field in missing if field in FILLABLE)
        metres = " (metres, whatever the format uses)" if "distance" in missing else ""
        hint = f" To set one value for all, use {fills}{metres}" if fills else ""
        raise UsageError(f"{target.name} needs {reasons}.{hint}")
    return allowed(joined_texts(part.losses for part in converted), target.name, allow_loss)


def allowed(losses: dict[str, str], target: str, allow_loss: Collection[str]) -> dict[str, str]:
    """*losses* of a conversion to *target*, or LossError unless all are allowed."""
    refused = {field: what for field, what in losses.items() if not {field, ALL} & set(allow_loss)}
    if refused:
        raise LossError(target, refused)
    return losses
