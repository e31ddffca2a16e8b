"""Labels to labels: read everything, plan, write in memory, read it back, and put the files in place."""

from __future__ import annotations

import dataclasses
import os
import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from io import IOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from seldio.catalogues import own_datasets
from seldio.catalogues.look import suffixes
from seldio.catalogues.parts import resolved
from seldio.check.labels import first_errors, settle
from seldio.conversion.inputs import LabelInput, one_table, read_labels, strict
from seldio.conversion.losses import NOTHING, Converted, accepted, carry_out, checked_fields, filled
from seldio.conversion.outputs import earlier_output, folder_place, single_file
from seldio.conversion.report import Conversion
from seldio.errors import UsageError
from seldio.files import Source, many_files, write_bytes
from seldio.files.sources import OWN, is_own, own_files, path_of, reopened
from seldio.findings import Finding
from seldio.formats import LabelFormat, get
from seldio.formats.base import OF_SYSTEMS
from seldio.formats.label_csv import Dialect
from seldio.schema.events import COLUMNS, origin_of
from seldio.text import as_toml, listed, plural, printable
from seldio.vocabularies import own, short

#: The end of the name of a file, which a table of one clip is written to.
_SUFFIX = re.compile(r"(?i)\.[a-z]\w*$")


def convert_source(
    path: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str] | BinaryIO,
    target: LabelFormat | str,
    *,
    format: LabelFormat | str | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
) -> Conversion:
    """Convert labels on disk to another format; the arguments and exceptions are those of :func:`seldio.convert`."""
    target = get(target) if isinstance(target, str) else target
    format = get(format) if isinstance(format, str) else format
    allow_loss = see_names(target, allow_loss, fill)
    findings: list[Finding] = []
    where = cast("BinaryIO", out) if isinstance(out, IOBase) else os.fspath(cast("str | os.PathLike[str]", out))
    without = earlier_output(path_of(path), where) if isinstance(where, str) and target.role != "table" else None
    with reopened(path, strict(findings)) as source:
        labels = read_labels(source, format, strict(findings), without)
        if not labels.files:
            from seldio.rules.collection import why_no_labels

            nothing = f"no label files ({', '.join(suffixes())}) in {printable(source.path)}"
            raise UsageError(nothing + why_no_labels(source))
        if isinstance(where, str) and not source.single and own_files(source):
            target = _with_own_classes(target, labels)
        findings += settle(labels.readings, force)
        if target.role in OF_SYSTEMS:
            _see_clips_differ(labels.tables, target)
        tables = [one_table(labels.tables, source.path)] if target.role == "table" else labels.tables
        converted = [carry_out(table, layout, target, fill) for table, layout in tables]
        losses = accepted(converted, target, allow_loss)
        _see_no_errors(converted, target, force)
        local = [file.real for file in labels.files if file.real is not None] or [source.path]
        of_file = isinstance(where, str) and _SUFFIX.search(where) is not None
        single = source.single and (of_file or all(layout.role != "table" for _, layout in labels.tables))
        written = _write(converted, where, target, local, source.path, single)
        notes = list(dict.fromkeys(note for part in converted for note in part.notes))
        if len(labels.tables) > 1:
            counts = [(layout.name, len(origin_of(table).files)) for table, layout in labels.tables]
            names = ", ".join(f"{name} ({plural(count, 'file')})" for name, count in counts)
            notes.insert(0, f"{len(labels.tables)} formats were read: {names}")
        if own(target.vocabulary) and isinstance(where, str) and Path(where).is_dir():
            written = (*written, _described(target, source, Path(where)))
            notes.append(f"class numbers are those of {short(target.vocabulary)}, which {OWN} names")
        if skipped := len(source.entries) - len(labels.files) - sum(map(is_own, source)):
            notes.append(f"{plural(skipped, 'other file')} skipped")
    return Conversion(
        formats=tuple(dict.fromkeys(layout.name for _, layout in labels.tables)),
        target=target.name,
        files=len(labels.files),
        written=written,
        clips=sum(len(origin_of(part.table).files) for part in converted),
        rows=(sum(table.num_rows for table, _ in labels.tables), sum(part.table.num_rows for part in converted)),
        losses=losses,
        notes=tuple(notes),
        findings=tuple(findings),
    )


