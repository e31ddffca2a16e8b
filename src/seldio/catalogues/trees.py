"""Which dataset tree is this? From file names alone; nothing here touches the disk."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from seldio.files.names import MEDIA
from seldio.formats.datasets import (
    AUDIO,
    LOOSE,
    PLAIN,
    TREE_SIGNS,
    DatasetSpec,
    Field,
    Named,
    Set,
    Sign,
    Top,
    compiled,
    dataset,
    kind_of,
)
from seldio.text import plural

if TYPE_CHECKING:
    from seldio.schema.clips import Clip

__all__ = ["AUDIO", "TYPES", "Holding", "Tree", "TreePlace", "read_tree"]

#: What files are in a tree, by their suffix.
TYPES: dict[str, Literal["metadata", "audio", "video"]] = {"csv": "metadata", **MEDIA}


@dataclass(frozen=True, slots=True)
class TreePlace:
    """The location of a file in a tree."""

    name: str  # as given
    stem: str  # its file name up to the last dot
    suffix: str  # what stands behind that, without the dot, as written
    top: Top | None = None  # what its top folder holds; None outside of top folders
    home: str = ""  # the folders above the top folder (of a file outside: all its folders)
    below: tuple[str, ...] = ()  # the folders between the top folder and the file
    split: str | None = None  # the split folder it is in
    inside: bool = False  # whether it is in a folder of the dataset
    named: Named | None = None  # what its name says, if the dataset calls its clips so
    field: Field | None = None  # the field of :class:`Clip` that it belongs in; None if it is not part of a clip
    set: Set | None = None  # development or evaluation set, where the folders or the name tell
    is_text: bool = True  # whether the name can stand in a table: bytes that are not UTF-8 cannot

    @property
    def file(self) -> str:
        """Its file name."""
        return self.name.rpartition("/")[2]

    @property
    def exact(self) -> bool:
        """Whether the name is spelt as the dataset spells it."""
        return self.named is not None and self.named.clip == self.stem


@dataclass(slots=True)
class Holding:
    """The files of one clip in a tree, whatever their folders: the first file of each field."""

    clip: str
    set: Set
    named: Named
    files: dict[Field, TreePlace] = field(default_factory=dict)
    splits: dict[str, TreePlace] = field(default_factory=dict)
    split: str | None = None
    inside: bool = False


@dataclass(frozen=True)
class Tree:
    """A dataset tree as its file names tell it."""

    row: DatasetSpec  # its row of the table
    evidence: str  # one sentence on why it is this layout
    places: tuple[TreePlace, ...]  # every file, sorted by name

    @property
    def layout(self) -> str:
        """The name of the layout, e.g. ``starss23``; ``loose`` if none is known."""
        return self.row.name

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        """The recordings with their files, sorted by set, split and name."""
        places = [place for place in self.places if place.field is not None]
        labels = {(place.home, place.stem) for place in places if place.field == "metadata"}
        groups: dict[tuple[str | None, ...], list[TreePlace]] = {}
        for place in places:
            beside = f"metadata_{place.stem.removeprefix('audio_')}"  # as spatialscaper calls labels and recordings
            if not place.inside and place.stem.startswith("audio_") and (place.home, beside) in labels:
                place = replace(place, stem=beside)
            group = place.top.group if place.top is not None else ""
            home = None if place.inside else place.home
            groups.setdefault((place.set, _split(self.row, place), group, home, place.stem), []).append(place)
        clips: list[Clip] = []
        for together in groups.values():
            # two files of one name that would take the same field are of two clips
            by_clip: dict[tuple[str, int], list[TreePlace]] = {}
            taken: Counter[tuple[str, Field | None]] = Counter()
            distinct = len({place.field for place in together}) == len(together)
            for place in together:
                key = (place.home, place.field)
                by_clip.setdefault(("", 0) if distinct else (place.home, taken[key]), []).append(place)
                taken[key] += 1
            clips += (_clip(self.row, files) for files in by_clip.values())
        return tuple(sorted(clips, key=lambda clip: (clip.set or "", clip.split or "", clip.clip)))

    @cached_property
    def holdings(self) -> dict[tuple[Set, str], Holding]:
        """Return the files of each clip whose name follows the dataset's pattern."""
        held: dict[tuple[Set, str], Holding] = {}
        flat = not any(place.inside for place in self.places)
        for place in self.places:
            if place.named is not None and place.set is not None and (place.inside or flat):
                key = (place.set, place.named.clip)
                holding = held.setdefault(key, Holding(place.named.clip, place.set, place.named))
                what = place.field or (place.top.field if place.top is not None else None)
                if what is not None:
                    holding.files.setdefault(what, place)
                if place.split is not None:
                    holding.splits.setdefault(place.split, place)
                holding.split = holding.split or _split(self.row, place)
                holding.inside = holding.inside or place.inside
        return held


#: Below this weight only names speak, and then most files must.
_FOLDERS_SPEAK = 0.5


_ARCHIVE = re.compile(r"\.(zip|tar|tgz|tar\.\w+)$", re.IGNORECASE)


