"""Processor time of commands, on one line and on 687,010 rows of labels, beside that of bare pyarrow.csv, in one run.

``python benchmarks/start.py [RUNS]`` prints a table: the smallest of RUNS (3) processes for each, as the smallest is
what other work on the machine disturbs least.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import data

COMMAND = "import sys; sys.argv = ['seldio', *{0!r}]\nfrom seldio.cli import main\nmain()"


def seconds(code: str, folder: str, runs: int) -> float:
    """The smallest processor time of *runs* processes that run *code*."""
    best = float("inf")
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], cwd=folder, check=False, env=os.environ | {"COLUMNS": "80"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode < 2, code
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


#: Reads all label files one by one, by the library that is named.
PYARROW = "import pathlib, pyarrow.csv as csv\nnames = csv.ReadOptions(autogenerate_column_names=True)\n"
PYARROW += "for path in pathlib.Path('labels').iterdir(): csv.read_csv(path, names)"
PANDAS = "import pathlib, pandas\nfor path in pathlib.Path('labels').iterdir(): pandas.read_csv(path, header=None)"
READ = "import seldio; seldio.read('labels')"
COMMANDS = (
    "validate labels",
    "validate bad",
    "info labels",
    "diff labels same",
    "convert labels --to starss22 --allow-loss all -o rows",
    "convert labels --to parquet -o table",
    "score same -r labels",
    "score same -r labels --intervals jackknife",
    "compare labels same -r labels",
)


def whole(folder: str, runs: int) -> None:
    """Print commands on 687,010 rows in 356 files; no limit is set for them."""
    for place in ("labels", "same", "bad"):
        Path(folder, place).mkdir()
        for file in data.text_files(356, 687_010):
            content = data.spoiled(file, every=100).data if place == "bad" else file.data
            Path(folder, place, file.name).write_bytes(content)
    base, pandas = (seconds(code, folder, runs) for code in (PYARROW, PANDAS))
    print(f"687,010 rows in 356 files: bare pyarrow.csv {base:6.3f} s, pandas {pandas / base:.2f} x")
    print(f"{'seldio.read':40} {seconds(READ, folder, runs) / base:6.2f} x")
    for command in COMMANDS:
        print(f"{command:40} {seconds(COMMAND.format(command.split()), folder, runs) / base:6.2f} x", flush=True)


def main() -> None:
    """Print the tables."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        whole(folder, runs)
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
