"""``seldio convert``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import ENGINE, RESUME, WORKERS, Engine, complete_formats, complete_targets
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seldio.conversion import Conversion

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
    from seldio.conversion.asked import Request
    from seldio.conversion.dispatch import convert_any
    from seldio.conversion.places import resolved
    from seldio.engines import running
    from seldio.tasks.margins import margins_of

    place, told = resolved(source, path)
    where = sys.stdout.buffer if out is None or out == "-" else out
    lost = [name.strip() for name in allow_loss.split(",") if name.strip()]
    request = Request(
        seed=seed, tasks=[name.strip() for name in tasks.split(",")] if tasks else None, window=window, hop=hop,
        margins=margins_of(dict(_pair(item, "--margin", "azimuth=10") for item in margin)), split=split,
        per_task=per_task, balance=balance, total=total, audio=audio,
        force=force,
    )  # fmt: skip
    name = format if format is not None else (told.name if told is not None else None)
    filled = dict(_pair(item, "--fill", "distance=2.5 (metres)") for item in fill)
    with running(workers, engine, resume):
        done = convert_any(place, where, to, name, lost, filled, request, gain)
    _tell(done, json)
    return ExitCode.CLEAN


def _pair(item: str, option: str, example: str) -> tuple[str, float]:
    """NAME=VALUE as a name and a number."""
    name, _, value = item.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise UsageError(f"{option} {item}: write NAME=NUMBER, as in {example}") from None


def _tell(done: Conversion, json: bool) -> None:
    """Say what was done; on standard error where the output itself goes to standard output."""
    from seldio.text import printable

    if json:
        import dataclasses

        from seldio.text import json_text

        record = dataclasses.asdict(done) | {"findings": [finding.as_dict() for finding in done.findings]}
        typer.echo(json_text(record, indent=2, default=str), err=done.written == ("-",))
        return
    for line in _lines(done):
        typer.echo(printable(line), err=True)


def _lines(done: Conversion) -> Iterator[str]:
    """What was done, for people."""
    from seldio.conversion.asked import Asked
    from seldio.conversion.recordings import ArrayConversion
    from seldio.data.exporting import Stored
    from seldio.formats import item_formats
    from seldio.text import plural

    if isinstance(done, Stored | ArrayConversion):
        yield from done.lines()
        return
    read, written = done.rows
    names = " and ".join(dict.fromkeys(done.formats))
    aside = done.written == ("-",)
    if isinstance(done, Asked):
        where = "" if aside else f", in {done.written[0]}"
        yield f"{names} to {done.target}: {plural(written, 'question')} about {plural(done.clips, 'recording')}{where}"
        yield from (f"  {line}" for line in done.lines())
        return
    noun = "clip" if item_formats.named(done.target) is None else "question"
    rows = plural(read, "row") + (f" became {written:,}" if read != written else "")
    where = "" if aside else f" in {plural(len(done.written), 'file')}"
    yield f"{names} to {done.target}: {plural(done.clips, noun)}, {rows}{where}"
    yield from (f"  lost as allowed: {field} ({what})" for field, what in done.losses.items())
    yield from (f"  {note}" for note in done.notes)
    yield from (f"  {finding}" for finding in done.findings)
