"""SUB2: a challenge package: which systems it contains, and which files belong to each of them.

The documented layout is ``[ROOT/]taskN/LABEL/LABEL.meta.yaml`` next to ``LABEL/LABEL/*.csv``, one CSV file per
recording. Files elsewhere are found as well, so that everything wrong is reported in one go.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import is_csv, suffix_of
from seldio.findings import Finding
from seldio.formats.yaml_text import Pointer, YamlDocument, parse
from seldio.reader_rules import reader_rule
from seldio.rules.collection import Collection, Reference, grouped
from seldio.rules.package_names import META_NAME, TASK, label_folder, prefix_of, task_of

_LABEL = re.compile(
    r"(?P<name>[^_\s./\\]+)_(?P<institute>[^_\s./\\]+)_(?P<track>task[0-9]+[A-Za-z]*)_(?P<index>[0-9]{1,9})"
)
YAML_NAME = re.compile(r"(?i)(\.meta)?\.ya?ml$")


class PackageFile(NamedTuple):
    """An entry with its POSIX path in the package, which begins above the source if that is only a part of one."""

    name: str
    entry: Entry

    @property
    def folder(self) -> str:
        """The folder it is in."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        """The file name alone."""
        return self.name.rpartition("/")[2]

    @property
    def label(self) -> str:
        """The name of a meta file before ``.meta.yaml``, in any spelling."""
        return YAML_NAME.sub("", self.base)

    @property
    def is_rightly_named(self) -> bool:
        """Whether it is named as the challenge asks meta files to be."""
        return self.base == f"{self.label}.meta.yaml"

    def shown(self, folder: str) -> str:
        """Return the path of *folder*, which contains this file, as shown to people."""
        return self.entry.path.removesuffix(self.name[len(folder) :] if folder else "/" + self.name)


class Meta:
    """A meta file; its *document* is None if it cannot be read, and *fields* are empty if it is not a block."""

    def __init__(self, file: PackageFile) -> None:
        self.file, self.path = file, file.entry.path
        self.document: YamlDocument | None = None
        self.problems: list[Finding] = []  # with its bytes and syntax
        try:
            self.document = parse(file.entry.read(), self.path, self.problems.append)
        except InvalidData as error:
            self.problems.append(error.finding)
        self.value: Any = self.document.value if self.document is not None else None
        self.fields: dict[Any, Any] = self.value if isinstance(self.value, dict) else {}
        submission = self.fields.get("submission")
        label = submission.get("label") if isinstance(submission, dict) else None
        #: ``submission.label``, if it is a non-blank string
        self.label = label if isinstance(label, str) and label.strip() else None

    def place(self, pointer: Pointer, key: bool = False) -> dict[str, Any]:
        """Return the place of a field, or of its *key*, as findings need it; a KeyError if it is missing."""
        if self.document is None:
            raise KeyError(pointer)
        span = self.document.locate(pointer, key)
        at = {"line": span.line, "column": span.column, "excerpt": span.excerpt}
        return {"path": self.path, "value": span.value if pointer else None, **at}

    def finding(
        self, code: str, pointer: Pointer, message: str, hint: str | None = None, *, key: bool = False
    ) -> Finding:
        """Return a finding at a field, or at its *key*."""
        return reader_rule(code).at(message=message, hint=hint, **self.place(pointer, key))


@dataclasses.dataclass(frozen=True)
class Label:
    """The parts of a submission label."""

    name: str
    institute: str
    track: str
    index: str

    @staticmethod
    def parse(text: str) -> Label | None:
        """Return the parts of *text*; None if it is malformed."""
        match = _LABEL.fullmatch(text)
        return None if match is None else Label(**match.groupdict())


@dataclasses.dataclass(frozen=True)
class System:
    """One system of a package."""

    label: str  # the name of its folder
    task: str | None  # the folder above, if that is one of a task
    folder: str  # its folder in the package, as a POSIX path
    path: str  # its folder as shown to people
    sheet: Meta | None  # its meta file, wherever that is
    output: str  # the folder of its CSV files, below *folder*; empty for *folder* itself
    outputs: tuple[Entry, ...]  # the CSV files, one per recording
    elsewhere: Mapping[str, tuple[Entry, ...]]  # CSV files in its other folders
    rest: tuple[PackageFile, ...]  # its other files, except for PDFs

    @property
    def parts(self) -> Label | None:
        """The parts of the label; None if it is malformed."""
        return Label.parse(self.label)

    @property
    def team(self) -> str:
        """Who submits it; empty if the label is malformed."""
        return "" if self.parts is None else f"{self.parts.name}_{self.parts.institute}"

    @property
    def bare(self) -> bool:
        """Whether there is nothing of a package but the folder of its outputs."""
        return self.task is None and self.sheet is None

    @property
    def track(self) -> str | None:
        """``task3``, ``task3a``, ``task3b``, or whatever is there instead."""
        labelled = self.parts.track if self.parts is not None else None
        # according to the task page, ROOT/taskN/LABEL: a folder task3 contains the systems of both tracks
        return labelled if self.task in (None, "task3") and labelled is not None else self.task

    @property
    def clips(self) -> set[str]:
        """The recordings that its outputs are for."""
        return clips_of(self.outputs)

    def below(self, folder: str) -> str:
        """Return a folder of the system as shown to people."""
        return f"{self.path}/{folder}" if folder else self.path


def clips_of(entries: Sequence[Entry]) -> set[str]:
    """Return the recordings that files are for."""
    return {entry.name.rpartition("/")[2][:-4] for entry in entries}


@dataclasses.dataclass(frozen=True)
class Package:
    """A package, taken apart."""

    path: str  # the source as the user passed it
    systems: tuple[System, ...]  # in the order of their folders
    metas: tuple[Meta, ...]  # all meta files, of systems or not
    astray: tuple[Meta, ...]  # meta files that are not at ``[ROOT/]taskN/LABEL/``
    loose: tuple[PackageFile, ...]  # CSV files that belong to no system
    tasks: Mapping[str, str]  # the folders of tasks, by their path as shown to people
    whole: bool  # whether it is a whole package; a single meta file or a folder inside a package is not
    reported: bool  # whether there is a PDF
    reference: Reference | None  # the expected recordings

    @property
    def orphans(self) -> tuple[Meta, ...]:
        """Meta files that belong to no system."""
        owned = {system.sheet.path for system in self.systems if system.sheet is not None}
        return tuple(meta for meta in self.metas if meta.path not in owned)


def systems(collection: Collection) -> Package:
    """Take a package apart and read its meta files."""
    prefix = prefix_of(collection)
    every = [PackageFile(prefix + entry.name, entry) for entry in collection.entries]
    files = [file for file in every if not _is_of_another_task(file.name)]
    # places do not matter for a single file, nor for loose meta files in a folder
    placed = any(is_csv(file.entry.name) or task_of(file.entry.name) is not None for file in every)
    tree = collection.kind in ("zip", "tar") or (collection.kind == "folder" and placed)
    groups = _by_system(files) if tree else {}
    inside = {file.name for group in groups.values() for file in group}
    outside = [file for file in files if file.name not in inside]
    sheets = {folder: _sheet(folder, groups[folder], outside) for folder in sorted(groups)}
    chosen = {sheet.name for sheet in sheets.values() if sheet is not None}
    metas = {file.name: Meta(file) for file in files if META_NAME.search(file.base) or file.name in chosen}
    found = tuple(
        _system(folder, groups[folder], metas[sheet.name] if sheet is not None else None)
        for folder, sheet in sheets.items()
    )
    return Package(
        path=collection.path,
        systems=found,
        metas=tuple(metas.values()),
        astray=tuple(meta for meta in metas.values() if tree and not _is_in_place(meta.file.name)),
        loose=tuple(file for file in outside if is_csv(file.name)),
        tasks={file.shown(task): PurePosixPath(task).name for file in every if (task := task_of(file.name))},
        whole=bool(found) and not prefix and not all(system.bare for system in found),
        reported=any(suffix_of(file.name) == "pdf" for file in files),
        reference=collection.reference,
    )


def _is_of_another_task(name: str) -> bool:
    match = TASK.fullmatch((task_of(name) or "").rpartition("/")[2])
    return match is not None and int(match[1]) != 3


def _is_in_place(name: str) -> bool:
    """Return whether a meta file is at ``[ROOT/]taskN/LABEL/``."""
    task = task_of(name)
    return task is not None and task.count("/") <= 1 and name.count("/") == task.count("/") + 2


def _by_system(files: Sequence[PackageFile]) -> dict[str, list[PackageFile]]:
    """Return the files of each system by its folder: ``taskN/LABEL``; without tasks, where there is one meta file.

    Without any of these, the folders that are called like a label.
    """

    def below_task(file: PackageFile) -> str | None:
        task = task_of(file.name)
        if task is None or file.folder == task:
            return None
        return f"{task}/{file.name[len(task) + 1 :].partition('/')[0]}"

    def is_system(folder: str, group: list[PackageFile]) -> bool:
        named = Label.parse(PurePosixPath(folder).name) is not None
        return named or any(is_csv(file.name) or YAML_NAME.search(file.base) for file in group)

    groups = {folder: group for folder, group in grouped(files, below_task).items() if is_system(folder, group)}
    if groups:
        return groups
    metas = Counter(file.folder for file in files if META_NAME.search(file.base))
    homes = {folder for folder, count in metas.items() if count == 1}
    if not metas:
        return grouped(files, lambda file: label_folder(file.name) or None)

    def home(file: PackageFile) -> str | None:
        above = [file.folder, *map(str, PurePosixPath(file.folder).parents)]
        return next((folder for folder in above if folder in homes), "" if "" in homes else None)

    return {folder: group for folder, group in grouped(files, home).items() if len(group) > 1}


def _sheet(folder: str, group: Sequence[PackageFile], outside: Sequence[PackageFile]) -> PackageFile | None:
    """Return the meta file that is meant for a system, in its folder or not, correctly named or not."""
    label = PurePosixPath(folder).name
    files = (
        [file for file in group if META_NAME.search(file.base)]
        or [file for file in outside if META_NAME.search(file.base) and file.label == label]
        or [file for file in group if file.folder == folder and YAML_NAME.search(file.base)]
    )
    return min(
        files, key=lambda file: (file.folder != folder, file.base != f"{label}.meta.yaml", file.name), default=None
    )


def _system(folder: str, group: Sequence[PackageFile], sheet: Meta | None) -> System:
    label = PurePosixPath(folder).name or (sheet.file.label if sheet is not None else "")
    task = task_of(folder + "/")
    csvs = grouped(group, lambda file: file.folder[len(folder) :].strip("/") if is_csv(file.name) else None)
    outputs = {name: tuple(file.entry for file in files) for name, files in csvs.items()}
    documented = (label, f"{label}.output")  # both occur; otherwise the folder with most files is used

    def rank(name: str) -> tuple[int, int, str]:
        return documented.index(name) if name in documented else 2, -len(outputs[name]), name

    output = min(outputs, key=rank, default="")
    taken = sheet.file if sheet is not None else None
    return System(
        label=label,
        task=None if task is None else PurePosixPath(task).name,
        folder=folder,
        path=group[0].shown(folder),
        sheet=sheet,
        output=output,
        outputs=outputs.pop(output, ()),
        elsewhere=outputs,
        rest=tuple(file for file in group if file != taken and not is_csv(file.name) and suffix_of(file.name) != "pdf"),
    )