def read_tree(names: Sequence[str], root: str = "", formats: Callable[[], AbstractSet[str]] = frozenset) -> Tree:
    """Return the dataset tree that files with these *names* (POSIX paths below the root, in any order) make.

    What the user called the *root* counts: ``…/foa_dev/dev-test-tau`` says what is in it. Where names do not tell a
    dataset from a newer one that it is a part of, the *formats* of its labels are asked for.
    """
    given = _ARCHIVE.sub("", root.replace("\\", "/").rstrip("/"))
    above = tuple(part for part in given.split("/") if part not in ("", ".", ".."))[-2:]
    ordered = sorted(dict.fromkeys(names))
    paths = ["/".join((*above, name)) for name in ordered if name.rpartition(".")[2].lower() in TYPES]
    votes: Counter[Sign] = Counter()
    weights: defaultdict[str, float] = defaultdict(float)
    for path in paths:  # those of audio, video and label files
        for sign in TREE_SIGNS:
            if compiled(sign.path, re.IGNORECASE).search(path):
                votes[sign] += 1
                weights[sign.dataset] += sign.weight
                break
    row = dataset(max(weights, key=lambda name: weights[name], default=LOOSE.name))
    spoken = [sign for sign in row.signs if votes[sign]]
    few = sum(votes[sign] for sign in spoken) * 2 < len(paths)
    if not spoken or (weights[row.name] < _FOLDERS_SPEAK and few):
        row, evidence = LOOSE, "no folder or clip name of a known dataset"
    else:
        edition, why = row.edition(given, paths, formats)
        sentences = [f"{sign.says} ({plural(votes[sign], 'file')})" for sign in spoken]
        row, evidence = dataset(edition), "; ".join([*sentences, why] if why else sentences)
    folders = {*above, *(folder for name in ordered for folder in name.split("/")[:-1])}
    bare = row.tops.keys().isdisjoint(map(str.lower, folders))
    return Tree(row, evidence, tuple(_place(row, above, name, bare) for name in ordered))


def _place(row: DatasetSpec, above: Sequence[str], name: str, bare: bool) -> TreePlace:
    """Return the place of one file; *bare*: there are no top folders, so that split folders speak alone."""
    *folders, last = (*above, *name.split("/"))
    stem, dot, suffix = last.rpartition(".")
    stem, suffix = (stem, suffix) if dot else (suffix, "")
    at = next((number for number in reversed(range(len(folders))) if folders[number].lower() in row.tops), None)
    top, inside = None, at is not None
    if at is not None:
        top, home, below = row.tops[folders[at].lower()], folders[:at], folders[at + 1 :]
    elif bare and row.depth and (splits := [index for index, folder in enumerate(folders) if kind_of(folder)]):
        inside, home, below = True, folders[: splits[-1]], folders[splits[-1] :]
    else:
        plain = [folder.lower() for folder in folders if folder.lower() in PLAIN]
        top = PLAIN[plain[-1]] if plain else None
        home, below = [folder for folder in folders if folder.lower() not in PLAIN], []
    set = top.set if at is not None and top is not None else "dev" if row.clip is not None else None
    split_name = below[0] if below and row.depth and set == "dev" else None
    named = row.named(set, stem if suffix.lower() in TYPES else last.partition(".")[0]) if set else None
    if not inside and named is not None and named.clip != stem:
        named = None
    tree_set: Set | None = "dev" if split_name is not None or named is not None else None
    tree_set = top.set if top is not None and top.set is not None else tree_set
    is_text = name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
    field: Field | None = TYPES.get(suffix.lower()) if stem and is_text else None
    field = top.field if field == "audio" and top is not None and top.field in AUDIO else field
    return TreePlace(
        name, stem, suffix, top, "/".join(home), tuple(below), split_name, inside, named, field, tree_set, is_text
    )


def _clip(row: DatasetSpec, files: list[TreePlace]) -> Clip:
    from seldio.schema.clips import Clip  # a model of pydantic, which takes longer to load than a tree to read

    place, named = files[0], files[0].named
    split = _split(row, place)
    site = next((name for name in ("sony", "tau") if split is not None and split.endswith(f"-{name}")), None)
    if site is None and named is not None and place.set == "dev" and row.kinds:
        owner = row.split_of(named.fold, named.room) or ""
        site = next((name for name in ("sony", "tau") if owner.endswith(f"-{name}")), None)
    paths = {str(file.field): file.name for file in files}
    numbers = {} if named is None else {"fold": named.fold, "room": named.room, "mix": named.mix}
    return Clip.model_validate(
        {
            "clip": place.stem,
            "layout": row.name if place.inside or named is not None else LOOSE.name,
            "set": place.set,
            "split": split,
            "site": site,
            **numbers,
            **paths,
        }
    )


def _split(row: DatasetSpec, place: TreePlace) -> str | None:
    if place.set == "eval":
        return "eval"
    if place.split is not None or place.named is None:
        return place.split
    return row.split_of(place.named.fold, place.named.room)
