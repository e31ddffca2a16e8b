"""SO-Bench's questions in Russian: the same facts as in English, in native grammar, answered again from labels."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import oracle
import pyarrow as pa
import pytest
from effort import as_one
from oracle_russian import ANY, BY_FORM, FORMS, NAME, VERBS
from test_questions import event, make, raw, walkers
from typer.testing import CliRunner

import seldio
from seldio import synth
from seldio.cli import app
from seldio.errors import UsageError
from seldio.formats import get as layout
from seldio.rules.item_blind import GuessGroup
from seldio.schema.events import ClipFile
from seldio.schema.qa import Item, Prediction
from seldio.scores.so_bench.profiles import get
from seldio.scores.so_bench.report import score
from seldio.tasks import TASKS, Generated, generate, select
from seldio.tasks.english import worded
from seldio.tasks.mix import key
from seldio.tasks.nouns import russian_name
from seldio.tasks.task import NO_NAME
from seldio.tasks.wordings import wordings_in

RUN = CliRunner()
RU = wordings_in("ru")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(20)]
    tables += [synth.labels(f"walk{seed:03}", walkers(seed)) for seed in range(4)]
    return pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()


@pytest.fixture(scope="module")
def english(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}")


@pytest.fixture(scope="module")
def russian(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}", language="ru")


# --- the same facts ----------------------------------------------------------------------------------------


def facts(item: Item) -> dict[str, object]:
    """All of an item but its words, its id and its language."""
    return item.model_dump(exclude={"id", "question", "answer", "language"})


def test_the_facts_are_those_of_the_english_questions(english: Generated, russian: Generated) -> None:
    assert set(TASKS) == {item.task for item in russian.items}
    assert list(map(facts, russian.items)) == list(map(facts, english.items))
    assert russian.skipped == english.skipped
    assert {item.language for item in russian.items} == {"ru"}
    ids = {item.id for item in russian.items}
    assert len(ids) == len(russian.items)
    assert ids.isdisjoint(item.id for item in english.items)
    assert all(re.fullmatch("qa_[0-9a-f]{20}", id) for id in ids)


def test_balance_looks_at_the_facts(english: Generated, russian: Generated) -> None:
    for one, other in zip(english.items, russian.items, strict=True):
        (*told, luck), *more = key(one, 7, balance=True)[:3], *key(one, 7, balance=True)[3:]
        (*same, chance), *rest = key(other, 7, balance=True)[:3], *key(other, 7, balance=True)[3:]
        assert (told, more) == (same, rest)
        assert luck != chance
    assert {item.task for item in select(russian.items, 7, balance=True)} == set(TASKS)


def test_english_questions_are_as_they_were() -> None:
    """Wordings moved from the code to a table: a digest of what the code said before."""
    rows = [
        *event(0, 0, 60, 40, 10, 1.0), *event(11, 80, 130, -80, -30, 2.0), *event(5, 100, 200, 170, 0, 3.5),
        *((frame, 6, 0, frame - 150, 30, 2.5) for frame in range(150, 199)),
    ]  # fmt: skip
    items = [item for seed in range(40) for item in generate(make(rows), seed=seed).items]
    assert {item.task for item in items} == set(TASKS)
    digest = hashlib.sha256("\n".join(f"{item.id} {item.question} {item.answer}" for item in items).encode())
    assert digest.hexdigest() == "87042d679c8296e1226576e9554069fd29ce636d138e2f863756fd617141c9a8"


# --- answered again from labels ----------------------------------------------------------------------------

SPOKEN = list(oracle.SPOKEN)
SECTOR = "спереди слева|спереди справа|сзади слева|сзади справа|спереди|сзади|слева|справа"
ENGLISH_SIDES = {
    "спереди": "front", "спереди слева": "front-left", "слева": "left", "сзади слева": "back-left", "сзади": "back",
    "сзади справа": "back-right", "справа": "right", "спереди справа": "front-right", "сверху": "above", "снизу": "below",
}  # fmt: skip
WORDS = (
    (r"\b[Вв] момент (\d+),(\d) с\b", r"at \1.\2s"), (r"с (\d+),(\d) до (\d+),(\d) с\b", r"from \1.\2s to \3.\4s"),
    (r"\bазимут[еа]\b", "azimuth"), (r"\bвозвышения\b", "elevation"), (r"\bградус(?:а|ов)?\b", "degrees"),
    (r"\bвыше\b", "higher"), (r"\bниже\b", "lower"), (r"\bближе\b", "closer"), (r"\bдальше\b", "farther"),
    (r"прямо (?:над слушателем|сверху)", "straight above"), (r"прямо (?:под слушателем|снизу)", "straight below"),
    (rf"\bот (?=(?:{ANY})\b)", "side of the "),
)  # fmt: skip


def in_english(text: str, task: str) -> str:
    """What the oracle looks at in a sentence, in the words that it knows; with tables of its own."""
    text = text[:1].lower() + text[1:]
    text = re.sub(r"(?<=\. )(\w)", lambda found: found[1].lower(), text)
    for pattern, said in WORDS:
        text = re.sub(pattern, said, text)
    if task in ("identify_source_by_location", "onset_from_location", "multi_hop"):
        text = re.sub(
            rf"\b({SECTOR})(?: (сверху|снизу))?\b",
            lambda found: (
                f"from the {ENGLISH_SIDES[found[1]]}" + (f" and {ENGLISH_SIDES[found[2]]}" if found[2] else "")
            ),
            text,
        )
    return NAME.sub(lambda found: SPOKEN[BY_FORM[found[1]]], text)


def check_all(table: pa.Table, items: list[Item]) -> None:
    rows = raw(table)
    for item in items:
        found = oracle.runs(rows[item.audio[0]], item.start, item.end)
        words = {"question": in_english(item.question, item.task), "answer": in_english(item.answer, item.task)}
        oracle.check(item.model_copy(update=words), found)


def test_every_question_has_the_one_right_answer(table: pa.Table, russian: Generated) -> None:
    assert min(Counter(item.task for item in russian.items).values()) > 10
    check_all(table, russian.items)


def test_the_oracle_notices(table: pa.Table, russian: Generated) -> None:
    first = {item.task: item for item in russian.items}
    for item in first.values():
        other = next(i for i in russian.items if i.task == item.task and i.canonical_answer != item.canonical_answer)
        with pytest.raises(AssertionError):
            check_all(table, [item.model_copy(update={"canonical_answer": other.canonical_answer})])


def test_windows_of_real_labels(shared: Path) -> None:
    table = seldio.read(shared / "data" / "starss22-labels" / "metadata_dev" / "dev-test-sony")
    made = generate(table, seed=3, window=10.0, per_task=60, audio_pattern="{clip}", language="ru")
    assert len(made.items) > 200
    check_all(table, made.items)


# --- grammar -----------------------------------------------------------------------------------------------

VALUES = {
    "t": "3,2", "since": "1,0", "until": "2,5", "place": "сзади слева", "side": "сзади слева", "azimuth": "21 градус",
    "elevation": "-2 градуса", "angle": "-36,6 градуса", "far": "2,35 метра", "count": "2", "more": "выше",
    "listed": "шаги с 1,0 до 2,5 с",
}  # fmt: skip
CLASSES = json.loads(files("seldio.tasks").joinpath("nouns.json").read_text("utf-8"))["classes"]
NAMES = {row["forms"][0]: russian_name(row["names"][0]) for row in CLASSES}


def said(task: str, way: int, kind: str, x: str = "шаги", y: str = "музыка", **values: str) -> str:
    """A question (``q0``) or answer (``a0``) of a task about the nouns x and y."""
    wording = worded("ru")[task].wordings[way]
    texts = wording.questions if kind[0] == "q" else wording.answers
    sentence = texts[int(kind[1:])].format_map(NAMES[x].words | NAMES[y].others | VALUES | values)
    return sentence[0].upper() + sentence[1:]


#: Written by hand: task, way, which of its wordings or answers, two nouns, the sentence.
SENTENCES = (
    ("detect_time", 0, "q0", "женская речь", "", "В какой промежуток времени слышна женская речь?"),
    ("detect_time", 0, "q0", "шаги", "", "В какой промежуток времени слышны шаги?"),
    ("detect_time", 0, "q1", "пианино", "", "Когда на записи слышно пианино?"),
    ("detect_time", 0, "q2", "смех", "", "С какой по какую секунду слышен смех?"),
    ("detect_time", 0, "q3", "музыка", "", "От какого и до какого момента на записи можно услышать музыку?"),
    ("detect_time", 0, "q3", "хлопки в ладоши", "", "От какого и до какого момента на записи можно услышать хлопки в ладоши?"),
    ("detect_time", 0, "a0", "мужская речь", "", "Мужская речь слышна с 1,0 до 2,5 с."),
    ("detect_time", 0, "a0", "бытовые звуки", "", "Бытовые звуки слышны с 1,0 до 2,5 с."),
    ("detect_time", 0, "a0", "откашливание", "", "Откашливание слышно с 1,0 до 2,5 с."),
    ("count_sources", 0, "q0", "", "", "Сколько источников звука слышно в момент 3,2 с?"),
    ("count_sources", 0, "a1", "", "", "В этот момент слышны 2 источника звука."),
    ("identify_source_by_doa", 0, "q0", "", "", "Какой источник звука находится на азимуте 21 градус (влево — плюс) под углом возвышения -2 градуса?"),
    ("identify_source_by_doa", 0, "a0", "шум принтера", "", "Шум принтера слышен с азимута 21 градус под углом возвышения -2 градуса."),
    ("identify_source_by_location", 0, "q1", "", "", "Какой звук доносится сзади слева?"),
    ("identify_source_by_location", 0, "a0", "звук ножниц", "", "Звук ножниц слышен сзади слева."),
    ("identify_source_by_location", 0, "a0", "музыка", "", "Музыка слышна сзади слева."),
    ("onset_from_location", 0, "q0", "", "", "Когда начинается звук, который доносится сзади слева?"),
    ("onset_from_location", 0, "a0", "", "", "Звук сзади слева начинается через 3,2 с после начала записи."),
    ("estimate_azimuth", 0, "q0", "женская речь", "", "Каков азимут источника женской речи?"),
    ("estimate_azimuth", 0, "q0", "пианино", "", "Каков азимут источника звука пианино?"),
    ("estimate_azimuth", 0, "q1", "бытовые звуки", "", "На каком азимуте слышны бытовые звуки?"),
    ("estimate_azimuth", 0, "q2", "лай собаки", "", "Под каким углом по горизонтали слышен лай собаки?"),
    ("estimate_azimuth", 1, "q0", "телефонный звонок", "", "Каков азимут источника телефонного звонка в момент 3,2 с?"),
    ("estimate_azimuth", 0, "a0", "плач ребёнка", "", "Азимут источника плача ребёнка составляет -36,6 градуса."),
    ("estimate_azimuth", 1, "a0", "шаги", "", "В момент 3,2 с азимут источника шагов составляет -36,6 градуса."),
    ("estimate_elevation", 0, "q1", "музыка", "", "Под каким углом возвышения слышна музыка?"),
    ("estimate_elevation", 0, "q2", "хлопки в ладоши", "", "На сколько градусов выше или ниже уровня ушей слышны хлопки в ладоши?"),
    ("estimate_elevation", 0, "a0", "стук", "", "Угол возвышения источника стука составляет -36,6 градуса."),
    ("estimate_distance", 0, "q0", "откашливание", "", "На каком расстоянии от слушателя слышно откашливание?"),
    ("estimate_distance", 0, "q1", "музыкальный инструмент", "", "Каково расстояние от слушателя до источника звука музыкального инструмента?"),
    ("estimate_distance", 0, "a0", "кашель", "", "Расстояние от слушателя до источника кашля составляет 2,35 метра."),
    ("estimate_distance", 1, "a0", "смех", "", "В момент 3,2 с расстояние от слушателя до источника смеха составляет 2,35 метра."),
    ("multi_hop", 0, "q0", "шаги", "", "После того как шагов больше не слышно, какой звук появляется сзади слева?"),
    ("multi_hop", 0, "q2", "женская речь", "", "Когда женской речи больше не слышно, что начинает звучать сзади слева?"),
    ("multi_hop", 0, "a0", "звон колокольчика", "шаги", "После звона колокольчика сзади слева слышны шаги."),
    ("multi_hop", 0, "a0", "хлопки в ладоши", "музыка", "После хлопков в ладоши сзади слева слышна музыка."),
    ("spatial_temporal", 0, "a0", "шум воды из крана", "", "Шум воды из крана слышен сзади слева с 1,0 до 2,5 с."),
    ("compare_elevation", 0, "q0", "стук", "смех", "Источник какого звука расположен выше: стук или смех?"),
    ("compare_elevation", 0, "q2", "шаги", "кашель", "Сравните углы возвышения источников шагов и кашля: какой источник находится выше?"),
    ("compare_elevation", 0, "a0", "музыка", "женская речь", "Источник музыки находится выше, чем источник женской речи."),
    ("relative_left_right", 0, "q0", "музыка", "шаги", "Скажите, слева или справа от шагов слышна музыка."),
    ("relative_left_right", 0, "q1", "женская речь", "смех", "С какой стороны от смеха слушатель слышит женскую речь: слева или справа?"),
    ("relative_left_right", 0, "q2", "шаги", "звон ключей", "Шаги слышны слева или справа от звона ключей?"),
    ("classify_motion", 0, "q0", "мужская речь", "", "Как источник мужской речи движется относительно слушателя?"),
    ("classify_motion", 0, "q1", "струнный инструмент", "", "Скажите, неподвижен ли источник звука струнного инструмента, движется ли он вокруг слушателя, приближается или удаляется."),
    ("classify_motion", 1, "q0", "бытовые звуки", "", "Меняется ли направление, с которого слышны бытовые звуки, или остаётся прежним?"),
    ("classify_motion", 0, "a0", "сигнал тревоги", "", "Источник сигнала тревоги всё время остаётся на месте."),
    ("classify_motion", 0, "a2", "шаги", "", "Источник шагов приближается к слушателю."),
    ("classify_motion", 0, "a3", "грохот", "", "Источник грохота удаляется от слушателя."),
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


# --- classes without a Russian name ------------------------------------------------------------------------


def named(*names: str) -> pa.Table:
    """One sound after another, each of a class with this name."""
    rows = [row for place, _ in enumerate(names) for row in event(0, 40 * place, 40 * place + 30, 90 * place - 90)]
    table = make(rows).drop_columns(["class_id"])
    written = [name for name in names for _ in range(30)]
    return table.append_column("class_name", pa.array(written).dictionary_encode())


def test_a_class_without_a_russian_name_is_skipped_and_counted() -> None:
    made = generate(named("Bell", "Zither", "Knock"), seed=1, language="ru")
    for item in made.items:
        assert not re.search("[A-Za-z\0]", item.question + item.answer), item
        assert item.task in ("count_sources", "onset_from_location") or "Zither" not in {
            event.class_name for event in item.events or ()
        }
    assert made.skipped["detect_time", NO_NAME] == 1
    assert made.skipped["detect_source", NO_NAME] == 1
    assert made.skipped["identify_source_by_location", NO_NAME] == 1
    assert not any(reason == NO_NAME for _, reason in generate(named("Bell", "Zither"), seed=1).skipped)


def test_two_classes_of_one_name_are_one() -> None:
    """*Telephone* and *ringing phone* are both *телефонный звонок*: neither is singled out by it."""
    assert not generate(named("Telephone", "ringing phone"), seed=1, tasks=["detect_time"], language="ru").items
    assert len(generate(named("Telephone", "ringing phone"), seed=1, tasks=["detect_time"]).items) == 2


# --- read, scored, checked ---------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["so-bench", "so-bench-paper", "so-bench-legacy"])
def test_right_answers_are_read_as_right(russian: Generated, profile: str) -> None:
    replies = [Prediction(id=item.id, prediction=item.answer) for item in russian.items]
    wrong = []
    score(
        russian.items,
        replies,
        get(profile),
        take=lambda row: (row.outcome is None or row.outcome.correct < 1) and wrong.append(row),
    )
    assert not wrong


@as_one
@pytest.mark.parametrize("x", sorted(NAMES))
def test_answers_about_every_class_are_read(x: str) -> None:
    """Those that are the name of a class, and what is left of what, for all classes that have a name."""
    y = "стук" if x != "стук" else "смех"
    right, other = NAMES[x].plain, NAMES[y].plain
    asked = [
        ("identify_source_by_location", said("identify_source_by_location", 0, "a0", x), right),
        ("multi_hop", said("multi_hop", 0, "a0", y, x), right),
        ("compare_distance", said("compare_distance", 0, "a0", x, y, more="ближе к слушателю"), right),
        (
            "relative_left_right",
            said("relative_left_right", 0, "a0", x, y, side="слева"),
            f"{NAMES[x].said} is to the left of {NAMES[y].said}.",
        ),
    ]
    questions = {
        "multi_hop": said("multi_hop", 0, "q0", y),
        "compare_distance": said("compare_distance", 0, "q0", x, y, more="ближе к слушателю"),
    }
    items = [
        Item(id=task, task=task, question=questions.get(task, "?"), answer=answer, canonical_answer=truth)
        for task, answer, truth in asked
    ]
    items.append(Item(id="0", task="multi_hop", question="?", answer=other, canonical_answer=other))
    read = {}
    replies = [Prediction(id=task, prediction=answer) for task, answer, _ in asked]
    score(
        items,
        replies,
        get("so-bench"),
        take=lambda row: read.__setitem__(row.item.id, row.outcome and row.outcome.correct),
    )
    assert {task: read[task] for task, _, _ in asked} == dict.fromkeys([task for task, _, _ in asked], 1.0)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "metadata_dev" / "dev-test"
    folder.mkdir(parents=True)
    for seed in range(4):
        table = synth.labels(f"m{seed}", synth.scene(seed, 30.0, 7))
        (folder / f"mix{seed:03}.csv").write_bytes(layout("starss23").write(table, ClipFile(f"m{seed}", "m.csv")))
    return folder.parent


def test_the_command_writes_a_file_that_is_found_right(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    done = RUN.invoke(app, ["convert", str(labels), "--to", "so-bench", "--language", "ru", "-o", str(out)])
    assert 0 == done.exit_code, done.stderr
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    english = tmp_path / "en.jsonl"
    seldio.convert(labels, english, "so-bench")
    others = [json.loads(line) for line in english.read_text("utf-8").splitlines()]
    assert [list(row) for row in rows] == [[*other, "language"] for other in others]
    assert {row["language"] for row in rows} == {"ru"}
    assert {finding.code for finding in seldio.validate(out).findings} == {
        finding.code for finding in seldio.validate(english).findings
    }
    (tmp_path / "replies.jsonl").write_text(
        "".join(json.dumps({"qa_id": row["qa_id"], "prediction": row["answer"]}) + "\n" for row in rows)
    )
    assert seldio.score(tmp_path / "replies.jsonl", out).overall["accuracy"] == 1.0


def test_guessing_knows_the_two_sources_that_a_question_names(english: Generated, russian: Generated) -> None:
    counts = []
    for made in (english, russian):
        asked = [item for item in made.items if item.task == "compare_elevation"]
        rows = [
            {"id": item.id, "question": item.question, "answer": item.canonical_answer, "options": None, "hash": 0}
            for item in asked
        ]
        counts.append(GuessGroup("compare_elevation", rows).counts.tolist())
    assert counts[0] == counts[1]
    assert set(counts[1]) == {2}


def test_a_wrong_answer_in_words_is_found(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    seldio.convert(labels, out, "so-bench", language="ru", tasks="detect_time")
    rows = out.read_text("utf-8").splitlines()
    row = json.loads(rows[0])
    row["answer"] = re.sub(r"с [\d,]+ до", "с 0,3 до", row["answer"])
    out.write_text("\n".join([json.dumps(row, ensure_ascii=False), *rows[1:]]) + "\n", "utf-8")
    assert "QAI116" in {finding.code for finding in seldio.validate(out).findings}


def test_languages_that_there_are_not(labels: Path, tmp_path: Path) -> None:
    out = tmp_path / "qa.jsonl"
    with pytest.raises(UsageError, match="unknown language fr; choose from en, ru"):
        seldio.convert(labels, out, "so-bench", language="fr")
    with pytest.raises(UsageError, match="ruenvaqa is asked in Russian"):
        seldio.convert(labels, out, "ruenvaqa", language="en")
    seldio.convert(labels, out, "so-bench", language="ru")
    with pytest.raises(UsageError, match="language= is for questions made from labels"):
        seldio.convert(out, tmp_path / "other.jsonl", "items", language="ru")
