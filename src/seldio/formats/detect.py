"""Which format is this? Each declared format whose columns hold the rows; of several the most specific.

A format *holds* rows if at least ``ENOUGH`` of them are within the kinds and ranges that it declares. Of several that
do, that is meant which leaves the fewest possible rows; where the next one of another meaning leaves hardly more,
both remain, and the user is asked. Files that no format holds may be of one that is misread: in other units, or from
another start. Then the format counts most of whose columns hold what they should.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seldio.formats import cells
from seldio.formats.base import LabelFormat, TextFile
from seldio.formats.datasets import DATASETS
from seldio.formats.dialects import DIALECTS, OUTSIDE
from seldio.formats.label_csv import Dialect, column
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.changes import Cells, Change
    from seldio.formats.shapes import Rows

Numbers = np.ndarray[Any, Any]
#: Lines of all files together, and at least of each file that is looked at.
LINES, FEWEST = 4000, 6
#: Bytes of the head and of the tail of a file, and of a usual row.
_REACH, _ROW = 1 << 16, 64
#: Cells of the widest row without commas.
_MOST_CELLS = 12
#: Characters of the longest number that is read.
_LONGEST = 60
_MISSING = {"", "na", "n/a", "nan", "none", "null", "nil", "-", "--", "?", "missing", "unknown", "<na>", "nat", "#n/a"}
_PLAIN = re.compile(r"[0-9+.,-]*")
#: Share of rows that have to be within what a format declares; the others are slips, which rules report.
ENOUGH = 0.995
#: Share of rows within a format from which on the others are slips, where no format holds more.
MOST = 0.8
#: Nats by which the rows must speak for the most specific format: 2019 and 2023 on a grid of 10 degrees, in five rows.
SURE = 20.0
#: Nats that a column outside of what a format declares speaks against it.
STRANGE = 10.0
#: With fewer rows than this, what they have in common may be an accident.
FEW = 5
#: Names of files that are looked at.
_NAMES = 200
#: Steps of a unit that decimals are counted in.
_DECIMALS = 1000
#: What values may be where files are misread: counted from 0 to 360, exchanged, in other units.
_MISREAD = {
    "frame": (0, math.inf), "class_id": (-1, math.inf), "source": (-1, 60), "azimuth": (-360, 360),
    "elevation": (-180, 180), "distance": (0, math.inf), "x": (-3, 3), "y": (-3, 3), "z": (-3, 3),
}  # fmt: skip
#: What stands for a value that is not known, in these columns.
_UNKNOWN = (-1, -1000)
_MAY_BE_UNKNOWN = ("class_id", "source", "distance")
#: The reach of angles in radians.
_RADIANS = {"azimuth": 3.15, "elevation": 1.58}
#: Columns of the widest format and one more; in wider rows there is no one column too many.
_WIDEST = max(len(dialect.columns) for dialect in DIALECTS) + 1
#: How a column of labels may be called: a first line that calls none so is of another table.
_LABEL_TITLE = re.compile(
    r"frame|time|onset|class|label|sound|event|source|track|azi|ele|dist|theta|phi|(az|el|[xyz]|\d+)\b"
)
_WORDS = {"class_id": "class", "class_name": "class", "distance": "dist"}
#: What the paths of label files tell, the surest first.
_SIGNS = sorted((sign for row in DATASETS for sign in row.label_signs), key=lambda sign: sign.rank)
#: The rank of names that labels share with outputs: they speak for formats that hold the rows alone.
_SHARED = 2


# --- rows as columns of numbers, from the head and tail of each file --------------------------------------


class NumberColumn:
    """One column: its numbers, NaN where a cell holds none, and how they are written."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = ",".join(texts)
        self.pointed = "." in joined  # whether any number has a decimal point or an exponent
        self.missing: Numbers | bool = False  # the cells that say that there is no value
        self.words: Numbers | bool = False  # the cells that are words
        self.empty = False  # whether there is nothing between the commas, in all rows
        values: Numbers | None = None
        if _PLAIN.fullmatch(joined) and max(map(len, texts)) < _LONGEST:
            with contextlib.suppress(ValueError):  # a sign or a point in a strange place
                values = np.array(texts, np.float64)
        if values is None:
            distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
            which = np.fromiter(map(distinct.__getitem__, texts), np.int64, len(texts))
            bare = [cells.plainly(text.strip().strip('"')) for text in distinct]
            numbers = np.array(list(map(_number, bare)))
            missing = np.array([text.lower() in _MISSING for text in bare])
            words = np.array([len(text) < _LONGEST and cells.wordy(text) for text in bare])
            values, self.missing = numbers[which], missing[which]
            self.words = (words & ~missing & np.isnan(numbers))[which]
            pointed = [text for text in itertools.compress(bare, ~np.isnan(numbers)) if re.search("[.eE]", text)]
            self.pointed, self.empty = bool(pointed), not any(bare)
        self.values = values
        finite = values[np.isfinite(values)]
        #: the least and the greatest number; 0 where there is none
        self.ends = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def _number(text: str) -> float:
    if not text.isascii() or "_" in text or len(text) > _LONGEST:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


