"""Questions made of labels: shard by shard, written as they come, and the same bytes for any number of workers."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, compress, pairwise
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np

from seldio.conversion.asked import Asked, Request, dropped
from seldio.conversion.making import Batch, Cutting, Tally, Work, maker
from seldio.conversion.outputs import single_file
from seldio.conversion.shards import Shard, shards
from seldio.engines import each
from seldio.errors import SeldioError, UsageError
from seldio.files import Source
from seldio.formats import get, item_formats
from seldio.formats.items import ItemFormat
from seldio.formats.json_items import JsonItems
from seldio.formats.qa_json import ITEMS
from seldio.schema.qa import Item
from seldio.tasks import mix
from seldio.text import clipped, printable

Place = str | os.PathLike[str]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
#: What every question has; a target that cannot carry all of it is none for labels.
ESSENTIAL = frozenset({"id", "audio", "task", "question", "answer", "canonical_answer"})
#: The target whose questions are Russian, with options.
RUSSIAN = "ruenvaqa"


class Spooled(NamedTuple):
    """What is kept in memory of a batch: the length of each text in bytes, and what to choose by."""

    lengths: np.ndarray[Any, np.dtype[np.int32]]
    keys: mix.Keys


def ask(source: Source, out: Place | BinaryIO, target: ItemFormat, *, format: str | None, request: Request) -> Asked:
    """Make questions from labels.

    The labels are read and the items written a shard at a time; in between they lie in a nameless file, so
    that memory does not grow with their number and nothing is written unless everything is right.

    Args:
        source: an open source of label files.
        out: the file to write, a folder to write ``{split}.jsonl`` into, or a binary stream.
        target: the item format to write.
        format: the layout of the labels; found from their content if not given.
        request: what to ask.

    Raises:
        InvalidData: something in the labels is wrong.
        UsageError: there are no labels, an option makes no sense, or labels cannot be asked in the target.
        SeldioError: the disk fails, or a recording is missing.
    """
    check_target(target)
    if request.audio and (not isinstance(out, str | os.PathLike) or source.kind == "stdin"):
        raise UsageError("--audio takes labels on disk beside their recordings, and -o with a folder or file to write")
    place = _place(out, target, request.split)
    direct = isinstance(target, JsonItems) and not request.audio
    text = target.name if direct else ITEMS.name
    work = Work(request.options(), target.name == RUSSIAN, text, request.selects, request.force)
    module = maker(work.russian)
    found = shards(source, get(format) if format is not None else None)
    if not found:
        raise UsageError(f"no labels in {printable(source.path)}")
    with tempfile.TemporaryFile(dir=_near(place)) as spool:
        tally = Tally()
        made = each(work, found, what="asking about labels", size=attrgetter("size"), key=attrgetter("stamp"))
        batches = [_put(batch, spool, tally) for batch in made]
        forced = tally.faults.settle(request.force)
        kept, masks = _choice(batches, tally.asked, request, module)
        texts, remarks = _texts(spool, batches, masks), _unsaid(target)
        if isinstance(place, Path) and request.audio:
            text = target.name if isinstance(target, JsonItems) else ITEMS.name
            cutting = Cutting(source.path, str(place.parent), text)
            texts = _cut(each(cutting, texts, what="cutting sound"), remarks)
        with _keeping(place, request), single_file(place, [source.path, *_local(found)]) as (stream, written):
            _write(stream, texts, target)
    return _asked(found, tally, target, written, kept, module, (*remarks, *map(str, forced)))


def check_target(target: ItemFormat) -> None:
    """See that labels can be asked in *target*.

    Raises:
        UsageError: they cannot; the message lists the formats in which they can.
    """
    if not _can_hold(target):
        names = ", ".join(format.name for format in item_formats.ITEM_FORMATS if _can_hold(format))
        raise UsageError(f"labels can be asked in {names}; {target.name} has no place for what is asked")


def _can_hold(target: ItemFormat) -> bool:
    whole = target.holds == "items" and set(target.carries) >= ESSENTIAL
    return target.name == RUSSIAN or (whole and "options" not in target.needs)


def _unsaid(target: ItemFormat) -> list[str]:
    """What of the answers *target* has no place for."""
    lacks = "answer_meta" not in target.carries and target.name != RUSSIAN
    return [f"{target.name} has no place for answer_meta, the truth as numbers"] * lacks


def _place(out: Place | BinaryIO, target: ItemFormat, split: str) -> Path | BinaryIO:
    """The file to write: in a folder, one named after the split."""
    if not isinstance(out, str | os.PathLike):
        return out
    path = Path(out)
    if path.suffix.lower() == ".zip":
        raise UsageError(f"questions are written as one file, not as an archive: {printable(str(path))}")
    if not path.is_dir() and not os.fspath(out).endswith(("/", os.sep)):
        return path
    if re.fullmatch(r"[\w-][\w.-]*", split) is None:
        raise UsageError(f"the split {clipped(split)} cannot name a file in {printable(str(path))}: name one with -o")
    return path / f"{split}{target.suffix}"


def _near(place: Path | BinaryIO) -> Path | None:
    """The nearest folder there is above the output: it has room for it, where a folder in memory may have none."""
    if not isinstance(place, Path):
        return None
    return next((folder for folder in place.absolute().parents if folder.is_dir() and os.access(folder, os.W_OK)), None)


def _local(found: Sequence[Shard]) -> list[str]:
    """The real files that are read."""
    return [str(entry.local) for shard in found for entry, _, _ in shard.files if entry.local is not None]


def _put(batch: Batch, spool: IO[bytes], tally: Tally) -> Spooled:
    """Write the texts of *batch* away and count it."""
    spool.write(batch.data)
    tally.add(batch.tally)
    return Spooled(batch.lengths, batch.keys)


def _choice(
    batches: Sequence[Spooled], asked: Mapping[str, int], request: Request, module: ModuleType
) -> tuple[Mapping[str, int], Sequence[Mask | None]]:
    """How many items of each task are written, in the proportions of *module*, and which of each batch; None: all."""
    if not request.selects:
        return asked, [None] * len(batches)
    wanted = mix.targets(asked, per_task=request.per_task, balance=request.balance, total=request.total,
                         proportions={name: task.weight for name, task in module.TASKS.items()})  # fmt: skip
    keys = [batch.keys for batch in batches]
    masks = np.split(mix.chosen(np.concatenate(keys), wanted), np.cumsum([len(key) for key in keys])[:-1])
    return wanted, masks


def _texts(spool: IO[bytes], batches: Sequence[Spooled], masks: Sequence[Mask | None]) -> Iterator[list[bytes]]:
    """The texts of the items that are written, by batch."""
    spool.seek(0)
    for batch, mask in zip(batches, masks, strict=True):
        ends = list(accumulate(batch.lengths.tolist(), initial=0))
        data = spool.read(ends[-1])
        texts = (data[low:high] for low, high in pairwise(ends))
        yield list(texts if mask is None else compress(texts, mask.tolist()))


@contextmanager
def _keeping(place: Path | BinaryIO, request: Request) -> Iterator[None]:
    """Say, where the cutting of sound fails, what has been written."""
    try:
        yield
    except SeldioError as error:
        folder = place.parent / "audio" if isinstance(place, Path) else None
        if request.audio and folder is not None and folder.is_dir():
            what = (
                "the clips in it are whole, and the same command goes over them and on; the questions are not written"
            )
            error.args = (f"{error}. {printable(str(folder))} stays: {what}",)
        raise


def _cut(results: Iterable[tuple[list[bytes], list[str]]], remarks: list[str]) -> Iterator[list[bytes]]:
    """The texts of items whose audio has been cut; *remarks* are added to on the way."""
    for texts, odd in results:
        remarks += odd
        yield texts


def _write(stream: BinaryIO, texts: Iterable[list[bytes]], target: ItemFormat) -> None:
    """Write the file of *texts*: of records of *target* as they come, of ``items`` when all are there."""
    if not isinstance(target, JsonItems):
        items = [Item.model_validate_json(text) for batch in texts for text in batch]
        named = [_numbered(item, number) for number, item in enumerate(items, 1)] if target.name == RUSSIAN else items
        stream.write(target.write(named))
        return
    layout, between = target.layout, b""
    for batch in texts:
        if batch:
            stream.write((between or layout.head.encode()) + layout.joint.encode().join(batch))
            between = layout.joint.encode()
    stream.write(layout.tail.encode() if between else layout.file([]).encode())


def _numbered(item: Item, number: int) -> Item:
    """*item* with a running number, as the benchmark has (of 32 bits); the hash of its content goes to ``meta``."""
    meta = {**((item.extra or {}).get("meta") or {}), "qa_id": f"qa_{int(item.id):x}"}  # type: ignore[dict-item]
    return item.model_copy(update={"id": str(number), "extra": {**(item.extra or {}), "meta": meta}})


def _asked(
    found: Sequence[Shard], tally: Tally, target: ItemFormat, written: tuple[str, ...], kept: Mapping[str, int],
    module: ModuleType, remarks: tuple[str, ...],
) -> Asked:  # fmt: skip
    """The report; tasks in their own order."""
    skipped: dict[str, dict[str, int]] = {}
    for (task, reason), count in tally.skipped.items():
        skipped.setdefault(task, {})[reason] = count
    tasks = [task for task in module.TASKS if task in tally.asked or task in skipped]
    number = sum(kept.values())
    return Asked(
        formats=(" and ".join(tally.layouts),),
        target=target.name,
        files=sum(len(shard.files) for shard in found),
        written=written,
        clips=tally.recordings,
        rows=(number, number),
        losses={},
        notes=(),
        findings=(),
        asked={task: tally.asked[task] for task in tasks},
        kept={task: kept.get(task, 0) for task in tasks},
        skipped={task: dict(sorted(skipped[task].items())) for task in (*tasks, "*") if task in skipped},
        refused=dict(module.REFUSED),
        remarks=(*remarks, *dropped({task: tally.asked[task] for task in tasks}, kept)),
    )
