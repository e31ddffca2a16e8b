"""All formats, in one explicit tuple; what the command line and the docs list is made from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from seldio import plugins, text
from seldio.errors import UnknownFormat
from seldio.formats import item_parquet, qa_csv, qa_json, ruenvaqa
from seldio.formats.audacity import AUDACITY
from seldio.formats.base import FileRows, Format, LabelFormat, LabelReading, Place, TextFile
from seldio.formats.dataset_tables import DATASET_TABLES
from seldio.formats.dcase_json import DCASE2026
from seldio.formats.dialects import DIALECTS
from seldio.formats.easycom import EASYCOM
from seldio.formats.elan import ELAN
from seldio.formats.harnesses import FORMATS as HARNESSES
from seldio.formats.items import ItemFormat
from seldio.formats.locata import LOCATA
from seldio.formats.parquet import PARQUET
from seldio.formats.raven import RAVEN
from seldio.formats.tool_json import JAMS, LABEL_STUDIO

if TYPE_CHECKING:
    import pyarrow as pa

_F = TypeVar("_F", bound=Format)

#: The layouts of tools that people mark sounds with.
TOOLS: tuple[LabelFormat, ...] = (AUDACITY, RAVEN, ELAN, LABEL_STUDIO, JAMS)
#: Those that are told by how a file begins: of tools, and of datasets with whole events in a table.
BY_CONTENT: tuple[LabelFormat, ...] = (*TOOLS, EASYCOM, LOCATA, *DATASET_TABLES)
#: Every layout of labels; their order decides between equals.
LABEL_FORMATS: tuple[LabelFormat, ...] = (*DIALECTS, *BY_CONTENT, DCASE2026, PARQUET)
_OUTSIDE = plugins.rows("item_formats", ItemFormat)
_TEXTS: tuple[ItemFormat, ...] = (*qa_json.FORMATS, *qa_csv.FORMATS, *ruenvaqa.FORMATS, *HARNESSES, *_OUTSIDE)
#: Every layout of questions and predictions.
ITEM_FORMATS: tuple[ItemFormat, ...] = (*_TEXTS, *item_parquet.formats(_TEXTS))
#: Every format, in the order of ``seldio formats``.
FORMATS: tuple[Format, ...] = (*LABEL_FORMATS, *ITEM_FORMATS)
#: A file is taken for a format that it looks like at least so much.
LIKELY = 0.5


def named(name: str, kind: type[_F]) -> _F | None:
    """The format of one *kind* called *name*, by its name or an alias; None where there is none."""
    for format in FORMATS:
        if isinstance(format, kind) and name == format.name:
            return format
        if isinstance(format, kind) and name in format.aliases:
            return format.under(name)
    return None


@overload
def get(name: str) -> LabelFormat: ...
@overload
def get(name: str, kind: type[_F]) -> _F: ...
def get(name: str, kind: type[Any] = LabelFormat) -> Any:
    """The format of one *kind* called *name*, by its name or an alias.

    Raises:
        UnknownFormat: there is none; the message says which one may be meant, or where they are listed.
    """
    format = named(name, kind)
    if format is None:
        raise unknown(name)
    return format


def unknown(name: str, more: Iterable[str] = ()) -> UnknownFormat:
    """The error for a name that no format has; *more*: what else it could mean."""
    close = text.meant(name, [*(name for format in FORMATS for name in (format.name, *format.aliases)), *more])
    return UnknownFormat(f"unknown format {name!r}{close or '; seldio formats lists those of labels and questions'}")


def meant(name: str, source: ItemFormat | None) -> ItemFormat | None:
    """The format of questions that *name* means as the target of *source*; None where it is one of labels.

    ``parquet`` is the table of labels, of questions or of predictions: of whatever the source holds.
    """
    return named(f"{source.holds}-parquet" if source is not None and name == PARQUET.name else name, ItemFormat)


def format_names() -> list[str]:
    """The names and aliases of all formats of labels."""
    return [name for format in LABEL_FORMATS for name in (format.name, *format.aliases)]


def format_of_file(data: bytes, name: str) -> Format | None:
    """The format that a file looks like most, by its content and its name; None where it looks like none.

    None of labels in csv, whose rows have to be looked at together (:func:`seldio.formats.recognise.files_by_layout`).
    """
    numbers = data[:2].lstrip(b'"')[:1].isdigit()  # no question begins so
    return _likeliest((format.likes(data, name), format) for format in (LABEL_FORMATS if numbers else FORMATS))


def of_table(schema: pa.Schema) -> ItemFormat | None:
    """The format of questions that a Parquet file looks like most, by its columns; None where it looks like none."""
    tables = (format for format in ITEM_FORMATS if isinstance(format, item_parquet.ItemParquet))
    return _likeliest((format.likes_table(schema), format) for format in tables)


def _likeliest(likes: Iterable[tuple[float, _F]]) -> _F | None:
    most, best = 0.0, None
    for likely, one in likes:
        if likely > most:
            most, best = likely, one
        if most >= 1:  # sure
            break
    return best if most >= LIKELY else None


__all__ = [
    "BY_CONTENT",
    "FORMATS",
    "ITEM_FORMATS",
    "LABEL_FORMATS",
    "PARQUET",
    "TOOLS",
    "FileRows",
    "Format",
    "ItemFormat",
    "LabelFormat",
    "LabelReading",
    "Place",
    "TextFile",
    "format_names",
    "format_of_file",
    "get",
    "meant",
    "named",
    "of_table",
]  # fmt: skip
