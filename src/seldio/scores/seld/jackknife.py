"""Confidence intervals by leaving out one clip at a time."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from seldio.scores.seld.sides import Floats


def intervals(whole: Floats, without: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """The lower and upper end for each score.

    The jackknife estimate ``n * whole - (n - 1) * mean``, give or take Student's t with n - 1 degrees of freedom
    times the standard error ``sqrt((n - 1) / n * sum((without - mean) ** 2))``.

    Args:
        whole: scores over all clips, any shape.
        without: scores without each of the n clips, shape [n, ...].
        confidence: share of the distribution between the ends.

    Returns:
        Both ends, shape of *whole*; NaN where a score is not defined, or there is but one clip.
    """
    count = len(without)
    if count < 2:
        return np.full(whole.shape, np.nan), np.full(whole.shape, np.nan)
    mean = without.mean(axis=0)
    estimate = whole - (count - 1) * (mean - whole)
    error = np.sqrt((count - 1) * ((without - mean) ** 2).mean(axis=0))
    reach = stdtrit(count - 1, 1 - (1 - confidence) / 2) * error
    return estimate - reach, estimate + reach
