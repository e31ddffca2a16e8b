"""SUB2: a challenge package: the systems that it contains, their files, their meta files, and what is wrong with them.

The documented layout is ``[ROOT/]taskN/LABEL/LABEL.meta.yaml`` next to ``LABEL/LABEL/*.csv``, one CSV file per
recording. Files elsewhere are found as well, so that everything wrong is reported in one go. The content of a meta file
is judged by the schema in ``package.toml``.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from seldio.errors import InvalidData
from seldio.files import Entry
from seldio.files.names import in_lower_case, is_csv, suffix_of
from seldio.findings import Finding, Severity
from seldio.formats.mera import dig
from seldio.formats.yaml_text import Pointer, YamlDocument, parse
from seldio.reader_rules import READER_RULES
from seldio.rules import WARNING, findings
from seldio.rules.collection import Collection, MakeFinding, grouped
from seldio.rules.submissions import CLIP_NAME, META_NAME, SAME_ROWS, TASK, label_folder, prefix_of, task_of
from seldio.text import clipped, listed, plural, printable

_LABEL = re.compile(
    r"(?P<name>[^_\s./\\]+)_(?P<institute>[^_\s./\\]+)_(?P<track>task[0-9]+[A-Za-z]*)_(?P<index>[0-9]{1,9})"
)
YAML_NAME = re.compile(r"(?i)(\.meta)?\.ya?ml$")


class PackageFile:
    """An entry with its POSIX path in the package, which begins above the source if that is only a part of one."""

    def __init__(self, name: str, entry: Entry) -> None:
        self.name, self.entry = name, entry
        #: the folder it is in, and the file name alone
        self.folder, _, self.base = name.rpartition("/")
        #: the name of a meta file before ``.meta.yaml``, in any spelling
        self.label = YAML_NAME.sub("", self.base)
        #: whether it is named as the challenge asks meta files to be
        self.is_rightly_named = self.base == f"{self.label}.meta.yaml"

    def shown(self, folder: str) -> str:
        """Return the path of *folder*, which contains this file, as shown to people."""
        return self.entry.path.removesuffix(self.name[len(folder) :] if folder else "/" + self.name)


class Meta:
    """A meta file; its *document* is None if it cannot be read."""

    def __init__(self, file: PackageFile) -> None:
        self.file, self.path = file, file.entry.path
        self.document: YamlDocument | None = None
        self.problems: list[Finding] = []  # with its bytes and syntax
        try:
            self.document = parse(file.entry.read(), self.path, self.problems.append)
        except InvalidData as error:
            self.problems.append(error.finding)
        self.value: Any = self.document.value if self.document is not None else None
        label = dig(self.value, "submission", "label")
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
        self, code: str, pointer: Pointer, message: str, hint: str | None = None, *, key: bool = False, **more: Any
    ) -> Finding:
        """Return a finding at a field, or at its *key*; *more* are arguments of :meth:`Rule.at`."""
        return READER_RULES[code].at(message=message, hint=hint, **self.place(pointer, key), **more)


class Label(NamedTuple):
    """The parts of a submission label."""

    name: str
    institute: str
    track: str
    number: str

    @staticmethod
    def parse(text: str) -> Label | None:
        """Return the parts of *text*; None if it is malformed."""
        match = _LABEL.fullmatch(text)
        return None if match is None else Label(*match.groups())


class System:
    """One system of a package: the files in its folder, and its meta file, wherever that is."""

    def __init__(self, folder: str, files: Sequence[PackageFile], sheet: Meta | None) -> None:
        self.path, self.sheet = files[0].shown(folder), sheet
        #: the name of its folder, its parts (None if it is malformed), and who submits it (empty then)
        self.label = PurePosixPath(folder).name or (sheet.file.label if sheet is not None else "")
        self.parts = Label.parse(self.label)
        self.team = "" if self.parts is None else f"{self.parts.name}_{self.parts.institute}"
        #: the folder above, if that is one of a task; according to the task page, task3 is that of both tracks
        above = task_of(folder + "/")
        self.task = None if above is None else PurePosixPath(above).name
        self.track = self.parts.track if self.task in (None, "task3") and self.parts is not None else self.task
        #: whether there is nothing of a package but the folder of its outputs
        self.bare = self.task is None and sheet is None
        csvs = grouped(files, lambda file: file.folder[len(folder) :].strip("/") if is_csv(file.name) else None)
        #: the folder of its outputs below its own (empty for the latter); both names are documented, else the fullest
        ranks = {self.label: 0, f"{self.label}.output": 1}
        self.output = min(csvs, key=lambda name: (ranks.get(name, 2), -len(csvs[name]), name), default="")
        self.output_path = f"{self.path}/{self.output}" if self.output else self.path
        #: the outputs, one per recording, and CSV files in its other folders
        self.outputs = [file.entry for file in csvs.pop(self.output, ())]
        self.clips = clips_of(self.outputs)
        self.elsewhere = {name: [file.entry for file in inside] for name, inside in csvs.items()}
        #: its other files, except for PDFs
        self.others = [file for file in files if not is_csv(file.name) and suffix_of(file.name) != "pdf"]
        if sheet is not None:
            self.others = [file for file in self.others if file is not sheet.file]


def clips_of(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the recordings that files are for."""
    return frozenset(entry.name.rpartition("/")[2][:-4] for entry in entries)


