"""``seldio convert``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seldio.conversion import Conversion


@guarded
def command(
    source: str = typer.Argument(help="A file, folder, archive, -, or the name of a format."),
    path: str | None = typer.Argument(None, help="Where the data is, if SOURCE is the name of its format."),
    to: str = typer.Option(..., "--to", help="The format to write (seldio formats lists them)."),
    out: Path | None = typer.Option(None, "-o", help="The file or folder to write; one file goes to standard output."),
    format: str | None = typer.Option(None, "--format", "-f", help="The layout of SOURCE; found if not given."),
    allow_loss: str = typer.Option("", help="Fields whose loss is accepted, comma separated; all for every one."),
    fill: list[str] = typer.Option([], help="FIELD=VALUE for a field that the target needs and SOURCE lacks."),
    json: bool = typer.Option(False, "--json", help="Print what was done as json (to standard error with -o -)."),
    seed: int = typer.Option(0, help="Labels to questions: another seed asks in other words."),
    tasks: str | None = typer.Option(None, help="Labels to questions: only these tasks, comma separated."),
    window: float = typer.Option(20.0, help="Labels to questions: seconds of a clip, at most 20."),
    hop: float = typer.Option(20.0, help="Labels to questions: seconds from clip to clip."),
    per_task: int | None = typer.Option(None, help="Labels to questions: at most so many of a task."),
    balance: bool = typer.Option(False, "--balance", help="Labels to questions: the proportions of SO-Bench."),
    split: str = typer.Option("test", help="Labels to questions: the split written into each question."),
) -> ExitCode:
    """Convert labels between all layouts, to Parquet and back, or to questions; losses are named first."""
    from seldio.conversion import items
    from seldio.conversion.places import resolved

    place, told = resolved(source, path)
    where = sys.stdout.buffer if out is None or str(out) == "-" else out
    lost = [name.strip() for name in allow_loss.split(",") if name.strip()]
    options = {
        "seed": seed,
        "tasks": [name.strip() for name in tasks.split(",")] if tasks else None,
        "window": window,
        "hop": hop,
        "per_task": per_task,
        "balance": balance,
        "split": split,
    }
    name = format if format is not None else (told.name if told is not None else None)
    done = items.convert_any(place, where, to, name, lost, dict(_pair(item) for item in fill), options)
    _tell(done, json)
    return ExitCode.CLEAN


def _pair(item: str) -> tuple[str, float]:
    """FIELD=VALUE as a field and a number."""
    field, _, value = item.partition("=")
    try:
        return field.strip(), float(value)
    except ValueError:
        raise UsageError(f"--fill {item}: write FIELD=NUMBER, as in distance=0") from None


def _tell(done: Conversion, json: bool) -> None:
    """Say what was done; on standard error where the output itself goes to standard output."""
    from seldio.formats import item_formats
    from seldio.text import plural, printable

    noun = "clip" if item_formats.named(done.target) is None else "question"
    aside = done.written == ("-",)
    if json:
        import dataclasses
        import json as encoder

        record = dataclasses.asdict(done) | {"findings": [finding.as_dict() for finding in done.findings]}
        typer.echo(encoder.dumps(record, indent=2, default=str), err=aside)
        return
    read, written = done.rows
    rows = f"{read:,} rows" if read == written else f"{read:,} rows became {written:,}"
    names = " and ".join(dict.fromkeys(done.formats))
    where = "" if aside else f" in {plural(len(done.written), 'file')}"
    typer.echo(f"{names} to {done.target}: {plural(done.clips, noun)}, {rows}{where}", err=True)
    for field, what in done.losses.items():
        typer.echo(f"  lost as allowed: {field} ({printable(what)})", err=True)
    for note in done.notes:
        typer.echo(f"  {printable(note)}", err=True)
    for finding in done.findings:
        typer.echo(f"  {printable(str(finding))}", err=True)
