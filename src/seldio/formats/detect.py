"""Which format is this? Evidence for and against each layout, and no guess where it does not decide.

Every layout with the right number of columns is a candidate and collects points, each with the
sentence that explains it. A candidate wins when it leads every other one *that means something
else* by ``MARGIN`` points. Layouts that agree on the meaning of every column and differ in nothing
but the class list (STARSS22 and 2020) do not compete for that; between them the points decide, and
:attr:`Detection.alike` names the others.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from seldio import clock
from seldio.formats import shapes
from seldio.formats.base import Format, TextFile
from seldio.formats.datasets import DATASETS, LabelSign
from seldio.formats.dialects import DIALECTS
from seldio.formats.evidence import SAMPLE, Column, Sample, Taken, summed, taken
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import Shape
from seldio.text import plural
from seldio.vocabularies import vocabulary

MARGIN = 2.0
#: Rows from which on what all of them have in common is no accident.
ENOUGH = 30
#: With fewer rows than this, an angle out of range may be a slip as well as another layout.
FEW = 5
#: Share of rows that may hold what no row can, before that speaks of another layout.
_FEW_STRAYS = 0.005
#: Vectors longer than this are no directions with an activity for their length.
LONGEST = 3.0
#: Points at which a candidate is out of the question.
OUT = -100.0

Mark = tuple[float, str]


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A format with the points it collected and the sentences that explain them."""

    format: Dialect
    points: float
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        why = "; ".join(self.evidence) or "its number of columns"
        return f"{self.format.name} ({why})"


@dataclasses.dataclass(frozen=True)
class Detection:
    """What a group of files seems to be.

    Args:
        format: the format, or None where the evidence does not decide or nothing fits.
        candidates: what it may be, best first, each with its evidence.
        alike: formats that cannot be ruled out: those that mean the same by every column, and one of
            another meaning that is less than twice ``MARGIN`` behind, or four times where rows are few.
        empty: no file has a row, so that nothing can be told and nothing needs to be.
        sample: what was seen.
        possible: all that is not out of the question, best first.
    """

    format: Dialect | None
    candidates: tuple[Candidate, ...]
    alike: tuple[Dialect, ...]
    empty: bool
    sample: Sample
    possible: tuple[Candidate, ...] = ()

    @property
    def evidence(self) -> str:
        """Why :attr:`format` was chosen, in one line."""
        return "; ".join(self.candidates[0].evidence) if self.format and self.candidates else ""


def detect(files: Sequence[TextFile]) -> Detection:
    """Tell the format of label files that belong together (one folder, one layout)."""
    lines = taken(files)
    sample = summed(lines)
    if not sample.rows and not sample.header:
        return Detection(None, (), (), True, sample)
    if _may_be_shaped(sample) or any('"' in row for file in lines for row in file.rows):
        for shape in shapes.possible([file.cells for file in lines]):
            if (found := _ranked(summed(lines, shape))).possible:
                return found
    found = _ranked(sample)
    return found if found.possible or not sample.rows else _behind(lines) or found


