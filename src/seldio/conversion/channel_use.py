"""What to know before a harness asks the questions: recordings it will not find, and channels that are dropped."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from seldio.formats.items import ItemFormat
from seldio.schema.arrays import pc
from seldio.tasks.spatial import spatial
from seldio.text import clipped, listed, plural

#: So many recordings are looked for.
_LOOKED_FOR = 1000


@dataclasses.dataclass
class AskedOfHarness:
    """What questions ask for, a part of them after the other."""

    rows: int = 0
    spatial: int = 0  # those that take directions or distances
    paths: dict[str, None] = dataclasses.field(default_factory=dict)  # of the first recordings

    def add(self, table: pa.Table) -> None:
        """Count the questions of *table*."""
        if "question" not in table.column_names:
            return
        self.rows += len(table)
        self.spatial += int(spatial(table).sum())
        if len(self.paths) < _LOOKED_FOR:
            few = pc.list_flatten(table["audio"].slice(0, _LOOKED_FOR)).to_pylist()
            self.paths.update(dict.fromkeys(few[:_LOOKED_FOR]))

    def notes(self, target: ItemFormat, out: str | os.PathLike[str] | BinaryIO) -> Iterator[str]:
        """Sentences on a file of *target*, which a harness reads, that was written to *out*."""
        if self.spatial:
            asked = plural(self.spatial, "question takes", "questions take")
            yield (
                f"{asked} directions or distances to answer, which only several channels hold: {target.channels}. "
                "Check what your model gets, or its answers are guesses"
            )
        if not isinstance(out, str | os.PathLike):
            return
        folder = Path(out).absolute().parent
        places = [folder, *(folder.parents if target.climbs else ())]
        absent = [path for path in self.paths if not any((place / path).is_file() for place in places)]
        if absent:
            where = (
                "in the folder of the output or one above it" if target.climbs else "relative to the output's folder"
            )
            yield (
                f"{plural(len(absent), 'recording')} not found {where}, where the harness looks for them "
                f"({listed([clipped(path, 60) for path in absent], 2)})"
            )
