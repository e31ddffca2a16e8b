"""Annotation documents of ELAN: XML with tiers, whose annotations lie between time slots in milliseconds.

Each annotation with times is a label: its value is the class, or, where that is empty or holds only a direction, the
name of its tier is. Annotations that depend on another one have no times: on tiers called ``azimuth``, ``elevation``,
``distance`` or ``source`` (or shorter, and with ``@speaker`` at the end) they give the direction, on others they are
kept under the name of the tier. Expat reads the XML: without document types, hence without entities and network.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from seldio.findings import Sink
from seldio.formats.base import TextFile
from seldio.formats.label_tools import (
    Report,
    ToolFormat,
    ToolLabel,
    ToolPart,
    ToolText,
    field_named,
    text_of,
)
from seldio.schema.events import ClipFile
from seldio.text import clipped

#: Tags of a document; eight are an annotation.
MOST_TAGS = 2_000_000


class XmlProblem(Exception):
    """A document that cannot be read: why, and the byte at which that shows."""


@dataclasses.dataclass(slots=True)
class Element:
    """An element with what is in it; *start* is the byte at which its tag begins."""

    tag: str
    attributes: dict[str, str]
    start: int
    text: str = ""  # all of it that is directly in the element
    text_start: int = -1  # the byte at which that begins
    children: list[Element] = dataclasses.field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """Return the elements directly in it that are called *tag*."""
        return (child for child in self.children if child.tag == tag)


def parse(data: bytes) -> Element:
    """Return the root of a document; raise XmlProblem if it is malformed, too large or has a document type."""
    if data.count(b"<") > MOST_TAGS:
        raise XmlProblem(f"the document has more than {MOST_TAGS:,} tags", 0)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = False
    root = Element("", {}, 0)
    open_elements: list[tuple[Element, list[str]]] = [(root, [])]  # with the pieces of their texts

    def begin(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentByteIndex)
        open_elements[-1][0].children.append(element)
        open_elements.append((element, []))

    def end(_: str) -> None:
        element, pieces = open_elements.pop()
        element.text = "".join(pieces)

    def text(piece: str) -> None:
        element, pieces = open_elements[-1]
        if element.text_start < 0:
            element.text_start = parser.CurrentByteIndex
        pieces.append(piece)

    def refuse(*_: Any) -> None:
        raise XmlProblem("the document declares a document type, which may define entities", parser.CurrentByteIndex)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise XmlProblem(f"this is not valid XML: {expat.ErrorString(error.code)}", parser.ErrorByteIndex) from None
    return root.children[0]


#: The tier that seldio writes labels to that have none.
TIER = "events"
_ALIGNED, _DEPENDENT = "ALIGNABLE_ANNOTATION", "REF_ANNOTATION"
_HEAD = 4096
#: What XML can hold, and gives back as it was.
_FITS = re.compile("[\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
#: How a document begins.
_BEGIN = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<ANNOTATION_DOCUMENT AUTHOR="" DATE="1970-01-01T00:00:00Z" FORMAT="3.0" VERSION="3.0" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">\n'
    '    <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds">'
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ElanFormat(ToolFormat):
    """The documents (.eaf) that ELAN saves."""

    def likes(self, data: bytes, name: str) -> float:
        """Return 1 if a file begins with the root of an annotation document, or is named ``.eaf``."""
        return 1.0 if b"<ANNOTATION_DOCUMENT" in data[:_HEAD] or name.lower().endswith(".eaf") else 0.0

    def parts(self, file: TextFile, sink: Sink) -> Iterator[ToolPart]:
        """See :meth:`ToolFormat.parts`."""
        source = ToolText(file, sink)
        part = source.part()
        if file.data.strip():
            raw = source.text.encode()
            try:
                root = parse(raw)
            except XmlProblem as problem:
                message, byte = problem.args
                at = len(raw[:byte].decode(errors="ignore"))
                hint = "save the document again in ELAN"
                source.report("SYN501", (at, min(at + 1, len(source.text))), message, hint)
                part.readable = False
            else:
                document = _Document(root, source.text, raw, source.report)
                part.readable = document.sound
                part.labels = document.labels()
        yield part

    def text(self, labels: Sequence[ToolLabel], file: ClipFile) -> str:
        """See :meth:`ToolFormat.text`; directions are in the values of annotations."""
        times = sorted({round(1000 * time) for label in labels for time in (label.onset, label.offset)})
        slots = {time: f"ts{number}" for number, time in enumerate(times, 1)}
        tiers: dict[str, list[ToolLabel]] = {}
        for label in labels:  # its own tier, if that is a valid name and is read back as the same
            tier: Any = label.extra.get("tier")
            is_name = isinstance(tier, str) and tier.isprintable() and tier.strip() == tier and not field_named(tier)
            whole = is_name and tier and label.name and tier not in (TIER, label.name)
            tiers.setdefault(tier if whole else TIER, []).append(label)
        url = quoteattr(f"{file.clip}.wav" if _FITS.fullmatch(file.clip) else "")
        lines = [
            _BEGIN,
            f'        <MEDIA_DESCRIPTOR MEDIA_URL={url} MIME_TYPE="audio/x-wav"/>',
            "    </HEADER>",
            "    <TIME_ORDER>",
            *(f'        <TIME_SLOT TIME_SLOT_ID="{slot}" TIME_VALUE="{time}"/>' for time, slot in slots.items()),
            "    </TIME_ORDER>",
        ]
        number = 0
        for tier, labels_of_tier in tiers.items() or [(TIER, [])]:
            lines.append(f'    <TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID={quoteattr(tier)}>')
            for label in labels_of_tier:
                number += 1
                first, last = (slots[round(1000 * time)] for time in (label.onset, label.offset))
                span = f'TIME_SLOT_REF1="{first}" TIME_SLOT_REF2="{last}"'
                value = escape(text_of(label, () if tier == TIER else ("tier",)))
                lines += [
                    "        <ANNOTATION>",
                    f'            <{_ALIGNED} ANNOTATION_ID="a{number}" {span}>',
                    f"                <ANNOTATION_VALUE>{value}</ANNOTATION_VALUE>",
                    f"            </{_ALIGNED}>",
                    "        </ANNOTATION>",
                ]
            lines.append("    </TIER>")
        lines += [
            '    <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>',
            "</ANNOTATION_DOCUMENT>\n",
        ]
        return "\n".join(lines)


def _first_parent(key: str, parents: dict[str, str], rows: Mapping[str, int]) -> str:
    """Return the annotation that *key* depends on in the end; *parents* is shortened so that chains are walked once."""
    way: dict[str, None] = {}
    while key in parents and key not in rows and key not in way:
        way[key] = None
        key = parents[key]
    parents.update(dict.fromkeys(way, key))
    return key


class _Document:
    def __init__(self, root: Element, text: str, raw: bytes, report: Report) -> None:
        self.text, self.report = text, report
        self._within = np.flatnonzero((np.frombuffer(raw, np.uint8) & 0xC0) == 0x80)  # bytes inside of characters
        self.root = root
        self.sound = root.tag == "ANNOTATION_DOCUMENT"
        if not self.sound:
            message = f"the root is {clipped(root.tag, 40)}, not ANNOTATION_DOCUMENT"
            self.report("SYN501", self.span(root), message, None)
            return
        for header in root.all("HEADER"):
            unit = header.attributes.get("TIME_UNITS", "milliseconds")
            if unit != "milliseconds":
                self.sound = False
                message = f"times are in {clipped(unit, 30)}, not in milliseconds"
                self.report("SYN501", self.span(header), message, "save the document with a newer ELAN")
        self.slots = {
            slot.attributes.get("TIME_SLOT_ID", ""): slot
            for order in root.all("TIME_ORDER")
            for slot in order.all("TIME_SLOT")
        }

    def at(self, byte: int) -> int:
        """Return the offset in characters of an offset in bytes."""
        return byte - int(np.searchsorted(self._within, byte))

    def span(self, element: Element) -> tuple[int, int]:
        start = self.at(element.start)
        end = self.text.find(">", start)
        return start, end + 1 if end >= 0 else len(self.text)

    def labels(self) -> list[ToolLabel]:
        labels: list[ToolLabel] = []
        rows: dict[str, int] = {}  # of annotations in labels
        bad: set[str] = set()
        dependent: list[tuple[str, Element]] = []
        for tier in self.root.all("TIER") if self.sound else ():
            name = tier.attributes.get("TIER_ID", "")
            for annotation in (child for holder in tier.all("ANNOTATION") for child in holder.children):
                key = annotation.attributes.get("ANNOTATION_ID", "")
                if annotation.tag == _DEPENDENT:
                    dependent.append((name, annotation))
                elif annotation.tag == _ALIGNED and (label := self.label(annotation, name)) is None:
                    bad.add(key)
                elif annotation.tag == _ALIGNED and label is not None:
                    rows[key] = len(labels)
                    labels.append(label)
        attributes = [annotation.attributes for _, annotation in dependent]
        parents = {keys.get("ANNOTATION_ID", ""): keys.get("ANNOTATION_REF", "") for keys in attributes}
        failed: set[int] = set()  # rows with something unreadable
        values: dict[tuple[int, str], list[str]] = {}  # by row and tier
        for tier_name, annotation in dependent:
            key = _first_parent(annotation.attributes.get("ANNOTATION_REF", ""), parents, rows)
            if key in bad:
                continue
            if key not in rows:
                self.report("SYN501", self.span(annotation), "the annotation depends on none with a time", None)
                continue
            row, (value, span) = rows[key], self.value(annotation)
            field = field_named(tier_name)
            if field is None:
                values.setdefault((row, tier_name), []).append(value)
            elif value.strip() and not labels[row].set(field, value, span, self.report):
                failed.add(row)
        for (row, tier_name), texts in values.items():
            before = labels[row].extra.get(tier_name)
            labels[row].extra[tier_name] = " ".join(texts if before is None else [before, *texts])
        return [label for row, label in enumerate(labels) if row not in failed]

    def value(self, annotation: Element) -> tuple[str, tuple[int, int]]:
        for value in annotation.all("ANNOTATION_VALUE"):
            if value.text_start >= 0:
                start = self.at(value.text_start)
                end = self.text.find("<", start)
                return value.text, (start, end if end >= 0 else len(self.text))
        return "", self.span(annotation)

    def label(self, annotation: Element, tier: str) -> ToolLabel | None:
        """Return the label of an annotation with times; None, after a finding, where it has none."""
        times: list[float] = []
        spots: list[Any] = []
        for key in ("TIME_SLOT_REF1", "TIME_SLOT_REF2"):
            slot = self.slots.get(name := annotation.attributes.get(key, ""))
            if slot is None:
                message = f"{key} is {clipped(name, 30) or 'missing'}: there is no such time slot"
                self.report("SYN501", self.span(annotation), message, None)
                return None
            value = slot.attributes.get("TIME_VALUE")
            if value is None:
                message = "the annotation begins or ends at a time slot without a time"
                self.report("SYN501", self.span(annotation), message, "set its start and its end in ELAN")
                return None
            if not re.fullmatch(r"\s*-?\d+\s*", value) or len(value) > 12:
                message = f"TIME_VALUE is {clipped(value, 30)}, not whole milliseconds"
                self.report("SYN501", self.span(slot), message, None)
                return None
            times.append(int(value) / 1000)
            spots.append(self.span(slot))
        text, span = self.value(annotation)
        label = ToolLabel(times[0], times[1], "", {"": self.span(annotation), "onset": spots[0], "offset": spots[1]})
        exact = self.text[span[0] : span[1]] == text  # no entities and no sections in it
        good = label.read_text(text, span[0] if exact else None, self.report)
        label.at.setdefault("class_name", span)
        if not label.name and tier != TIER:
            label.name = tier
        if tier not in (TIER, label.name):
            label.extra = {"tier": tier} | label.extra
        return label if good else None


ELAN = ElanFormat(
    name="elan",
    title="ELAN annotation document: XML with tiers and time slots in milliseconds; directions in values or tiers",
    suffix=".eaf",
    aliases=("eaf",),
    source="https://www.mpi.nl/tools/elan/EAF_Annotation_Format_3.0_and_ELAN.pdf",
    note="The value of an annotation is the class, or the name of its tier where it has none. Dependent tiers called "
    "azimuth, elevation, distance or source give the direction. Times are whole milliseconds.",
)
