"""``push``: prepare, look for what the Hub would refuse, show what will go, and send it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from seldio.errors import UsageError
from seldio.files import Entry
from seldio.findings import Finding, Report, Severity
from seldio.hub.card import About, Card, made_card, read_card
from seldio.hub.client import Unreachable, endpoint
from seldio.hub.croissant import croissant
from seldio.hub.earlier import fetched, stale_files
from seldio.hub.layout import parts_of
from seldio.hub.manifest import Kind, Manifest, made_entry
from seldio.hub.prepare import prepare
from seldio.hub.pushing import Plan, ensure, planned, send
from seldio.hub.repository import Head, checked_name, look
from seldio.info import description
from seldio.rules import HUB_RULES
from seldio.rules.collection import finder
from seldio.rules.hub_folder import HubFolder
from seldio.text import printable
from seldio.validation import examine


@dataclasses.dataclass(frozen=True)
class Pushed:
    """What a push did, or would do.

    Args:
        repo: ``user/name``.
        url: its page.
        plan: each file, and whether it is new; None where findings stopped the push before it looked.
        report: what the rules ``HUB`` and ``SAF`` found; an error in it stops the push.
        data: how often each rule found something in the data itself, as ``seldio validate`` does.
        card: the text of the card.
        commits: what was made, oldest first; none for a dry run, and where nothing was to be sent.
    """

    repo: str
    url: str
    plan: Plan | None
    report: Report
    data: dict[str, int]
    card: str
    commits: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether findings stopped it."""
        return self.report.reaches(Severity.ERROR)


def push(
    source: str | os.PathLike[str],
    repo: str,
    *,
    kind: Kind = "files",
    private: bool = False,
    dry_run: bool = False,
    staging: str | os.PathLike[str] | None = None,
    revision: str = "main",
    message: str | None = None,
    include: Sequence[str] = (),
    about: About | None = None,
) -> Pushed:
    """Send a data set to the Hub, with a card and Croissant metadata.

    Only the files of the plan go, on top of the very commit that the plan was made from. After a break, the same
    call goes on: what is there is not sent again.

    Args:
        source: a file, folder or archive.
        repo: ``user/name``.
        kind: how the data is stored: the files as they are, Parquet, or recordings with ``metadata.jsonl``.
        private: whether a new data set is private; one that is there must be.
        dry_run: make the plan, and change nothing; where the Hub cannot be reached, without comparing it with
            what is there.
        staging: the folder for files that are written anew; kept, so that another run need not write them again.
            A dry run leaves it as it is.
        revision: the branch.
        message: of the commit.
        include: patterns of files that go although data sets are not made of such files.
        about: licence, languages, title and citation.

    Raises:
        UsageError: there is nothing to send, or the Hub does not know the name or token.
        SeldioError: the Hub cannot be reached, or somebody else changed the data set meanwhile.
        KeyboardInterrupt: with a message that says how to go on.
    """
    checked_name(repo)
    given = os.fspath(source)
    with _staged(None if dry_run else staging, anew=kind != "files") as folder:
        found: list[Finding] = []
        manifest = prepare(given, kind, folder, found.append, include)
        head = _looked(repo, revision, dry_run)
        _check_private(head, private)
        stale = stale_files(manifest, head)
        examined = examine(given)
        facts = description(examined, given)
        others = head.files.keys() - stale - {entry.name for entry in manifest.files}
        parts = parts_of(manifest, examined if kind == "files" else None, others)
        said = about or About()
        card = made_card(repo, manifest, parts, facts, said, _old_card(manifest, head, found))
        manifest = _complete(repo, manifest, card, partial(croissant, parts=parts, cite=said.citation))
        report = Report(files=len(manifest.files))
        report.add([*found, *preflight(manifest, card)])
        outcome = Pushed(repo, f"{endpoint()}/datasets/{repo}", None, report, examined.report.by_rule(), card.text)
        if outcome.refused:
            return outcome
        plan = planned(manifest, head, revision, tuple(stale))
        if dry_run:
            return dataclasses.replace(outcome, plan=plan)
        commits = send(plan, ensure(plan, private), message or f"Push {printable(Path(given).name)} by seldio")
        return dataclasses.replace(outcome, plan=plan, commits=commits)


@contextmanager
def _staged(staging: str | os.PathLike[str] | None, *, anew: bool) -> Iterator[Path]:
    """The folder for what is written anew; without a name, one that goes away.

    Args:
        staging: its name.
        anew: whether the data set is written anew, so that a name for the folder would save work another time.

    Raises:
        KeyboardInterrupt: with a message that says how to go on.
    """
    folder = Path(tempfile.mkdtemp(prefix="seldio-push-") if staging is None else staging)
    try:
        yield folder
    except KeyboardInterrupt as stop:
        told = str(stop)
        lost = staging is None and anew
        if not told or (lost and str(folder) in told):
            told = "stopped; nothing was sent: the same command starts again"
        more = "; with --staging FOLDER it need not write again what it has written" if lost else ""
        raise KeyboardInterrupt(told + more) from None
    finally:
        if staging is None:
            shutil.rmtree(folder, ignore_errors=True)


def _looked(repo: str, revision: str, dry_run: bool) -> Head:
    """The data set as it is; for a dry run without a network, as one of which nothing is known."""
    try:
        return look(repo, revision, may_lack=True, quick=dry_run)
    except Unreachable as error:
        if not dry_run:
            raise
        return Head(repo, unseen=str(error))


def _check_private(head: Head, private: bool) -> None:
    if private and head.private is False:
        raise UsageError(f"{printable(head.repo)} is there already and is public; --private does not change that")


def _old_card(manifest: Manifest, head: Head, found: list[Finding]) -> Card | None:
    """The card of the source, or that on the Hub, which somebody may have edited there."""
    here = manifest.find("README.md")
    if here is not None:
        return read_card(here.read().decode("utf-8-sig", "replace"), here.path, found.append)
    if "README.md" not in head.files:
        return None
    text = fetched(head, "README.md").decode("utf-8", "replace")
    return read_card(text, f"{head.repo}/README.md", found.append)


def _complete(repo: str, manifest: Manifest, card: Card, describe: partial[str]) -> Manifest:
    """The manifest with card and Croissant; a card that cannot be read stays as it is."""
    if card.values is None:
        return manifest
    made: list[Entry] = [made_entry("README.md", card.text)]
    if manifest.find("croissant.json") is None:
        made.append(made_entry("croissant.json", describe(repo, endpoint(), manifest, values=card.values)))
    return manifest.with_files(*made)


def preflight(manifest: Manifest, card: Card) -> Iterator[Finding]:
    """What the rules HUB find."""
    folder = HubFolder(manifest.source, manifest.files, card.values)
    for rule in HUB_RULES:
        assert rule.check is not None
        yield from rule.check(folder, finder(rule))
