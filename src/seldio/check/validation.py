"""Check files: from a path to a report that counts everything and stops at nothing.

Labels are read as a whole (:mod:`seldio.check.labels`), questions and predictions in parts, wherever that happens
(:mod:`seldio.check.items`); then rules look at the dataset as a whole: its folders, its recordings and videos.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
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
    from seldio.check.items import CheckedItems
    from seldio.check.mera import Submission
    from seldio.check.reference import AnyReference
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.rules.package import Package

Path = str | os.PathLike[str]
#: Bytes of a part that is the whole dataset: labels are read whole, as only all files show what they mean.
_WHOLE = 1 << 62
#: Rules of a set of label files.
COLLECTION_RULES = (*SUBMISSION_RULES, *NAME_RULES, *FILE_SET_RULES, *UNREAD_RULES)
#: Findings about a set of files in which each clip has a file of its own; a package names its clips itself: SUB213.
_OF_CLIPS = ("SUB101", "SUB111")


@dataclasses.dataclass(frozen=True)
class Examined:
    """What was found, and what it was found in."""

    report: Report  # every finding, sorted by file, line and column, and the number of files read
    labels: tuple[LabelGroup, ...]  # the label files by format
    questions: tuple[tuple[Part, CheckedItems], ...]  # what the parts of questions and predictions gave
    local: Mapping[str, str]  # the files on disk behind shown paths; members of archives are not among them
    described: OwnDatasets | None = None  # what the datasets say of themselves
    tree: Tree | None = None  # the tree that the files are in, where it was looked at
    catalogue: tuple[FileGroup, ...] = ()  # every file by what it is, where facts are counted


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
        format: the format of all label files; found from their content if not given.
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
    with reopened(path, found.append) as source:
        run = _Checking(source, format, reference, changed or {}, deep, rows, facts, found)
        package = run.package()
        lent = run.clips.own if run.clips else None
        sets = [Catalogue(one, format, contents=run.changed, lent=lent) for one in run.by_system(package)]
        parts = [run.parts(files) for files in sets]
        goal = run.submission(list(chain(*parts)))
        answers = goal is not None and source.single  # it holds no labels, whatever it looks like
        found += (one for some in sets for one in some.findings if not answers or one.code.startswith("SAF"))
        files = [[part for part in some if part.questions is None and not answers] for some in parts]
        asked = [part for part in (chain(*parts) if goal is None else goal.answers) if part.questions is not None]
        items = run.items(asked, goal is not None, any(files))
        if not (source.single or package or goal):
            run.others = sets[0].of("other")
        systems = run.labels(files)
        labels = list(chain(*systems))
        # what is found of one system of a package explains nothing of another
        apart = [found if package is None else [] for _ in systems]
        for into, some in zip(apart, systems, strict=True):
            into += run.judged(some, () if package is None else _OF_CLIPS)
        own = own_datasets(source, lambda _: None)
        whole = dataclasses.replace(run.collection(labels), own=own)
        count = len({file.entry.path for part in chain(*files) for file in part.files}) + sum(map(is_own, source))
        count += len({part.files[one.file].entry.path for part, one in items}) or int(goal is not None)
        count += run.tree(whole, bool(items)) if package is None else len(package.metas)
        if package is not None:
            from seldio.rules.package_rules import package_findings

            found += package_findings(package)
        else:
            found += run.misfit(whole)
        if goal is not None:
            from seldio.rules.mera import ARCHIVE_RULES

            found += rules.findings(ARCHIVE_RULES, goal.package)
        if not (source.single or package or goal):
            found += rules.findings(IGNORED_RULES, run.ignored(count))
        told = chain.from_iterable(rules.unexplained(some, source.path) for some in (found, *apart))
        report = Report(files=count, heard=run.heard)
        kept = repair.admitted(labels, gathered(dict.fromkeys(told), RECORDS_SINGLY))
        report.add((settings or Settings()).applied(kept))
        local = {entry.path: str(entry.local) for entry in source if entry.local is not None}
        groups = tuple(chain.from_iterable(one.groups for one in sets if facts))
        return Examined(report, tuple(labels), tuple(items), local, own, run.seen, groups)


@dataclasses.dataclass
class _Checking:
    """What is checked, as what, and what has been found."""

    source: Source
    format: str | None
    reference: AnyReference
    changed: Mapping[str, bytes]
    deep: bool
    rows: bool
    facts: bool
    found: list[Finding]
    heard: list[Heard] = dataclasses.field(default_factory=list)
    seen: Tree | None = None  # the tree, once it is checked
    others: Sequence[FileGroup] = ()  # the files that were passed over

    def __post_init__(self) -> None:
        self.clips = self.reference if isinstance(self.reference, Reference) else None
        self.look = Lookup(self.source)

    def collection(self, labels: Iterable[LabelGroup] = (), wrong: Sequence[Finding] = ()) -> Collection:
        """The files of the source, with some labels among them, the clips that are expected and what was found."""
        source, readings = self.source, [group.reading for group in labels]
        return Collection(
            source.path, source.kind, source.entries, readings, self.clips, source.exported, wrong, others=self.others
        )

    def package(self) -> Package | None:
        """The package that the source is, if it is one."""
        if not is_package(whole := self.collection()):
            return None
        from seldio.rules.package import systems

        return systems(whole)

    def submission(self, found: Sequence[Part]) -> Submission | None:
        """The submission to MERA that the source is; *found* are its parts. None is in a format of labels."""
        source, format = self.source, self.format
        if source.streamed or (source.kind == "file" and not is_zip(source.path)):
            return None
        from seldio.check.items import is_submission
        from seldio.formats.mera_submission import SUBMISSION

        as_labels = format is not None and formats.named(format, LabelFormat) is not None
        named = format in (SUBMISSION.name, *SUBMISSION.aliases)
        if as_labels or not is_submission(source, found, self.reference, named):
            return None
        from seldio.check.mera import Submission

        return Submission.of(source, found, self.reference)

    def by_system(self, package: Package | None) -> list[Source]:
        """The files of each system of a package, and those that belong to none; else all of them."""
        source = self.source
        if package is None:
            return [source]
        owners = {entry.name: number for number, system in enumerate(package.systems) for entry in system.outputs}
        return [source.restricted(some) for some in grouped(source, lambda one: owners.get(one.name, -1)).values()]

    def parts(self, files: Catalogue) -> list[Part]:
        """Labels as a whole, and questions in parts unless all that is read is wanted."""
        whole = self.rows or self.reference is not self.clips
        asked = files.parts(size=_WHOLE if self.rows else None, whole=whole)
        labels = [part for part in files.parts(size=_WHOLE) if part.questions is None]
        return labels + [part for part in asked if part.questions is not None]

    def items(self, parts: Sequence[Part], submitted: bool, labels: bool) -> list[tuple[Part, CheckedItems]]:
        """What questions and predictions give, some of them *submitted* to MERA, perhaps next to *labels*."""
        if not parts and self.reference is None:
            return []
        from seldio.check.items import ItemCheck, check_kind, item_findings

        check = ItemCheck(self.reference, submitted, keep=self.rows, facts=self.facts)
        here = self.rows or self.reference is not None or submitted or self.source.kind not in ("file", "folder")
        with memory_given_back():
            items: list[tuple[Part, CheckedItems]] = []
            done = parallel_map(check, parts, what="checking questions", size=attrgetter("size"), here=here)
            for part, (wrong, files) in zip(parts, done, strict=True):
                self.found += wrong
                items += [(part, file) for file in files]
            look = self.look if self.rows or not self.facts else None  # a description does not judge
            self.found += item_findings(items, look, self.reference is not self.clips)
        if not submitted or self.clips is not None:
            check_kind(self.source, self.reference, [one for _, one in items], labels)
        return items

    def labels(self, systems: Sequence[Sequence[Part]]) -> list[list[LabelGroup]]:
        """The labels of each system, by format."""
        return [
            LabelGroup.of(chain.from_iterable(part.labels(self.found.append) for part in parts)) for parts in systems
        ]

    def judged(self, labels: Sequence[LabelGroup], skip: Iterable[str]) -> list[Finding]:
        """What is wrong with the labels of a system, all of them considered."""
        rows = (row.finding for one in labels for row in one.findings(self.clips))
        named = ("SUB109",) * (self.format is not None and self.clips is None)  # then they are labels on purpose
        return [*rules.findings(COLLECTION_RULES, self.collection(labels, self.found), skip=[*skip, *named]), *rows]

    def misfit(self, whole: Collection) -> list[Finding]:
        """What is seen of results only where they are scored against the labels of the reference."""
        clips = self.clips if not self.changed and not self.source.streamed else None
        if clips is None or not clips.labelled or not whole.submitted:
            return []
        from seldio.scores.seld.score_labels import misfits  # which checks labels with what is here

        layout = formats.named(self.format, LabelFormat) if self.format is not None else None
        causes = misfits(self.source, clips.path, layout)
        return [reader_rule("SUB120").at(self.source.path, cause) for cause in causes]

    def ignored(self, count: int) -> Ignored:
        """The files that were left alone; *count*: how many were not."""
        alone = not count and {one.code for one in self.found if one.severity is Severity.ERROR} <= {*_OF_CLIPS}
        return Ignored(self.source.path, self.source.kind, self.others, alone)

    def tree(self, collection: Collection, questions: bool) -> int:
        """Check a folder's names and recordings, or a single recording; return how many recordings were looked at."""
        source, names = self.source, [entry.name for entry in self.source.entries]
        alone = source.kind == "file" and not self.deep  # a label file, which nothing is compared with
        if source.streamed or (alone and not any(is_sound(name) or is_video(name) for name in names)):
            return 0
        folder = os.path.dirname(source.path) if source.kind == "file" else source.path  # noqa: PTH120
        tree, sink = read_tree(names, folder), self.found.append
        self.seen = tree
        if collection.own and any("recordings" in one.record for one in collection.own.datasets):  # DAT204 compares it
            tree = dataclasses.replace(tree, row=dataclasses.replace(tree.row, rate=None, subtype=None))
        if source.kind != "file":
            from seldio.rules.layout import LAYOUT_RULES

            self.found += rules.findings(LAYOUT_RULES, collection, tree)
        # recordings that questions name are checked with them
        apart = tree.layout != "loose" or not questions
        count = check_recordings(collection, tree, sink, deep=self.deep) if apart else 0
        if self.deep:
            from seldio.rules.deep import check_fit

            self.heard += check_fit(collection, tree, self.look, sink)
        if any(is_video(place.name) for place in tree.places):
            from seldio.rules.video import check_videos

            count += check_videos(collection, tree, sink)
        return count
