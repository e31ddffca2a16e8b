"""DataFrames: what seldio returns as one, and what it takes as one, with real pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import seldio
from seldio.errors import InvalidData, UsageError

LABELS = {"fold4_room1_mix001": "0,1,0,10,0,100\n1,1,0,12,0,100\n3,11,0,90,10,200\n", "fold4_room1_mix002": ""}
QUESTIONS = [
    {"id": f"q{n}", "audio": [f"{n}.wav"], "task": "sound", "question": "What?", "options": ["rain", "dog"]}
    | {"answer": right}
    for n, right in enumerate(("rain", "dog", "dog"))
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "labels"
    place.mkdir()
    for name, text in LABELS.items():
        (place / f"{name}.csv").write_text(text)
    return place


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


def test_a_class_that_the_list_lacks_is_called_by_its_number(folder: Path) -> None:
    (folder / "fold4_room1_mix001.csv").write_text("0,14,0,10,0,100\n")
    found = seldio.to_pandas(seldio.read(folder, format="starss23", force=True))
    assert (found["class_name"].tolist(), found["class_id"].tolist()) == (["class 14"], [14])


def test_what_was_read_comes_back_silent_clips_included(frame: pd.DataFrame, folder: Path, tmp_path: Path) -> None:
    assert seldio.read(frame).equals(seldio.read(folder, format="starss23"))
    assert written(frame, tmp_path / "out") == LABELS
    assert written(frame.drop(columns="class_id"), tmp_path / "names") == LABELS
    assert written(frame.drop(columns="class_name"), tmp_path / "numbers") == LABELS


def test_rows_and_clips_that_are_taken_out_stay_out(frame: pd.DataFrame, tmp_path: Path) -> None:
    bells = frame[frame["class_name"] == "Bell"].copy()  # whose index begins at 2
    assert written(bells, tmp_path / "bells")["fold4_room1_mix001"] == "3,11,0,90,10,200\n"
    bells["clip"] = bells["clip"].cat.remove_unused_categories()
    assert written(bells, tmp_path / "heard").keys() == {"fold4_room1_mix001"}


def test_an_index_with_a_name_is_a_column(frame: pd.DataFrame, folder: Path) -> None:
    assert seldio.read(frame.set_index(["clip", "frame"])).equals(seldio.read(folder, format="starss23"))


def test_frames_that_are_put_together_keep_their_classes(frame: pd.DataFrame) -> None:
    both = pd.concat([frame, frame.assign(clip="fold4_room1_mix003")])
    table = seldio.read(both)
    assert table["class_id"].to_pylist() == [1, 1, 11] * 2
    assert "class_name" not in table.column_names


def test_missing_whole_numbers_and_flags_stay_what_they_are() -> None:
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
    with pytest.raises(UsageError, match="fix=True repairs files, and this is a table in memory"):
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
    assert not seldio.validate(named, reference=seldio.check.reference.load(_lines(tmp_path, asked))).findings
    by_id = named[named["id"] != "q0"].set_index("id")
    assert seldio.score(by_id, asked, allow_missing=True).overall["accuracy"] == pytest.approx(1 / 2)
    compared = seldio.compare([named, named.assign(prediction="dog")], asked)
    assert compared.to_pandas()["accuracy"].tolist() == pytest.approx([2 / 3, 2 / 3])


def _lines(place: Path, asked: pd.DataFrame) -> str:
    (path,) = seldio.write(asked, place / "questions.jsonl", "items")
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"azimuth": "azi"}, "the table: not columns of an event table: azi; choose from clip"),
        ({"clip": "file"}, "the table has no column clip, the name of the recording in each row"),
        ({"azimuth": "frame"}, "the table: the DataFrame has frame twice"),
        ({name: number for number, name in enumerate(("clip", "frame", "azimuth"))}, "no names, only numbers"),
    ],
)
def test_columns_that_are_unclear_are_refused(frame: pd.DataFrame, change: dict[str, str], said: str) -> None:
    for verb in (seldio.read, seldio.validate):
        with pytest.raises(UsageError, match=said):
            verb(frame.rename(columns=change))


def test_columns_of_nothing_known_are_refused(frame: pd.DataFrame) -> None:
    strange = pd.DataFrame({"height": [1.0], "weight": [2.0]})
    with pytest.raises(UsageError, match="the table: height, weight are columns of neither labels"):
        seldio.validate(strange)
    with pytest.raises(UsageError, match="predictions: height, weight are columns of neither labels"):
        seldio.score(strange, frame)
    with pytest.raises(UsageError, match="reference: height, weight are columns of neither labels"):
        seldio.score(frame, strange)
    with pytest.raises(UsageError, match=r"the table must be a path, .* not int"):
        seldio.read(7)


def test_a_name_that_is_not_that_of_its_number_is_refused(frame: pd.DataFrame) -> None:
    frame.loc[2, "class_name"] = "Telephone"
    said = "row 3 of the DataFrame has class_id 11, which is Bell, and class_name Telephone: drop the column"
    with pytest.raises(UsageError, match=said):
        seldio.score(frame, frame)
    assert seldio.read(frame.drop(columns="class_id"))["class_name"].to_pylist()[2] == "Telephone"


def test_pandas_is_loaded_by_none_but_who_uses_it(folder: Path) -> None:
    code = f"import seldio, sys; seldio.read({str(folder)!r}, format='starss23'); print('pandas' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
