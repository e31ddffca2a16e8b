"""What may have happened to labels: each change is named by whoever can judge it, and undone only if it is certain."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import contents, laid
from effort import some

import seldio
from seldio.findings import Finding
from seldio.formats import get
from seldio.formats.label_csv import Dialect

Row = list[str]
Rows = list[Row]


def fields(dialect: str) -> list[str]:
    found = get(dialect)
    assert isinstance(found, Dialect)
    return [part.field for part in found.columns]


def text(rows: Rows, end: str = "\n") -> bytes:
    return "".join(",".join(row) + end for row in rows).encode()


def written(folder: Path, files: Mapping[str, Rows | bytes]) -> Path:
    return laid(folder, {name: rows if isinstance(rows, bytes) else text(rows) for name, rows in files.items()})


def judged(folder: Path, dialect: str | None, unsafe: bool = True) -> tuple[list[Finding], dict[str, bytes]]:
    """What is found in a folder, and what its files hold after repairs."""
    planned = seldio.validate(folder, format=dialect, fix=not unsafe, unsafe_fixes=unsafe, diff=True)
    fixed = {change.path: change.after for change in planned.changes}
    return planned.findings, {path.name: fixed.get(str(path), path.read_bytes()) for path in sorted(folder.iterdir())}


def values(data: bytes) -> list[list[float]]:
    """The numbers of a file, rounded; the azimuth behind is 180."""
    rows = ([round(float(cell)) for cell in line.split(",")] for line in data.decode().splitlines())
    return [[180 if cell == -180 else cell for cell in row] for row in rows]


#: Four sources that move, in three files.
SCENES: list[list[dict[str, float]]] = [
    [
        {
            "frame": frame, "class_id": 3 * s + k, "source": s, "azimuth": (97 * s + 40 * k + frame) % 360 - 180,
            "elevation": (23 * s + 7 * k) % 60 - 25, "distance": 80 + 60 * s + frame,
        }
        for frame in range(20 + k, 80)
        for s in range(4)
        if frame % 20 > 3 * s
    ]
    for k in range(3)
]  # fmt: skip
NAMES = ["speech", "dog", "clapping", "telephone", "laughter", "door", "music", "knock", "bell", "tap", "walk", "cough"]
Change = Callable[[dict[str, float], int], Mapping[str, Any]]


def cells(row: Mapping[str, Any], dialect: str) -> Row:
    return [f"{row[field]:g}" if isinstance(row[field], float) else str(row[field]) for field in fields(dialect)]


def decimals(row: Mapping[str, Any], n: int) -> dict[str, Any]:
    return {**row, "azimuth": f"{row['azimuth']},{n % 9 + 1}", "elevation": f"{row['elevation']},{n % 8 + 1}"}


#: What is done to each row of a set; the finding of each file; whether it is undone, and by which option.
OF_ROWS: dict[str, tuple[Change, str, str]] = {
    "radians": (lambda r, _: {**r, **{f: round(math.radians(r[f]), 4) for f in ("azimuth", "elevation")}}, "LAB301", "unsafe"),
    "0 to 360": (lambda r, _: {**r, "azimuth": r["azimuth"] % 360}, "LAB303", "unsafe"),
    "cast to uint8": (lambda r, _: {**r, "azimuth": r["azimuth"] % 256}, "LAB303", ""),
    "doubled": (lambda r, _: {**r, "azimuth": 2 * r["azimuth"]}, "LAB103", ""),
    "exchanged angles": (lambda r, _: {**r, "azimuth": r["elevation"], "elevation": r["azimuth"]}, "LAB304", "unsafe"),
    "inclinations": (lambda r, _: {**r, "elevation": 90 - r["elevation"]}, "LAB314", ""),
    "frames in seconds": (lambda r, _: {**r, "frame": r["frame"] / 10}, "LAB316", "unsafe"),
    "frame and class": (lambda r, _: {**r, "frame": r["class_id"], "class_id": r["frame"]}, "LAB320", "unsafe"),
    "class names": (lambda r, _: {**r, "class_id": NAMES[int(r["class_id"])]}, "LAB317", ""),
    "a word processor": (lambda r, _: {**r, "azimuth": f"{r['azimuth']:g}".replace("-", "\u2212")}, "SYN131", "safe"),
    "degree signs": (lambda r, _: {**r, "elevation": f"{r['elevation']}°"}, "SYN131", "safe"),
    "decimal commas": (decimals, "SYN125", "unsafe"),
    "mixed": (lambda r, _: dict(r, azimuth=f'"{r["azimuth"]},0"', elevation=f"{r['elevation']}.0"), "SYN125", "unsafe"),
    "zeros": (lambda r, _: dict.fromkeys(r, 0), "LAB315", ""),
}  # fmt: skip
#: What is done to the text of a file.
OF_TEXT: dict[str, tuple[Callable[[Rows], bytes], str, str]] = {
    "a comma behind": (lambda rows: text(rows, ",\n"), "SYN124", "safe"),
    "an index": (lambda rows: text([[str(n), *row] for n, row in enumerate(rows)]), "SYN114", "unsafe"),
    "clips in a column": (lambda rows: text([[f"mix{n // 50:03}", *row] for n, row in enumerate(rows)]), "SUB106", ""),
    "UTF-16": (lambda rows: text(rows).decode().encode("utf-16"), "SYN102", "safe"),
    "a workbook": (lambda _: b"PK\x03\x04" + bytes(range(256)), "SYN115", ""),
}  # fmt: skip
DIALECTS = ("starss23", "starss22", "dcase2023-submission")


@pytest.mark.parametrize(("what", "named"), some(itertools.product([*OF_ROWS, *OF_TEXT], [False, True]), 3))
def test_the_format_names_a_change_and_undoes_what_is_certain(what: str, named: bool, tmp_path: Path) -> None:
    dialect = DIALECTS[([*OF_ROWS, *OF_TEXT].index(what) + named) % len(DIALECTS)]
    change, code, option = OF_ROWS.get(what) or OF_TEXT[what]
    meant = {f"mix{k:03}.csv": [cells(row, dialect) for row in scene] for k, scene in enumerate(SCENES)}
    files: dict[str, Any] = {}
    for name, scene in zip(meant, SCENES, strict=True):
        changed = [change(row, n) for n, row in enumerate(scene)] if what in OF_ROWS else []
        files[name] = [cells(row, dialect) for row in changed] or change(meant[name])
    folder = written(tmp_path, files)
    before = contents(folder)
    format = dialect if named or option else None
    found, after = judged(folder, format)
    assert {one.code for one in found} - {"SYN902"} == {code}
    assert len({one.path for one in found}) == 3 or code == "LAB303"
    _, safe = judged(folder, format, unsafe=False)
    assert option == "safe" or safe == before
    if not option:
        assert (after, [one.code for one in found if one.fixable]) == (before, [])
    elif what == "decimal commas":
        digits = [[str(row[n]) for n in (1, 2) if n] for row in [[0, n % 9 + 1, n % 8 + 1] for n in range(9)]]
        assert [re.findall(r"\.(\d)", line) for line in after["mix000.csv"].decode().splitlines()][:8] == digits[:8]
        assert {name: data.replace(b".", b",") for name, data in after.items()} == before
    else:
        assert {name: values(data) for name, data in after.items()} == {
            name: values(text(rows)) for name, rows in meant.items()
        }


def azimuths(change: Callable[[int], int]) -> Callable[[Row], Row]:
    return lambda row: [*row[:3], str(change(int(float(row[3])))), *row[4:]]


#: Frame, class, azimuth, elevation, distance in centimetres.
Event = tuple[int, int, float, float, float]


def labelled(clip: int) -> list[Event]:
    """The labels of a clip of 60 s: sources of five classes that sound now and then, each at its own place."""
    luck = np.random.default_rng(clip)
    events: list[Event] = []
    for class_id in (1, 2, 4, 5, 9):
        azimuth, elevation, frame = int(luck.integers(25, 75)), int(luck.integers(22, 42)), int(luck.integers(0, 40))
        azimuth *= 1 if luck.random() < 0.7 else -1
        while frame < 600:
            stop = min(600, frame + int(luck.integers(15, 70)))
            events += [(each, class_id, azimuth, elevation, 150) for each in range(frame, stop)]
            frame = stop + int(luck.integers(20, 90))
    return events


def predicted(clip: int, misses: float = 0.2) -> list[Event]:
    """What a fair system makes of it: a fifth not found, directions off by some degrees."""
    luck = np.random.default_rng(100 + clip)
    return [
        (frame, class_id, azimuth + luck.normal(0, 5), elevation + luck.normal(0, 5), distance * luck.uniform(0.8, 1.3))
        for frame, class_id, azimuth, elevation, distance in labelled(clip)
        if luck.random() > misses
    ]


def as_label(event: Event) -> Row:
    frame, class_id, *place = event
    return [*map(str, (frame, class_id, 0, *map(int, place)))]


def as_angles(event: Event) -> Row:
    return [str(event[0]), str(event[1]), f"{(event[2] + 180) % 360 - 180:.4f}", f"{event[3]:.4f}"]


def as_axes(event: Event) -> Row:
    frame, class_id, azimuth, elevation, distance = event
    az, el = math.radians(azimuth), math.radians(elevation)
    axes = math.cos(az) * math.cos(el), math.sin(az) * math.cos(el), math.sin(el)
    return [str(frame), str(class_id), "0", *(f"{value:.6f}" for value in axes), f"{distance / 100:.4f}"]


def clips(folder: Path, events: list[list[Event]], row: Callable[[Event], Row]) -> Path:
    return written(folder, {
        f"fold4_room{number % 3 + 1}_mix{number:03}.csv": [row(event) for event in sorted(each) if min(event[:2]) >= 0]
        for number, each in enumerate(events)
    })  # fmt: skip


def system(change: Callable[[Event], Event], misses: float = 0.2) -> list[list[Event]]:
    return [[change(event) for event in predicted(clip, misses)] for clip in range(6)]


def causes(report: Any) -> list[str]:
    return [notice.text for notice in report.notices if notice.name == "probable-cause"]


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clips(tmp_path_factory.mktemp("data") / "ref", [labelled(clip) for clip in range(6)], as_label)


#: A mistake of a system, and what is said of it.
OF_EVENTS: dict[str, tuple[Callable[[Event], Event], str]] = {
    "the azimuth mirrored": (lambda e: (*e[:2], -e[2], *e[3:]), "clockwise"),
    "the elevation negated": (lambda e: (*e[:3], -e[3], e[4]), "downwards"),
    "90° minus the elevation": (lambda e: (*e[:3], 90 - e[3], e[4]), "from the zenith"),
    "azimuth and elevation exchanged": (lambda e: (*e[:2], e[3], e[2], e[4]), "the other order"),
    "azimuths turned by 180°": (lambda e: (*e[:2], e[2] + 180, *e[3:]), "from the back"),
    "the predicted azimuths turned by 90°": (lambda e: (*e[:2], e[2] - 90, *e[3:]), "different axes"),
    "x and y exchanged": (lambda e: (*e[:2], 90 - e[2], *e[3:]), "clockwise from the left"),
    "the predicted classes 1 lower": (lambda e: (e[0], e[1] + 1, *e[2:]), "count classes from 1"),
    "the predictions 2 s earlier": (lambda e: (e[0] + 20, *e[1:]), "shifted in time"),
    "the predictions 0.7 s later": (lambda e: (e[0] - 7, *e[1:]), "shifted in time"),
    "front and back swapped": (lambda e: (*e[:2], 180 - e[2], *e[3:]), "from the back"),
    "the predicted angles read as radians": (lambda e: (*e[:2], *map(math.radians, e[2:4]), e[4]), "degrees"),
}
PROFILES = ("dcase2023", "dcase2024-angles")


@pytest.mark.parametrize(
    ("what", "profile"), some([(what, PROFILES[n % 2]) for n, what in enumerate(OF_EVENTS)], 2), ids=str
)
def test_a_reference_names_a_change_with_the_score_without_it(
    truth: Path, tmp_path: Path, what: str, profile: str
) -> None:
    change, why = OF_EVENTS[what]
    right = clips(tmp_path / "right", system(lambda event: event), as_angles)
    wrong = clips(tmp_path / "wrong", system(change), as_angles)
    options: dict[str, Any] = {"format": "sony-av-output", "reference_format": "starss23", "force": True}
    good, bad = (seldio.score(folder, truth, profile=profile, average="micro", **options) for folder in (right, wrong))
    assert not causes(good)
    (said,) = causes(bad)
    assert said.startswith(f"with {what} F would be ")
    assert why in said
    would, is_now = (float(words.rpartition(" ")[2]) for words in said.split(" %")[:2])
    assert is_now == pytest.approx(100 * float(str(bad.overall["F"])), abs=0.06)
    assert would == pytest.approx(100 * float(str(good.overall["F"])), abs=3)  # rows before frame 0 are lost
    assert bad.notices[0].first


@pytest.mark.parametrize("profile", ["dcase2023", "dcase2024"])
def test_nothing_is_said_of_an_honest_system(truth: Path, tmp_path: Path, profile: str) -> None:
    luck = np.random.default_rng(5)
    systems: dict[str, Callable[[Event], Event]] = {
        "good": lambda event: event,
        "weak": lambda event: (*event[:2], event[2] + luck.normal(0, 60), *event[3:]),
        "blind": lambda event: (*event[:2], luck.uniform(-180, 180), *event[3:]),
    }
    for name, misses in (("good", 0.2), ("good", 0.95), ("weak", 0.2), ("blind", 0.2), ("blind", 0.95)):
        given = clips(tmp_path / f"{name}{misses}", system(systems[name], misses), as_axes)
        assert not causes(seldio.score(given, truth, profile=profile, format="dcase2024-output"))
    confused = [[(event[0], 1, *event[2:]) for event in predicted(clip) if event[1] == 2] for clip in range(6)]
    assert not causes(seldio.score(clips(tmp_path / "out", confused, as_angles), truth, format="sony-av-output"))


def test_distances_in_another_unit(truth: Path, tmp_path: Path) -> None:
    far = clips(tmp_path / "far", system(lambda event: (*event[:4], event[4] * 100)), as_axes)
    (said,) = causes(seldio.score(far, truth, profile="dcase2024", format="dcase2024-output", force=True))
    assert said.startswith("with the predicted distances divided by 100 F would be")


def test_one_clip_is_not_enough_unless_all_of_it_agrees(tmp_path: Path) -> None:
    truth = clips(tmp_path / "ref", [labelled(0)], as_label)
    mirrored: list[Event] = [(*event[:2], -event[2], *event[3:]) for event in labelled(0)]
    luck = np.random.default_rng(3)
    half: list[Event] = [event if luck.random() < 0.6 else (*event[:2], 180.0, *event[3:]) for event in mirrored]
    for name, events in {"sure": mirrored, "unsure": half}.items():
        given = clips(tmp_path / name, [events], as_angles)
        assert len(causes(seldio.score(given, truth, format="sony-av-output"))) == (name == "sure")


ORDER = [3, 9, 1, 5, 0, 2, 11, 4, 8, 12, 6, 10, 7]


def mirrored_in(*numbers: int) -> Callable[[int, Event], Event]:
    return lambda clip, event: (*event[:2], -event[2], *event[3:]) if clip in numbers else event


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (mirrored_in(*range(1, 24, 3)), r"with the azimuth mirrored F would be \S+ % in room 2, not"),
        (mirrored_in(0, 4, 8, 9, 14, 19), r"mirrored F would be \S+ % in at least [456] clips \(fold4_room1_mix000, "),
        (
            lambda _, event: (event[0], ORDER[event[1]], *event[2:]),
            r"predicted classes read as others \(0 as 4, 1 as 2",
        ),
    ],
)
def test_what_is_wrong_with_a_part_of_a_set_is_named(
    change: Callable[[int, Event], Event], expected: str, tmp_path: Path
) -> None:
    truth = clips(tmp_path / "ref", [labelled(clip) for clip in range(24)], as_label)
    events = [[change(clip, event) for event in predicted(clip)] for clip in range(24)]
    (said,) = causes(seldio.score(clips(tmp_path / "out", events, as_axes), truth, format="dcase2024-output"))
    assert re.search(expected, said), said


@pytest.mark.parametrize("step", [1, 5])
def test_files_with_the_names_of_others(truth: Path, tmp_path: Path, step: int) -> None:
    order = [3, 5, 1, 0, 2, 4] if step == 5 else [3, 4, 5, 1, 2, 0]  # names are in the order 0, 3, 1, 4, 2, 5
    wrong = clips(tmp_path / "out", [predicted(number) for number in order], as_axes)
    right = clips(tmp_path / "right", [predicted(number) for number in range(6)], as_axes)
    good, bad = (seldio.score(folder, truth, format="dcase2024-output") for folder in (right, wrong))
    (said,) = causes(bad)
    assert said.startswith("with 6 of 6 files taken for another clip (fold4_room1_mix000 for ")
    assert f"F would be {100 * float(str(good.overall['F'])):.1f} %, not " in said
    assert ("shifted by 1" in said) == (step == 1)


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The clips of STARSS that real systems and labels share."""
    root = tmp_path_factory.mktemp("real")
    labels = {path.name: path for path in (shared / "data/starss22-labels").rglob("*.csv")}
    for folder in SYSTEMS:
        paths = [path for path in (shared / "data/starss23-predictions" / folder).glob("*.csv") if path.name in labels]
        written(root / folder, {path.name: path.read_bytes() for path in paths})
        written(root / "ref", {path.name: labels[path.name].read_bytes() for path in paths})
    return root


