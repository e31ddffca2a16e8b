"""Answers Russian questions from raw label rows by sets of frames; nothing of seldio.tasks, own table of names."""

from __future__ import annotations

import re

import oracle

#: STARSS's 13 classes: gender or pl, then nominative, genitive, accusative, "with" and instrumental.
FORMS = (
    ("f", "женская речь", "женской речи", "женскую речь", "с женской речью"),
    ("f", "мужская речь", "мужской речи", "мужскую речь", "с мужской речью"),
    ("pl", "хлопки в ладоши", "хлопков в ладоши", "хлопки в ладоши", "с хлопками в ладоши"),
    ("m", "телефонный звонок", "телефонного звонка", "телефонный звонок", "с телефонным звонком"),
    ("m", "смех", "смеха", "смех", "со смехом"),
    ("pl", "бытовые звуки", "бытовых звуков", "бытовые звуки", "с бытовыми звуками"),
    ("pl", "шаги", "шагов", "шаги", "с шагами"),
    (
        "m",
        "звук открывающейся или закрывающейся двери",
        "звука открывающейся или закрывающейся двери",
        "звук открывающейся или закрывающейся двери",
        "со звуком открывающейся или закрывающейся двери",
    ),
    ("f", "музыка", "музыки", "музыку", "с музыкой"),
    ("m", "музыкальный инструмент", "музыкального инструмента", "музыкальный инструмент", "с музыкальным инструментом"),
    ("m", "шум воды из крана", "шума воды из крана", "шум воды из крана", "с шумом воды из крана"),
    ("m", "звон колокольчика", "звона колокольчика", "звон колокольчика", "со звоном колокольчика"),
    ("m", "стук", "стука", "стук", "со стуком"),
)
FEMALE, MALE, _, PHONE, _, HOME, STEPS, DOOR, MUSIC, INSTRUMENT, WATER, BELL, KNOCK = range(13)
#: One is a kind of the other.
KINDS = {frozenset((HOME, x)) for x in (STEPS, DOOR, WATER, PHONE, BELL, KNOCK)} | {frozenset((MUSIC, INSTRUMENT))}
#: One may be taken for the other.
ALIKE = KINDS | {
    frozenset(pair)
    for pair in ((FEMALE, MALE), (PHONE, BELL), (STEPS, KNOCK), (DOOR, KNOCK), (INSTRUMENT, BELL))
}  # fmt: skip
VERBS = {
    "слышать": {"m": "слышен", "f": "слышна", "n": "слышно", "pl": "слышны"},
    "звучать": {"m": "звучит", "f": "звучит", "n": "звучит", "pl": "звучат"},
    "длиться": {"m": "длится", "f": "длится", "n": "длится", "pl": "длятся"},
}
BY_FORM = {form: number for number, forms in enumerate(FORMS) for form in forms[1:]}
ANY = "|".join(sorted(BY_FORM, key=len, reverse=True))
NAME = re.compile(rf"(?<!\w)({ANY})(?!\w)")
VERB = re.compile(r"(?i)(?<!\w)(слышен|слышна|слышно|слышны|звучит|звучат|длится|длятся)(?!\w)")
MARGIN = 5


class Heard:
    """One class in a window: the runs of its sources, and all frames in which one of them sounds."""

    def __init__(self, runs):
        self.runs = runs
        self.frames = sorted({row[0] for run in runs for row in run})
        self.longest = max(len(run) for run in runs)

    @property
    def stretches(self):
        """How many times it sets in, and the shortest pause (frames)."""
        steps = [b - a for a, b in zip(self.frames, self.frames[1:], strict=False) if b > a + 1]
        return len(steps) + 1, min(steps, default=1000) - 1


def heard(rows, start, end):
    """The classes of a window, from the rows of its recording."""
    found = oracle.runs(rows, start, end)
    return {number: Heard([run for run in found if run[0][1] == number]) for number in {run[0][1] for run in found}}


def likely(one, other):
    return frozenset((one, other)) in ALIKE


def named(question):
    return [BY_FORM[match] for match in NAME.findall(question)]


def longer(one, other):
    """Whether one lasts longer; it must be clear."""
    assert abs(len(one.frames) - len(other.frames)) > MARGIN * (len(one.runs) + len(other.runs))
    truth = len(one.frames) > len(other.frames)
    assert one.longest == other.longest or (one.longest > other.longest) == truth
    return truth


def no_distractor(sounds, number):
    """The class is surely not heard."""
    assert number not in sounds
    assert not any(likely(number, other) for other in sounds)


