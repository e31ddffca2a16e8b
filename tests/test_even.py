"""Questions made from labels that cannot be answered without listening: what is kept is even, and the most of it."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import synth
from seldio.conversion.item_inputs import read_items
from seldio.findings import raise_errors
from seldio.tasks import mix
from seldio.tasks.even import CLAIMS, OPTIONS, SHARE, UNEVEN, fair, packed


def lots(number: int) -> np.ndarray:
    return np.array([mix.hashed(n) for n in range(number)], np.uint64)


def of(*options: list[list[object]]) -> np.ndarray:
    return np.array([packed(each) for each in options], np.uint32).reshape(-1, OPTIONS, CLAIMS)


def balance(questions: list[list[list[object]]]) -> Counter[object]:
    """By how much each claim is right more often than guessing has it, times the number of options."""
    sums: Counter[object] = Counter()
    for options in questions:
        for number, claims in enumerate(options):
            for claim in claims:
                sums[claim] += len(options) - 1 if number == 0 else -1
    return sums


pairs = st.lists(st.sampled_from(list(itertools.permutations("abcd", 2))), max_size=40)
fours = st.lists(st.permutations("abcde"), max_size=40)


@settings(max_examples=12, deadline=None)
@given(pairs, fours, st.randoms(use_true_random=False))
def test_what_is_kept_is_even(two: list[tuple[str, str]], four: list[list[str]], luck: object) -> None:
    for asked in ([[[x], [y]] for x, y in two], [[[x] for x in some[:4]] for some in four]):
        claims, drawn = of(*asked), lots(len(asked))
        kept = fair(claims, drawn)
        found = balance([asked[n] for n in kept])
        slack = 0 if len(asked[0] if asked else []) == 2 else 12  # whole questions of four options do not always fit
        assert all(abs(number) <= slack for number in found.values())
        order = list(range(len(asked)))
        luck.shuffle(order)  # type: ignore[attr-defined]
        again = {order[n] for n in fair(claims[order], drawn[order])}
        assert again == set(kept.tolist())
        half = fair(claims, drawn, len(kept) // 2)
        assert len(half) <= len(kept) // 2
        assert all(abs(number) <= 15 for number in balance([asked[n] for n in half]).values())


def assert_places_and_answers_are_even(path: Path) -> None:
    """Check that neither the place of the right option nor the usual answer tells more than guessing."""
    (reading,) = read_items(path, None, raise_errors)
    places: dict[int, Counter[int]] = defaultdict(Counter)
    answers: dict[str, Counter[str]] = defaultdict(Counter)
    for item in reading.rows:
        if item.options:
            places[len(item.options)][place_of(item)] += 1
        else:
            answers[item.task][item.canonical_answer or item.answer] += 1
    few = [counted for counted in answers.values() if len(counted) <= 12]
    for counted in (*places.values(), *few):
        most, number = max(counted.values()), counted.total()
        assert most <= number * (1 / len(counted) + SHARE) + 3 * number**0.5, counted


def place_of(item: Any) -> int:
    """Return the place of the right option, which the answer names by its letter or its text."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(item.options)]
    return letters.index(item.answer) if item.answer in letters else item.options.index(item.answer)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    for seed in range(16):
        seldio.write(
            synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 13)), folder / f"mix{seed:03}.csv", "starss23"
        )
    return folder


@pytest.mark.parametrize("style", ["ruenvaqa", "so-bench"])
def test_what_is_left_out_to_balance_is_counted(scenes: Path, style: str, tmp_path: Path) -> None:
    made = seldio.convert(scenes, tmp_path / "qa.json", style, total="balanced")
    assert made.rows[1] > 60
    assert_places_and_answers_are_even(tmp_path / "qa.json")
    left = {task: reasons[UNEVEN] for task, reasons in made.skipped.items() if UNEVEN in reasons}
    assert all(0 < number <= made.asked[task] - made.kept[task] for task, number in left.items())
    assert sum(left.values()) > 50
    assert sum(made.kept.values()) == made.rows[1]
