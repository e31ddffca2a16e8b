"""How sure scores of answers are: 95 % intervals of all questions and of each group of them.

Questions about one recording stand or fall together, so that recordings are drawn with all their questions. The means
over all questions and over each group are a function of the sum of one matrix of recordings. Where each question has
a recording of its own and is right or wrong, intervals are those of E. B. Wilson (1927).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binomtest

from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Table
from seldio.schema.qa import Item
from seldio.scores.resampling import ENOUGH, FEWEST, TOO_FEW, Intervals, Summed, interval, interval_cells, resampled

#: Of the standard normal distribution, what 95 % lie within.
NORMAL = float(ndtri(0.975))
#: From so many recordings on, resamples have the spread that the sums tell.
_MANY = 2_000
#: With so many recordings all groups are resampled at once; with more each by itself, and less often.
_TOGETHER = 5_000
Groups = Mapping[str, Mapping[str, Ints]]


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share."""
    ends = binomtest(right, count).proportion_ci(0.95, method="wilson")
    return float(ends.low), float(ends.high)


@dataclasses.dataclass(frozen=True)
class Means:
    """Means of columns over groups of questions, as a function of sums over recordings."""

    sums: Floats  # of what the questions of each recording are worth, shape [recordings, means]
    sizes: Floats  # how many questions these are, same shape
    binary: NDArray[np.bool_]  # of each mean, whether a question is right or wrong and nothing between

    @staticmethod
    def of(values: Floats, clips: Ints, groups: Sequence[Ints]) -> Means:
        """Return the mean of each column over each group, group after group.

        Args:
            values: what each question is worth, shape [questions, columns].
            clips: the recording of each question, by number from 0 on.
            groups: the questions of each group.
        """
        count, columns = int(clips.max(initial=-1)) + 1, values.shape[1]
        sums = [np.bincount(clips[rows], column, count) for rows in groups for column in values[rows].T]
        sizes = [np.bincount(clips[rows], minlength=count) for rows in groups for _ in range(columns)]
        binary = np.array([((values[rows] == 0) | (values[rows] == 1)).all(axis=0) for rows in groups]).ravel()
        filled = np.any(sizes, axis=0)
        return Means(np.array(sums, np.float64).T[filled], np.array(sizes, np.float64).T[filled], binary)

    @property
    def summed(self) -> Summed:
        """Return the matrix of recordings, with the means that its sum comes to; NaN over nothing."""

        def ratio(totals: Floats) -> Floats:
            sums, sizes = np.hsplit(totals, 2)
            return np.asarray(np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0))

        return Summed(np.hstack((self.sums, self.sizes)), ratio)

    @property
    def values(self) -> Floats:
        """Return the means, those of the columns over the first group first."""
        return np.asarray(self.summed.scores(np.ones((1, len(self.sums))))[0])

    @property
    def units(self) -> Ints:
        """Return how many recordings each mean is over."""
        return np.asarray((self.sizes > 0).sum(axis=0))

    @property
    def own(self) -> NDArray[np.bool_]:
        """Return for each mean whether its questions are right or wrong and each has a recording of its own."""
        return np.asarray(self.binary & (self.sizes <= 1).all(axis=0))

    @property
    def support(self) -> Floats:
        """Return how many recordings with as many questions each tell as much, see :func:`.resampling.effective`."""
        return np.asarray(self.sizes.sum(axis=0) ** 2 / (self.sizes**2).sum(axis=0))

    def ends(self, drawn: Floats | None = None, draw: Intervals = Intervals()) -> Floats:  # noqa: B008 - frozen
        """Return both ends of the interval of each mean, shape [2, means]; *drawn*: those of resamples, if made."""
        if drawn is None and not (self.own | (self.units > _MANY)).all():
            drawn = resampled(self.summed, draw, np.arange(len(self.sums)))
        ends: list[tuple[float, float]] = []
        for place, (value, alone) in enumerate(zip(self.values.tolist(), self.own.tolist(), strict=True)):
            filled = self.sizes[:, place] > 0
            sums, sizes, count = self.sums[filled, place], self.sizes[filled, place], int(filled.sum())
            if alone or (self.binary[place] and value in (0, 1)):
                ends.append(wilson(round(value * count), count))
            elif count > _MANY or drawn is None:
                spread = np.sqrt(((sums - value * sizes) ** 2).sum() * count / (count - 1)) / sizes.sum()
                low, high = value - NORMAL * spread, value + NORMAL * spread
                ends.append((max(0.0, low), min(1.0, high)) if self.binary[place] else (low, high))
            else:
                low, high = interval(drawn[:, place], count)
                ends.append((float(low), float(high)))
        return np.array(ends).T


