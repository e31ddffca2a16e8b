"""Tasks about two sources (compare_…, relative_left_right), with several steps, and motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from functools import partial, update_wrapper
from itertools import combinations
from operator import attrgetter

from seldio.schema.qa import Item
from seldio.tasks.detect import span
from seldio.tasks.margins import Margins
from seldio.tasks.scene import RIVALS, Scene, SceneEvent, each_event, sounds
from seldio.tasks.task import (
    CLOSE,
    MOVES,
    NO_DISTANCE,
    NO_META,
    SHORT,
    UNKNOWN,
    UNSTEADY,
    Draft,
    Say,
    Task,
    first_class,
    moments,
    name_of,
    published,
)

BEHIND = "left and right are not clear behind or above the listener"
SLIGHT = "it moves a little"
MIXED = "its direction and its distance both change"
NOTHING_AFTER = "no single event follows in a clear direction"
#: Seconds; motion of shorter events is not asked about.
LONG_ENOUGH = 1.0


def each_pair(
    ask: Callable[[SceneEvent, SceneEvent, Margins, Say], Draft | str],
) -> Callable[[Scene, Margins, Say], Iterator[Draft | str]]:
    """Make *ask* the candidates of a task: of all pairs, each in one order or the other; why events are in none."""

    def candidates(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
        events, reasons = scene.nameable
        yield from reasons
        for event, other in combinations(events, 2):
            yield ask(event, other, margins, say) if say.below(2) else ask(other, event, margins, say)

    return update_wrapper(candidates, ask)


@each_pair
def compare_elevation(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Which of two sources is higher, or lower, as an angle."""
    if round(abs(event.elevation - other.elevation), 6) <= margins.elevation:
        return CLOSE
    return _compared(event, other, say, "elevation")


