"""Hostile folders: links and pipes where outputs go. Each command refuses them in a sentence, and touches nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from seldio import synth
from seldio.cli import main
from seldio.data import export
from seldio.data.exporting import LEDGER, MANIFEST, RESULTS, ExportFile
from seldio.engines.ledger import Ledger
from seldio.errors import SeldioError, SeldioWarning, UsageError
from seldio.files import atomic_write, make_folder, many_files, write_bytes, writing
from seldio.synth.tree import write_tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")

CLIP = "fold3_room4_mix001"
LABELS = f"metadata_dev/dev-train-tau/{CLIP}.csv"
SECRET = b"mine, and nobody else's\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def seldio(*arguments: object) -> tuple[int, str]:
    """The exit code of a command, and what it says."""
    said = io.StringIO()
    with (
        patch.object(sys, "argv", ["seldio", *map(str, arguments)]),
        contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said),
        pytest.raises(SystemExit) as stop,
    ):  # fmt: skip
        main()
    code = stop.value.code
    return code if isinstance(code, int) else 0, said.getvalue()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One clip with FOA and MIC, and a file of no clip."""
    folder = tmp_path_factory.mktemp("links") / "starss23"
    write_tree(folder, 5, seconds=1.0, clips=synth.CLIPS[:1], media=("audio",))
    (folder / "LICENSE").write_text("free")
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder of somebody's, which stays as it is."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "mine.txt").write_bytes(SECRET)
    before = folder.stat().st_mtime_ns
    yield folder
    assert {"mine.txt": SECRET} == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert before == folder.stat().st_mtime_ns, "nothing was made there meanwhile"


#: What is put in the way.
WAYS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a file": lambda place, outside: place.symlink_to(outside / "mine.txt"),
    "a link to nothing": lambda place, outside: place.symlink_to(outside / "new.txt"),
    "a link to a folder": lambda place, outside: place.symlink_to(outside),
    "a relative link": lambda place, outside: place.symlink_to(os.path.relpath(outside, place.parent)),
    "a pipe": lambda place, _: os.mkfifo(place),
}


