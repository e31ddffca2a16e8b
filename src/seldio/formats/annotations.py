"""The annotations of a 2026 JSON file: what is wrong with them, and how they are laid out."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from seldio.findings import Severity, Sink
from seldio.formats.json_text import JsonDocument
from seldio.schema.events import COLUMNS
from seldio.text import clipped

#: The keys of an annotation in the official order, and the fields they hold.
KEYS = {
    "metadata_frame_index": "frame",
    "instance_id": "source",
    "category_id": "class_id",
    "score": "score",
    "distance": "distance",
    "segmentation": "segmentation",
}
_WHOLE = ("metadata_frame_index", "instance_id", "category_id")
#: Keys without which an annotation can still be used, and what their absence does.
_USEFUL = {
    "instance_id": "the official training code stops without it; the scorer does not look at it",
    "distance": "the official scorer takes a missing distance for 0, an error of 100 %",
}
_POINTS = "a segmentation is [[[x, y, energy], ...], ...] on a picture of 360 x 180"

_OPTIONAL = ("score", *_USEFUL)  # labels have no score

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Pointer = tuple[str | int, ...]
Problem = tuple[str, str, Pointer, str | None]


def triplets(segmentations: Sequence[Any]) -> pa.Array | None:
    """Segmentations as an Arrow array; None unless every one is a list of lists of three numbers.

    Arrow takes true and false for numbers; who has them in his file needs to look closer.
    """
    try:
        array = pa.array(segmentations, COLUMNS["segmentation"])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    polygons = array.flatten()
    points = polygons.flatten()
    lengths = pc.list_value_length(points)
    nulls = array.null_count + polygons.null_count + points.null_count + points.flatten().null_count
    return array if not nulls and pc.all(pc.equal(lengths, 3), min_count=0).as_py() else None


def points(segmentations: pa.Array) -> tuple[Ints, Floats]:
    """All points of an array of segmentations: the row of each, and its x, y and energy (shape n x 3)."""
    polygons = segmentations.flatten()
    triplets = polygons.flatten()
    row = np.repeat(np.arange(len(segmentations)), _lengths(segmentations))
    return np.repeat(row, _lengths(polygons)), triplets.flatten().to_numpy().reshape(-1, 3)


def _lengths(lists: pa.Array) -> Ints:
    return pc.fill_null(pc.list_value_length(lists), 0).to_numpy()  # type: ignore[no-any-return]


class Checker:
    """One document held against the schema; every violation becomes a finding with its place."""

    def __init__(self, document: JsonDocument, data: bytes, sink: Sink) -> None:
        self.document, self.sink = document, sink
        self.booleans = b"true" in data or b"false" in data
        #: the whole document
        self.top: dict[str, Any] = {}

    def report(
        self, code: str, message: str, pointer: Pointer, hint: str | None, severity: Severity = Severity.ERROR
    ) -> None:
        """Send a finding about the value at *pointer* to the sink."""
        self.sink(self.document.finding(code, severity, message, pointer, hint=hint))

    def annotations(self) -> dict[int, dict[str, Any]] | None:
        """The annotations that can be used, by their number; None where the file has no list of them."""
        given = self._list()
        if given is None:
            return None
        segmentations = [row.get("segmentation", []) if isinstance(row, dict) else [] for row in given]
        plain = not self.booleans and triplets(segmentations) is not None
        good = {}
        for number, row in enumerate(given):
            problems = list(_problems(row, plain))
            for code, message, pointer, hint in problems:
                self.report(code, message, ("annotations", number, *pointer), hint)
            if not problems:
                good[number] = row
        self._report_absent(good)
        return good

    def _report_absent(self, rows: dict[int, dict[str, Any]]) -> None:
        """A warning for each useful key that annotations lack, at the first of them."""
        for key, effect in _USEFUL.items():
            lacking = [number for number, row in rows.items() if key not in row]
            if lacking:
                message = f"{key} is missing" + (f" in {len(lacking):,} annotations" if len(lacking) > 1 else "")
                self.report("SYN215", message, ("annotations", lacking[0]), effect, Severity.WARNING)

    def _list(self) -> list[Any] | None:
        """What stands under the key annotations, or None after a finding."""
        value = self.document.value
        hint = 'a file of this layout is {"annotations": [...]}'
        if not isinstance(value, dict):
            self.report("SYN213", f"the file holds {_kind(value)}, not an object", (), hint)
        elif "annotations" not in value:
            self.report("SYN213", "the key annotations is missing", (), hint)
        elif not isinstance(value["annotations"], list):
            message = f"annotations is {_kind(value['annotations'])}, not an array"
            self.report("SYN213", message, ("annotations",), hint)
        else:
            self.top = value
            return value["annotations"]
        return None


def _kind(value: Any) -> str:
    """A value in words: the type of containers, else the value as JSON writes it."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    return clipped(json.dumps(value, ensure_ascii=False), 40)


def _problems(row: Any, plain: bool) -> Iterator[Problem]:
    """What is wrong with an annotation; *plain*: its segmentation is known to be well formed."""
    if not isinstance(row, dict):
        yield "SYN212", f"an annotation is {_kind(row)}, not an object", (), None
        return
    for key in KEYS:
        if key not in row:
            if key not in _OPTIONAL:
                yield "SYN211", f"{key} is missing", (), f"an annotation has {', '.join(KEYS)}"
        elif key in _WHOLE:
            yield from _not_whole(key, row[key])
        elif key != "segmentation":
            yield from _not_number(key, row[key])
    if not plain and "segmentation" in row:
        yield from _malformed(row["segmentation"])


