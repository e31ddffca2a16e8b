"""Systems of sound event localization and detection, compared on the clips that all of them have."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from seldio.errors import DataError
from seldio.files.sources import Place, path_of
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.scores.comparison.pairs import LEVEL, Against, Contest, naming, same_systems, system_names
from seldio.scores.resampling import FEWEST, Resampling, p_value, units_of, weights
from seldio.scores.seld.metrics import Counts
from seldio.scores.seld.report import HELD, REFERENCES, SeldCase, notices, weak_scores
from seldio.scores.seld.score_labels import SeldOptions, report_of, scored_case
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.signatures import of_comparison
from seldio.text import plural


def compare_labels(
    systems: Sequence[Place], reference: Place, options: SeldOptions, draw: Resampling, *, against: Against = "all",
    lead: str | None = None, most: int = 10, format: str | None = None, reference_format: str | None = None,
) -> ScoreReport:  # fmt: skip
    """Compare the outputs of systems with labels, and with each other.

    Args:
        systems: files, folders or archives of predictions; of a single one, intervals are shown.
        reference: the labels.
        options: how they are scored.
        draw: how clips or rooms are resampled.
        against: which pairs are compared.
        lead: the score whose test decides which system is better; by default that of the profile.
        most: how many of the clips that differ most are shown.
        format: the format of the predictions; detected by default.
        reference_format: the format of the reference; detected by default.

    Raises:
        InvalidData, UsageError: as :func:`~seldio.scores.seld.score_labels.score_labels`; or a clip has no room.
        DataError: clips have no prediction or no reference, or the systems have no clip in common.
    """
    names = system_names(systems)
    cases = []
    for name, path in zip(names, systems, strict=True):
        with naming(name, len(names) > 1):
            cases.append(scored_case(path, reference, options, format, reference_format))
    deciding = measured(cases[0].profile.columns, lead or cases[0].profile.lead, "--lead")
    if len(cases) == 1:
        return _alone(path_of(systems[0]), cases[0], draw)
    scores, left_out = _common(names, [case.score for case in cases])
    unit_of = units_of(scores[0].clips, scores[0].rooms, draw.over)
    contest, of_classes = contested(names, scores, draw, unit_of, against, deciding)
    case = dataclasses.replace(cases[0], score=scores[0], bootstrap=draw, intervals=False)
    found = [contest.overall(f"overall, 95 % confidence intervals by bootstrap over {draw.over}")]
    found += [contest.differences(), contest.tests(), contest.ranking()]
    if of_classes.size:
        found.append(_classes(contest, case, scores, of_classes))
    if most:
        found.append(_clips(contest, scores, most))
    profile = case.profile
    first = scores[0]
    report = report_of("", case)
    settings = contest.settings(draw)
    clips = f"{plural(len(first.clips), 'clip')}, {plural(contest.units, 'room')}" if draw.over == "rooms" else (
        plural(len(first.clips), "clip"))  # fmt: skip
    over = f"{clips}, {len(case.labels)} classes, {first.average} average"
    told = [*same_systems(names, systems, lambda a, b: scores[a].counts.same(scores[b].counts),
                          "the same counts in every clip")]  # fmt: skip
    told += [
        *_about_clips(left_out),
        *contest.notices(),
        *_about_rooms(first, draw),
        *_about_swaps(contest, draw),
    ]
    if contest.units >= FEWEST:
        told += said_of(names, [[*weak_scores(score, draw.over, case.labels)] for score in scores])
    told += said_of(names, [[each for each in notices(one) if each.grave or each.first] for one in cases])
    return ScoreReport(
        f"comparison of {plural(len(names), 'system')}", profile.name, profile.title, over, tuple(found),
        in_order(told), settings | dict(report.settings), _signed(cases, draw), contest.verdict(),
        contest.columns[contest.lead].name,
    )  # fmt: skip


def _alone(system: str, case: SeldCase, draw: Resampling) -> ScoreReport:
    """One system: its intervals, next to those of the official jackknife."""
    shown = dataclasses.replace(case, bootstrap=draw, intervals=True)
    units_of(case.score.clips, case.score.rooms, draw.over)  # which says what has no room
    report = report_of(system, shown)
    drawn = {"over": draw.over, "resamples": draw.resamples, "seed": draw.seed}
    told = in_order([*report.notices, *_about_rooms(case.score, draw)])
    settings = drawn | dict(report.settings)
    return dataclasses.replace(report, notices=told, settings=settings, signature=_signed([case], draw))


def _signed(cases: Sequence[SeldCase], draw: Resampling) -> str:
    """The signature of a comparison."""
    known = [case.signature for case in cases if case.signature is not None]
    return str(of_comparison(known, dataclasses.asdict(draw)))


def _common(names: Sequence[str], scores: Sequence[SeldScore]) -> tuple[list[SeldScore], dict[str, int]]:
    """The scores over the clips that all systems have, and how many others each system has.

    Raises:
        DataError: there is no such clip.
    """
    every = [set(score.clips) for score in scores]
    both = set.intersection(*every)
    if not both:
        raise DataError("the systems have no clip in common: nothing can be compared")
    found = []
    for score in scores:
        kept = np.array([number for number, clip in enumerate(score.clips) if clip in both])
        clips = tuple(score.clips[number] for number in kept)
        found.append(dataclasses.replace(score, clips=clips, counts=score.counts.take(kept)))
    return found, {name: len(there - both) for name, there in zip(names, every, strict=True)}


# --- numbers ----------------------------------------------------------------------------------------------


def contested(
    names: tuple[str, ...], scores: Sequence[SeldScore], draw: Resampling, unit_of: Ints, against: Against, lead: int
) -> tuple[Contest, Floats]:
    """The contest, and the p-values of each class, shape [pairs, classes], in F."""
    drawn = [np.concatenate([score.resampled(batch).overall for batch in weights(draw, unit_of)]) for score in scores]
    p = np.array([
        p_value(apart(one, other), exchanged(one, other), draw, unit_of) for one, other in combinations(scores, 2)
    ])  # fmt: skip
    columns = scores[0].profile.columns
    contest = Contest(
        names, columns, np.array([score.values().overall[0] for score in scores]), np.stack(drawn, axis=1),
        p[:, : len(columns)], int(unit_of.max()) + 1, draw.over, f"paired permutation test over {draw.over}", lead,
        against, support=np.min([score.support(draw.over, pooled=True) for score in scores], axis=0),
        weak=np.any([score.weak(draw.over) for score in scores], axis=0),
    )  # fmt: skip
    return contest, p[:, len(columns) :]


def apart(one: SeldScore, other: SeldScore) -> Floats:
    """What two systems differ by over all clips: in all scores, then in F of each class."""
    return np.asarray(_measured(other, other.counts.total())[0] - _measured(one, one.counts.total())[0])


def _measured(score: SeldScore, counts: Counts) -> Floats:
    """All scores of some *counts* and F of the classes, shape [batch, scores and classes]."""
    values = score.profile.score(counts, score.average)
    return values.overall if values.by_class is None else np.hstack((values.overall, values.by_class[:, _f(score)]))


def _f(score: SeldScore) -> int:
    return score.profile.names.index("F")


def exchanged(one: SeldScore, other: SeldScore) -> Callable[[Floats], Floats]:
    """The differences, as :func:`apart` has them, where some clips change sides between two systems."""
    change = Counts(*(b - a for a, b in zip(one.counts.arrays(), other.counts.arrays(), strict=True)))
    first, second = one.counts.total(), other.counts.total()

    def differences(sides: Floats) -> Floats:
        moved = [sides @ array for array in change.arrays()]
        a, b = (
            _measured(one, Counts(*(whole + sign * part for whole, part in zip(total.arrays(), moved, strict=True))))
            for total, sign in ((first, 1), (second, -1))
        )
        return np.asarray(b - a)

    return differences


# --- where they differ ------------------------------------------------------------------------------------


def _classes(contest: Contest, case: SeldCase, scores: Sequence[SeldScore], p: Floats) -> Table:
    """What the systems differ by in each class, with tests that are corrected over all classes."""
    place = _f(scores[0])
    column, held = contest.columns[place], scores[0].held(contest.over)  # type: ignore[arg-type]
    counts = scores[0].counts.references.sum(axis=0).astype(int).tolist()
    own = [each.by_class[0, place] for each in (score.values() for score in scores) if each.by_class is not None]
    classes = dataclasses.replace(  # with the lead, which decides here too
        contest, columns=(contest.columns[contest.lead], *[column] * len(case.labels)), lead=0,
        values=np.column_stack((contest.values[:, contest.lead], np.array(own))),
        p=np.column_stack((contest.p[:, contest.lead], np.where(held > 0, p, np.nan))),
    )  # fmt: skip
    cells: list[list[Cell]] = [[] for _ in case.labels]
    heads = []
    for number, pair in enumerate(contest.pairs, 1):
        gain, raised = own[pair[1]] - own[pair[0]], classes.raised[contest.numbered(pair), 1:]
        for row, each in enumerate(cells):
            each += [float(gain[row]), float(raised[row]), classes.better(pair, row + 1)]
        heads += [
            dataclasses.replace(column, name=f"{column.name}_{number}",
                                title=contest.headed(f"{column.title} difference", pair)),
            Column(f"p_holm_{number}", contest.headed("p (Holm)", pair), "", 4, None,
                   "p-value with Holm's correction over all classes and pairs of this table"),
            Column(f"better_{number}", contest.headed("better", pair), meaning=
                   f"the better system where p (Holm) is below {LEVEL:g} here, and that of the lead too"),
        ]  # fmt: skip
    rows = tuple((label, counts[number], int(held[number]), *cells[number]) for number, label in enumerate(case.labels))
    title = f"differences of {column.title} by class, {contest.test}"
    return Table("classes", title, (Column("class", "class"), REFERENCES, HELD, *heads), rows, aside=True)


def _clips(contest: Contest, scores: Sequence[SeldScore], most: int) -> Table:
    """The clips without which the difference of two systems would be another one."""
    place, clips = contest.lead, scores[0].clips
    column = contest.columns[place]
    without = np.array([score.partial(score.counts.without_each()).overall[:, place] for score in scores])
    influence = contest.values[:, place][:, None] - without  # of each clip on each system
    apart = np.array([influence[other] - influence[one] for one, other in contest.pairs])
    order = np.argsort(-np.nan_to_num(np.abs(apart)).max(axis=0), kind="stable")[:most]
    here = np.array([score.present(score.counts.take(order))[:, place] for score in scores]).reshape(len(scores), -1)
    references = scores[0].counts.references.sum(axis=1).astype(int).tolist()
    rows = tuple(
        (clips[clip], references[clip], *here[:, number].tolist(), *apart[:, clip].tolist())
        for number, clip in enumerate(order.tolist())
    )
    text = f"how much of the difference of {column.title} is due to this clip; it would be that much smaller without it"
    heads = [
        *(dataclasses.replace(column, name=f"{column.name}_{number}", title=f"{column.title}, {name}")
          for number, name in enumerate(contest.systems, 1)),
        *(Column(f"influence_{number}", contest.headed("influence", pair), column.unit, max(column.digits, 2),
                 column.better, text) for number, pair in enumerate(contest.pairs, 1)),
    ]  # fmt: skip
    title = f"the clips that matter most to the difference of {column.title}"
    return Table("clips", title, (Column("clip", "clip"), REFERENCES, *heads), rows)


# --- notices ----------------------------------------------------------------------------------------------


def _about_clips(left_out: dict[str, int]) -> Iterator[Notice]:
    more = {name: count for name, count in left_out.items() if count}
    if more:
        counts = ", ".join(f"{name} {count:,}" for name, count in more.items())
        text = f"compared over the clips that all systems have; left out are clips of {counts}"
        yield Notice("common-clips", text, grave=True)


def _about_rooms(score: SeldScore, draw: Resampling) -> Iterator[Notice]:
    rooms = len(score.rooms)
    if draw.over == "clips" and rooms >= FEWEST:
        text = f"clips of one room are alike: these intervals are about other clips of the same {rooms:,} rooms, and "
        yield Notice("same-rooms", f"{text}--over rooms gives those about other rooms")


def _about_swaps(contest: Contest, draw: Resampling) -> Iterator[Notice]:
    """Units that are too few for a small p-value."""
    ways = 1 << contest.units
    least = 2 / ways
    if ways <= draw.resamples and least > 0.001:
        tests = len(contest.p)
        few = f"with {contest.units:,} {contest.over} there are only {ways:,} permutations"
        text = f"{few}: no p-value can be below {least:.2g}"
        if tests > 1:
            text += f", or below {min(1.0, least * tests):.2g} with Holm's correction"
        yield Notice("smallest-p", text, grave=least * tests > LEVEL)
