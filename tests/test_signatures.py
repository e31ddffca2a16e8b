"""What a score rests on: a signature that any format has alike, and tables for a paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

import seldio
from seldio.errors import UsageError
from seldio.reports import render
from seldio.reports.json_report import reports
from seldio.reports.tables import Column, Interval, ScoreReport, Table, WeakInterval
from seldio.scores.signatures import Signature

ASKED = [
    {
        "id": f"q{n}",
        "audio": [f"{n}.wav"],
        "task": "sound",
        "question": "?",
        "options": ["rain", "dog"],
        "answer": "rain",
    }
    for n in range(6)
]
SAID = [{"id": f"q{n}", "prediction": "rain" if n % 2 else "dog"} for n in range(6)]


def signed(*given: object, **options: object) -> str:
    return seldio.score(*given, **options).signature  # type: ignore[arg-type]


def test_the_same_rows_have_the_same_signature_in_any_form(tmp_path: Path) -> None:
    one = signed(SAID, ASKED)
    assert re.fullmatch(r"seldio [^|]+\|multiple-choice\|no judge\|ref [0-9a-f]{12}\|pred [0-9a-f]{12}", one)
    (tmp_path / "own.json").write_text(json.dumps([{"n": row["id"], "text": row["prediction"]} for row in SAID[::-1]]))
    assert signed(tmp_path / "own.json", pa.Table.from_pylist(ASKED), fields="id=n,prediction=text") == one
    assert seldio.verify(one, tmp_path / "own.json", ASKED[::-1], fields="id=n,prediction=text") == []
    assert str(Signature.parsed(one)) == one


def test_what_differs_is_said() -> None:
    one = signed(SAID, ASKED)
    other = [SAID[0] | {"prediction": "rain"}, *SAID[1:]]
    (said,) = seldio.verify(one, other, ASKED)
    assert said.startswith("the predictions: ")
    asked = [ASKED[0] | {"answer": "dog"}, *ASKED[1:]]
    assert [text.partition(":")[0] for text in seldio.verify(one, SAID, asked)] == ["the questions"]
    older = one.replace(f"seldio {seldio.__version__}", "seldio 0.0.1")
    assert seldio.verify(older, SAID, ASKED) == [f"seldio: 0.0.1 in the signature, {seldio.__version__} here"]
    with pytest.raises(UsageError, match="a signature looks like"):
        seldio.verify("seldio", SAID, ASKED)


def test_settings_and_the_order_are_part_of_it() -> None:
    nameless = [{"prediction": row["prediction"]} for row in SAID]
    one = signed(nameless, ASKED, fields="prediction=prediction", join="order")
    assert "|multiple-choice[join=order]|" in one
    assert seldio.verify(one, nameless, ASKED, fields="prediction=prediction") == []
    assert "[allow_missing]" in signed(SAID[:5], ASKED, allow_missing=True)


def test_every_output_has_it() -> None:
    report = seldio.score(SAID, ASKED)
    for output in ("text", "json", "csv", "markdown", "html", "latex"):
        assert report.signature in "".join(render([report], output)).replace("\n", ""), output
    (again,) = reports(json.loads(report.to_json()))
    assert again.signature == report.signature


# --- tables for a paper -------------------------------------------------------------------------------

AWKWARD = ScoreReport("a_b", "p", "t", "o", (
    Table("overall", r"50 % of {x} & \y", (Column("system", "system"), Column("F", "F", "%", 1, "higher")),
          (("[a]_b*", Interval(0.5, 0.4, 0.6)), ("#1 ~ ^", WeakInterval(0.25, 0.1, 0.4)))),
))  # fmt: skip


def test_latex_is_a_table_of_booktabs() -> None:
    text = "".join(render([AWKWARD], "latex"))
    assert r"\caption{50 \% of \{x\} \& \textbackslash{}y}" in text
    assert "{[}a{]}\\_b{*} & 50.0 {[}40.0, 60.0{]} \\\\\n" in text
    assert r"F (\%) $\uparrow$" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_can_be_set(tmp_path: Path) -> None:
    body = "".join(render([AWKWARD, seldio.score(SAID, ASKED)], "latex"))
    head = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
    (tmp_path / "a.tex").write_text(f"{head}{body}\\end{{document}}\n")
    subprocess.run(["pdflatex", "-halt-on-error", "a.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_markdown_reads_as_source() -> None:
    lines = [line for line in "".join(render([AWKWARD], "markdown")).splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert lines[1].count("-:") == 1
