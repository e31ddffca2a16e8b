"""JASCO: joint audio-speech co-reasoning, scored by a language model as judge."""

from __future__ import annotations

from seldio.scores.jasco.coverage import Coverage, coverage
from seldio.scores.jasco.judging import COLUMN, judged, with_judgements
from seldio.scores.jasco.official import Official, Row, official
from seldio.scores.jasco.parsing import Judged, Mode, parse
from seldio.scores.jasco.prompts import Vocabulary, as_text, key, request
from seldio.scores.jasco.report import PUBLISHED, report, score
from seldio.scores.jasco.scoring import Case, prepare

__all__ = [
    "COLUMN",
    "PUBLISHED",
    "Case",
    "Coverage",
    "Judged",
    "Mode",
    "Official",
    "Row",
    "Vocabulary",
    "as_text",
    "coverage",
    "judged",
    "key",
    "official",
    "parse",
    "prepare",
    "report",
    "request",
    "score",
    "with_judgements",
]