class Package:
    """A package, taken apart: its systems, in the order of their folders, and its meta files, of systems or not."""

    def __init__(self, collection: Collection) -> None:
        self.path, self.reference, prefix = collection.path, collection.reference, prefix_of(collection)
        every = [PackageFile(prefix + entry.name, entry) for entry in collection.entries]
        tasks = {file.name: task for file in every if (task := task_of(file.name))}
        #: the folders of tasks, by their path as shown to people; files of other tasks are left out
        self.tasks = {file.shown(task): PurePosixPath(task).name for file in every if (task := tasks.get(file.name))}
        numbers = {name: TASK.fullmatch(PurePosixPath(task).name) for name, task in tasks.items()}
        files = [file for file in every if (number := numbers.get(file.name)) is None or int(number[1]) == 3]
        # places do not matter for a single file, nor for loose meta files in a folder
        placed = any(is_csv(file.entry.name) or task_of(file.entry.name) is not None for file in every)
        tree = collection.kind in ("zip", "tar") or (collection.kind == "folder" and placed)
        groups = _by_system(files) if tree else {}
        inside = {file.name for group in groups.values() for file in group}
        outside = [file for file in files if file.name not in inside]
        sheets = {folder: _sheet(folder, groups[folder], outside) for folder in sorted(groups)}
        chosen = {*sheets.values()}
        metas = {file: Meta(file) for file in files if META_NAME.search(file.base) or file in chosen}
        self.metas = [*metas.values()]
        by_folder = {folder: metas[sheet] if sheet is not None else None for folder, sheet in sheets.items()}
        self.systems = [System(folder, groups[folder], meta) for folder, meta in by_folder.items()]
        #: meta files of no system, and those that are not at ``[ROOT/]taskN/LABEL/``
        self.orphans = [meta for file, meta in metas.items() if file not in chosen]
        self.astray = [meta for file, meta in metas.items() if tree and not _is_placed(file.name, tasks.get(file.name))]
        #: CSV files that belong to no system
        self.loose = [file.entry for file in outside if is_csv(file.name)]
        #: whether it is a whole package; a single meta file or a folder inside a package is not
        self.whole = bool(self.systems) and not prefix and not all(system.bare for system in self.systems)
        self.reported = any(suffix_of(file.name) == "pdf" for file in files)


def _is_placed(name: str, task: str | None) -> bool:
    return task is not None and task.count("/") <= 1 and name.count("/") == task.count("/") + 2


def _by_system(files: Sequence[PackageFile]) -> dict[str, list[PackageFile]]:
    """Return the files of each system by its folder: ``taskN/LABEL``; without tasks, where there is one meta file.

    Without any of these, the folders that are called like a label.
    """
    groups: dict[str, list[PackageFile]] = {}
    for file in files:
        task = task_of(file.name)
        if task is not None and file.folder != task:
            groups.setdefault(f"{task}/{file.name[len(task) + 1 :].partition('/')[0]}", []).append(file)
    groups = {
        folder: group
        for folder, group in groups.items()
        if Label.parse(PurePosixPath(folder).name) is not None
        or any(is_csv(file.name) or YAML_NAME.search(file.base) for file in group)
    }
    metas = Counter(file.folder for file in files if META_NAME.search(file.base))
    if groups or not metas:
        return groups or grouped(files, lambda file: label_folder(file.name) or None)
    for file in files:
        above = (file.folder, *map(str, PurePosixPath(file.folder).parents), "")
        home = next((folder for folder in above if metas[folder] == 1), None)
        if home is not None:
            groups.setdefault(home, []).append(file)
    return {folder: group for folder, group in groups.items() if len(group) > 1}


