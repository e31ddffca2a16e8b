"""How fast to ask: a rate limit, pauses that the server asks for, longer and longer waits after failures."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

#: No wait is longer than this, in seconds, whatever the server says.
LONGEST = 300.0
_FIRST = 1.0


class Pace:
    """When the next call may be made; shared by all threads.

    Args:
        max_rpm: calls per minute, None for no limit. Calls start evenly spaced.
        sleep: waits so many seconds, less where the run is stopped.
        clock: seconds that never go back.
    """

    def __init__(
        self, max_rpm: float | None, sleep: Callable[[float], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._interval = 60.0 / max_rpm if max_rpm else 0.0
        self._sleep, self._clock = sleep, clock
        self._lock = threading.Lock()
        self._next = self._held = clock()

    def turn(self) -> None:
        """Wait for the turn to make a call."""
        with self._lock:
            start = max(self._clock(), self._next, self._held)
            self._next = start + self._interval
        while (left := max(start, self._held) - self._clock()) > 0:
            before = self._clock()
            self._sleep(left)
            if self._clock() - before < left / 2:
                return  # woken up: the run is stopped

    def hold(self, seconds: float) -> None:
        """Let nobody call for so long: what ``Retry-After`` asks for."""
        with self._lock:
            self._held = max(self._held, self._clock() + min(seconds, LONGEST))

    def back_off(self, failures: int) -> None:
        """Wait after so many failures of one request: 1, 2, 4, … seconds, give or take a half."""
        seconds = min(_FIRST * 2 ** (failures - 1), LONGEST)
        self._sleep(seconds * random.uniform(0.5, 1.5))
