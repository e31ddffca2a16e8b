"""How long the scored recordings are, where anything tells: the recordings themselves, or their data set."""

# Plain strings, as in seldio.files: links are judged where they are followed, in on_disk.
# ruff: noqa: PTH100, PTH122, PTH208

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from seldio import clock, reference
from seldio.errors import InvalidData, UsageError
from seldio.files import Entry
from seldio.files.lookup import LEVELS, on_disk
from seldio.formats.layouts import LAYOUTS, PLAIN
from seldio.formats.trees import AUDIO, TYPES
from seldio.rules.collection import Reference
from seldio.schema.events import origin_of
from seldio.scoring.sides import FileSide, TableSide
from seldio.text import printable

#: Folders of recordings in a data set tree.
_TOPS = frozenset(
    name for tops in (PLAIN, *(row.tops for row in LAYOUTS)) for name, top in tops.items() if top.field in AUDIO
)
_SUFFIXES = tuple(f".{suffix}" for suffix, kind in TYPES.items() if kind == "audio")


def lengths(truth: FileSide | TableSide, clips: Iterable[str], recordings: str | None) -> dict[str, int]:
    """Label frames of the recordings of *clips*, as far as they are known.

    Told by the recordings that the user names; else by those in the data set tree of the labels, and else by the
    layout of the labels, where its clips are all of one length.

    Raises:
        UsageError: what the user names holds no recordings of these clips.
    """
    if recordings is not None:
        return _named(recordings, clips)
    fixed = truth.layout.clip_frames
    known = dict.fromkeys(clips, int(fixed * truth.layout.hop / clock.HOP)) if fixed else {}
    if isinstance(truth, TableSide):
        told = {file.clip: file.frames for file in origin_of(truth.table).files if file.frames}
        return known | {clip: told[clip] for clip in clips if clip in told}
    labels = {clip: truth.files[clip][0] for clip in clips if clip in truth.files}
    found = {clip: _frames(entry) for clip, entry in _beside(labels)}
    return known | {clip: frames for clip, frames in found.items() if frames}


def _named(recordings: str, clips: Iterable[str]) -> dict[str, int]:
    loaded = reference.load(recordings)
    frames = loaded.clips if isinstance(loaded, Reference) else {}
    found = {clip: frames.get(clip) or frames.get(posixpath.basename(clip)) for clip in clips}
    known = {clip: length for clip, length in found.items() if length}
    if not known:
        raise UsageError(f"{printable(recordings)} holds no recording of a clip that is scored, so no length is known")
    return known


def _beside(labels: Mapping[str, Entry]) -> Iterator[tuple[str, Entry]]:
    """The recordings of label files on disk: in the same folder, or where the data set tree has them."""
    by_folder: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for clip, entry in labels.items():
        if entry.local is not None:
            folder, name = os.path.split(os.path.abspath(entry.path))
            by_folder[folder].append((clip, os.path.splitext(name)[0]))
    for folder, wanted in by_folder.items():
        places = [(base, below, _listing(f"{base}/{below}")) for base, below in ((folder, ""), *_siblings(folder))]
        for clip, stem in wanted:
            names = [stem + suffix for suffix in _SUFFIXES]
            there = ((base, below + name) for base, below, held in places for name in names if name in held)
            if found := next(filter(None, (on_disk(*place) for place in there)), None):
                yield clip, found


def _siblings(folder: str) -> Iterator[tuple[str, str]]:
    """For ``…/metadata_dev/dev-test-tau`` the folder above it, and ``foa_dev/dev-test-tau/`` in there."""
    below = ""
    for _ in range(LEVELS):
        folder, name = os.path.split(folder)
        if not name:
            return
        for top in sorted(_listing(folder)):
            if top.lower() in _TOPS and top != name:
                yield folder, f"{top}/{below}"
        below = f"{name}/{below}"


def _listing(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:  # what may not be listed has nothing for us
        return frozenset()


def _frames(entry: Entry) -> int:
    """Label frames of a recording; 0 where it cannot be read, which is for ``seldio validate`` to say."""
    from seldio.media.audio import NotAudio, probe_entry

    try:
        return probe_entry(entry).label_frames()
    except (NotAudio, InvalidData):
        return 0
