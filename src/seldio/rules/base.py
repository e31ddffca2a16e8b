"""Label tables, as their rules see them, and the one place that runs these rules.

A rule for labels is a function whose parameters are columns of the table and attributes of :class:`Labels`. It returns
a mask over the rows, or the faults that it has a sentence for. Rules are listed in tuples, and their records are in
``rules.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.catalogues.parts import resolved
from seldio.findings import SINGLY, Finding, Rule, Severity
from seldio.formats import LabelFormat, get
from seldio.formats.base import FileRows, Ints, LabelReading
from seldio.formats.datasets import DatasetSpec, counted
from seldio.formats.label_csv import Dialect
from seldio.reader_rules import RECORDS
from seldio.rules import rule_of
from seldio.schema.arrays import pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS
from seldio.text import clipped
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.rules.collection import Reference

Bools = np.ndarray[Any, np.dtype[np.bool_]]
Values = np.ndarray[Any, Any]

#: Rows of a frame are compared with so many before them; where a frame has more rows, like ones are put side by side.
FARTHEST_TWINS = 16
#: Degrees of azimuth between the hands, feet and mouth of one actor at most: 20 in the labels of STARSS22; and the
#: elevation from which on azimuths are not compared.
WIDEST, STEEP = 45, 60
_IDENTITY = ("class_id", "class_name", "source")
POSITION = ("azimuth", "elevation", "distance", "x", "y", "z")


class FirstRow(int):
    """A row of a table that stands for all rows of its file with the same fault: *alike*, itself the first."""

    alike: Ints

    @classmethod
    def of(cls, rows: Ints) -> FirstRow:
        """Return the first of *rows*, for all of them."""
        row = cls(rows[0])
        row.alike = rows
        return row


class Labels:
    """All labels of one format, with their columns as arrays, and values that many rules need, computed once.

    Files that have rows are numbered from 0, and numbers by file are arrays over them.

    Args:
        reading: the rows.
        reference: what is expected.
    """

    def __init__(self, reading: LabelReading, reference: Reference | None = None) -> None:
        self.reading, self.format = reading, reading.format
        self.dialect = dialect = reading.format if isinstance(reading.format, Dialect) else None
        #: the largest azimuth of the format, in degrees
        self.widest = 90 if dialect is not None and dialect.folded else 180
        #: how many units of the format make a metre; None where it has no unit
        self.metre = dialect.metre if dialect is not None else None
        #: whether the format has numbers of sources
        self.numbered = dialect is None or "source" not in dialect.fills
        #: label frames of the clips of the reference, where it has them
        expected = reference.clips if reference is not None else {}
        self.lengths = {clip: frames for clip, frames in expected.items() if frames is not None}
        #: the columns of the table; empty if it has no rows
        self.fields = frozenset(reading.table.column_names if reading.table.num_rows else ())
        #: the files that have rows, their numbers, first rows, numbers of rows, and clips
        self.filled: list[FileRows] = [part for part in reading.parts if part.rows]
        self.every = range(len(self.filled))
        self.starts: Ints = np.array([part.first for part in self.filled], dtype=np.int64)
        self.sizes: Ints = np.diff(np.append(self.starts, len(self)))
        self.clips: list[str] = [part.origin.clip for part in self.filled]
        #: set if the files are in a different format altogether: all other rules are skipped then
        self.foreign = False
        #: by column, the files whose values a rule accounts for
        self.accounted: dict[str, Bools] = {}
        self._columns: dict[str, Values] = {}
        self._extremes: dict[tuple[str, np.ufunc], Values] = {}

    def __len__(self) -> int:
        return int(self.reading.table.num_rows)

    def has(self, *fields: str) -> bool:
        """Return whether the table has all of *fields*, and at least one row."""
        return self.fields.issuperset(fields)

    def column(self, field: str) -> Any:
        """Return a column as an array; what is unknown is NaN, -1 (in whole numbers) or empty (text); lists stay."""
        if field not in self._columns:
            chunk = self.reading.table[field].combine_chunks()
            if pa.types.is_list(chunk.type):
                return chunk
            if chunk.null_count and not str(chunk.type).startswith("double"):
                chunk = pc.fill_null(chunk, "" if str(chunk.type) == "string" else -1)
            self._columns[field] = to_numpy(chunk)
        return self._columns[field]

    @cached_property
    def origin(self) -> LabelFormat:
        """The format of the rows; of a table, the one that they came from."""
        return resolved(self.format, self.reading.table)

    @property
    def headed(self) -> bool:
        """Whether the format has a header line."""
        return isinstance(self.origin, Dialect) and bool(self.origin.header)

    @cached_property
    def classes(self) -> int:
        """How many classes there are."""
        return len(vocabulary(self.format.vocabulary))

    @cached_property
    def length(self) -> Values:
        """The lengths of the vectors."""
        return np.asarray(np.sqrt(sum(self.column(axis) ** 2 for axis in "xyz")))

    def text(self, row: int, field: str) -> str:
        """Return the text in the file for *field* of *row*."""
        return clipped(self.reading.place(row, field).value, 30)

    # --- files ---------------------------------------------------------------------------------------

    def low(self, field: str) -> Values:
        """Return the smallest value of *field* in each file; 0 without that column."""
        return self._extreme(field, np.minimum)

    def high(self, field: str) -> Values:
        """Return the largest value of *field* in each file; 0 without that column."""
        return self._extreme(field, np.maximum)

    def reach(self, field: str) -> Values:
        """Return the largest absolute value of *field* in each file; 0 without that column."""
        return np.maximum(self._extreme(field, np.maximum), -self._extreme(field, np.minimum))

    def _extreme(self, field: str, reduce: np.ufunc) -> Values:
        if field not in self.fields:
            return np.zeros(len(self.filled))
        if (field, reduce) not in self._extremes:
            self._extremes[field, reduce] = reduce.reduceat(self.column(field), self.starts)
        return self._extremes[field, reduce]

    def count(self, marked: Bools) -> Ints:
        """Return how many rows of each file are marked."""
        return np.add.reduceat(marked, self.starts, dtype=np.int64)

    def rows_of(self, file: int) -> slice:
        """Return the rows of a file."""
        part = self.filled[file]
        return slice(part.first, part.first + part.rows)

    def values(self, file: int, field: str) -> Values:
        """Return a column of one file."""
        return np.asarray(self.column(field)[self.rows_of(file)])

    def first_row(self, file: int, marked: Bools) -> int:
        """Return the first row of a file that is marked; its first row where none is."""
        return int(self.starts[file] + np.argmax(marked[self.rows_of(file)]))

    def owners(self, rows: Ints | int) -> Any:
        """Return the numbers of the files of *rows*; the number of one."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def explain(self, files: Iterable[int] | Bools, *fields: str) -> list[int]:
        """Record that a rule accounts for the values of *fields* in *files*: nothing else is reported of them.

        Files are numbers or a mask over all files; their numbers are returned.
        """
        numbers: list[int] = np.flatnonzero(files).tolist() if isinstance(files, np.ndarray) else list(files)
        for field in fields:
            self.accounted.setdefault(field, np.zeros(len(self.filled), dtype=bool))[numbers] = True
        return numbers

    def explained(self, field: str) -> Bools:
        """Return for each file whether a rule accounts for *field*."""
        return self.accounted.get(field, np.zeros(len(self.filled), dtype=bool))

    # --- rows of one frame -------------------------------------------------------------------------

    @cached_property
    def unsorted(self) -> Ints:
        """Rows whose frame number is smaller than that of the previous row in the same file."""
        falls = np.flatnonzero(np.diff(self.column("frame")) < 0) + 1
        return np.setdiff1d(falls, self.starts, assume_unique=True)

    @cached_property
    def pieces(self) -> Ints:
        """For each row, in which run of rows whose frames do not fall it is; runs count through all files."""
        falls = np.zeros(len(self), np.int64)
        falls[self.unsorted] = 1
        return np.cumsum(falls)

    @cached_property
    def order(self) -> Ints | None:
        """The rows by file and frame, in file order within a frame; None where they are in that order already."""
        if not len(self.unsorted):
            return None
        return np.lexsort((self.column("frame"), np.repeat(np.arange(len(self.filled)), self.sizes)))

    def ordered(self, field: str) -> Any:
        """Return a column in frame order."""
        return self.column(field) if self.order is None else self.column(field)[self.order]

    def rows(self, positions: Ints) -> Ints:
        """Return the table rows at positions of the frame order."""
        return positions if self.order is None else self.order[positions]

    @cached_property
    def frame_starts(self) -> Ints:
        """Positions (in frame order) at which a new frame begins, followed by the number of rows."""
        new = np.empty(len(self) + 1, dtype=bool)
        new[0] = new[-1] = True
        frame = self.ordered("frame")
        np.not_equal(frame[1:], frame[:-1], out=new[1:-1])
        new[self.starts] = True
        return np.flatnonzero(new)

    @cached_property
    def twins(self) -> tuple[Ints, Ints]:
        """Pairs of positions (in frame order) with one frame, class and source, the earlier one first."""
        return self._pairs(*_IDENTITY)

    def _pairs(self, *fields: str) -> tuple[Ints, Ints]:
        """Return pairs of positions with one frame and the same values of some fields; each such row is in one."""
        names = [field for field in fields if field in self.reading.table.column_names]
        follows = np.ones(len(self), dtype=bool)  # rows after another one of their frame
        follows[self.frame_starts[:-1]] = False
        keys, sizes, places = [self.ordered(name) for name in names], np.diff(self.frame_starts), np.arange(len(self))
        if sizes.max(initial=0) > FARTHEST_TWINS:
            alike = [self.ordered(name) for name in POSITION if self.has(name)]
            places = np.lexsort((*alike, *keys, np.repeat(np.arange(len(sizes)), sizes)))
            keys = [key[places] for key in keys]
        pairs = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        second, shift = np.flatnonzero(follows), 1
        while len(second) and shift <= FARTHEST_TWINS:
            first = second - shift
            same = np.logical_and.reduce([key[first] == key[second] for key in keys])
            pairs.append((first[same], second[same]))
            second, shift = second[follows[first]], shift + 1
        first, second = (places[np.concatenate(side)] for side in zip(*pairs, strict=True))
        return np.minimum(first, second), np.maximum(first, second)

    @cached_property
    def twins_apart(self) -> tuple[Ints, Ints]:
        """The pairs of :attr:`twins` that are in two places."""
        first, second = self.twins
        moved = np.zeros(len(first), bool)
        for values in (self.ordered(field) for field in POSITION if field in self.fields):
            moved |= values[first] != values[second]
        return first[moved], second[moved]

    @cached_property
    def datasets(self) -> Sequence[DatasetSpec | None]:
        """Return for each file with rows a dataset with a recording of its name; None where the classes are others."""
        specs = [counted(self.format.name, clip) for clip in self.clips]
        usual = not any(specs) or get(self.format.name).vocabulary == self.format.vocabulary
        return specs if usual else [None] * len(specs)

    @cached_property
    def wide(self) -> tuple[Ints, Ints]:
        """The pairs of positions with one frame and source that are farther apart than one actor is wide.

        Source 0 is whatever is not an actor. Above and below, azimuths say little.
        """
        first, second = self._pairs("source")
        azimuth, level = self.ordered("azimuth"), np.abs(self.ordered("elevation")) < STEEP
        far = np.abs((azimuth[first] - azimuth[second] + 180) % 360 - 180) > WIDEST
        far &= level[first] & level[second] & (self.ordered("source")[first] > 0)
        numbered = np.array([spec is not None for spec in self.datasets], bool)  # others may number them by class
        far[far] = numbered[self.owners(self.rows(first[far]))]
        return first[far], second[far]

    # --- findings ----------------------------------------------------------------------------------

    def where(self, field: str, marked: Bools) -> Iterator[int]:
        """Return the marked rows in which *field* is known, as :meth:`firsts` returns them."""
        if self.reading.table[field].null_count:
            marked = marked & to_mask(self.reading.table[field].is_valid())
        return self.firsts(np.flatnonzero(marked))

    def firsts(self, rows: Ints) -> Iterator[int]:
        """Yield the rows to report among *rows* (ascending), which share a fault: a few per file, or one for all.

        One cause is one finding: where a file has more than a few such rows, the first one represents them all.
        """
        owners = self.owners(rows)
        for same in np.split(rows, np.flatnonzero(np.diff(owners)) + 1) if len(rows) else ():
            if len(same) <= SINGLY:
                yield from same.tolist()
            else:
                yield FirstRow.of(same)

    def finding(self, rule: Rule, row: int, *words: Any, **more: Any) -> Finding:
        """Return a finding of *rule* at table row *row* and all rows that it represents, as :class:`Reading` does."""
        finding = self.reading.finding(rule, row, *words, **more)
        if not isinstance(row, FirstRow):
            return finding
        part = self.reading.part_of(row)
        return finding.times(len(row.alike), part.lines(row.alike - part.first))

    def fault(self, file: int, field: str | None, message: str | None = None, **more: Any) -> RowFault:
        """Return a fault of a whole file, reported at its first row; *more* are its fields or words of its record."""
        fields = {name: more.pop(name) for name in ("hint", "severity", "fixable") if name in more}
        return RowFault(int(self.starts[file]), field, more, message, **fields)

    def value(self, name: str) -> Any:
        """Return a column, or what is computed from columns, by its name; ``labels`` is all of this."""
        if name == "labels":
            return self
        return self.column(name) if name in COLUMNS else getattr(self, name)


