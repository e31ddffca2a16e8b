"""Tasks about two sources, with several steps, and motion.

compare_elevation, compare_distance and relative_left_right make pairs of events whose class sounds once in the
clip and that stay where they are; multi_hop, spatial_temporal and classify_motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from functools import partial, update_wrapper
from itertools import combinations
from operator import attrgetter

from seldio.schema.qa import Item
from seldio.tasks.detect import span
from seldio.tasks.margins import Margins
from seldio.tasks.scene import DIRECTIONS, RIVALS, Scene, SceneEvent, each_event, sounds
from seldio.tasks.task import (
    CLOSE,
    MOVES,
    NO_DISTANCE,
    NO_META,
    SHORT,
    SOURCE_SUFFIXES,
    UNKNOWN,
    UNSTEADY,
    Draft,
    Say,
    Task,
    Wording,
    first_class,
    moments,
    name_of,
    published,
    second,
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
        for one, other in combinations(events, 2):
            yield ask(one, other, margins, say) if say.below(2) else ask(other, one, margins, say)

    return update_wrapper(candidates, ask)


@each_pair
def compare_elevation(one: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Which of two sources is higher, or lower, as an angle."""
    if round(abs(one.elevation - other.elevation), 6) <= margins.elevation:
        return CLOSE
    return _compared(one, other, say, "elevation", ("lower than", "higher than"))


