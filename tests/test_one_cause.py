"""One cause in one file is one finding, with a count and lines; what many files share is grouped on the screen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import seldio
from seldio.check.reference import load
from seldio.check.settings import Settings, read_baseline, write_baseline
from seldio.check.validation import examine
from seldio.findings import MOST_LISTED, MOST_RANGES, Finding, Report, Severity
from seldio.reports import Options, render
from seldio.rules import CATALOGUE

Row = tuple[int, int, int, int, int]
Rows = list[Row]


def rows(count: int = 60) -> Rows:
    """Rows of a submission that nothing is wrong with."""
    return [(n, n % 13, 0, (37 * n) % 360 - 180, (17 * n) % 100 - 50) for n in range(count)]


def text(table: Rows) -> str:
    return "".join(f"{','.join(map(str, row))}\n" for row in table)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of labels, all of the same text."""

    def make(content: str, files: int = 1) -> Path:
        for number in range(1, files + 1):
            (tmp_path / f"mix{number:03}.csv").write_bytes(content.encode())
        return tmp_path

    return make


def check(path: Path) -> Report:
    return seldio.validate(path, format="starss22", ignore="SUB116")  # the files are all the same


def only(report: Report, code: str) -> Finding:
    found = [finding for finding in report.findings if finding.code == code]
    assert len(found) == 1, found
    return found[0]


def high(table: Rows) -> Rows:
    """Inclinations (from above) where elevations are due."""
    return [(frame, kind, source, azimuth, elevation + 145) for frame, kind, source, azimuth, elevation in table]


def test_a_fault_in_every_row_is_one_finding(folder: Callable[..., Path]) -> None:
    found = only(check(folder(text(high(rows())))), "LAB104")
    wrong = [number for number, row in enumerate(high(rows()), 1) if row[4] > 90]

    assert (found.line, found.count) == (wrong[0], len(wrong))
    assert [n for first, last in found.ranges for n in range(first, last + 1)] == wrong
    assert found.unlisted == 0


def test_up_to_three_are_findings_of_their_own(folder: Callable[..., Path]) -> None:
    table = rows()
    for number in (7, 20, 33):
        table[number] = (*table[number][:3], 270, 0)
    found = check(folder(text(table))).findings

    assert [(one.line, one.count, one.ranges) for one in found] == [(8, 1, ()), (21, 1, ()), (34, 1, ())]


def test_a_thousand_duplicates_are_one_finding(folder: Callable[..., Path]) -> None:
    found = only(check(folder("".join(f"{line}\n{line}\n" for line in text(rows(1024)).splitlines()))), "LAB202")

    assert (found.line, found.count, len(found.ranges), found.unlisted) == (2, 1024, MOST_RANGES, 1024 - MOST_RANGES)
    assert found.ranges[:2] == ((2, 2), (4, 4))
    assert found.message == "same row as line 1"


def test_the_screen_groups_what_many_files_share(folder: Callable[..., Path]) -> None:
    report = check(folder(text(high(rows())), files=78))
    shown = "".join(render(report, "text", Options(CATALOGUE)))

    assert "LAB104 error in 78 of 78 files, e.g. " in shown
    assert shown.count("LAB104") == 1
    assert "mix001.csv:" in shown
    assert "and 72 more" in shown
    assert f"({report.places:,} places) in 78 of 78 files" in shown
    markdown = "".join(render(report, "markdown", Options(CATALOGUE)))
    assert ", in 78 of 78 files |" in markdown
    every = "".join(render(report, "text", Options(CATALOGUE, max_per_rule=None)))
    assert len(re.findall(r"mix\d+\.csv:", every)) == 78


def test_reports_for_programs_tell_count_and_lines(folder: Callable[..., Path]) -> None:
    report = check(folder(text(high(rows())), files=5))
    whole = json.loads("".join(render(report, "json", Options(CATALOGUE))))
    results = json.loads("".join(render(report, "sarif", Options(CATALOGUE))))["runs"][0]["results"]
    lines = "".join(render(report, "concise", Options(CATALOGUE))).splitlines()

    assert whole["summary"]["places"] == report.places == sum(one["count"] for one in whole["findings"])
    assert len(whole["findings"]) == len(results) == len(lines) - 1 == 5
    assert results[0]["occurrenceCount"] == whole["findings"][0]["count"]
    assert results[0]["properties"]["ranges"] == whole["findings"][0]["ranges"]
    assert " times, lines " in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "jsonl", "sarif", "github"])
