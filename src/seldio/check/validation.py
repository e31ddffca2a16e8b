"""Check files: from a path to a report that counts everything and stops at nothing.

A source is cut into parts; of each part the rows are checked by themselves (:mod:`seldio.check.labels`,
:mod:`seldio.check.items`), wherever that happens; on the sum of what the parts give, rules look at the dataset as a
whole: its labels together, its folders, its recordings and videos.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from seldio import formats, rules, wings
from seldio.catalogues import Catalogue, own_datasets
from seldio.catalogues.look import Recognised
from seldio.catalogues.parts import Part
from seldio.check import gate
from seldio.check.labels import LabelCheck, LabelGroup
from seldio.check.settings import Settings
from seldio.engines import each
from seldio.errors import MissingLibrary, MissingWing
from seldio.files import Entry, Source
from seldio.files.sources import Lookup, is_own, reopened
from seldio.findings import RECORDS_SINGLY, Finding, Heard, Report, Severity, Sink, gathered
from seldio.formats import LabelFormat
from seldio.formats.trees import Tree, read_tree
from seldio.rules.audio import check_recordings
from seldio.rules.collection import Collection, Reference
from seldio.rules.ignored import Ignored
from seldio.rules.package_names import is_package
from seldio.rules.submissions import Misfit
from seldio.rules.tree_media import UncheckedVideos, is_sound, is_video

if TYPE_CHECKING:
    from seldio.check.items import CheckedItems
    from seldio.check.mera import Submission
    from seldio.check.reference import AnyReference
    from seldio.formats.items import ItemReading
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.rules.package import Package

Path = str | os.PathLike[str]
Checked = TypeVar("Checked")
#: What rules for recordings and pictures need of the rows; the second part where they listen.
_KEPT, _HEARD = ("frame",), ("azimuth", "elevation", "x", "y", "z", "class_id", "class_name", "source")
#: Bytes of a part that is the whole dataset.
_WHOLE = 1 << 62
#: Findings about a set of files in which each clip has a file of its own; a package names its clips itself: SUB213.
_OF_CLIPS = ("SUB101", "SUB111")


@dataclasses.dataclass(frozen=True)
class Examined:
    """What was found, and what it was found in."""

    report: Report  # every finding, sorted by file, line and column, and the number of files read
    labels: tuple[LabelGroup, ...]  # the label files by layout
    recognised: tuple[Recognised, ...]  # the same, read
    items: tuple[ItemReading, ...]  # the files with questions or predictions, read
    questions: tuple[tuple[Part, CheckedItems], ...]  # what the parts of these gave
    local: Mapping[str, str]  # the files on disk behind shown paths; members of archives are not among them
    described: OwnDatasets | None = None  # what the datasets say of themselves


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
            ``mix001..mix078``, or what :func:`seldio.check.reference.load` makes of one.
        settings: which rules count, and how much; all of them by default.
        deep: listen to all recordings, decode all videos, and compare labels with the sound; it takes its time.

    Returns:
        Every finding, sorted by file, line and column, with the number of files read.

    Raises:
        UsageError: nothing has that name, no such format exists, or the reference is of the wrong kind.
        SeldioError: the disk fails.
    """
    if isinstance(reference, str | os.PathLike):
        from seldio.check.reference import load

        reference = load(os.fspath(reference))
    return examine(path, format=format, reference=reference, settings=settings, deep=deep, rows=False).report


