"""A judge's text, read as JASCO's ``eval.py`` reads it, or as it is meant.

The judge is asked to end with ``Rating: 0|1|2`` and ``Orientation: …``. ``eval.py`` names the best
orientation *Good*, JASCO's README names it *Both*; here it is ``G`` in either case, as in ``eval.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from seldio.benchmarks import prompts
from seldio.errors import DataError
from seldio.formats.json_strict import proven
from seldio.formats.qa_csv import INSTRUCTIONS
from seldio.schema.qa import Prediction
from seldio.scores.judge import Judgement, JudgeRequest, Reply, ReplySchema, make
from seldio.scores.judge.messages import Malformed, make_plain
from seldio.text import clipped, listed, plural

Mode = Literal["eval.py", "corrected"]
#: ``A`` audio, ``S`` speech, ``G`` both, ``N`` neither.
Orientation = Literal["A", "S", "G", "N"]


class Judged(NamedTuple):
    """What a judge decided."""

    rating: int | None  # 0, 1 or 2; None where none is given
    orientation: Orientation | None  # None where none is given; ``eval.py`` then asks the judge once more
    scale: int | None = None  # the upper end of a scale that the judge made up, as in ``2 (out of 10)``

    @property
    def complete(self) -> bool:
        """Whether it is a verdict: both parts are there."""
        return self.rating is not None and self.orientation is not None

    @property
    def points(self) -> int:
        """The rating where sound and speech were both used, else 0."""
        return self.rating or 0 if self.orientation == "G" else 0


def parse(text: str, mode: Mode = "corrected") -> Judged:
    """The decision in a judge's text.

    ``eval.py`` looks for parts of the text in a fixed order; the last line with ``Rating: `` counts, and a
    0 anywhere in that line wins over a 1, and that over a 2; without such a line it keeps the rating of the row
    before (None here, see :func:`~seldio.scores.jasco.scoring.official`).

    ``corrected`` takes the last line that begins with the label, whatever its case and markdown around it, and
    reads its value whole: 1.0 is 1, ``2/2`` is 2, and 3 is not a valid rating. A JSON object with ``rating`` and
    ``orientation`` is read as well.
    """
    return _official(text) if mode == "eval.py" else _corrected(text)


def of(judgement: Judgement) -> Judged:
    """The corrected reading of a judgement that may also be an object with ``rating`` and ``orientation``."""
    return _corrected(judgement) if isinstance(judgement, str) else _of_object(judgement)


# --- as eval.py ------------------------------------------------------------------------------------------

_OFFICIAL: tuple[tuple[Orientation, tuple[str, ...]], ...] = (
    ("N", ("Orientation: Neither", "Orientation: \nNeither")),
    ("A", ("Orientation: Audio-Oriented", "Orientation: \nAudio-Oriented")),
    ("S", ("Orientation: Speech-Oriented", "Orientation: \nSpeech-Oriented")),
    ("G", ("Orientation: Good", "Orientation: \nGood", "Orientation: Both")),
)
_SECOND: tuple[tuple[Orientation, str], ...] = (
    ("N", "Neither"), ("A", "Audio-Oriented"), ("S", "Speech-Oriented"), ("G", "Good"),
)  # fmt: skip


def _official(text: str) -> Judged:
    orientation = next((name for name, parts in _OFFICIAL if any(part in text for part in parts)), None)
    rating = None
    for line in text.split("\n"):
        if "Rating: " in line:
            rating = next((number for number in (0, 1, 2) if str(number) in line), 0)
    return Judged(rating, orientation)


def second_reply(text: str) -> Orientation | None:
    """What ``eval.py`` makes of the judge's reply when it asks a second time; None is its ``?``."""
    return next((name for name, part in _SECOND if part in text), None)


# --- as it is meant --------------------------------------------------------------------------------------

_NAMES: dict[str, Orientation] = {
    "audio-oriented": "A", "audio": "A", "speech-oriented": "S", "speech": "S", "good": "G", "both": "G",
    "both-oriented": "G", "neither": "N",
}  # fmt: skip
#: How eval.py has each.
_WRITTEN: dict[Orientation, str] = {"A": "Audio-Oriented", "S": "Speech-Oriented", "G": "Both", "N": "Neither"}
#: What may stand before a label, or be all that follows it on its line.
_DECORATION = " \t\r>#*_`\"'([{-"
_BULLET = re.compile(r"\d{1,2}[.)]")
_LABELS = {
    name: re.compile(rf"\b{name}[*_`\"']*\s*[:=]", re.IGNORECASE) for name in ("rating", "orientation")
}  # fmt: skip
_NUMBER = re.compile(r"[\s*_`\"'(\[<]*(\d{1,4})(?:\.0+)?(?![\d.]*\d)(.*)", re.DOTALL)
_SCALE = re.compile(r"[(\[]?\s*(?:/|out\s+of)\s*(\d{1,4})", re.IGNORECASE)
_OTHER = re.compile(r"[\s*_`\"')\]>]*(?:-|–|—|or|to|and|,|/|\|)\s*\d", re.IGNORECASE)
_WORD = re.compile(r"[\s*_`\"'(\[<]*([A-Za-z]+(?:-oriented)?)(?![\w-])(.*)", re.DOTALL | re.IGNORECASE)
_CHOICE = re.compile(r"[\s*_`\"')\]>]*(?:/|\||or\b|and\b|,)\s*[*_`\"'(]*([A-Za-z]+(?:-oriented)?)", re.IGNORECASE)


