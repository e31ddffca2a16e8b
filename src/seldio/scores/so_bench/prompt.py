"""What a judge is told, and how its reply is read.

The wording is seldio's own; the fields are those of the official program, so that judgements of both are
interchangeable. The texts of a question and its prediction go behind the fence of
:mod:`seldio.scores.judge.requests`, so that what a prediction says is never an instruction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

from seldio.scores.judge import requests
from seldio.scores.judge.replies import Reply
from seldio.scores.so_bench.judgement import (
    LEVELS,
    PREDICTION_FIELDS,
    SEMANTIC_FIELDS,
    WORDS,
    Judge,
    Request,
)
from seldio.scores.so_bench.profiles import RELATION_TASKS, SOURCE_TASKS


class Server(Protocol):
    """What asks a model, as :class:`seldio.scores.judge.asking.Judge` does."""

    def ask(self, requests: Sequence[requests.Request]) -> list[Reply]:
        """A reply to each request, in their order."""
        ...


_INSTRUCTIONS = """You grade answers to questions about recordings of spatial sound. You cannot hear the recordings: \
the reference is the truth.

Work in two steps and keep them apart.
1. Field "prediction": write down what the candidate answer says, and nothing else. Never fill a gap from the \
reference or from the question. What the answer does not say is null. Numbers go into the unit of the field: degrees, \
metres, seconds from the start of the recording. Azimuth is positive to the left, elevation is positive upwards: \
"30 degrees to the right" is the azimuth -30. If the answer corrects itself, its last word counts; if it offers \
several values without choosing, write null.
2. Field "semantic": compare what the answer says with the reference. Where no reference is given, \
source_match_level is unknown, source_match is false and the other fields are null.

Names of sounds: spelling, number and word order do not matter, and neither do everyday synonyms of one sound.
- exact_or_synonym: the same sound. - compatible_but_broader: a wider class that holds it. \
- related_but_wrong: a neighbour of it. - wrong: another sound. - unknown: no sound is named.
source_match is true for exact_or_synonym only. Where the reference lists several sounds, all of them must be named, \
and no others.
relation_match, direction_match and motion_match are true or false where the task asks for that comparison and null \
elsewhere. A statement seen from the other side is the same statement: "A is left of B" is "B is right of A"."""

_ASKS: dict[str, str] = {
    "estimate_azimuth": "Read the azimuth into angle_deg.",
    "estimate_elevation": "Read the elevation into elevation_deg. An azimuth goes into angle_deg, never in its place.",
    "estimate_distance": "Read the distance into distance_m. Words like near or far are no distance.",
    "detect_time": "Read the interval in which the asked sound is heard into time_span.",
    "onset_from_location": "Read the moment at which the sound begins into onset_time_s.",
    "count_sources": "Read the number of sources into count.",
    "classify_motion": "Read the motion into motion_label and decide motion_match.",
    "spatial_temporal": "Read the sound, its direction and its interval; decide the source fields and "
    "direction_match. Every part of the reference's direction must be there. The reference does not show its times.",
    "detect_source": "List the sounds in sources, and the interval in time_span where there is one sound only; "
    "decide the source fields by the names alone. The reference does not show its times.",
    **dict.fromkeys((task for task in SOURCE_TASKS if task != "detect_source"),
                    "Read the sound that is given as the answer into primary_source; decide the source fields."),
    **dict.fromkeys(RELATION_TASKS, "Read the relation of the two sounds; decide relation_match."),
}  # fmt: skip


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

#: Tasks of which only numbers are read: the judge is not shown the right ones, which it might read into the text.
BLIND = (
    "estimate_azimuth",
    "estimate_elevation",
    "estimate_distance",
    "detect_time",
    "onset_from_location",
    "count_sources",
)
#: Tasks of which names are compared and times are read: the judge is shown the reference without its times.
TIMELESS = ("spatial_temporal", "detect_source")
_TIME = re.compile(r"\d+(?:[.,]\d+)?(?=\s*(?:s|sec(?:ond)?s?)\b)", re.IGNORECASE)
_REPLY = requests.ReplySchema("so-bench", REPLY_SCHEMA["properties"])


def to_judge(request: Request) -> requests.Request:
    """The request as it is sent to a judge, without the numbers that it reads out of the answer itself."""
    ask = _ASKS.get(request.task, "Decide in relation_match whether the answer says what the reference says.")
    truth = {key: value for key, value in request.meta.items() if value is not None}
    texts = {
        "question": request.question,
        "reference": request.answer,
        "reference, short": request.canonical_answer or "",
        "reference, numbers": json.dumps(truth, ensure_ascii=False) if truth else "",
        "candidate answer": request.prediction,
    }
    shown = {"question", "candidate answer"} if request.task in BLIND else {*texts}
    if request.task in TIMELESS:
        shown.discard("reference, numbers")
        texts |= {name: _TIME.sub("…", texts[name]) for name in ("reference", "reference, short")}
    kept = {name: text for name, text in texts.items() if name in shown and (text or name == "candidate answer")}
    return requests.make(request.id, request.task, f"{_INSTRUCTIONS}\n\nThis task: {ask}", kept, _REPLY)


def through(server: Server) -> Judge:
    """A judge for :func:`seldio.scores.so_bench.score.score` that asks *server*."""
    return lambda asked: [reply.verdict for reply in server.ask([to_judge(request) for request in asked])]
