"""Facts about datasets and benchmarks: contents, licences, citations, addresses, published results.

Each has a file in ``datasets/about``, which is read when somebody asks for it. Numbers are as they were published, and
addresses are text: nothing fetches them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from seldio import benchmarks, plugins
from seldio.errors import UsageError
from seldio.text import clipped, meant, printable


class Citation(NamedTuple):
    """An entry of BibTeX."""

    what: str  # that it is cited for
    bibtex: str


class Results(NamedTuple):
    """Published results: the rows of one table."""

    name: str
    title: str
    profiles: Sequence[str]  # the ways of scoring that they are comparable with
    split: str
    columns: Mapping[str, str]  # the unit of each, ``%`` where shares are from 0 to 100
    rows: Sequence[Mapping[str, Any]]
    note: str = ""
    short: str = ""  # what tells them from others over the same split

    def cell(self, row: Mapping[str, Any], column: str) -> Any:
        """Return a number as scores have it, shares from 0 to 1; ``[number, low, high]`` with its interval; or None."""
        value = row.get(column)
        if isinstance(value, list):
            return [self.cell({column: each}, column) for each in value]
        return float(f"{value}e-2") if self.columns.get(column) == "%" and value is not None else value


@dataclass(frozen=True)
class KnownDataset:
    """The facts about a dataset or benchmark; ``record`` is its file."""

    record: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the name that people type."""
        return str(self.record["name"])

    @property
    def title(self) -> str:
        """One line for people."""
        return str(self.record.get("title") or self.name)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many questions all of it has; none of what holds no questions."""
        benchmark = benchmarks.find(self.name)
        return benchmark.sizes if benchmark is not None else ()

    @property
    def download(self) -> str:
        """The address of the data; empty where none is known."""
        return str(self.record.get("download", ""))

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """How to cite it; an entry may be that of another dataset."""
        return tuple(
            Citation(each["what"], (about(each["of"]).citations[0].bibtex if "of" in each else each["bibtex"]).strip())
            for each in self.record.get("cite", ())
        )

    @property
    def lists(self) -> Iterator[Mapping[str, Any]]:
        """Other tables: their ``title``, ``columns``, and rows by column."""
        yield from self.record.get("lists", ())
        benchmark = benchmarks.find(self.name)
        if benchmark is not None and benchmark.tasks:
            rows = [
                {"task": name, **({"questions": task["weight"]} if "weight" in task else {})}
                for name, task in benchmark.tasks.items()
            ]
            rows.sort(key=lambda row: -row.get("questions", 0))
            yield {"title": "Tasks", "columns": list(rows[0]), "rows": rows}

    @cached_property
    def results(self) -> tuple[Results, ...]:
        """The published results."""
        tables = self.record.get("results", ())
        units = [dict(column.partition(" ")[::2] for column in table["columns"]) for table in tables]
        given = [{key: table[key] for key in Results._fields if key in table} for table in tables]
        return tuple(Results(**{**keys, "columns": columns}) for keys, columns in zip(given, units, strict=True))


_FOLDER = resources.files("seldio") / "datasets" / "about"


@cache
def _read(file: str) -> KnownDataset:
    return KnownDataset(tomllib.loads((_FOLDER / file).read_text("utf-8")))


def every() -> tuple[KnownDataset, ...]:
    """Return all known datasets and benchmarks."""
    facts = sorted((_read(file.name) for file in _FOLDER.iterdir()), key=lambda dataset: int(dataset.record["order"]))
    for record in plugins.datasets():
        if "place" in record and ("license" in record or "cite" in record):
            facts.append(_cited(record))
    return tuple({dataset.name: dataset for dataset in facts}.values())


def find(name: str) -> KnownDataset | None:
    """Return that of the dataset or benchmark called *name*, by its name or an alias; None where there is none."""
    lowered = name.lower()
    if any(file.name == f"{lowered}.toml" for file in _FOLDER.iterdir()):  # no other is read
        return _read(f"{lowered}.toml")
    names = ((dataset, (dataset.name, *dataset.record.get("aliases", ()))) for dataset in every())
    return next((dataset for dataset, each in names if lowered in each), None)


def _cited(record: Mapping[str, Any]) -> KnownDataset:
    cite = [{"what": "the data", "bibtex": record["cite"]}] if "cite" in record else []
    facts = {"name": record["name"], "title": record.get("title"), "license": record.get("license", "")}
    return KnownDataset({**facts, "cite": cite})


def about(name: str) -> KnownDataset:
    """Return the dataset or benchmark called *name*.

    Raises:
        UsageError: there is none; the message lists what there is.
    """
    if (dataset := find(name)) is not None:
        return dataset
    names = [dataset.name for dataset in every()]
    raise UsageError(f"unknown dataset {clipped(name)!r}; choose from {', '.join(names)}{meant(name, names)}")


def with_address(sentence: str, name: str) -> str:
    """Return a *sentence*, and where to download the dataset or benchmark called *name*, where that is known."""
    dataset = find(name)
    return f"{sentence}: {dataset.download}" if dataset is not None and dataset.download else sentence


def bibtex(names: Iterable[str]) -> str:
    """Return how to cite datasets and benchmarks: entries of BibTeX, each once, below a line on what it is cited for.

    Without a name, the names and titles of all, a line each.

    Raises:
        UsageError: there is no such dataset or benchmark, or its dataset.toml has no citation.
    """
    if not (names := [*names]):
        width = max(len(dataset.name) for dataset in every())
        return "\n".join(f"{dataset.name:<{width}}  {dataset.title}" for dataset in every())
    entries: dict[str, str] = {}
    for name in names:
        file = Path(name) if Path(name).name == "dataset.toml" else Path(name, "dataset.toml")
        if not file.is_file():
            dataset = about(name)
        else:
            try:
                record = tomllib.loads(file.read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise UsageError(f"{printable(str(file))} cannot be read: {error}") from None
            if not isinstance(record.get("cite"), str):
                raise UsageError(f'{printable(str(file))} has no citation: write cite = """@misc{{…}}""" there')
            dataset = _cited(record)
        for what, entry in dataset.citations:
            entries.setdefault(entry, f"% {dataset.name}: {what}\n{entry}")
    return "\n\n".join(entries.values())
