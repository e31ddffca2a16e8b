"""Labels of people's own tools: whatever is written is read back, whatever is broken is found, nothing is invented."""

from __future__ import annotations

import json
import re
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


@pytest.mark.parametrize(
    ("name", "pattern", "other", "codes"),
    [
        ("elan", r'TIME_VALUE="\d+"', 'TIME_VALUE="--5"', {"SYN501"}),
        ("jams", r'"data": \[[^]]*\]', '"data": null', {"SYN212"}),
        ("label-studio", r'"labels": \[[^]]*\]', '"labels": true', {"SYN212"}),
        ("label-studio", r'"audio": "[^"]*"', '"audio": "http://["', set()),
    ],
)
def test_values_of_another_kind_are_findings(name: str, pattern: str, other: str, codes: set[str]) -> None:
    text = re.sub(pattern, other, example(get(name)).read_text("utf-8"))
    assert codes == {finding.code for finding in read(get(name), text)[1]} - {"SYN505"}


def test_units_limits_and_texts_of_audacity() -> None:
    rows_of = (
        "0.0\t1.0\tKnock, AZ=30° elev=-5deg dist=150cm src=2 mood=calm\n1.0\t1.0\tKnock\n\\\t10.0\t200.0\n2.0\t3.0\t\n"
    )
    table, found, _ = read(get("audacity"), rows_of)
    assert found == []
    place = [("azimuth", 30.0), ("class_id", 12), ("distance", 1.5), ("elevation", -5.0), ("extra", [("mood", "calm")])]
    assert rows(table) == [
        [*place, ("offset", 1.0), ("onset", 0.0), ("source", 2)],
        [("class_id", 12), ("extra", [("high_hz", 200.0), ("low_hz", 10.0)]), ("offset", 1.0), ("onset", 1.0)],
        [("offset", 3.0), ("onset", 2.0)],
    ]


def test_choices_about_whole_recordings_are_no_labels(tmp_path: Path) -> None:
    result = [{"from_name": "c", "to_name": "audio", "type": "choices", "value": {"choices": ["dog"]}}]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": {"audio": "a.wav"}, "annotations": [{"result": result}]}]), "utf-8")
    assert ["SYN213"] == [one.code for one in seldio.validate(path).findings]


def test_two_people_are_two_clips_and_a_prediction_is_neither() -> None:
    def region(name: str) -> dict[str, Any]:
        value = {"start": 0.5, "end": 1.5, "labels": [name]}
        return {"id": "r", "from_name": "label", "to_name": "audio", "type": "labels", "value": value, "score": 0.25}

    task: dict[str, Any] = {"data": {"audio": "https://x.example/a/k%201.wav?sig=1"}}
    both = task | {"annotations": [{"result": [region("Knock")]}, {"result": [region("Bell")], "ground_truth": True}]}
    table, found, _ = read(get("label-studio"), json.dumps([both | {"predictions": [{"result": []}]}]))
    assert [finding.code for finding in found] == ["SYN507"]
    assert [(row["clip"], row["class_id"]) for row in table.to_pylist()] == [("k 1_by1", 12), ("k 1", 11)]
    alone = task | {"annotations": [], "predictions": [{"result": [region("Bell")]}]}
    table, found, _ = read(get("label-studio"), json.dumps([alone]))
    assert table["score"].to_pylist() == [0.25]


def test_namespaces_of_jams() -> None:
    def jams(**annotation: Any) -> str:
        annotations = [{"annotation_metadata": {}, "sandbox": {}, **annotation}]
        return json.dumps({"annotations": annotations, "file_metadata": {}})

    value = {"label": "Bell", "event_time": 1.0, "role": "foreground"}
    data = [{"time": 1.0, "duration": 2.0, "value": value, "confidence": 1.0}]
    table, found, _ = read(get("jams"), jams(namespace="scaper", data=data))
    role = json.loads(table["extra"][0].as_py())["role"]
    assert (found, table["class_id"].to_pylist(), role) == ([], [11], "foreground")
    dense = {"time": [0.0, 1.0], "duration": [1.0, 1.0], "value": ["Knock", "Bell"], "confidence": [None, 0.5]}
    table, found, _ = read(get("jams"), jams(namespace="tag_open", data=dense))
    assert (found, table["class_id"].to_pylist(), table["score"].to_pylist()) == ([], [12, 11], [None, 0.5])
    table, found, _ = read(get("jams"), jams(namespace="beat", data=[]))
    assert [finding.code for finding in found] == ["SYN213"]


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


def test_tables_of_classes_become_label_tracks_and_back(tmp_path: Path) -> None:
    frames = "".join(f"{frame},12,0,30,0,200\n" for frame in range(5))
    (tmp_path / "a.csv").write_text(frames)
    seldio.convert(tmp_path / "a.csv", tmp_path / "a.txt", "audacity")
    assert (tmp_path / "a.txt").read_text() == "0.000000\t0.500000\tKnock az=30 el=0 dist=2 source=0\n"
    seldio.convert(tmp_path / "a.txt", tmp_path / "b.csv", "starss23")
    assert (tmp_path / "b.csv").read_text() == frames


def test_sources_are_counted(tmp_path: Path) -> None:
    text = "0.0\t1.0\tKnock source=1\n0.5\t1.0\tKnock\n0.2\t1.0\tKnock\n0.0\t1.0\tBell\n"
    (tmp_path / "k.txt").write_text(text)
    fill = {"source": "count", "azimuth": 10, "elevation": 0}
    seldio.convert(tmp_path / "k.txt", tmp_path / "k.csv", "starss22", fill=fill)
    table = seldio.read(tmp_path / "k.csv")
    assert {(row["class_id"], row["source"]) for row in table.to_pylist()} == {(12, 1), (12, 2), (12, 3), (11, 0)}
    submission = CASES / "formats/dcase2023-submission/mix001.csv"
    with pytest.raises(seldio.UsageError, match="only events"):
        seldio.convert(submission, tmp_path / "x.csv", "starss22", fill={"source": "count"})
