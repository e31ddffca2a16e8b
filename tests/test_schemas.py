"""The JSON Schemas and the models accept and reject the same documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from seldio import plugins
from seldio.formats import cells
from seldio.schema.clips import Clip
from seldio.schema.dataset_file import KINDS, check
from seldio.schema.event_rows import Event
from seldio.schema.qa import Item, Prediction
from seldio.schemas import SCHEMAS

MODELS: dict[str, type[BaseModel]] = {"clip": Clip, "event": Event, "item": Item, "prediction": Prediction}
FOLDER = Path(__file__).parent.parent / "schemas"

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBER = st.one_of(
    st.integers(-200, 200),
    st.sampled_from([-180, 180, 90.5, -90, 1.0, 2.5, 0, -0.0, 2**31, 2**63, 1e300]),
    st.floats(allow_nan=False, allow_infinity=False),
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_checked_in_schema_is_the_generated_one(name: str) -> None:
    written = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))

    jsonschema.Draft202012Validator.check_schema(written)
    assert json.loads(json.dumps(SCHEMAS[name]()), object_hook=_said_once) == written


def _said_once(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the list of one value that pydantic before 2.10 writes with a constant."""
    return {key: value for key, value in schema.items() if key != "enum" or "const" not in schema}


def test_every_file_of_a_dataset_is_what_its_schema_says() -> None:
    schema = jsonschema.Draft202012Validator(SCHEMAS["dataset"]())
    names = [str(record["name"]) for record in plugins.datasets()]
    assert len(set(names)) == len(names) > 10
    for record in plugins.datasets():
        assert [] == [error.message for error in schema.iter_errors(record)], record["name"]
        check({**record, "place": record["name"]})
    assert set(KINDS) == set(cells.KINDS)


def values(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Documents that often fit *schema*, and often just miss it."""
    if "$ref" in schema:
        return values(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return st.one_of(*(values(option, root) for option in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "object" and "properties" in schema:
        exact = {key: values(part, root) for key, part in schema["properties"].items()}
        required = {key: exact.pop(key) for key in schema.get("required", [])}
        loose = {key: st.one_of(part, JSON) for key, part in exact.items()}
        return st.one_of(
            st.fixed_dictionaries(required, optional=exact), st.fixed_dictionaries(required, optional=loose)
        )
    if kind == "array":
        return st.lists(values(schema.get("items", {}), root), max_size=3)
    plain = {"string": TEXT, "number": NUMBER, "integer": NUMBER, "boolean": st.booleans(), "null": st.none()}
    return plain.get(kind, JSON)


def accepts(model: type[BaseModel], document: Any) -> bool:
    try:
        model.model_validate_json(json.dumps(document))
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("name", MODELS)
@given(data=st.data())
def test_validator_and_model_agree(name: str, data: st.DataObject) -> None:
    schema = SCHEMAS[name]()
    document = data.draw(values(schema, schema))

    assert jsonschema.Draft202012Validator(schema).is_valid(document) == accepts(MODELS[name], document)
