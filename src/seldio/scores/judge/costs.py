"""What judging took: calls and tokens."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable

from seldio.reports.tables import Cell, Column, Notice, Table
from seldio.scores.judge.messages import Reply
from seldio.text import clipped, listed, plural


@dataclasses.dataclass
class JudgeTally:
    """Counts of a run."""

    asked: int = 0  # requests
    cached: int = 0  # of these, those whose reply was in the cache
    repeated: int = 0  # those that were word for word the same as one before, and sent once
    verdicts: int = 0  # those with a verdict
    no_verdict: int = 0  # those with a reply that could not be read
    failed: int = 0  # those that the server did not answer
    calls: int = 0  # to the server that came back with a reply
    tokens_in: int = 0  # sent, as the server counts
    tokens_out: int = 0  # received
    uncounted: int = 0  # calls for which the server did not count tokens
    #: how often which model replied, by the name that the server gave
    models: Counter[str] = dataclasses.field(default_factory=Counter)
    refused: Counter[str] = dataclasses.field(default_factory=Counter)  # why replies were none, and how often
    errors: Counter[str] = dataclasses.field(default_factory=Counter)  # why there was no reply, and how often

    def add(self, replies: Iterable[Reply]) -> None:
        """Count what came back."""
        for reply in replies:
            self.asked += 1
            self.cached += reply.cached
            self.failed += reply.failed
            self.verdicts += reply.verdict is not None
            self.no_verdict += reply.verdict is None and not reply.failed
            if reply.model is not None:
                self.models[reply.model] += 1
            if reply.error is not None:
                (self.errors if reply.failed else self.refused)[reply.error] += 1

    def table(self) -> Table:
        """The counts, for a report."""
        rows: list[tuple[Cell, ...]] = [
            (name, getattr(self, name))
            for name in (
                "asked", "cached", "repeated", "verdicts", "no_verdict", "failed", "calls", "tokens_in", "tokens_out",
                "uncounted",
            )
        ]  # fmt: skip
        rows += [(f"replied by {clipped(name)}", number) for name, number in sorted(self.models.items())]
        for reasons, what in ((self.refused, "no verdict"), (self.errors, "no reply")):
            rows += [(f"{what}: {clipped(why, 120)}", number) for why, number in reasons.most_common(5)]
        columns = (Column("what", "what"), Column("count", "count", digits=4))
        return Table("judge", "what judging took", columns, tuple(rows))

    def notices(self) -> tuple[Notice, ...]:
        """How many replies were refused, and why."""
        return refused(self.refused, self.asked - self.failed)

    def __str__(self) -> str:
        parts = [f"{plural(self.asked, 'request')}: {self.verdicts:,} with a verdict"]
        parts += [
            f"{number:,} {name}"
            for number, name in (
                (self.no_verdict, "without"), (self.failed, "failed"), (self.cached, "from the cache"),
                (self.repeated, "repeated"),
            )
            if number
        ]  # fmt: skip
        parts.append(f"{plural(self.calls, 'call')}, {self.tokens_in:,} tokens in, {self.tokens_out:,} out")
        if self.uncounted:
            parts.append(f"tokens of {plural(self.uncounted, 'call')} not counted by the server")
        return ", ".join(parts)


def refused(reasons: Counter[str], replies: int) -> tuple[Notice, ...]:
    """What to know before the numbers where some *replies* of a judge give no verdict."""
    if not reasons:
        return ()
    shown = listed([f"{clipped(why, 90)} ({number:,})" for why, number in reasons.most_common(3)], 3, len(reasons))
    verb = "reply of the judge was" if replies == 1 else "replies of the judge were"
    gives = "gives" if replies == 1 else "give"
    text = f"{reasons.total():,} of {replies:,} {verb} refused and {gives} no verdict: {shown}"
    return (Notice("refused-replies", text, grave=True, first=True),)


@dataclasses.dataclass(frozen=True)
class JudgePlan:
    """What a run would take (``--dry-run``)."""

    requests: int  # all
    cached: int  # whose reply is in the cache
    calls: int  # to be made, if every reply is good at once
    tokens_in: int  # estimated: a token for each four bytes of UTF-8
    tokens_out: int  # at most

    def __str__(self) -> str:
        return (
            f"{plural(self.requests, 'request')}, {self.cached:,} of them in the cache: {plural(self.calls, 'call')}, "
            f"about {self.tokens_in:,} tokens in, at most {self.tokens_out:,} out"
        )
