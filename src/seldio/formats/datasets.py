"""The datasets that seldio knows: one row each, with all that is known of one.

Folders and counts are those of the published datasets: STARSS from the lists that Sony's 2023 baseline
ships (``list_dataset/*.txt``), the others from the official baselines' loaders.

A new year is one more row here, and one in ``dialects.py`` where its files are laid out in a new way; a row
can also stand in a folder outside the package (docs/extending.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from seldio import plugins
from seldio.clock import NTSC
from seldio.errors import UsageError
from seldio.schema.splits import TEST, TRAIN, VALIDATION, WORDS, is_name
from seldio.text import clipped

Field = Literal["foa", "mic", "stereo", "audio", "metadata", "video"]
Set = Literal["dev", "eval"]


class TreeSign(NamedTuple):
    """What the path of a file says about the dataset: *weight* for this one, with the *sentence* that explains it.

    A file is evidence for the dataset whose sign is found first; signs of a lower *rank* are looked for first.
    """

    pattern: str
    weight: float
    sentence: str
    rank: int = 0


class LabelSign(NamedTuple):
    """What the paths of label files say about their layout: *points* for the layouts whose names match *dialects*."""

    pattern: str
    dialects: str
    points: float
    sentence: str


class Top(NamedTuple):
    """What a top folder holds; *group* separates files of the same name that are not one clip."""

    field: Field
    set: Set | None
    group: str = ""


class Named(NamedTuple):
    """What a file name says, and how the dataset would spell it."""

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
    """A split: its name, which is its folder's, its folds and the recordings of its rooms."""

    name: str
    folds: frozenset[int]
    rooms: Mapping[int, Iterable[int]] = field(default_factory=dict)

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
    """A challenge year or dataset.

    Args:
        name: as in ``Clip.layout``.
        title: for people.
        usual: names of the folders that people unpack it to.
        dialects: the layouts of its labels.
        profile: the way its labels are scored, where that is not the usual one.
        signs: the evidence for it in the paths of a tree.
        label_signs: the evidence for its layouts in the paths of label files.
        edition: for a tree with these signs, the exact dataset and why, from its root and paths.
        clip: names of development clips; None: any name will do.
        mix: names of evaluation clips; None: any name will do.
        example: a clip name.
        tops: the folders that tell what is below them.
        splits: the splits of the development set.
        depth: folders between a top folder and the development recordings.
        below_eval: folders that the official code wants between ``…_eval`` and the recordings.
        kinds: the kind of split that each fold belongs to.
        synthetic: folds that are not recorded, and may be in folders of any name.
        evaluation: the clips of the evaluation set, where they are counted.
        secret: whether labels of the evaluation set were never published.
        counted: whether the files are exactly the clips of the splits.
        without_video: recordings that never had a video.
        known_gaps: that, as a sentence.
        rate: frames per second of its recordings.
        subtype: libsndfile's name of their sample format, where the dataset's own page tells it.
        picture: width and height of its videos.
        pictures: how many of them there are in a second.
    """

    name: str
    title: str
    usual: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    profile: str | None = None
    signs: tuple[TreeSign, ...] = ()
    label_signs: tuple[LabelSign, ...] = ()
    edition: Callable[[str, Sequence[str]], tuple[str, str]] | None = None
    clip: re.Pattern[str] | None = None
    mix: re.Pattern[str] | None = None
    example: str = ""
    tops: Mapping[str, Top] = field(default_factory=dict)
    splits: tuple[SplitSpec, ...] = ()
    depth: int = 0
    below_eval: Literal["none", "any", "eval"] = "none"
    kinds: Mapping[int, str] = field(default_factory=dict)
    synthetic: frozenset[int] = frozenset()
    evaluation: frozenset[str] = frozenset()
    secret: bool = False
    counted: bool = False
    without_video: frozenset[str] = frozenset()
    known_gaps: str = ""
    rate: int | None = None
    subtype: str | None = None
    picture: tuple[int, int] | None = None
    pictures: Fraction | None = None

    @cached_property
    def recordings(self) -> frozenset[str]:
        """The recordings of the development set."""
        return frozenset[str]().union(*(split.clips for split in self.splits))

    @cached_property
    def folders(self) -> frozenset[str]:
        """The splits, and their kinds: the task asks to join sony and tau, and some do so on disk."""
        return frozenset(split.name for split in self.splits) | frozenset(self.kinds.values())

    @cached_property
    def _split_of_room(self) -> Mapping[int, str]:
        return {room: split.name for split in self.splits for room in split.rooms}

    def split_of(self, fold: int | None, room: int | None) -> str | None:
        """The split that the dataset keeps this room of this fold in."""
        for split in self.splits:
            if fold in split.folds and (not split.rooms or room in split.rooms):
                return split.name
        return None

    def misplaced(self, split: str, named: Named) -> str | None:
        """Why a clip cannot be in the folder *split*; None if it can."""
        kind, rightful = kind_of(split), self.kinds.get(named.fold if named.fold is not None else -1)
        made = named.fold in self.synthetic
        if kind and rightful and kind != rightful and (split in self.folders or not made):
            return f"fold {named.fold} belongs to {rightful}"
        owner = self._split_of_room.get(named.room if named.room is not None else -1)
        known = split in self.folders and split != kind
        if known and not made and owner is not None and owner != split:
            return f"room {named.room} belongs to {owner}"
        return None

    def named(self, set: Set | None, stem: str) -> Named | None:
        """What *stem* says; None if no clip of this dataset is called so, or nearly so."""
        pattern = self.mix if set == "eval" else self.clip
        if pattern is None:
            return None
        if match := pattern.fullmatch(stem):
            return _named(stem, match)
        near = _NEARLY_MIX.fullmatch(stem) if set == "eval" else _NEARLY.fullmatch(stem)
        if near is None or pattern not in (_STARSS, _MIX):
            return None
        mix = f"mix{int(near['mix']):03d}"
        return _named(mix if set == "eval" else f"fold{near['fold']}_room{near['room']}_{mix}", near)


