"""Tasks about two sources: compare_elevation, compare_distance, relative_left_right.

Pairs are made of events whose class sounds once in the clip and that stay where they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

from seldio.tasks.base import NO_META, Draft
from seldio.tasks.margins import Margins
from seldio.tasks.reasons import CLOSE, MOVES, NO_DISTANCE
from seldio.tasks.scene import Event, Scene
from seldio.tasks.wording import Say

BEHIND = "left and right are not clear behind or above the listener"


def _pairs(scene: Scene, say: Say) -> Iterator[tuple[Event, Event] | str]:
    """All pairs, each in one order or the other; the reasons of events that are in none."""
    events, reasons = scene.nameable
    yield from reasons
    for pair in combinations(events, 2):
        yield pair if say.below(2) else (pair[1], pair[0])


def compare_elevation(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Which of two sources is higher, or lower, as an angle."""
    for pair in _pairs(scene, say):
        if isinstance(pair, str):
            yield pair
        elif round(abs(pair[0].elevation - pair[1].elevation), 6) <= margins.elevation:
            yield CLOSE
        else:
            yield _compared("compare_elevation", pair, say, _elevation, ("lower than", "higher than"))


def compare_distance(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """Which of two sources is closer to the listener, or farther."""
    for pair in _pairs(scene, say):
        if isinstance(pair, str):
            yield pair
        elif reason := _incomparable(pair, margins):
            yield reason
        else:
            yield _compared("compare_distance", pair, say, _distance, ("closer to", "farther from"))


def _elevation(event: Event) -> float:
    return event.elevation


def _distance(event: Event) -> float:
    return event.distance


def _incomparable(pair: tuple[Event, Event], margins: Margins) -> str | None:
    """Why neither source is closer."""
    first, second = pair
    if math.isnan(first.distance + second.distance):
        return NO_DISTANCE
    if max(first.reach, second.reach) > margins.metres:
        return MOVES
    return CLOSE if round(abs(first.distance - second.distance), 6) <= margins.metres else None


def _compared(
    task: str, pair: tuple[Event, Event], say: Say, key: Callable[[Event], float], relations: tuple[str, str]
) -> Draft:
    """The question for the source with the least or the greatest *key*."""
    side = say.below(2)
    winner, loser = sorted(pair, key=key, reverse=bool(side))
    more = relations[side]
    question = say.ask(task, pair[0].name, y=pair[1].name.said, more=more.removesuffix(" than"))
    than = f"{more} the listener than" if task == "compare_distance" else more
    answer = f"The {winner.name.said} {winner.name.verb} {than} the {loser.name.said}."
    return Draft(question, answer, winner.name.plain, NO_META, pair)


def relative_left_right(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """On which side of another source a source is, where turning and looking agree on it."""
    for pair in _pairs(scene, say):
        if isinstance(pair, str):
            yield pair
            continue
        side = _side(*pair, margins)
        if side is None:
            yield BEHIND
        elif not side:
            yield CLOSE
        else:
            x, y = pair[0].name, pair[1].name
            answer = f"{x.said} {x.verb} to the {side} of {y.said}."
            yield Draft(say.ask("relative_left_right", x, y=y.said), answer, answer, NO_META, pair)


def _side(one: Event, other: Event, margins: Margins) -> str | None:
    """``left`` or ``right``; empty where too close; None where the way round is not clear.

    Left is where the azimuth is greater by the shorter way round, and also where the place is farther left
    of the listener. Behind the listener the two contradict each other.
    """
    turn = (one.azimuth - other.azimuth + 180) % 360 - 180
    beside = _lateral(one) - _lateral(other)
    if min(abs(turn), abs(beside)) <= margins.azimuth:
        return ""
    if abs(turn) >= 180 - margins.azimuth or (turn > 0) != (beside > 0):
        return None
    return "left" if turn > 0 else "right"


def _lateral(event: Event) -> float:
    """The angle from the plane between left and right, degrees: 90 is left, -90 right."""
    azimuth, elevation = math.radians(event.azimuth), math.radians(event.elevation)
    return math.degrees(math.asin(max(-1.0, min(1.0, math.sin(azimuth) * math.cos(elevation)))))
