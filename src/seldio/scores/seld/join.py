"""The labels of both sides by clip, and the clips that both have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.catalogues import Catalogue
from seldio.catalogues.parts import Part, entries_by_clip, resolved
from seldio.catalogues.trees import read_tree
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.conversion.inputs import joined, raising_unknown
from seldio.errors import DataError, UnknownFormat, UsageError
from seldio.files import Source
from seldio.findings import Finding, Severity, raise_errors
from seldio.formats import LabelFormat, LabelReading
from seldio.formats.base import OF_SYSTEMS, Role
from seldio.formats.datasets import named_split
from seldio.formats.detect import Detection, means_the_same, years
from seldio.formats.dialects import DIALECTS
from seldio.formats.label_csv import Dialect
from seldio.parallel import cut
from seldio.rules.collection import why_no_labels
from seldio.schema.events import clip_codes, origin_of
from seldio.schema.splits import within
from seldio.scores.seld import profiles
from seldio.scores.seld.profiles import SeldProfile
from seldio.text import clipped, listed, plural, printable
from seldio.vocabularies import own as of_own_dataset

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets

#: Bytes that a row of a table is counted as where parts are cut: those of a row of text.
ROW = 24
_NEVER = 10_000


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The roles and years that files are likely to have."""

    roles: tuple[Role, ...]  # labels, or what systems write
    years: tuple[int, ...] = ()  # of the labels that they are compared with

    def rank(self, format: Dialect) -> tuple[bool, int, bool]:
        """Return how well a format fits: the role before the year, and that before a header that is missing."""
        distances = [abs(year - other) for year in years(format) for other in self.years]
        return format.role in self.roles, -min(distances, default=_NEVER), format.header is None

    def chosen(self, detection: Detection) -> tuple[Dialect | None, list[Dialect]]:
        """Return the format that fits best of those that remain, and the others; None where two fit as well."""
        format = detection.format
        remaining = [format, *detection.alike] if format else [candidate.format for candidate in detection.candidates]
        if not remaining or (format is None and detection.rows.change is not None):
            return format, []
        best = max(remaining, key=self.rank)
        others = [other for other in remaining if not means_the_same(other, best)]
        if "label" in self.roles:
            others = [other for other in others if other.role in self.roles]
        if any(self.rank(other) == self.rank(best) for other in others):
            return format, []
        return best, others


def rows_of(labels: Part | pa.Table, as_read: bool = False) -> tuple[pa.Table | None, list[LabelReading]]:
    """Return the rows of files or of a table, with frames of 100 ms unless they are wanted *as_read*, and the readings.

    Rows are None where there is no file; those of a table were checked as a whole.

    Raises:
        InvalidData: something in a file cannot be read.
        DataError: a file has rows of a clip that it is not the file of.
    """
    if not isinstance(labels, Part):
        return labels, []
    read = labels.labels(raising_unknown(raise_errors))
    clips = {file.clip for file in labels.files}
    for part in (part for reading in read for part in reading.parts if part.origin.clip not in clips):
        raise DataError(
            f"{printable(part.file.path)} has rows of the clip {clipped(part.origin.clip)}, but is the file of "
            f"{clipped(part.file.clip)}: convert it first, which writes a file for each clip"
        )
    tables = (reading.table if as_read else framed(reading.table, reading.format) for reading in read)
    return next(tables, None), read


class ClipPlace(NamedTuple):
    """The place of the labels of a clip."""

    rows: range  # which files of a part, or which rows of a table
    size: int  # bytes, as if they were text
    name: str  # of its file
    path: str


@dataclasses.dataclass(frozen=True)
class SideLabels:
    """A side: a label file for each clip, or one table that has rows of many clips."""

    layout: LabelFormat  # of the files, or of the labels that the table was made from
    held: Part | pa.Table  # of a table the rows by clip
    clips: Mapping[str, ClipPlace]  # silent ones too
    fields: set[str]  # columns that rows have, or may have
    filled: set[str]  # columns that have a value in some row
    readings: Sequence[LabelReading] = ()  # of a table; files are read clip by clip
    remarks: tuple[str, ...] = ()  # sentences about the choice of the format
    described: OwnDatasets | None = None  # what the datasets say of themselves
    others: frozenset[str] = frozenset()  # clips of other splits than that which is wanted

    def of_clips(self, clips: Sequence[str]) -> Part | pa.Table:
        """Return what there is of *clips*, see :func:`rows_of`."""
        places = [self.clips[clip].rows for clip in clips if clip in self.clips]
        if isinstance(self.held, Part):
            return self.held.chosen([number for place in places for number in place])
        slices = [self.held.slice(place.start, len(place)) for place in places]
        # one chunk of its own: pickling a slice would take all rows of the table along
        return pa.concat_tables([self.held.slice(0, 0), *slices]).combine_chunks()

    def splits(self) -> dict[str, str]:
        """Return the split of each clip, as its folder or its dataset calls it; empty where nothing tells it."""
        return {
            clip: (self.described and self.described.split(place.name)) or named_split(place.path, self.layout.name)
            for clip, place in self.clips.items()
        }


