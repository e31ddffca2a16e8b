"""A real Ray cluster with two nodes on this machine: the same bytes as without, also when a node is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import shown_contents

import seldio
from seldio.errors import SeldioError
from seldio.parallel import parallel_map, running
from seldio.synth.tree import CLIPS, write_tree

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster with two nodes of one processor each, to which Ray connects as to any that runs already."""
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    os.environ["RAY_ADDRESS"] = nodes.address
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    try:
        yield nodes
    finally:
        del os.environ["RAY_ADDRESS"]
        ray.shutdown()
        nodes.shutdown()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree") / "starss23"
    write_tree(folder, 5, seconds=4.0, clips=CLIPS[:2], media=["audio"])
    return folder


def node_of(_: int) -> str:
    time.sleep(0.2)
    return str(ray.get_runtime_context().get_node_id())


def test_findings_and_an_export_are_the_same(cluster: Any, tree: Path, tmp_path: Path) -> None:
    alone = seldio.validate(tree, deep=True).findings
    seldio.export(tree, tmp_path / "alone", shard_bytes=1)
    with running(ray=True):
        assert alone == seldio.validate(tree, deep=True).findings
        seldio.export(tree, tmp_path / "ray", shard_bytes=1)
    assert shown_contents(tmp_path / "alone") == shown_contents(tmp_path / "ray")


def test_standard_output_is_the_report_alone(cluster: Any, tree: Path) -> None:
    command = [sys.executable, "-m", "seldio", "validate", str(tree), "--deep", "--output", "json", "--workers", "ray"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (0, "") == (run.returncode, run.stderr)
    assert json.loads(run.stdout)


def test_a_lost_node_is_made_up_for(cluster: Any) -> None:
    lost = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    with running(ray=True):
        results = parallel_map(node_of, range(30))
        nodes = [next(results) for _ in range(6)]
        cluster.remove_node(lost, allow_graceful=False)
        nodes += list(results)
    assert 30 == len(nodes)
    assert 3 == len(set(nodes)), "all three have worked"


def test_a_dead_address_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if ray.is_initialized():
        ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    began = time.monotonic()
    with pytest.raises(SeldioError, match=r"no Ray cluster at RAY_ADDRESS=127\.0\.0\.1:1"), running(ray=True):
        list(parallel_map(abs, [1]))
    assert time.monotonic() - began < 15
