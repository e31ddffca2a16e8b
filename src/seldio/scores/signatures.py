"""Sign a score in one line: version, way of scoring, judge, and digests of what was compared.

Digests are of rows, not of files: the same labels, questions or replies have the same one in any format and
order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from seldio.errors import UsageError
from seldio.plugins import version

if TYPE_CHECKING:
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
        """Return the signature that *text* is.

        Raises:
            UsageError: it is none.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise UsageError("a signature looks like 'seldio 0.3.0|so-bench|no judge|ref 9f3c…|pred 1a2b…'")
        made, profile, settings, judge, reference, predictions = match.groups()
        return cls(made, profile, (settings or "")[1:-1], judge, reference, predictions)

    @property
    def options(self) -> dict[str, str | bool]:
        """Return the settings by name; flags are true."""
        pairs = (pair.partition("=") for pair in self.settings.split(",") if pair)
        return {name: value if equals else True for name, equals, value in pairs}

    def differences(self, here: Signature, reference: str = "the questions") -> list[str]:
        """Return in words what is otherwise *here*; *reference*: what predictions are compared with.

        Of a comparison, one of the systems is enough.
        """
        if here.predictions in self.predictions.split("+"):
            here = here._replace(predictions=self.predictions)
        named = zip(("seldio", "", "the settings", "the judge", reference, "the predictions"), self, here, strict=True)
        return [
            f"{what}: {signed or NONE} in the signature, {given or NONE} here"
            for what, signed, given in named
            if what and signed != given
        ]


def given(settings: Mapping[str, object] | str) -> str:
    """Return settings as a signature has them, sorted by name, without those that are off."""
    if isinstance(settings, str):
        return ",".join(sorted(filter(None, map(str.strip, settings.strip("[]").split(",")))))
    return ",".join(
        name if value is True else f"{name}={f'{value:.15g}' if isinstance(value, float) else value}"
        for name, value in sorted(settings.items())
        if value is not None and value is not False and value != ""
    )


def of_comparison(signatures: Sequence[Signature], settings: Mapping[str, object]) -> Signature:
    """Return that of a comparison, by what is the same for all systems and the predictions of each."""
    first = signatures[0]
    return first._replace(
        settings=given({**first.options, **settings}),
        judge=" + ".join(dict.fromkeys(signature.judge for signature in signatures)),
        predictions="+".join(signature.predictions for signature in signatures),
    )


def signature(
    profile: str, settings: Mapping[str, object], reference: int | str, predictions: int | str, judge: str = "no judge"
) -> Signature:
    """Return that of a score by this version, from sums of digests of the rows of both sides, or :data:`NONE`."""
    sides = (
        side if isinstance(side, str) else sha256(str(side).encode()).hexdigest()[:12]
        for side in (reference, predictions)
    )
    return Signature(version(), profile, given(settings), judge, *sides)


def of_questions(items: Sequence[Item] | None) -> int | str:
    """Return the digest of questions with what is known of their answers."""
    if items is None:
        return NONE
    metas = ({} if item.answer_meta is None else item.answer_meta.__dict__ for item in items)
    truths = ({name: value for name, value in sorted(meta.items()) if value is not None} for meta in metas)
    asked = zip(items, truths, strict=True)
    return digest(
        [*(getattr(item, name) for name in _ASKED), None if item.answer_meta is None else truth]
        for item, truth in asked
    )


def of_replies(outputs: Sequence[Prediction]) -> int:
    """Return the digest of predictions with what programs read besides."""
    return digest(
        [*(getattr(row, name) for name in _SAID), *((row.extra or {}).get(name) for name in _BESIDE)] for row in outputs
    )


def digest(rows: Iterable[Sequence[object]]) -> int:
    """Return the digest of rows, whatever their order: the sum of their hashes; what is empty is as if absent."""
    total = 0
    for row in rows:
        values = [None if value in ("", []) else value for value in row]
        text = json.dumps(values, ensure_ascii=True, sort_keys=True, default=vars)
        total += int.from_bytes(sha256(text.encode()).digest(), "big")
    return total


def judged_by(model: str | None, url: str | None, judgements: bytes | None) -> str:
    """Return who judged, as a signature has it."""
    if judgements is not None:
        return f"judgements {sha256(judgements).hexdigest()[:12]}"
    host, *_ = re.split(r"[/?#]", (url or "").partition("//")[2])
    return "no judge" if model is None else f"judge {model}@{host}".replace("|", "/")
