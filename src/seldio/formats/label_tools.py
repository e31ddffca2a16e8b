"""Read and write the labels of annotation tools: the part that their formats share.

A label has a start, an end and a text, and perhaps columns, tiers or controls of its own. It becomes a row of an event
table: a whole event in seconds, with a class found by its spelling. A direction stands in cells of its own or in the
text of the label; without one, the event has none::

    dog az=30 el=10 dist=2

Files are small, so labels are Python objects until they are columns.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from seldio.findings import SINGLY, Finding, Sink, gathered
from seldio.formats import cells
from seldio.formats.base import (
    FileRows,
    LabelFormat,
    LabelReading,
    Place,
    TextFile,
    TextLines,
    assembled,
    newline_of,
)
from seldio.formats.cells import number_in
from seldio.reader_rules import READER_RULES
from seldio.schema.column_names import NAMES, plain_title
from seldio.schema.events import COLUMNS, ClipFile
from seldio.text import clipped, meant
from seldio.vocabularies import spelling, vocabulary

#: The values of a label, and the field that each name of one means, in its text, a column, a tier or a control.
VALUES = ("azimuth", "elevation", "distance", "source", "score")
FIELDS = {name: field for field in VALUES for name in NAMES[field]}
_MEANS = {
    "azimuth": "degrees, counter-clockwise from the front: +90 is left", "elevation": "degrees, up positive",
    "distance": "metres", "source": "a whole number", "score": "a number",
}  # fmt: skip
#: How people and programs write that a value is not known, and that a distance is not.
_UNKNOWN, _UNMEASURED = {"", "none", "null", "nan", "na", "n/a", "-"}, {"-1", "-1.0", "-1000", "-1000.0"}
_PAIR = re.compile(r"(?<!\S)([^\W\d][\w-]*)=(\S+)")
#: Where something stands in a text: from one offset to another.
Span = tuple[int, int]
#: Takes a code, what it is about, a message and a hint.
Report = Callable[[str, Any, str, str | None], None]


def field_named(name: str) -> str | None:
    """Return the value that a column, tier or control of this name holds: ``Azimuth (deg)`` holds the azimuth."""
    return FIELDS.get(plain_title(name))


#: A line of a text.
LINE = re.compile(r"[^\r\n]+")


@dataclasses.dataclass(slots=True)
class ToolLabel:
    """A label as its file has it; *at* leads to each of its fields, and with an empty name to itself."""

    onset: float
    offset: float
    name: str
    at: dict[str, Any]
    values: dict[str, float] = dataclasses.field(default_factory=dict)
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)

    def set(self, field: str, given: Any, at: Any, report: Report) -> bool:
        """Take in the value of a field, be it a number or text; False, after a finding, where it is not one."""
        if str(given).strip().lower() in _UNKNOWN or (field == "distance" and str(given).strip() in _UNMEASURED):
            return True
        if isinstance(given, str):
            value = number_in(given, field)
        else:
            value = float(given) if type(given) in (int, float) and abs(given) <= 2**53 else None
        if value is None or (field == "source" and not (value.is_integer() and abs(value) < 2**31)):
            shown = clipped(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False), 30)
            report("SYN501", at, f"{field} is {shown}, not a number", f"{field} is {_MEANS[field]}")
            return False
        self.values[field], self.at[field] = value, at
        return True

    def read_text(self, text: str, start: int | None, report: Report) -> bool:
        """Read name and values (``key=value``) from *text*, which stands at *start*; False after an error."""
        good, notes, last = True, [], 0
        for match in _PAIR.finditer(text):
            key, given = match[1], match[2].rstrip(",;") or match[2]
            span = (start + match.start(), start + match.end()) if start is not None else self.at[""]
            notes.append(text[last : match.start()])
            last = match.end()
            if field := FIELDS.get(key.lower()):
                good &= self.set(field, given, span, report)
            elif key == "class":
                self.name = value if isinstance(value := json_value(given), str) else given
            elif key == "extra" and isinstance(given_extra := json_value(given), dict):
                self.extra |= given_extra
            else:
                self.extra[key] = json_value(given)
                if close := meant(key, FIELDS):
                    report("SYN505", span, f"{clipped(key, 30)} is not a field of labels{close}", _PAIRS)
        if start is not None:
            named = (notes or [text])[0].rstrip(" ,;")
            self.at["class_name"] = (start + len(named) - len(named.lstrip()), start + len(named))
        notes.append(text[last:])
        name = " ".join(" ".join(notes).split()) if len(notes) > 1 else text.strip()
        self.name = (name.rstrip(" ,;") if len(notes) > 1 else name) or self.name
        return good


_PAIRS = "directions are written az=DEGREES el=DEGREES dist=METRES"


def json_value(text: str) -> Any:
    """Parse the value of an unknown key: JSON, or the text itself."""
    try:
        value = json.loads(text, parse_constant=lambda _: text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, float) and value in (float("inf"), float("-inf")) else value


class ToolPart(FileRows):
    """The labels of one clip in a file; *locate* turns what leads to a field into its place."""

    def __init__(self, file: TextFile, origin: ClipFile, locate: Callable[[Any], Place], readable: bool = True) -> None:
        super().__init__(file, origin)
        self.labels: list[ToolLabel] = []
        self.readable = readable
        self._locate = locate

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`."""
        at = self.labels[row].at
        return self._locate(at.get({"class_id": "class_name"}.get(field or "", field or ""), at[""]))


