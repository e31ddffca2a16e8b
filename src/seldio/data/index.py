"""The index of a source: its clips with their files, its labels and questions, told from the names of its files.

Content is looked at only where names do not tell, and nothing is opened before it is asked for. Views, windows,
exports, pictures and the page of a clip take their files from here. The recordings and the video of a label file that
is alone are looked for next to it.
"""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH100, PTH112, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import dataclasses
import io
import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from seldio.catalogues import Catalogue, own_datasets
from seldio.catalogues.look import PARQUET_SUFFIX, begins_like_numbers
from seldio.catalogues.parts import Part
from seldio.catalogues.trees import TYPES, Tree, read_tree
from seldio.conversion.inputs import read_items
from seldio.data.arrow_tables import ClipLabelFile, Events, Items, clip_files, joined_files
from seldio.errors import UsageError
from seldio.files import DEFAULTS, Entry, Source, open_source
from seldio.files.entries import plain_file
from seldio.files.names import MEDIA, media_type, plain_stem, suffix_of, without_suffix
from seldio.files.sources import LEVELS, Lookup, is_own, on_disk, on_this_machine
from seldio.findings import raise_errors
from seldio.formats import LabelFormat, get, stem_of
from seldio.formats.datasets import TOPS
from seldio.schema.clips import RECORDINGS, Array, Clip
from seldio.schema.events import origin_of
from seldio.text import clipped, listed, plural, printable

if TYPE_CHECKING:
    from seldio.formats.items import ItemFormat
    from seldio.formats.own_dataset import OwnDatasets
    from seldio.media.recording import Recording
    from seldio.media.video import Video

#: The format of labels as JSON of which each file is of one clip, the recording that it is called after.
_ANNOTATIONS = "dcase2026"


Path = str | os.PathLike[str]
#: The order in which recordings are chosen to be heard.
PLAYED: tuple[Array, ...] = ("stereo", "foa", "mic", "audio")


@dataclass(frozen=True, slots=True)
class ClipMedia:
    """The files of one clip."""

    clip: Clip  # its row in the clip table
    files: Mapping[str, Entry]  # by the fields of :class:`Clip`

    @staticmethod
    def of(clip: Clip, entries: Mapping[str, Entry]) -> ClipMedia:
        """Return the media of a clip; *entries* are the files of its dataset by name."""
        return ClipMedia(clip, {field: entries[path] for field, path in clip.files.items()})

    def entry(self, arrays: Sequence[str] = RECORDINGS) -> Entry | None:
        """Return the first recording of *arrays* that there is, as a file; None without."""
        return next((self.files[name] for name in arrays if name in self.files), None)

    @property
    def foa(self) -> Recording:
        """First-order Ambisonics; as :attr:`mic`, :attr:`stereo` and :attr:`video` a UsageError without that file."""
        return self._recording("foa")

    @property
    def mic(self) -> Recording:
        """Tetrahedral microphone array."""
        return self._recording("mic")

    @property
    def stereo(self) -> Recording:
        """Stereo."""
        return self._recording("stereo")

    @property
    def video(self) -> Video:
        """The video, opened: of a file on disk or in an archive (then in memory)."""
        from seldio.media.video import Video

        return Video(self._file("video"))

    def _recording(self, array: str) -> Recording:
        from seldio.media.recording import Recording

        return Recording(self._file(array))

    def _file(self, field: str) -> Entry:
        if field not in self.files:
            present = listed([name for name in self.files if name != "metadata"]) or "no recording and no video"
            raise UsageError(f"{printable(self.clip.clip)} has no {field}; it has {present}")
        return self.files[field]

    @property
    def array(self) -> Array:
        """The array of the recording that is heard."""
        return next((field for field in PLAYED if field in self.files), "audio")

    @property
    def played(self) -> Entry | None:
        """The recording that is heard."""
        return self.files.get(self.array)

    @property
    def sibling(self) -> Entry | None:
        """The recording of the other array, MIC where FOA is heard."""
        return self.files.get("mic") if self.array == "foa" else None

    def replaced(self, audio: Path | None, video: Path | None) -> ClipMedia:
        """Return the same with the recording and the video that the user named in their places."""
        files = {field: entry for field, entry in self.files.items() if audio is None or field not in RECORDINGS}
        if audio is not None:
            name = os.path.abspath(audio).replace(os.sep, "/").lstrip("/")
            arrays = (field for clip in read_tree([name]).clips for field in PLAYED if field in clip.recordings)
            files[next(arrays, "audio")] = named_file(audio)
        if video is not None:
            files["video"] = named_file(video)
        return ClipMedia(self.clip, files)


