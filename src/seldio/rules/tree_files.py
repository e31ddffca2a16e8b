"""LAY: where the files of a data set tree stand, and what kind of files they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from seldio.findings import Finding
from seldio.formats.trees import TYPES, Place, Tree
from seldio.rules.base import ERROR, INFO, WARNING, rule
from seldio.rules.collection import Collection, Entry, Found
from seldio.rules.tree_gaps import spot
from seldio.text import listed, plural, printable

#: As many files of a folder that are wrong in one way are one finding.
MANY = 4


class Placed(Protocol):
    """Something that stands at a place of a tree."""

    @property
    def place(self) -> Place:
        """Where."""


Thing = TypeVar("Thing", bound=Placed)


def folders(things: Iterable[Thing]) -> Iterator[list[Thing]]:
    """*things* by folder."""
    by_place = {one.place: one for one in things}
    for _, places in by_folder(by_place):
        yield [by_place[place] for place in places]


def wrong_alike(
    inside: Sequence[Thing], wrong: Callable[[Thing], str | None]
) -> Iterator[tuple[str, list[Thing], bool]]:
    """What is wrong in a folder, with which things, and whether it is one and the same with all of many."""
    groups: defaultdict[str, list[Thing]] = defaultdict(list)
    for one in inside:
        if (value := wrong(one)) is not None:
            groups[value].append(one)
    for value, those in groups.items():
        yield value, those, len(those) == len(inside) >= MANY


def by_folder(places: Iterable[Place]) -> Iterator[tuple[str, list[Place]]]:
    """The name of each folder, and which of *places* are in it."""
    folders: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        folders[place.name.rpartition("/")[0]].append(place)
    for folder, inside in sorted(folders.items()):
        yield folder.rpartition("/")[2], inside


def last_part(place: Place) -> str:
    """Its file name."""
    return place.name.rpartition("/")[2]


def file_names(places: Sequence[Place]) -> str:
    """The first few file names."""
    return listed([last_part(place) for place in places])


def wanted_types(place: Place) -> tuple[str, ...]:
    """The suffixes that have a place in its folder."""
    if place.top is None:
        return ("csv", "wav", "mp4")
    return ({"metadata": "csv", "video": "mp4"}.get(place.top.field, "wav"),)


_EVALUATION = {
    "none": "the official code reads {top} itself: move them up",
    "any": "the official code lists sub folders: put them in one below {top}, such as {top}/eval/",
    "eval": "the official code reads {top}/eval/",
}


@rule("LAY110", INFO)
def evaluation_depth(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """The evaluation recordings are not where the official code looks for them.

    The archives of STARSS22 and STARSS23 hold the evaluation recordings flat (foa_eval/mix001.wav), but
    the baselines of 2021 to 2024 list the sub folders of foa_eval and stop with a NotADirectoryError.
    The 2025 baseline wants stereo_eval/eval/, those of 2019 and 2020 no sub folder. Seldio reads all.

    Example:
        foa_eval/mix001.wav

    Fix:
        For the baselines of 2021 to 2024: ``mkdir foa_eval/eval && mv foa_eval/*.wav foa_eval/eval/``.

    Reference: seld-dcase2023, cls_feature_class.py, ``os.listdir`` of every sub folder;
    DCASE2025_seld_baseline, extract_features.py.
    """
    wanted = tree.row.below_eval
    fits = {"none": (), "eval": ("eval",)}
    away: defaultdict[str, list[Place]] = defaultdict(list)
    for place in tree.places:
        if place.top is not None and place.top.set == "eval" and place.field not in (None, "metadata"):
            fine = len(place.below) == 1 if wanted == "any" else place.below == fits[wanted]
            if not fine:
                away[place.top.field].append(place)
    for field, places in sorted(away.items()):
        where = "/".join((f"{field}_eval", *places[0].below))
        yield found(
            spot(collection, places),
            f"{plural(len(places), 'evaluation file')} in {printable(where)}/: {file_names(places)}",
            _EVALUATION[wanted].format(top=f"{field}_eval"),
        )


@rule("LAY111", WARNING)
def evaluation_labels(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Labels of an evaluation set whose labels were never published.

    They are a system's output, or somebody's own annotation, which the task rules forbid to
    participants. A score against them says how well two systems agree, not how good one is.

    Example:
        metadata_eval/mix001.csv in a STARSS23 tree

    Fix:
        Keep predictions outside of the data set. Organisers may ignore this (``--ignore LAY111``).

    Reference: DCASE 2023 Task 3, "That dataset consists of only audio and video recordings without any
    metadata/labels".
    """
    labels = [p for p in tree.places if p.top is not None and p.top.set == "eval" and p.top.field == "metadata"]
    labels = [place for place in labels if tree.row.secret and place.field == "metadata"]
    if labels:
        yield found(
            spot(collection, labels),
            f"{plural(len(labels), 'label file')} for the evaluation set: {file_names(labels)}",
            f"the evaluation labels of {tree.row.title} are not public: whose are these?",
        )


@rule("LAY112", WARNING)
def file_type(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """A file of a type that has no place in its folder.

    The official code takes every name in the folder, cuts it at the first dot and puts .wav behind it:
    fold3_room4_mix001.csv.txt, fold3_room4_mix001.WAV and README.md all stop it or are read as
    something else. On Windows hidden suffixes make such names easily.

    Example:
        metadata_dev/dev-train-tau/fold3_room4_mix001.csv.txt

    Fix:
        Rename it to the lower-case suffix (.wav, .csv, .mp4), convert it, or move it elsewhere.

    Reference: seld-dcase2023, cls_feature_class.py, ``file_name.split('.')[0]``.
    """
    ours = (place for place in tree.places if place.inside and (place.top is None or place.top.set is not None))
    odd = [place for place in ours if place.suffix not in wanted_types(place) and place.is_text]
    for folder, places in by_folder(odd):
        types = listed(sorted({f".{place.suffix}" if place.suffix else "no suffix" for place in places}))
        only = " and ".join(f".{suffix}" for suffix in wanted_types(places[0]))
        yield found(
            spot(collection, places),
            f"{plural(len(places), 'file')} of another type ({types}) in {printable(folder) or 'a folder'}, "
            f"which holds {only} only: {file_names(places)}",
            "names end in lower-case .wav, .csv or .mp4, and in nothing else",
        )


def _is_media(entry: Entry) -> bool:
    return TYPES.get(entry.name.rpartition(".")[2].lower()) in ("audio", "video")


@rule("LAY113", ERROR)
def empty_media(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """An audio or video file of 0 bytes.

    An empty label file says that nothing is heard; an empty recording says nothing but that a download
    or a disk gave out.

    Example:
        foa_dev/dev-train-tau/fold3_room4_mix001.wav, 0 bytes

    Fix:
        Fetch or unpack it again.

    Reference: no data set has one.
    """
    empty = {entry.name for entry in collection.entries if entry.size == 0 and _is_media(entry)}
    for _, places in by_folder(place for place in tree.places if place.name in empty):
        verb = "is" if len(places) == 1 else "are"
        yield found(
            spot(collection, places),
            f"{plural(len(places), 'recording or video', 'recordings or videos')} {verb} empty (0 bytes): "
            f"{file_names(places)}",
            "fetch or unpack again",
        )


@rule("LAY116", WARNING)
def split_depth(collection: Collection, tree: Tree, found: Found) -> Iterator[Finding]:
    """Development files that are not directly in a split folder.

    The official code since 2021 looks exactly one folder below foa_dev, metadata_dev and video_dev: files
    above that stop it (NotADirectoryError), files below it are not seen. Those of 2019 and 2020 know
    no split folders.

    Example:
        metadata_dev/fold3_room4_mix001.csv

    Fix:
        Move them to their split: metadata_dev/dev-train-tau/fold3_room4_mix001.csv.

    Reference: seld-dcase2023, cls_feature_class.py, ``os.listdir`` of every sub folder.
    """
    away: defaultdict[tuple[str, bool], list[Place]] = defaultdict(list)
    for place in tree.places:
        if place.inside and place.set == "dev" and place.field and len(place.below) != tree.row.depth:
            top = f"{place.top.field}_dev" if place.top is not None else "the split folder"
            away[top, len(place.below) > tree.row.depth].append(place)
    for (top, deep), places in sorted(away.items(), key=lambda item: item[0]):
        what = "too deep in" if deep else "outside of a split folder, in"
        yield found(
            spot(collection, places),
            f"{plural(len(places), 'file')} {what} {top}: {file_names(places)}",
            f"the official code looks {'one folder' if tree.row.depth else 'directly'} below {top}",
        )


RULES = (evaluation_depth, evaluation_labels, file_type, empty_media, split_depth)
