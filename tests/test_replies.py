"""Replies of models, as a person reads them: written from their meaning, before what reads them.

A row of ``cases/answers/replies.jsonl`` and ``sentences.jsonl`` is the options, a reply and the option that it gives; null where a person would
not be sure either. One of ``quantities.jsonl`` is what is asked for, a reply and the number that it gives.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from growing import grows_no_faster

from seldio.answers.bearings import yes_no
from seldio.answers.counts import number_of
from seldio.answers.measures import QUANTITIES
from seldio.answers.options import read_option
from seldio.answers.plain_text import plainly
from seldio.answers.quantities import count

CASES = Path(__file__).parent / "cases/answers"
ROWS: list[tuple[list[str], str, str | None]] = [
    tuple(json.loads(line))
    for name in ("replies", "sentences")
    for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()
]


def test_there_are_many_replies() -> None:
    assert len({(tuple(options), text) for options, text, _ in ROWS}) == len(ROWS) > 200


def test_replies_are_read_as_a_person_reads_them() -> None:
    """Each reply that is read otherwise, with what is read and what it says."""
    found = [(text, read_option(text, options), says) for options, text, says in ROWS]

    assert [] == [row for row in found if row[1] != row[2]]


def test_numbers_in_replies_are_read_as_a_person_reads_them() -> None:
    rows = [json.loads(line) for line in (CASES / "quantities.jsonl").read_text("utf-8").splitlines()]
    found = [(asked, reply, says, QUANTITIES[asked](plainly(reply))) for asked, reply, says in rows]

    assert len({(asked, reply) for asked, reply, _ in rows}) == len(rows) > 600
    assert [] == [row for row in found if row[3] != (row[2] if row[2] is None else pytest.approx(row[2], abs=0.01))]


@pytest.mark.parametrize("piece", ["2 m, no, ", "3 times ", "a dog, ", "1, 2 and ", "второй "])
def test_the_time_for_long_quantities_grows_with_them_and_no_faster(piece: str) -> None:
    def read(length: int) -> None:
        text = plainly(piece * (length // len(piece)))
        for asked in ("azimuth", "distance", "onset", "count"):
            QUANTITIES[asked](text)

    assert grows_no_faster(read, 2_000)


@pytest.mark.parametrize("bit", ["<think>", "answer: ", "the answer is ", "flute ", "**flute** ", "not ", "\\boxed{", "or ", "\n", "B) ",
                                 "Ответ: ", "<answer>", "answer ", "a violin, "])  # fmt: skip
def test_the_time_for_long_replies_grows_with_them_and_no_faster(bit: str) -> None:
    assert grows_no_faster(lambda length: read_option(bit * (length // len(bit)), ["violin", "flute"]), 50_000)


@pytest.mark.parametrize("bit", ["so, ", "well. ", "3, ", "a dog and ", "but no, "])
def test_the_time_for_numbers_and_statements_grows_with_them_and_no_faster(bit: str) -> None:
    for read in (yes_no, number_of, count):
        assert grows_no_faster(lambda length, read=read: read(bit * (length // len(bit))), 20_000)
