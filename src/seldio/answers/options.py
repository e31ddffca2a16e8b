"""The option that a free answer names in the end, as a person reads it: by its text, by its letter, or by both.

:data:`READINGS` are tried in turn. None where a person would not be sure either: several options, a denial, a doubt, a
letter and a text that disagree, an answer that stands in the thoughts alone, a word that means an option and is not it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from seldio.answers import bearings, quantities
from seldio.answers.extract import beside_another
from seldio.answers.languages import listed, regex, words
from seldio.answers.letters import RUSSIAN, unlabelled
from seldio.answers.matching import chosen, folded, one_spelling, tokens
from seldio.answers.names import Mention
from seldio.answers.plain_text import announced, final_words, plainly
from seldio.answers.quantities import only

#: Options that are words of grammar, and what they mean at the beginning of an answer.
_YES_NO = {"yes": True, "no": False, "да": True, "нет": False}
#: Behind the answer: why.
_REASON = regex(
    r"\b(?:because|since|as (?:the|it|there|i)|потому|поскольку|так как)\b|;|\s\((?=\w{2})"
    r"|,\s*(?:but|though|although|но|хотя)\s+(?:it\s+|это\s+)?(?:could|might|may|possibly|может|возможно)\b",
    re.IGNORECASE,
)
#: Words of somebody who is not sure, or offers several.
_DOUBT = regex(rf"\b(?:{words('doubt')})\b")
_QUESTION = regex(r"(?:\A|(?<=[.!?;]))[^.!?;]*\?")
#: Between words of an option that only a blank stands between, and between others.
_BLANK, _MARKS = r"[\s*_`\"'-]{1,8}", r"[\W_]{1,8}"
_BOLD = regex(r"\*\*([^*\n]+)\*\*")
#: More of them mark no answer.
_MOST_BOLD = 20
#: Behind a first line that is taken back.
_BACK = regex(rf"\b(?:{words('back')})\b", re.IGNORECASE)
_SENTENCE = regex(r"(?<=[.!])\s+(?=\S)|\n+")
_FIRST = regex(r"[\W_]*(?!(?:not|no|не|нет)\b)([^.!?\n]+)[.!]\s+(?-i:(?=[A-ZА-ЯЁ]))", re.IGNORECASE)
#: The last sentence; labels in a row, of which the last one is none.
_LAST = regex(r"(?<=[.!?…])\s+([^.!?\n]{1,60})[.!]?\W{0,9}\Z")
_LISTED = regex(r"(?<![^\W_])[A-HА-Е1-8][).]\s")
#: Before an answer that is given in the stead of another one, or that follows; and in one that is given besides.
_TURNED = regex(
    rf"(?<![\w'])(?:{words('instead')})(?![\w'])"
    rf"|\b(?:{words('at_first')})\b[^.!?]{{0,60}}?\b(?:but|но)\b(?! then| потом| затем)",
    re.IGNORECASE,
)
_THEREFORE = regex(rf"(?:\A\s*|[.,;:—–-]\s*|\n)(?:{words('so')}|{words('concluding')})\b", re.IGNORECASE)
_ALSO = regex(r"\b(?:also|too|possible|plausible|another|тоже|также)\b", re.IGNORECASE)
#: In a sentence about what is not the case: *a mall would be louder*.
_WOULD = regex(
    r"\bwould (?:(?:be|sound) (?:\w+er|more|less|much)|have|need|show|require)\b|\bбыл[аои]? бы \w+(?:ее|[шч]е|ей)\b"
)
_DENYING = regex(r"\b(?:no|not|не|нет)\b", re.IGNORECASE)
_ALMOST = regex(r"\b(?:almost|nearly|rather\b[^.;]{0,40}\bthan)\s+(?:(?:an?|the)\s+)?\Z")
#: At the end of a reply that gives several.
_UNDECIDED = regex(rf"(?:{words('undecided')})(?![^.!?\n]*\b(?:but|so|но|поэтому)\b)[^.!?\n]*[.!]?\s*\Z", re.IGNORECASE)
#: Labels that options have of their own; what is said of each option; the number of an option.
_OWN_LABEL = regex(r"\s*[(\[]?([A-HА-Е1-8])[)\].:]\s+(?=\S)", re.IGNORECASE)
_RUSSIAN, _RUSSIAN_LETTER = regex("[а-яё]"), regex(r"(?<![^\W_])[АБВГДЕ](?=[).:\]]|\W*\Z)")
_VERDICT = regex(
    rf"(?:\A|(?<=[\s;,.*(-]))(?:\[(?P<tick>[ x✓✔])\]\s*(?P<what>[^\n]{{1,80}})|(?P<letter>[A-HА-Е])\)?\s*[:=—–-]?\s*"
    rf"(?P<said>[✓✔✅✗✘❌]|(?<=[:=—–)-]\s)(?:{words('verdicts')})(?![^\W_])))",
    re.IGNORECASE,
)
_A_VERDICT = regex(rf"(?<![^\W_])(?:{words('verdicts')})(?![^\W_])", re.IGNORECASE)
_TICK = regex(rf"\A(?:[x✓✔✅]|{words('right')})\Z", re.IGNORECASE)
_DIGIT = regex(r"[\s\"'(\[*_`]*(?:(?:option|number|no\.|№|вариант|номер)\s*)?([1-8])[\s\"')\].*_`!]*", re.IGNORECASE)
#: Before what follows from the rest.
_SO = regex(
    rf"(?:{words('so')})\b|[^?]*\b(?:therefore|thus|hence|most (?:likely|plausible|probable)|поэтому|скорее всего)\b",
    re.IGNORECASE,
)
#: Places of options, from 0 for the last, and how they are named.
_PLACES = listed("places")
_PLACE_NAMES, _NOUN = words("places"), rf"(?:{words('option')})"
_PLACED = regex(rf"(?<!\w)(?:{_PLACE_NAMES})(?!\w)|{_NOUN}", re.IGNORECASE)
_PLACE = regex(
    rf"(?<!\w)(?:({_PLACE_NAMES})\s+(?:{_NOUN}|one)|{_NOUN}\s+(?:number\s+|no\.?\s*|номер\s+|№\s*)?({_PLACE_NAMES}))(?!\w)"
    rf"|\A\W*(?:the\s+)?((?:{_PLACE_NAMES})(?<=[a-zа-яё]))\W*\Z"
)
#: Beside a number: another one that is no digit, or a reason not to take it.
_NOT_A_NUMBER = regex(r"\b(?:one|unlike|wrong|incorrect|no)\b")
#: In options of several parts, or that deny something.
_JOINED, _OPEN = regex(rf"\b(?:{words('joined')})\b"), regex(r"\b(?:и|или|не|нет|без)\b")
_TURN = regex(r"(?:\A|\AQ:.*\s)A:\s*([(\[]?[A-Z][)\].]?)\s*\Z", re.DOTALL)
#: Endings of Russian words, and words that may stand before an option.
_ENDING = r"(?:ами|ями|[оеы]го|[оеы]му|[ыи]ми|[оеиыая]й|[аяоеыи]я|[оыи]е|[ую]ю|[оеаяыи]м|[аяыи]х|[аеёиоуыэюяьй])"
_CUT = regex(rf"{_ENDING}\Z")
_FLEETING = regex(r"[оеё](?=[кц]\Z)")
_BEFORE_OPTION = listed("before_option")
#: Options that are words of sentences as well: *nothing in it says so*.
_NOTHING, _NOTHING_IN = (
    {"nothing", "none", "nobody", "no one"},
    r"(?!\s+(?:in|of|about|here|that|says?|tells?|suggests?|indicates?)\b)",
)
#: Asides, short forms and articles, and what stands in their place.
_FULL = (
    (regex(rf",?\s+(?:{words('aside')})\W*\Z", re.IGNORECASE), ""), (regex(r"(?<=\bit)['’]s\b", re.IGNORECASE), " is"),
    (regex(r"(?<=\d)\s*[-–]\s*(?=\d)"), " to "), (regex(r"(?<=\d )(?:sec|seconds?)\b"), "s"),
    (regex(r"\A\W*from\b|(?<![^\W_])(?:the|an)\s", re.IGNORECASE), " "),
)  # fmt: skip
#: Words; in longer answers an option may be named for any reason.
_SHORT = 40


#: Somebody who does not answer.
_REFUSED = regex(rf"\b(?:{words('refused')})\b|['’]m not sure\b", re.IGNORECASE)
#: A first clause that is not sure, before an answer all the same.
_ALL_THE_SAME = regex(
    rf"\A[^.!?;\n]{{0,60}}?(?:{_REFUSED.pattern})[^.!?;\n]{{0,60}}?(?:,\s*(?:but|но)\b|;\s*(?=it\b|это\b))\s*",
    re.IGNORECASE,
)
State = Literal["read", "unread", "refused", "empty"]


class ReplyReading(NamedTuple):
    """What a reply says."""

    option: str | None  # the option; None where it is not read
    layer: str = ""  # the name of what read it
    state: State = "read"


def read_option(text: str, options: Sequence[str]) -> str | None:
    """The one of *options* that *text* says is the answer.

    >>> read_option("<think>violin, guitar</think> The answer is **flute**.", ["violin", "flute"])
    'flute'
    """
    return reading(text, options).option


def reading(text: str, options: Sequence[str]) -> ReplyReading:
    """The option that *text* says is the answer, and what read it; else whether somebody refused to answer."""
    words = final_words(text)
    said, bare = _without_labels(_ticked(final_answer(words), options), options)
    for layer, read in (
        READINGS.items() if words and options and not _UNDECIDED.search(words, max(0, len(words) - 200)) else ()
    ):
        if (option := read(said, bare)) is not None:
            if said != words and _contradicted(_SENTENCE.split(words.rpartition(said)[0])[-1], option, bare):
                break
            return ReplyReading(options[bare.index(option)], layer)
    return ReplyReading(None, "", "refused" if _REFUSED.search(words) else "unread" if text.strip() else "empty")


def _contradicted(text: str, option: str, options: Sequence[str]) -> bool:
    """Whether the only option that the words before an answer name is another one than that of its letter."""
    if len(text.split()) > _SHORT or _YES_NO.keys() & {folded(each) for each in options}:
        return False
    plain, mentions = _mentions(text if not _WOULD.search(text) else "", options)
    named = only(each.name for each in mentions)
    sure = not bearings.retracted(plain) and not _DOUBT.search(plain)
    sure = sure and not any(
        bearings.denied(plain, each.start) or bearings.inaudible(plain, *each[1:]) for each in mentions
    )
    return bool(named and sure and options[ord(named[-1]) - ord("a")] != option)


def _without_labels(text: str, options: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Options without the labels that they have of their own, in order; letters by that order in the text."""
    found = [each for each in map(_OWN_LABEL.match, options) if each]
    labels = "".join(each[1].upper() for each in found)
    bare = [each.string[each.end() :] for each in found]
    if (
        len(labels) < max(2, len({*options}))
        or len({*bare}) < len(options)
        or not any(map(labels.__eq__, _orders(labels)))
    ):
        return text, options
    return _RUSSIAN_LETTER.sub(lambda letter: RUSSIAN[letter.group()], text) if labels[1] == "Б" else text, bare


