"""Data set trees from names alone: what they are read as, and what the LAY rules say of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pytest
from commands import laid
from effort import calls
from hypothesis import example, given
from hypothesis import strategies as st

import seldio
from seldio import rules
from seldio.catalogues.trees import TYPES, Tree, read_tree
from seldio.errors import UsageError
from seldio.findings import Finding, Severity
from seldio.formats.datasets import DATASETS, clip_range, dataset, expected_clips
from seldio.rules.collection import Collection
from seldio.rules.layout import LAYOUT_RULES
from seldio.schema.clips import Clip, clip_table
from seldio.text import printable

SUFFIX = {"foa": "wav", "mic": "wav", "stereo": "wav", "metadata": "csv", "video": "mp4"}
SPLITS = {split.name: sorted(split.clips) for split in dataset("starss23").splits}


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    size: int = 100
    root: str = "data"

    @property
    def path(self) -> str:
        return f"{self.root}/{self.name}"

    def read(self) -> bytes:
        return b""


def findings(names: Iterable[str], empty: Iterable[str] = (), root: str = "") -> list[Finding]:
    names, empty = sorted(set(names)), set(empty)
    entries = [Entry(name, 0 if name in empty else 100) for name in names]
    collection = Collection("data", "folder", entries, [])
    tree = read_tree(names, root)
    return list(rules.findings(LAYOUT_RULES, collection, tree))


def codes(names: Iterable[str]) -> list[str]:
    return [finding.code for finding in findings(names)]


def files(top: str, clips: dict[str, list[str]] | None = None, prefix: str = "") -> set[str]:
    """The files of one top folder: ``files("foa_dev")``."""
    suffix = SUFFIX[top.split("_", maxsplit=1)[0]]
    return {f"{prefix}{top}/{s}/{clip}.{suffix}" for s, names in (clips or SPLITS).items() for clip in names}


def evaluation(top: str, below: str = "eval/") -> set[str]:
    return {f"{top}/{below}mix{n:03d}.{SUFFIX[top.split('_', maxsplit=1)[0]]}" for n in range(1, 80)}


def test_the_counts_are_those_of_the_data_sets() -> None:
    splits = dataset("starss23").splits
    assert {split.name: {room: len([*mixes]) for room, mixes in split.rooms.items()} for split in splits} == {
        "dev-train-sony": {21: 29, 22: 11},
        "dev-train-tau": {4: 6, 6: 7, 7: 6, 9: 8, 12: 10, 13: 9, 14: 4},
        "dev-test-sony": {23: 14, 24: 16},
        "dev-test-tau": {2: 6, 8: 9, 10: 9, 15: 10, 16: 14},
    }
    assert [len(expected_clips(name, "dev")) for name in ("starss23", "starss22")] == [168, 121]
    assert len(expected_clips("starss22", "dev-test")) == 54
    assert len(dataset("starss23").without_video) == 12


UNFILMED = {f"video_dev/dev-train-sony/fold3_room21_mix{n:03d}.mp4" for n in range(1, 13)}
DEV = files("foa_dev") | files("mic_dev") | files("metadata_dev") | files("video_dev") - UNFILMED
WHOLE = DEV | evaluation("foa_eval") | evaluation("mic_eval") | evaluation("video_eval") | {"README.md", "LICENSE"}
PLAIN = files("foa_dev") | files("metadata_dev")
STARSS22 = {split.name: sorted(split.clips) for split in dataset("starss22").splits}


def test_a_reference_can_be_named() -> None:
    assert expected_clips("starss23", "eval") == set(clip_range("mix001..mix079")) == set(clip_range("mix001..079"))
    assert clip_range("fold4_room2_mix099..fold4_room2_mix100") == ("fold4_room2_mix099", "fold4_room2_mix100")
    for text in ("mix001", "mix079..mix001", "mix001..max079", "1..99999999", "mix001..mix079x"):
        with pytest.raises(UsageError, match="not a range of clips"):
            clip_range(text)
    assert expected_clips("starss22", "dev-test-sony") == expected_clips("starss23", "dev-test-sony")
    for name, split, told in (
        ("starss21", "dev", "starss23"),
        ("starss23", "dev-tes", "dev-test-tau"),
        ("starss22", "eval", "dev"),
    ):
        with pytest.raises(UsageError, match=told):
            expected_clips(name, split)


def test_all_of_starss23() -> None:
    tree = read_tree(sorted(WHOLE))
    assert tree.layout == "starss23"
    assert [sum(clip.set == part for clip in tree.clips) for part in ("dev", "eval")] == [168, 79]
    assert sum(clip.video is None for clip in tree.clips) == 12
    assert all(clip.foa and clip.mic and (clip.metadata or clip.set == "eval") for clip in tree.clips)
    clip = next(clip for clip in tree.clips if clip.clip == "fold4_room10_mix009")
    assert clip.model_dump(exclude_none=True) == {
        "clip": "fold4_room10_mix009", "layout": "starss23", "set": "dev", "split": "dev-test-tau", "site": "tau",
        "fold": 4, "room": 10, "mix": 9, "foa": "foa_dev/dev-test-tau/fold4_room10_mix009.wav",
        "mic": "mic_dev/dev-test-tau/fold4_room10_mix009.wav",
        "metadata": "metadata_dev/dev-test-tau/fold4_room10_mix009.csv",
        "video": "video_dev/dev-test-tau/fold4_room10_mix009.mp4",
    }  # fmt: skip


def test_a_recording_called_audio_is_that_of_labels_called_metadata() -> None:
    (clip,) = read_tree(["out/audio_out_mic000.wav", "out/metadata_out_mic000.csv"]).clips
    assert (clip.clip, clip.files["audio"]) == ("metadata_out_mic000", "out/audio_out_mic000.wav")


S21 = {
    "dev-train": ["fold1_room1_mix001", "fold4_room2_mix001"],
    "dev-val": ["fold5_room1_mix001"],
    "dev-test": ["fold6_room1_mix001"],
}
S25 = {"dev-train-tau": ["fold3_room12_mix001_deg359_start2246"], "dev-test-sony": ["fold4_room23_mix001_deg0_start0"]}
COMBINED = {"dev-train": SPLITS["dev-train-sony"] + SPLITS["dev-train-tau"], "dev-test": SPLITS["dev-test-tau"]}
FLAT20 = {
    f"{top}/fold{f}_room1_mix001_ov1.{s}"
    for f in range(1, 7)
    for top, s in (("foa_dev", "wav"), ("metadata_dev", "csv"))
}
FLAT19 = {"foa_dev/split1_ir0_ov1_1.wav", "metadata_dev/split1_ir0_ov1_1.csv", "foa_eval/split0_1.wav"}
SCAPER = {
    f"{f}{end}/room-x_fmt-{f}_seed-001.{s}" for f in ("foa", "mic") for end, s in (("", "wav"), ("_labels", "csv"))
}
OWN = {
    "dev-test-synth": ["fold2_room1_mix001"],
    "dev-train-sony": ["fold1_room2_mix001"],
    "mine": ["fold3_room99_mix001"],
}
TREES: list[tuple[str, str, set[str]]] = [
    ("whole", "starss23", WHOLE),
    ("only labels", "starss23", files("metadata_dev")),
    ("labels as root", "starss23", {name.removeprefix("metadata_dev/") for name in files("metadata_dev")}),
    ("one split", "starss23", {f"dev-test-tau/{clip}.csv" for clip in SPLITS["dev-test-tau"]}),
    ("a split as root", "starss23", {f"{clip}.wav" for clip in SPLITS["dev-test-tau"]}),
    ("folders above", "starss23", {f"downloads/STARSS23/{name}" for name in PLAIN}),
    ("archives unpacked into folders", "starss23", files("foa_dev", prefix="foa_dev/") | files("metadata_dev", prefix="metadata_dev/")),
    ("sony and tau joined", "starss23", files("foa_dev", COMBINED) | files("metadata_dev", COMBINED)),
    ("evaluation set, flat", "starss23", evaluation("foa_eval", "")),
    ("with synthetic data", "starss23", PLAIN | files("foa_dev", {"dev-train-synth": ["fold1_room5_mix001"]})),
    ("with clips of one's own", "starss23", PLAIN | files("foa_dev", OWN) | files("metadata_dev", OWN)),
    ("2022", "starss22", files("foa_dev", STARSS22) | files("metadata_dev", STARSS22)),
    ("2021", "dcase2021", files("foa_dev", S21) | files("metadata_dev", S21) | {"foa_eval/eval-test/mix001.wav", "metadata_eval/mix001.csv"}),
    ("2021, only training", "dcase2021", files("metadata_dev", {"dev-train": ["fold1_room1_mix001"]})),
    ("2020", "dcase2020", FLAT20 | {"foa_eval/mix001.wav", "metadata_eval/mix001.csv"}),
    ("2019", "dcase2019", FLAT19),
    ("2025", "dcase2025", files("stereo_dev", S25) | files("metadata_dev", S25) | files("video_dev", S25) | {"stereo_eval/eval/a.wav"}),
    ("SpatialScaper", "spatialscaper", SCAPER),
    ("own recordings", "loose", {"a.wav", "a.csv", "b/c.wav", "notes.txt"}),
    ("a submission", "loose", {f"mix{n:03d}.csv" for n in range(1, 80)}),
    ("nothing", "loose", set()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "names"), [(t[1], t[2]) for t in TREES], ids=[t[0] for t in TREES])
def test_a_tree_has_its_layout_and_no_false_alarm(name: str, names: set[str]) -> None:
    tree = read_tree(sorted(names))
    assert tree.layout == name
    assert tree.evidence
    assert set(paths(tree)) == {n for n in names if n.rpartition(".")[2] in TYPES}
    assert [str(f) for f in findings(names) if f.severity is not Severity.INFO] == []


def test_loose_files_of_one_name_make_one_clip_only_where_they_belong_together() -> None:
    tree = read_tree(["audio/a.wav", "labels/a.csv", "video/a.mp4", "run1/b.csv", "run2/b.csv"])
    assert [(c.clip, c.audio, c.metadata, c.video) for c in tree.clips] == [
        ("a", "audio/a.wav", "labels/a.csv", "video/a.mp4"),
        ("b", None, "run1/b.csv", None),
        ("b", None, "run2/b.csv", None),
    ]


def swap(names: set[str], old: str, new: str) -> set[str]:
    """*names* with the file *old* called *new*."""
    assert old in names
    return names - {old} | {new}


def without(names: set[str], *parts: str) -> set[str]:
    return {name for name in names if not any(part in name for part in parts)}


@pytest.mark.parametrize("folder", ["dev-val", "dev-valid", "dev-validation"])
def test_a_validation_split_may_be_called_in_several_ways(folder: str) -> None:
    names = [f"metadata_dev/{split}/fold{fold}_room1_mix001.csv" for split, fold in (("dev-train", 1), (folder, 5))]
    tree = read_tree(names)
    assert (tree.layout, [clip.split for clip in tree.clips]) == ("dcase2021", ["dev-train", folder])
    row = dataset("dcase2021")
    named = [row.named("dev", f"fold{fold}_room1_mix001") for fold in (5, 6)]
    assert [row.misplaced(folder, one) for one in named if one] == [None, "fold 6 belongs to dev-test"]


TRAIN, TEST = "dev-train-tau/fold3_room4_mix001", "dev-test-tau/fold4_room2_mix001"
AUDIO, LABELS = f"foa_dev/{TRAIN}.wav", f"metadata_dev/{TRAIN}.csv"
BROKEN: dict[str, tuple[set[str], set[str]]] = {
    "LAY101": (PLAIN, swap(PLAIN, LABELS, "metadata_dev/dev-train-tau/fold3_room4_mix1.csv")),
    "LAY102": (PLAIN, PLAIN - {LABELS}),
    "LAY103": (PLAIN, PLAIN - {AUDIO}),
    "LAY103 of MIC": (DEV, DEV - {f"mic_dev/{TRAIN}.wav"}),
    "LAY103 of video": (DEV, DEV - {f"video_dev/{TRAIN}.mp4"}),
    "LAY106": (PLAIN, {name.replace("dev-test-tau/fold4_room2_mix001", "dev-train-tau/fold4_room2_mix001") for name in PLAIN}),
    "LAY107": (PLAIN, PLAIN | {f"{name.split('/')[0]}/dev-train-tau/{name.split('/')[2]}" for name in PLAIN if TEST in name}),
    "LAY108": (PLAIN, PLAIN - {AUDIO, LABELS}),
    "LAY109": (PLAIN, PLAIN | {"foa_dev/dev-test-tau/fold4_room2_mix099.wav", "metadata_dev/dev-test-tau/fold4_room2_mix099.csv"}),
    "LAY112": (PLAIN, swap(PLAIN, LABELS, f"{LABELS}.txt")),
    "LAY114": (PLAIN, without(PLAIN, "dev-train-sony", "_room12_", "_room13_")),
    "LAY116": (PLAIN, swap(PLAIN, LABELS, "metadata_dev/fold3_room4_mix001.csv")),
}  # fmt: skip


@pytest.mark.parametrize("code", BROKEN)
def test_each_rule_speaks_once_and_alone(code: str) -> None:
    clean, broken = BROKEN[code]
    assert codes(clean) == []
    assert codes(broken) == [code[:6]]


def test_one_finding_for_one_cause() -> None:
    """A split without MIC is one finding with the count, not forty."""
    (found,) = findings(without(DEV, "mic_dev/dev-train-sony"))
    assert found.code == "LAY103"
    assert "all 40 recordings of dev-train-sony" in found.message
    assert "and 35 more" in found.message
    assert found.path == "data/foa_dev/dev-train-sony"
    (found,) = findings(without(PLAIN, "metadata_dev/dev-train-sony"))
    assert (found.code, found.hint) == ("LAY102", "expected metadata_dev/dev-train-sony/fold3_room21_mix001.csv")
    assert [f.path for f in findings(PLAIN - {LABELS})] == [f"data/{AUDIO}"]
    assert [f.path for f in findings(PLAIN - {LABELS, LABELS.replace("001", "004")})] == ["data/foa_dev/dev-train-tau"]


@pytest.mark.parametrize(
    ("clip", "folder", "why"),
    [
        ("fold4_room2_mix001", "dev-train-synth", "fold 4 belongs to dev-test"),
        ("fold3_room21_mix001", "dev-train-tau", "room 21 belongs to dev-train-sony"),
        ("fold3_room23_mix001", "dev-train-sony", "room 23 belongs to dev-test-sony"),
    ],
)
def test_wrong_splits(clip: str, folder: str, why: str) -> None:
    moved = f"metadata_dev/{folder}/{clip}.csv"
    names = without(files("metadata_dev"), clip) | {moved}
    wrong = [found for found in findings(names) if found.code == "LAY106"]
    assert [found.path for found in wrong] == [f"data/{moved}"]
    assert why in wrong[0].message


def test_the_evaluation_set() -> None:
    assert codes(evaluation("foa_eval") - {"foa_eval/eval/mix040.wav"}) == ["LAY108"]
    assert codes(evaluation("foa_eval") | {"foa_eval/eval/mix080.wav"}) == ["LAY109"]
    for folder in ("", "a/b/"):
        assert codes(evaluation("foa_eval", folder)) == []


MISSPELT = ("Fold3_Room4_Mix001", "fold3-room4-mix001", "fold03_room04_mix001", "fold3_room4_mix001 (1)")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((f"metadata_dev/dev-train-tau/fold3_room4_mix001.{end}", "LAY112") for end in ("CSV", "csv.txt")),
        ("foa_dev/dev-train-tau/fold3_room4_mix001.csv", "LAY112"),
        *((f"metadata_dev/dev-train-tau/{stem}.csv", "LAY101") for stem in MISSPELT),
    ],
)
def test_a_wrong_name_is_not_also_a_missing_file(name: str, expected: str) -> None:
    (found,) = findings(swap(PLAIN, LABELS, name))
    assert found.code == expected
    assert expected == "LAY112" or found.hint == "did you mean fold3_room4_mix001?"


def test_labels_tell_a_dataset_from_the_one_that_it_is_a_part_of(tmp_path: Path) -> None:
    for number, row in enumerate(("0,1,0,-50,30\n", "0,1,0,-50,30,200\n")):
        folder = tmp_path / str(number) / "metadata_dev/dev-test-sony"
        rows = "".join(row.replace("0", str(at), 1) for at in range(99))
        laid(folder, {f"fold4_room23_mix00{mix}.csv": rows for mix in range(1, 4)})
        said = [found.message[:17] for found in seldio.validate(tmp_path / str(number)) if found.code == "LAY114"]
        assert said == [f"part of STARSS2{2 + number}:"]
        with seldio.open(tmp_path / str(number)) as opened:
            assert {opened.layout, *opened.clips["layout"].to_pylist()} == {f"starss2{2 + number}"}
    unread = folder / "fold4_room23_mix001.csv"
    unread.write_text("".join(f"{at},1,0,-50,30,\n" for at in range(99)))  # rows of STARSS22 that end with a comma
    assert [found.code for found in seldio.validate(unread)] == ["SYN124"]


PARTS = st.sampled_from(
    ["foa_dev", "mic_dev", "metadata_dev", "video_eval", "stereo_dev", "foa_labels", "dev-train-sony", "dev-test",
     "dev-val", "eval", "STARSS22", "foa", "labels", "x", "", ".", "..", "Foa_Dev", "\u202e", "a\nb", "\udcff"]
)  # fmt: skip
STEMS = st.sampled_from(
    ["fold3_room21_mix001", "fold4_room2_mix001", "fold3_room4_mix1", "fold1_room1_mix001_ov1", "mix001", "mix080",
     "split1_ir0_ov1_1", "fold3_room12_mix001_deg359_start2246", "fold999_room9999_mix999999", "", "a", "\udcff",
     "fold3_room21_mix001 (1)", "fold0_room0_mix000", "fold٣_room٤_mix٠٠١", "a" * 300]
)  # fmt: skip
ENDS = st.sampled_from([".csv", ".wav", ".mp4", ".CSV", ".csv.txt", ".flac", ".npy", "", ".", "..csv"])
NAMES = st.builds(lambda parts, stem, end: "/".join([*parts, stem + end]), st.lists(PARTS, max_size=4), STEMS, ENDS)


def paths(tree: Tree) -> list[str]:
    fields = ("foa", "mic", "stereo", "audio", "metadata", "video")
    return [path for clip in tree.clips for field in fields if (path := getattr(clip, field)) is not None]


def is_clip_file(name: str) -> bool:
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    text = not any("\ud800" <= character <= "\udfff" for character in name)
    return bool(stem and dot and text and suffix.lower() in TYPES)


@given(
    st.lists(NAMES | st.text(max_size=20), max_size=12),
    st.sampled_from(["", "x/foa_dev", "dev-test-tau", "a.zip", "/", "\\"]),
)
@example(
    ["foa_dev/dev-train-sony/a.csv", "metadata_dev/dev-train-sony/a.csv", "b/metadata_dev/dev-train-sony/a.csv"], ""
)
def test_no_file_is_lost_and_nothing_raises(names: list[str], root: str) -> None:
    tree = read_tree(names, root)
    assert sorted(paths(tree)) == sorted({name for name in names if is_clip_file(name)})
    assert [place.name for place in tree.places] == sorted(set(names))
    rows = clip_table(tree.clips)
    assert tuple(map(Clip.model_validate, rows.to_pylist())) == tree.clips
    assert tree.row in DATASETS
    for found in findings(names, names[:2], root):
        assert found.message
        assert printable(found.message) == found.message
        assert printable(found.hint or "") == (found.hint or "")


@pytest.mark.slow
def test_the_work_grows_with_the_number_of_files_and_not_faster() -> None:
    """2025 has 30,000 clips in three folders; a hostile archive may hold as many files of one name."""

    def clips(count: int) -> int:
        stems = [f"fold3_room12_mix001_deg{number // 50}_start{number % 50}" for number in range(count)]
        folders = (("stereo_dev", "wav"), ("metadata_dev", "csv"))
        names = [f"{folder}/dev-train-tau/{stem}.{kind}" for stem in stems for folder, kind in folders]
        assert len(read_tree(names).clips) == count
        return calls(lambda: read_tree(names))

    def namesakes(count: int) -> int:
        names = [f"foa_dev/dev-train-sony/{number}/fold3_room21_mix001.wav" for number in range(count)]
        assert len(findings(names)) < 5
        return calls(lambda: findings(names))

    for work in (clips, namesakes):
        assert work(4000) < 4.4 * work(1000)  # linear is 4 times, quadratic 16 times
