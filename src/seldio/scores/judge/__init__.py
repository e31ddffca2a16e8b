"""A language model as judge: any server that speaks OpenAI's chat completions.

>>> from seldio.scores.judge import Judge
>>> judge = Judge("gpt-4o", "https://api.openai.com/v1", cache="judge.sqlite")   # doctest: +SKIP
>>> replies = judge.ask(requests)                                                # doctest: +SKIP
"""

from __future__ import annotations

from seldio.scores.judge.judge import Judge, JudgePlan, JudgeTally, token_for
from seldio.scores.judge.messages import (
    Judgement,
    JudgeRequest,
    Reply,
    ReplySchema,
    make,
    read_judgements,
    write_judgements,
)

__all__ = [
    "Judge",
    "JudgePlan",
    "JudgeRequest",
    "JudgeTally",
    "Judgement",
    "Reply",
    "ReplySchema",
    "make",
    "read_judgements",
    "token_for",
    "write_judgements",
]
