"""Reports: exact renderings written by hand, and properties that hold for the nastiest text."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import json
import re
from typing import Any

import jsonschema
import pytest
from commands import Terminal
from effort import examples, grows_no_faster
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from releases import printed_by_rich

import seldio
from seldio.errors import UsageError
from seldio.findings import JSON_KEYS, Finding, Report, Severity
from seldio.reports import Options, outputs, render, write
from seldio.reports.ci import FINGERPRINT, file_uri
from seldio.reports.json_report import schema_file
from seldio.rules.deep_pieces import Heard
from seldio.text import printable

OUTPUTS = outputs("findings")
FOR_TERMINALS = ("text", "concise", "github", "markdown")


@dataclasses.dataclass(frozen=True)
class FakeRule:
    code: str
    name: str
    severity: Severity
    summary: str = "What is wrong."
    explanation: str = "## Why\n\nBecause."
    url: str | None = None


CATALOGUE = {
    rule.code: rule
    for rule in (
        FakeRule("LAB103", "azimuth-range", Severity.ERROR, url="https://example.org/LAB103"),
        FakeRule("LAB203", "frames-unsorted", Severity.WARNING),
        FakeRule("SUB001", "missing-file", Severity.ERROR),
        FakeRule("QA010", "odd-answer", Severity.INFO, explanation=""),
    )
}
AZIMUTH = Finding(
    *("LAB103", Severity.ERROR, "Azimuth 240 is outside -180 to 180.", "sub/mix001.csv", 12, 8, 11, "240"),
    *("Write -120.", True, "12,3,0,240,-10", 1, (), 0, "https://example.org/LAB103", "safe"),
)
UNSORTED = Finding(
    *("LAB203", Severity.WARNING, "Frame 11 after 12.", "sub/mix001.csv", 13, 1, 3, "11", None, True, "11,3,0,0,5"),
    fix="unsafe",
)
MISSING = Finding("SUB001", Severity.ERROR, "No file for clip mix002.", "sub.zip!/", hint="Write an empty file.")
ODD = Finding("QA010", Severity.INFO, "Ответ не из списка.", "тест.json", 4, excerpt='  "ответ": "да"')


def make(*findings: Finding, files: int = 168) -> Report:
    report = Report(files=files)
    report.add(findings)
    return report


SMALL = make(AZIMUTH, UNSORTED, MISSING, ODD)


def show(report: Report, format: str, **options: Any) -> str:
    return "".join(render(report, format, Options(**({"catalogue": CATALOGUE} | options))))


nasty = st.text(st.characters(), max_size=30) | st.text(
    "\x1b[]31m\x07\u202e\udc80\ud83d👩\u200d🚀|`\\<b>\n\r:(x)\ufffe\0\t\u2028{0}=@"
)
position = st.none() | st.integers(1, 40)
findings = st.builds(
    Finding,
    code=st.sampled_from([*CATALOGUE, "NEW999"]),
    severity=st.sampled_from(Severity),
    message=nasty,
    path=nasty,
    line=position,
    column=position,
    end_column=position,
    value=st.none() | nasty,
    hint=st.none() | nasty,
    fixable=st.booleans(),
    excerpt=st.none() | nasty,
)
reports = st.builds(lambda items: make(*items), st.lists(findings, max_size=8))
quick = settings(max_examples=examples(60), deadline=None)


def test_an_unknown_format_is_a_usage_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown output 'pdf' for findings; choose from text, concise, json"):
        render(SMALL, "pdf", Options(CATALOGUE))


@given(reports, st.sampled_from((*FOR_TERMINALS, "json", "jsonl", "sarif")))
@quick
def test_nothing_reaches_a_terminal_that_it_could_interpret(report: Report, format: str) -> None:
    for line in show(report, format, statistics=format in FOR_TERMINALS).split("\n"):
        shown = re.sub("^::(error|warning|notice) (?=file=)", "", line) if format == "github" else line
        assert printable(shown) == shown


COMMANDS = ("::error::x", "  ::set-output name=a::b", "\u3000::add-mask::x", "##vso[task.complete result=Failed;]x", "##[add-path]x",
            "##teamcity[message text='x']", "a ##vso[task.setvariable]x", "\n::error::x", "\r##vso[x]", ":")  # fmt: skip


@pytest.mark.parametrize("format", OUTPUTS)
@pytest.mark.parametrize("text", COMMANDS)
def test_no_text_of_a_finding_commands_a_ci_system(format: str, text: str) -> None:
    """Neither at the beginning of a line, as GitHub reads it, nor anywhere in it, as Azure does."""
    finding = Finding("LAB103", Severity.ERROR, text, text, 1, 1, 2, text, text, excerpt=text)
    shown = show(Report([finding], files=1), format, statistics=True)
    for line in re.split(r"[\r\n]", shown):
        assert not re.search(r"##\w*\[", line)
        ours = format == "github" and re.match(r"::error file=[^:]*::", line)
        assert ours or not line.lstrip().startswith("::")
    if format in ("json", "jsonl"):
        assert text in json.dumps(json.loads(shown.splitlines()[0] if format == "jsonl" else shown), ensure_ascii=False).replace(
            "\\n", "\n").replace("\\r", "\r")  # fmt: skip


def test_text() -> None:
    assert show(SMALL, "text") == (
        "sub.zip!/  SUB001 error No file for clip mix002.\n"
        " = hint: Write an empty file.\n"
        "\n"
        "sub/mix001.csv:12:8  LAB103 [*] error Azimuth 240 is outside -180 to 180.\n"
        "12 | 12,3,0,240,-10\n"
        "   |        ^^^\n"
        "   = hint: Write -120.\n"
        "\n"
        "sub/mix001.csv:13:1  LAB203 [*] warning Frame 11 after 12.\n"
        "13 | 11,3,0,0,5\n"
        "   | ^^\n"
        "\n"
        "тест.json:4  QA010 info Ответ не из списка.\n"
        '4 |   "ответ": "да"\n'
        "\n"
        "Not ready: 2 errors, 1 warning and 1 info; 168 files checked. 1 fixable with --fix, 1 more with --unsafe-fixes.\n"
    )


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (Report(files=168), "All clean: 168 files."),
        (Report(files=1), "All clean: 1 file."),
        (Report(), "Nothing was checked: 0 files."),
        (make(UNSORTED, files=1), "Ready, with 1 warning in 1 file. 1 fixable with --unsafe-fixes."),
        (make(AZIMUTH, AZIMUTH, files=4321), "Not ready: 2 errors in 1 of 4,321 files. 2 fixable with --fix."),
        (make(MISSING), "Not ready: 1 error; 168 files checked."),
    ],
)
def test_people_are_given_a_verdict(report: Report, line: str) -> None:
    assert show(report, "text").splitlines()[-1] == line
    assert show(report, "markdown").splitlines()[0] == line


def test_lines_are_broken_between_words_on_a_terminal() -> None:
    report = make(dataclasses.replace(AZIMUTH, message=" ".join(["azimuth"] * 40), hint=" ".join(["write"] * 40)))
    shown = show(report, "text", width=60, wrap=True)
    assert max(map(len, shown.splitlines())) <= 60
    assert " ".join(shown.split()).count("write") == 40
    assert max(map(len, show(report, "text", width=60).splitlines())) > 200


def many(count: int) -> Report:
    return make(*(dataclasses.replace(AZIMUTH, line=line) for line in range(1, count + 1)), MISSING)


def test_text_and_markdown_display_at_most_so_many_per_rule_and_count_all() -> None:
    report = many(4832)
    text, table = show(report, "text"), show(report, "markdown")
    assert text.count("\n  sub/mix001.csv:") == table.count("| `sub/mix001.csv:") == 20
    assert "\n  … and 4,812 more LAB103\n\n" in text
    assert text.startswith("Not ready: 4,833 errors; ")
    assert table.endswith("\n\n- … and 4,812 more LAB103\n")
    assert text.count("SUB001") == 1


@pytest.mark.parametrize("format", ["concise", "json", "jsonl", "sarif", "github"])
def test_other_formats_are_never_cut_short(format: str) -> None:
    assert show(many(100), format).count("Azimuth 240") == 100


@given(reports)
@quick
def test_colour_adds_only_colour(report: Report) -> None:
    coloured = show(report, "text", color=True, statistics=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == show(report, "text", statistics=True)


@printed_by_rich
@pytest.mark.parametrize(
    ("stream", "no_color", "coloured"), [(Terminal, "", True), (Terminal, "1", False), (io.StringIO, "", False)]
)
def test_write_colours_terminals_only(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], no_color: str, coloured: bool
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": no_color}.items():
        monkeypatch.setenv(name, value)
    target = stream()
    write(SMALL, target, options=Options(CATALOGUE))
    assert target.getvalue() == show(SMALL, "text", color=coloured, wrap=stream is Terminal)


LONG = ",".join(str(number) for number in range(1300))[:5000]


@pytest.mark.parametrize(
    ("line", "columns", "text", "carets"),
    [
        ("e\u0301,x", (2, 3), "e\u0301,x", "^"),
        ("abc", (3, 1), "abc", "  ^"),
        ("abc", (50, 60), "abc", "   ^"),
        ("각犬,x", (4, 5), "각犬,x", "     ^"),
        (LONG, (1, 4), f"{LONG[:53]}…", "^^^"),
        (LONG, (4998, 5001), f"…{LONG[-53:]}", " " * 51 + "^^^"),
    ],
)
def test_the_caret_stands_below_the_text(line: str, columns: tuple[int, int | None], text: str, carets: str) -> None:
    finding = dataclasses.replace(AZIMUTH, excerpt=line, column=columns[0], end_column=columns[1])
    assert show(make(finding), "text", width=60).split("\n")[1:3] == [f"12 | {text}", f"   | {carets}"]


def test_what_is_to_be_known_about_a_file_comes_behind_what_is_wrong_in_it() -> None:
    layout = Finding("SYN902", Severity.INFO, "read as one layout", "a.csv", line=1)
    radians = Finding("LAB301", Severity.ERROR, "radians", "a.csv", line=1, column=7)
    other = Finding("LAB103", Severity.ERROR, "outside", "b.csv", line=2, column=1)
    shown = show(Report([layout, radians, other], files=2), "text")
    assert sorted(["LAB301", "SYN902", "LAB103"], key=shown.index) == ["LAB301", "SYN902", "LAB103"]


def test_concise() -> None:
    assert show(SMALL, "concise") == (
        "sub.zip!/: SUB001 No file for clip mix002.\n"
        "sub/mix001.csv:12:8: LAB103 [*] Azimuth 240 is outside -180 to 180.\n"
        "sub/mix001.csv:13:1: LAB203 [*] Frame 11 after 12.\n"
        "тест.json:4: QA010 Ответ не из списка.\n"
        "Not ready: 2 errors, 1 warning and 1 info; 168 files checked. 1 fixable with --fix, 1 more with --unsafe-fixes.\n"
    )
    counts = show(make(AZIMUTH, AZIMUTH, MISSING), "concise", statistics=True).splitlines()[3:5]
    assert [line.split() for line in counts] == [["2", "LAB103", "azimuth-range"], ["1", "SUB001", "missing-file"]]


def test_the_time_for_many_findings_grows_with_them_and_no_faster() -> None:
    def work(findings: int) -> None:
        report = Report([AZIMUTH, UNSORTED] * (findings // 2), files=600)
        assert show(report, "concise").count("\n") == findings // 2 * 2 + 1

    assert grows_no_faster(work, 20_000)


def test_github() -> None:
    assert show(SMALL, "github") == (
        "::error file=sub.zip!/,title=SUB001::No file for clip mix002.%0AHint: Write an empty file.\n"
        "::error file=sub/mix001.csv,line=12,col=8,endColumn=11,title=LAB103"
        "::Azimuth 240 is outside -180 to 180.%0AHint: Write -120.\n"
        "::warning file=sub/mix001.csv,line=13,col=1,endColumn=3,title=LAB203::Frame 11 after 12.\n"
        "::notice file=тест.json,line=4,title=QA010::Ответ не из списка.\n"
    )


VALIDATOR = jsonschema.Draft202012Validator(schema_file())


@given(reports)
@quick
def test_json_is_what_its_schema_says_and_loses_nothing_but_surrogates(report: Report) -> None:
    written = json.loads(show(report, "json"))
    VALIDATOR.validate(written)
    expected = [{key: spelt(value) for key, value in finding.as_dict().items()} for finding in report.findings]
    assert written == report.as_dict() | {"findings": expected}


def spelt(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return re.sub("[\ud800-\udfff]", lambda match: printable(match.group()), value)


def test_jsonl() -> None:
    *lines, last = show(SMALL, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == SMALL.as_dict()["findings"]
    assert last == json.dumps({"version": 1, "seldio": seldio.__version__, "summary": SMALL.summary()})


def sarif_run(report: Report, **options: Any) -> dict[str, Any]:
    log = json.loads(show(report, "sarif", **options))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run: dict[str, Any] = log["runs"][0]
    return run


@given(reports)
@quick
def test_sarif_validates_and_its_rules_are_those_that_found_something(report: Report) -> None:
    run = sarif_run(report)
    assert len(report.findings) + 2 == len([*render(report, "sarif")])  # one by one: there may be many
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == list(report.by_rule())
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [f.code for f in report.findings]
    prints = [result["partialFingerprints"][FINGERPRINT] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_result() -> None:
    result = sarif_run(SMALL)["results"][1]
    assert result.pop("partialFingerprints")[FINGERPRINT].endswith(":1")
    assert result == {
        "ruleId": "LAB103",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "Azimuth 240 is outside -180 to 180.\nWrite -120."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "sub/mix001.csv"},
                    "region": {"startLine": 12, "startColumn": 8, "endColumn": 11, "snippet": {"text": "240"}},
                    "contextRegion": {"startLine": 12, "snippet": {"text": "12,3,0,240,-10"}},
                }
            }
        ],
    }


def test_sarif_fingerprints_survive_moved_lines_and_tell_twins_apart() -> None:
    def prints(report: Report) -> list[str]:
        return [result["partialFingerprints"][FINGERPRINT] for result in sarif_run(report)["results"]]

    moved = dataclasses.replace(AZIMUTH, line=99)
    assert prints(make(AZIMUTH)) == prints(make(moved))
    first, second = prints(make(AZIMUTH, moved))
    assert (first[-2:], second[-2:], first[:-2] == second[:-2]) == (":1", ":2", True)
    other = dataclasses.replace(AZIMUTH, path="other.csv")
    assert prints(make(AZIMUTH)) != prints(make(other))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./a b.csv", "a%20b.csv"),
        ("../x#1?.csv", "../x%231%3F.csv"),
        ("sub.zip!/a/тест.csv", "sub.zip!/a/%D1%82%D0%B5%D1%81%D1%82.csv"),
        ("/data/sub.zip!/a.csv", "file:///data/sub.zip!/a.csv"),
        ("a\udcff.csv", "a%FF.csv"),
        ("a\ud83d.csv", "a%ED%A0%BD.csv"),
    ],
)
def test_file_uri(path: str, uri: str) -> None:
    assert file_uri(path) == uri


def test_file_uri_of_a_windows_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seldio.reports.ci.os.sep", "\\")
    monkeypatch.setattr("seldio.reports.ci.os.name", "nt")
    uris = file_uri("C:\\data set\\a.csv"), file_uri("data\\a.csv")
    monkeypatch.undo()
    assert uris == ("file:///C:/data%20set/a.csv", "data/a.csv")


def test_markdown() -> None:
    assert show(SMALL, "markdown") == (
        "Not ready: 2 errors, 1 warning and 1 info; 168 files checked. 1 fixable with --fix, 1 more with --unsafe-fixes.\n"
        "\n"
        "| Rule | Name | Severity | Findings |\n"
        "| --- | --- | --- | ---: |\n"
        "| [LAB103](https://example.org/LAB103) | azimuth-range | error | 1 |\n"
        "| LAB203 | frames-unsorted | warning | 1 |\n"
        "| QA010 | odd-answer | info | 1 |\n"
        "| SUB001 | missing-file | error | 1 |\n"
        "\n"
        "| Place | Rule | Message |\n"
        "| --- | --- | --- |\n"
        "| `sub.zip!/` | SUB001 | No file for clip mix002.<br>Hint: Write an empty file. |\n"
        "| `sub/mix001.csv:12:8` | [LAB103](https://example.org/LAB103) `[*]` |"
        " Azimuth 240 is outside -180 to 180.<br>Hint: Write -120. |\n"
        "| `sub/mix001.csv:13:1` | LAB203 `[*]` | Frame 11 after 12. |\n"
        "| `тест.json:4` | QA010 | Ответ не из списка. |\n"
    )


def plain(cell: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", "", cell)).replace("\u200b", "").split())


@given(findings)
@settings(max_examples=examples(150), deadline=None)
def test_markdown_cells_read_as_the_text_they_hold(finding: Finding) -> None:
    finding = dataclasses.replace(finding, hint=None)
    page = MarkdownIt("commonmark").enable("table").render(show(make(finding), "markdown"))
    cells = re.findall("<td>(.*)</td>", page.split("<table>")[2])
    assert len(cells) == 3
    place = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)
    assert plain(cells[0]) == " ".join(printable(place).split())
    assert plain(cells[2]) == " ".join(printable(finding.message).split())
    assert not re.search("<(?!/?code>)", cells[0] + cells[2])


@pytest.mark.parametrize("text", ["@all", "see #12", ":dog:", "https://a.b", "www.a.b", "a@b.c"])
def test_markdown_mentions_nobody_and_links_nowhere(text: str) -> None:
    table = show(make(dataclasses.replace(MISSING, message=text)), "markdown")
    assert f" {text}<br>" not in table
    assert f" {text}<br>" in table.replace("&#8203;", "")


@given(reports)
@quick
def test_each_finding_has_a_row_or_line_and_csv_has_no_formula(report: Report) -> None:
    assert show(report, "concise").count("\n") == len(report.findings) + 1
    assert show(report, "github").count("\n") == len(report.findings)
    rows = list(csv.reader(io.StringIO(show(report, "csv")), strict=True))
    assert rows[0] == list(JSON_KEYS)
    assert [row[0] for row in rows[1:]] == [finding.code for finding in report.findings]
    assert not [cell for row in rows for cell in row if re.match(r"[=+\-@\t\r]", cell)]


def test_csv() -> None:
    several = AZIMUTH.times(4, [12, 13, 14, 20])
    assert show(make(several), "csv").splitlines()[1] == (
        "LAB103,error,Azimuth 240 is outside -180 to 180.,sub/mix001.csv,12,8,11,240,Write -120.,True,4,12-14 20,0,https://example.org/LAB103,safe"
    )


@given(findings)
@quick
def test_a_page_of_findings_holds_text_and_no_markup_of_it(finding: Finding) -> None:
    page = show(make(finding), "html")
    tags = {tag.split()[0] for tag in re.findall("<(/?[a-z][^>]*)>", page)}
    known = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "p", "div",
             "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre", "mark",
             "strong", "span", "code", "br", "a"}  # fmt: skip
    assert {tag.lstrip("/") for tag in tags} <= known
    assert html.escape(printable(finding.message)) in page


def test_a_page_shows_the_line_of_a_finding_with_its_caret() -> None:
    page = show(make(dataclasses.replace(AZIMUTH, excerpt="10,1,0,240,<b>")), "html")
    lines = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)
    assert "<b>" not in page
    assert html.unescape(re.sub("<[^>]*>", "", lines[1])).splitlines() == ["12 | 10,1,0,240,<b>", "   |        ^^^"]
    assert re.findall("<mark.*?>(.*?)</mark>", page) == ["240", "^^^"]


def test_a_page_says_why_nothing_was_heard_also_where_nothing_is_wrong() -> None:
    heard = Heard("mix001", "mix001.wav", "foa", "not heard", "the recording is silent")
    page = show(Report((), files=1, heard=(heard,)), "html")
    assert '<p class="verdict good">No findings: 1 file; 1 recording not compared with the sound.' in page
    assert "mix001 (FOA): not heard, the recording is silent" in page
