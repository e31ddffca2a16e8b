"""Convert what lies on disk, as a whole or not at all."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import IOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from seldio.conversion.carry import filled
from seldio.conversion.inputs import label_entries, read_input, strict
from seldio.conversion.losses import NOTHING, Plan, plan
from seldio.conversion.outputs import write_stream, write_tables
from seldio.conversion.sharded import convert_shards
from seldio.conversion.shards import Shard, known, shards
from seldio.conversion.tables import carry_out, checked_names, merged, refuse
from seldio.errors import UsageError
from seldio.files import Source
from seldio.files.sources import reopened
from seldio.findings import Finding
from seldio.formats import Format, get, item_formats
from seldio.formats.parquet import PARQUET
from seldio.formats.recognise import SUFFIXES
from seldio.schema.events import COLUMNS, origin_of
from seldio.text import plural, printable

_EMPTY = pa.schema(list(COLUMNS.items())).empty_table()
#: Bytes of label files that are read and converted all at once; above, shard by shard.
WHOLE = 1 << 24


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
        findings: warnings and remarks met while reading, and errors that were forced.
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

    def __str__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return dataclasses.asdict(self) | {"findings": [finding.as_dict() for finding in self.findings]}

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        read, written = self.rows
        noun = "clip" if item_formats.named(self.target) is None else "question"
        rows = plural(read, "row") + (f" became {written:,}" if read != written else "")
        where = "" if self.written == ("-",) else f" in {plural(len(self.written), 'file')}"
        names = " and ".join(dict.fromkeys(self.formats))
        yield f"{names} to {self.target}: {plural(self.clips, noun)}, {rows}{where}"
        yield from (f"  lost as allowed: {field} ({what})" for field, what in self.losses.items())
        yield from (f"  {note}" for note in self.notes)
        yield from (f"  {finding}" for finding in self.findings)


def convert_source(
    path: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str] | BinaryIO,
    target: Format | str,
    *,
    format: Format | str | None = None,
    allow_loss: Collection[str] = (),
    fill: Mapping[str, Any] = NOTHING,
    force: bool = False,
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
        force: convert labels in which there are errors too, such as angles in radians or classes that do not exist.

    Raises:
        InvalidData: something in the source is wrong, so that rows would be lost or mean something else.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UnknownFormat: the layout of the source has to be named.
        UsageError: the request makes no sense, or would overwrite its own source.
        SeldioError: the disk fails.
    """
    target = get(target) if isinstance(target, str) else target
    told = get(format) if isinstance(format, str) else format
    allow_loss = checked_names(allow_loss)
    findings: list[Finding] = []
    where = cast("BinaryIO", out) if isinstance(out, IOBase) else os.fspath(cast("str | os.PathLike[str]", out))
    without = None
    if isinstance(where, str) and target.role != "table":
        without = _output_below(path.path if isinstance(path, Source) else path, where)
    filled(_EMPTY, target, fill)  # what cannot be filled is said before anything is read
    with reopened(path, strict(findings)) as source:
        if found := _parts(source, told, without, findings):
            done = convert_shards(
                source, found, where, target, allow_loss=allow_loss, fill=fill, findings=findings, force=force
            )
            counts = sum(len(shard.files) for shard in found), sum(len(layout.files) for layout in done.layouts)
            rows = sum(layout.read for layout in done.layouts), sum(layout.rows for layout in done.layouts)
            formats = [layout.format for layout in done.layouts]
            return _summary(source, formats, target, done.plan, done.written, counts, rows, findings)
        return _convert_whole(source, where, target, told, without, allow_loss, fill, findings, force)


def _convert_whole(
    opened: Source, out: str | BinaryIO, target: Format, told: Format | None, without: Path | None,
    allow_loss: Collection[str], fill: Mapping[str, Any], findings: list[Finding], force: bool,
) -> Conversion:  # fmt: skip
    """Convert what fits into memory."""
    source = read_input(opened, told, strict(findings), without)
    if not source.tables:
        raise UsageError(f"no label files ({', '.join(SUFFIXES)}) in {printable(source.path)}")
    findings += source.faults.settle(force)
    plans = merged([plan(table, given, target, fill) for table, given in source.tables])
    refuse(plans, target, allow_loss)
    tables = [carry_out(table, given, target, fill) for table, given in source.tables]
    if isinstance(out, str):
        written = write_tables(tables, target, out, source)
    else:
        written = write_stream(tables, target, out, source)
    rows = sum(table.num_rows for table, _ in source.tables), sum(table.num_rows for table in tables)
    counts = source.files, sum(len(origin_of(table).files) for table in tables)
    return _summary(opened, [given for _, given in source.tables], target, plans, written, counts, rows, findings)


def _parts(source: Source, told: Format | None, without: Path | None, findings: list[Finding]) -> list[Shard]:
    """The label files of *source* in shards, if they are too large to be worked on all at once; else nothing."""
    if source.kind not in ("folder", "zip", "tar") or (told is not None and (told.role == "table" or not known(told))):
        return []
    entries = [entry for entry, _, _ in label_entries(source, told, without)]
    tables = any(entry.name.lower().endswith(PARQUET.suffix) for entry in entries)
    if tables or sum(max(entry.size, 0) for entry in entries) <= WHOLE:
        return []
    remarks: list[Finding] = []
    found = shards(source, told, without, sink=remarks.append, by_clip=False)
    if any(shard.layout == PARQUET.name for shard in found):
        return []
    findings += remarks
    return sorted(found, key=lambda shard: shard.layout is not None)  # what is wrong with the others comes first


def _summary(
    source: Source, formats: Sequence[Format], target: Format, plans: Plan, written: tuple[str, ...],
    counts: tuple[int, int], rows: tuple[int, int], findings: Sequence[Finding],
) -> Conversion:  # fmt: skip
    """The report; *counts*: files read and clips."""
    skipped = len(source.entries) - counts[0]
    others = [f"{plural(skipped, 'other file')} left out"] if skipped else []
    return Conversion(
        formats=tuple(format.name for format in formats),
        target=target.name,
        files=counts[0],
        written=written,
        clips=counts[1],
        rows=rows,
        losses=plans.losses,
        notes=(*plans.notes, *others),
        findings=tuple(findings),
    )


def _output_below(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path | None:
    """The output folder, where it lies inside the source: what an earlier run put there is no source."""
    source, target = Path(path).resolve(), Path(out).resolve()
    return target if source != target and target.is_relative_to(source) else None
