"""MERA's files: the questions of ruEnvAQA and the answers of a submission.

Questions are an object ``{"access": "public", "data": [...]}`` whose records may name their instruction by number and
leave out the options that a yes-or-no question lacks. On the Hugging Face Hub the same records are rows with the
instruction's text, and options that are absent are null. Answers are
``{"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}``. Further keys are kept in ``extra``, below the keys they
stand below in the record. Where a record is laid out in another way than the usual one, ``extra`` also holds the record
``as_written``.
"""

from __future__ import annotations

import dataclasses
import json
import posixpath
import re
import string
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from seldio.errors import InvalidData, UsageError
from seldio.findings import Severity, Sink
from seldio.formats.base import Place
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.json_records import Layout, frame_of_lines, frame_of_list, layout_of, peek, value_at
from seldio.formats.json_text import JsonDocument, Pointer, dumps, parse, parse_lines
from seldio.reader_rules import READER_RULES
from seldio.schema.qa import Item, Prediction
from seldio.text import clipped, kind_of

#: Key of ``extra`` that holds a record as it was written, where the usual way to write it gives another one.
AS_WRITTEN = "as_written"
#: Cyrillic letters that look like those of options.
CYRILLIC = dict(zip("АВСЕавсе", "ABCEABCE", strict=True))
_HEAD = 1 << 16
_BOM = b"\xef\xbb\xbf"
_ID = re.compile(r"0|-?[1-9][0-9]{0,17}")
_ONE_LINE_CONTAINER = re.compile(rb'\{\s*"(?:access|data)"\s*:')
_AUDIO = re.compile(r"audio(?:_[1-9][0-9]?)?")
#: The part of the recording that is meant, in the meta of questions made from labels.
_TIMES = ("start", "end")
#: What MERA calls its only task whose questions seldio reads.
MERA_TASK = "ruEnvAQA"


def task_name(path: str) -> str:
    """Return the name of the task that a file with this *path* is for, as MERA's server finds it."""
    return posixpath.splitext(posixpath.basename(path))[0]


def gold_of(data: bytes) -> dict[Any, Any] | None:
    """Return the outputs of a task's questions by id, under data or a split of it; None if the file has none."""
    try:
        records = json.loads(data.decode("utf-8-sig"))
        while isinstance(records, dict):
            records = records[next(key for key in ("data", "test") if key in records)]
        return {record["meta"]["id"]: record["outputs"] for record in records}
    except (ValueError, RecursionError, StopIteration, TypeError, KeyError, IndexError):
        return None


def id_value(text: str) -> int | str:
    """Return an id as files have it: a number, unless it is written otherwise."""
    return int(text) if _ID.fullmatch(text) else text


def _id_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if type(value) is int and abs(value) < 10**18 else None


def dig(value: Any, *keys: str | int) -> Any:
    """Return the value under *keys*, None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _without(value: dict[str, Any], places: Collection[Pointer]) -> dict[str, Any]:
    """Return an object without what stands at *places*, and without objects that have nothing else."""
    left: dict[str, Any] = {}
    for key, part in value.items():
        inside = [way[1:] for way in places if way[0] == key]
        remaining = _without(part or {}, inside) if inside and () not in inside else part
        if not inside or (remaining and () not in inside):
            left[key] = remaining
    return left


def _joined(record: dict[str, Any], further: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the keys of another one, in the objects below as well."""
    both = [key for key in record if isinstance(record[key], dict) and isinstance(further.get(key), dict)]
    return record | further | {key: _joined(record[key], further[key]) for key in both}


class _Fault(NamedTuple):
    """A fault of a record, at a place inside it."""

    code: str
    message: str
    pointer: Pointer = ()
    hint: str | None = None
    severity: Severity | None = None  # the rule's own, unless this place is an exception


