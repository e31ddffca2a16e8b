"""One system against its reference: scores of counts, intervals by leaving out one clip at a time, and clip by clip.

:class:`SeldAccumulator` counts one clip after the other while a model trains; counts add up in any order, anywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from seldio.clock import HOP, LONGEST
from seldio.errors import DataError, UsageError
from seldio.schema.events import clip_codes, origin_of
from seldio.scores import resampling
from seldio.scores.resampling import ENOUGH, FEWEST, Intervals, Over, Summed, effective, units_of
from seldio.scores.seld.counting import (
    Average,
    Count,
    EventFrames,
    Floats,
    Ints,
    Paired,
    Thresholds,
    clip_counts,
    event_frames,
    no_counts,
    paired,
    ten_tracks,
)
from seldio.scores.seld.profiles import SeldProfile, get
from seldio.text import printable
from seldio.vocabularies import vocabulary

#: Less than scores differ by that do: official programs add a tiny number to denominators.
NEAR = 1e-9


@dataclasses.dataclass(frozen=True)
class SeldScore:
    """Counts of every clip, with what is needed to make scores of any part of them.

    Scores have the shape [scores, 1 + classes], those over all classes first; of a micro average there are no others.
    """

    profile: SeldProfile  # how they were counted
    average: Average  # of the scores
    clips: tuple[str, ...]  # names, in the order of the counts
    counts: Floats  # of each clip and class, see :class:`~seldio.scores.seld.counting.Count`

    @property
    def overall(self) -> dict[str, float]:
        """Return the scores over all clips by name; NaN where there is no clip."""
        return dict(zip(self.profile.names, self.values()[:, 0].tolist(), strict=True))

    def values(self) -> Floats:
        """Return the scores over all clips; NaN over no clips."""
        values = self.partial(np.tensordot(np.ones((1, len(self.counts))), self.counts, 1))[0]
        return values if len(self.counts) else np.full_like(values, np.nan)

    def take(self, clips: Sequence[str]) -> SeldScore:
        """Return the score over some of the clips."""
        place = {clip: number for number, clip in enumerate(self.clips)}
        return dataclasses.replace(self, clips=tuple(clips), counts=self.counts[[place[clip] for clip in clips]])

    @property
    def references_by_clip(self) -> Ints:
        """Return how many references each clip has."""
        return np.asarray(self.counts[:, Count.REFERENCES].sum(axis=1).astype(int))

    def present(self, counts: Floats) -> Floats:
        """Return the overall scores of sets of counts, as means over classes with references; NaN where none has any.

        A mean over all classes is lower the fewer of them a clip has, which says nothing about the clip.
        """
        absent = np.asarray(counts[:, Count.REFERENCES] == 0)
        overall = self.profile.score(counts, self.average, without=absent)[:, :, 0]
        return np.where(absent.all(axis=1, keepdims=True), np.nan, overall)

    def partial(self, counts: Floats) -> Floats:
        """Return the scores of *counts* of some of the clips, such as a resample, one set each.

        A class that the reference has, but not these clips, is left out of the means over classes there: the programs
        would give it F 0 and LE 180, which says nothing about a system.
        """
        lost = (counts[:, Count.REFERENCES] == 0) & (self.counts[:, Count.REFERENCES] > 0).any(axis=0)
        return self.profile.score(counts, self.average, without=lost)

    @property
    def _summed(self) -> Summed:
        """Return the counts of all clips as one matrix, with the scores that its sum has."""
        clips, *shape = self.counts.shape

        def measured(sums: Floats) -> Floats:
            return self.partial(sums.reshape(-1, *shape))[:, :, 0]

        return Summed(self.counts.reshape(clips, -1), measured)

    def scores(self, weights: Floats) -> Floats:
        """Return all scores where clips have *weights*, shape [batch, clips]."""
        return self._summed.scores(weights)

    def exchanged(self, other: SeldScore) -> Callable[[Floats], Floats]:
        """Return what makes the differences from *other* where some clips change sides."""
        return self._summed.exchanged(other._summed)

    def jackknife(self) -> tuple[Floats, Floats]:
        """Return the lower and upper ends of the 95 % confidence intervals."""
        without_each = self.counts.sum(axis=0, keepdims=True) - self.counts
        return intervals(self.values(), self.profile.score(without_each, self.average))

    def bootstrap(self, draw: Intervals = Intervals()) -> tuple[Floats, Floats]:  # noqa: B008 - frozen
        """Return the lower and upper ends of the 95 % bootstrap intervals.

        Where no resample has another score they are NaN, but those of F and LR of a class, 0 or 1, have one end.

        Raises:
            UsageError: rooms are to be drawn, and a clip has none in its name.
        """
        units = units_of(self.clips, draw.over)
        batches = resampling.weights(draw, units)
        drawn = np.concatenate([self.partial(np.tensordot(batch, self.counts, 1)) for batch in batches])
        low, high = resampling.interval(drawn, len(np.unique(units)))
        stuck, place = high - low < NEAR, {name: number for number, name in enumerate(self.profile.names)}
        if "SELD" in place:  # of a class it varies with some of its parts; resamples tell nothing about the others
            shares = [place[name] for name in ("F", "LR", "OnscreenAcc") if name in place]
            stuck[place["SELD"], 1:] |= stuck[shares, 1:].any(axis=0)
        low[stuck], high[stuck] = np.nan, np.nan
        missed = _missed(effective(self.counts[:, Count.REFERENCES], units))
        for name in ("F", "LR") if self.average == "macro" else ():
            if name in place:
                row, share = place[name], self.values()[place[name], 1:]
                none, every = share <= NEAR, share >= 1 - NEAR
                most = 2 * missed / (1 + missed) if name == "F" else missed
                low[row, 1:] = np.select([none, every], [0 * most, 1 - missed], low[row, 1:])
                high[row, 1:] = np.select([none, every], [most, 1 + 0 * most], high[row, 1:])
        return low, high

    def support(self, over: Over = "clips") -> Floats:
        """Return on how many clips, or rooms, each score rests in effect, shape [scores, 1 + classes].

        They count by their references; for errors by their matches; see
        :func:`~seldio.scores.resampling.effective`. SELD, which is made of both, rests on the fewer. First come those
        of all classes together.
        """
        counts, unit_of = np.dstack((self.counts.sum(axis=2), self.counts)), units_of(self.clips, over)
        references, matched = (effective(counts[:, place], unit_of) for place in (Count.REFERENCES, Count.MATCHED))
        both = dict.fromkeys(("ER", "F", "LR"), references) | {"SELD": np.minimum(references, matched)}
        return np.stack([both.get(name, matched) for name in self.profile.names])

    def weak(self, over: Over = "clips") -> NDArray[np.bool_]:
        """Return which overall scores rest on few clips in effect, or on a class that too few tell about."""
        return np.asarray((self.support(over)[:, 0] < ENOUGH) | self.lean(over).any(axis=1))

    def lean(self, over: Over = "clips") -> NDArray[np.bool_]:
        """Return the classes in a mean over classes that too few clips tell about, shape [scores, classes]."""
        support = self.support(over)[:, 1:]
        if self.average != "macro":
            return np.zeros(support.shape, dtype=bool)
        counted = ~np.isnan(self.values()[:, 1:]) & (np.array(self.profile.names) != "ER")[:, None]
        return np.asarray(counted & (support < FEWEST))


def _missed(clips: Floats) -> Floats:
    """Return the share q of clips of another kind that as many as *clips* draws miss with a chance of 2.5 %.

    It is the end of C. Clopper's and E. Pearson's interval of none among n (1934), NaN of no clips. Of a class that is
    never found, LR is at most q, and F, a harmonic mean, 2q / (1 + q); of one always found, both are at least 1 - q.
    """
    return np.asarray(1 - 0.025 ** (1 / np.where(clips > 0, clips, np.nan)))


def intervals(whole: Floats, without: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the 95 % interval of each score: NaN where it is not defined, or there is but one clip.

    The jackknife estimate ``n * whole - (n - 1) * mean``, give or take Student's t with n - 1 degrees of freedom
    times the standard error ``sqrt((n - 1) / n * sum((without - mean) ** 2))``; *without* are the scores without each
    of the n clips, shape [n, ...].
    """
    from scipy.special import stdtrit

    count = len(without)
    if count < 2:
        return np.full(whole.shape, np.nan), np.full(whole.shape, np.nan)
    mean = without.mean(axis=0)
    estimate = whole - (count - 1) * (mean - whole)
    error = np.sqrt((count - 1) * ((without - mean) ** 2).mean(axis=0))
    reach = stdtrit(count - 1, 1 - (1 - 0.95) / 2) * error
    return estimate - reach, estimate + reach


