"""How well questions made from labels are answered without listening: ``python benchmarks/blind.py LABELS …``.

Of each folder of labels (and of 150 synthetic scenes, if none is named) questions are made in both styles, as they come
and with ``--balance``. For each task, and for all questions with options together: the share that the best of the ways
of QAI401 to QAI404 gets right, its lower bound with 99.9 % confidence, and what guessing gets. A star marks what is
above guessing by more than the margin of those rules. Prints the table of ``docs/howto/choose-questions.md``.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import seldio
from seldio import synth
from seldio.conversion.item_inputs import read_items
from seldio.findings import raise_errors
from seldio.rules.item_blind import FEWEST, Blind, Guess, GuessGroup, _features
from seldio.rules.item_table import ItemTable


def main() -> None:
    """Print a table for each style."""
    with tempfile.TemporaryDirectory() as folder:
        named = [Path(name) for name in sys.argv[1:]] or [_scenes(Path(folder) / "150 scenes")]
        for style in ("ruenvaqa", "so-bench"):
            for balance in (False, True):
                print(f"\n{style}{' --balance' * balance}")
                for labels in named:
                    made = seldio.convert(labels, Path(folder) / "qa.json", style, balance=balance)
                    print(f"  {labels.name}: {made.rows[1]:,} of {sum(made.asked.values()):,} questions")
                    for task, best in _guesses(Path(folder) / "qa.json"):
                        bound = f"(at least {best.bound:.0%}; guessing {best.chance:.0%})"
                        shown = f"{best.right:5.0%} of {best.number:6,} {bound}{' *' * best.telling}"
                        print(f"    {task:<40}{shown}  {best.what}")


def _scenes(folder: Path) -> Path:
    folder.mkdir()
    for seed in range(150):
        seldio.write(
            synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)), folder / f"mix{seed:03}.csv", "starss23"
        )
    return folder


def _guesses(path: Path) -> list[tuple[str, Guess]]:
    """The best guess of each task that has enough questions."""
    (reading,) = read_items(path, None, raise_errors)
    rows = Blind.of(ItemTable.of(reading)).sample.to_pylist()
    tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        tasks[row["task"]].append(row)
    groups = [("all with options", GuessGroup("", [row for row in rows if row["options"]]))]
    groups += [(task, GuessGroup("" if some[0]["options"] else task, some)) for task, some in sorted(tasks.items())]
    return [(task, _best(group)) for task, group in groups if len(group.rows) >= FEWEST]


def _best(group: GuessGroup) -> Guess:
    lengths = np.array([len(text) for text in group.texts], float)
    ways = [group.usual, group.guess("words", group.learned(*_features(group)))]
    if not group.open:
        ways += [group.guess("place", group.learned(np.arange(len(group.texts)), group.place))]
        ways += [group.guess("longest", lengths), group.guess("shortest", -lengths)]
    return max(ways, key=lambda guess: guess.right)


if __name__ == "__main__":
    main()
