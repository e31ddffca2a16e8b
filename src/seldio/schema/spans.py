"""Events from event frames: runs of one class and source, with onset, offset and trajectory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.schema.arrays import from_numpy, from_texts, pc, to_numpy
from seldio.schema.events import clip_codes

Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclasses.dataclass(frozen=True)
class Spans:
    """Events of a table, ordered by clip, onset and class.

    Args:
        table: columns ``clip, onset, offset, first_frame, last_frame, class_id, source`` (source where
            the event frames have it), one row an event; times in seconds, an event ends at
            ``(last_frame + 1) * hop``.
        rows: row numbers into the event-frame table, events one after another, frames ascending.
        starts: where each event begins in ``rows``; one more than there are events.
    """

    table: pa.Table
    rows: Ints
    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    def trajectory(self, event: int) -> Ints:
        """Return the rows of the event-frame table that make up event number *event*, frames ascending."""
        return self.rows[self.starts[event] : self.starts[event + 1]]


def spans(table: Any, gap: int = 0, hop: Fraction = clock.HOP) -> Spans:
    """Group event frames into events.

    An event is a run of consecutive frames of one clip, class and source; classes without a number are
    distinguished by their names. Rows that repeat a frame (exact duplicates, or two places of one source
    number) are distinguished by their rank inside the frame, so that each becomes an event of its own and
    no row is lost.

    Args:
        table: an event table with ``clip``, ``frame`` and ``class_id``, in any row order.
        gap: frames of silence an event may bridge.
        hop: seconds between frames.
    """
    clips, names = clip_codes(table)
    frame, label, source = (_numbers(table, field) for field in ("frame", "class_id", "source"))
    keys: list[Ints] = [clips.astype(np.int64), label, _unnumbered(table, label), source]
    rows, starts = runs([*keys, rank_in_frame(keys, frame)], frame, gap)
    heads = rows[starts[:-1]]
    # by clip, onset and class instead of by keys
    order = np.lexsort((label[heads], frame[heads], clips[heads]))
    lengths = np.diff(starts)[order]
    ends = np.cumsum(lengths)
    rows = rows[np.arange(len(rows)) + np.repeat(starts[:-1][order] - (ends - lengths), lengths)]
    starts = np.concatenate(([0], ends))
    heads, tails = rows[starts[:-1]], rows[starts[1:] - 1]
    numbers = {"class_id": label} | ({"source": source} if "source" in table.column_names else {})
    columns = {
        "clip": pa.DictionaryArray.from_arrays(from_numpy(clips[heads].astype(np.int32)), from_texts(names)),
        "onset": from_numpy(frame[heads] * hop.numerator / hop.denominator),
        "offset": from_numpy((frame[tails] + 1) * hop.numerator / hop.denominator),
        "first_frame": from_numpy(frame[heads].astype(np.int32)),
        "last_frame": from_numpy(frame[tails].astype(np.int32)),
    }
    for field, values in numbers.items():
        columns[field] = from_numpy(values[heads].astype(np.int32), values[heads] == _NULL)
    return Spans(pa.table(columns), rows, starts)


def runs(keys: Sequence[Ints], frame: Ints, gap: int = 0) -> tuple[Ints, Ints]:
    """Return the rows of each run of consecutive frames with the same *keys*, run by run, and where each begins.

    The runs are in the order of their keys. There is one more beginning than there are runs.
    """
    rows = np.lexsort((frame, *reversed(keys)))
    new = np.ones(len(rows), dtype=bool)
    new[1:] = np.diff(frame[rows]) > gap + 1
    for key in keys:
        new[1:] |= np.diff(key[rows]) != 0
    return rows, np.append(np.flatnonzero(new), len(rows))


#: Stands for null; no file holds a number this small.
_NULL = np.iinfo(np.int32).min


def _numbers(table: pa.Table, field: str) -> Ints:
    """Return a column of whole numbers; zeros if there is no such column."""
    if field not in table.column_names:
        return np.zeros(table.num_rows, np.int64)
    column = table[field]
    return to_numpy(pc.fill_null(column, _NULL) if column.null_count else column).astype(np.int64)


def _unnumbered(table: pa.Table, label: Ints) -> Ints:
    """Number the names of classes that have no numbers."""
    if "class_name" not in table.column_names or not (label == _NULL).any():
        return np.zeros_like(label)
    names = table["class_name"].combine_chunks().dictionary_encode()
    return np.where(label == _NULL, pc.fill_null(names.indices, -1).to_numpy(), 0)


def rank_in_frame(keys: Sequence[Ints], frame: Ints) -> Ints:
    """Return 0 for the first row of a frame with these keys, 1 for the second, in file order."""
    order = np.lexsort((frame, *reversed(keys)))
    same = np.logical_and.reduce([np.diff(part[order]) == 0 for part in (*keys, frame)])
    position = np.arange(len(order))
    first = np.where(np.concatenate(([False], same))[: len(order)], 0, position)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = position - np.maximum.accumulate(first)
    return rank


def repeated(table: pa.Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return rows of one class and frame that share their place, or a source number above 0, with another row.

    Such rows may be one source written twice or two sources; nobody can tell. Source 0 and -1 are what many
    programs write for every row, so they say nothing.
    """
    label, source = _numbers(table, "class_id"), _numbers(table, "source")
    keys: list[Any] = [clip_codes(table)[0], _numbers(table, "frame"), label, _unnumbered(table, label)]
    place = [
        np.nan_to_num(table[field].cast(pa.float64()).to_numpy(), nan=np.inf, posinf=np.inf, neginf=-np.inf)
        for field in ("azimuth", "elevation", "distance")
        if field in table.column_names
    ]
    masks = []
    for alike in ([*keys, *place], [*keys, source]):
        order = np.lexsort(alike)
        same = np.logical_and.reduce([key[order][1:] == key[order][:-1] for key in alike])
        is_shared = np.zeros(len(order), dtype=bool)
        is_shared[order[1:]] |= same
        is_shared[order[:-1]] |= same
        masks.append(is_shared)
    return (masks[0] & bool(place)) | (masks[1] & (source > 0))
