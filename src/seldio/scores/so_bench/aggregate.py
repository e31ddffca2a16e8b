"""From scored questions to tables: per task as the official summary has it, and what it does not say."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from seldio.scores.result import Cell, Column, Table
from seldio.scores.so_bench.profiles import TASKS
from seldio.scores.so_bench.records import How, Scored

_ACCURACY = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; what nobody decided counts as wrong")
_DECIDED = Column("decided_accuracy", "over decided", "%", 2, "higher", "mean score of the questions decided")
_MACRO = Column("macro", "macro", "%", 2, "higher", "mean over tasks: each counts the same")
_N = Column("n", "n", "", 0, None, "questions")
_PARSED = Column("parse_rate", "parsed", "%", 1, "higher", "predictions that say what the task asks for")
_SHARE = Column("decided", "decided", "%", 1, "higher", "questions that somebody decided")
_HOW: tuple[tuple[How, Column], ...] = (
    ("offline", Column("offline", "offline", "", 0, None, "read from the text without a judge")),
    ("judge", Column("judge", "judge", "", 0, None, "decided by the judge")),
    ("fallback", Column("fallback", "fallback", "", 0, None, "decided by the official fallback")),
    ("undecided", Column("undecided", "no verdict", "", 0, None, "decided by nobody")),
    ("missing", Column("missing", "missing", "", 0, None, "without prediction")),
)
#: What is measured beside the score: key of the outcome, what it is.
_MEASURES = (
    ("doaerr_deg", "angular error, degrees"),
    ("distance_error_m", "distance error, metres"),
    ("relative_distance_error", "distance error, share of the distance"),
    ("interval_iou", "overlap of intervals, IoU"),
    ("time_error_s", "onset error, seconds"),
)
_NAN = math.nan


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else _NAN


def accuracy(rows: Iterable[Scored]) -> float:
    """The mean score; what nobody decided is 0."""
    return mean(row.correct for row in rows)


def by_task(rows: Iterable[Scored]) -> dict[str, list[Scored]]:
    """The rows of each task, in the order of the benchmark's table; others behind, by name."""
    found: dict[str, list[Scored]] = {}
    for row in rows:
        found.setdefault(row.task, []).append(row)
    order = {task: place for place, task in enumerate(TASKS)}
    return dict(sorted(found.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0])))


def macro(rows: Iterable[Scored]) -> float:
    """The mean over tasks of their mean scores."""
    return mean(accuracy(each) for each in by_task(rows).values())


def tables(system: str, rows: Sequence[Scored]) -> tuple[Table, ...]:
    """All tables of a score, those without rows left out."""
    tasks = by_task(rows)
    found = (_overall(system, rows), _tasks(tasks), _classes(rows), _errors(tasks), _speech(tasks))
    return tuple(table for table in found if table.rows)


def _decided(rows: Sequence[Scored]) -> list[Scored]:
    return [row for row in rows if row.outcome is not None]


def _numbers(rows: Sequence[Scored]) -> tuple[Cell, ...]:
    return accuracy(rows), accuracy(_decided(rows))


def _shown(rows: Iterable[Scored]) -> list[tuple[How, Column]]:
    """The columns of who decided; that of the official fallback only where it did."""
    used = {row.how for row in rows}
    return [(how, column) for how, column in _HOW if how != "fallback" or how in used]


def _overall(system: str, rows: Sequence[Scored]) -> Table:
    columns = (Column("system", "system"), _ACCURACY, _DECIDED, _MACRO, _SHARE, _N)
    decided = len(_decided(rows)) / len(rows) if rows else _NAN
    cells = (system, *_numbers(rows), macro(rows), decided, len(rows))
    return Table("overall", "task-aware accuracy", columns, (cells,))


def _tasks(tasks: dict[str, list[Scored]]) -> Table:
    shown = _shown(row for rows in tasks.values() for row in rows)
    columns = (Column("task", "task"), _N, _ACCURACY, _DECIDED, _PARSED, *(column for _, column in shown))
    cells = tuple(
        (task, len(rows), *_numbers(rows), _parsed(rows), *(sum(row.how == how for row in rows) for how, _ in shown))
        for task, rows in tasks.items()
    )
    return Table("tasks", "by task", columns, cells)


def _parsed(rows: Sequence[Scored]) -> float:
    return mean(float(row.outcome is not None and row.outcome.parseable) for row in rows)


def question_class(row: Scored) -> str:
    """The group of a question: its own, else that which its task has in the benchmark."""
    named = (row.item.extra or {}).get("question_class")
    return named if isinstance(named, str) else TASKS[row.task].question_class if row.task in TASKS else "other"


def _classes(rows: Sequence[Scored]) -> Table:
    groups: dict[str, list[Scored]] = {}
    for row in rows:
        groups.setdefault(question_class(row), []).append(row)
    columns = (Column("question_class", "question class"), _N, _ACCURACY, _DECIDED)
    cells = tuple((group, len(groups[group]), *_numbers(groups[group])) for group in sorted(groups))
    return Table("classes", "by question class", columns, cells)


def _details(rows: Sequence[Scored], key: str) -> list[float]:
    """The finite values of a key of the outcomes."""
    found = (row.outcome.details.get(key) for row in rows if row.outcome is not None)
    return [float(value) for value in found if value is not None and math.isfinite(value)]


def _errors(tasks: dict[str, list[Scored]]) -> Table:
    columns = (
        Column("task", "task"),
        Column("measure", "measure"),
        _N,
        Column("mean", "mean", "", 3),
        Column("median", "median", "", 3),
    )
    cells = [
        (task, title, len(values), mean(values), median(values))
        for task, rows in tasks.items()
        for key, title in _MEASURES
        if (values := _details(rows, key))
    ]
    return Table("errors", "how far off, over predictions that could be read", columns, tuple(cells))


def _speech(tasks: dict[str, list[Scored]]) -> Table:
    rows = tasks.get("speech_content", [])
    best, raw = _details(rows, "wer"), _details(rows, "wer_raw")
    clipped = [min(value, 1.0) for value in best]
    statistics: tuple[tuple[str, Callable[[], float]], ...] = (
        ("wer_mean", lambda: mean(best)),
        ("wer_median", lambda: median(best)),
        ("wer_clipped_mean", lambda: mean(clipped)),
        ("wer_clipped_median", lambda: median(clipped)),
        ("wer_raw_mean", lambda: mean(raw)),
        ("wer_raw_median", lambda: median(raw)),
        *((f"acc_wer_le_{limit}", lambda limit=limit: mean(float(value <= limit) for value in best))
          for limit in (0.3, 0.5, 1.0)),
    )  # fmt: skip
    columns = (Column("statistic", "statistic"), Column("value", "value", "", 4))
    cells = tuple((name, compute()) for name, compute in statistics) if best else ()
    return Table("speech", f"transcripts: word error rates of {len(best)} predictions", columns, cells)
