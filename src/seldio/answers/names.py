"""Names of sounds in texts, the benchmark's and synonyms; case, plural, underscores and spaces do not count."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from seldio.answers.languages import Patterns
from seldio.answers.plain_text import plainly
from seldio.tasks.names import name_of
from seldio.tasks.specs import PUBLISHED

_RE = Patterns("names")

_TOKEN = re.compile(r"[a-z0-9]+")
#: Letters by which a word is told that begins no name.
_LEAST = 4
#: Longer answers are sentences, no names.
_MOST_WORDS = 7


class Mention(NamedTuple):
    """A name in a text."""

    name: str  # in its one spelling, see :func:`key`
    start: int  # of it in the text
    end: int  # behind it


class SideAnswer(NamedTuple):
    """The answer of relative_left_right: *x* is on that side of *y*."""

    x: str
    side: str
    y: str


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """Return a word without the ending of a plural; the same for both, whatever it is."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is", "os")) else word


@lru_cache(maxsize=65536)
def key(name: str) -> str:
    """Return the one spelling in which names are compared.

    >>> key("String_Instruments"), key("door bell"), key("Doorbell")
    ('stringinstrument', 'doorbell', 'doorbell')
    """
    plain = _RE.genitive.sub("", name.lower().replace("_", " "))
    return "".join(map(singular, _TOKEN.findall(plain)))


def listed_names(text: str) -> list[str]:
    """Return the names in a list of events with their times (detect_source)."""
    return [match["quoted"] or _RE.lead.sub("", match["plain"]).strip() for match in _RE.listed.finditer(text)]


def side_answer(text: str) -> SideAnswer | None:
    """Return the two names and the side of an answer of relative_left_right."""
    match = _RE.sides.match(text)
    return SideAnswer(match["x"], match["side"].lower(), match["y"]) if match else None


def source_and_direction(text: str) -> tuple[str, str] | None:
    """Return the two parts of a canonical answer of spatial_temporal, which is *source* from *direction*."""
    source, separator, direction = text.strip().rstrip(".").partition(" from ")
    return (source.strip().strip('"'), direction.strip()) if separator else None


def names_in(task: str | None, answer: str | None, canonical: str | None) -> Iterator[str]:
    """Yield the names that the right answer of a question holds."""
    text, read = canonical or "", PUBLISHED[task].read if task in PUBLISHED else None
    if read == "sources":
        yield from listed_names(text or answer or "")
    elif read == "source and direction":
        if parts := source_and_direction(text):
            yield parts[0]
    elif read == "side":
        if sides := side_answer(text or answer or ""):
            yield from (sides.x, sides.y)
    elif read in ("source", "comparison"):
        yield text


def _first(text: str) -> str:
    match = _TOKEN.search(text)
    return match.group() if match else ""


class Names:
    """The names that texts are searched for: those of right *answers*, which no synonym ever replaces."""

    def __init__(self, answers: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        self._families: dict[str, set[str]] = {}
        self._synonyms: dict[str, str] = {}  # the usual name of each
        self._starts: set[str] = set()
        self._longest = 1
        answers = [name for name in dict.fromkeys(answers) if 0 < len(_TOKEN.findall(name.lower())) <= _MOST_WORDS]
        for name in answers:
            self._add(name, key(name))
        called = Counter(name_of(name).spoken for name in answers)
        for name in answers:
            if called[spoken := name_of(name).spoken] == 1:
                self._add(spoken, key(name))
        self._classes = {key(name) for name in answers}
        for families, names in _groups():
            group = [key(name) for name in names]
            main = [name_key for name_key in dict.fromkeys(group) if name_key in self._names]
            for name in names:
                if len(main) < 2:
                    self._add(name, main[0] if main else group[0])
            for name_key in main or group[:1]:
                self._families.setdefault(name_key, set()).update(families)
                self._synonyms[name_key] = names[0]
        for name in answers:
            for part in name.split(",") if "," in name else ():
                if " or " not in part:
                    self._add(part, key(name))

    def _add(self, name: str, meant: str) -> None:
        if spelled := key(name):
            self._names.setdefault(spelled, meant)
            self._starts.update(spelled[:length] for length in range(1, _LEAST + 1))
            self._longest = max(self._longest, len(_TOKEN.findall(name.lower())) + 1)

    def named(self, name: str) -> str:
        """Return the spelling under which *name* is found in texts."""
        return self._names.get(key(name), key(name))

    def find(self, text: str) -> list[Mention]:
        """Return the names in a plain text, the longest first at each place, none inside another."""
        mentions: list[Mention] = []
        tokens = [(singular(token_match.group()), *token_match.span()) for token_match in _TOKEN.finditer(text)]
        behind = 0
        for place, (word, start, _) in enumerate(tokens):
            if place < behind or word[:_LEAST] not in self._starts:
                continue
            spelled, longest = "", 0
            for number, (token, _, end) in enumerate(tokens[place : place + self._longest], place + 1):
                if token == "s":  # of a genitive
                    continue
                spelled += token
                if meant := self._names.get(spelled):
                    mention, longest = Mention(meant, start, end), number
            if longest:
                mentions.append(mention)
                behind = longest
        return mentions

    def sure(self, before: str, name: str, after: str) -> bool:
        """Whether *name* is found between some words, two before it or all: no known name goes beyond it there."""
        (*_, other, left), right = ("", "", *map(singular, _TOKEN.findall(before))), singular(_first(after))
        tokens = [singular(token) for token in _TOKEN.findall(name)]
        if "".join(tokens) not in self._names or "s" in (other, left, right, *tokens) or plainly(name) != name:
            return False  # unknown, or a name that is spelled otherwise in a plain text
        inside, wider, behind = left + tokens[0], other + left + tokens[0], tokens[-1] + right
        return not any(
            (left and (known_name.startswith(inside) or (other and wider in known_name)))
            or (right and behind in known_name)
            for known_name in self._names
        )

    def apart(self, name: str, other: str) -> bool:
        """Return whether two names share no family: neither is a synonym of the other, nor wider, nor a neighbour."""
        families = self._families.get(name), self._families.get(other)
        return bool(families[0] and families[1] and not families[0] & families[1])

    def different(self, name: str, other: str) -> bool:
        """Return whether two names are classes of the benchmark, no synonyms, and neither may hold the other."""
        usual = {self._synonyms.get(name, name), self._synonyms.get(other, other)}
        return {name, other} <= self._classes and len(usual) == 2 and not usual & {*_table()["general"]}


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files(__package__ or "").joinpath("labels.json").read_text("utf-8"))
    return table


@cache
def _groups() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return the families of each group of synonyms, and the group, the usual name first."""
    table = _table()
    return tuple(
        ((family, *table["also"].get(name, ())), (name, *others))
        for family, names in table["families"].items()
        for name, others in names.items()
    )
