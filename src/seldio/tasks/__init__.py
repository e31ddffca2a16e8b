"""Labels to questions: items in the style of SO-Bench from event tables, one small function per task.

Only questions with one right answer are asked: a class, a direction or a moment must single out one event,
and differences must exceed :class:`Margins`. What is skipped is counted by its reason.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Unpack

import pyarrow as pa

from seldio.schema.qa import Item, trusted
from seldio.tasks import tasks_compare, tasks_detect, tasks_estimate, tasks_identify, tasks_reason
from seldio.tasks.asking import AUDIO, DEFAULTS, LONGEST, SILENT, Entry, Options, Place, ask_all
from seldio.tasks.base import Draft
from seldio.tasks.margins import Margins
from seldio.tasks.mix import SO_BENCH, select, targets
from seldio.tasks.scene import Scene, digest

__all__ = [
    "AUDIO", "DEFAULTS", "REFUSED", "SILENT", "SO_BENCH", "TASKS", "Generated", "Margins", "generate", "select",
    "stream", "targets",
]  # fmt: skip


#: All tasks that labels can answer, by name, in the order in which a clip's items come.
TASKS: dict[str, Entry[Scene, Draft]] = {
    "detect_time": Entry(tasks_detect.detect_time, "detect"),
    "detect_source": Entry(tasks_detect.detect_source, "detect"),
    "estimate_azimuth": Entry(tasks_estimate.estimate_azimuth, "azimuth"),
    "estimate_elevation": Entry(tasks_estimate.estimate_elevation, "elevation"),
    "estimate_distance": Entry(tasks_estimate.estimate_distance, "distance"),
    "identify_source_by_doa": Entry(tasks_identify.identify_source_by_doa, "detect"),
    "identify_source_by_location": Entry(tasks_identify.identify_source_by_location, "detect"),
    "onset_from_location": Entry(tasks_identify.onset_from_location, "detect"),
    "multi_hop": Entry(tasks_reason.multi_hop, "reasoning"),
    "spatial_temporal": Entry(tasks_reason.spatial_temporal, "reasoning"),
    "compare_elevation": Entry(tasks_compare.compare_elevation, "elevation"),
    "compare_distance": Entry(tasks_compare.compare_distance, "distance"),
    "relative_left_right": Entry(tasks_compare.relative_left_right, "reasoning"),
    "classify_motion": Entry(tasks_reason.classify_motion, "motion"),
    "count_sources": Entry(tasks_detect.count_sources, "detect"),
}
#: Tasks that labels cannot answer, with the reason.
REFUSED = {"speech_content": "labels tell that somebody speaks, not the words"}


@dataclasses.dataclass(frozen=True)
class Generated:
    """Items, and how many candidates of each task were skipped for which reason."""

    items: list[Item]
    skipped: Counter[tuple[str, str]]


def generate(
    table: pa.Table,
    *,
    seed: int,
    tasks: Collection[str] | None = None,
    window: float = LONGEST,
    hop: float = LONGEST,
    margins: Margins = DEFAULTS,
    per_task: int | None = None,
    balance: bool = False,
    audio_pattern: str = AUDIO,
    split: str = "test",
) -> Generated:
    """Items about the labels in *table*.

    The items of a recording depend on its name, its labels and the options alone, so that shards may be made
    apart and put together; then *per_task* and *balance*, which look at all items, are for :func:`select`.

    Args:
        table: an event table with ``clip`` and ``frame`` (100 ms), in any row order; angles in degrees,
            azimuth positive to the left, distances in metres.
        seed: chooses wordings, moments, orders of pairs and, with *per_task* or *balance*, items.
        tasks: names of ``TASKS``; all by default.
        window: seconds of a clip, at most 20; recordings are cut into such clips.
        hop: seconds from the start of one clip to the start of the next.
        margins: what must differ by how much.
        per_task: at most so many items of a task.
        balance: the proportions of SO-Bench, and even answers; see :func:`targets`.
        audio_pattern: path of the audio, with ``{audio_id}``, ``{clip}``, ``{split}`` or ``{path}`` (the label
            file's path below its root without suffix, ``metadata_`` in front being ``foa_``).
        split: of the items.

    Returns:
        The items by recording, clip and task, and what was skipped.

    Raises:
        UsageError: a task that does not exist or is refused, or a window that cannot be.
    """
    skipped: Counter[tuple[str, str]] = Counter()
    found = stream(
        table, seed=seed, tasks=tasks, window=window, hop=hop, margins=margins, audio_pattern=audio_pattern,
        split=split, skipped=skipped,
    )  # fmt: skip
    return Generated(select(list(found), seed, per_task=per_task, balance=balance), skipped)


def stream(table: pa.Table, **options: Unpack[Options]) -> Iterator[Item]:
    """The items of :func:`generate` one by one, before any selection; *skipped* is counted up on the way."""
    return ask_all(table, TASKS, REFUSED, _itself, _item, **options)


def _itself(scene: Scene) -> Scene:
    """What the tasks look at: the scene as it is."""
    return scene


def _item(place: Place, task: str, draft: Draft) -> Item:
    scene = place.scene
    return trusted(
        Item,
        {
            "id": "qa_" + digest(scene.audio_id, task, draft.question, draft.answer),
            "audio": place.audio,
            "start": scene.start,
            "end": scene.end,
            "task": task,
            "question": draft.question,
            "instruction": None,
            "options": None,
            "answer": draft.answer,
            "canonical_answer": draft.canonical,
            "answer_meta": draft.meta,
            "language": "en",
            "split": place.split,
            "dataset": None,
            "events": [scene.proof(event) for event in draft.events],
            "extra": {
                "question_class": TASKS[task].question_class,
                "answer_format": "structured_text",
                "audio_id": scene.audio_id,
            },
        },
    )
