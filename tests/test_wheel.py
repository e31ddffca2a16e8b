"""What is published: a wheel that `uvx seldio` and `pipx run seldio` can run, and the files of the container."""

from __future__ import annotations

import configparser
import email
import shutil
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
        [sys.executable, "-c", code, "validate", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={},
    )

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


#: What each asks for, separated by blanks.
PROJECTS = {
    "Spatial-Omni (SO-Bench), 7B": """
        torch==2.5.1 torchaudio==2.5.1 transformers==4.52.0 tokenizers==0.21.4 peft==0.17.1 accelerate==1.10.1
        safetensors==0.6.2 huggingface-hub==0.34.4 soundfile==0.13.1 librosa==0.11.0 scipy==1.15.3 numpy==1.24.4
        einops==0.6.1 sentencepiece==0.1.99 protobuf==5.29.5 pyyaml==6.0.2 tqdm==4.67.1 tensorboard==2.20.0""",
    "Spatial-Omni (SO-Bench), 30B": """
        transformers==5.0.0 tokenizers>=0.22,<0.23 peft==0.18.1 accelerate==1.13.0 safetensors>=0.6.2
        huggingface-hub>=1.3,<2.0 soundfile==0.13.1 librosa==0.11.0 scipy==1.15.3 numpy==1.24.4 pyyaml==6.0.2""",
    "JASCO": "pandas transformers>=4.44.0 vllm==0.5.5",
    "BAT (Spatial-AST)": """
        numba==0.58.1 torch==2.0.1 torchaudio==2.0.2 torchvision==0.15.2 timm==0.3.2 torchlibrosa tensorboard h5py""",
    "MERA Multimodal": """
        boto3==1.35.16 click==8.1.8 ImageHash==4.3.1 numpy==1.26.4 packaging==24.2 pandas==2.2.2 pillow==10.4.0
        PyYAML==6.0.2 redis==5.1.1 requests==2.32.3 torch==2.2.2 torchaudio==2.2.2 torchvision==0.17.2""",
    "Qwen2-Audio, demo": "gradio==4.31.3 modelscope-studio transformers librosa",
    "Audio Flamingo 3": """
        accelerate==0.34.2 av==14.2.0 click==8.1.8 datasets==2.16.1 dill==0.3.7 fsspec==2023.10.0 gradio==3.35.2
        httpcore==0.16.3 httpx==0.23.3 huggingface-hub==0.30.1 jsonschema==4.23.0 librosa==0.11.0 numba==0.61.0
        numpy==1.26.4 openai==1.8.0 pandas==2.2.3 peft==0.15.1 protobuf==3.20.0 pyarrow==19.0.1 pydantic==2.11.1
        pydantic_core==2.33.0 PyYAML==6.0.2 RapidFuzz==3.12.2 referencing==0.36.2 scikit-learn==1.2.2 scipy==1.15.2
        soundfile==0.13.1 tokenizers==0.20.3 torch==2.6.0 transformers==4.46.0 typing_extensions==4.13.0 tyro==0.9.18""",
    "lmms-eval 0.2.4": """
        black==24.1.0 isort==5.13.2 datasets==2.16.1 httpx==0.23.3 numpy==1.26.4 sqlitedict==2.1.0 sentencepiece==0.1.99
        tenacity==8.3.0 protobuf==3.20 transformers>=4.39.2 evaluate>=0.4.0 peft>=0.2.0 openai av pydantic""",
    "lmms-eval 0.6.0": "lmms_eval==0.6.0",
    # numpy: the code of these two uses what numpy 2 has dropped
    "DCASE 2023, baseline": "torch==2.0.1 numpy<2 scipy librosa pandas scikit-learn matplotlib IPython",
    "DCASE 2024, baseline": "torch==2.2.1 torchvision numpy<2 scipy librosa pandas scikit-learn matplotlib IPython",
    "DCASE 2025, baseline": "torch torchvision numpy scipy librosa pandas",
    "DCASE 2026, baseline": """
        torch torchvision torchaudio numpy scipy soundfile librosa scikit-image scikit-learn Pillow tqdm pycocotools
        astropy matplotlib basemap""",
    "transformers 4.57": "transformers==4.57.1",
    "transformers 4.51": "transformers==4.51.3",
    "numpy and pandas before": "numpy<2 pandas<3",
    "datasets 2.21": "datasets==2.21.0",
    "lhotse": "lhotse",
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


@pytest.mark.slow
def test_what_does_not_go_together_is_noticed() -> None:
    """Else the tests above could not fail."""
    assert resolved(wanted="numpy<1.20").returncode == 1
