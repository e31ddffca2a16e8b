"""SUB217 to SUB223, SUB226: the content of a meta file, judged by the schema in ``package.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from seldio.findings import Finding
from seldio.formats.yaml_text import Pointer
from seldio.reader_rules import reader_rule
from seldio.rules.package import Meta
from seldio.text import clipped, listed, plural, printable

FACTS = tomllib.loads((Path(__file__).parent / "package.toml").read_text("utf-8"))
#: Where results are, and those of Task 3 of 2022.
OVERALL = ("results", "development_dataset", "overall")
RESULTS = ("ER_20", "F_20", "LE_CD", "LR_CD")
#: What a template has where somebody has to write something.
FILL_IN = "FILL IN"
_AUTHORS = ("submission", "authors")


def _is_blank(value: Any) -> bool:
    if isinstance(value, list):
        return all(item is None for item in value)
    return value is None or value == {} or (isinstance(value, str) and not value.strip())


def _required(_: object, names: list[str], value: Any, __: object) -> Iterator[ValidationError]:
    gaps = [name for name in names if isinstance(value, dict) and _is_blank(value.get(name))]
    return (ValidationError(name) for name in gaps)


def _expected(_: object, names: list[str], value: Any, __: object) -> Iterator[ValidationError]:
    return (ValidationError(name) for name in names if isinstance(value, dict) and name not in value)


def _range(_: object, limits: list[float], value: Any, __: object) -> Iterator[ValidationError]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and not (limits[0] <= value <= limits[1] and value != float("inf")):
        yield ValidationError("0 or more" if limits[1] == float("inf") else f"between {limits[0]} and {limits[1]}")


_KEYWORDS = {"required": _required, "expected": _expected, "range": _range}
_SCHEMA = extend(Draft202012Validator, _KEYWORDS)(FACTS["meta"])  # type: ignore[no-untyped-call]


def meta_findings(meta: Meta) -> Iterator[Finding]:
    """Yield what is wrong with a meta file, that it cannot be read as well."""
    yield from meta.problems
    if meta.document is not None and meta.value is None:
        yield reader_rule("SUB217").at(meta.path, "the meta file is empty", "fill in the organisers' template")
    if meta.value is None:
        return
    for error in _SCHEMA.iter_errors(meta.value):
        if error.instance != FILL_IN:
            yield _finding(meta, error)
    if unfilled := list(_unfilled(meta.value)):
        message = f"{plural(len(unfilled), 'field')} still to be filled in: {listed([*map(_named, unfilled)], 3)}"
        yield meta.finding("SUB226", unfilled[0], message)
    yield from _authors(meta)
    yield from _units(meta)


def _finding(meta: Meta, error: ValidationError) -> Finding:
    """Return the finding that a breach of the schema is."""
    pointer: Pointer = tuple(error.absolute_path)
    name, named = error.message, _named(pointer) or "the meta file"
    match error.validator:
        case "required" if isinstance(error.instance, dict) and name in error.instance:
            return meta.finding("SUB217", (*pointer, name), f"{_named((*pointer, name))} is empty", key=True)
        case "required":
            return meta.finding("SUB217", pointer, f"{named} has no {name}", key=True)
        case "expected":
            return meta.finding("SUB218", pointer, f"{named} has no {name}", key=True)
        case "range":
            shown = clipped(meta.place(pointer)["value"], 20)
            return meta.finding("SUB223", pointer, f"{pointer[-1]} is {shown}, but must be {name}")
        case "maxLength":
            return meta.finding("SUB220", pointer, f"the abbreviation has {len(str(error.instance)):,} characters")
    shown = clipped(meta.place(pointer)["value"] or "", 40) or "something else"
    schema: Any = error.schema
    return meta.finding("SUB219", pointer, f"{named} is {shown}, not {schema['title']}", schema["description"])


def _authors(meta: Meta) -> Iterator[Finding]:
    """Yield a finding where not exactly one author is marked as corresponding."""
    submission = meta.fields.get("submission")
    listed_authors = submission.get("authors") if isinstance(submission, dict) else None
    listed_authors = listed_authors if isinstance(listed_authors, list) else []
    authors = {number: author for number, author in enumerate(listed_authors) if isinstance(author, dict)}
    marks = {number: author["corresponding"] for number, author in authors.items() if "corresponding" in author}
    if not authors or not all(isinstance(mark, bool | None) for mark in marks.values()):
        return
    places = [number for number, mark in marks.items() if mark]
    if not places:
        code = "SUB221" if marks else "SUB217"
        hint = 'write "corresponding: true" for one author'
        yield meta.finding(code, _AUTHORS, "no author is marked as corresponding", hint, key=True)
    elif len(places) > 1:
        message = f"{len(places)} authors are marked as corresponding"
        yield meta.finding("SUB221", (*_AUTHORS, places[1], "corresponding"), message)


def _units(meta: Meta) -> Iterator[Finding]:
    """Yield a finding for each result that seems to be in the wrong unit."""
    results = meta.value
    for step in OVERALL:
        results = results.get(step) if isinstance(results, dict) else None
    for name in RESULTS if isinstance(results, dict) else ():
        value = results.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        shown = clipped(meta.place((*OVERALL, name))["value"], 20)
        if name in ("F_20", "LR_CD") and 0 < value <= 1:
            message = f"{name} is {shown}, but should be a percentage"
            yield meta.finding("SUB222", (*OVERALL, name), message, f"if it is a fraction, write {value * 100:g}")
        elif name == "ER_20" and 10 < value <= 1000:
            message = f"ER_20 is {shown}, but should be a ratio, not a percentage"
            yield meta.finding("SUB222", (*OVERALL, name), message, f"if it is a percentage, write {value / 100:g}")


def _unfilled(value: Any, at: Pointer = ()) -> Iterator[Pointer]:
    """Yield where a template still has what stands for a value."""
    if value == FILL_IN:
        yield at
    elif isinstance(value, dict | list):
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _unfilled(inner, (*at, step))


def _named(pointer: Pointer) -> str:
    """Return a field in words: ``submission.authors.2.affiliation``, counting authors from 1."""
    return printable(".".join(str(step + 1) if isinstance(step, int) else str(step) for step in pointer))
