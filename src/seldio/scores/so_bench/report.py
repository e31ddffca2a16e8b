"""What a score of SO-Bench shows: tables, as the official summary has them and beyond, and what there is to know."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

import numpy as np

from seldio.answers.judgements import Judge
from seldio.answers.reading import read as read_reply
from seldio.errors import DataError
from seldio.formats.base import Ints
from seldio.geometry import Floats
from seldio.reports.tables import Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores import intervals, replies
from seldio.scores.so_bench.count import Decider, Offline, Scored, count
from seldio.scores.so_bench.join import JoinedAnswers, JoinedBy
from seldio.scores.so_bench.join import join as joined_by
from seldio.scores.so_bench.profiles import THRESHOLDS, AnswerProfile
from seldio.tasks.specs import COUNTS, PUBLISHED
from seldio.text import clipped, listed, plural

_ACCURACY = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; undecided questions count as wrong")
_DECIDED = Column("decided_accuracy", "over decided", "%", 2, "higher", "mean score of the questions decided")
_MACRO = Column("macro", "macro", "%", 2, "higher", "mean over tasks: each counts the same")
_N = Column("n", "n", "", 0, None, "questions")
_PARSED = Column("parse_rate", "parsed", "%", 1, "higher", "predictions that say what the task asks for")
_SHARE = Column("decided", "decided", "%", 1, "higher", "questions that were decided")
#: Who decides, with the column of how often; the first three come to a verdict.
_HOW: tuple[tuple[Decider, Column], ...] = (
    ("offline", Column("offline", "offline", "", 0, None, "read from the text without a judge")),
    ("judge", Column("judge", "judge", "", 0, None, "decided by the judge")),
    ("fallback", Column("fallback", "fallback", "", 0, None, "decided by the official fallback")),
    ("undecided", Column("undecided", "no verdict", "", 0, None, "without a verdict")),
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
#: What became of a reply, by who decided; of undecided ones their text tells.
_STATES: dict[Decider, str] = {
    "offline": "read", "judge": replies.JUDGED, "fallback": "by the official fallback", "missing": "missing",
}  # fmt: skip
_DECIDERS = [how for how, _ in _HOW]
#: What is kept of an outcome.
_KEPT = (*(key for key, _ in _MEASURES), "wer", "wer_raw")


def state_of(row: Scored) -> str:
    """What became of a reply."""
    return _STATES.get(row.how) or replies.state_of(read_reply(row.prediction, ()))


class Marks:
    """Scored questions in columns, in the order in which they are counted; *take* is handed them one by one."""

    def __init__(self, rows: Iterable[Scored], take: Callable[[Scored], object] | None = None) -> None:
        self.names: dict[str, int] = {}  # codes of tasks and of groups
        recordings: list[str] = []  # what each is about
        task, group, decider, odd = array("i"), array("i"), array("b"), array("b")
        correct, parseable, from_text = array("d"), array("b"), array("b")
        numbers = {key: (array("q"), array("d")) for key in _KEPT}
        self.states: list[str] = []  # what became of each reply
        self.reason = ""  # why the first that has no score has none
        for number, row in enumerate(rows):
            task.append(self.names.setdefault(row.task, len(self.names)))
            group.append(self.names.setdefault(question_class(row), len(self.names)))
            decider.append(_DECIDERS.index(row.how))
            recordings.append(intervals.recording_of(row.item))
            correct.append(row.correct)
            parseable.append(row.outcome is not None and row.outcome.parseable)
            from_text.append(row.how == "offline" and row.task != "speech_content" and bool(row.prediction.strip()))
            self.states.append(state_of(row))
            odd.append(sum(1 << bit for bit, (about, *_) in enumerate(_ABOUT_ROWS.values()) if about(row)))
            details = row.outcome.details if row.outcome is not None else {}
            for key, (places, values) in numbers.items() if details else ():
                if details.get(key) is not None:
                    places.append(number)
                    values.append(float(details[key]))
            if not self.reason and _unusable(row):
                self.reason = clipped(str(details["scoring_error"]), 80)
            if take is not None:
                take(row)
        self.task, self.group, self.decider = np.asarray(task), np.asarray(group), np.asarray(decider)
        self.clip = intervals.numbered(recordings)  # the number of the recording
        self.correct, self.parseable = np.asarray(correct), np.asarray(parseable)
        self.from_text = np.asarray(from_text)  # whether a text was read that the official program asks its judge about
        self.odd = np.asarray(odd)  # a bit for each notice that a question is a reason for
        #: the numbers of outcomes by key: the questions that have one, and it
        self.numbers = {key: (np.asarray(places), np.asarray(values)) for key, (places, values) in numbers.items()}
        self.all = np.arange(len(task))
        self.decided = self.decider < _DECIDERS.index("undecided")
        order, self.tasks = {name: place for place, name in enumerate(PUBLISHED)}, dict[str, Ints]()  # the rows of each
        there = [name for name, code in self.names.items() if (self.task == code).any()]
        for name in sorted(there, key=lambda name: (order.get(name, len(order)), name)):
            self.tasks[name] = np.flatnonzero(self.task == self.names[name])

    def accuracy(self, rows: Ints) -> float:
        """The mean score; undecided questions count 0."""
        return mean(self.correct[rows])

    def both(self, rows: Ints) -> tuple[float, float]:
        """The mean score of all questions, and of those decided."""
        return self.accuracy(rows), self.accuracy(rows[self.decided[rows]])

    @property
    def macro(self) -> float:
        """The mean over tasks of their mean scores."""
        return mean(np.array([self.accuracy(rows) for rows in self.tasks.values()]))

    def values(self, task: str, key: str) -> tuple[Ints, Floats]:
        """The finite numbers of a key of a task's outcomes, and their questions."""
        places, values = self.numbers[key]
        kept = (self.task[places] == self.names.get(task, -1)) & np.isfinite(values)
        return places[kept], values[kept]


