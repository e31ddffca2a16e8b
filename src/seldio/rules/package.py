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
from typing import Any, NamedTuple, Self

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.findings import Finding
from seldio.formats.yaml_text import Pointer, YamlDocument, parse
from seldio.rules.collection import Collection, Reference

META = ".meta.yaml"
_META_SUFFIX = re.compile(r"(?i)(\.meta)?\.ya?ml$")
_LABEL = re.compile(
    r"(?P<name>[^_\s./\\]+)_(?P<institute>[^_\s./\\]+)_(?P<track>task[0-9]+[A-Za-z]*)_(?P<index>[0-9]{1,9})"
)


def stem(name: str) -> str:
    """The name of a meta file up to ``.meta.yaml``, in any spelling."""
    return _META_SUFFIX.sub("", name)


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

    def shown(self, folder: str) -> str:
        """The path of *folder*, in which this file lies, as shown to people."""
        return self.entry.path.removesuffix(self.name[len(folder) :] if folder else "/" + self.name)


@dataclasses.dataclass(frozen=True)
class Meta:
    """A meta file; *document* is None where it cannot be read."""

    file: PackageFile
    document: YamlDocument | None

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.file.entry.path

    @property
    def stem(self) -> str:
        """The file name up to ``.meta.yaml``."""
        return stem(self.file.base)

    @property
    def well_named(self) -> bool:
        """Whether it is called ``….meta.yaml``."""
        return self.file.base.endswith(META)

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it but comments."""
        return self.document is not None and self.document.value is None

    @property
    def readable(self) -> bool:
        """Whether it is a block of fields."""
        return self.document is not None and isinstance(self.document.value, dict)

    @property
    def fields(self) -> dict[Any, Any]:
        """What it says; nothing if it is not readable."""
        return self.document.value if self.document is not None and self.readable else {}

    def place(self, pointer: Pointer, key: bool = False) -> dict[str, Any]:
        """Where a field stands, or its *key*, as findings want it; a KeyError if it is not there."""
        if self.document is None:
            raise KeyError(pointer)
        span = self.document.locate(pointer, key)
        value = span.text if pointer else None
        at = {"line": span.line, "column": span.column, "value": value, "excerpt": span.excerpt}
        return {"path": self.path, **at}

    @property
    def label(self) -> str | None:
        """``submission.label``, if it is text and not blank."""
        submission = self.fields.get("submission")
        label = submission.get("label") if isinstance(submission, dict) else None
        return label if isinstance(label, str) and label.strip() else None


@dataclasses.dataclass(frozen=True)
class Label:
    """The parts of a submission label."""

    name: str
    institute: str
    track: str
    index: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The parts of *text*; None where it is malformed."""
        match = _LABEL.fullmatch(text)
        return None if match is None else cls(**match.groupdict())

    @property
    def team(self) -> str:
        """Who submits."""
        return f"{self.name}_{self.institute}"


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
    def track(self) -> str | None:
        """``task3``, ``task3a``, ``task3b``, or what stands in its place."""
        said = self.parts.track if self.parts is not None else None
        # the page says ROOT/taskN/LABEL: a folder task3 holds the systems of both tracks
        return said if self.task in (None, "task3") and said is not None else self.task

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
    findings: tuple[Finding, ...]  # what reading the meta files brought up

    @property
    def orphans(self) -> tuple[Meta, ...]:
        """Meta files of no system."""
        owned = {id(system.sheet) for system in self.systems}
        return tuple(meta for meta in self.metas if id(meta) not in owned)


#: Folders of tasks, and what people write in their place.
_TASK = re.compile(r"(?i)task[ _-]*([0-9]{1,4})[ _-]*[a-z]?")
_LABEL_FOLDER = re.compile(r"(?i).+_task[0-9]+[a-z]*_[0-9]+")
_META_NAME = re.compile(r"(?i)\.meta\.ya?ml$")
_YAML_NAME = re.compile(r"(?i)\.ya?ml$")
_OURS = 3


def is_package(entries: Iterable[Entry]) -> bool:
    """Whether a source looks like a package: it has a meta file, or the folders ``taskN/LABEL/``."""
    return any(_META_NAME.search(entry.name) or _is_labelled(entry.name) for entry in entries)


def systems(collection: Collection) -> Package:
    """Take a package apart and read its meta files."""
    prefix = _prefix(collection)
    every = [PackageFile(prefix + entry.name, entry) for entry in collection.entries]
    files = [file for file in every if not _is_foreign(file.name)]
    tree = _is_tree(collection)
    groups = _grouped(files) if tree else {}
    grouped = {file.name for group in groups.values() for file in group}
    outside = [file for file in files if file.name not in grouped]
    reader = _MetaReader(outside)
    found = tuple(reader.system(folder, groups[folder]) for folder in sorted(groups))
    metas = tuple(reader.read(file) for file in files if reader.wants(file))
    return Package(
        path=collection.path,
        systems=found,
        metas=metas,
        astray=tuple(meta for meta in metas if tree and not _in_place(meta)),
        loose=tuple(file for file in outside if _is_csv(file.name)),
        tasks={file.shown(task): PurePosixPath(task).name for file in every if (task := _task(file.name))},
        whole=bool(found) and not prefix,
        reported=any(file.name.lower().endswith(".pdf") for file in files),
        reference=collection.reference,
        findings=tuple(reader.findings),
    )


