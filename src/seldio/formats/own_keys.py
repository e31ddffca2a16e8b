"""Predictions and questions under keys of the user's own, in JSON, CSV or Parquet, and a proposal of their names.

``--fields id=sample_id,prediction=response_text`` is the format ``fields:id=sample_id,prediction=response_text``, so
that a worker, too, reads it by its name. A key inside of another is written with dots: ``body.choices.0.text``. Where
no key is the prediction, they are questions: ``fields:id=n,question=asked,options=A+B+C+D,answer=right``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shlex
from ast import literal_eval
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from seldio.errors import UsageError
from seldio.findings import Sink
from seldio.formats.base import PARQUET_MAGIC, Place
from seldio.formats.csv_text import read_table
from seldio.formats.item_parquet import json_lines, recordings
from seldio.formats.items import LETTERS, ItemFormat, ItemReading, Row
from seldio.formats.json_records import CONTAINERS, Records
from seldio.formats.json_text import Pointer
from seldio.formats.parquet import guarded
from seldio.reader_rules import READER_RULES
from seldio.schema.qa import Item, row_of
from seldio.text import clipped, listed, plural, printable

PREFIX = "fields:"
#: What a key may be named for.
FIELDS = ("id", "prediction", "audio", "task", "prompt")
ASKED = ("id", "answer", "audio", "task", "question", "options")
_PAIRS = re.compile(r",(?=\s*\w+\s*=)")
_BOM, _WIDE = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
#: An option as some write it, ``(B) rain`` or ``B.``, and the key of one.
_MARKED = re.compile(r"\s*[(\[]?([A-Za-z])(?:[)\].:]+\s*|\s*$)(.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[0-9]{1,3}\s*")
_LETTERED = re.compile(r"(?i)^(option|choice)?[_ -]?[A-H1-8]$")
#: Records that a proposal is made from, and how deep it looks into them.
_LOOK, _DEEP = 500, 6
#: Keys that questions often have.
_ASKED_AS = {
    "question": re.compile(r"(?i)question|query|asked|prompt"),
    "options": re.compile(r"(?i)option(s|_list)$|\bopts$|choices"),
    "answer": re.compile(r"(?i)answer|gold|correct|right|truth|target|label"),
    "audio": re.compile(r"(?i)audio|wav|file|recording"),
}  # fmt: skip
#: Keys that replies often have, and keys that hold them or anything else.
_REPLIES = re.compile(r"(?i)predict|\bpred|respon|resps|repl(?:y|ies)|output|complet|generat|hypothes")
_TEXTS = re.compile(r"(?i)content|answer|result|text")


def spelled(fields: Mapping[str, str] | str, asked: bool = False) -> str:
    """Return the name of the format with these keys (*asked*: of questions); raise UsageError if keys are wrong."""
    known_fields, option, needed, example = (
        (ASKED, "--reference-fields", "answer", "id=n,question=asked,options=A+B+C+D,answer=right")
        if asked
        else (FIELDS, "--fields", "prediction", "id=sample_id,prediction=response_text")
    )
    if isinstance(fields, str):
        split = (pair.partition("=") for pair in _PAIRS.split(fields))
        pairs = [(field.strip(), key.strip(" ")) for field, _, key in split]
    else:
        pairs = [*fields.items()]
    for field, key in pairs:
        if field not in known_fields or not key:
            expected = f"expected FIELD=KEY with a field of {', '.join(known_fields)}, such as {example}"
            raise UsageError(f"{option} {field}={key}: {expected}")
    keys = dict(pairs)
    if len(keys) < len(pairs) or needed not in keys:
        raise UsageError(f"{option} names each field once, and {needed}=KEY among them")
    return PREFIX + ",".join(f"{field}={key}" for field, key in pairs)


def named(name: str) -> OwnKeys:
    """Return the format that :func:`spelled` has named."""
    keys = dict(pair.partition("=")[::2] for pair in _PAIRS.split(name.removeprefix(PREFIX)))
    predicted = "prediction" in keys
    return OwnKeys(
        name=name,
        title=f"{'predictions' if predicted else 'questions'} under keys of your own",
        holds="predictions" if predicted else "items",
        needs=("prediction" if predicted else "answer",),
        carries=(*dict.fromkeys(("id", *keys)), "extra"),
        keys=keys,
        answers=None if predicted else "text",
        letters=not predicted,
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnKeys(ItemFormat):
    """Predictions or questions whose keys the user has named; further ones are kept in ``extra``."""

    keys: Mapping[str, str]  # by field

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`; raise UsageError if there are no records, or a key is in none of them."""
        records = _records(data, path, sink, self.keys.values())
        if records is None:
            return None
        if not records.values:
            raise UsageError(f"{printable(path)} holds no records")
        wanted = {part for key in self.keys.values() for part in _parts(key, records.values)}
        lost = [key for key in wanted if all(_under(record, key) is _ABSENT for record in records.values)]
        if lost:
            keys = dict.fromkeys(chain.from_iterable(records.values[:_LOOK]))
            has = "has none of the keys" if len(lost) == len(wanted) else "has no key"
            raise UsageError(
                f"{printable(path)} {has} {', '.join(printable(key) for key in self.keys.values() if key in lost)}; "
                f"its keys are {listed([*keys], 20)}"
            )
        rows, numbers = list[Row](), list[int]()
        first = self._first_option(records.values)
        for number, record in enumerate(records.values):
            values = self._fields(record, number, first)
            row = row_of(self.model, values)
            if not isinstance(row, list):
                rows.append(row)
                numbers.append(number)
                continue
            for flaw in row:
                key = self.keys.get(str(flaw.at[0]), "")
                place = records.place(number, _pointer(record, key))
                message = f"{printable(key or str(flaw.at[0]))} must be {flaw.must}"
                place = place._replace(end_column=place.column + len(place.value))
                sink(place.finding(READER_RULES["SYN212"], path, message, None))

        def locate(row: int, field: str | None, number: int | None) -> Place:  # noqa: ARG001 - keys hold whole fields
            at = numbers[row]
            return records.place(at, _pointer(records.values[at], self.keys.get(field or "", "")))

        return ItemReading(self, path, rows, locate)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:  # noqa: ARG002
        """Raise UsageError: a file of own keys has more than these."""
        raise UsageError("keys of your own are read, not written: choose another format with --to")

    def _first_option(self, records: Sequence[Mapping[str, Any]]) -> int | None:
        """Return the number of the first option where right answers are numbers; None where nothing tells it."""
        if not {"answer", "options"} <= self.keys.keys():
            return None
        numbers, is_beyond = [1], False
        for record in records:
            text, options = _text(_under(record, self.keys["answer"])), _options(record, self.keys["options"])
            if text and options and text not in options and _NUMBER.fullmatch(text):
                numbers.append(int(text))
                is_beyond |= int(text) >= len(options)
        return 1 if min(numbers) > 0 and is_beyond else 0 if min(numbers) == 0 and not is_beyond else None

    def _fields(self, record: Mapping[str, Any], number: int, first: int | None) -> dict[str, Any]:
        values: dict[str, Any] = {} if self.holds == "predictions" else {"question": ""}
        for field, key in self.keys.items():
            value = _under(record, key)
            if field == "options":
                values[field] = _options(record, key)
            elif field == "audio":
                values[field] = [
                    path for member in (value if isinstance(value, list) else [value]) if (path := _text(member))
                ]
            elif (text := _text(value)) is not None:
                values[field] = text
        if "answer" in values:
            values["answer"] = _right(_under(record, self.keys["answer"]), values.get("options"), first)
        if self.holds == "items" and "id" not in self.keys:
            values["id"] = str(number + 1)
        used = {*self.keys.values()}
        if extra := {key: value for key, value in record.items() if key not in used}:
            values["extra"] = extra
        return values


