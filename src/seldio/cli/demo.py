"""``seldio demo``."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import typer

from seldio.cli.guard import guarded
from seldio.errors import ExitCode, SeldioError

#: What the demo runs, in order: why, the command, and the exit code it should end with.
STEPS = (
    ("What is in the folder? The layout is found from the content.", "info starss23", 0),
    ("Are the labels right?", "validate starss23", 0),
    ("Is the submission? (Two findings a rule are shown here; all are counted.)",
     "validate submission --max-per-rule 2 --statistics", 1),
    ("What is the matter with azimuths from 0 to 360?", "rule LAB303", 0),
    ("What would a repair change? Nothing is written yet.", "validate submission/mix004.csv --unsafe-fixes --diff", 1),
    ("Repair all that is safe, and the good guesses too.", "validate submission --fix --unsafe-fixes", 1),
    ("What is left needs a person: a class that does not exist.", "validate submission --output concise", 1),
    ("Labels become a submission? The fields it cannot carry are named.",
     "convert starss23/metadata_dev --to dcase2023-submission -o out/", 1),
    ("Then allow that loss by name.",
     "convert starss23/metadata_dev --to dcase2023-submission -o out/ --allow-loss source,distance", 0),
    ("Or lose nothing: one Parquet table, and back, byte for byte.",
     "convert starss23/metadata_dev --to parquet -o labels.parquet", 0),
    ("", "convert labels.parquet --to starss23 -o back/", 0),
)  # fmt: skip


@guarded
def command(
    folder: Path = typer.Argument(Path("seldio-demo"), help="Where to put the demo's files."),
    seed: int = typer.Option(7, help="Another seed gives other scenes."),
) -> ExitCode:
    """Make a small data set and run the whole path on it: check, explain, repair, convert."""
    from seldio.demo import make

    make(folder, seed)
    typer.echo(f"Made a small synthetic data set and a submission with the usual mistakes in {folder}/\n")
    for why, line, expected in STEPS:
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
