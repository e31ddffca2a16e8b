"""SUB217 to SUB223, SUB226: the content of a meta file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from seldio.findings import Finding
from seldio.formats.yaml_text import Pointer
from seldio.rules.collection import Found
from seldio.rules.package import Meta
from seldio.text import clipped, listed, plural, printable

Path = tuple[str, ...]
#: Characters of an abbreviation.
_LONGEST = 10
_UNMARKED = "no author is marked as corresponding"
_INF = float("inf")
#: What a template has where somebody has to write something.
FILL_IN = "FILL IN"


class ValueKind(NamedTuple):
    """What the value of a field must be, also in words, and what to do otherwise."""

    fits: Callable[[Any], bool]
    words: str
    hint: str


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_BLOCK = ValueKind(
    lambda value: isinstance(value, dict), "a block of fields", "write each field on its own line, indented"
)  # fmt: skip
_BLOCKS = _BLOCK._replace(
    fits=lambda value: all(isinstance(one, dict) for one in (value if isinstance(value, list) else [value]))
)
_TEXT = ValueKind(
    lambda value: not isinstance(value, list | dict), "text", "put it in quotes if it looks like a number or a list"
)  # fmt: skip
_STRING = _TEXT._replace(fits=lambda value: isinstance(value, str))
_LIST = ValueKind(lambda value: isinstance(value, list), "a list", "begin each author with '- '")
_FLAG = ValueKind(lambda value: isinstance(value, bool), "true or false", "write true or false without quotes")
_COUNT = ValueKind(
    lambda value: isinstance(value, int) and _is_number(value) and value >= 0, "an integer",
    "write only digits, like 713511",
)  # fmt: skip
_NUMBER = ValueKind(_is_number, "a number", "write it like 49.3, without a unit")


class Field(NamedTuple):
    """A field of a meta file, and what is known about it."""

    name: str  # the way to it; ``*`` is each item of a list
    need: str = ""  # "required" by all sources, or "expected", as in Task 3 of 2022; other years may differ
    kind: ValueKind | None = None
    range: tuple[float, float] | None = None  # of a result

    @property
    def path(self) -> Path:
        """The steps of the way."""
        return tuple(self.name.split("."))


#: Where results are.
OVERALL = "results.development_dataset.overall"
FIELDS = (
    Field("submission", kind=_BLOCK),
    Field("submission.label", "required", _STRING),
    Field("submission.name", "required", _TEXT),
    Field("submission.abbreviation", "required", _TEXT),
    Field("submission.authors", "required", _LIST),
    Field("submission.authors.*", kind=_BLOCK),
    *(Field(f"submission.authors.*.{name}", "expected") for name in ("lastname", "firstname", "email")),
    Field("submission.authors.*.corresponding", kind=_FLAG),
    Field("submission.authors.*.affiliation", "required", _BLOCKS),
    *(Field(f"submission.authors.*.affiliation.{name}", "expected")
      for name in ("abbreviation", "institute", "department", "location")),
    Field("system", kind=_BLOCK),
    Field("system.description", kind=_BLOCK),
    *(Field(f"system.description.{name}", "expected") for name in (
        "input_format", "input_sampling_rate", "acoustic_features", "data_augmentation", "machine_learning_method"
    )),
    Field("system.complexity", kind=_BLOCK),
    Field("system.complexity.total_parameters", "expected", _COUNT),
    Field("results", kind=_BLOCK),
    Field("results.development_dataset", kind=_BLOCK),
    Field(OVERALL, kind=_BLOCK),
    Field(f"{OVERALL}.ER_20", "expected", _NUMBER, (0.0, _INF)),
    Field(f"{OVERALL}.F_20", "expected", _NUMBER, (0.0, 100.0)),
    Field(f"{OVERALL}.LE_CD", "expected", _NUMBER, (0.0, 180.0)),
    Field(f"{OVERALL}.LR_CD", "expected", _NUMBER, (0.0, 100.0)),
)  # fmt: skip
#: The results of Task 3 of 2022.
RESULTS = tuple(field.path[-1] for field in FIELDS if field.range is not None)
_AUTHORS = ("submission", "authors")


def meta_field_missing(meta: Meta, found: Found) -> Iterator[Finding]:
    yield from meta.problems
    if meta.document is not None and meta.value is None:
        yield found(None, "the meta file is empty", "fill in the organisers' template")
    for pointer in _gaps(meta, "required"):
        yield _missing(pointer, found, "fill in this required field")
    authors = [author for _, author in _values(meta.fields, (*_AUTHORS, "*")) if isinstance(author, dict)]
    if authors and not any("corresponding" in author for author in authors):
        yield found(_AUTHORS, _UNMARKED, 'add "corresponding: true" to one author', key=True)


def meta_field_expected(meta: Meta, found: Found) -> Iterator[Finding]:
    required = set(_gaps(meta, "required"))
    for pointer in _gaps(meta, "expected"):
        if pointer not in required:
            yield _missing(pointer, found, "write !!null if it does not apply")


def meta_field_type(meta: Meta, found: Found) -> Iterator[Finding]:
    if meta.value is not None and not isinstance(meta.value, dict):
        message = "a meta file must be a block of fields: submission, system, results"
        yield found((), message, "fill in the organisers' template")
    for field in FIELDS:
        for pointer, value in _values(meta.fields, field.path):
            given = value is not None and value != FILL_IN
            if field.kind is not None and given and not field.kind.fits(value):
                shown = clipped(meta.place(pointer)["value"], 40) or "empty"
                yield found(pointer, f"{_named(pointer)} is {shown}, not {field.kind.words}", field.kind.hint)


def abbreviation_long(meta: Meta, found: Found) -> Iterator[Finding]:
    for pointer, value in _values(meta.fields, ("submission", "abbreviation")):
        text = value if isinstance(value, str) else meta.place(pointer)["value"]
        if _TEXT.fits(value) and len(text) > _LONGEST:
            yield found(pointer, f"the abbreviation has {len(text):,} characters", f"use at most {_LONGEST}")


def corresponding_author(meta: Meta, found: Found) -> Iterator[Finding]:
    marks = dict(_values(meta.fields, (*_AUTHORS, "*", "corresponding")))
    if not marks or not all(isinstance(mark, bool | None) for mark in marks.values()):
        return  # reported by SUB217 or SUB219
    marked = [pointer for pointer, mark in marks.items() if mark]
    if not marked:
        yield found(_AUTHORS, _UNMARKED, 'write "corresponding: true" for one author', key=True)
    elif len(marked) > 1:
        yield found(marked[1], f"{len(marked)} authors are marked as corresponding", "mark exactly one")


def result_unit(meta: Meta, found: Found) -> Iterator[Finding]:
    for pointer, value, _ in _results(meta):
        name, shown = pointer[-1], clipped(meta.place(pointer)["value"], 20)
        if name in ("F_20", "LR_CD") and 0 < value <= 1:
            message = f"{name} is {shown}, but should be a percentage"
            yield found(pointer, message, f"if it is a fraction, write {value * 100:g}")
        elif name == "ER_20" and 10 < value <= 1000:
            message = f"ER_20 is {shown}, but should be a ratio, not a percentage"
            yield found(pointer, message, f"if it is a percentage, write {value / 100:g}")


def result_range(meta: Meta, found: Found) -> Iterator[Finding]:
    for pointer, value, (low, high) in _results(meta):
        if not low <= value <= high or value == _INF:
            limits = "0 or more" if high == _INF else f"between {low:g} and {high:g}"
            message = f"{pointer[-1]} is {clipped(meta.place(pointer)['value'], 20)}, but must be {limits}"
            yield found(pointer, message, "correct it, or write !!null if there is no such result")


def meta_field_unfilled(meta: Meta, found: Found) -> Iterator[Finding]:
    if pointers := list(_unfilled(meta.value)):
        message = f"{plural(len(pointers), 'field')} still to be filled in: {listed([*map(_named, pointers)], 3)}"
        yield found(pointers[0], message, f"replace each {FILL_IN}; write !!null if a field does not apply")


def _unfilled(value: Any, at: Pointer = ()) -> Iterator[Pointer]:
    """Where a template still has what stands for a value."""
    if value == FILL_IN:
        yield at
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _unfilled(inner, (*at, step))


def _values(value: Any, path: Path, at: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """The values at *path*, each with the pointer to it; affiliations may be one or a list."""
    if not path:
        yield at, value
    elif isinstance(value, list):
        rest = path[1:] if path[0] == "*" else path
        for place, item in enumerate(value):
            if isinstance(item, dict) or not rest:
                yield from _values(item, rest, (*at, place))
    elif isinstance(value, dict) and path[0] in value:
        yield from _values(value[path[0]], path[1:], (*at, path[0]))


def _gaps(meta: Meta, need: str) -> list[Pointer]:
    """Where fields are missing, each place once; required ones also where they are empty."""
    gaps: dict[Pointer, None] = {}
    for path in [field.path for field in FIELDS if field.need == need] if isinstance(meta.value, dict) else ():
        for length, step in enumerate(path):
            for at, holder in _values(meta.fields, path[:length]) if step != "*" else ():
                several = isinstance(holder, list)
                blocks = [((*at, n), one) for n, one in enumerate(holder)] if several else [(at, holder)]
                for pointer, fields in blocks:
                    lacks = isinstance(fields, dict) and step not in fields
                    if lacks or (isinstance(fields, dict) and need == "required" and _is_blank(fields[step])):
                        gaps.setdefault((*pointer, step))
    return list(gaps)


def _is_blank(value: Any) -> bool:
    if isinstance(value, list):
        return all(item is None for item in value)
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def _missing(pointer: Pointer, found: Found, hint: str) -> Finding:
    """A finding at the empty field, or at the block that lacks it."""
    *above, name = pointer
    try:
        return found(pointer, f"{_named(pointer)} is empty", hint, key=True)
    except KeyError:
        block = _named(tuple(above)) if above else "the meta file"
        return found(tuple(above), f"{block} has no {name}", hint, key=True)


def _results(meta: Meta) -> Iterator[tuple[Pointer, Any, tuple[float, float]]]:
    """The results that are numbers, with their ranges."""
    for field in FIELDS:
        for pointer, value in _values(meta.fields, field.path) if field.range is not None else ():
            if field.range is not None and _is_number(value):
                yield pointer, value, field.range


def _named(pointer: Pointer) -> str:
    """A field in words: ``submission.authors.2.affiliation``, counting authors from 1."""
    return printable(".".join(str(step + 1) if isinstance(step, int) else step for step in pointer))


META_RULES = (
    meta_field_missing,
    meta_field_expected,
    meta_field_type,
    abbreviation_long,
    corresponding_author,
    result_unit,
    result_range,
    meta_field_unfilled,
)
