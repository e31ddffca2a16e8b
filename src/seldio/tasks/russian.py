"""Labels to Russian questions: items in the style of ruEnvAQA, with two or four options.

The tasks are the benchmark's types of questions that labels can answer. Their names stay those of the
benchmark, though what is asked about are the classes of the labels, of which few are musical instruments.
Only what has one right answer is asked, with the clips, margins and counts of :mod:`seldio.tasks`.

Options that are wrong are classes that the labels know and that do not sound in the clip, nor may be taken
for one that does. What the labels do not know of is taken for background noise.

A wording is right for every class because verbs and cases come with the noun: ``{x}`` and ``{y}`` are nouns in the
nominative, with ``_gen``, ``_acc`` and ``_with`` in other cases; ``{x_heard}``, ``{x_sounds}`` and ``{x_lasts}`` are
verbs that agree with x (see :class:`seldio.tasks.nouns.Noun`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from itertools import combinations
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa

from seldio.formats.items import option_letter
from seldio.formats.mera import option_lines, template
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.tasks.generation import ItemPlace, ask_all
from seldio.tasks.margins import Margins
from seldio.tasks.nouns import Noun, RussianClip, Sound, alike, clip_of, known_classes, nested, nouns, pairs
from seldio.tasks.scene import SceneEvent
from seldio.tasks.task import CLOSE, NO_NAME, SHORT, Say, T, Task, digest
from seldio.tasks.wordings import one_few_many

# --- wording ----------------------------------------------------------------------------------------------
_DATA = tomllib.loads((resources.files("seldio.tasks") / "russian.toml").read_text("utf-8"))
YES, NO, ONE, SEVERAL = _DATA["answers"]
SINGLE, DOUBLE, LONGER, KINDS, TIMES, PRESENT, FIRST, LONGEST_OF = map(tuple, _DATA["wordings"].values())
#: The prompts around a question, by its number of options: the benchmark's, with Latin letters throughout.
INSTRUCTIONS = {n: (template(n), _DATA["instruction"].format(options=option_lines(n))) for n in (2, 4)}


def pauses(margins: Margins) -> str:
    """Return the sentence on pauses in questions that count how often something is heard."""
    if not margins.frames:
        return ""
    return str(_DATA["pauses"]).format(f"{margins.frames / 10:g}".replace(".", ","))


def times(number: int) -> str:
    """``1 раз``, ``2 раза``, ``5 раз``."""
    return f"{number} {_DATA['times'][one_few_many(number)]}"


# --- drafts --------------------------------------------------------------------------------------------------
#: Why a candidate is skipped; words that reports show, as well as those of :mod:`seldio.tasks.task`.
NO_ABSENT = "too few classes are surely absent"
NESTED = "one class is a kind of the other"


class Choice(NamedTuple):
    """A question before it gets its ids; ``right`` counts from 0."""

    question: str
    options: list[str]
    right: int
    instruction: str
    events: Sequence[SceneEvent]


def draw(say: Say, choices: Sequence[T], count: int) -> list[T]:
    """Draw *count* of *choices* without repetition, in a random order; all if there are fewer."""
    shuffled = list(choices)
    for place in range(min(count, len(shuffled))):
        other = place + say.below(len(shuffled) - place)
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return shuffled[:count]


def draft(
    say: Say, wordings: Sequence[str], words: Mapping[str, str], right: str, wrong: Iterable[str],
    events: Sequence[SceneEvent],
) -> Choice:  # fmt: skip
    """A question in one of its wordings, with the options *right* and *wrong* in a random order."""
    question = say.pick(wordings).format_map(words)
    options = [right, *wrong]
    options = draw(say, options, len(options))
    return Choice(question, options, options.index(right), say.pick(INSTRUCTIONS[len(options)]), events)


def yes_or_no(
    say: Say, wordings: Sequence[str], words: Mapping[str, str], truth: bool, events: Sequence[SceneEvent]
) -> Choice:
    """A question that is answered with yes or no."""
    return draft(say, wordings, words, YES if truth else NO, (NO if truth else YES,), events)


# --- two options ---------------------------------------------------------------------------------------------
BROAD = "the class may hold several kinds of sounds"
ALIKE = "the classes may be heard as one kind"
UNEVEN = "in all and at a stretch not the same lasts longer"


def single(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:  # noqa: ARG001
    """Ask whether a class sounds: once for each that does, once for one that does not."""
    yield from [NO_NAME] * clip.unnamed
    silent = draw(say, clip.absent, len(clip.sounds))
    for sound in clip.sounds:
        if not sound.audible:
            yield SHORT
            continue
        yield yes_or_no(say, SINGLE, sound.noun.x, True, sound.events)
        yield yes_or_no(say, SINGLE, silent.pop().x, False, ()) if silent else NO_ABSENT


def double(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:  # noqa: ARG001
    """Ask whether two classes both sound: once for each pair that does, once for a pair that does not."""
    yield from [NO_NAME] * clip.unnamed
    right_pairs = 0
    for pair in _both(clip, say):
        if isinstance(pair, str):
            yield pair
            continue
        right_pairs += 1
        x, y = pair
        yield yes_or_no(say, DOUBLE, x.noun.x | y.noun.y, True, (*x.events, *y.events))
    wrong = _wrong_both(clip, say, right_pairs)
    for noun, other, events in wrong:
        x_noun, y_noun = (noun, other) if say.below(2) else (other, noun)
        yield yes_or_no(say, DOUBLE, x_noun.x | y_noun.y, False, events)
    yield from [NO_ABSENT] * (right_pairs - len(wrong))


def _both(clip: RussianClip, say: Say) -> Iterator[tuple[Sound, Sound] | str]:
    """Yield all pairs of classes that sound, in either order; reasons for classes that are in none."""
    yield from [SHORT for sound in clip.sounds if not sound.audible]
    for pair in combinations([sound for sound in clip.sounds if sound.audible], 2):
        if nested(pair[0].noun, pair[1].noun):
            yield NESTED
        else:
            yield pair if say.below(2) else (pair[1], pair[0])


def _wrong_both(clip: RussianClip, say: Say, count: int) -> list[tuple[Noun, Noun, tuple[SceneEvent, ...]]]:
    """Return up to *count* different pairs of which one class or both are absent."""
    audible = [sound for sound in clip.sounds if sound.audible]
    mixed, silent = len(audible) * len(clip.absent), pairs(clip.absent)
    chosen: dict[int, None] = {}
    while len(chosen) < min(count, mixed + len(silent)):
        chosen[say.below(mixed + len(silent))] = None
    wrong_pairs: list[tuple[Noun, Noun, tuple[SceneEvent, ...]]] = []
    for number in chosen:
        if number < mixed:
            sound = audible[number // len(clip.absent)]
            wrong_pairs.append((sound.noun, clip.absent[number % len(clip.absent)], sound.events))
        else:
            wrong_pairs.append((*silent[number - mixed], ()))
    return wrong_pairs


def longer(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:
    """Ask whether one class lasts longer in all than another."""
    yield from [NO_NAME] * clip.unnamed
    for pair in _both(clip, say):
        if isinstance(pair, str):
            yield pair
        elif reason := unclear(*pair, margins):
            yield reason
        else:
            x, y = pair
            yield yes_or_no(say, LONGER, x.noun.x | y.noun.y, x.total > y.total, (*x.events, *y.events))


def unclear(sound: Sound, other: Sound, margins: Margins) -> str | None:
    """Why it is not sure which of two lasts longer; each of their events may be wrong by the margin."""
    difference = sound.total - other.total
    if abs(difference) <= margins.frames * (len(sound.events) + len(other.events)):
        return CLOSE
    return UNEVEN if (sound.longest - other.longest) * difference < 0 else None


def kinds(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:  # noqa: ARG001
    """Ask whether one kind of sounds is heard or several."""
    audible = [sound for sound in clip.sounds if sound.audible]
    if clip.unnamed:
        yield NO_NAME
    elif not audible:
        yield SHORT
    elif len(clip.sounds) == 1 and audible[0].noun.broad:
        yield BROAD
    elif len(clip.sounds) == 1:
        yield draft(say, KINDS, {}, ONE, (SEVERAL,), audible[0].events)
    elif all(alike(sound.noun, other.noun) for sound, other in combinations(audible, 2)):
        yield ALIKE if len(audible) > 1 else SHORT
    else:
        yield draft(say, KINDS, {}, SEVERAL, (ONE,), clip.scene.events)


# --- four options --------------------------------------------------------------------------------------------
AT_ONCE = "two events of the class sound at once"
PAUSE = "a pause is too short to count by"
SERIES = "one event of the class may be a series"
ALONE = "only one class sounds"


def captioning(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:
    """Details of a clip: the number and the order of its events."""
    yield from [NO_NAME] * clip.unnamed
    yield from _times(clip, margins, say)
    yield from _present(clip, say)
    if not clip.unnamed:
        yield from _most(clip, margins, say)


def _times(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:
    """Ask how many times a class is heard; pauses must be twice as long as those that the question ignores."""
    for sound in clip.sounds:
        if reason := _uncountable(sound, margins):
            yield reason
            continue
        number = len(sound.events)
        least = max(1, number - say.below(4))
        written = times if say.below(2) else str
        wrong = [written(other) for other in range(least, least + 4) if other != number]
        words = sound.noun.x | {"pauses": pauses(margins)}
        yield draft(say, TIMES, words, written(number), wrong, sound.events)


def _uncountable(sound: Sound, margins: Margins) -> str | None:
    """Return why the number of times a class is heard is uncertain; None if it is certain."""
    if sound.noun.series or not sound.clear:
        return SERIES if sound.noun.series else SHORT
    if sound.pause is None:
        return None
    if sound.pause < 0:
        return AT_ONCE
    return PAUSE if sound.pause < max(1, 2 * margins.frames) else None


def _present(clip: RussianClip, say: Say) -> Iterator[Choice | str]:
    for sound in clip.sounds:
        if not sound.audible or len(clip.absent) < 3:
            yield SHORT if not sound.audible else NO_ABSENT
        else:
            wrong = [noun.name for noun in draw(say, clip.absent, 3)]
            yield draft(say, PRESENT, {}, sound.noun.name, wrong, sound.events)


def _most(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Choice | str]:
    """Ask which sound is the first, and which lasts longest in all."""
    if len(clip.sounds) < 2:
        yield from (ALONE, ALONE)
        return
    first, second = sorted(clip.sounds, key=lambda sound: sound.events[0].first)[:2]
    close = second.events[0].first - first.events[0].first < max(1, margins.frames)
    yield SHORT if not first.clear else CLOSE if close else _among(clip, first, FIRST, say)
    longest = max(clip.sounds, key=attrgetter("total"))
    reasons = [unclear(longest, sound, margins) for sound in clip.sounds if sound is not longest]
    reason = next(filter(None, reasons), None) if longest.audible else SHORT
    yield reason or _among(clip, longest, LONGEST_OF, say)


def _among(clip: RussianClip, winner: Sound, wordings: Sequence[str], say: Say) -> Choice | str:
    """Ask for *winner* among other classes that sound, filled up to four with absent ones."""
    others = [sound for sound in clip.sounds if sound is not winner and not alike(winner.noun, sound.noun)]
    others = draw(say, others, 3)
    wrong: list[Noun] = [sound.noun for sound in others]
    wrong += draw(say, clip.absent, 3 - len(wrong))
    if len(wrong) < 3 or not others:
        return NO_ABSENT
    events = [event for sound in (winner, *others) for event in sound.events]
    return draft(say, wordings, {}, winner.noun.name, [noun.name for noun in wrong], events)


# --- what could be guessed -----------------------------------------------------------------------------------
#: What questions that name no class ask for.
_ASKED_FOR = {question: wordings[0] for wordings in (KINDS, PRESENT, FIRST, LONGEST_OF) for question in wordings}


@cache
def _forms() -> tuple[re.Pattern[str], dict[str, int]]:
    forms = {noun.x[case]: noun.number for noun in nouns().all for case in ("x", "x_gen", "x_acc")}
    longest = sorted(map(re.escape, forms), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest)})\b"), forms


def _claims(item: Item) -> list[list[Hashable]]:
    """Return the claims of each option, the right one first, about the classes of the question."""
    right = str(item.canonical_answer)
    options = [right, *(option for option in item.options or () if option != right)]
    if item.question in _ASKED_FOR:
        return [[(_ASKED_FOR[item.question], option)] for option in options]
    heard = [event.class_name for event in item.events or ()]
    if item.task == _LONGER and heard:
        return [[option, ("longer", heard[0 if option == YES else -1])] for option in options]
    if right in (YES, NO):
        pattern, forms = _forms()
        named = sorted({forms[form] for form in pattern.findall(item.question)})
        return [[(option, noun) for noun in named] or [option] for option in options]
    numbers = [option.partition(" ")[0] for option in options]
    return [[number, (heard[0] if heard else "", number)] for number in numbers]


# --- the tasks -----------------------------------------------------------------------------------------------
_LONGER = "Music instrument comparison (longer)"
_CANDIDATES = {
    "Music instrument counting": kinds,
    "Single music instrument detection": single,
    "Double music instrument detection": double,
    _LONGER: longer,
    "Audio captioning": captioning,
}
#: The types that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[RussianClip, Choice]] = {
    name: Task(name=name, candidates=candidates, claims=_claims, **_DATA["tasks"][name])
    for name, candidates in _CANDIDATES.items()
}
#: Types that labels cannot answer, with the reason.
REFUSED: dict[str, str] = _DATA["refused"]


def stream(table: pa.Table, **options: Any) -> Iterator[Item]:
    """Yield Russian items about the labels in *table*; arguments as of :func:`seldio.tasks.stream`.

    ``answer`` is the letter of the right option, ``canonical_answer`` its text. Ids are whole numbers, as the
    benchmark's, from a hash of the content; below 2^53, so that every JSON reader keeps them. In addition to the
    benchmark's keys, ``meta`` has the clip's ``audio_id``, and its ``start`` and ``end`` in seconds.
    """
    described, dataset = options.get("own"), origin_of(table).format or None
    own = described.nouns if described else ()
    view = partial(clip_of, known=known_classes(table, own), own=own)
    return ask_all(table, TASKS, REFUSED, view, partial(_item, dataset), **options)


def _item(dataset: str | None, place: ItemPlace, task: Task[RussianClip, Choice], draft: Choice) -> Item:
    scene, letter = place.scene, option_letter(draft.right)
    number = digest(scene.audio_id, task.name, draft.question, *draft.options, letter)[:13]
    return place.item(
        task, draft, id=str(int(number, 16)), instruction=draft.instruction, options=draft.options, answer=letter,
        canonical_answer=draft.options[draft.right], language="ru", dataset=dataset,
        extra={"meta": {"categories": {"knowledge": "common"}, "audio_id": scene.audio_id}},
    )  # fmt: skip