SYSTEMS = ("system-a-cartesian", "system-b-cartesian")


def copied(source: Path, target: Path, change: Callable[[int, Rows], Rows | None]) -> Path:
    """The files of a folder, their cells changed; those that become None are left out."""
    files = {}
    for number, path in enumerate(sorted(source.iterdir())):
        rows = change(number, [line.split(",") for line in path.read_text().splitlines()])
        files |= {} if rows is None else {path.name: rows}
    return written(target, files)


def turned(rows: Rows, by: Callable[[float], float]) -> Rows:
    """Vectors turned about the vertical: *by* gives the angles of azimuths."""
    found = []
    for row in rows:
        x, y = float(row[3]), float(row[4])
        azimuth, flat = math.radians(by(math.degrees(math.atan2(y, x)))), math.hypot(x, y)
        found.append([*row[:3], repr(flat * math.cos(azimuth)), repr(flat * math.sin(azimuth)), *row[5:]])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("folder", SYSTEMS)
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
        "axes": (lambda _, rows: [[*row[:3], *row[4:6], str(-float(row[3])), *row[6:]] for row in rows], "with -z, x, y in"),
    }  # fmt: skip
    for name, (fault, text) in faults.items():
        said = causes(seldio.score(copied(real / folder, tmp_path / name, fault), real / "ref", profile="dcase2023"))
        assert [bool(re.search(text, one)) for one in said] == [True], (name, said)


