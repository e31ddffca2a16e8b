"""What the Hugging Face Space does with files, without Gradio; tests/browser has the Space itself."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

SPACE = Path(__file__).parents[1] / "examples/space"
GOOD = "".join(f"{frame},1,1,-50,30,200\n" for frame in range(40))


@pytest.fixture(scope="module")
def checks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("space_checks", SPACE / "checks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["space_checks"] = module
    spec.loader.exec_module(module)
    return module


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_zip_gives_a_report_and_its_clips(checks: ModuleType, tmp_path: Path) -> None:
    archive = tmp_path / "labels.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("fold3_room4_mix001.csv", GOOD)
        file.writestr("fold3_room4_mix002.csv", GOOD.replace("7,1,1", "7,77,1", 1))

    found = checks.check([str(archive)], "starss23")

    assert "1 error in 2 files" in found.verdict
    assert "LAB102" in found.report
    assert "labels.zip!/fold3_room4_mix002.csv" in found.report
    assert str(tmp_path) not in found.report
    assert ["report.html", "report.sarif", "findings.csv"] == [Path(path).name for path in found.files]
    assert all(Path(path).stat().st_size for path in found.files)
    assert ["fold3_room4_mix001", "fold3_room4_mix002"] == found.clips
    assert "fold3_room4_mix002" in checks.page([str(archive)], found.clips[1])


def test_several_files_are_checked_together(checks: ModuleType, tmp_path: Path) -> None:
    one = write(tmp_path / "fold3_room4_mix001.csv", GOOD)
    (tmp_path / "other").mkdir()
    two = write(tmp_path / "other/fold3_room4_mix002.csv", GOOD.replace("-50", "-60"))

    found = checks.check([one, two], "starss23")

    assert "Clean: 2 files" in found.verdict
    assert "/tmp" not in found.report
    assert ["fold3_room4_mix001", "fold3_room4_mix002"] == found.clips


def test_a_single_file_has_its_page(checks: ModuleType, tmp_path: Path) -> None:
    path = write(tmp_path / "fold3_room4_mix001.csv", GOOD)

    found = checks.check([path], "starss23")

    assert ["fold3_room4_mix001"] == found.clips
    assert "fold3_room4_mix001" in checks.page([path], "fold3_room4_mix001")


def test_questions_have_a_report_and_no_clips(checks: ModuleType, tmp_path: Path) -> None:
    item = '{"id": "a", "audio": ["a.wav"], "question": "What?", "answer": "A dog.", "task": "detect_source"}\n'

    found = checks.check([write(tmp_path / "qa.jsonl", item)])

    assert found.verdict.startswith("###")
    assert [] == found.clips


def test_the_example_has_mistakes_of_several_kinds(checks: ModuleType) -> None:
    found = checks.check([checks.example()])

    assert "errors in 4 files" in found.verdict
    assert 4 == len(found.clips)
    assert 3 <= sum(code in found.report for code in ("LAB102", "LAB201", "SYN108", "LAB303"))


def test_a_document_cannot_leave_its_frame(checks: ModuleType) -> None:
    frame = checks.framed('<p title="x">\'${1}{{x}}</p></iframe><script>', 100)

    assert 1 == frame.count("</iframe>")
    assert "<script>" not in frame
    assert not set("${") & set(frame)  # Gradio would fill them in
    assert "allow-same-origin" not in frame


def test_the_head_of_the_page_is_what_the_hub_expects() -> None:
    _, head, _ = (SPACE / "README.md").read_text("utf-8").split("---\n", 2)
    settings = yaml.safe_load(head)

    assert "gradio" == settings["sdk"]
    assert (SPACE / settings["app_file"]).exists()
    assert settings["colorFrom"] in {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert len(settings["short_description"]) <= 60
    requirements = (SPACE / "requirements.txt").read_text("utf-8").splitlines()
    assert {"gradio", "seldio"} == {line.split(">")[0].split(" @")[0] for line in requirements}
