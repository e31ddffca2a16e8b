"""Every file of a source is in one group of its catalogue, whatever the files are and however they lie."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from layouts import CASES, LAYOUTS, label_examples, question_examples

import seldio
from seldio.files import open_source

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
