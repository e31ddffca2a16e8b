"""Tasks with a number for an answer: estimate_azimuth, estimate_elevation, estimate_distance.

A source that stays where it is, of a class that sounds once, is asked about as a whole; any other at a
moment around which it does and nothing else of its class sounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from seldio.schema.qa import AnswerMeta
from seldio.tasks.margins import Margins
from seldio.tasks.scene import Event, Scene, sounds, tenths
from seldio.tasks.task import (
    NO_DISTANCE,
    SHORT,
    UNKNOWN,
    UNSTEADY,
    Draft,
    Say,
    Task,
    Wording,
    meta,
    moments,
    number,
    second,
)

BACK = "the azimuth is ±180: two numbers are right"
POLE = "the source is above or below: its azimuth means little"
#: Degrees; at higher elevations azimuths are not asked for.
HIGHEST = 70.0


def estimate_azimuth(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """The horizontal angle, positive to the left, to 0.1 degrees."""
    for event, row in _askable(scene, margins, say):
        if isinstance(event, str):
            yield event
            continue
        azimuth, elevation = _direction(scene, event, row)
        if abs(elevation) > HIGHEST or abs(azimuth) == 180:
            yield POLE if abs(elevation) > HIGHEST else BACK
            continue
        text = f"{number(azimuth)} degrees"
        yield _draft(scene, event, row, say, "azimuth", text, meta(azimuth_deg=azimuth))


def estimate_elevation(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """The vertical angle, positive upwards, to 0.1 degrees."""
    for event, row in _askable(scene, margins, say):
        if isinstance(event, str):
            yield event
            continue
        elevation = _direction(scene, event, row)[1]
        text = f"{number(elevation)} degrees"
        yield _draft(scene, event, row, say, "elevation", text, meta(elevation_deg=elevation))


def estimate_distance(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """The distance in metres, to 0.01."""
    for event in scene.events:
        row: int | None = -1
        if event.short or math.isnan(event.distance):
            yield SHORT if event.short else NO_DISTANCE
            continue
        if event.reach > margins.metres or len(scene.alike[event.name.plain]) > 1:
            row = _moment(scene, event, say, scene.rows.level, margins.frames)
        if row is None:
            yield UNSTEADY
            continue
        metres = round(event.distance if row < 0 else float(scene.rows.distance[row]), 2)
        yield _draft(scene, event, row, say, "distance", f"{number(metres)} m", meta(distance_m=metres))


def _askable(scene: Scene, margins: Margins, say: Say) -> Iterator[tuple[Event | str, int]]:
    """Events and the row to ask about (-1: the whole event), or the reason why not."""
    for event in scene.events:
        if event.short or math.isnan(event.azimuth):
            yield SHORT if event.short else UNKNOWN, -1
        elif event.spread <= margins.still and len(scene.alike[event.name.plain]) == 1:
            yield event, -1
        else:
            row = _moment(scene, event, say, scene.rows.steady, margins.frames)
            yield (UNSTEADY, -1) if row is None else (event, row)


def _moment(scene: Scene, event: Event, say: Say, steady: Any, wide: int) -> int | None:
    """A row of *event* around which it is steady and, *wide* frames either way, alone of its class."""
    others = [other for other in scene.alike[event.name.plain] if other is not event]
    for frame in moments(event.first + wide, event.end - wide, say):
        row = event.low + frame - event.first
        if steady[row] and not (others and sounds(others, frame - wide, frame + wide)):
            return row
    return None


def _direction(scene: Scene, event: Event, row: int) -> tuple[float, float]:
    """Azimuth and elevation of the event, or of its row."""
    if row < 0:
        return tenths(event.azimuth), tenths(event.elevation)
    return tenths(float(scene.rows.azimuth[row])), tenths(float(scene.rows.elevation[row]))


def _at(scene: Scene, event: Event, row: int) -> Event:
    """*event* with the direction and distance of its row, as a proof of its own."""
    azimuth, elevation, distance = (float(column[row]) for column in scene.rows[1:4])
    return event._replace(number=-1 - row, azimuth=azimuth, elevation=elevation, distance=distance)


def _draft(scene: Scene, event: Event, row: int, say: Say, what: str, text: str, truth: AnswerMeta) -> Draft:
    """The item about the whole event, or about its moment at *row*."""
    name = event.name
    of = f"the {name.said}"
    if row < 0:
        question = say.ask(name)
    else:
        time = second(event.first + row - event.low)
        of = f"{of} at {time}"
        event = _at(scene, event, row)
        question = say.ask(name, way=1, t=time)
    return Draft(question, f"The {what} of {of} is {text}.", text, truth, (event,))


_AZIMUTH = (
    "Give the azimuth in degrees: 0 is the front, positive values are to the left.",
    "Answer in degrees from -180 to 180, counted positive towards the left.",
)
_ELEVATION = (
    "Give the elevation in degrees, positive upwards.",
    "Answer in degrees between -90 (down) and 90 (up).",
)
_DISTANCE = (
    "Give the distance in metres.",
    "Near is below 1.5 m, mid-range 1.5 to 4.0 m, far beyond 4.0 m; answer in metres.",
)

#: The records of these tasks.
TASKS: tuple[Task[Scene, Draft], ...] = (
    Task(
        name="estimate_azimuth", question_class="azimuth", weight=1152, candidates=estimate_azimuth, answer="number",
        read="azimuth", metric="er20_azimuth_llm_extract", hidden="all",
        ask="Read the azimuth into angle_deg.",
        truth="azimuth_deg", field="angle_deg", error="doaerr_deg", threshold="azimuth", unit="°",
        wordings=(
            Wording((
                "What is the azimuth of the {x}?",
                "At which azimuth is the source of the {x}?",
                "From what horizontal angle {do} the {x} reach the listener?",
                "Estimate the horizontal direction of the {x}.",
            ), _AZIMUTH),
            Wording((
                "What is the azimuth of the {x} at {t}?",
                "At {t}, at which azimuth is the source of the {x}?",
                "From what horizontal angle {do} the {x} reach the listener at {t}?",
            ), _AZIMUTH),
        ),
    ),
    Task(
        name="estimate_elevation", question_class="elevation", weight=1153, candidates=estimate_elevation,
        answer="number", read="elevation", metric="er10_elevation_llm_extract", hidden="all",
        ask="Read the elevation into elevation_deg. An azimuth goes into angle_deg, never in its place.",
        truth="elevation_deg", field="elevation_deg", error="doaerr_deg", threshold="elevation", unit="°",
        wordings=(
            Wording((
                "What is the elevation of the {x}?",
                "At which elevation angle is the source of the {x}?",
                "How far above or below ear level, as an angle, {verb} the {x}?",
                "Estimate the vertical angle of the {x}.",
            ), _ELEVATION),
            Wording((
                "What is the elevation of the {x} at {t}?",
                "At {t}, at which elevation angle is the source of the {x}?",
                "How far above or below ear level, as an angle, {verb} the {x} at {t}?",
            ), _ELEVATION),
        ),
    ),
    Task(
        name="estimate_distance", question_class="distance", weight=486, candidates=estimate_distance, answer="number",
        read="distance", metric="distance_threshold_llm_extract", hidden="all",
        ask="Read the distance into distance_m. Words like near or far are no distance.",
        truth="distance_m", field="distance_m", error="distance_error_m", threshold="distance", unit="m",
        wordings=(
            Wording((
                "How far away {verb} the {x}?",
                "What is the distance between the listener and the {x}?",
                "Estimate how far the source of the {x} is from the listener.",
            ), _DISTANCE),
            Wording((
                "How far away {verb} the {x} at {t}?",
                "At {t}, what is the distance between the listener and the {x}?",
                "Estimate how far the source of the {x} is from the listener at {t}.",
            ), _DISTANCE),
        ),
    ),
)  # fmt: skip
