"""Files to the Hub: what would change, and commits that neither get lost nor happen twice.

An export lists its files in ``manifest.json``, with their hashes. Those that an earlier push of it left on the Hub as
they were written, and that are no part of the export any more, would be read beside its shards: rows that are gone
from the source. So they are part of the plan, and go.
"""

from __future__ import annotations

import dataclasses
import hashlib
import tempfile
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Literal

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from seldio import progress
from seldio.data.exporting import MANIFEST as EXPORT
from seldio.data.exporting import ExportFile
from seldio.data.exporting import Manifest as Export
from seldio.engines import cut
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.hub.client import (
    CLIENT_ERRORS,
    TRIES,
    checked_commit,
    fail,
    hub,
    may_pass,
    patiently,
    pause,
    quietly,
    status_of,
)
from seldio.hub.pulling import fetch
from seldio.hub.repository import Head, RemoteFile, Upload, read_head, safe_name
from seldio.rules.hub_folder import ASIDE
from seldio.text import listed, plural, printable

#: Files and bytes of one commit; after a break, the next run goes on behind the last commit.
BATCH_FILES, BATCH_BYTES = 500, 5 * 2**30

#: What tells of the other files, and goes with the last of them.
_LAST = ASIDE | {EXPORT}

State = Literal["new", "changed", "same", "unknown"]


