"""``push``: check a dataset, show what would be sent, and send it with a card."""

from __future__ import annotations

import dataclasses
import fnmatch
import glob
import io
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Literal

from huggingface_hub import DatasetCard

from seldio import rules
from seldio.catalogues.look import check_classes
from seldio.catalogues.trees import read_tree
from seldio.check.description import description
from seldio.check.validation import examine
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, Source, open_source, write_bytes
from seldio.files.entries import LARGE, hidden
from seldio.files.names import MANIFEST, suffix_of
from seldio.files.writing import link
from seldio.findings import Finding, Report, Severity, Sink
from seldio.formats.datasets import LOOSE
from seldio.hub import repository
from seldio.hub.card import About, completed_card, read_card, split_files, values_of
from seldio.hub.repository import Head, Unreachable, asking, checked_name, content, holds, read_head
from seldio.rules.hub import HUB_RULES, HubFolder
from seldio.text import Displayed, plural, printable

#: What a dataset is made of; anything else stays behind and is named.
ALLOWED = frozenset(
    """
    csv tsv json jsonl ndjson parquet arrow eaf jams txt md rst pdf bib cff yaml yml toml xml wav flac ogg opus mp3 m4a
    mp4 mkv mov avi webm png jpg jpeg svg npy npz h5 hdf5 mat sofa zip tar gz bz2 xz py ipynb
    """.split()  # noqa: SIM905
)
#: Names without a suffix that belong to a dataset.
NAMED = ("license", "licence", "copying", "readme", "changelog", "citation", "notice", "authors")
_CARD = "README.md"

UploadKind = Literal["files", "parquet", "audiofolder"]
State = Literal["new", "changed", "same", "unknown"]


@dataclasses.dataclass(frozen=True)
class PushFile:
    """A file of a dataset that is pushed."""

    name: str
    size: int  # in bytes
    state: State  # how it compares with the Hub


@dataclasses.dataclass(frozen=True, repr=False)
class Pushed(Displayed):
    """The result of a push, or of its dry run."""

    repo: str  # ``user/name``
    url: str  # its page
    files: tuple[PushFile, ...]  # of the dataset, sorted by name; those that are new or changed are sent
    left_out: tuple[str, ...]  # files of the source that are not sent
    kept: tuple[str, ...]  # files on the Hub that are not in the source; they stay there
    removed: tuple[str, ...]  # files on the Hub that an earlier export wrote and that are no longer part of it; they go
    report: Report  # findings of the rules ``HUB`` and ``SAF``, and errors in the data; an error stops the push
    data: dict[str, int]  # how often each rule found something in the data itself
    card: str  # its text
    commit: str | None = None  # None for a dry run, and where nothing was to be sent
    unreachable: str | None = None  # why the files were not compared with the Hub, where it could not be reached

    def __str__(self) -> str:
        counts = [f"{count:,} {state}" for state, count in self.states().items() if count]
        outcome = "stopped by findings" if self.refused else self.url if self.commit else "nothing sent"
        return f"{self.repo}: {plural(len(self.files), 'file')} ({', '.join(counts)}); {outcome}"

    def states(self) -> dict[State, int]:
        """Return how many files are new, changed, the same or unknown."""
        states: tuple[State, ...] = ("new", "changed", "same", "unknown")
        return {state: sum(file.state == state for file in self.files) for state in states}

    @property
    def refused(self) -> bool:
        """Return whether findings stopped it."""
        return self.report.reaches(Severity.ERROR)


