"""Ten attacks on the disk: no link is followed, nothing is written outside, over an input, in part, or without limit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import invoke, laid, shown_contents
from test_files import make_tar, tar_info

from seldio.data import export
from seldio.errors import UsageError
from seldio.files import atomic_write, make_folder, many_files, write_bytes, writing
from seldio.synth.tree import CLIPS, write_tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")

CLIP = "fold3_room4_mix001"
LABELS = f"metadata_dev/dev-train-tau/{CLIP}.csv"
SHARD = "data/train-00000-of-00001"


def seldio(*arguments: object) -> tuple[int, str]:
    """The exit code of a command, and what it says."""
    done = invoke(*arguments)
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One clip with FOA and MIC, and a file of no clip."""
    folder = tmp_path_factory.mktemp("attacks") / "starss23"
    write_tree(folder, 5, seconds=1.0, clips=CLIPS[:1], media=("audio",))
    (folder / "LICENSE").write_text("free")
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody's, which stays as it is."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    before = folder.stat().st_mtime_ns
    yield folder
    assert {"mine.txt": "mine"} == {path.name: path.read_text() for path in folder.iterdir()}
    assert before == folder.stat().st_mtime_ns, "something was made there meanwhile"


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a file": lambda place, outside: place.symlink_to(outside / "mine.txt"),
    "a link to nothing": lambda place, outside: place.symlink_to(outside / "new.txt"),
    "a link to a folder": lambda place, outside: place.symlink_to(outside),
    "a pipe": lambda place, _: os.mkfifo(place),
}


