"""What the scorers of evaluation harnesses count of the same replies, each by its own rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seldio.answers.matching import exact_match, string_match
from seldio.answers.options import read_option
from seldio.formats.harness_answers import LETTERS, chosen
from seldio.reports.tables import Column, Table

# --- inspect_ai, solver multiple_choice() and scorer choice(), as of 0.3.285 -----------------------

_SIGNS = r"([A-Za-z\d][A-Za-z\d ,]*?)"
#: What may stand around the letter: dollars, stars, and a bracket at the beginning or behind a colon or comma.
_WRAPPED = (
    (re.compile(rf"\$\s*{_SIGNS}\s*\$"), r"\1"),
    (re.compile(rf"\*\*\s*{_SIGNS}\s*\*\*"), r"\1"),
    (re.compile(r"(\A|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:[,.\n]|\Z))"), r"\1\2\3"),
)
#: A line of its own first, then anywhere.
_ANSWERS = (
    re.compile(r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.IGNORECASE | re.MULTILINE),
    re.compile(r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:\W|$)", re.IGNORECASE),
)


def inspect_letter(text: str, options: int) -> str | None:
    """The letter that inspect_ai finds in a completion; None where it finds none or several."""
    text = re.sub(" {2,}", " ", text)  # which changes nothing, and a run of blanks would keep the patterns busy
    for wrapped, bare in _WRAPPED:
        text = wrapped.sub(bare, text)
    found = next((every for pattern in _ANSWERS if (every := pattern.findall(text))), [""])
    letters = [each for each in found[-1].strip().upper().split(",") if each]
    return letters[0] if len(letters) == 1 and letters[0] in [*LETTERS[:options]] else None


# --- all of them -----------------------------------------------------------------------------------


class Harness(NamedTuple):
    """A scorer of a harness."""

    name: str
    rule: str  # what it counts as right, in a few words
    right: Callable[[str, str, Sequence[str]], bool]  # of a reply, the right option and all options


HARNESSES = (
    Harness("MMAU, MMAR", "string match of options", string_match),
    Harness("UltraEval-Audio", "choice-strings-match: the same", string_match),
    Harness(
        "inspect_ai", "choice(): the letter behind ANSWER:",
        lambda text, answer, options: inspect_letter(text, len(options)) == LETTERS[options.index(answer)],
    ),
    Harness(
        "lmms-eval", "seldio's task: the text or letter",
        lambda text, answer, options: chosen(text, [*options]) == answer,
    ),
    Harness(
        "lm-eval", "MERA's ruEnvAQA: exact match of the letter",
        lambda text, answer, options: exact_match(text, LETTERS[options.index(answer)]),
    ),
    Harness(
        "seldio", "as read: the option that the reply names in the end",
        lambda text, answer, options: read_option(text, options) == answer,
    ),
)  # fmt: skip
_COLUMNS = (
    Column("harness", "harness"),
    Column("items", "items", "", 0, None, "questions with options and a prediction"),
    Column("accuracy", "accuracy", "%", 1, "higher", "of the harness's own scorer, given these replies"),
    Column("rule", "what counts as right"),
)


def table(replies: Sequence[tuple[str, str, Sequence[str]]]) -> Table | None:
    """The accuracy of each harness over replies, each with the right option and all options; None without any."""
    asked = [each for each in replies if each[1] in each[2] and len(each[2]) <= len(LETTERS)]
    if not asked:
        return None
    rows = tuple(
        (harness.name, len(asked), sum(harness.right(*each) for each in asked) / len(asked), harness.rule)
        for harness in HARNESSES
    )
    return Table("harnesses", "what harnesses count of these replies", _COLUMNS, rows)
