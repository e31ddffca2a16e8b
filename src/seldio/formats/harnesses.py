"""What evaluation harnesses read and write: inspect_ai, lmms-eval and UltraEval-Audio.

Their questions are records in JSON Lines that hold the fields of an item in a shape of their own: a harness is a row
with two functions, from flat keys to the record (``pack``) and back (``unpack``). lmms-eval and UltraEval-Audio find
their questions by further files, so that these are written as a folder (:attr:`ItemFormat.further`). What a model
answered is read from inspect's log in JSON, lmms-eval's samples and UltraEval-Audio's recorder.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from seldio.findings import Sink
from seldio.formats.base import Place
from seldio.formats.harness_files import lmms_eval_files, ultraeval_files
from seldio.formats.inspect_eval import is_archive, read_archive
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.json_items import JsonItems
from seldio.formats.json_layout import Layout
from seldio.formats.json_text import JsonDocument, Pointer, dumps, parse_lines
from seldio.reader_rules import reader_rule
from seldio.schema.arrays import pc
from seldio.schema.qa import Item, Prediction, Proof, Rows
from seldio.text import listed, plural

Flat = Mapping[str, Any]
#: Why a harness asks about more than a question is about.
_WHOLE = "the harness plays the whole recording: cut the clips out first, as `seldio convert LABELS -o FILE` does"
_PROOFS = {name: name for name in Proof.model_fields if name != "extra"}
#: Every field of an item under its own name, but for those that each harness names in its own way.
_REST = {
    name: name for name in Item.model_fields if name not in ("id", "audio", "question", "options", "answer", "extra")
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class HarnessItems(JsonItems):
    """Records with the fields of a row somewhere inside."""

    pack: Callable[[Flat], dict[str, Any]]  # the record of flat keys
    unpack: Callable[[Flat], dict[str, Any]]  # and back
    inside: Mapping[str, Pointer]  # where a record holds a key, if not at its top
    sounds: tuple[str, ...] = ()  # suffixes of the recordings that the harness takes; empty for any
    most: int | None = None  # recordings of a question
    columnar: bool = False

    def record(self, row: Row) -> dict[str, Any]:
        """See :meth:`JsonItems.record`."""
        return self.pack(super().record(row))

    def fields(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """See :meth:`JsonItems.fields`."""
        return super().fields(self.unpack(record))

    def texts(self, table: pa.Table, layout: Layout) -> list[str]:
        """See :meth:`JsonItems.texts`."""
        return [layout.record(self.record(row)) for row in Rows(table, self.model)]

    def place_of(self, field: str, record: Mapping[str, Any]) -> Pointer:  # noqa: ARG002
        """See :meth:`JsonItems.place_of`."""
        key = self.key_of(field, {})
        return self.inside.get(key, (key,))

    def refusal(self, table: pa.Table) -> str | None:
        """See :meth:`ItemFormat.refusal`."""
        lists = table.column("audio")
        names = pc.list_flatten(lists)
        if self.sounds:
            taken = pc.match_substring_regex(names, rf"(?i)\.(?:{'|'.join(self.sounds)})$")
            other = names.filter(pc.invert(taken)).unique().to_pylist()
            if other:
                return (
                    f"it takes {' and '.join(self.sounds)} recordings, not {listed(other, 3)}: convert the recordings"
                )
        counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
        if self.most is not None and (counts > self.most).any():
            many = plural(int((counts > self.most).sum()), "question has", "questions have")
            return f"it takes {plural(self.most, 'recording')} for a question, but {many} more"
        return None


def _audio(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


# --- inspect_ai ----------------------------------------------------------------------------------------

#: What stands at the top of a record of inspect; all else is in ``metadata``.
_TOP = ("id", "input", "choices", "target", "sandbox", "files", "setup", "description", "checkpoint")


def _inspect(flat: Flat) -> dict[str, Any]:
    rest = dict(flat)
    audio, question = _audio(rest.pop("audio", None)), rest.pop("question", "")
    sounds = [{"type": "audio", "audio": path, "format": _kind_of(path)} for path in audio]
    asked = [{"role": "user", "content": [*sounds, {"type": "text", "text": question}]}]
    given = rest.pop("input", None)  # kept where it says more than that
    if given is not None and _heard(given) != (audio, question):
        given = None
    options, answer = rest.pop("choices", None), rest.pop("target", None)
    record: dict[str, Any] = {"id": rest.pop("id", None), "input": asked if given is None else given}
    record |= {} if options is None else {"choices": options}
    record["target"] = "" if answer is None else answer
    record |= {key: rest.pop(key) for key in _TOP if key in rest}
    return record | ({"metadata": rest} if rest else {})


def _kind_of(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _from_inspect(record: Flat) -> dict[str, Any]:
    flat = dict(record)
    given = flat.pop("input", None)
    heard = _heard(given)
    if heard is None:
        flat |= {"question": given} if "input" in record else {}
    else:
        flat["audio"], flat["question"] = heard
        if _inspect({"audio": heard[0], "question": heard[1]})["input"] != given:
            flat["input"] = given
    if flat.get("target") == "":
        del flat["target"]
    metadata = flat.pop("metadata", None)
    if isinstance(metadata, dict) and metadata.keys().isdisjoint({*_TOP, "audio", "question"}):
        return {**flat, **metadata}
    return flat if metadata is None else {**flat, "metadata": metadata}


def _heard(given: Any) -> tuple[list[str], str] | None:
    """The recordings and the last text of a sample's input; None where it is neither messages nor a text."""
    if isinstance(given, str):
        return [], given
    messages = given if isinstance(given, list) and all(isinstance(one, dict) for one in given) else None
    if not messages:
        return None
    content = next((one.get("content") for one in reversed(messages) if one.get("role") == "user"), None)
    if isinstance(content, str):
        return [], content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    sounds = [part.get("audio") for part in content if part.get("type") == "audio"]
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    if not texts or not all(isinstance(text, str) for text in (*sounds, *texts)):
        return None
    return sounds, texts[-1]


