"""Read judgements on SO-Bench predictions from their text, without a judge.

Each task has a reader: from a request to a judgement, or None where a judge is needed. Numbers are read from the
prediction alone, never with an eye on the right one; names, sides and motions are then compared to the right
answer. What a text does not say for sure (two values, a denial, a neighbouring name) is left to the judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from seldio.answers import bearings, measures, plain_text
from seldio.answers.bearings import POLES, denied, sides
from seldio.answers.judgements import READ, AnsweredQuestion, Judgement, judgement
from seldio.answers.languages import Patterns, unsure
from seldio.answers.names import Mention, Names, listed_names, side_answer, source_and_direction
from seldio.answers.plain_text import plainly
from seldio.answers.quantities import only
from seldio.answers.reading import yes_or_no
from seldio.tasks.specs import PUBLISHED

_RE, _BEARINGS = Patterns("extract"), Patterns("bearings")

# --- comparisons -----------------------------------------------------------------------------------

#: "above the bell": what follows at once is what it is compared to.
_PLACED = ("above", "below", "beneath", "underneath")


class _Pair(NamedTuple):
    right: str
    other: str

    def against(self, name: str) -> str:
        return self.other if name == self.right else self.right


class _Relation(NamedTuple):
    pole: str
    word: str
    start: int
    end: int


# --- higher, closer --------------------------------------------------------------------------------


def compared(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    """Return a judgement on compare_elevation or compare_distance; None where a judge is needed."""
    if not request.canonical_answer:
        return None
    question = plainly(request.question)
    poles = [pole for pole, pattern in POLES[request.task].items() if pattern.search(question)]
    right = names.named(request.canonical_answer)
    others = {mention.name for mention in names.find(f"{question} ; {plainly(request.answer)}")} - {right}
    pair = _Pair(right, others.pop() if len(others) == 1 else "")
    mentions = names.find(text)
    if any(mention.name not in pair or denied(text, mention.start) for mention in mentions):
        return None
    relations = _relations(request.task, text)
    if any(denied(text, mention.start) for mention in relations):
        return None
    if relations:
        winner = only([_winner(mention, text, mentions, pair, poles) for mention in relations])
    elif _BEARINGS.same.search(text):
        return judgement(None, {"relation_match": False}, READ)
    else:
        winner = only([mention.name for mention in mentions])
    if winner is None:
        return None
    return judgement({"primary_source": winner or None}, {"relation_match": winner == right}, READ)


def _relations(task: str, text: str) -> list[_Relation]:
    relations = [
        _Relation(pole, match.group(), *match.span())
        for pole, pattern in POLES[task].items()
        for match in pattern.finditer(text)
    ]
    return sorted(relations, key=lambda relation: relation.start)


def _winner(relation: _Relation, text: str, mentions: list[Mention], pair: _Pair, poles: list[str]) -> str | None:
    """Return the name that a comparison favors; None if it is not clear."""
    subject = _subject(relation, text, mentions, pair)
    if subject is None or len(poles) != 1:
        return None
    return subject if relation.pole == poles[0] else pair.against(subject)


def _subject(relation: _Relation, text: str, mentions: list[Mention], pair: _Pair) -> str | None:
    than = _RE.than.match(text, relation.end)
    behind = than.end() if than else relation.end if relation.word in _PLACED else None
    if behind is not None and (lesser := next((mention.name for mention in mentions if mention.start >= behind), None)):
        return pair.against(lesser)
    if any(
        _RE.both.fullmatch(text, first.end, second.start) and second.end <= relation.start
        for first, second in pairwise(mentions)
    ):
        return None  # "the bell or the guitar is higher"
    before = [mention.name for mention in mentions if mention.end <= relation.start]
    after = [mention.name for mention in mentions if mention.start >= relation.end]
    return before[-1] if before else after[0] if after else None


# --- left, right -----------------------------------------------------------------------------------

_TURNED = {"left": "right", "right": "left"}


def left_right(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    """Return a judgement on relative_left_right; None where a judge is needed."""
    truth = side_answer(request.canonical_answer or "") or side_answer(request.answer)
    if truth is None:
        return None
    pair = _Pair(names.named(truth.x), names.named(truth.y))
    mentions = names.find(text)
    if any(mention.name not in pair for mention in mentions):
        return None
    named_sides = sides(text)
    side = (
        only([_side(name, place, text, mentions, pair) for name, place in named_sides])
        if named_sides
        else _answered(request, text)
    )
    if side is None:
        return None
    return judgement({"left_right": side}, {"relation_match": side == truth.side}, READ)


def _side(side: str, place: int, text: str, mentions: list[Mention], pair: _Pair) -> str | None:
    """Return the side of the first name (*y is left of x* puts x to the right); None for *the vehicle's left*."""
    for pattern, first_is in ((_RE.of, True), (_RE.is_word, False)):
        link = pattern.match(text, place)
        named = next((mention.name for mention in mentions if link and mention.start == link.end()), None)
        if named:
            return _TURNED[side] if (named == pair.right) is first_is else side
    before = [mention for mention in mentions if mention.end <= place]
    if not before:
        return side
    is_its_own_side = text.startswith("'s", before[-1].end)
    return None if is_its_own_side else _TURNED[side] if before[-1].name == pair.other else side


