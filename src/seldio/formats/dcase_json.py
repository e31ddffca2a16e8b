"""The format of 2026: JSON annotations with energy maps on an equirectangular picture of 360 x 180.

Labels (``NAME_std.json``) and outputs (``NAME.json``, in April ``NAME_inference.json``) hold one object for each
active source in each label frame::

    {"annotations": [{"metadata_frame_index": 0, "instance_id": 1, "category_id": 8, "score": 0.87,
                      "distance": 231.5, "segmentation": [[[x, y, energy], ...], ...]}, ...]}

Labels have no score. The direction of a source is that of its point with the highest energy: azimuth 180 - x and
elevation 90 - y, x from 0 to 360 and y from 0 to 180. Whatever else a file holds comes back when it is written again:
unknown keys of an annotation are in the column ``extra``, unknown keys of the file in ``ClipFile.extra``. There the key
``annotations`` describes the layout, where it is not the official one: ``indent``, the ``order`` of keys, and points in
whole ``pixels``. Other numbers come back by their value.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.json as paj

from seldio import geometry
from seldio.findings import Sink
from seldio.formats.base import FileRows, LabelFormat, LabelReading, Place, TextFile, assembled, newline_of
from seldio.schema.arrays import pc
from seldio.schema.events import COLUMNS, ClipFile
from seldio.text import kind_of

if TYPE_CHECKING:
    from seldio.formats.json_text import JsonDocument

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
    "instance_id": "the official training code stops without it; the scorer ignores it",
    "distance": "the official scorer reads a missing distance as 0, a relative error of 100%",
}
#: The parts of a segmentation, each inside the one before.
_LEVELS = ("an array", "an array of points", "a point")
_POINTS = "a segmentation is [[[x, y, energy], ...], ...] on a 360 x 180 image"

#: The size of the panorama that points are on: the largest x and y.
PANORAMA = (360, 180)
_OPTIONAL = ("score", *_USEFUL)  # labels have no score

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Pointer = tuple[str | int, ...]
#: Code, message, what it is about inside of an annotation, and a hint.
Flaw = tuple[str, str, Pointer, str | None]

#: How much of a file is looked at to tell what it is.
_PREFIX = 1 << 16
_NAMES = re.compile(r"(?i)(?:^|[/_])mix\d+[^/]*_(?:std|inference)\.json$")
_BEGINS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{(?=.*?"annotations"\s*:)', re.DOTALL)


@dataclasses.dataclass(frozen=True, kw_only=True)
class JsonFormat(LabelFormat):
    """The format of 2026."""

    def likes(self, data: bytes, name: str) -> float:
        """Return 1 if a file begins as an object with the key ``annotations``, or is named like files of 2026."""
        return float(_BEGINS.match(data[:_PREFIX]) is not None or _NAMES.search(name) is not None)

    metre: int = 100  # what one metre is written as
    #: what is written for fields that a table does not carry
    fills: Mapping[str, int] = dataclasses.field(default_factory=lambda: {"source": 0})

    def read(self, files: Sequence[TextFile], sink: Sink) -> LabelReading:
        """See :meth:`LabelFormat.read`.

        An annotation without ``instance_id`` or ``distance`` is kept, its source or distance null; one
        without any point has no direction. Distances are metres, directions degrees (rounded to nine
        decimals).
        """
        parts = [JsonPart(file) for file in files]
        tables = []
        for values in [part.read(sink) for part in parts] or [_columns([])]:
            azimuth, elevation = _directions(values["segmentation"])
            named = {KEYS.get(key, key): value for key, value in values.items()}
            tables.append(pa.table(named | {"azimuth": azimuth, "elevation": elevation}))
        joined = pa.concat_tables(tables)
        columns = {name: joined[name] for name in COLUMNS if name in joined.column_names}
        columns["distance"] = pc.divide(columns["distance"], float(self.metre))
        for name in ("score", "extra"):
            if columns[name].null_count == len(columns[name]):
                del columns[name]
        return assembled(self, columns, parts)

    def write(self, table: pa.Table, file: ClipFile) -> bytes:
        """See :meth:`LabelFormat.write`; rows without segmentation get one point of energy 1."""
        layout, top = JsonLayout.from_extra(file.extra)
        count = table.num_rows
        columns = {
            field: table[field].to_pylist() if field in table.column_names else [None] * count
            for field in (*KEYS.values(), "extra")
        }
        if "source" not in table.column_names:
            columns["source"] = [self.fills["source"]] * count
        # 1.81 m is 181.00000000000003 cm in binary; nine decimals are more than any file holds
        columns["distance"] = [None if d is None else round(d * self.metre, 9) for d in columns["distance"]]
        if None in columns["segmentation"]:  # one point of energy 1 instead, or none if no direction is known
            azimuth, elevation = (table[field].to_numpy(zero_copy_only=False) for field in ("azimuth", "elevation"))
            across, down = geometry.to_pixels(azimuth, elevation, *geometry.MAP)
            # -180 is where 180 is; at the very right edge of the picture it is read as -180 again
            x, y = np.where(azimuth == -180, np.nextafter(360.0, 0), across).tolist(), down.tolist()
            spots = [[[[a, b, 1.0]]] if a == a and b == b else [] for a, b in zip(x, y, strict=True)]
            maps = zip(columns["segmentation"], spots, strict=True)
            columns["segmentation"] = [spot if value is None else value for value, spot in maps]
        extras = columns.pop("extra")
        annotations = []
        for row, extra in zip(zip(*columns.values(), strict=True), extras, strict=True):
            values = {key: value for key, value in zip(KEYS, row, strict=True) if value is not None}
            annotations.append(layout.arranged(values | json.loads(extra or "{}")))
        text = json.dumps({**top, "annotations": annotations}, indent=layout.indent)
        return ((text + "\n" if file.final_newline else text).replace("\n", file.newline)).encode()


class JsonPart(FileRows):
    """The annotations of one file."""

    def __init__(self, file: TextFile) -> None:
        super().__init__(file, ClipFile(file.clip, file.name, newline_of(file.data), file.data.endswith(b"\n")))
        #: number of the annotation that each row came from
        self.numbers: Sequence[int] = ()

    def read(self, sink: Sink) -> dict[str, pa.Array]:
        """Return the values, by key, of annotations that can be read; what is wrong with others goes to *sink*."""
        data = self.file.data
        if (quick := _columns_of(data)) is not None:
            columns, layout = quick
            self.rows = len(columns["segmentation"])
            self.numbers = range(self.rows)
            self.origin = dataclasses.replace(self.origin, extra=layout.to_extra({"annotations": None}))
            return columns
        from seldio.formats.json_text import parse  # for few files, and for none of CSV

        document = parse(data, self.file.path, sink)
        value = None if document is None else document.value
        listed = value.get("annotations") if isinstance(value, dict) else None
        if document is None or not isinstance(listed, list):
            pointer: Pointer = ()
            message = f"the file holds {kind_of(value)}, not an object"
            if isinstance(value, dict):
                pointer = ("annotations",) if "annotations" in value else ()
                message = (
                    f"annotations is {kind_of(listed)}, not an array" if pointer else "the key annotations is missing"
                )
            if document is not None:
                sink(document.finding("SYN213", message, pointer, 'a file of this format is {"annotations": [...]}'))
            self.readable = False
            return _columns([])
        segmentations = [row.get("segmentation", []) if isinstance(row, dict) else [] for row in listed]
        # Arrow takes true for a number
        segmentation = None if b"true" in data or b"false" in data else triplets(segmentations)
        rows = _usable(document, listed, segmentation is not None, sink)
        self.numbers, annotations = list(rows), list(rows.values())
        self.rows = len(rows)
        extra = JsonLayout.of(data, annotations).to_extra(document.value)
        self.origin = dataclasses.replace(self.origin, extra=extra)
        return _columns(annotations, segmentation if len(rows) == len(listed) else None)

    @cached_property
    def _document(self) -> JsonDocument | None:
        """Parse the file again; only errors need places."""
        from seldio.formats.json_text import parse

        return parse(self.file.data, self.file.path, lambda _: None)

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`FileRows.place`; a direction points at the segmentation that it comes from."""
        assert self._document is not None, "a file that was read cannot be read again"
        return self._document.locate(("annotations", self.numbers[row], _KEY_OF.get(field or "", "")))


