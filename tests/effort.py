"""How much is tried, and what some work costs, by measures that are the same on a busy machine; seconds are not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def examples(thorough: int) -> int:
    """How many examples of a property are tried: all in `make test-slow`, a tenth (but a few) in `make test`."""
    return thorough if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else max(min(thorough, 5), thorough // 10)


def calls(work: Callable[[], object]) -> int:
    """How many calls *work* makes of functions, those written in C included."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
