"""QAI4: questions that can be answered without listening, by what all of them together give away.

Whoever knows only the text may still be right more often than by guessing: the answer that is most often right, the
place of the right option, its length, words that go with it. Each is tried on the questions themselves, with what the
other four fifths of them teach, so that nothing is learned from a question it is asked. A finding has the share that is
right, its lower bound (Wilson, one-sided, 99.9 %) and what guessing gets; it is made where even the bound is
:data:`MARGIN` above guessing.

A part of a file keeps its questions with the smallest hashes, :data:`MOST` at most, and so does the sum: any division
into parts gives the same sample, and memory does not grow with the file.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from seldio.findings import Finding, Rule
from seldio.rules.collection import Found
from seldio.rules.item_table import ItemFile, ItemTable
from seldio.rules.registry import WARNING, rule
from seldio.schema.arrays import pc
from seldio.tasks.names import name_of, named_in_english
from seldio.text import clipped

#: So many questions are looked at; of more, those with the smallest hashes.
MOST = 4096
#: Fewer questions tell nothing.
FEWEST = 60
#: So far above guessing the lower bound has to be.
MARGIN = 0.05
#: Of open questions with more different answers than this, none is guessed.
_ANSWERS = 12
#: What words tell beyond the usual answer is a finding of its own from this share on.
_MORE = 0.03
_FOLDS = 5
_Z = 3.09  # one-sided, 99.9 %
_BUCKETS = 1 << 15
#: Features are worth as much as so many questions that say nothing.
_PRIOR = 2.0
_WORD = re.compile(r"[^\W_]+")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SAMPLE = pa.schema(
    [("hash", pa.int64()), ("id", pa.string()), ("task", pa.string()), ("question", pa.string()),
     ("options", pa.list_(pa.string())), ("answer", pa.string())]
)  # fmt: skip
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Guess(NamedTuple):
    """How often a way to guess is right."""

    group: str  # of the questions, in words
    what: str  # the way, in words
    right: float  # share of the questions
    bound: float  # the share is at least this, with 99.9 % confidence
    chance: float  # what guessing evenly gets
    number: int  # questions

    @property
    def telling(self) -> bool:
        """Whether it is right too often for guessing."""
        return self.bound > self.chance + MARGIN


def lower_bound(right: float, number: int, z: float = _Z) -> float:
    """The lower end of Wilson's interval for a share *right* of *number*."""
    middle, spread = right + z * z / (2 * number), z * math.sqrt(right * (1 - right) / number + (z / number) ** 2 / 4)
    return (middle - spread) / (1 + z * z / number)


@dataclasses.dataclass
class Blind:
    """A sample of questions with their answers, of a part of a file or of all of its parts together."""

    sample: pa.Table
    number: int  # questions that it is a sample of
    file: ItemFile | None = None  # of a sum, the questions

    @classmethod
    def of(cls, table: ItemTable) -> Blind:
        """The sample of a part; empty for predictions."""
        if not table.asks or table.column("answer").null_count == len(table):
            return cls(_SAMPLE.empty_table(), 0)
        answers = pc.coalesce(table.column("canonical_answer"), table.column("answer"))
        whole = pc.is_valid(table.column("options"))
        answers = pc.if_else(whole, table.column("answer"), answers)
        ids = table.column("id")
        hashes = pa.array([_mixed(id) for id in ids.to_pylist()], pa.int64())
        columns = [hashes, ids, table.column("task"), table.column("question"), table.column("options"), answers]
        known = pa.table(columns, _SAMPLE).filter(pc.is_valid(answers))
        return cls(_smallest(known), len(known))

    @classmethod
    def sum(cls, file: ItemFile, parts: Sequence[Blind]) -> Blind:
        """All parts of a file together."""
        tables = [part.sample for part in parts]
        return cls(_smallest(pa.concat_tables([_SAMPLE.empty_table(), *tables])), sum(p.number for p in parts), file)

    def finding(self, rule: Rule, guess: Guess, hint: str) -> Finding:
        """A finding about a way to guess."""
        assert self.file is not None
        some = "" if self.number <= MOST else f" (from a sample of {MOST:,} of {self.number:,})"
        message = (
            f"{guess.what} is right in {guess.right:.0%} of {guess.number:,} questions{guess.group}{some}, at least "
            f"{guess.bound:.0%} with 99.9 % confidence; guessing gets {guess.chance:.0%}"
        )
        return self.file.finding(rule, None, None, message, hint)

    @cached_property
    def groups(self) -> list[GuessGroup]:
        """The questions with options together, and the open ones of each task."""
        rows = self.sample.to_pylist()
        choices = [row for row in rows if row["options"] and _right(row) is not None]
        found = [GuessGroup("", choices)] if len(choices) >= FEWEST else []
        tasks: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            if not row["options"] and row["task"]:
                tasks.setdefault(row["task"], []).append(row)
        return found + [GuessGroup(task, some) for task, some in sorted(tasks.items()) if len(some) >= FEWEST]


