"""The file in which a dataset says what it is: its keys, what is wrong with them, and where they stand in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seldio.errors import UsageError
from seldio.findings import Finding
from seldio.formats import named
from seldio.formats.base import LabelFormat, Place, TextLines
from seldio.formats.datasets import clip_range
from seldio.reader_rules import READER_RULES
from seldio.schema.own_columns import FIELDS
from seldio.text import clipped, from_toml

if TYPE_CHECKING:
    from seldio.schema.dataset_file import KeyFault


@lru_cache(maxsize=256)
def clips_of(text: str) -> frozenset[str]:
    """The clips that a list names: one, or a range such as mix001..mix079."""
    return frozenset(clip_range(text) if ".." in text else (text,))


@lru_cache(maxsize=16)
def parsed(data: bytes, path: str) -> tuple[Mapping[str, Any], Sequence[Finding]]:
    """The keys of a file, and what is wrong with them."""
    from seldio.schema.dataset_file import faults

    try:
        text = data.decode()
        record = from_toml(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return {}, [
            READER_RULES["DAT101"].at(path, "is not UTF-8", "save it as UTF-8; labels are not read until then", line)
        ]
    except ValueError as error:
        return {}, [_not_toml(text, str(error), path)]
    places = TomlPlaces(text)
    wrong = [*faults(record)] or [*_more(record)]
    return record, [places.finding(fault, path) for fault in wrong]


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _not_toml(text: str, message: str, path: str) -> Finding:
    lines, match = text.split("\n"), _AT.search(message)
    line, column = (int(match[1]), int(match[2])) if match and match[1] else (len(lines), len(lines[-1]) + 1)
    said = _AT.sub("", message)
    excerpt = lines[line - 1].removesuffix("\r") if line <= len(lines) else ""
    hint = "texts are in quotes, tables in [brackets]; labels are not read until this is right"
    return READER_RULES["DAT101"].at(path, f"is not TOML: {said}", hint, line, column, None, excerpt)


def _more(record: Mapping[str, Any]) -> Iterator[KeyFault]:
    """Yield faults that no single key shows."""
    from seldio.schema.dataset_file import KeyFault

    labels = record.get("labels", {})
    columns, everywhere = labels.get("columns", []), labels.get("given", {})
    fields = [column.get("field") for column in columns]
    for number, (field, keys) in enumerate(zip(fields, columns, strict=True)):
        place = ("labels", "columns", number)
        if field is not None and field in fields[:number]:
            yield KeyFault((*place, "field"), f"{field} is in another column as well")
        if field in everywhere:
            yield KeyFault(("labels", "given", field), f"{field} has a column of its own: it cannot be given as well")
        if field is not None and "unit" in keys and keys["unit"] not in (units := FIELDS[field]):
            choices = f"{keys['unit']} is not a unit of {field}; choose from {', '.join(units)}"
            yield KeyFault((*place, "unit"), choices if units else f"{field} has no unit")
        for key in ("direction", "zero") if field != "azimuth" else ():
            if key in keys:
                yield KeyFault((*place, key), f"{key} is of azimuths")
        if field == "azimuth" and "direction" not in keys:
            yield KeyFault(place, "the direction is missing: clockwise (90 is right) or counter-clockwise (90 is left)")
    headers = [column.get("header") for column in columns]
    names = [str(header).strip().lower() for header in headers]
    for number, name in enumerate(names):
        if headers[number] is not None and name in names[:number]:
            yield KeyFault(("labels", "columns", number, "header"), f"another column is called {name} as well")
    if None in headers and any(headers):
        yield KeyFault(("labels", "columns", headers.index(None)), "all columns have a header, or none has")
    if columns and not {"frame", "onset"} & {*fields}:
        yield KeyFault(("labels", "columns"), "no column is the frame or the onset")
    if "onset" in fields and not {"frame", "offset", "duration"} & {*fields}:
        message = "no column is the offset or the duration, by which the events end"
        yield KeyFault(("labels", "columns", fields.index("onset")), message)
    if "duration" in fields and ("offset" in fields or "onset" not in fields):
        message = "an event has an onset and either an offset or a duration"
        yield KeyFault(("labels", "columns", fields.index("duration"), "field"), message)
    measures = [keys.get("unit") for keys in columns]
    if "samples" in measures and not record.get("recordings", {}).get("rate"):
        message = "nothing says how many samples a second has: write rate = 48000 in a table recordings"
        yield KeyFault(("labels", "columns", measures.index("samples"), "unit"), message)
    if not record.get("classes") and "class_name" not in fields and "class_id" in (*fields, *everywhere):
        at = ("columns", fields.index("class_id"), "field") if "class_id" in fields else ("given", "class_id")
        message = "nothing says which class a number is: name them in their order, in a table classes"
        yield KeyFault(("labels", *at), message)
    for name in record.get("russian", {}).keys() - record.get("classes", {}).keys():
        yield KeyFault(("russian", name), f"{name} is not among the classes")
    for split, keys in record.get("splits", {}).items():
        for number, text in enumerate(keys.get("clips", ())):
            try:
                clips_of(text)
            except UsageError as error:
                yield KeyFault(("splits", split, "clips", number), str(error))
    for number, format in enumerate(labels.get("formats", ())):
        if named(format, LabelFormat) is None:
            message = f"unknown format of labels {format!r}; seldio formats lists them"
            yield KeyFault(("labels", "formats", number), message)


class TomlPlaces:
    """The places of the keys of a TOML file."""

    def __init__(self, text: str) -> None:
        self._lines = TextLines(text)
        self._starts: dict[tuple[str | int, ...], tuple[int, int]] = {}
        here: tuple[str | int, ...] = ()
        counts: dict[tuple[str, ...], int] = {}
        for match in _LINE.finditer(text):
            if match["array"] is not None:
                keys = _keys(match["array"])
                counts[keys] = counts.get(keys, -1) + 1
                here = (*keys, counts[keys])
                self._starts[here] = match.span("array")
            elif match["table"] is not None:
                here = _nested(_keys(match["table"]), counts)
                self._starts.setdefault(here, match.span("table"))
            else:
                self._starts.setdefault((*here, *_keys(match["key"])), match.span("key"))

    def finding(self, fault: KeyFault, path: str) -> Finding:
        """A finding at a key, or at the nearest one around it."""
        at = self.at(fault.path)
        message = f"{fault.where}: {clipped(fault.message, 400)}"
        return READER_RULES["DAT102"].at(path, message, _HINT, at.line, at.column, at.value or None, at.excerpt)

    def at(self, path: tuple[str | int, ...]) -> Place:
        """The place of a key, or of the nearest one around it."""
        count = next((n for n in range(len(path), 0, -1) if path[:n] in self._starts), 0)
        start, end = self._starts.get(path[:count], (0, 0))
        for part in path[count:]:  # inside of what stands in brackets
            pattern = r"\{" if isinstance(part, int) else rf"(?<![\w.-])[\"']?{re.escape(part)}[\"']?(?=\s*[=.])"
            number = part if isinstance(part, int) else 0
            inner = [*re.compile(pattern).finditer(self._lines.text, end)][number : number + 1]
            if not inner:
                break
            start, end = inner[0].span()
        return self._lines.place(start, end)


_HINT = "seldio schema dataset shows the keys; labels are not read until this is right"
_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_LINE = re.compile(
    rf"^[ \t]*(?:\[\[[ \t]*(?P<array>{_DOTTED})[ \t]*\]\]|\[[ \t]*(?P<table>{_DOTTED})[ \t]*\]"
    rf"|(?P<key>{_DOTTED})[ \t]*=)",
    re.MULTILINE,
)


def _keys(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_KEY, text))


def _nested(keys: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> tuple[str | int, ...]:
    """Return the path of a table, which may stand in the last of a list of tables."""
    path: list[str | int] = []
    for number, key in enumerate(keys, 1):
        path.append(key)
        if keys[:number] in counts:
            path.append(counts[keys[:number]])
    return tuple(path)
