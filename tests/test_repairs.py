"""No repair changes what a value means: faults of another unit are findings alone, and no column goes but by its name."""

from __future__ import annotations

import itertools
import math
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from commands import contents, invoke
from conftest import Kept
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

import seldio
from seldio import validate
from seldio.findings import Severity

Row = tuple[int, int, int, float, float, float]
Change = Callable[[Row, int], tuple[object, ...]]


def scene(clip: int, rows: int = 60) -> list[Row]:
    """Frame, class, source, azimuth, elevation and distance in cm, of sources all around within a room."""
    azimuths = [(n * 67 + 40 * clip) % 359 - 179 for n in range(rows)]
    distances = [70 + (n * 53 + clip) % 480 for n in range(rows)]
    places = zip(azimuths, [(n * 29) % 80 - 40 for n in range(rows)], distances, strict=True)
    return [(n, (n * 7 + clip) % 13, n % 3, *place) for n, place in enumerate(places)]


def planted(folder: Path, change: Change, clips: int = 4) -> dict[str, bytes]:
    """Files of a set in which *change* was made to every row, given the number of its clip."""
    for clip in range(clips):
        lines = (",".join(map(str, change(row, clip))) for row in scene(clip))
        (folder / f"fold4_room23_mix00{clip + 1}.csv").write_text("".join(f"{line}\n" for line in lines))
    return contents(folder)


def cells(file: tuple[str, bytes]) -> list[list[float]]:
    return [[float(cell) for cell in line.split(",")] for line in file[1].decode().splitlines()]


def repaired(folder: Path, *options: str) -> dict[str, bytes]:
    result = invoke("validate", folder, "--unsafe-fixes", *options)
    assert result.exit_code in (0, 1), result.output
    return contents(folder)


def angles(turn: Callable[[float], float], decimals: int | None = 3) -> Change:
    return lambda r, _: (*r[:3], round(turn(r[3]), decimals), round(turn(r[4]), decimals), r[5])


def distance(change: Callable[[float, int], float]) -> Change:
    return lambda row, clip: (*row[:5], change(row[5], clip))


