"""The commands that show data: ``seldio view`` and ``seldio plot``."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import format_option
from seldio.errors import ExitCode
from seldio.text import plural, printable


@guarded
def view(
    source: str = typer.Argument(
        metavar="SOURCE",
        help="The label file of a clip, whose recording and video are found in its dataset; or a dataset: a folder, "
        "archive, export, or hf://datasets/USER/NAME.",
    ),
    clip: str | None = typer.Option(None, metavar="NAME", help="Clip to show, if SOURCE is a dataset with several."),
    audio: str | None = typer.Option(None, metavar="FILE", help="Recording to use instead of the one found."),
    video: str | None = typer.Option(None, metavar="FILE", help="Video to use instead of the one found."),
    predictions: str | None = typer.Option(
        None, "--predictions", "-p", metavar="PATH", help="Predictions: a file, or the folder that contains it."
    ),
    questions: str | None = typer.Option(None, metavar="FILE", help="Questions; those about the clip are shown."),
    out: str | None = typer.Option(
        None, "-o", metavar="FILE", help="Page to write; CLIP.html by default, - for standard output."
    ),
    format: str | None = format_option("Format of the labels; detected by default.", "--format", "-f"),
    predictions_format: str | None = format_option("Format of the predictions; detected by default."),
    link_media: bool = typer.Option(
        False, "--link-media", help="Link to recording and video instead of embedding small copies."
    ),
    deep: bool = typer.Option(False, "--deep", help="Compare the labels with the audio."),
    no_media: bool = typer.Option(False, "--no-media", help="Leave out audio and video; the clip can still be played."),
) -> ExitCode:
    """Write an HTML page about a clip: player, panorama with moving labels, timeline, questions, findings."""
    from seldio.viewer import page as pages

    page = pages.view(
        source, sys.stdout.buffer if out == "-" else out, clip=clip, audio=audio, video=video, predictions=predictions,
        questions=questions, format=format, predictions_format=predictions_format, link_media=link_media, deep=deep,
        no_media=no_media,
    )  # fmt: skip
    counts = [plural(page.events, "event")]
    if page.predictions is not None:
        counts.append(plural(page.predictions, "predicted event"))
    if page.questions is not None:
        counts.append(plural(page.questions, "question"))
    counts.append(plural(page.findings, "finding"))
    lines = [f"{page.clip}: {', '.join(counts)}", *(f"  {line}" for line in page.media)]
    if page.path != "-":
        size = f"{len(page.html) / 1e6:.1f} MB" if len(page.html) >= 1e6 else f"{len(page.html) / 1e3:.0f} kB"
        lines.append(f"{page.path}: {size}; open it in a browser")
    for line in lines:
        typer.echo(printable(line), err=True)
    return ExitCode.CLEAN


@guarded
def plot(
    source: str = typer.Argument(
        metavar="SOURCE",
        help="The label file of a clip; or a dataset: a folder, archive, export, or hf://datasets/USER/NAME.",
    ),
    clip: str | None = typer.Option(None, metavar="NAME", help="Clip to draw, if SOURCE is a dataset with several."),
    predictions: str | None = typer.Option(
        None, "--predictions", "-p", metavar="PATH", help="Predictions: a file, or the folder that contains it."
    ),
    out: Path | None = typer.Option(
        None, "-o", metavar="FILE", help="Picture to write (.png, .svg, .pdf); CLIP.png by default."
    ),
    format: str | None = format_option("Format of the labels; detected by default.", "--format", "-f"),
    predictions_format: str | None = format_option("Format of the predictions; detected by default."),
) -> ExitCode:
    """Draw a clip over time: classes, azimuth, elevation, distance; with predictions (needs matplotlib)."""
    from seldio.viewer.plot import plot as draw

    plotted = draw(
        source, out, clip=clip, predictions=predictions, format=format, predictions_format=predictions_format
    )
    typer.echo(printable(plotted.path))
    for line in plotted.notes:
        typer.echo(f"  {printable(line)}", err=True)
    return ExitCode.CLEAN
