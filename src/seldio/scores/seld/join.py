"""The labels of both sides by clip, and the clips that both have."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.catalogues import Catalogue
from seldio.catalogues.parts import Part, entries_by_clip, resolved
from seldio.catalogues.trees import read_tree
from seldio.check.labels import Faults
from seldio.conversion import losses
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.conversion.inputs import joined, raising_unknown
from seldio.errors import DataError, UnknownFormat, UsageError
from seldio.files import Source
from seldio.findings import Finding, Severity, raise_errors
from seldio.formats import LabelFormat
from seldio.formats.base import OF_SYSTEMS
from seldio.formats.datasets import named_split, of_dialect
from seldio.formats.detect import CHOSEN, Wanted, means_the_same, years
from seldio.formats.dialects import DIALECTS
from seldio.parallel import cut, parallel_map
from seldio.rules.collection import why_no_labels
from seldio.schema.events import clip_codes, origin_of
from seldio.schema.splits import within
from seldio.scores.seld import profiles
from seldio.scores.seld.profiles import SeldProfile
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import own, short

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets

T = TypeVar("T")
#: Bytes that a row of a table is counted as where parts are cut: those of a row of text.
ROW = 24


def rows_of(held: Part | pa.Table, as_read: bool = False) -> tuple[pa.Table | None, Faults]:
    """Return the rows of files or of a table, with frames of 100 ms unless they are wanted *as_read*, and their errors.

    Rows are None where there is no file; those of a table were checked as a whole.

    Raises:
        InvalidData: something in a file cannot be read.
        DataError: a file has rows of a clip that it is not the file of.
    """
    if not isinstance(held, Part):
        return held, Faults()
    read = held.labels(raising_unknown(raise_errors))
    clips = {file.clip for file in held.files}
    for part in (part for labels in read for part in labels.reading.parts if part.origin.clip not in clips):
        raise DataError(
            f"{printable(part.file.path)} has rows of the clip {clipped(part.origin.clip)}, but is the file of "
            f"{clipped(part.file.clip)}: convert it first, which writes a file for each clip"
        )
    tables = (
        labels.reading.table if as_read else framed(labels.reading.table, labels.reading.format) for labels in read
    )
    return next(tables, None), Faults(read)


class ClipPlace(NamedTuple):
    """The place of the labels of a clip."""

    rows: range  # which files of a part, or which rows of a table
    size: int  # bytes, as if they were text
    name: str  # of its file
    path: str


@dataclasses.dataclass(frozen=True)
class SideLabels:
    """A side: a label file for each clip, in a source that stays open, or one table that has rows of many clips."""

    layout: LabelFormat  # of the files, or of the labels that the table was made from
    held: Part | pa.Table  # of a table the rows by clip
    clips: Mapping[str, ClipPlace]  # silent ones too
    fields: set[str]  # columns that rows have, or may have
    known: set[str]  # columns that have a value in some row
    faults: Faults = dataclasses.field(default_factory=Faults)  # of a table; those of files are found in their rows
    remarks: tuple[str, ...] = ()  # sentences about the choice of the format
    own: OwnDatasets | None = None  # what the datasets say of themselves
    others: frozenset[str] = frozenset()  # clips of other splits than that which is wanted

    def some(self, clips: Sequence[str]) -> Part | pa.Table:
        """Return what there is of *clips*, see :func:`rows_of`."""
        places = [self.clips[clip].rows for clip in clips if clip in self.clips]
        if isinstance(self.held, Part):
            return self.held.chosen([number for place in places for number in place])
        slices = [self.held.slice(place.start, len(place)) for place in places]
        # one chunk of its own: pickling a slice would take all rows of the table along
        return pa.concat_tables([self.held.slice(0, 0), *slices]).combine_chunks()


#: The profile where nobody names one and the labels do not ask for another.
USUAL = "dcase2023"


def reference_labels(
    source: Source, layout: LabelFormat | None, split: str | None = None, profile: SeldProfile | None = None
) -> SideLabels:
    """Open the labels that predictions are compared with, with the class list of their year; *source* stays open.

    *layout* and *profile* are as the user named them; the profile tells the class list where neither the columns nor
    the tree does.

    Raises:
        InvalidData, UnknownFormat, UsageError: it holds no labels of one format, or none of the split.
    """
    try:
        labels = labels_of(source, layout, Wanted(("label",)))
    except UnknownFormat as error:
        raise UnknownFormat(error.text.replace("--format", "--reference-format")) from None
    if layout is None:
        labels = dataclasses.replace(labels, layout=_of_year(labels, profile))
    if split is None:
        return labels
    splits = splits_of(labels)
    chosen = {clip for clip, name in splits.items() if within(name, split)}
    if not chosen:
        there = listed(sorted({name or "clips of which nothing tells the split" for name in splits.values()}), 10)
        raise UsageError(f"{printable(source.path)} has no clip in the split {printable(split)}; it has {there}")
    clips = {clip: labels.clips[clip] for clip in sorted(chosen)}
    return dataclasses.replace(labels, clips=clips, others=frozenset(labels.clips) - chosen)


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
    mapped = losses.classes(table, layout, target)
    if mapped.lost:
        raise UsageError(
            f"the prediction is {layout.name} with the classes of {short(layout.vocabulary)}, the reference has those "
            f"of {short(classes)}, where there is no {listed(sorted(mapped.lost), 5)}: rename these classes or take "
            "them away, or name the class list that the numbers of both sides index (--classes)"
        )
    return table.set_column(table.column_names.index("class_id"), "class_id", mapped.ids)


#: Files by whose paths the year of labels is told.
_TREE = 2000


def _of_year(labels: SideLabels, profile: SeldProfile | None) -> LabelFormat:
    layout = labels.layout
    lists = class_lists(layout)
    if len({*lists.values()}) == 1:
        return layout
    year = read_tree([place.path for place in labels.clips.values()][:_TREE]).row.name
    usual = next((one.name for one in DIALECTS if means_the_same(one, layout)), "")  # which is read without evidence
    known = lists.get(year, layout.vocabulary)
    if profile is not None and year not in lists and layout.name == usual and profile.vocabulary in lists.values():
        known = profile.vocabulary
    return dataclasses.replace(layout, vocabulary=known)


def splits_of(labels: SideLabels) -> dict[str, str]:
    """Return the split of each clip, as its folder is called or its dataset calls it; empty where nothing tells it."""
    return {
        clip: (labels.own and labels.own.split(place.name)) or named_split(place.path, labels.layout.name)
        for clip, place in labels.clips.items()
    }


def _only_split(labels: SideLabels, found: set[str]) -> str:
    """Return the split of *labels* that all predictions are of, where it has others too; empty if there is none."""
    splits = splits_of(labels)
    mine = {name for clip, name in splits.items() if clip in found}
    words = min(mine, default="").split("-")
    longer = ("-".join(words[:count]) for count in range(len(words), 0, -1))
    name = next((name for name in longer if all(within(own, name) for own in mine)), "")
    return name if name and any(not within(other, name) for other in splits.values()) else ""


def usual_profile(labels: SideLabels) -> SeldProfile:
    """Return the default profile of labels: that of their dataset, or else one that fits their content.

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
    first: Part | pa.Table
    second: Part | pa.Table
    size: int  # bytes of both sides


