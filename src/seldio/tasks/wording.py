"""How questions and answers are worded.

Names of classes stay those of the vocabulary, in lower case. A name with a comma stands in double quotes
wherever it is part of a sentence or a list (``"water tap, faucet" from 1.0s to 2.5s, bell from …``), so that
a comma outside of quotes always separates; a canonical answer that is one name has it bare.
Times are seconds from the start of the clip to 0.1 s; azimuths are positive to the left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Name(NamedTuple):
    """A class in words.

    Args:
        label: as the vocabulary spells it.
        plain: lower case, as a canonical answer.
        said: in a sentence.
        verb: is or are.
        words: what a sentence about it needs: ``x``, ``verb``, ``Verb``, ``do``, ``Do``, ``remain``, ``sound``, ``it``,
            ``its``.
    """

    label: str
    plain: str
    said: str
    verb: str
    words: dict[str, str]


@cache
def name_of(label: str) -> Name:
    """The words for a class."""
    plain = " ".join(label.replace("_", " ").lower().split())
    said = f'"{plain}"' if "," in plain else plain
    verb, do = ("are", "do") if plain.endswith("s") and not plain.endswith("ss") else ("is", "does")
    words = {"x": said, "verb": verb, "Verb": verb.capitalize(), "do": do, "Do": do.capitalize()}
    one = verb == "is"
    words |= {"remain": "remains" if one else "remain", "sound": "sounds" if one else "sound"}
    words |= {"it": "it" if one else "they", "its": "its" if one else "their"}
    return Name(label, plain, said, verb, words)


@cache
def second(frame: int) -> str:
    """The time at which a label frame begins: ``18.5s``."""
    return f"{frame / 10:.1f}s"


def number(value: float) -> str:
    """A number without needless zeros: ``67``, ``-36.6``."""
    return f"{value:g}"


def chance(seed: int, audio_id: str) -> int:
    """The seed of one clip."""
    return int.from_bytes(hashlib.sha256(f"{seed}\x1f{audio_id}".encode()).digest()[:8], "big")


@cache
def _number(task: str) -> int:
    return int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big")


class Say:
    """Chooses among wordings, by a seed of its own for each clip and task: the same on every machine."""

    __slots__ = ("_state",)

    def __init__(self, chance: int, task: str) -> None:
        self._state = chance + _number(task)

    def below(self, limit: int) -> int:
        """A number from 0 to *limit* - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self._state >> 33) % limit

    def pick(self, options: Sequence[T]) -> T:
        """One of *options*."""
        return options[self.below(len(options))]

    def ask(self, task: str, name: Name | None = None, **words: str) -> str:
        """A question of *task*, about *name*, with *words* in their places."""
        given = name.words | words if name and words else name.words if name else words
        question = self.pick(QUESTIONS[task]).format_map(given)
        return f"{self.pick(PREAMBLES)}{question} {self.pick(SUFFIXES[task])}".rstrip()


#: What may stand before a question; half of them have nothing.
PREAMBLES = (
    "Listen to the audio clip and answer based only on what you hear. ",
    "Answer from the spatial audio alone. ",
    "",
    "",
)
_AZIMUTH = (
    "Give the azimuth in degrees: 0 is the front, positive values are to the left.",
    "Answer in degrees from -180 to 180, counted positive towards the left.",
)
_ELEVATION = (
    "Give the elevation in degrees, positive upwards.",
    "Answer in degrees between -90 (down) and 90 (up).",
)
_DISTANCE = (
    "Give the distance in metres.",
    "Near is below 1.5 m, mid-range 1.5 to 4.0 m, far beyond 4.0 m; answer in metres.",
)
_SOURCE = ("Name the sound source.", "Answer with the name of one sound source.", "")
_SPAN = ("Answer in one natural sentence and report times in seconds.", "Give start and end in seconds.", "")

#: What may follow a question, by task.
SUFFIXES: dict[str, tuple[str, ...]] = {
    "detect_time": _SPAN,
    "detect_source": ("Answer in one natural sentence and report times in seconds.", "List them by their start.", ""),
    "estimate_azimuth": _AZIMUTH,
    "estimate_azimuth_at": _AZIMUTH,
    "estimate_elevation": _ELEVATION,
    "estimate_elevation_at": _ELEVATION,
    "estimate_distance": _DISTANCE,
    "estimate_distance_at": _DISTANCE,
    "identify_source_by_doa": _SOURCE,
    "identify_source_by_location": _SOURCE,
    "onset_from_location": ("Answer in seconds.", "Give the time in seconds from the start of the clip.", ""),
    "multi_hop": _SOURCE,
    "spatial_temporal": (
        "Answer with source, direction, start and end in seconds.",
        "Say what, where from, and the start and end in seconds.",
    ),
    "compare_elevation": _SOURCE,
    "compare_distance": _SOURCE,
    "relative_left_right": ("Answer left or right.", "Answer in one sentence.", ""),
    "classify_motion": ("Choose from stationary, moving, approaching and receding.", "Describe its motion."),
    "classify_motion_direction": ("Choose from stationary and moving.", "Say stationary or moving."),
    "count_sources": ("Answer with a number.", "Give the number.", ""),
}

