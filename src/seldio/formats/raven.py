"""Selection tables of Raven: a header, and a row for each view of each selection, with tabs between the cells.

The columns ``Begin Time (s)`` and ``End Time (s)`` make the format; one called ``Annotation``, ``Species`` or the like
holds the class, and columns called ``Azimuth``, ``Elevation``, ``Distance`` and ``Source`` (with a unit in brackets, if
any) the direction, unless it is in the annotation. Frequencies are kept as ``low_hz`` and ``high_hz``, as those of
other tools are; what else a row holds is kept under the name of its column.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any

from seldio.findings import Sink
from seldio.formats.audacity import LIMITS
from seldio.formats.base import TextFile
from seldio.formats.label_tools import (
    FIELDS,
    NAMES,
    Report,
    ToolFormat,
    ToolLabel,
    ToolPart,
    ToolText,
    as_written,
    comma_number,
    field_named,
    json_value,
    plain,
    pointed,
    seconds,
    text_of,
)
from seldio.schema.events import ClipFile
from seldio.text import listed, plural

_BEGIN, _END, _LENGTH, _OFFSET = "begin time (s)", "end time (s)", "delta time (s)", "file offset (s)"
_TIMES = (_BEGIN, _END, _LENGTH, _OFFSET)
_LOW, _HIGH, _FILE = "low freq (hz)", "high freq (hz)", "begin file"
#: Columns that hold the class, the likeliest first.
_CLASS = (
    "annotation", "annotations", "species", "label", "labels", "class", "event", "sound", "sound type", "call type",
    "type", "name", "tag", "tags", "code",
)  # fmt: skip
#: Columns of which the rows say nothing that is not known without them.
_LAYOUT = ("selection", "view", _BEGIN, _END, _LENGTH, _OFFSET)
_SHOWN = {"azimuth": "Azimuth (deg)", "elevation": "Elevation (deg)", "distance": "Distance (m)"}
_LINE = re.compile(r"[^\r\n]+")
_HEAD = 4096
_FORM = "save the table in Raven: File > Save Selection Table"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RavenFormat(ToolFormat):
    """The selection tables that Raven Pro, Raven Lite and their relatives write."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the header tells it
        """Whether its first line names columns with the begin and the end of selections."""
        first = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n")[0].lower()
        return 0.95 if b"\t" in first and _BEGIN.encode() in first else 0.0

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`; rows of several recordings are a clip for each."""
        source = ToolText(file)
        report = source.report(sink)
        if file.data.startswith(b"\xef\xbb\xbf"):
            report("SYN103", (0, 0), "the file begins with a byte order mark", "save as UTF-8 without BOM")
        newline = "\r\n" if 0 < file.data.count(b"\r\n") == file.data.count(b"\n") else "\n"
        origin = ClipFile(file.clip, file.name, newline)
        lines = [match for match in _LINE.finditer(source.text) if match[0].strip()]
        table = _Table(lines[0] if lines else None, report)
        rows = [row for line in lines[1:] if (row := table.row(line)) is not None] if table.sound else []
        files = list(dict.fromkeys(row[_FILE][0].strip() for row in rows if _FILE in row))
        if len(files) < 2:
            part = ToolPart(file, origin, source.place)
            part.readable = table.sound or not lines
            stems = {posixpath.splitext(name)[0] for name in files}
            part.labels = table.labels(rows, _BEGIN, {file.clip} | (stems & {file.clip}))
            yield part
            return
        if _OFFSET not in table.columns:
            many = plural(len(files), "recording")
            message = f"the rows cover {many}, but no row gives a start time within its recording"
            report("SYN508", rows[0][_FILE][1], message, 'add the measurement "File Offset (s)" to the table in Raven')
            part = ToolPart(file, origin, source.place)
            part.readable = False
            yield part
            return
        folder = posixpath.dirname(file.name)
        for name in files:
            stem = posixpath.splitext(posixpath.basename(name.replace("\\", "/")))[0] or file.clip
            part = ToolPart(file, ClipFile(stem, posixpath.join(folder, f"{stem}.txt"), newline), source.place)
            own = [row for row in rows if row.get(_FILE, ("", None))[0].strip() == name]
            part.labels = table.labels(own, _OFFSET, {stem, name})
            yield part

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`: a waveform's selections, or a spectrogram's where frequencies are known."""
        limited = any(as_written(label.extra.get(key), 3) for label in labels for key in LIMITS)
        fields = [field for field in NAMES if any(field in label.values for label in labels)]
        keys = list(dict.fromkeys(key for label in labels for key in label.extra if key not in LIMITS))
        known = {"selection", "channel", "extra", _LOW, _HIGH, _FILE, *_TIMES, *_CLASS, *FIELDS}
        own = [
            key for key in keys
            if key.strip() == key and key.isprintable() and key and key.lower() not in known and key.lower() != "view"
            and field_named(key) is None
        ]  # fmt: skip
        head = ["Selection", "View", "Channel", "Begin Time (s)", "End Time (s)"]
        head += ["Low Freq (Hz)", "High Freq (Hz)"] if limited else []
        head += [*(_SHOWN.get(field, field.capitalize()) for field in fields), *own]
        rows, left = [], []
        for number, label in enumerate(labels, 1):
            extra = dict(label.extra)
            limits = [as_written(extra.get(key), 3) for key in LIMITS] if limited else []
            for key, limit in zip(LIMITS, limits, strict=False):
                extra = {other: value for other, value in extra.items() if other != key or limit is None}
            channel = extra.pop("channel") if extra.get("channel", 1) != 1 else 1
            cells = [str(number), "Spectrogram 1" if limited else "Waveform 1", _cell(channel)]
            cells += [seconds(label.onset, 9), seconds(label.offset, 9), *(limit or "" for limit in limits)]
            cells += [plain(label.values[field]) if field in label.values else "" for field in fields]
            cells += [_cell(extra.pop(key)) if key in extra else "" for key in own]
            rows.append(cells)
            left.append(json.dumps(extra) if extra else "")
        if any(left):
            head.append("Extra")
            rows = [[*cells, rest] for cells, rest in zip(rows, left, strict=True)]
        names = [text_of(dataclasses.replace(label, values={}, extra={})) for label in labels]
        lines = [[*head, "Annotation"], *([*cells, name] for cells, name in zip(rows, names, strict=True))]
        return "".join("\t".join(line) + "\n" for line in lines)

    def repaired(self, text: str, codes: Sequence[str]) -> str:
        """See :meth:`ToolFormat.repaired`: times with commas get points."""
        if "SYN503" not in codes:
            return text
        lines = list(_LINE.finditer(text))
        times = (
            {at for at, name in enumerate(lines[0][0].split("\t")) if name.strip().lower() in _TIMES}
            if lines
            else set()
        )

        def line(match: re.Match[str]) -> str:
            cells = match[0].split("\t")
            return "\t".join(pointed(cell) if at in times else cell for at, cell in enumerate(cells))

        return _LINE.sub(line, text)


#: The cells of a row by the column they are in, lower case, each with its place.
_Row = dict[str, tuple[str, tuple[int, int]]]


class _Table:
    """The header of a table, and what it makes of rows."""

    def __init__(self, header: re.Match[str] | None, report: Report) -> None:
        self.report = report
        self.names = [cell.strip() for cell in header[0].split("\t")] if header is not None else []
        self.columns = [name.lower() for name in self.names]
        timed = _BEGIN in self.columns and bool({_END, _LENGTH} & set(self.columns))
        self.named = next((name for name in _CLASS if name in self.columns), None)
        self.sound = timed and self.named is not None
        if header is not None and not self.sound:
            what = (
                f"no column with the class ({', '.join(_CLASS[:4])}, …)"
                if timed
                else "no Begin Time (s) and End Time (s)"
            )
            hint = f"the columns are {listed(self.names, 12)}"
            report("SYN501", header.span(), what, f"{hint}: add an annotation column in Raven" if timed else hint)

    def row(self, line: re.Match[str]) -> _Row | None:
        """The cells of a line; None, after a finding, where there are more than columns, or too few."""
        cells, start = line[0].split("\t"), line.start()
        needed = 1 + max(self.columns.index(name) for name in _TIMES if name in self.columns)
        if not needed <= len(cells) <= len(self.columns):
            message = f"{plural(len(cells), 'cell')} in a table of {plural(len(self.columns), 'column')}"
            self.report("SYN501", line.span(), message, _FORM)
            return None
        row: _Row = {"": (line[0], line.span())}
        for name, cell in zip(self.columns, cells, strict=False):
            row[name] = cell, (start, start + len(cell))
            start += len(cell) + 1
        return row

    def labels(self, rows: Sequence[_Row], begin: str, recordings: set[str]) -> list[ToolLabel]:
        """The labels of rows, of which several may be views of one selection; what *recordings* are is not repeated."""
        found: dict[Any, ToolLabel] = {}
        for number, row in enumerate(rows):
            label = self._label(row, begin, recordings)
            if label is None:
                continue
            selection = row.get("selection", ("", None))[0].strip()
            key = (selection, label.onset, label.offset, label.name) if selection else number
            if key in found:
                found[key].extra = label.extra | found[key].extra
                found[key].values = label.values | found[key].values
            else:
                found[key] = label
        return list(found.values())

    def _label(self, row: _Row, begin: str, recordings: set[str]) -> ToolLabel | None:
        _, whole = row[""]
        numbers: dict[str, float | None] = {}
        for name in (begin, *([_END] if _END in row and begin == _BEGIN else []), _LENGTH, _BEGIN, _END, _LOW, _HIGH):
            if name in row and name not in numbers and (row[name][0].strip() or name in _TIMES):
                numbers[name] = comma_number(*row[name], self.names[self.columns.index(name)], self.report)
        if None in numbers.values():
            return None
        onset = numbers[begin] or 0.0
        if _END in numbers:
            last = numbers[_END] or 0.0
            offset = last if begin == _BEGIN else round(onset + last - (numbers[_BEGIN] or 0.0), 9)
        else:
            offset = round(onset + (numbers[_LENGTH] or 0.0), 9)
        label = ToolLabel(
            onset, offset, "", {"": whole, "onset": row[begin][1], "offset": row.get(_END, row[begin])[1]}
        )
        good = True
        for name, (cell, at) in row.items():
            held = cell.strip()
            if not name or not held or name in _LAYOUT or name in (_LOW, _HIGH, self.named):
                continue
            if field := field_named(name):
                good &= label.set(field, held, at, self.report)
            elif name == "extra" and isinstance(value := json_value(held), dict):
                label.extra |= value
            elif not (name == "channel" and held == "1") and not (
                name == _FILE and {held, posixpath.splitext(posixpath.basename(held))[0]} & recordings
            ):
                label.extra["channel" if name == "channel" else self.names[self.columns.index(name)]] = json_value(held)
        for key, name in (("low_hz", _LOW), ("high_hz", _HIGH)):
            if (value := numbers.get(name)) is not None:
                label.extra[key] = value
        if self.named in row:
            cell, at = row[self.named or ""]
            good &= label.read_text(cell.strip(), at[0] + len(cell) - len(cell.lstrip()), self.report)
        return label if good else None


def _cell(value: Any) -> str:
    """A value as a cell, from which :func:`json_value` makes the same."""
    if isinstance(value, str) and value.strip() == value and value.isprintable() and json_value(value) == value:
        return value
    return json.dumps(value)


RAVEN = RavenFormat(
    name="raven",
    title="Raven selection table: tabs, Begin Time (s), End Time (s), Annotation; Azimuth, Elevation, Distance columns",
    suffix=".txt",
    also=(".tsv",),
    stem=r"(?i)\.(table\.[0-9]+\.)?selections\Z",
    time_decimals=9,
    repairable=True,
    clips_by="rows",
    aliases=("raven-selections",),
    source="https://ravensoundsoftware.com/knowledge-base/selection-tables/",
    note="The views of a selection are one row. A table of several recordings becomes a clip for each, by its columns "
    "Begin File and File Offset (s).",
)
