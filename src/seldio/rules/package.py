"""SUB2: a challenge package: the systems that it contains, their files, their meta files, and what is wrong with them.

The documented layout is ``[ROOT/]taskN/LABEL/LABEL.meta.yaml`` next to ``LABEL/LABEL/*.csv``, one CSV file per
recording. Files elsewhere are found as well, so that everything wrong is reported in one go. The content of a meta file
is judged by the schema in ``package.toml``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import in_lower_case, is_csv, suffix_of
from seldio.findings import Finding, Severity
from seldio.formats.yaml_text import Pointer, YamlDocument, parse
from seldio.reader_rules import reader_rule
from seldio.rules.clip_names import CLIP_NAME
from seldio.rules.collection import Collection, Found, Reference, grouped
from seldio.rules.package_names import META_NAME, TASK, label_folder, prefix_of, task_of
from seldio.rules.registry import ERROR, findings
from seldio.rules.submissions import SAME_ROWS
from seldio.text import clipped, listed, plural, printable

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


def package_of(collection: Collection) -> Package:
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


# --- meta files -------------------------------------------------------------------------------------

FACTS = tomllib.loads((Path(__file__).parent / "package.toml").read_text("utf-8"))
#: Where results are, and those of Task 3 of 2022.
OVERALL = ("results", "development_dataset", "overall")
RESULTS = ("ER_20", "F_20", "LE_CD", "LR_CD")
#: What a template has where somebody has to write something.
FILL_IN = "FILL IN"
_AUTHORS = ("submission", "authors")


def _is_blank(value: Any) -> bool:
    if isinstance(value, list):
        return all(item is None for item in value)
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def _required(_: object, names: list[str], value: Any, __: object) -> Iterator[ValidationError]:
    gaps = [name for name in names if isinstance(value, dict) and _is_blank(value.get(name))]
    return (ValidationError(name) for name in gaps)


def _expected(_: object, names: list[str], value: Any, __: object) -> Iterator[ValidationError]:
    return (ValidationError(name) for name in names if isinstance(value, dict) and name not in value)


def _range(_: object, limits: list[float], value: Any, __: object) -> Iterator[ValidationError]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not (limits[0] <= value <= limits[1] and value != float("inf")):
        yield ValidationError("0 or more" if limits[1] == float("inf") else f"between {limits[0]} and {limits[1]}")


_KEYWORDS = {"required": _required, "expected": _expected, "range": _range}
_SCHEMA = extend(Draft202012Validator, _KEYWORDS)(FACTS["meta"])  # type: ignore[no-untyped-call]


def meta_findings(meta: Meta) -> Iterator[Finding]:
    """Yield what is wrong with a meta file, that it cannot be read as well."""
    yield from meta.problems
    if meta.document is not None and meta.value is None:
        yield reader_rule("SUB217").at(meta.path, "the meta file is empty", "fill in the organisers' template")
    if meta.value is None:
        return
    for error in _SCHEMA.iter_errors(meta.value):
        if error.instance != FILL_IN:
            yield _finding(meta, error)
    if unfilled := list(_unfilled(meta.value)):
        message = f"{plural(len(unfilled), 'field')} still to be filled in: {listed([*map(_named, unfilled)], 3)}"
        yield meta.finding("SUB226", unfilled[0], message)
    yield from _authors(meta)
    yield from _units(meta)


def _finding(meta: Meta, error: ValidationError) -> Finding:
    pointer: Pointer = tuple(error.absolute_path)
    name, named = error.message, _named(pointer) or "the meta file"
    match error.validator:
        case "required" if isinstance(error.instance, dict) and name in error.instance:
            return meta.finding("SUB217", (*pointer, name), f"{_named((*pointer, name))} is empty", key=True)
        case "required":
            return meta.finding("SUB217", pointer, f"{named} has no {name}", key=True)
        case "expected":
            return meta.finding("SUB218", pointer, f"{named} has no {name}", key=True)
        case "range":
            shown = clipped(meta.place(pointer)["value"], 20)
            return meta.finding("SUB223", pointer, f"{pointer[-1]} is {shown}, but must be {name}")
        case "maxLength":
            return meta.finding("SUB220", pointer, f"the abbreviation has {len(str(error.instance)):,} characters")
    shown = clipped(meta.place(pointer)["value"] or "", 40) or "something else"
    schema: Any = error.schema
    return meta.finding("SUB219", pointer, f"{named} is {shown}, not {schema['title']}", schema["description"])


def _authors(meta: Meta) -> Iterator[Finding]:
    submission = meta.fields.get("submission")
    listed_authors = submission.get("authors") if isinstance(submission, dict) else None
    listed_authors = listed_authors if isinstance(listed_authors, list) else []
    authors = {number: author for number, author in enumerate(listed_authors) if isinstance(author, dict)}
    marks = {number: author["corresponding"] for number, author in authors.items() if "corresponding" in author}
    if not authors or not all(isinstance(mark, bool | None) for mark in marks.values()):
        return
    places = [number for number, mark in marks.items() if mark]
    if not places:
        code = "SUB221" if marks else "SUB217"
        hint = 'write "corresponding: true" for one author'
        yield meta.finding(code, _AUTHORS, "no author is marked as corresponding", hint, key=True)
    elif len(places) > 1:
        message = f"{len(places)} authors are marked as corresponding"
        yield meta.finding("SUB221", (*_AUTHORS, places[1], "corresponding"), message)


def _units(meta: Meta) -> Iterator[Finding]:
    results = meta.value
    for step in OVERALL:
        results = results.get(step) if isinstance(results, dict) else None
    for name in RESULTS if isinstance(results, dict) else ():
        value = results.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        shown = clipped(meta.place((*OVERALL, name))["value"], 20)
        if name in ("F_20", "LR_CD") and 0 < value <= 1:
            message = f"{name} is {shown}, but should be a percentage"
            yield meta.finding("SUB222", (*OVERALL, name), message, f"if it is a fraction, write {value * 100:g}")
        elif name == "ER_20" and 10 < value <= 1000:
            message = f"ER_20 is {shown}, but should be a ratio, not a percentage"
            yield meta.finding("SUB222", (*OVERALL, name), message, f"if it is a percentage, write {value / 100:g}")


def _unfilled(value: Any, at: Pointer = ()) -> Iterator[Pointer]:
    if value == FILL_IN:
        yield at
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _unfilled(inner, (*at, step))


def _named(pointer: Pointer) -> str:
    return printable(".".join(str(step + 1) if isinstance(step, int) else str(step) for step in pointer))


TRACKS, MOST = FACTS["tracks"], FACTS["systems"]
_OUTPUT_OF = re.compile(r"(.+)\.output(\.csv)?")
_DEVELOPMENT = re.compile(r"fold\d+_room\d+_mix\d{3}", re.ASCII | re.IGNORECASE)


# --- labels --------------------------------------------------------------------------------------------------


def label_malformed(package: Package, found: Found) -> Iterator[Finding]:
    for label, place in _labels(package):
        if Label.parse(label) is None:
            yield found(message=f"the label {clipped(label, 80)} {_fault(label)}", **place)


def label_index(package: Package, found: Found) -> Iterator[Finding]:
    teams = _teams(package)
    for label, place in _labels(package):
        parts = Label.parse(label)
        if parts is None or parts.index in ("1", "2", "3", "4"):
            continue
        size = max((len(team) for team in teams.values() if any(s.label == label for s in team)), default=0)
        if not MOST < int(parts.index) <= size:  # of five systems, the fifth is one too many (SUB203)
            yield found(message=f"the index of {printable(label)} is {parts.index}, outside 1 to 4", **place)


def too_many_systems(package: Package, found: Found) -> Iterator[Finding]:
    for (team, track), members in sorted(_teams(package).items()):
        if len(members) > MOST:
            message = f"{len(members)} systems of {printable(team)} in {printable(track)}, but only {MOST} are allowed"
            yield found(members[MOST].path, message, f"choose {MOST} of {listed([s.label for s in members], 8)}")


def unknown_track(package: Package, found: Found) -> Iterator[Finding]:
    tasked = {system.label for system in package.systems if system.task is not None}
    places = [(task, {"path": path}) for path, task in sorted(package.tasks.items())]
    labels = [(Label.parse(label), place) for label, place in _labels(package) if label not in tasked]
    places += [(parts.track, place) for parts, place in labels if parts is not None]
    for track, place in places:
        if track not in TRACKS:
            other = "" if "3" in track else "; other tasks are not checked"
            yield found(message=f"{printable(track)} is not a track of Task 3{other}", **place)


def track_differs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if _is_misplaced(system) and system.parts is not None:
            folder, track = printable(system.task or ""), printable(system.parts.track)
            yield found(system.path, f"{printable(system.label)} is in {folder}, but its label says {track}")


def label_differs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if system.parts is None:
            continue
        if system.sheet is not None:
            yield from _differing(package, system, system.sheet, found)
        names = {system.below(system.output): system.output.rpartition("/")[2]}
        names |= {entry.path: entry.name.rpartition("/")[2] for entry in system.outputs}
        for path, name in names.items():
            if (label := _label_in(name)) not in (None, system.label):
                message = f"the output of {printable(label or '')} is in the folder {printable(system.label)}"
                yield found(path, message, "check that it is the right output; if so, rename it")
    for meta in package.orphans:
        if meta.label is not None and meta.label != meta.file.label:
            yield _differing_meta(package, meta, meta.file.label, found)


def same_label(package: Package, found: Found) -> Iterator[Finding]:
    first: dict[str, System] = {}
    for system in package.systems:
        if _is_misplaced(system):
            continue
        if system.label in first:
            other = printable(first[system.label].path)
            yield found(system.path, f"{printable(system.label)} already exists: {other}")
        first.setdefault(system.label, system)


def equal_systems(package: Package, found: Found) -> Iterator[Finding]:
    for first, *others in grouped(package.systems, _content).values():
        for system in others:
            message = f"{printable(system.label)} has the outputs of {printable(first.label)}, byte for byte: "
            yield found(system.below(system.output), message + plural(len(system.outputs), "file"))


def _content(system: System) -> str | None:
    """Return what systems with the same outputs have in common; None of one whose outputs have few rows."""
    whole, most = hashlib.sha256(), 0
    for entry in sorted(system.outputs, key=lambda entry: entry.name.rpartition("/")[2]):
        try:
            data = entry.read()
        except InvalidData:  # said where it is read
            return None
        whole.update(f"{entry.name.rpartition('/')[2]} {len(data)} ".encode() + data)
        most = max(most, data.count(b"\n"))
    return whole.hexdigest() if most >= SAME_ROWS else None


def _labels(package: Package) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each label and its place: the folders of systems, and the labels in meta files without a system."""
    for system in package.systems:
        yield system.label, {"path": system.path}
    for meta in package.orphans:
        if meta.label is not None:
            yield meta.label, meta.place(("submission", "label"))


