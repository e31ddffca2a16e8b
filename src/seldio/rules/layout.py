"""LAY: the names and splits of a data set tree, and all rules of the family."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from seldio.findings import Finding
from seldio.formats.layouts import Set
from seldio.formats.trees import Holding, Place, Tree
from seldio.rules import tree_files, tree_gaps
from seldio.rules.base import ERROR, INFO, WARNING, rule
from seldio.rules.collection import Collection, Found
from seldio.rules.tree_files import by_folder, file_names, wanted_types
from seldio.rules.tree_gaps import recording_of, spot
from seldio.text import listed, plural, printable


def _clips(holdings: Sequence[Holding]) -> str:
    return listed(sorted(holding.clip for holding in holdings))


def _files(holdings: Sequence[Holding], split: str) -> list[Place]:
    """The first file of each clip in *split*."""
    return [holding.splits.get(split) or next(iter(holding.files.values())) for holding in holdings]


def _held(tree: Tree, set: Set) -> list[Holding]:
    return [holding for holding in tree.holdings.values() if holding.inside and holding.set == set]


@rule("LAY101", WARNING)
def clip_name(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """A file of a data set tree is not named like its clips.

    The official code goes by the name alone: the fifth character is the fold, and so decides between
    training and testing; labels and video are found by the recording's name. A copy, a backup or a
    misspelt name is one more clip, or none.

    Example:
        metadata_dev/dev-train-tau/fold3_room4_mix1.csv

    Fix:
        Rename it as the data set does (fold3_room4_mix001.csv), or move it elsewhere.

    Reference: DCASE 2023 Task 3, "naming convention"; seld-dcase2023, cls_data_generator.py,
    ``int(filename[4])``; seld-dcase2020, cls_feature_class.py, keeps names of 26 characters only.
    """
    odd = (place for place in tree.places if place.inside and place.field and not place.exact)
    ruled = (place for place in odd if (tree.row.mix if place.set == "eval" else tree.row.clip))
    for _, places in by_folder(ruled):
        near = places[0].named
        example = "mix001" if places[0].set == "eval" else tree.row.example
        hint = f"is {near.clip} meant?" if near else f"clips are named like {example}"
        verb = "is" if len(places) == 1 else "are"
        yield found(
            spot(collection, places),
            f"{plural(len(places), 'file')} {verb} not named like the clips of {tree.row.title}: {file_names(places)}",
            hint,
        )


@rule("LAY106", ERROR)
def wrong_split(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """A clip stands in the folder of another split.

    Programs that go by folder train on what others test on: the score comes out too high, and nobody
    sees why. Programs that go by the fold in the name (the baselines) do the opposite of what the
    folders say.

    Example:
        foa_dev/dev-train-sony/fold4_room23_mix001.wav: fold 4 belongs to dev-test

    Fix:
        Move it back; unpack the archive again if in doubt.

    Reference: DCASE 2023 Task 3, "Manipulation of the provided training-test split in the development
    dataset is not allowed"; folds: seld-dcase2022, issue 3.
    """
    wrong: defaultdict[tuple[str, str], list[Holding]] = defaultdict(list)
    for holding in _held(tree, "dev"):
        for split in holding.splits if len(holding.splits) == 1 else ():
            if why := tree.row.misplaced(split, holding.named):
                wrong[split, why].append(holding)
    for (split, why), holdings in sorted(wrong.items(), key=lambda item: item[0]):
        yield found(
            spot(collection, _files(holdings, split)),
            f"{plural(len(holdings), 'clip')} in {printable(split)}, but {why}: {_clips(holdings)}",
            "move it back: test recordings must not be trained on",
        )


@rule("LAY107", ERROR)
def clip_in_two_splits(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """One clip stands in two splits.

    Whoever trains on one split and tests on the other tests on what was trained on. The baselines
    write features by clip name into one folder: one of the two overwrites the other.

    Example:
        foa_dev/dev-train-tau/fold4_room2_mix001.wav and foa_dev/dev-test-tau/fold4_room2_mix001.wav

    Fix:
        Remove it from the split that it does not belong to.

    Reference: DCASE 2023 Task 3, Task rules; folds: seld-dcase2022, issue 3.
    """
    twice: defaultdict[tuple[str, ...], list[Holding]] = defaultdict(list)
    for holding in _held(tree, "dev"):
        if len(holding.splits) > 1:
            twice[tuple(sorted(holding.splits))].append(holding)
    for splits, holdings in sorted(twice.items()):
        named = holdings[0].named
        right = tree.row.split_of(named.fold, named.room)
        wrong = next(split for split in splits if split != right)
        yield found(
            spot(collection, _files(holdings, wrong)),
            f"{plural(len(holdings), 'clip')} in {' and '.join(map(printable, splits))}: {_clips(holdings)}",
            f"{holdings[0].clip} belongs to {right}" if right else "keep one of them",
        )


@rule("LAY109", WARNING)
def unknown_clip(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """A clip that the data set does not have.

    It may be a recording of your own; then results are not those on the data set. It may also be a
    recording that was renamed.

    Example:
        metadata_dev/dev-test-tau/fold4_room2_mix099.csv: room 2 of STARSS23 ends with mix006

    Fix:
        Put recordings of your own in a folder of their own, such as dev-train-synth, with fold 1 or 2.

    Reference: the lists in Sony's audio-visual-seld-dcase2023, data_dcase2023_task3/list_dataset.
    """
    row, strange = tree.row, defaultdict[str, list[Holding]](list)
    for holding in _held(tree, "dev") if row.recordings else ():
        known = holding.named.fold in row.synthetic or recording_of(holding.named) in row.recordings
        for split in holding.splits if len(holding.splits) == 1 and not known else ():
            if split in row.folders and not row.misplaced(split, holding.named):
                strange[split].append(holding)
    for holding in _held(tree, "eval") if row.evaluation else ():
        if holding.clip not in row.evaluation:
            strange["eval"].append(holding)
    for split, holdings in sorted(strange.items()):
        yield found(
            spot(collection, _files(holdings, split)),
            f"{plural(len(holdings), 'clip')} in {split} that {row.title} does not have: {_clips(holdings)}",
            "put recordings of your own in a folder of their own, such as dev-train-synth",
        )


@rule("LAY117", INFO)
def clip_twice(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """One clip is there twice, in two trees below one root.

    All of it is checked as one data set. If the two are STARSS22 and STARSS23, half of the clips are
    the same, and their labels differ in the distance column.

    Example:
        STARSS22/metadata_dev/…/fold3_room4_mix001.csv and STARSS23/metadata_dev/…/fold3_room4_mix001.csv

    Fix:
        Validate the two one by one.

    Reference: STARSS23 "maintains all the recordings of STARSS22".
    """
    same: defaultdict[tuple[object, ...], list[Place]] = defaultdict(list)
    for place in tree.places:
        if place.inside and place.exact and place.suffix in wanted_types(place):
            same[place.set, place.split, place.top, place.stem, place.suffix].append(place)
    homes: defaultdict[tuple[str, ...], list[list[Place]]] = defaultdict(list)
    for places in same.values():
        if len(places) > 1 and len({place.home for place in places}) > 1:
            homes[tuple(sorted({place.home for place in places}))].append(places)
    for _, twins in sorted(homes.items()):
        yield found(
            spot(collection, [place for places in twins for place in places]),
            f"{plural(len(twins), 'file')} more than once: {listed([place.name for place in twins[0]])}",
            "validate the trees one by one",
        )


_NAMES = (clip_name, wrong_split, clip_in_two_splits, unknown_clip, clip_twice)
RULES = tuple(sorted((*_NAMES, *tree_files.RULES, *tree_gaps.RULES), key=lambda rule: rule.code))
