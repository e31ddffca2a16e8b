"""Items made of one shard of labels, and their audio cut: work that other processes can be given."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from seldio import tasks
from seldio.check.vetting import Faults
from seldio.conversion.shards import Shard
from seldio.formats import item_formats
from seldio.formats.json_items import JsonItems
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.tasks import mix


@dataclasses.dataclass
class Tally:
    """What was asked and skipped, in which layouts, about how many recordings; by task, and by task and reason."""

    asked: Counter[str] = dataclasses.field(default_factory=Counter)
    skipped: Counter[tuple[str, str]] = dataclasses.field(default_factory=Counter)
    layouts: dict[str, None] = dataclasses.field(default_factory=dict)
    recordings: int = 0
    faults: Faults = dataclasses.field(default_factory=Faults)

    def add(self, other: Tally) -> None:
        """Count *other* too."""
        self.asked += other.asked
        self.skipped += other.skipped
        self.layouts |= other.layouts
        self.recordings += other.recordings
        self.faults.add(other.faults)


class Batch(NamedTuple):
    """What one shard gave: the texts of its items on end, the length of each in bytes, and what to choose by."""

    data: bytes
    lengths: np.ndarray[Any, np.dtype[np.int32]]
    keys: mix.Keys
    tally: Tally


@dataclasses.dataclass(frozen=True)
class Work:
    """What is to be done with a shard: a function of it that other processes can be given."""

    options: dict[str, Any]
    russian: bool
    text: str
    keyed: bool
    force: bool

    def __call__(self, shard: Shard) -> Batch:
        """Ask about the labels of *shard*."""
        made, text = maker(self.russian), cast("JsonItems", item_formats.get(self.text))
        tables, faults = shard.vetted()
        if faults.first and not self.force:
            tables = []  # nothing is asked in the end
        tally = Tally(faults=faults)
        texts: list[bytes] = []
        keys: list[tuple[int, int, int]] = []
        for table, layout in tables:
            tally.layouts[layout.name] = None
            tally.recordings += len(origin_of(table).files)
            for item in made.stream(table, skipped=tally.skipped, **self.options):
                texts.append(encoded(item, text))
                tally.asked[item.task] += 1
                if self.keyed:
                    keys.append(mix.key(item, self.options["seed"]))
        lengths = np.fromiter(map(len, texts), np.int32, len(texts))
        return Batch(b"".join(texts), lengths, mix.as_keys(keys), tally)


def maker(russian: bool) -> ModuleType:
    """The module with the tasks."""
    if not russian:
        return tasks
    from seldio.tasks import russian as module

    return module


def encoded(item: Item, target: JsonItems) -> bytes:
    """The text of *item* as a record of *target*, without what stands between records."""
    return target.layout.record(target.record(item)).encode()


@dataclasses.dataclass(frozen=True)
class Cutting:
    """What is to be done with the texts of items whose audio is wanted.

    Args:
        root: where the recordings are.
        out: the folder for ``audio/``.
        text: the format of the texts that come out.
    """

    root: str
    out: str
    text: str

    def __call__(self, texts: Sequence[bytes]) -> tuple[list[bytes], list[str]]:
        """The items with their new audio, and what was odd about it; *texts* are of the format ``items``."""
        from seldio.conversion.clip_audio import cut

        target, remarks = cast("JsonItems", item_formats.get(self.text)), list[str]()
        items = cut(map(Item.model_validate_json, texts), self.root, self.out, say=remarks.append)
        return [encoded(item, target) for item in items], remarks
