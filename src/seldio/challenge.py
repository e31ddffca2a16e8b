"""A submission to DCASE Task 3: from the outputs of systems to the zip that the challenge takes.

What that holds, and where, is in the file of each challenge year (``[package]``, see
:class:`seldio.schema.dataset_file.PackageKeys`). Outputs are copied byte for byte. The zip is checked in memory, as
``seldio validate`` checks it on disk.
"""

from __future__ import annotations

import dataclasses
import io
import json
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from seldio.catalogues import Catalogue
from seldio.check.reference import load
from seldio.check.validation import examine
from seldio.conversion.inputs import label_parts, raising_unknown
from seldio.errors import UsageError
from seldio.files import DEFAULTS, Entry, input_at, open_source, write_bytes
from seldio.files.archives import open_bytes, zipped
from seldio.files.names import media_type, plain_stem, suffix_of
from seldio.findings import Finding, Report, Severity, raise_errors
from seldio.formats import LabelFormat, get
from seldio.formats.datasets import RECORDS
from seldio.reports.tables import Cell, Column, ScoreReport
from seldio.rules.collection import Reference
from seldio.rules.package import FACTS, FILL_IN, OVERALL, RESULTS, Label, Meta, PackageFile
from seldio.schema.dataset_file import PackageKeys
from seldio.schema.events import COLUMNS, ClipFile
from seldio.text import Displayed, listed, plural, printable


def keys_of(year: int) -> PackageKeys:
    """Return the keys of a package for the challenge of a year.

    Raises:
        UsageError: no record says it.
    """
    records = {record["package"]["year"]: record for record in RECORDS if "package" in record}
    if year not in records:
        choices = ", ".join(map(str, sorted(records)))
        raise UsageError(f"--year {year}: what a package of this year holds is not known; choose from {choices}")
    return PackageKeys.model_validate(records[year]["package"])


@dataclasses.dataclass(frozen=True)
class ResultDifference:
    """A result in a meta file that is not what its score says."""

    field: str
    line: int
    stated: str  # as it stands in the file
    scored: str  # as ``seldio score`` prints it


