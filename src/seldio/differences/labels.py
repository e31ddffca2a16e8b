"""Two versions of labels: which clips are the same, what was done to whole clips, and what to single events.

Rows are compared a few clips at a time, where :func:`seldio.running` says. Clips whose rows are the same cost no more
than reading them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.check.labels import Faults
from seldio.conversion.frames import are_events, frames_of, rescaled
from seldio.differences import relations
from seldio.differences.events import ChangedEvent, changed_events, events_of
from seldio.differences.rows import (
    FIELDS,
    MICRO,
    NO_SOURCE,
    Codes,
    VersionRows,
    fields_of,
    in_order,
    same_by_clip,
    version_rows,
)
from seldio.errors import DataError
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.parallel import parallel_map
from seldio.scores.seld.join import SharedPart, SideLabels, labels_of, settled, shared_parts
from seldio.text import listed, printable


@dataclasses.dataclass(frozen=True)
class ChangedClip:
    """A clip that is not the same in both versions."""

    clip: str
    causes: tuple[str, ...] = ()  # what was done to the whole clip
    events: tuple[ChangedEvent, ...] = ()
    same: int = 0  # events that are the same, but for the causes
    count: int = 0  # events of the new version
    reordered: bool = False  # whether rows are in another order, and nothing else differs


@dataclasses.dataclass(frozen=True)
class LabelChanges:
    """The changes in some clips; those of parts add up."""

    clips: int = 0  # that both versions have
    changed: tuple[ChangedClip, ...] = ()
    faults: tuple[Faults, Faults] = dataclasses.field(default_factory=lambda: (Faults(), Faults()))

    def __add__(self, other: LabelChanges) -> LabelChanges:
        return LabelChanges(
            self.clips + other.clips,
            self.changed + other.changed,
            (self.faults[0] + other.faults[0], self.faults[1] + other.faults[1]),
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Comparing:
    """The work on a part."""

    layouts: tuple[str, str]  # vocabularies of the two versions
    hops: tuple[Fraction, Fraction]  # seconds between their frames
    fields: tuple[str, ...]  # values that both have
    sources: bool  # whether both number their sources

    def __call__(self, part: SharedPart) -> LabelChanges:
        """Return the changes in *part*.

        Raises:
            InvalidData: something in a file cannot be read.
        """
        (one, amiss), (two, wrong) = part.first.rows(as_read=True), part.second.rows(as_read=True)
        tables, hop = self._alike(one, two)
        index = {clip: number for number, clip in enumerate(part.clips)}
        labels, rests = Codes(), Codes()
        old, new = (
            version_rows(table, index, classes, labels, rests, self.fields)
            for table, classes in zip(tables, self.layouts, strict=True)
        )
        if not self.sources:
            old, new = (dataclasses.replace(side, source=np.full_like(side.source, NO_SOURCE)) for side in (old, new))
        changed = []
        for clip, a, b, reordered in _differing(old, new, len(part.clips)):
            found = self._changed(part.clips[clip], a, b, list(labels), hop, reordered)
            if found.causes or found.events or found.reordered:  # else only the rounding differs
                changed.append(found)
        return LabelChanges(len(part.clips), tuple(changed), (amiss, wrong))

    def _alike(self, *tables: pa.Table | None) -> tuple[list[pa.Table | None], Fraction]:
        """Both tables with rows of one kind, and seconds of a tick of their times."""
        whole = [table is not None and bool(table.num_rows) and are_events(table) for table in tables]
        empty = [table is None or not table.num_rows for table in tables]
        if any(whole) and all(one or none for one, none in zip(whole, empty, strict=True)):
            return list(tables), Fraction(1, MICRO)
        hop = self.hops[0] if len(set(self.hops)) == 1 and not any(whole) else clock.HOP
        found: list[pa.Table | None] = []
        for table, events, none, own in zip(tables, whole, empty, self.hops, strict=True):
            if none or table is None:
                found.append(table)
            elif events:
                found.append(frames_of(table, hop))
            else:
                found.append(table if own == hop else rescaled(table, own, hop))
        return found, hop

    def _changed(
        self, clip: str, old: VersionRows, new: VersionRows, labels: Sequence[str], hop: Fraction, reordered: bool
    ) -> ChangedClip:
        whole = hop == Fraction(1, MICRO)
        after = events_of(new, whole)
        if reordered:
            return ChangedClip(clip, same=len(after), reordered=True)
        causes, old = relations.causes(old, new, float(hop))
        events, same = changed_events(events_of(old, whole), after, labels, float(hop))
        return ChangedClip(clip, tuple(causes), tuple(events), same, len(after))


def _differing(old: VersionRows, new: VersionRows, clips: int) -> Iterator[tuple[int, VersionRows, VersionRows, bool]]:
    """The clips whose rows differ, with the sorted rows of both versions, and whether only their order differs."""
    same = same_by_clip(old, new, clips)
    a, b = (in_order(side.take(~same[side.clip])) for side in (old, new))
    reordered = same_by_clip(a, b, clips)
    clip = np.flatnonzero(~same)
    bounds = [zip(*(side.clip.searchsorted([clip, clip + 1])).tolist(), strict=True) for side in (a, b)]
    for one, was, now in zip(clip.tolist(), *bounds, strict=True):
        yield one, a.take(slice(*was)), b.take(slice(*now)), bool(reordered[one])


@dataclasses.dataclass(frozen=True)
class LabelVersions:
    """Both versions, which stay open, and the clips of each."""

    old: SideLabels
    new: SideLabels

    @property
    def common(self) -> list[str]:
        """Clips that both have."""
        return sorted(set(self.old.sizes) & set(self.new.sizes))

    @property
    def dropped(self) -> list[str]:
        """Clips that only the old version has."""
        return sorted(set(self.old.sizes) - set(self.new.sizes))

    @property
    def added(self) -> list[str]:
        """Clips that only the new version has."""
        return sorted(set(self.new.sizes) - set(self.old.sizes))

    @property
    def fields(self) -> tuple[list[str], list[str]]:
        """Columns that only the old version has, and only the new one."""
        old, new = self.old.fields, self.new.fields
        return sorted(old - new), sorted(new - old)


def versions(old: Source, new: Source, formats: tuple[LabelFormat | None, LabelFormat | None]) -> LabelVersions:
    """Return the labels of both sources.

    Raises:
        InvalidData, UnknownFormat, UsageError: one holds no labels of one format.
        DataError: no clip is in both.
    """
    a, b = (labels_of(source, format, None, as_read=True) for source, format in zip((old, new), formats, strict=True))
    found = LabelVersions(a, b)
    if not found.common and found.dropped and found.added:
        raise DataError(
            f"no clip is in both: {printable(old.path)} has {listed(found.dropped, 3)}, "
            f"{printable(new.path)} has {listed(found.added, 3)}"
        )
    return found


def compared(found: LabelVersions, force: bool) -> LabelChanges:
    """Compare the clips that both versions have.

    Raises:
        InvalidData: a version has errors, and they are not forced.
    """
    parts = shared_parts(found.old, found.new, found.common)
    sides = found.old.layout, found.new.layout
    fields = tuple(name for name in FIELDS if all(name in fields_of(side.fields) for side in (found.old, found.new)))
    numbered = "source" in found.old.fields & found.new.fields
    work = Comparing((sides[0].vocabulary, sides[1].vocabulary), (sides[0].hop, sides[1].hop), fields, numbered)
    total = LabelChanges()
    for one in parallel_map(work, parts, what="comparing", size=attrgetter("size"), here=True):
        total += one
    settled(list(zip((found.old, found.new), total.faults, strict=True)), force)
    return total
