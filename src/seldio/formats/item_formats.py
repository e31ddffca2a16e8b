"""All formats of questions and predictions, in one explicit tuple."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from seldio import plugins
from seldio.errors import UnknownFormat
from seldio.formats import item_parquet, qa_csv, qa_json, ruenvaqa
from seldio.formats.items import ItemFormat

if TYPE_CHECKING:
    import pyarrow as pa

_OUTSIDE = plugins.rows("item_formats", ItemFormat)  # type: ignore[type-abstract]  # only to look at what they are
_TEXTS: tuple[ItemFormat, ...] = (*qa_json.FORMATS, *qa_csv.FORMATS, *ruenvaqa.FORMATS, *_OUTSIDE)
#: Their order is that of ``seldio formats``.
ITEM_FORMATS: tuple[ItemFormat, ...] = (*_TEXTS, *item_parquet.formats(_TEXTS))
#: The name of the label tables; of questions, one of their own tables is meant.
PARQUET = "parquet"
#: A file is taken for a format that it looks like at least so much.
LIKELY = 0.5


def named(name: str) -> ItemFormat | None:
    """The item format called *name*, by its name or an alias; None where there is none."""
    return next((format for format in ITEM_FORMATS if name in (format.name, *format.aliases)), None)


def meant(name: str, source: ItemFormat | None) -> ItemFormat | None:
    """The item format that *name* means as the target of *source*; None where it is one of labels.

    ``parquet`` is the table of labels, of questions or of predictions: of whatever the source holds.
    """
    holds = f"{source.holds}-{PARQUET}" if source is not None and name == PARQUET else name
    return named(holds)


def get(name: str) -> ItemFormat:
    """The item format called *name*.

    Raises:
        UnknownFormat: there is none; the message lists what there is.
    """
    format = named(name)
    if format is None:
        raise UnknownFormat(f"no format {name!r}; there are {', '.join(format.name for format in ITEM_FORMATS)}")
    return format


def recognise(data: bytes, name: str) -> ItemFormat | None:
    """The format that a file looks like most, by its content; None where it looks like none.

    A file that begins with a number, in quotes or not, holds labels.
    """
    if data[:2].lstrip(b'"')[:1].isdigit():
        return None
    return _likeliest((format.likes(data, name), format) for format in ITEM_FORMATS)


def of_table(schema: pa.Schema) -> ItemFormat | None:
    """The format that a Parquet file looks like most, by its columns; None where it looks like none."""
    tables = [format for format in ITEM_FORMATS if isinstance(format, item_parquet.ItemParquet)]
    return _likeliest((format.likes_table(schema), format) for format in tables)


def _likeliest(likes: Iterable[tuple[float, ItemFormat]]) -> ItemFormat | None:
    most, best = max(likes, key=lambda pair: pair[0])
    return best if most >= LIKELY else None
