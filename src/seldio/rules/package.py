"""SUB2: a challenge package: which systems it holds, and what belongs to each of them.

The documented shape is ``[ROOT/]taskN/LABEL/LABEL.meta.yaml`` beside ``LABEL/LABEL/*.csv``, one csv for each
recording. What lies elsewhere is found as well, so that everything wrong is said in one go.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.findings import Finding, Rule
from seldio.formats.yaml_text import Pointer, YamlDocument, parse
from seldio.rules.collection import Collection, Reference, grouped

META = ".meta.yaml"
_LABEL = re.compile(
    r"(?P<name>[^_\s./\\]+)_(?P<institute>[^_\s./\\]+)_(?P<track>task[0-9]+[A-Za-z]*)_(?P<index>[0-9]{1,9})"
)
#: Folders of tasks, and what people write in their place.
_TASK = re.compile(r"(?i)task[ _-]*([0-9]{1,4})[ _-]*[a-z]?")
_LABEL_FOLDER = re.compile(r"(?i).+_task[0-9]+[a-z]*_[0-9]+")
_META_NAME = re.compile(r"(?i)\.meta\.ya?ml$")
YAML_NAME = re.compile(r"(?i)(\.meta)?\.ya?ml$")
_OURS = 3


class PackageFile(NamedTuple):
    """An entry with its POSIX path in the package, which for a part of one begins above the source."""

    name: str
    entry: Entry

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return self.name.rpartition("/")[0]

    @property
    def base(self) -> str:
        """The file name alone."""
        return self.name.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name of a meta file up to ``.meta.yaml``, in any spelling."""
        return YAML_NAME.sub("", self.base)

    @property
    def is_meta(self) -> bool:
        """Whether it is a meta file by its name."""
        return _META_NAME.search(self.base) is not None

    @property
    def is_csv(self) -> bool:
        """Whether it may be an output."""
        return self.name.lower().endswith(".csv")

    def shown(self, folder: str) -> str:
        """The path of *folder*, in which this file lies, as shown to people."""
        return self.entry.path.removesuffix(self.name[len(folder) :] if folder else "/" + self.name)


class Meta:
    """A meta file; its *document* is None where it cannot be read, and *fields* are empty where it is no block."""

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
        #: ``submission.label``, if it is text and not blank
        self.label = label if isinstance(label, str) and label.strip() else None

    def place(self, pointer: Pointer, key: bool = False) -> dict[str, Any]:
        """Where a field stands, or its *key*, as findings want it; a KeyError if it is not there."""
        if self.document is None:
            raise KeyError(pointer)
        span = self.document.locate(pointer, key)
        at = {"line": span.line, "column": span.column, "excerpt": span.excerpt}
        return {"path": self.path, "value": span.value if pointer else None, **at}

    def finding(self, rule: Rule, pointer: Pointer | None, message: str, hint: str, *, key: bool = False) -> Finding:
        """A finding of *rule* at a field, or at its *key*; at the file as a whole, where there is no pointer."""
        place = {"path": self.path} if pointer is None else self.place(pointer, key)
        return rule.at(message=message, hint=hint, **place)


@dataclasses.dataclass(frozen=True)
class Label:
    """The parts of a submission label."""

    name: str
    institute: str
    track: str
    index: str

    @staticmethod
    def parse(text: str) -> Label | None:
        """The parts of *text*; None where it is malformed."""
        match = _LABEL.fullmatch(text)
        return None if match is None else Label(**match.groupdict())


