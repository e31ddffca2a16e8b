"""QAI: the options of multiple-choice questions, right answers in the form of their format, and instructions."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from seldio import formats
from seldio.findings import Finding
from seldio.formats.items import ANSWERS, LETTERS, Answers, ItemFormat, option_letter, option_place
from seldio.formats.mera import CYRILLIC
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable, Verdict, rows_where
from seldio.rules.registry import ERROR, WARNING
from seldio.schema.arrays import pc
from seldio.text import clipped, plural

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
    letters = [option_letter(place) for place in range(len(options))]
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
        right = option_place(answer or "", len(options))
        if form == "text" and answer not in options and right is not None:
            return [options[right]]
        if form == "letter" and right is None and answer in options:
            return [option_letter(place) for place, option in enumerate(options) if option == answer]
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
            message = f'option "{clipped(option)}" looks like option {option_letter(options.index(other))}, but has '
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


# --- the instructions of MERA, which programs fill in ----------------------------------------------------

_NAMED = re.compile(r"(?:литер|букв)\w*\W{1,3}([АВСЕ])\b|[(\s]([АВСЕ])(?=,\s*[A-F]\b)")
_OPTION = re.compile(r"option_[a-z]")


def _in_instruction(table: ItemTable, judge: Callable[[str, Any], str | None]) -> Iterator[tuple[int, str]]:
    """Each row of MERA's formats whose instruction *judge* finds wrong, and what it says."""
    if table.format == "ruenvaqa":
        fields = ("instruction", "options")
        yield from table.judged(fields, lambda text, options: None if text is None else judge(text, options))


def _fields(instruction: str) -> list[str] | None:
    """The placeholders of an instruction; None if Python cannot format it."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(instruction) if name is not None]
    except ValueError:
        return None


def cyrillic_option_letter(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, letter in _in_instruction(table, lambda text, _: "".join(map("".join, _NAMED.findall(text)[:1])) or None):
        message = f"the instruction labels an option with a {unicodedata.name(letter).title()}, but answers are Latin"
        yield found(row, "instruction", message, f"write the Latin {CYRILLIC[letter]}")


def options_of_instruction(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, message in _in_instruction(table, _of_other_options):
        yield found(row, "instruction", message)


def _of_other_options(instruction: str, options: Sequence[str] | None) -> str | None:
    fields = _fields(instruction)
    asked = {name for name in fields or () if _OPTION.fullmatch(name)}
    given = {f"option_{letter}" for letter in string.ascii_lowercase[: len(options or ())]}
    if fields is None or asked == given:
        return None
    return f"the instruction is for {plural(len(asked), 'option')}, but the question has {len(given)}"


def instruction_placeholders(table: ItemTable, found: Found) -> Iterator[Finding]:
    for number, instruction in _in_instruction(table, lambda text, _: text):
        fields, audio = _fields(instruction), table.value(number, "audio")
        further = table.extra(number).get("inputs")
        known = {"question", *(further if isinstance(further, dict) else ())}
        known |= {f"audio_{n}" for n in range(1, len(audio) + 1)} if len(audio) > 1 else {"audio"}
        for name in fields or ():
            if name not in known and not _OPTION.fullmatch(name) and name.isidentifier():
                yield found(number, "instruction", f"no value for the placeholder {clipped(name)}",
                            "use question, audio and the options")  # fmt: skip
        lacking = [] if fields is None or "question" in fields else ["{question}"]
        lacking += [] if "<audio" in instruction or "audio" in (fields or ()) else ["<audio>"]
        if lacking:
            message = f"the instruction has no placeholder for {' and '.join(lacking)}"
            yield found(number, "instruction", message, "add it")


def literal_braces(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, message in _in_instruction(table, _literal):
        yield found(row, "instruction", message)


def _literal(instruction: str, options: object) -> str | None:  # noqa: ARG001
    fields = _fields(instruction)
    fine = fields is not None and all(name.isidentifier() for name in fields)
    return None if fine else "braces in the instruction that are not a placeholder"


INSTRUCTION_RULES = (cyrillic_option_letter, options_of_instruction, instruction_placeholders, literal_braces)
