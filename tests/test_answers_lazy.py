"""Expressions of answers are compiled when they are used; a wrong one shall be found before that."""

from __future__ import annotations

import importlib
import pkgutil
import re

import seldio.answers
from seldio.answers.languages import regex


def test_every_expression_can_be_compiled() -> None:
    found = [
        value
        for module in pkgutil.iter_modules(seldio.answers.__path__, "seldio.answers.")
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, regex)
    ]
    assert len(found) > 50
    for one in found:
        assert re.compile(one.pattern, one.flags).pattern == one.pattern
