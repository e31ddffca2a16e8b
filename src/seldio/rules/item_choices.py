"""QAI: the options of multiple-choice questions, and right answers in the form that their format has."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterator

import pyarrow as pa

from seldio import formats
from seldio.findings import Finding
from seldio.formats.items import ANSWERS, LETTERS, Answers, ItemFormat
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable, rows_where
from seldio.rules.registry import ERROR, WARNING, rule
from seldio.schema.arrays import pc
from seldio.text import clipped

#: Letters that look Latin but are not: Cyrillic and Greek capitals.
HOMOGLYPHS = dict(zip("АВЕКМНОРСТХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTXABEZHIKMNOPTYX", strict=True))
#: For each letter of another alphabet that looks Latin the Latin one, small letters too.
_LOOKS = str.maketrans(HOMOGLYPHS | dict(zip("аеорсухіјѕԁһԛԝοѵ", "aeopcyxijsdhqwov", strict=True)))


@rule("QAI102", ERROR)
def answer_not_among_options(table: ItemTable, found: Found) -> Iterator[Finding]:
    """Answer that is not among the options."""
    for row, answer, options in _choices(table):
        letters = LETTERS[: len(options)]
        if answer and answer not in options and HOMOGLYPHS.get(answer, answer) not in (*letters,):
            form = ANSWERS[form] if (form := _form(table)) in ("letter", "text") else "the text or letter of an option"
            yield found(row, "answer", f"the answer {clipped(answer)} is not one of the {len(options)} options",
                        f"the answer must be {form}")  # fmt: skip


@rule("QAI121", ERROR, "unsafe")
def answer_in_another_form(table: ItemTable, found: Found) -> Iterator[Finding]:
    """Letter as an answer where the scorer of the benchmark reads texts."""
    if _form(table) == "text":
        yield from _misformed(table, found)


@rule("QAI128", ERROR, "safe")
def text_for_a_letter(table: ItemTable, found: Found) -> Iterator[Finding]:
    """Text of an option as an answer where the scorer of the benchmark reads letters."""
    if _form(table) == "letter":
        yield from _misformed(table, found)


def _misformed(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, right in misformed(table):
        answer, form, home = table.values("answer")[row], _form(table), formats.get(table.home, ItemFormat)
        said = f"the letter {answer}" if form == "text" else f'the text "{clipped(answer)}"'
        shown = f'"{clipped(right[0])}"' if form == "text" else " or ".join(right)
        finding = found(row, "answer", f"the answer is {said}, but {home.name} holds {ANSWERS[form or 'text']}",
                        f"write {shown}" + f": {home.graded}" * bool(home.graded))  # fmt: skip
        severity = WARNING if home.letters else ERROR
        yield dataclasses.replace(finding, severity=severity, fixable=finding.fixable and len(right) == 1)


def misformed(table: ItemTable) -> Iterator[tuple[int, list[str]]]:
    """The rows whose answer has another form than that of their format, with what may be meant in its form."""
    form = _form(table)
    for row, answer, options in _choices(table) if form in ("letter", "text") else ():
        letter = LETTERS[: len(options)].find(answer.upper()) if answer and len(answer) == 1 else -1
        if form == "text" and answer not in options and letter >= 0:
            yield row, [options[letter]]
        elif form == "letter" and letter < 0 and answer in options:
            yield row, [LETTERS[place] for place, option in enumerate(options) if option == answer]


def _form(table: ItemTable) -> Answers | None:
    """The form of right answers in the format that the rows come from; None where any may stand."""
    home = formats.named(table.home, ItemFormat)
    return None if home is None else home.answers


def _choices(table: ItemTable) -> Iterator[tuple[int, str | None, list[str]]]:
    """Row, answer and options of the questions that have any options."""
    if table.asks and table.column("options").null_count < len(table):
        for row, (answer, options) in enumerate(zip(table.values("answer"), table.values("options"), strict=True)):
            if options:
                yield row, answer, options


@rule("QAI103", WARNING)
def repeated_option(table: ItemTable, found: Found) -> Iterator[Finding]:
    """Duplicate option."""
    for row, _, options in _choices(table):
        looks = [option if option.isascii() else option.translate(_LOOKS) for option in options]
        first: dict[str, int] = {}
        seen: set[str] = set()
        for place, (option, look) in enumerate(zip(options, looks, strict=True)):
            if option in seen:
                yield found(row, "options", f'option "{clipped(option)}" appears twice',
                            "replace one of them", number=place)  # fmt: skip
            seen.add(option)
            other = first.setdefault(look, place)
            if options[other] != option:
                one, two = next(pair for pair in zip(options[other], options[place], strict=True) if len({*pair}) > 1)
                message = f'option "{clipped(options[place])}" looks like option {LETTERS[other % 26]}, but has '
                message += f"{_named(two)} for {_named(one)}"
                yield found(row, "options", message, "type both in one alphabet, or replace one", number=place)


def _named(letter: str) -> str:
    return f"a {unicodedata.name(letter, 'letter').title()}"


@rule("QAI104", WARNING)
def homoglyph_letter(table: ItemTable, found: Found) -> Iterator[Finding]:
    """Letter that only looks Latin, in an answer or in an instruction's list of options."""
    if not table.asks:
        return
    for row in rows_where(pc.is_in(table.column("answer"), value_set=pa.array(list(HOMOGLYPHS)))):
        answer, options = table.values("answer")[row], table.values("options")[row] or ()
        right, place = HOMOGLYPHS[answer], LETTERS.find(HOMOGLYPHS[answer])
        if _form(table) == "text" and 0 <= place < len(options):
            right = f'"{clipped(options[place])}"'
        yield found(row, "answer", f"the answer {answer} is {_named(answer)}", f"write {right}")
    instructions = table.column("instruction").dictionary_encode()
    for number, instruction in enumerate(instructions.dictionary.to_pylist()):
        letters = re.findall(r"(?m)^\s*(\w)[.)]\s", instruction)
        if letter := next((each for each in letters if each in HOMOGLYPHS), None):
            for row in rows_where(pc.equal(instructions.indices, number)):
                yield found(row, "instruction", f"the instruction labels an option with {_named(letter)}",
                            f"write {HOMOGLYPHS[letter]}: the answers are Latin letters")  # fmt: skip


@rule("QAI110", ERROR)
def no_options(table: ItemTable, found: Found) -> Iterator[Finding]:
    """List of options with nothing to choose from, or an empty option."""
    for row, options in enumerate(table.values("options") if table.asks else ()):
        if options is not None and len(options) < 2:
            message = "there is one option only" if options else "the list of options is empty"
            yield found(row, "options", message, "add the other options" if options else "add the options")
        if empty := [place for place, option in enumerate(options or ()) if not option.strip()]:
            message = f"option {empty[0] + 1} is empty"
            finding = found(row, "options", message, "write it, or leave it out", number=empty[0])
            yield dataclasses.replace(finding, severity=WARNING)
