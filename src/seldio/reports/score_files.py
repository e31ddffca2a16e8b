"""Score reports as JSON, version 1, and as CSV that is safe to open in a spreadsheet: every digit, and back."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from seldio.errors import DataError
from seldio.reports.tables import Cell, Column, Interval, Notice, ScoreReport, Table
from seldio.text import printable

VERSION = 1
_SPELT = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_END = ("value", "low", "high")


def document(reports: Sequence[ScoreReport]) -> dict[str, Any]:
    """*reports* as an object for json.

    A row is an object with a key for each column. A score that is not defined (NaN) is null; a column that says
    nothing about a row (None) is left out of it. An interval is ``{"value": …, "low": …, "high": …}``; an infinite
    number, for which json has no word, is ``{"number": "inf"}``.
    """
    return {"version": VERSION, "reports": [_report(report) for report in reports]}


def _report(report: ScoreReport) -> dict[str, Any]:
    return {
        "system": report.system,
        "profile": report.profile,
        "title": report.title,
        "over": report.over,
        "settings": {name: _setting(value) for name, value in report.settings.items()},
        "notices": [dataclasses.asdict(notice) for notice in report.notices],
        "tables": [_table(table) for table in report.tables],
    }


def _table(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    rows = [
        {name: _cell(cell) for name, cell in zip(names, row, strict=True) if cell is not None} for row in table.rows
    ]
    return {
        "name": table.name,
        "title": table.title,
        "columns": [dataclasses.asdict(column) for column in table.columns],
        "rows": rows,
    }


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return {name: _cell(value) for name, value in zip(_END, cell, strict=True)}
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else {"number": str(cell)}
    return cell


def _setting(value: object) -> Any:
    """A setting; null is None here, so that NaN is spelt like the infinite numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": str(value)}
    return value


def reports(value: Any, path: str = "<json>") -> tuple[ScoreReport, ...]:
    """The reports of a :func:`document`.

    Raises:
        DataError: it is none, or of a later version; the message says where.
    """
    if not isinstance(value, dict) or "reports" not in value or "version" not in value:
        raise DataError(f"{path} is no score report: a report is an object with version and reports")
    if value["version"] != VERSION:
        raise DataError(
            f"{path} is a score report of version {value['version']!r}; this seldio reads version {VERSION}"
        )
    return tuple(
        _read_report(each, f"{path}, report {number}") for number, each in enumerate(_list(value, "reports", path), 1)
    )


def _read_report(value: Any, where: str) -> ScoreReport:
    tables = [_read_table(each, f"{where}, table {n}") for n, each in enumerate(_list(value, "tables", where), 1)]
    if not tables or not tables[0].rows:
        raise DataError(f"{where} has no table with an overall score")
    notices = [
        Notice(
            _text(each, "name", where), _text(each, "text", where), each.get("grave") is True, each.get("first") is True
        )
        for each in _list(value, "notices", where)
    ]  # fmt: skip
    system, profile, title, over = (_text(value, name, where) for name in ("system", "profile", "title", "over"))
    settings = value.get("settings")
    if not isinstance(settings, dict):
        raise DataError(f"{where}: settings is no object")
    read = {name: _number(part, part) for name, part in settings.items()}
    return ScoreReport(system, profile, title, over, tuple(tables), tuple(notices), read)


def _read_table(value: Any, where: str) -> Table:
    columns = tuple(_column(each, where) for each in _list(value, "columns", where))
    names = [column.name for column in columns]
    if len(set(names)) < len(names) or not names:
        raise DataError(f"{where}: its columns need names, each another one")
    rows = []
    for number, row in enumerate(_list(value, "rows", where), 1):
        if not isinstance(row, dict) or not set(row) <= set(names):
            raise DataError(f"{where}, row {number}: it is no object with the columns {', '.join(names)}")
        rows.append(
            tuple(_read_cell(row[name], f"{where}, row {number}, {name}") if name in row else None for name in names)
        )
    return Table(_text(value, "name", where), _text(value, "title", where), columns, tuple(rows))


