"""What people read is plain English: no text of the package holds a turn of phrase that ``docs/phrases.toml`` lists."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PHRASES = tomllib.loads((ROOT / "docs/phrases.toml").read_text("utf-8"))["phrase"]
#: Texts that are patterns to look for in the answers of models, or words of other people's files.
OTHERS = ("src/seldio/answers/",)


@cache
def texts() -> list[tuple[str, str]]:
    """Every text that somebody reads, with its place: strings and docstrings of the package, and all pages."""
    found = []
    for path in sorted((ROOT / "src/seldio").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(OTHERS):
            found += [(f"{name}:{line}", text) for line, text in _strings(ast.parse(path.read_text("utf-8")))]
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.md"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]
    for page in sorted(pages):
        if not {"_build", "reference"} & {*page.parts}:  # both are made from the rest
            lines = page.read_text("utf-8").splitlines()
            found += [(f"{page.relative_to(ROOT)}:{number}", line) for number, line in enumerate(lines, 1)]
    return found


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of a module; what an f-string fills in is ``{}``."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            values = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, " ".join("".join(str(value) for value in values).split())
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.lineno, " ".join(node.value.split())


def test_there_is_something_to_read() -> None:
    places = {place.split(":")[0] for place, _ in texts()}

    assert len(texts()) > 5000
    assert {"src/seldio/cli/score.py", "README.md", "docs/index.md", "src/seldio/rules/pages/SYN101.md"} <= places


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase["say"][:40])
def test_no_text_holds_the_phrase(phrase: dict[str, str]) -> None:
    pattern = re.compile(phrase["find"], re.IGNORECASE)

    held = [f"{place}: {text[:160]}" for place, text in texts() if pattern.search(text)]

    assert [] == held, f"say: {phrase['say']}"
