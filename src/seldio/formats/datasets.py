"""The datasets that seldio knows, made from their files (:func:`seldio.plugins.datasets`): trees, splits and names.

Folders and counts are those of the published datasets: STARSS from the lists that Sony's 2023 baseline
ships (``list_dataset/*.txt``), the others from the official baselines' loaders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from seldio import plugins
from seldio.errors import UsageError
from seldio.files.names import plain_stem, without_suffixes
from seldio.schema.splits import TEST, TRAIN, VALIDATION, WORDS, is_name
from seldio.text import clipped, listed

#: Share by which a recording may be shorter or longer than its split is said to have them: figures are rounded.
ABOUT = 0.1
Field = Literal["foa", "mic", "stereo", "audio", "metadata", "video"]
Set = Literal["dev", "eval"]


class Sign(NamedTuple):
    """A pattern in the path of a file: of a *dataset*, with a *weight*, or of formats whose names match *formats*."""

    dataset: str
    path: str
    says: str
    rank: int = 0  # signs of a lower rank are looked for first
    weight: float = 0.0
    formats: str = ""


class Top(NamedTuple):
    """The content of a top folder; *group* separates files of the same name that are not one clip."""

    field: Field
    set: Set | None = None
    group: str = ""


class Named(NamedTuple):
    """The parts of a file name, and how the dataset would spell it."""

    clip: str
    fold: int | None
    room: int | None
    mix: int | None

    @property
    def recording(self) -> str:
        """The STARSS recording that the clip is, or was cut from."""
        return f"fold{self.fold}_room{self.room}_mix{self.mix or 0:03d}"


@dataclass(frozen=True)
class SplitSpec:
    """A split: its name, which is its folder's, its folds, the recordings of its rooms, and about how long they are."""

    name: str
    folds: Sequence[int]
    rooms: Mapping[int, Iterable[int]]
    seconds: Sequence[int] | None = None

    @cached_property
    def clips(self) -> frozenset[str]:
        """The names of its recordings; empty where they are not counted."""
        return frozenset(
            f"fold{fold}_room{room}_mix{mix:03d}"
            for fold in self.folds
            for room, mixes in self.rooms.items()
            for mix in mixes
        )


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """A challenge year or dataset; :mod:`seldio.schema.dataset_file` says what the keys of its file mean."""

    name: str
    title: str
    usual: tuple[str, ...] = ()  # names of the folders that people unpack it to
    dialects: tuple[str, ...] = ()
    actors: Sequence[int] = ()
    things: Sequence[int] = ()
    nearest: int = 0
    profile: str | None = None
    signs: tuple[Sign, ...] = ()
    label_signs: tuple[Sign, ...] = ()
    part_of: Mapping[str, Any] | None = None  # how it differs from a newer dataset that contains it
    clip: str | None = None  # a pattern of the names of development clips; None: any name will do
    mix: str | None = None  # the same of evaluation clips
    example: str = ""
    tops: Mapping[str, Top] = field(default_factory=dict)
    splits: tuple[SplitSpec, ...] = ()
    depth: int = 0
    kinds: Mapping[int, str] = field(default_factory=dict)
    synthetic: Sequence[int] = ()
    evaluation: frozenset[str] = frozenset()
    evaluation_seconds: Sequence[int] | None = None
    secret: bool = False
    counted: bool = False
    without_video: frozenset[str] = frozenset()
    rate: int | None = None
    subtype: str | None = None
    picture: tuple[int, int] | None = None
    pictures: Fraction | None = None

    def edition(self, root: str, paths: Sequence[str], formats: Callable[[], AbstractSet[str]]) -> tuple[str, str]:
        """Return by name the exact dataset of a tree with these signs, and why; *formats*: of its labels."""
        part = next((row for row in DATASETS if row.part_of is not None and row.part_of["name"] == self.name), None)
        if part is None or part.part_of is None:
            return self.name, ""
        differences = part.part_of
        if any(compiled(differences["without"], re.IGNORECASE).search(path) for path in paths):
            return self.name, differences["without_says"]
        said = compiled(f"(?P<part>{differences['said']})|{differences['whole_said']}", re.IGNORECASE)
        if matches := [*said.finditer(f"{root}/{paths[0]}")]:
            return part.name if matches[-1]["part"] else self.name, f"{matches[-1][0]} in the path"
        names = set(map(plain_stem, paths))
        clips = frozenset[str]().union(*(split.clips for split in part.splits if split.name in differences["splits"]))
        if len(names & clips) >= differences["least"]:
            return part.name, differences["least_says"]
        if (labelled := formats()) and labelled <= set(part.dialects):
            return part.name, f"labels in format {listed(sorted(labelled))}"
        return self.name, differences["otherwise_says"]

    @cached_property
    def recordings(self) -> frozenset[str]:
        """The recordings of the development set."""
        return frozenset[str]().union(*(split.clips for split in self.splits))

    def lengths(self, clip: str) -> tuple[str, int, int] | None:
        """Return the split of a recording, and about how many seconds its shortest and longest ones have, if known."""
        of = next(((split.name, split.seconds) for split in self.splits if clip in split.clips), ("", None))
        name, seconds = ("the evaluation set", self.evaluation_seconds) if clip in self.evaluation else of
        return None if seconds is None else (name, seconds[0], seconds[1])

    @cached_property
    def folders(self) -> frozenset[str]:
        """The splits, and their kinds: the task asks to join sony and tau, and some do so on disk."""
        return frozenset(split.name for split in self.splits) | frozenset(self.kinds.values())

    def split_of(self, fold: int | None, room: int | None) -> str | None:
        """Return the split that the dataset keeps this room of this fold in."""
        for split in self.splits:
            if fold in split.folds and (not split.rooms or room in split.rooms):
                return split.name
        return None

    def misplaced(self, split: str, named: Named) -> str | None:
        """Return why a clip cannot be in the folder *split*; None if it can."""
        kind, rightful = kind_of(split), self.kinds.get(named.fold if named.fold is not None else -1)
        made = named.fold in self.synthetic
        if kind and rightful and kind != rightful and (split in self.folders or not made):
            return f"fold {named.fold} belongs to {rightful}"
        owner = next((split.name for split in reversed(self.splits) if named.room in split.rooms), None)
        is_kind_folder = split in self.folders and split != kind
        if is_kind_folder and not made and owner is not None and owner != split:
            return f"room {named.room} belongs to {owner}"
        return None

    def named(self, set: Set | None, stem: str) -> Named | None:
        """Return the parts of *stem*; None if no clip of this dataset is called so, or nearly so."""
        pattern = self.mix if set == "eval" else self.clip
        if pattern is None:
            return None
        clip, match = stem, compiled(pattern).fullmatch(stem)
        if match is None and pattern in (_STARSS, _MIX):
            match = compiled(_NEARLY_MIX if set == "eval" else _NEARLY, re.IGNORECASE).fullmatch(stem)
            if match is not None:
                mix = f"mix{int(match['mix']):03d}"
                clip = mix if set == "eval" else f"fold{match['fold']}_room{match['room']}_{mix}"
        if match is None:
            return None
        numbers = {name: int(digits) for name, digits in match.groupdict().items() if digits is not None}
        return Named(clip, numbers.get("fold"), numbers.get("room"), numbers.get("mix"))


