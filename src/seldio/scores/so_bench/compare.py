"""Which of two sounds a text says is higher or closer, or on which side of the other one."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from seldio.scores.so_bench.bearings import denied, sides, yes_no
from seldio.scores.so_bench.judgement import READ, Judgement, Request, judgement
from seldio.scores.so_bench.motions import POLES, SAME
from seldio.scores.so_bench.names import Mention, Names, beside
from seldio.scores.so_bench.quantities import only
from seldio.scores.so_bench.tidy import plainly

_THAN = re.compile(r"[^.;]*?\bthan\b")
#: "above the bell": what follows at once is what it is compared to.
_PLACED = ("above", "below", "beneath", "underneath")
_BOTH = re.compile(r"[\"']?\s*(?:or|and|nor|/)\s*(?:the |an? )?[\"']?")
_OF = re.compile(r"[\w-]+(?: hand)?(?: side)? (?:of|from) (?:the |an? )?[\"']?")
_IS = re.compile(r"[\w-]+(?: hand)?(?: side)?,? (?:is|are|comes?|there is) (?:the |an? )?[\"']?")


class _Pair(NamedTuple):
    """The two names of a comparison; *other* is empty where it is not known."""

    right: str
    other: str

    def against(self, name: str) -> str:
        return self.other if name == self.right else self.right


class _Relation(NamedTuple):
    """A word of comparison in a text."""

    pole: str
    word: str
    start: int
    end: int


# --- higher, closer --------------------------------------------------------------------------------


def compared(request: Request, text: str, names: Names) -> Judgement | None:
    """A judgement on compare_elevation or compare_distance; None where a judge is needed."""
    if not request.canonical_answer:
        return None
    question = plainly(request.question)
    asked = [pole for pole, pattern in POLES[request.task].items() if pattern.search(question)]
    right = names.named(request.canonical_answer)
    others = {each.name for each in names.find(f"{question} ; {plainly(request.answer)}")} - {right}
    pair = _Pair(right, others.pop() if len(others) == 1 else "")
    said = names.find(text)
    if any(each.name not in pair or denied(text, each.start) for each in said):
        return None
    relations = _relations(request.task, text)
    if any(denied(text, each.start) for each in relations):
        return None
    if relations:
        winner = only([_winner(each, text, said, pair, asked) for each in relations])
    elif SAME.search(text):
        return judgement(None, {"relation_match": False}, READ)
    else:
        winner = only([each.name for each in said])
    if winner is None:
        return None
    return judgement({"primary_source": winner or None}, {"relation_match": winner == right}, READ)


def _relations(task: str, text: str) -> list[_Relation]:
    found = [
        _Relation(pole, match.group(), *match.span())
        for pole, pattern in POLES[task].items()
        for match in pattern.finditer(text)
    ]
    return sorted(found, key=lambda each: each.start)


def _winner(relation: _Relation, text: str, said: list[Mention], pair: _Pair, asked: list[str]) -> str | None:
    """The name that a comparison gives what is asked for; None where it cannot be told."""
    subject = _subject(relation, text, said, pair)
    if subject is None or len(asked) != 1:
        return None
    return subject if relation.pole == asked[0] else pair.against(subject)


def _subject(relation: _Relation, text: str, said: list[Mention], pair: _Pair) -> str | None:
    """The name of what is said to be higher or closer."""
    than = _THAN.match(text, relation.end)
    behind = than.end() if than else relation.end if relation.word in _PLACED else None
    if behind is not None and (lesser := next((each.name for each in said if each.start >= behind), None)):
        return pair.against(lesser)
    if any(_BOTH.fullmatch(text, one.end, two.start) and two.end <= relation.start for one, two in pairwise(said)):
        return None  # "the bell or the guitar is higher"
    before = [each.name for each in said if each.end <= relation.start]
    after = [each.name for each in said if each.start >= relation.end]
    return before[-1] if before else after[0] if after else None


# --- left, right -----------------------------------------------------------------------------------

_TURNED = {"left": "right", "right": "left"}


def left_right(request: Request, text: str, names: Names) -> Judgement | None:
    """A judgement on relative_left_right; None where a judge is needed."""
    truth = beside(request.canonical_answer or "") or beside(request.answer)
    if truth is None:
        return None
    pair = _Pair(names.named(truth.x), names.named(truth.y))
    said = names.find(text)
    if any(each.name not in pair for each in said):
        return None
    found = sides(text)
    side = only([_side(name, place, text, said, pair) for name, place in found]) if found else _answered(request, text)
    if side is None:
        return None
    return judgement({"left_right": side}, {"relation_match": side == truth.side}, READ)


def _side(side: str, place: int, text: str, said: list[Mention], pair: _Pair) -> str | None:
    """The side of the first name that a text gives at *place*: *y is left of x* puts x to the right.

    None for a side of a name's own (*the vehicle's left*).
    """
    for pattern, first_is in ((_OF, True), (_IS, False)):
        link = pattern.match(text, place)
        named = next((each.name for each in said if link and each.start == link.end()), None)
        if named:
            return _TURNED[side] if (named == pair.right) is first_is else side
    before = [each for each in said if each.end <= place]
    if not before:
        return side
    own = text.startswith("'s", before[-1].end)
    return None if own else _TURNED[side] if before[-1].name == pair.other else side


def _answered(request: Request, text: str) -> str | None:
    """The side that yes or no gives, where the question names one side."""
    answer = yes_no(text)
    asked = {side for side, _ in sides(plainly(request.question))}
    if answer is None or len(asked) != 1:
        return None
    side = asked.pop()
    return str(side) if answer else _TURNED[side]
