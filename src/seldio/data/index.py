"""The index of a source: its clips with their files, its labels and questions, told from the names of its files.

Content is looked at only where names do not tell, and nothing is opened before it is asked for. Views, windows,
exports and the page of a clip take their files from here.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from seldio.conversion.inputs import read_input
from seldio.data.arrow_tables import Events, Items, LabelFile, read_questions
from seldio.errors import UsageError
from seldio.files import Entry, Source
from seldio.files.sources import Lookup
from seldio.findings import raise_errors
from seldio.formats import Format, TextFile, get, item_formats
from seldio.formats.items import ItemFormat
from seldio.formats.recognise import is_annotations
from seldio.formats.tables import Content, is_table
from seldio.formats.trees import TYPES, Tree, read_tree
from seldio.media.recording import Recording
from seldio.schema.clips import Clip
from seldio.schema.events import clip_codes, origin_of
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.video import Video

#: Fields of a clip that are recordings, the first one there is meant where none is named.
ARRAYS = ("foa", "mic", "stereo", "audio")


def paths_of(clip: Clip) -> dict[str, str]:
    """The files of a clip by field: its recordings in the order of ``ARRAYS``, its video and its labels."""
    paths = {field: getattr(clip, field) for field in (*ARRAYS, "video", "metadata")}
    return {field: path for field, path in paths.items() if path is not None}


@dataclass(frozen=True, slots=True)
class ClipMedia:
    """The files of one clip.

    Args:
        clip: its row in the clip table.
        files: by the fields of :class:`Clip`.
    """

    clip: Clip
    files: Mapping[str, Entry]

    @staticmethod
    def of(clip: Clip, entries: Mapping[str, Entry]) -> ClipMedia:
        """Those of a clip; *entries* are the files of its data set by name."""
        return ClipMedia(clip, {field: entries[path] for field, path in paths_of(clip).items()})

    def entry(self, arrays: Sequence[str] = ARRAYS) -> Entry | None:
        """The first recording of *arrays* that there is, as a file; None without."""
        return next((self.files[name] for name in arrays if name in self.files), None)

    def recording(self, array: str | None = None) -> Recording | None:
        """The recording of *array* (``foa``, ``mic``, ``stereo``, ``audio``), or the first there is; None without."""
        entry = self.entry((array,) if array else ARRAYS)
        return Recording(entry) if entry is not None else None

    @property
    def foa(self) -> Recording:
        """First-order Ambisonics; as :attr:`mic`, :attr:`stereo` and :attr:`video` a UsageError without that file."""
        return Recording(self._file("foa"))

    @property
    def mic(self) -> Recording:
        """Tetrahedral microphone array."""
        return Recording(self._file("mic"))

    @property
    def stereo(self) -> Recording:
        """Stereo."""
        return Recording(self._file("stereo"))

    @property
    def video(self) -> Video:
        """The video, opened."""
        return open_video(self._file("video"))

    def _file(self, field: str) -> Entry:
        """The file of *field*.

        Raises:
            UsageError: the clip has none.
        """
        if field not in self.files:
            there = listed([name for name in self.files if name != "metadata"]) or "no recording and no video"
            raise UsageError(f"{printable(self.clip.clip)} has no {field}; it has {there}")
        return self.files[field]


def open_video(entry: Entry) -> Video:
    """A video on disk or in an archive (then in memory); its file is closed when nothing refers to it any more.

    Raises:
        NotVideo: it cannot be read as video.
        SeldioError: the disk fails.
    """
    from seldio.media.video import Video

    stream = entry.open()
    try:
        video = Video(stream)
    except BaseException:
        stream.close()
        raise
    weakref.finalize(video, stream.close)
    return video


class Media(Mapping[str, ClipMedia]):
    """The recordings and videos of a data set by clip; nothing is opened before it is asked for."""

    def __init__(self, clips: Mapping[str, Clip], entries: Mapping[str, Entry]) -> None:
        self._clips, self._entries = clips, entries

    def __repr__(self) -> str:
        return f"Media({plural(len(self), 'clip')})"

    def __len__(self) -> int:
        return len(self._clips)

    def __iter__(self) -> Iterator[str]:
        return iter(self._clips)

    def __getitem__(self, clip: str) -> ClipMedia:
        return ClipMedia.of(self._clips[clip], self._entries)


#: Bytes that tell labels as JSON from other JSON.
_HEAD = 4096


class Index:
    """The clips, label files and questions of a source.

    Args:
        source: an open source.
        format: the layout of its labels, if it is known.
        item_format: the format of its questions, if it is known.
        force: give labels in which there are errors too.
    """

    def __init__(
        self, source: Source, format: Format | None = None, item_format: ItemFormat | None = None, *,
        force: bool = False,
    ) -> None:  # fmt: skip
        self.source, self.format, self.item_format, self._force = source, format, item_format, force

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.source.path.replace("\\", "/")).name or self.source.path

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The files by name."""
        return {entry.name: entry for entry in self.source}

    @cached_property
    def tree(self) -> Tree:
        """The data set tree that the names make."""
        return read_tree(list(self.entries), self.source.path)

    @property
    def likely(self) -> bool:
        """Whether anything is called like a recording, a video, labels or questions."""
        suffixes = (*TYPES, *(format.suffix.lstrip(".") for format in item_formats.ITEM_FORMATS), "parquet")
        alone = self.source.kind in ("file", "gzip", "stdin") and bool(self.source.entries)
        return alone or any(name.rpartition(".")[2].lower() in suffixes for name in self.entries)

    @cached_property
    def clips(self) -> Mapping[str, Clip]:
        """The recordings by name; where two have one name, by their path without suffix."""
        rows = [row for row in self.tree.clips if row.metadata not in self._questions]
        rows += [_loose(clip, name) for name, clip in self._other_labels.items()]
        known = {row.clip for row in rows}
        rows += [_loose(clip) for clip in self._tables if clip not in known]
        counts = Counter(row.clip for row in rows)
        return {row.clip if counts[row.clip] == 1 else _path(row): row for row in rows}

    @cached_property
    def label_files(self) -> Mapping[str, LabelFile]:
        """The label files by clip; those that have none of their own are looked up in tables of labels."""
        files = {
            name: LabelFile(name, self.entries[row.metadata])
            for name, row in self.clips.items() if row.metadata is not None
        }  # fmt: skip
        return {**files, **{clip: file for clip, file in self._tables.items() if clip not in files}}

    def events(self, files: Iterable[LabelFile]) -> Events:
        """The event tables of some of the label files."""
        return Events(list(files), self.format, force=self._force)

    @cached_property
    def items(self) -> Items:
        """The questions, in the order of the files."""
        known = {row.metadata for row in self.tree.clips if row.layout != "loose"}
        media = {name for name in self.entries if TYPES.get(name.rpartition(".")[2].lower()) in ("audio", "video")}
        kept = tuple(entry for entry in self.source if entry.name not in known | media)
        return read_questions(Source(self.source.path, self.source.kind, kept), self.item_format)

    @cached_property
    def lookup(self) -> Lookup:
        """What finds the files that questions name."""
        return Lookup(self.source)

    def clip_of(self, path: str, name: str) -> str | None:
        """The clip that the recording *path*, named in the file *name*, belongs to; None where it is of no clip."""
        found = self.lookup.find(path, name)
        return self._clip_by_file.get(found.name) if found is not None else None

    @cached_property
    def _clip_by_file(self) -> Mapping[str, str]:
        files = [(name, *file) for name, row in self.clips.items() for file in paths_of(row).items()]
        return {path: name for name, field, path in files if field != "metadata"}

    @cached_property
    def _questions(self) -> frozenset[str]:
        """Tables that belong to no recording and hold questions, not labels; their content tells."""
        if self.format is not None:
            return frozenset()
        alone = [
            row.metadata for row in self.tree.clips
            if row.metadata is not None and row.layout == "loose" and paths_of(row).keys() == {"metadata"}
        ]  # fmt: skip
        if self.item_format is not None:
            return frozenset(alone)
        return frozenset(name for name in alone if self._holds_questions(self.entries[name]))

    def _holds_questions(self, entry: Entry) -> bool:
        head = entry.head(1)
        return bool(head) and not head.isdigit() and item_formats.recognise(entry.read(), entry.name) is not None

    @cached_property
    def _other_labels(self) -> Mapping[str, str]:
        """Labels as JSON, by file name, with their clip."""
        if self.item_format is not None:
            return {}
        found = {}
        for name, entry in self.entries.items():
            if name.lower().endswith(".json"):
                clip = PurePosixPath(name).stem.removesuffix("_std").removesuffix("_inference")
                if is_annotations(TextFile(entry.path, name, clip, entry.head(_HEAD))):
                    found[name] = clip
        return found

    @cached_property
    def _tables(self) -> Mapping[str, LabelFile]:
        """The clips of Parquet files of labels, which are read as wholes.

        Raises:
            UsageError: two of them have the same clip.
        """
        if self.item_format is not None or self.format not in (None, get("parquet")):
            return {}
        wanted: tuple[Content, ...] = ("labels", "damaged", "other") if len(self.source.entries) == 1 else ("labels",)
        found: dict[str, LabelFile] = {}
        for entry in self.source:
            more = _clips_of(entry, self._force) if is_table(entry, *wanted) else {}
            if both := sorted(found.keys() & more.keys()):
                raise UsageError(
                    f"{printable(found[both[0]].entry.path)} and {printable(entry.path)} both hold labels of "
                    f"{listed(both)}: open one of them, or take one away"
                )
            found |= more
        return found


def _clips_of(entry: Entry, force: bool) -> Mapping[str, LabelFile]:
    """The clips of a table of labels."""
    found = read_input(Source(entry.path, "file", (entry,)), get("parquet"), raise_errors)
    found.faults.settle(force)
    table = found.tables[0][0]
    codes, names = clip_codes(table)
    order = np.argsort(codes, kind="stable")
    ends = dict(zip(names, np.searchsorted(codes[order], np.arange(len(names)), "right").tolist(), strict=True))
    starts = dict(zip(names, [0, *ends.values()], strict=False))
    table = table.take(pa.array(order))
    files = dict.fromkeys([*(file.clip for file in origin_of(table).files), *names])  # silent ones too
    return {
        clip: LabelFile(clip, entry, table.slice(starts.get(clip, 0), ends.get(clip, 0) - starts.get(clip, 0)))
        for clip in files
    }


def _loose(clip: str, metadata: str | None = None) -> Clip:
    return Clip.model_validate({"clip": clip, "layout": "loose", "metadata": metadata})


def _path(row: Clip) -> str:
    """The path of a clip's first file, without suffix."""
    paths = paths_of(row)
    return paths.get("metadata", next(iter(paths.values()))).rpartition(".")[0]
