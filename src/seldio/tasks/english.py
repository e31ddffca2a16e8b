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
from seldio.tasks.task import Draft, Task, digest

_SPEECH: Task[Scene, Draft] = Task(
    name="speech_content", question_class="reasoning", weight=171, answer="speech", metric="speech_wer",
    refused="labels tell that somebody speaks, not the words",
)  # fmt: skip
#: All tasks by name, the most frequent first; the groups of the last few are not published and follow their names.
PUBLISHED: dict[str, Task[Scene, Draft]] = {
    task.name: task
    for task in sorted((*detect.TASKS, *reasoning.TASKS, _SPEECH), key=lambda task: task.weight, reverse=True)
}
#: Those, and tasks of one's own.
KNOWN = PUBLISHED | {task.name: task for task in plugins.rows("tasks", Task) if task.language == "en"}
#: The order in which a clip's items come.
_ORDER = (
    "detect_time", "detect_source", "estimate_azimuth", "estimate_elevation", "estimate_distance",
    "identify_source_by_doa", "identify_source_by_location", "onset_from_location", "multi_hop", "spatial_temporal",
    "compare_elevation", "compare_distance", "relative_left_right", "classify_motion", "count_sources",
)  # fmt: skip
#: Those that labels can answer, in that order; others after them.
TASKS = {name: KNOWN[name] for name in (*_ORDER, *KNOWN) if KNOWN[name].candidates}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {task.name: task.refused for task in KNOWN.values() if task.refused}
#: Questions of each task in SO-Bench as published.
COUNTS = {name: task.weight for name, task in PUBLISHED.items()}
#: The proportions of what is made of labels: these numbers, of the tasks that labels can answer.
SO_BENCH = {name: task.weight for name, task in KNOWN.items() if name in TASKS}
#: Those whose answer is the name of a sound.
SOURCE_TASKS = tuple(task.name for task in KNOWN.values() if task.answer == "source")


def stream(table: pa.Table, **options: Unpack[GenerationOptions]) -> Iterator[Item]:
    """The items of :func:`seldio.tasks.generate` one by one, before any selection; *skipped* is counted up."""
    return ask_all(table, TASKS | KNOWN, lambda scene: scene, _item, **options)


def _item(place: ItemPlace, task: Task[Scene, Draft], draft: Draft) -> Item:
    audio_id = place.scene.audio_id
    extra = {"question_class": task.question_class, "answer_format": "structured_text", "audio_id": audio_id}
    return place.item(
        task, draft, id="qa_" + digest(audio_id, task.name, draft.question, draft.answer), answer=draft.answer,
        canonical_answer=draft.canonical, answer_meta=draft.meta, language="en", extra=extra,
    )  # fmt: skip