#: The profile where nobody names one and the labels do not ask for another.
USUAL = "dcase2023"
#: Files by whose paths the year of labels is told.
_TREE = 2000


def reference_labels(
    source: Source, layout: LabelFormat | None, split: str | None = None, profile: SeldProfile | None = None
) -> SideLabels:
    """Open the labels that predictions are compared with, with the class list of their year.

    *layout* and *profile* are as the user named them; the profile tells the class list where neither the columns nor
    the tree does.

    Raises:
        InvalidData, UnknownFormat, UsageError: it holds no labels of one format, or none of the split.
    """
    try:
        labels = labels_of(source, layout, Wanted(("label",)))
    except UnknownFormat as error:
        raise UnknownFormat(error.text.replace("--format", "--reference-format")) from None
    read, lists = labels.layout, class_lists(labels.layout)
    if layout is None and len({*lists.values()}) > 1:
        year = read_tree([place.path for place in labels.clips.values()][:_TREE]).row.name
        # the dialect that such columns are read as without evidence
        usual = next((dialect.name for dialect in DIALECTS if means_the_same(dialect, read)), "")
        classes = lists.get(year, read.vocabulary)
        if profile is not None and year not in lists and read.name == usual and profile.vocabulary in lists.values():
            classes = profile.vocabulary
        labels = dataclasses.replace(labels, layout=dataclasses.replace(read, vocabulary=classes))
    if split is None:
        return labels
    splits = labels.splits()
    chosen = {clip for clip, name in splits.items() if within(name, split)}
    if not chosen:
        names = listed(sorted({name or "clips of which nothing tells the split" for name in splits.values()}), 10)
        raise UsageError(f"{printable(source.path)} has no clip in the split {printable(split)}; it has {names}")
    clips = {clip: labels.clips[clip] for clip in sorted(chosen)}
    return dataclasses.replace(labels, clips=clips, others=frozenset(labels.clips) - chosen)


def class_lists(layout: LabelFormat) -> dict[str, str]:
    """Return the class lists that the numbers of a format may index, by the names of all formats with its columns."""
    if of_own_dataset(layout.vocabulary):
        return {layout.name: layout.vocabulary}
    twins = [dialect for dialect in DIALECTS if means_the_same(dialect, layout) and dialect.name != layout.name]
    names = ((twin, name) for twin in (*twins, layout) for name in (*twin.aliases, twin.name))
    return {name: twin.under(name).vocabulary for twin, name in names} | {layout.name: layout.vocabulary}


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
        SharedPart(tuple(part), first.of_clips(part), second.of_clips(part), sum(sizes[clip] for clip in part))
        for part in cut(clips, PART, sizes.__getitem__)
    ]


class Compared(NamedTuple):
    """Both sides of a comparison, and the clips that are scored."""

    reference: SideLabels
    prediction: SideLabels
    clips: list[str]  # in alphabetic order
    left_out: tuple[int, int]  # clips that are not scored for want of a prediction, and for want of a reference
    hint: str = ""  # what to do where all predictions are of one split of the reference, which has others too


