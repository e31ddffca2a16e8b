"""PRD12 and PRD13: the files and the answers of a submission to MERA."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seldio.answers.matching import normalised
from seldio.files.names import written_suffix
from seldio.findings import Finding
from seldio.formats.items import ItemReading
from seldio.formats.mera import AS_WRITTEN, CYRILLIC, dig, id_value, task_name
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemTable
from seldio.rules.registry import findings
from seldio.schema.qa import Item
from seldio.text import clipped, printable

_LETTER = re.compile(r"(?<![^\W_])[A-Fa-fАВСЕ](?![^\W_])")


class Answers:
    """The answers of a submission, and the questions by id if known."""

    def __init__(self, reading: ItemReading, gold: Mapping[str, Item] | None = None) -> None:
        self.gold, self.table = gold, ItemTable.of(reading)
        self.left_out, self.finding = reading.origin.get("left_out"), reading.finding

    def letters(self) -> Iterator[tuple[int, str, str]]:
        """Row and text of non-empty answers, and the text as MERA compares it."""
        return ((row, text, normalised(text)) for row, text in enumerate(self.table.values("prediction")) if text)

    def options(self, row: int) -> int:
        """How many options the question of *row* has; four if unknown."""
        item = (self.gold or {}).get(self.table.values("id")[row] or "")
        return len(item.options) if item is not None and item.options else 4


def _latin(text: str) -> bool:
    return len(text) == 1 and text in string.ascii_lowercase


def missing_answer(answers: Answers, found: Found) -> Iterator[Finding]:
    left_out, ids = answers.left_out, answers.table.values("id")
    given = {*ids, *(left_out if isinstance(left_out, list) else ())}
    for name in answers.gold or ():
        if name not in given:
            yield found(None, None, f"no answer to question {clipped(name)}",
                        "one unanswered question makes the whole task score 0")  # fmt: skip
    for number, id in enumerate(ids):
        item = (answers.gold or {}).get(id or "")
        if (
            (item is not None or answers.gold is None)
            and _quoted(answers.table.extra(number))
            and not (item is not None and _quoted(item.extra))
        ):
            yield found(number, "id", f"the id is the string {json.dumps(id)}, which does not answer question {id}",
                        "write the number without quotes: MERA compares types as well")  # fmt: skip


def _quoted(extra: Mapping[str, Any] | None) -> bool:
    """Whether the id of a record with these further keys is a number in quotes."""
    written = (extra or {}).get(AS_WRITTEN)
    id = dig(written, "meta", "id") if isinstance(written, dict) else None
    return isinstance(id, str) and type(id_value(id)) is int


def surplus_answer(answers: Answers, found: Found) -> Iterator[Finding]:
    for number, id in enumerate(answers.table.values("id") if answers.gold is not None else ()):
        if id not in (answers.gold or ()):
            yield found(number, "id", f"no question {clipped(id or '')} in the benchmark")


def letter_outside_options(answers: Answers, found: Found) -> Iterator[Finding]:
    for number, _, letter in answers.letters():
        count = answers.options(number)
        if _latin(letter) and letter not in string.ascii_lowercase[:count]:
            message = f"{letter.upper()} is not one of the {count} options"
            yield found(number, "prediction", message, f"choose from A to {string.ascii_uppercase[count - 1]}")


def homoglyph_answer(answers: Answers, found: Found) -> Iterator[Finding]:
    for number, _, letter in answers.letters():
        if letter in CYRILLIC:
            message = f"a Cyrillic letter that looks like {CYRILLIC[letter]}: scored 0"
            yield found(number, "prediction", message, f"write the Latin {CYRILLIC[letter]}")


def text_around_letter(answers: Answers, found: Found) -> Iterator[Finding]:
    for number, text, letter in answers.letters():
        if not _latin(letter) and letter not in CYRILLIC:
            letters = {CYRILLIC.get(one, one).upper() for one in _LETTER.findall(text)}
            hint = f"write only {letters.pop()}" if len(letters) == 1 else "write the letter of an option"
            # in quotes where it begins or ends with invisible characters
            shown = text if text == text.strip() else json.dumps(text, ensure_ascii=False)
            yield found(number, "prediction", f"{clipped(shown, 30)} is more than a letter: scored 0", hint)


def decorated_letter(answers: Answers, found: Found) -> Iterator[Finding]:
    for number, text, letter in answers.letters():
        if _latin(letter) and text != letter.upper():
            yield found(number, "prediction", f"{clipped(text)} counts as {letter.upper()}", f"write {letter.upper()}")


# --- running them -----------------------------------------------------------------------------------

ANSWER_RULES = (missing_answer, surplus_answer)
LETTER_RULES = (letter_outside_options, homoglyph_answer, text_around_letter, decorated_letter)


def check_answers(reading: ItemReading, gold: Sequence[Item] | None = None, letters: bool = True) -> Iterator[Finding]:
    """The findings about the answers of a ``ruenvaqa-submission`` to the questions *gold*, if these are known.

    Without *letters* answers may be any text, as in MERA's other tasks.
    """
    answers = Answers(reading, None if gold is None else {item.id: item for item in gold})
    return findings((*ANSWER_RULES, *(LETTER_RULES if letters else ())), answers)


# --- the files of a submission ------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeraPackage:
    """The archive of a submission; the file of a task is found by its name without suffix, in any folder."""

    path: str  # as shown to people
    members: Mapping[str, bytes] | None  # its files; None if it cannot be opened
    tasks: Sequence[str] = ("ruEnvAQA",)  # the expected tasks
    #: of the files as shown to people, by name; below *path* where that does not say
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> dict[str, str]:
        """The file of each task that has one; of several, the last one, as on the server."""
        by_task = {task_name(member): member for member in self.members or ()}
        return {task: by_task[task] for task in self.tasks if task in by_task}

    def shown(self, member: str) -> str:
        """Return the path of a file as people see it."""
        return self.paths.get(member, f"{self.path}!/{member}")


def unreadable_submission(package: MeraPackage, found: Found) -> Iterator[Finding]:
    if package.members is None:
        yield found(package.path, "the archive cannot be opened as a zip")


def unreadable_task(package: MeraPackage, found: Found) -> Iterator[Finding]:
    for task, member in package.files.items():
        if package.members is None or written_suffix(member) != "json":
            continue
        try:
            json.loads(package.members[member].decode())
        except (ValueError, RecursionError):
            message = f"the file of {printable(task)} cannot be read as JSON"
            yield found(package.shown(member), message)


def wrong_extension(package: MeraPackage, found: Found) -> Iterator[Finding]:
    for task, member in package.files.items():
        suffix = written_suffix(member)
        if suffix != "json":
            message = f"the suffix is {clipped(f'.{suffix}' if suffix else 'empty', 20)}, not .json"
            yield found(package.shown(member), message, f"name it {printable(task)}.json")


def task_missing(package: MeraPackage, found: Found) -> Iterator[Finding]:
    for task in package.tasks if package.members is not None else ():
        if task in package.files:
            continue
        alike = [name for name in package.members or () if task.lower() in name.lower()]
        hint = f"rename {printable(alike[0])}" if alike else "add it"
        yield found(package.path, f"{printable(task)}.json is missing", hint)


ARCHIVE_RULES = (unreadable_submission, unreadable_task, wrong_extension, task_missing)
