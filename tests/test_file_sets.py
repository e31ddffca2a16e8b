"""What is wrong with a set of label files is one finding that names it: names, places, copies and grids of time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import laid

import seldio
from seldio.rules.collection import Reference

CLIPS = [f"fold4_room{room}_mix{mix:03}" for room in (23, 24) for mix in range(1, 5)]
#: What faults of sets are told by; other findings are no matter here.
SETS = ("SUB101", "SUB102", "SUB104", "SUB110", "SUB112", "SUB115", "SUB116", "SUB119", "LAB307")


def rows(number: int, count: int, step: int = 1) -> str:
    return "".join(f"{n * step},{(n // 40 + number) % 13},0,{10 * number - 40},{number},150\n" for n in range(count))


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return laid(tmp_path / "labels", {f"{clip}.csv": rows(n, 300 + 40 * n) for n, clip in enumerate(CLIPS)})


def messages(path: Path, reference: str | Path | None = None) -> list[tuple[str, str]]:
    found = seldio.validate(path, reference=reference, format="starss23")
    return [(finding.code, finding.message) for finding in found if finding.code in SETS]


def renamed(root: Path, name: Callable[[str], str]) -> Path:
    out = root.parent / "renamed"
    for path in sorted(root.iterdir()):
        target = out / name(path.stem)
        target.parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(path, target)
    return out


#: Names that a program gives the file of a clip; the zeros of numbers are those of three.
NAMES: dict[str, Callable[[str], str]] = {
    "prefix": lambda stem: f"pred_{stem}.csv",
    "suffix": lambda stem: f"{stem}_out.csv",
    "capitals in the suffix": lambda stem: f"{stem}.CSV",
    "a digit less": lambda stem: stem.replace("mix0", "mix") + ".csv",
    "no fold": lambda stem: f"{stem[6:]}.csv",
    "doubled suffix": lambda stem: f"{stem}.csv.csv",
    "spaces": lambda stem: stem.replace("_", " ") + ".csv",
    "one lower": lambda stem: f"{stem[:-1]}{int(stem[-1]) - 1}.csv",
    "one higher": lambda stem: f"{stem[:-1]}{int(stem[-1]) + 1}.csv",
    "no separators": lambda stem: stem.replace("_", "") + ".csv",
    "byte order mark": lambda stem: f"\ufeff{stem}.csv",
    "order": lambda stem: "_".join(reversed(stem.split("_"))) + ".csv",
    "more and less": lambda stem: f"pred-{stem[6:]}_v2.csv",
}


@pytest.mark.parametrize("fault", NAMES)
def test_a_file_that_is_there_is_shown_with_the_name_that_is_expected(fault: str, labels: Path) -> None:
    for path in labels.glob("*room24*"):  # of two folds, so that no text stands before all names
        path.rename(path.with_name(path.name.replace("fold4", "fold3")))
    change = NAMES[fault]
    given = renamed(labels, change)
    ((found, message),) = messages(given, labels)
    assert (found, message.startswith("8 files ")) == ("SUB110", True)
    name, clip = message.rpartition(": ")[2].split(" for ")
    there = min(given.iterdir(), key=lambda path: change(clip) != path.name)
    assert there.name.removesuffix(".csv").replace("\ufeff", r"\ufeff") == name
    hint = f"rename them: {there.name} to {clip}.csv, and so on".replace("\ufeff", r"\ufeff")
    assert hint in [one.hint for one in seldio.validate(given, reference=labels, format="starss23")]


@pytest.mark.parametrize("name", ["mix{:03}.csv", "fold4_room5_mix{:03}.csv", "take{}.csv"])
def test_proper_names_are_not_those_of_another_clip(name: str, labels: Path) -> None:
    """Of the evaluation set, of another room, and of one's own."""
    for path in labels.glob("*room24*"):
        path.unlink()
    given = renamed(labels, lambda stem: name.format(CLIPS.index(stem) + 1))
    assert "SUB110" not in dict(messages(given, labels))


