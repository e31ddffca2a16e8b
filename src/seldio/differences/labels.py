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
from seldio.differences.causes import causes
from seldio.differences.events import ChangedEvent, EventTable, changed_events
from seldio.differences.rows import FIELDS, MICRO, Codes, Rows, fields_of, in_order, same_by_clip, taken, version_rows
from seldio.errors import DataError
from seldio.files import Source
from seldio.formats import LabelFormat
from seldio.parallel import parallel_map
from seldio.scores.seld.join import SharedPart, SideLabels, labels_of, rows_of, settled, shared_parts
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
class Comparing:
    """The work on a part."""

    layouts: tuple[str, str]  # vocabularies of the two versions
    hops: tuple[Fraction, Fraction]  # seconds between their frames
    columns: tuple[str, ...]  # values that both have, and ``source`` if both number their sources

    def __call__(self, part: SharedPart) -> tuple[list[ChangedClip], Faults, Faults]:
        """Return the changed clips of *part*, and the errors in both versions.

        Raises:
            InvalidData: something in a file cannot be read.
        """
        (one, amiss), (two, wrong) = rows_of(part.first, as_read=True), rows_of(part.second, as_read=True)
        tables, hop = self._alike(one, two)
        index = {clip: number for number, clip in enumerate(part.clips)}
        labels, rests = Codes(), Codes()
        old, new = (
            version_rows(table, index, classes, labels, rests, self.columns)
            for table, classes in zip(tables, self.layouts, strict=True)
        )
        changed = []
        for clip, a, b, reordered in _differing(old, new, len(part.clips)):
            found = self._changed(part.clips[clip], a, b, list(labels), hop, reordered)
            if found.causes or found.events or found.reordered:  # else only the rounding differs
                changed.append(found)
        return changed, amiss, wrong

    def _alike(self, *tables: pa.Table | None) -> tuple[list[pa.Table | None], Fraction]:
        """Return both tables with rows of one kind, and seconds of a tick of their times."""
        whole = [None if table is None or not table.num_rows else are_events(table) for table in tables]
        if True in whole and False not in whole:
            return list(tables), Fraction(1, MICRO)
        hop = self.hops[0] if self.hops[0] == self.hops[1] and True not in whole else clock.HOP
        framed: list[pa.Table | None] = []
        for table, events, own_hop in zip(tables, whole, self.hops, strict=True):
            if table is None or events is None or (not events and own_hop == hop):
                framed.append(table)
            else:
                framed.append(frames_of(table, hop) if events else rescaled(table, own_hop, hop))
        return framed, hop

    def _changed(
        self, clip: str, old: Rows, new: Rows, labels: Sequence[str], hop: Fraction, reordered: bool
    ) -> ChangedClip:
        whole = hop == Fraction(1, MICRO)
        after = EventTable.of(new, whole)
        if reordered:
            return ChangedClip(clip, same=len(after), reordered=True)
        named, old = causes(old, new, float(hop))
        events, same = changed_events(EventTable.of(old, whole), after, labels, float(hop))
        return ChangedClip(clip, tuple(named), tuple(events), same, len(after))


def _differing(old: Rows, new: Rows, clips: int) -> Iterator[tuple[int, Rows, Rows, bool]]:
    """The clips whose rows differ, with the sorted rows of both versions, and whether only their order differs."""
    same = same_by_clip(old, new, clips)
    a, b = (in_order(taken(side, ~same[side["clip"]])) for side in (old, new))
    reordered = same_by_clip(a, b, clips)
    for clip in np.flatnonzero(~same).tolist():
        was, now = (slice(*side["clip"].searchsorted([clip, clip + 1])) for side in (a, b))
        yield clip, taken(a, was), taken(b, now), bool(reordered[clip])


def versions(
    old: Source, new: Source, formats: tuple[LabelFormat | None, LabelFormat | None]
) -> tuple[SideLabels, SideLabels]:
    """Return the labels of both sources, which stay open.

    Raises:
        InvalidData, UnknownFormat, UsageError: one holds no labels of one format.
        DataError: no clip is in both.
    """
    a, b = (labels_of(source, format, None, as_read=True) for source, format in zip((old, new), formats, strict=True))
    if a.clips and b.clips and not a.clips.keys() & b.clips.keys():
        raise DataError(
            f"no clip is in both: {printable(old.path)} has {listed(sorted(a.clips), 3)}, "
            f"{printable(new.path)} has {listed(sorted(b.clips), 3)}"
        )
    return a, b


def changed_clips(old: SideLabels, new: SideLabels, force: bool) -> list[ChangedClip]:
    """Return the clips that both versions have and that differ.

    Raises:
        InvalidData: a version has errors, and they are not forced.
    """
    fields = fields_of(old.fields) & fields_of(new.fields) | ({"source"} & old.fields & new.fields)
    columns = tuple(name for name in ("source", *FIELDS) if name in fields)
    layouts = old.layout, new.layout
    work = Comparing((layouts[0].vocabulary, layouts[1].vocabulary), (layouts[0].hop, layouts[1].hop), columns)
    parts = shared_parts(old, new, sorted(old.clips.keys() & new.clips.keys()))
    changed: list[ChangedClip] = []
    faults = Faults(), Faults()
    for clips, amiss, wrong in parallel_map(work, parts, what="comparing", size=attrgetter("size"), here=True):
        changed += clips
        faults = faults[0] + amiss, faults[1] + wrong
    settled(list(zip((old, new), faults, strict=True)), force)
    return changed
