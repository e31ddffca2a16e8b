"""The recordings of a tree with their headers, each read once, and what data sets prescribe for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

from seldio.engines import each
from seldio.formats.trees import AUDIO, TYPES, Place, Tree
from seldio.rules.collection import Collection, Entry
from seldio.rules.recordings import probed
from seldio.rules.tree_files import last_part
from seldio.rules.tree_gaps import spot
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

#: Frames a second by layout; SpatialScaper's are the user's choice.
SAMPLING = dict.fromkeys(("starss23", "starss22", "dcase2025", "dcase2021", "dcase2020"), 24_000) | {
    "dcase2019": 48_000
}
#: Channels by what a folder holds.
CHANNELS = {"foa": 4, "mic": 4, "stereo": 2}
#: libsndfile's name of the sample format, where the data set's own page tells it.
DEPTHS = dict.fromkeys(("starss23", "starss22"), "PCM_16")
#: libsndfile's names of what a file with this suffix may be.
CONTAINERS = {
    "wav": ("WAV", "WAVEX", "RF64"), "flac": ("FLAC",), "ogg": ("OGG",), "opus": ("OGG",),
    "mp3": ("MP3", "MPEG"), "aif": ("AIFF",), "aiff": ("AIFF",), "w64": ("W64",),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Heard:
    """A recording of a tree.

    Args:
        entry: the file.
        place: where it stands.
        expected: whether its folder is one of a data set, which prescribes what is in it.
        probe: its header; None where it cannot be read.
        fault: why it cannot.
    """

    entry: Entry
    place: Place
    expected: bool
    probe: Probe | None
    fault: str | None

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.entry.path

    @property
    def file(self) -> str:
        """Its file name, printable."""
        return printable(last_part(self.place))

    @property
    def header(self) -> Probe:
        """The header, of one that has a header."""
        assert self.probe is not None
        return self.probe

    @property
    def whole(self) -> bool:
        """Whether it has sound, and all that its header promises."""
        return self.probe is not None and self.probe.frames > 0 and not self.probe.cut_off


class TreeAudio:
    """What the rules for recordings look at: those that libsndfile can read, by their suffix."""

    def __init__(self, collection: Collection, tree: Tree) -> None:
        self.collection, self.tree = collection, tree
        entries = {entry.name: entry for entry in collection.entries if is_sound(entry.name)}
        if collection.kind != "file":  # in folders, empty ones are LAY113
            entries = {name: entry for name, entry in entries.items() if entry.size != 0}
        places = [place for place in tree.places if place.name in entries]
        those = [entries[place.name] for place in places]
        headers = each(probed, those, batch=64, what="reading headers", key=attrgetter("stamp"))
        self.all = [
            Heard(entry, place, place.inside and place.top is not None and place.field in AUDIO, *header)
            for entry, place, header in zip(those, places, headers, strict=True)
        ]

    @property
    def heard(self) -> Iterator[tuple[Heard, Probe]]:
        """Those with sound, with their headers."""
        for one in self.all:
            if one.probe is not None and one.probe.frames:
                yield one, one.probe

    @property
    def whole(self) -> Iterator[Heard]:
        """Those with all the sound that their headers promise."""
        return (one for one in self.all if one.whole)

    @cached_property
    def by_name(self) -> dict[str, Heard]:
        """All of them by their names in the source."""
        return {one.place.name: one for one in self.all}

    @cached_property
    def ends(self) -> dict[str, Heard]:
        """The longest recording of each label file, by the name of that; none where one is not whole."""
        found: dict[str, Heard] = {}
        for clip in self.tree.clips:
            names = (clip.foa, clip.mic, clip.stereo, clip.audio)
            those = [self.by_name[name] for name in names if name in self.by_name]
            if clip.metadata is not None and those and all(one.whole for one in those):
                found[clip.metadata] = max(those, key=lambda one: one.header.seconds)
        return found

    def folder(self, those: Iterable[Heard]) -> str:
        """The path of the folder that they have in common."""
        return spot(self.collection, [one.place for one in those])


def is_sound(name: str) -> bool:
    """Whether a file is a recording that libsndfile may read, by its suffix."""
    return name.rpartition(".")[2].lower() in CONTAINERS


assert set(CONTAINERS) < set(TYPES)
