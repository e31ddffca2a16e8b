"""Which prediction answers which question.

By default a prediction belongs to the question with its id, and what does not fit stops the scoring: a number
over a wrong join looks like any other. ``official`` joins as the official program does, and tells where that
is not by id.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from seldio.errors import DataError
from seldio.reports.tables import Notice
from seldio.schema.alike import same_audio, same_task
from seldio.schema.qa import Item, Prediction
from seldio.text import clipped, listed, plural

How = Literal["strict", "official"]


class JoinedPair(NamedTuple):
    """A question and the prediction that answers it, by their numbers in their sequences."""

    item: int
    prediction: int


@dataclasses.dataclass(frozen=True)
class JoinedAnswers:
    """The outcome of a join.

    Args:
        pairs: in the order of the questions (strict) or of the predictions (official).
        missing: the questions that no prediction answers.
        notices: what there is to know.
    """

    pairs: list[JoinedPair]
    missing: list[int]
    notices: tuple[Notice, ...] = ()


def join(items: Sequence[Item], predictions: Sequence[Prediction], how: How = "strict") -> JoinedAnswers:
    """Predictions joined to questions.

    Raises:
        DataError: they do not fit. Strict: a prediction without id, with the id of no question or of one that
            is answered already, or with another recording or task than its question; two questions of one id.
            Official: a prediction that the official program would stop at.
    """
    return _official(items, predictions) if how == "official" else _strict(items, predictions)


# --- strict ----------------------------------------------------------------------------------------


def _strict(items: Sequence[Item], predictions: Sequence[Prediction]) -> JoinedAnswers:
    number = {item.id: index for index, item in enumerate(items)}
    theirs = [(index, number.get(row.id)) for index, row in enumerate(predictions) if row.id is not None]
    fitting = [(index, item) for index, item in theirs if item is not None]
    faults = (
        ("id of several questions", _repeated(item.id for item in items)),
        ("prediction without qa_id", [f"number {n}" for n, row in enumerate(predictions, 1) if row.id is None]),
        ("prediction with the qa_id of no question", [str(predictions[n].id) for n, item in theirs if item is None]),
        ("question answered more than once", _repeated(row.id for row in predictions if row.id is not None)),
        ("prediction with another recording than its question",
         [items[item].id for n, item in fitting if not same_audio(predictions[n].audio, items[item].audio)]),
        ("prediction with another task than its question",
         [items[item].id for n, item in fitting if not same_task(predictions[n].task, items[item].task)]),
    )  # fmt: skip
    if wrong := [f"{_many(what, len(names))}: {listed(names, 3)}" for what, names in faults if names]:
        raise DataError(
            f"the predictions do not fit the questions: {'; '.join(wrong)}. A score over wrong pairs says nothing: "
            "correct the file (seldio validate shows the lines), or score with the official join, which takes what "
            "it can get and names what it joined otherwise than by id"
        )
    answered = {item: n for n, item in fitting}
    pairs = [JoinedPair(item, answered[item]) for item in range(len(items)) if item in answered]
    missing = [item for item in range(len(items)) if item not in answered]
    notices = []
    if missing:
        text = f"{plural(len(missing), 'question')} without prediction ({_names(items, missing)}), counted as wrong"
        notices.append(Notice("missing-predictions", f"{text}; the official program leaves them out", grave=True))
    return JoinedAnswers(pairs, missing, tuple(notices))


def _repeated(ids: Iterable[str]) -> list[str]:
    return [each for each, count in Counter(ids).items() if count > 1]


def _many(what: str, count: int) -> str:
    noun, rest = what.split(" ", 1)
    return f"{plural(count, noun)} {rest}"


def _names(items: Sequence[Item], numbers: Sequence[int]) -> str:
    return listed([items[number].id for number in numbers], 5)


# --- as the official program -----------------------------------------------------------------------


class _Official:
    """The official join, step by step; each question is used once."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.by_key = {item.id: number for number, item in enumerate(items)}  # of several the last
        self.by_content: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, item in enumerate(items):
            self.by_content[_signature(item, item.answer, item.canonical_answer)].append(number)
        self.used: set[int] = set()

    def find(self, row: Prediction, line: int) -> tuple[str, int] | None:
        """How the prediction in a line (from 0) finds its question, and which; None where it finds none."""
        found = self.by_key.get(_key(row, line))
        if found is not None and found not in self.used:
            return ("id" if row.id is not None else "number"), found
        extra = row.extra or {}
        for candidate in self.by_content.get(_signature(row, extra.get("answer"), extra.get("canonical_answer")), ()):
            if candidate not in self.used:
                return "content", candidate
        if line < len(self.items) and line not in self.used and self._agree(row, self.items[line]):
            return "line", line
        return None

    def _agree(self, row: Prediction, item: Item) -> bool:
        return _path(row) == _path(item) and (row.task or "") == (item.task or "")


