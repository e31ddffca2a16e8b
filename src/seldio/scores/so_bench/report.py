"""What a score of SO-Bench shows: tables, as the official summary has them and beyond, and what there is to know."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from seldio.answers.judgements import Judge
from seldio.errors import DataError
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores.so_bench.count import Decider, Offline, Scored, count
from seldio.scores.so_bench.join import JoinedAnswers, JoinedBy
from seldio.scores.so_bench.join import join as joined_by
from seldio.scores.so_bench.profiles import THRESHOLDS, AnswerProfile
from seldio.tasks.english import COUNTS, KNOWN
from seldio.text import clipped, listed, plural

_ACCURACY = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; what nobody decided counts as wrong")
_DECIDED = Column("decided_accuracy", "over decided", "%", 2, "higher", "mean score of the questions decided")
_MACRO = Column("macro", "macro", "%", 2, "higher", "mean over tasks: each counts the same")
_N = Column("n", "n", "", 0, None, "questions")
_PARSED = Column("parse_rate", "parsed", "%", 1, "higher", "predictions that say what the task asks for")
_SHARE = Column("decided", "decided", "%", 1, "higher", "questions that somebody decided")
_HOW: tuple[tuple[Decider, Column], ...] = (
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
#: What is kept of an outcome.
_KEPT = (*(key for key, _ in _MEASURES), "wer", "wer_raw")
_NAN = math.nan
_NONE: Mapping[str, float] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """What tables and notices need of a scored question."""

    id: str  # of the question
    task: str  # of the question
    group: str  # its own question class, else that which its task has in the benchmark
    how: Decider  # who decided
    correct: float  # from 0 to 1; 0 where nobody decided
    parseable: bool  # whether the judgement held what the task needs
    details: Mapping[str, float]  # the numbers of its outcome
    odd: tuple[str, ...]  # the notices that it is one of the reasons for

    @property
    def decided(self) -> bool:
        """Whether somebody decided."""
        return self.how not in ("undecided", "missing")

    @classmethod
    def of(cls, row: Scored) -> Mark:
        """The mark of a scored question."""
        details = row.outcome.details if row.outcome is not None else {}
        kept = {key: float(details[key]) for key in _KEPT if details.get(key) is not None} if details else _NONE
        odd = tuple(name for name, (about, _, _) in _ABOUT_ROWS.items() if about(row))
        if row.how == "offline" and row.task != "speech_content" and row.prediction.strip():
            odd += ("read-offline",)
        parseable = row.outcome is not None and row.outcome.parseable
        return cls(row.item.id, sys.intern(row.task), question_class(row), row.how, row.correct, parseable, kept, odd)


def question_class(row: Scored) -> str:
    """The group of a question: its own, else that which its task has in the benchmark."""
    named = (row.item.extra or {}).get("question_class")
    usual = KNOWN[row.task].question_class if row.task in KNOWN else "other"
    return sys.intern(named) if isinstance(named, str) else usual


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else _NAN


def accuracy(rows: Iterable[Mark]) -> float:
    """The mean score; what nobody decided is 0."""
    return mean(row.correct for row in rows)


def by_task(rows: Iterable[Mark]) -> dict[str, list[Mark]]:
    """The rows of each task, in the order of the benchmark's table; others behind, by name."""
    found: dict[str, list[Mark]] = {}
    for row in rows:
        found.setdefault(row.task, []).append(row)
    order = {task: place for place, task in enumerate(KNOWN)}
    return dict(sorted(found.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0])))


def macro(rows: Iterable[Mark]) -> float:
    """The mean over tasks of their mean scores."""
    return mean(accuracy(each) for each in by_task(rows).values())


def tables(system: str, rows: Sequence[Mark]) -> tuple[Table, ...]:
    """All tables of a score, those without rows left out."""
    tasks = by_task(rows)
    found = (_overall(system, rows), _tasks(tasks), _classes(rows), _errors(tasks), _speech(tasks))
    return tuple(table for table in found if table.rows)


def _decided(rows: Sequence[Mark]) -> list[Mark]:
    return [row for row in rows if row.decided]


def _numbers(rows: Sequence[Mark]) -> tuple[Cell, ...]:
    return accuracy(rows), accuracy(_decided(rows))


def _shown(rows: Iterable[Mark]) -> list[tuple[Decider, Column]]:
    """The columns of who decided; that of the official fallback only where it did."""
    used = {row.how for row in rows}
    return [(how, column) for how, column in _HOW if how != "fallback" or how in used]


def _overall(system: str, rows: Sequence[Mark]) -> Table:
    columns = (Column("system", "system"), _ACCURACY, _DECIDED, _MACRO, _SHARE, _N)
    decided = len(_decided(rows)) / len(rows) if rows else _NAN
    cells = (system, *_numbers(rows), macro(rows), decided, len(rows))
    return Table("overall", "task-aware accuracy", columns, (cells,))


