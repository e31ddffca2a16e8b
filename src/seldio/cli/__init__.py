"""The ``seldio`` command: parse, call, print, return an exit code. No logic lives here.

Commands import what they need when they run, so that ``seldio --help`` stays quick.
"""

from __future__ import annotations

import sys

import typer

from seldio.cli import hub, score, verbs, view

app = typer.Typer(
    name="seldio",
    help="Read, check, fix, convert and score sound event localization and audio question answering data.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from seldio import __version__

        typer.echo(f"seldio {__version__}")
        raise typer.Exit


@app.callback()
def _seldio(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    """Exit codes: 0 clean, 1 findings, 2 usage, 3 could not work."""


app.command("validate")(verbs.validate)
app.command("convert")(verbs.convert)
app.command("score")(score.command)
app.command("rank")(score.rank)
app.command("info")(verbs.info)
app.command("view")(view.view)
app.command("plot")(view.plot)
app.command("formats")(verbs.formats)
app.command("rule")(verbs.rule)
app.command("schema")(verbs.schema)
app.command("push")(hub.push)
app.command("pull")(hub.pull)
app.command("demo")(view.demo)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # file names and cells may hold anything; printing must never fail over it
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app()
