"""All formats, in one explicit tuple; what the command line and the docs list is made from it."""

from __future__ import annotations

import dataclasses
from functools import cache

from seldio.errors import UnknownFormat
from seldio.formats.base import FileRows, Format, Place, Reading, TextFile
from seldio.formats.dcase_json import DCASE2026
from seldio.formats.dialects import DIALECTS
from seldio.formats.parquet import PARQUET
from seldio.text import meant

#: Every label format. Their order is that of ``seldio formats`` and decides between equals.
FORMATS: tuple[Format, ...] = (*DIALECTS, DCASE2026, PARQUET)


@cache
def get(name: str) -> Format:
    """The format called *name*, by its name or an alias.

    Raises:
        UnknownFormat: there is none; the message lists what there is.
    """
    for format in FORMATS:
        if name == format.name:
            return format
        if name in format.aliases:
            return dataclasses.replace(format, vocabulary=format.alias_vocabularies.get(name, format.vocabulary))
    from seldio.formats import item_formats

    close = meant(name, [*format_names(), *(other.name for other in item_formats.ITEM_FORMATS)])
    names = ", ".join(format.name for format in FORMATS)
    raise UnknownFormat(f"no format {name!r}{close or f'; there are {names}'}")


def format_names() -> list[str]:
    """The names and aliases of all formats of labels."""
    return [name for format in FORMATS for name in (format.name, *format.aliases)]


__all__ = ["FORMATS", "FileRows", "Format", "Place", "Reading", "TextFile", "format_names", "get"]
