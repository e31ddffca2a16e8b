"""Count how replies were read, and give the accuracy under each assumption about unread ones: never one for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from seldio.answers.reading import ReplyReading, read
from seldio.geometry import Floats
from seldio.reports.tables import Column, Table
from seldio.schema.qa import Item, Prediction

if TYPE_CHECKING:
    from seldio.scores.judge import JudgeRequest, Reply

#: What no verdict is made of, and what they say who give none.
OPEN = {"unread": "unread", "refused": "refused to answer", "empty": "empty", "missing": "no prediction"}
JUDGED = "judged"
_SHOWN = (
    Column("reply", "reply"),
    Column("n", "n", "", 0, None, "questions"),
    Column("share", "share", "%", 1, None, "of all questions"),
    Column("right", "right", "%", 1, "higher", "of these questions; of what is not read, none can be right"),
)
_ASSUMED = (
    Column("assumption", "assumption"),
    Column("n", "n", "", 0, None, "questions that count"),
    Column("accuracy", "accuracy", "%", 2, "higher", "share of them that is right"),
)


class Server(Protocol):
    """A client that asks a model, as :class:`seldio.scores.judge.Judge` does."""

    def ask(self, requests: Sequence[JudgeRequest]) -> list[Reply]:
        """Return a reply to each request, in their order."""
        ...


_WHICH_OPTION = (
    "A model was asked a question with options. Decide which option its reply says is the answer, whether or not that "
    "is right. Give the number of that option, or 0 if the reply says none, several, or that it cannot tell."
)


def read_all(
    pairs: Sequence[tuple[Item, Prediction | None]], texts: Sequence[str], server: Server | None = None
) -> list[ReplyReading]:
    """Return what the reply to each question says; with a *server*, a judge decides those that are unread."""
    items = [item for item, _ in pairs]
    found = [read(text, item.options or (), item.question) for item, text in zip(items, texts, strict=True)]
    unread = [number for number, reading in enumerate(found) if reading.state == "unread" and items[number].options]
    if server is None or not unread:
        return found
    answers = server.ask([_request(items[number], texts[number]) for number in unread])
    for number, answer in zip(unread, answers, strict=True):
        place = (answer.verdict or {}).get("option", 0)
        if place:
            found[number] = ReplyReading((items[number].options or [])[place - 1], JUDGED)
    return found


def _request(item: Item, reply: str) -> JudgeRequest:
    from seldio.scores.judge import ReplySchema, make

    options = item.options or []
    schema: dict[str, Any] = {"option": {"type": "integer", "minimum": 0, "maximum": len(options)}}
    numbered = "\n".join(f"{number}. {option}" for number, option in enumerate(options, 1))
    texts = {"question": item.question, "options": numbered, "reply": reply}
    return make(item.id, "choice", _WHICH_OPTION, texts, ReplySchema("choice", schema))


def state_of(found: ReplyReading | None) -> str:
    """Return the state of a reply: the layer that reads it, or a key of :data:`OPEN`; "missing" if there is none."""
    if found is None:
        return "missing"
    if found.layer == JUDGED:
        return JUDGED
    return f"read: {found.layer}" if found.option is not None else found.state


def tables(states: Sequence[str], right: Floats) -> tuple[Table, Table]:
    """Return how many replies each state has, and the accuracies.

    Args:
        states: of each question: a key of :data:`OPEN`, :data:`JUDGED`, or what read the reply.
        right: of each question, from 0 to 1.
    """
    kinds = np.array(states, dtype=object)
    rows = {name: np.flatnonzero(kinds == name) for name in sorted({*states} - {JUDGED, *OPEN})}
    rows |= {name: found for name in (JUDGED, *OPEN) if len(found := np.flatnonzero(kinds == name))}
    shown = [
        (OPEN.get(name, name), len(each), len(each) / len(right), _mean(right[each])) for name, each in rows.items()
    ]
    judged = kinds == JUDGED
    closed = ~np.isin(kinds, [*OPEN])
    ways = {"unread counts as wrong": right, "unread is left out": right[closed]}
    if judged.any():
        ways["without the judge, unread counts as wrong"] = np.where(judged, 0.0, right)
        ways["without the judge, unread is left out"] = right[closed & ~judged]
    counted = tuple((name, len(values), _mean(values)) for name, values in ways.items())
    return (
        Table("replies", "what was read of the replies", _SHOWN, tuple(shown)),
        Table("assumptions", "accuracy by what becomes of unread replies", _ASSUMED, counted),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan
