"""The package of ``docs/extending.md``: built from the page, installed by pip, and each of its parts used.

What the page prints with ``SELDIO_PLUGINS`` is held by ``test_pages.py``; here is no variable, only the entry point.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import ROOT, blocks
from processes import Seldio, other_process

API = """
import seldio
from seldio.formats import by_content
from seldio.rules import CATALOGUE

assert seldio.read("kettle.csv")["distance"].to_pylist() == [2.5, 2.5, 12.0]
notes = seldio.read("drill.notes")
assert notes["azimuth"].to_pylist() == [-30.0, 12.5], notes
assert by_content(open("drill.notes", "rb").read(), "drill.notes").name == "lab2027-notes"
assert [one.code for one in seldio.validate("kettle.csv").findings] == ["LAB901"]
assert seldio.convert("drill.notes", "again.csv", "lab2027", fill={"distance": 2, "source": 0}).rows
assert seldio.score("kettle.csv", "kettle.csv", profile="lab2027", average="micro")
assert CATALOGUE["LAB901"].name == "behind-our-walls"
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page."""
    folder = tmp_path_factory.mktemp("lab")
    for block in blocks((ROOT / "docs/extending.md").read_text("utf-8")):
        if block.kind == "file":
            path = folder / block.options["caption"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.body, "utf-8")
    return folder


@pytest.fixture(scope="module")
def place(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed: a folder of its own, in no environment."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the package, is not installed: pip install --group test")
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*pip, "--target", folder, lab], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return folder


@pytest.fixture(scope="module")
def installed(place: Path) -> Iterator[Seldio]:
    """The command line where the package is installed, started in another folder than it was built in."""
    with other_process({"PYTHONPATH": str(place)}) as run:
        yield run


@pytest.fixture(scope="module")
def missing() -> Iterator[Seldio]:
    """The command line where it is not."""
    with other_process({}) as run:
        yield run


def test_the_entry_point_is_all_that_is_needed(place: Path) -> None:
    (points,) = place.glob("*.dist-info/entry_points.txt")
    assert "[seldio.wings]\nlab2027 = lab2027.wings:LAB\n" in points.read_text("utf-8")
    held = {path.relative_to(place / "lab2027").as_posix() for path in (place / "lab2027").rglob("*.*")}
    assert {name for name in held if "__pycache__" not in name} == {
        "lab2027.toml", "label_formats.py", "rules.py", "storages.py", "verbs.py", "wings.py", "vocabularies/lab2027.json",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("formats", 0, "lab2027-notes "),
        ("formats lab2027", 0, "3 of lab2027: sounds of our lab"),
        ("formats lab2027-notes", 0, "notes of our recorder"),
        ("info {drill}", 0, "lab2027-notes"),
        ("info {kettle}", 0, "labels of our lab"),
        ("validate {kettle}", 0, "LAB901 warning distance 12000 mm is behind our walls"),
        ("validate {drill}", 0, "All clean: 1 file."),
        ("validate {kettle} --select LAB901 --fail-on warning", 1, "LAB901"),
        ("convert {drill} --to lab2027 --fill distance=2 --fill source=0", 0, "5,1,0,-30,0,2000"),
        ("convert {kettle} --to lab2027-notes --allow-loss all", 0, "4 - 4.1 s: Parrot at 90"),
        ("score {kettle} -r {kettle} -p lab2027", 0, "Kettle           2    100.0"),
        ("score --profiles", 0, "lab2027              our lab: frame by frame"),
        ("rule LAB901", 0, "Reference: plan of the rooms, 2027."),
        ("rule --all", 0, "LAB901"),
        ("--help", 0, "hears     Count the labels of each class."),
        ("hears --help", 0, "Print how many labels each class has."),
        ("hears {kettle}", 0, "Kettle: 2\nParrot: 1\n"),
    ],
)
def test_each_part_is_used_from_the_shell(installed: Seldio, lab: Path, line: str, code: int, words: str) -> None:
    given = line.format(drill=lab / "drill.notes", kettle=lab / "kettle.csv").split()
    shown, _, ended = installed(given, False)
    assert ended == code, shown
    assert words in shown


def test_a_dataset_is_stored_as_the_lab_does_and_comes_back_without_it(
    installed: Seldio, missing: Seldio, lab: Path, tmp_path: Path
) -> None:
    for name in ("kettle.csv", "LICENSE"):
        (tmp_path / "set").mkdir(exist_ok=True)
        (tmp_path / "set" / name).write_bytes((lab / "kettle.csv").read_bytes() if name.endswith("csv") else b"free")
    stored, back = tmp_path / "stored", tmp_path / "back"
    shown, _, code = installed(["convert", f"{tmp_path}/set", "--to", "lab2027-folders", "-o", str(stored)], False)
    assert (code, "1 clip from 2 files, in 2 files" in shown) == (0, True), shown
    assert {path.relative_to(stored).as_posix() for path in stored.glob("[!.]*/**/*") if path.is_file()} == {
        "media/kettle/kettle.csv", "other/LICENSE",
    }  # fmt: skip

    shown, _, code = missing(["convert", str(stored), "--to", "files", "-o", str(back)], False)
    assert (code, "lab2027-folders to files: 1 clip" in shown) == (0, True), shown
    assert {path.name: path.read_bytes() for path in back.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "set").iterdir()
    }


def test_each_part_is_used_from_python(place: Path, lab: Path) -> None:
    call = [sys.executable, "-W", "ignore", "-c", API]
    environment = os.environ | {"PYTHONPATH": str(place)}
    run = subprocess.run(call, cwd=lab, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("formats lab2027-notes", "unknown format 'lab2027-notes'"),
        ("convert {kettle} --to lab2027", "unknown format 'lab2027'"),
        ("score {kettle} -r {kettle} -p lab2027", "unknown profile 'lab2027'"),
        ("rule LAB901", "no rule 'LAB901'"),
        ("hears {kettle}", "No such command 'hears'"),
        ("convert {kettle} --to lab2027-folders -o {out}", "unknown format 'lab2027-folders'"),
    ],
)
def test_what_is_missing_without_the_package_is_named(missing: Seldio, lab: Path, line: str, words: str) -> None:
    shown, _, ended = missing(line.format(kettle=lab / "kettle.csv", out=lab / "out").split(), False)
    assert (ended, words in " ".join(shown.split())) == (2, True), shown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("gone.wings:LAB", "the wing lab2027 (gone.wings:LAB): ModuleNotFoundError: No module named 'gone'"),
        ("seldio.wings:OWN", "the wing lab2027 (seldio.wings:OWN) is not a seldio.wings.Wing"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_named(tmp_path: Path, value: str, words: str) -> None:
    folder = tmp_path / "lab-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: lab\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[seldio.wings]\nlab2027 = {value}\n")
    run = subprocess.run(
        [sys.executable, "-m", "seldio", "formats"], env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert words in run.stderr
    assert "Traceback" not in run.stderr


def test_what_a_wing_from_outside_needs_is_named_where_it_is_missing(tmp_path: Path) -> None:
    (tmp_path / "lab_rooms").mkdir()
    (tmp_path / "lab_rooms/wings.py").write_text(
        "from seldio.wings import Verb, Wing\n"
        "ROOMS = Wing(name='rooms', title='our rooms', modules=('lab_rooms',), needs=('furniture',),\n"
        "             verbs=(Verb('tidy', 'Tidy a room.', 'lab_rooms.verbs:tidy'),),\n"
        "             storages=(('boxes', 'lab_rooms.storages:boxes'),))\n"
        "WINGS = (ROOMS,)\n"
    )
    (tmp_path / "one.csv").write_text("0,1,0,-50,30,200\n")
    with other_process({"SELDIO_PLUGINS": str(tmp_path / "lab_rooms")}) as run:
        stored, _, ended = run(["convert", f"{tmp_path}/one.csv", "--to", "boxes", "-o", f"{tmp_path}/out"], False)
        assert (ended, "the storage boxes needs the wing furniture" in " ".join(stored.split())) == (2, True), stored
        listed, _, code = run(["--help"], False)
        assert (code, "tidy" in listed) == (0, False)
        shown, _, code = run(["tidy"], False)
    assert (code, "seldio tidy needs the wing furniture, which is not installed" in " ".join(shown.split())) == (
        2,
        True,
    )


def test_an_importer_from_outside_names_the_wing_that_it_needs(lab: Path) -> None:
    start = "import sys, hidden; hidden.hide('importers'); from seldio.cli import main; sys.argv[0] = 'seldio'; main()"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "SELDIO_PLUGINS": str(lab / "lab2027")}
    run = subprocess.run(
        [sys.executable, "-c", start, "validate", "drill.notes"], cwd=lab, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "seldio: SELDIO_PLUGINS: lab2027.label_formats needs the wing importers (labels of annotation tools), "
        "which is not installed\n"
    )


def test_a_folder_called_like_a_module_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    with other_process({"SELDIO_PLUGINS": str(tmp_path / "secrets")}) as run:
        shown, _, code = run(["formats"], False)
    assert (code, "no folder or package" in shown, "secrets.py" in shown) == (2, True, True), shown
