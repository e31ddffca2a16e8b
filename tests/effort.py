"""How much is tried, and what some work costs, by measures that are the same on a busy machine; seconds are not."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def examples(thorough: int) -> int:
    """How many examples of a property are tried: all in `make test-slow`, a tenth (but a few) in `make test`."""
    return thorough if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else max(min(thorough, 5), thorough // 10)


def some(cases: Iterable[Any], step: int, *more: int) -> list[Any]:
    """*cases* of a test of which `make test` runs every *step*-th (and those with the numbers *more*, from 0), so that
    each way through the code is gone once, and `make test-slow` the others.
    """
    return [
        case if number % step == 0 or number in more else pytest.param(*_values(case), marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def as_one(test: Callable[..., None]) -> Callable[[], None]:
    """A test that goes through all of its parameters itself, and tells each with which it fails.

    Thousands of tests that take no time cost more to collect, start and report than all that they do.
    """
    marks = [mark for mark in test.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    names = [mark.args[0].split(", ") if isinstance(mark.args[0], str) else mark.args[0] for mark in marks]
    cases = list(itertools.product(*(list(mark.args[1]) for mark in marks)))

    def every() -> None:
        failed = []
        for case in cases:
            told = {}
            for given, value in zip(names, case, strict=True):
                told |= dict(zip(given, value if len(given) > 1 else (value,), strict=True))
            try:
                test(**told)
            except Exception as error:  # noqa: BLE001 - whatever it is, the others are tried too
                error.add_note(f"with {told}")
                failed.append(error)
        assert cases
        if failed:
            raise ExceptionGroup(f"{len(failed)} of {len(cases)} fail", failed)

    every.__name__, every.__doc__, every.__module__ = test.__name__, test.__doc__, test.__module__
    return every


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) and not hasattr(case, "_fields") else (case,)


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
