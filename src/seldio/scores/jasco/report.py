"""The tables of a JASCO score, and what there is to know about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from seldio.formats.about import about
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores import intervals
from seldio.scores.jasco.count import NAN_TEXTS, AnswerMarks, JascoCase, count, join
from seldio.scores.jasco.judging import Mode, Vocabulary, parse
from seldio.scores.judge import Judgement, JudgeRequest, JudgeTally, Reply
from seldio.scores.verdicts import ReplyVerdict, of_jasco
from seldio.text import clipped, listed, plural


def notices(case: JascoCase, *, own_wording: bool = False) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; *own_wording*: whether the judge was asked in seldio's words."""
    found: list[Notice] = []
    if case.official.crash:
        found.append(Notice("crash", f"eval.py ends with {case.official.crash}; {_both_means(case)}", grave=True))
    found += [*_missing(case), *_no_verdict(case)]
    for name, (rows, what) in _faults(case).items():
        if rows:
            found.append(_fault(case, name, rows, what))
    nan = sum(text in NAN_TEXTS for text in case.texts)
    if nan:
        text = f"{plural(nan, 'judge text')} empty or, like None and NA, NaN to pandas: eval.py ends "
        found.append(Notice("nan-text", text + "with TypeError there", grave=True))
    outputs = [row for row in case.rows if (row.prediction or "") in NAN_TEXTS]
    if outputs:
        text = (
            f"{plural(len(outputs), 'output')} empty or, like None and NA, NaN to pandas: eval.py shows its judge nan "
            f"in its place (first: item {clipped(outputs[0].id or '', 20)})"
        )
        found.append(Notice("nan-output", text))
    scales = [one.scale for one in case.read if one.scale is not None]
    if scales:
        text = (
            f"{plural(len(scales), 'judge text')} with a scale that was not asked for, out of "
            f"{listed([str(scale) for scale in sorted(set(scales))])}; the number before it is used as it is"
        )
        found.append(Notice("other-scale", text, grave=True))
    if own_wording:
        text = (
            "the judge was asked in seldio's words and replied in JSON, by fewer rules than JASCO's own judge: compare "
            "only systems that were judged by the same model in the same words"
        )
        found.append(Notice("own-wording", text))
    return in_order(found)


def _both_means(case: JascoCase) -> str:
    there = "a crash" if case.official.best_mean is None else f"{case.official.best_mean:.3f}"
    return f"best-mean by eval.py {there}, corrected {case.best_mean():.3f}"


def _faults(case: JascoCase) -> dict[str, tuple[Sequence[int], str]]:
    """By notice: the rows on which eval.py shows a fault, and which."""
    official = [parse(text, "eval.py") for text in case.texts]
    pairs = list(enumerate(zip(official, case.read, strict=True)))
    digits = [n for n, (one, other) in pairs if one.rating is not None and one.rating != other.rating]
    quoted = [n for n, (one, other) in pairs if one.orientation is not None and one.orientation != other.orientation]
    least = case.official_least.best_mean
    return {
        "stale-rating": (
            case.official.stale,
            'without "Rating: ", which eval.py scores with the rating of the row before, even of another item',
        ),
        "misread-rating": (
            digits,
            (
                'whose "Rating: " line eval.py misreads: it looks for any 0, then 1, then 2 in the line, so that '
                '"2 (out of 10)" and "1.0" are 0'
            ),
        ),
        "quoted-orientation": (
            quoted,
            'with several "Orientation: ": eval.py takes Neither before Audio, Speech and Good, wherever it is',
        ),
        "second-call": (
            case.official.reasked,
            (
                "whose orientation eval.py does not find and asks its judge for again; taken here as the corrected "
                f"reading finds it (if no second reply could be read: {'a crash' if least is None else f'{least:.3f}'})"
            ),
        ),
    }


def _fault(case: JascoCase, name: str, rows: Sequence[int], what: str) -> Notice:
    """A fault of eval.py on *rows*: grave if it gives any of them other points or an orientation."""
    points, orientations = case.official.points, case.official.orientations
    wrong = sum(row in points and points[row] != case.read[row].points for row in rows)
    turned = any(row in orientations and orientations[row] != case.read[row].orientation for row in rows)
    text = (
        f"{plural(len(rows), 'judge text')} {what} (first: item {clipped(case.rows[rows[0]].id or '', 20)}); "
        f"{plural(wrong, 'row')} with other points; {_both_means(case)}"
    )
    return Notice(name, text, grave=bool(wrong) or turned)


