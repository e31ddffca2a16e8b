"""Random outputs of networks, for which ``cases/decode`` has what the baselines' own decoders write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """The shape of an output: (windows, frames, tracks, parts, classes), without tracks if there is but one."""

    seed: int
    tracks: int
    parts: int
    windows: int = 2
    frames: int = 8
    classes: int = 13


CASES = {
    "2023-accdoa": Case(1, 1, 3),
    "2023-multi-accdoa": Case(2, 3, 3),
    "2024-multi-accdoa": Case(3, 3, 4),
    "2025-accdoa-audio": Case(4, 1, 3),
    "2025-accdoa-audiovisual": Case(5, 1, 4),
    "2025-multi-accdoa-audio": Case(6, 3, 3),
    "2025-multi-accdoa-audiovisual": Case(7, 3, 4),
}


def tensor(case: Case) -> Any:
    """float32 whose tracks lie close together now and then, whose distances are negative and flags 1 now and then."""
    rng = np.random.default_rng(case.seed)
    shape = (case.windows, case.frames, case.tracks, case.parts, case.classes)
    common = rng.integers(-80, 81, (*shape[:2], 1, *shape[3:]))
    own = rng.integers(-25, 26, shape) * rng.integers(0, 3, (*shape[:3], 1, case.classes))
    values = ((common + own) / 128).astype(np.float32)
    if case.parts == 4 and case.seed > 4:
        values[:, :, :, 3] = np.minimum(np.abs(values[:, :, :, 3]) * 2, 1)
    return values[:, :, 0] if case.tracks == 1 else values


def target(case: Case) -> Any:
    """A target of multi-ACCDOA for :func:`tensor`, with none to three sources of each class."""
    rng = np.random.default_rng(case.seed + 100)
    count = rng.integers(0, 4, (case.windows, case.frames, 1, 1, case.classes))
    track = np.arange(6).reshape(6, 1, 1)
    active = np.select([track == 0, track < 3], [count == 1, count == 2], count == 3)
    parts = rng.integers(-64, 65, (case.windows, case.frames, 6, case.parts, case.classes)) / 64
    return np.concatenate([active, parts * active], axis=3).astype(np.float32)