def _fault(label: str) -> str:
    if re.search(r"\s", label):
        return "contains a space"
    count = len(label.split("_"))
    return "is not NAME_INSTITUTE_taskN_INDEX" if count == 4 else f"has {count} parts between underscores, not 4"


def _teams(package: Package) -> dict[tuple[str, str], list[System]]:
    first = {system.label: system for system in reversed(package.systems)}
    named = (system for system in package.systems if system.parts is not None and first[system.label] is system)
    return grouped(named, lambda system: (system.team, system.track) if system.track is not None else None)


def _is_misplaced(system: System) -> bool:
    """Return whether the label has another track than its folder; task3 may be the folder of both tracks."""
    if system.task not in TRACKS or system.parts is None or system.parts.track == system.task:
        return False
    return system.task != "task3" or system.parts.track not in TRACKS


def _differing(package: Package, system: System, meta: Meta, found: Found) -> Iterator[Finding]:
    """Yield the one name of a system that differs from the others, or both where all differ."""
    stem = meta.file.label if meta.file.is_rightly_named else system.label
    if meta.label is not None and meta.label == stem != system.label:
        message = f"the folder {printable(system.label)} contains the meta file of {clipped(meta.label)}"
        yield found(system.path, message, "rename the folder, or the file and the label in it")
        return
    if stem != system.label:
        message = f"{clipped(meta.file.base)} is the meta file in the folder {printable(system.label)}"
        yield found(meta.path, message, f"rename it to {printable(system.label)}.meta.yaml")
    if meta.label not in (None, system.label):
        yield _differing_meta(package, meta, system.label, found)