_KEY_OF = {field: key for key, field in KEYS.items()} | dict.fromkeys(("azimuth", "elevation"), "segmentation")


# --- what is wrong with annotations ----------------------------------------------------------------


def _usable(document: JsonDocument, listed: list[Any], plain: bool, sink: Sink) -> dict[int, dict[str, Any]]:
    """Return the usable annotations by number; *plain*: all segmentations are right."""
    good = {}
    for number, row in enumerate(listed):
        flaws = list(_flaws(row, plain))
        for code, message, pointer, hint in flaws:
            sink(document.finding(code, message, ("annotations", number, *pointer), hint=hint))
        if not flaws:
            good[number] = row
    for key, effect in _USEFUL.items():
        lacking = [number for number, row in good.items() if key not in row]
        if lacking:
            message = f"{key} is missing" + (f" in {len(lacking):,} annotations" if len(lacking) > 1 else "")
            sink(document.finding("SYN215", message, ("annotations", lacking[0]), hint=effect))
    return good


def _flaws(row: Any, plain: bool) -> Iterator[Flaw]:
    if not isinstance(row, dict):
        yield "SYN212", f"an annotation is {kind_of(row)}, not an object", (), None
        return
    for key in KEYS:
        value = row.get(key)
        if key not in row:
            if key not in _OPTIONAL:
                yield "SYN211", f"{key} is missing", (), f"an annotation has {', '.join(KEYS)}"
        elif key in _WHOLE:
            if not (type(value) is int and -(2**31) <= value < 2**31):
                hint = "write it without a decimal point" if type(value) is float and value.is_integer() else None
                size = " of at most 32 bits" if type(value) is int else ""
                yield "SYN212", f"{key} is {kind_of(value)}, but must be a whole number{size}", (key,), hint
        elif key != "segmentation" and type(value) not in (int, float):
            yield "SYN212", f"{key} is {kind_of(value)}, but must be a number", (key,), None
    if not plain and "segmentation" in row and (malformed := _malformed(row["segmentation"])) is not None:
        pointer, what = malformed
        yield "SYN212", f"malformed segmentation: {what}", ("segmentation", *pointer), _POINTS


