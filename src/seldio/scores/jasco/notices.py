"""What there is to know about a JASCO score: where ``eval.py`` and the corrected reading part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from seldio.scores.jasco.official import NAN_TEXTS
from seldio.scores.jasco.parsing import parse
from seldio.scores.result import Notice
from seldio.text import clipped, listed, plural

if TYPE_CHECKING:
    from seldio.scores.jasco.scoring import Case


def notices(case: Case, *, own_wording: bool = False) -> tuple[Notice, ...]:
    """All that apply, the grave ones first; *own_wording*: whether the judge was asked in seldio's words."""
    found = [notice for check in _CHECKS for notice in check(case)]
    if own_wording:
        text = (
            "the judge was asked in seldio's words and replied in JSON, by fewer rules than JASCO's own judge: compare "
            "only systems that were judged by the same model in the same words"
        )
        found.append(Notice("own-wording", text))
    return tuple(sorted(found, key=lambda notice: not notice.grave))


def _numbers(case: Case) -> str:
    """best-mean in both readings."""
    there = "a crash" if case.official.best_mean is None else f"{case.official.best_mean:.3f}"
    return f"best-mean by eval.py {there}, corrected {case.best_mean():.3f}"


def _differing(case: Case, rows: Sequence[int]) -> int:
    """How many of *rows* eval.py gives other points."""
    points = case.official.points
    return sum(row in points and points[row] != case.read[row].points for row in rows)


def _fault(case: Case, name: str, rows: Sequence[int], what: str) -> Iterator[Notice]:
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


def _crash(case: Case) -> Iterator[Notice]:
    if case.official.crash:
        yield Notice("crash", f"eval.py ends with {case.official.crash}; {_numbers(case)}", grave=True)


def _nan(case: Case) -> Iterator[Notice]:
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


def _stale(case: Case) -> Iterator[Notice]:
    what = 'without "Rating: ", which eval.py scores with the rating of the row before, even of another item'
    yield from _fault(case, "stale-rating", case.official.stale, what)


def _digits(case: Case) -> Iterator[Notice]:
    rows = []
    for number, text in enumerate(case.texts):
        official, corrected = parse(text, "eval.py").rating, case.read[number].rating
        if official is not None and official != corrected:
            rows.append(number)
    what = 'whose "Rating: " line eval.py misreads: it looks for any 0, then 1, then 2 in the line'
    yield from _fault(case, "misread-rating", rows, what + ', so that "2 (out of 10)" and "1.0" are 0')


def _quoted(case: Case) -> Iterator[Notice]:
    rows = []
    for number, text in enumerate(case.texts):
        official = parse(text, "eval.py").orientation
        if official is not None and official != case.read[number].orientation:
            rows.append(number)
    what = 'with several "Orientation: ": eval.py takes Neither before Audio, Speech and Good, wherever it stands'
    yield from _fault(case, "quoted-orientation", rows, what)


def _second_call(case: Case) -> Iterator[Notice]:
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


def _no_verdict(case: Case) -> Iterator[Notice]:
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


def _scale(case: Case) -> Iterator[Notice]:
    rows = [number for number, one in enumerate(case.read) if one.scale is not None]
    if rows:
        scales = sorted({case.read[row].scale or 0 for row in rows})
        text = (
            f"{plural(len(rows), 'judge text')} with a scale that was not asked for, out of "
            f"{listed([str(scale) for scale in scales])}; the number before it is taken as it stands"
        )
        yield Notice("other-scale", text, grave=True)


def _missing(case: Case) -> Iterator[Notice]:
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


_CHECKS: tuple[Callable[[Case], Iterator[Notice]], ...] = (
    _crash, _missing, _no_verdict, _stale, _digits, _quoted, _second_call, _nan, _scale,
)  # fmt: skip
