"""How the text of a file of JSON records is laid out, so that writing it back gives the same bytes.

A file is a head, records with a joint between them, and a tail. What a layout cannot say of a record (its
own order of keys, ``18`` for ``18.0``, odd spaces) is kept as the record's text in :class:`AsWritten`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seldio.formats.json_text import dumps

_SEPARATORS = ((", ", ": "), (",", ":"), (",", ": "), (", ", ":"))
_INDENT = re.compile(r"[{\[](\r?\n)([ \t]*)(?=\S)")
_ESCAPED = re.compile(rb"\\u(?!00[0-7])")


@dataclasses.dataclass(frozen=True)
class Layout:
    """How records become a file.

    Args:
        head: the text before the records.
        lead: what stands before each record.
        joint: what stands between two records, before the lead of the second.
        tail: the text behind the records.
        indent: of a level inside a record; None for all on one line.
        separators: behind a value and behind a key.
        ascii: whether other characters are escaped.
        order: of the keys of a record; others stand behind.
        eol: the line end inside records with an indent.
    """

    head: str = ""
    lead: str = ""
    joint: str = "\n"
    tail: str = "\n"
    indent: str | None = None
    separators: tuple[str, str] = (", ", ": ")
    ascii: bool = False
    order: tuple[str, ...] = ()
    eol: str = "\n"

    def styled(self, text: str, data: bytes) -> Layout:
        """This layout with the style of the file's first record."""
        escaped = b"\\u" in data and data.isascii() and _ESCAPED.search(data) is not None
        value = json.loads(text)
        found = _INDENT.match(text)
        indent, eol = (_unit(self.lead, found[2]), found[1]) if found else (None, "\n")
        style = dataclasses.replace(self, ascii=escaped, order=tuple(value), indent=indent, eol=eol)
        styles = (dataclasses.replace(style, separators=pair) for pair in _SEPARATORS if not indent or pair[0] == ",")
        default = dataclasses.replace(style, separators=(",", ": ") if indent else (", ", ": "))
        return next((style for style in styles if style.record(value) == style.lead + text), default)

    def record(self, record: Mapping[str, Any]) -> str:
        """The text of a record, with its lead.

        Raises:
            InvalidData: JSON cannot hold it.
        """
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


def _unit(lead: str, inner: str) -> str:
    """The indent of one level, where a record's keys are indented by *inner*."""
    base = lead.rpartition("\n")[2] if "\n" in lead else ""
    return inner.removeprefix(base) or " "


def layout_of(given: object, default: Layout) -> Layout:
    """The layout that an origin describes, or the default of the format."""
    if not isinstance(given, Mapping):
        return default
    known = {field.name: given[field.name] for field in dataclasses.fields(Layout) if field.name in given}
    known |= {name: tuple(known[name]) for name in ("separators", "order") if name in known}
    return dataclasses.replace(default, **known)


class AsWritten:
    """The texts of records that a layout writes in another way, by what it would write.

    Equal records are told apart by their order.
    """

    def __init__(self) -> None:
        #: the texts of the file, by the text that the layout gives
        self.texts: dict[str, list[str]] = {}
        self._seen: Counter[int] = Counter()

    def add(self, ours: str, theirs: str) -> None:
        """Take note of a record that the layout writes as *ours* and the file as *theirs*."""
        if ours in self.texts:
            self.texts[ours].append(theirs)
        elif ours != theirs:
            self.texts[ours] = [ours] * self._seen[hash(ours)] + [theirs]
        self._seen[hash(ours)] += 1


def restored(texts: Iterable[str], given: object) -> Iterator[str]:
    """*texts*, as the file had them that the ``as_written`` of an origin came from."""
    kept: Mapping[str, list[str]] = given if isinstance(given, Mapping) else {}
    used: Counter[str] = Counter()
    for text in texts:
        theirs = kept.get(text)
        yield text if not theirs else theirs[min(used[text], len(theirs) - 1)]
        if theirs:
            used[text] += 1
