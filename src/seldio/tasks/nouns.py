"""The classes of a clip in Russian: their nouns, and which classes are surely absent.

The forms are data, ``nouns.json``: one entry for all spellings of a class in all vocabularies. A class
*covers* others that are kinds of it (a piano is music), and is *like* others that the ear, or a strict
reader, may take for it; what is heard with the one class does not prove that the other is absent. One event
of a class that comes in *series* may be several rings with pauses between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import combinations
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from seldio.schema.events import origin_of
from seldio.tasks.names import Name, capitalized, name_of
from seldio.tasks.scene import Scene, SceneEvent
from seldio.tasks.wordings import NAMELESS
from seldio.vocabularies import spelling, vocabulary

if TYPE_CHECKING:
    from seldio.formats.own_dataset import ClassNoun


class Noun(NamedTuple):
    """A class in Russian."""

    number: int  # its bit in masks
    gender: str  # m, f, n, or pl for nouns that stand in the plural
    name: str  # nominative, as an option
    #: what sentences need, by key: ``x``, ``x_gen``, ``x_acc``, ``x_with`` (instrumental after *с* or *со*),
    #: ``x_of`` (genitive of the sound of a thing: *звука пианино*), ``x_heard``, ``x_sounds``, ``x_lasts``, and ``X``
    #: and the verbs capitalised
    x: dict[str, str]
    y: dict[str, str]  # the same for a second noun
    broad: bool  # whether it covers other classes
    series: bool  # whether one event may be a series, so that nobody can count it
    nested: int  # the mask of those that cover it or are covered by it
    alike: int  # of all that may be taken for it

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Noun) and (self.number, self.name) == (other.number, other.name)


class Nouns(NamedTuple):
    """All nouns, and by spelling."""

    all: tuple[Noun, ...]
    known: dict[str, Noun]


@cache
def nouns(own: tuple[ClassNoun, ...] = ()) -> Nouns:
    """The table of ``nouns.json`` with the classes that datasets decline, or name as one of the table is called."""
    data: dict[str, Any] = json.loads(files(__package__).joinpath("nouns.json").read_text("utf-8"))
    rows, verbs = data["classes"], data["verbs"]
    called = {spelling(row["forms"][0]): number for number, row in enumerate(rows)}
    declined = (noun for noun in own if noun.forms)
    rows += [{"names": noun.names, "gender": noun.gender, "forms": noun.forms} for noun in declined]
    numbers = {spelling(name): number for number, row in enumerate(rows) for name in row["names"]}
    for noun in own:
        known = [table[key] for table in (numbers, called) for key in map(spelling, noun.names) if key in table]
        if known:
            numbers |= dict.fromkeys(map(spelling, noun.names), known[0])
    nested, alike = _masks(rows, numbers, ("covers",)), _masks(rows, numbers, ("covers", "like"))
    made = tuple(
        _noun(number, row, verbs[row["gender"]], nested[number], alike[number]) for number, row in enumerate(rows)
    )
    return Nouns(made, {name: made[number] for name, number in numbers.items()})


def _noun(number: int, row: dict[str, Any], verbs: dict[str, str], nested: int, alike: int) -> Noun:
    cases = dict(zip(("", "gen", "acc", "with"), row["forms"], strict=True))
    cases["of"] = row.get("of", cases["gen"])
    words = cases | verbs | {key.capitalize(): verb.capitalize() for key, verb in verbs.items()}
    x, y = ({f"{letter}_{key}" if key else letter: word for key, word in words.items()} for letter in "xy")
    x["X"] = capitalized(cases[""])
    return Noun(number, row["gender"], cases[""], x, y, "covers" in row, "series" in row, nested, alike)


def _masks(rows: list[dict[str, Any]], numbers: dict[str, int], keys: tuple[str, ...]) -> tuple[int, ...]:
    """Return for each class the mask of the classes that its row names under *keys*, or that name it."""
    masks = [0] * len(rows)
    for number, row in enumerate(rows):
        for other in (numbers[spelling(name)] for key in keys for name in row.get(key, ())):
            masks[number] |= 1 << other
            masks[other] |= 1 << number
    return tuple(masks)


@cache
def noun_of(label: str, own: tuple[ClassNoun, ...] = ()) -> Noun | None:
    """The noun of a class; None where it has no Russian name."""
    return nouns(own).known.get(spelling(label))


@cache
def russian_name(label: str, own: tuple[ClassNoun, ...] = ()) -> Name:
    """Return the name of a class in Russian questions; canonical answers keep the English one."""
    name, noun = name_of(label), noun_of(label, own)
    if noun is not None:
        return name._replace(spoken=noun.name, plural=noun.gender == "pl", words=noun.x, others=noun.y)
    words = nouns().all[0]
    return name._replace(words=dict.fromkeys(words.x, NAMELESS), others=dict.fromkeys(words.y, NAMELESS))


def nested(noun: Noun, other: Noun) -> bool:
    """Whether one of two classes is a kind of the other."""
    return bool(noun.nested >> other.number & 1)


def alike(noun: Noun, other: Noun) -> bool:
    """Whether one of two classes may be taken for the other."""
    return bool(noun.alike >> other.number & 1)


def mask_of(classes: Iterable[Noun]) -> int:
    """The mask of some nouns."""
    return sum(1 << noun.number for noun in set(classes))


@cache
def absent(audible: int, known: int, own: tuple[ClassNoun, ...] = ()) -> tuple[Noun, ...]:
    """The nouns of *known* that are surely not heard where those of *audible* are: masks."""
    table = nouns(own)
    out = audible
    for noun in table.all:
        if audible >> noun.number & 1:
            out |= noun.alike
    return tuple(noun for noun in table.all if known & ~out & 1 << noun.number)


@cache
def pairs(classes: tuple[Noun, ...]) -> tuple[tuple[Noun, Noun], ...]:
    """All pairs of *classes*."""
    return tuple(combinations(classes, 2))


# --- clips ---------------------------------------------------------------------------------------------------
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


def known_classes(table: pa.Table, own: tuple[ClassNoun, ...] = ()) -> int:
    """Mask the classes that the labels would name: the table's vocabulary, or those that occur if others do."""
    classes = vocabulary(origin_of(table).vocabulary or "starss")
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
    return mask_of(noun for noun in (noun_of(label, own) for label in labels) if noun is not None)


def clip_of(scene: Scene, known: int, own: tuple[ClassNoun, ...] = ()) -> RussianClip:
    """*scene* for the Russian tasks; *known* is the mask of :func:`known_classes`."""
    events_by_noun: dict[Noun, list[SceneEvent]] = {}
    unnamed = 0
    for events in scene.alike.values():
        noun = noun_of(events[0].name.label, own)
        if noun is None:
            unnamed += 1
        else:
            events_by_noun.setdefault(noun, []).extend(events)
    sounds = [_sound(noun, events) for noun, events in events_by_noun.items()]
    return RussianClip(scene, sounds, unnamed, () if unnamed else absent(mask_of(events_by_noun), known, own))


def _sound(noun: Noun, events: list[SceneEvent]) -> Sound:
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
    return Sound(noun, tuple(events), total, longest, pause, not all(short), not any(short))
