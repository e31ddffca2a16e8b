"""Intervals by class where all clips agree, so that resamples of them cannot tell anything about others.

Where no reference of a class is found (or each is), clips of another kind may have been missed by chance: a share q of
them, see :func:`~seldio.scores.resampling.most_unseen`. If everything is right in those, LR is q and F, as a harmonic
mean, 2q / (1 + q). If everything is wrong in those, with as many predictions as references, F and LR are 1 - q.
``benchmarks/coverage.py`` measures how often these bounds hold the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seldio.scores.resampling import effective, most_unseen
from seldio.scores.seld.metrics import Counts
from seldio.scores.seld.rows import Floats, Ints

#: Official programs add a tiny number to denominators, so that 1 is never quite reached.
_NEAR = 1e-9


def bounded(
    names: Sequence[str], values: Floats, counts: Counts, ends: tuple[Floats, Floats], unit_of: Ints
) -> tuple[Floats, Floats]:
    """The ends of intervals by class, with bounds in the place of those of shares that are 0 or 1.

    Errors of a class without a match, and scores that are made of those or of a bound, are unknown: NaN.

    Args:
        names: of the scores.
        values: the scores over all clips, shape [scores, classes].
        counts: of each clip.
        ends: the lower and upper ends by resampling, shape [scores, classes].
        unit_of: the clip or room of each clip that was drawn.
    """
    low, high = (each.copy() for each in ends)
    unmatched = counts.matched.sum(axis=0) == 0
    stuck = unmatched.copy()
    for place, name in enumerate(names):
        if name in ("F", "LR", "OnscreenAcc"):
            weight = counts.matched if name == "OnscreenAcc" else counts.references
            q = most_unseen(effective(weight, unit_of))
            none, every = values[place] <= _NEAR, values[place] >= 1 - _NEAR
            high[place] = np.where(none, 2 * q / (1 + q) if name == "F" else q, high[place])
            low[place] = np.where(every, 1 - q, low[place])
            stuck |= none | every
    for place, name in enumerate(names):
        unknown = stuck if name == "SELD" else unmatched & (name not in ("ER", "F", "LR"))
        low[place], high[place] = (np.where(unknown, np.nan, end[place]) for end in (low, high))
    return low, high