@pytest.mark.parametrize(("factor", "milliseconds"), [(2, 50), (10, 10)])
def test_a_finer_grid_is_one_finding_with_its_factor(labels: Path, factor: int, milliseconds: int) -> None:
    rows_of = {f"{clip}.csv": rows(n, (300 + 40 * n) * factor) for n, clip in enumerate(CLIPS)}
    dense = laid(labels.parent / "dense", rows_of)
    (found,) = (f for f in seldio.validate(dense, reference=labels, format="starss23") if f.code in SETS)
    behind, every = (sum((300 + 40 * n) * times for n in range(8)) for times in (factor - 1, factor))
    text = f"frames of {milliseconds} ms instead of 100 ms: {behind:,} of {every:,} rows"
    assert found.message == f"{text} are past the end of the labels of the reference"
    assert (found.code, found.severity) == ("SUB119", "error")
    score = str(seldio.score(dense, labels, format="starss23", reference_format="starss23"))
    assert f"Frames of {milliseconds} ms instead of 100 ms were counted" in " ".join(score.split())


@pytest.mark.parametrize("frames", [300, 600, 1000])
def test_outputs_padded_by_as_many_frames_are_no_other_grid(frames: int, tmp_path: Path) -> None:
    """Recordings of 40 to 75 s, and outputs that go on behind each of them."""
    lengths = {clip: 400 + 50 * number for number, clip in enumerate(CLIPS)}
    laid(tmp_path, {f"{clip}.csv": rows(n, lengths[clip] + frames) for n, clip in enumerate(CLIPS)})
    found = seldio.validate(tmp_path, reference=Reference("x", lengths), format="starss23").by_rule()
    assert "SUB104" in found
    assert not {"LAB307", "SUB119"} & set(found)


def outputs(folder: Path, counts: list[int], length: int = 400) -> Path:
    """One file for each number of rows, in clips of so many frames."""
    for number, count in enumerate(counts):
        lines = [f"{n * length // count},{n % 13},{number},{n % 90},{number},150\n" for n in range(count)]
        laid(folder, {f"fold4_room{number // 9 + 1}_mix{number % 9 + 1:03}.csv": "".join(lines)})
    return folder


def emptied(path: Path, reference: Path) -> list[str]:
    found = seldio.validate(path, reference=reference)
    return [finding.message for finding in found if finding.code == "SUB105"]


FULL = [300 + 5 * number for number in range(24)]


def test_many_empty_files_among_full_ones_are_one_finding(tmp_path: Path) -> None:
    labels = outputs(tmp_path / "labels", [400] * 34)
    (message,) = emptied(outputs(tmp_path / "out", [0] * 10 + FULL), labels)
    names = "fold4_room1_mix001, fold4_room1_mix002, fold4_room1_mix003 and 7 more"
    text = f"10 of 34 files are empty, although the reference has events in their clips: {names}"
    assert message == f"{text}; the others have 358 rows (median), and none of them less than a quarter of that"
    assert "and 2 of them less" in emptied(outputs(tmp_path / "weaker", [0] * 10 + [40, 60] + FULL[2:]), labels)[0]


@pytest.mark.parametrize(
    ("counts", "labelled", "length"),
    [
        ([0] * 4 + FULL, 400, 400),
        ([0] * 10 + [10, 30, 50, 70] + FULL[4:], 400, 400),
        ([0] * 10 + [30] * 24, 400, 400),
        ([0] * 10 + FULL, 0, 400),
        ([0] * 10 + FULL, 50, 50),
        ([0] * 30 + FULL[:4], 400, 400),
    ],
    ids=["few", "weak", "little in all", "nothing to detect", "short", "few others"],
)
def test_empty_files_that_a_system_may_well_have_are_none(
    counts: list[int], labelled: int, length: int, tmp_path: Path
) -> None:
    labels = outputs(tmp_path / "labels", [400 if count else labelled for count in counts], length)
    assert not emptied(outputs(tmp_path / "out", counts, length), labels)
