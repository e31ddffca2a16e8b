"""Expressions of answers are compiled when they are used; a wrong one shall be found before that."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re

import seldio.answers
from seldio.answers.languages import regex


def test_every_expression_can_be_compiled() -> None:
    for module in pkgutil.iter_modules(seldio.answers.__path__, "seldio.answers."):
        importlib.import_module(module.name)
    found = [value for value in gc.get_objects() if isinstance(value, regex)]  # in tables of modules too
    assert len(found) > 150
    for one in found:
        assert re.compile(one.pattern, one.flags).pattern == one.pattern
