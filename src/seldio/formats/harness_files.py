"""The files that lmms-eval and UltraEval-Audio want in addition to questions: YAML, and functions in Python.

They are templates (``harness_files.toml``); what they write about a task is its name alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from importlib.resources import files


@cache
def _templates() -> dict[str, dict[str, str]]:
    """The files of each harness, by name."""
    return tomllib.loads(files(__package__ or "").joinpath("harness_files.toml").read_text("utf-8"))


def task_name(folder: str) -> str:
    """The name of a task, from that of its folder; it is none that the harness has already, and has only letters."""
    return "seldio_" + (re.sub(r"\W+", "_", folder, flags=re.ASCII).strip("_") or "questions")


def lmms_eval_files(folder: str) -> dict[str, str]:
    """The files of a task of lmms-eval, by name, for a folder with this name."""
    name, wanted = task_name(folder), _templates()["lmms-eval"]
    reading = files(__package__ or "").joinpath("harness_answers.py").read_text("utf-8")
    return {f"{name}.yaml": wanted["yaml"].format(name=name), "utils.py": reading + wanted["functions"]}


def ultraeval_files(folder: str) -> dict[str, str]:
    """The registry of a dataset of UltraEval-Audio, by name, for a folder with this name."""
    name, asked = task_name(folder), json.dumps(_templates()["ultraeval-question"]["text"])
    registry = _templates()["ultraeval"]
    return {f"registry/{kind}/{name}.yaml": text.format(name=name, text=asked) for kind, text in registry.items()}
