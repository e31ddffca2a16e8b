"""How SO-Bench's questions sound in Russian: sentences to the letter, and grammar for every class in every wording."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from effort import as_one
from oracle_russian import BY_FORM, FORMS, NAME, VERBS

from seldio.tasks.russian import russian_name
from seldio.tasks.so_bench import worded
from seldio.tasks.task import wordings_in

VALUES = {
    "t": "3,2", "since": "1,0", "until": "2,5", "place": "сзади слева", "side": "сзади слева", "azimuth": "21 градус",
    "elevation": "-2 градуса", "count": "2", "more": "выше",
    "listed": "шаги с 1,0 до 2,5 с",
}  # fmt: skip
CLASSES = json.loads(files("seldio.tasks").joinpath("nouns.json").read_text("utf-8"))["classes"]
NAMES = {row["forms"][0]: russian_name(row["names"][0]) for row in CLASSES}


RU = wordings_in("ru")


def said(task: str, way: int, kind: str, x: str = "шаги", y: str = "музыка", **values: str) -> str:
    """A question (``q0``) or answer (``a0``) of a task about the nouns x and y."""
    wording = worded("ru")[task].wordings[way]
    texts = wording.questions if kind[0] == "q" else wording.answers
    number = {"value": "2,35 метра" if task == "estimate_distance" else "-36,6 градуса"}
    sounds = {"which": "каких звуков" if NAMES[x].plural or NAMES[y].plural else "какого звука"}
    sentence = texts[int(kind[1:])].format_map(NAMES[x].words | NAMES[y].others | VALUES | sounds | number | values)
    return sentence[0].upper() + sentence[1:]


#: Written by hand: task, way, which of its wordings or answers, two nouns, the sentence.
SENTENCES = (
    ("detect_time", 0, "q0", "женская речь", "", "В какой промежуток времени слышна женская речь?"),
    ("detect_time", 0, "q0", "шаги", "", "В какой промежуток времени слышны шаги?"),
    ("detect_time", 0, "q1", "пианино", "", "Когда на записи слышно пианино?"),
    ("detect_time", 0, "a0", "мужская речь", "", "Мужская речь слышна с 1,0 до 2,5 с."),
    ("detect_time", 0, "a0", "бытовые звуки", "", "Бытовые звуки слышны с 1,0 до 2,5 с."),
    ("detect_time", 0, "a0", "откашливание", "", "Откашливание слышно с 1,0 до 2,5 с."),
    ("count_sources", 0, "q0", "", "", "Сколько источников звука слышно в момент 3,2 с?"),
    ("count_sources", 0, "a1", "", "", "В этот момент слышны 2 источника звука."),
    ("identify_source_by_doa", 0, "q0", "", "", "Какой источник звука находится на азимуте 21 градус (влево — плюс) под углом возвышения -2 градуса?"),
    ("identify_source_by_doa", 0, "a0", "шум принтера", "", "Шум принтера слышен с азимута 21 градус под углом возвышения -2 градуса."),
    ("identify_source_by_location", 0, "q1", "", "", "Какой звук доносится сзади слева?"),
    ("identify_source_by_location", 0, "a0", "звук ножниц", "", "Звук ножниц слышен сзади слева."),
    ("onset_from_location", 0, "q0", "", "", "Когда начинается звук, который доносится сзади слева?"),
    ("onset_from_location", 0, "a0", "", "", "Звук сзади слева начинается через 3,2 с после начала записи."),
    ("estimate_azimuth", 0, "q0", "женская речь", "", "Каков азимут источника женской речи?"),
    ("estimate_azimuth", 1, "q0", "телефонный звонок", "", "Каков азимут источника телефонного звонка в момент 3,2 с?"),
    ("estimate_azimuth", 0, "a0", "плач ребёнка", "", "Азимут источника плача ребёнка составляет -36,6 градуса."),
    ("estimate_azimuth", 1, "a0", "шаги", "", "В момент 3,2 с азимут источника шагов составляет -36,6 градуса."),
    ("estimate_elevation", 0, "q1", "музыка", "", "Под каким углом возвышения слышна музыка?"),
    ("estimate_elevation", 0, "a0", "стук", "", "Угол возвышения источника стука составляет -36,6 градуса."),
    ("estimate_distance", 0, "q0", "откашливание", "", "На каком расстоянии от слушателя слышно откашливание?"),
    ("estimate_distance", 0, "a0", "кашель", "", "Расстояние от слушателя до источника кашля составляет 2,35 метра."),
    ("estimate_distance", 1, "a0", "смех", "", "В момент 3,2 с расстояние от слушателя до источника смеха составляет 2,35 метра."),
    ("multi_hop", 0, "q0", "шаги", "", "После того как шагов больше не слышно, какой звук появляется сзади слева?"),
    ("multi_hop", 0, "a0", "звон колокольчика", "шаги", "После звона колокольчика сзади слева слышны шаги."),
    ("spatial_temporal", 0, "a0", "шум воды из крана", "", "Шум воды из крана слышен сзади слева с 1,0 до 2,5 с."),
    ("compare_elevation", 0, "q0", "стук", "смех", "Источник какого звука расположен выше: стук или смех?"),
    ("compare_elevation", 0, "a0", "музыка", "женская речь", "Источник музыки находится выше, чем источник женской речи."),
    ("relative_left_right", 0, "q0", "музыка", "шаги", "Скажите, слева или справа от шагов слышна музыка."),
    ("classify_motion", 0, "q0", "мужская речь", "", "Как источник мужской речи движется относительно слушателя?"),
    ("classify_motion", 1, "q0", "бытовые звуки", "", "Меняется ли направление, с которого слышны бытовые звуки, или остаётся прежним?"),
    ("classify_motion", 0, "a0", "сигнал тревоги", "", "Источник сигнала тревоги всё время остаётся на месте."),
)  # fmt: skip


@pytest.mark.parametrize(("task", "way", "kind", "x", "y", "sentence"), SENTENCES)
def test_sentences_to_the_letter(task: str, way: int, kind: str, x: str, y: str, sentence: str) -> None:
    assert said(task, way, kind, x or "шаги", y or "музыка") == sentence


def every_sentence(x: str, y: str) -> list[tuple[str, str]]:
    """Task and sentence of all wordings and answers about two nouns."""
    found = []
    for task, each in worded("ru").items():
        for way, wording in enumerate(each.wordings):
            found += [(task, said(task, way, f"q{n}", x, y)) for n in range(len(wording.questions))]
            found += [(task, said(task, way, f"a{n}", x, y)) for n in range(len(wording.answers))]
    return found


@as_one
@pytest.mark.parametrize("x", sorted(NAMES))
def test_no_class_leaves_a_gap_or_a_foreign_letter(x: str) -> None:
    for task, sentence in every_sentence(x, "стук" if x != "стук" else "смех"):
        assert re.fullmatch(r"[А-ЯЁ][А-Яа-яЁё0-9 ,.:?()—-]+[.?]", sentence), (task, sentence)
        assert not re.search(r"  | [.,:?]|\b(\w+) \1\b", sentence), (task, sentence)


def case_of(before: str) -> int:
    """The place in a row of FORMS of the case that a noun has behind these words."""
    if re.search(r"(?:услышать|слышит) $", before):
        return 3
    genitive = r"(?:источник\w*(?: звука)?|\bот|[Кк]огда|[Пп]осле|[Пп]осле того как) $|источников .+ и (?:звука )?$"
    return 2 if re.search(genitive, before) else 1


@as_one
@pytest.mark.parametrize("x", [forms[1] for forms in FORMS])
def test_nouns_stand_in_the_right_case_and_verbs_agree(x: str) -> None:
    for y in (forms[1] for forms in FORMS if forms[1] != x):
        for task, sentence in every_sentence(x, y):
            text = sentence[0].lower() + sentence[1:]
            subject = None
            for found in NAME.finditer(text):
                if task == "detect_source" or "звука" in found[1].split()[:1]:  # its list is a value here
                    continue
                case, row = case_of(text[: found.start()]), FORMS[BY_FORM[found[1]]]
                assert found[1] == row[case], sentence
                subject = row if case == 1 else subject
            heard = re.findall(r"\b(?:слышен|слышна|слышно|слышны)\b(?! (?:\d|один))", text)
            if subject and task not in ("compare_elevation", "compare_distance"):
                assert set(heard) <= {VERBS["слышать"][subject[0]]}, sentence


@pytest.mark.parametrize(
    ("number", "unit", "written"),
    [
        (1, "degrees", "1 градус"), (-1, "degrees", "-1 градус"), (21, "degrees", "21 градус"), (2, "degrees", "2 градуса"),
        (-104, "degrees", "-104 градуса"), (11, "degrees", "11 градусов"), (112, "degrees", "112 градусов"),
        (14, "degrees", "14 градусов"), (0, "degrees", "0 градусов"), (180, "degrees", "180 градусов"),
        (-36.6, "degrees", "-36,6 градуса"), (0.5, "metres", "0,5 метра"), (1, "metres", "1 метр"), (5, "metres", "5 метров"),
    ],
)  # fmt: skip
def test_numbers_with_their_units(number: float, unit: str, written: str) -> None:
    assert RU.counted(number, unit) == written  # type: ignore[arg-type]


def test_the_cells_in_words() -> None:
    assert [RU.directions[cell].name for cell in (0, 1, 10, 20, 24, 25)] == [
        "спереди", "спереди слева", "слева сверху", "сзади снизу", "прямо сверху", "прямо снизу",
    ]  # fmt: skip
    assert [each.short for each in RU.directions] == [each.short for each in wordings_in("en").directions]