# --- what questions and answers have in common ------------------------------------------------------


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeraFormat(ItemFormat):
    """Records with an id in their meta and what is right, or was answered, as their outputs."""

    suffix: str = ".json"
    liking: Callable[[bytes], float]  # how much the head of a file looks like one of this format
    list_in: Callable[[JsonDocument, Sink], Pointer | None]  # where the records are; None, after a finding, if nowhere
    faults: Callable[[Any], Iterator[_Fault]]  # of a record
    row: Callable[[dict[str, Any]], Row]  # of a record without faults
    #: the record of a row and its further keys; the last argument: with null for the options that a question lacks
    built: Callable[[Any, dict[str, Any], bool], dict[str, Any]]
    fields: Mapping[str, Pointer]  # where a record has them
    layouts: tuple[Layout, Layout]  # of a new file, and of one in which no answer is known

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002
        """See :meth:`Format.likes`."""
        return self.liking(data[:_HEAD])

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`; ``left_out`` of the origin has the ids of records with faults."""
        line, _, remaining = data.removeprefix(_BOM).lstrip().partition(b"\n")
        in_lines = self.holds == "items" and line.startswith(b"{") and line.rstrip().endswith(b"}")
        if in_lines and (remaining.strip() or not _ONE_LINE_CONTAINER.match(line)):
            documents = [*parse_lines(data, path, sink)]
            layout, first = frame_of_lines(data.removeprefix(_BOM))
        else:
            document = parse(data, path, sink)
            at = None if document is None else self.list_in(document, sink)
            if document is None or at is None:
                return None
            values = value_at(document.value, at)
            documents = [document.part(value, (*at, number)) for number, value in enumerate(values)]
            layout, first = frame_of_list(document, at, len(values))
        # without an order of keys: it is the usual one, or that of the record as written
        layout = dataclasses.replace(layout.styled(first, data), order=()) if first else layout
        inputs = (dig(record.value, "inputs") for record in documents)
        # rows of the Hub have null for the options that they lack
        hub = any(isinstance(keys, dict) and keys.get("option_d", "") is None for keys in inputs)
        rows, records, left_out = [], [], []
        for record in documents:
            faults = [*self.faults(record.value)]
            for fault in faults:
                sink(record.finding(*fault))
            if any(fault.severity is not Severity.WARNING for fault in faults):
                left_out.append(_id_text(dig(record.value, "meta", "id")) or "")
                continue
            row, value = self.row(record.value), record.value
            extra = row.extra or {}
            # a record is kept as it is if it is written otherwise, order of keys included
            if AS_WRITTEN in value or json.dumps(self.built(row, dict(extra), hub)) != json.dumps(value):
                row = row.model_copy(update={"extra": {**extra, AS_WRITTEN: value}})
            rows.append(row)
            records.append(record)

        def locate(row: int, field: str | None, number: int | None) -> Place:
            pointer = self.fields.get(field or "", ())
            if field in ("audio", "options") and self.holds == "items":  # a key for each of them
                keys = _audio_keys(records[row].value["inputs"]) if field == "audio" else []
                if field == "options" and number is not None:
                    keys = _OPTIONS
                pointer = ("inputs", keys[number or 0]) if (number or 0) < len(keys) else pointer
            return records[row].locate(pointer)

        origin: dict[str, object] = {"layout": dataclasses.asdict(layout), "hub": hub, "left_out": left_out}
        return ItemReading(self, path, rows, locate, origin)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`; a record is as it was written, if that still means the same."""
        hidden = bool(rows) and all(isinstance(row, Item) and row.answer is None for row in rows)
        layout = layout_of((origin or {}).get("layout"), self.layouts[hidden])
        hub = (origin or {}).get("hub") is True
        texts = []
        for row in rows:
            extra = dict(row.extra or {})
            record = extra.pop(AS_WRITTEN, None)
            if not isinstance(record, dict) or not self._means(record, row, extra):
                record = self.built(row, extra, hub)
            texts.append(layout.record(record))
        return layout.file(texts).encode()

    def _means(self, record: dict[str, Any], row: Row, extra: dict[str, Any]) -> bool:
        if any(fault.severity is not Severity.WARNING for fault in self.faults(record)):
            return False
        before = self.row(record)
        fields = (field for field in self.carries if field not in ("extra", "language"))
        same = all(getattr(before, field) == getattr(row, field) for field in fields)
        return same and _without(before.extra or {}, [(AS_WRITTEN,)]) == extra

    def template(self, items: Sequence[Item]) -> list[Prediction]:
        """See :meth:`ItemFormat.template`; MERA numbers its questions."""
        for item in items:
            if type(id_value(item.id)) is not int:
                what = f"{clipped(item.id, 30)} is not a number"
                raise UsageError(f"answers in {self.name} are matched by question number, but {what}")
        return super().template(items)


# --- questions --------------------------------------------------------------------------------------

#: A container as the source files have it.
_PUBLIC = Layout(
    '{\n    "access": "public",\n    "data": [', "\n        ", ",", "\n    ]\n}", "    ", separators=(",", ": ")
)
_PRIVATE = dataclasses.replace(_PUBLIC, head=_PUBLIC.head.replace("public", "private"))
_FIELDS: dict[str, Pointer] = {
    "id": ("meta", "id"),
    "question": ("inputs", "question"),
    "options": ("inputs",),
    "instruction": ("instruction",),
    "answer": ("outputs",),
    "task": ("meta", "categories", "task_type"),
    "dataset": ("meta", "categories", "source_dataset"),
    "knowledge": ("meta", "categories", "knowledge"),
    "start": ("meta", "start"),
    "end": ("meta", "end"),
}
#: The parts of a record besides its id, recordings and options: types, what they have to be, and whether it needs them.
_PARTS: dict[Pointer, tuple[tuple[type, ...], str, bool]] = {
    ("inputs",): ((dict,), "an object", True),
    ("inputs", "question"): ((str,), "text", True),
    ("meta",): ((dict,), "an object", True),
    ("meta", "categories"): ((dict, type(None)), "an object", False),
    ("meta", "categories", "task_type"): ((str, type(None)), "text", False),
    ("meta", "categories", "source_dataset"): ((str, type(None)), "text", False),
    ("outputs",): ((str, type(None)), "a letter", False),
    ("instruction",): ((str, int), "text or a number", True),
}
_OPTIONS = [f"option_{letter}" for letter in string.ascii_lowercase]


def option_lines(count: int) -> str:
    """Return the part of an instruction that lists *count* options, each behind a line end and its Latin letter."""
    return "".join(f"\n{letter.upper()}. {{option_{letter}}}" for letter in string.ascii_lowercase[:count])


def template(count: int) -> str:
    """Return the plainest of the benchmark's instructions, for *count* options."""
    return f"Аудиофайл: <audio>\nВопрос:\n{{question}}\n{option_lines(count)}"


