"""The command line, run in this process."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from seldio.cli import app


def invoke(*words: object, **how: Any) -> Any:
    """What a command gives: ``exit_code``, ``stdout``, ``stderr``, and both as ``output``."""
    return CliRunner().invoke(app, [str(word) for word in words], **how)
