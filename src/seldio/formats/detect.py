"""Which format is this? Evidence for and against each format, and no guess where it does not decide.

Every format with the right number of columns is a candidate and collects points, each with the
sentence that explains it. A candidate wins when it leads every other one *that means something
else* by ``MARGIN`` points. Formats that agree on the meaning of every column and differ in nothing
but the class list (STARSS22 and 2020) do not compete for that; between them the points decide, and
:attr:`Detection.alike` names the others.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

import numpy as np

from seldio.findings import Sink
from seldio.formats import shapes
from seldio.formats.base import LabelFormat, Role, TextFile
from seldio.formats.dialects import DIALECTS, OUTSIDE
from seldio.formats.evidence import ENOUGH, FEW, OUT, SAMPLE, Sample, SampledFile, marks, misfits, sample_of, sampled
from seldio.formats.label_csv import Dialect
from seldio.formats.shapes import Shape
from seldio.reader_rules import READER_RULES
from seldio.text import plural

#: Points by which a format has to lead others.
MARGIN = 2.0
#: Columns of the widest format and one more; in wider rows there is no one column too many.
_WIDEST = max(len(dialect.columns) for dialect in DIALECTS) + 1


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
    """What a group of files seems to be."""

    sample: Sample  # what was seen
    format: Dialect | None = None  # None where the evidence does not decide or nothing fits
    candidates: tuple[Candidate, ...] = ()  # what it may be, best first, each with its evidence
    #: formats that cannot be ruled out: those that mean the same by every column, and one of another meaning that is
    #: less than twice ``MARGIN`` behind, or four times where rows are few
    alike: tuple[Dialect, ...] = ()
    possible: tuple[Candidate, ...] = ()  # all that is not out of the question, best first
    empty: bool = False  # no file has a row, so that nothing can be told and nothing needs to be
    foreign: bool = False  # most cells are words: read as labels, every one of them would be a finding

    @property
    def evidence(self) -> str:
        """Why :attr:`format` was chosen, in one line."""
        return "; ".join(self.candidates[0].evidence) if self.format and self.candidates else ""


def detect(files: Sequence[TextFile]) -> Detection:
    """Tell the format of label files that belong together (one folder, one format)."""
    lines = sampled(files)
    sample = sample_of(lines)
    if not sample.rows and not sample.header:
        return Detection(sample, empty=True)
    made = list(_named_confidence(sample.header))
    if _may_be_shaped(sample) or any('"' in row for file in lines for row in file.rows):
        made += shapes.possible([file.cells for file in lines])
    for shape in made:
        if (found := _ranked(sample_of(lines, shape))).possible:
            return found
    found = _ranked(sample)
    if not sample.rows:
        return found
    return found if found.possible else _behind(lines) or _misplaced(lines, sample) or found


def _named_confidence(header: Sequence[str]) -> Iterator[Shape]:
    """Return the column that a header calls a confidence, if it is one and no format has this header."""
    if not header or any(dialect.header == ",".join(header) for dialect in DIALECTS):
        return
    from seldio.formats import columns

    yield from columns.named(list(header))


def shape_of(lines: Sequence[str], dialect: Dialect) -> Shape | None:
    """What is between the lines of a whole file and *dialect*; None where it is nothing that has a name.

    Decimals with a comma may be joined in several ways: the one that makes the likeliest rows is it, and is certain
    where it leads every other one.
    """
    first = lines[0].split(",") if lines else []
    titled = shapes.titled(first)
    rows = [line.split(",") for line in lines[titled:]]
    quotes = any('"' in line for line in lines)
    file = SampledFile("", (), tuple(",".join(row) for row in rows[:: max(1, len(rows) // SAMPLE)]), False)
    found = list(shapes.between(first if titled else [], rows, dialect, quotes))
    if not found and rows and len(rows[0]) == len(dialect.columns) + 1:
        found = list(_named_confidence(first))
    code = found[0].code if found else None
    if code != "SYN145" and (code != "SYN125" or quotes):
        return found[0] if found else None
    if code == "SYN125" and _ranked(sample_of([file])).possible:  # another format may have as many columns
        return None
    ranked = sorted(
        ((judge(dialect, sample_of([file], shape)).points, n) for n, shape in enumerate(found)), reverse=True
    )
    certain = len(rows) >= FEW and (len(found) == 1 or ranked[0][0] >= ranked[1][0] + MARGIN)
    return dataclasses.replace(found[ranked[0][1]], fixable=certain and ranked[0][0] > OUT / 2)


def _may_be_shaped(sample: Sample) -> bool:
    """Whether there may be a comma behind every row or an index before it; a look at the sample, as nearly none has."""
    first, second, *_, last = sample.columns if len(sample.columns) > 2 else (None, None, None)
    if first is None or second is None or last is None:
        return False
    empty = not len(last.values) and not last.words
    return empty or sample.indexed or (first.whole and len(set(second.values.tolist())) >= shapes.ENOUGH)


def _behind(lines: Sequence[SampledFile]) -> Detection | None:
    """The format behind rows in another shape; with no format where there are several."""
    tried = shapes.doubtful([file.cells for file in lines], DIALECTS)
    found = [one for shape, those in tried if (one := _ranked(sample_of(lines, shape), those)).possible]
    if not found:
        return None
    best, *others = sorted(found, key=lambda one: -one.possible[0].points)
    near = [one for one in others if one.possible[0].points > best.possible[0].points - MARGIN]
    values = [[column.values.tolist() for column in one.sample.columns] for one in (best, *near)]
    same = (means_the_same(one.possible[0].format, best.possible[0].format) for one in near)
    if all(same) and values.count(values[0]) == len(values):  # all ways to see the rows lead to the same values
        return best
    candidates = {one.possible[0].format.name: one.possible[0] for one in reversed((best, *near))}
    return dataclasses.replace(best, format=None, candidates=tuple(reversed(candidates.values())))


def _misplaced(lines: Sequence[SampledFile], sample: Sample) -> Detection | None:
    """Rows that fit a format without one of their columns, or with two of them exchanged; which is only said.

    What is in a column may be wrong as well, and the column in its place: then neither is.
    """
    few = [dataclasses.replace(file, rows=file.rows[:: max(1, len(lines) // 8)]) for file in lines]
    files = [file.cells[1] for file in lines if file.rows]
    if sum(map(len, files)) < ENOUGH or {len(row) for rows in files for row in rows} != {sample.width}:
        return None
    if sample.width > _WIDEST:
        return None
    from seldio.formats import columns

    wrong = [misfits(dialect, sample) for dialect in DIALECTS if len(dialect.columns) == sample.width]
    nothing: set[int] = set()
    surplus = [(one, nothing) for one in columns.surplus(files) if one.certain or {one.column} not in wrong]
    certain = [pair for pair in surplus if pair[0].certain]
    for tried in (certain, columns.exchanged(sample.width), surplus):
        ranked = [
            one for shape, places in tried
            if (one := _ranked(sample_of(few, shape))).format is not None
            and not misfits(one.format, one.sample)
            and (not places or places <= misfits(one.format, sample))
        ]  # fmt: skip
        values = [[column.values.tolist() for column in one.sample.columns] for one in ranked]
        if ranked and values.count(values[0]) == len(values):  # there is one way to make a format of them
            return dataclasses.replace(ranked[0], format=None, candidates=ranked[0].possible[:1])
    return None


def _ranked(sample: Sample, dialects: Sequence[Dialect] = DIALECTS) -> Detection:
    """What a sample seems to be, of these formats."""
    if sample.indexed:
        return Detection(sample)
    ranked = sorted((judge(dialect, sample) for dialect in dialects), key=lambda c: -c.points)
    possible = tuple(candidate for candidate in ranked if candidate.points > OUT / 2)
    if not possible:
        return Detection(sample)
    # the names of all columns, as only one format has them, are no coincidence
    possible = tuple(one for one in possible if sample.header and one.format.titles == sample.header) or possible
    best = possible[0]
    others = [c for c in possible[1:] if not means_the_same(c.format, best.format)]
    # angles in radians have decimals where whole degrees are due: that does not speak for another format
    reach = 4 * MARGIN if _like_radians(best.format, sample) else MARGIN
    alike = tuple(
        c.format for c in possible[1:] if means_the_same(c.format, best.format)
        and (c.points > best.points - reach or c.format in OUTSIDE)
    )  # fmt: skip
    lead = best.points - others[0].points + 1e-9 if others else 2 * MARGIN
    close = tuple(c for c in possible if c.points > best.points - MARGIN)
    if lead < MARGIN:
        return Detection(sample, None, close, alike, possible)
    if others and lead < (4 if sample.rows < FEW else 2) * MARGIN:
        alike += (others[0].format,)
    return Detection(sample, best.format, possible, alike, possible)


def _like_radians(dialect: Dialect, sample: Sample) -> bool:
    """Whether azimuths and elevations could be radians."""
    places = [dialect.index(field) for field in ("azimuth", "elevation")] if dialect.index("x") is None else []
    seen = [sample.columns[at] for at in places if at is not None and at < len(sample.columns)]
    near = [len(c.values) and np.abs(c.values).max() <= limit for c, limit in zip(seen, (3.15, 1.58), strict=False)]
    return len(seen) == 2 and all(near) and not all(c.whole for c in seen)


def closest(sample: Sample) -> str:
    """What speaks against the formats with as many columns that come closest, where none fits; or nothing."""
    near = [(dialect, list(marks(dialect, sample))) for dialect in DIALECTS if len(dialect.columns) == sample.width]
    near.sort(key=lambda one: -sum(points for points, _ in one[1] if points > OUT))  # one reason says enough
    reasons: dict[str, str] = {}
    for dialect, found in near:
        against = next((text for points, text in found if points <= OUT), "")
        if against and against not in reasons.values():
            reasons[dialect.name] = against
    return "; ".join(f"it is not {name} ({why})" for name, why in list(reasons.items())[:3])


def means_the_same(one: LabelFormat, other: LabelFormat) -> bool:
    """Whether two formats agree on what every column means, class lists and number formats aside."""
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
    found = list(marks(dialect, sample))
    return Candidate(dialect, sum(points for points, _ in found), tuple(text for _, text in found if text))


# --- a given format that the content contradicts ---------------------------------------------------


def explain_width(file: TextFile, named: Dialect, width: int) -> tuple[str, str, str]:
    """Code, message and hint of a file whose rows have *width* cells, where *named* has another number of columns."""
    message = f"every row has {plural(width, 'cell')}, but {named.name} has {len(named.columns)} columns"
    found = detect([file])
    names = [candidate.format.name for candidate in found.candidates[:4]]
    if found.format is None:
        seems = f"it may be {' or '.join(names)}" if names else "no known format has these columns"
        return "SYN121", message, f"{seems}; seldio formats lists the formats"
    best = found.format
    evidence = f" ({'; '.join(found.candidates[0].evidence)})" if found.candidates[0].evidence else ""
    hint = f"read it with --format {best.name}{evidence}, or convert it with seldio convert"
    if named.role == "submission" and best.role == "label":
        return "LAB309", f"{message}: this is a label file ({best.name}), not a submission", hint
    if named.role == "submission":
        return "LAB310", f"{message}: these are {best.title.split(':')[0]}", hint
    return "SYN121", f"{message}; it looks like {best.name}", hint


# --- a format where the content does not tell it: what files are wanted for speaks for one ----------

#: The finding that a format is likely and not certain.
CHOSEN = "SYN902"
#: Years after which a format is of another time.
ERA = 3
_NEVER = 10_000


def years(format: LabelFormat) -> tuple[int, ...]:
    """The years of the challenge that a format is of."""
    return () if format.years.startswith("since") else tuple(map(int, re.findall(r"\d{4}", format.years)))


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What files are likely to be."""

    roles: tuple[Role, ...]  # labels, or what systems write
    years: tuple[int, ...]  # of the challenge

    def rank(self, format: LabelFormat) -> tuple[bool, int]:
        """How well a format fits, the role before the year; more is better."""
        return format.role in self.roles, -self.apart(format)

    def apart(self, format: LabelFormat) -> int:
        """Years between a format and those wanted; many for one that is of no year."""
        return min((abs(one - other) for one in years(format) for other in self.years), default=_NEVER)


