"""``seldio diff``: what changed between two versions, as tables."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile, zip_longest
from typing import Any

import pyarrow as pa

from seldio import formats
from seldio.catalogues import Catalogue
from seldio.conversion.inputs import read_items
from seldio.differences.labels import KINDS, ChangedClip, changed_clips, versions
from seldio.errors import DataError, UsageError
from seldio.files import Source, open_source
from seldio.findings import raise_errors
from seldio.formats import Format, ItemFormat, LabelFormat
from seldio.formats.items import ItemReading
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table
from seldio.scores.seld.join import SideLabels
from seldio.text import listed, plural, printable

Path = str | os.PathLike[str]
#: Clips that are named in one line.
_NAMED = 2
#: Rows of a table that is printed as it is.
_SHORT = 12
#: Recordings from which on a new folder is one change instead of one for each question.
_MANY = 3


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
        UsageError: the two hold different or several kinds of data, and no format was named.
        DataError: nothing is in both.
    """
    names = format, new_format or format
    first, second = (None if name is None else formats.named(name, ItemFormat) or formats.get(name) for name in names)
    title = f"{printable(os.fspath(old))} → {printable(os.fspath(new))}"
    with open_source(old, raise_errors) as a, open_source(new, raise_errors) as b:
        (kind, before), (other, after) = _readings(a, first), _readings(b, second)
        if kind != other:
            raise UsageError(
                f"{printable(a.path)} holds {kind} and {printable(b.path)} {other}: compare two versions of the same, "
                "or name the format (--format) of what is meant"
            )
        if kind != "labels":
            return _item_report(title, kind.removesuffix("s"), before, after)
        layouts = [each if isinstance(each, LabelFormat) else None for each in (first, second)]
        labels = versions(a, b, (layouts[0], layouts[1]))
        return _label_report(title, *labels, changed_clips(*labels, force))


def _readings(source: Source, format: Format | None) -> tuple[str, list[ItemReading]]:
    """Return what *source* holds (labels, questions or predictions), and all but labels as they were read.

    Raises:
        InvalidData: a file of questions or predictions has an error.
        UsageError: there are several of these, or no questions and predictions though *format* is of them.
    """
    asked: Format | None = format
    if format is None:
        catalogue = Catalogue(source)
        asked = catalogue.asked
        layouts = [part.format.name for part in catalogue.labels if part.format is not None and not source.single]
        if asked is not None and layouts:
            raise UsageError(
                f"{printable(source.path)} holds labels and files of {asked.name}: name the format (--format) of those "
                f"to compare, {layouts[0]} or {asked.name}"
            )
    if not isinstance(asked, ItemFormat):
        return "labels", []
    readings = read_items(source, format if isinstance(format, ItemFormat) else None, raise_errors)
    kinds = {"questions" if reading.format.holds == "items" else "predictions" for reading in readings}
    if len(kinds) != 1:
        what = "both questions and predictions: name the format (--format)" if kinds else "no questions or predictions"
        raise UsageError(f"{printable(source.path)} holds {what}")
    return kinds.pop(), readings


def _report(
    title: str, over: str, tables: Sequence[Table], notices: Sequence[Notice], settings: Mapping[str, Any]
) -> Difference:
    changes, *more = tables
    verdict = f"{plural(len(changes.rows), 'kind')} of change" if changes.rows else "No changes."
    shown = (changes, *(table for table in more if table.rows))
    return Difference(title, "", verdict, over, shown, tuple(notices), settings)


def _singular(words: str, count: int) -> str:
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


