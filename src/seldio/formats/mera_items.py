"""What a record with a question of MERA has to hold."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any

from seldio.findings import Severity
from seldio.formats.mera import Problem, dig, id_text, kind

OPTION = re.compile(r"option_[a-z]")
AUDIO = re.compile(r"audio(?:_[1-9][0-9]?)?")


def audio_keys(inputs: dict[str, Any]) -> list[str]:
    """The keys of a record's recordings, in their order."""
    return sorted((key for key in inputs if AUDIO.fullmatch(key)), key=lambda key: (len(key), key))


def audio_path(audio: Any) -> str:
    """The path of a recording; the Hub writes decoded ones as an object with a path."""
    return audio["path"] if isinstance(audio, dict) else audio  # type: ignore[no-any-return]


def problems(value: Any, instructions: int, strict: bool = False) -> Iterator[Problem]:
    """What is wrong with a record; with *strict* only what makes it no record."""
    if not isinstance(value, dict):
        yield Problem("QAI212", f"a record is {kind(value)}, not an object")
        return
    for key in ("inputs", "meta"):
        if not isinstance(value.get(key), dict):
            absent = key not in value
            message = f"{key} is missing" if absent else f"{key} is {kind(value[key])}, not an object"
            yield Problem("QAI211" if absent else "QAI212", message, (key,))
    if isinstance(value.get("inputs"), dict):
        yield from _input_problems(value["inputs"])
    if isinstance(value.get("meta"), dict):
        yield from _meta_problems(value["meta"], strict)
    if not isinstance(value.get("outputs", ""), str | None):
        yield Problem("QAI212", f"outputs is {kind(value['outputs'])}, not a letter", ("outputs",))
    yield from _instruction_problems(value, 0 if strict else instructions)
    if "outputs" not in value and not strict:
        hint = "a hidden answer is an empty text"
        yield Problem("QAI211", "outputs is missing", (), hint, Severity.WARNING)


def _instruction_problems(value: dict[str, Any], known: int) -> Iterator[Problem]:
    given = value.get("instruction")
    if "instruction" not in value:
        yield Problem("QAI211", "instruction is missing")
    elif type(given) is not int and not isinstance(given, str):
        yield Problem("QAI212", f"instruction is {kind(given)}, not a text or a number", ("instruction",))
    elif type(given) is int and not 0 <= given < (known or 10**6):
        hint = f"the {known} instructions count from 0" if known else "instructions count from 0"
        yield Problem("QAI212", "there is no instruction of this number", ("instruction",), hint)


def _input_problems(inputs: dict[str, Any]) -> Iterator[Problem]:
    if not isinstance(inputs.get("question"), str):
        absent = "question" not in inputs
        message = "question is missing" if absent else f"question is {kind(inputs['question'])}, not a text"
        yield Problem("QAI211" if absent else "QAI212", message, ("inputs", "question"))
    keys = audio_keys(inputs)
    if not keys:
        yield Problem("QAI211", "audio is missing", ("inputs",))
    for key in keys:
        path = audio_path(inputs[key]) if dig(inputs, key, "path") else inputs[key]
        if not isinstance(path, str) or not path:
            yield Problem("QAI212", f"{key} is no path", ("inputs", key))
    options = [inputs.get(f"option_{letter}") for letter in string.ascii_lowercase]
    for letter, text, rest in zip(string.ascii_lowercase, options, range(1, 27), strict=True):
        if text is None and any(later is not None for later in options[rest:]):
            yield Problem("QAI212", f"option_{letter} is absent, later options are not", ("inputs", f"option_{letter}"))
            return
        if text is not None and not isinstance(text, str):
            yield Problem("QAI212", f"option_{letter} is {kind(text)}, not a text", ("inputs", f"option_{letter}"))


def _meta_problems(meta: dict[str, Any], strict: bool) -> Iterator[Problem]:
    if id_text(meta.get("id")) is None:
        code, message = ("QAI212", "id is no number") if "id" in meta else ("QAI211", "id is missing")
        yield Problem(code, message, ("meta", "id"))
    elif isinstance(meta["id"], str) and not strict:
        hint = "MERA's tools compare ids as whole numbers"
        yield Problem("QAI212", "id is a text, not a number", ("meta", "id"), hint, Severity.WARNING)
    categories = meta.get("categories")
    if not isinstance(categories, dict | None):
        yield Problem("QAI212", f"categories is {kind(categories)}, not an object", ("meta", "categories"))
        return
    for key in ("task_type", "source_dataset"):
        name = dig(categories, key)
        if not isinstance(name, str | None):
            yield Problem("QAI212", f"{key} is {kind(name)}, not a text", ("meta", "categories", key))
