"""The formats of labels, outputs and submissions that are tables of numbers: a row each in the files of datasets.

A column is ``field:kind:range``, such as ``azimuth:whole:-180..180``, or ``-180..180/10`` for multiples of 10. Fields
are those of the event table; a column without a range holds what its field usually does. Kinds:

- ``int``: a whole number, strictly (the official loaders call ``int()`` on it)
- ``whole``: a whole number is asked for, decimals are read (the loaders call ``float()``)
- ``real``: a decimal number
- ``real3``: the same, written with three decimals
- ``real3inf``: the same, or ``inf`` / ``-inf``
- ``flag``: 0 or 1
- ``name``: a class name
- ``text``: anything without commas and quotes, in a column that is passed over
- ``zero``: written as 0; read as a decimal number, and carried only where it is not 0 throughout
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from seldio.formats.datasets import RECORDS
from seldio.formats.label_csv import Dialect, column

#: What columns hold whose range is not declared; distances in metres.
RANGES = {
    "frame": "0..inf", "class_id": "0..inf", "source": "0..15", "azimuth": "-180..180", "elevation": "-90..90",
    "distance": "0..40", "x": "-1.5..1.5", "y": "-1.5..1.5", "z": "-1.5..1.5", "onscreen": "0..1",
    "onset": "0..inf", "offset": "0..inf",
}  # fmt: skip


def _dialects(records: Iterable[Mapping[str, Any]]) -> Iterator[Dialect]:
    """Yield the formats of datasets."""
    for row in (row for record in records for row in record.get("formats", ())):
        columns = []
        for text in row["columns"].split():
            field, kind, *declared = text.split(":")
            reach, _, step = (declared or [RANGES.get(field, "-inf..inf")])[0].partition("/")
            low, high = map(float, reach.split(".."))
            if field == "distance" and not declared:
                high *= row.get("metre") or 1
            columns.append(column(field, kind, low=low, high=high, step=float(step or 1)))
        fields = {**row, "columns": tuple(columns), "aliases": tuple(row.get("aliases", ()))}
        if "hop" in row:
            fields["hop"] = Fraction(row["hop"])
        yield Dialect(**fields)


#: Formats of the user, of which names of folders and files tell nothing.
OUTSIDE: tuple[Dialect, ...] = tuple(_dialects(record for record in RECORDS if "place" in record))
#: Every format; of those that fit alike, the first is meant where nothing else tells.
DIALECTS: tuple[Dialect, ...] = (*_dialects(record for record in RECORDS if "place" not in record), *OUTSIDE)
