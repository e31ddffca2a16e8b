"""Columns too many or in another place: what is said of them, and that none goes but by its name."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import Kept
from effort import examples

import seldio
from seldio.check import repair
from seldio.check.validation import Examined, examine
from seldio.findings import Severity
from seldio.formats import LabelFormat
from seldio.formats.detect import means_the_same

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


CASES = Path(__file__).parent / "cases/formats"
EXAMPLES = sorted(folder.name for folder in CASES.iterdir() if any(folder.glob("*.csv")))
REAL = (
    "dcase2020-baseline-predictions", "dcase2020-predictions", "spatialscaper-labels", "starss22-labels/metadata_dev",
    "starss23-predictions/system-a-polar", "starss23-predictions/system-b-cartesian", "tau-nigens2020-labels",
    "tau-sse2019-labels",
)  # fmt: skip
#: Files of a set, and rows of a file: enough to tell a layout, few enough for hundreds of sets.
SIZE, ROWS = 8, 200

Plant = Callable[[int, Row], Row]


def plants(width: int) -> Iterator[tuple[str, Plant]]:
    """What is done to every row, with a name."""
    rng = random.Random(width)
    values: dict[str, Callable[[int], str]] = {
        "confidence": lambda number: f"{rng.random():.4f}",
        "percent": lambda number: f"{100 * rng.random():.2f}",
        "index": str,
        "constant": lambda number: "0",
    }
    for at in range(width + 1):
        for name, value in values.items():
            yield f"{name} before {at + 1}", lambda n, row, at=at, value=value: [*row[:at], value(n), *row[at:]]
    for at in range(width):
        yield f"{at + 1} twice", lambda n, row, at=at: [*row[:at], row[at], *row[at:]]
        yield f"without {at + 1}", lambda n, row, at=at: [*row[:at], *row[at + 1 :]]
    for one, other in itertools.combinations(range(width), 2):
        order = list(range(width))
        order[one], order[other] = other, one
        yield f"{one + 1} and {other + 1} exchanged", lambda n, row, order=order: [row[at] for at in order]


def planted(files: Set, plant: Plant) -> Set:
    """All files of a set with the same fault; a header has it as well."""
    return {
        name: [["confidence" if titled(row) and cell not in row else cell for cell in plant(n, row)]
               for n, row in enumerate(rows)]
        for name, rows in files.items()
    }  # fmt: skip


def titled(row: Row) -> bool:
    """Whether a row is a header."""
    return not any(number(cell) is not None for cell in row)


def number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def read(data: bytes) -> Counter[tuple[float | str, ...]]:
    """The rows of a file as numbers, in any order."""
    found: Counter[tuple[float | str, ...]] = Counter()
    for row in (line.split(",") for line in data.decode().splitlines() if line.strip()):
        if not titled(row):
            values = [cell.strip() if (value := number(cell)) is None else value for cell in row]
            found[tuple(values)] += 1
    return found


def text(rows: list[Row]) -> bytes:
    return "".join(",".join(row) + "\n" for row in rows).encode()


def layouts(examined: list[Examined]) -> dict[str, LabelFormat]:
    return {Path(path).name: group.format for one in examined for group in one.labels for path in group.files}


def wrong(examined: list[Examined]) -> set[str]:
    return {f.code for one in examined for f in one.report.findings if f.severity is not Severity.INFO}


def harm(folder: Path, files: Set, plant: Plant, good: list[Examined]) -> Iterator[str]:
    """What repairs do to a set with a fault that they must not; *good*: what is found without it."""
    meant = layouts(good)
    for name, rows in planted(files, plant).items():
        (folder / name).write_bytes(text(rows))

    def check(changed: object) -> list[Examined]:
        return [examine(folder, changed=changed)]  # type: ignore[arg-type]

    before = check({})
    seen = wrong(before) - wrong(good)  # a fault that nothing tells is nothing that a repair could end
    for unsafe in (False, True) if wrong(before) else ():
        changes = repair.repairs(before, unsafe, check)
        after = check({change.path: change.after for change in changes}) if changes else before
        now = layouts(after)
        for change in changes:
            name = Path(change.path).name
            new, old, should = (read(data) for data in (change.after, change.before, text(files[name])))
            if "LAB202" in change.codes and max(should.values()) > 1:  # it has rows that are twice there
                new, old, should = Counter(set(new)), Counter(set(old)), Counter(set(should))
            right = new == should
            what = f"{', '.join(change.codes)} in {name}, read as {now[name].name if name in now else 'nothing'}"
            if not right and new != old:
                yield f"values: {what}: {change.after[:60]!r}"
            elif seen and not wrong(after) and not (right and (name in now) and alike(now[name], meant[name])):
                yield f"clean, and not what was meant: {what}: {change.after[:60]!r}"


def alike(one: LabelFormat, other: LabelFormat) -> bool:
    return one == other or means_the_same(one, other)


def harms(tmp_path: Path, sets: list[Set], share: int = 1) -> list[str]:
    """The harm of every fault, each done to one of *sets*; of one in *share* of the faults."""
    found = []
    known: dict[int, list[Examined]] = {}
    every = list(plants(len(next(iter(sets[0].values()))[0])))
    for turn, (name, plant) in enumerate(every[::share]):
        number, folder = turn % len(sets), tmp_path / str(turn)
        folder.mkdir()
        files = sets[number]
        if number not in known:
            for file, rows in files.items():
                (folder / file).write_bytes(text(rows))
            known[number] = [examine(folder)]
        found += [f"{name}: {one}" for one in harm(folder, files, plant, known[number])][:2]
    return found


def example(layout: str) -> Set:
    """Several files like the example of a layout: the example, and again without some of its rows.

    In a handful of rows nothing tells frames from classes, and sorting them is a repair: those go on, later.
    """
    path = max((CASES / layout).glob("*.csv"), key=lambda path: path.stat().st_size)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    stem, head = path.stem, titled(rows[0])
    while len(rows) < 12 and rows[-1][0].isdecimal():
        later = int(rows[-1][0]) + 1
        rows += [[str(int(row[0]) + later), *row[1:]] for row in rows[head:]]
    files = [stem, *(f"{stem[:-1]}{n}" for n in "789" if not stem.endswith(n))][:3]
    return {f"{name}.csv": rows[:head] + rows[head + n :] for n, name in enumerate(files) if len(rows) > head + n}


def real_sets(folder: Path) -> list[Set]:
    """All files of a folder, in sets."""
    paths = [path for path in sorted(folder.rglob("*.csv")) if path.stat().st_size]
    return [
        {path.name: [line.split(",") for line in path.read_text().splitlines()[:ROWS]] for path in paths[at::step]}
        for step in [max(1, len(paths) // SIZE)]
        for at in range(step)
    ]


@pytest.mark.parametrize("layout", EXAMPLES)
def test_faults_of_examples(tmp_path: Path, layout: str) -> None:
    assert not harms(tmp_path, [example(layout)], share=35 // examples(35))


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_every_fault_of_real_labels(kept: Kept, tmp_path: Path, name: str) -> None:
    assert not harms(tmp_path, real_sets(kept / name))
