"""The options of a question, and where a reply names them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from string import ascii_uppercase
from typing import Final, NamedTuple

from seldio.answers.spelling import asks, content, folded, listed, loose, numbers, only, pattern, stem, stems, trimmed

CYRILLIC = "АБВГДЕЖЗ"
#: Cyrillic letters that look like Latin ones.
LOOKS = str.maketrans("АВСЕ", "ABCE")
#: Labels that options may have of their own.
OWN_LABELS = (ascii_uppercase, CYRILLIC, "АВСДЕ", "12345678")
#: What a text says that contradicts itself.
CONFLICT: Final = -1
#: From the strictest to the loosest.
SPELLINGS: tuple[Callable[[str], str], ...] = (str.strip, loose, folded, stems)
#: How often leads such as *I think* are taken off.
_LEADS = 4
#: Characters behind an option that may deny it, and those of the longest denial or refusal before one.
_BEHIND, _LONGEST = 40, 100


class KnownOptions:
    """The options of a question, without the labels that they have of their own, and their spellings."""

    def __init__(self, given: tuple[str, ...]) -> None:
        self.given = given
        self.texts = _unlabelled(given)
        self.stems = [stems(text).split() for text in self.texts]
        self.numeric = any(_holds_number(text) for text in self.texts)
        self.placed = any(pattern("placed").search(text) for text in self.texts)
        self.cyrillic = any(pattern("cyrillic").match(text.strip()) for text in given)
        self.russian = any(pattern("russian").search(text) for text in given)
        self.longest = max(map(len, given), default=0) + 200
        first: dict[str, int] = {}
        self.first = [first.setdefault(text, place) for place, text in enumerate(given)]  # of equal options
        self.spelled: tuple[dict[str, set[int]], ...] = ({}, {}, {}, {})
        for table, spell in zip(self.spelled, SPELLINGS, strict=True):
            for place, texts in zip(self.first, zip(self.texts, given, strict=True), strict=True):
                for text in texts:
                    table.setdefault(spell(text), set()).add(place)

    def of_label(self, label: str, text: str = "", beside: int | None = None) -> int | None:
        """Return the option of a letter or a number in *text*, *beside* which the words of an option may stand.

        Cyrillic letters count by their look, or by their place in the alphabet where they can only be that. В is either
        of the second and the third of Cyrillic options.
        """
        if label.isdigit():
            place = CONFLICT if self.numeric else int(label) - 1
        elif label.upper() in CYRILLIC and self._by_alphabet(label.upper(), text):
            place = CYRILLIC.find(label.upper())
        elif label.upper() == "В" and len(self.given) > 2 and self.russian:
            return beside if beside in (self.first[1], self.first[2]) else CONFLICT
        else:
            place = ascii_uppercase.find(label.upper().translate(LOOKS))
        return self.first[place] if 0 <= place < len(self.given) else None

    def _by_alphabet(self, sign: str, text: str) -> bool:
        return sign in "БГДЖЗ" or self.cyrillic or bool(pattern("cyrillic_order").search(text))

    def of_place(self, name: str) -> int | None:
        """Return the option at a place: *second*, *последний*; None where the options themselves speak of places."""
        if self.placed:
            return None
        place = int(name) if name.isdecimal() else 0
        for number, names in enumerate(listed("places")):
            if re.fullmatch(names, name, re.IGNORECASE):
                place = number or len(self.given)
        return self.first[place - 1] if 0 < place <= len(self.given) else None

    def same(self, text: str) -> int | None:
        """Return the option whose text this is, in the strictest spelling in which it is one."""
        for table, spell in zip(self.spelled, SPELLINGS, strict=True):
            spelled = spell(text)
            if spelled and spelled in table:
                return only(table[spelled])
        return None

    def leading(self, text: str) -> int | None:
        """Return the option whose text a text begins with, the longest one."""
        said = stems(text).split()
        sizes = {
            self.first[n]: len(terms) for n, terms in enumerate(self.stems) if terms and said[: len(terms)] == terms
        }
        return only(place for place, size in sizes.items() if size == max(sizes.values()))

    def of_letter(self, letter: str, text: str = "") -> int | None:
        """Return the option of a letter that stands alone: :data:`CONFLICT` if it is the text of another option."""
        place = self.of_label(letter, text)
        return place if place is None or self.same(letter) in (None, place) else CONFLICT


def _unlabelled(given: tuple[str, ...]) -> list[str]:
    """Return the texts of options without their labels, if these stand in order."""
    heads = [pattern("own_label").match(text) for text in given]
    labels = "".join(head[1] if head else " " for head in heads)
    if len(labels) < 2 or not any(order.startswith(labels) for order in OWN_LABELS):
        return list(given)
    return [text[head.end() if head else 0 :] for text, head in zip(given, heads, strict=True)]


def _holds_number(text: str) -> bool:
    return bool(re.search(r"\d", text)) or any(word in numbers() for word in text.lower().split())


def whole(text: str, options: KnownOptions) -> int | None:
    """Return the option that all of a text is: its text, its label, or both that agree; else :data:`CONFLICT`."""
    if len(text) >= options.longest:
        return None
    is_name = pattern("called").search(text)
    for _ in range(_LEADS):
        place = options.same(text)
        letter = pattern("letter").match(text) if not is_name else None
        if place is not None:
            agreed = letter is None or options.of_label(letter["label"], text, place) in (None, place)
            return place if agreed and (not asks(text) or text.strip() in options.texts) else None
        if asks(text):
            return None
        if letter:
            return options.of_letter(letter["label"], text)
        if ordinal := pattern("alone").fullmatch(text):
            return None if options.numeric else options.of_place(ordinal[1])
        if (place := _labelled(text, options)) is not None:
            return place
        shorter = trimmed(text)
        if shorter == text or not shorter.strip():
            return None
        text = shorter
    return None


def _labelled(text: str, options: KnownOptions) -> int | None:
    label = place = None
    if match := pattern("labelled").match(text):
        place = options.same(text[match.end() :])
        label = options.of_label(match["label"], text, place)
    elif match := pattern("with_letter").fullmatch(text):
        place = whole(match[1], options)
        label = options.of_label(match[2], text, place)
    if label is None or place is None:
        return None
    return place if label == place else CONFLICT


class NamedPart(NamedTuple):
    """A part of a text that names an option."""

    start: int
    end: int
    option: int
    label: bool  # by its letter or its place


class OptionMention(NamedTuple):
    """A part of a text that names an option, and what its sentence says of it."""

    option: int
    start: int
    end: int
    sentence: int  # its number
    denied: bool
    doubted: bool
    label: bool

    @property
    def sure(self) -> bool:
        """Return whether the option is neither denied nor doubted."""
        return not self.denied and not self.doubted


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end; neither a label nor a title ends one."""
    starts, ends = [0], []
    for match in pattern("sentence").finditer(text):
        if "\n" in match.group() or not pattern("no_end").search(text, max(0, match.start() - 9), match.start()):
            starts.append(match.end())
            ends.append(match.start())
    return list(zip(starts, [*ends, len(text)], strict=True))


