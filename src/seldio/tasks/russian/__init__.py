"""Labels to Russian questions: items in the style of ruEnvAQA, with two or four options.

The tasks are the benchmark's types of questions that labels can answer. Their names stay those of the
benchmark, though what is asked about are the classes of the labels, of which few are musical instruments.
Only what has one right answer is asked, with the clips, margins and counts of :mod:`seldio.tasks`.

Options that are wrong are classes that the labels know and that do not sound in the clip, nor may be taken
for one that does. What the labels do not know of is taken for background noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Unpack

import pyarrow as pa

from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.tasks.asking import Entry, Options, Place, ask_all
from seldio.tasks.russian.clips import Clip, clip_of, known_classes
from seldio.tasks.russian.drafts import Draft
from seldio.tasks.russian.tasks_binary import double, kinds, longer, single
from seldio.tasks.russian.tasks_choice import captioning
from seldio.tasks.russian.wording import LETTERS
from seldio.tasks.scene import Scene, digest

__all__ = ["PROPORTIONS", "REFUSED", "TASKS", "stream"]

#: The types of ruEnvAQA that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Entry[Clip, Draft]] = {
    "Music instrument counting": Entry(kinds, "binary"),
    "Single music instrument detection": Entry(single, "binary"),
    "Double music instrument detection": Entry(double, "binary"),
    "Music instrument comparison (longer)": Entry(longer, "binary"),
    "Audio captioning": Entry(captioning, "multiple choice"),
}
#: Types that labels cannot answer, with the reason.
REFUSED = {
    "Music instrument comparison (louder)": "labels tell when and where something sounds, not how loud: that needs "
    "the audio",
    "Audio scene classification": "labels name sounds, not the place or the occasion of the recording",
    "Sound QA with reasoning": "the answer takes knowledge of the world that labels do not hold",
}
#: Proportions for :func:`seldio.tasks.select`: half of ruEnvAQA's questions have four options, and its types
#: are balanced.
PROPORTIONS = {task: 4 if entry.question_class == "multiple choice" else 1 for task, entry in TASKS.items()}


def stream(table: pa.Table, **options: Unpack[Options]) -> Iterator[Item]:
    """Russian items about the labels in *table*, one by one; arguments as of :func:`seldio.tasks.stream`.

    ``answer`` is the letter of the right option, ``canonical_answer`` its text. Ids are whole numbers, as the
    benchmark's, from a hash of the content; below 2^53, so that every JSON reader keeps them. Beside the
    benchmark's keys, ``meta`` has the clip's ``audio_id``, and its ``start`` and ``end`` in seconds.

    Raises:
        UsageError: a task that does not exist or is refused, or a window that cannot be.
    """
    known, dataset = known_classes(table), origin_of(table).format or None

    def look(scene: Scene) -> Clip:
        return clip_of(scene, known)

    return ask_all(table, TASKS, REFUSED, look, partial(_item, dataset), **options)


def _item(dataset: str | None, place: Place, task: str, draft: Draft) -> Item:
    scene, letter = place.scene, LETTERS[draft.right]
    return Item.model_validate(
        {
            "id": str(int(digest(scene.audio_id, task, draft.question, *draft.options, letter)[:13], 16)),
            "audio": place.audio,
            "start": scene.start,
            "end": scene.end,
            "task": task,
            "question": draft.question,
            "instruction": draft.instruction,
            "options": draft.options,
            "answer": letter,
            "canonical_answer": draft.options[draft.right],
            "language": "ru",
            "split": place.split,
            "dataset": dataset,
            "events": [scene.proof(event) for event in draft.events],
            "extra": {
                "meta": {
                    "categories": {"knowledge": "common"},
                    "audio_id": scene.audio_id,
                    "start": scene.start,
                    "end": scene.end,
                }
            },
        }
    )