def _no_verdict(case: JascoCase) -> Iterator[Notice]:
    rows = [number for number, one in enumerate(case.read) if not one.complete]
    if not rows:
        return
    shown = next((case.texts[row] for row in rows if case.texts[row].strip()), "")
    text = (
        f"{len(rows):,} of {plural(len(case.read), 'judge text')} hold no verdict and count 0 (first: item "
        f"{clipped(case.rows[rows[0]].id or '', 20)}); were each a 2, best-mean would be {case.best_mean(2):.3f}, "
        f"not {case.best_mean():.3f}" + (f"; e.g. {clipped(shown, 80)}" if shown else "")
    )
    yield Notice("no-verdict", text, grave=True)


def _missing(case: JascoCase) -> Iterator[Notice]:
    covered = case.covered
    if covered.lacking:
        missing = len(covered.missing)
        worth = case.best_mean() * len(case.items) / (len(case.items) + missing)
        text = f"{'; '.join(covered.lacking)}: not comparable with complete files" + (
            f"; with 0 for missing items best-mean would be {worth:.3f}" if missing else ""
        )
        yield Notice("coverage", text, grave=True)
    if covered.other_answers:
        rows = plural(covered.other_answers, "row")
        yield Notice("other-answers", f"{rows} with another right answer (tgt_text) than the questions", grave=True)


# --- tables ----------------------------------------------------------------------------------------

#: The name and the title of the profile that shows a reading first.
_PROFILES: dict[Mode, tuple[str, str]] = {
    "corrected": ("jasco", "JASCO, the judge's texts read as they are meant"),
    "eval.py": ("jasco-eval.py", "JASCO, as its eval.py counts, with its faults"),
}
_BEST = Column("best_mean", "best-mean", "", 3, "higher", "mean over items of the best answer, 0 to 2")
_MEAN = Column("mean", "mean", "", 3, "higher", "mean over all answers, 0 to 2")
_SHARES = (
    Column("audio", "Audio", "%", 1, None, "rest on the sound alone, of those with an orientation"),
    Column("both", "Both", "%", 1, "higher", "rest on sound and speech"),
    Column("speech", "Speech", "%", 1, None, "rest on the speech alone"),
)
_OTHERS = (
    Column("neither", "Neither", "%", 1, "lower", "without a conclusion, of all answers"),
    Column("no_verdict", "no verdict", "%", 1, "lower", "judge's texts that cannot be read, of all answers; worth 0"),
)
_ROWS = Column("answers", "answers", "", 0, None, "answers counted")


def score(
    predictions: Sequence[Prediction],
    items: Sequence[Item] | None = None,
    *,
    mode: Mode = "corrected",
    system: str = "predictions",
    judge: Callable[[Sequence[JudgeRequest]], Sequence[Reply]] | None = None,
    judgements: Mapping[str, Judgement] | None = None,
    vocabulary: Vocabulary = "Both",
    prompt: str = "seldio",
    allow_missing: bool = False,
    by_item: bool = False,
    published: bool = False,
    tally: JudgeTally | None = None,
    settings: Mapping[str, str | float | int | bool | None] | None = None,
    take: Callable[[Iterator[ReplyVerdict]], object] | None = None,
) -> ScoreReport:
    """The score of a model's outputs.

    Args:
        predictions: of a ``jasco-predictions`` file; judged ones have the judge's text in ``llama3_extract``.
        items: the questions, to check ids and right answers by; None for JASCO's ids, 1 to 80.
        mode: which reading of the judge's texts comes first; both are shown.
        system: the name of what is scored.
        judge: asked about all predictions, e.g. ``Judge(...).ask``; None to use what the file holds.
        judgements: of an external judge, by item and number of the instruction, as ``17/3``; these come before others.
        vocabulary: for *judge*: what it calls the orientation to both.
        prompt: for *judge*: the words that it is asked in, one of :data:`~seldio.scores.jasco.judging.PROMPTS`.
        allow_missing: score an incomplete set of answers.
        by_item: with a table of items.
        published: with a table of published scores.
        tally: what *judge* counts, to be shown.
        settings: to be shown, e.g. the judge's model.
        take: is handed the verdicts on all answers.

    Raises:
        UsageError: there are no judgements, and no judge to ask.
        DataError: predictions or judgements are missing, repeated or of no item.
    """
    covered = join(predictions, items, allow_missing=allow_missing)
    case = count(
        predictions,
        covered,
        judge=judge,
        judgements=judgements,
        vocabulary=vocabulary,
        prompt=prompt,
        allow_missing=allow_missing,
    )
    if take is not None:
        take(of_jasco(case, case.marks(mode)))
    words = {"vocabulary": vocabulary} if prompt == "seldio" else {"prompt": prompt}
    shown = {"mode": mode} | (words if judge is not None else {}) | dict(settings or {})
    found = tables(case, mode=mode, by_item=by_item, published=published, tally=tally)
    over = f"{plural(len(case.items), 'item')}, {plural(len(case.rows), 'answer')}"
    told = notices(case, own_wording=judge is not None and prompt == "seldio")
    return ScoreReport(system, *_PROFILES[mode], over, found, told, shown)


