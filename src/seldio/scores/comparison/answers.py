"""Answers of models to the same questions, compared question by question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of
from seldio.reports.tables import Notice, ScoreReport, in_order, measured, said_of
from seldio.scores import intervals
from seldio.scores.answers import AnswerOptions, counted_answers, read_answers, signed
from seldio.scores.comparison.pairs import (
    Against,
    Contest,
    common,
    naming,
    same_systems,
    system_names,
    tested,
)
from seldio.scores.judge import JudgeTally
from seldio.scores.replies import ReplyVerdict, checked, write
from seldio.scores.resampling import ENOUGH, Resampling
from seldio.scores.signatures import of_comparison
from seldio.scores.so_bench import SoBenchCase
from seldio.text import clipped, plural


def compare_answers(
    systems: Sequence[Place],
    reference: Place | None,
    options: AnswerOptions,
    draw: Resampling,
    *,
    against: Against = "all",
    lead: str | None = None,
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
    contest = _contested(names, marked, draw, against, deciding)
    if single:
        tables = [contest.overall(f"overall, 95 % confidence intervals over {contest.over}")]
        tables.append(intervals.table(first.columns, first.values, first.clips, first.groups, contest.over))
    else:
        tables = contest.tables()
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
) -> Contest:
    """Return how the systems compare over all questions."""
    first = marked[0]
    means = [intervals.Means.of(each.values, first.clips, [np.arange(len(first.items))]) for each in marked]
    values, units = np.array([each.values.mean(axis=0) for each in marked]), len(means[0].sums)
    whole = tested([each.summed for each in means], values, draw, np.arange(units))
    ends = np.stack([each.ends(whole.drawn[:, system]) for system, each in enumerate(means)], axis=1)
    support = means[0].support
    return Contest(
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