def question_class(row: Scored) -> str:
    """The group of a question: its own, else that which its task has in the benchmark."""
    named = (row.item.extra or {}).get("question_class")
    usual = PUBLISHED[row.task].question_class if row.task in PUBLISHED else "other"
    return named if isinstance(named, str) else usual


def mean(values: Floats) -> float:
    """The mean, summed up in order as the official program does; NaN of nothing."""
    return sum(values.tolist()) / len(values) if len(values) else math.nan


def tables(system: str, marks: Marks) -> tuple[Table, ...]:
    """All tables of a score, those without rows left out."""
    decided = float(marks.decided.sum()) / len(marks.all)
    whole = (system, *marks.both(marks.all), marks.macro, decided, len(marks.all))
    columns = (Column("system", "system"), _ACCURACY, _DECIDED, _MACRO, _SHARE, _N)
    groups = {name: np.flatnonzero(marks.group == code) for name, code in sorted(marks.names.items())}
    classed = {name: rows for name, rows in groups.items() if len(rows)}
    classes = tuple((name, len(rows), *marks.both(rows)) for name, rows in classed.items())
    found = (
        Table("overall", "task-aware accuracy", columns, (whole,)),
        _tasks(marks),
        intervals.table(_ACCURACY, marks.correct, marks.clip, {"task": marks.tasks, "class": classed}),
        *replies.tables(marks.states, marks.correct),
        Table("classes", "by question class", (Column("question_class", "question class"), _N, _ACCURACY, _DECIDED),
              classes),
        _errors(marks),
        _speech(marks),
    )  # fmt: skip
    return tuple(table for table in found if table.rows)


