"""A source as a whole: its files taken together, what was expected, and the files that nobody looks at (LAY)."""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from seldio.catalogues import FileGroup, leftover_groups
from seldio.catalogues.trees import Tree, TreePlace, read_tree
from seldio.clock import HOP
from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry, Source
from seldio.files.names import suffix_of
from seldio.findings import Finding, Rule
from seldio.formats.base import OF_SYSTEMS, FileRows, Ints, LabelReading
from seldio.reader_rules import READER_RULES
from seldio.schema.arrays import to_numpy
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.media.audio import Probe

#: From this many files on, a fault that all of them share is one finding.
MANY = 4
#: By how much finer than label frames the grids are that are counted by mistake: those of 50, 20 and 10 ms.
FINER = (2, 5, 10)
#: How near the end of its clip the last row of a file is, with the right grid: as a share.
_NEAR = 0.8, 1.1
#: So many clips, and which share of all, have to agree; and the share of rows past the end that is more than padding or
#: false alarms.
_CLIPS, _AGREE, _BEHIND = 3, 0.8, 0.25


def finer_grid(last: Ints, length: Ints, behind: int, rows: int) -> int | None:
    """Return the factor of ``FINER`` by which frames are counted too finely, if clips agree on one.

    Args:
        last: the number of the last frame of each clip.
        length: the frames of 100 ms that its recording or labels have, 0 if unknown.
        behind: how many of all *rows* come after these ends.
        rows: how many rows there are.
    """
    usable = (length > 0) & (last >= 0)
    share = (last[usable] + 1) / length[usable]
    low, high = _NEAR
    fits = [np.count_nonzero((share >= low * factor) & (share <= high * factor)) for factor in FINER]
    best = int(np.argmax(fits))
    agree = len(share) >= _CLIPS and fits[best] >= _AGREE * len(share)
    return FINER[best] if agree and behind > _BEHIND * rows else None


@dataclasses.dataclass(frozen=True)
class Reference:
    """The reference that a submission is checked against."""

    path: str  # as the user passed it
    #: the expected clips, each with its number of label frames where the reference has it
    clips: Mapping[str, int | None]
    #: of a reference of labels, the number of label frames of each clip up to its last label
    labelled: Mapping[str, int] = dataclasses.field(default_factory=dict)
    own: OwnDatasets | None = None  # what the dataset that it is says of itself


class FramedClip(NamedTuple):
    """The frames of a clip that has rows, and where it ends."""

    part: FileRows
    frames: Ints
    hop: Fraction  # seconds between frames
    end: int | None  # the first frame behind its recording, or behind its labels where nobody knows that
    sure: bool  # whether it is that of the recording
    behind: Ints  # the rows past the end


@dataclasses.dataclass(frozen=True)
class Collection:
    """The files that the rules for submissions, packages and trees check."""

    path: str  # the source as the user passed it
    kind: str  # file, folder, zip, tar, gzip or stdin
    entries: Sequence[Entry]  # all its files, labels or not, sorted by name
    readings: Sequence[LabelReading]  # the label tables read from them, one for each group of one format
    reference: Reference | None = None  # what is expected, if the user passed it
    exported: bool = False  # whether it is an export, and *entries* are the files that it was made from
    wrong: Sequence[Finding] = ()  # what was found when its files were read
    own: OwnDatasets | None = None  # what the datasets say of themselves
    others: Sequence[FileGroup] = ()  # the files that were passed over

    @cached_property
    def parts(self) -> list[tuple[LabelReading, FileRows]]:
        """The label files, each with the reading that it is in."""
        return [(reading, part) for reading in self.readings for part in reading.parts]

    @cached_property
    def clips(self) -> dict[str, str]:
        """The path of the label file of each clip."""
        return {part.origin.clip: part.file.path for _, part in self.parts}

    @property
    def expected(self) -> Mapping[str, int | None]:
        """The clips of the reference; none without one."""
        return self.reference.clips if self.reference is not None else {}

    @cached_property
    def tree(self) -> Tree:
        """The dataset tree that the files make, by their names and the formats of the labels among them."""
        folder = os.path.dirname(self.path) if self.kind == "file" else self.path  # noqa: PTH120
        formats = {reading.format.name for reading in self.readings}  # of files whose rows cannot be read as well
        return read_tree([entry.name for entry in self.entries], folder, lambda: formats)

    @cached_property
    def framed(self) -> list[FramedClip]:
        """The frames of all files that have some."""
        clips = []
        for reading in (reading for reading in self.readings if "frame" in reading.table.column_names):
            every, hop = to_numpy(reading.table["frame"]), reading.format.hop
            for part in (part for part in reading.parts if part.rows):
                length, end = self.expected.get(part.origin.clip), reading.format.clip_frames
                sure = length is not None or end is not None
                length = length if sure else self.labelled.get(part.origin.clip)  # in frames of 100 ms
                end = end if length is None else int(length * HOP / hop)
                frames = every[part.first : part.first + part.rows]
                behind = np.zeros(0, np.int64) if end is None else np.flatnonzero(frames >= end)
                clips.append(FramedClip(part, frames, hop, end, sure, behind))
        return clips

    @cached_property
    def finer(self) -> int | None:
        """By how much all files count frames too finely, by the lengths of recordings, or else by labels."""
        ended = [clip for clip in self.framed if clip.end]
        last = np.array([clip.frames.max() for clip in ended], dtype=np.int64)
        length = np.array([clip.end for clip in ended], dtype=np.int64)
        if len(last) > _CLIPS and len(set(last.tolist())) == 1 and len(set(length.tolist())) > 1:
            return None  # padded to one length
        behind, rows = sum(len(clip.behind) for clip in ended), sum(clip.part.rows for clip in ended)
        factor = finer_grid(last, length, behind, rows)
        more = factor is not None and np.ptp(last - length) < np.ptp(last - factor * length)  # each has as many more
        return None if more else factor

    @property
    def where(self) -> str:
        """The reference as messages call it; empty without one."""
        return printable(self.reference.path) if self.reference is not None else ""

    @property
    def labelled(self) -> Mapping[str, int]:
        """The label frames of each clip up to its last label in the reference, where that has labels."""
        return self.reference.labelled if self.reference is not None else {}

    @cached_property
    def unread_labels(self) -> list[FileGroup]:
        """The files that were passed over and have rows like those of labels that were read."""
        layouts = {reading.format.name for reading in self.readings}
        return [group for group in self.others if layouts.intersection(group.like)]

    def spot(self, places: Sequence[TreePlace]) -> str:
        """Return the path of one file, or of the folder that several have in common, else that of the source."""
        if not self.entries or not places:
            return self.path
        if len(places) == 1:
            return next(entry.path for entry in self.entries if entry.name == places[0].name)
        if self.exported:  # an export has no folder for them
            return self.path
        base = self.entries[0].path.removesuffix(self.entries[0].name)
        same = posixpath.commonpath([posixpath.dirname(f"/{place.name}") for place in places])[1:]
        return base + same if same else self.path

    def finding(self, rule: Rule, where: str | Sequence[TreePlace], *words: Any, **place: Any) -> Finding:
        """Return a finding of *rule* at a path, or at the :meth:`spot` of some places of a tree."""
        return rule.at(where if isinstance(where, str) else self.spot(where), *words, **place)

    @property
    def submitted(self) -> bool:
        """Whether the label files are a system's results, not labels."""
        return bool(self.readings) and all(r.format.role in OF_SYSTEMS for r in self.readings)


