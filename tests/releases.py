"""Tests that hold the exact output of a library, from which release on; with lower ones seldio does the same."""

from __future__ import annotations

from importlib.metadata import version

import pytest


def older(library: str, release: str) -> bool:
    """Whether the installed *library* is older than *release*."""
    numbers = [
        tuple(int(part) for part in text.split(".")[:2] if part.isdigit()) for text in (version(library), release)
    ]
    return numbers[0] < numbers[1]


def since(library: str, release: str, why: str) -> pytest.MarkDecorator:
    """Run a test with *release* of a *library* and later ones; *why*: what earlier ones do otherwise."""
    return pytest.mark.skipif(older(library, release), reason=f"{library} {version(library)} {why}")


#: How lines wrap, columns stand and colours look, to the character.
printed_by_rich = since("rich", "14.3", "prints other spaces and colours")
