"""Labels to labels: every part of a source is surveyed, their sum is planned, then every part is written.

Nothing is written before all parts were found well and the plan allows it. What is worked on is a portion: the files
of a part, read once and kept where the dataset is small, read again where it is large; so memory is that of a part.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from io import IOBase
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar, cast

import pyarrow as pa

from seldio.catalogues import own_datasets
from seldio.catalogues.look import Recognised, suffixes
from seldio.catalogues.parts import Part, resolved
from seldio.check.vetting import Faults, vet
from seldio.conversion.carry import carried, filled, given_class
from seldio.conversion.facts import Facts, complete, measured
from seldio.conversion.frames import with_column
from seldio.conversion.inputs import joined, label_parts, local_files, raising_unknown, strict
from seldio.conversion.losses import NOTHING, Plan, checked_names, merged, planned, refuse
from seldio.conversion.outputs import clip_tables, folder_place, is_folder, single_place, table_place
from seldio.conversion.report import Conversion
from seldio.errors import DataError, UsageError
from seldio.files import Source, atomic_write, many_files, write_bytes
from seldio.files.sources import OWN, is_own, own_files, reopened
from seldio.findings import Finding
from seldio.formats import LabelFormat, get
from seldio.formats.label_csv import Dialect
from seldio.parallel import parallel_map
from seldio.rules.ignored import why_no_labels
from seldio.schema.events import COLUMNS, ClipFile, Origin, clip_codes, origin_of
from seldio.schema.frames import event_table
from seldio.schema.streams import from_stream, to_stream
from seldio.text import plural, printable
from seldio.vocabularies import own, short

#: Bytes of label files of which what was read is kept between the survey and the writing.
KEPT = 1 << 24
#: Bytes of label files that are converted together: as rows they are many times as long.
PART = 2 << 20
#: What a layout's reader leaves out where it is the same in all rows, so that it is not unknown.
CONSTANT = {"distance": 0.0, "hemisphere": False}
Done = TypeVar("Done")
#: The columns of each format in all portions together.
Columns = tuple[tuple[str, tuple[str, ...]], ...]


@dataclasses.dataclass
class Portion:
    """Label files that are converted together: those of a part, or all tables of labels if they may be one."""

    parts: tuple[Part, ...]  # what is read
    keep: bool = False  # whether what was read stays here until it is written
    _read: list[Recognised] | None = dataclasses.field(default=None, repr=False)
    _carried: dict[str, tuple[pa.Table, pa.Table]] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(part.size for part in self.parts)

    @property
    def here(self) -> bool:
        """Whether it is worked on in this process, which keeps what was read, or would unpack its files for another."""
        return self.keep or any(part.packed for part in self.parts)

    def read(self, findings: list[Finding]) -> list[Recognised]:
        """The labels, each format apart."""
        if self._read is not None:
            return self._read
        found = [one for part in self.parts for one in part.labels(raising_unknown(strict(findings)))]
        self._read = found if self.keep else None
        return found

    def carried(self, goal: Goal, key: str, table: pa.Table, format: LabelFormat) -> pa.Table:
        """The table of one of its formats as the target has it."""
        before, done = self._carried.get(key, (None, None))
        if before is not table:
            fill, home = dict(goal.fill), resolved(format, table)
            done = carried(filled(table, goal.target, fill), home, goal.target, given_class(fill, goal.target))
            if self.keep:
                self._carried[key] = table, done
        return done


class Goal(NamedTuple):
    """What portions are converted to."""

    target: LabelFormat  # the format to write
    fill: tuple[tuple[str, Any], ...]  # values for fields that are unknown
    columns: Columns = ()  # of each format, that some portions have

    def tables(self, found: Sequence[Recognised]) -> Iterator[tuple[str, pa.Table, LabelFormat]]:
        """The tables of a portion with their formats and a key for each format, as parts of those of all portions."""
        known = dict(self.columns)
        for number, (table, format) in enumerate(joined(found)):
            key = f"{format.name} {number}" if format.role == "table" else format.name
            for field in known.get(key, ()):
                if field not in table.column_names:
                    constant = isinstance(format, Dialect) and field in CONSTANT
                    value = pa.scalar(CONSTANT[field] if constant else None, COLUMNS[field])
                    table = with_column(table, field, pa.repeat(value, table.num_rows))
            yield key, table, format


# --- the survey -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class LayoutSurvey:
    """The rows of one format; those of several portions add up."""

    format: LabelFormat  # the format
    home: LabelFormat  # that which its rows came from, if it is a table
    columns: set[str]  # that rows of any portion have
    partly: set[str] = dataclasses.field(default_factory=set)  # those of them that rows of another portion do not have
    facts: Facts = dataclasses.field(default_factory=Facts)  # for the plan
    rows: tuple[int, int] = (0, 0)  # read and to be written
    #: of the rows to be written, with all files of the target
    origin: Origin = dataclasses.field(default_factory=lambda: Origin("", "", ()))
    names: list[str] = dataclasses.field(default_factory=list)  # of their clips
    unplanned: str | None = None  # why no plan can be made
    unfit: str | None = None  # why the target cannot take some rows

    def add(self, other: LayoutSurvey) -> None:
        """Take in the rows of another portion."""
        if other.rows[0] and self.rows[0]:
            self.partly |= self.columns ^ other.columns
        if other.rows[0] or not self.rows[0]:  # what has no rows counts only as long as nothing has
            self.columns = (self.columns if self.rows[0] else set()) | other.columns
        self.facts.add(other.facts)
        self.rows = self.rows[0] + other.rows[0], self.rows[1] + other.rows[1]
        self.origin = dataclasses.replace(self.origin, files=(*self.origin.files, *other.origin.files))
        self.names += other.names
        self.unplanned = self.unplanned or other.unplanned
        self.unfit = self.unfit or other.unfit


@dataclasses.dataclass
class Survey:
    """What portions hold: their formats by key, remarks about their files, and errors in their rows."""

    layouts: dict[str, LayoutSurvey] = dataclasses.field(default_factory=dict)
    findings: list[Finding] = dataclasses.field(default_factory=list)
    faults: Faults = dataclasses.field(default_factory=Faults)

    def add(self, other: Survey) -> None:
        """Take in what a further portion holds."""
        for key, layout in other.layouts.items():
            if key in self.layouts:
                self.layouts[key].add(layout)
            else:
                self.layouts[key] = layout
        self.findings += other.findings
        self.faults.add(other.faults)

    @property
    def columns(self) -> Columns:
        """The columns of each format."""
        return tuple((key, tuple(sorted(layout.columns))) for key, layout in self.layouts.items())


@dataclasses.dataclass(frozen=True)
class Surveying:
    """Read a portion, and work out what converting it means."""

    goal: Goal

    def __call__(self, portion: Portion) -> Survey:
        """What *portion* holds."""
        survey = Survey()
        found = portion.read(survey.findings)
        survey.faults = vet(found)
        for key, table, format in self.goal.tables(found):
            survey.layouts[key] = self._surveyed(portion, key, table, format)
        return survey

    def _surveyed(self, portion: Portion, key: str, table: pa.Table, format: LabelFormat) -> LayoutSurvey:
        target, home = self.goal.target, resolved(format, table)
        layout = LayoutSurvey(format, home, set(table.column_names), rows=(table.num_rows, 0))
        try:
            layout.facts = measured(table, home, target, dict(self.goal.fill))
        except DataError as error:
            layout.unplanned = error.text
            return layout
        if not complete(layout.facts, target):
            return layout
        try:
            done = portion.carried(self.goal, key, table, format)
            if isinstance(target, Dialect) and target.silence:  # it lists frames that no row tells of
                for file, rows in clip_tables(done):
                    target.write(rows, file)
        except DataError as error:
            layout.unfit = error.text
            return layout
        layout.rows, layout.origin = (table.num_rows, done.num_rows), origin_of(done)
        # a table may know clips in another order than its files, a reader never does
        tabled = format.role == "table"
        layout.names = clip_codes(done)[1] if tabled else [file.clip for file in layout.origin.files]
        return layout


# --- the writing ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class WritingFiles:
    """Convert a portion and write its files, each whole: below *out*, or as *out* itself if it is *single*."""

    goal: Goal
    out: str
    single: bool = False

    def __call__(self, portion: Portion) -> None:
        """Write its files."""
        with many_files():
            for file, data in written_files(self.goal, portion):
                path = self.out if self.single else os.path.join(self.out, file.name)  # noqa: PTH118
                write_bytes(path, data, None if self.single else self.out)


def written_files(goal: Goal, portion: Portion) -> Iterator[tuple[ClipFile, bytes]]:
    """The files that *portion* becomes, with their content."""
    for key, table, format in goal.tables(portion.read([])):
        for file, rows in clip_tables(portion.carried(goal, key, table, format)):
            yield file, goal.target.write(rows, file)


@dataclasses.dataclass(frozen=True)
class Packing:
    """Convert a portion, which has one format, to rows of a Parquet table."""

    goal: Goal

    def __call__(self, portion: Portion) -> bytes:
        """The rows as the bytes of an Arrow stream."""
        ((key, table, format),) = self.goal.tables(portion.read([]))
        return to_stream(portion.carried(self.goal, key, table, format).combine_chunks())


# --- the whole --------------------------------------------------------------------------------------------------------


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
    without = None
    if isinstance(where, str) and target.role != "table":  # what an earlier run put into the source is no source
        top, below = Path(path.path if isinstance(path, Source) else path).resolve(), Path(where).resolve()
        without = below if top != below and below.is_relative_to(top) else None
    with reopened(path, strict(findings)) as source:
        found = label_parts(source, format, strict(findings), without, size=PART)
        if not found:
            held = f"no label files ({', '.join(suffixes())}) in {printable(source.path)}"
            raise UsageError(held + why_no_labels(source))
        if isinstance(where, str) and not source.single and own_files(source):
            target = _with_own_classes(target, found)
        portions = _portions(found)
        survey, plan, written = _converted(
            portions, where, target, allow_loss=allow_loss, fill=fill, force=force, source=source.path,
            local=local_files(found) or [source.path], single=source.single and not _tables(found),
        )  # fmt: skip
        files = len({file.entry.path for part in found for file in part.files})
        skipped = len(source.entries) - files - sum(map(is_own, source))
        notes = list(plan.notes)
        if own(target.vocabulary) and isinstance(where, str) and Path(where).is_dir():
            written = (*written, _described(target, source, Path(where)))
            notes.append(f"class numbers are those of {short(target.vocabulary)}, which {OWN} names")
    layouts = survey.layouts.values()
    return Conversion(
        formats=tuple(layout.format.name for layout in layouts),
        target=target.name,
        files=files,
        written=written,
        clips=sum(len(layout.origin.files) for layout in layouts),
        rows=(sum(layout.rows[0] for layout in layouts), sum(layout.rows[1] for layout in layouts)),
        losses=plan.losses,
        notes=(*notes, *([f"{plural(skipped, 'other file')} skipped"] if skipped else [])),
        findings=(*findings, *survey.findings),
    )


def see_names(target: LabelFormat, allow_loss: Collection[str], fill: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that may be lost; a UsageError before anything is read, if one is none or cannot be filled."""
    empty = pa.Table.from_batches([], pa.schema(list(COLUMNS.items())))
    filled(empty, target, fill), given_class(fill, target)
    return checked_names(allow_loss)


