"""How sure the score of one system is: 95 % intervals of all questions and of each group of them.

Where each question has a recording of its own and is right or wrong, they are Wilson's. Questions about one recording
stand or fall together, so that where some share one, recordings are resampled with all their questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Table
from seldio.schema.qa import Item
from seldio.scores.proportions import NORMAL, wilson
from seldio.scores.resampling import ENOUGH, FEWEST, TOO_FEW, Resampling, effective, interval, interval_cells, weights

_DRAW = Resampling(2000, 0, "clips")
#: From so many recordings on, resamples have the spread that the sums tell.
_MANY = 20_000
_HEADS = (
    Column("group", "group"),
    Column("n", "n", "", 0, None, "questions"),
    Column("recordings", "recordings", "", 0, None, "recordings that they are about"),
)
_METHOD = Column("method", "interval", meaning="where its 95 % interval is from; an asterisk: from few recordings")


def table(
    column: Column, values: Floats, clips: Ints, groups: Mapping[str, Mapping[str, Ints]], what: str = "recordings"
) -> Table:
    """The scores with their intervals.

    Args:
        column: what is scored.
        values: of each question.
        clips: the number of the recording of each question.
        groups: the questions of each group, by the name of the grouping and of the group.
        what: what *clips* are.
    """
    named = {"all": np.arange(len(values))} | {
        f"{grouping.replace('_', ' ')}: {name}": rows
        for grouping, each in groups.items() if len(each) > 1 for name, rows in each.items()
    }  # fmt: skip
    body = tuple((name, *_cells(values[rows], clips[rows], what)) for name, rows in named.items() if len(rows))
    heads = (*_HEADS[:2], Column(what, what, "", 0)) if what != "recordings" else _HEADS
    return Table("intervals", f"{column.title} with 95 % intervals", (*heads, column, _METHOD), body, top=16)


def _cells(values: Floats, clips: Ints, what: str) -> Iterator[Cell]:
    units, unit_of = np.unique(clips, return_inverse=True)
    value, count = float(values.mean()), len(units)
    binary = bool(((values == 0) | (values == 1)).all())
    sizes = np.bincount(unit_of).astype(np.float64)
    alone = effective(np.ones(len(values)), unit_of)  # so many recordings of even weight tell as much
    if binary and (count == len(values) or value in (0, 1)):
        how = "Wilson" if count == len(values) else f"Wilson over {what}"
        low, high = wilson(round(value * count), count)
    else:
        how = f"bootstrap over {what}"
        low, high = _resampled(np.bincount(unit_of, weights=values).astype(np.float64), sizes)
    (cell,) = interval_cells(np.array([value]), np.array([low]), np.array([high]), alone >= FEWEST, alone < ENOUGH)
    yield from (len(values), count, cell, how if alone >= FEWEST else TOO_FEW)


def _resampled(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """The interval of a mean over clusters, from the sum and the size of each."""
    count, mean = len(sums), float(sums.sum() / sizes.sum())
    if count < 2:
        return np.nan, np.nan
    if count > _MANY:
        spread = np.sqrt(((sums - mean * sizes) ** 2).sum() * count / (count - 1)) / sizes.sum()
        return mean - NORMAL * spread, mean + NORMAL * spread
    drawn = np.concatenate([(batch @ sums) / (batch @ sizes) for batch in weights(_DRAW, np.arange(count))])
    low, high = interval(drawn, count)
    return float(low), float(high)


def recording_of(item: Item) -> str:
    """A name for the recording that a question is about, or the recordings together; its own for one about none."""
    return "\n".join(item.audio) or f"\n{item.id}"


def clips_of(items: Iterable[Item]) -> Ints:
    """The number of the recording that each question is about."""
    return numbered(map(recording_of, items))


def numbered(names: Iterable[Hashable]) -> Ints:
    """A number for each name, in their order: the same for the same."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def groups_of(labels: Mapping[str, Sequence[str | None]]) -> dict[str, dict[str, Ints]]:
    """The questions of each group, by the label of each question."""
    found: dict[str, dict[str, list[int]]] = {}
    for grouping, names in labels.items():
        for number, name in enumerate(names):
            if name is not None:
                found.setdefault(grouping, {}).setdefault(name, []).append(number)
    return {grouping: {name: np.array(rows) for name, rows in sorted(each.items())} for grouping, each in found.items()}