@dataclasses.dataclass(frozen=True)
class System:
    """One system of a package."""

    label: str  # the name of its folder
    task: str | None  # the folder above, where that is one of a task
    folder: str  # its folder in the package, as a POSIX path
    path: str  # its folder as shown to people
    sheet: Meta | None  # its meta file, wherever that lies
    output: str  # the folder its csv files are taken from, below *folder*; empty for *folder* itself
    outputs: tuple[Entry, ...]  # the csv files, one for each recording
    elsewhere: Mapping[str, tuple[Entry, ...]]  # csv files in its other folders
    rest: tuple[PackageFile, ...]  # its other files, except for PDFs

    @property
    def parts(self) -> Label | None:
        """The parts of the label; None where it is malformed."""
        return Label.parse(self.label)

    @property
    def team(self) -> str:
        """Who submits; empty where the label is malformed."""
        return f"{self.parts.name}_{self.parts.institute}" if self.parts is not None else ""

    @property
    def track(self) -> str | None:
        """``task3``, ``task3a``, ``task3b``, or what stands in its place."""
        labelled = self.parts.track if self.parts is not None else None
        # the page says ROOT/taskN/LABEL: a folder task3 holds the systems of both tracks
        return labelled if self.task in (None, "task3") and labelled is not None else self.task

    def finding(self, rule: Rule, message: str, hint: str, path: str | None = None) -> Finding:
        """A finding of *rule* about its folder, or about another of its paths."""
        return rule.at(self.path if path is None else path, message, hint)

    def below(self, folder: str) -> str:
        """A folder of the system as shown to people."""
        return f"{self.path}/{folder}" if folder else self.path


@dataclasses.dataclass(frozen=True)
class Package:
    """A package, taken apart."""

    path: str  # the source as the user named it
    systems: tuple[System, ...]  # in the order of their folders
    metas: tuple[Meta, ...]  # all meta files, of systems or not
    astray: tuple[Meta, ...]  # meta files that do not lie at ``[ROOT/]taskN/LABEL/``
    loose: tuple[PackageFile, ...]  # csv files of no system
    tasks: Mapping[str, str]  # the folders of tasks, by their path as shown to people
    whole: bool  # whether it is all of a package; a single meta file and a folder inside a package are not
    reported: bool  # whether there is a PDF
    reference: Reference | None  # the recordings to expect

    @property
    def subjects(self) -> tuple[System | Meta, ...]:
        """What rules look at by itself."""
        return *self.systems, *self.metas

    @property
    def orphans(self) -> tuple[Meta, ...]:
        """Meta files of no system."""
        owned = {id(system.sheet) for system in self.systems}
        return tuple(meta for meta in self.metas if id(meta) not in owned)

    @staticmethod
    def finding(rule: Rule, where: str | Mapping[str, Any], message: str, hint: str) -> Finding:
        """A finding of *rule* at a path, or at a place of a meta file."""
        return rule.at(message=message, hint=hint, **({"path": where} if isinstance(where, str) else where))


def is_package(entries: Iterable[Entry]) -> bool:
    """Whether a source looks like a package: it has a meta file, or the folders ``taskN/LABEL/``."""
    return any(_META_NAME.search(entry.name) or _is_labelled(entry.name) for entry in entries)


def systems(collection: Collection) -> Package:
    """Take a package apart and read its meta files."""
    prefix = _prefix(collection)
    every = [PackageFile(prefix + entry.name, entry) for entry in collection.entries]
    files = [file for file in every if not _is_foreign(file.name)]
    # the places of files do not count for one file, nor for meta files that lie about in a folder
    placed = any(file.entry.name.lower().endswith(".csv") or _task(file.entry.name) is not None for file in every)
    tree = collection.kind in ("zip", "tar") or (collection.kind == "folder" and placed)
    groups = _grouped(files) if tree else {}
    inside = {file.name for group in groups.values() for file in group}
    outside = [file for file in files if file.name not in inside]
    sheets = {folder: _sheet(folder, groups[folder], outside) for folder in sorted(groups)}
    chosen = {sheet.name for sheet in sheets.values() if sheet is not None}
    metas = {file.name: Meta(file) for file in files if file.is_meta or file.name in chosen}
    found = tuple(
        _system(folder, groups[folder], metas[sheet.name] if sheet is not None else None)
        for folder, sheet in sheets.items()
    )
    return Package(
        path=collection.path,
        systems=found,
        metas=tuple(metas.values()),
        astray=tuple(meta for meta in metas.values() if tree and not _in_place(meta.file.name)),
        loose=tuple(file for file in outside if file.is_csv),
        tasks={file.shown(task): PurePosixPath(task).name for file in every if (task := _task(file.name))},
        whole=bool(found) and not prefix,
        reported=any(file.name.lower().endswith(".pdf") for file in files),
        reference=collection.reference,
    )