def _orders(labels: str) -> list[str]:
    return [order[: len(labels)] for order in ("ABCDEFGH", "АБВГДЕ", "12345678")]


def final_answer(text: str) -> str:
    """What is announced as the answer, without its reason; all of *text* where nothing is."""
    answer = announced(text)
    return text if answer is None else _REASON.split(answer.partition("\n")[0])[0]


def _ticked(text: str, options: Sequence[str]) -> str:
    """What is ticked off, where each option gets its verdict, else what follows those; all of *text* without them."""
    verdicts = list(islice(_VERDICT.finditer(text), _MOST_BOLD))
    if len(verdicts) < 2 or any(map(_A_VERDICT.search, options)):
        return text
    ticked = [each["what"] or each["letter"] for each in verdicts if _TICK.match(each["tick"] or each["said"])]
    return " or ".join(ticked) or text[verdicts[-1].end() :]


def _by_ends(text: str, options: Sequence[str]) -> str | None:
    """The option that the first line or sentence is, or the last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = lines[-1:] if len(lines) == 1 or _BACK.search(text, len(lines[0])) else [lines[0], lines[-1]]
    first = _FIRST.match(text)
    if first and len(first[1]) > 1 and not _BACK.search(text, first.end()):  # no "A." of "A. dog B. cat"
        ends.append(first[1])
    if (
        (last := _LAST.search(text))
        and not _LISTED.search(text, 0, last.start(1))
        and not any(map(_DENYING.search, options))
    ):
        before = {_whole(each, options) for each in _SENTENCE.split(text[: last.start()])[-9:]}
        ends += [last[1]] * (before <= {None, _whole(last[1], options)})
    return only(each for line in ends if (each := _whole(line, options)) is not None)


def _by_name(text: str, options: Sequence[str]) -> str | None:
    """The one option that a short text names, or the last sentence of a long one that concludes."""
    for mark in (_TURNED, _THEREFORE) if not any(map(_TURNED.search, options)) else ():
        behind = text[max((each.end() for each in mark.finditer(text)), default=0) :]
        if behind == text or len(behind.split()) > _SHORT or _ALSO.search(behind) or any(map(_DENYING.search, options)):
            continue
        if (named := _named(behind, options)) is not None:
            return named
    sentences = _SENTENCE.split(text.strip())
    if len(text.split()) <= _SHORT:
        kept = " ".join(each for each in sentences if not _WOULD.search(each))
        return _named(text, options) or (_named(kept, options) if kept != text else None)
    last = sentences[-1]
    alone = _SO.match(last) or only(each.name for each in _mentions(text, options)[1])
    return _named(last, options) if alone and len(last.split()) <= _SHORT else None


def _by_place(text: str, options: Sequence[str]) -> str | None:
    """The option whose place is named: *the second one*, *option two*, *последний вариант*."""
    plain = text.lower()
    if digit := _DIGIT.fullmatch(text):
        counted = any(quantities.quantities(plainly(option)) for option in options)
        return None if counted or int(digit[1]) > len(options) else options[int(digit[1]) - 1]
    if any(map(_PLACED.search, options)) or _mentions(text, options)[1] or _DOUBT.search(plain) or _asks(text, options):
        return None
    places: set[int] = set()
    for match in _PLACE.finditer(plain):
        if bearings.denied(plain, match.start()):
            return None
        place = next(
            number
            for number, word in enumerate(_PLACES)
            if re.fullmatch(word, only(filter(None, match.groups())) or "")
        )
        places.add(len(options) if place == 0 else place)
    place = only(places) or 0
    return options[place - 1] if 0 < place <= len(options) else None


def _by_number(text: str, options: Sequence[str]) -> str | None:
    """The option that is a number, where all are: *three* for 3, *двое* for два."""
    numbers = [_number(option) for option in options]
    known = [number for number in numbers if number is not None]
    part = len(known) < len(options) and (len(known) < 2 or _number(text.strip(" .!*")) is None)
    if part or len({*known}) < len(known) or len(text.split()) > _SHORT:
        return None
    plain = plainly(text)
    found = quantities.quantities(plain)
    if (
        not found
        or _DOUBT.search(plain)
        or _NOT_A_NUMBER.search(plain)
        or any(each.bound or each.doubtful for each in found)
    ):
        return None
    value = only(each.value for each in found)
    return options[numbers.index(value)] if value in numbers else None


def _number(option: str) -> float | None:
    try:
        return float(plainly(option))
    except ValueError:
        return None


def _by_head(text: str, options: Sequence[str]) -> str | None:
    """The option whose last words are all that is said, where no other has them: *guitar* for *electric guitar*.

    The first ones are as good in Russian, and where other options have the rest: *freight* beside *steam train*.
    """
    said = tokens(text.strip())
    said = said[1:] if _article(said) else said
    if (
        not said
        or len(text) > 60
        or _asks(text, options)
        or len(said[-1].group()) < (3 if _RUSSIAN.match(said[-1].group().lower()) else 4)
    ):
        return None
    found = [option for option in options if _inside(said, option)]
    plain = folded(found[0]) if len(found) == 1 else ""
    part = " ".join(each.group().casefold() for each in said)
    first = _RUSSIAN.match(plain) and plain.startswith(part + " ")
    whole = len(plain.split()) <= 3 and not (_OPEN if first else _JOINED).search(plain)
    if _RUSSIAN.match(plain) and any(
        re.search(_word(each.group()), one_spelling(other), re.IGNORECASE)
        for other in options
        if other not in found
        for each in said
    ):
        return None
    rest = {*plain.split()} - {*part.split()}
    others = {word for option in options if option not in found for word in folded(option).split()}
    return found[0] if whole and rest and (plain.endswith(" " + part) or first or rest <= others) else None


def _by_turn(text: str, options: Sequence[str]) -> str | None:
    """The option of a letter behind ``A:`` for *answer*."""
    if (found := _TURN.search(text)) is None or any(len(option.strip()) < 2 for option in options):
        return None
    return _whole(found[1], options)


def _whole(text: str, options: Sequence[str]) -> str | None:
    """The option that *text* is, or whose letter it is."""
    if _asks(text, options):
        return None
    same = _same(text, options)
    letter, lettered = chosen(text, options)
    if letter is None or letter.rule not in ("alone", "first"):
        return only(same)
    if letter.rule == "alone":  # a letter may be the text of another option
        return lettered if same <= {lettered} else only(same) if lettered is None else None
    return lettered if lettered in same else text if text in same else None


def _same(text: str, options: Sequence[str]) -> set[str]:
    """The options whose text this is, the label aside: of those that differ little, the nearest."""
    for part in unlabelled(text):
        for spelled in (str.strip, _bare, folded, _in_full):
            meant = spelled(part)
            if found := {option for option in options if spelled(option) == meant}:
                return found
    return set()


def _bare(text: str) -> str:
    """A text without case and what may stand around it."""
    return text.casefold().strip(" \t\r\n*_`\"'“”«».!") if any(map(str.isalnum, text)) else text


def _in_full(text: str) -> str:
    """A text without articles and asides, short forms and ranges in full: *it's 1-2 s, I guess*: *it is 1 to 2 s*."""
    for pattern, full in _FULL:
        text = pattern.sub(full, text)
    return folded(text)


