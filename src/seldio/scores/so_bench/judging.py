"""What a judge is told, and how its reply is read.

The wording is seldio's own; the fields are those of the official program, so that judgements of both are
interchangeable. The texts of a question and its prediction go behind the fence of
:mod:`seldio.scores.judge.messages`, so that what a prediction says is never an instruction.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from seldio.answers.judgements import (
    LEVELS,
    PREDICTION_FIELDS,
    SEMANTIC_FIELDS,
    WORDS,
    AnsweredQuestion,
    Judge,
    Judgement,
    faults,
)
from seldio.benchmarks import prompts
from seldio.scores.judge.messages import JudgeRequest, ReplySchema, make
from seldio.scores.replies import Server
from seldio.tasks.specs import PUBLISHED

_INSTRUCTIONS = prompts("so-bench")["seldio"].rstrip("\n")


def _schema_of(field: str) -> dict[str, Any]:
    if field == "sources":
        return {"type": "array", "items": {"type": "string"}}
    if field == "source_match_level":
        return {"type": "string", "enum": list(LEVELS)}
    if field == "source_match":
        return {"type": "boolean"}
    if field in SEMANTIC_FIELDS:
        return {"type": ["boolean", "null"]}
    if field == "count":
        return {"type": ["integer", "null"]}
    if field == "time_span":
        pair = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        return {"anyOf": [pair, {"type": "null"}]}
    if field in WORDS:
        return {"enum": [*WORDS[field], None]}
    kind = "string" if field in ("primary_source", "direction_phrase", "transcript") else "number"
    return {"type": [kind, "null"]}


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


#: The reply, as JSON Schema: all fields are there, nothing else is.
REPLY_SCHEMA: dict[str, Any] = _object(
    {
        "prediction": _object({field: _schema_of(field) for field in PREDICTION_FIELDS}),
        "semantic": _object({field: _schema_of(field) for field in SEMANTIC_FIELDS}),
        "notes": {"type": "string", "default": ""},
    }
)

#: Any number that is no angle or distance, and no part of a name: of a span only the last may have a unit.
_TIME = re.compile(r"(?<![\w.,:])\d++(?>(?:[.,:]\d++)*)(?!\s*(?:°|deg|m\b|met(?:er|re)))", re.IGNORECASE)
#: What is asked for is the same for all tasks; each reads some of it.
_REPLIES = {task: ReplySchema("so-bench", REPLY_SCHEMA["properties"], partial(faults, task=task)) for task in PUBLISHED}
_OTHER = ReplySchema("so-bench", REPLY_SCHEMA["properties"], lambda _: ())


def to_judge(request: AnsweredQuestion) -> JudgeRequest:
    """The request as it is sent to a judge, without the numbers that it reads out of the answer itself."""
    task = PUBLISHED.get(request.task)
    ask = task.ask if task and task.ask else "Decide in relation_match whether the answer says what the reference says."
    hidden = task.hidden if task else ""
    truth = {key: value for key, value in request.meta.items() if value is not None}
    texts = {
        "question": request.question,
        "reference": request.answer,
        "reference, short": request.canonical_answer or "",
        "reference, numbers": json.dumps(truth, ensure_ascii=False) if truth else "",
        "candidate answer": request.prediction,
    }
    shown = {"question", "candidate answer"} if hidden == "all" else {*texts}
    if hidden == "times":
        shown.discard("reference, numbers")
        texts |= {name: _TIME.sub("…", texts[name]) for name in ("reference", "reference, short")}
    kept = {name: text for name, text in texts.items() if name in shown and (text or name == "candidate answer")}
    schema = _REPLIES.get(request.task, _OTHER)
    return make(request.id, request.task, f"{_INSTRUCTIONS}\n\nThis task: {ask}", kept, schema)


def through(server: Server) -> Judge:
    """A judge for :func:`seldio.scores.so_bench.report.score` that asks *server*."""
    return lambda asked: [reply.verdict for reply in server.ask([to_judge(request) for request in asked])]


# --- judgements made elsewhere ---------------------------------------------------------------------


def cache_key(task: str | None, question: str | None, answer: str | None, prediction: str | None,
              raw: str | None) -> str:  # fmt: skip
    """The key under which the official program's cache keeps a judgement.

    It knows neither the judge's model nor ``answer_meta`` nor ``prediction_cleaned``: judgements are used
    again for other truths and other judges.
    """
    fields = {"task_name": task, "question": question, "answer": answer, "prediction": prediction}
    text = json.dumps(fields | {"prediction_raw": raw}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def from_cache(rows: Iterable[Mapping[str, Any]]) -> Judge:
    """A judge that answers from rows of the official program: its cache, or its judged records.

    Rows have ``cache_key`` and ``judgement`` or ``llm_judgement``; the last of a key counts. As in the official
    program, rows that were made without an answer of the judge are not used.
    """
    kept: dict[str, Judgement] = {}
    for row in rows:
        found = row.get("judgement", row.get("llm_judgement"))
        if row.get("cache_key") and isinstance(found, dict):
            kept[str(row["cache_key"])] = found
    kept = {key: found for key, found in kept.items() if _judged(found)}
    return lambda requests: [kept.get(request.key) for request in requests]


def _judged(found: Judgement) -> bool:
    notes = str(found.get("notes") or "")
    return "error" not in found and "api_error=" not in notes and not notes.startswith("local regex fallback only")
