"""Tables whose rows are those of a format in another shape: a comma at every end, a column too many, frames in seconds.

Each has one cause, and so one finding. Where the cause is certain, it can be undone cell by cell: detection looks at
the rows as they are meant, and a repair writes them. A column is taken out by a repair only where a header says that
it is a confidence.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
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
_QUOTED = re.compile(r'"(-?[0-9]{1,9}),([0-9]{1,9})"')
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
        """Return a row, or the header over it, as it is meant."""
        return ",".join(self.undo(text.split(","))) if text.strip() else text


def possible(files: Sequence[tuple[Row, Rows]]) -> Iterator[Shape]:
    """Yield possible shapes of *files*, each given as its header (or nothing) and rows, of an unknown format."""
    rows = [row for _, rows in files for row in rows]
    if rows:
        yield from filter(None, (_quoted(rows), _trailing(rows), _indexed(files)))


def doubtful(
    files: Sequence[tuple[Row, Rows]], dialects: Sequence[Dialect]
) -> Iterator[tuple[Shape, Sequence[Dialect]]]:
    """Yield shapes that are looked at only where no format fits as it is; with the formats they may hide."""
    rows = [row for _, rows in files for row in rows]
    if rows:
        shapes = (_of_clips(rows), _named(rows), _timed([rows for _, rows in files]))
        yield from ((shape, dialects) for shape in shapes if shape is not None)
        yield from ((shape, (dialect,)) for dialect in dialects for shape in _halved(rows, dialect))


def between(header: Row, rows: Rows, dialect: Dialect) -> list[Shape]:
    """Return what may be between the rows of a whole file and a format: one shape, or all that join its decimals."""
    width, wanted = {len(row) for row in rows}, len(dialect.columns)
    tried = [*possible([(header, rows)])]
    if width == {wanted + 1}:
        shares = (shape for shape in surplus([rows]) if not shape.column)
        tried += filter(None, [_of_clips(rows), *(dataclasses.replace(shape, code="SYN146") for shape in shares)])
        tried += named(header)
    elif width == {wanted} and dialect.kind("frame") == "int":
        classes = _named(rows) if dialect.kind("class_id") else None
        tried += filter(None, [_timed([rows], float(1 / dialect.hop)), classes])
    fits = [shape for shape in tried if len(width) == 1 or shape.code == "SYN125"]
    fits = [shape for shape in fits if all(len(shape.undo(row)) == wanted for row in rows)]
    return fits[:1] or ([*_halved(rows, dialect)] if len(width) == 1 else [])


def titled(first: Row) -> bool:
    """Whether the first line of a file is a header: it holds no number, or is the one :func:`counted`."""
    return len(first) > 1 and (counted(first) or not any(map(cells.numeric, first)))


def counted(first: Row) -> bool:
    """Whether a line is what pandas writes over a row index and columns without names, which it counts from 0."""
    names = [cell.strip().strip('"') for cell in first]
    return len(names) > 2 and not names[0] and names[1:] == list(map(str, range(len(names) - 1)))


# --- one function for each -------------------------------------------------------------------------


def _trailing(rows: Rows) -> Shape | None:
    if not all(len(row) > 2 and not row[-1].strip() for row in rows):
        return None
    message = f"every row ends with a comma ({plural(len(rows), 'row')})"
    hint = "end each row after its last number: the comma adds an empty column"
    return Shape("SYN124", message, hint, lambda row: row[:-1] if len(row) > 1 and not row[-1].strip() else row)


def _indexed(files: Sequence[tuple[Row, Rows]]) -> Shape | None:
    """Return the shape of rows behind a row index, as ``DataFrame.to_csv`` writes one."""
    filled = [(header, rows) for header, rows in files if rows]
    headed = all(header and header[0].strip().strip('"').lower() in INDEX_NAMES for header, _ in filled)
    counts, frames = ([_numbers(rows, at) for _, rows in filled] for at in (0, 1))
    if not all(count and _ascends(count, strictly=True) for count in counts):
        return None
    if not headed and not _is_index(counts, frames):
        return None
    message = f"the first column is a row index, not data ({plural(sum(map(len, counts)), 'row')})"
    hint = "in pandas, use to_csv(path, index=False), with header=False if the format has no header"
    return Shape("SYN114", message, hint, lambda row: row[1:])


def _is_index(counts: Sequence[Sequence[int]], frames: Sequence[Sequence[int]]) -> bool:
    """Whether first columns grow by one a row, and second ones are frames, which may do so as well."""
    if any([*count] != [*range(count[0], count[0] + len(count))] for count in counts):
        return False
    if not all(frame and _ascends(frame) for frame in frames) or sum(len({*frame}) for frame in frames) < ENOUGH:
        return False
    if any(len(frame) >= SOME and len({*frame}) == 1 for frame in frames):  # a single class does not grow
        return False
    if frames == counts or not all(_ascends(frame, strictly=True) for frame in frames):
        return True
    return [all(map(_counts_rows, columns)) for columns in (counts, frames)] == [True, False]


def _of_clips(rows: Rows) -> Shape | None:
    """Return the shape of rows of all clips behind a column of their names."""
    names = {row[0].strip().strip('"') for row in rows}
    if not all(len(row) > 4 for row in rows) or not all(re.search("[A-Za-z]", name) for name in names):
        return None
    if len(names) < 2 and not any(re.search(r"\d", name) for name in names):
        return None
    if any(re.search("[A-Za-z]", cell) for row in rows[:ENOUGH] for cell in row[1:2]):
        return None
    clips = f"{plural(len(names), 'clip')} ({listed(sorted(names), 3)})"
    message = f"one file for all clips: the first column names {clips}"
    hint = "write one file per clip, named after the clip, without that column"
    return Shape("SUB106", message, hint, lambda row: row[1:], fixable=False)


def _named(rows: Rows) -> Shape | None:
    """Return the shape of rows with class names where class numbers are due."""
    if len(rows) < SOME or not all(len(row) > 3 and _NAME.fullmatch(row[1].strip()) for row in rows):
        return None
    if any(cells.wordy(cell) for row in rows[:ENOUGH] for cell in (row[0], *row[2:])):
        return None
    names = sorted({row[1].strip() for row in rows})
    message = f"column 2 holds class names, not class numbers: {listed(names, 3)}"
    hint = "write class numbers, counted from 0; seldio formats shows the class list of each format"
    return Shape("LAB317", message, hint, lambda row: [row[0], "0", *row[2:]], fixable=False)


def _timed(files: Sequence[Rows], rate: float = 10.0) -> Shape | None:
    """Return the shape of rows with times in seconds where frames are due, in ascending order as those are."""
    first = [row[0].strip() for rows in files for row in rows]
    if len(first) < SOME or not any("." in cell for cell in first) or not all(map(_TIME.fullmatch, first)):
        return None
    times = [float(cell) for cell in first]
    falls = sum(after < before for before, after in itertools.pairwise(times))
    if all(time == int(time) for time in times) or falls >= len(files):
        return None
    certain = all(abs(time * rate - round(time * rate)) < 1e-3 for time in times)
    do = f": write round(time * {rate:g})" if certain else ", and these times are no multiples of it: choose frames"
    message = f"the first column holds times in seconds (up to {max(times):g}), not frame numbers"

    def frames(row: Row) -> Row:
        return [str(round(float(row[0]) * rate)), *row[1:]] if _TIME.fullmatch(row[0].strip()) else row

    return Shape("LAB316", message, f"a frame is {1000 / rate:g} ms{do}", frames, fixable=certain)


def _quoted(rows: Rows) -> Shape | None:
    """Return the shape of decimals with a comma, inside of quotes, as pandas writes them with ``decimal=","``."""

    def undo(row: Row) -> Row:
        return _QUOTED.sub(r"\1.\2", ",".join(cell.strip() if '"' in cell else cell for cell in row)).split(",")

    if not any('"' in cell for row in rows for cell in row) or all(len(undo(row)) == len(row) for row in rows):
        return None
    return Shape("SYN125", "decimals are written with a comma, in quotes", "use decimal points, and no quotes", undo)


def _halved(rows: Rows, dialect: Dialect) -> Iterator[Shape]:
    """Yield a shape for each way without a contradiction to join decimals with a comma, each in two cells."""
    spare = len(rows[0]) - len(dialect.columns) if rows else 0
    decimals = [at for at, part in enumerate(dialect.columns) if part.kind not in ("int", "flag", "name", "zero")]
    if not 1 <= spare <= len(decimals) or any(len(row) != len(rows[0]) for row in rows):
        return
    for chosen in itertools.combinations(decimals, spare):
        heads = [number + earlier for earlier, number in enumerate(chosen)]
        if not all(_joins(row, heads) for row in rows) or not all(
            _decimals([row[at + 1] for row in rows]) for at in heads
        ):
            continue
        fields = " and ".join(dialect.columns[number].field for number in chosen)
        message = f"every row has {len(rows[0])} cells: decimals of {fields} are written with a comma"
        yield Shape("SYN125", message, "use decimal points: a comma starts the next cell", _joiner(heads))


def _joins(row: Row, heads: Sequence[int]) -> bool:
    return len(row) > max(heads) + 1 and all(
        _HEAD.fullmatch(row[at].strip()) and _WHOLE.fullmatch(row[at + 1]) for at in heads
    )


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


def _joiner(heads: Sequence[int]) -> Callable[[Row], Row]:
    def join(row: Row) -> Row:
        if not _joins(row, heads):
            return row
        whole = [f"{cell}.{row[at + 1]}" if at in heads else cell for at, cell in enumerate(row)]
        return [cell for at, cell in enumerate(whole) if at - 1 not in heads]

    return join


def _numbers(rows: Rows, at: int) -> list[int]:
    """Return a column of whole numbers; empty where it is none."""
    column = [row[at].strip() if len(row) > at else "" for row in rows]
    return list(map(int, column)) if all(map(_WHOLE.fullmatch, column)) else []


def _counts_rows(values: Sequence[int]) -> bool:
    """Whether a column does nothing but count the rows, from 0 or 1."""
    return len(values) >= ENOUGH and values[0] in (0, 1) and [*values] == [*range(values[0], values[0] + len(values))]


def _ascends(values: Sequence[int], strictly: bool = False) -> bool:
    return all(b - a >= strictly for a, b in itertools.pairwise(values))


# --- columns that no format has, or that are in another place ---------------------------------------------


def is_confidence(name: str) -> bool:
    """Whether the name of a column says that it holds a confidence."""
    return _CONFIDENCE.fullmatch(name.strip().strip('"')) is not None


def _are_confidences(values: Sequence[float]) -> bool:
    """Whether these are many different decimals, over much of what lies from 0 to 1, or to 100."""
    if len({*values}) < ENOUGH or len(values) < _MANY or min(values) < 0 or max(values) > 100:
        return False
    whole, (most, share) = sum(value % 1 == 0 for value in values), (1, 2) if max(values) <= 1 else (100, 4)
    return max(values) - min(values) >= most / 5 and share * whole <= len(values)


def named(header: Row) -> Iterator[Shape]:
    """Yield the column that a header calls a confidence, if it is one."""
    places = [at for at, name in enumerate(header) if is_confidence(name)]
    if len(places) == 1:
        at = places[0]
        message = f"column {at + 1} is headed {clipped(header[at].strip())}: no format has a confidence"
        hint = "write the file without it; --unsafe-fixes removes the column"
        yield Shape("SYN145", message, hint, _without(at), column=at)


def surplus(files: Sequence[Rows]) -> Iterator[Shape]:
    """Yield each column of rows of several *files* that looks like one too many."""
    columns = [[cell.strip() for cell in column] for column in zip(*itertools.chain(*files), strict=True)]
    for at, texts in reversed(list(enumerate(columns))):
        numbers = [*map(float, texts)] if all(map(cells.PATTERNS["real"].fullmatch, texts)) else []
        share = _are_confidences(numbers)
        if at < _FIRST and not share:
            continue
        ends = f"{min(numbers):g} to {max(numbers):g}" if numbers else f"{min(texts)} to {max(texts)}"
        code, certain, different = "SYN146", True, len({*texts})
        if texts in columns[:at] and different > 1:
            certain, says = different >= ENOUGH, f"repeats column {columns.index(texts) + 1}"
        elif all(_counts_rows(_numbers(rows[:ENOUGH], at)) for rows in files):
            says = "counts the rows"
        elif different == 1:
            certain, says = False, f"holds only {texts[0]}"
        elif share:
            code, certain, says = "SYN145", False, f"holds {ends}, as confidences do"
        else:
            continue
        message = f"one column too many: without column {at + 1}, which {says}, the rows fit a format"
        hint = f"check what wrote column {at + 1}, and write the files without it"
        yield Shape(code, message, hint, _without(at), fixable=False, column=at, certain=certain)


def exchanged(width: int) -> Iterator[tuple[Shape, set[int]]]:
    """Yield each two of *width* columns as in each other's place, with these two."""
    for one, other in itertools.combinations(range(width), 2):
        message = f"columns {one + 1} and {other + 1} seem to be in each other's place"
        hint = f"write column {other + 1} before column {one + 1}; only who wrote them knows what they hold"
        order = [other if at == one else one if at == other else at for at in range(width)]
        shape = Shape("SYN147", message, hint, _in_order(order), fixable=False, column=one)
        yield shape, {one, other}


def _without(at: int) -> Callable[[Row], Row]:
    return lambda row: [*row[:at], *row[at + 1 :]]


def _in_order(order: Sequence[int]) -> Callable[[Row], Row]:
    return lambda row: [row[at] for at in order] if len(row) == len(order) else row
