"""A dataset that says what it is: its own columns, classes and splits, for every verb."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import invoke, laid
from layouts import wav

import seldio
from seldio.catalogues import own_datasets
from seldio.check.description import describe
from seldio.errors import DataError, InvalidData, SeldioError
from seldio.files import open_source
from seldio.findings import Finding, raise_errors
from seldio.formats.own_dataset import OwnDataset
from seldio.schema.events import origin_of

FRAMES = "0,0,0,90,0,150\n1,2,0,90,0,150\n2,2,1,10,0,150\n3,2,1,11,0,150\n"


ABOUT = """\
name = "yard"
title = "Yard sounds"
license = "CC-BY-4.0"

[classes]
"dog bark" = { ru = "лай собаки" }
bird = {}
car = {}

[labels]
given = { elevation = 0 }
columns = [
  { header = "time", field = "frame", unit = "s" },
  { header = "label", field = "class_name" },
  { header = "azimuth", field = "azimuth", direction = "clockwise" },
  { header = "distance", field = "distance" },
]

[splits]
train = { folders = ["train"] }
test = { pattern = "b.*" }
"""
HEAD = "time,label,azimuth,distance\n"
BIRDS = HEAD + "".join(f"{n / 10},bird,{n % 20},{2 + n % 3}\n" for n in range(60))
A = HEAD + "0.0,dog bark,270,1.5\n0.1,dog bark,271,1.5\n0.3,bird,10,3\n"
B = HEAD + "0.0,car,350,1.5\n0.1,car,355,1.5\n0.3,лай собаки,10,3\n"


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    """A dataset of two clips."""
    return laid(tmp_path / "yard", {"dataset.toml": ABOUT, "train/a.csv": A, "other/b.csv": B})


def record(place: Path, rate: int = 24000, channels: int = 4) -> None:
    """A recording of noise."""
    place.write_bytes(wav(0.5, rate, channels))


def found(path: Path) -> list[Finding]:
    return seldio.validate(path).findings


def codes(path: Path) -> list[str]:
    return [finding.code for finding in found(path)]


ROWS = [(0, 0, 90.0, 1.5), (1, 0, 89.0, 1.5), (3, 1, -10.0, 3.0)]


def rows(table: object) -> list[tuple[object, ...]]:
    return [(row["frame"], row["class_id"], row["azimuth"], row["distance"]) for row in table.to_pylist()]  # type: ignore[attr-defined]


def test_labels_are_read_in_the_columns_that_the_dataset_names(yard: Path) -> None:
    table = seldio.read(yard / "train/a.csv")
    assert rows(table) == ROWS
    assert set(table["elevation"].to_pylist()) == {0.0}
    assert codes(yard) == []
    assert rows(seldio.read(yard / "other/b.csv"))[-1][:2] == (3, 0)  # a class by its name in another language


def test_files_that_are_not_as_it_says_are_findings(yard: Path) -> None:
    laid(yard, {"train/a.csv": FRAMES})
    assert "DAT201" in codes(yard)
    with pytest.raises(InvalidData, match="not what"):
        seldio.read(yard / "train/a.csv")
    laid(yard, {"dataset.toml": ABOUT.replace('"azimuth", direction', '"azimut", direction')})
    with pytest.raises(SeldioError, match=r"dataset.toml:15:.*did you mean azimuth"):
        seldio.read(yard / "train/a.csv")


def test_clips_are_of_the_splits_that_the_dataset_names(yard: Path, tmp_path: Path) -> None:
    assert splits(yard) == {"a": "train", "b": "test"}
    manifest = seldio.export(yard, tmp_path / "out", "parquet")
    assert manifest.statistics["splits"] == {"test": 1, "train": 1}
    assert [one.facts["splits"] for one in described(tmp_path / "out")] == [["train", "test"]]


def splits(path: Path) -> dict[str, str]:
    clips = seldio.open(path).clips
    return dict(zip(clips["clip"].to_pylist(), clips["split"].to_pylist(), strict=True))


def described(path: Path) -> list[OwnDataset]:
    with open_source(path, raise_errors) as source:
        own = own_datasets(source, raise_errors)
    assert own is not None
    return list(own.datasets)


def test_recordings_that_contradict_it_are_findings(yard: Path) -> None:
    laid(yard, {"dataset.toml": ABOUT + '\n[recordings]\nrate = 24000\narrays = ["foa"]\n'})
    record(yard / "train/a.wav")
    assert codes(yard) == []
    record(yard / "train/a.wav", 48000, channels=2)
    said = sorted((one.message for one in found(yard) if one.code == "DAT204"), reverse=True)
    assert [message.partition(", which")[0] for message in said] == [
        "48,000 Hz instead of 24,000 Hz", "2 channels instead of 4 channels",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (', direction = "counter-clockwise"', [-90.0, -89.0, 10.0]),
        (', direction = "counter-clockwise", zero = "left"', [0.0, 1.0, 100.0]),
        (', direction = "clockwise", zero = "back"', [-90.0, -91.0, 170.0]),
    ],
)
def test_azimuths_turn_and_begin_where_the_dataset_says(yard: Path, keys: str, expected: list[float]) -> None:
    laid(yard, {"dataset.toml": ABOUT.replace('"azimuth", direction = "clockwise"', f'"azimuth"{keys}')})
    assert seldio.read(yard / "train/a.csv")["azimuth"].to_pylist() == pytest.approx(expected)


def new(*arguments: object) -> tuple[int, str]:
    result = invoke("new", *arguments)
    return result.exit_code, result.output


def test_new_proposes_what_columns_hold_and_asks_what_no_file_tells(yard: Path) -> None:
    (yard / "dataset.toml").unlink()
    code, text = new(yard / "train")
    assert code == 0
    assert "label     class_name: " in text
    assert "0.0,dog bark,270,1.5  is  frame 0, dog bark, azimuth 90 (left), 1.5 m" in text
    assert "0.0,dog bark,270,1.5  is  frame 0, dog bark, azimuth -90 (right), 1.5 m" in text
    assert "--azimuth clockwise" in text
    assert not (yard / "dataset.toml").exists()
    assert new(yard, "--write")[0] == 2
    assert new(yard, "--azimuth", "around")[0] == 2
    assert new(yard, "--column", "az=azimuth")[0] == 2


def test_new_writes_a_file_with_which_all_is_read(yard: Path) -> None:
    (yard / "dataset.toml").unlink()
    record(yard / "train/a.wav", 48000)
    assert new(yard, "--azimuth", "clockwise", "--given", "elevation=0", "--name", "garden", "--write")[0] == 0
    assert codes(yard) == []
    table = seldio.read(yard / "train/a.csv")
    assert table["azimuth"].to_pylist() == [90.0, 89.0, -10.0]
    about = tomllib.loads((yard / "dataset.toml").read_text("utf-8"))
    assert (about["name"], about["recordings"], about["splits"]) == (
        "garden", {"rate": 48000}, {"train": {"folders": ["train"]}},
    )  # fmt: skip
    assert [*about["classes"]] == ["bird", "car", "dog bark", "лай собаки"]
    assert new(yard, "--write")[0] == 2  # it is there


def test_new_believes_what_is_said_of_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("when,who,where,note\n0,owl,10,x\n100,owl,11,y\n200,owl,12,z\n")
    said = ["--column", "when=frame:ms", "--column", "who=class_name", "--column", "where=azimuth"]
    assert new(tmp_path, *said, "--azimuth", "counter-clockwise", "--zero", "left", "--write")[0] == 0
    table = seldio.read(tmp_path / "a.csv")
    assert table["frame"].to_pylist() == [0, 1, 2]
    assert table["azimuth"].to_pylist() == [100.0, 101.0, 102.0]


def test_info_writes_what_a_known_dataset_is(tmp_path: Path) -> None:
    laid(tmp_path / "set", {"dev-train/a.csv": FRAMES, "dev-test/b.csv": FRAMES})
    record(tmp_path / "set/dev-train/a.wav")
    result = invoke("info", tmp_path / "set", "--write")
    assert result.exit_code == 0, result.output
    about = tomllib.loads((tmp_path / "set/dataset.toml").read_text("utf-8"))
    assert about == {
        "name": "set", "labels": {"formats": ["starss23"]}, "recordings": {"rate": 24000},
        "splits": {"dev-test": {"folders": ["dev-test"]}, "dev-train": {"folders": ["dev-train"]}},
    }  # fmt: skip
    assert [finding.code for finding in found(tmp_path / "set") if finding.code.startswith("DAT")] == []
    assert invoke("info", tmp_path / "set", "--write").exit_code == 2


def test_labels_in_another_format_keep_their_classes(yard: Path, tmp_path: Path) -> None:
    done = seldio.convert(yard, tmp_path / "out", "starss23", fill={"source": 0}, allow_loss="all")
    assert "class numbers are those of yard, which dataset.toml names" in str(done)
    assert (tmp_path / "out/train/a.csv").read_text().splitlines()[0] == "0,0,0,90,0,150"
    group = describe(tmp_path / "out")["groups"][0]
    assert (group["format"], group["classes"]) == ("starss23", {"dog bark": 3, "bird": 1, "car": 2})
    assert codes(tmp_path / "out") == []
    assert splits(tmp_path / "out") == {"a": "train", "b": "test"}


@pytest.fixture
def system(yard: Path, tmp_path: Path) -> Path:
    """What a system found in the clip b, in the columns of the yard, one of its files in another order."""
    rows = "label,time,distance,azimuth\ncar,0.0,1.5,350\ncar,0.1,1.5,0\nbird,0.3,3,10\n"
    return laid(tmp_path / "system", {"b.csv": rows})


FOUND = [(0, 2, 10.0, 1.5), (1, 2, 0.0, 1.5), (3, 1, -10.0, 3.0)]


def test_predictions_elsewhere_are_read_as_the_dataset_of_the_reference_says(yard: Path, system: Path) -> None:
    report = seldio.score(system, yard, split="test")
    by_class = next(table for table in report.tables if table.name == "classes")
    assert {row[0]: row[1] for row in by_class.rows} == {"dog bark": 1, "bird": 0, "car": 1}
    assert [one.code for one in seldio.validate(system, reference=yard / "other").findings] == []
    (system / "b.csv").write_text("label,time,distance,azimuth\ncart,0.0,1.5,350\n")
    (finding,) = seldio.validate(system, reference=yard / "other").findings
    assert (finding.code, finding.line, finding.message) == ("LAB102", 2, "cart is not a class of yard")


@pytest.mark.parametrize("headers", [True, False])
def test_a_dataset_file_is_a_format(yard: Path, system: Path, headers: bool) -> None:
    if not headers:
        laid(system, {"b.csv": "0.0,car,350,1.5\n0.1,car,0,1.5\n0.3,bird,10,3\n"})
        laid(yard, {"dataset.toml": re.sub(r'header = "\w+", ', "", ABOUT)})
    name = str(yard / "dataset.toml")
    assert rows(seldio.read(system / "b.csv", format=name)) == FOUND
    assert seldio.validate(system, format=name).findings == []
    assert rows(seldio.open(system, format=name).events["b"]) == FOUND
    assert describe(system, name)["groups"][0]["classes"] == {"bird": 1, "car": 2}
    seldio.convert(system, system.parent / "out.parquet", "parquet", format=name)
    assert rows(seldio.read(system.parent / "out.parquet")) == FOUND
    assert seldio.diff(system, system, format=name).over


def test_predictions_in_a_known_format_stay_what_they_are(yard: Path, system: Path) -> None:
    about = re.sub(r'header = "\w+", ', "", ABOUT).replace('"class_name"', '"class_id"').replace(', unit = "s"', "")
    laid(yard, {"dataset.toml": about, "other/b.csv": "0,2,350,1.5\n1,2,355,1.5\n3,0,10,3\n"})
    laid(system, {"b.csv": "0,2,10,0\n1,2,5,0\n3,0,-10,0\n"})
    reports = [seldio.score(system, yard / "other", format=name) for name in (None, "dcase2023-submission")]
    assert reports[0].tables[0].rows[0][1:] == reports[1].tables[0].rows[0][1:]


def test_a_format_that_is_named_has_the_classes_of_the_dataset(yard: Path) -> None:
    about = ABOUT[: ABOUT.index("[labels]")] + ABOUT[ABOUT.index("[splits]") :]
    laid(yard, {"dataset.toml": about, "train/a.csv": FRAMES, "other/b.csv": FRAMES})
    assert describe(yard, "starss23")["groups"][0]["classes"] == {"dog bark": 2, "car": 6}
    assert seldio.open(yard, format="starss23").events.vocabulary.startswith("yard[")
    assert origin_of(seldio.read(yard, format="starss23")).vocabulary.startswith("yard[")


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ('"azimuth", direction', '"azimuth", unit = "m", direction', "15:44", "m is not a unit of azimuth; choose from degrees, radians"),
        ('"class_name" }', '"class_name", unit = "m" }', "14:45", "class_name has no unit"),
        ('"distance" }', '"distance", zero = "left" }', "16:46", "zero is of azimuths"),
        (', direction = "clockwise"', "", "15:3", "the direction is missing: clockwise"),
        ('"frame", unit = "s"', '"onset"', "13:3", "no column is the offset"),
        ('header = "distance"', 'header = "Azimuth"', "16:5", "another column is called azimuth as well"),
        ("given =", "hop = 0\ngiven =", "11:1", "must be more than 0"),
        ("given =", 'formats = ["starss23", "nosuch"]\ngiven =', "11:1", "unknown format of labels 'nosuch'"),
        ('["train"]', '["train"], clips = ["a9..a1"]', "20:32", "a9..a1"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_field_is_a_fault_at_its_key(
    yard: Path, old: str, new: str, place: str, message: str
) -> None:
    laid(yard, {"dataset.toml": ABOUT.replace(old, new)})
    (fault,) = found(yard)
    assert (fault.code, f"{fault.line}:{fault.column}") == ("DAT102", place)
    assert message in fault.message


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", ";").replace(".", ","),
        lambda text: text.replace(",", "\t"),
        lambda text: re.sub(r"[a-z][a-z ]*", lambda match: f'"{match[0]}"', text),
        lambda text: re.sub(r"[^,\n]+", lambda match: f'"{match[0]}"', text).replace("\n", "\r\n"),
    ],
    ids=["semicolons", "decimal commas", "tabs", "names in quotes", "all in quotes"],
)
def test_columns_are_read_however_they_are_written(yard: Path, change: Callable[[str], str]) -> None:
    (yard / "train/a.csv").write_text(change(A))
    assert codes(yard) == []
    assert rows(seldio.read(yard / "train/a.csv")) == ROWS
    for old, new_text, code in (("dog bark,271", "dgo bark,271", "LAB102"), ("271", "27!", "SYN130")):
        text = change(A.replace(old, new_text))
        (yard / "train/a.csv").write_text(text)
        (fault,) = found(yard)
        assert (fault.code, fault.line) == (code, 3)
        assert fault.value == new_text.partition(",")[0]
        assert text.splitlines()[2].index(fault.value) + 1 == fault.column


def test_a_class_with_a_comma_is_read_from_quotes(yard: Path) -> None:
    about, labels = ABOUT.replace('"dog bark"', '"bark, of a dog"'), A.replace("dog bark", '"bark, of a dog"')
    laid(yard, {"dataset.toml": about, "train/a.csv": labels})
    assert codes(yard) == []
    assert rows(seldio.read(yard / "train/a.csv")) == ROWS


@pytest.mark.parametrize(("row", "code", "column"), [
    ('0.0,dog bark,270,"1.5', "SYN122", 18), ('0.0,"dog bark,270,1.5', "SYN122", 5), ('0.0,dog bark,"27"0,1.5', "SYN130", 14),
])  # fmt: skip
def test_a_quote_in_a_wrong_place_is_no_part_of_a_value(yard: Path, row: str, code: str, column: int) -> None:
    (yard / "train/a.csv").write_text(f"{HEAD}{row}\n0.5,dog bark,270,1.5\n")
    (fault,) = found(yard)
    assert (fault.code, fault.line, fault.column) == (code, 2, column)


RUSSIAN = """
[russian]
bird = { gender = "f", forms = ["птица", "птицы", "птицу", "с птицей"] }
car = { gender = "f", forms = ["машина", "машины", "машину", "с машиной"] }
"""


def test_questions_in_russian_have_the_names_that_the_dataset_declines(yard: Path, tmp_path: Path) -> None:
    laid(yard, {"train/a.csv": BIRDS, "other/b.csv": BIRDS, "dataset.toml": ABOUT + RUSSIAN})
    seldio.convert(yard, tmp_path / "questions.json", "ruenvaqa", fill={"language": "ru"})
    items = seldio.read(tmp_path / "questions.json").to_pylist()
    asked = [" ".join([item["question"], *(item["options"] or ())]) for item in items]
    assert any("птиц" in text for text in asked)
    assert any("лай собаки" in text for text in asked)  # which is known by its Russian name alone, and is not heard


def test_a_table_of_several_recordings_holds_a_clip_for_each(tmp_path: Path) -> None:
    lines = "filename,start,end,label,azimuth\na.wav,0.1,0.4,dog,20\nb.wav,0.2,0.3,cat,-30\na.wav,0.2,0.3,cat,10\n"
    folder = laid(tmp_path / "yard", {"labels.csv": lines})
    (folder / "audio").mkdir()
    for name in "ab":
        record(folder / f"audio/{name}.wav")
    assert "filename  clip: a.wav, b.wav\n" in new(folder)[1]
    assert new(folder, "--azimuth", "counter-clockwise", "--given", "elevation=0", "--write")[0] == 0
    assert codes(folder) == []
    told = [(row["clip"], row["onset"], row["class_id"], row["azimuth"]) for row in seldio.read(folder).to_pylist()]
    assert told == [("a", 0.1, 1, 20.0), ("a", 0.2, 0, 10.0), ("b", 0.2, 0, -30.0)]
    dataset = seldio.open(folder)
    assert sorted(dataset.clips["clip"].to_pylist()) == ["a", "b"]
    assert (dataset.events["b"].num_rows, dataset.clips["audio"].null_count) == (1, 0)
    laid(folder, {"labels.csv": lines.replace("cat,10", "dgo,10")})
    (fault,) = found(folder)
    assert (fault.code, fault.line, fault.column) == ("LAB102", 4, 15)
    laid(folder, {"labels.csv": lines})
    system = laid(tmp_path / "system", {"all.csv": lines})
    assert max(seldio.score(system, folder).tables[0].rows[0][1:]) == pytest.approx(1.0)


def test_a_system_that_ran_on_all_clips_is_scored_on_one_split(tmp_path: Path) -> None:
    rows = "filename,start,end,label,azimuth\na.wav,0.1,0.4,dog,20\nb.wav,0.2,0.3,cat,-30\n"
    table = laid(tmp_path / "table", {"labels.csv": rows})
    assert new(table, "--azimuth", "counter-clockwise", "--given", "elevation=0", "--write")[0] == 0
    with (table / "dataset.toml").open("a") as file:
        file.write('\n[splits]\ntrain = { clips = ["a"] }\ntest = { pattern = "b" }\n')
    system = laid(tmp_path / "system", {"labels.csv": rows}) / "labels.csv"
    assert "over 1 clip, 2 classes" in str(seldio.score(system, table / "labels.csv", split="test"))
    system.write_text(rows.replace("a.wav", "c.wav"))
    with pytest.raises(DataError, match="1 predicted clip without reference: c"):
        seldio.score(system, table / "labels.csv", split="test")


def test_the_card_has_its_licence_and_title(yard: Path) -> None:
    record(yard / "train/a.wav")
    pushed = seldio.push(yard, "me/yard", kind="parquet", dry_run=True)
    assert "license: cc-by-4.0\n" in pushed.card
    assert "pretty_name: Yard sounds\n" in pushed.card
    assert "Female speech" not in pushed.card
