"""A score next to the published results of its profile: only over the same clips or questions, with the same limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence

from seldio.formats.about import KnownDataset, Results, every
from seldio.formats.datasets import expected_clips
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport
from seldio.text import listed, plural

STANDING = Column("published_as", "published as", meaning="of published results, whether and how they are official")


@dataclasses.dataclass(frozen=True)
class _Published:
    """Results, and what they are over."""

    dataset: KnownDataset
    results: Results

    @property
    def noun(self) -> str:
        return "question" if self.dataset.sizes else "clip"

    @property
    def clips(self) -> frozenset[str]:
        return expected_clips(self.dataset.name, self.results.split) if self.noun == "clip" else frozenset()

    def __str__(self) -> str:
        count = len(self.clips) or self.dataset.sizes[0]
        return f"{self.results.split} of {self.dataset.name} ({plural(count, self.noun)})"

    def over(self, scored: Collection[str]) -> bool:
        """Return whether they are over what was scored."""
        return self.clips == {*scored} if self.clips else len({*scored}) == self.dataset.sizes[0]

    def rows(self, names: Sequence[str], micro: bool) -> Iterator[tuple[Cell, ...]]:
        """Yield the results in the columns of an overall score; of one over all classes, what was published of that."""
        for row in self.results.rows:
            keys = (f"{name}_micro" if micro and name != "ER" else name for name in names)
            values = (self.results.cell(row, key) for key in keys)
            cells = [Interval(*value) if isinstance(value, list) else value for value in values]
            standing = ["official baseline"] if row.get("baseline") else []
            standing += [f"rank {row['rank']}, {self.results.short}"] if row.get("rank") is not None else []
            yield (row["system"], *cells, ", ".join(standing) or "not official")


def with_baselines(report: ScoreReport, scored: Collection[str], changed: Sequence[str] = ()) -> ScoreReport:
    """Return the report with the published results of its profile as further rows of the overall score, or why not.

    Args:
        report: of one system.
        scored: the clips, or the ids of the questions, that it is over.
        changed: the options that make its numbers others than those of the profile.
    """
    everything = [_Published(dataset, results) for dataset in every() for results in dataset.results]
    asked = [published for published in everything if report.profile in published.results.profiles]
    same = [published for published in asked if published.over(scored)]
    if not asked:
        names = dict.fromkeys(name for published in everything for name in published.results.profiles)
        why = f"none are known for the profile {report.profile}, only for {listed([*names], 20)}"
    elif changed:
        why = f"they have the limits of the profile, and this score another {listed([*changed])}"
    elif not same:
        part = next((f" of {published.results.split}" for published in asked if {*scored} < published.clips), "")
        over = " and ".join(dict.fromkeys(map(str, asked)))
        why = f"they are over {over}, and this score over {plural(len({*scored}), asked[0].noun)}{part}"
    if changed or not same:
        text = f"there are no published results next to this score: {why}"
        return dataclasses.replace(report, notices=(Notice("no-baselines", text, grave=True), *report.notices))
    overall, micro, noun = report.tables[0], report.settings.get("average") == "micro", same[0].noun
    notes = dict.fromkeys(published.results.note for published in same if published.results.note)
    text = (
        f"published results over {' and '.join(dict.fromkeys(map(str, same)))} are shown as they were rounded; that "
        f"this score is over the same {noun}s is known from their {'names' if noun == 'clip' else 'number'} alone"
    )
    notices = (*report.notices, Notice("baselines", "; ".join([text, *notes])))
    if overall.columns[0].name != "system":  # these have a table of their own
        return dataclasses.replace(report, notices=notices)
    columns = [column.name for column in overall.columns[1:]]
    rows = [row for published in same for row in published.rows(columns, micro)]
    scored_rows = [(*row, None) for row in overall.rows if all(row[0] != other[0] for other in rows)]
    table = dataclasses.replace(overall, columns=(*overall.columns, STANDING), rows=(*scored_rows, *rows))
    return dataclasses.replace(report, tables=(table, *report.tables[1:]), notices=notices)
