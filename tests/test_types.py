"""What type checkers know of the public names, in a program of somebody who uses them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

#: Expressions and their types, as mypy spells them without modules.
KNOWN = {
    'seldio.read("x")': "Table",
    'seldio.read("x").num_rows': "int",
    'seldio.read("x").to_pandas()': "DataFrame",
    'seldio.windows("x")[0]': "dict[str, Any]",
    'seldio.windows("x")[:2]': "list[dict[str, Any]]",
    'next(iter(seldio.windows("x").stream()))': "Any",
    'seldio.open("x").clips': "Table",
    'seldio.open("x").events["mix001"]': "Table",
    'seldio.open("x").items[0]': "Item",
    'seldio.validate("x")': "Validation",
    'seldio.validate(b"")': "Validation",
    'seldio.validate("x").findings[0].line': "int | None",
    'seldio.score("x", "y")': "ScoreReport",
    'seldio.score("x", "y").to_pandas()': "DataFrame",
    'seldio.compare(["x"], "y")': "ScoreReport",
    'seldio.rank("x")': "ScoreReport",
    'seldio.diff("x", "y").same': "bool",
    'seldio.convert("x", "y", "starss22")': "Conversion",
    'seldio.info("x")': "Description",
    'seldio.catalogue("x")': "Catalogue",
    'seldio.verify("x", "y")': "list[str]",
    'seldio.write(seldio.read("x"), "y", "starss22")': "tuple[str, ...]",
    'len(seldio.spans(seldio.read("x")))': "int",
    'seldio.to_pandas(seldio.read("x"))': "DataFrame",
    'seldio.to_events(seldio.read("x"))': "Iterator[Event]",
    "seldio.from_events([])": "Table",
    'seldio.decode([], seldio.windows("x"))': "Table",
    'seldio.view("x")': "Page",
    'seldio.plot("x")': "Plotted",
    'seldio.export("x", "y")': "Manifest",
    'seldio.push("x", "y")': "Pushed",
    'seldio.pull("x")': "Pulled",
    "seldio.SeldAccumulator()": "SeldAccumulator",
    "seldio.__version__": "str",
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("import seldio\n" + "".join(f"reveal_type({each})\n" for each in KNOWN))
    return path


def plain(kind: str) -> str:
    """A type without modules and what only one checker writes."""
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", kind).replace("builtins.", "")


@pytest.mark.slow
def test_mypy_knows_what_functions_return(program: Path) -> None:
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", program.parent / "cache", program],
        capture_output=True, text=True, check=False, cwd=program.parent,
    )  # fmt: skip

    assert "error:" not in done.stdout, done.stdout
    found = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert list(zip(KNOWN, KNOWN.values(), strict=True)) == list(zip(KNOWN, map(plain, found), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_knows_them_in_strict_mode(program: Path) -> None:
    (program.parent / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, program],
        capture_output=True, text=True, check=False, cwd=program.parent,
    )  # fmt: skip
    told = json.loads(done.stdout)["generalDiagnostics"]

    assert [] == [one["message"] for one in told if one["severity"] == "error"]
    found = [plain(match[1]) for one in told if (match := re.search(r' is "(.*)"$', one["message"]))]
    assert list(KNOWN.values()) == found