INSPECT = HarnessItems(
    name="inspect",
    title="inspect_ai questions: JSON Lines of messages with audio content, choices and target",
    holds="items",
    needs=("id", "question"),
    answers="letter",
    repairable=True,
    graded="choice() reads each character of the target as the letter of an option, so the right letter scores 0",
    source="https://inspect.aisi.org.uk/datasets.html",
    note="Recordings are found next to the file. The solver multiple_choice() wants the letter of the option as "
    "target; all other fields are in metadata.",
    keys={"id": "id", "audio": "audio", "question": "question", "choices": "options", "target": "answer", **_REST},
    proofs=_PROOFS,
    required=("id", "input"),
    marks=("input", "target"),
    never=("output", "inputs", "epoch"),
    sure=("choices", "metadata", "id"),
    pack=_inspect,
    unpack=_from_inspect,
    inside={"audio": ("input",), "question": ("input",), **{name: ("metadata", name) for name in _REST}},
    sounds=("wav", "mp3"),
    channels="inspect_ai sends the file as it is, and the provider or model decides what it hears of it",
    ignored={"start": _WHOLE, "end": _WHOLE},
)


def _logged(flat: Flat) -> dict[str, Any]:
    rest = dict(flat)
    text = rest.pop("completion", None)
    output = rest.pop("output", {})
    given = output | ({} if text is None else {"completion": text}) if isinstance(output, dict) else output
    return {"id": rest.pop("id", None), "epoch": rest.pop("epoch", 1), "output": given, **rest}


def _from_log(record: Flat) -> dict[str, Any]:
    flat = dict(record)
    output = flat.get("output")
    if type(flat.get("id")) is int:
        flat["id"] = str(flat["id"])
    text = output.get("completion") if isinstance(output, dict) else None
    stored = flat.get("attachments")
    if isinstance(text, str) and text.startswith("attachment://") and isinstance(stored, dict):
        text = stored.get(text.removeprefix("attachment://"), text)
    if text is not None and isinstance(output, dict):
        flat["completion"] = text
        flat["output"] = {key: value for key, value in output.items() if key != "completion"}
        if not flat["output"]:
            del flat["output"]
    return flat


