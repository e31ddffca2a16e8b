"""The tasks of SO-Bench, one record each, and items of them from labels, in English or Russian."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Unpack

import pyarrow as pa

from seldio.schema.qa import Item
from seldio.tasks import detect, reasoning
from seldio.tasks.generation import GenerationOptions, ItemPlace, ask_all
from seldio.tasks.names import Name, name_of
from seldio.tasks.scene import Scene
from seldio.tasks.specs import ASKED, PUBLISHED
from seldio.tasks.task import NO_NAME, Draft, Task, digest
from seldio.tasks.wordings import NAMELESS, Code, wordings_in

_MADE = {task.name: task for task in (*detect.TASKS, *reasoning.TASKS) if task.candidates}
#: Those that labels can answer, in the order in which a clip's items come.
TASKS: dict[str, Task[Scene, Draft]] = {name: _MADE[name] for name in ASKED if name in _MADE}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {task.name: task.refused for task in PUBLISHED.values() if task.refused}
#: The proportions of what is made of labels: these numbers, of the tasks that labels can answer.
SO_BENCH = {name: PUBLISHED[name].weight for name in PUBLISHED if name in TASKS}


@cache
def worded(language: Code) -> dict[str, Task[Scene, Draft]]:
    """The tasks as they are asked in a language."""
    if language == "en":
        return TASKS
    ways = wordings_in(language).ways
    return {name: dataclasses.replace(task, wordings=ways[name]) for name, task in TASKS.items() if name in ways}


def stream(table: pa.Table, *, language: Code = "en", **options: Unpack[GenerationOptions]) -> Iterator[Item]:
    """The items of :func:`seldio.tasks.generate` one by one, before any selection; *skipped* is counted up."""
    names: Callable[[str], Name] = name_of
    if language == "ru":
        from seldio.tasks.nouns import russian_name

        own = options.get("own")
        names = partial(russian_name, own=own.nouns if own else ())
    asked = worded(language)
    refused = REFUSED | {name: "it is asked in English only" for name in TASKS if name not in asked}
    return ask_all(
        table, asked, refused, lambda scene: scene, partial(_item, language), names=names,
        language=wordings_in(language), **options,
    )  # fmt: skip


def _item(language: Code, place: ItemPlace, task: Task[Scene, Draft], draft: Draft) -> Item | str:
    """Return the item of a draft, or the reason if a class has no name in the language."""
    if NAMELESS in draft.question or NAMELESS in draft.answer:
        return NO_NAME
    audio_id = place.scene.audio_id
    extra = {"question_class": task.question_class, "answer_format": "structured_text", "audio_id": audio_id}
    return place.item(
        task, draft, id="qa_" + digest(audio_id, task.name, draft.question, draft.answer), answer=draft.answer,
        canonical_answer=draft.canonical, answer_meta=draft.meta, language=language, extra=extra,
    )  # fmt: skip
