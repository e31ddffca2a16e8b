"""What is compared: the labels of both sides by clip, and the clips that both have."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.catalogues import Catalogue
from seldio.catalogues.parts import Part, checked_clips, entries_by_clip, resolved
from seldio.catalogues.trees import read_tree
from seldio.check.vetting import Faults, vet
from seldio.conversion import carry
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.conversion.inputs import joined, raising_unknown
from seldio.errors import DataError, UnknownFormat, UsageError
from seldio.files import Entry, Source
from seldio.findings import Finding, Severity, raise_errors
from seldio.formats import LabelFormat
from seldio.formats.base import Role
from seldio.formats.datasets import named_split, of_dialect
from seldio.formats.detect import CHOSEN, Wanted, means_the_same, years
from seldio.formats.dialects import DIALECTS
from seldio.parallel import cut
from seldio.rules.ignored import why_no_labels
from seldio.schema.events import clip_codes, origin_of
from seldio.schema.splits import within
from seldio.scores.seld import profiles
from seldio.scores.seld.profiles import SeldProfile
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import own, short

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets

#: Bytes that a row of a table is counted as where parts are cut: those of a row of text.
ROW = 24


class ClipRows(NamedTuple):
    """Some clips of a side: files to read, or rows of a table."""

    held: Part | pa.Table

    @property
    def packed(self) -> bool:
        """Whether other processes would have to unpack its files anew."""
        return isinstance(self.held, Part) and self.held.packed

    def rows(self, as_read: bool = False) -> tuple[pa.Table | None, Faults]:
        """Their rows, with frames of 100 ms unless they are wanted *as_read*, None where there is no file; and errors.

        Raises:
            InvalidData: something in a file cannot be read.
            DataError: a file has rows of a clip that it is not the file of.
        """
        if isinstance(self.held, Part):
            found = self.held.labels(raising_unknown(raise_errors))
            own = {file.clip for file in self.held.files}
            for part in (part for one in found for part in one.reading.parts if part.origin.clip not in own):
                raise DataError(
                    f"{printable(part.file.path)} has rows of the clip {clipped(part.origin.clip)}, but is the file of "
                    f"{clipped(part.file.clip)}: convert it first, which writes a file for each clip"
                )
            tables = (one.reading.table if as_read else framed(one.reading.table, one.reading.format) for one in found)
            return next(tables, None), vet(found)
        return self.held, Faults()  # the table has been checked as a whole


@dataclasses.dataclass(frozen=True)
class LabelFiles:
    """A side of label files, one for each clip; the source that they are in stays open."""

    layout: LabelFormat
    part: Part
    remarks: tuple[str, ...] = ()  # sentences about the choice of the format
    faults: Faults = dataclasses.field(default_factory=Faults)  # none yet: errors are found where rows are read
    own: OwnDatasets | None = None  # what the datasets say of themselves
    others: frozenset[str] = frozenset()  # clips of other splits than that which is wanted

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Which file of the part each clip is."""
        return {file.clip: number for number, file in enumerate(self.part.files)}

    @property
    def fields(self) -> set[str]:
        """Columns of an event table that its rows may have."""
        return {*self.layout.carries}

    known = fields

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each clip, silent ones too."""
        return {file.clip: max(file.entry.size, 0) for file in self.part.files}

    def some(self, clips: Sequence[str]) -> ClipRows:
        """What there is of *clips*."""
        part = self.part.chosen([self.numbers[clip] for clip in clips if clip in self.numbers])
        return ClipRows(part)


@dataclasses.dataclass(frozen=True)
class LabelTable:
    """A side whose files may hold several clips, as one table in memory: its rows say which clips there are."""

    layout: LabelFormat  # of the labels that the table was made from
    table: pa.Table  # rows with frames of 100 ms, by clip
    first: Mapping[str, tuple[int, int]]  # by clip, silent ones too: its first row, and the one behind its last
    faults: Faults  # errors in its rows
    remarks: tuple[str, ...] = ()  # none, as such files say what they are
    entries: Mapping[str, Entry] = dataclasses.field(default_factory=dict)  # the file of each clip, but for Parquet
    own: OwnDatasets | None = None  # what the datasets say of themselves
    others: frozenset[str] = frozenset()  # clips of other splits than that which is wanted

    @property
    def fields(self) -> set[str]:
        """Columns that its rows have, or may have as the files of another dataset in its own columns."""
        return {*self.table.column_names, *(self.layout.carries if self.layout.own else ())}

    @property
    def known(self) -> set[str]:
        """Columns that have a value in some row."""
        return {name for name in self.table.column_names if self.table[name].null_count < self.table.num_rows}

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each clip, as if its rows were text."""
        return {clip: (stop - start) * ROW for clip, (start, stop) in self.first.items()}

    def some(self, clips: Sequence[str]) -> ClipRows:
        """What there is of *clips*."""
        there = (self.first[clip] for clip in clips if clip in self.first)
        slices = [self.table.slice(start, stop - start) for start, stop in there]
        # one chunk of its own: pickling a slice would take all rows of the table along
        return ClipRows(pa.concat_tables([self.table.slice(0, 0), *slices]).combine_chunks())


