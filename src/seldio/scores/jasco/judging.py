"""Judgements put beside the outputs they are about: in the column ``llama3_extract``, as ``eval.py`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from seldio.errors import DataError
from seldio.schema.qa import Prediction
from seldio.scores.jasco.prompts import Vocabulary, as_text, key, request
from seldio.scores.judge import Judgement, Reply, Request
from seldio.text import clipped, listed, plural

#: The column of the judge's text, whichever model is the judge.
COLUMN = "llama3_extract"
_SILENT = {
    "rating_explanation": "there is no answer.", "rating": 0,
    "orientation_explanation": "there is no answer.", "orientation": "Neither",
}  # fmt: skip


def text_of(row: Prediction) -> str:
    """The judge's text on *row*; empty where there is none."""
    text = (row.extra or {}).get(COLUMN)
    return text if isinstance(text, str) else ""


def judged(
    rows: Sequence[Prediction],
    judge: Callable[[Sequence[Request]], Sequence[Reply]],
    vocabulary: Vocabulary = "Both",
) -> list[Prediction]:
    """*rows* with what a judge says about them; an answer that is empty is not sent: there is nothing to judge.

    Where the judge failed the column is empty; a reply that was refused is shown there, as no verdict.

    Args:
        rows: a model's outputs.
        judge: e.g. ``Judge(...).ask``.
        vocabulary: what the judge calls the orientation to both.
    """
    asked = [row for row in rows if _says_something(row)]
    replies = iter(judge([request(row, vocabulary) for row in asked]))
    texts = (_reply_text(next(replies)) if _says_something(row) else as_text(_SILENT) for row in rows)
    return [_with(row, text) for row, text in zip(rows, texts, strict=True)]


def with_judgements(rows: Sequence[Prediction], judgements: Mapping[str, Judgement]) -> list[Prediction]:
    """*rows* with judgements made elsewhere, by :func:`~seldio.scores.jasco.prompts.key`, e.g. ``17/3``.

    Rows without one keep the text they have.

    Raises:
        DataError: a judgement belongs to no row.
    """
    keys = [key(row) for row in rows]
    if strange := sorted(set(judgements) - set(keys)):
        raise DataError(
            f"{plural(len(strange), 'judgement')} of no prediction: {listed(strange)}. An id is that of the item and "
            "the number of the instruction, 1 to 8, e.g. 17/3"
        )
    return [_with(row, _text(judgements[id])) if id in judgements else row for id, row in zip(keys, rows, strict=True)]


def _says_something(row: Prediction) -> bool:
    return bool((row.prediction or "").strip())


def _reply_text(reply: Reply) -> str:
    """The verdict; without one a text that nobody can take for one: a refused reply is not read a second time."""
    if reply.verdict is not None:
        return as_text(reply.verdict)
    text = f"no verdict, {reply.error}; the reply was {clipped(reply.text, 200)}"
    return "" if reply.failed else text.replace(":", " ").replace("=", " ")


def _text(judgement: Judgement) -> str:
    return judgement if isinstance(judgement, str) else as_text(judgement)


def _with(row: Prediction, text: str) -> Prediction:
    return row.model_copy(update={"extra": {**(row.extra or {}), COLUMN: text}})
