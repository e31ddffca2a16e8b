"""What is published: a wheel that `uvx seldio` and `pipx run seldio` can run, the container, the pre-commit hook."""

from __future__ import annotations

import configparser
import email
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from commands import invoke

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "home")
    (tmp_path / "fold4_room1_mix001.csv").write_text("0,77,0,-50,30,200\n")
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); import seldio.cli as cli; print(cli.__file__); cli.main()"
    options = ["validate", "-f", "starss23", "--output", "concise", "fold4_room1_mix001.csv"]
    command = [sys.executable, "-c", code, tmp_path / "home", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env={})

    assert 1 == done.returncode, done.stderr
    assert done.stdout.startswith(f"{tmp_path}/home/seldio/cli/")
    assert "fold4_room1_mix001.csv:1:3: LAB102" in done.stdout


def test_the_image_is_built_from_files_that_its_context_has() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copies = [line for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    copied = [name for line in copies for name in line.split()[1:-1]]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()

    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name}" for name in copied} == {line for line in ignored if line.startswith("!")}
    assert {PROJECT["readme"], *PROJECT["license-files"]} <= set(text.split())
    assert "\nUSER seldio\n" in text
    assert '\nENTRYPOINT ["seldio"]\n' in text


(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def test_the_hook_sees_files_of_labels_and_questions_and_no_others() -> None:
    names = ["a/b.csv", "x.json", "predictions.jsonl", "README.md", "x.csv.py", "a.wav"]
    assert [name for name in names if re.search(HOOK["files"], name)] == names[:3]


def test_the_command_of_the_hook_checks_the_files_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clean = "0,1,0,-50,30,200\n" * 3
    Path("fold3_room4_mix001.csv").write_text(clean)
    Path("fold3_room4_mix002.csv").write_text(f"{clean}0,77,0,-50,30,200\n")
    program, *arguments = shlex.split(HOOK["entry"])

    assert "seldio" == program
    assert 0 == invoke(*arguments, "fold3_room4_mix001.csv").exit_code
    done = invoke(*arguments, "fold3_room4_mix001.csv", "fold3_room4_mix002.csv")
    assert 1 == done.exit_code
    assert "fold3_room4_mix002.csv:4:3: LAB102" in done.stdout


def test_the_manifest_is_valid(tmp_path: Path) -> None:
    pytest.importorskip("pre_commit")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml"]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    done = subprocess.run(command, env=environment | home, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stdout


#: What each asks for, separated by blanks.
PROJECTS = {
    "Spatial-Omni (SO-Bench), 30B": """
        transformers==5.0.0 tokenizers>=0.22,<0.23 peft==0.18.1 accelerate==1.13.0 safetensors>=0.6.2
        huggingface-hub>=1.3,<2.0 soundfile==0.13.1 librosa==0.11.0 scipy==1.15.3 numpy==1.24.4 pyyaml==6.0.2""",
    "JASCO": "pandas transformers>=4.44.0 vllm==0.5.5",
    "lmms-eval 0.6.0": "lmms_eval==0.6.0",
    # numpy: its code uses what numpy 2 has dropped
    "DCASE 2024, baseline": "torch==2.2.1 torchvision numpy<2 scipy librosa pandas scikit-learn matplotlib IPython",
    "DCASE 2026, baseline": """
        torch torchvision torchaudio numpy scipy soundfile librosa scikit-image scikit-learn Pillow tqdm pycocotools
        astropy matplotlib basemap""",
    "numpy and pandas before": "numpy<2 pandas<3",
    "inspect_ai": "inspect_ai",
}


def resolved(*arguments: str, wanted: str = "", python: str = "3.11") -> subprocess.CompletedProcess[str]:
    """What uv says of *wanted* (lines) and the dependencies of seldio."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed")
    command = [
        uv, "pip", "compile", "--quiet", "--python-version", python, "--python-platform", "linux",
        "--no-header", "--no-annotate", *arguments, "pyproject.toml", "-",
    ]  # fmt: skip
    run = subprocess.run(command, input=wanted, capture_output=True, text=True, check=False, cwd=ROOT, timeout=240)
    if "Failed to fetch" in run.stderr or "error sending request" in run.stderr or "client error" in run.stderr:
        pytest.skip(f"no package index can be reached: {run.stderr[-200:]}")
    return run


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS)
def test_it_goes_beside(project: str) -> None:
    run = resolved(wanted="\n".join(PROJECTS[project].split()))
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_the_floors_have_wheels(python: str) -> None:
    """The lowest version of each library that a Python may get; what needs a compiler there is no floor."""
    run = resolved("--resolution", "lowest-direct", "--only-binary", ":all:", python=python)
    assert run.returncode == 0, run.stderr
