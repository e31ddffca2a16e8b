"""Exports: a dataset written anew in one of the ways in which datasets are shared, and the way back.

The manifest is written first, with ``"finished": false``, and again when all files are there and open as the clips that
they were made from. So a folder says that it is an export from its first file on, and one that was broken off is
written again by the same call.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

from seldio.conversion.outputs import safe_name
from seldio.conversion.report import Conversion
from seldio.data.arrow_tables import Events
from seldio.data.export_forms import (
    ExportFiles,
    ExportPlan,
    FilePart,
    copied,
    folder_files,
    parquet_files,
    tar_files,
)
from seldio.data.index import Index
from seldio.errors import DataError, InvalidData, SeldioError, SeldioWarning, UsageError
from seldio.files import Limits, atomic_write, in_the_way, make_folder, open_source, write_bytes
from seldio.files.exports import MANIFEST, ExportFile, Manifest, original_files
from seldio.files.streams import CHUNK
from seldio.files.writing import remove
from seldio.findings import Finding, raise_errors
from seldio.formats import get
from seldio.parallel import parallel_map
from seldio.text import listed, plural, printable

#: Recordings are longer than what other verbs hold in memory.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)
_KINDS: dict[str, Callable[..., ExportFiles] | None] = {
    "parquet": parquet_files, "webdataset": tar_files, "audiofolder": folder_files, "videofolder": folder_files,
    "files": None,
}  # fmt: skip
KINDS = tuple(_KINDS)
#: Where files lie that are of no clip; they come back from there.
OTHER = "other/"
#: The list of shards, as the library wids has it.
_SHARD_INDEX = "index.json"
#: Names of files that a sentence has at most.
_NAMED = 20


def export(
    source: str | os.PathLike[str], out: str | os.PathLike[str], kind: str = "parquet", *,
    shard_bytes: int = 500 << 20, array: str = "foa", format: str | None = None,
    force: bool = False, overwrite: bool = False,
) -> Manifest:  # fmt: skip
    """Write a dataset to a folder in one of the ways in which datasets are shared.

    Nothing is lost: recordings, videos and label files go in as the bytes they are, and files that are of no clip
    are copied; ``seldio convert --to files`` makes all of them again. Files appear whole or not at all. A run that
    was broken off leaves a manifest that says so, and the same call writes the files again. The same source gives the
    same bytes.

    Args:
        source: a folder, archive or file.
        out: a folder that is empty, not there, or of an export that was broken off.
        kind: *parquet*, *webdataset*, *audiofolder*, *videofolder*, *files* for plain copies.
        shard_bytes: most bytes of a shard, unless one clip has more.
        array: the array that is the column ``audio``; others have columns of their own.
        format: the format of the labels; found from their content if not given.
        force: export labels in which there are errors too, such as angles in radians or classes that do not exist.
        overwrite: replace the files of a finished export in *out* that are as it wrote them.

    Raises:
        UsageError: there is nothing to export, the labels are of several class lists, or *out* cannot be used for it,
            such as for a link in it.
        InvalidData: labels or questions are wrong.
        DataError: what was written does not open with the same clips and rows; then the export is not finished.
        SeldioError: the disk fails.
        KeyboardInterrupt: with a message that says how to go on.
    """
    writer = _KINDS.get(kind)
    if writer is None and kind != "files":
        raise UsageError(f"unknown storage {kind!r}; choose from {', '.join(KINDS)}")
    if shard_bytes < 1:
        raise UsageError(f"shards of {shard_bytes} bytes are too small: give a number above 0, such as {500 << 20}")
    place = Path(out)
    with open_source(source, raise_errors, LIMITS) as opened:
        top = Path(opened.path).resolve()
        if opened.kind == "folder" and (place.resolve() == top or place.resolve().is_relative_to(top)):
            raise UsageError(f"{printable(str(place))} is inside the source: choose a folder outside it")
        if not opened.entries:
            raise UsageError(f"{printable(opened.path)} holds no files to export")
        plan = ExportPlan(Index(opened, get(format) if format is not None else None, force=force), array)
        if writer is None:
            content = ExportFiles([copied(entry.name, entry) for entry in opened])
        elif not plan.rows:
            raise UsageError(f"{printable(opened.path)} holds no clips: kind 'files' copies it as it is")
        else:
            _check_sizes(plan, embedded=kind == "parquet")
            content = writer(plan, kind, shard_bytes)
            content.parts += [copied(OTHER + entry.name, entry) for entry in plan.others]
        written = _write_files(place, kind, content, _earlier(place, overwrite), plan.on_disk)
        manifest = dataclasses.replace(written, features=content.features, statistics=plan.statistics())
        if writer is not None:
            _check_that_it_opens(plan, place, manifest)
        write_bytes(place / MANIFEST, manifest.to_json(), place)
        return manifest


def _check_that_it_opens(plan: ExportPlan, out: Path, manifest: Manifest) -> None:
    """Raise DataError unless an export opens with the clips and the rows that it was made from."""

    def heed(finding: Finding) -> None:
        if finding.code != "SAF108":  # a link that lies there from elsewhere is not followed
            raise_errors(finding)

    with open_source(out, heed, LIMITS, as_it_lies=True) as lying:
        source = original_files(lying, manifest, raise_errors, LIMITS)  # before the manifest says that it is finished
        again = Index(source, plan.index.format, force=plan.index.force)
        written = _rows_by_clip(again, again.events(again.label_files))
    expected = _rows_by_clip(plan.index, plan.events)
    for clip in sorted(expected.keys() | written.keys()):
        if written.get(clip) != expected.get(clip):
            raise DataError(
                f"{printable(str(out))} opens with {written.get(clip, 'no clip')} of {printable(clip)}, which has "
                f"{expected.get(clip, 'no clip')} in the source"
            )


def _rows_by_clip(index: Index, events: Events) -> dict[str, str]:
    """Return the number of label rows of each clip, in words; labels that cannot be read are stored unchanged."""
    try:
        rows = {clip: plural(table.num_rows, "row") for clip, table in events.items()}
    except (InvalidData, UsageError):
        rows = dict.fromkeys(events, "labels that cannot be read")
    return dict.fromkeys(index.clips, "no labels") | rows


def _check_sizes(plan: ExportPlan, *, embedded: bool) -> None:
    """See that shards can be cut by size, and that each file fits a cell of a Parquet file, before any is read."""
    files = [entry for row in plan.rows for entry in row.files]
    if any(entry.size < 0 for entry in files):
        path = printable(plan.index.source.path)
        raise UsageError(f"{path} does not say how large its files are: turn it into files first (--to files)")
    large = [entry for entry in files if entry.size > LIMITS.file_bytes]
    if large and embedded:
        more = f", as have {len(large) - 1:,} others" if len(large) > 1 else ""
        raise UsageError(
            f"{printable(large[0].path)} has {large[0].size / 1e9:.2f} GB{more}: a cell of a Parquet file takes at "
            f"most {LIMITS.file_bytes / 1e9:.2f} GB here. Export as WebDataset (--to webdataset), which takes any size"
        )


# --- the folder of an export -----------------------------------------------------------------------------


def _earlier(out: Path, overwrite: bool) -> Manifest | None:
    """Return the manifest of an export that may be replaced; None where nothing lies in the folder.

    Raises:
        UsageError: it holds something else, or a finished export that is not to be overwritten.
    """
    shown = printable(str(out))
    if out.exists() and not out.is_dir():
        raise UsageError(f"{shown} is a file, but an export is a folder")
    if not out.is_dir() or not any(out.iterdir()):
        return None
    state = in_the_way(out / MANIFEST, out)
    if state is None or not stat.S_ISREG(state.st_mode):
        raise UsageError(f"{shown} is not empty: choose a new folder for the export")
    try:
        manifest = Manifest.load(out)
        for file in manifest.files:
            safe_name(file.name, shown)
    except SeldioError:
        raise UsageError(f"{shown} holds another {MANIFEST}: choose a new folder") from None
    if manifest.finished and not overwrite:
        raise UsageError(f"{shown} holds a finished export: choose a new folder, or add --overwrite")
    return manifest


def _is_as_written(out: Path, file: ExportFile) -> bool:
    """Return whether a file has the size and the hash that the manifest has of it."""
    state = in_the_way(out / file.name, out)
    if state is None or not stat.S_ISREG(state.st_mode) or state.st_size != file.bytes:
        return False
    return _sha256(out / file.name) == file.sha256


def _write_files(out: Path, kind: str, content: ExportFiles, earlier: Manifest | None, on_disk: bool) -> Manifest:
    """Write the files of an export, each whole or not at all, and remove those that only an earlier export wrote.

    The manifest that is there meanwhile names those that are whole, and says that the export is not finished. A run
    that was killed leaves files that its manifest does not name: they are replaced only by the same content.

    Args:
        out: the folder.
        kind: of the export.
        content: what to write.
        earlier: the manifest of an export in the same folder; files that are no longer as it says stay.
        on_disk: whether other processes can read the source.
    """
    shown, known = printable(str(out)), () if earlier is None else earlier.files
    names = {part.name for part in content.parts} | {_SHARD_INDEX for _ in content.shards[:1]}
    files = {file.name: file for file in known if _is_as_written(out, file)}
    replaced = sorted(files)
    present = {name for name in names.union(file.name for file in known) if in_the_way(out / name, out) is not None}
    unknown = (present & names).difference(replaced)
    if unknown and (earlier is None or earlier.finished):
        raise UsageError(
            f"{plural(len(unknown), 'file')} in the way in {shown} that are not as an export wrote them: "
            f"{listed(sorted(unknown), _NAMED)}. Move them away"
        )
    make_folder(out)
    _write_unfinished(out, kind, files)
    write, size = partial(_write, str(out), frozenset(unknown)), attrgetter("size")
    try:
        for here in (False, True):
            parts = [part for part in content.parts if part.here == here]
            for file in parallel_map(write, parts, what="writing files", size=size, here=here or not on_disk):
                files[file.name] = file
        if content.shards:
            files[_SHARD_INDEX] = write(_shard_index([files[name] for name in content.shards]))
    except KeyboardInterrupt:
        text = f"stopped; the export in {shown} is not finished: run the same command again"
        raise KeyboardInterrupt(text) from None
    finally:
        _write_unfinished(out, kind, files)
    for name in files.keys() - names:
        remove(out / name, out)
    if changed := sorted(present - files.keys()):
        what = plural(len(changed), "file stays", "files stay")
        text = f"{what} in {shown} that changed since an earlier export wrote them: {listed(changed, _NAMED)}"
        warnings.warn(text, SeldioWarning, stacklevel=2)
    return Manifest(kind, tuple(files[name] for name in sorted(names)), replaced=tuple(replaced))


def _write_unfinished(out: Path, kind: str, files: Mapping[str, ExportFile]) -> None:
    """Write a manifest that names *files* and says that the export is not finished."""
    manifest = Manifest(kind, tuple(files[name] for name in sorted(files)), finished=False)
    write_bytes(out / MANIFEST, manifest.to_json(), out)


def _shard_index(shards: Sequence[ExportFile]) -> FilePart:
    """Return the list of shards as the library wids has it."""
    entries = [{"url": shard.name, "nsamples": shard.rows, "filesize": shard.bytes} for shard in shards]
    index = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": entries}
    data = (json.dumps(index, indent=1) + "\n").encode()
    return FilePart(_SHARD_INDEX, len(data), partial(_write_bytes, data))


def _write(out: str, unknown: frozenset[str], part: FilePart) -> ExportFile:
    """Write a file of an export below *out*; over one that is *unknown* only if it has the same content."""
    path = Path(out, part.name)
    with atomic_write(path, out) as stream:
        hashed = _Hashed(stream)
        rows = part.write(cast("BinaryIO", hashed))
        sha256 = hashed.sha.hexdigest()
        if part.name in unknown and (not path.is_file() or _sha256(path) != sha256):
            raise UsageError(f"{printable(str(path))} is not what the export writes there: move it away")
    return ExportFile(part.name, hashed.count, sha256, part.split, rows, part.origin)


def _write_bytes(data: bytes, stream: BinaryIO) -> int:
    stream.write(data)
    return 0


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _Hashed(io.RawIOBase):
    """A stream for writing that knows the hash and the number of bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream, self.sha, self.count = stream, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.count

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._stream.write(view)
        self.sha.update(view)
        self.count += len(view)
        return len(view)


