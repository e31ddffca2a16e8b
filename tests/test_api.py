"""The Python API: the same verbs with the same words as the command line, tables in and out, results that print."""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pyarrow as pa
import pytest
import typer.main
from commands import invoke, laid

import seldio
from seldio.cli import app
from seldio.errors import MissingLibrary, SeldioError, UsageError, in_python, needing
from seldio.reports.tables import Column, Interval, ScoreReport, Table
from seldio.schema.qa import Item
from seldio.schemas import SCHEMAS


def test_ranks_fit_the_schema_of_scores(data: Path) -> None:
    for name in ("ref", "other"):
        (data / f"{name}.json").write_text(json.dumps(asked("score", name, "-r", "ref", "--json")))
    fits(asked("rank", "ref.json", "other.json", "--json"), "scores")


#: The function behind each command; the others print what seldio knows (formats, rules, schemas), or run the rest.
VERBS: dict[str, Callable[..., Any]] = {
    "validate": seldio.validate, "convert": seldio.convert, "score": seldio.score, "rank": seldio.rank,
    "diff": seldio.diff, "verify": seldio.verify, "package": seldio.package,
    "compare": seldio.compare,
    "info": seldio.info, "cite": seldio.cite, "view": seldio.view, "plot": seldio.plot, "push": seldio.push, "pull": seldio.pull,
}  # fmt: skip


WITHOUT = {"formats", "rule", "schema", "demo", "new"}


def test_every_command_has_a_function_or_says_why_not() -> None:
    assert set(typer.main.get_command(app).commands) == set(VERBS) | WITHOUT  # type: ignore[attr-defined]


def test_every_public_name_is_typed_and_explained() -> None:
    for name in seldio.__all__:
        value = getattr(seldio, name)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            hints = [each.annotation for each in inspect.signature(value).parameters.values()]
            assert inspect.Parameter.empty not in hints, name


def test_a_star_import_takes_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from seldio import *", names)
    assert set(seldio.__all__) == names.keys() - {"__builtins__"} == set(dir(seldio)) - {"__version__"}


def json_lines(path: Path) -> list[str]:
    """Return the records of a file of questions, each with the order of its keys."""
    text = path.read_text("utf-8")
    records = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    return [json.dumps(record) for record in (records if isinstance(records, list) else [records])]


@pytest.mark.parametrize("name", ["so-bench", "ruenvaqa", "mmau"])
def test_questions_go_into_a_table_and_back(shared: Path, tmp_path: Path, name: str) -> None:
    done = 0
    for file in (shared / "data" / name).rglob("*.json*"):
        try:
            table = seldio.read(file)
        except SeldioError:  # labels, and files with planted errors
            continue
        if "id" in table.column_names:
            out, format = tmp_path / file.name, seldio.info(file)["items"][0]["format"]
            assert (str(out),) == seldio.write(table, out, format)
            assert json_lines(out) == json_lines(file)
            done += 1
    assert done


