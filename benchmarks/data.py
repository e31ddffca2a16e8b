"""Label files for the benchmarks, made with a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seldio import synth
from seldio.formats import TextFile, get
from seldio.schema.events import ClipFile

STARSS23 = get("starss23")
FILE = ClipFile("m", "m.csv")

#: Frames with one to five sources at a time in the STARSS22 development labels.
OVERLAPS = (90_707, 44_213, 10_668, 2_607, 283)
#: Classes of loudspeakers and machines, whose source is 0, and of people, who count from 1.
THINGS, PEOPLE = (3, 5, 7, 8, 10, 11, 12), (0, 1, 2, 4, 6, 9, 7, 10, 12)


def text_files(number: int, rows: int, seed: int = 7) -> list[TextFile]:
    """*number* clean STARSS23 label files with *rows* rows in all, overlapping as in the real labels."""
    rng = np.random.default_rng(seed)
    return [_file(index, rows // number, rng) for index in range(number)]


def scene_files(number: int, scenes: int = 42) -> list[TextFile]:
    """*number* STARSS23 label files of 160 s with events that last and move; after *scenes* they repeat."""
    found = [STARSS23.write(synth.labels("m", synth.scene(seed, 160.0, 24)), FILE) for seed in range(scenes)]
    names = [f"fold3_room{index % 16}_mix{index:03d}" for index in range(number)]
    return [TextFile(f"{name}.csv", f"{name}.csv", name, found[i % scenes]) for i, name in enumerate(names)]


def _file(index: int, rows: int, rng: np.random.Generator) -> TextFile:
    overlap = rng.choice(len(OVERLAPS), rows, p=np.array(OVERLAPS) / sum(OVERLAPS)) + 1
    source = (np.arange(overlap.sum()) - np.repeat(np.cumsum(overlap) - overlap, overlap))[:rows]
    columns = [
        np.repeat(np.arange(rows), overlap)[:rows],
        np.where(source == 0, rng.choice(THINGS, rows), rng.choice(PEOPLE, rows)),
        source,
        rng.integers(-180, 181, rows),
        rng.integers(-60, 61, rows),
        rng.integers(50, 600, rows),
    ]
    text = "\n".join(",".join(map(str, row)) for row in zip(*(column.tolist() for column in columns), strict=True))
    name = f"fold3_room{index % 16}_mix{index:03d}"
    return TextFile(f"{name}.csv", f"{name}.csv", name, (text + "\n").encode())


def _cells(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[list[bytes]], list[bytes]]:
    """What changes the cells of every line."""
    return lambda lines: [b",".join(change(line.split(b","))) for line in lines]


#: Faults that are in every row, as programs write them; the number of lines stays.
THROUGHOUT: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "cells in quotes": _cells(lambda cells: [b'"' + cell + b'"' for cell in cells]),
    "frames as 24.0": _cells(lambda cells: [cells[0] + b".0", *cells[1:]]),
    "nan for azimuths": _cells(lambda cells: [*cells[:3], b"nan", *cells[4:]]),
    "inclinations for elevations": _cells(lambda cells: [*cells[:4], b"%d" % (90 - int(cells[4])), cells[5]]),
    "rows written twice": lambda lines: [line for line in lines[: len(lines) // 2] for _ in range(2)],
}


def throughout(file: TextFile, fault: str) -> TextFile:
    """*file* with one fault in every row."""
    lines = THROUGHOUT[fault](file.data.splitlines())
    return TextFile(file.path, file.name, file.clip, b"\n".join(lines) + b"\n")


def spoiled(file: TextFile, every: int) -> TextFile:
    """*file* with one row in *every* made bad: letters, a cell too many, a class or angle out of range."""
    lines = file.data.split(b"\n")
    for count, number in enumerate(range(0, len(lines) - 1, every)):
        cells = lines[number].split(b",")
        match count % 4:
            case 0:
                cells[1] = b"x" + cells[1]
            case 1:
                cells.append(b"1")
            case 2:
                cells[3] = b"999"
            case _:
                cells[1] = b"77"
        lines[number] = b",".join(cells)
    return TextFile(file.path, file.name, file.clip, b"\n".join(lines))
