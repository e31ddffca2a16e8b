"""One cause in one file is one finding, with a count and lines; what many files share is grouped on the screen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_package import A, B, system

import seldio
from seldio import rules, validate
from seldio.check.reference import load
from seldio.check.settings import Settings, read_baseline, write_baseline
from seldio.check.validation import examine
from seldio.findings import MOST_LISTED, MOST_RANGES, Finding, Report, Severity
from seldio.reports import Options, render
from seldio.rules import CATALOGUE
from seldio.rules.collection import Reference

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


ROWS = [f"{frame},{frame % 13},{frame * 7 % 300 - 150},{frame % 60 - 30}" for frame in range(40)]


def found(path: Path, rows: list[str], header: str = "", **options: str) -> list[Finding]:
    path.write_text("\n".join([header, *rows] if header else rows) + "\n")
    reference = load(options["reference"]) if "reference" in options else None
    return validate(path.parent, format=options.get("format"), reference=reference).findings


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


@pytest.mark.parametrize("header", [",frame,class,azimuth,elevation", "Unnamed: 0,frame,class,a,e", ",0,1,2,3"])
def test_a_row_index_of_pandas_is_one_finding(header: str, tmp_path: Path) -> None:
    rows = [f"{number},{row}" for number, row in enumerate(ROWS)]
    assert codes(found(tmp_path / "mix001.csv", rows, header)) == ["SYN114"]


@pytest.mark.slow
def test_the_header_of_a_row_index_goes_with_it(tmp_path: Path) -> None:
    rows = [f"{number},{row}" for number, row in enumerate(ROWS)]
    found(tmp_path / "mix001.csv", rows, ",0,1,2,3")

    subprocess.run([sys.executable, "-m", "seldio", "validate", str(tmp_path), "--unsafe-fixes"], check=True)

    assert (tmp_path / "mix001.csv").read_text().splitlines() == list(ROWS)


def test_outputs_padded_to_one_frame_are_no_other_hop(tmp_path: Path) -> None:
    """Recordings of several lengths, and outputs that all end at the same frame."""
    (tmp_path / "out").mkdir()
    (tmp_path / "labels").mkdir()
    for number, length in enumerate([600, 900, 1500, 2500], 1):
        for folder, end in (("out", 5699), ("labels", length - 1)):
            rows = [f"{frame},1,{-(frame % 90)},0" for frame in range(0, end, 7)] + [f"{end},1,5,0"]
            (tmp_path / folder / f"mix00{number}.csv").write_text("\n".join(rows) + "\n")

    findings = validate(tmp_path / "out", format="dcase2023-submission", reference=tmp_path / "labels").findings

    assert not [finding for finding in findings if finding.code == "LAB307" and "recording has" in finding.message]


def test_folders_of_several_systems_may_have_several_layouts(tmp_path: Path) -> None:
    for name, tail in (("one", ""), ("two", ",150")):
        (tmp_path / name).mkdir()
        for clip in "123":
            rows = [row + tail for row in ROWS]
            (tmp_path / name / f"mix00{clip}.csv").write_text("\n".join(rows) + "\n")
    assert "SUB108" not in codes(validate(tmp_path).findings)
    shutil.copy(tmp_path / "two/mix001.csv", tmp_path / "one/mix004.csv")

    (finding,) = [finding for finding in validate(tmp_path).findings if finding.code == "SUB108"]

    assert (finding.severity, finding.path) == ("error", str(tmp_path / "one/mix004.csv"))


def test_one_file_for_all_clips_is_not_one_finding_for_each_clip(tmp_path: Path) -> None:
    findings = found(tmp_path / "all.csv", ROWS, reference="mix001..mix079")
    assert codes(findings) == ["SUB106"]


def test_a_header_in_another_order_names_its_layout(tmp_path: Path) -> None:
    rows = [f"{frame},1,0,{frame},1,{100 + frame}" for frame in range(40)]
    findings = found(tmp_path / "mix001.csv", rows, "frame,class,source,azimuth,onscreen,distance")
    assert codes(findings) == ["SYN113"]
    assert "dcase2025" in findings[0].message


def test_vectors_are_neither_radians_nor_metres(tmp_path: Path) -> None:
    rows = [f"{frame},1,{0.1 + 0.02 * frame:.5f},{0.9 - 0.01 * frame:.5f},0.20000" for frame in range(40)]
    findings = found(tmp_path / "mix001.csv", rows, format="dcase2024-submission")
    assert codes(findings) == ["LAB302"]
    assert "dcase2020-output" not in (findings[0].hint or "")


@pytest.mark.parametrize("text", ["", "[]", "{'annotations': []}"])
def test_a_damaged_file_of_2026_is_not_passed_over(text: str, tmp_path: Path) -> None:
    for clip in ("mix001", "mix002"):
        (tmp_path / f"{clip}_inference.json").write_text(json.dumps({"annotations": []}) if clip == "mix001" else text)
    found = [finding for finding in validate(tmp_path).findings if finding.code != "SUB114"]  # about both names
    assert [finding.path for finding in found] == [f"{tmp_path}/mix002_inference.json"]


def test_the_folder_task3_holds_both_tracks(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as package:
        for label in [f"Doe_UNI_task3{track}_{number}" for track in "ab" for number in (1, 2, 3, 4)]:
            package.writestr(f"task3/{label}/{label}.meta.yaml", f"submission:\n  label: {label}\n")
            package.writestr(f"task3/{label}/{label}/mix001.csv", "0,1,20,-5\n")
    assert not {"SUB203", "SUB206"} & set(codes(validate(tmp_path / "package.zip").findings))


CLIPS = [f"fold4_room{room}_mix{mix:03}" for room in (23, 24) for mix in range(1, 4)]
EXPECTED = {"reference": Reference("recordings", dict.fromkeys(("mix001", "mix002")))}
LENGTHS = {"reference": Reference("recordings", dict.fromkeys(CLIPS, 300))}


def text_of(*rows: tuple[int, ...]) -> str:
    return "".join(f"{','.join(map(str, row))}\n" for row in rows)


#: Four clips in one file, each with a row that is there twice.
MIXED = text_of(*((n, n % 13, n % 2, n - 60 + 30 * clip, 5) for clip in range(4) for n in (*range(60), 59)))
CASES: dict[str, tuple[dict[str, str], dict[str, Any], str, set[str]]] = {
    "one file for all clips": (
        {"all.csv": MIXED}, EXPECTED, "SUB106", {"LAB201", "LAB202", "LAB203", "LAB204", "LAB322", "SUB101", "SUB102"},
    ),
    "a column of clips": (
        {"all.csv": "".join(f"mix{n // 60:03},{n % 60},{n % 13},0,{n % 90},5\n" for n in range(120))}, EXPECTED,
        "SUB106", {"SUB101", "SUB102"},
    ),
    "frames that start over": ({"a.csv": MIXED, "b.csv": MIXED[:500]}, {}, "LAB322", {"LAB201", "LAB202", "LAB203", "LAB204"}),
    "frames and classes exchanged": (
        {"all.csv": text_of(*((frame * 7 % 13, frame, 0, frame % 90, 5) for frame in range(200)))}, {},
        "LAB320", {"SUB106"},
    ),
    "no frames": (
        {"all.csv": text_of(*((row * 5 % 11, row % 3, 0, row % 90, 5) for row in range(200)))}, {},
        "LAB324", {"SUB106"},
    ),
    "rows of zeros": (
        {f"{clip}.csv": "0,0,0,0,0\n" * 40 if clip in CLIPS[:2] else text_of(*((n, n % 13, 0, n % 90, len(clip))
         for n in range(30 + CLIPS.index(clip)))) for clip in CLIPS}, {}, "LAB315", {"SUB116"},
    ),
    "a finer grid": (
        {f"{clip}.csv": text_of(*((10 * n, n // 25 % 13, 0, n % 90, 5) for n in range(295 + number)))
         for number, clip in enumerate(CLIPS)}, LENGTHS, "SUB119", {"LAB307"},
    ),
    "nothing that is read": ({"mix001.txt": MIXED}, EXPECTED, "LAY118", {"SUB101"}),
}  # fmt: skip


@pytest.fixture
def told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[set[str], set[str]]]:
    """Checks files, and returns the codes of what is found, and of what is left out of it."""

    def check(path: Path, **options: Any) -> tuple[set[str], set[str]]:
        said = {one.code for one in seldio.validate(path, **options)}
        with monkeypatch.context() as patched:
            patched.setattr(rules, "unexplained", lambda findings, source: list(findings))
            return said, {one.code for one in seldio.validate(path, **options)} - said

    return check


@pytest.mark.parametrize("case", CASES)
def test_one_cause_is_said_once(case: str, told_apart: Callable[..., Any], tmp_path: Path) -> None:
    files, options, cause, others = CASES[case]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    said, left_out = told_apart(tmp_path, format="starss22", **options)
    assert cause in said
    assert left_out == others


def test_what_is_explained_explains_nothing() -> None:
    def made(code: str, path: str) -> Finding:
        return Finding(code, Severity.ERROR, "wrong", path)

    swapped, mixed, twice = made("LAB320", "x/a.csv"), made("SUB106", "x/a.csv"), made("LAB202", "x/a.csv")
    assert rules.unexplained([twice, mixed, swapped], "x") == [twice, swapped]
    assert rules.unexplained([twice, mixed], "x") == [mixed]
    assert rules.unexplained([twice, made("SUB106", "x/b.csv")], "x")[0] == twice
    assert rules.unexplained([made("LAB307", "x/b.csv"), made("SUB119", "x")], "x") == [made("SUB119", "x")]


def test_what_one_system_of_a_package_does_explains_nothing_of_another(tmp_path: Path) -> None:
    """One counts frames of 10 ms, another leaves out four of five: they have nothing to do with each other."""
    grids = {A: [10 * n for n in range(295)], B: [5 * n for n in range(60)]}
    for label, frames in grids.items():
        for name, content in system(label).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if name.endswith(".yaml") else text_of(*((n, 1, n % 90, 5) for n in frames)))
    known = Reference("recordings", dict.fromkeys(("mix001", "mix002", "mix003"), 300))
    told_apart = seldio.validate(tmp_path, format="dcase2023-submission", reference=known)
    assert {(one.code, A in one.path, B in one.path) for one in told_apart if one.code in ("SUB119", "LAB307")} == {
        ("SUB119", False, False), ("LAB307", False, True),
    }  # fmt: skip
