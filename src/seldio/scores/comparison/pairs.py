"""Systems on the same clips: what each score differs by, how certain that is, and which system comes first."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.scores.ranking import COMPARED, rank_column
from seldio.scores.resampling import (
    ENOUGH,
    FEWEST,
    TOO_FEW,
    Intervals,
    Weighed,
    doubt,
    holm,
    interval,
    interval_cells,
    p_value,
    ranks,
    resampled,
    rooms_of,
    units_of,
)
from seldio.scores.signatures import Signature, of_comparison
from seldio.text import plural, printable

if TYPE_CHECKING:
    from seldio.scores.imaging.score_maps import ImagingCase
    from seldio.scores.seld.report import SeldCase

Against = Literal["all", "first"]
Case = TypeVar("Case", bound="SeldCase | ImagingCase")
#: What a p-value must be below for a difference to be called one.
LEVEL = 0.05


def system_names(paths: Sequence[Place]) -> tuple[str, ...]:
    """Return a name for each system: the last part of its path if that tells them apart, else the whole path.

    A system that is given twice gets a number the second time.
    """
    whole = [path_of(path) for path in paths]
    short = [os.path.basename(path.rstrip("/" + os.sep)) or path for path in whole]  # noqa: PTH119 - plain strings
    names = short if len(set(short)) == len(set(whole)) else whole
    seen = Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(numbered)


@contextmanager
def naming(system: str) -> Iterator[None]:
    """Say of which of several systems it is that something in its files does not fit.

    Raises:
        DataError: something does not.
    """
    try:
        yield
    except DataError as error:
        if type(error) is not DataError:
            raise  # a finding names its file
        raise DataError(f"{printable(system)}: {error.text}") from None


def common(every: Sequence[Sequence[str]], noun: str = "clip") -> list[str]:
    """Return what all systems have, in the order of the first.

    Raises:
        DataError: they have nothing in common.
    """
    shared = set(every[0]).intersection(*every[1:])
    if not shared:
        raise DataError(f"the systems have no {noun} in common: nothing can be compared")
    return [name for name in every[0] if name in shared]


def tested(systems: Sequence[Weighed], values: Floats, draw: Intervals, unit_of: Ints) -> tuple[Floats, Floats]:
    """Resample all systems, over the same clips, and exchange the clips of each pair.

    Returns:
        The measures of each resample, shape [resamples, systems, measures], and the p-value of each pair, as
        ``combinations`` has them, shape [pairs, measures].
    """
    drawn = np.stack([resampled(system, draw, unit_of) for system in systems], axis=1)
    p = [
        p_value(values[second] - values[first], systems[first].exchanged(systems[second]), draw, unit_of)
        for first, second in combinations(range(len(systems)), 2)
    ]
    return drawn, np.array(p).reshape(len(p), values.shape[1])


@dataclasses.dataclass(frozen=True)
class Contest:
    """Systems with their scores, in full and of the same resamples."""

    systems: tuple[str, ...]  # names
    columns: tuple[Column, ...]  # of the scores
    values: Floats  # shape [systems, scores]
    drawn: Floats  # of resamples, shape [resamples, systems, scores]
    p: Floats  # of every pair of systems, as ``combinations`` has them, shape [pairs, scores]
    units: int  # how many clips, rooms or recordings resamples are made of
    over: str  # what these are
    lead: int  # the score whose test decides which system is better
    support: Floats  # on how many units each score rests in effect, shape [scores]
    weak: NDArray[np.bool_]  # of each score, whether it rests on few units, or in part on too few
    against: Against = "all"  # which pairs are shown
    #: the ends of the intervals of each system where they are not those of the resamples, shape [2, systems, scores]
    ends: Floats | None = None

    def __post_init__(self) -> None:
        if self.against not in ("all", "first"):
            raise UsageError(f"--against {self.against}: choose from all, first")

    @property
    def lower(self) -> Floats:
        """Return for each score whether lower is better."""
        return np.array([column.better == "lower" for column in self.columns])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that are shown, the first of all; the difference is the second minus the first."""
        every = list(combinations(range(len(self.systems)), 2))
        return every[: len(self.systems) - 1] if self.against == "first" else every

    @property
    def names(self) -> list[str]:
        """Return the names of the pairs."""
        return [f"{self.systems[second]} − {self.systems[first]}" for first, second in self.pairs]

    @cached_property
    def raised(self) -> Floats:
        """Return p-values with Holm's correction, of the lead and of all others; NaN where nothing is tested."""
        corrected, shown = np.full(self.p.shape, np.nan), self.p[: len(self.pairs)]
        others = [n for n, column in enumerate(self.columns) if n != self.lead and column.better is not None]
        for family in ([self.lead], others):
            corrected[: len(shown), family] = holm(shown[:, family].ravel()).reshape(len(shown), len(family))
        return corrected

    # --- tables ---

    def tables(self) -> list[Table]:
        """Return the scores with their intervals, the differences, the tests and the ranks."""
        rows = []
        for name, (first, second) in zip(self.names, self.pairs, strict=True):
            low, high = interval(self.drawn[:, second] - self.drawn[:, first], self.units)
            rows.append((name, *self.cells(self.values[second] - self.values[first], low, high)))
        title = f"differences, 95 % confidence intervals by paired bootstrap over {self.over}"
        differences = Table(COMPARED, title, (Column("pair", "difference"), *self.columns), tuple(rows))
        return [self.overall(), differences, self.tests(), self.ranking()]

    def overall(self) -> Table:
        """Return the scores of each system with their intervals."""
        title = f"overall, 95 % confidence intervals by bootstrap over {self.over}"
        ends = interval(self.drawn, self.units) if self.ends is None else self.ends
        rows = tuple(
            (name, *self.cells(self.values[number], ends[0][number], ends[1][number]))
            for number, name in enumerate(self.systems)
        )
        columns = (Column("system", "system"), *self.columns)
        if flag := doubt((self.support >= FEWEST).tolist(), self.columns):
            meaning = f"“{TOO_FEW}”, or “not of” a score, where fewer than {FEWEST} {self.over} in effect tell of it"
            columns = (*columns, Column("interval", "interval", meaning=meaning))
            rows = tuple((*row, flag) for row in rows)
        return Table("overall", title, columns, rows)

    def cells(self, values: Floats, low: Floats, high: Floats) -> list[Cell]:
        """Return numbers of all scores with their intervals, unless there are too few units for any."""
        return interval_cells(values, low, high, self.support >= FEWEST, self.weak)

    def tests(self) -> Table:
        """Return the p-value of each difference, that of the lead first, and which system is better."""
        rows: list[tuple[Cell, ...]] = []
        order = sorted(range(len(self.columns)), key=lambda place: place != self.lead)
        for number, name in enumerate(self.names):
            for place in order:
                if self.columns[place].better is not None:
                    p, raised = float(self.p[number, place]), float(self.raised[number, place])
                    rows.append((f"{name}: {self.columns[place].title}", p, raised, self.better(number, place)))
        lead, test = self.columns[self.lead].title, f"paired permutation test over {self.over}"
        holm_of = f"p-value with Holm's correction over all measures but {lead}, the lead, which needs none"
        if len(self.systems) > 2:
            holm_of = (
                f"p-value with Holm's correction: of {lead}, the lead, over all pairs; else over all other measures too"
            )
        meaning = (
            f"the better system where p (Holm) of {lead} is below {LEVEL:g}, by another measure where its own is too; "
            f"else the choice of {self.over} may make the difference"
        )
        heads = (
            Column("test", "difference"),
            Column("p", "p", "", 4, None, f"p-value of the {test}; 0.0000 is below 0.00005"),
            Column("p_holm", "p (Holm)", "", 4, None, holm_of),
            Column("better", "better", meaning=meaning),
        )
        return Table("tests", f"{test}; {lead} decides", heads, tuple(rows))

    def better(self, number: int, place: int) -> str:
        """Return which of a pair the tests call better in a score, where they do by the lead too."""
        first, second = self.pairs[number]
        gain = (self.values[second, place] - self.values[first, place]) * (-1 if self.lower[place] else 1)
        if not (self.raised[number, [place, self.lead]] < LEVEL).all() or not gain:
            return "undecided"
        return self.systems[second if gain > 0 else first]

    def verdict(self) -> str:
        """Return which systems are better by the lead, in a sentence; of two, with their difference and its p-value."""
        lead, over = self.columns[self.lead], plural(self.units, self.over.removesuffix("s"))
        decided, left = list[str](), list[str]()
        for number, (first, second) in enumerate(self.pairs):
            best, names = self.better(number, self.lead), [self.systems[first], self.systems[second]]
            if best == "undecided":
                left.append(f"{names[0]} and {names[1]} cannot be distinguished")
            else:
                names.remove(best)
                decided.append(f"{best} is better than {names[0]}")
        if len(self.pairs) == 1:
            first, second = self.pairs[0]
            difference = lead.number(abs(float(self.values[second, self.lead] - self.values[first, self.lead])))
            by = f"{lead.title} differs by {difference}{' points' * (lead.unit == '%')}"
            return f"{(decided + left)[0]} on {over}: {by}, p = {self.p[0, self.lead]:.2g}."
        alike = f"the {len(self.systems)} systems" if self.against == "all" and not decided else f"{len(left):,} pairs"
        more = [f"{alike} cannot be distinguished"] if len(left) > 1 else left
        return f"By {lead.title} on {over}: {'; '.join(decided + more)}."

    def ranking(self) -> Table:
        """Return the rank of each system in each score, and how often it is the best."""
        places = [number for number, column in enumerate(self.columns) if column.better is not None]
        values, drawn = ranks(self.values, self.lower), ranks(self.drawn, self.lower)
        heads = [rank_column(self.columns[place], f"rank by {self.columns[place].title} alone") for place in places]
        best = (drawn[:, :, self.lead] == 1) / (drawn[:, :, self.lead] == 1).sum(axis=1, keepdims=True)
        meaning = f"share of resamples in which it is the best by {self.columns[self.lead].title}"
        first = Column("first", "first", "%", 1, "higher", meaning)
        rows = [
            (name, *(int(rank) for rank in values[number, places]), float(best[:, number].mean()))
            for number, name in enumerate(self.systems)
        ]
        order = np.argsort(values[:, self.lead], kind="stable").tolist()
        columns = (Column("system", "system"), *heads, first)
        return Table("ranks", "ranks", columns, tuple(rows[number] for number in order))

    def report(
        self,
        report: ScoreReport,
        about: Sequence[Notice],
        every: Sequence[Sequence[Notice]],
        draw: Intervals,
        signatures: Sequence[Signature | None],
    ) -> ScoreReport:
        """Return the report of the comparison, from that on one of the systems over the same clips.

        *about* is what there is to know about this comparison, *every* the notices of each system, of which those that
        matter most are repeated.
        """
        grave = [[notice for notice in notices if notice.grave or notice.first] for notices in every]
        drawn: dict[str, Any] = {"resamples": draw.resamples, "seed": draw.seed, "over": draw.over}
        lead = self.columns[self.lead].name
        signature = of_comparison([signature for signature in signatures if signature], drawn)
        return dataclasses.replace(
            report,
            system=f"comparison of {plural(len(self.systems), 'system')}",
            tables=tuple(self.tables()),
            notices=in_order([*about, *said_of(self.systems, grave)]),
            settings={"against": self.against, "lead": lead, **drawn} | dict(report.settings),
            verdict=self.verdict(),
            lead=lead,
            signature=str(signature),
        )

    def notices(self, draw: Intervals) -> list[Notice]:
        """Return the notices that apply to any comparison."""
        notices: list[Notice] = []
        if self.units < FEWEST:
            few = f"{self.units:,} {self.over} are too few to generalize from"
            notices.append(Notice("few-units", f"{few}: bounds of intervals are only in JSON and CSV", grave=True))
        elif self.units < ENOUGH:
            text = f"* only {self.units:,} {self.over}: intervals are a little too narrow, and small differences go "
            text += "unseen"
            notices.append(Notice("few-units", text))
        ways, least, tests = 1 << self.units, 2 / (1 << self.units), len(self.p)
        if tests and ways <= draw.resamples and least > 0.001:
            text = f"with {self.units:,} {self.over} there are only {ways:,} permutations: no p-value can be below "
            corrected = f", or below {min(1.0, least * tests):.2g} with Holm's correction" if tests > 1 else ""
            grave = least * tests > LEVEL
            notices.append(Notice("smallest-p", f"{text}{least:.2g}{corrected}", grave=grave))
        return notices


