"""A page for each dataset and benchmark with a record: contents, licences, citations, published results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seldio.formats.about import KnownDataset, Results, every

from . import code, facts, page, table


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page."""
    rows = [
        (f"[{known.name}](datasets/{known.name}.md)", known.title, known.record["license_says"]) for known in every()
    ]
    lines = [("What is known of the datasets and benchmarks, as published. `seldio info NAME` prints it, "
              "`seldio cite NAME` the citation."), ""]  # fmt: skip
    lines += [*table(("name", "what", "licence"), rows), "```{toctree}", ":hidden:", ""]
    lines += [*(f"datasets/{known.name}" for known in every()), "```"]
    yield "datasets.md", page("Datasets and benchmarks", *lines)
    for known in every():
        yield f"datasets/{known.name}.md", page(known.title, *_about(known))


def _about(known: KnownDataset) -> Iterator[str]:
    record = known.record
    doi = f"<https://doi.org/{record['doi']}>" if "doi" in record else ""
    codes = (f"<{address.replace(' ', '> ', 1)}" for address in record.get("code", ()))
    yield from facts(
        ("Licence", record["license_says"]), ("DOI", doi), ("Download", f"<{known.download}>"),
        ("Page", f"<{record['page']}>"), *(("Code", each) for each in codes),
    )  # fmt: skip
    yield from facts(*((name.capitalize(), text) for name, text in record["facts"].items()))
    if parts := record.get("made_from"):
        yield from ("## Made from", "")
        rows = [(one["name"], one["license"], f"<{one['address']}>" if "address" in one else "") for one in parts]
        yield from table(("what", "licence", "address"), rows)
    if classes := record.get("classes"):
        yield from ("## Classes", "")
        rows = [(number, one["name"], "; ".join(one["audioset"]), one.get("holds", ""))
                for number, one in enumerate(classes)]  # fmt: skip
        yield from table(("number", "class", "AudioSet", "what it holds"), rows)
    for results in known.results:
        yield from (f"## {results.title[:1].upper()}{results.title[1:]}", "")
        yield from (f"{results.note[:1].upper()}{results.note[1:]}." if results.note else "", "")
        names = [f"{name} ({unit})" if unit else name for name, unit in results.columns.items()]
        by = any("by" in row for row in results.rows)
        yield from table(("system", *names, *["who"] * by), [_row(results, row, by) for row in results.rows])
    for one in known.lists:
        yield from (f"## {one['title']}", "")
        rows = [[_cell(row[name]) for name in one["columns"]] for row in one["rows"]]
        yield from table(one["columns"], rows)
    yield from ("## How to cite", "")
    for what, entry in known.citations:
        yield from (f"For {what}:", "", *code(entry, "bibtex"))


def _row(results: Results, row: Any, by: bool) -> list[str]:
    official = " (official baseline)" if row.get("baseline") else ""
    return [f"{row['system']}{official}", *(_cell(row[name]) for name in results.columns), *[row.get("by", "")] * by]


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]:g} [{value[1]:g}, {value[2]:g}]"
    if isinstance(value, str):
        return f"<{value}>" if value.startswith("http") else value
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
