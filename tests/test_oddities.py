"""Every documented oddity of the formats by name: what is read, what is found, and what comes back.

Then: strings and bytes that break other readers pass through every format and every pair of them, and
no broken variant of a good file is called clean.
"""

from __future__ import annotations

import copy
import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from seldio import formats, validate
from seldio.errors import SeldioError
from seldio.findings import Finding, Severity
from seldio.formats import ITEM_FORMATS
from seldio.formats.items import ItemFormat, Row
from seldio.formats.json_items import JsonItems
from seldio.formats.qa_json import ITEMS
from seldio.formats.ruenvaqa import RUENVAQA, template
from seldio.schema.qa import Item, Prediction

SO: dict[str, Any] = {
    "qa_id": "q1", "split": "test", "audio_id": "a", "audio_path": "a.wav", "task_name": "detect_time",
    "question_class": "detect", "answer_format": "structured_text", "question": "When can the gong be heard?",
    "answer": "The gong is audible from 18.5s to 20.0s.", "canonical_answer": "18.5s to 20.0s",
    "answer_meta": {"time_span": [18.5, 20.0]},
}  # fmt: skip
SET = {"qa_id": "q1", "split": "train", "audio_id": "a", "audio_path": "a.wav", "dataset": "hm3d",
       "task_type": "counting", "task_name": "count_sources", "question": "How many?", "answer": "1",
       "canonical_answer": "1", "source_refs": [{"class_id": 3, "class_name": "gong", "azimuth_deg": 67.057,
                                                  "elevation_deg": -36.558, "distance_m": 1.5}]}  # fmt: skip
OUT = {"qa_id": "q1", "audio_path": "a.wav", "task_name": "detect_time", "prediction": "18.5s to 20.0s"}
MMAU = {"id": "m1", "audio_id": "./m1.wav", "question": "Who speaks?", "choices": ["Man", "Woman"], "answer": "Man",
        "dataset": "d", "task": "speech", "split": "test-mini", "category": "c", "sub-category": "s",
        "difficulty": "easy"}  # fmt: skip
MMAR = {"id": "x1", "audio_path": "./audio/other.wav", "question": "Who?", "choices": ["Man", "Woman"],
        "answer": "Woman", "modality": "speech", "category": "c", "language": "en", "rubric": "['a', \"b's\"]"}  # fmt: skip
ADQA = {"id": "x1", "audio_path": "audio/x1.wav", "question_text": "Who?", "multi_choice": ["Man", "Woman"],
        "answer": "Woman"}  # fmt: skip
ADQA_TRAIN = {"id": "x1", "audio_path": "audio/x1.wav", "question": "Who?", "choices": ["Man", "Woman"],
              "answer": "Woman", "gemini_cot": "A woman."}  # fmt: skip
