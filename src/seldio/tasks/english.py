"""The tasks of SO-Bench, one record each, and items of them from labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import pyarrow as pa

from seldio import plugins
from seldio.schema.qa import Item
from seldio.tasks import detect, reasoning
from seldio.tasks.generation import GenerationOptions, ItemPlace, ask_all
from seldio.tasks.scene import Scene
from seldio.tasks.specs import ASKED, KNOWN
from seldio.tasks.task import Draft, Task, digest

_ASKING = (*detect.TASKS, *reasoning.TASKS, *plugins.rows("tasks", Task))
_MADE = {task.name: task for task in _ASKING if task.language == "en" and task.candidates}
#: Those that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[Scene, Draft]] = {name: _MADE[name] for name in ASKED if name in _MADE}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {task.name: task.refused for task in KNOWN.values() if task.refused}
#: The proportions of what is made of labels: these numbers, of the tasks that labels can answer.
SO_BENCH = {name: KNOWN[name].weight for name in KNOWN if name in TASKS}


def stream(table: pa.Table, **options: Unpack[GenerationOptions]) -> Iterator[Item]:
    """The items of :func:`seldio.tasks.generate` one by one, before any selection; *skipped* is counted up."""
    return ask_all(table, TASKS, REFUSED, lambda scene: scene, _item, **options)


def _item(place: ItemPlace, task: Task[Scene, Draft], draft: Draft) -> Item:
    audio_id = place.scene.audio_id
    extra = {"question_class": task.question_class, "answer_format": "structured_text", "audio_id": audio_id}
    return place.item(
        task, draft, id="qa_" + digest(audio_id, task.name, draft.question, draft.answer), answer=draft.answer,
        canonical_answer=draft.canonical, answer_meta=draft.meta, language="en", extra=extra,
    )  # fmt: skip
