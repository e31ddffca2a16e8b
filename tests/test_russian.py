"""Russian questions from labels: answered again by an oracle, and right Russian for every class."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from importlib.resources import files

import numpy as np
import oracle_russian as oracle
import pyarrow as pa
import pytest
from effort import as_one, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_russian import BY_FORM, FORMS, NAME, VERBS

import seldio
from seldio import synth
from seldio.errors import UsageError
from seldio.findings import raise_errors
from seldio.formats.mera import RUENVAQA
from seldio.rules.item_table import ItemTable
from seldio.rules.items import INSTRUCTION_RULES, QUESTION_RULES
from seldio.schema.events import COLUMNS, Origin, with_origin
from seldio.tasks import Margins, select
from seldio.tasks import russian as wording
from seldio.tasks.russian import (
    REFUSED,
    TASKS,
    absent,
    noun_of,
    nouns,
    russian_name,
    stream,
)
from seldio.tasks.so_bench import worded
from seldio.tasks.task import wordings_in
from seldio.vocabularies import names, vocabulary

COUNTING, SINGLE, DOUBLE, LONGER, CAPTIONING = TASKS
FIELDS = ("clip", "frame", "class_id", "source")


def make(*events, fields=FIELDS):
    """A table of events (class, first frame, end[, source]) of the clip "a"."""
    rows = [("a", f, label, *(source or [0])) for label, low, high, *source in events for f in range(low, high)]
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    return pa.table({f: pa.array(c, COLUMNS[f]) for f, c in zip(fields, columns, strict=True)})


def ask(table, *tasks, seed=3, **options):
    skipped = Counter()
    items = list(stream(table, seed=seed, skipped=skipped, tasks=tasks or None, audio_pattern="{clip}", **options))
    check_all(table, items)
    return items, skipped


def raw(table):
    rows = defaultdict(list)
    for row in table.select(FIELDS).to_pylist():
        rows[row["clip"]].append(tuple(row.values())[1:])
    return rows


def check_all(table, items):
    rows, heard = raw(table), {}
    for item in items:
        key = item.audio[0], item.start, item.end
        if key not in heard:
            heard[key] = oracle.heard(rows[key[0]], item.start, item.end)
        oracle.check(item, heard[key])
    assert len({item.id for item in items}) == len(items)


def by_name(*events, vocabulary="starss"):
    rows = [("a", f, None, label) for label, low, high in events for f in range(low, high)]
    fields = ("clip", "frame", "class_id", "class_name")
    columns = zip(fields, zip(*rows, strict=True), strict=True)
    return with_origin(pa.table({f: pa.array(c, COLUMNS[f]) for f, c in columns}), Origin("x", vocabulary))


def reasons(skipped):
    return {reason for _, reason in skipped}


@pytest.fixture(scope="module")
def synthetic():
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(25)]
    table = pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()
    return table, list(stream(table, seed=7, skipped=Counter(), audio_pattern="{clip}"))


@pytest.mark.slow
def test_real_labels(shared):
    table = seldio.read(shared / "data" / "starss22-labels" / "metadata_dev")
    items, _ = ask(table, seed=7)
    counts = Counter(item.task for item in items)
    assert set(counts) == set(TASKS)
    assert min(counts.values()) > 300
    for task in (SINGLE, DOUBLE, LONGER):
        answers = Counter(item.canonical_answer for item in items if item.task == task)
        assert abs(answers["да"] - answers["нет"]) < 0.1 * counts[task]
    letters = Counter(item.answer for item in items if item.task == CAPTIONING)
    assert min(letters.values()) > 0.22 * counts[CAPTIONING]


def test_synthetic_labels(synthetic):
    table, items = synthetic
    assert {item.task for item in items} == set(TASKS)
    check_all(table, items)
    for number in (1, 9):
        ask(table.slice(0, 2000), seed=number, window=7.5, hop=3.3)


def test_the_oracle_notices(synthetic):
    table, items = synthetic
    rows = raw(table)
    for item in items[:200]:
        heard = oracle.heard(rows[item.audio[0]], item.start, item.end)
        oracle.check(item, heard)
        wrong = "AB".replace(item.answer, "")[0]
        with pytest.raises(AssertionError):
            oracle.check(item.model_copy(update={"answer": wrong}), heard)
    for question in ("Слышен ли на записи шаги?", "Можно ли услышать на записи музыка?", "Звучит ли на записи шаги?"):
        with pytest.raises(AssertionError):
            oracle.grammar(question)


tracks = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 90), st.integers(1, 60), st.integers(0, 2)), min_size=1, max_size=7
)


@settings(max_examples=examples(80))
@given(tracks, st.sampled_from([20.0, 5.0]), st.integers(0, 99))
def test_small_random_tables(drawn, window, seed):
    table = make(*((label, low, low + length, source) for label, low, length, source in drawn))
    items, _ = ask(table, seed=seed, window=window, hop=window)
    again, _ = ask(table.take(np.arange(len(table))[::-1]), seed=seed, window=window, hop=window)
    assert again == items


@pytest.mark.slow
def test_seeds_and_shards(synthetic):
    table, items = synthetic
    assert list(stream(table, seed=7, skipped=Counter(), audio_pattern="{clip}")) == items
    other = list(stream(table, seed=8, skipped=Counter(), audio_pattern="{clip}"))
    assert [item.options for item in other] != [item.options for item in items]
    part = table.filter(pa.compute.equal(table["clip"].cast(pa.string()), "mix003"))
    assert list(stream(part, seed=7, skipped=Counter(), audio_pattern="{clip}")) == [
        item for item in items if item.audio == ["mix003"]
    ]
    few = list(stream(table, seed=7, skipped=Counter(), audio_pattern="{clip}", tasks={DOUBLE, COUNTING}))
    assert few == [item for item in items if item.task in (DOUBLE, COUNTING)]


def test_ties_are_skipped():
    items, skipped = ask(make((0, 0, 50), (4, 60, 118)), LONGER)
    assert (items, reasons(skipped)) == ([], {"the difference is within the margin"})
    (item,), _ = ask(make((0, 0, 50), (4, 60, 121)), LONGER)
    assert item.options is not None
    items, skipped = ask(make((0, 0, 50), (4, 4, 90)), CAPTIONING)
    assert skipped[CAPTIONING, "the difference is within the margin"] == 1
    items, skipped = ask(make((0, 0, 50), (4, 60, 90), (4, 95, 125), (4, 130, 160)), LONGER)
    assert reasons(skipped) == {"in all and at a stretch not the same lasts longer"}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([(4, 0, 20), (4, 29, 50)], "a pause is too short to count by"),
        ([(4, 0, 20, 1), (4, 15, 50, 2)], "two events of the class sound at once"),
        ([(4, 0, 20, 1), (4, 20, 50, 2)], "a pause is too short to count by"),
        ([(4, 0, 2)], "the event is too short"),
        ([(11, 0, 20)], "one event of the class may be a series"),
    ],
)
def test_what_cannot_be_counted(events, reason):
    items, skipped = ask(make(*events), CAPTIONING)
    assert skipped[CAPTIONING, reason] >= 1
    assert not any(item.question.startswith("Сколько раз") for item in items)


def test_times_are_counted():
    table = make(*((4, 20 * n, 20 * n + 5) for n in range(7)))
    many = [item for seed in range(8) for item in ask(table, CAPTIONING, seed=seed)[0] if "паузы" in item.question]
    assert {item.canonical_answer for item in many} == {"7", "7 раз"}
    assert len({tuple(sorted(item.options)) for item in many}) > 3
    bare = list(stream(table, seed=1, skipped=Counter(), margins=Margins(seconds=0)))
    assert any(item.question.startswith("Сколько раз") for item in bare)
    assert not any("паузы" in item.question for item in bare)
    assert wording.pauses(Margins(seconds=2.0)) == " (паузы короче 2 с не в счёт)"


def test_kinds():
    assert ask(make((4, 0, 50)), COUNTING)[0][0].canonical_answer == "один"
    assert ask(make((4, 0, 50), (2, 0, 9)), COUNTING)[0][0].canonical_answer == "несколько"
    assert reasons(ask(make((8, 0, 50)), COUNTING)[1]) == {"the class may hold several kinds of sounds"}
    assert reasons(ask(make((0, 0, 50), (1, 0, 50)), COUNTING)[1]) == {"the classes may be heard as one kind"}
    assert reasons(ask(make((4, 0, 50), (2, 0, 2)), COUNTING)[1]) == {"the event is too short"}
    assert reasons(ask(make((4, 0, 2)), COUNTING)[1]) == {"the event is too short"}


def test_a_class_and_its_kind_are_no_pair():
    items, skipped = ask(make((8, 0, 90), (9, 0, 50)), DOUBLE, LONGER)
    assert items == []
    assert skipped == {(task, "one class is a kind of the other"): 1 for task in (DOUBLE, LONGER)}


def test_classes_without_a_russian_name():
    skipped = Counter()
    items = list(stream(by_name(("Theremin", 0, 30), ("Laughter", 30, 60)), seed=1, skipped=skipped))
    assert {item.task for item in items} == {SINGLE, CAPTIONING}
    assert [item.canonical_answer for item in items if item.task == SINGLE] == ["да"]
    assert [item.question[:11] for item in items if item.task == CAPTIONING] == ["Сколько раз"]
    assert skipped[COUNTING, "a class has no Russian name"] == 1
    assert skipped[SINGLE, "too few classes are surely absent"] == 1


def test_own_names_tell_only_of_the_classes_that_occur():
    table = by_name(("Laughter", 0, 30), ("Clapping", 200, 230), ("piano", 400, 430))
    skipped = Counter()
    items = list(stream(table, seed=1, skipped=skipped, tasks=[SINGLE, CAPTIONING]))
    denied = [item.question for item in items if item.canonical_answer == "нет"]
    assert len(denied) == 3
    assert all(re.search("смех|хлопки в ладоши|пианино", question) for question in denied)
    assert skipped[CAPTIONING, "too few classes are surely absent"] == 3
    table = by_name(("Laughter", 0, 30), ("Clapping", 200, 230), ("Knock", 400, 430))
    options = {o for i in stream(table, seed=1, skipped=Counter(), tasks=[CAPTIONING]) for o in i.options}
    assert len(options & {forms[1] for forms in oracle.FORMS}) > 3


def test_refused_tasks():
    for task in REFUSED:
        with pytest.raises(UsageError, match=re.escape(task)):
            stream(make((0, 0, 9)), seed=1, skipped=Counter(), tasks=[task])
    with pytest.raises(UsageError, match="choose from Music instrument counting"):
        stream(make((0, 0, 9)), seed=1, skipped=Counter(), tasks=["nonsense"])
    assert len(TASKS) + len(REFUSED) == 8


NOUNS = nouns().all


def test_the_table_of_the_oracle():
    for label, (gender, *forms) in zip(vocabulary("starss").classes, oracle.FORMS, strict=True):
        noun = noun_of(label[0])
        assert [gender, *forms] == [noun.gender, noun.name, noun.x["x_gen"], noun.x["x_acc"], noun.x["x_with"]]
        for number, other in enumerate(vocabulary("starss").classes):
            pair = frozenset((vocabulary("starss").classes.index(label), number))
            assert (noun_of(other[0]).number in noun.alike) == (pair in oracle.ALIKE)
            assert (noun_of(other[0]).number in noun.nested) == (pair in oracle.KINDS)


@pytest.mark.parametrize("name", names())
def test_all_classes_have_russian_names(name):
    classes = [spellings for spellings in vocabulary(name).classes if spellings]
    found = [noun_of(spellings[0]) for spellings in classes]
    assert None not in found
    assert len(set(found)) == len(classes)
    for spellings in classes:
        assert noun_of(spellings[0]) == noun_of(spellings[0].upper().replace(" ", "_"))
    if len(classes) > 1:
        assert all(len(absent(frozenset([noun]), frozenset(found))) >= 3 for noun in found)


def test_all_sentences_with_all_classes(monkeypatch):
    forms = tuple((n.gender, n.name, *(n.x[f"x_{case}"] for case in ("gen", "acc", "with"))) for n in NOUNS)
    by_form = {form: number for number, row in enumerate(forms) for form in row[1:]}
    any_name = "|".join(sorted(by_form, key=len, reverse=True))
    monkeypatch.setattr(oracle, "FORMS", forms)
    monkeypatch.setattr(oracle, "BY_FORM", by_form)
    monkeypatch.setattr(oracle, "ANY", any_name)
    monkeypatch.setattr(oracle, "NAME", re.compile(rf"(?<!\w)({any_name})(?!\w)"))
    for noun in NOUNS:
        other = NOUNS[(noun.number + 1) % len(NOUNS)]
        for sentence in (*wording.SINGLE, *wording.TIMES, *wording.DOUBLE, *wording.LONGER):
            question = sentence.format_map(noun.x | other.y | {"pauses": wording.pauses(Margins())})
            oracle.grammar(question)
            assert set(oracle.named(question)) == {noun.number, other.number} if "{y" in sentence else {noun.number}
    for several in (wording.SINGLE, wording.DOUBLE, wording.LONGER, wording.KINDS, wording.TIMES, wording.PRESENT):
        assert len(set(several)) >= 3


def test_numerals():
    assert [wording.times(n) for n in (1, 2, 4, 5, 11, 12, 14, 21, 22, 25, 111, 112)] == [
        "1 раз", "2 раза", "4 раза", "5 раз", "11 раз", "12 раз", "14 раз", "21 раз", "22 раза", "25 раз", "111 раз",
        "112 раз",
    ]  # fmt: skip


@pytest.mark.parametrize("hub", [False, True])
def test_files_are_clean_and_come_back(synthetic, hub):
    items = select(synthetic[1], 1, per_task=40)
    data = RUENVAQA.write(items, {"hub": hub})
    reading = RUENVAQA.read(data, "test.json", raise_errors)
    assert RUENVAQA.write(reading.rows, reading.origin) == data
    found = {finding.code for finding in ItemTable(reading).report(QUESTION_RULES + INSTRUCTION_RULES)}
    assert not {code for code in found if code.startswith(("QAI20", "QAI10"))} - {"QAI107"}
    for before, after in zip(items, reading.rows, strict=True):
        for field in RUENVAQA.carries:
            assert getattr(before, field) == getattr(after, field), field


def test_balance(synthetic):
    _, items = synthetic
    counts = Counter(
        item.task
        for item in select(items, 7, balance=True, proportions={name: task.weight for name, task in TASKS.items()})
    )
    assert counts[CAPTIONING] == pytest.approx(4 * counts[SINGLE], abs=4)
    assert counts[SINGLE] == pytest.approx(counts[COUNTING], abs=3)


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
    ("detect_time", 0, "q1", "пианино", "", "Когда на записи слышно пианино?"),
    ("detect_time", 0, "a0", "мужская речь", "", "Мужская речь слышна с 1,0 до 2,5 с."),
    ("count_sources", 0, "q0", "", "", "Сколько источников звука слышно в момент 3,2 с?"),
    ("count_sources", 0, "a1", "", "", "В этот момент слышны 2 источника звука."),
    ("identify_source_by_doa", 0, "q0", "", "", "Какой источник звука находится на азимуте 21 градус (влево — плюс) под углом возвышения -2 градуса?"),
    ("identify_source_by_doa", 0, "a0", "шум принтера", "", "Шум принтера слышен с азимута 21 градус под углом возвышения -2 градуса."),
    ("identify_source_by_location", 0, "q1", "", "", "Какой звук доносится сзади слева?"),
    ("onset_from_location", 0, "q0", "", "", "Когда начинается звук, который доносится сзади слева?"),
    ("onset_from_location", 0, "a0", "", "", "Звук сзади слева начинается через 3,2 с после начала записи."),
    ("estimate_azimuth", 0, "q0", "женская речь", "", "Каков азимут источника женской речи?"),
    ("estimate_azimuth", 1, "q0", "телефонный звонок", "", "Каков азимут источника телефонного звонка в момент 3,2 с?"),
    ("estimate_azimuth", 0, "a0", "плач ребёнка", "", "Азимут источника плача ребёнка составляет -36,6 градуса."),
    ("estimate_elevation", 0, "q1", "музыка", "", "Под каким углом возвышения слышна музыка?"),
    ("estimate_distance", 0, "q0", "откашливание", "", "На каком расстоянии от слушателя слышно откашливание?"),
    ("estimate_distance", 1, "a0", "смех", "", "В момент 3,2 с расстояние от слушателя до источника смеха составляет 2,35 метра."),
    ("multi_hop", 0, "q0", "шаги", "", "После того как шагов больше не слышно, какой звук появляется сзади слева?"),
    ("multi_hop", 0, "a0", "звон колокольчика", "шаги", "После звона колокольчика сзади слева слышны шаги."),
    ("spatial_temporal", 0, "a0", "шум воды из крана", "", "Шум воды из крана слышен сзади слева с 1,0 до 2,5 с."),
    ("compare_elevation", 0, "q0", "стук", "смех", "Источник какого звука расположен выше: стук или смех?"),
    ("compare_elevation", 0, "a0", "музыка", "женская речь", "Источник музыки находится выше, чем источник женской речи."),
    ("relative_left_right", 0, "q0", "музыка", "шаги", "Скажите, слева или справа от шагов слышна музыка."),
    ("classify_motion", 1, "q0", "бытовые звуки", "", "Меняется ли направление, с которого слышны бытовые звуки, или остаётся прежним?"),
    ("classify_motion", 0, "a0", "сигнал тревоги", "", "Источник сигнала тревоги всё время остаётся на месте."),
)  # fmt: skip


@pytest.mark.parametrize(("task", "way", "kind", "x", "y", "sentence"), SENTENCES)
def test_sentences_to_the_letter(task: str, way: int, kind: str, x: str, y: str, sentence: str) -> None:
    assert said(task, way, kind, x or "шаги", y or "музыка") == sentence


def every_sentence(x: str, y: str) -> list[tuple[str, str]]:
    found = []
    for task, each in worded("ru").items():
        for way, form in enumerate(each.wordings):
            found += [(task, said(task, way, f"q{n}", x, y)) for n in range(len(form.questions))]
            found += [(task, said(task, way, f"a{n}", x, y)) for n in range(len(form.answers))]
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
