"""The events of a clip of at most 20 s, with their times, directions and distances.

All clips of a table are cut at once, by columns (:mod:`seldio.tasks.generation`); a :class:`Scene` then
holds one clip for the tasks, which look at plain Python values.

Directions are those that people say: eight sectors at three heights, straight up and straight down.
A *cell* is one of 26: ``8 * height + sector`` with the sectors counter-clockwise from the front (front,
front-left, left, …) and the heights level, above, below; then straight above and straight below. Sectors
are 45 degrees wide around their middles; *above* begins at elevation 20, *straight above* at 65.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, update_wrapper
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np

from seldio.schema.qa import Proof, trusted
from seldio.tasks.margins import Margins
from seldio.tasks.task import DOUBLED, REPEATED, SHARED, SHORT, Draft, Name, Say, digest

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


class SceneEvent(NamedTuple):
    """One event as far as it sounds in the clip."""

    number: int  # its place in the scene
    name: Name  # of its class
    class_id: int | None  # index into the vocabulary, or None
    source: int | None  # number of the source, or None where the labels have none
    first: int  # label frame (from the start of the clip) at which it begins
    end: int  # label frame after its last
    azimuth: float  # of the mean of its unit vectors, degrees, +90 is left; nan where a direction is not known
    elevation: float  # likewise
    spread: float  # the greatest angle between that mean and one of its directions, degrees
    distance: float  # mean, metres; nan where one is not known
    reach: float  # greatest distance less the least, metres
    gain: float  # last distance less the first, metres
    cells: int  # mask of the direction cells that it touches
    cell: int  # the one cell that its mean lies in for sure, else -1
    doubled: bool  # whether one of its rows may be written twice, see :func:`seldio.schema.spans.repeated`
    short: bool  # whether it is shorter than is asked about
    unsteady: str | None  # why it has no one direction; None where it has
    unplaced: str | None  # why no direction word says where it is; None where one does
    low: int  # its first row in :class:`SceneRows`
    high: int  # the row after its last


class SceneRows(NamedTuple):
    """The event frames of all clips as columns, event by event; ``units`` are unit vectors, shape (rows, 3).

    ``steady`` and ``level`` tell of each row whether direction and distance stay as they are for the margin
    ``seconds`` before and after it, within the margins ``still`` and ``metres``.
    """

    frame: Ints
    azimuth: Floats
    elevation: Floats
    distance: Floats
    units: Floats
    steady: np.ndarray[Any, np.dtype[np.bool_]]
    level: np.ndarray[Any, np.dtype[np.bool_]]


class Scene:
    """One clip and what sounds in it.

    Args:
        clip: name of the recording.
        path: its label file.
        first: label frame of the recording at which the clip begins.
        end: label frame after its last.
        events: by onset.
        rows: the event frames of all clips.
        means: unit vectors of the mean directions of *events*.

    ``alike`` has the events of each class by what it is called.
    """

    def __init__(
        self, clip: str, path: str, first: int, end: int, events: list[SceneEvent], rows: SceneRows, means: Floats,
    ) -> None:  # fmt: skip
        self.clip, self.path, self.rows, self.means = clip, path, rows, means
        self.first, self.length = first, end - first
        self.start, self.end = first / 10, end / 10
        self.events = events
        self.audio_id = "foa_" + digest(clip, first, end)
        self.alike: dict[str, list[SceneEvent]] = {}
        for event in events:
            self.alike.setdefault(event.name.spoken, []).append(event)
        self._proofs: dict[int, Proof] = {}

    @cached_property
    def unnamed(self) -> list[str | None]:
        """By event: why the name of its class does not single it out; None where it does."""
        alike = self.alike
        return [
            DOUBLED if e.doubled else SHORT if e.short else REPEATED if len(alike[e.name.spoken]) > 1 else None
            for e in self.events
        ]

    @cached_property
    def nameable(self) -> tuple[list[SceneEvent], list[str]]:
        """The events with a class of their own and one direction, and the reasons why others are not among them."""
        reasons = [named or event.unsteady for named, event in zip(self.unnamed, self.events, strict=True)]
        nameable_events = [event for event, reason in zip(self.events, reasons, strict=True) if reason is None]
        return nameable_events, [reason for reason in reasons if reason is not None]

    @cached_property
    def unlocated(self) -> list[str | None]:
        """By event: why no words for a direction single it out, as others come from there; None where some do."""
        return [
            event.unplaced
            or (
                SHARED if any(other.cells & RIVALS[event.cell] for other in self.events if other is not event) else None
            )
            for event in self.events
        ]

    @cached_property
    def edges(self) -> list[int]:
        """The label frames at which an event begins or has ended, sorted."""
        return sorted([event.first for event in self.events] + [event.end for event in self.events])

    @cached_property
    def nearest(self) -> list[float]:
        """By event: the least angle between its mean and a direction of any other event, degrees; nan unknown."""
        if len(self.events) == 1:
            return [math.inf]
        low, high = self.events[0].low, self.events[-1].high
        cosines = self.means @ self.rows.units[low:high].T
        best = np.maximum.reduceat(cosines, [event.low - low for event in self.events], axis=1)
        angles = np.round(np.degrees(np.arccos(np.clip(best, -1, 1))), 4)
        np.fill_diagonal(angles, np.inf)
        least: list[float] = angles.min(axis=1).tolist()
        return least

    def is_crowded(self, event: SceneEvent, margin: float) -> bool:
        """Return whether a direction of another event is nearer than *margin* degrees to one of *event*, or may be."""
        if self.nearest[event.number] - event.spread > margin:
            return False
        low, high = self.events[0].low, self.events[-1].high
        units = self.rows.units
        others = np.concatenate((units[low : event.low], units[event.high : high]))
        cosine = (units[event.low : event.high] @ others.T).max()
        return not np.round(np.degrees(np.arccos(np.clip(cosine, -1, 1))), 4) > margin

    def proof(self, event: SceneEvent) -> Proof:
        """*event* as a proof: degrees to 0.1, metres to 0.01."""
        if event.number not in self._proofs:
            has_direction = not math.isnan(event.azimuth)
            values = {
                "class_name": event.name.label,
                "class_id": event.class_id,
                "source": event.source,
                "onset": event.first / 10,
                "offset": event.end / 10,
                "azimuth": tenths(event.azimuth) if has_direction else None,
                "elevation": tenths(event.elevation) if has_direction else None,
                "distance": None if math.isnan(event.distance) else round(event.distance, 2),
                "extra": None,
            }
            self._proofs[event.number] = trusted(Proof, values)
        return self._proofs[event.number]


def each_event(
    reasons: Literal["unnamed", "unlocated"] | None = None,
) -> Callable[[Callable[[Scene, SceneEvent, Margins, Say], Draft | str]], Callable[..., Iterator[Draft | str]]]:
    """Make what asks about one event the candidates of a task: of all events, but for those with *reasons* not to."""

    def made(
        ask: Callable[[Scene, SceneEvent, Margins, Say], Draft | str],
    ) -> Callable[[Scene, Margins, Say], Iterator[Draft | str]]:
        def candidates(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
            skipped = repeat(None) if reasons is None else getattr(scene, reasons)
            for event, reason in zip(scene.events, skipped, strict=False):
                yield reason or ask(scene, event, margins, say)

        return update_wrapper(candidates, ask)

    return made


def sounds(events: list[SceneEvent], low: int, high: int) -> bool:
    """Whether any of *events* is heard after label frame *low* and begins by *high*."""
    for event in events:  # noqa: SIM110 - asked very often, and any() takes three times as long
        if event.end > low and event.first <= high:
            return True
    return False


def tenths(degrees: float) -> float:
    """Degrees to 0.1, without a negative zero."""
    return round(degrees, 1) + 0.0


# --- directions in words -------------------------------------------------------------------------------------
#: Half the width of a sector, where "above" begins, where "straight above" begins: degrees.
HALF, ABOVE, STRAIGHT = 22.5, 20.0, 65.0
_UP, _DOWN = 24, 25
#: The mask of a direction that is not known: it may be anywhere.
ANYWHERE = (1 << 26) - 1


#: For each cell the mask of those that its words may mean: "left" may be said of what is left and above.
RIVALS = (
    *(0x10101 << cell for cell in range(8)), *(1 << cell for cell in range(8, 24)),
    1 << _UP | 0xFF << 8, 1 << _DOWN | 0xFF << 16,
)  # fmt: skip


def cells(azimuth: Any, elevation: Any, margin: float) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Masks of the cells that directions (degrees) lie in or nearer to than *margin* degrees; not known: all."""
    turned = (np.nan_to_num(azimuth) + HALF) % 360.0
    sector = np.minimum(turned // 45.0, 7).astype(np.int64)
    inside = turned - 45.0 * sector
    near = np.left_shift(1, sector)
    near |= np.where(inside <= margin, np.left_shift(1, (sector - 1) % 8), 0)
    near |= np.where(inside >= 45.0 - margin, np.left_shift(1, (sector + 1) % 8), 0)
    high = np.abs(elevation)
    raised = (high >= ABOVE - margin) & (high <= STRAIGHT + margin)
    upward, downward = elevation > 0, elevation < 0
    mask = np.where(high <= ABOVE + margin, near, 0)
    mask |= np.where(raised & upward, near << 8, 0) | np.where(raised & downward, near << 16, 0)
    mask |= np.where(high >= STRAIGHT - margin, np.where(upward, 1 << _UP, 1 << _DOWN), 0)
    return np.where(np.isfinite(azimuth) & np.isfinite(elevation), mask, ANYWHERE)


def only_cell(mask: int) -> int:
    """The number of the one cell in *mask*; -1 where there are more."""
    return mask.bit_length() - 1 if mask and not mask & (mask - 1) else -1
