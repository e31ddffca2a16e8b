"""The option that a reply names in the end, as a careful person reads it; none where such a person would not be sure.

>>> read("<think>violin?</think> The answer is **flute**. Anything else?", ["violin", "flute"]).option
'flute'

A reply is stripped of thoughts, tags and marks. What it announces, its first line and its last are compared as wholes
with the options, before anything is cut off. What is left is read by its mentions: a denial, a doubt, a refusal and a
question count in the sentence that names the option. Restated options are no answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from operator import attrgetter
from string import ascii_uppercase
from typing import Final, Literal, NamedTuple

from seldio.answers.words import REPLIES as _RE
from seldio.answers.words import (
    asks,
    content,
    folded,
    listed,
    loose,
    numbers,
    only,
    opposites,
    stem,
    stems,
    stripped,
    trimmed,
)

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
State = Literal["read", "unread", "refused", "empty"]
#: Words; a longer text that ends without a mark is cut off, names one option beside others, or says more than its
#: answer.
CUT_OFF, SHORT, LONG = 14, 12, 60
#: Announcements of one kind that are read of a reply, the last ones.
ANNOUNCEMENTS = 20
#: Words of a reply that may be a part of an option.
PART = 8
YES_AND_NO = (["no", "yes"], ["да", "нет"])


class ReplyReading(NamedTuple):
    """The option or yes/no that a reply gives."""

    option: str | None  # None where none is read
    layer: str = ""  # which part of the reply names it
    state: State = "read"


class OptionChoice(NamedTuple):
    """The number of an option, and which part of a reply names it."""

    option: int | None
    layer: str


UNREAD = OptionChoice(None, "")


def read(reply: str, options: Sequence[str], question: str = "") -> ReplyReading:
    """Return the one of *options* that *reply* says is the answer to *question*."""
    if not reply.strip():
        return ReplyReading(None, state="empty")
    text = stripped(reply)
    known_options = KnownOptions(tuple(options))
    choice = OptionChoice(only(known_options.spelled[0].get(reply.strip(), ())), "whole reply")
    if choice.option is None and text and options:
        answers = sorted(folded(option) for option in known_options.texts)
        decide = _yes_or_no if answers in YES_AND_NO else _decided
        choice = decide(text, known_options, question)
    if choice.option is not None and choice.option != CONFLICT:
        return ReplyReading(known_options.given[choice.option], choice.layer)
    return ReplyReading(None, state="refused" if _RE.refused.search(text) else "unread")


def _decided(text: str, options: KnownOptions, question: str) -> OptionChoice:
    place = whole(text, options)
    if place is not None:
        return OptionChoice(place, "whole reply")
    # what stands behind the last words that take back what is before them
    named = {place for mention in mentions(text, options) for place in range(mention.start, mention.end)}
    turns = [match.end() for match in _RE.back.finditer(text) if match.start() not in named]
    text = _RE.correction_lead.sub("", text[max(turns) :]) if turns else text
    announcement = _announced(text, options)
    prose, ticked = _without_lists(text, options)
    lines = [line for line in prose.splitlines() if line.strip()]
    last = whole(lines[-1], options) if len(lines) > 1 else None
    if (option := announcement.option) is not None:
        if last not in (None, option):
            return UNREAD if announcement.alone else OptionChoice(last, "first or last line")
        # unless the only option that the text names is another one
        by_text = {mention.option for mention in mentions(prose, options) if mention.sure and not mention.label}
        agreed = option in by_text or len(by_text) != 1 or len(prose.split()) > LONG
        return OptionChoice(option, "announced") if agreed else UNREAD
    if ticked is not None and last in (None, ticked):
        return OptionChoice(ticked, "list")
    if not lines or (announcement.made and last is None):
        return UNREAD
    said, opened, first_line = sentence_texts(prose), _opened(prose, options), whole(lines[0], options)
    ends = {first_line, whole(said[0], options), last} - {None}
    for place in (opened, whole(said[-1], options)):
        ends = ends or {place} - {None}
    if ends:
        option = only(ends)
        if last is None and option not in (first_line, opened):
            # the text has the label, or a sentence, of another option
            labels = {mention.option for mention in mentions(prose, options) if mention.sure and mention.label}
            others = {whole(sentence, options) for sentence in said[1:ANNOUNCEMENTS]}
            option = option if not labels - ends and not others - {None, option} else None
        return OptionChoice(option, "first or last line")
    # the opposite of what the question asks for: *quieter*, if the louder one is meant
    words, asked = {*stems(prose).split()}, {*stems(question).split()}
    if any(pair & words and pair & asked and not pair & words & asked for pair in opposites()):
        return UNREAD
    return OptionChoice(_by_mentions(prose, options), "mention")


# --- announcements ---------------------------------------------------------------------------------


class Announcement(NamedTuple):
    """The option that a reply announces as its answer."""

    option: int | None = None
    alone: bool = False  # whether the announcement says nothing else
    made: bool = False  # whether there is one, read or not


class _Candidate(NamedTuple):
    option: int
    start: int
    final: bool
    alone: bool


def _announced(text: str, options: KnownOptions) -> Announcement:
    """Return the final announcement of a text, or its only one; conclusions count if nothing is announced."""
    candidates, made = _candidates(text, options, _RE.announce)
    if not candidates:
        candidates, _ = _candidates(text, options, _RE.conclude)
    candidates = [candidate for candidate in candidates if candidate.alone] or candidates
    candidates = [candidate for candidate in candidates if candidate.final] or candidates
    if len({candidate.option for candidate in candidates}) > 1:
        corrected = _RE.back.search(text, candidates[0].start, candidates[-1].start)
        candidates = candidates[-1:] if corrected else []
    if not candidates:
        return Announcement(made=made)
    return Announcement(candidates[0].option, candidates[-1].alone, made)


def _candidates(text: str, options: KnownOptions, words: re.Pattern[str]) -> tuple[list[_Candidate], bool]:
    candidates: list[_Candidate] = []
    made = False
    for match in [*words.finditer(text)][-ANNOUNCEMENTS:]:
        behind = text[match.end() :].lstrip(" :")
        list_below = behind.startswith("\n") and len(_rows(behind, options)) > 1
        line = behind.lstrip(" :\n\"'").partition("\n")[0]
        denied = _RE.denied_announcement.search(text, max(0, match.start() - 60), match.start())
        if not line or denied or (_RE.before.match(line) and whole(line, options) is None):
            continue
        made = True
        option, alone = (None, False) if list_below else _said(line, options)
        if option is not None:
            final = bool(_RE.final.search(match.group()))
            candidates.append(_Candidate(option, match.start(), final, alone))
    return candidates, made


def _said(line: str, options: KnownOptions) -> tuple[int | None, bool]:
    """Return the option that a line gives, and whether the line holds nothing else but its reason."""
    if len(_rows(line, options)) > 1 or _RE.two_labels.match(line):
        return None, False
    for place in (whole(line, options), _opened(line, options)):
        if place is not None:
            return place, True
    first = sentence_texts(line)[0]
    for part in (first, _RE.why.split(first, maxsplit=1)[0], _RE.reason.split(first)[0]):
        if asks(part) and options.same(part) is None:
            return None, False
        if (place := whole(part, options)) is not None:
            return place, True
    affirmed = [mention for mention in mentions(first, options) if not mention.denied]
    doubted = any(mention.doubted for mention in affirmed)
    return (None if doubted else only(mention.option for mention in affirmed)), False


def _opened(text: str, options: KnownOptions) -> int | None:
    """Return the option that a text opens with: a label and its text, or a label and a sentence that names no other."""
    labelled = _RE.labelled.match(text)
    behind = options.leading(text[labelled.end() :]) if labelled else None
    label = options.of_label(labelled["label"], text, behind) if labelled else None
    if labelled is None or label is None or asks(labelled.group()):
        return None
    last = labelled.group()[-1]
    word = (labelled["label"] in "AА" and last == " ") or (labelled["label"].islower() and last not in ")]}.:")
    first = mentions(sentence_texts(text)[0], options)
    denied = any(mention.denied and mention.option == label for mention in first)
    if word or denied or _RE.several.match(text, labelled.end()):
        return None
    if behind is None:
        return options.of_letter(labelled["label"], text)
    return label if behind == label else CONFLICT


# --- restated options ------------------------------------------------------------------------------


def _rows(text: str, options: KnownOptions) -> dict[int, str]:
    rows: dict[int, str] = {}
    for piece in _RE.piece.split(text):
        body = _RE.bullet.sub("", piece)
        mark = _RE.labelled.match(body)
        label = options.of_label(mark["label"], text) if mark else None
        behind = body[mark.end() :].strip() if mark else body
        place = options.leading(behind)
        if place is None:
            place = options.leading(body)
        if place is None and (mark or (body != piece and len(behind) > 1)):
            begun = [number for number, option in enumerate(options.texts) if loose(option).startswith(loose(behind))]
            place = only(begun)
        if place is None and mark and label is not None and mark["label"].isalpha():
            place = label if not behind or _RE.right.search(behind) or _RE.wrong.search(behind) else None
        elif label not in (None, place):
            place = None
        if place is not None:
            rows.setdefault(place, piece)
    return rows


def _without_lists(text: str, options: KnownOptions) -> tuple[str, int | None]:
    """Return the text without its restated options, and the only one of them that the list says is right."""
    headings = _RE.heading.finditer(text)
    heading = next((match for match in headings if not _RE.announce.search(match.group())), None)
    if heading:
        text = f"{text[: heading.end()]}\n{text[heading.end() :]}"
    rows = _rows(text[heading.end() :] if heading else text, options)
    if list(rows) != sorted(rows) or len(rows) < (1 if heading else 2):
        return text, None
    verdicts = {place: row.replace(options.texts[place], "") for place, row in rows.items()}
    right = {place for place, verdict in verdicts.items() if _RE.tick.search(verdict) or _RE.right.search(verdict)}
    ticked = [place for place in right if not _RE.wrong.search(verdicts[place])]
    prose = "".join(piece for piece in _RE.piece.split(text) if piece not in rows.values())
    if heading:
        prose = _RE.heading.sub("\n", prose)
    return prose.strip(" \n;,"), only(ticked) if len(rows) > 1 else None


# --- mentions --------------------------------------------------------------------------------------


def _by_mentions(text: str, options: KnownOptions) -> int | None:
    """Return the only option that a reply names and neither denies nor doubts, or that of its conclusion."""
    all_mentions = mentions(text, options)
    undenied = [mention for mention in all_mentions if not mention.denied]
    affirmed = only(mention.option for mention in undenied if _RE.affirmed.match(text, mention.end))
    if affirmed is not None:
        return affirmed
    length = len(text.split())
    if not all_mentions and length > PART:
        return None
    if not all_mentions:  # the only option that has the words of a short text: *guitar* for *electric guitar*
        short = trimmed(text)
        part = stems(short)
        if len(part) < 3 or asks(short) or _RE.negative.search(short) or _RE.doubt.search(short):
            return None
        said = {*stems(text).split()}
        whose = only(place for place, terms in enumerate(options.stems) if said & {*terms})
        if whose is None or _RE.joined.search(options.texts[whose]):
            return None
        return whose if f" {part} " in f" {' '.join(options.stems[whose])} " else None
    # "What is heard: rain" is whole
    is_list = undenied and len(text) - undenied[-1].end < 3 and _RE.at_end.search(text, 0, undenied[-1].start)
    long = length > CUT_OFF or _RE.dangling.search(text)
    cut_off = bool(not is_list and long and _RE.cut.search(text))
    places = sentences(text)
    if (option := only(mention.option for mention in undenied)) is not None:
        # a sentence that does not doubt it concludes
        sure = {mention.sentence for mention in undenied if not mention.doubted}
        if not sure:
            return None
        if length <= SHORT:  # words of another option beside the mentions
            bare = text
            for mention in all_mentions:
                bare = bare[: mention.start] + " " * (mention.end - mention.start) + bare[mention.end :]
            others = {word for terms in options.stems for word in terms if len(word) > 3} - {*options.stems[option]}
            if others & {*stems(bare).split()}:
                return None
        if not cut_off and (length <= LONG or len(places) - 1 in sure):
            return option
        return option if any(_RE.so.search(text[slice(*places[number])]) for number in sure) else None
    # of several the one that the last sentence names behind *so*
    marks = [match.start() for match in _RE.so.finditer(text, places[-1][0])]
    last = [mention for mention in undenied if mention.sentence == len(places) - 1]
    if cut_off or not marks or any(mention.doubted for mention in last):
        return None
    behind = [mention for mention in last if mention.start >= marks[-1]]
    return only(mention.option for mention in behind or last)


# --- yes and no ------------------------------------------------------------------------------------


def _yes_or_no(text: str, options: KnownOptions, question: str) -> OptionChoice:
    if _RE.both.match(text):
        return UNREAD
    text, _ = _without_lists(text, options)
    announcement = _announced(text, options)
    for place in (whole(text, options), _opened(text, options), announcement.option if announcement.alone else None):
        if place is not None:
            return OptionChoice(place, "whole reply")
    answer = yes_or_no(text, question)
    said = [place for place, option in enumerate(options.texts) if (folded(option) in ("yes", "да")) is answer]
    return OptionChoice(only(said), "yes or no")


def yes_or_no(text: str, question: str) -> bool | None:
    """Return whether a stripped reply says yes: by a word, else by the words of the question that it repeats."""
    turns = [match.end() for match in _RE.taken_back.finditer(text)]
    text = text[max(turns) :].lstrip(" ,.:;—–-") if turns else text
    announced = [text[match.end() :].lstrip(" :*\n\"'") for match in _RE.announce.finditer(text)][::-1]
    refused = _RE.refusal.search(text) and not announced and not _RE.a_word.match(text)
    if _RE.both.match(text) or refused or not text:
        return None
    said = sentence_texts(text)
    for part in announced:
        if (answer := _by_word(part)) is not None:
            return answer
    last = _by_word(said[-1])
    if (answer := _by_word(text)) is not None:
        return answer if last in (None, answer) else None
    if ending := _RE.last_word.search(text):
        return bool(ending[1])
    for sentence in (said[-1], said[0]):
        for answer in (_by_word(sentence), _echoed(sentence, question)):
            if answer is not None:
                return answer
    return None


def _by_word(text: str) -> bool | None:
    if not _RE.yes.match(text) and not _RE.no.match(text):
        text = _RE.lead.sub("", text, count=1)
    yes, no = _RE.yes.match(text), _RE.no.match(text)
    if not (yes or no) or asks(text):
        return None
    return no is None or bool(yes and yes.end() > no.end())


def _echoed(sentence: str, question: str) -> bool | None:
    """Return whether a sentence says yes by repeating a question; a denial, an opposite or another subject is a no."""
    denials = len(_RE.negative.findall(sentence))
    if asks(sentence) or denials > 1 or _RE.doubt.search(sentence) or _RE.refusal.search(sentence):
        return None
    said, asked = (
        [word for word in stems(text).split() if len(word) > 2 and not _RE.filler.fullmatch(word)]
        for text in (sentence, question)
    )
    turned = compared = False
    for pair in opposites():
        mine, theirs = [word for word in said if word in pair], [word for word in asked if word in pair]
        if mine and theirs:
            compared = True
            swapped_order = len(mine) > 1 and mine == theirs[::-1]
            turned ^= swapped_order or not {*mine} & {*theirs}
            said = [word for word in said if word not in pair]
            asked = [word for word in asked if word not in pair]
    # the words of what the question compares, and of what that is compared to: *is x louder than y*
    halves = [{*stems(half).split()} for half in _RE.than.split(question, maxsplit=1)]
    subject, other = (halves[0] - halves[-1], halves[-1] - halves[0]) if len(halves) > 1 else (halves[0], set[str]())
    swapped = next((word in other for word in said if word in subject | other), False)
    missing = {*asked} - {*said} - other - (subject if swapped else set())
    if not {*said} <= {*asked} or not (compared or (said and not missing)):
        return None
    return bool(denials) == (turned ^ swapped)


# --- options ---------------------------------------------------------------------------------------


class KnownOptions:
    """The options of a question, without the labels that they have of their own, and their spellings."""

    def __init__(self, given: tuple[str, ...]) -> None:
        heads = [_RE.own_label.match(text) for text in given]
        labels = "".join(head[1] if head else " " for head in heads)
        in_order = len(labels) > 1 and any(order.startswith(labels) for order in OWN_LABELS)
        self.given = given
        self.texts = [text[head.end() if head and in_order else 0 :] for text, head in zip(given, heads, strict=True)]
        self.stems = [stems(text).split() for text in self.texts]
        words = [word for text in self.texts for word in text.lower().split()]
        self.numeric = any(re.search(r"\d", word) or word in numbers() for word in words)
        self.placed = any(_RE.placed.search(text) for text in self.texts)
        self.cyrillic = any(_RE.cyrillic.match(text.strip()) for text in given)
        self.russian = any(_RE.russian.search(text) for text in given)
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
        elif label.upper() in CYRILLIC and (
            label.upper() in "БГДЖЗ" or self.cyrillic or _RE.cyrillic_order.search(text)
        ):
            place = CYRILLIC.find(label.upper())
        elif label.upper() == "В" and len(self.given) > 2 and self.russian:
            return beside if beside in (self.first[1], self.first[2]) else CONFLICT
        else:
            place = ascii_uppercase.find(label.upper().translate(LOOKS))
        return self.first[place] if 0 <= place < len(self.given) else None

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


def whole(text: str, options: KnownOptions) -> int | None:
    """Return the option that all of a text is: its text, its label, or both that agree; else :data:`CONFLICT`."""
    if len(text) >= options.longest:
        return None
    is_name = _RE.called.search(text)
    for _ in range(_LEADS):
        place = options.same(text)
        letter = _RE.letter.match(text) if not is_name else None
        if place is not None:
            agreed = letter is None or options.of_label(letter["label"], text, place) in (None, place)
            return place if agreed and (not asks(text) or text.strip() in options.texts) else None
        if asks(text):
            return None
        if letter:
            return options.of_letter(letter["label"], text)
        if ordinal := _RE.alone.fullmatch(text):
            return None if options.numeric else options.of_place(ordinal[1])
        label = place = None
        if match := _RE.labelled.match(text):
            place = options.same(text[match.end() :])
            label = options.of_label(match["label"], text, place)
        elif match := _RE.with_letter.fullmatch(text):
            place = whole(match[1], options)
            label = options.of_label(match[2], text, place)
        if label is not None and place is not None:
            return place if label == place else CONFLICT
        shorter = trimmed(text)
        if shorter == text or not shorter.strip():
            return None
        text = shorter
    return None


class OptionMention(NamedTuple):
    """A part of a text that names an option, and what its sentence says of it."""

    start: int
    end: int
    option: int
    label: bool  # by its letter or its place
    sentence: int = 0  # its number
    denied: bool = False
    doubted: bool = False

    @property
    def sure(self) -> bool:
        """Return whether the option is neither denied nor doubted."""
        return not self.denied and not self.doubted


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end; neither a label nor a title ends one."""
    starts, ends = [0], []
    for match in _RE.sentence.finditer(text):
        if "\n" in match.group() or not _RE.no_end.search(text, max(0, match.start() - 9), match.start()):
            starts.append(match.end())
            ends.append(match.start())
    return list(zip(starts, [*ends, len(text)], strict=True))


