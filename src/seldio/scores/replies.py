"""Replies of models: how they were read, what each assumption about unread ones gives, and each with its verdict.

Lists of verdicts are JSON lines or CSV, the doubtful ones first.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seldio.answers.reading import ReplyReading, read
from seldio.errors import UsageError
from seldio.files import input_at, write_bytes
from seldio.geometry import Floats
from seldio.reports.spreadsheet import guarded, written
from seldio.reports.tables import Cell, Column, Table
from seldio.schema.qa import Item, Prediction
from seldio.scores.judge import Ask, JudgeRequest, ReplySchema, make
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


def read_all(
    pairs: Sequence[tuple[Item, Prediction | None]], texts: Sequence[str], ask: Ask | None = None
) -> list[ReplyReading]:
    """Return what the reply to each question says; with *ask*, a judge decides those that are unread."""
    items = [item for item, _ in pairs]
    found = [read(text, item.options or (), item.question) for item, text in zip(items, texts, strict=True)]
    unread = [number for number, reading in enumerate(found) if reading.state == "unread" and items[number].options]
    if ask is None or not unread:
        return found
    answers = ask([_request(items[number], texts[number]) for number in unread])
    for number, answer in zip(unread, answers, strict=True):
        place = (answer.verdict or {}).get("option", 0)
        if place:
            found[number] = ReplyReading((items[number].options or [])[place - 1], JUDGED)
    return found


def _request(item: Item, reply: str) -> JudgeRequest:
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
SUFFIXES = (".jsonl", ".csv")
_NEWLINE = re.compile(r"(\r\n|\r|\n)")


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
        if self.layer in OPEN.values():
            verdict = self.layer
        own = {"reply": self.reply, "read": self.read, "layer": self.layer, "verdict": verdict}
        return {**own, "doubt": self.doubt, **{f"by_{name}": mark for name, mark in self.marks.items()}}


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


def checked(path: str | os.PathLike[str], inputs: Iterable[object] = ()) -> str:
    """Return the suffix that says how to write *path*.

    Raises:
        UsageError: no list of replies is written so, or it would take the place of one of the *inputs*.
    """
    name = os.fspath(path)
    if input_at(name, inputs) is not None:
        raise UsageError(f"--items {printable(name)} is one of the files that are scored: choose another name")
    suffix = next((one for one in SUFFIXES if name.lower().endswith(one)), None)
    if suffix is None:
        raise UsageError(f"--items {printable(name)}: choose a name that ends in {' or '.join(SUFFIXES)}")
    return suffix


def write(path: str | os.PathLike[str], systems: Mapping[str, Iterable[ReplyVerdict]], profile: str) -> None:
    """Write the replies of one system, or of several the questions on which they differ.

    Args:
        path: what to write; its suffix says how.
        systems: what each of them answered.
        profile: by which they were scored.
    """
    suffix = checked(path)
    lists = [list(one) for one in systems.values()]
    rows = _parting(lists) if len(lists) > 1 else [(one,) for one in lists[0]]
    rows.sort(key=lambda row: min(DOUBTS.index(one.doubt) for one in row))
    records = [_record(row, profile, [*systems]) for row in rows]
    if suffix == ".jsonl":
        text = "".join(f"{json_text(record)}\n" for record in records)
    else:
        names = list(dict.fromkeys(name for record in records for name in record))
        text = written([names, *([_cell(record.get(name)) for name in names] for record in records)])
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def _parting(lists: Sequence[Sequence[ReplyVerdict]]) -> list[tuple[ReplyVerdict, ...]]:
    """Return the questions for which systems were given other marks."""
    first, *others = [{one.item.id: one for one in each} for each in lists]
    rows = (tuple(each[id] for each in (first, *others)) for id in first if all(id in each for each in others))
    return [row for row in rows if len({one.right for one in row}) > 1]


def _record(row: Sequence[ReplyVerdict], profile: str, systems: Sequence[str]) -> dict[str, object]:
    item = row[0].item
    record: dict[str, object] = {
        "id": item.id,
        "audio": item.audio,
        "task": item.task,
        "question": item.question,
        "options": item.options,
        "answer": item.answer,
        "profile": profile,
    }
    if len(row) == 1:
        return record | row[0].record()
    for number, (one, system) in enumerate(zip(row, systems, strict=True), 1):
        record |= {f"{name}_{number}": value for name, value in {"system": system, **one.record()}.items()}
    return record


def _cell(value: object) -> str:
    if isinstance(value, list):
        value = " | ".join(map(str, value))
    if isinstance(value, str):
        first, *others = _NEWLINE.split(value)
        return "".join([guarded(first), *(part if _NEWLINE.fullmatch(part) else printable(part) for part in others)])
    return "" if value is None else repr(int(value) if isinstance(value, bool) else value)
