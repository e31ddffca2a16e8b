"""Findings and scores as JSON, version 1, with every digit; and scores read back."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from json import loads as parsed
from typing import Any

from seldio.errors import DataError
from seldio.findings import Report
from seldio.plugins import version
from seldio.reports.tables import (
    Cell,
    Column,
    Interval,
    Notice,
    Options,
    Phrase,
    ScoreReport,
    Subject,
    Table,
    UnreliableInterval,
    WeakInterval,
)
from seldio.text import clipped, json_text

VERSION = 1


def json(subject: Subject, _options: Options) -> Iterator[str]:
    """Yield ``report.as_dict()`` of findings, the :func:`document` of scores; indented by two."""
    lines = json_text(subject.as_dict() if isinstance(subject, Report) else document(subject), indent=2)
    # each pair of numbers is one line; no text has a line break, which brackets of JSON have
    yield re.sub(r"\[\n\s+(\d+),\n\s+(\d+)\n\s+\]", r"[\1, \2]", lines) + "\n"


def jsonl(report: Report, _options: Options) -> Iterator[str]:
    """Yield one finding a line; the last line has the version and the summary instead of a finding."""
    for finding in report.listed()[0]:
        yield json_text(finding.as_dict()) + "\n"
    yield json_text({"version": VERSION, "seldio": version(), "summary": report.summary()}) + "\n"


# --- scores, and back --------------------------------------------------------------------------------------

#: Texts of a report that are left out where they are empty.
_SAID = ("signature", "verdict", "lead")
_SPELT = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def document(reports: Sequence[ScoreReport]) -> dict[str, Any]:
    """Return *reports* as an object for json.

    A row is an object with a key for each column. A score that is not defined (NaN) is null; a column that says
    nothing about a row (None) is left out of it. An interval is ``{"value": …, "low": …, "high": …}``, with
    ``"reliable": false`` where it is from too few clips, and ``"weak": true`` where from few, or in part too few; an
    infinite number, for which json has no word, is ``{"number": "inf"}``.
    """
    written = []
    for report in reports:
        about: dict[str, Any] = {name: getattr(report, name) for name in ("system", "profile", "title", "over")}
        # null is None in settings, so that NaN is spelt there like the infinite numbers
        about["settings"] = {name: _spelt(value) for name, value in report.settings.items()}
        about["notices"] = [dataclasses.asdict(notice) for notice in report.notices]
        about["tables"] = []
        for table in report.tables:
            names = [column.name for column in table.columns]
            pairs = (zip(names, row, strict=True) for row in table.rows)
            rows = [{name: _cell(cell) for name, cell in row if cell is not None} for row in pairs]
            columns = [dataclasses.asdict(column) for column in table.columns]
            about["tables"].append({"name": table.name, "title": table.title, "columns": columns, "rows": rows})
        written.append(about | {name: getattr(report, name) for name in _SAID if getattr(report, name)})
    return {"version": VERSION, "seldio": version(), "reports": written}


def _cell(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        flag = next((flag for kind, flag in _FLAGS.items() if isinstance(cell, kind)), {})
        return {name: _cell(value) for name, value in cell._asdict().items()} | flag
    if isinstance(cell, Phrase):
        return str(cell)
    return None if isinstance(cell, float) and math.isnan(cell) else _spelt(cell)


#: What json adds to an interval of a kind.
_FLAGS: dict[type[Interval], dict[str, bool]] = {UnreliableInterval: {"reliable": False}, WeakInterval: {"weak": True}}


def _spelt(value: Any) -> Any:
    return {"number": str(value)} if isinstance(value, float) and not math.isfinite(value) else value


def reports(value: Any, path: str = "<json>") -> tuple[ScoreReport, ...]:
    """Return the reports of a :func:`document`.

    Raises:
        DataError: it is none, or of a later version; the message says where.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    version = value.get("version", VERSION) if isinstance(value, dict) else VERSION
    if version != VERSION:
        raise DataError(f"{path} is a score report of version {version!r}; this seldio reads version {VERSION}")
    written = {"seldio": "", **value} if isinstance(value, dict) else value  # old ones do not say who wrote them
    error = best_match(Draft202012Validator(schema_file("outputs")["scores"]).iter_errors(written))
    if error is not None:
        raise DataError(f"{path} is not a score report: {error.json_path}: {clipped(error.message, 200)}")
    read = []
    for number, each in enumerate(value["reports"], 1):
        where, tables = f"{path}, report {number}", []
        for place, table in enumerate(each["tables"], 1):
            names = [column["name"] for column in table["columns"]]
            if len(set(names)) < len(names) or not names:
                raise DataError(f"{where}, table {place}: the columns need distinct names")
            odd = next((line for line, row in enumerate(table["rows"], 1) if not set(row) <= set(names)), None)
            if odd is not None:
                text = f"{where}, table {place}, row {odd}: it is not an object with the columns {', '.join(names)}"
                raise DataError(text)
            rows = [tuple(_read_cell(row[name]) if name in row else None for name in names) for row in table["rows"]]
            columns = tuple(Column(**column) for column in table["columns"])
            tables.append(Table(table["name"], table["title"], columns, tuple(rows)))
        if not tables or not tables[0].rows:
            raise DataError(f"{where} has no table with an overall score")
        notices = tuple(Notice(**notice) for notice in each["notices"])
        settings = {name: _number(setting) for name, setting in each["settings"].items()}
        texts = {name: each[name] for name in ("system", "profile", "title", "over", *_SAID) if name in each}
        read.append(ScoreReport(tables=tuple(tables), notices=notices, settings=settings, **texts))
    return tuple(read)


def _read_cell(value: Any) -> Any:
    if isinstance(value, dict) and "value" in value:
        kind = next((kind for kind, flag in _FLAGS.items() if flag.items() <= value.items()), Interval)
        return kind(*(_read_cell(value[name]) for name in Interval._fields))
    return math.nan if value is None else _number(value)


def _number(value: Any) -> Any:
    """Return NaN or an infinity from the object that spells it in JSON; other values unchanged."""
    return _SPELT.get(str(value.get("number")), value) if isinstance(value, dict) else value


def schema_file(name: str = "report") -> dict[str, Any]:
    """Return the JSON Schema of the json report of findings; of ``outputs``, all else that commands print, by name."""
    schema: dict[str, Any] = parsed((resources.files(__package__) / f"{name}.schema.json").read_text("utf-8"))
    return schema
