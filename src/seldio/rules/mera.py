"""QAI20: instructions of MERA's questions; and all rules for MERA together.

:func:`mera_verdict` says what MERA's own validator says; :func:`check_items`, :func:`check_answers` and
:func:`check_package` run the rules.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence

from seldio.answers.letters import CYRILLIC
from seldio.findings import Finding
from seldio.formats.items import ItemReading
from seldio.rules.base import ERROR, WARNING, Rule, rule
from seldio.rules.collection import Found, item_finder
from seldio.rules.mera_answers import ANSWER_RULES, ID_RULES, PACKAGE_RULES, Answers, Package
from seldio.rules.mera_verdict import ERRORS, gold_of, mera_response, mera_verdict
from seldio.schema.qa import Item
from seldio.text import clipped, plural

__all__ = [
    "ANSWER_RULES", "ERRORS", "ITEM_RULES", "PACKAGE_RULES", "RULES", "Answers", "Package", "check_answers",
    "check_items", "check_package", "gold_of", "mera_response", "mera_verdict",
]  # fmt: skip

_NAMED = re.compile(r"(?:литер|букв)\w*\W{1,3}([АВСЕ])\b|[(\s]([АВСЕ])(?=,\s*[A-F]\b)")
_OPTION = re.compile(r"option_[a-z]")


def _items(reading: ItemReading) -> Iterator[tuple[int, Item]]:
    """The items of MERA's formats that have an instruction."""
    for number, row in enumerate(reading.rows if reading.format.name == "ruenvaqa" else ()):
        if isinstance(row, Item) and row.instruction is not None:
            yield number, row


def _fields(instruction: str) -> list[str] | None:
    """The placeholders of an instruction; None where Python cannot format it."""
    try:
        return [name for _, name, _, _ in string.Formatter().parse(instruction) if name is not None]
    except ValueError:
        return None


@rule("QAI201", WARNING)
def cyrillic_option_letter(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An instruction that calls an option by a Cyrillic letter.

    The right answers are Latin letters. A model that does as it is told and answers with a Cyrillic А is
    scored 0. Seven of the benchmark's ten instructions are of this kind.

    Example:
        первому из предложенных вариантов ответа присваивается литера А, второму литера B

    Fix:
        Type the letter on a Latin keyboard; where the benchmark must stay as it is, know of it.

    Reference: MERA_MULTIMODAL, ruEnvAQA; exact_match compares code points.
    """
    for number, item in _items(reading):
        match = _NAMED.search(item.instruction or "")
        if match:
            letter = match[1] or match[2]
            message = f"the instruction calls an option by {unicodedata.name(letter).lower()}, the answers are Latin"
            yield found(number, message, "instruction", f"write the Latin {CYRILLIC[letter]}")


@rule("QAI202", ERROR)
def options_of_instruction(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """An instruction for another number of options than the question has.

    With too few options the prompt cannot be made (KeyError), or on the Hub says ``C. None``. With too many
    the model never sees the last ones.

    Example:
        "A. {option_a} … D. {option_d}" and a question with option_a and option_b

    Fix:
        Take an instruction for as many options as there are.

    Reference: MERA_MULTIMODAL, ruenvaqa/utils.py: instruction.format(**inputs).
    """
    for number, item in _items(reading):
        asked = {name for name in _fields(item.instruction or "") or () if _OPTION.fullmatch(name)}
        given = {f"option_{letter}" for letter in string.ascii_lowercase[: len(item.options or ())]}
        if asked != given and (asked or item.options):
            message = f"the instruction is for {plural(len(asked), 'option')}, the question has {len(given)}"
            yield found(number, message, "instruction", "take an instruction for as many options as there are")


@rule("QAI203", ERROR)
def instruction_placeholders(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """A placeholder that nothing fills, or a part of the question without a placeholder.

    The prompt is made by Python's ``format`` from the inputs: an unknown name stops it with a KeyError.
    Without ``{question}`` the model is not told what is asked, without ``<audio>`` the recording has no place.

    Example:
        Вопрос: {query}

    Fix:
        Use <audio>, {question}, {option_a}, {option_b}, and so on.

    Reference: MERA_MULTIMODAL, docs/dataset_formatting.md and ruenvaqa/utils.py.
    """
    for number, item in _items(reading):
        instruction = item.instruction or ""
        fields = _fields(instruction)
        further = (item.extra or {}).get("inputs")
        known = {"question", *(further if isinstance(further, dict) else ())}
        known |= {f"audio_{n}" for n in range(1, len(item.audio) + 1)} if len(item.audio) > 1 else {"audio"}
        for name in fields or ():
            if name not in known and not _OPTION.fullmatch(name) and name.isidentifier():
                yield found(number, f"nothing fills the placeholder {clipped(name)}", "instruction",
                            "the inputs are question, audio and the options")  # fmt: skip
        lacking = [] if fields is None or "question" in fields else ["{question}"]
        lacking += [] if "<audio" in instruction or "audio" in (fields or ()) else ["<audio>"]
        if lacking:
            message = f"the instruction has no place for {' and '.join(lacking)}"
            yield found(number, message, "instruction", "add it")


@rule("QAI204", ERROR)
def literal_braces(reading: ItemReading, found: Found) -> Iterator[Finding]:
    """Braces in an instruction that are no placeholder.

    Python's ``format`` takes every brace for one and stops with an error. Braces in questions and options do
    no harm.

    Example:
        Ответьте в виде {"answer": "A"}

    Fix:
        Write {{ and }}.

    Reference: MERA_MULTIMODAL, ruenvaqa/utils.py: instruction.format(**inputs).
    """
    for number, item in _items(reading):
        fields = _fields(item.instruction or "")
        if fields is None or any(not name.isidentifier() for name in fields):
            yield found(number, "braces in the instruction that are no placeholder", "instruction", "write {{ and }}")


# --- running them -----------------------------------------------------------------------------------

ITEM_RULES = (cyrillic_option_letter, options_of_instruction, instruction_placeholders, literal_braces)
RULES: tuple[Rule, ...] = (*ITEM_RULES, *PACKAGE_RULES, *ANSWER_RULES)


def check_items(reading: ItemReading) -> Iterator[Finding]:
    """What is wrong with the instructions of a ``ruenvaqa`` file."""
    for one in ITEM_RULES:
        if one.check is not None:
            yield from one.check(reading, item_finder(one, reading))


def check_answers(reading: ItemReading, gold: Sequence[Item] | None = None, letters: bool = True) -> Iterator[Finding]:
    """What is wrong with the answers of a ``ruenvaqa-submission``.

    Args:
        reading: of the file.
        gold: the questions, where known.
        letters: whether the answers are letters of options; those of MERA's other tasks may be anything.
    """
    answers = Answers(reading, None if gold is None else {item.id: item for item in gold})
    for one in ANSWER_RULES if letters else ID_RULES:
        if one.check is not None:
            yield from one.check(answers, item_finder(one, reading))


def check_package(package: Package) -> Iterator[Finding]:
    """What is wrong with the archive of a submission, its files' content left aside."""

    def finder(one: Rule) -> Found:
        return lambda path, message, hint: Finding(one.code, one.severity, message, path, hint=hint)

    for one in PACKAGE_RULES:
        if one.check is not None:
            yield from one.check(package, finder(one))