# --- from rows to counts ---------------------------------------------------------------------------


def count_sides(
    reference: EventFrames, prediction: EventFrames, profile: SeldProfile, limits: Thresholds, classes: int, clips: int
) -> Floats:
    """Count each of a number of *clips*.

    Raises:
        UsageError: a side lacks a field that the profile needs.
    """
    groups = pairings(reference, prediction, profile, classes, clips)
    counts = (clip_counts(group, profile.unit, limits) for group in groups)
    return np.concatenate([no_counts(0, classes), *counts])


def pairings(
    reference: EventFrames, prediction: EventFrames, profile: SeldProfile, classes: int, clips: int
) -> Iterator[Paired]:
    """Return the pairs of both sides as a profile makes them, distances in its unit; see :func:`.counting.paired`.

    Raises:
        UsageError: a side lacks a field that the profile needs.
    """
    sides = []
    for side, name in ((reference, "the reference"), (prediction, "the prediction")):
        for field in profile.needs if len(side) else ():
            values = getattr(side, field)
            if values is None or np.isnan(values).any():
                lacking = "no" if values is None else "not in every row a"
                raise UsageError(f"{profile.name} needs {field}, and {name} has {lacking} {field}")
        tracked = ten_tracks(side) if profile.tracks else side
        if profile.metre != 1 and tracked.distance is not None:
            # the number that was written, where reading it divided it (0.29 m are 29 cm)
            scaled = tracked.distance * profile.metre
            written = np.round(scaled, 6)
            distance = np.where(written / profile.metre == tracked.distance, written, scaled)
            tracked = dataclasses.replace(tracked, distance=distance)
        sides.append(tracked)
    a, b = sides
    return paired(a, b, grid_lengths(profile, a, clips), classes, profile.measure)


