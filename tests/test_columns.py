"""Columns too many or in another place: what is said of them, and that none goes but by its name."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Kept

import seldio
from seldio.findings import Severity

Row = list[str]
Set = dict[str, list[Row]]
#: What names a column as the cause of rows that fit no layout.
CAUSES = {"SYN145", "SYN146", "SYN147"}


def walks() -> Set:
    """STARSS23 labels of several clips: two sources that walk."""
    found: Set = {}
    for clip in range(4):
        rows = []
        for frame in range(80):
            for source, kind in enumerate((3 + clip, 8)):
                azimuth = -150 + 90 * source + 40 * clip + frame
                elevation = -20 + 30 * source - clip + frame // 10
                rows.append([frame, kind, source, azimuth, elevation, 120 + 60 * source + 11 * clip + frame])
        found[f"fold4_room23_mix00{clip + 1}.csv"] = [list(map(str, row)) for row in rows]
    return found


def real(kept: Kept) -> Set:
    """The same of STARSS22, with made-up distances that walk."""
    paths = [path for path in sorted((kept / "starss22-labels").rglob("*.csv")) if path.stat().st_size]
    return {
        path.name: [
            [*row, str(80 + (37 * int(row[1]) + 11 * number) % 250 + int(row[0]) // 7 % 40)]
            for row in (line.split(",") for line in path.read_text().splitlines()[:400])
        ]
        for number, path in enumerate(paths[::20])
    }


@pytest.fixture(params=["made", "real"])
def labels(request: pytest.FixtureRequest) -> Set:
    return walks() if request.param == "made" else real(request.getfixturevalue("kept"))


def written(folder: Path, files: Set, plant: Callable[[Row], Sequence[object]], header: str = "") -> Path:
    for name, rows in files.items():
        text = "".join(",".join(map(str, plant(row))) + "\n" for row in rows)
        (folder / name).write_text(header + text)
    return folder


def submission(row: Row) -> Row:
    return [*row[:2], *row[3:]]


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.csv"))}


def errors(folder: Path) -> list[seldio.Finding]:
    return [finding for finding in seldio.validate(folder) if finding.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "plant",
    [
        lambda row: [*submission(row)[:4], f"{int(row[5]) / 10:.2f}"],
        lambda row: [*submission(row)[:4], f"{int(row[5]) / 4:.2f}"],
        lambda row: [*submission(row)[:4], f"{(int(row[5]) * 7919 % 5000) / 100:.2f}"],
        lambda row: [*submission(row)[:4], f"{(int(row[5]) * 7919 % 1000) / 1000:.3f}"],
        lambda row: [*row[:5], f"{(int(row[5]) * 7919 % 5000) / 100:.2f}"],
        lambda row: [*submission(row)[:4], row[0]],
    ],
    ids=["decimetres", "near", "leaping", "shares", "labels", "frames"],
)
def test_distances_are_no_column_too_many(tmp_path: Path, labels: Set, plant: Callable[[Row], Row]) -> None:
    folder = written(tmp_path, labels, plant)
    before = contents(folder)

    assert not CAUSES & {finding.code for finding in seldio.validate(folder)}
    seldio.validate(folder, unsafe_fixes=True)
    for name, text in contents(folder).items():
        widths = {line.count(",") for line in text.splitlines()}
        assert widths == {before[name].splitlines()[0].count(",")}


def confidence(rng: random.Random) -> Callable[[Row], Row]:
    return lambda row: [*submission(row), f"{rng.random():.3f}"]


def test_a_column_of_decimals_without_a_name_stays(tmp_path: Path, labels: Set) -> None:
    folder = written(tmp_path, labels, confidence(random.Random(1)))
    before = contents(folder)
    (found,) = errors(folder)

    assert (found.code, found.fixable) == ("SYN145", False)
    assert found.message.startswith("one column too many: without column 6")
    assert "column 6, and write the files without it" in (found.hint or "")
    seldio.validate(folder, unsafe_fixes=True)
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["confidence", "Score", "class_prob", "probability"])
def test_a_column_whose_name_says_so_goes(tmp_path: Path, labels: Set, name: str) -> None:
    head = f"frame,class,azimuth,elevation,distance,{name}\n"
    folder = written(tmp_path, labels, confidence(random.Random(1)), head)
    found = errors(folder)

    assert {(one.code, one.fixable) for one in found} == {("SYN145", True)}
    seldio.validate(folder, unsafe_fixes=True)
    (tmp_path / "meant").mkdir()
    assert contents(folder) == contents(written(tmp_path / "meant", labels, submission))


def test_a_name_in_the_place_of_the_distance_goes_as_well(tmp_path: Path) -> None:
    rng = random.Random(2)
    folder = written(
        tmp_path, walks(), lambda row: [*submission(row)[:4], f"{rng.random():.3f}"],
        "frame,class,azimuth,elevation,score\n",
    )  # fmt: skip
    seldio.validate(folder, unsafe_fixes=True)
    assert all(line.count(",") == 3 for text in contents(folder).values() for line in text.splitlines())


def test_a_header_is_believed_where_the_format_is_given(tmp_path: Path) -> None:
    folder = written(tmp_path, walks(), submission, "frame,class,azimuth,elevation,confidence\n")
    found = seldio.validate(folder, format="dcase2024-submission").findings
    assert "column 5 is headed confidence" in " ".join(finding.message for finding in found)


def vectors(rng: random.Random) -> Callable[[Row], Sequence[object]]:
    def row_of(row: Row) -> Sequence[object]:
        axis = int(row[2])
        return [*row[:2], 0, *(f"{0.9 * (axis == n) + 0.01 * rng.random() - 0.05:.6f}" for n in range(3)),
                f"{int(row[5]) / 100:.2f}", f"{rng.random():.4f}"]  # fmt: skip

    return row_of


def test_of_eight_columns_the_seventh_is_not_blamed(tmp_path: Path, labels: Set) -> None:
    (found,) = errors(written(tmp_path, labels, vectors(random.Random(3))))
    assert (found.code, "without column 8" in found.message, found.fixable) == ("SYN145", True, False)


def test_of_two_columns_that_may_be_a_confidence_none_is_blamed(tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = vectors(rng)
    folder = written(tmp_path, walks(), lambda row: [*rows(row)[:6], f"{rng.random():.3f}", f"{rng.random():.3f}"])
    (found,) = errors(folder)
    assert found.code == "SYN901"


def unique(row: Row, numbers: dict[object, int] = {}) -> str:  # noqa: B006
    """A source number that no other walk has."""
    return str(numbers.setdefault((row[1], row[2], int(row[3]) // 7), 70 + len(numbers)))


WRONG: dict[str, Callable[[Row], Sequence[object]]] = {
    "unknown distances": lambda row: [*submission(row)[:4], -1],
    "some unknown distances": lambda row: [*submission(row)[:4], row[5] if int(row[1]) % 2 else -1],
    "unique sources": lambda row: [*row[:2], unique(row), *row[3:]],
    "unique sources without distances": lambda row: [*row[:2], unique(row), *row[3:5]],
    "turns": lambda row: [*row[:3], f"{int(row[3]) / 360:.4f}", f"{int(row[4]) / 360:.4f}", row[5]],
    "positive turns": lambda row: [*row[:3], f"{int(row[3]) % 360 / 360:.4f}", f"{int(row[4]) % 360 / 360:.4f}"],
    "milliradians": lambda row: [*row[:3], round(17.453 * int(row[3])), round(17.453 * int(row[4]))],
    "microseconds": lambda row: [int(row[0]) * 100_000, *row[1:]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_values_that_no_layout_has_are_no_matter_of_columns(tmp_path: Path, labels: Set, name: str) -> None:
    found = seldio.validate(written(tmp_path, labels, WRONG[name])).findings
    assert not CAUSES & {finding.code for finding in found}


RIGHT: dict[str, tuple[Callable[[Row], Sequence[object]], str, str]] = {
    "class twice": (lambda row: [*row[:2], row[1], *row[2:5]], "SYN146", "without column 3, which repeats column 2"),
    "a constant": (lambda row: [*row, 0], "SYN146", "without column 7, which holds only 0"),
    "exchanged": (lambda row: [*row[:4], int(row[5]) + 100, row[4]], "SYN147", "columns 5 and 6 seem to be in"),
    "metres before frames": (
        lambda row: [f"{int(row[5]) / 100 + 1.57:.2f}", *row[1:5], row[0]], "SYN147", "columns 1 and 6 seem to be in",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_column_is_named_where_nothing_else_explains_it(tmp_path: Path, kept: Kept, name: str) -> None:
    plant, code, message = RIGHT[name]
    (found,) = errors(written(tmp_path, real(kept), plant))
    assert (found.code, found.fixable) == (code, False)
    assert message in found.message


def test_a_count_of_the_rows_is_named(tmp_path: Path, labels: Set) -> None:
    counted = {name: [[*row, str(number)] for number, row in enumerate(rows)] for name, rows in labels.items()}
    (found,) = errors(written(tmp_path, counted, list))
    assert (found.code, "column 7, which counts the rows" in found.message) == ("SYN146", True)