#: What systems write, in numbers of the classes of their labels.
OF_SYSTEMS: tuple[Role, ...] = ("output", "submission")
#: The profile where nobody names one and the labels do not ask for another.
USUAL = "dcase2023"


#: Either way to hold the labels of many clips.
Labels: TypeAlias = LabelFiles | LabelTable


def reference_labels(
    source: Source, layout: LabelFormat | None, split: str | None = None, profile: SeldProfile | None = None
) -> Labels:
    """Open the labels that predictions are compared with, with the class list of their year; *source* stays open.

    Args:
        source: where they are.
        layout: as the user named it.
        split: of these labels, the clips of this split alone.
        profile: as the user named it; it tells their class list where neither their columns nor their tree does.

    Raises:
        InvalidData, UnknownFormat, UsageError: it holds no labels of one format, or none of the split.
    """
    try:
        labels = labels_of(source, layout, Wanted(("label",)))
    except UnknownFormat as error:
        raise UnknownFormat(_reference_option(error.text)) from None
    if layout is None:
        labels = dataclasses.replace(labels, layout=_of_year(labels, profile))
    if split is None:
        return labels
    splits = splits_of(labels)
    chosen = {clip for clip, name in splits.items() if within(name, split)}
    if not chosen:
        there = listed(sorted({name or "clips of which nothing tells the split" for name in splits.values()}), 10)
        raise UsageError(f"no clip of {printable(source.path)} is of the split {printable(split)}; it has {there}")
    others = frozenset(splits) - chosen
    if isinstance(labels, LabelTable):
        first = {clip: labels.first[clip] for clip in labels.first if clip in chosen}
        return dataclasses.replace(labels, first=first, others=others)
    part = labels.part.chosen([labels.numbers[clip] for clip in sorted(chosen)])
    return dataclasses.replace(labels, part=part, others=others)


def class_lists(layout: LabelFormat) -> dict[str, str]:
    """Return the class lists that the numbers of a format may index, by the names of all formats with its columns."""
    if own(layout.vocabulary):
        return {layout.name: layout.vocabulary}
    twins = [one for one in DIALECTS if means_the_same(one, layout) and one.name != layout.name]
    names = ((twin, name) for twin in (*twins, layout) for name in (*twin.aliases, twin.name))
    return {name: twin.under(name).vocabulary for twin, name in names} | {layout.name: layout.vocabulary}


def with_class_list(table: pa.Table, layout: LabelFormat, classes: str) -> pa.Table:
    """Return *table* with the class numbers of a list; outputs have those of their labels, other formats their own.

    Raises:
        UsageError: a class of the table is not in the list.
    """
    if layout.role in OF_SYSTEMS or classes in class_lists(layout).values():
        return table
    target = dataclasses.replace(layout, vocabulary=classes, carries=("class_id",))
    mapped = carry.classes(table, layout, target)
    if mapped.lost:
        raise UsageError(
            f"the prediction is {layout.name} with the classes of {short(layout.vocabulary)}, the reference has those "
            f"of {short(classes)}, where there is no {listed(sorted(mapped.lost), 5)}: rename these classes or take "
            "them away, or name the class list that the numbers of both sides index (--classes)"
        )
    return table.set_column(table.column_names.index("class_id"), "class_id", mapped.ids)


