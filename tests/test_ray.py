"""A real Ray cluster with two nodes on this machine: the same bytes as without, also when a node is lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from seldio import synth
from seldio.check.validation import validate
from seldio.cli import app
from seldio.conversion import labels as conversion
from seldio.conversion import questions
from seldio.conversion.dispatch import convert_any
from seldio.conversion.labels import convert_source
from seldio.data import export
from seldio.engines import each, running
from seldio.engines.cluster import Cluster
from seldio.errors import InvalidData, SeldioError
from seldio.files import open_source
from seldio.findings import raise_errors
from seldio.formats import get
from seldio.rules.collection import probed
from seldio.schema.events import ClipFile
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
    try:
        yield nodes
    finally:
        del os.environ["RAY_ADDRESS"]
        ray.shutdown()
        nodes.shutdown()


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    for number in range(12):
        table = synth.labels("m", synth.scene(number, 40.0, 9))
        (folder / f"mix{number:03}.csv").write_bytes(get("starss23").write(table, ClipFile("m", "m.csv")))
    return folder


def node_of(_: int) -> str:
    return str(ray.get_runtime_context().get_node_id())


def where(number: int) -> str:
    import time

    time.sleep(0.2)
    return node_of(number)


def asked(labels: Path, out: Path) -> bytes:
    convert_any(labels, out, "so-bench", None, (), {}, questions.QuestionOptions(seed=3))
    return out.read_bytes()


def test_questions_are_the_same_bytes(
    cluster: Any, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "PART", 1 << 12)
    alone = asked(labels, tmp_path / "alone.jsonl")
    with running(engine="ray"):
        assert alone == asked(labels, tmp_path / "ray.jsonl")
    with running(engine="ray", resume=tmp_path / "parts"):
        assert alone == asked(labels, tmp_path / "kept.jsonl")
    with running(2, resume=tmp_path / "parts"):
        assert alone == asked(labels, tmp_path / "again.jsonl")


def test_validation_finds_the_same(cluster: Any, tmp_path: Path) -> None:
    write_tree(tmp_path, 5, seconds=4.0, clips=synth.CLIPS[:2])
    (tmp_path / "foa_dev").rename(tmp_path / "was")
    (tmp_path / "mic_dev").rename(tmp_path / "foa_dev")
    (tmp_path / "was").rename(tmp_path / "mic_dev")
    alone = validate(tmp_path, deep=True).findings
    assert {"AUD307"} <= {finding.code for finding in alone}
    with running(engine="ray", resume=tmp_path / "parts"):
        assert alone == validate(tmp_path, deep=True).findings


def test_an_export_has_the_same_bytes(cluster: Any, tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", 3, seconds=2.0, clips=CLIPS[:2], media=["audio"])
    alone = export(tmp_path / "tree", tmp_path / "alone", shard_bytes=1)
    with running(engine="ray"):
        there = export(tmp_path / "tree", tmp_path / "ray", shard_bytes=1)
    assert alone == there
    for file in alone.files:
        assert (tmp_path / "alone" / file.name).read_bytes() == (tmp_path / "ray" / file.name).read_bytes()


def test_labels_are_the_same_bytes(cluster: Any, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "PART", 1 << 12)
    monkeypatch.setattr(conversion, "KEPT", -1)

    def converted(place: Path) -> list[bytes]:
        convert_source(labels, place / "labels", "dcase2024-submission", allow_loss=["all"])
        convert_source(labels, place / "labels.parquet", "parquet")
        return [path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()]

    alone = converted(tmp_path / "alone")
    assert 13 == len(alone)
    monkeypatch.chdir(tmp_path)  # paths are those of the driver, wherever a worker runs
    with running(engine="ray", resume=tmp_path / "parts"):
        assert alone == converted(Path("ray"))
    for path in (tmp_path / "ray/labels").iterdir():
        path.unlink()
    with running(2, resume=tmp_path / "parts"):
        assert alone == converted(Path("ray"))


def test_both_nodes_work(cluster: Any) -> None:
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    seen: set[str] = set()
    with running(engine="ray"):
        for node in each(where, range(200)):  # a node's first worker takes its time
            seen.add(node)
            if len(seen) == 2:
                break
    assert 2 == len(seen)


def test_errors_come_through(cluster: Any, labels: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    for file in labels.iterdir():
        (bad / file.name).write_bytes(file.read_bytes())
    (bad / "mix011.csv").write_bytes((bad / "mix011.csv").read_bytes() + b"nonsense,1,2,3,4,5\n")
    with pytest.raises(InvalidData) as alone:
        asked(bad, tmp_path / "qa.jsonl")
    with pytest.raises(InvalidData) as there, running(engine="ray"):
        asked(bad, tmp_path / "qa.jsonl")
    assert alone.value.finding == there.value.finding
    assert [bad] == list(tmp_path.iterdir())


def test_a_lost_node_is_made_up_for(cluster: Any) -> None:
    ray.cloudpickle.register_pickle_by_value(__import__(__name__))
    lost = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    with running(engine="ray"):
        results = each(where, range(30))
        found = [next(results) for _ in range(6)]
        cluster.remove_node(lost, allow_graceful=False)
        found += list(results)
    assert 30 == len(found)
    assert 3 == len(set(found)), "all three had worked"


@pytest.fixture
def blind(cluster: Any, tmp_path: Path) -> Iterator[Path]:
    """A folder that a third node, in a mount namespace of its own, does not see."""
    folder = tmp_path / "data"
    folder.mkdir()
    code = 'mount -t tmpfs none "$0" && exec "$1" start --address="$2" --num-cpus=1 --block'
    command = ["unshare", "--mount", "sh", "-c", code, str(folder), str(Path(sys.executable).with_name("ray"))]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*command[:4], "mount -t tmpfs none /mnt"], check=False, capture_output=True).returncode
    ):
        pytest.skip("this user may not mount")
    before = len(_alive())
    node = subprocess.Popen(
        [*command, cluster.address], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while len(_alive()) == before:
            assert node.poll() is None, node.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield folder
    finally:
        os.killpg(node.pid, signal.SIGKILL)
        node.communicate()


def _alive() -> list[Any]:
    if not ray.is_initialized():
        ray.init("auto", logging_level="ERROR", log_to_driver=False)
    return [node for node in ray.nodes() if node["Alive"]]


def test_a_node_that_does_not_see_the_files_is_named(blind: Path, tmp_path: Path) -> None:
    """It would report each recording as missing or damaged."""
    write_tree(blind / "starss23", 3, seconds=1.0, clips=CLIPS[:2], media=["audio"])
    assert {"LAY114", "AUD111"} == {finding.code for finding in validate(blind / "starss23").findings}

    with (
        pytest.raises(
            SeldioError, match=r"^node .* of the cluster does not see .*/data/starss23/\S+\.\w+.*shared storage"
        ),
        running(engine="ray"),
    ):
        validate(blind / "starss23")
    code = CliRunner().invoke(app, ["validate", str(blind / "starss23"), "--engine", "ray"])
    assert (3, "") == (code.exit_code, code.stdout)
    assert "does not see" in code.stderr


def test_a_file_that_a_part_lacks_is_an_error_of_the_node(cluster: Any, tmp_path: Path) -> None:
    write_tree(tmp_path / "starss23", 3, seconds=1.0, clips=CLIPS[:2], media=["audio"])
    with open_source(tmp_path / "starss23", raise_errors) as source:
        entries = [entry for entry in source if entry.name.endswith(".wav")]
    entries[-1].place.unlink()

    with (
        pytest.raises(
            SeldioError, match=rf"^node \S+ \([\d.]+\) of the cluster does not see .*{entries[-1].place.name}"
        ),
        running(engine="ray"),
    ):
        list(each(probed, entries))


def test_no_cluster_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if ray.is_initialized():
        ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(SeldioError, match="no Ray cluster at RAY_ADDRESS"):
        Cluster(None)