class ToolText:
    """The text of a file, in which places are looked up; what is wrong with it goes to *sink*."""

    def __init__(self, file: TextFile, sink: Sink) -> None:
        self.file, self._sink = file, sink
        self.text = file.data.decode().removeprefix("\ufeff")
        self._lines = TextLines(self.text)

    def place(self, span: Span) -> Place:
        """Return where the text from one offset to another stands."""
        return self._lines.place(*span)

    def report(self, code: str, span: Span, message: str, hint: str | None) -> None:
        """Report a finding about a span."""
        self._sink(self.place(span).finding(READER_RULES[code], self.file.path, message, hint))

    def lines(self) -> list[re.Match[str]]:
        """Return the lines that are not blank; a byte order mark before them is a finding."""
        if self.file.data.startswith(b"\xef\xbb\xbf"):
            self.report("SYN103", (0, 0), "the file begins with a byte order mark", "save as UTF-8 without BOM")
        return [match for match in LINE.finditer(self.text) if match[0].strip()]

    def part(self, clip: str = "", readable: bool = True) -> ToolPart:
        """Return the part of a clip, without labels; of the only one unless it is named."""
        name = posixpath.join(posixpath.dirname(self.file.name), f"{clip}.txt") if clip else self.file.name
        origin = ClipFile(clip or self.file.clip, name, newline_of(self.file.data))
        return ToolPart(self.file, origin, self.place, readable)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToolFormat(LabelFormat):
    """The labels of one tool."""

    role: Any = "label"
    tool: bool = True
    carries: tuple[str, ...] = (
        "clip",
        "onset",
        "offset",
        "class_id",
        "class_name",
        "source",
        "azimuth",
        "elevation",
        "distance",
        "score",
        "extra",
    )
    needs: tuple[str, ...] = ("onset", "offset")

    @abstractmethod
    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """Return the labels of a file in UTF-8, of each of its clips; what is wrong with it goes to *sink*."""

    @abstractmethod
    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """Return the file of a clip as seldio writes it, with LF."""

    def read(self, files: Sequence[TextFile], sink: Sink) -> LabelReading:
        """See :meth:`LabelFormat.read`."""
        parts: list[ToolPart] = []
        for file in files:
            if (problem := cells.encoding_problem(file.path, file.data)) is not None:
                sink(problem)
                parts.append(ToolPart(file, ClipFile(file.clip, file.name), lambda _: Place(1, 1, 1, "", ""), False))
                continue
            findings: list[Finding] = []
            parts += self.parts(file, findings.append)
            for finding in gathered(findings, SINGLY):
                sink(finding)
        for part in parts:
            part.rows = len(part.labels)
        return assembled(self, self.columns([label for part in parts for label in part.labels]), parts)

    def columns(self, labels: Sequence[ToolLabel]) -> dict[str, pa.Array]:
        """Return the columns of labels, but for their clips."""
        classes = vocabulary(self.vocabulary)
        ids = [classes.indices.get(spelling(label.name)) for label in labels]
        values: dict[str, list[Any]] = {
            "onset": [label.onset for label in labels],
            "offset": [label.offset for label in labels],
            "class_id": ids,
            "class_name": [
                label.name if label.name and (number is None or classes.label(number) != label.name) else None
                for label, number in zip(labels, ids, strict=True)
            ],
            **{field: [label.values.get(field) for label in labels] for field in VALUES},
            "extra": [json.dumps(label.extra, ensure_ascii=False) if label.extra else None for label in labels],
        }
        always = ("onset", "offset", "class_id")
        names = [name for name in COLUMNS if name in always or any(value is not None for value in values.get(name, ()))]
        types = {name: pa.float64() if name in VALUES else COLUMNS[name] for name in names}
        return {name: pa.array(values[name], type).cast(COLUMNS[name]) for name, type in types.items()}

    def write(self, table: pa.Table, file: ClipFile) -> bytes:
        """See :meth:`LabelFormat.write`."""
        classes, count = vocabulary(self.vocabulary), table.num_rows
        columns: dict[str, list[Any]] = {
            name: table[name].to_pylist() if name in table.column_names else [None] * count for name in COLUMNS
        }
        labels = []
        for row in range(count):
            number, name = columns["class_id"][row], columns["class_name"][row]
            name = name if name is not None else "" if number is None else classes.label(number)
            label = ToolLabel(columns["onset"][row], columns["offset"][row], name, {})
            # adding 0.0 turns -0.0 into 0.0
            label.values = {field: columns[field][row] + 0.0 for field in VALUES if columns[field][row] is not None}
            label.extra = json.loads(columns["extra"][row] or "{}")
            labels.append(label)
        return self.text(labels, file).replace("\n", file.newline).encode()