#: Files by whose paths the year of labels is told.
_TREE = 2000


def _of_year(labels: Labels, profile: SeldProfile | None) -> LabelFormat:
    layout = labels.layout
    lists = class_lists(layout)
    if len({*lists.values()}) == 1:
        return layout
    year = read_tree([path for _, path in files_of(labels).values()][:_TREE]).row.name
    usual = next((one.name for one in DIALECTS if means_the_same(one, layout)), "")  # which is read without evidence
    known = lists.get(year, layout.vocabulary)
    if profile is not None and year not in lists and layout.name == usual and profile.vocabulary in lists.values():
        known = profile.vocabulary
    return dataclasses.replace(layout, vocabulary=known)


def files_of(labels: Labels) -> dict[str, tuple[str, str]]:
    """Return the name and the path of the file of each clip, as a table has them."""
    if isinstance(labels, LabelFiles):
        return {file.clip: (file.entry.name, file.entry.path) for file in labels.part.files}
    names = {file.clip: file.name for file in origin_of(labels.table).files}
    paths = names | {clip: entry.path for clip, entry in labels.entries.items()}
    return {clip: (names.get(clip, clip), paths.get(clip, clip)) for clip in labels.first}


def splits_of(labels: Labels) -> dict[str, str]:
    """The split of each clip, as its folder is called or its dataset calls it; empty where nothing tells it."""
    dataset = labels.own
    files = files_of(labels)
    said = {clip: dataset.split(name) for clip, (name, _) in files.items()} if dataset else {}
    return {clip: said.get(clip) or named_split(path, labels.layout.name) for clip, (_, path) in files.items()}


def _only_split(labels: Labels, found: set[str]) -> str:
    """The split of *labels* that all predictions are of, where it has others too; empty if there is none such."""
    splits = splits_of(labels)
    mine = {name for clip, name in splits.items() if clip in found}
    words = min(mine, default="").split("-")
    longer = ("-".join(words[:count]) for count in range(len(words), 0, -1))
    name = next((name for name in longer if all(within(own, name) for own in mine)), "")
    return name if name and any(not within(other, name) for other in splits.values()) else ""


def usual_profile(labels: Labels) -> SeldProfile:
    """The default profile of labels: that of their dataset, or else one that fits their content.

    Stereo labels have distances and no elevations.
    """
    if own := next((row.profile for row in of_dialect(labels.layout.name) if row.profile), None):
        if own not in {profile.name for profile in profiles.PROFILES}:
            raise UsageError(
                f"{labels.layout.name} holds energy maps: seldio score compares them. To use directions only, name a "
                "profile of labels, such as dcase2023"
            )
        return profiles.get(own)
    stereo = "distance" in labels.known and labels.known.isdisjoint(("elevation", "z"))
    return profiles.get("dcase2025" if stereo else USUAL)


#: Bytes of both sides that are read together, as if they were text.
PART = 1 << 22


class SharedPart(NamedTuple):
    """Some clips of both sides."""

    clips: tuple[str, ...]  # in alphabetic order
    first: ClipRows
    second: ClipRows
    size: int  # bytes of both sides
    files: tuple[str, ...]  # names of the clips of the second side

    @property
    def packed(self) -> bool:
        """Whether other processes would have to unpack its files anew."""
        return self.first.packed or self.second.packed


def shared_parts(
    first: Labels, second: Labels, clips: Sequence[str], moved: Mapping[str, str] | None = None
) -> list[SharedPart]:
    """Cut *clips* of two sides into parts, which depend on nothing but the files.

    Args:
        first: a side.
        second: the other one.
        clips: which of their clips.
        moved: names of clips of the second side that are taken for others.
    """
    sizes, names = (first.sizes, second.sizes), moved or {}

    def size(clip: str) -> int:
        return sum(side.get(clip, 0) for side in sizes)

    def part(some: list[str]) -> SharedPart:
        files = tuple(names.get(clip, clip) for clip in some)
        return SharedPart(tuple(some), first.some(some), second.some(files), sum(map(size, some)), files)

    return list(map(part, cut(clips, PART, size)))


