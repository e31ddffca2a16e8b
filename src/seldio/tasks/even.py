"""Which questions to leave out so that nobody can answer the others without listening.

Each option of a question *claims* something: that the bell sounds, that it sounds twice, that the speech lasts longer.
Whoever knows how often each claim is right guesses well, unless every claim is right as often as guessing has it: a
claim that stands in questions with n options is right once where it is wrong n - 1 times. The largest set of questions
with this property is a linear program in the numbers of questions that claim the same. In that set no sum of strengths
of claims tells more than guessing does: equal strengths fulfil the equations of the best logistic model. For pairs this
is the idea of balanced pairs (Goyal and others, Making the V in VQA matter, CVPR 2017).

Questions with an open answer have no options to claim anything; of them, answers are kept that are about as frequent.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

#: Options of a question, and claims of each; what an open question tells that may go with its answer.
OPTIONS, CLAIMS, CONTEXTS = 4, 3, 2
#: How much more frequent than by guessing evenly the most frequent of open answers may be.
SHARE = 0.05
#: By how much more is tried where fewer are to be kept than there can be.
_MORE = (1.0, 1.1, 1.25, 1.5, 2.0)
#: Why a question that has one right answer is left out; words that reports show.
UNEVEN = "no counterpart question balances its answer"

Claims = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int64]


def packed(options: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """The claims of each option, the right one first, as numbers above 0; filled up with 0."""
    rows = [[crc32(repr(claim).encode()) or 1 for claim in option] for option in options]
    if not 1 < len(rows) <= OPTIONS or max(map(len, rows)) > CLAIMS:
        raise ValueError(f"a question has 2 to {OPTIONS} options with at most {CLAIMS} claims each")
    return [row + [0] * (CLAIMS - len(row)) for row in rows] + [[0] * CLAIMS] * (OPTIONS - len(rows))


def fair(claims: Claims, chance: npt.NDArray[np.uint64], most: int | None = None) -> Ints:
    """The numbers of the questions to keep: as many as there can be with even claims, or *most* of them.

    A few less, since whole questions do not always even each other out: what is left is smaller than the number of
    options for nearly all claims. The choice depends on the set of questions, not on their order.

    Args:
        claims: of each question the claims of its options, the right one first; (questions, OPTIONS, CLAIMS).
        chance: of each question the lot that it drew.
        most: how many to keep, spread over what they claim.
    """
    from scipy.sparse import coo_array

    number = len(claims)
    if not number:
        return np.empty(0, np.int64)
    options = (claims[:, :, 0] > 0).sum(axis=1)
    weights = np.repeat(np.where(np.arange(OPTIONS) == 0, (options - 1)[:, None], -1)[:, :, None], CLAIMS, axis=2)
    flat, weights = claims.reshape(number, -1), weights.reshape(number, -1)
    order = np.argsort(flat, axis=1, kind="stable")
    rows = np.concatenate([np.take_along_axis(flat, order, 1), np.take_along_axis(weights, order, 1)], axis=1)
    kinds, kind, counts = np.unique(rows.astype(np.int64), axis=0, return_inverse=True, return_counts=True)
    kind = kind.reshape(-1)
    tokens, token = np.unique(kinds[:, : OPTIONS * CLAIMS], return_inverse=True)
    token = token.reshape(len(kinds), -1)
    place = np.repeat(np.arange(len(kinds)), OPTIONS * CLAIMS)
    is_claim = token.ravel() > 0 if tokens[0] == 0 else np.ones(token.size, bool)
    sums = coo_array(
        (kinds[:, OPTIONS * CLAIMS :].ravel()[is_claim], (token.ravel()[is_claim], place[is_claim])),
        shape=(len(tokens), len(kinds)),
    ).tocsr()
    # lots that no two sets of questions share, so that one of many largest sets is the best
    lots = 1 + np.array([crc32(row.tobytes()) for row in kinds]) / 2**32 / 100
    kept_counts = whole = _largest(sums, lots, counts)
    if most is not None and most < whole.sum():
        kept_counts = np.zeros_like(whole)
        for more in _MORE:  # a little more is asked for, as rounding takes some away
            share = min(1.0, more * most / int(whole.sum()))
            fewer = _largest(sums, lots, np.ceil(whole * share - 1e-9).astype(np.int64), math.ceil(more * most))
            kept_counts = fewer if kept_counts.sum() < fewer.sum() <= most else kept_counts
    order = np.lexsort((chance, kind))
    turn = np.arange(number) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[turn < kept_counts[kind[order]]])


def _largest(sums: Any, lots: npt.NDArray[np.float64], counts: Ints, most: int | None = None) -> Ints:
    """Return how many questions of each kind, up to *counts* and *most* in all, make *sums* (nearly) 0."""
    from scipy.optimize import linprog

    limit = {} if most is None else {"A_ub": np.ones((1, len(counts))), "b_ub": [most]}
    bounds = np.stack([np.zeros(len(counts)), counts], axis=1)
    solution = linprog(-lots, A_eq=sums, b_eq=np.zeros(sums.shape[0]), bounds=bounds, method="highs", **limit)
    if solution.x is None:  # none is always a solution
        raise ArithmeticError(f"the questions cannot be evened out: {solution.message}")
    kept_counts: Ints = np.floor(solution.x + 1e-6).astype(np.int64)
    return kept_counts


def flat(groups: npt.NDArray[np.uint64], chance: npt.NDArray[np.uint64]) -> Ints:
    """The numbers of the questions to keep, of open ones whose answers are *groups*.

    Frequent answers are cut until the most frequent one has at most :data:`SHARE` more than guessing; answers that are
    too rare for that are left out, as many as leave the most to tell (the entropy of the answers times the number).
    """
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    best, least, most = 0.0, 1, 1
    ordered = np.sort(counts)[::-1]
    for answers in range(2, len(ordered) + 1):
        if answers < len(ordered) and ordered[answers] == ordered[answers - 1]:
            continue  # as frequent as the next one: both or neither
        frequent = ordered[:answers]
        for limit in np.unique([*frequent, *range(1, min(int(frequent[0]), 2 * int(frequent[-1])) + 1)])[::-1].tolist():
            shown = np.minimum(frequent, limit)
            total = int(shown.sum())
            if shown[0] / total <= 1 / answers + SHARE:
                parts = shown / total
                information = float(-(parts * np.log(parts)).sum()) * total
                if information > best * (1 + 1e-9):
                    best, least, most = information, int(frequent[-1]), limit
                break
    order = np.lexsort((chance, group))
    turn = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = counts[group[order]]
    keep = (turn < most) & (size >= least) if best else np.zeros(len(groups), bool)
    return np.sort(order[keep])


def within(contexts: npt.NDArray[np.uint64], groups: npt.NDArray[np.uint64], chance: npt.NDArray[np.uint64]) -> Ints:
    """Return the questions to keep so that answers are even in each of *contexts* but 0, one at least of each."""
    kept_rows = [np.flatnonzero(contexts == 0)]
    order = np.argsort(contexts, kind="stable")[len(kept_rows[0]) :]
    for context_rows in np.split(order, np.flatnonzero(np.diff(contexts[order])) + 1):
        if len(context_rows):
            flat_rows = flat(groups[context_rows], chance[context_rows])
            kept_rows.append(
                context_rows[flat_rows] if len(flat_rows) else context_rows[[np.argmin(chance[context_rows])]]
            )
    return np.sort(np.concatenate(kept_rows))