def single(sounds, question):
    (number,) = named(question)
    if number not in sounds:
        no_distractor(sounds, number)
    return "да" if number in sounds else "нет"


def double(sounds, question):
    pair = named(question)
    assert len(set(pair)) == 2
    if all(number in sounds for number in pair):
        assert frozenset(pair) not in KINDS
        return "да"
    for number in pair:
        if number not in sounds:
            no_distractor(sounds, number)
    return "нет"


def compare(sounds, question):
    pair = named(question)
    assert frozenset(pair) not in KINDS
    if "по сравнению" in question:
        pair.reverse()
    return "да" if longer(*(sounds[number] for number in pair)) else "нет"


def kinds(sounds, question):
    assert "фонов" in question
    if len(sounds) == 1:
        assert not set(sounds) & {HOME, MUSIC, INSTRUMENT}
        return "один"
    assert any(not likely(one, other) for one in sounds for other in sounds if one < other)
    return "несколько"


def times(sounds, question):
    (number,) = named(question)
    assert number not in (PHONE, BELL)
    assert "(паузы короче 0,5 с не в счёт)" in question
    count, pause = sounds[number].stretches
    assert pause >= 2 * MARGIN
    assert count == len(sounds[number].runs)
    return str(count)


def among(sounds, item):
    options = [BY_FORM[option] for option in item.options]
    there = [number for number in options if number in sounds]
    for number in set(options) - set(there):
        no_distractor(sounds, number)
    question = item.question
    if "перв" in question or "раньше" in question:
        onsets = sorted((sound.frames[0], number) for number, sound in sounds.items())
        assert onsets[1][0] - onsets[0][0] >= MARGIN
        right = onsets[0][1]
    elif "дольше" in question or "продолжительное" in question:
        right = max(sounds, key=lambda number: len(sounds[number].frames))
        assert all(longer(sounds[right], sounds[other]) for other in sounds if other != right)
    else:
        (right,) = there
        return FORMS[right][1]
    assert len(there) >= 2
    assert not any(likely(right, other) for other in options)
    return FORMS[right][1]


def captioning(sounds, item):
    return times(sounds, item.question) if item.question.startswith("Сколько раз") else among(sounds, item)


ANSWERS = {
    "Music instrument counting": lambda sounds, item: kinds(sounds, item.question),
    "Single music instrument detection": lambda sounds, item: single(sounds, item.question),
    "Double music instrument detection": lambda sounds, item: double(sounds, item.question),
    "Music instrument comparison (longer)": lambda sounds, item: compare(sounds, item.question),
    "Audio captioning": captioning,
}
BINARY = ({"да", "нет"}, {"один", "несколько"})


def check(item, sounds):
    """One item, by what is heard in its window."""
    right = ANSWERS[item.task](sounds, item)
    options = [option.split(" раз")[0] for option in item.options]
    assert options.index(right) == "ABCD".index(item.answer)
    assert item.canonical_answer == item.options["ABCD".index(item.answer)]
    assert len(set(options)) == len(options)
    assert set(options) in BINARY if item.task != "Audio captioning" else len(options) == 4
    grammar(item.question)
    for option in item.options:
        counted(option)


def counted(option):
    """*раз* or *раза*, as the number wants it."""
    if match := re.fullmatch(r"(\d+) (раза?)", option):
        number = int(match[1])
        teen = number // 10 % 10 == 1
        assert match[2] == ("раза" if 2 <= number % 10 <= 4 and not teen else "раз")


def grammar(question):
    """Verbs agree with their nouns, and nouns stand in the case that the words before them want."""
    assert re.fullmatch(r"[А-ЯЁ][^{}_]*\?", question)
    assert "  " not in question
    nouns = [(match.start(), match[0]) for match in NAME.finditer(question)]
    if not nouns:
        return
    both = re.search(rf"(?<!\w)и (?:{ANY}), и|оба звука", question)
    subject = [form for at, form in nouns if _case(question[:at]) == 1]
    for at, form in nouns:
        assert form == FORMS[BY_FORM[form]][_case(question[:at])], question
    for verb in VERB.findall(question):
        gender = "pl" if both else FORMS[BY_FORM[subject[0]]][0]
        assert verb.lower() in {forms[gender] for forms in VERBS.values()}, question


def _case(before):
    """The index into a row of FORMS of the case that a noun has after these words."""
    if re.search(r"по сравнению $", before):
        return 4
    if re.search(r"дольше $", before):
        return 2
    return 3 if "услышать" in before else 1
