"""JASCO: joint audio-speech co-reasoning, scored by a language model as judge."""

from __future__ import annotations

from seldio.scores.jasco.judging import (
    COLUMN,
    Judged,
    Mode,
    Vocabulary,
    as_text,
    judged,
    key,
    parse,
    request,
    with_judgements,
)
from seldio.scores.jasco.report import PUBLISHED, report, score
from seldio.scores.jasco.scoring import Coverage, JascoCase, JudgedRow, Official, coverage, official, prepare

__all__ = [
    "COLUMN",
    "PUBLISHED",
    "Coverage",
    "JascoCase",
    "Judged",
    "JudgedRow",
    "Mode",
    "Official",
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