def push(
    source: str | os.PathLike[str],
    repo: str,
    *,
    kind: UploadKind = "files",
    format: str | None = None,
    private: bool = False,
    dry_run: bool = False,
    revision: str = "main",
    message: str | None = None,
    include: Sequence[str] = (),
    force: bool = False,
    license: str | None = None,
    language: Sequence[str] = (),
    title: str | None = None,
    citation: str | os.PathLike[str] | None = None,
) -> Pushed:
    """Upload a dataset to the Hub, with a card.

    Only new and changed files are sent. After an interruption, the same call sends the others.

    Args:
        source: a file, folder or archive.
        repo: the dataset on the Hub, which is made if there is none.
        kind: how the data is stored: the files as they are, Parquet, or recordings with ``metadata.jsonl``
            (audiofolder).
        format: the format of the labels, and with it their classes; found from their content if not given.
        private: make a new dataset private; an existing one must be private already.
        dry_run: change nothing; where the Hub cannot be reached, without comparing files with those on it.
        revision: the branch to send to.
        message: the message of the commit.
        include: pattern of files that go although datasets are not made of such files. May be repeated.
        force: send data in which ``seldio validate`` finds errors too, such as angles in radians.
        license: card: the licence, such as ``cc-by-4.0``.
        language: card: a language of the data, such as ``en``; of questions it is found. May be repeated.
        title: card: what the dataset is called.
        citation: card: BibTeX (which begins with ``@``), or a file with it.

    Raises:
        InvalidData: labels that are to be exported have errors.
        UsageError: there is nothing to send, the classes may be those of several lists and *format* is not given, or
            the Hub does not know the name or token.
        SeldioError: the Hub cannot be reached, or somebody else changed the dataset meanwhile.
    """
    repo, path = checked_name(repo), os.fspath(source)
    about = About(license, tuple(language), title, _citation(citation))
    findings: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="seldio-push-") as folder, ExitStack() as stack:
        sent_path = path
        if kind != "files":
            from seldio.data.exporting import export

            sent_path = str(Path(folder) / "export")
            export(path, sent_path, kind, format=format, force=force)
        opened = stack.enter_context(open_source(sent_path, findings.append, LARGE, as_it_lies=True))
        files, left_out = _dataset_files(opened, include) if kind == "files" else (list(opened), [])
        try:
            head = read_head(repo, revision, may_lack=True)
        except Unreachable as error:  # which a dry run can do without
            if not dry_run:
                raise
            head = Head(repo, unreachable=error.text)
        _check_private(repo, head.private if private else None)
        removed = _stale_files(files, head)

        examined = examine(path, format=format, facts=True)
        labels = [part.file.path for reading in examined.labels for part in reading.parts]
        check_classes(examined.report, by_name=read_tree(labels, path).row is not LOOSE)
        errors = [finding for finding in examined.report if finding.severity is Severity.ERROR and not force]

        facts = description(examined, path, named=format is not None)
        staying_names = head.files.keys() - set(removed) - {entry.name for entry in files}
        splits = split_files(path, files, examined if kind == "files" else None, staying_names)
        card = _old_card(files, head, findings.append)
        if card is not None:
            card = completed_card(card, repo, files, splits, facts, about.completed(facts))
            text = str(card).encode()
            readme = Entry(_CARD, _CARD, len(text), len(text), None, partial(io.BytesIO, text))
            files = sorted([*(entry for entry in files if entry.name != _CARD), readme], key=lambda entry: entry.name)

        report = Report(files=len(files))
        values = None if card is None else values_of(card)
        report.add(dict.fromkeys([*findings, *errors, *rules.findings(HUB_RULES, HubFolder(path, files, values))]))
        pushed = Pushed(
            repo=repo,
            url=f"{repository.client().endpoint}/datasets/{repo}",
            files=tuple(PushFile(entry.name, entry.size, _state(entry, head)) for entry in files),
            left_out=tuple(left_out),
            kept=tuple(sorted(staying_names - {_CARD, ".gitattributes"})),
            removed=removed,
            report=report,
            data=examined.report.by_rule(),
            card="" if card is None else str(card),
            unreachable=head.unreachable,
        )
        if pushed.refused or dry_run:
            return pushed
        changed = {file.name for file in pushed.files if file.state != "same"}
        if not changed and not removed:
            return pushed
        sent = [entry for entry in files if entry.name in changed]
        message = message or f"Upload {printable(Path(path).name)} with seldio"
        commit = _send(sent, Path(folder) / "upload", head, revision, message, removed, private=private)
        return dataclasses.replace(pushed, commit=commit)


