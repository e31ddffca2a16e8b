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
    LIMITS,
    LINE,
    Report,
    ToolFormat,
    ToolLabel,
    ToolPart,
    ToolText,
    as_written,
    cells_of,
    comma_number,
    seconds,
    text_of,
    with_points,
)
from seldio.schema.events import ClipFile
from seldio.text import plural

_TIME = r"[+-]?[0-9]+(?:[.,][0-9]*)?"
_LIKELY = re.compile(rf"{_TIME}\t{_TIME}\t[^\t]*|\\\t{_TIME}\t{_TIME}")
_FORM = "a line is START<TAB>END<TAB>TEXT, in seconds: in Audacity, File > Export Other > Export Labels"
#: Bytes of a file that are looked at to tell what it is, and the share of its lines that have to look right.
HEAD, _SHARE = 4096, 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class AudacityFormat(ToolFormat):
    """The label tracks that Audacity exports."""

    def likes(self, data: bytes, name: str) -> float:
        """Return 0.9 if most of the first lines are two times and a text, separated by tabs."""
        if b"\t" not in data[:HEAD]:
            return 0.0
        head = data[:HEAD].decode(errors="ignore").removeprefix("\ufeff")
        lines = [match[0] for match in LINE.finditer(head) if match[0].strip()]
        lines = lines[:-1] if len(data) > HEAD and len(lines) > 1 else lines  # the last one is cut
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
            if line[0].startswith("\\"):
                _limits(line, last, source.report)
            elif (last := _label(line, source.report)) is not None:
                part.labels.append(last)
        yield part

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:  # noqa: ARG002 - no file holds more
        """See :meth:`ToolFormat.text`."""
        lines = []
        for label in labels:
            limits = [as_written(label.extra.get(key), 6) for key in LIMITS]
            has_limits = None not in limits
            times = (seconds(time, 6) for time in (label.onset, label.offset))
            lines.append("\t".join((*times, text_of(label, LIMITS if has_limits else ()))) + "\n")
            if has_limits:
                lines.append("\t".join(("\\", *map(str, limits))) + "\n")
        return "".join(lines)

    def repaired(self, text: str, codes: Sequence[str]) -> str:
        """See :meth:`ToolFormat.repaired`: times with commas get points."""
        return with_points(text, lambda cells: range(3 if cells[0] == "\\" else 2)) if "SYN503" in codes else text


def _label(line: re.Match[str], report: Report) -> ToolLabel | None:
    cells = cells_of(line)
    if not 2 <= len(cells) <= 3:
        report("SYN501", line.span(), f"{plural(len(cells), 'cell')} between tabs; expected start, end and text", _FORM)
        return None
    (start, start_span), (end, end_span), *texts = cells
    onset, offset = comma_number(start, start_span, "start", report), comma_number(end, end_span, "end", report)
    text, (begins, _) = texts[0] if texts else ("", (line.end(), line.end()))
    label = ToolLabel(onset or 0.0, offset or 0.0, "", {"": line.span(), "onset": start_span, "offset": end_span})
    good = label.read_text(text, begins, report)
    return label if good and onset is not None and offset is not None else None


def _limits(line: re.Match[str], label: ToolLabel | None, report: Report) -> None:
    """Add the limits of frequency of a following line to a label."""
    cells = cells_of(line)
    if len(cells) != 3 or label is None:
        what = "limits of frequency without a label" if label is None else "not a low and a high frequency"
        report("SYN501", line.span(), what, "a line with limits follows its label: \\<TAB>LOW<TAB>HIGH")
        return
    for key, (cell, span) in zip(LIMITS, cells[1:], strict=True):
        value = comma_number(cell, span, key.removesuffix("_hz") + " frequency", report)
        if value is not None:
            label.extra[key] = value


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
