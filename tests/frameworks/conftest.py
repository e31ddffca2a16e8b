"""The data set that every framework goes through, and numbers that tell its windows apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import starss_tree

import seldio
import seldio.data.arrow_tables


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return starss_tree.write(tmp_path_factory.mktemp("frameworks") / "starss23")


@pytest.fixture(scope="session")
def dataset(root: Path) -> seldio.data.Dataset:
    return seldio.open(root)


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> seldio.data.arrow_tables.Items:
    return seldio.open(starss_tree.write_questions(tmp_path_factory.mktemp("questions"))).items


@pytest.fixture(scope="session")
def windows(dataset: Any) -> seldio.data.Windows:
    """Twenty windows of 200 samples with targets of multi-ACCDOA."""
    return dataset.windows(seconds=0.2, target="multi-accdoa", distance=True)


@pytest.fixture(scope="session")
def keys(windows: Any) -> list[tuple[str, int]]:
    """Clip and first frame of each window: no two are alike."""
    return [(window["clip"], int(window["frames"][0])) for window in windows]
