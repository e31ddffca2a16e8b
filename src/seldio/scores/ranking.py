"""Ranking: the cumulative rank over several scores, as DCASE Task 3 ranks its systems, read from reports or files.

Each system is ranked in each score, the ranks are added up, and the lowest sum is best. The task page of 2023 says:
systems with the same sum share their place and are listed alphabetically. It does not say how systems with the same
score are ranked in it; here they share the better rank, and the next one counts all before it (1, 1, 3).

A cumulative rank depends on who takes part: a system that comes or goes may swap two others.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from seldio.errors import DataError, UsageError
from seldio.files import Limits, open_source, read_entries
from seldio.files.names import suffix_of
from seldio.findings import raise_errors
from seldio.formats import json_text
from seldio.formats.csv_text import read_table, rows
from seldio.reports import json_report
from seldio.reports.spreadsheet import LONG, unguarded
from seldio.reports.tables import INTERVAL_PARTS, Cell, Column, Interval, Notice, ScoreReport, Table
from seldio.scores.seld.profiles import ANGLE, DISTANCE, ER, LE, LR, ONSCREEN, RELATIVE, SELD, F
from seldio.text import listed, plural, printable

#: A report with a row for each of 80,000 clips has as many bytes; parsed, they take many times that in memory.
_LIMITS = Limits(file_bytes=16 * 2**20, lines_bytes=16 * 2**20)
_BOM = b"\xef\xbb\xbf"
_NAMES = ("system", "submission")
_HEAD = (*_NAMES, "track", "rank", "profile")
#: Columns of plain files by name, in small letters; a share above 1 in one of the bounded ones tells per cent.
_KNOWN = (ER, F, LE, LR, SELD, ANGLE, DISTANCE, RELATIVE, ONSCREEN)
_COLUMNS = {column.name.lower(): column for column in _KNOWN}
#: What the task pages and meta files call them, too.
_COLUMNS |= {"f1": F, "er_20": ER, "f_20": F, "le_cd": LE, "lr_cd": LR}
_BOUNDED = {F.name, LR.name, ONSCREEN.name}


@dataclasses.dataclass(frozen=True)
class SystemScore:
    """The overall score of a system."""

    system: str
    values: Mapping[str, Cell]  # by the names of the columns
    track: str = ""  # of the challenge; each is ranked apart
    profile: str = ""  # the way of scoring, where it is known
    source: str = ""  # the file, as shown to people


@dataclasses.dataclass(frozen=True)
class Scores:
    """Systems with their scores, in the order of the files, and the columns of all of them."""

    entries: tuple[SystemScore, ...]
    columns: tuple[Column, ...]


#: The table that tells a report about several systems, each of which has a row in its first table.
COMPARED = "differences"


def scores_of(reports: Iterable[ScoreReport], source: str = "") -> Scores:
    """Return the overall scores of *reports*; see :func:`collected`."""
    parts = []
    for report in reports:
        columns = report.tables[0].columns[1:]
        several = any(table.name == COMPARED for table in report.tables)
        for system, *cells in report.tables[0].rows if several else report.tables[0].rows[:1]:
            pairs = zip(columns, cells, strict=True)
            values = {column.name: cell for column, cell in pairs if cell is not None}
            name = str(system) if several else report.system
            parts.append(Scores((SystemScore(name, values, profile=report.profile, source=source),), columns))
    return collected(parts)


def collected(parts: Sequence[Scores]) -> Scores:
    """Return all systems together.

    Raises:
        DataError: there is none, two have one name (in a track), or they were scored in different ways.
    """
    entries = [entry for part in parts for entry in part.entries]
    if not entries:
        raise DataError("no scores of any system")
    seen: dict[tuple[str, str], SystemScore] = {}
    for entry in entries:
        other = seen.setdefault((entry.track, entry.system), entry)
        if other is not entry:
            files = " and ".join(printable(name) for name in dict.fromkeys((other.source, entry.source)) if name)
            where = f" ({files})" if files else ""
            called = printable(entry.system)
            raise DataError(f"two scores have the name {called}{where}: give each system a different name")
    ways = {entry.profile: entry for entry in entries if entry.profile}
    if len(ways) > 1:
        named = "; ".join(f"{printable(entry.system)} with {printable(way)}" for way, entry in list(ways.items())[:3])
        raise DataError(
            f"these scores are of different profiles and cannot be compared: {named}. Score all with one profile"
        )
    columns = {column.name: column for part in reversed(parts) for column in reversed(part.columns)}  # the first counts
    return Scores(tuple(entries), tuple(reversed(columns.values())))


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Return the scores of a file, or of all ``.json`` and ``.csv`` files of a folder or archive.

    Read are what ``seldio score`` writes as JSON, or as CSV of one table, CSV files with a column ``system`` or
    ``submission`` and one for each score, and lists of such rows in JSON, where ``[0.33, 0.29, 0.37]`` is 0.33. In
    files that seldio did not write, F and LR above 1 show that shares are in per cent.

    Raises:
        UsageError: nothing has that name.
        DataError: a file holds no scores, they cannot be compared, or it is larger than 16 MiB.
    """
    with open_source(path, raise_errors, _LIMITS) as source:
        alone = source.single
        wanted = [entry for entry in source.entries if alone or suffix_of(entry.name) in ("json", "csv")]
        parts = []
        for entry, data in read_entries(wanted, raise_errors):
            text = data.removeprefix(_BOM)
            if text.lstrip()[:1] not in (b"{", b"["):
                parts.append(_of_rows(_csv_records(text, entry.path), entry.path, "row"))
                continue
            document = json_text.parse(text, entry.path, raise_errors)
            value = None if document is None else document.value
            if isinstance(value, list):
                parts.append(_of_rows(value, entry.path, "record"))
            else:
                parts.append(scores_of(json_report.reports(value, printable(entry.path)), entry.path))
    if not parts:
        raise DataError(f"{printable(os.fspath(path))} holds no .json or .csv file with scores")
    return collected(parts)


