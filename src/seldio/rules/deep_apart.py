"""By how much one recording of a clip is later than another, at each time: steps, the drift of a clock, or neither.

W of FOA and the mean of the capsules of MIC hear the same below 500 Hz, so their levels rise and fall together, window
by window. How well the level of the one at a time agrees with that of the other some time later is a likelihood for
each time and lag. The path through it that is most likely (Viterbi, "Error bounds for convolutional codes", 1967) stays
at one lag, or on the line of one clock, and jumps where samples were dropped or inserted; every jump has to pay for
itself. Both recordings were labelled once: these, or zeros in one of them, say which left its place.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from seldio.rules.deep_pieces import Floats, Ints
from seldio.rules.deep_timing import MARGIN, SURE, evidence

if TYPE_CHECKING:
    from seldio.rules.deep_fit import Fit

#: Smallest shift, step and drift over a recording that is known, and longest by which two recordings are apart; s.
SMALLEST, _REACH = 0.015, 1.0
#: Seconds of a block, in which windows are taken together.
_BLOCK = 0.1
#: Decibels above the noise of both recordings from which levels are compared; of a difference, the standard deviation
#: and the most that counts; how much of a window is its own (they overlap by half).
_ABOVE, _SPREAD, _MOST, _OWN = 6.0, 1.0, 3.0, 0.5
#: Log-likelihood that a jump, or a clock, must gain; that by which steps must be more likely than a clock, or less.
_JUMP, _CLEAR = 12.0, 3.0
#: Longest drift over a recording, in steps of the lags, and in seconds per second.
_DRIFT, _FASTEST = 90, 0.005
#: Shortest time (s) between two steps, and shortest one after which all is as before: others are sounds of their own.
_SHORTEST, _AWAY = 0.7, 3.0
#: More steps than this are no known cause, nor is what leaves a larger mean error (s).
_STEPS, _STRAY = 12, 0.005
#: Seconds of a piece for which a lag is measured, smallest correlation there, and smallest share of such pieces.
_PIECE, _ALIKE, _SHARE = 5.0, 0.8, 0.6
#: Level (dB) below which windows are digital silence, and seconds around a step in which it is looked for.
_SILENT, _AROUND = -100.0, 6.0
#: Seconds by which labels may be late or early for both recordings, as a standard deviation.
_ANNOTATED = 0.08


class LagStep(NamedTuple):
    """Samples that were dropped or inserted."""

    time: float  # s
    later: float  # seconds by which the second recording is later than before


class Course(NamedTuple):
    """By how much a recording is later than another, over the whole clip."""

    cost: float  # how unlikely that is
    stray: float  # mean seconds by which pieces differ from it
    later: float  # seconds at the beginning
    drift: float  # seconds per second
    steps: tuple[LagStep, ...]

    def at(self, time: Floats) -> Floats:
        """The seconds at some times (s)."""
        return self.later + self.drift * time + sum((step.later * (time >= step.time) for step in self.steps), 0 * time)


class Apart(NamedTuple):
    """How one recording of a clip differs from another."""

    course: Course
    length: float  # seconds of both
    range: tuple[float, float]  # seconds by which it is later, at least and at most
    known: bool  # whether the course explains this
    louder: float  # decibels by which it is louder

    @property
    def constant(self) -> bool:
        """Whether one shift explains all."""
        return self.known and not self.course.steps and not self.course.drift


def apart(one: Fit, other: Fit) -> Apart | None:
    """How *other* differs from *one*; None where too little is alike."""
    if one.envelope is None or other.envelope is None or min(len(one.envelope), len(other.envelope)) < 2:
        return None
    quantiles = np.linspace(0.5, 0.95, 10)
    louder = float(np.median(np.quantile(other.envelope, quantiles) - np.quantile(one.envelope, quantiles)))
    here, there = one.envelope.astype(np.float64), other.envelope.astype(np.float64) - louder
    floor = max(np.quantile(here, 0.1), np.quantile(there, 0.1)) + _ABOVE
    levels = _Levels(np.maximum(here, floor), np.maximum(there, floor), one.window)
    if not levels.count:
        return None
    path = levels.paths(np.zeros(1))[1][0]
    lags, length = levels.lags(path, 0), levels.count * levels.window
    if not _like(levels, lags):
        return None
    straight = _segments(path)
    tried = [_fitted(levels, straight, 0), _fitted(levels, straight, 0, line=True)]
    if len(straight) > 1 and _FASTEST * length >= levels.grid:
        slopes = np.delete(np.arange(-_DRIFT, _DRIFT + 1), _DRIFT)
        slopes = slopes[np.abs(slopes) * levels.grid <= _FASTEST * length]
        scores, paths = levels.paths(np.asarray(slopes, np.float64))
        best = int(np.argmax(scores))
        tried.append(_fitted(levels, _segments(paths[best]), int(slopes[best])))
    first, *others = sorted(tried, key=lambda course: course.cost)
    rivals = (one for one in others if len(one.steps) != len(first.steps) and one.cost < first.cost + _CLEAR)
    along = first.at(np.asarray((np.arange(levels.blocks) + 0.5) * levels.block * levels.window))
    plain = len(first.steps) <= min(_STEPS, length / _PIECE) and first.stray < _STRAY
    known = plain and not any(rivals) and _like(levels, along)
    return Apart(first, length, (float(lags.min()), float(lags.max())), known, louder)


class _Levels:
    """The levels of two recordings, from which lags are measured in steps of half a window."""

    def __init__(self, here: Floats, there: Floats, window: float) -> None:
        self.window, self.grid = window, window / 2
        self.reach = round(_REACH / self.grid)
        self.block = max(1, round(_BLOCK / window))
        self.count = len(here) // self.block * self.block
        self.here = here[: self.count]
        fine = np.interp(np.arange(2 * len(there) - 1) / 2, np.arange(len(there)), there)
        behind = max(0, 2 * self.count + self.reach - len(fine))
        around = np.concatenate((np.full(self.reach, np.nan), fine, np.full(behind, np.nan)))
        #: the level of the other recording at each lag from each window: shape (windows, lags)
        self.there = sliding_window_view(around, 2 * self.reach + 1)[::2][: self.count]

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return self.count // self.block

    @cached_property
    def likelihood(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """That of each block at each lag, shape (blocks, lags); where the other has ended, all lags are equal."""
        found = np.empty((self.blocks, self.there.shape[1]), np.float32)
        for first in range(0, self.blocks, 1000):
            rows = slice(first * self.block, (first + 1000) * self.block)
            far = (self.there[rows] - self.here[rows, np.newaxis]) / _SPREAD
            each = -0.5 * _OWN * np.minimum(far * far, _MOST**2)
            ended = np.isnan(each)
            if ended.any():
                usual = np.median(np.where(ended, -0.5 * _OWN * _MOST**2, each), axis=1)
                each = np.where(ended, usual[:, np.newaxis], each)
            found[first : first + 1000] = each.reshape(-1, self.block, each.shape[1]).sum(axis=1)
        return found

    def slanted(self, slope: Floats, block: int) -> Ints:
        """By how many lags clocks that drift by *slope* lags over the recording are apart at a block."""
        return np.rint(slope * (block / self.blocks - 0.5)).astype(np.int64)

    def paths(self, slopes: Floats) -> tuple[Floats, Ints]:
        """For each slope, the likelihood of the best path and its lag, less the drift, in each block."""
        last, every = self.there.shape[1] - 1, np.arange(len(slopes))
        lag = np.arange(last + 1)[np.newaxis]
        score = np.zeros((len(slopes), last + 1))
        before = np.empty((self.blocks, len(slopes), last + 1), np.int16)
        for block, row in enumerate(self.likelihood):
            best = score.argmax(axis=1)[:, np.newaxis]
            top = np.take_along_axis(score, best, axis=1) - _JUMP
            jumps = top > score
            before[block] = np.where(jumps, best, lag)
            at = np.clip(lag + self.slanted(slopes, block)[:, np.newaxis], 0, last)
            score = np.where(jumps, top, score) + row[at]
        paths, now = np.empty((len(slopes), self.blocks), np.int64), score.argmax(axis=1)
        for block in range(self.blocks - 1, -1, -1):
            paths[:, block], now = now, before[block, every, now]
        return score.max(axis=1), paths

    def lags(self, path: Ints, slope: float) -> Floats:
        """The lag of each block of a path, s."""
        drift = np.rint(slope * (np.arange(self.blocks) / self.blocks - 0.5))
        return np.asarray((path + drift - self.reach) * self.grid, np.float64)

    def at(self, lags: Floats) -> Floats:
        """The level of the other recording in each window, at the lag (s) of its block; NaN where it has ended."""
        lag = np.repeat(lags, self.block) / self.grid + self.reach
        return np.asarray(self.there[np.arange(self.count), np.clip(np.rint(lag), 0, 2 * self.reach).astype(np.int64)])

    def measured(self, first: int, end: int, lag: int, slope: float) -> tuple[float, float]:
        """The lag (s, less the drift) between two blocks, near *lag*, and how certain it is (a curvature)."""
        rows = np.arange(first, end)
        centre = lag + np.rint(slope * (rows / self.blocks - 0.5)).astype(np.int64)
        near = np.clip(centre[:, np.newaxis] + np.arange(-2, 3), 0, 2 * self.reach)
        total = np.take_along_axis(self.likelihood[rows], near, axis=1).sum(axis=0, dtype=np.float64)
        best = min(max(int(np.argmax(total)), 1), 3)
        low, middle, high = total[best - 1 : best + 2].tolist()
        curve = 2 * middle - low - high
        fine = (high - low) / (2 * curve) if curve > 0 else 0.0
        return (lag + best - 2 + float(np.clip(fine, -1, 1)) - self.reach) * self.grid, max(curve, 0.0)


def _segments(path: Ints) -> list[list[int]]:
    """The stretches of a path at one lag: first block, the block after the last one, lag.

    Those that are too short, and those after which all is as before, belong to their neighbours.
    """
    edges = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(path)]
    found = [[first, end, int(path[first])] for first, end in itertools.pairwise(edges)]
    while len(found) > 1:
        spare = [
            (one[1] - one[0], number) for number, one in enumerate(found)
            if one[1] - one[0] < _SHORTEST / _BLOCK
            or (0 < number < len(found) - 1 and found[number - 1][2] == found[number + 1][2]
                and one[1] - one[0] < _AWAY / _BLOCK)
        ]  # fmt: skip
        if not spare:
            break
        number = min(spare)[1]
        first, end, _ = found.pop(number)
        if number < len(found):  # what was dropped is heard before the step
            found[number][0] = first
        else:
            found[-1][1] = end
        if 0 < number < len(found) and found[number - 1][2] == found[number][2]:
            found[number - 1][1] = found.pop(number)[1]
    return found


def _fitted(levels: _Levels, segments: list[list[int]], slope: int, *, line: bool = False) -> Course:
    """The steps between segments, with the drift of a clock if there is a *slope*; instead of steps, a *line*.

    Lags are measured in pieces, which count as much as these are certain. Steps that are too small are none.
    """
    block, size = levels.block * levels.window, round(_PIECE / _BLOCK)
    drifts = bool(slope) or line
    while True:
        rows, found = [], []
        for number, (first, end, lag) in enumerate(segments):
            for start in range(first, end, size):
                stop = min(start + size, end)
                middle = (start + stop) / 2
                late, weight = levels.measured(start, stop, lag, slope)
                since = [0.0 if line and k else float(number >= k) for k in range(len(segments))]
                rows.append([middle * block if drifts else 0.0, *since])
                found.append((late + slope * (middle / levels.blocks - 0.5) * levels.grid, weight))
        model, lags, weight = np.array(rows), *np.array(found).T
        root = np.sqrt(weight + 1e-6) / levels.grid
        drift, later, *jumps = np.linalg.lstsq(model * root[:, np.newaxis], lags * root, rcond=None)[0].tolist()
        small = [] if line else [(abs(jump), number) for number, jump in enumerate(jumps) if abs(jump) < SMALLEST]
        if small:
            number = min(small)[1]
            longer = max(segments[number : number + 2], key=lambda one: one[1] - one[0])
            both = [segments[number][0], segments[number + 1][1], longer[2]]
            segments = [*segments[:number], both, *segments[number + 2 :]]
            continue
        steps = (
            () if line else tuple(LagStep(one[0] * block, jump) for one, jump in zip(segments[1:], jumps, strict=True))
        )
        stray = lags - model @ [drift, later, *jumps]
        cost = float(np.minimum((stray * root) ** 2 / 2, _JUMP).sum()) + _JUMP * (len(steps) + drifts)
        known = abs(drift) * levels.blocks * block >= SMALLEST
        return Course(cost, float(np.average(np.abs(stray), weights=root)), later, drift if known else 0.0, steps)


def _like(levels: _Levels, lags: Floats) -> bool:
    """Whether both recordings sound alike in most pieces, if the other is later by *lags* (s) of each block."""
    size = round(_PIECE / levels.window)
    there, found = levels.at(lags), []
    for first in range(0, levels.count - size + 1, size):
        here, then = levels.here[first : first + size], there[first : first + size]
        heard = np.isfinite(then)
        if heard.sum() > size // 2 and here[heard].std() > 0 and then[heard].std() > 0:
            found.append(np.corrcoef(here[heard], then[heard])[0, 1] >= _ALIKE)
    return len(found) >= 2 and float(np.mean(found)) >= _SHARE


def at_fault(between: Apart, one: Fit, other: Fit) -> tuple[Fit | None, str]:
    """Which of two recordings is at fault for what differs, and what says so; None if nothing does."""
    for fit, sibling, sign in ((one, other, -1), (other, one, 1)):
        if any(_silent(fit, sibling, step.time, sign * step.later) for step in between.course.steps):
            return fit, "it contains digital silence"
    where, late = _blocks(between, float(one.hop), min(len(one.sound_frames), len(other.sound_frames)))
    far = int(np.ceil(np.abs(late).max())) + 4
    first, second = (_curves(fit, far, where) for fit in (one, other))
    moved = np.linspace(-2, 2, 17)
    prior = -0.5 * (moved * float(one.hop) / _ANNOTATED) ** 2
    wrong_other = [_along(first, far, c + 0 * late) + _along(second, far, c - late) for c in moved]
    wrong_one = [_along(first, far, c + late) + _along(second, far, c + 0 * late) for c in moved]
    totals = [max(((rows.sum() + more), number) for number, (rows, more) in enumerate(zip(each, prior, strict=True)))
              for each in (wrong_one, wrong_other)]  # fmt: skip
    rows = [each[total[1]] for each, total in zip((wrong_one, wrong_other), totals, strict=True)]
    gain, spread = totals[1][0] - totals[0][0], float(np.sqrt(((rows[1] - rows[0]) ** 2).sum()))
    if abs(gain) < MARGIN or abs(gain) < SURE * spread:
        return None, "the labels cannot tell which"
    wrong, right = (other, one) if gain > 0 else (one, other)
    return wrong, f"the labels fit {right.format.upper()}"


def _silent(fit: Fit, sibling: Fit, time: float, length: float) -> bool:
    """Whether a recording has about *length* (s) more of digital silence than another, near a time."""
    first, end = (max(0, round((time + more) / fit.window)) for more in (-_AROUND, length + _AROUND))
    more = (fit.envelope[first:end] < _SILENT).sum() - (sibling.envelope[first:end] < _SILENT).sum()
    return length > 0 and bool(more >= max(1, 0.5 * length / fit.window - 2))


def _blocks(between: Apart, hop: float, count: int) -> tuple[Ints, Floats]:
    """Blocks of label frames within which the recordings are apart by one lag: where they begin, and lags in frames."""
    edges = [round(step.time / hop) for step in between.course.steps]
    starts = np.unique(np.clip([*range(0, count, 20), *edges], 0, max(0, count - 1)))
    middle = (starts + np.append(starts[1:], count)) / 2 * hop
    return starts, between.course.at(middle) / hop


def _curves(fit: Fit, far: int, starts: Ints) -> Floats:
    """How well the labels fit each block if they are late by -far to far label frames: shape (lates, blocks)."""
    rows = (np.sum(evidence(fit.label_frames, fit.sound_frames, late), axis=0) for late in range(-far, far + 1))
    return np.array([np.add.reduceat(row, starts) for row in rows])


def _along(curves: Floats, far: int, late: Floats) -> Floats:
    """The curves of blocks at one time each, in label frames, by the parabola through the three nearest."""
    near = np.clip(np.rint(late + far), 1, 2 * far - 1).astype(np.int64)
    rest, column = late + far - near, np.arange(len(late))
    low, middle, high = (curves[near + more, column] for more in (-1, 0, 1))
    return np.asarray(middle + rest * (high - low) / 2 + rest**2 * (low + high - 2 * middle) / 2)