class SampledFile(NamedTuple):
    """Rows of a file: the names of its first line, where that holds no number, and cells."""

    path: str
    header: Cells
    rows: Rows


class LabelRows:
    """Rows of several files as columns, in which a *change* is undone."""

    def __init__(self, files: Sequence[SampledFile], change: Change | None = None) -> None:
        self.files, self.change = files, change
        rows = [row for file in files for row in file.rows]
        self.width, self.rows = collections.Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        self.strays = len(rows) - self.rows  # rows of another width than most
        self.torn = self.strays > max(len(files), self.rows * (1 - ENOUGH))  # the last row of a file may be cut off
        self.header: Cells = next((tuple(file.header) for file in files if file.header), ())
        #: whether the first column is called as that which pandas counts the rows in
        self.indexed = bool(self.header) and self.header[0] in cells.INDEX_NAMES
        usual = (row for row in rows if len(row) == self.width)
        self.columns = tuple(map(NumberColumn, zip(*usual, strict=True)))

    @cached_property
    def distinct(self) -> int:
        """How many rows differ in more than their first column: a steady source is one observation."""
        return len(np.unique(np.column_stack([column.values for column in self.columns[1:]]), axis=0))

    def without(self, change: Change) -> LabelRows:
        """Return the same rows with a change undone."""
        undo = change.undo
        files = [SampledFile(path, undo(head) if head else (), [*map(undo, rows)]) for path, head, rows in self.files]
        return LabelRows(files, change)


