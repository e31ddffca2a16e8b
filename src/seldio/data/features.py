"""Columns as the library ``datasets`` describes them: in the metadata of a Parquet file and on a card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

#: A file inside a table, as ``datasets`` stores recordings and videos.
FILE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
#: Where ``datasets`` looks for the features of a table.
KEY = b"huggingface"

Feature = dict[str, Any]
_NAMES = {"double": "float64", "float": "float32"}


def audio(rate: int | None) -> Feature:
    """A recording; all its channels are in its bytes, whatever a decoder makes of them."""
    return ({"sampling_rate": rate} if rate is not None else {}) | {"_type": "Audio"}


VIDEO: Feature = {"_type": "Video"}


def class_label(names: Sequence[str]) -> Feature:
    """A class number with the names of the classes."""
    return {"names": list(names), "_type": "ClassLabel"}


def feature(kind: pa.DataType) -> Feature:
    """A column of an Arrow type."""
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    if pa.types.is_dictionary(kind):
        return feature(kind.value_type)
    return {"dtype": _NAMES.get(str(kind), str(kind)), "_type": "Value"}


def described(schema: pa.Schema, known: Mapping[str, Feature]) -> dict[str, Feature]:
    """The features of a schema; those that its types do not tell are *known*."""
    return {field.name: known[field.name] if field.name in known else feature(field.type) for field in schema}


def metadata(features: Mapping[str, Feature]) -> dict[bytes, bytes]:
    """The features as metadata of a schema."""
    return {KEY: json.dumps({"info": {"features": features}}, ensure_ascii=False).encode()}