def _answered(request: AnsweredQuestion, text: str) -> str | None:
    answer = yes_or_no(text, request.question)
    asked = {side for side, _ in sides(plainly(request.question))}
    if answer is None or len(asked) != 1:
        return None
    side = asked.pop()
    return str(side) if answer else _TURNED[side]


# --- one question ----------------------------------------------------------------------------------

Reader = Callable[[AnsweredQuestion, str, Names], Judgement | None]
_SILENT = "the prediction is empty"
#: Characters; who says more than this without marking an answer is read by the judge.
_LONGEST = 2000


def extract(request: AnsweredQuestion, names: Names) -> Judgement | None:
    """Return a judgement on what the prediction says; None where a judge is needed."""
    task = PUBLISHED.get(request.task)
    if task is None or task.answer == "speech":
        return judgement(notes="compared word by word")
    if not request.prediction.strip():
        return judgement(notes=_SILENT)
    if len(request.prediction) > _LONGEST and len(plain_text.said(request.prediction)) > _LONGEST:
        return None
    text, read = plainly(request.prediction), task.read
    if read is None or bearings.retracted(text) or unsure(text, task.answer in ("number", "interval")):
        return None
    if read in measures.QUANTITIES:
        return _quantity(request, text, read)
    return READERS[read](request, text, names)


# --- numbers ---------------------------------------------------------------------------------------

#: Of two angles the other one, which is no answer.
_OTHER_ANGLE = {"azimuth": "elevation", "elevation": "azimuth"}


def _quantity(request: AnsweredQuestion, text: str, read: str) -> Judgement | None:
    if (value := measures.QUANTITIES[read](text)) is not None:
        value_fields = list(value) if isinstance(value, tuple) else value
        return judgement({str(PUBLISHED[request.task].field): value_fields}, notes=READ)
    other = _OTHER_ANGLE.get(read)
    return judgement(notes=f"only an {other} is given") if other and measures.names_only(text, other) else None


# --- names -----------------------------------------------------------------------------------------


def _level(answered: set[str], true: set[str], names: Names) -> str | None:
    """Compare the names of an answer with the right ones; None if a judge has to decide."""
    if not answered or not true:
        return None
    if answered == true:
        return "exact_or_synonym"
    pairs = [(answer, right) for answer in answered for right in true]
    if all(names.apart(*pair) for pair in pairs):
        return "wrong"
    return "related_but_wrong" if all(names.different(*pair) for pair in pairs) else None


def _source_fields(mentions: list[Mention], level: str) -> tuple[dict[str, object], dict[str, object]]:
    sources = list(dict.fromkeys(mention.name for mention in mentions))
    prediction: dict[str, object] = {"sources": sources, "primary_source": sources[0] if len(sources) == 1 else None}
    return prediction, {"source_match_level": level, "source_match": level == "exact_or_synonym"}


