"""Labels of datasets that are tables with a header, one row a whole event or a whole recording.

L3DAS22 writes places as X, Y, Z in metres from the first microphone, L3DAS23 as rho, theta, z around it. RealMAN has
one table for all recordings: a direction for each, or for a moving talker a list of them, ten per second. What the
table says beyond that is kept under the names of its columns.
"""

from __future__ import annotations

import dataclasses
import math
import posixpath
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from seldio import geometry
from seldio.findings import Sink
from seldio.formats.base import TextFile
from seldio.formats.cells import number_in
from seldio.formats.csv_text import QuotedCell, QuotedRow, row_at, rows, written
from seldio.formats.label_tools import Report, Span, ToolFormat, ToolLabel, ToolPart, ToolText, json_value
from seldio.schema.events import ClipFile
from seldio.text import clipped, listed, plural

_HEAD = 4096
#: Decimals of places that seldio writes.
_PLACES = 3


class _Row(NamedTuple):
    """A row of a table, by the names of its columns."""

    cells: Mapping[str, QuotedCell]
    span: Span


@dataclasses.dataclass(frozen=True, kw_only=True)
class DatasetTable(ToolFormat):
    """The labels of a dataset in a table with commas and a header."""

    suffix: str = ".csv"
    columns: tuple[str, ...]  # those that make the format

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the header tells it
        """Whether its first line names the columns."""
        if data[:1] in (b"{", b"["):  # JSON, whose first line can be the whole file
            return 0.0
        head = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").decode(errors="replace")
        return 0.95 if set(self.columns) <= {name.strip() for name in row_at(head, 0).values} else 0.0

    @abstractmethod
    def row_parts(self, found: Sequence[_Row], origin: ClipFile, report: Report) -> Iterator[tuple[ClipFile, Any]]:
        """The clips that rows are about, each with its labels."""

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        source = ToolText(file)
        report = source.report(sink)
        newline = "\r\n" if 0 < file.data.count(b"\r\n") == file.data.count(b"\n") else "\n"
        origin = ClipFile(file.clip, file.name, newline)
        every = [row for row in rows(source.text) if not row.blank]
        names = [name.strip() for name in every[0].values] if every else []
        for cell in (cell for row in every for cell in row.cells if cell.flaw):
            message = "a quote that is never closed" if cell.flaw == "unclosed" else "text after a closing quote"
            report("SYN501", (cell.start, cell.end), message, "a quote inside of a quoted cell is doubled")
        if lacking := [name for name in self.columns if name not in names]:
            part = ToolPart(file, origin, source.place)
            part.readable = not every
            if every:
                message = f"no {plural(len(lacking), 'column')} {listed(lacking)}".replace("1 column", "column")
                report("SYN501", (every[0].start, every[0].end), message, f"the columns are {listed(names, 12)}")
            yield part
            return
        found = [
            row
            for each in every[1:]
            if not any(cell.flaw for cell in each.cells) and (row := _named(each, names, report)) is not None
        ]
        for own, labels in self.row_parts(found, origin, report):
            part = ToolPart(file, own, source.place)
            part.labels = labels
            yield part


def _named(row: QuotedRow, names: Sequence[str], report: Report) -> _Row | None:
    span = row.start, row.end
    if len(row.cells) != len(names):
        message = f"{plural(len(row.cells), 'cell')} in a table of {plural(len(names), 'column')}"
        report("SYN501", span, message, "the cells of a row are those of the header")
        return None
    return _Row(dict(zip(names, row.cells, strict=True)), span)


def _number(row: _Row, column: str, report: Report) -> float | None:
    """The number in a cell; None, after a finding, where there is none."""
    cell = row.cells[column]
    value = number_in(cell.value)
    if value is None:
        shown = clipped(cell.value.strip(), 30) or "empty"
        report("SYN502", (cell.start, cell.end), f"{column} is {shown}, not a number", None)
    return value


def _span(row: _Row, column: str) -> Span:
    return row.cells[column].start, row.cells[column].end


