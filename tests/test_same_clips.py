"""Files with several recordings, and labels of every format: every verb sees the same clips and the same rows."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from layouts import label_examples, several
from typer.testing import CliRunner

import seldio
from seldio.cli import app
from seldio.data import export
from seldio.errors import DataError, UsageError
from seldio.reports.tables import ScoreReport
from seldio.synth.outputs import write_outputs
from seldio.synth.tree import write_tree

CASES = Path(__file__).parent / "cases" / "formats"
NAMES = sorted(path.name for path in CASES.iterdir())


@pytest.fixture(params=NAMES)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The example of a format, without the rows that it means."""
    return shutil.copytree(CASES / request.param, tmp_path / "set", ignore=shutil.ignore_patterns("rows.jsonl"))


def jams(folder: Path) -> Path:
    """Two people about one recording."""
    notes = [
        {"namespace": "tag_open", "annotation_metadata": {},
         "data": [{"time": 0.0, "duration": 1.0, "value": f"Knock az={azimuth} el=0 dist=1", "confidence": None}]}
        for azimuth in (10, 40)
    ]  # fmt: skip
    text = json.dumps({"annotations": notes, "file_metadata": {"duration": 1.0}})
    (folder / "kitchen.jams").write_text(text, "utf-8")
    return folder / "kitchen.jams"


def raven(folder: Path) -> Path:
    """Two recordings in one table of selections."""
    example = several(next(one for one in label_examples() if one.name == "raven"))
    assert example is not None
    return example.write(folder) / "all.txt"


def table(folder: Path) -> Path:
    """Two clips in Parquet."""
    (folder / "two").mkdir()
    for clip in ("fold3_room21_mix001", "fold3_room21_mix002"):
        (folder / "two" / f"{clip}.csv").write_text("0,8,0,30,10,150\n1,8,0,31,10,150\n", "utf-8")
    seldio.convert(folder / "two", folder / "two.parquet", "parquet")
    shutil.rmtree(folder / "two")
    return folder / "two.parquet"


def f_scores(report: ScoreReport) -> list[float]:
    """The F of each system."""
    first = report.tables[0]
    at = [column.name for column in first.columns].index("F")
    return [float(getattr(row[at], "value", row[at])) for row in first.rows]


TWO = [raven, table]


@pytest.mark.parametrize("make", TWO)
@pytest.mark.parametrize("alone", [True, False], ids=["file", "folder"])
def test_several_recordings_in_one_file_are_scored_compared_and_opened(
    make: Callable[[Path], Path], alone: bool, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    path = make(tmp_path / "set") if alone else make(tmp_path / "set").parent
    clips = Counter(seldio.read(path)["clip"].to_pylist())
    assert len(clips) == 2

    report = seldio.score(path, reference=path, average="micro", table="clips")

    assert f_scores(report) == [1.0]
    by_clip = next(table for table in report.tables if table.name == "clips")
    assert sorted(clips) == sorted(row[0] for row in by_clip.rows)
    assert f_scores(seldio.compare([path, path], reference=path, average="micro")) == [1.0, 1.0]
    assert seldio.diff(path, path).over == "2 clips in both: 2 the same, 0 changed"
    same_labels(path, clips, tmp_path)
    for clip in clips:
        assert seldio.view(path, io.BytesIO(), clip=clip, no_media=True).events


def test_a_clip_that_one_side_lacks_is_an_error(tmp_path: Path) -> None:
    path = raven(tmp_path)
    (tmp_path / "kitchen.txt").write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[:3]), "utf-8")

    with pytest.raises(DataError, match="1 predicted clip without reference: hall"):
        seldio.score(path, reference=tmp_path / "kitchen.txt")
    with pytest.raises(DataError, match="1 clip of the reference without prediction: hall"):
        seldio.score(tmp_path / "kitchen.txt", reference=path)


def test_two_files_of_one_clip_are_refused(tmp_path: Path) -> None:
    (tmp_path / "kitchen.csv").write_text("0,12,0,30,10\n1,12,0,30,10\n", "utf-8")
    jams(tmp_path)
    one = json.loads((tmp_path / "kitchen.jams").read_text("utf-8"))
    (tmp_path / "kitchen.jams").write_text(json.dumps(one | {"annotations": one["annotations"][:1]}), "utf-8")

    with pytest.raises(UsageError, match=r"kitchen\.csv and .*kitchen\.jams both hold labels of kitchen"):
        len(seldio.open(tmp_path).events)
    assert list(seldio.open(tmp_path, format="starss22").events) == ["kitchen"]


