"""``seldio rule``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import complete_rules
from seldio.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from seldio.findings import Rule


@guarded
def command(
    code: str | None = typer.Argument(
        None,
        help="A code like LAB103 or the beginning of several, a name like radians, or a word of a title.",
        autocompletion=complete_rules,
    ),
    all_rules: bool = typer.Option(False, "--all", help="List all rules."),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """Explain a rule: what it checks, why it matters, an example, the fix, the reference."""
    from seldio.rules import CATALOGUE, find

    if code is None and not all_rules:
        raise UsageError("name a rule (seldio rule LAB103), or list all of them (seldio rule --all)")
    chosen = [CATALOGUE[code] for code in sorted(CATALOGUE)] if all_rules or code is None else find(code)
    if json:
        from seldio.text import json_text

        typer.echo(json_text([as_dict(rule) for rule in chosen], indent=2))
    elif len(chosen) == 1:
        typer.echo(page(chosen[0]))
    else:
        for rule in chosen:
            mark = {"none": "  ", "safe": "✓ ", "unsafe": "? "}[rule.fix]
            typer.echo(f"{rule.code}  {rule.severity.value:<7} {mark}{rule.summary}")
        typer.echo("\n✓ repaired by --fix   ? by --unsafe-fixes   seldio rule CODE explains one")
    return ExitCode.CLEAN


def as_dict(rule: Rule) -> dict[str, str]:
    """The rule's record for json."""
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "fix": rule.fix,
        "summary": rule.summary,
        "explanation": rule.explanation,
    }


def page(rule: Rule) -> str:
    """The rule's page as text."""
    fix = {"none": "by hand", "safe": "by seldio validate --fix", "unsafe": "by seldio validate --unsafe-fixes"}[
        rule.fix
    ]
    head = f"{rule.code}  {rule.name}  ({rule.severity.value}; repaired {fix})"
    return f"{head}\n\n{rule.summary}\n\n{rule.explanation}"
