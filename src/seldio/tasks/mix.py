"""Which of many items to keep: some of each task, in the proportions of a benchmark, with even answers.

Each clip gives all its items, and what the choice has to know of each is a few numbers (``KEY``) that are put together
over all parts; so the choice is the same for any cut into parts. With *balance* it begins with the items that cannot be
guessed from their text (:mod:`seldio.tasks.even`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from seldio.errors import UsageError
from seldio.schema.qa import Item
from seldio.tasks.english import SO_BENCH, TASKS
from seldio.tasks.even import CLAIMS, CONTEXTS, OPTIONS, UNEVEN, fair, flat, packed, within
from seldio.tasks.task import Task, first_class, hashed
from seldio.text import listed

#: What the choice of items looks at, 24 bytes each: task and answer as hashes, and the luck of the draw.
KEY = np.dtype([("task", np.uint64), ("group", np.uint64), ("chance", np.uint64)])
#: And to balance them, whether the answer can be guessed by itself, what the question tells that may go with it (0:
#: nothing), and what the options claim (nothing: open).
EVEN_KEY = np.dtype(
    [*KEY.descr, ("word", np.bool_), ("contexts", np.uint64, (CONTEXTS,)), ("claims", np.uint32, (OPTIONS, CLAIMS))]
)
Keys = np.ndarray[Any, np.dtype[np.void]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

#: Widths of the bins in which numbers count as the same answer: degrees, metres, seconds.
_BINS = {"azimuth_deg": 45.0, "elevation_deg": 15.0, "distance_m": 1.0, "onset_time": 5.0}


def answer_group(item: Item) -> Hashable:
    """Return the group of equal answers of an item: the task's own, a bin of its number or its label."""
    return _group(item, _task(item))[0]


def _task(item: Item) -> Task[Any, Any] | None:
    task = TASKS.get(item.task or "")
    if task is not None or item.language != "ru":
        return task
    from seldio.tasks import russian

    return russian.TASKS.get(item.task or "")


