"""A dataset that says what it is: its own columns, classes and splits, for every verb."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from commands import invoke, laid
from layouts import wav

import seldio
from seldio.catalogues import own_datasets
from seldio.check.description import describe
from seldio.errors import DataError
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


def rows(table: object) -> list[tuple[object, ...]]:
    return [(row["frame"], row["class_id"], row["azimuth"], row["distance"]) for row in table.to_pylist()]  # type: ignore[attr-defined]


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


def new(*arguments: object) -> tuple[int, str]:
    result = invoke("new", *arguments)
    return result.exit_code, result.output


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


@pytest.fixture
def system(yard: Path, tmp_path: Path) -> Path:
    """What a system found in the clip b, in the columns of the yard, one of its files in another order."""
    rows = "label,time,distance,azimuth\ncar,0.0,1.5,350\ncar,0.1,1.5,0\nbird,0.3,3,10\n"
    return laid(tmp_path / "system", {"b.csv": rows})


FOUND = [(0, 2, 10.0, 1.5), (1, 2, 0.0, 1.5), (3, 1, -10.0, 3.0)]


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


def test_a_table_of_several_recordings_holds_a_clip_for_each(tmp_path: Path) -> None:
    lines = "filename,start,end,label,azimuth\na.wav,0.1,0.4,dog,20\nb.wav,0.2,0.3,cat,-30\na.wav,0.2,0.3,cat,10\n"
    folder = laid(tmp_path / "yard", {"labels.csv": lines})
    (folder / "audio").mkdir()
    for name in "ab":
        record(folder / f"audio/{name}.wav")
    shown = new(folder)[1]
    assert "filename  clip: a.wav, b.wav\n" in shown
    assert "[recordings]\nrate = 24000\n" in shown
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
