"""The command line, run in this process, and what it leaves."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from seldio.cli import app


def invoke(*words: object, **how: Any) -> Any:
    """What a command gives: ``exit_code``, ``stdout``, ``stderr``, and both as ``output``."""
    return CliRunner().invoke(app, [str(word) for word in words], **how)


def laid(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write *files* by their place in *folder*, which is returned."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files by their place in *folder*."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def shown_contents(folder: Path) -> dict[str, bytes]:
    """Return the files that are neither hidden nor in a hidden folder."""
    return {name: data for name, data in contents(folder).items() if "/." not in f"/{name}"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def json_lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def records_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def noticed(report: Any) -> dict[str, Any]:
    return {notice.name: notice for notice in report.notices}


def rows_of(report: Any, table: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a table of scores by their first cell."""
    columns = [column.name for column in report.table(table).columns]
    return {str(row[0]): dict(zip(columns, row, strict=True)) for row in report.table(table)}