def _questions_liked(head: bytes) -> float:
    keys = (b'"inputs"', b'"instruction"', b'"question"')
    if not all(key in head for key in keys) or head.lstrip(_BOM + b" \t\r\n")[:1] not in (b"{", b"["):
        return 0.0
    if b'"data_example"' in head or b'"dataset_name"' in head:
        return 0.0  # the description of a dataset, which shows one record
    if b'"audio' not in head and (b'"image' in head or b'"video' in head):
        return 0.0  # another of MERA's sets
    outermost = "inputs" in peek(head)  # items carry the record of which they were made
    return 0.98 if outermost and b'"option_a"' in head and b'"meta"' in head else 0.6


def _questions_in(document: JsonDocument, sink: Sink) -> Pointer | None:
    value = document.value
    if isinstance(value, list):
        return ()
    if not isinstance(dig(value, "data"), list):
        hint = 'a file of this format is {"access": "public", "data": [...]}'
        message = "there is no list of records under the key data"
        sink(document.finding("QAI213", message, ("data",) if dig(value, "data") else (), hint=hint))
        return None
    if value.get("access", "") not in ("public", "private", ""):
        message = f"access is {dumps(value['access'])[:40]}"
        hint = "write public or private"
        sink(document.finding("QAI212", message, ("access",), hint, Severity.WARNING))
    return ("data",)


def _question_faults(value: Any) -> Iterator[_Fault]:
    if not isinstance(value, dict):
        yield _Fault("QAI212", f"a record is {kind_of(value)}, not an object")
        return
    for pointer, (types, must, needed) in _PARTS.items():
        *way, key = pointer
        holder = dig(value, *way)
        if not isinstance(holder, dict):
            continue
        if key not in holder and needed:
            yield _Fault("QAI211", f"{key} is missing", pointer)
        elif key in holder and (type(holder[key]) is bool or not isinstance(holder[key], types)):
            yield _Fault("QAI212", f"{key} is {kind_of(holder[key])}, not {must}", pointer)
    if type(value.get("instruction")) is int and not 0 <= value["instruction"] < 10**6:
        message = "there is no instruction with this number"
        yield _Fault("QAI212", message, ("instruction",), "instructions are numbered from 0")
    if isinstance(inputs := value.get("inputs"), dict):
        keys = _audio_keys(inputs)
        if not keys:
            yield _Fault("QAI211", "audio is missing", ("inputs",))
        for key in keys:
            if not isinstance(path := _path(inputs[key]), str) or not path:
                yield _Fault("QAI212", f"{key} is not a path", ("inputs", key))
        last = max((place for place, key in enumerate(_OPTIONS) if inputs.get(key) is not None), default=-1)
        for key in _OPTIONS[: last + 1]:
            if inputs.get(key) is None:
                yield _Fault("QAI212", f"{key} is missing, but a later option is present", ("inputs", key))
                break
            if not isinstance(inputs[key], str):
                yield _Fault("QAI212", f"{key} is {kind_of(inputs[key])}, not text", ("inputs", key))
    if isinstance(meta := value.get("meta"), dict):
        if _id_text(meta.get("id")) is None:
            code, message = ("QAI212", "id is not a number") if "id" in meta else ("QAI211", "id is missing")
            yield _Fault(code, message, ("meta", "id"))
        elif isinstance(meta["id"], str):
            hint = "MERA's tools compare ids as whole numbers"
            yield _Fault("QAI212", "id is text, not a number", ("meta", "id"), hint, Severity.WARNING)
    if "outputs" not in value:
        hint = "write a hidden answer as an empty text"
        yield _Fault("QAI211", "outputs is missing", (), hint, Severity.WARNING)


