"""Convert what lies on disk, as a whole or not at all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from io import IOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from seldio.conversion.inputs import Input, read_input
from seldio.conversion.losses import NOTHING, Plan, plan
from seldio.conversion.outputs import write_stream, write_tables
from seldio.conversion.tables import ALL, check_names, convert, refuse
from seldio.errors import InvalidData, UsageError
from seldio.files import Source
from seldio.findings import Finding, Severity, Sink
from seldio.formats import Format, get
from seldio.formats.recognise import SUFFIXES
from seldio.schema.events import origin_of
from seldio.text import plural, printable


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What a conversion did.

    Args:
        formats: of the source.
        target: the format written.
        files: label files read.
        written: paths of the files written, in their order.
        clips: clips in the source, silent ones included.
        rows: rows read and rows written.
        losses: fields that were lost, as allowed, with what of them.
        notes: what changed without a loss.
        findings: warnings and remarks met while reading.
    """

    formats: tuple[str, ...]
    target: str
    files: int
    written: tuple[str, ...]
    clips: int
    rows: tuple[int, int]
    losses: Mapping[str, str]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


def convert_source(
    path: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str] | BinaryIO,
    target: Format | str,
    *,
    format: Format | str | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
) -> Conversion:
    """Convert labels on disk to another format.

    A file becomes a file; a folder, archive or Parquet table becomes a folder of files with the same
    relative names and the target's suffix; anything becomes one Parquet file. Everything is read and
    checked before the first file is written, and each file is written whole or not at all.

    Args:
        path: a file, folder, archive, ``-`` for standard input, or an open source.
        out: the file or folder to write; one file may also go into an existing folder, or into a
            binary stream.
        target: the format to write.
        format: the layout of the source; found from its content if not given.
        allow_loss: fields whose loss is accepted; ``all`` for every one.
        fill: values for fields that are unknown, by field.

    Raises:
        InvalidData: something in the source is wrong, so that rows would be lost.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UnknownFormat: the layout of the source has to be named.
        UsageError: the request makes no sense, or would overwrite its own source.
        SeldioError: the disk fails.
    """
    target = get(target) if isinstance(target, str) else target
    check_names(allow_loss)
    findings: list[Finding] = []
    place = None if isinstance(out, IOBase) else os.fspath(cast("str | os.PathLike[str]", out))
    named = path.path if isinstance(path, Source) else path
    source = read_input(path, format, _strict(findings), _output_below(named, place) if place else None)
    if not source.tables:
        raise UsageError(f"no label files ({', '.join(SUFFIXES)}) in {printable(source.path)}")
    plans = _merged([plan(table, given, target, fill) for table, given in source.tables])
    refuse(plans, target, allow_loss)
    tables = [convert(table, given, target, allow_loss=[ALL], fill=fill).table for table, given in source.tables]
    if place is None:
        written = write_stream(tables, target, cast("BinaryIO", out), source)
    else:
        written = write_tables(tables, target, place, source)
    after = sum(table.num_rows for table in tables)
    clips = sum(len(origin_of(table).files) for table in tables)
    return _summary(source, target, plans, written, clips, after, findings)


def _summary(
    source: Input,
    target: Format,
    plans: Plan,
    written: tuple[str, ...],
    clips: int,
    rows: int,
    findings: Sequence[Finding],
) -> Conversion:
    others = [f"{plural(source.skipped, 'other file')} left out"] if source.skipped else []
    return Conversion(
        formats=tuple(given.name for _, given in source.tables),
        target=target.name,
        files=source.files,
        written=written,
        clips=clips,
        rows=(sum(table.num_rows for table, _ in source.tables), rows),
        losses=plans.losses,
        notes=(*plans.notes, *others),
        findings=tuple(findings),
    )


def _output_below(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path | None:
    """The output folder, where it lies inside the source: what an earlier run put there is no source."""
    source, target = Path(path).resolve(), Path(out).resolve()
    return target if source != target and target.is_relative_to(source) else None


def _strict(findings: list[Finding]) -> Sink:
    """A sink that stops at errors and keeps the rest."""

    def take(finding: Finding) -> None:
        if finding.severity is Severity.ERROR:
            raise InvalidData(finding)
        findings.append(finding)

    return take


def _merged(plans: Sequence[Plan]) -> Plan:
    """Plans of several tables as one; what they say of one field stands side by side."""
    losses: dict[str, str] = {}
    missing: dict[str, str] = {}
    for one in plans:
        for merged, new in ((losses, one.losses), (missing, one.missing)):
            for field, what in new.items():
                merged[field] = f"{merged[field]}; {what}" if field in merged else what
    return Plan(losses, missing, list(dict.fromkeys(note for one in plans for note in one.notes)))
