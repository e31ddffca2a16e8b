"""Repair right answers that are not written as their format writes them (QAI121): a letter as its text, or back.

That is a guess, since ``B`` may be meant as it stands. A file is only written if nothing else of it changes.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from seldio.check.items import CheckedItems
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.mera import AS_WRITTEN
from seldio.formats.parts import Part
from seldio.rules.item_table import ItemTable
from seldio.rules.items import misformed
from seldio.schema.qa import Item, Rows, table_of

#: The rule that is repaired.
FORM = "QAI121"


def with_answers_in_form(
    questions: Sequence[tuple[Part, CheckedItems]], paths: Collection[str]
) -> Iterator[tuple[str, bytes, bytes]]:
    """Of those files of *questions* that are among *paths* and can be repaired: path, bytes before and after."""
    pieces: dict[str, list[Part]] = {}
    for part, checked in questions:
        if (path := part.files[checked.file].entry.path) in paths:
            pieces.setdefault(path, []).append(part.chosen([checked.file]))
    for path, parts in pieces.items():
        format = parts[0].format
        data = b"".join(file.data for part in parts for file in part.texts(lambda _: None))
        reading = format.read(data, path, lambda _: None) if isinstance(format, ItemFormat) else None
        after = None if reading is None else _changed(reading, data)
        if after is not None:
            yield path, data, after


def _changed(reading: ItemReading, data: bytes) -> bytes | None:
    """The file of *reading*, which holds *data*, with answers in form; None where that cannot be, or changes more."""
    if _written(reading, {}) != data:
        return None
    right = {row: meant[0] for row, meant in misformed(ItemTable.of(reading)) if len(meant) == 1}
    after = _written(reading, right) if right else data
    again = reading.format.read(after, reading.path, lambda _: None)
    return after if after != data and again is not None and _others(again) == _others(reading) else None


def _others(reading: ItemReading) -> list[dict[str, Any]]:
    """The rows without their answers, and without the records that some formats keep as they were written."""
    rows = (row.model_dump(exclude={"answer"}) for row in reading.rows)
    return [row | {"extra": {k: v for k, v in (row["extra"] or {}).items() if k != AS_WRITTEN}} for row in rows]


def _written(reading: ItemReading, right: dict[int, str]) -> bytes:
    """The file of *reading* with other answers in some rows."""
    rows = [
        row.model_copy(update={"answer": right[number]}) if number in right and isinstance(row, Item) else row
        for number, row in enumerate(reading.rows)
    ]
    table = Rows(table_of(rows, reading.format.model), reading.format.model)
    stream = io.BytesIO()
    with reading.format.writer(stream) as writer:
        writer.add(table.table, reading.origin)
        writer.close(reading.origin)
    return stream.getvalue()