def sentence_texts(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentences(text)]


def named(text: str, options: KnownOptions) -> list[NamedPart]:
    """Return where a text has the words, the letter or the place of an option: the longest at each place."""
    merged: list[NamedPart] = []
    for part in sorted(_all_named(text, options), key=lambda part: (part.start, -part.end)):
        before = merged[-1] if merged else None
        if _is_part_of_another_word(text, part, options):
            continue
        if before and part.end <= before.end and before.option != part.option:
            continue
        if before and before.option == part.option and before.label and not _between(text, before, part):
            merged[-1] = NamedPart(before.start, part.end, part.option, label=True)
        else:
            merged.append(part)
    return merged


def _between(text: str, before: NamedPart, part: NamedPart) -> str:
    return text[before.end : part.start].strip(" .:()[]-–—\"'«“")


def _is_part_of_another_word(text: str, part: NamedPart, options: KnownOptions) -> bool:
    nothing = options.texts[part.option].lower() in listed("nothing") and pattern("within").match(text, part.end)
    return bool(nothing or pattern("compound").search(text, max(0, part.start - 2), part.start))


def _all_named(text: str, options: KnownOptions) -> list[NamedPart]:
    said = [(stem(word.spelled), word) for word in content(text)]
    spelled = [word for word, _ in said]
    places: list[NamedPart] = []
    for option, terms in enumerate(options.stems):
        if options.first[option] != option or not _can_be_found(terms, options):
            continue
        for first in range(len(said) - len(terms) + 1):
            if spelled[first : first + len(terms)] == terms:
                start, end = said[first][1].start, said[first + len(terms) - 1][1].end
                places.append(NamedPart(start, end, option, label=False))
    for name in ("mentioned", "place"):
        for match in pattern(name).finditer(text):
            label = next(filter(None, match.groups()), "")
            named_option = options.of_place(label) if name == "place" else options.of_letter(label, text)
            is_name = pattern("called_before").search(text, max(0, match.start() - 30), match.start())
            if named_option not in (None, CONFLICT) and not is_name:
                places.append(NamedPart(match.start(), match.end(), named_option, label=True))
    return places


