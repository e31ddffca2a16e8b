"""Parse the name of a file: its suffix, its name without it, and the kind of media that it names.

What a file *is*, the catalogue tells (:mod:`seldio.catalogues`), which also looks into it.
"""

from __future__ import annotations

from typing import Literal

Media = Literal["audio", "video"]
#: The kind of media by suffix.
MEDIA: dict[str, Media] = {
    **dict.fromkeys(("wav", "flac", "ogg", "opus", "mp3", "m4a", "aif", "aiff", "w64"), "audio"),
    **dict.fromkeys(("mp4", "mov", "mkv", "avi", "webm", "m4v"), "video"),
}
#: The suffixes of recordings, the likeliest first.
AUDIO = tuple(suffix for suffix, kind in MEDIA.items() if kind == "audio")
#: The file in which an export says what it holds.
MANIFEST = "manifest.json"


def suffix_of(name: str) -> str:
    """Return the last suffix of a file name in lower case, without its dot; empty if it has none."""
    return written_suffix(name).lower()


def written_suffix(name: str) -> str:
    """Return the last suffix of a file name as it is written, without its dot; empty if it has none."""
    stem, _, suffix = name.rpartition("/")[2].rpartition(".")
    return suffix if stem else ""


def in_lower_case(name: str) -> bool:
    """Return whether its suffix is written in lower case, so that programs find the file that ask for it."""
    return name.rpartition(".")[2] == suffix_of(name)


def plain_stem(path: str) -> str:
    """Return a file name without its folders and its last suffix; empty where it has no suffix.

    >>> plain_stem("foa_dev/fold3_room21_mix001.wav"), plain_stem("README")
    ('fold3_room21_mix001', '')
    """
    return path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]


def without_suffix(path: str) -> str:
    """Return a path without the last suffix of its file, where it has one."""
    folder, slash, last = path.rpartition("/")
    return folder + slash + (last.rpartition(".")[0] if "." in last else last)


def without_suffixes(path: str) -> str:
    """Return a file name without its folders, up to its first dot: what the files of a sample or a shard share."""
    return path.replace("\\", "/").rpartition("/")[2].partition(".")[0]


def media_type(name: str) -> Media | None:
    """Return whether a file is called like a recording or a video; None for all others."""
    return MEDIA.get(suffix_of(name))


def is_lossless(name: str) -> bool:
    """Return whether a file is called like a recording that is kept sample by sample."""
    return suffix_of(name) in ("wav", "flac")


def is_csv(name: str) -> bool:
    """Return whether a file is called like a table in text, in any spelling."""
    return name.lower().endswith(".csv")  # of ".csv" too, as programs do that look at the end of names
