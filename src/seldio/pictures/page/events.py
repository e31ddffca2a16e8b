"""Labels as the page draws them: events with their directions frame by frame, and where findings lie in time."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from seldio import clock
from seldio.conversion.carry import with_directions
from seldio.conversion.columns import class_keys
from seldio.conversion.frames import are_events, frames_of, grouped
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Source
from seldio.findings import Finding, all_ranges
from seldio.formats import Reading
from seldio.schema.events import origin_of
from seldio.text import plural, printable
from seldio.validation import Examined, examine
from seldio.vocabularies import vocabulary

#: Event frames that a page may hold.
MOST_ROWS = 200_000


@dataclasses.dataclass(frozen=True)
class Side:
    """The labels or the predictions of a clip.

    Args:
        reading: their rows.
        events: what is drawn, one record an event: class name ``c``, number of the class in its vocabulary
            ``n``, source ``s``, first frame ``f``, and for each frame azimuth ``a``, elevation ``e`` (degrees)
            and distance ``d`` (metres), null where unknown.
        hop: seconds between frames.
        seconds: how long the clip is by this file.
        findings: what is wrong, all of it, as :func:`findings_of` gives it.
    """

    reading: Reading
    events: list[dict[str, Any]]
    hop: Fraction
    seconds: float
    findings: list[dict[str, Any]]


def side(source: str | Source, format: str | None) -> Side:
    """Read and check the label or prediction file of one clip, which may be an open source.

    Raises:
        UsageError: it holds no labels, or those of several clips.
        DataError: not a row of it can be read.
        SeldioError: it has more rows than a page can hold, or the disk fails.
    """
    with all_ranges():
        examined = examine(source, format=format)
    path = source.path if isinstance(source, Source) else source
    reading = _the_reading(path, examined)
    table, hop = with_directions(reading.table), reading.format.hop
    if are_events(table):
        table, hop = frames_of(table, clock.HOP), clock.HOP
    if table.num_rows > MOST_ROWS:
        raise SeldioError(f"{printable(path)} has {table.num_rows:,} event frames; a page holds up to {MOST_ROWS:,}")
    known = max((file.frames or 0 for file in origin_of(reading.table).files), default=0)
    last = int(np.max(table["frame"].to_numpy(), initial=-1)) if "frame" in table.column_names else -1
    return Side(
        reading,
        _events(table, hop, reading.format.vocabulary),
        hop,
        max(clock.onset(known, hop), clock.offset(last, hop)),
        findings_of(examined.report.findings, reading),
    )


def _the_reading(path: str, examined: Examined) -> Reading:
    readings = [item.reading for item in examined.recognised]
    clips = sum(len(reading.parts) for reading in readings)
    if len(readings) == 1 and clips == 1:
        return readings[0]
    if clips > 1:
        raise UsageError(f"{printable(path)} holds {plural(clips, 'clip')}: a page shows one; name a file of one clip")
    if examined.items:
        raise UsageError(f"{printable(path)} holds questions: name the labels of the clip, and these with --questions")
    worst = min(examined.report.findings, key=lambda finding: finding.severity.rank, default=None)
    if worst is None:
        raise DataError(f"{printable(path)} holds no labels: name the label file of the clip")
    raise DataError(f"no labels could be read: {worst}" + (f"; {worst.hint}" if worst.hint else ""))


def _numbers(table: Any, field: str, digits: int) -> list[float | int | None] | None:
    """A column as numbers for json; None where nothing is known. Whole ones have no decimal point."""
    if field not in table.column_names or table[field].null_count == table.num_rows:
        return None
    rounded = np.round(np.asarray(table[field].to_numpy(), np.float64), digits).tolist()
    return [None if value != value else int(value) if value == int(value) else value for value in rounded]


def _events(table: Any, hop: Fraction, words: str) -> list[dict[str, Any]]:
    """One record an event, by onset."""
    if not table.num_rows or "frame" not in table.column_names:
        return []
    found, (keys, codes) = grouped(table, hop), class_keys(table)
    names = [_name(number, name, words) for number, name in keys]
    columns = {"a": ("azimuth", 2), "e": ("elevation", 2), "d": ("distance", 3)}
    values = {short: _numbers(table, field, digits) for short, (field, digits) in columns.items()}
    sources = table["source"].to_pylist() if "source" in table.column_names else None
    first = found.table["first_frame"].to_pylist()
    records = []
    for number in range(len(found)):
        rows = found.trajectory(number).tolist()
        code = int(codes[rows[0]])
        record: dict[str, Any] = {"c": names[code], "n": keys[code][0], "f": first[number], "k": len(rows)}
        if sources is not None:
            record["s"] = sources[rows[0]]
        for short, column in values.items():
            if column is not None:
                record[short] = [column[row] for row in rows]
        records.append(record)
    return records


def _name(number: int | None, name: str | None, words: str) -> str:
    return printable(name) if name else vocabulary(words).label(-1 if number is None else number)


# --- findings ----------------------------------------------------------------------------------------------


def findings_of(findings: list[Finding], reading: Reading) -> list[dict[str, Any]]:
    """Findings with the times (seconds) of the rows that they are about.

    Those of the first row are ``t``, null for the file as a whole; those of all rows are ``s``: start and end of each
    stretch of frames that follow each other.
    """
    moments = _Moments(reading)
    return [
        {
            "code": finding.code,
            "severity": finding.severity.value,
            "message": printable(finding.message),
            "hint": printable(finding.hint) if finding.hint else None,
            "line": finding.line,
            "column": finding.column,
            "count": finding.count,
            "t": moments.first(finding),
            "s": moments.stretches(finding),
        }
        for finding in findings
    ]


class _Moments:
    """When the rows of a clip sound, by the lines of its file."""

    def __init__(self, reading: Reading) -> None:
        self._part = reading.parts[0]
        rows, table = slice(self._part.first, self._part.first + self._part.rows), reading.table
        for field, hop in (("frame", reading.format.hop), ("onset", Fraction(1))):
            if field in table.column_names:
                self._hop, self._framed = float(hop), field == "frame"
                self._times = np.asarray(table[field][rows].cast("float64").to_numpy(), np.float64)
                break
        else:
            self._times = np.zeros(0)

    @cached_property
    def _lines(self) -> Any:
        return self._part.lines(np.arange(self._part.rows))  # rows stand in the file in their order

    def first(self, finding: Finding) -> float | None:
        """When the first row of a finding sounds; of a line that could not be read, the row before it."""
        times = self._of(finding, (finding.line or 0, finding.line or 0))
        known = times[np.isfinite(times)]
        return float(known[0] * self._hop) if len(known) else None

    def stretches(self, finding: Finding) -> list[float]:
        """Start and end of all stretches in which rows of a finding sound, one after the other."""
        lines = finding.ranges or ((finding.line or 0, finding.line or 0),)
        parts = [self._of(finding, range_) for range_ in lines]
        times = np.unique(np.concatenate(parts))
        times = times[np.isfinite(times)]
        if not len(times):
            return []
        step = 1.0 if self._framed else 0.0
        breaks = np.flatnonzero(np.diff(times) > step)
        edges = np.stack((times[np.append(0, breaks + 1)], times[np.append(breaks, -1)] + step), axis=1)
        return np.round(edges * self._hop, 3).ravel().tolist()

    def _of(self, finding: Finding, lines: tuple[int, int]) -> Any:
        """The times of the rows in a range of lines; none for a header, or a line before the first row."""
        if finding.line is None or finding.path != self._part.file.path or not len(self._times):
            return np.zeros(0)
        low, high = np.searchsorted(self._lines, lines, side="right").tolist()
        return self._times[max(0, low - 1) : high]
