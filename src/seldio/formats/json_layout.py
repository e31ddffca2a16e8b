"""The layout of JSON records (head, joint, tail, indentation, order of keys), kept when they are written back."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from seldio.errors import InvalidData
from seldio.formats.json_text import dumps

_STORED = (str, bool, list, tuple, type(None))
_SEPARATORS = ((", ", ": "), (",", ":"), (",", ": "), (", ", ":"))
_INDENT = re.compile(r"[{\[](\r?\n)([ \t]*)(?=\S)")
_ESCAPED = re.compile(rb"\\u(?!00[0-7])")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How records become a file."""

    head: str = ""  # the text before the records
    lead: str = ""  # what stands before each record
    joint: str = "\n"  # what stands between two records, before the lead of the second
    tail: str = "\n"  # the text behind the records
    indent: str | None = None  # of a level inside a record; None for all on one line
    separators: tuple[str, str] = (", ", ": ")  # behind a value and behind a key
    ascii: bool = False  # whether other characters are escaped
    order: tuple[str, ...] = ()  # of the keys of a record; others stand behind
    eol: str = "\n"  # the line end inside records with an indent
    numbered: bool = False  # whether all ids are numbers

    def styled(self, text: str, data: bytes) -> Layout:
        """This layout with the style of the file's first record."""
        escaped = data.isascii() and _ESCAPED.search(data) is not None
        try:
            value = json.loads(text)
            dumps(value)
        except (ValueError, InvalidData):
            value = None
        if not isinstance(value, dict):
            return self  # a finding says that it is no record, or what JSON cannot hold
        indented = _INDENT.match(text)
        base = self.lead.rpartition("\n")[2] if "\n" in self.lead else ""
        indent, eol = (indented[2].removeprefix(base) or " ", indented[1]) if indented else (None, "\n")
        style = dataclasses.replace(self, ascii=escaped, order=tuple(value), indent=indent, eol=eol)
        styles = (dataclasses.replace(style, separators=pair) for pair in _SEPARATORS if not indent or pair[0] == ",")
        default = dataclasses.replace(style, separators=(",", ": ") if indent else (", ", ": "))
        return next((style for style in styles if style.record(value) == style.lead + text), default)

    def record(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record, with its lead; raise InvalidData if JSON cannot hold it."""
        first = {key: record[key] for key in self.order if key in record}
        whole = {**first, **record} if first else record
        if self.indent is None and not self.ascii:
            return self.lead + dumps(whole, separators=self.separators)
        dumps(whole)  # says what JSON cannot hold
        text = json.dumps(whole, indent=self.indent, separators=self.separators, ensure_ascii=self.ascii)
        base = self.lead.rpartition("\n")[2]
        return self.lead + text.replace("\n", self.eol + base)

    def file(self, records: list[str]) -> str:
        """The file of the texts of its records."""
        if not records:
            return f"{self.head}{self.tail}" if self.head else ""
        return f"{self.head}{self.joint.join(records)}{self.tail}"

    @property
    def single(self) -> bool:
        """Whether the file is one record and has no place for others."""
        return not self.joint


def layout_of(stored: object, default: Layout) -> Layout:
    """The layout that an origin describes, or the default of the format."""
    if not isinstance(stored, Mapping):
        return default
    values = {field.name: stored[field.name] for field in dataclasses.fields(Layout) if field.name in stored}
    values |= {name: tuple(values[name]) for name in ("separators", "order") if name in values}
    return dataclasses.replace(default, **values)


def is_sound(origin: Mapping[str, Any]) -> bool:
    """Return whether :func:`layouts_by_id` can follow what an origin says of single records."""
    orders, order_of, numbers = origin.get("orders", []), origin.get("order_of", {}), origin.get("numbers", [])
    if not isinstance(orders, list) or not isinstance(order_of, dict) or not isinstance(numbers, list):
        return False
    layout = dataclasses.asdict(layout_of(origin.get("layout"), Layout()))
    if not all(isinstance(value, _STORED) for value in layout.values()) or not all(
        isinstance(id, str) for id in numbers
    ):
        return False
    whole = all(isinstance(order, list | tuple) and all(isinstance(key, str) for key in order) for order in orders)
    return whole and all(type(number) is int and 0 <= number < len(orders) for number in order_of.values())


def layouts_by_id(layout: Layout, origin: Mapping[str, Any]) -> dict[str | None, Layout]:
    """Return the layouts of rows whose keys have an order of their own."""
    layouts = [dataclasses.replace(layout, order=tuple(order)) for order in origin.get("orders", ())]
    return {id: layouts[number] for id, number in (origin.get("order_of") or {}).items()}
