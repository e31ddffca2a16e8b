"""Read judgements on SO-Bench predictions from their text, without a judge.

Each task has a reader: from a request to a judgement, or None where a judge is needed. Numbers are read from the
prediction alone, never with an eye on the right one; names, sides and motions are then compared to the right
answer. What a text does not say for sure (two values, a denial, a neighbouring name) is left to the judge.

A judgement is a plain dict, so that those of the official program's caches and outputs can be used as they
are: ``prediction`` holds what the text says (numbers, names, sides), ``semantic`` how that compares to the
right answer, ``notes`` is free text. A task reads one or two of these fields; :func:`faults` tells which it cannot.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from seldio.answers import measures
from seldio.answers.measures import OPPOSITE, POLES, denied, sides
from seldio.answers.reading import yes_or_no
from seldio.answers.words import Patterns, final_answer, only, plainly, unsure
from seldio.tasks.names import name_of
from seldio.tasks.specs import PUBLISHED

_RE, _BEARING, _NAME = (Patterns(part) for part in ("extract", "bearings", "names"))

# --- judgements ------------------------------------------------------------------------------------

#: ``{"prediction": {…}, "semantic": {…}, "notes": …}``.
Judgement = dict[str, Any]

#: The note on what was read from the text alone.
READ = "read without a judge"
#: How near the name of a sound is to the right one, from the nearest on.
LEVELS = ("exact_or_synonym", "compatible_but_broader", "related_but_wrong", "wrong", "unknown")
#: The values of the fields that are words.
WORDS: dict[str, tuple[str, ...]] = {
    "motion_label": ("stationary", "moving_toward", "moving_away", "moving_left", "moving_right", "moving"),
    "yes_no": ("yes", "no"),
    "left_right": ("left", "right"),
    "height_relation": ("higher", "lower", "same"),
    "distance_relation": ("closer", "farther", "same"),
    "source_match_level": LEVELS,
}
#: The fields in the order of the official program.
PREDICTION_FIELDS = (
    "sources", "primary_source", "angle_deg", "elevation_deg", "distance_m", "time_span", "onset_time_s", "count",
    "motion_label", "yes_no", "left_right", "height_relation", "distance_relation", "direction_phrase", "transcript",
)  # fmt: skip
SEMANTIC_FIELDS = (
    "source_match_level",
    "source_match",
    "relation_match",
    "direction_match",
    "motion_match",
    "transcript_match",
)


@dataclasses.dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One prediction with its question and the right answer, for readers, judges and scores."""

    id: str  # of the question
    task: str  # as ``task_name`` has it
    question: str  # as it was asked
    answer: str  # the right one, in full
    canonical_answer: str | None  # its short form, where there is one
    meta: Mapping[str, Any]  # the right answer as numbers (``answer_meta``)
    prediction: str  # what the model said
    key: str = ""  # what the official program's cache knows it by


#: Judges many requests; None where it comes to no judgement.
Judge = Callable[[list[AnsweredQuestion]], Sequence[Judgement | None]]


def judgement(
    prediction: Mapping[str, Any] | None = None, semantic: Mapping[str, Any] | None = None, notes: str = ""
) -> Judgement:
    """Return a judgement with all fields; those not given are None, empty or unknown."""
    said = dict.fromkeys(PREDICTION_FIELDS) | {"sources": []} | dict(prediction or {})
    compared = dict.fromkeys(SEMANTIC_FIELDS) | {"source_match_level": "unknown", "source_match": False}
    return {"prediction": said, "semantic": compared | dict(semantic or {}), "notes": notes}


#: The fields by which an answer is held against the right one, by what it is; a number has its own field.
_COMPARED: dict[str, tuple[str, ...]] = {
    "source": ("source_match",), "source and direction": ("source_match", "direction_match"),
    "relation": ("relation_match",), "motion": ("motion_match",),
}  # fmt: skip


