"""Exports: a dataset written anew in one of the ways in which datasets are shared, and the way back.

The files are the parts that are worked on, wherever the user wants that to happen (see :mod:`seldio.parallel`): each
is written by the process that makes it. A ledger in the folder knows what is finished, and the manifest comes last.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import re
import shutil
import stat
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from seldio import __version__
from seldio.conversion.inputs import with_companions
from seldio.conversion.outputs import safe_name
from seldio.conversion.report import Conversion
from seldio.data.arrow_tables import Events
from seldio.data.export_shards import ExportFiles, FilePart, copied, folder_files, parquet_files, tar_files
from seldio.data.export_table import ExportPlan
from seldio.data.index import Index
from seldio.engines.kept import of_json
from seldio.engines.ledger import NAME, Ledger
from seldio.errors import DataError, InvalidData, SeldioError, SeldioWarning, UsageError
from seldio.files import Entry, Limits, atomic_write, in_the_way, make_folder, open_source, write_bytes
from seldio.files.entries import plain_file
from seldio.files.exports import DATA, MANIFEST, restored
from seldio.files.problems import problem
from seldio.files.streams import CHUNK
from seldio.files.writing import remove, sweep
from seldio.findings import Finding, raise_errors
from seldio.formats import get
from seldio.parallel import parallel_map
from seldio.text import Displayed, listed, plural, printable

#: Recordings are longer than what other verbs hold in memory.
LIMITS = Limits(file_bytes=2**30, total_bytes=2**40, members=2_000_000)
_KINDS: dict[str, Callable[..., ExportFiles] | None] = {
    "parquet": parquet_files, "webdataset": tar_files, "audiofolder": folder_files, "videofolder": folder_files,
    "files": None,
}  # fmt: skip
KINDS = tuple(_KINDS)
#: Where files lie that are of no clip; they come back from there.
OTHER = "other/"
VERSION = 1
#: The folder of the ledger; hidden, so that it is no part of what is shared.
LEDGER = ".seldio-export"
#: The names under which exports put files that are made of the source, by which an earlier one knows its own again.
_PLACES = re.compile(
    r"(?:data|labels)/[^/]+-\d{5}-of-\d{5}\.(?:parquet|tar)|index\.json|[^/]+/metadata\.(?:jsonl|parquet)"
    r"|(?:media|other|labels)/.+|(?:[^/]+/)?(?:foa|mic|stereo|audio|video)/.+"
)
#: Files, and bytes, that travel to a worker together.
_LOT_FILES, _LOT_BYTES = 64, 16 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class ExportFile:
    """One file of an export."""

    name: str  # POSIX path below the folder of the export
    bytes: int  # its size
    sha256: str  # of its content
    split: str | None = None  # the split that it belongs to; None for what is of no split
    rows: int = 0  # clips in it, or rows of labels; 0 for what is no table
    origin: str | None = None  # the file of the source that it is a copy of; None where it holds several


@dataclasses.dataclass(frozen=True, repr=False)
class Manifest(Displayed):
    """What an export consists of.

    Args:
        kind: parquet, webdataset, audiofolder, videofolder or files.
        files: everything written, sorted by name.
        features: by configuration, the columns as the library ``datasets`` describes them.
        statistics: clips, clips of each split, files of each kind, bytes of the source.
    """

    kind: str
    files: tuple[ExportFile, ...]
    features: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    statistics: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}: {plural(len(self.files), 'file')}, {sum(file.bytes for file in self.files):,} bytes"

    def _repr_html_(self) -> str:
        from seldio.reports.notebook import rows_html

        rows = ((file.name, file.bytes, file.split, file.rows) for file in self.files)
        return rows_html(str(self), "files", ("file", "bytes", "split", "rows"), rows)

    def to_json(self) -> bytes:
        """The content of ``manifest.json``; the same export gives the same bytes everywhere."""
        record = {"seldio_export": VERSION, **dataclasses.asdict(self)}
        return (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode(errors="backslashreplace")

    @staticmethod
    def load(folder: Path) -> Manifest:
        """The manifest of an export.

        Raises:
            UsageError: the folder holds none, so it is not an export or not a finished one.
            DataError: it cannot be read.
        """
        path = folder / MANIFEST
        if not path.is_file():
            raise UsageError(f"{printable(str(folder))} is not a finished seldio export: it has no {MANIFEST}")
        return Manifest.parse(plain_file(path).read(), str(path))

    @staticmethod
    def parse(data: bytes, path: str) -> Manifest:
        """The manifest that a file holds; *path* is what messages call it.

        Raises:
            DataError: it cannot be read.
        """
        try:
            record = json.loads(data)
            if record.pop("seldio_export") != VERSION:
                raise DataError(
                    f"{printable(path)} was written by another version of seldio: read it with that version"
                )
            manifest: Manifest = of_json(Manifest, record)
            told = [manifest.statistics["clips"], *manifest.statistics["files"].values()]
            if any(type(count) is not int for count in told):
                raise ValueError
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise DataError(f"{printable(path)} cannot be read: export again, or fetch it again") from None
        return manifest


def export(
    source: str | os.PathLike[str], out: str | os.PathLike[str], kind: str = "parquet", *,
    embed: bool = True, shard_bytes: int = 500 << 20, array: str = "foa", format: str | None = None,
    force: bool = False,
) -> Manifest:  # fmt: skip
    """Write a dataset to a folder in one of the ways in which datasets are shared.

    Nothing is lost: recordings, videos and label files go in as the bytes they are, and files that are of no clip
    are copied; :func:`seldio.data.read_back` makes all of them again. Files appear whole or not at all, the
    manifest last. The same call again resumes where an earlier one was broken off, and writes again only what
    has changed in the source. The same source gives the same bytes.

    Args:
        source: a folder, archive or file.
        out: a folder that is empty, not there, or of an earlier export.
        kind: *parquet*, *webdataset*, *audiofolder*, *videofolder*, *files* for plain copies.
        embed: put recordings and videos into the Parquet files; else copies lie in ``media/``, and paths lead there.
        shard_bytes: most bytes of a shard, unless one clip has more.
        array: the array that is the column ``audio``; others have columns of their own.
        format: the format of the labels; found from their content if not given.
        force: export labels in which there are errors too, such as angles in radians or classes that do not exist.

    Raises:
        UsageError: there is nothing to export, the labels are of several class lists, or *out* cannot be used for it,
            such as for a link in it.
        InvalidData: labels or questions are wrong.
        DataError: what was written does not open with the same clips and rows; then it has no manifest.
        SeldioError: the disk fails, or another export is writing there.
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
        opened = with_companions(opened)
        plan = ExportPlan(Index(opened, get(format) if format is not None else None, force=force), array)
        options = {"embed": embed, "shard_bytes": shard_bytes}
        if writer is None:
            with _written(place, kind, options) as folder:
                folder.write([copied(entry.name, entry) for entry in opened])
                return folder.finish({}, plan.statistics())
        if not plan.rows:
            raise UsageError(f"{printable(opened.path)} holds no clips: kind 'files' copies it as it is")
        if kind == "parquet" and embed:
            _check_sizes(plan)
        with _written(place, kind, options | plan.dependencies()) as folder:
            content = writer(plan, kind, **options)
            folder.write([*(copied(OTHER + entry.name, entry) for entry in plan.others), *content.parts])
            if content.shards:
                folder.add_shard_index(content.shards)
            manifest = folder.finish(content.features, plan.statistics())
            try:
                _compare(plan, place, format)
            except SeldioError:
                remove(place.absolute() / MANIFEST, place.absolute())  # it is no finished export
                raise
            return manifest


