"""Small examples of what is wrong, for rules whose examples are not kept as files."""

from __future__ import annotations

import csv
import io
import json
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import soundfile

from seldio.files import Entry
from seldio.formats import ItemFormat, get
from seldio.formats.datasets import dataset
from seldio.formats.qa_csv import JascoPredictions
from seldio.rules.hub import HubFolder
from seldio.schema.qa import Item

Files = dict[str, bytes]
Maker = Callable[[], Files]
ROWS = b"0,1,0,-50,30,200\n1,1,0,-49,30,200\n"

# --- files ----------------------------------------------------------------------------------------------------


def noise(seconds: float = 1.0, channels: int = 4, rate: int = 24_000, seed: int = 0) -> Any:
    """Noise, shape (frames, channels)."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (round(seconds * rate), channels))


def sound(data: Any = None, rate: int = 24_000, **more: Any) -> bytes:
    """A recording; WAV with 16 bits unless *more* says otherwise."""
    stream = io.BytesIO()
    soundfile.write(stream, noise() if data is None else data, rate, **({"format": "WAV", "subtype": "PCM_16"} | more))
    return stream.getvalue()


def changed(channel: int, values: Callable[[Any], Any], **more: Any) -> bytes:
    """A recording with one channel made of all of them."""
    data = noise()
    data[:, channel] = values(data)
    return sound(data, **more)


def zipped(*members: tuple[str, bytes]) -> bytes:
    """An archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that appear twice are meant
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def tarred(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> bytes:
    """An archive with one member."""
    stream = io.BytesIO()
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def parquet(**columns: Any) -> bytes:
    """A table."""
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def as_json(value: Any) -> bytes:
    """A file of JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def lines(records: Iterable[Any]) -> bytes:
    """A file of JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


# --- recordings -------------------------------------------------------------------------------------------------

FOA, MIC, LABELS = (
    f"{folder}/dev-train-tau/fold3_room4_mix001.{suffix}"
    for folder, suffix in (("foa_dev", "wav"), ("mic_dev", "wav"), ("metadata_dev", "csv"))
)
AUDIO: dict[str, Maker] = {
    "AUD101": lambda: {FOA: b"<!DOCTYPE html><html></html>"},
    "AUD102": lambda: {FOA: sound()[:100_044]},
    "AUD104": lambda: {FOA: sound(rate=48_000)},
    "AUD105": lambda: {FOA: sound(noise(1.0, 2))},
    "AUD107": lambda: {FOA: sound(), LABELS: b"9,1,0,-50,30,200\n10,1,0,-50,30,200\n11,1,0,-50,30,200\n"},
    "AUD108": lambda: {FOA: sound(), MIC: sound(noise(0.999, seed=1))},
    "AUD110": lambda: {**dict.fromkeys(("a.wav", "b.wav", "c.wav"), sound()), "d.wav": sound(rate=8_000)},
    "AUD111": lambda: {FOA: sound()},
    "AUD201": lambda: {FOA: changed(2, lambda data: 0 * data[:, 2])},
    "AUD203": lambda: {FOA: changed(3, lambda data: data[:, 1])},
    "AUD205": lambda: {FOA: changed(1, lambda data: np.where(np.arange(len(data)) == 4, np.nan, 0.1), subtype="FLOAT")},
    "AUD206": lambda: {"mix001.flac": sound(noise(8.0), format="FLAC")[:-200_000]},
    "AUD207": lambda: {FOA: sound(), FOA.replace("001", "004"): sound()},
}

# --- trees of datasets ------------------------------------------------------------------------------------------


@cache
def tree(*tops: str) -> frozenset[str]:
    """The names in some top folders of STARSS23."""
    suffix = {"foa_dev": "wav", "mic_dev": "wav", "metadata_dev": "csv", "video_dev": "mp4"}
    splits = {split.name: split.clips for split in dataset("starss23").splits}
    return frozenset(
        f"{top}/{split}/{clip}.{suffix[top]}" for top in tops for split, clips in splits.items() for clip in clips
    )


def laid(names: Iterable[str], less: Iterable[str] = (), more: Iterable[str] = ()) -> Files:
    """Files with these names, *less* some and with some *more*; what they hold does not matter."""
    return dict.fromkeys(sorted({*names} - {*less} | {*more}), b"\n")


def evaluation(folder: str, suffix: str = "wav") -> list[str]:
    """The names of an evaluation set."""
    return [f"{folder}/mix{number:03d}.{suffix}" for number in range(1, 80)]


PLAIN = ("foa_dev", "metadata_dev")
TEST = "dev-test-tau/fold4_room2_mix001"
LAYOUT: dict[str, Maker] = {
    "LAY101": lambda: laid(tree(*PLAIN), [LABELS], [LABELS.replace("mix001", "mix1")]),
    "LAY102": lambda: laid(tree(*PLAIN), [LABELS]),
    "LAY103": lambda: laid(tree(*PLAIN), [FOA]),
    "LAY106": lambda: laid(each.replace(TEST, TEST.replace("test", "train")) for each in tree(*PLAIN)),
    "LAY107": lambda: laid(tree(*PLAIN), (), [f"foa_dev/{TEST}.wav".replace("test", "train")]),
    "LAY108": lambda: laid(tree(*PLAIN), [FOA, LABELS]),
    "LAY109": lambda: laid(tree(*PLAIN), (), [f"foa_dev/{TEST}.wav".replace("mix001", "mix099")]),
    "LAY112": lambda: laid(tree(*PLAIN), [LABELS], [f"{LABELS}.txt"]),
    "LAY114": lambda: laid(each for each in tree(*PLAIN) if "dev-train-sony" not in each),
    "LAY116": lambda: laid(tree(*PLAIN), [LABELS], ["metadata_dev/fold3_room4_mix001.csv"]),
}  # fmt: skip

# --- packages of submissions ------------------------------------------------------------------------------------

A, B = "Politis_TAU_task3a_1", "Politis_TAU_task3a_2"
META = f"""\
submission:
  label: {A}
  name: Two-stage SELD
  abbreviation: TwoStage
  authors:
    - lastname: Politis
      firstname: Archontis
      email: name@example.org
      corresponding: true
      affiliation: {{abbreviation: TAU, institute: Tampere University, department: null, location: "Tampere"}}
system:
  description:
    input_format: Ambisonic
    input_sampling_rate: 24kHz
    acoustic_features: [mel spectra, intensity vector]
    data_augmentation: null
    machine_learning_method: CRNN
  complexity:
    total_parameters: 713511
  source_code: null
results:
  development_dataset:
    overall: {{ER_20: 0.57, F_20: 29.9, LE_CD: 22, LR_CD: null}}
"""


def system(label: str, task: str = "task3a") -> dict[str, str]:
    """The files of one system."""
    base = f"{task}/{label}"
    outputs = {f"{base}/{label}/mix{number:03}.csv": "0,1,20,-5\n" for number in (1, 2, 3)}
    return {f"{base}/{label}.meta.yaml": META.replace(A, label), **outputs}


PACKAGE = {"task3a/Politis_TAU_task3a.technical_report.pdf": "%PDF", **system(A), **system(B)}
BASE = f"task3a/{A}"


def packed(files: dict[str, str]) -> Files:
    """Texts as bytes."""
    return {name: text.encode() for name, text in sorted(files.items())}


def moved(old: str, new: str) -> Files:
    """The package with other paths."""
    return packed({name.replace(old, new): text for name, text in PACKAGE.items()})


def renamed(old: str, new: str) -> Files:
    """The package with another label everywhere."""
    return packed({name.replace(old, new): text.replace(old, new) for name, text in PACKAGE.items()})


def meta(old: str, new: str) -> Files:
    """The package with another meta file."""
    assert old in META
    return packed(PACKAGE | {f"{BASE}/{A}.meta.yaml": META.replace(old, new)})


def lacking(part: str) -> Files:
    """The package without some files."""
    return packed({name: text for name, text in PACKAGE.items() if part not in name})


SUBMISSIONS: dict[str, Maker] = {
    "SUB201": lambda: renamed(A, "Po_litis_TAU_task3a_1"),
    "SUB203": lambda: packed({**PACKAGE, **system(A[:-1] + "3"), **system(A[:-1] + "4"), **system(A[:-1] + "5")}),
    "SUB204": lambda: renamed("task3a", "task3c"),
    "SUB206": lambda: meta(A, B),
    "SUB208": lambda: lacking(f"{A}.meta"),
    "SUB224": lambda: packed({
        name: "".join(f"{n},1,{n},{n}\n" for n in range(20)) if name.endswith(".csv") else text
        for name, text in PACKAGE.items()
    }),
    "SUB225": lambda: packed({n.replace("/mix", "/fold4_room23_mix"): text for n, text in PACKAGE.items()}),
    "SUB213": lambda: lacking(f"{B}/mix002"),
    "SUB214": lambda: packed({**PACKAGE, f"{BASE}/model.pt": "weights"}),
    "SUB215": lambda: moved(f"{A}.meta.yaml", f"{A}.meta.yml"),
    "SUB216": lambda: lacking(".pdf"),
    "SUB217": lambda: meta("  name: Two-stage SELD\n", ""),
    "SUB219": lambda: meta("713511", "713k"),
    "SUB221": lambda: meta("corresponding: true", "corresponding: false"),
    "SUB223": lambda: meta("LE_CD: 22", "LE_CD: 180.5"),
}  # fmt: skip

# --- questions and predictions ----------------------------------------------------------------------------------

GOLD = "questions.json"
_ASKED = "Что слышно на записи?"
_FOUR = "<audio> {question}\nA. {option_a}\nB. {option_b}\nC. {option_c}\nD. {option_d}\nОтвет:"


def mera(number: int = 1, instruction: str = _FOUR, **changes: Any) -> dict[str, Any]:
    """A question as ruEnvAQA has it."""
    options = dict(
        zip(("option_a", "option_b", "option_c", "option_d"), ("дождь", "ветер", "гром", "смех"), strict=True)
    )
    inputs = {"question": _ASKED, "audio": f"samples/audio{number:03}.wav", **options}
    categories = {"task_type": "Audio captioning", "source_dataset": "CLOTHO-AQA", "knowledge": "common"}
    record = {
        "instruction": instruction,
        "inputs": inputs,
        "outputs": "B",
        "meta": {"id": number, "categories": categories},
    }
    return record | changes


def asked(*records: Any, **head: Any) -> Files:
    """A file of questions of ruEnvAQA."""
    return {GOLD: as_json({"access": "public", "data": list(records)} | head)}


def answered(*rows: Any) -> Files:
    """An answer file, and three questions."""
    return asked(*map(mera, (1, 2, 3))) | {"answers.json": as_json({"data": {"test": list(rows)}})}


def said(outputs: Any, number: Any = 3) -> dict[str, Any]:
    """An answer."""
    return {"outputs": outputs, "meta": {"id": number}}


FIRST = (said("A", 1), said("B", 2))
WHOLE = as_json({"data": {"test": [*FIRST, said("B")]}})


def so_bench(number: int, **more: Any) -> dict[str, Any]:
    """A question as SO-Bench has it."""
    return {
        "qa_id": f"qa_{number:020}", "split": "test", "audio_id": f"foa_{number}",
        "audio_path": f"audio/test/foa_{number}.wav", "task_name": "count_sources", "question_class": "detect",
        "answer_format": "structured_text", "question": "How many sources are active?",
        "answer": "There is 1 source active.", "canonical_answer": "1", "answer_meta": {"active_count": 1},
    } | more  # fmt: skip


def guess(number: int, **more: Any) -> dict[str, Any]:
    """A prediction for it."""
    asked = so_bench(number)
    return {key: asked[key] for key in ("qa_id", "audio_path", "task_name")} | {"prediction": "One."} | more


def predicted(*rows: Any) -> Files:
    """Three questions, and predictions."""
    return {"questions.jsonl": lines(map(so_bench, (1, 2, 3))), "predictions.jsonl": lines(rows)}


GUESSES = (guess(1), guess(2))


def repeated(last: dict[str, Any]) -> Files:
    """Questions of MMAU, and a copy with outputs of a model, whose last is another."""
    questions = [{"id": f"m{n}", "audio_id": f"./test-mini-audios/m{n}.wav", "question": "Which animal?",
                  "choices": ["cat", "dog"], "answer": "dog", "task": "sound", "split": "test-mini"}
                 for n in (1, 2, 3)]  # fmt: skip
    outputs = [each | {"model_output": "dog"} for each in questions[:2]]
    return {"questions.json": as_json(questions), "predictions.json": as_json([*outputs, questions[2] | last])}


def jasco(change: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> Files:
    """Two recordings of JASCO, and what a model says of them, *changed*."""
    others = {"Speech": "", "Audio-Only Answer": "", "Speech-Only Answer": ""}
    items = [
        Item.model_validate({"id": str(n), "answer": f"They do {n}.", "extra": {"Audio": f"sound {n}", **others}})
        for n in (1, 2)
    ]
    predictions = cast(JascoPredictions, get("jasco-predictions", ItemFormat))
    made = [row.model_copy(update={"prediction": "They talk."}) for row in predictions.template(items)]
    table = list(csv.DictReader(io.StringIO(predictions.write(made).decode(), newline="")))
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, table[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(change(table))
    return {"questions.csv": get("jasco", ItemFormat).write(items), "predictions.csv": stream.getvalue().encode()}


def heard(data: bytes | None, **more: Any) -> Files:
    """A question with its recording."""
    if data is None:
        return {"qa/test.jsonl": lines(map(so_bench, (1, 2))), "audio/test/foa_2.wav": at_16()}
    return {"qa/test.jsonl": lines([so_bench(1, **more)]), "audio/test/foa_1.wav": data}


def at_16(seconds: float = 1.0, channels: int = 4) -> bytes:
    """A recording as SO-Bench has them."""
    return sound(noise(seconds, channels, 16_000), 16_000)


def spoken(numbers: Iterable[int]) -> bytes:
    """JASCO's questions with these ids."""
    head = b"audio_id,Audio,Speech,Audio-Only Answer,Speech-Only Answer,Correct Answer,Correct Answer Keyword\n"
    return head + b"".join(b"%d,rain,hello,a,b,c,c\n" % number for number in numbers)


QUESTIONS: dict[str, Maker] = {
    "PRD111": lambda: {"answers.json": as_json({"answers": [said("A", 1)]})},
    "PRD116": lambda: answered(*FIRST, said(7)),
    "PRD117": lambda: asked(*map(mera, (1, 2, 3))) | {"answers.json": as_json([*FIRST, said("B")])},
    "PRD121": lambda: asked(*map(mera, (1, 2, 3))) | {"answers.zip": b"Rar!"},
    "PRD124": lambda: asked(*map(mera, (1, 2, 3))) | {"answers.zip": zipped(("readme.txt", b"nothing here"))},
    "PRD131": lambda: answered(*FIRST),
    "PRD132": lambda: answered(*FIRST, said("B"), said("A", 9)),
    "PRD133": lambda: answered(*FIRST, said("E")),
    "PRD134": lambda: answered(*FIRST, said("В")),
    "PRD135": lambda: answered(*FIRST, said("B. ветер")),
    "PRD201": lambda: predicted(*GUESSES),
    "PRD202": lambda: predicted(*GUESSES, guess(3), guess(77)),
    "PRD203": lambda: predicted(*GUESSES, guess(3, audio_path="audio/test/foa_1.wav")),
    "PRD205": lambda: jasco(lambda table: table[:3] + table[4:]),
    "PRD206": lambda: jasco(lambda table: [row | {"prompt": "What?"} if n == 2 else row for n, row in enumerate(table)]),  # noqa: E501
    "PRD208": lambda: repeated({}),
    "PRD209": lambda: repeated({"answer": "cat", "model_output": "dog"}),
    "PRD207": lambda: predicted(*({k: v for k, v in guess(n).items() if k != "qa_id"} for n in (1, 2))),
    "PRD210": lambda: predicted(*(guess(n, qa_id=f"other{n}") for n in (1, 2, 3))),
    "QAI107": lambda: {"v0.csv": spoken(range(1, 70))},
    "QAI129": lambda: {"v0.csv": spoken((46, 47, 48))},
    "QAI202": lambda: asked(mera(instruction="<audio> {question}\nA. {option_a}\nB. {option_b}\nОтвет:")),
    "QAI203": lambda: asked(mera(instruction=_FOUR + " {hint}")),
    "QAI211": lambda: asked({key: value for key, value in mera().items() if key != "outputs"}),
    "QAI212": lambda: asked(mera(outputs=1)),
    "QAI213": lambda: {GOLD: as_json({"access": "public", "data": 3})},
    "QAI301": lambda: heard(None),
    "QAI302": lambda: heard(b"<!DOCTYPE html><html></html>"),
    "QAI304": lambda: heard(sound(rate=24_000)),
    "QAI306": lambda: heard(at_16(20.5)),
    "QAI307": lambda: heard(at_16(2.0), start=1.0, end=2.5),
    "QAI309": lambda: {"qa/test.jsonl": lines([so_bench(1)])},
}  # fmt: skip

# --- archives, tables -------------------------------------------------------------------------------------------

EVENTS: dict[str, Any] = {"clip": ["mix001", "mix001"], "frame": [0, 1], "class_id": [1, 1], "azimuth": [-50.0, -49.0]}
SAFETY: dict[str, Maker] = {
    "LAB113": lambda: {"events.parquet": parquet(**EVENTS | {"azimuth": [-50.0, None]})},
    "SAF101": lambda: {"labels.zip": zipped(("../../mix001.csv", ROWS))},
    "SAF102": lambda: {"labels.tar": tarred("mix001.csv", kind=tarfile.SYMTYPE, link="/etc/passwd")},
    "SAF103": lambda: {"labels.tar": tarred("mix001.csv", kind=tarfile.FIFOTYPE)},
    "SAF104": lambda: {"labels.zip": zipped(("mix001.csv", ROWS), ("mix001.csv", ROWS[:17]))},
    "SAF105": lambda: {"labels.zip": zipped(("mix001.csv", bytes(3_000_000)))},
    "SAF107": lambda: {"labels.zip": zipped(("mix001.csv", ROWS), ("mix002.csv", ROWS))[:120]},
    "SAF108": lambda: {"labels/mix001.csv": ROWS, "labels/mix002.csv -> ../nowhere.csv": b""},
    "SAF109": lambda: {"mix001.csv": ROWS, "Mix001.csv": ROWS},
    "SAF111": lambda: {"labels.tar": tarred("mix001.v2.csv", ROWS)},
    "SYN301": lambda: {"events.parquet": (data := parquet(**EVENTS))[: len(data) * 9 // 10]},
    "SYN302": lambda: {"events.parquet": parquet(**EVENTS | {"frame": ["0", "1"]})},
}
EXAMPLES: dict[str, Maker] = AUDIO | LAYOUT | SUBMISSIONS | QUESTIONS | SAFETY


#: What has to be named for it to be found.
OPTIONS = {
    "PRD111": " --format ruenvaqa-submission", "QAI213": " --format ruenvaqa",
    **dict.fromkeys((code for code in AUDIO if code >= "AUD2"), " --deep"),
}  # fmt: skip


def write(folder: Path, files: Files) -> None:
    """Write the files of an example; ``a -> b`` is a link."""
    for name, data in files.items():
        named, _, target = name.partition(" -> ")
        path = folder / named
        path.parent.mkdir(parents=True, exist_ok=True)
        if target:
            path.symlink_to(target)
        else:
            path.write_bytes(data)


def command(code: str, files: Files) -> str:
    """Return the command that finds the fault of an example."""
    answers = [name for name in files if name.startswith(("answers", "predictions"))]
    reference = [f" --reference {name}" for name in files if name.startswith("questions") and answers]
    alone = next(iter(files)) if len(files) == 1 and "/" not in next(iter(files)) else "."
    return f"seldio validate {(*answers, alone)[0]}{''.join(reference)}{OPTIONS.get(code, '')} --select {code}"


# --- the Hub ------------------------------------------------------------------------------------------------------


TABLE = {"labels.csv": b"x\n"}
#: For each rule the files by name, or their sizes, and the head of the card.
HUB: dict[str, Callable[[], tuple[dict[str, bytes | int], dict[str, Any] | None]]] = {
    "HUB101": lambda: ({f"audio/{n}.wav": 1 for n in range(10_001)}, {"license": "mit"}),
    "HUB601": lambda: ({}, None),
    "HUB603": lambda: ({**TABLE}, {"pretty_name": "Four scenes"}),
}  # fmt: skip


def hub_folder(files: dict[str, bytes | int], card: dict[str, Any] | None) -> HubFolder:
    """Files as they would be uploaded; of some only the size is known."""
    made = [
        Entry(name, name, data if isinstance(data, int) else len(data), 2**40, None,
              partial(io.BytesIO, data if isinstance(data, bytes) else b""))
        for name, data in sorted(files.items())
    ]  # fmt: skip
    return HubFolder("starss23", made, card)