def _citation(path: str | os.PathLike[str] | None) -> str | None:
    if path is None or (isinstance(path, str) and path.startswith("@")):
        return path
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--citation {path}: cannot be read as text ({error})") from None


def _dataset_files(source: Source, include: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """Return the files of a dataset that are sent, and the names of those that are not."""
    sent, left_out = list[Entry](), list[str]()
    for entry in source:
        allowed = suffix_of(entry.name) in ALLOWED or entry.name.rpartition("/")[2].lower().startswith(NAMED)
        if allowed or any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in include):
            sent.append(entry)
        else:
            left_out.append(entry.name)
    if source.kind == "folder":  # people should know that hidden files are never sent
        left_out += [path.name + "/" * path.is_dir() for path in Path(source.path).iterdir() if hidden(path.name)]
    if not sent:
        raise UsageError(
            f"{printable(source.path)} holds no files that datasets usually consist of; use --include PATTERN to add "
            "some"
        )
    return sent, sorted(left_out)


def _state(entry: Entry, head: Head) -> State:
    if head.unreachable is not None:
        return "unknown"
    if entry.name not in head.files:
        return "new"
    return "same" if holds(entry, head.files[entry.name]) else "changed"


def _old_card(files: Sequence[Entry], head: Head, sink: Sink) -> DatasetCard | None:
    """Return the card of the source, or that on the Hub, which somebody may have edited there, or an empty one."""
    text, path = b"", _CARD
    if (present := next((entry for entry in files if entry.name == _CARD), None)) is not None:
        text, path = present.read(), present.path
    elif _CARD in head.files:
        text, path = content(head, _CARD), f"{head.repo}/{_CARD}"
    return read_card(text.decode("utf-8", "replace"), path, sink)


def _stale_files(files: Sequence[Entry], head: Head) -> tuple[str, ...]:
    """Return the names of files on the Hub that an earlier export wrote and that *files*, an export, do not contain.

    They would be read along with the new shards. A file whose size or hash is not that of the earlier export is
    somebody else's, and stays.
    """
    names = {entry.name for entry in files}
    if MANIFEST not in names or MANIFEST not in head.files:
        return ()
    from seldio.files.exports import Manifest

    try:
        written = Manifest.parse(content(head, MANIFEST), MANIFEST).files
    except SeldioError:  # it is of something else
        return ()
    remotes = [(head.files.get(str(file.name)), file) for file in written if str(file.name) not in names]
    stale = [
        remote.path
        for remote, file in remotes
        if remote is not None and remote.size == file.bytes and (not remote.lfs or remote.lfs.sha256 == file.sha256)
    ]
    return tuple(sorted(stale))


def _send(
    entries: Sequence[Entry],
    folder: Path,
    head: Head,
    revision: str,
    message: str,
    removed: Sequence[str],
    *,
    private: bool,
) -> str:
    """Commit files on top of *head*, and return the commit; *folder* is made of them, with links to those on disk."""
    for entry in entries:
        if entry.real is None:
            write_bytes(folder / entry.name, entry.read(), folder)
        else:
            link(entry.real, folder / entry.name, folder)
    repo, hub = head.repo, repository.client()
    with asking(f"push to {printable(repo)}"):
        if head.commit is None:
            # None leaves it to the settings of the organisation
            hub.create_repo(repo, repo_type="dataset", private=private or None, exist_ok=True)
            _check_private(repo, hub.dataset_info(repo).private if private else None)
            if revision != "main":
                hub.create_branch(repo, branch=revision, repo_type="dataset", exist_ok=True)
        info = hub.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            revision=revision,
            commit_message=message,
            parent_commit=head.commit,
            delete_patterns=[glob.escape(name) for name in removed] or None,
        )
        return str(info.oid)


def _check_private(repo: str, is_private: bool | None) -> None:
    if is_private is False:
        raise UsageError(f"{printable(repo)} already exists and is public; --private does not change that")
