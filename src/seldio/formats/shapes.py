"""Changes of rows as they are written: a comma at every end, a column too many, frames in seconds.

Each has one cause, and so one finding. Detection looks at the rows as they are meant; a repair writes them where the
cause is certain and redoing the change gives the printed cells back. A column that is taken out nothing gives back: a
repair takes out only a row index, and what a header calls a confidence.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING

from seldio.changes import Cells, Change
from seldio.formats import cells
from seldio.text import clipped, listed, plural

if TYPE_CHECKING:
    from seldio.formats.label_csv import Dialect

Rows = Sequence[Cells]

#: Rows and distinct values from which on a column that only ascends is an index or the frame.
ENOUGH = 10
#: Rows from which on a column of times or names is no slip in a row.
SOME = 3
_WHOLE = re.compile(r"[0-9]{1,18}")
_TIME = re.compile(r"[0-9]{1,6}(?:\.[0-9]*)?")
_NAME = re.compile(r"(?!(?:na|nan|none|null|inf|infinity)\Z)[^\W\d_][\w ()&/.-]*", re.IGNORECASE)
_QUOTED = re.compile(r'"(-?[0-9]{1,9}),([0-9]{1,9})"')
_POINTED = re.compile(r"(-?[0-9]{1,9})\.([0-9]{1,9})")
_HEAD = re.compile(r"-?[0-9]{1,9}")
#: Different digits from which on a column of single digits is no class and no source.
_MANY_DIGITS = 8
#: Digits that no whole number of a format has.
_LONG = 5
#: Rows from which on it is no accident that all values of a column lie between 0 and 1, or between 0 and 100.
_MANY = 30
#: Columns before those that may be one too many, unless they are confidences: frame and class.
_FIRST = 2


def possible(files: Sequence[tuple[Cells, Rows]]) -> Iterator[Change]:
    """Yield changes that show in *files*, each given as its header (or nothing) and rows, whatever their format."""
    rows = [row for _, rows in files for row in rows]
    if rows:
        yield from filter(None, (_quoted(rows), _trailing(rows), _indexed(files)))


def doubtful(files: Sequence[Rows], dialects: Sequence[Dialect]) -> Iterator[tuple[Change, Sequence[Dialect]]]:
    """Yield changes that are looked at only where no format fits as it is; with the formats they may hide."""
    rows = [*itertools.chain(*files)]
    if rows:
        changes = (_of_clips(rows), _named(rows), _timed(files))
        yield from ((change, dialects) for change in changes if change is not None)
        yield from ((change, (dialect,)) for dialect in dialects for change in _halved(rows, dialect))


def between(header: Cells, rows: Rows, dialect: Dialect) -> list[Change]:
    """Return what may be between the rows of a whole file and a format: one change, or all that join its decimals."""
    wanted = len(dialect.columns)
    for change in _explanations(header, rows, dialect):
        if all(len(change.undo(row)) == wanted for row in rows):
            return [change]
    return [*_halved(rows, dialect)]


def _explanations(header: Cells, rows: Rows, dialect: Dialect) -> Iterator[Change]:
    """Yield what may explain the rows of a whole file, the likeliest first; rows of several widths by quotes alone."""
    even = len({len(row) for row in rows}) == 1
    yield from (change for change in possible([(header, rows)]) if even or change.code == "SYN125")
    if not even:
        return
    clips = _of_clips(rows)
    yield from (clips,) if clips is not None else ()
    yield from (dataclasses.replace(change, code="SYN146") for change in surplus([rows], until=1))
    yield from named(header)
    if dialect.kind("frame") == "int":
        classes = _named(rows) if dialect.kind("class_id") else None
        yield from filter(None, (_timed([rows], float(1 / dialect.hop)), classes))


# --- a comma behind, an index, clips, names, times ---------------------------------------------------------


def _taken_out(at: int, code: str, why: str, hint: str, *, certain: bool = True) -> Change:
    """Return the change that is undone without a column; nobody knows what was in it once it is out."""

    def without(row: Cells) -> Cells:
        return [*row[:at], *row[at + 1 :]]

    more = Change("a column more", without, why=why, code=code, hint=hint)
    return dataclasses.replace(more, column=at, takes_out=True, certain=certain)


def _trailing(rows: Rows) -> Change | None:
    if not all(len(row) > 2 and not row[-1].strip() for row in rows):
        return None

    def undo(row: Cells) -> Cells:
        return row[:-1] if len(row) > 1 and not row[-1].strip() else row

    why = f"every row ends with a comma ({plural(len(rows), 'row')})"
    hint = "end each row after its last number: the comma adds an empty column"
    return Change("a comma behind", undo, lambda row: [*row, ""], why=why, code="SYN124", hint=hint)


def _indexed(files: Sequence[tuple[Cells, Rows]]) -> Change | None:
    """Return the change of rows behind a row index, as ``DataFrame.to_csv`` writes one."""
    filled = [(header, rows) for header, rows in files if rows]
    headed = all(header and header[0].strip().strip('"').lower() in cells.INDEX_NAMES for header, _ in filled)
    counts, frames = ([_numbers(rows, at) for _, rows in filled] for at in (0, 1))
    if not all(count and _ascends(count, strictly=True) for count in counts):
        return None
    if not headed:  # first columns grow by one a row, and second ones are frames, which may do so as well
        if any([*count] != [*range(count[0], count[0] + len(count))] for count in counts):
            return None
        if not all(frame and _ascends(frame) for frame in frames) or sum(len({*frame}) for frame in frames) < ENOUGH:
            return None
        if any(len(frame) >= SOME and len({*frame}) == 1 for frame in frames):  # a single class does not grow
            return None
        strictly = frames != counts and all(_ascends(frame, strictly=True) for frame in frames)
        if strictly and [all(map(_counts_rows, columns)) for columns in (counts, frames)] != [True, False]:
            return None
    why = f"the first column is a row index, not data ({plural(sum(map(len, counts)), 'row')})"
    hint = "in pandas, use to_csv(path, index=False), with header=False if the format has no header"
    return _taken_out(0, "SYN114", why, hint)


def _of_clips(rows: Rows) -> Change | None:
    """Return the change of rows of all clips behind a column of their names."""
    names = {row[0].strip().strip('"') for row in rows}
    if not all(len(row) > 4 for row in rows) or not all(re.search("[A-Za-z]", name) for name in names):
        return None
    if len(names) < 2 and not any(re.search(r"\d", name) for name in names):
        return None
    if any(re.search("[A-Za-z]", cell) for row in rows[:ENOUGH] for cell in row[1:2]):
        return None
    clips = f"{plural(len(names), 'clip')} ({listed(sorted(names), 3)})"
    why = f"one file for all clips: the first column names {clips}"
    return _taken_out(0, "SUB106", why, "write one file per clip, named after the clip, without that column")


def _named(rows: Rows) -> Change | None:
    """Return the change of rows with class names where class numbers are due."""
    if len(rows) < SOME or not all(len(row) > 3 and _NAME.fullmatch(row[1].strip()) for row in rows):
        return None
    if any(cells.wordy(cell) for row in rows[:ENOUGH] for cell in (row[0], *row[2:])):
        return None
    names = sorted({row[1].strip() for row in rows})
    why = f"column 2 holds class names, not class numbers: {listed(names, 3)}"
    hint = "write class numbers, counted from 0; seldio formats shows the class list of each format"
    numbered = Change("names", lambda row: [row[0], "0", *row[2:]], why=why, code="LAB317", hint=hint)
    return dataclasses.replace(numbered, certain=False)


def _timed(files: Sequence[Rows], rate: float = 10.0) -> Change | None:
    """Return the change of rows with times in seconds where frames are due, in ascending order as those are."""
    rows = [*itertools.chain(*files)]
    first = [row[0].strip() for row in rows]
    if len(first) < SOME or not any("." in cell for cell in first) or not all(map(_TIME.fullmatch, first)):
        return None
    times = [float(cell) for cell in first]
    falls = sum(after < before for before, after in itertools.pairwise(times))
    if all(time == int(time) for time in times) or falls >= len(files):
        return None

    def frames(row: Cells) -> Cells:
        return [str(round(float(row[0]) * rate)), *row[1:]] if _TIME.fullmatch(row[0].strip()) else row

    why = f"the first column holds times in seconds (up to {max(times):g}), not frame numbers"
    change = Change("seconds", frames, lambda row: [str(int(row[0]) / rate), *row[1:]], why=why, code="LAB316")
    exact = all(map(change.gives_back, rows))
    do = f": write round(time * {rate:g})" if exact else ", and these times are no multiples of it: choose frames"
    return dataclasses.replace(change, hint=f"a frame is {1000 / rate:g} ms{do}")


# --- decimals with a comma -----------------------------------------------------------------------------------


def _quoted(rows: Rows) -> Change | None:
    """Return the change of decimals to those with a comma in quotes, as pandas writes them with ``decimal=","``."""

    def undo(row: Cells) -> Cells:
        return _QUOTED.sub(r"\1.\2", ",".join(cell.strip() if '"' in cell else cell for cell in row)).split(",")

    if not any('"' in cell for row in rows for cell in row) or all(len(undo(row)) == len(row) for row in rows):
        return None
    places = {at for row in rows for at, cell in enumerate(_QUOTED.sub('"', ",".join(row)).split(",")) if '"' in cell}
    why, hint = "decimals are written with a comma, in quotes", "use decimal points, and no quotes"
    return Change("quoted decimals", undo, _with_commas(places, r'"\1,\2"'), why=why, code="SYN125", hint=hint)


def _with_commas(places: Container[int], comma: str = r"\1,\2") -> Callable[[Cells], Cells]:
    """Return what writes the decimals of some columns with a *comma*: in a file, all of a column are written alike."""
    return lambda row: ",".join(
        _POINTED.sub(comma, cell) if at in places else cell for at, cell in enumerate(row)
    ).split(",")


def _halved(rows: Rows, dialect: Dialect) -> Iterator[Change]:
    """Yield a change for each way without a contradiction to join decimals with a comma, each in two cells."""
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
        why = f"every row has {len(rows[0])} cells: decimals of {fields} are written with a comma"
        hint = "use decimal points: a comma starts the next cell"
        yield Change("halved decimals", _joiner(heads), _with_commas(chosen), why=why, code="SYN125", hint=hint)


def _joins(row: Cells, heads: Sequence[int]) -> bool:
    return len(row) > max(heads) + 1 and all(
        _HEAD.fullmatch(row[at].strip()) and _WHOLE.fullmatch(row[at + 1]) for at in heads
    )


def _decimals(column: Sequence[str]) -> bool:
    """Return whether whole numbers can be decimals, and hardly a column of their own.

    Decimals are all as long, and then begin with 0 as often as not, or they have many digits, or do not end with 0.
    """
    lengths = {len(cell) for cell in column}
    if lengths == {1}:
        return len(set(column)) >= _MANY_DIGITS
    padded = any(cell.startswith("0") and len(cell) > 1 for cell in column)
    trimmed = not any(cell.endswith("0") and len(cell) > 1 for cell in column)
    return (padded and (len(lengths) == 1 or trimmed)) or (max(lengths) > _LONG and trimmed)


def _joiner(heads: Sequence[int]) -> Callable[[Cells], Cells]:
    def join(row: Cells) -> Cells:
        if not _joins(row, heads):
            return row
        whole = [f"{cell}.{row[at + 1]}" if at in heads else cell for at, cell in enumerate(row)]
        return [cell for at, cell in enumerate(whole) if at - 1 not in heads]

    return join


# --- columns that no format has, or that are in another place ---------------------------------------------


def _numbers(rows: Rows, at: int) -> list[int]:
    """Return a column of whole numbers; empty where it is none."""
    column = [row[at].strip() if len(row) > at else "" for row in rows]
    return list(map(int, column)) if all(map(_WHOLE.fullmatch, column)) else []


def _counts_rows(values: Sequence[int]) -> bool:
    """Return whether a column does nothing but count the rows, from 0 or 1."""
    return len(values) >= ENOUGH and values[0] in (0, 1) and [*values] == [*range(values[0], values[0] + len(values))]


def _ascends(values: Sequence[int], strictly: bool = False) -> bool:
    return all(b - a >= strictly for a, b in itertools.pairwise(values))


def _are_confidences(values: Sequence[float]) -> bool:
    """Return whether these are many different decimals, over much of what lies from 0 to 1, or to 100."""
    if len({*values}) < ENOUGH or len(values) < _MANY or min(values) < 0 or max(values) > 100:
        return False
    whole, (most, share) = sum(value % 1 == 0 for value in values), (1, 2) if max(values) <= 1 else (100, 4)
    return max(values) - min(values) >= most / 5 and share * whole <= len(values)


def named(header: Cells) -> Iterator[Change]:
    """Yield the change of a column that a header calls a confidence, if there is one."""
    places = [at for at, name in enumerate(header) if cells.is_confidence(name)]
    if len(places) == 1:
        at = places[0]
        why = f"column {at + 1} is headed {clipped(header[at].strip())}: no format has a confidence"
        yield _taken_out(at, "SYN145", why, "write the file without it; --unsafe-fixes removes the column")


def surplus(files: Sequence[Rows], until: int | None = None) -> Iterator[Change]:
    """Yield a change for each column, *until* a place, of rows of several *files* that looks like one too many."""
    columns_of_cells = itertools.islice(zip(*itertools.chain(*files), strict=True), until)
    columns = [[cell.strip() for cell in column] for column in columns_of_cells]
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
        why = f"one column too many: without column {at + 1}, which {says}, the rows fit a format"
        hint = f"check what wrote column {at + 1}, and write the files without it"
        yield _taken_out(at, code, why, hint, certain=certain)


def exchanged(width: int) -> Iterator[tuple[Change, set[int]]]:
    """Yield the change of each two of *width* columns to each other's place, with these two."""
    for left, right in itertools.combinations(range(width), 2):
        why = f"columns {left + 1} and {right + 1} seem to be in each other's place"
        hint = f"write column {right + 1} before column {left + 1}; only who wrote them knows what they hold"
        order = [right if at == left else left if at == right else at for at in range(width)]

        def swap(row: Cells, order: Sequence[int] = order) -> Cells:
            return [row[at] for at in order] if len(row) == width else row

        yield Change("exchanged", swap, swap, why=why, code="SYN147", hint=hint, column=left), {left, right}
