"""Processor time of commands on one line of labels, beside that of loading numpy and pyarrow.csv, in one run.

``python benchmarks/start.py [RUNS]`` prints a table: the smallest of RUNS (5) processes for each, as the smallest is
what other work on the machine disturbs least.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = "import sys; sys.argv = ['seldio', *{0!r}]\nfrom seldio.cli import main\nmain()"


def seconds(code: str, folder: str, runs: int) -> float:
    """The smallest processor time of *runs* processes that run *code*."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], cwd=folder, check=False, env=os.environ | {"COLUMNS": "80"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mix001.csv").write_text("0,1,0,-50,30,200\n")
        base = seconds("import numpy, pyarrow.csv", folder, runs)
        print(f"{'numpy and pyarrow.csv':24} {base:6.3f} s")
        rows = {
            "seldio.read": "import seldio; seldio.read('mix001.csv')",
            "validate": COMMAND.format(["validate", "mix001.csv"]),
            "info": COMMAND.format(["info", "mix001.csv"]),
            "convert": COMMAND.format(
                ["convert", "mix001.csv", "--to", "starss22", "--allow-loss", "all", "-o", "o.csv"]
            ),
            "score": COMMAND.format(["score", "mix001.csv", "-r", "mix001.csv"]),
        }
        for name, code in rows.items():
            took = seconds(code, folder, runs)
            print(f"{name:24} {took:6.3f} s, {took - base:+.3f} beyond these two, {took / base:.1f} times as much")
        for name in (["rule", "LAB103"], ["formats"], ["--help"]):
            print(f"{' '.join(name):24} {seconds(COMMAND.format(name), folder, runs):6.3f} s in all")


if __name__ == "__main__":
    main()
