"""Predictions as MERA takes them: ``{"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}`` in a zip."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seldio.errors import InvalidData, UsageError
from seldio.files.archives import zipped
from seldio.findings import Sink
from seldio.formats import json_text
from seldio.formats.base import Place
from seldio.formats.items import ItemFormat, ItemReading, Row
from seldio.formats.json_layout import Layout, layout_of
from seldio.formats.json_text import Pointer, Record
from seldio.formats.mera import (
    AS_WRITTEN,
    MeraProblem,
    dig,
    id_text,
    id_value,
    kept,
    kind,
    records_at,
)
from seldio.reader_rules import reader_rule
from seldio.schema.qa import Item, Prediction
from seldio.text import clipped

SPLIT = "test"
_FIELDS: dict[str, Pointer] = {"id": ("meta", "id"), "prediction": ("outputs",)}
_SHAPE = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"data"\s*:|\[\s*\{\s*"(?:outputs|meta)"\s*:)')
_LAYOUT = Layout(
    '{\n    "data": {\n        "test": [',
    "\n            ",
    ",",
    "\n        ]\n    }\n}",
    "    ",
    separators=(",", ": "),
)
_HINT = 'a submission is {"data": {"test": [{"outputs": "B", "meta": {"id": 1}}]}}'


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeraSubmission(ItemFormat):
    """A task's file of a submission; the zip around it is opened elsewhere, :func:`submission_zip` makes it."""

    def likes(self, data: bytes, name: str) -> float:  # noqa: ARG002
        """See :meth:`ItemFormat.likes`."""
        head = data[: 1 << 16]
        if not _SHAPE.match(head) or b'"inputs"' in head:
            return 0.0
        return 0.95 if b'"outputs"' in head and b'"meta"' in head else 0.2

    def read(self, data: bytes, path: str, sink: Sink) -> ItemReading | None:
        """See :meth:`ItemFormat.read`; ``left_out`` of the origin has the ids of outputs that are not text."""
        document = json_text.parse(data, path, sink)
        loaded = None if document is None else _load(document, data, sink)
        if loaded is None:
            return None
        given, layout = loaded
        rows: list[Prediction] = []
        records: list[Record] = []
        left_out: list[str] = []
        for record in given:
            problems = list(_problems(record.value))
            for problem in problems:
                sink(record.finding(*problem))
            if not problems:
                row = _prediction(record.value)
                rows.append(kept(row, record.value, _built(row, dict(row.extra or {}))))
                records.append(record)
            else:
                left_out.append(id_text(dig(record.value, "meta", "id")) or "")
        origin: dict[str, object] = {"layout": dataclasses.asdict(layout), "left_out": left_out}

        def locate(row: int, field: str | None, number: int | None) -> Place:  # noqa: ARG001
            return records[row].place(_FIELDS.get(field or "", ()))

        return ItemReading(self, path, rows, locate, origin)

    def write(self, rows: Sequence[Row], origin: dict[str, object] | None = None) -> bytes:
        """See :meth:`ItemFormat.write`."""
        layout = layout_of((origin or {}).get("layout"), _LAYOUT)
        return layout.file([layout.record(_record(row)) for row in rows if isinstance(row, Prediction)]).encode()

    def template(self, items: Sequence[Item]) -> list[Prediction]:
        """See :meth:`ItemFormat.template`; MERA numbers its questions."""
        for item in items:
            if type(id_value(item.id)) is not int:
                what = f"{clipped(item.id, 30)} is not a number"
                raise UsageError(f"answers in {self.name} are matched by question number, but {what}")
        return super().template(items)


def submission_zip(tasks: Mapping[str, Sequence[Prediction]], logs: bytes | None = None) -> bytes:
    """Pack a submission: a file for each task (``ruEnvAQA``) and the logs; equal input gives equal bytes."""
    members = {f"{name}.json": SUBMISSION.write(rows) for name, rows in tasks.items()}
    return zipped(members | ({} if logs is None else {"logs_public.zip": logs}))


def _load(document: json_text.JsonDocument, data: bytes, sink: Sink) -> tuple[list[Record], Layout] | None:
    value = document.value
    if isinstance(value, list):
        message = "a bare list of answers: MERA's server looks for the field data"
        sink(document.finding("PRD117", message, (), hint=_HINT))
        return records_at(document, (), data)
    if not isinstance(value, dict) or "data" not in value:
        sink(document.finding("PRD111", "the field data is missing", (), hint=_HINT))
        return None
    if not isinstance(dig(value, "data", SPLIT), list):
        message = f"the split {SPLIT} has no list of answers"
        sink(document.finding("PRD112", message, ("data",), hint=_HINT))
        return None
    return records_at(document, ("data", SPLIT), data)


def _problems(value: Any) -> Iterator[MeraProblem]:
    """Yield the faults of an answer that MERA's validator would find."""
    if not isinstance(value, dict) or "outputs" not in value:
        yield MeraProblem("PRD113", "this answer has no field outputs", (), _HINT)
    elif not isinstance(value["outputs"], str):
        message = f"outputs is {kind(value['outputs'])}, not text"
        yield MeraProblem("PRD116", message, ("outputs",), "write the letter of the option as text")
    if not isinstance(value, dict) or "meta" not in value:
        yield MeraProblem("PRD114", "this answer has no field meta", (), _HINT)
    elif not isinstance(value["meta"], dict) or "id" not in value["meta"]:
        yield MeraProblem("PRD115", "this answer has no id in its meta", ("meta",), _HINT)
    elif id_text(value["meta"]["id"]) is None:
        message = f"the id is {kind(value['meta']['id'])}, not a whole number"
        yield MeraProblem("PRD115", message, ("meta", "id"), "write the question's number")


def _prediction(value: dict[str, Any]) -> Prediction:
    meta = {key: part for key, part in value["meta"].items() if key != "id"}
    remaining = {key: part for key, part in value.items() if key not in ("outputs", "meta")}
    extra = remaining | ({"meta": meta} if meta else {})
    fields = {"id": id_text(value["meta"]["id"]), "prediction": value["outputs"], "extra": extra or None}
    return Prediction.model_validate(fields)


def _record(row: Prediction) -> dict[str, Any]:
    if row.id is None:
        raise InvalidData(reader_rule("PRD115").at("<predictions>", "a prediction has no id", _HINT))
    extra = dict(row.extra or {})
    written = extra.pop(AS_WRITTEN, None)
    if isinstance(written, dict) and not list(_problems(written)):
        old = _prediction(written)
        old_extra = {key: value for key, value in (old.extra or {}).items() if key != AS_WRITTEN}
        if (old.id, old.prediction, old_extra) == (row.id, row.prediction, extra):
            return written
    return _built(row, extra)


def _built(row: Prediction, extra: dict[str, Any]) -> dict[str, Any]:
    given = extra.pop("meta", {})
    meta = given if isinstance(given, dict) else {}
    return {"outputs": row.prediction or "", "meta": {"id": id_value(row.id or "")} | meta} | extra


SUBMISSION = MeraSubmission(
    name="ruenvaqa-submission",
    title="MERA submission: letters by question number, as JSON in a zip",
    holds="predictions",
    carries=("id", "prediction", "extra"),
    needs=("id", "prediction"),
    suffix=".json",
    aliases=("mera-submission",),
    source="https://github.com/MERA-Evaluation/MERA_MULTIMODAL/blob/main/scripts/log_to_submission.py",
    note="The file is named ruEnvAQA.json, after the task's class. Any error in it scores 0 for the whole task.",
)
