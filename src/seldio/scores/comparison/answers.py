"""Answers of models to the same questions, compared question by question."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of
from seldio.reports.tables import Column, Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.scores import intervals
from seldio.scores.answers import AnswerOptions, counted_answers, read_answers, signed
from seldio.scores.comparison.pairs import (
    Against,
    Contest,
    PairedScores,
    common,
    naming,
    same_systems,
    system_names,
    tested,
)
from seldio.scores.judge import JudgeTally
from seldio.scores.replies import ReplyVerdict, checked, write
from seldio.scores.resampling import ENOUGH, Resampling, interval
from seldio.scores.signatures import of_comparison
from seldio.scores.so_bench import SoBenchCase
from seldio.text import clipped, plural

_COUNT = Column("items", "questions", "", 0, None, "number of questions in this row")


# --- the comparison ------------------------------------------------------------------------------------------------


def compare_answers(
    systems: Sequence[Place],
    reference: Place | None,
    options: AnswerOptions,
    draw: Resampling,
    *,
    against: Against = "all",
    lead: str | None = None,
    most: int = 10,
    judgements: Sequence[str] = (),
    format: str | None = None,
    reference_format: str | None = None,
) -> ScoreReport:
    """Compare the answers of systems to the same questions.

    The arguments are those of :func:`seldio.compare`, *draw* how recordings are resampled.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, or there is not one file of judgements for each system.
        DataError: predictions and questions do not fit, or the systems have no question in common.
    """
    if draw.over == "rooms":
        raise UsageError("--intervals over=rooms: answers have clips, with all questions about them")
    if judgements and len(judgements) != len(systems):
        files = plural(len(judgements), "file")
        raise UsageError(
            f"--judgements: {files} for {plural(len(systems), 'system')}; give one for each, in their order"
        )
    if options.items is not None:
        checked(options.items, (*systems, reference, *judgements))
    names, marked, profiles, signatures = system_names(systems), [], [], []
    grave: list[list[Notice]] = []
    verdicts: dict[str, list[ReplyVerdict]] = {}
    for number, path in enumerate(systems):
        of_system = dataclasses.replace(options, judgements=judgements[number]) if judgements else options
        with naming(names[number], len(names) > 1):
            sides, tally = read_answers(path, reference, of_system, format, reference_format), JudgeTally()
            case = counted_answers(sides, of_system, tally)
        notices = (*sides.notices, *tally.notices(), *case.notices())
        grave.append([notice for notice in notices if notice.grave or notice.first])
        marked.append(case.marked())
        verdicts[names[number]] = [*case.reply_verdicts()] if options.items is not None else []
        signatures.append(signed(sides, of_system))
        profiles.append(sides.profile)
    if len(set(profiles)) > 1:
        raise DataError(
            f"the systems are scored in different ways ({', '.join(dict.fromkeys(profiles))}): use --profile"
        )
    if options.items is not None:
        write(options.items, verdicts, profiles[0])
    asked: list[Sequence[str]] = [each.items for each in marked]
    if options.allow_missing:
        pairs = (zip(each.items, each.answered.tolist(), strict=True) for each in marked)
        asked = [[id for id, answered in pair if answered] for pair in pairs]
    compared = common(asked, "question")
    missing = len(set().union(*(each.items for each in marked))) - len(compared)
    marked = [each.take(compared) for each in marked]
    first, single = marked[0], len(names) == 1
    deciding = measured(first.columns, lead or first.columns[0].name, "--lead")
    contest, by_group = _contested(names, marked, draw, against, deciding)
    if single:
        tables = [contest.overall(f"overall, 95 % confidence intervals over {contest.over}")]
        tables.append(intervals.table(first.columns, first.values, first.clips, first.groups, contest.over))
    else:
        tables = [*contest.tables(), *by_group, *_questions(contest, marked, most)]
    about = [
        *same_systems(
            names, lambda a, b: np.array_equal(marked[a].values, marked[b].values), "the same marks for every question"
        )
    ]
    if missing:
        text = f"compared over the questions that all systems answer; {plural(missing, 'question')} left out"
        about.append(Notice("common-questions", text, grave=True))
    about += contest.notices(draw)
    about += said_of([clipped(name, 60) for name in names], grave)
    settings = contest.settings(draw) | {"allow_missing": options.allow_missing}
    if isinstance(case, SoBenchCase):
        settings |= {"join": options.join, "offline": options.offline, "judgements": bool(judgements)}
    return ScoreReport(
        path_of(systems[0]) if single else f"comparison of {plural(len(names), 'system')}",
        profiles[0],
        first.title,
        plural(len(first.items), "question"),
        tuple(tables),
        in_order(about),
        settings,
        str(of_comparison(signatures, dataclasses.asdict(draw))),
        "" if single else contest.verdict(),
        contest.columns[contest.lead].name,
    )


def _contested(
    names: tuple[str, ...], marked: Sequence[intervals.MarkedAnswers], draw: Resampling, against: Against, lead: int
) -> tuple[Contest, Iterator[Table]]:
    """Return how the systems compare over all questions, and the differences of the lead in each group of questions."""
    first, count = marked[0], len(marked[0].columns)
    groups = {name: each for name, each in first.groups.items() if len(each) > 1}
    every = [np.arange(len(first.items)), *(rows for each in groups.values() for rows in each.values())]
    places = np.array([*range(count), *range(count + lead, count * len(every), count)])
    means = [intervals.Means.of(each.values, first.clips, every).take(places) for each in marked]
    values, units = np.array([each.values for each in means]), len(means[0].sums)
    values[:, :count] = [each.values.mean(axis=0) for each in marked]  # to the last bit as in the score
    trial = tested([each.summed for each in means], values, draw, np.arange(units))
    ends = np.stack([each.ends(trial.drawn[:, system])[:, :count] for system, each in enumerate(means)], axis=1)
    whole, support = trial.take(slice(count)), means[0].support[:count]
    contest = Contest(
        names,
        first.columns,
        whole.values,
        whole.drawn,
        whole.p,
        units,
        first.about,
        lead,
        support,
        support < ENOUGH,
        against,
        ends,
    )
    return contest, _by_group(contest, groups, means[0], trial)


def _by_group(
    contest: Contest, groups: intervals.Groups, means: intervals.Means, trial: PairedScores
) -> Iterator[Table]:
    """Yield the differences of the lead in each group; *means* and *trial* are of all columns, then of the groups."""
    column, end = contest.columns[contest.lead], len(contest.columns)
    for number, (name, of_group) in enumerate(groups.items()):
        places = np.arange(end, end := end + len(of_group))
        values, drawn, p = trial.take(places)
        of_groups, differences = means.take(places), []
        for first, second in contest.pairs:
            gains = drawn[:, second] - drawn[:, first]
            ends = [interval(gains[:, row], units) for row, units in enumerate(of_groups.units.tolist())]
            differences.append(of_groups.cells(values[second] - values[first], *np.array(ends).T))
        heads = (Column(name, name.replace("_", " ")), _COUNT, *contest.by_system(column))
        rows = tuple(
            (label, len(each), *cells) for (label, each), cells in zip(of_group.items(), values.T.tolist(), strict=True)
        )
        title = f"differences of {column.title} by {name.replace('_', ' ')}"
        yield contest.parts(Table(name, title, heads, rows, aside=number > 0), column, values, p, differences)


def _questions(contest: Contest, marked: Sequence[intervals.MarkedAnswers], most: int) -> Iterator[Table]:
    """Yield some of the questions that the systems differ in, the greatest differences first."""
    values = np.stack([each.values[:, contest.lead] for each in marked], axis=1)
    spread = values.max(axis=1) - values.min(axis=1)
    order = [number for number in np.argsort(-spread, kind="stable")[:most].tolist() if spread[number] > 0]
    if order:
        rows = tuple((marked[0].items[number], *values[number].tolist()) for number in order)
        title = f"{len(order):,} of {plural(int((spread > 0).sum()), 'question')} that the systems differ in"
        heads = (Column("id", "question"), *contest.by_system(contest.columns[contest.lead]))
        yield Table("questions", title, heads, rows, aside=True)
