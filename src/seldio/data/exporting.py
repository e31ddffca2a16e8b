"""Export: a data set written anew in one of the ways in which data sets are shared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from seldio.data import folders, parquet, webdataset
from seldio.data.contents import Contents
from seldio.data.manifest import Manifest
from seldio.data.rows import Plan
from seldio.data.work import Export
from seldio.errors import UsageError
from seldio.files import Limits, open_source
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.text import printable

#: Recordings are longer than what other verbs hold in memory.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)
_WRITERS = {
    "parquet": parquet.write, "webdataset": webdataset.write, "audiofolder": folders.write,
    "videofolder": folders.write, "files": None,
}  # fmt: skip
KINDS = tuple(_WRITERS)
#: Where files lie that are of no clip; they come back from there.
OTHER = "other/"


def export(
    source: str | os.PathLike[str], out: str | os.PathLike[str], kind: str = "parquet", *,
    embed: bool = True, shard_bytes: int = 500 << 20, array: str = "foa", format: str | None = None,
) -> Manifest:  # fmt: skip
    """Write a data set to a folder in one of the ways in which data sets are shared.

    Nothing is lost: recordings, videos and label files go in as the bytes they are, and files that are of no clip
    are copied; :func:`seldio.data.read_back` makes all of them again. Files appear whole or not at all, the
    manifest last. The same call again goes on where an earlier one was broken off, and writes again only what
    has changed in the source. The same source gives the same bytes.

    Args:
        source: a folder, archive or file.
        out: a folder that is empty, not there, or of an earlier export.
        kind: *parquet*, *webdataset*, *audiofolder*, *videofolder*, or *files* for plain copies.
        embed: put recordings and videos into the Parquet files; else copies lie in ``media/``, and paths lead there.
        shard_bytes: most bytes of a shard, unless one clip has more.
        array: the array that is the column ``audio``; others have columns of their own.
        format: the layout of the labels; found from their content if not given.

    Raises:
        UsageError: there is nothing to export, the labels are of several class lists, or *out* is no place for it.
        InvalidData: labels or questions are wrong.
        SeldioError: the disk fails.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no kind of storage {kind!r}; choose one of {', '.join(KINDS)}")
    if shard_bytes < 1:
        raise UsageError(f"shards of {shard_bytes} bytes cannot be: give a number above 0, such as {500 << 20}")
    place = Path(out)
    with open_source(source, raise_errors, LIMITS) as opened:
        top = Path(opened.path).resolve()
        if opened.kind == "folder" and (place.resolve() == top or place.resolve().is_relative_to(top)):
            raise UsageError(f"{printable(str(place))} lies inside the source: name a folder beside it")
        if not opened.entries:
            raise UsageError(f"{printable(opened.path)} holds no files to export")
        plan = Plan(Contents(opened, get(format) if format is not None else None), array)
        return _written(plan, place, kind, {"embed": embed, "shard_bytes": shard_bytes})


def _columns(plan: Plan) -> dict[str, Any]:
    """What the content of every shard depends on beside the files of its own clips."""
    return {
        "array": plan.array,
        "format": plan.contents.told.name if plan.contents.told is not None else None,
        "columns": [plan.facts, plan.media, bool(plan.files), plan.events.schema.to_string()],
        "classes": plan.classes,
        "rates": plan.rates,
        "questions": [entry.stamp for entry in plan.others] if plan.items else [],
    }


def _check_sizes(plan: Plan) -> None:
    """See that each file fits a cell of a Parquet file, which is put together in memory, before any is read.

    Raises:
        UsageError: one is too large.
    """
    large = [entry for row in plan.rows for entry in row.files if entry.size > LIMITS.file_bytes]
    if large:
        more = f", as have {len(large) - 1:,} others" if len(large) > 1 else ""
        raise UsageError(
            f"{printable(large[0].path)} has {large[0].size / 1e9:.2f} GB{more}: a cell of a Parquet file takes at "
            f"most {LIMITS.file_bytes / 1e9:.2f} GB here. Export as WebDataset (--to webdataset), which takes any size"
        )


def _written(plan: Plan, place: Path, kind: str, options: dict[str, Any]) -> Manifest:
    writer = _WRITERS[kind]
    if writer is not None and not plan.rows:
        raise UsageError(f"{printable(plan.contents.source.path)} holds no clip: kind 'files' copies it as it is")
    if kind == "parquet" and options["embed"]:
        _check_sizes(plan)
    with Export(place, kind, {**options, **({} if writer is None else _columns(plan))}) as made:
        for entry in plan.contents.source if writer is None else plan.others:
            made.copy(entry.name if writer is None else OTHER + entry.name, entry)
        if writer is None:
            made.work()
        features = {} if writer is None else writer(plan, made, **options)
        return made.finish(features, plan.statistics())
