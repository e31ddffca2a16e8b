"""Carry an event table over to another format, table by table; ``losses.py`` compares it with what is read back."""

from __future__ import annotations

import dataclasses
import json
import math
import posixpath
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.conversion.frames import class_keys, has, numbered, with_column, with_times
from seldio.errors import DataError, UsageError
from seldio.formats import LabelFormat, stem_of
from seldio.formats.cells import LIMIT
from seldio.formats.dcase_json import JsonFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import from_numpy, from_texts, pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS, FARTHEST, ClipFile, Origin, origin_of, with_origin
from seldio.text import printable
from seldio.vocabularies import Vocabulary, spelling, vocabulary

#: Columns that ``--fill`` can set: one number or flag for every row that has none.
FILLABLE = ("class_id", "source", "azimuth", "elevation", "distance", "onscreen", "hemisphere", "score")
#: The value of ``source`` that counts the events of each class in a clip.
COUNT = "count"
#: The units of its values, whatever those of a format are.
_UNITS = {"azimuth": " in degrees", "elevation": " in degrees", "distance": " in metres"}


def folded(format: LabelFormat) -> bool:
    """Whether azimuths behind are given as those in front."""
    return isinstance(format, Dialect) and format.folded


# --- values that the caller gives ------------------------------------------------------------------


def with_directions(table: pa.Table) -> pa.Table:
    """*table* with azimuth and elevation wherever x, y and z are known, and the other way round."""
    if not all(has(table, axis) for axis in "xyz"):
        return table
    polar = geometry.to_polar(*(to_numpy(table[axis]) for axis in "xyz"))
    table = _completed(table, dict(zip(("azimuth", "elevation"), polar, strict=True)))
    cartesian = geometry.to_cartesian(*(to_numpy(table[field]) for field in ("azimuth", "elevation")))
    return _completed(table, dict(zip("xyz", cartesian, strict=True)))


def _completed(table: pa.Table, values: Mapping[str, Any]) -> pa.Table:
    for field, numbers in values.items():
        given = pa.array(numbers, from_pandas=True)
        known = pc.coalesce(table[field], given) if field in table.column_names else given
        table = with_column(table, field, known)
    return table


def located(table: pa.Table, target: LabelFormat) -> pa.Table:
    """*table* without the rows that have no direction at all, where *target* cannot do without one."""
    if "segmentation" in table.column_names or not {"azimuth", "elevation"} & set(target.needs):
        return table
    known_masks = [to_mask(table[field]) for field in ("azimuth", "elevation") if field in table.column_names]
    known = np.logical_or.reduce([np.zeros(table.num_rows, bool), *known_masks])
    return table if known.all() else table.filter(pa.array(known))


def filled(table: pa.Table, target: LabelFormat, fill: Mapping[str, Any]) -> pa.Table:
    """*table* with the values of *fill* wherever a field is unknown and does not follow from others."""
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
        if field == "class_id" and target.role != "table":  # of the target's list: :func:`classes` takes it
            continue
        known = table[field] if field in table.column_names else pa.nulls(table.num_rows, COLUMNS[field])
        table = with_column(table, field, pc.fill_null(known, scalar))
    return table


def given_class(fill: Mapping[str, Any], target: LabelFormat) -> int | None:
    """Return the class that *fill* gives to rows whose own is not in *target*'s list; UsageError if it lacks it."""
    if "class_id" not in fill or target.role == "table":
        return None
    number, known = int(_scalar("class_id", fill["class_id"]).as_py()), vocabulary(target.vocabulary)
    if not 0 <= number < len(known):
        many = f"{known.name} has {len(known)} classes, numbered from 0"
        raise UsageError(f"--fill class_id={number}: {many}; seldio formats {target.name} shows them")
    return number


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


# --- classes ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Classes:
    """The classes of a table in the target's list."""

    ids: pa.Array  # the target's class of each row; null where it has none
    names: pa.Array  # for targets that write names, how a class is spelled where its id does not say it
    kept: Any  # rows whose class the target can hold
    lost: Mapping[str, int]  # rows of each class that it cannot hold
    foreign: Mapping[str, int]  # rows of each class that it can hold by its name alone
    filled: Mapping[str, int]  # rows of each class that it cannot hold, and that are given another one


def classes(table: pa.Table, source: LabelFormat, target: LabelFormat, given: int | None = None) -> Classes:
    """Find the classes of *table* in *target*'s list; those that the list lacks become *given*."""
    theirs, ours = vocabulary(source.vocabulary), vocabulary(target.vocabulary)
    keys, rows = class_keys(table)
    mapped = [_class(number, name, theirs, ours, "class_name" in target.carries) for number, name in keys]
    lost, foreign, filled = Counter[str](), Counter[str](), Counter[str]()
    for index, count in enumerate(np.bincount(rows, minlength=len(keys)).tolist()):
        label = keys[index][1] or theirs.label(keys[index][0] or 0)
        if mapped[index] == (None, None) and given is not None:
            filled[label] += count
            mapped[index] = given, None
        elif mapped[index][0] is None:
            (lost if mapped[index][1] is None else foreign)[label] += count
    numbers = np.array([-1 if number is None else number for number, _ in mapped], np.int32)
    ids = from_numpy(numbers[rows], np.array([number is None for number, _ in mapped], bool)[rows])
    names = from_texts(name for _, name in mapped)
    names = names.take(from_numpy(rows)) if names.null_count < len(names) else pa.nulls(len(rows), pa.string())
    kept = np.array([pair != (None, None) for pair in mapped], dtype=bool)[rows]
    return Classes(ids, names, kept, lost, foreign, filled)


