"""``seldio demo``: a small dataset, the usual commands on it, and files to look at."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import typer

from seldio.cli.declared import verb
from seldio.errors import ExitCode, SeldioError


class Step(NamedTuple):
    """A command of the demo."""

    why: str  # a line above it; none if empty
    line: str  # what is run, without ``seldio``, in the demo's folder
    expected: int = 0  # the exit code it should end with
    lines: int = 8  # at most this number of lines on the screen; the whole output is kept in a file
    media: bool = False  # whether it needs recordings and videos, and is left out without them
    slow: bool = False  # whether it takes long enough to show its progress
    tail: bool = False  # whether the last line is shown in any case


#: What the demo makes: the name of a folder, what it holds, and whether it needs recordings and videos.
MADE = (
    ("starss23/", "labels of four synthetic scenes of one minute each", False),
    ("", "with recordings in FOA and MIC and 360° videos", True),
    ("output/", "the output of a simulated system", False),
    ("submission/", "a submission with the usual mistakes", False),
    ("planted/", "copies in which labels and audio disagree", True),
)
_LABELS = "starss23/metadata_dev"
_CLIP = f"{_LABELS}/dev-test-tau/fold4_room2_mix001.csv"
#: What the demo runs, in order.
STEPS: tuple[Step, ...] = (
    Step("What is in the folder? The format is detected from the content.", "info starss23", lines=11),
    Step("Is the submission ready?", "validate submission", 1, lines=9, tail=True),
    Step("Repair what can be repaired; what is left needs a decision.",
         "validate submission --fix --unsafe-fixes", 1, lines=6),
    Step("Labels become a submission. Fields that would be lost are reported first.",
         f"convert {_LABELS} --to dcase2023-submission -o out/", 1),
    Step("Accept the loss, or convert to Parquet and back, which loses nothing.",
         f"convert {_LABELS} --to dcase2023-submission -o out/ --allow-loss source,distance"),
    Step("", f"convert {_LABELS} --to parquet -o labels.parquet"),
    Step("", "convert labels.parquet --to starss23 -o back/"),
    Step("Score the system as the challenge does; then with confidence intervals, as a page.",
         f"score output -r {_LABELS}", lines=15),
    Step("", f"score output -r {_LABELS} --intervals jackknife --output html -o scores.html"),
    Step("Labels become questions that have one right answer.",
         f"convert {_LABELS} --to so-bench -o questions.jsonl --total 40", lines=6),
    Step("Do labels and audio agree? Every event is compared with what is heard.",
         "validate starss23 --deep --ignore LAY114", lines=4, media=True, slow=True, tail=True),
    Step("Here they do not: the labels of this copy were shifted in time.",
         "validate planted/late-by-1.2-s --deep --select AUD", 1, lines=6, media=True, slow=True, tail=True),
    Step("See and hear a clip with its labels, predictions and questions.",
         f"view {_CLIP} --predictions output --questions questions.jsonl -o clip.html", lines=4, slow=True),
)  # fmt: skip
#: What the demo leaves to be opened, and commands to go on with.
OPEN = (
    ("clip.html", "a clip with its labels, predictions and questions"),
    ("scores.html", "the scores of the system, with every notice"),
    ("questions.jsonl", "questions with answers, one per line"),
    ("printed/", "the complete output of each command above"),
)
NEXT = (
    ("seldio rule LAB303", "why azimuths from 0 to 360 are an error"),
    (f"seldio plot {_CLIP} -o clip.png", "draw the labels of a clip (needs matplotlib)"),
    ("seldio validate planted/channels-swapped --deep", "find another fault in a recording"),
    ("seldio validate YOUR-FOLDER", "check your own data"),
)
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"


@verb(folder="FOLDER")
def demo(folder: str = "seldio-demo", seed: int = 7, media: bool = True, run: bool = True) -> ExitCode:
    """Make a small dataset and try everything on it: check, repair, convert, score, ask questions, view.

    Args:
        folder: where to write the files.
        seed: random seed for the scenes.
        media: synthesize recordings and videos, or only labels.
        run: run the commands, or only make the files.
    """
    from seldio.synth.tree import write_demo

    start = time.monotonic()
    place = Path(folder)
    write_demo(place, seed, media=media)
    typer.echo(f"Made in {place}/ ({time.monotonic() - start:.0f} s):")
    for name, what, needs in MADE:
        if media or not needs:
            typer.echo(f"  {name:12}{what}")
    if not run:
        return ExitCode.CLEAN
    typer.echo("")
    for number, step in enumerate((step for step in STEPS if media or not step.media), 1):
        _run(step, place, number)
    for file in sorted((place / _LABELS).rglob("*.csv")):
        if (place / "back" / file.relative_to(place / _LABELS)).read_bytes() != file.read_bytes():
            raise SeldioError(f"{file.name} did not come back byte for byte")
    typer.echo(f"All of it, and the labels came back from Parquet byte for byte. Now open, in {place}/:")
    for name, what in OPEN:
        typer.echo(f"  {name:17}{what}")
    typer.echo(f"\nTry next{'' if place == Path() else f', after cd {place}'}:")
    for line, what in NEXT:
        if media or "planted" not in line:
            typer.echo(f"  {line}\n      {what}")
    return ExitCode.CLEAN


def _run(step: Step, folder: Path, number: int) -> None:
    """Run a command, show the beginning of its output, and keep all of it."""
    from seldio.files import in_the_way, write_bytes

    width = min(shutil.get_terminal_size().columns, 120)
    colours = {"FORCE_COLOR": "1"} if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else {}
    typer.echo(f"{'# ' + step.why if step.why else ''}\n$ seldio {step.line}".strip())
    sys.stdout.flush()
    for name in re.findall(r" -o (\S+)", step.line):
        in_the_way(folder / name, folder)
    command = [sys.executable, "-m", "seldio", *shlex.split(step.line)]
    settings = {**os.environ, **colours, "COLUMNS": str(width)}
    errors = None if step.slow else subprocess.STDOUT
    done = subprocess.run(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", check=False
    )
    if done.returncode != step.expected:
        raise SeldioError(
            f"the demo failed: exit code {done.returncode} instead of {step.expected}\n{done.stdout[-2000:]}"
        )
    printed = Path("printed") / f"{number:02}-{step.line.split()[0]}.txt"
    write_bytes(folder / printed, _STYLE.sub("", done.stdout).encode(), folder)
    lines = done.stdout.rstrip("\n").splitlines()
    last = lines[-1:] if step.tail else []
    most = step.lines - 1 - len(last)
    if len(lines) > step.lines:
        left = f"{_RESET if colours else ''}… {len(lines) - most - len(last)} more lines in {printed}"
        lines = [*lines[:most], left, *last]
    typer.echo("".join(f"{line}\n" for line in lines))
