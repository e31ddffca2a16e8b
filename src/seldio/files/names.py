"""Names passed over, and names that other systems (``SAF109``) or WebDataset (``SAF111``) take otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from operator import attrgetter

from seldio.files.entries import Entry
from seldio.files.problems import problem
from seldio.findings import Sink
from seldio.text import hides, listed, plural

#: Skipped in folders and archives, as is every name that begins with a dot.
SKIPPED = frozenset({"__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini"})

_ON_WINDOWS = {
    "holds a character that Windows forbids": re.compile(r"[<>:|?*\\]"),
    "ends in a dot or space, which Windows drops": re.compile(r"[. ](/|$)"),
    "is kept for a device on Windows": re.compile(r"(?i)(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.[^/]*)?(/|$)"),
}


def hidden(name: str) -> bool:
    """Whether a file or folder of this name is passed over."""
    return name.startswith(".") or name in SKIPPED


def checked(entries: Iterable[Entry], sink: Sink) -> tuple[Entry, ...]:
    """The entries sorted by name; a warning for each name that fails on other systems."""
    ordered = tuple(sorted(entries, key=attrgetter("name")))
    alike: dict[str, list[Entry]] = {}
    for entry in ordered:
        if fault := name_fault(entry.name):
            sink(problem("SAF109", entry.path, f"The name {fault}"))
        alike.setdefault(unicodedata.normalize("NFC", entry.name).casefold(), []).append(entry)
    for same in alike.values():
        if len(same) > 1:
            names = listed([ascii(entry.name) for entry in same])
            what = f"{names} differ only in case or Unicode form"
            sink(problem("SAF109", same[-1].path, what))
    return ordered


def name_fault(name: str) -> str | None:
    """Why other systems may refuse *name* or mix it up; None where they do not."""
    if hides(name):
        broken = any("\ud800" <= character <= "\udfff" for character in name)
        return "is not UTF-8" if broken else "holds control, invisible or text-reversing characters"
    if any(len(part.encode()) > 255 for part in name.split("/")):
        return "is longer than 255 bytes"
    return next((fault for fault, pattern in _ON_WINDOWS.items() if pattern.search(name)), None)


def check_keys(path: str, entries: Iterable[Entry], sink: Sink) -> None:
    """A warning if WebDataset would cut names short."""
    names = [entry.name for entry in entries if entry.name.rpartition("/")[2].count(".") > 1]
    if names:
        what = f"More than one dot in {plural(len(names), 'name')} ({listed(names)})"
        sink(problem("SAF111", path, what))