def grid_lengths(profile: SeldProfile, reference: EventFrames, clips: int) -> Ints:
    """Return the label frames of each clip that count, in whole units of the profile; DataError if they are endless."""
    lengths = np.zeros(clips, np.int64)
    np.maximum.at(lengths, reference.clip, reference.frame)
    if profile.horizon is not None:
        lengths = np.full(clips, profile.horizon)
    if lengths.max(initial=0) * HOP > LONGEST:  # all of them are counted
        raise DataError(f"frame {lengths.max():,} in the reference, but no recording is longer than {LONGEST:,} s")
    return -(-lengths // profile.unit) * profile.unit


# --- while a model trains --------------------------------------------------------------------------

#: A side of a clip: an event table, or arrays of one length by column name (frame, class_id, azimuth, elevation, …).
ClipLabels: TypeAlias = pa.Table | dict[str, Any]


class SeldAccumulator:
    """Counts of clips that come one by one, e.g. in the validation loop of a training.

    Methods have the names that they have in torchmetrics (``update``, ``compute``, ``reset``, ``forward``,
    ``merge_state``), but there is no torch in it, and a clip is named, so that it never counts twice.

    Args:
        profile: as in ``seldio score --profile``.
        average: by class (macro) or over all (micro); the profile's first by default.
        limits: thresholds; those of the profile by default.

    Raises:
        UsageError: there is no such profile or average.
    """

    def __init__(
        self, profile: str = "dcase2023", average: Average | None = None, limits: Thresholds | None = None
    ) -> None:
        self.profile = get(profile)
        self.average: Average = average or self.profile.averages[0]
        if self.average not in self.profile.averages:
            raise UsageError(f"{self.profile.name} has no {self.average} average")
        self._limits = limits or self.profile.limits
        self._classes = len(vocabulary(self.profile.vocabulary))
        self._clips: dict[str, Floats] = {}

    def update(self, clip: str, reference: ClipLabels, prediction: ClipLabels) -> None:
        """Count a clip; one that was counted before is counted again.

        Args:
            clip: its name.
            reference: its label rows: ``frame`` (100 ms), ``class_id``, ``azimuth`` and ``elevation`` in degrees
                (+90 is left and up) or ``x``, ``y``, ``z``, and ``distance`` in metres, ``source`` and
                ``onscreen`` where the profile asks for them.
            prediction: the predictions.

        Raises:
            UsageError: a column is missing.
        """
        sides = []
        for rows in (reference, prediction):
            table = rows
            if not isinstance(table, pa.Table):
                table = pa.table({name: np.asarray(values) for name, values in table.items()})
            if "clip" in table.column_names:
                table = table.drop_columns("clip")
            table = table.append_column("clip", pa.array([clip] * table.num_rows, pa.string()))
            sides.append(event_frames(table, {clip: 0}))
        a, b = sides
        self._clips[clip] = count_sides(a, b, self.profile, self._limits, self._classes, 1)

    def forward(self, clip: str, reference: ClipLabels, prediction: ClipLabels) -> dict[str, float]:
        """Do :meth:`update`, and return the scores of this clip alone; calling the accumulator does the same.

        They are those of ``seldio score --table clips``: a macro average is over the classes that the clip has.

        Raises:
            UsageError: a column is missing.
        """
        self.update(clip, reference, prediction)
        counts = self._clips[clip]
        values = SeldScore(self.profile, self.average, (clip,), counts).present(counts)[0]
        return dict(zip(self.profile.names, values.tolist(), strict=True))

    __call__ = forward

    def update_all(self, reference: Any, prediction: pa.Table) -> None:
        """Count each clip of a table with several, such as :func:`seldio.decode` gives, those without rows too.

        Args:
            reference: the event tables by clip, such as ``dataset.events``, or one table with all of them.
            prediction: an event table.

        Raises:
            UsageError: a predicted clip has no reference, or a column is missing.
        """
        labels = by_clip(reference) if isinstance(reference, pa.Table) else reference
        for clip, rows in by_clip(prediction).items():
            if clip not in labels:
                raise UsageError(f"there are no reference labels for the clip {printable(clip)}")
            self.update(clip, labels[clip], rows)

    def compute(self) -> dict[str, float]:
        """Return the scores over all clips so far: shares from 0 to 1, angles in degrees; NaN where undefined."""
        return self.score().overall

    def score(self) -> SeldScore:
        """Return all counts, for scores by class or by clip and for intervals; clips in alphabetic order."""
        names = sorted(self._clips)
        counts = np.concatenate([no_counts(0, self._classes), *(self._clips[name] for name in names)])
        return SeldScore(self.profile, self.average, tuple(names), counts)

    def merge(self, other: SeldAccumulator | dict[str, Any]) -> None:
        """Take over the clips that another one counted, e.g. in another process; or those of its :meth:`state_dict`.

        A clip that both counted, as where a sampler fills up the last batches with clips from the start, counts once.

        Raises:
            UsageError: the other one counts another way, or counted another number of anything in the same clip.
        """
        if isinstance(other, dict):
            state, other = other, SeldAccumulator(self.profile.name, self.average, self._limits)
            other.load_state_dict(state)
        if (self.profile, self.average, self._limits) != (other.profile, other.average, other._limits):
            raise UsageError("the accumulators count in different ways")
        for clip in sorted(self._clips.keys() & other._clips.keys()):
            if not np.array_equal(self._clips[clip], other._clips[clip], equal_nan=True):
                raise UsageError(
                    f"both accumulators counted {clip}, and not the same: they had other labels of it, or other "
                    "predictions. Give each clip a unique name, and count it with one model"
                )
        self._clips |= other._clips

    merge_state = merge

    def reset(self) -> None:
        """Forget all clips."""
        self._clips = {}

    def state_dict(self) -> dict[str, Any]:
        """Return all counts as numbers and lists that json can hold."""
        clips = {clip: counts[0].tolist() for clip, counts in self._clips.items()}
        limits = dataclasses.asdict(self._limits)
        return {"profile": self.profile.name, "average": self.average, "limits": limits, "clips": clips}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state_dict`.

        Raises:
            UsageError: the state was saved by an accumulator of another profile, or an older seldio.
        """
        current = self.state_dict()
        if any(state[name] != current[name] for name in ("profile", "average", "limits")):
            raise UsageError("the state was saved by an accumulator of another profile")
        if any(len(counts) != len(Count) for counts in state["clips"].values()):
            raise UsageError(
                "the state was saved by another version of seldio, which counted other things: start again"
            )
        self._clips = {clip: np.array([counts], dtype=np.float64) for clip, counts in state["clips"].items()}


def by_clip(table: pa.Table | None) -> dict[str, pa.Table]:
    """Return the rows of each clip, in their order; clips without any are those that the metadata lists."""
    if table is None:
        return {}
    codes, names = clip_codes(table)
    if (np.diff(codes) < 0).any():
        order = np.argsort(codes, kind="stable")
        table, codes = table.take(order), codes[order]
    bounds = np.searchsorted(codes, np.arange(len(names) + 1)).tolist()
    silent = {file.clip: table.slice(0, 0) for file in origin_of(table).files}
    each = zip(names, pairwise(bounds), strict=True)
    return silent | {clip: table.slice(start, stop - start) for clip, (start, stop) in each}
