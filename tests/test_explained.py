"""What a finding accounts for is not said again, and each pair of rules for which that holds is tried here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_package import A, B, system

import seldio
from seldio import rules
from seldio.findings import Finding, Severity
from seldio.rules.collection import Reference

CLIPS = [f"fold4_room{room}_mix{mix:03}" for room in (23, 24) for mix in range(1, 4)]
EXPECTED = {"reference": Reference("recordings", dict.fromkeys(("mix001", "mix002")))}
LENGTHS = {"reference": Reference("recordings", dict.fromkeys(CLIPS, 300))}


def text(*rows: tuple[int, ...]) -> str:
    return "".join(f"{','.join(map(str, row))}\n" for row in rows)


#: Four clips in one file, each with a row that is there twice.
MIXED = text(*((n, n % 13, n % 2, n - 60 + 30 * clip, 5) for clip in range(4) for n in (*range(60), 59)))
CASES: dict[str, tuple[dict[str, str], dict[str, Any], str, set[str]]] = {
    "one file for all clips": (
        {"all.csv": MIXED}, EXPECTED, "SUB106", {"LAB201", "LAB202", "LAB203", "LAB204", "LAB322", "SUB101", "SUB102"},
    ),
    "a column of clips": (
        {"all.csv": "".join(f"mix{n // 60:03},{n % 60},{n % 13},0,{n % 90},5\n" for n in range(120))}, EXPECTED,
        "SUB106", {"SUB101", "SUB102"},
    ),
    "frames that start over": ({"a.csv": MIXED, "b.csv": MIXED[:500]}, {}, "LAB322", {"LAB201", "LAB202", "LAB203", "LAB204"}),
    "frames and classes exchanged": (
        {"all.csv": text(*((frame * 7 % 13, frame, 0, frame % 90, 5) for frame in range(200)))}, {},
        "LAB320", {"SUB106"},
    ),
    "no frames": (
        {"all.csv": text(*((row * 5 % 11, row % 3, 0, row % 90, 5) for row in range(200)))}, {},
        "LAB324", {"SUB106"},
    ),
    "rows of zeros": (
        {f"{clip}.csv": "0,0,0,0,0\n" * 40 if clip in CLIPS[:2] else text(*((n, n % 13, 0, n % 90, len(clip))
         for n in range(30 + CLIPS.index(clip)))) for clip in CLIPS}, {}, "LAB315", {"SUB116"},
    ),
    "a finer grid": (
        {f"{clip}.csv": text(*((10 * n, n // 25 % 13, 0, n % 90, 5) for n in range(295 + number)))
         for number, clip in enumerate(CLIPS)}, LENGTHS, "SUB119", {"LAB307"},
    ),
    "nothing that is read": ({"mix001.txt": MIXED}, EXPECTED, "LAY118", {"SUB101"}),
}  # fmt: skip


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[set[str], set[str]]]:
    """Checks files, and returns the codes of what is found, and of what is left out of it."""

    def check(path: Path, **options: Any) -> tuple[set[str], set[str]]:
        said = {one.code for one in seldio.validate(path, **options)}
        with monkeypatch.context() as patched:
            patched.setattr(rules, "unexplained", lambda findings, source: list(findings))
            return said, {one.code for one in seldio.validate(path, **options)} - said

    return check


@pytest.mark.parametrize("case", CASES)
def test_one_cause_is_said_once(case: str, found: Callable[..., Any], tmp_path: Path) -> None:
    files, options, cause, others = CASES[case]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    said, left_out = found(tmp_path, format="starss22", **options)
    assert cause in said
    assert left_out == others


def test_what_is_explained_explains_nothing() -> None:
    def made(code: str, path: str) -> Finding:
        return Finding(code, Severity.ERROR, "wrong", path)

    swapped, mixed, twice = made("LAB320", "x/a.csv"), made("SUB106", "x/a.csv"), made("LAB202", "x/a.csv")
    assert rules.unexplained([twice, mixed, swapped], "x") == [twice, swapped]
    assert rules.unexplained([twice, mixed], "x") == [mixed]
    assert rules.unexplained([twice, made("SUB106", "x/b.csv")], "x")[0] == twice
    assert rules.unexplained([made("LAB307", "x/b.csv"), made("SUB119", "x")], "x") == [made("SUB119", "x")]


def test_what_one_system_of_a_package_does_explains_nothing_of_another(tmp_path: Path) -> None:
    """One counts frames of 10 ms, another leaves out four of five: they have nothing to do with each other."""
    grids = {A: [10 * n for n in range(295)], B: [5 * n for n in range(60)]}
    for label, frames in grids.items():
        for name, content in system(label).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if name.endswith(".yaml") else text(*((n, 1, n % 90, 5) for n in frames)))
    known = Reference("recordings", dict.fromkeys(("mix001", "mix002", "mix003"), 300))
    found = seldio.validate(tmp_path, format="dcase2023-submission", reference=known)
    assert {(one.code, A in one.path, B in one.path) for one in found if one.code in ("SUB119", "LAB307")} == {
        ("SUB119", False, False), ("LAB307", False, True),
    }  # fmt: skip
