"""A source as a whole: the names of its files, their content taken together, and what was expected."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from seldio.catalogues.trees import Tree, TreePlace, read_tree
from seldio.clock import HOP
from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry
from seldio.findings import Finding, Rule
from seldio.formats.base import OF_SYSTEMS, FileRows, Ints, LabelReading
from seldio.schema.arrays import to_numpy
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.catalogues import FileGroup
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.media.audio import Probe


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
        folders = [place.name.split("/")[:-1] for place in places]
        low, high = min(folders), max(folders)
        same = [first for first, last in takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))]
        return base + "/".join(same) if same else self.path

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
