"""The labels of a clip, and the recording and video that belong to them: in a folder, a data set, or on the Hub."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH100, PTH112, PTH113, PTH118, PTH119, PTH120, PTH122

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from seldio.data.arrow_tables import LabelFile
from seldio.data.index import Index
from seldio.errors import UsageError
from seldio.files import DEFAULTS, Entry, Source, open_source
from seldio.files.entries import plain_file
from seldio.files.sources import LEVELS, is_remote, on_disk, on_this_machine, remote_listing
from seldio.formats import get
from seldio.formats.datasets import TOPS, Field
from seldio.formats.trees import TYPES, read_tree
from seldio.media.video_writing import Array
from seldio.schema.clips import Clip
from seldio.schema.events import Origin, origin_of, with_origin
from seldio.text import clipped, listed, plural, printable

Path = str | os.PathLike[str]
#: The order in which recordings are preferred.
HEARD: tuple[Array, ...] = ("stereo", "foa", "mic", "audio")
_KINDS: tuple[Field, ...] = (*HEARD, "video")
_MEDIA = tuple(suffix for suffix, kind in TYPES.items() if kind != "metadata")


@dataclasses.dataclass(frozen=True)
class Files:
    """What there is of a clip.

    Args:
        stem: its name.
        audio: the recording.
        array: what the folder of the recording says it is.
        video: the video.
        sibling: the recording of the other array (MIC of FOA), which nobody listens to.
    """

    stem: str
    audio: Entry | None = None
    array: Array = "audio"
    video: Entry | None = None
    sibling: Entry | None = None


def files_of(labels: Path, audio: Path | None = None, video: Path | None = None) -> Files:
    """The recording and the video that belong to a label file, as given or as found beside it.

    Looked for are files of the same name: in the same folder, and in the folders of a data set tree that hold
    what the folder of the labels says (``metadata_dev/dev-test-tau`` and ``foa_dev/dev-test-tau``).

    Raises:
        UsageError: *labels*, *audio* or *video* is no file.
    """
    path = os.fspath(labels)
    if os.path.isdir(path):
        raise UsageError(f"{printable(path)} is a folder: name the label file of one clip in it")
    found = _beside(path) if os.path.isfile(path) else {}
    array: Array = next((field for field in HEARD if field in found), "audio")
    sibling = found.get("mic") if array == "foa" else None
    return named(Files(stem_of(path), found.get(array), array, found.get("video"), sibling), audio, video)


def named(files: Files, audio: Path | None, video: Path | None) -> Files:
    """*files* with the recording and the video that the user named in their places.

    Raises:
        UsageError: one is no file.
    """
    if audio is not None:
        files = dataclasses.replace(files, audio=_named_entry(audio), array=_array(os.fspath(audio)), sibling=None)
    return files if video is None else dataclasses.replace(files, video=_named_entry(video))


def stem_of(path: str) -> str:
    """The name of the clip that a file is called after."""
    return "stdin" if path == "-" else os.path.splitext(os.path.basename(path))[0]


def _named_entry(path: Path) -> Entry:
    shown = on_this_machine(os.fspath(path), DEFAULTS)
    if not os.path.isfile(shown):
        raise UsageError(f"no such file: {clipped(shown, 200)}")
    return plain_file(shown)


def _array(path: str) -> Array:
    """The kind of array that the folders of a recording name."""
    name = os.path.abspath(path).replace(os.sep, "/").lstrip("/")
    clips = read_tree([name]).clips
    return next((field for clip in clips for field in HEARD if getattr(clip, field) is not None), "audio")


def _beside(path: str) -> dict[Field, Entry]:
    """The files of the clip, by what they are; the nearest first."""
    folder, stem = os.path.dirname(os.path.abspath(path)), stem_of(path)
    found: dict[Field, Entry] = {}
    below = ""
    for _ in range(LEVELS + 1):
        names = [name for top in _tops(folder, below) for name in _names(folder, top, below, stem)]
        for clip in read_tree(names, folder).clips:
            for field in _KINDS:
                name = getattr(clip, field)
                entry = on_disk(folder, name) if name is not None else None
                if entry is not None:
                    found.setdefault(field, entry)
        below = f"{os.path.basename(folder)}/{below}"
        folder = os.path.dirname(folder)
    return found


def _tops(folder: str, below: str) -> list[str]:
    """The folders that may hold what ``folder/below`` holds in another kind; the folder itself at first."""
    if not below:
        return [""]
    try:
        with os.scandir(folder) as items:
            # a file of the same name in any other folder has nothing to do with the clip
            return sorted(f"{item.name}/" for item in items if item.name.lower() in TOPS and item.is_dir())
    except OSError:  # what may not be listed has nothing for us
        return []


def _names(folder: str, top: str, below: str, stem: str) -> Iterator[str]:
    """Names below *folder* at which a recording or video of the clip exists."""
    rest = below.partition("/")[2]
    for suffix in _MEDIA:
        name = f"{top}{rest}{stem}.{suffix}"
        if os.path.isfile(os.path.join(folder, name)):
            yield name


def prediction_of(path: Path, stem: str) -> str | Source:
    """The file of predictions for the clip *stem*: *path* itself, or the file of that name in the folder.

    Raises:
        UsageError: there is none.
    """
    shown = on_this_machine(os.fspath(path), DEFAULTS)
    if not os.path.isdir(shown):
        return os.fspath(_named_entry(path).path)
    with open_source(shown, lambda _: None) as source:
        those = [entry for entry in source if stem_of(entry.name) == stem and entry.name.endswith((".csv", ".json"))]
    if len(those) != 1:
        there = "no file" if not those else f"{len(those)} files"
        raise UsageError(f"{printable(shown)} has {there} of the name {clipped(stem)}: name the file itself")
    return those[0].path if those[0].local is not None else Source(those[0].path, "file", (those[0],))


@contextmanager
def open_clip(
    labels: Path, clip: str | None = None, audio: Path | None = None, video: Path | None = None
) -> Iterator[tuple[str | Source, Files]]:
    """The labels of a clip, as a path or an open source, and its recording and video, while the context lasts.

    Args:
        labels: its label file, or a data set: a folder, an archive, an export, or an address of either on the Hub.
        clip: which clip of a data set; not needed where it has but one.
        audio: the recording, in place of the one that is found.
        video: the video, likewise.

    Raises:
        UsageError: there is no such file or clip, or there are several.
        InvalidData: a table of labels is wrong.
        SeldioError: the disk fails, or the Hub.
    """
    place = _fetched(os.fspath(labels))
    if place == "-":
        yield place, files_of(place, audio, video)
        return
    with open_source(place, lambda _: None) as source:
        if clip is None and source.kind not in ("folder", "zip", "tar"):
            yield place, files_of(place, audio, video)
            return
        contents = Index(source)
        row, file = _chosen(contents, clip)
        array, name = _preferred(row)
        sound, film, mic = (
            contents.entries[found] if found is not None else None
            for found in (name, row.video, row.mic if array == "foa" else None)
        )
        yield _alone(file), named(Files(row.clip, sound, array, film, mic), audio, video)


def _fetched(place: str) -> str:
    """Where *place* is on this machine; of a label file on the Hub, with the recording and the video of its clip."""
    if is_remote(place):
        root, below, names = remote_listing(place)
        for row in read_tree(names, root).clips:
            if row.metadata == below:
                for name in filter(None, (_preferred(row)[1], row.video)):
                    on_this_machine(f"{root}/{name}", DEFAULTS)
    return on_this_machine(place, DEFAULTS)


def _chosen(contents: Index, clip: str | None) -> tuple[Clip, LabelFile]:
    """The clip of that name, or the only one that has labels."""
    labelled = contents.label_files
    found = [name for name in labelled if clip is None or clip in (name, contents.clips[name].clip)]
    if len(found) == 1:
        return contents.clips[found[0]], labelled[found[0]]
    where = printable(contents.source.path)
    if clip is not None and not found:
        raise UsageError(f"{where} has no labels of a clip {clipped(clip)}; it has {listed(list(labelled)) or 'none'}")
    if not labelled:
        raise UsageError(f"{where} holds no labels: name the label file of the clip")
    raise UsageError(f"{where} holds {plural(len(found), 'clip')}: name one with --clip, as {listed(found, 3)}")


def _alone(file: LabelFile) -> Source:
    """The labels of one clip as a source."""
    entry = file.entry
    if file.table is not None:
        origin = origin_of(file.table)
        mine = tuple(each for each in origin.files if each.clip == file.clip)
        table = with_origin(file.table, Origin(origin.format, origin.vocabulary, mine))
        data = get("parquet").write(table, mine[0])
        entry = Entry(entry.path, entry.name, len(data), len(data), None, partial(io.BytesIO, data))
    return Source(entry.path, "file", (entry,))


def _preferred(row: Clip) -> tuple[Array, str | None]:
    """The recording that is played: which array, and its name."""
    return next(((field, name) for field in HEARD if (name := getattr(row, field)) is not None), ("audio", None))
