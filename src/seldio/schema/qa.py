"""Question-answer items and predictions: one schema for all benchmarks.

What a format carries besides these fields is kept in ``extra``, in the order of its keys, so that
writing an item back loses nothing. Rows are models (:class:`Item`, :class:`Prediction`); tables of
them have the Arrow schemas ``ITEM_SCHEMA`` and ``PREDICTION_SCHEMA``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, overload

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from seldio.schema.numbers import Int32, NotNegative

_MODEL = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
Text = Annotated[str, Field(min_length=1)]
Seconds = Annotated[float, Field(ge=0)]
Extra = dict[str, JsonValue]


class AnswerMeta(BaseModel):
    """The truth behind an answer, as numbers: what scorers compare.

    Angles are degrees (azimuth counter-clockwise, +90 is left), distances metres, times seconds from
    the start of the audio. A key that a task does not use is None.
    """

    model_config = _MODEL

    azimuth_deg: Annotated[float, Field(ge=-180, le=180)] | None = Field(None, description="estimate_azimuth.")
    elevation_deg: Annotated[float, Field(ge=-90, le=90)] | None = Field(None, description="estimate_elevation.")
    distance_m: Annotated[float, Field(ge=0)] | None = Field(None, description="estimate_distance.")
    time_span: Annotated[list[Seconds], Field(min_length=2, max_length=2)] | None = Field(
        None, description="Start and end: detect_time, spatial_temporal, detect_source of a single event."
    )
    onset_time: Seconds | None = Field(None, description="onset_from_location.")
    active_count: NotNegative | None = Field(None, description="count_sources.")
    keywords: list[str] | None = Field(None, description="Words that a correct answer contains (JASCO).")


class Proof(BaseModel):
    """A sound event that proves an answer."""

    model_config = _MODEL

    class_name: Text = Field(description="The class, as its vocabulary spells it.")
    class_id: NotNegative | None = Field(None, description="Index into its vocabulary.")
    source: Int32 | None = Field(None, description="Source number.")
    onset: Seconds | None = Field(None, description="Seconds from the start of the audio.")
    offset: Seconds | None = Field(None, description="Seconds from the start of the audio.")
    azimuth: Annotated[float, Field(ge=-180, le=180)] | None = Field(None, description="Degrees, +90 is left.")
    elevation: Annotated[float, Field(ge=-90, le=90)] | None = Field(None, description="Degrees, +90 is up.")
    distance: Annotated[float, Field(ge=0)] | None = Field(None, description="Metres.")
    extra: Extra | None = Field(None, description="Further keys of the source record.")


class Item(BaseModel):
    """One question with its answer."""

    model_config = _MODEL

    id: Text = Field(description="Unique in its file; numbers are written out, so that 7 and 007 differ.")
    audio: list[Text] = Field(default_factory=list, description="Paths of the recordings, as written.")
    start: Seconds | None = Field(None, description="Where in the recording the item begins, in seconds.")
    end: Seconds | None = Field(None, description="Where it ends, in seconds.")
    task: str | None = Field(None, description="The kind of question, as the benchmark names it.")
    question: str = Field("", description="The question itself.")
    instruction: str | None = Field(None, description="The prompt around the question, with its placeholders.")
    options: list[str] | None = Field(None, description="The answer options, in order.")
    answer: str | None = Field(None, description="The full answer; None if it is hidden.")
    canonical_answer: str | None = Field(None, description="The short form that scorers compare.")
    answer_meta: AnswerMeta | None = Field(None, description="The correct answer as numbers.")
    language: str | None = Field(None, description="ISO 639-1, e.g. en or ru.")
    split: str | None = Field(None, description="train, test, shots, …")
    dataset: str | None = Field(None, description="Where the recording comes from.")
    events: list[Proof] | None = Field(None, description="The events that prove the answer.")
    extra: Extra | None = Field(None, description="Further keys of the source record, in their order.")


class Prediction(BaseModel):
    """A model's answer to an item."""

    model_config = _MODEL

    id: str | None = Field(None, description="The item's id; None if predictions are matched by order.")
    audio: list[Text] = Field(default_factory=list, description="Paths of the recordings, as written.")
    task: str | None = Field(None, description="The kind of question, as the benchmark names it.")
    prompt: str | None = Field(None, description="The prompt given to the model, if recorded.")
    prediction: str | None = Field(None, description="The model's output; None if missing.")
    extra: Extra | None = Field(None, description="Further keys of the source record, in their order.")