def _label_report(title: str, old: SideLabels, new: SideLabels, differing: Sequence[ChangedClip]) -> Difference:
    total = len(old.clips.keys() & new.clips.keys())
    reordered = [clip.clip for clip in differing if clip.reordered]
    changed = [clip for clip in differing if not clip.reordered]
    rows: list[tuple[Cell, ...]] = []
    for cause in dict.fromkeys(cause for clip in changed for cause in clip.causes):
        clips = [clip for clip in changed if cause in clip.causes]
        where = "all clips" if len(clips) == total > 1 else listed([clip.clip for clip in clips], _NAMED)
        rows.append((cause, len(clips), sum(clip.count for clip in clips), where))
    by_kind = defaultdict[str, list[tuple[str, str]]](list)
    for clip in changed:
        for kind, detail in (pair for event in clip.events for pair in event.happened.items()):
            by_kind[kind].append((clip.clip, detail))
    for kind, words in KINDS.items():
        if events := by_kind[kind]:
            clip_names = [*dict.fromkeys(clip for clip, _ in events)]
            where = listed(clip_names, _NAMED)
            if kind == "renamed":
                counts = Counter(detail for _, detail in events)
                where = listed([f"{text} ({count:,})" for text, count in counts.most_common()], _NAMED)
            rows.append((_singular(words, len(events)), len(clip_names), len(events), where))
    for words, side, other in (("dropped", old, new), ("added", new, old)):
        if clip_names := sorted(side.clips.keys() - other.clips.keys()):
            where = listed(clip_names, _NAMED)
            rows.append((_singular(f"clips {words}", len(clip_names)), len(clip_names), None, where))
    for words, side, other in (("removed", old, new), ("added", new, old)):
        if fields := sorted(side.fields - other.fields):
            rows.append((f"columns {words}: {', '.join(fields)}", total, None, "all clips"))
    by_clip, by_event = [], []
    for clip in changed:
        same, count = (0, max(len(clip.events), clip.count)) if clip.causes else (clip.same, len(clip.events))
        by_clip.append((clip.clip, same, count, "; ".join(clip.causes)))
        for event in clip.events:
            kinds, details = ", ".join(event.happened), "; ".join(filter(None, event.happened.values()))
            by_event.append((clip.clip, event.start, event.stop, event.label, kinds, details))
    tables = (
        Table("changes", "Changes", _CHANGED_CLIPS, tuple(rows)),
        Table("clips", "Changed clips", _CLIPS, tuple(by_clip), aside=True),
        Table("events", "Changed events", _EVENTS, tuple(by_event), aside=len(by_event) > _SHORT),
    )
    many = f"in {plural(len(reordered), 'clip')}: {listed(reordered, _NAMED)}"
    notice = Notice("row-order", f"rows are in another order, and nothing else differs, {many}")
    over = f"{plural(total, 'clip')} in both: {total - len(changed):,} the same, {len(changed):,} changed"
    settings = {"old": old.layout.name, "new": new.layout.name}
    return _report(title, over, tables, [notice] * bool(reordered), settings)


# --- questions and predictions ------------------------------------------------------------------------------------

#: What may happen to a question or a prediction, by column, with words for many of them.
_ITEM_KINDS = {
    "question": "questions reworded",
    "answer": "questions with another answer",
    "options": "questions with other options",
    "order": "questions with options in another order",
    "audio": "questions about another recording",
    "prediction": "predictions changed",
    "added": "rows added",
    "dropped": "rows dropped",
}
_CHANGED_ITEMS = (_CHANGE, Column("rows", "rows", digits=0), _WHERE)
_ROWS = (Column("id", "id"), _CHANGE, Column("before", "before"), Column("after", "after"))


