"""Check files: from a path to a report that counts everything and stops at nothing.

Labels are read as a whole (:mod:`seldio.check.labels`), questions and predictions in parts, wherever that happens
(:mod:`seldio.check.items`); then rules look at the dataset as a whole: its folders, its recordings and videos.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from seldio import formats, rules
from seldio.catalogues import Catalogue, own_datasets
from seldio.catalogues.parts import Part
from seldio.catalogues.trees import Tree, read_tree
from seldio.check import repair
from seldio.check.labels import LabelGroup
from seldio.check.settings import Settings
from seldio.files import Source
from seldio.files.names import is_zip
from seldio.files.sources import Lookup, is_own, reopened
from seldio.findings import RECORDS_SINGLY, Finding, Heard, Report, Severity, gathered
from seldio.formats import LabelFormat
from seldio.parallel import parallel_map
from seldio.reader_rules import reader_rule
from seldio.rules.audio import check_recordings
from seldio.rules.clip_names import NAME_RULES
from seldio.rules.collection import Collection, Reference, grouped
from seldio.rules.file_sets import FILE_SET_RULES
from seldio.rules.ignored import IGNORED_RULES, UNREAD_RULES, Ignored
from seldio.rules.package_names import is_package
from seldio.rules.submissions import SUBMISSION_RULES
from seldio.rules.tree_media import is_sound, is_video
from seldio.schema.arrays import memory_given_back

if TYPE_CHECKING:
    from seldio.catalogues.groups import FileGroup
    from seldio.check.items import CheckedItems, Submission
    from seldio.check.reference import AnyReference
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.rules.package import Package

Path = str | os.PathLike[str]
#: Rules of a set of label files.
COLLECTION_RULES = (*SUBMISSION_RULES, *NAME_RULES, *FILE_SET_RULES, *UNREAD_RULES)
#: Findings about a set of files in which each clip has a file of its own; a package names its clips itself: SUB213.
_OF_CLIPS = ("SUB101", "SUB111")


@dataclasses.dataclass(frozen=True)
class Examined:
    """The findings, and the data that they are about."""

    report: Report  # every finding, sorted by file, line and column, and the number of files read
    labels: tuple[LabelGroup, ...]  # the label files by format
    questions: tuple[tuple[Part, CheckedItems], ...]  # what the parts of questions and predictions gave
    local: Mapping[str, str]  # the files on disk behind shown paths; members of archives are not among them
    described: OwnDatasets | None = None  # what the datasets say of themselves
    tree: Tree | None = None  # the tree that the files are in, where it was looked at
    catalogue: tuple[FileGroup, ...] = ()  # every file by what it is, where facts are counted


def examine(
    path: Path | Source,
    *,
    format: str | None = None,
    reference: AnyReference = None,
    settings: Settings | None = None,
    changed: Mapping[str, bytes] = MappingProxyType({}),
    deep: bool = False,
    rows: bool = True,
    facts: bool = False,
) -> Examined:
    """Check a file, folder, archive or standard input (``-``), and keep the tables that were read.

    Args:
        path: what to check; a source that is open stays so.
        format: the format of all label files; found from their content if not given.
        reference: the clips to expect, or the questions that are answered, as
            :func:`seldio.check.reference.load` makes them.
        settings: which rules count, and how much; all of them by default.
        changed: contents to take instead of those on disk, by shown path.
        deep: listen to all recordings, decode all videos, and compare labels with the sound; it takes its time.
        rows: keep all that was read, however much memory it takes.
        facts: count what is in the rows.

    Raises:
        UsageError: nothing has that name, no such format exists, or the reference is of the wrong kind.
        SeldioError: the disk fails.
    """
    findings: list[Finding] = []
    clips = reference if isinstance(reference, Reference) else None
    with reopened(path, findings.append) as source:
        package = _package(source, clips)
        catalogues = [
            Catalogue(system, format, contents=changed, lent=clips.own if clips else None)
            for system in _systems(source, package)
        ]
        parts = [_parts(catalogue, rows) for catalogue in catalogues]
        submission = _submission(source, [*chain(*parts)], format, reference)
        only_answers = submission is not None and source.single  # it holds no labels, whatever it looks like
        told = chain.from_iterable(catalogue.findings for catalogue in catalogues)
        findings += (one for one in told if not only_answers or one.code.startswith("SAF"))

        items = _items(source, parts, submission, reference, findings, rows=rows, facts=facts)
        label_parts = [[one for one in some if one.questions is None and not only_answers] for some in parts]
        systems = [LabelGroup.of(chain(*(one.labels(findings.append) for one in some))) for some in label_parts]
        labels = [*chain(*systems)]
        # what is found of one system of a package explains nothing of another
        apart = [findings if package is None else [] for _ in systems]
        # files of a format that the user named are that on purpose
        named = ("SUB108", "SUB109") if format is not None and clips is None else ()
        others = () if source.single or package or submission else catalogues[0].of("other")
        for wrong, system in zip(apart, systems, strict=True):
            of_rows = [row.finding for group in system for row in group.findings(clips)]
            files = Collection.of(source, [group.reading for group in system], clips, findings, others)
            skip = named if package is None else (*_OF_CLIPS, *named)
            wrong += [*rules.findings(COLLECTION_RULES, files, skip=skip), *of_rows]

        own = own_datasets(source, lambda _: None)
        whole = dataclasses.replace(Collection.of(source, [group.reading for group in labels], clips), own=own)
        count = len({file.entry.path for part in chain(*label_parts) for file in part.files}) + sum(map(is_own, source))
        count += len({part.files[one.file].entry.path for part, one in items}) or int(submission is not None)
        tree, recordings, heard = None, 0, list[Heard]()
        if package is None:
            tree, recordings, heard = _tree(source, whole, findings, deep=deep, questions=bool(items))
            findings += _misfit(source, whole, clips, format, changed)
        else:
            from seldio.rules.package import package_findings

            recordings = len(package.metas)
            findings += package_findings(package)
        count += recordings
        if submission is not None:
            from seldio.rules.mera import ARCHIVE_RULES

            findings += rules.findings(ARCHIVE_RULES, submission.package)
        if not (source.single or package or submission):
            findings += rules.findings(IGNORED_RULES, _ignored(source, others, findings, count))

        every = chain.from_iterable(rules.unexplained(some, source.path) for some in (findings, *apart))
        report = Report(files=count, heard=heard)
        admitted = repair.admitted(labels, gathered(dict.fromkeys(every), RECORDS_SINGLY))
        report.add((settings or Settings()).applied(admitted))
        local = {entry.path: str(entry.local) for entry in source if entry.local is not None}
        groups = tuple(chain(*(catalogue.groups for catalogue in catalogues if facts)))
        return Examined(report, tuple(labels), tuple(items), local, own, tree, groups)


def _package(source: Source, clips: Reference | None) -> Package | None:
    """Return the package that the source is, if it is one."""
    files = Collection.of(source, [], clips, ())
    if not is_package(files):
        return None
    from seldio.rules.package import systems

    return systems(files)


def _systems(source: Source, package: Package | None) -> list[Source]:
    """Return the files of each system of a package, and those that belong to none; else all of them."""
    if package is None:
        return [source]
    owners = {entry.name: number for number, system in enumerate(package.systems) for entry in system.outputs}
    return [source.restricted(some) for some in grouped(source, lambda one: owners.get(one.name, -1)).values()]


def _parts(catalogue: Catalogue, rows: bool) -> list[Part]:
    """Return labels as a whole, and questions in parts unless all that is read is wanted."""
    if rows:
        return [*catalogue.labels, *catalogue.questions]
    return [*catalogue.labels, *(part for part in catalogue.parts() if part.questions is not None)]


def _submission(
    source: Source, parts: Sequence[Part], format: str | None, reference: AnyReference
) -> Submission | None:
    """Return the submission to MERA that the source is, if it is one; none is in a format of labels."""
    if source.streamed or (source.kind == "file" and not is_zip(source.path)):
        return None
    from seldio.check.items import submission_in
    from seldio.formats.mera import SUBMISSION

    as_labels = format is not None and formats.named(format, LabelFormat) is not None
    named = format in (SUBMISSION.name, *SUBMISSION.aliases)
    return None if as_labels else submission_in(source, parts, reference, named)


def _items(
    source: Source, systems: Sequence[Sequence[Part]], submission: Submission | None, reference: AnyReference,
    findings: list[Finding], *, rows: bool, facts: bool,
) -> list[tuple[Part, CheckedItems]]:  # fmt: skip
    """Check questions and predictions, some of them submitted to MERA, perhaps next to labels."""
    every = [*chain(*systems)]
    submitted = submission is not None
    parts = [part for part in (every if submission is None else submission.answers) if part.questions is not None]
    if not parts and reference is None:
        return []
    from seldio.check.items import ItemCheck, check_kind, item_findings

    of_clips = reference is None or isinstance(reference, Reference)
    check = ItemCheck(reference, submitted, keep=rows, facts=facts)
    here = rows or reference is not None or submitted or source.kind not in ("file", "folder")
    items: list[tuple[Part, CheckedItems]] = []
    with memory_given_back():
        done = parallel_map(check, parts, what="checking questions", size=attrgetter("size"), here=here)
        for part, (wrong, files) in zip(parts, done, strict=True):
            findings += wrong
            items += [(part, file) for file in files]
        look = Lookup(source) if rows or not facts else None  # a description does not judge
        findings += item_findings(items, look, not of_clips)
    if not submitted or isinstance(reference, Reference):
        labels = any(part.questions is None for part in every) and not (submitted and source.single)
        check_kind(source, reference, [one for _, one in items], labels)
    return items


def _misfit(
    source: Source, whole: Collection, clips: Reference | None, format: str | None, changed: Mapping[str, bytes]
) -> list[Finding]:
    """Return what is seen of results only where they are scored against the labels of the reference."""
    if clips is None or changed or source.streamed or not clips.labelled or not whole.submitted:
        return []
    from seldio.scores.seld.score_labels import misfits  # which checks labels with what is here

    layout = formats.named(format, LabelFormat) if format is not None else None
    return [reader_rule("SUB120").at(source.path, cause) for cause in misfits(source, clips.path, layout)]


def _ignored(source: Source, others: Sequence[FileGroup], findings: Sequence[Finding], count: int) -> Ignored:
    """Return the files that were left alone; *count*: how many were not."""
    alone = not count and {one.code for one in findings if one.severity is Severity.ERROR} <= {*_OF_CLIPS}
    return Ignored(source.path, source.kind, others, alone)


def _tree(
    source: Source, whole: Collection, findings: list[Finding], *, deep: bool, questions: bool
) -> tuple[Tree | None, int, list[Heard]]:
    """Check a folder's names and recordings, or a single recording; count the recordings that were looked at."""
    names = [entry.name for entry in source.entries]
    alone = source.kind == "file" and not deep  # a label file, which nothing is compared with
    if source.streamed or (alone and not any(is_sound(name) or is_video(name) for name in names)):
        return None, 0, []
    folder = os.path.dirname(source.path) if source.kind == "file" else source.path  # noqa: PTH120
    tree = expected = read_tree(names, folder)
    heard: list[Heard] = []
    if whole.own and any("recordings" in one.record for one in whole.own.datasets):  # DAT204 compares it
        expected = dataclasses.replace(tree, row=dataclasses.replace(tree.row, rate=None, subtype=None))
    if source.kind != "file":
        from seldio.rules.layout import LAYOUT_RULES

        findings += rules.findings(LAYOUT_RULES, whole, expected)
    # recordings that questions name are checked with them
    apart = expected.layout != "loose" or not questions
    count = check_recordings(whole, expected, findings.append, deep=deep) if apart else 0
    if deep:
        from seldio.rules.deep import check_fit

        heard += check_fit(whole, expected, Lookup(source), findings.append)
    if any(is_video(place.name) for place in expected.places):
        from seldio.rules.video import check_videos

        count += check_videos(whole, expected, findings.append)
    return tree, count, heard
