"""Why a candidate for a question is skipped: words that reports show."""

from __future__ import annotations

REPEATED = "the class sounds more than once in the clip"
DOUBLED = "one of its rows may be written twice"
SHORT = "the event is too short"
UNKNOWN = "its direction is not known"
MOVES = "the source moves"
NO_DISTANCE = "its distance is not known"
EDGE = "its direction is near the edge of a direction word"
SHARED = "another event shares the direction"
UNSTEADY = "no moment has one right answer"
CLOSE = "the difference is within the margin"
