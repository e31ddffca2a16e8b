"""``seldio push`` and ``seldio pull``."""

from __future__ import annotations

import dataclasses
import sys
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import JSON, format_option, print_json
from seldio.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from seldio.hub import Pushed

#: Up to this many files are shown one by one; --json lists each.
_SHOWN = 40
_CARD = "Dataset card"
_MARKS = {"new": "+", "changed": "~", "same": "=", "unknown": "?"}


class As(StrEnum):
    """Ways to store data on the Hub."""

    FILES = "files"
    PARQUET = "parquet"
    AUDIOFOLDER = "audiofolder"


@guarded
def push(
    source: str = typer.Argument(metavar="SOURCE", help="A file, folder or archive."),
    repo: str = typer.Option(
        ..., "--repo", metavar="USER/NAME", help="Dataset repository; created if it does not exist."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Show what would be uploaded; change nothing. Works offline."
    ),
    private: bool = typer.Option(False, "--private", help="Make a new repository private."),
    kind: As = typer.Option(
        As.FILES,
        "--as",
        metavar="[files|parquet|audiofolder]",
        help="Storage: files as they are, Parquet, or an AudioFolder with metadata.jsonl.",
    ),
    format: str | None = format_option("Format of the labels, which determines their classes.", "--format"),
    revision: str = typer.Option("main", metavar="BRANCH", help="Branch to push to."),
    message: str | None = typer.Option(None, "-m", "--message", metavar="TEXT", help="Commit message."),
    include: list[str] = typer.Option(
        [], metavar="PATTERN", help="Also upload files that match; by default, only data. May be repeated."
    ),
    force: bool = typer.Option(False, "--force", help="Upload data even if seldio validate finds errors in it."),
    license: str | None = typer.Option(None, metavar="NAME", help="License: cc-by-4.0, mit, …", rich_help_panel=_CARD),
    language: list[str] = typer.Option(
        [], metavar="CODE", help="Language: en, ru, …; detected for questions. May be repeated.", rich_help_panel=_CARD
    ),
    title: str | None = typer.Option(None, metavar="TEXT", help="Title of the dataset.", rich_help_panel=_CARD),
    citation: str | None = typer.Option(None, metavar="FILE", help="A BibTeX file.", rich_help_panel=_CARD),
    json: bool = JSON,
) -> ExitCode:
    """Upload a dataset to the Hugging Face Hub with its card."""
    from seldio import hub
    from seldio.hub.repository import quiet

    if json or not sys.stderr.isatty():
        quiet()
    pushed = hub.push(
        source, repo, kind=kind.value, format=format, private=private, dry_run=dry_run, revision=revision,
        message=message, include=include, force=force, license=license, language=language, title=title,
        citation=citation,
    )  # fmt: skip
    if json:
        print_json(_record(pushed))
    else:
        for line in _push_lines(pushed, dry_run):
            typer.echo(line)
    return ExitCode.FINDINGS if pushed.refused else ExitCode.CLEAN


def _record(pushed: Pushed) -> dict[str, object]:
    """Return the record that --json prints."""
    fields = {field.name: getattr(pushed, field.name) for field in dataclasses.fields(pushed)}
    files = [dataclasses.asdict(file) for file in pushed.files]
    return fields | {"files": files, "refused": pushed.refused, "report": pushed.report.as_dict()}


def _push_lines(pushed: Pushed, dry_run: bool) -> Iterator[str]:
    """Say what was done, for people."""
    from seldio.findings import capped
    from seldio.text import listed, plural, printable

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


@guarded
def pull(
    address: str = typer.Argument(metavar="REPO", help="USER/NAME, or USER/NAME@REVISION (a branch, tag or commit)."),
    out: str | None = typer.Option(None, "-o", metavar="FOLDER", help="Where to save the files; ./NAME by default."),
    include: list[str] = typer.Option(
        [], metavar="PATTERN", help="Download only files that match; * also matches slashes. May be repeated."
    ),
    overwrite: bool = typer.Option(
        False, "--overwrite", help="Replace files in the folder that differ from those on the Hub."
    ),
    json: bool = JSON,
) -> ExitCode:
    """Download a dataset from the Hugging Face Hub as plain files; resumes if interrupted."""
    from seldio import hub
    from seldio.hub.repository import quiet
    from seldio.text import plural, printable

    if json or not sys.stderr.isatty():
        quiet()
    pulled = hub.pull(address, out, include, overwrite=overwrite)
    if json:
        print_json(dataclasses.asdict(pulled))
    else:
        same = f", {pulled.same:,} unchanged" if pulled.same else ""
        typer.echo(
            f"{pulled.repo} at {pulled.commit[:12]}: {plural(len(pulled.fetched), 'file')} downloaded{same}; "
            f"{pulled.size / 1e6:,.1f} MB in {printable(pulled.folder)}"
        )
    return ExitCode.CLEAN
