"""``seldio view`` and ``seldio plot``."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_formats, complete_profiles
from seldio.errors import ExitCode

if TYPE_CHECKING:
    from seldio.viewer.page import Page


@guarded
def command(
    source: str = typer.Argument(
        help="The label file of one clip; its recording and video are found in its data set. Or a data set: a folder, "
        "archive, export, or hf://datasets/USER/NAME."
    ),
    clip: str | None = typer.Option(None, help="Which clip of a data set; needed where it has several."),
    audio: str | None = typer.Option(None, help="The recording, in place of the one that is found."),
    video: str | None = typer.Option(None, help="The video, in place of the one that is found."),
    predictions: str | None = typer.Option(None, help="Predictions: a file, or a folder with one of the clip's name."),
    questions: str | None = typer.Option(None, help="A file of questions; those about the clip are shown."),
    out: str | None = typer.Option(
        None, "-o", help="The page to write; CLIP.html here if not given, - for standard output."
    ),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout of the labels; found if not given.", autocompletion=complete_formats
    ),
    predictions_format: str | None = typer.Option(
        None, help="The layout of the predictions; found if not given.", autocompletion=complete_formats
    ),
    link_media: bool = typer.Option(
        False, "--link-media", help="Name sound and video where they are, in place of small copies in the page."
    ),
    deep: bool = typer.Option(False, "--deep", help="Compare the labels with the sound of the recording as well."),
    no_media: bool = typer.Option(False, "--no-media", help="Without sound and video; a clock runs all the same."),
) -> ExitCode:
    """Write one html page about a clip: player, panorama with moving labels, timeline, questions, findings."""
    from seldio.viewer import page as pages

    page = pages.view(
        source, sys.stdout.buffer if out == "-" else out, clip=clip, audio=audio, video=video, predictions=predictions,
        questions=questions, format=format, predictions_format=predictions_format, link_media=link_media, deep=deep,
        no_media=no_media,
    )  # fmt: skip
    _tell(page)
    return ExitCode.CLEAN


def _tell(page: Page) -> None:
    """Say what is in the page, on standard error."""
    from seldio.text import plural, printable

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


class PlotKind(enum.StrEnum):
    """What is drawn."""

    TIMELINE = "timeline"
    DIRECTIONS = "directions"
    MAP = "map"
    STATISTICS = "statistics"
    SCORES = "scores"
    VIDEO = "video"


_SCORES, _VIDEO = "Scores", "Video"


@guarded
def plot(
    source: str = typer.Argument(help="Labels or outputs (file, folder, archive), or a score file (json)."),
    kind: PlotKind | None = typer.Option(
        None, "--kind", "-k", help="What to draw; the timeline of a clip, the statistics of several if not given."
    ),
    predictions: str | None = typer.Option(
        None, "--predictions", "-p", help="Outputs of a system: drawn with the labels, or scored against them."
    ),
    clip: str | None = typer.Option(None, "--clip", help="The clip to draw, where SOURCE holds several."),
    out: Path | None = typer.Option(
        None, "-o", help="The picture (.png, .svg, .pdf) or film (.mp4); CLIP-KIND.png here if not given."
    ),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout of SOURCE; found if not given.", autocompletion=complete_formats
    ),
    predictions_format: str | None = typer.Option(
        None, help="That of the predictions, likewise.", autocompletion=complete_formats
    ),
    profile: str | None = typer.Option(
        None, help="The way of scoring.", rich_help_panel=_SCORES, autocompletion=complete_profiles
    ),
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Score the clips that both sides have.", rich_help_panel=_SCORES
    ),
    table: str | None = typer.Option(None, help="Which table, e.g. rooms.", rich_help_panel=_SCORES),
    video: str | None = typer.Option(None, help="The video; found beside the labels.", rich_help_panel=_VIDEO),
    audio: str | None = typer.Option(None, help="The recording; found likewise.", rich_help_panel=_VIDEO),
    width: int | None = typer.Option(None, help="Pixels across; at most 640 if not given.", rich_help_panel=_VIDEO),
) -> ExitCode:
    """Draw labels, predictions and scores, or a clip's video with its labels on it (needs matplotlib)."""
    from seldio.text import printable
    from seldio.viewer.plot import plot as draw

    made = draw(
        source, out, kind=kind.value if kind is not None else None, predictions=predictions, clip=clip, format=format,
        predictions_format=predictions_format, profile=profile, allow_missing=allow_missing, table=table, audio=audio,
        video=video, width=width,
    )  # fmt: skip
    typer.echo(printable(made.path))
    for line in made.notes:
        typer.echo(f"  {printable(line)}", err=True)
    return ExitCode.CLEAN