def _mixed(id: str) -> int:
    """A number that the order of ids does not show in."""
    return (crc32(id.encode("utf-8", "surrogatepass")) * 0x9E3779B1) & 0xFFFFFFFF


def _smallest(table: pa.Table) -> pa.Table:
    order = pc.sort_indices(table, [("hash", "ascending"), ("id", "ascending"), ("question", "ascending")])
    return table.take(order[:MOST]).combine_chunks()


def _right(row: dict[str, Any]) -> int | None:
    """The number of the right option; None where the answer names none, or several."""
    options, answer = row["options"], row["answer"]
    found = [number for number, option in enumerate(options) if option == answer]
    if not found and answer.strip().upper() in tuple(_LETTERS[: len(options)]):
        return _LETTERS.index(answer.strip().upper())
    return found[0] if len(found) == 1 else None


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return [word.casefold() for word in _WORD.findall(text)]


class GuessGroup:
    """Questions that are guessed together: each has the numbers of its candidates, which are rows of one long list."""

    def __init__(self, task: str, rows: list[dict[str, Any]]) -> None:
        self.name = f" of {clipped(task)}" if task else " with options"
        self.open = bool(task)
        self.answers = sorted({_plain(row["answer"]) for row in rows}) if self.open else []
        self.few = not self.open or 1 < len(self.answers) <= _ANSWERS
        self.rows = rows if self.few else []
        options = self._named() if self.open else [row["options"] for row in self.rows]
        self.counts: Ints = np.array([len(some) for some in options], np.int64)
        self.starts: Ints = np.concatenate([[0], np.cumsum(self.counts)[:-1]]).astype(np.int64)
        self.texts = [text for some in options for text in some]
        right = [
            some.index(_plain(row["answer"])) if self.open else _right(row) or 0
            for some, row in zip(options, self.rows, strict=True)
        ]
        self.right = self.starts + np.array(right, np.int64)
        self.question = np.repeat(np.arange(len(self.rows)), self.counts)
        self.place = np.arange(len(self.texts)) - self.starts[self.question]
        self.fold = np.array([row["hash"] % _FOLDS for row in self.rows], np.int64)

    def _named(self) -> list[list[str]]:
        """Of each open question the answers to guess from: those that it names if all do, as "the bell or the dog".

        Where it names only the right one, there is another that is never right.
        """
        spoken = {_plain(row["answer"]): f" {_plain(name_of(row['answer']).spoken)} " for row in self.rows}
        named = []
        for row in self.rows:
            asked, right = f" {_plain(named_in_english(row['question']))} ", _plain(row["answer"])
            some = [answer for answer in self.answers if f" {answer} " in asked or spoken[answer] in asked]
            if right not in some:
                return [self.answers] * len(self.rows)
            named.append(some if len(some) > 1 else [right, ""])
        return named

    @property
    def chance(self) -> float:
        """What guessing evenly gets."""
        return float((1 / self.counts).mean())

    def guess(self, what: str, scores: Floats) -> Guess:
        """How often the candidate with the largest score is the right one; ties are shared."""
        best = np.maximum.reduceat(scores, self.starts)
        top = scores >= best[self.question] - 1e-12
        ties = np.add.reduceat(top.astype(np.int64), self.starts)
        right = float((top[self.right] / ties).mean())
        return Guess(self.name, what, right, lower_bound(right, len(self.rows)), self.chance, len(self.rows))

    def learned(self, rows: Ints, features: Ints) -> Floats:
        """The score of each candidate, by how often its features went with right ones in the other folds.

        *features* are numbers below ``_BUCKETS``, of the candidates with the numbers *rows*.
        """
        is_right = np.zeros(len(self.texts), bool)
        is_right[self.right] = True
        fold, base = self.fold[self.question], self.chance
        scores = np.zeros(len(self.texts))
        shown = np.stack([np.bincount(features[fold[rows] == n], minlength=_BUCKETS) for n in range(_FOLDS)])
        hits = np.stack([
            np.bincount(features[(fold[rows] == n) & is_right[rows]], minlength=_BUCKETS) for n in range(_FOLDS)
        ])  # fmt: skip
        for n in range(_FOLDS):
            rate = (hits.sum(0) - hits[n] + _PRIOR * base) / (shown.sum(0) - shown[n] + _PRIOR)
            mine = fold[rows] == n
            np.add.at(scores, rows[mine], np.log(rate / base)[features[mine]])
        return scores

    @cached_property
    def usual(self) -> Guess:
        """How often the answer is right that is right most often."""
        features = np.array([_bucket(text.casefold()) for text in self.texts], np.int64)
        return self.guess("the most frequent right answer", self.learned(np.arange(len(self.texts)), features))