def _sheet(folder: str, group: Sequence[PackageFile], outside: Sequence[PackageFile]) -> PackageFile | None:
    """Return the meta file that is meant for a system, in its folder or not, correctly named or not."""
    label = PurePosixPath(folder).name
    inside = [file for file in group if META_NAME.search(file.base)]
    inside = inside or [file for file in outside if META_NAME.search(file.base) and file.label == label]
    files = inside or [file for file in group if file.folder == folder and YAML_NAME.search(file.base)]
    name = f"{label}.meta.yaml"
    return min(files, key=lambda file: (file.folder != folder, file.base != name, file.name), default=None)


# --- meta files -------------------------------------------------------------------------------------

FACTS = tomllib.loads((Path(__file__).parent / "package.toml").read_text("utf-8"))
#: Where results are, and those of Task 3 of 2022.
OVERALL = ("results", "development_dataset", "overall")
RESULTS = ("ER_20", "F_20", "LE_CD", "LR_CD")
#: What a template has where somebody has to write something.
FILL_IN = "FILL IN"
_AUTHORS = ("submission", "authors")
_NONE = "write !!null if it does not apply"


def _required(_: object, names: list[str], value: Any, __: object) -> Iterator[ValidationError]:
    for name in names if isinstance(value, dict) else ():
        field = value.get(name)
        empty = field is None or field == {} or (isinstance(field, str) and not field.strip())
        if empty or (isinstance(field, list) and all(item is None for item in field)):
            yield ValidationError(name)


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
        yield READER_RULES["SUB217"].at(meta.path, "the meta file is empty", "fill in the organisers' template")
    if meta.value is None:
        return
    for error in _SCHEMA.iter_errors(meta.value):
        if error.instance != FILL_IN:
            yield _finding(meta, error)
    if unfilled := list(_unfilled(meta.value)):
        message = f"{plural(len(unfilled), 'field')} still to be filled in: {listed([*map(_named, unfilled)], 3)}"
        yield meta.finding(
            "SUB217", unfilled[0], message, "replace each FILL IN; write !!null if a field does not apply"
        )
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
            return meta.finding("SUB217", pointer, f"{named} has no {name}", _NONE, key=True, severity=WARNING)
        case "range":
            shown = clipped(meta.place(pointer)["value"], 20)
            return meta.finding("SUB223", pointer, f"{pointer[-1]} is {shown}, but must be {name}")
        case "maxLength":
            count = len(str(error.instance))
            return meta.finding("SUB219", pointer, f"the abbreviation has {count:,} characters", "use at most 10")
    shown = clipped(meta.place(pointer)["value"] or "", 40) or "something else"
    schema: Any = error.schema
    return meta.finding("SUB219", pointer, f"{named} is {shown}, not {schema['title']}", schema["description"])


