"""How every command ends: with an exit code and one plain sentence, never a traceback."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import typer

from seldio import progress
from seldio.errors import ExitCode, SeldioError, SeldioWarning
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
            with _showing_progress(), _telling_warnings():
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
            _report(text, kind, code, kwargs)
            if isinstance(error, OSError):
                close_output()  # only now: JSON says it there
        raise typer.Exit(code)

    return run


def close_output() -> None:
    """Keep Python from complaining at exit of what standard output could not take."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def _report(text: str, kind: ExitCode, code: int, options: Mapping[str, Any]) -> None:
    """Write an error to standard error; as JSON too where the *options* ask for it.

    JSON goes to standard output, or instead of the text to standard error where the output holds data.
    """
    data = "target" in options and options.get("out") in (None, "-")  # seldio convert
    if not (options.get("json") or options.get("output") == "json"):
        _say(text)
        return
    from seldio.cli.printing import print_error

    if not data:
        _say(text)
    print_error(text, kind, code, aside=data)


@contextmanager
def _showing_progress() -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    with progress.shown_on(_bar):
        yield


def _bar(what: str, total: int | None, size: int | None) -> AbstractContextManager[progress.Advance]:
    return _bars()(what, total, size)


@functools.cache
def _bars() -> progress.Display:
    from seldio.reports.bars import Bars  # when there is something to show

    return Bars(sys.stderr)


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


def _say(text: str) -> None:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    typer.echo(f"seldio: {lines}", err=True)