@dataclasses.dataclass(frozen=True, kw_only=True)
class InspectLog(HarnessItems):
    """Samples in a log in JSON, or in an archive with a file for each."""

    def likes(self, data: bytes, name: str) -> float:
        """See :meth:`JsonItems.likes`."""
        if _LOG.match(data):  # the first sample may be longer than what is looked at
            return 1.0
        return 0.98 if is_archive(data, name) else super().likes(data, name)

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`JsonItems.read`."""
        if is_archive(data, path):
            return read_archive(self, super().read, data, path, sink)
        return super().read(data, path, sink)


#: How inspect_ai begins a log.
_LOG = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"\w+"\s*,\s*"eval"\s*:\s*\{')
INSPECT_LOG = InspectLog(
    name="inspect-log",
    title="inspect_ai log, in JSON or as an archive (.eval): the completion of each sample",
    holds="predictions",
    needs=("id", "prediction"),
    suffix=".json",
    source="https://inspect.aisi.org.uk/eval-logs.html",
    note="`inspect eval` writes an archive, with `--log-format json` a log in JSON. Of several epochs, the last one "
    "counts. Logs are read; what is written is a list of samples in JSON, not a whole log.",
    keys={"id": "id", "completion": "prediction", "output": "extra", "epoch": "extra"},
    required=("id", "output"),
    marks=("id", "epoch", "output"),
    layout=Layout('{"samples": [', "", ", ", "]}\n"),
    pack=_logged,
    unpack=_from_log,
    inside={"completion": ("output", "completion")},
)


# --- lmms-eval -----------------------------------------------------------------------------------------


def _rows(audio: str) -> tuple[Callable[[Flat], dict[str, Any]], Callable[[Flat], dict[str, Any]]]:
    """Records whose keys are of one type in every row, as table readers want them; the rest is JSON in ``more``."""

    def pack(flat: Flat) -> dict[str, Any]:
        rest = dict(flat)
        paths = _audio(rest.pop(audio, None))
        record = {
            "id": rest.pop("id", None), audio: paths if audio == "audio" else (paths or [""])[0],
            "question": rest.pop("question", ""), "choices": rest.pop("choices", None) or [],
            "answer": rest.pop("answer", None) or "", "task": rest.pop("task", None) or "",
        }  # fmt: skip
        return {**record, "more": dumps(rest)}

    def unpack(record: Flat) -> dict[str, Any]:
        flat = {key: value for key, value in record.items() if key != "more"}
        for key, nothing in ((audio, ""), ("choices", []), ("answer", ""), ("task", "")):
            if flat.get(key) == nothing:
                flat.pop(key, None)
        try:
            more = json.loads(record.get("more") or "{}")
        except (TypeError, ValueError, RecursionError):
            more = None
        if isinstance(more, dict) and more.keys().isdisjoint(flat):
            return {**flat, **more}
        return {**flat, "more": record["more"]}

    return pack, unpack


_PACK, _UNPACK = _rows("audio")
_FLAT = {"id": "id", "audio": "audio", "question": "question", "choices": "options", "answer": "answer", "task": "task"}
_MORE = {name: ("more",) for name in _REST if name != "task"}
LMMS_EVAL = HarnessItems(
    name="lmms-eval",
    title="lmms-eval task: a folder for --include_path with YAML, functions and questions",
    holds="items",
    needs=("id", "question"),
    answers="text",
    repairable=True,
    graded="process_results compares the option that a reply names with the answer, so the right option scores 0",
    source="https://github.com/EvolvingLMMs-Lab/lmms-eval/blob/main/docs/guides/task_guide.md",
    note="Recordings are looked for in the folder and those above it. `--log_samples` keeps what the model answered, "
    "which seldio reads as lmms-eval-samples.",
    keys=_FLAT | _REST,
    proofs=_PROOFS,
    required=("id", "question", "audio", "more"),
    marks=("audio", "question", "choices", "more"),
    pack=_PACK,
    unpack=_UNPACK,
    inside=_MORE,
    channels="of lmms-eval's models, minicpm_o, baichuan_omni, omnivinci and qwen3_omni average the channels, and "
    "gpt4o_audio keeps the first",
    climbs=True,
    ignored={"start": _WHOLE, "end": _WHOLE},
    main="questions.jsonl",
    further=lmms_eval_files,
)


def _sampled(flat: Flat) -> dict[str, Any]:
    rest = dict(flat)
    answer = {"id": rest.pop("id", None)} | {"prediction": rest.pop("prediction", None)}
    return {"doc_id": rest.pop("doc_id", 0), "filtered_resps": [answer["prediction"]], **rest, "seldio": answer}


def _from_sample(record: Flat) -> dict[str, Any]:
    flat, answer = dict(record), record.get("seldio")
    if not isinstance(answer, dict) or not answer.keys() <= {"id", "prediction"}:
        return flat
    del flat["seldio"]
    if "filtered_resps" in flat and flat["filtered_resps"] in (answer.get("prediction"), [answer.get("prediction")]):
        del flat["filtered_resps"]
    return {**flat, **{key: value for key, value in answer.items() if value is not None}}


LMMS_SAMPLES = HarnessItems(
    name="lmms-eval-samples",
    title="lmms-eval samples of a task that seldio wrote: JSON Lines with each answer",
    holds="predictions",
    needs=("id", "prediction"),
    source="https://github.com/EvolvingLMMs-Lab/lmms-eval",
    note="`lmms-eval --log_samples --output_path DIR` writes them as DIR/MODEL/*_samples_TASK.jsonl.",
    keys={"id": "id", "prediction": "prediction", "doc_id": "extra"},
    required=("seldio",),
    marks=("doc_id", "seldio"),
    pack=_sampled,
    unpack=_from_sample,
    inside={"id": ("seldio", "id"), "prediction": ("seldio", "prediction")},
)

# --- UltraEval-Audio -----------------------------------------------------------------------------------

_PACK_WAV, _UNPACK_WAV = _rows("WavPath")
ULTRAEVAL = HarnessItems(
    name="ultraeval-audio",
    title="UltraEval-Audio dataset: a folder with questions and a registry for --registry_path",
    holds="items",
    needs=("id", "audio", "question"),
    answers="text",
    repairable=True,
    graded="choice-strings-match looks for the words of the answer in the reply, so the right text scores 0",
    source="https://github.com/OpenBMB/UltraEval-Audio",
    note="Run it inside of the folder: its paths are relative to where it is started. Its recorder writes answers by "
    "their number, which seldio reads as ultraeval-audio-record and joins by order.",
    keys={"WavPath" if key == "audio" else key: field for key, field in _FLAT.items()} | _REST,
    proofs=_PROOFS,
    required=("id", "question", "WavPath"),
    marks=("WavPath", "question"),
    pack=_PACK_WAV,
    unpack=_UNPACK_WAV,
    inside=_MORE,
    most=1,
    channels="UltraEval-Audio's local models load recordings with librosa, which averages the channels",
    ignored={"start": _WHOLE, "end": _WHOLE},
    main="questions.jsonl",
    further=ultraeval_files,
)


class UltraEvalRecord(ItemFormat):
    """What UltraEval-Audio's recorder writes: a line for each step of each question, as workers finish them."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - the name says nothing
        """See :meth:`ItemFormat.likes`."""
        return 0.95 if _STEP.match(data) else 0.0

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """The outputs in the order of the questions; None, after a finding, where one has no output or several."""
        found: dict[int, tuple[JsonDocument, str | None]] = {}
        documents = list(parse_lines(data, path, sink))
        for document in documents:
            step = document.value
            if not isinstance(step, dict) or step.get("type") != "inference":
                continue
            number, inner = step.get("id"), step.get("data")
            output = inner.get("content") if isinstance(inner, dict) else None
            if type(number) is not int or number < 0:
                sink(document.finding("SYN212", "id is not the number of a question", ("id",)))
            elif number in found:
                sink(document.finding("SYN212", f"a second output for question {number}", ("id",),
                                      hint="run again with another --save, which begins a new file"))  # fmt: skip
            else:
                found[number] = document, output if output is None or isinstance(output, str) else dumps(output)
        absent = sorted({*range(max(found, default=-1) + 1)} - found.keys())
        if absent:
            sink(reader_rule("SYN212").at(
                path, f"no output for {plural(len(absent), 'question')} ({listed([str(one) for one in absent], 3)})",
                "outputs have no ids and are joined by order, so none may be missing: run with --resume",
            ))  # fmt: skip
            return None
        order = [found[number] for number in sorted(found)]
        rows = [Prediction.model_validate({"prediction": text}) for _, text in order]

        def locate(row: int, field: str | None, number: int | None) -> Place:  # noqa: ARG001
            return order[row][0].locate(("data", "content") if field == "prediction" else ())

        return ItemReading(self, path, rows, locate) if documents or not data.strip() else None

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:  # noqa: ARG002
        """The step of each output, by number."""
        self.check_kind(rows)
        steps = (
            {"type": "inference", "id": number, "data": {"content": row.prediction}}
            for number, row in enumerate(rows) if isinstance(row, Prediction)
        )  # fmt: skip
        return "".join(dumps(step) + "\n" for step in steps).encode()


_STEP = re.compile(rb'\s*\{"type": "(?:prompt|inference|post_process|eval|error)", "id": \d+, "data": ')
ULTRAEVAL_RECORD = UltraEvalRecord(
    name="ultraeval-audio-record",
    title="UltraEval-Audio recorder: JSON Lines with the steps of each question, by number",
    holds="predictions",
    in_order=True,
    carries=("prediction",),
    needs=("prediction",),
    source="https://github.com/OpenBMB/UltraEval-Audio",
    note="Outputs have no ids: they are the answers to the questions in their order.",
)
FORMATS: tuple[ItemFormat, ...] = (INSPECT, INSPECT_LOG, LMMS_EVAL, LMMS_SAMPLES, ULTRAEVAL, ULTRAEVAL_RECORD)

__all__ = ["FORMATS", "INSPECT", "INSPECT_LOG", "LMMS_EVAL", "LMMS_SAMPLES", "ULTRAEVAL", "ULTRAEVAL_RECORD"]
