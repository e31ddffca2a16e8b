"""LAY: names and splits of a dataset tree, where its files are, and what types of files they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from seldio.catalogues.trees import Holding, Tree, TreePlace
from seldio.files.names import media_type
from seldio.findings import Finding
from seldio.formats.about import with_address
from seldio.formats.datasets import Set
from seldio.rules.collection import Collection, Found, by_folder, grouped
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.text import listed, plural, printable

_name = attrgetter("name")


def file_names(places: Sequence[TreePlace]) -> str:
    """The first few file names."""
    return listed([place.file for place in places])


def wanted_types(place: TreePlace) -> tuple[str, ...]:
    """The suffixes that belong in its folder."""
    if place.top is None:
        return ("csv", "wav", "mp4")
    return ({"metadata": "csv", "video": "mp4"}.get(place.top.field, "wav"),)


_EVALUATION = {
    "none": "the official code reads {top}/ itself: move them up",
    "any": "the official code lists subfolders: move them to one below {top}, such as {top}/eval/",
    "eval": "the official code reads {top}/eval/: move them there",
}


@rule("LAY110", INFO)
def evaluation_depth(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Evaluation recordings that are not where the official code looks for them."""
    wanted = tree.row.below_eval
    fits = {"none": (), "eval": ("eval",)}
    away = [
        place for place in tree.places
        if place.top is not None and place.top.set == "eval" and place.field not in (None, "metadata")
        and (len(place.below) != 1 if wanted == "any" else place.below != fits[wanted])
    ]  # fmt: skip
    for field, places in sorted(grouped(away, lambda place: place.top and place.top.field).items()):
        where = "/".join((f"{field}_eval", *places[0].below))
        message = f"{plural(len(places), 'evaluation file')} in {printable(where)}/: {file_names(places)}"
        yield found(places, message, _EVALUATION[wanted].format(top=f"{field}_eval"))


@rule("LAY112", WARNING)
def file_type(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """File of a type that does not belong in its folder."""
    ours = (place for place in tree.places if place.inside and (place.top is None or place.top.set is not None))
    odd = [place for place in ours if place.suffix not in wanted_types(place) and place.is_text]
    for places in by_folder(odd, _name):
        folder = printable(places[0].name.rpartition("/")[0].rpartition("/")[2])
        types = listed(sorted({f".{place.suffix}" if place.suffix else "no suffix" for place in places}))
        only = " and ".join(f".{suffix}" for suffix in wanted_types(places[0]))
        yield found(
            places,
            f"{plural(len(places), 'file')} of the wrong type ({types}) in {folder or 'a folder'}, "
            f"which should hold only {only}: {file_names(places)}",
            "use only the suffixes .wav, .csv or .mp4, in lower case",
        )


@rule("LAY113", ERROR)
def empty_media(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Empty audio or video file (0 bytes)."""
    empty = {
        entry.name for entry in collection.entries
        if entry.size == 0 and media_type(entry.name) is not None
    }  # fmt: skip
    for places in by_folder((place for place in tree.places if place.name in empty), _name):
        verb = "is" if len(places) == 1 else "are"
        yield found(
            places,
            f"{plural(len(places), 'recording or video', 'recordings or videos')} {verb} empty (0 bytes): "
            f"{file_names(places)}",
            with_address("download or unpack again", tree.layout),
        )


@rule("LAY116", WARNING)
def split_depth(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Development files that are not directly in a split folder."""

    def away(place: TreePlace) -> tuple[str, bool] | None:
        if not (place.inside and place.set == "dev" and place.field) or len(place.below) == tree.row.depth:
            return None
        top = f"{place.top.field}_dev" if place.top is not None else "the split folder"
        return top, len(place.below) > tree.row.depth

    seen = {place.top for place in tree.places if place.inside and place.field and away(place) is None}
    for (top, deep), places in sorted(grouped(tree.places, away).items()):
        what = "too deep in" if deep else "outside any split folder, in"
        yield found(
            places,
            f"{plural(len(places), 'file')} {what} {top}: {file_names(places)}",
            f"the official code looks {'one folder' if tree.row.depth else 'directly'} below {top}",
            severity=ERROR if deep and places[0].top in seen else WARNING,
        )


def _clips(holdings: Sequence[Holding]) -> str:
    return listed(sorted(holding.clip for holding in holdings))


def _files(holdings: Sequence[Holding], split: str) -> list[TreePlace]:
    """The first file of each clip in *split*."""
    return [holding.splits.get(split) or next(iter(holding.files.values())) for holding in holdings]


def _split(holding: Holding) -> str | None:
    """The split that a clip is in; None if it is in none, or in several."""
    return next(iter(holding.splits)) if len(holding.splits) == 1 else None


def _held(tree: Tree, set: Set) -> list[Holding]:
    return [holding for holding in tree.holdings.values() if holding.inside and holding.set == set]


@rule("LAY101", WARNING)
def clip_name(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """File of a dataset tree that is not named like its clips."""
    odd = (place for place in tree.places if place.inside and place.field and not place.exact)
    ruled = (place for place in odd if (tree.row.mix if place.set == "eval" else tree.row.clip))
    for places in by_folder(ruled, _name):
        near = places[0].named
        example = "mix001" if places[0].set == "eval" else tree.row.example
        hint = f"did you mean {near.clip}?" if near else f"clips are named like {example}"
        verb = "is" if len(places) == 1 else "are"
        yield found(
            places,
            f"{plural(len(places), 'file')} {verb} not named like the clips of {tree.row.title}: {file_names(places)}",
            hint,
        )


@rule("LAY106", ERROR)
def wrong_split(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Clip in the folder of the wrong split."""

    def wrong(holding: Holding) -> tuple[str, str] | None:
        split = _split(holding)
        why = split is not None and tree.row.misplaced(split, holding.named)
        return (split, why) if split is not None and why else None

    for (split, why), holdings in sorted(grouped(_held(tree, "dev"), wrong).items()):
        message = f"{plural(len(holdings), 'clip')} in {printable(split)}, but {why}: {_clips(holdings)}"
        yield found(_files(holdings, split), message, "move them back: do not train on test recordings")


@rule("LAY107", ERROR)
def clip_in_two_splits(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Clip in two splits."""
    twice = (holding for holding in _held(tree, "dev") if len(holding.splits) > 1)
    for splits, holdings in sorted(grouped(twice, lambda holding: tuple(sorted(holding.splits))).items()):
        named = holdings[0].named
        right = tree.row.split_of(named.fold, named.room)
        wrong = next(split for split in splits if split != right)
        yield found(
            _files(holdings, wrong),
            f"{plural(len(holdings), 'clip')} in {' and '.join(map(printable, splits))}: {_clips(holdings)}",
            f"{holdings[0].clip} belongs to {right}" if right else "keep one of them",
        )


@rule("LAY109", WARNING)
def unknown_clip(_: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Clip that the dataset does not have."""
    row = tree.row

    def strange(holding: Holding) -> str | None:
        known = holding.named.fold in row.synthetic or holding.named.recording in row.recordings
        split = _split(holding) if row.recordings and not known else None
        return split if split in row.folders and not row.misplaced(split, holding.named) else None

    groups = grouped(_held(tree, "dev"), strange)
    if others := [one for one in _held(tree, "eval") if row.evaluation and one.clip not in row.evaluation]:
        groups.setdefault("eval", []).extend(others)
    for split, holdings in sorted(groups.items()):
        yield found(
            _files(holdings, split),
            f"{plural(len(holdings), 'clip')} in {split} that {row.title} does not have: {_clips(holdings)}",
            "put your own recordings in a separate folder, such as dev-train-synth",
        )