def _compare(plan: ExportPlan, out: Path, format: str | None) -> None:
    """See that an export opens, with the clips and the rows that it was made from.

    Raises:
        DataError: it does not.
    """

    def heed(finding: Finding) -> None:
        if finding.code != "SAF108":  # a link that lies there from elsewhere is not followed
            raise_errors(finding)

    with open_source(out, heed, LIMITS) as written:
        found = Index(written, get(format) if format is not None else None, force=True)
        if there := set(found.clips) ^ set(plan.index.clips):
            names = listed(sorted(there))
            raise DataError(f"{printable(str(out))} opens with other clips than it was made from: {names}")
        sides = [Index(plan.index.source, plan.index.format, force=True), found]
        made, opened = (side.events(side.label_files) for side in sides)
        for clip in plan.label_files:
            wanted, rows = _rows(made, clip), _rows(opened, clip)
            if rows != wanted:
                raise DataError(
                    f"{printable(str(out))} opens with {rows} of {printable(clip)}, which has {wanted} in the source"
                )


def _rows(events: Events, clip: str) -> str:
    """The number of rows of a clip, in words; labels that cannot be read are stored unchanged."""
    try:
        return plural(events.read(clip).num_rows, "row") if clip in events else "no labels"
    except (InvalidData, UsageError):
        return "labels that cannot be read"


