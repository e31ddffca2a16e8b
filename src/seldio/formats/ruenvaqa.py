"""ruEnvAQA (MERA Multi): Russian questions about sounds and music with two or four options.

The source files are an object ``{"access": "public", "data": [...]}`` whose records may name their
instruction by number and leave out the options that a yes-or-no question lacks. On the Hugging Face Hub
the same records are rows with the instruction's text, and options that are absent are null. Both are read
and written, with whatever further keys they have: those are in ``extra``, below the keys they stand below
in the record. Where a record has another order of keys, or anything else that the usual way of writing does
not give, ``extra`` also holds the record ``as_written``.
"""

from __future__ import annotations

import dataclasses
import re
import string
from collections.abc import Iterator, Sequence
from typing import Any

from seldio.errors import InvalidData
from seldio.findings import Severity, Sink
from seldio.formats import json_text
from seldio.formats.base import Place
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.json_layout import Layout, layout_of
from seldio.formats.json_records import peek
from seldio.formats.json_text import Pointer, Record
from seldio.formats.mera import (
    AS_WRITTEN,
    MeraProblem,
    dig,
    id_text,
    id_value,
    is_lines,
    kept,
    kind,
    load_lines,
    records_at,
)
from seldio.formats.mera_submission import SUBMISSION, submission_zip
from seldio.reader_rules import reader_rule
from seldio.schema.qa import Item

__all__ = ["FORMATS", "RUENVAQA", "SUBMISSION", "RuEnvAqa", "submission_zip"]

