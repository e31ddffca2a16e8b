"""``seldio plot``."""

from __future__ import annotations

import enum
from pathlib import Path

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_formats, complete_profiles
from seldio.errors import ExitCode


class Kind(enum.StrEnum):
    """What is drawn."""

    TIMELINE = "timeline"
    DIRECTIONS = "directions"
    MAP = "map"
    STATISTICS = "statistics"
    SCORES = "scores"
    VIDEO = "video"


_SCORES, _VIDEO = "Scores", "Video"


@guarded
def command(
    source: str = typer.Argument(help="Labels or outputs (file, folder, archive), or a score file (json)."),
    kind: Kind | None = typer.Option(
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
    from seldio.viewer.plot import plot

    made = plot(
        source, out, kind=kind.value if kind is not None else None, predictions=predictions, clip=clip, format=format,
        predictions_format=predictions_format, profile=profile, allow_missing=allow_missing, table=table, audio=audio,
        video=video, width=width,
    )  # fmt: skip
    typer.echo(printable(made.path))
    for line in made.notes:
        typer.echo(f"  {printable(line)}", err=True)
    return ExitCode.CLEAN
