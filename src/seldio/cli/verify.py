"""``seldio verify``."""

from __future__ import annotations

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import FIELDS, REFERENCE_FIELDS, format_option
from seldio.errors import ExitCode


@guarded
def verify(
    signature: str = typer.Argument(metavar="SIGNATURE", help="Signature line of a report: 'seldio 0.2.0|so-bench|…'."),
    predictions: str = typer.Argument(metavar="PREDICTIONS", help="Labels or answers, in any format."),
    reference: str | None = typer.Argument(None, metavar="[REFERENCE]", help="The labels or questions."),
    format: str | None = format_option("Format of the predictions; detected by default.", "--format", "-f"),
    fields: str | None = FIELDS,
    reference_fields: str | None = REFERENCE_FIELDS,
    reference_format: str | None = format_option("Format of the reference; detected by default.", "--reference-format"),
    settings: str = typer.Option(
        "", metavar="NAME=VALUE,…", help="Non-default options of the score: angle=30,allow_missing."
    ),
    judge: str | None = typer.Option(None, metavar="MODEL", help="The language model that judged."),
    judge_url: str | None = typer.Option(None, metavar="URL", help="Its server."),
    judgements: str | None = typer.Option(None, metavar="FILE", help="Judgements from an external judge."),
) -> ExitCode:
    """Check that predictions, reference, settings and judge are those in the signature of a score.

    Exit code 0 if they are, 1 if something differs.
    """
    from seldio import api

    found = api.verify(
        signature, predictions, reference, format=format, fields=fields, reference_format=reference_format,
        settings=settings, judge=judge, judge_url=judge_url, judgements=judgements, reference_fields=reference_fields,
    )  # fmt: skip
    typer.echo("\n".join(found) or "the same version, settings, judge, reference and predictions")
    return ExitCode.FINDINGS if found else ExitCode.CLEAN