def settled(sides: Sequence[tuple[Labels, Faults]], force: bool) -> list[Finding]:
    """Return the errors of both sides, each with those that were found where its rows were read.

    Raises:
        InvalidData: there is one, and it is not forced.
    """
    found: list[Finding] = []
    for side, faults in sides:
        found += (side.faults + faults).settle(force)
    return found


class Compared(NamedTuple):
    """Both sides of a comparison, and the clips that are scored."""

    reference: Labels
    prediction: Labels
    clips: list[str]  # in alphabetic order
    left_out: tuple[int, int]  # clips that are not scored for want of a prediction, and for want of a reference
    split: str = ""  # of the reference, which has others too, that all predictions are of

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say about formats that were chosen."""
        return (
            *(f"the reference is {_reference_option(remark)}" for remark in self.reference.remarks),
            *(f"the prediction is {remark}" for remark in self.prediction.remarks),
        )


def join(
    labels: Labels,
    outputs: Source,
    layout: LabelFormat | None,
    *,
    allow_missing: bool,
) -> Compared:
    """Join the labels with the outputs of a system, which stay open and are likely to be of the years of the labels.

    Raises:
        InvalidData, UnknownFormat, UsageError: there are no outputs of one format.
        DataError: a clip lacks its prediction or its reference.
    """
    likely = Wanted(OF_SYSTEMS, years(labels.layout) or profiles.get(USUAL).years)
    found = labels_of(outputs, layout, likely, lent=labels.own)
    if isinstance(found, LabelFiles) and found.layout.role in OF_SYSTEMS:
        own_list = dataclasses.replace(found.layout, vocabulary=labels.layout.vocabulary)
        found = dataclasses.replace(found, layout=own_list, part=dataclasses.replace(found.part, layout=own_list))
    expected, there = set(labels.sizes), set(found.sizes) - labels.others
    split = _only_split(labels, there) if expected - there else ""
    return Compared(labels, found, *_clips(expected, there, allow_missing, split), split)


def all_of_split(split: str) -> str:
    """What to do where all predictions are of one *split* of the reference; empty where they are not."""
    return f"All predicted clips are of {split}: --split {split} leaves out the clips of other splits" if split else ""


def _reference_option(text: str) -> str:
    return text.replace("--format", "--reference-format")


def _clips(
    expected: set[str], found: set[str], allow_missing: bool, split: str = ""
) -> tuple[list[str], tuple[int, int]]:
    """Return the clips to score in alphabetic order, and how many lack a prediction and how many a reference.

    Raises:
        DataError: a clip lacks its prediction or its reference.
    """
    missing, surplus = sorted(expected - found), sorted(found - expected)
    if surplus and not expected & found:
        raise DataError(
            f"no clip is in both: the reference has {listed(sorted(expected), 3)}, the predictions {listed(surplus, 3)}"
            + _several_systems(expected, surplus)
        )
    if surplus and not allow_missing:
        raise DataError(
            f"{plural(len(surplus), 'predicted clip')} without reference: {listed(surplus)}. "
            "The official program ends with KeyError there. Take these files away, add their labels, or leave "
            "them out with --allow-missing"
        )
    if missing and not allow_missing:
        raise DataError(
            f"{plural(len(missing), 'clip')} of the reference without prediction: {listed(missing)}. "
            + (f"{all_of_split(split)}. " if split else "")
            + "The official program would leave them out of the score silently. An empty file says that "
            "nothing was found; --allow-missing scores the other clips alone"
        )
    return sorted(expected & found), (len(missing), len(surplus))


def _several_systems(expected: set[str], surplus: Sequence[str]) -> str:
    """What to do where only the folders of the predictions are in the way, as in a package of several systems."""
    last = {name.rpartition("/")[2] for name in expected}
    folders = sorted({name.rpartition("/")[0] for name in surplus if name.rpartition("/")[2] in last} - {""})
    if not folders:
        return ""
    return f". The names fit without their folders ({listed(folders, 5)}): score one of these at a time"


def labels_of(
    source: Source, layout: LabelFormat | None, wanted: Wanted | None, as_read: bool = False,
    lent: OwnDatasets | None = None,
) -> Labels:  # fmt: skip
    """What *source* holds, nothing of which is read yet unless it is a table.

    Without a *layout*, the content decides, and what is *wanted* where that does not tell. A table has label frames
    of 100 ms unless it is wanted *as_read*. *lent*: see :class:`Catalogue`.

    Raises:
        InvalidData: something is wrong with a file.
        UnknownFormat: the content does not tell the format; the message names the candidates.
        UsageError: it holds no labels, or several formats.
    """
    remarks: list[str] = []
    errors: list[Finding] = []

    def remark(finding: Finding) -> None:
        if finding.severity is Severity.ERROR:
            errors.append(finding)
        if finding.code == CHOSEN:
            remarks.append(f"{finding.message}; {finding.hint}" if finding.hint else finding.message)

    told = Catalogue(source, layout, raising_unknown(remark), wanted=wanted, lent=lent)
    found = told.parts(size=sys.maxsize, by_clip=True)
    if found and all(part.questions is not None for part in found):
        raise UsageError(f"{printable(source.path)} holds {found[0].questions}, not labels")
    found = [part for part in found if part.questions is None]
    checked_clips(found)
    for part in found:
        if part.layout is None:  # its files say why, with the true line
            part.labels(raising_unknown(raise_errors))
    for error in errors:
        raise_errors(error)
    layouts = {part.format.name: part.format for part in found if part.format is not None}
    if not layouts:
        raise UsageError(f"{printable(source.path)} holds no labels{why_no_labels(source)}")
    if len(layouts) != 1:
        raise UsageError(
            f"{printable(source.path)} holds {', '.join(layouts)}: choose a folder with a single format, or give the "
            "format of all"
        )
    (only,) = layouts.values()
    assert isinstance(only, LabelFormat)
    part, *more = (part for part in found if part.layout is not None)
    if only.clips_by == "rows" or more:
        return dataclasses.replace(_table(source, found, as_read), own=told.own)
    return LabelFiles(only, part, tuple(dict.fromkeys(remarks)), own=told.own)


def _table(source: Source, found: Sequence[Part], as_read: bool) -> LabelTable:
    """The one table of *source*, or its tables as one where they are shards of an export.

    Raises:
        UsageError: there are several, or two files describe one clip.
    """
    read = [one for part in found for one in part.labels(raising_unknown(raise_errors))]
    (rows, format), *others = joined(read)
    if others:
        raise UsageError(f"{printable(source.path)} holds {len(others) + 1} tables: choose one of them")
    layout = resolved(format, rows)
    entries = {} if format.role == "table" else entries_by_clip(read, found)
    names = sorted({file.clip for file in origin_of(rows).files})
    table = rows if as_read else framed(rows, layout)
    codes, known = clip_codes(table)
    place = {clip: number for number, clip in enumerate(names)}
    clip = np.array([place[name] for name in known], dtype=np.int64)[codes] if len(codes) else np.empty(0, np.int64)
    if (np.diff(clip) < 0).any():
        order = np.argsort(clip, kind="stable")
        table, clip = table.take(pa.array(order)), clip[order]
    ends = np.searchsorted(clip, np.arange(len(names) + 1)).tolist()
    first = dict(zip(names, pairwise(ends), strict=True))
    return LabelTable(layout, table, first, vet(read), entries=entries)


def framed(table: pa.Table, layout: LabelFormat) -> pa.Table:
    """*table* in label frames of 100 ms."""
    if not table.num_rows:
        return table
    if are_events(table):
        return frames_of(table, clock.HOP)
    return table if layout.hop == clock.HOP else rescaled(table, layout.hop, clock.HOP)
