"""The event model and the Arrow schema are one; events from event frames lose no row."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from strategies import text_file

from seldio import plugins
from seldio.formats import cells, get
from seldio.schema.dataset_file import KINDS, check
from seldio.schema.event_rows import Event, to_events
from seldio.schema.events import COLUMNS
from seldio.schema.spans import spans
from seldio.schemas import SCHEMAS
from seldio.vocabularies import names, spelling, vocabulary


def test_model_and_schema_have_the_same_fields_in_the_same_order() -> None:
    assert list(COLUMNS) == list(Event.model_fields)


@pytest.mark.parametrize(("field", "value"), [("azimuth", 180.5), ("frame", -1), ("distance", float("nan"))])
def test_rows_out_of_range_are_no_events(field: str, value: float) -> None:
    table = pa.table({"clip": ["a"], field: pa.array([value], COLUMNS[field])})
    with pytest.raises(ValidationError):
        list(to_events(table))


Key = tuple[str, int, int | None]
Frames = list[tuple[str, int, int, int | None]]


def slow_spans(rows: Frames, gap: int) -> list[tuple[Key, tuple[int, ...]]]:
    """Events as (clip, class, source) and row numbers: plain loops, one layer of repeated rows at a time."""
    layers: dict[tuple[Key, int], list[tuple[int, int]]] = {}
    seen: Counter[tuple[Key, int]] = Counter()
    for number, (clip, frame, label, source) in enumerate(rows):
        key = (clip, label, source)
        layers.setdefault((key, seen[key, frame]), []).append((frame, number))
        seen[key, frame] += 1
    found = []
    for (key, _), members in layers.items():
        run: list[tuple[int, int]] = []
        for frame, number in sorted(members):
            if run and frame - run[-1][0] > gap + 1:
                found.append((key, tuple(row for _, row in run)))
                run = []
            run.append((frame, number))
        found.append((key, tuple(row for _, row in run)))
    return found


def frames_table(rows: Frames, source: bool = True) -> pa.Table:
    clips = pa.array(sorted({row[0] for row in rows}), pa.string())
    codes = pa.array([clips.to_pylist().index(row[0]) for row in rows], pa.int32())
    columns = {
        "clip": pa.DictionaryArray.from_arrays(codes, clips),
        "frame": pa.array([row[1] for row in rows], pa.int32()),
        "class_id": pa.array([row[2] for row in rows], pa.int32()),
    }
    return pa.table(columns | ({"source": pa.array([row[3] for row in rows], pa.int32())} if source else {}))


event_frames = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 8), st.integers(0, 2), st.integers(-1, 1) | st.none()), max_size=30
)


@given(event_frames, st.integers(0, 2), st.booleans())
@settings(max_examples=examples(150))
def test_spans_are_those_of_a_plain_loop(rows: Frames, gap: int, source: bool) -> None:
    rows = rows if source else [(clip, frame, label, None) for clip, frame, label, _ in rows]
    found = spans(frames_table(rows, source), gap)
    events = [
        ((row["clip"], row["class_id"], row.get("source")), tuple(found.trajectory(number).tolist()))
        for number, row in enumerate(found.table.to_pylist())
    ]
    assert Counter(slow_spans(rows, gap)) == Counter(events)
    assert len(found) == len(events)
    assert sorted(range(len(rows))) == sorted(found.rows.tolist())
    order = [(row["clip"], row["first_frame"], row["class_id"]) for row in found.table.to_pylist()]
    assert sorted(order) == order
    for (_, numbers), row in zip(events, found.table.to_pylist(), strict=True):
        frames = [rows[number][1] for number in numbers]
        assert (frames[0], frames[-1]) == (row["first_frame"], row["last_frame"])
        assert all(0 < later - earlier <= gap + 1 for earlier, later in itertools.pairwise(frames))
        assert row["onset"] == frames[0] / 10
        assert row["offset"] == (frames[-1] + 1) / 10


def test_an_event_ends_where_its_last_frame_ends() -> None:
    """soundata and others end it a label frame early: an event of one frame lasts no time there."""
    found = spans(frames_table([("a", 12, 0, 0), ("a", 30, 0, 0), ("a", 31, 0, 0)])).table
    assert found["onset"].to_pylist() == [1.2, 3.0]
    assert found["offset"].to_pylist() == [1.3, 3.2]
    found = spans(frames_table([("a", 12, 0, 0)]), hop=Fraction(1, 50)).table
    assert list(zip(found["onset"].to_pylist(), found["offset"].to_pylist(), strict=True)) == [(0.24, 0.26)]


def test_classes_without_a_number_are_told_apart_by_name() -> None:
    data = b"frame,class,x,y,z\n0,dog,1,0,0\n0,cat,0,1,0\n1,dog,1,0,0\n1,cat,0,1,0\n1,Knock,1,0,0\n"
    found = spans(get("seld-studio").read([text_file(data)], pytest.fail).table)
    assert found.table["class_id"].to_pylist() == [None, None, 12]
    assert sorted(found.trajectory(number).tolist() for number in range(3)) == [[0, 2], [1, 3], [4]]


FOLDER = Path(__file__).parent.parent / "schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_checked_in_schema_is_the_generated_one(name: str) -> None:
    written = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))

    jsonschema.Draft202012Validator.check_schema(written)
    assert json.loads(json.dumps(SCHEMAS[name]()), object_hook=_said_once) == written


def _said_once(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the list of one value that pydantic before 2.10 writes with a constant."""
    return {key: value for key, value in schema.items() if key != "enum" or "const" not in schema}


def test_every_file_of_a_dataset_is_what_its_schema_says() -> None:
    schema = jsonschema.Draft202012Validator(SCHEMAS["dataset"]())
    names = [str(record["name"]) for record in plugins.datasets()]
    assert len(set(names)) == len(names) > 10
    for record in plugins.datasets():
        assert [] == [error.message for error in schema.iter_errors(record)], record["name"]
        check({**record, "place": record["name"]}, ())
    assert set(KINDS) == set(cells.KINDS)


#: By hand from the baselines' ``unique_classes``.
PUBLISHED = {
    "tau-sse-2019": "knock drawer clearthroat phone keysDrop speech keyboard pageturn cough doorslam laughter",
    "tau-nigens-2020": "alarm baby crash dog engine female_scream female_speech fire footsteps knock male_scream "
    "male_speech phone piano",
    "tau-nigens-2021": "alarm baby crash dog female_scream female_speech footsteps knock male_scream male_speech "
    "phone piano",
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_indices_are_those_of_the_baselines(name: str) -> None:
    expected = PUBLISHED[name].split()
    assert len(expected) == len(vocabulary(name))
    assert list(range(len(expected))) == [vocabulary(name).indices[spelling(label)] for label in expected]


@pytest.mark.parametrize("name", names())
def test_no_spelling_means_two_classes(name: str) -> None:
    spellings = [{spelling(text) for text in row} for row in vocabulary(name).classes]
    assert sum(map(len, spellings)) == len(set().union(*spellings))
    assert vocabulary(name).title
    assert vocabulary(name).source.startswith("https://")


def test_mapping_back_and_forth() -> None:
    for one in map(vocabulary, names()):
        for other in map(vocabulary, names()):
            back = other.mapping(one)
            assert all(index == back[target] for index, target in one.mapping(other).items())
