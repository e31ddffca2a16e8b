"""Comma-separated labels, outputs and submissions: one reader and one writer for all dialects.

Columns first: the bytes of all files are joined and parsed by pyarrow in one go. Only where that
fails, or where a byte occurs that has no business in such a file, each file is held against the
dialect's grammar (one regular expression for a row, made from its column kinds), and only rows that
do not match it are looked at one by one (``diagnosis.py``).
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from seldio import geometry
from seldio.errors import DataError
from seldio.findings import Finding, Sink
from seldio.formats.base import FileRows, Ints, LabelFormat, LabelReading, Place, TextFile, assembled, newline_of
from seldio.formats.cells import ABSENT, KINDS, LIMIT, UNKNOWABLE, plain_lines
from seldio.reader_rules import READER_RULES
from seldio.schema.arrays import from_numpy, pc, to_mask, to_numpy
from seldio.schema.events import COLUMNS, ClipFile
from seldio.text import listed, plural
from seldio.vocabularies import spelling, vocabulary

if TYPE_CHECKING:
    from seldio.formats.diagnosis import FileLook


_LONE_SPACE = re.compile(rb"(?<=[^ \n]) (?=[^ \n])")
_DAY = 864_000  # label frames
#: Stands for a comma in a cell of a dataset's own columns, which rows of bare cells cannot hold.
COMMA = "\ue000"
#: The columns that fields without one are derived from.
_DERIVED = {"azimuth": "x", "elevation": "x", "class_id": "class_name"}


@dataclasses.dataclass(frozen=True, slots=True)
class column:  # noqa: N801 - reads as a word in the table of dialects
    """One column of a dialect: the field it holds, its kind, and what it may hold: multiples of *step* in a range.

    In a dataset's own columns, a number is multiplied by *scale*, and *zero* is added, to get what the field holds:
    seconds, metres, degrees counter-clockwise. Frames in seconds are those that the times lie in. An offset in a
    column of *durations* counts from the onset.
    """

    field: str
    kind: str
    scale: float = 1.0
    zero: float = 0.0
    timed: bool = False
    durations: bool = False
    low: float = -math.inf
    high: float = math.inf
    step: float = 1.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Dialect(LabelFormat):
    """A row of the table of dialects."""

    carries: tuple[str, ...] = ()
    columns: tuple[column, ...]  # in file order
    header: str | None = None  # the first line, where there is one
    metre: int | None = None  # what one metre is written as (100: centimetres); None without distance
    unknown_distance: int | None = None  # the number that stands for an unknown distance
    newline: str = "\n"  # the official line end
    folded: bool = False  # whether azimuth is folded into [-90, 90]
    silence: str | None = None  # the class name of rows that only say that a frame is silent
    repairable: bool = True
    #: what is written for fields that a table does not carry
    fills: Mapping[str, int] = dataclasses.field(default_factory=dict)
    #: what is the same of all rows, and stands in no column
    given: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        kinds = {part.field: part.kind for part in self.columns}
        direction = ["azimuth", "elevation"] if "x" in kinds else []
        derived = [*direction, "class_id"] if "class_name" in kinds else direction
        derived = [*derived, "hemisphere"] if "real3inf" in kinds.values() else derived
        held = [field for field, kind in kinds.items() if kind not in ("zero", "text")]
        object.__setattr__(self, "carries", ("clip", *held, *self.given, *derived))
        optional = {"class_name", "x", "y", "z", *self.fills}
        needs = [field for field, kind in kinds.items() if kind != "zero" and field in COLUMNS.keys() - optional]
        object.__setattr__(self, "needs", (*needs, *direction))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """The names of the columns in its header, in lower case; empty without a header."""
        return tuple(self.header.lower().split(",")) if self.header else ()

    def index(self, field: str | None) -> int | None:
        """Return the 0-based file column of *field*; a derived angle points at x, a class id at its name."""
        fields = [part.field for part in self.columns]
        source = field if field in fields else _DERIVED.get(field or "")
        return fields.index(source) if source in fields else None

    def kind(self, field: str) -> str | None:
        """Return the kind of the column that holds *field*, None where there is none."""
        return next((part.kind for part in self.columns if part.field == field), None)

    def read(self, files: Sequence[TextFile], sink: Sink) -> LabelReading:
        """See :meth:`LabelFormat.read`."""
        if self.own:
            from seldio.formats.plain_csv import part_of

            parts = [part_of(self, file, sink) for file in files]
        else:
            parts = [CsvPart(self, file) for file in files]
        parsed = _parse_all(self, parts)
        if parsed is None:
            from seldio.formats.diagnosis import read_faulty  # which clean files do not need

            parsed = read_faulty(self, parts, sink)
        reading = _reading(self, parts, parsed)
        unknowable = [field for field in UNKNOWABLE if self.own and field in reading.table.column_names]
        unknown = {field: ~to_mask(reading.table[field]) for field in unknowable}
        if fields := [field for field, mask in unknown.items() if mask.any()]:  # which is reported once
            rows = np.flatnonzero(np.logical_or.reduce([unknown[field] for field in fields]))
            field = next(field for field in fields if unknown[field][rows[0]])
            text = reading.place(int(rows[0]), field).value or "an empty cell"
            message = f"{listed(fields)} not known in {plural(len(rows), 'row')}: {text} stands for no value"
            hint = "they are read as unknown (null); -1000, None, NaN and empty cells, and a distance of -1, mean so"
            sink(reading.finding(READER_RULES["DAT205"], int(rows[0]), field, message, hint))
        return reading

    def write(self, table: pa.Table, file: ClipFile) -> bytes:
        """See :meth:`LabelFormat.write`."""
        columns = [_cells(self, part, table) for part in self.columns]
        row = ",".join(["%s"] * len(columns))
        rows = [row % cells for cells in zip(*columns, strict=True)]
        if self.silence:
            rows = self._with_silence(rows, table["frame"].to_pylist(), file.frames)
        lines = [self.header, *rows] if self.header else rows
        text = file.newline.join(lines)
        return (text + file.newline if lines and (file.final_newline or not rows) else text).encode()

    def _with_silence(self, rows: list[str], numbers: list[int], frames: int | None) -> list[str]:
        """Return all rows, with a row of zeros for each frame of the clip in which no source is active."""
        total = max(frames or 0, max(numbers, default=-1) + 1)
        if total > _DAY:
            raise DataError(
                f"frame {total - 1:,} is more than a day into the clip; rows for all the silent frames "
                "before it are not written"
            )
        silent = sorted(set(range(total)) - set(numbers))
        empty = [f"{frame},{self.silence},0,0,0" for frame in silent]
        merged = sorted(zip(numbers + silent, rows + empty, strict=True), key=lambda pair: pair[0])
        return [row for _, row in merged]


class CsvPart(FileRows):
    """The rows of one csv file."""

    def __init__(self, dialect: Dialect, file: TextFile) -> None:
        self.dialect = dialect
        head = dialect.header.encode() + b"\n" if dialect.header else b""
        newline = newline_of(file.data) if dialect.newline == "\r\n" else "\n"
        data = file.data if newline == "\n" else file.data.replace(b"\r\n", b"\n")
        #: lines that stand before the first row
        self.skipped = 1 if head and data.startswith(head) else 0
        self.headed = not head or bool(self.skipped) or not data
        #: what is parsed: the rows alone
        self.body = data[len(head) :] if self.skipped else data
        #: physical line of each row, where that is not simply counted on
        self.physical: Ints | None = None
        self.delimiter = ","
        super().__init__(file, ClipFile(file.clip, file.name, newline, file.data[-1:] in (b"\n", b"")))

    def take(self, look: FileLook) -> None:
        """Take over what a closer look at the file has found."""
        self.rows, self.physical = len(look.lines), look.lines
        self.readable, self.delimiter = look.readable, look.delimiter
        self.origin = dataclasses.replace(self.origin, newline=look.newline, final_newline=look.final_newline)

    def moved(self, finding: Finding) -> Finding:
        """Return a finding in what was parsed where it is in the file."""
        return finding

    @cached_property
    def _text(self) -> tuple[bytes, Ints]:
        """The file with LF and without a byte order mark, and where its lines end."""
        text = plain_lines(self.file.data) + b"\n"
        return text, np.flatnonzero(np.frombuffer(text, np.uint8) == 10)

    def lines(self, rows: Ints) -> Ints:
        """See :meth:`FileRows.lines`."""
        return self.physical[rows] if self.physical is not None else rows + (1 + self.skipped)

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`."""
        line = int(self.physical[row]) if self.physical is not None else row + 1 + self.skipped
        every, ends = self._text
        raw = every[ends[line - 2] + 1 if line > 1 else 0 : ends[line - 1]]
        text, index = raw.decode(), self.dialect.index(field)
        if index is None:
            return Place(line, 1, len(text) + 1, text, text)
        cells = with_commas(raw, self.delimiter).decode().split(",")
        cell = cells[index]
        start = len(",".join(cells[:index])) + (index > 0) + len(cell) - len(cell.lstrip())
        end = start + len(cell.strip())
        return Place(line, start + 1, end + 1, text[start:end], text)


