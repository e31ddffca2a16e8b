"""The layout of 2026: JSON annotations with energy maps on an equirectangular picture of 360 x 180.

Labels (``NAME_std.json``) and outputs (``NAME_inference.json``) hold one object for each active source
in each label frame::

    {"annotations": [{"metadata_frame_index": 0, "instance_id": 1, "category_id": 8, "score": 0.87,
                      "distance": 231.5, "segmentation": [[[x, y, energy], ...], ...]}, ...]}

Labels have no score. The direction of a source is that of its point with the highest energy. Whatever
else a file holds comes back when it is written again: unknown keys of an annotation are in the column
``extra``, unknown keys of the file in ``ClipFile.extra``. There the key ``annotations`` describes the
layout, where it is not the official one: ``indent``, the ``order`` of keys, and which numbers are
written ``whole``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.findings import Finding, Sink
from seldio.formats import json_text
from seldio.formats.annotations import KEYS, Checker, Layout, points, triplets
from seldio.formats.base import Format, Part, Place, Reading, TextFile, assembled
from seldio.schema.events import COLUMNS, ClipFile

#: How much of a file is looked at to tell what it is.
_PREFIX = 1 << 16
_BEGINS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{(?=.*?"annotations"\s*:)', re.DOTALL)


def looks_like(data: bytes) -> bool:
    """Whether the head of a file is that of a JSON object with the key ``annotations``."""
    return _BEGINS.match(data[:_PREFIX]) is not None


def clip_name(name: str) -> str:
    """The clip of a file: ``mix001`` for ``mix001_std.json`` and for ``mix001_inference.json``."""
    return name.removesuffix(".json").removesuffix("_inference").removesuffix("_std")


@dataclasses.dataclass(frozen=True, kw_only=True)
class JsonFormat(Format):
    """The layout of 2026.

    Args:
        metre: what one metre is written as.
        fills: what is written for fields that a table does not carry.
    """

    metre: int = 100
    fills: Mapping[str, int] = dataclasses.field(default_factory=lambda: {"source": 0})

    def read(self, files: Sequence[TextFile], sink: Sink) -> Reading:
        """See :meth:`Format.read`.

        An annotation without ``instance_id`` or ``distance`` is kept, its source or distance null; one
        without any point has no direction. Distances are metres, directions degrees (rounded to nine
        decimals).
        """
        parts = [JsonPart(file) for file in files]
        tables = [part.read(self, sink) for part in parts]
        joined = pa.concat_tables(tables) if tables else _table(self, [])
        columns = {name: joined[name] for name in joined.column_names}
        for name in ("score", "extra"):
            if columns[name].null_count == len(columns[name]):
                del columns[name]
        return assembled(self, columns, parts)

    def write(self, table: pa.Table, file: ClipFile) -> bytes:
        """See :meth:`Format.write`.

        Rows without a segmentation get one point of energy 1 in their direction.
        """
        layout, top = Layout.from_extra(file.extra)
        annotations = list(_annotations(self, table, layout))
        text = json.dumps({**top, "annotations": annotations}, indent=layout.indent)
        return ((text + "\n" if file.final_newline else text).replace("\n", file.newline)).encode()


class JsonPart(Part):
    """The annotations of one file."""

    def __init__(self, file: TextFile) -> None:
        ends = file.data.count(b"\r\n")
        newline = "\r\n" if ends and ends == file.data.count(b"\n") else "\n"
        super().__init__(file, ClipFile(file.clip, file.name, newline, file.data.endswith(b"\n")))
        #: number of the annotation that each row came from
        self.numbers: list[int] = []

    def read(self, format: JsonFormat, sink: Sink) -> pa.Table:
        """The columns of the annotations that can be read; what is wrong with the others goes to *sink*."""
        document = json_text.parse(self.file.data, self.file.path, sink)
        checker = Checker(document, self.file.data, sink) if document is not None else None
        if checker is None or (rows := checker.annotations()) is None:
            self.readable = False
            return _table(format, [])
        self.numbers = list(rows)
        self.rows = len(rows)
        top, annotations = checker.top, list(rows.values())
        layout = Layout.of(self.file.data, annotations)
        self.origin = dataclasses.replace(self.origin, extra=layout.to_extra(top))
        return _table(format, annotations)

    @cached_property
    def _document(self) -> json_text.JsonDocument:
        """The file, parsed once more: places are asked for only where something is wrong."""
        document = json_text.parse(self.file.data, self.file.path, _ignore)
        assert document is not None, "a file that was read cannot be read again"
        return document

    def place(self, row: int, field: str | None) -> Place:
        """See :meth:`Part.place`; a direction points at the segmentation that it comes from."""
        key = _KEY_OF.get(field or "")
        pointer: tuple[str | int, ...] = ("annotations", self.numbers[row])
        try:
            span = self._document.locate((*pointer, key) if key else pointer)
        except KeyError:  # the annotation lacks this key
            span = self._document.locate(pointer)
        return Place(*span)


_KEY_OF = {field: key for key, field in KEYS.items()}
_KEY_OF |= dict.fromkeys(("azimuth", "elevation"), "segmentation")


def _ignore(_: Finding) -> None:
    """For what has been reported before."""


# --- from annotations to columns -------------------------------------------------------------------


def _table(format: JsonFormat, annotations: Sequence[dict[str, Any]]) -> pa.Table:
    """The columns of annotations that have passed the checks."""
    values = {field: [row.get(key) for row in annotations] for key, field in KEYS.items()}
    values["distance"] = [None if value is None else value / format.metre for value in values["distance"]]
    segmentation = triplets(values.pop("segmentation"))
    columns = {field: pa.array(value, COLUMNS[field]) for field, value in values.items()}
    assert segmentation is not None, "the checks let a segmentation through that is none"
    columns["azimuth"], columns["elevation"] = _directions(segmentation)
    columns["segmentation"] = segmentation
    columns["extra"] = pa.array([_extra(row) for row in annotations], pa.string())
    return pa.table({name: columns[name] for name in COLUMNS if name in columns})


def _extra(annotation: dict[str, Any]) -> str | None:
    """The unknown keys of an annotation as a json object; None where there are none."""
    unknown = {key: value for key, value in annotation.items() if key not in KEYS}
    return json.dumps(unknown, ensure_ascii=False) if unknown else None


def _directions(segmentation: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Azimuth and elevation (degrees) of each row's point with the highest energy, the first of equals."""
    row, triplet = points(segmentation)
    order = np.lexsort((-triplet[:, 2], row))
    rows, first = np.unique(row[order], return_index=True)
    peaks = triplet[order[first]]
    found = np.full((2, len(segmentation)), np.nan)
    azimuth, elevation = geometry.from_pixels(peaks[:, 0], peaks[:, 1])
    # adding 0.0 turns -0.0 into 0.0; what is beyond nine decimals is noise of the arithmetic
    found[:, rows] = np.round((geometry.wrap(azimuth), elevation), 9) + 0.0
    unknown = np.isnan(found[0])
    return pa.array(found[0], mask=unknown), pa.array(found[1], mask=unknown)


