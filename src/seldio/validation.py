"""Check files: from a path to a report that counts everything and stops at nothing."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from seldio import item_validation, rules
from seldio.conversion.inputs import reopened
from seldio.engines import each
from seldio.files import Entry, Source, read_entries
from seldio.files.sources import Lookup
from seldio.findings import RECORDS_SINGLY, Finding, Report, Sink, gathered
from seldio.formats import Format, TextFile, get, item_formats
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.mera_submission import SUBMISSION
from seldio.formats.recognise import SUFFIXES, Recognised, clip_names, is_annotations, read_files
from seldio.formats.tables import is_table
from seldio.formats.trees import read_tree
from seldio.item_validation import AnyReference, Chosen
from seldio.label_validation import check_labels, check_large, large_labels
from seldio.line_validation import check_large as check_lines
from seldio.line_validation import large_files
from seldio.reference import load
from seldio.rules.audio import check_recordings
from seldio.rules.collection import Collection, Reference
from seldio.rules.deep import check_fit
from seldio.rules.item_audio import check_items
from seldio.rules.package import Package, is_package, systems
from seldio.rules.tree_media import is_sound, is_video
from seldio.rules.video import check_videos
from seldio.settings import Settings

Path = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Examined:
    """What was found, and the tables it was found in.

    Args:
        report: every finding, sorted by file, line and column, and the number of files read.
        recognised: the label files by layout, read.
        items: the files with questions or predictions, read.
        local: the files on disk behind shown paths; members of archives are not among them.
    """

    report: Report
    recognised: tuple[Recognised, ...]
    items: tuple[ItemReading, ...]
    local: Mapping[str, str]


def validate(
    path: Path,
    *,
    format: str | None = None,
    reference: AnyReference | Path = None,
    settings: Settings | None = None,
    deep: bool = False,
) -> Report:
    """Check a file, folder, archive or standard input (``-``).

    Args:
        path: what to check.
        format: the layout of all label files; found from their content if not given.
        reference: the clips to expect, or the questions that are answered: a path, a range such as
            ``mix001..mix078``, or what :func:`seldio.reference.load` makes of one.
        settings: which rules count, and how much; all of them by default.
        deep: listen to all recordings, decode all videos, and hold labels against the sound; it takes its time.

    Returns:
        Every finding, sorted by file, line and column, with the number of files read.

    Raises:
        UsageError: nothing has that name, no such format exists, or the reference is of the wrong kind.
        SeldioError: the disk fails.
    """
    expected = load(os.fspath(reference)) if isinstance(reference, str | os.PathLike) else reference
    return examine(path, format=format, reference=expected, settings=settings, deep=deep, rows=False).report


def examine(
    path: Path | Source,
    *,
    format: str | None = None,
    reference: AnyReference = None,
    settings: Settings | None = None,
    changed: Mapping[str, bytes] | None = None,
    deep: bool = False,
    rows: bool = True,
) -> Examined:
    """Like :func:`validate`, and keep the tables that were read.

    Args:
        path: what to check; a source that is open stays so.
        changed: contents to take in place of those on disk, by shown path.
        deep: look at the whole of recordings and videos as well.
        rows: keep all that was read, however much memory it takes.
    """
    found: list[Finding] = []
    asked = item_formats.named(format) if format is not None else None
    told = get(format) if format is not None and asked is None else None
    with reopened(path, found.append) as source:
        large = [] if rows or asked is not None else large_labels(source, told)
        lines = [] if rows or asked is not None or told is not None or reference is not None else large_files(source)
        rest = _without(source, [*large, *(entry for entry, _ in lines)])
        files = _text_files(rest, told, asked, found.append, changed or {})
        questions = _questions(files, told, asked)
        meant = asked is SUBMISSION
        package = None if told else item_validation.submission_of(source, files, questions, reference, meant)
        inside = package is not None
        if package is not None:
            questions = item_validation.files_of(package, files, questions)
        look = Lookup(source)
        apart = not (rows or inside or reference) and source.kind == "folder"  # nothing else looks at the rows
        read = [] if apart else [_check_items(*one, found.append, look, reference, inside) for one in questions]
        if apart:
            _check_apart(questions, look, found.extend)
        check_lines(lines, look, found.append)
        items = [reading for reading in read if reading is not None]
        taken = {file.path for file, _ in questions}
        labels = [] if asked is not None or (inside and _alone(source)) else _labels(files, taken, source, told)
        if package is not None:
            item_validation.check_submission(package, tuple(found), found.append)
        if package is None or isinstance(reference, Reference):
            item_validation.check_kind(source.path, reference, read, bool(labels or large))
        clips = reference if isinstance(reference, Reference) else None
        listening = look if deep else None
        thin = check_large(large, told, clips, found.append, deep=deep) if large else []
        recognised, count = _check(source, labels, told, clips, found.append, bool(questions or lines), listening, thin)
        count += len(large) + len(lines) + (len(questions) or int(inside))
        local = {entry.path: str(entry.local) for entry in source if entry.local is not None}
    report = Report(files=count)
    report.add((settings or Settings()).applied(gathered(dict.fromkeys(found), RECORDS_SINGLY)))
    return Examined(report, tuple(recognised), tuple(items), local)


def _check(
    source: Source,
    labels: list[TextFile],
    told: Format | None,
    reference: Reference | None,
    sink: Sink,
    asked: bool,
    listening: Lookup | None,
    thin: Sequence[Recognised] = (),
) -> tuple[list[Recognised], int]:
    """Check the labels and recordings of an open source; return what was recognised, and how many files were read.

    With *listening*, which finds recordings of labels that came alone, recordings are listened to as well. The labels
    of *thin* have been checked each by itself.
    """
    package = systems(_collection(source, (), reference)) if is_package(source.entries) else None
    groups = _by_system(labels, package) if package is not None else [labels]
    every: list[Recognised] = []
    for group in groups:
        recognised = read_files(group, sink, told)
        every += recognised
        # a package names its clips itself: SUB213
        skip = () if package is None else ("SUB101", "SUB111")
        mixed = _check_set(_collection(source, [*recognised, *thin], reference), skip, sink)
        for item in recognised:
            check_labels(item.reading, _except_rows_of(mixed, sink), told=item.told, reference=reference)
    if package is None:
        every += thin
        return every, len(labels) + _check_tree(source, _collection(source, every, reference), sink, asked, listening)
    rules.run(package, sink)
    return every, len(labels) + len(package.metas)


def _collection(source: Source, recognised: Sequence[Recognised], reference: Reference | None) -> Collection:
    readings = [item.reading for item in recognised]
    return Collection(source.path, source.kind, source.entries, readings, reference, source.stored)


def _text_files(
    source: Source, told: Format | None, asked: ItemFormat | None, sink: Sink, changed: Mapping[str, bytes]
) -> list[TextFile]:
    """The files that may hold labels or questions: in a folder those with the right suffix, a single file always."""
    every = _alone(source) or asked is not None
    suffixes = (told.suffix,) if told is not None else (*SUFFIXES, ".jsonl")
    entries = [
        entry for entry in source
        if every or entry.name.lower().endswith(suffixes)
        or (told is None and is_table(entry, "labels", "items", "damaged"))
    ]  # fmt: skip
    if source.kind == "file" and told is None and asked is None:
        entries = [entry for entry in entries if not (is_sound(entry.name) or is_video(entry.name))]
    chosen = Source(source.path, source.kind, tuple(entries))
    clips = dict(zip((entry.name for entry in entries), clip_names([entry.name for entry in entries]), strict=True))
    return [
        TextFile(entry.path, entry.name, clips[entry.name], changed.get(entry.path, data))
        for entry, data in read_entries(chosen, sink)
    ]


def _without(source: Source, entries: Sequence[Entry]) -> Source:
    """The source without some of its files."""
    those = {entry.name for entry in entries}
    return Source(source.path, source.kind, tuple(e for e in source if e.name not in those)) if those else source


def _alone(source: Source) -> bool:
    return len(source.entries) == 1 and source.kind in ("file", "gzip", "stdin")


def _questions(
    files: Sequence[TextFile], told: Format | None, asked: ItemFormat | None
) -> list[tuple[TextFile, ItemFormat]]:
    """The files that hold questions or predictions of them; those that begin with a number are labels."""
    if told is not None:
        return []
    found = [(file, asked or _item_format(file)) for file in files]
    return [(file, format) for file, format in found if format is not None]


def _item_format(file: TextFile) -> ItemFormat | None:
    return None if is_annotations(file) else item_formats.recognise(file.data, file.name)


def _labels(files: Sequence[TextFile], questions: set[str], source: Source, told: Format | None) -> list[TextFile]:
    """The files that are left for labels."""
    rest = [file for file in files if file.path not in questions]
    if told is not None or _alone(source):
        return rest
    return [file for file in rest if file.name.lower().endswith((".csv", ".parquet")) or is_annotations(file)]


def _check_items(
    file: TextFile, format: ItemFormat, sink: Sink, look: Lookup, reference: AnyReference = None, inside: bool = False
) -> ItemReading | None:
    """Read questions or predictions, and run their rules; *inside*: of a submission to MERA."""
    reading = format.read(file.data, file.path, item_validation.task_sink(file.name, reference, inside, sink))
    if reading is None:
        return None
    for finding in check_items(reading, partial(look.find, name=file.name)):
        sink(finding)
    item_validation.check_predictions(reading, file.name, reference, inside, sink)
    return reading


def _check_apart(questions: Sequence[Chosen], look: Lookup, take: Callable[[list[Finding]], None]) -> None:
    """Check files of questions, each by itself, and keep none of them."""
    named = [(file, format.name) for file, format in questions]
    for found in each(_Alone(_Rows(look)), named, what="checking questions", size=lambda one: len(one[0].data)):
        take(found)


@dataclasses.dataclass(frozen=True)
class _Rows:
    """Reads questions or predictions and runs their rules; nothing is held against others."""

    look: Lookup

    def __call__(self, file: TextFile, format: ItemFormat, sink: Sink) -> ItemReading | None:
        return _check_items(file, format, sink, self.look)


@dataclasses.dataclass(frozen=True)
class _Alone:
    """What is wrong in a file of questions or predictions, with the name of its format."""

    check: _Rows

    def __call__(self, one: tuple[TextFile, str]) -> list[Finding]:
        found: list[Finding] = []
        self.check(one[0], item_formats.get(one[1]), found.append)
        return gathered(dict.fromkeys(found), RECORDS_SINGLY)


def _by_system(files: Sequence[TextFile], package: Package) -> list[list[TextFile]]:
    """The label files of each system of a package, and those that belong to none."""
    owners = {entry.name: number for number, system in enumerate(package.systems) for entry in system.outputs}
    groups: dict[int, list[TextFile]] = {}
    for file in files:
        groups.setdefault(owners.get(file.name, -1), []).append(file)
    return [_named(group) for group in groups.values()]


def _named(files: Sequence[TextFile]) -> list[TextFile]:
    """Files with clip names that only have to be unique among them."""
    names = clip_names([file.name for file in files])
    return [dataclasses.replace(file, clip=name) for file, name in zip(files, names, strict=True)]


def _check_set(collection: Collection, skip: Sequence[str], sink: Sink) -> set[str]:
    """Run the rules for all files of a system; return the files that hold many clips in one."""
    found = list(rules.findings(collection, skip=skip))
    mixed = {finding.path for finding in found if finding.code == "SUB106"}
    for finding in found:
        # one file for all clips: its name is that of none, and each of them lacks a file of its own
        if not (mixed and finding.code in ("SUB101", "SUB102")):
            sink(finding)
    return mixed


def _except_rows_of(mixed: set[str], sink: Sink) -> Sink:
    """A sink without LAB2 findings on *mixed* files: frames of different clips do not go together there."""

    def take(finding: Finding) -> None:
        if not (finding.path in mixed and finding.code.startswith("LAB2")):
            sink(finding)

    return take


def _check_tree(
    source: Source, collection: Collection, sink: Sink, asked: bool, listening: Lookup | None
) -> int:  # fmt: skip
    """Check a folder's names and recordings, or a single recording; return how many recordings were looked at."""
    if source.kind in ("gzip", "stdin"):
        return 0
    folder = os.path.dirname(source.path) if source.kind == "file" else source.path  # noqa: PTH120
    tree = read_tree([entry.name for entry in source.entries], folder)
    if source.kind != "file":
        rules.run((collection, tree), sink)
    # recordings that questions name are checked with them
    deep = listening is not None
    count = check_recordings(collection, tree, sink, deep=deep) if tree.layout != "loose" or not asked else 0
    if listening is not None:
        check_fit(collection, tree, listening, sink)
    return count + check_videos(collection, tree, sink, deep=deep)
