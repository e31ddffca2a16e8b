"""SELD counts by the plain road: one clip, one segment, one class at a time, as the facts about the programs say."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from seldio.scores.seld.counting import event_frames
from seldio.scores.seld.scoring import SeldScore, count_sides


class Row(NamedTuple):
    frame: int
    class_id: int
    azimuth: float
    elevation: float
    distance: float = 1.0
    source: int = 0


def angle(a: Row, b: Row) -> float:
    """Degrees between two directions, by the angle between unit vectors."""
    u, v = _vector(a), _vector(b)
    cross = math.hypot(*(u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)))
    return math.degrees(math.atan2(cross, sum(x * y for x, y in zip(u, v, strict=True))))


def _vector(row: Row) -> tuple[float, float, float]:
    az, el = math.radians(row.azimuth), math.radians(row.elevation)
    return math.cos(az) * math.cos(el), math.sin(az) * math.cos(el), math.sin(el)


def best(references: Sequence[Row], predictions: Sequence[Row]) -> list[tuple[int, int, float]]:
    """The cheapest pairing, by trying all of them."""
    few, many = sorted((len(references), len(predictions)))
    choices = []
    for chosen in itertools.permutations(range(many), few):
        pairs = [(i, j) if len(references) == few else (j, i) for i, j in enumerate(chosen)]
        found = [(r, p, angle(references[r], predictions[p])) for r, p in pairs]
        choices.append((sum(cost for _, _, cost in found), found))
    return min(choices, key=lambda choice: choice[0])[1]


def by_frame(rows: Sequence[Row], class_id: int, start: int, stop: int) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row.class_id == class_id and start <= row.frame < stop:
            found[row.frame].append(row)
    return found


def segment_counts(references: Sequence[Row], predictions: Sequence[Row], classes: int) -> dict[str, list[float]]:
    """The counts of 2022 and 2023 for one clip, by class; S, D and I as one sum, with the first."""
    names = ("true", "false", "misplaced", "missed", "references", "matched", "angle")
    sums: dict[str, list[float]] = {name: [0.0] * classes for name in (*names, "errors")}
    last = max(row.frame for row in references)
    for start in range(0, last, 10):
        wrong = lost = 0.0
        for c in range(classes):
            r, p = (by_frame(rows, c, start, start + 10) for rows in (references, predictions))
            most_r, most_p = (max(map(len, side.values()), default=0) for side in (r, p))
            tracks: dict[int, list[float]] = defaultdict(list)
            for frame in sorted(set(r) & set(p)):
                for i, _, error in best(r[frame], p[frame]):
                    tracks[i].append(error)
            means = [sum(errors) / len(errors) for errors in tracks.values()]
            true = sum(mean <= 20 for mean in means)
            apart = bool(r and p and not tracks)
            missed = most_p if apart else max(0, most_r - most_p)
            false = 0 if apart else max(0, most_p - most_r)
            values = (true, false, len(means) - true, missed, most_r, len(means), sum(means))
            for name, value in zip(names, values, strict=True):
                sums[name][c] += value
            wrong += false + len(means) - true
            lost += missed
        sums["errors"][0] += min(wrong, lost) + max(0, lost - wrong) + max(0, wrong - lost)
    return sums


def frame_counts(references: Sequence[Row], predictions: Sequence[Row], classes: int) -> dict[str, list[float]]:
    """The counts of 2024 for one clip, by class."""
    names = ("true", "false", "misplaced", "missed", "references", "matched", "angle", "distance", "relative")
    sums: dict[str, list[float]] = {name: [0.0] * classes for name in names}
    last = max(row.frame for row in references)
    for frame, c in itertools.product(range(last), range(classes)):
        r, p = (by_frame(rows, c, frame, frame + 1)[frame] for rows in (references, predictions))
        pairs = best(r, p) if r and p else []
        distances = [abs(r[i].distance - p[j].distance) for i, j, _ in pairs]
        relatives = [error / r[i].distance for error, (i, _, _) in zip(distances, pairs, strict=True)]
        far = sum(error > 20 or relative > 1 for (_, _, error), relative in zip(pairs, relatives, strict=True))
        values = (
            len(pairs) - far, max(0, len(p) - len(r)), far, max(0, len(r) - len(p)), len(r), len(pairs),
            sum(error for _, _, error in pairs), sum(distances), sum(relatives),
        )  # fmt: skip
        for name, value in zip(names, values, strict=True):
            sums[name][c] += value
    return sums


def score_tables(
    reference: Any, prediction: Any, clips: Sequence[str], profile: Any, average: Any = None, limits: Any = None,
    classes: int = 13,
) -> SeldScore:  # fmt: skip
    """The score of two event tables, by seldio."""
    sides = [event_frames(rows, {clip: n for n, clip in enumerate(clips)}) for rows in (reference, prediction)]
    counts = count_sides(*sides, profile, limits or profile.limits, classes, len(clips))
    return SeldScore(profile, average or profile.averages[0], tuple(clips), counts)
