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

    known: KnownDataset
    results: Results

    @property
    def noun(self) -> str:
        return "question" if self.known.sizes else "clip"

    @property
    def clips(self) -> frozenset[str]:
        return expected_clips(self.known.name, self.results.split) if self.noun == "clip" else frozenset()

    def __str__(self) -> str:
        count = len(self.clips) or self.known.sizes[0]
        return f"{self.results.split} of {self.known.name} ({plural(count, self.noun)})"

    def over(self, scored: Collection[str]) -> bool:
        """Return whether they are over what was scored."""
        return self.clips == {*scored} if self.clips else len({*scored}) == self.known.sizes[0]

    def rows(self, names: Sequence[str], micro: bool) -> Iterator[tuple[Cell, ...]]:
        """Yield the results in the columns of an overall score; of one over all classes, what was published of that."""
        for row in self.results.rows:
            found = [self.results.cell(row, f"{name}_micro" if micro and name != "ER" else name) for name in names]
            cells = [Interval(*cell) if isinstance(cell, list) else cell for cell in found]
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
    every_one = [_Published(known, results) for known in every() for results in known.results]
    asked = [one for one in every_one if report.profile in one.results.profiles]
    same = [one for one in asked if one.over(scored)]
    if not asked:
        names = dict.fromkeys(name for one in every_one for name in one.results.profiles)
        why = f"none are known for the profile {report.profile}, only for {listed([*names], 20)}"
    elif changed:
        why = f"they have the limits of the profile, and this score another {listed([*changed])}"
    elif not same:
        part = next((f" of {one.results.split}" for one in asked if {*scored} < one.clips), "")
        over = " and ".join(dict.fromkeys(map(str, asked)))
        why = f"they are over {over}, and this score over {plural(len({*scored}), asked[0].noun)}{part}"
    if changed or not same:
        text = f"there are no published results next to this score: {why}"
        return dataclasses.replace(report, notices=(Notice("no-baselines", text, grave=True), *report.notices))
    overall, micro, noun = report.tables[0], report.settings.get("average") == "micro", same[0].noun
    notes = dict.fromkeys(one.results.note for one in same if one.results.note)
    text = (
        f"published results over {' and '.join(dict.fromkeys(map(str, same)))} are shown as they were rounded; that "
        f"this score is over the same {noun}s is known from their {'names' if noun == 'clip' else 'number'} alone"
    )
    notices = (*report.notices, Notice("baselines", "; ".join([text, *notes])))
    if overall.columns[0].name != "system":  # these have a table of their own
        return dataclasses.replace(report, notices=notices)
    columns = [column.name for column in overall.columns[1:]]
    rows = [row for one in same for row in one.rows(columns, micro)]
    own = [(*row, None) for row in overall.rows if all(row[0] != other[0] for other in rows)]
    table = dataclasses.replace(overall, columns=(*overall.columns, STANDING), rows=(*own, *rows))
    return dataclasses.replace(report, tables=(table, *report.tables[1:]), notices=notices)
