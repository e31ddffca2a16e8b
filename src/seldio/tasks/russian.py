"""Labels to Russian questions: items in the style of ruEnvAQA, with two or four options.

The tasks are the benchmark's types of questions that labels can answer. Their names stay those of the
benchmark, though what is asked about are the classes of the labels, of which few are musical instruments.
Only what has one right answer is asked, with the clips, margins and counts of :mod:`seldio.tasks`.

Options that are wrong are classes that the labels know and that do not sound in the clip, nor may be taken
for one that does. What the labels do not know of is taken for background noise.

A wording is right for every class because verbs and cases come with the noun: ``{x}`` and ``{y}`` are nouns in the
nominative, with ``_gen``, ``_acc`` and ``_with`` in other cases; ``{x_heard}``, ``{x_sounds}`` and ``{x_lasts}`` are
verbs that agree with x (see :class:`Noun`).

The forms of nouns are data, ``nouns.json``: one entry for all spellings of a class in all vocabularies. A class
*covers* others that are kinds of it (a piano is music), and is *like* others that the ear, or a strict
reader, may take for it; what is heard with the one class does not prove that the other is absent. One event
of a class that comes in *series* may be several rings with pauses between them.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from itertools import combinations, islice
from math import comb
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from seldio.formats.items import option_letter
from seldio.formats.mera import option_lines, template
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.tasks.names import Name, capitalized, name_of
from seldio.tasks.scene import Claims, Draft, Lot, Scene, SceneEvent, Task, ask_all
from seldio.tasks.specs import Margins, QuestionOptions
from seldio.tasks.task import NAMELESS, Say, T, Why, digest, one_few_many
from seldio.vocabularies import spelling, vocabulary

if TYPE_CHECKING:
    from seldio.formats.own_dataset import ClassNoun


# --- nouns -----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class Noun:
    """A class in Russian."""

    number: int  # its place in the table
    gender: str  # m, f, n, or pl for nouns that stand in the plural
    name: str  # nominative, as an option
    #: what sentences need, by key: ``x``, ``x_gen``, ``x_acc``, ``x_with`` (instrumental after *с* or *со*),
    #: ``x_of`` (genitive of the sound of a thing: *звука пианино*), ``x_heard``, ``x_sounds``, ``x_lasts``, and ``X``
    #: and the verbs capitalised
    x: dict[str, str]
    y: dict[str, str]  # the same for a second noun
    broad: bool  # whether it covers other classes
    series: bool  # whether one event may be a series, so that nobody can count it
    nested: frozenset[int]  # the numbers of those that cover it or are covered by it
    alike: frozenset[int]  # of all that may be taken for it


class Nouns(NamedTuple):
    """All nouns, and by spelling."""

    all: tuple[Noun, ...]
    by_spelling: dict[str, Noun]


@cache
def nouns(class_nouns: tuple[ClassNoun, ...] = ()) -> Nouns:
    """Return the table of ``nouns.json`` with the classes that datasets decline or name like one of the table."""
    data: dict[str, Any] = json.loads(resources.files(__package__).joinpath("nouns.json").read_text("utf-8"))
    rows, verbs = data["classes"], data["verbs"]
    called = {spelling(row["forms"][0]): number for number, row in enumerate(rows)}
    declined = (noun for noun in class_nouns if noun.forms)
    rows += [{"names": noun.names, "gender": noun.gender, "forms": noun.forms} for noun in declined]
    numbers = {spelling(name): number for number, row in enumerate(rows) for name in row["names"]}
    for noun in class_nouns:
        spellings = [*map(spelling, noun.names)]
        rows_meant = [table[key] for table in (numbers, called) for key in spellings if key in table]
        if rows_meant:
            numbers |= dict.fromkeys(spellings, rows_meant[0])
    nested, alike = _related(rows, numbers, ("covers",)), _related(rows, numbers, ("covers", "like"))
    table_nouns = []
    for number, row in enumerate(rows):
        cases = dict(zip(("", "gen", "acc", "with"), row["forms"], strict=True))
        cases["of"] = row.get("of", cases["gen"])
        words = cases | verbs[row["gender"]]
        words |= {key.capitalize(): verb.capitalize() for key, verb in verbs[row["gender"]].items()}
        x, y = ({f"{letter}_{key}" if key else letter: word for key, word in words.items()} for letter in "xy")
        x["X"] = capitalized(cases[""])
        relatives = nested[number], alike[number]
        table_nouns.append(Noun(number, row["gender"], cases[""], x, y, "covers" in row, "series" in row, *relatives))
    return Nouns(tuple(table_nouns), {name: table_nouns[number] for name, number in numbers.items()})


def _related(rows: list[dict[str, Any]], numbers: dict[str, int], keys: tuple[str, ...]) -> list[frozenset[int]]:
    """Return for each class the classes that its row names under *keys*, or that name it."""
    related: list[set[int]] = [set() for _ in rows]
    for number, row in enumerate(rows):
        for other in (numbers[spelling(name)] for key in keys for name in row.get(key, ())):
            related[number].add(other)
            related[other].add(number)
    return [*map(frozenset, related)]


@cache
def noun_of(label: str, class_nouns: tuple[ClassNoun, ...] = ()) -> Noun | None:
    """Return the noun of a class; None where it has no Russian name."""
    return nouns(class_nouns).by_spelling.get(spelling(label))


@cache
def russian_name(label: str, class_nouns: tuple[ClassNoun, ...] = ()) -> Name:
    """Return the name of a class in Russian questions; canonical answers keep the English one."""
    name, noun = name_of(label), noun_of(label, class_nouns)
    if noun is not None:
        return name._replace(spoken=noun.name, plural=noun.gender == "pl", words=noun.x, others=noun.y)
    words = nouns().all[0]
    return name._replace(words=dict.fromkeys(words.x, NAMELESS), others=dict.fromkeys(words.y, NAMELESS))


@cache
def absent(audible: frozenset[Noun], listed: frozenset[Noun]) -> tuple[Noun, ...]:
    """Return the nouns of *listed* that are surely not heard where those of *audible* are."""
    out = {number for noun in audible for number in (noun.number, *noun.alike)}
    return tuple(sorted((noun for noun in listed if noun.number not in out), key=attrgetter("number")))


# --- clips -----------------------------------------------------------------------------------------------------------


class Sound(NamedTuple):
    """All that is heard of one class in a clip."""

    noun: Noun  # its name
    events: tuple[SceneEvent, ...]  # by onset
    total: int  # label frames in which it sounds
    longest: int  # label frames of its longest event
    #: label frames of its shortest pause: 0 where one event begins as another ends, below 0 where two sound at once;
    #: None where there is one event
    pause: int | None
    audible: bool  # whether one of its events is long enough to be asked about
    clear: bool  # whether all are


class RussianClip(NamedTuple):
    """One clip."""

    scene: Scene  # its events
    sounds: list[Sound]  # the classes that have a Russian name, by onset
    unnamed: int  # how many have none
    #: classes that the labels know and that surely do not sound; none where a class has no name
    absent: tuple[Noun, ...]


def clip_of(scene: Scene, listed: frozenset[Noun], class_nouns: tuple[ClassNoun, ...] = ()) -> RussianClip:
    """Return *scene* for the Russian tasks; *listed* are the classes that the labels would name."""
    events_by_noun: dict[Noun, list[SceneEvent]] = {}
    unnamed = 0
    for events in scene.alike.values():
        noun = noun_of(events[0].name.label, class_nouns)
        if noun is None:
            unnamed += 1
        else:
            events_by_noun.setdefault(noun, []).extend(events)
    sounds = []
    for noun, events in events_by_noun.items():
        events.sort(key=attrgetter("first"))
        total, end, pause = 0, -1, None
        for event in events:
            if end >= 0:
                gap = event.first - end
                pause = gap if pause is None else min(gap, pause)
            total += max(0, event.end - max(event.first, end))
            end = max(end, event.end)
        short = [event.short for event in events]
        longest = max(event.end - event.first for event in events)
        sounds.append(Sound(noun, tuple(events), total, longest, pause, not all(short), not any(short)))
    return RussianClip(scene, sounds, unnamed, () if unnamed else absent(frozenset(events_by_noun), listed))


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
    """Return ``1 раз``, ``2 раза``, ``5 раз``."""
    return f"{number} {_DATA['times'][one_few_many(number)]}"


# --- drafts --------------------------------------------------------------------------------------------------
#: Why a candidate is skipped; words that reports show, as well as those of :mod:`seldio.tasks.task`.
NO_ABSENT = "too few classes are surely absent"
NESTED = "one class is a kind of the other"


def draw(say: Say, choices: Sequence[T], count: int) -> list[T]:
    """Draw *count* of *choices* without repetition, in a random order; all if there are fewer."""
    shuffled = list(choices)
    for place in range(min(count, len(shuffled))):
        other = place + say.below(len(shuffled) - place)
        shuffled[place], shuffled[other] = shuffled[other], shuffled[place]
    return shuffled[:count]


def draft(
    say: Say,
    wordings: Sequence[str],
    words: Mapping[str, str],
    answers: Sequence[str],
    events: Sequence[SceneEvent],
    claims: Mapping[str, Sequence[Hashable]] | None = None,
) -> Draft:
    """Return a question in one of its wordings, with the *answers*, of which the first is right, in a random order.

    *claims* has what each option says of classes and numbers; without, it claims to be what is asked for.
    """
    question, options = say.pick(wordings).format_map(words), draw(say, answers, len(answers))
    instruction, letter = say.pick(INSTRUCTIONS[len(options)]), option_letter(options.index(answers[0]))

    def placed() -> Claims:
        said = claims or {answer: [(wordings[0], answer)] for answer in answers}
        return tuple((*said[answer], options.index(answer)) for answer in answers)

    return Draft(question, letter, answers[0], events, {}, options, instruction, claims=placed)


@cache
def _about(*nouns: Noun) -> dict[str, Sequence[Hashable]]:
    return {option: [(option, noun.number) for noun in nouns] for option in (YES, NO)}


# --- two options ---------------------------------------------------------------------------------------------
BROAD = "the class may hold several kinds of sounds"
ALIKE = "the classes may be heard as one kind"
UNEVEN = "in all and at a stretch not the same lasts longer"


def single(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Ask whether a class sounds: once for each that does, once for one that does not."""
    yield from [Why.NO_NAME] * clip.unnamed
    silent = draw(say, clip.absent, len(clip.sounds))
    for sound in clip.sounds:
        if not sound.audible:
            yield Why.SHORT
            continue
        yield draft(say, SINGLE, sound.noun.x, (YES, NO), sound.events, _about(sound.noun))
        noun = silent.pop() if silent else None
        yield NO_ABSENT if noun is None else draft(say, SINGLE, noun.x, (NO, YES), (), _about(noun))


