"""What we ask about our recordings beyond what SO-Bench asks."""

from __future__ import annotations

from collections.abc import Iterator

from seldio.tasks.margins import Margins
from seldio.tasks.scene import Scene
from seldio.tasks.task import CLOSE, NO_META, READ_SOURCE, Draft, Say, Task, Wording


def first_source(scene: Scene, margins: Margins, say: Say) -> Iterator[Draft | str]:
    """What is heard first, where nothing else begins soon after it."""
    first, *others = sorted(scene.events, key=lambda event: event.first)
    if any(event.first < first.first + margins.frames for event in others):
        yield CLOSE
    else:
        answer = f"The {first.name.spoken} {first.name.verb} heard first."
        yield Draft(say.ask(), answer, first.name.plain, NO_META, (first,))


TASKS = (
    Task(
        name="first_source", question_class="detect", weight=100, candidates=first_source,
        answer="source", read="source", metric="source_semantic_llm", ask=READ_SOURCE,
        wordings=(Wording(("Which sound is heard first?", "What does the clip begin with?"), ("Name the sound.", "")),),
    ),
)  # fmt: skip
