"""Which of many items to keep: some of each task, by weights, and no answer more often than guessing has it.

Each option of a question *claims* something: that the bell sounds, that it sounds twice, that the speech lasts longer.
Whoever knows how often each claim is right guesses well. So a balanced choice caps each claim: of the questions that
offer it, it is right in no more than guessing has right, 5 % more, or one question. That holds for any number of the
first questions, so that fewer can be kept. An open question has no options; over a whole task, each answer is kept
up to a cap, and rarer answers are left out. See Goyal and others, Making the V in VQA matter, CVPR 2017.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping

from seldio.errors import UsageError
from seldio.tasks.scene import Lot
from seldio.tasks.so_bench import SO_BENCH
from seldio.tasks.specs import QuestionOptions
from seldio.text import listed

#: How much more often than by guessing an answer may be right.
SHARE = 0.05
#: Why a question that has one right answer is left out; words that reports show.
UNEVEN = "no counterpart question balances its answer"


# --- how many of each task ----------------------------------------------------------------------------------


def targets(
    available: Mapping[str, int],
    *,
    per_task: int | None = None,
    balance: bool = False,
    total: int | None = None,
    proportions: Mapping[str, int] = SO_BENCH,
) -> dict[str, int]:
    """Return how many items of each task to keep, of those available.

    Args:
        available: items by task.
        per_task: maximum number of any task; with *balance*, of the most frequent one.
        balance: the proportions of SO-Bench among the tasks that have items; the scarcest sets the scale,
            and every task keeps one item at least.
        total: the total number, in the proportions of SO-Bench; what a task lacks is made up for by the others
            in their proportions. Fewer where there are no more, or where *per_task* or *balance* keep fewer.
        proportions: others than those of SO-Bench.

    Raises:
        UsageError: a number below 1, or a task without a weight among the *proportions* where these are needed.
    """
    for what, number in (("per task", per_task), ("in total", total)):
        if number is not None and number < 1:
            raise UsageError(f"the number of questions {what} is at least 1, not {number}")
    counts = {task: number for task, number in available.items() if number}
    if (balance or total is not None) and (lacking := sorted(set(counts) - set(proportions))):
        raise UsageError(f"no weight is known for {listed(lacking)}: its share of the questions cannot be worked out")
    if balance and counts:
        scale = min(number / proportions[task] for task, number in counts.items())
        if per_task is not None:
            scale = min(scale, per_task / max(proportions[task] for task in counts))
        counts = {task: max(1, math.floor(scale * proportions[task] + 1e-9)) for task in counts}
    counts = {task: number if per_task is None else min(number, per_task) for task, number in counts.items()}
    if total is None or sum(counts.values()) <= total:
        return counts
    # each task gets at most its count; what a task lacks goes to the others by their weights
    unfilled, remaining = dict(counts), total
    while True:
        scale = remaining / sum(proportions[task] for task in unfilled)
        full = [task for task, number in unfilled.items() if number <= scale * proportions[task]]
        if not full:
            break
        remaining -= sum(unfilled.pop(task) for task in full)
    parts = {task: scale * proportions[task] for task in unfilled}
    floors = {task: math.floor(part) for task, part in parts.items()}
    last = sorted(parts, key=lambda task: (floors[task] - parts[task], task))[: remaining - sum(floors.values())]
    shares = {task: floors[task] + (task in last) if task in unfilled else number for task, number in counts.items()}
    return {task: number for task, number in shares.items() if number}


# --- which of them ------------------------------------------------------------------------------------------


def in_turn(lots: Iterable[Lot]) -> list[Lot]:
    """Return *lots* of a task so that the first few have as many different answers as there can be."""
    seen, turns = Counter[Hashable](), list[tuple[int, Lot]]()
    for drawn in sorted(lots, key=lambda lot: lot.chance):
        turns.append((seen[drawn.group], drawn))
        seen[drawn.group] += 1
    return [drawn for _, drawn in sorted(turns, key=lambda pair: (pair[0], pair[1].chance))]


def capped_claims(lots: Iterable[Lot]) -> list[Lot]:
    """Return questions in turn, but those with which a claim is right more than :data:`SHARE` or a question too often.

    That holds among the first of them too, however many: a question waits until others make up for its claims.
    """
    weights, offered = Counter[Hashable](), Counter[Hashable]()  # times right, less times wrong for each other option

    def count(lot: Lot, times: int) -> None:
        options = len(lot.claims)
        for place, option in enumerate(lot.claims):
            for claim in option:
                weights[claim] += times * (-1 if place else options - 1)
                offered[claim] += times * options

    waiting, chosen, refused = deque(in_turn(lots)), list[Lot](), 0
    while refused < len(waiting):
        drawn = waiting.popleft()
        count(drawn, 1)
        if any(weights[claim] > max(SHARE * offered[claim], len(drawn.claims) - 1) for claim in drawn.claims[0]):
            count(drawn, -1)
            waiting.append(drawn)
            refused += 1
        else:
            chosen.append(drawn)
            refused = 0
    return chosen if len({lot.claims[0] for lot in chosen}) > 1 else []


def capped_answers(lots: Iterable[Lot]) -> list[Lot]:
    """Return open questions, each answer up to a cap: the most frequent has at most :data:`SHARE` more than guessing.

    Answers that are too rare for that are left out, as many as leave the most questions.
    """
    by_answer = defaultdict[Hashable, list[Lot]](list)
    for drawn in sorted(lots, key=lambda lot: lot.chance):
        by_answer[drawn.group].append(drawn)
    chosen: list[Lot] = []
    for rarest in sorted({len(alike) for alike in by_answer.values()}):
        frequent = [alike for alike in by_answer.values() if len(alike) >= rarest]
        if len(frequent) > 1:
            share, most = 1 / len(frequent) + SHARE, max(map(len, frequent))
            cap = bisect_right(
                range(1, most + 1), share, key=lambda cap: cap / sum(min(len(alike), cap) for alike in frequent)
            )
            chosen = max(chosen, [drawn for alike in frequent for drawn in alike[:cap]], key=len)
    return chosen


def _even(lots: list[Lot]) -> list[Lot]:
    """Return the lots of a task that are left where answers cannot be guessed; nor can those of the first few."""
    if any(lot.claims for lot in lots):
        return capped_claims(lot for lot in lots if lot.claims)
    return in_turn(capped_answers(lots) if all(lot.guessable for lot in lots) else lots)


def choice(
    lots: Iterable[Lot], options: QuestionOptions, weights: Mapping[str, int]
) -> tuple[set[Lot], Counter[tuple[str, str]]]:
    """Return the lots to keep (see :func:`targets`), and how many of each task are too uneven (:data:`UNEVEN`).

    Of each task answers are taken in turn, so that rare ones are kept. The choice does not depend on the order of lots.
    """
    balance, most = options.balance, options.per_task
    of_task = defaultdict[str, list[Lot]](list)
    for drawn in lots:
        of_task[drawn.task].append(drawn)
    even = {task: _even(drawn) if balance else in_turn(drawn) for task, drawn in of_task.items()}
    available = {task: len(drawn) for task, drawn in even.items()}
    wanted = targets(available, per_task=most, balance=balance, total=options.total, proportions=weights)
    chosen = {drawn for task, number in wanted.items() for drawn in even[task][:number]}
    left_out = {(task, UNEVEN): len(drawn) - available[task] for task, drawn in of_task.items()}
    return chosen, +Counter(left_out)
