"""The data set trees that seldio knows: one row each, and the clips they are made of.

Folders and counts are those of the published data sets: STARSS from the lists that Sony's 2023 baseline
ships (``list_dataset/*.txt``), the others from the official baselines' loaders.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from seldio.errors import UsageError
from seldio.schema.splits import TEST, TRAIN, VALIDATION, WORDS
from seldio.text import clipped

Field = Literal["foa", "mic", "stereo", "audio", "metadata", "video"]
Set = Literal["dev", "eval"]


class Top(NamedTuple):
    """What a top folder holds; *group* keeps apart what bears one name and is no one clip."""

    field: Field
    set: Set | None
    group: str = ""


class Named(NamedTuple):
    """What a file name says, and how the data set would spell it."""

    clip: str
    fold: int | None
    room: int | None
    mix: int | None


@dataclass(frozen=True)
class Split:
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


@dataclass(frozen=True)
class Layout:
    """A row of the table.

    Args:
        name: as in ``Clip.layout``.
        title: for people.
        clip: names of development clips; None: any name will do.
        mix: names of evaluation clips; None: any name will do.
        tops: the folders that tell what is below them.
        splits: the splits of the development set.
        depth: folders between a top folder and the development recordings.
        below_eval: folders that the official code wants between ``…_eval`` and the recordings.
        kinds: the kind of split that each fold belongs to.
        synthetic: folds that are not recorded, and may be in folders of any name.
        evaluation: the clips of the evaluation set, where they are counted.
        secret: whether labels of the evaluation set were never published.
        counted: whether the files are exactly the clips of the splits.
        without_video: clips that never had a video.
        example: a clip name.
    """

    name: str
    title: str
    clip: re.Pattern[str] | None = None
    mix: re.Pattern[str] | None = None
    tops: Mapping[str, Top] = field(default_factory=dict)
    splits: tuple[Split, ...] = ()
    depth: int = 0
    below_eval: Literal["none", "any", "eval"] = "none"
    kinds: Mapping[int, str] = field(default_factory=dict)
    synthetic: frozenset[int] = frozenset()
    evaluation: frozenset[str] = frozenset()
    secret: bool = False
    counted: bool = False
    without_video: frozenset[str] = frozenset()
    example: str = ""

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
        """The split that the data set keeps this room of this fold in."""
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
        """What *stem* says; None if no clip of this data set is called so, or nearly so."""
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
#: Folders that tell what is in them where no data set does.
PLAIN: Mapping[str, Top] = MappingProxyType({
    **{name: Top(name, None) for name in _FIELDS},
    **dict.fromkeys(("audio", "wav", "recordings"), Top("audio", None)),
    **dict.fromkeys(("labels", "csv", "annotations"), Top("metadata", None)),
    **dict.fromkeys(("videos", "mp4"), Top("video", None)),
})  # fmt: skip


def _starss(newer: bool) -> tuple[Split, ...]:
    """The splits of STARSS23, or without its new rooms those of STARSS22."""
    train, test = frozenset({3}), frozenset({4})
    train_tau = {4: (1, *range(4, 9)), 6: range(1, 8), 7: range(1, 7), 9: range(1, 9)}  # no mix002, mix003
    test_tau = {2: range(1, 7), 8: range(1, 10), 10: range(1, 10)}
    if newer:
        train_tau |= {12: range(1, 11), 13: range(1, 10), 14: range(1, 5)}
        test_tau |= {15: range(1, 11), 16: range(1, 15)}
    return (
        Split("dev-train-sony", train, {21: range(1, 30), 22: range(1, 12)}),
        Split("dev-train-tau", train, train_tau),
        Split("dev-test-sony", test, {23: range(1, 15), 24: range(1, 17)}),
        Split("dev-test-tau", test, test_tau),
    )


_TRAIN, _VAL, _TEST = "dev-train", "dev-val", "dev-test"
_RECORDED = {3: _TRAIN, 4: _TEST}
_SYNTHETIC = frozenset({1, 2})
_KINDS = {**dict.fromkeys(_SYNTHETIC, _TRAIN), **_RECORDED}
_WITHOUT_VIDEO = frozenset(f"fold3_room21_mix{mix:03d}" for mix in range(1, 13))
_IN_2020 = tuple(Split(name, frozenset(f)) for name, f in ((_TRAIN, (3, 4, 5, 6)), (_VAL, (2,)), (_TEST, (1,))))
_IN_2021 = tuple(Split(name, frozenset(f)) for name, f in ((_TRAIN, (1, 2, 3, 4)), (_VAL, (5,)), (_TEST, (6,))))

#: Every data set tree. The last one is what is none of the others.
LAYOUTS: tuple[Layout, ...] = (
    Layout(
        "starss23", "STARSS23", _STARSS, _MIX, _DCASE, _starss(True), 1, "any", _KINDS,
        _SYNTHETIC, frozenset(f"mix{mix:03d}" for mix in range(1, 80)), secret=True, counted=True,
        without_video=_WITHOUT_VIDEO, example="fold3_room4_mix001",
    ),
    Layout(
        "starss22", "STARSS22", _STARSS, _MIX, _DCASE, _starss(False), 1, "any", _KINDS,
        _SYNTHETIC, secret=True, counted=True, example="fold3_room4_mix001",
    ),
    Layout(
        "dcase2025", "the DCASE 2025 stereo set",
        re.compile(_FOLD_ROOM + r"_deg-?[0-9]+_start[0-9]+"), None, _DCASE, _starss(True), 1, "eval", _KINDS,
        _SYNTHETIC, secret=True, without_video=_WITHOUT_VIDEO, example="fold3_room12_mix001_deg359_start2246",
    ),
    Layout(
        "dcase2021", "TAU-NIGENS Spatial Sound Events 2021", _STARSS, _MIX, _DCASE, _IN_2021, 1, "any",
        {fold: split.name for split in _IN_2021 for fold in split.folds}, example="fold1_room1_mix001",
    ),
    Layout(
        "dcase2020", "TAU-NIGENS Spatial Sound Events 2020", re.compile(_FOLD_ROOM + r"_ov[12]"), _MIX,
        _DCASE, _IN_2020, example="fold1_room1_mix001_ov1",
    ),
    Layout(
        "dcase2019", "TAU Spatial Sound Events 2019",
        re.compile(r"split(?P<fold>[0-9])_ir(?P<room>[0-9])_ov[12]_(?P<mix>[0-9]{1,4})"),
        re.compile(r"split(?P<fold>0)_(?P<mix>[0-9]{1,4})"), _DCASE, example="split1_ir0_ov1_1",
    ),
    Layout("spatialscaper", "SpatialScaper output", tops=_SCAPER),
    Layout("loose", "no known data set tree"),
)  # fmt: skip


def layout(name: str) -> Layout:
    """The row called *name*."""
    return next(row for row in LAYOUTS if row.name == name)


# --- names for lists of clips ----------------------------------------------------------------------

_RANGE = re.compile(r"(?P<before>.*?)(?P<first>[0-9]{1,9})\.\.(?P<after>.*?)(?P<last>[0-9]{1,9})", re.DOTALL)
_MOST = 1_000_000


def expected_clips(name: str, split: str) -> frozenset[str]:
    """The clips of a data set, for ``--reference starss23:dev-test``.

    Args:
        name: ``starss23`` or ``starss22``.
        split: a split (``dev-test-tau``), the splits that begin alike (``dev-test``, ``dev``), or ``eval``.

    Raises:
        UsageError: no such data set or split is known.
    """
    rows = {row.name: row for row in LAYOUTS if row.counted}
    if name not in rows:
        raise UsageError(f"no clip list of {clipped(name)}; there are those of {', '.join(rows)}")
    row = rows[name]
    lists = {part.name: part.clips for part in row.splits}
    if row.evaluation:
        lists["eval"] = row.evaluation
    chosen = [clips for part, clips in lists.items() if part == split or part.startswith(f"{split}-")]
    if not chosen:
        shorter = ["dev", "dev-train", "dev-test"]
        raise UsageError(f"{name} has no split {clipped(split)}; there are {', '.join([*shorter, *lists])}")
    return frozenset[str]().union(*chosen)


def clip_range(text: str) -> tuple[str, ...]:
    """The clips from one to another: ``mix001..mix079``.

    Raises:
        UsageError: *text* is no range, or it runs backwards.
    """
    match = _RANGE.fullmatch(text)
    if match is None or match["after"] not in (match["before"], ""):
        raise UsageError(f"{clipped(text)} is no range of clips; write it like mix001..mix079")
    first, last, width = int(match["first"]), int(match["last"]), len(match["first"])
    if not 0 <= last - first < _MOST:
        reason = "it runs backwards" if last < first else f"more than {_MOST:,} clips"
        raise UsageError(f"{clipped(text)} is no range of clips: {reason}")
    return tuple(f"{match['before']}{number:0{width}d}" for number in range(first, last + 1))
