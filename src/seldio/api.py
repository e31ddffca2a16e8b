"""The verbs of the package in Python: read, write and convert, from paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from seldio.convert import convert as _convert
from seldio.convert import read_tables
from seldio.errors import UsageError
from seldio.files import write_bytes
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.schema.events import origin_of


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
        raise UsageError(f"{os.fspath(path)} holds {found}: name one folder, or say format=")
    return tables[0][0]
