"""One cause, one finding: what a first user's wrong files made into many findings, or into none."""

from __future__ import annotations

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


def test_one_file_for_all_clips_is_not_one_finding_for_each_clip(tmp_path: Path) -> None:
    findings = found(tmp_path / "all.csv", ROWS, reference="mix001..mix079")
    assert codes(findings) == ["SUB106"]


def test_a_header_in_another_order_names_its_layout(tmp_path: Path) -> None:
    rows = [f"{frame},1,0,{frame},1,{100 + frame}" for frame in range(40)]
    findings = found(tmp_path / "mix001.csv", rows, "frame,class,source,azimuth,onscreen,distance")
    assert codes(findings) == ["SYN113"]
    assert "dcase2025" in findings[0].message
