"""``seldio push`` and ``seldio pull``."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from seldio import hub
from seldio.cli.declared import verb
from seldio.cli.printing import print_json
from seldio.errors import ExitCode
from seldio.findings import capped
from seldio.hub.repository import quiet
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.hub import Pushed

#: Up to this many files are shown one by one; --json lists each.
_SHOWN = 40
_MARKS = {"new": "+", "changed": "~", "same": "=", "unknown": "?"}


@verb(hub.push, source="SOURCE")
def push(given: dict[str, Any], json: bool = False) -> ExitCode:
    """Print what was uploaded."""
    if json or not sys.stderr.isatty():
        quiet()
    pushed = hub.push(**given)
    if json:
        fields = {field.name: getattr(pushed, field.name) for field in dataclasses.fields(pushed)}
        files = [dataclasses.asdict(file) for file in pushed.files]
        print_json(fields | {"files": files, "refused": pushed.refused, "report": pushed.report.as_dict()})
    else:
        for line in _push_lines(pushed, given["dry_run"]):
            typer.echo(line)
    return ExitCode.FINDINGS if pushed.refused else ExitCode.CLEAN


def _push_lines(pushed: Pushed, dry_run: bool) -> Iterator[str]:
    shown, more = capped(pushed.report, 10)
    for finding in shown:
        hint = f" ({finding.hint})" if finding.hint else ""
        yield printable(f"{finding.severity.value}  {finding}{hint}")
    yield from (f"and {count:,} more of {code}" for code, count in more.items())
    if pushed.refused:
        yield "Nothing was uploaded. seldio rule CODE explains each finding."
        return
    states = pushed.states()
    size = sum(file.size for file in pushed.files if file.state != "same")
    counts = f"{states['new']:,} new, {states['changed']:,} changed, {states['same']:,} the same"
    if pushed.unreachable is not None:
        counts = f"{plural(len(pushed.files), 'file')} not compared with the Hub"
    gone = f", {len(pushed.removed):,} to be removed" if pushed.removed else ""
    yield f"{pushed.repo}: {counts}{gone}; {size / 1e6:,.1f} MB to upload"
    lines = [f"  {_MARKS[file.state]} {file.size:>14,}  {printable(file.name)}" for file in pushed.files]
    lines += [f"  - {'':>14}  {printable(name)}" for name in pushed.removed]
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"  and {plural(len(lines) - _SHOWN, 'more file')} (--json lists each one)"
    if pushed.removed:
        yield "Removed from the Hub (-): files of an earlier export by seldio that are no longer part of it"
    if pushed.left_out:
        yield f"Not uploaded: {plural(len(pushed.left_out), 'name')}: {listed(pushed.left_out)}"
    if pushed.kept:
        yield f"Kept on the Hub though not in the source: {plural(len(pushed.kept), 'file')}: {listed(pushed.kept)}"
    if pushed.data:
        by_rule = ", ".join(f"{code} {count:,}" for code, count in pushed.data.items())
        yield f"Findings in the data: {by_rule}. seldio validate shows where."
    if dry_run:
        yield from ("", "The card:", "", *(f"  {printable(line)}" for line in pushed.card.splitlines()), "")
        if pushed.unreachable is not None:
            yield f"Not compared with the Hub: {printable(pushed.unreachable)}."
        yield "Nothing was uploaded: this was a dry run."
    elif pushed.commit is not None:
        yield f"Uploaded, commit {pushed.commit[:12]}: {pushed.url}"
    else:
        yield f"Nothing to upload, everything is up to date: {pushed.url}"


@verb(hub.pull, address="REPO")
def pull(given: dict[str, Any], json: bool = False) -> ExitCode:
    """Print what was downloaded."""
    if json or not sys.stderr.isatty():
        quiet()
    pulled = hub.pull(**given)
    if json:
        print_json(dataclasses.asdict(pulled))
    else:
        same = f", {pulled.same:,} unchanged" if pulled.same else ""
        typer.echo(
            f"{pulled.repo} at {pulled.commit[:12]}: {plural(len(pulled.fetched), 'file')} downloaded{same}; "
            f"{pulled.size / 1e6:,.1f} MB in {printable(pulled.folder)}"
        )
    return ExitCode.CLEAN