@dataclasses.dataclass(frozen=True)
class Step:
    """One file of a plan."""

    entry: Entry
    state: State


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a push would do.

    Args:
        head: the data set as it is now.
        revision: the branch that is pushed to.
        steps: every file that goes, sorted by name.
        left_out: files of the source that stay here.
        kept: files on the Hub that are not in the source; they stay there.
        stale: files on the Hub that an earlier export of seldio put there and this one does not make; they go.
    """

    head: Head
    revision: str
    steps: tuple[Step, ...]
    left_out: tuple[str, ...]
    kept: tuple[str, ...]
    stale: tuple[str, ...] = ()

    @property
    def todo(self) -> list[Entry]:
        """The files to be sent, those about the data last: nobody sees a card before its data."""
        entries = [step.entry for step in self.steps if step.state != "same"]
        return sorted(entries, key=lambda entry: (entry.name in _LAST, entry.name))

    def count(self, state: State) -> int:
        """How many files are new, changed or the same."""
        return sum(step.state == state for step in self.steps)


def planned(upload: Upload, head: Head, revision: str, stale: Sequence[str] = ()) -> Plan:
    """Hold the files of *upload* against those on the Hub, where *stale* ones are to go."""
    kept = sorted({*head.files} - {entry.name for entry in upload.files} - {*stale, ".gitattributes"})
    head.hash_ahead(upload.files)
    steps = tuple(Step(entry, _state(entry, head)) for entry in upload.files)
    return Plan(head, revision, steps, upload.left_out, tuple(kept), tuple(sorted(stale)))


def _state(entry: Entry, head: Head) -> State:
    if head.unseen is not None:
        return "unknown"
    if entry.name not in head.files:
        return "new"
    return "same" if head.holds(entry) else "changed"


def ensure(plan: Plan, private: bool) -> Head:
    """The data set as it is, or made now.

    Raises:
        UsageError: it should be private and is not; or there is no such branch.
    """
    if plan.head.commit is not None:
        return plan.head
    repo = plan.head.repo
    # None leaves it to the settings of the organisation
    make: Callable[[], object] = lambda: hub().create_repo(  # noqa: E731
        repo, repo_type="dataset", private=private or None, exist_ok=True
    )
    patiently(make, f"make the data set {printable(repo)}")
    head = read_head(repo)
    if private and not head.private:
        raise UsageError(f"{printable(repo)} was made meanwhile, and is public; --private does not change that")
    if plan.revision != "main":
        branch: Callable[[], object] = lambda: hub().create_branch(  # noqa: E731
            repo, branch=plan.revision, repo_type="dataset", exist_ok=True
        )
        patiently(branch, f"make the branch {printable(plan.revision)}")
    return head


@dataclasses.dataclass(frozen=True)
class Batch:
    """What one commit does: files that go up, and names that go."""

    entries: tuple[Entry, ...]
    gone: tuple[str, ...] = ()

    def is_in(self, head: Head) -> bool:
        """Whether all of it is done at *head*."""
        return all(head.holds(entry) for entry in self.entries) and head.files.keys().isdisjoint(self.gone)


def batches(plan: Plan) -> list[Batch]:
    """The commits, one after the other.

    What an earlier export left goes in the last one, together with the card and the list of the files of the export:
    after a break before it, the next run still finds there what is stale.
    """
    data = [entry for entry in plan.todo if entry.name not in _LAST]
    about = [entry for entry in plan.todo if entry.name in _LAST]
    *parts, last = list(cut(data, BATCH_BYTES, attrgetter("size"), BATCH_FILES)) or [[]]
    made = [*(Batch(tuple(part)) for part in parts), Batch((*last, *about), plan.stale)]
    return [batch for batch in made if batch.entries or batch.gone]


def send(plan: Plan, head: Head, message: str) -> tuple[str, ...]:
    """Commit what is to be sent on top of *head*; return the commits.

    Raises:
        SeldioError: the Hub cannot be reached or refuses; somebody else changed the data set meanwhile; or
            what is there afterwards is not what was sent.
        KeyboardInterrupt: with a message that says how to go on.
    """
    todo = batches(plan)
    commits: list[str] = []
    parent = head.commit
    sent = 0
    try:
        for number, batch in enumerate(todo, 1):
            part = f" ({number} of {len(todo)})" if len(todo) > 1 else ""
            parent = _commit(head.repo, plan.revision, batch, parent, message + part)
            commits.append(parent)
            sent += len(batch.entries)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; {sent:,} of {plural(len(plan.todo), 'file')} were sent to {printable(head.repo)}: the same "
            "command sends the others"
        ) from None
    if commits:
        _verify(plan, read_head(head.repo, plan.revision))
    return tuple(commits)


def _commit(repo: str, revision: str, batch: Batch, parent: str | None, message: str) -> str:
    """One commit on top of *parent* and of nothing else; its hash.

    After every error the head is looked at: where the commit is there and only its answer was lost, it is not made
    a second time.
    """

    def make() -> str:
        adds = (CommitOperationAdd(entry.name, _content(entry)) for entry in batch.entries)
        gone = (CommitOperationDelete(name, is_folder=False) for name in batch.gone)
        made = hub().create_commit(
            repo, [*adds, *gone], commit_message=message, repo_type="dataset", revision=revision, parent_commit=parent
        )
        return checked_commit(made.oid)

    attempt = 0
    while True:
        try:
            return quietly(make)
        except CLIENT_ERRORS as error:
            moved = status_of(error) in (409, 412)
            if not moved and not may_pass(error):
                fail(error, f"push to {printable(repo)}")
            now = read_head(repo, revision)
            if now.commit != parent and batch.is_in(now):
                return str(now.commit)
            if now.commit != parent:
                raise SeldioError(
                    f"{printable(repo)} was changed by somebody else since seldio looked at it; nothing of theirs was "
                    "overwritten. Push again to see what would change now"
                ) from None
            if attempt == TRIES - 1:
                fail(error, f"push to {printable(repo)}")
            attempt = pause(attempt, error)


def _content(entry: Entry) -> str | bytes:
    return entry.read() if entry.local is None else str(entry.local)


def _verify(plan: Plan, head: Head) -> None:
    head.hash_ahead(step.entry for step in plan.steps)
    wrong = [step.entry.name for step in plan.steps if not head.holds(step.entry)]
    wrong += [name for name in plan.stale if name in head.files]
    if wrong:
        raise SeldioError(f"what is on the Hub now is not what was sent: {listed(wrong)}. Push again")


# --- what an earlier push of an export left --------------------------------------------------------------


#: A larger list of files than this is none of seldio's.
_MOST_BYTES = 1 << 28


def content_of(head: Head, name: str) -> bytes:
    """The content of a file on the Hub, verified; nothing of it stays on disk."""
    with tempfile.TemporaryDirectory(prefix="seldio-push-") as folder:
        fetch(head, head.files[name], Path(folder))
        return (Path(folder) / name).read_bytes()


def stale_files(upload: Upload, head: Head) -> frozenset[str]:
    """The names of files on the Hub that an earlier export wrote and *upload* does not hold.

    None where *upload* is no export. A file that somebody has changed since is not ours any more, and is none.

    Raises:
        SeldioError: the Hub cannot be reached, or sends wrong bytes.
    """
    there, here = head.files.get(EXPORT), upload.find(EXPORT)
    if there is None or here is None or there.size > _MOST_BYTES or _listed(here.read()) is None:
        return frozenset()
    mine = {entry.name for entry in upload.files}
    gone = [
        file for file in _listed(content_of(head, EXPORT)) or () if file.name in head.files and file.name not in mine
    ]
    return frozenset(
        file.name
        for file in progress.over(gone, "looking for stale files")
        if _is_as_written(head, head.files[file.name], file)
    )


def _listed(data: bytes) -> tuple[ExportFile, ...] | None:
    """The files of an export, by the content of its manifest; None where it is the manifest of something else."""
    try:
        files = Export.parse(data, EXPORT).files
    except SeldioError:
        return None
    return files if all(isinstance(file.name, str) for file in files) else None


def _is_as_written(head: Head, remote: RemoteFile, file: ExportFile) -> bool:
    """Whether a file on the Hub is the one that the export wrote.

    Of small files, the Hub knows another hash than the manifest: they are fetched.
    """
    if remote.size != file.bytes or not safe_name(file.name):
        return False
    sha256 = remote.sha256 or hashlib.sha256(content_of(head, file.name)).hexdigest()
    return sha256 == file.sha256
