"""Scores of systems, as they are ranked and put side by side: from reports, or from files."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from seldio.errors import DataError
from seldio.files import open_source, read_entries
from seldio.findings import raise_errors
from seldio.formats import json_text
from seldio.formats.csv_table import read_table
from seldio.formats.csv_text import rows
from seldio.scores import score_json
from seldio.scores.result import Cell, Column, Interval, ScoreReport
from seldio.scores.score_csv import LONG, unguarded
from seldio.scores.seld import profiles
from seldio.text import plural, printable

_BOM = b"\xef\xbb\xbf"
_NAMES = ("system", "submission")
_HEAD = (*_NAMES, "track", "rank", "profile")
_ENDS = ("_low", "_high")
#: Columns of plain files by name, in small letters; a share above 1 in one of the bounded ones tells per cent.
_KNOWN = (
    profiles.ER, profiles.F, profiles.LE, profiles.LR, profiles.SELD, profiles.ANGLE, profiles.DISTANCE,
    profiles.RELATIVE, profiles.ONSCREEN,
)  # fmt: skip
_COLUMNS = {column.name.lower(): column for column in _KNOWN}
_BOUNDED = {profiles.F.name, profiles.LR.name, profiles.ONSCREEN.name}


@dataclasses.dataclass(frozen=True)
class Entry:
    """The overall score of a system.

    Args:
        system: its name.
        values: by the names of the columns.
        track: of the challenge; each is ranked apart.
        place: as published, where a file says so.
        profile: the way of scoring, where it is known.
        source: the file, as shown to people.
    """

    system: str
    values: Mapping[str, Cell]
    track: str = ""
    place: int | None = None
    profile: str = ""
    source: str = ""


@dataclasses.dataclass(frozen=True)
class Scores:
    """Systems with their scores.

    Args:
        entries: in the order of the files.
        columns: of all of them.
    """

    entries: tuple[Entry, ...]
    columns: tuple[Column, ...]

    @property
    def profile(self) -> str:
        """The way of scoring that all systems share; empty where it is not known."""
        return next((entry.profile for entry in self.entries if entry.profile), "")


def scores_of(reports: Iterable[ScoreReport], source: str = "") -> Scores:
    """The overall scores of *reports*.

    Raises:
        DataError: see :func:`collected`.
    """
    found = []
    for report in reports:
        columns = report.tables[0].columns[1:]
        values = {column.name: report.overall[column.name] for column in columns}
        kept = {name: cell for name, cell in values.items() if cell is not None}
        found.append(Scores((Entry(report.system, kept, profile=report.profile, source=source),), columns))
    return collected(found)


def collected(parts: Sequence[Scores]) -> Scores:
    """All systems together.

    Raises:
        DataError: there is none, two have one name (in a track), or they were scored in different ways.
    """
    entries = [entry for part in parts for entry in part.entries]
    if not entries:
        raise DataError("there is no score of any system")
    seen: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        other = seen.setdefault((entry.track, entry.system), entry)
        if other is not entry:
            files = " and ".join(printable(name) for name in dict.fromkeys((other.source, entry.source)) if name)
            where = f" ({files})" if files else ""
            called = printable(entry.system)
            raise DataError(f"two scores are called {called}{where}: give each system a name of its own")
    ways = {entry.profile: entry for entry in entries if entry.profile}
    if len(ways) > 1:
        told = "; ".join(f"{printable(entry.system)} with {printable(way)}" for way, entry in list(ways.items())[:3])
        raise DataError(
            f"these were scored in different ways and cannot be compared: {told}. Score all with one profile"
        )
    columns: dict[str, Column] = {}
    for part in parts:
        for column in part.columns:
            columns.setdefault(column.name, column)
    return Scores(tuple(entries), tuple(columns.values()))


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """The scores of a file, or of all ``.json`` and ``.csv`` files of a folder or archive.

    Read are what ``seldio score`` writes as json and csv (one table, or the long form), csv files with a column
    ``system`` or ``submission`` and one for each score, and lists of such rows in json, where ``[0.33, 0.29, 0.37]``
    is a score with its interval. In files that seldio did not write, F and LR above 1 show that shares are in per cent.

    Raises:
        UsageError: nothing has that name.
        DataError: a file holds no scores, or they cannot be compared.
    """
    with open_source(path, raise_errors) as source:
        alone = source.kind not in ("folder", "zip", "tar")
        wanted = [entry for entry in source.entries if alone or entry.name.lower().endswith((".json", ".csv"))]
        parts = [read_bytes(data, entry.path) for entry, data in read_entries(wanted, raise_errors)]
    if not parts:
        raise DataError(f"{printable(os.fspath(path))} holds no .json or .csv file with scores")
    return collected(parts)


def read_bytes(data: bytes, path: str) -> Scores:
    """The scores of one file.

    Raises:
        DataError: it holds none.
    """
    text = data.removeprefix(_BOM)
    return _from_json(text, path) if text.lstrip()[:1] in (b"{", b"[") else _from_csv(text, path)


def _from_json(data: bytes, path: str) -> Scores:
    document = json_text.parse(data, path, raise_errors)
    value = None if document is None else document.value
    if not isinstance(value, list):
        return scores_of(score_json.reports(value, printable(path)), path)
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            raise DataError(f"{printable(path)}, record {number}: expected an object with system and scores")
    return _from_rows(value, path, "record")


def _from_csv(data: bytes, path: str) -> Scores:
    head = next((row for row in rows(data.decode("utf-8", "replace")) if not row.blank), None)
    name = next((name for name in _NAMES if head is not None and name in head.values), _NAMES[0])
    table = read_table(data, path, raise_errors, (name,))
    assert table is not None  # the sink raises
    found = [dict(zip(table.header, row, strict=True)) for row in table.cells]
    if table.header == LONG:
        return _from_long(found, path)
    return _from_rows([dict(_with_intervals(row)) for row in found], path, "row")


def _with_intervals(row: Mapping[str, str | None]) -> Iterator[tuple[str, object]]:
    """The cells of a row, each with those of its ``_low`` and ``_high``."""
    for name, cell in row.items():
        if any(name.endswith(end) and name.removesuffix(end) in row for end in _ENDS):
            continue
        ends = [row.get(name + end) for end in _ENDS]
        yield name, [cell, *ends] if all(ends) else cell


def _from_long(rows: Sequence[Mapping[str, str | None]], path: str) -> Scores:
    """The first row of the first table of each system."""
    firsts: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    values: dict[tuple[str, str], dict[str, object]] = {}
    for row in rows:
        key, place = (row["system"] or "", row["profile"] or ""), (row["table"], row["row"])
        if firsts.setdefault(key, place) == place:
            ends = [row["low"], row["high"]]
            values.setdefault(key, {})[row["column"] or ""] = [row["value"], *ends] if all(ends) else row["value"]
    parts = []
    for (system, profile), found in values.items():
        part = _from_rows([{**found, "system": system}], path, "system", plain=False)
        entries = tuple(dataclasses.replace(entry, profile=unguarded(profile)) for entry in part.entries)
        parts.append(Scores(entries, part.columns))
    return collected(parts)


def _from_rows(rows: Sequence[Mapping[str, object]], path: str, noun: str, plain: bool = True) -> Scores:
    """Systems of rows; *plain* ones may have shares in per cent."""
    found = [
        {_column(name).name: score for name, cell in row.items() if name not in _HEAD and (score := _score(cell))}
        for row in rows
    ]
    columns = {name: _column(name) for values in found for name in values}
    if not columns:
        raise DataError(f"{printable(path)} has {plural(len(rows), noun)} and no column with numbers")
    bounded = [values[name][0] for values in found for name in _BOUNDED & set(values)]
    percent = plain and any(value.is_finite() and value > 1 for value in bounded)
    entries = []
    for number, (row, values) in enumerate(zip(rows, found, strict=True), 1):
        cells = {name: _cell(score, percent and columns[name].unit == "%") for name, score in values.items()}
        system = _system(row, f"{printable(path)}, {noun} {number}")
        track, place = row.get("track"), str(row.get("rank"))
        entries.append(
            Entry(
                system, cells, str(track or ""), int(place) if re.fullmatch(r"[0-9]{1,9}", place) else None, source=path
            )
        )
    return collected([Scores(tuple(entries), tuple(columns.values()))])


def _system(row: Mapping[str, object], where: str) -> str:
    for name in _NAMES:
        if isinstance(cell := row.get(name), str) and cell:
            return unguarded(cell)
    raise DataError(f"{where}: there is no name of a system (in a column system or submission)")


def _column(name: str) -> Column:
    return _COLUMNS.get(name.lower(), Column(name, name))


def _score(cell: object) -> tuple[Decimal, ...] | None:
    """A number, or a number with the ends of its interval; None for anything else."""
    parts = cell if isinstance(cell, list) and len(cell) == 3 else [cell]
    if any(isinstance(part, bool) or not isinstance(part, (str, int, float)) for part in parts):
        return None
    try:
        return tuple(Decimal(str(part)) for part in parts)
    except InvalidOperation:
        return None


def _cell(score: tuple[Decimal, ...], percent: bool) -> Cell:
    """A score as a number; of per cent a hundredth, right to the last digit."""
    value, *ends = (float(part / 100 if percent else part) for part in score)
    return Interval(value, *ends) if ends else value