@each_pair
def compare_distance(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Which of two sources is closer to the listener, or farther."""
    if math.isnan(event.distance + other.distance):
        return NO_DISTANCE
    if max(event.reach, other.reach) > margins.metres:
        return MOVES
    if round(abs(event.distance - other.distance), 6) <= margins.metres:
        return CLOSE
    return _compared(event, other, say, "distance")


def _compared(event: SceneEvent, other: SceneEvent, say: Say, key: str) -> Draft:
    side = say.below(2)
    winner, loser = sorted((event, other), key=attrgetter(key), reverse=bool(side))
    more = say.language.words[key][side]
    which = say.language.words["which"][event.name.plural or other.name.plural]
    question = say.ask(event.name, other.name, more=more, which=which)
    answer = say.tell(winner.name, loser.name, more=more)
    return Draft(question, answer, winner.name.plain, NO_META, (event, other))


@each_pair
def relative_left_right(event: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """On which side of another source a source is, where turning and looking agree on it.

    Left is where the azimuth is greater by the shorter way round, and also where the place is farther left
    of the listener. Behind the listener the two contradict each other.
    """
    turn = (event.azimuth - other.azimuth + 180) % 360 - 180
    aside = _lateral(event) - _lateral(other)
    if min(abs(turn), abs(aside)) <= margins.azimuth:
        return CLOSE
    if abs(turn) >= 180 - margins.azimuth or (turn > 0) != (aside > 0):
        return BEHIND
    x, y = event.name, other.name
    canonical = f"{x.said} {x.verb} to the {'left' if turn > 0 else 'right'} of {y.said}."
    answer = say.tell(x, y, side=say.language.words["lateral"][turn > 0])
    return Draft(say.ask(x, y), answer, canonical, NO_META, (event, other))


def _lateral(event: SceneEvent) -> float:
    """Return the angle from the median plane, degrees: 90 is left, -90 right."""
    azimuth, elevation = math.radians(event.azimuth), math.radians(event.elevation)
    return math.degrees(math.asin(max(-1.0, min(1.0, math.sin(azimuth) * math.cos(elevation)))))


@each_event("unnamed")
def multi_hop(scene: Scene, anchor: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that starts in a direction after something else has ended."""
    after = [event for event in scene.events if not event.unplaced and _follows(scene, anchor, event, margins)]
    if not after:
        return NOTHING_AFTER
    event = say.pick(after)
    words = say.direction(event)
    question, answer = say.ask(anchor.name, **words), say.tell(anchor.name, event.name, **words)
    return Draft(question, answer, event.name.plain, NO_META, (anchor, event))


def _follows(scene: Scene, anchor: SceneEvent, event: SceneEvent, margins: Margins) -> bool:
    """Whether *event* starts after *anchor* has ended, and no other event in its direction may do so."""
    if event.first < anchor.end + margins.frames or event.name.spoken == anchor.name.spoken:
        return False
    rivals, earliest = RIVALS[event.cell], anchor.end - margins.frames
    return not any(o.first > earliest and o.cells & rivals for o in scene.events if o is not event)


@each_event()
def spatial_temporal(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that sounds alone at a moment, with direction and times, if it sounds nowhere else."""
    if event.unplaced:
        return event.unplaced
    wide, others = margins.frames, [other for other in scene.events if other is not event]
    alike = [other for other in scene.alike[event.name.spoken] if other is not event]
    if any(other.first <= event.end + wide and event.first <= other.end + wide for other in alike):
        return UNSTEADY
    alone = (f for f in moments(event.first + 1, event.end - 1, say) if not sounds(others, f - wide, f + wide))
    frame = next(alone, None)
    if frame is None:
        return UNSTEADY
    answer = say.tell(event.name, **say.direction(event), **say.times(event))
    canonical = f"{event.name.plain} from {say.language.directions[event.cell].short}."
    return Draft(say.ask(t=say.language.time(frame)), answer, canonical, span(event), (event,))


#: The answers about motion, in the order in which they are worded.
MOTIONS = ("stationary", "moving", "approaching", "receding")


@each_event("unnamed")
def classify_motion(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Ask whether a source stays, moves, approaches or recedes; only about the direction if distances are unknown."""
    motion, name = _motion(event, margins), event.name
    if motion not in MOTIONS:
        return motion
    way = int(math.isnan(event.distance))
    answer = say.tell(name, way=way, of=MOTIONS.index(motion))
    return Draft(say.ask(name, way=way), answer, motion, NO_META, (event,))


def _motion(event: SceneEvent, margins: Margins) -> str:
    """Return the motion of *event*, or the reason why it is not clear, such as going to and fro."""
    if event.short or event.end - event.first < 10 * LONG_ENOUGH:
        return SHORT
    if math.isnan(event.azimuth):
        return UNKNOWN
    turns = event.spread > margins.moving
    if not turns and event.spread > margins.still:
        return SLIGHT
    if math.isnan(event.distance) or event.reach <= margins.metres:
        return "moving" if turns else "stationary"
    if turns:
        return MIXED
    if abs(event.gain) <= margins.metres or abs(event.gain) < 0.8 * event.reach:
        return MOVES
    return "approaching" if event.gain < 0 else "receding"


# --- what could be guessed --------------------------------------------------------------------------------------


def _most(item: Item, field: str) -> list[list[Hashable]] | None:
    """Claim that one class has more of *field* than the other, and that the source named first is right."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = item.events
    more, less = (one, other) if (getattr(one, field) or 0) >= (getattr(other, field) or 0) else (other, one)
    first = item.canonical_answer == name_of(str(one.class_name)).plain
    return [[("more", more.class_name), ("first", first)], [("more", less.class_name), ("first", not first)]]


def _leftmost(item: Item) -> list[list[Hashable]] | None:
    """Claim that one class is left of the other, and that the first one is."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = (event.class_name for event in item.events)
    left = _is_left(item)
    return [[("left", one if left else other), ("side", left)], [("left", other if left else one), ("side", not left)]]


def _is_left(item: Item) -> bool:
    return " left of " in (item.canonical_answer or "")


#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    published("multi_hop", candidates=multi_hop),
    published("spatial_temporal", candidates=spatial_temporal, alike=first_class),
    published("compare_elevation", candidates=compare_elevation, claims=partial(_most, field="elevation")),
    published("compare_distance", candidates=compare_distance, claims=partial(_most, field="distance")),
    published("relative_left_right", candidates=relative_left_right, claims=_leftmost, alike=_is_left),
    published("classify_motion", candidates=classify_motion, contexts=lambda item: (first_class(item),)),
)
