"""QAI20: the instructions of MERA's questions, which programs fill in."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from seldio.findings import Finding
from seldio.formats.mera import CYRILLIC
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable
from seldio.text import clipped, plural

_NAMED = re.compile(r"(?:литер|букв)\w*\W{1,3}([АВСЕ])\b|[(\s]([АВСЕ])(?=,\s*[A-F]\b)")
_OPTION = re.compile(r"option_[a-z]")


def _judged(table: ItemTable, judge: Callable[[str, Any], str | None]) -> Iterator[tuple[int, str]]:
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
    for row, letter in _judged(table, lambda text, _: "".join(map("".join, _NAMED.findall(text)[:1])) or None):
        message = f"the instruction labels an option with a {unicodedata.name(letter).title()}, but answers are Latin"
        yield found(row, "instruction", message, f"write the Latin {CYRILLIC[letter]}")


def options_of_instruction(table: ItemTable, found: Found) -> Iterator[Finding]:
    for row, message in _judged(table, _of_other_options):
        yield found(row, "instruction", message)


def _of_other_options(instruction: str, options: Sequence[str] | None) -> str | None:
    asked = {name for name in _fields(instruction) or () if _OPTION.fullmatch(name)}
    given = {f"option_{letter}" for letter in string.ascii_lowercase[: len(options or ())]}
    if asked == given or not (asked or options):
        return None
    return f"the instruction is for {plural(len(asked), 'option')}, but the question has {len(given)}"


def instruction_placeholders(table: ItemTable, found: Found) -> Iterator[Finding]:
    for number, instruction in _judged(table, lambda text, _: text):
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
    for row, message in _judged(table, _literal):
        yield found(row, "instruction", message)


def _literal(instruction: str, options: object) -> str | None:  # noqa: ARG001
    fields = _fields(instruction)
    fine = fields is not None and all(name.isidentifier() for name in fields)
    return None if fine else "braces in the instruction that are not a placeholder"


INSTRUCTION_RULES = (cyrillic_option_letter, options_of_instruction, instruction_placeholders, literal_braces)