_PART = re.compile(r"dev-([a-z]+)(?:-.+)?")
_KINDS_OF = {TRAIN: "dev-train", VALIDATION: "dev-val", TEST: "dev-test"}


def kind_of(split: str) -> str | None:
    """Return ``dev-train`` of ``dev-train-sony``, ``dev-val`` of ``dev-valid``; None if *split* is called otherwise."""
    match = _PART.fullmatch(split)
    return _KINDS_OF.get(WORDS.get(match[1], "")) if match else None


compiled = cache(re.compile)
_MIX = r"mix(?P<mix>[0-9]{3}|[1-9][0-9]{3,5})"
_STARSS = rf"fold(?P<fold>0|[1-9][0-9]{{0,2}})_room(?P<room>0|[1-9][0-9]{{0,3}})_{_MIX}"
_COPY = r"(?: ?\([0-9]{1,3}\)|[ _-]+copy)?"
_NEARLY = (
    r"fold[ _.-]?0*(?P<fold>[0-9]{1,3})[ _.-]?room[ _.-]?0*(?P<room>[0-9]{1,4})"
    rf"[ _.-]?mix[ _.-]?(?P<mix>[0-9]{{1,6}}){_COPY}"
)
_NEARLY_MIX = rf"mix[ _.-]?(?P<mix>[0-9]{{1,6}}){_COPY}"

