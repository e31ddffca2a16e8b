"""Shares of right answers."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import binomtest

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