# --- L3DAS --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class L3dasFormat(DatasetTable):
    """The events of L3DAS: Start, End, Class and a place."""

    place: tuple[str, str, str]
    vocabulary: str = "l3das"

    def row_parts(self, found: Sequence[_Row], origin: ClipFile, report: Report) -> Iterator[tuple[ClipFile, Any]]:
        """See :meth:`DatasetTable.row_parts`: all rows are about one clip."""
        numbers = [[_number(row, name, report) for name in ("Start", "End", *self.place)] for row in found]
        good = [(row, values) for row, values in zip(found, numbers, strict=True) if None not in values]
        labels = []
        for (row, (start, end, *_)), (azimuth, elevation, distance) in zip(
            good, self.directions([values[2:] for _, values in good], good, report), strict=True
        ):
            at = {"": row.span, "onset": _span(row, "Start"), "offset": _span(row, "End"),
                  "class_name": _span(row, "Class"), "azimuth": _span(row, self.place[1])}  # fmt: skip
            known = {"Start", "End", "Class", *self.place}
            label = ToolLabel(float(start or 0), float(end or 0), row.cells["Class"].value.strip(), at)
            label.values = {"azimuth": azimuth, "elevation": elevation, "distance": distance}
            label.extra = {
                name: json_value(cell.value) for name, cell in row.cells.items() if name not in known and cell.value
            }
            labels.append(label)
        yield origin, labels

    def directions(
        self, places: Sequence[Any], good: Sequence[tuple[_Row, Any]], report: Report
    ) -> list[tuple[float, float, float]]:
        """Azimuth and elevation (degrees), distance (m) of each place."""
        if not places:
            return []
        first, second, z = np.array(places, dtype=np.float64).T
        if self.place[0] == "X":
            x, y = first, second
        else:
            x, y = first * np.cos(turn := self._radians(second, good, report)), first * np.sin(turn)
        azimuth, elevation = geometry.to_polar(x, y, z)
        distance = np.sqrt(x * x + y * y + z * z)
        return list(zip(azimuth.tolist(), elevation.tolist(), distance.tolist(), strict=True))

    def _radians(self, theta: np.ndarray, good: Sequence[tuple[_Row, Any]], report: Report) -> np.ndarray:
        """Angles of a file, whose unit is not documented: more than a turn in radians is degrees."""
        if np.abs(theta).max() > 2 * math.pi:
            return np.asarray(np.radians(theta))
        if not (theta == np.rint(theta)).all():
            return theta
        report(
            "SYN502", _span(good[0][0], "theta"),
            "theta may be in degrees or in radians: all values are whole and small",
            "write azimuths with decimals, or convert the file to L3DAS22",
        )  # fmt: skip
        return theta

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`."""
        keys = list(dict.fromkeys(key for label in labels for key in label.extra))
        table: list[list[str | None]] = [[*keys, "Start", "End", "Class", *self.place]]
        for label in labels:
            extra = [str(label.extra[key]) if key in label.extra else "" for key in keys]
            table.append([*extra, f"{label.onset:.6g}", f"{label.offset:.6g}", label.name, *self._place(label)])
        return written(table)

    def _place(self, label: ToolLabel) -> list[str]:
        azimuth, elevation = label.values.get("azimuth"), label.values.get("elevation")
        distance = label.values.get("distance")
        if azimuth is None or elevation is None or distance is None:
            return ["", "", ""]
        unit = np.array(geometry.to_cartesian([azimuth], [elevation]))[:, 0] * distance
        if self.place[0] == "X":
            return [f"{value + 0.0:.{_PLACES}f}" for value in np.round(unit, _PLACES).tolist()]
        x, y, z = unit.tolist()
        cells = math.hypot(x, y), math.atan2(y, x), z
        return [f"{round(value, 6) + 0.0:.6f}" for value in cells]


# --- RealMAN ------------------------------------------------------------------------------------------------------

#: Samples per second by which recordings are cut, directions per second of a moving talker, and what stands for none.
_RATE, _HOP, _NOWHERE = 48_000, 10, -10_000.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class RealmanFormat(DatasetTable):
    """The table of RealMAN: a recording a row, with one direction, or a list of them."""

    vocabulary: str = "speech"
    columns: tuple[str, ...] = ("filename", "real_st", "real_ed", "angle(°)")
    needs: tuple[str, ...] = ("onset", "offset", "azimuth")

    def row_parts(self, found: Sequence[_Row], origin: ClipFile, report: Report) -> Iterator[tuple[ClipFile, Any]]:
        """See :meth:`DatasetTable.row_parts`: each row is a clip, and sounds from its beginning to its end."""
        folder = posixpath.dirname(origin.name)
        if not found:  # a table without rows is a clip without labels, as any other file
            yield origin, []
        for row in found:
            first, last = (_number(row, name, report) for name in ("real_st", "real_ed"))
            columns = {
                field: column
                for field, column in (("azimuth", "angle(°)"), ("elevation", "ele"), ("distance", "distance"))
                if column in row.cells and row.cells[column].value.strip()
            }
            given = {field: _track(row, column, report) for field, column in columns.items()}
            tracks = {field: track for field, track in given.items() if track is not None}
            if first is None or last is None or len(tracks) < len(given):
                continue
            stem = posixpath.splitext(posixpath.basename(row.cells["filename"].value.strip()))[0]
            clip = re.sub(r"_CH[0-9]+$", "", stem) or origin.clip
            own = dataclasses.replace(origin, clip=clip, name=posixpath.join(folder, f"{clip}.csv"))
            yield own, _labels_of_tracks(row, (last - first) / _RATE, tracks)

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """See :meth:`ToolFormat.text`: a row for the clip, with lists where the talker moves."""
        stop = max((label.offset for label in labels), default=0.0)
        cells = []
        for field in ("azimuth", "elevation", "distance"):
            track = [_NOWHERE] * max(1, math.ceil(round(stop * _HOP, 6)))
            for label in labels:
                for place in range(
                    round(label.onset * _HOP), min(math.ceil(round(label.offset * _HOP, 6)), len(track))
                ):
                    track[place] = label.values.get(field, _NOWHERE)
            shown = [f"{value % 360 if field == 'azimuth' and value != _NOWHERE else value:g}" for value in track]
            cells.append(shown[0] if len(set(shown)) == 1 else ",".join(shown))
        head = ["filename", "real_st", "real_ed", "angle(°)", "ele", "distance"]
        return written([head, [f"{file.clip}.flac", "0", str(round(stop * _RATE)), *cells]])


def _track(row: _Row, column: str, report: Report) -> list[float] | None:
    """The values of a cell, one, or ten per second; None, after a finding, where a number is missing."""
    cell, found = row.cells[column], []
    start = cell.start
    for text in cell.value.split(","):
        value = number_in(text)
        if value is None:
            shown = clipped(text.strip(), 30) or "empty"
            report("SYN502", (start, start + len(text)), f"{column} is {shown}, not a number", None)
            return None
        found.append(value)
        start += len(text) + 1
    return found


def _labels_of_tracks(row: _Row, length: float, tracks: Mapping[str, list[float]]) -> list[ToolLabel]:
    """A label for each run of one place; where the azimuth is not known there is none."""
    known = {"filename", "real_st", "real_ed", "angle(°)", "ele", "distance"}
    extra = {name: json_value(cell.value) for name, cell in row.cells.items() if name not in known and cell.value}
    count = max(len(track) for track in tracks.values())
    at = {"": row.span, "azimuth": _span(row, "angle(°)"), "onset": _span(row, "real_st"),
          "offset": _span(row, "real_ed")}  # fmt: skip
    labels: list[ToolLabel] = []
    for place in range(count):
        values = {field: track[min(place, len(track) - 1)] for field, track in tracks.items()}
        values = {field: value for field, value in values.items() if value != _NOWHERE}
        if "azimuth" in values:
            values["azimuth"] = float(geometry.wrap(values["azimuth"]))
        start, stop = place / _HOP, min((place + 1) / _HOP, length)
        stop = length if count == 1 else stop
        if start >= stop or "azimuth" not in values:
            continue
        if labels and labels[-1].values == values and labels[-1].offset == start:
            labels[-1].offset = stop
            continue
        labels.append(ToolLabel(start, stop, "speech", dict(at), values, dict(extra)))
    if labels and count > 1 and labels[-1].offset == count / _HOP < length:
        labels[-1].offset = round(length, 9)  # the last place lasts to the end
    return labels


_L3DAS = "https://github.com/l3das/L3DAS{}"
L3DAS22 = L3dasFormat(
    name="l3das22", title="L3DAS22 labels: Start, End, Class, X, Y, Z", years="2021, 2022",
    place=("X", "Y", "Z"), columns=("Start", "End", "Class", "X", "Y", "Z"),
    aliases=("l3das21",), source=_L3DAS.format("22"), needs=("onset", "offset", "azimuth", "elevation", "distance"),
    note="X, Y and Z are metres from microphone A. They are read as front, left and up, which the dataset does not "
    "say: validate --deep compares them with the audio.",
)  # fmt: skip
L3DAS23 = L3dasFormat(
    name="l3das23", title="L3DAS23 labels: Start, End, Class, rho, theta, z", years="2023",
    place=("rho", "theta", "z"), columns=("Start", "End", "Class", "rho", "theta", "z"),
    source=_L3DAS.format("23"), needs=("onset", "offset", "azimuth", "elevation", "distance"),
    note="rho (m) and theta are read as a circle around the microphone, counter-clockwise from the front. The unit of "
    "theta is not documented: more than 2 pi anywhere in the file means degrees.",
)  # fmt: skip
REALMAN = RealmanFormat(
    name="realman", title="RealMAN: filename, real_st, real_ed, angle, elevation, distance; lists for moving talkers",
    clips_by="rows",
    source="https://github.com/Audio-WestlakeU/RealMAN",
    note="One table for all recordings; each becomes a clip. A list has ten values per second; -10000 means that the "
    "place is not known.",
)  # fmt: skip
DATASET_TABLES: tuple[DatasetTable, ...] = (L3DAS22, L3DAS23, REALMAN)
