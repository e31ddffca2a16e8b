"""Replies of models, as a person reads them: written from their meaning, before what reads them.

A row of ``cases/answers/replies.jsonl`` is the options, a reply and the option that it gives; null where a person would
not be sure either.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from growing import grows_no_faster

from seldio.answers.options import read_option

ROWS: list[tuple[list[str], str, str | None]] = [
    tuple(json.loads(line))
    for line in (Path(__file__).parent / "cases/answers/replies.jsonl").read_text("utf-8").splitlines()
]


def test_there_are_many_replies() -> None:
    assert len({(tuple(options), text) for options, text, _ in ROWS}) == len(ROWS) > 200


def test_replies_are_read_as_a_person_reads_them() -> None:
    """Each reply that is read otherwise, with what is read and what it says."""
    found = [(text, read_option(text, options), says) for options, text, says in ROWS]

    assert [] == [row for row in found if row[1] != row[2]]


@pytest.mark.parametrize("bit", ["<think>", "answer: ", "the answer is ", "flute ", "**flute** ", "not ", "\\boxed{", "or ", "\n", "B) ",
                                 "Ответ: ", "<answer>", "answer ", "a violin, "])  # fmt: skip
def test_the_time_for_long_replies_grows_with_them_and_no_faster(bit: str) -> None:
    assert grows_no_faster(lambda length: read_option(bit * (length // len(bit)), ["violin", "flute"]), 50_000)
