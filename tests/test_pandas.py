"""DataFrames: what seldio returns as one, and what it takes as one, with real pandas."""

from __future__ import annotations

import gzip
import io
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from commands import laid

import seldio
from seldio.errors import InvalidData, SeldioError, UsageError

LABELS = {"fold4_room1_mix001": "0,1,0,10,0,100\n1,1,0,12,0,100\n3,11,0,90,10,200\n", "fold4_room1_mix002": ""}
QUESTIONS = [
    {"id": f"q{n}", "audio": [f"{n}.wav"], "task": "sound", "question": "What?", "options": ["rain", "dog"]}
    | {"answer": right}
    for n, right in enumerate(("rain", "dog", "dog"))
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return laid(tmp_path / "labels", {f"{name}.csv": text for name, text in LABELS.items()})


@pytest.fixture
def frame(folder: Path) -> pd.DataFrame:
    return seldio.to_pandas(seldio.read(folder, format="starss23"))


def written(frame: pd.DataFrame, out: Path) -> dict[str, str]:
    seldio.write(frame, out, "starss23")
    return {path.stem: path.read_text() for path in sorted(out.iterdir())}


def test_classes_and_clips_are_categories_and_units_are_in_attrs(frame: pd.DataFrame) -> None:
    assert frame["class_name"].tolist() == ["Male speech, man speaking", "Male speech, man speaking", "Bell"]
    assert len(frame["class_name"].cat.categories) == 13
    assert frame["class_name"].cat.codes.tolist() == frame["class_id"].tolist() == [1, 1, 11]
    assert frame["clip"].cat.categories.tolist() == list(LABELS)
    assert frame.attrs["units"] == {"azimuth": "°", "elevation": "°", "distance": "m"}
    assert frame["distance"].tolist() == [1.0, 1.0, 2.0]


def test_what_was_read_comes_back_silent_clips_included(frame: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    assert seldio.read(frame).equals(seldio.read(folder, format="starss23"))
    for name, gone in (("out", []), ("names", ["class_id"]), ("numbers", ["class_name"])):
        assert written(frame.drop(columns=gone), tmp_path / name) == LABELS
    bells = frame[frame["class_name"] == "Bell"].copy()  # whose index begins at 2
    assert written(bells, tmp_path / "bells")["fold4_room1_mix001"] == "3,11,0,90,10,200\n"
    bells["clip"] = bells["clip"].cat.remove_unused_categories()
    assert written(bells, tmp_path / "heard").keys() == {"fold4_room1_mix001"}
    rows = {"clip": ["a", "a"], "frame": [0, 1], "class_id": [1, 2], "source": [None, 3], "onscreen": [None, True]}
    table = seldio.read(seldio.to_pandas(pa.table(rows)))
    assert (table["source"].to_pylist(), table["onscreen"].to_pylist()) == ([None, 3], [None, True])
    types = seldio.to_pandas(table).dtypes.astype(str)
    assert (types["source"], types["onscreen"]) == ("Int32", "boolean")


def test_frames_are_checked(frame: pd.DataFrame) -> None:
    assert not seldio.validate(frame).findings
    frame.loc[1, "azimuth"] = 400.0
    (finding,) = seldio.validate([frame, frame.drop(index=1)]).findings
    assert (finding.path, finding.line, finding.code) == ("the table", 2, "LAB103")
    with pytest.raises(InvalidData, match=r"the table:2:1: LAB103 azimuth 400\.0"):
        seldio.read(frame)
    with pytest.raises(UsageError, match="fix=True repairs files, but this is in memory"):
        seldio.validate(frame, fix=True)


def test_frames_score_as_their_files_do(frame: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    other = frame.copy()
    other.loc[2, "azimuth"] = 60.0
    out = tmp_path / "system"
    seldio.write(other, out, "starss23")
    files = {"format": "starss23", "reference_format": "starss23"}
    of_files = seldio.score(out, folder, **files)
    for predictions, reference in ((other, frame), (seldio.read(other), folder), (out, frame)):
        report = seldio.score(predictions, reference)
        assert {**report.overall, "system": 0} == {**of_files.overall, "system": 0}
    records = other.astype({"clip": str, "class_name": str}).to_dict("records")
    assert seldio.score(records, frame, allow_missing=True).overall["F"] == of_files.overall["F"]
    assert report.to_pandas().attrs["units"]["F"] == "1"
    compared = seldio.compare([other, frame], frame)
    assert compared.to_pandas()["system"].tolist() == ["system 1", "system 2"]
    paths = seldio.compare([out, folder], folder, **files)
    assert compared.to_pandas("differences")["F"].tolist() == paths.to_pandas("differences")["F"].tolist()


def test_questions_and_replies_as_frames(tmp_path: Path) -> None:
    table = seldio.read(QUESTIONS)
    asked = seldio.to_pandas(table)
    assert (asked["task"].dtype, asked.attrs["units"]) == ("category", {"start": "s", "end": "s"})
    assert seldio.read(asked).equals(table)
    replies = pd.DataFrame({"sample": ["q0", "q1", "q2"], "said": ["rain", "rain", "dog"]})
    fields = {"id": "sample", "prediction": "said"}
    assert seldio.score(replies, asked, fields=fields).overall["accuracy"] == pytest.approx(2 / 3)
    named = replies.rename(columns={"sample": "id", "said": "prediction"})
    (path,) = seldio.write(asked, tmp_path / "questions.jsonl", "items")
    assert not seldio.validate(named, reference=path).findings
    by_id = named[named["id"] != "q0"].set_index("id")
    assert seldio.score(by_id, asked, allow_missing=True).overall["accuracy"] == pytest.approx(1 / 2)
    compared = seldio.compare([named, named.assign(prediction="dog")], asked)
    assert compared.to_pandas()["accuracy"].tolist() == pytest.approx([2 / 3, 2 / 3])


def test_columns_of_nothing_known_are_refused(frame: pd.DataFrame) -> None:
    strange = pd.DataFrame({"height": [1.0], "weight": [2.0]})
    for name, work in (
        ("the table", lambda: seldio.validate(strange)),
        ("predictions", lambda: seldio.score(strange, frame)),
        ("reference", lambda: seldio.score(frame, strange)),
    ):
        with pytest.raises(UsageError, match=f"{name}: height, weight are columns of neither labels"):
            work()
    with pytest.raises(UsageError, match=r"the table must be a path, .* not int"):
        seldio.read(7)


ROWS = b"0,1,0,10,0,100\n1,1,0,200,0,100\n"
WRONG = "LAB103 azimuth 200 is outside [-180, 180]"


@pytest.mark.parametrize(
    ("data", "name"),
    [(ROWS, "the bytes"), (bytearray(ROWS), "the bytes"), (memoryview(ROWS), "the bytes"),
     (io.BytesIO(ROWS), "the stream"), (io.StringIO(ROWS.decode()), "the stream"), (gzip.compress(ROWS), "the bytes")],
    ids=["bytes", "bytearray", "memoryview", "stream", "text", "gzip"],
)  # fmt: skip
def test_bytes_and_streams_are_checked(data: Any, name: str) -> None:
    assert [str(one) for one in seldio.validate(data, format="starss23").findings] == [f"{name}:2:7: {WRONG}"]


def test_validate_finds_the_directions_that_other_verbs_miss(tmp_path: Path) -> None:
    columns = {"clip": ["a"] * 3, "frame": [0, 1, 2], "class_id": [1] * 3, "source": [0] * 3, "elevation": [0.0] * 3}
    frame, nan = (kind(columns | {"azimuth": [10.0, math.nan, 12.0]}) for kind in (pd.DataFrame, pa.table))
    (missing,) = seldio.validate(frame)
    assert str(missing) == "the table:2:1: LAB113 the row has no azimuth, but others have one"
    assert missing.severity == "warning"
    assert [str(one) for one in seldio.validate(nan)] == ["the table:2:1: LAB113 azimuth is NaN"]
    for table, wrong in ((frame, "azimuth"), (nan, "azimuth is NaN")):
        with pytest.raises(SeldioError, match=wrong):
            seldio.write(table, tmp_path / "out", "starss22")
        with pytest.raises(SeldioError, match=r"direction|LAB113"):
            seldio.score(table, table)
    for good in (frame.dropna(), pd.DataFrame(columns), frame.assign(azimuth=math.nan)):
        assert not seldio.validate(good).findings


def test_a_stream_that_cannot_be_read_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    closed = io.BytesIO(ROWS)
    closed.close()
    odd = r"'utf-8' codec can't encode character '\udc80' in position 1: surrogates not allowed"
    with (tmp_path / "x.out").open("w") as written:
        for stream, said in (
            (closed, "cannot read the stream: it is closed"),
            (io.StringIO("a\udc80"), f"cannot read the stream: {odd}"),
            (written, f"cannot read {tmp_path / 'x.out'}: it was not opened for reading"),
        ):
            with pytest.raises(SeldioError) as refused:
                seldio.validate(stream, format="starss23")
            assert refused.value.text == said