#: Sets in which a value may be in another unit or none at all: the change, and the codes that must be found.
IN_DOUBT: dict[str, tuple[Change, set[str]]] = {
    "metres in one file of four": (distance(lambda d, clip: d / 100 if clip == 1 else d), {"LAB308"}),
    "whole metres": (distance(lambda d, _: round(d / 100)), {"LAB308"}),
    "decimetres": (distance(lambda d, _: d / 10), {"LAB205"}),
    "sources near the microphone": (distance(lambda d, _: d // 30 + 3), {"LAB308"}),
    "shares of the longest distance": (distance(lambda d, _: round(d / 600, 3)), {"LAB308"}),
    "millimetres, or sources outdoors": (distance(lambda d, _: d * 10), {"LAB308"}),
    "millimetres in half of the files": (distance(lambda d, clip: d * 10 if clip % 2 else d), set()),
    "gradians": (angles(lambda a: a / 0.9), {"LAB103"}),
    "whole gradians": (angles(lambda a: a / 0.9, None), {"LAB103"}),
    "tenths of degrees": (angles(lambda a: a * 10, None), {"LAB103"}),
    "turns": (angles(lambda a: a / 360), {"LAB301"}),
    "azimuths in radians": (lambda r, _: (*r[:3], round(math.radians(r[3]), 4), *r[4:]), {"LAB205"}),
    "elevations in radians": (lambda r, _: (*r[:4], round(math.radians(r[4]), 4), r[5]), {"LAB205"}),
    "half degrees": (angles(lambda a: a + 0.5 if a < 0 else a - 0.5), {"LAB205"}),
    "angles from the zenith": (lambda r, _: (*r[:4], 90 - r[4], r[5]), {"LAB314"}),
    "angles from straight below": (lambda r, _: (*r[:4], 90 + r[4], r[5]), {"LAB314"}),
    "sources in front, in degrees": (angles(lambda a: a / 90 if a < 0 else a / 120), {"LAB301"}),
}  # fmt: skip


#: Sets whose distances are taken for confidences if nobody names the format.
SYN145 = {"decimetres", "shares of the longest distance"}


@pytest.mark.parametrize("what", IN_DOUBT)
def test_what_may_be_another_unit_is_a_finding_and_stays(what: str, tmp_path: Path) -> None:
    change, codes = IN_DOUBT[what]
    before = planted(tmp_path, change)
    found = validate(tmp_path, format="starss23").findings
    assert codes <= {finding.code for finding in found}
    assert repaired(tmp_path, "-f", "starss23") == before
    if what not in SYN145:
        assert repaired(tmp_path) == before


#: Sets in which every file has one fault that can be told: the change.
CERTAIN: dict[str, Change] = {
    "metres": distance(lambda d, _: d / 100),
    "radians": angles(math.radians, 5),
    "0 to 360": lambda r, _: (*r[:3], r[3] % 360, *r[4:]),
    "classes from 1": lambda r, _: (r[0], r[1] + 1, *r[2:]),
}


@pytest.mark.parametrize("what", CERTAIN)
def test_one_named_change_of_a_whole_set_is_undone(what: str, tmp_path: Path) -> None:
    right = planted(tmp_path, lambda row, _: row)
    planted(tmp_path, CERTAIN[what])
    assert list(map(cells, repaired(tmp_path, "-f", "starss23").items())) == list(map(cells, right.items()))


@pytest.mark.parametrize("others", [0, 3])
def test_a_file_of_another_class_list_does_not_speak_for_its_set(others: int, tmp_path: Path) -> None:
    planted(
        tmp_path, lambda r, clip: (r[0], r[1] % 6 + 3 if clip < others else (2, 5, 9, 13)[r[1] % 4], *r[2:]), 1 + others
    )
    found = {(one.code, Path(one.path).stem[-1]) for one in validate(tmp_path, format="starss23").findings}
    # the sources are those of the classes before
    assert {one for one in found if one[0] != "LAB206"} == {("LAB102", str(others + 1))}
    assert str(others + 1) not in {stem for code, stem in found if code == "LAB206"}


def test_a_unit_is_changed_where_distances_are_known(tmp_path: Path) -> None:
    """The layout of annotations has -1 for a distance that is unknown."""
    right = planted(tmp_path, distance(lambda d, clip: -1 if (d + clip) % 3 else d))
    planted(tmp_path, distance(lambda d, clip: -1 if (d + clip) % 3 else d / 100))
    found = validate(tmp_path, format="so-dataset").findings
    assert {(one.code, one.fixable) for one in found} == {("LAB308", True)}
    assert repaired(tmp_path, "-f", "so-dataset") == right


def value(cell: str) -> float | str:
    """What a cell says, however it is spelled."""
    try:
        return float(cell.strip().strip('"').replace(",", "."))
    except ValueError:
        return cell.strip()


def read(data: bytes) -> Counter[tuple[float | str, ...]]:
    """The rows of a file that hold numbers, without empty cells at their ends."""
    lines = [line for line in data.decode("utf-8-sig").replace("\r", "").split("\n") if line.strip()]
    sign = max(";\t,", key=lines[-1].count)
    rows = [tuple(value(cell) for cell in line.removesuffix(sign).split(sign)) for line in lines]
    return Counter(row for row in rows if any(isinstance(cell, float) for cell in row))


def whole(rows: Iterable[Sequence[float | str]]) -> set[tuple[float | str, ...]]:
    return {tuple(cell if isinstance(cell, str) else round(cell) for cell in row) for row in rows}


#: Faults of a whole set, of its values and of its text.
VALUES: dict[str, Change] = {
    "none": lambda r, _: r,
    "0 to 360": CERTAIN["0 to 360"],
    "radians": CERTAIN["radians"],
    "metres": CERTAIN["metres"],
    "millimetres": IN_DOUBT["millimetres, or sources outdoors"][0],
    "classes from 1": CERTAIN["classes from 1"],
    "seconds": lambda r, _: (r[0] / 10, *r[1:]),
    "swapped": lambda r, _: (*r[:3], r[4], r[3], r[5]),
    "whole gradians": IN_DOUBT["whole gradians"][0],
    "frame and class": lambda r, _: (r[1], r[0], *r[2:]),
    "an index": lambda r, _: (3 * r[0], *r),
    "half degrees": IN_DOUBT["half degrees"][0],
}  # fmt: skip
for at in range(6):
    VALUES |= {
        f"column {at + 1} twice": lambda r, _, at=at: (*r[:at], r[at], *r[at:]),
        f"without column {at + 1}": lambda r, _, at=at: (*r[:at], *r[at + 1 :]),
        f"zeros before column {at + 1}": lambda r, _, at=at: (*r[:at], 0, *r[at:]),
        f"a confidence before column {at + 1}": lambda r, _, at=at: (*r[:at], r[0] * 37 % 1000 / 1001, *r[at:]),
        f"columns 1 and {at + 1} exchanged": lambda r, _, at=at: (r[at], *r[1:at], *r[:1][: at > 0], *r[at + 1 :]),
    }


TEXT: dict[str, Callable[[list[str]], list[str]]] = {
    "shuffled": lambda lines: sorted(lines, key=lambda line: line[::-1]),
    "turned": lambda lines: lines[::-1],
    "twice": lambda lines: [*lines, *lines[:2]],
    "a header": lambda lines: ["frame,class,source,azimuth,elevation,distance", *lines],
    "points": lambda lines: [line.replace(",", ".0,", 1) for line in lines],
    "quotes": lambda lines: [",".join(f'"{cell}"' for cell in line.split(",")) for line in lines],
    "commas at the end": lambda lines: [f"{line}," for line in lines],
    "semicolons": lambda lines: [line.replace(",", ";") for line in lines],
    "decimal commas": lambda lines: [line.replace(",", ";").replace(".", ",") for line in lines],
    "tabs": lambda lines: [line.replace(",", "\t") for line in lines],
    "a mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "CR LF": lambda lines: [line + "\r" for line in lines],
    "blank lines": lambda lines: [line + "\n" * (n % 7 == 3) for n, line in enumerate(lines)],
}  # fmt: skip


@given(st.sampled_from(sorted(VALUES)), st.lists(st.sampled_from(sorted(TEXT)), max_size=3, unique=True), st.booleans())
@example("seconds", ["decimal commas", "points"], False)
@example("seconds", ["decimal commas", "points", "quotes"], False)
@example("half degrees", ["a header", "commas at the end", "decimal commas"], False)
@settings(max_examples=examples(150), deadline=None)
def test_what_is_written_says_the_same_or_what_was_meant(what: str, faults: list[str], named: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted(folder, VALUES[what], clips=3)
        for path in folder.iterdir():
            lines = path.read_text().splitlines()
            for fault in sorted(faults, key=list(TEXT).index):
                lines = TEXT[fault](lines)
            path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        for unsafe in (False, True):
            asked = {"fix": not unsafe, "unsafe_fixes": unsafe, "diff": True}
            for change in seldio.validate(folder, format="starss23" if named else None, **asked).changes:
                before, after = read(change.before), read(change.after)
                meant = whole(after) == whole(scene(int(change.path[-5]) - 1)) or set(before) == set(after)
                assert before == after or (unsafe and meant), (
                    f"{change.codes}: {change.before[:80]!r} became {change.after[:80]!r}"
                )


Cells = list[str]
Set = dict[str, list[Cells]]


@pytest.fixture
def labels(kept: Kept) -> Set:
    """Labels of STARSS22, with made-up distances that walk."""
    paths = [path for path in sorted((kept / "starss22-labels").rglob("*.csv")) if path.stat().st_size]
    return {
        path.name: [
            [*row, str(80 + (37 * int(row[1]) + 11 * number) % 250 + int(row[0]) // 7 % 40)]
            for row in (line.split(",") for line in path.read_text().splitlines()[:400])
        ]
        for number, path in enumerate(paths[::20])
    }


def columns(folder: Path, files: Set, plant: Callable[[Cells], Sequence[object]], header: str = "") -> Path:
    for name, rows in files.items():
        text = "".join(",".join(map(str, plant(row))) + "\n" for row in rows)
        (folder / name).write_text(header + text)
    return folder


def submission(row: Cells) -> Cells:
    return [*row[:2], *row[3:]]


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.csv"))}


def errors(folder: Path) -> list[seldio.Finding]:
    return [finding for finding in seldio.validate(folder) if finding.severity is Severity.ERROR]


def confidence(rng: random.Random) -> Callable[[Cells], Cells]:
    return lambda row: [*submission(row), f"{rng.random():.3f}"]


def test_a_column_of_decimals_without_a_name_stays(tmp_path: Path, labels: Set) -> None:
    folder = columns(tmp_path, labels, confidence(random.Random(1)))
    before = texts(folder)
    (found,) = errors(folder)

    assert (found.code, found.fixable) == ("SYN145", False)
    assert found.message.startswith("one column too many: without column 6")
    assert "column 6, and write the files without it" in (found.hint or "")
    seldio.validate(folder, unsafe_fixes=True)
    assert texts(folder) == before


@pytest.mark.parametrize("name", ["confidence", "Score", "class_prob"])
def test_a_column_whose_name_says_so_goes(tmp_path: Path, labels: Set, name: str) -> None:
    head = f"frame,class,azimuth,elevation,distance,{name}\n"
    folder = columns(tmp_path, labels, confidence(random.Random(1)), head)
    assert {(one.code, one.fixable) for one in errors(folder)} == {("SYN145", True)}
    seldio.validate(folder, unsafe_fixes=True)
    meant = texts(folder)
    assert meant == texts(columns(tmp_path, labels, submission))
    columns(
        tmp_path, labels, lambda row: [*confidence(random.Random(row[0]))(row)[:4], ".5"], head.replace("distance,", "")
    )
    seldio.validate(folder, unsafe_fixes=True)  # in the place of the distance
    assert texts(folder) == {clip: re.sub(r",\d+$", "", text, flags=re.MULTILINE) for clip, text in meant.items()}


RIGHT: dict[str, tuple[Callable[[Cells], Sequence[object]], str, str]] = {
    "class twice": (lambda row: [*row[:2], row[1], *row[2:5]], "SYN146", "without column 3, which repeats column 2"),
    "a constant": (lambda row: [*row, 0], "SYN146", "without column 7, which holds only 0"),
    "exchanged": (lambda row: [*row[:4], int(row[5]) + 100, row[4]], "SYN147", "columns 5 and 6 seem to be in"),
    "metres before frames": (
        lambda row: [f"{int(row[5]) / 100 + 1.57:.2f}", *row[1:5], row[0]], "SYN147", "columns 1 and 6 seem to be in",
    ),
    "two confidences": (
        lambda row: [*row[:2], 0, *(f"{0.9 * (row[2] == axis) + int(row[5]) / 9999 - 0.05:.6f}" for axis in "012"),
                     *(f"{int(row[5]) * prime % 997 / 997:.3f}" for prime in (7919, 7907))], "SYN901", "",
    ),
    "a confidence behind a distance": (
        lambda row: [*row[:2], 0, *(f"{0.9 * (row[2] == axis) + int(row[5]) / 9999 - 0.05:.6f}" for axis in "012"),
                     f"{int(row[5]) / 100:.2f}", f"{int(row[5]) * 7919 % 997 / 997:.4f}"], "SYN145", "without column 8",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_column_is_named_where_nothing_else_explains_it(tmp_path: Path, labels: Set, name: str) -> None:
    plant, code, message = RIGHT[name]
    (found,) = errors(columns(tmp_path, labels, plant))
    assert (found.code, found.fixable) == (code, False)
    assert message in found.message


def test_a_count_of_the_rows_is_named(tmp_path: Path, labels: Set) -> None:
    counted = {name: [[*row, str(number)] for number, row in enumerate(rows)] for name, rows in labels.items()}
    (found,) = errors(columns(tmp_path, counted, list))
    assert (found.code, "column 7, which counts the rows" in found.message) == ("SYN146", True)


def plants(width: int) -> Iterator[Callable[[int, Cells], Cells]]:
    """Yield what may happen to the columns of all rows: one too many, one twice, one missing, two exchanged."""
    values = (lambda n: f"{n * 37 % 1000 / 1001:.4f}", lambda n: f"{n * 37 % 1000 / 10.01:.2f}", str, lambda n: "0")
    for at, value in itertools.product(range(width + 1), values):
        yield lambda n, row, at=at, value=value: [*row[:at], value(n), *row[at:]]
    for at in range(width):
        yield lambda n, row, at=at: [*row[:at], row[at], *row[at:]]
        yield lambda n, row, at=at: [*row[:at], *row[at + 1 :]]
    for pair in itertools.combinations(range(width), 2):
        order = [sum(pair) - at if at in pair else at for at in range(width)]
        yield lambda n, row, order=order: [row[at] for at in order]


REAL = (
    "dcase2020-predictions", "spatialscaper-labels", "starss22-labels/metadata_dev", "tau-nigens2020-labels",
    "starss23-predictions/system-a-polar", "starss23-predictions/system-b-cartesian",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_repairs_of_real_labels_give_what_was_written_or_meant(kept: Kept, tmp_path: Path, name: str) -> None:
    paths = [path for path in sorted((kept / name).rglob("*.csv")) if path.stat().st_size]
    lines = {path.name: path.read_text().splitlines()[:100] for path in paths[:: max(1, len(paths) // 3)]}
    files = {clip: [line.split(",") for line in rows if line[0].isdigit()] for clip, rows in lines.items()}
    repaired = set()
    for plant in plants(len(next(iter(files.values()))[0])):
        changed = {clip: [plant(n, row) for n, row in enumerate(rows)] for clip, rows in files.items()}
        for change in seldio.validate(columns(tmp_path, changed, list), unsafe_fixes=True, diff=True).changes:
            meant = {tuple(map(value, row)) for row in files[Path(change.path).name]}
            assert set(read(change.after)) in (set(read(change.before)), meant), change.codes
            repaired |= {*change.codes}
    assert "LAB304" in repaired or "LAB320" in repaired
