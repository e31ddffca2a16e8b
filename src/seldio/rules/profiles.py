"""Label files as a whole: a few numbers for each file, of all parts of a dataset together.

Rows are right or wrong individually (:mod:`seldio.rules.labels`). Whether files mean something else than they seem to
can only be decided from all of them together (:mod:`seldio.rules.misreadings`), and these numbers are enough for that,
so that the rows of a large dataset need not be in memory at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.formats.base import Ints, LabelFormat, TextFile
from seldio.formats.label_csv import Dialect
from seldio.rules.base import Bools, Labels
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.rules.collection import Reference

Values = np.ndarray[Any, Any]
#: Columns whose smallest and largest value in a file counts, and their valid range; infinity if any number is valid.
NUMBERS = {
    "frame": (-np.inf, np.inf), "class_id": (-np.inf, np.inf), "azimuth": (-np.inf, np.inf), "x": (-3, 3),
    "source": (-1, 60), "elevation": (-90, 90), "distance": (0, 100),
}  # fmt: skip
#: Degrees around the front that are counted one by one.
NEAR = 4
#: Fewest distinct frames that prove that all are multiples of a number.
_FRAMES = 20


@dataclasses.dataclass(frozen=True)
class FileNumbers:
    """The numbers of each file with rows in a part; the record that is sent between processes."""

    columns: Mapping[str, Values]  # one value for each file, by name: ``rows``, ``azimuth.low``, …
    fields: tuple[str, ...]  # the columns of the rows

    @staticmethod
    def of(labels: Labels) -> FileNumbers:
        """The numbers of the files of *labels*."""
        columns: dict[str, Values] = {"rows": np.diff(np.append(labels.starts, len(labels)))}
        if len(labels):
            for measure in (
                _ranges, _zeros, _counted, _angles, _vectors, _classes, _steps, _changes, _restarts, _distances,
                _line_ends,
            ):  # fmt: skip
                columns.update(measure(labels))
        return FileNumbers(columns, tuple(labels.reading.table.column_names))

    @staticmethod
    def joined(some: Sequence[FileNumbers]) -> FileNumbers:
        """Those of all parts, in their order; numbers that a part does not have are unknown, or 0."""
        sizes = [len(one.columns["rows"]) for one in some]
        columns: dict[str, Values] = {}
        for name in dict.fromkeys(name for one in some for name in one.columns):
            like = next(one.columns[name] for one in some if name in one.columns)
            missing = np.nan if like.dtype.kind == "f" else 0
            columns[name] = np.concatenate([
                one.columns[name] if name in one.columns else np.full((size, *like.shape[1:]), missing)
                for one, size in zip(some, sizes, strict=True)
            ])  # fmt: skip
        return FileNumbers(columns, tuple(dict.fromkeys(field for one in some for field in one.fields)))


class Profile:
    """The label files of one format in a whole dataset, as the rules for misreadings see them.

    Args:
        format: of the files.
        named: whether the user chose it.
        numbers: of the files that have rows.
        clips: of these files.
        reference: what is expected, with the label frames of clips where it has them.
        texts: returns samples of the content of all files.
        column: returns a column of the rows of one file, by its number.
    """

    def __init__(
        self, format: LabelFormat, named: bool, numbers: FileNumbers, clips: Sequence[str],
        reference: Reference | None, texts: Callable[[], list[TextFile]], column: Callable[[int, str], Values],
    ) -> None:  # fmt: skip
        self.format = format
        self.dialect = format if isinstance(format, Dialect) else None
        self.named, self.numbers, self.clips = named, numbers, clips
        expected = reference.clips if reference is not None else {}
        self.lengths = {clip: frames for clip, frames in expected.items() if frames is not None}
        #: whether labels of a reference say where clips end, which decides how long frames are (SUB119)
        self.ended = reference is not None and bool(reference.labelled)
        self.texts, self.column = texts, column
        self.rows: Ints = numbers.columns["rows"]
        #: the columns of the rows; none if there is no row
        self.fields = frozenset(numbers.fields if len(self.rows) else ())
        #: set if the files are in a different format altogether: all other rules are skipped then
        self.foreign = False
        self._explained: dict[str, Bools] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def total(self) -> int:
        """The number of all rows."""
        return int(self.rows.sum())

    def number(self, name: str) -> Values:
        """One of the numbers of all files; 0 if unknown."""
        return self.numbers.columns.get(name, np.zeros(len(self)))

    def low(self, field: str) -> Values:
        """The smallest value of *field* in each file."""
        return self.number(f"{field}.low")

    def high(self, field: str) -> Values:
        """The largest value of *field* in each file."""
        return self.number(f"{field}.high")

    def reach(self, field: str) -> Values:
        """The largest absolute value of *field* in each file."""
        return np.maximum(self.high(field), -self.low(field))

    def explain(self, files: Iterable[int] | Bools, *fields: str) -> list[int]:
        """Record that a misreading explains the values of *fields* in *files*: no findings on ranges there.

        Files are numbers or a mask over all files; their numbers are returned.
        """
        numbers: list[int] = np.flatnonzero(files).tolist() if isinstance(files, np.ndarray) else list(files)
        for field in fields:
            self._explained.setdefault(field, np.zeros(len(self), dtype=bool))[numbers] = True
        return numbers

    def explained(self, field: str) -> Bools:
        """For each file, whether a misreading explains *field*."""
        return self._explained.get(field, np.zeros(len(self), dtype=bool))

    @property
    def every(self) -> range:
        """The numbers of all files."""
        return range(len(self))


# --- the numbers of files ---------------------------------------------------------------------------------------


def _sums(labels: Labels, values: Values) -> Values:
    return np.add.reduceat(values, labels.starts, dtype=np.float64 if values.dtype.kind == "f" else np.int64)


def _ranges(labels: Labels) -> dict[str, Values]:
    """The smallest and the largest value, and how many are none that the column can hold."""
    found = {}
    for field, (least, most) in NUMBERS.items():
        if field in labels.fields:
            found[f"{field}.low"], found[f"{field}.high"] = low, high = labels.low(field), labels.high(field)
            if not ((low >= least) & (high <= most)).all():
                values = labels.column(field)
                found[f"{field}.strays"] = _sums(labels, (values < least) | (values > most))
    return found


def _zeros(labels: Labels) -> dict[str, Values]:
    """Whether every cell is 0."""
    if labels.dialect is None or not {"frame", "azimuth"} <= labels.fields or "class_name" in labels.fields:
        return {}
    empty = np.ones(len(labels.filled), dtype=bool)
    for part in labels.dialect.columns:
        if part.field in labels.fields and part.kind != "flag" and empty.any():
            empty &= (labels.low(part.field) == 0) & (labels.high(part.field) == 0)
    return {"zeros": empty}


def _counted(labels: Labels) -> dict[str, Values]:
    """Whether the first row counts the columns, from 0."""
    dialect = labels.dialect
    if dialect is None or dialect.header is not None or "class_name" in labels.fields:
        return {}
    if not labels.fields.issuperset(part.field for part in dialect.columns):
        return {}
    counted = np.ones(len(labels.filled), dtype=bool)
    for number, part in enumerate(dialect.columns):
        unit = dialect.metre or 1 if part.field == "distance" else 1
        counted &= np.abs(labels.column(part.field)[labels.starts] - number / unit) < 1e-6
    return {"counted": counted}


def _angles(labels: Labels) -> dict[str, Values]:
    """How azimuths and elevations lie."""
    if "azimuth" not in labels.fields:
        return {}
    azimuth, files = labels.column("azimuth"), len(labels.filled)
    low, high = labels.low("azimuth"), labels.high("azimuth")
    whole = np.ones(len(labels), dtype=bool) if "azimuth" in labels.reading.whole else azimuth == np.rint(azimuth)
    found = {"azimuth.whole": _sums(labels, whole)}
    if ((low >= 0) & (high > 180)).any():
        found["azimuth.beyond"] = _sums(labels, azimuth > 180)
    if (np.maximum(high, -low) < 180).any():
        near = np.flatnonzero((np.abs(azimuth) <= NEAR) & whole)
        owners = labels.owners(near)
        bins = owners * (2 * NEAR + 1) + azimuth[near].astype(np.int64) + NEAR
        found["azimuth.near"] = np.bincount(bins, minlength=files * (2 * NEAR + 1)).reshape(files, -1)
    if "elevation" not in labels.fields:
        return found
    elevation = labels.column("elevation")
    lowest, highest = labels.low("elevation"), labels.high("elevation")
    close = (np.maximum(high, -low) <= 3.15) & (np.maximum(highest, -lowest) <= 1.58)
    if close.any():
        found["angles.decimals"] = _sums(labels, ~whole | (elevation != np.rint(elevation)))
    medians, beyond = np.zeros(files), np.zeros(files, np.int64)
    asked = (lowest >= 0) & (highest >= 45) & (highest <= 180)  # LAB314 asks for medians from 45 on
    for index in np.flatnonzero(asked).tolist():
        own = elevation[labels.rows_of(index)]
        medians[index], beyond[index] = np.median(own), np.count_nonzero(own > 90)
    return found | {"elevation.median": medians, "elevation.over": beyond}


def _vectors(labels: Labels) -> dict[str, Values]:
    """The lengths of the rows as vectors, where angles and distance are close to 0."""
    fields = labels.fields
    if labels.dialect is None or not {"azimuth", "elevation", "distance"} <= fields or "x" in fields:
        return {}
    found = {"norm.low": np.full(len(labels.filled), np.nan), "norm.high": np.full(len(labels.filled), np.nan)}
    for index in np.flatnonzero(np.maximum(labels.high("azimuth"), -labels.low("azimuth")) < 1.8).tolist():
        rows = labels.rows_of(index)
        axes = np.stack([labels.column(field)[rows] for field in ("azimuth", "elevation", "distance")])
        axes[2] *= labels.dialect.metre or 1
        norm, values = np.sqrt((axes**2).sum(axis=0)), axes[0]
        if len(values) >= 3 and np.mean(values != np.rint(values)) >= 0.8 and norm.max() < 1.8:
            found["norm.low"][index], found["norm.high"][index] = norm.min(), norm.max()
    return found


def _classes(labels: Labels) -> dict[str, Values]:
    """How many rows have the number after the last class."""
    if "class_id" not in labels.fields:
        return {}
    return {"class_id.behind": _sums(labels, labels.column("class_id") == len(vocabulary(labels.format.vocabulary)))}


def _steps(labels: Labels) -> dict[str, Values]:
    """The greatest common divisor of the frame numbers; 0 if there are few."""
    if "frame" not in labels.fields:
        return {}
    frames, steps = labels.column("frame"), np.zeros(len(labels.filled), np.int64)
    for index in range(len(steps)):
        own = frames[labels.rows_of(index)]
        if len(own) >= _FRAMES and not (np.diff(own[: 2 * _FRAMES]) == 1).any():
            distinct = np.unique(own)
            steps[index] = np.gcd.reduce(distinct) if len(distinct) >= _FRAMES else 0
    return {"frame.step": steps}


_NUMBERS = ("azimuth", "class_id", "distance", "elevation", "score", "source", "x", "y", "z")


def _changes(labels: Labels) -> dict[str, Values]:
    """How many frames have other rows than the frame before, by the last digit of their numbers; without frame 0."""
    if "frame" not in labels.fields:
        return {}
    marks = np.zeros(len(labels), np.uint64)  # of the content of rows; those of a frame are added up, in any order
    for field in _NUMBERS:  # which say enough
        if field in labels.fields:
            bits = np.ascontiguousarray(labels.ordered(field), np.float64).view(np.uint64)
            marks = (marks ^ (bits >> np.uint64(29)) ^ bits) * np.uint64(0x9E3779B97F4A7C15)
    marks ^= marks >> np.uint64(31)
    starts = labels.frame_starts[:-1]
    content = np.add.reduceat(marks * np.uint64(0xBF58476D1CE4E5B9), starts)
    frames, owners = labels.ordered("frame")[starts], labels.owners(starts)
    same_file, follows = owners[1:] == owners[:-1], frames[1:] == frames[:-1] + 1
    begins = np.append(True, ~same_file | ~follows | (content[1:] != content[:-1]))
    ends = np.append(same_file & ~follows, False)  # no rows in the next frame, and some later on
    changed = np.concatenate((frames[begins & (frames != 0)], frames[ends] + 1)).astype(np.int64)
    files = np.concatenate((owners[begins & (frames != 0)], owners[ends]))
    counts = np.bincount(files * 10 + changed % 10, minlength=10 * len(labels.filled))
    return {"frame.changes": counts.reshape(-1, 10)}


def _restarts(labels: Labels) -> dict[str, Values]:
    """How often frames go back; and if they start over each time, with many sources in two places, how often that.

    Rows of one clip in any order go back often, by little; in runs by class, by source or by track they start over,
    but only a clip whose sources have no numbers of their own then has one source in two places at once.
    """
    if "frame" not in labels.fields or not len(labels.unsorted):
        return {}
    owners = labels.owners(labels.unsorted)
    breaks = np.bincount(owners, minlength=len(labels.filled))
    if not labels.has("class_id", "source") or (labels.dialect is not None and "source" in labels.dialect.fills):
        return {"frame.breaks": breaks}
    falls = labels.column("frame")[labels.unsorted - 1] - labels.column("frame")[labels.unsorted]
    far = falls > np.maximum(_FRAMES, (labels.high("frame") - labels.low("frame")) / 2)[owners]
    first, second = map(labels.rows, labels.twins_apart)
    twins = np.bincount(labels.owners(second[labels.pieces[first] != labels.pieces[second]]), minlength=len(breaks))
    numbered = labels.high("source") > labels.low("source")
    restarts = (np.bincount(owners, far, len(breaks)) == breaks) & (twins >= _FRAMES) & numbered
    return {"frame.breaks": breaks, "frame.restarts": breaks * restarts}


def _distances(labels: Labels) -> dict[str, Values]:
    """The largest known distance, and how many are larger than rooms, as metres and as millimetres."""
    metre = labels.dialect.metre if labels.dialect is not None else None
    if metre is None or "distance" not in labels.fields:
        return {}
    distance = labels.column("distance")
    far, farthest = millimetre_bounds(metre)
    return {
        "distance.most": np.fmax.reduceat(distance, labels.starts),
        "distance.known": _sums(labels, distance > 0),
        "distance.far": _sums(labels, distance > far),
        "distance.beyond": _sums(labels, distance >= farthest),
    }


def millimetre_bounds(metre: int) -> tuple[float, float]:
    """The range, in metres, of the median distance if millimetres were read in the unit of a format."""
    return (10 if metre == 100 else 800), 20_000 / metre


def _line_ends(labels: Labels) -> dict[str, Values]:
    """Whether the last row has a line ending, and whether it is the last line of its file without one."""
    parts = [labels.parts[number] for number in labels.filled]
    ends = np.array([part.origin.final_newline for part in parts])
    cut_off = [
        labels.dialect is not None  # what has no lines, such as JSON, ends as its syntax says
        and not part.origin.final_newline
        and int(part.lines(np.array([part.rows - 1]))[0]) == part.file.data.count(b"\n") + 1
        for part in parts
    ]
    return {"ends": ends, "cut_off": np.array(cut_off)}
