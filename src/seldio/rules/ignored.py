"""LAY: what nobody looks at: files that are passed over, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.catalogues import FileGroup, leftover_groups
from seldio.files import Source
from seldio.files.names import suffix_of
from seldio.findings import Finding
from seldio.reader_rules import reader_rule
from seldio.rules.collection import Collection, MakeFinding
from seldio.text import listed, plural, printable

_ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.\w+|gz|bz2|xz|7z|rar)$")


def nothing_checked(source: Source, others: Sequence[FileGroup]) -> Finding:
    """Return the finding about a source in which there are only *others*, files that are passed over."""
    if not others:
        what, hint = "there is no file in it", "name the folder that holds the data"
    else:
        what, hint = _what_is_there(others, source.kind)
    return reader_rule("LAY118").at(source.path, f"nothing was checked: {what}", hint)


def why_no_labels(source: Source) -> str:
    """Return the reason to give where a source holds no labels."""
    if not source.entries:
        return ": there is no file in it"
    what, hint = _what_is_there(leftover_groups(source), source.kind)
    return f": {what}; {hint}"


def _what_is_there(groups: Iterable[FileGroup], kind: str) -> tuple[str, str]:
    """Return the files of a source of that kind of which nothing is read, counted, and what to do."""
    counts, hints = [], []
    for group in groups:
        entries, count = group.files, f"{plural(len(group.files), 'file')} {group.evidence}"
        if layout := " or ".join(group.like):
            looks, are = ("looks", "is") if len(entries) == 1 else ("look", "are")
            counts.append(f"{count}, which {looks} like labels ({layout}) but {are} not named *.csv")
            hints.append("rename them to .csv")
        elif all(_ARCHIVE.search(entry.name) for entry in entries):
            counts.append(f"{count}, {'an archive' if len(entries) == 1 else 'archives'} inside of this {kind}")
            hints.append(f"unpack {printable(entries[0].path)} first")
        else:
            counts.append(count)
    more = f"; and {plural(len(counts) - _KINDS, 'more kind')} of files" if len(counts) > _KINDS else ""
    hint = "; ".join(dict.fromkeys(hints)) or "labels are .csv, questions .json or .jsonl; seldio formats lists all"
    return f"{'; '.join(counts[:_KINDS])}{more}", hint


#: So many kinds of files are named.
_KINDS = 5


def labels_not_read(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    for group in collection.unread_labels:
        names = listed([entry.name.rpartition("/")[2] for entry in group.files])
        count = plural(len(group.files), f"file {group.evidence} is not read", f"files {group.evidence} are not read")
        yield finding(group.files[0].path, f"{count}, with rows like those of the labels next to them: {names}")


def packed_labels(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    packed = [entry for entry in collection.entries if suffix_of(entry.path) == "gz" != suffix_of(entry.name)]
    if packed and collection.kind == "folder":
        count = plural(len(packed), "file is", "files are")
        yield finding(collection.path, f"{count} compressed with gzip: seldio reads them, others may not")


UNREAD_RULES = (labels_not_read, packed_labels)
