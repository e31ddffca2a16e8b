"""HUB3: splits and configurations, as the card lays them out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from seldio.findings import Finding
from seldio.rules.base import ERROR, WARNING, Rule, rule
from seldio.rules.collection import Found
from seldio.rules.hub_card import card_path
from seldio.rules.hub_folder import Config, HubFolder, kind_of
from seldio.text import listed, plural, printable

SPLITS, CONFIGS, CROISSANT_CONFIGS = 30, 4_000, 100


@rule("HUB301", ERROR)
def hub_splits(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """More than 30 splits in a configuration.

    The viewer gives up (TooManySplitsError).

    Example:
        a split for each of 45 rooms

    Fix:
        Make them configurations, or a column.

    Reference: dataset-viewer, max_splits.
    """
    for config in folder.configs:
        if len(config.splits) > SPLITS:
            yield found(card_path(folder), f"Configuration {printable(config.name)} has {len(config.splits):,} splits; "
                        f"the viewer shows up to {SPLITS}", "make them configurations, or a column")  # fmt: skip


@rule("HUB302", ERROR)
def hub_configs(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """More than 4,000 configurations.

    The viewer gives up (DatasetWithTooManyConfigsError).

    Example:
        a configuration for each recording

    Fix:
        Make what tells them apart a column.

    Reference: dataset-viewer, max_configs.
    """
    if len(folder.configs) > CONFIGS:
        yield found(card_path(folder), f"{len(folder.configs):,} configurations; the viewer shows up to {CONFIGS:,}",
                    "make what tells them apart a column")  # fmt: skip


@rule("HUB303", WARNING)
def hub_croissant_configs(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """More than 100 configurations.

    All of them load, but the Hub's own Croissant metadata describes the first 100 only.

    Example:
        250 configurations

    Fix:
        Make what tells them apart a column, if search engines are to know all of them.

    Reference: dataset-viewer, croissant: MAX_CONFIGS.
    """
    if CROISSANT_CONFIGS < len(folder.configs) <= CONFIGS:
        yield found(card_path(folder), f"{len(folder.configs):,} configurations; Croissant describes the first 100",
                    "make what tells them apart a column")  # fmt: skip


@rule("HUB304", ERROR)
def hub_mixed_formats(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """Different formats in one configuration.

    ``load_dataset`` takes one reader for a configuration; splits in csv and in Parquet do not load
    (FileFormatMismatchBetweenSplitsError).

    Example:
        train: train.csv, test: test.parquet

    Fix:
        Write all splits in one format, or make two configurations.

    Reference: datasets, infer_module_for_data_files; dataset-viewer, FileFormatMismatchBetweenSplitsError.
    """
    for config in folder.configs:
        kinds = dict.fromkeys(kind_of(name) for name in _names(folder, config) if not _beside_media(name))
        if len(kinds) > 1:
            yield found(card_path(folder), f"Configuration {printable(config.name)} mixes {listed(list(kinds))}",
                        "write all splits in one format, or make two configurations")  # fmt: skip


def _names(folder: HubFolder, config: Config) -> Iterator[str]:
    for patterns in config.splits.values():
        for pattern in patterns:
            yield from (entry.name for entry in folder.matching(pattern))


def _beside_media(name: str) -> bool:
    """Whether a file tells about the media files around it."""
    return name.rpartition("/")[2].startswith("metadata.")


@rule("HUB305", ERROR)
def hub_pattern_without_files(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A split of the card without a file.

    ``load_dataset`` stops (EmptyDatasetError, DataFilesNotFoundError) for the whole configuration.

    Example:
        path: data/validation-*.parquet, and no such file goes up

    Fix:
        Correct the pattern in the card, or take the split out.

    Reference: hub-docs, datasets-manual-configuration.
    """
    lost: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for config in folder.configs:
        for split, patterns in config.splits.items():
            for pattern in patterns:
                if not folder.matching(pattern):
                    lost[config.name, split].append(pattern)
    for (name, split), missing in lost.items():
        what = f"{plural(len(missing), 'pattern')} of configuration {printable(name)}, split {printable(split)}"
        yield found(card_path(folder), f"No file fits {what}: {listed(missing)}", "correct the pattern, or take it out")


RULES: tuple[Rule, ...] = (
    hub_splits, hub_configs, hub_croissant_configs, hub_mixed_formats, hub_pattern_without_files,
)  # fmt: skip
