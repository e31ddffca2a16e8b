"""What all tests share: the folder of real data, and how Hypothesis runs."""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import settings

# Threads of BLAS in two processes on two cores wait for each other, which costs most of what small arrays cost.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test waits for the disk thousands of times; that seldio does, is seen in processes of their own (test_faults.py).
os.fsync = lambda fd: None
# A command is derived from its functions once, not for each call, which would cost more than most of them do.
typer.testing._get_command = functools.cache(typer.main.get_command)

# a tenth of the examples in `make test`, all of them in `make test-slow`
for name, examples in (("quick", 10), ("thorough", 100)):
    ci = bool(os.environ.get("CI"))
    settings.register_profile(name, deadline=None, max_examples=examples, derandomize=ci, print_blob=ci)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# What is printed must not depend on who runs the tests, and in which window.
PRINTING = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
for name in PRINTING:
    os.environ.pop(name, None)

# Where the tests run in the background, Ctrl-C is ignored, and the commands they start would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: they need not be looked through for garbage time and again."""
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(autouse=True)
def _printing_stays() -> Iterator[None]:
    """A test that leaves one of these variables behind changes what later tests of its process print."""
    yield
    left = {name: value for name in PRINTING if (value := os.environ.pop(name, None)) is not None}
    assert not left


_SHARED = Path(os.environ.get("SELDIO_SHARED", Path(__file__).parents[2] / "shared"))
_ABSENT = f"no real data: {_SHARED / 'data'} is absent; SELDIO_SHARED names the folder that holds it"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real data and bad inputs that are not part of the project (see its own README)."""
    if not (_SHARED / "data").is_dir():
        pytest.skip(_ABSENT)
    return _SHARED


class Kept:
    """A folder of the real data; where there is none, the part of it that is kept in tests/goldens."""

    def __init__(self, whole: str, part: str) -> None:
        self.folders = _SHARED / "data" / whole, Path(__file__).parent / "goldens" / part

    def __truediv__(self, name: str) -> Path:
        found = next((folder / name for folder in self.folders if (folder / name).exists()), None)
        return found or pytest.skip(f"{_ABSENT}, and {name} is not in tests/goldens")


@pytest.fixture(scope="session")
def kept() -> Kept:
    """Real labels and predictions, or as many of them as are kept."""
    return Kept("", "")


@pytest.fixture(scope="session")
def official() -> Kept:
    """What the official programs answer: see tests/goldens/README.md."""
    return Kept("goldens", "official")
