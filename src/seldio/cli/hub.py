"""``seldio push`` and ``seldio pull``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING

import typer

from seldio.cli.guard import guarded
from seldio.cli.options import ENGINE, WORKERS, Engine, print_json
from seldio.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from seldio.hub import Pushed
    from seldio.hub.pushing import PushPlan, PushStep

#: Files, or folders, that are shown one by one; of more, folders are counted, and --json shows each file.
_SHOWN = 40
_MARKS = {"new": "+", "changed": "~", "same": "=", "unknown": "?"}


class As(StrEnum):
    """How the data is stored on the Hub."""

    FILES = "files"
    PARQUET = "parquet"
    AUDIOFOLDER = "audiofolder"


@guarded
def push(
    source: str = typer.Argument(help="A file, folder or archive."),
    repo: str = typer.Option(..., "--repo", help="USER/NAME of the data set; made if there is none."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would go; change nothing. Works offline."),
    private: bool = typer.Option(False, "--private", help="Make a new data set private."),
    kind: As = typer.Option(As.FILES, "--as", help="files as they are, parquet, or audiofolder (with metadata.jsonl)."),
    staging: str | None = typer.Option(
        None, "--staging", help="Keep files that are written anew in this folder: the same command goes on from there."
    ),
    revision: str = typer.Option("main", help="The branch to push to."),
    message: str | None = typer.Option(None, "-m", "--message", help="The commit message."),
    include: list[str] = typer.Option([], help="A pattern of files that go too; others than data stay here."),
    force: bool = typer.Option(
        False,
        "--force",
        help="With --as parquet or audiofolder: take labels with errors too.",
    ),
    license: str | None = typer.Option(None, help="For the card: cc-by-4.0, mit, …"),
    language: list[str] = typer.Option([], help="For the card: en, ru, …; of questions it is found."),
    title: str | None = typer.Option(None, help="For the card: what the data set is called."),
    citation: str | None = typer.Option(None, help="For the card: a file with BibTeX."),
    json: bool = typer.Option(False, "--json", help="Print json."),
    workers: int | None = WORKERS,
    engine: Engine = ENGINE,
) -> ExitCode:
    """Send a data set to the Hugging Face Hub, with card and Croissant; shows what goes, and refuses secrets."""
    from seldio import hub
    from seldio.engines import running
    from seldio.hub.client import quiet

    if json or not sys.stderr.isatty():
        quiet()
    with running(workers, engine, resumable=False):
        pushed = hub.push(
            source, repo, kind=kind.value, private=private, dry_run=dry_run, staging=staging, revision=revision,
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
    """What was done, for json."""
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
    from seldio.text import plural, printable

    for finding in pushed.report.findings:
        hint = f" ({finding.hint})" if finding.hint else ""
        yield printable(f"{finding.severity.value}  {finding}{hint}")
    if pushed.refused or pushed.plan is None:
        yield "Nothing was sent. seldio rule CODE explains each finding."
        return
    yield from _plan(pushed.plan)
    if pushed.data:
        found = ", ".join(f"{code} {count:,}" for code, count in pushed.data.items())
        yield f"Findings in the data: {found}. seldio validate says where."
    if dry_run:
        yield from ("", "The card:", "", *(f"  {printable(line)}" for line in pushed.card.splitlines()), "")
        if pushed.plan.head.unseen is not None:
            yield f"Not compared with the Hub: {printable(pushed.plan.head.unseen)}."
        yield "Nothing was sent: this was a dry run."
    elif pushed.commits:
        yield f"Sent in {plural(len(pushed.commits), 'commit')}, the last {pushed.commits[-1][:12]}: {pushed.url}"
    else:
        yield f"Nothing to send, all of it is there: {pushed.url}"


def _plan(plan: PushPlan) -> Iterator[str]:
    from seldio.text import listed, plural, printable

    size = sum(entry.size for entry in plan.todo)
    if plan.head.unseen is not None:
        yield f"{plan.head.repo}: {plural(len(plan.steps), 'file')}, {size / 1e6:.1f} MB; what is there is not known"
    else:
        was = f"on top of {plan.head.commit[:12]}" if plan.head.commit else "a new data set"
        gone = f", {len(plan.stale):,} to be removed" if plan.stale else ""
        yield (f"{plan.head.repo}, {was}: {plan.count('new'):,} new, {plan.count('changed'):,} changed, "
               f"{plan.count('same'):,} the same{gone}; {size / 1e6:,.1f} MB to send")  # fmt: skip
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
        yield "Removed from the Hub (-): files of an earlier export by seldio that this one does not make any more"
    if plan.left_out:
        yield f"Stays here: {plural(len(plan.left_out), 'name')}: {listed(plan.left_out)}"
    if plan.kept:
        yield f"Stays on the Hub, though not in the source: {plural(len(plan.kept), 'file')}: {listed(plan.kept)}"


def _folders(steps: Sequence[PushStep]) -> Iterator[str]:
    """How many files of each state there are in each folder, as deep as fits."""
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
    out: str | None = typer.Option(None, "-o", help="The folder; NAME in the present one if not given."),
    include: list[str] = typer.Option([], help="A pattern of the files to fetch; * fits slashes too."),
    json: bool = typer.Option(False, "--json", help="Print json."),
) -> ExitCode:
    """Fetch a data set from the Hugging Face Hub: real files, each compared with its hash; goes on after a break."""
    from seldio import hub
    from seldio.hub.client import quiet
    from seldio.text import plural, printable

    quiet()
    pulled = hub.pull(address, out, include)
    if json:
        import dataclasses

        print_json(dataclasses.asdict(pulled))
    else:
        same = f", {pulled.same:,} were there" if pulled.same else ""
        typer.echo(
            f"{pulled.repo} at {pulled.commit[:12]}: {plural(len(pulled.fetched), 'file')} fetched{same}; "
            f"{pulled.size / 1e6:,.1f} MB in {printable(pulled.folder)}"
        )
    return ExitCode.CLEAN