def _asks(text: str, options: Sequence[str]) -> bool:
    text = text.strip(" *_`") if text.strip(" *_`")[:1] not in "\"'“" else text.rstrip(" *_`\"'”")
    return text.endswith("?") and not any(option.endswith("?") for option in options)


def _bold(text: str, options: Sequence[str]) -> str | None:
    """The only option that is in bold, where it is not denied."""
    if announced(text) is not None:
        return None
    spans = list(islice(_BOLD.finditer(text), _MOST_BOLD))
    found = [(each, match) for match in spans if (each := _whole(match[1], options)) is not None]
    plain = text.lower()
    if any(bearings.denied(plain, match.start()) or bearings.inaudible(plain, *match.span()) for _, match in found):
        return None
    return only(each for each, _ in found) if len(spans) < _MOST_BOLD else None


def _named(text: str, options: Sequence[str]) -> str | None:
    """The option that a short text names, by its text, its letter or both, without doubt or denial."""
    if (whole := _whole(text, options)) is not None:
        return whole
    text = _ALL_THE_SAME.sub("", text)
    lettered = None if _asks(text, options) else chosen(text, options)[1]
    if lettered is not None and (same := _same(text, options)) and lettered not in same:
        return None
    if _YES_NO.keys() >= {folded(option) for option in options}:
        return _yes_or_no(text, options) or lettered
    plain, mentions = _mentions(text, options)
    meant = [each for each in mentions if not bearings.denied(plain, each.start)
             and not _ALMOST.search(plain, max(0, each.start - 60), each.start)]  # fmt: skip
    if not meant:
        return None if mentions else lettered
    named = only(mention.name for mention in meant)
    if named is None or bearings.retracted(plain) or _DOUBT.search(plain):
        return None
    if any(bearings.inaudible(plain, each.start, each.end) or beside_another(plain, each) for each in meant):
        return None
    named = options[ord(named[-1]) - ord("a")]
    return named if lettered in (None, named) and named not in _doubles(tuple(options)) else None


