"""The ``seldio`` command: parse, call, print, return an exit code. No logic lives here.

Commands import what they need when they run, so that ``seldio --help`` stays quick.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

import typer
import typer.main

from seldio.cli import compare, hub, score, verbs, view
from seldio.cli.demo import demo
from seldio.cli.options import Command

app = typer.Typer(
    name="seldio",
    help="Read, check, fix, convert and score data for sound event localization and detection (SELD) and audio "
    "question answering.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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


_COMMANDS = {
    "validate": (verbs.validate, "Check labels, submissions and datasets, and repair them."),
    "convert": (verbs.convert, "Convert between formats, to Parquet, or labels into questions."),
    "score": (score.command, "Score predictions as the official programs do."),
    "compare": (compare.compare, "Compare systems: differences with intervals, tests and ranks."),
    "rank": (score.rank, "Rank systems by their scores, as defined by DCASE Task 3."),
    "diff": (compare.diff, "Compare two versions of labels or questions."),
    "info": (verbs.info, "Describe a file, folder or archive."),
    "view": (view.view, "Write an HTML page about a clip: player, panorama, timeline."),
    "plot": (view.plot, "Draw labels, predictions, scores, or a video with labels."),
    "formats": (verbs.formats, "List the formats, or explain one."),
    "rule": (verbs.rule, "Explain a rule, or list all of them."),
    "schema": (verbs.schema, "Print a JSON Schema."),
    "push": (hub.push, "Upload a dataset to the Hugging Face Hub."),
    "pull": (hub.pull, "Download a dataset from the Hugging Face Hub."),
    "new": (verbs.new, "Print the commands that make a dataset of your labels and recordings."),
    "demo": (demo, "Make a small dataset and try everything on it."),
}
for _name, (_command, _short) in _COMMANDS.items():
    app.command(_name, cls=Command, short_help=_short)(_command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # file names and cells may hold anything; printing must never fail over it
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    _parser()(prog_name="seldio")


@functools.cache
def _parser() -> Callable[..., None]:
    """All commands with their options; typer alone would derive them from their functions again for every call."""
    return typer.main.get_command(app)
