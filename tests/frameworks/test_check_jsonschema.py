"""The JSON Schemas as the program that people know takes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_check_jsonschema_says_the_same(tmp_path: Path) -> None:
    """As in ``check-jsonschema --schemafile schemas/ruenvaqa.schema.json FILE``."""
    schema = ROOT / "schemas" / "ruenvaqa.schema.json"
    for name, code in (("good", 0), ("bad-source", 1), ("bad-knowledge", 1)):
        command = [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--schemafile",
            schema,
            ROOT / f"tests/cases/rules/QAI126/{name}.json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == code, done.stdout