def test_the_labels_of_every_format_are_seen_by_every_verb(example: Path, tmp_path: Path) -> None:
    rows = Counter(seldio.read(example)["clip"].to_pylist())
    assert rows

    same_labels(example, rows, tmp_path)
    assert seldio.diff(example, example).same
    for clip in rows:
        assert seldio.view(example, io.BytesIO(), clip=clip, no_media=True).events


def same_labels(path: Path, rows: Counter[str], folder: Path) -> None:
    """That a dataset that is opened, windows over it, and exports of it have these rows of each clip."""
    with seldio.open(path) as opened:
        assert rows == {clip: len(table) for clip, table in opened.events.items() if len(table)}
        assert set(opened.events) == {window["clip"] for window in opened.windows(audio=None)}
    manifest = export(path, folder / "out", "parquet")
    labels = [file for file in manifest.files if file.name.startswith("labels/")]
    assert sum(rows.values()) == sum(file.rows for file in labels)
    assert rows == Counter(seldio.read(folder / "out")["clip"].to_pylist())
    for back in map(Path, seldio.convert(folder / "out", folder / "back", "files").written):
        original = path if path.is_file() else path / back.relative_to(folder / "back")
        assert original.read_bytes() == back.read_bytes()


@pytest.fixture(scope="module")
def development(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of both splits of a development set, in their tree and flat, and outputs for dev-test alone."""
    folder = tmp_path_factory.mktemp("splits")
    clips = [(f"fold4_room{room}_mix001", f"dev-test-{who}") for room, who in ((2, "tau"), (8, "tau"), (23, "sony"))]
    clips += [(f"fold3_room21_mix{mix:03d}", "dev-train-sony") for mix in (1, 2)]
    labels = write_tree(folder / "starss23", seed=1, clips=clips, media=())
    write_outputs(folder / "mine", labels, seed=0)
    (folder / "flat").mkdir()
    for file in (folder / "starss23").rglob("*.csv"):
        shutil.copy(file, folder / "flat")
    for file in (folder / "mine").glob("fold3*"):
        file.unlink()
    return folder


def test_another_split_of_the_reference_is_never_missed_in_silence(development: Path) -> None:
    mine, whole = development / "mine", development / "starss23/metadata_dev"
    with pytest.raises(
        DataError, match='All predicted clips are of dev-test: split="dev-test" leaves out the clips of'
    ):
        seldio.score(mine, whole)
    report = seldio.score(mine, whole, allow_missing=True)
    assert report.notices[0].name == "other-splits"
    assert report.notices[0].first


@pytest.mark.parametrize("labels", ["starss23/metadata_dev", "flat"])
def test_a_split_is_chosen_by_its_folder_or_by_the_rooms_of_the_dataset(development: Path, labels: str) -> None:
    mine, whole = development / "mine", development / labels
    report = seldio.score(mine, whole, split="dev-test")
    assert report.over.startswith("3 clips")
    assert "other-splits" not in {notice.name for notice in report.notices}
    assert f_scores(seldio.score(mine, whole, split="test")) == f_scores(report)
    assert seldio.compare([mine, mine], whole, split="dev-test", intervals="bootstrap=100").over.startswith("3 clips")
    with pytest.raises(UsageError, match="in the split dev-valid; it has dev-test-sony, dev-test-tau, dev-train-sony"):
        seldio.score(mine, whole, split="dev-valid")


def test_a_dataset_and_its_split_name_the_folder_with_its_labels(
    development: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(development)
    assert seldio.score("mine", "starss23:dev-test").over.startswith("3 clips")
    assert seldio.compare(["mine"], "starss23:dev-test", intervals="bootstrap=100").over.startswith("3 clips")
    done = CliRunner().invoke(app, ["score", "mine", "-r", "flat", "--split", "dev-test", "--json"])
    assert done.exit_code == 0, done.output
    with pytest.raises(UsageError, match="starss22:dev-test names clips, and scoring requires their labels"):
        seldio.score("mine", "starss22:dev-test")
    with pytest.raises(UsageError, match="split"):
        seldio.score(development / "questions.jsonl", split="test", profile="mmau")
