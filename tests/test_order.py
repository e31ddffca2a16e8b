"""The order of rows says nothing about a clip, and a repair of the order never mixes what may be two of them."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import laid
from conftest import Kept
from effort import some

import seldio
from seldio.findings import Severity

pytestmark = pytest.mark.slow

Lines = list[str]
Order = Callable[[Lines], Lines]


def by(at: int) -> Order:
    """Rows by the number in a column; those where it is the same as they were."""
    return lambda lines: sorted(lines, key=lambda line: float(line.split(",")[at]))


def shuffled(seed: int) -> Order:
    return lambda lines: random.Random(seed).sample(lines, len(lines))


ORDERS: dict[str, Order] = {
    "shuffled": shuffled(1),
    "by class": by(1),
    "by class and third column": lambda lines: by(1)(by(2)(lines)),
    "by fourth column": by(3),
    "reversed": lambda lines: lines[::-1],
}
REAL = (
    "starss22-labels/metadata_dev", "starss23-predictions/system-a-polar", "starss23-predictions/system-a-cartesian",
    "dcase2020-predictions", "dcase2020-baseline-predictions", "tau-nigens2020-labels", "spatialscaper-labels",
)  # fmt: skip
#: Folders of which pairs of clips are put into one file.
PAIRED = (*REAL[:4], "tau-nigens2020-labels")


def files(folder: Path, most: int = 12) -> list[Path]:
    """Some files with rows, from all of a folder."""
    found = [path for path in sorted(folder.rglob("*.csv")) if path.stat().st_size]
    return found[:: max(1, len(found) // most)][:most]


def rows(path: Path) -> Lines:
    return [line for line in path.read_text().splitlines() if line[:1].isdigit()]


def repaired(path: Path, lines: Sequence[str], unsafe: bool = False) -> tuple[Lines, list[seldio.Finding]]:
    """What a repair makes of a file of *lines*, and what is found in it before."""
    path.write_text("".join(f"{line}\n" for line in lines))
    planned = seldio.validate(path, fix=not unsafe, unsafe_fixes=unsafe, diff=True)
    after = planned.changes[0].after.decode().splitlines() if planned.changes else list(lines)
    return after, planned.findings


def frames(lines: Sequence[str]) -> list[float]:
    return [float(line.split(",")[0]) for line in lines]


@pytest.mark.parametrize("name", PAIRED)
def test_two_clips_in_a_file_are_not_mixed(kept: Kept, tmp_path: Path, name: str) -> None:
    paths, tried = files(kept / name), 0
    for first in paths:
        for second in random.Random(first.name).sample(paths, 2):
            one, other = rows(first), rows(second)
            if one == other or not set(frames(one)) & set(frames(other)):
                continue
            after, found = repaired(tmp_path / second.name, [*one, *other])
            assert after == [*one, *other], (first.name, second.name)
            tried += "LAB201" in {one.code for one in found}
    assert tried >= 4


def test_a_frame_on_both_sides_of_a_fall_is_named(tmp_path: Path) -> None:
    lines = ["5,1,0,-50,30", "8,1,0,-50,30", "5,2,0,-50,30", "8,2,0,-50,30"]
    after, found = repaired(tmp_path / "fold4_room23_mix001.csv", lines, unsafe=True)
    assert after == lines
    (one,) = (one for one in found if one.code == "LAB201")
    assert not one.fixable
    assert one.hint == (
        "sort the rows by frame if all are of one clip: those of frame 5 do not stand together, as in a file of two clips"
    )


def reordered(folder: Path, paths: Sequence[Path], order: Order) -> None:
    folder.mkdir()
    for path in paths:
        lines = path.read_text().splitlines()
        head = lines[: not lines[0][:1].isdigit()]
        (folder / path.name).write_text("".join(f"{line}\n" for line in [*head, *order(rows(path))]))


@pytest.mark.parametrize("name", some(REAL, 2))
def test_no_order_is_an_error(kept: Kept, tmp_path: Path, name: str) -> None:
    paths = files(kept / name, 24)
    for number, order in enumerate(ORDERS.values()):
        reordered(tmp_path / str(number), paths, order)
        found = seldio.validate(tmp_path / str(number))
        assert not [one for one in found if one.severity is Severity.ERROR and one.code[:3] == "LAB"]


@pytest.mark.parametrize("name", [REAL[0], REAL[3]])
def test_no_order_changes_a_score(kept: Kept, tmp_path: Path, name: str) -> None:
    paths = files(kept / name, 6)
    reordered(tmp_path / "reference", paths, lambda lines: lines)
    turned = {which: ORDERS[which] for which in ("shuffled", "by class", "reversed")}
    scores = {}
    for which, order in {"as it is": lambda lines: lines, **turned}.items():
        reordered(tmp_path / which, paths, lambda lines, order=order: order(noisy(lines)))
        report = seldio.score(tmp_path / which, tmp_path / "reference", profile="dcase2022")
        scores[which] = figures(report)
    for one in scores.values():
        assert one == pytest.approx(scores["as it is"], rel=1e-9, nan_ok=True)


def figures(report: Any) -> dict[str, float]:
    """All numbers of the first row of scores."""
    return {name: value for name, value in report.overall.items() if isinstance(value, (int, float))}


def noisy(lines: Lines) -> Lines:
    """Rows of which each tenth is missing."""
    return [line for number, line in enumerate(lines) if number % 10]


def test_annotations_of_2026_stand_in_any_order(official: Kept, tmp_path: Path) -> None:
    lines = (official / "seld-2026.jsonl").read_text("utf-8").splitlines()
    first: dict[str, float] = {}
    for row, seed in itertools.product(map(json.loads, lines[:6]), (None, 1, 2, 3)):
        for number, sequence in enumerate(row["sequences"]):
            for side in ("truth", "prediction"):
                every = sequence[side]["annotations"]
                mixed = every if seed is None else random.Random(seed).sample(every, len(every))
                name = f"{side}-{seed}/fold4_room1_mix{number:03}.json"
                laid(tmp_path, {name: json.dumps({"annotations": mixed})})
        score = seldio.score(tmp_path / f"prediction-{seed}", tmp_path / f"truth-{seed}", profile="dcase2026")
        first = first if seed else figures(score)
        assert figures(score) == pytest.approx(first, rel=1e-9, nan_ok=True)
        for side in ("truth", "prediction"):
            shutil.rmtree(tmp_path / f"{side}-{seed}")


def test_a_run_that_was_resumed_and_sides_of_a_merge_conflict_are_not_sorted(kept: Kept, tmp_path: Path) -> None:
    """A first half that was written to the end of the output buffer, and again from an earlier frame on."""
    for path in files(kept / REAL[1]):
        lines = rows(path)
        middle, early = len(lines) // 2, len(lines) // 3
        again = [re.sub(r"(-?\d+),(-?\d+)$", lambda m: f"{int(m[1]) // 2},{m[2]}", line) for line in lines[early:]]
        assert repaired(tmp_path / path.name, [*lines[:middle], *again])[0] == [*lines[:middle], *again]
    for path, marks in itertools.product(files(kept / REAL[0], 6), (["<<<<<<< HEAD", "=======", ">>>>>>> them"], [])):
        lines = rows(path)
        third = len(lines) // 3
        theirs = [line.rsplit(",", 1)[0] + ",7" for line in lines[third : 2 * third]]
        ours = [*lines[:third], *marks[:1], *lines[third : 2 * third], *marks[1:2]]
        merged = [*ours, *theirs, *marks[2:], *lines[2 * third :]]
        after, found = repaired(tmp_path / path.name, merged)
        assert after == merged
        assert not any(one.fixable for one in found if one.code == "LAB201")


def test_clips_with_numbered_sources_in_a_file_are_told(kept: Kept, tmp_path: Path) -> None:
    """Where the second has sources of the first at the same time, somewhere else, and begins in its first half."""
    paths = files(kept / REAL[0], 40)
    told = 0
    for first, second in itertools.pairwise(paths):
        one, other = rows(first), rows(second)
        shared_keys = {tuple(line.split(",")[:3]) for line in one} & {tuple(line.split(",")[:3]) for line in other}
        _, found = repaired(tmp_path / second.name, [*one, *other])
        several = "LAB322" in {one.code for one in found}
        assert not several or len(shared_keys) >= 20
        told += several
    assert told >= 3
