"""How every command ends: an exit code and one plain sentence, never a traceback."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from seldio.errors import ExitCode, SeldioError
from seldio.text import printable


def guarded(command: Callable[..., ExitCode]) -> Callable[..., None]:
    """Turn the outcome of *command* into an exit code, and errors into one line on stderr."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        raise typer.Exit(int(_outcome(command, args, kwargs)))

    return run


def _outcome(command: Callable[..., ExitCode], args: Any, kwargs: Any) -> int:
    try:
        code = command(*args, **kwargs)
        sys.stdout.flush()
    except SeldioError as error:
        return _told(str(error), error.exit_code)
    except BrokenPipeError:
        # the reader went away (seldio … | head): end quietly, and keep Python from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILURE
    except KeyboardInterrupt as stop:
        return _told(str(stop) or "stopped; nothing is half written", ExitCode(ExitCode.FAILURE), 130)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _told(f"cannot work: {error.strerror or error}", ExitCode.FAILURE)
    except MemoryError:
        return _told("not enough memory", ExitCode.FAILURE)
    except Exception as error:
        if os.environ.get("SELDIO_DEBUG"):
            raise
        text = f"a bug in seldio: {type(error).__name__}: {error} (SELDIO_DEBUG=1 shows where)"
        return _told(text, ExitCode.FAILURE)
    return code


def _told(text: str, code: ExitCode, exit_code: int | None = None) -> int:
    lines = "\n".join(printable(line) for line in text.split("\n"))
    typer.echo(f"seldio: {lines}", err=True)
    return int(code) if exit_code is None else exit_code
