"""A dataset that says what it is: ``dataset.toml`` in its root, or in a folder above what was named.

It is a file like those that seldio knows challenge years from (:mod:`seldio.schema.dataset_file`), found in the data.
What it says decides over every guess; what is wrong with it, or contradicts it, is a finding (DAT).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from seldio.errors import InvalidData
from seldio.files import Entry, Source
from seldio.files.sources import own_files
from seldio.findings import Finding, Sink
from seldio.formats.base import TextLines
from seldio.reader_rules import READER_RULES
from seldio.text import clipped

if TYPE_CHECKING:
    from seldio.schema.dataset_file import KeyFault


@dataclass(frozen=True)
class OwnDataset:
    """What a dataset says of itself."""

    path: str  # of the file, as shown to people
    folder: str  # what it speaks of: names below a source's root that begin so, all if empty
    record: Mapping[str, Any]  # its keys, checked

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.record["name"])

    @cached_property
    def vocabulary(self) -> str | None:
        """Its classes as :func:`seldio.vocabularies.vocabulary` takes them; None where it names none."""
        classes = self.record.get("classes")
        if not classes:
            return None
        rows = [[name, *names.values()] for name, names in classes.items()]
        return self.name + json.dumps(rows, ensure_ascii=False, separators=(",", ":"))

    @property
    def facts(self) -> dict[str, Any]:
        """What it says, for ``seldio info``."""
        kept = {key: self.record[key] for key in ("name", "title", "license", "cite") if key in self.record}
        sound = self.record.get("recordings", {})
        more = {
            "classes": list(self.record.get("classes", ())), "splits": list(self.record.get("splits", ())),
            "arrays": sound.get("arrays"), "rate": sound.get("rate"),
        }  # fmt: skip
        return {"file": self.path, **kept, **{key: value for key, value in more.items() if value}}


@dataclass(frozen=True)
class OwnDatasets:
    """What the datasets in a source say of themselves."""

    datasets: Sequence[OwnDataset] = ()

    def __bool__(self) -> bool:
        return bool(self.datasets)

    def of(self, name: str) -> OwnDataset | None:
        """The dataset that a file is of: that of the nearest folder."""
        every = (one for one in self.datasets if name.startswith(one.folder))
        return max(every, key=lambda one: len(one.folder), default=None)


def described(source: Source, sink: Sink) -> OwnDatasets:
    """What the datasets of a source say; files that do not say it right are findings, and say nothing."""
    datasets = (_read(entry, folder, sink) for entry, folder in own_files(source))
    return OwnDatasets(tuple(one for one in datasets if one is not None))


def _read(entry: Entry, folder: str, sink: Sink) -> OwnDataset | None:
    try:
        record, wrong = parsed(entry.read(), entry.path)
    except InvalidData as error:
        sink(error.finding)
        return None
    for finding in wrong:
        sink(finding)
    return None if wrong else OwnDataset(entry.path, folder, record)


@lru_cache(maxsize=16)
def parsed(data: bytes, path: str) -> tuple[Mapping[str, Any], Sequence[Finding]]:
    """The keys of a file, and what is wrong with them."""
    import tomllib

    from seldio.schema.dataset_file import faults

    try:
        text = data.decode()
        record = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return {}, [READER_RULES["DAT101"].at(path, "is not UTF-8", "save it as UTF-8", line)]
    except tomllib.TOMLDecodeError as error:
        return {}, [_not_toml(text, str(error), path)]
    places = TomlPlaces(text)
    wrong = [*faults(record), *_more(record)]
    return record, [places.finding(fault, path) for fault in wrong]


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def _not_toml(text: str, message: str, path: str) -> Finding:
    lines, match = text.split("\n"), _AT.search(message)
    line, column = (int(match[1]), int(match[2])) if match and match[1] else (len(lines), len(lines[-1]) + 1)
    said = _AT.sub("", message)
    excerpt = lines[line - 1].removesuffix("\r") if line <= len(lines) else ""
    hint = "texts stand in quotes, tables in [brackets]"
    return READER_RULES["DAT101"].at(path, f"is not TOML: {said}", hint, line, column, None, excerpt)


def _more(record: Mapping[str, Any]) -> Iterator[KeyFault]:
    """What no single key can say of itself."""
    from seldio.schema.dataset_file import KeyFault

    labels = record.get("labels")
    columns = labels.get("columns", ()) if isinstance(labels, dict) else ()
    given = [one for one in columns if isinstance(one, dict)] if isinstance(columns, list) else []
    fields = [one.get("field") for one in given]
    for number, field in enumerate(fields):
        if field is not None and field in fields[:number]:
            yield KeyFault(("labels", "columns", number, "field"), f"{field} is in another column as well")
    headed = [one.get("header") is not None for one in given]
    if any(headed) and not all(headed):
        yield KeyFault(("labels", "columns", headed.index(False)), "all columns have a header, or none has")
    if given and not {"frame", "onset"} & {*fields}:
        yield KeyFault(("labels", "columns"), "no column is the frame or the onset")


class TomlPlaces:
    """Where the keys of a TOML file stand."""

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
        count = next((n for n in range(len(fault.path), 0, -1) if fault.path[:n] in self._starts), 0)
        start, end = self._starts.get(fault.path[:count], (0, 0))
        for part in fault.path[count:]:  # inside of what stands in brackets
            pattern = r"\{" if isinstance(part, int) else rf"(?<![\w.-])[\"']?{re.escape(part)}[\"']?(?=\s*[=.])"
            number = part if isinstance(part, int) else 0
            inner = [*re.compile(pattern).finditer(self._lines.text, end)][number : number + 1]
            if not inner:
                break
            start, end = inner[0].span()
        at = self._lines.place(start, end)
        value = at.value or None
        message = f"{fault.where}: {clipped(fault.message, 400)}"
        return READER_RULES["DAT102"].at(path, message, _HINT, at.line, at.column, value, at.excerpt)


_HINT = "seldio schema dataset shows the keys"
_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_LINE = re.compile(
    rf"^[ \t]*(?:\[\[[ \t]*(?P<array>{_DOTTED})[ \t]*\]\]|\[[ \t]*(?P<table>{_DOTTED})[ \t]*\]"
    rf"|(?P<key>{_DOTTED})[ \t]*=)",
    re.MULTILINE,
)


def _keys(text: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    return tuple(part.strip("\"'") for part in re.findall(_KEY, text))


def _nested(keys: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> tuple[str | int, ...]:
    """The path of a table, which may stand in the last of a list of tables."""
    path: list[str | int] = []
    for number, key in enumerate(keys, 1):
        path.append(key)
        if keys[:number] in counts:
            path.append(counts[keys[:number]])
    return tuple(path)
