"""SO-Bench's questions in Russian: the same facts as in English, in native grammar, answered again from labels."""

from __future__ import annotations

import pyarrow as pa
import pytest
from test_questions import walkers

from seldio import synth
from seldio.schema.qa import Item
from seldio.tasks import Generated, generate


@pytest.fixture(scope="module")
def table() -> pa.Table:
    tables = [synth.labels(f"mix{seed:03}", synth.scene(seed, 60.0, 10)) for seed in range(20)]
    tables += [synth.labels(f"walk{seed:03}", walkers(seed)) for seed in range(4)]
    return pa.concat_tables(table.replace_schema_metadata() for table in tables).unify_dictionaries()


@pytest.fixture(scope="module")
def english(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}")


@pytest.fixture(scope="module")
def russian(table: pa.Table) -> Generated:
    return generate(table, seed=7, audio_pattern="{clip}", language="ru")


def facts(item: Item) -> dict[str, object]:
    """All of an item but its words, its id and its language."""
    return item.model_dump(exclude={"id", "question", "answer", "language"})


def test_the_facts_are_those_of_the_english_questions(english: Generated, russian: Generated) -> None:
    assert list(map(facts, russian.items)) == list(map(facts, english.items))
    assert russian.skipped == english.skipped
    assert {item.language for item in russian.items} == {"ru"}
    ids = {item.id for item in russian.items}
    assert len(ids) == len(russian.items)
    assert ids.isdisjoint(item.id for item in english.items)
