"""The tables of errors: what the lost F is made of, and which classes are exchanged."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from seldio.reports.tables import Cell, Column, Table
from seldio.scores.seld.metrics import Thresholds
from seldio.scores.seld.mistakes import KINDS, Mistakes
from seldio.scores.seld.rows import Floats, Ints
from seldio.scores.seld.scoring import SeldScore

#: What each kind of error is called, and the counts that it is made of: a wrong class is an error of two classes.
NAMES = {
    "missed": "missed", "spurious": "spurious", "wrong_class": "wrong class", "wrong_place": "wrong place",
    "wrong_distance": "wrong distance", "wrong_onscreen": "wrong on-screen flag", "absent": "class absent",
}  # fmt: skip
_PARTS = {
    "missed": ("missed",), "spurious": ("spurious",), "wrong_class": ("confused", "mistaken"),
    "wrong_place": ("place",), "wrong_distance": ("distance",), "wrong_onscreen": ("onscreen",),
}  # fmt: skip

_COUNT = Column(
    "count", "count", "", 0, None, "misses, false alarms or misplaced pairs of this kind, and classes that are absent"
)
_LOST = Column("lost", "lost F", "%", 1, None, "points of F that these errors cost; together 100 - F")
_SHARE = Column("share", "share", "%", 1, None, "their share of the lost F")
_REPAIRED = Column("repaired", "F repaired", "%", 1, "higher", "F if these errors alone were right")
_MISTAKEN = (
    Column("count", "rows", "", 0, None, "rows of the reference"),
    Column("share", "share", "%", 1, None, "of all rows of a wrong class"),
)


@dataclasses.dataclass(frozen=True)
class LostF:
    """What a lost F is made of.

    Args:
        lost: by kind of error, points of F as a share; they add up to 1 - F.
        by_class: the same of each class, shape [classes]; None where all classes are pooled.
    """

    lost: Mapping[str, float]
    by_class: Mapping[str, Floats] | None


def lost_f(score: SeldScore, kinds: Ints) -> LostF:
    """The shares of errors in what F lacks to 1; *kinds* as in :class:`Mistakes`."""
    values, place = score.values(), score.profile.names.index("F")
    many = dict(zip(KINDS, kinds.astype(np.float64), strict=True))
    half = {"place": score.profile.misplaced, "distance": score.profile.misplaced, "onscreen": score.profile.misplaced}
    weights = {kind: sum(half.get(part, 0.5) * many[part] for part in parts) for kind, parts in _PARTS.items()}
    if values.by_class is None:
        f = values.overall[0, place]
        weights = {kind: np.asarray(each.sum())[None] for kind, each in weights.items()}
        rest = np.atleast_1d(1 - f)
    else:
        rest = 1 - values.by_class[0, place]  # NaN where a class does not count
    total = sum(weights.values())
    lost = {
        kind: np.where(total > 0, rest * each / np.where(total > 0, total, 1), 0.0) for kind, each in weights.items()
    }
    references = np.atleast_1d(
        score.counts.references.sum() if values.by_class is None else score.counts.references.sum(0)
    )
    lost["absent"] = np.where((total == 0) & (references == 0), rest, 0.0)
    counted = ~np.isnan(rest)
    means = {kind: float(each[counted].mean()) if counted.any() else np.nan for kind, each in lost.items()}
    return LostF(means, None if values.by_class is None else {k: np.where(counted, v, np.nan) for k, v in lost.items()})


def repaired(score: SeldScore, kinds: Ints, kind: str) -> float:
    """F if the errors of a *kind* were right: found, left out, called by their class, or put in their place."""
    many = dict(zip(KINDS, kinds.astype(np.float64)[:, None], strict=True))
    counts = score.counts.total()
    first, *second = (many[part] for part in _PARTS[kind])
    if kind == "spurious":
        counts = dataclasses.replace(counts, false=counts.false - first)
    elif kind in ("missed", "wrong_class"):
        counts = dataclasses.replace(
            counts, true=counts.true + first, missed=counts.missed - first, false=counts.false - sum(second)
        )
    else:
        counts = dataclasses.replace(counts, true=counts.true + first, misplaced=counts.misplaced - first)
    values = score.profile.score(counts, score.average)
    return float(values.overall[0, score.profile.names.index("F")])


def tables(score: SeldScore, mistakes: Mistakes, limits: Thresholds, labels: Sequence[str]) -> Iterator[Table]:
    """What F loses, by kind of error, pair of classes, and class."""
    lost, kinds = lost_f(score, mistakes.kinds), _kinds(limits)
    where = "segments of 1 s" if score.profile.unit > 1 else "label frames"
    absent = lost.lost["absent"] > 0
    shown = [*kinds, *(("absent",) if absent else ())]
    whole = sum(lost.lost[kind] for kind in shown)
    rows: list[tuple[Cell, ...]] = []
    for kind in shown:
        if kind == "absent":
            many = int((lost.by_class["absent"] > 0).sum()) if lost.by_class else len(labels)
        else:
            many = int(sum(mistakes.kinds[KINDS.index(part)].sum() for part in _PARTS[kind]))
        part = lost.lost[kind]
        better = None if kind == "absent" else repaired(score, mistakes.kinds, kind)
        rows.append((NAMES[kind], many, part, part / whole if whole else np.nan, better))
    rows.append(("all", None, whole, 1.0 if whole else np.nan, None))
    title = f"errors: what F lacks to 100 %, counted in {where}"
    yield Table("errors", title, (Column("error", "error"), _COUNT, _LOST, _SHARE, _REPAIRED), tuple(rows))
    yield _confusions(mistakes.pairs, labels)
    if lost.by_class is not None:
        yield _by_class(score, lost.by_class, shown, labels)


def _kinds(limits: Thresholds) -> list[str]:
    far = np.isfinite(limits.distance) or np.isfinite(limits.relative)
    there = {"wrong_distance": far, "wrong_onscreen": limits.onscreen}
    return [kind for kind in _PARTS if there.get(kind, True)]


def _confusions(pairs: Ints, labels: Sequence[str]) -> Table:
    true, called = np.nonzero(pairs)
    many = pairs[true, called]
    order = np.lexsort((called, true, -many))
    rows = tuple(
        (str(rank), labels[true[n]], labels[called[n]], int(many[n]), float(many[n] / many.sum()))
        for rank, n in enumerate(order, 1)
    )
    columns = (Column("rank", ""), Column("reference", "reference"), Column("prediction", "called"), *_MISTAKEN)
    return Table(
        "confusions", "wrong classes in the right place, in label frames", columns, rows, aside=not rows, top=_TOP
    )


#: Pairs of classes that are shown without being asked for.
_TOP = 8


def _by_class(score: SeldScore, lost: Mapping[str, Floats], shown: Sequence[str], labels: Sequence[str]) -> Table:
    values = score.values().by_class
    assert values is not None
    f = values[0, score.profile.names.index("F")].tolist()
    columns = (
        Column("class", "class"), Column("F", "F", "%", 1, "higher"),
        *(Column(kind, NAMES[kind], "%", 1, "lower") for kind in shown),
    )  # fmt: skip
    rows = tuple((label, f[n], *(float(lost[kind][n]) for kind in shown)) for n, label in enumerate(labels))
    return Table("class-errors", "points of F that each class loses", columns, rows, aside=True)