def tables(
    case: JascoCase, *, mode: Mode = "corrected", by_item: bool = False, published: bool = False,
    tally: JudgeTally | None = None,
) -> tuple[Table, ...]:  # fmt: skip
    """The tables of a case; *tally* is what its judge has counted."""
    marks = case.marks(mode)
    best = np.array([marks.best(rows) for rows in case.items.values()])
    sure = intervals.table(_BEST, best[~np.isnan(best)], np.flatnonzero(~np.isnan(best)), {}, "items")
    found = [_overall(case, mode), _prompts(case, marks)]
    if by_item:
        found.append(_items(case, marks))
    if published:
        known, columns = about("jasco").results[0], (_BEST, *_SHARES)
        rows = ((row["system"], *(known.cell(row, column.name) for column in columns)) for row in known.rows)
        found.append(Table("published", known.title, (Column("system", "system"), *columns), tuple(rows)))
    found += [sure] if sure.rows else []
    return (*found, *([tally.table()] if tally is not None else ()))


def _overall(case: JascoCase, mode: Mode) -> Table:
    """Both readings, the one that was asked for first."""
    whole = list(range(len(case.rows)))
    corrected = case.marks("corrected")
    rows: dict[Mode, tuple[Cell, ...]] = {
        "corrected": ("corrected", case.best_mean(), corrected.mean(whole), *_shares(corrected, whole)),
        "eval.py": _official_row(case, whole),
    }
    other: Mode = "eval.py" if mode == "corrected" else "corrected"
    columns = (Column("reading", "reading"), _BEST, _MEAN, *_SHARES, *_OTHERS)
    return Table("overall", "overall, in both readings", columns, (rows[mode], rows[other]))


def _official_row(case: JascoCase, whole: Sequence[int]) -> tuple[Cell, ...]:
    """What eval.py prints, to the last digit; NaN where it crashes before."""
    end, marks = case.official, case.marks("eval.py")
    if end.best_mean is None:
        return ("eval.py", *(math.nan for _ in range(7)))
    shares = end.shares or (math.nan, math.nan, math.nan)
    return ("eval.py", end.best_mean, marks.mean(whole), *shares, *_shares(marks, whole)[3:])


def _shares(marks: AnswerMarks, rows: Sequence[int]) -> tuple[float, ...]:
    """Audio, Both and Speech among those with one of these; Neither and no verdict among all."""
    counts = marks.counts(rows)
    known, total = counts["A"] + counts["G"] + counts["S"], sum(counts.values())
    oriented = tuple(counts[kind] / known if known else math.nan for kind in ("A", "G", "S"))
    return (*oriented, *(counts[kind] / total if total else math.nan for kind in ("N", None)))


def _prompts(case: JascoCase, marks: AnswerMarks) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_prompt_name(prompt), len(numbers), marks.mean(numbers), *_shares(marks, numbers))
        for prompt, numbers in case.prompts.items()
    )
    return Table("prompts", "by instruction", (Column("prompt", "instruction"), _ROWS, _MEAN, *_SHARES, *_OTHERS), rows)


def _prompt_name(prompt: str) -> str:
    number = f"{INSTRUCTIONS.index(prompt) + 1}. " if prompt in INSTRUCTIONS else ""
    return number + clipped(prompt, 200)


def _items(case: JascoCase, marks: AnswerMarks) -> Table:
    names = ("Audio", "Both", "Speech", "Neither", "no verdict")
    counted = tuple(Column(name.lower().replace(" ", "_"), name, "", 0) for name in names)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (id, len(numbers), marks.best(numbers), marks.mean(numbers), *marks.counts(numbers).values())
        for id, numbers in case.items.items()
    )
    best = Column("best", "best", "", 0, "higher", "points of the best answer")
    return Table("items", "by item", (Column("item", "item"), _ROWS, best, _MEAN, *counted), rows)