@dataclasses.dataclass(frozen=True, kw_only=True)
class PackedSystem:
    """The outputs of one system in a package."""

    label: str  # of the submission
    source: str  # where its outputs are
    files: int  # outputs in the zip, empty ones included
    empty: tuple[str, ...]  # clips without an output, which have an empty file
    notes: tuple[str, ...]  # what else there is to say
    meta: str  # path of its meta file
    template: bool  # whether that was created, as a template
    scores: Mapping[str, str]  # the results on the development set, by their names in a meta file
    differences: tuple[ResultDifference, ...]  # results in the meta file that are others

    def lines(self) -> Iterator[str]:
        """Yield lines for people about what was packed."""
        yield f"{self.label}: {plural(self.files - len(self.empty), 'output')} of {self.source}, byte for byte"
        if self.empty:
            yield f"  {plural(len(self.empty), 'empty file')} for clips without one: {listed(self.empty, 20)}"
        yield from (f"  {note}" for note in self.notes)
        if self.scores:
            yield f"  on the development set: {', '.join(f'{name} {text}' for name, text in self.scores.items())}"
        if self.template:
            yield f"  no meta file: fill in the template {self.meta} and run the same command again"
        for result in self.differences:
            stated = f"{result.field} is {result.stated}, but seldio score says {result.scored}"
            yield f"  {self.meta}:{result.line}: {stated}"


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Packaged(Displayed):
    """The result of :func:`seldio.package`."""

    path: str  # of the zip
    year: int  # of the challenge
    written: tuple[str, ...]  # the zip, unless there are errors in it, and templates of meta files
    systems: tuple[PackedSystem, ...]
    notes: tuple[str, ...]  # what there is to say of all
    report: Report  # what ``seldio validate`` finds in the zip; copied files have the path they were copied from

    @property
    def complete(self) -> bool:
        """Whether the zip was written."""
        return self.path in self.written

    def __str__(self) -> str:
        return "\n".join(printable(line) for line in self.lines())

    def lines(self) -> Iterator[str]:
        """Yield lines for people about the package, without its findings."""
        errors = plural(count := self.report.count(Severity.ERROR), "error")
        done = f"written, with {errors}" if count else "written"
        packed = f"{plural(len(self.systems), 'system')} for DCASE {self.year}"
        yield f"{self.path} ({packed}) {done if self.complete else f'not written: {errors}'}"
        for system in self.systems:
            yield from system.lines()
        yield from self.notes

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, for JSON."""
        return dataclasses.asdict(dataclasses.replace(self, report=Report())) | {"report": self.report.as_dict()}


def package_systems(
    outputs: Sequence[str],
    out: str,
    keys: PackageKeys,
    labels: Sequence[str],
    *,
    reference: str | None,
    metas: Sequence[str],
    scores: Sequence[ScoreReport],
    technical_report: str | None,
    format: str | None,
    force: bool,
) -> Packaged:
    """Pack *outputs* as the systems *labels*; the arguments and exceptions are those of :func:`seldio.package`.

    Args:
        scores: of each system on the development set; none where they are not known.
    """
    expected = load(reference) if reference is not None else None
    if expected is not None and not isinstance(expected, Reference):
        raise UsageError(f"--reference {reference}: these are questions; the clips of the evaluation set are meant")
    target, silent = get(keys.format), pa.table({name: pa.array([], kind) for name, kind in COLUMNS.items()})
    members: dict[str, tuple[bytes, str | None]] = {}
    systems, templates = [], {}
    for number, (place, label) in enumerate(zip(outputs, labels, strict=True)):
        files, left = _outputs(place, target, format)
        empty, notes = _empty(files, left, expected)
        notes += (f"{plural(len(left), 'other file')} left out: {listed(left, 3)}",) if left else ()
        files |= {clip: (target.write(silent, ClipFile(clip, clip)), None) for clip in empty}
        members |= {keys.output.format(label=label, clip=clip): output for clip, output in files.items()}
        score = scores[number] if scores else None
        scored = _scored(score, keys) if score is not None else {}
        shown = {name: column.shown(cell) for name, (column, cell) in scored.items()}
        notices = score.notices if score is not None else ()
        notes += tuple(f"{notice.name}: {notice.text}" for notice in notices if notice.first or notice.grave)
        meta = metas[number] if metas else str(Path(out).parent / f"{label}.meta.yaml")
        template = not metas and not Path(meta).exists()
        if template:
            templates[meta] = data = _template(label, keys, shown, score)
        else:
            data = _content(meta)
        members[keys.meta.format(label=label)] = data, meta
        systems.append(
            PackedSystem(
                label=label,
                source=place,
                files=len(files),
                empty=empty,
                notes=notes,
                meta=meta,
                template=template,
                scores=shown,
                differences=() if template or not (scored and keys.results) else _differences(meta, data, scored),
            )
        )
    if technical_report is not None:
        name = keys.report.format(name=Path(technical_report).name)
        members[name] = _content(technical_report), technical_report
    whole = zipped({name: data for name, (data, _) in members.items()})
    origins = {f"{out}!/{name}": origin for name, (_, origin) in members.items() if origin is not None}
    report = _checked(whole, out, expected, target.name if format else None, origins)
    for path, data in templates.items():
        write_bytes(path, data)
    written = tuple(templates)
    if force or not report.reaches(Severity.ERROR):
        write_bytes(out, whole)
        written += (out,)
    notes = ()
    if expected is None:
        clips = f", such as --reference {keys.clips}" if keys.clips else ""
        how = f"without --reference, the clips of the evaluation set{clips}"
        notes = (f"whether clips are missing is not known {how}",)
    return Packaged(path=out, year=keys.year, written=written, systems=tuple(systems), notes=notes, report=report)


def see_labels(labels: Sequence[str], keys: PackageKeys) -> None:
    """Raise an error unless labels can be names of folders, and are of the year.

    Raises:
        UsageError: one is not.
    """
    for number, label in enumerate(labels):
        parts = Label.parse(label)
        if parts is None or not label.isprintable():
            form = f"[last name]_[institute]_{keys.tracks[0]}_[1-4]"
            raise UsageError(f"--label {printable(label)}: a label is {form}, such as Politis_TAU_{keys.tracks[0]}_1")
        if parts.track not in keys.tracks:
            choices = ", ".join(keys.tracks)
            raise UsageError(
                f"--label {printable(label)}: unknown track {parts.track} of {keys.year}; choose from {choices}"
            )
        if label in labels[:number]:
            raise UsageError(f"--label {printable(label)} was given twice; each system has its own")


def see_free(out: str, outputs: Sequence[str], others: Sequence[str]) -> None:
    """See that the zip is called so, takes the place of nothing that is read, and does not lie among outputs."""
    if suffix_of(out) != "zip":
        raise UsageError(f"-o {printable(out)}: the challenge takes a zip; choose a name that ends in .zip")
    among = (place for place in outputs if Path(place).resolve() in Path(out).resolve().parents)  # also if it is new
    if (place := input_at(out, (*outputs, *others)) or next(among, None)) is not None:
        raise UsageError(f"-o {printable(out)}: {printable(place)} is read; choose another place")


def _content(path: str) -> bytes:
    with open_source(path, raise_errors) as source:
        if not source.single:
            raise UsageError(f"{printable(path)} is not a single file")
        return source.entries[0].read()


def _outputs(
    place: str, target: LabelFormat, format: str | None
) -> tuple[dict[str, tuple[bytes, str | None]], list[str]]:
    """Return the outputs of a system by clip, with their paths, and the names of the other files there."""
    with open_source(place, raise_errors) as source:
        parts = label_parts(Catalogue(source, format, raising_unknown(raise_errors)))
        if not parts:
            raise UsageError(f"{printable(place)} holds no outputs")
        outputs: dict[str, tuple[bytes, str | None]] = {}
        names = [part.format.name if part.format else "no format that is known" for part in parts]
        for name, file in ((name, file) for name, part in zip(names, parts, strict=True) for file in part.files):
            clip = posixpath.basename(file.clip)
            if name != target.name and file.entry.size:  # an empty file is one of any format
                raise UsageError(
                    f"{printable(file.entry.path)} is of {name}, not of {target.name}: pack the folder that seldio "
                    f"convert {printable(place)} --to {target.name} -o FOLDER writes"
                )
            if clip in outputs:
                raise UsageError(f"{printable(place)} has two outputs for {printable(clip)}: pack one folder at a time")
            outputs[clip] = file.entry.read(), file.entry.path
        paths = {path for _, path in outputs.values()}
        return outputs, [entry.name for entry in source if entry.path not in paths]


def _empty(
    outputs: Collection[str], left: Sequence[str], expected: Reference | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the clips that get an empty file, and what is to be said of others."""
    if expected is None:
        return (), ()
    wanted = {posixpath.basename(clip) for clip in expected.clips}
    if foreign := sorted({*outputs} - wanted):  # with names that are off, all clips would get one
        clips = "1 clip that is" if len(foreign) == 1 else f"{len(foreign):,} clips that are"
        return (), (f"no empty files were added: {clips} not in the reference ({listed(foreign, 3)})",)
    missing = wanted.difference(outputs)
    for name in left:
        if (clip := plain_stem(name)) in missing and media_type(name) is None:
            raise UsageError(f"{printable(name)} is called like the clip {clip}, but no output can be read from it")
    return tuple(sorted(missing)), ()