def _yes_or_no(text: str, options: Sequence[str]) -> str | None:
    answer = bearings.yes_no(plainly(text))
    return next((option for option in options if answer is _YES_NO[folded(option)]), None)


def _mentions(text: str, options: Sequence[str]) -> tuple[str, list[Mention]]:
    """The text in plain spelling, with a name of one kind in place of each option, and where those are."""
    if len(options) <= 26:
        text = _named_in(tuple(options)).sub(lambda found: f" {found.lastgroup} ", one_spelling(text))
    plain = _QUESTION.sub(" ", plainly(text))
    return plain, [Mention(match.group(), *match.span()) for match in re.finditer(r"\bqz[a-z]\b", plain)]


@lru_cache(256)
def _named_in(options: tuple[str, ...]) -> re.Pattern[str]:
    """What finds options in a text in one spelling, the longest first: the group tells which."""
    patterns = {f"qz{chr(ord('a') + options.index(option))}": _pattern(option, options) for option in options}
    longest = sorted(patterns, key=lambda name: len(patterns[name]), reverse=True)
    return re.compile("|".join(f"(?P<{name}>{patterns[name]})" for name in longest if patterns[name]) or r"(?!)")


@lru_cache(256)
def _doubles(options: tuple[str, ...]) -> frozenset[str]:
    """The options that another one may be taken for inside a sentence, where case and marks tell little."""
    named = {option: re.compile(_pattern(option, options) or r"(?!)") for option in options}
    pairs = [(one, two) for one in named for two in named if one != two and named[one].fullmatch(one_spelling(two))]
    return frozenset(option for pair in pairs for option in pair)


