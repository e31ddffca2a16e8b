"""What a clip sounds like in Russian: its classes with their nouns, and those that are surely absent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from seldio.schema.events import origin_of
from seldio.tasks.russian.nouns import Noun, absent, mask_of, noun_of
from seldio.tasks.scene import Event, Scene
from seldio.vocabularies import spelling, vocabulary


class Sound(NamedTuple):
    """All that is heard of one class in a clip.

    Args:
        noun: its name.
        events: by onset.
        total: label frames in which it sounds.
        longest: label frames of its longest event.
        pause: label frames of its shortest pause: 0 where one event begins as another ends, below 0 where two
            sound at once; None where there is one event.
        audible: whether one of its events is long enough to be asked about.
        clear: whether all are.
    """

    noun: Noun
    events: tuple[Event, ...]
    total: int
    longest: int
    pause: int | None
    audible: bool
    clear: bool


class Clip(NamedTuple):
    """One clip.

    Args:
        scene: its events.
        sounds: the classes that have a Russian name, by onset.
        unnamed: how many have none.
        absent: classes that the labels know and that surely do not sound; none where a class has no name.
    """

    scene: Scene
    sounds: list[Sound]
    unnamed: int
    absent: tuple[Noun, ...]


def known_classes(table: pa.Table) -> int:
    """The mask of the classes that the labels would tell of: what they do not name is absent.

    Those of the table's vocabulary; only those that occur where some are no classes of it, for then nobody
    knows what else was listened for.
    """
    classes = vocabulary(origin_of(table).vocabulary or "starss")
    written = _written(table)
    labels: Iterable[str] = (classes.label(index) for index in range(len(classes)))
    if any(spelling(name) not in classes.indices for name in written):
        numbers = table["class_id"].unique().to_pylist() if "class_id" in table.column_names else []
        labels = [*written, *(classes.label(number) for number in numbers if number is not None)]
    return mask_of(noun for noun in map(noun_of, labels) if noun is not None)


def _written(table: pa.Table) -> list[str]:
    """The names of the classes that have no number."""
    if "class_name" not in table.column_names:
        return []
    names = table["class_name"]
    if "class_id" in table.column_names:
        names = names.filter(table["class_id"].is_null())
    return [name for name in names.unique().to_pylist() if name is not None]


def clip_of(scene: Scene, known: int) -> Clip:
    """*scene* for the Russian tasks; *known* is the mask of :func:`known_classes`."""
    found: dict[Noun, list[Event]] = {}
    unnamed = 0
    for events in scene.alike.values():
        noun = noun_of(events[0].name.label)
        if noun is None:
            unnamed += 1
        else:
            found.setdefault(noun, []).extend(events)
    sounds = [_sound(noun, events) for noun, events in found.items()]
    return Clip(scene, sounds, unnamed, () if unnamed else absent(mask_of(found), known))


def _sound(noun: Noun, events: list[Event]) -> Sound:
    events.sort(key=_onset)
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


def _onset(event: Event) -> int:
    return event.first
