"""Estimate how scores vary over clips of the same kind: bootstrap intervals, permutation tests, ranks.

Scores are made from sums over units (clips, or rooms with all their clips), so that a resample is nothing but a weight
for each unit, and thousands of resamples are one product of matrices. Systems get the same weights, which makes their
differences paired. All draws follow from a seed and the number of units, whatever order or process they are made in.

Intervals are percentiles of the resampled scores, taken a little further out where units are few (the *expanded
percentile* of T. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015);
``benchmarks/coverage.py`` measures how often they hold the truth. P-values are those of B. Phipson and G. Smyth,
"Permutation p-values should never be zero" (2010).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seldio.errors import UsageError
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Interval, UnreliableInterval, WeakInterval
from seldio.text import printable

#: A system with ``scores`` of weights of clips, and ``exchanged`` with another one, as :class:`Summed` has them.
Weighed: TypeAlias = Any
Over = Literal["clips", "rooms"]
_RESAMPLES = 10_000  # where nobody says how many
#: Numbers of one batch of weights: 32 MB.
_BATCH = 1 << 22
#: Below so many clips (rooms) in effect, see :func:`effective`, no interval is of use: coverage falls under 90 %.
FEWEST = 5
#: Below so many in effect an interval is weak: one of 95 % holds the truth in about 90 of 100 test sets.
ENOUGH = 20


@dataclasses.dataclass(frozen=True)
class Intervals:
    """Which 95 % confidence intervals are computed, and how."""

    jackknife: bool = False  # as the official programs compute them
    bootstrap: int | None = None  # from so many resamples; None: none, but in a comparison, whose default is 10,000
    over: Over = "clips"  # what is resampled
    seed: int = 0  # of the random numbers

    def __post_init__(self) -> None:
        if self.bootstrap is not None and self.bootstrap < 100:
            raise UsageError(f"--intervals bootstrap={self.bootstrap}: an interval of 95 % requires at least 100")
        if self.seed < 0:
            raise UsageError(f"--intervals seed={self.seed}: a seed is 0 or greater")
        if self.over not in ("clips", "rooms"):
            raise UsageError(f"--intervals over={printable(self.over)}: choose from clips, rooms")

    @property
    def resamples(self) -> int:
        """Return how many resamples are drawn."""
        return self.bootstrap or _RESAMPLES

    @classmethod
    def of(cls, intervals: str | Intervals | None) -> Intervals:
        """Return intervals from a text such as ``jackknife,bootstrap=2000,over=rooms,seed=1``.

        Raises:
            UsageError: a part is unknown, or no number where one is expected.
        """
        if isinstance(intervals, cls):
            return intervals
        values: dict[str, Any] = {}
        for part in filter(None, map(str.strip, str(intervals or "").split(","))):
            name, equals, value = part.partition("=")
            if name in values:
                raise UsageError(f"--intervals {printable(part)}: {name} was given twice")
            if part == "jackknife":
                values[name] = True
            elif part == "bootstrap":
                values[name] = _RESAMPLES
            elif name == "over" and equals:
                values[name] = value
            elif name in ("bootstrap", "seed") and re.fullmatch(r"-?\d+", value):
                values[name] = int(value)
            else:
                raise UsageError(
                    f"--intervals {printable(part)}: choose from jackknife, bootstrap[=N], over=clips|rooms, seed=N"
                )
        return cls(**values)


def weights(draw: Intervals, unit_of: Ints) -> Iterator[Floats]:
    """Yield how often each clip stands in each resample, shape [some resamples, clips], until all are drawn.

    Clips of one unit, which are numbered from 0 on without gaps, are drawn together.
    """
    units = int(unit_of.max(initial=-1)) + 1
    random = np.random.default_rng([draw.seed, 1])
    step = max(1, _BATCH // max(1, len(unit_of), units))
    for start in range(0, draw.resamples, step):
        count = min(step, draw.resamples - start)
        drawn = random.integers(0, units, (count, units)) + units * np.arange(count)[:, None]
        often = np.bincount(drawn.ravel(), minlength=count * units).reshape(count, units)
        yield often.astype(np.float64)[:, unit_of]


def swaps(draw: Intervals, unit_of: Ints) -> tuple[Iterator[Floats], bool]:
    """Return for each permutation which clips change sides (1) or not (0), shape [some, clips]; and if these are all.

    Where all ways of changing sides are fewer than the resamples, each is given once, the first of them no change.
    """
    units = int(unit_of.max(initial=-1)) + 1
    exact = 1 << units <= draw.resamples
    random, every = np.random.default_rng([draw.seed, 2]), 1 << units if exact else draw.resamples
    step = max(1, _BATCH // max(1, len(unit_of), units))

    def batches() -> Iterator[Floats]:
        for start in range(0, every, step):
            numbers = np.arange(start, min(start + step, every))[:, None]
            sides = numbers >> np.arange(units) & 1 if exact else random.integers(0, 2, (len(numbers), units))
            yield sides.astype(np.float64)[:, unit_of]

    return batches(), exact


# --- what is measured in resamples and permutations -------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Summed:
    """A matrix of clips and what is counted in each, and the measures, which are a function of its sum over clips."""

    matrix: Floats  # shape [clips, counts]
    measure: Callable[[Floats], Floats]  # of sums, shape [batch, counts], their measures, shape [batch, measures]

    def scores(self, weights: Floats) -> Floats:
        """Return the measures where clips have *weights*."""
        return self.measure(weights @ self.matrix)

    def exchanged(self, other: Summed) -> Callable[[Floats], Floats]:
        """Return what makes the differences from *other* where some clips change sides."""
        before, after = (each.matrix.sum(axis=0, keepdims=True) for each in (self, other))
        change = other.matrix - self.matrix

        def differences(sides: Floats) -> Floats:
            moved = sides @ change
            return np.asarray(other.measure(after - moved) - self.measure(before + moved))

        return differences


def resampled(system: Weighed, draw: Intervals, unit_of: Ints) -> Floats:
    """Return the measures of each resample, shape [resamples, measures]."""
    return np.concatenate([system.scores(batch) for batch in weights(draw, unit_of)])


# --- from resamples to intervals --------------------------------------------------------------------------


def interval(drawn: Floats, units: int) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % interval of each score, NaN where no resample has one, or there is but one unit.

    *drawn* are the scores of each resample, shape [resamples, ...], *units* how many clips or rooms these are of.
    """
    from scipy.special import ndtr, stdtrit

    shape = drawn.shape[1:]
    if units < 2:
        return np.full(shape, np.nan), np.full(shape, np.nan)
    tail = float(ndtr(np.sqrt(units / (units - 1)) * stdtrit(units - 1, 0.025)))
    defined = ~np.isnan(drawn)
    never = ~defined.any(axis=0)
    quantile = np.quantile if defined[:, ~never].all() else np.nanquantile
    ends = quantile(np.where(never, 0.0, drawn), [tail, 1 - tail], axis=0)
    ends[:, never] = np.nan
    return ends[0], ends[1]


