"""The formats of labels, outputs and submissions that are tables of numbers: a row each in the files of datasets.

A column is ``field:kind``. Fields are those of the event table. Kinds:

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

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from seldio import plugins
from seldio.formats.label_csv import Dialect, column


def _dialect(row: Mapping[str, Any]) -> Dialect:
    fields = dict(row)
    fields["columns"] = tuple(column(*each.split(":")) for each in fields["columns"].split())
    fields["aliases"] = tuple(fields.get("aliases", ()))
    if "hop" in fields:
        fields["hop"] = Fraction(fields["hop"])
    return Dialect(**fields)


def _dialects(outside: bool) -> Iterator[Dialect]:
    for record in plugins.datasets():
        if ("place" in record) is outside:
            if outside:  # whoever asks for one first
                from seldio.schema.dataset_file import check

                check(record)
            yield from map(_dialect, record.get("formats", ()))


#: Formats of the user, of which names of folders and files tell nothing.
OUTSIDE: tuple[Dialect, ...] = tuple(_dialects(True))
#: Every format; of those that fit alike, the first is meant where nothing else tells.
DIALECTS: tuple[Dialect, ...] = (*_dialects(False), *OUTSIDE)