RU: dict[str, Any] = {
    "instruction": template(2), "inputs": {"question": "Где?", "audio": "samples/audio001.wav", "option_a": "один",
    "option_b": "несколько"}, "outputs": "B",
    "meta": {"id": 1, "categories": {
        "task_type": "Music instrument counting", "source_dataset": "MUSIC-AVQA", "knowledge": "common"}},
}  # fmt: skip
FILLED = {"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}
QUESTIONS = "audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
OUTPUTS = ("id,audio,n_frames,audio_sound,spoken_text,prompt,with_speech,audio_only_target,speech_only_target,"
           "target_keywords,tgt_text,allm_output\n")  # fmt: skip


def line(*records: Any) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def ru(*records: Any, **head: Any) -> str:
    return json.dumps({"access": "public", "data": list(records)} | head, ensure_ascii=False, indent=4)


def asked(keywords: str, answer: str = "They are running.", id: str = "1") -> str:
    return f'{QUESTIONS}{id},rain,"Go!",a,b,{answer},{keywords}\n'


def output(*cells: str, id: str = "1", prompt: str = "What?") -> str:
    return "".join(f"{id},{{data_folder}}/dataset/v0/1.wav,9,rain,Go,{prompt}{number or ''},True,a,b,run,They run,{cell}\n"
                   for number, cell in enumerate(cells))  # fmt: skip


def field(name: str) -> Callable[[Any], object]:
    return lambda row: getattr(row, name)


def more(key: str) -> Callable[[Any], object]:
    return lambda row: (row.extra or {})[key]


def options(row: Any) -> object:
    return row.options


class Oddity(NamedTuple):
    """One oddity.

    Args:
        format: by name.
        text: a file with it.
        look: what of the first row is looked at,
        value: and what is seen there; of a file without rows None.
        codes: of the findings.
        name: of the file, where it matters.
    """

    format: str
    text: str
    look: Callable[[Any], object]
    value: object
    codes: tuple[str, ...] = ()
    name: str = ""


ODDITIES = {
    # JASCO
    "keywords joined in one cell": Oddity("jasco", asked('"movie, TV show"'), lambda row: row.answer_meta.keywords, ["movie", "TV show"], ("QAI116",)),
    "a keyword that the answer lacks": Oddity("jasco", asked("gumble"), field("answer"), "They are running.", ("QAI116",)),
    "the path is implied": Oddity("jasco", asked("run", id="47"), field("audio"), ["dataset/v0/47.wav"]),
    "a curly apostrophe": Oddity("jasco", asked("run", "It’s a ’run’ isn't it"), field("answer"), "It’s a ’run’ isn't it"),
    "an id with zeros": Oddity("jasco", asked("run", id="007"), field("id"), "007", ("QAI126",)),
    "a placeholder in the path": Oddity("jasco-predictions", OUTPUTS + output("x"), field("audio"), ["{data_folder}/dataset/v0/1.wav"]),
    "an output that says None": Oddity("jasco-predictions", OUTPUTS + output("None"), field("prediction"), "None"),
    "an output that says nan": Oddity("jasco-predictions", OUTPUTS + output("nan"), field("prediction"), "nan"),
    "no output": Oddity("jasco-predictions", OUTPUTS + output(""), field("prediction"), None, ("PRD102",)),
    "eight prompts for an id": Oddity("jasco-predictions", OUTPUTS + output(*"abcdefgh"), field("prompt"), "What?"),
    "the judge's column": Oddity("jasco-predictions", (OUTPUTS + output("x")).replace("output\n", "output,llama3_extract\n").replace(",x\n", ',x,"Rating: 2\nOrientation: Both"\n'), more("llama3_extract"), "Rating: 2\nOrientation: Both"),
    # ruEnvAQA
    "access without a word": Oddity("ruenvaqa", ru(RU, access=""), field("answer"), "B"),
    "access of another kind": Oddity("ruenvaqa", ru(RU, access="open"), field("answer"), "B", ("QAI205",)),
    "no access": Oddity("ruenvaqa", json.dumps({"data": [RU]}, ensure_ascii=False, indent=4), field("id"), "1"),
    "a Cyrillic letter in the instruction": Oddity("ruenvaqa", ru(RU | {"instruction": template(2).replace("A. {", "А. {")}), field("answer"), "B", ("QAI104",)),
    "a Cyrillic letter as the answer": Oddity("ruenvaqa", ru(RU | {"outputs": "А"}), field("answer"), "А", ("QAI104",)),
    "an answer that is kept secret": Oddity("ruenvaqa", ru(RU | {"outputs": ""}, access="private"), field("answer"), None),
    "an instruction by number": Oddity("ruenvaqa", ru(RU | {"instruction": 3}), more("instruction"), 3),
    "two options": Oddity("ruenvaqa", ru(RU), options, ["один", "несколько"]),
    "options that are null on the Hub": Oddity("ruenvaqa", line(RU | {"inputs": RU["inputs"] | {"option_c": None, "option_d": None}}), options, ["один", "несколько"]),
    "another order of inputs": Oddity("ruenvaqa", ru(RU | {"inputs": dict(reversed(RU["inputs"].items()))}), options, ["один", "несколько"]),
    "more in the meta": Oddity("ruenvaqa", ru(RU | {"meta": RU["meta"] | {"x": 1}}), lambda row: row.extra["meta"]["x"], 1),
    "answers by number": Oddity("ruenvaqa-submission", json.dumps(FILLED), field("id"), "1"),
    "an answer with its bracket": Oddity("ruenvaqa-submission", json.dumps(FILLED).replace('"B"', '"B) да"'), field("prediction"), "B) да", ("PRD135",)),
    # SO-Bench and SO-Dataset
    "lines in a .json": Oddity("so-bench", line(SO, SO | {"qa_id": "q2", "question": "And the dog?"}), field("id"), "q1", name="x.json"),
    "a list in a .json": Oddity("so-bench", json.dumps([SO], indent=1), field("id"), "q1", name="x.json"),
    "records under data": Oddity("so-bench", json.dumps({"data": [SO]}), field("id"), "q1", name="x.json"),
    "records under records": Oddity("so-bench", json.dumps({"records": [SO]}), field("id"), "q1", name="x.json"),
    "a list in a .jsonl": Oddity("so-bench", json.dumps([SO]) + "\n", field("id"), None, ("SYN207",), "x.jsonl"),
    "another order of keys": Oddity("so-bench", line(dict(reversed(SO.items())), SO), field("id"), "q1", ("QAI101",)),
    "a line separator in a text": Oddity("so-bench", line(SO | {"answer": "a\u2028b\u2029c\x85d"}), field("answer"), "a\u2028b\u2029c\x85d"),
    "18 for 18.0": Oddity("so-bench", line(SO).replace("20.0]", "20]"), lambda row: row.answer_meta.time_span, [18.5, 20]),
    "a key twice": Oddity("so-bench", line(SO).replace('{"qa_id"', '{"split": "x", "qa_id"'), field("id"), "q1", ("SYN202",)),
    "NaN": Oddity("so-bench", line(SO).replace("18.5,", "NaN,"), field("id"), None, ("SYN203",)),
    "a number of 5,000 digits": Oddity("so-bench", line(SO).replace("18.5,", "1" * 5000 + ","), field("id"), None, ("SYN204",)),
    "1e999": Oddity("so-bench", line(SO).replace("18.5,", "1e999,"), field("id"), None, ("SYN204",)),
    "half a surrogate pair": Oddity("so-bench", line(SO).replace("The gong", "\\ud800"), field("id"), None, ("SYN205",)),
    "an id that is a number": Oddity("so-bench", line(SO | {"qa_id": 7}), field("id"), "7", ("SYN212",)),
    "a span that is turned round": Oddity("so-bench", line(SO | {"canonical_answer": "", "answer_meta": {"time_span": [20.0, 18.5]}}), field("id"), "q1", ("QAI105", "QAI115")),
    "a task of an older version": Oddity("so-bench", line(SO | {"task_name": "classify_azimuth_bin_text"}), field("task"), "classify_azimuth_bin_text", ("QAI113",)),
    "a meta key of its own": Oddity("so-bench", line(SO | {"answer_meta": {"time_span": [18.5, 20.0], "source": "gong"}}), more("answer_meta"), {"source": "gong"}),
    "a prompt for a question": Oddity("so-dataset-qa", line({("prompt" if key == "question" else key): value for key, value in SET.items()}), field("question"), "How many?"),
    "the proof of an answer": Oddity("so-dataset-qa", line(SET), lambda row: row.events[0].azimuth, 67.057),
    "a cleaned output beside the raw one": Oddity("so-bench-predictions", line(OUT | {"prediction_cleaned": "c", "prediction_raw": "r"}), more("prediction_cleaned"), "c"),
    "a raw output alone": Oddity("so-bench-predictions", line({("prediction_raw" if key == "prediction" else key): value for key, value in OUT.items()}), field("prediction"), "18.5s to 20.0s"),
    "an output without id": Oddity("so-bench-predictions", line({key: value for key, value in OUT.items() if key != "qa_id"}), field("id"), None, ("SYN215",)),
    # MMAU and MMAR
    "a choice twice": Oddity("mmau", json.dumps([MMAU | {"choices": ["Man", "Woman", "Man"]}], indent=2), options, ["Man", "Woman", "Man"], ("QAI103",)),
    "an answer among no choices": Oddity("mmau", json.dumps([MMAU | {"answer": "Child"}], indent=2), field("answer"), "Child", ("QAI102",)),
    "a secret answer": Oddity("mmau", json.dumps([MMAU | {"answer": ""}], indent=2), field("answer"), ""),
    "eight choices": Oddity("mmau", json.dumps([MMAU | {"choices": ["Man", *"abcdefg"]}], indent=2), lambda row: len(row.options), 8),
    "one choice": Oddity("mmar", line(MMAR | {"choices": ["Woman"]}), options, ["Woman"], ("QAI110",)),
    "an id that is not the recording's": Oddity("mmar", line(MMAR), field("audio"), ["./audio/other.wav"]),
    "Python inside a text": Oddity("mmar", line(MMAR), more("rubric"), "['a', \"b's\"]"),
}  # fmt: skip


def codes(path: Path, format: str | None = None) -> tuple[str, ...]:
    """The codes of a file's findings, those about recordings and questions that are not there left out."""
    found = validate(path, format=format).findings
    return tuple(sorted({one.code for one in found if not one.code.startswith("QAI3") and one.code != "QAI129"}))


def values(data: bytes) -> Any:
    """The values in a text of JSON, or the cells of a table."""
    try:
        return [json.loads(line) for line in data.split(b"\n") if line.strip()]
    except ValueError:
        return list(csv.reader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize("name", ODDITIES)
def test_oddity(name: str, tmp_path: Path) -> None:
    oddity = ODDITIES[name]
    format = formats.get(oddity.format, ItemFormat)
    path = tmp_path / (oddity.name or f"x{format.suffix}")
    path.write_bytes(oddity.text.encode())
    found: list[Finding] = []
    reading = format.read(path.read_bytes(), str(path), found.append)

    assert codes(path, oddity.format) == oddity.codes
    rows = list(reading.rows) if reading is not None else []
    assert (oddity.look(rows[0]) if rows else None) == oddity.value
    if rows and reading is not None:
        assert formats.format_of_file(path.read_bytes(), path.name) is format
        assert values(format.write(rows, reading.origin)) == values(path.read_bytes()) or "SYN212" in codes(
            path, oddity.format
        )


# --- what breaks other readers ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def naughty(shared: Path) -> list[str]:
    """The Big List of Naughty Strings."""
    strings = json.loads((shared / "corpora/blns/blns.json").read_text("utf-8"))
    return [text for text in strings if text]


def filled(format: ItemFormat, text: str, number: int) -> Row:
    """A row with *text* in whatever the format carries as text."""
    values: dict[str, Any] = {
        "id": str(number), "audio": [f"{number}.wav"], "task": text, "question": text, "instruction": template(2),
        "options": [text, "other"], "answer": text, "canonical_answer": text, "dataset": text, "split": text,
        "language": "ru" if format.name == "ruenvaqa" else text, "extra": {f"x-{text}": text, "more": {text: [text]}},
    } if format.holds == "items" else {
        "id": str(number), "audio": [text], "task": text, "prompt": text, "prediction": text, "extra": {f"x-{text}": text},
    }  # fmt: skip
    if format.name.startswith("jasco"):  # a table: the names of its columns are those of all rows
        values["extra"] = {"Audio": text, "note": text}
    if format.name == "jasco":
        values |= {"question": "", "audio": [f"dataset/v0/{number}.wav"]}
    model = Item if format.holds == "items" else Prediction
    return model.model_validate({name: value for name, value in values.items() if name in format.carries})


@pytest.mark.slow
@pytest.mark.parametrize("format", ITEM_FORMATS, ids=lambda format: format.name)
def test_naughty_strings_pass_through_every_pair(format: ItemFormat, naughty: list[str]) -> None:
    given = [filled(format, text, number) for number, text in enumerate(naughty)]
    first = through(format, given)
    for row, before in zip(first, given, strict=True):
        kept = before.model_dump()
        now = row.model_dump()
        now["extra"] = {key: value for key, value in (now["extra"] or {}).items() if key in (kept["extra"] or {})}
        now["question"] = kept["question"] if format.name == "jasco" else now.get("question")
        assert {name: now[name] for name in format.carries} == {name: kept[name] for name in format.carries}
    eights = [" ".join(naughty[start : start + 8]) for start in range(0, len(naughty), 8)]
    first = through(format, [filled(format, text, number) for number, text in enumerate(eights)])
    for other in ITEM_FORMATS:
        both = [name for name in format.carries if name in other.carries and name != "extra"]
        if other.holds != format.holds or (other.name == "jasco" and format.name != "jasco"):
            continue  # JASCO implies its question and path
        plain = [
            row.model_copy(update={name: None for name in type(row).model_fields if name not in both}) for row in first
        ]
        plain = [row.model_copy(update={"audio": row.audio or [], "extra": None}) for row in plain]
        if format.name == "jasco-predictions" or other.name == "ruenvaqa":
            both = [name for name in both if name != "language"]
        for row, before in zip(through(other, plain), plain, strict=True):
            assert [getattr(row, name) for name in both] == [getattr(before, name) for name in both], other.name


def through(format: ItemFormat, rows: list[Row]) -> list[Row]:
    """Rows after they were written and read; written again, they are the same bytes."""
    data = format.write(rows)
    found: list[Finding] = []
    reading = format.read(data, f"x{format.suffix}", found.append)
    assert reading is not None
    assert format.write(reading.rows, reading.origin) == data
    assert len(reading.rows) == len(rows), found[:3]
    return list(reading.rows)


@pytest.mark.slow
def test_json_test_suite_through_every_reader(shared: Path) -> None:
    """No exception, and what is read without a finding comes back byte for byte, through Parquet too.

    As whole files for the readers that ``test_qa_json`` does not try, and as a value inside a record.
    """
    others = [format for format in ITEM_FORMATS if not isinstance(format, JsonItems)]
    read = 0
    for path in sorted((shared / "corpora/json-testsuite").rglob("*.json")):
        data = path.read_bytes()
        for format in others:
            assert 0 <= format.likes(data, "x.json") <= 1
            comes_back(format, data)
        inside = data.replace(b"\n", b" ").replace(b"\r", b" ").strip()
        read += comes_back(ITEMS, b'{"id": "1", "question": "?", "extra": {"x": ' + inside + b"}}\n")
        read += comes_back(
            RUENVAQA, b'{"data": [%s]}' % line(RU | {"x": 0}).strip().encode().replace(b'"x": 0', b'"x": ' + inside)
        )
    assert read > 150


def comes_back(format: ItemFormat, data: bytes) -> bool:
    """Whether a file is read without a finding; then it is written as it was, and so it is by way of a table."""
    found: list[Finding] = []
    reading = format.read(data, "x.json" if format is RUENVAQA else "x.jsonl", found.append)
    if reading is None or found or not reading.rows:
        return False
    assert values(format.write(reading.rows, reading.origin)) == values(data) or format is RUENVAQA
    table = formats.get(f"{format.holds}-parquet", ItemFormat)
    again = table.read(table.write(reading.rows, table.origin_of(reading, found.append)), "x", found.append)
    assert again is not None
    assert again.rows == reading.rows
    assert format.write(again.rows, format.origin_of(again, found.append)) == format.write(reading.rows, reading.origin)
    return True


# --- broken variants -------------------------------------------------------------------------------

#: A good record of each format, in the file it stands in.
GOOD: dict[str, tuple[Any, Callable[[Any], str]]] = {
    "so-bench": (SO, line),
    "so-dataset-qa": (SET, line),
    "so-bench-predictions": (OUT, line),
    "mmau": (MMAU, lambda record: json.dumps([record], indent=2)),
    "mmar": (MMAR, line),
    "adqa": (ADQA, line),
    "adqa-train": (ADQA_TRAIN, line),
    "ruenvaqa": (RU, ru),
    "ruenvaqa-submission": (FILLED["data"]["test"][0], lambda record: json.dumps({"data": {"test": [record]}})),
    "items": ({"id": "1", "audio": ["a.wav"], "question": "?", "options": ["a", "b"], "answer": "a"}, line),
    "predictions": ({"id": "1", "audio": ["a.wav"], "prediction": "a"}, line),
}
#: Where each keeps what must be there, and of which type.
PARTS: dict[str, tuple[str, ...]] = {
    "so-bench": ("qa_id", "audio_path", "task_name", "question", "answer"),
    "so-dataset-qa": ("qa_id", "audio_path", "question", "answer"),
    "so-bench-predictions": ("prediction",),
    "mmau": ("id", "audio_id", "question", "choices", "answer"),
    "mmar": ("id", "audio_path", "question", "choices", "answer"),
    "adqa": ("id", "audio_path", "question_text", "multi_choice"),
    "adqa-train": ("id", "audio_path", "question", "choices", "answer"),
    "ruenvaqa": ("inputs", "meta"),
    "ruenvaqa-submission": ("outputs", "meta"),
    "items": ("id", "question"),
    "predictions": ("prediction",),
}
PATHS = {"so-bench": "audio_path", "so-dataset-qa": "audio_path", "mmau": "audio_id", "mmar": "audio_path",
         "adqa": "audio_path", "adqa-train": "audio_path"}  # fmt: skip


def variants(name: str) -> dict[str, Callable[[str], str]]:
    """Ways to break a file of a format, each of them an error."""
    good, pack = GOOD[name]

    def changed(key: str, value: Any) -> Callable[[str], str]:
        return lambda salt: pack(salted(good, salt) | {key: value})

    def without(key: str) -> Callable[[str], str]:
        return lambda salt: pack({each: value for each, value in salted(good, salt).items() if each != key})

    found: dict[str, Callable[[str], str]] = {"half of it": lambda salt: pack(salted(good, salt)).rstrip()[:-3]}
    found["a number that is none"] = lambda salt: pack(salted(good, salt) | {"more": "@@"}).replace('"@@"', "NaN")
    found["a key twice"] = lambda salt: pack(salted(good, salt)).replace("{", '{"twice": 1, "twice": 2, ', 1)
    for key in PARTS[name]:
        found[f"{key} missing"] = without(key)
        found[f"{key} of another type"] = changed(key, 7.5)
        found[f"{key} is a list of lists"] = changed(key, [[]])
    if "choices" in good or "options" in good:
        key = "choices" if "choices" in good else "options"
        found["no options"], found["another answer"] = changed(key, []), changed("answer", "none of them")
    for path in ("/etc/passwd", "../../x.wav", "https://x/y.wav", "-") if name in PATHS else ():
        found[f"the path {path}"] = changed(PATHS[name], path)
    return found


def salted(record: Any, salt: str) -> Any:
    """A record with a text of its own where texts are free."""
    made = copy.deepcopy(record)
    for key in ("question", "answer", "prediction", "note"):
        if isinstance(made.get(key), str) and not (
            {"choices", "options", "multi_choice"} & made.keys() and key == "answer"
        ):
            made[key] = f"{made[key]} {salt}"
    return made


CASES = [(name, variant) for name in GOOD for variant in variants(name)]


def errors(path: Path, text: str, name: str) -> list[str]:
    path.write_bytes(text.encode())
    return [finding.code for finding in validate(path, format=name).findings if finding.severity is Severity.ERROR]


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(st.sampled_from(CASES), st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6))
def test_no_broken_variant_is_clean(tmp_path_factory: pytest.TempPathFactory, case: tuple[str, str], salt: str) -> None:
    name, variant = case
    good, pack = GOOD[name]
    path = tmp_path_factory.getbasetemp() / f"variant{formats.get(name, ItemFormat).suffix}"

    assert errors(path, pack(salted(good, salt)), name) == []
    assert errors(path, variants(name)[variant](salt), name)


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_each_broken_variant(name: str, variant: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{formats.get(name, ItemFormat).suffix}"

    assert errors(path, variants(name)[variant](""), name)


@pytest.mark.parametrize("name", GOOD)
def test_what_is_not_broken_is_clean(name: str, tmp_path: Path) -> None:
    good, pack = GOOD[name]

    assert errors(tmp_path / f"x{formats.get(name, ItemFormat).suffix}", pack(good), name) == []


@pytest.mark.parametrize("name", GOOD)
def test_two_records_with_one_id(name: str, tmp_path: Path) -> None:
    good, pack = GOOD[name]
    twice = line(good, good) if pack is line else pack("@@").replace('"@@"', f"{line(good)}, {line(good)}")

    assert errors(tmp_path / f"x{formats.get(name, ItemFormat).suffix}", twice, name)


def test_broken_tables(tmp_path: Path) -> None:
    """JASCO's csv and Parquet: rows that are cut, ids that are empty, bytes that are lost."""
    for text in (
        asked("run", id=""),
        asked("run")[:-8] + '"',
        QUESTIONS + "1,2\n",
        asked("run").replace("Audio,", "", 1),
    ):
        assert errors(tmp_path / "x.csv", text, "jasco"), text
    assert errors(tmp_path / "y.csv", OUTPUTS + output("a") + output("b"), "jasco-predictions") == ["PRD101"]
    for format in ITEM_FORMATS:
        if format.suffix == ".parquet":
            data = format.write([filled(format, "text", 1)])
            for broken in (data[:-1], data[: len(data) // 2], data[:200] + b"\0" * 40 + data[240:]):
                path = tmp_path / "x.parquet"
                path.write_bytes(broken)
                assert any(f.severity is Severity.ERROR for f in validate(path).findings), format.name


def test_what_no_format_takes_is_said(tmp_path: Path) -> None:
    for format in ITEM_FORMATS:
        if "id" not in format.carries:
            continue
        with pytest.raises((SeldioError, ValueError)):
            format.write([Item.model_construct(id="\ud800") if format.holds == "items" else Prediction.model_construct(id="\ud800", prediction="x", prompt="")])  # fmt: skip
