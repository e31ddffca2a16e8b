"""The files of a source, each detected once and put into one group, for every verb.

A :class:`Catalogue` looks at bounded evidence of all files, once, and says of each what it is: labels, questions or
predictions of a format, a recording, a video, a table of words, what is read with labels, or none of these; with the
evidence, and with what speaks against it. What a verb does::

    with open_source(path, sink) as source:
        catalogue = Catalogue(source, format, sink)     # findings on formats; nothing is read as rows yet
        for part in (*catalogue.labels, *catalogue.questions):
            ...                                         # calls part.labels(sink), part.items(sink)
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import pyarrow as pa

from seldio import formats
from seldio.catalogues.look import (
    PARQUET_SUFFIX,
    Alike,
    Content,
    content,
    detected,
    files_by_layout,
    in_utf8,
    named_like_labels,
    usable,
)
from seldio.catalogues.parts import NamedEntry, Part
from seldio.errors import InvalidData
from seldio.files import Entry, Source
from seldio.files.names import media_type, without_suffix, written_suffix
from seldio.files.sources import is_own, own_files
from seldio.findings import Finding, Sink
from seldio.formats import Format, LabelFormat, TextFile, stem_of
from seldio.progress import tracked
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.scores.seld.join import Wanted

#: Bytes of a data set whose files of questions are kept, once they have been looked at, until they are worked on.
HOLD = 16 << 20
#: Bytes that tell what a large file of JSON Lines is.
_HEAD = 1 << 16
_LINES = (".jsonl", ".ndjson")


def _ignore(_: Finding) -> None:
    """Take what is reported elsewhere."""


class Catalogue:
    """The files of a source by what they are.

    Args:
        source: a single file is always taken for labels, questions or predictions; of many, those that are called like
            one, and JSON only if it begins like one.
        format: the format of all files; found from their content if not given.
        sink: takes what is found about formats, and about files that cannot be opened. What is wrong inside of a file
            is found when it is read.
        without: a folder on disk that is left out.
        wanted: what decides between formats that the content leaves.
        contents: what to take instead of the files on disk, by shown path.
        labels: whether files of labels are wanted as well as those of questions and predictions.
        described: what is said of itself by the dataset that the files are compared with; it counts where none of the
            source says anything.

    Raises:
        UsageError: no such format exists; and what *sink* raises.
        SeldioError: the disk fails.
    """

    def __init__(
        self,
        source: Source,
        format: Format | str | None = None,
        sink: Sink = lambda _: None,
        *,
        without: Path | None = None,
        wanted: Wanted | None = None,
        contents: Mapping[str, bytes] = MappingProxyType({}),
        labels: bool = True,
        described: OwnDatasets | None = None,
    ) -> None:
        self.source, self.findings = source, list[Finding]()
        chosen = formats.of_questions(format) or formats.get(format) if isinstance(format, str) else format

        def take(finding: Finding) -> None:
            self.findings.append(finding)
            sink(finding)

        #: What the datasets of the source say of themselves; None where nothing says it.
        self.said = own_datasets(source, take)
        #: The same, or what *described* says.
        self.own = datasets = self.said or (described and described.for_other_files())
        looks = {} if without or chosen or datasets or contents else source.looks
        if labels not in looks:
            files = candidates(source, chosen, without, labels, datasets)
            looks[labels] = _look_at(files, source, chosen, contents, datasets)
        look: _Look = looks[labels]
        for finding in look.findings:
            take(finding)
        #: One part for each format of labels, and one for what cannot be read.
        self.labels: list[Part] = []
        #: The tables of words, which are passed over.
        self.lists: list[Entry] = []
        if labels and isinstance(chosen, LabelFormat):
            self.labels = _of_one_format(look, chosen, datasets, take)
        elif labels:
            self.labels, self.lists = _by_format(look, wanted, take, datasets)
        #: One part for each format of questions and of predictions.
        self.questions = [
            look.part((NamedEntry(entry, entry.name, "") for entry in entries), format, named=chosen is not None)
            for format, entries in look.questions.values()
        ]

    @property
    def asked(self) -> ItemFormat | None:
        """The format of questions or predictions; of several, that of the first file; None where there are none."""
        return cast("ItemFormat", self.questions[0].format) if self.questions else None

    @property
    def undecided(self) -> bool:
        """Whether there are files that may be labels, of which nothing tells the format."""
        return any(part.undecided for part in self.labels)

    @cached_property
    def groups(self) -> tuple[FileGroup, ...]:
        """Every file of the source, each in one group."""
        return tuple(group for group in _groups(self) if group.files)

    def of(self, *kinds: Kind) -> tuple[FileGroup, ...]:
        """Return the groups of some kinds."""
        return tuple(group for group in self.groups if group.kind in kinds)

    def table(self) -> pa.Table:
        """Return a row by file: ``file``, ``kind``, ``format``, ``clip``, ``evidence``, ``certainty``, ``doubt``."""
        alike = ("kind", "format", "evidence", "certainty", "doubt")
        rows = [
            {"file": entry.name, "clip": clip} | {name: getattr(group, name) for name in alike}
            for group in self.groups
            for entry, clip in zip(group.files, group.clips or [None] * len(group.files), strict=True)
        ]
        names = ("file", "kind", "format", "clip", "evidence", "certainty", "doubt")
        return pa.Table.from_pylist(rows, schema=pa.schema([(name, pa.string()) for name in names]))

    def __repr__(self) -> str:
        labels = [f"{group.kind} ({group.format})" if group.format else group.kind for group in self.groups]
        counts = (f"{len(group.files):,} {label}" for group, label in zip(self.groups, labels, strict=True))
        return f"Catalogue({self.source.path!r}: {', '.join(counts)})"


def own_datasets(source: Source, sink: Sink) -> OwnDatasets | None:
    """Return what the datasets of a source say of themselves; None where nothing describes them."""
    if not own_files(source):
        return None
    from seldio.formats.own_dataset import described

    return described(source, sink)


# --- one look at each file, at bounded evidence ----------------------------------------------------------


def candidates(
    source: Source,
    format: Format | None = None,
    without: Path | None = None,
    labels: bool = True,
    datasets: OwnDatasets | None = None,
) -> list[Entry]:
    """Return the files that may hold labels or questions, by name; without *labels*, those that may hold questions."""
    of_items = format is not None and format.holds != "events"
    if source.single or (labels and of_items):
        by_name = source.single and format is None  # a recording or video
        return [entry for entry in source if not is_own(entry) and not (by_name and media_type(entry.name))]
    tables: tuple[Content, ...] = ("labels", "items", "damaged") if labels else ("items",)
    entries = []
    for entry in source:
        name = entry.name.lower()
        if (format is None or not labels) and name.endswith(PARQUET_SUFFIX) and content(entry) in tables:
            may_hold = True
        elif of_items and format is not None and name.endswith(".csv") and format.suffix != ".csv":
            may_hold = False  # labels beside questions
        elif labels and format is not None:
            may_hold = name.endswith(format.suffix)
        else:
            columns = datasets is not None and name.endswith(".tsv") and datasets.of(entry.name) is not None
            may_hold = columns or name.endswith(_LINES) or named_like_labels(entry)
        entries += [entry] * may_hold
    if without is None:
        return entries
    return [entry for entry in entries if entry.real is None or not Path(entry.real).is_relative_to(without)]


def all_csv(source: Source) -> bool:
    """Return whether the labels and questions of a folder or archive can be in CSV files alone."""
    return not source.single and all(entry.name.lower().endswith(".csv") for entry in candidates(source))


@dataclasses.dataclass
class _Look:
    """The contents of files, and what they may be."""

    labels: list[tuple[Entry, TextFile]] = dataclasses.field(default_factory=list)  # or what may be some
    #: files of questions and predictions, by the name of their format
    questions: dict[str, tuple[Format, list[Entry]]] = dataclasses.field(default_factory=dict)
    held: dict[str, bytes] = dataclasses.field(default_factory=dict)  # the content of files, by path
    findings: list[Finding] = dataclasses.field(default_factory=list)  # about files that cannot be opened

    @cached_property
    def named(self) -> dict[str, NamedEntry]:
        """The files of labels by path, with the clips that they are called after: with folders where stems repeat."""
        stems = [stem_of(posixpath.basename(file.name)) for _, file in self.labels]
        counts, entries = Counter(stems), dict[str, NamedEntry]()
        for (entry, file), stem in zip(self.labels, stems, strict=True):
            clip = stem_of(file.name) if counts[stem] > 1 else stem
            if not clip.isascii():  # a table holds text; bytes of a name that are not UTF-8 are escaped
                clip = clip.encode(errors="backslashreplace").decode()
            entries[file.path] = NamedEntry(entry, file.name, clip)
        return entries

    def part(self, files: Iterable[TextFile | NamedEntry], format: Format | None = None, **facts: Any) -> Part:
        """Return files of one format, with their content where it is held."""
        entries = [self.named[file.path] if isinstance(file, TextFile) else file for file in files]
        return Part((), format, **facts).of(entries, self.held)

    @cached_property
    def detected(self) -> list[Alike]:
        """The files of labels that are text, and what they are."""
        return detected(usable([file for _, file in self.labels], _ignore))


def _look_at(
    entries: Sequence[Entry],
    source: Source,
    format: Format | None,
    contents: Mapping[str, bytes],
    datasets: OwnDatasets | None,
) -> _Look:
    """Look at each of *entries* by itself: of large files of lines, at what tells what they are.

    Large questions need not be looked at where their format is named.
    """
    small = sum(max(entry.size, 0) for entry in entries) <= HOLD
    look = _Look()
    for entry in tracked(entries, "looking at files") if len(entries) > 1 else entries:
        name, given, whole = entry.name.lower(), contents.get(entry.path), True
        try:
            if given is not None:
                data = given
            elif format is not None and format.holds != "events" and not small:
                whole, data = False, b""
            elif not small and name.endswith(_LINES):
                with entry.open() as stream:
                    head = stream.read(_HEAD)
                whole, data = False, head[: head.rfind(b"\n") + 1] or head
            else:
                data = entry.read()
        except InvalidData as error:
            look.findings.append(error.finding)
            continue
        file = TextFile(entry.path, "stdin.csv" if entry.name == "<stdin>" else entry.name, "", data)
        likely = format
        if likely is None and datasets is not None and (dataset := datasets.of(entry.name)) is not None:
            likely = dataset.layout(in_utf8(TextFile(entry.path, entry.name, "", data), _ignore), _ignore)
        likely = likely or file.told
        asks = likely is not None and likely.holds != "events"
        if likely is not None and asks:
            look.questions.setdefault(likely.name, (likely, []))[1].append(entry)
        elif likely is not None or source.single or file.name.lower().endswith((".csv", PARQUET_SUFFIX)):
            look.labels.append((entry, file))
        if whole and (small or not asks or given is not None):
            look.held[entry.path] = data
    return look


# --- labels by format ------------------------------------------------------------------------------------


def _of_one_format(look: _Look, chosen: LabelFormat, datasets: OwnDatasets | None, sink: Sink) -> list[Part]:
    """Return all files as labels of the format that the user named; each table of many clips is a part of its own."""
    every = [file for _, file in look.labels]
    groups = [(chosen, [file]) for file in every] if chosen.role == "table" else [(chosen, every)] * bool(every)
    if every and (datasets or chosen.own):
        from seldio.formats.own_dataset import given

        groups = [group for format, files in groups for group in given(format, datasets, files, sink)]
    return [look.part(files, format, named=True) for format, files in groups]


def _by_format(
    look: _Look, wanted: Wanted | None, sink: Sink, datasets: OwnDatasets | None
) -> tuple[list[Part], list[Entry]]:
    """Return a part for each format, and one for what cannot be read; and the tables of words."""
    parts = list[Part]()
    every = [file for _, file in look.labels]
    if datasets:
        for layout, files, why in datasets.layouts([in_utf8(file, _ignore) for file in every], sink):
            parts.append(look.part(files, layout, evidence=why))
        if unread := [file for file in every if datasets.unread(file.name)]:
            parts.append(look.part(unread, undecided=True))
        taken = {file.entry.path for part in parts for file in part.files}
        every = [file for file in every if file.path not in taken]
    together = detected(usable(every, _ignore)) if datasets else look.detected
    left_over = {file.path for group in together for file in group.files}
    if broken := [file for file in every if file.path not in left_over]:
        parts.append(look.part(broken))
    layouts, lists = files_by_layout(together, sink, wanted, others=bool(look.questions))
    left_over -= {file.path for file in lists}
    for layout, members, evidence, asked in layouts:
        left_over -= {file.path for file in members}
        for format, files in datasets.classes(layout, members, sink) if datasets else [(layout, members)]:
            parts.append(look.part(files, format, evidence=evidence, undecided=asked))
    if left_over:
        parts.append(look.part((file for file in every if file.path in left_over), undecided=True))
    return parts, [look.named[file.path].entry for file in lists]


# --- every file in one group -----------------------------------------------------------------------------

Kind = Literal["labels", "questions", "predictions", "recording", "video", "list", "description", "unreadable", "other"]
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


def _groups(catalogue: Catalogue) -> Iterator[FileGroup]:
    """Yield the groups of labels, questions and predictions, what is read with them, and the others by their names."""
    doubts = {finding.path: finding for finding in reversed(catalogue.findings) if finding.code in _DOUBTS}
    used_paths = {entry.path for entry in catalogue.lists}
    for part in (*catalogue.labels, *catalogue.questions):
        files = tuple(file.entry for file in part.files)
        used_paths |= {entry.path for entry in files}
        about = next((doubts[entry.path] for entry in files if entry.path in doubts), None)
        sure: Certainty = "named" if part.named else "sure" if about is None else _DOUBTS[about.code]
        kind, format = _HOLDS[part.format.holds] if part.format is not None else "labels", part.format
        broken = format is not None and format.suffix == PARQUET_SUFFIX and content(files[0]) == "damaged"
        if broken or (format is None and not part.undecided):
            yield FileGroup("unreadable", None, "", "named" if part.named else "sure", "", files)
            continue
        why = "the format was named" if part.named else part.evidence
        if kind in ("questions", "predictions"):
            why = why or "its content and its name"
        by_name = isinstance(format, LabelFormat) and format.clips_by == "name" and format.role != "table"
        clips = tuple(file.clip for file in part.files) if by_name else None
        doubt = "" if about is None else about.message
        yield FileGroup(kind, None if format is None else format.name, why, sure, doubt, files, clips=clips)
    yield FileGroup("list", None, "with words instead of labels", "sure", "", tuple(catalogue.lists))
    by_kind: dict[Kind, list[Entry]] = {kind: [] for kind in (*_BY_NAME, "other")}
    for entry in catalogue.source:
        if entry.path not in used_paths:
            type = media_type(entry.name)
            kind = "recording" if type == "audio" else type or ("description" if is_own(entry) else "other")
            by_kind[kind].append(entry)
    for kind, (why, certainty) in _BY_NAME.items():
        yield FileGroup(kind, None, why, certainty, "", tuple(by_kind[kind]))
    yield from leftover_groups(by_kind["other"])


# --- files that are passed over --------------------------------------------------------------------------

#: What labels are called where somebody else's program wrote them, or an editor kept a copy; none are read.
_TEXTS = re.compile(r"(?i)(\.(txt|tsv|dat|lab|labels?|ann|out|cvs)|\.csv[._~-]\w*|(^|/)[^./]+)$")
#: A row of at least three cells, words or numbers, of which the last is a number. There is one way to read a line: a
#: pattern that may split blanks in many ways takes forever on prose.
_GAP = rb"(?:[ \t]++(?:[,;][ \t]*+)?|[,;][ \t]*+)"
_ROW = re.compile(rb"[ \t]*+(?:[-+.\w]++" + _GAP + rb"){2,}[-+]?\.?[0-9][-+.\w]*+[ \t]*+[,;]?[ \t]*+\r?")
#: Bytes of a file that are looked at, and how many files of one kind.
_BEGINNING, _SAMPLE = 4096, 8
#: Characters of a suffix.
_SUFFIX = 12


def leftover_groups(entries: Iterable[Entry]) -> Iterator[FileGroup]:
    """Yield files that are passed over, in groups that look alike, with the formats that their rows look like."""
    kinds: dict[tuple[str, bool], tuple[list[Entry], list[TextFile]]] = {}
    for entry in entries:
        suffix, text = written_suffix(entry.name), _as_labels(entry)
        named = f"ending in .{printable(suffix)}" if suffix and len(suffix) <= _SUFFIX else "without a suffix"
        files, texts = kinds.setdefault((named, text is not None), ([], []))
        files.append(entry)
        texts += [text] if text is not None and len(texts) < _SAMPLE else []
    for (named, _), (files, texts) in kinds.items():
        layouts = files_by_layout(detected(usable(texts, _ignore)), _ignore)[0] if texts else ()
        like = tuple(format.name for format, _, _, asked in layouts if not asked) or ("rows of numbers",) * bool(texts)
        doubt = f"rows like those of labels ({' or '.join(like)}), but their names do not end in .csv" if like else ""
        yield FileGroup("other", None, named, "sure", doubt, tuple(files), like)


def _as_labels(entry: Entry) -> TextFile | None:
    """Return the head of a file, as if it were called .csv, where it has rows like those of labels."""
    if not _TEXTS.search(entry.name):
        return None
    try:
        head = entry.head(_BEGINNING)
    except InvalidData:
        return None
    lines = [line for line in head.split(b"\n")[: -1 if len(head) == _BEGINNING else None] if line.strip()]
    if not lines or not all(_ROW.fullmatch(line) for line in lines[1:] or lines):
        return None
    return TextFile(entry.path, f"{without_suffix(entry.name)}.csv", "", b"\n".join(lines) + b"\n")
