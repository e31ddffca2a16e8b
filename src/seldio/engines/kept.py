"""How a result lies on disk: as JSON in the metadata of an Arrow stream, which holds its arrays and bytes.

The type of the result says how it is written and read. What is read can be nothing but that type, whatever a file
says: a file names no class and no function, and each value is checked on its way in. A file may come from anywhere.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import hashlib
import importlib
import json
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np
import pyarrow as pa

from seldio.schema.streams import checked_stream, to_stream
from seldio.text import clipped

#: Where annotations of a module name a class that is not imported there, to keep imports light: the module of each.
LATER = "LATER"
_VERSION = "seldio_result"
_DIGEST = 32
#: Most characters of the JSON of a result; many small lists are some twenty times as large in memory.
_MOST = 1 << 26
_WHOLE = 1 << 256  # whole numbers are smaller
_NUMBERS = re.compile(r"[<>|][biufc]\d{1,2}")  # types of the numbers of an array
_INFINITE = ("nan", "inf", "-inf")  # which JSON does not have

Encode = Callable[[Any, list[bytes]], Any]
Decode = Callable[[Any, Sequence[memoryview]], Any]


class Unfit(ValueError):
    """A file does not hold the result that was asked for; the message says what it does instead."""


class Codec(NamedTuple):
    """How values of a type become JSON, and JSON becomes values; bytes and arrays are in a list of their own."""

    encode: Encode
    decode: Decode  # raises ValueError for anything that is not such a value


def packed(name: str, kind: Any, result: Any) -> bytes | None:
    """A *result* of a type as the bytes of a file, under its name; None where it is too large to be kept."""
    buffers: list[bytes] = []
    record = {_VERSION: 1, "name": name, "result": codec(kind).encode(result, buffers)}
    text = json.dumps(record, separators=(",", ":"), allow_nan=False, default=_plain)
    if len(text) > _MOST:
        return None
    schema = pa.schema([pa.field("data", pa.large_binary(), nullable=False)], {_VERSION: text})
    data = to_stream(pa.table([pa.array(buffers, pa.large_binary())], schema))
    return data + hashlib.sha256(data).digest()


def unpacked(data: bytes, name: str, kind: Any) -> Any:
    """The result in a file, if it has this *name* and type.

    Raises:
        Unfit: it has not.
    """
    stream = memoryview(data)[:-_DIGEST]
    if hashlib.sha256(stream).digest() != data[-_DIGEST:]:
        raise Unfit("is damaged, or not a file of seldio")
    try:
        table = checked_stream(stream)
    except ValueError as error:
        raise Unfit(str(error)) from None
    text = (table.schema.metadata or {}).get(_VERSION.encode(), b"")
    if table.column_names != ["data"] or table.schema.types != [pa.large_binary()] or not 0 < len(text) <= _MOST:
        raise Unfit("does not hold a result")
    try:
        record = json.loads(text, parse_constant=_refused)
        if record.keys() != {_VERSION, "name", "result"} or record[_VERSION] != 1:
            raise Unfit("is of another version")
        if record["name"] != name:
            raise Unfit("holds the result of other work")
        return codec(kind).decode(record["result"], [memoryview(one.as_buffer()) for one in table["data"]])
    except Unfit:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Unfit(f"does not hold such a result ({clipped(str(error))})") from None


def of_json(kind: Any, value: Any) -> Any:
    """A record of a type from JSON with the names of its fields, as ``dataclasses.asdict`` gives them.

    Raises:
        ValueError, TypeError, LookupError: the value is not a record of that type.
    """
    origin, inside = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        fields = hints(kind)
        return kind(**{name: of_json(fields[name], one) for name, one in _exactly(dict, value, None).items()})  # type: ignore[operator]
    if type(None) in inside and value is not None:
        return of_json(inside[0], value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = _exactly(dict, value, None).items()
        return {of_json(inside[0], name): of_json(inside[1], one) for name, one in pairs}
    if origin is tuple:
        return tuple(of_json(inside[0], one) for one in _listed(value))
    return codec(kind).decode(value, ())


def results_of(work: Callable[..., Any]) -> Any:
    """The type of what *work* returns for several parts."""
    one = hints(work if isinstance(work, types.FunctionType) else type(work).__call__)["return"]
    return types.GenericAlias(list, (one,))


def hints(thing: Any) -> dict[str, Any]:
    """The types that a class or function declares, those too that its module names in ``LATER``."""
    later: dict[str, Any] = {}
    while True:
        try:
            return typing.get_type_hints(thing, localns=later, include_extras=True)
        except NameError as error:
            name = str(error.name)
            home = getattr(sys.modules[thing.__module__], LATER, {}).get(name)
            if home is None:
                raise
            later[name] = getattr(importlib.import_module(home), name)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be kept")


def _refused(text: str) -> Any:
    raise Unfit(f"holds {text}, which is not JSON")


# --- the codec of a type ---------------------------------------------------------------------------------


@functools.cache
def codec(kind: Any) -> Codec:
    """The codec of a type, as annotations write it."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _checked(codec(get_args(kind)[0]), get_args(kind)[1:])
    if origin in (Union, types.UnionType):
        return _one_of([codec(one) for one in get_args(kind)], get_args(kind))
    if origin is Literal:
        return Codec(_as_is, functools.partial(_among, get_args(kind)))
    if origin is np.ndarray or kind is Any:  # what may be anything is numbers: no result has anything else there
        dtype = get_args(get_args(kind)[1]) if get_args(kind)[1:] else ()
        return _array(get_origin(dtype[0]) or dtype[0] if dtype and dtype[0] is not Any else np.generic)
    if isinstance(origin, type):
        return _container(origin, get_args(kind))
    return _named(kind)


