"""Why a score may be so low: changes of the predictions that would make it much better, tried on some of the clips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np

from seldio.engines import each
from seldio.scores.seld import changes
from seldio.scores.seld.counts import Counts
from seldio.scores.seld.notices import Better
from seldio.scores.seld.scoring import SeldScore
from seldio.scores.seld.sides import Ints
from seldio.scoring.counting import Counting, Part, Trying, parts, sampled
from seldio.scoring.sides import FileSide, TableSide

#: Clips that changes are tried on.
_TRIED = 24
#: How many times as good a score has to become by a shift in time, which onsets tell, and by any other change.
_SHIFTED, _CHANGED = 1.05, 1.5


def better(
    score: SeldScore,
    lags: Ints,
    work: Counting,
    whole: Sequence[Part],
    sides: tuple[FileSide | TableSide, FileSide | TableSide],
    frames: Mapping[str, int],
) -> Better | None:
    """The change that makes the score clearly better, with the F-score that it gives over all clips; None if none does.

    Nothing is tried where the score is not suspicious; else the beginnings of a few clips are scored with every
    change, and all clips with the best one.

    Args:
        score: what was found.
        lags: how far onsets are apart, over the clips that were looked at.
        work: how *whole* was counted.
        whole: all clips of both sides.
        sides: reference and prediction.
        frames: label frames of recordings, where they are known.
    """
    name, least = _best(score, work, sides, frames), _CHANGED
    if name is None and (shift := changes.shift(lags)):
        name, least = f"shift:{shift}", _SHIFTED
    if name is None:
        return None
    changed = Counting(work.ways[:1], work.classes, name)
    counted = each(changed, whole, what="scoring again", size=attrgetter("size"), key=attrgetter("stamp"))
    counts = Counts.joined([one.counts[0] for one in counted])
    new, old = (_f(one) for one in (SeldScore(score.profile, score.average, score.clips, counts), score))
    return Better(changes.named(name), new) if new > least * old else None


def _best(
    score: SeldScore, work: Counting, sides: tuple[FileSide | TableSide, FileSide | TableSide],
    frames: Mapping[str, int],
) -> str | None:  # fmt: skip
    """The change that is best on a sample, if it is clearly better than none."""
    names = changes.suspected(score.profile, score.counts.total())
    if not names:
        return None
    some = parts(*sides, sampled(score.clips, _TRIED), frames)
    trying = Trying(work.ways[0], work.classes, names)
    found = list(each(trying, some, what="looking for a cause", size=attrgetter("size"), key=attrgetter("stamp")))
    before, *after = (Counts.joined(counts) for counts in zip(*found, strict=True))
    best = int(np.argmax([counts.true.sum() for counts in after]))
    return names[best] if changes.clear(names[best], before, after[best]) else None


def _f(score: SeldScore) -> float:
    place = [column.name for column in score.profile.columns].index("F")
    return float(score.values().overall[0, place])
