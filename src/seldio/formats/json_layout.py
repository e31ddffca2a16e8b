"""How the text of a file of JSON records is laid out, so that writing it back gives the same bytes.

A file is a head, records with a joint between them, and a tail. What a layout cannot say of a record is kept, see
:class:`AsWritten`: an order of keys of its own, or else (``18`` for ``18.0``, odd spaces) its text.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from seldio.formats.json_text import dumps

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
    slashes: bool = False  # whether they are escaped too, as pandas does

    def styled(self, text: str, data: bytes) -> Layout:
        """This layout with the style of the file's first record."""
        escaped = b"\\u" in data and data.isascii() and _ESCAPED.search(data) is not None
        value = json.loads(text)
        found = _INDENT.match(text)
        base = self.lead.rpartition("\n")[2] if "\n" in self.lead else ""
        indent, eol = (found[2].removeprefix(base) or " ", found[1]) if found else (None, "\n")
        slashes = "\\/" in text
        style = dataclasses.replace(self, ascii=escaped, order=tuple(value), indent=indent, eol=eol, slashes=slashes)
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
        if self.indent is None and not self.ascii and not self.slashes:
            return self.lead + dumps(whole, separators=self.separators)
        dumps(whole)  # says what JSON cannot hold
        text = json.dumps(whole, indent=self.indent, separators=self.separators, ensure_ascii=self.ascii)
        text = text.replace("/", "\\/") if self.slashes else text
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
    known = {field.name: stored[field.name] for field in dataclasses.fields(Layout) if field.name in stored}
    known |= {name: tuple(known[name]) for name in ("separators", "order") if name in known}
    return dataclasses.replace(default, **known)


#: How one record is written: as the layout does it (None), with its keys in an order of its own (the number of that
#: order), or as a text.
How = str | int | None
#: Writes the rows of some numbers as a layout has them.
Rewrite = Callable[[Layout, list[int]], list[str]]


class AsWritten:
    """How records are written that a layout writes in another way, part of a file by part.

    The records go by a hash of what the layout would write; equal ones are distinguished by their order.
    """

    def __init__(self) -> None:
        self.layout: Layout | None = None
        self._frame = Layout()
        self._hashes: list[np.ndarray[Any, Any]] = []  # of what the layout would write
        self._rows = 0
        self._odd: dict[int, tuple[str, str | tuple[str, ...]]] = {}  # numbers of records: their hashes, how they are

    def laid_out(self, frame: Layout, first: str, data: bytes) -> Layout:
        """The layout of the file: the *frame* with the style of its *first* record."""
        self._frame = frame
        if self.layout is None and first:
            self.layout = frame.styled(first, data)
        return self.layout or frame

    def add(self, ours: Sequence[str], theirs: Sequence[str], rewrite: Rewrite) -> None:
        """Take note of records: their texts as the layout writes them (*ours*), and as the file has them."""
        odd = [number for number, (our, their) in enumerate(zip(ours, theirs, strict=True)) if our != their]
        if odd:
            hows = self._hows(odd, theirs, rewrite)
            self._odd |= {self._rows + number: (_digest(ours[number]), hows[number]) for number in odd}
        self._hashes.append(np.fromiter(map(hash, ours), np.int64, len(ours)))
        self._rows += len(ours)

    def _hows(self, odd: Sequence[int], theirs: Sequence[str], rewrite: Rewrite) -> dict[int, str | tuple[str, ...]]:
        """The order of keys of each *odd* record, where the layout writes it with that; else its text."""
        assert self.layout is not None
        alike: dict[tuple[str, ...], list[int]] = {}
        for number in odd:
            alike.setdefault(tuple(json.loads(theirs[number])), []).append(number)
        hows: dict[int, str | tuple[str, ...]] = {number: theirs[number] for number in odd}
        for keys, numbers in alike.items():
            if keys != self.layout.order:
                texts = rewrite(dataclasses.replace(self.layout, order=keys), numbers)
                hows |= {number: keys for number, text in zip(numbers, texts, strict=True) if text == theirs[number]}
        return hows

    def origin(self) -> dict[str, object]:
        """What a writer wants back of all records: their layout, and how odd ones are written."""
        kept: dict[str, list[How]] = {}
        orders: dict[tuple[str, ...], int] = {}
        if self._odd:
            hashes = np.concatenate(self._hashes)
            digests = {int(hashes[number]): digest for number, (digest, _) in self._odd.items()}
            for number in np.flatnonzero(np.isin(hashes, list(digests))).tolist():
                _, how = self._odd.get(number, ("", None))
                told = orders.setdefault(how, len(orders)) if isinstance(how, tuple) else how
                kept.setdefault(digests[int(hashes[number])], []).append(told)
        layout = dataclasses.replace(self.layout or self._frame, tail=self._frame.tail)
        return {"layout": dataclasses.asdict(layout), "as_written": kept, "orders": list(orders)}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=9).hexdigest()


def is_sound(origin: Mapping[str, Any]) -> bool:
    """Whether :func:`written` can follow what an origin says of single records."""
    kept, orders = origin.get("as_written", {}), origin.get("orders", [])
    if not isinstance(orders, list) or not isinstance(kept, dict):
        return False

    def is_how(how: object) -> bool:
        return how is None or isinstance(how, str) or (type(how) is int and 0 <= how < len(orders))

    whole = all(isinstance(order, list) and all(isinstance(key, str) for key in order) for order in orders)
    return whole and all(isinstance(hows, list) and hows and all(map(is_how, hows)) for hows in kept.values())


def written(
    layout: Layout, ours: list[str], origin: Mapping[str, Any], rewrite: Rewrite, used: Counter[str]
) -> list[str]:
    """The texts of records, as the file had them that *origin* came from; *ours* are as the layout writes them.

    Files of earlier versions name records by their texts. *used* counts how often each was written before.
    """
    given = origin.get("as_written")
    kept: Mapping[str, list[How]] = given if isinstance(given, Mapping) else {}
    if not kept:
        return ours
    orders = [dataclasses.replace(layout, order=tuple(order)) for order in origin.get("orders", ())]
    reordered: dict[int, list[int]] = {}
    found = list(ours)
    for number, text in enumerate(ours):
        key = text if text in kept else _digest(text)
        theirs = kept.get(key)
        how = theirs[min(used[key], len(theirs) - 1)] if theirs else None
        used[key] += 1
        if isinstance(how, str):
            found[number] = how
        elif how is not None:
            reordered.setdefault(how, []).append(number)
    for how, numbers in reordered.items():
        for number, text in zip(numbers, rewrite(orders[how], numbers), strict=True):
            found[number] = text
    return found
