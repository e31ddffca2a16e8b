"""Every file of a source is in one group of its catalogue, whatever the files are and however they lie."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from commands import invoke, laid
from layouts import CASES, LAYOUTS, label_examples, question_examples

import seldio
from seldio.errors import DataError, UsageError
from seldio.files import open_source
from seldio.reports.tables import ScoreReport
from seldio.synth.outputs import write_outputs
from seldio.synth.tree import write_tree

EXAMPLES = {one.name: one for one in (*label_examples(), *question_examples())}
LABELS = sorted(path.name for path in (CASES / "formats").iterdir())


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_file_is_in_one_group(name: str, tmp_path: Path) -> None:
    for layout, lay in LAYOUTS.items():
        if (example := lay(EXAMPLES[name])) is None:
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
    rows = "".join(f"{n},1,0,{10 + n},20\n" for n in range(9))
    found = seldio.catalogue(laid(tmp_path, {"a.csv": rows, "b.wav": b"", "notes.md": "about\n"}))
    (labels,) = found.of("labels")
    assert (labels.certainty, labels.clips) == ("likely", ("a",)), labels
    assert labels.doubt.startswith(f"read as {labels.format}"), labels.doubt
    assert [group.kind for group in found.groups] == ["labels", "recording", "other"]
    assert "1 labels" in repr(found)
    (labels,) = seldio.catalogue(tmp_path, format="dcase2020").of("labels")
    assert (labels.certainty, labels.doubt, labels.format) == ("named", "", "dcase2020")


def test_damaged_files_are_unreadable(tmp_path: Path) -> None:
    laid(tmp_path, {"x.parquet": b"PAR1 and no more", "p.jsonl": '{"id": "q1", "prediction": "A"}\n'})
    found = seldio.catalogue(tmp_path)
    assert [(one.kind, one.format) for one in found.groups] == [("unreadable", None), ("predictions", "predictions")]
    assert found.groups[1].evidence == "its content and its name"
    laid(tmp_path, {"half.zip": b"PK\x03\x04 and no more"})
    assert [one.code for one in seldio.catalogue(tmp_path / "half.zip").findings] == ["SAF107"]


def f_scores(report: ScoreReport) -> list[float]:
    """The F of each system."""
    return [float(value) for value in report.to_pandas()["F"]]


def test_two_files_of_one_clip_are_refused(tmp_path: Path) -> None:
    laid(tmp_path, {"kitchen.csv": "0,12,0,30,10\n", "kitchen.txt": "0.0\t1.0\tKnock az=10 el=0 dist=1\n"})
    with pytest.raises(UsageError, match=r"kitchen\.csv and .*kitchen\.txt both hold labels of kitchen"):
        len(seldio.open(tmp_path).events)
    assert list(seldio.open(tmp_path, format="starss22").events) == ["kitchen"]


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
    assert seldio.compare(["mine", "mine"], "starss23:dev-test", intervals="bootstrap=100").over.startswith("3 clips")
    done = invoke("score", "mine", "-r", "flat", "--split", "dev-test", "--json")
    assert done.exit_code == 0, done.output
    with pytest.raises(UsageError, match="starss22:dev-test names clips, and scoring requires their labels"):
        seldio.score("mine", "starss22:dev-test")
    with pytest.raises(UsageError, match="split"):
        seldio.score(development / "questions.jsonl", split="test", profile="mmau")
