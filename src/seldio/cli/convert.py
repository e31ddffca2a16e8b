"""``seldio convert``."""

from __future__ import annotations

import sys

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import ENGINE, RESUME, WORKERS, Engine, complete_formats, complete_targets, named_numbers
from seldio.errors import ExitCode
from seldio.text import json_text, printable

_TO = (
    "The format to write (seldio formats lists them); mic or foa; or to store a data set as a whole, hf-parquet, "
    "webdataset, audiofolder or videofolder, and files for the way back."
)
_FILL = (
    "FIELD=VALUE for a field that the target needs and SOURCE lacks: angles in degrees, distance in metres "
    "(distance=2.5 is 2.5 m in any layout)."
)
_ASK = "Labels to questions"
#: The margins with their defaults; they are loaded with much else, so a test sees that this is all of them.
MARGINS = (
    "azimuth 20 degrees, elevation 10 degrees, metres 0.5 metres, seconds 0.5 seconds, shortest 0.3 seconds, "
    "still 5 degrees, moving 20 degrees, sector 5 degrees"
)


@guarded
def command(
    source: str = typer.Argument(help="A file, folder, archive, -, or the name of a format."),
    path: str | None = typer.Argument(None, help="Where the data is, if SOURCE is the name of its format."),
    to: str = typer.Option(..., "--to", help=_TO, autocompletion=complete_targets),
    out: str | None = typer.Option(None, "-o", help="The file or folder to write; one file goes to standard output."),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout of SOURCE; found if not given.", autocompletion=complete_formats
    ),
    allow_loss: str = typer.Option("", help="Fields whose loss is accepted, comma separated; all for every one."),
    fill: list[str] = typer.Option([], help=_FILL),
    force: bool = typer.Option(False, "--force", help="Convert labels in which seldio validate finds errors too."),
    json: bool = typer.Option(False, "--json", help="Print what was done as json (to standard error with -o -)."),
    seed: int = typer.Option(0, help=f"{_ASK}: another seed asks in other words."),
    tasks: str | None = typer.Option(None, help=f"{_ASK}: only these tasks, comma separated."),
    window: float = typer.Option(20.0, help=f"{_ASK}: seconds of a clip, at most 20."),
    hop: float | None = typer.Option(None, help=f"{_ASK}: seconds from clip to clip; the window if not given."),
    margin: list[str] = typer.Option(
        [], "--margin", help=f"{_ASK}: NAME=VALUE, what must differ by how much to be asked about. {MARGINS}."
    ),
    total: int | None = typer.Option(
        None, help=f"{_ASK}: so many in all, in the proportions of SO-Bench as far as there are enough of a task."
    ),
    per_task: int | None = typer.Option(None, help=f"{_ASK}: at most so many of a task, of all answers alike."),
    balance: bool = typer.Option(
        False, "--balance", help=f"{_ASK}: as many as the proportions of SO-Bench allow; the scarcest task decides."
    ),
    split: str = typer.Option("test", help=f"{_ASK}: the split written into each question."),
    audio: bool = typer.Option(
        False,
        "--audio",
        help=f"{_ASK}: cut the sound of the clips (FOA, 16 kHz) into audio/ beside the output. With "
        "--to mic or foa: make the recordings of a data set, in place of taking those that it has.",
    ),
    gain: float | None = typer.Option(
        None,
        help="With --to mic or foa: decibels by which recordings that are made get louder (quieter, if negative); "
        "one factor for the set, so that none of them is clipped.",
    ),
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
    resume: str | None = RESUME,
) -> ExitCode:
    """Convert labels between all layouts, to Parquet and back, or to questions; losses are named first."""
    from seldio import api
    from seldio.conversion.dispatch import named
    from seldio.engines import running

    if path is not None:
        source, format = path, format if format is not None else named(source)
    with running(workers, engine, resume):
        done = api.convert(
            source, sys.stdout.buffer if out in (None, "-") else out, to, format=format, allow_loss=allow_loss,
            fill=named_numbers(fill, "--fill", "distance=2.5 (metres)"), force=force, seed=seed, tasks=tasks,
            window=window, hop=hop, margin=named_numbers(margin, "--margin", "azimuth=10"), total=total,
            per_task=per_task, balance=balance, split=split, audio=audio, gain=gain,
        )  # fmt: skip
    aside = done.written == ("-",)  # the output itself goes to standard output
    if json:
        typer.echo(json_text(done.as_dict(), indent=2, default=str), err=aside)
        return ExitCode.CLEAN
    for line in done.lines():
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN
