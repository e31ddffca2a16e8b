"""The JSON Schemas and the models accept and reject the same documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from seldio import plugins
from seldio.formats import cells
from seldio.schema.dataset_file import KINDS, check
from seldio.schemas import SCHEMAS

FOLDER = Path(__file__).parent.parent / "schemas"


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
