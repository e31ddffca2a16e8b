"""What there is to know about a score of SO-Bench."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from seldio.scores.result import Notice
from seldio.scores.so_bench.aggregate import accuracy, by_task, macro
from seldio.scores.so_bench.join import Joined
from seldio.scores.so_bench.profiles import TASKS, Profile
from seldio.scores.so_bench.records import Scored
from seldio.text import clipped, listed, plural


class Case(NamedTuple):
    """What a notice may look at."""

    rows: Sequence[Scored]
    joined: Joined
    profile: Profile


def notices(case: Case) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    found = [*case.joined.notices, *(notice for check in _CHECKS for notice in check(case))]
    return tuple(sorted(found, key=lambda notice: not notice.grave))


def _ids(rows: Sequence[Scored]) -> str:
    return listed([row.item.id for row in rows], 3)


def _undecided(case: Case) -> Iterator[Notice]:
    rows = [row for row in case.rows if row.how == "undecided"]
    if not rows:
        return
    tasks = ", ".join(f"{task} {count:,}" for task, count in Counter(row.task for row in rows).most_common(4))
    decided = [row for row in case.rows if row.outcome is not None]
    over = f"over the decided ones {accuracy(decided):.2%}" if decided else "and none is decided"
    text = (
        f"{plural(len(rows), 'prediction')} without verdict ({tasks}): their texts do not tell, and there was no judge "
        f"or it did not answer. Counted as wrong the accuracy is {accuracy(case.rows):.2%}, {over}: "
        "give a judge for one number"
    )
    yield Notice("no-verdict", text, grave=True)


def _offline(case: Case) -> Iterator[Notice]:
    rows = [
        row for row in case.rows if row.how == "offline" and row.task != "speech_content" and row.prediction.strip()
    ]
    if rows:
        share = f"{len(rows):,} of {plural(len(case.rows), 'question')}"
        text = f"{share} decided from the text alone; the official program asks a judge about all but transcripts"
        yield Notice("read-offline", text)


def asked_blind(rows: Sequence[Scored], blind: Sequence[str]) -> tuple[Notice, ...]:
    """What to know where a judge read numbers without being shown the right ones; *blind* are those tasks."""
    there = [row for row in rows if row.how == "judge" and row.task in blind]
    if not there:
        return ()
    text = (
        f"{plural(len(there), 'answer')} with a number read by a judge that was not shown the reference, so that it "
        "cannot read the right number into the text; the official program shows it, and its judge may be kinder"
    )
    return (Notice("judge-without-reference", text),)


#: Tasks with a threshold: key of the error in an outcome, name of the threshold in a profile, unit.
_LIMITS = {
    "estimate_azimuth": ("doaerr_deg", "azimuth", "°"),
    "estimate_elevation": ("doaerr_deg", "elevation", "°"),
    "estimate_distance": ("distance_error_m", "distance", "m"),
    "onset_from_location": ("time_error_s", "onset", "s"),
}


def _float_trap(case: Case) -> Iterator[Notice]:
    """Errors equal to a threshold on paper and beyond it in binary."""
    for task, (key, name, unit) in _LIMITS.items():
        limit = getattr(case.profile, name)
        if task == "estimate_distance" and case.profile.relative:
            key, unit = "relative_distance_error", "of the distance"
        at = [row for row in case.rows if row.task == task and _is(row, key, limit)]
        failed = [row for row in at if not row.correct]
        if failed:
            text = (
                f"{plural(len(failed), 'prediction')} of {task} wrong by the last bit: {len(at):,} are off by exactly "
                f"{limit:g} {unit}, which is allowed, and in binary {len(failed):,} of these come out greater "
                f"({_ids(failed)}). Kept as in the official program"
            )
            yield Notice("float-trap", text)


def _is(row: Scored, key: str, limit: float) -> bool:
    error = row.outcome.details.get(key) if row.outcome else None
    return error is not None and abs(error - limit) < 1e-9


def _uneven(case: Case) -> Iterator[Notice]:
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


def _other_questions(case: Case) -> Iterator[Notice]:
    counts = Counter(row.task for row in case.rows)
    if counts != {task.name: task.count for task in TASKS.values()}:
        total = sum(task.count for task in TASKS.values())
        text = (
            f"these are not the {total:,} questions of SO-Bench (by the published number of each task): the accuracy "
            "cannot be compared to published ones"
        )
        yield Notice("other-questions", text)


def _azimuth_as_elevation(case: Case) -> Iterator[Notice]:
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


def _contradictions(case: Case) -> Iterator[Notice]:
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


def _unusable(case: Case) -> Iterator[Notice]:
    rows = [row for row in case.rows if row.outcome is not None and row.outcome.metric == "scoring_error"]
    if rows and (first := rows[0].outcome):
        reason = clipped(str(first.details["scoring_error"]), 80)
        text = (
            f"{plural(len(rows), 'judgement')} that cannot be computed with counted as wrong ({_ids(rows)}: {reason})"
        )
        yield Notice("scoring-errors", text, grave=True)


_TRUTHS = {
    "estimate_azimuth": "azimuth_deg", "estimate_elevation": "elevation_deg", "estimate_distance": "distance_m",
    "detect_time": "time_span", "spatial_temporal": "time_span", "onset_from_location": "onset_time",
    "count_sources": "active_count",
}  # fmt: skip


def _without_truth(case: Case) -> Iterator[Notice]:
    rows = [row for row in case.rows if row.task in _TRUTHS and _truth(row) is None]
    if rows:
        text = (
            f"{plural(len(rows), 'question')} without the number in answer_meta that scoring needs ({_ids(rows)}): "
            "no prediction can be right"
        )
        yield Notice("no-truth", text, grave=True)


def _truth(row: Scored) -> Any:
    return getattr(row.item.answer_meta, _TRUTHS[row.task], None)


def _unknown_tasks(case: Case) -> Iterator[Notice]:
    tasks = sorted({row.task for row in case.rows} - {*TASKS})
    if tasks:
        text = f"tasks that SO-Bench does not have ({listed(tasks)}): right is what equals the answer but for case"
        yield Notice("unknown-tasks", text, grave=True)


def _departures(case: Case) -> Iterator[Notice]:
    if case.profile.departures:
        yield Notice("not-the-whole-program", case.profile.departures, grave=True)


_CHECKS: tuple[Callable[[Case], Iterator[Notice]], ...] = (
    _undecided, _unusable, _without_truth, _unknown_tasks, _azimuth_as_elevation, _contradictions, _departures,
    _float_trap, _uneven, _other_questions, _offline,
)  # fmt: skip