def examine(
    path: Path | Source,
    *,
    format: str | None = None,
    reference: AnyReference = None,
    settings: Settings | None = None,
    changed: Mapping[str, bytes] | None = None,
    deep: bool = False,
    rows: bool = True,
    facts: bool = False,
) -> Examined:
    """Like :func:`validate`, and keep the tables that were read.

    Args:
        path: what to check; a source that is open stays so.
        changed: contents to take instead of those on disk, by shown path.
        deep: look at the whole of recordings and videos as well.
        rows: keep all that was read, however much memory it takes.
        facts: count what is in the rows.
    """
    found: list[Finding] = []
    # whether the format is of labels: then nothing is a submission to MERA, whatever it looks like
    named = format is not None and any(one.holds == "events" for one in formats.index()
                                       if format in (one.name, *one.aliases))  # fmt: skip
    clips = reference if isinstance(reference, Reference) else None
    answered = reference is not None and clips is None  # the reference are questions
    with reopened(path, found.append) as source:
        whole = Collection.of(source, (), reference)
        package = _package(whole) if is_package(whole) else None
        remarks: list[Finding] = []
        cut = [
            Catalogue(one, format, remarks.append, contents=changed or {}).parts(
                size=_WHOLE if rows else None, whole=rows or answered
            )
            for one in _by_system(source, package, format is not None)
        ]  # fmt: skip
        every = list(chain.from_iterable(cut))
        goal = None if named else _submission(source, every, reference, format)
        if goal is not None and source.single:  # it holds no labels, whatever it looks like
            cut, remarks = [[]], [finding for finding in remarks if finding.code.startswith("SAF")]
        found += remarks
        look = Lookup(source)
        with_questions = [part for part in (every if goal is None else goal.answers) if part.questions is not None]
        questions: list[tuple[Part, CheckedItems]] = []
        if with_questions or reference is not None:
            from seldio.check.items import ItemCheck, check_kind, item_findings

            check = ItemCheck(look, reference, goal is not None, keep=rows, facts=facts)
            here = rows or reference is not None or goal is not None or source.kind not in ("file", "folder")
            # not kept for another run: recordings that questions name may have changed by then
            questions += chain(*_checked(check, with_questions, found, what="checking questions", here=here))
            found += item_findings(questions, answered)
            if goal is None or clips is not None:
                labelled = any(part.questions is None for part in chain(*cut))
                check_kind(source, reference, [one for _, one in questions], labelled)
        columns = None if source.stored else _KEPT + _HEARD * deep
        labels = [[part for part in some if part.questions is None] for some in cut]
        key = None if changed or rows else attrgetter("stamp")  # results are kept of what is on disk alone
        checked = _checked(
            LabelCheck(columns, rows, facts), list(chain(*labels)), found, what="checking labels", key=key, here=rows
        )
        systems_labels = [LabelGroup.of(chain(*islice(checked, len(some)))) for some in labels]
        found += rules.findings(goal.package) if goal is not None else ()
        recognised = _check_labels(source, systems_labels, clips, package is not None, found)
        own = own_datasets(source, lambda _: None)
        count = len({file.entry.path for some in labels for part in some for file in part.files})
        count += sum(map(is_own, source))
        count += len({part.files[one.file].entry.path for part, one in questions}) or int(goal is not None)
        heard: list[Heard] = []
        if package is None:
            collection = Collection.of(source, [one.reading for one in recognised], clips)
            collection = dataclasses.replace(collection, own=own)
            count += _check_tree(source, collection, found.append, bool(questions), look if deep else None, heard)
            judged = wings.there("seld") and not changed and not source.streamed
            if judged and clips is not None and clips.labelled and collection.submitted:
                from seldio.scores.seld.score_labels import misfits  # which checks labels with what is here

                layout = formats.named(format, LabelFormat) if format is not None else None
                rules.run(Misfit(source.path, misfits(source, clips.path, layout)), found.append)
        else:
            count += len(package.metas)
            found += rules.findings(package)
        if not source.single and package is None and goal is None:
            found = _with_ignored(source, list(chain(*cut)), recognised, found, count)
        local = {entry.path: str(entry.local) for entry in source if entry.local is not None}
    report = Report(files=count, heard=heard)
    found = rules.unexplained(found, source.path)
    told = gate.admitted(list(chain.from_iterable(systems_labels)), gathered(dict.fromkeys(found), RECORDS_SINGLY))
    report.add((settings or Settings()).applied(told))
    return Examined(
        report,
        tuple(chain.from_iterable(systems_labels)),
        tuple(recognised) if rows else (),
        tuple(one.reading for _, one in questions if one.reading is not None),
        tuple(questions),
        local,
        own,
    )


@wings.needed("checking a package")
def _package(whole: Collection) -> Package:
    from seldio.rules.package import systems

    return systems(whole)


@wings.needed("checking a submission to MERA")
def _submission(
    source: Source, found: Sequence[Part], reference: AnyReference, format: str | None
) -> Submission | None:
    if source.streamed or (source.kind == "file" and not source.path.lower().endswith(".zip")):
        return None
    from seldio.check.items import is_submission
    from seldio.formats.mera_submission import SUBMISSION

    if not is_submission(source, found, reference, format in (SUBMISSION.name, *SUBMISSION.aliases)):
        return None
    from seldio.check.mera import Submission

    return Submission.of(source, found, reference)