_FIELDS: tuple[Field, ...] = ("foa", "mic", "stereo", "metadata", "video")
_SETS: tuple[Set, ...] = ("dev", "eval")
_DCASE = MappingProxyType({f"{name}_{part}": Top(name, part) for name in _FIELDS for part in _SETS})
#: Folders that tell what is in them where no dataset does.
PLAIN: Mapping[str, Top] = MappingProxyType({
    **{name: Top(name, None) for name in _FIELDS},
    **dict.fromkeys(("audio", "wav", "recordings"), Top("audio", None)),
    **dict.fromkeys(("labels", "csv", "annotations"), Top("metadata", None)),
    **dict.fromkeys(("videos", "mp4"), Top("video", None)),
})  # fmt: skip


_RANGE = re.compile(r"(?P<before>.*?)(?P<first>[0-9]{1,9})\.\.(?P<after>.*?)(?P<last>[0-9]{1,9})", re.DOTALL)
_MOST = 1_000_000


def clip_range(text: str) -> tuple[str, ...]:
    """Return the clips of ``mix001..mix079``; raise UsageError if *text* is no range, or runs backwards."""
    match = _RANGE.fullmatch(text)
    if match is None or match["after"] not in (match["before"], ""):
        raise UsageError(f"{clipped(text)} is not a range of clips; write it like mix001..mix079")
    first, last, width = int(match["first"]), int(match["last"]), len(match["first"])
    if not 0 <= last - first < _MOST:
        reason = "it runs backwards" if last < first else f"more than {_MOST:,} clips"
        raise UsageError(f"{clipped(text)} is not a range of clips: {reason}")
    return tuple(f"{match['before']}{number:0{width}d}" for number in range(first, last + 1))


#: What is none of the others.
LOOSE = DatasetSpec(name="loose", title="no known dataset")


def _spec(record: Mapping[str, Any], earlier: Mapping[str, DatasetSpec]) -> DatasetSpec:
    """Return the row of a file; *earlier*: the rows of those before it."""
    labels, tree, sound, video = (record.get(key, {}) for key in ("labels", "tree", "recordings", "video"))
    splits = earlier[tree["splits_of"]].splits if "splits_of" in tree and "splits" not in tree else ()
    for name, split in tree.get("splits", {}).items():
        rooms = {int(room): _numbers(text) for room, text in split.get("rooms", {}).items()}
        splits = (*splits, SplitSpec(name, split["folds"], rooms, split.get("seconds")))
    words = {
        "{fold}_{room}_{mix}": _STARSS,
        "{mix}": _MIX,
        "{rooms}": "|".join(f"fold{min(split.folds)}_room(?:{'|'.join(map(str, split.rooms))})" for split in splits),
        "{validation}": "|".join(word for word, split in WORDS.items() if split == VALIDATION),
    }

    def pattern(text: str) -> str:
        for word, meaning in words.items():
            text = text.replace(word, meaning)
        return text

    signs, label_signs = (
        tuple(Sign(record["name"], **{**sign, "path": pattern(sign["path"])}) for sign in tree.get(key, ()))
        for key in ("signs", "label_signs")
    )
    label_formats = [format["name"] for format in record.get("formats", ()) if format["role"] == "label"]
    tops = tree.get("tops", {})
    fields = DatasetSpec.__dataclass_fields__.keys()
    called_alike = {key: table[key] for table in (record, labels, tree, sound) for key in fields & table.keys()}
    differing: dict[str, Any] = {
        "usual": tuple(tree.get("folders", ())),
        "dialects": tuple(labels.get("formats") or label_formats),
        "signs": signs,
        "label_signs": label_signs,
        "clip": pattern(tree["clip"]) if "clip" in tree else None,
        "mix": pattern(tree["evaluation_clip"]) if "evaluation_clip" in tree else None,
        "tops": _DCASE if tops == "challenge" else {name: Top(**top) for name, top in tops.items()},
        "splits": splits,
        "kinds": {int(fold): kind for fold, kind in tree.get("kinds", {}).items()},
        "evaluation": frozenset(clip_range(tree["evaluation"]) if "evaluation" in tree else ()),
        "without_video": frozenset(clip_range(tree["without_video"]) if "without_video" in tree else ()),
        "picture": tuple(video["size"]) if "size" in video else None,
        "pictures": Fraction(video["rate"]) if "rate" in video else None,
    }
    return DatasetSpec(**called_alike | differing)


