"""The commands that show data: ``seldio view``, ``seldio plot`` and ``seldio demo``."""

from __future__ import annotations

import enum
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_profiles, format_option
from seldio.errors import ExitCode, SeldioError
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
        None, "--predictions", "-p", metavar="PATH", help="Predictions for the clip: a file, or a folder that has one."
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


class PlotKind(enum.StrEnum):
    """Kinds of plots."""

    TIMELINE = "timeline"
    DIRECTIONS = "directions"
    MAP = "map"
    STATISTICS = "statistics"
    SCORES = "scores"
    VIDEO = "video"


_SCORES, _VIDEO = "Scores", "Video"


@guarded
def plot(
    source: str = typer.Argument(
        metavar="SOURCE", help="Labels or predictions (file, folder, archive), or a score file (JSON)."
    ),
    kind: PlotKind | None = typer.Option(
        None,
        "--kind",
        "-k",
        metavar="KIND",
        help="timeline, directions, map, statistics, scores or video; by default the timeline of a single clip, the "
        "statistics of several.",
    ),
    predictions: str | None = typer.Option(
        None, "--predictions", "-p", metavar="PATH", help="Predictions to draw with the labels, or to score."
    ),
    clip: str | None = typer.Option(None, "--clip", metavar="NAME", help="Clip to draw, if SOURCE has several."),
    out: Path | None = typer.Option(
        None, "-o", metavar="FILE", help="Picture (.png, .svg, .pdf) or video (.mp4); CLIP-KIND.png by default."
    ),
    format: str | None = format_option("Format of SOURCE; detected by default.", "--format", "-f"),
    predictions_format: str | None = format_option("Format of the predictions; detected by default."),
    profile: str | None = typer.Option(
        None, metavar="NAME", help="Scoring profile.", rich_help_panel=_SCORES, autocompletion=complete_profiles
    ),
    allow_missing: bool = typer.Option(
        False, "--allow-missing", help="Score the common clips; list the missing ones.", rich_help_panel=_SCORES
    ),
    table: str | None = typer.Option(
        None, metavar="NAME", help="Table to draw, such as rooms.", rich_help_panel=_SCORES
    ),
    video: str | None = typer.Option(
        None, metavar="FILE", help="Video to use instead of the one found.", rich_help_panel=_VIDEO
    ),
    audio: str | None = typer.Option(
        None, metavar="FILE", help="Recording to use instead of the one found.", rich_help_panel=_VIDEO
    ),
    width: int | None = typer.Option(
        None, metavar="PIXELS", help="Width; at most 640 by default.", rich_help_panel=_VIDEO
    ),
) -> ExitCode:
    """Draw labels, predictions and scores, or a clip's video with its labels on it (needs matplotlib)."""
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


# --- the demo ---------------------------------------------------------------------------------------------------------


class Step(NamedTuple):
    """A command of the demo."""

    why: str  # a line above it; none if empty
    line: str  # what is run, without ``seldio``, in the demo's folder
    expected: int  # the exit code it should end with
    media: bool = False  # whether it needs recordings and videos, and is left out without them


