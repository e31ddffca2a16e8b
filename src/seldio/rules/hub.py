"""HUB: what the Hugging Face Hub rejects or cannot show, found before anything is uploaded.

Numbers of files (HUB1), and the YAML values at the top of the card (HUB6).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from seldio.files import Entry
from seldio.files.names import suffix_of
from seldio.findings import Finding, Severity
from seldio.text import printable

if TYPE_CHECKING:
    from seldio.rules.collection import MakeFinding

#: Suffixes that are one format to the Hub; the first one is its name.
KINDS = (
    ("parquet",), ("csv", "tsv"), ("json", "jsonl", "ndjson"), ("txt",), ("arrow",), ("tar",),
    ("wav", "flac", "mp3", "ogg", "opus", "m4a"), ("mp4", "mkv", "mov", "avi", "webm"),
)  # fmt: skip
_KIND_OF = {suffix: kind[0] for kind in KINDS for suffix in kind}


def kind_of(name: str) -> str:
    """Return the format of a file by its suffix: ``csv`` for .tsv too, ``wav`` for all audio, ``mp4`` for all video."""
    return _KIND_OF.get(suffix_of(name), suffix_of(name))


@dataclasses.dataclass(frozen=True)
class HubFolder:
    """The files to be uploaded."""

    path: str  # the source as the user passed it
    files: Sequence[Entry]  # all files of the repository as it will be, card and Croissant included, sorted by name
    card: Mapping[str, Any] | None  # the YAML values at the top of ``README.md``; None if they cannot be read

    @property
    def card_path(self) -> str:
        """The card as shown to people."""
        return next((entry.path for entry in self.files if entry.name == "README.md"), self.path)


#: Files about the dataset, never part of a split.
ASIDE = frozenset({"README.md", "croissant.json", ".gitattributes"})


# --- rules -------------------------------------------------------------------------------------------------

#: Files in a folder that the Hub accepts, and in all that it recommends.
MOST_IN_FOLDER, MOST_FILES = 10_000, 100_000


def hub_folder_files(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    for name, count in sorted(Counter(entry.name.rpartition("/")[0] for entry in folder.files).items()):
        if count > MOST_IN_FOLDER:
            where = printable(name) or "the top folder"
            yield finding(folder.path, f"{count:,} files in {where}; the Hub allows {MOST_IN_FOLDER:,} per folder")
    if len(folder.files) > MOST_FILES:
        message = f"{len(folder.files):,} files; the Hub recommends fewer than {MOST_FILES:,}"
        hint = "--as parquet embeds them in a few large files"
        yield finding(folder.path, message, hint, severity=Severity.WARNING)


def hub_card_unreadable(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    if folder.card is None:
        yield finding(folder.card_path, "the YAML at the top is not a readable mapping")


def hub_no_license(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    if folder.card is not None and not folder.card.get("license"):
        yield finding(folder.card_path, "no licence: nobody may use the data")


HUB_RULES = (
    hub_folder_files,
    hub_card_unreadable,
    hub_no_license,
)