def _question(value: dict[str, Any]) -> Item:
    inputs, meta, numbered = value["inputs"], value["meta"], type(value["instruction"]) is int
    audio, options = _audio_keys(inputs), [key for key in _OPTIONS if key in inputs]
    times = {name: meta.get(name) for name in _TIMES}
    timed = all(type(time) in (int, float) and time >= 0 for time in times.values())
    taken = {_FIELDS[field] for field in ("id", "question", "answer", "task", "dataset")}
    taken |= {("inputs", key) for key in (*audio, *options)} | {("meta", name) for name in times if timed}
    taken |= set() if numbered else {("instruction",)}
    fields = {
        "id": _id_text(meta["id"]),
        "audio": [_path(inputs[key]) for key in audio],
        "question": inputs["question"],
        "options": [inputs[key] for key in options if inputs[key] is not None] or None,
        "instruction": None if numbered else value["instruction"],
        "answer": value.get("outputs") or None,
        "task": dig(value, *_FIELDS["task"]),
        "dataset": dig(value, *_FIELDS["dataset"]),
        "language": "ru",
        "extra": _without(value, taken) or None,
    }
    return Item.model_validate(fields | (times if timed else {}))


def _record(row: Item, extra: dict[str, Any], hub: bool) -> dict[str, Any]:
    """Return the record of a question; one without instruction gets the benchmark's plainest one."""
    options: list[str | None] = list(row.options or ())
    if not row.audio or len(row.audio) > 99 or len(options) > 26:
        what = f"{len(options)} options" if len(options) > 26 else f"{len(row.audio)} recordings"
        raise InvalidData(READER_RULES["QAI212"].at("<items>", f"item {row.id} has {what}"))
    number = extra.pop("instruction", None)
    plainest = number if type(number) is int else template(len(options))
    audio = {f"audio_{place}": path for place, path in enumerate(row.audio, 1)}
    audio = {"audio": row.audio[0]} if len(audio) == 1 else audio
    options += [None] * (4 - len(options)) if hub else []
    named = dict(zip(_OPTIONS, options, strict=False))
    names = {"task_type": row.task, "source_dataset": row.dataset}
    categories = {key: name for key, name in names.items() if name is not None}
    clip = {"audio_id": extra["meta"]["audio_id"]} if "audio_id" in (dig(extra, "meta") or ()) else {}
    clip |= {name: time for name in _TIMES if (time := getattr(row, name)) is not None}
    record = {
        "instruction": plainest if row.instruction is None else row.instruction,
        "inputs": {"question": row.question} | audio | named,
        "outputs": row.answer or "",
        "meta": {"id": id_value(row.id)} | ({"categories": categories} if categories else {}) | clip,
    }
    return _joined(record, extra)


def _audio_keys(inputs: dict[str, Any]) -> list[str]:
    return sorted((key for key in inputs if _AUDIO.fullmatch(key)), key=lambda key: (len(key), key))


def _path(audio: Any) -> Any:
    """Return the path of a recording; the Hub writes decoded ones as an object with a path."""
    return audio.get("path") if isinstance(audio, dict) else audio


# --- answers ----------------------------------------------------------------------------------------