def table(columns: Sequence[Column], values: Floats, clips: Ints, groups: Groups, what: str = "recordings") -> Table:
    """Return the scores with their intervals, of all questions and of each group.

    Args:
        columns: what is scored.
        values: of each question, shape [questions, columns].
        clips: the number of the recording of each question.
        groups: the questions of each group, by the name of the grouping and of the group.
        what: what *clips* are.
    """
    named = {"all": np.arange(len(values))} if len(values) else {}
    for grouping, each in groups.items():
        if len(each) > 1:
            named |= {f"{grouping.replace('_', ' ')}: {name}": rows for name, rows in each.items()}
    few = clips.max(initial=0) < _TOGETHER
    draw = Intervals() if few else Intervals(bootstrap=2_000)
    together = [[*named]] if named and few else [[name] for name in named]
    body: list[tuple[Cell, ...]] = []
    for names in together:
        means = Means.of(values, clips, [named[name] for name in names])
        support, step = means.support, len(columns)
        low, high = means.ends(draw=draw)
        cells = interval_cells(means.values, low, high, support >= FEWEST, support < ENOUGH)
        for name, place in zip(names, range(0, len(cells), step), strict=True):
            source = "Wilson" if means.own[place] else f"bootstrap over {what}"
            how = source if support[place] >= FEWEST else TOO_FEW
            body.append((name, len(named[name]), int(means.units[place]), *cells[place : place + step], how))
    heads = [Column("group", "group"), Column("n", "n", "", 0, None, "questions")]
    heads.append(Column(what, what, "", 0, None, "recordings that they are about" if what == "recordings" else ""))
    method = Column("method", "interval", meaning="where its 95 % interval is from; an asterisk: from few recordings")
    title = " and ".join(column.title for column in columns)
    return Table("intervals", f"{title} with 95 % intervals", (*heads, *columns, method), tuple(body), top=16)


@dataclasses.dataclass(frozen=True)
class MarkedAnswers:
    """The marks of each answer of a system, whichever way it is scored."""

    title: str  # of the way of scoring
    items: tuple[str, ...]  # ids of the questions
    clips: Ints  # the recording that each is about, by number
    columns: tuple[Column, ...]  # of what is measured
    values: Floats  # of each question, shape [questions, columns]; shares from 0 to 1, or points
    answered: NDArray[np.bool_]  # whether there is a prediction, shape [questions]
    about: str = "recordings"  # what *clips* are

    def take(self, items: Sequence[str]) -> MarkedAnswers:
        """Return the same of some of the questions."""
        place = {id: number for number, id in enumerate(self.items)}
        rows = np.array([place[id] for id in items])
        return dataclasses.replace(
            self,
            items=tuple(items),
            clips=numbered(self.clips[rows].tolist()),
            values=self.values[rows],
            answered=self.answered[rows],
        )


def recording_of(item: Item) -> str:
    """Return a name for the recording that a question is about, or the recordings together; its own if about none."""
    return "\n".join(item.audio) or f"\n{item.id}"


def numbered(names: Iterable[Hashable]) -> Ints:
    """Return a number for each name, in their order: the same for the same."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def groups_of(labels: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Ints]]:
    """Return the questions of each group, by the label of each question."""
    rows_of: dict[str, dict[str, list[int]]] = {}
    for grouping, names in labels.items():
        for number, name in enumerate(names):
            rows_of.setdefault(grouping, {}).setdefault(name, []).append(number)
    groups = ((grouping, sorted(each.items())) for grouping, each in rows_of.items())
    return {grouping: {name: np.array(rows) for name, rows in each} for grouping, each in groups}
