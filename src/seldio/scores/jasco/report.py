"""The tables of a JASCO score, and what there is to know about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.reports.tables import Cell, Column, Notice, ScoreReport, Table, in_order
from seldio.schema.qa import Item, Prediction
from seldio.scores.jasco.judging import Mode, Vocabulary, parse
from seldio.scores.jasco.scoring import NAN_TEXTS, AnswerMarks, JascoCase, prepare
from seldio.scores.judge import Judgement, JudgeRequest, JudgeTally, Reply
from seldio.text import clipped, listed, plural

if TYPE_CHECKING:
    from seldio.scores.jasco.scoring import JascoCase


def notices(case: JascoCase, *, own_wording: bool = False) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; *own_wording*: whether the judge was asked in seldio's words."""
    found = [notice for check in _CHECKS for notice in check(case)]
    if own_wording:
        text = (
            "the judge was asked in seldio's words and replied in JSON, by fewer rules than JASCO's own judge: compare "
            "only systems that were judged by the same model in the same words"
        )
        found.append(Notice("own-wording", text))
    return in_order(found)


def _numbers(case: JascoCase) -> str:
    """best-mean in both readings."""
    there = "a crash" if case.official.best_mean is None else f"{case.official.best_mean:.3f}"
    return f"best-mean by eval.py {there}, corrected {case.best_mean():.3f}"


def _differing(case: JascoCase, rows: Sequence[int]) -> int:
    """How many of *rows* eval.py gives other points."""
    points = case.official.points
    return sum(row in points and points[row] != case.read[row].points for row in rows)


def _fault(case: JascoCase, name: str, rows: Sequence[int], what: str) -> Iterator[Notice]:
    """A fault of eval.py on *rows*: grave if it gives any of them other points or an orientation."""
    if not rows:
        return
    wrong = _differing(case, rows)
    turned = sum(
        row in case.official.orientations and case.official.orientations[row] != case.read[row].orientation
        for row in rows
    )
    example = case.rows[rows[0]]
    text = (
        f"{plural(len(rows), 'judge text')} {what} (first: item {clipped(example.id or '', 20)}); "
        f"{plural(wrong, 'row')} with other points; {_numbers(case)}"
    )
    yield Notice(name, text, grave=bool(wrong or turned))


def _crash(case: JascoCase) -> Iterator[Notice]:
    if case.official.crash:
        yield Notice("crash", f"eval.py ends with {case.official.crash}; {_numbers(case)}", grave=True)


def _nan(case: JascoCase) -> Iterator[Notice]:
    rows = [number for number, text in enumerate(case.texts) if text in NAN_TEXTS]
    if rows:
        text = f"{plural(len(rows), 'judge text')} empty or, like None and NA, NaN to pandas: eval.py ends "
        text += "with TypeError there"
        yield Notice("nan-text", text, grave=True)
    outputs = [row for row in case.rows if (row.prediction or "") in NAN_TEXTS]
    if outputs:
        text = (
            f"{plural(len(outputs), 'output')} empty or, like None and NA, NaN to pandas: eval.py shows its judge nan "
            f"in its place (first: item {clipped(outputs[0].id or '', 20)})"
        )
        yield Notice("nan-output", text)


def _stale(case: JascoCase) -> Iterator[Notice]:
    what = 'without "Rating: ", which eval.py scores with the rating of the row before, even of another item'
    yield from _fault(case, "stale-rating", case.official.stale, what)


def _digits(case: JascoCase) -> Iterator[Notice]:
    rows = []
    for number, text in enumerate(case.texts):
        official, corrected = parse(text, "eval.py").rating, case.read[number].rating
        if official is not None and official != corrected:
            rows.append(number)
    what = 'whose "Rating: " line eval.py misreads: it looks for any 0, then 1, then 2 in the line'
    yield from _fault(case, "misread-rating", rows, what + ', so that "2 (out of 10)" and "1.0" are 0')


def _quoted(case: JascoCase) -> Iterator[Notice]:
    rows = []
    for number, text in enumerate(case.texts):
        official = parse(text, "eval.py").orientation
        if official is not None and official != case.read[number].orientation:
            rows.append(number)
    what = 'with several "Orientation: ": eval.py takes Neither before Audio, Speech and Good, wherever it stands'
    yield from _fault(case, "quoted-orientation", rows, what)


def _second_call(case: JascoCase) -> Iterator[Notice]:
    rows = case.official.reasked
    if not rows:
        return
    least = case.official_least
    low = "a crash" if least.best_mean is None else f"{least.best_mean:.3f}"
    what = (
        "whose orientation eval.py does not find and asks its judge for again; taken here as the corrected reading "
        f"finds it (if no second reply could be read: {low})"
    )
    yield from _fault(case, "second-call", rows, what)


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


