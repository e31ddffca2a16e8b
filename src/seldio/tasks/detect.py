"""Tasks about what sounds, when, and what is at a place.

detect_time, detect_source, count_sources, identify_source_by_doa, identify_source_by_location, onset_from_location.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from seldio.schema.qa import AnswerMeta
from seldio.tasks.margins import Margins
from seldio.tasks.scene import DIRECTIONS, Event, Scene
from seldio.tasks.task import (
    DOUBLED,
    NO_META,
    READ_SOURCE,
    SHARED,
    SHORT,
    SOURCE_SUFFIXES,
    UNSTEADY,
    Draft,
    Say,
    Task,
    Wording,
    first_class,
    meta,
    moments,
    number,
    second,
)

#: Longer lists are not asked for.
MOST_EVENTS = 8


def span(event: Event) -> AnswerMeta:
    """The interval of *event* as meta."""
    return meta(time_span=[event.first / 10, event.end / 10])


def detect_time(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """When a class sounds that sounds once."""
    for event, reason in zip(scene.events, scene.unnamed, strict=True):
        if reason:
            yield reason
            continue
        name, times = event.name, f"{second(event.first)} to {second(event.end)}"
        answer = f"The {name.said} {name.verb} audible from {times}."
        yield Draft(say.ask(name), answer, times, span(event), (event,))


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
        truth = span(events[0]) if len(events) == 1 else NO_META
        yield Draft(say.ask(), f"The audio contains {listed}.", listed, truth, tuple(ordered))


def count_sources(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """How many sources sound at a moment around which none begins or ends; different numbers, at most four."""
    asked = set()
    for frame in moments(0, scene.length, say):
        active = [event for event in scene.events if event.first <= frame < event.end]
        if reason := _uncounted(scene, active, frame, margins):
            yield reason
        elif len(active) not in asked:
            asked.add(len(active))
            yield _count(active, say.ask(t=second(frame)))


def _count(active: list[Event], question: str) -> Draft:
    number = len(active)
    answer = "There is 1 source active." if number == 1 else f"There are {number} sources active."
    return Draft(question, answer, str(number), meta(active_count=number), tuple(active))


def _uncounted(scene: Scene, active: list[Event], frame: int, margins: Margins) -> str | None:
    """Why the number of sources at *frame* is not sure; one actor who makes two sounds may be one or two."""
    low, high = frame - margins.frames, frame + margins.frames
    if not active:
        return "nothing sounds at the moment"
    if bisect_right(scene.edges, low) < bisect_right(scene.edges, high):  # one begins or ends
        return UNSTEADY
    if any(event.doubled for event in active):
        return DOUBLED
    actors = [event.source for event in active if event.source]
    return "one actor makes two sounds" if len(set(actors)) < len(actors) else None


def identify_source_by_doa(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """What sounds at an azimuth and elevation that no other event comes near."""
    for event in scene.events:
        reason = SHORT if event.short else event.unsteady
        if reason or not _apart(scene, event, margins):
            yield reason or SHARED
            continue
        azimuth, elevation = (number(round(angle) + 0.0) for angle in (event.azimuth, event.elevation))
        question = say.ask(azimuth=azimuth, elevation=elevation)
        place = f"azimuth {azimuth} degrees, elevation {elevation} degrees"
        answer = f"The {event.name.said} {event.name.verb} at {place}."
        yield Draft(question, answer, event.name.plain, NO_META, (event,))


def _apart(scene: Scene, event: Event, margins: Margins) -> bool:
    """Whether all other events stay farther away than the margin; one of unknown direction may not."""
    return scene.nearest[event.number] > margins.azimuth


def identify_source_by_location(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """What sounds in a direction, in words."""
    for event, reason in zip(scene.events, scene.unlocated, strict=True):
        if reason:
            yield reason
            continue
        direction, name = DIRECTIONS[event.cell], event.name
        question = say.ask(place=direction.place, side=direction.name)
        answer = f"The {name.said} {name.verb} the sound source coming from {direction.name}."
        yield Draft(question, answer, name.plain, NO_META, (event,))


def onset_from_location(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """When the sound from a direction begins; not of what sounds already when the clip begins."""
    for event, reason in zip(scene.events, scene.unlocated, strict=True):
        if reason or event.first == 0:
            yield reason or "it sounds already at the start"
            continue
        direction, time = DIRECTIONS[event.cell], second(event.first)
        question = say.ask(place=direction.place, side=direction.name)
        truth = meta(onset_time=event.first / 10)
        yield Draft(question, f"The sound from {direction.name} starts at {time}.", time, truth, (event,))


#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    Task(
        name="detect_time", question_class="detect", weight=667, candidates=detect_time, answer="interval",
        read="interval", metric="time_span_iou_llm_extract", hidden="all",
        ask="Read the interval in which the asked sound is heard into time_span.",
        truth="time_span", field="time_span", error="interval_iou", alike=first_class,
        wordings=(
            Wording((
                "During which time interval can the sound of the {x} be heard?",
                "When {verb} the {x} audible?",
                "From when to when does the clip contain the {x}?",
                "What are the start and end times of the {x}?",
            ), (
                "Answer in one natural sentence and report times in seconds.",
                "Give start and end in seconds.",
                "",
            )),
        ),
    ),
    Task(
        name="detect_source", question_class="detect", weight=667, candidates=detect_source, answer="source",
        read="sources", metric="source_semantic_llm", hidden="times", alike=first_class,
        ask="List the sounds in sources, and the interval in time_span where there is one sound only; decide the "
        "source fields by the names alone. The reference does not show its times.",
        wordings=(
            Wording((
                "Which sound sources are audible, and when does each one occur?",
                "What can be heard in the clip, and at which times?",
                "List every sound event together with its time interval.",
                "State which sounds occur and from when to when.",
            ), ("Answer in one natural sentence and report times in seconds.", "List them by their start.", "")),
        ),
    ),
    Task(
        name="count_sources", question_class="detect", weight=34, candidates=count_sources, answer="number",
        read="count", metric="integer_exact_llm_extract", hidden="all",
        ask="Read the number of sources into count.",
        truth="active_count", field="count",
        wordings=(
            Wording((
                "How many sound sources are active at {t}?",
                "At {t}, how many sources can be heard at once?",
                "Count the sources that sound at {t}.",
            ), ("Answer with a number.", "Give the number.", "")),
        ),
    ),
    Task(
        name="identify_source_by_doa", question_class="detect", weight=667, candidates=identify_source_by_doa,
        answer="source", read="source", metric="source_semantic_llm",
        ask=READ_SOURCE,
        wordings=(
            Wording((
                (
                    "Which sound source is at azimuth {azimuth} degrees (positive is left) and elevation {elevation} "
                    "degrees?"
                ),
                (
                    "What is heard from azimuth {azimuth} degrees, elevation {elevation} degrees, counting left as "
                    "positive?"
                ),
                "Left counts as positive: what sounds at azimuth {azimuth} degrees and elevation {elevation} degrees?",
            ), SOURCE_SUFFIXES),
        ),
    ),
    Task(
        name="identify_source_by_location", question_class="detect", weight=666,
        candidates=identify_source_by_location, answer="source", read="source", metric="source_semantic_llm",
        ask=READ_SOURCE,
        wordings=(
            Wording((
                "What is the sound source located {place}?",
                "Which sound comes from {side}?",
                "Something is heard {place}. What is it?",
                "Identify the sound source {place}.",
            ), SOURCE_SUFFIXES),
        ),
    ),
    Task(
        name="onset_from_location", question_class="detect", weight=487, candidates=onset_from_location,
        answer="number", read="onset", metric="onset_threshold_llm_extract", hidden="all",
        ask="Read the moment at which the sound begins into onset_time_s.",
        truth="onset_time", field="onset_time_s", error="time_error_s", threshold="onset", unit="s",
        wordings=(
            Wording((
                "When does the sound from {side} start?",
                "At what time does the source {place} begin to sound?",
                "A sound comes from {side}. When does it set in?",
            ), ("Answer in seconds.", "Give the time in seconds from the start of the clip.", "")),
        ),
    ),
)  # fmt: skip
