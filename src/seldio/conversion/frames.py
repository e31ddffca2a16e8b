"""Events and event frames, frames of one length as frames of another, and what is known of the columns of a table."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.errors import DataError, UsageError
from seldio.formats import LabelFormat
from seldio.formats.label_csv import Dialect
from seldio.schema.arrays import from_numpy, pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS, clip_codes
from seldio.schema.spans import Spans, spans

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: No class has this number: it is greater than those that fit the column.
_NO_CLASS = 1 << 31
#: Rows that finer frames may make of a table.
_MOST_ROWS = 100_000_000


def has(table: pa.Table, field: str) -> bool:
    """Return whether *table* knows *field* of any row."""
    return field in table.column_names and table[field].null_count < table.num_rows


def with_column(table: pa.Table, field: str, values: Any) -> pa.Table:
    """Return *table* with a column added or replaced, cast to its type in the schema."""
    column = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values)
    if column.type != COLUMNS[field]:
        column = column.cast(COLUMNS[field])
    if field in table.column_names:
        return table.set_column(table.column_names.index(field), field, column)
    return table.append_column(field, column)


def with_directions(table: pa.Table) -> pa.Table:
    """Return *table* with azimuth and elevation wherever x, y and z are known, and the other way round."""
    if not all(has(table, axis) for axis in "xyz"):
        return table
    for fields, sources, change in (
        (("azimuth", "elevation"), "xyz", geometry.to_polar),
        ("xyz", ("azimuth", "elevation"), geometry.to_cartesian),
    ):
        for field, numbers in zip(fields, change(*(to_numpy(table[source]) for source in sources)), strict=True):
            values = pa.array(numbers, from_pandas=True)
            column = pc.coalesce(table[field], values) if field in table.column_names else values
            table = with_column(table, field, column)
    return table


def class_keys(table: pa.Table) -> tuple[list[tuple[int | None, str | None]], Ints]:
    """Return the different pairs of class number and given name, and which of them each row has."""
    pairs, names = np.full(table.num_rows, _NO_CLASS), [None]
    if "class_id" in table.column_names:
        pairs = np.nan_to_num(to_numpy(table["class_id"]), nan=_NO_CLASS).astype(np.int64)
    if "class_name" in table.column_names and table.num_rows:
        encoded = table["class_name"].combine_chunks().dictionary_encode("encode")
        names = encoded.dictionary.to_pylist()
        pairs = pairs * len(names) + to_numpy(encoded.indices)
    unique, rows = np.unique(pairs, return_inverse=True)
    keys = (divmod(pair, len(names)) for pair in unique.tolist())
    return [(None if number == _NO_CLASS else number, names[name]) for number, name in keys], rows


def are_events(table: pa.Table) -> bool:
    """Return whether rows are whole events (onset and offset) and not event frames."""
    return has(table, "onset") and not has(table, "frame")


def takes_events(target: LabelFormat) -> bool:
    """Return whether *target* holds whole events and no frames."""
    return "onset" in target.carries and "frame" not in target.carries


def pieces_of(table: pa.Table) -> int:
    """Return how many rows of events go on with the one before: of its class and source, in another direction."""
    if not (has(table, "source") and has(table, "azimuth")):
        return 0
    place = [
        pc.fill_null(table[field], 1e9).to_numpy() if field in table.column_names else np.zeros(table.num_rows)
        for field in ("azimuth", "elevation", "distance")
    ]
    source = pc.fill_null(table["source"], -(1 << 31)).to_numpy()
    onset, offset = to_numpy(table["onset"]), to_numpy(table["offset"])
    keys = (clip_codes(table)[0], class_keys(table)[1], source)
    order = np.lexsort((onset, *reversed(keys)))
    before, after = order[:-1], order[1:]
    goes_on = (offset[before] == onset[after]) & to_mask(table["source"].is_valid())[after]
    for key in keys:
        goes_on &= key[before] == key[after]
    turned = np.logical_or.reduce([values[before] != values[after] for values in place])
    return int((goes_on & turned).sum())


def with_times(table: pa.Table, source: LabelFormat, target: LabelFormat) -> pa.Table:
    """Return *table* with the kind of rows and the frames of *target*."""
    if target.role == "table" or not table.num_rows:
        return table
    if isinstance(target, Dialect) and target.silence is not None:
        _check_length(table, source.hop)  # it lists every frame
    if are_events(table):
        return table if takes_events(target) else frames_of(table, target.hop)
    if not takes_events(target):
        return rescaled(table, source.hop, target.hop)
    # one row for each event: its onset and offset, and what holds in its middle frame
    _check_length(table, source.hop)
    events = grouped(table, source.hop)
    middle = events.rows[(events.starts[:-1] + events.starts[1:] - 1) // 2]
    rows = table.drop_columns(["frame"]).take(pa.array(middle))
    rows = with_column(rows, "onset", events.table["onset"])
    return with_column(rows, "offset", events.table["offset"])


def _check_length(table: pa.Table, hop: Fraction) -> None:
    """Refuse impossible times: a truncated number would fill the memory with frames."""
    if are_events(table):
        onset, offset = to_numpy(table["onset"]), to_numpy(table["offset"])
        most = max(np.abs(onset).max(), np.abs(offset).max(), np.maximum(offset - onset, 0.0).sum() / 10)
    else:
        most = (pc.max(table["frame"]).as_py() + 1) * float(hop)
    if most > clock.LONGEST:
        raise DataError(f"times of up to {most:,.1f} s, but no recording is longer than {clock.LONGEST:,} s")


def _in_frames(table: pa.Table, rows: Ints, frame: Ints) -> pa.Table:
    """Return *rows* of a table with new frames, by clip and frame."""
    order = np.lexsort((frame, clip_codes(table)[0][rows]))
    return with_column(table.take(pa.array(rows[order])), "frame", frame[order])


def frames_of(table: pa.Table, hop: Fraction) -> pa.Table:
    """Return an event frame for each frame that an event touches, by clip and frame."""
    _check_length(table, hop)
    times = zip(table["onset"].to_pylist(), table["offset"].to_pylist(), strict=True)
    ranges = [clock.frames_between(start, end, hop) for start, end in times]
    lengths = [len(frames) for frames in ranges]
    rows = np.repeat(np.arange(table.num_rows), lengths)
    shift = np.array([frames.start for frames in ranges]) - np.cumsum([0, *lengths[:-1]])
    return _in_frames(table.drop_columns(["onset", "offset"]), rows, np.arange(len(rows)) + shift[rows])


def grouped(table: pa.Table, hop: Fraction) -> Spans:
    """Return the events of event frames; classes without a number are distinguished by their names."""
    rows, source = class_keys(table)[1], np.zeros(table.num_rows, np.int32)
    if "source" in table.column_names:
        source = np.nan_to_num(to_numpy(table["source"]), nan=-1)
    table = with_column(table.select(["clip", "frame"]), "class_id", from_numpy(rows))
    table = with_column(table, "source", from_numpy(source))
    return spans(table, hop=hop)


def numbered(table: pa.Table) -> pa.Table:
    """Number sources without number by class and onset; raise UsageError if rows are frames, which numbers separate."""
    if has(table, "source") and not table["source"].null_count:
        return table
    if table.num_rows and not are_events(table):
        raise UsageError("--fill source=count: only events with an onset and an offset can be counted")
    if not table.num_rows:
        return with_column(table, "source", pa.nulls(0))
    given = table["source"].to_pylist() if "source" in table.column_names else [None] * table.num_rows
    clips, classes = clip_codes(table)[0].tolist(), class_keys(table)[1].tolist()
    taken: dict[tuple[int, int], set[int]] = {}
    for clip, key, number in zip(clips, classes, given, strict=True):
        if number is not None:
            taken.setdefault((clip, key), set()).add(number)
    for row in np.argsort(to_numpy(table["onset"]), kind="stable").tolist():
        if given[row] is None:
            used = taken.setdefault((clips[row], classes[row]), set())
            given[row] = next(number for number in itertools.count(len(used)) if number not in used)
            used.add(given[row])
    return with_column(table, "source", pa.array(given, COLUMNS["source"]))


def rescaled(table: pa.Table, hop: Fraction, wanted: Fraction) -> pa.Table:
    """Change the frame length: finer frames are repeated, coarser ones keep the rows of their first frame."""
    if hop == wanted:
        return table
    _check_length(table, hop)
    frame = to_numpy(table["frame"]).astype(np.int64)
    if hop > wanted:
        times = int(hop / wanted)
        if times * len(frame) > _MOST_ROWS:
            raise DataError(f"{len(frame):,} rows would become {times * len(frame):,}, more than {_MOST_ROWS:,}")
        rows = np.repeat(np.arange(len(frame)), times)
        return _in_frames(table, rows, frame[rows] * times + np.tile(np.arange(times), len(frame)))
    coarser = frame // int(wanted / hop)
    source = pc.fill_null(table["source"], -1).to_numpy() if "source" in table.column_names else np.zeros_like(frame)
    keys = (source, class_keys(table)[1], coarser, clip_codes(table)[0])
    order = np.lexsort((frame, *keys))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
    first = frame[order][np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    rows = np.sort(order[frame[order] == first])
    return _in_frames(table, rows, coarser[rows])