def _csv_records(data: bytes, path: str) -> list[dict[str, str | None]]:
    """Return the rows of a table of systems, without the ends of intervals."""
    head = next((row for row in rows(data.decode("utf-8", "replace")) if not row.blank), None)
    name = next((name for name in _NAMES if head is not None and name in head.values), _NAMES[0])
    table = read_table(data, path, raise_errors, (name,))
    assert table is not None  # the sink raises
    if table.header[: len(LONG) - 1] == LONG[:-1]:
        raise DataError(
            f"{printable(path)} has every table of a report: give the report as JSON, or its table overall alone"
        )
    ends = {f"{name}_{part}" for name in table.header for part in INTERVAL_PARTS}
    records = (zip(table.header, row, strict=True) for row in table.cells)
    return [{name: cell for name, cell in record if name not in ends} for record in records]


def _of_rows(rows: Sequence[object], path: str, noun: str) -> Scores:
    """Return the systems of rows, whose shares may be in per cent."""
    records = [row for row in rows if isinstance(row, dict)]
    if len(records) < len(rows):
        odd = next(number for number, row in enumerate(rows, 1) if not isinstance(row, dict))
        raise DataError(f"{printable(path)}, {noun} {odd}: expected an object with system and scores")
    header = dict.fromkeys(name for record in records for name in record if name not in _HEAD)
    called = {name: _COLUMNS.get(name.lower(), Column(name, name)) for name in header}
    counts = Counter(called.values())
    called |= {
        name: Column(name, name) for name, column in called.items() if counts[column] > 1 and name != column.name
    }
    scores: list[dict[str, Decimal]] = []
    for record in records:
        numbers = ((called[name].name, _number(record[name])) for name in record if name not in _HEAD)
        scores.append({name: number for name, number in numbers if number is not None})
    columns = {column.name: column for column in called.values() if any(column.name in values for values in scores)}
    if not columns:
        raise DataError(f"{printable(path)} has {plural(len(records), noun)} and no column with numbers")
    bounded = [values[name] for values in scores for name in _BOUNDED & {*values}]
    percent = any(value.is_finite() and value > 1 for value in bounded)
    entries = []
    for number, (record, values) in enumerate(zip(records, scores, strict=True), 1):
        system = next((cell for name in _NAMES if isinstance(cell := record.get(name), str) and cell), None)
        if system is None:
            where = f"{printable(path)}, {noun} {number}"
            raise DataError(f"{where}: missing system name (in a column system or submission)")
        cells: dict[str, Cell] = {}
        for name, value in values.items():
            share = percent and columns[name].unit == "%"
            cells[name] = float(value / 100 if share else value)  # right to the last digit
        entries.append(SystemScore(unguarded(system), cells, str(record.get("track") or ""), source=path))
    return collected([Scores(tuple(entries), tuple(columns.values()))])


def _number(cell: object) -> Decimal | None:
    """Return the number in a cell, or that of an interval; None for all else."""
    value = cell[0] if isinstance(cell, list) and len(cell) in (3, 4) else cell
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


#: What the challenge ranks by: the first row whose scores all systems have is the default.
RANKED: Mapping[str, tuple[str, ...]] = {
    "dcase2023": ("ER", "F", "LE", "LR"),
    "dcase2024": ("F", "AngE", "RelDistE"),
}


def rank_column(column: Column, meaning: str) -> Column:
    """Return the column of the rank in the scores of *column*."""
    return Column(f"{column.name}_rank", f"{column.title} rank", "", 0, "lower", meaning)


