"""``seldio diff``: what changed between two versions, as tables."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.conversion.inputs import read_items
from seldio.differences import items as item_changes
from seldio.differences import labels as label_changes
from seldio.differences.items import ItemChanges, compared_items
from seldio.differences.labels import ChangedClip, changed_clips, versions
from seldio.errors import UsageError
from seldio.files import Source, open_source
from seldio.findings import raise_errors
from seldio.formats import Format, ItemFormat, LabelFormat
from seldio.formats.items import ItemReading
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table
from seldio.scores.seld.join import SideLabels
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
    names = format, new_format or format
    named = [None if name is None else formats.named(name, ItemFormat) or formats.get(name) for name in names]
    with open_source(old, raise_errors) as a, open_source(new, raise_errors) as b:
        sides = [_held(source, chosen) for chosen, source in zip(named, (a, b), strict=True)]
        if sides[0].keys() != sides[1].keys():
            (words, others) = (" and ".join(_KINDS[kind] for kind in side) for side in sides)
            raise UsageError(
                f"{printable(a.path)} holds {words} and {printable(b.path)} {others}: compare two versions of the "
                "same, or name the format (--format) of what is meant"
            )
        title = f"{printable(os.fspath(old))} → {printable(os.fspath(new))}"
        reports, several = [], len(sides[0]) > 1
        for kind in sides[0]:
            if kind == "labels":
                layouts = [chosen if isinstance(chosen, LabelFormat) else None for chosen in named]
                labels = versions(a, b, (layouts[0], layouts[1]))
                reports.append(_label_report(title, *labels, changed_clips(*labels, force), several))
            else:
                reports.append(_item_report(title, compared_items(kind, sides[0][kind], sides[1][kind]), several))
    return reports[0] if len(reports) == 1 else _as_one(title, reports)


#: What a source may hold, with words for it.
_KINDS = {"labels": "labels", "items": "questions", "predictions": "predictions"}


def _held(source: Source, format: Format | None) -> dict[str, list[ItemReading]]:
    """Return the kinds of data in *source*, or that of *format*; of questions and predictions with what was read.

    Raises:
        InvalidData: a file of questions or predictions has an error.
        UsageError: there are none, though *format* is of them.
    """
    catalogue = Catalogue(source) if format is None else None
    chosen = format if catalogue is None else catalogue.asked
    if not isinstance(chosen, ItemFormat):
        return {"labels": []}
    readings = read_items(source, chosen if format is not None else None, raise_errors)
    if not readings:
        raise UsageError(f"{printable(source.path)} holds no questions or predictions")
    by_kind = {kind: [reading for reading in readings if reading.format.holds == kind] for kind in _KINDS}
    held = {kind: of_kind for kind, of_kind in by_kind.items() if of_kind}
    labelled = catalogue is not None and not source.single and any(part.format is not None for part in catalogue.labels)
    return {"labels": [], **held} if labelled else held


def _as_one(title: str, reports: Sequence[Difference]) -> Difference:
    """Join the reports on labels, questions and predictions as one: tables of the same name have the columns of all."""
    tables: dict[str, list[Table]] = {}
    for table in (table for report in reports for table in report.tables):
        tables.setdefault(table.name, []).append(table)
    settings = {name: value for report in reports for name, value in report.settings.items()}
    notices = [notice for report in reports for notice in report.notices]
    over = "; ".join(report.over for report in reports)
    return _report(title, over, [*map(_stacked, tables.values())], notices, settings)


def _report(
    title: str, over: str, tables: Sequence[Table], notices: Iterable[Notice], settings: Mapping[str, Any]
) -> Difference:
    changes, *more = tables
    verdict = f"{plural(len(changes.rows), 'kind')} of change" if changes.rows else "No changes."
    shown = (changes, *(table for table in more if table.rows))
    return Difference(title, "", verdict, over, shown, tuple(notices), settings)


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


def _over(common: int, noun: str, changed: int | None, several: bool) -> str:
    """Count what both versions have; of several kinds of data the kind comes first. *changed*: None for all."""
    first = f"{noun}s in both: {common:,}" if several else f"{plural(common, noun)} in both"
    if changed is None:
        return first
    counts = f"{common - changed:,} the same, {changed:,} changed"
    return f"{first} ({counts})" if several else f"{first}: {counts}"


def _one(words: str, count: int) -> str:
    """Return *words* in the singular for one."""
    noun, _, change = words.partition(" ")
    return f"{noun.removesuffix('s')} {change}" if count == 1 else words


# --- labels -----------------------------------------------------------------------------------------------------------

_CLIP = Column("clip", "clip")
_CHANGE = Column("change", "change")
_WHERE = Column("where", "where")
_CHANGED_CLIPS = (_CHANGE, Column("clips", "clips", digits=0), Column("events", "events", digits=0), _WHERE)
_CLIPS = (
    *(_CLIP, Column("same", "events the same", digits=0), Column("changed", "events changed", digits=0)),
    Column("whole", "whole clip"),
)
_EVENTS = (
    *(_CLIP, Column("start", "from", "s", 1), Column("stop", "to", "s", 1), Column("class", "class"), _CHANGE),
    Column("detail", "detail"),
)


def _label_report(
    title: str, old: SideLabels, new: SideLabels, changed: Sequence[ChangedClip], several: bool
) -> Difference:
    total = len(old.clips.keys() & new.clips.keys())
    reordered = [clip.clip for clip in changed if clip.reordered]
    changed = [clip for clip in changed if not clip.reordered]
    rows: list[tuple[Cell, ...]] = []
    for cause in dict.fromkeys(cause for clip in changed for cause in clip.causes):
        clips = [clip for clip in changed if cause in clip.causes]
        where = "all clips" if len(clips) == total > 1 else listed([clip.clip for clip in clips], _NAMED)
        rows.append((cause, len(clips), sum(clip.count for clip in clips), where))
    for kind, words in label_changes.KINDS.items():
        events = [(clip.clip, event) for clip in changed for event in clip.events if kind in event.kinds]
        if events:
            names = [*dict.fromkeys(clip for clip, _ in events)]
            where = listed(names, _NAMED)
            if kind == "renamed":
                counts = Counter(event.details[event.kinds.index("renamed")] for _, event in events)
                where = listed([f"{text} ({count:,})" for text, count in counts.most_common()], _NAMED)
            rows.append((_one(words, len(events)), len(names), len(events), where))
    for words, side, other in (("clips dropped", old, new), ("clips added", new, old)):
        if names := sorted(side.clips.keys() - other.clips.keys()):
            rows.append((_one(words, len(names)), len(names), None, listed(names, _NAMED)))
    for words, side, other in (("removed", old, new), ("added", new, old)):
        if fields := sorted(side.fields - other.fields):
            rows.append((f"columns {words}: {', '.join(fields)}", total, None, "all clips"))
    by_clip, by_event = [], []
    for clip in changed:
        same, count = (0, max(len(clip.events), clip.count)) if clip.causes else (clip.same, len(clip.events))
        by_clip.append((clip.clip, same, count, "; ".join(clip.causes)))
        for event in clip.events:
            kinds, details = ", ".join(event.kinds), "; ".join(filter(None, event.details))
            by_event.append((clip.clip, event.start, event.stop, event.label, kinds, details))
    tables = (
        Table("changes", "Changes", _CHANGED_CLIPS, tuple(rows)),
        Table("clips", "Changed clips", _CLIPS, tuple(by_clip), aside=True),
        Table("events", "Changed events", _EVENTS, tuple(by_event), aside=len(by_event) > _SHORT),
    )
    many = f"in {plural(len(reordered), 'clip')}: {listed(reordered, _NAMED)}"
    notice = Notice("row-order", f"rows are in another order, and nothing else differs, {many}")
    settings = {"old": old.layout.name, "new": new.layout.name}
    return _report(title, _over(total, "clip", len(changed), several), tables, [notice] * bool(reordered), settings)


# --- questions and predictions ------------------------------------------------------------------------------------

_CHANGED_ITEMS = (_CHANGE, Column("rows", "rows", digits=0), _WHERE)
_ROWS = (Column("id", "id"), _CHANGE, Column("before", "before"), Column("after", "after"))


def _item_report(title: str, changes: ItemChanges, several: bool) -> Difference:
    rows: list[tuple[Cell, ...]] = [(text, count, "") for text, count in changes.causes]
    noun = "question" if changes.holds == "items" else "prediction"
    by_kind: dict[str, list[str]] = {kind: [] for kind in item_changes.KINDS}
    for row in changes.changed:
        by_kind.setdefault(row.kind, []).append(row.id)
    for kind, ids in by_kind.items():
        if ids:
            words = item_changes.KINDS.get(kind, f"rows with another value of {kind}").replace("question", noun)
            rows.append((_one(words, len(ids)), len(ids), listed(ids, 1)))
    touched = len({row.id for row in changes.changed if row.kind not in ("added", "dropped")})
    tables = (
        Table("changes", "Changes", _CHANGED_ITEMS, tuple(rows)),
        Table("rows", "Changed rows", _ROWS, tuple(map(dataclasses.astuple, changes.changed)), aside=True),
    )
    order = Notice("row-order", f"{noun}s are in another order")
    over = _over(changes.common, noun, None if changes.causes else touched, several)
    return _report(title, over, tables, [order] * changes.reordered, {})
