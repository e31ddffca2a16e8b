"""A source as a whole: what its files are called, what they hold together, what was expected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry, Source
from seldio.findings import Finding
from seldio.formats.base import LabelReading

if TYPE_CHECKING:
    from seldio.media.audio import Probe


@dataclasses.dataclass(frozen=True)
class Reference:
    """What a submission is held against."""

    path: str  # what the user named
    #: the expected clips, each with its number of label frames where the reference tells it
    clips: Mapping[str, int | None]
    #: of a reference of labels, the number of label frames of each clip up to its last label
    labelled: Mapping[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Collection:
    """What the rules for submissions, packages and trees look at."""

    path: str  # the source as the user named it
    kind: str  # file, folder, zip, tar, gzip or stdin
    entries: Sequence[Entry]  # all its files, labels or not, sorted by name
    readings: Sequence[LabelReading]  # the label tables read from them, one for each group of one format
    reference: Reference | None = None  # what was expected, if the user said so
    #: of an export the files as they lie there, where *entries* are those that it was made from
    stored: Sequence[Entry] = ()

    @staticmethod
    def of(source: Source, readings: Sequence[LabelReading], reference: object) -> Collection:
        """The files of *source*, with the labels among them and the clips that are expected."""
        clips = reference if isinstance(reference, Reference) else None
        return Collection(source.path, source.kind, source.entries, readings, clips, source.stored)

    @property
    def clips(self) -> dict[str, str]:
        """The path of the label file of each clip."""
        return {part.origin.clip: part.file.path for reading in self.readings for part in reading.parts}

    @property
    def submitted(self) -> bool:
        """Whether the label files are a system's results, not labels."""
        return bool(self.readings) and all(r.format.role in ("submission", "output") for r in self.readings)


Found = Callable[..., Finding]


def probed(entry: Entry) -> tuple[Probe | None, str | None]:
    """The header of a recording, or why it cannot be read."""
    from seldio.media.audio import probe_entry

    try:
        return probe_entry(entry), None
    except InvalidData as error:
        return None, error.finding.message
    except SeldioError as error:
        return None, str(error)
