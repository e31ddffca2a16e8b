"""How far long work has come: told by whoever works, shown by whoever wants to.

Work announces itself with :func:`task`. Nothing is shown, and next to nothing done, unless a display was set by
:func:`shown_on`, as the command line does on a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

Thing = TypeVar("Thing")
#: To be called with how many more parts are done, and how many bytes these had.
Advance = Callable[[int, int], None]
#: Shows a task (what is done, how many parts and bytes there are, where these are known) until its block ends.
Display = Callable[[str, int | None, int | None], AbstractContextManager[Advance]]

_display: ContextVar[Display | None] = ContextVar("display", default=None)


@contextmanager
def shown_on(display: Display) -> Iterator[None]:
    """Show all tasks that begin inside of the block on *display*."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)


def task(what: str | None, total: int | None = None, size: int | None = None) -> AbstractContextManager[Advance]:
    """Announce long work; what the block gets is to be called as parts of it are done.

    Args:
        what: is done, as a person would say it: ``listening to recordings``; None shows nothing.
        total: parts that there are.
        size: bytes of all of them.
    """
    display = _display.get()
    if display is None or what is None:
        return nullcontext(lambda parts, size: None)  # noqa: ARG005
    return display(what, total, size)


def tracked(things: Iterable[Thing], what: str) -> Iterator[Thing]:
    """Return *things*, one after the other, each counted when the next one is asked for; *what* is done with them."""
    with task(what, len(things) if isinstance(things, list | tuple | dict) else None) as advance:
        for thing in things:
            yield thing
            advance(1, 0)
