"""Answers of models to the same questions, compared question by question."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place
from seldio.reports.tables import Notice, ScoreReport, measured
from seldio.scores import intervals
from seldio.scores.answers import AnswerOptions, counted_answers, read_answers, signed
from seldio.scores.comparison.pairs import (
    Against,
    Contest,
    common,
    naming,
    system_names,
    tested,
)
from seldio.scores.judge import JudgeTally
from seldio.scores.replies import ReplyVerdict, check_name, write
from seldio.scores.resampling import ENOUGH, Intervals
from seldio.scores.so_bench import SoBenchCase
from seldio.text import plural


def compare_answers(
    systems: Sequence[Place],
    reference: Place | None,
    options: AnswerOptions,
    draw: Intervals,
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
        check_name(options.items, (*systems, reference, *judgements))
    names, marked, profiles, signatures = system_names(systems), [], [], []
    system_notices: list[tuple[Notice, ...]] = []
    verdicts: dict[str, list[ReplyVerdict]] = {}
    for number, path in enumerate(systems):
        of_system = dataclasses.replace(options, judgements=judgements[number]) if judgements else options
        with naming(names[number]):
            sides, tally = read_answers(path, reference, of_system, format, reference_format), JudgeTally()
            case = counted_answers(sides, of_system, tally)
        system_notices.append((*sides.notices, *tally.notices(), *case.notices()))
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
    asked_ids = {id for answers in marked for id in answers.items}
    marked = _in_common(marked, options.allow_missing)
    first_answers, count = marked[0], len(marked[0].items)
    means = [intervals.Means.of(answers.values, first_answers.clips, [np.arange(count)]) for answers in marked]
    values, units = np.array([answers.values.mean(axis=0) for answers in marked]), len(means[0].sums)
    drawn, p = tested([system_means.summed for system_means in means], values, draw, np.arange(units))
    contest = Contest(
        names,
        first_answers.columns,
        values,
        drawn,
        p,
        units,
        first_answers.about,
        measured(first_answers.columns, lead or first_answers.columns[0].name),
        means[0].support,
        means[0].support < ENOUGH,
        against,
        np.stack([system_means.ends(drawn[:, system]) for system, system_means in enumerate(means)], axis=1),
    )

    notices: list[Notice] = []
    if missing := len(asked_ids) - count:
        text = f"compared over the questions that all systems answer; {plural(missing, 'question')} left out"
        notices.append(Notice("common-questions", text, grave=True))
    notices += contest.notices(draw)
    settings: dict[str, str | int | float | bool | None] = {"allow_missing": options.allow_missing}
    if isinstance(case, SoBenchCase):
        settings |= {"join": options.join, "offline": options.offline, "judgements": bool(judgements)}
    report = ScoreReport("", profiles[0], first_answers.title, plural(count, "question"), (), (), settings)
    return contest.report(report, notices, system_notices, draw, signatures)


def _in_common(marked: Sequence[intervals.MarkedAnswers], answered: bool) -> list[intervals.MarkedAnswers]:
    """Return the marks of the questions that all systems have, or that all have *answered*."""
    asked: list[Sequence[str]] = [each.items for each in marked]
    if answered:
        pairs = (zip(each.items, each.answered.tolist(), strict=True) for each in marked)
        asked = [[id for id, has_reply in pair if has_reply] for pair in pairs]
    compared = common(asked, "question")
    return [each.take(compared) for each in marked]
