"""Datasets outside the package: a folder of files of data, which ``SELDIO_PLUGINS`` names.

``tests/outside/lab2027`` is a folder such as people would have. A year of its own is docs/howto/next-year.md.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import laid
from pages import ROOT, blocks
from processes import other_process
from releases import older

pytestmark = pytest.mark.slow

LAB = Path(__file__).parent / "outside" / "lab2027"
EXAMPLES = LAB / "examples"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module", name="seldio")
def _seldio() -> Iterator[Run]:
    """The command line with the data of the lab, in one process."""
    with other_process({"SELDIO_PLUGINS": str(LAB)}) as process:

        def run(*arguments: object) -> tuple[int, str, str]:
            shown, notes, code = process(list(map(str, arguments)), True)
            return code, shown, notes

        yield run


def fresh(*arguments: object, plugins: object = LAB, folder: Path | None = None) -> tuple[int, str, str]:
    """The exit code, output and messages of the command line with the data of *plugins*, in a process of its own."""
    environment = os.environ | {"SELDIO_PLUGINS": str(plugins), "COLUMNS": "80"}
    call = [sys.executable, "-W", "ignore", "-m", "seldio", *map(str, arguments)]
    run = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "LAB2027"))


def test_a_dialect_is_found_from_its_content(seldio: Run) -> None:
    code, shown, _ = seldio("info", EXAMPLES)
    assert code == 0
    assert "lab2027  labels of our lab" in shown
    assert "evidence    its header line" in shown
    assert "6  Knocking" in shown


def test_labels_are_converted_there_and_back(tmp_path: Path, seldio: Run) -> None:
    there, back = tmp_path / "there", tmp_path / "back"
    code, _, notes = seldio("convert", EXAMPLES, "--to", "starss23", "-o", there)
    assert (code, "distances in millimetres are converted to centimetres" in notes) == (0, True)
    first = (there / "metadata_dev/dev-train/fold1_room90_mix001.csv").read_text()
    assert first.splitlines()[:4] == ["0,12,0,30,0,150", "1,12,0,30,0,150", "2,12,0,31,0,151", "5,8,1,-90,10,200"]

    assert seldio("convert", there, "--to", "lab2027", "-o", back)[0] == 0
    files = sorted(file.relative_to(EXAMPLES) for file in EXAMPLES.rglob("*.csv"))
    assert {file: (back / file).read_bytes() for file in files} == {
        file: (EXAMPLES / file).read_bytes() for file in files
    }


def test_a_profile_scores(data: Path, seldio: Run) -> None:
    assert "lab2027              our lab: frame by frame" in seldio("score", "--profiles")[1]
    file = data / "metadata_dev/dev-test/fold2_room91_mix001.csv"
    file.write_text(file.read_text().replace("2,1,0,0,5,2500", "2,1,0,15,5,2500"))
    code, shown, _ = seldio("score", data, "-r", EXAMPLES, "--profile", "lab2027", "--average", "micro", "--json")
    assert (code, round(json.loads(shown)["reports"][0]["tables"][0]["rows"][0]["ER"], 3)) == (0, 0.1)


def test_a_data_set_is_found_where_people_unpack_it(data: Path) -> None:
    code, _, notes = fresh("convert", "lab2027", "--to", "parquet", "-o", "labels.parquet", folder=data.parent)
    assert (code, notes) == (0, "lab2027 to parquet: 3 clips, 13 rows in 1 file\n")


def test_code_in_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("raise SystemExit")
    code, shown, notes = fresh("validate", EXAMPLES, plugins=tmp_path)
    assert (code, shown) == (2, "")
    assert notes.startswith(f"seldio: SELDIO_PLUGINS: {tmp_path}/rules.py is code, and only files of data are read")


FORMAT = '[[formats]]\nname = "mine"\ntitle = "ours"\nrole = "label"\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name = ", "Invalid value (at end of document)"),
        ("name = 'mine'\nyear = 2027", "year: there is no such key"),
        ("name = 'mine'\ntitle = 'M'\ntree.splits_of = 'no'", "tree: cannot be read: 'no'"),
        ("name = 'mine'\ntitle = 'M'\ntree.kinds.a = 'dev'", "tree: cannot be read: invalid literal"),
        (f"name = 'mine'\n{FORMAT}columns = 'azimut:int'", "unknown field 'azimut'; did you mean"),
        ("name = 'mine'\n[[profiles]]\ntitle = 'M'", "profiles[1].name: the key is missing"),
        (f"name = 'mine'\n{FORMAT.replace('mine', 'starss23')}columns = 'frame:int'", "seldio has 'starss23' already"),
    ],
)
def test_a_broken_dataset_file_is_a_usage_error(tmp_path: Path, text: str, expected: str) -> None:
    laid(tmp_path, {"broken/mine.toml": text})
    code, shown, notes = fresh("score", "--profiles", plugins=tmp_path / "broken")
    assert (code, shown) == (2, "")
    assert notes.startswith("seldio: SELDIO_PLUGINS: broken/mine.toml: ")
    assert expected in notes


PAGE = ROOT / "docs/extending.md"
RUN = "import sys, pathlib, pages; page = pages.Page(pathlib.Path(sys.argv[1])); page.run(); print(*page.problems())"


def python(*arguments: object, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(path), str(ROOT / "tests")))}
    command = [sys.executable, "-W", "ignore", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_page_shows_what_an_installed_package_does(tmp_path: Path) -> None:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the package, is not installed: pip install --group test")
    package, site, empty = tmp_path / "package", tmp_path / "site", tmp_path / "empty"
    for block in blocks(PAGE.read_text("utf-8").replace("<!-- needs: lab2027 -->", "")):
        if block.kind == "file":
            laid(package, {block.options["caption"]: block.body})
    empty.mkdir()
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", site)
    installed = python(*pip, package, path=empty, folder=empty)
    assert installed.returncode == 0, installed.stderr

    shown = python("-c", RUN, PAGE, path=site, folder=empty)

    if shown.stdout.strip() and older("rich", "14.3"):
        pytest.skip("tables of rich before 14.3 have other spaces")
    assert (shown.returncode, shown.stdout.strip()) == (0, ""), shown.stdout + shown.stderr
    gone = python("-m", "seldio", "hears", "kettle.csv", path=empty, folder=empty)
    assert (gone.returncode, "No such command 'hears'" in gone.stderr) == (2, True)


@pytest.mark.parametrize(
    ("group", "value", "words", "line"),
    [
        ("formats", "gone:NOTES", "ModuleNotFoundError: No module named 'gone'", "formats"),
        ("commands", "seldio.plugins:VARIABLE", "str is not a function", "--help"),
    ],
)
def test_an_entry_point_to_nowhere_is_named(group: str, value: str, words: str, line: str, tmp_path: Path) -> None:
    metadata = "Metadata-Version: 2.1\nName: lab\nVersion: 1\n"
    entry_points = f"[seldio.{group}]\nlab = {value}\n"
    laid(tmp_path / "lab-1.dist-info", {"METADATA": metadata, "entry_points.txt": entry_points})

    run = python("-m", "seldio", line, path=tmp_path, folder=tmp_path)

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"seldio: entry point lab = {value} of seldio.{group}: {words}\n"