def compare_clips(
    systems: Sequence[Place],
    score: Callable[[Place], Case],
    draw: Intervals,
    *,
    against: Against = "all",
    lead: str | None = None,
) -> ScoreReport:
    """Compare systems with labels, and with each other.

    The arguments are those of :func:`seldio.compare`, *score* is called with each system, and *draw* says how clips or
    rooms are resampled.

    Raises:
        InvalidData, UsageError: *score* raises them; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    names, cases = system_names(systems), list[Case]()
    for name, path in zip(names, systems, strict=True):
        with naming(name):
            cases.append(score(path))
    clips = common([case.score.clips for case in cases])
    scores: list[Any] = [case.score.take(clips) for case in cases]
    shared = [dataclasses.replace(case, score=score) for case, score in zip(cases, scores, strict=True)]
    first_case, unit_of, rooms, of_rooms = shared[0], units_of(clips, draw.over), len(rooms_of(clips)), list[Notice]()
    if draw.over == "clips" and rooms >= FEWEST:
        text = f"clips of one room are alike: these intervals are about other clips of the same {rooms:,} rooms, and "
        of_rooms.append(Notice("same-rooms", f"{text}--intervals over=rooms gives those about other rooms"))
    report = first_case.report("")
    columns = report.tables[0].columns[1:]
    deciding = measured(columns, lead or report.lead)
    values = np.array([score.scores(np.ones((1, len(clips))))[0] for score in scores])
    drawn, p = tested(scores, values, draw, unit_of)
    contest = Contest(
        names,
        columns,
        values,
        drawn,
        p,
        int(unit_of.max()) + 1,
        draw.over,
        deciding,
        np.min([score.support(draw.over)[:, 0] for score in scores], axis=0),
        np.any([score.weak(draw.over) for score in scores], axis=0),
        against,
    )
    notices: list[Notice] = []
    missing = zip(names, (len(case.score.clips) - len(clips) for case in cases), strict=True)
    if left_out := ", ".join(f"{name} {count:,}" for name, count in missing if count):
        text = f"compared over the clips that all systems have; left out are clips of {left_out}"
        notices.append(Notice("common-clips", text, grave=True))
    notices += [*contest.notices(draw), *of_rooms]
    if contest.units >= FEWEST:
        notices += said_of(names, [[*case.unsure(draw.over)] for case in shared])
    return contest.report(report, notices, [case.notices() for case in cases], draw, [case.signature for case in cases])
