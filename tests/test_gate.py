"""No repair of a set with a column too many, too few, twice or in another's place changes what the others say.

Real label files, where they are at hand, and the example of every layout in comma-separated text: a column is added,
dropped or doubled, or two are exchanged, in all files of a set alike. What repairs write holds the rows that were
there, or those that were meant; and what ends without a finding is what was meant.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Kept
from effort import examples

from seldio.check import repair
from seldio.check.validation import Examined, examine
from seldio.findings import Severity
from seldio.formats import LabelFormat
from seldio.formats.detect import means_the_same

CASES = Path(__file__).parent / "cases/formats"
EXAMPLES = sorted(folder.name for folder in CASES.iterdir() if any(folder.glob("*.csv")))
REAL = (
    "dcase2020-baseline-predictions", "dcase2020-predictions", "spatialscaper-labels", "starss22-labels/metadata_dev",
    "starss23-predictions/system-a-polar", "starss23-predictions/system-b-cartesian", "tau-nigens2020-labels",
    "tau-sse2019-labels",
)  # fmt: skip
#: Files of a set, and rows of a file: enough to tell a layout, few enough for hundreds of sets.
SIZE, ROWS = 8, 200

Row = list[str]
Set = dict[str, list[Row]]
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


def real(folder: Path) -> list[Set]:
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
    assert not harms(tmp_path, real(kept / name))