def _check_sizes(plan: ExportPlan) -> None:
    """See that each file fits a cell of a Parquet file, which is put together in memory, before any is read."""
    large = [entry for row in plan.rows for entry in row.files if entry.size > LIMITS.file_bytes]
    if large:
        more = f", as have {len(large) - 1:,} others" if len(large) > 1 else ""
        raise UsageError(
            f"{printable(large[0].path)} has {large[0].size / 1e9:.2f} GB{more}: a cell of a Parquet file takes at "
            f"most {LIMITS.file_bytes / 1e9:.2f} GB here. Export as WebDataset (--to webdataset), which takes any size"
        )


# --- the folder of an export -----------------------------------------------------------------------------

#: What the ledger keeps: of each file what its content depends on, and what was written.
RESULTS = list[tuple[str, ExportFile]]


@contextmanager
def _written(out: Path, kind: str, settings: Mapping[str, Any]) -> Iterator[ExportFolder]:
    """The folder of an export, in which nobody else exports meanwhile."""
    shown = printable(str(out))
    if out.exists() and not out.is_dir():
        raise UsageError(f"{shown} is a file, but an export is a folder")
    if out.is_dir() and any(out.iterdir()):
        in_the_way(out / LEDGER / NAME, out)
        in_the_way(out / MANIFEST, out)
        if not Ledger.is_one(out / LEDGER) and any(item.name != LEDGER for item in out.iterdir()):
            raise UsageError(f"{shown} is not empty: choose a new folder for the export")
        if (out / MANIFEST).exists():
            try:
                Manifest.load(out)
            except SeldioError:
                raise UsageError(f"{shown} holds another {MANIFEST}: choose a new folder") from None
    make_folder(out)
    with Ledger.alone(out.absolute() / LEDGER, out.absolute(), f"another export to {shown} is running"):
        yield ExportFolder(out, kind, settings)


