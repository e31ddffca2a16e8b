"""HUB: what the Hugging Face Hub rejects or cannot show, found before anything is uploaded.

Numbers of files (HUB1), splits and configurations as defined by the card (HUB3), and the YAML values at the top of the
card (HUB6).
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from seldio.files import Entry
from seldio.files.names import suffix_of
from seldio.findings import Finding, Severity
from seldio.text import listed, plural, printable

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
class Config:
    """One configuration of a card: the file patterns of each split."""

    name: str
    splits: Mapping[str, tuple[str, ...]]


@dataclasses.dataclass(frozen=True)
class HubFolder:
    """The files to be uploaded."""

    path: str  # the source as the user passed it
    files: Sequence[Entry]  # all files of the repository as it will be, card and Croissant included, sorted by name
    card: Mapping[str, Any] | None  # the YAML values at the top of ``README.md``; None if they cannot be read

    @cached_property
    def names(self) -> dict[str, Entry]:
        """All files by name."""
        return {entry.name: entry for entry in self.files}

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        """The configurations of the card, in any of the allowed notations of ``data_files``."""
        records = (self.card or {}).get("configs")
        configs = []
        for record in records if isinstance(records, list) else ():
            if not isinstance(record, dict):
                continue
            folder, files = record.get("data_dir"), record.get("data_files")
            above = f"{folder.strip('/')}/" if isinstance(folder, str) and folder.strip("./") else ""
            rows: list[Any] = files if isinstance(files, list) else [files]
            if isinstance(files, dict):
                rows = [{"split": split, "path": path} for split, path in files.items()]
            splits: dict[str, tuple[str, ...]] = {}
            if rows and all(isinstance(row, str) for row in rows):
                splits["train"], rows = tuple(above + row for row in rows), []
            for row in rows:
                if isinstance(row, dict):
                    paths = row.get("path", [])
                    paths = [paths] if isinstance(paths, str) else paths
                    name = str(row.get("split", "train"))
                    splits[name] = tuple(above + str(path).removeprefix("./") for path in paths)
            configs.append(Config(str(record.get("config_name", "default")), splits))
        return tuple(configs)

    def matching(self, pattern: str) -> list[Entry]:
        """Return the files that match a pattern of the card, except for the card and similar files."""
        if pattern in self.names:
            return [self.names[pattern]]
        fits = glob_pattern(pattern)
        return [entry for entry in self.files if fits.fullmatch(entry.name) and entry.name not in ASIDE]

    @property
    def card_path(self) -> str:
        """The card as shown to people."""
        return next((entry.path for entry in self.files if entry.name == "README.md"), self.path)


#: Files about the dataset, never part of a split.
ASIDE = frozenset({"README.md", "croissant.json", ".gitattributes"})


@cache
def glob_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern as the Hub reads it: ``*`` stays within a folder, ``**`` does not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(wild.get(part) or (part if part[:1] == "[" else re.escape(part)) for part in parts))


# --- rules -------------------------------------------------------------------------------------------------

#: Files in a folder that the Hub accepts, and in all that it recommends.
MOST_IN_FOLDER, MOST_FILES = 10_000, 100_000


def hub_folder_files(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    for name, count in sorted(Counter(name.rpartition("/")[0] for name in folder.names).items()):
        if count > MOST_IN_FOLDER:
            where = printable(name) or "the top folder"
            yield finding(folder.path, f"{count:,} files in {where}; the Hub allows {MOST_IN_FOLDER:,} per folder")
    if len(folder.files) > MOST_FILES:
        message = f"{len(folder.files):,} files; the Hub recommends fewer than {MOST_FILES:,}"
        hint = "--as parquet embeds them in a few large files"
        yield dataclasses.replace(finding(folder.path, message, hint), severity=Severity.WARNING)


def hub_card_unreadable(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    if folder.card is None:
        yield finding(folder.card_path, "the YAML at the top is not a readable mapping")


def hub_no_license(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    if folder.card is not None and not folder.card.get("license"):
        yield finding(folder.card_path, "no licence: nobody may use the data")


def hub_pattern_without_files(folder: HubFolder, finding: MakeFinding) -> Iterator[Finding]:
    patterns = ((config.name, split, paths) for config in folder.configs for split, paths in config.splits.items())
    for name, split, paths in patterns:
        if missing := [path for path in paths if not folder.matching(path)]:
            what = f"{plural(len(missing), 'pattern')} of configuration {printable(name)}, split {printable(split)}"
            yield finding(folder.card_path, f"no file matches {what}: {listed(missing)}")


HUB_RULES = (
    hub_folder_files,
    hub_card_unreadable,
    hub_no_license,
    hub_pattern_without_files,
)