def rank(
    systems: Mapping[str, Mapping[str, Cell]], columns: Sequence[Column], *, name: str = "ranking", title: str = ""
) -> Table:
    """Return systems in the order of their cumulative rank over *columns*: the ranks, the scores, the rank in each.

    Of an interval the value counts; what is not defined (NaN) comes last.

    Raises:
        UsageError: no column is given, or one does not say which way is better.
        DataError: a system has no such score.
    """
    if not columns or any(column.better is None for column in columns):
        vague = [column.name for column in columns if column.better is None]
        raise UsageError(f"only scores that have a better direction can be ranked, not {listed(vague) or 'nothing'}")
    names = sorted(systems, key=lambda each: (each.casefold(), each))
    values = np.empty((len(names), len(columns)))
    for number, system in enumerate(names):
        for place, column in enumerate(columns):
            cell = systems[system].get(column.name)
            if not isinstance(cell, Interval | int | float):
                raise DataError(f"{printable(system)} has no {column.name}, and cannot be ranked by it")
            values[number, place] = cell.value if isinstance(cell, Interval) else cell
    keys = values * [1 if column.better == "lower" else -1 for column in columns]
    # 1, 1, 3, lowest first; NaN, which sorts last, shares the last rank
    each_rank = np.stack([np.searchsorted(np.sort(key), key) + 1 for key in keys.T], axis=1)
    sums = each_rank.sum(axis=1)
    places = np.searchsorted(np.sort(sums), sums) + 1
    order = np.argsort(sums, kind="stable")
    heads = (
        Column("system", "system"),
        Column("rank", "rank", "", 0, "lower", "rank by the sum of ranks; equal sums share it"),
        *columns,
        *(rank_column(column, f"rank by {column.title} alone; equals share it") for column in columns),
        Column("sum", "sum of ranks", "", 0, "lower", "cumulative rank"),
    )
    body = tuple(
        (
            names[n],
            int(places[n]),
            *(systems[names[n]][column.name] for column in columns),
            *each_rank[n].tolist(),
            int(sums[n]),
        )
        for n in order
    )
    over = ", ".join(column.title for column in columns)
    return Table(name, f"{title}cumulative rank of {plural(len(names), 'system')} over {over}", heads, body)


def rank_columns(scores: Scores, names: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return the columns to rank by: those with *names*, else those of the first challenge that all systems have.

    ``NAME:higher`` and ``NAME:lower`` say which way is better where the files do not.

    Raises:
        UsageError: there are no such columns; the message lists what there is.
    """
    columns = {column.name: column for column in scores.columns}
    names = [name if name in columns or name.lower() not in _COLUMNS else _COLUMNS[name.lower()].name for name in names]
    for name in names:
        base, _, way = name.rpartition(":")
        if base in columns and way in ("higher", "lower"):
            columns[name] = dataclasses.replace(columns[base], better="higher" if way == "higher" else "lower")
    shared = [name for name, column in columns.items() if all(column.name in entry.values for entry in scores.entries)]
    for wanted in (tuple(names),) if names else RANKED.values():
        if set(wanted) <= set(shared):
            return tuple(columns[name] for name in wanted)
    lacking = [name for name in names if name not in shared]
    missing = f"some systems lack {listed(lacking)}" if names else "no challenge ranks systems by these scores"
    raise UsageError(f"{missing}; scores that all systems have: {listed(shared, 20) or 'none'}. Choose with --metrics")


def report(scores: Scores, names: Sequence[str] = ()) -> ScoreReport:
    """Return the ranking of systems by the scores with *names*, a table for each track; see :func:`rank_columns`."""
    columns = rank_columns(scores, names)
    tables, notices, firsts = [], [], []
    for track in sorted({entry.track for entry in scores.entries}):
        systems = {entry.system: entry.values for entry in scores.entries if entry.track == track}
        title = f"track {track}: " if track else ""
        table = rank(systems, columns, name=f"ranking-{track}" if track else "ranking", title=title)
        tables.append(table)
        best = [str(row[0]) for row in table.rows if row[1] == 1]
        among = f"of {plural(len(systems), 'system')}{f' in track {track}' if track else ''}"
        firsts.append(f"{listed(best)} {'ranks' if len(best) == 1 else 'rank'} first {among}")
    if any(isinstance(cell, float) and np.isnan(cell) for table in tables for row in table.rows for cell in row):
        notices.append(Notice("undefined", "undefined scores share the last rank", grave=True))
    over = f"{plural(len(scores.entries), 'system')}, {plural(len(columns), 'score')}"
    settings = {"ranked_by": ",".join(column.name for column in columns)}
    title = "cumulative rank over " + ", ".join(column.title for column in columns)
    profile = next((entry.profile for entry in scores.entries if entry.profile), "ranking")
    return ScoreReport(
        "ranking", profile, title, over, tuple(tables), tuple(notices), settings, verdict=f"{'; '.join(firsts)}."
    )