def _with_own_classes(target: LabelFormat, found: Sequence[Part]) -> LabelFormat:
    """A table of class numbers as a target, with the classes of the labels where their dataset names these itself."""
    lists = {part.format.vocabulary for part in found if isinstance(part.format, LabelFormat)}
    numbered = isinstance(target, Dialect) and target.kind("class_id") is not None
    if not (numbered and len(lists) == 1 and own(*lists)):
        return target
    return dataclasses.replace(target, vocabulary=lists.pop())


def _described(target: LabelFormat, source: Source, folder: Path) -> str:
    """Write what the dataset says of itself into the folder of its labels in another format."""
    from seldio.conversion.new_dataset import as_toml

    said = own_datasets(source, lambda _: None)
    assert said is not None, "classes of its own come from nowhere else"
    (one, *_) = said.datasets
    record = {key: value for key, value in one.record.items() if key not in ("labels", "recordings", "formats")}
    record |= {"labels": {"formats": [target.name]}} if target.role == "label" else {}
    write_bytes(folder / OWN, as_toml(record).encode(), folder)
    return str(folder / OWN)


def write_events(
    table: Any, out: str, target: LabelFormat, *, single: bool, allow_loss: Collection[str], fill: Mapping[str, Any],
    force: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Write an event table, see :func:`seldio.write`; *single*: *out* is the file if it has one clip."""
    from seldio.formats.parquet import reading_of

    portion = Portion((), keep=True, _read=[Recognised(reading_of(event_table(table), "the table"), False, "")])
    single = single and len(origin_of(event_table(table)).files) == 1
    return _converted(
        [portion], out, target, allow_loss=checked_names(allow_loss), fill=fill, force=force, source="the table",
        local=[], single=single,
    )[2]  # fmt: skip


def _tables(found: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in found if isinstance(part.format, LabelFormat) and part.format.role == "table")


def _portions(found: Sequence[Part]) -> list[Portion]:
    keep = sum(part.size for part in found) <= KEPT
    tables = _tables(found)
    if len({file.entry.path for part in tables for file in part.files}) < 2:  # there is none to be one with
        tables = ()
    alone = [Portion((part,), keep) for part in found if part not in tables]
    return [*alone, *([Portion(tables, keep)] if tables else [])]


def _converted(
    portions: Sequence[Portion], out: str | BinaryIO, target: LabelFormat, *, allow_loss: Collection[str],
    fill: Mapping[str, Any], force: bool, source: str, local: Sequence[str], single: bool,
) -> tuple[Survey, Plan, tuple[str, ...]]:  # fmt: skip
    """Convert all *portions* or none, wherever :func:`seldio.running` says."""
    goal = Goal(target, tuple(fill.items()))
    survey = _surveyed(goal, portions)
    if any(layout.partly & set(CONSTANT) and isinstance(layout.format, Dialect) for layout in survey.layouts.values()):
        survey = _surveyed(goal._replace(columns=survey.columns), portions)
    layouts = list(survey.layouts.values())
    for layout in layouts:
        if layout.unplanned is not None:
            raise DataError(layout.unplanned)
    survey.findings += survey.faults.settle(force)
    plan = merged([planned(layout.facts, layout.home, target, fill) for layout in layouts])
    refuse(plan, target, allow_loss)
    for layout in layouts:
        if layout.unfit is not None:
            raise DataError(layout.unfit)
    goal = goal._replace(columns=survey.columns)
    files = [file for layout in layouts for file in layout.origin.files]
    single = single and len(files) == 1
    if target.role == "table" and (isinstance(out, str) or len(layouts) == 1):
        written = _write_table(goal, portions, layouts, out, local)
    elif isinstance(out, str):
        written = _write_files(goal, portions, files, out, local, source, single)
    elif single:
        ((_, data),) = written_files(goal, portions[0])
        out.write(data)
        written = ("-",)
    else:
        raise UsageError(f"{printable(source)} becomes {len(files)} files: use -o FOLDER")
    return survey, plan, written


def _each(work: Callable[[Portion], Done], portions: Sequence[Portion], what: str) -> Iterator[Done]:
    here = any(portion.here for portion in portions)
    return parallel_map(work, portions, what=what, size=attrgetter("size"), here=here)


def _surveyed(goal: Goal, portions: Sequence[Portion]) -> Survey:
    survey = Survey()
    done = _each(Surveying(goal), portions, "reading labels")
    for one in done:
        survey.add(one)
    return survey


def _write_files(
    goal: Goal, portions: Sequence[Portion], files: Sequence[ClipFile], out: str, local: Sequence[str], source: str,
    single: bool,
) -> tuple[str, ...]:  # fmt: skip
    """Write all label files."""
    if single and not is_folder(out):
        paths = [single_place(out, local)]
        work = WritingFiles(goal, str(paths[0]), single=True)
    else:
        paths = folder_place(files, out, local, source)
        work = WritingFiles(goal, os.path.abspath(out))  # noqa: PTH100 - a Path would lose what is odd about it
    for _ in _each(work, portions, "writing labels"):
        pass
    return tuple(map(str, paths))


def _write_table(
    goal: Goal, portions: Sequence[Portion], layouts: Sequence[LayoutSurvey], out: str | BinaryIO, local: Sequence[str]
) -> tuple[str, ...]:
    """Write the Parquet table of all portions as their rows come."""
    from seldio.formats.parquet import write_clips

    path = table_place(out, local, len(layouts)) if isinstance(out, str) else None
    (layout,) = layouts
    columns = (layout.columns | set(dict(goal.fill))) & set(goal.target.carries)
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in columns])

    def numbered() -> Iterator[pa.Table]:
        """The rows of each portion, with the number of each row's clip among all instead of its name."""
        first = 0
        for data in _each(Packing(goal), portions, "writing labels"):
            table = from_stream(data)
            yield table.set_column(0, "clip", pa.array(clip_codes(table)[0] + first)).select(schema.names)
            first += len(origin_of(table).files)

    with ExitStack() as stack:
        stream = out if path is None else stack.enter_context(atomic_write(path))
        write_clips(numbered(), cast("BinaryIO", stream), layout.origin, layout.names, schema)
    return ("-",) if path is None else (str(path),)
