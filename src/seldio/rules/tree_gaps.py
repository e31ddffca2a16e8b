"""LAY: what is missing from a dataset tree; one finding per split, however many clips."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from seldio.catalogues.trees import AUDIO, Holding, Tree, TreePlace
from seldio.findings import Finding
from seldio.formats.about import with_address
from seldio.formats.datasets import Field
from seldio.rules.collection import Collection, Found, grouped
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.text import listed, plural, printable


class Gap(NamedTuple):
    """The clips of a split that lack something, among *total* that should have it."""

    split: str
    clips: list[Holding]
    total: int

    def __str__(self) -> str:
        every = "all " if len(self.clips) == self.total > 1 else ""
        where = f" of {printable(self.split)}" if self.split else ""
        return f"{every}{plural(len(self.clips), 'recording')}{where}"

    @property
    def names(self) -> str:
        """The first few of its clips."""
        return listed([holding.clip for holding in self.clips])

    def files(self, has: Iterable[Field]) -> list[TreePlace]:
        """The existing files of its clips."""
        wanted = tuple(has)
        return [next(held.files[field] for field in wanted if field in held.files) for held in self.clips]


def _gaps(tree: Tree, set: str, has: AbstractSet[Field], lacks: AbstractSet[Field]) -> Iterator[Gap]:
    """The clips by split that have a file of *has* and none of *lacks*.

    Only partial absence is a gap: a set without any file of *lacks* has no gaps, nor has a split that the user
    created.
    """
    held = [clip for (part, _), clip in tree.holdings.items() if part == set and clip.inside]
    if not any(clip.files.keys() & lacks for clip in held):
        return
    having = (clip for clip in held if clip.files.keys() & has)
    for split, clips in sorted(grouped(having, lambda clip: clip.split or "").items()):
        gap = sorted((c for c in clips if not c.files.keys() & lacks), key=lambda c: c.clip)
        promised = split in ("", "eval") or split in tree.row.folders
        if gap and (promised or len(gap) < len(clips)):
            yield Gap(split, gap, len(clips))


@rule("LAY102", ERROR)
def recording_without_labels(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Recording of the development set without a label file."""
    for gap in _gaps(tree, "dev", AUDIO, {"metadata"}):
        where = f"metadata_dev/{gap.split}/" if gap.split else "metadata_dev/"
        message = f"no labels for {gap}: {gap.names}"
        yield found(gap.files(AUDIO), message, f"expected {printable(where)}{printable(gap.clips[0].clip)}.csv")


@rule("LAY103", WARNING)
def recording_missing(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Labels or a video without their recording."""
    has: tuple[tuple[str, AbstractSet[Field]], ...] = (("dev", {"metadata", "video"}), ("eval", {"video"}))
    for set, fields in has:
        for gap in _gaps(tree, set, fields, AUDIO):
            what = "video without a recording" if set == "eval" else "labels or video without a recording"
            hint = with_address("download or unpack the recordings again", tree.layout)
            yield found(gap.files(sorted(fields)), f"{what} for {gap}: {gap.names}", hint)


@rule("LAY104", WARNING)
def other_format_missing(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Recording that is missing in the other array format."""
    pairs: tuple[tuple[Field, Field], ...] = (("foa", "mic"), ("mic", "foa"))
    for set in ("dev", "eval"):
        for here, there in pairs:
            for gap in _gaps(tree, set, {here}, {there}):
                message = f"{here.upper()} without {there.upper()} for {gap}: {gap.names}"
                yield found(gap.files((here,)), message, f"expected in {there}_{set}/")


@rule("LAY105", WARNING)
def video_missing(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Recording without video, in a tree that has videos."""
    for set in ("dev", "eval"):
        for gap in _gaps(tree, set, AUDIO, {"video"}):
            clips = [one for one in gap.clips if one.named.recording not in tree.row.without_video]
            if clips:
                gap = gap._replace(clips=clips)
                message = f"no video for {gap}: {gap.names}"
                yield found(gap.files(AUDIO), message, f"expected video_{set}/…/{printable(clips[0].clip)}.mp4")


@rule("LAY115", INFO)
def never_filmed(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Recordings of STARSS23 that never had a video."""
    for gap in _gaps(tree, "dev", AUDIO, {"video"}):
        clips = [one for one in gap.clips if one.named.recording in tree.row.without_video]
        if clips:
            gap = gap._replace(clips=clips, total=0)
            yield found(gap.files(AUDIO), f"no video for {gap}, as published: {gap.names}", tree.row.known_gaps)


class _Count:
    """How much of a split is present."""

    def __init__(self, split: str, clips: AbstractSet[str], found: AbstractSet[str]) -> None:
        self.split, self.total, self.missing = split, len(clips), sorted(clips - found)
        self.there = self.total - len(self.missing)
        #: whether so few clips are missing that it looks complete
        self.nearly = 0 < len(self.missing) <= max(1, self.total // 10) and self.there > 0
        #: whether a large part of it is missing
        self.part = bool(self.missing) and not self.nearly


def _counts(collection: Collection, tree: Tree) -> list[_Count]:
    """How much of each split is present, for datasets whose clips are counted."""
    if not tree.row.counted or collection.submitted:
        return []
    dev = {clip for (set, clip) in tree.holdings if set == "dev"}
    tested = {clip for (set, clip) in tree.holdings if set == "eval"}
    counts = [_Count(split.name, split.clips, dev) for split in tree.row.splits]
    return [*counts, _Count("eval", tree.row.evaluation, tested)]


@rule("LAY108", WARNING)
def clip_missing(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """A few clips missing from a split that looks complete."""
    for count in _counts(collection, tree):
        if count.nearly:
            yield found(
                collection.path,
                f"{count.split} has {count.there} of {count.total} clips: {listed(count.missing)} "
                f"{'is' if len(count.missing) == 1 else 'are'} missing",
                with_address(f"{tree.row.title} has {count.total}", tree.layout),
            )


@rule("LAY114", INFO)
def part_of_data_set(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Partial dataset: whole splits, or large parts of them, are absent."""
    *dev, evaluation = _counts(collection, tree) or [_Count("eval", set(), set())]
    parts = [count for count in dev if count.part]
    shown = any(place.inside and "/" in place.name for place in tree.places)
    parts = parts if shown and any(count.there for count in dev) else []
    if evaluation.part and evaluation.there:
        parts.append(evaluation)
    if parts:
        counted = ", ".join(f"{part.there or 'none'} of {part.total} clips of {part.split}" for part in parts)
        hint = with_address("fine if intended, else download the rest", tree.layout)
        yield found(collection.path, f"part of {tree.row.title}: {counted}", hint)
