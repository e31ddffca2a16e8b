"""What is to be asked about labels, and the report of what was."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seldio.conversion.sources import Conversion
from seldio.tasks import DEFAULTS
from seldio.tasks.margins import Margins
from seldio.text import plural

#: Columns of a report.
WIDTH = 110


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """What to ask about labels.

    Args:
        seed: another one asks in other words and chooses other items.
        tasks: only these; all if not given.
        window: seconds of a clip, at most 20.
        hop: seconds from clip to clip; the window if not given.
        margins: what must differ by how much.
        split: written into each item.
        per_task: at most so many of a task.
        balance: the proportions of SO-Bench, and even answers.
        total: so many in all; see :func:`seldio.tasks.mix.targets`.
        audio: whether the sound of the clips is cut out and written beside the items.
        force: whether labels in which there are errors are asked about too.
    """

    seed: int = 0
    tasks: Sequence[str] | None = None
    window: float = 20.0
    hop: float | None = None
    margins: Margins = DEFAULTS
    split: str = "test"
    per_task: int | None = None
    balance: bool = False
    total: int | None = None
    audio: bool = False
    force: bool = False

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


@dataclasses.dataclass(frozen=True)
class Asked(Conversion):
    """What was asked of labels, and what was not; ``clips`` are recordings.

    Args:
        asked: questions with one right answer, by task.
        kept: those of them that were chosen and written.
        skipped: candidates without one right answer, by task (``*``: whole clips) and reason.
        refused: tasks that labels cannot answer, with the reason.
        remarks: what the target has no place for, what was odd about the audio, and tasks of which nothing is left.
    """

    asked: Mapping[str, int]
    kept: Mapping[str, int]
    skipped: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]
    remarks: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The report for people: a row for each task, what was skipped by reason, and what cannot be asked."""
        names = " and ".join(dict.fromkeys(self.formats))
        where = "" if self.written == ("-",) else f", in {self.written[0]}"
        about = f"{plural(self.rows[1], 'question')} about {plural(self.clips, 'recording')}"
        yield f"{names} to {self.target}: {about}{where}"
        yield from (f"  {line}" for line in self._table())

    def _table(self) -> Iterator[str]:
        chosen = self.kept != self.asked
        wide = max(map(len, (*self.asked, *self.refused, "(whole clips)"))) + 1

        def head(name: str, asked: str, written: str) -> str:
            return f"{name:<{wide}}{asked:>8}" + f"{written:>9}" * chosen + "  "

        yield head("task", "asked", "written") + "skipped, by reason"
        for task in [*self.asked, *(["*"] if "*" in self.skipped else [])]:
            counts = ("(whole clips)", "", "") if task == "*" else (task, *self._counts(task))
            reasons = sorted(self.skipped.get(task, {}).items(), key=lambda pair: (-pair[1], pair[0]))
            yield from _wrapped(head(*counts), "; ".join(f"{number:,} {reason}" for reason, number in reasons))
        for task, reason in self.refused.items():
            yield from _wrapped(head(task, "-", "-"), f"never asked: {reason}")
        yield from (line for remark in self.remarks for line in textwrap.wrap(remark, WIDTH))

    def _counts(self, task: str) -> tuple[str, str]:
        return f"{self.asked[task]:,}", f"{self.kept.get(task, 0):,}"


def dropped(asked: Mapping[str, int], kept: Mapping[str, int]) -> Iterator[str]:
    """The remark on tasks that have questions of which none is written."""
    lost = {task: number for task, number in asked.items() if number and not kept.get(task)}
    if lost:
        named = ", ".join(f"{task} ({number:,} asked)" for task, number in lost.items())
        chosen = plural(sum(kept.values()), "question")
        yield (
            f"no question of {named} among the {chosen}: their share of the total is less than one; a greater --total "
            "or --per-task keeps some"
        )


def _wrapped(head: str, text: str) -> list[str]:
    """*text* behind *head*, in lines of at most ``WIDTH`` columns."""
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head.rstrip()]
