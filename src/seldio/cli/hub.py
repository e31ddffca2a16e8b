"""``seldio push`` and ``seldio pull``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import JSON, WORKERS, format_option, print_json, working
from seldio.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seldio.hub import Pushed
    from seldio.hub.pushing import PushPlan, PushStep

#: Up to this many files or folders are shown one by one; above it, files are counted by folder (--json lists each).
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
    staging: str | None = typer.Option(
        None,
        "--staging",
        metavar="FOLDER",
        help="Keep converted files in this folder; run the same command again to resume.",
    ),
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
    workers: str | None = WORKERS,
) -> ExitCode:
    """Upload a dataset to the Hugging Face Hub with its card and Croissant metadata; secrets are refused."""
    from seldio import hub
    from seldio.hub.client import quiet

    if json or not sys.stderr.isatty():
        quiet()
    with working(workers):
        pushed = hub.push(
            source, repo, kind=kind.value, format=format, private=private, dry_run=dry_run, staging=staging,
            revision=revision, message=message, include=include, force=force, license=license, language=language,
            title=title, citation=citation,
        )  # fmt: skip
    if json:
        print_json(_record(pushed))
    else:
        for line in _push_lines(pushed, dry_run):
            typer.echo(line)
    return ExitCode.FINDINGS if pushed.refused else ExitCode.CLEAN


def _record(pushed: Pushed) -> dict[str, object]:
    """The record that --json prints."""
    plan = pushed.plan
    files = [{"name": s.entry.name, "size": s.entry.size, "state": s.state} for s in plan.steps] if plan else None
    return {
        "repo": pushed.repo, "url": pushed.url, "refused": pushed.refused, "commits": list(pushed.commits),
        "files": files,
        "left_out": list(plan.left_out) if plan else None, "kept": list(plan.kept) if plan else None,
        "removed": list(plan.stale) if plan else None, "unreachable": plan.head.unseen if plan else None,
        "parent_commit": plan.head.commit if plan else None, "card": pushed.card, "data": pushed.data,
        "report": pushed.report.as_dict(),
    }  # fmt: skip


def _push_lines(pushed: Pushed, dry_run: bool) -> Iterator[str]:
    """What was done, for people."""
    from seldio.findings import capped
    from seldio.text import plural, printable

    shown, more = capped(pushed.report, 10)
    for finding in shown:
        hint = f" ({finding.hint})" if finding.hint else ""
        yield printable(f"{finding.severity.value}  {finding}{hint}")
    yield from (f"and {count:,} more of {code}" for code, count in more.items())
    if pushed.refused or pushed.plan is None:
        yield "Nothing was uploaded. seldio rule CODE explains each finding."
        return
    yield from _plan(pushed.plan)
    if pushed.data:
        found = ", ".join(f"{code} {count:,}" for code, count in pushed.data.items())
        yield f"Findings in the data: {found}. seldio validate shows where."
    if dry_run:
        yield from ("", "The card:", "", *(f"  {printable(line)}" for line in pushed.card.splitlines()), "")
        if pushed.plan.head.unseen is not None:
            yield f"Not compared with the Hub: {printable(pushed.plan.head.unseen)}."
        yield "Nothing was uploaded: this was a dry run."
    elif pushed.commits:
        yield f"Uploaded in {plural(len(pushed.commits), 'commit')}, the last {pushed.commits[-1][:12]}: {pushed.url}"
    else:
        yield f"Nothing to upload, everything is up to date: {pushed.url}"


def _plan(plan: PushPlan) -> Iterator[str]:
    from seldio.text import listed, plural, printable

    size = sum(entry.size for entry in plan.todo)
    if plan.head.unseen is not None:
        yield f"{plan.head.repo}: {plural(len(plan.steps), 'file')}, {size / 1e6:.1f} MB; not compared with the Hub"
    else:
        was = f"on top of {plan.head.commit[:12]}" if plan.head.commit else "a new repository"
        gone = f", {len(plan.stale):,} to be removed" if plan.stale else ""
        yield (f"{plan.head.repo}, {was}: {plan.count('new'):,} new, {plan.count('changed'):,} changed, "
               f"{plan.count('same'):,} the same{gone}; {size / 1e6:,.1f} MB to upload")  # fmt: skip
    if len(plan.steps) > _SHOWN:
        yield from _folders(plan.steps)
        yield f"  {plural(len(plan.steps), 'file')} by folder; --json lists each one"
    else:
        for step in sorted(plan.steps, key=lambda step: step.state == "same"):
            yield f"  {_MARKS[step.state]} {step.entry.size:>14,}  {printable(step.entry.name)}"
    for name in plan.stale[:_SHOWN]:
        yield f"  - {'':>14}  {printable(name)}"
    if len(plan.stale) > _SHOWN:
        yield f"  - and {len(plan.stale) - _SHOWN:,} more (--json lists each one)"
    if plan.stale:
        yield "Removed from the Hub (-): files of an earlier export by seldio that are no longer part of it"
    if plan.left_out:
        yield f"Not uploaded: {plural(len(plan.left_out), 'name')}: {listed(plan.left_out)}"
    if plan.kept:
        yield f"Kept on the Hub though not in the source: {plural(len(plan.kept), 'file')}: {listed(plan.kept)}"


def _folders(steps: Sequence[PushStep]) -> Iterator[str]:
    """The number of files of each state in each folder, as deep as fits on the screen."""
    from collections import Counter

    from seldio.text import plural, printable

    above = [step.entry.name.split("/")[:-1] for step in steps]
    depths = range(max(map(len, above)), 1, -1)
    depth = next((depth for depth in depths if len({(*parts[:depth],) for parts in above}) <= _SHOWN), 1)
    counts: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    for step, parts in zip(steps, above, strict=True):
        key = ("/".join(parts[:depth]), step.state)
        counts[key] += 1
        sizes[key] += step.entry.size
    for (folder, state), count in sorted(counts.items()):
        shown = printable(f"{folder}/") if folder else "(top folder)"
        yield f"  {_MARKS[state]} {sizes[folder, state]:>14,}  {shown}  {plural(count, 'file')}"


@guarded
def pull(
    address: str = typer.Argument(metavar="REPO", help="USER/NAME, or USER/NAME@REVISION (a branch, tag or commit)."),
    out: str | None = typer.Option(None, "-o", metavar="FOLDER", help="Where to save the files; ./NAME by default."),
    include: list[str] = typer.Option(
        [], metavar="PATTERN", help="Download only files that match; * also matches slashes. May be repeated."
    ),
    json: bool = JSON,
) -> ExitCode:
    """Download a dataset from the Hugging Face Hub as plain files with verified hashes; resumes if interrupted."""
    from seldio import hub
    from seldio.hub.client import quiet
    from seldio.text import plural, printable

    quiet()
    pulled = hub.pull(address, out, include)
    if json:
        import dataclasses

        print_json(dataclasses.asdict(pulled))
    else:
        same = f", {pulled.same:,} unchanged" if pulled.same else ""
        typer.echo(
            f"{pulled.repo} at {pulled.commit[:12]}: {plural(len(pulled.fetched), 'file')} downloaded{same}; "
            f"{pulled.size / 1e6:,.1f} MB in {printable(pulled.folder)}"
        )
    return ExitCode.CLEAN
