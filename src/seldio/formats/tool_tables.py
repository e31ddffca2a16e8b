r"""Labels between tabs: the label tracks of Audacity and the selection tables of Raven.

A label track has a line for each label, with its start, its end and its text. A line that begins with a backslash holds
the limits of frequency, in Hz, of the label before it (-1 where there is none); a label whose start is its end is a
point::

    1.250000<TAB>2.500000<TAB>dog az=30 el=10 dist=2
    \<TAB>100.000000<TAB>2000.000000

A selection table has a header, and a row for each view of each selection. The columns ``Begin Time (s)`` and
``End Time (s)`` make the format; others hold the class (``Annotation``, ``Species``, ``Common Name``), a value
(``Azimuth``, ``Confidence``) or the recording (``Begin File``, ``Begin Path``), by the names of
:mod:`seldio.schema.column_names`. Frequencies are kept as ``low_hz`` and ``high_hz``, as those of other tools are; what
else a row holds is kept under the name of its column.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from seldio.findings import Sink
from seldio.formats.base import TextFile
from seldio.formats.cells import number_in
from seldio.formats.label_tools import (
    LINE,
    VALUES,
    Report,
    Span,
    ToolFormat,
    ToolLabel,
    ToolPart,
    ToolText,
    field_named,
    json_value,
    plain,
    text_of,
)
from seldio.schema.column_names import NAMES, column_of, plain_title
from seldio.schema.events import ClipFile
from seldio.text import clipped, listed, plural

#: Keys of :attr:`ToolLabel.extra` for the limits of frequency, in Hz.
LIMITS = ("low_hz", "high_hz")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def pointed(cell: str) -> str:
    """Return a cell with a point where it has a comma in a number."""
    return cell.replace(",", ".") if _COMMA.fullmatch(cell.strip()) else cell


def comma_number(cell: str, span: Span, what: str, report: Report) -> float | None:
    """Return the number in a cell between tabs; None, after a finding, where it is none. A decimal comma is one too."""
    if _COMMA.fullmatch(cell.strip()):
        report("SYN503", span, f"{what} is {cell.strip()}, with a comma for the decimal point", "write a point")
    value = number_in(pointed(cell))
    if value is None:
        shown = clipped(cell.strip(), 30) or "empty"
        report("SYN501", span, f"{what} is {shown}, not a number", "times are in seconds")
    return value


def cells_of(line: re.Match[str]) -> list[tuple[str, Span]]:
    """Return the cells of a line between tabs, each with its span."""
    cells, start = [], line.start()
    for cell in line[0].split("\t"):
        cells.append((cell, (start, start + len(cell))))
        start += len(cell) + 1
    return cells


def with_points(text: str, times: Callable[[list[str]], Collection[int]]) -> str:
    """Return *text* with points for commas in the numbers of some cells, whose places in a line *times* tells."""

    def line(match: re.Match[str]) -> str:
        cells = match[0].split("\t")
        places = times(cells)
        return "\t".join(pointed(cell) if at in places else cell for at, cell in enumerate(cells))

    return LINE.sub(line, text)


def as_written(value: Any, decimals: int) -> str | None:
    """Return a number with that many decimals; None for what such a text does not say exactly."""
    text = f"{value:.{decimals}f}" if type(value) in (int, float) else ""
    return text if text and float(text) == value else None


# --- Audacity ---------------------------------------------------------------------------------------

_TIME = r"[+-]?[0-9]+(?:[.,][0-9]*)?"
_LIKELY = re.compile(rf"{_TIME}\t{_TIME}\t[^\t]*|\\\t{_TIME}\t{_TIME}")
_FORM = "a line is START<TAB>END<TAB>TEXT, in seconds: in Audacity, File > Export Other > Export Labels"
#: Bytes of a file that are looked at to tell what it is, and the share of its lines that have to look right.
_HEAD, _SHARE = 4096, 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class AudacityFormat(ToolFormat):
    """The label tracks that Audacity exports."""

    def likes(self, data: bytes, name: str) -> float:
        """Return 0.9 if most of the first lines are two times and a text, separated by tabs."""
        if b"\t" not in data[:_HEAD]:
            return 0.0
        head = data[:_HEAD].decode(errors="ignore").removeprefix("\ufeff")
        lines = [match[0] for match in LINE.finditer(head) if match[0].strip()]
        lines = lines[:-1] if len(data) > _HEAD and len(lines) > 1 else lines  # the last one is cut
        good = sum(_LIKELY.fullmatch(line) is not None for line in lines)
        # three columns of numbers are something else, unless the file is called like one of labels
        worded = name.lower().endswith(".txt") or any(number_in(line.rpartition("\t")[2]) is None for line in lines)
        return 0.9 if lines and worded and good >= _SHARE * len(lines) else 0.0

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        source = ToolText(file, sink)
        part = source.part()
        last: ToolLabel | None = None
        for line in source.lines():
            cells = cells_of(line)
            if not line[0].startswith("\\"):
                last = _label(line, cells, source.report)
                part.labels += [] if last is None else [last]
            elif last is None or len(cells) != 3:
                what = "limits of frequency without a label" if last is None else "not a low and a high frequency"
                hint = "a line with limits follows its label: \\<TAB>LOW<TAB>HIGH"
                source.report("SYN501", line.span(), what, hint)
            else:
                for key, (cell, span) in zip(LIMITS, cells[1:], strict=True):
                    value = comma_number(cell, span, key.removesuffix("_hz") + " frequency", source.report)
                    last.extra |= {} if value is None else {key: value}
        yield part

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`."""
        lines = []
        for label in labels:
            limits = [as_written(label.extra.get(key), 6) for key in LIMITS]
            has_limits = None not in limits
            times = (f"{time + 0.0:.6f}" for time in (label.onset, label.offset))
            lines.append("\t".join((*times, text_of(label, LIMITS if has_limits else ()))) + "\n")
            if has_limits:
                lines.append("\t".join(("\\", *map(str, limits))) + "\n")
        return "".join(lines)

    def repaired(self, text: str, codes: Sequence[str]) -> str:
        """See :meth:`ToolFormat.repaired`: times with commas get points."""
        return with_points(text, lambda cells: range(3 if cells[0] == "\\" else 2)) if "SYN503" in codes else text


