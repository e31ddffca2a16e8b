"""A language model as judge: any server that speaks OpenAI's chat completions.

>>> from seldio.scores.judge import Judge
>>> judge = Judge("gpt-4o", "https://api.openai.com/v1", cache="judge.sqlite")   # doctest: +SKIP
>>> replies = judge.ask(requests)                                                # doctest: +SKIP
"""

from __future__ import annotations

from seldio.scores.judge.asking import Judge
from seldio.scores.judge.client import token_for
from seldio.scores.judge.imported import Judgement, read_judgements, write_judgements
from seldio.scores.judge.replies import Reply
from seldio.scores.judge.requests import ReplySchema, Request, make
from seldio.scores.judge.tally import Plan, Price, Tally

__all__ = [
    "Judge",
    "Judgement",
    "Plan",
    "Price",
    "Reply",
    "ReplySchema",
    "Request",
    "Tally",
    "make",
    "read_judgements",
    "token_for",
    "write_judgements",
]
