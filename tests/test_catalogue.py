"""Every file of a source is in one group of its catalogue, whatever the files are and however they lie."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import invoke
from layouts import CASES, LAYOUTS, label_examples, question_examples, several

import seldio
from seldio.data import export
from seldio.errors import DataError, UsageError
from seldio.files import open_source
from seldio.reports.tables import ScoreReport
from seldio.synth.outputs import write_outputs
from seldio.synth.tree import write_tree

EXAMPLES = {one.name: one for one in (*label_examples(), *question_examples())}
LABELS = sorted(path.name for path in (CASES / "formats").iterdir())


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_file_is_in_one_group(name: str, tmp_path: Path) -> None:
    for layout, laid in LAYOUTS.items():
        if (example := laid(EXAMPLES[name])) is None:
            continue
        path = example.write(tmp_path / layout)
        with open_source(path, lambda _: None) as source:
            there = Counter(entry.path for entry in source)
            around = {entry.path for entry in source.every}

        found = seldio.catalogue(path)

        grouped = Counter(entry.path for group in found.groups for entry in group.files)
        assert dict.fromkeys(grouped, 1) == grouped
        more = grouped.keys() - there.keys()  # what a file that was named alone is read with
        assert there.keys() <= grouped.keys()
        assert more <= {entry.path for group in found.of("companion") for entry in group.files} | around


@pytest.mark.parametrize("name", LABELS)
def test_labels_have_their_format_and_clips(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]

    found = seldio.catalogue(example.write(tmp_path / "in"))

    groups = found.of("labels")
    holding = {entry.name for group in groups for entry in group.files}
    assert set(example.held) == holding
    # of formats that look alike, another one may be named, but never without a doubt
    assert {group.format for group in groups} == {example.format} or all(group.doubt for group in groups)
    named = [group.clips for group in groups if group.clips is not None]
    assert not named or {clip for clips in named for clip in clips} == set(example.clips)
    assert found.table().num_rows == sum(len(group.files) for group in found.groups)


def test_doubt_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("".join(f"{n},1,0,{10 + n},20\n" for n in range(9)))
    (tmp_path / "b.wav").write_bytes(b"")
    (tmp_path / "notes.md").write_text("about\n")

    found = seldio.catalogue(tmp_path)

    (labels,) = found.of("labels")
    assert (labels.certainty, labels.clips) == ("likely", ("a",)), labels
    assert labels.doubt.startswith(f"read as {labels.format}"), labels.doubt
    assert [group.kind for group in found.groups] == ["labels", "recording", "other"]
    assert "1 labels" in repr(found)


def test_a_named_format_is_not_doubted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,0,10,20\n")

    (labels,) = seldio.catalogue(tmp_path, format="dcase2020").of("labels")

    assert (labels.certainty, labels.doubt, labels.format) == ("named", "", "dcase2020")


def test_a_damaged_table_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "p.jsonl").write_text('{"id": "q1", "prediction": "A"}\n')

    found = seldio.catalogue(tmp_path)

    assert [(one.kind, one.format) for one in found.groups] == [("unreadable", None), ("predictions", "predictions")]
    assert found.groups[1].evidence == "its content and its name"


def test_what_is_wrong_with_an_archive_is_among_the_findings(tmp_path: Path) -> None:
    (tmp_path / "half.zip").write_bytes(b"PK\x03\x04 and no more")

    found = seldio.catalogue(tmp_path / "half.zip")

    assert [one.code for one in found.findings] == ["SAF107"]


ODD = {
    "few rows": ("0,0,1,10,20,-5\n", "LAB105"),
    "flags": ("0,0,1,10,20,1\n", None),
    "no distances": ("".join(f"{n},1,1,{n % 90},-5,-1\n" for n in range(200)), "LAB105"),
    "one distance in metres": ("".join(f"{n},1,1,{n % 90},-5,1.81\n" for n in range(200)), "LAB308"),
    "decimal azimuths": ("".join(f"{n},1,1,{n % 90 + 0.5},-5,181\n" for n in range(200)), "LAB205"),
    "decimal elevations": ("".join(f"{n},1,1,{n % 90},-5.5,181\n" for n in range(200)), "LAB205"),
    "vectors": ("".join(f"{n},1,0,0.6,0.8,0.01\n" for n in range(200)), "LAB302"),
}
CLIP = "fold3_room4_mix001.csv"


@pytest.mark.parametrize("odd", ODD)
def test_the_folders_of_starss_decide_the_layout_of_its_labels(tmp_path: Path, odd: str) -> None:
    text, code = ODD[odd]
    (home := tmp_path / "metadata_dev/dev-train-tau").mkdir(parents=True)
    (home / CLIP).write_text(text)

    report = seldio.validate(home / CLIP)
    found = [one for one in report.findings if one.severity.value == "error"]
    assert [one.code for one in found] == ([code] if code is not None else [])
    assert all(one.path.endswith(CLIP) and one.column for one in found)
    assert {group.format for group in seldio.catalogue(home).groups} == {"starss23"}
    assert not any(one.fixable for one in found if code != "LAB308")
    assert (home / CLIP).read_text() == text


def test_a_recording_alone_is_no_table_of_labels(tmp_path: Path) -> None:
    (tmp_path / "kitchen.wav").write_bytes(b"1 2 3\n")

    (group,) = seldio.catalogue(tmp_path / "kitchen.wav").groups

    assert (group.kind, group.certainty) == ("recording", "likely")
    with pytest.raises(seldio.UsageError, match=r"1 file called \.wav"):
        seldio.convert(tmp_path / "kitchen.wav", tmp_path / "to.csv", "starss23")


def test_labels_under_another_name_are_told_apart_from_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1,0,10,20,150\n")
    (tmp_path / "b.txt").write_text("0,1,0,-170,20,150\n")
    (tmp_path / "README").write_text("labels of a room\n")

    others = {group.files[0].name: group for group in seldio.catalogue(tmp_path).of("other")}

    assert others["README"].doubt == ""
    assert "labels" in others["b.txt"].doubt, "with what speaks against passing it over"
    told = seldio.info(tmp_path)
    assert [one["files"] for one in told["catalogue"] if one["kind"] == "other"] == [
        [str(tmp_path / name)] for name in ("README", "b.txt")
    ]
    assert "README" in str(told)
    assert "b.txt" in str(told)


@pytest.fixture(params=LABELS)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The example of a format, without the rows that it means."""
    folder = CASES / "formats" / request.param
    return shutil.copytree(folder, tmp_path / "set", ignore=shutil.ignore_patterns("rows.jsonl"))


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
    assert seldio.compare(["mine"] * 2, "starss23:dev-test", intervals="bootstrap=100").over.startswith("3 clips")
    done = invoke("score", "mine", "-r", "flat", "--split", "dev-test", "--json")
    assert done.exit_code == 0, done.output
    with pytest.raises(UsageError, match="starss22:dev-test names clips, and scoring requires their labels"):
        seldio.score("mine", "starss22:dev-test")
    with pytest.raises(UsageError, match="split"):
        seldio.score(development / "questions.jsonl", split="test", profile="mmau")
