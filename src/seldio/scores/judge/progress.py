"""A progress bar on a terminal; silence elsewhere. Reports go to stdout, progress to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def bar(total: int, shown: bool = True, stream: TextIO | None = None) -> Iterator[Callable[[], None]]:
    """A bar for *total* requests; what the block gets is to be called after each.

    Args:
        total: requests to come.
        shown: False for silence.
        stream: stderr by default.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=stream or sys.stderr)
    quiet = not shown or not console.is_terminal or total == 0
    columns = (TextColumn("asking the judge"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet) as progress:
        task = progress.add_task("judge", total=total)
        yield lambda: progress.advance(task)
