"""A score that is low throughout names the change of convention that would mend it, and only then."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effort import some

import seldio
from seldio.parallel import running
from seldio.reports import render
from seldio.scores.seld import join

#: Frame, class, azimuth, elevation, distance in centimetres.
Found = tuple[int, int, float, float, float]
CLIPS = 6


def scene(number: int) -> list[Found]:
    """The labels of a clip of 60 s: sources of five classes that sound now and then, each at its own place."""
    luck = np.random.default_rng(number)
    rows = []
    for class_id in (1, 2, 4, 5, 9):
        azimuth, elevation, frame = int(luck.integers(25, 75)), int(luck.integers(22, 42)), int(luck.integers(0, 40))
        azimuth *= 1 if luck.random() < 0.7 else -1
        while frame < 600:
            stop = min(600, frame + int(luck.integers(15, 70)))
            rows += [(each, class_id, azimuth, elevation, 150) for each in range(frame, stop)]
            frame = stop + int(luck.integers(20, 90))
    return rows


def system(number: int, misses: float = 0.2) -> list[Found]:
    """What a fair system makes of it: a fifth not found, directions off by some degrees, onsets by a frame."""
    luck = np.random.default_rng(100 + number)
    return [
        (frame, class_id, azimuth + luck.normal(0, 5), elevation + luck.normal(0, 5), distance * luck.uniform(0.8, 1.3))
        for frame, class_id, azimuth, elevation, distance in scene(number)
        if luck.random() > misses
    ]


def write(folder: Path, clips: list[list[Found]], row: Callable[[Found], str]) -> Path:
    folder.mkdir()
    for number, rows in enumerate(clips):
        text = "".join(f"{row(each)}\n" for each in sorted(rows))
        (folder / f"fold4_room{number % 3 + 1}_mix{number:03}.csv").write_text(text)
    return folder


def as_label(row: Found) -> str:
    return "{:d},{:d},0,{:d},{:d},{:d}".format(*row)


def as_output(row: Found) -> str:
    """Angles with decimals; the system's distance does not go along."""
    frame, class_id, azimuth, elevation, _ = row
    return f"{frame},{class_id},{(azimuth + 180) % 360 - 180:.4f},{elevation:.4f}"


def as_axes(row: Found) -> str:
    frame, class_id, azimuth, elevation, distance = row
    az, el = math.radians(azimuth), math.radians(elevation)
    axes = (math.cos(az) * math.cos(el), math.sin(az) * math.cos(el), math.sin(el))
    return f"{frame},{class_id},0," + ",".join(f"{value:.6f}" for value in axes) + f",{distance / 100:.4f}"


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data") / "ref", [scene(number) for number in range(CLIPS)], as_label)


def changed(change: Callable[[Found], Found], **options: Any) -> list[list[Found]]:
    found = [[change(row) for row in system(number, **options)] for number in range(CLIPS)]
    return [[row for row in rows if row[0] >= 0 and row[1] >= 0] for rows in found]


def said(report: seldio.ScoreReport) -> list[str]:
    return [notice.text for notice in report.notices if notice.name == "probable-cause"]