_HEAD = 1 << 16
_FIELDS: dict[str, Pointer] = {
    "id": ("meta", "id"),
    "audio": ("inputs", "audio"),
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
_COMPARED = ("id", "audio", "start", "end", "question", "options", "instruction", "answer", "task", "dataset")
#: The part of the recording that is meant, in the meta of questions made from labels.
_TIMES = ("start", "end")
_ACCESS = ("public", "private", "")


#: A container as the source files have it.
_PUBLIC = Layout(
    '{\n    "access": "public",\n    "data": [', "\n        ", ",", "\n    ]\n}", "    ", separators=(",", ": ")
)
_PRIVATE = dataclasses.replace(_PUBLIC, head=_PUBLIC.head.replace("public", "private"))


def option_lines(count: int) -> str:
    """The part of an instruction that lists *count* options, each behind a line end and its Latin letter."""
    return "".join(f"\n{letter.upper()}. {{option_{letter}}}" for letter in string.ascii_lowercase[:count])


def template(count: int) -> str:
    """The plainest of the benchmark's instructions, for *count* options."""
    return f"Аудиофайл: <audio>\nВопрос:\n{{question}}\n{option_lines(count)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuEnvAqa(ItemFormat):
    """The format of ruEnvAQA, and of MERA's other audio tasks with options."""

    #: what the numbers of instructions stand for, where that is known; they count from 0
    instructions: tuple[str, ...] = ()

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002
        """See :meth:`ItemFormat.likes`."""
        head = data[:_HEAD]
        keys = (b'"inputs"', b'"instruction"', b'"question"')
        if not all(key in head for key in keys) or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"["):
            return 0.0
        if b'"data_example"' in head or b'"dataset_name"' in head:
            return 0.0  # the description of a dataset, which shows one record
        if b'"audio' not in head and (b'"image' in head or b'"video' in head):
            return 0.0  # another of MERA's sets
        outermost = "inputs" in peek(data)  # items carry the record of which they were made
        return 0.98 if outermost and b'"option_a"' in head and b'"meta"' in head else 0.6

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`."""
        loaded = load_lines(data, path, sink) if is_lines(data) else _load(data, path, sink)
        if loaded is None:
            return None
        given, layout = loaded
        asked = [inputs for record in given if isinstance(inputs := dig(record.value, "inputs"), dict)]
        hub = any("option_d" in inputs and inputs["option_d"] is None for inputs in asked)  # options it lacks are null
        rows, records = [], []
        for record in given:
            wrong = list(problems(record.value, len(self.instructions)))
            for problem in wrong:
                sink(record.finding(*problem))
            if all(problem.severity is Severity.WARNING for problem in wrong):
                item = self._item(record.value)
                rows.append(kept(item, record.value, self._built(item, hub, layout)))
                records.append(record)
        origin: dict[str, object] = {"layout": dataclasses.asdict(layout), "hub": hub}
        return ItemReading(self, path, rows, _locator(records), origin)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`.

        Without an origin the container of the source files is written; ``access`` is private where no answer
        is known. An item without instruction gets the benchmark's plainest one.
        """
        items = [row for row in rows if isinstance(row, Item)]
        hidden = bool(items) and all(item.answer is None for item in items)
        default = _PRIVATE if hidden else _PUBLIC
        layout, hub = layout_of((origin or {}).get("layout"), default), (origin or {}).get("hub") is True
        return layout.file([layout.record(self._record(item, hub, layout)) for item in items]).encode()

    def _item(self, value: dict[str, Any]) -> Item:
        inputs, categories = value["inputs"], dig(value, "meta", "categories")
        options = [inputs[key] for key in sorted(inputs) if OPTION.fullmatch(key) and inputs[key] is not None]
        fields = {
            "id": id_text(value["meta"]["id"]),
            "audio": [audio_path(inputs[key]) for key in audio_keys(inputs)],
            "question": inputs["question"],
            "options": options or None,
            "instruction": self._instruction(value.get("instruction")),
            "answer": value.get("outputs") or None,
            "task": dig(categories, "task_type"),
            "dataset": dig(categories, "source_dataset"),
            "language": "ru",
            "extra": _further(value) or None,
        } | _times(value["meta"])
        return Item.model_validate(fields)

    def _instruction(self, given: Any) -> str | None:
        if isinstance(given, int):
            return self.instructions[given] if given < len(self.instructions) else None
        return given  # type: ignore[no-any-return]

    def _record(self, item: Item, hub: bool, layout: Layout) -> dict[str, Any]:
        """Return the record of an item: as it was written, if it still means the same."""
        count = len(item.options or ())
        if not item.audio or len(item.audio) > 99 or count > 26:
            what = f"{count} options" if count > 26 else f"{len(item.audio)} recordings"
            raise InvalidData(reader_rule("QAI212").at("<items>", f"item {item.id} has {what}"))
        extra = dict(item.extra or {})
        written = extra.pop(AS_WRITTEN, None)
        if isinstance(written, dict) and not list(problems(written, 0, strict=True)):
            old = self._item(written)
            old_extra = {key: value for key, value in (old.extra or {}).items() if key != AS_WRITTEN}
            if old_extra == extra and all(getattr(old, name) == getattr(item, name) for name in _COMPARED):
                return written
        return self._built(item.model_copy(update={"extra": extra}), hub, layout)

    def _built(self, item: Item, hub: bool, layout: Layout) -> dict[str, Any]:
        extra = dict(item.extra or {})
        number = extra.pop("instruction", None)
        inputs, meta = _taken(extra, "inputs"), _taken(extra, "meta")
        categories = _taken(meta, "categories")
        times = {name: time for name in _TIMES if (time := getattr(item, name)) is not None}
        clip = {key: meta.pop(key) for key in ("audio_id",) if key in meta} | times
        names = {"task_type": item.task, "source_dataset": item.dataset}
        categories = {key: name for key, name in names.items() if name is not None} | categories
        asked = _inputs(item, hub) | inputs
        return {
            "instruction": self._named(item, number, layout),
            "inputs": asked,
            "outputs": item.answer or "",
            "meta": {"id": id_value(item.id)} | ({"categories": categories} if categories else {}) | clip | meta,
        } | extra

    def _named(self, item: Item, number: Any, layout: Layout) -> Any:
        """Return the number of an instruction that the source file has too, else its text."""
        if type(number) is int and self._instruction(number) == item.instruction:
            return number if layout.head.lstrip().startswith("{") or item.instruction is None else item.instruction
        return template(len(item.options or ())) if item.instruction is None else item.instruction


def _load(data: bytes, path: str, sink: Sink) -> tuple[list[Record], Layout] | None:
    document = json_text.parse(data, path, sink)
    if document is None:
        return None
    value = document.value
    if isinstance(value, list):
        return records_at(document, (), data)
    rows = dig(value, "data")
    if not isinstance(rows, list):
        hint = 'a file of this format is {"access": "public", "data": [...]}'
        message = "there is no list of records under the key data"
        sink(document.finding("QAI213", message, ("data",) if dig(value, "data") else (), hint=hint))
        return None
    if "access" in value and value["access"] not in _ACCESS:
        message = f"access is {json_text.dumps(value['access'])[:40]}"
        sink(document.finding("QAI205", message, ("access",), hint="write public or private"))
    return records_at(document, ("data",), data)


def _locator(records: Sequence[Record]) -> Any:
    def locate(row: int, field: str | None, number: int | None) -> Place:
        pointer = _FIELDS.get(field or "", ())
        inputs = records[row].value["inputs"]
        if field == "options" and number is not None:
            pointer = ("inputs", f"option_{string.ascii_lowercase[number % 26]}")
        if field == "audio":
            keys = audio_keys(inputs)
            pointer = ("inputs", keys[number or 0]) if len(keys) > (number or 0) else pointer
        return records[row].place(pointer)

    return locate


def _times(meta: dict[str, Any]) -> dict[str, Any]:
    times: dict[str, Any] = {name: meta.get(name) for name in _TIMES}
    return times if all(type(time) in (int, float) and time >= 0 for time in times.values()) else {}


def _taken(extra: dict[str, Any], key: str) -> dict[str, Any]:
    """Pop the object under *key* from *extra*; what is not an object stays."""
    return dict(extra.pop(key)) if isinstance(extra.get(key), dict) else {}


def _further(value: dict[str, Any]) -> dict[str, Any]:
    fields = ("instruction", "inputs", "outputs", "meta")
    number = {"instruction": value["instruction"]} if type(value.get("instruction")) is int else {}
    further = number | {key: part for key, part in value.items() if key not in fields}
    inputs = {
        key: part
        for key, part in value["inputs"].items()
        if key != "question" and not AUDIO.fullmatch(key) and not OPTION.fullmatch(key)
    }
    known_keys = ("id", "categories", *_times(value["meta"]))
    meta = {key: part for key, part in value["meta"].items() if key not in known_keys}
    categories = value["meta"].get("categories") or {}
    categories = {k: part for k, part in categories.items() if k not in ("task_type", "source_dataset")}
    meta = ({"categories": categories} if categories else {}) | meta
    return further | ({"inputs": inputs} if inputs else {}) | ({"meta": meta} if meta else {})


def _inputs(item: Item, hub: bool) -> dict[str, Any]:
    """Return question, recordings and options; options that the Hub has and this question lacks are null."""
    single = len(item.audio) == 1
    audio = {"audio" if single else f"audio_{n}": path for n, path in enumerate(item.audio, 1)}
    options: list[str | None] = list(item.options or ())
    options += [None] * (4 - len(options)) if hub else []
    named = {f"option_{letter}": text for letter, text in zip(string.ascii_lowercase, options, strict=False)}
    return {"question": item.question} | audio | named


# --- what a record has to hold ----------------------------------------------------------------------

OPTION = re.compile(r"option_[a-z]")
AUDIO = re.compile(r"audio(?:_[1-9][0-9]?)?")


def audio_keys(inputs: dict[str, Any]) -> list[str]:
    """The keys of a record's recordings, in their order."""
    return sorted((key for key in inputs if AUDIO.fullmatch(key)), key=lambda key: (len(key), key))


