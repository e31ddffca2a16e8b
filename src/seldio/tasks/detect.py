"""Tasks about what sounds, when, where, and what is at a place.

detect_time, detect_source, count_sources, identify_source_by_doa, identify_source_by_location, onset_from_location;
and with a number for an answer estimate_azimuth, estimate_elevation, estimate_distance.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Literal

from seldio.schema.qa import AnswerMeta, Item
from seldio.tasks.margins import Margins
from seldio.tasks.scene import Scene, SceneEvent, cells, each_event, only_cell, sounds, tenths
from seldio.tasks.task import (
    DOUBLED,
    NO_DISTANCE,
    NO_META,
    SHARED,
    SHORT,
    UNKNOWN,
    UNSTEADY,
    Draft,
    Say,
    Task,
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
    return Draft(say.ask(name), say.tell(name, **say.times(event)), times, span(event), (event,))


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
        part = say.language.words["listed"]
        heard = say.language.listed(part.format_map(e.name.words | say.times(e)) for e in ordered)
        truth = span(events[0]) if len(events) == 1 else NO_META
        yield Draft(say.ask(), say.tell(listed=heard), listed, truth, tuple(ordered))


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
            answer = say.tell(of=say.language.plural(count), count=str(count))
            question = say.ask(t=say.language.time(frame))
            yield Draft(question, answer, str(count), meta(active_count=count), tuple(active))


def _uncounted(scene: Scene, active: list[SceneEvent], frame: int, margins: Margins) -> str | None:
    """Return why the number of sources at *frame* is uncertain; an actor who makes two sounds may be one or two."""
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
    """Ask for the class at an azimuth and elevation that no other event is, or may be, near."""
    reason = SHORT if event.short else event.unsteady
    if reason or scene.is_crowded(event, margins.azimuth):
        return reason or SHARED
    angles = {"azimuth": event.azimuth, "elevation": event.elevation}
    words: dict[str, Any] = {
        name: say.language.counted(round(angle) + 0.0, "degrees") for name, angle in angles.items()
    }
    return Draft(say.ask(**words), say.tell(event.name, **words), event.name.plain, NO_META, (event,))


@each_event("unlocated")
def identify_source_by_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """Ask for the class that sounds in a direction given in words."""
    if scene.is_crowded(event, margins.azimuth):
        return SHARED
    words = say.direction(event)
    return Draft(say.ask(**words), say.tell(event.name, **words), event.name.plain, NO_META, (event,))


@each_event("unlocated")
def onset_from_location(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
    """When the sound from a direction begins; not of what sounds already when the clip begins."""
    if event.first == 0:
        return "it sounds already at the start"
    if scene.is_crowded(event, margins.azimuth):
        return SHARED
    words, truth = say.direction(event), meta(onset_time=event.first / 10)
    answer = say.tell(**words, t=say.language.time(event.first))
    return Draft(say.ask(**words), answer, second(event.first), truth, (event,))


# --- numbers ---------------------------------------------------------------------------------------
# A source that stays where it is, of a class that sounds once, is asked about as a whole; any other at a moment around
# which it does and nothing else of its class sounds.

BACK = "the azimuth is ±180: two numbers are right"
POLE = "the source is above or below: its azimuth means little"
#: Degrees; at higher elevations azimuths are not asked for.
HIGHEST = 70.0


def _estimates(field: Literal["azimuth", "elevation", "distance"]) -> Callable[..., Iterator[Draft | str]]:
    """Ask for the azimuth (positive to the left) or elevation to 0.1 degrees, or the distance to 0.01 m."""
    unit: Literal["degrees", "metres"] = "metres" if field == "distance" else "degrees"

    def estimate(scene: Scene, event: SceneEvent, margins: Margins, say: Say) -> Draft | str:
        asked = _steady(scene, event, margins, say, distance=unit == "metres")
        if isinstance(asked, str):
            return asked
        event, time = asked
        value = round(event.distance, 2) if unit == "metres" else tenths(getattr(event, field))
        if field == "azimuth" and abs(tenths(event.elevation)) > HIGHEST:
            return POLE
        if field == "azimuth" and abs(value) == 180:
            return BACK
        way, said = int(bool(time)), say.language.counted(value, unit)
        answer = say.tell(event.name, way=way, t=time, value=said)
        short = {"degrees": "deg", "metres": "m"}[unit]
        canonical, truth = f"{number(value)} {'m' if unit == 'metres' else unit}", meta(**{f"{field}_{short}": value})
        return Draft(say.ask(event.name, way=way, t=time), answer, canonical, truth, (event,))

    return each_event()(estimate)


def _steady(
    scene: Scene, event: SceneEvent, margins: Margins, say: Say, *, distance: bool = False
) -> tuple[SceneEvent, str] | str:
    """Return *event* as a whole or at a moment, and the time; or why its direction (or *distance*) is unsteady."""
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
            return moment, say.language.time(frame)
    return UNSTEADY


# --- the records ----------------------------------------------------------------------------------


def _direction(item: Item) -> tuple[Hashable, ...]:
    if not item.events:
        return ()
    event = item.events[0]
    return ("elevation", round(event.elevation or 0)), ("azimuth", round(event.azimuth or 0))


def _cell(item: Item) -> tuple[Hashable, ...]:
    if not item.events:
        return ()
    event = item.events[0]
    return (only_cell(int(cells(event.azimuth or 0.0, event.elevation or 0.0, 0.0))),)


#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    published("detect_time", candidates=detect_time, alike=first_class),
    published("detect_source", candidates=detect_source, alike=first_class),
    published("count_sources", candidates=count_sources),
    published("identify_source_by_doa", candidates=identify_source_by_doa, contexts=_direction),
    published("identify_source_by_location", candidates=identify_source_by_location, contexts=_cell),
    published("onset_from_location", candidates=onset_from_location),
    published("estimate_azimuth", candidates=_estimates("azimuth")),
    published("estimate_elevation", candidates=_estimates("elevation")),
    published("estimate_distance", candidates=_estimates("distance")),
)