def shared_parts(first: SideLabels, second: SideLabels, clips: Sequence[str]) -> list[SharedPart]:
    """Cut *clips* of two sides into parts."""
    sizes = {clip: sum(side.clips[clip].size for side in (first, second) if clip in side.clips) for clip in clips}
    return [
        SharedPart(tuple(some), first.some(some), second.some(some), sum(sizes[clip] for clip in some))
        for some in cut(clips, PART, sizes.__getitem__)
    ]


def settled(sides: Sequence[tuple[SideLabels, Faults]], force: bool) -> list[Finding]:
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

    reference: SideLabels
    prediction: SideLabels
    clips: list[str]  # in alphabetic order
    left_out: tuple[int, int]  # clips that are not scored for want of a prediction, and for want of a reference
    split: str = ""  # of the reference, which has others too, that all predictions are of

    def each(self, work: Callable[[SharedPart], T], what: str) -> Iterator[T]:
        """Yield what *work* makes of each part, where :func:`seldio.running` says."""
        parts = shared_parts(self.reference, self.prediction, self.clips)
        # what is packed would be unpacked anew by other processes
        here = any(isinstance(side.held, Part) and side.held.packed for side in (self.reference, self.prediction))
        return parallel_map(work, parts, what=what, size=attrgetter("size"), here=here)


