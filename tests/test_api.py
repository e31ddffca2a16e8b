"""The Python API: the same verbs with the same words as the command line, tables in and out, results that print."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import typer.main

import seldio
from seldio.cli import app
from seldio.errors import SeldioError, UsageError
from seldio.reports.tables import Column, Interval, ScoreReport, Table
from seldio.schema.qa import Item

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
    files = [path for path in (shared / "data" / name).rglob("*") if path.suffix in (".json", ".jsonl", ".csv")]
    done = 0
    for file in files:
        try:
            table = seldio.read(file)
        except SeldioError:  # labels, and files with planted errors
            continue
        if "id" not in table.column_names:
            continue
        format = seldio.info(file)["items"][0]["format"]
        out = tmp_path / file.name
        assert (str(out),) == seldio.write(table, out, format)
        assert json_lines(out) == json_lines(file) if file.suffix != ".csv" else out.read_bytes() == file.read_bytes()
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


def test_repairs_are_what_a_validation_says(bad: Path) -> None:
    bad.write_text("10,1,1,-50,30,181\r\n11;1;1;-50;30;181\n")
    before = bad.read_bytes()
    planned = seldio.validate([bad], format="starss23", diff=True)
    assert bad.read_bytes() == before
    assert [str(bad)] == [change.path for change in planned.changes]
    done = seldio.validate([bad], format="starss23", fix=True)
    assert done.remark.startswith("Repaired 1 file")
    assert bad.read_bytes() == done.changes[0].after != before


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
    ranked = seldio.rank(made, metrics="F:higher")
    assert [row[0] for row in ranked.tables[0]] == ["b", "a"]


def test_whole_events_with_names_of_classes_alone_are_written(tmp_path: Path) -> None:
    event = {"clip": "a", "onset": 0.2, "offset": 0.4, "class_name": "Bell", "source": 0, "azimuth": 5.0}
    table = pa.Table.from_pylist([event | {"elevation": 0.0, "distance": 1.5}])

    seldio.write(table, tmp_path / "labels", "starss23")

    assert "2,11,0,5,0,150\n3,11,0,5,0,150\n" == (tmp_path / "labels/a.csv").read_text("utf-8")
