"""What commands print as JSON: it fits its schema, says the version of seldio, and errors are JSON too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.schemas import SCHEMAS

ROWS = "0,1,0,10,5,100\n1,1,0,11,5,100\n2,1,0,12,5,100\n"
QUESTION = {"id": "q1", "audio_id": "a.wav", "question": "what?", "choices": ["a dog", "a cat"], "answer": "a dog"}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in (("ref", ROWS), ("other", ROWS.replace(",11,", ",99,")), ("bad", ROWS.replace("0,1,", "0,77,"))):
        (tmp_path / name).mkdir()
        for clip in ("fold4_room1_mix001", "fold4_room2_mix001"):
            (tmp_path / name / f"{clip}.csv").write_text(rows)
    (tmp_path / "replies.json").write_text(json.dumps([{**QUESTION, "model_output": "a cat"}]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(*given: str) -> Any:
    result = CliRunner().invoke(app, list(given))
    assert result.exit_code in (0, 1), result.output
    found = json.loads(result.stdout)
    assert found["seldio"] == seldio.__version__
    return found


def fits(found: Any, schema: str) -> None:
    jsonschema.Draft202012Validator(SCHEMAS[schema]()).validate(found)


@pytest.mark.parametrize(
    ("command", "schema"),
    [
        ("validate bad", "report"),
        ("validate ref --output json", "report"),
        ("convert ref --to parquet -o labels.parquet --json", "conversion"),
        ("convert ref --to so-bench -o questions.jsonl --json", "conversion"),
        ("score other -r ref", "scores"),
        ("score other ref -r ref --intervals bootstrap --table all", "scores"),
        ("score replies.json", "scores"),
        ("compare other ref -r ref", "scores"),
        ("diff ref other", "scores"),
        ("info ref", "description"),
        ("info replies.json", "description"),
        ("info starss22", "description"),
        ("formats", "formats"),
        ("formats starss23", "formats"),
        ("rule --all", "rules"),
        ("rule LAB", "rules"),
    ],
)
def test_json_of_every_command_fits_its_schema(data: Path, command: str, schema: str) -> None:
    words = command.split()
    fits(asked(*words, *(() if {"--json", "--output"} & {*words} else ("--json",))), schema)


def test_ranks_fit_the_schema_of_scores(data: Path) -> None:
    for name in ("ref", "other"):
        (data / f"{name}.json").write_text(json.dumps(asked("score", name, "-r", "ref", "--json")))
    fits(asked("rank", "ref.json", "other.json", "--json"), "scores")


def test_a_finding_says_whether_its_fix_is_safe(data: Path) -> None:
    (data / "bad" / "fold4_room1_mix001.csv").write_bytes(ROWS.replace("\n", "\r\n").encode())
    (data / "bad" / "fold4_room2_mix001.csv").write_text(ROWS.replace(",10,", ",300,").replace(",11,", ",301,"))
    found = {each["code"]: each for each in asked("validate", "bad", "--json")["findings"]}
    assert (found["SYN105"]["fix"], found["LAB303"]["fix"]) == ("safe", "unsafe")
    assert all((each["fix"] != "none") is each["fixable"] for each in found.values())


@pytest.mark.parametrize(
    ("command", "code", "kind"),
    [
        ("score nowhere -r ref --json", 2, "usage"),
        ("score --nowhere --output json", 2, "usage"),
        ("score --output=json", 2, "usage"),
        ("validate ref --output json --select NOPE1", 2, "usage"),
        ("convert ref --to dcase2023-submission -o out --json", 1, "findings"),
        ("info nowhere --json", 2, "usage"),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(data: Path, command: str, code: int, kind: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == code
    found = json.loads(result.stdout)
    fits(found, "error")
    assert (found["error"]["kind"], found["error"]["exit_code"]) == (kind, code)
    assert found["error"]["message"].split()[0] in result.stderr  # and as a sentence for people


def test_an_error_is_not_written_among_the_data(data: Path) -> None:
    result = CliRunner().invoke(app, ["convert", "ref", "--to", "dcase2023-submission", "-o", "-", "--json"])
    assert result.stdout == ""
    fits(json.loads(result.stderr), "error")


@pytest.mark.parametrize("command", ["convert ref --json", "convert ref --to parquet --nonsense -o - --json"])
def test_wrong_options_are_not_written_among_the_data(data: Path, command: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert (result.exit_code, result.stdout) == (2, "")
    fits(json.loads(result.stderr), "error")


@pytest.mark.parametrize("command", ["convert ref -o x --json", "convert ref --to parquet --nonsense -ox --json"])
def test_wrong_options_are_on_standard_output_where_no_data_is(data: Path, command: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2
    fits(json.loads(result.stdout), "error")


@pytest.mark.parametrize(
    ("error", "code"), [("OSError(5, 'Input/output error')", 3), ("KeyboardInterrupt", 130), ("MemoryError", 3)]
)
def test_json_says_the_code_that_the_command_ends_with(data: Path, error: str, code: int) -> None:
    program = f"""if True:
        import seldio.api, seldio.cli.verbs
        def fails(*given, **options): raise {error}
        seldio.api.info = fails
        from seldio.cli import main
        main()"""
    done = subprocess.run([sys.executable, "-c", program, "info", "ref", "--json"], capture_output=True, check=False)
    assert done.returncode == code
    found = json.loads(done.stdout)
    fits(found, "error")
    assert (found["error"]["kind"], found["error"]["exit_code"]) == ("failure", code)


def test_nothing_is_json_that_was_not_asked_for(data: Path) -> None:
    result = CliRunner().invoke(app, ["score", "nowhere", "-r", "ref"])
    assert result.stdout == ""
    assert result.stderr.startswith("seldio: ")