def test_questions_are_written_from_lists_and_frames(tmp_path: Path) -> None:
    items = [Item(id=f"q{number}", audio=["a.wav"], task="t", question="Is it?", answer="yes") for number in range(3)]
    seldio.write(items, tmp_path / "a.jsonl", "items")
    table = seldio.read(tmp_path / "a.jsonl")
    assert table["id"].to_pylist() == ["q0", "q1", "q2"]
    for frame in (table.to_pandas(), pa.RecordBatchReader.from_stream(table)):
        seldio.write(frame, tmp_path / "b.jsonl", "items")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    seldio.write(items, tmp_path / "a.parquet", "parquet")
    assert seldio.read(tmp_path / "a.parquet")["question"].to_pylist() == ["Is it?"] * 3
    seldio.write([item.model_copy(update={"instruction": "Answer."}) for item in items], tmp_path / "a.jsonl", "items")
    with pytest.raises(seldio.LossError, match="instruction"):
        seldio.write(seldio.read(tmp_path / "a.jsonl"), tmp_path / "p.jsonl", "so-dataset-qa")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A label file with two findings."""
    (tmp_path / "mix001.csv").write_text("10,1,1,-50,30,181\n11,99,1,-50,30,181\n11,1,2,10,-20\n")
    return tmp_path / "mix001.csv"


def test_reports_iterate_print_and_become_tables(bad: Path) -> None:
    report = seldio.validate(bad, format="starss23", fail_on="warning")
    assert [finding.code for finding in report] == report.to_pandas()["code"].tolist()
    assert pa.table(report)["line"].to_pylist() == [finding.line for finding in report]
    assert "LAB102" in str(report)
    assert str(report).endswith("in 1 file")
    assert json.loads(report.to_json())["summary"]["files"] == 1
    assert report.failed
    assert not seldio.validate(bad, format="starss23", select=["QAI"]).failed


def test_scores_iterate_print_and_become_tables(bad: Path) -> None:
    bad.write_text("10,1,1,-50,30,181\n11,1,1,-50,30,181\n")
    report = seldio.score(bad.parent, bad.parent, format="starss23", reference_format="starss23", intervals="jackknife")
    assert [table.name for table in report] == [table.name for table in report.tables]
    assert "F (%)" in str(report)
    frame = report.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert {"F", "F_low", "F_high"} <= set(frame.columns)
    assert pa.table(report).num_rows == 1
    assert json.loads(report.to_json())["version"] == 1
    with pytest.raises(UsageError, match="unknown table 'nothing'"):
        report.to_pandas("nothing")


def test_rankings_take_reports() -> None:
    column = Column("F", "F", better="higher")
    made = [
        ScoreReport(name, "p", "", "", (Table("overall", "", (Column("system", "system"), column), ((name, score),)),))
        for name, score in (("a", Interval(0.2, 0.1, 0.3)), ("b", Interval(0.5, 0.4, 0.6)))
    ]
    for reports in (made, (report for report in made)):
        ranked = seldio.rank(reports, metrics="F:higher")
        assert [row[0] for row in ranked.tables[0]] == ["b", "a"]


def test_whole_events_with_names_of_classes_alone_are_written(tmp_path: Path) -> None:
    event = {"clip": "a", "onset": 0.2, "offset": 0.4, "class_name": "Bell", "source": 0, "azimuth": 5.0}
    table = pa.Table.from_pylist([event | {"elevation": 0.0, "distance": 1.5}])

    seldio.write(table, tmp_path / "labels", "starss23")

    assert "2,11,0,5,0,150\n3,11,0,5,0,150\n" == (tmp_path / "labels/a.csv").read_text("utf-8")


def test_every_option_in_an_exception_is_an_argument() -> None:
    functions = filter(inspect.isfunction, (getattr(seldio, name) for name in seldio.__all__))
    known = {name for function in functions for name in inspect.signature(function).parameters}
    named = set()
    for path in Path(seldio.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "--" in text and path.parent.name != "cli" else ():
            if isinstance(node, ast.Raise) and node.exc is not None:
                said = ast.unparse(node.exc)
                named |= {*re.findall(r"\b(\w+)=", in_python(said))} - {*re.findall(r"\b(\w+)=", said)}
    assert named - known == set()
    assert len(named) > 20


def test_a_missing_library_says_what_to_install() -> None:
    with pytest.raises(MissingLibrary) as caught, needing("av"):
        raise ModuleNotFoundError("No module named 'av.error'", name="av.error")
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == "av is not installed, and videos, resampling and deep checks need it: pip install av"
    assert isinstance(error, seldio.SeldioError)
    assert isinstance(error, ImportError)
    with pytest.raises(MissingLibrary, match=r"need 999\.1: pip install 'av>=999\.1'$"), needing("av", "999.1"):
        raise AssertionError("not reached")
    with needing("av", "1.10.1"):
        pass
    with pytest.raises(ModuleNotFoundError, match="other"), needing("av"):
        raise ModuleNotFoundError("No module named 'other'", name="other")


ROWS = "0,1,0,10,5,100\n1,1,0,11,5,100\n2,1,0,12,5,100\n"
QUESTION = {"id": "q1", "audio_id": "a.wav", "question": "what?", "choices": ["a dog", "a cat"], "answer": "a dog"}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in (("ref", ROWS), ("other", ROWS.replace(",11,", ",99,")), ("bad", ROWS.replace("0,1,", "0,77,"))):
        laid(tmp_path / name, dict.fromkeys(("fold4_room1_mix001.csv", "fold4_room2_mix001.csv"), rows))
    laid(tmp_path, {"replies.json": json.dumps([{**QUESTION, "model_output": "a cat"}])})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(*given: str) -> Any:
    result = invoke(*given)
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
        ("convert ref --to parquet -o labels.parquet --json", "conversion"),
        ("convert ref --to so-bench -o questions.jsonl --json", "conversion"),
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
    fits(asked(*command.removesuffix(" --json").split(), "--json"), schema)


def test_a_finding_says_whether_its_fix_is_safe(data: Path) -> None:
    (data / "bad" / "fold4_room1_mix001.csv").write_bytes(ROWS.replace("\n", "\r\n").encode())
    (data / "bad" / "fold4_room2_mix001.csv").write_text(ROWS.replace(",10,", ",300,").replace(",11,", ",301,"))
    found = {each["code"]: each for each in asked("validate", "bad", "--json")["findings"]}
    assert (found["SYN105"]["fix"], found["LAB303"]["fix"]) == ("safe", "unsafe")
    assert all((each["fix"] != "none") is each["fixable"] for each in found.values())


@pytest.mark.parametrize(
    ("command", "code", "aside"),
    [
        ("convert ref --to dcase2023-submission -o - --json", 1, True),
        ("validate ref --output json --select NOPE1", 2, False),
        ("convert ref --to dcase2023-submission -o out --json", 1, False),
        ("info nowhere --json", 2, False),
    ],
)
def test_an_error_is_json_where_json_is_asked_for(data: Path, command: str, code: int, aside: bool) -> None:
    """Also as a sentence for people, unless it stands *aside* from the data on standard output."""
    result = invoke(*command.split())
    assert result.exit_code == code
    assert not (aside and result.stdout)
    found = json.loads(result.stderr if aside else result.stdout)
    fits(found, "error")
    assert (found["error"]["kind"], found["error"]["exit_code"]) == ("usage" if code == 2 else "findings", code)
    assert aside or found["error"]["message"].split()[0] in result.stderr


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
    result = invoke("score", "nowhere", "-r", "ref")
    assert (result.stdout, result.stderr[:8]) == ("", "seldio: ")


#: Expressions and their types, as mypy spells them without modules.
KNOWN = {
    'seldio.read("x")': "Table",
    'seldio.windows("x")[0]': "dict[str, Any]",
    'seldio.open("x").items[0]': "Item",
    'seldio.validate("x").findings[0].line': "int | None",
    'seldio.score("x", "y")': "ScoreReport",
    'seldio.convert("x", "y", "starss22")': "Conversion",
    'seldio.write(seldio.read("x"), "y", "starss22")': "tuple[str, ...]",
    'seldio.decode([], seldio.windows("x"))': "Table",
}


@pytest.mark.slow
def test_mypy_knows_what_functions_return(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text("import seldio\n" + "".join(f"reveal_type({each})\n" for each in KNOWN))
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", "cache", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert "error:" not in done.stdout, done.stdout
    found = [re.sub(r"\b(?:\w+\.)+(?=\w)", "", kind) for kind in re.findall(r'Revealed type is "(.*)"', done.stdout)]
    assert dict(zip(KNOWN, found, strict=True)) == KNOWN