def _tasks(marks: Marks) -> Table:
    totals = np.bincount(marks.decider, minlength=len(_DECIDERS))
    shown = [
        (code, column) for code, (how, column) in enumerate(_HOW) if how != "fallback" or totals[code]
    ]  # that of the official fallback only where it decided
    columns = (Column("task", "task"), _N, _ACCURACY, _DECIDED, _PARSED, *(column for _, column in shown))
    cells = []
    for task, rows in marks.tasks.items():
        counts = np.bincount(marks.decider[rows], minlength=len(_DECIDERS)).tolist()
        parsed = int(marks.parseable[rows].sum()) / len(rows)
        cells.append((task, len(rows), *marks.both(rows), parsed, *(counts[code] for code, _ in shown)))
    return Table("tasks", "by task", columns, tuple(cells))


def _errors(marks: Marks) -> Table:
    columns = (
        Column("task", "task"),
        Column("measure", "measure"),
        _N,
        Column("mean", "mean", "", 3),
        Column("median", "median", "", 3),
    )
    cells = [
        (task, title, len(values), mean(values), median(values.tolist()))
        for task in marks.tasks
        for key, title in _MEASURES
        if len(values := marks.values(task, key)[1])
    ]
    return Table("errors", "errors of the predictions that could be read", columns, tuple(cells))


def _speech(marks: Marks) -> Table:
    best, raw = (marks.values("speech_content", key)[1] for key in ("wer", "wer_raw"))
    capped = np.minimum(best, 1.0)
    cells = []
    for name, values in (("wer", best), ("wer_clipped", capped), ("wer_raw", raw)) if len(best) else ():
        cells += [(f"{name}_mean", mean(values)), (f"{name}_median", median(values.tolist()))]
    for limit in (0.3, 0.5, 1.0) if len(best) else ():
        cells.append((f"acc_wer_le_{limit}", mean((best <= limit).astype(float))))
    columns = (Column("statistic", "statistic"), Column("value", "value", "", 4))
    return Table("speech", f"transcripts: word error rates of {len(best)} predictions", columns, tuple(cells))


# --- what there is to know -------------------------------------------------------------------------


def notices(
    marks: Marks, items: Sequence[Item], joined: JoinedAnswers, profile: AnswerProfile, own_words: bool
) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; *own_words*: whether a judge was asked in seldio's words."""
    counted = np.concatenate((joined.items, joined.missing))

    def ids(rows: Ints) -> str:
        return listed([items[number].id for number in counted[rows[:3]].tolist()], 3, len(rows))

    about = {}
    for bit, (name, (_, what, grave)) in enumerate(_ABOUT_ROWS.items()):
        if len(rows := np.flatnonzero(marks.odd & (1 << bit))):
            noun, rest = what.format(ids=ids(rows), reason=marks.reason).split(" ", 1)
            about[name] = [Notice(name, f"{plural(len(rows), noun)} {rest}", grave)]
    found = [*joined.notices, *_undecided(marks), *about.get("scoring-errors", ()), *about.get("no-truth", ())]
    if tasks := sorted({*marks.tasks} - {*PUBLISHED}):
        text = f"tasks that SO-Bench does not have ({listed(tasks)}): right is what equals the answer but for case"
        found.append(Notice("unknown-tasks", text, grave=True))
    found += [*about.get("azimuth-as-elevation", ()), *about.get("contradictory-judgements", ())]
    if profile.departures:
        found.append(Notice("not-the-whole-program", profile.departures, grave=True))
    found += [*_float_trap(marks, profile, ids), *_uneven(marks)]
    if {task: len(rows) for task, rows in marks.tasks.items()} != COUNTS:
        text = (
            f"these are not the {sum(COUNTS.values()):,} questions of SO-Bench (by the published number of each "
            "task): the accuracy cannot be compared with published ones"
        )
        found.append(Notice("other-questions", text))
    if read := int(marks.from_text.sum()):
        share = f"{read:,} of {plural(len(marks.all), 'question')}"
        text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
        found.append(Notice("read-offline", text))
    return (*in_order(found), *(_judged_without_reference(marks) if own_words else ()))


