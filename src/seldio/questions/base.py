"""What tasks are made of: drafts of items, and the tests that tell what a question may single out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from seldio.questions.directions import RIVALS
from seldio.questions.margins import Margins
from seldio.questions.scene import Event, Scene
from seldio.questions.wording import Say
from seldio.schema.qa import AnswerMeta

#: Why a candidate is skipped; words that reports show.
REPEATED = "the class sounds more than once in the clip"
SHORT = "the event is too short"
UNKNOWN = "its direction is not known"
MOVES = "the source moves"
NO_DISTANCE = "its distance is not known"
EDGE = "its direction is near the edge of a direction word"
SHARED = "another event shares the direction"
UNSTEADY = "no moment has one right answer"
CLOSE = "the difference is within the margin"


def meta(**values: float | list[float]) -> AnswerMeta:
    """The truth as numbers, with these keys."""
    return AnswerMeta.model_validate(values)


#: The meta of tasks that have none.
NO_META = meta()
#: How many moments of an event or clip are tried.
TRIES = 4


class Draft(NamedTuple):
    """A question with its answer, before it gets its ids."""

    question: str
    answer: str
    canonical: str
    meta: AnswerMeta
    events: tuple[Event, ...]


def too_short(event: Event, margins: Margins) -> bool:
    """Whether *event* is shorter than is asked about."""
    return event.end - event.first < 10 * margins.shortest - 1e-6


def unnamed(scene: Scene, event: Event, margins: Margins) -> str | None:
    """Why the name of its class does not single out *event*; None where it does."""
    if too_short(event, margins):
        return SHORT
    return REPEATED if len(scene.alike[event.name.plain]) > 1 else None


def unsteady(event: Event, margins: Margins) -> str | None:
    """Why *event* has no one direction; None where it has."""
    if math.isnan(event.azimuth):
        return UNKNOWN
    return None if event.spread <= margins.still else MOVES


def nameable(scene: Scene, margins: Margins) -> tuple[list[Event], list[str]]:
    """The events with a class of their own and one direction, and the reasons why others are not among them."""
    found, reasons = [], []
    for event in scene.events:
        reason = unnamed(scene, event, margins) or unsteady(event, margins)
        if reason:
            reasons.append(reason)
        else:
            found.append(event)
    return found, reasons


def unplaced(event: Event, margins: Margins) -> str | None:
    """Why no direction word says where *event* is; None where one does."""
    if too_short(event, margins):
        return SHORT
    return unsteady(event, margins) or (EDGE if event.cell < 0 else None)


def shares(scene: Scene, event: Event) -> bool:
    """Whether any other event comes where the words for the direction of *event* point."""
    rivals = RIVALS[event.cell]
    return any(other.cells & rivals for other in scene.events if other is not event)


def moments(low: int, high: int, say: Say) -> Iterator[int]:
    """Some label frames from *low* to *high* - 1, each once, in a random order."""
    if high > low:
        start, step = say.below(high - low), max(1, (high - low) // TRIES)
        for turn in range(min(TRIES, high - low)):
            yield low + (start + turn * step) % (high - low)
