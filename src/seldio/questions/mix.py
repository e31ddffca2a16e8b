"""Which of many items to keep: so many of each task, in the proportions of SO-Bench, with even answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from seldio.questions.scene import digest
from seldio.schema.qa import Item

#: Items of each task in SO-Bench; the 171 of speech_content are not among them.
SO_BENCH: dict[str, int] = {
    "estimate_elevation": 1153,
    "estimate_azimuth": 1152,
    "detect_time": 667,
    "detect_source": 667,
    "identify_source_by_doa": 667,
    "identify_source_by_location": 666,
    "onset_from_location": 487,
    "estimate_distance": 486,
    "multi_hop": 333,
    "spatial_temporal": 333,
    "compare_elevation": 333,
    "relative_left_right": 333,
    "compare_distance": 333,
    "classify_motion": 62,
    "count_sources": 34,
}


#: Widths of the bins in which numbers count as the same answer: degrees, metres, seconds.
_BINS = {"azimuth_deg": 45.0, "elevation_deg": 15.0, "distance_m": 1.0, "onset_time": 5.0}


def answer_group(item: Item) -> Hashable:
    """What counts as the same answer when answers are to be even: the label, or a coarse bin of the number."""
    for field, width in _BINS.items():
        value = getattr(item.answer_meta, field, None)
        if value is not None:
            return int(value // width)
    if item.task == "relative_left_right":
        return " left of " in (item.canonical_answer or "")
    if item.task in ("detect_time", "detect_source", "spatial_temporal"):
        return item.events[0].class_name if item.events else None
    return item.canonical_answer


def targets(available: Mapping[str, int], *, per_task: int | None = None, balance: bool = False) -> dict[str, int]:
    """How many items of each task to keep, of those available.

    Args:
        available: items by task.
        per_task: at most so many of any task; with *balance*, of the most frequent one.
        balance: the proportions of SO-Bench among the tasks that have items; the scarcest sets the scale,
            and every task keeps one item at least.
    """
    counts = {task: number for task, number in available.items() if number}
    if balance and counts:
        scale = min(number / SO_BENCH[task] for task, number in counts.items())
        if per_task is not None:
            scale = min(scale, per_task / max(SO_BENCH[task] for task in counts))
        counts = {task: max(1, math.floor(scale * SO_BENCH[task] + 1e-9)) for task in counts}
    return {task: number if per_task is None else min(number, per_task) for task, number in counts.items()}


def select(items: Sequence[Item], seed: int, *, per_task: int | None = None, balance: bool = False) -> list[Item]:
    """The items to keep, in their order; the choice depends on the set of items, not on their order.

    Of each task answers are taken in turn (see :func:`answer_group`), so that rare ones are kept.
    """
    if per_task is None and not balance:
        return list(items)
    wanted = targets(Counter(str(item.task) for item in items), per_task=per_task, balance=balance)
    kept: set[str] = set()
    for task, number in wanted.items():
        kept.update(_in_turn([item for item in items if item.task == task], seed)[:number])
    return [item for item in items if item.id in kept]


def _in_turn(items: Iterable[Item], seed: int) -> list[str]:
    """Ids, one of each answer, then the second of each, and so on."""
    seen: Counter[Hashable] = Counter()
    order = []
    for chance, item in sorted((digest(seed, item.id), item) for item in items):
        group = answer_group(item)
        order.append((seen[group], chance, item.id))
        seen[group] += 1
    return [name for _, _, name in sorted(order)]