def _can_be_found(terms: list[str], options: KnownOptions) -> bool:
    """Return whether the words of an option tell it from the others, and from an article or a letter."""
    letter = len("".join(terms)) == 1 and not terms[0].isdigit() if terms else True
    return not letter and len(options.spelled[-1][" ".join(terms)]) == 1


def mentions(text: str, options: KnownOptions) -> list[OptionMention]:
    """Return what a text names, in its order, and what its sentence says of it. Questions name nothing."""
    all_parts = named(text, options)
    named_options: list[OptionMention] = []
    for number, (start, end) in enumerate(sentences(text)):
        inside = [
            part._replace(start=part.start - start, end=part.end - start) for part in _within(all_parts, start, end)
        ]
        sentence = text[start:end]
        if inside and not asks(sentence):
            judged = _judged(_masked(sentence, inside), inside, number)
            named_options += [part._replace(start=part.start + start, end=part.end + start) for part in judged]
    return named_options


def _within(parts: list[NamedPart], start: int, end: int) -> list[NamedPart]:
    """Return those of some parts, which are in their order, that begin between two places."""
    first, last = (bisect_left(parts, place, key=attrgetter("start")) for place in (start, end))
    return parts[first:last]


def _masked(sentence: str, inside: list[NamedPart]) -> str:
    """Return a sentence without the words of options, which neither deny nor doubt them."""
    signs = list(sentence)
    for part in inside:
        signs[part.start : part.end] = "x" * (part.end - part.start)
    return "".join(signs)


def _judged(sentence: str, inside: list[NamedPart], number: int) -> list[OptionMention]:
    cuts = [0, *(cut.end() for cut in pattern("clause").finditer(sentence)), len(sentence)]
    doubt = bool(pattern("doubt").search(sentence))
    judged: list[OptionMention] = []
    for first, last in pairwise(cuts):
        parts = _within(inside, first, last)
        choice = bool(parts) and bool(pattern("choice").search(sentence, first, last))
        negated = refused = False
        searched = first
        for part in parts:
            # nothing ends before the part before this one: what it looked at is not searched again
            begin = max(first, searched - _LONGEST)
            negated = negated or bool(pattern("before").search(sentence, begin, part.start))
            refused = refused or bool(pattern("refusal").search(sentence, begin, part.start))
            beside = bool(pattern("beside").search(sentence, begin, part.start))
            denied = negated or bool(pattern("behind").match(sentence, part.end, max(last, part.end + _BEHIND)))
            doubted = doubt or choice or refused or beside
            judged.append(OptionMention(part.option, part.start, part.end, number, denied, doubted, part.label))
            searched = part.start
    return judged
