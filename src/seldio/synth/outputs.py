"""Simulate a system's outputs from labels: it misses events, confuses classes and is off by some degrees."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.files import write_bytes
from seldio.formats import get
from seldio.schema.events import COLUMNS, origin_of, with_origin
from seldio.schema.spans import spans

#: Shares of the events that are missed and that get the class of another.
_MISSED, _CONFUSED = 0.15, 0.1
#: Standard deviations in degrees: of an event as a whole, and of its single frames.
_BIAS, _JITTER = 10.0, 3.0
_LATE = 5  # an event is found up to this number of frames late
_FIELDS = ("frame", "class_id", "azimuth", "elevation")


def imagine(table: pa.Table, seed: int, errors: float = 1.0) -> pa.Table:
    """Return the events of *table* as a simulated system would detect them.

    Args:
        table: the labels of one clip, as :func:`seldio.synth.labels` makes them.
        seed: for the errors; the same seed gives the same output.
        errors: 1 for a system of ordinary quality, 0 for a perfect one.

    Returns:
        An event table without source numbers and distances, rows by frame.
    """
    rng = np.random.default_rng(seed)
    event_spans = spans(table)
    frame, label, azimuth, elevation = (table[name].to_numpy() for name in _FIELDS)
    parts = []
    for number in range(len(event_spans)):
        rows = event_spans.trajectory(number)
        missed, confused, other = rng.random() < errors * _MISSED, rng.random() < errors * _CONFUSED, rng.integers(13)
        error = errors * (rng.normal(0, _BIAS, (2, 1)) + rng.normal(0, _JITTER, (2, len(rows))))
        classes = np.full(len(rows), other) if confused else label[rows]
        turned, raised = geometry.wrap(azimuth[rows] + error[0]), np.clip(elevation[rows] + error[1] / 2, -90, 90)
        heard = slice(len(rows) if missed else round(errors * rng.integers(_LATE + 1)), None)
        parts.append([values[heard] for values in (frame[rows], classes, np.rint(turned), np.rint(raised))])
    columns = [np.concatenate([values, *more]) for values, *more in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    clip = pa.array([origin_of(table).files[0].clip] * len(order), pa.string()).dictionary_encode()
    made = {"clip": clip.cast(COLUMNS["clip"])} | {
        name: pa.array(values[order] + 0).cast(COLUMNS[name]) for name, values in zip(_FIELDS, columns, strict=True)
    }
    return with_origin(pa.table(made), origin_of(table))


def write_outputs(folder: Path, tables: Iterable[pa.Table], seed: int, errors: float = 1.0) -> None:
    """Write what a simulated system makes of *tables*, in the format of a DCASE 2023 submission.

    Args:
        folder: gets a file for each clip; made as needed.
        tables: the labels, one table for each clip, as :func:`seldio.synth.tree.write_tree` returns them.
        seed: for the errors.
        errors: 1 for a system of ordinary quality, 0 for a perfect one.
    """
    for number, table in enumerate(tables):
        file = origin_of(table).files[0]
        data = get("dcase2023-submission").write(imagine(table, seed + number, errors), file)
        write_bytes(folder / file.name, data, folder)
