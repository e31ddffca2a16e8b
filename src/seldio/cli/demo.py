"""``seldio demo``."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import typer

from seldio.cli.guard import guarded
from seldio.errors import ExitCode, SeldioError


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
         "score out -r starss23/metadata_dev --jackknife", 0),
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
def command(
    folder: Path = typer.Argument(Path("seldio-demo"), help="Where to put the demo's files."),
    seed: int = typer.Option(7, help="Another seed gives other scenes."),
    media: bool = typer.Option(True, "--media/--no-media", help="Record and film the scenes; or labels only."),
) -> ExitCode:
    """Make a small data set and run the whole path on it: check, explain, repair, convert."""
    from seldio.synth.tree import write_demo

    start = time.monotonic()
    write_demo(folder, seed, media=media)
    what = "four scenes of a minute, heard in FOA and MIC and seen around" if media else "labels of four scenes"
    took = f" ({time.monotonic() - start:.0f} s)" if media else ""
    typer.echo(
        f"Made a small synthetic data set, {what}, and a submission with the usual mistakes in {folder}/{took}\n"
    )
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
