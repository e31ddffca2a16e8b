"""The layers by which a reply is read, in their order: the table of ``layers.toml``, bound to what reads each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from seldio.answers.measures import QUANTITIES
from seldio.answers.options import READINGS, final_answer
from seldio.answers.plain_text import TAKEN_OFF, plainly


class Layer(NamedTuple):
    """One step of reading a reply."""

    name: str
    does: str  # what it takes off or reads
    examples: list[tuple[str, str]]  # replies, and what is left or read of them; empty where nothing is
    options: list[str]  # those of the examples

    def read(self, reply: str) -> str:
        """What the layer makes of a reply to the question of its examples."""
        if self.name in QUANTITIES:
            found: object = QUANTITIES[self.name](plainly(reply))
        elif self.name in READINGS:
            found = READINGS[self.name](reply, self.options)
        else:
            found = TAKEN_OFF.get(self.name, final_answer)(reply)
        return "" if found is None else str(found).strip()


@cache
def layers() -> tuple[Layer, ...]:
    """All of them."""
    rows = tomllib.loads(files(__package__ or "").joinpath("layers.toml").read_text("utf-8"))["layer"]
    return tuple(
        Layer(row["name"], row["does"], [*map(tuple, row["examples"])], row.get("options", [])) for row in rows
    )