#: What stands in the column about intervals where they cannot be relied on.
TOO_FEW = "too few"
#: Of scores that equal each other but for rounding.
_SAME = 1e-9


def interval_cells(
    values: Floats, low: Floats, high: Floats, reliable: ArrayLike = True, weak: ArrayLike = False
) -> list[Cell]:
    """Return numbers with the ends of their intervals; *weak*: whether each rests on few clips, or in part on too few.

    Where every resample has the same score, they tell nothing about other clips.
    """
    cells: list[Cell] = []
    flags = np.broadcast_to(reliable, values.shape), np.broadcast_to(weak, values.shape)
    for value, least, most, sure, partly in zip(*(a.tolist() for a in (values, low, high, *flags)), strict=True):
        kind = WeakInterval if partly else Interval
        cells.append((kind if sure and least < most else UnreliableInterval)(value, least, most))  # not less: NaN
    return cells


def doubt(reliable: Sequence[bool], columns: Sequence[Column]) -> str | None:
    """Return the doubt about a row in a column of intervals: the scores without a reliable one, or None."""
    none = [column.title for sure, column in zip(reliable, columns, strict=True) if not sure]
    if not none:
        return None
    return TOO_FEW if len(none) == len(columns) else f"not of {', '.join(none)}"


def by_unit(sums: NDArray[Any], unit_of: Ints) -> Floats:
    """Return sums of clips, shape [clips, ...], added up for each clip or room that is drawn."""
    totals = np.zeros((int(unit_of.max(initial=-1)) + 1, *sums.shape[1:]))
    np.add.at(totals, unit_of, sums)
    return totals


