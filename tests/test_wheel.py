"""What is published: a wheel that `uvx seldio` and `pipx run seldio` can run, and the files of the container."""

from __future__ import annotations

import configparser
import email
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and ("No matching distribution" in done.stderr or "onnection" in done.stderr):
        pytest.skip("the build backend could not be installed: no package index")
    assert 0 == done.returncode, done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
def test_the_wheel_says_what_it_needs_and_has_one_command_of_its_own_name(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
        commands = configparser.ConfigParser()
        commands.read_string(archive.read(f"{info}/entry_points.txt").decode())

    assert wheel.name.endswith("-py3-none-any.whl")
    assert ("seldio", PROJECT["version"]) == (metadata["Name"], metadata["Version"])
    required = [one for one in metadata.get_all("Requires-Dist", []) if "extra ==" not in one]
    assert sorted(PROJECT["dependencies"]) == sorted(one.replace("-hub", "_hub") for one in required)
    # uvx NAME and pipx run NAME run the command that has the name of the package
    assert {"seldio": "seldio.cli:main"} == dict(commands["console_scripts"])


@pytest.mark.slow
def test_the_wheel_holds_all_that_is_read_at_run_time_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("seldio/")}
        others = {name.split("/")[0] for name in archive.namelist()} - {"seldio"}

    source = ROOT / "src"
    wanted = {path.relative_to(source).as_posix() for path in (source / "seldio").rglob("*")
              if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert wanted == held
    assert all(name.endswith(".dist-info") for name in others)


@pytest.mark.slow
def test_the_command_of_the_wheel_runs(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(home)
    (tmp_path / "fold4_room1_mix001.csv").write_text("0,77,0,-50,30,200\n")
    code = (
        f"import sys; sys.path.insert(0, {str(home)!r})\n"
        "from importlib.metadata import distribution, entry_points\n"
        "(point,) = [one for one in distribution('seldio').entry_points if one.name == 'seldio']\n"
        "assert point.load().__code__.co_filename.startswith(sys.path[0])\n"
        "point.load()()"
    )
    options = ["-f", "starss23", "--output", "concise", "fold4_room1_mix001.csv"]

    done = subprocess.run(
        [sys.executable, "-c", code, "validate", *options], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={},
    )  # fmt: skip

    assert 1 == done.returncode, done.stderr
    assert "fold4_room1_mix001.csv:1:3: LAB102" in done.stdout


def test_the_image_is_built_from_files_that_its_context_has() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    copied = [
        name for line in lines if line.startswith("COPY ") and "--from" not in line for name in line.split()[1:-1]
    ]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()

    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}


def test_the_image_needs_what_the_build_reads() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8")

    assert {PROJECT["readme"], *PROJECT["license-files"]} <= set(lines.split())
    assert "\nUSER seldio\n" in lines
    assert '\nENTRYPOINT ["seldio"]\n' in lines
