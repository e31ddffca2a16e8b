"""From counts to scores: the formulas of the official programs, for many sets of counts at once."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from seldio.scores.seld.counts import Counts
from seldio.scores.seld.sides import Floats

Average = Literal["macro", "micro"]
#: The official programs add it to every denominator.
EPSILON = float(np.finfo(float).eps)


@dataclasses.dataclass(frozen=True, slots=True)
class Values:
    """Scores of many sets of counts.

    Args:
        overall: shape [sets, metrics].
        by_class: shape [sets, metrics, classes]; None for micro averages.
    """

    overall: Floats
    by_class: Floats | None = None

    def undefined(self) -> Values:
        """NaN in the place of every score."""
        by_class = None if self.by_class is None else np.full_like(self.by_class, np.nan)
        return Values(np.full_like(self.overall, np.nan), by_class)


def classic_2021(counts: Counts, average: Average) -> Values:  # noqa: ARG001 - there is but one
    """ER, F, LE, LR, SELD as in 2021: misplaced sources weigh half in F, and all classes are pooled."""
    pooled = _pooled(counts)
    error, missed = _error_rate(counts), pooled.missed[:, 0]
    f = f_score(pooled.true[:, 0], 0.0, pooled.false[:, 0] + pooled.misplaced[:, 0], missed)
    le = mean_error(pooled.angle, pooled.angles, 180.0)[:, 0]
    lr = recall(pooled.matched[:, 0], missed)
    return Values(_stack(error, f, le, lr, _mean(error, 1 - f, le / 180, 1 - lr)))


def classic(counts: Counts, average: Average) -> Values:
    """ER, F, LE, LR, SELD as in 2022 and 2023: 180 degrees for a class without a match, which counts in the mean."""
    given = counts if average == "macro" else _pooled(counts)
    f = f_score(given.true, given.misplaced, given.false, given.missed)
    le = mean_error(given.angle, given.angles, 180.0)
    lr = recall(given.matched, given.missed)
    er = np.broadcast_to(_error_rate(counts)[:, None], f.shape)
    by_class = np.stack([er, f, le, lr, _mean(er, 1 - f, le / 180, 1 - lr)], axis=1)
    if average == "micro":
        return Values(by_class[:, :, 0])
    means = by_class.mean(axis=2)
    means[:, 0] = er[:, 0]
    return Values(means, by_class)


def with_distance(counts: Counts, average: Average) -> Values:
    """ER, F, AngE, DistE, RelDistE, LR, SELD as in 2024: a class without a match has no errors and is left out."""
    er, f, angle, distance, relative, lr = _framewise(counts, average)
    score = nanmean(np.stack([1 - f, angle / 180, relative]), 0)
    return _averaged(np.stack([er, f, angle, distance, relative, lr, score], axis=1), average, (2, 3, 4))


def without_distance(counts: Counts, average: Average) -> Values:
    """ER, F, AngE, LR, SELD as in 2024 where no distance is asked for."""
    er, f, angle, _, _, lr = _framewise(counts, average)
    score = nanmean(np.stack([er, 1 - f, angle / 180, 1 - lr]), 0)
    return _averaged(np.stack([er, f, angle, lr, score], axis=1), average, (2,))


def stereo(counts: Counts, average: Average) -> Values:
    """F, AngE, DistE, RelDistE, OnscreenAcc as in 2025."""
    _, f, angle, distance, relative, _ = _framewise(counts, average)
    given = counts if average == "macro" else _pooled(counts)
    onscreen = mean_error(given.onscreen, given.matched, np.nan)
    return _averaged(np.stack([f, angle, distance, relative, onscreen], axis=1), average, (1, 2, 3, 4))


def f_score(true: Any, misplaced: Any, false: Any, missed: Any) -> Floats:
    """TP / (TP + FP_spatial + (FP + FN) / 2), as since 2022."""
    return np.asarray(true / (EPSILON + true + misplaced + 0.5 * (false + missed)))


def mean_error(total: Any, matched: Any, nothing: float) -> Floats:
    """The mean over matched pairs; *nothing* where there are none."""
    return np.where(matched > 0, total / (matched + EPSILON), nothing)


def recall(matched: Any, missed: Any) -> Floats:
    """Matched pairs over those and the missed ones."""
    return np.asarray(matched / (EPSILON + matched + missed))


def _error_rate(counts: Counts) -> Floats:
    """(S + D + I) / references, shape [sets]; never by class."""
    errors = counts.substituted + counts.deleted + counts.inserted
    return np.asarray(errors / (counts.references.sum(axis=1) + EPSILON))


def _pooled(counts: Counts) -> Counts:
    """All classes as one."""
    return counts.map(lambda array: array.sum(axis=1, keepdims=True) if array.ndim == 2 else array)


def _framewise(counts: Counts, average: Average) -> tuple[Floats, ...]:
    """ER, F, angle, distance and relative errors, LR; NaN where nothing matches. Shape [sets, classes or 1] each."""
    given = counts if average == "macro" else _pooled(counts)
    f = f_score(given.true, given.misplaced, given.false, given.missed)
    sums = (given.angle, given.angles), (given.distance, given.matched), (given.relative, given.matched)
    errors = (mean_error(total, count, np.nan) for total, count in sums)
    er = np.broadcast_to(_error_rate(counts)[:, None], f.shape)
    return er, f, *errors, recall(given.matched, given.missed)


def _averaged(by_class: Floats, average: Average, known: tuple[int, ...]) -> Values:
    """The means over classes; of the scores numbered in *known*, over the classes that have one."""
    if average == "micro":
        return Values(by_class[:, :, 0])
    means = by_class.mean(axis=2)
    for number in known:
        means[:, number] = nanmean(by_class[:, number], 1)
    return Values(means, by_class)


def nanmean(values: Floats, axis: int) -> Floats:
    """The mean of the numbers; NaN, without a warning, where there are none."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _stack(*values: Floats) -> Floats:
    return np.stack(values, axis=1)


def _mean(*values: Floats) -> Floats:
    return np.asarray(np.mean(values, axis=0))