def shape_of(lines: Sequence[str], dialect: Dialect) -> Shape | None:
    """What is between the lines of a whole file and *dialect*; None where it is nothing that has a name.

    Decimals with a comma may be joined in several ways: the one that makes the likeliest rows is it, and is certain
    where it leads every other one.
    """
    first = lines[0].split(",") if lines else []
    titled = shapes.titled(first)
    rows = [line.split(",") for line in lines[titled:]]
    found = list(shapes.between(first if titled else [], rows, dialect))
    if not found or found[0].code != "SYN125" or any('"' in line for line in lines):
        return found[0] if found else None
    file = Taken("", (), tuple(",".join(row) for row in rows[:: max(1, len(rows) // SAMPLE)]), False)
    if _ranked(summed([file])).possible:  # another layout has as many columns
        return None
    ranked = sorted(((judge(dialect, summed([file], shape)).points, n) for n, shape in enumerate(found)), reverse=True)
    certain = len(rows) >= FEW and (len(found) == 1 or ranked[0][0] >= ranked[1][0] + MARGIN)
    return dataclasses.replace(found[ranked[0][1]], fixable=certain)


def _may_be_shaped(sample: Sample) -> bool:
    """Whether there may be a comma behind every row or an index before it; a look at the sample, as nearly none has."""
    first, second, *_, last = sample.columns if len(sample.columns) > 2 else (None, None, None)
    if first is None or second is None or last is None:
        return False
    empty = not len(last.values) and not last.words
    return empty or sample.indexed or (first.whole and len(np.unique(second.values)) >= shapes.ENOUGH)


def _behind(lines: Sequence[Taken]) -> Detection | None:
    """The layout behind rows in another shape; with no format where there are several."""
    tried = shapes.doubtful([file.cells for file in lines], DIALECTS)
    found = [one for shape, those in tried if (one := _ranked(summed(lines, shape), those)).possible]
    if not found:
        return None
    best, *others = sorted(found, key=lambda one: -one.possible[0].points)
    near = [one for one in others if one.possible[0].points > best.possible[0].points - MARGIN]
    if all(_agree(one, best) for one in near):
        return best
    candidates = {one.possible[0].format.name: one.possible[0] for one in reversed((best, *near))}
    return dataclasses.replace(best, format=None, candidates=tuple(reversed(candidates.values())))


def _agree(one: Detection, other: Detection) -> bool:
    """Whether two ways to see rows lead to the same values."""
    same = means_the_same(one.possible[0].format, other.possible[0].format)
    return same and [c.values.tolist() for c in one.sample.columns] == [c.values.tolist() for c in other.sample.columns]


def _ranked(sample: Sample, dialects: Sequence[Dialect] = DIALECTS) -> Detection:
    """What a sample seems to be, of these layouts."""
    if sample.indexed:
        return Detection(None, (), (), False, sample)
    ranked = sorted((judge(dialect, sample) for dialect in dialects), key=lambda c: -c.points)
    possible = tuple(candidate for candidate in ranked if candidate.points > OUT / 2)
    if not possible:
        return Detection(None, (), (), False, sample)
    best = possible[0]
    others = [c for c in possible[1:] if not means_the_same(c.format, best.format)]
    # angles in radians have decimals where whole degrees are due: that does not speak for another layout
    reach = 4 * MARGIN if _like_radians(best.format, sample) else MARGIN
    alike = tuple(
        c.format for c in possible[1:] if means_the_same(c.format, best.format) and c.points > best.points - reach
    )
    lead = best.points - others[0].points + 1e-9 if others else 2 * MARGIN
    close = tuple(c for c in possible if c.points > best.points - MARGIN)
    if lead < MARGIN:
        return Detection(None, close, alike, False, sample, possible)
    if others and lead < (4 if sample.rows < FEW else 2) * MARGIN:
        alike += (others[0].format,)
    return Detection(best.format, possible, alike, False, sample, possible)


def _like_radians(dialect: Dialect, sample: Sample) -> bool:
    """Whether azimuths and elevations could be radians."""
    places = [dialect.index(field) for field in ("azimuth", "elevation")] if dialect.index("x") is None else []
    seen = [sample.columns[at] for at in places if at is not None and at < len(sample.columns)]
    near = [len(c.values) and np.abs(c.values).max() <= limit for c, limit in zip(seen, (3.15, 1.58), strict=False)]
    return len(seen) == 2 and all(near) and not all(c.whole for c in seen)


def closest(sample: Sample) -> str:
    """What speaks against the layouts with as many columns that come closest, where none fits; or nothing."""
    near = [(dialect, list(_marks(dialect, sample))) for dialect in DIALECTS if len(dialect.columns) == sample.width]
    near.sort(key=lambda one: -sum(points for points, _ in one[1] if points > OUT))  # one reason says enough
    reasons: dict[str, str] = {}
    for dialect, marks in near:
        against = next((text for points, text in marks if points <= OUT), "")
        if against and against not in reasons.values():
            reasons[dialect.name] = against
    return "; ".join(f"it is no {name} ({why})" for name, why in list(reasons.items())[:3])


def means_the_same(one: Format, other: Format) -> bool:
    """Whether two layouts agree on what every column means, class lists and number formats aside."""
    return (
        isinstance(one, Dialect)
        and isinstance(other, Dialect)
        and [c.field for c in one.columns] == [c.field for c in other.columns]
        and (one.metre, one.hop, one.header) == (other.metre, other.hop, other.header)
        and not any(
            "zero" in (a.kind, b.kind) and a.kind != b.kind for a, b in zip(one.columns, other.columns, strict=True)
        )
    )


def judge(dialect: Dialect, sample: Sample) -> Candidate:
    """The points of *dialect* for what was seen."""
    marks = list(_marks(dialect, sample))
    return Candidate(dialect, sum(points for points, _ in marks), tuple(text for points, text in marks if text))


def _marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    if sample.width != len(dialect.columns):
        yield OUT, f"{plural(sample.width, 'column')}, not {len(dialect.columns)}"
        return
    yield from _header_marks(dialect, sample)
    if dialect.header is not None and sorted(sample.header) == sorted(dialect.header.lower().split(",")):
        return  # columns that are named are not told by what stands in them
    for number, (part, seen) in enumerate(zip(dialect.columns, sample.columns, strict=False), 1):
        if part.kind == "name":
            yield ((OUT, f"column {number} holds numbers") if len(seen.values) > seen.words else (3, "class names"))
        elif seen.words > len(seen.values):
            yield OUT, f"column {number} holds words"
        elif len(seen.values):
            yield from _number_marks(part.kind, seen, f"column {number}")
            yield from _FIELDS[part.field](dialect, seen, f"column {number}")
    if dialect.columns[-1].field == "z" or "x" in dialect.carries:
        yield from _norm_marks(dialect, sample)
    if dialect.hop == clock.HOP_2019:
        yield from _grid_marks(dialect, sample)
    if dialect.newline == "\r\n":
        yield (1, "CR LF line ends") if sample.crlf else (-1, "LF line ends")
    yield from _name_marks(dialect, sample)


def _header_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    header = ",".join(sample.header)
    if dialect.header is not None:
        if header == dialect.header.lower():
            yield 8, "its header line"
        elif sorted(sample.header) == sorted(dialect.header.lower().split(",")):
            yield 8, "the names of its header line, in another order"
        else:
            yield (OUT if header else -4), "another header" if header else "no header line"
    elif header:
        words = [_WORDS.get(part.field, part.field) for part in dialect.columns]
        fits = sum(name.startswith(word) for name, word in zip(sample.header, words, strict=False))
        yield (2, "the names in its first line") if fits == len(words) else (-2, "a first line with names")


_WORDS = {"class_id": "class", "distance": "dist"}


def _number_marks(kind: str, seen: Column, where: str) -> Iterator[Mark]:
    if kind in ("int", "flag"):
        if not seen.whole:
            yield _strays(seen.values != np.rint(seen.values)), f"{where} has decimals"
        elif seen.decimals:
            yield -1, f"{where} is written with decimal points"
    elif kind == "whole" and seen.decimals and not seen.whole:
        yield -3, f"{where} has decimals"
    elif kind in ("real", "real3", "real3inf") and not seen.decimals:
        yield -3, f"{where} has no decimals"


def _strays(wrong: np.ndarray[Any, np.dtype[np.bool_]]) -> float:
    """The points where some values cannot be: a few rows among thousands are mistakes, which rules tell."""
    return -2 if wrong.mean() <= _FEW_STRAYS else OUT


def _share(seen: Column) -> float:
    """How much what the values have in common tells: few rows tell little."""
    return min(1.0, len(seen.values) / ENOUGH)


def _range(seen: Column) -> str:
    """``only 3``, or ``0 to 3``."""
    low, high = seen.values.min(), seen.values.max()
    return f"only {_number(low)}" if low == high else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")


def _frame(dialect: Dialect, seen: Column, _: str) -> Iterator[Mark]:
    if dialect.clip_frames and seen.values.max() >= dialect.clip_frames:
        yield -3, f"frames go up to {_number(seen.values.max())}, its clips have {dialect.clip_frames}"


def _class(dialect: Dialect, seen: Column, _: str) -> Iterator[Mark]:
    highest, classes = seen.values.max(), len(vocabulary(dialect.vocabulary))
    if highest >= classes:
        yield -3, f"class numbers go up to {_number(highest)}, its classes to {classes - 1}"


def _source(dialect: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    low, high = seen.values.min(), seen.values.max()
    if low < -1 or high > 60:
        yield _strays((seen.values < -1) | (seen.values > 60)), f"{where} holds {_range(seen)}: no source numbers"
    elif low < 0:
        track = dialect.fills.get("source") == low
        yield (2, f"tracks are {_number(low)}") if track else (-2, f"{where} holds {_number(low)}")
    elif high <= 15:
        # a single azimuth is hardly ever 0, a source number often
        yield 2 * (_share(seen) if high else 1), f"{where} holds {_range(seen)}: source numbers"


def _azimuth(dialect: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    low, high = seen.values.min(), seen.values.max()
    if max(-low, high) > 360:
        yield _strays(np.abs(seen.values) > 360), f"{where} holds {_range(seen)}: no azimuths"
    elif low >= 0 and high <= 15 and seen.whole and dialect.index("source") is None:
        yield -2 * (_share(seen) if high else 1), f"{where} holds {_range(seen)}: hardly azimuths"
    elif max(-low, high) <= 1.75 and seen.decimals:
        yield -2 * _share(seen), f"{where} stays within ±{_number(max(-low, high))}"
    elif max(-low, high) > 90 and not dialect.folded:
        yield 1, f"{where} holds {_range(seen)}: azimuths"


def _elevation(_: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    outside = 1 - seen.share(-90, 90)
    if outside:
        many = outside > 0.05 and len(seen.values) >= FEW
        yield (-6 if many else -3 if outside > 0.05 else -1), f"{where} holds {_range(seen)}: no elevations"
    elif seen.values.min() < 0:
        yield 1, f"{where} has values below 0 and within ±90: elevations"


def _distance(dialect: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    low, high = seen.values.min(), seen.values.max()
    if dialect.kind("distance") == "zero":
        zero = (1, f"{where} is always 0") if seen.decimals else (3, f"{where} is the constant 0")
        yield zero if not seen.values.any() else (OUT, f"{where} is not constant 0")
    elif low < 0 and low != dialect.unknown_distance:
        strays = _strays((seen.values < 0) & (seen.values != (dialect.unknown_distance or 0)))
        yield strays, f"{where} goes down to {_number(low)}: no distances"
    elif dialect.metre == 1 and high > 40:
        yield -6, f"{where} goes up to {_number(high)}: no metres"
    elif dialect.metre == 100 and low >= 0 and high <= 1:
        # what a system puts out may be 0 here and there
        doubt = 1 if dialect.role == "label" else _share(seen)
        yield -1 - 3 * doubt, f"{where} holds {_range(seen)}: hardly centimetres"
    elif dialect.metre == 100:
        yield (1, f"{where} goes up to {_number(high)}: centimetres") if high > 40 else (
            -1, f"{where} goes up to {_number(high)} only: few centimetres"
        )  # fmt: skip
    elif not seen.values.any():
        yield -2 * _share(seen), f"{where} is always 0"


def _axis(_: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    if np.abs(seen.values).max() > LONGEST:
        yield _strays(np.abs(seen.values) > LONGEST), f"{where} holds {_range(seen)}: no unit vectors"


def _onscreen(_: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    if np.isin(seen.values, (0, 1)).all():
        yield 1 + _share(seen), f"{where} holds {_range(seen)}: in the picture or not"
    else:
        yield -6, f"{where} is not 0 or 1"


def _time(_: Dialect, seen: Column, where: str) -> Iterator[Mark]:
    if (seen.values < 0).any():
        yield -3, f"{where} holds times before 0"


_FIELDS: dict[str, Callable[[Dialect, Column, str], Iterator[Mark]]] = {
    "frame": _frame, "class_id": _class, "source": _source, "azimuth": _azimuth, "elevation": _elevation,
    "distance": _distance, "x": _axis, "y": _axis, "z": _axis, "onscreen": _onscreen, "onset": _time,
    "offset": _time,
}  # fmt: skip


def _norm_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    at = dialect.index("x")
    if at is None or len(sample.columns) < at + 3:
        return
    axes = [column.values for column in sample.columns[at : at + 3]]
    if len({len(axis) for axis in axes}) == 1 and len(axes[0]):
        norm = np.sqrt(sum(axis * axis for axis in axes))
        where = f"columns {at + 1} to {at + 3}"
        if norm.max() < LONGEST:
            yield 2, f"{where} are vectors of norm {norm.min():.2f} to {norm.max():.2f}"
        else:
            yield _strays(norm >= LONGEST), f"{where} have norms up to {_number(norm.max())}: no unit vectors"


def _grid_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    """In 2019 all directions were multiples of 10°."""
    places = (dialect.index("azimuth"), dialect.index("elevation"))
    angles = [sample.columns[at].values for at in places if at is not None and at < len(sample.columns)]
    if not all((values % 10 == 0).all() for values in angles):
        yield -4, "directions are not on the 10° grid of 2019"
    elif angles and (steps := len(np.unique(angles[0]))):
        yield min(3.0, steps / 3), "directions are on the 10° grid of 2019"


#: What the paths of label files say: of one year or data set in its row, and of all of them.
_SIGNS: tuple[LabelSign, ...] = (
    LabelSign(r"fold[1-6]_room\d+_mix\d+\.", r"starss2.|dcase2020", 0.5, "development file names"),
    LabelSign(r"(^|/)mix\d{3}\.", r".*-submission|.*-output", 0.5, "evaluation file names (mix…)"),
    *(sign for row in DATASETS for sign in row.label_signs),
    LabelSign(r"(?i)metadata", r"starss2.|dcase20(19|20|25)|spatialscaper", 0.5, "a metadata folder"),
    LabelSign(r"(?i)subm|predict|output|result", r".*-(submission|output)", 0.5, "the folder's name"),
)


def _name_marks(dialect: Dialect, sample: Sample) -> Iterator[Mark]:
    for pattern, dialects, points, sentence in _SIGNS:
        if re.fullmatch(dialects, dialect.name) and all(re.search(pattern, name) for name in sample.names):
            yield points, sentence


# --- a given format that the content contradicts ---------------------------------------------------


def explain_width(file: TextFile, given: Dialect, width: int) -> tuple[str, str, str]:
    """Code, message and hint of a file whose rows have *width* cells, where *given* has another number of columns."""
    message = f"every row has {plural(width, 'cell')}, {given.name} has {len(given.columns)} columns"
    found = detect([file])
    names = [candidate.format.name for candidate in found.candidates[:4]]
    if found.format is None:
        seems = f"it may be {' or '.join(names)}" if names else "no layout that seldio knows has these columns"
        return "SYN121", message, f"{seems}; seldio formats lists the layouts"
    best = found.format
    evidence = f" ({'; '.join(found.candidates[0].evidence)})" if found.candidates[0].evidence else ""
    hint = f"read it with --format {best.name}{evidence}, or convert it with seldio convert"
    if given.role == "submission" and best.role == "label":
        return "LAB309", f"{message}: this is a label file ({best.name}), not a submission", hint
    if given.role == "submission":
        return "LAB310", f"{message}: these are {best.title.split(':')[0]}", hint
    return "SYN121", f"{message}; it looks like {best.name}", hint