def _scale(case: JascoCase) -> Iterator[Notice]:
    rows = [number for number, one in enumerate(case.read) if one.scale is not None]
    if rows:
        scales = sorted({case.read[row].scale or 0 for row in rows})
        text = (
            f"{plural(len(rows), 'judge text')} with a scale that was not asked for, out of "
            f"{listed([str(scale) for scale in scales])}; the number before it is taken as it stands"
        )
        yield Notice("other-scale", text, grave=True)


def _missing(case: JascoCase) -> Iterator[Notice]:
    covered = case.covered
    if covered.lacking:
        missing = len(covered.missing)
        worth = case.best_mean() * len(case.items) / (len(case.items) + missing)
        text = f"{'; '.join(covered.lacking)}: not comparable with whole files" + (
            f"; with 0 for missing items best-mean would be {worth:.3f}" if missing else ""
        )
        yield Notice("coverage", text, grave=True)
    if covered.other_answers:
        rows = plural(covered.other_answers, "row")
        yield Notice("other-answers", f"{rows} with another right answer (tgt_text) than the questions", grave=True)


_CHECKS: tuple[Callable[[JascoCase], Iterator[Notice]], ...] = (
    _crash, _missing, _no_verdict, _stale, _digits, _quoted, _second_call, _nan, _scale,
)  # fmt: skip


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
#: README of JASCO: best-mean, then Audio-, Both- and Speech-Dependence.
PUBLISHED = (
    ("WavLLM-7B", 0.49, 0.09, 0.17, 0.74),
    ("LTU-AS-7B", 1.04, 0.19, 0.49, 0.32),
    ("SALMONN-7B", 1.21, 0.27, 0.48, 0.25),
    ("Qwen2-Audio-Instruct-7B", 1.38, 0.13, 0.56, 0.31),
)


def score(
    predictions: Sequence[Prediction],
    items: Sequence[Item] | None = None,
    *,
    mode: Mode = "corrected",
    system: str = "predictions",
    judge: Callable[[Sequence[JudgeRequest]], Sequence[Reply]] | None = None,
    judgements: Mapping[str, Judgement] | None = None,
    vocabulary: Vocabulary = "Both",
    allow_missing: bool = False,
    by_item: bool = False,
    published: bool = False,
    tally: JudgeTally | None = None,
    settings: Mapping[str, str | float | int | bool | None] | None = None,
) -> ScoreReport:
    """The score of a model's outputs.

    Args:
        predictions: of a ``jasco-predictions`` file; judged ones have the judge's text in ``llama3_extract``.
        items: the questions, to check ids and right answers by; None for JASCO's ids, 1 to 80.
        mode: which reading of the judge's texts stands first; both are shown.
        system: the name of what is scored.
        judge: asked about all predictions, e.g. ``Judge(...).ask``; None to use what the file holds.
        judgements: made elsewhere, by item and number of the instruction, as ``17/3``; these come before others.
        vocabulary: for *judge*: what it calls the orientation to both.
        allow_missing: score what is there.
        by_item: with a table of items.
        published: with a table of published scores.
        tally: what *judge* counts, to be shown.
        settings: to be shown, e.g. the judge's model.

    Raises:
        UsageError: there are no judgements, and no judge to ask.
        DataError: predictions or judgements are missing, repeated or of no item.
    """
    case = prepare(
        predictions, items, judge=judge, judgements=judgements, vocabulary=vocabulary, allow_missing=allow_missing
    )
    shown = {**({"vocabulary": vocabulary} if judge is not None else {}), **(settings or {})}
    return report(
        case, mode=mode, system=system, by_item=by_item, published=published, tally=tally,
        own_wording=judge is not None, settings=shown,
    )  # fmt: skip


def report(
    case: JascoCase,
    *,
    mode: Mode = "corrected",
    system: str = "predictions",
    by_item: bool = False,
    published: bool = False,
    tally: JudgeTally | None = None,
    own_wording: bool = False,
    settings: Mapping[str, str | float | int | bool | None] | None = None,
) -> ScoreReport:
    """The report of a case; *own_wording*: whether the judge was asked in seldio's words."""
    marks = case.marks(mode)
    tables = [_overall(case, mode), _prompts(case, marks)]
    if by_item:
        tables.append(_items(case, marks))
    if published:
        tables.append(_published())
    if tally is not None:
        tables.append(tally.table())
    over = f"{plural(len(case.items), 'item')}, {plural(len(case.rows), 'answer')}"
    found = notices(case, own_wording=own_wording)
    return ScoreReport(system, *_PROFILES[mode], over, tuple(tables), found, {"mode": mode, **(settings or {})})


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


def _published() -> Table:
    title = "published by JASCO, judge Llama-3.1-70B-Instruct; another judge or wording is not comparable"
    return Table("published", title, (Column("system", "system"), _BEST, *_SHARES), PUBLISHED)