# --- writing -------------------------------------------------------------------------------------------------------


def plain(value: float) -> str:
    """Return a number without a needless point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(float(value))


def text_of(label: ToolLabel, leave: Iterable[str] = ()) -> str:
    """Return a label as text for :meth:`ToolLabel.read_text`, without the fields and keys to *leave* out."""
    left = set(leave)
    pairs = [f"{NAMES[f][0]}={plain(v)}" for f, v in label.values.items() if f not in left]
    odd = {}
    for key, value in label.extra.items():
        if key in left:
            continue
        # a text stays as it is if it is a word that is read back as the same
        word = isinstance(value, str) and value.isprintable() and json_value(value) == value
        word = word and re.fullmatch(r"[^\s,;]\S*(?<![,;])", value) is not None
        token = f"{key}={value if word else _dense(value)}"
        match = _PAIR.fullmatch(token)
        if match and match[1] == key and key.lower() not in FIELDS and key not in ("class", "extra"):
            pairs.append(token)
        else:
            odd[key] = value
    if odd:
        pairs.append(f"extra={_dense(odd)}")
    name = label.name
    again = ToolLabel(0, 0, "", {"": (0, 0)})
    again.read_text(" ".join([name, *pairs]), None, lambda *_: None)
    if name and (again.name != name or not name.isprintable()):
        return " ".join([f"class={_dense(name)}", *pairs])
    return " ".join([name, *pairs] if name else pairs)


def _dense(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace(" ", r"\u0020")
