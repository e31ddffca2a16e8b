"""LAY: what nobody looks at: files that are passed over, and why."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from seldio.catalogues.look import files_by_layout, usable
from seldio.errors import InvalidData
from seldio.files import Entry, Source
from seldio.findings import Finding
from seldio.formats import TextFile
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.text import listed, plural, printable

#: What labels are called where somebody else's program wrote them, or an editor kept a copy; none are read.
_TEXTS = re.compile(r"(?i)(\.(txt|tsv|dat|lab|labels?|ann|out|cvs)|\.csv[._~-]\w*|(^|/)[^./]+)$")
_ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.\w+|gz|bz2|xz|7z|rar)$")
#: A row of at least three cells, words or numbers, of which the last is a number. There is one way to read a line: a
#: pattern that may split blanks in many ways takes forever on prose.
_GAP = rb"(?:[ \t]++(?:[,;][ \t]*+)?|[,;][ \t]*+)"
_ROW = re.compile(rb"[ \t]*+(?:[-+.\w]++" + _GAP + rb"){2,}[-+]?\.?[0-9][-+.\w]*+[ \t]*+[,;]?[ \t]*+\r?")
_HEAD = 4096
#: So many files of one kind are looked at to say what they are.
_SAMPLE = 8


@dataclasses.dataclass(frozen=True)
class Ignored:
    """The files of a source that were passed over."""

    path: str  # the source as the user passed it
    kind: str  # file, folder, zip, tar, gzip or stdin
    entries: Sequence[Entry]
    alone: bool  # whether nothing else was there to be checked
    layouts: frozenset[str]  # those of the labels that were checked


@rule("LAY118", ERROR, explains="SUB101 SUB111")
def nothing_checked(ignored: Ignored, found: Found) -> Iterator[Finding]:
    """Nothing in the source was checked."""
    if not ignored.alone:
        return
    if not ignored.entries:
        yield found(ignored.path, "nothing was checked: there is no file in it", "name the folder that holds the data")
        return
    told, hint = _what_is_there(ignored.entries, ignored.kind)
    yield found(ignored.path, f"nothing was checked: {told}", hint)


def why_no_labels(source: Source) -> str:
    """The reason to give where a source holds no labels."""
    if not source.entries:
        return ": there is no file in it"
    told, hint = _what_is_there(source.entries, source.kind)
    return f": {told}; {hint}"


def _what_is_there(every: Sequence[Entry], kind: str) -> tuple[str, str]:
    """The files of a source of that kind of which nothing is read, counted, and what to do."""
    told, hints = [], []
    for (what, _), entries in grouped(every, _kind).items():
        count = f"{plural(len(entries), 'file')} {what}"
        if layout := " or ".join(_layouts(entries)):
            looks = "which looks" if len(entries) == 1 else "which look"
            told.append(f"{count}, {looks} like labels ({layout}) but {_is(entries)} not called .csv")
            hints.append("rename them to .csv")
        elif all(_ARCHIVE.search(entry.name) for entry in entries):
            told.append(f"{count}, {'an archive' if len(entries) == 1 else 'archives'} inside of this {kind}")
            hints.append(f"unpack {printable(entries[0].path)} first")
        else:
            told.append(count)
    more = f"; and {plural(len(told) - _KINDS, 'more kind')} of files" if len(told) > _KINDS else ""
    hint = "; ".join(dict.fromkeys(hints)) or "labels are .csv, questions .json or .jsonl; seldio formats lists all"
    return f"{'; '.join(told[:_KINDS])}{more}", hint


#: So many kinds of files are named.
_KINDS = 5


@rule("LAY119", ERROR)
def labels_not_read(ignored: Ignored, found: Found) -> Iterator[Finding]:
    """Files that hold labels and are not called so."""
    for (what, _), entries in () if ignored.alone else grouped(ignored.entries, _kind).items():
        if ignored.layouts.intersection(_layouts(entries)):
            names = listed([entry.name.rpartition("/")[2] for entry in entries])
            count = f"{plural(len(entries), 'file')} {what} {_is(entries)} not read"
            yield found(entries[0].path, f"{count}, with rows like those of the labels next to them: {names}",
                        "rename them to .csv, or move them elsewhere")  # fmt: skip


@rule("LAY120", WARNING)
def packed_labels(collection: Collection, found: Found) -> Iterator[Finding]:
    """Label files or results packed one by one."""
    packed = [entry for entry in collection.entries if _is_unpacked(entry)]
    if packed and collection.kind == "folder":
        message = (
            f"{plural(len(packed), 'file')} {_is(packed)} packed by gzip: seldio reads them, other programs do not"
        )
        yield found(collection.path, message, "unpack them with gunzip before you publish or submit them")


def _is_unpacked(entry: Entry) -> bool:
    """Whether a file of a folder is read as what is packed into it."""
    return entry.path.lower().endswith(".gz") and not entry.name.lower().endswith(".gz")


def _is(entries: Sequence[Entry]) -> str:
    return "is" if len(entries) == 1 else "are"


def _kind(entry: Entry) -> tuple[str, bool]:
    """How a file name ends, in words, and whether the file begins like labels."""
    stem, _, suffix = entry.name.rpartition("/")[2].rpartition(".")
    named = f"called .{printable(suffix)}" if stem and len(suffix) <= _SUFFIX else "without a suffix"
    return named, _text(entry) is not None


#: Characters of a suffix.
_SUFFIX = 12


def _layouts(entries: Sequence[Entry]) -> list[str]:
    """The layouts of labels that some files look like; empty where they do not look like any."""
    texts = [file for entry in entries[:_SAMPLE] if (file := _text(entry)) is not None]
    found = files_by_layout(usable(texts, lambda _: None), lambda _: None).layouts
    return [format.name for format, _, _ in found] or ["rows of numbers"] * bool(texts)


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
    name = re.sub(r"\.[^./]*$", "", entry.name) + ".csv"
    return TextFile(entry.path, name, "", b"\n".join(lines) + b"\n")