def headed_by(line: str, header: str | None) -> bool:
    """Return whether *line* is the *header* of a format, as it may be spelt."""
    names = [name.strip().strip('"').lower() for name in line.split(",")]
    return header is not None and names == header.lower().split(",")


def with_commas(text: bytes, delimiter: str) -> bytes:
    """Return *text* with commas between its cells and points in its numbers; nothing moves."""
    if delimiter == ",":
        return text
    text = text.replace(b",", b".")
    return _LONE_SPACE.sub(b",", text) if delimiter == " " else text.replace(delimiter.encode(), b",")


# --- parsing ---------------------------------------------------------------------------------------

_PLAIN = b"0123456789,-\n"
#: An exponent that is not in the grammar.
_ODD_EXPONENT = re.compile(rb"e(?!(?:-[0-9]{1,3}|[0-9]{1,2})[,\n])")
#: pyarrow before 20 writes past its memory where a line has far more columns than the first.
_OVERRUNS = pa.cpp_version_info.major < 20


def _parse_all(dialect: Dialect, parts: Sequence[CsvPart]) -> pa.Table | None:
    """Return the joined bodies as columns named by field; None where a file needs to be looked at.

    Sets the number of rows of each part.
    """
    bodies = [part.body if part.body[-1:] in (b"\n", b"") else part.body + b"\n" for part in parts]
    if len(parts) > 1 and not _plain(dialect, bodies[0]):  # a fault is often in all files
        return None
    joined = b"".join(bodies)
    if not all(part.headed for part in parts) or not _plain(dialect, joined):
        return None
    decimals = b"." in joined or b"e" in joined
    types = {part.field: column_type(part.kind, decimals) for part in dialect.columns}
    try:
        table = split_cells(types, joined) if joined else pa.schema(types).empty_table()
    except pa.ArrowInvalid:
        return None
    for part, body in zip(parts, bodies, strict=True):
        # numpy counts a byte several times faster than bytes.count
        part.rows = int(np.count_nonzero(np.frombuffer(body, np.uint8) == 10))
    if sum(part.rows for part in parts) != table.num_rows:
        return None
    for column in table.columns:  # numbers that are infinite or NaN are over the limit of the grammar as well
        chunks = [] if pa.types.is_boolean(column.type) else [to_numpy(chunk) for chunk in column.chunks if len(chunk)]
        if not all(chunk.max() < LIMIT and chunk.min() > -LIMIT for chunk in chunks):
            return None
    return table


