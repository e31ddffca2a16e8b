"""What all tests share: the folder of real data, and how Hypothesis runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real data and bad inputs that are not part of the project (see its own README)."""
    folder = Path(os.environ.get("SELDIO_SHARED", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no real data: {folder / 'data'} is absent; SELDIO_SHARED names the folder that holds it")
    return folder
