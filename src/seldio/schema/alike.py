"""Whether a prediction and a question are about the same thing, as far as both say."""

from __future__ import annotations

import re

from seldio.schema.qa import Item, Prediction


def same_audio(row: Prediction, item: Item) -> bool:
    """Whether a prediction names the recordings of a question, or none; folders in front do not matter."""
    if not row.audio or not item.audio or row.audio == item.audio:
        return True
    both = zip(row.audio, item.audio, strict=False)
    return len(row.audio) == len(item.audio) and all(_ends_alike(*paths) for paths in both)


def same_task(row: Prediction, item: Item) -> bool:
    """Whether a prediction names the task of a question, or none."""
    return not row.task or not item.task or row.task == item.task


def _ends_alike(*paths: str) -> bool:
    """Whether the shorter path is the end of the longer one."""
    parts = [[part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")] for path in paths]
    short, long = sorted(parts, key=len)
    return long[len(long) - len(short) :] == short
