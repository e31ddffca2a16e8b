"""Scores of energy maps over clips with weights: resamples, permutations, clips left out.

Average precision is not a sum over clips, but the order of detections by score is the same in every resample, so that
it is made once, and a resample is a weight for each detection: precision and recall are sums of weights along the
order. Precision rises only at hits, so that nothing is looked at in between.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from seldio.reports.tables import Notice, ScoreReport, in_order
from seldio.scores import resampling
from seldio.scores.imaging.count import Detections
from seldio.scores.imaging.energy_maps import Floats, Ints
from seldio.scores.imaging.profiles import Average, ImagingProfile
from seldio.scores.imaging.report import ImagingCase
from seldio.scores.resampling import ENOUGH, FEWEST, Over, Resampling, effective, interval, interval_cells, units_of
from seldio.scores.signatures import of_comparison
from seldio.text import plural

#: Numbers of one batch of resamples: 16 MB.
_BATCH = 1 << 21
_RECALLS = np.linspace(0.0, 1.0, 101)


def with_intervals(report: ScoreReport, case: ImagingCase, draw: Resampling) -> ScoreReport:
    """Return the report on one system with bootstrap intervals of its overall scores.

    Raises:
        UsageError: a clip has no room.
    """
    clips = list(case.counted)
    unit_of = units_of(clips, draw.over)
    ranked = RankedMaps.of(list(case.counted.values()), case.profile, case.average)
    units = int(unit_of.max()) + 1
    ends = interval(resampling.resampled(ranked, draw, unit_of), units)
    overall = report.tables[0]
    (system, *values), *_ = overall.rows
    support, few = support_of(ranked, unit_of)
    cells = interval_cells(np.array(values, np.float64), *ends, support >= FEWEST, support < ENOUGH or few > 0)
    title = f"overall, 95 % confidence intervals by bootstrap over {draw.over}"
    table = dataclasses.replace(overall, title=title, rows=((system, *cells),))
    told = [*report.notices, *about_classes(ranked, unit_of, draw.over)]
    if support < FEWEST:
        text = f"{units:,} {draw.over} ({support:.1f} in effect) are too few to generalize from: "
        told.append(Notice("few-units", f"{text}the bounds of intervals are only in JSON and CSV", grave=True))
    drawn = {"over": draw.over, "resamples": draw.resamples, "seed": draw.seed}
    return dataclasses.replace(
        report,
        tables=(table, *report.tables[1:]),
        notices=in_order(told),
        settings=drawn | dict(report.settings),
        signature="" if case.signature is None else str(of_comparison([case.signature], drawn)),
    )


def about_classes(ranked: RankedMaps, unit_of: Ints, over: Over) -> Iterator[Notice]:
    """Classes that resamples can be without, which moves the mean over classes."""
    support, few = support_of(ranked, unit_of)
    if few and support >= FEWEST:
        text = (
            f"* {plural(few, 'class', 'classes')} in fewer than {FEWEST} {over} in effect: resamples without them "
            "leave them out of the mean, and detections of them cost nothing there, so that intervals of AP lie too "
            "high. --average micro is less affected"
        )
        yield Notice("few-clips", text, grave=True)
    elif FEWEST <= support < ENOUGH:
        yield Notice("weak-intervals", f"* {support:.1f} {over} in effect: read intervals as those of 90 %")


def support_of(ranked: RankedMaps, unit_of: Ints) -> tuple[float, int]:
    """On how many clips, or rooms, scores rest in effect, and how many classes of a mean over classes on too few."""
    held = effective(ranked.references, unit_of)
    few = int(np.count_nonzero((held > 0) & (held < FEWEST))) if ranked.average == "macro" else 0
    return float(effective(ranked.references.sum(axis=1), unit_of)), few


@dataclasses.dataclass(frozen=True)
class RankedMaps:
    """All detections of some clips, the best first."""

    clips: Sequence[Detections]
    profile: ImagingProfile
    average: Average
    clip: Ints  # of each detection
    class_id: Ints
    hits: NDArray[np.bool_]  # whether each detection is one, shape [detections, thresholds]
    references: Floats  # shape [clips, classes]
    r: Floats  # sum of Pearson r, shape [clips, classes]
    pairs: Floats  # how many pairs have one, shape [clips, classes]

    @staticmethod
    def of(clips: Sequence[Detections], profile: ImagingProfile, average: Average) -> RankedMaps:
        """Return the detections of clips."""
        classes = len(clips[0].references)
        every = Detections.joined(clips, classes)
        clip = np.repeat(np.arange(len(clips)), [len(one.score) for one in clips])
        order = np.argsort(-every.score, kind="stable")
        known = ~np.isnan(every.r)
        place = (clip * classes + every.class_id)[known]
        sums = [
            np.bincount(place, values, len(clips) * classes).astype(np.float64).reshape(-1, classes)
            for values in (every.r[known], np.ones(int(known.sum())))
        ]
        hits = every.overlap[order][:, None] >= np.array(profile.thresholds)
        references = np.array([one.references for one in clips], np.float64)
        return RankedMaps(clips, profile, average, clip[order], every.class_id[order], hits, references, *sums)

    def scores(self, weights: Floats) -> Floats:
        """Return the scores where each clip counts as often as its weight says.

        Args:
            weights: shape [resamples, clips].

        Returns:
            mAP, AP at each threshold and Pearson r, shape [resamples, scores].
        """
        step = max(1, _BATCH // max(1, len(self.clip)))
        return np.concatenate([self._scores(weights[start : start + step]) for start in range(0, len(weights), step)])

    def exchanged(self, other: RankedMaps) -> Callable[[Floats], Floats]:
        """Return what makes the differences from *other* where some clips change sides."""
        both = RankedMaps.of([*self.clips, *other.clips], self.profile, self.average)

        def differences(sides: Floats) -> Floats:
            return both.scores(np.hstack((sides, 1 - sides))) - both.scores(np.hstack((1 - sides, sides)))

        return differences

    def _scores(self, weights: Floats) -> Floats:
        references, pairs, r = (weights @ sums for sums in (self.references, self.pairs, self.r))
        classes = self.references.shape[1]
        aps = np.stack([self._precision(weights, self.class_id == n, references[:, n]) for n in range(classes)], axis=1)
        if self.average == "micro":
            aps = self._precision(weights, np.ones(len(self.clip), bool), references.sum(axis=1))
            mean, correlation = aps.mean(axis=1), _share(r.sum(axis=1), pairs.sum(axis=1))
        else:
            there = references > 0
            mean = _mean(aps.mean(axis=2), there)
            correlation = _mean(_share(r, pairs), there)
            aps = np.stack([_mean(aps[:, :, t], there) for t in range(aps.shape[2])], axis=1)
        return np.column_stack((mean, aps, correlation))

    def _precision(self, weights: Floats, chosen: NDArray[np.bool_], references: Floats) -> Floats:
        rows = np.flatnonzero(chosen)
        each = weights[:, self.clip[rows]]
        found = np.zeros((len(weights), self.hits.shape[1]))
        total = np.cumsum(each, axis=1)
        for number, hits in enumerate(self.hits[rows].T):
            at = np.flatnonzero(hits)
            right = np.cumsum(each[:, at], axis=1)
            precision = right / (total[:, at] + 1e-9)
            best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
            with np.errstate(invalid="ignore", divide="ignore"):
                recall = (right / references[:, None]).astype(np.float32).astype(np.float64)
            reached = np.searchsorted(_RECALLS, np.nan_to_num(recall), side="right")
            found[:, number] = (best * np.diff(reached, axis=1, prepend=0)).sum(axis=1) / len(_RECALLS)
        detected = total[:, -1] > 0 if len(rows) else np.zeros(len(weights), bool)
        found[(references <= 0) | (~detected & (not self.profile.undetected))] = np.nan
        return found


def _share(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share


def _mean(values: Floats, there: NDArray[np.bool_]) -> Floats:
    """Return the mean over classes, as far as these are there and defined."""
    known = there & ~np.isnan(values)
    return _share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))