def sentence_texts(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [text[start:end] for start, end in sentences(text)]


def named(text: str, options: KnownOptions) -> list[OptionMention]:
    """Return where a text has the words, the letter or the place of an option: the longest at each place."""
    said = [(stem(word.spelled), word) for word in content(text)]
    spelled = [word for word, _ in said]
    places: list[OptionMention] = []
    for option, terms in enumerate(options.stems):
        letters = "".join(terms)
        if options.first[option] != option or not (len(letters) > 1 or letters.isdigit()):
            continue  # an article or a letter
        if len(options.spelled[-1][" ".join(terms)]) > 1:
            continue  # the words do not tell it from another option
        for first in range(len(said) - len(terms) + 1):
            if spelled[first : first + len(terms)] == terms:
                start, end = said[first][1].start, said[first + len(terms) - 1][1].end
                places.append(OptionMention(start, end, option, label=False))
    for named_by, of_label in ((_RE.mentioned, partial(options.of_letter, text=text)), (_RE.place, options.of_place)):
        for match in named_by.finditer(text):
            named_option = of_label(next(filter(None, match.groups()), ""))
            is_name = _RE.called_before.search(text, max(0, match.start() - 30), match.start())
            if named_option not in (None, CONFLICT) and not is_name:
                places.append(OptionMention(match.start(), match.end(), named_option, label=True))
    merged: list[OptionMention] = []
    for part in sorted(places, key=lambda part: (part.start, -part.end)):
        before = merged[-1] if merged else None
        nothing = options.texts[part.option].lower() in listed("nothing") and _RE.within.match(text, part.end)
        if nothing or _RE.compound.search(text, max(0, part.start - 2), part.start):
            continue  # a part of another word
        if before and part.end <= before.end and before.option != part.option:
            continue
        between = text[before.end : part.start].strip(" .:()[]-–—\"'«“") if before else ""
        if before and before.option == part.option and before.label and not between:
            merged[-1] = OptionMention(before.start, part.end, part.option, label=True)
        else:
            merged.append(part)
    return merged


def mentions(text: str, options: KnownOptions) -> list[OptionMention]:
    """Return what a text names, in its order, and what its sentence says of it. Questions name nothing."""
    all_parts = named(text, options)
    named_options: list[OptionMention] = []
    for number, (start, end) in enumerate(sentences(text)):
        inside = [
            part._replace(start=part.start - start, end=part.end - start) for part in _within(all_parts, start, end)
        ]
        sentence = text[start:end]
        if not inside or asks(sentence):
            continue
        masked = list(sentence)  # the words of options neither deny nor doubt them
        for part in inside:
            masked[part.start : part.end] = "x" * (part.end - part.start)
        words = "".join(masked)
        cuts = [0, *(cut.end() for cut in _RE.clause.finditer(words)), len(words)]
        doubt = bool(_RE.doubt.search(words))
        for first, last in pairwise(cuts):
            parts = _within(inside, first, last)
            choice = bool(parts) and bool(_RE.choice.search(words, first, last))
            negated = refused = False
            searched = first
            for part in parts:
                # nothing ends before the part before this one: what it looked at is not searched again
                begin = max(first, searched - _LONGEST)
                negated = negated or bool(_RE.before.search(words, begin, part.start))
                refused = refused or bool(_RE.refusal.search(words, begin, part.start))
                beside = bool(_RE.beside.search(words, begin, part.start))
                denied = negated or bool(_RE.behind.match(words, part.end, max(last, part.end + _BEHIND)))
                doubted = doubt or choice or refused or beside
                first_place, last_place = part.start + start, part.end + start
                named_options.append(
                    OptionMention(first_place, last_place, part.option, part.label, number, denied, doubted)
                )
                searched = part.start
    return named_options


def _within(parts: list[OptionMention], start: int, end: int) -> list[OptionMention]:
    """Return those of some parts, which are in their order, that begin between two places."""
    first, last = (bisect_left(parts, place, key=attrgetter("start")) for place in (start, end))
    return parts[first:last]
