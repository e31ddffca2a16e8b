"""``push``: prepare the files, look for what the Hub would refuse, show what will go, and send it."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path

from seldio import progress, rules
from seldio.errors import UsageError
from seldio.files import Entry, Limits, Source, atomic_write, open_source
from seldio.files.entries import hidden
from seldio.findings import Finding, Report, Severity, Sink
from seldio.hub.card import About, Card, croissant, made_card, read_card
from seldio.hub.client import Unreachable, endpoint
from seldio.hub.commits import Plan, content_of, ensure, planned, send, stale_files
from seldio.hub.layout import parts_of
from seldio.hub.repository import Head, Kind, Upload, allowed, checked_name, made_entry, read_head
from seldio.info import description
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
    force: bool = False,
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
        force: write labels anew in which there are errors too, such as angles in radians; *files* go as they are.

    Raises:
        InvalidData: labels that are to be written anew have errors.
        UsageError: there is nothing to send, or the Hub does not know the name or token.
        SeldioError: the Hub cannot be reached, or somebody else changed the data set meanwhile.
        KeyboardInterrupt: with a message that says how to go on.
    """
    checked_name(repo)
    given = os.fspath(source)
    with _staged(None if dry_run else staging, anew=kind != "files") as folder:
        found: list[Finding] = []
        upload = prepare(given, kind, folder, found.append, include, force=force)
        head = _looked(repo, revision, dry_run)
        _check_private(head, private)
        stale = stale_files(upload, head)
        examined = examine(given)
        facts = description(examined, given)
        others = head.files.keys() - stale - {entry.name for entry in upload.files}
        parts = parts_of(upload, examined if kind == "files" else None, others)
        said = about or About()
        card = made_card(repo, upload, parts, facts, said, _old_card(upload, head, found))
        upload = _complete(repo, upload, card, partial(croissant, parts=parts, cite=said.citation))
        report = Report(files=len(upload.files))
        report.add([*found, *preflight(upload, card)])
        outcome = Pushed(repo, f"{endpoint()}/datasets/{repo}", None, report, examined.report.by_rule(), card.text)
        if outcome.refused:
            return outcome
        plan = planned(upload, head, revision, tuple(stale))
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
        return read_head(repo, revision, may_lack=True, quick=dry_run)
    except Unreachable as error:
        if not dry_run:
            raise
        return Head(repo, unseen=str(error))


def _check_private(head: Head, private: bool) -> None:
    if private and head.private is False:
        raise UsageError(f"{printable(head.repo)} is there already and is public; --private does not change that")


def _old_card(upload: Upload, head: Head, found: list[Finding]) -> Card | None:
    """The card of the source, or that on the Hub, which somebody may have edited there."""
    here = upload.find("README.md")
    if here is not None:
        return read_card(here.read().decode("utf-8-sig", "replace"), here.path, found.append)
    if "README.md" not in head.files:
        return None
    text = content_of(head, "README.md").decode("utf-8", "replace")
    return read_card(text, f"{head.repo}/README.md", found.append)


def _complete(repo: str, upload: Upload, card: Card, describe: partial[str]) -> Upload:
    """The upload with card and Croissant; a card that cannot be read stays as it is."""
    if card.values is None:
        return upload
    made: list[Entry] = [made_entry("README.md", card.text)]
    if upload.find("croissant.json") is None:
        made.append(made_entry("croissant.json", describe(repo, endpoint(), upload, values=card.values)))
    return upload.with_files(*made)


def preflight(upload: Upload, card: Card) -> Iterator[Finding]:
    """What the rules HUB find."""
    folder = HubFolder(upload.source, upload.files, card.values)
    yield from rules.findings(folder)


# --- from a source to the files that go up ---------------------------------------------------------------


#: A data set may be larger than what one reading of it takes into memory: files are streamed.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)


def prepare(
    source: str, kind: Kind, folder: Path, sink: Sink, include: Sequence[str] = (), *, force: bool = False
) -> Upload:
    """The files that go up.

    Args:
        source: a file, folder or archive.
        kind: *files* takes them as they are; the others write them anew into *folder*.
        folder: where new files are written; what is there from a run before is used again.
        sink: takes what is wrong with the source itself (``SAF1xx``).
        include: patterns of files that go too, though data sets are not made of such files as a rule.
        force: write labels anew in which there are errors too.

    Raises:
        UsageError: there is nothing to take.
        DataError: the data is wrong, so that it cannot be written anew.
    """
    if kind == "files":
        return _as_they_are(source, folder, sink, include)
    from seldio.data import export
    from seldio.data.exporting import MANIFEST

    out = folder / kind
    folder.mkdir(parents=True, exist_ok=True)
    # a staging folder may hold more than was written for this source
    written = {file.name for file in export(source, out, kind, force=force).files} | {MANIFEST}
    with open_source(out, sink, LIMITS, as_it_lies=True) as made:
        return Upload(source, kind, tuple(entry for entry in made if entry.name in written))


def _as_they_are(source: str, folder: Path, sink: Sink, include: Sequence[str]) -> Upload:
    with open_source(source, sink, LIMITS, as_it_lies=True) as opened:
        going: list[Entry] = []
        staying: list[Entry] = []
        for entry in opened:
            wanted = allowed(entry.name) or any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in include)
            (going if wanted else staying).append(entry)
        if not going:
            raise UsageError(
                f"{printable(source)} holds no file that data sets are made of; --include PATTERN adds some"
            )
        left = (*(entry.name for entry in staying), *_hidden(opened))
        return Upload(source, "files", tuple(_on_disk(going, folder / "files")), tuple(sorted(left)))


def _hidden(source: Source) -> list[str]:
    """What stands hidden in the top folder: it never goes, and people should know."""
    if source.kind != "folder":
        return []
    return sorted(item.name + "/" * item.is_dir() for item in Path(source.path).iterdir() if hidden(item.name))


def _on_disk(entries: Sequence[Entry], folder: Path) -> list[Entry]:
    """The entries as files on disk: what is in an archive is unpacked into *folder*, names as they were checked."""
    if all(entry.local is not None for entry in entries):
        return list(entries)
    for entry in progress.over(entries, "unpacking files", size=attrgetter("size")):
        target = folder / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (target.is_file() and target.stat().st_size == entry.size):
            with atomic_write(target) as stream:
                stream.write(entry.read())
    made = {entry.name for entry in entries}
    with open_source(folder, _ignored, LIMITS, as_it_lies=True) as unpacked:
        return [entry for entry in unpacked if entry.name in made]


def _ignored(_: object) -> None:
    """What is wrong with names was reported when the archive was opened."""
