"""What the content and the names of label files say: a bounded sample, and what speaks in it for each format."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from seldio import clock
from seldio.formats import cells
from seldio.formats.base import TextFile
from seldio.formats.datasets import DATASETS, LabelSign
from seldio.formats.diagnosis import delimiter_of, plain_lines
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import INDEX_NAMES, Row, Rows, Shape, counted
from seldio.text import plural
from seldio.vocabularies import vocabulary

#: Lines looked at in all files together, taken from their heads and tails.
SAMPLE = 4000
#: Columns looked at; more than any format has.
WIDEST = 16
#: Rows from which on what all of them have in common is no accident.
ENOUGH = 30
#: With fewer rows than this, an angle out of range may be a slip as well as another format.
FEW = 5
#: Share of rows that may hold what no row can, before that speaks of another format.
_FEW_STRAYS = 0.005
#: Vectors longer than this are no directions with an activity for their length.
LONGEST = 3.0
#: Points at which a format is out of the question.
OUT = -100.0
#: Points at which a column does not hold what a format has there.
_MISFIT = -6
_HEAD = 1 << 16
#: Bytes that hardly any row has.
_ROW = 64


@dataclasses.dataclass(frozen=True)
class SampleColumn:
    """One file column of the sample: its numbers, whether any has a decimal point, and how many words."""

    values: np.ndarray[Any, np.dtype[np.float64]]
    decimals: bool
    words: int

    @property
    def constant(self) -> bool:
        """Whether there are numbers, and all are the same."""
        return bool(len(self.values) and (self.values == self.values[0]).all())

    @property
    def whole(self) -> bool:
        """Whether every number is a whole one, however written."""
        return bool((self.values == np.rint(self.values)).all())


@dataclasses.dataclass(frozen=True)
class Sample:
    """What is seen of a group of files."""

    width: int  # the number of cells that most rows have; 0 for files without rows
    header: tuple[str, ...]  # the names of the first line, where it holds no number
    columns: tuple[SampleColumn, ...]  # one for each cell of a row, up to ``WIDEST``
    rows: int  # how many rows were looked at
    names: tuple[str, ...]  # paths of the files, as shown
    crlf: bool  # whether lines end with CR LF
    shape: Shape | None = None  # what is between the rows as they are and these, if anything

    @property
    def indexed(self) -> bool:
        """Whether the first column is a row index, as ``DataFrame.to_csv`` writes one: a column without a name."""
        return bool(self.header) and self.header[0] in INDEX_NAMES

    @property
    def blank(self) -> bool:
        """Whether every cell of every row is 0."""
        return self.rows > 1 and all(len(c.values) == self.rows and not c.values.any() for c in self.columns)


@dataclasses.dataclass(frozen=True)
class SampledFile:
    """Some lines of a file: the names of the first one, where it holds no number, and rows."""

    path: str
    header: tuple[str, ...]
    rows: tuple[str, ...]
    crlf: bool

    @property
    def cells(self) -> tuple[Row, Rows]:
        """The header and the rows, cell by cell."""
        return self.header, [_split(row) for row in self.rows]

    def through(self, shape: Shape) -> SampledFile:
        """The same lines as they are meant."""
        header = tuple(shape.undo(self.header)) if self.header else ()
        rows = tuple(",".join(shape.undo(_split(row))) for row in self.rows)
        return dataclasses.replace(self, header=header, rows=rows)


def sampled(files: Sequence[TextFile]) -> list[SampledFile]:
    """Lines from the head and the tail of each file, none of those that have none."""
    share = max(6, SAMPLE // max(1, len(files)))
    found = []
    for file in files:
        lines = _lines(file.data, share)
        titles = _header(lines[0]) if lines else ()
        crlf = file.data.find(b"\r\n", 0, _HEAD) >= 0
        found.append(SampledFile(file.path, titles, tuple(lines[1:] if titles else lines), crlf))
    return found


def sample_of(files: Sequence[SampledFile], shape: Shape | None = None) -> Sample:
    """What lines of files say together, seen through *shape*."""
    if shape is not None:
        files = [file.through(shape) for file in files]
    header = next((file.header for file in files if file.header), ())
    rows = [row for file in files for row in file.rows]
    widths = [row.count(",") + 1 if _simple(row) else len(_split(row)) for row in rows]
    counts = collections.Counter(widths)
    width = counts.most_common(1)[0][0] if rows else len(header)
    kept = [row for row, cells in zip(rows, widths, strict=True) if cells == width]
    columns = tuple(map(_column, islice(_transposed(kept, width), WIDEST)))
    crlf = any(file.crlf for file in files)
    return Sample(width, header, columns, len(kept), tuple(file.path for file in files), crlf, shape)


def signature(data: bytes) -> tuple[int, str, bool]:
    """Width, header and decimals of a file's first rows: files that share it are looked at together."""
    lines = _lines(data[:4096], 3)
    if not lines:
        return (0, "", False)
    titles = _header(lines[0])
    rows = lines[1:] if titles else lines
    row = _split(rows[0]) if rows else list(titles)
    return (len(row), ",".join(titles), any("." in cell for cell in row))


