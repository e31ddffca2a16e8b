"""One cause, one finding: what a first user's wrong files made into many findings, or into none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from seldio import validate
from seldio.check.reference import load
from seldio.findings import Finding

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


def test_one_file_for_all_clips_is_not_one_finding_for_each_clip(tmp_path: Path) -> None:
    findings = found(tmp_path / "all.csv", ROWS, reference="mix001..mix079")
    assert codes(findings) == ["SUB106"]


def test_a_header_in_another_order_names_its_layout(tmp_path: Path) -> None:
    rows = [f"{frame},1,0,{frame},1,{100 + frame}" for frame in range(40)]
    findings = found(tmp_path / "mix001.csv", rows, "frame,class,source,azimuth,onscreen,distance")
    assert codes(findings) == ["SYN113"]
    assert "dcase2025" in findings[0].message


def test_the_folder_task3_holds_both_tracks(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as package:
        for label in [f"Doe_UNI_task3{track}_{number}" for track in "ab" for number in (1, 2, 3, 4)]:
            package.writestr(f"task3/{label}/{label}.meta.yaml", f"submission:\n  label: {label}\n")
            package.writestr(f"task3/{label}/{label}/mix001.csv", "0,1,20,-5\n")
    assert not {"SUB203", "SUB205"} & set(codes(validate(tmp_path / "package.zip").findings))