def _label(line: re.Match[str], cells: list[tuple[str, Span]], report: Report) -> ToolLabel | None:
    if not 2 <= len(cells) <= 3:
        report("SYN501", line.span(), f"{plural(len(cells), 'cell')} between tabs; expected start, end and text", _FORM)
        return None
    (start, start_span), (end, end_span), *texts = cells
    onset, offset = comma_number(start, start_span, "start", report), comma_number(end, end_span, "end", report)
    text, (begins, _) = texts[0] if texts else ("", (line.end(), line.end()))
    label = ToolLabel(onset or 0.0, offset or 0.0, "", {"": line.span(), "onset": start_span, "offset": end_span})
    good = label.read_text(text, begins, report)
    return label if good and onset is not None and offset is not None else None


AUDACITY = AudacityFormat(
    name="audacity",
    title="Audacity label track: start and end in seconds, text; directions as az=30 el=10 dist=2 in the text",
    suffix=".txt",
    also=(".tsv",),
    repairable=True,
    aliases=("audacity-labels",),
    source="https://manual.audacityteam.org/man/importing_and_exporting_labels.html",
    note="The text is the class; az, el (degrees), dist (metres) and source may follow it. What has no direction stays "
    "without one. Times have six decimals.",
)


# --- Raven ------------------------------------------------------------------------------------------

