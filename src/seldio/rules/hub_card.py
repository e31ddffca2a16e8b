"""HUB6: the YAML values at the top of a data set card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from seldio.findings import Finding
from seldio.rules.base import ERROR, WARNING, Rule, rule
from seldio.rules.collection import Found
from seldio.rules.hub_folder import HubFolder
from seldio.text import clipped

#: What the Hub knows, as of its documentation of 2026.
LICENSES = frozenset(
    """
    apache-2.0 mit openrail bigscience-openrail-m creativeml-openrail-m bigscience-bloom-rail-1.0
    bigcode-openrail-m afl-3.0 artistic-2.0 bsl-1.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear c-uda cc
    cc0-1.0 cc-by-2.0 cc-by-2.5 cc-by-3.0 cc-by-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc-by-nc-2.0 cc-by-nc-3.0
    cc-by-nc-4.0 cc-by-nd-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0 cc-by-nc-sa-3.0 cc-by-nc-sa-4.0
    cdla-sharing-1.0 cdla-permissive-1.0 cdla-permissive-2.0 wtfpl ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1
    eupl-1.2 agpl-3.0 gfdl gpl gpl-2.0 gpl-3.0 lgpl lgpl-2.1 lgpl-3.0 isc h-research intel-research lppl-1.3c
    ms-pl apple-ascl apple-amlr mpl-2.0 odc-by odbl openmdw-1.0 openrail++ osl-3.0 postgresql ofl-1.1 ncsa
    unlicense zlib pddl lgpl-lr deepfloyd-if-license fair-noncommercial-research-license llama2 llama3 llama3.1
    llama3.2 llama3.3 llama4 gemma unknown other
    """.split()  # noqa: SIM905
)
TASKS = frozenset(
    """
    text-classification token-classification table-question-answering question-answering zero-shot-classification
    translation summarization feature-extraction text-generation fill-mask sentence-similarity text-to-speech
    text-to-audio automatic-speech-recognition audio-to-audio audio-classification audio-text-to-text
    voice-activity-detection depth-estimation image-classification object-detection image-segmentation
    text-to-image image-to-text image-to-image image-to-video unconditional-image-generation video-classification
    reinforcement-learning robotics tabular-classification tabular-regression tabular-to-text table-to-text
    multiple-choice text-ranking text-retrieval time-series-forecasting text-to-video image-text-to-text
    image-text-to-image image-text-to-video visual-question-answering document-question-answering
    zero-shot-image-classification graph-ml mask-generation zero-shot-object-detection text-to-3d image-to-3d
    image-feature-extraction video-text-to-text keypoint-detection visual-document-retrieval any-to-any
    video-to-video other
    """.split()  # noqa: SIM905
)
SIZES = (
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B",
    "100B<n<1T", "n>1T",
)  # fmt: skip
_LISTS = {"license": LICENSES, "task_categories": TASKS, "size_categories": frozenset(SIZES)}


def card_path(folder: HubFolder) -> str:
    """The card as shown to people."""
    return next((entry.path for entry in folder.files if entry.name == "README.md"), folder.path)


@rule("HUB601", ERROR)
def hub_card_unreadable(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A card whose YAML cannot be read.

    The values stand at the top of README.md between two lines of three dashes. The Hub refuses a
    commit with a card that it cannot read; the syntax errors themselves are reported beside this.

    Example:
        license: [mit

    Fix:
        Correct the YAML, or remove it: seldio then writes it anew.

    Reference: hub-docs, datasets-cards.
    """
    if folder.card is None:
        yield found(card_path(folder), "The YAML at the top is not a mapping that can be read", "correct or remove it")


@rule("HUB602", WARNING)
def hub_card_value(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A licence, task or size that the Hub does not list.

    The Hub accepts values of its lists only: nobody finds the data set by another, or the commit is
    refused.

    Example:
        license: CC BY 4.0

    Fix:
        Take one of the list: ``cc-by-4.0``. For a licence of your own write ``license: other`` with
        ``license_name`` and ``license_link``.

    Reference: hub-docs, repositories-licenses and datasetcard.md.
    """
    for key, value in _values(folder.card or {}):
        if value not in _LISTS[key]:
            near = next((known for known in sorted(_LISTS[key]) if known == str(value).lower().replace(" ", "-")), None)
            yield found(card_path(folder), f"The Hub does not list {key} {clipped(str(value), 40)}",
                        f"did you mean {near}?" if near else "take a value of its list")  # fmt: skip


def _values(card: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in _LISTS:
        given = card.get(key)
        for value in given if isinstance(given, list) else [given]:
            if value is not None:
                yield key, value


@rule("HUB603", WARNING)
def hub_no_license(folder: HubFolder, found: Found) -> Iterator[Finding]:
    """A card without a licence.

    Without one nobody is allowed to use the data, whoever can download it.

    Example:
        a card with pretty_name and tags only

    Fix:
        ``--license cc-by-4.0``, or ``license:`` in the card. Data made from other data keeps their terms.

    Reference: hub-docs, repositories-licenses.
    """
    if folder.card is not None and not folder.card.get("license"):
        yield found(card_path(folder), "Names no licence: nobody may use the data", "--license cc-by-4.0, for example")


RULES: tuple[Rule, ...] = (hub_card_unreadable, hub_card_value, hub_no_license)
