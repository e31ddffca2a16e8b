"""Progress on a terminal: bars of rich while work is long, and a line for each kind of it in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from seldio.progress import Advance

#: Seconds before anything is shown: what is quick needs no bar.
PATIENCE = 1.0


class Bars:
    """Bars for tasks that last; a :class:`seldio.progress.Display`.

    Args:
        stream: a terminal.
        clock: seconds; tests have their own.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._stream, self._shown = clock, stream, 0
        columns = (TextColumn("{task.description}"), BarColumn(24), TaskProgressColumn(), TimeRemainingColumn())
        self._progress = Progress(
            *columns, console=Console(file=stream), transient=True, refresh_per_second=4, get_time=clock
        )
        self._parts: dict[str, int] = {}  # that are done, by kind of task
        self._seconds: dict[str, float] = {}  # that these took

    @contextmanager
    def task(self, what: str, total: int | None, size: int | None) -> Iterator[Advance]:
        """Show a task until the block ends; its share is that of its bytes where they are known, else of its parts."""
        began, done = self._clock(), 0
        bar = self._progress.add_task(what, total=size or total, visible=False)
        shown = False

        def advance(parts: int, parts_size: int) -> None:
            nonlocal done, shown
            done += parts
            if not shown and self._clock() - began >= PATIENCE:
                shown = True
                self._shown += 1
                self._progress.start()
            self._progress.update(bar, advance=parts_size if size else parts, visible=shown)

        try:
            yield advance
        finally:
            self._progress.remove_task(bar)
            self._shown -= shown
            if not self._shown:
                self._progress.stop()
            self._parts[what] = self._parts.get(what, 0) + done
            self._seconds[what] = self._seconds.get(what, 0.0) + self._clock() - began

    def over(self) -> None:
        """Print the summary: results come next."""
        self._stream.writelines(f"{line}\n" for line in self.summary())

    def summary(self) -> Iterator[str]:
        """Return a line for each kind of task that lasted; each is said once."""
        for what, seconds in self._seconds.items():
            if seconds >= PATIENCE:
                yield f"{what}: {self._parts[what]:,}, in {timedelta(seconds=round(seconds))}"
        self._parts, self._seconds = {}, {}
