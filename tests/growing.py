"""Whether work grows faster than what it is done on; no time is measured against a clock of its own."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Processor time of twice as much over that of once; where all grows with the square, it is 4.
MOST = 2.3


def grows_no_faster(work: Callable[[int], object], size: int) -> bool:
    """Whether twice *size* takes at most :data:`MOST` times the processor time; the best of some tries, as others
    share the machine, and of larger sizes, as one step may lead out of a cache: what grows with the square does so
    at every size.
    """

    def seconds(size: int) -> float:
        start = time.process_time()
        work(size)
        return time.process_time() - start

    fixed = min(seconds(1) for _ in range(2))
    for attempt in range(12):
        size *= 2 if attempt % 3 == 2 else 1
        once, twice = seconds(size) - fixed, seconds(2 * size) - fixed
        if twice <= MOST * max(once, 0.02):
            return True
    return False
