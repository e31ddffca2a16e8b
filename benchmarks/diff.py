"""`seldio diff` of two versions of 900,000 rows beside reading both: ``python benchmarks/diff.py``.

Processor time of one process, after a first run of both. The versions are the same, differ in one clip, differ in half
of all clips, each in another way, or are noise in one clip of ten: rows
left out, and every other one somewhere near.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import seldio

CLIPS, FRAMES = 1000, 600


def rows(clip: int) -> list[tuple[int, int, int, int, int]]:
    """The rows of a clip: up to three sources, each still for four seconds."""
    draw = np.random.default_rng(clip)
    counts = draw.integers(0, 4, FRAMES)
    return [
        (frame, (frame // 40 + source) % 13, source, (clip + frame // 40 * 7) % 360 - 180, clip % 60 - 30)
        for frame in range(FRAMES)
        for source in range(counts[frame])
    ]


def written(folder: Path, turned: Callable[[int], int], noise: int = 0) -> Path:
    """Write labels in which clip *n* is turned by ``turned(n)`` degrees; one clip of ten is off by up to *noise*."""
    folder.mkdir()
    for clip in range(CLIPS):
        draw, most = np.random.default_rng(clip), noise * (clip % 10 == 0)
        near = draw.integers(-most, most + 1, 3 * FRAMES) + turned(clip)
        there = draw.random(3 * FRAMES) > (1 / 7 if most else 0)
        lines = (
            f"{a},{b},{c},{(d + near[row] + 180) % 360 - 180},{e}"
            for row, (a, b, c, d, e) in enumerate(rows(clip))
            if there[row]
        )
        (folder / f"fold3_room1_mix{clip:04}.csv").write_text("\n".join(lines) + "\n")
    return folder


def seconds(work: Callable[[], object]) -> float:
    """Processor time of the second of two runs."""
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old = written(folder / "old", lambda _: 0)
        others = {
            "the same": written(folder / "same", lambda _: 0),
            "one clip turned": written(folder / "one", lambda clip: 30 * (clip == 7)),
            "half of the clips turned": written(folder / "half", lambda clip: clip % 2 * (clip % 90 + 1)),
            "noise in one clip of ten": written(folder / "noise", lambda _: 0, noise=12),
        }
        for title, new in others.items():
            both = seconds(lambda new=new: [seldio.read(path, format="starss22") for path in (old, new)])  # type: ignore[misc]
            diff = seconds(lambda new=new: seldio.diff(old, new, format="starss22"))  # type: ignore[misc]
            print(f"{title:<26} read both {both:.2f} s, diff {diff:.2f} s: {diff / both:.2f} times")


if __name__ == "__main__":
    main()
