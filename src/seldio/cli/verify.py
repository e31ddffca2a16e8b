"""``seldio verify``."""

from __future__ import annotations

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import FIELDS, format_option
from seldio.errors import ExitCode


@guarded
def verify(
    signature: str = typer.Argument(metavar="SIGNATURE", help="The line of a report: 'seldio 0.2.0|so-bench|…'."),
    predictions: str = typer.Argument(metavar="PREDICTIONS", help="The answers, in any format."),
    reference: str | None = typer.Argument(None, metavar="[QUESTIONS]", help="The questions with their answers."),
    format: str | None = format_option("Format of the predictions; detected by default.", "--format", "-f"),
    fields: str | None = FIELDS,
) -> ExitCode:
    """Tell whether answers and questions are those that the signature of a score names.

    Exit code 0 if they are, 1 if something differs.
    """
    from seldio import api
    from seldio.scores.signatures import Signature

    found = api.verify(signature, predictions, reference, format=format, fields=fields)
    typer.echo("\n".join(found) or "the same version, questions and predictions")
    if rest := Signature.parsed(signature).uncompared:
        typer.echo(f"not compared: {rest}")
    return ExitCode.FINDINGS if found else ExitCode.CLEAN
