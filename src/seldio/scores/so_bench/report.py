"""What a score of SO-Bench shows: tables, as the official summary has them and beyond, and what there is to know."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from seldio.reports.tables import Cell, Column, Notice, Table, in_order
from seldio.scores.so_bench.evaluate import How, Scored
from seldio.scores.so_bench.join import JoinedAnswers
from seldio.scores.so_bench.profiles import THRESHOLDS, AnswerProfile
from seldio.tasks.english import COUNTS, PUBLISHED
from seldio.text import clipped, listed, plural

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
    order = {task: place for place, task in enumerate(PUBLISHED)}
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
    return named if isinstance(named, str) else PUBLISHED[row.task].question_class if row.task in PUBLISHED else "other"


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


# --- what there is to know -------------------------------------------------------------------------


class SoBenchCase(NamedTuple):
    """What a notice may look at."""

    rows: Sequence[Scored]
    joined: JoinedAnswers
    profile: AnswerProfile


def notices(case: SoBenchCase) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    return in_order((*case.joined.notices, *(notice for check in _CHECKS for notice in check(case))))


def _ids(rows: Sequence[Scored]) -> str:
    return listed([row.item.id for row in rows], 3)


def _undecided(case: SoBenchCase) -> Iterator[Notice]:
    rows = [row for row in case.rows if row.how == "undecided"]
    if not rows:
        return
    tasks = ", ".join(f"{task} {count:,}" for task, count in Counter(row.task for row in rows).most_common(4))
    decided = [row for row in case.rows if row.outcome is not None]
    over = f"over the decided ones {accuracy(decided):.2%}" if decided else "and none is decided"
    text = (
        f"{plural(len(rows), 'prediction')} without verdict ({tasks}): their texts do not tell, and there was no judge "
        f"or it gave no verdict. Counted as wrong the accuracy is {accuracy(case.rows):.2%}, {over}: "
        "give a judge for one number"
    )
    yield Notice("no-verdict", text, grave=True)


def _offline(case: SoBenchCase) -> Iterator[Notice]:
    rows = [
        row for row in case.rows if row.how == "offline" and row.task != "speech_content" and row.prediction.strip()
    ]
    if rows:
        share = f"{len(rows):,} of {plural(len(case.rows), 'question')}"
        text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
        yield Notice("read-offline", text)


def judged_without_reference(rows: Sequence[Scored]) -> tuple[Notice, ...]:
    """What to know where a judge read numbers without being shown the right ones."""
    hidden = {task.name for task in PUBLISHED.values() if task.hidden and task.truth}
    there = [row for row in rows if row.how == "judge" and row.task in hidden]
    if not there:
        return ()
    text = (
        f"{plural(len(there), 'answer')} with a number read by a judge that was not shown the reference, so that it "
        "cannot read the right number into the text; the official program shows it, and its judge may be kinder"
    )
    return (Notice("judge-without-reference", text),)


def _float_trap(case: SoBenchCase) -> Iterator[Notice]:
    """Errors equal to a threshold on paper and beyond it in binary."""
    limited = (task for task in PUBLISHED.values() if task.threshold)
    for task in sorted(limited, key=lambda task: THRESHOLDS.index(str(task.threshold))):
        limit, key, unit = getattr(case.profile, str(task.threshold)), str(task.error), task.unit
        if task.threshold == "distance" and case.profile.relative:
            key, unit = "relative_distance_error", "of the distance"
        at = [row for row in case.rows if row.task == task.name and _is(row, key, limit)]
        failed = [row for row in at if not row.correct]
        if failed:
            text = (
                f"{plural(len(failed), 'prediction')} of {task.name} wrong by the last bit: {len(at):,} are off by "
                f"exactly {limit:g} {unit}, which is allowed, and in binary {len(failed):,} of these come out greater "
                f"({_ids(failed)}). Kept as in the official program"
            )
            yield Notice("float-trap", text)


def _is(row: Scored, key: str, limit: float) -> bool:
    error = row.outcome.details.get(key) if row.outcome else None
    return error is not None and abs(error - limit) < 1e-9


def _uneven(case: SoBenchCase) -> Iterator[Notice]:
    tasks = by_task(case.rows)
    if len(tasks) < 2:
        return
    (first, most), (second, next_most) = Counter({task: len(rows) for task, rows in tasks.items()}).most_common(2)
    share, even = (most + next_most) / len(case.rows), 2 / len(tasks)
    if share > 1.5 * even:
        text = (
            f"{first} and {second} make {share:.0%} of the questions: the accuracy over all questions "
            f"({accuracy(case.rows):.2%}) is mostly theirs; with all {len(tasks)} tasks alike it is "
            f"{macro(case.rows):.2%}"
        )
        yield Notice("uneven-tasks", text)


def _other_questions(case: SoBenchCase) -> Iterator[Notice]:
    counts = Counter(row.task for row in case.rows)
    if counts != COUNTS:
        text = (
            f"these are not the {sum(COUNTS.values()):,} questions of SO-Bench (by the published number of each "
            "task): the accuracy cannot be compared to published ones"
        )
        yield Notice("other-questions", text)


def _azimuth_as_elevation(case: SoBenchCase) -> Iterator[Notice]:
    rows = [
        row
        for row in case.rows
        if row.task == "estimate_elevation" and _said(row, "elevation_deg") is None
        and _said(row, "angle_deg") is not None
    ]  # fmt: skip
    if rows:
        text = (
            f"{plural(len(rows), 'elevation')} read from angle_deg, because the judgement has no elevation_deg "
            f"({_ids(rows)}): an azimuth may have been scored as an elevation, as in the official program"
        )
        yield Notice("azimuth-as-elevation", text, grave=True)


def _said(row: Scored, key: str) -> Any:
    prediction = _part(row, "prediction")
    return prediction.get(key) if isinstance(prediction, dict) else None


def _part(row: Scored, name: str) -> object:
    """A part of a judgement, which may be anything: judges are machines."""
    judgement: object = row.judgement
    return judgement.get(name) if isinstance(judgement, dict) else None


def _contradictions(case: SoBenchCase) -> Iterator[Notice]:
    rows = [row for row in case.rows if _contradicts(_part(row, "semantic"))]
    if rows:
        text = (
            f"{plural(len(rows), 'judgement')} whose source_match and source_match_level contradict each other "
            f"({_ids(rows)}): the one that says right wins, as in the official program"
        )
        yield Notice("contradictory-judgements", text)


def _contradicts(semantic: object) -> bool:
    if not isinstance(semantic, dict):
        return False
    match, level = semantic.get("source_match"), semantic.get("source_match_level")
    return (match is True and level in ("wrong", "related_but_wrong")) or (
        match is False and level == "exact_or_synonym"
    )


def _unusable(case: SoBenchCase) -> Iterator[Notice]:
    rows = [row for row in case.rows if row.outcome is not None and row.outcome.metric == "scoring_error"]
    if rows and (first := rows[0].outcome):
        reason = clipped(str(first.details["scoring_error"]), 80)
        text = (
            f"{plural(len(rows), 'judgement')} that cannot be computed with counted as wrong ({_ids(rows)}: {reason})"
        )
        yield Notice("scoring-errors", text, grave=True)


def _without_truth(case: SoBenchCase) -> Iterator[Notice]:
    keys = {task.name: task.truth for task in PUBLISHED.values() if task.truth}
    rows = [
        row
        for row in case.rows
        if row.task in keys and getattr(row.item.answer_meta, str(keys[row.task]), None) is None
    ]
    if rows:
        text = (
            f"{plural(len(rows), 'question')} without the number in answer_meta that scoring needs ({_ids(rows)}): "
            "no prediction can be right"
        )
        yield Notice("no-truth", text, grave=True)


def _unknown_tasks(case: SoBenchCase) -> Iterator[Notice]:
    tasks = sorted({row.task for row in case.rows} - {*PUBLISHED})
    if tasks:
        text = f"tasks that SO-Bench does not have ({listed(tasks)}): right is what equals the answer but for case"
        yield Notice("unknown-tasks", text, grave=True)


def _departures(case: SoBenchCase) -> Iterator[Notice]:
    if case.profile.departures:
        yield Notice("not-the-whole-program", case.profile.departures, grave=True)


_CHECKS: tuple[Callable[[SoBenchCase], Iterator[Notice]], ...] = (
    _undecided, _unusable, _without_truth, _unknown_tasks, _azimuth_as_elevation, _contradictions, _departures,
    _float_trap, _uneven, _other_questions, _offline,
)  # fmt: skip