@dataclasses.dataclass(frozen=True)
class LayoutChoice:
    """What a group of files is read as, in view of what they are wanted for."""

    detection: Detection  # with the format, if there is one
    #: formats of another meaning that were left as well, where it was not the content that decided
    others: tuple[Dialect, ...] = ()

    def report(self, path: str, sink: Sink) -> None:
        """Say that there was a choice."""
        if self.detection.format is not None and self.others:
            names = " or ".join(dict.fromkeys(other.name for other in self.others))
            message = f"read as {self.detection.format.name}; the content also fits {names}"
            hint = f"if so, use --format {self.others[0].name}"
            sink(READER_RULES[CHOSEN].at(path, message, hint, 1))


def choose_layout(found: Detection, wanted: Wanted) -> LayoutChoice:
    """The format that fits *wanted* best among those that the content does not rule out.

    Where the content decides, that stands, unless it is for a format of another time, another one is not far behind
    and nothing speaks against that on the whole: outputs whose directions happen to lie on the grid of 2019. A format
    that fits no better than another one of another meaning is not chosen.
    """
    left = _left(found, wanted)
    if not left:
        return LayoutChoice(found)
    best = max(left, key=lambda one: (wanted.rank(one.format), one.points))
    others = [one for one in left if not means_the_same(one.format, best.format)]
    rank = wanted.rank(best.format)
    equal = (one for one in others if wanted.rank(one.format) == rank and one.points > best.points - MARGIN)
    if best.format == found.format or next(equal, None) is not None:
        return LayoutChoice(found)
    candidates = (best, *(one for one in left if one is not best))
    done = dataclasses.replace(found, format=best.format, candidates=candidates)
    return LayoutChoice(done, tuple(one.format for one in others))


def offered(found: Detection, wanted: Wanted | None) -> tuple[Candidate, ...]:
    """The formats to name where nothing decides: no outputs for labels, and outputs first for what systems write."""
    if wanted is None:
        return found.candidates
    if "label" in wanted.roles:
        return tuple(one for one in found.candidates if one.format.role in wanted.roles) or found.candidates
    return tuple(sorted(found.possible or found.candidates, key=lambda one: one.format.role not in wanted.roles))


def _left(found: Detection, wanted: Wanted) -> list[Candidate]:
    """The formats that the content does not rule out, the likeliest first."""
    if not found.possible:
        return []
    first, *rest = found.possible
    reach = (4 if found.format is not None and found.sample.rows < FEW else 2) * MARGIN
    near = [one for one in rest if one.points > first.points - reach]
    if found.format is not None:
        # of the same class list or time as what is wanted, where the one found is of another
        own = found.format
        near = [
            one for one in near
            if one.points >= 0
            and (means_the_same(one.format, own) or wanted.apart(one.format) + ERA <= wanted.apart(own))
        ]  # fmt: skip
    return [first, *near]