def beside_another(text: str, mention: Mention) -> bool:
    """Return whether a name stands in a row with something else: *a guitar and a kazoo*."""
    after = _RE.and_word.match(text, mention.end) and not _RE.goes_on.match(text, mention.end)
    before = _RE.before_and.search(text, 0, mention.start)
    direction = re.search(r"\b(?:above|below|left|right)\s+and\s+(?:the\s+)?\Z", text[: mention.start])
    return bool(after or (before and not direction))


def _unsure(text: str, mention: Mention) -> bool:
    return bearings.denied(text, mention.start) or bearings.inaudible(text, mention.start, mention.end)


def _named(request: AnsweredQuestion, text: str, names: Names, true: str) -> tuple[list[Mention], str] | None:
    meant = names.named(true)
    in_question = {mention.name for mention in names.find(plainly(request.question))} - {meant}
    mentions = [mention for mention in names.find(text) if mention.name not in in_question]
    mentions = [mention for mention in mentions if not bearings.given_up(text, mention.start)]
    if any(_unsure(text, mention) or beside_another(text, mention) for mention in mentions):
        return None
    level = _level({mention.name for mention in mentions}, {meant}, names)
    return (mentions, level) if level else None


def _source(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    named = _named(request, text, names, request.canonical_answer) if request.canonical_answer else None
    return judgement(*_source_fields(*named), notes=READ) if named else None


def _detect_source(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    true = {names.named(name) for name in listed_names(request.canonical_answer or request.answer)}
    mentions = names.find(text)
    spans = measures.intervals(text)
    if len(spans) > len(mentions) or any(_unsure(text, mention) for mention in mentions):
        return None  # an interval without a name that is known, or a name that is not meant
    level = _level({mention.name for mention in mentions}, true, names)
    if level is None or (not spans and any(beside_another(_without(text, mentions), mention) for mention in mentions)):
        return None
    prediction, semantic = _source_fields(mentions, level)
    if len(spans) == 1:
        prediction["time_span"] = list(spans[0])
    return judgement(prediction, semantic, READ)


def _without(text: str, mentions: list[Mention]) -> str:
    """Replace "and" between known names by commas, so that places stay."""
    for first, second in pairwise(mentions):
        between = text[first.end : second.start]
        if re.fullmatch(r"[\s,]*(?:and|or)?\s*(?:an?\s+|the\s+)?", between):
            text = text[: first.end] + "," * len(between) + text[second.start :]
    return text


def _spatial_temporal(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    parts = source_and_direction(request.canonical_answer or "")
    true = bearings.directions(plainly(parts[1])) if parts else None
    spans = measures.spans(text)
    if not parts or not true or len(spans) > 1 or (not spans and measures.times(text)):
        return None
    named = _named(request, text, names, parts[0])
    directions = bearings.directions(text)
    if directions is None or named is None:
        return None
    match = _direction_match(directions, true)
    if match is None and named[1] == "exact_or_synonym":
        return None
    prediction, semantic = _source_fields(*named)
    prediction |= {
        "time_span": list(spans[0]) if spans else None,
        "direction_phrase": " and ".join(sorted(directions)) or None,
    }
    return judgement(prediction, semantic | {"direction_match": match}, READ)


def _direction_match(answer: frozenset[str], true: frozenset[str]) -> bool | None:
    """Return whether two directions in words agree; None if one is vaguer than the other."""
    if answer == true:
        return True
    return False if bearings.contradictory(answer, true) else None


# --- relations and motions -------------------------------------------------------------------------


def _motion(request: AnsweredQuestion, text: str, _names: Names) -> Judgement | None:
    if _BEARINGS.absent.search(text):
        return None
    true = bearings.motion(plainly(request.canonical_answer or request.answer))
    label = bearings.motion(text)
    if label is None or true is None:
        return None
    match = bearings.same_motion(label, true)
    return None if match is None else judgement({"motion_label": label}, {"motion_match": match}, READ)


#: What reads the answers of tasks, by the name that a task's record has; quantities have a table of their own.
READERS: dict[str, Reader] = {
    "source": _source, "sources": _detect_source, "source and direction": _spatial_temporal, "comparison": compared,
    "side": left_right, "motion": _motion,
}  # fmt: skip