@each_pair
def compare_distance(one: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Which of two sources is closer to the listener, or farther."""
    if math.isnan(one.distance + other.distance):
        return NO_DISTANCE
    if max(one.reach, other.reach) > margins.metres:
        return MOVES
    if round(abs(one.distance - other.distance), 6) <= margins.metres:
        return CLOSE
    return _compared(one, other, say, "distance", ("closer to", "farther from"))


def _compared(one: SceneEvent, other: SceneEvent, say: Say, key: str, relations: tuple[str, str]) -> Draft:
    """The question for the source with the least or the greatest *key*."""
    side = say.below(2)
    winner, loser = sorted((one, other), key=attrgetter(key), reverse=bool(side))
    more = relations[side]
    question = say.ask(one.name, y=other.name.spoken, more=more.removesuffix(" than"))
    than = f"{more} the listener than" if key == "distance" else more
    answer = f"The {winner.name.spoken} {winner.name.verb} {than} the {loser.name.spoken}."
    return Draft(question, answer, winner.name.plain, NO_META, (one, other))


@each_pair
def relative_left_right(one: SceneEvent, other: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """On which side of another source a source is, where turning and looking agree on it.

    Left is where the azimuth is greater by the shorter way round, and also where the place is farther left
    of the listener. Behind the listener the two contradict each other.
    """
    turn = (one.azimuth - other.azimuth + 180) % 360 - 180
    aside = _lateral(one) - _lateral(other)
    if min(abs(turn), abs(aside)) <= margins.azimuth:
        return CLOSE
    if abs(turn) >= 180 - margins.azimuth or (turn > 0) != (aside > 0):
        return BEHIND
    x, y = one.name, other.name
    side = f"{x.verb} to the {'left' if turn > 0 else 'right'} of"
    answer, canonical = f"The {x.spoken} {side} the {y.spoken}.", f"{x.said} {side} {y.said}."
    return Draft(say.ask(x, y=y.spoken), answer, canonical, NO_META, (one, other))


def _lateral(event: SceneEvent) -> float:
    """The angle from the plane between left and right, degrees: 90 is left, -90 right."""
    azimuth, elevation = math.radians(event.azimuth), math.radians(event.elevation)
    return math.degrees(math.asin(max(-1.0, min(1.0, math.sin(azimuth) * math.cos(elevation)))))


@each_event("unnamed")
def multi_hop(scene: Scene, anchor: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """What starts in a direction after something else has ended."""
    after = [event for event in scene.events if not event.unplaced and _follows(scene, anchor, event, margins)]
    if not after:
        return NOTHING_AFTER
    event = say.pick(after)
    direction, name = DIRECTIONS[event.cell], event.name
    question = say.ask(anchor.name, place=direction.place, side=direction.name)
    answer = f"After the {anchor.name.spoken}, the {name.spoken} {name.words['start']} {direction.place}."
    return Draft(question, answer, name.plain, NO_META, (anchor, event))


def _follows(scene: Scene, anchor: SceneEvent, event: SceneEvent, margins: Margins) -> bool:
    """Whether *event* starts after *anchor* has ended, and no other event in its direction may do so."""
    if event.first < anchor.end + margins.frames or event.name.spoken == anchor.name.spoken:
        return False
    rivals, earliest = RIVALS[event.cell], anchor.end - margins.frames
    return not any(o.first > earliest and o.cells & rivals for o in scene.events if o is not event)


@each_event()
def spatial_temporal(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """What sounds alone at a moment, from where, and from when to when; not where its class also sounds elsewhere."""
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
    direction, name = DIRECTIONS[event.cell], event.name
    times = f"{second(event.first)} to {second(event.end)}"
    answer = f"The {name.spoken} from {direction.name} {name.verb} active from {times}."
    canonical = f"{name.plain} from {direction.short}."
    return Draft(say.ask(t=second(frame)), answer, canonical, span(event), (event,))


#: The answers about motion.
MOTIONS = {
    "stationary": "The {x} {remain} stationary throughout.",
    "moving": "The {x} {verb} moving while audible.",
    "approaching": "The {x} {verb} approaching the listener.",
    "receding": "The {x} {verb} receding from the listener.",
}


@each_event("unnamed")
def classify_motion(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """Whether a source stays, moves around the listener, approaches or recedes.

    Where distances are not known, the question is about the direction alone.
    """
    motion, name = _motion(event, margins), event.name
    if motion not in MOTIONS:
        return motion
    question = say.ask(name, way=int(math.isnan(event.distance)))
    return Draft(question, MOTIONS[motion].format_map(name.words), motion, NO_META, (event,))


def _motion(event: SceneEvent, margins: Margins) -> str:
    """The motion of *event*, or the reason why it is not clear, as of what goes to and fro."""
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
    """That one class has more of a *field* than the other, and that the source which is named first is right."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = item.events
    more, less = (one, other) if (getattr(one, field) or 0) >= (getattr(other, field) or 0) else (other, one)
    first = item.canonical_answer == name_of(str(one.class_name)).plain
    return [[("more", more.class_name), ("first", first)], [("more", less.class_name), ("first", not first)]]


def _leftmost(item: Item) -> list[list[Hashable]] | None:
    """That one class is left of the other, and that the first one is."""
    if item.events is None or len(item.events) != 2:
        return None
    one, other = (event.class_name for event in item.events)
    left = " left of " in (item.canonical_answer or "")
    return [[("left", one if left else other), ("side", left)], [("left", other if left else one), ("side", not left)]]


#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    published(
        "multi_hop", candidates=multi_hop,
        wordings=(
            Wording((
                "After the {x} can no longer be heard, which sound starts {place}?",
                "Of the sounds that start after the {x} can no longer be heard, which one comes from {side}?",
                "Once the {x} can no longer be heard, which sound begins {place}?",
            ), SOURCE_SUFFIXES),
        ),
    ),
    published(
        "spatial_temporal", candidates=spatial_temporal, alike=first_class,
        wordings=(
            Wording((
                "Which sound source is active at {t}, from which direction does it come, and during which interval?",
                "One source is active at {t}. What is it, where does it come from, and when does it start and end?",
                "What is heard at {t}, from what direction, and when does it start and end?",
            ), (
                "Answer with source, direction, start and end in seconds.",
                "Name the source and its direction, and give the start and end in seconds.",
            )),
        ),
    ),
    published(
        "compare_elevation", candidates=compare_elevation, claims=partial(_most, field="elevation"),
        wordings=(
            Wording((
                "Which is {more}: the {x} or the {y}?",
                "Between the {x} and the {y}, which one is {more}?",
                "Compare the elevations of the {x} and the {y}: which source is {more}?",
            ), SOURCE_SUFFIXES),
        ),
    ),
    published(
        "compare_distance", candidates=compare_distance, claims=partial(_most, field="distance"),
        wordings=(
            Wording((
                "Which is {more} the listener: the {x} or the {y}?",
                "Between the {x} and the {y}, which one is {more} the listener?",
                "Compare the distances of the {x} and the {y}: which source is {more} the listener?",
            ), SOURCE_SUFFIXES),
        ),
    ),
    published(
        "relative_left_right", candidates=relative_left_right, claims=_leftmost,
        alike=lambda item: " left of " in (item.canonical_answer or ""),
        wordings=(
            Wording((
                "Say whether the {x} {verb} to the left or to the right of the {y}.",
                "From the listener's viewpoint, on which side of the {y} can the {x} be heard: left or right?",
                "{Do} the {x} come from the left or the right of the {y}?",
            ), ("Answer with left or right.", "Answer in one sentence.", "")),
        ),
    ),
    published(
        "classify_motion", candidates=classify_motion, contexts=lambda item: (first_class(item),),
        wordings=(
            Wording((
                "How {do} the {x} move relative to the listener?",
                "Say whether the {x} {verb} stationary, moving around the listener, approaching or receding.",
                "Describe the motion of the {x} relative to the listener.",
            ), ("Choose from stationary, moving, approaching and receding.", "Describe the motion.")),
            Wording((
                "Does the direction of the {x} change, or does it stay the same?",
                "Judging by the direction alone, say whether the {x} {verb} stationary or moving.",
                "{Do} the {x} stay in one direction or move around?",
            ), ("Choose from stationary and moving.", "Answer with stationary or moving.")),
        ),
    ),
)  # fmt: skip
