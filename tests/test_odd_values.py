"""Values of another type in each place of a record: findings in each verb, never a bug."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from effort import some
from typer.testing import CliRunner

from seldio.cli import app
from seldio.formats import FORMATS, ItemFormat, get

CASES = Path(__file__).parent / "cases/formats-items"
FILES = sorted(path for path in CASES.glob("*/*.json*") if path.name != "rows.jsonl")
VALUES: tuple[Any, ...] = ({}, [], None, True, "x", -1, 1.5, {"a": {}}, [[{}]], [None])


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand, of lists the first."""
    if at:
        yield at
    pairs = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inside in pairs:
        yield from places(inside, (*at, key))


def exchanged(record: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The record with *value* at a place."""
    top = inside = copy.deepcopy(record)
    for step in at[:-1]:
        inside = inside[step]
    inside[at[-1]] = value
    return top


def variants(path: Path) -> Iterator[tuple[tuple[Any, ...], bytes]]:
    """The first record with each value in each place: alone in its file, and of lines also behind the others."""
    text = path.read_text("utf-8")
    records = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]
    for at in places(records[0]):
        for value in VALUES:
            odd = exchanged(records[0], at, value)
            yield at, f"{json.dumps(odd)}\n".encode()
            if records[1:]:
                yield at, "".join(f"{json.dumps(one)}\n" for one in (*records[1:], odd)).encode()


def test_every_format_has_a_file() -> None:
    assert 12 <= len(FILES)
    assert {path.parent.name for path in FILES} <= {format.name for format in FORMATS}


@pytest.mark.parametrize("part", some(range(3), 3))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_readers_take_any_value(path: Path, part: int) -> None:
    """What can be read can be written again; what cannot, is found."""
    format = get(path.parent.name, ItemFormat)
    for at, data in itertools.islice(variants(path), part, None, 3):
        found: list[Any] = []
        reading = format.read(data, path.name, found.append)
        assert reading is not None or found, (at, data)
        if reading is not None:
            format.write(reading.rows.table, reading.origin)
            assert len(reading.rows) or found or b"[]" in data, (at, data)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_verbs_take_any_value(path: Path, tmp_path: Path) -> None:
    odd, out = tmp_path / path.name, tmp_path / "out"
    for number, (at, data) in enumerate(variants(path)):
        odd.write_bytes(data)
        made = ["convert", str(odd), "--allow-loss", "all", "--force", "-o"]
        verbs = (
            ["info", str(odd)], ["validate", str(odd)], ["validate", str(odd), "--diff"],
            [*made, f"{out}.jsonl", "--to", "items"], [*made, f"{out}.parquet", "--to", "parquet"],
            ["score", str(odd), "-r", str(path)], ["score", str(path), "-r", str(odd)],
        )  # fmt: skip
        done = CliRunner().invoke(app, verbs[number % len(verbs)])  # all of them would take minutes
        told = f"{verbs[number % len(verbs)]} {at} {data!r}\n{done.output}"
        assert done.exception is None or isinstance(done.exception, SystemExit), told
        assert done.exit_code in (0, 1, 2, 3), told
        assert "a bug in seldio" not in done.output, told
