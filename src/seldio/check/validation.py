"""Check files: from a path to a report that counts everything and stops at nothing.

Labels are read as a whole (:mod:`seldio.check.labels`), questions and predictions file by file
(:mod:`seldio.check.items`); then rules look at the dataset as a whole: its folders, its recordings and videos.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from seldio import formats, rules
from seldio.catalogues import Catalogue, own_datasets
from seldio.catalogues.parts import Part
from seldio.catalogues.trees import Tree
from seldio.check.labels import by_format, label_findings
from seldio.check.settings import Settings
from seldio.files import Source
from seldio.files.names import is_csv, media_type, suffix_of
from seldio.files.sources import Lookup, is_own, reopened
from seldio.findings import RECORDS_SINGLY, Finding, Report, Severity, gathered
from seldio.formats import LabelFormat, LabelReading
from seldio.parallel import parallel_map
from seldio.reader_rules import READER_RULES
from seldio.rules.collection import UNREAD_RULES, Collection, Reference, grouped, nothing_checked
from seldio.rules.submissions import (
    NAME_RULES,
    REFERENCE_RULES,
    SUBMISSION_RULES,
    is_package,
)
from seldio.schema.arrays import memory_given_back

if TYPE_CHECKING:
    from seldio.catalogues import FileGroup
    from seldio.check.items import CheckedItems, Submission
    from seldio.check.reference import AnyReference
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.rules.deep_pieces import Heard
    from seldio.rules.package import Package

Path = str | os.PathLike[str]
#: Rules of a set of label files.
COLLECTION_RULES = (*SUBMISSION_RULES, *NAME_RULES, *UNREAD_RULES)
#: Rules of such a set and the clips that it is to have.
EXPECTED_RULES = (*COLLECTION_RULES, *REFERENCE_RULES)
#: Findings about a set of files in which each clip has a file of its own; a package names its clips itself: SUB213.
_OF_CLIPS = ("SUB101", "SUB111")


@dataclasses.dataclass(frozen=True)
class Examined:
    """The findings, and the data that they are about."""

    report: Report  # every finding, sorted by file, line and column, and the number of files read
    labels: tuple[LabelReading, ...]  # the label files by format
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
    judge: bool = True,
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
        judge: check questions and predictions beyond what is wrong when they are read.
        facts: count what is in the rows.

    Raises:
        UsageError: nothing has that name, no such format exists, or the reference is of the wrong kind.
        SeldioError: the disk fails.
    """
    findings: list[Finding] = []
    clips = reference if isinstance(reference, Reference) else None
    with reopened(path, findings.append) as source:
        # what the files are
        package, sources = _package(source, clips)
        described = clips.own if clips else None
        catalogues = [Catalogue(files, format, contents=changed, described=described) for files in sources]
        parts = [[*each.labels, *chain(*(part.cut() for part in each.questions))] for each in catalogues]
        submission = _submission(source, [*chain(*parts)], format, reference)
        only_answers = submission is not None and source.single  # it holds no labels, whatever it looks like
        catalogue_findings = chain.from_iterable(catalogue.findings for catalogue in catalogues)
        findings += (finding for finding in catalogue_findings if not only_answers or finding.code.startswith("SAF"))

        # questions and predictions, and labels; what is found of one system of a package explains nothing of another
        items = _items(source, parts, submission, reference, findings, judge=judge, facts=facts)
        label_parts = [[part for part in system if part.questions is None and not only_answers] for system in parts]
        systems = [by_format(chain(*(part.labels(findings.append) for part in system))) for system in label_parts]
        passed_over = () if source.single or package or submission else catalogues[0].of("other")
        skip: tuple[str, ...] = () if package is None else _OF_CLIPS
        if format is not None and clips is None:
            skip += ("SUB108", "SUB109")  # files of a format that the user named are that on purpose
        set_rules = COLLECTION_RULES if clips is None else EXPECTED_RULES
        by_system: list[list[Finding]] = []
        labels, datasets = [*chain(*systems)], own_datasets(source, lambda _: None) if package else catalogues[0].said
        combined = Collection(
            source.path, source.kind, source.entries, labels, clips, source.exported, findings, datasets, passed_over
        )
        for readings in systems:
            of_rows = [finding for reading in readings for finding, _ in label_findings(reading, clips)]
            files = dataclasses.replace(combined, readings=readings) if package else combined
            by_system.append([*rules.findings(set_rules, files, skip=skip), *of_rows])
        if package is None:
            findings += chain(*by_system)
            by_system = []

        # the folder as a whole
        count = len({file.entry.path for part in chain(*label_parts) for file in part.files}) + sum(map(is_own, source))
        count += len({part.files[checked.file].entry.path for part, checked in items}) or int(submission is not None)
        tree: Tree | None = None
        heard: list[Heard] = []
        if package is not None:
            from seldio.rules.package import package_findings

            count += len(package.metas)
            findings += package_findings(package)
        else:
            if not source.streamed:
                tree, recordings = _tree(source, combined, findings, heard, deep=deep, questions=bool(items))
                count += recordings
            if clips is not None and clips.labelled and combined.submitted and not (changed or source.streamed):
                from seldio.scores.seld.score_labels import misfits  # which checks labels with what is here

                layout = formats.named(format, LabelFormat) if format is not None else None
                findings += (READER_RULES["SUB120"].at(source.path, why) for why in misfits(source, clips.path, layout))
        if submission is not None:
            from seldio.rules.predictions import ARCHIVE_RULES

            findings += rules.findings(ARCHIVE_RULES, submission.package)
        if not (source.single or package or submission):
            errors = {finding.code for finding in findings if finding.severity is Severity.ERROR}
            if not count and errors <= {*_OF_CLIPS}:
                findings.append(nothing_checked(source, passed_over))

        # each cause once, and the repairs that nothing puts in doubt
        unexplained = chain.from_iterable(rules.unexplained(batch, source.path) for batch in (findings, *by_system))
        reported = gathered(dict.fromkeys(unexplained), RECORDS_SINGLY)
        if any(finding.fixable for finding in reported):
            from seldio.check.repair import admitted

            reported = admitted(labels, reported)
        report = Report(files=count, heard=heard)
        report.add((settings or Settings()).applied(reported))
        local = {entry.path: entry.real for entry in source if entry.real is not None}
        file_groups = tuple(chain(*(catalogue.groups for catalogue in catalogues if facts)))
        return Examined(report, tuple(labels), tuple(items), local, datasets, tree, file_groups)