def _is_tree(collection: Collection) -> bool:
    """Whether the places of files count: not for one file, nor for meta files that lie about in a folder."""
    names = [entry.name for entry in collection.entries]
    placed = any(_is_csv(name) or _task(name) is not None for name in names)
    return collection.kind in ("zip", "tar") or (collection.kind == "folder" and placed)


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
    task = _task(name)
    label, slash, _ = name[len(task) + 1 :].partition("/") if task is not None else ("", "", "")
    return bool(slash) and _LABEL_FOLDER.fullmatch(label) is not None


def _is_csv(name: str) -> bool:
    return name.lower().endswith(".csv")


def _in_place(meta: Meta) -> bool:
    """Whether a meta file lies at ``[ROOT/]taskN/LABEL/``."""
    task = _task(meta.file.name)
    return task is not None and task.count("/") <= 1 and meta.file.name.count("/") == task.count("/") + 2


def _grouped(files: Sequence[PackageFile]) -> dict[str, list[PackageFile]]:
    """The files of each system by its folder: ``taskN/LABEL``; without tasks, wherever one meta file lies."""
    groups: dict[str, list[PackageFile]] = {}
    for file in files:
        task = _task(file.name)
        if task is not None and file.folder != task:
            label = file.name[len(task) + 1 :].partition("/")[0]
            groups.setdefault(f"{task}/{label}", []).append(file)
    return {folder: group for folder, group in groups.items() if _is_system(folder, group)} or _homes(files)


def _is_system(folder: str, group: Sequence[PackageFile]) -> bool:
    named = Label.parse(PurePosixPath(folder).name) is not None
    return named or any(_is_csv(file.name) or _YAML_NAME.search(file.name) for file in group)


def _homes(files: Sequence[PackageFile]) -> dict[str, list[PackageFile]]:
    """Folders with one meta file and more beside or below it."""
    metas = Counter(file.folder for file in files if _META_NAME.search(file.base))
    homes = {folder for folder, count in metas.items() if count == 1}
    groups: dict[str, list[PackageFile]] = {}
    for file in files:
        above = [file.folder, *map(str, PurePosixPath(file.folder).parents)]
        home = next((folder for folder in above if folder in homes), "" if "" in homes else None)
        if home is not None:
            groups.setdefault(home, []).append(file)
    return {folder: group for folder, group in groups.items() if len(group) > 1}


class _MetaReader:
    """Reads the meta files of a package, each once; some of them lie *outside* of systems."""

    def __init__(self, outside: Sequence[PackageFile]) -> None:
        self.strays = [file for file in outside if _META_NAME.search(file.base)]
        self.known: dict[str, Meta] = {}
        self.findings: list[Finding] = []

    def wants(self, file: PackageFile) -> bool:
        """Whether it is a meta file by name, or stands in for one."""
        return file.name in self.known or _META_NAME.search(file.base) is not None

    def read(self, file: PackageFile) -> Meta:
        """A meta file; what is wrong with its bytes and syntax goes to *findings*."""
        if file.name not in self.known:
            try:
                document = parse(file.entry.read(), file.entry.path, self.findings.append)
            except InvalidData as error:
                self.findings.append(error.finding)
                document = None
            self.known[file.name] = Meta(file, document)
        return self.known[file.name]

    def system(self, folder: str, group: Sequence[PackageFile]) -> System:
        """The system in *folder*."""
        sheet = self.sheet(folder, group)
        label = PurePosixPath(folder).name or (sheet.stem if sheet is not None else "")
        task = _task(folder + "/")
        csvs: dict[str, list[Entry]] = {}
        for file in group:
            if _is_csv(file.name):
                csvs.setdefault(file.folder[len(folder) :].strip("/"), []).append(file.entry)
        output = min(csvs, key=lambda name: _preference(name, label, len(csvs[name])), default="")
        taken = sheet.file if sheet is not None else None
        return System(
            label=label,
            task=None if task is None else PurePosixPath(task).name,
            folder=folder,
            path=group[0].shown(folder),
            sheet=sheet,
            output=output,
            outputs=tuple(csvs.pop(output, ())),
            elsewhere={name: tuple(entries) for name, entries in csvs.items()},
            rest=tuple(file for file in group if file != taken and not file.name.lower().endswith((".csv", ".pdf"))),
        )

    def sheet(self, folder: str, group: Sequence[PackageFile]) -> Meta | None:
        """The meta file that is meant for a system, in its folder or not, well named or not."""
        label = PurePosixPath(folder).name
        inside = [file for file in group if _META_NAME.search(file.base)]
        outside = [file for file in self.strays if stem(file.base) == label]
        unnamed = [file for file in group if file.folder == folder and _YAML_NAME.search(file.base)]
        files = inside or outside or unnamed

        def rank(file: PackageFile) -> tuple[bool, bool, str]:
            return file.folder != folder, file.base != label + META, file.name

        return self.read(min(files, key=rank)) if files else None


def _preference(folder: str, label: str, count: int) -> tuple[int, int, str]:
    """The documented place first, then the one also seen, then the fullest."""
    documented = (label, f"{label}.output")
    return documented.index(folder) if folder in documented else 2, -count, folder