# --- rules -----------------------------------------------------------------------------------------------


class RowFault(NamedTuple):
    """A fault that a rule reports at a row, or with a :class:`FirstRow` at several with the same fault."""

    row: int
    field: str | None  # at which it is reported; the whole row if None
    words: Mapping[str, Any] = MappingProxyType({})  # for the sentences of the record, besides those of the row
    message: str | None = None  # unless it is that of the record
    hint: str | None = None  # likewise
    severity: Severity | None = None  # likewise
    fixable: bool = True  # whether the repair of the rule, if there is one, may be tried


Check = Callable[..., "Bools | Iterable[RowFault]"]


def run(
    checks: Sequence[Check], labels: Labels, *, but: Mapping[str, Bools] = MappingProxyType({})
) -> Iterator[tuple[Finding, int]]:
    """Yield the findings of some rules, each with the number of its file.

    A rule needs the columns among its parameters; its findings are judged by the first one. Columns of files that
    another rule accounts for, *but*, are left out.
    """
    for check in checks:
        names = check.__code__.co_varnames[: check.__code__.co_argcount]
        columns = [name for name in names if name in COLUMNS]
        if labels.foreign or not len(labels) or not labels.has(*columns):
            continue
        faults = check(*map(labels.value, names))
        if isinstance(faults, np.ndarray):
            left = faults & ~np.repeat(but[columns[0]], labels.sizes) if columns[0] in but else faults
            faults = (RowFault(row, columns[0]) for row in (labels.where(columns[0], left) if left.any() else ()))
        for fault in faults:
            file, field = int(labels.owners(fault.row)), columns[0] if columns else fault.field
            if field is not None and field in but and but[field][file]:
                continue
            rule, words = rule_of(check), _Words(labels, fault)
            record = RECORDS[rule.code]
            message = record["message"].format_map(words) if fault.message is None else fault.message
            hint = record["hint"].format_map(words) if fault.hint is None else fault.hint
            yield labels.finding(rule, fault.row, fault.field, message, hint, None, fault.severity, fault.fixable), file


class _Words(dict[str, Any]):
    """The words of a sentence about a row, each looked up when the sentence needs it."""

    def __init__(self, labels: Labels, fault: RowFault) -> None:
        super().__init__(fault.words)
        self._labels, self._fault = labels, fault

    def __missing__(self, name: str) -> Any:
        if name == "text" and self._fault.field is not None:
            return self._labels.text(self._fault.row, self._fault.field)
        value = self._labels.value(name)
        return value[self._fault.row] if isinstance(value, np.ndarray) else value