MakeFinding = Callable[..., Finding]
Thing = TypeVar("Thing")
Key = TypeVar("Key", bound=Hashable)


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key | None]) -> dict[Key, list[Thing]]:
    """Return *things* by a key, in their order; those whose key is None are left out."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        if (group := key(thing)) is not None:
            groups.setdefault(group, []).append(thing)
    return groups


def by_folder(things: Iterable[Thing], name: Callable[[Thing], str]) -> list[list[Thing]]:
    """Return *things* by the folder of their names."""
    return [inside for _, inside in sorted(grouped(things, lambda thing: name(thing).rpartition("/")[0]).items())]


def probed(entry: Entry) -> tuple[Probe | None, str | None]:
    """Return the header of a recording, or why it cannot be read."""
    from seldio.media.audio import probe_entry

    try:
        return probe_entry(entry), None
    except InvalidData as error:
        return None, error.finding.message
    except SeldioError as error:
        return None, error.text


# --- files that are passed over --------------------------------------------------------------------------

_ARCHIVE = re.compile(r"(?i)\.(zip|tar|tgz|tar\.\w+|gz|bz2|xz|7z|rar)$")


def nothing_checked(source: Source, others: Sequence[FileGroup]) -> Finding:
    """Return the finding about a source in which there are only *others*, files that are passed over."""
    if not others:
        what, hint = "there is no file in it", "name the folder that holds the data"
    else:
        what, hint = _what_is_there(others, source.kind)
    return READER_RULES["LAY118"].at(source.path, f"nothing was checked: {what}", hint)


def why_no_labels(source: Source) -> str:
    """Return the reason to give where a source holds no labels."""
    if not source.entries:
        return ": there is no file in it"
    what, hint = _what_is_there(leftover_groups(source), source.kind)
    return f": {what}; {hint}"


def _what_is_there(groups: Iterable[FileGroup], kind: str) -> tuple[str, str]:
    """Return the files of a source of that kind of which nothing is read, counted, and what to do."""
    counts, hints = [], []
    for group in groups:
        entries, count = group.files, f"{plural(len(group.files), 'file')} {group.evidence}"
        if layout := " or ".join(group.like):
            looks, are = ("looks", "is") if len(entries) == 1 else ("look", "are")
            counts.append(f"{count}, which {looks} like labels ({layout}) but {are} not named *.csv")
            hints.append("rename them to .csv")
        elif all(_ARCHIVE.search(entry.name) for entry in entries):
            counts.append(f"{count}, {'an archive' if len(entries) == 1 else 'archives'} inside of this {kind}")
            hints.append(f"unpack {printable(entries[0].path)} first")
        else:
            counts.append(count)
    more = f"; and {plural(len(counts) - _KINDS, 'more kind')} of files" if len(counts) > _KINDS else ""
    hint = "; ".join(dict.fromkeys(hints)) or "labels are .csv, questions .json or .jsonl; seldio formats lists all"
    return f"{'; '.join(counts[:_KINDS])}{more}", hint


#: So many kinds of files are named.
_KINDS = 5


def labels_not_read(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    for group in collection.unread_labels:
        names = listed([entry.name.rpartition("/")[2] for entry in group.files])
        count = plural(len(group.files), f"file {group.evidence} is", f"files {group.evidence} are")
        yield finding(group.files[0].path, f"{count} not read, despite rows like those of the labels: {names}")


def packed_labels(collection: Collection, finding: MakeFinding) -> Iterator[Finding]:
    packed = [entry for entry in collection.entries if suffix_of(entry.path) == "gz" != suffix_of(entry.name)]
    if packed and collection.kind == "folder":
        count = plural(len(packed), "file is", "files are")
        yield finding(collection.path, f"{count} compressed with gzip: seldio reads them, others may not")


UNREAD_RULES = (labels_not_read, packed_labels)
