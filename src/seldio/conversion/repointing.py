"""Texts that name or describe recordings, made to speak of the other microphone array."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa

Array = Literal["foa", "mic"]
OTHER: dict[Array, Array] = {"foa": "mic", "mic": "foa"}
#: The channels of each array, in their order.
CHANNELS: dict[Array, tuple[str, ...]] = {"foa": ("W", "Y", "Z", "X"), "mic": ("M1", "M2", "M3", "M4")}
#: What each array is called.
TITLES: dict[Array, str] = {"foa": "first-order Ambisonics", "mic": "tetrahedral microphone array"}
#: Names of keys whose value may be the name of the array.
_KEYS = r"array|array_format|audio_format|channel_format|spatial_format|microphone_format|format"
_MARK = r"[^\s\"'`,;|<>()\[\]{}/\\]*"


def repointed(text: str, to: Array) -> str:
    """*text* with paths to recordings of the other array, its channels and its name replaced by those of *to*.

    A path has a folder ``foa`` or ``foa_…`` (``mic`` likewise), or a recording whose name begins with it. Everything
    else stays as it is, to the letter.
    """
    source = OTHER[to]
    text = _folders(source).sub(to, text)
    text = _channels(source).sub(lambda match: _renamed(match.group(), source, to), text)
    text = _named(source).sub(lambda match: match.group(1) + _cased(match.group(2), to), text)
    return re.sub(re.escape(TITLES[source]), lambda match: _cased(match.group(), TITLES[to]), text, flags=re.IGNORECASE)


def recordings(text: str, array: Array) -> list[str]:
    """The paths in *text* that lead to a recording of *array*."""
    pattern = rf"{_MARK}(?:/{_MARK})*\.(?:wav|flac)(?![\w])"
    return [path for path in re.findall(pattern, text) if _folders(array).search(path)]


def repointed_table(table: pa.Table, to: Array) -> pa.Table:
    """*table* with all its texts repointed; its types and metadata stay."""
    columns = [_column(column, to) for column in table.columns]
    return pa.table(columns, schema=table.schema)


def texts_of(table: pa.Table) -> list[str]:
    """All texts of *table*, wherever they are."""
    found: list[str] = []

    def collect(text: str) -> str:
        found.append(text)
        return text

    for column in table.columns:
        if _textual(column.type):
            _mapped(column.to_pylist(), collect)
    return found


def _column(column: pa.ChunkedArray, to: Array) -> pa.ChunkedArray:
    if not _textual(column.type):
        return column
    values = _mapped(column.to_pylist(), lambda text: repointed(text, to))
    return pa.chunked_array([pa.array(values, column.type)])


def _textual(type: pa.DataType) -> bool:
    """Whether a column may hold texts."""
    if pa.types.is_dictionary(type):
        return _textual(type.value_type)
    nested = [type.field(number).type for number in range(type.num_fields)]
    return pa.types.is_string(type) or pa.types.is_large_string(type) or any(map(_textual, nested))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """*value* with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(part, change) for part in value]
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    return value


def _folders(array: Array) -> re.Pattern[str]:
    """The word in paths: a folder ``foa`` or ``foa_…``, or the beginning of a recording's name."""
    return re.compile(rf"(?<![\w-]){array}(?=(?:_{_MARK})?[/\\]|_(?:dev|eval)\b|_{_MARK}\.(?:wav|flac)\b)")


def _channels(array: Array) -> re.Pattern[str]:
    """The four channels one after the other, quoted or not."""
    return re.compile(r"(?<!\w)" + r"(\W{1,4})".join(CHANNELS[array]) + r"(?!\w)")


def _renamed(text: str, source: Array, to: Array) -> str:
    names = dict(zip(CHANNELS[source], CHANNELS[to], strict=True))
    return re.sub(r"\w+", lambda match: names[match.group()], text)


def _named(array: Array) -> re.Pattern[str]:
    """The array's name as the value of a key, in json and yaml."""
    return re.compile(rf"((?<!\w)[\"']?(?:{_KEYS})[\"']?\s*[:=]\s*[\"']?)({array})(?![\w/-])", re.IGNORECASE)


def _cased(like: str, word: str) -> str:
    """*word* in capitals where *like* is, or with a capital."""
    if like.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word
