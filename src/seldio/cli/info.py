"""``seldio info``, ``seldio formats`` and ``seldio schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import SCHEMA_NAMES, complete_formats, complete_schemas
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seldio.formats import Format
    from seldio.formats.items import ItemFormat


def _print_json(value: object) -> None:
    from seldio.text import json_text

    typer.echo(json_text(value, indent=2))


@guarded
def command(
    path: str = typer.Argument(help="A file, folder, archive, or - for standard input."),
    format: str | None = typer.Option(
        None, "--format", "-f", help="The layout; found from the content if not given.", autocompletion=complete_formats
    ),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """What is here: layout and why; clips, events and classes; questions and answers; the levels of a recording."""
    from seldio.info import as_text, describe

    description = describe(path, format)
    _print_json(description) if json else typer.echo(as_text(description))
    return ExitCode.CLEAN


@guarded
def formats(
    name: str | None = typer.Argument(None, help="One format, by name or alias.", autocompletion=complete_formats),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """List the formats, or explain one: columns, units, what it carries and what it cannot."""
    from seldio.formats import FORMATS, get, item_formats
    from seldio.info import format_page, format_record

    asked = item_formats.named(name) or get(name) if name else None
    chosen: list[Format | ItemFormat] = [*FORMATS, *item_formats.ITEM_FORMATS] if asked is None else [asked]
    if json:
        _print_json([format_record(format) for format in chosen])
    elif asked is not None:
        typer.echo(format_page(asked))
    else:
        width = max(len(format.name) for format in chosen)
        for format in chosen:
            typer.echo(f"{format.name:<{width}}  {format.title}")
    return ExitCode.CLEAN


@guarded
def schema(
    name: str | None = typer.Argument(
        None, help=f"{', '.join(SCHEMA_NAMES[:-1])} or {SCHEMA_NAMES[-1]}; without a name, the list.",
        autocompletion=complete_schemas,
    ),
) -> ExitCode:  # fmt: skip
    """Print a JSON Schema (2020-12)."""
    from seldio.schemas import SCHEMAS

    if name is None:
        for known in SCHEMAS:
            typer.echo(known)
    elif name not in SCHEMAS:
        raise UsageError(f"no schema {name!r}; there are {', '.join(SCHEMAS)}")
    else:
        _print_json(SCHEMAS[name]())
    return ExitCode.CLEAN