def _key(row: Prediction, line: int) -> str:
    extra = row.extra or {}
    for value in (row.id, extra.get("pair_id"), extra.get("eval_index")):
        if value is not None:
            return str(value)
    return str(line)


def _signature(row: Item | Prediction, answer: object, canonical: object) -> tuple[str, ...]:
    texts = (" ".join(str(text or "").lower().split()) for text in (answer, canonical))
    return (_path(row), row.task or "", *texts)


def _path(row: Item | Prediction) -> str:
    return row.audio[0] if row.audio else ""


def _official(items: Sequence[Item], predictions: Sequence[Prediction]) -> JoinedAnswers:
    state = _Official(items)
    pairs, ways = [], defaultdict(list)
    for line, row in enumerate(predictions):
        found = state.find(row, line)
        if found is None:
            called = f"prediction {line + 1}" + (f" ({clipped(row.id, 40)})" if row.id else "")
            reason = "its question is answered already" if row.id in state.by_key else "it belongs to no question"
            raise DataError(f"{called}: {reason}, and the official program stops here with a ValueError: correct it")
        way, number = found
        state.used.add(number)
        pairs.append(JoinedPair(number, line))
        for kind in _traps(way, row, items[number]):
            ways[kind].append(f"{'line ' + str(line + 1) if row.id is None else row.id} to {items[number].id}")
    missing = [number for number in range(len(items)) if number not in state.used]
    notices = [_TRAPS[kind](names) for kind, names in ways.items()]
    if missing:
        text = f"{plural(len(missing), 'question')} without prediction ({_names(items, missing)}) left out of the mean"
        notices.append(Notice("missing-predictions", f"{text}, as the official program does without a word", True))
    if repeated := _repeated(item.id for item in items):
        text = f"several questions share an id ({listed(repeated)}): the first prediction goes to the last of them"
        notices.append(Notice("official-join-repeated", text, grave=True))
    return JoinedAnswers(pairs, missing, tuple(notices))


def _traps(way: str, row: Prediction, item: Item) -> list[str]:
    if way != "id":
        return ["wrong-id" if row.id is not None and way == "line" else way]
    found = [] if same_audio(row.audio, item.audio) else ["audio"]
    return found + ([] if same_task(row.task, item.task) else ["task"])


def _trap(name: str, what: str, *, grave: bool = True) -> Callable[[list[str]], Notice]:
    def notice(names: list[str]) -> Notice:
        text = f"{plural(len(names), 'prediction')} joined {what}, as the official program does: {listed(names, 5)}"
        return Notice(f"official-join-{name}", text, grave)

    return notice


_TRAPS = {
    "wrong-id": _trap("wrong-id", "to the question in the same line although the id is that of no or an answered one"),
    "line": _trap("line", "by line, for want of an id", grave=False),
    "number": _trap("number", "because a number of its own (pair_id, eval_index, line) is the id of a question"),
    "content": _trap("content", "by recording, task and copied answer, not by id"),
    "audio": _trap("audio", "by id although the recordings differ"),
    "task": _trap("task", "by id although the tasks differ"),
}