def double(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Ask whether two classes both sound: once for each pair that does, once for a pair that does not."""
    yield from [Why.NO_NAME] * clip.unnamed
    right_pairs = 0
    for pair in _both(clip, say):
        if isinstance(pair, str):
            yield pair
            continue
        right_pairs += 1
        x, y = pair
        yield draft(say, DOUBLE, x.noun.x | y.noun.y, (YES, NO), (*x.events, *y.events), _about(x.noun, y.noun))
    # as many different pairs of which one class or both are absent
    audible = [sound for sound in clip.sounds if sound.audible]
    mixed, silent = len(audible) * len(clip.absent), comb(len(clip.absent), 2)
    chosen: dict[int, None] = {}
    while len(chosen) < min(right_pairs, mixed + silent):
        chosen[say.below(mixed + silent)] = None
    for number in chosen:
        if number < mixed:
            sound = audible[number // len(clip.absent)]
            noun, other, events = sound.noun, clip.absent[number % len(clip.absent)], sound.events
        else:
            (noun, other), events = next(islice(combinations(clip.absent, 2), number - mixed, None)), ()
        x_noun, y_noun = (noun, other) if say.below(2) else (other, noun)
        yield draft(say, DOUBLE, x_noun.x | y_noun.y, (NO, YES), events, _about(noun, other))
    yield from [NO_ABSENT] * (right_pairs - len(chosen))


def _both(clip: RussianClip, say: Say) -> Iterator[tuple[Sound, Sound] | str]:
    """Yield all pairs of classes that sound, in either order; reasons for classes that are in none."""
    yield from [Why.SHORT for sound in clip.sounds if not sound.audible]
    for pair in combinations([sound for sound in clip.sounds if sound.audible], 2):
        if pair[0].noun.number in pair[1].noun.nested:
            yield NESTED
        else:
            yield pair if say.below(2) else (pair[1], pair[0])


def longer(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Ask whether one class lasts longer in all than another."""
    yield from [Why.NO_NAME] * clip.unnamed
    for pair in _both(clip, say):
        if isinstance(pair, str):
            yield pair
        elif reason := unclear(*pair, margins):
            yield reason
        else:
            x, y = pair
            answers = (YES, NO) if x.total > y.total else (NO, YES)
            longest = {YES: x.events[0].name.label, NO: y.events[-1].name.label}
            claims = {option: (option, ("longer", name)) for option, name in longest.items()}
            yield draft(say, LONGER, x.noun.x | y.noun.y, answers, (*x.events, *y.events), claims)


def unclear(sound: Sound, other: Sound, margins: Margins) -> str | None:
    """Return why it is not sure which of two lasts longer; each of their events may be wrong by the margin."""
    difference = sound.total - other.total
    if abs(difference) <= margins.frames * (len(sound.events) + len(other.events)):
        return Why.CLOSE
    return UNEVEN if (sound.longest - other.longest) * difference < 0 else None


def kinds(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Ask whether one kind of sounds is heard or several."""
    audible = [sound for sound in clip.sounds if sound.audible]
    if clip.unnamed:
        yield Why.NO_NAME
    elif not audible:
        yield Why.SHORT
    elif len(clip.sounds) == 1 and audible[0].noun.broad:
        yield BROAD
    elif len(clip.sounds) == 1:
        yield draft(say, KINDS, {}, (ONE, SEVERAL), audible[0].events)
    elif all(sound.noun.number in other.noun.alike for sound, other in combinations(audible, 2)):
        yield ALIKE if len(audible) > 1 else Why.SHORT
    else:
        yield draft(say, KINDS, {}, (SEVERAL, ONE), clip.scene.events)


# --- four options --------------------------------------------------------------------------------------------
AT_ONCE = "two events of the class sound at once"
PAUSE = "a pause is too short to count by"
SERIES = "one event of the class may be a series"
ALONE = "only one class sounds"


def captioning(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Ask for details of a clip: the number and the order of its events."""
    yield from [Why.NO_NAME] * clip.unnamed
    for sound in clip.sounds:
        if reason := _uncountable(sound, margins):
            yield reason
            continue
        number = len(sound.events)
        least = max(1, number - say.below(4))
        written = times if say.below(2) else str
        numbers = [number, *(other for other in range(least, least + 4) if other != number)]
        words, label = sound.noun.x | {"pauses": pauses(margins)}, sound.events[0].name.label
        claims = {written(n): (str(n), (label, n)) for n in numbers}
        yield draft(say, TIMES, words, [*claims], sound.events, claims)
    for sound in clip.sounds:
        if not sound.audible or len(clip.absent) < 3:
            yield Why.SHORT if not sound.audible else NO_ABSENT
        else:
            wrong = [noun.name for noun in draw(say, clip.absent, 3)]
            yield draft(say, PRESENT, {}, [sound.noun.name, *wrong], sound.events)
    if not clip.unnamed:
        yield from _most(clip, margins, say)


def _uncountable(sound: Sound, margins: Margins) -> str | None:
    """Return why the number of times a class is heard is uncertain; None if it is certain.

    Pauses must be twice as long as those that the question ignores.
    """
    if sound.noun.series or not sound.clear:
        return SERIES if sound.noun.series else Why.SHORT
    if sound.pause is None:
        return None
    if sound.pause < 0:
        return AT_ONCE
    return PAUSE if sound.pause < max(1, 2 * margins.frames) else None


def _most(clip: RussianClip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Ask which sound is the first, and which lasts longest in all."""
    if len(clip.sounds) < 2:
        yield from (ALONE, ALONE)
        return
    first, second = sorted(clip.sounds, key=lambda sound: sound.events[0].first)[:2]
    close = second.events[0].first - first.events[0].first < max(1, margins.frames)
    yield Why.SHORT if not first.clear else Why.CLOSE if close else _among(clip, first, FIRST, say)
    longest = max(clip.sounds, key=attrgetter("total"))
    reasons = [unclear(longest, sound, margins) for sound in clip.sounds if sound is not longest]
    reason = next(filter(None, reasons), None) if longest.audible else Why.SHORT
    yield reason or _among(clip, longest, LONGEST_OF, say)


def _among(clip: RussianClip, winner: Sound, wordings: Sequence[str], say: Say) -> Draft | str:
    """Ask for *winner* among other classes that sound, filled up to four with absent ones."""
    others = [sound for sound in clip.sounds if sound is not winner and sound.noun.number not in winner.noun.alike]
    others = draw(say, others, 3)
    wrong: list[Noun] = [sound.noun for sound in others]
    wrong += draw(say, clip.absent, 3 - len(wrong))
    if len(wrong) < 3 or not others:
        return NO_ABSENT
    events = [event for sound in (winner, *others) for event in sound.events]
    return draft(say, wordings, {}, [noun.name for noun in (winner.noun, *wrong)], events)


# --- the tasks -----------------------------------------------------------------------------------------------
_CANDIDATES = {
    "Music instrument counting": kinds,
    "Single music instrument detection": single,
    "Double music instrument detection": double,
    "Music instrument comparison (longer)": longer,
    "Audio captioning": captioning,
}
#: The types that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[RussianClip]] = {
    name: Task(name=name, candidates=candidates, **_DATA["tasks"][name]) for name, candidates in _CANDIDATES.items()
}
#: Types that labels cannot answer, with the reason.
REFUSED: dict[str, str] = _DATA["refused"]


def stream(table: pa.Table, options: QuestionOptions, **more: Any) -> Iterator[tuple[Item, Lot]]:
    """Yield Russian items about the labels in *table*; arguments and pairs as of :func:`seldio.tasks.stream`.

    ``answer`` is the letter of the right option, ``canonical_answer`` its text. Ids are whole numbers, as the
    benchmark's, from a hash of the content; below 2^53, so that every JSON reader keeps them. In addition to the
    benchmark's keys, ``meta`` has the clip's ``audio_id``, and its ``start`` and ``end`` in seconds.
    """
    datasets, origin = more.get("datasets"), origin_of(table)
    class_nouns = datasets.nouns if datasets else ()
    # the classes that the labels would name: the table's vocabulary, or those that occur if others do
    classes = vocabulary(origin.vocabulary or "starss")
    written: list[str] = []  # the names of the classes that have no number
    if "class_name" in table.column_names:
        column = table["class_name"]
        if "class_id" in table.column_names:
            column = column.filter(table["class_id"].is_null())
        written = column.drop_null().unique().to_pylist()
    labels: Iterable[str] = (classes.label(index) for index in range(len(classes)))
    if any(spelling(name) not in classes.indices for name in written):
        numbers = table["class_id"].unique().to_pylist() if "class_id" in table.column_names else []
        labels = [*written, *(classes.label(number) for number in numbers if number is not None)]
    listed = frozenset(noun for noun in (noun_of(label, class_nouns) for label in labels) if noun is not None)
    view = partial(clip_of, listed=listed, class_nouns=class_nouns)
    return ask_all(table, TASKS, REFUSED, view, partial(_item, origin.format or None), options, **more)


def _item(dataset: str | None, scene: Scene, task: Task[RussianClip], draft: Draft) -> dict[str, Any]:
    number = digest(scene.audio_id, task.name, draft.question, *(draft.options or ()), draft.answer)[:13]
    return {
        "id": str(int(number, 16)),
        "language": "ru",
        "dataset": dataset,
        "extra": {"meta": {"categories": {"knowledge": "common"}, "audio_id": scene.audio_id}},
    }