# --- meta files -------------------------------------------------------------------------------------------------------


def _scored(report: ScoreReport, keys: PackageKeys) -> dict[str, tuple[Column, Cell]]:
    """Return the scores of a system by their names in a meta file, or where these are not known, by their own."""
    columns = {column.name: column for column in report.tables[0].columns if column.name in report.overall}
    names = keys.results or {column.named: name for name, column in columns.items() if column.better}
    return {name: (columns[score], report.overall[score]) for name, score in names.items()}


def _template(label: str, keys: PackageKeys, shown: Mapping[str, str], score: ScoreReport | None) -> bytes:
    parts = Label.parse(label)
    assert parts is not None, "labels are checked before anything is read"
    origin = "on the development set; F_20 and LR_CD in percent, LE_CD in degrees"
    if not keys.results:
        origin = f"as of 2022; see which results the challenge of {keys.year} asks for"
    elif score is not None:
        origin = f"by seldio score --profile {keys.profile}, over {score.over}"
    # in quotes, as NO is false in YAML
    label, institute = (json.dumps(text, ensure_ascii=False) for text in (label, parts.institute))
    text: str = FACTS["template"].format(label=label, institute=institute, origin=origin)
    for name in keys.results or RESULTS:
        value = shown.get(name, FILL_IN) if keys.results else FILL_IN
        text += f"      {name}: {'!!null' if value in ('', 'n/a') else value}\n"
    return text.encode()


def _entry(path: str, data: bytes) -> Entry:
    return Entry(path, Path(path).name, len(data), len(data), None, partial(io.BytesIO, data))


def _differences(path: str, data: bytes, scored: Mapping[str, tuple[Column, Cell]]) -> tuple[ResultDifference, ...]:
    """Return the results in a meta file that are not what is scored, at the digits that it has."""
    meta, differences = Meta(PackageFile(path, _entry(path, data))), []
    for name, (column, cell) in scored.items():
        try:
            place = meta.place((*OVERALL, name))
            stated = Decimal(place["value"])
        except (KeyError, InvalidOperation):  # it is not there, or no number
            continue
        if stated.is_finite() and isinstance(cell, int | float):
            value = cell * 100 if column.unit == "%" else cell
            half_a_digit = 0.5 * 10.0 ** min(int(stated.as_tuple().exponent), 300) + 1e-9  # 1e400 too
            if not abs(float(stated) - value) <= half_a_digit:  # of what is not a number too
                differences.append(ResultDifference(name, place["line"], place["value"], column.shown(cell)))
    return tuple(differences)


# --- the zip ----------------------------------------------------------------------------------------------------------


def _checked(
    whole: bytes, out: str, expected: Reference | None, format: str | None, origins: Mapping[str, str]
) -> Report:
    """Validate the zip; report findings in copied files at the path that they were copied from."""
    opened: list[Finding] = []
    with open_bytes(whole, out, Path(out).name, opened.append, DEFAULTS) as source:
        report = examine(source, format=format, reference=expected).report
    findings = (*opened, *report.findings)
    moved = Report(files=report.files)
    moved.add(dataclasses.replace(finding, path=origins.get(finding.path, finding.path)) for finding in findings)
    return moved
