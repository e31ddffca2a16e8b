"""Validation in parts: the same report from one process, from two, and after any number of kills."""

from __future__ import annotations

from pathlib import Path

import pytest

from seldio import formats, validate
from seldio.findings import Finding
from seldio.formats import ItemFormat
from seldio.parallel import running
from seldio.schema.qa import Item
from seldio.synth import CLIPS
from seldio.synth.tree import write_tree

pytestmark = pytest.mark.slow

QUESTION = {"id": "1", "audio": ["x.wav"], "task": "source_existence", "question": "Is there a dog?", "answer": "yes"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with sound and video, and with some of it broken."""
    top = tmp_path_factory.mktemp("workers") / "data"
    write_tree(top, 5, seconds=6.0, clips=CLIPS[:3])
    recordings = sorted(top.rglob("*.wav"))
    recordings[0].write_bytes(recordings[0].read_bytes()[:-5000])
    recordings[1].write_bytes(b"<!DOCTYPE html>")
    recordings[3].write_bytes(recordings[2].read_bytes())
    labels = sorted(top.rglob("*.csv"))
    labels[0].write_bytes(labels[0].read_bytes() + b"3,99,0,10,10,200\n")
    for name in ("a", "b"):
        rows = [Item.model_validate(QUESTION)] * 2
        (top / f"{name}.jsonl").write_bytes(formats.get("items", ItemFormat).write(rows))
    return top


def found(path: Path, deep: bool = True) -> tuple[Finding, ...]:
    return tuple(validate(path, deep=deep).findings)


def test_workers_find_the_same(tree: Path) -> None:
    alone = found(tree)
    assert {"AUD101", "AUD102", "AUD207"} <= {finding.code for finding in alone}
    assert {"LAB", "QAI"} <= {finding.code[:3] for finding in alone}
    with running(2):
        assert alone == found(tree)
