"""All formats: where each stands, how its files begin, and what it is called; it is loaded when a file may be of it.

What lists formats (``seldio formats``, completion, names that are meant) reads :func:`index`, which loads none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

from seldio import plugins, text
from seldio.errors import UnknownFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from seldio.formats.base import FileRows, Format, LabelFormat, LabelReading, Place, TextFile
    from seldio.formats.items import ItemFormat
    from seldio.formats.parquet import ParquetFormat

    PARQUET: ParquetFormat
    FORMATS: tuple[Format, ...]
    LABEL_FORMATS: tuple[LabelFormat, ...]
    TOOLS: tuple[LabelFormat, ...]
    ITEM_FORMATS: tuple[ItemFormat, ...]

_F = TypeVar("_F", bound="Format")

#: A file is taken for a format that it looks like at least so much.
LIKELY = 0.5
#: Bytes at the beginning of a file that are looked at.
_LOOK = 1 << 16
_JSON = rb"\A(\xef\xbb\xbf)?\s*[\[{]"
_HEADER = rb"\A(\xef\xbb\xbf)?[\s\"']*[^\d\s\[{]"


class Home(NamedTuple):
    """A module with formats, and what is true of each of their files, so that others are told without loading it."""

    module: str
    table: str  # the format, or the tuple of formats, in it
    holds: str  # labels of a tool, labels, or items
    head: bytes  # a pattern that the first bytes hold, wherever one of the formats is likely; empty if none ever is
    name: str = ""  # or a pattern that the name holds

    def may_hold(self, data: bytes, name: str) -> bool:
        """Return whether a file can be of one of the formats; *data* is its content, or the beginning of it."""
        if self.name and re.search(self.name, name):
            return True
        look = re.match if self.head.startswith(rb"\A") else re.search  # a search tries an anchor everywhere
        return bool(self.head) and look(self.head, data[:_LOOK]) is not None

    def formats(self) -> tuple[Format, ...]:
        """Return the formats, loaded."""
        table = getattr(import_module(f"seldio.formats.{self.module}"), self.table)
        return table if isinstance(table, tuple) else (table,)


#: Every format, in the order of ``seldio formats``, which decides between equals.
HOMES = (
    Home("dialects", "DIALECTS", "labels", b""),  # their rows tell, together
    Home("tool_tables", "FORMATS", "tool", rb"\t"),
    Home("elan", "ELAN", "tool", rb"<ANNOTATION_DOCUMENT", r"(?i)\.eaf\Z"),
    Home("tool_json", "FORMATS", "tool", _JSON, r"(?i)\.jams\Z"),
    Home("dcase_json", "DCASE2026", "labels", _JSON, r"(?i)(?:^|[/_])mix\d+[^/]*_(?:std|inference)\.json$"),
    Home("parquet", "PARQUET", "labels", rb"\APAR1"),
    Home("json_items", "FORMATS", "items", _JSON),
    Home("qa_csv", "FORMATS", "items", _HEADER),
    Home("mera", "FORMATS", "items", _JSON),
    Home("harnesses", "FORMATS", "items", _JSON, r"(?i)\.eval\Z"),
    Home("item_parquet", "FORMATS", "items", rb"\APAR1"),
)


class ListedFormat(NamedTuple):
    """The index entry of a format, known without loading it; ``make index`` writes it into ``formats/index.json``."""

    name: str
    aliases: Sequence[str]
    title: str
    holds: str  # events, items or predictions
    suffix: str
    home: str  # the module that it stands in; empty for those from outside
    also: Sequence[str] = ()
    stem: str = ""

    @classmethod
    def of(cls, format: Format, home: str = "") -> ListedFormat:
        """Return the listing of a format that is loaded."""
        first = (format.name, format.aliases, format.title, format.holds, format.suffix, home)
        return cls(*first, format.also, format.stem)


@cache
def index() -> tuple[ListedFormat, ...]:
    """Return all formats, in the order of ``seldio formats``."""
    rows: Any = json.loads(Path(__file__).with_name("index.json").read_bytes())  # make index writes it
    rows = ([tuple(cell) if isinstance(cell, list) else cell for cell in row] for row in rows)
    listed = tuple(ListedFormat(*row) for row in rows)
    if not (plugins.data_folders() or plugins.entry_points("formats")):
        return listed
    by_name = {format.name: format for format in listed}
    return tuple(by_name.get(format.name) or ListedFormat.of(format) for format in _every())


def _outside() -> tuple[Format, ...]:
    """Return the formats of installed packages."""
    from seldio.formats.base import Format

    return plugins.added("formats", Format)


def _every(*holds: str) -> tuple[Any, ...]:
    """Return all formats that hold something, loaded; those of installed packages come last."""
    homes = (home.formats() for home in HOMES if not holds or home.holds in holds)
    labels, items = ("labels" in holds or not holds), ("items" in holds or not holds)
    return (*chain(*homes), *(each for each in _outside() if (labels if each.holds == "events" else items)))


_TABLES = {"FORMATS": (), "LABEL_FORMATS": ("labels", "tool"), "TOOLS": ("tool",), "ITEM_FORMATS": ("items",)}
_CLASSES = dict.fromkeys(("FileRows", "Format", "LabelFormat", "LabelReading", "Place", "TextFile"), "base")
_CLASSES |= {"ItemFormat": "items", "PARQUET": "parquet"}


def __getattr__(name: str) -> Any:
    if name in _TABLES:
        value: Any = _every(*_TABLES[name])
    elif name in _CLASSES:
        value = getattr(import_module(f"seldio.formats.{_CLASSES[name]}"), name)
    else:
        raise AttributeError(f"module 'seldio.formats' has no attribute {name!r}")
    globals()[name] = value
    return value


def _named(name: str) -> Iterator[Format]:
    """Yield the formats with this name or alias; one with this alias is then called by it."""
    if name.startswith("fields:"):
        from seldio.formats import own_keys

        yield own_keys.named(name)
    elif name.endswith(".toml"):
        from seldio.formats import own_dataset

        yield own_dataset.in_file(name)
    for listed in index():
        if name == listed.name or name in listed.aliases:
            home = next((home for home in HOMES if home.module == listed.home), None)
            formats = home.formats() if home else _every()
            format = next(format for format in formats if format.name == listed.name)
            yield format if name == listed.name else format.under(name)


def named(name: str, kind: type[_F]) -> _F | None:
    """Return the format of one *kind* called *name*, by its name or an alias; None where there is none."""
    return next((format for format in _named(name) if isinstance(format, kind)), None)


def of_questions(name: str) -> ItemFormat | None:
    """Return the format of questions or predictions called *name*, if there is one; no other is loaded to see that."""
    return next((cast("ItemFormat", format) for format in _named(name) if format.holds != "events"), None)


@overload
def get(name: str) -> LabelFormat: ...
@overload
def get(name: str, kind: type[_F]) -> _F: ...
def get(name: str, kind: type[Any] | None = None) -> Any:
    """Return the format of one *kind*, of labels by default, called *name*, by its name or an alias.

    Raises:
        UnknownFormat: there is none; the message says which one may be meant, or where they are listed.
    """
    from seldio.formats.base import LabelFormat

    format = named(name, kind or LabelFormat)
    if format is None:
        raise unknown(name)
    return format


def unknown(name: str, more: Iterable[str] = ()) -> UnknownFormat:
    """Return the error for a name that no format has; *more*: what else it could mean."""
    from seldio.files.sources import OWN, on_disk

    if on_disk(name, OWN) is not None:
        return UnknownFormat(f"unknown format {name!r}; did you mean {name.rstrip('/')}/{OWN}?")
    close = text.meant(name, [*(name for listed in index() for name in (listed.name, *listed.aliases)), *more])
    return UnknownFormat(f"unknown format {name!r}{close or '; seldio formats lists those of labels and questions'}")


def stem_of(name: str) -> str:
    """Return a file name without its suffix, and without what else files of a format have in their names."""
    folder, slash, last = name.rpartition("/")
    first, _, suffix = last.rpartition(".")
    if not first:
        return name
    for listed in index():
        if listed.stem and f".{suffix.lower()}" in (listed.suffix, *listed.also):
            first = re.sub(listed.stem, "", first)
    return folder + slash + first


def format_of_file(data: bytes, name: str) -> Format | None:
    """Return the format that a file looks like most, by its content and its name; None where it looks like none.

    None of labels in csv, whose rows have to be looked at together (:func:`seldio.catalogues.look.files_by_layout`).
    """
    numbers = data[:2].lstrip(b'"')[:1].isdigit()  # no question begins so
    homes = [home for home in HOMES if not (numbers and home.holds == "items") and home.may_hold(data, name)]
    formats = [format for home in homes for format in home.formats()]
    formats += (each for each in _outside() if not numbers or each.holds == "events")
    return _likeliest((format.likes(data, name), format) for format in formats)


def of_table(schema: pa.Schema) -> ItemFormat | None:
    """Return the format of questions that the columns of a Parquet file look like most; None where like none."""
    from seldio.formats.item_parquet import FORMATS

    return _likeliest((format.likes_table(schema), format) for format in FORMATS)


def _likeliest(likes: Iterable[tuple[float, _F]]) -> _F | None:
    most, best = 0.0, None
    for likely, format in likes:
        if likely > most:
            most, best = likely, format
        if most >= 1:  # sure
            break
    return best if most >= LIKELY else None


__all__ = [
    "FORMATS",
    "HOMES",
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
    "format_of_file",
    "get",
    "index",
    "named",
    "of_table",
    "stem_of",
]
