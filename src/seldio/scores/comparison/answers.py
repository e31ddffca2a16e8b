"""Answers of models to the same questions, compared question by question."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from seldio.errors import DataError, UsageError
from seldio.files.sources import Place, path_of
from seldio.geometry import Floats, Ints
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order, measured, said_of
from seldio.schema.qa import Item
from seldio.scores import multiple_choice, ruenvaqa
from seldio.scores.answers import AnswerOptions, AnswerSides, imported, judgements_of, read_answers, signed
from seldio.scores.comparison.pairs import (
    Against,
    Contest,
    disagreeing,
    naming,
    same_systems,
    system_names,
)
from seldio.scores.intervals import numbered, recording_of
from seldio.scores.proportions import mcnemar, paired_difference, wilson
from seldio.scores.resampling import ENOUGH, FEWEST, Resampling, holm, interval, interval_cells, p_value, weights
from seldio.scores.signatures import of_comparison
from seldio.scores.verdicts import ReplyVerdict, checked, of_choices, of_jasco, of_scored, write
from seldio.text import clipped, plural


@dataclasses.dataclass(frozen=True)
class MarkedAnswers:
    """What each answer of a system is worth."""

    title: str  # of the way of scoring
    items: tuple[str, ...]  # ids of the questions
    clips: tuple[str, ...]  # what each is about
    columns: tuple[Column, ...]  # of what is measured
    values: Floats  # of each question, shape [questions, columns]; shares from 0 to 1, or points
    there: NDArray[np.bool_]  # whether there is a prediction, shape [questions]
    groups: Mapping[str, Sequence[str | None]]  # the label of each question, by name
    notices: tuple[Notice, ...] = ()  # what there is to know
    verdicts: tuple[ReplyVerdict, ...] = ()  # on each reply, where they are wanted

    def take(self, chosen: Ints) -> MarkedAnswers:
        """Some of the questions."""
        return dataclasses.replace(
            self, items=tuple(self.items[n] for n in chosen), clips=tuple(self.clips[n] for n in chosen),
            values=self.values[chosen], there=self.there[chosen],
            groups={name: [labels[n] for n in chosen] for name, labels in self.groups.items()},
        )  # fmt: skip


# --- what each way of scoring makes of an answer -------------------------------------------------------------------


def _choice(sides: AnswerSides, options: AnswerOptions) -> MarkedAnswers:
    joined = multiple_choice.join(sides.items or [], sides.outputs, allow_missing=options.allow_missing)
    measured = multiple_choice.count(joined, top_1=sides.profile == "dcase2026-task5")
    names = ("task", "category", "sub-category", "difficulty")
    groups = {name: [_label(item, name) for item, _ in joined.pairs] for name in names}
    return _measured(
        multiple_choice.PROGRAMS[sides.profile], joined, measured, groups, multiple_choice.notices(joined), options
    )


def _label(item: Item, name: str) -> str | None:
    value = item.task if name == "task" else (item.extra or {}).get(name)
    return value if isinstance(value, str) and value else None


def _ruenvaqa(sides: AnswerSides, options: AnswerOptions) -> MarkedAnswers:
    joined = multiple_choice.join(sides.items or [], sides.outputs, allow_missing=options.allow_missing)
    case = ruenvaqa.count(joined)
    groups = {"task_type": [item.task for item, _ in joined.pairs]}
    return _measured(
        "ruEnvAQA (MERA Multi): exact match", joined, case.measured, groups, ruenvaqa.notices(case), options
    )


def _measured(
    title: str, joined: multiple_choice.Joined, measured: multiple_choice.Measured,
    groups: Mapping[str, Sequence[str | None]], notices: tuple[Notice, ...], options: AnswerOptions,
) -> MarkedAnswers:  # fmt: skip
    items = [item for item, _ in joined.pairs]
    return MarkedAnswers(
        title, tuple(item.id for item in items), tuple(map(recording_of, items)), tuple(measured.measures),
        np.stack([flags.astype(np.float64) for flags in measured.measures.values()], axis=1),
        np.array([row is not None for _, row in joined.pairs]), groups, notices,
        tuple(of_choices(joined, measured)) if options.items is not None else (),
    )  # fmt: skip


def _so_bench(sides: AnswerSides, options: AnswerOptions) -> MarkedAnswers:
    from seldio.scores.so_bench import profiles, report
    from seldio.scores.so_bench.count import Scored, count
    from seldio.scores.so_bench.join import join

    items, profile = sides.items or [], profiles.get(sides.profile).changed(**options.thresholds)
    joined = join(items, sides.outputs, options.matching)
    judge = imported(options.judgements) if options.judgements else None
    kept: list[ReplyVerdict] = []

    def take(row: Scored) -> None:
        kept.append(of_scored(row, report.state_of(row)))

    wanted = take if options.items is not None else None
    marks = report.Marks(count(items, sides.outputs, joined, profile, judge, options.offline), wanted)
    asked = [items[number] for number in np.concatenate((joined.items, joined.missing)).tolist()]
    if not asked:
        raise DataError("nothing to compare: no question has a prediction")
    column = Column("accuracy", "accuracy", "%", 2, "higher", "mean score; undecided questions count as wrong")
    there = np.arange(len(asked)) < len(joined.items)
    told = report.notices(marks, items, joined, profile, own_words=False)
    return MarkedAnswers(
        profile.title, tuple(item.id for item in asked), tuple(map(recording_of, asked)), (column,),
        marks.correct[:, None], there, {"task": [item.task for item in asked]}, told, tuple(kept),
    )  # fmt: skip


def _jasco(sides: AnswerSides, options: AnswerOptions) -> MarkedAnswers:
    from seldio.scores.jasco import report
    from seldio.scores.jasco.count import count, join

    covered = join(sides.outputs, sides.items, allow_missing=options.allow_missing)
    judgements = judgements_of(options.judgements) if options.judgements else None
    case = count(sides.outputs, covered, judgements=judgements, allow_missing=options.allow_missing)
    marks = case.marks("eval.py" if sides.profile == "jasco-eval.py" else "corrected")
    columns = (
        Column("best_mean", "best-mean", "", 3, "higher", "mean over items of the best answer, 0 to 2"),
        Column("mean", "mean", "", 3, "higher", "mean over items of the mean over their answers, 0 to 2"),
    )
    values = np.array([[marks.best(rows), marks.mean(rows)] for rows in case.items.values()])
    items = tuple(case.items)
    title = f"JASCO, points of each item ({sides.profile})"
    found = tuple(of_jasco(case, marks)) if options.items is not None else ()
    return MarkedAnswers(
        title, items, items, columns, values, np.ones(len(items), bool), {}, report.notices(case), found
    )


#: By profile; the other profiles are those of SO-Bench.
_MARKING: dict[str, Callable[[AnswerSides, AnswerOptions], MarkedAnswers]] = {
    "jasco": _jasco, "jasco-eval.py": _jasco, "ruenvaqa": _ruenvaqa, "mmau": _choice, "mmar": _choice,
    "multiple-choice": _choice, "dcase2026-task5": _choice,
}  # fmt: skip


# --- the comparison ------------------------------------------------------------------------------------------------


def compare_answers(
    systems: Sequence[Place], reference: Place | None, options: AnswerOptions, draw: Resampling, *,
    against: Against = "all", lead: str | None = None, most: int = 10, judgements: Sequence[str] = (),
    format: str | None = None, reference_format: str | None = None,
) -> ScoreReport:  # fmt: skip
    """Compare the answers of systems to the same questions.

    Args:
        systems: a file of predictions of each.
        reference: the questions with their answers; None for files that hold them.
        options: how they are scored.
        draw: how questions, or clips with all their questions, are resampled.
        against: which pairs are compared.
        lead: the measure whose test decides which system is better; by default the first.
        most: how many of the questions that systems differ in are listed.
        judgements: a file of judgements for each system; none for answers that need no judge.
        format: the format of the predictions; detected by default.
        reference_format: the format of the questions; detected by default.

    Raises:
        InvalidData: something in the files is wrong.
        UsageError: an option makes no sense, or there is not one file of judgements for each system.
        DataError: predictions and questions do not fit, or the systems have no question in common.
    """
    if draw.over == "rooms":
        raise UsageError("--over rooms: answers have questions and clips")
    if judgements and len(judgements) != len(systems):
        files = plural(len(judgements), "file")
        raise UsageError(
            f"--judgements: {files} for {plural(len(systems), 'system')}; give one for each, in their order"
        )
    if options.items is not None:
        checked(options.items, (*systems, reference, *judgements))
    names, marked, profiles, signatures = system_names(systems), [], [], []
    for number, path in enumerate(systems):
        own = dataclasses.replace(options, judgements=judgements[number]) if judgements else options
        with naming(names[number], len(names) > 1):
            sides = read_answers(path, reference, own, format, reference_format)
            found = _MARKING.get(sides.profile, _so_bench)(sides, own)
        marked.append(dataclasses.replace(found, notices=(*sides.notices, *found.notices)))
        signatures.append(signed(sides, own))
        profiles.append(sides.profile)
    if len(set(profiles)) > 1:
        raise DataError(
            f"the systems are scored in different ways ({', '.join(dict.fromkeys(profiles))}): use --profile"
        )
    if options.items is not None:
        write(options.items, dict(zip(names, (one.verdicts for one in marked), strict=True)), profiles[0])
    marked, left_out = _common(marked, options.allow_missing)
    columns = marked[0].columns
    contest = _contest(names, marked, draw, against, measured(columns, lead or columns[0].name, "--lead"))
    plain = contest.binary.all() and draw.over == "questions"
    apart = "Bonett and Price's method" if plain else "paired bootstrap"
    how = "Wilson" if plain else f"bootstrap over {draw.over}"
    tables = [contest.overall(f"overall, 95 % confidence intervals ({how})")]
    if len(names) > 1:
        tables += [contest.differences(apart), contest.tests(), contest.ranking(), *_discordant(contest)]
        tables += [*_by_group(contest, marked, draw), *_questions(contest, marked, most)]
    else:
        tables += _shares_by_group(contest, marked[0], draw)
    settings = contest.settings(draw) | {"allow_missing": options.allow_missing}
    if sides.profile not in _MARKING:
        settings |= {"join": options.join, "offline": options.offline, "judgements": bool(judgements)}
    told = [*same_systems(names, systems, lambda a, b: np.array_equal(marked[a].values, marked[b].values),
                          "the same marks for every question")]  # fmt: skip
    told += [
        *disagreeing(each for table in tables for each in _tested(table)),
        *_about_questions(contest, marked[0], left_out, draw),
        *contest.notices(),
    ]
    grave = [[each for each in one.notices if each.grave or each.first] for one in marked]
    told += said_of([clipped(name, 60) for name in names], grave)
    one = len(names) == 1
    head = path_of(systems[0]) if one else f"comparison of {plural(len(names), 'system')}"
    over = plural(len(marked[0].items), "question")
    signature = str(of_comparison(signatures, dataclasses.asdict(draw)))
    verdict = "" if one else contest.verdict()
    return ScoreReport(
        head,
        profiles[0],
        marked[0].title,
        over,
        tuple(tables),
        in_order(told),
        settings,
        signature,
        verdict,
        contest.columns[contest.lead].name,
    )


def _common(marked: Sequence[MarkedAnswers], allow_missing: bool) -> tuple[list[MarkedAnswers], int]:
    """The questions that all systems were asked, and if some may be missing, that all of them answer."""
    kept = set.intersection(*(
        {id for id, there in zip(each.items, each.there, strict=True) if there or not allow_missing} for each in marked
    ))  # fmt: skip
    if not kept:
        raise DataError("the systems have no question in common: nothing can be compared")
    order = sorted(kept)
    found = []
    for each in marked:
        place = {id: number for number, id in enumerate(each.items)}
        found.append(each.take(np.array([place[id] for id in order])))
    return found, len(set().union(*(each.items for each in marked))) - len(kept)


@dataclasses.dataclass(frozen=True)
class AnswerContest(Contest):
    """Systems with what their answers are worth."""

    marks: Floats = dataclasses.field(default_factory=lambda: np.zeros((0, 0, 0)))  # [questions, systems, columns]

    @property
    def binary(self) -> NDArray[np.bool_]:
        """Of each column, whether an answer is right or wrong and nothing between."""
        return np.asarray(((self.marks == 0) | (self.marks == 1)).all(axis=(0, 1)))


def _contest(
    names: tuple[str, ...], marked: Sequence[MarkedAnswers], draw: Resampling, against: Against, lead: int
) -> AnswerContest:
    marks = np.stack([each.values for each in marked], axis=1)
    count, systems, columns = marks.shape
    unit_of = _units(marked[0], draw)
    units = int(unit_of.max()) + 1
    sums = np.zeros((units, systems * columns))
    np.add.at(sums, unit_of, marks.reshape(count, -1))
    sizes = np.bincount(unit_of, minlength=units).astype(np.float64)
    drawn = np.concatenate(
        [(batch @ sums) / (batch @ sizes)[:, None] for batch in weights(draw, np.arange(units))]
    ).reshape(-1, systems, columns)
    binary = ((marks == 0) | (marks == 1)).all(axis=(0, 1)) & (draw.over == "questions")
    ends = np.stack(interval(drawn, units))
    for system in range(systems):
        for column in np.flatnonzero(binary):
            ends[:, system, column] = wilson(int(marks[:, system, column].sum()), count)
    pairs = list(combinations(range(systems), 2))
    p, apart = np.zeros((len(pairs), columns)), np.zeros((2, len(pairs), columns))
    for number, (one, other) in enumerate(pairs):
        p[number], apart[:, number] = _paired(marks[:, one], marks[:, other], binary, unit_of, draw)
        graded = ~binary
        apart[:, number, graded] = np.stack(interval(drawn[:, other] - drawn[:, one], units))[:, graded]
    test = "exact McNemar test" if binary.all() else f"paired permutation test over {draw.over}"
    return AnswerContest(
        names, marked[0].columns, marks.mean(axis=0), drawn, p, units, draw.over, test, lead, against, ends, apart,
        marks=marks,
    )  # fmt: skip


def _units(marked: MarkedAnswers, draw: Resampling) -> Ints:
    """The unit of each question."""
    return numbered(marked.clips) if draw.over == "clips" else np.arange(len(marked.items))


def _paired(
    one: Floats, other: Floats, binary: NDArray[np.bool_], unit_of: Ints, draw: Resampling
) -> tuple[Floats, Floats]:
    """P-values of the columns, and the intervals of the differences of binary ones."""
    p, ends = np.zeros(one.shape[1]), np.zeros((2, one.shape[1]))
    for column in np.flatnonzero(binary):
        first, second = int((one > other)[:, column].sum()), int((other > one)[:, column].sum())
        p[column], ends[:, column] = mcnemar(first, second), paired_difference(first, second, len(one))
    if not binary.all():
        apart = np.zeros((int(unit_of.max()) + 1, one.shape[1]))
        np.add.at(apart, unit_of, (other - one) / len(one))
        exchanged = p_value(apart.sum(axis=0), lambda sides: (1 - 2 * sides) @ apart, draw, np.arange(len(apart)))
        p[~binary] = exchanged[~binary]
    return p, ends


# --- tables --------------------------------------------------------------------------------------------------------


def _discordant(contest: AnswerContest) -> Iterator[Table]:
    """How many questions which system has right, where answers are right or wrong."""
    lead = contest.lead
    if not contest.binary[lead]:
        return
    rows: list[tuple[Cell, ...]] = []
    for one, other in contest.pairs:
        a, b = contest.marks[:, one, lead] == 1, contest.marks[:, other, lead] == 1
        rows.append((contest.named((one, other)), *(int(each.sum()) for each in (a & b, ~a & b, a & ~b, ~a & ~b))))
    heads = (
        Column("pair", "difference"),
        Column("both", "both", "", 0, None, "questions that both have right"),
        Column(
            "only_second", "only the first named", "", 0, None, "questions that only the system named first has right"
        ),
        Column(
            "only_first", "only the second named", "", 0, None, "those that only the system after the minus has right"
        ),
        Column("neither", "neither", "", 0, None, "questions that neither has right"),
    )
    yield Table("discordant", f"who is right, by {contest.columns[lead].title}", heads, tuple(rows))


_COUNT = Column("items", "questions", "", 0, None, "number of questions in this row")


def _groups(marked: MarkedAnswers) -> Iterator[tuple[str, dict[str, Ints]]]:
    for name, labels in marked.groups.items():
        rows: dict[str, list[int]] = {}
        for number, label in enumerate(labels):
            if label is not None:
                rows.setdefault(label, []).append(number)
        if len(rows) > 1:
            yield name, {label: np.array(rows[label]) for label in sorted(rows)}


def _by_group(contest: AnswerContest, marked: Sequence[MarkedAnswers], draw: Resampling) -> Iterator[Table]:
    """The differences of the first measure in each group of questions."""
    column = contest.columns[contest.lead]
    for place, (name, groups) in enumerate(_groups(marked[0])):
        cells: dict[str, list[Cell]] = {label: [] for label in groups}
        p = []
        for pair in contest.pairs:
            for label, rows in groups.items():
                value, low, high, chance = _difference(contest, pair, rows, marked[0], draw)
                difference, least, most = (np.array([number]) for number in (value, low, high))
                cells[label] += interval_cells(difference, least, most, len(rows) >= FEWEST, len(rows) < ENOUGH)
                p.append(chance)
        adjusted = holm(np.array(p)).reshape(len(contest.pairs), -1)
        body: list[tuple[Cell, ...]] = []
        for number, (label, rows) in enumerate(groups.items()):
            values = contest.marks[rows][:, :, contest.lead].mean(axis=0).tolist()
            tests = [
                each for at in range(len(contest.pairs)) for each in (cells[label][at], float(adjusted[at, number]))
            ]
            body.append((label, len(rows), *values, *tests))
        heads = [dataclasses.replace(column, name=f"{column.name}_{number}", title=f"{column.title}, {system}")
                 for number, system in enumerate(contest.systems, 1)]  # fmt: skip
        for number, pair in enumerate(contest.pairs, 1):
            text = "p-value with Holm's correction over all rows and pairs of this table"
            heads.append(
                dataclasses.replace(column, name=f"difference_{number}", title=contest.headed("difference", pair))
            )
            heads.append(Column(f"p_holm_{number}", contest.headed("p (Holm)", pair), "", 4, None, text))
        title = f"differences of {column.title} by {name.replace('_', ' ')}"
        head = Column(name, name.replace("_", " "))
        yield Table(name, title, (head, _COUNT, *heads), tuple(body), aside=place > 0)


def _difference(
    contest: AnswerContest, pair: tuple[int, int], rows: Ints, marked: MarkedAnswers, draw: Resampling
) -> tuple[float, float, float, float]:
    """The difference in some questions, its interval, and its p-value."""
    one, other = (contest.marks[rows, system, contest.lead] for system in pair)
    if contest.binary[contest.lead] and draw.over == "questions":
        first, second = int((one > other).sum()), int((other > one).sum())
        ends = paired_difference(first, second, len(rows))
        return float((other - one).mean()), *ends, mcnemar(first, second)
    unit_of = _units(marked.take(rows), draw)
    units = int(unit_of.max()) + 1
    sums, sizes = np.bincount(unit_of, weights=other - one), np.bincount(unit_of).astype(np.float64)
    drawn = np.concatenate([(batch @ sums) / (batch @ sizes) for batch in weights(draw, np.arange(units))])
    low, high = interval(drawn, units)
    observed = np.array([sums.sum() / len(rows)])
    p = p_value(observed, lambda sides: ((1 - 2 * sides) @ sums / len(rows))[:, None], draw, np.arange(units))
    return float(observed[0]), float(low), float(high), float(p[0])


def _shares_by_group(contest: AnswerContest, marked: MarkedAnswers, draw: Resampling) -> Iterator[Table]:
    """The measures of one system in each group of questions, with intervals."""
    for place, (name, groups) in enumerate(_groups(marked)):
        body = []
        for label, rows in groups.items():
            part = _contest(contest.systems, [marked.take(rows)], draw, "all", contest.lead)
            assert part.ends is not None
            body.append((label, len(rows), *part.cells(part.values[0], *part.ends[:, 0])))
        head = Column(name, name.replace("_", " "))
        yield Table(
            name, f"by {name.replace('_', ' ')}", (head, _COUNT, *contest.columns), tuple(body), aside=place > 0
        )


def _questions(contest: AnswerContest, marked: Sequence[MarkedAnswers], most: int) -> Iterator[Table]:
    """Some of the questions that the systems differ in, the greatest differences first."""
    values = contest.marks[:, :, contest.lead]
    apart = values.max(axis=1) - values.min(axis=1)
    order = [number for number in np.argsort(-apart, kind="stable")[:most].tolist() if apart[number] > 0]
    if not order:
        return
    column = contest.columns[contest.lead]
    heads = [dataclasses.replace(column, name=f"{column.name}_{number}", title=f"{column.title}, {system}")
             for number, system in enumerate(contest.systems, 1)]  # fmt: skip
    rows = tuple((marked[0].items[number], *values[number].tolist()) for number in order)
    count = int((apart > 0).sum())
    title = f"{len(order):,} of {plural(count, 'question')} that the systems differ in"
    yield Table("questions", title, (Column("id", "question"), *heads), rows, aside=True)


def _tested(table: Table) -> Iterator[tuple[str, Cell, float]]:
    """The differences of a table by group, with their p-values."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    for name, place in places.items():
        p = places.get(name.replace("difference_", "p_holm_"), place)
        if p != place:
            yield from ((str(row[0]), row[place], float(str(row[p]))) for row in table)


# --- notices -------------------------------------------------------------------------------------------------------


def _about_questions(
    contest: AnswerContest, marked: MarkedAnswers, left_out: int, draw: Resampling
) -> Iterator[Notice]:
    if left_out:
        text = f"compared over the questions that all systems answer; {plural(left_out, 'question')} left out"
        yield Notice("common-questions", text, grave=True)
    clips = len(set(marked.clips))
    if draw.over == "questions" and clips < len(marked.clips):
        text = f"{plural(len(marked.clips), 'question')} about {plural(clips, 'clip')}: those about one clip are "
        yield Notice("same-clips", f"{text}alike, and --over clips allows for that")
    if contest.test.startswith("paired") and contest.binary.any() and draw.over == "questions":
        yield Notice("graded", "answers that are partly right are compared by a permutation test instead of McNemar's")
