"""Right answers as the target writes them: the letter of an option, or its text."""

from __future__ import annotations

import dataclasses
import string
from collections import Counter

from seldio.errors import UsageError
from seldio.formats import item_formats
from seldio.formats.items import Answers, ItemFormat, ItemReading
from seldio.schema.qa import Item
from seldio.text import clipped, listed, plural

_LETTERS = string.ascii_uppercase


def answered(reading: ItemReading, target: ItemFormat) -> tuple[ItemReading, list[str]]:
    """*reading* with answers as *target* writes them, and a note where they changed.

    Raises:
        UsageError: the target takes another number of options, or some answer is not exactly one of the options.
    """
    home = item_formats.named(reading.home) or reading.format
    if target.holds != "items" or target.name in (reading.format.name, home.name):
        return reading, []
    _count(reading, target)
    if target.answers is None:
        return reading, []
    rows, wrong = list(reading.rows), dict[str, list[str]]()
    for number, row in enumerate(rows):
        if not isinstance(row, Item) or not row.options or row.answer is None:
            continue
        found = _meant(row.answer, row.options, home.answers)
        if len(found) == 1:
            rows[number] = row.model_copy(update={"answer": _written(found.pop(), row.options, target)})
        elif home.answers != target.answers:  # else it is written as it was
            wrong.setdefault(_why(found), []).append(row.id)
    if wrong:
        parts = "; ".join(
            f"{plural(len(ids), 'answer')} {'is' if len(ids) == 1 else 'are'} {why} ({listed(ids, 3)})"
            for why, ids in wrong.items()
        )
        kind = "a letter" if target.answers == "letter" else "the text of an option"
        raise UsageError(
            f"{target.name} cannot be made of {reading.format.name}: it writes the right answer as {kind}, but "
            f"{parts}. Correct or remove these questions"
        )
    changed = sum(row != old for row, old in zip(rows, reading.rows, strict=True))
    note = f"{plural(changed, 'answer')} written as {target.answers}s of options"
    return dataclasses.replace(reading, rows=rows), [note] if changed else []


def _written(index: int, options: list[str], target: ItemFormat) -> str:
    return _LETTERS[index] if target.answers == "letter" else options[index]


def _count(reading: ItemReading, target: ItemFormat) -> None:
    """See that every question has a number of options that *target* takes."""
    sizes = [(len(row.options or ()), row.id) for row in reading.rows if isinstance(row, Item)]
    wrong = [(size, id) for size, id in sizes if target.counts and size not in target.counts]
    if not wrong:
        return
    many = Counter(size for size, _ in wrong)
    shown = ", ".join(f"{number:,} with {size}" for size, number in sorted(many.items()))
    names = listed([f"{clipped(str(id), 40)} with {size}" for size, id in wrong], 3)
    wanted = " or ".join(map(str, target.counts))
    raise UsageError(
        f"{target.name} takes questions with {wanted} options; {len(wrong):,} of {len(sizes):,} have another number "
        f"({shown}): {names}. Remove these questions, or give them {wanted} options"
    )


def _meant(answer: str, options: list[str], kind: Answers | None) -> set[int]:
    """The options that an answer may mean; *kind* says how the source writes answers, None where it says nothing."""
    texts = {index for index, option in enumerate(options) if option == answer} if kind != "letter" else set()
    letter = answer.strip().upper()
    if kind == "text" or len(letter) != 1 or letter not in _LETTERS[: len(options)]:
        return texts
    return texts | {_LETTERS.index(letter)}


def _why(found: set[int]) -> str:
    if not found:
        return "none of the options"
    return f"option {' or '.join(_LETTERS[index] for index in sorted(found))}"
