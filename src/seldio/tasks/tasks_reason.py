"""Tasks with several steps, and motion: multi_hop, spatial_temporal, classify_motion."""

from __future__ import annotations

import math
from collections.abc import Iterator

from seldio.tasks.base import NO_META, Draft, moments
from seldio.tasks.directions import DIRECTIONS, RIVALS
from seldio.tasks.margins import Margins
from seldio.tasks.reasons import MOVES, SHORT, UNKNOWN, UNSTEADY
from seldio.tasks.scene import Event, Scene, sounds
from seldio.tasks.tasks_detect import span
from seldio.tasks.wording import Say, second

SLIGHT = "it moves a little"
MIXED = "its direction and its distance both change"
NOTHING_AFTER = "no single event follows in a clear direction"
#: Seconds; motion of shorter events is not asked about.
LONG_ENOUGH = 1.0


def multi_hop(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """What starts in a direction after something else has ended."""
    placed = [event for event in scene.events if not event.unplaced]
    for anchor, reason in zip(scene.events, scene.unnamed, strict=True):
        if reason:
            yield reason
            continue
        after = [event for event in placed if _follows(scene, anchor, event, margins)]
        if not after:
            yield NOTHING_AFTER
            continue
        event = say.pick(after)
        direction, name = DIRECTIONS[event.cell], event.name
        question = say.ask("multi_hop", anchor.name, place=direction.place, side=direction.name)
        answer = f"The {name.said} {name.verb} what starts {direction.place} after the {anchor.name.said}."
        yield Draft(question, answer, name.plain, NO_META, (anchor, event))


def _follows(scene: Scene, anchor: Event, event: Event, margins: Margins) -> bool:
    """Whether *event* starts after *anchor* has ended, and no other event in its direction may do so."""
    if event.first < anchor.end + margins.frames or event.name.plain == anchor.name.plain:
        return False
    rivals, earliest = RIVALS[event.cell], anchor.end - margins.frames
    return not any(o.first > earliest and o.cells & rivals for o in scene.events if o is not event)


def spatial_temporal(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """What sounds alone at a moment, from where, and from when to when."""
    for event in scene.events:
        if event.unplaced:
            yield event.unplaced
            continue
        frame = _alone(scene, event, margins, say)
        if frame is None:
            yield UNSTEADY
            continue
        direction, name = DIRECTIONS[event.cell], event.name
        times = f"{second(event.first)} to {second(event.end)}"
        answer = f"The {name.said} from {direction.name} {name.verb} active from {times}."
        canonical = f"{name.plain} from {direction.short}."
        yield Draft(say.ask("spatial_temporal", t=second(frame)), answer, canonical, span(event), (event,))


def _alone(scene: Scene, event: Event, margins: Margins, say: Say) -> int | None:
    """A moment of *event* around which nothing else sounds; None too where its class goes on beside it."""
    wide = margins.frames
    alike = scene.alike[event.name.plain]
    if any(o.first <= event.end + wide and event.first <= o.end + wide for o in alike if o is not event):
        return None
    others = [other for other in scene.events if other is not event]
    for frame in moments(event.first + 1, event.end - 1, say):
        if not sounds(others, frame - wide, frame + wide):
            return frame
    return None


def classify_motion(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Whether a source stays, moves around the listener, approaches or recedes.

    Where distances are not known, the question is about the direction alone.
    """
    for event, unnamed in zip(scene.events, scene.unnamed, strict=True):
        motion, reason = ("", unnamed) if unnamed else _motion(event, margins)
        if reason:
            yield reason
            continue
        task = "classify_motion_direction" if math.isnan(event.distance) else "classify_motion"
        name = event.name
        yield Draft(say.ask(task, name), _MOTIONS[motion].format_map(name.words), motion, NO_META, (event,))


_MOTIONS = {
    "stationary": "The {x} {remain} stationary throughout {its} duration.",
    "moving": "The {x} {verb} moving while {it} {sound}.",
    "approaching": "The {x} {verb} approaching the listener.",
    "receding": "The {x} {verb} receding from the listener.",
}


def _motion(event: Event, margins: Margins) -> tuple[str, str | None]:
    """The motion of *event*, or the reason why it is not clear."""
    if event.short or event.end - event.first < 10 * LONG_ENOUGH:
        return "", SHORT
    if math.isnan(event.azimuth):
        return "", UNKNOWN
    turns = event.spread > margins.moving
    if not turns and event.spread > margins.still:
        return "", SLIGHT
    if math.isnan(event.distance) or event.reach <= margins.metres:
        return ("moving" if turns else "stationary"), None
    if turns:
        return "", MIXED
    return _radial(event, margins)


def _radial(event: Event, margins: Margins) -> tuple[str, str | None]:
    """Approaching or receding, of a source whose direction stays; neither where it goes to and fro."""
    if abs(event.gain) <= margins.metres or abs(event.gain) < 0.8 * event.reach:
        return "", MOVES
    return ("approaching" if event.gain < 0 else "receding"), None
