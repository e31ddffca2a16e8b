"""SUB1: label files taken together: where they lie, whether they repeat, and the grid of time that all count by."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from seldio.clock import HOP
from seldio.findings import Finding
from seldio.formats.base import FileRows, Ints
from seldio.formats.datasets import TOPS
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.registry import ERROR, WARNING
from seldio.schema.arrays import to_numpy
from seldio.text import listed, plural, printable


def _in_tree(collection: Collection) -> bool:
    """Whether the files lie in the folders of a dataset, of which rules for trees know more."""
    names = (collection.path, *(part.file.name for _, part in collection.parts))
    return any(folder.lower() in TOPS for name in names for folder in name.replace("\\", "/").split("/"))


def uneven_depth(collection: Collection, found: Found) -> Iterator[Finding]:
    if _in_tree(collection):
        return
    single = [part for reading, part in collection.parts if reading.format.role != "table"]
    folders = grouped(single, lambda part: posixpath.dirname(part.file.name))
    inner: dict[str, list[FileRows]] = {folder: [] for folder in folders}
    for name, parts in folders.items():
        above = name
        while above.strip("/"):
            above = posixpath.dirname(above)
            if above in inner:
                inner[above] += parts
    for folder, parts in sorted(folders.items()):
        below = inner[folder]
        names = {posixpath.basename(part.file.name).lower() for part in parts}
        if below and not any(posixpath.basename(part.file.name).lower() in names for part in below):
            inside = sorted({posixpath.dirname(part.file.name) for part in below})
            where = f"{printable(folder)}/" if folder else "the folder"
            count = f"{len(below):,} of {plural(len(parts) + len(below), 'file')}"
            message = f"{count} are in folders below the others: {listed([f'{name}/' for name in inside], 3)}"
            yield found(below[0].file.path, message, f"move them up into {where}: programs read one folder")
            return


#: Rows from which on two files of different recordings cannot be the same by chance.
SAME_ROWS = 10


def same_content(collection: Collection, found: Found) -> Iterator[Finding]:
    single = [part for reading, part in collection.parts if reading.format.role != "table" and part.rows >= SAME_ROWS]
    paths = [part.file.path for part in single]
    if len(set(paths)) < len(paths):  # several clips in one file
        return
    severity = ERROR if collection.submitted else WARNING
    twins = _alike(single, lambda part: (posixpath.dirname(part.file.name), part.content))
    if twins:
        pairs = [" = ".join(posixpath.basename(part.file.name) for part in parts[:2]) for parts in twins]
        message = f"{sum(map(len, twins)):,} of {plural(len(single), 'file')} have the content of another clip, "
        yield found(twins[0][1].file.path, f"{message}byte for byte: {listed(pairs, 3)}",
                    "write them again, each from its recording", severity=severity)  # fmt: skip
    twice = _alike(single, lambda part: (posixpath.basename(part.file.name), part.content))
    if twice and collection.submitted:
        folders = sorted({f"{posixpath.dirname(part.file.name)}/" for parts in twice for part in parts})
        message = f"{plural(len(twice), 'file')} the same, byte for byte, in {listed(folders, 3)}"
        yield found(twice[0][1].file.path, message, "perhaps one system twice: check which outputs were meant")


def _alike(single: Sequence[FileRows], key: Callable[[FileRows], tuple[str, bytes]]) -> list[list[FileRows]]:
    return [parts for parts in grouped(single, key).values() if len(parts) > 1]


# --- the grid of time ------------------------------------------------------------------------------------

#: By how much finer than label frames the grids are that are counted by mistake: those of 50, 20 and 10 ms.
FINER = (2, 5, 10)
#: How near the end of its clip the last row of a file is, with the right grid: as a share.
_NEAR = 0.8, 1.1
#: So many clips, and which share of all, have to agree; and the share of rows past the end that is more than padding or
#: false alarms.
_CLIPS, _AGREE, _BEHIND = 3, 0.8, 0.25


def near_ends(last: Ints, length: Ints) -> Ints:
    """How many clips end where their recording or labels do, if frames were counted on a grid as in ``FINER``.

    *last* are the numbers of the last frames, *length* the frames of 100 ms that there are, 0 if unknown. The last
    number counts the clips that could be compared. These counts add up over clips.
    """
    known = (length > 0) & (last >= 0)
    share = (last[known] + 1) / length[known]
    low, high = _NEAR
    fits = [np.count_nonzero((share >= low * factor) & (share <= high * factor)) for factor in FINER]
    return np.array([*fits, np.count_nonzero(known)], dtype=np.int64)


def finer_grid(ends: Ints, behind: int, rows: int) -> int | None:
    """The factor by which frames are counted too finely, if clips agree on one; *behind*: rows after the ends."""
    *fits, known = ends.tolist()
    best = max(range(len(FINER)), key=fits.__getitem__)
    return FINER[best] if known >= _CLIPS and fits[best] >= _AGREE * known and behind > _BEHIND * rows else None


class FramedClip(NamedTuple):
    """The frames of a clip that has rows, and where it ends."""

    part: FileRows
    frames: Ints
    hop: Fraction  # seconds between frames
    end: int | None  # the first frame behind its recording, or behind its labels where nobody knows that
    known: bool  # whether it is that of the recording

    @property
    def behind(self) -> Ints:
        """The rows past the end."""
        return np.flatnonzero(self.frames >= self.end) if self.end is not None else np.zeros(0, np.int64)


def framed_clips(collection: Collection) -> list[FramedClip]:
    """Those of all files with frames."""
    found = []
    for reading in (one for one in collection.readings if "frame" in one.table.column_names):
        frames, hop = to_numpy(reading.table["frame"]), reading.format.hop
        for part in (one for one in reading.parts if one.rows):
            length, end = collection.expected.get(part.origin.clip), reading.format.clip_frames
            known = length is not None or end is not None
            length = length if known else collection.labelled.get(part.origin.clip)  # in frames of 100 ms
            end = end if length is None else int(length * HOP / hop)
            found.append(FramedClip(part, frames[part.first : part.first + part.rows], hop, end, known))
    return found


def finer(clips: Sequence[FramedClip]) -> int | None:
    """The factor by which all files count frames too finely, by the lengths of recordings, or else by labels."""
    ended = [one for one in clips if one.end]
    last = np.array([one.frames.max() for one in ended], dtype=np.int64)
    length = np.array([one.end for one in ended], dtype=np.int64)
    if len(last) > _CLIPS and len(set(last.tolist())) == 1 and len(set(length.tolist())) > 1:
        return None  # padded to one length
    behind, rows = sum(len(one.behind) for one in ended), sum(one.part.rows for one in ended)
    factor = finer_grid(near_ends(last, length), behind, rows)
    more = factor is not None and np.ptp(last - length) < np.ptp(last - factor * length)  # each has as many more
    return None if more else factor


def finer_frames(collection: Collection, found: Found) -> Iterator[Finding]:
    clips = framed_clips(collection)
    if (factor := finer(clips)) is not None:
        ended = [one for one in clips if one.end]
        milliseconds, rows = float(ended[-1].hop * 1000), sum(one.part.rows for one in ended)
        known = {one.known for one in ended}
        end = " or ".join(
            text for kind, text in ((True, "recordings"), (False, "labels of the reference")) if kind in known
        )
        message = f"frames of {milliseconds / factor:g} ms instead of {milliseconds:g} ms: "
        message += f"{sum(len(one.behind) for one in ended):,} of {plural(rows, 'row')} are past the end of the {end}"
        yield found(collection.path, message,
                    f"divide by {factor}, and write one row for every 100 ms")  # fmt: skip


FILE_SET_RULES = (uneven_depth, same_content, finer_frames)
