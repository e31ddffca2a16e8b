"""Shares of right answers, and how far two readers of the same answers agree."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binomtest

from seldio.geometry import Floats
from seldio.scores.resampling import Resampling, interval, weights

#: Of the standard normal distribution, what 95 % lie within.
NORMAL = float(ndtri(0.975))


def wilson(right: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share, by E. B. Wilson (1927); NaN of nothing."""
    if not count:
        return np.nan, np.nan
    found = binomtest(right, count).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def mcnemar(first: int, second: int) -> float:
    """The exact two-sided p-value of McNemar's test.

    Args:
        first: questions that only the first system has right.
        second: questions that only the second has right.
    """
    return float(binomtest(first, first + second).pvalue) if first + second else 1.0


def paired_difference(first: int, second: int, count: int) -> tuple[float, float]:
    """The 95 % interval of the difference of two shares over the same questions, second minus first.

    That of D. Bonett and R. Price, "Adjusted Wald confidence interval for a difference of binomial proportions based
    on paired data" (2012), which holds the truth with few questions too; within -1 and 1. NaN of nothing.

    Args:
        first: questions that only the first system has right.
        second: questions that only the second has right.
        count: all questions.
    """
    if not count:
        return np.nan, np.nan
    one, other = (first + 1) / (count + 2), (second + 1) / (count + 2)
    reach = NORMAL * float(np.sqrt((one + other - (other - one) ** 2) / (count + 2)))
    return max(-1.0, other - one - reach), min(1.0, other - one + reach)


def kappa(table: Floats) -> Floats:
    """Cohen's kappa: agreement beyond what chance gives readers that use each category as often as these do.

    Args:
        table: how often the first reader said one category and the second another, shape [..., categories, categories].

    Returns:
        From -1 to 1, shape [...]; NaN where both always said the same one thing, or nothing was read.
    """
    total = table.sum(axis=(-2, -1))
    agreed = np.trace(table, axis1=-2, axis2=-1)
    expected = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    beyond = total * total - expected
    return np.where(beyond > 0, (total * agreed - expected) / np.where(beyond > 0, beyond, 1), np.nan)


def confusion(first: Sequence[Hashable], second: Sequence[Hashable]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """The categories that two readers use, and the category of each answer by each of them, shape [2, answers]."""
    names = sorted({*first, *second}, key=lambda name: (type(name).__name__, str(name)))
    number = {name: place for place, name in enumerate(names)}
    return names, np.array([[number[name] for name in side] for side in (first, second)], dtype=np.int64)


def kappa_interval(codes: NDArray[np.int64], categories: int, draw: Resampling) -> tuple[float, float, float]:
    """Cohen's kappa of two readers with its 95 % bootstrap interval over answers."""
    cell = codes[0] * categories + codes[1]
    onto = np.zeros((len(cell), categories * categories))
    onto[np.arange(len(cell)), cell] = 1
    shape = (-1, categories, categories)
    value = kappa(onto.sum(axis=0).reshape(shape[1:]))
    if not len(cell):
        return float(value), np.nan, np.nan
    drawn = np.concatenate([kappa((batch @ onto).reshape(shape)) for batch in weights(draw, np.arange(len(cell)))])
    low, high = interval(drawn, len(cell))
    return float(value), float(low), float(high)