def audio_path(audio: Any) -> str:
    """The path of a recording; the Hub writes decoded ones as an object with a path."""
    return audio["path"] if isinstance(audio, dict) else audio  # type: ignore[no-any-return]


def problems(value: Any, instructions: int, strict: bool = False) -> Iterator[MeraProblem]:
    """Yield the faults of a record; with *strict* only those that make it no record."""
    if not isinstance(value, dict):
        yield MeraProblem("QAI212", f"a record is {kind(value)}, not an object")
        return
    for key in ("inputs", "meta"):
        yield from _untyped(value, key, dict, "an object", (key,))
    if isinstance(value.get("inputs"), dict):
        yield from _input_problems(value["inputs"])
    if isinstance(value.get("meta"), dict):
        yield from _meta_problems(value["meta"], strict)
    if "outputs" in value:
        yield from _untyped(value, "outputs", str | None, "a letter", ("outputs",))
    yield from _instruction_problems(value, 0 if strict else instructions)
    if "outputs" not in value and not strict:
        hint = "write a hidden answer as an empty text"
        yield MeraProblem("QAI211", "outputs is missing", (), hint, Severity.WARNING)


def _untyped(inside: dict[str, Any], key: str, type: Any, what: str, at: Pointer) -> Iterator[MeraProblem]:
    if key not in inside:
        yield MeraProblem("QAI211", f"{key} is missing", at)
    elif not isinstance(inside[key], type):
        yield MeraProblem("QAI212", f"{key} is {kind(inside[key])}, not {what}", at)


