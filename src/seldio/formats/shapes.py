"""Tables whose rows are those of a format in another shape: a comma at every end, a column too many, frames in seconds.

Each has one cause, and so one finding. Where the cause is certain, it can be undone cell by cell: detection looks at
the rows as they are meant, and a repair writes them. A column is taken out by a repair only where a header says that
it is a confidence.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from seldio.formats import cells
from seldio.text import clipped, listed, plural

if TYPE_CHECKING:
    from seldio.formats.label_csv import Dialect

#: The rules that name a shape.
CODES = ("SYN114", "SYN124", "SYN125", "SYN145", "LAB316", "LAB317")
#: The cells of a row, and the rows of a file.
Row = Sequence[str]
Rows = Sequence[Row]

#: Rows and distinct values from which on a column that only ascends is an index or the frame.
ENOUGH = 10
#: Rows from which on a column of times or names is no slip in a row.
SOME = 3
#: What stands above the row index that pandas writes, and above one that was read and written again.
INDEX_NAMES = ("", "unnamed: 0")
_WHOLE = re.compile(r"[0-9]{1,18}")
_TIME = re.compile(r"[0-9]{1,6}(?:\.[0-9]*)?")
_NAME = re.compile(r"(?!(?:na|nan|none|null|inf|infinity)\Z)[^\W\d_][\w ()&/.-]*", re.IGNORECASE)
_OPEN, _CLOSE = re.compile(r'"-?[0-9]{1,9}'), re.compile(r'[0-9]{1,9}"')
_HEAD = re.compile(r"-?[0-9]{1,9}")
#: Different digits from which on a column of single digits is no class and no source.
_MANY_DIGITS = 8
#: Digits that no whole number of a format has.
_LONG = 5
#: What headers call the confidence of a row, alone or in a longer name (class_score).
_CONFIDENCE = re.compile(r"(?i)(.*[ _.-])?(conf|confidences?|scores?|probs?|probability|certainty)([ _.-].*)?")
#: Rows from which on it is no accident that all values of a column lie between 0 and 1, or between 0 and 100.
_MANY = 30
#: Columns before those that may be one too many, unless they are confidences: frame and class.
_FIRST = 2


@dataclasses.dataclass(frozen=True)
class Shape:
    """A difference in shape between the rows as they are and those of a format."""

    code: str  # the rule
    message: str  # what is wrong with the file
    hint: str  # what to do about it
    undo: Callable[[Row], Row]  # the cells of a row as they are meant
    fixable: bool = True  # whether that is certain enough for a repair
    column: int = 0  # the one that it is about, from 0; 0 also where it is about all of them
    certain: bool = True  # whether it is what such rows look like, and not only one way to make a format of them

    def line(self, text: str) -> str:
        """A row, or the header over it, as it is meant."""
        return ",".join(self.undo(text.split(","))) if text.strip() else text


def possible(files: Sequence[tuple[Row, Rows]]) -> Iterator[Shape]:
    """Yield possible shapes of *files*, each given as its header (or nothing) and rows, of an unknown format.

    The likelier ones first; a format has to be found behind them.
    """
    rows = [row for _, rows in files for row in rows]
    if not rows:
        return
    yield from filter(None, (_quoted(rows), _trailing(rows), _indexed(files)))


def doubtful(
    files: Sequence[tuple[Row, Rows]], dialects: Sequence[Dialect]
) -> Iterator[tuple[Shape, Sequence[Dialect]]]:
    """The same for shapes that are looked at only where no format fits as it is; with the formats they may hide."""
    rows = [row for _, rows in files for row in rows]
    if not rows:
        return
    for shape in (_of_clips(rows), _named(rows), _timed([rows for _, rows in files])):
        if shape is not None:
            yield shape, dialects
    for dialect in dialects:
        for shape in _halved(rows, dialect):
            yield shape, (dialect,)


def between(header: Row, rows: Rows, dialect: Dialect, quotes: bool) -> Iterator[Shape]:
    """Yield possible shapes of a whole file of a format; *quotes*: it has some, which takes long to look at."""
    spare = len(rows[0]) - len(dialect.columns) if rows else -1
    quoted = _quoted(rows) if quotes else None
    if quoted is not None and all(len(quoted.undo(row)) == len(dialect.columns) for row in rows):
        yield quoted
        return
    if spare < 0 or any(len(row) != len(rows[0]) for row in rows):
        return
    made: list[Shape | None] = []
    if spare == 1:
        shares = (dataclasses.replace(shape, code="SYN146") for shape in surplus([rows]) if not shape.column)
        made = [_trailing(rows) or _indexed([(header, rows)]) or _of_clips(rows) or next(shares, None)]
    elif not spare and dialect.kind("frame") == "int":
        made = [_timed([rows], float(1 / dialect.hop)) or (_named(rows) if dialect.kind("class_id") else None)]
    if any(made):
        yield from filter(None, made)
    else:
        yield from _halved(rows, dialect)


def titled(first: Row) -> bool:
    """Whether the first line of a file is a header: it holds no number, or is the one :func:`counted`."""
    return len(first) > 1 and (counted(first) or not any(map(cells.numeric, first)))


def counted(first: Row) -> bool:
    """Whether a line is what pandas writes over a row index and columns without names, which it counts from 0."""
    names = [cell.strip().strip('"') for cell in first]
    return len(names) > 2 and not names[0] and names[1:] == list(map(str, range(len(names) - 1)))


# --- one function for each -------------------------------------------------------------------------


def _trailing(rows: Rows) -> Shape | None:
    """A comma at the end of every row."""
    if not all(len(row) > 2 and not row[-1].strip() for row in rows):
        return None
    return Shape(
        "SYN124", f"every row ends with a comma ({plural(len(rows), 'row')})",
        "end each row after its last number: the comma adds an empty column",
        lambda row: row[:-1] if len(row) > 1 and not row[-1].strip() else row,
    )  # fmt: skip


def _indexed(files: Sequence[tuple[Row, Rows]]) -> Shape | None:
    """A row index before every row, as ``DataFrame.to_csv`` writes one."""
    filled = [(header, rows) for header, rows in files if rows]
    headed = [bool(header) and header[0].strip().strip('"').lower() in INDEX_NAMES for header, _ in filled]
    count = [_numbers(rows, 0) for _, rows in filled]
    if not filled or not all(column and _ascends(column, strictly=True) for column in count):
        return None
    if not all(headed):
        # an index grows by one a row, as frames may as well, which stand behind it; a single class does not grow
        frames = [_numbers(rows, 1) for _, rows in filled]
        if any(column != list(range(column[0], column[0] + len(column))) for column in count):
            return None
        if not all(column and _ascends(column) for column in frames) or sum(map(len, map(set, frames))) < ENOUGH:
            return None
        if any(len(column) >= SOME and len(set(column)) == 1 for column in frames):
            return None
        strictly = frames != count and all(_ascends(column, strictly=True) for column in frames)
        if strictly and [all(counts_rows(rows, at) for _, rows in filled) for at in (0, 1)] != [True, False]:
            return None  # the frame may come first as well
    rows = sum(len(column) for column in count)
    return Shape(
        "SYN114", f"the first column is a row index, not data ({plural(rows, 'row')})",
        "in pandas, use to_csv(path, index=False), with header=False if the format has no header",
        lambda row: row[1:],
    )  # fmt: skip


def _of_clips(rows: Rows) -> Shape | None:
    """A column of clip names before the rows of all clips."""
    names = {row[0].strip().strip('"') for row in rows}
    if not all(len(row) > 4 for row in rows) or not all(re.search("[A-Za-z]", name) for name in names):
        return None
    if len(names) < 2 and not any(re.search(r"\d", name) for name in names):
        return None
    if any(re.search("[A-Za-z]", cell) for row in rows[:ENOUGH] for cell in row[1:2]):
        return None
    return Shape(
        "SUB106", f"one file for all clips: the first column names {plural(len(names), 'clip')} "
        f"({listed(sorted(names), 3)})", "write one file per clip, named after the clip, without that column",
        lambda row: row[1:], fixable=False,
    )  # fmt: skip


def _named(rows: Rows) -> Shape | None:
    """Class names where class numbers are due."""
    if len(rows) < SOME or not all(len(row) > 3 and _NAME.fullmatch(row[1].strip()) for row in rows):
        return None
    if any(cells.wordy(cell) for row in rows[:ENOUGH] for cell in (row[0], *row[2:])):
        return None
    names = sorted({row[1].strip() for row in rows})
    return Shape(
        "LAB317", f"column 2 holds class names, not class numbers: {listed(names, 3)}",
        "write class numbers, counted from 0; seldio formats shows the class list of each format",
        lambda row: [row[0], "0", *row[2:]], fixable=False,
    )  # fmt: skip


def _timed(files: Sequence[Rows], rate: float = 10.0) -> Shape | None:
    """Times in seconds where frame numbers are due, in ascending order as those are."""
    first = [row[0].strip() for rows in files for row in rows]
    if len(first) < SOME or not any("." in cell for cell in first) or not all(map(_TIME.fullmatch, first)):
        return None
    times = [float(cell) for cell in first]
    falls = sum(after < before for before, after in itertools.pairwise(times))
    if all(time == int(time) for time in times) or falls >= len(files):
        return None
    certain = all(abs(time * rate - round(time * rate)) < 1e-3 for time in times)
    do = f": write round(time * {rate:g})" if certain else ", and these times are no multiples of it: choose frames"
    return Shape(
        "LAB316", f"the first column holds times in seconds (up to {max(times):g}), not frame numbers",
        f"a frame is {1000 / rate:g} ms{do}",
        lambda row: [str(round(float(row[0]) * rate)), *row[1:]] if _TIME.fullmatch(row[0].strip()) else row,
        fixable=certain,
    )  # fmt: skip


def _quoted(rows: Rows) -> Shape | None:
    """Decimals written with a comma, inside of quotes, as pandas does with ``decimal=","``."""
    if not any('"' in ",".join(row) and any(_opened(row, at) for at in range(len(row) - 1)) for row in rows):
        return None
    return Shape(
        "SYN125", "decimals are written with a comma, in quotes", "use decimal points, and no quotes",
        lambda row: [
            f"{cell.strip()[1:]}.{row[at + 1].strip()[:-1]}" if _opened(row, at) else cell
            for at, cell in enumerate(row) if not (at and _opened(row, at - 1))
        ],
    )  # fmt: skip


def _opened(row: Row, at: int) -> bool:
    """Whether a cell is the first half of a number in quotes."""
    return at + 1 < len(row) and bool(_OPEN.fullmatch(row[at].strip()) and _CLOSE.fullmatch(row[at + 1].strip()))


def _halved(rows: Rows, dialect: Dialect) -> Iterator[Shape]:
    """Decimals written with a comma, each in two cells; a shape for each way to join them that has no contradiction."""
    spare = len(rows[0]) - len(dialect.columns)
    open_ = [number for number, part in enumerate(dialect.columns) if part.kind not in ("int", "flag", "name", "zero")]
    if not 1 <= spare <= len(open_) or any(len(row) != len(rows[0]) for row in rows):
        return
    for chosen in itertools.combinations(open_, spare):
        heads = [number + sum(other < number for other in chosen) for number in chosen]
        if not all(_joins(row[at], row[at + 1]) for row in rows for at in heads):
            continue
        if not all(_decimals([row[at + 1] for row in rows]) for at in heads):
            continue
        fields = " and ".join(dialect.columns[number].field for number in chosen)
        yield Shape(
            "SYN125", f"every row has {len(rows[0])} cells: decimals of {fields} are written with a comma",
            "use decimal points: a comma starts the next cell",
            functools.partial(_joined, heads=heads),
        )  # fmt: skip


def _joins(whole: str, decimals: str) -> bool:
    return _HEAD.fullmatch(whole.strip()) is not None and _WHOLE.fullmatch(decimals) is not None


def _decimals(column: Sequence[str]) -> bool:
    """Whether whole numbers can be decimals, and hardly a column of their own.

    Decimals are all as long, and then begin with 0 as often as not, or they have many digits, or do not end with 0.
    """
    lengths = {len(cell) for cell in column}
    if lengths == {1}:
        return len(set(column)) >= _MANY_DIGITS
    padded = any(cell.startswith("0") and len(cell) > 1 for cell in column)
    trimmed = not any(cell.endswith("0") and len(cell) > 1 for cell in column)
    return (padded and (len(lengths) == 1 or trimmed)) or (max(lengths) > _LONG and trimmed)


def _joined(row: Row, heads: Sequence[int]) -> Row:
    if len(row) <= max(heads) + 1 or not all(_joins(row[at], row[at + 1]) for at in heads):
        return row
    return [
        f"{cell}.{row[at + 1]}" if at in heads else cell for at, cell in enumerate(row) if at - 1 not in heads
    ]  # fmt: skip


def _numbers(rows: Rows, at: int) -> list[int]:
    """A column of whole numbers; empty where it is none."""
    found = [row[at].strip() for row in rows if len(row) > at]
    return list(map(int, found)) if len(found) == len(rows) and all(map(_WHOLE.fullmatch, found)) else []


def counts_rows(rows: Rows, at: int) -> bool:
    """Whether a column does nothing but count the rows, from 0 or 1."""
    values = _numbers(rows, at)
    return len(values) >= ENOUGH and values[0] in (0, 1) and values == list(range(values[0], values[0] + len(values)))


def _ascends(values: Sequence[int], strictly: bool = False) -> bool:
    return all(b - a >= strictly for a, b in itertools.pairwise(values))


# --- columns that no format has, or that are in another place ---------------------------------------------


@dataclasses.dataclass(frozen=True)
class _ColumnCells:
    """One column of rows: its cells as text, and as numbers where all of them are."""

    texts: tuple[str, ...]

    @cached_property
    def values(self) -> tuple[float, ...]:
        real = cells.PATTERNS["real"]
        return tuple(map(float, self.texts)) if all(real.fullmatch(text) for text in self.texts) else ()

    @property
    def confidence(self) -> bool:
        """Whether it may be one: many different decimals, over much of what lies from 0 to 1, or to 100."""
        values = self.values
        if len({*values}) < ENOUGH or len(values) < _MANY or min(values) < 0 or max(values) > 100:
            return False
        whole, (most, share) = sum(value % 1 == 0 for value in values), (1, 2) if max(values) <= 1 else (100, 4)
        return max(values) - min(values) >= most / 5 and share * whole <= len(values)

    def __str__(self) -> str:
        if len(set(self.texts)) == 1:
            return f"holds only {self.texts[0]}"
        low, high = (min(self.values), max(self.values)) if self.values else (min(self.texts), max(self.texts))
        return f"holds {low:g} to {high:g}" if self.values else f"holds {low} to {high}"


def is_confidence(name: str) -> bool:
    """Whether the name of a column says that it holds a confidence."""
    return _CONFIDENCE.fullmatch(name.strip().strip('"')) is not None


def named(header: Row) -> Iterator[Shape]:
    """The column that a header calls a confidence, if it is one."""
    places = [at for at, name in enumerate(header) if is_confidence(name)]
    if len(places) == 1:
        at = places[0]
        yield Shape(
            "SYN145", f"column {at + 1} is headed {clipped(header[at].strip())}: no format has a confidence",
            "write the file without it; --unsafe-fixes removes the column", _without(at), column=at,
        )  # fmt: skip


def surplus(files: Sequence[Rows]) -> Iterator[Shape]:
    """Each column of rows of several *files* that looks like one too many."""
    columns = [_ColumnCells(tuple(cell.strip() for cell in column))
               for column in zip(*itertools.chain.from_iterable(files), strict=True)]  # fmt: skip
    for at, column in reversed(list(enumerate(columns))):
        if at < _FIRST and not column.confidence:
            continue
        different = len(set(column.texts))
        twin = next((n for n, other in enumerate(columns[:at]) if other.texts == column.texts), None)
        certain, says = True, str(column)
        if twin is not None and different > 1:
            certain, says = different >= ENOUGH, f"repeats column {twin + 1}"
        elif all(counts_rows(rows[:ENOUGH], at) for rows in files):
            says = "counts the rows"
        elif different == 1 or column.confidence:
            certain = False
        else:
            continue
        code, like = ("SYN145", ", as confidences do") if says == str(column) and different > 1 else ("SYN146", "")
        yield Shape(
            code, f"one column too many: without column {at + 1}, which {says}{like}, the rows fit a format",
            f"check what wrote column {at + 1}, and write the files without it",
            _without(at), fixable=False, column=at, certain=certain,
        )  # fmt: skip


def exchanged(width: int) -> Iterator[tuple[Shape, set[int]]]:
    """Each two of *width* columns as in each other's place, with these two."""
    for one, other in itertools.combinations(range(width), 2):
        yield Shape(
            "SYN147", f"columns {one + 1} and {other + 1} seem to be in each other's place",
            f"write column {other + 1} before column {one + 1}; only who wrote them knows what they hold",
            _with_exchanged(one, other), fixable=False, column=one,
        ), {one, other}  # fmt: skip


def _without(at: int) -> Callable[[Row], Row]:
    return lambda row: [*row[:at], *row[at + 1 :]]


def _with_exchanged(one: int, other: int) -> Callable[[Row], Row]:
    def exchange(row: Row) -> Row:
        if len(row) <= other:
            return row
        return [*row[:one], row[other], *row[one + 1 : other], row[one], *row[other + 1 :]]

    return exchange
