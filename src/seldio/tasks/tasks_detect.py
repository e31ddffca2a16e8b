"""Tasks about what sounds and when: detect_time, detect_source, count_sources."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from seldio.schema.qa import AnswerMeta
from seldio.tasks.base import NO_META, Draft, meta, moments
from seldio.tasks.margins import Margins
from seldio.tasks.reasons import DOUBLED, SHORT, UNSTEADY
from seldio.tasks.scene import Event, Scene
from seldio.tasks.wording import Say, second

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
        yield Draft(say.ask("detect_time", name), answer, times, span(event), (event,))


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
        yield Draft(say.ask("detect_source"), f"The audio contains {listed}.", listed, truth, tuple(ordered))


def count_sources(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """How many sources sound at a moment around which none begins or ends; different numbers, at most four."""
    asked = set()
    for frame in moments(0, scene.length, say):
        active = [event for event in scene.events if event.first <= frame < event.end]
        if reason := _uncounted(scene, active, frame, margins):
            yield reason
        elif len(active) not in asked:
            asked.add(len(active))
            yield _count(active, say.ask("count_sources", t=second(frame)))


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