def _corrected(text: str) -> Judged:
    if (found := _as_json(text)) is not None:
        return _of_object(found)
    rating, scale = _rating(_value(text, "rating"))
    return Judged(rating, _orientation(_value(text, "orientation")), scale)


def _as_json(text: str) -> dict[str, object] | None:
    values = proven([text.strip().encode("utf-8", "replace")])
    return values[0] if values and isinstance(values[0], dict) else None


def _of_object(found: dict[str, object]) -> Judged:
    rating, orientation = found.get("rating"), found.get("orientation")
    number = int(rating) if type(rating) in (int, float) and rating in (0, 1, 2) else None
    return Judged(number, _NAMES.get(orientation.strip().lower()) if isinstance(orientation, str) else None)


def _value(text: str, name: str) -> str | None:
    """What follows the last label at the beginning of a line; else the only one inside a line.

    Line by line, since an expression over all lines would take quadratic time on hostile texts.
    """
    lines, label = text.split("\n"), _LABELS[name]
    found = [(number, match) for number, line in enumerate(lines) if (match := label.match(_bare(line)))]
    if not found:
        found = [(number, match) for number, line in enumerate(lines) for match in label.finditer(line)]
        if len(found) != 1:
            return None
    number, match = found[-1]
    rest = match.string[match.end() :]
    return next((line for line in (rest, *lines[number + 1 :]) if line.strip(_DECORATION)), None)


def _bare(line: str) -> str:
    """*line* without the markdown and the number that it begins with."""
    line = line.lstrip(_DECORATION)
    bullet = _BULLET.match(line)
    return line[bullet.end() :].lstrip(_DECORATION) if bullet else line


def _rating(value: str | None) -> tuple[int | None, int | None]:
    """The number that *value* begins with, if it is on the scale and there is no choice of several."""
    match = _NUMBER.match(value or "")
    if match is None:
        return None, None
    number, rest = int(match[1]), match[2]
    if scale := _SCALE.match(rest.lstrip(" \t\r*_`\"')]>")):
        return (number if number <= 2 else None), (int(scale[1]) if int(scale[1]) != 2 else None)
    return (number if number <= 2 and not _OTHER.match(rest) else None), None


def _orientation(value: str | None) -> Orientation | None:
    """The name that *value* begins with, if it is not a choice of several."""
    match = _WORD.match(value or "")
    if match is None:
        return None
    choice = _CHOICE.match(match[2])
    return None if choice and choice[1].lower() in _NAMES else _NAMES.get(match[1].lower())


# --- requests --------------------------------------------------------------------------------------

Vocabulary = Literal["Both", "Good"]
TASK = "jasco"

#: The texts that a judge is asked with: ``seldio``, and to the character those of JASCO's ``readme`` and ``eval.py``.
PROMPTS = prompts("jasco")
#: What ``eval.py`` says before them.
_SYSTEM = "You are an NLP assistant"
_COLUMNS = ("audio_sound", "spoken_text", "audio_only_target", "speech_only_target")


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
        _faults,
    )


def _faults(verdict: Mapping[str, Any]) -> list[str]:
    """What of a verdict cannot be read; the explanations may be anything."""
    found = _of_object(dict(verdict))
    texts = {"rating": "is none of 0, 1, 2", "orientation": f"is none of {', '.join(_WRITTEN.values())}"}
    return [f"{name} {text}" for name, text in texts.items() if getattr(found, name) is None]


