"""The questions about a clip, with the moments that prove their answers."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from typing import Any

from seldio.conversion.items import read_items
from seldio.errors import UsageError
from seldio.schema.qa import Item, Proof
from seldio.text import plural, printable

#: Questions that a page lists; what is beyond is counted.
MOST_QUESTIONS = 500


def questions_of(path: str | os.PathLike[str], stem: str) -> tuple[list[dict[str, Any]], str]:
    """The questions of a file that are about the clip *stem*, and a sentence where there is something to say.

    Items belong to the clip if one of their recordings bears its name, or was cut from one that does.

    Raises:
        UsageError: the file holds no questions.
        SeldioError: the disk fails.
    """
    found: list[str] = []
    readings = read_items(path, None, lambda finding: found.append(finding.code))
    rows = [row for reading in readings for row in reading.rows if isinstance(row, Item)]
    if not rows:
        raise UsageError(f"no questions in {printable(os.fspath(path))}; seldio info says what it holds")
    about = [row for row in rows if stem in map(_stem, _recordings(row))]
    told = []
    if not about:
        told.append(f"None of the {plural(len(rows), 'question')} in the file is about {printable(stem)}.")
    if len(about) > MOST_QUESTIONS:
        told.append(f"{len(about) - MOST_QUESTIONS:,} more are not shown.")
    if found:
        told.append(f"The file has {plural(len(found), 'finding')}: seldio validate lists them.")
    return [_record(row) for row in about[:MOST_QUESTIONS]], " ".join(told)


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path.replace("\\", "/")))[0]


def _extra(item: Item, *keys: str) -> Any:
    value: Any = item.extra
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _recordings(item: Item) -> Iterator[str]:
    yield from item.audio
    origin = _extra(item, "cut_from", "audio")
    if isinstance(origin, str):
        yield origin


def _bound(item: Item, name: str) -> float | None:
    """Where in the recording the item begins or ends; formats without a place for it keep it elsewhere."""
    given = (getattr(item, name), _extra(item, name), _extra(item, "cut_from", name))
    return next((float(value) for value in given if isinstance(value, int | float)), None)


def _lines(text: str | None) -> str | None:
    return None if text is None else "\n".join(map(printable, text.splitlines()))


def _record(item: Item) -> dict[str, Any]:
    start = _bound(item, "start")
    return {
        "id": printable(item.id),
        "task": None if item.task is None else printable(item.task),
        "question": _lines(item.question),
        "options": None if item.options is None else [_lines(option) for option in item.options],
        "answer": _lines(item.answer if item.answer is not None else item.canonical_answer),
        "start": start,
        "end": _bound(item, "end"),
        "language": item.language,
        "moments": list(_moments(item, start or 0.0)),
    }


def _moments(item: Item, start: float) -> Iterator[dict[str, Any]]:
    """What can be jumped to: events that prove the answer, or else the times of the answer; seconds of the clip."""
    proofs = [proof for proof in item.events or () if proof.onset is not None]
    yield from (_moment(_proof(proof), proof.onset, proof.offset, start) for proof in proofs)
    meta = item.answer_meta
    if proofs or meta is None:
        return
    if meta.time_span is not None:
        yield _moment("the answer", meta.time_span[0], meta.time_span[1], start)
    if meta.onset_time is not None:
        yield _moment("the answer", meta.onset_time, None, start)


def _moment(text: str, onset: float | None, offset: float | None, start: float) -> dict[str, Any]:
    end = None if offset is None else round(start + offset, 3)
    return {"text": text, "t": round(start + (onset or 0.0), 3), "end": end}


def _proof(proof: Proof) -> str:
    where = f" at {proof.azimuth:g}°" if proof.azimuth is not None else ""
    return f"{printable(proof.class_name)}{where}"
