"""Judgements made elsewhere: JSON Lines with an ``id`` and a ``judgement`` on each line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from seldio.errors import DataError
from seldio.findings import raise_errors
from seldio.formats.json_text import parse_lines
from seldio.scores.judge.replies import Reply
from seldio.text import clipped, printable

#: Text as a judge wrote it, or the verdict as an object.
Judgement = str | dict[str, Any]


def read_judgements(data: bytes, path: str) -> dict[str, Judgement]:
    """The judgements of a file, by id.

    A judgement is a text as the judge wrote it, or an object; numbers as ids are written out. Further keys are
    not looked at.

    Raises:
        DataError: a line is no JSON object, has no id or no judgement, or repeats an id.
    """
    found: dict[str, Judgement] = {}
    for document in parse_lines(data, path, raise_errors):
        record, place = document.value, f"{printable(path)}:{document.first_line}"
        if not isinstance(record, dict):
            raise DataError(f'{place}: no object: a line is {{"id": ..., "judgement": ...}}')
        id, judgement = record.get("id"), record.get("judgement")
        if not isinstance(id, str | int) or isinstance(id, bool) or id == "":
            raise DataError(f"{place}: no id, a text or a whole number: judgements are joined by it")
        if not isinstance(judgement, str | dict):
            raise DataError(f"{place}: no judgement, the judge's text or an object, for id {clipped(str(id), 40)}")
        if str(id) in found:
            raise DataError(f"{place}: id {clipped(str(id), 40)} is there twice: which judgement counts?")
        found[str(id)] = judgement
    return found


def write_judgements(replies: Iterable[Reply]) -> bytes:
    """The judgements of *replies* as :func:`read_judgements` takes them.

    What failed is left out; a reply that could not be read keeps its text.
    """
    lines = (
        json.dumps(
            {"id": reply.id, "judgement": reply.text if reply.verdict is None else reply.verdict, "model": reply.model},
            ensure_ascii=False,
        )
        for reply in replies
        if not reply.failed
    )
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