def _named(clip: str, match: re.Match[str]) -> Named:
    numbers = {name: int(digits) for name, digits in match.groupdict().items() if digits is not None}
    return Named(clip, numbers.get("fold"), numbers.get("room"), numbers.get("mix"))


_PART = re.compile(r"dev-([a-z]+)(?:-.+)?")
_KINDS_OF = {TRAIN: "dev-train", VALIDATION: "dev-val", TEST: "dev-test"}


def kind_of(split: str) -> str | None:
    """``dev-train`` of ``dev-train-sony``, ``dev-val`` of ``dev-valid``; None if *split* is called otherwise."""
    match = _PART.fullmatch(split)
    return _KINDS_OF.get(WORDS.get(match[1], "")) if match else None


_THREE = r"mix(?P<mix>[0-9]{3}|[1-9][0-9]{3,5})"
_FOLD_ROOM = rf"fold(?P<fold>0|[1-9][0-9]{{0,2}})_room(?P<room>0|[1-9][0-9]{{0,3}})_{_THREE}"
_STARSS = re.compile(_FOLD_ROOM)
_MIX = re.compile(_THREE)
_COPY = r"(?: ?\([0-9]{1,3}\)|[ _-]+copy)?"
_NEARLY = re.compile(
    r"fold[ _.-]?0*(?P<fold>[0-9]{1,3})[ _.-]?room[ _.-]?0*(?P<room>[0-9]{1,4})"
    rf"[ _.-]?mix[ _.-]?(?P<mix>[0-9]{{1,6}}){_COPY}",
    re.IGNORECASE,
)
_NEARLY_MIX = re.compile(rf"mix[ _.-]?(?P<mix>[0-9]{{1,6}}){_COPY}", re.IGNORECASE)