def _malformed(value: Any, depth: int = 0) -> tuple[Pointer, str] | None:
    """Return where a part of a segmentation is malformed first, and how; None where it is right."""
    if depth == len(_LEVELS):
        is_wrong = type(value) not in (int, float) or abs(value) > 2**53
        return ((), f"{kind_of(value)} instead of a coordinate") if is_wrong else None
    if not isinstance(value, list):
        return (), f"{kind_of(value)} instead of {_LEVELS[depth]}"
    if _LEVELS[depth] == "a point" and len(value) != 3:
        return (), f"a point of {len(value)} numbers, not x, y and energy"
    inside = ((place, _malformed(member, depth + 1)) for place, member in enumerate(value))
    return next((((place, *wrong[0]), wrong[1]) for place, wrong in inside if wrong is not None), None)


# --- from annotations to columns -------------------------------------------------------------------


def triplets(segmentations: Sequence[Any]) -> pa.Array | None:
    """Convert segmentations to Arrow; None unless all are lists of lists of three numbers (or booleans)."""
    try:
        array = pa.array(segmentations, COLUMNS["segmentation"])
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if _are_triplets(array) else None


def _are_triplets(segmentations: pa.Array) -> bool:
    polygons = segmentations.flatten()
    points = polygons.flatten()
    complete = not any(level.null_count for level in (segmentations, polygons, points, points.flatten()))
    return complete and bool(pc.all(pc.equal(pc.list_value_length(points), 3), min_count=0).as_py())


def list_offsets(segmentations: pa.Array) -> tuple[Ints, Ints, Floats]:
    """Return offsets of polygons by row and points by polygon (n + 1 each), and x, y and energy of all points."""
    polygons = segmentations.flatten()
    ends = [
        np.concatenate([[0], np.cumsum(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False))])
        for lists in (segmentations, polygons)
    ]
    values = polygons.flatten().flatten().to_numpy().reshape(-1, 3)
    return *(end.astype(np.int64) for end in ends), values


