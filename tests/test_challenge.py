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
from seldio.errors import SeldioError, UsageError
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


def test_names_that_are_off_are_not_made_good_by_empty_files(here: Path) -> None:
    for clip in ROWS:
        Path(f"output/{clip}.csv").rename(f"output/{clip.replace('mix', 'mix_')}.csv")

    done = pack(reference="mix001..mix003")

    assert not done.complete
    assert not Path("x.zip").exists()
    assert done.systems[0].empty == ()
    assert "no empty files were added: 3 clips that are not in the reference" in str(done)
    assert {finding.code for finding in done.report} & {"SUB110", "SUB213"}


def test_errors_stop_the_zip_and_stand_where_the_outputs_are(here: Path) -> None:
    Path("output/mix003.csv").write_text("4,0,-3,10\n5,99,0,0\n")

    done = pack()

    assert not done.complete
    assert not Path("x.zip").exists()
    (finding,) = [one for one in done.report if one.code == "LAB102"]
    assert (finding.path, finding.line, finding.column) == ("output/mix003.csv", 2, 3)
    assert "x.zip (1 system for DCASE 2023) not written: 1 error" in str(done)
    assert pack(force=True).complete
    assert Path("x.zip").exists()


def test_a_meta_file_is_begun_and_never_overwritten(here: Path) -> None:
    done = seldio.package("output", "x.zip", year=2023, label=LABEL)

    assert done.written == (f"{LABEL}.meta.yaml",)
    assert done.systems[0].template
    begun = Path(f"{LABEL}.meta.yaml").read_text()
    assert yaml.safe_load(begun)["submission"]["label"] == LABEL
    assert {finding.code for finding in done.report} == {"SUB216", "SUB217"}
    Path(f"{LABEL}.meta.yaml").write_text(begun + "# mine\n")
    assert seldio.package("output", "x.zip", year=2023, label=LABEL).written == ()
    assert Path(f"{LABEL}.meta.yaml").read_text() == begun + "# mine\n"


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


def test_several_systems_go_into_one_zip(here: Path) -> None:
    second = LABEL.replace("_1", "_2")
    Path("second").mkdir()
    for clip in ROWS:
        Path(f"second/{clip}.csv").write_text(ROWS[clip].replace(",1,", ",2,"))
    given = {"year": 2023, "label": [LABEL, second], "reference": "mix001..mix003"}

    seldio.package(["output", "second"], "x.zip", **given)  # type: ignore[arg-type]
    for label in (LABEL, second):
        Path(f"{label}.meta.yaml").write_text(filled(Path(f"{label}.meta.yaml").read_text()))
    done = seldio.package(["output", "second"], "x.zip", **given)  # type: ignore[arg-type]

    assert done.complete
    assert [system.label for system in done.systems] == [LABEL, second]
    assert {finding.code for finding in done.report} == {"SUB216"}


@pytest.mark.parametrize(
    ("label", "said"),
    [("Politis", "a label is [last name]_[institute]_task3a_[1-4]"), ("../x_TAU_task3a_1", "a label is"), ("a\x7f_TAU_task3a_1", "a label is"),
     ("Politis\udce9_TAU_task3a_1", "a label is"),
     ("Politis_TAU_task3_1", "unknown track task3 of 2023; choose from task3a, task3b")],
)  # fmt: skip
def test_a_wrong_label_is_refused(here: Path, label: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        seldio.package("output", "x.zip", year=2023, label=label)
    assert said in refused.value.text
    assert [file.name for file in here.iterdir()] == ["output"]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [("csv", "hello world\n"), ("json", '{"a": 1}\n'), ("txt", "\0\1")],
)
def test_a_file_that_cannot_be_read_gets_no_empty_one_in_its_place(here: Path, suffix: str, text: str) -> None:
    pack()
    Path("x.zip").unlink()
    Path(f"output/mix004.{suffix}").write_text(text)

    try:
        said = str(pack(reference="mix001..mix004").report)
    except SeldioError as error:
        said = error.text

    assert f"mix004.{suffix}" in said
    assert not Path("x.zip").exists()


@pytest.mark.parametrize("out", ["output/x.zip", "x.txt", "meta.zip"])
def test_inputs_are_not_overwritten(here: Path, out: str) -> None:
    Path("meta.zip").write_text("submission: {}")

    with pytest.raises(UsageError):
        seldio.package("output", out, year=2023, label=LABEL, meta="meta.zip")
    assert sorted(file.stem for file in Path("output").iterdir()) == [*ROWS]


def test_the_command_ends_with_what_it_found(here: Path) -> None:
    def run(*more: str) -> tuple[int, str]:
        words = ["package", "output", "--year", "2023", "--label", LABEL, "-o", "x.zip", *more]
        done = invoke(*words)
        return done.exit_code, done.stdout

    code, printed = run("--reference", "mix001..mix004")
    assert code == 1
    assert "SUB217 error" in printed
    assert ") not written: 1 error" in printed
    begun = Path(f"{LABEL}.meta.yaml")
    begun.write_text(filled(begun.read_text()))
    code, printed = run("--reference", "mix001..mix004", "--json")
    assert code == 0
    record = json.loads(printed)
    jsonschema.Draft202012Validator(SCHEMAS["package"]()).validate(record)
    assert record["written"] == ["x.zip"]
    assert record["systems"][0]["empty"] == ["mix004"]
    assert zipfile.ZipFile("x.zip").read(f"task3/{LABEL}/{LABEL}/mix004.csv") == b""
    assert record["report"]["summary"]["by_rule"] == {"SUB216": 1}


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
