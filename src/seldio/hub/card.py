"""The dataset card: what the data shows is written, what people wrote is kept."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from huggingface_hub import DatasetCard
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from seldio.check.description import as_text
from seldio.files import Entry
from seldio.findings import Sink
from seldio.formats import yaml_text
from seldio.formats.about import bibtex
from seldio.hub.configurations import SplitFiles, as_configs, as_dataset_info
from seldio.rules.hub import kind_of
from seldio.text import plural

#: Between these lines stands what seldio wrote; the next push writes it anew.
BEGIN, END = "<!-- written by seldio from the data -->", "<!-- end of what seldio wrote -->"
_WRITTEN = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)
#: What follows from the data: of a card that seldio wrote, these are never kept.
_DERIVED = ("configs", "dataset_info", "size_categories")


@dataclasses.dataclass(frozen=True)
class About:
    """Facts that people state about their data, and that no file contains."""

    license: str | None = None  # an identifier of the Hub's list, such as ``cc-by-4.0``
    languages: tuple[str, ...] = ()  # codes such as ``en``
    title: str | None = None  # what the dataset is called
    citation: str | None = None  # BibTeX

    def completed(self, facts: Mapping[str, Any]) -> About:
        """Return the same with what the dataset says itself, where people do not; see :func:`made_card` for *facts*.

        What is known of a published dataset goes into the card only where all of its labels are here.
        """
        described: Mapping[str, Any] = next(iter(facts.get("datasets", ())), {})
        known: Mapping[str, Any] = next((about for about in facts.get("about", ()) if about["complete"]), {})
        license = self.license or described.get("license") or known.get("license")
        citation = self.citation or described.get("cite") or (bibtex([known["name"]]) if known else None)
        return About(license and license.lower(), self.languages, self.title or described.get("title"), citation)


def read_card(text: str, path: str, sink: Sink) -> DatasetCard | None:
    """Read a card; None where its YAML cannot be read, and what is wrong with that goes to *sink*."""
    text = text.removeprefix("\ufeff")
    block = REGEX_YAML_BLOCK.search(text)
    if block is None:
        return DatasetCard(f"---\n\n---\n{text}")
    lines_above = text[: block.start(2)].count("\n")
    document = yaml_text.parse(b"\n" * lines_above + block[2].encode(), path, sink)
    if document is None or not isinstance(document.value, dict | None):
        return None
    try:
        return DatasetCard(text)
    except (TypeError, ValueError):  # a key that is no text
        return None


def values_of(card: DatasetCard) -> dict[str, Any]:
    """Return the values at the top of a card."""
    return dict(card.data.to_dict())  # type: ignore[no-untyped-call]


def made_card(
    repo: str,
    files: Sequence[Entry],
    splits: Sequence[SplitFiles],
    facts: Mapping[str, Any],
    about: About,
    card: DatasetCard,
) -> DatasetCard:
    """Add to *card* what is lacking, and return it.

    *facts* are what :func:`seldio.check.description.description` says of the source, *about* what people say.
    """
    body = card.text
    kept = {key: value for key, value in values_of(card).items() if BEGIN not in body or key not in _DERIVED}
    made = _values(repo, files, splits, facts, about)
    if "dataset_info" in kept or "configs" in kept:
        made = {key: value for key, value in made.items() if key not in ("dataset_info", "configs")}
    said = {"license": about.license, "language": list(about.languages), "pretty_name": about.title}
    kept |= {key: value for key, value in said.items() if value}
    values = {key: kept.get(key, made.get(key)) for key in dict.fromkeys([*made, *kept])}
    written = "\n".join([BEGIN, *_text(repo, files, splits, facts, about, body), END, ""])
    if not body.strip():
        body = f"# {values['pretty_name']}\n\n{written}"
    elif _WRITTEN.search(body):
        body = _WRITTEN.sub(lambda _: written, body, count=1)
    else:
        body = f"{body.rstrip()}\n\n{written}"
    result = DatasetCard(f"---\n\n---\n{body}")
    for key, value in values.items():
        if value not in (None, [], {}):
            result.data[key] = value
    return result


def _values(
    repo: str, files: Sequence[Entry], splits: Sequence[SplitFiles], facts: Mapping[str, Any], about: About
) -> dict[str, Any]:
    kinds = {kind_of(entry.name) for entry in files}
    items, labels = facts.get("items", []), facts.get("groups", [])
    tasks = ["audio-classification"] * bool(labels) + ["question-answering", "audio-text-to-text"] * bool(items)
    tags = ["audio"] * bool(labels or items or "wav" in kinds) + ["video"] * ("mp4" in kinds)
    tags += ["spatial-audio", "sound-event-localization-and-detection"] * bool(labels)
    tags += ["audio-question-answering"] * bool(items) + ["seldio"]
    clips, questions = sum(group["clips"] for group in labels), sum(group["rows"] for group in items)
    return {
        "language": list(about.languages) or sorted({code for item in items for code in item.get("languages", {})}),
        "license": about.license,
        "pretty_name": about.title or repo.partition("/")[2],
        "tags": tags,
        "task_categories": tasks,
        "size_categories": [size_category(clips or questions or len(files))],
        "configs": as_configs(splits),
        "dataset_info": as_dataset_info(splits),
    }


#: The Hub's names for numbers of rows.
SIZES = (
    "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B", "10B<n<100B",
    "100B<n<1T", "n>1T",
)  # fmt: skip


def size_category(rows: int) -> str:
    """Return the Hub's name for this number of rows.

    >>> size_category(999), size_category(1000), size_category(2_100_000)
    ('n<1K', '1K<n<10K', '1M<n<10M')
    """
    return SIZES[min(max(len(str(rows)) - 3, 0), len(SIZES) - 1)]


def _below(name: str, top: str) -> str:
    """Return the path of a file below the source: where that is on somebody's disk is nobody else's business."""
    start = f"{top.rstrip('/')}/"
    return name.removeprefix(start) if name.startswith(start) else PurePath(name).name


def _text(
    repo: str,
    files: Sequence[Entry],
    splits: Sequence[SplitFiles],
    facts: Mapping[str, Any],
    about: About,
    body: str,
) -> list[str]:
    """Return what the data shows, and how to load, check and fetch it, as lines."""
    size = sum(entry.size for entry in files)
    lines = ["## Contents", "", f"{plural(len(files), 'file')}, {size / 1e6:,.1f} MB.", ""]
    top = facts["path"]
    named = {
        "groups": [{**group, "files": [_below(name, top) for name in group["files"]]} for group in facts["groups"]],
        "items": [{**group, "file": _below(group["file"], top)} for group in facts.get("items", ())],
    }
    summary = as_text({**facts, **named, "about": [], "findings": {}}).split("\n")[2:]
    if any(summary):
        lines += ["```text", *(line for line in summary if not line.startswith("  evidence")), "```", ""]
    if splits:
        lines += ["## Load", "", "```python", "from datasets import load_dataset", ""]
        for config in as_configs(splits):
            name = config["config_name"]
            variable = "data" if name == "default" else re.sub(r"^(?=\d)|\W", "_", name)
            names_of_splits = ", ".join(row["split"] for row in config["data_files"])
            lines.append(f'{variable} = load_dataset("{repo}", "{name}")  # {names_of_splits}')
        lines += ["```", ""]
    lines += ["## Download", "", "```sh", f"seldio pull {repo}", f"seldio validate hf://datasets/{repo}", "```", ""]
    if about.citation and about.citation.strip() not in body:
        fence = "bibtex" if about.citation.lstrip().startswith("@") else "text"
        lines += ["## Citation", "", f"```{fence}", about.citation.strip(), "```", ""]
    return lines
