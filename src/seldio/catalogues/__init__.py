"""The files of a source, each detected once and put into one group, for every verb.

A :class:`Catalogue` looks at bounded evidence of all files, once, and says of each what it is: labels, questions or
predictions of a format, a recording, a video, a table of words, what is read with labels, or none of these; with the
evidence, and with what speaks against it. What a verb does::

    with open_source(path, sink) as source:
        found = Catalogue(source, format, sink).parts()          # findings on formats; nothing is read as rows yet
        for part, partial in zip(found, parallel_map(work, found, size=attrgetter("size"))):
            total += partial                                     # work(part) calls part.labels(sink), part.items(sink)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import pyarrow as pa

from seldio import formats
from seldio.catalogues.look import (
    PARQUET_SUFFIX,
    Content,
    Detected,
    clip_names,
    detected,
    files_by_layout,
    in_utf8,
    is_table,
    named_like_labels,
    usable,
)
from seldio.catalogues.parts import NamedEntry, Part
from seldio.errors import InvalidData
from seldio.files import Entry, Source
from seldio.files.names import media_type
from seldio.files.sources import is_own, own_files
from seldio.findings import Finding, Sink
from seldio.formats import Format, LabelFormat, TextFile, named
from seldio.formats.detect import Wanted

if TYPE_CHECKING:
    from seldio.catalogues.groups import FileGroup, Kind
    from seldio.formats.items import ItemFormat
    from seldio.formats.own_dataset import OwnDatasets

#: Bytes of a part.
CUT = 8 << 20
#: Bytes of a data set whose files of questions are kept, once they have been looked at, until they are worked on.
HOLD = 16 << 20
#: Bytes that tell what a large file of JSON Lines is.
_HEAD = 1 << 16
_LINES = (".jsonl", ".ndjson")


class Catalogue:
    """The files of a source by what they are; the source stays open until all parts have been read.

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
        lent: what is said of itself by the dataset that the files are compared with; it counts where none of the
            source says anything.

    Raises:
        UsageError: no such format exists; and what *sink* raises.
        SeldioError: the disk fails.
    """

    def __init__(
        self, source: Source, format: Format | str | None = None, sink: Sink = lambda _: None, *,
        without: Path | None = None, wanted: Wanted | None = None,
        contents: Mapping[str, bytes] = MappingProxyType({}), labels: bool = True, lent: OwnDatasets | None = None,
    ) -> None:  # fmt: skip
        self.source, self.findings = source, list[Finding]()
        chosen = formats.asked(format) if isinstance(format, str) else format

        def take(finding: Finding) -> None:
            self.findings.append(finding)
            sink(finding)

        #: What the datasets of the source say of themselves; None where nothing says it.
        self.own = own = own_datasets(source, take) or (lent and lent.lent())
        kept = {} if without or chosen or own or contents else source.looks
        if labels not in kept:
            kept[labels] = _look_at(candidates(source, chosen, without, labels, own), source, chosen, contents, own)
        look: _FileEvidence = kept[labels]
        for finding in look.findings:
            take(finding)
        groups, self.lists = _labels_by_layout(look, chosen, wanted, take, own) if labels else ([], [])
        asked = [
            Part(tuple(NamedEntry(entry, entry.name, "") for entry in entries), name, named=chosen is not None)
            for name, entries in look.questions.items()
        ]
        #: One part for each format of labels, and one for what cannot be read.
        self.labels = [part.of(part.files, look.held) for part in groups]
        #: One part for each format of questions and of predictions.
        self.questions = [part.of(part.files, look.held) for part in asked]

    def parts(self, *, size: int = CUT, by_clip: bool = False) -> list[Part]:
        """Return the parts to work on: labels by format, then questions and predictions; unreadable files first.

        Args:
            size: bytes of a part; no file is split.
            by_clip: whether the label files of a format are in the order of their clips, whatever folders they are in.
        """
        labels = [run for part in self.labels for run in _runs(part, size, by_clip)]
        return labels + [run for part in self.questions for run in _runs(part, size)]

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
        from seldio.catalogues.groups import groups_of

        return groups_of(self)

    def of(self, *kinds: Kind) -> tuple[FileGroup, ...]:
        """The groups of some kinds."""
        return tuple(group for group in self.groups if group.kind in kinds)

    def table(self) -> pa.Table:
        """A row for each file: ``file``, ``kind``, ``format``, ``clip``, ``evidence``, ``certainty``, ``doubt``."""
        from seldio.catalogues.groups import as_table

        return as_table(self.groups)

    def __repr__(self) -> str:
        counts = (f"{len(one.files):,} {one.kind}" + f" ({one.format})" * bool(one.format) for one in self.groups)
        return f"Catalogue({self.source.path!r}: {', '.join(counts)})"

    def _repr_html_(self) -> str:
        from seldio.reports.notebook import rows_html

        names = ("files", "kind", "format", "evidence", "certainty", "doubt")
        rows = ((len(one.files), *(getattr(one, name) for name in names[1:])) for one in self.groups)
        return rows_html(repr(self), "groups of files", names, rows)


def _quiet(_: Finding) -> None:
    """A sink for what is said elsewhere."""


def own_datasets(source: Source, sink: Sink) -> OwnDatasets | None:
    """Return what the datasets of a source say of themselves; None where nothing describes them."""
    if not own_files(source):
        return None
    from seldio.formats.own_dataset import described

    return described(source, sink)


# --- one look at each file, at bounded evidence ----------------------------------------------------------


def candidates(
    source: Source, format: Format | None = None, without: Path | None = None, labels: bool = True,
    datasets: OwnDatasets | None = None,
) -> list[Entry]:  # fmt: skip
    """The files that may hold labels or questions, by their names; without *labels*, those that may hold questions."""
    if source.single or (labels and format is not None and format.holds != "events"):
        told = source.single and format is None  # a recording or video, by its name
        return [entry for entry in source if not is_own(entry) and not (told and media_type(entry.name))]
    own = format if labels else None

    def named(entry: Entry) -> bool:
        name = entry.name.lower()
        if format is not None and format.holds != "events" and name.endswith(".csv") and format.suffix != ".csv":
            return False  # labels beside questions
        if own is not None:
            return name.endswith(own.suffix)
        columns = datasets is not None and name.endswith(".tsv") and datasets.of(entry.name) is not None
        return columns or name.endswith(_LINES) or named_like_labels(entry)

    tables: tuple[Content, ...] = ("labels", "items", "damaged") if labels else ("items",)
    return [
        entry for entry in source
        if (named(entry)
            or ((format is None or not labels) and is_table(entry, *tables)))
        and not (without is not None and entry.local is not None and entry.local.is_relative_to(without))
    ]  # fmt: skip


def all_csv(source: Source) -> bool:
    """Return whether the labels and questions of a folder or archive can be in CSV files alone."""
    return not source.single and all(entry.name.lower().endswith(".csv") for entry in candidates(source))


@dataclasses.dataclass
class _FileEvidence:
    """The contents of files, and what they may be."""

    labels: list[tuple[Entry, TextFile]] = dataclasses.field(default_factory=list)  # or what may be some
    questions: dict[str, list[Entry]] = dataclasses.field(default_factory=dict)  # and predictions, by format
    held: dict[str, bytes] = dataclasses.field(default_factory=dict)  # the content of files, by path
    findings: list[Finding] = dataclasses.field(default_factory=list)  # about files that cannot be opened

    @cached_property
    def sound(self) -> list[TextFile]:
        """The files of labels in UTF-8 that are text."""
        return usable([file for _, file in self.labels], _quiet)

    @cached_property
    def detected(self) -> Detected:
        """Detect the format of these files together."""
        return detected(self.sound)


def _shown(entries: Sequence[Entry]) -> Iterable[Entry]:
    """*entries*, with progress where there are several."""
    if len(entries) < 2:
        return entries
    from seldio.progress import tracked

    return tracked(entries, "looking at files")


def _look_at(
    entries: Sequence[Entry], source: Source, format: Format | None, contents: Mapping[str, bytes],
    own: OwnDatasets | None = None,
) -> _FileEvidence:  # fmt: skip
    """Look at each of *entries* by itself; large questions need not be looked at where their format is named."""
    small = sum(max(entry.size, 0) for entry in entries) <= HOLD
    told = _FileEvidence()
    for entry in _shown(entries):
        named = format is not None and format.holds != "events" and not small
        given = contents.get(entry.path)
        try:
            whole, data = (True, given) if given is not None else _evidence(entry, small, named)
        except InvalidData as error:
            told.findings.append(error.finding)
            continue
        name = "stdin.csv" if entry.name == "<stdin>" else entry.name
        file = TextFile(entry.path, name, "", data)
        found = format
        if found is None and own is not None:
            found = own.layout(in_utf8(TextFile(entry.path, entry.name, "", data), _quiet), _quiet)
        found = found or file.told
        asks = found is not None and found.holds != "events"
        if found is not None and asks:
            told.questions.setdefault(found.name, []).append(entry)
        elif found is not None or source.single or name.lower().endswith((".csv", PARQUET_SUFFIX)):
            told.labels.append((entry, file))
        if whole and (small or not asks or given is not None):
            told.held[entry.path] = data
    return told


def _evidence(entry: Entry, small: bool, named: bool) -> tuple[bool, bytes]:
    """Whether it is all of a file that is read, and that; of large tables and lines what tells what they are.

    Raises:
        InvalidData: it is damaged or over a limit.
        SeldioError: the disk fails.
    """
    name = entry.name.lower()
    if named:
        return False, b""
    if not small and entry.on_disk and name.endswith(PARQUET_SUFFIX):
        from seldio.formats.parquet import footer_of

        with entry.open() as stream:
            return False, footer_of(stream)
    if small or not name.endswith(_LINES):
        return True, entry.read()
    with entry.open() as stream:
        head = stream.read(_HEAD)
    return False, head[: head.rfind(b"\n") + 1] or head


def _labels_by_layout(
    found: _FileEvidence, chosen: Format | None, wanted: Wanted | None, sink: Sink, own: OwnDatasets | None = None
) -> tuple[list[Part], list[Entry]]:
    """One part for each format, and one for what cannot be read; and the tables of words, which are passed over."""
    entries = {file.path: entry for entry, file in found.labels}
    clips = dict(zip(entries, clip_names([file.name for _, file in found.labels]), strict=True))

    def run(files: Iterable[TextFile]) -> tuple[NamedEntry, ...]:
        return tuple(NamedEntry(entries[file.path], file.name, clips[file.path]) for file in files)

    every = [file for _, file in found.labels]
    if isinstance(chosen, LabelFormat):
        names = (chosen.name, *chosen.aliases)
        name = next((name for name in names if named(name, LabelFormat) == chosen), chosen)
        tables = [(chosen, [file]) for file in every] if chosen.role == "table" else [(chosen, every)] * bool(every)
        if every and (own or chosen.own):
            from seldio.formats.own_dataset import given

            tables = [one for format, files in tables for one in given(format, own, files, sink)]
        return [Part(run(files), name if format is chosen else format, named=True) for format, files in tables], []
    groups = []
    if own:
        for layout, files, why in own.layouts([in_utf8(file, _quiet) for file in every], sink):
            groups.append(Part(run(files), layout, evidence=why))
        if left := [file for file in every if own.unread(file.name)]:
            groups.append(Part(run(left), undecided=True))
        mine = {file.entry.path for part in groups for file in part.files}
        every = [file for file in every if file.path not in mine]
    sound = usable(every, _quiet) if own else found.sound
    there = {file.path for file in sound}
    broken = [file for file in every if file.path not in there]
    groups += [Part(run(broken))] if broken else []
    as_they_are = {id(file) for file in every}
    together = detected(sound) if own else found.detected
    told = files_by_layout(together, sink, wanted, others=bool(found.questions))
    for layout, files, evidence, asked in told.layouts:
        whole = all(id(file) in as_they_are for file in files)
        for format, some in own.classes(layout, files, sink) if own else [(layout, files)]:
            known = layout.name if format is layout else format
            groups.append(Part(run(some), known, evidence=evidence, undecided=asked, _sound=whole))
        there -= {file.path for file in files}
    there -= {file.path for file in told.lists}
    if there:
        groups.append(Part(run(file for file in sound if file.path in there), undecided=True))
    return groups, [entries[file.path] for file in told.lists]


def _runs(part: Part, size: int, by_clip: bool = False) -> list[Part]:
    """A part some bytes at a time."""
    files = sorted(part.files, key=lambda file: file.clip) if by_clip else part.files
    if part.size <= size or len(files) < 2:  # most often, and then no engine is loaded
        return [part.of(files)] if files else []
    from seldio.parallel import cut

    return [part.of(run) for run in cut(files, size, attrgetter("size"))]
