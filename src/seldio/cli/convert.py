"""``seldio convert``."""

from __future__ import annotations

import typer

from seldio.cli.guard import guarded
from seldio.errors import ExitCode


@guarded
def command(source: str = typer.Argument()) -> ExitCode:
    """Convert."""
    return ExitCode.CLEAN