#: Folders with a planted fault, as :func:`seldio.synth.tree.plant` writes them.
PLANTED = (
    "mirrored-azimuth", "flipped-elevation", "rotated-by-60", "late-by-1.2-s", "channels-in-fuma-order",
    "channels-swapped", "channel-inverted", "labels-of-another-clip",
)  # fmt: skip
#: What the demo makes: the name of a folder, what it holds, and whether it needs recordings and videos.
MADE = (
    ("starss23/", "labels of four synthetic scenes of a minute", False),
    ("", "with recordings in FOA and MIC and 360° videos", True),
    ("output/", "what an imaginary system detects in them", False),
    ("submission/", "a submission with the usual mistakes", False),
    ("planted/", "copies in which labels and sound disagree", True),
)
#: What the demo runs, in order.
STEPS: tuple[Step, ...] = (
    Step("What is in the folder? The layout is found from the content.", "info starss23", 0),
    Step("Are labels, recordings and videos right?", "validate starss23", 0),
    Step("Is the submission? (Two findings a rule are shown here; all are counted.)",
         "validate submission --max-per-rule 2 --statistics", 1),
    Step("What is the matter with azimuths from 0 to 360?", "rule LAB303", 0),
    Step("What would a repair change? Nothing is written yet.",
         "validate submission/mix004.csv --unsafe-fixes --diff", 1),
    Step("Repair all that is safe, and the good guesses too.", "validate submission --fix --unsafe-fixes", 1),
    Step("What is left needs a person: a class that does not exist.", "validate submission --output concise", 1),
    Step("Labels become a submission? The fields it cannot carry are named.",
         "convert starss23/metadata_dev --to dcase2023-submission -o out/", 1),
    Step("Then allow that loss by name.",
         "convert starss23/metadata_dev --to dcase2023-submission -o out/ --allow-loss source,distance", 0),
    Step("Or lose nothing: one Parquet table, and back, byte for byte.",
         "convert starss23/metadata_dev --to parquet -o labels.parquet", 0),
    Step("", "convert labels.parquet --to starss23 -o back/", 0),
    Step("Score outputs as the challenge does, and say what its program hides.",
         "score output -r starss23/metadata_dev --jackknife", 0),
    Step("Labels become questions with one right answer.",
         "convert starss23/metadata_dev --to sobench-qa -o qa.jsonl --total 40", 0),
    Step("Do labels and sound belong together? Every event is held against what is heard.",
         "validate starss23 --deep", 0, media=True),
    *(Step("And where they do not? One planted fault of each kind is found and named." if not number else "",
           f"validate planted/{name} --deep --select AUD --output concise", 1, media=True)
      for number, name in enumerate(PLANTED)),
    Step("A page to look at, listen to and share: open it in a browser.",
         "view starss23/metadata_dev/dev-test-tau/fold4_room2_mix001.csv --questions qa.jsonl -o page.html", 0,
         media=True),
)  # fmt: skip


@guarded
def demo(
    folder: Path = typer.Argument(Path("seldio-demo"), metavar="FOLDER", help="Where to write the files."),
    seed: int = typer.Option(7, metavar="N", help="Random seed for the scenes."),
    media: bool = typer.Option(True, "--media/--no-media", help="Synthesize recordings and videos, or only labels."),
    run: bool = typer.Option(True, "--run/--no-run", help="Run the commands, or only make the files."),
) -> ExitCode:
    """Make a small dataset and try everything on it: check, repair, convert, score, ask questions, view."""
    from seldio.synth.tree import write_demo

    start = time.monotonic()
    write_demo(folder, seed, media=media)
    typer.echo(f"Made in {folder}/ ({time.monotonic() - start:.0f} s):")
    for name, what, needs in MADE:
        if media or not needs:
            typer.echo(f"  {name:12}{what}")
    if not run:
        return ExitCode.CLEAN
    typer.echo("")
    for why, line, expected, needs in STEPS:
        if needs and not media:
            continue
        typer.echo(f"{'# ' + why if why else ''}\n$ seldio {line}".strip())
        sys.stdout.flush()
        done = subprocess.run([sys.executable, "-m", "seldio", *shlex.split(line)], cwd=folder, check=False)
        if done.returncode != expected:
            raise SeldioError(f"the demo went wrong: exit code {done.returncode}, expected {expected}")
        typer.echo("")
    same = all(
        (folder / "back" / file.relative_to(folder / "starss23/metadata_dev")).read_bytes() == file.read_bytes()
        for file in sorted((folder / "starss23/metadata_dev").rglob("*.csv"))
    )
    if not same:
        raise SeldioError("the labels did not come back byte for byte")
    typer.echo("The labels came back byte for byte.")
    return ExitCode.CLEAN
