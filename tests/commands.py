"""The command line, run in this process, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from seldio.cli import app


def invoke(*words: object, **how: Any) -> Any:
    """What a command gives: ``exit_code``, ``stdout``, ``stderr``, and both as ``output``."""
    return CliRunner().invoke(app, [str(word) for word in words], **how)


def write_files(top: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their place below *top*, which is returned."""
    for name, content in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return top


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files by their place in *folder*."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def shown_contents(folder: Path) -> dict[str, bytes]:
    """Return the files that are neither hidden nor in a hidden folder."""
    return {name: data for name, data in contents(folder).items() if "/." not in f"/{name}"}