def _package(source: Source, clips: Reference | None) -> tuple[Package | None, list[Source]]:
    """Return the DCASE package in a source, with the files of each system and those of no system."""
    if not is_package(source):
        return None, [source]
    from seldio.rules.package import Package

    package = Package(Collection(source.path, source.kind, source.entries, [], clips))
    numbers = {entry.name: number for number, system in enumerate(package.systems) for entry in system.outputs}
    unnumbered = None if source.single else -1  # a meta file alone has no rows
    by_number = grouped(source, lambda entry: numbers.get(entry.name, unnumbered))
    return package, [source.restricted(entries) for entries in by_number.values()]


def _submission(
    source: Source, parts: Sequence[Part], format: str | None, reference: AnyReference
) -> Submission | None:
    """Return the submission to MERA that the source is, if it is one; none is in a format of labels."""
    if source.streamed or (source.kind == "file" and suffix_of(source.path) != "zip"):
        return None
    of_clips = reference is None or isinstance(reference, Reference)
    as_labels = format is not None and formats.named(format, LabelFormat) is not None
    if as_labels or (format is None and of_clips and all(is_csv(entry.name) for entry in source)):
        return None  # and nothing of questions is loaded
    from seldio.check.items import submission_in
    from seldio.formats.mera import SUBMISSION

    named = format in (SUBMISSION.name, *SUBMISSION.aliases)
    return submission_in(source, parts, reference, named)


def _items(
    source: Source,
    systems: Sequence[Sequence[Part]],
    submission: Submission | None,
    reference: AnyReference,
    findings: list[Finding],
    *,
    judge: bool,
    facts: bool,
) -> list[tuple[Part, CheckedItems]]:
    """Check questions and predictions, some of them submitted to MERA, perhaps next to labels."""
    all_parts = [*chain(*systems)]
    submitted = submission is not None
    parts = [part for part in (all_parts if submission is None else submission.answers) if part.questions is not None]
    if not parts and reference is None:
        return []
    from seldio.check.items import check_kind, check_part, item_findings

    of_clips = reference is None or isinstance(reference, Reference)
    check = partial(check_part, reference=reference, inside=submitted, facts=facts)
    here = reference is not None or submitted or source.kind not in ("file", "folder")
    items: list[tuple[Part, CheckedItems]] = []
    with memory_given_back():
        checked_parts = parallel_map(check, parts, what="checking questions", size=attrgetter("size"), here=here)
        for part, (wrong, files) in zip(parts, checked_parts, strict=True):
            findings += wrong
            items += [(part, file) for file in files]
        findings += item_findings(items, Lookup(source) if judge else None, not of_clips)
    if not submitted or isinstance(reference, Reference):
        labels = any(part.questions is None for part in all_parts) and not (submitted and source.single)
        check_kind(source, reference, [checked for _, checked in items], labels)
    return items


def _tree(
    source: Source, whole: Collection, findings: list[Finding], heard: list[Heard], *, deep: bool, questions: bool
) -> tuple[Tree | None, int]:
    """Check a folder's names and recordings, or a single recording; count the recordings that were looked at."""
    names = [entry.name for entry in source.entries]
    media = any(media_type(name) is not None for name in names)
    if source.kind == "file" and not (deep or media):  # a label file, which nothing is compared with
        return None, 0
    tree = expected = whole.tree
    if whole.own and any("recordings" in dataset.record for dataset in whole.own.datasets):  # DAT204 compares it
        expected = dataclasses.replace(tree, row=dataclasses.replace(tree.row, rate=None, subtype=None))
    placed = any(place.inside for place in expected.places)
    laid_out = expected.layout != "loose" and (placed or not whole.submitted)  # no outputs called like its clips
    if source.kind != "file" and (media or whole.own or laid_out):
        from seldio.rules.layout import LAYOUT_RULES

        findings += rules.findings(LAYOUT_RULES, whole, expected)
    elif source.kind != "file":
        findings += rules.findings((), whole, expected)  # rules of extensions
    count = 0
    if media and (expected.layout != "loose" or not questions):  # recordings that questions name are checked with them
        from seldio.rules.audio import check_recordings

        count = check_recordings(whole, expected, findings.append, deep=deep)
    if deep:
        from seldio.rules.deep import check_fit

        heard += check_fit(whole, expected, Lookup(source), findings.append)
    if media:
        from seldio.rules.audio import is_video
        from seldio.rules.video import check_videos

        if any(map(is_video, names)):
            count += check_videos(whole, expected, findings.append)
    return tree, count
