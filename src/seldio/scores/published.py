"""A score next to the published results of its profile: only over the same clips or questions, with the same limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import NamedTuple

from seldio.formats.about import Results, every
from seldio.formats.datasets import expected_clips
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport
from seldio.text import listed, plural

STANDING = Column("published_as", "published as", meaning="of published results, whether and how they are official")


class _Published(NamedTuple):
    """Results, and what they are over."""

    results: Results
    clips: frozenset[str]  # none where they are over questions
    size: int  # how many clips or questions
    over: str  # in words


def with_baselines(report: ScoreReport, scored: Collection[str], changed: Sequence[str] = ()) -> ScoreReport:
    """Return the report with the published results of its profile as further rows of the overall score, or why not.

    Args:
        report: of one system.
        scored: the clips, or the ids of the questions, that it is over.
        changed: the options that make its numbers others than those of the profile.
    """
    everything, asked, ids = [(dataset, each) for dataset in every() for each in dataset.results], [], {*scored}
    for dataset, results in everything:
        if report.profile in results.profiles:
            clips = frozenset[str]() if dataset.sizes else expected_clips(dataset.name, results.split)
            size, noun = (len(clips), "clip") if clips else (dataset.sizes[0], "question")
            over = f"{results.split} of {dataset.name} ({plural(size, noun)})"
            asked.append(_Published(results, clips, size, over))
    same = [each for each in asked if (each.clips == ids if each.clips else each.size == len(ids))]
    if not asked:
        profiles = dict.fromkeys(name for _, results in everything for name in results.profiles)
        why = f"none are known for the profile {report.profile}, only for {listed([*profiles], 20)}"
    elif changed:
        why = f"they have the limits of the profile, and this score another {listed([*changed])}"
    elif not same:
        of_split = next((f" of {published.results.split}" for published in asked if ids < published.clips), "")
        over = " and ".join(dict.fromkeys(published.over for published in asked))
        noun = "clip" if asked[0].clips else "question"
        why = f"they are over {over}, and this score over {plural(len(ids), noun)}{of_split}"
    if changed or not same:
        text = f"there are no published results next to this score: {why}"
        return dataclasses.replace(report, notices=(Notice("no-baselines", text, grave=True), *report.notices))
    overall, micro = report.tables[0], report.settings.get("average") == "micro"
    notes = dict.fromkeys(published.results.note for published in same if published.results.note)
    nouns, known_by = ("clips", "names") if same[0].clips else ("questions", "number")
    text = (
        f"published results over {' and '.join(dict.fromkeys(published.over for published in same))} are shown as they "
        f"were rounded; that this score is over the same {nouns} is known from their {known_by} alone"
    )
    notices = (*report.notices, Notice("baselines", "; ".join([text, *notes])))
    if overall.columns[0].name != "system":  # these have a table of their own
        return dataclasses.replace(report, notices=notices)
    names = [column.name for column in overall.columns[1:]]
    # of a score over all classes, what was published of that
    keys = [f"{name}_micro" if micro and name != "ER" else name for name in names]
    rows: list[tuple[Cell, ...]] = []
    for results in [published.results for published in same]:
        for row in results.rows:
            values = (results.cell(row, key) for key in keys)
            cells = [Interval(*value) if isinstance(value, list) else value for value in values]
            standing = ["official baseline"] if row.get("baseline") else []
            standing += [f"rank {row['rank']}, {results.short}"] if row.get("rank") is not None else []
            rows.append((row["system"], *cells, ", ".join(standing) or "not official"))
    scored_rows = [(*row, None) for row in overall.rows if all(row[0] != published_row[0] for published_row in rows)]
    table = dataclasses.replace(overall, columns=(*overall.columns, STANDING), rows=(*scored_rows, *rows))
    return dataclasses.replace(report, tables=(table, *report.tables[1:]), notices=notices)
