"""Progress on a terminal: bars while work is long, and a line for each piece of it in the end."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from seldio.progress import Advance

#: Seconds before anything is shown: what is quick needs no bar.
PATIENCE = 1.0


@dataclasses.dataclass
class LongTask:
    """A task and how far it is: its total parts and bytes, where these are known."""

    what: str
    parts: int | None
    size: int | None
    began: float
    done: int = 0
    bytes: int = 0
    seconds: float | None = None  # that it took, when it is over
    bar: TaskID | None = None

    @property
    def share(self) -> float | None:
        """How much of it is done, 0 to 1: by bytes where they are known, since parts differ in length."""
        for done, whole in ((self.bytes, self.size), (self.done, self.parts)):
            if done and whole:
                return min(1.0, done / whole)
        return 0.0 if self.size or self.parts else None

    def describe(self, now: float) -> str:
        """How much, how fast, and how long it will take."""
        running = self.seconds is None
        seconds = max(1e-9, now - self.began if self.seconds is None else self.seconds)
        whole = f" of {self.parts:,}" if running and self.parts is not None else ""
        rate = self.done / seconds
        words = [f"{self.done:,}{whole}", f"{f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'} per second"]
        if self.bytes:
            whole = f" of {_bytes(self.size)}" if running and self.size else ""
            words += [f"{_bytes(self.bytes)}{whole}", f"{_bytes(self.bytes / seconds)}/s"]
        if running and self.share:
            words.append(f"{_time(seconds / self.share - seconds)} left")
        return ", ".join(words)


class Bars:
    """Bars for tasks that last; a :class:`seldio.progress.Display`.

    Args:
        stream: a terminal.
        clock: seconds; tests have their own.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._stream = clock, stream
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), _Description(self))
        self._progress = Progress(*columns, console=Console(file=stream), transient=True, refresh_per_second=4)
        self._open: list[LongTask] = []
        self._over: list[LongTask] = []

    @contextmanager
    def task(self, what: str, total: int | None, size: int | None) -> Iterator[Advance]:
        """Show a task until the block ends."""
        work = LongTask(what, total, size, self._clock())
        self._open.append(work)

        def advance(parts: int, size: int) -> None:
            work.done += parts
            work.bytes += size
            if work.bar is None:
                if self._clock() - work.began < PATIENCE:
                    return
                self._progress.start()
                work.bar = self._progress.add_task(work.what, total=None if work.share is None else 1.0, work=work)
            self._progress.update(work.bar, completed=work.share or 0.0)

        try:
            yield advance
        finally:
            self._open.remove(work)
            if work.bar is not None:
                self._progress.remove_task(work.bar)
            if not any(other.bar is not None for other in self._open):
                self._progress.stop()
            work.seconds = self._clock() - work.began
            self._over.append(work)

    def now(self, work: LongTask) -> str:
        """How far a task is, for people."""
        return work.describe(self._clock())

    def over(self) -> None:
        """Print the summary: results come next."""
        self._stream.writelines(f"{line}\n" for line in self.summary())

    def summary(self) -> Iterator[str]:
        """A line for each kind of task that was shown or lasted; each is said once."""
        done_with, self._over = self._over, []
        for what in dict.fromkeys(work.what for work in done_with):
            same = [work for work in done_with if work.what == what]
            seconds = sum(work.seconds or 0.0 for work in same)
            if seconds >= PATIENCE:
                done, size = sum(work.done for work in same), sum(work.bytes for work in same)
                whole = LongTask(what, None, None, 0.0, done, size, seconds)
                yield f"{what}: {whole.describe(seconds)}, in {_time(seconds)}"


class _Description(ProgressColumn):
    """How far a task is, in words."""

    def __init__(self, bars: Bars) -> None:
        super().__init__()
        self._bars = bars

    def render(self, task: Task) -> Text:
        """The text of a task."""
        return Text(self._bars.now(task.fields["work"]))


def _bytes(value: float) -> str:
    """A number of bytes in the unit that suits it.

    >>> _bytes(312), _bytes(3_400_000), _bytes(1.1e12)
    ('312 bytes', '3.4 MB', '1.1 TB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{value / unit:.1f} {name}"
    return f"{value:.0f} bytes"


def _time(seconds: float) -> str:
    """A time in the two units that suit it.

    >>> _time(4.21), _time(83), _time(7384), _time(200_000)
    ('4.2 s', '1 min 23 s', '2 h 3 min', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = round(seconds)
    for large, small, names in ((86400, 3600, "d h"), (3600, 60, "h min"), (60, 1, "min s")):
        if whole >= large:
            first, second = names.split()
            return f"{whole // large} {first} {whole % large // small} {second}"
    raise AssertionError(seconds)
