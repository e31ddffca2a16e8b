"""Which of many items to keep: some of each task, in the proportions of a benchmark, with even answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from seldio.errors import UsageError
from seldio.schema.qa import Item
from seldio.tasks.english import KNOWN, SO_BENCH
from seldio.tasks.task import hashed
from seldio.text import listed

#: What the choice of items looks at, 24 bytes each: task and answer as hashes, and the luck of the draw.
KEY = np.dtype([("task", np.uint64), ("group", np.uint64), ("chance", np.uint64)])
Keys = np.ndarray[Any, np.dtype[np.void]]

#: Widths of the bins in which numbers count as the same answer: degrees, metres, seconds.
_BINS = {"azimuth_deg": 45.0, "elevation_deg": 15.0, "distance_m": 1.0, "onset_time": 5.0}


def answer_group(item: Item) -> Hashable:
    """What counts as the same answer when answers are to be even: the task's own, a bin of its number or its label."""
    task = KNOWN.get(item.task or "")
    if task is not None and task.alike is not None:
        return task.alike(item)
    for field, width in _BINS.items():
        value = getattr(item.answer_meta, field, None)
        if value is not None:
            return int(value // width)
    return item.canonical_answer


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
    """*total* items shared out by *weights*, no task getting more than its count; tasks without any are left out."""
    if sum(counts.values()) <= total:
        return dict(counts)
    open_, rest = dict(counts), total
    while True:
        scale = rest / sum(weights[task] for task in open_)
        full = [task for task, number in open_.items() if number <= scale * weights[task]]
        if not full:
            break
        rest -= sum(open_.pop(task) for task in full)
    parts = {task: scale * weights[task] for task in open_}
    floors = {task: math.floor(part) for task, part in parts.items()}
    last = sorted(parts, key=lambda task: (floors[task] - parts[task], task))[: rest - sum(floors.values())]
    shares = {task: floors[task] + (task in last) if task in open_ else number for task, number in counts.items()}
    return {task: number for task, number in shares.items() if number}


_hashed = lru_cache(maxsize=4096)(hashed)


def key(item: Item, seed: int) -> tuple[int, int, int]:
    """What :func:`chosen` needs to know of *item*: the fields of ``KEY``."""
    task = str(item.task)
    return _hashed(task), _hashed(repr(answer_group(item))), hashed(seed, item.id)


def chosen(keys: Keys, wanted: Mapping[str, int]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Of each item, whether it is among the *wanted* number of its task.

    Of each task answers are taken in turn (see :func:`answer_group`), so that rare ones are kept. The choice
    depends on the set of items, not on their order.
    """
    keep = np.zeros(len(keys), bool)
    order = np.lexsort((keys["chance"], keys["group"], keys["task"]))
    task, group = keys["task"][order], keys["group"][order]
    new = np.ones(len(keys), bool)
    new[1:] = (np.diff(task) != 0) | (np.diff(group) != 0)
    starts = np.flatnonzero(new)
    turn = np.arange(len(keys)) - np.repeat(starts, np.diff([*starts.tolist(), len(keys)]))
    order = order[np.lexsort((keys["chance"][order], turn, task))]
    task = keys["task"][order]
    for name, number in wanted.items():
        first, last = (np.searchsorted(task, np.uint64(hashed(name)), side=side) for side in ("left", "right"))
        keep[order[first : min(last, first + number)]] = True
    return keep


def select(
    items: Sequence[Item],
    seed: int,
    *,
    per_task: int | None = None,
    balance: bool = False,
    total: int | None = None,
    proportions: Mapping[str, int] = SO_BENCH,
) -> list[Item]:
    """The items to keep, in their order: see :func:`targets` and :func:`chosen`."""
    if per_task is None and total is None and not balance:
        return list(items)
    counts = Counter(str(item.task) for item in items)
    wanted = targets(counts, per_task=per_task, balance=balance, total=total, proportions=proportions)
    keep = chosen(as_keys(key(item, seed) for item in items), wanted)
    return [item for item, kept in zip(items, keep.tolist(), strict=True) if kept]


def as_keys(keys: Iterable[tuple[int, int, int]]) -> Keys:
    """Keys as an array."""
    return np.array(list(keys), KEY)