def _plain(answer: str) -> str:
    return " ".join(words(answer)) or answer


def _bucket(text: str) -> int:
    return crc32(text.encode("utf-8", "surrogatepass")) % _BUCKETS


def _features(group: GuessGroup) -> tuple[Ints, Ints]:
    """Of each candidate: its words, each with each word of the question, and how many of them are in the question."""
    rows, features = list[int](), list[int]()
    asked = [words(row["question"])[:24] for row in group.rows]
    sets = [frozenset(some) for some in asked]
    for number, (question, text) in enumerate(zip(group.question.tolist(), group.texts, strict=True)):
        own = list(dict.fromkeys(words(text)))[:12]
        mine = {f"={text.casefold()}", *own, f"#{min(len(sets[question].intersection(own)), 3)}"}
        mine |= {f"{one} {other}" for one in (own if not group.open else [text]) for other in asked[question]}
        features += [_bucket(each) for each in sorted(mine)]
        rows += [number] * len(mine)
    return np.array(rows, np.int64), np.array(features, np.int64)


_BALANCE = "reshuffle the options, or choose questions with balanced answers (`seldio convert LABELS --balance`)"


@rule("QAI401", WARNING)
def telling_position(blind: Blind, found: Found) -> Iterator[Finding]:
    """Right option that is in the same place too often."""
    for group in blind.groups:
        if not group.open:
            guess = group.guess(
                "the position of the option alone", group.learned(np.arange(len(group.texts)), group.place)
            )
            if guess.telling:
                yield found(guess, "shuffle the options of each question")


@rule("QAI402", WARNING)
def telling_length(blind: Blind, found: Found) -> Iterator[Finding]:
    """Right option that is the longest, or the shortest, too often."""
    for group in blind.groups:
        if not group.open:
            lengths = np.array([len(text) for text in group.texts], float)
            for what, scores in (("the longest option", lengths), ("the shortest option", -lengths)):
                guess = group.guess(what, scores)
                if guess.telling:
                    yield found(guess, "write right and wrong options in the same style")


@rule("QAI403", WARNING)
def telling_answer(blind: Blind, found: Found) -> Iterator[Finding]:
    """Answer that is right too often."""
    for group in blind.groups:
        if group.few and group.usual.telling:
            yield found(group.usual, _BALANCE)


@rule("QAI404", WARNING)
def telling_words(blind: Blind, found: Found) -> Iterator[Finding]:
    """Answer that the words of the question and its options give away."""
    for group in blind.groups:
        if group.few:
            guess = group.guess("a classifier that reads the text alone", group.learned(*_features(group)))
            if guess.telling and not (group.usual.telling and guess.right < group.usual.right + _MORE):
                yield found(guess, "remove questions that can be answered without the recording")