def _column(value: Any, where: str) -> Column:
    digits, better = (value.get("digits"), value.get("better")) if isinstance(value, dict) else (None, None)
    if type(digits) is not int or better not in ("higher", "lower", None):
        raise DataError(f"{where}: a column needs digits (a whole number) and better (higher, lower or null)")
    texts = {name: _text(value, name, where) for name in ("name", "title", "unit", "meaning")}
    return Column(**texts, digits=digits, better=better)


def _read_cell(value: Any, where: str) -> Cell:
    if isinstance(value, dict) and set(value) == set(_END):
        return Interval(*(_read_float(value[name], where) for name in _END))
    if isinstance(value, str):
        return value
    return _read_float(value, where)


def _read_float(value: Any, where: str) -> float:
    found = math.nan if value is None else _number(value, None)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise DataError(f"{where}: expected a number, a text, null or an interval")
    return found


def _number(value: Any, other: Any) -> Any:
    """A number, spelt ones included; *other* for what is none."""
    if isinstance(value, dict) and set(value) == {"number"}:
        return _SPELT.get(value["number"], other) if isinstance(value["number"], str) else other
    return value if type(value) in (int, float) else other


def _list(value: Any, key: str, where: str) -> list[Any]:
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, list):
        raise DataError(f"{where}: there is no list {key}")
    return found


def _text(value: Any, key: str, where: str) -> str:
    found = value.get(key) if isinstance(value, Mapping) else None
    if not isinstance(found, str):
        raise DataError(f"{where}: there is no text {key}")
    return found


#: Columns of the long form.
LONG = ("system", "profile", "table", "row", "column", "value", "low", "high")
#: What a spreadsheet takes for a formula at the beginning of a cell; the apostrophe is what guards against it.
_FORMULA = re.compile(r"[=+\-@'＝＋－＠]")


def guarded(text: str) -> str:
    """*text* as a cell that a spreadsheet takes for text: behind an apostrophe if it looks like a formula.

    Controls and invisible characters are escaped.
    """
    plain = printable(text)
    return f"'{plain}" if _FORMULA.match(plain) else plain


def unguarded(cell: str) -> str:
    """The text of a guarded cell."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


def write_table(table: Table) -> str:
    """One table; a column with intervals is followed by ``NAME_low`` and ``NAME_high``.

    A score that is not defined is ``nan``, a cell without anything to say is empty. Shares are from 0 to 1.
    """
    wide = [any(isinstance(row[n], Interval) for row in table.rows) for n in range(len(table.columns))]
    header = [name for column, more in zip(table.columns, wide, strict=True) for name in _names(column, more)]
    rows = ([text for cell, more in zip(row, wide, strict=True) for text in _texts(cell, more)] for row in table.rows)
    return _written([header, *rows])


def write_long(reports: Iterable[ScoreReport]) -> str:
    """All tables, a line for each number."""
    return _written([list(LONG), *(line for report in reports for line in _lines(report))])


def _lines(report: ScoreReport) -> Iterator[list[str]]:
    for table in report.tables:
        for row in table.rows:
            head = [guarded(text) for text in (report.system, report.profile, table.name, str(row[0]))]
            for column, cell in zip(table.columns[1:], row[1:], strict=True):
                if cell is not None:
                    yield [*head, guarded(column.name), *_texts(cell, True)]


def _names(column: Column, wide: bool) -> list[str]:
    name = guarded(column.name)
    return [name, f"{name}_low", f"{name}_high"] if wide else [name]


def _texts(cell: Cell, wide: bool) -> list[str]:
    if isinstance(cell, Interval):
        return [repr(value) for value in cell]
    text = "" if cell is None else guarded(cell) if isinstance(cell, str) else repr(cell)
    return [text, "", ""] if wide else [text]


def _written(rows: Sequence[Sequence[str]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue()
