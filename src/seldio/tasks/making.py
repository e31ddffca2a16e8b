"""Questions about a table of labels, made and chosen in one go."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection

import pyarrow as pa

from seldio.schema.qa import Item
from seldio.tasks.english import stream
from seldio.tasks.generation import AUDIO, LONGEST
from seldio.tasks.margins import DEFAULTS, Margins
from seldio.tasks.mix import select
from seldio.tasks.wordings import Code


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
    return Generated(select(list(items), seed, per_task=per_task, balance=balance, skipped=skipped), skipped)
