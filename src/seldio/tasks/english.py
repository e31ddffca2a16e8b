"""The tasks of SO-Bench, one record each, and items of them from labels, in English or Russian."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import Any

import pyarrow as pa

from seldio.schema.qa import Item
from seldio.tasks import detect, reasoning
from seldio.tasks.generation import AUDIO, LONGEST, ItemPlace, ask_all
from seldio.tasks.margins import DEFAULTS, Margins
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


def stream(table: pa.Table, *, language: Code = "en", **options: Any) -> Iterator[Item]:
    """Yield the items of :func:`seldio.tasks.generate` one by one, before any selection; *skipped* is counted up."""
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
    split: str | None = None,
    language: Code = "en",
) -> Generated:
    """Return items about the labels in *table*, and what was skipped.

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
        per_task: maximum number of items of a task.
        balance: the proportions of SO-Bench, see :func:`targets`, and answers that cannot be guessed from the text;
            what is left out for that is counted as skipped.
        audio_pattern: path of the audio, with ``{audio_id}``, ``{clip}``, ``{split}`` or ``{path}`` (the label
            file's path below its root without suffix, ``metadata_`` in front being ``foa_``).
        split: of the items; by default that of each recording, as the folder of its labels or its name tells it, and
            ``test`` where neither does.
        language: of questions and answers: ``en`` or ``ru``, about the same moments and with the same canonical
            answers; in Russian, what names a class without a Russian name is counted as skipped.

    Returns:
        The items by recording, clip and task, and what was skipped.

    Raises:
        UsageError: a task that does not exist or is refused, or a window that cannot be.
    """
    skipped: Counter[tuple[str, str]] = Counter()
    items = stream(
        table, seed=seed, tasks=tasks, window=window, hop=hop, margins=margins, audio_pattern=audio_pattern,
        split=split, language=language, skipped=skipped,
    )  # fmt: skip
    from seldio.tasks.mix import select

    return Generated(select(list(items), seed, per_task=per_task, balance=balance, skipped=skipped), skipped)