def _prefix(collection: Collection) -> str:
    """What stands in front of names where the source is a task's or system's folder inside a package."""
    names = [entry.name for entry in collection.entries]
    if collection.kind != "folder" or any(_task(name) is not None for name in names):
        return ""
    parts = collection.path.replace("\\", "/").rstrip("/").split("/")
    levels = {name.count("/") for name in names if _META_NAME.search(name)}
    for depth in (1, 2):  # taskN, and taskN/LABEL
        if len(parts) >= depth and _TASK.fullmatch(parts[-depth]) and 2 - depth in levels:
            return "/".join(parts[-depth:]) + "/"
    return ""


def _task(name: str) -> str | None:
    """The innermost folder of a task on the way to a file."""
    folders = name.split("/")[:-1]
    places = [place for place, part in enumerate(folders, 1) if _TASK.fullmatch(part)]
    return "/".join(folders[: places[-1]]) if places else None


def _is_foreign(name: str) -> bool:
    """Whether a file belongs to another task of the challenge."""
    match = _TASK.fullmatch((_task(name) or "").rpartition("/")[2])
    return match is not None and int(match[1]) != _OURS


def _is_labelled(name: str) -> bool:
    """Whether a file lies in the folder of a label, in that of a task."""
    task = _task(name)
    label, slash, _ = name[len(task) + 1 :].partition("/") if task is not None else ("", "", "")
    return bool(slash) and _LABEL_FOLDER.fullmatch(label) is not None


def _in_place(name: str) -> bool:
    """Whether a meta file lies at ``[ROOT/]taskN/LABEL/``."""
    task = _task(name)
    return task is not None and task.count("/") <= 1 and name.count("/") == task.count("/") + 2


def _grouped(files: Sequence[PackageFile]) -> dict[str, list[PackageFile]]:
    """The files of each system by its folder: ``taskN/LABEL``; without tasks, wherever one meta file lies."""

    def system(file: PackageFile) -> str | None:
        task = _task(file.name)
        inside = task is not None and file.folder != task
        return f"{task}/{file.name[len(task) + 1 :].partition('/')[0]}" if task is not None and inside else None

    def is_system(folder: str, group: list[PackageFile]) -> bool:
        named = Label.parse(PurePosixPath(folder).name) is not None
        return named or any(file.is_csv or YAML_NAME.search(file.base) for file in group)

    groups = {folder: group for folder, group in grouped(files, system).items() if is_system(folder, group)}
    if groups:
        return groups
    metas = Counter(file.folder for file in files if file.is_meta)
    homes = {folder for folder, count in metas.items() if count == 1}

    def home(file: PackageFile) -> str | None:
        above = [file.folder, *map(str, PurePosixPath(file.folder).parents)]
        return next((folder for folder in above if folder in homes), "" if "" in homes else None)

    return {folder: group for folder, group in grouped(files, home).items() if len(group) > 1}


def _sheet(folder: str, group: Sequence[PackageFile], outside: Sequence[PackageFile]) -> PackageFile | None:
    """The meta file that is meant for a system, in its folder or not, well named or not."""
    label = PurePosixPath(folder).name
    files = (
        [file for file in group if file.is_meta]
        or [file for file in outside if file.is_meta and file.stem == label]
        or [file for file in group if file.folder == folder and YAML_NAME.search(file.base)]
    )
    return min(files, key=lambda file: (file.folder != folder, file.base != label + META, file.name), default=None)


def _system(folder: str, group: Sequence[PackageFile], sheet: Meta | None) -> System:
    """The system in *folder*."""
    label = PurePosixPath(folder).name or (sheet.file.stem if sheet is not None else "")
    task = _task(folder + "/")
    csvs = grouped(group, lambda file: file.folder[len(folder) :].strip("/") if file.is_csv else None)
    outputs = {name: tuple(file.entry for file in files) for name, files in csvs.items()}
    documented = (label, f"{label}.output")  # what is also seen; else the fullest is taken

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
        rest=tuple(file for file in group if file != taken and not file.name.lower().endswith((".csv", ".pdf"))),
    )