@pytest.mark.slow
@pytest.mark.parametrize("folder", SYSTEMS)
def test_nothing_is_said_of_parts_of_real_systems_and_weak_ones(real: Path, tmp_path: Path, folder: str) -> None:
    luck = np.random.default_rng(11)
    half = luck.random(54) < 0.5
    weak: dict[str, Callable[[int, Rows], Rows | None]] = {
        "whole": lambda _, rows: rows,
        "half": lambda n, rows: rows if half[n] else None,
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
        for profile in PROFILES if name == "whole" else PROFILES[:1]:
            assert not causes(seldio.score(given, real / "ref", profile=profile, allow_missing=True)), name


def test_two_of_four_clips_that_are_turned_are_named(tmp_path: Path) -> None:
    truth = clips(tmp_path / "ref", [labelled(clip) for clip in range(4)], as_label)
    events: list[list[Event]] = [
        [(*event[:2], event[2] + 180 * (clip % 2), *event[3:]) for event in labelled(clip)] for clip in range(4)
    ]
    given = clips(tmp_path / "out", events, as_axes)
    (said,) = causes(seldio.score(given, truth, format="dcase2024-output"))
    cause = "with azimuths turned by 180° F would be 100.0 % in at least 2 clips (fold4_room1_mix003, fold4"
    assert said.startswith(cause)
    report = seldio.validate(given, reference=truth, format="dcase2024-output")
    (found,) = (one for one in report if one.code == "SUB120")
    assert found.message.partition(" F would")[0] == said.partition(" F would")[0]