def join(
    labels: SideLabels,
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
    found = labels_of(outputs, layout, likely, described=labels.own)
    if isinstance(found.held, Part) and found.layout.role in OF_SYSTEMS:
        own_list = dataclasses.replace(found.layout, vocabulary=labels.layout.vocabulary)
        found = dataclasses.replace(found, layout=own_list, held=dataclasses.replace(found.held, layout=own_list))
    expected, there = set(labels.clips), set(found.clips) - labels.others
    split = _only_split(labels, there) if expected - there else ""
    return Compared(labels, found, *_clips(expected, there, allow_missing, split), split)


def all_of_split(split: str) -> str:
    """Return a hint if all predictions are of one *split* of the reference; empty where they are not."""
    return f"All predicted clips are of {split}: --split {split} leaves out the clips of other splits" if split else ""


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
    """Return a hint if only the folders of the predictions do not fit, as in a package of several systems."""
    last = {name.rpartition("/")[2] for name in expected}
    folders = sorted({name.rpartition("/")[0] for name in surplus if name.rpartition("/")[2] in last} - {""})
    if not folders:
        return ""
    return f". The names fit without their folders ({listed(folders, 5)}): score one of these at a time"


def labels_of(
    source: Source,
    layout: LabelFormat | None,
    wanted: Wanted | None,
    as_read: bool = False,
    described: OwnDatasets | None = None,
) -> SideLabels:
    """Return the labels in *source*, which are not read yet unless they are a table.

    Without a *layout*, the content decides, and what is *wanted* where that does not tell. A table has label frames
    of 100 ms unless it is wanted *as_read*. *described*: see :class:`Catalogue`.

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

    told = Catalogue(source, layout, raising_unknown(remark), wanted=wanted, described=described)
    found = told.parts(size=sys.maxsize, by_clip=True)
    if found and all(part.questions is not None for part in found):
        raise UsageError(f"{printable(source.path)} holds {found[0].questions}, not labels")
    found = [part for part in found if part.questions is None]
    entries_by_clip(found)
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
    fields, clips = {*only.carries}, {}
    for number, file in enumerate(part.files):
        clips[file.clip] = ClipPlace(range(number, number + 1), file.size, file.entry.name, file.entry.path)
    return SideLabels(only, part, clips, fields, fields, remarks=tuple(dict.fromkeys(remarks)), own=told.own)


def _table(source: Source, found: Sequence[Part], as_read: bool) -> SideLabels:
    """Return the one table of *source*, or its tables as one where they are shards of an export.

    Raises:
        UsageError: there are several, or two files describe one clip.
    """
    read = [one for part in found for one in part.labels(raising_unknown(raise_errors))]
    (rows, format), *others = joined(read)
    if others:
        raise UsageError(f"{printable(source.path)} holds {len(others) + 1} tables: choose one of them")
    layout = resolved(format, rows)
    entries = {} if format.role == "table" else entries_by_clip(found, read)  # but for Parquet
    names = {file.clip: file.name for file in sorted(origin_of(rows).files, key=attrgetter("clip"))}
    table = rows if as_read else framed(rows, layout)
    codes, clips = clip_codes(table)
    numbers = {name: number for number, name in enumerate(names)}
    clip = np.array([numbers[name] for name in clips] or [-1], np.int64)[codes]
    if (np.diff(clip) < 0).any():
        order = np.argsort(clip, kind="stable")
        table, clip = table.take(pa.array(order)), clip[order]
    ends, places = np.searchsorted(clip, np.arange(len(names) + 1)).tolist(), {}
    for place, (name, start, stop) in zip(names, zip(names.values(), ends, ends[1:], strict=False), strict=True):
        path = entries[place].path if place in entries else name
        places[place] = ClipPlace(range(start, stop), (stop - start) * ROW, name, path)
    known = {name for name in table.column_names if table[name].null_count < table.num_rows}
    return SideLabels(
        layout, table, places, {*table.column_names, *(layout.carries if layout.own else ())}, known, Faults(read)
    )


def framed(table: pa.Table, layout: LabelFormat) -> pa.Table:
    """Return *table* in label frames of 100 ms."""
    if not table.num_rows:
        return table
    if are_events(table):
        return frames_of(table, clock.HOP)
    return table if layout.hop == clock.HOP else rescaled(table, layout.hop, clock.HOP)