def points(segmentations: pa.Array) -> tuple[Ints, Floats]:
    """Return all points of an array of segmentations: the row of each, and its x, y and energy (shape n x 3)."""
    polygons, spots, values = list_offsets(segmentations)
    return np.repeat(np.arange(len(segmentations)), np.diff(spots[polygons])), values


def _columns(annotations: Sequence[dict[str, Any]], segmentation: pa.Array | None = None) -> dict[str, pa.Array]:
    values = {key: [row.get(key) for row in annotations] for key in KEYS}
    segmentations = values.pop("segmentation")
    segmentation = triplets(segmentations) if segmentation is None else segmentation
    assert segmentation is not None, "the checks passed a malformed segmentation"
    values["distance"] = [None if value is None else float(value) for value in values["distance"]]
    columns = {key: pa.array(value, COLUMNS[KEYS[key]]) for key, value in values.items()}
    unknown = ({key: value for key, value in row.items() if key not in KEYS} for row in annotations)
    extra = pa.array([json.dumps(e, ensure_ascii=False) if e else None for e in unknown], pa.string())
    return columns | {"segmentation": segmentation, "extra": extra}


#: Larger files are read the long way.
_LARGEST = 1 << 30
#: As Arrow reads the keys of an annotation.
_TYPES = {key: pa.int64() if key in _WHOLE else COLUMNS[field] for key, field in KEYS.items()}
_SCHEMA = pa.schema({"annotations": pa.list_(pa.struct(list(_TYPES.items())))})
_FIRST = re.compile(rb'\s*\{\s*"annotations"\s*:\s*\[\s*(?=\{)')


def _columns_of(data: bytes) -> tuple[dict[str, pa.Array], JsonLayout] | None:
    """Read the values of all annotations by key, and the layout of the file, with Arrow in a fifth of the time.

    None if anything is unusual, right or wrong: another key, an annotation that lacks one of the others', a number of
    another kind or too large, text that is not ASCII.
    """
    begin = _FIRST.match(data)
    if begin is None or len(data) > _LARGEST or b"\\" in data or not data.isascii():
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(data[begin.end() : begin.end() + _PREFIX].decode())
        table = paj.read_json(
            pa.BufferReader(data),
            paj.ReadOptions(use_threads=False, block_size=len(data) + 1),
            paj.ParseOptions(explicit_schema=_SCHEMA, unexpected_field_behavior="error"),
        )
    except (ValueError, RecursionError, pa.ArrowException):
        return None
    (rows,) = table["annotations"].chunks if table["annotations"].num_chunks == 1 else (None,)
    if rows is None or len(rows) != 1 or rows.null_count or rows.flatten().null_count:
        return None
    given = dict(zip(KEYS, rows.flatten().flatten(), strict=True))
    segmentation = given["segmentation"]
    if "segmentation" not in first or not _are_triplets(segmentation):
        return None
    numbers = segmentation.flatten().flatten().flatten().to_numpy()
    for key, values in given.items():
        if values.null_count and (key in first or key != "score" or values.null_count < len(values)):
            return None
        if key in _WHOLE:
            ends = pc.min_max(values).as_py()
            if ends["min"] < -(2**31) or ends["max"] >= 2**31:
                return None
            given[key] = values.cast(COLUMNS[KEYS[key]])
        elif key != "segmentation" and not values.null_count:
            numbers = np.concatenate((numbers, values.to_numpy()))
    # larger whole numbers are refused; the layout is that of the first annotation, so it has to have a point
    if not (np.abs(numbers) <= 2.0**53).all() or (len(segmentation.flatten()) and not any(first["segmentation"])):
        return None
    return given | {"extra": pa.nulls(len(segmentation), pa.string())}, JsonLayout.of(data, [first])


