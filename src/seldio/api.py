"""The verbs of the package in Python: read and write, from and to paths."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from seldio.conversion import convert_source as convert
from seldio.conversion import read_tables
from seldio.conversion import tables as conversion
from seldio.conversion.inputs import Input
from seldio.conversion.losses import NOTHING
from seldio.conversion.outputs import write_tables
from seldio.errors import UsageError
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.schema.events import origin_of

__all__ = ["convert", "read", "write"]


def read(path: str | os.PathLike[str], *, format: str | None = None) -> pa.Table:
    """Read the labels of a file, folder, archive or standard input (``-``) into one event table.

    Args:
        path: what to read.
        format: the layout; found from the content if not given.

    Returns:
        One row for each active source in each label frame, with the columns that the files carry (see
        :data:`seldio.schema.events.COLUMNS`): angles in degrees, azimuth counter-clockwise (+90 is
        left), distances in metres. Clips without rows are in the metadata.

    Raises:
        InvalidData: the first thing wrong, with file, line and column.
        UnknownFormat: the content does not tell the layout; the message names the candidates.
        UsageError: nothing has that name, or the files have several layouts.
        SeldioError: the disk fails.
    """
    tables = read_tables(path, format=format, sink=raise_errors)
    if len(tables) != 1:
        found = ", ".join(source.name for _, source in tables) or "no labels"
        raise UsageError(f"{os.fspath(path)} holds {found}: name one folder of one layout, or say format=")
    return tables[0][0]


def write(
    table: pa.Table,
    path: str | os.PathLike[str],
    format: str,
    *,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
) -> tuple[str, ...]:
    """Write an event table: one file for one clip, a folder for several, or one Parquet file.

    Args:
        table: an event table; :func:`read` gives one, :func:`seldio.from_events` makes one.
        path: the file or folder.
        format: the layout to write.
        allow_loss: fields whose loss is accepted; ``all`` for every one.
        fill: values for fields that the layout needs and the table lacks, by field.

    Returns:
        The paths written.

    Raises:
        LossError: the layout cannot carry a field that the table has.
        UsageError: the layout needs a field that the table lacks.
        SeldioError: the disk fails.
    """
    target = get(format)
    done = conversion.convert(table, get("parquet"), target, allow_loss=allow_loss, fill=fill)
    single = len(origin_of(done.table).files) == 1
    return write_tables([done.table], target, os.fspath(path), Input("the table", [], single, 0, 0, []))
