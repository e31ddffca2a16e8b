"""HUB: what the Hugging Face Hub rejects or cannot show, found before anything is uploaded.

Numbers and sizes of files (HUB1), splits and configurations as defined by the card (HUB3), and the YAML values at the
top of the card (HUB6).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from seldio.findings import Finding, Rule, Severity
from seldio.rules.collection import Found, grouped
from seldio.rules.hub_folder import HubFolder
from seldio.rules.registry import ERROR, WARNING, register, rule
from seldio.text import listed, plural, printable

#: Amounts to compare with a limit: the path as shown, the name and the amount of each folder, file, table or so.
Amounts = Callable[[HubFolder], Iterable[tuple[str, str, float]]]


class Limit(NamedTuple):
    """An amount of which the Hub accepts at most *most*; above *worse* another rule applies."""

    code: str
    name: str
    severity: Severity
    amounts: Amounts
    most: float
    message: str
    hint: str
    worse: float = math.inf

    def findings(self, folder: HubFolder, found: Found) -> Iterator[Finding]:
        """A finding for each amount that is too large."""
        for path, name, amount in self.amounts(folder):
            if self.most < amount <= self.worse:
                yield found(path, self.message.format(name=name, amount=amount), self.hint)


def _files_by_folder(folder: HubFolder) -> Iterator[tuple[str, str, float]]:
    counts = Counter(name.rpartition("/")[0] for name in folder.names)
    return ((folder.path, printable(name) or "the top folder", count) for name, count in sorted(counts.items()))


def _gigabytes(folder: HubFolder) -> Iterator[tuple[str, str, float]]:
    return ((entry.path, "", entry.size / 1e9) for entry in folder.files)


def _configs(folder: HubFolder) -> list[tuple[str, str, float]]:
    return [(folder.card_path, "", len(folder.configs))]


_ONE_COLUMN = "turn what distinguishes them into a column"
LIMITS = (
    Limit("HUB101", "hub-folder-files", ERROR, _files_by_folder, 10_000,
          "{amount:,} files in {name}; the Hub allows 10,000 per folder", "use subfolders, or --as parquet"),
    Limit("HUB102", "hub-repository-files", WARNING, lambda folder: [(folder.path, "", len(folder.files))], 100_000,
          "{amount:,} files; the Hub recommends fewer than 100,000", "--as parquet embeds them in a few large files"),
    Limit("HUB103", "hub-file-too-large", ERROR, _gigabytes, 500,
          "{amount:,.0f} GB; the Hub stores files of up to 500 GB", "split it into shards"),
    Limit("HUB104", "hub-large-file", WARNING, _gigabytes, 200,
          "{amount:,.0f} GB; the Hub recommends less than 200 GB", "split it into shards", worse=500),
    Limit("HUB301", "hub-splits", ERROR,
          lambda folder: ((folder.card_path, printable(one.name), len(one.splits)) for one in folder.configs), 30,
          "configuration {name} has {amount:,} splits; the viewer shows up to 30",
          "turn them into configurations, or a column"),
    Limit("HUB302", "hub-configs", ERROR, _configs, 4_000,
          "{amount:,} configurations; the viewer shows up to 4,000", _ONE_COLUMN),
)  # fmt: skip
for _limit in LIMITS:
    register(Rule(_limit.code, _limit.name, _limit.severity, "none", _limit.findings, ("HubFolder",)))


@rule("HUB601", ERROR)
def hub_card_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Dataset card whose YAML cannot be read."""
    if folder.card is None:
        yield found(folder.card_path, "the YAML at the top is not a readable mapping", "correct or remove it")


@rule("HUB603", WARNING)
def hub_no_license(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Dataset card without a licence."""
    if folder.card is not None and not folder.card.get("license"):
        yield found(folder.card_path, "no licence: nobody may use the data", "use --license cc-by-4.0, for example")


@rule("HUB305", ERROR)
def hub_pattern_without_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Split of the card without a file."""
    patterns = (
        (config.name, split, pattern)
        for config in folder.configs for split, some in config.splits.items() for pattern in some
    )  # fmt: skip
    lost = grouped((one for one in patterns if not folder.matching(one[2])), lambda one: one[:2])
    for (name, split), missing in lost.items():
        what = f"{plural(len(missing), 'pattern')} of configuration {printable(name)}, split {printable(split)}"
        fits = f"no file matches {what}: {listed([pattern for *_, pattern in missing])}"
        yield found(folder.card_path, fits, "correct the pattern, or remove it")