_FIELDS: tuple[Field, ...] = ("foa", "mic", "stereo", "metadata", "video")
_SETS: tuple[Set, ...] = ("dev", "eval")
_DCASE = MappingProxyType({f"{name}_{part}": Top(name, part) for name in _FIELDS for part in _SETS})
_SCAPER: Mapping[str, Top] = MappingProxyType({
    "foa": Top("foa", None, "foa"), "foa_labels": Top("metadata", None, "foa"),
    "mic": Top("mic", None, "mic"), "mic_labels": Top("metadata", None, "mic"),
})  # fmt: skip
#: Folders that tell what is in them where no dataset does.
PLAIN: Mapping[str, Top] = MappingProxyType({
    **{name: Top(name, None) for name in _FIELDS},
    **dict.fromkeys(("audio", "wav", "recordings"), Top("audio", None)),
    **dict.fromkeys(("labels", "csv", "annotations"), Top("metadata", None)),
    **dict.fromkeys(("videos", "mp4"), Top("video", None)),
})  # fmt: skip


def _starss(newer: bool) -> tuple[SplitSpec, ...]:
    """The splits of STARSS23, or without its new rooms those of STARSS22."""
    train, test = frozenset({3}), frozenset({4})
    train_tau = {4: (1, *range(4, 9)), 6: range(1, 8), 7: range(1, 7), 9: range(1, 9)}  # no mix002, mix003
    test_tau = {2: range(1, 7), 8: range(1, 10), 10: range(1, 10)}
    if newer:
        train_tau |= {12: range(1, 11), 13: range(1, 10), 14: range(1, 5)}
        test_tau |= {15: range(1, 11), 16: range(1, 15)}
    return (
        SplitSpec("dev-train-sony", train, {21: range(1, 30), 22: range(1, 12)}),
        SplitSpec("dev-train-tau", train, train_tau),
        SplitSpec("dev-test-sony", test, {23: range(1, 15), 24: range(1, 17)}),
        SplitSpec("dev-test-tau", test, test_tau),
    )


_TRAIN, _VAL, _TEST = "dev-train", "dev-val", "dev-test"
_KINDS = {1: _TRAIN, 2: _TRAIN, 3: _TRAIN, 4: _TEST}
_WITHOUT_VIDEO = frozenset(f"fold3_room21_mix{mix:03d}" for mix in range(1, 13))
_UNFILMED = "STARSS23 has no video of fold3_room21_mix001 to mix012"
_IN_2020 = tuple(SplitSpec(name, frozenset(f)) for name, f in ((_TRAIN, (3, 4, 5, 6)), (_VAL, (2,)), (_TEST, (1,))))
_IN_2021 = tuple(SplitSpec(name, frozenset(f)) for name, f in ((_TRAIN, (1, 2, 3, 4)), (_VAL, (5,)), (_TEST, (6,))))
_ROOMS = "|".join(f"fold{min(split.folds)}_room(?:{'|'.join(map(str, split.rooms))})" for split in _starss(True))
_VALID = "|".join(word for word, split in WORDS.items() if split == VALIDATION)

_EDITION = re.compile(r"starss[-_ ]?(2[23])|dcase[-_ ]?(?:20)?(2[234])", re.IGNORECASE)
_NEWER = re.compile(r"(fold3_room1[234]|fold4_room1[56])_mix|(^|/)video_(dev|eval)/", re.IGNORECASE)
#: This many of the 51 recordings from Tampere in STARSS22, and none of the later rooms: it is STARSS22.
_MOST_TAU = 20


def _starss_edition(root: str, paths: Sequence[str]) -> tuple[str, str]:
    """STARSS23, or the part of it that is STARSS22."""
    if any(_NEWER.search(path) for path in paths):
        return "starss23", "rooms 12 to 16 or video, which STARSS22 does not have"
    if said := [*_EDITION.finditer(f"{root}/{paths[0]}")]:
        edition = "starss22" if "22" in said[-1].groups() else "starss23"
        return edition, f"{said[-1][0]} in the path"
    names = {path.rpartition("/")[2].rpartition(".")[0] for path in paths}
    tau = frozenset[str]().union(*(split.clips for split in _starss(False) if split.name.endswith("tau")))
    if len(names & tau) >= _MOST_TAU:
        return "starss22", "nothing from rooms 12 to 16, which STARSS23 added"
    return "starss23", "STARSS22 is part of it"


