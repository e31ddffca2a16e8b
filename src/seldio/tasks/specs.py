"""What is known of tasks without making questions: how answers to them are read, scored and judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal

from seldio import plugins
from seldio.tasks.margins import DEFAULTS, Margins

#: What the answer of a task is.
Answer = Literal[
    "number", "interval", "source", "relation", "motion", "source and direction", "speech", "choice"
]  # fmt: skip
#: What a judge is to do with an answer that is one source.
READ_SOURCE = "Read the sound that is given as the answer into primary_source; decide the source fields."
_READ_RELATION = "Read the relation of the two sounds; decide relation_match."


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """All that readers, scores and judges know of a task.

    Args:
        name: as ``task_name`` has it.
        question_class: the group of its questions.
        weight: its share where questions are chosen; in SO-Bench how many of the 7,877 published ones are of it.
        spatial: whether it takes directions or distances to answer, which a recording of one channel does not hold.
        language: that it is asked in: ``en`` is in the style of SO-Bench, ``ru`` in that of ruEnvAQA.
        refused: why labels cannot answer it, where they cannot.
        answer: what its answer is.
        read: what reads an answer without a judge: a name among ``QUANTITIES`` of :mod:`seldio.answers.measures`
            or ``READERS`` of :mod:`seldio.answers.extract`, or a function of a question, its plain answer and the known
            names; None where only a judge can.
        metric: what the official program calls its measure.
        ask: what a judge has to read out of an answer, and to decide; empty where none is asked.
        truth: the key of ``answer_meta`` that it is scored by.
        field: where a judgement has the same of a prediction.
        error: the key of an outcome that holds how far off a prediction is.
        threshold: the name of its limit in a profile.
        unit: of error and limit.
        hidden: what of the reference a judge is not shown, since it reads that out of the answer itself.

    Raises:
        ValueError: a task without a weight.
    """

    name: str
    question_class: str
    weight: int
    spatial: bool = False
    language: Literal["en", "ru"] = "en"
    refused: str = ""
    answer: Answer = "choice"
    read: str | Callable[..., Any] | None = None
    metric: str = "normalized_exact_match"
    ask: str = ""
    truth: str | None = None
    field: str | None = None
    error: str | None = None
    threshold: str | None = None
    unit: str = ""
    hidden: Literal["", "times", "all"] = ""

    def __post_init__(self) -> None:
        if self.weight < 1:
            raise ValueError(f"the weight of {self.name} is {self.weight}; it is at least 1")


_SPECS = (
    TaskSpec(
        name="detect_time", question_class="detect", weight=667, answer="interval", read="interval",
        metric="time_span_iou_llm_extract", hidden="all", truth="time_span", field="time_span", error="interval_iou",
        ask="Read the interval in which the asked sound is heard into time_span.",
    ),
    TaskSpec(
        name="detect_source", question_class="detect", weight=667, answer="source", read="sources",
        metric="source_semantic_llm", hidden="times",
        ask="List the sounds in sources, and the interval in time_span where there is one sound only; decide the "
        "source fields by the names alone. The reference does not show its times.",
    ),
    TaskSpec(
        name="estimate_azimuth", question_class="azimuth", weight=1152, spatial=True, answer="number", read="azimuth",
        metric="er20_azimuth_llm_extract", hidden="all", truth="azimuth_deg", field="angle_deg", error="doaerr_deg",
        threshold="azimuth", unit="°",
        ask="Read the azimuth into angle_deg.",
    ),
    TaskSpec(
        name="estimate_elevation", question_class="elevation", weight=1153, spatial=True, answer="number",
        read="elevation", metric="er10_elevation_llm_extract", hidden="all", truth="elevation_deg",
        field="elevation_deg", error="doaerr_deg", threshold="elevation", unit="°",
        ask="Read the elevation into elevation_deg. An azimuth goes into angle_deg, never in its place.",
    ),
    TaskSpec(
        name="estimate_distance", question_class="distance", weight=486, spatial=True, answer="number", read="distance",
        metric="distance_threshold_llm_extract", hidden="all", truth="distance_m", field="distance_m",
        error="distance_error_m", threshold="distance", unit="m",
        ask="Read the distance into distance_m. Words like near or far are not distances.",
    ),
    TaskSpec(
        name="identify_source_by_doa", question_class="detect", weight=667, spatial=True, answer="source",
        read="source", metric="source_semantic_llm",
        ask=READ_SOURCE,
    ),
    TaskSpec(
        name="identify_source_by_location", question_class="detect", weight=666, spatial=True, answer="source",
        read="source", metric="source_semantic_llm",
        ask=READ_SOURCE,
    ),
    TaskSpec(
        name="onset_from_location", question_class="detect", weight=487, spatial=True, answer="number", read="onset",
        metric="onset_threshold_llm_extract", hidden="all", truth="onset_time", field="onset_time_s",
        error="time_error_s", threshold="onset", unit="s",
        ask="Read the moment at which the sound begins into onset_time_s.",
    ),
    TaskSpec(
        name="multi_hop", question_class="reasoning", weight=333, spatial=True, answer="source", read="source",
        metric="source_semantic_llm",
        ask=READ_SOURCE,
    ),
    TaskSpec(
        name="spatial_temporal", question_class="reasoning", weight=333, spatial=True, answer="source and direction",
        read="source and direction", metric="source_direction_time_llm", hidden="times", truth="time_span",
        field="time_span", error="interval_iou",
        ask="Read the sound, its direction and its interval; decide the source fields and direction_match. Every part "
        "of the reference's direction must be there. The reference does not show its times.",
    ),
    TaskSpec(
        name="compare_elevation", question_class="elevation", weight=333, spatial=True, answer="relation",
        read="comparison", metric="relation_semantic_llm",
        ask=_READ_RELATION,
    ),
    TaskSpec(
        name="compare_distance", question_class="distance", weight=333, spatial=True, answer="relation",
        read="comparison", metric="relation_semantic_llm",
        ask=_READ_RELATION,
    ),
    TaskSpec(
        name="relative_left_right", question_class="reasoning", weight=333, spatial=True, answer="relation",
        read="side", metric="relation_semantic_llm",
        ask=_READ_RELATION,
    ),
    TaskSpec(
        name="classify_motion", question_class="motion", weight=62, spatial=True, answer="motion", read="motion",
        metric="motion_semantic_llm",
        ask="Read the motion into motion_label and decide motion_match.",
    ),
    TaskSpec(
        name="count_sources", question_class="detect", weight=34, answer="number", read="count",
        metric="integer_exact_llm_extract", hidden="all", truth="active_count", field="count",
        ask="Read the number of sources into count.",
    ),
    TaskSpec(
        name="speech_content", question_class="reasoning", weight=171, answer="speech", metric="speech_wer",
        refused="labels tell that somebody speaks, not the words",
    ),
)  # fmt: skip
#: All of SO-Bench, the most frequent first; the groups of the last few are not published and follow their names.
PUBLISHED = {spec.name: spec for spec in sorted(_SPECS, key=lambda spec: spec.weight, reverse=True)}
#: Questions of each task in SO-Bench as published.
COUNTS = {name: spec.weight for name, spec in PUBLISHED.items()}


@dataclasses.dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """What to ask about labels."""

    seed: int = 0  # another one asks in other words and chooses other items
    tasks: Sequence[str] | None = None  # only these; all if not given
    window: float = 20.0  # seconds of a clip, at most 20
    hop: float | None = None  # seconds from clip to clip; the window if not given
    margins: Margins = DEFAULTS  # what must differ by how much
    split: str | None = None  # written into each item; that of its recording if not given
    per_task: int | None = None  # at most so many of a task
    balance: bool = False  # the proportions of SO-Bench, and answers that the text does not give away
    total: int | None = None  # so many in all; see :func:`seldio.tasks.mix.targets`
    audio: bool = False  # whether the sound of the clips is cut out and written beside the items
    force: bool = False  # whether labels in which there are errors are asked about too

    @property
    def selects(self) -> bool:
        """Whether not all items are kept."""
        return self.balance or self.per_task is not None or self.total is not None

    def options(self) -> dict[str, Any]:
        """The keyword arguments of :func:`seldio.tasks.stream`."""
        hop = self.window if self.hop is None else self.hop
        tasks = None if self.tasks is None else tuple(self.tasks)
        return {
            "seed": self.seed, "tasks": tasks, "window": self.window, "hop": hop, "margins": self.margins,
            "split": self.split,
        }  # fmt: skip


#: Those of SO-Bench, and tasks of one's own; the last of this module, which the modules of these import.
KNOWN = PUBLISHED | {spec.name: spec for spec in plugins.rows("tasks", TaskSpec) if spec.language == "en"}
#: Those that labels can answer, in the order in which a clip's items come; tasks of one's own after those of SO-Bench.
ASKED = tuple(name for name in {spec.name: spec for spec in _SPECS} | KNOWN if not KNOWN[name].refused)
#: Those whose answer is the name of a sound.
SOURCE_TASKS = tuple(spec.name for spec in KNOWN.values() if spec.answer == "source")
