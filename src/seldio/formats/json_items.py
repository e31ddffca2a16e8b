"""Items and predictions in JSON: one reader and one writer; each format is a row that maps keys to fields.

Records stand one a line, in a list, or in the list of a key ``records`` or ``data``; the reader takes all of
them for every format. Keys that a format does not map are kept in ``extra``. What is wrong with a record is a
finding with its line and column, and the record is left out, unless it can be used all the same.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.resources import files
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from seldio.findings import Sink
from seldio.formats.base import Ints, Place
from seldio.formats.items import LETTERS_READ, ItemFormat, ItemReading, Row
from seldio.formats.json_records import Layout, Records, Run, layout_of, peek, value_at
from seldio.formats.json_text import MAX_DEPTH, JsonDocument, Pointer, proven
from seldio.schema.arrays import pc, uncollected
from seldio.schema.qa import (
    POOL,
    AnswerMeta,
    Flaw,
    Rows,
    opened,
    row_of,
    table_of,
    table_of_columns,
    wrong_rows,
)
from seldio.text import clipped, json_text, kind_of, plural

_SCALARS = (int, float)
_ABSENT: Any = object()
#: Fields whose values a record has in another form.
_NESTED = frozenset({"audio", "answer_meta", "events"})
_META = frozenset(AnswerMeta.model_fields)
#: Rows that are written at a time.
_RUN = 1 << 13
#: Fields that any open format of questions can hold under their own names, with the types of their values.
_BESIDES: dict[str, tuple[type, ...]] = {"start": _SCALARS, "end": _SCALARS, "language": (str,)}


@dataclasses.dataclass(frozen=True, kw_only=True)
class JsonItems(ItemFormat):
    """One format of records."""

    carries: tuple[str, ...] = dataclasses.field(init=False, default=())  # what its keys hold
    #: of a record in their order, and the fields that they hold (``extra``: none of its own); the fields if not given
    keys: Mapping[str, str] = dataclasses.field(default_factory=dict)
    proofs: Mapping[str, str] = dataclasses.field(default_factory=dict)  # the same for the events that prove an answer
    #: for a key, those that may stand in its place; the first that is there is read
    instead: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    required: tuple[str, ...]  # keys without which a record is wrong
    #: keys whose absence is worth a warning, and its effect
    useful: Mapping[str, str] = dataclasses.field(default_factory=dict)
    marks: tuple[str, ...]  # the keys by which the format is told from others: all of these ("a|b" is one of two),
    never: tuple[str, ...] = ()  # and none of these,
    sure: tuple[str, ...] = ()  # and, for full certainty, one of these
    #: with one of these, which no other format has, those of *never* are taken for further keys
    unique: tuple[str, ...] = ()
    #: fields whose keys tell the format, with the values that say nothing, written where nothing else tells it
    empty: Mapping[str, object] = dataclasses.field(default_factory=dict)
    layout: Layout = dataclasses.field(default_factory=Layout)  # of a new file
    closed: bool = False  # whether other keys are wrong
    language: str | None = None  # of all questions of the benchmark, so that no record says it
    numbered: bool = False  # whether ids may be whole numbers in its files; in others, those of questions are text
    taken: tuple[str, ...] = ()  # names besides that a further key cannot have
    #: where the fields of a row are somewhere inside a record: the record of flat keys, these keys of a record, and
    #: where a record holds a key, if not at its top
    pack: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    unpack: Callable[[dict[str, Any]], dict[str, Any]] = dict
    inside: Mapping[str, Pointer] = dataclasses.field(default_factory=dict)
    besides: tuple[str, ...] = dataclasses.field(init=False, default=())
    _fields: Mapping[str, str] = dataclasses.field(init=False, default_factory=dict)  # of keys that have one

    def __post_init__(self) -> None:
        """Let an open format of questions carry what it has no key of its own for, under the names of the fields."""
        if not self.keys:
            object.__setattr__(self, "keys", {field: field for field in self.model.model_fields})
        besides = () if self.closed or self.holds != "items" else tuple(_BESIDES)
        named = {*self.keys, *self.keys.values()}
        held_keys = {*self.keys.values()} | (set() if self.closed else {"extra"})
        fields = {key: field for key, field in self.keys.items() if field != "extra" or self.closed}
        object.__setattr__(self, "_fields", fields)
        object.__setattr__(self, "besides", tuple(field for field in besides if field not in named))
        carries = [field for field in self.model.model_fields if field in held_keys]
        object.__setattr__(self, "carries", (*carries, *self.besides))

    def likes(self, data: bytes, name: str) -> float:
        """See :meth:`Format.likes`; the keys of the first record tell, the name only breaks ties."""
        keys = peek(data)
        never = keys & {*self.never} and not keys & {*self.unique}
        if not keys or never or not all(keys & {*mark.split("|")} for mark in self.marks):
            return 0.0
        if self.closed and 4 * len(keys - {*self.keys}) > len(keys):
            return 0.0  # another's records, of which some keys are called alike
        likely = 0.95 if not self.sure or keys & {*self.sure} else 0.4
        return likely + 0.04 * name.lower().endswith((".json", ".jsonl"))

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`."""
        reader = _Reader(self, Records(data, path, sink))
        table = reader.table()
        if not reader.records.readable:
            return None
        rows = Rows(table, self.model)
        lines = reader.numbers + 1 if reader.records.lines else None
        return ItemReading(self, path, rows, reader.locate, partial(reader.origin, table), lines=lines)

    @uncollected()
    def write(self, rows: Sequence[Row] | pa.Table, origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`."""
        stored: Mapping[str, Any] = origin or {}
        layout, table = layout_of(stored.get("layout"), self.layout), table_of(rows, self.model)
        layout = layout if layout.joint or len(table) == 1 else self.layout  # one record may have no place for others
        layouts = [dataclasses.replace(layout, order=tuple(order)) for order in stored.get("orders", ())]
        layout_of_id = {id: layouts[number] for id, number in (stored.get("order_of") or {}).items()}
        numbers = {*(stored.get("numbers") or ())}
        names = [name for name in table.column_names if table[name].null_count < len(table)]
        texts = []
        for start in range(0, len(table), _RUN):
            part = table.slice(start, _RUN)
            columns = opened({name: part[name].to_pylist() for name in names})
            for row in zip(*columns.values(), strict=True):
                values = dict(zip(columns, row, strict=True))
                record, id = self.record(values), values.get("id")
                laid_out = layout_of_id.get(id, layout)
                if self.instead and (keys := self.named_in(laid_out.order)):
                    record = {keys.get(key, key): value for key, value in record.items()}
                if self.closed and laid_out.order and "audio" not in laid_out.order and record.get("audio") == []:
                    del record["audio"]
                key = self.key_of("id", record) if laid_out.numbered or id in numbers else ""
                read = proven([record[key].encode()]) if isinstance(record.get(key), str) else None
                if read is not None and type(read[0]) in _SCALARS:
                    record[key] = read[0]
                texts.append(laid_out.record(record))
        return layout.file(texts).encode()

    def named_in(self, order: Collection[str]) -> dict[str, str]:
        """Return, by key, the one that records with keys in this order have in its place."""
        there = {key: [other for other in others if other in order] for key, others in self.instead.items()}
        return {key: others[0] for key, others in there.items() if others and key not in order}

    def record(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record of a row, of its values by field, keys in its order; what is unknown is left out."""
        extra = {} if self.closed else dict(values.get("extra") or {})
        record: dict[str, Any] = {}
        for key, field in self.keys.items():
            more = extra.pop(key, _ABSENT)
            value = values.get(field) if key in self._fields else more
            if value is _ABSENT:
                continue
            if field in _NESTED and value is not None:
                value = self.written(field, value, more)
            if value is not None or more is None or (self.closed and key in self.required):
                record[key] = value
        for field in self.besides:
            value = values.get(field)
            if value is not None and not (field == "language" and value == self.language):
                record[field] = value
        record |= extra
        return record if self.pack is None else self.pack(record)

    def doubtful(self, table: pa.Table) -> Ints:
        """See :meth:`ItemFormat.doubtful`: further keys named like others, nested deep or with long numbers."""
        texts = table.column("extra")
        others = chain.from_iterable(self.instead.values())
        names = {key for key, field in self.keys.items() if field != "extra"} | {*self.besides, *others, *self.taken}
        pattern = "[0-9]{19}" if self.closed else f'[0-9]{{19}}|"(?:{"|".join(map(re.escape, names))})":'
        odd = pc.or_(
            pc.match_substring_regex(texts, pattern),
            pc.greater(pc.count_substring_regex(texts, r"[\[{]"), MAX_DEPTH // 2),
        )
        rows = np.flatnonzero(pc.fill_null(odd, False))
        if "events" not in table.column_names:
            return rows
        events = table.column("events").combine_chunks()
        further = pc.struct_field(pc.list_flatten(events), "extra").is_valid()
        return np.union1d(rows, pc.list_parent_indices(events).filter(further))

    def fields(self, records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
        """Return the values of records with the same flat keys, by field, unchecked: the inverse of :meth:`record`."""
        by_key: dict[str, Sequence[Any]]
        by_key = dict(zip(records[0], zip(*map(dict.values, records), strict=True), strict=True))
        fields = {**self._fields, **{own_key: self.keys[key] for key, own_key in self.named_in(by_key).items()}}
        columns: dict[str, list[Any]] = {field: [*by_key[key]] for key, field in fields.items() if key in by_key}
        if self.closed:
            columns |= {key: [*values] for key, values in by_key.items() if key not in fields}
            if "audio" in columns:
                columns["audio"] = [[path] if isinstance(path, str) else path for path in columns["audio"]]
            return columns
        surplus = {}
        for key, values in by_key.items():
            if key in self.besides:
                fits = [type(value) in _BESIDES[key] for value in values]
                columns[key] = [value if fit else None for value, fit in zip(values, fits, strict=True)]
                values = [
                    _ABSENT if fit and value != self.language else value
                    for value, fit in zip(values, fits, strict=True)
                ]
            elif key in self._fields:  # as it was written: a null is not an absent key
                values = [None if value is None else _ABSENT for value in values] if None in values else ()
            elif key in fields:
                continue
            if values:
                surplus[key] = values
        rows = zip(*surplus.values(), strict=True) if surplus else ((),) * len(records)
        extras = [{key: value for key, value in zip(surplus, row, strict=True) if value is not _ABSENT} for row in rows]
        _tidy(self, columns, extras)
        return columns | {"extra": [extra or None for extra in extras]}

    def written(self, field: str, value: Any, more: Any) -> Any:
        """Return the value of a field as a record has it; *more*: what ``extra`` holds under the same key."""
        if field == "audio" and not self.closed and self.pack is None:
            return value if value == more else value[0] if len(value) == 1 else value or None
        if field == "answer_meta":
            filled = {key: member for key, member in value.items() if member is not None}
            return filled | more if isinstance(more, dict) else filled
        if field == "events":
            if self.closed:
                return [{key: member for key, member in event.items() if member is not None} for event in value]
            proofs = self.proofs.items()
            return [
                {key: event[name] for key, name in proofs if event[name] is not None} | (event["extra"] or {})
                for event in value
            ]
        return value

    def key_of(self, field: str, record: Mapping[str, Any]) -> str:
        """Return the key of *record* that holds a field; the field itself where the format has no key for it."""
        key = next((key for key, name in self.keys.items() if name == field), field)
        return next((name for name in (key, *self.instead.get(key, ())) if name in record), key)

    def place_of(self, field: str, record: Mapping[str, Any]) -> Pointer:
        """Return where *record* holds a field, see :meth:`key_of`."""
        key = self.key_of(field, {} if self.pack else record)
        return self.inside.get(key, (key,))


# --- values ----------------------------------------------------------------------------------------


def _tidy(format: JsonItems, columns: dict[str, list[Any]], extras: Sequence[dict[str, Any]]) -> None:
    if "audio" in columns:
        key = format.key_of("audio", {})
        for audio, extra in zip(columns["audio"], extras, strict=True):
            if isinstance(audio, list) and len(audio) < 2 and format.pack is None:
                extra[key] = audio  # as it was written: a text, or no key, is the usual way
        columns["audio"] = [
            [audio] if isinstance(audio, str) else [] if audio is None else audio for audio in columns["audio"]
        ]
    metas = columns.get("answer_meta", [])
    for place, meta in enumerate(metas):
        if isinstance(meta, dict) and (not meta.keys() <= _META or None in meta.values()):
            unknown = {key: value for key, value in meta.items() if key not in _META or value is None}
            metas[place] = {key: value for key, value in meta.items() if key not in unknown}
            extras[place][format.key_of("answer_meta", {})] = unknown
    for place, events in enumerate(columns.get("events", ())) if format.proofs else ():
        if isinstance(events, list):
            columns["events"][place] = [
                _proof(format.proofs, event) if isinstance(event, dict) else event for event in events
            ]


def _proof(names: Mapping[str, str], event: dict[str, Any]) -> dict[str, Any]:
    """Return an event that proves an answer, under the *names* of the fields."""
    extra = {key: value for key, value in event.items() if key not in names or value is None}
    renamed = {names[key]: value for key, value in event.items() if key in names}
    return renamed | ({"extra": extra} if extra else {})


# --- reading ---------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, format: JsonItems, records: Records) -> None:
        self.format, self.records = format, records
        self.id_key = format.key_of("id", {})
        self.whole_ids = format.numbered or format.holds == "predictions"  # whether ids may be whole numbers
        self.numbers = np.zeros(0, np.int64)  # of the record of each row
        self.numbered: dict[int, type] = {}  # the kinds of ids that are numbers, by the number of the record
        self.shapes: dict[tuple[str, ...], list[int]] = {}  # numbers of records by their keys

    @uncollected()
    def table(self) -> pa.Table:
        """Read all records, and warn once of what many of them have in common."""
        tables, numbers = [self.format.schema.empty_table()], [np.zeros(0, np.int64)]
        for run in self.records.runs():
            table, places = self.rows(run)
            self.records.readable |= bool(len(table))
            tables.append(table)
            numbers.append(run.first + places)
        self.numbers = np.concatenate(numbers)
        for key, hint in self.format.useful.items():
            without = [number for keys, numbers in self.shapes.items() if key not in keys for number in numbers]
            if without:
                self.report("SYN215", f"{key} is missing{_in(without)}", self.records[min(without)], (), hint)
        whole = [number for number, kind in self.numbered.items() if kind is int]
        if whole and not self.format.numbered and self.format.holds == "predictions":
            first = self.records[min(whole)]
            pointer = self.format.place_of("id", first.value)
            text = clipped(first.locate(pointer).value, 30)
            message = f"{self.id_key} is the number {text}{_in(whole)}"
            hint = f'it is read as the id "{text}": ids of questions are text, so write it in quotes'
            self.report("SYN216", message, first, pointer, hint)
        return pa.concat_tables(tables)

    def rows(self, run: Run) -> tuple[pa.Table, Ints]:
        format, tables, numbers = self.format, list[pa.Table](), list[int]()
        flats: Sequence[Any] = [record if type(record) is dict else None for record in run.values]
        if format.pack is not None:
            flats = [None if record is None else format.unpack(record) for record in flats]
        alike: dict[tuple[tuple[str, ...], ...], list[int]] = {}
        for number, (record, flat) in enumerate(zip(run.values, flats, strict=True)):
            if flat is not None:
                alike.setdefault(((*record,), (*flat,)), []).append(number)
        for (keys, _), places in alike.items():
            if self.lacking(keys):
                continue
            columns = format.fields([flats[number] for number in places])
            ids = columns.get("id", [])
            if self.whole_ids and int in map(type, ids):
                columns["id"] = [str(id) if type(id) is int else id for id in ids]
            wrong = {*range(len(places))}
            if columns.keys() <= {*format.schema.names}:
                # elsewhere, extra holds what JSON can
                checked = (field for field in columns if field != "extra" or format.closed)
                wrong = set().union(*(wrong_rows(format.model, field, columns[field]) for field in checked))
            if wrong:
                right = [place for place in range(len(places)) if place not in wrong]
                columns = {field: [values[place] for place in right] for field, values in columns.items()}
                ids, places = [ids[place] for place in right if ids], [places[place] for place in right]
            if not places:
                continue
            with suppress(pa.ArrowException, OverflowError):  # of whole numbers that Arrow does not take for floats
                tables.append(table_of_columns(columns, len(places), format.schema))
                numbers += places
                self.count(keys, ids, [run.first + number for number in places])
        others, rows = sorted({*range(len(run.values))}.difference(numbers)), []
        for number, record in self.records.careful(run, others):
            row = self.row(record)
            if row is not None:
                rows.append(row)
                numbers.append(number)
                self.count((*record.value,), [record.value.get(self.id_key)], [run.first + number])
        table, order = pa.concat_tables([*tables, table_of(rows, format.model)]), np.array(numbers, np.int64)
        if len(alike) > 1 or rows:
            table = pc.take(table.combine_chunks(POOL), np.argsort(order), memory_pool=POOL)
        return table, np.sort(order)

    def count(self, keys: tuple[str, ...], ids: Sequence[Any], numbers: Sequence[int]) -> None:
        """Record the keys of records that became rows, and which of them have numbers as ids."""
        self.shapes.setdefault(keys, []).extend(numbers)
        if not {*map(type, ids)}.isdisjoint(_SCALARS):
            kinds = zip(numbers, map(type, ids), strict=True)
            self.numbered |= {number: kind for number, kind in kinds if kind in _SCALARS}

    def lacking(self, keys: Collection[str]) -> list[str]:
        return [key for key in self.format.required if key not in {*keys, *self.format.named_in(keys)}]

    def row(self, record: JsonDocument) -> Row | None:
        """Return the row of a record; None after findings."""
        if not isinstance(record.value, dict):
            self.report("SYN212", f"a record is {kind_of(record.value)}, not an object", record, (), None)
            return None
        for key in self.lacking(record.value):
            hint = f"a record has the keys {', '.join(self.format.required)}"
            self.report("SYN211", f"{key} is missing", record, (), hint)
        flat = record.value if self.format.pack is None else self.format.unpack(record.value)
        values = {field: value for field, (value,) in self.format.fields([flat]).items()}
        if type(values.get("id")) is int and self.whole_ids:
            values["id"] = str(values["id"])
        elif type(values.get("id")) in _SCALARS:
            pointer = self.format.place_of("id", record.value)
            values["id"] = text = record.locate(pointer).value
            hint = f'write "{clipped(text, 30)}": where ids are read as numbers, "007" and 7 are the same'
            message = f"{self.id_key} is the number {clipped(text, 30)}, but must be text"
            self.report("SYN212", message, record, pointer, hint)
        row = row_of(self.format.model, values)
        if not isinstance(row, list):
            return row
        for flaw in row:
            self.report_flaw(flaw, record)
        return None

    def origin(self, table: pa.Table) -> dict[str, object]:
        """Return what the writer wants back: the layout, and what records have otherwise than the first one."""
        frame, first = self.records.frame()
        layout = frame.styled(first, self.records.data) if first and len(table) else frame
        numbers = [id for id in self.ids(table, sorted(self.numbered)) if id is not None]
        numbered = 0 < len(numbers) == len(table)
        orders = list[tuple[str, ...]]()
        order_of = dict[str | None, int]()
        ranked = dict.fromkeys((*layout.order, *self.format.keys, *self.format.besides))
        ranks = {key: place for place, key in enumerate(ranked)}
        for keys, records in sorted(self.shapes.items(), key=lambda shape: min(shape[1])):
            differs = keys != tuple(layout.order)
            if differs and self.format.pack is None:  # unless it is written in the same way all the same
                sounds = self.format.closed and ("audio" in keys) != ("audio" in layout.order)
                differs = tuple(sorted(keys, key=lambda key: ranks.get(key, len(ranks)))) != keys or sounds
                differs = differs or self.format.named_in(keys) != self.format.named_in(layout.order)
            if differs:
                ids = self.ids(table, sorted(records))
                order_of |= {id: len(orders) for id in ids if id is not None}
                orders.append(keys)
        return {
            "layout": dataclasses.asdict(dataclasses.replace(layout, numbered=numbered)),
            "orders": orders,
            "order_of": order_of,
            "numbers": [] if numbered else numbers,
        }

    def ids(self, table: pa.Table, numbers: list[int]) -> list[str | None]:
        return table["id"].take(np.searchsorted(self.numbers, numbers)).to_pylist()  # type: ignore[no-any-return]

    def locate(self, row: int, field: str | None, number: int | None) -> Place:
        record = self.records[int(self.numbers[row])]
        if field is None:
            return record.locate()
        at = self.format.place_of(field, record.value)
        return record.locate(at if number is None else (*at, number))

    def report_flaw(self, flaw: Flaw, record: JsonDocument) -> None:
        field, *inner = flaw.at
        pointer = self.format.place_of(str(field), record.value)
        if field == "events":
            names = {name: key for key, name in self.format.proofs.items()}
            inner = [names.get(step, step) if isinstance(step, str) else step for step in inner]
        if field != "audio" or not isinstance(value_at(record.value, pointer), str):
            pointer = (*pointer, *inner)
        if flaw.kind == "missing":
            if len(pointer) > 1:
                self.report("SYN211", f"{_path(pointer)} is missing", record, pointer, None)
            return
        if flaw.kind == "unknown":
            key = json_text(str(pointer[-1]))
            hint = f'its keys are {", ".join(self.format.keys)}; put others in extra: "extra": {{{key}: …}}'
            self.report("SYN212", f"{_path(pointer)} is not a key of this format", record, pointer, hint)
            return
        must = "text" if flaw.at == ("audio",) and not self.format.closed else flaw.must
        value = value_at(record.value, pointer)
        self.report("SYN212", f"{_path(pointer)} is {kind_of(value)}, but must be {must}", record, pointer, None)

    def report(self, code: str, message: str, record: JsonDocument, pointer: Pointer, hint: str | None) -> None:
        self.records.sink(record.finding(code, message, pointer, hint))


def _in(numbers: Sequence[int]) -> str:
    return f" in {plural(len(numbers), 'record')}" if len(numbers) > 1 else ""


def _path(pointer: Pointer) -> str:
    """Write a pointer as ``answer_meta.time_span[0]``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in pointer)
    return clipped(text.removeprefix("."))


# --- the formats that questions.toml describes: SO-Bench, MMAU, MMAR, ADQA, SpatialSoundQA, seldio's own -------------


def _tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tuples(member) for key, member in value.items()}
    return tuple(value) if isinstance(value, list) else value


_ROWS = tomllib.loads(files(__package__ or "").joinpath("questions.toml").read_text("utf-8"))
#: All of them, in the order in which they are tried.
FORMATS = tuple(
    JsonItems(
        name=name,
        layout=Layout(**_tuples(row.pop("layout", {}))),
        empty=row.pop("empty", {}),
        graded=LETTERS_READ if row.get("letters") else row.pop("graded", ""),
        **_tuples(row),
    )
    for name, row in _ROWS.items()
)
SO_BENCH, SO_PREDICTIONS, SO_DATASET, MMAU, MMAR, ADQA, ADQA_TRAIN, SPATIAL_SOUND_QA, ITEMS, PREDICTIONS = FORMATS
