"""Benchmarks of questions as data: one TOML file for each, called like the format of its questions.

A file says how many questions there are, which values the fields of a record hold, which of them go with which task,
what the recordings are like, and what models are asked. Rules, scores, questions from labels and the JSON Schemas are
made from it, so that each of these sets stands in one place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FieldValues:
    """The values that a field of a record holds."""

    name: str
    values: tuple[str, ...] = ()
    wrong: str = ""  # of those that are not listed, a regular expression of what they are not
    has: str = ""  # the values in words, where they are not listed
    needed: bool = False  # whether each record has one
    path: tuple[str, ...] = ()  # the keys that lead to it in a record; its name alone if empty
    column: str = ""  # of questions as a table, that which holds it; empty where it is among the further keys
    #: what a record has that is none of the benchmark's, in any of these places (``meta.audio_id``): any value will do
    unless: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)  # of all questions, by value

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that lead to it."""
        return self.path or (self.name,)

    @property
    def field(self) -> str:
        """The field of questions that holds it; its own name where it is among the further keys."""
        return self.column.partition(".")[0] or self.name


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """The record of a benchmark."""

    format: str  # of its questions
    title: str
    sizes: tuple[int, ...] = ()  # how many questions are published
    near: int = 0  # so many more or fewer look like all of them
    numbered: bool = False  # whether their ids count from 1 to the first of the sizes
    task: tuple[str, ...] = ()  # the keys that lead to the task of a record
    #: what belongs to each task: the value of a field under its name, ``options`` with the texts of all, or their
    #: ``count``; the others are those of a :class:`~seldio.tasks.specs.TaskSpec`
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fields: tuple[FieldValues, ...] = ()
    #: ``rate``, ``channels``, the ``seconds`` from and to, those that are ``heard``, rates that are ``known`` by path;
    #: ``where`` names a field by whose value a question is the benchmark's own, and with ``aside`` the keys start and
    #: end give the part that is meant
    recordings: Mapping[str, Any] = field(default_factory=dict)
    instructions: tuple[str, ...] = ()  # what is asked about every recording

    @cached_property
    def of_tasks(self) -> Mapping[str, Mapping[str, str]]:
        """By the name of a field and a task, the one value that goes with it."""
        return {
            field.name: {
                task: keys[field.name]
                for task, keys in self.tasks.items()
                if field.name in keys.keys() - {*keys.get("anywhere", ())}
            }
            for field in self.fields
        }


@cache
def find(format: str) -> Benchmark | None:
    """Return the benchmark whose questions have this format, if there is one."""
    file = Path(__file__).parent / f"{format}.toml"
    if not format or not file.is_file():
        return None
    record: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    values = tuple(FieldValues(name=name, **_tuples(keys)) for name, keys in record.pop("fields", {}).items())
    tasks = {task["name"]: task for task in record.pop("tasks", ())}
    return Benchmark(fields=values, tasks=tasks, **_tuples(record))


def benchmark(format: str) -> Benchmark:
    """Return the benchmark whose questions have this format, which is one of ours."""
    record = find(format)
    assert record is not None, format
    return record


def prompts(name: str) -> dict[str, str]:
    """Return the texts that ask a judge about answers to a benchmark, by what each is called."""
    folder = Path(__file__).parent / "judges" / name
    return {file.name.removesuffix(".txt"): file.read_text("utf-8") for file in folder.iterdir()}


def _tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