def block(place: Path, way: str, outside: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    WAYS[way](place, outside)


def refused(place: Path, *command: object) -> None:
    code, said = seldio(*command)
    assert (2, 1) == (code, said.count("\n")), said
    assert str(place) in said
    assert re.search("is a link|not a regular|is a file, but|is not empty", said), said


@pytest.mark.parametrize(
    ("source", "to", "name", "way"),
    [("metadata_dev", "starss22", "dev-train-tau", "a link to a folder"),
     ("metadata_dev", "starss22", f"dev-train-tau/{CLIP}.csv", "a link to a file"),
     ("metadata_dev", "starss22", f"dev-train-tau/{CLIP}.csv", "a link to nothing"),
     ("", "foa", LABELS, "a link to nothing"), ("", "foa", "LICENSE", "a link to a file"), ("", "foa", "LICENSE", "a pipe"),
     ("", "foa", f"foa_dev/dev-train-tau/{CLIP}.wav", "a link to a file"), ("", "webdataset", "", "a link to a folder")],
)  # fmt: skip
def test_in_the_way_of_what_is_converted(
    source: str, to: str, name: str, way: str, tree: Path, outside: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    if name:
        block(out / name, way, outside)
        refused(out / name, "convert", tree / source, "--to", to, "-o", out, "--allow-loss", "all")
    else:  # the folder that is named may be a link, and is not empty
        block(out, way, outside)
        refused(out, "convert", tree, "--to", to, "-o", out)


def test_in_the_way_of_recordings_and_of_the_demo(tree: Path, outside: Path, tmp_path: Path) -> None:
    place = tmp_path / f"out/foa_dev/dev-train-tau/{CLIP}.wav"
    block(place, "a link to a file", outside)
    refused(place, "convert", tree, "--to", "foa", "--audio", "-o", tmp_path / "out")
    block(tmp_path / "demo/starss23", "a link to a folder", outside)
    refused(tmp_path / "demo/starss23", "demo", tmp_path / "demo", "--no-media", "--no-run")


@pytest.mark.parametrize(
    ("kind", "name", "way"),
    [("hf-parquet", "data", "a link to a folder"), ("hf-parquet", f"{SHARD}.parquet", "a link to a file"),
     ("hf-parquet", "other/LICENSE", "a link to nothing"), ("hf-parquet", "manifest.json", "a link to a file"),
     ("hf-parquet", "manifest.json", "a pipe"),
     ("audiofolder", "train/metadata.jsonl", "a link to nothing")],
)  # fmt: skip
def test_in_the_way_of_an_export(kind: str, name: str, way: str, tree: Path, outside: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert 0 == seldio("convert", tree, "--to", kind, "-o", out)[0]
    block(out / name, way, outside)
    code, said = seldio("convert", tree, "--to", kind, "-o", out, "--overwrite")
    assert (2, 1) == (code, said.count("\n")), said
    assert str(out) in said
    assert re.search("is a link" if "link" in way else "in the way|is not empty|is a file", said), said


def test_the_folder_that_is_named_may_be_a_link(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    made = export(tree, tmp_path / "out")
    assert (tmp_path / "real/manifest.json").is_file()
    assert made == export(tree, tmp_path / "out", overwrite=True)


def forge(out: Path, names: dict[str, str], *, finished: bool) -> None:
    """Write a manifest as of an export of these files, by their names with their content."""
    files = [
        {"name": name, "bytes": len(text), "split": None, "rows": 0, "origin": None,
         "sha256": hashlib.sha256(text.encode()).hexdigest()} for name, text in names.items()
    ]  # fmt: skip
    record = {"seldio_export": 1, "kind": "parquet", "files": files, "finished": finished,
              "statistics": {"clips": 0, "files": {"other": 0}}}  # fmt: skip
    out.mkdir(exist_ok=True)
    (out / "manifest.json").write_text(json.dumps(record))


@pytest.mark.parametrize("finished", [True, False])
def test_a_manifest_that_leads_out(finished: bool, tree: Path, outside: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    forge(out, {}, finished=finished)
    (out / "media").symlink_to(outside)
    for name in ("../outside/mine.txt", str(outside / "mine.txt"), "media/mine.txt"):
        forge(out, {name: "mine"}, finished=finished)
        assert 2 == seldio("convert", tree, "--to", "hf-parquet", "-o", out, "--overwrite")[0]


@pytest.mark.parametrize("finished", [True, False])
def test_files_of_the_user_are_not_replaced(finished: bool, tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    forge(out, {"other/LICENSE": "another", "thesis.tex": "months"}, finished=finished)
    laid(out, {"thesis.tex": "years", "notes.txt": "weeks", "other/LICENSE": "mine"})
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out, "--overwrite")
    assert 2 == code, said
    assert "2 files in the way" in said
    assert "other/LICENSE, thesis.tex. Move them away" in said
    assert ["mine", "years", "weeks"] == [(out / n).read_text() for n in ("other/LICENSE", "thesis.tex", "notes.txt")]
    for name in ("other/LICENSE", "thesis.tex"):
        (out / name).unlink()
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out, "--overwrite")
    assert 0 == code, said
    assert "weeks" == (out / "notes.txt").read_text()


def test_a_file_that_was_exported_empty_and_is_filled_stays(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    forge(out, {"labels/a.csv": ""}, finished=True)
    write_bytes(out / "labels/a.csv", b"0,1,0,0,0\n", out)
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out, "--overwrite")
    assert (2, True) == (code, "1 file in the way" in said), said
    assert "0,1,0,0,0\n" == (out / "labels/a.csv").read_text()


@pytest.mark.parametrize("finished", [True, False])
def test_files_of_an_earlier_export_may_be_missing(finished: bool, tree: Path, tmp_path: Path) -> None:
    forge(tmp_path / "out", {"labels/a.csv": "not there"}, finished=finished)
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", tmp_path / "out", "--overwrite")
    assert 0 == code, said


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"seldio_export": 2}', '{"name": "my extension"}', "[" * 10**5])
def test_only_a_manifest_makes_a_folder_an_export(text: str, tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    laid(out, {".seldio-export/seldio-parts.json": '{"seldio_parts": 2}', "labels/mine.csv": "0,1,0,10,0\n"})
    if text:
        (out / "manifest.json").write_text(text)
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out, "--overwrite")
    assert (2, True) == (code, "choose a new folder" in said), said
    assert "0,1,0,10,0\n" == (out / "labels/mine.csv").read_text()
    assert not text or text == (out / "manifest.json").read_text()


def test_never_over_an_input(tree: Path, tmp_path: Path) -> None:
    work = shutil.copytree(tree, tmp_path / "work")
    (tmp_path / "linked.csv").symlink_to(work / LABELS)
    before = {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}
    loss = ("--allow-loss", "all")
    for command in (
        ("convert", work / LABELS, "--to", "starss22", "-o", work / LABELS, *loss),
        ("convert", work / LABELS, "--to", "starss22", "-o", (work / LABELS).parent, *loss),
        ("convert", work / LABELS, "--to", "starss22", "-o", tmp_path / "linked.csv", *loss),
        ("convert", work / "metadata_dev", "--to", "starss22", "-o", work / "metadata_dev", *loss),
        ("convert", work, "--to", "hf-parquet", "-o", work / "out"),
        ("score", work / LABELS, "-r", work / LABELS, "--json", "-o", work / LABELS),
        ("view", work / LABELS, "-o", work / LABELS),
    ):
        assert 2 == seldio(*command)[0], command
    assert before == {path: path.read_bytes() for path in work.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["link/new.txt", "mine.txt", "gone", "loop", "a/../link/new.txt", "../outside/x"])
def test_the_gate_follows_no_link(name: str, outside: Path, tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    for link, to in (("link", outside), ("mine.txt", outside / "mine.txt"), ("gone", outside / "no"), ("loop", "loop")):
        (top / link).symlink_to(to)
    for deed in (
        lambda: write_bytes(top / name, b"x", top),
        lambda: writing.remove(top / name, top),
        lambda: make_folder(top / name / "x", top),
    ):
        with pytest.raises(UsageError, match=r"is a link|points outside"):
            deed()
    with pytest.raises(UsageError, match=r"is a link|points outside"), many_files():  # noqa: PT012
        write_bytes(top / "good.txt", b"x", top)
        write_bytes(top / name, b"x", top)
    assert {"a", "link", "mine.txt", "gone", "loop"} == {path.name for path in top.iterdir()}


def test_a_link_that_comes_meanwhile_is_replaced(outside: Path, tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new.txt", tmp_path) as stream:
        stream.write(b"x")
        (tmp_path / "new.txt").symlink_to(outside / "mine.txt")
    assert b"x" == (tmp_path / "new.txt").read_bytes()


STRUCK = """
import os, sys
from seldio.cli import main
from seldio.files import writing
count, sign = int(sys.argv.pop(1)), int(sys.argv.pop(1))
real, calls = writing.os.replace, []
def struck(*given):
    calls.append(given)
    if len(calls) == count:
        os.kill(os.getpid(), sign)
    return real(*given)
writing.os.replace = struck
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "sign"), [("webdataset", signal.SIGKILL), ("audiofolder", signal.SIGINT)])
def test_an_export_that_was_stopped_is_written_by_the_same_command(
    kind: str, sign: signal.Signals, tree: Path, tmp_path: Path
) -> None:
    export(tree, tmp_path / "whole", kind)
    whole, out = shown_contents(tmp_path / "whole"), tmp_path / "out"
    command = ["convert", str(tree), "--to", kind, "-o", str(out)]
    program = [sys.executable, "-c", STRUCK, "3", str(int(sign)), *command]
    run = subprocess.run(program, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode in (-signal.SIGKILL, 130), run.stderr
    assert sign == signal.SIGKILL or "is not finished: run the same command again" in run.stderr
    assert json.loads((out / "manifest.json").read_text())["finished"] is False
    assert all(data == whole[name] for name, data in shown_contents(out).items() if name != "manifest.json")
    code, said = seldio("validate", out)
    assert (1, True) == (code, "broken off" in said), said
    assert 0 == seldio(*command)[0]
    assert whole == shown_contents(out)
    code, said = seldio(*command)
    assert (2, True) == (code, "finished export" in said), said


def test_archives_that_lead_out(outside: Path, tmp_path: Path) -> None:
    rows = b"0,1,0,10,0,120\n1,1,0,10,0,120\n"
    link = tar_info("link", type=tarfile.SYMTYPE, linkname=str(outside))
    out = [("../outside/a.csv", rows), (f"{outside}/b.csv", rows)]
    packed = make_tar(tmp_path / "set.tar", *out, (link, b""), ("link/c.csv", rows), ("good.csv", rows))
    code, said = seldio("convert", packed, "--to", "starss22", "-o", tmp_path / "out", "--allow-loss", "all")
    assert (1, True) == (code, "SAF101" in said), said


def test_shards_that_lead_out(tree: Path, outside: Path, tmp_path: Path) -> None:
    origin = f"foa_dev/dev-train-tau/{CLIP}.wav"
    for kind, shard in (("parquet", f"{SHARD}.parquet"), ("webdataset", f"{SHARD}.tar")):
        export(tree, tmp_path / kind, kind)
        path = tmp_path / kind / shard
        data = path.read_bytes()
        for name in (f"../../outside/{'a' * (len(origin) - 14)}", f"/{origin[1:]}"):
            path.write_bytes(data.replace(origin.encode(), name.encode()))
            code, said = seldio("convert", tmp_path / kind, "--to", "files", "-o", tmp_path / "back")
            assert (1, 1) == (code, said.count("\n")), said
            assert not (tmp_path / "back").exists()
