"""``seldio package``."""

from __future__ import annotations

from pathlib import Path

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import (
    complete_fields,
    format_option,
    named_texts,
    print_json,
    taken,
    write_report,
)
from seldio.errors import ExitCode

_META, _CONVERTED = "Meta file", "Outputs in another format"


@guarded
def package(
    outputs: list[str] = typer.Argument(
        metavar="OUTPUTS", help="Outputs of one or more systems on the evaluation set: folders, files or archives."
    ),
    out: Path = typer.Option(..., "-o", metavar="ZIP", help="The zip to write."),
    year: int = typer.Option(..., "--year", metavar="YEAR", help="Year of the challenge."),
    label: list[str] = typer.Option(
        ...,
        "--label",
        metavar="LABEL",
        help="Label of the submission, such as Politis_TAU_task3a_1; for several systems one each, in their order.",
    ),
    reference: str | None = typer.Option(
        None,
        "--reference",
        "-r",
        metavar="REFERENCE",
        help="Clips of the evaluation set, as in validate: those without an output get an empty file.",
    ),
    technical_report: Path | None = typer.Option(
        None, "--technical-report", metavar="PDF", help="Technical report to pack."
    ),
    force: bool = typer.Option(
        False,
        "--force",
        help="Convert outputs even if seldio validate finds errors in them, and write a zip with errors.",
    ),
    json: bool = typer.Option(False, "--json", help="Print a JSON record of what was packed and found."),
    meta: list[str] = typer.Option(
        [],
        "--meta",
        metavar="FILE",
        rich_help_panel=_META,
        help="Meta file of each system, in their order, packed as it is; by default LABEL.meta.yaml next to the zip, "
        "which is created as a template if missing. May be repeated.",
    ),
    development: list[str] = typer.Option(
        [],
        "--development",
        metavar="OUTPUTS",
        rich_help_panel=_META,
        help="Outputs of each system on the development set, in their order, to score for the meta file. May be "
        "repeated.",
    ),
    development_reference: str | None = typer.Option(
        None,
        "--development-reference",
        metavar="PATH",
        help="Labels to score them against, such as metadata_dev:dev-test.",
        rich_help_panel=_META,
    ),
    format: str | None = format_option(
        "Format of the outputs; detected from their content by default.", "--format", "-f", panel=_CONVERTED
    ),
    allow_loss: str = typer.Option(
        "",
        metavar="FIELDS",
        help="Fields that may be lost, separated by commas, or 'all'.",
        show_default=False,
        autocompletion=complete_fields,
        rich_help_panel=_CONVERTED,
    ),
    fill: list[str] = typer.Option(
        [],
        metavar="FIELD=VALUE",
        help="Value for a field that the challenge asks for and OUTPUTS lack, as in convert. May be repeated.",
        rich_help_panel=_CONVERTED,
    ),
) -> ExitCode:
    """Pack outputs as the zip that DCASE Task 3 takes, with meta files, and check it before it is written."""
    from seldio import api
    from seldio.reports import Options
    from seldio.rules import CATALOGUE

    packed = api.package(**taken(api.package, locals(), fill=named_texts(fill, "--fill", "distance=2.5 (metres)")))
    if json:
        print_json(packed.as_dict())
    else:
        if packed.report.findings:
            write_report(packed.report, "text", Options(CATALOGUE), None)
            typer.echo()
        typer.echo(str(packed))
    return ExitCode.CLEAN if packed.complete else ExitCode.FINDINGS