def faults(value: object, task: str) -> list[str]:
    """List the faults of *value* in the fields that a task reads, one sentence each.

    What the official program computes with is no fault: ``2.0`` for a count, ``"+30"`` for an angle, and a level of
    the source without ``source_match`` or the other way round.
    """
    if not isinstance(value, dict):
        return [f"a judgement is an object, not {type(value).__name__}"]
    if (record := PUBLISHED.get(task)) is None:
        return []
    read = {"prediction": (record.field,) if record.field else (), "semantic": _COMPARED.get(record.answer, ())}
    wrong = []
    for part, fields in read.items():
        judged = value.get(part)
        if not isinstance(judged, dict):
            wrong += [f"{part} is {'missing' if judged is None else 'no object'}"] if fields else []
            continue
        for field in fields:
            given, text = judged.get(field), ""
            if (given is None and field != "source_match") or (
                field == "source_match" and judged.get("source_match_level") in LEVELS
            ):
                continue
            if field == "time_span":
                pair = isinstance(given, list) and len(given) == 2 and None not in map(_number, given)
                text = "" if pair else "is not a pair of numbers"
            elif field in SEMANTIC_FIELDS:
                text = "" if isinstance(given, bool) else "is neither true nor false"
            elif (number := _number(given)) is None and field != "count":
                text = "is not a number"
            elif field == "count" and (number is None or not number.is_integer()):
                text = "is not a whole number"
            wrong += [f"{part}.{field} {text}"] if text else []
    return wrong


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


# --- names of sounds; case, plural, underscores and spaces do not count ----------------------------------------------

_TOKEN = re.compile(r"[a-z0-9]+")
#: Letters by which a word is told that begins no name.
_LEAST = 4
#: Longer answers are sentences, no names.
_MOST_WORDS = 7


class Mention(NamedTuple):
    """A name in a text."""

    name: str  # in its one spelling, see :func:`key`
    start: int  # of it in the text
    end: int  # behind it


class SideAnswer(NamedTuple):
    """The answer of relative_left_right: *x* is on that side of *y*."""

    x: str
    side: str
    y: str


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Return a word without the ending of a plural; the same for both, whatever it is."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is", "os")) else word


@lru_cache(maxsize=65536)
def key(name: str) -> str:
    """Return the one spelling in which names are compared.

    >>> key("String_Instruments"), key("door bell"), key("Doorbell")
    ('stringinstrument', 'doorbell', 'doorbell')
    """
    plain = _NAME.genitive.sub("", name.lower().replace("_", " "))
    return "".join(map(singular, _TOKEN.findall(plain)))


def listed_names(text: str) -> list[str]:
    """Return the names in a list of events with their times (detect_source)."""
    return [match["quoted"] or _NAME.lead.sub("", match["plain"]).strip() for match in _NAME.listed.finditer(text)]


def side_answer(text: str) -> SideAnswer | None:
    """Return the two names and the side of an answer of relative_left_right."""
    match = _NAME.sides.match(text)
    return SideAnswer(match["x"], match["side"].lower(), match["y"]) if match else None


def source_and_direction(text: str) -> tuple[str, str] | None:
    """Return the two parts of a canonical answer of spatial_temporal, which is *source* from *direction*."""
    source, separator, direction = text.strip().rstrip(".").partition(" from ")
    return (source.strip().strip('"'), direction.strip()) if separator else None


def names_in(task: str | None, answer: str | None, canonical: str | None) -> Iterator[str]:
    """Yield the names that the right answer of a question holds."""
    text, read = canonical or "", PUBLISHED[task].read if task in PUBLISHED else None
    if read == "sources":
        yield from listed_names(text or answer or "")
    elif read == "source and direction":
        if parts := source_and_direction(text):
            yield parts[0]
    elif read == "side":
        if sides := side_answer(text or answer or ""):
            yield from (sides.x, sides.y)
    elif read in ("source", "comparison"):
        yield text


