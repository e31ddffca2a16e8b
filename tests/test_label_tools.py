"""Labels of people's own tools: whatever is written is read back, whatever is broken is found, nothing is invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio.findings import Finding
from seldio.formats import TOOLS, TextFile, get
from seldio.formats.label_tools import ToolFormat, ToolLabel
from seldio.rules import CATALOGUE
from seldio.schema.event_rows import to_events
from seldio.schema.events import ClipFile

CASES = Path(__file__).parent / "cases"
tools = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
#: Text that people write, and text that they do not.
ODD = ["Knock", "dog az=3", "a=b", " x ", "tab\there", "two\nlines", "null", '"q"', "class=x", "a,"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(ODD)
JSON = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-1e9, 1e9, allow_nan=False) | TEXT
NUMBERS = {
    "azimuth": st.floats(-180, 180), "elevation": st.floats(-90, 90), "distance": st.floats(0, 100),
    "score": st.floats(0, 1), "source": st.integers(-5, 50).map(float),
}  # fmt: skip
EXTRA = st.dictionaries(
    TEXT | st.sampled_from(["low_hz", "tier", "channel", "az", "extra", "Begin File", "note"]), JSON, max_size=3
)


def read(tool: Any, data: bytes | str) -> tuple[pa.Table, list[Finding], Any]:
    found: list[Finding] = []
    data, name = data.encode() if isinstance(data, str) else data, f"kitchen_1{tool.suffix}"
    reading = tool.read([TextFile(name, name, "kitchen_1", data)], found.append)
    return reading.table, found, reading


@st.composite
def labels(draw: st.DrawFn) -> ToolLabel:
    label = ToolLabel(draw(st.integers(0, 10**7)) / 1000, 0.0, draw(TEXT | st.just("")), {})
    label.offset = label.onset + draw(st.integers(0, 10**6)) / 1000
    label.offset = round(label.offset, 3)
    label.values = {field: draw(kind) + 0.0 for field, kind in NUMBERS.items() if draw(st.booleans())}
    label.extra = draw(EXTRA)
    return label


@tools
@given(st.lists(labels(), max_size=4))
@settings(max_examples=examples(60))
def test_what_is_written_is_read_back(tool: ToolFormat, given: list[ToolLabel]) -> None:
    table = pa.table(tool.columns(given))
    file = ClipFile("kitchen_1", f"kitchen_1{tool.suffix}")
    table = table.append_column("clip", pa.array(["kitchen_1"] * len(table)).dictionary_encode())
    data = tool.write(table, file)
    again, found, reading = read(tool, data)
    assert [finding for finding in found if finding.code != "SYN505"] == []
    assert sorted(map(repr, rows(table))) == sorted(map(repr, rows(again)))
    assert tool.write(again, reading.parts[0].origin) == data


def rows(table: pa.Table, digits: int = 17) -> list[Any]:
    listed = table.drop_columns("clip").to_pylist()
    listed = [{key: value for key, value in row.items() if value is not None} for row in listed]
    for row in listed:
        row |= {"onset": round(row["onset"], digits), "offset": round(row["offset"], digits)}
        if "extra" in row:
            pairs = json.loads(row["extra"]).items()
            row["extra"] = sorted((key, float(value) if type(value) is int else value) for key, value in pairs)
    return [sorted(row.items()) for row in listed]


def example(tool: ToolFormat) -> Path:
    return next(path for path in sorted((CASES / "formats" / tool.name).iterdir()) if path.suffix == tool.suffix)


@tools
@given(st.data())
@settings(max_examples=examples(80))
def test_broken_files_never_stop_the_reader(tool: ToolFormat, data: st.DataObject) -> None:
    """A piece cut out, put in, or doubled; every finding has its place, and what can be read is written."""
    text = bytearray(example(tool).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        end = min(len(text), at + data.draw(st.integers(0, 40)))
        text[at:end] = data.draw(
            st.binary(max_size=5) | st.sampled_from([b"\t", b"null", b"{}", b"[]", b"-", b"<", b"", b"1e999"])
        )
    table, found, reading = read(tool, bytes(text))
    lines = bytes(text).decode(errors="replace").removeprefix("\ufeff")
    for finding in found:
        assert CATALOGUE[finding.code].severity is finding.severity
        assert finding.line is not None
        assert finding.line <= lines.count("\n") + lines.count("\r") + 1
    for row in range(table.num_rows):
        for field in ("onset", "class_name", "azimuth", None):
            assert reading.place(row, field).line >= 1
    for part in reading.parts:
        if not found and len(reading.parts) == 1:
            assert tool.write(table, part.origin)


@pytest.mark.slow  # jams imports much
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what jams imports
def test_jams_itself_reads_and_writes_the_same(tmp_path: Path) -> None:
    jams = pytest.importorskip("jams")
    ours = tmp_path / "ours.jams"
    seldio.convert(example(get("audacity")), ours, "jams")
    loaded = jams.load(str(ours), validate=True, strict=True)
    (annotation,) = loaded.annotations
    events = list(to_events(seldio.read(ours)))
    first = annotation.data[0]
    assert (first.time, round(first.time + first.duration, 9), first.value) == (0.5, 1.7, "Knock")
    assert len(annotation.data) == len(events)
    made = jams.JAMS(file_metadata={"duration": 4.0, "title": "x"})
    added = jams.Annotation(namespace="tag_open", time=0, duration=4.0)
    added.append(time=0.5, duration=1.2, value="Knock az=30 el=0", confidence=1.0)
    made.annotations.append(added)
    made.save(str(tmp_path / "theirs.jams"))
    table = seldio.read(tmp_path / "theirs.jams")
    assert table.select(["onset", "offset", "class_id", "azimuth"]).to_pylist() == [
        {"onset": 0.5, "offset": 1.7, "class_id": 12, "azimuth": 30.0}
    ]
