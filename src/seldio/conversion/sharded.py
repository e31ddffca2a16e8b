"""Labels to labels shard by shard: all are looked at first, then they are converted; memory stays as it is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from operator import attrgetter
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa

from seldio.check.vetting import Faults
from seldio.conversion.facts import Facts
from seldio.conversion.losses import Plan, planned
from seldio.conversion.outputs import folder_place, several, table_place
from seldio.conversion.shard_work import CONSTANT, Known, Looking, Packed, Packing, Seen, Writing, still_there
from seldio.conversion.shards import Shard
from seldio.conversion.tables import merged, refuse
from seldio.engines import each
from seldio.errors import DataError
from seldio.files import Source, atomic_write
from seldio.findings import Finding
from seldio.formats import Format, get
from seldio.formats.label_csv import Dialect
from seldio.formats.parquet import write_clips
from seldio.schema.events import COLUMNS, ClipFile, Origin, clip_codes


@dataclasses.dataclass
class Layout:
    """The label files of one layout, of all shards together.

    Args:
        format: the layout.
        columns: that rows of any shard have.
        partly: those of them that rows of another shard do not have.
        facts: for the plan.
        read: rows read.
        rows: rows to be written.
        files: of the target.
        unfit: why the target cannot take some rows.
    """

    format: Format
    columns: set[str] = dataclasses.field(default_factory=set)
    partly: set[str] = dataclasses.field(default_factory=set)
    facts: Facts = dataclasses.field(default_factory=Facts)
    read: int = 0
    rows: int = 0
    files: list[ClipFile] = dataclasses.field(default_factory=list)
    unfit: str | None = None

    def add(self, seen: Seen) -> None:
        """Take in what one shard holds."""
        if seen.rows[0] and self.read:
            self.partly |= self.columns.symmetric_difference(seen.columns)
        if seen.rows[0] or not self.read:  # what has no rows counts only as long as nothing has
            self.columns = (self.columns if self.read else set()) | set(seen.columns)
        self.facts.add(seen.facts)
        self.read += seen.rows[0]
        self.rows += seen.rows[1]
        self.files += seen.files
        self.unfit = self.unfit or seen.unfit


class Done(NamedTuple):
    """What became of labels: their layouts, what that meant, and the paths written."""

    layouts: Sequence[Layout]
    plan: Plan
    written: tuple[str, ...]


def convert_shards(
    source: Source, found: Sequence[Shard], out: str | BinaryIO, target: Format, *, allow_loss: Collection[str],
    fill: Mapping[str, Any], findings: list[Finding], force: bool = False,
) -> Done:  # fmt: skip
    """Convert the label files of *found*, all of them or none, wherever :func:`seldio.engines.running` says.

    Args:
        source: what they are of; open.
        found: the shards, in the order of files.
        out: the folder or Parquet file to write, or a stream for the latter.
        target: the format to write.
        allow_loss: fields whose loss is accepted.
        fill: values for fields that are unknown, by field.
        findings: takes remarks about the files.
        force: whether labels with errors are converted.

    Raises:
        InvalidData: something in the labels is wrong.
        DataError: times or numbers are far beyond what the target can hold.
        LossError: the target cannot carry a field, and its loss is not allowed.
        UsageError: the request makes no sense, or would overwrite its own source.
        SeldioError: the disk fails.
    """
    given, before = tuple(fill.items()), len(findings)
    layouts = _looked(Looking(target, given), found, findings, force)
    if any(layout.partly & set(CONSTANT) and isinstance(layout.format, Dialect) for layout in layouts):
        del findings[before:]
        layouts = _looked(Looking(target, given, _known(layouts)), found, findings, force)
    plan = merged([planned(layout.facts, layout.format, target, fill) for layout in layouts])
    refuse(plan, target, allow_loss)
    for layout in layouts:
        if layout.unfit is not None:
            raise DataError(layout.unfit)
    if target.role == "table":
        written = _write_table(Packing(target, given, _known(layouts)), found, layouts, out, source)
    elif isinstance(out, str):
        folder = os.path.abspath(out)  # noqa: PTH100 - a Path would lose what is odd about it
        files = [file for layout in layouts for file in layout.files]
        paths = folder_place(files, out, _local(found, source), source.path)
        _write_files(Writing(target, given, _known(layouts), folder), found)
        written = tuple(map(str, paths))
    else:
        raise several(source.path, sum(len(layout.files) for layout in layouts))
    return Done(layouts, plan, written)


def _parts(found: Sequence[Shard]) -> Iterable[Shard]:
    """The shards as they can go elsewhere; what has to be read for that is read when its turn comes."""
    on_disk = all(entry.on_disk for shard in found for entry, _, _ in shard.files)
    return list(found) if on_disk else map(Shard.portable, found)


def _looked(work: Looking, found: Sequence[Shard], findings: list[Finding], force: bool) -> list[Layout]:
    """The layouts of all shards, in the order in which they are met."""
    layouts: dict[str, Layout] = {}
    unplanned: list[str] = []
    faults = Faults()
    done = each(work, _parts(found), what="reading labels", size=attrgetter("size"), key=attrgetter("stamp"))
    for looked in done:
        findings += looked.findings
        faults.add(looked.faults)
        for seen in looked.seen:
            format = dataclasses.replace(get(seen.layout), vocabulary=seen.vocabulary)
            layouts.setdefault(seen.layout, Layout(format)).add(seen)
            unplanned += [] if seen.unplanned is None else [seen.unplanned]
    findings += faults.settle(force)
    if unplanned:
        raise DataError(unplanned[0])
    return list(layouts.values())


def _known(layouts: Iterable[Layout]) -> Known:
    return tuple((layout.format.name, tuple(sorted(layout.columns))) for layout in layouts)


def _local(found: Sequence[Shard], source: Source) -> list[str]:
    """The real files that are read."""
    local = [str(entry.local) for shard in found for entry, _, _ in shard.files if entry.local is not None]
    return local or [source.path]


def _write_files(work: Writing, found: Sequence[Shard]) -> None:
    """Write all label files; those of an earlier run that are no longer there are written again."""
    done = each(work, _parts(found), what="writing labels", size=attrgetter("size"), key=attrgetter("stamp"))
    gone = [shard for shard, written in zip(found, done, strict=True) if not still_there(written, work.out)]
    for _ in each(work, map(Shard.portable, gone), what="writing labels again" if gone else None):
        pass


def _write_table(
    work: Packing, found: Sequence[Shard], layouts: Sequence[Layout], out: str | BinaryIO, source: Source
) -> tuple[str, ...]:
    """Write the Parquet table of all shards as their rows come."""
    clips = sum(len(layout.files) for layout in layouts)
    if not isinstance(out, str) and len(layouts) > 1:
        raise several(source.path, clips)
    path = table_place(out, _local(found, source), len(layouts)) if isinstance(out, str) else None
    (layout,) = layouts
    columns = (layout.columns | set(dict(work.fill))) & set(work.target.carries)
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in columns])
    origin = Origin(layout.format.name, layout.format.vocabulary, tuple(layout.files))
    done = each(work, _parts(found), what="writing labels", size=attrgetter("size"), key=attrgetter("stamp"))
    with ExitStack() as stack:
        stream = out if path is None else stack.enter_context(atomic_write(path))
        names = [file.clip for file in layout.files]
        write_clips(_numbered(done, schema), cast("BinaryIO", stream), origin, names, schema)
    return ("-",) if path is None else (str(path),)


def _numbered(done: Iterable[Packed], schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of each shard, with the number of each row's clip among all in place of its name."""
    first = 0
    for packed in done:
        table = pa.ipc.open_stream(packed.data).read_all()
        yield table.set_column(0, "clip", pa.array(clip_codes(table)[0] + first)).select(schema.names)
        first += packed.clips