class ExportFolder:
    """A folder that is being written: each file whole or not at all, those of an earlier run kept where they fit.

    *settings* are what the bytes depend on besides the source and the version of the software.
    """

    def __init__(self, out: Path, kind: str, settings: Mapping[str, Any]) -> None:
        self.out, self.kind, self._shown = out.absolute(), kind, printable(str(out))
        self._settings = json.dumps([VERSION, __version__, pa.__version__, kind, settings], sort_keys=True)
        self.files: dict[str, ExportFile] = {}
        self._ledger = Ledger(self.out / LEDGER, self.out)
        self._known = self._earlier()
        remove(self.out / MANIFEST, self.out)  # written last: until then this is no finished export

    def _earlier(self) -> dict[str, tuple[str, ExportFile]]:
        """What has been written and is still there, with what it depends on; names that lead outside do not count."""
        known: dict[str, tuple[str, ExportFile]] = {}
        for key, file in (one for results in self._ledger.results(RESULTS) for one in results):
            with suppress(InvalidData, UsageError):
                state = in_the_way(self.out / safe_name(file.name, self._shown), self.out)
                if state is not None and stat.S_ISREG(state.st_mode) and not known.get(file.name, ("",))[0]:
                    known[file.name] = (key if state.st_size == file.bytes else "", file)
        return known

    def write(self, wanted: Sequence[FilePart]) -> None:
        """Write files, but for those that an earlier run has made from the same files in the same way.

        Raises:
            InvalidData: a file of the source is damaged or over a limit, or labels are wrong.
            SeldioError: the disk fails.
            KeyboardInterrupt: with a message that says how to go on.
        """
        todo = []
        for part in wanted:
            in_the_way(self.out / part.name, self.out)
            stamps = [part.name, *(entry.stamp for entry in part.inputs)]  # two shards may be of the same files
            part = dataclasses.replace(part, key=hashlib.sha256(f"{self._settings}{stamps}".encode()).hexdigest())
            key, file = self._known.get(part.name, ("", None))
            if file is not None and key == part.key:
                self.files[part.name] = file
            else:
                todo.append(part)
        earlier = ((key if name in self.files else "", file) for name, (key, file) in self._known.items())
        self._ledger.put("earlier", RESULTS, list(earlier))
        self._ledger.finish()
        try:
            for _, file in self._written(todo):
                self.files[file.name] = file
        except KeyboardInterrupt:
            written = sum(bool(key) for key, _ in self._earlier().values())
            count = f"{written:,} of {plural(len(wanted), 'file')}"
            message = f"stopped; {count} are written in {self._shown}: run the same command again to resume"
            raise KeyboardInterrupt(message) from None

    def _written(self, todo: Sequence[FilePart]) -> Iterator[tuple[str, ExportFile]]:
        """Copies, then what is made of several files, then what is gathered here from parts that are made anywhere."""
        work = WriteFile(str(self.out))
        copies = [part for part in todo if part.origin is not None]
        shards = [part for part in todo if part.origin is None and not part.gathered]
        gathered = [part for part in todo if part.gathered]
        for parts, what in ((copies, "copying files"), (shards, "writing shards"), (gathered, None)):
            results = parallel_map(
                work, [part.portable() for part in parts], what=what, size=attrgetter("size"),
                batch=lot([part.size for part in parts]) if parts is copies else 1,
                here=parts is gathered or not all(entry.on_disk for part in parts for entry in part.inputs),
            )  # fmt: skip
            for part, result in zip(parts, results, strict=True):
                self._ledger.put(Ledger.name_of(work, [part.key]), RESULTS, [result])
                yield result

    def add_shard_index(self, names: Sequence[str]) -> None:
        """Write the list of shards as the library wids has it."""
        shards = [
            {"url": name, "nsamples": self.files[name].rows, "filesize": self.files[name].bytes} for name in names
        ]
        index = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": shards}
        data = (json.dumps(index, indent=1) + "\n").encode()
        write_bytes(self.out / "index.json", data, self.out)
        self.files["index.json"] = ExportFile("index.json", len(data), hashlib.sha256(data).hexdigest())

    def finish(self, features: Mapping[str, Mapping[str, Any]], statistics: Mapping[str, Any]) -> Manifest:
        """Take away what an earlier run has left, and write the manifest."""
        rest = [self._known[name][1] for name in sorted(self._known.keys() - self.files.keys())]
        if stay := [file.name for file in rest if not self._taken_away(file)]:
            what = plural(len(stay), "file stays", "files stay")
            warnings.warn(
                f"{what} in {self._shown} that an earlier export may have written, as the name is not one that exports "
                f"give or the content has changed: {listed(stay, 20)}", SeldioWarning, stacklevel=2,
            )  # fmt: skip
        for folder in {self.out, *((self.out / name).parent for name in self.files)}:
            sweep(folder, self.out)
        files = tuple(self.files[name] for name in sorted(self.files))
        manifest = Manifest(self.kind, files, features, statistics)
        write_bytes(self.out / MANIFEST, manifest.to_json(), self.out)
        return manifest

    def _taken_away(self, file: ExportFile) -> bool:
        """Remove a file if an export gives such names and wrote it as it is; anybody can have written the ledger."""
        path = self.out / file.name
        if _PLACES.fullmatch(file.name) is None or path.stat().st_size != file.bytes:
            return False
        with path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != file.sha256:
                return False
        remove(path, self.out)
        return True


@dataclasses.dataclass(frozen=True)
class WriteFile:
    """Write files of an export below the folder *out*."""

    out: str

    def __call__(self, part: FilePart) -> tuple[str, ExportFile]:
        """Write a file; return what its content depends on, and what was written."""
        with atomic_write(Path(self.out, part.name), self.out) as stream:
            hashed = _Hashed(stream)
            rows = part.content(cast("BinaryIO", hashed))
            hashed.flush()
        return part.key, ExportFile(part.name, hashed.count, hashed.sha.hexdigest(), part.split, rows, part.origin)


