"""The option that a reply names in the end, as a careful person reads it; none where such a person would not be sure.

>>> read("<think>violin?</think> The answer is **flute**. Anything else?", ["violin", "flute"]).option
'flute'

A reply is stripped of thoughts, tags and marks. What it announces, its first line and its last are compared as wholes
with the options, before anything is cut off. What is left is read by its mentions: a denial, a doubt, a refusal and a
question count in the sentence that names the option. Restated options are no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from seldio.answers.options import (
    CONFLICT,
    KnownOptions,
    OptionMention,
    mentions,
    sentence_texts,
    sentences,
    whole,
)
from seldio.answers.spelling import asks, folded, loose, only, opposites, pattern, stems, stripped, trimmed

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
        choice = (
            _yes_or_no(text, known_options, question)
            if answers in YES_AND_NO
            else _decided(text, known_options, question)
        )
    if choice.option is not None and choice.option != CONFLICT:
        return ReplyReading(known_options.given[choice.option], choice.layer)
    return ReplyReading(None, state="refused" if pattern("refused").search(text) else "unread")


def _decided(text: str, options: KnownOptions, question: str) -> OptionChoice:
    """Return the option that a reply gives; none if it gives several or contradicts itself."""
    place = whole(text, options)
    if place is not None:
        return OptionChoice(place, "whole reply")
    text = _behind_correction(text, options)
    announcement = _announced(text, options)
    prose, ticked = _without_lists(text, options)
    lines = [line for line in prose.splitlines() if line.strip()]
    last = whole(lines[-1], options) if len(lines) > 1 else None
    if announcement.option is not None:
        return _confirmed(announcement, prose, last, options)
    if ticked is not None and last in (None, ticked):
        return OptionChoice(ticked, "list")
    if not lines or (announcement.made and last is None):
        return UNREAD
    ends = _ends(prose, lines[0], last, options)
    if ends:
        return OptionChoice(_uncontradicted(ends, prose, lines[0], last, options), "first or last line")
    return UNREAD if _turned_around(prose, question) else OptionChoice(_by_mentions(prose, options), "mention")


def _behind_correction(text: str, options: KnownOptions) -> str:
    """Return the text behind the last words that take back what stands before them."""
    named = {place for mention in mentions(text, options) for place in range(mention.start, mention.end)}
    turns = [match.end() for match in pattern("back").finditer(text) if match.start() not in named]
    return pattern("correction_lead").sub("", text[max(turns) :]) if turns else text


def _confirmed(announcement: Announcement, text: str, last: int | None, options: KnownOptions) -> OptionChoice:
    """Return the announced option, unless the last line or the only option that the text names is another one."""
    option = announcement.option
    if last not in (None, option):
        return UNREAD if announcement.alone else OptionChoice(last, "first or last line")
    by_text = {mention.option for mention in mentions(text, options) if mention.sure and not mention.label}
    if option in by_text or len(by_text) != 1 or len(text.split()) > LONG:
        return OptionChoice(option, "announced")
    return UNREAD


def _ends(text: str, first_line: str, last: int | None, options: KnownOptions) -> set[int]:
    said = sentence_texts(text)
    ends = {whole(first_line, options), whole(said[0], options), last} - {None}
    for place in (_opened(text, options), whole(said[-1], options)):
        if not ends and place is not None:
            ends = {place}
    return {place for place in ends if place is not None}


def _uncontradicted(ends: set[int], text: str, first_line: str, last: int | None, options: KnownOptions) -> int | None:
    """Return the only one of *ends*, unless the text has the label, or a sentence, of another option."""
    option = only(ends)
    if last is not None or option in (whole(first_line, options), _opened(text, options)):
        return option
    labels = {mention.option for mention in mentions(text, options) if mention.sure and mention.label}
    others = {whole(sentence, options) for sentence in sentence_texts(text)[1:ANNOUNCEMENTS]}
    return option if not labels - ends and not others - {None, option} else None


def _turned_around(text: str, question: str) -> bool:
    """Return whether a reply answers the opposite of the question: *quieter*, if the louder one is asked for."""
    said, asked = {*stems(text).split()}, {*stems(question).split()}
    return any(pair & said and pair & asked and not pair & said & asked for pair in opposites())


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
    candidates, made = _candidates(text, options, "announce")
    if not candidates:
        candidates, _ = _candidates(text, options, "conclude")
    candidates = [candidate for candidate in candidates if candidate.alone] or candidates
    candidates = [candidate for candidate in candidates if candidate.final] or candidates
    if len({candidate.option for candidate in candidates}) > 1:
        corrected = pattern("back").search(text, candidates[0].start, candidates[-1].start)
        candidates = candidates[-1:] if corrected else []
    if not candidates:
        return Announcement(made=made)
    return Announcement(candidates[0].option, candidates[-1].alone, made)


def _candidates(text: str, options: KnownOptions, kind: str) -> tuple[list[_Candidate], bool]:
    """Return the options that are announced in words of one kind, and whether anything is."""
    candidates: list[_Candidate] = []
    made = False
    for match in [*pattern(kind).finditer(text)][-ANNOUNCEMENTS:]:
        behind = text[match.end() :].lstrip(" :")
        list_below = behind.startswith("\n") and len(_rows(behind, options)) > 1
        line = behind.lstrip(" :\n\"'").partition("\n")[0]
        denied = pattern("denied_announcement").search(text, max(0, match.start() - 60), match.start())
        if not line or denied or (pattern("before").match(line) and whole(line, options) is None):
            continue
        made = True
        option, alone = (None, False) if list_below else _said(line, options)
        if option is not None:
            final = bool(pattern("final").search(match.group()))
            candidates.append(_Candidate(option, match.start(), final, alone))
    return candidates, made


def _said(line: str, options: KnownOptions) -> tuple[int | None, bool]:
    """Return the option that a line gives, and whether the line holds nothing else but its reason."""
    if len(_rows(line, options)) > 1 or pattern("two_labels").match(line):
        return None, False
    for place in (whole(line, options), _opened(line, options)):
        if place is not None:
            return place, True
    first = sentence_texts(line)[0]
    for part in (first, pattern("why").split(first, maxsplit=1)[0], pattern("reason").split(first)[0]):
        if asks(part) and options.same(part) is None:
            return None, False
        if (place := whole(part, options)) is not None:
            return place, True
    affirmed = [mention for mention in mentions(first, options) if not mention.denied]
    doubted = any(mention.doubted for mention in affirmed)
    return (None if doubted else only(mention.option for mention in affirmed)), False


def _opened(text: str, options: KnownOptions) -> int | None:
    """Return the option that a text opens with: a label and its text, or a label and a sentence that names no other."""
    labelled = pattern("labelled").match(text)
    behind = options.leading(text[labelled.end() :]) if labelled else None
    label = options.of_label(labelled["label"], text, behind) if labelled else None
    if labelled is None or label is None or asks(labelled.group()):
        return None
    last = labelled.group()[-1]
    word = (labelled["label"] in "AА" and last == " ") or (labelled["label"].islower() and last not in ")]}.:")
    first = mentions(sentence_texts(text)[0], options)
    denied = any(mention.denied and mention.option == label for mention in first)
    if word or denied or pattern("several").match(text, labelled.end()):
        return None
    if behind is None:
        return options.of_letter(labelled["label"], text)
    return label if behind == label else CONFLICT


# --- restated options ------------------------------------------------------------------------------


def _rows(text: str, options: KnownOptions) -> dict[int, str]:
    rows: dict[int, str] = {}
    for piece in pattern("piece").split(text):
        place = _row(piece, text, options)
        if place is not None and place not in rows:
            rows[place] = piece
    return rows


def _row(piece: str, text: str, options: KnownOptions) -> int | None:
    body = pattern("bullet").sub("", piece)
    mark = pattern("labelled").match(body)
    label = options.of_label(mark["label"], text) if mark else None
    behind = body[mark.end() :].strip() if mark else body
    place = options.leading(behind)
    if place is None:
        place = options.leading(body)
    if place is None and (mark or (body != piece and len(behind) > 1)):
        begun = [number for number, option in enumerate(options.texts) if loose(option).startswith(loose(behind))]
        place = only(begun)
    if place is None and mark and label is not None and mark["label"].isalpha():
        verdict = pattern("right").search(behind) or pattern("wrong").search(behind)
        return label if not behind or verdict else None
    return place if label in (None, place) else None


def _without_lists(text: str, options: KnownOptions) -> tuple[str, int | None]:
    """Return the text without its restated options, and the only one of them that the list says is right."""
    headings = pattern("heading").finditer(text)
    heading = next((match for match in headings if not pattern("announce").search(match.group())), None)
    if heading:
        text = f"{text[: heading.end()]}\n{text[heading.end() :]}"
    rows = _rows(text[heading.end() :] if heading else text, options)
    if list(rows) != sorted(rows) or len(rows) < (1 if heading else 2):
        return text, None
    ticked = [place for place, row in rows.items() if _is_ticked(row, options.texts[place])]
    prose = "".join(piece for piece in pattern("piece").split(text) if piece not in rows.values())
    if heading:
        prose = pattern("heading").sub("\n", prose)
    return prose.strip(" \n;,"), only(ticked) if len(rows) > 1 else None


def _is_ticked(row: str, option: str) -> bool:
    verdict = row.replace(option, "")
    right = pattern("tick").search(verdict) or pattern("right").search(verdict)
    return bool(right and not pattern("wrong").search(verdict))


# --- mentions --------------------------------------------------------------------------------------


def _by_mentions(text: str, options: KnownOptions) -> int | None:
    """Return the only option that a reply names and neither denies nor doubts, or that of its conclusion."""
    all_mentions = mentions(text, options)
    undenied = [mention for mention in all_mentions if not mention.denied]
    affirmed = only(mention.option for mention in undenied if pattern("affirmed").match(text, mention.end))
    if affirmed is not None:
        return affirmed
    if not all_mentions:
        return _by_part(text, options) if len(text.split()) <= PART else None
    cut_off = _is_cut_off(text, undenied)
    if only(mention.option for mention in undenied) is not None:
        return _only_one(text, all_mentions, cut_off, options)
    return _concluded(text, undenied) if not cut_off else None


def _is_cut_off(text: str, named: list[OptionMention]) -> bool:
    if named and len(text) - named[-1].end < 3 and pattern("at_end").search(text, 0, named[-1].start):
        return False  # "What is heard: rain"
    long = len(text.split()) > CUT_OFF or pattern("dangling").search(text)
    return bool(long and pattern("cut").search(text))


def _only_one(text: str, all_mentions: list[OptionMention], cut_off: bool, options: KnownOptions) -> int | None:
    """Return the only option that is named and not denied, if a sentence that does not doubt it concludes."""
    undenied = [mention for mention in all_mentions if not mention.denied]
    option, length = undenied[0].option, len(text.split())
    sure = {mention.sentence for mention in undenied if not mention.doubted}
    if not sure or (length <= SHORT and _beside_another(text, option, all_mentions, options)):
        return None
    said = sentence_texts(text)
    if not cut_off and (length <= LONG or len(said) - 1 in sure):
        return option
    return option if any(pattern("so").search(said[number]) for number in sure) else None


def _concluded(text: str, undenied: list[OptionMention]) -> int | None:
    """Return the option that the last sentence names behind *so*, if a reply names several."""
    said = sentences(text)
    marks = [match.start() for match in pattern("so").finditer(text, said[-1][0])]
    last = [mention for mention in undenied if mention.sentence == len(said) - 1]
    if not marks or any(mention.doubted for mention in last):
        return None
    behind = [mention for mention in last if mention.start >= marks[-1]]
    return only(mention.option for mention in behind or last)


def _beside_another(text: str, option: int, all_mentions: list[OptionMention], options: KnownOptions) -> bool:
    for mention in all_mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    others = {word for place, words in enumerate(options.stems) if place != option for word in words if len(word) > 3}
    return bool((others - {*options.stems[option]}) & {*stems(text).split()})


def _by_part(text: str, options: KnownOptions) -> int | None:
    """Return the only option that has the words of a short text: *guitar* for *electric guitar*."""
    short = trimmed(text)
    part = stems(short)
    if len(part) < 3 or asks(short) or any(pattern(name).search(short) for name in ("negative", "doubt")):
        return None
    said = {*stems(text).split()}
    option = only(place for place, terms in enumerate(options.stems) if said & {*terms})
    if option is None or pattern("joined").search(options.texts[option]):
        return None
    return option if f" {part} " in f" {' '.join(options.stems[option])} " else None


# --- yes and no ------------------------------------------------------------------------------------


def _yes_or_no(text: str, options: KnownOptions, question: str) -> OptionChoice:
    if pattern("both").match(text):
        return UNREAD
    text, _ = _without_lists(text, options)
    place = _lettered(text, options)
    if place is not None:
        return OptionChoice(place, "whole reply")
    answer = yes_or_no(text, question)
    said = [place for place, option in enumerate(options.texts) if (folded(option) in ("yes", "да")) is answer]
    return OptionChoice(only(said), "yes or no")


def _lettered(text: str, options: KnownOptions) -> int | None:
    """Return the option that the whole text is, that it opens with, or that the whole announcement is."""
    announcement = _announced(text, options)
    places = (whole(text, options), _opened(text, options), announcement.option if announcement.alone else None)
    return next((place for place in places if place is not None), None)


def yes_or_no(text: str, question: str) -> bool | None:
    """Return whether a stripped reply says yes: by a word, else by the words of the question that it repeats."""
    turns = [match.end() for match in pattern("taken_back").finditer(text)]
    text = text[max(turns) :].lstrip(" ,.:;—–-") if turns else text
    announced = [text[match.end() :].lstrip(" :*\n\"'") for match in pattern("announce").finditer(text)][::-1]
    refused = pattern("refusal").search(text) and not announced and not pattern("a_word").match(text)
    if pattern("both").match(text) or refused or not text:
        return None
    said = sentence_texts(text)
    for part in announced:
        if (answer := _by_word(part)) is not None:
            return answer
    last = _by_word(said[-1])
    if (answer := _by_word(text)) is not None:
        return answer if last in (None, answer) else None
    if ending := pattern("last_word").search(text):
        return bool(ending[1])
    for sentence in (said[-1], said[0]):
        for answer in (_by_word(sentence), _echoed(sentence, question)):
            if answer is not None:
                return answer
    return None


def _by_word(text: str) -> bool | None:
    if not pattern("yes").match(text) and not pattern("no").match(text):
        text = pattern("lead").sub("", text, count=1)
    yes, no = pattern("yes").match(text), pattern("no").match(text)
    if not (yes or no) or asks(text):
        return None
    return no is None or bool(yes and yes.end() > no.end())


def _echoed(sentence: str, question: str) -> bool | None:
    """Return whether a sentence says yes by repeating a question; a denial, an opposite or another subject is a no."""
    denials = len(pattern("negative").findall(sentence))
    if asks(sentence) or denials > 1 or any(pattern(name).search(sentence) for name in ("doubt", "refusal")):
        return None
    said, asked = _meaningful(sentence), _meaningful(question)
    turned = compared = False
    for pair in opposites():
        mine, theirs = [word for word in said if word in pair], [word for word in asked if word in pair]
        if mine and theirs:
            compared = True
            swapped_order = len(mine) > 1 and mine == theirs[::-1]
            turned ^= swapped_order or not {*mine} & {*theirs}
            said = [word for word in said if word not in pair]
            asked = [word for word in asked if word not in pair]
    subject, other = _compared_things(question)
    swapped = next((word in other for word in said if word in subject | other), False)
    missing = {*asked} - {*said} - other - (subject if swapped else set())
    if not {*said} <= {*asked} or not (compared or (said and not missing)):
        return None
    return bool(denials) == (turned ^ swapped)


def _meaningful(text: str) -> list[str]:
    return [word for word in stems(text).split() if len(word) > 2 and not pattern("filler").fullmatch(word)]


def _compared_things(question: str) -> tuple[set[str], set[str]]:
    """Return the words of what a question compares, and of what that is compared to: *is x louder than y*."""
    halves = pattern("than").split(question, maxsplit=1)
    first, second = {*stems(halves[0]).split()}, {*stems(halves[-1]).split()} if len(halves) > 1 else set[str]()
    return first - second, second - first
