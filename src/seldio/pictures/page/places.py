"""Where the labels of a clip are, and what belongs to them: a file, a clip of a data set, or either on the Hub."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from seldio.data.contents import Contents
from seldio.data.events import LabelFile
from seldio.errors import UsageError
from seldio.files import DEFAULTS, Entry, Source, open_source
from seldio.files.schemes import beside, is_remote, on_this_machine
from seldio.formats import get
from seldio.formats.trees import read_tree
from seldio.media.compact import Array
from seldio.pictures.page.files import HEARD, Files, Path, files_of, named
from seldio.schema.clips import Clip
from seldio.schema.events import Origin, origin_of, with_origin
from seldio.text import clipped, listed, plural, printable


@contextmanager
def placed(
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
    with open_source(place, _unheard) as source:
        if clip is None and source.kind not in ("folder", "zip", "tar"):
            yield place, files_of(place, audio, video)
            return
        contents = Contents(source)
        row, file = _chosen(contents, clip)
        yield _alone(file), named(_files(contents, row), audio, video)


def _unheard(finding: object) -> None:
    """Whoever shows the labels tells what is wrong with them."""


def _fetched(place: str) -> str:
    """Where *place* is on this machine; of a label file on the Hub, with the recording and the video of its clip."""
    if is_remote(place):
        root, below, names = beside(place)
        for row in read_tree(names, root).clips:
            if row.metadata == below:
                for name in filter(None, (_heard(row)[1], row.video)):
                    on_this_machine(f"{root}/{name}", DEFAULTS)
    return on_this_machine(place, DEFAULTS)


def _chosen(contents: Contents, clip: str | None) -> tuple[Clip, LabelFile]:
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


def _heard(row: Clip) -> tuple[Array, str | None]:
    """The recording that is played: which array, and its name."""
    return next(((field, name) for field in HEARD if (name := getattr(row, field)) is not None), ("audio", None))


def _files(contents: Contents, row: Clip) -> Files:
    array, name = _heard(row)
    sound, video, mic = (
        contents.entries[found] if found is not None else None
        for found in (name, row.video, row.mic if array == "foa" else None)
    )
    return Files(row.clip, sound, array, video, mic)