def join(labels: SideLabels, outputs: Source, layout: LabelFormat | None, *, allow_missing: bool) -> Compared:
    """Join the labels with the outputs of a system, likely to be of the years of the labels.

    Raises:
        InvalidData, UnknownFormat, UsageError: there are no outputs of one format.
        DataError: a clip lacks its prediction or its reference.
    """
    likely = Wanted(OF_SYSTEMS, years(labels.layout) or profiles.get(USUAL).years)
    predicted = labels_of(outputs, layout, likely, described=labels.described)
    if isinstance(predicted.held, Part) and predicted.layout.role in OF_SYSTEMS:
        of_labels = dataclasses.replace(predicted.layout, vocabulary=labels.layout.vocabulary)
        held = dataclasses.replace(predicted.held, format=of_labels)
        predicted = dataclasses.replace(predicted, layout=of_labels, held=held)
    expected, given = set(labels.clips), set(predicted.clips) - labels.others
    missing, surplus = sorted(expected - given), sorted(given - expected)
    if surplus and not expected & given:
        # only the folders of the predictions do not fit, as in a package of several systems
        last = {name.rpartition("/")[2] for name in expected}
        folders = sorted({name.rpartition("/")[0] for name in surplus if name.rpartition("/")[2] in last} - {""})
        several = f". The names fit without their folders ({listed(folders, 5)}): score one of these at a time"
        raise DataError(
            f"no clip is in both: the reference has {listed(sorted(expected), 3)}, the predictions {listed(surplus, 3)}"
            + (several if folders else "")
        )
    if surplus and not allow_missing:
        raise DataError(
            f"{plural(len(surplus), 'predicted clip')} without reference: {listed(surplus)}. "
            "The official program ends with KeyError there. Take these files away, add their labels, or leave "
            "them out with --allow-missing"
        )
    hint = ""
    if missing:
        splits = labels.splits()
        names = {name for clip, name in splits.items() if clip in given}
        words = min(names, default="").split("-")
        longer = ("-".join(words[:count]) for count in range(len(words), 0, -1))
        split = next((split for split in longer if all(within(name, split) for name in names)), "")
        if split and any(not within(name, split) for name in splits.values()):
            hint = f"All predicted clips are of {split}: --split {split} leaves out the clips of other splits"
    if missing and not allow_missing:
        raise DataError(
            f"{plural(len(missing), 'clip')} of the reference without prediction: {listed(missing)}. "
            + (f"{hint}. " if hint else "")
            + "The official program would leave them out of the score silently. An empty file says that "
            "nothing was found; --allow-missing scores the other clips alone"
        )
    return Compared(labels, predicted, sorted(expected & given), (len(missing), len(surplus)), hint)


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
    findings: list[Finding] = []
    sink = raising_unknown(findings.append)
    catalogue = Catalogue(source, layout, sink, wanted=wanted, described=described)
    parts = [part.by_clip() for part in catalogue.labels]
    if catalogue.asked is not None and not parts:
        raise UsageError(f"{printable(source.path)} holds {catalogue.asked.name}, not labels")
    entries_by_clip(parts)
    for part in parts:
        if part.format is None:  # its files say why, with the true line
            part.labels(raising_unknown(raise_errors))
    for finding in findings:
        if finding.severity is Severity.ERROR:
            raise_errors(finding)
    layouts = {part.format.name: part.format for part in parts if part.format is not None}
    if not layouts:
        raise UsageError(f"{printable(source.path)} holds no labels{why_no_labels(source)}")
    if len(layouts) != 1:
        raise UsageError(
            f"{printable(source.path)} holds {', '.join(layouts)}: choose a folder with a single format, or give the "
            "format of all"
        )
    (only,) = layouts.values()
    assert isinstance(only, LabelFormat)
    readable = [part for part in parts if part.format is not None]
    if only.clips_by == "rows" or len(readable) > 1:
        return dataclasses.replace(_table(source, parts, as_read), described=catalogue.own)
    fields, clips = {*only.carries}, {}
    for number, file in enumerate(readable[0].files):
        clips[file.clip] = ClipPlace(range(number, number + 1), file.size, file.entry.name, file.entry.path)
    choices = [finding for finding in findings if finding.code == "SYN902"]
    remarks = (f"{choice.message}; {choice.hint}" if choice.hint else choice.message for choice in choices)
    unique = tuple(dict.fromkeys(remarks))
    return SideLabels(only, readable[0], clips, fields, fields, remarks=unique, described=catalogue.own)


def _table(source: Source, parts: Sequence[Part], as_read: bool) -> SideLabels:
    """Return the one table of *source*, or its tables as one where they are shards of an export.

    Raises:
        UsageError: there are several, or two files describe one clip.
    """
    read = [reading for part in parts for reading in part.labels(raising_unknown(raise_errors))]
    (rows, format), *others = joined(read)
    if others:
        raise UsageError(f"{printable(source.path)} holds {len(others) + 1} tables: choose one of them")
    layout = resolved(format, rows)
    entries = {} if format.role == "table" else entries_by_clip(parts, read)  # but for Parquet
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
    fields = {*table.column_names, *(layout.carries if layout.own else ())}
    filled = {name for name in table.column_names if table[name].null_count < table.num_rows}
    return SideLabels(layout, table, places, fields, filled, read)


def framed(table: pa.Table, layout: LabelFormat) -> pa.Table:
    """Return *table* in label frames of 100 ms."""
    if not table.num_rows:
        return table
    if are_events(table):
        return frames_of(table, clock.HOP)
    return table if layout.hop == clock.HOP else rescaled(table, layout.hop, clock.HOP)