def effective(weights: NDArray[Any], unit_of: Ints) -> Floats:
    """Return how many clips or rooms of even weight tell as much as these: ``sum(w) ** 2 / sum(w ** 2)``.

    It is at most the number of those that have any weight (L. Kish, "Survey sampling", 1965), and 0 where none has.
    *weights* are what each clip contributes, such as its references of each class, shape [clips, ...].
    """
    totals = by_unit(weights, unit_of)
    squares = (totals**2).sum(axis=0)
    return np.where(squares > 0, totals.sum(axis=0) ** 2 / np.where(squares > 0, squares, 1), 0.0)


def p_value(observed: Floats, changed: Callable[[Floats], Floats], draw: Intervals, unit_of: Ints) -> Floats:
    """Return the two-sided p-value of differences, by letting clips change sides between two systems.

    Under the hypothesis that the systems are alike, the difference with some clips on the other side is as likely as
    that which was observed. The p-value is the share of permutations with a difference as great as that, which is one
    of them; NaN where nothing was observed.

    *changed* makes of a batch of sides (see :func:`swaps`) the differences with these clips exchanged, shape
    [batch, ...]; what is not defined counts as a great difference.
    """
    batches, exact = swaps(draw, unit_of)
    least = np.abs(observed) - _SAME
    great, total = np.zeros(observed.shape), 0
    for sides in batches:
        differences = np.abs(changed(sides))
        great += (np.isnan(differences) | (differences >= least)).sum(axis=0)
        total += len(sides)
    p = great / total if exact else (great + 1) / (total + 1)
    return np.where(np.isnan(observed), np.nan, p)


def holm(p: Floats) -> Floats:
    """Return p-values of several tests, adjusted along the first axis so that any false alarm has the chance of one.

    S. Holm, "A simple sequentially rejective multiple test procedure", 1979: the least of m is multiplied by m, the
    next by m - 1, and none comes out smaller than one before it. NaN does not count as a test.
    """
    order = np.argsort(p, axis=0, kind="stable")  # NaN last
    ordered = np.take_along_axis(p, order, axis=0)
    tests = (~np.isnan(p)).sum(axis=0)
    places = np.arange(len(p)).reshape(-1, *(1,) * (p.ndim - 1))
    raised = np.minimum(np.maximum.accumulate(ordered * np.maximum(tests - places, 1), axis=0), 1.0)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, raised, axis=0)
    return adjusted


def ranks(scores: Floats, lower: NDArray[Any]) -> Floats:
    """Return the rank of each system: one more than there are better ones; those without a score share the last.

    *scores* have the shape [..., systems, scores]; *lower*: of each score, whether lower is better.
    """
    keys = np.where(np.isnan(scores), np.inf, np.where(lower, scores, -scores))
    better = keys[..., None, :, :] < keys[..., :, None, :] - _SAME
    return np.asarray(better.sum(axis=-2) + 1.0)


_ROOM = re.compile(r"room(\d+)")


def rooms_of(clips: Sequence[str]) -> dict[str, list[int]]:
    """Return the clips of each room by number; the official programs look at the first digit only."""
    rooms: dict[int, list[int]] = {}
    for number, clip in enumerate(clips):
        if match := _ROOM.search(clip):
            rooms.setdefault(int(match.group(1)), []).append(number)
    return {f"room {room}": rooms[room] for room in sorted(rooms)}


def units_of(names: Sequence[str], over: Over) -> Ints:
    """Return the unit of each clip: its number, or that of its room.

    Raises:
        UsageError: a clip has no room.
    """
    if over == "clips":
        return np.arange(len(names))
    unit = np.full(len(names), -1)
    for number, clips in enumerate(rooms_of(names).values()):
        unit[clips] = number
    if (unit < 0).any():
        without = names[int(np.argmax(unit < 0))]
        raise UsageError(
            f"--intervals over=rooms requires the room in the name of each clip (…room12…); {without} has none"
        )
    return unit
