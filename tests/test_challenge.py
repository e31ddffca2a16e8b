"""From outputs to the zip that the challenge takes: packed, checked, and nothing written that is wrong."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import jsonschema
import pytest
import yaml
from commands import invoke

import seldio
from seldio.challenge import Packaged
from seldio.errors import UsageError
from seldio.rules.package import FILL_IN, RESULTS
from seldio.schemas import SCHEMAS
from seldio.synth.tree import write_demo

LABEL = "Politis_TAU_task3a_1"
REAL = Path(os.environ.get("SELDIO_SHARED", Path(__file__).parents[2] / "shared")) / "data" / "dcase-meta"
ROWS = {"mix001": "0,1,20,-5\n1,1,21,-5\n", "mix002": "", "mix003": "4,0,-3,10\n"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("output").mkdir()
    for clip, rows in ROWS.items():
        Path(f"output/{clip}.csv").write_text(rows)
    return tmp_path


def filled(template: str) -> str:
    for number in ("total_parameters", *RESULTS):
        template = template.replace(f"{number}: {FILL_IN}", f"{number}: !!null")
    return template.replace(FILL_IN, "something")


def pack(**options: object) -> Packaged:
    given = {"year": 2023, "label": LABEL, **options}
    begun = Path(f"{LABEL}.meta.yaml")
    if not begun.exists():
        seldio.package("output", "x.zip", **given)  # type: ignore[arg-type]
        begun.write_text(filled(begun.read_text()))
    return seldio.package("output", "x.zip", **given)  # type: ignore[arg-type]


def test_a_package_has_the_folders_of_its_year_is_clean_and_the_same_again(here: Path) -> None:
    Path("report.pdf").write_bytes(b"%PDF-1.7")

    done = pack(reference="mix001..mix003", technical_report="report.pdf")

    assert done.complete
    assert done.written == ("x.zip",)
    assert not done.report.findings
    assert repr(done) == "Packaged(x.zip (1 system for DCASE 2023) written)"
    with zipfile.ZipFile("x.zip") as packed:
        assert packed.namelist() == [
            f"task3/{LABEL}/{LABEL}.meta.yaml", *(f"task3/{LABEL}/{LABEL}/{clip}.csv" for clip in ROWS), "task3/report.pdf"
        ]  # fmt: skip
        for clip, rows in ROWS.items():
            assert packed.read(f"task3/{LABEL}/{LABEL}/{clip}.csv").decode() == rows
        assert packed.read(f"task3/{LABEL}/{LABEL}.meta.yaml") == Path(f"{LABEL}.meta.yaml").read_bytes()
    assert not seldio.validate("x.zip", reference="mix001..mix003").findings
    before = Path("x.zip").read_bytes()
    for file in here.rglob("*.csv"):
        os.utime(file, (0, 0))
    pack(reference="mix001..mix003", technical_report="report.pdf")
    assert Path("x.zip").read_bytes() == before


def test_outputs_in_another_format_are_refused(demo: Path, here: Path) -> None:
    seldio.convert(demo / "starss23/metadata_dev", "xyz", "dcase2023-output", allow_loss="distance")
    with pytest.raises(UsageError, match="is of dcase2023-output, not of dcase2023-submission: pack the folder that"):
        seldio.package("xyz", "y.zip", year=2023, label=LABEL)
    for path in Path("xyz").rglob("*.csv"):
        path.write_bytes(b"")
    assert "SUB105" in seldio.package("xyz", "y.zip", year=2023, label=LABEL).report.by_rule()  # all are empty


def test_own_scores_are_those_of_score_and_differences_are_named(demo: Path, here: Path) -> None:
    development = {"development": demo / "output", "development_reference": demo / "starss23/metadata_dev"}
    score = seldio.score(demo / "output", demo / "starss23/metadata_dev", profile="dcase2023").overall
    done = pack(**development)

    results = yaml.safe_load(Path(f"{LABEL}.meta.yaml").read_text())["results"]["development_dataset"]["overall"]
    assert results["ER_20"] == round(score["ER"], 3)
    assert results["F_20"] == round(100 * score["F"], 1)
    assert results["LE_CD"] == round(score["LE"], 1)
    assert results["LR_CD"] == round(100 * score["LR"], 1)
    assert done.systems[0].differences == ()
    meta = Path(f"{LABEL}.meta.yaml").read_text().replace(f"F_20: {results['F_20']}", "F_20: 12.0")
    Path("other.yaml").write_text(meta)
    done = pack(**development, meta="other.yaml")
    (one,) = done.systems[0].differences
    assert (one.field, one.stated, one.scored) == ("F_20", "12.0", str(results["F_20"]))
    assert meta.splitlines()[one.line - 1].strip() == "F_20: 12.0"
    assert done.complete
    assert f"other.yaml:{one.line}: F_20 is 12.0, but seldio score says" in str(done)


def test_the_record_of_a_package_fits_its_schema(here: Path) -> None:
    done = invoke("package", "output", "--year", "2023", "--label", LABEL, "-o", "x.zip", "--json")
    record = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMAS["package"]()).validate(record)
    assert (done.exit_code, record["systems"][0]["empty"]) == (1, [])
    assert record["report"]["summary"]["by_rule"] == {"SUB216": 1, "SUB217": 1}


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the shared meta files")
@pytest.mark.parametrize("number", [1, 2])
def test_real_meta_files_are_packed_byte_for_byte(demo: Path, here: Path, number: int) -> None:
    label = f"FalconPerez_Aalto_task3_{number}"
    meta = REAL / f"{label}.meta.yaml"

    done = seldio.package(
        "output", "x.zip", year=2022, label=label, meta=meta, reference="mix001..mix003",
        development=demo / "output", development_reference=demo / "starss23/metadata_dev",
    )  # fmt: skip

    assert done.complete
    assert {finding.code for finding in done.report} == {"SUB216"}
    assert [one.field for one in done.systems[0].differences] == ["ER_20", "F_20", "LE_CD", "LR_CD"]
    with zipfile.ZipFile("x.zip") as packed:
        assert packed.read(f"task3/{label}/{label}.meta.yaml") == meta.read_bytes()
