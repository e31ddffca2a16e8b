"""The ``seldio`` command: parse, call, print, return an exit code. No logic lives here.

A command is loaded when it is run or its help is asked for; the list of commands is data. Commands import what they
need when they run, so that ``seldio --help`` stays quick.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from seldio import wings
from seldio.cli.values import Unconverted
from seldio.errors import SeldioError
from seldio.wings import Verb

_VERBS = (
    Verb("validate", "Check labels, submissions and datasets, and repair them.", "seldio.cli.verbs:validate"),
    Verb("convert", "Convert between formats, to Parquet, or labels into questions.", "seldio.cli.verbs:convert"),
    Verb("info", "Describe a file, folder or archive.", "seldio.cli.verbs:info"),
    Verb("cite", "Print how to cite a dataset or benchmark.", "seldio.cli.cite:cite"),
    Verb("formats", "List the formats, or explain one.", "seldio.cli.verbs:formats"),
    Verb("rule", "Explain a rule, or list all of them.", "seldio.cli.verbs:rule"),
    Verb("schema", "Print a JSON Schema.", "seldio.cli.verbs:schema"),
    Verb("new", "Print the commands that turn your labels and recordings into a dataset.", "seldio.cli.verbs:new"),
)
#: The order in which commands are listed; those from outside come last.
_ORDER = (
    "validate", "convert", "score", "compare", "rank", "package", "diff", "info", "cite", "view", "plot", "formats",
    "rule", "schema", "push", "pull", "new", "demo",
)  # fmt: skip
_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@functools.cache
def _verbs() -> dict[str, Verb]:
    """The commands that are there, by name."""
    from_wings = (verb for wing in wings.wings() for verb in wing.verbs if wings.there(wing.name))
    known = {verb.name: verb for verb in (*_VERBS, *from_wings)}
    return {name: known[name] for name in sorted(known, key=lambda name: (*_ORDER, name).index(name)) if name in known}


class _Commands(Mapping[str, Any]):
    """The commands by name, each loaded when somebody takes it."""

    def __getitem__(self, name: str) -> Any:
        return _command(_verbs()[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_verbs())

    def __len__(self) -> int:
        return len(_verbs())


@functools.cache
def _command(verb: Verb) -> Any:
    from seldio.cli.options import Command

    module, function = verb.place.split(":")
    alone = typer.Typer(
        add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=_CONTEXT
    )
    alone.command(verb.name, cls=Command, short_help=verb.short)(getattr(import_module(module), function))
    return typer.main.get_command(alone)


class _Group(Unconverted, TyperGroup):
    """The commands, listed without loading them; one of a wing that was taken away says so."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = _Commands()  # type: ignore[assignment] # nobody adds to them

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the same in every context
        """The names, in the order of the help."""
        return list(_verbs())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name."""
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Say which wing is missing where a command is one of its verbs."""
        for wing in wings.wings():
            if args and any(verb.name == args[0] for verb in wing.verbs) and not wings.there(wing.name):
                ctx.fail(str(wings.missing(wing.name, f"seldio {args[0]}")))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands, each in a line."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb.name, verb.short) for verb in _verbs().values()])


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
        _parser()(prog_name="seldio")
    except SeldioError as error:  # of an extension that cannot be loaded, before there is a command
        typer.echo(f"seldio: {error.text}", err=True)
        sys.exit(int(error.exit_code))


@functools.cache
def _parser() -> Callable[..., None]:
    """All commands with their options; typer alone would derive them from their functions again for every call."""
    return typer.main.get_command(app)