def _class(
    number: int | None, name: str | None, theirs: Vocabulary, ours: Vocabulary, by_name: bool
) -> tuple[int | None, str | None]:
    """Return a class in our list, and its spelling if the number does not give it; (None, None) if it is lost."""
    same = theirs.classes == ours.classes
    if number is not None:
        own_number = number if same else theirs.mapping(ours).get(number)
    else:
        own_number = ours.indices.get(spelling(name or ""))
    if not by_name:
        return own_number, None
    if own_number is None:
        return None, name or theirs.label(number or 0)
    return own_number, name if same else None


def with_classes(table: pa.Table, source: LabelFormat, target: LabelFormat, given: int | None = None) -> pa.Table:
    """*table* with the class numbers of *target*, *given* or without the rows whose class it does not have."""
    if not (has(table, "class_id") or has(table, "class_name")):
        return table if given is None else with_column(table, "class_id", pa.repeat(given, table.num_rows))
    classed = classes(table, source, target, given)
    table = with_column(table, "class_id", classed.ids)
    if classed.names.null_count < len(classed.names):
        table = with_column(table, "class_name", classed.names)
    elif "class_name" in table.column_names:
        table = table.drop_columns(["class_name"])
    return table if classed.kept.all() else table.filter(pa.array(classed.kept))


# --- numbers that no file may hold -----------------------------------------------------------------


def held_back(table: pa.Table, target: LabelFormat) -> None:
    """Raise DataError, naming row and column, for a number that is not finite or too large for *target*."""
    for field in table.column_names:
        kind, is_number = COLUMNS[field], field != "score" or field in target.carries
        if field == "segmentation":
            numbers = pc.list_flatten(pc.list_flatten(pc.list_flatten(table[field])))
            rows = (
                [] if pc.all(pc.is_finite(numbers), min_count=0).as_py() else map(json.dumps, table[field].to_pylist())
            )
            wrong = next((number for number, row in enumerate(rows) if "N" in row or "I" in row), None)
        elif is_number and (pa.types.is_floating(kind) or (pa.types.is_integer(kind) and isinstance(target, Dialect))):
            wrong = _wrong_number(table[field], field, target)
        else:
            continue
        if wrong is None:
            continue
        value, clips = table[field][wrong].as_py(), table["clip"].slice(0, wrong + 1).to_pylist()
        where = f"{field} in row {wrong + 1:,} (row {clips.count(clips[-1]):,} of clip {printable(clips[-1])})"
        if field == "segmentation" or not math.isfinite(value):
            what = "has a number that is not finite" if field == "segmentation" else f"is {value}, not a finite number"
            raise DataError(f"{where} {what}; leave out the row, or the value (null) if it is unknown")
        raise DataError(f"{where} is {value:g}: {target.name} has numbers of up to nine digits")


def _wrong_number(column: pa.ChunkedArray, field: str, target: LabelFormat) -> int | None:
    values = to_numpy(column).astype(np.float64)
    wrong = ~np.isfinite(values)
    if target.role != "table" and field != "score":
        metre = (getattr(target, "metre", None) or 1) if field == "distance" else 1
        wrong |= np.abs(values) >= (LIMIT - 0.5) / metre
    wrong &= to_mask(column)
    return int(wrong.argmax()) if wrong.any() else None


# --- columns and files -----------------------------------------------------------------------------


def carried(table: pa.Table, source: LabelFormat, target: LabelFormat, given: int | None = None) -> pa.Table:
    """*table* as *target* holds it; its origin names the target's files. *given*: see :func:`classes`."""
    origin = origin_of(table)
    if target.role == "table":
        origin = origin if origin.format else dataclasses.replace(origin, vocabulary=source.vocabulary)
    else:  # a system's output is called otherwise than labels
        label = source.role == "label" or (source.role == "table" and not has(table, "score"))
        files = (file if source.name == target.name else _file(file, target, label) for file in origin.files)
        origin = Origin(target.name, target.vocabulary, tuple(files))
        table = with_times(with_classes(located(table, target), source, target, given), source, target)
        if folded(target) and not folded(source) and has(table, "azimuth"):
            table = with_column(table, "azimuth", geometry.fold(to_numpy(table["azimuth"])))
        for field in target.needs:  # writers look for these, and write nothing where they are null
            if field not in table.column_names:
                table = with_column(table, field, pa.nulls(table.num_rows))
    columns = [name for name in COLUMNS if name in table.column_names and name in target.carries]
    return with_origin(table.select(columns), origin)


def _file(file: ClipFile, target: LabelFormat, label: bool) -> ClipFile:
    folder, base = posixpath.split(file.name)
    as_json = isinstance(target, JsonFormat)
    stem = stem_of(base) + ("_std" if as_json and label else "")  # by these names the program pairs them
    newline = target.newline if isinstance(target, Dialect) else "\n"
    name = posixpath.join(folder, stem + target.suffix)
    return ClipFile(file.clip, name, newline, not as_json, file.frames)
