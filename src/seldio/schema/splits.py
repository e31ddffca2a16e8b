"""The names of splits, and what each of them means: one table for trees, exports, the Hub and its cards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seldio.files.names import without_suffixes

if TYPE_CHECKING:
    from seldio.schema.clips import Clip

TRAIN, VALIDATION, TEST, EVAL = "train", "validation", "test", "eval"
#: In this order people and loaders see them; others stand behind.
ORDER = (TRAIN, VALIDATION, TEST, EVAL)
#: What each word means. An evaluation set is no test split: challenges have both, and keep them apart.
WORDS = {
    "train": TRAIN, "training": TRAIN,
    "validation": VALIDATION, "valid": VALIDATION, "val": VALIDATION, "dev": VALIDATION, "devel": VALIDATION,
    "test": TEST, "testing": TEST,
    "eval": EVAL, "evaluation": EVAL,
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_SHARD = re.compile(r"(?P<split>\w+)-\d{5}-of-\d{5}(?:\.\w+)*")


def meaning(name: str) -> str | None:
    """Return the split that the name of a folder or file stands for; None where it is that of no split.

    Evaluation is said by its word alone, whatever is next to it (``eval-test``). Otherwise the last word counts;
    ``dev`` is the development set where another word names a part of it (``dev-test-sony``).

    >>> [meaning(name) for name in ("dev-test-sony", "dev-valid", "eval-test", "dev", "Testing", "latest")]
    ['test', 'validation', 'eval', 'validation', 'test', None]
    """
    words = [word for word in _WORD.findall(name.lower()) if word in WORDS]
    splits = [WORDS[word] for word in words if word != "dev"] or [WORDS[word] for word in words]
    return EVAL if EVAL in splits else splits[-1] if splits else None


def is_name(name: str) -> bool:
    """Return whether a name is that of a split and says nothing else (``dev-test``, but not ``test_tone_3``)."""
    words = _WORD.findall(name.lower())
    return bool(words) and all(word in WORDS for word in words)


#: Top folders of the development set of a challenge, which has its splits inside.
DEVELOPMENT = frozenset(f"{what}_dev" for what in ("foa", "mic", "stereo", "audio", "metadata", "video"))


def split_of(path: str) -> str:
    """Return the split that a path tells; ``train`` where it tells none.

    The nearest folder counts, and words in the name of a file only where no folder says anything, unless the name is
    that of a split. The ``dev`` of ``metadata_dev`` names a set, and no split.

    >>> [split_of(path) for path in ("metadata_dev/a.csv", "qa/dev.jsonl", "valid/test_tone.wav", "data/a.csv")]
    ['train', 'validation', 'validation', 'train']
    >>> split_of("dev-00000-of-00002.parquet"), split_of("fold1-00000-of-00002.tar")
    ('validation', 'fold1')
    """
    *folders, last = path.split("/")
    stem = without_suffixes(last)
    if (shard := _SHARD.fullmatch(last)) is not None:  # its name begins with its split, whatever that is
        return WORDS.get(shard["split"], shard["split"])
    if is_name(stem) and (said := meaning(stem)) is not None:
        return said
    above = (meaning(folder) for folder in reversed(folders) if folder.lower() not in DEVELOPMENT)
    return next((split for split in (*above, meaning(stem)) if split is not None), TRAIN)


def within(name: str, split: str) -> bool:
    """Return whether a split called *name* is, or is a part of, what *split* says (``dev-test``, ``test``)."""
    return name == split or name.startswith(f"{split}-") or (bool(name) and split == meaning(name))


def clip_split(clip: Clip, path: str) -> str:
    """Return the split of a clip: what its dataset tells, or else the *path* of one of its files."""
    return meaning(clip.split or "") or (EVAL if clip.set == "eval" else clip.split or split_of(path))


def place(split: str) -> tuple[int, str]:
    """Return the sort key of a split: train first, unknown ones last."""
    return (ORDER.index(split) if split in ORDER else len(ORDER), split)