#: What is none of the others.
LOOSE = DatasetSpec(name="loose", title="no known dataset")

#: What most of the challenge's sets have in common.
_SHARED: dict[str, Any] = {"tops": _DCASE, "depth": 1, "rate": 24_000}
#: What the sets of STARSS recordings have in common.
_RECORDINGS: dict[str, Any] = {**_SHARED, "kinds": _KINDS, "synthetic": frozenset({1, 2}), "secret": True}

#: Every dataset; of signs of one rank, those of the first row count.
DATASETS: tuple[DatasetSpec, ...] = (
    DatasetSpec(
        name="dcase2025", title="the DCASE 2025 stereo set", usual=("DCASE2025", "DCASE2025_SELD_dataset"),
        dialects=("dcase2025",), profile="dcase2025",
        signs=(TreeSign(r"_mix\d+_deg-?\d+_start\d+\.|(^|/)stereo_(dev|eval)/", 1, "2025 clip names or folders"),),
        label_signs=(LabelSign(r"room\d+_mix\d+_deg\d+_start\d+", r"dcase2025", 3, "2025 file names"),),
        clip=re.compile(_FOLD_ROOM + r"_deg-?[0-9]+_start[0-9]+"), example="fold3_room12_mix001_deg359_start2246",
        splits=_starss(True), below_eval="eval", without_video=_WITHOUT_VIDEO, known_gaps=_UNFILMED, **_RECORDINGS,
    ),
    DatasetSpec(
        name="dcase2020", title="TAU-NIGENS Spatial Sound Events 2020", usual=("TAU-NIGENS2020", "DCASE2020"),
        dialects=("dcase2020",),
        signs=(TreeSign(r"(^|/)fold\d+_room\d+_mix\d+_ov\d\.", 1, "2020 clip names (…_ov1)"),),
        label_signs=(
            LabelSign(r"fold\d_room\d_mix\d+_ov\d\.", r"dcase2020.*", 3, "2020 file names (…_ov1)"),
            LabelSign(r"(?i)dcase-?2020|nigens", r"dcase2020.*", 2, "2020 in the path"),
        ),
        clip=re.compile(_FOLD_ROOM + r"_ov[12]"), mix=_MIX, example="fold1_room1_mix001_ov1",
        tops=_DCASE, splits=_IN_2020, rate=24_000,
    ),
    DatasetSpec(
        name="dcase2019", title="TAU Spatial Sound Events 2019", usual=("TAU-SSE2019", "DCASE2019"),
        dialects=("dcase2019",),
        signs=(TreeSign(r"(^|/)split\d_(ir\d_ov\d_)?\d+\.", 1, "2019 clip names (split…)"),),
        label_signs=(
            LabelSign(r"split\d_ir\d_ov\d_\d+\.", r"dcase2019.*", 3, "2019 file names"),
            LabelSign(r"(?i)dcase-?2019|tau-sse", r"dcase2019.*", 2, "2019 in the path"),
        ),
        clip=re.compile(r"split(?P<fold>[0-9])_ir(?P<room>[0-9])_ov[12]_(?P<mix>[0-9]{1,4})"),
        mix=re.compile(r"split(?P<fold>0)_(?P<mix>[0-9]{1,4})"), example="split1_ir0_ov1_1", tops=_DCASE, rate=48_000,
    ),
    DatasetSpec(
        name="spatialscaper", title="SpatialScaper output", dialects=("spatialscaper",), tops=_SCAPER,
        signs=(TreeSign(r"(^|/)(foa|mic)_labels/|_fmt-(foa|mic)_seed-", 1, "foa_labels or mic_labels"),),
        label_signs=(LabelSign(r"_fmt-(foa|mic)_seed-\d+", r"spatialscaper", 3, "SpatialScaper file names"),),
    ),
    DatasetSpec(
        name="starss23", title="STARSS23", usual=("STARSS23", "starss23", "STARSS2023"), dialects=("starss23",),
        signs=(
            TreeSign(r"(^|/)dev-(train|test)-(sony|tau)/", 1, "split folders for sony and tau"),
            TreeSign(r"(^|/)dev-test/fold4_room\d+_mix", 100, "fold 4 in dev-test"),
            TreeSign(rf"_dev/([\w-]+/)?({_ROOMS})_mix\d{{3}}", 1, "folds and rooms of STARSS23"),
            TreeSign(rf"(^|/)dev-[\w-]+/({_ROOMS})_mix\d{{3}}", 1, "rooms of STARSS23 in split folders"),
            TreeSign(r"(^|/)(foa|mic|metadata|video)_(dev|eval)/", 0.5, "folders foa_…, mic_…, metadata_…", 2),
            TreeSign(r"(^|/)dev-(train|test)-", 0.5, "split folders dev-train-… and dev-test-…", 2),
            TreeSign(rf"(^|/)({_ROOMS})_mix\d{{3}}\.", 0.01, "clip names of STARSS23", 2),
        ),
        label_signs=(
            LabelSign(r"dev-(train|test)-(sony|tau)", r"starss2.", 1, "STARSS split folders"),
            LabelSign(r"(?i)starss-?23", r"starss23|dcase202[34]-.*", 1, "STARSS23 in the path"),
        ),
        edition=_starss_edition, clip=_STARSS, mix=_MIX, example="fold3_room4_mix001", splits=_starss(True),
        evaluation=frozenset(f"mix{mix:03d}" for mix in range(1, 80)), counted=True, below_eval="any",
        without_video=_WITHOUT_VIDEO, known_gaps=_UNFILMED, subtype="PCM_16", picture=(1920, 960), pictures=NTSC,
        **_RECORDINGS,
    ),
    DatasetSpec(
        name="starss22", title="STARSS22", usual=("STARSS22", "starss22", "STARSS2022"), dialects=("starss22",),
        label_signs=(
            LabelSign(r"(?i)starss-?22", r"starss22", 1, "STARSS22 in the path"),
            LabelSign(r"(?i)dcase-?2022", r"starss22|dcase2023-submission|dcase2020-output", 1, "2022 in the path"),
        ),
        clip=_STARSS, mix=_MIX, example="fold3_room4_mix001", splits=_starss(False), counted=True, below_eval="any",
        subtype="PCM_16", **_RECORDINGS,
    ),
    DatasetSpec(
        name="dcase2021", title="TAU-NIGENS Spatial Sound Events 2021", usual=("TAU-NIGENS2021", "DCASE2021"),
        dialects=("dcase2020",),
        signs=(
            TreeSign(rf"(^|/)dev-({_VALID}|test)/fold[56]_room\d+_mix", 100, "folds 5 and 6 in 2021 split folders"),
            TreeSign(rf"(^|/)dev-(train|{_VALID})/fold\d_room\d+_mix|_eval/eval-test/", 1, "2021 split folders", 1),
        ),
        label_signs=(
            LabelSign(r"dev-(train|val|test)/", r"dcase2020", 1, "2021 split folders"),
            LabelSign(r"(?i)dcase-?2021", r"dcase2020.*", 2, "2021 in the path"),
        ),
        clip=_STARSS, mix=_MIX, example="fold1_room1_mix001", splits=_IN_2021, below_eval="any",
        kinds={fold: split.name for split in _IN_2021 for fold in split.folds}, **_SHARED,
    ),
    DatasetSpec(
        name="dcase2026", title="the DCASE 2026 set", usual=("DCASE2026", "dcase2026"), dialects=("dcase2026",),
        profile="dcase2026",
    ),
    DatasetSpec(
        name="so-dataset", title="SO-Dataset", usual=("SO-Dataset", "so-dataset"), dialects=("so-dataset",),
        label_signs=(LabelSign(r"foa_[0-9a-f]{20}", r"so-dataset", 4, "SO-Dataset file names"),),
    ),
    *plugins.rows("datasets", DatasetSpec),
    LOOSE,
)  # fmt: skip
#: The signs of all trees in the order in which they are looked for, each with the name of its dataset.
TREE_SIGNS: tuple[tuple[re.Pattern[str], TreeSign, str], ...] = tuple(
    (re.compile(sign.pattern, re.IGNORECASE), sign, row.name)
    for sign, row in sorted(((sign, row) for row in DATASETS for sign in row.signs), key=lambda pair: pair[0].rank)
)
#: Those whose clips are counted, by name.
COUNTED = {row.name: row for row in DATASETS if row.counted}
#: Names of folders that say what is in them.
TOPS: frozenset[str] = frozenset(PLAIN).union(*(row.tops for row in DATASETS))
#: Those that hold recordings.
AUDIO: frozenset[Field] = frozenset({"foa", "mic", "stereo", "audio"})
AUDIO_TOPS = frozenset(
    name for tops in (PLAIN, *(row.tops for row in DATASETS)) for name, top in tops.items() if top.field in AUDIO
)