def _group(item: Item, task: Task[Any, Any] | None) -> tuple[Hashable, bool]:
    """Return the group of equal answers, and whether guessing it answers the question (not so of bins of numbers)."""
    if task is not None and task.alike is not None:
        return task.alike(item), task.alike is not first_class
    for field, width in _BINS.items():
        value = getattr(item.answer_meta, field, None)
        if value is not None:
            return int(value // width), False
    return item.canonical_answer, True


def targets(
    available: Mapping[str, int],
    *,
    per_task: int | None = None,
    balance: bool = False,
    total: int | None = None,
    proportions: Mapping[str, int] = SO_BENCH,
) -> dict[str, int]:
    """How many items of each task to keep, of those available.

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
    for name, number in (("per task", per_task), ("total", total)):
        if number is not None and number < 1:
            raise UsageError(
                f"the number of questions {'in ' if name == 'total' else ''}{name} is at least 1, not {number}"
            )
    counts = {task: number for task, number in available.items() if number}
    if (balance or total is not None) and (lacking := sorted(set(counts) - set(proportions))):
        raise UsageError(f"no weight is known for {listed(lacking)}: its share of the questions cannot be worked out")
    if balance and counts:
        scale = min(number / proportions[task] for task, number in counts.items())
        if per_task is not None:
            scale = min(scale, per_task / max(proportions[task] for task in counts))
        counts = {task: max(1, math.floor(scale * proportions[task] + 1e-9)) for task in counts}
    counts = {task: number if per_task is None else min(number, per_task) for task, number in counts.items()}
    return counts if total is None else _shares(counts, proportions, total)


def _shares(counts: Mapping[str, int], weights: Mapping[str, int], total: int) -> dict[str, int]:
    """Share *total* items out by *weights*, each task getting at most its count; drop tasks without items."""
    if sum(counts.values()) <= total:
        return dict(counts)
    open_, remaining = dict(counts), total
    while True:
        scale = remaining / sum(weights[task] for task in open_)
        full = [task for task, number in open_.items() if number <= scale * weights[task]]
        if not full:
            break
        remaining -= sum(open_.pop(task) for task in full)
    parts = {task: scale * weights[task] for task in open_}
    floors = {task: math.floor(part) for task, part in parts.items()}
    last = sorted(parts, key=lambda task: (floors[task] - parts[task], task))[: remaining - sum(floors.values())]
    shares = {task: floors[task] + (task in last) if task in open_ else number for task, number in counts.items()}
    return {task: number for task, number in shares.items() if number}


_hashed = lru_cache(maxsize=4096)(hashed)


_NO_CLAIMS = [[0] * CLAIMS] * OPTIONS


def key(item: Item, seed: int, *, balance: bool = False) -> tuple[Any, ...]:
    """Return the fields of *item* that :func:`chosen` needs: ``KEY``, or ``EVEN_KEY`` to *balance* items."""
    task = _task(item)
    group, word = _group(item, task)
    hashes = _hashed(str(item.task)), _hashed(repr(group)), hashed(seed, item.id)
    if not balance:
        return hashes
    claims = task.claims(item) if task is not None and task.claims is not None else None
    if claims is not None and item.options:  # the place of an option claims to be that of the right one, too
        others = [number for number, text in enumerate(item.options) if text != item.canonical_answer]
        places = [item.options.index(str(item.canonical_answer)), *others]
        claims = [[*option, number] for option, number in zip(claims, places, strict=True)]
    contexts = [0] * CONTEXTS
    for number, context in enumerate(task.contexts(item) if task is not None and task.contexts is not None else ()):
        contexts[number] = _hashed(repr(context))
    return *hashes, word and claims is None, contexts, _NO_CLAIMS if claims is None else packed(claims)


def even(keys: Keys) -> Mask:
    """Mask the largest subset of each task whose answers cannot be guessed."""
    keep = np.ones(len(keys), bool)
    for task in np.unique(keys["task"]):
        rows = np.flatnonzero(keys["task"] == task)
        task_keys = keys[rows]
        if task_keys["claims"].any():
            keep[rows] = False
            keep[rows[fair(task_keys["claims"], task_keys["chance"])]] = True
        elif task_keys["word"].all():
            keep[rows] = False
            for number in range(CONTEXTS):
                uncontested = within(task_keys["contexts"][:, number], task_keys["group"], task_keys["chance"])
                rows, task_keys = rows[uncontested], task_keys[uncontested]
            keep[rows[flat(task_keys["group"], task_keys["chance"])]] = True
    return keep


def chosen(keys: Keys, wanted: Mapping[str, int], among: Mask | None = None) -> Mask:
    """Mask the *wanted* number of items of each task.

    Of each task answers are taken in turn (see :func:`answer_group`), so that rare ones are kept. The choice
    depends on the set of items, not on their order.

    Args:
        keys: of each item its ``KEY``; its ``EVEN_KEY`` if there is *among*.
        wanted: how many of each task.
        among: what :func:`even` gives of *keys*, if only those are to be chosen. Of a task with options a few less may
            be chosen than are wanted: as many as are even.
    """
    keep = np.zeros(len(keys), bool)
    rows = np.arange(len(keys))
    if among is not None:
        contested = keys["claims"].any(axis=(1, 2))
        for name, number in wanted.items():
            contested_rows = np.flatnonzero(contested & (keys["task"] == np.uint64(hashed(name))))
            keep[contested_rows[fair(keys["claims"][contested_rows], keys["chance"][contested_rows], number)]] = True
        rows = np.flatnonzero(among & ~contested)
    open_keys = keys[rows]
    order = np.lexsort((open_keys["chance"], open_keys["group"], open_keys["task"]))
    task, group = open_keys["task"][order], open_keys["group"][order]
    new = np.ones(len(open_keys), bool)
    new[1:] = (np.diff(task) != 0) | (np.diff(group) != 0)
    starts = np.flatnonzero(new)
    turn = np.arange(len(open_keys)) - np.repeat(starts, np.diff([*starts.tolist(), len(open_keys)]))
    order = order[np.lexsort((open_keys["chance"][order], turn, task))]
    task = open_keys["task"][order]
    for name, number in wanted.items():
        first, last = (np.searchsorted(task, np.uint64(hashed(name)), side=side) for side in ("left", "right"))
        keep[rows[order[first : min(last, first + number)]]] = True
    return keep


def choice(
    keys: Keys,
    asked: Mapping[str, int],
    *,
    per_task: int | None = None,
    balance: bool = False,
    total: int | None = None,
    proportions: Mapping[str, int] = SO_BENCH,
) -> tuple[Mask, dict[str, int]]:
    """Mask the items to keep (see :func:`targets`); count those of each task that are too uneven (:data:`UNEVEN`)."""
    among = even(keys) if balance else None
    counts = dict(asked)
    if among is not None:
        counts = {name: int((among & (keys["task"] == np.uint64(hashed(name)))).sum()) for name in asked}
    wanted = targets(counts, per_task=per_task, balance=balance, total=total, proportions=proportions)
    uneven = {name: asked[name] - number for name, number in counts.items() if asked[name] > number}
    return chosen(keys, wanted, among), uneven


def select(
    items: Sequence[Item],
    seed: int,
    *,
    per_task: int | None = None,
    balance: bool = False,
    total: int | None = None,
    proportions: Mapping[str, int] = SO_BENCH,
    skipped: Counter[tuple[str, str]] | None = None,
) -> list[Item]:
    """Return the items to keep, in their order (see :func:`targets` and :func:`chosen`), and count up *skipped*."""
    if per_task is None and total is None and not balance:
        return list(items)
    keys = as_keys((key(item, seed, balance=balance) for item in items), balance=balance)
    asked = Counter(str(item.task) for item in items)
    keep, uneven = choice(keys, asked, per_task=per_task, balance=balance, total=total, proportions=proportions)
    if skipped is not None:
        skipped.update({(task, UNEVEN): number for task, number in uneven.items()})
    return [item for item, is_kept in zip(items, keep.tolist(), strict=True) if is_kept]


def as_keys(keys: Iterable[tuple[Any, ...]], *, balance: bool = False) -> Keys:
    """Keys as an array."""
    return np.array(list(keys), EVEN_KEY if balance else KEY)