SPLIT = "test"
_SHAPE = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"data"\s*:|\[\s*\{\s*"(?:outputs|meta)"\s*:)')
_ANSWERS = dataclasses.replace(
    _PUBLIC, head='{\n    "data": {\n        "test": [', lead="\n            ", tail="\n        ]\n    }\n}"
)
_ANSWER_FIELDS: dict[str, Pointer] = {"id": ("meta", "id"), "prediction": ("outputs",)}
_HINT = 'a submission is {"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}'


def _answers_liked(head: bytes) -> float:
    if not _SHAPE.match(head) or b'"inputs"' in head:
        return 0.0
    return 0.95 if b'"outputs"' in head and b'"meta"' in head else 0.2


def _answers_in(document: JsonDocument, sink: Sink) -> Pointer | None:
    value = document.value
    if isinstance(value, list):
        message = "a bare list of answers: MERA's server looks for the field data"
        sink(document.finding("PRD117", message, (), hint=_HINT))
        return ()
    if not isinstance(value, dict) or "data" not in value:
        sink(document.finding("PRD111", "the field data is missing", (), hint=_HINT))
        return None
    if not isinstance(dig(value, "data", SPLIT), list):
        sink(document.finding("PRD111", f"the split {SPLIT} has no list of answers", ("data",), hint=_HINT))
        return None
    return ("data", SPLIT)


def _answer_faults(value: Any) -> Iterator[_Fault]:
    """Yield the faults of an answer that MERA's validator would find."""
    if not isinstance(value, dict) or "outputs" not in value:
        yield _Fault("PRD111", "this answer has no field outputs", (), _HINT)
    elif not isinstance(value["outputs"], str):
        message = f"outputs is {kind_of(value['outputs'])}, not text"
        yield _Fault("PRD116", message, ("outputs",), "write the letter of the option as text")
    if not isinstance(value, dict) or "meta" not in value:
        yield _Fault("PRD111", "this answer has no field meta", (), _HINT)
    elif not isinstance(value["meta"], dict) or "id" not in value["meta"]:
        yield _Fault("PRD111", "this answer has no id in its meta", ("meta",), _HINT)
    elif _id_text(value["meta"]["id"]) is None:
        message = f"the id is {kind_of(value['meta']['id'])}, not a whole number"
        yield _Fault("PRD111", message, ("meta", "id"), "write the question's number")


def _answer(value: dict[str, Any]) -> Prediction:
    extra = _without(value, _ANSWER_FIELDS.values())
    fields = {"id": _id_text(value["meta"]["id"]), "prediction": value["outputs"], "extra": extra or None}
    return Prediction.model_validate(fields)


def _answer_record(row: Prediction, extra: dict[str, Any], _: bool) -> dict[str, Any]:
    if row.id is None:
        raise InvalidData(READER_RULES["PRD111"].at("<predictions>", "a prediction has no id", _HINT))
    meta = extra.pop("meta", {})
    record = {"outputs": row.prediction or "", "meta": {"id": id_value(row.id)}}
    return _joined(record, extra | ({"meta": meta} if isinstance(meta, dict) else {}))


RUENVAQA = MeraFormat(
    name="ruenvaqa",
    title="ruEnvAQA (MERA Multi): Russian questions with two or four options, as a container or as rows from the Hub",
    holds="items",
    carries=(
        "id",
        "audio",
        *_TIMES,
        "question",
        "instruction",
        "options",
        "answer",
        "task",
        "dataset",
        "language",
        "extra",
    ),
    needs=("id", "audio", "question"),
    answers="letter",
    repairable=True,
    graded="exact_match compares the reply, a letter, with the answer, so the right letter scores 0",
    counts=(2, 4),
    suffix=".json",
    aliases=("mera-ruenvaqa",),
    source="https://github.com/MERA-Evaluation/MERA_MULTIMODAL/blob/main/docs/dataset_formatting.md",
    note="An empty answer is a hidden one. Seven of the ten instructions name the first option by a Cyrillic "
    "letter; the answers are Latin letters.",
    liking=_questions_liked,
    list_in=_questions_in,
    faults=_question_faults,
    row=_question,
    built=_record,
    fields=_FIELDS,
    layouts=(_PUBLIC, _PRIVATE),
)
SUBMISSION = MeraFormat(
    name="ruenvaqa-submission",
    title="MERA submission: letters by question number, as JSON in a zip",
    holds="predictions",
    carries=("id", "prediction", "extra"),
    needs=("id", "prediction"),
    suffix=".json",
    aliases=("mera-submission",),
    source="https://github.com/MERA-Evaluation/MERA_MULTIMODAL/blob/main/scripts/log_to_submission.py",
    note="The file is named ruEnvAQA.json, after the task's class. Any error in it scores 0 for the whole task.",
    liking=_answers_liked,
    list_in=_answers_in,
    faults=_answer_faults,
    row=_answer,
    built=_answer_record,
    fields=_ANSWER_FIELDS,
    layouts=(_ANSWERS, _ANSWERS),
)
FORMATS: tuple[ItemFormat, ...] = (RUENVAQA, SUBMISSION)
