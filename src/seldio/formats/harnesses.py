"""Read and write the records of the evaluation harness inspect_ai.

Its questions are records in JSON Lines that hold the fields of an item in a shape of their own: two functions go from
flat keys to the record (``pack``) and back (``unpack``). What a model answered is read from inspect's log, by default a
zip (``.eval``) with a file of JSON for each sample. Members are unpacked within the limits of any archive
(:class:`seldio.files.Limits`), whatever the directory of the zip says of them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from seldio.errors import InvalidData
from seldio.files import DEFAULTS
from seldio.files.archives import open_bytes
from seldio.findings import Sink
from seldio.formats.base import Place
from seldio.formats.items import ItemFormat, ItemReading
from seldio.formats.json_items import JsonItems
from seldio.formats.json_records import Layout
from seldio.schema.qa import Item, Proof

Flat = Mapping[str, Any]
#: Why a harness asks about more than a question is about.
_WHOLE = "the harness plays the whole recording: cut the clips out first, as `seldio convert LABELS -o FILE` does"
_PROOFS = {name: name for name in Proof.model_fields if name != "extra"}
#: Every field of an item under its own name, but for those that each harness names in its own way.
_REST = {
    name: name for name in Item.model_fields if name not in ("id", "audio", "question", "options", "answer", "extra")
}


# --- inspect_ai ----------------------------------------------------------------------------------------

#: What stands at the top of a record of inspect; all else is in ``metadata``.
_TOP = ("id", "input", "choices", "target", "sandbox", "files", "setup", "description", "checkpoint")


def _inspect(flat: Flat) -> dict[str, Any]:
    remaining = dict(flat)
    audio, question = remaining.pop("audio", []), remaining.pop("question", "")
    sounds = [{"type": "audio", "audio": path, "format": path.rpartition(".")[2].lower()} for path in audio]
    asked = [{"role": "user", "content": [*sounds, {"type": "text", "text": question}]}]
    given = remaining.pop("input", None)  # kept where it says more than that
    if given is not None and _heard(given) != (audio, question):
        given = None
    options, answer = remaining.pop("choices", None), remaining.pop("target", None)
    record: dict[str, Any] = {"id": remaining.pop("id", None), "input": asked if given is None else given}
    record |= {} if options is None else {"choices": options}
    record["target"] = "" if answer is None else answer
    record |= {key: remaining.pop(key) for key in _TOP if key in remaining}
    return record | ({"metadata": remaining} if remaining else {})


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
    """Return the recordings and the last text of a sample's input; None if it is neither messages nor a text."""
    if isinstance(given, str):
        return [], given
    messages = given if isinstance(given, list) and all(isinstance(message, dict) for message in given) else None
    if not messages:
        return None
    content = next((message.get("content") for message in reversed(messages) if message.get("role") == "user"), None)
    if isinstance(content, str):
        return [], content
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    sounds = [part.get("audio") for part in content if part.get("type") == "audio"]
    texts = [part.get("text") for part in content if part.get("type") == "text"]
    if not texts or not all(isinstance(text, str) for text in (*sounds, *texts)):
        return None
    return sounds, texts[-1]


INSPECT = JsonItems(
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
    taken=(*_TOP, "metadata"),
    sounds=("wav", "mp3"),
    ignored={"start": _WHOLE, "end": _WHOLE},
)


def _logged(flat: Flat) -> dict[str, Any]:
    remaining = dict(flat)
    text = remaining.pop("completion", None)
    output = remaining.pop("output", {})
    given = output | ({} if text is None else {"completion": text}) if isinstance(output, dict) else output
    return {"id": remaining.pop("id", None), "epoch": remaining.pop("epoch", 1), "output": given, **remaining}


def _from_log(record: Flat) -> dict[str, Any]:
    flat = dict(record)
    output = flat.get("output")
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
class InspectLog(JsonItems):
    """Samples in a log in JSON, or in an archive with a file for each."""

    def likes(self, data: bytes, name: str) -> float:
        """See :meth:`JsonItems.likes`."""
        if _LOG.match(data):  # the first sample may be longer than what is looked at
            return 1.0
        return 0.98 if _is_archive(data, name) else super().likes(data, name)

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`JsonItems.read`; of an archive, all samples in its order."""
        if not _is_archive(data, path):
            return super().read(data, path, sink)
        places: list[tuple[str, ItemReading, int]] = []
        with open_bytes(data, path, "archive.zip", sink, DEFAULTS) as members:
            for member in members:
                if not (member.name.startswith("samples/") and member.name.endswith(".json")):
                    continue
                try:
                    reading = super().read(member.read(), member.path, sink)
                except InvalidData as error:  # damaged, or over a limit
                    sink(error.finding)
                    continue
                places += [] if reading is None else [(member.path, reading, n) for n in range(len(reading.rows))]

        def locate(row: int, field: str | None, number: int | None) -> Place:
            _, reading, place = places[row]
            return reading.place(place, field, number)

        rows = [reading.rows[number] for _, reading, number in places]
        return ItemReading(self, path, rows, locate, members=[name for name, *_ in places])


def _is_archive(data: bytes, name: str) -> bool:
    return data.startswith(b"PK\x03\x04") and name.lower().endswith(".eval")


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
    taken=("output", "epoch", "attachments"),
    numbered=True,
)


FORMATS: tuple[ItemFormat, ...] = (INSPECT, INSPECT_LOG)