class Names:
    """The names that texts are searched for: those of right *answers*, which no synonym ever replaces."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        self._families: dict[str, set[str]] = {}
        self._synonyms: dict[str, str] = {}  # the usual name of each
        self._starts: set[str] = set()
        self._longest = 1
        answers = [name for name in dict.fromkeys(answers) if 0 < len(_TOKEN.findall(name.lower())) <= _MOST_WORDS]
        for name in answers:
            self._add(name, key(name))
        called = Counter(name_of(name).spoken for name in answers)
        for name in answers:
            if called[spoken := name_of(name).spoken] == 1:
                self._add(spoken, key(name))
        self._classes = {key(name) for name in answers}
        table = _table()
        for family, members in table["families"].items():
            for usual, others in members.items():  # a group of synonyms
                group = [key(name) for name in (usual, *others)]
                main = [name_key for name_key in dict.fromkeys(group) if name_key in self._names]
                for name in (usual, *others) if len(main) < 2 else ():
                    self._add(name, main[0] if main else group[0])
                for name_key in main or group[:1]:
                    self._families.setdefault(name_key, set()).update((family, *table["also"].get(usual, ())))
                    self._synonyms[name_key] = usual
        for name in answers:
            for part in name.split(",") if "," in name else ():
                if " or " not in part:
                    self._add(part, key(name))

    def _add(self, name: str, meant: str) -> None:
        if spelled := key(name):
            self._names.setdefault(spelled, meant)
            self._starts.update(spelled[:length] for length in range(1, _LEAST + 1))
            self._longest = max(self._longest, len(_TOKEN.findall(name.lower())) + 1)

    def named(self, name: str) -> str:
        """Return the spelling under which *name* is found in texts."""
        return self._names.get(key(name), key(name))

    def find(self, text: str) -> list[Mention]:
        """Return the names in a plain text, the longest first at each place, none inside another."""
        mentions: list[Mention] = []
        tokens = [(singular(token_match.group()), *token_match.span()) for token_match in _TOKEN.finditer(text)]
        behind = 0
        for place, (word, start, _) in enumerate(tokens):
            if place < behind or word[:_LEAST] not in self._starts:
                continue
            spelled, longest = "", 0
            for number, (token, _, end) in enumerate(tokens[place : place + self._longest], place + 1):
                if token == "s":  # of a genitive
                    continue
                spelled += token
                if meant := self._names.get(spelled):
                    mention, longest = Mention(meant, start, end), number
            if longest:
                mentions.append(mention)
                behind = longest
        return mentions

    def level(self, answered: set[str], true: set[str]) -> str | None:
        """Return how near the names of an answer are to the right ones; None if a judge has to decide."""
        if not answered or not true:
            return None
        if answered == true:
            return "exact_or_synonym"
        pairs = [(answer, right) for answer in answered for right in true]
        # without a family in common neither is a synonym of the other, nor wider, nor a neighbour
        families = [(self._families.get(answer), self._families.get(right)) for answer, right in pairs]
        if all(first and second and not first & second for first, second in families):
            return "wrong"
        for pair in pairs:  # classes of the benchmark, no synonyms, of which neither may hold the other
            usual = {self._synonyms.get(name, name) for name in pair}
            if not {*pair} <= self._classes or len(usual) != 2 or not usual.isdisjoint(_table()["general"]):
                return None
        return "related_but_wrong"


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files(__package__ or "").joinpath("labels.json").read_text("utf-8"))
    return table


# --- comparisons -----------------------------------------------------------------------------------

#: "above the bell": what follows at once is what it is compared to.
_PLACED = ("above", "below", "beneath", "underneath")


class _Pair(NamedTuple):
    right: str
    other: str

    def against(self, name: str) -> str:
        return self.other if name == self.right else self.right


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
    relations = [(pole, match) for pole, words in POLES[request.task].items() for match in words.finditer(text)]
    if any(denied(text, match.start()) for _, match in relations):
        return None
    if relations:
        if len(poles) != 1:
            return None
        # behind the second of two names before it a relation is of neither: "the bell or the guitar is higher"
        neighbors = pairwise(mentions)
        choices = [second for first, second in neighbors if _RE.both.fullmatch(text, first.end, second.start)]
        winners = []
        for pole, relation in relations:
            than = _RE.than.match(text, relation.end())
            behind = than.end() if than else relation.end() if relation.group() in _PLACED else None
            lesser = [mention.name for mention in mentions if behind is not None and mention.start >= behind]
            before = [mention.name for mention in mentions if mention.end <= relation.start()]
            after = [mention.name for mention in mentions if mention.start >= relation.end()]
            if lesser:
                name: str | None = pair.against(lesser[0])
            elif any(choice.end <= relation.start() for choice in choices):
                name = None
            else:
                name = before[-1] if before else after[0] if after else None
            winners.append(name and (name if pole == poles[0] else pair.against(name)))
        winner = only(winners)
    elif _BEARING.same.search(text):
        return judgement(None, {"relation_match": False}, READ)
    else:
        winner = only([mention.name for mention in mentions])
    if winner is None:
        return None
    return judgement({"primary_source": winner or None}, {"relation_match": winner == right}, READ)


# --- left, right -----------------------------------------------------------------------------------


def left_right(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    """Return a judgement on relative_left_right; None where a judge is needed."""
    truth = side_answer(request.canonical_answer or "") or side_answer(request.answer)
    if truth is None:
        return None
    pair = _Pair(names.named(truth.x), names.named(truth.y))
    mentions = names.find(text)
    if any(mention.name not in pair for mention in mentions):
        return None
    answered: list[str] = []  # the sides of the first name: *y is left of x* puts x to the right
    starts = {mention.start: mention.name for mention in mentions}
    for side, place in sides(text):
        link_of, link_is = _RE.of.match(text, place), _RE.is_word.match(text, place)
        behind_of = starts.get(link_of.end()) if link_of else None
        behind_is = starts.get(link_is.end()) if link_is else None
        before = [mention for mention in mentions if mention.end <= place]
        if behind_of or behind_is:
            turned = behind_of == pair.right if behind_of else behind_is != pair.right
        elif before and text.startswith("'s", before[-1].end):  # *the vehicle's left*
            return None
        else:
            turned = bool(before) and before[-1].name == pair.other
        answered.append(OPPOSITE[side] if turned else side)
    if not answered and (answer := yes_or_no(text, request.question)) is not None:
        asked = only(side for side, _ in sides(plainly(request.question)))
        answered = [asked if answer else OPPOSITE[asked]] if asked is not None else []
    stated = only(answered)
    if stated is None:
        return None
    return judgement({"left_right": stated}, {"relation_match": stated == truth.side}, READ)


# --- one question ----------------------------------------------------------------------------------

Reader = Callable[[AnsweredQuestion, str, Names], Judgement | None]
_SILENT = "the prediction is empty"
#: Characters; who says more than this without marking an answer is read by the judge.
_LONGEST = 2000
#: Of two angles the other one, which is no answer.
_OTHER_ANGLE = {"azimuth": "elevation", "elevation": "azimuth"}


def extract(request: AnsweredQuestion, names: Names) -> Judgement | None:
    """Return a judgement on what the prediction says; None where a judge is needed."""
    task = PUBLISHED.get(request.task)
    if task is None or task.answer == "speech":
        return judgement(notes="compared word by word")
    if not request.prediction.strip():
        return judgement(notes=_SILENT)
    if len(request.prediction) > _LONGEST and len(final_answer(request.prediction)) > _LONGEST:
        return None
    text, read = plainly(request.prediction), task.read
    if read is None or _BEARING.retracted.search(text) or unsure(text, task.answer in ("number", "interval")):
        return None
    if read not in measures.QUANTITIES:
        return READERS[read](request, text, names)
    if (value := measures.QUANTITIES[read](text)) is not None:
        return judgement({str(task.field): list(value) if isinstance(value, tuple) else value}, notes=READ)
    other = _OTHER_ANGLE.get(read)
    fields = {field for _, field in measures.angles(text)} if other else set()
    return judgement(notes=f"only an {other} is given") if fields == {other} else None


# --- names -----------------------------------------------------------------------------------------


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


def _unsure(text: str, mentions: list[Mention]) -> bool:
    """Return whether one of some names is denied, or said not to be heard."""
    return any(denied(text, name.start) or measures.inaudible(text, name.start, name.end) for name in mentions)


def _named(request: AnsweredQuestion, text: str, names: Names, true: str) -> tuple[list[Mention], str] | None:
    meant = names.named(true)
    in_question = {mention.name for mention in names.find(plainly(request.question))} - {meant}
    mentions = [mention for mention in names.find(text) if mention.name not in in_question]
    # "a dog, not a guitar": denied in favour of the text before it
    mentions = [
        mention for mention in mentions if not _BEARING.given_up.search(text, max(0, mention.start - 30), mention.start)
    ]
    if _unsure(text, mentions) or any(beside_another(text, mention) for mention in mentions):
        return None
    level = names.level({mention.name for mention in mentions}, {meant})
    return (mentions, level) if level else None


def _source(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    named = _named(request, text, names, request.canonical_answer) if request.canonical_answer else None
    return judgement(*_source_fields(*named), notes=READ) if named else None


def _detect_source(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    true = {names.named(name) for name in listed_names(request.canonical_answer or request.answer)}
    mentions = names.find(text)
    spans = measures.intervals(text)
    if len(spans) > len(mentions) or _unsure(text, mentions):
        return None  # an interval without a name that is known, or a name that is not meant
    bare = text  # with commas in the place of "and" between known names, so that places stay
    for first, second in pairwise(mentions):
        between = bare[first.end : second.start]
        if re.fullmatch(r"[\s,]*(?:and|or)?\s*(?:an?\s+|the\s+)?", between):
            bare = bare[: first.end] + "," * len(between) + bare[second.start :]
    level = names.level({mention.name for mention in mentions}, true)
    if level is None or (not spans and any(beside_another(bare, mention) for mention in mentions)):
        return None
    prediction, semantic = _source_fields(mentions, level)
    if len(spans) == 1:
        prediction["time_span"] = list(spans[0])
    return judgement(prediction, semantic, READ)


def _spatial_temporal(request: AnsweredQuestion, text: str, names: Names) -> Judgement | None:
    parts = source_and_direction(request.canonical_answer or "")
    true = measures.directions(plainly(parts[1])) if parts else None
    spans = [*dict.fromkeys(measures.intervals(text))]
    if not parts or not true or len(spans) > 1 or (not spans and measures.times(text)):
        return None
    named = _named(request, text, names, parts[0])
    directions = measures.directions(text)
    if directions is None or named is None:
        return None
    # the opposite of a right direction, which is not right as well
    contradictory = any(OPPOSITE[name] in true and name not in true for name in directions)
    match = directions == true or (False if contradictory else None)
    if match is None and named[1] == "exact_or_synonym":
        return None  # one is vaguer than the other
    prediction, semantic = _source_fields(*named)
    prediction |= {
        "time_span": list(spans[0]) if spans else None,
        "direction_phrase": " and ".join(sorted(directions)) or None,
    }
    return judgement(prediction, semantic | {"direction_match": match}, READ)


# --- relations and motions -------------------------------------------------------------------------


def _motion(request: AnsweredQuestion, text: str, _names: Names) -> Judgement | None:
    if _BEARING.absent.search(text):
        return None
    true = measures.motion(plainly(request.canonical_answer or request.answer))
    label = measures.motion(text)
    if label is None or true is None:
        return None
    opposite = {label, true} in ({"moving_toward", "moving_away"}, {"moving_left", "moving_right"})
    if label != true and "stationary" not in (label, true) and not opposite:
        return None  # one is a kind of the other
    return judgement({"motion_label": label}, {"motion_match": label == true}, READ)


#: What reads the answers of tasks, by the name that a task's record has; quantities have a table of their own.
READERS: dict[str, Reader] = {
    "source": _source, "sources": _detect_source, "source and direction": _spatial_temporal, "comparison": compared,
    "side": left_right, "motion": _motion,
}  # fmt: skip
