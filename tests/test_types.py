"""What type checkers know of the public names, in a program of somebody who uses them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

#: Expressions and their types, as mypy spells them without modules.
KNOWN = {
    'seldio.read("x")': "Table", 'seldio.read("x").to_pandas()': "DataFrame",
    'seldio.windows("x")[0]': "dict[str, Any]", 'next(iter(seldio.windows("x").stream()))': "Any",
    'seldio.open("x").events["mix001"]': "Table", 'seldio.open("x").items[0]': "Item",
    'seldio.validate("x")': "Validation", 'seldio.validate("x").findings[0].line': "int | None",
    'seldio.score("x", "y")': "ScoreReport", 'seldio.diff("x", "y").same': "bool",
    'seldio.convert("x", "y", "starss22")': "Conversion", 'seldio.info("x")': "Description",
    'seldio.write(seldio.read("x"), "y", "starss22")': "tuple[str, ...]",
    'seldio.to_events(seldio.read("x"))': "Iterator[Event]", 'seldio.decode([], seldio.windows("x"))': "Table",
    'seldio.view("x")': "Page", 'seldio.export("x", "y")': "Manifest", 'seldio.push("x", "y")': "Pushed",
}  # fmt: skip


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