# --- from columns to annotations -------------------------------------------------------------------


def _annotations(format: JsonFormat, table: pa.Table, layout: Layout) -> Iterable[dict[str, Any]]:
    """The rows as annotations, keys in the official order; what is unknown is left out."""
    count = table.num_rows
    values = {key: _values(table, field, count) for key, field in KEYS.items()}
    if "source" not in table.column_names:
        values["instance_id"] = [format.fills["source"]] * count
    # 1.81 m is 181.00000000000003 cm in binary; nine decimals are more than any file holds
    values["distance"] = [None if d is None else round(d * format.metre, 9) for d in values["distance"]]
    values["segmentation"] = _segmentations(table, values["segmentation"])
    extras = _values(table, "extra", count)
    for row, extra in zip(zip(*values.values(), strict=True), extras, strict=True):
        known = {key: value for key, value in zip(values, row, strict=True) if value is not None}
        yield layout.arranged(known | json.loads(extra or "{}"))


def _values(table: pa.Table, field: str, count: int) -> list[Any]:
    return table[field].to_pylist() if field in table.column_names else [None] * count


def _segmentations(table: pa.Table, given: list[Any]) -> list[Any]:
    """The segmentations as given, else one point of energy 1; no point where no direction is known."""
    if None not in given:
        return given
    azimuth, elevation = (table[field].to_numpy(zero_copy_only=False) for field in ("azimuth", "elevation"))
    across, down = geometry.to_pixels(azimuth, elevation)
    # -180 is where 180 is; at the very right edge of the picture it is read as -180 again
    x, y = np.where(azimuth == -180, np.nextafter(360.0, 0), across).tolist(), down.tolist()
    spots = [[[[a, b, 1.0]]] if a == a and b == b else [] for a, b in zip(x, y, strict=True)]
    return [spot if value is None else value for value, spot in zip(given, spots, strict=True)]


DCASE2026 = JsonFormat(
    name="dcase2026",
    title="labels and submissions 2026: JSON with frame, instance, class, score, distance in cm, energy map",
    role="submission",
    years="2026",
    suffix=".json",
    carries=("clip", "azimuth", "elevation", "extra", *KEYS.values()),
    needs=("frame", "class_id", "azimuth", "elevation", "distance"),
    aliases=("stairs26",),
    source="https://dcase.community/challenge2026/task-semantic-acoustic-imaging-for-sound-event-localization-and-"
    "detection-from-spatial-audio-and-audiovisual-scenes",
    note="Labels are NAME_std.json and have no score, outputs NAME_inference.json. The unit of distance is "
    "not stated; the baseline's labels come from STARSS23, which has centimetres.",
)
