"""The report that every conversion returns, and its text."""

from __future__ import annotations

import dataclasses
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from seldio import formats
from seldio.findings import Finding
from seldio.text import Displayed, listed, plural, printable

#: Columns of a report of questions.
WIDTH = 110
#: Reasons for skipping a candidate that a report in brief names.
_MOST = 3
#: Questions that are named of those that are left out for one reason.
_LISTED = 20


@dataclasses.dataclass(frozen=True, repr=False)
class Conversion(Displayed):
    """The result of a conversion.

    Args:
        formats: of the source.
        target: the format written.
        files: label files, or files of questions, that were read.
        written: paths of the files written, in their order; ``-`` for a stream.
        clips: clips in the source, silent ones included; of questions how many there are.
        rows: rows read and rows written.
        losses: fields that were lost, as allowed, with what of them.
        notes: what changed without a loss.
        findings: warnings and remarks met while reading, and errors that were forced.
        dropped: ids of questions that were left out because the target cannot hold them, with the reason.
    """

    formats: tuple[str, ...]
    target: str
    files: int
    written: tuple[str, ...]
    clips: int
    rows: tuple[int, int]
    losses: Mapping[str, str] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values, for JSON."""
        return dataclasses.asdict(self) | {"findings": [finding.as_dict() for finding in self.findings]}

    @property
    def names(self) -> str:
        """The formats of the source and that of the target, in words."""
        return f"{' and '.join(dict.fromkeys(self.formats))} to {self.target}"

    def brief(self) -> Iterator[str]:
        """Yield the summary in short."""
        return self.lines()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        read, written = self.rows
        noun = "clip" if formats.of_questions(self.target) is None else "question"
        rows = plural(read, "row") + (f" became {written:,}" if read != written else "")
        where = "" if self.written == ("-",) else f" in {plural(len(self.written), 'file')}"
        yield f"{self.names}: {plural(self.clips, noun)}, {rows}{where}"
        yield from (f"  lost as allowed: {field} ({what})" for field, what in self.losses.items())
        reasons: dict[str, list[str]] = {}
        for id, why in self.dropped:
            reasons.setdefault(why, []).append(id)
        if len(reasons) > _LISTED:
            yield f"  left out: {plural(len(self.dropped), 'row')} for {len(reasons):,} reasons; --json lists all"
        for why, ids in list(reasons.items())[:_LISTED]:
            more = "; --json lists all" if len(ids) > _LISTED else ""
            yield f"  left out: {plural(len(ids), 'row')}, {why} ({listed(ids, _LISTED)}{more})"
        yield from (f"  {note}" for note in self.notes)
        yield from (f"  {finding}" for finding in self.findings)


#: What a model hears of clips that are asked about: what was cut out, whole recordings, or nothing.
SoundOfQuestions = Literal["cut", "whole", "absent"]


@dataclasses.dataclass(frozen=True, repr=False, kw_only=True)
class QuestionsMade(Conversion):
    """The questions asked about labels, and those skipped; ``clips`` are recordings."""

    asked: Mapping[str, int]  # questions with one right answer, by task
    kept: Mapping[str, int]  # those of them that were chosen and written
    #: candidates without one right answer, by task (``*``: whole clips) and reason
    skipped: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]  # tasks that labels cannot answer, with the reason
    #: what the target has no place for, what was odd about the audio, and tasks of which nothing is left
    remarks: tuple[str, ...] = ()
    sound: SoundOfQuestions = "absent"

    def brief(self) -> Iterator[str]:
        """Yield how many questions of each task, and the reasons for which most candidates were skipped."""
        yield self._headline
        counts = (f"{task}\xa0{self.kept.get(task, 0):,}" for task in self.asked)  # a name keeps its number
        yield from (line.replace("\xa0", " ") for line in _wrapped("  by task: ", ", ".join(counts)))
        reasons = Counter[str]()
        for skipped in self.skipped.values():
            reasons.update(skipped)
        if reasons:
            most = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
            shown = [f"{number:,} {reason}" for reason, number in most[:_MOST]]
            more = [f"{sum(number for _, number in most[_MOST:]):,} for other reasons"] if most[_MOST:] else []
            yield from _wrapped("  skipped: ", "; ".join([*shown, *more]))
        yield "  --details lists what was asked and skipped, and why, task by task"
        yield from (f"  {line}" for remark in self.remarks for line in textwrap.wrap(remark, WIDTH))

    def lines(self) -> Iterator[str]:
        """Yield a row for each task, what was skipped by reason, and what cannot be asked."""
        yield self._headline
        yield from (f"  {line}" for line in self._table())

    @property
    def _headline(self) -> str:
        where = "" if self.written == ("-",) else f", in {self.written[0]}"
        where += " with the clips in audio/" if self.sound == "cut" else ""
        about = plural(self.clips, "recording") + " (audio not found)" * (self.sound == "absent")
        return f"{self.names}: {plural(self.rows[1], 'question')} about {about}{where}"

    def _table(self) -> Iterator[str]:
        chosen = self.kept != self.asked
        wide = max(map(len, (*self.asked, *self.refused, "(whole clips)"))) + 1

        def head(name: str, asked: str, written: str) -> str:
            return f"{name:<{wide}}{asked:>8}" + f"{written:>9}" * chosen + "  "

        yield head("task", "asked", "written") + "skipped, by reason"
        for task in [*self.asked, *(["*"] if "*" in self.skipped else [])]:
            counts = f"{self.asked.get(task, 0):,}", f"{self.kept.get(task, 0):,}"
            begin = head("(whole clips)", "", "") if task == "*" else head(task, *counts)
            reasons = sorted(self.skipped.get(task, {}).items(), key=lambda pair: (-pair[1], pair[0]))
            yield from _wrapped(begin, "; ".join(f"{number:,} {reason}" for reason, number in reasons))
        for task, reason in self.refused.items():
            yield from _wrapped(head(task, "-", "-"), f"never asked: {reason}")
        yield from (line for remark in self.remarks for line in textwrap.wrap(remark, WIDTH))


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)) or [head.rstrip()]