Model = TypeVar("Model", bound=BaseModel)
#: What a row has in fields that are not there and may not be null.
EMPTY: dict[str, Any] = {"audio": [], "question": ""}
#: Where columns grow: it gives back what they have had more than they need.
POOL = pa.system_memory_pool()


def trusted(model: type[Model], values: dict[str, Any]) -> Model:
    """Return a row of *values* known to be right, unchecked: for millions of rows that seldio has made itself."""
    row = model.__new__(model)
    put = object.__setattr__
    put(row, "__dict__", values)
    put(row, "__pydantic_fields_set__", _FIELDS[model])
    put(row, "__pydantic_extra__", None)
    put(row, "__pydantic_private__", None)
    return row


_FIELDS: dict[type[BaseModel], set[str]] = {
    model: set(model.model_fields) for model in (AnswerMeta, Proof, Item, Prediction)
}


def _arrow(kind: Any) -> pa.DataType:
    """Return the Arrow type of a field; what is open-ended is JSON text."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return pa.struct({name: _arrow(field.annotation) for name, field in kind.model_fields.items()})
    if get_origin(kind) is dict:
        return pa.string()
    inner = get_args(kind)
    if get_origin(kind) is list:
        return pa.list_(_arrow(inner[0]))
    # of what is annotated, or may be None, the first says the type
    return _arrow(inner[0]) if inner else {str: pa.string(), float: pa.float64(), int: pa.int32()}[kind]


ITEM_SCHEMA, PREDICTION_SCHEMA = (pa.schema(list(_arrow(model))) for model in (Item, Prediction))


def to_table(rows: Iterable[Item] | Iterable[Prediction], schema: pa.Schema = ITEM_SCHEMA) -> pa.Table:
    """Return a table of *rows*; ``extra`` becomes json text, whose keys keep their order."""
    given = [row.model_dump() for row in rows]
    return table_of_columns({name: [row[name] for row in given] for name in schema.names}, len(given), schema)


def table_of_columns(columns: Mapping[str, Sequence[Any]], count: int, schema: pa.Schema) -> pa.Table:
    """Return a table of *count* rows; raise ValueError or OverflowError for values that do not fit."""
    arrays = []
    for field in schema:
        values = columns.get(field.name, [EMPTY.get(field.name)] * count)
        if field.name == "extra":
            values = [None if value is None else packed(value) for value in values]
        elif field.name == "events":
            values = [events and [*map(_packed, events)] for events in values]
        arrays.append(pa.array(values, field.type, memory_pool=POOL))
    return pa.Table.from_arrays(arrays, schema=schema)


def table_of(rows: Sequence[Item | Prediction] | pa.Table, model: type[BaseModel]) -> pa.Table:
    """Return *rows* as a table of questions or predictions; raise ValueError or OverflowError if it cannot be."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, Rows):
        return rows.table
    return to_table(rows, ITEM_SCHEMA if model is Item else PREDICTION_SCHEMA)  # type: ignore[arg-type]


