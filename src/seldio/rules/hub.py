"""HUB: what the Hugging Face Hub rejects or cannot show, found before anything is uploaded.

Numbers of files (HUB1), splits and configurations as defined by the card (HUB3), and the YAML values at the
top of the card (HUB6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from seldio.findings import Finding
from seldio.rules.collection import Found
from seldio.rules.hub_folder import HubFolder
from seldio.text import listed, plural, printable

#: Files in a folder that the Hub accepts, and in all that it recommends.
MOST_IN_FOLDER, MOST_FILES = 10_000, 100_000


def hub_folder_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    for name, count in sorted(Counter(name.rpartition("/")[0] for name in folder.names).items()):
        if count > MOST_IN_FOLDER:
            where = printable(name) or "the top folder"
            yield found(folder.path, f"{count:,} files in {where}; the Hub allows {MOST_IN_FOLDER:,} per folder")


def hub_repository_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    if len(folder.files) > MOST_FILES:
        yield found(folder.path, f"{len(folder.files):,} files; the Hub recommends fewer than {MOST_FILES:,}")


def hub_card_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    if folder.card is None:
        yield found(folder.card_path, "the YAML at the top is not a readable mapping")


def hub_no_license(folder: HubFolder, found: Found) -> Iterator[Finding]:
    if folder.card is not None and not folder.card.get("license"):
        yield found(folder.card_path, "no licence: nobody may use the data")


def hub_pattern_without_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    patterns = ((config.name, split, paths) for config in folder.configs for split, paths in config.splits.items())
    for name, split, paths in patterns:
        if missing := [path for path in paths if not folder.matching(path)]:
            what = f"{plural(len(missing), 'pattern')} of configuration {printable(name)}, split {printable(split)}"
            yield found(folder.card_path, f"no file matches {what}: {listed(missing)}")


HUB_RULES = (
    hub_folder_files,
    hub_repository_files,
    hub_card_unreadable,
    hub_no_license,
    hub_pattern_without_files,
)