def column_type(kind: str, decimals: bool) -> pa.DataType:
    """Return what a column of a kind is read as; *decimals*: there are some in columns that may have them."""
    if kind == "whole" and not decimals:
        return pa.int32()
    return {"int": pa.int32(), "flag": pa.bool_(), "name": pa.string(), "text": pa.string()}.get(kind, pa.float64())


def split_cells(types: Mapping[str, pa.DataType], text: bytes, block: int = 1 << 20) -> pa.Table:
    """Return rows of bare cells as columns of these types; raise ArrowInvalid where Arrow cannot read one."""
    csv = pyarrow.csv
    return csv.read_csv(
        pa.BufferReader(text),
        csv.ReadOptions(column_names=list(types), block_size=block, use_threads=len(text) > 1 << 20),
        csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
        csv.ConvertOptions(
            column_types=types, null_values=[], strings_can_be_null=False, true_values=["1"], false_values=["0"]
        ),
    )


def _plain(dialect: Dialect, joined: bytes) -> bool:
    """Return whether pyarrow accepts in *joined* what the grammar does, large numbers aside."""
    kinds = {part.kind for part in dialect.columns}
    decimal = b"" if kinds <= {"int", "flag"} else b"." if "whole" in kinds else b".e"
    if not kinds.isdisjoint(("name", "text")) or joined.translate(None, _PLAIN + decimal):
        return False
    text = np.frombuffer(joined, np.uint8)
    if b"e" in joined:
        if _ODD_EXPONENT.search(joined):
            return False
        bounds, points, exponents = (np.flatnonzero(np.isin(text, [*signs])) for signs in (b",\n-", b".", b"e"))
        firsts = bounds[np.searchsorted(bounds, exponents) - 1] + 1
        ends = np.append(points, len(text))[np.searchsorted(points, firsts)]
        if (np.minimum(ends, exponents) - firsts > 9).any():  # digits before the point, zeros counted
            return False
    if _OVERRUNS:
        ends = np.flatnonzero(text[(text == 44) | (text == 10)] == 10)
        return bool(np.diff(ends, prepend=-1).max(initial=0) <= len(dialect.columns))
    return True