def _item_report(title: str, noun: str, old: Sequence[ItemReading], new: Sequence[ItemReading]) -> Difference:
    """Compare questions or predictions: rows belong together by their ids, or by recording and question.

    Raises:
        DataError: no row is in both.
        UsageError: several rows have the same id.
    """
    a, b = (pa.concat_tables([reading.table for reading in side]).combine_chunks() for side in (old, new))
    pairs = _joined(a, b, ("id",))
    if with_new_ids := not pairs:
        pairs = _joined(a, b, ("audio", "question", "prompt", "start"))
    if pairs is None:
        raise UsageError("several rows have the same id, or no id and the same recording and question")
    if not pairs and len(a) and len(b):
        raise DataError(f"no row is in both: neither an id nor a recording and question of {printable(old[0].path)}")
    (names, texts), (new_names, new_texts) = (_names_and_texts(table) for table in (a, b))
    rows: list[tuple[Cell, ...]] = []
    changed: list[tuple[str, str, str, str]] = []
    for column in [name for name in a.column_names if name in b.column_names]:
        before, after = a[column].to_pylist(), b[column].to_pylist()
        differ = [(row, before[row], after[other]) for row, other in pairs if before[row] != after[other]]
        if with_new_ids and column == "id" and len(differ) == len(pairs):
            rows.append(("every row has another id", len(pairs), ""))
        elif column == "audio" and (moved := _moved([(was, now) for _, was, now in differ])):
            rows.append((moved, len(differ), ""))
        else:
            for row, was, now in differ:
                shuffled = column == "options" and was and now and sorted(was) == sorted(now)
                changed.append((names[row], "order" if shuffled else column, _spelt(was), _spelt(now)))
    of_cause = bool(rows)
    touched = len({name for name, *_ in changed})
    changed += [(names[row], "dropped", texts[row], "") for row in sorted({*range(len(a))} - {row for row, _ in pairs})]
    come = sorted({*range(len(b))} - {other for _, other in pairs})
    changed += [(new_names[row], "added", "", new_texts[row]) for row in come]
    ids = defaultdict[str, list[str]](list)
    for name, kind, *_ in changed:
        ids[kind].append(name)
    for kind in [*(kind for kind in _ITEM_KINDS if kind in ids), *(kind for kind in ids if kind not in _ITEM_KINDS)]:
        words = _ITEM_KINDS.get(kind, f"rows with another value of {kind}").replace("question", noun)
        rows.append((_singular(words, len(ids[kind])), len(ids[kind]), listed(ids[kind], 1)))
    tables = (
        Table("changes", "Changes", _CHANGED_ITEMS, tuple(rows)),
        Table("rows", "Changed rows", _ROWS, tuple(changed), aside=True),
    )
    counts = "" if of_cause else f": {len(pairs) - touched:,} the same, {touched:,} changed"
    reordered = any(before > after for (_, before), (_, after) in pairwise(pairs))
    notices = [Notice("row-order", f"{noun}s are in another order")] * reordered
    return _report(title, f"{plural(len(pairs), noun)} in both{counts}", tables, notices, {})


def _joined(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return rows that have the same values of *columns*; None where these are missing or not unique."""
    sides = []
    for table in (old, new):
        parts = [table[name].to_pylist() for name in columns if name in table.column_names]
        keys = [*map(repr, zip(*parts, strict=True))]
        if not parts or len({*keys}) != len(keys) or (columns == ("id",) and table["id"].null_count):
            return None
        sides.append(keys)
    places = {key: row for row, key in enumerate(sides[1])}
    return [(row, places[key]) for row, key in enumerate(sides[0]) if key in places]


def _names_and_texts(table: pa.Table) -> tuple[list[str], list[str]]:
    """Return the id of each row, or its number, and its question or prediction."""
    ids, questions, predictions = (
        table[name].to_pylist() if name in table.column_names else [None] * len(table)
        for name in ("id", "question", "prediction")
    )
    names = [name or f"row {row}" for row, name in enumerate(ids, 1)]
    return names, [_spelt(text or other) for text, other in zip(questions, predictions, strict=True)]


def _moved(recordings: Sequence[tuple[Any, Any]]) -> str:
    """Return in words from which folder to which one *recordings* moved; empty unless all did, three at least."""
    folders = set()
    for old, new in (pair for was, now in recordings for pair in zip_longest(was or (), now or (), fillvalue="")):
        olds, news = old.split("/"), new.split("/")
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(olds[::-1], news[::-1], strict=False))
        common = sum(1 for _ in alike)
        folders.add(("/".join(olds[:-common]), "/".join(news[:-common])) if common else None)
    move = folders.pop() if len(recordings) >= _MANY else None
    if move is None or folders:
        return ""
    was, now = (f"{folder}/" if folder else "no folder" for folder in move)
    return f"recordings moved: {was} is now {now}"


def _spelt(value: Any) -> str:
    if value is None:
        return ""
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value)
