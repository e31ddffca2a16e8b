"""The files of a catalogue in groups: what each is, why, and what speaks against it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from seldio.catalogues.leftovers import leftovers
from seldio.catalogues.look import PARQUET_SUFFIX, content
from seldio.files import Entry, Source
from seldio.files.names import media_type
from seldio.files.sources import is_own
from seldio.formats import LabelFormat

if TYPE_CHECKING:
    from seldio.catalogues import Catalogue

Kind = Literal[
    "labels",
    "questions",
    "predictions",
    "recording",
    "video",
    "list",
    "description",
    "unreadable",
    "other",
]
#: How sure it is what files are: the user said so; what they hold says it; only their names do, or something else fits
#: less well; several things fit equally well.
Certainty = Literal["named", "sure", "likely", "undecided"]
_HOLDS: Mapping[str, Kind] = {"events": "labels", "items": "questions", "predictions": "predictions"}
#: What is told by its name, why, and how sure that is.
_BY_NAME: Mapping[Kind, tuple[str, Certainty]] = {
    "recording": ("its name", "likely"),
    "video": ("its name", "likely"),
    "description": ("says what the dataset is", "sure"),
}
#: Findings that say that several formats fit, or none.
_DOUBTS: Mapping[str, Certainty] = {
    "SYN902": "likely",
    "SYN901": "undecided",
    "SYN903": "undecided",
    "SYN114": "undecided",
}


@dataclasses.dataclass(frozen=True)
class FileGroup:
    """Files that are the same kind of thing, for the same reason."""

    kind: Kind
    format: str | None  # the name of their format; None where they have none, or none that can be told
    evidence: str  # why they are that; for files of no use, why they are passed over
    certainty: Certainty
    doubt: str  # what speaks against it, in a sentence; empty where nothing does
    files: tuple[Entry, ...]  # sorted by name
    like: tuple[str, ...] = ()  # formats of labels that files of no use look like
    clips: tuple[str, ...] | None = None  # the clip of each label file; None where their rows say which clips there are


def groups_of(found: Catalogue) -> tuple[FileGroup, ...]:
    """Every file of the source of a catalogue, each in one group."""
    told = [*_told(found)]
    return tuple(group for group in (*told, *_rest(found.source, told)) if group.files)


def _told(found: Catalogue) -> Iterator[FileGroup]:
    """The groups of labels, questions and predictions, and what is read with them."""
    doubts = {finding.path: finding for finding in reversed(found.findings) if finding.code in _DOUBTS}
    for part in (*found.labels, *found.questions):
        files = tuple(file.entry for file in part.files)
        about = next((doubts[one.path] for one in files if one.path in doubts), None)
        sure: Certainty = "named" if part.named else "sure" if about is None else _DOUBTS[about.code]
        kind, format = _HOLDS[part.format.holds] if part.format is not None else "labels", part.format
        broken = format is not None and format.suffix == PARQUET_SUFFIX and content(files[0]) == "damaged"
        if broken or (format is None and not part.undecided):
            kind, format, about = "unreadable", None, None
        why = "the format was named" if part.named else part.evidence
        if kind in ("questions", "predictions"):
            why = why or "its content and its name"
        by_name = isinstance(format, LabelFormat) and format.clips_by == "name" and format.role != "table"
        yield FileGroup(
            kind, None if format is None else format.name, "" if kind == "unreadable" else why, sure,
            "" if about is None else about.message, files, clips=tuple(f.clip for f in part.files) if by_name else None,
        )  # fmt: skip
    yield FileGroup("list", None, "with words instead of labels", "sure", "", tuple(found.lists))


def _rest(source: Source, told: Sequence[FileGroup]) -> Iterator[FileGroup]:
    """The groups of all other files, told from their names."""
    taken = {entry.path for group in told for entry in group.files}
    found: dict[Kind, list[Entry]] = {kind: [] for kind in (*_BY_NAME, "other")}
    for entry in source:
        if entry.path not in taken:
            type = media_type(entry.name)
            kind: Kind = "recording" if type == "audio" else type or ("description" if is_own(entry) else "other")
            found[kind].append(entry)
    for kind, (why, certainty) in _BY_NAME.items():
        yield FileGroup(kind, None, why, certainty, "", tuple(found[kind]))
    yield from leftover_groups(found["other"])


def leftover_groups(entries: Iterable[Entry]) -> Iterator[FileGroup]:
    """Files that are passed over, in groups that look alike."""
    for named, like, some in leftovers(entries):
        doubt = f"rows like those of labels ({' or '.join(like)}), but their names do not end in .csv" if like else ""
        yield FileGroup("other", None, named, "sure", doubt, tuple(some), like)


def as_table(groups: Sequence[FileGroup]) -> pa.Table:
    """A row for each file: ``file``, ``kind``, ``format``, ``clip``, ``evidence``, ``certainty``, ``doubt``."""
    rows = [
        {"file": entry.name, "kind": one.kind, "format": one.format,
         "clip": None if one.clips is None else one.clips[number], "evidence": one.evidence,
         "certainty": one.certainty, "doubt": one.doubt}
        for one in groups for number, entry in enumerate(one.files)
    ]  # fmt: skip
    names = ("file", "kind", "format", "clip", "evidence", "certainty", "doubt")
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in names]))