def _not_whole(key: str, value: Any) -> Iterator[Problem]:
    if type(value) is int and -(2**31) <= value < 2**31:
        return
    hint = "write it without a decimal point" if type(value) is float and value.is_integer() else None
    size = " of at most 32 bits" if type(value) is int else ""
    yield "SYN212", f"{key} is {_kind(value)}, and must be a whole number{size}", (key,), hint


def _not_number(key: str, value: Any) -> Iterator[Problem]:
    if type(value) not in (int, float):
        yield "SYN212", f"{key} is {_kind(value)}, and must be a number", (key,), None


def _malformed(segmentation: Any) -> Iterator[Problem]:
    """The first flaw of a segmentation."""
    for pointer, what in _flaws(segmentation):
        yield "SYN214", f"malformed segmentation: {what}", ("segmentation", *pointer), _POINTS
        return


def _flaws(segmentation: Any) -> Iterator[tuple[Pointer, str]]:
    if not isinstance(segmentation, list):
        yield (), f"{_kind(segmentation)} in place of an array"
        return
    for p, polygon in enumerate(segmentation):
        if not isinstance(polygon, list):
            yield (p,), f"{_kind(polygon)} in place of an array of points"
            return
        for q, point in enumerate(polygon):
            if not isinstance(point, list):
                yield (p, q), f"{_kind(point)} in place of a point"
            elif len(point) != 3:
                yield (p, q), f"a point of {len(point)} numbers, not x, y and energy"
            else:
                for r, number in enumerate(point):
                    if type(number) not in (int, float) or abs(number) > 2**53:
                        yield (p, q, r), f"{_kind(number)} in place of a coordinate"


# --- layout ----------------------------------------------------------------------------------------

_INDENT = re.compile(rb'[\[{]\r?\n( *)[\[{"]')


@dataclasses.dataclass(frozen=True)
class Layout:
    """How a file is written, where it differs from the official writer.

    Args:
        indent: spaces to a level; None for all on one line.
        order: the keys of an annotation in their order.
        whole: keys, and the axes ``x``, ``y``, ``energy``, whose numbers have no decimal point.
    """

    indent: int | None = 2
    order: tuple[str, ...] = tuple(KEYS)
    whole: tuple[str, ...] = ()

    @staticmethod
    def of(data: bytes, annotations: Sequence[dict[str, Any]]) -> Layout:
        """The layout of a file with these annotations."""
        found = _INDENT.match(data.removeprefix(b"\xef\xbb\xbf").lstrip())
        indent = min(len(found[1]), 16) if found else None
        order = tuple(annotations[0]) if annotations else ()
        official = tuple(key for key in KEYS if key in order)
        unchanged = order == official or order[: len(official)] == official
        return Layout(indent, tuple(KEYS) if unchanged else order, _whole(annotations))

    @staticmethod
    def from_extra(extra: str | None) -> tuple[Layout, dict[str, Any]]:
        """Layout and unknown top-level keys (annotations in their place among them) of ``ClipFile.extra``."""
        top = json.loads(extra) if extra else {}
        given = top.get("annotations")
        given = given if isinstance(given, dict) else {}
        indent = given.get("indent", 2)
        indent = indent if indent is None or (type(indent) is int and 0 <= indent <= 16) else 2
        return Layout(indent, _names(given.get("order"), tuple(KEYS)), _names(given.get("whole"), ())), top

    def to_extra(self, top: dict[str, Any]) -> str | None:
        """The inverse of :meth:`from_extra`; None for an official file without further keys."""
        given = {f.name: v for f in dataclasses.fields(self) if (v := getattr(self, f.name)) != f.default}
        extra = {key: given if key == "annotations" else value for key, value in top.items()}
        return None if extra == {"annotations": {}} else json.dumps(extra, ensure_ascii=False)

    def arranged(self, annotation: dict[str, Any]) -> dict[str, Any]:
        """*annotation* as this layout writes it; keys that the order does not name stand behind."""
        if self.whole:
            annotation = {key: self._number(key, value) for key, value in annotation.items()}
        if self.order == tuple(KEYS):
            return annotation
        first = {key: annotation[key] for key in self.order if key in annotation}
        return first | annotation

    def _number(self, key: str, value: Any) -> Any:
        """*value* of *key* with the decimal points that the file has."""
        if key != "segmentation":
            return _plain(value) if key in self.whole else value
        axes = [axis in self.whole for axis in _AXES]
        return [
            [[_plain(v) if w else v for v, w in zip(point, axes, strict=True)] for point in polygon]
            for polygon in value
        ]


def _names(value: Any, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else default


_AXES = ("x", "y", "energy")


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _whole(annotations: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Keys and axes all of whose numbers are written without a decimal point."""
    keys = [key for key in ("score", "distance") if _all_int([row[key] for row in annotations if key in row])]
    points = [point for row in annotations for polygon in row["segmentation"] for point in polygon]
    if not points:
        return tuple(keys)
    axes = [axis for number, axis in enumerate(_AXES) if type(points[0][number]) is int]
    return (*keys, *(axis for axis in axes if _all_int([point[_AXES.index(axis)] for point in points])))


def _all_int(values: Sequence[Any]) -> bool:
    return bool(values) and all(type(value) is int for value in values)