def _undecided(marks: Marks) -> Iterator[Notice]:
    names = [*marks.names]
    open_ones = Counter(names[code] for code in marks.task[marks.decider == _DECIDERS.index("undecided")])
    if not open_ones:
        return
    tasks = ", ".join(f"{task} {count:,}" for task, count in open_ones.most_common(4))
    every, decided = marks.both(marks.all)
    over = "and none is decided" if math.isnan(decided) else f"over those decided {decided:.2%}"
    text = (
        f"{plural(open_ones.total(), 'prediction')} without verdict ({tasks}): their texts do not tell, and there was "
        f"no judge or it gave no verdict. Counted as wrong the accuracy is {every:.2%}, {over}: "
        "give a judge for one number"
    )
    yield Notice("no-verdict", text, grave=True)


def _judged_without_reference(marks: Marks) -> Iterator[Notice]:
    """Where a judge read numbers without being shown the right ones."""
    hidden = (task.name for task in PUBLISHED.values() if task.hidden and task.truth)
    there = sum(int((marks.decider[marks.tasks[name]] == 1).sum()) for name in hidden if name in marks.tasks)
    if there:
        text = (
            f"{plural(there, 'answer')} with a number read by a judge that was not shown the reference, so that it "
            "cannot read the right number into the text; the official program shows it, and its judge may be kinder"
        )
        yield Notice("judge-without-reference", text)


def _float_trap(marks: Marks, profile: AnswerProfile, ids: Callable[[Ints], str]) -> Iterator[Notice]:
    """Errors equal to a threshold on paper and beyond it in binary."""
    limited = (task for task in PUBLISHED.values() if task.threshold)
    for task in sorted(limited, key=lambda task: THRESHOLDS.index(str(task.threshold))):
        limit, key, unit = getattr(profile, str(task.threshold)), str(task.error), task.unit
        if task.threshold == "distance" and profile.relative:
            key, unit = "relative_distance_error", "of the distance"
        rows, values = marks.values(task.name, key)
        at = rows[abs(values - limit) < 1e-9]
        failed = at[marks.correct[at] == 0]
        if len(failed):
            text = (
                f"{plural(len(failed), 'prediction')} of {task.name} wrong by the last bit: {len(at):,} are off by "
                f"exactly {limit:g} {unit}, which is allowed, and in binary {len(failed):,} of these come out greater "
                f"({ids(failed)}). Kept as in the official program"
            )
            yield Notice("float-trap", text)


def _uneven(marks: Marks) -> Iterator[Notice]:
    if len(marks.tasks) < 2:
        return
    sizes = Counter({task: len(rows) for task, rows in marks.tasks.items()})
    (first, most), (second, next_most) = sizes.most_common(2)
    share, even = (most + next_most) / len(marks.all), 2 / len(sizes)
    if share > 1.5 * even:
        text = (
            f"{first} and {second} make {share:.0%} of the questions: the accuracy over all questions "
            f"({marks.accuracy(marks.all):.2%}) is mostly theirs; with all {len(sizes)} tasks alike it is "
            f"{marks.macro:.2%}"
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
    truth = PUBLISHED[row.task].truth if row.task in PUBLISHED else None
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
        DataError: the predictions do not match the questions, or there is nothing to score.
        UsageError: a way of reading that does not exist.
    """
    joined = joined_by(items, predictions, join)
    marks = Marks(count(items, predictions, joined, profile, judge, offline), take)
    if not len(marks.all):
        raise DataError("nothing to score: no question has a prediction")
    over = f"{plural(len(marks.all), 'question')} of {plural(len(marks.tasks), 'task')}"
    settings = profile.settings() | {"join": join, "offline": offline, "judge": judge is not None}
    told = notices(marks, items, joined, profile, own_words)
    return ScoreReport(system, profile.name, profile.title, over, tables(system, marks), told, settings)
