"""Questions with four options: how many times, which sounds, which first, which longest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seldio.tasks.margins import Margins
from seldio.tasks.reasons import CLOSE, SHORT
from seldio.tasks.russian.clips import Clip, Sound
from seldio.tasks.russian.drafts import NO_ABSENT, NO_NAME, Draft, draft, draw, which
from seldio.tasks.russian.nouns import Noun, alike
from seldio.tasks.russian.tasks_binary import unclear
from seldio.tasks.russian.wording import FIRST, LONGEST_OF, PRESENT, TIMES, pauses, times
from seldio.tasks.wording import Say

AT_ONCE = "two events of the class sound at once"
PAUSE = "a pause is too short to count by"
SERIES = "one event of the class may be a series"
ALONE = "only one class sounds"


def captioning(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Details of a clip: the number and the order of its events."""
    yield from [NO_NAME] * clip.unnamed
    yield from _times(clip, margins, say)
    yield from _present(clip, say)
    if not clip.unnamed:
        yield from _first(clip, margins, say)
        yield from _longest(clip, margins, say)


def _times(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """How many times a class is heard; pauses are twice as long as those that the question leaves out."""
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
    """Why it is not sure how many times a class is heard."""
    if sound.noun.series or not sound.clear:
        return SERIES if sound.noun.series else SHORT
    if sound.pause is None:
        return None
    if sound.pause < 0:
        return AT_ONCE
    return PAUSE if sound.pause < max(1, 2 * margins.frames) else None


def _present(clip: Clip, say: Say) -> Iterator[Draft | str]:
    """Which of four classes sounds."""
    for sound in clip.sounds:
        if not sound.audible or len(clip.absent) < 3:
            yield SHORT if not sound.audible else NO_ABSENT
        else:
            yield which(say, PRESENT, sound.noun, draw(say, clip.absent, 3), sound.events)


def _first(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Which sounds first; all others begin later by the margin."""
    onsets = sorted((sound.events[0].first, number) for number, sound in enumerate(clip.sounds))
    if len(onsets) < 2:
        yield ALONE
        return
    winner = clip.sounds[onsets[0][1]]
    if not winner.clear:
        yield SHORT
    elif onsets[1][0] - onsets[0][0] < max(1, margins.frames):
        yield CLOSE
    else:
        yield _among(clip, winner, FIRST, say)


def _longest(clip: Clip, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Which lasts longest in all."""
    if len(clip.sounds) < 2:
        yield ALONE
        return
    winner = max(clip.sounds, key=_total)
    reasons = [unclear(winner, sound, margins) for sound in clip.sounds if sound is not winner]
    if not winner.audible:
        yield SHORT
    else:
        yield next((reason for reason in reasons if reason), None) or _among(clip, winner, LONGEST_OF, say)


def _total(sound: Sound) -> int:
    return sound.total


def _among(clip: Clip, winner: Sound, wordings: Sequence[str], say: Say) -> Draft | str:
    """The question for *winner* among others that sound, filled up to four with such as do not."""
    others = [sound for sound in clip.sounds if sound is not winner and not alike(winner.noun, sound.noun)]
    others = draw(say, others, 3)
    wrong: list[Noun] = [sound.noun for sound in others]
    wrong += draw(say, clip.absent, 3 - len(wrong))
    if len(wrong) < 3 or not others:
        return NO_ABSENT
    events = [event for sound in (winner, *others) for event in sound.events]
    return which(say, wordings, winner.noun, wrong, events)
