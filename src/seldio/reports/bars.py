"""Progress on a terminal: bars of rich while work is long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from seldio.progress import Advance

#: Seconds before anything is shown: what is quick needs no bar.
PATIENCE = 1.0


class Bars:
    """Bars for tasks that last; see :func:`seldio.progress.shown_on`.

    Args:
        stream: a terminal.
        clock: seconds; tests have their own.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        columns = (TextColumn("{task.description}"), BarColumn(24), TaskProgressColumn(), TimeRemainingColumn())
        self._progress = Progress(
            *columns, console=Console(file=stream), transient=True, refresh_per_second=4, get_time=clock
        )

    @contextmanager
    def __call__(self, what: str, total: int | None, size: int | None) -> Iterator[Advance]:
        """Show a task until the block ends; its share is that of its bytes where they are known, else of its parts."""
        began = self._clock()
        bar = self._progress.add_task(what, total=size or total, visible=False)

        def advance(parts: int, parts_size: int) -> None:
            visible = self._clock() - began >= PATIENCE
            if visible:
                self._progress.start()
            self._progress.update(bar, advance=parts_size if size else parts, visible=visible)

        try:
            yield advance
        finally:
            self._progress.remove_task(bar)
            if not self._progress.tasks:
                self._progress.stop()