def rows_of(files: Sequence[TextFile]) -> LabelRows:
    """Return rows of *files*, which belong together; of very many files, every second or third is looked at."""
    files = files[:: 1 + len(files) * FEWEST // LINES]
    most = LINES // max(1, len(files))
    return LabelRows([_sampled(file.path, file.data, most) for file in files])


def width_and_header(data: bytes) -> tuple[int, str]:
    """Return the width and the header of a file: files that share them are looked at together."""
    file = _sampled("", data[:4096], 3)
    row = file.rows[0] if file.rows else file.header
    return len(row), ",".join(file.header)


def _sampled(path: str, data: bytes, most: int) -> SampledFile:
    """Return up to *most* non-blank lines, half from the head and half from the tail; the last only if whole."""
    reach = min(_REACH, _ROW * most)
    lines: list[bytes] = []
    if len(data) > 2 * reach:
        lines = cells.plain_lines(data[:reach]).split(b"\n")[:-1] + cells.plain_lines(data[-reach:]).split(b"\n")[1:]
    lines = lines or cells.plain_lines(data).split(b"\n")
    if len(lines) > 2 and lines[-1] != b"":
        lines.pop()
    lines = [line for line in lines if line.strip()]
    if len(lines) > most:
        lines = lines[: most - most // 2] + lines[-(most // 2) :]
    rows = []
    for line in lines:
        text = line.decode(errors="replace")
        if text.count(";") > 1:
            rows.append([cell.replace(",", ".") for cell in text.split(";")])
        elif "," in text:
            rows.append(text.split(","))
        else:
            sign = next((sign for sign in "\t| " if 1 < text.strip().count(sign) < _MOST_CELLS), None)
            rows.append(text.split(sign) if sign else [text])
    names = [cell.strip().strip('"') for cell in rows[0]] if rows else []
    titles = names[1:] if names and names[0].lower() in cells.INDEX_NAMES else names
    wordy = len(names) > 1 and all(cells.wordy(title) and not cells.numeric(title) for title in titles)
    if wordy or cells.counted(names):
        return SampledFile(path, [name.lower() for name in names], rows[1:])
    return SampledFile(path, (), rows)


# --- the format -------------------------------------------------------------------------------------------


class Candidate(NamedTuple):
    """A format that may be meant, and why."""

    format: Dialect
    evidence: str


@dataclasses.dataclass(frozen=True)
class Detection:
    """The format of files of one shape, or the candidates that remain."""

    rows: LabelRows
    format: Dialect | None = None  # None where two remain, or nothing fits
    candidates: tuple[Candidate, ...] = ()  # the format, or what remains, best first
    alike: tuple[Dialect, ...] = ()  # formats with the same columns that the rows do not rule out

    @property
    def empty(self) -> bool:
        """Whether no file has a row, so that nothing can be told and nothing needs to be."""
        return not self.rows.rows and not self.rows.header

    @property
    def blank(self) -> bool:
        """Whether every cell of every row is 0."""
        return self.rows.rows > 1 and not any(np.any(column.values != 0) for column in self.rows.columns)

    @property
    def remaining(self) -> bool:
        """Whether several formats remain of rows as they are."""
        return self.format is None and self.rows.change is None and not self.blank and len(self.candidates) > 1

    @property
    def evidence(self) -> str:
        """Why :attr:`format` was chosen."""
        return self.candidates[0].evidence if self.format is not None and self.candidates else ""


def detect(files: Sequence[TextFile]) -> Detection:
    """Tell the format of label files of one shape."""
    rows = rows_of(files)
    for dialect in DIALECTS:  # whose header it is, be it in another order
        if rows.header and sorted(rows.header) == sorted(dialect.titles) and rows.width in (0, len(dialect.columns)):
            return Detection(rows, dialect, (Candidate(dialect, "its header line"),))
    if not rows.rows:  # whose columns does a header without rows name?
        named = [dialect for dialect in DIALECTS if _titles(rows.header, dialect)]
        if named and all(means_the_same(dialect, named[0]) for dialect in named):
            return Detection(rows, named[0], (Candidate(named[0], "the names in its first line"),))
        return Detection(rows)
    if not rows.indexed and (decided := _decided(rows)) is not None:
        return decided
    return next(filter(None, _seen_otherwise(rows, files)), Detection(rows))


def _seen_otherwise(rows: LabelRows, files: Sequence[TextFile]) -> Iterator[Detection | None]:
    """Yield what rows are that no format holds as they are, from the surest way to see them on."""
    from seldio.formats import shapes  # which clean labels do not need

    by_file = [(file.header, file.rows) for file in rows.files]
    unchanged = [rows.without(change) for change in (*shapes.named(rows.header), *shapes.possible(by_file))]
    yield from map(_decided, unchanged)
    yield None if rows.indexed else _misread(rows)
    yield from map(_misread, unchanged)
    if rows.indexed:
        return
    cells_by_file = [file.rows for file in rows.files if file.rows]
    changes = shapes.doubtful(cells_by_file, DIALECTS)
    yield _only([seen for change, dialects in changes if (seen := _decided(rows.without(change), dialects))])
    if not rows.strays and rows.rows >= shapes.ENOUGH and rows.width <= _WIDEST:
        surplus = [(change, set[int]()) for change in shapes.surplus(cells_by_file)]
        certain = [(change, places) for change, places in surplus if change.certain]
        for attempts in (certain, shapes.exchanged(rows.width), surplus):
            yield _misplaced(rows, attempts)
    # the format that holds most rows, of few all columns but one; no number is a word in most rows
    wordy = {number for number, column in enumerate(rows.columns) if np.mean(column.words) > 1 / 2}
    fits = []
    for fit in fits_of(rows):
        slips = len(fit.misfits) <= 1 if rows.rows < FEW else fit.share >= MOST
        if slips and all(fit.format.columns[number].kind in ("name", "text") for number in wordy):
            fits.append(fit)
    yield _most_specific(rows, fits)
    # what most files are by themselves, where each may have another fault
    count = min(len(files), _NAMES)
    alone = [detect([file]) for file in files[:count]] if len(files) > 1 else []
    alone = [each for each in alone if each.candidates and (each.rows.change is None or each.format is not None)]
    names = [each.candidates[0].format.name for each in alone]
    usual = next((each for each, name in zip(alone, names, strict=True) if 2 * names.count(name) > count), None)
    yield usual and dataclasses.replace(usual, rows=rows)


def _titles(header: Sequence[str], dialect: Dialect) -> bool:
    """Return whether names are those of the columns of a format."""
    words = [_WORDS.get(part.field, part.field) for part in dialect.columns]
    return len(header) == len(words) and all(map(str.startswith, header, words))


# --- what a format holds -----------------------------------------------------------------------------------


class FormatFit:
    """How far a format holds rows that have as many columns."""

    def __init__(self, format: Dialect, rows: LabelRows) -> None:
        self.format, self.rows = format, rows
        self.declared: Sequence[column] = format.columns
        parts = zip(format.columns, rows.columns, strict=True)
        angles = [(part.field, seen) for part, seen in parts if part.field in _RADIANS and part.kind == "whole"]
        #: whether angles of labels, which are whole degrees, may be radians: all are small, and some have decimals
        self.radians = len(angles) == 2 and format.role == "label"
        for field, seen in angles:
            decimals = bool(np.mod(seen.values[np.isfinite(seen.values)], 1).any())
            self.radians &= decimals and max(map(abs, seen.ends)) <= _RADIANS[field]
        if self.radians:
            reaches = [_RADIANS.get(part.field) for part in format.columns]
            self.declared = [
                part if reach is None else dataclasses.replace(part, kind="real", low=-reach, high=reach)
                for part, reach in zip(format.columns, reaches, strict=True)
            ]
        outside = _outside(self.declared, rows)
        shares = outside.mean(axis=1).tolist()
        #: the share of rows that are within what the format declares
        self.share = 1 - float(outside.any(axis=0).mean())
        #: how many columns hold what is not declared of them, each by the share of its cells
        self.strange: float = sum(shares)
        #: the columns that hold what is not declared of them
        self.misfits = {number for number, share in enumerate(shares) if share > 1 - ENOUGH}
        #: whether the format has a header, and the files do not
        self.headless = format.header is not None and not rows.header

    @cached_property
    def possible(self) -> bool:
        """Whether the rows may be those of the format, in another unit, or counted from another start."""
        widened = []
        for part in self.format.columns:
            low, high = _MISREAD.get(part.field if part.kind != "zero" else "", (part.low, part.high))
            widened.append(dataclasses.replace(part, low=min(low, part.low), high=max(high, part.high), step=1.0))
        return 1 - float(_outside(widened, self.rows, misread=True).any(axis=0).mean()) >= ENOUGH

    @cached_property
    def size(self) -> float:
        """The logarithm of the number of events that the format may have in a frame: less is more specific."""
        counted = [part for part in self.declared if part.field != "frame"]
        units = [_DECIMALS if part.kind.startswith("real") else 1 / part.step for part in counted]
        steps = [(part.high - part.low) * unit for part, unit in zip(counted, units, strict=True)]
        return sum(math.log(count + 1) for count in steps if math.isfinite(count)) + STRANGE * self.strange

    @cached_property
    def off_its_grid(self) -> bool:
        """Whether the rows are those of the format but for multiples, which labels are, and outputs are not."""
        finer = [dataclasses.replace(part, step=1.0) for part in self.format.columns]
        if [*self.format.columns] == finer:
            return False
        return 1 - float(_outside(finer, self.rows).any(axis=0).mean()) >= ENOUGH

    def __str__(self) -> str:
        every = "all" if self.share == 1 or self.off_its_grid else f"{100 * self.share:.1f} % of"
        grid = ", but not in the steps of its labels" if self.share < 1 and self.off_its_grid else ""
        return f"{every} {plural(self.rows.rows, 'row')} within its ranges{grid}"


def fits_of(rows: LabelRows, among: Iterable[Dialect] = DIALECTS) -> list[FormatFit]:
    """Return the formats with as many columns, and with those that the first line names where it names any."""
    fits = [FormatFit(dialect, rows) for dialect in among if len(dialect.columns) == rows.width]
    if not rows.header or len(rows.header) != rows.width:
        return fits
    named = [fit for fit in fits if _titles(rows.header, fit.format)]
    return named or (fits if any(map(_LABEL_TITLE.match, rows.header)) else [])


def _outside(declared: Sequence[column], rows: LabelRows, misread: bool = False) -> Numbers:
    """Return by column and row which cells are not what is *declared* of them.

    Where they are *misread*, numbers may be written with decimals or without, and cells that are neither numbers nor
    words are slips.
    """
    outside = np.ones((len(declared), rows.rows), bool)
    for part, seen, wrong in zip(declared, rows.columns, outside, strict=True):
        values, (least, most) = seen.values, seen.ends
        zeros = least == 0 and most == 0
        decimals = part.kind in ("real", "real3", "real3inf") and not misread
        within_one = part.field in "xyz" and least >= -1 and most <= 1
        if seen.empty or (decimals and not seen.pointed and not zeros and not within_one):
            continue  # a column of decimals has some
        if part.field == "distance" and decimals and zeros and len(values) > 1:
            continue  # nothing is at the microphone throughout
        if part.kind in ("name", "text"):
            wrong[:] = ~np.asarray(seen.words)
            continue
        right = (values >= part.low) & (values <= part.high)
        if part.kind == "real3inf":
            right |= np.isinf(values)
        if part.kind in ("int", "flag") or (part.kind == "whole" and not misread):
            right &= np.isfinite(values)
            right[right] = np.rint(values[right] / part.step) * part.step == values[right]
        if part.field in _MAY_BE_UNKNOWN:
            right |= np.isin(values, _UNKNOWN)
        if misread:
            right |= ~np.isfinite(values) & ~np.asarray(seen.words)
        wrong[:] = ~(right | seen.missing)
    return outside


def means_the_same(first: LabelFormat, second: LabelFormat) -> bool:
    """Return whether two formats agree on what every column means, class lists and number formats aside."""
    if not isinstance(first, Dialect) or not isinstance(second, Dialect):
        return False
    meanings = [[(part.field, part.kind == "zero") for part in format.columns] for format in (first, second)]
    same = (first.metre, first.hop, first.header) == (second.metre, second.hop, second.header)
    return same and meanings[0] == meanings[1]


# --- the most specific format ------------------------------------------------------------------------------


def _decided(rows: LabelRows, among: Sequence[Dialect] = DIALECTS) -> Detection | None:
    """Return the most specific of the formats that hold all rows, or those that remain; None where none does."""
    fits = [] if rows.torn else fits_of(rows, among)
    return _most_specific(rows, [fit for fit in fits if fit.share >= ENOUGH])


def _misread(rows: LabelRows) -> Detection | None:
    """Return the format that most columns fit, where the others may be misread."""
    fits = [] if rows.torn else fits_of(rows)
    return _most_specific(rows, [fit for fit in fits if fit.possible and fit.strange < rows.width - 1])


def _most_specific(rows: LabelRows, fits: list[FormatFit]) -> Detection | None:
    """Return the most specific of the formats that fit, by the names of the files, or by what they hold."""
    if not fits:
        return None
    fits = sorted(fits, key=lambda fit: fit.size)
    if not fits[0].radians:  # what degrees explain as well are no radians
        fits = [fit for fit in fits if not fit.radians]
    headed = next((fit for fit in fits if not fit.headless), None)
    if headed is not None:  # what lacks its header is meant only where it is more specific, and never for sure
        fits = [fit for fit in fits if not fit.headless or fit.size < headed.size]
    named, sentence = _named(rows, fits)
    eligible = named or fits
    # of those that mean the same as the most specific one and fit as well, the first of the table is the best
    twins = [fit for fit in eligible if means_the_same(fit.format, eligible[0].format)]
    twins = [fit for fit in twins if len(fit.misfits) <= len(twins[0].misfits)]
    best, *twins = sorted(twins, key=lambda fit: DIALECTS.index(fit.format))
    rival = next((fit for fit in eligible if not means_the_same(fit.format, best.format)), None)
    unsure = rival is not None and (best.headless or (rival.size - best.size) * rows.distinct < SURE)
    clocks = []
    if not named:  # formats with the same columns in frames of another length, that the rows do not rule out
        fields = [part.field for part in best.format.columns]
        slower = [dialect for dialect in DIALECTS if dialect.hop != best.format.hop]
        clocks = fits_of(rows, [each for each in slower if [part.field for part in each.columns] == fields])
        names = {fit.format.name for fit in fits}
        clocks = [fit for fit in clocks if fit.format.name in names or fit.off_its_grid]
    if unsure or clocks:
        by_name = {fit.format.name: fit for fit in (*fits, *clocks)}  # one clock may be among the fits
        remaining = sorted(named or by_name.values(), key=lambda fit: fit.headless)
        return Detection(rows, None, tuple(Candidate(fit.format, str(fit)) for fit in remaining))
    twins += [fit for fit in fits if named and fit.format in OUTSIDE and fit not in (best, *twins)]
    why = Candidate(best.format, sentence or str(best))
    return Detection(rows, best.format, (why,), tuple(fit.format for fit in twins))


def _named(rows: LabelRows, fits: Sequence[FormatFit]) -> tuple[list[FormatFit], str]:
    """Return the formats that most names of files are typical of, and why; sure names speak for misread files too."""
    names = [file.path for file in rows.files[:_NAMES]]
    counts = [sum(re.search(sign.path, name) is not None for name in names) for sign in _SIGNS]
    signs = [sign for sign, count in zip(_SIGNS, counts, strict=True) if 2 * count > len(names)]
    for sign in signs:
        if named := [fit for fit in fits if re.fullmatch(sign.formats, fit.format.name)]:
            return named, sign.says
    sure = [sign for sign in signs if sign.rank < _SHARED]
    misread = [fit for fit in fits_of(rows) if not fit.headless and (fit.possible or fit.strange <= 1)] if sure else []
    for sign in sure:
        if named := [fit for fit in misread if re.fullmatch(sign.formats, fit.format.name)]:
            return named, sign.says
    return [], ""


# --- rows that no format holds as they are -----------------------------------------------------------------


def _misplaced(rows: LabelRows, attempts: Iterable[tuple[Change, set[int]]]) -> Detection | None:
    """Return rows that fit one format without a column, or with two of them exchanged; which is only said."""
    misfits = {fit.format.name: fit.misfits for fit in fits_of(rows)}
    if not rows.header:  # the same formats will be held against them: not where these columns are right
        attempts = [(change, at) for change, at in attempts if not at or any(map(at.issubset, misfits.values()))]
    seen = [(_decided(rows.without(change)), places) for change, places in attempts]
    right = [each for each, places in seen if each and each.format and places <= misfits.get(each.format.name, places)]
    only = _only(right)
    return dataclasses.replace(only, format=None) if only is not None and only.format is not None else None


def _only(detections: Sequence[Detection]) -> Detection | None:
    """Return the only way to see rows; where several lead to other values, no format."""
    values = [[column.values.tolist() for column in detection.rows.columns] for detection in detections]
    if not detections or values.count(values[0]) == len(values):
        return detections[0] if detections else None
    by_name = {candidate.format.name: candidate for each in detections for candidate in each.candidates}
    return dataclasses.replace(detections[0], format=None, candidates=tuple(by_name.values()))


def closest(rows: LabelRows) -> str:
    """Return what speaks against the closest formats with as many columns, where none fits; or nothing."""
    if rows.header and not any(map(_LABEL_TITLE.match, rows.header)):
        return "its first line has names of other columns"
    names: dict[str, str] = {}  # of formats, by the reason
    fits = [FormatFit(dialect, rows) for dialect in DIALECTS if len(dialect.columns) == rows.width]
    for fit in sorted(fits, key=lambda fit: len(fit.misfits)):
        for number in sorted(fit.misfits):
            part, seen = fit.format.columns[number], rows.columns[number]
            ends = " to ".join(dict.fromkeys(f"{end:g}" for end in seen.ends))
            holding = "words" if np.mean(seen.words) > 0.5 else ends
            why = f"column {number + 1} holds {holding}, not {part.field} from {part.low:g} to {part.high:g}"
            if fit.format.name not in names.values():
                names.setdefault(why, fit.format.name)
    return "; ".join(f"it is not {name} ({why})" for why, name in list(names.items())[:3])


def explain_width(file: TextFile, named: Dialect, width: int) -> tuple[str, str, str]:
    """Return code, message and hint of a file whose rows have *width* cells, and *named* another number of columns."""
    message = f"every row has {plural(width, 'cell')}, but {named.name} has {len(named.columns)} columns"
    detection = detect([file])
    names = [candidate.format.name for candidate in detection.candidates[:4]]
    if (best := detection.format) is None:
        seems = f"it may be {' or '.join(names)}" if names else "no known format has these columns"
        return "SYN121", message, f"{seems}; seldio formats lists the formats"
    hint = f"read it with --format {best.name} ({detection.evidence}), or convert it with seldio convert"
    if named.role == "submission" and best.role == "label":
        return "LAB312", f"{message}: this is a label file ({best.name}), not a submission", hint
    if named.role == "submission":
        return "LAB312", f"{message}: these are {best.title.split(':')[0]}", hint
    return "SYN121", f"{message}; it looks like {best.name}", hint


def change_between(lines: Sequence[str], dialect: Dialect) -> Change | None:
    """Return what is between the lines of a whole file and *dialect*; None where it is nothing that has a name.

    Decimals with a comma may be joined in several ways: what the format holds is meant, and certain where it is one.
    """
    from seldio.formats import shapes  # a table that clean labels do not need

    first = lines[0].split(",") if lines else []
    titled = cells.titled(first)
    rows = [line.split(",") for line in lines[titled:]]
    changes = shapes.between(first if titled else [], rows, dialect)
    quoted = any('"' in line for line in lines)
    if not changes or changes[0].code not in ("SYN125", "SYN145") or (changes[0].code == "SYN125" and quoted):
        return changes[0] if changes else None
    written = rows_of([TextFile("", "", "", "\n".join(lines).encode())])
    if changes[0].code == "SYN125" and (_decided(written) or _misread(written)):  # another format may be as wide
        return None
    fits = [(change, fit) for change in changes for fit in fits_of(written.without(change), [dialect]) if fit.possible]
    right = [change for change, fit in fits if fit.share >= ENOUGH] or [change for change, _ in fits]
    return dataclasses.replace((right or changes)[0], certain=len(rows) >= FEW and len(right) == 1)


def years(format: LabelFormat) -> tuple[int, ...]:
    """Return the years of the challenge that a format is of."""
    return () if format.years.startswith("since") else tuple(map(int, re.findall(r"\d{4}", format.years)))
