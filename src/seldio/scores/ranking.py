"""Ranking: the cumulative rank over several scores, as DCASE Task 3 ranks its systems.

Each system is ranked in each score, the ranks are added up, and the lowest sum is best. The task page of 2023 says:
systems with the same sum share their place and are listed alphabetically. It does not say how systems with the same
score are ranked in it; here they share the better rank, and the next one counts all before it (1, 1, 3).

A cumulative rank depends on who takes part: a system that comes or goes may swap two others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from seldio.errors import DataError, UsageError
from seldio.scores.entries import Entry, Scores, read_scores, scores_of
from seldio.scores.result import Cell, Column, Interval, Notice, ScoreReport, Table
from seldio.text import listed, plural, printable

__all__ = ["RANKED", "Entry", "Scores", "rank", "rank_columns", "read_scores", "report", "scores_of"]

#: What the challenge ranks by: the first row whose scores all systems have is the default.
RANKED: Mapping[str, tuple[str, ...]] = {
    "dcase2023": ("ER", "F", "LE", "LR"),
    "dcase2024": ("F", "AngE", "RelDistE"),
}
_MOST_PAIRS = 3


def rank(
    systems: Mapping[str, Mapping[str, Cell]], columns: Sequence[Column], *, name: str = "ranking", title: str = ""
) -> Table:
    """Systems in the order of their cumulative rank over *columns*.

    Args:
        systems: the scores of each by the names of the columns; of an interval the value counts. What is not
            defined (NaN) comes last.
        columns: the scores to rank by; each says which way is better.
        name: of the table.
        title: of the table.

    Returns:
        system, rank, the scores, the rank in each score (``ER_rank``) and the sum of those.

    Raises:
        UsageError: no column is given, or one does not say which way is better.
        DataError: a system has no such score.
    """
    if not columns or any(column.better is None for column in columns):
        vague = [column.name for column in columns if column.better is None]
        raise UsageError(f"rank by scores of which higher or lower is better, not by {listed(vague) or 'nothing'}")
    names = sorted(systems, key=lambda each: (each.casefold(), each))
    ranks = np.stack([_ranks(_values(systems, names, column), column) for column in columns], axis=1)
    sums = ranks.sum(axis=1)
    places = _competition(sums.astype(float))
    rows = tuple(
        (
            names[n],
            int(places[n]),
            *(systems[names[n]][column.name] for column in columns),
            *(int(each) for each in ranks[n]),
            int(sums[n]),
        )
        for n in np.argsort(sums, kind="stable")
    )
    return Table(
        name, title or _title(len(names), columns), (*_HEAD, *columns, *map(_rank_column, columns), _SUM), rows
    )


_HEAD = (
    Column("system", "system"),
    Column("rank", "rank", "", 0, "lower", "place by the sum of ranks; equal sums share it"),
)
_SUM = Column("sum", "sum of ranks", "", 0, "lower", "cumulative rank")


def _rank_column(column: Column) -> Column:
    return Column(
        f"{column.name}_rank", f"{column.title} rank", "", 0, "lower", f"rank by {column.title} alone; equals share it"
    )


def _title(count: int, columns: Sequence[Column]) -> str:
    return f"cumulative rank of {plural(count, 'system')} over {', '.join(column.title for column in columns)}"


def _values(systems: Mapping[str, Mapping[str, Cell]], names: Sequence[str], column: Column) -> npt.NDArray[np.float64]:
    cells = [systems[name].get(column.name) for name in names]
    for name, cell in zip(names, cells, strict=True):
        if cell is None or isinstance(cell, str):
            raise DataError(f"{printable(name)} has no {column.name}: it cannot be ranked by it")
    return np.array([cell.value if isinstance(cell, Interval) else cell for cell in cells], dtype=float)


def _ranks(values: npt.NDArray[np.float64], column: Column) -> npt.NDArray[np.int64]:
    return _competition(values if column.better == "lower" else -values)


def _competition(keys: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """1, 1, 3, lowest first; NaN, which sorts last, shares the last rank."""
    return np.searchsorted(np.sort(keys), keys).astype(np.int64) + 1


def rank_columns(scores: Scores, names: Sequence[str] = ()) -> tuple[Column, ...]:
    """The columns to rank by: those with *names*, else those of the first challenge whose scores all systems have.

    Args:
        scores: the systems.
        names: of columns; ``NAME:higher`` and ``NAME:lower`` say which way is better where the files do not.

    Raises:
        UsageError: there are no such columns; the message lists what there is.
    """
    known = {column.name: column for column in scores.columns}
    for name in names:
        base, _, way = name.rpartition(":")
        if base in known and way in ("higher", "lower"):
            known[name] = dataclasses.replace(known[base], better="higher" if way == "higher" else "lower")
    there = [name for name, column in known.items() if all(column.name in entry.values for entry in scores.entries)]
    for wanted in (tuple(names),) if names else RANKED.values():
        if set(wanted) <= set(there):
            return tuple(known[name] for name in wanted)
    lacking = [name for name in names if name not in there]
    missing = f"not all systems have {listed(lacking)}" if names else "no challenge ranks by these scores"
    raise UsageError(f"{missing}; scores that all systems have: {listed(there, 20) or 'none'}. Name those to rank by")


def report(scores: Scores, names: Sequence[str] = ()) -> ScoreReport:
    """The ranking of systems, a table for each track.

    Args:
        scores: the systems.
        names: of the scores to rank by; without, those of the challenge whose scores the systems have.

    Raises:
        UsageError, DataError: they cannot be ranked by that.
    """
    columns = rank_columns(scores, names)
    tables, notices = [], []
    for track in sorted({entry.track for entry in scores.entries}):
        entries = [entry for entry in scores.entries if entry.track == track]
        title = f"track {track}: {_title(len(entries), columns)}" if track else ""
        systems = {entry.system: entry.values for entry in entries}
        table = rank(systems, columns, name=f"ranking-{track}" if track else "ranking", title=title)
        tables.append(table)
        notices.extend(_published(entries, table, track))
    if any(isinstance(cell, float) and np.isnan(cell) for table in tables for row in table.rows for cell in row):
        notices.append(
            Notice("undefined", "a score that is not defined is ranked last, and shares that rank", grave=True)
        )
    text = "cumulative ranks depend on who takes part: a system more or less may swap two others"
    notices.append(Notice("takes-part", text))
    over = f"{plural(len(scores.entries), 'system')}, {plural(len(columns), 'score')}"
    settings = {"ranked_by": ",".join(column.name for column in columns)}
    title = "cumulative rank over " + ", ".join(column.title for column in columns)
    return ScoreReport("ranking", scores.profile or "ranking", title, over, tuple(tables), tuple(notices), settings)


def _published(entries: Iterable[Entry], table: Table, track: str) -> list[Notice]:
    """Where the published order is another one."""
    told = sorted((entry for entry in entries if entry.place is not None), key=lambda entry: entry.place or 0)
    sums = {str(row[0]): int(str(row[-1])) for row in table.rows}
    swapped = [(a, b) for a, b in pairwise(told) if a.place != b.place and sums[a.system] >= sums[b.system]]
    if not swapped:
        return []
    pairs = [" and ".join(f"{printable(each.system)} ({each.place}, here {sums[each.system]})" for each in pair)
             for pair in swapped[:_MOST_PAIRS]]  # fmt: skip
    more = f" and {len(swapped) - _MOST_PAIRS:,} more pairs" if len(swapped) > _MOST_PAIRS else ""
    last, listed_here = told[-1].place or 0, plural(len(told), "system")
    why = ""
    if last > len(told):
        why = f". Published places run to {last}, {listed_here} are listed: others took part, and count in the sums"
    where = f"track {track}: " if track else ""
    what = "the values give another order, or the same sum, for systems with these published places and sums of ranks"
    text = f"{where}{what}: {'; '.join(pairs)}{more}{why}"
    return [Notice("published-order", text, grave=True)]
