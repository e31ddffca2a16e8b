"""Options that several commands have, and what a shell offers for them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seldio.errors import UsageError

if TYPE_CHECKING:
    from seldio.reports import Options as ReportOptions
    from seldio.reports import Subject


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


def format_option(help: str, *names: str) -> Any:
    """An option that takes the name of a format."""
    return typer.Option(None, *names, help=help, autocompletion=complete_formats)


def print_json(value: object) -> None:
    """Print what a command did or knows as JSON."""
    from seldio.text import json_text

    typer.echo(json_text(value, indent=2))


def write_report(subject: Subject, output: str, options: ReportOptions, out: Path | None) -> None:
    """Write findings or scores to a file, or print them."""
    from seldio.files import atomic_write
    from seldio.reports import render, write

    if out is None:
        write(subject, sys.stdout, output, options)
        return
    with atomic_write(out) as stream:
        for piece in render(subject, output, options):
            stream.write(piece.encode("utf-8", "backslashreplace"))


def named_numbers(values: list[str], option: str, example: str) -> dict[str, float]:
    """The values of an option that is repeated as NAME=NUMBER.

    Raises:
        UsageError: one is written otherwise.
    """
    found = {}
    for item in values:
        name, _, value = item.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise UsageError(f"{option} {item}: write NAME=NUMBER, as in {example}") from None
    return found


# --- what a shell offers when the tab key is pressed; loaded then ---------------------------------------------------

#: The schemas, which are loaded with much else; a test sees that these are all.
SCHEMA_NAMES = ("clip", "event", "item", "prediction", "report")


def complete_formats(incomplete: str) -> Iterator[tuple[str, str]]:
    """The formats of labels and of questions that begin so, with their titles."""
    from seldio.formats import FORMATS

    for format in FORMATS:
        yield from ((name, format.title) for name in (format.name, *format.aliases) if name.startswith(incomplete))


def complete_targets(incomplete: str) -> Iterator[tuple[str, str]]:
    """What can be converted to: formats, arrays and ways to store a data set."""
    from seldio.conversion.dispatch import STORED

    yield from complete_formats(incomplete)
    yield from ((name, "recordings of the other array") for name in ("foa", "mic") if name.startswith(incomplete))
    yield from ((name, "a data set as a whole") for name in STORED if name.startswith(incomplete))


def complete_outputs(incomplete: str, kind: str, *more: str) -> list[str]:
    """The outputs for ``findings`` or ``scores``, and *more*, that begin so."""
    from seldio.reports import outputs

    return [name for name in (*outputs(kind), *more) if name.startswith(incomplete)]


def complete_profiles(incomplete: str) -> Iterator[tuple[str, str]]:
    """The ways of scoring that begin so, with their titles."""
    from seldio.check.description import profile_titles

    yield from (pair for pair in profile_titles() if pair[0].startswith(incomplete))


def complete_rules(incomplete: str) -> Iterator[tuple[str, str]]:
    """The rules whose code or name begins so, with their summaries."""
    from seldio.rules import CATALOGUE

    yield from complete_codes(incomplete)
    for rule in CATALOGUE.values():
        if incomplete and rule.name.startswith(incomplete.lower()):
            yield rule.name, rule.summary


def complete_codes(incomplete: str) -> Iterator[tuple[str, str]]:
    """The codes of rules that begin so, behind the last comma, with their summaries."""
    from seldio.rules import CATALOGUE

    before, comma, last = incomplete.rpartition(",")
    for rule in CATALOGUE.values():
        if rule.code.startswith(last.upper()):
            yield f"{before}{comma}{rule.code}", rule.summary


def complete_schemas(incomplete: str) -> list[str]:
    """The schemas that begin so."""
    return [name for name in SCHEMA_NAMES if name.startswith(incomplete)]
