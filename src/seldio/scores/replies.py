"""Replies of models: how they were read, what each assumption about unread ones gives, and each with its verdict.

Lists of verdicts are JSON lines, the doubtful ones first.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from seldio.answers.reading import ReplyReading, read
from seldio.errors import UsageError
from seldio.files import input_at, write_bytes
from seldio.files.names import suffix_of
from seldio.geometry import Floats
from seldio.reports.tables import Cell, Column, Table
from seldio.schema.qa import Item, Prediction
from seldio.scores.judge import Ask, ReplySchema, make
from seldio.text import json_text, printable

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


_WHICH_OPTION = (
    "A model was asked a question with options. Decide which option its reply says is the answer, whether or not that "
    "is right. Give the number of that option, or 0 if the reply says none, several, or that it cannot tell."
)


def _faults(most: int, verdict: Mapping[str, Any]) -> list[str]:
    option = verdict.get("option")
    return [] if type(option) is int and 0 <= option <= most else [f"option is no whole number from 0 to {most}"]


def read_all(
    pairs: Sequence[tuple[Item, Prediction | None]], texts: Sequence[str], ask: Ask | None = None
) -> list[ReplyReading]:
    """Return what the reply to each question says; with *ask*, a judge decides those that are unread."""
    items = [item for item, _ in pairs]
    readings = [read(text, item.options or (), item.question) for item, text in zip(items, texts, strict=True)]
    unread = [number for number, reading in enumerate(readings) if reading.state == "unread" and items[number].options]
    if ask is None or not unread:
        return readings
    requests = []
    for number in unread:
        item, options = items[number], items[number].options or []
        schema: dict[str, Any] = {"option": {"type": "integer", "minimum": 0, "maximum": len(options)}}
        numbered = "\n".join(f"{place}. {option}" for place, option in enumerate(options, 1))
        said = {"question": item.question, "options": numbered, "reply": texts[number]}
        form = ReplySchema("choice", schema, partial(_faults, len(options)))
        requests.append(make(item.id, "choice", _WHICH_OPTION, said, form))
    for number, answer in zip(unread, ask(requests), strict=True):
        place = (answer.verdict or {}).get("option", 0)
        if place:
            readings[number] = ReplyReading((items[number].options or [])[place - 1], JUDGED)
    return readings


def state_of(reading: ReplyReading | None) -> str:
    """Return the state of a reply: the layer that reads it, or a key of :data:`OPEN`; "missing" if there is none."""
    if reading is None:
        return "missing"
    if reading.layer == JUDGED:
        return JUDGED
    return f"read: {reading.layer}" if reading.option is not None else reading.state


def tables(states: Sequence[str], right: Floats) -> tuple[Table, Table]:
    """Return how many replies each state has, and the accuracies.

    Args:
        states: of each question: a key of :data:`OPEN`, :data:`JUDGED`, or what read the reply.
        right: of each question, from 0 to 1.
    """
    kinds = np.array(states, dtype=object)
    names = (*sorted({*states} - {JUDGED, *OPEN}), JUDGED, *OPEN)
    parts = [(OPEN.get(name, name), right[kinds == name]) for name in names]
    shown = [(name, len(part), len(part) / len(right), float(part.mean())) for name, part in parts if len(part)]
    judged = kinds == JUDGED
    closed = ~np.isin(kinds, [*OPEN])
    ways = {"unread counts as wrong": right, "unread is left out": right[closed]}
    if judged.any():
        ways["without the judge, unread counts as wrong"] = np.where(judged, 0.0, right)
        ways["without the judge, unread is left out"] = right[closed & ~judged]
    counted = ((name, len(part), float(part.mean()) if len(part) else math.nan) for name, part in ways.items())
    return (
        Table("replies", "what was read of the replies", _SHOWN, tuple(shown)),
        Table("assumptions", "accuracy by what becomes of unread replies", _ASSUMED, tuple(counted)),
    )


# --- verdicts --------------------------------------------------------------------------------------

#: Why a verdict is in doubt, the most doubtful first; what is in none comes last.
DOUBTS = (
    "the official reading and ours differ",
    "unread",
    "refused to answer",
    "judged",
    "empty",
    "no prediction",
    "partly right",
    "wrong",
    "",
)


@dataclasses.dataclass(frozen=True)
class ReplyVerdict:
    """One reply, and what became of it."""

    item: Item  # the question
    reply: str | None  # None where there is none
    read: str  # what was read in it
    layer: str  # what read it
    right: float  # what the profile counts, from 0 to 1
    doubt: str  # one of :data:`DOUBTS`
    marks: Mapping[str, Cell]  # each measure by its name

    def record(self) -> dict[str, Cell]:
        """Return what differs from system to system."""
        verdict = "right" if self.right == 1 else "partly right" if self.right else "wrong"
        verdict = self.layer if self.layer in OPEN.values() else verdict
        record = {"reply": self.reply, "read": self.read, "layer": self.layer, "verdict": verdict, "doubt": self.doubt}
        return record | {f"by_{name}": mark for name, mark in self.marks.items()}


def verdict_of(
    item: Item, reply: str | None, read: str, state: str, right: float, marks: Mapping[str, Cell], other: bool = False
) -> ReplyVerdict:
    """Return a verdict with its doubt; *other*: whether another reading says something else."""
    layer = OPEN.get(state, state.removeprefix("read: "))
    doubt = DOUBTS[0] if other else layer if layer in DOUBTS else ""
    if not doubt and right < 1:
        doubt = "partly right" if right else "wrong"
    return ReplyVerdict(item, reply, read, layer, right, doubt, marks)


# --- files ------------------------------------------------------------------------------------------


def check_name(path: str | os.PathLike[str], inputs: Iterable[object]) -> None:
    """Check the name of a list of replies.

    Raises:
        UsageError: no list of replies is called so, or it would take the place of one of the *inputs*.
    """
    name = os.fspath(path)
    if input_at(name, inputs) is not None:
        raise UsageError(f"--items {printable(name)} is one of the files that are scored: choose another name")
    if suffix_of(name) != "jsonl":
        raise UsageError(f"--items {printable(name)}: choose a name that ends in .jsonl")


def write(path: str | os.PathLike[str], systems: Mapping[str, Iterable[ReplyVerdict]], profile: str) -> None:
    """Write the replies of one system, or of several the questions on which they differ.

    Args:
        path: what to write.
        systems: what each of them answered.
        profile: by which they were scored.
    """
    lists = [list(verdicts) for verdicts in systems.values()]
    rows = [[verdict] for verdict in lists[0]]
    if len(lists) > 1:  # the questions for which the systems were given other marks
        first_replies, *other_replies = [{verdict.item.id: verdict for verdict in verdicts} for verdicts in lists]
        common = [id for id in first_replies if all(id in other for other in other_replies)]
        rows = [[first_replies[id], *(other[id] for other in other_replies)] for id in common]
        rows = [row for row in rows if len({verdict.right for verdict in row}) > 1]
    rows.sort(key=lambda row: min(DOUBTS.index(verdict.doubt) for verdict in row))
    lines = []
    for row in rows:
        item = row[0].item
        asked = ("id", "audio", "task", "question", "options", "answer")
        record = {name: getattr(item, name) for name in asked} | {"profile": profile}
        if len(lists) == 1:
            record |= row[0].record()
        else:
            for number, (system, verdict) in enumerate(zip(systems, row, strict=True), 1):
                columns = {"system": system, **verdict.record()}
                record |= {f"{name}_{number}": value for name, value in columns.items()}
        lines.append(f"{json_text(record)}\n")
    write_bytes(path, "".join(lines).encode("utf-8", "backslashreplace"))
