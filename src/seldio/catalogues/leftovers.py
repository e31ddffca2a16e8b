"""Files that are passed over: what they are called, and whether they hold labels under another name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.catalogues.look import detected, files_by_layout, usable
from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import without_suffix, written_suffix
from seldio.formats import TextFile
from seldio.text import printable

#: What labels are called where somebody else's program wrote them, or an editor kept a copy; none are read.
_TEXTS = re.compile(r"(?i)(\.(txt|tsv|dat|lab|labels?|ann|out|cvs)|\.csv[._~-]\w*|(^|/)[^./]+)$")
#: A row of at least three cells, words or numbers, of which the last is a number. There is one way to read a line: a
#: pattern that may split blanks in many ways takes forever on prose.
_GAP = rb"(?:[ \t]++(?:[,;][ \t]*+)?|[,;][ \t]*+)"
_ROW = re.compile(rb"[ \t]*+(?:[-+.\w]++" + _GAP + rb"){2,}[-+]?\.?[0-9][-+.\w]*+[ \t]*+[,;]?[ \t]*+\r?")
_HEAD = 4096
#: So many files of one kind are looked at to say what they are.
_SAMPLE = 8
#: Characters of a suffix.
_SUFFIX = 12


def leftovers(entries: Iterable[Entry]) -> Iterator[tuple[str, tuple[str, ...], list[Entry]]]:
    """Yield each kind of file in words, the formats of labels that its files look like, and the files."""
    kinds: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        suffix = written_suffix(entry.name)
        named = f"called .{printable(suffix)}" if suffix and len(suffix) <= _SUFFIX else "without a suffix"
        kinds.setdefault((named, _text(entry) is not None), []).append(entry)
    for (named, _), some in kinds.items():
        yield named, tuple(_layouts(some)), some


def _layouts(entries: Sequence[Entry]) -> list[str]:
    """The formats of labels that some files look like; empty where they do not look like any."""
    texts = [file for entry in entries[:_SAMPLE] if (file := _text(entry)) is not None]
    found = files_by_layout(detected(usable(texts, lambda _: None)), lambda _: None).layouts
    return [layout.format.name for layout in found if not layout.asked] or ["rows of numbers"] * bool(texts)


def _text(entry: Entry) -> TextFile | None:
    """The head of a file, as if it were called .csv, where it has rows like those of labels."""
    if not _TEXTS.search(entry.name):
        return None
    try:
        head = entry.head(_HEAD)
    except InvalidData:
        return None
    lines = [line for line in head.split(b"\n")[: -1 if len(head) == _HEAD else None] if line.strip()]
    if not lines or not all(_ROW.fullmatch(line) for line in lines[1:] or lines):
        return None
    return TextFile(entry.path, f"{without_suffix(entry.name)}.csv", "", b"\n".join(lines) + b"\n")
