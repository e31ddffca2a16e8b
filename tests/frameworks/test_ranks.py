"""Who splits the data, as the documentation has it, with the real libraries, alone and on two ranks."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import seldio

pytest.importorskip("torch", reason="torch is not installed: make test-frameworks installs it")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("library", ["accelerate", "transformers", "lightning"])
def test_ranks_take_each_window(library: str, ranks: int, workers: int, root: Path) -> None:
    """All of them; a window may come twice where a last batch is filled up, and one be left where ranks are even."""
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed: make test-frameworks installs it")
    windows = seldio.windows(root, seconds=0.2, target="multi-accdoa", texts=False)
    every = {(int(window["clip"]), int(window["frames"][0])) for window in windows}
    around = {
        **os.environ, "OMP_NUM_THREADS": "1", "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "TORCHELASTIC_RUN_ID": "test", "GROUP_RANK": "0",
    }  # fmt: skip
    runs = [
        subprocess.Popen(
            [sys.executable, Path(__file__).with_name("rank_of_training.py"), library, root, str(workers)],
            env={**around, "RANK": str(rank), "LOCAL_RANK": str(rank)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) for rank in range(ranks)
    ]  # fmt: skip
    outputs = [run.communicate(timeout=200) for run in runs]
    assert [0] * ranks == [run.returncode for run in runs], outputs
    taken = [[tuple(key) for key in json.loads(out.splitlines()[-1])] for out, _ in outputs]

    together = [key for one in taken for key in one]
    assert 1 == len({len(one) for one in taken})  # no rank waits for another
    assert set(together) <= every
    assert len(every) - len(set(together)) <= (1 if library == "lightning" else 0) + (library == "transformers") * 2
    assert len(together) - len(set(together)) <= 2 * ranks
