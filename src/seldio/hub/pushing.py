"""``push``: prepare the files, look for what the Hub would refuse, show what will go, and send it.

Commits neither get lost nor happen twice. An export lists its files in ``manifest.json``, with their hashes. Those that
an earlier push of it left on the Hub as they were written, and that are no longer part of the export, would be read
along with its shards: rows that are gone from the source. So they are part of the plan, and go.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Literal, get_args

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from seldio import progress, rules
from seldio.catalogues.look import check_classes
from seldio.catalogues.trees import read_tree
from seldio.check.description import description
from seldio.check.validation import examine
from seldio.conversion.inputs import with_companions
from seldio.data.exporting import LIMITS, export
from seldio.engines import cut
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, in_the_way, make_folder, open_source, write_bytes
from seldio.files.entries import hidden
from seldio.files.exports import MANIFEST, ExportFile, Manifest
from seldio.files.names import suffix_of
from seldio.files.writing import remove_tree
from seldio.findings import Finding, Report, Severity, Sink
from seldio.formats.datasets import LOOSE
from seldio.hub.card import About, Card, croissant, made_card, read_card
from seldio.hub.client import Unreachable, checked_commit, endpoint, hub, patiently
from seldio.hub.layout import Upload, UploadKind, config_splits
from seldio.hub.repository import Head, RemoteFile, checked_name, fetch, is_safe, read_head
from seldio.rules.hub_folder import ASIDE, HubFolder
from seldio.text import Displayed, listed, plural, printable

#: Files and bytes of one commit; after a break, the next run goes on behind the last commit.
BATCH_FILES, BATCH_BYTES = 500, 5 * 2**30
#: What tells of the other files, and goes with the last of them.
_LAST = ASIDE | {MANIFEST}
#: A larger list of files than this is none of seldio's.
_MOST_BYTES = 1 << 28
#: What a dataset is made of; anything else stays behind and is named.
ALLOWED = frozenset(
    """
    csv tsv json jsonl ndjson parquet arrow eaf jams txt md rst pdf bib cff yaml yml toml xml wav flac ogg opus mp3 m4a
    mp4 mkv mov avi webm png jpg jpeg svg npy npz h5 hdf5 mat sofa zip tar gz bz2 xz py ipynb
    """.split()  # noqa: SIM905
)
#: Names without a suffix that belong to a dataset.
NAMED = ("license", "licence", "copying", "readme", "changelog", "citation", "notice", "authors")

State = Literal["new", "changed", "same", "unknown"]


@dataclasses.dataclass(frozen=True)
class PushStep:
    """One file of a plan."""

    entry: Entry
    state: State


@dataclasses.dataclass(frozen=True, repr=False)
class PushPlan(Displayed):
    """What a push would do."""

    head: Head  # the dataset as it is now
    revision: str  # the branch that is pushed to
    steps: tuple[PushStep, ...]  # every file that goes, sorted by name
    left_out: tuple[str, ...]  # files of the source that stay here
    kept: tuple[str, ...]  # files on the Hub that are not in the source; they stay there
    #: files on the Hub that an earlier export of seldio put there and this one does not make; they go
    stale: tuple[str, ...] = ()

    @property
    def todo(self) -> list[Entry]:
        """The files to be sent, those about the data last: nobody sees a card before its data."""
        entries = [step.entry for step in self.steps if step.state != "same"]
        return sorted(entries, key=lambda entry: (entry.name in _LAST, entry.name))

    def count(self, state: State) -> int:
        """How many files are new, changed or the same."""
        return sum(step.state == state for step in self.steps)

    def __str__(self) -> str:
        counts = (f"{self.count(state):,} {state}" for state in get_args(State) if self.count(state))
        return f"{self.head.repo}: {plural(len(self.steps), 'file')} ({', '.join(counts)})"

    def _repr_html_(self) -> str:
        from seldio.reports.notebook import rows_html

        rows = ((step.entry.name, step.entry.size, step.state) for step in self.steps)
        return rows_html(str(self), "files", ("file", "bytes", "state"), rows)


@dataclasses.dataclass(frozen=True, repr=False)
class Pushed(Displayed):
    """What a push did, or would do.

    Args:
        repo: ``user/name``.
        url: its page.
        plan: each file, and whether it is new; None where findings stopped the push before it looked.
        report: what the rules ``HUB`` and ``SAF`` found, and errors in the data; an error in it stops the push.
        data: how often each rule found something in the data itself, as ``seldio validate`` does.
        card: the text of the card.
        commits: what was made, oldest first; none for a dry run, and where nothing was to be sent.
    """

    repo: str
    url: str
    plan: PushPlan | None
    report: Report
    data: dict[str, int]
    card: str
    commits: tuple[str, ...] = ()

    def __str__(self) -> str:
        sent = f"{plural(len(self.commits), 'commit')}, {self.url}" if self.commits else "nothing sent"
        return f"{self.plan or self.repo}; {'stopped by findings' if self.refused else sent}"

    def _repr_html_(self) -> str:
        found = self.report._repr_html_() if self.report.findings else ""
        return f"{super()._repr_html_() if self.plan is None else self.plan._repr_html_()}{found}"

    @property
    def refused(self) -> bool:
        """Whether findings stopped it."""
        return self.report.reaches(Severity.ERROR)


def push(
    source: str | os.PathLike[str],
    repo: str,
    *,
    kind: UploadKind = "files",
    format: str | None = None,
    private: bool = False,
    dry_run: bool = False,
    staging: str | os.PathLike[str] | None = None,
    revision: str = "main",
    message: str | None = None,
    include: Sequence[str] = (),
    force: bool = False,
    license: str | None = None,
    language: Sequence[str] = (),
    title: str | None = None,
    citation: str | os.PathLike[str] | None = None,
) -> Pushed:
    """Upload a dataset to the Hub, with a card and Croissant metadata.

    Only the files of the plan go, on top of the very commit that the plan was made from. After an interruption, the
    same call resumes: files already on the Hub are not sent again.

    Args:
        source: a file, folder or archive.
        repo: ``user/name``.
        kind: how the data is stored: the files as they are, Parquet, or recordings with ``metadata.jsonl``.
        format: the format of the labels, and with it their classes; found from their content if not given.
        private: whether a new dataset is private; an existing one must be private already.
        dry_run: make the plan, and change nothing; where the Hub cannot be reached, without comparing it with
            the files on it.
        staging: the folder for files that are written anew; kept, so that another run can reuse them.
            A dry run leaves it as it is.
        revision: the branch.
        message: of the commit.
        include: patterns of files that go although datasets are not made of such files.
        force: send data in which ``seldio validate`` finds errors too, such as angles in radians.
        license: for the card: ``cc-by-4.0``, ``mit``, …
        language: for the card: ``en``, ``ru``, …; of questions it is found.
        title: for the card: what the dataset is called.
        citation: for the card: BibTeX (which begins with ``@``), or a file with it.

    Raises:
        InvalidData: labels that are to be written anew have errors.
        UsageError: there is nothing to send, the classes may be those of several lists and *format* is not given, or
            the Hub does not know the name or token.
        SeldioError: the Hub cannot be reached, or somebody else changed the dataset meanwhile.
        KeyboardInterrupt: with a message that says how to go on.
    """
    repo = checked_name(repo)
    said = About(license, tuple(language), title, _citation(citation))
    path = os.fspath(source)
    with _staged(None if dry_run else staging, anew=kind != "files") as folder:
        found: list[Finding] = []
        upload = prepare(path, kind, folder, found.append, include, format=format, force=force)
        try:
            head = read_head(repo, revision, may_lack=True, quick=dry_run)
        except Unreachable as error:
            if not dry_run:
                raise
            head = Head(repo, unseen=error.text)
        if private and head.private is False:
            raise UsageError(f"{printable(repo)} already exists and is public; --private does not change that")
        stale = stale_files(upload, head)
        examined = examine(path, format=format, facts=True)
        names = [file.path for labels in examined.labels for one in labels.rows for file in one.files]
        check_classes(examined.report, told=read_tree(names, path).row is not LOOSE)
        facts = description(examined, path, named=format is not None)
        said = said.completed(facts)
        others = head.files.keys() - stale - {entry.name for entry in upload.files}
        splits = config_splits(upload, examined if kind == "files" else None, others)
        card = made_card(repo, upload, splits, facts, said, _old_card(upload, head, found))
        if card.values is not None:  # one that cannot be read stays as it is
            upload = upload.with_files(_made("README.md", card.text))
            if upload.find("croissant.json") is None:
                described = croissant(repo, endpoint(), upload, splits, card.values, said.citation)
                upload = upload.with_files(_made("croissant.json", described))
        report = Report(files=len(upload.files))
        errors = [one for one in examined.report if one.severity is Severity.ERROR and not force]
        report.add(
            dict.fromkeys([*found, *errors, *rules.findings(HubFolder(upload.source, upload.files, card.values))])
        )
        outcome = Pushed(repo, f"{endpoint()}/datasets/{repo}", None, report, examined.report.by_rule(), card.text)
        if outcome.refused:
            return outcome
        plan = _planned(upload, head, revision, stale)
        if dry_run:
            return dataclasses.replace(outcome, plan=plan)
        commits = _send(plan, _ensured(plan, private), message or f"Upload {printable(Path(path).name)} with seldio")
        return dataclasses.replace(outcome, plan=plan, commits=commits)


def _citation(path: str | os.PathLike[str] | None) -> str | None:
    if path is None or (isinstance(path, str) and path.startswith("@")):
        return path
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--citation {path}: cannot be read as text ({error})") from None


@contextmanager
def _staged(staging: str | os.PathLike[str] | None, *, anew: bool) -> Iterator[Path]:
    """The folder for what is written anew; without a name, one that goes away.

    A break then loses what was written, if the dataset is written *anew*.
    """
    folder = Path(tempfile.mkdtemp(prefix="seldio-push-") if staging is None else staging)
    try:
        yield folder
    except KeyboardInterrupt as stop:
        text = str(stop)
        lost = staging is None and anew
        if not text or (lost and str(folder) in text):
            text = "stopped before anything was sent: run the same command again"
        advice = "; with --staging FOLDER, files already written are reused" if lost else ""
        raise KeyboardInterrupt(text + advice) from None
    finally:
        if staging is None:
            remove_tree(folder)


def _old_card(upload: Upload, head: Head, found: list[Finding]) -> Card | None:
    """The card of the source, or that on the Hub, which somebody may have edited there."""
    here = upload.find("README.md")
    if here is not None:
        return read_card(here.read().decode("utf-8-sig", "replace"), here.path, found.append)
    if "README.md" not in head.files:
        return None
    text = _content_of(head, "README.md").decode("utf-8", "replace")
    return read_card(text, f"{head.repo}/README.md", found.append)


def _made(name: str, text: str) -> Entry:
    """A file that seldio writes itself, held in memory."""
    data = text.encode()
    return Entry(name, name, len(data), len(data), None, partial(io.BytesIO, data))


# --- from a source to the files that go up ---------------------------------------------------------------


def prepare(
    source: str, kind: UploadKind, folder: Path, sink: Sink, include: Sequence[str] = (), *,
    format: str | None = None, force: bool = False,
) -> Upload:  # fmt: skip
    """The files to upload: as they are, or of another *kind* than *files* written anew into *folder*.

    Files left from an earlier run are used again. *include*: patterns of further files to upload, which datasets do not
    usually consist of.
    """
    if kind == "files":
        return _as_they_are(source, folder, sink, include)
    out = folder / kind
    make_folder(out, folder)
    # a staging folder may hold more than was written for this source
    made = export(source, out, kind, format=format, force=force, overwrite=True)
    written = {file.name for file in made.files} | {MANIFEST}
    with open_source(out, sink, LIMITS, as_it_lies=True) as lying:
        return Upload(source, kind, tuple(entry for entry in lying if entry.name in written))


def _as_they_are(source: str, folder: Path, sink: Sink, include: Sequence[str]) -> Upload:
    """The files of a dataset; hidden files in its top folder are never uploaded, and people should know."""
    with open_source(source, sink, LIMITS, as_it_lies=True) as opened:
        going: list[Entry] = []
        staying: list[str] = []
        for entry in with_companions(opened):
            allowed = suffix_of(entry.name) in ALLOWED or entry.name.rpartition("/")[2].lower().startswith(NAMED)
            if allowed or any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in include):
                going.append(entry)
            else:
                staying.append(entry.name)
        if not going:
            raise UsageError(
                f"{printable(source)} holds no files that datasets usually consist of; use --include PATTERN to add "
                "some"
            )
        if opened.kind == "folder":
            staying += [i.name + "/" * i.is_dir() for i in Path(opened.path).iterdir() if hidden(i.name)]
        return Upload(source, "files", tuple(_on_disk(going, folder)), tuple(sorted(staying)))


def _on_disk(entries: Sequence[Entry], below: Path) -> list[Entry]:
    """The entries as files on disk: what is in an archive is unpacked into a folder, names as they were checked."""
    if all(entry.local is not None for entry in entries):
        return list(entries)
    folder = below / "files"
    for entry in progress.tracked(entries, "unpacking files", size=attrgetter("size")):
        there = in_the_way(folder / entry.name, below)
        if there is None or there.st_size != entry.size:
            write_bytes(folder / entry.name, entry.read(), below)
    made = {entry.name for entry in entries}
    # what is wrong with names was reported when the archive was opened
    with open_source(folder, lambda _: None, LIMITS, as_it_lies=True) as unpacked:
        return [entry for entry in unpacked if entry.name in made]


# --- what would change -----------------------------------------------------------------------------------


def _planned(upload: Upload, head: Head, revision: str, stale: frozenset[str]) -> PushPlan:
    """Compare the files of *upload* with those on the Hub, where *stale* ones are to go."""
    kept = head.files.keys() - {entry.name for entry in upload.files} - stale - {".gitattributes"}
    head.hash_ahead(upload.files)

    def state(entry: Entry) -> State:
        if head.unseen is not None:
            return "unknown"
        if entry.name not in head.files:
            return "new"
        return "same" if head.holds(entry) else "changed"

    steps = tuple(PushStep(entry, state(entry)) for entry in upload.files)
    return PushPlan(head, revision, steps, upload.left_out, tuple(sorted(kept)), tuple(sorted(stale)))


def stale_files(upload: Upload, head: Head) -> frozenset[str]:
    """The names of files on the Hub that an earlier export wrote and *upload* does not hold.

    None if *upload* is not an export. A file that somebody has changed since is not ours any more, and is none.
    """
    there, here = head.files.get(MANIFEST), upload.find(MANIFEST)
    if there is None or here is None or there.size > _MOST_BYTES or _listed(here.read()) is None:
        return frozenset()
    mine = {entry.name for entry in upload.files}
    listed_there = _listed(_content_of(head, MANIFEST)) or ()
    gone = [file for file in listed_there if file.name in head.files and file.name not in mine]
    shown = progress.tracked(gone, "looking for stale files")
    return frozenset(file.name for file in shown if _is_as_written(head, head.files[file.name], file))


def _content_of(head: Head, name: str) -> bytes:
    """The content of a file on the Hub, verified; nothing of it stays on disk."""
    with tempfile.TemporaryDirectory(prefix="seldio-push-") as folder:
        fetch(head, head.files[name], Path(folder))
        return (Path(folder) / name).read_bytes()


def _listed(data: bytes) -> tuple[ExportFile, ...] | None:
    """The files of an export, by the content of its manifest; None where it is the manifest of something else."""
    try:
        files = Manifest.parse(data, MANIFEST).files
    except SeldioError:
        return None
    return files if all(isinstance(file.name, str) for file in files) else None


def _is_as_written(head: Head, remote: RemoteFile, file: ExportFile) -> bool:
    """Whether a file on the Hub is the one that the export wrote.

    Of small files, the Hub knows another hash than the manifest: they are fetched.
    """
    if remote.size != file.bytes or not is_safe(file.name):
        return False
    sha256 = remote.sha256 or hashlib.sha256(_content_of(head, file.name)).hexdigest()
    return sha256 == file.sha256


# --- sending ---------------------------------------------------------------------------------------------


def _ensured(plan: PushPlan, private: bool) -> Head:
    """The dataset as it is, or made now."""
    if plan.head.commit is not None:
        return plan.head
    repo = plan.head.repo
    # None leaves it to the settings of the organisation
    make: Callable[[], object] = partial(
        hub().create_repo, repo, repo_type="dataset", private=private or None, exist_ok=True
    )
    patiently(make, f"create the dataset {printable(repo)}")
    head = read_head(repo)
    if private and not head.private:
        raise UsageError(f"{printable(repo)} was created in the meantime and is public; --private does not change that")
    if plan.revision != "main":
        branch = partial(hub().create_branch, repo, branch=plan.revision, repo_type="dataset", exist_ok=True)
        patiently(branch, f"create the branch {printable(plan.revision)}")
    return head


@dataclasses.dataclass(frozen=True)
class CommitFiles:
    """What one commit does: files to add, and names to delete."""

    entries: tuple[Entry, ...]
    gone: tuple[str, ...] = ()


def _batches(plan: PushPlan) -> list[CommitFiles]:
    """The commits, one after the other.

    What an earlier export left goes in the last one, together with the card and the list of the files of the export:
    after a break before it, the next run still finds there what is stale.
    """
    data = [entry for entry in plan.todo if entry.name not in _LAST]
    about = [entry for entry in plan.todo if entry.name in _LAST]
    *parts, last = list(cut(data, BATCH_BYTES, attrgetter("size"), BATCH_FILES)) or [[]]
    made = [*(CommitFiles(tuple(part)) for part in parts), CommitFiles((*last, *about), plan.stale)]
    return [batch for batch in made if batch.entries or batch.gone]


def _send(plan: PushPlan, head: Head, message: str) -> tuple[str, ...]:
    """Commit what is to be sent on top of *head*; return the commits."""
    todo = _batches(plan)
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
            "command sends the rest"
        ) from None
    if commits:
        now = read_head(head.repo, plan.revision)
        now.hash_ahead(step.entry for step in plan.steps)
        wrong = [step.entry.name for step in plan.steps if not now.holds(step.entry)]
        wrong += [name for name in plan.stale if name in now.files]
        if wrong:
            raise SeldioError(f"the files on the Hub differ from what was sent: {listed(wrong)}. Push again")
    return tuple(commits)


def _commit(repo: str, revision: str, batch: CommitFiles, parent: str | None, message: str) -> str:
    """One commit on top of *parent* and of nothing else; its hash.

    After every error the head is looked at: where the commit is there and only its answer was lost, it is not made
    a second time.
    """

    def make() -> str:
        contents = ((entry.name, entry.read() if entry.local is None else str(entry.local)) for entry in batch.entries)
        adds = [CommitOperationAdd(name, content) for name, content in contents]
        gone = [CommitOperationDelete(name, is_folder=False) for name in batch.gone]
        with warnings.catch_warnings():  # what a server wants the client to warn about does not reach the screen
            warnings.simplefilter("ignore", UserWarning)
            made = hub().create_commit(
                repo, [*adds, *gone], commit_message=message, repo_type="dataset", revision=revision,
                parent_commit=parent,
            )  # fmt: skip
        return checked_commit(made.oid)

    def settled() -> str | None:
        now = read_head(repo, revision)
        if now.commit == parent:
            return None
        if all(now.holds(entry) for entry in batch.entries) and now.files.keys().isdisjoint(batch.gone):
            return str(now.commit)
        raise SeldioError(
            f"{printable(repo)} was changed by someone else in the meantime; their changes were not "
            "overwritten. Push again to see what would change now"
        ) from None

    return patiently(make, f"push to {printable(repo)}", settled=settled)