def _differing_meta(package: Package, meta: Meta, label: str, found: Found) -> Finding:
    taken = ", which belongs to another system here" if any(s.label == meta.label for s in package.systems) else ""
    message = f"the label is {clipped(meta.label or '')}{taken}, but the file belongs to {clipped(label)}"
    hint = f"write {clipped(label)}, if this is its meta file"
    return found(message=message, hint=hint, **meta.place(("submission", "label")))


def _label_in(name: str) -> str | None:
    match = _OUTPUT_OF.fullmatch(name)
    label = match[1] if match else name
    return label if Label.parse(label) is not None else None


# --- files ---------------------------------------------------------------------------------------------------


def meta_missing(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if system.sheet is None and not system.bare:
            label = printable(system.label)
            yield found(system.path, f"no meta file for {label}", f"add {label}.meta.yaml to this folder")


def outputs_missing(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        if not system.outputs:
            label, others = printable(system.label), listed([file.base for file in system.rest])
            hint = f"put one CSV file per recording into {label}/{label}/"
            yield found(system.path, f"no CSV files for {label}{f', only {others}' if system.rest else ''}", hint)


def wrong_depth(package: Package, found: Found) -> Iterator[Finding]:
    for meta in package.astray:
        yield found(meta.path, f"{clipped(meta.file.base)} is not where a package has its meta files")


def recording_twice(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        for folder, entries in sorted(system.elsewhere.items()):
            if twice := [entry for entry in entries if clips_of([entry]) & system.clips]:
                first = min(twice, key=lambda entry: entry.name)
                message = f"duplicate files for {plural(len(twice), 'recording')} of {printable(system.label)}"
                where = f": in {_folder_named(folder)} and in {_folder_named(system.output)}, which is used"
                yield found(first.path, message + where)


def system_incomplete(package: Package, found: Found) -> Iterator[Finding]:
    reference = package.reference
    source = printable(reference.path) if reference is not None else "the team's other systems"
    # only systems with one file per recording
    split = [s for s in package.systems if s.outputs and not any(".output" in clip for clip in s.clips)]
    for group in grouped(split, lambda system: (system.track, system.team)).values():
        expected = set[str]().union(*(system.clips for system in group))
        if reference is not None:
            expected = {clip.rpartition("/")[2] for clip in reference.clips}
        for system in group:
            if missing := sorted(expected - system.clips):
                count = f"{len(missing):,} of {plural(len(expected), 'recording')} missing"
                hint = f"expected by {source}; write an empty file if nothing was detected"
                message = f"{count} in {printable(system.label)}: {listed(missing)}"
                yield found(system.below(system.output), message, hint)


def unexpected_file(package: Package, found: Found) -> Iterator[Finding]:
    odd: list[tuple[Entry, str, Severity | None]]
    odd = [(file.entry, "not read (not in a system's folder)", None) for file in package.loose]
    for system in package.systems:
        if not system.outputs:
            continue  # reported by SUB209
        for file in system.rest:
            kind = "second meta file" if YAML_NAME.search(file.name) else "not read (not a CSV file)"
            odd.append((file.entry, kind, None))
        capital = (entry for entry in system.outputs if not in_lower_case(entry.name))
        odd += [(entry, "suffix is not .csv in lower case", None) for entry in capital]
        for entries in system.elsewhere.values():
            if not clips_of(entries) & system.clips:
                lost = all(map(CLIP_NAME.fullmatch, clips_of(entries)))
                why = f"not read (not in {_folder_named(system.output)})"
                odd += [(entry, why, ERROR if lost else None) for entry in entries]

    def same(file: tuple[Entry, str, Severity | None]) -> tuple[str, str, Severity | None]:
        return file[0].name.rpartition("/")[0], *file[1:]

    for (_, why, severity), files in grouped(odd, same).items():
        names = [entry.name.rpartition("/")[2] for entry, *_ in files]
        yield found(files[0][0].path, f"{why}: {plural(len(names), 'file')}, {listed(names)}", severity=severity)


def package_file_name(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems:
        label, sheet = printable(system.label), system.sheet
        if sheet is not None and not sheet.file.is_rightly_named:
            message = f"{clipped(sheet.file.base)} is not a valid name for a meta file"
            yield found(sheet.path, message, f"rename it to {label}.meta.yaml")
        for entry in system.outputs:
            name = entry.name.rpartition("/")[2]
            if re.search(r"(?i)\.output\.", name) and not re.fullmatch(r"[^.]+\.output\.csv", name):
                message = f"{clipped(name)} is not a valid name for an output"
                yield found(entry.path, message, f"rename it to {label}.output.csv")


def report_missing(package: Package, found: Found) -> Iterator[Finding]:
    if package.whole and not package.reported:
        yield found(package.path, "no technical report (PDF) in the package")


def _folder_named(folder: str) -> str:
    return f"{printable(folder)}/" if folder else "the system's folder"


def development_outputs(package: Package, found: Found) -> Iterator[Finding]:
    for system in package.systems if package.reference is None else ():  # which tells better (SUB117)
        clips = sorted(system.clips)
        if clips and all(_DEVELOPMENT.fullmatch(clip) for clip in clips):
            message = f"{plural(len(clips), 'file')} of {printable(system.label)} are for the development set"
            yield found(system.below(system.output), f"{message}: {listed(clips, 2)}")


PACKAGE_RULES = (
    label_malformed,
    label_index,
    too_many_systems,
    unknown_track,
    track_differs,
    label_differs,
    same_label,
    equal_systems,
    meta_missing,
    outputs_missing,
    wrong_depth,
    recording_twice,
    system_incomplete,
    unexpected_file,
    package_file_name,
    report_missing,
    development_outputs,
)


def package_findings(package: Package) -> Iterator[Finding]:
    """Yield what is wrong with a package and its meta files."""
    yield from findings(PACKAGE_RULES, package)
    for meta in package.metas:
        yield from meta_findings(meta)