def _numbers(text: str) -> tuple[int, ...]:
    runs = (run.partition("-") for run in text.split(","))
    return tuple(number for first, _, last in runs for number in range(int(first), int(last or first) + 1))


#: The files of all datasets; those from outside are checked.
RECORDS = plugins.datasets()
_ROWS: dict[str, DatasetSpec] = {}
for _record in RECORDS:
    if "place" in _record:
        from seldio.schema.dataset_file import check

        check(_record, [record for record in RECORDS if "place" not in record])
    if "title" in _record:  # others hold formats alone
        try:
            _ROWS[_record["name"]] = _spec(_record, _ROWS)
        except (LookupError, ValueError) as error:  # folds and rooms that are no numbers, splits of an unknown dataset
            raise UsageError(f"{_record['place']}: tree: cannot be read: {error}") from None
#: Every dataset; of signs of one rank, those of the first row count.
DATASETS: tuple[DatasetSpec, ...] = (*_ROWS.values(), LOOSE)
#: The signs of all trees in the order in which they are looked for.
TREE_SIGNS: Sequence[Sign] = sorted((sign for row in DATASETS for sign in row.signs), key=lambda sign: sign.rank)
#: Those whose clips are counted, by name.
COUNTED = {row.name: row for row in DATASETS if row.counted}
#: Names of folders that say what is in them.
TOPS: frozenset[str] = frozenset(PLAIN).union(*(row.tops for row in DATASETS))
#: Those that hold recordings.
AUDIO: frozenset[Field] = frozenset({"foa", "mic", "stereo", "audio"})


def dataset(name: str) -> DatasetSpec:
    """Return the row called *name*."""
    return next(row for row in DATASETS if row.name == name)


def counted(dialect: str, clip: str) -> DatasetSpec | None:
    """Return the dataset with a recording called as *clip* is, below any folders, and labels in this dialect."""
    stem = clip.rpartition("/")[2]
    return next((row for row in COUNTED.values() if dialect in row.dialects and stem in row.recordings), None)


def of_dialect(name: str) -> list[DatasetSpec]:
    """Return the datasets whose labels are laid out in the dialect *name*."""
    return [row for row in DATASETS if name in row.dialects]


def named_split(path: str, dialect: str = "") -> str:
    """Return the split of a clip: as its folder is called, else as its dataset calls that of its room, else empty.

    Args:
        path: of one of its files.
        dialect: of its labels; recordings of any dataset without.

    >>> [named_split(path) for path in ("metadata_dev/dev-test-tau/a.csv", "fold3_room21_mix001.csv", "a.csv")]
    ['dev-test-tau', 'dev-train-sony', '']
    """
    *folders, _ = path.replace("\\", "/").split("/")
    for folder in reversed(folders):
        words = folder.split("-")
        if is_name("-".join(words[:2])) and len(words) <= 3:  # dev-test-sony
            return folder
    stem = without_suffixes(path)
    for row in (of_dialect(dialect) if dialect else ()) or DATASETS:
        named = row.named("dev", stem)
        if named is not None and (split := row.split_of(named.fold, named.room)):
            return split
    return ""


# --- names for lists of clips ----------------------------------------------------------------------


def expected_clips(name: str, split: str) -> frozenset[str]:
    """Return the clips of a dataset, for ``--reference starss23:dev-test``.

    Args:
        name: of a dataset whose clips are counted: ``starss23`` or ``starss22``.
        split: a split (``dev-test-tau``), the splits that begin alike (``dev-test``, ``dev``), or ``eval``.

    Raises:
        UsageError: no such dataset or split is known.
    """
    if name not in COUNTED:
        raise UsageError(f"no clip list for {clipped(name)}; choose from {', '.join(COUNTED)}")
    row = COUNTED[name]
    lists = {part.name: part.clips for part in row.splits}
    if row.evaluation:
        lists["eval"] = row.evaluation
    chosen = [clips for part, clips in lists.items() if part == split or part.startswith(f"{split}-")]
    if not chosen:
        shorter = ["dev", "dev-train", "dev-test"]
        raise UsageError(f"unknown split {clipped(split)} of {name}; choose from {', '.join([*shorter, *lists])}")
    return frozenset[str]().union(*chosen)
