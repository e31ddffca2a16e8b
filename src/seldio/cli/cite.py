"""``seldio cite``."""

from __future__ import annotations

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_datasets
from seldio.errors import ExitCode


@guarded
def cite(
    names: list[str] | None = typer.Argument(
        None, metavar="NAME", autocompletion=complete_datasets,
        help="Datasets and benchmarks, such as starss23; without a name, list them.",
    ),
) -> ExitCode:  # fmt: skip
    """Print how to cite datasets and benchmarks, as BibTeX."""
    from seldio import api
    from seldio.formats import about

    if not names:
        width = max(len(known.name) for known in about.every())
        for known in about.every():
            typer.echo(f"{known.name:<{width}}  {known.title}")
        return ExitCode.CLEAN
    typer.echo(api.cite(*names))
    return ExitCode.CLEAN