def _lines(data: bytes, most: int) -> list[str]:
    """Up to *most* non-blank lines, half from the head and half from the tail; the last only if whole."""
    lines: list[bytes] = []
    for reach in sorted({min(_HEAD, _ROW * most), _HEAD}):  # a few rows do not take all of a file's head
        if not lines and len(data) > 2 * reach:
            lines = plain_lines(data[:reach]).split(b"\n")[:-1] + plain_lines(data[-reach:]).split(b"\n")[1:]
    lines = lines or plain_lines(data).split(b"\n")
    cut = len(lines) > 2 and lines[-1] != b""
    lines = [line for line in (lines[:-1] if cut else lines) if line.strip()]
    if len(lines) > most:
        lines = lines[: most - most // 2] + lines[-(most // 2) :]
    return [line.decode(errors="replace") for line in lines]


def _header(line: str) -> tuple[str, ...]:
    names = tuple(cell.strip().strip('"') for cell in _split(line))
    titles = names[1:] if names[0].lower() in INDEX_NAMES else names
    wordy = not any(cells.numeric(name) for name in titles) and all(map(cells.wordy, titles)) and len(names) > 1
    return tuple(name.lower() for name in names) if wordy or counted(names) else ()


def _split(line: str) -> list[str]:
    """The cells of a line, by the delimiter it seems to use."""
    if line.count(";") > 1:
        return [cell.replace(",", ".") for cell in line.split(";")]
    if "," in line:
        return line.split(",")
    found = next((n for n in range(12, 2, -1) if delimiter_of(line, n) != ","), 0)
    return line.split(delimiter_of(line, found)) if found else [line]


def _simple(line: str) -> bool:
    return "," in line and ";" not in line


def _transposed(lines: Sequence[str], width: int) -> Iterator[Sequence[str]]:
    """The columns of lines of *width* cells."""
    if all(map(_simple, lines)):
        every = ",".join(lines).split(",")
        return (every[number::width] for number in range(width if lines else 0))
    return zip(*map(_split, lines), strict=True)


_PLAIN = re.compile(r"[0-9+.\0-]*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")


def _column(texts: Sequence[str]) -> SampleColumn:
    if (plain := _plain(texts)) is not None:
        return plain
    found = [cells.plainly(cell.strip().strip('"')) for cell in texts]
    if (plain := _plain(found)) is not None:
        return plain
    numbers = [text for text in found if _NUMBER.fullmatch(text) and len(text) < 60]
    words = sum(cells.wordy(text) and text.lower() not in ("nan", "inf", "na", "none", "null") for text in found)
    decimals = any("." in text or "e" in text.lower() for text in numbers)
    return SampleColumn(np.array([float(text) for text in numbers]), decimals, words)


def _plain(cells: Sequence[str]) -> SampleColumn | None:
    """A column of nothing but short plain numbers, at once; None for any other."""
    joined = "\0".join(cells)
    if not _PLAIN.fullmatch(joined) or max(map(len, cells), default=0) >= 60:
        return None
    try:
        return SampleColumn(np.array(cells, dtype=np.float64), "." in joined, 0)
    except ValueError:
        return None


# --- what speaks for a format, and against it -------------------------------------------------------

#: Points for a format, and the sentence that explains them.
Mark = tuple[float, str]


def marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    """The evidence for and against *dialect* in what was seen."""
    if sample.width != len(dialect.columns):
        yield OUT, f"{plural(sample.width, 'column')}, not {len(dialect.columns)}"
        return
    yield from _header_marks(dialect, sample)
    at = dialect.index("frame")
    if at is not None and sample.rows > ENOUGH + 6 * len(sample.names) and sample.columns[at].constant:
        yield OUT, f"column {at + 1} holds one number only: not frames"
    if dialect.header is not None and sorted(sample.header) == sorted(dialect.header.lower().split(",")):
        return  # columns that are named are not told by what stands in them
    for number in range(min(len(dialect.columns), len(sample.columns))):
        yield from _column_marks(dialect, number, sample)
    if dialect.columns[-1].field == "z" or "x" in dialect.carries:
        yield from _norm_marks(dialect, sample)
    if dialect.hop == clock.HOP_2019:
        yield from _grid_marks(dialect, sample)
    if dialect.newline == "\r\n":
        yield (1, "CR LF line ends") if sample.crlf else (-1, "LF line ends")
    for pattern, dialects, points, sentence in _SIGNS:
        if re.fullmatch(dialects, dialect.name) and all(re.search(pattern, name) for name in sample.names):
            yield points, sentence


def _column_marks(dialect: Dialect, number: int, sample: Sample) -> Iterator[Mark]:
    part, seen, where = dialect.columns[number], sample.columns[number], f"column {number + 1}"
    if part.kind == "name":
        yield ((OUT, f"{where} holds numbers") if len(seen.values) > seen.words else (3, "class names"))
    elif seen.words > len(seen.values):
        yield OUT, f"{where} holds words"
    elif len(seen.values):
        radians = dialect.role == "label" and _within(_RADIANS.get(part.field, 0.0), seen)
        yield from _kind_marks(part.kind, seen, where, radians)
        yield from _value_marks(dialect, part.field, seen, where)


def misfits(dialect: Dialect, sample: Sample) -> set[int]:
    """The columns that hold what *dialect*, which has as many, does not have there."""
    places = range(len(dialect.columns))
    return {
        number for number in places if any(points <= _MISFIT for points, _ in _column_marks(dialect, number, sample))
    }


def _header_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    header = ",".join(sample.header)
    if dialect.header is not None:
        if header == dialect.header.lower():
            yield 8, "its header line"
        elif sorted(sample.header) == sorted(dialect.header.lower().split(",")):
            yield 8, "the column names of its header line, in another order"
        else:
            yield (OUT if header else -4), "a different header" if header else "no header line"
    elif header and not any(map(_LABEL_TITLE.match, sample.header)):
        yield OUT, "a first line with names of other columns"
    elif header:
        words = [_WORDS.get(part.field, part.field) for part in dialect.columns]
        fits = sum(name.startswith(word) for name, word in zip(sample.header, words, strict=False))
        yield (
            (2, "the column names in its first line") if fits == len(words) else (-2, "a first line with column names")
        )


_WORDS = {"class_id": "class", "distance": "dist"}
#: How a column of labels may be called: a first line that calls none so is of another table.
_LABEL_TITLE = re.compile(
    r"frame|time|onset|class|label|sound|event|source|track|azi|ele|dist|theta|phi|(az|el|[xyz]|\d+)\b"
)


#: What angles in radians stay within.
_RADIANS = {"azimuth": 3.15, "elevation": 1.58}


def _within(limit: float, sample: SampleColumn) -> bool:
    return float(np.abs(sample.values).max()) <= limit


def _kind_marks(kind: str, sample: SampleColumn, where: str, radians: bool) -> Iterator[Mark]:
    """What the way to write numbers says; that *radians* have decimals says little about labels in whole degrees."""
    if kind in ("int", "flag"):
        if not sample.whole:
            yield _strays(sample.values != np.rint(sample.values)), f"{where} has decimals"
        elif sample.decimals:
            yield -1, f"{where} is written with decimal points"
    elif kind == "whole" and sample.decimals and not sample.whole:
        yield -1 if radians else -3, f"{where} has decimals"
    elif kind in ("real", "real3", "real3inf") and not sample.decimals:
        yield -3, f"{where} has no decimals"


def _strays(wrong: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """The points where some values cannot be: a few rows among thousands are mistakes, which rules tell."""
    return -2 if wrong.mean() <= _FEW_STRAYS else OUT


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")


def _value_marks(dialect: Dialect, field: str, sample: SampleColumn, where: str) -> Iterator[Mark]:
    """What the values of one column say."""
    values = sample.values
    low, high, size = float(values.min()), float(values.max()), float(np.abs(values).max())
    holds = f"{where} holds {f'only {_number(low)}' if low == high else f'{_number(low)} to {_number(high)}'}"
    up = f"{where} goes up to {_number(high)}"
    share = min(1.0, len(values) / ENOUGH)  # what all values have in common tells little where they are few
    match field:
        case "frame" if dialect.clip_frames and high >= dialect.clip_frames:
            yield -3, f"frames reach {_number(high)}, but its clips have {dialect.clip_frames}"
        case "class_id" if low < 0:
            yield _strays(values < 0), f"{where} goes down to {_number(low)}: not class numbers"
        case "class_id" if high >= (classes := len(vocabulary(dialect.vocabulary))):
            yield -3, f"class numbers reach {_number(high)}, but its last class is {classes - 1}"
        case "source" if low < -1 or high > 60:
            yield _strays((values < -1) | (values > 60)), f"{holds}: not source numbers"
        case "source" if low < 0:
            track = dialect.fills.get("source") == low
            yield (2, f"tracks are {_number(low)}") if track else (-2, f"{where} holds {_number(low)}")
        case "source" if high <= 15:  # a single azimuth is hardly ever 0, a source number often
            yield 2 * (share if high else 1), f"{holds}: source numbers"
        case "azimuth" if size > 360:
            yield _strays(np.abs(values) > 360), f"{holds}: not azimuths"
        case "azimuth" if low >= 0 and high <= 15 and sample.whole and dialect.index("source") is None:
            yield -2 * (share if high else 1), f"{holds}: unlikely as azimuths"
        case "azimuth" if max(-low, high) <= 1.75 and sample.decimals:
            yield -2 * share, f"{where} stays within ±{_number(max(-low, high))}"
        case "azimuth" if max(-low, high) > 90 and not dialect.folded:
            yield 1, f"{holds}: azimuths"
        case "elevation":
            if outside := 1 - float(((values >= -90) & (values <= 90)).mean()):
                many = outside > 0.05 and len(values) >= FEW
                yield (-6 if many else -3 if outside > 0.05 else -1), f"{holds}: not elevations"
            elif low < 0:
                yield 1, f"{where} has values below 0 and within ±90: elevations"
        case "distance" if dialect.kind("distance") == "zero":
            zero = (1, f"{where} is always 0") if sample.decimals else (3, f"{where} is the constant 0")
            yield zero if not values.any() else (OUT, f"{where} is not always 0")
        case "distance" if low < 0 and low != dialect.unknown_distance:
            strays = _strays((values < 0) & (values != (dialect.unknown_distance or 0)))
            yield strays, f"{where} goes down to {_number(low)}: not distances"
        case "distance" if dialect.metre == 1 and high > 40:
            yield -6, f"{up}: not metres"
        case "distance" if dialect.metre == 100 and low >= 0 and high <= 1:
            # what a system puts out may be 0 here and there
            yield -1 - 3 * (1 if dialect.role == "label" else share), f"{holds}: unlikely as centimetres"
        case "distance" if dialect.metre == 100:
            yield (1, f"{up}, so centimetres") if high > 40 else (-1, f"{up} only: low for centimetres")
        case "distance" if not values.any():
            yield -2 * share, f"{where} is always 0"
        case "x" | "y" | "z" if size > LONGEST:
            yield _strays(np.abs(values) > LONGEST), f"{holds}: not unit vectors"
        case "onscreen":
            wrong = ~np.isin(values, (0, 1))
            yield (
                (_strays(wrong), f"{where} is not 0 or 1") if wrong.any() else (1 + share, f"{holds}: on-screen flags")
            )
        case "onset" | "offset" if low < 0:
            yield -3, f"{where} holds times before 0"


def _norm_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    at = dialect.index("x")
    if at is None or len(sample.columns) < at + 3:
        return
    axes = [column.values for column in sample.columns[at : at + 3]]
    if len({len(axis) for axis in axes}) == 1 and len(axes[0]):
        norm = np.sqrt(sum(axis * axis for axis in axes))
        where = f"columns {at + 1} to {at + 3}"
        if norm.max() < LONGEST:
            yield 2, f"{where} are vectors with norms from {norm.min():.2f} to {norm.max():.2f}"
        else:
            yield _strays(norm >= LONGEST), f"{where} have norms up to {_number(norm.max())}: not unit vectors"


def _grid_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    """In 2019 all directions of labels were multiples of 10°; those of systems are what they are."""
    places = (dialect.index("azimuth"), dialect.index("elevation"))
    angles = [sample.columns[at].values for at in places if at is not None and at < len(sample.columns)]
    if not all((values % 10 == 0).all() for values in angles):
        if dialect.role == "label":
            yield -4, "directions are not on the 10° grid of 2019"
    elif angles and (steps := len(set(angles[0].tolist()))):
        yield min(3.0, steps / 3), "directions are on the 10° grid of 2019"


#: What the paths of label files say: of one year or dataset in its row, and of all of them.
_SIGNS: tuple[LabelSign, ...] = (
    LabelSign(r"fold[1-6]_room\d+_mix\d+\.", r"starss2.|dcase2020", 0.5, "development file names"),
    LabelSign(r"(^|/)mix\d{3}\.", r".*-submission|.*-output", 0.5, "evaluation file names (mix…)"),
    *(sign for row in DATASETS for sign in row.label_signs),
    LabelSign(r"(?i)metadata", r"starss2.|dcase20(19|20|25)|spatialscaper", 0.5, "a metadata folder"),
    LabelSign(r"(?i)subm|predict|output|result", r".*-(submission|output)", 0.5, "the folder's name"),
)
