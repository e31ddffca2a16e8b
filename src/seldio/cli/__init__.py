"""The ``seldio`` command: parse, call, print, return an exit code. No logic lives here.

A command is loaded when it is run or its help is asked for; the list of commands is data. Commands import what they
need when they run, so that ``seldio --help`` stays quick.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any, NamedTuple

import typer
import typer.main
from typer.core import TyperGroup

from seldio import plugins
from seldio.cli.declared import Command, Unconverted
from seldio.errors import SeldioError


class Verb(NamedTuple):
    """A command of seldio."""

    short: str  # one line for the list of commands
    place: str  # "module:function" below seldio.cli, loaded when the command is run


_VERBS = {
    "validate": Verb("Check labels, submissions and datasets, and repair them.", "verbs:validate"),
    "convert": Verb("Convert between formats, to Parquet, or labels into questions.", "verbs:convert"),
    "score": Verb("Score predictions as the official programs do.", "verbs:score"),
    "compare": Verb("Compare systems: differences with intervals, tests and ranks.", "verbs:compare"),
    "rank": Verb("Rank systems by their scores, as defined by DCASE Task 3.", "verbs:rank"),
    "package": Verb("Pack outputs as the zip that DCASE Task 3 takes.", "verbs:package"),
    "diff": Verb("Compare two versions of labels or questions.", "verbs:diff"),
    "info": Verb("Describe a file, folder or archive.", "verbs:info"),
    "cite": Verb("Print how to cite a dataset or benchmark.", "verbs:cite"),
    "view": Verb("Write an HTML page about a clip: player, panorama, timeline.", "view:view"),
    "plot": Verb("Draw labels and predictions of a clip over time.", "view:plot"),
    "formats": Verb("List the formats, or explain one.", "verbs:formats"),
    "rule": Verb("Explain a rule, or list all of them.", "verbs:rule"),
    "schema": Verb("Print a JSON Schema.", "verbs:schema"),
    "push": Verb("Upload a dataset to the Hugging Face Hub.", "hub:push"),
    "pull": Verb("Download a dataset from the Hugging Face Hub.", "hub:pull"),
    "new": Verb("Describe the columns of your own labels in a dataset.toml.", "verbs:new"),
    "demo": Verb("Make a small dataset and try everything on it.", "demo:demo"),
    "verify": Verb("Check that files are those in the signature of a score.", "verbs:verify"),
}
_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@functools.cache
def _added() -> dict[str, Callable[..., Any]]:
    """Return the commands of installed packages by name; none has the name of one of seldio."""
    points = (point for point in plugins.entry_points("commands") if point.name not in _VERBS)
    return {point.name: plugins.load(point, FunctionType) for point in points}


class _Commands(Mapping[str, Any]):
    """The commands by name, each loaded when somebody takes it."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        yield from (*_VERBS, *_added())

    def __len__(self) -> int:
        return len(_VERBS) + len(_added())


@functools.cache
def _command(name: str) -> Any:
    """Return a command with its options.

    Raises:
        KeyError: there is no command of that name.
    """
    if name in _VERBS:
        module, function = _VERBS[name].place.split(":")
        run, short = getattr(import_module(f"seldio.cli.{module}"), function), _VERBS[name].short
    else:
        run = _added()[name]
        short = _first_line(run)
    alone = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=_CONTEXT
    )
    alone.command(name, cls=Command, short_help=short)(run)
    return typer.main.get_command(alone)


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


class _Group(Unconverted, TyperGroup):
    """The commands, listed without loading them."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands()  # type: ignore[assignment] # nobody adds to them

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the help; typer's own function loads every command."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands, each in a line."""
        shorts = [(name, verb.short) for name, verb in _VERBS.items()]
        shorts += [(name, _first_line(run)) for name, run in _added().items()]
        with formatter.section("Commands"):
            formatter.write_dl(shorts)


app = typer.Typer(
    name="seldio",
    cls=_Group,
    help="Read, check, fix, convert and score data for sound event localization and detection (SELD) and audio "
    "question answering.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
)


def _version(wanted: bool) -> None:
    if wanted:
        from seldio import __version__

        typer.echo(f"seldio {__version__}")
        raise typer.Exit


@app.callback()
def _seldio(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Exit codes: 0 clean, 1 with findings, 2 wrong usage, 3 failure."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # file names and cells may hold anything; printing must never fail over it
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        typer.main.get_command(app)(prog_name="seldio")
    except SeldioError as error:  # of an extension that cannot be loaded, before there is a command
        typer.echo(f"seldio: {error.text}", err=True)
        sys.exit(int(error.exit_code))
