"""How answers to tasks are read, scored and judged, and options of questions: all that is known without making them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from typing import Literal

from seldio.benchmarks import benchmark
from seldio.errors import UsageError
from seldio.text import clipped

#: What the answer of a task is.
Answer = Literal["number", "interval", "source", "relation", "motion", "source and direction", "speech", "choice"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TaskSpec:
    """All that readers, scores and judges know of a task.

    Args:
        name: as ``task_name`` has it.
        question_class: the group of its questions.
        weight: its share where questions are chosen; in SO-Bench how many of the 7,877 published ones are of it.
        spatial: whether it takes directions or distances to answer, which a recording of one channel does not hold.
        refused: why labels cannot answer it, where they cannot.
        answer: what its answer is.
        read: what reads an answer without a judge: a name among ``QUANTITIES`` of :mod:`seldio.answers.measures`
            or ``READERS`` of :mod:`seldio.answers.extract`; None where only a judge can.
        metric: what the official program calls its measure.
        ask: what a judge has to read out of an answer, and to decide; empty where none is asked.
        truth: the key of ``answer_meta`` that it is scored by.
        field: where a judgement has the same of a prediction.
        error: the key of an outcome that holds how far off a prediction is.
        threshold: the name of its limit in a profile.
        unit: of error and limit.
        hidden: what of the reference a judge is not shown, since it reads that out of the answer itself.
    """

    name: str
    question_class: str
    weight: int
    spatial: bool = False
    refused: str = ""
    answer: Answer = "choice"
    read: str | None = None
    metric: str = "normalized_exact_match"
    ask: str = ""
    truth: str | None = None
    field: str | None = None
    error: str | None = None
    threshold: str | None = None
    unit: str = ""
    hidden: Literal["", "times", "all"] = ""


_NAMES = {field.name for field in dataclasses.fields(TaskSpec)}
_TASKS = benchmark("so-bench").tasks
_SPECS = tuple(TaskSpec(**{name: has[name] for name in _NAMES & has.keys()}) for has in _TASKS.values())
#: All of SO-Bench, the most frequent first; the groups of the last few are not published and follow their names.
PUBLISHED = {spec.name: spec for spec in sorted(_SPECS, key=lambda spec: spec.weight, reverse=True)}
#: Questions of each task in SO-Bench as published.
COUNTS = {name: spec.weight for name, spec in PUBLISHED.items()}
#: Those that labels can answer, in the order in which a clip's items come.
ASKED = tuple(spec.name for spec in _SPECS if not spec.refused)


# --- options of questions ---------------------------------------------------------------------------------------------
_UNITS: Mapping[str, str] = {
    "azimuth": "degrees", "elevation": "degrees", "metres": "metres", "seconds": "seconds", "shortest": "seconds",
    "still": "degrees", "moving": "degrees", "sector": "degrees",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Margins:
    """Differences below these are not asked about; the defaults follow the thresholds that SO-Bench scores by.

    Angles are degrees, distances metres, times seconds; ``frames`` is ``seconds`` in label frames, rounded up.

    Args:
        azimuth: two directions count as different, by place or as left and right, if they are farther apart.
        elevation: one of two sources is higher if their elevations differ by more.
        metres: one of two sources is closer if their distances differ by more; a source that approaches or recedes does
            so by more; one that keeps its distance varies by no more.
        seconds: nothing that matters changes for this long before and after a moment that is asked about; one of two
            times is later if they differ by at least this much.
        shortest: shorter events (within the clip, cut at its ends) are not asked about.
        still: a source that never leaves its mean direction by more is stationary.
        moving: a source that leaves its mean direction by more has moved; in between its motion is not asked about.
        sector: a direction closer to the edge of front-left, left and so on is neither called by that name nor counted
            as outside of it.
    """

    azimuth: float = 20.0
    elevation: float = 10.0
    metres: float = 0.5
    seconds: float = 0.5
    shortest: float = 0.3
    still: float = 5.0
    moving: float = 20.0
    sector: float = 5.0
    frames: int = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, unit in _UNITS.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise UsageError(f"the margin {name} is a number of {unit} from 0 up, not {value!r}")
            if unit == "degrees" and value >= 180:
                raise UsageError(f"the margin {name} is below 180 degrees, not {value!r}")
        if self.sector >= 22.5:
            raise UsageError("the margin sector is below 22.5 degrees: half of what front-left and the like span")
        if self.still > self.moving:
            raise UsageError(f"the margin still ({self.still:g}) is not above the margin moving ({self.moving:g})")
        object.__setattr__(self, "frames", math.ceil(round(self.seconds * 10, 6)))


#: The margins where none are given.
DEFAULTS = Margins()


def margins_of(values: Mapping[str, float]) -> Margins:
    """Return the margins with these *values* by name, and the defaults of the others."""
    for name in values:
        if name not in _UNITS:
            raise UsageError(f"unknown margin {clipped(name)}; choose from {', '.join(_UNITS)}")
    return Margins(**values)


@dataclasses.dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Options of questions about labels."""

    seed: int = 0  # another one asks in other words and chooses other items
    tasks: Collection[str] | None = None  # only these; all if not given
    window: float = 20.0  # seconds of a clip, at most 20
    hop: float | None = None  # seconds from clip to clip; the window if not given
    margins: Margins = DEFAULTS  # what must differ by how much
    split: str | None = None  # written into each item; that of its recording if not given
    per_task: int | None = None  # at most so many of a task
    balance: bool = False  # the proportions of SO-Bench, and no answer much more often right than by chance
    total: int | None = None  # so many in all; see :func:`seldio.tasks.mix.targets`
    audio: bool | None = None  # whether the sound of the clips is cut out where it is there, or arrays are computed
    force: bool = False  # whether labels in which there are errors are asked about too
    language: str | None = None  # of the questions; that of the target if not given

    @property
    def selects(self) -> bool:
        """Return whether some items may be left out."""
        return self.balance or self.per_task is not None or self.total is not None
