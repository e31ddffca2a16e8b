"""Whether a prediction and a question are about the same thing, as far as both say."""

from __future__ import annotations

import re
from collections.abc import Sequence


def same_audio(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both name the same recordings, or one of them none; folders in front do not matter."""
    if not one or not other or one == other:
        return True
    return len(one) == len(other) and all(map(_ends_alike, one, other))


def same_task(one: str | None, other: str | None) -> bool:
    """Whether both name the same task, or one of them none."""
    return not one or not other or one == other


def _ends_alike(*paths: str) -> bool:
    """Whether the shorter path is the end of the longer one."""
    short, long = sorted(paths, key=len)
    if long.endswith(f"/{short}"):
        return True
    parts = [[part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")] for path in paths]
    less, more = sorted(parts, key=len)
    return more[len(more) - len(less) :] == less