class Rows(Sequence[Item | Prediction]):
    """The rows of a *table* as models of the class *model*, made when they are asked for."""

    _BLOCK = 1024

    def __init__(self, table: pa.Table, model: type[Item | Prediction]) -> None:
        self.table, self.model = table, model
        self._start, self._block = 0, list[Item | Prediction]()

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, index: int) -> Item | Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item | Prediction]: ...
    def __getitem__(self, index: int | slice) -> Item | Prediction | Sequence[Item | Prediction]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        if not 0 <= number - self._start < len(self._block):
            self._start = number - number % self._BLOCK
            self._block = list(_models(self.table.slice(self._start, self._BLOCK), self.model))
        return self._block[number - self._start]

    def __iter__(self) -> Iterator[Item | Prediction]:
        for start in range(0, len(self), self._BLOCK):
            yield from _models(self.table.slice(start, self._BLOCK), self.model)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(row == other_row for row, other_row in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


def _models(table: pa.Table, model: type[Item | Prediction]) -> Iterator[Item | Prediction]:
    columns = opened({name: table[name].to_pylist() for name in table.column_names})
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        row["audio"] = row["audio"] or []
        if model is Prediction:
            yield trusted(Prediction, row)
            continue
        meta, events = row["answer_meta"], row["events"]
        row["question"] = row["question"] or ""
        row["answer_meta"] = None if meta is None else trusted(AnswerMeta, meta)
        row["events"] = None if events is None else [trusted(Proof, event) for event in events]
        yield trusted(Item, row)


def _packed(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return event if event.get("extra") is None else {**event, "extra": packed(event["extra"])}


#: The open-ended part of a row as the json text that a table holds.
packed = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def opened(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return *columns* with their JSON text as objects; raise ValueError or TypeError if it is none."""
    values = {**columns}
    if "extra" in columns:
        values["extra"] = [None if text is None else from_json(text) for text in columns["extra"]]
    for events in columns.get("events", ()):
        for event in events if isinstance(events, list) else ():
            if isinstance(event, dict) and event.get("extra") is not None:
                event["extra"] = from_json(event["extra"])
    return values


# --- whether a prediction and a question are about the same thing, as far as both say --------------


def loose(id: str) -> str:
    """Return an id as programs see it that read numbers, ignore case or compose accents: 007, 7.0 and 7 are one."""
    text = unicodedata.normalize("NFC", id.strip()).casefold()
    match = re.fullmatch(r"0*(\d+)(?:\.0*)?", text)
    return match[1] if match else text


def difference(id: str, other: str) -> str:
    """Return in what two ids differ that are the same for :func:`loose`."""
    if id.strip() == other.strip():
        return "spaces"
    id, other = unicodedata.normalize("NFC", id.strip()), unicodedata.normalize("NFC", other.strip())
    return "the Unicode form of accents" if id == other else "case" if id.casefold() == other.casefold() else "zeros"


def cause_of_surplus(surplus: Iterable[str], expected: Iterable[str]) -> str:
    """Return a sentence on the first of *surplus* ids that only looks like an expected one; empty where none does."""
    alike = {loose(id): id for id in expected}
    pairs = ((id, alike[loose(id)]) for id in surplus if loose(id) in alike)
    return next((f"{id} and {other} differ only in {difference(id, other)}" for id, other in pairs), "")


def same_audio(paths: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether both name the same recordings, or one of them none; folders in front do not matter."""
    if not paths or not other or paths == other:
        return True
    if len(paths) != len(other):
        return False
    for pair in zip(paths, other, strict=True):
        short, long = sorted(pair, key=len)
        if not long.endswith(f"/{short}"):
            parts = [[part for part in re.split(r"[/\\]", path) if part not in ("", ".", "..")] for path in pair]
            less, more = sorted(parts, key=len)
            if more[len(more) - len(less) :] != less:
                return False
    return True


def same_task(task: str | None, other: str | None) -> bool:
    """Return whether both name the same task, or one of them none."""
    return not task or not other or task == other


# --- reasons why a record is no row, for one record in words or for a whole column at once ---------------------------


class Flaw(NamedTuple):
    """One thing wrong with a record."""

    at: tuple[str | int, ...]  # the field, then the keys and indices inside it
    kind: str  # a field that is missing, one that the schema does not know, or a wrong value
    must: str  # what the value must be, to end a sentence with: ``a number``


def row_of(model: type[Model], values: Mapping[str, Any]) -> Model | list[Flaw]:
    """Return the row that *values* make, or all that is wrong with them."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [Flaw(detail["loc"], _KINDS.get(detail["type"], "wrong"), must(detail)) for detail in details]


_KINDS = {"missing": "missing", "extra_forbidden": "unknown"}
_MUST = {
    "string_type": "text",
    "string_too_short": "text of at least one character",
    "string_unicode": "text without unpaired surrogates",
    "list_type": "an array",
    "dict_type": "an object",
    "model_type": "an object",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "greater_than": "more than {gt}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "too_short": "an array of {min_length} values",
    "too_long": "an array of {max_length} values",
}


def must(detail: Any) -> str:
    """Describe in words the value that pydantic's error asks for."""
    words = _MUST.get(detail["type"])
    context = {key: f"{value:g}" if isinstance(value, float) else value for key, value in detail.get("ctx", {}).items()}
    return words.format_map(context) if words else str(detail["msg"]).removeprefix("Input should be ")


@cache
def _column(model: type[BaseModel], field: str) -> TypeAdapter[list[Any]]:
    info = model.model_fields[field]
    kind: Any = Annotated[info.annotation, info]
    return TypeAdapter(list[kind], config=ConfigDict(strict=True, allow_inf_nan=False))


def wrong_rows(model: type[BaseModel], field: str, values: list[Any]) -> set[int]:
    """Return the numbers of the values that cannot stand in a field."""
    if field not in model.model_fields:
        return {*range(len(values))}
    try:
        _column(model, field).validate_python(values)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        return {int(detail["loc"][0]) for detail in details}
    return set()
