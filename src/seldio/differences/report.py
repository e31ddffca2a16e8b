"""``seldio diff``: what changed between two versions, as tables."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Sequence

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.conversion.item_inputs import read_items
from seldio.differences import events as label_events
from seldio.differences import items as item_changes
from seldio.differences.items import ItemChanges, compared_items
from seldio.differences.labels import ChangedClip, LabelChanges, LabelVersions, compared, versions
from seldio.errors import UsageError
from seldio.files import Source, open_source
from seldio.findings import raise_errors
from seldio.formats import Format, ItemFormat, LabelFormat
from seldio.formats.items import ItemReading
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table
from seldio.text import listed, plural, printable

Path = str | os.PathLike[str]
#: Clips or questions that are named in one line.
_NAMED = 2
#: Rows of a table that is printed as it is.
_SHORT = 12


class Difference(ScoreReport):
    """Result of :func:`seldio.diff`: tables ``changes`` (what, how often), ``clips`` and ``events``, or ``rows``."""

    @property
    def same(self) -> bool:
        """Whether nothing changed but the order of rows."""
        return not self.tables[0].rows

    @property
    def in_brief(self) -> str:
        """The two versions, and how many kinds of change there are between them."""
        return f"{self.system}: {self.title.rstrip('.')}; {self.over}"


def difference(old: Path, new: Path, format: str | None, new_format: str | None, *, force: bool) -> Difference:
    """Compare two versions of labels, of questions, or of predictions.

    Raises:
        InvalidData: a file has an error.
        UnknownFormat: a format cannot be detected.
        UsageError: the two hold different kinds of data, and no format was named.
        DataError: nothing is in both.
    """
    named = [_named(format), _named(new_format or format)]
    with open_source(old, raise_errors) as a, open_source(new, raise_errors) as b:
        sides = [_held(source, one) for one, source in zip(named, (a, b), strict=True)]
        if sides[0].keys() != sides[1].keys():
            (words, others) = (" and ".join(_KINDS[kind] for kind in side) for side in sides)
            raise UsageError(
                f"{printable(a.path)} holds {words} and {printable(b.path)} {others}: compare two versions of the "
                "same, or name the format (--format) of what is meant"
            )
        title = f"{printable(os.fspath(old))} → {printable(os.fspath(new))}"
        found, several = [], len(sides[0]) > 1
        for kind in sides[0]:
            if kind != "labels":
                found.append(_item_report(title, compared_items(kind, sides[0][kind], sides[1][kind]), several))
                continue
            both = versions(a, b, (_labels(named[0]), _labels(named[1])))
            found.append(_label_report(title, both, compared(both, force), several))
    return found[0] if len(found) == 1 else _as_one(title, found)


#: What a source may hold, with words for it.
_KINDS = {"labels": "labels", "items": "questions", "predictions": "predictions"}


def _held(source: Source, format: Format | None) -> dict[str, list[ItemReading]]:
    """The kinds of data in *source*, or the one that *format* is of; of questions and predictions with what was read.

    Raises:
        InvalidData: a file of questions or predictions has an error.
        UsageError: there are none, though *format* is of them.
    """
    told = Catalogue(source) if format is None else None
    held = format if told is None else told.asked
    if not isinstance(held, ItemFormat):
        return {"labels": []}
    readings = read_items(source, held if format is not None else None, raise_errors)
    if not readings:
        raise UsageError(f"{printable(source.path)} holds no questions or predictions")
    kinds = {kind: [one for one in readings if one.format.holds == kind] for kind in _KINDS}
    found = {kind: some for kind, some in kinds.items() if some}
    labelled = told is not None and not source.single and any(part.format is not None for part in told.labels)
    return {"labels": [], **found} if labelled else found


def _as_one(title: str, found: Sequence[Difference]) -> Difference:
    """The reports on labels, questions and predictions as one: tables of the same name have the columns of all."""
    tables: dict[str, list[Table]] = {}
    for table in (table for one in found for table in one.tables):
        tables.setdefault(table.name, []).append(table)
    return Difference(
        title, "", _verdict([row for one in found for row in one.tables[0].rows]), "; ".join(one.over for one in found),
        tuple(map(_stacked, tables.values())), tuple(notice for one in found for notice in one.notices),
        {name: value for one in found for name, value in one.settings.items()},
    )  # fmt: skip


def _stacked(tables: Sequence[Table]) -> Table:
    columns = {column.name: column for table in tables for column in table.columns}
    if (last := columns.pop("where", None)) is not None:
        columns["where"] = last
    rows = [
        dict(zip((column.name for column in table.columns), row, strict=True)) for table in tables for row in table.rows
    ]
    return dataclasses.replace(
        tables[0], columns=tuple(columns.values()), rows=tuple(tuple(row.get(name) for name in columns) for row in rows)
    )


def _named(name: str | None) -> Format | None:
    if name is None:
        return None
    return formats.named(name, ItemFormat) or formats.get(name)


def _labels(format: Format | None) -> LabelFormat | None:
    return format if isinstance(format, LabelFormat) else None


def _changes(rows: Iterable[tuple[Cell, ...]], over: Sequence[Column]) -> Table:
    return Table("changes", "Changes", (Column("change", "change"), *over), tuple(rows))


# --- labels -----------------------------------------------------------------------------------------------------------


def _label_report(title: str, found: LabelVersions, changes: LabelChanges, several: bool) -> Difference:
    changed = [clip for clip in changes.changed if not clip.reordered]
    rows: list[tuple[Cell, ...]] = []
    causes: dict[str, list[ChangedClip]] = {}
    for clip in changed:
        for cause in clip.causes:
            causes.setdefault(cause, []).append(clip)
    for text, clips in causes.items():
        whole = "all clips" if len(clips) == changes.clips > 1 else _few([clip.clip for clip in clips])
        rows.append((text, len(clips), sum(clip.count for clip in clips), whole))
    for kind, words in label_events.KINDS.items():
        there = [clip for clip in changed if any(kind in event.kinds for event in clip.events)]
        if there:
            count = sum(kind in event.kinds for clip in there for event in clip.events)
            rows.append(
                (_one(words, count), len(there), count, _renamings(kind, there) or _few([c.clip for c in there]))
            )
    for words, names in (("clips dropped", found.dropped), ("clips added", found.added)):
        if names:
            rows.append((_one(words, len(names)), len(names), None, _few(names)))
    for words, fields in zip(("removed", "added"), found.fields, strict=True):
        if fields:
            rows.append((f"columns {words}: {', '.join(fields)}", changes.clips, None, "all clips"))
    columns = Column("clips", "clips", digits=0), Column("events", "events", digits=0), Column("where", "where")
    over = _over(changes.clips, "clip", len(changed), several)
    tables = [_changes(rows, columns), _clip_table(changed), _event_table(changed)]
    reordered = [clip.clip for clip in changes.changed if clip.reordered]
    notices = []
    if reordered:
        many = f"in {plural(len(reordered), 'clip')}: {_few(reordered)}"
        notices.append(Notice("row-order", f"rows are in another order, and nothing else differs, {many}"))
    settings = {"old": found.old.layout.name, "new": found.new.layout.name}
    return Difference(
        title, "", _verdict(rows), over, (tables[0], *(one for one in tables[1:] if one.rows)), tuple(notices), settings
    )


def _verdict(rows: Sequence[tuple[Cell, ...]]) -> str:
    return f"{plural(len(rows), 'kind')} of change" if rows else "No changes."


def _few(clips: Sequence[str]) -> str:
    return listed(list(clips), _NAMED)


def _one(words: str, count: int) -> str:
    """*words* in the singular for one."""
    noun, _, rest = words.partition(" ")
    return f"{noun.removesuffix('s')} {rest}" if count == 1 else words


def _renamings(kind: str, clips: Sequence[ChangedClip]) -> str:
    if kind != "renamed":
        return ""
    counts = Counter(
        detail for clip in clips for event in clip.events
        for one, detail in zip(event.kinds, event.details, strict=True) if one == kind
    )  # fmt: skip
    return listed([f"{text} ({count:,})" for text, count in counts.most_common()], _NAMED)


def _clip_table(changed: Sequence[ChangedClip]) -> Table:
    columns = (
        Column("clip", "clip"), Column("same", "events the same", digits=0),
        Column("changed", "events changed", digits=0), Column("whole", "whole clip"),
    )  # fmt: skip
    rows = (
        (clip.clip, 0 if clip.causes else clip.same, max(len(clip.events), clip.count if clip.causes else 0),
         "; ".join(clip.causes))
        for clip in changed
    )  # fmt: skip
    return Table("clips", "Changed clips", columns, tuple(rows), aside=True)


def _event_table(changed: Sequence[ChangedClip]) -> Table:
    columns = (
        Column("clip", "clip"), Column("start", "from", "s", 1), Column("stop", "to", "s", 1), Column("class", "class"),
Column("change", "change"), Column("detail", "detail"),
    )  # fmt: skip
    rows = (
        (clip.clip, event.start, event.stop, event.label, ", ".join(event.kinds),
         "; ".join(detail for detail in event.details if detail))
        for clip in changed for event in clip.events
    )  # fmt: skip
    every = tuple(rows)
    return Table("events", "Changed events", columns, every, aside=len(every) > _SHORT)


# --- questions and predictions ------------------------------------------------------------------------------------


def _over(common: int, noun: str, changed: int | None, several: bool) -> str:
    """Count what both versions have; of several kinds of data the kind comes first. *changed*: None for all."""
    first = f"{noun}s in both: {common:,}" if several else f"{plural(common, noun)} in both"
    if changed is None:
        return first
    counts = f"{common - changed:,} the same, {changed:,} changed"
    return f"{first} ({counts})" if several else f"{first}: {counts}"


def _item_report(title: str, changes: ItemChanges, several: bool) -> Difference:
    rows: list[tuple[Cell, ...]] = [(text, count, "") for text, count in changes.causes]
    for kind, some in _by_kind(changes).items():
        words = item_changes.KINDS.get(kind, f"rows with another value of {kind}")
        if changes.holds == "predictions":
            words = words.replace("questions", "predictions")
        rows.append((_one(words, len(some)), len(some), listed([row.id for row in some], 1)))
    columns = Column("rows", "rows", digits=0), Column("where", "where")
    touched = len({row.id for row in changes.changed if row.kind not in ("added", "dropped")})
    noun = "question" if changes.holds == "items" else "prediction"
    over = _over(changes.common, noun, None if changes.causes else touched, several)
    order = Notice("row-order", f"{noun}s are in another order")
    tables = [_changes(rows, columns)]
    if changes.changed:
        heads = Column("id", "id"), Column("change", "change"), Column("before", "before"), Column("after", "after")
        every = tuple(tuple(dataclasses.astuple(row)) for row in changes.changed)
        tables.append(Table("rows", "Changed rows", heads, every, aside=True))
    return Difference(title, "", _verdict(rows), over, tuple(tables), (order,) if changes.reordered else ())


def _by_kind(changes: ItemChanges) -> dict[str, list[item_changes.ChangedRow]]:
    found: dict[str, list[item_changes.ChangedRow]] = {}
    for row in changes.changed:
        found.setdefault(row.kind, []).append(row)
    return {kind: found[kind] for kind in (*item_changes.KINDS, *found) if kind in found}