def _named(kind: Any) -> Codec:
    """The codec of a class."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if hasattr(kind, "of_kept"):
        return _by_another(kind)
    if isinstance(kind, enum.EnumMeta):
        members: Mapping[str, Any] = kind.__members__
        return Codec(lambda value, _: value.name, lambda value, _: members[_text(value, _)])
    if dataclasses.is_dataclass(kind):
        return _record(kind, [field.name for field in dataclasses.fields(kind) if field.init])
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _record(kind, kind._fields)
    return Codec(functools.partial(_never, kind), functools.partial(_never, kind))


def _never(kind: Any, *_: object) -> Any:
    raise TypeError(f"a {getattr(kind, '__name__', kind)} cannot be kept")


def _as_is(value: Any, _: list[bytes]) -> Any:
    return value


def _exactly(kind: type, value: Any, _: object) -> Any:
    if type(value) is not kind:
        raise Unfit(f"holds {clipped(str(value))} in the place of a {kind.__name__}")
    return value


_text: Decode = functools.partial(_exactly, str)


def _whole(value: Any, _: object = None) -> int:
    if type(value) is not int or not -_WHOLE < value < _WHOLE:
        raise Unfit(f"holds {clipped(str(value))} in the place of a whole number")
    return value


def _number(value: Any, _: object) -> float:
    if type(value) is float or value in _INFINITE:
        return float(value)
    return _whole(value)  # which some numbers of fields that may have fractions are


def _buffer(value: Any, buffers: Sequence[memoryview]) -> memoryview:
    if not 0 <= (place := _whole(value)) < len(buffers):
        raise Unfit("lacks bytes")
    return buffers[place]


def _add(data: bytes, buffers: list[bytes]) -> int:
    buffers.append(data)
    return len(buffers) - 1


def _fraction(value: Any, _: object) -> Fraction:
    above, below = value
    if _whole(below) < 1:
        raise Unfit("holds an invalid fraction")
    return Fraction(_whole(above), below)


_SCALARS: dict[Any, Codec] = {
    str: Codec(_as_is, _text),
    bool: Codec(_as_is, functools.partial(_exactly, bool)),
    int: Codec(_as_is, _whole),
    float: Codec(lambda value, _: value if math.isfinite(value) else str(float(value)), _number),
    type(None): Codec(_as_is, functools.partial(_exactly, type(None))),
    None: Codec(_as_is, functools.partial(_exactly, type(None))),
    bytes: Codec(_add, lambda value, buffers: bytes(_buffer(value, buffers))),
    Fraction: Codec(lambda value, _: [value.numerator, value.denominator], _fraction),
}


def _among(allowed: tuple[Any, ...], value: Any, _: object) -> Any:
    if type(value) not in map(type, allowed) or value not in allowed:
        raise Unfit(f"holds {clipped(str(value))}, which is none of {', '.join(map(str, allowed))}")
    return value


def _checked(plain: Codec, checks: Iterable[Callable[[Any], object]]) -> Codec:
    """Of a type with functions that raise ValueError for values that are not sound."""

    def decode(value: Any, buffers: Sequence[memoryview]) -> Any:
        found = plain.decode(value, buffers)
        for check in checks:
            check(found)
        return found

    return Codec(plain.encode, decode)


def _by_another(kind: Any) -> Codec:
    """Of a class with ``kept()``, which gives a value of another type, and ``of_kept``, which takes one."""
    other = codec(hints(kind.kept)["return"])
    return Codec(
        lambda value, buffers: other.encode(value.kept(), buffers),
        lambda value, buffers: kind.of_kept(other.decode(value, buffers)),
    )


def _record(kind: Any, names: Sequence[str]) -> Codec:
    """Of a class with fields: the list of their values."""
    types = hints(kind)
    fields = [(name, codec(types[name])) for name in names]

    def decode(value: Any, buffers: Sequence[memoryview]) -> Any:
        return kind(**{
            name: one.decode(part, buffers) for (name, one), part in zip(fields, _listed(value), strict=True)
        })  # fmt: skip

    return Codec(lambda value, buffers: [one.encode(getattr(value, name), buffers) for name, one in fields], decode)


def _listed(value: Any) -> list[Any]:
    return typing.cast("list[Any]", _exactly(list, value, None))


def _container(origin: type, inside: tuple[Any, ...]) -> Codec:
    """Of tuples, lists, sets and mappings."""
    if issubclass(origin, Mapping):
        # a counter counts
        pair = _fixed([codec(inside[0]), codec(inside[1] if inside[1:] else int)])
        make = collections.Counter if origin is collections.Counter else dict
        return Codec(
            lambda value, buffers: [pair.encode(one, buffers) for one in value.items()],
            lambda value, buffers: make(dict(pair.decode(one, buffers) for one in _listed(value))),
        )
    if origin is tuple and inside[1:] != (Ellipsis,):
        return _fixed([codec(one) for one in inside])
    if origin not in (tuple, list, set, frozenset):
        return _named(origin)
    encode, decode = codec(inside[0])
    ordered: Callable[[Any], Any] = sorted if issubclass(origin, set | frozenset) else list
    return Codec(
        lambda value, buffers: [encode(one, buffers) for one in ordered(value)],
        lambda value, buffers: origin(decode(one, buffers) for one in _listed(value)),
    )


def _fixed(parts: Sequence[Codec]) -> Codec:
    """Of a tuple with a type for each place."""
    return Codec(
        lambda value, buffers: [part.encode(one, buffers) for part, one in zip(parts, value, strict=True)],
        lambda value, buffers: tuple(
            part.decode(one, buffers) for part, one in zip(parts, _listed(value), strict=True)
        ),
    )  # fmt: skip


def _one_of(parts: Sequence[Codec], kinds: Sequence[Any]) -> Codec:
    """Of one of several types: None as such, and else the number of the type with the value."""
    classes = [get_origin(kind) or kind for kind in kinds]

    def encode(value: Any, buffers: list[bytes]) -> Any:
        if value is None:
            return None
        for number, one in enumerate(classes):
            if one is Any or one is Literal or isinstance(value, one):
                return [number, parts[number].encode(value, buffers)]
        return _never(type(value))

    def decode(value: Any, buffers: Sequence[memoryview]) -> Any:
        if value is None and type(None) in classes:
            return None
        number, part = _listed(value)
        if not 0 <= _whole(number) < len(parts):
            raise Unfit("holds another type")
        return parts[number].decode(part, buffers)

    return Codec(encode, decode)


def _array(kind: type) -> Codec:
    """Of arrays of numbers of a kind: their type, their shape and where their bytes are."""

    def encode(value: Any, buffers: list[bytes]) -> Any:
        dtype = value.dtype.str if value.dtype.names is None else value.dtype.descr
        _dtype(dtype)
        return [dtype, value.shape, _add(value.tobytes(), buffers)]

    def decode(value: Any, buffers: Sequence[memoryview]) -> Any:
        named, shape, place = _listed(value)
        dtype, data = _dtype(named), _buffer(place, buffers)
        if not issubclass(dtype.type, kind) or math.prod(map(_size, _listed(shape))) * dtype.itemsize != len(data):
            raise Unfit("holds an array of another kind or size")
        return np.frombuffer(data, dtype).reshape(shape).copy()

    return Codec(encode, decode)


def _size(value: Any) -> int:
    if _whole(value) < 0:
        raise Unfit("holds a negative size")
    return int(value)


def _dtype(named: Any) -> np.dtype[Any]:
    """A type of numbers, or of records of them."""
    fields = [("", named)] if isinstance(named, str) else [tuple(one) for one in _listed(named)]
    if not all(type(name) is str and type(one) is str and _NUMBERS.fullmatch(one) for name, one in fields):
        raise Unfit("holds an array of no numbers")
    return np.dtype(named if isinstance(named, str) else fields)