def request(row: Prediction, vocabulary: Vocabulary = "Both", prompt: str = "seldio") -> JudgeRequest:
    """What the judge is asked about one output of a model, in the words of one of the :data:`PROMPTS`."""
    extra = row.extra or {}
    sound, words, of_sound, of_words = (_text(extra, name) for name in _COLUMNS)
    right, keywords = _text(extra, "tgt_text"), _text(extra, "target_keywords")
    if prompt != "seldio":
        text = PROMPTS[prompt].format(
            audio_sound=sound, spoken_text=words, question=row.prompt or "", audio_only_target=of_sound,
            speech_only_target=of_words, reference=right, keywords=keywords, prediction=row.prediction or "",
        )  # fmt: skip
        return make_plain(key(row), TASK, _SYSTEM, text, ReplySchema(f"jasco-{prompt}", {}, read=_read_text))
    texts = {
        "sound": sound, "words": words, "question": row.prompt or "", "answer from the sound alone": of_sound,
        "answer from the words alone": of_words, "right answer": right, "key words": keywords,
        "model answer": row.prediction or "",
    }  # fmt: skip
    instructions = PROMPTS[prompt].rstrip("\n").format(both=vocabulary)
    return make(key(row), TASK, instructions, texts, schema(vocabulary))


def _read_text(text: str) -> dict[str, Any]:
    """The verdict of a reply in the form that JASCO asks for.

    Raises:
        Malformed: it has no rating, or no orientation.
    """
    found = _corrected(text)
    if found.rating is None or found.orientation is None:
        lacks = "a Rating of 0, 1 or 2" if found.rating is None else "an Orientation"
        raise Malformed(f"no line has {lacks}")
    return {"rating": found.rating, "orientation": _WRITTEN[found.orientation]}


def key(row: Prediction) -> str:
    """The id of a row's judgement: the item's, and the number of the instruction from 1 to 8, as in ``17/3``.

    With an instruction that is not JASCO's, its text takes the place of the number.
    """
    prompt = (row.prompt or "").strip()
    return f"{row.id}/{INSTRUCTIONS.index(prompt) + 1 if prompt in INSTRUCTIONS else prompt}"


def as_text(verdict: Mapping[str, Any]) -> str:
    """A verdict as JASCO's own judge writes it, for its ``llama3_extract`` column and its ``eval.py``."""
    found = _of_object(dict(verdict))
    rating = verdict.get("rating") if found.rating is None else found.rating
    orientation = verdict.get("orientation")
    if orientation not in (*_WRITTEN.values(), "Good") and found.orientation is not None:
        orientation = _WRITTEN[found.orientation]
    return (
        f"Explanation1: {_line(verdict.get('rating_explanation'))}\nRating: {rating}\n"
        f"Explanation2: {_line(verdict.get('orientation_explanation'))}\nOrientation: {orientation}"
    )


def _line(explanation: object) -> str:
    """One line in which ``eval.py`` finds no label: it looks for labels anywhere."""
    text = " ".join(explanation.split()) if isinstance(explanation, str) else ""
    return text.replace("Rating: ", "Rating ").replace("Orientation: ", "Orientation ")


def _text(extra: Mapping[str, object], name: str) -> str:
    value = extra.get(name)
    return value if isinstance(value, str) else ""


# --- judgements beside outputs ---------------------------------------------------------------------

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
    judge: Callable[[Sequence[JudgeRequest]], Sequence[Reply]],
    vocabulary: Vocabulary = "Both",
    prompt: str = "seldio",
) -> list[Prediction]:
    """*rows* with what a judge says about them; an answer that is empty is not sent: there is nothing to judge.

    Where the judge failed the column is empty; a reply that was refused is shown there, as no verdict. To JASCO's
    words it is the reply as it came.
    """
    asked = [row for row in rows if _says_something(row)]
    replies = iter(judge([request(row, vocabulary, prompt) for row in asked]))
    said = _reply_text if prompt == "seldio" else attrgetter("text")
    texts = (said(next(replies)) if _says_something(row) else as_text(_SILENT) for row in rows)
    return [_with(row, text) for row, text in zip(rows, texts, strict=True)]


def with_judgements(rows: Sequence[Prediction], judgements: Mapping[str, Judgement]) -> list[Prediction]:
    """*rows* with judgements of an external judge, by :func:`~seldio.scores.jasco.judging.key`, e.g. ``17/3``.

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
    texts = {id: given if isinstance(given, str) else as_text(given) for id, given in judgements.items()}
    return [_with(row, texts[id]) if id in texts else row for id, row in zip(keys, rows, strict=True)]


def _says_something(row: Prediction) -> bool:
    return bool((row.prediction or "").strip())


def _reply_text(reply: Reply) -> str:
    """The verdict; without one a text that nobody can take for one: a refused reply is not read a second time."""
    if reply.verdict is not None:
        return as_text(reply.verdict)
    text = f"no verdict, {reply.error}; the reply was {clipped(reply.text, 200)}"
    return "" if reply.failed else text.replace(":", " ").replace("=", " ")


def _with(row: Prediction, text: str) -> Prediction:
    return row.model_copy(update={"extra": {**(row.extra or {}), COLUMN: text}})
