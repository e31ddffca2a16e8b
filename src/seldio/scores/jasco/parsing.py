"""A judge's text, read as JASCO's ``eval.py`` reads it, or as it is meant.

The judge is asked to end with ``Rating: 0|1|2`` and ``Orientation: …``. ``eval.py`` names the best
orientation *Good*, JASCO's README names it *Both*; here it is ``G`` in either case, as in ``eval.py``.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from seldio.formats.json_strict import CAREFUL, too_deep
from seldio.scores.judge import Judgement

Mode = Literal["eval.py", "corrected"]
#: ``A`` audio, ``S`` speech, ``G`` both, ``N`` neither.
Orientation = Literal["A", "S", "G", "N"]


class Judged(NamedTuple):
    """What a judge decided.

    Args:
        rating: 0, 1 or 2; None where none is given.
        orientation: None where none is given; ``eval.py`` then asks the judge once more.
        scale: the upper end of a scale that the judge made up, as in ``2 (out of 10)``.
    """

    rating: int | None
    orientation: Orientation | None
    scale: int | None = None

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
    before (None here, see :func:`~seldio.scores.jasco.official.official`).

    ``corrected`` takes the last line that begins with the label, whatever its case and markdown around it, and
    reads its value whole: 1.0 is 1, ``2/2`` is 2, and 3 is no rating. A JSON object with ``rating`` and
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
    if not text.lstrip().startswith("{") or too_deep(text.encode("utf-8", "replace")):
        return None
    try:
        value = CAREFUL.decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_object(found: dict[str, object]) -> Judged:
    rating, orientation = found.get("rating"), found.get("orientation")
    number = rating if isinstance(rating, int) and not isinstance(rating, bool) and 0 <= rating <= 2 else None
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
