"""Systems compared on the clips that all of them have, by their labels or by their energy maps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from seldio.files.sources import Place, path_of
from seldio.reports.tables import Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.scores.comparison.pairs import (
    Against,
    Contest,
    PairedScores,
    common,
    each_system,
    left_out,
    same_systems,
    tested,
)
from seldio.scores.resampling import FEWEST, Resampling, rooms_of, units_of
from seldio.scores.signatures import of_comparison

if TYPE_CHECKING:
    from seldio.scores.imaging.report import ImagingCase
    from seldio.scores.seld.report import SeldCase

Case = TypeVar("Case", bound="SeldCase | ImagingCase")


def compare_clips(
    systems: Sequence[Place], score: Callable[[Place], Case], draw: Resampling, *, against: Against = "all",
    lead: str | None = None, most: int = 10,
) -> ScoreReport:  # fmt: skip
    """Compare systems with labels, and with each other; of one system return the score with its intervals.

    The arguments are those of :func:`seldio.compare`, *score* is called with each system, and *draw* says how clips or
    rooms are resampled.

    Raises:
        InvalidData, UsageError: *score* raises them; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    names, cases = each_system(systems, score)
    clips = common([case.score.clips for case in cases])
    scores: list[Any] = [case.score.take(clips) for case in cases]
    shared = [dataclasses.replace(case, score=score) for case, score in zip(cases, scores, strict=True)]
    first, unit_of, each_clip = shared[0], units_of(clips, draw.over), np.eye(len(clips))
    if len(cases) == 1:
        report = first.with_bootstrap(path_of(systems[0]), draw)
        drawn, notices = dataclasses.asdict(draw), in_order([*report.notices, *_about_rooms(clips, draw)])
        signature = str(of_comparison([first.signature], drawn))
        settings = drawn | dict(report.settings)
        return dataclasses.replace(report, notices=notices, settings=settings, signature=signature)
    report = first.report("")
    columns = report.tables[0].columns[1:]
    deciding = measured(columns, lead or report.lead, "--lead")
    values = np.array([score.scores(np.ones((1, len(clips))))[0] for score in scores])
    trial = tested(scores, values, draw, unit_of)
    whole, classes = trial.take(slice(len(columns))), trial.take(slice(len(columns), None))
    contest = Contest(
        names, columns, whole.values, whole.drawn, whole.p, int(unit_of.max()) + 1, draw.over, deciding,
        np.min([score.pooled_support(draw.over) for score in scores], axis=0),
        np.any([score.weak(draw.over) for score in scores], axis=0), against,
    )  # fmt: skip
    tables = [_by_class(contest, classes, report.table("classes"))] if classes.p.size else []
    if most:
        alone, without = (
            np.array([each[:, deciding] for each in measures])
            for measures in ((score.alone() for score in scores), (score.scores(1 - each_clip) for score in scores))
        )
        tables.append(contest.clips(clips, scores[0].references_by_clip.tolist(), alone, without, most))
    same = same_systems(names, lambda a, b: np.array_equal(whole.drawn[:, a], whole.drawn[:, b], equal_nan=True),
                        "the same scores in every resample")  # fmt: skip
    missing = {name: len(case.score.clips) - len(clips) for name, case in zip(names, cases, strict=True)}
    about = [*same, *left_out(missing), *contest.notices(draw), *_about_rooms(clips, draw)]
    if contest.units >= FEWEST:
        about += said_of(names, [[*case.unsure(draw.over)] for case in shared])
    return contest.report(report, tables, about, [case.notices() for case in cases], draw,
                          [case.signature for case in cases])  # fmt: skip


def _by_class(contest: Contest, classes: PairedScores, table: Table) -> Table:
    """Return what the systems differ by in F of each class, with tests that are corrected over all classes."""
    column = next(column for column in contest.columns if column.name == "F")
    title = f"differences of {column.title} by class, {contest.test}"
    rows = tuple(row[:2] for row in table.rows)
    table = Table("classes", title, table.columns[:2], rows, aside=True)
    p = np.where([references != 0 for _, references in rows], classes.p, np.nan)
    gains = [(classes.values[other] - classes.values[one]).tolist() for one, other in contest.pairs]
    return contest.parts(table, column, classes.values, p, gains)


def _about_rooms(clips: Sequence[str], draw: Resampling) -> Iterator[Notice]:
    rooms = len(rooms_of(clips))
    if draw.over == "clips" and rooms >= FEWEST:
        text = f"clips of one room are alike: these intervals are about other clips of the same {rooms:,} rooms, and "
        yield Notice("same-rooms", f"{text}--intervals over=rooms gives those about other rooms")
