"""What makers of questions in all languages share: which tasks, the clips one by one, and where their audio is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Generic, NamedTuple, Required, TypedDict, TypeVar

import pyarrow as pa

from seldio.errors import UsageError
from seldio.schema.qa import Item
from seldio.tasks.cutting import last_window, recording_frames, scenes
from seldio.tasks.margins import Margins
from seldio.tasks.scene import Scene
from seldio.tasks.wording import Say, chance

View = TypeVar("View")
Made = TypeVar("Made")

#: The reason counted for windows in which nothing sounds; their task is ``*``.
SILENT = "nothing sounds in the window"
#: The margins where none are given.
DEFAULTS = Margins()
#: Where items look for their audio: that of the recording, beside ``metadata_dev``.
AUDIO = "{path}.wav"
#: Seconds; the clips of SO-Bench and of ruEnvAQA are no longer.
LONGEST = 20.0


class Entry(NamedTuple, Generic[View, Made]):
    """A task: its function and the class of its questions.

    The function looks at a clip and yields drafts and, for each candidate that it skips, the reason.
    """

    ask: Callable[[View, Margins, Say], Iterator[Made | str]]
    question_class: str


class Place(NamedTuple):
    """Which clip an item is about: the scene, the path of its audio, and the split."""

    scene: Scene
    audio: list[str]
    split: str


class Options(TypedDict, total=False):
    """What :func:`ask_all` is told beside the tasks; see :func:`seldio.tasks.generate`."""

    seed: Required[int]
    skipped: Required[Counter[tuple[str, str]]]
    tasks: Collection[str] | None
    window: float
    hop: float
    margins: Margins
    audio_pattern: str
    split: str


def chosen_tasks(tasks: Collection[str] | None, known: Collection[str], refused: Mapping[str, str]) -> list[str]:
    """The tasks asked for, in the order of *known*.

    Raises:
        UsageError: a task that does not exist or is refused.
    """
    wanted = set(known if tasks is None else tasks)
    for task in sorted(wanted - set(known)):
        reason = refused.get(task)
        raise UsageError(f"{task}: {reason}" if reason else f"no task {task!r}; there are {', '.join(known)}")
    return [task for task in known if task in wanted]


def ask_all(
    table: pa.Table,
    known: Mapping[str, Entry[View, Made]],
    refused: Mapping[str, str],
    look: Callable[[Scene], View],
    make: Callable[[Place, str, Made], Item],
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
    """The items of *tasks* about all clips of *table*, one by one; *skipped* is counted up on the way.

    Args:
        table: as for :func:`seldio.tasks.generate`, like the keywords.
        known: all tasks, in the order in which a clip's items come.
        refused: tasks that labels cannot answer, with the reason.
        look: makes of a clip what the tasks look at.
        make: makes the item of a draft.

    Raises:
        UsageError: a task that does not exist or is refused, a window that cannot be, a table without frames, or a
            wrong *audio_pattern*.
    """
    wanted = {task: known[task] for task in chosen_tasks(tasks, known, refused)}
    length, step = _frames("window", window), _frames("hop", hop)
    if length > 10 * LONGEST:
        raise UsageError(f"a window is at most {LONGEST:g} s long, as the clips of the benchmarks; not {window:g}")
    if "frame" not in table.column_names or table["frame"].null_count:
        raise UsageError("questions need label frames: convert the labels to a layout that has them")

    def items() -> Iterator[Item]:
        silent = _windows(table, length, step)
        for scene in scenes(table, margins, length, step):
            silent -= 1
            place = Place(scene, [_audio(audio_pattern, scene, split)], split)
            luck, view = chance(seed, scene.audio_id), look(scene)
            for task, entry in wanted.items():
                for draft in entry.ask(view, margins, Say(luck, task)):
                    if isinstance(draft, str):
                        skipped[task, draft] += 1
                    else:
                        yield make(place, task, draft)
        if silent:
            skipped["*", SILENT] += silent

    return items()


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