# --- the way back ----------------------------------------------------------------------------------------


def unpack(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> list[Path]:
    """Write the files that an export was made from, byte for byte; return where they are.

    Raises:
        UsageError: *path* is not an export, or *out* is not empty.
        InvalidData: the export is not finished, or a file is missing or damaged.
        DataError: a file is not the one that was written.
        SeldioError: the disk fails.
    """
    folder, place = Path(path), Path(out)
    manifest = Manifest.load(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{printable(str(place))} exists and is not empty: choose a new folder")
    with open_source(folder, raise_errors, LIMITS) as source:
        for file in manifest.files:
            if _sha256(folder / safe_name(file.name, str(folder))) != file.sha256:
                shown = printable(str(folder / file.name))
                raise DataError(f"{shown} is not the file that was written (its SHA-256 differs): fetch it again")
        targets = [place / safe_name(entry.name, entry.path) for entry in source]
        for entry, target in zip(source, targets, strict=True):
            with entry.open() as stream, atomic_write(target, place) as copy:
                shutil.copyfileobj(stream, copy, CHUNK)
        return targets


@dataclasses.dataclass(frozen=True, repr=False)
class Stored(Conversion):
    """The result of an export or an import."""

    bytes: int = 0  # of the files written

    def lines(self) -> Iterator[str]:
        """Yield lines for people about the result."""
        size = f"{self.bytes:,} bytes"
        yield (
            f"{' and '.join(self.formats)} to {self.target}: {plural(self.clips, 'clip')} from "
            f"{plural(self.files, 'file')}, in {plural(len(self.written), 'file')} ({size})"
        )
        yield from (f"  {note}" for note in self.notes)


def convert_stored(
    path: str | os.PathLike[str], out: str | os.PathLike[str] | BinaryIO, to: str, format: str | None, *,
    force: bool = False, overwrite: bool = False,
) -> Stored:  # fmt: skip
    """Export a dataset, or with *files* make the files again that an export was made from."""
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes a folder: use -o FOLDER")
    if to == "files":
        written = unpack(path, out)
        manifest = Manifest.load(Path(path))
        formats, files, size = (manifest.kind,), len(manifest.files), sum(file.stat().st_size for file in written)
    else:
        kind = "parquet" if to == "hf-parquet" else to
        manifest = export(path, out, kind, format=format, force=force, overwrite=overwrite)
        written = [Path(out) / file.name for file in manifest.files]
        formats, size = (manifest.statistics["layout"],), sum(file.bytes for file in manifest.files)
        files = sum(manifest.statistics["files"].values())
    clips, others = manifest.statistics["clips"], manifest.statistics["files"]["other"]
    notes = [f"{plural(others, 'file')} of no clip copied unchanged"] if others else []
    if manifest.replaced:
        names = ", ".join(map(printable, manifest.replaced))
        notes.append(f"{plural(len(manifest.replaced), 'file')} of an earlier export replaced: {names}")
    return Stored(
        formats=formats, target=to, files=files, written=tuple(map(str, written)), clips=clips, rows=(clips, clips),
        losses={}, notes=tuple(notes), findings=(), bytes=size,
    )  # fmt: skip
