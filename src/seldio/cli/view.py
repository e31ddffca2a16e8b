"""``seldio view``."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_formats
from seldio.errors import ExitCode, UsageError

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
    deep: bool = typer.Option(False, "--deep", help="Hold the labels against the sound of the recording as well."),
    no_media: bool = typer.Option(False, "--no-media", help="Without sound and video; a clock runs all the same."),
) -> ExitCode:
    """Write one html page about a clip: player, panorama with moving labels, timeline, questions, findings."""
    from seldio.files import write_bytes
    from seldio.viewer.page import view

    if link_media and no_media:
        raise UsageError("--link-media and --no-media exclude each other")
    page = view(
        source, clip=clip, audio=audio, video=video, predictions=predictions, questions=questions, format=format,
        predictions_format=predictions_format, media="link" if link_media else "none" if no_media else "embed",
        folder=None if out == "-" else os.path.dirname(out or "") or ".",  # noqa: PTH120
        deep=deep,
    )  # fmt: skip
    where = out if out is not None else f"{_plain(page.clip)}.html"
    if where != "-" and os.path.realpath(where) in _real(source, audio, video, predictions, questions):
        raise UsageError(f"{where} would be overwritten by the page: name another file with -o")
    if where == "-":
        sys.stdout.buffer.write(page.html)
    else:
        write_bytes(where, page.html)
    _tell(page, where)
    return ExitCode.CLEAN


def _plain(clip: str) -> str:
    """A clip's name as a file name: tables of labels may hold any."""
    return re.sub(r'[\x00-\x1f\x7f\\/:*?"<>|]', "_", clip).lstrip(".")[:100] or "clip"


def _real(*paths: str | None) -> set[str]:
    """The real files behind *paths*."""
    return {os.path.realpath(path) for path in paths if path is not None}


def _tell(page: Page, where: str) -> None:
    """Say what is in the page, on standard error."""
    from seldio.text import plural, printable

    counts = [plural(page.events, "event")]
    if page.predictions is not None:
        counts.append(plural(page.predictions, "predicted event"))
    if page.questions is not None:
        counts.append(plural(page.questions, "question"))
    counts.append(plural(page.findings, "finding"))
    lines = [f"{page.clip}: {', '.join(counts)}", *(f"  {line}" for line in page.media)]
    if where != "-":
        size = f"{len(page.html) / 1e6:.1f} MB" if len(page.html) >= 1e6 else f"{len(page.html) / 1e3:.0f} kB"
        lines.append(f"{where}: {size}; open it in a browser")
    for line in lines:
        typer.echo(printable(line), err=True)