# --- from file columns to event columns ------------------------------------------------------------


def _reading(dialect: Dialect, files: list[CsvPart], parsed: pa.Table) -> LabelReading:
    parts: Sequence[FileRows] = files
    columns = {name: parsed[name] for name in parsed.column_names if name in COLUMNS}
    if dialect.clips_by == "rows":
        from seldio.formats.plain_csv import by_clip

        parts, order = by_clip(files, columns.pop("clip").to_pylist())
        columns, parsed = {name: column.take(order) for name, column in columns.items()}, parsed.take(order)
    whole = frozenset(name for name, column in columns.items() if pa.types.is_integer(column.type))
    if dialect.own:
        columns |= dict(_measured(dialect, columns, parsed.num_rows))
        if "class_name" in columns:
            columns["class_name"] = pc.replace_substring(columns["class_name"], COMMA, ",")
    if dialect.silence:
        columns = _without_silence(dialect, files, columns)
    if "class_name" in columns:
        columns |= _classes(dialect, columns["class_name"])
        if columns["class_name"].null_count == len(columns["class_name"]):
            del columns["class_name"]
    if "x" in columns:
        x, y, z = (to_numpy(columns[axis]) for axis in "xyz")
        columns["azimuth"], columns["elevation"] = map(from_numpy, geometry.to_polar(x, y, z))
    if "distance" in columns:
        column = columns.pop("distance")
        values, unknown = to_numpy(column), ~to_mask(column) if column.null_count else None
        if dialect.unknown_distance is not None:
            unknown = values == dialect.unknown_distance
        if dialect.kind("distance") != "zero" or values.any():  # else a constant 0 that means nothing
            metres = values / dialect.metre if dialect.metre != 1 else values.astype(np.float64, copy=False)
            columns["distance"] = from_numpy(metres, unknown)
    if dialect.kind("elevation") == "real3inf":  # inf is no more than above: stored as 90 with a flag, -inf likewise
        values = to_numpy(columns["elevation"])
        open_ended = np.isinf(values)
        columns["elevation"] = from_numpy(np.where(open_ended, np.copysign(90.0, values), values))
        columns |= {"hemisphere": from_numpy(open_ended)} if open_ended.any() else {}
    for field in {"azimuth", "elevation"} & columns.keys():
        if columns[field].type != pa.float64():
            columns[field] = from_numpy(to_numpy(columns[field]).astype(np.float64))
    return assembled(dialect, {field: columns[field] for field in COLUMNS if field in columns}, parts, whole)


#: Of a frame: times that are written in decimals may lie a little before it.
_SLACK = 1e-6


