"""How every command ends: with an exit code and one plain sentence, never a traceback."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import typer

from seldio import progress
from seldio.cli.printing import close_output, print_error
from seldio.errors import ExitCode, SeldioError
from seldio.text import printable

#: The exit status of a program ended by SIGPIPE: 128 plus the number of the signal.
CLOSED_PIPE = 141
#: That of one ended by Ctrl-C: 128 plus SIGINT.
_STOPPED = 130
#: Errors that are no bug of seldio.
_EXPECTED = (SeldioError, KeyboardInterrupt, OSError, MemoryError)


def guarded(command: Callable[..., ExitCode]) -> Callable[..., None]:
    """Turn the outcome of *command* into an exit code, and errors into one line on standard error."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with progress.shown_on(_bar) if sys.stderr.isatty() else nullcontext():
                code = int(command(*args, **kwargs))
            sys.stdout.flush()
        except BrokenPipeError:
            close_output()  # the reader went away (seldio … | head): end quietly
            code = CLOSED_PIPE
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get("SELDIO_DEBUG") and not isinstance(error, _EXPECTED):
                raise
            text, kind = _explained(error)
            code = _STOPPED if isinstance(error, KeyboardInterrupt) else int(kind)
            as_json = kwargs.get("json") or kwargs.get("output") == "json"
            data = "target" in kwargs and kwargs.get("out") in (None, "-")  # seldio convert
            if not (as_json and data):
                _say(text)
            if as_json:  # on standard output, or instead of the text on standard error where the output holds data
                print_error(text, kind, code, aside=data)
            if isinstance(error, OSError):
                close_output()  # only now: JSON says it there
        raise typer.Exit(code)

    return run


def _explained(error: BaseException) -> tuple[str, ExitCode]:
    """Return what to say of an error, and its kind."""
    if isinstance(error, SeldioError):
        return error.text, error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "stopped; no file is half-written", ExitCode.FAILURE
    if isinstance(error, OSError):
        return f"failed: {error.strerror or error}", ExitCode.FAILURE
    if isinstance(error, MemoryError):
        return "not enough memory", ExitCode.FAILURE
    bug = f"this is a bug in seldio: {type(error).__name__}: {error} (SELDIO_DEBUG=1 shows the traceback)"
    return bug, ExitCode.FAILURE


def _bar(what: str, total: int | None, size: int | None) -> AbstractContextManager[progress.Advance]:
    return _bars()(what, total, size)


@functools.cache
def _bars() -> progress.Display:
    from seldio.reports.bars import Bars  # when there is something to show

    return Bars(sys.stderr)


def _say(text: str) -> None:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    typer.echo(f"seldio: {lines}", err=True)
