"""``seldio diff``: what changed between two versions, as tables."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

import pyarrow as pa

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.conversion.inputs import read_items
from seldio.differences import labels as label_changes
from seldio.differences.labels import ChangedClip, changed_clips, versions
from seldio.errors import DataError, UsageError
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
        """Return whether nothing changed but the order of rows."""
        return not self.tables[0].rows

    @property
    def in_brief(self) -> str:
        """Return the two versions, and how many kinds of change there are between them."""
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

# Rows belong together by their ids; if ids changed, by recording and question.

#: What may happen to a question or a prediction, by column, with words for many of them.
ITEM_KINDS = {
    "question": "questions reworded", "answer": "questions with another answer",
    "options": "questions with other options", "order": "questions with options in another order",
    "audio": "questions about another recording", "task": "questions of another task",
    "split": "questions of another split", "id": "rows with another id", "prediction": "predictions changed",
    "added": "rows added", "dropped": "rows dropped",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class ChangedRow:
    """A question or a prediction that is not the same in both versions."""

    id: str
    kind: str  # a name of ``ITEM_KINDS``, or another column
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class ItemChanges:
    """The changes between two files of questions or predictions."""

    holds: str  # items or predictions
    common: int
    changed: tuple[ChangedRow, ...]
    causes: tuple[tuple[str, int], ...]  # what was done to all rows, in words, and to how many
    reordered: bool  # whether rows that both have are in another order


def compared_items(holds: str, old: Sequence[ItemReading], new: Sequence[ItemReading]) -> ItemChanges:
    """Compare questions (*holds* ``items``) or predictions of two versions.

    Raises:
        DataError: no row is in both.
        UsageError: several rows have the same id.
    """
    a, b = (pa.concat_tables([reading.table for reading in side]).combine_chunks() for side in (old, new))
    pairs = _joined(_ids(a), _ids(b))
    if renamed := not pairs:
        pairs = _joined(_contents(a), _contents(b))
    if pairs is None:
        raise UsageError("several rows have the same id, or no id and the same recording and question")
    if not pairs and len(a) and len(b):
        raise DataError(f"no row is in both: neither an id nor a recording and question of {printable(old[0].path)}")
    changed: list[ChangedRow] = []
    causes: list[tuple[str, int]] = []
    names = _names(a)
    for column in [name for name in a.column_names if name in b.column_names]:
        before, after = a[column].to_pylist(), b[column].to_pylist()
        differ = [(row, before[row], after[other]) for row, other in pairs if before[row] != after[other]]
        changes = [(was, now) for _, was, now in differ]
        if renamed and column == "id" and len(differ) == len(pairs):
            causes.append(("every row has another id", len(pairs)))
        elif len(differ) >= _MANY and (cause := _cause(column, changes, len(differ) == len(pairs))):
            causes.append((cause, len(differ)))
        else:
            changed += [
                ChangedRow(names[row], _kind(column, was, now), _spelt(was), _spelt(now)) for row, was, now in differ
            ]
    gone, come = {*range(len(a))} - {row for row, _ in pairs}, {*range(len(b))} - {other for _, other in pairs}
    changed += [ChangedRow(names[row], "dropped", _text(a, row), "") for row in sorted(gone)]
    names = _names(b)
    changed += [ChangedRow(names[row], "added", "", _text(b, row)) for row in sorted(come)]
    reordered = any(before > after for (_, before), (_, after) in pairwise(pairs))
    return ItemChanges(holds, len(pairs), tuple(changed), tuple(causes), reordered)


def _ids(table: pa.Table) -> list[str] | None:
    return None if "id" not in table.column_names or table["id"].null_count else table["id"].to_pylist()


def _contents(table: pa.Table) -> list[str] | None:
    parts = [name for name in ("audio", "question", "prompt", "start") if name in table.column_names]
    rows = zip(*(table[name].to_pylist() for name in parts), strict=True)
    return [*map(repr, rows)] if parts else None


def _joined(old: list[str] | None, new: list[str] | None) -> list[tuple[int, int]] | None:
    """Return rows with the same key; None where keys are missing or not unique."""
    if old is None or new is None or any(len({*keys}) != len(keys) for keys in (old, new)):
        return None
    places = {key: row for row, key in enumerate(new)}
    return [(row, places[key]) for row, key in enumerate(old) if key in places]


def _cause(column: str, changes: Sequence[tuple[Any, Any]], every: bool) -> str:
    """Return the one change of a column that explains all rows that differ, *every* row or some; empty if none does."""
    if column == "audio":
        moves = {_moved(was, now) for was, now in changes}
        move = moves.pop()
        if move is not None and not moves:
            was, now = (f"{folder}/" if folder else "no folder" for folder in move)
            return f"recordings moved: {was} is now {now}"
    if every and all(now is None for _, now in changes):
        return f"{column} removed from every row"
    if every and all(was is None for was, _ in changes):
        return f"{column} added to every row"
    return ""


#: From how many rows on one cause is told instead of each of them.
_MANY = 3


def _moved(old: Any, new: Any) -> tuple[str, str] | None:
    """Return the folder that a recording was in and the one that it is in, if the rest of its path is the same."""
    if not old or not new or len(old) != len(new):
        return None
    folders = set()
    for a, b in zip(old, new, strict=True):
        olds, news = a.split("/"), b.split("/")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(olds[::-1], news[::-1], strict=False)))
        if not same:
            return None
        folders.add(("/".join(olds[: len(olds) - same]), "/".join(news[: len(news) - same])))
    return folders.pop() if len(folders) == 1 else None


def _kind(column: str, was: Any, now: Any) -> str:
    return "order" if column == "options" and was and now and sorted(was) == sorted(now) else column


def _names(table: pa.Table) -> list[str]:
    """Return the name of each row: its id, or its number."""
    ids = table["id"].to_pylist() if "id" in table.column_names else [None] * len(table)
    return [name or f"row {row}" for row, name in enumerate(ids, 1)]


def _text(table: pa.Table, row: int) -> str:
    for column in ("question", "prediction"):
        if column in table.column_names and table[column][row].as_py():
            return _spelt(table[column][row].as_py())
    return ""


def _spelt(value: Any) -> str:
    if value is None:
        return ""
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)


_CHANGED_ITEMS = (_CHANGE, Column("rows", "rows", digits=0), _WHERE)
_ROWS = (Column("id", "id"), _CHANGE, Column("before", "before"), Column("after", "after"))


def _item_report(title: str, changes: ItemChanges, several: bool) -> Difference:
    rows: list[tuple[Cell, ...]] = [(text, count, "") for text, count in changes.causes]
    noun = "question" if changes.holds == "items" else "prediction"
    by_kind: dict[str, list[str]] = {kind: [] for kind in ITEM_KINDS}
    for row in changes.changed:
        by_kind.setdefault(row.kind, []).append(row.id)
    for kind, ids in by_kind.items():
        if ids:
            words = ITEM_KINDS.get(kind, f"rows with another value of {kind}").replace("question", noun)
            rows.append((_one(words, len(ids)), len(ids), listed(ids, 1)))
    touched = len({row.id for row in changes.changed if row.kind not in ("added", "dropped")})
    tables = (
        Table("changes", "Changes", _CHANGED_ITEMS, tuple(rows)),
        Table("rows", "Changed rows", _ROWS, tuple(map(dataclasses.astuple, changes.changed)), aside=True),
    )
    order = Notice("row-order", f"{noun}s are in another order")
    over = _over(changes.common, noun, None if changes.causes else touched, several)
    return _report(title, over, tables, [order] * changes.reordered, {})