def _authors(meta: Meta) -> Iterator[Finding]:
    every = dig(meta.value, *_AUTHORS)
    authors = [(n, each) for n, each in enumerate(every if isinstance(every, list) else ()) if isinstance(each, dict)]
    marks = {number: author["corresponding"] for number, author in authors if "corresponding" in author}
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
    for name in RESULTS:
        value = dig(meta.value, *OVERALL, name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        shown = clipped(meta.place((*OVERALL, name))["value"], 20)
        if name in ("F_20", "LR_CD") and 0 < value <= 1:
            message, hint = "should be a percentage", f"if it is a fraction, write {value * 100:g}"
        elif name == "ER_20" and 10 < value <= 1000:
            message, hint = "should be a ratio, not a percentage", f"if it is a percentage, write {value / 100:g}"
        else:
            continue
        text = f"{name} is {shown}, but {message}"
        yield meta.finding("SUB223", (*OVERALL, name), text, hint, severity=WARNING)


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


def label_malformed(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    teams = _teams(package)
    for label, place in _labels(package):
        if (parts := Label.parse(label)) is None:
            count = len(label.split("_"))
            fault = f"has {count} parts between underscores, not 4"
            if re.search(r"\s", label):
                fault = "contains a space"
            elif count == 4:
                fault = "is not NAME_INSTITUTE_taskN_INDEX"
            yield finding(message=f"the label {clipped(label, 80)} {fault}", **place)
        elif parts.number not in ("1", "2", "3", "4"):
            size = max((len(team) for team in teams.values() if any(s.label == label for s in team)), default=0)
            if not MOST < int(parts.number) <= size:  # of five systems, the fifth is one too many (SUB203)
                message = f"the index of {printable(label)} is {parts.number}, outside 1 to 4"
                yield finding(message=message, hint="number the systems of a team 1 to 4 in each track", **place)


def too_many_systems(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    for (team, track), members in sorted(_teams(package).items()):
        if len(members) > MOST:
            message = f"{len(members)} systems of {printable(team)} in {printable(track)}, but only {MOST} are allowed"
            yield finding(members[MOST].path, message, f"choose {MOST} of {listed([s.label for s in members], 8)}")


def unknown_track(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    tasked = {system.label for system in package.systems if system.task is not None}
    places = [(task, {"path": path}) for path, task in sorted(package.tasks.items())]
    labels = [(Label.parse(label), place) for label, place in _labels(package) if label not in tasked]
    places += [(parts.track, place) for parts, place in labels if parts is not None]
    for track, place in places:
        if track not in TRACKS:
            other = "" if "3" in track else "; other tasks are not checked"
            yield finding(message=f"{printable(track)} is not a track of Task 3{other}", **place)


def label_differs(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    first: dict[str, System] = {}
    for system in package.systems:
        if not _is_misplaced(system) and (other := first.setdefault(system.label, system)) is not system:
            message = f"{printable(system.label)} already exists: {printable(other.path)}"
            yield finding(system.path, message, "give it a different index, or remove it")
        if system.parts is None:
            continue
        if _is_misplaced(system):
            message = f"{printable(system.label)} is in {printable(system.task or '')}, but its label says "
            hint = "move it, or change its label everywhere"
            yield finding(system.path, message + printable(system.parts.track), hint)
        if (meta := system.sheet) is not None:
            # the one name of a system that differs from the others, or both where all differ
            stem = meta.file.label if meta.file.is_rightly_named else system.label
            if meta.label is not None and meta.label == stem != system.label:
                message = f"the folder {printable(system.label)} contains the meta file of {clipped(meta.label)}"
                yield finding(system.path, message, "rename the folder, or the file and the label in it")
            else:
                if stem != system.label:
                    message = f"{clipped(meta.file.base)} is the meta file in the folder {printable(system.label)}"
                    yield finding(meta.path, message, f"rename it to {printable(system.label)}.meta.yaml")
                if meta.label not in (None, system.label):
                    yield _differing(package, meta, system.label, finding)
        names = {system.output_path: system.output.rpartition("/")[2]}
        names |= {entry.path: entry.name.rpartition("/")[2] for entry in system.outputs}
        for path, name in names.items():
            match = _OUTPUT_OF.fullmatch(name)
            label = match[1] if match else name
            if label != system.label and Label.parse(label) is not None:
                message = f"the output of {printable(label)} is in the folder {printable(system.label)}"
                yield finding(path, message, "check that it is the right output; if so, rename it")
    for meta in package.orphans:
        if meta.label is not None and meta.label != meta.file.label:
            yield _differing(package, meta, meta.file.label, finding)


def equal_systems(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    for first, *others in grouped(package.systems, _content).values():
        for system in others:
            message = f"{printable(system.label)} has the outputs of {printable(first.label)}, byte for byte: "
            yield finding(system.output_path, message + plural(len(system.outputs), "file"))


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


def _teams(package: Package) -> dict[tuple[str, str], list[System]]:
    first = {system.label: system for system in reversed(package.systems)}
    named = (system for system in package.systems if system.parts is not None and first[system.label] is system)
    return grouped(named, lambda system: (system.team, system.track) if system.track is not None else None)


def _is_misplaced(system: System) -> bool:
    """Return whether the label has another track than its folder; task3 may be the folder of both tracks."""
    if system.task not in TRACKS or system.parts is None or system.parts.track == system.task:
        return False
    return system.task != "task3" or system.parts.track not in TRACKS


def _differing(package: Package, meta: Meta, label: str, finding: MakeFinding) -> Finding:
    taken = ", which belongs to another system here" if any(s.label == meta.label for s in package.systems) else ""
    message = f"the label is {clipped(meta.label or '')}{taken}, but the file belongs to {clipped(label)}"
    hint = f"write {clipped(label)}, if this is its meta file"
    return finding(message=message, hint=hint, **meta.place(("submission", "label")))


# --- files ---------------------------------------------------------------------------------------------------


def meta_missing(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    for system in package.systems:
        if system.sheet is None and not system.bare:
            label = printable(system.label)
            yield finding(system.path, f"no meta file for {label}", f"add {label}.meta.yaml to this folder")


def system_incomplete(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    for system in package.systems:
        if not system.outputs:
            label, others = printable(system.label), listed([file.base for file in system.others])
            hint = f"put one CSV file per recording into {label}/{label}/"
            yield finding(system.path, f"no CSV files for {label}{f', only {others}' if system.others else ''}", hint)
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
                yield finding(system.output_path, message, hint)


def unexpected_file(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    odd: list[tuple[Entry, str, Severity | None]]
    odd = [(entry, "not read (not in a system's folder)", WARNING) for entry in package.loose]
    for system in package.systems:
        if not system.outputs:
            continue  # reported by SUB213
        for file in system.others:
            kind = "second meta file" if YAML_NAME.search(file.name) else "not read (not a CSV file)"
            odd.append((file.entry, kind, WARNING))
        capital = (entry for entry in system.outputs if not in_lower_case(entry.name))
        odd += [(entry, "suffix is not .csv in lower case", WARNING) for entry in capital]
        used = _folder_named(system.output)
        for folder, entries in sorted(system.elsewhere.items()):
            if not clips_of(entries) & system.clips:
                lost = all(map(CLIP_NAME.fullmatch, clips_of(entries)))
                odd += [(entry, f"not read (not in {used})", None if lost else WARNING) for entry in entries]
            elif twice := [entry for entry in entries if clips_of([entry]) & system.clips]:
                first = min(twice, key=lambda entry: entry.name)
                message = f"duplicate files for {plural(len(twice), 'recording')} of {printable(system.label)}: in "
                where = f"{_folder_named(folder)} and in {used}, which is used"
                yield finding(first.path, message + where, "remove the wrong folder")
    for (_, why, severity), files in grouped(odd, lambda file: (file[0].name.rpartition("/")[0], *file[1:])).items():
        names = [entry.name.rpartition("/")[2] for entry, *_ in files]
        yield finding(files[0][0].path, f"{why}: {plural(len(names), 'file')}, {listed(names)}", severity=severity)


def package_file_name(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    hint = "move it to [ROOT]/task3a/LABEL/LABEL.meta.yaml; ROOT is optional"
    for meta in package.astray:
        yield finding(meta.path, f"{clipped(meta.file.base)} is not where a package has its meta files", hint)
    for system in package.systems:
        label, sheet = printable(system.label), system.sheet
        if sheet is not None and not sheet.file.is_rightly_named:
            message = f"{clipped(sheet.file.base)} is not a valid name for a meta file"
            yield finding(sheet.path, message, f"rename it to {label}.meta.yaml")
        for entry in system.outputs:
            name = entry.name.rpartition("/")[2]
            if re.search(r"(?i)\.output\.", name) and not re.fullmatch(r"[^.]+\.output\.csv", name):
                message = f"{clipped(name)} is not a valid name for an output"
                yield finding(entry.path, message, f"rename it to {label}.output.csv")


def report_missing(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    if package.whole and not package.reported:
        yield finding(package.path, "no technical report (PDF) in the package")


def _folder_named(folder: str) -> str:
    return f"{printable(folder)}/" if folder else "the system's folder"


def development_outputs(package: Package, finding: MakeFinding) -> Iterator[Finding]:
    for system in package.systems if package.reference is None else ():  # which tells better (SUB102)
        clips = sorted(system.clips)
        if clips and all(_DEVELOPMENT.fullmatch(clip) for clip in clips):
            message = f"{plural(len(clips), 'file')} of {printable(system.label)} are for the development set"
            yield finding(system.output_path, f"{message}: {listed(clips, 2)}")


PACKAGE_RULES = (
    label_malformed,
    too_many_systems,
    unknown_track,
    label_differs,
    equal_systems,
    meta_missing,
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