#: The questions, by task; ``{x}`` and ``{y}`` are names of classes, ``{verb}`` and ``{do}`` go
#: with x, ``{t}`` times, ``{place}`` and ``{side}`` directions in words.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "detect_time": (
        "During which time interval can the sound of the {x} be heard?",
        "When {verb} the {x} audible?",
        "From when to when does the clip contain the {x}?",
        "What are the start and end times of the {x}?",
    ),
    "detect_source": (
        "Which sound sources are audible, and when does each one occur?",
        "What can be heard in the clip, and at which times?",
        "List every sound event together with its time interval.",
        "State which sounds occur and from when to when.",
    ),
    "estimate_azimuth": (
        "What is the azimuth of the {x}?",
        "At which azimuth is the source of the {x}?",
        "From what horizontal angle {do} the {x} reach the listener?",
        "Estimate the horizontal direction of the {x}.",
    ),
    "estimate_azimuth_at": (
        "What is the azimuth of the {x} at {t}?",
        "At {t}, at which azimuth is the source of the {x}?",
        "From what horizontal angle {do} the {x} reach the listener at {t}?",
    ),
    "estimate_elevation": (
        "What is the elevation of the {x}?",
        "At which elevation angle is the source of the {x}?",
        "How far above or below ear level, as an angle, {verb} the {x}?",
        "Estimate the vertical angle of the {x}.",
    ),
    "estimate_elevation_at": (
        "What is the elevation of the {x} at {t}?",
        "At {t}, at which elevation angle is the source of the {x}?",
        "How far above or below ear level, as an angle, {verb} the {x} at {t}?",
    ),
    "estimate_distance": (
        "How far away {verb} the {x}?",
        "What is the distance between the listener and the {x}?",
        "Estimate how far the source of the {x} is from the listener.",
    ),
    "estimate_distance_at": (
        "How far away {verb} the {x} at {t}?",
        "At {t}, what is the distance between the listener and the {x}?",
        "Estimate how far the source of the {x} is from the listener at {t}.",
    ),
    "identify_source_by_doa": (
        "Which sound source is at azimuth {azimuth} degrees (positive is left) and elevation {elevation} degrees?",
        "What is heard from azimuth {azimuth} degrees, elevation {elevation} degrees, counting left as positive?",
        "Left counts as positive: what sounds at azimuth {azimuth} degrees and elevation {elevation} degrees?",
    ),
    "identify_source_by_location": (
        "What is the sound source located {place}?",
        "Which sound comes from {side}?",
        "Something is heard {place}. What is it?",
        "Identify the sound source {place}.",
    ),
    "onset_from_location": (
        "When does the sound from {side} start?",
        "At what time does the source {place} begin to sound?",
        "A sound comes from {side}. When does it set in?",
    ),
    "multi_hop": (
        "Wait until the {x} has ended: which sound then starts {place}?",
        "Of the sounds that start after the end of the {x}, which one comes from {side}?",
        "Once the {x} is over, what starts to sound {place}?",
    ),
    "spatial_temporal": (
        "Which sound source is active at {t}, from which direction does it come, and during which interval?",
        "One source sounds at {t}. What is it, where does it come from, and from when to when does it last?",
        "What is heard at {t}, from what direction, and when does it start and end?",
    ),
    "compare_elevation": (
        "Which is {more}: the {x} or the {y}?",
        "Between the {x} and the {y}, which one is {more}?",
        "Compare the elevations of the {x} and the {y}: which source is {more}?",
    ),
    "compare_distance": (
        "Which is {more} the listener: the {x} or the {y}?",
        "Between the {x} and the {y}, which one is {more} the listener?",
        "Compare the distances of the {x} and the {y}: which source is {more} the listener?",
    ),
    "relative_left_right": (
        "{Verb} the {x} to the left or to the right of the {y}?",
        "Seen from the listener, on which side of the {y} {verb} the {x}: left or right?",
        "{Do} the {x} come from the left or the right of the {y}?",
    ),
    "classify_motion": (
        "How does the source of the {x} move while it sounds?",
        "{Verb} the {x} stationary, moving around the listener, approaching or receding?",
        "Describe the motion of the {x} relative to the listener.",
    ),
    "classify_motion_direction": (
        "Does the direction of the {x} change while {it} {sound}, or is the source stationary?",
        "Judged by the direction, {verb} the {x} stationary or moving?",
        "{Do} the {x} stay in the direction of the start, or wander about?",
    ),
    "count_sources": (
        "How many sound sources are active at {t}?",
        "At {t}, how many sources can be heard at once?",
        "Count the sources that sound at {t}.",
    ),
}
