"""How every command ends: with an exit code and one plain sentence, never a traceback."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import typer

from seldio import progress
from seldio.errors import ExitCode, SeldioError, SeldioWarning
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.reports.bars import Bars


#: The exit status of a program ended by SIGPIPE: 128 plus the number of the signal.
CLOSED_PIPE = 141


def guarded(command: Callable[..., ExitCode]) -> Callable[..., None]:
    """Turn the outcome of *command* into an exit code, and errors into one line on standard error."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        with _errors_as_json(kwargs):
            code = _outcome(command, args, kwargs)
        raise typer.Exit(int(code))

    return run


def close_output() -> None:
    """Keep Python from complaining at exit of what standard output could not take."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _outcome(command: Callable[..., ExitCode], args: Any, kwargs: Any) -> int:
    try:
        with _showing_progress(), _telling_warnings():
            code = command(*args, **kwargs)
        sys.stdout.flush()
    except SeldioError as error:
        return _failed(error.text, error.exit_code)
    except BrokenPipeError:
        close_output()  # the reader went away (seldio … | head): end quietly
        return CLOSED_PIPE
    except KeyboardInterrupt as stop:
        return _failed(str(stop) or "stopped; no file is half-written", ExitCode.FAILURE, 130)
    except OSError as error:
        ended = _failed(f"failed: {error.strerror or error}", ExitCode.FAILURE)
        close_output()  # only now: JSON says it there
        return ended
    except MemoryError:
        return _failed("not enough memory", ExitCode.FAILURE)
    except Exception as error:
        if os.environ.get("SELDIO_DEBUG"):
            raise
        bug = f"this is a bug in seldio: {type(error).__name__}: {error} (SELDIO_DEBUG=1 shows the traceback)"
        return _failed(bug, ExitCode.FAILURE)
    return code


#: Whether an error is to be said as JSON too: on standard output, or if True on standard error; None if not.
_as_json: ContextVar[bool | None] = ContextVar("as_json", default=None)


@contextmanager
def _errors_as_json(options: Mapping[str, Any]) -> Iterator[None]:
    """Say errors as JSON where a command was asked for JSON; not where its output holds data instead."""
    asked = options.get("json") or options.get("output") == "json"
    data = "to" in options and options.get("out") in (None, "-")  # seldio convert
    token = _as_json.set(data if asked else None)
    try:
        yield
    finally:
        _as_json.reset(token)


@contextmanager
def _showing_progress() -> Iterator[None]:
    """Show the progress of long work on a terminal, and a summary when it ends."""
    if not sys.stderr.isatty():
        yield
        return
    display = _OnTerminal()
    with progress.shown_on(display):
        yield
        display.over()


@contextmanager
def _telling_warnings() -> Iterator[None]:
    """Say what users should know as a line on standard error, without the place in the code."""
    shown = warnings.showwarning

    def tell(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if issubclass(category, SeldioWarning):
            _say(str(message))
        else:
            shown(message, category, *place, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SeldioWarning)
        warnings.showwarning = tell
        yield


class _OnTerminal:
    """Progress bars, loaded when there is something to show."""

    def __init__(self) -> None:
        self.bars: Bars | None = None

    def task(self, what: str, total: int | None, size: int | None) -> AbstractContextManager[progress.Advance]:
        """Show a task until the block ends."""
        from seldio.reports.bars import Bars

        self.bars = self.bars or Bars(sys.stderr)
        return self.bars.task(what, total, size)

    def over(self) -> None:
        """A line for each long task."""
        if self.bars is not None:
            self.bars.over()


def _failed(text: str, kind: ExitCode, code: int | None = None) -> int:
    code = int(kind if code is None else code)
    if (aside := _as_json.get()) is None:
        _say(text)
    else:
        from seldio.cli.options import print_error

        if not aside:
            _say(text)
        print_error(text, kind, code, aside=aside)
    return code


def _say(text: str) -> None:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    typer.echo(f"seldio: {lines}", err=True)
