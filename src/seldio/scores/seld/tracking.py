"""Tracks: HOTA, IDF1 and identity switches as TrackEval defines them, next to the scores of the official programs.

A track is a source number of a class in a clip; each class of each clip is a sequence of its own, so that a source of
the wrong class is a false one and a missed one. Two rows of a label frame are alike by ``1 - angle / (2 * limit)``, but
never below 0, where *limit* is the threshold of the profile (20 degrees): TrackEval's similarity of centre distances
with twice the limit as ``zero_distance``. So its threshold of 0.5 for IDF1 and for identity switches lets pairs within
the limit count, and the alphas of HOTA, 0.05 to 0.95, stand for angles from 1.9 times to a tenth of the limit. Angles
are whole numbers of 0.00001 degrees, so that no rounding decides at the limit.

Sources: Luiten et al., HOTA, IJCV 129 (2021), doi 10.1007/s11263-020-01375-2; Ristani et al., ECCV 2016 workshops,
arXiv:1609.01775 (IDF1); Bernardin and Stiefelhagen, CLEAR MOT, 2008, doi 10.1155/2008/246309 (identity switches).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from seldio.errors import UsageError
from seldio.reports.tables import Cell, Column, Notice, Table
from seldio.scores.seld.clip_sums import ClipSums
from seldio.scores.seld.corrected import STEPS
from seldio.scores.seld.metrics import EPSILON
from seldio.scores.seld.pairing import CellGroup, Measure, Paired, assigned, paired
from seldio.scores.seld.rows import EventFrames, Floats, Ints, distinct
from seldio.text import plural, printable

#: Similarities from which on a pair counts for HOTA; and for IDF1 and identity switches.
ALPHAS = np.arange(0.05, 0.99, 0.05)
HALF = 0.5
#: Sums of fractions are whole numbers of this, so that they are the same in any order: far finer than scores.
_FINE = 2.0**36
_ACTIVE, _ALIKE, _LINKED = range(3)


@dataclasses.dataclass(frozen=True, slots=True)
class TrackCounts:
    """Sums of whole numbers, which add up over parts, in the order of their clips."""

    #: rows of the best pairing of whole tracks (IDTP), of the reference and of the prediction, [clips, 3, classes]
    by_clip: Ints
    hota: Ints  # pairs, their similarities and their associations (the last two in fine steps), [3, classes, alphas]
    switches: Ints  # changes of the number that a reference is followed by, of each class
    numbered: Ints  # rows of a side with a number above 0, shape [2]
    repeated: Ints  # rows of a side with the frame, class and number of another one, shape [2]
    crowded: int  # rows of the reference that share their frame and class with one before them
    examples: tuple[str, ...]  # where predicted rows are repeated, at most one of each part

    def __add__(self, other: TrackCounts) -> TrackCounts:
        by_clip = np.concatenate([self.by_clip, other.by_clip])
        sums: Any = (getattr(self, field.name) + getattr(other, field.name) for field in dataclasses.fields(self)[1:])
        return TrackCounts(by_clip, *sums)

    @property
    def identified(self) -> Ints:
        """Rows of the best pairing of whole tracks, of each class (IDTP)."""
        return np.asarray(self.by_clip[:, 0].sum(axis=0))

    @property
    def references(self) -> Ints:
        """Rows of each class."""
        return np.asarray(self.by_clip[:, 1].sum(axis=0))

    @property
    def predictions(self) -> Ints:
        """Predicted rows of each class."""
        return np.asarray(self.by_clip[:, 2].sum(axis=0))


class _Cells(NamedTuple):
    """Rows of cells of one shape as numbers of tracks, and how alike they are."""

    group: CellGroup
    reference: Ints  # track of each row, shape [cells, references]
    prediction: Ints  # likewise, shape [cells, predictions]
    alike: Floats  # shape [cells, references, predictions]
    pair: Ints  # number of each pair of tracks, shape as before


def count(
    reference: EventFrames, prediction: EventFrames, clips: Sequence[str], measure: Measure, angle: float, classes: int
) -> TrackCounts:
    """The tracks of some clips; rows of other classes and of negative frames are left out.

    Args:
        reference: rows about clips.
        prediction: the predictions.
        clips: their names.
        measure: the angular distance.
        angle: degrees at which two rows are half alike, above 0.
        classes: how many the vocabulary has.
    """
    sides = _known(reference, classes), _known(prediction, classes)
    (a, again), (b, twice) = map(distinct, sides)
    crowded = distinct(dataclasses.replace(sides[0], source=None))[1]
    by_clip = np.zeros((len(clips), 3, classes), np.int64)
    for number, rows in enumerate((a, b), 1):
        many = np.bincount(rows.clip * classes + rows.class_id, minlength=len(clips) * classes)
        by_clip[:, number] = many.reshape(-1, classes)
    total = TrackCounts(
        by_clip, np.zeros((3, classes, len(ALPHAS)), np.int64), np.zeros(classes, np.int64),
        np.array([0 if side.source is None else int((side.source > 0).sum()) for side in sides]),
        np.array([again.sum(), twice.sum()]), int(crowded.sum()),
        tuple(_place(sides[1], row, clips) for row in np.flatnonzero(twice)[:1].tolist()),
    )  # fmt: skip
    a, b, lengths = _frames(a, b, len(clips))
    for group in paired(a, b, lengths, classes, measure):
        _add(group, 2 * angle, total)
    return total


def _known(side: EventFrames, classes: int) -> EventFrames:
    good = (side.frame >= 0) & (side.class_id >= 0) & (side.class_id < classes)
    return side if good.all() else side.take(good)


def _place(side: EventFrames, row: int, clips: Sequence[str]) -> str:
    number = "" if side.source is None else f", source {side.source[row]}"
    return f"{printable(clips[side.clip[row]])}, frame {side.frame[row]}, class {side.class_id[row]}{number}"


def _frames(a: EventFrames, b: EventFrames, clips: int) -> tuple[EventFrames, EventFrames, Ints]:
    """Both sides with the frames of each clip counted among those that have rows, and how many these are."""
    wide = int(max(a.frame.max(initial=0), b.frame.max(initial=0))) + 1
    keys = [side.clip * wide + side.frame for side in (a, b)]
    found, place = np.unique(np.concatenate(keys), return_inverse=True)
    lengths = np.bincount(found // wide, minlength=clips)
    first = np.cumsum(lengths) - lengths
    place = place.reshape(-1)
    frames = place[: len(a)] - first[a.clip], place[len(a) :] - first[b.clip]
    return dataclasses.replace(a, frame=frames[0]), dataclasses.replace(b, frame=frames[1]), lengths


def _add(group: Paired, reach: float, total: TrackCounts) -> None:
    """Add some clips to *total*; *reach* is the angle from which on rows are not alike at all."""
    (g, of_g), (t, of_t) = (_tracks(side, group.classes) for side in (group.reference, group.prediction))
    many = np.bincount(g, minlength=len(of_g)), np.bincount(t, minlength=len(of_t))
    some = []
    for cells in group.groups:
        left, right = g[cells.reference], t[cells.prediction]
        alike = np.maximum(1 - np.rint(cells.cost * STEPS) / STEPS / reach, 0.0)
        some.append(_Cells(cells, left, right, alike, left[:, :, None] * len(of_t) + right[:, None, :]))
    keys, pair = np.unique(np.concatenate([cells.pair.ravel() for cells in some]), return_inverse=True)
    if not len(keys):
        return
    ends = np.cumsum([cells.pair.size for cells in some])[:-1]
    some = [cells._replace(pair=each.reshape(cells.pair.shape))
            for cells, each in zip(some, np.split(pair.reshape(-1), ends), strict=True)]  # fmt: skip
    first, second = np.divmod(keys, len(of_t))
    both = (many[0][first] + many[1][second]).astype(np.float64)
    of_pair = of_g[first] % group.classes
    _hota(some, both, of_pair, total.hota)
    possible = np.bincount(pair.reshape(-1), weights=np.concatenate([c.alike.ravel() >= HALF for c in some]))
    _identified(possible.astype(np.int64), of_g[first], first, second, group.classes, total.by_clip)
    _switches(some, of_g, group.classes, total.switches)


def _tracks(side: EventFrames, classes: int) -> tuple[Ints, Ints]:
    """The number of the track of each row, and of each track its sequence, ``clip * classes + class_id``."""
    assert side.source is not None
    low = int(side.source.min(initial=0))
    wide = int(side.source.max(initial=0)) - low + 1
    keys, track = np.unique((side.clip * classes + side.class_id) * wide + side.source - low, return_inverse=True)
    return track.reshape(-1), keys // wide


def _hota(some: Sequence[_Cells], both: Floats, of_pair: Ints, sums: Ints) -> None:
    """Add pairs, similarities and associations by class and alpha.

    Rows are paired so that those of tracks which go together, over all of both, are preferred.
    """
    shares = []
    for cells in some:
        rest = cells.alike.sum(axis=1, keepdims=True) + cells.alike.sum(axis=2, keepdims=True) - cells.alike
        shares.append(np.where(rest > EPSILON, cells.alike / np.where(rest > EPSILON, rest, 1), 0).ravel())
    together = np.bincount(np.concatenate([c.pair.ravel() for c in some]), weights=np.concatenate(shares))
    aligned = together / (both - together)
    found = []
    for cells in some:
        i, j = cells.group.nothing if cells.group.single else assigned(-aligned[cells.pair] * cells.alike)
        n = np.arange(len(i))[:, None]
        found.append((cells.pair[n, i, j].ravel(), cells.alike[n, i, j].ravel()))
    pair, alike = (np.concatenate(each) for each in zip(*found, strict=True))
    passed = np.searchsorted(ALPHAS - EPSILON, alike, side="right")  # by how many alphas a pair counts
    levels = len(ALPHAS) + 1
    times = np.bincount(pair * levels + passed, minlength=len(both) * levels).reshape(-1, levels)
    times = times[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]  # of pairs of tracks, by alpha
    near = np.zeros((sums.shape[1], levels), np.int64)
    np.add.at(near, (of_pair[pair], passed), np.rint(alike * _FINE).astype(np.int64))
    linked = times * (times / np.maximum(1, both[:, None] - times))
    np.add.at(sums[_ACTIVE], of_pair, times)
    sums[_ALIKE] += near[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    np.add.at(sums[_LINKED], of_pair, np.rint(linked * _FINE).astype(np.int64))


def _identified(possible: Ints, sequence: Ints, first: Ints, second: Ints, classes: int, sums: Ints) -> None:
    """Add the rows that whole tracks can have in common at most, if each has one partner; by clip and class."""
    from scipy.optimize import linear_sum_assignment

    order = np.argsort(sequence, kind="stable")
    starts = np.flatnonzero(np.diff(sequence[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        left, i = np.unique(first[rows], return_inverse=True)
        right, j = np.unique(second[rows], return_inverse=True)
        common = np.zeros((len(left), len(right)), np.int64)
        common[i, j] = possible[rows]
        best = common.max() if 1 in common.shape else common[linear_sum_assignment(-common)].sum()
        clip, class_id = divmod(int(sequence[rows[0]]), classes)
        sums[clip, 0, class_id] += best


def _switches(some: Sequence[_Cells], of_g: Ints, classes: int, sums: Ints) -> None:
    """Add how often a reference is followed by another number than when it was last followed.

    In a frame, pairs of the frame before are kept where they are near enough, then the most alike ones are chosen.
    """
    from scipy.optimize import linear_sum_assignment

    cell = np.concatenate([cells.group.cells for cells in some])
    kind = np.repeat(np.arange(len(some)), [len(cells.group.cells) for cells in some])
    place = np.concatenate([np.arange(len(cells.group.cells)) for cells in some])
    sequence = np.concatenate([of_g[cells.reference[:, 0]] for cells in some])
    order = np.lexsort((cell, sequence))
    kept: list[tuple[Ints, Ints, Ints]] = []  # when, reference, prediction
    near: dict[int, dict[int, int]] = {}  # the pairs of frames with several rows, by their time
    alone = np.array([cells.group.single for cells in some])[kind[order]]
    when = np.empty(len(order), np.int64)
    when[order] = np.arange(len(order))
    first = np.zeros(len(order), np.int64)
    second, good = first.copy(), np.zeros(len(order), dtype=bool)
    for number, cells in enumerate(some):
        if cells.group.single:
            times = when[kind == number]
            first[times], second[times] = cells.reference[:, 0], cells.prediction[:, 0]
            good[times] = cells.alike[:, 0, 0] >= HALF - EPSILON
    kept.append((np.flatnonzero(good), first[good], second[good]))
    ordered = sequence[order]
    for time in np.flatnonzero(~alone).tolist():
        cells, row = some[kind[order[time]]], place[order[time]]
        before: dict[int, int] = {}
        if time and ordered[time - 1] == ordered[time]:
            before = near.get(time - 1, {})
            if good[time - 1]:
                before = {int(first[time - 1]): int(second[time - 1])}
        left, right, alike = cells.reference[row], cells.prediction[row], cells.alike[row]
        last = np.array([before.get(track, -1) for track in left.tolist()])
        score = np.where(alike < HALF - EPSILON, 0, 1000 * (last[:, None] == right) + alike)
        i, j = linear_sum_assignment(-score)
        chosen = score[i, j] > EPSILON
        i, j = left[i[chosen]], right[j[chosen]]
        near[time] = dict(zip(i.tolist(), j.tolist(), strict=True))
        kept.append((np.full(len(i), time), i, j))
    times, tracks, partners = (np.concatenate(each) for each in zip(*kept, strict=True))
    order = np.lexsort((times, tracks))
    changed = (np.diff(tracks[order]) == 0) & (np.diff(partners[order]) != 0)
    sums += np.bincount(of_g[tracks[order][1:][changed]] % classes, minlength=classes)


# --- tables ----------------------------------------------------------------------------------------

_SCORES = (
    Column("HOTA", "HOTA", "%", 1, "higher", "higher order tracking accuracy: sqrt(DetA * AssA), the mean over alphas"),
    Column("DetA", "DetA", "%", 1, None, "detection accuracy: paired rows over all rows"),
    Column("AssA", "AssA", "%", 1, None, "association accuracy: how long paired tracks stay together"),
    Column("LocA", "LocA", "%", 1, None, "similarity of paired rows; 100 where there are none, as TrackEval has it"),
    Column("IDF1", "IDF1", "%", 1, "higher", "F-score of rows where each track has one partner throughout its clip"),
    Column("IDP", "IDP", "%", 1, None, "precision of these"),
    Column("IDR", "IDR", "%", 1, None, "recall of these"),
)
_SWITCHES = Column("IDSW", "IDSW", "", 0, "lower", "identity switches: changes of the number that follows a source")
_ROWS = (
    Column("references", "references", "", 0, None, "rows of the reference"),
    Column("predictions", "predictions", "", 0, None, "predicted rows"),
)


#: The scores that fit a screen; the others are in the table by class.
_OVERALL = ("HOTA", "DetA", "AssA", "LocA", "IDF1", "IDSW")


def checked(counts: TrackCounts) -> None:
    """Make sure that numbers tell tracks.

    Raises:
        UsageError: they do not.
    """
    rows = int(counts.references.sum()), int(counts.predictions.sum())
    if rows[1] and not counts.numbered[1]:
        raise UsageError(
            "--tracks requires predictions with source numbers, and these have none above 0: a number for each source, "
            "kept while it sounds, is what is scored. Let a tracker write them, or leave --tracks out"
        )
    if rows[0] and not counts.numbered[0] and counts.crowded:
        raise UsageError(
            "--tracks requires a reference with source numbers, and this one has none above 0, though "
            f"{plural(counts.crowded, 'row')} share a frame and class with another one"
        )
    if twice := int(counts.repeated[1]):
        raise UsageError(
            f"--tracks requires one place for each source number: {plural(twice, 'predicted row')} with the frame, "
            f"class and number of another ({counts.examples[0]}), which TrackEval refuses, too"
        )
    if counts.repeated[0] > _FEW * rows[0]:
        raise UsageError(
            f"--tracks requires a reference with one place for each source number: {int(counts.repeated[0]):,} of "
            f"{plural(rows[0], 'row')} have the frame, class and number of another"
        )


#: The share of reference rows with the number of another one up to which numbers tell sources apart.
_FEW = 0.01


def values(counts: TrackCounts) -> tuple[Floats, Floats]:
    """The scores of each class, shape [classes, scores], and the first four by alpha, shape [4, classes, alphas]."""
    pairs, alike, linked = counts.hota[_ACTIVE], counts.hota[_ALIKE] / _FINE, counts.hota[_LINKED] / _FINE
    references, predictions = counts.references[:, None], counts.predictions[:, None]
    detected = pairs / np.maximum(1, references + predictions - pairs)
    associated = linked / np.maximum(1, pairs)
    located = np.maximum(1e-10, alike) / np.maximum(1e-10, pairs)
    by_alpha = np.stack([np.sqrt(detected * associated), detected, associated, located])
    same = counts.identified
    identity = (
        same / np.maximum(1.0, 0.5 * (counts.references + counts.predictions)),
        same / np.maximum(1.0, counts.predictions), same / np.maximum(1.0, counts.references),
    )  # fmt: skip
    return np.stack([*by_alpha.mean(axis=2), *identity], axis=1), by_alpha


def pooled(counts: TrackCounts) -> TrackCounts:
    """All classes as one, as TrackEval averages over detections."""
    return dataclasses.replace(
        counts, by_clip=counts.by_clip.sum(axis=2, keepdims=True), hota=counts.hota.sum(axis=1, keepdims=True),
        switches=counts.switches.sum(keepdims=True),
    )  # fmt: skip


def clip_sums(counts: TrackCounts) -> ClipSums:
    """IDF1 by clip."""
    column = next(column for column in _SCORES if column.name == "IDF1")
    return ClipSums((column,), counts.by_clip[:, None], (False,), "tracks", ((0, 1 + _OVERALL.index("IDF1")),))


def tables(counts: TrackCounts, labels: Sequence[str], angle: float) -> Iterator[Table]:
    """The scores of all tracks, those of each class, and those by alpha."""
    by_class, by_alpha = values(counts)
    there = counts.references + counts.predictions > 0
    whole = pooled(counts)
    switches = int(counts.switches.sum())
    means = by_class[there].mean(axis=0) if there.any() else np.full(by_class.shape[1], np.nan)
    every = values(whole)[0][0] if there.any() else means
    totals = switches, int(counts.references.sum()), int(counts.predictions.sum())
    rows: list[tuple[Cell, ...]] = [
        ("mean over classes", *means.tolist(), *totals),
        ("all rows", *every.tolist(), *totals),
    ]
    title = f"tracks by TrackEval's definitions, rows half alike at {angle:g}°"
    heads = (*_SCORES, _SWITCHES, *_ROWS)
    shown = [number for number, column in enumerate(heads, 1) if column.name in _OVERALL]
    short = tuple((row[0], *(row[number] for number in shown)) for row in rows)
    yield Table("tracks", title, (Column("over", ""), *(heads[number - 1] for number in shown)), short)
    counted = (counts.switches.tolist(), counts.references.tolist(), counts.predictions.tolist())
    each = zip(labels, by_class.tolist(), there.tolist(), *counted, strict=True)
    rows += [(label, *(scores if any_ else [np.nan] * len(scores)), *rest) for label, scores, any_, *rest in each]
    yield Table("track-classes", "tracks by class", (Column("class", "class"), *heads), tuple(rows), True)
    means_by_alpha = by_alpha[:, there].mean(axis=1) if there.any() else np.full(by_alpha[:, 0].shape, np.nan)
    columns = (
        Column("alpha", "alpha"),
        Column("angle", "angle", "°", 1, None, "greatest angle of a pair that counts"),
        *_SCORES[:4],
    )
    degrees = (2 * angle * (1 - ALPHAS)).tolist()
    levels = zip((f"{alpha:.2f}" for alpha in ALPHAS), degrees, *means_by_alpha.tolist(), strict=True)
    yield Table("track-alphas", "tracks by alpha, means over classes", columns, tuple(levels), True)


def notices(counts: TrackCounts) -> Iterator[Notice]:
    """What a number stands for where it says little."""
    if counts.references.any() and not counts.numbered[0]:
        text = "no source number of the reference is above 0: a class of a clip counts as one source throughout"
        yield Notice("unnumbered-reference", text, grave=True)
    if again := int(counts.repeated[0]):
        text = (
            f"{plural(again, 'reference row')} with the frame, class and number of another: each belongs to a track of "
        )
        yield Notice("repeated-source", text + "its own; TrackEval refuses such a reference")