def _by_system(source: Source, package: Package | None, named: bool) -> list[Source]:
    """The files of each system of a package, and those that belong to none; else all of them."""
    if package is None:
        media = source.kind == "file" and all(is_sound(entry.name) or is_video(entry.name) for entry in source)
        return [source.restricted(())] if media and not named else [source]
    owners = {entry.name: number for number, system in enumerate(package.systems) for entry in system.outputs}
    groups: dict[int, list[Entry]] = {}
    for entry in source:
        groups.setdefault(owners.get(entry.name, -1), []).append(entry)
    return [source.restricted(group) for group in groups.values()]


def _checked(
    check: Callable[[Part], tuple[list[Finding], list[Checked]]], some: Sequence[Part], findings: list[Finding],
    **options: Any,
) -> Iterator[list[tuple[Part, Checked]]]:  # fmt: skip
    """What each part gives, once it has been checked somewhere; what is wrong with files goes to *findings*."""
    for part, (wrong, rows) in zip(some, each(check, some, size=attrgetter("size"), **options), strict=True):
        findings += wrong
        yield [(part, one) for one in rows]


def _check_labels(
    source: Source, labels: Sequence[Sequence[LabelGroup]], reference: Reference | None, packed: bool,
    found: list[Finding],
) -> list[Recognised]:  # fmt: skip
    """Check the labels of each system as a whole; add to what was *found*, and return all that were recognised.

    What is found of one system explains nothing of another.
    """
    every: list[Recognised] = []
    for sets in labels:
        every += (recognised := [one.recognised() for one in sets])
        collection = Collection.of(source, [one.reading for one in recognised], reference, found)
        about = list(rules.findings(collection, skip=_OF_CLIPS if packed else ()))
        about += (row.finding for one in sets for row in one.findings(reference))
        found += rules.unexplained(about, source.path)
    return every


def _with_ignored(
    source: Source, every: Sequence[Part], recognised: Sequence[Recognised], found: list[Finding], count: int
) -> list[Finding]:
    """What was *found*, and which files were left alone; *count*: how many were checked."""
    files = [file for part in every for file in part.files]
    taken = {entry.path for file in files for entry in (file.entry, *(beside for beside, _ in file.beside))}
    left = [entry for entry in source if entry.path not in taken and not is_own(entry)]
    alone = not count and {one.code for one in found if one.severity is Severity.ERROR} <= {*_OF_CLIPS}
    layouts = frozenset(one.reading.format.name for one in recognised)
    rules.run(Ignored(source.path, source.kind, left, alone, layouts), found.append)
    return found


def _check_tree(
    source: Source, collection: Collection, sink: Sink, questions: bool, listening: Lookup | None, heard: list[Heard]
) -> int:  # fmt: skip
    """Check a folder's names and recordings, or a single recording; return how many recordings were looked at.

    With *listening*, which finds recordings of labels that came alone, recordings are listened to as well; what is
    heard of labels goes to *heard*.
    """
    names = [entry.name for entry in source.entries]
    alone = source.kind == "file" and listening is None  # a label file, which nothing is compared with
    if source.streamed or (alone and not any(is_sound(name) or is_video(name) for name in names)):
        return 0
    folder = os.path.dirname(source.path) if source.kind == "file" else source.path  # noqa: PTH120
    tree = read_tree(names, folder)
    if collection.own and any("recordings" in one.record for one in collection.own.datasets):  # DAT204 compares it
        tree = dataclasses.replace(tree, row=dataclasses.replace(tree.row, rate=None, subtype=None))
    if source.kind != "file":
        rules.run((collection, tree), sink)
    # recordings that questions name are checked with them
    deep = listening is not None
    count = check_recordings(collection, tree, sink, deep=deep) if tree.layout != "loose" or not questions else 0
    if listening is not None:
        with wings.needed("validate --deep"):
            from seldio.rules.deep import check_fit

        heard += check_fit(collection, tree, listening, sink)
    return count + _check_videos(collection, tree, sink, deep)


def _check_videos(collection: Collection, tree: Tree, sink: Sink, deep: bool) -> int:
    """Check the videos, or say that they were not checked, unless *deep* asks for it; return how many there are."""
    places = [place for place in tree.places if is_video(place.name)]
    if not places:
        return 0
    try:
        with wings.needed("checking a video"):
            from seldio.rules.video import check_videos

            return check_videos(collection, tree, sink, deep=deep)
    except (MissingLibrary, MissingWing) as missing:
        if deep:
            raise
        rules.run(UncheckedVideos(collection.spot(places), len(places), missing), sink)
        return len(places)
