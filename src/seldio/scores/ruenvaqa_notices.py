"""What there is to know about a score of ruEnvAQA: where exact match and right answers part."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence

from seldio.scores.exact_match import after_answer_word, exact_match
from seldio.scores.joining import Joined
from seldio.scores.letters import CYRILLIC, Letter
from seldio.scores.result import Notice
from seldio.scores.shares import Measured
from seldio.text import clipped, listed, plural

#: Where lm-eval ends an answer: generate_until of a task without generation_kwargs.
UNTIL = "\n\n"
_CYRILLIC_OPTION = re.compile(rf"(?<!\w)[{''.join(CYRILLIC)}](?!\w)(?=,|\s*\.)")


@dataclasses.dataclass(frozen=True)
class Case:
    """What a notice may look at.

    Args:
        joined: questions and predictions.
        letters: of the predictions.
        measured: which of them are right.
    """

    joined: Joined
    letters: Sequence[Letter | None]
    measured: Measured

    def lost(self) -> Iterator[tuple[str, str, Letter]]:
        """Text, right letter and found letter of answers that give the right one and that exact match counts wrong."""
        for (item, row), found in zip(self.joined.pairs, self.letters, strict=True):
            text, right = (row.prediction or "") if row else "", item.answer or ""
            if found is not None and found.latin == right.strip().upper() and not exact_match(text, right):
                yield text, right, found


def notices(case: Case) -> tuple[Notice, ...]:
    """All that apply, the grave ones first."""
    found = [notice for check in _CHECKS for notice in check(case)]
    return tuple(sorted(found, key=lambda notice: not notice.grave))


def _missing(case: Case) -> Iterator[Notice]:
    if case.joined.missing:
        count = plural(len(case.joined.missing), "question")
        text = f"{count} without prediction, counted as wrong here; for MERA's server the whole task then scores 0"
        yield Notice("missing", text, grave=True)
    if case.joined.surplus:
        count = plural(len(case.joined.surplus), "prediction")
        text = (
            f"{count} without question ({listed(case.joined.surplus, 3)}) not counted; MERA's server ignores them too"
        )
        yield Notice("surplus", text)


def _repeated(case: Case) -> Iterator[Notice]:
    if case.joined.repeated:
        count, differ = plural(len(case.joined.repeated), "question"), len(case.joined.conflicting)
        text = (
            f"{count} with several predictions ({listed(case.joined.repeated, 3)}), {differ:,} of which differ: the "
            "last one counts, as on MERA's server, which does not say so"
        )
        yield Notice("repeated", text, grave=differ > 0)


def _order(case: Case) -> Iterator[Notice]:
    if case.joined.by_order:
        text = "the predictions have no ids and were joined line by line; MERA's server needs the id of each question"
        yield Notice("by-order", text, grave=True)


def _white_space(case: Case) -> Iterator[Notice]:
    spaced = [text for text, right, _ in case.lost() if exact_match(text.strip(), right)]
    if spaced:
        text = (
            f"{plural(len(spaced), 'right answer')} counted as wrong for the white space around the letter, like "
            f"{_quoted(spaced[0])}: strip what the model writes"
        )
        yield Notice("white-space", text, grave=True)


def _text_around(case: Case) -> Iterator[Notice]:
    around = [
        text
        for text, right, found in case.lost()
        if not found.cyrillic and not exact_match(text.strip(), right) and after_answer_word(text) is None
    ]
    if around:
        text = (
            f"{plural(len(around), 'right answer')} counted as wrong for what stands beside the letter, like "
            f"{_quoted(around[0])}: hand in the letter alone"
        )
        yield Notice("text-around", text, grave=True)


def _answer_word(case: Case) -> Iterator[Notice]:
    worded = [text for text, _, found in case.lost() if not found.cyrillic and after_answer_word(text) is not None]
    if worded:
        text = (
            f"{plural(len(worded), 'right answer')} counted as wrong for the word ОТВЕТ before the letter, like "
            f"{_quoted(worded[0])}, although most instructions ask for it: the published harness applies no filter, "
            "MERA's site does"
        )
        yield Notice("answer-word", text, grave=True)


def _cyrillic(case: Case) -> Iterator[Notice]:
    found = [letter for letter in case.letters if letter is not None and letter.cyrillic]
    if found:
        right = sum(letter.cyrillic for *_, letter in case.lost())
        told = sum(bool(_CYRILLIC_OPTION.search(item.instruction or "")) for item, _ in case.joined.pairs)
        text = (
            f"{plural(len(found), 'answer')} with a Cyrillic letter, {right:,} of which look right: exact match counts "
            f"all as wrong. Here the instructions of {plural(told, 'question')} call an option by a Cyrillic letter"
        )
        yield Notice("cyrillic-letters", text, grave=True)


def _cut(case: Case) -> Iterator[Notice]:
    long = [text for text in case.joined.texts if UNTIL in text]
    if long:
        kept = sum(
            exact_match(text.split(UNTIL)[0], item.answer or "")
            for (item, _), text in zip(case.joined.pairs, case.joined.texts, strict=True)
            if UNTIL in text
        )
        text = (
            f"{plural(len(long), 'answer')} with a blank line: the published harness stops a model there, before any "
            f"answer that follows its reasoning; of what it would have kept, {kept:,} match"
        )
        yield Notice("blank-line", text, grave=True)


def _empty(case: Case) -> Iterator[Notice]:
    empty = sum(row is not None and not (row.prediction or "").strip() for _, row in case.joined.pairs)
    if empty:
        yield Notice(
            "empty", f"{plural(empty, 'answer')} empty: counted as wrong, for MERA's server an answer all the same"
        )


def _gold(case: Case) -> Iterator[Notice]:
    odd = [item.id for item, _ in case.joined.pairs if not _is_option(item.answer or "", len(item.options or ()))]
    if odd:
        count = plural(len(odd), "question")
        text = f"the right answer of {count} is not the Latin letter of an option ({listed(odd, 3)})"
        yield Notice("odd-answer", text, grave=True)


def _is_option(answer: str, options: int) -> bool:
    return len(answer) == 1 and answer.isascii() and 0 <= ord(answer.upper()) - ord("A") < (options or 26)


def _quoted(text: str) -> str:
    return f"“{clipped(text, 30)}”"


_CHECKS: tuple[Callable[[Case], Iterator[Notice]], ...] = (
    _missing, _repeated, _order, _gold, _white_space, _text_around, _answer_word, _cyrillic, _cut, _empty,
)  # fmt: skip
