"""LAY: names and splits of a dataset tree, where its files are, and which are missing: a finding for each split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import attrgetter
from typing import NamedTuple

from seldio.catalogues.trees import AUDIO, Holding, Tree, TreePlace
from seldio.findings import Finding
from seldio.formats.about import with_address
from seldio.formats.datasets import Field, Set
from seldio.rules import ERROR, WARNING
from seldio.rules.collection import Collection, MakeFinding, by_folder, grouped
from seldio.text import listed, plural, printable

_name = attrgetter("name")


def _file_names(places: Sequence[TreePlace]) -> str:
    return listed([place.file for place in places])


# --- names and places ----------------------------------------------------------------------------------------


def file_type(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    odd: dict[tuple[str, tuple[str, ...]], list[TreePlace]] = {}
    for place in tree.places:
        wanted: tuple[str, ...] = ("csv", "wav", "mp4")
        if place.top is not None:
            wanted = ({"metadata": "csv", "video": "mp4"}.get(place.top.field, "wav"),)
        ours = place.inside and (place.top is None or place.top.set is not None)
        if ours and place.suffix not in wanted and place.is_text:
            odd.setdefault((place.name.rpartition("/")[0], wanted), []).append(place)
    for (folder, wanted), places in sorted(odd.items()):
        types = listed(sorted({f".{place.suffix}" if place.suffix else "no suffix" for place in places}))
        only = " and ".join(f".{suffix}" for suffix in wanted)
        where = printable(folder.rpartition("/")[2]) or "a folder"
        message = f"{plural(len(places), 'file')} of the wrong type ({types}) in {where}, which should hold only {only}"
        yield finding(places, f"{message}: {_file_names(places)}")


def split_depth(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    def away(place: TreePlace) -> tuple[str, bool] | None:
        if not (place.inside and place.set == "dev" and place.field) or len(place.below) == tree.row.depth:
            return None
        top = f"{place.top.field}_dev" if place.top is not None else "the split folder"
        return top, len(place.below) > tree.row.depth

    rightly_filled = {place.top for place in tree.places if place.inside and place.field and away(place) is None}
    for (top, deep), places in sorted(grouped(tree.places, away).items()):
        what = "too deep in" if deep else "outside any split folder, in"
        message = f"{plural(len(places), 'file')} {what} {top}: {_file_names(places)}"
        hint = f"the official code looks {'one folder' if tree.row.depth else 'directly'} below {top}"
        severity = ERROR if deep and places[0].top in rightly_filled else WARNING
        yield finding(places, message, hint, severity=severity)


def clip_name(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    odd = (place for place in tree.places if place.inside and place.field and not place.exact)
    ruled = (place for place in odd if (tree.row.mix if place.set == "eval" else tree.row.clip))
    for places in by_folder(ruled, _name):
        near = places[0].named
        example = "mix001" if places[0].set == "eval" else tree.row.example
        count = plural(len(places), "file is", "files are")
        message = f"{count} not named like the clips of {tree.row.title}: {_file_names(places)}"
        yield finding(places, message, f"did you mean {near.clip}?" if near else f"clips are named like {example}")


# --- splits --------------------------------------------------------------------------------------------------


def _clips(holdings: Sequence[Holding]) -> str:
    return listed(sorted(holding.clip for holding in holdings))


def _files(holdings: Sequence[Holding], split: str) -> list[TreePlace]:
    return [holding.splits.get(split) or next(iter(holding.files.values())) for holding in holdings]


def _split(holding: Holding) -> str | None:
    """Return the split that a clip is in; None if it is in none, or in several."""
    return next(iter(holding.splits)) if len(holding.splits) == 1 else None


def _held(tree: Tree, set: Set) -> list[Holding]:
    return [holding for holding in tree.holdings.values() if holding.inside and holding.set == set]


def wrong_split(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    misplaced: dict[tuple[str, str], list[Holding]] = {}
    for holding in _held(tree, "dev"):
        split = _split(holding)
        if split is not None and (why := tree.row.misplaced(split, holding.named)):
            misplaced.setdefault((split, why), []).append(holding)
    for (split, why), holdings in sorted(misplaced.items()):
        message = f"{plural(len(holdings), 'clip')} in {printable(split)}, but {why}: {_clips(holdings)}"
        yield finding(_files(holdings, split), message)


def clip_in_two_splits(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    twice = (holding for holding in _held(tree, "dev") if len(holding.splits) > 1)
    for splits, holdings in sorted(grouped(twice, lambda holding: tuple(sorted(holding.splits))).items()):
        right = tree.row.split_of(holdings[0].named.fold, holdings[0].named.room)
        wrong = next(split for split in splits if split != right)
        message = f"{plural(len(holdings), 'clip')} in {' and '.join(map(printable, splits))}: {_clips(holdings)}"
        hint = f"{holdings[0].clip} belongs to {right}" if right else "keep one of them"
        yield finding(_files(holdings, wrong), message, hint)


def unknown_clip(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    row, strange = tree.row, dict[str, list[Holding]]()
    for holding in _held(tree, "dev") if row.recordings else ():
        if holding.named.fold in row.synthetic or holding.named.recording in row.recordings:
            continue
        split = _split(holding)
        if split in row.folders and not row.misplaced(split, holding.named):
            strange.setdefault(split, []).append(holding)
    if others := [holding for holding in _held(tree, "eval") if row.evaluation and holding.clip not in row.evaluation]:
        strange.setdefault("eval", []).extend(others)
    for split, holdings in sorted(strange.items()):
        message = f"{plural(len(holdings), 'clip')} in {split} that {row.title} does not have: {_clips(holdings)}"
        yield finding(_files(holdings, split), message)


# --- what is missing -----------------------------------------------------------------------------------------


class Gap(NamedTuple):
    """The clips of a split that lack something, among *total* that should have it."""

    split: str
    clips: list[Holding]
    total: int

    def __str__(self) -> str:
        every = "all " if len(self.clips) == self.total > 1 else ""
        where = f" of {printable(self.split)}" if self.split else ""
        names = listed([holding.clip for holding in self.clips])
        return f"{every}{plural(len(self.clips), 'recording')}{where}: {names}"

    def files(self, has: Iterable[Field]) -> list[TreePlace]:
        """Return the existing files of its clips."""
        wanted = tuple(has)
        return [next(held.files[field] for field in wanted if field in held.files) for held in self.clips]


def _gaps(tree: Tree, set: Set, has: AbstractSet[Field], lacks: AbstractSet[Field]) -> Iterator[Gap]:
    """Yield the clips by split that have a file of *has* and none of *lacks*.

    Only partial absence is a gap: a set without any file of *lacks* has no gaps, nor has a split that the user
    created.
    """
    held = _held(tree, set)
    if not any(clip.files.keys() & lacks for clip in held):
        return
    having = (clip for clip in held if clip.files.keys() & has)
    for split, clips in sorted(grouped(having, lambda clip: clip.split or "").items()):
        gap = sorted((c for c in clips if not c.files.keys() & lacks), key=lambda c: c.clip)
        promised = split in ("", "eval") or split in tree.row.folders
        if gap and (promised or len(gap) < len(clips)):
            yield Gap(split, gap, len(clips))


def recording_without_labels(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    for gap in _gaps(tree, "dev", AUDIO, {"metadata"}):
        where = f"metadata_dev/{gap.split}/" if gap.split else "metadata_dev/"
        hint = f"expected {printable(where)}{printable(gap.clips[0].clip)}.csv"
        yield finding(gap.files(AUDIO), f"no labels for {gap}", hint)


#: Of a set, the files that clips have and those that they need, and what clips without them are.
_NEEDED: tuple[tuple[Set, AbstractSet[Field], AbstractSet[Field], str], ...] = (
    ("dev", {"metadata", "video"}, AUDIO, "labels or video without a recording"),
    ("eval", {"video"}, AUDIO, "video without a recording"),
    ("dev", {"foa"}, {"mic"}, "FOA without MIC"),
    ("dev", {"mic"}, {"foa"}, "MIC without FOA"),
    ("eval", {"foa"}, {"mic"}, "FOA without MIC"),
    ("eval", {"mic"}, {"foa"}, "MIC without FOA"),
    ("dev", AUDIO, {"video"}, "no video"),
    ("eval", AUDIO, {"video"}, "no video"),
)


def recording_missing(_: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    for set, has, lacks, what in _NEEDED:
        for gap in _gaps(tree, set, has, lacks):
            hint = f"expected in {min(lacks)}_{set}/"
            if lacks == AUDIO:
                hint = with_address("download or unpack the recordings again", tree.layout)
            elif lacks == {"video"}:
                gap = gap._replace(clips=[c for c in gap.clips if c.named.recording not in tree.row.without_video])
                if not gap.clips:
                    continue
                hint = f"expected video_{set}/…/{printable(gap.clips[0].clip)}.mp4"
            yield finding(gap.files(sorted(has)), f"{what} for {gap}", hint)


class _Count:
    def __init__(self, split: str, clips: AbstractSet[str], present: AbstractSet[str]) -> None:
        self.split, self.total, self.missing = split, len(clips), sorted(clips - present)
        self.there = self.total - len(self.missing)
        #: whether so few clips are missing that it looks complete
        self.nearly = 0 < len(self.missing) <= max(1, self.total // 10) and self.there > 0
        #: whether a large part of it is missing
        self.part = bool(self.missing) and not self.nearly


def _counts(collection: Collection, tree: Tree) -> list[_Count]:
    """Return how much of each split is present, for datasets whose clips are counted."""
    if not tree.row.counted or collection.submitted:
        return []
    dev = {clip for (set, clip) in tree.holdings if set == "dev"}
    tested = {clip for (set, clip) in tree.holdings if set == "eval"}
    counts = [_Count(split.name, split.clips, dev) for split in tree.row.splits]
    return [*counts, _Count("eval", tree.row.evaluation, tested)]


def clip_missing(collection: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    for count in _counts(collection, tree):
        if count.nearly:
            missing = f"{listed(count.missing)} {'is' if len(count.missing) == 1 else 'are'} missing"
            hint = with_address(f"{tree.row.title} has {count.total}", tree.layout)
            message = f"{count.split} has {count.there} of {count.total} clips: {missing}"
            yield finding(collection.path, message, hint)


def part_of_data_set(collection: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    *dev, evaluation = _counts(collection, tree) or [_Count("eval", set(), set())]
    parts = [count for count in dev if count.part]
    shown = any(place.inside and "/" in place.name for place in tree.places)
    parts = parts if shown and any(count.there for count in dev) else []
    if evaluation.part and evaluation.there:
        parts.append(evaluation)
    if parts:
        counted = ", ".join(f"{part.there or 'none'} of {part.total} clips of {part.split}" for part in parts)
        hint = with_address("fine if intended, else download the rest", tree.layout)
        yield finding(collection.path, f"part of {tree.row.title}: {counted}", hint)


def splits_contradict(collection: Collection, tree: Tree, finding: MakeFinding) -> Iterator[Finding]:
    for described in collection.own.datasets if collection.own else ():
        paths = {clip.clip: next(iter(clip.files.values())) for clip in tree.clips}
        for reading, part in collection.parts:
            if reading.format.clips_by == "rows":
                paths[part.origin.clip] = part.origin.name
        clips = {clip: path for clip, path in paths.items() if path.startswith(described.folder)}
        splits_of = {clip: tuple(described.splits(path)) for clip, path in clips.items()}
        several = [clip for clip, splits in splits_of.items() if len(splits) > 1]
        for splits, twice in grouped(several, splits_of.__getitem__).items():
            message = f"{plural(len(twice), 'clip')} in {' and in '.join(splits)}: {listed(twice)}"
            hint = "a clip is in one split: do not test on what was trained on"
            yield finding(described.path, message, hint, **described.place(splits[1])._asdict())
        for split in described.record.get("splits", {}) if not described.below else ():
            if missing := sorted(described.clips(split) - clips.keys()):
                message = f"{plural(len(missing), 'clip')} of {split} missing: {listed(missing)}"
                hint = "add them, or take them from the list"
                yield finding(described.path, message, hint, **described.place(split)._asdict())


LAYOUT_RULES = (
    file_type,
    split_depth,
    clip_name,
    wrong_split,
    clip_in_two_splits,
    unknown_clip,
    recording_without_labels,
    recording_missing,
    clip_missing,
    part_of_data_set,
    splits_contradict,
)
