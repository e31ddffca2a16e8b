"""Score reports: every format shows what each number is, json keeps all, and no text can do harm."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest
from commands import invoke, laid
from hypothesis import given
from hypothesis import strategies as st
from releases import printed_by_rich
from rich.cells import cell_len

import seldio
from seldio.reports import Options, outputs, render
from seldio.reports.json_report import reports
from seldio.reports.spreadsheet import LONG
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport, Table

NAME = Column("system", "system")
ER = Column("ER", "ER", "", 3, "lower", "error rate")
F = Column("F", "F", "%", 1, "higher", "F-score")
COUNT = Column("clips", "clips", "", 0)


def made(system: str = "ours", profile: str = "p", f: Cell = 0.625, **more: object) -> ScoreReport:
    overall = Table("overall", "overall, of all", (NAME, COUNT, ER, F), ((system, 1234, Interval(0.5, 0.4, 1.25), f),))
    classes = Table("classes", "by class", (Column("class", "class"), F), (("dog", math.nan), ("cat", 0.1 + 0.2)))
    notices = (Notice("small", "a small thing"), Notice("big", "a grave thing " * 12, grave=True))
    fields = {"settings": {"angle": 20.0, "onscreen": False, "distance": None}} | more
    return ScoreReport(system, profile, "the title", "54 clips", (overall, classes), notices, **fields)  # type: ignore[arg-type]


def rendered(each: ScoreReport | list[ScoreReport], format: str, table: str | None = None, width: int = 100) -> str:
    return "".join(render(each if isinstance(each, list) else [each], format, Options(table=table, width=width)))


@printed_by_rich
def test_text() -> None:
    lines = rendered(made(), "text").splitlines()
    assert lines[:4] == ["ours, profile p: the title", "over 54 clips", "angle 20", ""]
    assert lines[4].startswith("! big: a grave thing")
    overall = lines.index("overall, of all")
    assert lines[overall : overall + 4] == [
        "overall, of all",
        "system  clips                  ER ↓  F (%) ↑",
        "────────────────────────────────────────────",
        "ours    1,234  0.500 [0.400, 1.250]     62.5",
    ]
    assert "dog        n/a" in lines
    assert "cat       30.0" in lines
    grave, small = (next(n for n, line in enumerate(lines) if line.startswith(sign)) for sign in "!·")
    assert grave + 2 < overall < small  # wrapped, and above the tables
    assert lines[-2:] == ["ER  error rate", "F   F-score"]


@given(st.integers(15, 140), st.integers(1, 9), st.text(max_size=30))
def test_text_is_no_wider_than_the_terminal_and_never_cuts_a_number(width: int, many: int, name: str) -> None:
    columns = tuple(Column(f"c{n}", f"column {n}", "%", 3) for n in range(many))
    cells = tuple(Interval(1.0, n / 7, 1.5) for n in range(many))
    table = Table("overall", "overall", (NAME, *columns), ((name, *cells),))
    text = rendered(ScoreReport("s", "p", "t", "o", (table,), made().notices), "text", width=width)
    assert max(map(cell_len, text.splitlines())) <= max(width, 40)
    for n in range(many):
        assert f"100.000 [{100 * n / 7:.3f}, 150.000]" in text
        assert f"column {n} (%)" in text


@pytest.mark.parametrize("format", outputs("scores"))
def test_every_format_says_system_profile_and_what_it_is_over(format: str) -> None:
    text = rendered([made("first"), made("second")], format)
    for word in ("first", "second", "dog", "cat"):
        assert word in text
    if format != "csv":
        for word in ("profile", "54 clips", "error rate", "grave thing", "by class"):
            assert word in text
        assert text.index("a grave thing") < text.rindex("a small thing")


WORDS = st.text(max_size=12)
NUMBER = st.one_of(st.integers(-(2**70), 2**70), st.floats())
CELL = st.one_of(st.none(), WORDS, NUMBER, st.builds(Interval, NUMBER, NUMBER, NUMBER))
COLUMN = st.builds(Column, WORDS, WORDS, WORDS, st.integers(0, 9), st.sampled_from(["higher", "lower", None]), WORDS)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = draw(st.lists(COLUMN, min_size=1, max_size=4, unique_by=lambda column: column.name))
    rows = draw(st.lists(st.tuples(*(CELL for _ in columns)), min_size=1, max_size=3))
    return Table(draw(WORDS), draw(WORDS), tuple(columns), tuple(rows))


REPORT = st.builds(
    ScoreReport, WORDS, WORDS, WORDS, WORDS,
    st.lists(tables(), min_size=1, max_size=2).map(tuple),
    st.lists(st.builds(Notice, WORDS, WORDS, st.booleans()), max_size=2).map(tuple),
    st.dictionaries(WORDS, st.one_of(st.none(), st.booleans(), WORDS, NUMBER), max_size=3),
)  # fmt: skip


@given(st.lists(REPORT, min_size=1, max_size=2))
def test_json_keeps_everything(given: list[ScoreReport]) -> None:
    text = rendered(given, "json")
    value = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no json"))
    assert repr([*map(dataclasses.asdict, reports(value))]) == repr([*map(dataclasses.asdict, given)])


def test_csv() -> None:
    assert rendered(made(), "csv", "overall").splitlines() == [
        "system,clips,ER,ER_low,ER_high,ER_mark,F",
        "ours,1234,0.5,0.4,1.25,,0.625",
    ]
    assert rendered(made(), "csv").splitlines() == [
        "system,profile,table,row,column,value,low,high,mark",
        "ours,p,overall,ours,clips,1234,,,",
        "ours,p,overall,ours,ER,0.5,0.4,1.25,",
        "ours,p,overall,ours,F,0.625,,,",
        "ours,p,classes,dog,F,nan,,,",
        "ours,p,classes,cat,F,0.30000000000000004,,,",
    ]


NASTY = st.text(st.sampled_from("=+-@'\t\r\n\"|`<>&;,*_[]()#\\$~ a\x1b\u202e\x00ж"), min_size=1, max_size=12)


@given(NASTY)
def test_csv_has_no_formula(text: str) -> None:
    report = made(text, profile=text)
    for table in (None, "overall"):
        rows = list(csv.reader(io.StringIO(rendered(report, "csv", table)), strict=True))
        assert all(len(row) == len(rows[0]) for row in rows)
        assert not [cell for row in rows for cell in row if re.match(r"[=+\-@\t\r]", cell)]
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", "".join(map("".join, rows)))
    assert tuple(next(csv.reader(io.StringIO(rendered(report, "csv"))))) == LONG


@given(NASTY)
def test_markdown_tables_keep_their_shape(text: str) -> None:
    lines = rendered(made(text, profile=text), "markdown").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| system"))
    assert re.fullmatch(r"\| ---+ (\| --+-: ){3}\|", lines[start + 1])
    assert lines[start + 2].count("|") == 5
    assert "`" not in lines[start + 2]
    assert "<" not in "".join(lines)
    assert "\x1b" not in "".join(lines)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


PLAIN = Page()
PLAIN.feed(rendered(made(), "html"))


@given(NASTY)
def test_html_holds_text_and_no_markup_of_it(text: str) -> None:
    page = Page()
    columns = (NAME, Column("x", text, text, 1, "higher", text))
    more = Table("overall", text, columns, ((text, 1.0),))
    page.feed(rendered(ScoreReport(text, text, text, text, (more,), (Notice(text, text, True),)), "html"))
    assert not page.open
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in PLAIN.tags} | {"h2", "ul", "li", "strong"}
    assert all(set(attrs) <= {"lang", "charset", "http-equiv", "content", "name", "class", "scope", "title", "aria-hidden",
                              "role", "tabindex", "aria-label"} for _, attrs in page.tags)  # fmt: skip


def test_a_page_says_first_what_it_comes_to() -> None:
    page = rendered(made(lead="F"), "html")
    first, second = page.index("<dd>62.5 %</dd>"), page.index("<dd>0.500</dd>")
    assert first < second < page.index("Careful, big") < page.index("<table>") < page.index("Settings")
    assert 'class="verdict">a wins' in rendered(made(verdict="a wins"), "html")


def report(system: str, *notices: Notice) -> ScoreReport:
    columns = (Column("system", "system"), Column("F", "F", "%", 1, "higher"))
    return ScoreReport(
        system, "plain", "a profile", "3 clips", (Table("overall", "overall", columns, ((system, 0.5),)),), notices
    )


def text(*reports: ScoreReport, width: int = 80, details: bool = False) -> str:
    return "".join(render(reports, "text", Options(width=width, details=details)))


def test_one_notice_for_one_cause_names_the_systems() -> None:
    same = [report(name, Notice("misread", "no row is read", True)) for name in "abc"]
    assert text(*same).count("misread") == 1
    assert "misread: no row is read" in text(*same)
    two = [*same[:2], report("c")]
    assert "misread: a, b: no row is read" in text(*two)


NARROW = ("ER", "F", "LE", "LR", "SELD")


def wide(lead: str = "SELD", digits: int = 3) -> ScoreReport:
    columns = (Column("system", "system"), *(Column(name, name, "", digits, "lower") for name in NARROW))
    row = ("output", *(Interval(0.3, 0.2, 0.4) for _ in NARROW))
    return ScoreReport("output", "plain", "a profile", "3 clips", (Table("overall", "overall", columns, (row,)),),
                       lead=lead)  # fmt: skip


def heads(shown: str) -> list[list[str]]:
    return [line.replace("↓", "").split() for line in shown.splitlines() if line.startswith("system ")]


def test_the_lead_measure_is_in_the_first_part_of_a_table() -> None:
    assert heads(text(wide())) == [["system", "ER", "F", "SELD"], ["system", "LE", "LR"]]
    assert heads(text(wide(lead=""))) == [["system", "ER", "F", "LE"], ["system", "LR", "SELD"]]
    assert heads(text(wide(), width=120)) == [["system", *NARROW]]  # in the usual order, as all of them fit


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Path, Path]:
    sides = tmp_path / "labels of all", tmp_path / "out"
    for folder in sides:
        for clip in "abc":
            bad = folder.name == "out"
            rows = [(frame, number, 0, 120 if bad and (clip == "c" or (clip == "b" and number)) else 10, 0, 100)
                    for number in (0, 1) for frame in range(20 * number, 20 * number + 20)]  # fmt: skip
            laid(folder, {f"{clip}.csv": "".join(f"{','.join(map(str, row))}\n" for row in rows)})
    return sides


def run(*given: object) -> str:
    result = invoke(*given, env={"COLUMNS": "80"})
    assert result.exit_code in (0, 1), result.output  # differences are no failure
    return result.stdout


def test_score_ends_with_the_worst_clips_and_commands_that_show_them(scored: tuple[Path, Path]) -> None:
    labels, out = scored
    shown = run("score", out, "-r", labels, "--average", "micro")
    worst = shown[shown.index("worst clips by SELD") :]
    assert [line.split()[0] for line in worst.splitlines()[3:6]] == ["c", "b", "a"]
    commands = [line[line.index("seldio view") :] for line in worst.splitlines() if "seldio view" in line]
    assert len(commands) == 3
    page = labels.parent / "c.html"
    run(*shlex.split(commands[0])[1:], "-o", page)
    assert page.exists()
    table = seldio.score(out, labels, average="micro").table("worst")
    assert [row[0] for row in table.rows] == ["c", "b", "a"]
    rows = json.loads(run("score", out, "-r", labels, "--json"))["reports"][0]["tables"][-1]["rows"]
    assert rows[0]["command"] == commands[0]


def test_the_page_of_scores_has_large_figures(scored: tuple[Path, Path], tmp_path: Path) -> None:
    labels, out = scored
    run("score", out, "-r", labels, "--output", "html", "-o", tmp_path / "scores.html")
    page = (tmp_path / "scores.html").read_text("utf-8")
    assert len(re.findall("<dd>", page.partition("</header>")[0])) == 5
