"""Questions made from labels that cannot be answered without listening: what is kept is even, and the most of it."""

from __future__ import annotations

import itertools
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seldio
from seldio import synth, tasks
from seldio.conversion.item_inputs import read_items
from seldio.findings import raise_errors
from seldio.tasks import mix, russian
from seldio.tasks.even import CLAIMS, OPTIONS, SHARE, UNEVEN, fair, flat, packed, within


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


def test_the_most_are_kept() -> None:
    """A ring of three and a pair there and back are even; what always wins is left out."""
    asked = ["ab", "bc", "ca", "ad", "da", "xa", "xb", "xc"]
    kept = fair(of(*([[x], [y]] for x, y in asked)), lots(len(asked)))
    assert [asked[n] for n in kept] == ["ab", "bc", "ca", "ad", "da"]
    many = asked * 300
    assert len(fair(of(*([[x], [y]] for x, y in many)), lots(len(many)))) == 1500
    assert len(fair(of(*([[x], [y]] for x, y in many)), lots(len(many)), 500)) in range(490, 501)


@given(st.lists(st.integers(0, 5), max_size=60))
@settings(max_examples=40, deadline=None)
def test_open_answers_are_about_as_frequent(answers: list[int]) -> None:
    groups = np.array(answers, np.uint64)
    kept = flat(groups, lots(len(answers)))
    found = Counter(answers[n] for n in kept)
    if len(set(answers)) < 2:
        assert not found
    else:
        assert max(found.values()) <= len(kept) * (1 / len(found) + SHARE + 1e-9)
        assert len(kept) >= 2


def test_of_each_context_too() -> None:
    contexts = np.array([0] * 3 + [1] * 50 + [2] * 5, np.uint64)
    answers = np.array([1, 2, 3] + [1] * 40 + [2] * 10 + [3] * 5, np.uint64)
    kept = within(contexts, answers, lots(58))
    found = Counter(zip(contexts[kept].tolist(), answers[kept].tolist(), strict=True))
    assert {found[0, 1], found[0, 2], found[0, 3], found[2, 3]} == {1}
    assert 10 <= found[1, 1] <= 12
    assert found[1, 2] == 10


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


@pytest.mark.slow
@pytest.mark.parametrize("style", ["ruenvaqa", "so-bench"])
@pytest.mark.parametrize("labels", ["starss22-labels", "tau-nigens2020-labels", "spatialscaper-labels/foa_labels"])
def test_questions_of_real_labels_stay_under_the_bound(labels: str, style: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("SELDIO_SHARED", "../shared")) / "data" / labels
    if not folder.is_dir():
        pytest.skip(f"{labels} are not here")
    out = tmp_path / "qa.json"
    for options in ({}, {"per_task": 300}, {"seed": 5}):
        seldio.convert(folder, out, style, balance=True, **options)
        assert_places_and_answers_are_even(out)
    for task in tasks.TASKS if style == "so-bench" else russian.TASKS:  # alone, so that no other task limits it
        made = seldio.convert(folder, out, style, tasks=[task], balance=True)
        if made.rows[1]:
            assert_places_and_answers_are_even(out)
