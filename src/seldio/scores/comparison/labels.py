"""Systems of sound event localization and detection, compared on the clips that all of them have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from seldio.files.sources import Place, path_of
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Column, Notice, ScoreReport, Table, in_order, measured, said_of
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
from seldio.scores.resampling import FEWEST, Resampling, Summed, units_of
from seldio.scores.seld.metrics import Count
from seldio.scores.seld.report import HELD, REFERENCES, SeldCase, notices, weak_scores
from seldio.scores.seld.score_labels import SeldOptions, opened_reference, report_of, scored_case
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.signatures import of_comparison
from seldio.text import plural


def compare_labels(
    systems: Sequence[Place], reference: Place, options: SeldOptions, draw: Resampling, *, against: Against = "all",
    lead: str | None = None, most: int = 10, format: str | None = None, reference_format: str | None = None,
) -> ScoreReport:  # fmt: skip
    """Compare the outputs of systems with labels, and with each other.

    The arguments are those of :func:`seldio.compare`, *draw* how clips or rooms are resampled.

    Raises:
        InvalidData, UsageError: as :func:`~seldio.scores.seld.score_labels.score_labels`; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    with opened_reference(reference, options, reference_format) as labels:
        names, cases = each_system(systems, lambda path: scored_case(path, labels, options, format))
    deciding = measured(cases[0].profile.columns, lead or cases[0].profile.lead, "--lead")
    if len(cases) == 1:
        return _alone(path_of(systems[0]), cases[0], draw)
    clips = common([case.score.clips for case in cases])
    scores = [_over(case.score, clips) for case in cases]
    first = scores[0]
    unit_of = units_of(first.clips, draw.over)
    contest, classes = contested(names, scores, draw, unit_of, against, deciding)
    case = dataclasses.replace(cases[0], score=first, bootstrap=draw, intervals=False)
    tables = [_classes(contest, case, classes)] if classes.p.size else []
    references = first.counts[:, Count.REFERENCES].sum(axis=1).astype(int).tolist()
    if most:
        alone = np.array([score.present(score.counts)[:, deciding] for score in scores])
        without = np.array([score.partial(score.without_each())[:, deciding, 0] for score in scores])
        tables.append(contest.clips(first.clips, references, alone, without, most))
    rooms = f", {plural(contest.units, 'room')}" if draw.over == "rooms" else ""
    over = f"{plural(len(clips), 'clip')}{rooms}, {len(case.labels)} classes, {first.average} average"
    about = [*same_systems(names, lambda a, b: np.array_equal(scores[a].counts, scores[b].counts, equal_nan=True),
                           "the same counts in every clip")]  # fmt: skip
    about += left_out({name: len(each.score.clips) - len(clips) for name, each in zip(names, cases, strict=True)})
    about += [*contest.notices(draw), *_about_rooms(first, draw)]
    if contest.units >= FEWEST:
        about += said_of(names, [[*weak_scores(score, draw.over, case.labels)] for score in scores])
    report = dataclasses.replace(report_of("", case), over=over)
    return contest.report(report, tables, about, list(map(notices, cases)), draw, [one.signature for one in cases])


def _alone(system: str, case: SeldCase, draw: Resampling) -> ScoreReport:
    """One system: its intervals, next to those of the official jackknife."""
    shown = dataclasses.replace(case, bootstrap=draw, intervals=True)
    units_of(case.score.clips, draw.over)  # which says what has no room
    report = report_of(system, shown)
    drawn = {"over": draw.over, "resamples": draw.resamples, "seed": draw.seed}
    about = in_order([*report.notices, *_about_rooms(case.score, draw)])
    signature = of_comparison([case.signature] if case.signature else [], dataclasses.asdict(draw))
    settings = drawn | dict(report.settings)
    return dataclasses.replace(report, notices=about, settings=settings, signature=str(signature))


def _over(score: SeldScore, clips: Sequence[str]) -> SeldScore:
    place = {clip: number for number, clip in enumerate(score.clips)}
    counts = score.counts[[place[clip] for clip in clips]]
    return dataclasses.replace(score, clips=tuple(clips), counts=counts)


# --- numbers ----------------------------------------------------------------------------------------------


def contested(
    names: tuple[str, ...], scores: Sequence[SeldScore], draw: Resampling, unit_of: Ints, against: Against, lead: int
) -> tuple[Contest, PairedScores]:
    """Return the contest, and how the systems compare in F of each class."""
    values = np.array([_measured(score, score.counts.sum(axis=0, keepdims=True))[0] for score in scores])
    trial = tested([_summed(score) for score in scores], values, draw, unit_of)
    columns = scores[0].profile.columns
    whole, classes = trial.take(slice(len(columns))), trial.take(slice(len(columns), None))
    contest = Contest(
        names, columns, whole.values, whole.drawn, whole.p, int(unit_of.max()) + 1, draw.over, lead, against,
        support=np.min([score.support(draw.over, pooled=True) for score in scores], axis=0),
        weak=np.any([score.weak(draw.over) for score in scores], axis=0),
    )  # fmt: skip
    return contest, classes


def _measured(score: SeldScore, counts: Floats) -> Floats:
    """Return all scores of some *counts* and F of the classes, shape [batch, scores and classes]."""
    values = score.partial(counts)
    return np.hstack((values[:, :, 0], values[:, _f(score), 1:]))


def _f(score: SeldScore) -> int:
    return score.profile.names.index("F")


def _summed(score: SeldScore) -> Summed:
    """Return the counts of all clips as one matrix, with the measures that its sum comes to."""
    clips, *shape = score.counts.shape
    return Summed(score.counts.reshape(clips, -1), lambda sums: _measured(score, sums.reshape(-1, *shape)))


def _classes(contest: Contest, case: SeldCase, classes: PairedScores) -> Table:
    """Return what the systems differ by in each class, with tests that are corrected over all classes."""
    column, held = contest.columns[_f(case.score)], case.score.clips_with(contest.over)  # type: ignore[arg-type]
    counts = case.score.counts[:, Count.REFERENCES].sum(axis=0).astype(int).tolist()
    rows = tuple(zip(case.labels, counts, held.tolist(), strict=True))
    title = f"differences of {column.title} by class, {contest.test}"
    table = Table("classes", title, (Column("class", "class"), REFERENCES, HELD), rows, aside=True)
    gains = [(classes.values[other] - classes.values[one]).tolist() for one, other in contest.pairs]
    return contest.parts(table, column, classes.values, np.where(held > 0, classes.p, np.nan), gains)


# --- notices ----------------------------------------------------------------------------------------------


def _about_rooms(score: SeldScore, draw: Resampling) -> Iterator[Notice]:
    rooms = len(score.rooms)
    if draw.over == "clips" and rooms >= FEWEST:
        text = f"clips of one room are alike: these intervals are about other clips of the same {rooms:,} rooms, and "
        yield Notice("same-rooms", f"{text}--intervals over=rooms gives those about other rooms")
