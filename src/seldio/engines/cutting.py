"""Parts of many things, by their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Thing = TypeVar("Thing")


def cut(
    things: Iterable[Thing], most: int, size: Callable[[Thing], int], count: int | None = None
) -> Iterator[list[Thing]]:
    """*things* in their order, in parts of at most *most* bytes, or of one thing that is larger.

    Args:
        things: what is cut.
        most: bytes of a part.
        size: the bytes of one.
        count: most things of a part.

    >>> list(cut([3, 4, 9, 1, 1, 1], 7, int, count=2))
    [[3, 4], [9], [1, 1], [1]]
    """
    part: list[Thing] = []
    total = 0
    for thing in things:
        if part and (len(part) == count or total + size(thing) > most):
            yield part
            part, total = [], 0
        part.append(thing)
        total += size(thing)
    if part:
        yield part
