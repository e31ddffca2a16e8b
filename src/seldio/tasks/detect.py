"""Tasks about what sounds, when, where, and what is at a place.

detect_time, detect_source, count_sources, identify_source_by_doa, identify_source_by_location, onset_from_location;
and with a number for an answer estimate_azimuth, estimate_elevation, estimate_distance.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterator

from seldio.schema.qa import AnswerMeta, Item
from seldio.tasks.margins import Margins
from seldio.tasks.names import capitalized, enumerated
from seldio.tasks.scene import DIRECTIONS, Scene, SceneEvent, cells, each_event, only_cell, sounds, tenths
from seldio.tasks.task import (
    DOUBLED,
    NO_DISTANCE,
    NO_META,
    SHARED,
    SHORT,
    SOURCE_SUFFIXES,
    UNKNOWN,
    UNSTEADY,
    Draft,
    Say,
    Task,
    Wording,
    degrees,
    first_class,
    meta,
    moments,
    number,
    published,
    second,
)

#: Longer lists are not asked for.
MOST_EVENTS = 8


def span(event: SceneEvent) -> AnswerMeta:
    """The interval of *event* as meta."""
    return meta(time_span=[event.first / 10, event.end / 10])


@each_event("unnamed")
def detect_time(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """When a class sounds that sounds once."""
    name, times = event.name, f"{second(event.first)} to {second(event.end)}"
    answer = f"The {name.spoken} {name.verb} audible from {times}."
    return Draft(say.ask(name), answer, times, span(event), (event,))


def detect_source(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """All events of a clip with their times, by onset."""
    events = scene.events
    if len(events) > MOST_EVENTS:
        yield f"more than {MOST_EVENTS} events"
    elif any(event.doubled for event in events):
        yield DOUBLED
    elif any(event.short for event in events):
        yield SHORT
    else:
        ordered = sorted(events, key=lambda event: (event.first, event.name.plain, event.end))
        listed = ", ".join(f"{e.name.said} from {second(e.first)} to {second(e.end)}" for e in ordered)
        heard = enumerated(f"{e.name.some} from {second(e.first)} to {second(e.end)}" for e in ordered)
        truth = span(events[0]) if len(events) == 1 else NO_META
        yield Draft(say.ask(), f"The audio contains {heard}.", listed, truth, tuple(ordered))


def count_sources(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """How many sources sound at a moment around which none begins or ends; different numbers, at most four."""
    asked = set()
    for frame in moments(0, scene.length, say):
        active = [event for event in scene.events if event.first <= frame < event.end]
        count = len(active)
        if reason := _uncounted(scene, active, frame, margins):
            yield reason
        elif count not in asked:
            asked.add(count)
            answer = "There is 1 source active." if count == 1 else f"There are {count} sources active."
            question = say.ask(t=second(frame))
            yield Draft(question, answer, str(count), meta(active_count=count), tuple(active))


def _uncounted(scene: Scene, active: list[SceneEvent], frame: int, margins: Margins) -> str | None:
    """Why the number of sources at *frame* is not sure; one actor who makes two sounds may be one or two."""
    low, high = frame - margins.frames, frame + margins.frames
    if not active:
        return "no source is active at that moment"
    if bisect_right(scene.edges, low) < bisect_right(scene.edges, high):  # one begins or ends
        return UNSTEADY
    if any(event.doubled for event in active):
        return DOUBLED
    actors = [event.source for event in active if event.source]
    return "one actor makes two sounds" if len(set(actors)) < len(actors) else None


@each_event()
def identify_source_by_doa(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """What sounds at an azimuth and elevation that no other event comes near, nor may, its direction being unknown."""
    reason = SHORT if event.short else event.unsteady
    if reason or not scene.nearest[event.number] > margins.azimuth:
        return reason or SHARED
    azimuth, elevation = (degrees(round(angle) + 0.0) for angle in (event.azimuth, event.elevation))
    question = say.ask(azimuth=azimuth, elevation=elevation)
    answer = f"The {event.name.spoken} {event.name.verb} at azimuth {azimuth}, elevation {elevation}."
    return Draft(question, answer, event.name.plain, NO_META, (event,))


@each_event("unlocated")
def identify_source_by_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """What sounds in a direction, in words."""
    direction, name = DIRECTIONS[event.cell], event.name
    question = say.ask(place=direction.place, side=direction.name)
    answer = capitalized(f"{name.some} {name.verb} the sound source coming from {direction.name}.")
    return Draft(question, answer, name.plain, NO_META, (event,))


@each_event("unlocated")
def onset_from_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:  # noqa: ARG001
    """When the sound from a direction begins; not of what sounds already when the clip begins."""
    if event.first == 0:
        return "it sounds already at the start"
    direction, time = DIRECTIONS[event.cell], second(event.first)
    question = say.ask(place=direction.place, side=direction.name)
    truth = meta(onset_time=event.first / 10)
    return Draft(question, f"The sound from {direction.name} starts at {time}.", time, truth, (event,))


# --- numbers ---------------------------------------------------------------------------------------
# A source that stays where it is, of a class that sounds once, is asked about as a whole; any other at a moment around
# which it does and nothing else of its class sounds.

BACK = "the azimuth is ±180: two numbers are right"
POLE = "the source is above or below: its azimuth means little"
#: Degrees; at higher elevations azimuths are not asked for.
HIGHEST = 70.0


@each_event()
def estimate_azimuth(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """The horizontal angle, positive to the left, to 0.1 degrees."""
    asked = _steady(scene, event, margins, say)
    if isinstance(asked, str):
        return asked
    azimuth, elevation = tenths(asked[0].azimuth), tenths(asked[0].elevation)
    if abs(elevation) > HIGHEST or abs(azimuth) == 180:
        return POLE if abs(elevation) > HIGHEST else BACK
    return _angle(*asked, say, "azimuth", azimuth, meta(azimuth_deg=azimuth))


@each_event()
def estimate_elevation(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """The vertical angle, positive upwards, to 0.1 degrees."""
    asked = _steady(scene, event, margins, say)
    if isinstance(asked, str):
        return asked
    elevation = tenths(asked[0].elevation)
    return _angle(*asked, say, "elevation", elevation, meta(elevation_deg=elevation))


@each_event()
def estimate_distance(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """The distance in metres, to 0.01."""
    asked = _steady(scene, event, margins, say, distance=True)
    if isinstance(asked, str):
        return asked
    (event, time), metres = asked, round(asked[0].distance, 2)
    far, truth = f"{number(metres)} m", meta(distance_m=metres)
    answer = f"the {event.name.spoken} {event.name.verb} {far} from the listener."
    return Draft(_at(event, time, say), capitalized(f"at {time}, {answer}" if time else answer), far, truth, (event,))


def _steady(
    scene: Scene, event: SceneEvent, margins: Margins, say: Say, *, distance: bool = False
) -> tuple[SceneEvent, str] | str:
    """*event* as a whole, or as it is at a moment, and that time; the reason why its direction is not asked for.

    With *distance* its distance is to be asked for instead of its direction.
    """
    rows = scene.rows
    value, change, most, steady = event.azimuth, event.spread, margins.still, rows.steady
    if distance:
        value, change, most, steady = event.distance, event.reach, margins.metres, rows.level
    if event.short or math.isnan(value):
        return SHORT if event.short else NO_DISTANCE if distance else UNKNOWN
    alike = [other for other in scene.alike[event.name.spoken] if other is not event]
    if change <= most and not alike:
        return event, ""
    wide = margins.frames
    for frame in moments(event.first + wide, event.end - wide, say):
        row = event.low + frame - event.first
        if steady[row] and not (alike and sounds(alike, frame - wide, frame + wide)):
            azimuth, elevation, metres = (float(column[row]) for column in rows[1:4])
            # a proof of its own
            moment = event._replace(number=-1 - row, azimuth=azimuth, elevation=elevation, distance=metres)
            return moment, second(frame)
    return UNSTEADY


def _angle(event: SceneEvent, time: str, say: Say, what: str, angle: float, truth: AnswerMeta) -> Draft:
    """The question for an angle of the whole event, or of a moment of it."""
    of = f"the {event.name.spoken} at {time}" if time else f"the {event.name.spoken}"
    answer = f"The {what} of {of} is {degrees(angle)}."
    return Draft(_at(event, time, say), answer, f"{number(angle)} degrees", truth, (event,))


def _at(event: SceneEvent, time: str, say: Say) -> str:
    """A question about the whole event, or about a moment of it."""
    return say.ask(event.name, way=1, t=time) if time else say.ask(event.name)


# --- the records ----------------------------------------------------------------------------------

_AZIMUTH = (
    "Give the azimuth in degrees: 0 is the front, positive values are to the left.",
    "Answer in degrees from -180 to 180, with positive values to the left.",
)
_ELEVATION = (
    "Give the elevation in degrees, positive upwards.",
    "Answer in degrees between -90 (down) and 90 (up).",
)
_DISTANCE = (
    "Give the distance in metres.",
    "Near is below 1.5 m, mid-range 1.5 to 4.0 m, far above 4.0 m; answer in metres.",
)


def _direction(item: Item) -> tuple[Hashable, ...]:
    """The two numbers of a question for what sounds there."""
    if not item.events:
        return ()
    event = item.events[0]
    return ("elevation", round(event.elevation or 0)), ("azimuth", round(event.azimuth or 0))


def _cell(item: Item) -> tuple[Hashable, ...]:
    """The words of a question for what sounds in a direction."""
    if not item.events:
        return ()
    event = item.events[0]
    return (only_cell(int(cells(event.azimuth or 0.0, event.elevation or 0.0, 0.0))),)


#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    published(
        "detect_time", candidates=detect_time, alike=first_class,
        wordings=(
            Wording((
                "During which time interval can the {heard} be heard?",
                "When can the {x} be heard?",
                "From what time to what time can the {x} be heard?",
                "When {heard_do} the {heard} start, and when {heard_do} {heard_it} end?",
            ), (
                "Answer in one natural sentence and report times in seconds.",
                "Give the start and end in seconds.",
                "",
            )),
        ),
    ),
    published(
        "detect_source", candidates=detect_source, alike=first_class,
        wordings=(
            Wording((
                "Which sound sources are audible, and when does each one occur?",
                "What can be heard in the clip, and at what times?",
                "List every sound event together with its time interval.",
                "State which sounds occur and when each one starts and ends.",
            ), (
                "Answer in one natural sentence and report times in seconds.",
                "Give them in order of their start times.", "",
            )),
        ),
    ),
    published(
        "count_sources", candidates=count_sources,
        wordings=(
            Wording((
                "How many sound sources are active at {t}?",
                "At {t}, how many sources can be heard at once?",
                "Count the sound sources that are active at {t}.",
            ), ("Answer with a number.", "Give the number.", "")),
        ),
    ),
    published(
        "identify_source_by_doa", candidates=identify_source_by_doa, contexts=_direction,
        wordings=(
            Wording((
                "Which sound source is at azimuth {azimuth} (positive is left) and elevation {elevation}?",
                "What is heard from azimuth {azimuth}, elevation {elevation}, counting left as positive?",
                "Left counts as positive: what sounds at azimuth {azimuth} and elevation {elevation}?",
            ), SOURCE_SUFFIXES),
        ),
    ),
    published(
        "identify_source_by_location", candidates=identify_source_by_location, contexts=_cell,
        wordings=(
            Wording((
                "What is the sound source located {place}?",
                "Which sound comes from {side}?",
                "A sound is heard {place}. What is it?",
                "Identify the sound source {place}.",
            ), SOURCE_SUFFIXES),
        ),
    ),
    published(
        "onset_from_location", candidates=onset_from_location,
        wordings=(
            Wording((
                "When does the sound from {side} start?",
                "At what time does the source {place} become active?",
                "A sound comes from {side}. When does it begin?",
            ), ("Answer in seconds.", "Give the time in seconds from the start of the clip.", "")),
        ),
    ),
    published(
        "estimate_azimuth", candidates=estimate_azimuth,
        wordings=(
            Wording((
                "What is the azimuth of the {x}?",
                "At what azimuth can the {x} be heard?",
                "From what horizontal angle {heard_do} the {heard} reach the listener?",
                "Estimate the horizontal direction of the {x}.",
            ), _AZIMUTH),
            Wording((
                "What is the azimuth of the {x} at {t}?",
                "At {t}, at what azimuth can the {x} be heard?",
                "From what horizontal angle {heard_do} the {heard} reach the listener at {t}?",
            ), _AZIMUTH),
        ),
    ),
    published(
        "estimate_elevation", candidates=estimate_elevation,
        wordings=(
            Wording((
                "What is the elevation of the {x}?",
                "At what elevation angle can the {x} be heard?",
                "How far above or below ear level, as an angle, can the {x} be heard?",
                "Estimate the vertical angle of the {x}.",
            ), _ELEVATION),
            Wording((
                "What is the elevation of the {x} at {t}?",
                "At {t}, at what elevation angle can the {x} be heard?",
                "How far above or below ear level, as an angle, can the {x} be heard at {t}?",
            ), _ELEVATION),
        ),
    ),
    published(
        "estimate_distance", candidates=estimate_distance,
        wordings=(
            Wording((
                "How far is it from the listener to the {x}?",
                "What is the distance between the listener and the {x}?",
                "Estimate how far the {x} {verb} from the listener.",
            ), _DISTANCE),
            Wording((
                "How far is it from the listener to the {x} at {t}?",
                "At {t}, what is the distance between the listener and the {x}?",
                "Estimate how far the {x} {verb} from the listener at {t}.",
            ), _DISTANCE),
        ),
    ),
)  # fmt: skip
