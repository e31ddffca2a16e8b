"""How often 95 % intervals hold the truth, and how often tests cry wolf, over simulated systems with known scores.

``python benchmarks/coverage.py [SETS [RESAMPLES]]`` draws SETS test sets of each size (by default 250, with 500
resamples each) from a world whose scores are known, and prints the tables of ``docs/concepts/intervals.md``. In that
world a class has its own difficulty and is in 4 to 80 of 100 clips, clips and rooms are easier or harder than others,
and sources of a clip share its fate. A test set may lack a class, as real ones do. The truth is the score of
300,000 clips. The same arguments give the same tables.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from seldio.scores.comparison.pairs import LEVEL, tested
from seldio.scores.resampling import FEWEST, Intervals, interval, units_of
from seldio.scores.seld.counting import Count, no_counts
from seldio.scores.seld.profiles import get
from seldio.scores.seld.scoring import SeldScore

Floats = NDArray[np.float64]
PROFILE = get("dcase2023")
#: In what share of the clips a class is, and how easy it is (log odds): a few common ones, some rare ones.
PRESENT = np.array([0.8, 0.75, 0.3, 0.25, 0.3, 0.2, 0.15, 0.12, 0.35, 0.1, 0.08, 0.06, 0.04])
EASY = np.array([1.2, 0.75, 0.45, 1.05, 0.15, 0.9, -0.15, 0.6, 0.3, 0.0, -0.3, -0.6, -0.45])
#: Clips of a test set, and clips that hold a class, in groups.
SIZES = (20, 54, 168)
HELD = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 168))


class World:
    """Clips with their sources; *rooms* of equal size, whose difficulty differs by *spread*."""

    def __init__(self, seed: int, clips: int, rooms: int = 0, spread: float = 0.0) -> None:
        self.luck = np.random.default_rng(seed)
        self.room = np.arange(clips) % rooms if rooms else np.zeros(clips, dtype=int)
        there = self.luck.random((clips, len(EASY))) < PRESENT
        many = 1 + self.luck.poisson(self.luck.gamma(1.2, 15, there.shape))
        self.references = np.where(there, many, 0)
        self.ease = self.luck.normal(0, 0.6, (clips, 1)) + self.luck.normal(0, 0.6, there.shape)
        self.ease += self.luck.normal(0, spread, max(rooms, 1))[self.room][:, None]

    def system(self, better: float = 0.0) -> SeldScore:
        """What a system makes of the clips; *better* shifts its log odds."""
        luck, references = self.luck, self.references
        ease = self.ease + luck.normal(0, 0.4, references.shape) + better
        matched = luck.binomial(references, _share(ease + EASY + 0.5))
        true = luck.binomial(matched, _share(0.7 * ease + EASY + 0.8))
        false = luck.poisson(np.where(references > 0, 0.15 * references * np.exp(-0.5 * ease), 0.15))
        wrong, missed = (matched - true + false).sum(axis=1), (references - matched).sum(axis=1)
        numbers = {
            Count.TRUE: true, Count.FALSE: false, Count.MISPLACED: matched - true, Count.MISSED: references - matched,
            Count.REFERENCES: references, Count.MATCHED: matched,
            Count.ANGLE: matched * luck.gamma(4, 4 * np.exp(-0.3 * ease)),
        }  # fmt: skip
        counts = no_counts(*references.shape)
        for place, array in numbers.items():
            counts[:, place] = array
        counts[:, Count.ERRORS, 0] = np.maximum(wrong, missed)
        names = tuple(f"room{room + 1}_mix{number}" for number, room in enumerate(self.room.tolist()))
        return SeldScore(PROFILE, "macro", names, counts)


def _share(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)))


def worlds(sets: int, clips: int, rooms: int = 0, spread: float = 0.0) -> Iterable[World]:
    """Test sets, whatever classes they hold."""
    return (World(seed, clips, rooms, spread) for seed in range(2, sets + 2))


def held(low: Floats, high: Floats, truth: Floats) -> NDArray[np.bool_]:
    """Whether intervals hold the truth."""
    return (low <= truth) & (truth <= high)


def single(sets: int, resamples: int, truth: SeldScore) -> None:
    """Intervals of one system, over all classes and by class."""
    whole = truth.values()
    by_support: dict[tuple[str, int], list[float]] = defaultdict(list)
    by_mark: dict[tuple[int, bool, int], list[float]] = defaultdict(list)
    print("| clips | interval | ER | F | LE | LR | SELD | width of F | width of LE |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for clips in SIZES:
        inside, width = defaultdict(list), defaultdict(list)
        for world in worlds(sets, clips):
            score = world.system()
            kinds = {"bootstrap": score.bootstrap(Intervals(bootstrap=resamples)), "jackknife": score.jackknife()}
            support = score.support()[:, 1:]
            for kind, (low, high) in kinds.items():
                inside[kind].append(held(low, high, whole)[:, 0])
                width[kind].append((high - low)[:, 0])
                found = held(low, high, whole)[:, 1:]
                for place, number in np.argwhere((support > 0) & ~np.isnan(low[:, 1:])):
                    if PROFILE.names[place] in ("F", "LE", "LR"):
                        group = next(g for g, (_, most) in enumerate(HELD) if support[place, number] <= most)
                        by_support[kind, group].append(found[place, number])
            for place, weak in enumerate(score.weak().tolist()):
                by_mark[clips, weak, place].append(inside["bootstrap"][-1][place])
        for kind, found in inside.items():
            rates = " | ".join(f"{rate:.0%}" for rate in np.mean(found, axis=0))
            f, le = np.nanmean(width[kind], axis=0)[[1, 2]]
            print(f"| {clips} | {kind} | {rates} | {100 * f:.1f} points | {le:.1f}° |")
    print("\n| clips | bootstrap interval | F | LE | LR | SELD |")
    print("| --- | --- | --- | --- | --- | --- |")
    for clips in SIZES:
        for weak in (True, False):
            some = (by_mark[clips, weak, place] for place in range(1, len(PROFILE.names)))
            rates = " | ".join(f"{np.mean(each):.0%} of {len(each)}" if each else "none" for each in some)
            print(f"| {clips} | {'with *' if weak else 'without *'} | {rates} |")
    print(
        "\n| clips in effect, rounded up | " + " | ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in HELD) + " |"
    )
    print("| --- " * (len(HELD) + 1) + "|")
    for kind in ("bootstrap", "jackknife"):
        print(f"| {kind} | " + " | ".join(f"{np.mean(by_support[kind, n]):.0%}" for n in range(len(HELD))) + " |")


def extremes(sets: int, resamples: int) -> None:
    """Intervals by class of systems so poor, or so good, that no resample differs."""
    print("\n| by class | intervals | hold the truth | width |")
    print("| --- | --- | --- | --- |")
    for better, value in ((-4.0, 0.0), (3.0, 1.0)):
        whole = World(0, 300_000).system(better).values()[:, 1:]
        found: dict[str, list[tuple[bool, float]]] = defaultdict(list)
        for world in (world for clips in SIZES for world in worlds(sets, clips)):
            score = world.system(better)
            own, (low, high) = score.values()[:, 1:], score.bootstrap(Intervals(bootstrap=resamples))
            at_end = (np.abs(own - value) < 1e-9) & (score.support()[:, 1:] >= FEWEST)
            for name in ("F", "LR"):
                place = PROFILE.names.index(name)
                ends = low[place, 1:], high[place, 1:]
                true, wide = held(*ends, whole[place]), ends[1] - ends[0]
                found[name] += zip(true[at_end[place]].tolist(), wide[at_end[place]].tolist(), strict=True)
        for name, some in found.items():
            if some:
                rate, wide = np.mean(some, axis=0)
                print(f"| {name} of {value:.0%} | {len(some)} | {rate:.0%} | {100 * wide:.0f} points |")


def rooms(sets: int, resamples: int) -> None:
    """Intervals over clips and over rooms, where rooms differ."""
    print("\n| test set | resampled | ER | F | LE | LR | SELD |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    whole = World(0, 300_000, 30_000, 0.5).system().values()[:, 0]
    for count in (5, 10, 20):
        for over in ("clips", "rooms"):
            found = []
            for world in worlds(sets, 8 * count, count, 0.5):
                low, high = world.system().bootstrap(Intervals(bootstrap=resamples, over=over))  # type: ignore[arg-type]
                found.append(held(low[:, 0], high[:, 0], whole))
            rates = " | ".join(f"{rate:.0%}" for rate in np.mean(found, axis=0))
            print(f"| {count} rooms of 8 clips | {over} | {rates} |")


def pairs(sets: int, resamples: int, truth: SeldScore) -> None:
    """Differences of two systems that are alike, and of two of which one is better."""
    heads = (
        "clips",
        "the second is",
        "difference held by its interval: ER, F, LE, LR, SELD",
        "p < 0.05",
        "any of the five",
    )
    print(f"\n| {' | '.join(heads)} |")
    print("| --- | --- | --- | --- | --- |")
    for better in (0.0, 0.2):
        other = World(0, 300_000).system(better).values()[:, 0]
        change = np.zeros(5) if not better else other - truth.values()[:, 0]
        for clips in SIZES:
            inside, low_p = [], []
            for world in worlds(sets, clips):
                one, two = world.system(), world.system(better)
                unit_of = units_of(one.clips, "clips")
                draw = Intervals(bootstrap=resamples)
                values = np.array([score.scores(np.ones((1, clips)))[0] for score in (one, two)])
                drawn, p = tested([one, two], values, draw, unit_of)
                inside.append(held(*interval(drawn[:, 1] - drawn[:, 0], clips), change))
                low_p.append(p[0] < LEVEL)
            words = "as good" if not better else "better"
            rates, alarms = (", ".join(f"{rate:.0%}" for rate in np.mean(found, axis=0)) for found in (inside, low_p))
            print(f"| {clips} | {words} | {rates} | {alarms} | {np.mean(np.any(low_p, axis=1)):.0%} |")


def main(sets: int = 250, resamples: int = 500) -> None:
    """Print all tables."""
    truth = World(0, 300_000).system()
    print(f"{sets} test sets of each kind, {resamples:,} resamples\n")
    single(sets, resamples, truth)
    extremes(max(1, sets // 5), resamples)
    rooms(sets, resamples)
    pairs(sets, resamples, truth)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
