"""The GitHub Action: its steps run here on a repository with planted faults."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
CHECK = ACTION["runs"]["steps"][-1]
CLEAN = "".join(f"{frame},1,1,-50,30,{200 + frame}\n" for frame in range(40))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    folder = root / "metadata_dev/dev-train-tau"
    folder.mkdir(parents=True)
    (folder / "fold3_room4_mix001.csv").write_text(CLEAN)
    (folder / "fold3_room4_mix002.csv").write_text(CLEAN.replace("7,1,1,", "7,77,1,", 1))
    (folder / "fold3_room4_mix003.csv").write_text(CLEAN.replace("9,1,1,-50", "9,1,1,270", 1))
    return root


def run(root: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the step that checks as GitHub does; its log, its outputs and the summary of the job."""
    given = {name: spec["default"] for name, spec in ACTION["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    said, summary = root.parent / "output", root.parent / "summary"
    environment = {
        **os.environ,
        **{name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")] for name, value in CHECK["env"].items()},
        "SELDIO_PYTHON": sys.executable,
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(said),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(root.parent),
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", CHECK["run"]], cwd=root, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    outputs = dict(line.split("=", 1) for line in said.read_text().splitlines())
    return done, outputs, summary.read_text() if summary.exists() else ""


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"args": '--select "LAB'}, "args: No closing quotation"),
        ({"sarif": "a\nexit-code=0"}, "sarif: the name of one"),
    ],
)
def test_inputs_that_make_no_sense_are_wrong_usage(repository: Path, inputs: dict[str, str], said: str) -> None:
    done, outputs, _ = run(repository, **inputs)
    assert (2, {"exit-code": "2"}, "") == (done.returncode, outputs, done.stderr)
    assert done.stdout.startswith(f"::error title=seldio::{said}")


def test_planted_faults_become_annotations_sarif_and_a_summary(repository: Path) -> None:
    done, outputs, summary = run(repository, path="metadata_dev\n", args="--select LAB")

    assert 1 == done.returncode, done.stderr
    folder = "metadata_dev/dev-train-tau"
    assert [line.split("::")[1] for line in done.stdout.splitlines()] == [
        f"error file={folder}/fold3_room4_mix002.csv,line=8,col=3,endColumn=5,title=LAB102",
        f"error file={folder}/fold3_room4_mix003.csv,line=10,col=7,endColumn=10,title=LAB103",
    ]
    assert {"exit-code": "1", "sarif": "seldio.sarif"} == outputs
    results = json.loads((repository / "seldio.sarif").read_text())["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert [(result["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"])
            for result, place in zip(results, places, strict=True)] == [
        ("LAB102", f"{folder}/fold3_room4_mix002.csv", 8),
        ("LAB103", f"{folder}/fold3_room4_mix003.csv", 10),
    ]  # fmt: skip
    assert "LAB102" in summary
    assert "2 errors" in summary


def test_a_threshold_and_a_reference_decide_whether_the_step_fails(repository: Path) -> None:
    (repository / "seldio.toml").write_text('[severity]\nLAB = "warning"\n')
    given = {"path": "metadata_dev", "sarif": "", "summary": "false"}
    assert 0 == run(repository, **given)[0].returncode
    assert 1 == run(repository, **given, fail_on="warning")[0].returncode
    done, _, _ = run(repository, **given, reference="mix001..mix004", args="--select SUB")
    assert (1, True) == (done.returncode, "::error" in done.stdout)


def test_what_could_not_run_is_an_annotation(repository: Path) -> None:
    done, outputs, summary = run(repository, path="metadata_dev", args="--format nonsense")

    assert 2 == done.returncode
    assert done.stdout.startswith("::error title=seldio::seldio: ")
    assert ({"exit-code": "2"}, "") == (outputs, summary)


def test_the_workflow_of_the_page_uses_inputs_that_exist() -> None:
    text = (ROOT / "docs/howto/github-action.md").read_text("utf-8")
    steps = [
        step for block in text.split("```yaml\n")[1:] for step in workflow_steps(yaml.safe_load(block.split("```")[0]))
    ]
    ours = [step for step in steps if step.get("uses", "").startswith("seldio/seldio@")]

    assert ours
    assert [name for step in ours for name in step.get("with", {}) if name not in ACTION["inputs"]] == []


def workflow_steps(text: Any) -> list[dict[str, Any]]:
    return text if isinstance(text, list) else [step for job in text["jobs"].values() for step in job["steps"]]
