"""Questions with two options: what sounds, what does not, how many kinds, and which lasts longer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from seldio.tasks.margins import Margins
from seldio.tasks.reasons import CLOSE, SHORT
from seldio.tasks.russian.clips import Clip, Sound
from seldio.tasks.russian.drafts import NESTED, NO_ABSENT, NO_NAME, Draft, draft, draw, yes_or_no
from seldio.tasks.russian.nouns import Noun, alike, nested, pairs
from seldio.tasks.russian.wording import DOUBLE, KINDS, LONGER, ONE, SEVERAL, SINGLE
from seldio.tasks.scene import Event
from seldio.tasks.wording import Say

BROAD = "the class may hold several kinds of sounds"
ALIKE = "the classes may be heard as one kind"
UNEVEN = "in all and at a stretch not the same lasts longer"


def single(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Whether a class sounds: for each that does, another question about one that does not."""
    yield from [NO_NAME] * clip.unnamed
    silent = draw(say, clip.absent, len(clip.sounds))
    for sound in clip.sounds:
        if not sound.audible:
            yield SHORT
            continue
        yield yes_or_no(say, SINGLE, sound.noun.x, True, sound.events)
        yield yes_or_no(say, SINGLE, silent.pop().x, False, ()) if silent else NO_ABSENT


def double(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Whether two classes both sound: for each pair that does, another where one or both do not."""
    yield from [NO_NAME] * clip.unnamed
    found = 0
    for pair in _pairs(clip, say):
        if isinstance(pair, str):
            yield pair
            continue
        found += 1
        x, y = pair
        yield yes_or_no(say, DOUBLE, x.noun.x | y.noun.y, True, (*x.events, *y.events))
    wrong = _wrong_pairs(clip, say, found)
    for one, other, events in wrong:
        x_noun, y_noun = (one, other) if say.below(2) else (other, one)
        yield yes_or_no(say, DOUBLE, x_noun.x | y_noun.y, False, events)
    yield from [NO_ABSENT] * (found - len(wrong))


def _pairs(clip: Clip, say: Say) -> Iterator[tuple[Sound, Sound] | str]:
    """All pairs of classes that sound, each in one order or the other; the reasons of those that are in none."""
    yield from [SHORT for sound in clip.sounds if not sound.audible]
    for pair in combinations([sound for sound in clip.sounds if sound.audible], 2):
        if nested(pair[0].noun, pair[1].noun):
            yield NESTED
        else:
            yield pair if say.below(2) else (pair[1], pair[0])


def _wrong_pairs(clip: Clip, say: Say, count: int) -> list[tuple[Noun, Noun, tuple[Event, ...]]]:
    """*count* different pairs, or as many as there are, of which one class or both are absent."""
    heard = [sound for sound in clip.sounds if sound.audible]
    mixed, silent = len(heard) * len(clip.absent), pairs(clip.absent)
    chosen: dict[int, None] = {}
    while len(chosen) < min(count, mixed + len(silent)):
        chosen[say.below(mixed + len(silent))] = None
    found: list[tuple[Noun, Noun, tuple[Event, ...]]] = []
    for number in chosen:
        if number < mixed:
            sound = heard[number // len(clip.absent)]
            found.append((sound.noun, clip.absent[number % len(clip.absent)], sound.events))
        else:
            found.append((*silent[number - mixed], ()))
    return found


def longer(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Whether one class lasts longer in all than another."""
    yield from [NO_NAME] * clip.unnamed
    for pair in _pairs(clip, say):
        if isinstance(pair, str):
            yield pair
        elif reason := unclear(*pair, margins):
            yield reason
        else:
            x, y = pair
            yield yes_or_no(say, LONGER, x.noun.x | y.noun.y, x.total > y.total, (*x.events, *y.events))


def unclear(one: Sound, other: Sound, margins: Margins) -> str | None:
    """Why it is not sure which of two lasts longer; each of their events may be wrong by the margin."""
    difference = one.total - other.total
    if abs(difference) <= margins.frames * (len(one.events) + len(other.events)):
        return CLOSE
    return UNEVEN if (one.longest - other.longest) * difference < 0 else None


def kinds(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """Whether one kind of sounds is heard or several."""
    heard = [sound for sound in clip.sounds if sound.audible]
    if clip.unnamed:
        yield NO_NAME
    elif not heard:
        yield SHORT
    elif len(clip.sounds) == 1 and heard[0].noun.broad:
        yield BROAD
    elif len(clip.sounds) == 1:
        yield draft(say, KINDS, {}, ONE, (SEVERAL,), heard[0].events)
    elif all(alike(one.noun, other.noun) for one, other in combinations(heard, 2)):
        yield ALIKE if len(heard) > 1 else SHORT
    else:
        yield draft(say, KINDS, {}, SEVERAL, (ONE,), clip.scene.events)