def _instruction_problems(value: dict[str, Any], known: int) -> Iterator[MeraProblem]:
    given = value.get("instruction")
    if "instruction" not in value:
        yield MeraProblem("QAI211", "instruction is missing")
    elif type(given) is not int and not isinstance(given, str):
        yield MeraProblem("QAI212", f"instruction is {kind(given)}, not text or a number", ("instruction",))
    elif type(given) is int and not 0 <= given < (known or 10**6):
        hint = f"the {known} instructions are numbered from 0" if known else "instructions are numbered from 0"
        yield MeraProblem("QAI212", "there is no instruction with this number", ("instruction",), hint)


def _input_problems(inputs: dict[str, Any]) -> Iterator[MeraProblem]:
    yield from _untyped(inputs, "question", str, "text", ("inputs", "question"))
    keys = audio_keys(inputs)
    if not keys:
        yield MeraProblem("QAI211", "audio is missing", ("inputs",))
    for key in keys:
        path = audio_path(inputs[key]) if dig(inputs, key, "path") else inputs[key]
        if not isinstance(path, str) or not path:
            yield MeraProblem("QAI212", f"{key} is not a path", ("inputs", key))
    options = [inputs.get(f"option_{letter}") for letter in string.ascii_lowercase]
    for number, text in enumerate(options):
        key = f"option_{string.ascii_lowercase[number]}"
        if text is None and any(later is not None for later in options[number:]):
            yield MeraProblem("QAI212", f"{key} is missing, but a later option is present", ("inputs", key))
            return
        if text is not None:
            yield from _untyped(inputs, key, str, "text", ("inputs", key))


def _meta_problems(meta: dict[str, Any], strict: bool) -> Iterator[MeraProblem]:
    if id_text(meta.get("id")) is None:
        code, message = ("QAI212", "id is not a number") if "id" in meta else ("QAI211", "id is missing")
        yield MeraProblem(code, message, ("meta", "id"))
    elif isinstance(meta["id"], str) and not strict:
        hint = "MERA's tools compare ids as whole numbers"
        yield MeraProblem("QAI212", "id is text, not a number", ("meta", "id"), hint, Severity.WARNING)
    categories = meta.get("categories")
    if not isinstance(categories, dict | None):
        yield MeraProblem("QAI212", f"categories is {kind(categories)}, not an object", ("meta", "categories"))
        return
    values = {"task_type": None, "source_dataset": None} | (categories or {})
    for key in ("task_type", "source_dataset"):
        yield from _untyped(values, key, str | None, "text", ("meta", "categories", key))


RUENVAQA = RuEnvAqa(
    name="ruenvaqa",
    title="ruEnvAQA (MERA Multi): Russian questions with two or four options, as a container or as rows from the Hub",
    holds="items",
    carries=(
        "id", "audio", "start", "end", "question", "instruction", "options", "answer", "task", "dataset", "language",
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
)  # fmt: skip
FORMATS: tuple[ItemFormat, ...] = (RUENVAQA, SUBMISSION)