def _tasks(tasks: dict[str, list[Mark]]) -> Table:
    shown = _shown(row for rows in tasks.values() for row in rows)
    columns = (Column("task", "task"), _N, _ACCURACY, _DECIDED, _PARSED, *(column for _, column in shown))
    cells = []
    for task, rows in tasks.items():
        parsed, counts = mean(float(row.parseable) for row in rows), Counter(row.how for row in rows)
        cells.append((task, len(rows), *_numbers(rows), parsed, *(counts[how] for how, _ in shown)))
    return Table("tasks", "by task", columns, tuple(cells))


def _classes(rows: Sequence[Mark]) -> Table:
    groups: dict[str, list[Mark]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    columns = (Column("question_class", "question class"), _N, _ACCURACY, _DECIDED)
    cells = tuple((group, len(groups[group]), *_numbers(groups[group])) for group in sorted(groups))
    return Table("classes", "by question class", columns, cells)


def _details(rows: Sequence[Mark], key: str) -> list[float]:
    """The finite values of a key of the outcomes."""
    return [row.details[key] for row in rows if key in row.details and math.isfinite(row.details[key])]


def _errors(tasks: dict[str, list[Mark]]) -> Table:
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


def _speech(tasks: dict[str, list[Mark]]) -> Table:
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


def notices(
    rows: Sequence[Mark], joined: JoinedAnswers, profile: AnswerProfile, reason: str = ""
) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; *reason*: why no score could be made of the first that has none."""
    found = [*joined.notices, *_undecided(rows), *_about(rows, "scoring-errors", reason), *_about(rows, "no-truth")]
    if tasks := sorted({row.task for row in rows} - {*KNOWN}):
        text = f"tasks that SO-Bench does not have ({listed(tasks)}): right is what equals the answer but for case"
        found.append(Notice("unknown-tasks", text, grave=True))
    found += [*_about(rows, "azimuth-as-elevation"), *_about(rows, "contradictory-judgements")]
    if profile.departures:
        found.append(Notice("not-the-whole-program", profile.departures, grave=True))
    found += [*_float_trap(rows, profile), *_uneven(rows)]
    if Counter(row.task for row in rows) != COUNTS:
        text = (
            f"these are not the {sum(COUNTS.values()):,} questions of SO-Bench (by the published number of each "
            "task): the accuracy cannot be compared to published ones"
        )
        found.append(Notice("other-questions", text))
    read = sum("read-offline" in row.odd for row in rows)
    if read:
        share = f"{read:,} of {plural(len(rows), 'question')}"
        text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
        found.append(Notice("read-offline", text))
    return in_order(found)


def _about(rows: Sequence[Mark], name: str, reason: str = "") -> Iterator[Notice]:
    _, what, grave = _ABOUT_ROWS[name]
    if some := [row.id for row in rows if name in row.odd]:
        noun, rest = what.format(ids=listed(some, 3), reason=reason).split(" ", 1)
        yield Notice(name, f"{plural(len(some), noun)} {rest}", grave)


def _undecided(rows: Sequence[Mark]) -> Iterator[Notice]:
    open_ones = Counter(row.task for row in rows if row.how == "undecided")
    if not open_ones:
        return
    tasks = ", ".join(f"{task} {count:,}" for task, count in open_ones.most_common(4))
    decided = _decided(rows)
    over = f"over the decided ones {accuracy(decided):.2%}" if decided else "and none is decided"
    text = (
        f"{plural(open_ones.total(), 'prediction')} without verdict ({tasks}): their texts do not tell, and there was "
        f"no judge or it gave no verdict. Counted as wrong the accuracy is {accuracy(rows):.2%}, {over}: "
        "give a judge for one number"
    )
    yield Notice("no-verdict", text, grave=True)


def judged_without_reference(rows: Iterable[Mark | Scored]) -> tuple[Notice, ...]:
    """What to know where a judge read numbers without being shown the right ones."""
    hidden = {task.name for task in KNOWN.values() if task.hidden and task.truth}
    there = sum(row.how == "judge" and row.task in hidden for row in rows)
    if not there:
        return ()
    text = (
        f"{plural(there, 'answer')} with a number read by a judge that was not shown the reference, so that it "
        "cannot read the right number into the text; the official program shows it, and its judge may be kinder"
    )
    return (Notice("judge-without-reference", text),)


def _float_trap(rows: Sequence[Mark], profile: AnswerProfile) -> Iterator[Notice]:
    """Errors equal to a threshold on paper and beyond it in binary."""
    limited = (task for task in KNOWN.values() if task.threshold)
    for task in sorted(limited, key=lambda task: THRESHOLDS.index(str(task.threshold))):
        limit, key, unit = getattr(profile, str(task.threshold)), str(task.error), task.unit
        if task.threshold == "distance" and profile.relative:
            key, unit = "relative_distance_error", "of the distance"
        there = (row for row in rows if row.task == task.name and key in row.details)
        at = [row for row in there if abs(row.details[key] - limit) < 1e-9]
        failed = [row.id for row in at if not row.correct]
        if failed:
            text = (
                f"{plural(len(failed), 'prediction')} of {task.name} wrong by the last bit: {len(at):,} are off by "
                f"exactly {limit:g} {unit}, which is allowed, and in binary {len(failed):,} of these come out greater "
                f"({listed(failed, 3)}). Kept as in the official program"
            )
            yield Notice("float-trap", text)


def _uneven(rows: Sequence[Mark]) -> Iterator[Notice]:
    tasks = by_task(rows)
    if len(tasks) < 2:
        return
    (first, most), (second, next_most) = Counter({task: len(some) for task, some in tasks.items()}).most_common(2)
    share, even = (most + next_most) / len(rows), 2 / len(tasks)
    if share > 1.5 * even:
        text = (
            f"{first} and {second} make {share:.0%} of the questions: the accuracy over all questions "
            f"({accuracy(rows):.2%}) is mostly theirs; with all {len(tasks)} tasks alike it is {macro(rows):.2%}"
        )
        yield Notice("uneven-tasks", text)


def _part(row: Scored, name: str) -> dict[str, object]:
    """A part of a judgement, which may be anything: judges are machines."""
    judgement: object = row.judgement
    part = judgement.get(name) if isinstance(judgement, dict) else None
    return part if isinstance(part, dict) else {}


def _unusable(row: Scored) -> bool:
    return row.outcome is not None and row.outcome.metric == "scoring_error"


def _without_truth(row: Scored) -> bool:
    truth = KNOWN[row.task].truth if row.task in KNOWN else None
    return truth is not None and getattr(row.item.answer_meta, truth, None) is None


def _azimuth_as_elevation(row: Scored) -> bool:
    said = _part(row, "prediction")
    return row.task == "estimate_elevation" and said.get("elevation_deg") is None and said.get("angle_deg") is not None


def _contradicts(row: Scored) -> bool:
    semantic = _part(row, "semantic")
    match, level = semantic.get("source_match"), semantic.get("source_match_level")
    return (match is True and level in ("wrong", "related_but_wrong")) or (
        match is False and level == "exact_or_synonym"
    )


#: Notices on some questions: which, what is to be known of them (behind their number), and whether it is grave.
_ABOUT_ROWS: dict[str, tuple[Callable[[Scored], bool], str, bool]] = {
    "scoring-errors": (
        _unusable, "judgement that cannot be computed with counted as wrong ({ids}: {reason})", True,
    ),
    "no-truth": (
        _without_truth,
        "question without the number in answer_meta that scoring needs ({ids}): no prediction can be right", True,
    ),
    "azimuth-as-elevation": (
        _azimuth_as_elevation,
        (
            "elevation read from angle_deg, because the judgement has no elevation_deg ({ids}): an azimuth may have "
            "been scored as an elevation, as in the official program"
        ), True,
    ),
    "contradictory-judgements": (
        _contradicts,
        (
            "judgement whose source_match and source_match_level contradict each other ({ids}): the one that says "
            "right wins, as in the official program"
        ), False,
    ),
}  # fmt: skip


def score(
    items: Sequence[Item],
    predictions: Sequence[Prediction],
    profile: AnswerProfile,
    *,
    judge: Judge | None = None,
    join: JoinedBy = "strict",
    offline: Offline = "extract",
    system: str = "predictions",
    own_words: bool = False,
    take: Callable[[Scored], object] | None = None,
) -> ScoreReport:
    """The score of *predictions* for the questions *items*.

    Args:
        items: the questions with their answers.
        predictions: in any order; joined by id.
        profile: thresholds and policies, see :mod:`seldio.scores.so_bench.profiles`; ``changed`` sets others.
        judge: decides what the texts do not tell; what it leaves open stays without verdict.
        join: ``official`` joins as the official program does, and tells where that is not by id.
        offline: what is decided without a judge.
        system: the name of what is scored.
        own_words: whether *judge* is asked in seldio's words, which hide the reference where a number is read.
        take: is handed the questions one by one, scored; none of them is kept.

    Raises:
        DataError: the predictions do not fit the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
    """
    joined = joined_by(items, predictions, join)
    rows: list[Mark] = []
    reason = ""
    for row in count(items, predictions, joined, profile, judge, offline):
        rows.append(Mark.of(row))
        if not reason and _unusable(row) and row.outcome is not None:
            reason = clipped(str(row.outcome.details["scoring_error"]), 80)
        if take is not None:
            take(row)
    if not rows:
        raise DataError("there is nothing to score: no question has a prediction, or there is no question")
    over = f"{plural(len(rows), 'question')} of {plural(len(by_task(rows)), 'task')}"
    settings = profile.settings() | {"join": join, "offline": offline, "judge": judge is not None}
    told = (*notices(rows, joined, profile, reason), *(judged_without_reference(rows) if own_words else ()))
    return ScoreReport(system, profile.name, profile.title, over, tables(system, rows), told, settings)