def _directions(segmentation: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return azimuth and elevation (degrees) of each row's point with the highest energy, the first of equals."""
    row, triplet = points(segmentation)
    rows, starts, counts = np.unique(row, return_index=True, return_counts=True)
    if len(rows):
        peak = np.maximum.reduceat(triplet[:, 2], starts)
        highest = np.flatnonzero(triplet[:, 2] == np.repeat(peak, counts))
        starts = highest[np.unique(row[highest], return_index=True)[1]]
    peaks = triplet[starts]
    directions = np.full((2, len(segmentation)), np.nan)
    azimuth, elevation = geometry.from_pixels(peaks[:, 0], peaks[:, 1], *geometry.MAP)
    # adding 0.0 turns -0.0 into 0.0; what is beyond nine decimals is noise of the arithmetic
    directions[:, rows] = np.round((geometry.wrap(azimuth), elevation), 9) + 0.0
    unknown = np.isnan(directions[0])
    return pa.array(directions[0], mask=unknown), pa.array(directions[1], mask=unknown)


# --- layout ----------------------------------------------------------------------------------------

_INDENT = re.compile(rb'[\[{]\r?\n( *)[\[{"]')


@dataclasses.dataclass(frozen=True)
class JsonLayout:
    """How a file is written, where that is not as the official writer does it."""

    indent: int | None = 2  # spaces to a level; None for all on one line
    order: tuple[str, ...] = tuple(KEYS)  # the keys of an annotation in their order
    pixels: bool = False  # whether x and y are written without a decimal point

    @staticmethod
    def of(data: bytes, annotations: Sequence[dict[str, Any]]) -> JsonLayout:
        """Return the layout of a file with these annotations."""
        indented = _INDENT.match(data.removeprefix(b"\xef\xbb\xbf").lstrip())
        indent = min(len(indented[1]), 16) if indented else None
        order = tuple(annotations[0]) if annotations else ()
        official = tuple(key for key in KEYS if key in order)
        unchanged = order == official or order[: len(official)] == official
        points = (point for row in annotations for polygon in row["segmentation"] for point in polygon)
        pixels = type(next(points, [0.0])[0]) is int
        return JsonLayout(indent, tuple(KEYS) if unchanged else order, pixels)

    @staticmethod
    def from_extra(extra: str | None) -> tuple[JsonLayout, dict[str, Any]]:
        """Return the layout and unknown top-level keys (annotations among them) of ``ClipFile.extra``."""
        top = json.loads(extra) if extra else {}
        given = top.get("annotations")
        given = given if isinstance(given, dict) else {}
        indent = given.get("indent", 2)
        indent = indent if indent is None or (type(indent) is int and 0 <= indent <= 16) else 2
        order = given.get("order")
        keys = tuple(map(str, order)) if isinstance(order, list) else tuple(KEYS)
        return JsonLayout(indent, keys, given.get("pixels") is True), top

    def to_extra(self, top: dict[str, Any]) -> str | None:
        """Return the inverse of :meth:`from_extra`; None for an official file without further keys."""
        given = {f.name: v for f in dataclasses.fields(self) if (v := getattr(self, f.name)) != f.default}
        extra = {key: given if key == "annotations" else value for key, value in top.items()}
        return None if extra == {"annotations": {}} else json.dumps(extra, ensure_ascii=False)

    def arranged(self, annotation: dict[str, Any]) -> dict[str, Any]:
        """Return *annotation* as this layout writes it; keys missing from the order come last."""
        if self.pixels:
            from seldio.formats.json_text import shorter

            polygons = annotation["segmentation"]
            points = [[[*map(shorter, point[:2]), point[2]] for point in polygon] for polygon in polygons]
            annotation = annotation | {"segmentation": points}
        if self.order == tuple(KEYS):
            return annotation
        first = {key: annotation[key] for key in self.order if key in annotation}
        return first | annotation


DCASE2026 = JsonFormat(
    name="dcase2026",
    title="2026 labels and submissions: JSON with frame, instance, class, score, distance in cm, energy map",
    role="submission",
    years="2026",
    suffix=".json",
    stem=r"(_std|_inference)+\Z",
    carries=("clip", "azimuth", "elevation", "extra", *KEYS.values()),
    needs=("frame", "class_id", "azimuth", "elevation", "distance"),
    aliases=("stairs26",),
    source="https://dcase.community/challenge2026/task-semantic-acoustic-imaging-for-sound-event-localization-and-"
    "detection-from-spatial-audio-and-audiovisual-scenes",
    note="Labels are named NAME_std.json and have no score; outputs are named NAME.json. The unit of distance is not "
    "stated; the baseline's labels come from STARSS23, which uses centimetres.",
)
