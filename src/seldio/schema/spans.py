"""Events from event frames: runs of one class and source, with onset, offset and trajectory."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import timeline
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
        return self.table.num_rows

    def trajectory(self, event: int) -> Ints:
        """The rows of the event-frame table that make up event number *event*, frames ascending."""
        return self.rows[self.starts[event] : self.starts[event + 1]]


def spans(table: pa.Table, gap: int = 0, hop: Fraction = timeline.HOP) -> Spans:
    """Group event frames into events.

    An event is a run of consecutive frames of one clip, class and source. Rows that repeat a frame
    (exact duplicates, or two places of one source number) are told apart by their rank inside the
    frame, so that each becomes an event of its own and no row is lost.

    Args:
        table: an event table with ``clip``, ``frame`` and ``class_id``, in any row order.
        gap: frames of silence an event may bridge.
        hop: seconds between frames.
    """
    clips, names = clip_codes(table)
    frame = table["frame"].to_numpy().astype(np.int64)
    label = table["class_id"].to_numpy().astype(np.int64)
    has_source = "source" in table.column_names
    source = table["source"].to_numpy().astype(np.int64) if has_source else np.zeros_like(frame)
    rank = _rank(clips, label, source, frame)
    order = np.lexsort((frame, rank, source, label, clips))
    keys = [part[order] for part in (clips, label, source, rank)]
    step = np.diff(frame[order])
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    new[1:] = (step > gap + 1) | np.logical_or.reduce([np.diff(key) != 0 for key in keys])
    starts = np.append(np.flatnonzero(new), len(order))
    return _ordered(names, clips, frame, label, source if has_source else None, order, starts, hop)


def _rank(clips: Any, label: Ints, source: Ints, frame: Ints) -> Ints:
    """0 for the first row of a (clip, class, source, frame), 1 for the second, in file order."""
    order = np.lexsort((frame, source, label, clips))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for part in (clips, label, source, frame):
        same &= np.diff(part[order]) == 0
    position = np.arange(len(order))
    first = np.where(np.concatenate(([False], same))[: len(order)], 0, position)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = position - np.maximum.accumulate(first)
    return rank


def _ordered(
    names: list[str], clips: Any, frame: Ints, label: Ints, source: Ints | None, order: Ints, starts: Ints, hop: Fraction
) -> Spans:
    """The spans sorted by clip, onset and class; rows regrouped to match."""
    heads, tails = order[starts[:-1]], order[starts[1:] - 1]
    by_onset = np.lexsort((label[heads], frame[heads], clips[heads]))
    heads, tails = heads[by_onset], tails[by_onset]
    lengths = np.diff(starts)[by_onset]
    bounds = np.concatenate(([0], np.cumsum(lengths)))
    shift = np.repeat(starts[:-1][by_onset] - bounds[:-1], lengths)
    columns = {
        "clip": pa.DictionaryArray.from_arrays(pa.array(clips[heads], pa.int32()), pa.array(names, pa.string())),
        "onset": frame[heads] * hop.numerator / hop.denominator,
        "offset": (frame[tails] + 1) * hop.numerator / hop.denominator,
        "first_frame": frame[heads].astype(np.int32),
        "last_frame": frame[tails].astype(np.int32),
        "class_id": label[heads].astype(np.int32),
    }
    if source is not None:
        columns["source"] = source[heads].astype(np.int32)
    return Spans(pa.table(columns), order[np.arange(bounds[-1]) + shift], bounds)
