"""The reference, made from the code: a module for each kind of page, and what they share."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MADE = "<!-- made from the code by docs/generate.py -->"
sys.path.append(str(ROOT / "tests"))  # what runs the pages also runs the commands that the reference shows


def sentence(text: str) -> str:
    """*text* with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def cell(text: object) -> str:
    """*text* in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|").replace("``", "`")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """A table, and an empty line after it; nothing without rows."""
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(map(cell, row))} |" for row in lines), ""]


def code(text: str, kind: str = "text") -> list[str]:
    """*text* in a fence that is longer than any inside, and an empty line after it."""
    longest = max((len(found) for found in re.findall(r"^`{3,}", text, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{kind}", *text.rstrip("\n").split("\n"), fence, ""]


def page(title: str, *lines: str, orphan: bool = False) -> str:
    """A page with its title; an *orphan* is in no table of contents."""
    head = ["---", "orphan: true", "---", ""] if orphan else []
    body, fence = [], ""
    for line in "\n".join([*head, MADE, "", f"# {title}", "", *lines]).split("\n"):
        if match := re.match(r"`{3,}", line):
            fence = match[0] if not fence else "" if line == fence else fence
        if line or fence or body[-1]:  # one empty line between two blocks
            body.append(line)
    return "\n".join(body).rstrip("\n") + "\n"


def facts(*pairs: tuple[str, str]) -> list[str]:
    """A list of what is known in a word or two, without what is empty, and an empty line after it."""
    return [*(f"- **{name}:** {cell(value)}" for name, value in pairs if value), ""]


def run(*commands: str) -> str:
    """Run commands of seldio in the current folder, and return what they print as a console shows it."""
    import shlex

    from pages import in_process

    shown = ""
    for command in commands:
        printed, exit_code = in_process(shlex.split(command)[1:])
        assert exit_code in (0, 1), f"{command}: exit code {exit_code}\n{printed}"
        shown += f"$ {command}\n{printed}"
    return shown


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """An empty folder that is the current one."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def excerpt(text: str, around: int | None = None, most: int = 8, width: int = 110) -> str:
    """A few lines of a file, those *around* a line (from 1); ``…`` stands for the others."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    first = max(0, min((around or 1) - 1 - most // 2, len(lines) - most))
    shown = [line if len(line) <= width else f"{line[: width - 1]}…" for line in lines[first : first + most]]
    return "\n".join(["…"] * (first > 0) + shown + ["…"] * (first + most < len(lines)))
