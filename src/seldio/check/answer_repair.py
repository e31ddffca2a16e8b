"""Repair right answers that are not written as their format writes them: letters as texts (QAI121), or back (QAI128).

What ``B`` becomes is a guess, since it may be meant as it stands; what the text of one option alone becomes is none. A
file is only written if nothing else of it changes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from seldio.catalogues.parts import Part
from seldio.check.items import CheckedItems
from seldio.formats.items import ItemReading
from seldio.formats.mera import AS_WRITTEN
from seldio.rules.item_table import ItemTable
from seldio.rules.items import misformed
from seldio.schema.qa import Rows


def with_answers_in_form(
    questions: Sequence[tuple[Part, CheckedItems]], paths: Collection[str]
) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield path, bytes before and bytes after of each file of *questions* among *paths* that can be repaired."""
    for part, checked in questions:
        if part.files[checked.file].entry.path not in paths:
            continue
        chosen = part.chosen([checked.file])
        for file in chosen.texts(lambda _: None):
            reading = chosen.reading(file, lambda _: None)
            after = None if reading is None else _changed(reading, file.data)
            if after is not None:
                yield file.path, file.data, after


def _changed(reading: ItemReading, data: bytes) -> bytes | None:
    """The file of *reading*, which holds *data*, with answers in form; None where that cannot be, or changes more."""
    right = {row: meant[0] for row, meant in misformed(ItemTable.of(reading)) if len(meant) == 1}
    if not right or _written(reading, reading.table) != data:
        return None
    place = reading.table.schema.names.index("answer")
    answers = [right.get(row, answer) for row, answer in enumerate(reading.table.column(place).to_pylist())]
    after = _written(reading, reading.table.set_column(place, reading.table.schema.field(place), [answers]))
    again = reading.format.read(after, reading.path, lambda _: None)
    return after if again is not None and _alike(again.table, reading.table) else None


def _alike(one: pa.Table, other: pa.Table) -> bool:
    """Whether tables are the same but for answers, and for the records that some formats keep as they were written."""
    names = [name for name in one.schema.names if name not in ("answer", "extra")]
    if len(one) != len(other) or not one.select(names).equals(other.select(names)):
        return False
    return one.column("extra").equals(other.column("extra")) or all(
        _plain(ours) == _plain(theirs)
        for ours, theirs in zip(one.column("extra").to_pylist(), other.column("extra").to_pylist(), strict=True)
    )


def _plain(extra: str | None) -> dict[str, Any]:
    return {key: value for key, value in json.loads(extra or "{}").items() if key != AS_WRITTEN}


def _written(reading: ItemReading, table: pa.Table) -> bytes:
    """The file of *reading* with the rows of *table*."""
    return reading.format.write(Rows(table, reading.format.model), reading.origin)
