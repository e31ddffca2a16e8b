"""One cause, one finding: what a first user's wrong files made into many findings, or into none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
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
    for system, tail in (("one", ""), ("two", ",150")):
        (tmp_path / system).mkdir()
        for clip in "123":
            rows = [row + tail for row in ROWS]
            (tmp_path / system / f"mix00{clip}.csv").write_text("\n".join(rows) + "\n")
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
    assert not {"SUB203", "SUB205"} & set(codes(validate(tmp_path / "package.zip").findings))
