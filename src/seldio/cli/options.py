"""Options that several commands have: where long work runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import typer


class Engine(StrEnum):
    """Where work runs."""

    LOCAL = "local"
    RAY = "ray"


_PANEL = "Long work"
WORKERS: Any = typer.Option(
    None, "--workers", help="Processes; the results do not depend on their number.", rich_help_panel=_PANEL
)
ENGINE: Any = typer.Option(
    Engine.LOCAL, "--engine", help="local processes, or a ray cluster (RAY_ADDRESS).", rich_help_panel=_PANEL
)
RESUME: Any = typer.Option(
    None, "--resume", metavar="FOLDER", rich_help_panel=_PANEL,
    help="Keep finished parts in this folder: the same command goes on from there.",
)  # fmt: skip
