"""The command line as a user meets it: exit codes, streams, reports, settings."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir
from itertools import pairwise
from pathlib import Path

import pytest
import typer.main
from commands import invoke

from seldio.cli import app

CLEAN = "10,1,1,-50,30,181\n11,1,1,-50,30,181\n11,1,2,10,-20,243\n"
BAD = "10,1,1,-50,30,181\n11,99,1,-50,30,181\n11,1,2,10,-20\n"


def process(
    *arguments: str | Path, stdin: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, as a user does."""
    command = [sys.executable, "-m", "seldio", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, check=False, timeout=60, env={**os.environ, **(env or {})}
    )


def seldio(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the command in this process, which is as good where neither streams nor the environment matter."""
    with chdir(cwd or Path.cwd()):
        done = invoke(*arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout_bytes, done.stderr_bytes)


def test_standard_input_is_a_file() -> None:
    piped = process("validate", "-", "-f", "starss23", "--output", "concise", stdin=BAD.encode())
    assert (piped.returncode, b"<stdin>:2:4: LAB102" in piped.stdout) == (1, True)


def refused(*arguments: str | Path) -> str:
    """What is said of a command that is used wrongly, in one line."""
    done = seldio(*arguments)
    assert done.returncode == 2
    return " ".join(done.stderr.decode().split())


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """A folder with one clean and one bad file."""
    folder = tmp_path / "labels"
    folder.mkdir()
    (folder / "fold3_room4_mix001.csv").write_text(CLEAN)
    (folder / "fold3_room4_mix002.csv").write_text(BAD)
    return folder


def test_clean_is_0(labels: Path) -> None:
    done = process("validate", labels / "fold3_room4_mix001.csv", "-f", "starss23")

    assert (0, b"All clean: 1 file.\n", b"") == (done.returncode, done.stdout, done.stderr)


def test_what_cannot_work_is_3(labels: Path) -> None:
    done = process("validate", labels, "-o", "/proc/report.json")

    assert 3 == done.returncode
    assert b"Traceback" not in done.stderr
    assert 1 == done.stderr.count(b"\n")


@pytest.mark.slow
def test_the_report_does_not_depend_on_place_or_locale(labels: Path) -> None:
    (labels / "café.csv").write_text(BAD)
    places = (
        {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1", "PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "2"},
    )
    one, other = (process("validate", labels, "--output", "json", env=place).stdout for place in places)

    assert one == other
    assert "café.csv" in one.decode()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"), [(["validate", "."], 3), (["info", "nowhere", "--json"], 2), (["info", "--nowhere"], 2)]
)
def test_a_full_standard_output_is_an_error_and_hides_none(labels: Path, arguments: list[str], code: int) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "seldio", *arguments]
        done = subprocess.run(command, cwd=labels, stdout=full, stderr=subprocess.PIPE, check=False)

    assert (code, False) == (done.returncode, b"Traceback" in done.stderr)
    assert code == 3 or b"nowhere" in done.stderr


def test_the_page_of_a_rule_is_as_wide_as_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = seldio("rule", "SUB101").stdout.decode().split("\n")

    assert max(len(line) for line in lines if "://" not in line) <= 60
    assert "    mix001.csv … mix078.csv, and no mix079.csv" in lines  # examples are left as they are
    text = lines[lines.index("Clip of the reference without a result file.") + 2 : lines.index("Example:") - 1]
    assert all(len(f"{line} {after.split()[0]}") > 60 for line, after in pairwise(text))  # paragraphs are filled anew


_COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
_SINGLE = [
    (name, option)
    for name, command in _COMMANDS.items() for parameter in command.params
    if parameter.param_type_name == "option" and not (parameter.multiple or parameter.is_flag)
    for option in parameter.opts
]  # fmt: skip


@pytest.mark.parametrize("name", _COMMANDS)
def test_an_option_that_takes_one_value_is_given_once(name: str) -> None:
    for option in (option for command, option in _SINGLE if command == name):
        for arguments in ((option, "1", option, "2"), (option, "1", "x", option, "2", option, "2")):
            values = "twice (1, 2)" if len(arguments) == 4 else "3 times (1, 2, 2)"
            assert f"was given {values}; it takes one value" in refused(name, *arguments), option