def block(place: Path, way: str, outside: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    WAYS[way](place, outside)


def refused(place: Path, way: str, *command: object) -> None:
    code, said = seldio(*command)
    assert (2, 1) == (code, said.count("\n")), said
    assert str(place) in said
    assert any(why in said for why in (["is a link"] if "link" in way else ["not a", "is a file, but"]))


EXPORTS = [
    *[("parquet", f"{LEDGER}/{name}") for name in ("seldio-parts.json", "earlier.part", "seldio.lock", "0" * 64 + ".part")],
    *[("parquet", name) for name in (LEDGER, "data", "labels", "other", MANIFEST, "other/LICENSE")],
    ("parquet", "data/train-00000-of-00001.parquet"), ("parquet", "labels/train-00000-of-00001.parquet"),
    ("webdataset", "data/train-00000-of-00001.tar"), ("webdataset", "index.json"),
    ("audiofolder", "train"), ("audiofolder", "train/metadata.jsonl"), ("audiofolder", f"train/foa/{CLIP}.wav"),
    ("audiofolder", "labels"), ("files", "metadata_dev/dev-train-tau"), ("files", LABELS),
]  # fmt: skip


@pytest.mark.parametrize("way", ["a link to a file", "a link to a folder", "a pipe"])
@pytest.mark.parametrize(("kind", "name"), EXPORTS)
def test_an_export(kind: str, name: str, way: str, tree: Path, outside: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export(tree, out, kind)
    block(out / name, way, outside)

    if way == "a pipe" and name.endswith(".part"):  # is a kept result that is passed over
        (out / name).rename(out / LEDGER / "earlier.part")
    to = "files" if kind == "files" else f"hf-{kind}" if kind == "parquet" else kind
    if kind == "files":
        with pytest.raises(UsageError, match=r"is a link|not a|is a file, but|not empty|of no export"):
            export(tree, out, kind)
    elif way == "a pipe" and name in (f"{LEDGER}/seldio-parts.json", LEDGER, MANIFEST):  # then it is none of ours
        code, said = seldio("convert", tree, "--to", to, "-o", out)
        assert (2, True) == (code, str(out) in said)
    else:
        place = out / LEDGER / "earlier.part" if way == "a pipe" and name.endswith(".part") else out / name
        refused(place, way, "convert", tree, "--to", to, "-o", out)


@pytest.mark.parametrize("way", ["a link to a file", "a link to a folder"])
def test_a_first_export(way: str, tree: Path, outside: Path, tmp_path: Path) -> None:
    """Into a folder that holds nothing but a ledger, as one makes that wants harm."""
    out = tmp_path / "out"
    for name in ("seldio-parts.json", "earlier.part"):
        block(out / LEDGER / name, way, outside)
        refused(out / LEDGER / name, way, "convert", tree, "--to", "hf-parquet", "-o", out)
        shutil.rmtree(out / LEDGER)
    block(out / LEDGER, "a link to a folder", outside)
    refused(out / LEDGER, "a link", "convert", tree, "--to", "hf-parquet", "-o", out)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["dev-train-tau", f"dev-train-tau/{CLIP}.csv"])
def test_labels_into_a_folder(name: str, way: str, tree: Path, outside: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    block(out / name, way, outside)
    command = ["convert", tree / "metadata_dev", "--to", "starss22", "-o", out, "--allow-loss", "all"]
    refused(out / name, way, *command)


def test_one_label_file_into_a_folder(tree: Path, outside: Path, tmp_path: Path) -> None:
    place = tmp_path / f"out/{CLIP}.csv"
    block(place, "a link to a file", outside)
    command = ["convert", tree / LABELS, "--to", "starss22", "-o", f"{tmp_path}/out/", "--allow-loss", "all"]
    refused(place, "a link", *command)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["metadata_dev", LABELS, "foa_dev/dev-train-tau", "LICENSE"])
def test_a_tree_of_one_array(name: str, way: str, tree: Path, outside: Path, tmp_path: Path) -> None:
    block(tmp_path / "out" / name, way, outside)
    refused(tmp_path / "out" / name, way, "convert", tree, "--to", "foa", "-o", tmp_path / "out")


def test_recordings_that_are_made(tree: Path, outside: Path, tmp_path: Path) -> None:
    place = tmp_path / f"out/foa_dev/dev-train-tau/{CLIP}.wav"
    block(place, "a link to a file", outside)
    refused(place, "a link", "convert", tree, "--to", "foa", "--audio", "-o", tmp_path / "out")
    shutil.copytree(tree, tmp_path / "set")
    asked = tmp_path / "set/questions.jsonl"
    asked.write_text(json.dumps({"audio": f"mic_dev/dev-train-tau/{CLIP}.wav", "question": "?", "answer": "a"}) + "\n")
    refused(place, "a link", "convert", asked, "--to", "foa", "--audio", "-o", tmp_path / "out/questions.jsonl")


def test_names_of_recordings_do_not_lead_out(tree: Path, outside: Path, tmp_path: Path) -> None:
    shutil.copytree(tree, tmp_path / "set")
    (tmp_path / "set/q").mkdir()
    asked = tmp_path / "set/q/questions.jsonl"
    path = f"../../set/mic_dev/dev-train-tau/{CLIP}.wav"
    asked.write_text(json.dumps({"audio": path, "question": "?", "answer": "a"}) + "\n")
    code, said = seldio("convert", asked, "--to", "foa", "--audio", "-o", outside.parent / "a/b/questions.jsonl")
    assert code, said
    assert names(tmp_path) == ["outside", "set"]


@pytest.mark.parametrize("name", ["starss23", "output", "submission", "submission/mix001.csv", "starss23/metadata_dev"])
def test_what_the_demo_makes(name: str, outside: Path, tmp_path: Path) -> None:
    way = "a link to a file" if "." in name else "a link to a folder"
    block(tmp_path / "out" / name, way, outside)
    refused(tmp_path / "out" / name, way, "demo", tmp_path / "out", "--no-media", "--no-run")


@pytest.mark.parametrize("name", ["out", "labels.parquet", "questions.jsonl", "printed", "printed/01-convert.txt"])
def test_what_the_demo_runs(name: str, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = sys.modules["seldio.cli.demo"]
    steps = [step for step in demo.STEPS if "-o" in step.line and not step.media and not step.expected]
    wanted = [step for step in steps if name in step.line] or [step for step in steps if "parquet -o" in step.line]
    monkeypatch.setattr(demo, "STEPS", wanted)
    way = "a link to a file" if "." in name else "a link to a folder"
    block(tmp_path / "out" / name, way, outside)
    refused(tmp_path / "out" / name, way, "demo", tmp_path / "out", "--no-media")


def test_scenes_and_outputs(outside: Path, tmp_path: Path) -> None:
    block(tmp_path / "tree/foa_dev", "a link to a folder", outside)
    with pytest.raises(UsageError, match="foa_dev is a link"):
        write_tree(tmp_path / "tree", 5, seconds=1.0, clips=synth.CLIPS[:1], media=("audio",))


def test_a_page_named_after_its_clip(
    tree: Path, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    block(tmp_path / f"{CLIP}.html", "a link to a file", outside)
    refused(Path(f"{CLIP}.html"), "a link", "view", tree / LABELS, "--no-media")


def test_the_folder_that_is_named_may_be_a_link(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    export(tree, tmp_path / "out")
    assert (tmp_path / "real" / MANIFEST).is_file()
    assert export(tree, tmp_path / "out") == export(tree, tmp_path / "real")
    (tmp_path / "file.csv").write_bytes(b"old")
    (tmp_path / "link.csv").symlink_to("file.csv")
    command = ["convert", tree / LABELS, "--to", "starss22", "-o", tmp_path / "link.csv", "--allow-loss", "all"]
    assert 0 == seldio(*command)[0]
    assert b"old" != (tmp_path / "file.csv").read_bytes()


# --- the gate itself ---------------------------------------------------------------------------------------


@pytest.fixture(params=["by handles", "by paths"])
def gate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "by paths":  # as where the system opens no files relative to folders
        monkeypatch.setattr(writing, "_RELATIVE", False)
    return str(request.param)


@pytest.mark.usefixtures("gate")
@pytest.mark.parametrize("name", ["link/new.txt", "link/mine.txt", "mine.txt", "gone", "loop", "a/../link/new.txt"])
def test_nothing_is_written_through_links(name: str, outside: Path, tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    for link, to in (("link", outside), ("mine.txt", outside / "mine.txt"), ("gone", outside / "no"), ("loop", "loop")):
        (top / link).symlink_to(to)
    with pytest.raises(UsageError, match="is a link"):
        write_bytes(top / name, b"x", top)
    with pytest.raises(UsageError, match="is a link"), many_files():  # noqa: PT012
        write_bytes(top / "good.txt", b"x", top)
        write_bytes(top / name, b"x", top)
    with pytest.raises(UsageError, match="is a link"):
        writing.remove(top / name, top)
    with pytest.raises(UsageError, match="is a link"):
        make_folder(top / name / "x", top)
    (tmp_path / "new").write_bytes(b"new")
    with pytest.raises(UsageError, match="is a link"):
        writing.move(tmp_path / "new", top / name, top)
    with pytest.raises(UsageError, match="is a link"), writing.alone(top / name, top, "another is running"):
        pass
    with pytest.raises(UsageError, match="is a link"):
        writing.check_tree(top)
    assert ["a", "gone", "link", "loop", "mine.txt"] == names(top)


@pytest.mark.usefixtures("gate")
def test_what_it_writes(tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    (tmp_path / "link").symlink_to("top")
    top = tmp_path / "link"  # this one is named
    write_bytes(top / "a/b/c.txt", b"x", top)
    with many_files():
        for name in ("a/b/c.txt", "a/d.txt", "e.txt", "a/f.txt"):
            write_bytes(top / name, name.encode(), top)
    assert {"a/b/c.txt", "a/d.txt", "e.txt", "a/f.txt"} == {
        path.read_text() for path in (tmp_path / "top").rglob("*") if path.is_file()
    }
    writing.move(top / "e.txt", top / "g/h.txt", top)
    writing.remove(top / "a/d.txt", top)
    writing.remove(top / "a/d.txt", top)
    writing.check_tree(tmp_path / "top")
    writing.check_tree(tmp_path / "none")
    assert (["a", "g"], ["b", "f.txt"]) == (names(top), names(top / "a"))
    with pytest.raises(UsageError, match=r"points outside"):
        write_bytes(top / "../x.txt", b"x", top)


@pytest.mark.parametrize("moment", ["folder", "file"])
def test_a_link_that_comes_meanwhile(moment: str, outside: Path, tmp_path: Path) -> None:
    """Between the look and the deed: the folder that was opened counts, or the system refuses."""
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    with contextlib.suppress(SeldioError), atomic_write(top / "a/new.txt", top) as stream:
        stream.write(b"x")
        if moment == "folder":
            (top / "a").rename(top / "b")
            (top / "a").symlink_to(outside)
        else:
            (top / "a/new.txt").symlink_to(outside / "mine.txt")
    assert b"x" == (top / ("b" if moment == "folder" else "a") / "new.txt").read_bytes()


# --- what earlier exports have written -------------------------------------------------------------------------


def forged(out: Path, *names: str, key: str = "") -> None:
    """Have a ledger that is sound in itself name files as what an export has written, with their size and hash."""
    files = [(out / name, (out / name).read_bytes()) for name in names]
    found = [
        (key, ExportFile(path.relative_to(out).as_posix(), len(data), hashlib.sha256(data).hexdigest()))
        for path, data in files
    ]
    ledger = Ledger(out / LEDGER)
    ledger.put("earlier", RESULTS, found)
    ledger.finish()


def test_a_forged_ledger_deletes_nothing(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    (out / "sub").mkdir(parents=True)
    (out / "thesis.tex").write_text("years")
    (out / "sub/notes.txt").write_text("months")
    forged(out, "thesis.tex", "sub/notes.txt")

    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out)

    assert ("years", "months") == ((out / "thesis.tex").read_text(), (out / "sub/notes.txt").read_text())
    assert 0 == code, said
    assert "2 files stay" in said
    assert "sub/notes.txt, thesis.tex" in said


def test_only_a_manifest_makes_a_folder_an_export(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    out.mkdir()
    (out / "thesis.tex").write_text("years")
    forged(out, "thesis.tex")
    for text in (None, b"", b"[]", b"{}", b'{"seldio_parts": 1}', b"[" * 100_000):
        if text is None:
            (out / LEDGER / "seldio-parts.json").unlink()
        else:
            (out / LEDGER / "seldio-parts.json").write_bytes(text)
        assert (2, True) == (
            (done := seldio("convert", tree, "--to", "hf-parquet", "-o", out))[0],
            "not empty" in done[1],
        )
    assert [LEDGER, "thesis.tex"] == names(out)


def test_a_manifest_of_somebody_else_stays(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "work"
    out.mkdir()
    (out / MANIFEST).write_text('{"name": "my extension"}')
    forged(out)
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out)
    assert (2, True) == (code, "manifest.json" in said)
    assert '{"name": "my extension"}' == (out / MANIFEST).read_text()


def test_what_was_changed_since_stays(tree: Path, tmp_path: Path) -> None:
    shutil.copytree(tree, tmp_path / "tree")
    (tmp_path / "tree/README.txt").write_text("read me")
    export(tmp_path / "tree", tmp_path / "out")
    for name in ("LICENSE", "README.txt"):
        (tmp_path / "tree" / name).unlink()
    (tmp_path / "out/other/LICENSE").write_text("mine")  # as long as before
    with pytest.warns(SeldioWarning, match=r"1 file stays in .*: other/LICENSE"):
        export(tmp_path / "tree", tmp_path / "out")
    assert ["LICENSE"] == names(tmp_path / "out/other")
    assert "mine" == (tmp_path / "out/other/LICENSE").read_text()


# --- two exports ---------------------------------------------------------------------------------------------

HOLDING = """import sys
from pathlib import Path
from seldio.data.exporting import _written
if __name__ == "__main__":
    with _written(Path(sys.argv[1]), "parquet", {}):
        print("ready", flush=True)
        sys.stdin.read()
"""


def test_two_exports_to_one_folder(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(out)], stdin=-1, stdout=-1, text=True) as other:
        assert other.stdout is not None
        assert "ready\n" == other.stdout.readline()
        code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out)
        assert (3, f"seldio: another export to {out} is running: wait until it has ended\n") == (code, said)
        assert not (out / MANIFEST).exists()
        other.kill()
    code, said = seldio("convert", tree, "--to", "hf-parquet", "-o", out)  # the lock has died with its process
    assert 0 == code, said
    assert 0 == seldio("convert", tree, "--to", "hf-parquet", "-o", out)[0]