_BEGIN = b"begin time (s)"
#: What selections hold besides their class and values; rows say nothing more of the columns that only lay them out.
_FIELDS = ("onset", "offset", "duration", "file_offset", *LIMITS, "clip", "class_name")
_LAYOUT = ("selection", "view", *(name for field in _FIELDS[:4] for name in NAMES[field][:1]))
_SHOWN = {"azimuth": "Azimuth (deg)", "elevation": "Elevation (deg)", "distance": "Distance (m)"}
_RAVEN_FORM = "save the table in Raven: File > Save Selection Table"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RavenFormat(ToolFormat):
    """The selection tables that Raven Pro, Raven Lite and their relatives write."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the header tells it
        """Return 0.95 if the first line has columns for the begin and end of selections."""
        first = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n")[0].lower()
        return 0.95 if b"\t" in first and _BEGIN in first else 0.0

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`; rows of several recordings are a clip for each."""
        source = ToolText(file, sink)
        lines = source.lines()
        if not lines:
            yield source.part()
            return
        table = _Table(lines[0], source)
        if not table.sound:
            yield source.part(readable=False)
            return
        rows = [row for line in lines[1:] if (row := table.row(line)) is not None]
        recordings = list(dict.fromkeys(row.recording for row in rows if row.recording))
        clips = _clips(recordings)
        if len(recordings) < 2:
            part = source.part()
            part.labels = table.labels(rows, "onset", {file.clip} & {*recordings, *clips})
            yield part
        elif "file_offset" in table.columns:
            rows_of: dict[str, list[_Row]] = {}
            for row in rows:
                rows_of.setdefault(row.recording, []).append(row)
            for row in rows_of.pop("", []):
                message = "the row names no recording, but others do"
                source.report("SYN508", row.whole, message, "fill in its Begin File")
            for recording, clip in zip(recordings, clips, strict=True):
                part = source.part(clip or file.clip)
                part.labels = table.labels(rows_of[recording], "file_offset", {clip, recording})
                yield part
        else:
            message = f"the rows cover {plural(len(recordings), 'recording')}, but no row gives a start time within "
            hint = 'add the measurement "File Offset (s)" to the table in Raven'
            span = next(row.cells[table.columns["clip"]][1] for row in rows if row.recording)
            source.report("SYN508", span, f"{message}its recording", hint)
            yield source.part(readable=False)

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`: a waveform's selections, or a spectrogram's where frequencies are known."""
        limited = any(as_written(label.extra.get(key), 3) for label in labels for key in LIMITS)
        fields = [field for field in VALUES if any(field in label.values for label in labels)]
        keys = list(dict.fromkeys(key for label in labels for key in label.extra if key not in LIMITS))
        taken = {"channel", "extra", *_LAYOUT, *(name for field in _FIELDS for name in NAMES[field])}
        keys = [key for key in keys if key.strip() == key and key.isprintable() and field_named(key) is None]
        columns = [key for key in keys if plain_title(key) not in {"", *taken}]
        head = ["Selection", "View", "Channel", "Begin Time (s)", "End Time (s)"]
        head += ["Low Freq (Hz)", "High Freq (Hz)"] if limited else []
        head += [*(_SHOWN.get(field, field.capitalize()) for field in fields), *columns]
        rows, left = [], []
        for number, label in enumerate(labels, 1):
            extra = dict(label.extra)
            limits = [as_written(extra.get(key), 3) for key in LIMITS] if limited else []
            for key, limit in zip(LIMITS, limits, strict=False):
                extra = {other: value for other, value in extra.items() if other != key or limit is None}
            channel = extra.pop("channel") if extra.get("channel", 1) != 1 else 1
            cells = [str(number), "Spectrogram 1" if limited else "Waveform 1", _cell(channel)]
            cells += [f"{label.onset + 0.0:.9f}", f"{label.offset + 0.0:.9f}", *(limit or "" for limit in limits)]
            cells += [plain(label.values[field]) if field in label.values else "" for field in fields]
            cells += [_cell(extra.pop(key)) if key in extra else "" for key in columns]
            rows.append(cells)
            left.append(json.dumps(extra) if extra else "")
        if any(left):
            head.append("Extra")
            rows = [[*cells, extra_cell] for cells, extra_cell in zip(rows, left, strict=True)]
        names = [text_of(dataclasses.replace(label, values={}, extra={})) for label in labels]
        lines = [[*head, "Annotation"], *([*cells, name] for cells, name in zip(rows, names, strict=True))]
        return "".join("\t".join(line) + "\n" for line in lines)

    def repaired(self, text: str, codes: Sequence[str]) -> str:
        """See :meth:`ToolFormat.repaired`: times with commas get points."""
        header = LINE.search(text)
        if "SYN503" not in codes or header is None:
            return text
        titles = [title.strip() for title in header[0].split("\t")]
        timed = {column_of(field, titles) for field in ("onset", "offset", "duration", "file_offset")}
        times = {at for at, title in enumerate(titles) if title in timed}
        return with_points(text, lambda _: times)


def _clips(recordings: Sequence[str]) -> list[str]:
    paths = [posixpath.splitext(name.replace("\\", "/"))[0] for name in recordings]
    names = [posixpath.basename(path) for path in paths]
    counts = Counter(names)
    return [name if counts[name] == 1 else path.strip("/") for name, path in zip(names, paths, strict=True)]


class _Row(NamedTuple):
    cells: list[tuple[str, Span]]
    whole: Span
    recording: str  # as the row names it


class _Table:
    def __init__(self, header: re.Match[str], source: ToolText) -> None:
        self.report = source.report
        self.titles = [cell.strip() for cell in header[0].split("\t")]
        named = {field: column_of(field, self.titles) for field in _FIELDS}
        #: the place of the column of each field
        self.columns = {field: self.titles.index(title) for field, title in named.items() if title is not None}
        if "offset" in self.columns:
            self.columns.pop("duration", None)
        timed = "onset" in self.columns and not self.columns.keys().isdisjoint(("offset", "duration"))
        self.sound = timed and "class_name" in self.columns
        if not self.sound:
            what, hint = "no Begin Time (s) and End Time (s)", f"the columns are {listed(self.titles, 12)}"
            if timed:
                what = "no column with the class (Annotation, Species, Common Name, Label, …)"
                hint = f"{hint}: add an annotation column in Raven"
            self.report("SYN501", header.span(), what, hint)

    def row(self, line: re.Match[str]) -> _Row | None:
        cells = cells_of(line)
        needed = max(self.columns[field] for field in _FIELDS[:4] if field in self.columns)
        if not needed < len(cells) <= len(self.titles):
            message = f"{plural(len(cells), 'cell')} in a table of {plural(len(self.titles), 'column')}"
            self.report("SYN501", line.span(), message, _RAVEN_FORM)
            return None
        clip = self.columns.get("clip", len(cells))
        return _Row(cells, line.span(), cells[clip][0].strip() if clip < len(cells) else "")

    def labels(self, rows: Sequence[_Row], begin: str, recordings: set[str]) -> list[ToolLabel]:
        """Return the labels of rows, of which several may be views of one selection.

        Args:
            rows: of one recording.
            begin: the field that holds where a label begins.
            recordings: names of the recording that need not be kept.
        """
        selection = next((at for at, title in enumerate(self.titles) if title.lower() == "selection"), None)
        labels: dict[Any, ToolLabel] = {}
        for number, row in enumerate(rows):
            label = self._label(row, begin, recordings)
            if label is None:
                continue
            chosen = "" if selection is None else row.cells[selection][0].strip()
            key = (chosen, label.onset, label.offset, label.name) if chosen else number
            if key in labels:
                labels[key].extra = label.extra | labels[key].extra
                labels[key].values = label.values | labels[key].values
            else:
                labels[key] = label
        return list(labels.values())

    def _label(self, row: _Row, begin: str, recordings: set[str]) -> ToolLabel | None:
        numbers: dict[str, float | None] = {}
        for field in dict.fromkeys((begin, "offset", "duration", "onset", *LIMITS)):
            column = self.columns.get(field, len(row.cells))
            if column < len(row.cells) and (row.cells[column][0].strip() or field not in LIMITS):
                numbers[field] = comma_number(*row.cells[column], self.titles[column], self.report)
        if None in numbers.values():
            return None
        values = {field: value or 0.0 for field, value in numbers.items()}
        length = values["offset"] - values["onset"] if "offset" in values else values["duration"]
        stated = begin == "onset" and "offset" in values
        offset = values["offset"] if stated else round(values[begin] + length, 9)
        places = {field: row.cells[self.columns[field]][1] for field in values}
        at = {"": row.whole, "onset": places[begin], "offset": places.get("offset", places[begin])}
        label = ToolLabel(values[begin], offset, "", at)
        used, good = {self.columns[field] for field in values}, True
        for place, (title, (cell, span)) in enumerate(zip(self.titles, row.cells, strict=False)):
            text, name = cell.strip(), plain_title(title)
            if not text or name in _LAYOUT or place in used or place == self.columns["class_name"]:
                continue
            if value_named := field_named(title):
                good &= label.set(value_named, text, span, self.report)
            elif name == "extra" and isinstance(value := json_value(text), dict):
                label.extra |= value
            elif name == "channel":
                label.extra |= {"channel": json_value(text)} if text != "1" else {}
            elif place != self.columns.get("clip") or recordings.isdisjoint({text, *_clips([text])}):
                label.extra[title] = json_value(text)
        label.extra |= {field: values[field] for field in LIMITS if field in values}
        if self.columns["class_name"] < len(row.cells):
            cell, span = row.cells[self.columns["class_name"]]
            good &= label.read_text(cell.strip(), span[0] + len(cell) - len(cell.lstrip()), self.report)
        return label if good else None


def _cell(value: Any) -> str:
    if isinstance(value, str) and value.strip() == value and value.isprintable() and json_value(value) == value:
        return value
    return json.dumps(value)


RAVEN = RavenFormat(
    name="raven",
    title="Raven selection table: tabs, Begin Time (s), End Time (s), Annotation; Azimuth, Elevation, Distance columns",
    suffix=".txt",
    also=(".tsv",),
    stem=r"(?i)(\.birdnet)?\.(table\.[0-9]+\.)?selections?(\.table)?\Z",
    repairable=True,
    clips_by="rows",
    aliases=("raven-selections",),
    source="https://ravensoundsoftware.com/knowledge-base/selection-tables/",
    note="The views of a selection are one row. A table of several recordings becomes a clip for each, by its columns "
    "Begin File (or Begin Path) and File Offset (s).",
)
FORMATS = (AUDACITY, RAVEN)
