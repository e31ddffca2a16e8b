"""Questions of SO-Bench with a model's answers for the benchmarks, in the published numbers, made with a seed."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pyarrow as pa

from seldio import synth
from seldio.schema.qa import Item, Prediction
from seldio.tasks import TASKS as ASKED
from seldio.tasks import generate
from seldio.tasks.specs import PUBLISHED

_WORDS = ("please", "bring", "the", "red", "boxes", "over", "here", "before", "it", "rains", "tomorrow", "evening")


def so_bench(seed: int = 7) -> tuple[list[Item], list[Prediction]]:
    """7,877 questions of the 16 tasks, as many of each as published; two answers of three right, the others wrong."""
    chance = random.Random(seed)
    items = [item for task in PUBLISHED.values() for item in _asked(task.name, task.weight, chance)]
    by_task = defaultdict(list)
    for item in items:
        by_task[item.task].append(item)
    rows = []
    for number, item in enumerate(items):
        other = item if number % 3 else chance.choice(by_task[item.task])
        rows.append(Prediction(id=item.id, audio=item.audio, task=item.task, prediction=other.answer))
    chance.shuffle(rows)
    return items, rows


def _asked(task: str, count: int, chance: random.Random) -> list[Item]:
    if task not in ASKED:
        return [_spoken(number, chance) for number in range(count)]
    found = [item for item in _scenes() if item.task == task]
    copies = (found[number % len(found)] for number in range(count))
    return [item.model_copy(update={"id": f"{item.id}_{number}"}) for number, item in enumerate(copies)]


def _spoken(number: int, chance: random.Random) -> Item:
    text = " ".join(chance.choices(_WORDS, k=9))
    return Item(
        id=f"qa_speech_{number}",
        audio=[f"audio/test/speech_{number}.wav"],
        task="speech_content",
        question="What does the speaker say?",
        answer=f'The speaker says, "{text}".',
        canonical_answer=text,
    )


_MADE: list[Item] = []


def _scenes() -> list[Item]:
    """Questions about made-up scenes, made once."""
    if not _MADE:
        tables = [synth.labels(f"mix{number:03}", synth.scene(number)) for number in range(60)]
        _MADE.extend(generate(pa.concat_tables(tables, promote_options="permissive"), seed=7).items)
        lacking = {*ASKED} - {*Counter(item.task for item in _MADE)}
        assert not lacking, f"no questions of {lacking}"
    return _MADE
