"""Labels to questions: items in the style of SO-Bench from event tables, one small function per task.

Only questions with one right answer are asked: a class, a direction or a moment must single out one event,
and differences must exceed :class:`Margins`. What is skipped is counted by its reason.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

import pyarrow as pa

from seldio.errors import UsageError
from seldio.questions import tasks_compare, tasks_detect, tasks_estimate, tasks_identify, tasks_reason
from seldio.questions.base import Draft, Task
from seldio.questions.cutting import last_window, recording_frames, scenes
from seldio.questions.margins import Margins
from seldio.questions.mix import SO_BENCH, select, targets
from seldio.questions.scene import Scene, digest
from seldio.questions.wording import Say, chance
from seldio.schema.qa import Item

__all__ = [
    "AUDIO", "DEFAULTS", "REFUSED", "SILENT", "SO_BENCH", "TASKS", "Generated", "Margins", "generate", "select",
    "stream", "targets",
]  # fmt: skip


class Entry(NamedTuple):
    """A task: its function and the class of its questions."""

    ask: Task
    question_class: str


#: All tasks that labels can answer, by name, in the order in which a clip's items come.
TASKS: dict[str, Entry] = {
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
#: The reason counted for windows in which nothing sounds; their task is ``*``.
SILENT = "nothing sounds in the window"
#: The margins where none are given.
DEFAULTS = Margins()
#: Where items look for their audio: that of the recording, beside ``metadata_dev``.
AUDIO = "{path}.wav"
#: Seconds; SO-Bench's clips are no longer.
LONGEST = 20.0


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


def stream(
    table: pa.Table,
    *,
    seed: int,
    skipped: Counter[tuple[str, str]],
    tasks: Collection[str] | None = None,
    window: float = LONGEST,
    hop: float = LONGEST,
    margins: Margins = DEFAULTS,
    audio_pattern: str = AUDIO,
    split: str = "test",
) -> Iterator[Item]:
    """The items of :func:`generate` one by one, before any selection; *skipped* is counted up on the way."""
    chosen = _chosen(tasks)
    length, step = _frames("window", window), _frames("hop", hop)
    if length > 10 * LONGEST:
        raise UsageError(f"a window is at most {LONGEST:g} s long, as the clips of SO-Bench; not {window:g}")
    if "frame" not in table.column_names or table["frame"].null_count:
        raise UsageError("questions need label frames: convert the labels to a layout that has them")
    silent = _windows(table, length, step)
    for scene in scenes(table, margins, length, step):
        silent -= 1
        audio, luck = [_audio(audio_pattern, scene, split)], chance(seed, scene.audio_id)
        for task in chosen:
            yield from _items(scene, task, margins, luck, audio, split, skipped)
    if silent:
        skipped["*", SILENT] += silent


def _items(
    scene: Scene, task: str, margins: Margins, luck: int, audio: list[str], split: str,
    skipped: Counter[tuple[str, str]],
) -> Iterator[Item]:  # fmt: skip
    """The items of one task about one clip."""
    entry = TASKS[task]
    extra = {"question_class": entry.question_class, "answer_format": "structured_text", "audio_id": scene.audio_id}
    for draft in entry.ask(scene, margins, Say(luck, task)):
        if isinstance(draft, str):
            skipped[task, draft] += 1
        else:
            yield _item(scene, task, draft, audio, split, extra)


def _item(scene: Scene, task: str, draft: Draft, audio: list[str], split: str, extra: dict[str, str]) -> Item:
    return Item.model_validate(
        {
            "id": "qa_" + digest(scene.audio_id, task, draft.question, draft.answer),
            "audio": audio,
            "start": scene.start,
            "end": scene.end,
            "task": task,
            "question": draft.question,
            "answer": draft.answer,
            "canonical_answer": draft.canonical,
            "answer_meta": draft.meta,
            "language": "en",
            "split": split,
            "events": [scene.proof(event) for event in draft.events],
            "extra": extra,
        }
    )


def _chosen(tasks: Collection[str] | None) -> list[str]:
    """The tasks asked for, in the order of the table."""
    wanted = set(TASKS if tasks is None else tasks)
    for task in sorted(wanted - set(TASKS)):
        reason = REFUSED.get(task)
        raise UsageError(f"{task}: {reason}" if reason else f"no task {task!r}; there are {', '.join(TASKS)}")
    return [task for task in TASKS if task in wanted]


def _frames(option: str, seconds: float) -> int:
    """Seconds in label frames; whole ones, at least one."""
    frames = round(seconds * 10) if math.isfinite(seconds) else 0
    if frames < 1 or abs(frames - seconds * 10) > 1e-6:
        raise UsageError(f"{option} is a multiple of 0.1 s above 0, not {seconds!r}")
    return frames


def _windows(table: pa.Table, window: int, hop: int) -> int:
    """How many windows the recordings of *table* have."""
    return sum(int(last_window(frames, window, hop)) + 1 for frames in recording_frames(table).values() if frames)


def _audio(pattern: str, scene: Scene, split: str) -> str:
    """The path of a clip's audio."""
    path = scene.path.rsplit("/", 1)
    path[-1] = path[-1].rsplit(".", 1)[0] or path[-1]
    place = "/".join(path)
    place = "foa_" + place.removeprefix("metadata_") if place.startswith("metadata_") else place
    try:
        return pattern.format(audio_id=scene.audio_id, clip=scene.clip, split=split, path=place)
    except (KeyError, IndexError, ValueError) as error:
        raise UsageError(f"{pattern!r} may hold {{audio_id}}, {{clip}}, {{split}} and {{path}}: {error}") from error
