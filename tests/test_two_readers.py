"""Replies as models give them, labelled by two readers who saw neither each other's labels nor what seldio reads.

``cases/answers/two-readers.jsonl`` has the question, the options or the unit, the reply and both labels: what it says (the
number of an option from 1, 0 for none; a number in the unit, or a range; yes or no), what is needed to find it (form,
number, meaning), and whether another careful reader may well say something else. Both followed
``cases/answers/labelling.md``. A reply counts where they agree.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from seldio.answers.bearings import yes_no
from seldio.answers.measures import QUANTITIES
from seldio.answers.options import read_option
from seldio.answers.plain_text import plainly

CASES = Path(__file__).parent / "cases" / "answers"
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (CASES / "two-readers.jsonl").read_text("utf-8").splitlines()
]
#: The readers of quantities, by what was asked.
READERS = {"azimuth": "azimuth", "elevation": "elevation", "distance": "distance", "time": "onset", "count": "count"}
#: The least share of replies that is read, by what reading them needs. The replies whose id begins with *s* were
#: counted before they were looked at; what they need that is not their form, such as what a yes means to a comparison
#: ("The car is farther away."), is left unread.
LEAST = {
    "looked at": {"form": 0.94, "quantity": 0.90, "russian": 0.90, "yesno": 0.80},
    "held out": {"form": 0.83, "quantity": 0.85, "russian": 0.90, "yesno": 0.55},
}


def same(one: Any, other: Any, quantity: str | None) -> bool:
    """Whether two readings are one: numbers up to a hundredth, a turn apart for azimuths, anywhere in a range."""
    if isinstance(other, list):
        return isinstance(one, list | tuple) or (one is not None and min(other) - 1e-6 <= one <= max(other) + 1e-6)
    if quantity is None or one is None or other is None or isinstance(one, list | tuple):
        return bool(one == other)
    turn = quantity == "azimuth" and abs(abs(one - other) - 360) < 1e-6
    return bool(turn or abs(one - other) <= 0.011 * max(1, abs(other)))


def said(row: dict[str, Any]) -> Any:
    """What the readers agree that a reply says; ``...`` where they do not."""
    one, other = (label["says"] or None if row["kind"] == "options" else label["says"] for label in row["labels"])
    return one if same(one, other, row.get("quantity")) else ...


def read(row: dict[str, Any]) -> Any:
    """What seldio reads in a reply."""
    if row["kind"] == "options":
        found = read_option(row["reply"], row["options"])
        return row["options"].index(found) + 1 if found is not None else None
    text = plainly(row["reply"])
    if row["kind"] == "quantity":
        return QUANTITIES[READERS[row["quantity"]]](text)
    return {True: "yes", False: "no", None: None}[yes_no(text)]


def need(row: dict[str, Any]) -> str:
    """What reading a reply needs."""
    if row["kind"] != "options":
        return str(row["kind"])
    needs = {label["need"] for label in row["labels"]}
    return "meaning" if "meaning" in needs else "russian" if row["language"] == "ru" else "form"


def test_two_readers_agree() -> None:
    agreed = [said(row) is not ... for row in ROWS]

    assert len(ROWS) > 1_500
    assert sum(agreed) > 0.99 * len(ROWS)


@pytest.mark.parametrize("which", LEAST)
def test_replies_are_read_as_two_people_read_them(which: str) -> None:
    rows = [row for row in ROWS if said(row) is not ... and row["id"].startswith("s") == (which == "held out")]
    told = {row["id"]: (said(row), read(row)) for row in rows}
    right = {
        row["id"] for row in rows
        if told[row["id"]][0] is not None and same(told[row["id"]][1], told[row["id"]][0], row.get("quantity"))
    }  # fmt: skip
    wrong = [row for row in rows if row["id"] not in right and told[row["id"]][1] is not None]
    wanted = Counter(need(row) for row in rows if told[row["id"]][0] is not None)
    found = Counter(need(row) for row in rows if row["id"] in right)
    shares = {name: found[name] / wanted[name] for name in LEAST[which]}

    assert [name for name, share in shares.items() if share < LEAST[which][name]] == [], shares
    assert len(wrong) <= 0.01 * len(rows), [(row["reply"], *told[row["id"]]) for row in wrong]