def _article(words: Sequence[re.Match[str]]) -> bool:
    return len(words) > 1 and words[0].group().lower() in ("a", "an", "the")


def _inside(words: Sequence[re.Match[str]], option: str) -> bool:
    """Whether an option has these words one after the other."""
    return f" {' '.join(word.group().casefold() for word in words)} " in f" {folded(option)} "


def _word(word: str) -> str:
    """A word in a text; a Russian one in any case, an English one in both numbers, a sharp in words as well."""
    if re.fullmatch("[a-z]{4,}", word) and not word.endswith(("ss", "us", "is", "ous")):
        return f"{word}(?:e?s)?" if word[-1] != "s" else f"{word}?" if len(word) > 4 else word
    if len(word) < 3 or not re.fullmatch("[а-яё]+", word, re.IGNORECASE):
        return re.escape(word).replace(r"\#", "(?:#|[ -]sharp)")
    stem = _CUT.sub("", word)
    stem = stem if len(stem) > 2 else word
    return _FLEETING.sub("[оеё]?", stem) + f"{_ENDING}?"


def _pattern(option: str, options: Sequence[str]) -> str:
    """An option in a text, in any of its endings where those tell it from the others."""
    loose = _spelled(option, options, _word)
    others = [one_spelling(other) for other in options if other != option]
    return _spelled(option, options, re.escape) if loose and any(re.search(loose, other) for other in others) else loose


