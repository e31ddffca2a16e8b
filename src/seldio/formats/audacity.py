r"""Label tracks of Audacity: a line for each label, with its start, its end and its text between tabs.

::

    1.250000<TAB>2.500000<TAB>dog az=30 el=10 dist=2
    \<TAB>100.000000<TAB>2000.000000

A line that begins with a backslash holds the limits of frequency, in Hz, of the label before it (-1 where there is
none); a label whose start is its end is a point.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from seldio.findings import Sink
from seldio.formats.base import TextFile
from seldio.formats.cells import number_in
from seldio.formats.label_tools import (
    Report,
    ToolFormat,
    ToolLabel,
    ToolPart,
    ToolText,
    as_written,
    comma_number,
    pointed,
    seconds,
    text_of,
)
from seldio.schema.events import ClipFile
from seldio.text import plural

#: Keys of :attr:`ToolLabel.extra` for the limits of frequency, in Hz; every tool that has them uses these.
LIMITS = ("low_hz", "high_hz")
_TIME = r"[+-]?[0-9]+(?:[.,][0-9]*)?"
_LIKELY = re.compile(rf"{_TIME}\t{_TIME}\t[^\t]*|\\\t{_TIME}\t{_TIME}")
_LINE = re.compile(r"[^\r\n]+")
_FORM = "a line is START<TAB>END<TAB>TEXT, in seconds: in Audacity, File > Export Other > Export Labels"
#: Bytes of a file that are looked at to tell what it is, and the share of its lines that have to look right.
HEAD, _SHARE = 4096, 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class AudacityFormat(ToolFormat):
    """The label tracks that Audacity exports."""

    def likes(self, data: bytes, name: str) -> float:
        """Whether most of its first lines are two times and a text, with tabs between them."""
        if b"\t" not in data[:HEAD]:
            return 0.0
        head = data[:HEAD].decode(errors="ignore").removeprefix("\ufeff")
        lines = [match[0] for match in _LINE.finditer(head) if match[0].strip()]
        lines = lines[:-1] if len(data) > HEAD and len(lines) > 1 else lines  # the last one is cut
        good = sum(_LIKELY.fullmatch(line) is not None for line in lines)
        # three columns of numbers are something else, unless the file is called like one of labels
        worded = name.lower().endswith(".txt") or any(number_in(line.rpartition("\t")[2]) is None for line in lines)
        return 0.9 if lines and worded and good >= _SHARE * len(lines) else 0.0

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        source = ToolText(file)
        report = source.report(sink)
        if file.data.startswith(b"\xef\xbb\xbf"):
            report("SYN103", (0, 0), "the file begins with a byte order mark", "save as UTF-8 without BOM")
        newline = "\r\n" if 0 < file.data.count(b"\r\n") == file.data.count(b"\n") else "\n"
        part = ToolPart(file, ClipFile(file.clip, file.name, newline), source.place)
        last: ToolLabel | None = None
        for match in _LINE.finditer(source.text):
            if not match[0].strip():
                continue
            if match[0].startswith("\\"):
                _limits(match[0], match.start(), last, report)
            elif (last := _label(match[0], match.start(), report)) is not None:
                part.labels.append(last)
        yield part

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`."""
        lines = []
        for label in labels:
            limits = [as_written(label.extra.get(key), 6) for key in LIMITS]
            known = None not in limits
            times = (seconds(time, 6) for time in (label.onset, label.offset))
            lines.append("\t".join((*times, text_of(label, LIMITS if known else ()))) + "\n")
            if known:
                lines.append("\t".join(("\\", *map(str, limits))) + "\n")
        return "".join(lines)

    def repaired(self, text: str, codes: Sequence[str]) -> str:
        """See :meth:`ToolFormat.repaired`: times with commas get points."""
        if "SYN503" not in codes:
            return text

        def line(match: re.Match[str]) -> str:
            numbers = 3 if match[0].startswith("\\") else 2
            cells = match[0].split("\t", 2)
            return "\t".join([*map(pointed, cells[:numbers]), *cells[numbers:]])

        return _LINE.sub(line, text)


def _cells(line: str, start: int) -> list[tuple[str, int]]:
    """The cells of a line, each with where it begins."""
    found = []
    for cell in line.split("\t"):
        found.append((cell, start))
        start += len(cell) + 1
    return found


def _label(line: str, start: int, report: Report) -> ToolLabel | None:
    """The label of a line; None, after findings, where it is none."""
    cells, whole = _cells(line, start), (start, start + len(line))
    if not 2 <= len(cells) <= 3:
        report("SYN501", whole, f"{plural(len(cells), 'cell')} between tabs; expected start, end and text", _FORM)
        return None
    onset, offset = (comma_number(cell, (at, at + len(cell)), what, report)
                     for (cell, at), what in zip(cells, ("start", "end"), strict=False))  # fmt: skip
    text, begins = cells[2] if len(cells) > 2 else ("", whole[1])
    spans = [(at, at + len(cell)) for cell, at in cells]
    label = ToolLabel(onset or 0.0, offset or 0.0, "", {"": whole, "onset": spans[0], "offset": spans[1]})
    good = label.read_text(text, begins, report)
    return label if good and onset is not None and offset is not None else None


def _limits(line: str, start: int, label: ToolLabel | None, report: Report) -> None:
    """Give a label the limits of frequency of the line that follows it."""
    cells = _cells(line, start)
    if len(cells) != 3 or label is None:
        what = "limits of frequency without a label" if label is None else "not a low and a high frequency"
        report("SYN501", (start, start + len(line)), what, "a line with limits follows its label: \\<TAB>LOW<TAB>HIGH")
        return
    for key, cell in zip(LIMITS, cells[1:], strict=True):
        span = (cell[1], cell[1] + len(cell[0]))
        value = comma_number(cell[0], span, key.removesuffix("_hz") + " frequency", report)
        if value is not None:
            label.extra[key] = value


AUDACITY = AudacityFormat(
    name="audacity",
    title="Audacity label track: start and end in seconds, text; directions as az=30 el=10 dist=2 in the text",
    suffix=".txt",
    also=(".tsv",),
    time_decimals=6,
    repairable=True,
    aliases=("audacity-labels",),
    source="https://manual.audacityteam.org/man/importing_and_exporting_labels.html",
    note="The text is the class; az, el (degrees), dist (metres) and source may follow it. What has no direction stays "
    "without one. Times have six decimals.",
)
