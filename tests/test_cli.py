"""The command line as a user meets it: exit codes, streams, reports, settings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
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


def test_findings_are_1(labels: Path) -> None:
    done = seldio("validate", labels, "--output", "concise")

    assert 1 == done.returncode
    assert b"fold3_room4_mix002.csv:2:4: LAB102" in done.stdout
    assert b"fold3_room4_mix002.csv:3:1: SYN121" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "nowhere.csv"),
        ("validate", "x.csv", "--format", "nonsense"),
        ("validate", "x.csv", "--output", "nonsense"),
        ("validate", "x.csv", "--select", "NONSENSE"),
        ("validate", "x.csv", "--nonsense"),
        ("rule", "NON999"),
        ("schema", "nonsense"),
        ("nonsense",),
        (),
    ],
)
def test_wrong_usage_is_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "x.csv").write_text(CLEAN)

    done = seldio(*arguments, cwd=tmp_path)

    assert 2 == done.returncode
    assert b"Traceback" not in done.stderr


def test_what_cannot_work_is_3(labels: Path) -> None:
    done = process("validate", labels, "-o", "/proc/report.json")

    assert 3 == done.returncode
    assert b"Traceback" not in done.stderr
    assert 1 == done.stderr.count(b"\n")


def test_standard_input_and_archives(labels: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(labels / "fold3_room4_mix002.csv", "deep/fold3_room4_mix002.csv")

    piped = process("validate", "-", "-f", "starss23", "--output", "concise", stdin=BAD.encode())
    zipped = seldio("validate", "x.zip", "--output", "concise", cwd=tmp_path)

    assert b"<stdin>:2:4: LAB102" in piped.stdout
    assert b"x.zip!/deep/fold3_room4_mix002.csv:2:4: LAB102" in zipped.stdout


def test_select_ignore_and_fail_on(labels: Path) -> None:
    selected = seldio("validate", labels, "--select", "LAB", "--output", "concise")
    ignored = seldio("validate", labels, "--ignore", "LAB,SYN")
    (labels / "fold3_room4_mix002.csv").write_text(CLEAN + CLEAN.splitlines()[2] + "\n")
    lenient = seldio("validate", labels)
    strict = seldio("validate", labels, "--fail-on", "warning")

    assert b"SYN121" not in selected.stdout
    assert b"LAB102" in selected.stdout
    assert (1, 0, 0, 1) == (selected.returncode, ignored.returncode, lenient.returncode, strict.returncode)


def test_settings_of_the_project(labels: Path) -> None:
    (labels / "seldio.toml").write_text(
        'ignore = ["SYN121"]\n[severity]\nLAB102 = "warning"\n[per-file-ignores]\n"*mix001.csv" = ["LAB"]\n'
    )
    settled = seldio("validate", ".", "--output", "concise", cwd=labels)
    assert settled.returncode == 0
    assert b"LAB102" in settled.stdout
    assert b"SYN121" not in settled.stdout
    for name, text, says in [
        ("seldio.toml", "ignroe = []", "seldio.toml: unknown key 'ignroe'; choose from baseline, fail-on, ignore, "),
        ("seldio.toml", "baseline = 3", "seldio.toml: baseline must be the path of a file"),
        ("pyproject.toml", "[tool]\nseldio = 3", "pyproject.toml: tool.seldio must be a table"),
    ]:
        (labels / name).write_text(text)
        assert says in refused("validate", labels, "--config", labels / name)


def test_a_baseline_hides_what_is_known_and_nothing_else(labels: Path) -> None:
    written = seldio("validate", ".", "--write-baseline", "known.json", cwd=labels)
    known = seldio("validate", ".", "--baseline", "known.json", cwd=labels)
    with (labels / "fold3_room4_mix001.csv").open("a") as file:
        file.write("12,55,1,0,0,100\n")
    new = seldio("validate", ".", "--baseline", "known.json", "--output", "concise", cwd=labels)

    assert (0, 0, 1) == (written.returncode, known.returncode, new.returncode)
    assert 1 == new.stdout.count(b"LAB102")


def test_an_ambiguous_file_names_its_candidates(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("5,3,10,20,30\n")

    done = seldio("validate", "x.csv", "--output", "json", cwd=tmp_path)
    finding = json.loads(done.stdout)["findings"][0]

    assert (1, "SYN903") == (done.returncode, finding["code"])
    assert "starss22" in finding["message"]
    assert "dcase2024-submission" in finding["message"]
    assert "--format" in finding["hint"]


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


def test_options_that_are_given_twice_are_counted_in_all_their_spellings(labels: Path) -> None:
    text = refused("score", labels, "--reference", "old", "-r", "new", "-rthird")
    assert "--reference was given 3 times (old, new, third); it takes one value" in text
    assert seldio("validate", labels, "--deep", "--deep", "-f", "starss23").returncode == 1  # a flag says the same


def test_json_and_another_form_are_not_both_asked_for(labels: Path) -> None:
    for name in ("validate", "score", "diff"):
        text = refused(name, labels, labels, "--json", "--output", "csv")
        assert "--json is short for --output json, and --output csv was given too" in text
    assert seldio("validate", labels, "--json", "--output", "json", "-f", "starss23").returncode == 1