def lot(sizes: Sequence[int]) -> int:
    """How many files of these sizes should travel together: many small ones, few large ones.

    >>> lot([1000] * 500), lot([10 << 20] * 500), lot([1 << 30]), lot([])
    (64, 1, 1, 1)
    """
    return max(1, min(_LOT_FILES, len(sizes), _LOT_BYTES * len(sizes) // max(1, sum(sizes))))


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


def read_back(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write the files that an export was made from, byte for byte.

    Args:
        path: a folder that :func:`seldio.data.export` has written, or a copy of one.
        out: a folder for the files; empty, or not there yet.

    Returns:
        Their names below *out*, sorted.

    Raises:
        UsageError: *path* is not a finished export, or *out* cannot be used for the files.
        DataError: the export is damaged: a file is missing or another one than was written, or a name leads out.
        SeldioError: the disk fails.
    """
    folder, place = Path(path), Path(out)
    manifest = Manifest.load(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{printable(str(place))} exists and is not empty: choose a new folder")
    with open_source(folder, raise_errors, LIMITS, as_it_lies=True) as lying:
        there = {entry.name: entry for entry in lying}
        for file in manifest.files:
            _check_written(folder, file, there.get(file.name))
        told = [f.name for f in manifest.files if f.origin is not None or f.name.startswith(DATA)]
        source = restored(lying.restricted([there[name] for name in (MANIFEST, *told)]), raise_errors, LIMITS)
        size, packed = (sum(max(one.size, 0) for one in entries) for entries in (source.entries, there.values()))
        if size > LIMITS.unpacked(packed, LIMITS.total_bytes):
            what = f"Unpacks to {size:,} bytes, from {packed:,}"
            raise InvalidData(problem("SAF105", str(folder), what))
        if len(source.entries) != (count := sum(manifest.statistics["files"].values())):
            raise DataError(
                f"{printable(str(folder))} holds {len(source.entries):,} of the {count:,} files that it was made from: "
                "export again, or fetch it again"
            )
        for entry in source:
            target = place / safe_name(entry.name, entry.path)
            with entry.open() as stream, atomic_write(target, place) as copy:
                shutil.copyfileobj(stream, copy, CHUNK)
        return tuple(entry.name for entry in source)


def _check_written(folder: Path, file: ExportFile, entry: Entry | None) -> None:
    """See that a file of an export is the one that was written."""
    path = printable(str(folder / file.name))
    if entry is None:
        raise DataError(f"{path} is missing: export again, or fetch it again")
    with entry.open() as stream:
        found = hashlib.file_digest(cast("io.BufferedReader", stream), "sha256").hexdigest()
    if found != file.sha256:
        raise DataError(f"{path} is not the file that was written (its SHA-256 differs): fetch it again")


@dataclasses.dataclass(frozen=True, repr=False)
class Stored(Conversion):
    """What an export or the way back did."""

    bytes: int = 0  # of the files written

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        size = f"{self.bytes:,} bytes"
        yield (
            f"{' and '.join(self.formats)} to {self.target}: {plural(self.clips, 'clip')} from "
            f"{plural(self.files, 'file')}, in {plural(len(self.written), 'file')} ({size})"
        )
        yield from (f"  {note}" for note in self.notes)


def convert_stored(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str] | BinaryIO,
    to: str,
    format: str | None,
    force: bool = False,
) -> Stored:
    """Export a dataset, or with *files* make the files again that an export was made from."""
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes a folder: use -o FOLDER")
    if to == "files":
        manifest = Manifest.load(Path(path))
        written = [Path(out) / name for name in read_back(path, out)]
        formats, files, size = (manifest.kind,), len(manifest.files), sum(file.stat().st_size for file in written)
    else:
        manifest = export(path, out, "parquet" if to == "hf-parquet" else to, format=format, force=force)
        written = [Path(out) / file.name for file in manifest.files]
        formats, size = (manifest.statistics["layout"],), sum(file.bytes for file in manifest.files)
        files = sum(manifest.statistics["files"].values())
    clips, others = manifest.statistics["clips"], manifest.statistics["files"]["other"]
    return Stored(
        formats=formats, target=to, files=files, written=tuple(map(str, written)), clips=clips, rows=(clips, clips),
        losses={}, notes=(f"{plural(others, 'file')} of no clip copied unchanged",) if others else (), findings=(),
        bytes=size,
    )  # fmt: skip