def dataset(name: str) -> DatasetSpec:
    """The row called *name*."""
    return next(row for row in DATASETS if row.name == name)


def of_dialect(name: str) -> list[DatasetSpec]:
    """The datasets whose labels are laid out in the dialect *name*."""
    return [row for row in DATASETS if name in row.dialects]


def named_split(path: str, dialect: str = "") -> str:
    """The split of a clip as its folder is called, or else as its dataset calls that of its room; empty if neither.

    Args:
        path: of one of its files.
        dialect: of its labels; recordings of any dataset without.

    >>> [named_split(path) for path in ("metadata_dev/dev-test-tau/a.csv", "fold3_room21_mix001.csv", "a.csv")]
    ['dev-test-tau', 'dev-train-sony', '']
    """
    *folders, last = path.replace("\\", "/").split("/")
    for folder in reversed(folders):
        words = folder.split("-")
        if is_name("-".join(words[:2])) and len(words) <= 3:  # dev-test-sony
            return folder
    stem = last.partition(".")[0]
    for row in (of_dialect(dialect) if dialect else ()) or DATASETS:
        named = row.named("dev", stem)
        if named is not None and (split := row.split_of(named.fold, named.room)):
            return split
    return ""


# --- names for lists of clips ----------------------------------------------------------------------

_RANGE = re.compile(r"(?P<before>.*?)(?P<first>[0-9]{1,9})\.\.(?P<after>.*?)(?P<last>[0-9]{1,9})", re.DOTALL)
_MOST = 1_000_000


def expected_clips(name: str, split: str) -> frozenset[str]:
    """The clips of a dataset, for ``--reference starss23:dev-test``.

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


def clip_range(text: str) -> tuple[str, ...]:
    """The clips from one to another: ``mix001..mix079``.

    Raises:
        UsageError: *text* is not a range, or it runs backwards.
    """
    match = _RANGE.fullmatch(text)
    if match is None or match["after"] not in (match["before"], ""):
        raise UsageError(f"{clipped(text)} is not a range of clips; write it like mix001..mix079")
    first, last, width = int(match["first"]), int(match["last"]), len(match["first"])
    if not 0 <= last - first < _MOST:
        reason = "it runs backwards" if last < first else f"more than {_MOST:,} clips"
        raise UsageError(f"{clipped(text)} is not a range of clips: {reason}")
    return tuple(f"{match['before']}{number:0{width}d}" for number in range(first, last + 1))
