"""Tasks that point at a place: identify_source_by_doa, identify_source_by_location, onset_from_location."""

from __future__ import annotations

from collections.abc import Iterator

from seldio.tasks.base import NO_META, Draft, meta
from seldio.tasks.directions import DIRECTIONS
from seldio.tasks.margins import Margins
from seldio.tasks.reasons import SHARED, SHORT
from seldio.tasks.scene import Event, Scene
from seldio.tasks.wording import Say, number, second


def identify_source_by_doa(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """What sounds at an azimuth and elevation that no other event comes near."""
    for event in scene.events:
        reason = SHORT if event.short else event.unsteady
        if reason or not _apart(scene, event, margins):
            yield reason or SHARED
            continue
        azimuth, elevation = (number(round(angle) + 0.0) for angle in (event.azimuth, event.elevation))
        question = say.ask("identify_source_by_doa", azimuth=azimuth, elevation=elevation)
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
        question = say.ask("identify_source_by_location", place=direction.place, side=direction.name)
        answer = f"The {name.said} {name.verb} the sound source coming from {direction.name}."
        yield Draft(question, answer, name.plain, NO_META, (event,))


def onset_from_location(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:  # noqa: ARG001
    """When the sound from a direction begins; not of what sounds already when the clip begins."""
    for event, reason in zip(scene.events, scene.unlocated, strict=True):
        if reason or event.first == 0:
            yield reason or "it sounds already at the start"
            continue
        direction, time = DIRECTIONS[event.cell], second(event.first)
        question = say.ask("onset_from_location", place=direction.place, side=direction.name)
        truth = meta(onset_time=event.first / 10)
        yield Draft(question, f"The sound from {direction.name} starts at {time}.", time, truth, (event,))
