"""What is checked in our labels beyond what seldio checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seldio.findings import Finding
from seldio.rules import WARNING, Labels, rule

#: Metres from the array to the farthest corner of our rooms.
FARTHEST = 8.0


@rule("LAB901", WARNING, needs="distance")
def behind_our_walls(labels: Labels, found: Any) -> Iterator[Finding]:
    """A source that is farther away than the walls of our rooms.

    Our largest room is 8 m across. What is farther was measured in another unit, or heard through a door.

    Example:
        a distance of 12,000 mm

    Fix:
        Look at the recording.

    Reference: plan of the rooms, 2027.
    """
    if labels.dialect is not None and labels.dialect.name == "lab2027":
        for row in labels.where("distance", labels.column("distance") > FARTHEST):
            yield found(row, "distance", f"distance {labels.text(row, 'distance')} is behind our walls")


RULES = (behind_our_walls,)
