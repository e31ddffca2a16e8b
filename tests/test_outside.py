"""Datasets outside the package: a folder of files of data, which ``SELDIO_PLUGINS`` names.

``tests/outside/lab2027`` is a folder such as people would have. A year of its own is docs/howto/next-year.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import other_process

import seldio as package

LAB = Path(__file__).parent / "outside" / "lab2027"
EXAMPLES = LAB / "examples"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module", name="seldio")
def _seldio() -> Iterator[Run]:
    """The command line with the data of the lab, in one process."""
    with other_process({"SELDIO_PLUGINS": str(LAB)}) as process:

        def run(*arguments: object) -> tuple[int, str, str]:
            shown, notes, code = process(list(map(str, arguments)), True)
            return code, shown, notes

        yield run


def fresh(*arguments: object, plugins: object = LAB, folder: Path | None = None) -> tuple[int, str, str]:
    """The exit code, output and messages of the command line with the data of *plugins*, in a process of its own."""
    environment = os.environ | {"SELDIO_PLUGINS": str(plugins), "COLUMNS": "80"}
    call = [sys.executable, "-W", "ignore", "-m", "seldio", *map(str, arguments)]
    run = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A copy of the examples that can be changed."""
    return Path(shutil.copytree(EXAMPLES, tmp_path / "LAB2027"))


# --- a label dialect and its vocabulary ------------------------------------------------------------


def test_a_dialect_is_found_from_its_content(seldio: Run) -> None:
    code, shown, _ = seldio("info", EXAMPLES)
    assert code == 0
    assert "lab2027  labels of our lab" in shown
    assert "evidence    its header line" in shown
    assert "6  Knocking" in shown


# --- a data set ------------------------------------------------------------------------------------


def test_a_data_set_is_found_where_people_unpack_it(data: Path) -> None:
    code, _, notes = fresh("convert", "lab2027", "--to", "parquet", "-o", "labels.parquet", folder=data.parent)
    assert (code, notes) == (0, "lab2027 to parquet: 3 clips, 13 rows in 1 file\n")


# --- what cannot be added --------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    expected = f"seldio: SELDIO_PLUGINS: no folder {tmp_path / 'none'}\n"
    assert fresh("info", EXAMPLES, plugins=tmp_path / "none") == (2, "", expected)


def test_code_in_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("raise SystemExit")
    code, shown, notes = fresh("validate", EXAMPLES, plugins=tmp_path)
    assert (code, shown) == (2, "")
    assert notes.startswith(
        f"seldio: SELDIO_PLUGINS: {tmp_path}/rules.py is code, and only files of data are read here"
    )


# --- a challenge year ------------------------------------------------------------------------------


def test_a_year_that_is_taken_away_comes_back_from_outside(tmp_path: Path, seldio: Run) -> None:
    """The formats and the profiles of 2024 are in its file alone."""
    copy = Path(shutil.copytree(Path(package.__file__).parent, tmp_path / "code" / "seldio"))
    (tmp_path / "mine").mkdir()
    (copy / "datasets" / "dcase2024.toml").rename(tmp_path / "mine" / "dcase2024.toml")
    outputs = Path(__file__).parent / "cases/formats/dcase2024-submission/mix001.csv"
    labels = tmp_path / "mix001.csv"
    labels.write_text("".join(f"{frame},5,0,30,10,180\n" for frame in range(12)))
    commands = (
        ("formats", "dcase2024-submission"), ("validate", outputs, "--format", "dcase2024-submission"),
        ("convert", outputs, "--to", "parquet", "-o", tmp_path / "out.parquet"),
        ("convert", labels, "--to", "dcase2024-submission", "--allow-loss", "source"),
        ("score", outputs, "-r", labels, "-p", "dcase2024", "--json"),
    )  # fmt: skip
    where = {"PYTHONPATH": str(copy.parent)}
    with other_process(where) as hidden, other_process(where | {"SELDIO_PLUGINS": str(tmp_path / "mine")}) as outside:
        for words in ([str(word) for word in command] for command in commands):
            shown, notes, code = outside(words, True)
            assert (code, shown, notes) == seldio(*words), words
            assert (shown, notes, code) != hidden(words, True), words
