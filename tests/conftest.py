"""What all tests share: the folder of real data, and how Hypothesis runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# a quarter of the examples in `make test`, all of them in `make test-slow`
for name, examples in (("quick", 25), ("thorough", 100)):
    ci = bool(os.environ.get("CI"))
    settings.register_profile(name, deadline=None, max_examples=examples, derandomize=ci, print_blob=ci)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real data and bad inputs that are not part of the project (see its own README)."""
    folder = Path(os.environ.get("SELDIO_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no real data: {folder / 'data'} is absent; SELDIO_SHARED names the folder that holds it")
    return folder
