"""LAY: what nobody looks at: files that are passed over, and why."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence

from seldio.catalogues import FileGroup, leftover_groups
from seldio.files import Source
from seldio.findings import Finding
from seldio.rules.collection import Collection, Found
from seldio.text import listed, plural, printable

_ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.\w+|gz|bz2|xz|7z|rar)$")


@dataclasses.dataclass(frozen=True)
class Ignored:
    """The files of a source that were passed over."""

    path: str  # the source as the user passed it
    kind: str  # file, folder, zip, tar, gzip or stdin
    groups: Sequence[FileGroup]
    alone: bool  # whether nothing else was there to be checked


def nothing_checked(ignored: Ignored, found: Found) -> Iterator[Finding]:
    if not ignored.alone:
        return
    if not ignored.groups:
        yield found(ignored.path, "nothing was checked: there is no file in it", "name the folder that holds the data")
        return
    told, hint = _what_is_there(ignored.groups, ignored.kind)
    yield found(ignored.path, f"nothing was checked: {told}", hint)


def why_no_labels(source: Source) -> str:
    """The reason to give where a source holds no labels."""
    if not source.entries:
        return ": there is no file in it"
    told, hint = _what_is_there(leftover_groups(source), source.kind)
    return f": {told}; {hint}"


def _what_is_there(groups: Iterable[FileGroup], kind: str) -> tuple[str, str]:
    """The files of a source of that kind of which nothing is read, counted, and what to do."""
    told, hints = [], []
    for group in groups:
        entries, count = group.files, f"{plural(len(group.files), 'file')} {group.evidence}"
        if layout := " or ".join(group.like):
            looks, are = ("looks", "is") if len(entries) == 1 else ("look", "are")
            told.append(f"{count}, which {looks} like labels ({layout}) but {are} not named *.csv")
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


def labels_not_read(collection: Collection, found: Found) -> Iterator[Finding]:
    for group in collection.unread_labels:
        names = listed([entry.name.rpartition("/")[2] for entry in group.files])
        count = plural(len(group.files), f"file {group.evidence} is not read", f"files {group.evidence} are not read")
        yield found(group.files[0].path, f"{count}, with rows like those of the labels next to them: {names}")


def packed_labels(collection: Collection, found: Found) -> Iterator[Finding]:
    packed = [entry for entry in collection.entries if entry.unpacked]
    if packed and collection.kind == "folder":
        count = plural(len(packed), "file is", "files are")
        yield found(collection.path, f"{count} compressed with gzip: seldio reads them, others may not")


IGNORED_RULES = (nothing_checked,)
UNREAD_RULES = (labels_not_read, packed_labels)