def _spelled(option: str, options: Sequence[str], word: Callable[[str], str]) -> str:
    """An option in a text: all its words and signs, with none that make another one of it."""
    text, found, before = one_spelling(option), tokens(option), ""
    if found and found[0].group()[0].isdigit():
        before = r"(?<![-+])"
    elif _article(found) and not any(_inside(found[1:], other) for other in options if other != option):
        found, before = found[1:], r"(?<!\b[B-HJ-Z]\s)(?<!#\s)"  # an article may be left out; the A of A major may not
    elif len(found) > 1 and found[0].group().lower() in _BEFORE_OPTION and word is _word:
        found = found[1:]
    words = [word(each.group()) for each in found]
    if not words:
        return ""
    for number, (one, two) in enumerate(pairwise(found), 1):
        between = text[one.end() : two.start()]
        words[number] = (_BLANK if between.isspace() else _MARKS if between else r"\s?") + words[number]
    case = "i" if len(words[0]) > 1 or len(words) > 1 else ""  # I and a are words of sentences
    words.append(r"\??" if option.endswith("?") else _NOTHING_IN if folded(option) in _NOTHING else "")
    return rf"(?<![^\W_])(?<!\d[.,:/]){before}(?{case}:{''.join(words)})(?![^\W_]|[#+]|[.,:/]\d|\s?[%°]|-(?!\w))"


#: What reads an option in a reply, in the order in which they are tried.
READINGS: dict[str, Callable[[str, Sequence[str]], str | None]] = {
    "line": _by_ends, "name or letter": _by_name, "bold": _bold, "place": _by_place, "number": _by_number,
    "last words": _by_head, "turn": _by_turn,
}  # fmt: skip
