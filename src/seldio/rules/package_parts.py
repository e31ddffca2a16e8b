"""The parts of a challenge package, as its rules see them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from seldio.findings import Finding
from seldio.formats.yaml_text import Pointer, YamlDocument
from seldio.rules.collection import Entry, Reference
from seldio.rules.package_labels import Label

META = ".meta.yaml"
_YAML_NAME = re.compile(r"(?i)(\.meta)?\.ya?ml$")


def stem(name: str) -> str:
    """The name of a meta file up to ``.meta.yaml``, in any spelling."""
    return _YAML_NAME.sub("", name)


class File(NamedTuple):
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

    file: File
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
        return {
            "path": self.path,
            "line": span.line,
            "column": span.column,
            "value": value,
            "excerpt": span.excerpt,
        }

    @property
    def label(self) -> str | None:
        """``submission.label``, if it is text and not blank."""
        submission = self.fields.get("submission")
        label = submission.get("label") if isinstance(submission, dict) else None
        return label if isinstance(label, str) and label.strip() else None


@dataclasses.dataclass(frozen=True)
class System:
    """One system of a package.

    Args:
        label: the name of its folder.
        task: the folder above, where that is one of a task.
        folder: its folder in the package, as a POSIX path.
        path: its folder as shown to people.
        sheet: its meta file, wherever that lies.
        output: the folder its csv files are taken from, below *folder*; empty for *folder* itself.
        outputs: the csv files, one for each recording.
        elsewhere: csv files in its other folders.
        rest: its other files, except for PDFs.
    """

    label: str
    task: str | None
    folder: str
    path: str
    sheet: Meta | None
    output: str
    outputs: tuple[Entry, ...]
    elsewhere: Mapping[str, tuple[Entry, ...]]
    rest: tuple[File, ...]

    @property
    def meta(self) -> Entry | None:
        """The entry of the meta file."""
        return self.sheet.file.entry if self.sheet is not None else None

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

    @property
    def index(self) -> int | None:
        """The number at the end of the label."""
        return int(self.parts.index) if self.parts is not None else None

    def below(self, folder: str) -> str:
        """A folder of the system as shown to people."""
        return f"{self.path}/{folder}" if folder else self.path


@dataclasses.dataclass(frozen=True)
class Package:
    """A package, taken apart.

    Args:
        path: the source as the user named it.
        systems: in the order of their folders.
        metas: all meta files, of systems or not.
        astray: meta files that do not lie at ``[ROOT/]taskN/LABEL/``.
        loose: csv files of no system.
        tasks: the folders of tasks, by their path as shown to people.
        whole: whether it is all of a package; a single meta file and a folder inside a package are not.
        reported: whether there is a PDF.
        reference: the recordings to expect.
        findings: what reading the meta files brought up.
    """

    path: str
    systems: tuple[System, ...]
    metas: tuple[Meta, ...]
    astray: tuple[Meta, ...]
    loose: tuple[File, ...]
    tasks: Mapping[str, str]
    whole: bool
    reported: bool
    reference: Reference | None
    findings: tuple[Finding, ...]

    @property
    def orphans(self) -> tuple[Meta, ...]:
        """Meta files of no system."""
        owned = {id(system.sheet) for system in self.systems}
        return tuple(meta for meta in self.metas if id(meta) not in owned)
