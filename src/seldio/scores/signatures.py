"""What a score of answers rests on, in one line: version, way of scoring, judge, and digests of what was compared.

Digests are of rows, not of files: the same questions or replies have the same one in any format, order and layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from typing import NamedTuple
from urllib.parse import urlsplit

from seldio.errors import UsageError
from seldio.schema.qa import Item, Prediction

_ASKED = ("id", "audio", "task", "question", "options", "answer", "canonical_answer")
_SAID = ("id", "prompt", "prediction")
#: What programs read besides a prediction.
_BESIDE = ("prediction_cleaned", "prediction_raw", "llama3_extract")
_FORM = re.compile(r"seldio ([^|]+)\|([^|\[]+)(\[[^|]*\])?\|([^|]*)\|ref ([^|]+)\|pred ([^|]+)")
NONE = "none"


class Signature(NamedTuple):
    """The parts of one."""

    version: str
    profile: str
    settings: str  # options that are not as usual
    judge: str
    reference: str
    predictions: str

    def __str__(self) -> str:
        settings = f"[{self.settings}]" if self.settings else ""
        return (
            f"seldio {self.version}|{self.profile}{settings}|{self.judge}|ref {self.reference}|pred {self.predictions}"
        )

    @classmethod
    def parsed(cls, text: str) -> Signature:
        """The inverse of ``str``.

        Raises:
            UsageError: *text* is none.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError("a signature looks like 'seldio 0.2.0|so-bench|no judge|ref 9f3c…|pred 1a2b…'")
        made, profile, settings, judge, reference, predictions = match.groups()
        return cls(made, profile, (settings or "")[1:-1], judge, reference, predictions)

    @property
    def uncompared(self) -> str:
        """What :meth:`differences` does not compare, as no file at hand holds it; empty where there is nothing."""
        judge = "" if self.judge == "no judge" else self.judge
        return ", ".join(filter(None, (judge, self.settings and f"settings {self.settings}")))

    def differences(self, files: Signature) -> list[str]:
        """In words, what is otherwise in the *files* at hand."""
        pairs = (
            ("seldio", self.version, files.version),
            ("the questions", self.reference, files.reference),
            ("the predictions", self.predictions, files.predictions),
        )
        return [f"{what}: {one} in the signature, {other} here" for what, one, other in pairs if one != other]


def signature(
    profile: str,
    items: Sequence[Item] | None,
    outputs: Sequence[Prediction],
    settings: Mapping[str, object],
    judge: str,
) -> Signature:
    """That of a score."""
    given = ",".join(name if value is True else f"{name}={value}" for name, value in sorted(settings.items()) if value)
    asked = NONE if items is None else digest([getattr(row, name) for name in _ASKED] + [_truth(row)] for row in items)
    said = digest(
        [*(getattr(row, name) for name in _SAID), *((row.extra or {}).get(name) for name in _BESIDE)] for row in outputs
    )
    return Signature(version("seldio"), profile, given, judge, asked, said)


def _truth(item: Item) -> object:
    meta = item.answer_meta
    return None if meta is None else {name: value for name, value in sorted(meta.__dict__.items()) if value is not None}


def digest(rows: Iterable[Sequence[object]]) -> str:
    """Of rows, whatever their order: the sum of their hashes."""
    total = 0
    for row in rows:
        total += int.from_bytes(sha256(json.dumps(row, ensure_ascii=True, default=vars).encode()).digest(), "big")
    return sha256(str(total).encode()).hexdigest()[:12]


def judged_by(model: str | None, url: str | None, judgements: bytes | None) -> str:
    """Who judged, as a signature has it."""
    if judgements is not None:
        return f"judgements {sha256(judgements).hexdigest()[:12]}"
    return "no judge" if model is None else f"judge {model}@{urlsplit(url or '').netloc}".replace("|", "/")