def test_what_is_not_listed_is_said(format: str) -> None:
    many = [Finding("LAB103", Severity.ERROR, "wrong", f"{number:05}.csv", 1) for number in range(MOST_LISTED + 7)]
    report = Report(files=len(many))
    report.add(many)
    shown = "".join(render(report, format, Options(CATALOGUE)))

    assert shown.count("10006.csv") == 0
    assert '"LAB103": 7' in shown or "… and 7 more LAB103" in shown
    assert report.summary()["errors"] == MOST_LISTED + 7


def test_a_baseline_knows_places_whether_listed_alone_or_together(folder: Callable[..., Path], tmp_path: Path) -> None:
    many, few = high(rows()), rows()
    few[1], few[2] = high(few)[1], high(few)[2]
    file = tmp_path / "known"
    together, alone = check(folder(text(many))).findings, check(folder(text(few))).findings
    assert {one.count for one in alone} == {1}

    write_baseline(file, together)
    known = Settings(baseline=read_baseline(file))
    assert list(known.applied(together)) == []
    assert list(known.applied(alone)) == []

    write_baseline(file, alone)
    known = Settings(baseline=read_baseline(file))
    assert list(known.applied(together)) == together


def each_cell(change: Callable[[str], str], table: Rows | None = None) -> str:
    return "".join(f"{','.join(change(str(cell)) for cell in row)}\n" for row in table or rows())


FAULTS = {
    "SYN122": each_cell('"{}"'.format),
    "SYN123": each_cell("{} ".format),
    "SYN132": "".join(f"{f}.0,{c},{s},{a},{e}\n" for f, c, s, a, e in rows()),
    "SYN137": "".join(f"{f},+{c},{s},{a},{e}\n" for f, c, s, a, e in rows()),
    "SYN133": "".join(f"{f},{c},{s},nan,{e}\n" for f, c, s, _, e in rows()),
    "SYN135": "".join(f"{f},{c},{s},{a},\n" for f, c, s, a, _ in rows()),
    "SYN130": "".join(f"{f},{c},{s},{'left' if f % 2 else 'front_2'},{e}\n" for f, c, s, _, e in rows()),
    "SYN121": "".join(f"{f},{c},{s},{a},{e}{',1' * (f % 2)}\n" for f, c, s, a, e in rows()),
    "SYN110": "".join(f"{line}\n\n" for line in text(rows()).splitlines()),
}


@pytest.mark.parametrize("code", FAULTS)
def test_rows_with_one_fault_are_one_finding(code: str, folder: Callable[..., Path]) -> None:
    data = FAULTS[code]
    found = only(check(folder(data)), code)
    lines = data.splitlines()
    wrong = {"SYN121": [n for n in range(1, 61) if lines[n - 1].count(",") == 5], "SYN110": list(range(2, 121, 2))}.get(
        code, list(range(1, 61))
    )

    assert found.line == wrong[0]
    assert [n for first, last in found.ranges for n in range(first, last + 1)] == wrong
    assert found.count == len(wrong) * {"SYN122": 5, "SYN123": 5}.get(code, 1)


@pytest.mark.parametrize("code", ["SYN122", "SYN123", "SYN132", "SYN137", "SYN110"])
def test_what_can_only_mean_one_thing_is_read_as_that(code: str, folder: Callable[..., Path]) -> None:
    reading = examine(folder(FAULTS[code]), format="starss22").labels[0].reading
    columns = ("frame", "class_id", "source", "azimuth", "elevation")

    assert list(zip(*(reading.table[name].to_pylist() for name in columns), strict=True)) == rows()
    assert reading.table["frame"].type == "int32"


def test_rows_behind_the_last_label_of_the_reference_are_a_warning(tmp_path: Path) -> None:
    labels, padded = tmp_path / "labels", tmp_path / "padded"
    for folder, rows_of in ((labels, 200), (padded, 600)):
        folder.mkdir()
        for number in range(1, 4):
            content = "".join(f"{n},1,{n % 90},5\n" for n in range(rows_of + number))
            (folder / f"mix{number:03}.csv").write_text(content)
    (labels / "mix002.csv").write_text("0,1,5,5\n")
    found = only(seldio.validate(padded, format="dcase2023-submission", reference=load(str(labels))), "SUB112")

    assert found.severity == "warning"
    assert found.path.endswith("mix002.csv")
    assert "1,401 of 1,806 rows come after the last label of their clip" in found.message
    same = seldio.validate(labels, format="dcase2023-submission", reference=load(str(labels)))
    assert "SUB112" not in {one.code for one in same.findings}