def see_names(target: LabelFormat, allow_loss: Collection[str], fill: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields that may be lost; a UsageError before anything is read, if one is none or cannot be filled."""
    empty = pa.Table.from_batches([], pa.schema(list(COLUMNS.items())))
    filled(empty, target, fill)
    return checked_fields(allow_loss)


def _see_clips_differ(tables: Sequence[tuple[pa.Table, LabelFormat]], target: LabelFormat) -> None:
    """Refuse to make results of labels in several folders whose clips have one name: a system has one of each name."""
    clips: dict[str, list[str]] = {}
    for table in [table for table, layout in tables if resolved(layout, table).role not in OF_SYSTEMS]:
        for file in origin_of(table).files:
            clips.setdefault(posixpath.basename(file.clip), []).append(file.clip)
    for name, named in clips.items():
        if len(named) > 1:
            raise UsageError(
                f"{listed(named, 3)} have one name, and {target.name} holds the results of one system, a file for each "
                f"clip; {printable(name)} would have several: convert one folder at a time"
            )


def _see_no_errors(converted: Sequence[Converted], target: LabelFormat, force: bool) -> None:
    """Refuse to write what would be an error there, such as directions in front that may be radians.

    That the target has no class of a name is noted otherwise.
    """
    errors, _ = first_errors(part.read_back for part in converted if part.read_back is not None)
    for code, finding in errors.items():
        if code != "LAB102" and not force:
            raise UsageError(
                f"{printable(finding.path)} would have an error in {target.name} ({code}: {finding.message}); use "
                "--force to write it all the same"
            )


def _with_own_classes(target: LabelFormat, labels: LabelInput) -> LabelFormat:
    """Return *target* with the classes of the labels, where it has numbers and their dataset names its own classes."""
    lists = {layout.vocabulary for _, layout in labels.tables}
    numbered = isinstance(target, Dialect) and target.kind("class_id") is not None
    if not (numbered and len(lists) == 1 and own(*lists)):
        return target
    return dataclasses.replace(target, vocabulary=lists.pop())


def _described(target: LabelFormat, source: Source, folder: Path) -> str:
    described = own_datasets(source, lambda _: None)
    assert described is not None, "classes of its own come from nowhere else"
    (dataset, *_) = described.datasets
    record = {key: value for key, value in dataset.record.items() if key not in ("labels", "recordings", "formats")}
    record |= {"labels": {"formats": [target.name]}} if target.role == "label" else {}
    write_bytes(folder / OWN, as_toml(record).encode(), folder)
    return str(folder / OWN)


def _write(
    converted: Sequence[Converted],
    out: str | BinaryIO,
    target: LabelFormat,
    local: Sequence[str],
    source: str,
    single: bool,
) -> tuple[str, ...]:
    """Put the files in their place, each whole, and return their paths; *single*: *out* may be the only file."""
    files = [file for part in converted for file in part.files]
    into_folder = isinstance(out, str) and (out.endswith(os.sep) or Path(out).is_dir())
    single = single and len(files) == 1 and not into_folder
    if single or target.role == "table":
        with single_file(out, local) as (stream, written):
            if single:
                stream.write(files[0][1])
            else:
                from seldio.formats.parquet import write_parquet

                write_parquet(converted[0].table, stream)
        return written
    if not isinstance(out, str):
        count = len(files) or sum(len(origin_of(part.table).files) for part in converted)
        raise UsageError(f"{printable(source)} becomes {plural(count, 'file')}: use -o FOLDER")
    paths = folder_place([file for file, _ in files], out, local, source)
    top = os.path.abspath(out)  # noqa: PTH100 - a Path would lose what is odd about it
    with many_files():
        for file, data in files:
            write_bytes(os.path.join(top, file.name), data, top)  # noqa: PTH118
    return tuple(map(str, paths))
