"""The recordings and videos of a tree, each read once, and what a dataset prescribes for all of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from seldio.catalogues.trees import AUDIO, Tree, TreePlace
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.files.names import MEDIA, media_type, suffix_of
from seldio.findings import Finding, Rule, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.parallel import parallel_map
from seldio.rules.collection import Collection, MakeFinding, by_folder, grouped, probed
from seldio.rules.registry import Check, findings
from seldio.text import listed, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

Ints = np.ndarray[Any, np.dtype[np.int64]]
Facts = TypeVar("Facts")

#: Channels by the type of a folder.
CHANNELS = {"foa": 4, "mic": 4, "stereo": 2}
#: libsndfile's names of the formats of files with this suffix.
CONTAINERS = {
    "wav": ("WAV", "WAVEX", "RF64"), "flac": ("FLAC",), "ogg": ("OGG",), "opus": ("OGG",),
    "mp3": ("MP3", "MPEG"), "aif": ("AIFF",), "aiff": ("AIFF",), "w64": ("W64",),
}  # fmt: skip
assert set(CONTAINERS) < set(MEDIA)
#: From this many files on, a fault that a whole folder shares is one finding.
MANY = 4


def is_sound(name: str) -> bool:
    """Return whether a file is a recording that libsndfile may be able to read, by its suffix."""
    return suffix_of(name) in CONTAINERS


def is_video(name: str) -> bool:
    """Return whether a file is a video by its suffix, or a recording in a container of videos, such as ``.m4a``."""
    return media_type(name) is not None and not is_sound(name)


@dataclasses.dataclass(frozen=True)
class TreeFile(Generic[Facts]):
    """A recording or video of a tree, with the facts from its header or packets."""

    entry: Entry
    place: TreePlace
    facts: Facts | None = None  # None if it cannot be read
    fault: str | None = None  # why not
    dataset: str = dataclasses.field(default="", kw_only=True)  # that its tree is

    @property
    def again(self) -> str:
        """Return the hint for a damaged file."""
        from seldio.formats.about import with_address  # which reads files

        return with_address("download or unpack it again", self.dataset)

    @property
    def path(self) -> str:
        """As shown to people."""
        return self.entry.path

    @property
    def file(self) -> str:
        """Its file name, printable."""
        return printable(self.place.file)

    def finding(self, rule: Rule, message: str, hint: str | None = None) -> Finding:
        """Return a finding of *rule* about it."""
        return rule.at(self.path, message, hint)


AnyFile = TypeVar("AnyFile", bound=TreeFile[Any])


class TreeMedia(Generic[AnyFile, Facts]):
    """All recordings or videos of a tree; empty files in folders are skipped, since they are LAY113."""

    noun: str
    all: list[AnyFile]
    readable: list[tuple[AnyFile, Facts]]  # those that can be read, with their facts

    def __init__(self, collection: Collection, tree: Tree, wanted: Callable[[str], bool]) -> None:
        self.collection, self.tree, self.finding = collection, tree, collection.finding
        self.entries = {entry.name: entry for entry in collection.entries}
        whole = collection.kind == "file"
        self.places = [
            place
            for place in tree.places
            if wanted(place.name) and place.name in self.entries and (whole or self.entries[place.name].size != 0)
        ]

    def check(self, of_tree: Iterable[Check], of_file: Iterable[Check], of_facts: Iterable[Check], sink: Sink) -> int:
        """Pass to *sink* what rules find in the tree, in each file, and in what is known of it; return how many."""
        judged = [findings(of_tree, self), *(findings(of_file, file) for file in self.all)]
        judged += [findings(of_facts, file, facts) for file, facts in self.readable]
        for finding in chain.from_iterable(judged):
            sink(finding)
        return len(self.all)


# --- recordings ---------------------------------------------------------------------------------------------


class RecordingFile(TreeFile["Probe"]):
    """A recording of a tree."""

    @property
    def expected(self) -> bool:
        """Whether its folder is one of a dataset, which prescribes its content."""
        return self.place.inside and self.place.top is not None and self.place.field in AUDIO


class TreeAudio(TreeMedia[RecordingFile, "Probe"]):
    """The recordings that rules check: those that libsndfile can read, by their suffix."""

    noun = "recording"

    def __init__(self, collection: Collection, tree: Tree) -> None:
        super().__init__(collection, tree, is_sound)
        entries = [self.entries[place.name] for place in self.places]
        headers = parallel_map(probed, entries, batch=64, what="reading headers", here=packed(entries))
        files = zip(entries, self.places, headers, strict=True)
        self.all = [RecordingFile(entry, place, *header, dataset=tree.layout) for entry, place, header in files]
        self.readable = [(one, one.facts) for one in self.all if one.facts is not None and one.facts.frames]
        #: those with all the samples that their headers declare, by name
        self.whole = {one.place.name: (one, header) for one, header in self.readable if not header.cut_off}

    @cached_property
    def ends(self) -> dict[str, tuple[RecordingFile, Probe]]:
        """The longest recording of each label file, by the name of that; missing if one recording is incomplete."""
        found: dict[str, tuple[RecordingFile, Probe]] = {}
        names = {place.name for place in self.places}
        for clip in self.tree.clips if self.whole else ():  # clips are models, which are slow to load
            own = [name for name in clip.recordings.values() if name in names]
            if clip.metadata is not None and own and all(name in self.whole for name in own):
                found[clip.metadata] = max((self.whole[name] for name in own), key=lambda pair: pair[1].seconds)
        return found


# --- what is prescribed -------------------------------------------------------------------------------------


def prescribed(wrong: Callable[[DatasetSpec, Any, Any], str | None]) -> Callable[..., Iterator[Finding]]:
    """Make a rule of *wrong*, which says in words after "has" what is wrong with a file and its facts.

    It yields a finding for each file that is not as its dataset prescribes, or one for a folder of files all alike.
    """

    @functools.wraps(wrong)
    def rule(media: TreeMedia[Any, Any], finding: MakeFinding) -> Iterator[Finding]:
        for inside in by_folder((file for file, _ in media.readable), attrgetter("place.name")):
            for value, files in grouped(inside, lambda file: wrong(media.tree.row, file, file.facts)).items():
                if len(files) == len(inside) >= MANY:
                    names = listed([file.file for file in files], 3)
                    message = f"all {len(files):,} {media.noun}s in the folder have {value}: {names}"
                    yield finding([file.place for file in files], message)
                else:
                    yield from (finding(file.path, f"{file.file} has {value}") for file in files)

    return rule