def named_file(path: Path) -> Entry:
    """Return the file that the user named."""
    shown = on_this_machine(os.fspath(path), DEFAULTS)
    if not os.path.isfile(shown):
        raise UsageError(f"no such file: {clipped(shown, 200)}")
    return plain_file(shown)


class Index:
    """The clips, label files and questions of a source; *force* gives labels in which there are errors too."""

    def __init__(
        self, source: Source, format: LabelFormat | None = None, items: ItemFormat | None = None, force: bool = False
    ) -> None:
        self.source, self.format, self.item_format, self.force = source, format, items, force

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("own", "tree", "content")}

    @cached_property
    def own(self) -> OwnDatasets | None:
        """Return what its datasets say of themselves; None where nothing describes them."""
        return own_datasets(self.source, raise_errors)

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The files by name."""
        return {entry.name: entry for entry in self.source}

    @cached_property
    def tree(self) -> Tree:
        """The dataset tree that the names make, and the formats of its labels where names do not tell."""
        return read_tree(list(self.entries), self.source.path, self._label_formats)

    def _label_formats(self) -> set[str]:
        tables = self.source.restricted(entry for entry in self.source if suffix_of(entry.name) == "csv")
        return {part.format.name for part in Catalogue(tables, self.format).labels if part.format is not None}

    @cached_property
    def clips(self) -> Mapping[str, Clip]:
        """The recordings by name; where two have one name, by their path without suffix."""
        content = self.content
        rows = [row for row in self.tree.clips if row.metadata not in content.other_tables]
        labelled = Counter(content.annotations.values())
        heard = Counter(row.clip for row in rows if row.metadata is None)
        places = {row.clip: n for n, row in enumerate(rows) if row.metadata is None and heard[row.clip] == 1}
        for name, clip in content.annotations.items():
            if labelled[clip] == 1 and clip in places:  # the recording beside them
                rows[places[clip]] = rows[places[clip]].model_copy(update={"metadata": name})
            else:
                rows.append(_loose(clip, name))
        counts = Counter(row.clip for row in rows)
        clips: dict[str, Clip] = {}
        for row in rows:
            name = row.clip
            if counts[name] > 1:
                paths = row.files
                name = without_suffix(paths.get("metadata", next(iter(paths.values()))))
            clips[name] = row
        shared: set[str] = set()  # what several people wrote about one recording are clips that all have it
        for clip, file in self.whole_files.items():
            if clip in clips:
                continue
            stem = stem_of(posixpath.basename(file.entry.name))
            recording = None if stem in self.whole_files else clips.get(stem)
            if recording is None or recording.metadata is not None:
                clips[clip] = _loose(clip)
            else:
                clips[clip] = recording.model_copy(update={"clip": clip})
                shared.add(stem)
        clips = {clip: row for clip, row in clips.items() if clip not in shared}
        for clip, row in clips.items() if self.own else ():
            names = [*row.files.values()] or [f"{posixpath.dirname(self.whole_files[clip].entry.name)}/{clip}.csv"]
            if self.own and (split := self.own.split(names[0].removeprefix("/"))) is not None:
                clips[clip] = row.model_copy(update={"split": split})
        return clips

    @cached_property
    def label_files(self) -> Mapping[str, ClipLabelFile]:
        """The label files by clip; those that have none of their own are looked up in tables of labels."""
        paths = {name: clip.metadata for name, clip in self.clips.items() if clip.metadata is not None}
        files = {name: ClipLabelFile(name, self.entries[path]) for name, path in paths.items()}
        wholes = self.whole_files.items()
        tables = {clip for clip, file in wholes if file.entry.name.lower().endswith(PARQUET_SUFFIX)}
        others = {clip: file for clip, file in wholes if clip not in tables & files.keys()}
        return joined_files(files, others)

    def events(self, files: Mapping[str, ClipLabelFile], remedy: str = "") -> Events:
        """Return the event tables of some of the label files; *remedy* ends the message about an unreadable one."""
        unread = tuple(file.entry for file in files.values() if file.table is None)
        descriptions = tuple(filter(is_own, self.source.every or self.source))
        # no more than another process needs
        source = dataclasses.replace(self.source, entries=unread, every=descriptions, looks={})
        return Events(source, files, self.format, self.force, remedy)

    @cached_property
    def items(self) -> Items:
        """The questions, in the order of the files; predictions are left out."""
        from seldio.schema.qa import Item

        labels = {row.metadata for row in self.tree.clips if row.layout != "loose"}
        media = {name for name in self.entries if media_type(name) is not None}
        others = tuple(entry for entry in self.source if entry.name not in labels | media)
        readings = read_items(Source(self.source.path, self.source.kind, others), self.item_format, raise_errors)
        names = {entry.path: entry.name for entry in others}
        rows = [(row, names[part.path]) for part in readings for row in part.rows if isinstance(row, Item)]
        predictions = (reading.format.name for reading in readings if reading.format.holds == "predictions")
        return Items(rows, next(predictions, ""))

    @cached_property
    def lookup(self) -> Lookup:
        """Return a lookup for the files that questions name."""
        return Lookup(self.source)

    def clip_of(self, path: str, name: str) -> str | None:
        """Return the clip of the recording that the file *name* calls *path*; None where it is of no clip."""
        entry = self.lookup.find(path, name)
        return self._clip_by_file.get(entry.name) if entry is not None else None

    @cached_property
    def _clip_by_file(self) -> Mapping[str, str]:
        files = [(name, *file) for name, row in self.clips.items() for file in row.files.items()]
        return {path: name for name, field, path in files if field != "metadata"}

    @cached_property
    def content(self) -> Content:
        """Look into files whose names do not tell: not named like media or tables, or tables beside no recording.

        Of tables of numbers one byte is enough, as neither questions nor names of columns begin with a digit; where
        there are others, all files are looked at, as neighbours tell lists of words.
        """
        loose = (row for row in self.tree.clips if row.layout == "loose" and row.files.keys() == {"metadata"})
        alone = frozenset(str(row.metadata) for row in loose)
        format = self.item_format or self.format
        tables = (self.entries[name] for name in alone if format is None)
        if any(entry.size and not begins_like_numbers(entry) for entry in tables):
            catalogue = Catalogue(self.source)
        else:
            unclear = (entry for entry in self.source if not _is_known(entry.name) or (format and entry.name in alone))
            catalogue = Catalogue(self.source.restricted(unclear), format)
        other_tables = {file.entry.name for part in catalogue.questions for file in part.files}
        other_tables |= {entry.name for entry in catalogue.lists}
        annotations: dict[str, str] = {}
        whole_parts: list[Part] = []
        for part in catalogue.labels:
            names, layout = [file.entry.name for file in part.files], part.format
            # rows say of which recording they are
            of_several = isinstance(layout, LabelFormat) and layout.clips_by == "rows" and layout.role != "table"
            if of_several:
                other_tables.update(names)
            if layout is not None and layout.name == _ANNOTATIONS:
                annotations |= {name: stem_of(posixpath.basename(name)) for name in names}
            elif of_several or not all(map(_is_known, names)):
                whole_parts.append(part)
        return Content(alone & other_tables, annotations, whole_parts, catalogue.asked)

    @cached_property
    def whole_files(self) -> Mapping[str, ClipLabelFile]:
        """The label files, by clip, that are read as wholes: tables of clips, and what tools of annotators write."""
        files: dict[str, ClipLabelFile] = {}
        for part in self.content.whole_parts:
            files = joined_files(files, clip_files([part], force=self.force))
        return files


class Content(NamedTuple):
    """The files of which the content tells what they are, and not the name."""

    other_tables: AbstractSet[str]  # names of CSV files that are no labels of a clip called like them
    annotations: Mapping[str, str]  # the clip of each label file of 2026, which is called after its recording
    whole_parts: Sequence[Part]  # label files that are read as wholes
    asked: ItemFormat | None  # the format of questions or predictions among them


def holds_predictions(source: Source, format: str) -> str:
    """Return the message for a source that holds predictions where questions are expected."""
    return f"{printable(source.path)} holds predictions ({format}): open the questions that they answer"


def _is_known(name: str) -> bool:
    """Return whether the name alone says what a file is, or that it cannot stand in a table."""
    return suffix_of(name) in TYPES or any("\ud800" <= character <= "\udfff" for character in name)


def _loose(clip: str, metadata: str | None = None) -> Clip:
    return Clip.model_validate({"clip": clip, "layout": "loose", "metadata": metadata})


# --- beside a label file ---------------------------------------------------------------------------------


def clip_name_of(path: str) -> str:
    """Return the name of the clip that a file is called after."""
    return "stdin" if path == "-" else plain_stem(path) or os.path.basename(path)


def media_of(labels: Path, audio: Path | None = None, video: Path | None = None) -> ClipMedia:
    """Return the recordings and the video that belong to a label file, as given or as found next to it.

    Looked for are files of the same name: in the same folder, and in the folders of a dataset tree that hold
    what the folder of the labels says (``metadata_dev/dev-test-tau`` and ``foa_dev/dev-test-tau``).
    """
    path = os.fspath(labels)
    if os.path.isdir(path):
        raise UsageError(f"{printable(path)} is a folder: pass the label file of one clip in it")
    clip = Clip.model_construct(clip=clip_name_of(path), layout="loose")
    files: dict[str, Entry] = {}
    folder, below = os.path.dirname(os.path.abspath(path)), ""
    for _ in range(LEVELS + 1) if os.path.isfile(path) else ():  # the nearest first
        tops = [""]
        if below:
            tops = []
            # folders that may hold what this one holds in another kind: their names say what is in them; a file of
            # the same name in any other has nothing to do with the clip, and what may not be listed has nothing for us
            with suppress(OSError), os.scandir(folder) as items:
                tops = sorted(f"{item.name}/" for item in items if item.name.lower() in TOPS and item.is_dir())
        inner = below.partition("/")[2]
        names = (f"{top}{inner}{clip.clip}.{suffix}" for top in tops for suffix in MEDIA)
        present = [name for name in names if os.path.isfile(os.path.join(folder, name))]
        for row in read_tree(present, folder).clips:
            for field, name in row.files.items():
                if (entry := on_disk(folder, name)) is not None:
                    files.setdefault(field, entry)
        below = f"{os.path.basename(folder)}/{below}"
        folder = os.path.dirname(folder)
    return ClipMedia(clip, files).replaced(audio, video)


# --- one clip --------------------------------------------------------------------------------------------


@contextmanager
def open_clip(
    labels: Path, clip: str | None = None, audio: Path | None = None, video: Path | None = None
) -> Iterator[tuple[str | Source, ClipMedia]]:
    """Provide the labels of a clip, as a path or an open source, and its recordings and video, while the context lasts.

    *labels* are its file, or a dataset: a folder, an archive, an export, or an address of either on the Hub; then
    *clip* says which one, if there are several. *audio* and *video* take the places of the files that are found.
    """
    place = on_this_machine(os.fspath(labels), DEFAULTS)
    if place == "-":
        yield place, media_of(place, audio, video)
        return
    with open_source(place, lambda _: None) as source:
        if clip is None and source.single:
            yield place, media_of(place, audio, video)
            return
        index = Index(source)
        labelled = index.label_files
        names = [name for name in labelled if clip is None or clip in (name, index.clips[name].clip)]
        where = printable(source.path)
        if clip is not None and not names:
            raise UsageError(
                f"{where} has no labels for a clip {clipped(clip)}; it has {listed(list(labelled)) or 'none'}"
            )
        if not names:
            from seldio.rules.collection import why_no_labels

            raise UsageError(f"{where} holds no labels{why_no_labels(source)}")
        if len(names) > 1:
            raise UsageError(
                f"{where} holds {plural(len(names), 'clip')}: choose one with --clip, such as {listed(names, 3)}"
            )
        file = labelled[names[0]]
        entry = file.entry
        if file.table is not None and file.shared:
            data = get("parquet").write(file.table, origin_of(file.table).files[0])
            entry = Entry(entry.path, entry.name, len(data), len(data), None, partial(io.BytesIO, data))
        media = ClipMedia.of(index.clips[names[0]], index.entries).replaced(audio, video)
        yield Source(entry.path, "file", (entry,), every=source.entries), media
