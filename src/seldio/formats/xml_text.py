"""Read XML safely with expat, with places: without document types, hence without entities and network."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

#: Elements deeper than this, and more of them, are no annotations.
DEEPEST, MOST_ELEMENTS = 100, 1_000_000


class XmlProblem(Exception):
    """A document that cannot be read: why, and the byte at which that shows."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


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
        """The elements directly in it that are called *tag*."""
        return (child for child in self.children if child.tag == tag)


def parse(data: bytes) -> Element:
    """Return the root of a document; raise XmlProblem if it is malformed, has a document type, or too many elements."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = False
    root = Element("", {}, 0)
    open_elements: list[tuple[Element, list[str]]] = [(root, [])]  # with the pieces of their texts
    count = itertools.count(1)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            raise XmlProblem(f"elements are nested more than {DEEPEST} deep", parser.CurrentByteIndex)
        if next(count) > MOST_ELEMENTS:
            raise XmlProblem(f"there are more than {MOST_ELEMENTS:,} elements", parser.CurrentByteIndex)
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


def tag(name: str, attributes: dict[str, str], text: str | None = None, *, closed: bool = True) -> str:
    """An element as text, with what is in it if it is nothing but text; not *closed*: its start alone."""
    start = " ".join([name, *(f"{key}={quoteattr(value)}" for key, value in attributes.items())])
    if text is not None:
        return f"<{start}>{escape(text)}</{name}>"
    return f"<{start}/>" if closed else f"<{start}>"


def fits(text: str) -> bool:
    """Whether XML can hold *text*, and gives it back as it was."""
    return all(
        character in "\t\n" or " " <= character <= "\ud7ff" or "\ue000" <= character <= "\ufffd" or character > "\uffff"
        for character in text
    )