def _measured(dialect: Dialect, columns: Mapping[str, Any], rows: int) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a dataset that are measured otherwise than here, and what it gives of all rows."""
    onsets = next((part.scale for part in dialect.columns if part.field == "onset"), 1.0)
    for part in dialect.columns:
        same = (part.scale, part.zero, part.timed, part.durations) == (1.0, 0.0, False, False)
        if part.field not in columns or (same and part.field not in UNKNOWABLE):
            continue
        written = to_numpy(columns[part.field]).astype(np.float64)
        unknown = (written == ABSENT) & (part.field in UNKNOWABLE)
        unknown |= (written == -1) & (part.field == "distance")
        values = written * part.scale + part.zero
        if part.timed:
            values = np.floor(values / float(dialect.hop) + _SLACK).astype(np.int32)
        elif part.durations:
            values = np.round(to_numpy(columns["onset"]) * onsets + values, 9)
        elif part.field == "azimuth":
            values = np.where(np.abs(written * part.scale) <= 360, geometry.wrap(values), values)
        yield part.field, from_numpy(values, unknown if unknown.any() else None)
    for field, value in dialect.given.items():
        yield field, pa.array(np.full(rows, value), COLUMNS[field])


def _classes(dialect: Dialect, names: pa.ChunkedArray) -> dict[str, Any]:
    """Return class numbers of names; a name that the vocabulary does not have keeps its spelling instead."""
    indices = vocabulary(dialect.vocabulary).indices
    encoded = names.combine_chunks().dictionary_encode()
    numbers = [indices.get(spelling(name)) for name in encoded.dictionary.to_pylist()]
    class_id = pa.array(numbers, pa.int32()).take(encoded.indices)
    canonical = [
        None if index is not None and _spelled(vocabulary(dialect.vocabulary).label(index)) == name else name
        for index, name in zip(numbers, encoded.dictionary.to_pylist(), strict=True)
    ]
    return {"class_id": class_id, "class_name": pa.array(canonical, pa.string()).take(encoded.indices)}


def _without_silence(dialect: Dialect, parts: list[CsvPart], columns: dict[str, Any]) -> dict[str, Any]:
    """Drop rows that only say that a frame is silent; the parts remember how many frames there are."""
    sounding = pc.not_equal(columns["class_name"], dialect.silence).combine_chunks()
    mask, frame, first = to_mask(sounding), to_numpy(columns["frame"]), 0
    for part in parts:
        rows = slice(first, first + part.rows)
        first += part.rows
        frames = int(frame[rows].max()) + 1 if part.rows else 0
        part.origin = dataclasses.replace(part.origin, frames=frames)
        part.physical = part.lines(np.arange(part.rows))[mask[rows]]
        part.rows = int(mask[rows].sum())
    return {name: column.filter(sounding) for name, column in columns.items()}


# --- writing ---------------------------------------------------------------------------------------


def _cells(dialect: Dialect, part: column, table: pa.Table) -> list[Any]:
    """Return one file column as what prints like its cells."""
    if part.field == "class_name":
        labels = vocabulary(dialect.vocabulary)
        ids = table["class_id"].to_pylist() if "class_id" in table.column_names else [None] * table.num_rows
        written = table["class_name"].to_pylist() if "class_name" in table.column_names else [None] * len(ids)
        pairs = zip(written, ids, strict=True)
        return [_spelled(name if name is not None else labels.label(index)) for name, index in pairs]
    if part.kind in ("zero", "text"):
        return ["0" if part.kind == "zero" else ""] * table.num_rows
    if part.field in ("x", "y", "z"):
        if part.field in table.column_names:
            return KINDS["real"].render(to_numpy(table[part.field]))
        unit = geometry.to_cartesian(to_numpy(table["azimuth"]), to_numpy(table["elevation"]))
        return KINDS["real"].render(unit["xyz".index(part.field)])
    if part.field not in table.column_names:
        return [dialect.fills[part.field]] * table.num_rows
    values = table[part.field].combine_chunks()
    if part.field == "distance":
        metres = to_numpy(values).astype(np.float64)
        # 1.81 m is 181.00000000000003 cm in binary; nine decimals are more than any file holds
        scaled = np.round(metres * (dialect.metre or 1), 9) if dialect.metre != 1 else metres
        values = np.where(np.isnan(metres), dialect.unknown_distance or 0, scaled)
    if part.field == "elevation" and part.kind == "real3inf" and "hemisphere" in table.column_names:
        open_ended = to_numpy(table["hemisphere"])
        values = np.where(open_ended, np.copysign(np.inf, values), values)
    if part.field in dialect.fills and isinstance(values, pa.Array):
        values = values.fill_null(dialect.fills[part.field])
    values = np.asarray(to_numpy(values) if isinstance(values, pa.Array) else values)
    if dialect.own and part.field != "clip":
        values = values - to_numpy(table["onset"]) if part.durations else values
        values = values * float(dialect.hop) if part.timed else values - part.zero
        values = np.round(values / part.scale, 9)
    # adding 0.0 turns -0.0 into 0.0
    return KINDS[part.kind].render(values + 0.0 if values.dtype.kind == "f" else values)


def _spelled(name: str) -> str:
    """Return a class name as it stands in a cell: commas separate cells, so the halves are joined with _and_."""
    return re.sub(", *", "_and_", name).replace(" ", "_") if "," in name else name
