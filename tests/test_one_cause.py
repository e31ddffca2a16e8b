"""One cause in one file is one finding, with a count and lines; what many files share is grouped on the screen."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import laid
from test_package import A, B, system

import seldio
from seldio import rules, validate
from seldio.check.reference import load
from seldio.check.settings import Settings, read_baseline, write_baseline
from seldio.findings import MOST_LISTED, Finding, Report, Severity
from seldio.reports import Options, render
from seldio.rules import CATALOGUE
from seldio.rules.collection import Reference

Row = tuple[int, int, int, int, int]
Rows = list[Row]


def rows(count: int = 60) -> Rows:
    """Rows of a submission that nothing is wrong with."""
    return [(n, n % 13, 0, (37 * n) % 360 - 180, (17 * n) % 100 - 50) for n in range(count)]


def text_of(*rows: tuple[int, ...]) -> str:
    return "".join(f"{','.join(map(str, row))}\n" for row in rows)


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


def test_the_screen_groups_what_many_files_share(folder: Callable[..., Path]) -> None:
    report = check(folder(text_of(*high(rows())), files=78))
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
    report = check(folder(text_of(*high(rows())), files=5))
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
    together, alone = check(folder(text_of(*many))).findings, check(folder(text_of(*few))).findings
    assert {one.count for one in alone} == {1}

    write_baseline(file, together)
    known = Settings(baseline=read_baseline(file))
    assert list(known.applied(together)) == []
    assert list(known.applied(alone)) == []

    write_baseline(file, alone)
    known = Settings(baseline=read_baseline(file))
    assert list(known.applied(together)) == together


def test_the_folder_task3_holds_both_tracks(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as package:
        for label in [f"Doe_UNI_task3{track}_{number}" for track in "ab" for number in (1, 2, 3, 4)]:
            package.writestr(f"task3/{label}/{label}.meta.yaml", f"submission:\n  label: {label}\n")
            package.writestr(f"task3/{label}/{label}/mix001.csv", "0,1,20,-5\n")
    assert not {"SUB203", "SUB206"} & set(validate(tmp_path / "package.zip").by_rule())


CLIPS = [f"fold4_room{room}_mix{mix:03}" for room in (23, 24) for mix in range(1, 4)]
EXPECTED = {"reference": Reference("recordings", dict.fromkeys(("mix001", "mix002")))}
LENGTHS = {"reference": Reference("recordings", dict.fromkeys(CLIPS, 300))}


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


@pytest.mark.parametrize("case", CASES)
def test_one_cause_is_said_once(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found, and what is left out of it."""
    files, options, cause, others = CASES[case]
    said = {one.code for one in seldio.validate(laid(tmp_path, files), format="starss22", **options)}
    assert cause in said
    monkeypatch.setattr(rules, "unexplained", lambda findings, source: list(findings))
    assert {one.code for one in seldio.validate(tmp_path, format="starss22", **options)} - said == others


def test_what_one_system_of_a_package_does_explains_nothing_of_another(tmp_path: Path) -> None:
    """One counts frames of 10 ms, another leaves out four of five: they have nothing to do with each other."""
    grids = {A: [10 * n for n in range(295)], B: [5 * n for n in range(60)]}
    for label, frames in grids.items():
        rows = text_of(*((n, 1, n % 90, 5) for n in frames))
        laid(tmp_path, {name: data if name.endswith(".yaml") else rows for name, data in system(label).items()})
    known = Reference("recordings", dict.fromkeys(("mix001", "mix002", "mix003"), 300))
    found = seldio.validate(tmp_path, format="dcase2023-submission", reference=known)
    assert {(one.code, A in one.path, B in one.path) for one in found if one.code in ("SUB119", "LAB307")} == {
        ("SUB119", False, False), ("LAB307", False, True),
    }  # fmt: skip


def test_outputs_padded_to_one_frame_are_no_other_hop(tmp_path: Path) -> None:
    """Labels of clips of several lengths, and outputs that all end at the same frame."""
    for number, length in enumerate([600, 900, 1500, 2500], 1):
        for folder, end in (("out", 5699), ("labels", length - 1)):
            rows = text_of(*((frame, 1, -(frame % 90), 0) for frame in (*range(0, end, 7), end)))
            laid(tmp_path / folder, {f"mix00{number}.csv": rows})
    report = validate(tmp_path / "out", format="dcase2023-submission", reference=load(str(tmp_path / "labels")))
    assert not [one for one in report if one.code == "LAB307" and "recording has" in one.message]
    found = only(report, "SUB112")
    assert (found.severity, Path(found.path).name) == ("warning", "mix001.csv")
    assert "2,476 of 3,264 rows come after the last label of their clip" in found.message