#: A mistake, and what is said of it.
MISTAKES: tuple[tuple[Callable[[Found], Found], str, str], ...] = (
    (lambda row: (row[0], row[1], -row[2], *row[3:]), "the azimuth mirrored", "clockwise"),
    (lambda row: (*row[:3], -row[3], row[4]), "the elevation negated", "downwards"),
    (lambda row: (*row[:3], 90 - row[3], row[4]), "90° minus the elevation", "from the zenith"),
    (lambda row: (*row[:2], row[3], row[2], row[4]), "azimuth and elevation exchanged", "the other order"),
    (lambda row: (*row[:2], row[2] + 180, *row[3:]), "azimuths turned by 180°", "from the back"),
    (lambda row: (*row[:2], row[2] - 90, *row[3:]), "the predicted azimuths turned by 90°", "different axes"),
    (lambda row: (*row[:2], 90 - row[2], *row[3:]), "x and y exchanged", "clockwise from the left"),
    (lambda row: (row[0], row[1] + 1, *row[2:]), "the predicted classes 1 lower", "count classes from 1"),
    (lambda row: (row[0], row[1] - 1, *row[2:]), "the predicted classes 1 higher", "count classes from 1"),
    (lambda row: (row[0] + 20, *row[1:]), "the predictions 2 s earlier", "shifted in time"),
    (lambda row: (row[0] - 7, *row[1:]), "the predictions 0.7 s later", "shifted in time"),
    (lambda row: (*row[:2], 180 - row[2], *row[3:]), "front and back swapped", "from the back"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("mistake", "change", "why", "profile"),
    # in turn: each mistake under one profile in `make test`
    some(
        [(*mistake, profile) for mistake in MISTAKES for profile in ("dcase2023", "dcase2024-angles")],
        4,
        *range(3, 2 * len(MISTAKES), 4),
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_named_with_the_score_without_it(
    truth: Path, tmp_path: Path, mistake: Callable[[Found], Found], change: str, why: str, profile: str
) -> None:
    right = write(tmp_path / "right", changed(lambda row: row), as_output)
    wrong = write(tmp_path / "wrong", changed(mistake), as_output)
    options: dict[str, Any] = {"format": "sony-av-output", "reference_format": "starss23", "force": True}
    good, bad = (seldio.score(folder, truth, profile=profile, average="micro", **options) for folder in (right, wrong))
    assert not said(good)
    (text,) = said(bad)
    assert text.startswith(f"with {change} F would be ")
    assert why in text
    would, is_now = (float(words.rpartition(" ")[2]) for words in text.split(" %")[:2])
    assert is_now == pytest.approx(100 * float(str(bad.overall["F"])), abs=0.06)
    assert would == pytest.approx(100 * float(str(good.overall["F"])), abs=3)  # rows before frame 0 are lost
    assert bad.notices[0].first


def test_distances_in_another_unit(truth: Path, tmp_path: Path) -> None:
    far = write(tmp_path / "far", changed(lambda row: (*row[:4], row[4] * 100)), as_axes)
    (text,) = said(seldio.score(far, truth, profile="dcase2024", format="dcase2024-output", force=True))
    assert text.startswith("with the predicted distances divided by 100 F would be")


@pytest.mark.parametrize("misses", [0.2, 0.95])
@pytest.mark.parametrize("profile", ["dcase2023", "dcase2024"])
def test_nothing_is_said_of_an_honest_system(truth: Path, tmp_path: Path, misses: float, profile: str) -> None:
    luck = np.random.default_rng(5)
    good = write(tmp_path / "good", changed(lambda row: row, misses=misses), as_axes)
    weak = write(
        tmp_path / "weak",
        changed(lambda row: (*row[:2], row[2] + luck.normal(0, 60), *row[3:]), misses=misses),
        as_axes,
    )
    blind = write(
        tmp_path / "blind", changed(lambda row: (*row[:2], luck.uniform(-180, 180), *row[3:])), as_axes
    )  # fmt: skip
    for folder in (good, weak, blind):
        assert not said(seldio.score(folder, truth, profile=profile, format="dcase2024-output"))


def test_one_class_taken_for_another_is_no_convention(truth: Path, tmp_path: Path) -> None:
    rows = [[row for row in clip if row[1] == 2] for clip in changed(lambda row: row)]
    confused = [[(row[0], 1, *row[2:]) for row in clip] for clip in rows]
    given = write(tmp_path / "out", confused, as_output)
    assert not said(seldio.score(given, truth, format="sony-av-output"))


def test_one_clip_is_not_enough_unless_all_of_it_agrees(truth: Path, tmp_path: Path) -> None:
    name = f"fold4_room1_mix{0:03}.csv"
    (tmp_path / "ref").mkdir()
    (tmp_path / "ref" / name).write_text((truth / name).read_text())
    mirrored = [(row[0], row[1], -row[2], *row[3:]) for row in scene(0)]
    sure = write(tmp_path / "sure", [mirrored], as_output)
    assert said(seldio.score(sure, tmp_path / "ref", format="sony-av-output"))
    luck = np.random.default_rng(3)
    half = [row if luck.random() < 0.6 else (*row[:2], 180.0, *row[3:]) for row in mirrored]
    unsure = write(tmp_path / "unsure", [half], as_output)
    assert not said(seldio.score(unsure, tmp_path / "ref", format="sony-av-output"))


@pytest.mark.slow
def test_the_same_cause_wherever_parts_are_counted(
    truth: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = write(tmp_path / "out", changed(MISTAKES[0][0]), as_axes)
    late = write(tmp_path / "late", changed(MISTAKES[9][0]), as_axes)

    def reports() -> list[str]:
        return [
            "".join(render([seldio.score(folder, truth, format="dcase2024-output")], "json"))
            for folder in (given, late)
        ]

    whole = reports()
    assert all("probable-cause" in each for each in whole)
    monkeypatch.setattr(join, "PART", 1)
    assert reports() == whole
    with running(2):
        assert reports() == whole


def test_radians(truth: Path, tmp_path: Path) -> None:
    def small(row: Found) -> Found:
        return (*row[:2], math.radians(row[2]), math.radians(row[3]), row[4])

    given = write(tmp_path / "out", changed(small), as_output)
    (text,) = said(seldio.score(given, truth, format="sony-av-output", force=True))
    assert text.startswith("with the predicted angles read as radians F would be")


Planted = Callable[[int, list[Found]], list[Found]]
ORDER = [3, 9, 1, 5, 0, 2, 11, 4, 8, 12, 6, 10, 7]


def mirrored(chosen: Callable[[int], bool]) -> Planted:
    return lambda clip, rows: [(*row[:2], -row[2], *row[3:]) for row in rows] if chosen(clip) else rows


def as_other_axes(order: str) -> Planted:
    """x, y, z in another order, with other signs: ``-zxy``."""
    axes = [("xyz".index(axis), -1 if "-" + axis in order else 1) for axis in order.replace("-", "")]

    def moved(row: Found) -> Found:
        az, el = math.radians(row[2]), math.radians(row[3])
        vector = (math.cos(az) * math.cos(el), math.sin(az) * math.cos(el), math.sin(el))
        x, y, z = (sign * vector[axis] for axis, sign in axes)
        return (*row[:2], math.degrees(math.atan2(y, x)), math.degrees(math.asin(max(-1, min(1, z)))), row[4])

    return lambda _, rows: list(map(moved, rows))


PLANTED: dict[str, tuple[Planted, str]] = {
    "a room": (mirrored(lambda clip: clip % 3 == 1), r"with the azimuth mirrored F would be \S+ % in room 2, not"),
    "some clips": (
        mirrored(lambda clip: clip in (0, 4, 8, 9, 14, 19)),
        r"mirrored F would be \S+ % in at least [456] clips \(fold4_room1_mix000, .*\), not",
    ),
    "classes": (
        lambda _, rows: [(row[0], ORDER[row[1]], *row[2:]) for row in rows],
        r"with predicted classes read as others \(0 as 4, 1 as 2.*\) F would be \S+ %, not .* in another order",
    ),
    "-z, x, y": (as_other_axes("-zxy"), r"with y, z, -x in the place of x, y, z F would be \S+ %, not"),
    "x, -y, -z": (as_other_axes("x-y-z"), r"with x, -y, -z in the place of x, y, z F would be \S+ %, not"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_wrong_with_a_set_or_a_part_of_it_is_named(name: str, tmp_path: Path) -> None:
    plant, text = PLANTED[name]
    truth = write(tmp_path / "ref", [scene(number) for number in range(24)], as_label)
    wrong = write(tmp_path / "out", [plant(number, system(number)) for number in range(24)], as_axes)
    (told,) = said(seldio.score(wrong, truth, format="dcase2024-output"))
    assert re.search(text, told), told


def test_validation_says_the_same(truth: Path, tmp_path: Path) -> None:
    wrong = write(tmp_path / "out", changed(MISTAKES[0][0]), as_axes)
    right = write(tmp_path / "right", changed(lambda row: row), as_axes)
    good, bad = (seldio.validate(folder, reference=truth, format="dcase2024-output") for folder in (right, wrong))
    assert "SUB120" not in [finding.code for finding in good]
    (found,) = (finding for finding in bad if finding.code == "SUB120")
    assert found.path == str(wrong)
    assert found.message.startswith("with the azimuth mirrored F would be ")
    options = {"format": "dcase2024-output", "profile": "dcase2023"}
    assert said(seldio.score(wrong, truth, **options)) == [found.message]


@pytest.mark.parametrize("step", [1, 5])
def test_files_with_the_names_of_others(truth: Path, tmp_path: Path, step: int) -> None:
    order = [3, 5, 1, 0, 2, 4] if step == 5 else [3, 4, 5, 1, 2, 0]  # names are in the order 0, 3, 1, 4, 2, 5
    wrong = write(tmp_path / "out", [system(number) for number in order], as_axes)
    right = write(tmp_path / "right", [system(number) for number in range(CLIPS)], as_axes)
    good, bad = (seldio.score(folder, truth, format="dcase2024-output") for folder in (right, wrong))
    (told,) = said(bad)
    assert told.startswith("with 6 of 6 files taken for another clip (fold4_room1_mix000 for ")
    assert f"F would be {100 * float(str(good.overall['F'])):.1f} %, not " in told
    assert ("shifted by 1" in told) == (step == 1)


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clips of STARSS that real systems and labels share."""
    root = tmp_path_factory.mktemp("real")
    labels = {path.name: path for path in (shared / "data/starss22-labels").rglob("*.csv")}
    for folder in ("system-a-cartesian", "system-b-cartesian"):
        for path in (shared / "data/starss23-predictions" / folder).glob("*.csv"):
            if path.name in labels:
                for place, source in ((folder, path), ("ref", labels[path.name])):
                    (root / place).mkdir(exist_ok=True)
                    (root / place / path.name).write_bytes(source.read_bytes())
    return root


Rows = list[list[str]]


def copied(source: Path, target: Path, change: Callable[[int, Rows], Rows | None]) -> Path:
    """The files of a folder, their cells changed; those that become None are left out."""
    target.mkdir(parents=True)
    for number, path in enumerate(sorted(source.iterdir())):
        rows = change(number, [line.split(",") for line in path.read_text().splitlines()])
        if rows is not None:
            (target / path.name).write_text("".join(",".join(row) + "\n" for row in rows))
    return target


def turned(rows: Rows, by: Callable[[float], float]) -> Rows:
    """Vectors turned about the vertical: *by* gives the angles of azimuths."""
    found = []
    for row in rows:
        x, y = float(row[3]), float(row[4])
        azimuth, flat = math.radians(by(math.degrees(math.atan2(y, x)))), math.hypot(x, y)
        found.append([*row[:3], repr(flat * math.cos(azimuth)), repr(flat * math.sin(azimuth)), *row[5:]])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["system-a-cartesian", "system-b-cartesian"])
def test_faults_of_real_systems(real: Path, tmp_path: Path, folder: str) -> None:
    names = sorted(path.stem for path in (real / "ref").iterdir())
    here = [number for number, name in enumerate(names) if "room10_" in name]
    files = [[line.split(",") for line in path.read_text().splitlines()] for path in sorted((real / folder).iterdir())]
    mixed = np.random.default_rng(4).permutation(len(files)).tolist()
    faults: dict[str, tuple[Callable[[int, Rows], Rows], str]] = {
        "room": (lambda n, rows: turned(rows, lambda a: a + 180) if n in here else rows, "180° F would be .* in room 10"),
        "classes": (lambda _, rows: [[row[0], str(ORDER[int(row[1])]), *row[2:]] for row in rows], "read as others"),
        "files": (lambda n, _: files[mixed[n]], "files taken for another clip"),
        "names": (lambda n, _: files[n - 1], "shifted by 1"),
        "axes": (lambda _, rows: [[*row[:3], row[4], row[5], row[3], *row[6:]] for row in rows], "with z, x, y in"),
    }  # fmt: skip
    for name, (fault, text) in faults.items():
        told = said(seldio.score(copied(real / folder, tmp_path / name, fault), real / "ref", profile="dcase2023"))
        assert [bool(re.search(text, one)) for one in told] == [True], (name, told)


def test_real_labels_mirrored_in_ten_clips(real: Path, tmp_path: Path) -> None:
    def fault(number: int, rows: Rows) -> Rows:
        return [[*row[:3], str(-int(row[3])), *row[4:]] for row in rows] if number % 6 == 1 or number == 20 else rows

    (told,) = said(seldio.score(real / "system-a-cartesian", copied(real / "ref", tmp_path / "ref", fault)))
    assert re.search(r"with the azimuth mirrored F would be \S+ % in at least \d clips", told), told


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["system-a-cartesian", "system-b-cartesian"])
def test_nothing_is_said_of_parts_of_real_systems_and_weak_ones(real: Path, tmp_path: Path, folder: str) -> None:
    luck = np.random.default_rng(11)
    kept = luck.random(54) < 0.5
    weak: dict[str, Callable[[int, Rows], Rows | None]] = {
        "half": lambda n, rows: rows if kept[n] else None,
        "few": lambda n, rows: rows if n % 9 == 0 else None,
        "rows": lambda _, rows: [row for row in rows if luck.random() < 0.05],
        "noise": lambda _, rows: turned(rows, lambda azimuth: azimuth + luck.normal(0, 50)),
        "chance": lambda _, rows: turned(rows, lambda _: luck.uniform(-180, 180)),
        "front": lambda _, rows: turned(rows, lambda _: luck.normal(0, 5)),
        "empty": lambda n, rows: rows if n % 2 else [],
        "speech": lambda _, rows: [[row[0], "1", *row[2:]] for row in rows],
    }
    for name, change in weak.items():
        given = copied(real / folder, tmp_path / name, change)
        assert not said(seldio.score(given, real / "ref", profile="dcase2023", allow_missing=True)), name


def test_real_systems_have_no_such_mistakes(real: Path) -> None:
    for folder in ("system-a-cartesian", "system-b-cartesian"):
        for profile in ("dcase2023", "dcase2024-angles"):
            assert not said(seldio.score(real / folder, real / "ref", profile=profile))