# --- values under keys ------------------------------------------------------------------------------

#: There is no such key.
_ABSENT: Any = object()


def _parts(key: str, records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys that a key of options joins by plus signs; itself if records have it as it is."""
    if "+" in key and not any(key in record for record in records):
        return [part.strip() for part in key.split("+")]
    return [key]


def _under(value: Any, key: str) -> Any:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        value = _parsed(value)
    if isinstance(value, Mapping):
        if key in value:
            return value[key]
        for dot in [match.start() for match in re.finditer(r"\.", key)][::-1]:
            if key[:dot] in value:
                return _under(value[key[:dot]], key[dot + 1 :])
    step, _, remaining = key.partition(".")
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return _under(value[int(step)], remaining) if remaining else value[int(step)]
    return _ABSENT


def _pointer(record: Mapping[str, Any], key: str) -> Pointer:
    key = key.partition("+")[0] if key not in record else key
    if key in record or not key:
        return (key,) if key else ()
    return tuple(int(step) if step.isdecimal() else step for step in key.split("."))


def _parsed(text: str) -> Any:
    for parse in (json.loads, literal_eval):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return parse(text)
    return text


def _text(value: Any) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    if value is None or value is _ABSENT or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _options(record: Mapping[str, Any], key: str) -> list[str] | None:
    """Return the options under a key: a list, an object of letters, lines, or one key each as ``A+B``."""
    parts = _parts(key, [record])
    given = [_under(record, part) for part in parts] if len(parts) > 1 else _under(record, key)
    if isinstance(given, str):
        given = _parsed(given)
    if isinstance(given, str):
        lines = [line for line in given.splitlines() if line.strip()]
        given = lines if len(lines) > 1 else None
    values = given.values() if isinstance(given, Mapping) else given if isinstance(given, list) else ()
    texts = [_text(value) or "" for value in values]
    while texts and not texts[-1]:
        texts.pop()
    marks = [_MARKED.fullmatch(text) for text in texts]
    if texts and all(mark and mark[2] and mark[1].upper() == LETTERS[n % 26] for n, mark in enumerate(marks)):
        return [mark[2].strip() for mark in marks if mark]
    return texts or None


def _right(answer: Any, options: Sequence[str] | None, first: int | None = None) -> str | None:
    """Return a right answer as the text of its option; *first* is the number of the first option, if known."""
    text = _text(answer)
    if not options or text is None or text in options:
        return text
    if alike := [option for option in options if _plain(option) == _plain(text)]:
        return alike[0]
    if _NUMBER.fullmatch(text):
        place = -1 if first is None else int(text) - first
        return options[place] if 0 <= place < len(options) else text
    mark = _MARKED.fullmatch(text)
    place = LETTERS.find(mark[1].upper()) if mark else -1
    if mark and 0 <= place < len(options) and _plain(mark[2]) in ("", _plain(options[place])):
        return options[place]
    return text


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" .\t\n").split())


# --- records of any kind of file --------------------------------------------------------------------


class OwnRecords(NamedTuple):
    """Records of a file, and where a part of one stands, by its number and the way to it."""

    values: Sequence[Mapping[str, Any]]
    place: Callable[[int, Pointer], Place]


def _records(data: bytes, path: str, sink: Sink, keys: Iterable[str] = ()) -> OwnRecords | None:
    if data[:4] == PARQUET_MAGIC:
        lines = guarded(data, path, sink, lambda file: json_lines(file, recordings(file)[0]))
        rows = None if lines is None else [json.loads(line) for line in lines.split("\n")[:-1]]
        return None if rows is None else OwnRecords(rows, lambda number, _: Place(number + 1, 1, 1, "", ""))
    if data[:2] in _WIDE:
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(_BOM)
    return _of_json(data, path, sink, keys) if data.lstrip()[:1] in (b"{", b"[") else _of_csv(data, path, sink)


def _of_json(data: bytes, path: str, sink: Sink, keys: Iterable[str]) -> OwnRecords | None:
    """Read records; of a single object that is none itself, those in the only list of objects that it has."""
    records = Records(data, path, sink)
    values, numbers = list[Mapping[str, Any]](), list[int]()
    for run in records.runs():
        for number, record in records.careful(run, range(len(run.values))):
            if isinstance(record.value, dict):
                values.append(record.value)
                numbers.append(run.first + number)
            else:
                sink(record.finding("SYN212", "a record must be an object"))
    if not records.readable:
        return None
    lists = []
    if len(values) == 1 and not records.lines and values[0].keys().isdisjoint({*CONTAINERS, *keys}):
        members = ((key, member) for key, member in values[0].items() if isinstance(member, list) and member)
        lists = [key for key, member in members if all(isinstance(record, dict) for record in member)]
    if len(lists) != 1:
        return OwnRecords(values, lambda number, pointer: records[numbers[number]].locate(pointer))
    inside, whole = lists[0], records[numbers[0]]
    return OwnRecords(values[0][inside], lambda number, pointer: whole.locate((inside, number, *pointer)))


def _of_csv(data: bytes, path: str, sink: Sink) -> OwnRecords | None:
    first, _, remaining = data.partition(b"\n")
    if separator_note := re.fullmatch(rb"sep=(.)\r?", first):  # Excel's own note
        data, first = remaining, remaining.partition(b"\n")[0]
    signs = [separator_note[1].decode(errors="replace")] if separator_note else [",", ";", "\t"]
    delimiter = max(signs, key=first.decode(errors="replace").count)
    table = read_table(data, path, sink, (), delimiter)
    if table is None:
        return None
    header, before = table.header, int(separator_note is not None)

    def place(number: int, pointer: Pointer) -> Place:
        column = header.index(str(pointer[0])) if pointer and pointer[0] in header else None
        at = table.place(number, column)
        return at._replace(line=at.line + before)

    return OwnRecords([dict(zip(header, row, strict=True)) for row in table.cells], place)


# --- which keys are meant ---------------------------------------------------------------------------


def proposal(data: bytes, path: str) -> str:
    """Return what to do about a file in no known format that seems to hold predictions or questions; else nothing."""
    columns, count = _columns(data, path)
    id = _likely_id(columns, count) if count > 1 else None
    if id is not None and (reply := _reply(columns, (), id)) is not None:
        return f"if these are predictions, try --fields {_option({'id': id, 'prediction': reply})}"
    given = _asked(columns, id)
    if id is None or not {"question", "answer"} <= given.keys():
        return ""
    return f"if these are questions, try --format {_option(given, PREFIX)}"


def advice(data: bytes, path: str, questions: Sequence[Item]) -> str:
    """Return what to do about predictions in no known format: the keys that are there, and those that seem to be meant.

    Args:
        data: the content of the file.
        path: as people know it.
        questions: those that are answered; none if they are not known.
    """
    columns, count = _columns(data, path)
    if not columns:
        return ""
    said = f"seldio needs id and prediction; the keys are {listed([*columns], 12)}"
    items_by_id = {item.id: item for item in questions}
    id, share = _key_of_ids(columns, items_by_id)
    about = [items_by_id.get(text or "") for text in map(_text, columns[id])] if share >= 0.5 else []
    reply = _reply(columns, about, id if about else None)
    if reply is None:
        return f"{said}. None of them holds text that may be a reply"
    fields = {"id": id, "prediction": reply}
    if share >= 0.5:
        why = f"{printable(id)} holds the ids of questions in {round(share * count):,} of {plural(count, 'record')}"
        return f"{said}. {why}, and {printable(reply)} text: try --fields {_option(fields)}"
    if not questions:
        likely = _likely_id(columns, count)
        unsure = "" if likely else " with the key that holds the ids"
        return f"{said}: try --fields {_option(fields | {'id': likely or 'KEY'})}{unsure}"
    why = f"None of them holds ids of the questions, such as {clipped(questions[0].id, 40)}"
    return (
        f"{said}. {why}; {printable(reply)} holds text: if the replies are in the order of the questions, try "
        f"--fields {_option({'prediction': reply})} --join order"
    )


def asked_advice(data: bytes, path: str, ids: Collection[str]) -> str:
    """Return what to do about questions in no known format; empty where no key seems to hold right answers.

    Args:
        data: the content of the file.
        path: as people know it.
        ids: those that predictions name.
    """
    columns, count = _columns(data, path)
    id, share = _key_of_ids(columns, ids) if columns else ("", 0.0)
    id = id if share >= 0.5 else _likely_id(columns, count) or "KEY"
    given = _asked(columns, id)
    if "answer" not in given:
        return ""
    said = f"seldio needs id, question, options and answer; the keys are {listed([*columns], 12)}"
    unsure = " with the key that holds the ids" if id == "KEY" else ""
    return f"{said}: try --reference-fields {_option(given)}{unsure}"


def _asked(columns: Mapping[str, list[Any]], id: str | None) -> dict[str, str]:
    scalars = [key for key in columns if not any(isinstance(value, list | dict) for value in columns[key])]
    keys = {field: next(filter(_ASKED_AS[field].search, scalars), None) for field in ("question", "answer")}
    fields = {"id": id, "question": keys["question"], "options": _key_of_options(columns), "answer": keys["answer"]}
    return {field: key for field, key in fields.items() if key is not None}


def _option(fields: Mapping[str, str], prefix: str = "") -> str:
    """Return what to type for these keys, quoted for a shell."""
    text = prefix + ",".join(f"{field}={key}" for field, key in fields.items())
    return shlex.quote("\t".join(map(printable, text.split("\t"))))


def _columns(data: bytes, path: str) -> tuple[dict[str, list[Any]], int]:
    records = _records(data, path, lambda _: None)
    rows = [dict(_flat(record)) for record in records.values[:_LOOK]] if records is not None else []
    keys = dict.fromkeys(chain.from_iterable(rows))
    return {key: [row.get(key) for row in rows] for key in keys}, len(rows)


def _flat(value: Any, path: str = "", deep: int = _DEEP) -> Iterator[tuple[str, Any]]:
    inside: Iterable[tuple[Any, Any]] | None = value.items() if isinstance(value, Mapping) else None
    if isinstance(value, list) and len(value) == 1:
        inside = enumerate(value)
    if inside is None or not deep:
        yield path, value
        return
    for key, member in inside:
        yield from _flat(member, f"{path}.{key}" if path else str(key), deep - 1)


def _key_of_ids(columns: Mapping[str, list[Any]], ids: Collection[str]) -> tuple[str, float]:
    shares = {key: sum(_text(value) in ids for value in values) / len(values) for key, values in columns.items()}
    return max(shares.items(), key=lambda pair: pair[1])


def _likely_id(columns: Mapping[str, list[Any]], count: int) -> str | None:
    called = (key for key in columns if re.search(r"(?i)(^|[._])(n|idx?|uuid|key|number)$|_id$", key))
    return next((key for key in called if len({_text(value) for value in columns[key]}) == count), None)


def _key_of_options(columns: Mapping[str, list[Any]]) -> str | None:
    listed_keys = (key for key, values in columns.items() if any(isinstance(value, list | dict) for value in values))
    texts = (key for key in columns if any(isinstance(value, str) for value in columns[key]))
    lists = next(filter(_ASKED_AS["options"].search, chain(listed_keys, texts)), None)
    letters = [key for key in columns if _LETTERED.search(key)]
    return lists or ("+".join(letters) if len(letters) > 1 else None)


def _reply(columns: Mapping[str, list[Any]], questions: Sequence[Item | None], id: str | None) -> str | None:
    """Return the key that seems to hold replies: texts that agree neither with right answers nor *questions*."""
    asked = [*questions] or [None] * len(next(iter(columns.values())))
    listed_options = columns.get(_key_of_options(columns) or "", [])
    lists = [[_text(text) or "" for text in value] if isinstance(value, list) else None for value in listed_options]
    options = lists or [item.options if item else None for item in asked]
    gold = [key for key in columns if _ASKED_AS["answer"].search(key.rpartition(".")[2]) and not _REPLIES.search(key)]
    truths = [[item.answer if item else None for item in asked]]
    truths += [columns[key] for key in gold]
    rights = [[_right(value, among) for value, among in zip(truth, options, strict=True)] for truth in truths]
    best_key, best_rank = None, (0, False, 0, 0.0)
    for key, values in columns.items():
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        strong = _REPLIES.search(key) is not None
        weak = _TEXTS.search(key) is not None and (key not in gold or bool(questions))
        if key == id or 2 * len(texts) < len(values) or not (strong or weak):
            continue
        options_said = [_right(value, among) for value, among in zip(values, options, strict=True)]
        copied = sum(
            item is not None and value in (item.question, *item.audio)
            for item, value in zip(asked, values, strict=True)
        )
        other_rights = [right for other_key, right in zip(["", *gold], rights, strict=True) if other_key != key]
        if copied == len(values) or any(_agree(options_said, right) for right in other_rights):
            continue
        varied = len({*texts}) / len(texts)
        rank = (1 + strong, "filtered" in key, -key.count("."), varied)
        if rank > best_rank:
            best_key, best_rank = key, rank
    return best_key


def _agree(said: Sequence[str | None], right: Sequence[str | None]) -> bool:
    pairs = [pair for pair in zip(said, right, strict=True) if None not in pair]
    return bool(pairs) and all(_plain(str(reply)) == _plain(str(answer)) for reply, answer in pairs)
