"""Predictions and questions under keys of the user's own, in JSON, CSV or Parquet, and a proposal of their names.

``--fields id=sample_id,prediction=response_text`` is the format ``fields:id=sample_id,prediction=response_text``, so
that a worker, too, reads it by its name. A key inside of another is written with dots: ``body.choices.0.text``. Where
no key is the prediction, they are questions: ``fields:id=n,question=asked,options=A+B+C+D,answer=right``.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from ast import literal_eval
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from seldio.errors import UsageError
from seldio.findings import Finding, Sink
from seldio.formats.base import PARQUET_MAGIC, Place
from seldio.formats.csv_text import read_table
from seldio.formats.item_parquet import json_lines, recordings
from seldio.formats.items import ItemReading
from seldio.formats.json_items import JsonItems
from seldio.formats.json_records import CONTAINERS, Records, value_at
from seldio.formats.json_text import Pointer
from seldio.formats.parquet import guarded
from seldio.schema.qa import Item
from seldio.text import clipped, listed, plural, printable

PREFIX = "fields:"
#: What a key may be named for.
FIELDS = ("id", "prediction", "audio", "task", "prompt")
ASKED = ("id", "answer", "audio", "task", "question", "options")
#: In a key that leads into others or names several.
_COMPOSED = re.compile(r"[.+]")
_PAIRS = re.compile(r",(?=\s*\w+\s*=)")
#: Records that a proposal is made from, and how deep it looks into them.
_LOOK, _DEEP = 500, 6
#: Keys that questions often have, and those of an option each.
_ASKED_AS = {
    "question": re.compile(r"(?i)question|query|asked|prompt"), "options": re.compile(r"(?i)option(s|_list)$|choices"),
    "answer": re.compile(r"(?i)answer|gold|correct|right|truth|target|label"),
}  # fmt: skip
_LETTERED = re.compile(r"(?i)^(option|choice)?[_ -]?[A-H1-8]$")
#: Keys that replies often have, the likeliest first.
_USUAL = re.compile(r"(?i)(predict|respon|repl(?:y|ies)|output|complet|generat|hypothes|content|answer|result|text)")


def spelled(fields: Mapping[str, str] | str, asked: bool = False) -> str:
    """The name of the format with these keys; *asked*: of questions.

    Raises:
        UsageError: a field is unknown or named twice, or none is the prediction, of questions the answer.
    """
    known_fields, option, needed, example = (
        (ASKED, "--reference-fields", "answer", "id=n,question=asked,options=A+B+C+D,answer=right")
        if asked
        else (FIELDS, "--fields", "prediction", "id=sample_id,prediction=response_text")
    )
    if isinstance(fields, str):
        split = (pair.partition("=") for pair in _PAIRS.split(fields))
        pairs = [(field.strip(), key.strip()) for field, _, key in split]
    else:
        pairs = [*fields.items()]
    for field, key in pairs:
        if field not in known_fields or not key:
            raise UsageError(
                f"{option} {field}={key}: expected FIELD=KEY with a field of {', '.join(known_fields)}, such as "
                f"{example}"
            )
    known = dict(pairs)
    if len(known) < len(pairs) or needed not in known or len({*known.values()}) < len(known):
        raise UsageError(f"{option} names each field and each key once, and {needed}=KEY among them")
    return PREFIX + ",".join(f"{field}={key}" for field, key in pairs)


def named(name: str) -> OwnKeys:
    """The format that :func:`spelled` has named."""
    pairs = dict(pair.partition("=")[::2] for pair in _PAIRS.split(name.removeprefix(PREFIX)))
    keys = {key: field for field, key in pairs.items()}
    if "prediction" not in pairs:
        return OwnKeys(
            name=name, title="questions under keys of your own", holds="items", needs=("answer",), keys=keys,
            required=tuple(key for key in keys if not _COMPOSED.search(key)), marks=("answer",), columnar=False,
            answers="text", letters=True, numbered=True,
        )  # fmt: skip
    return OwnKeys(
        name=name, title="predictions under keys of your own", holds="predictions", needs=("prediction",), keys=keys,
        required=tuple(key for key in keys if "." not in key), marks=("prediction",),
        columnar=not any("." in key for key in keys),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnKeys(JsonItems):
    """Predictions or questions whose keys the user has named; further ones are kept in ``extra``."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002 - nothing tells it
        """See :meth:`ItemFormat.likes`."""
        return 0.0

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`."""
        text = _as_json(data, path, sink)
        if text is None:
            return None
        there = [*chain.from_iterable(islice(text.records(), _LOOK))]
        if there and not {_COMPOSED.split(key)[0] for key in self.keys} & {*there} and not {*self.keys} & {*there}:
            raise UsageError(
                f"{printable(path)} has none of the keys {', '.join(map(printable, self.keys))}; its keys are "
                f"{listed([*dict.fromkeys(there)], 20)}"
            )
        if text.place is None:
            return super().read(data, path, sink)

        def take(found: Finding) -> None:
            sink(dataclasses.replace(found, path=path, column=1, end_column=1, excerpt=None))

        inner, where = super().read(text.data, text.path, take), text.place
        if inner is None:
            return None

        def locate(row: int, field: str | None, number: int | None) -> Place:
            at = inner.place(row, field, number)
            return where(at.line, self.key_of(field, {}) if field else None, at.value)

        return dataclasses.replace(inner, path=path, locate=locate)

    def fields(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """See :meth:`JsonItems.fields`; keys with dots lead into objects, and a plus joins keys of options."""
        inside = {key: value for key in self.keys if key not in record and (value := _inside(record, key)) is not None}
        found = super().fields({**record, **inside})
        if isinstance(options := found.get("options"), str):
            found["options"] = _listed(options)
        return found

    def place_of(self, field: str, record: Mapping[str, Any]) -> Pointer:
        """See :meth:`JsonItems.place_of`."""
        key = self.key_of(field, record)
        return (key,) if key in record else _steps(key)


def _steps(key: str) -> Pointer:
    return tuple(int(step) if step.isdecimal() else step for step in key.split("."))


def _listed(text: str) -> Any:
    """The options in a cell, written as a list in JSON or Python; the text itself where it is none."""
    try:
        return [option if isinstance(option, str) else str(option) for option in literal_eval(text)]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _inside(record: Mapping[str, Any], key: str) -> Any:
    if "+" in key:
        values = [record[one] for one in key.split("+") if record.get(one) not in (None, "")]
        return [str(value) for value in values] or None
    value = value_at(record, _steps(key))
    return None if isinstance(value, dict | list) else value


class _Text(NamedTuple):
    """Records as JSON; where one stands in its file, by its number from 1 and a key, if that file holds no JSON."""

    data: bytes
    path: str
    place: Callable[[int, str | None, str], Place] | None = None

    def records(self) -> Iterator[Mapping[str, Any]]:
        """The records that can be read."""
        found = Records(self.data, self.path, lambda _: None)
        return (value for run in found.runs() for value in run.values if isinstance(value, dict))


def _as_json(data: bytes, path: str, sink: Sink) -> _Text | None:
    """The records of a file of any kind; None, after findings, where it has none."""

    def by_number(line: int, _: str | None, value: str) -> Place:
        return Place(line, 1, 1, value, "")

    if data[:4] == PARQUET_MAGIC:
        lines = guarded(data, path, sink, lambda file: json_lines(file, recordings(file)[0]))
        return None if lines is None else _Text(lines.encode(), f"{path}.jsonl", by_number)
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        inside = _listed_in(data)
        return _Text(data, path) if inside is None else _Text(_lines(inside), f"{path}.jsonl", by_number)
    table = read_table(data, path, sink, ())
    if table is None:
        return None

    def in_cells(line: int, key: str | None, _: str) -> Place:
        return table.place(line - 1, table.header.index(key) if key in table.header else None)

    return _Text(_lines([dict(zip(table.header, row, strict=True)) for row in table.cells]), f"{path}.jsonl", in_cells)


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _listed_in(data: bytes) -> list[dict[str, Any]] | None:
    """The records of an object that has them in a list under a name of its own; None of any other file."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not value.keys().isdisjoint(CONTAINERS):
        return None
    lists = [one for one in value.values() if isinstance(one, list) and one and all(isinstance(x, dict) for x in one)]
    return lists[0] if len(lists) == 1 else None


# --- which keys are meant ---------------------------------------------------------------------------


def advice(data: bytes, path: str, questions: Sequence[Item]) -> str:
    """What to do about predictions in no known format: the keys that are there, and those that seem to be meant.

    Args:
        data: the content of the file.
        path: as people know it.
        questions: those that are answered; none if they are not known.
    """
    text = _as_json(data, path, lambda _: None)
    records = [dict(_flat(record)) for record in islice(text.records(), _LOOK)] if text is not None else []
    keys = list(dict.fromkeys(chain.from_iterable(records)))
    if not keys:
        return ""
    said = f"Wanted are id and prediction; the keys are {listed(keys, 12)}"
    known = {item.id: item for item in questions}
    shares = {key: sum(str(record.get(key)) in known for record in records) / len(records) for key in keys}
    id = max(shares, key=lambda key: shares[key])
    reply = _reply(records, keys, id if shares[id] >= 0.5 else None, known)
    if reply is None:
        return f"{said}. None of them holds text that may be a reply"
    if shares[id] >= 0.5:
        count = round(shares[id] * len(records))
        why = f"{printable(id)} holds the ids of questions in {count:,} of {plural(len(records), 'record')}"
        return f"{said}. {why}, and {printable(reply)} text: try --fields {_quoted(f'id={id},prediction={reply}')}"
    if not questions:
        return f"{said}: try --fields {_quoted(f'id=KEY,prediction={reply}')} with the key that holds the ids"
    why = f"None of them holds ids of the questions, such as {clipped(questions[0].id, 40)}"
    return (
        f"{said}. {why}; {printable(reply)} holds text: if the replies are in the order of the questions, try "
        f"--fields {_quoted(f'prediction={reply}')} --join order"
    )


def asked_advice(data: bytes, path: str, ids: Collection[str]) -> str:
    """What to do about questions in no known format; empty where no key seems to hold right answers.

    Args:
        data: the content of the file.
        path: as people know it.
        ids: those that predictions name.
    """
    text = _as_json(data, path, lambda _: None)
    records = [dict(_flat(record)) for record in islice(text.records(), _LOOK)] if text is not None else []
    keys = list(dict.fromkeys(chain.from_iterable(records)))
    found = {field: next(filter(pattern.search, keys), None) for field, pattern in _ASKED_AS.items()}
    if found["answer"] is None:
        return ""
    shares = {key: sum(str(record.get(key)) in ids for record in records) for key in keys}
    id = max(shares, key=lambda key: shares[key])
    letters = [key for key in keys if _LETTERED.search(key)]
    options = found["options"] or ("+".join(letters) if len(letters) > 1 else None)
    options = re.sub(r"\.0$", "", options) if options is not None else None  # the list, not its first option
    fields = {"id": id if 2 * shares[id] >= len(records) else "KEY", **found, "options": options}
    given = ",".join(f"{field}={key}" for field, key in fields.items() if key is not None)
    said = f"Wanted are id, question, options and answer; the keys are {listed(keys, 12)}"
    return f"{said}: try --reference-fields {_quoted(given)}" + (
        " with the key that holds the ids" if fields["id"] == "KEY" else ""
    )


def _quoted(text: str) -> str:
    return shlex.quote(printable(text))


def _flat(value: Any, path: str = "", deep: int = _DEEP) -> Iterator[tuple[str, Any]]:
    """The keys of an object with those inside of it, joined by dots, and their values."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else None
    if inside is None or not deep:
        yield path, value
        return
    for key, one in inside:
        yield from _flat(one, f"{path}.{key}" if path else str(key), deep - 1)


def _reply(
    records: Sequence[Mapping[str, Any]], keys: Sequence[str], id: str | None, known: Mapping[str, Item]
) -> str | None:
    """The key that seems to hold replies: text that is not that of the question, by its name and how much it varies."""
    best, most = None, (0.0, 0.0, 0.0)
    for key in keys:
        texts = [value for record in records if isinstance(value := record.get(key), str) and value.strip()]
        if key == id or 2 * len(texts) < len(records):
            continue
        copied = 0
        for record in records:
            item = known.get(str(record.get(id))) if id is not None else None
            copied += item is not None and record.get(key) in (item.question, item.answer, *item.audio)
        if copied == len(records) > 1:
            continue  # the question, its recording or its right answer
        varied = len({*texts}) / len(texts)
        rank = (float(_USUAL.search(key) is not None), varied > 1 / len(texts) or len(texts) == 1, varied)
        if rank > most:
            best, most = key, rank
    return best
