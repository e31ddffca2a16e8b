"""QAI: the options of multiple-choice questions, and right answers in the form that their format has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

from seldio import formats
from seldio.findings import Finding
from seldio.formats.items import ANSWERS, LETTERS, Answers, ItemFormat
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable, Verdict, rows_where
from seldio.rules.registry import ERROR, WARNING
from seldio.schema.arrays import pc
from seldio.text import clipped

#: Letters that look Latin but are not: Cyrillic and Greek capitals.
HOMOGLYPHS = dict(zip("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX", strict=True))
#: For each letter of another alphabet that looks Latin the Latin one, small letters too.
_LOOKS = str.maketrans(HOMOGLYPHS | dict(zip("аеорсухіјѕԁһԛԝοѵ", "aeopcyxijsdhqwov", strict=True)))


def answer_not_among_options(table: ItemTable, found: Found) -> Iterator[Finding]:
    form = _form(table)
    hint = f"the answer must be {ANSWERS[form] if form in ('letter', 'text') else 'the text or letter of an option'}"
    for row, message in _judged(table, _not_among):
        yield found(row, "answer", message, hint)


def _not_among(answer: str | None, options: list[str]) -> str | None:
    letters = (*LETTERS[: len(options)],)
    if not options or not answer or answer in options or HOMOGLYPHS.get(answer, answer) in letters:
        return None
    return f"the answer {clipped(answer)} is not one of the {len(options)} options"


def answer_in_another_form(table: ItemTable, found: Found) -> Iterator[Finding]:
    if _form(table) == "text":
        yield from _misformed(table, found)


def text_for_a_letter(table: ItemTable, found: Found) -> Iterator[Finding]:
    if _form(table) == "letter":
        yield from _misformed(table, found)


def _misformed(table: ItemTable, found: Found) -> Iterator[Finding]:
    form, home = _form(table) or "text", formats.get(table.home, ItemFormat)
    for row, right in misformed(table):
        answer = table.value(row, "answer")
        said = f"the letter {answer}" if form == "text" else f'the text "{clipped(answer)}"'
        shown = f'"{clipped(right[0])}"' if form == "text" else " or ".join(right)
        yield found(row, "answer", f"the answer is {said}, but {home.name} holds {ANSWERS[form]}",
                    f"write {shown}" + f": {home.graded}" * bool(home.graded),
                    severity=WARNING if home.letters else ERROR, fixable=len(right) == 1)  # fmt: skip


def misformed(table: ItemTable) -> Iterator[tuple[int, list[str]]]:
    """The rows whose answer has another form than that of their format, with what may be meant in its form."""
    form = _form(table)

    def meant(answer: str | None, options: list[str]) -> list[str] | None:
        letter = LETTERS[: len(options)].find(answer.upper()) if answer and len(answer) == 1 else -1
        if form == "text" and answer not in options and letter >= 0:
            return [options[letter]]
        if form == "letter" and letter < 0 and answer in options:
            return [LETTERS[place] for place, option in enumerate(options) if option == answer]
        return None

    return _judged(table, meant)


def _form(table: ItemTable) -> Answers | None:
    """The form of right answers in the format that the rows come from; None where any may stand."""
    home = formats.named(table.home, ItemFormat)
    return None if home is None else home.answers


def _judged(
    table: ItemTable, judge: Callable[[str | None, list[str]], Verdict | None]
) -> Iterator[tuple[int, Verdict]]:
    """Each row with a list of options whose answer and options have a fault, and the fault."""
    if table.column("options").null_count < len(table):
        yield from table.judged(("answer", "options"), lambda *choice: None if choice[1] is None else judge(*choice))


def repeated_option(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, faults in _judged(table, lambda _, options: [*_repeated(options)] or None):
        for place, message, hint in faults:
            yield found(row, "options", message, hint, number=place)


def _repeated(options: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The place of each option that another one is or looks like, what is wrong, and what to do."""
    first: dict[str, str] = {}
    seen: set[str] = set()
    for place, option in enumerate(options):
        if option in seen:
            yield place, f'option "{clipped(option)}" appears twice', "replace one of them"
        seen.add(option)
        other = first.setdefault(option.translate(_LOOKS), option)
        if option != other:
            message = f'option "{clipped(option)}" looks like option {LETTERS[options.index(other) % 26]}, but has '
            one, two = next(pair for pair in zip(other, option, strict=True) if len({*pair}) > 1)
            yield place, message + f"{_named(two)} for {_named(one)}", "type both in one alphabet, or replace one"


def _named(letter: str) -> str:
    return f"a {unicodedata.name(letter, 'letter').title()}"


def homoglyph_letter(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row in rows_where(pc.is_in(table.column("answer"), value_set=pa.array(list(HOMOGLYPHS)))):
        answer, options = (table.value(row, field) for field in ("answer", "options"))
        right, place = HOMOGLYPHS[answer], LETTERS.find(HOMOGLYPHS[answer])
        if _form(table) == "text" and 0 <= place < len(options or ()):
            right = f'"{clipped(options[place])}"'
        yield found(row, "answer", f"the answer {answer} is {_named(answer)}", f"write {right}")
    instructions = table.column("instruction").dictionary_encode()
    for number, instruction in enumerate(instructions.dictionary.to_pylist()):
        letters = re.findall(r"(?m)^\s*(\w)[.)]\s", instruction)
        if letter := next((each for each in letters if each in HOMOGLYPHS), None):
            for row in rows_where(pc.equal(instructions.indices, number)):
                yield found(row, "instruction", f"the instruction labels an option with {_named(letter)}",
                            f"write {HOMOGLYPHS[letter]}: the answers are Latin letters")  # fmt: skip


def no_options(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, faults in _judged(table, lambda _, options: [*_lacking(options)] or None):
        for place, message, hint in faults:
            yield found(row, "options", message, hint, number=place, severity=ERROR if place is None else WARNING)


def _lacking(options: Sequence[str]) -> Iterator[tuple[int | None, str, str]]:
    if not options:
        yield None, "the list of options is empty", "add the options"
    elif len(options) == 1:
        yield None, "there is one option only", "add the other options"
    if empty := [place for place, option in enumerate(options) if not option.strip()]:
        yield empty[0], f"option {empty[0] + 1} is empty", "write it, or leave it out"


OPTION_RULES = (
    answer_not_among_options,
    answer_in_another_form,
    text_for_a_letter,
    repeated_option,
    homoglyph_letter,
    no_options,
)
