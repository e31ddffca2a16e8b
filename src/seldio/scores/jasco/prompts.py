"""JASCO's judge in seldio's own words, in either of its two vocabularies.

``Good`` is what ``eval.py`` calls the orientation towards both sound and speech, ``Both`` what JASCO's README
does. Judges answer differently to different words, so scores of the two are not the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Prediction
from seldio.scores.judge import ReplySchema, Request, make

Vocabulary = Literal["Both", "Good"]
TASK = "jasco"

_INSTRUCTIONS = """You judge the answer of an audio language model. It listened to a recording in which people speak \
while something else can be heard, and was asked what the speakers are doing. Only who uses both the sound and the \
words can tell. You see what the recording holds, the right answer, and wrong answers that follow from the sound alone \
and from the words alone. The model's answer is the text "model answer".

First find, in the model's answer, its conclusion about what the speakers do or where they are. Descriptions of the \
sound and quotations of the words are not a conclusion. Tense and style do not matter, nor does anything besides the \
conclusion.

Decide two things, each for itself.

"rating", how close the conclusion is to the right answer:
- 0: there is no conclusion, or it is wrong or does not follow, or it rests on the sound alone or the words alone, or \
it is so general that it fits anything ("they are talking").
- 1: it goes the right way and rests on both sound and words, but the key words, or words that mean the same, are \
missing, or another conclusion is more likely.
- 2: it says what the right answer says, with the key words or words that mean the same, and is the most likely \
conclusion from sound and words together.

"orientation", what the conclusion clearly rests on:
- "Audio-Oriented": on the sound.
- "Speech-Oriented": on the words, or it mostly repeats them.
- "{both}": on both, each with a strong link. Never for a vague conclusion ("an activity", "something", \
"somewhere"): choose the stronger of the two above for it.
- "Neither": there is no conclusion.

Give one or two sentences of explanation before each decision."""


def schema(vocabulary: Vocabulary) -> ReplySchema:
    """The reply to a JASCO request."""
    why = {"type": "string", "default": ""}
    return ReplySchema(
        f"jasco-{vocabulary.lower()}",
        {
            "rating_explanation": why,
            "rating": {"type": "integer", "enum": [0, 1, 2]},
            "orientation_explanation": why,
            "orientation": {"type": "string", "enum": ["Audio-Oriented", "Speech-Oriented", vocabulary, "Neither"]},
        },
    )


def request(row: Prediction, vocabulary: Vocabulary = "Both") -> Request:
    """What the judge is asked about one output of a model."""
    extra = row.extra or {}
    texts = {
        "sound": _text(extra, "audio_sound"),
        "words": _text(extra, "spoken_text"),
        "question": row.prompt or "",
        "answer from the sound alone": _text(extra, "audio_only_target"),
        "answer from the words alone": _text(extra, "speech_only_target"),
        "right answer": _text(extra, "tgt_text"),
        "key words": _text(extra, "target_keywords"),
        "model answer": row.prediction or "",
    }
    return make(key(row), TASK, _INSTRUCTIONS.format(both=vocabulary), texts, schema(vocabulary))


def key(row: Prediction) -> str:
    """The id of a row's judgement: the item's, and the number of the instruction from 1 to 8, as in ``17/3``.

    With an instruction that is not JASCO's, its text takes the place of the number.
    """
    prompt = (row.prompt or "").strip()
    return f"{row.id}/{INSTRUCTIONS.index(prompt) + 1 if prompt in INSTRUCTIONS else prompt}"


def as_text(verdict: Mapping[str, Any]) -> str:
    """A verdict as JASCO's own judge writes it, for its ``llama3_extract`` column and its ``eval.py``."""
    return (
        f"Explanation1: {_line(verdict.get('rating_explanation'))}\nRating: {verdict.get('rating')}\n"
        f"Explanation2: {_line(verdict.get('orientation_explanation'))}\nOrientation: {verdict.get('orientation')}"
    )


def _line(explanation: object) -> str:
    """One line in which ``eval.py`` finds no label: it looks for labels anywhere."""
    text = " ".join(explanation.split()) if isinstance(explanation, str) else ""
    return text.replace("Rating: ", "Rating ").replace("Orientation: ", "Orientation ")


def _text(extra: Mapping[str, object], name: str) -> str:
    value = extra.get(name)
    return value if isinstance(value, str) else ""
