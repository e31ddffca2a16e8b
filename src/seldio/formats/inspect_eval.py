"""Logs of inspect_ai as it writes them by default: ``.eval``, a zip with a file of JSON for each sample.

A sample is what stands in ``samples`` of the log in JSON, so that each is read as such. Members are unpacked within the
limits of any archive (:class:`seldio.files.Limits`), whatever the directory of the zip says of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from seldio.errors import InvalidData
from seldio.files import DEFAULTS
from seldio.files.archives import opened_zip
from seldio.findings import Sink
from seldio.formats.base import Place
from seldio.formats.items import ItemFormat, ItemReading

_ZIP = b"PK\x03\x04"


def is_archive(data: bytes, name: str) -> bool:
    """Whether a file is such an archive."""
    return data.startswith(_ZIP) and name.lower().endswith(".eval")


@dataclasses.dataclass(frozen=True)
class EvalReading(ItemReading):
    """The samples of a log, each of which is a member of the archive."""

    members: tuple[str, ...] = ()  # as shown to people, of each row

    def path_of(self, row: int | None) -> str:
        """See :meth:`Reading.path_of`."""
        return self.path if row is None else self.members[row]


def read_archive(
    format: ItemFormat, read: Callable[[bytes, str, Sink], ItemReading | None], data: bytes, path: str, sink: Sink
) -> EvalReading:
    """The completions of all samples, in the order of the archive; *read* reads the file of one."""
    found: list[tuple[str, ItemReading]] = []
    with opened_zip(data, path, sink, DEFAULTS) as members:
        for member in members:
            if not (member.name.startswith("samples/") and member.name.endswith(".json")):
                continue
            try:
                reading = read(member.read(), member.path, sink)
            except InvalidData as error:  # damaged, or over a limit
                sink(error.finding)
            else:
                found += [] if reading is None else [(member.path, reading)]
    places = [(name, reading, row) for name, reading in found for row in range(len(reading.rows))]

    def locate(row: int, field: str | None, number: int | None) -> Place:
        _, reading, own = places[row]
        return reading.place(own, field, number)

    rows = [reading.rows[row] for _, reading, row in places]
    return EvalReading(format, path, rows, locate, members=tuple(name for name, *_ in places))
