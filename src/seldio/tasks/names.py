"""Classes in English words: what sentences call them, with their articles and the verbs that agree.

``spoken.json`` tells how people call a class, and its number: *bus* takes *is*, *domestic sounds* take *are*, *music*
takes no *a*. Only the names of classes that it does not hold are judged by their endings.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: Whether a name takes "a" and "is", only "is", or "are".
COUNTABLE, UNCOUNTABLE, PLURAL = "countable", "uncountable", "plural"


class Name(NamedTuple):
    """A class in words."""

    label: str  # as the vocabulary spells it
    plain: str  # lower case, as a canonical answer
    said: str  # as one of a canonical list: in double quotes where it has a comma
    spoken: str  # after "the" in a sentence: ``woman speaking``
    verb: str  # is or are
    plural: bool  # whether the name in the language of the questions is a plural
    #: what a sentence about it needs: ``x``, ``some`` (``a woman speaking``, ``laughter``), ``verb``, ``do``, ``Do``,
    #: ``remain``, ``start``, and what is heard of it (after *the*), ``heard``: ``sound of the bell``, with ``heard_do``
    #: and ``heard_it``
    words: dict[str, str]
    others: dict[str, str]  # what a sentence about another class needs of this one: ``y``, ``y_start``


@cache
def _table() -> dict[str, tuple[str, str]]:
    """Return the spoken name and number of each class by its name in lower case."""
    rows = json.loads(files(__package__).joinpath("spoken.json").read_text("utf-8"))
    return {
        name.lower(): (spoken, number)
        for number in (COUNTABLE, UNCOUNTABLE, PLURAL)
        for spoken, others in rows[number].items()
        for name in (spoken, *others)
    }


#: Last words of names that the table does not hold: singular in spite of their s, those that take no "a", and vowels.
_SINGULAR = re.compile(r"(?:ss|us|is|as|os|'s)\Z")
_MASS = re.compile(r"(?:(?<!\bstr)(?<!\bspr)(?<!\bsw)(?<!\br)(?<!\bk)(?<!\bw)ing|ness)\Z")
_VOWEL = re.compile(r"\"?(?:(?!eu|ewe|one\b|once|u[bcfknrst][aeiou]|uni(?!n))[aeiou]|hour|honest|heir|8|11\b|18\b)")


@cache
def name_of(label: str) -> Name:
    """Return the words for a class."""
    plain = " ".join(label.replace("_", " ").lower().split())
    said = f'"{plain}"' if "," in plain else plain
    spoken, number = _table().get(plain) or ("", "")
    if not spoken:  # judged by its last word
        spoken = re.sub(r"\A(?:the|an?) (?=\S)", "", plain)
        spoken = f"{spoken} sound" if re.fullmatch(r"class -?\d+", spoken) else spoken
        last = spoken.rpartition(" ")[2]
        entry = _table().get(last)
        if entry is not None and entry[0] == last:
            number = entry[1]
        elif last.endswith("s") and not _SINGULAR.search(last):
            number = PLURAL
        else:
            number = UNCOUNTABLE if _MASS.search(last) else COUNTABLE
        spoken = f'"{spoken}"' if "," in spoken else spoken
    indefinite = f"{'an' if _VOWEL.match(spoken) else 'a'} {spoken}" if number == COUNTABLE else spoken
    singular = number != PLURAL
    verb, do = ("is", "does") if singular else ("are", "do")
    words = {"x": spoken, "some": indefinite, "verb": verb, "do": do, "Do": do.capitalize()}
    words |= {"remain": "remains" if singular else "remain", "start": "starts" if singular else "start"}
    if re.search(r"\bsounds?\b", spoken):
        words |= {"heard": spoken, "heard_do": do, "heard_it": "it" if singular else "they"}
    else:
        words |= {"heard": f"sound of the {spoken}", "heard_do": "does", "heard_it": "it"}
    return Name(label, plain, said, spoken, verb, not singular, words, {"y": spoken, "y_start": words["start"]})


# --- classes that questions call by a Russian name ------------------------------------------------------------
@cache
def called_in_russian() -> tuple[tuple[str, str], ...]:
    """Return Russian names in all cases, as patterns, with the English names of classes; the longest first."""
    rows = json.loads(files(__package__).joinpath("nouns.json").read_text("utf-8"))["classes"]
    forms = {re.sub(r"\Aсо? ", "", form): row["names"][0] for row in rows for form in row["forms"]}
    longest = sorted(forms, key=len, reverse=True)
    return tuple((re.sub("[её]", "[её]", form), name_of(forms[form]).spoken) for form in longest)


def capitalized(sentence: str) -> str:
    """Return *sentence* with a capital letter in front; the rest stays."""
    return sentence[:1].upper() + sentence[1:]
