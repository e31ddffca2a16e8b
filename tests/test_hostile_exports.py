"""Exports that somebody else has made: the way back ends in one sentence, in little memory, and writes nothing outside.

Each has a manifest with the right hashes, as whoever makes such an export would write it.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from seldio.cli import app
from seldio.data.export_table import FILE

TAR, PARQUET = "data/train-00000-of-00001.tar", "data/train-00000-of-00001.parquet"
Files = Mapping[str, bytes]


def manifest(storage: str, held: Files, *, count: int | None = None, **changes: Any) -> bytes:
    listed = [
        {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "split": None, "rows": 1,
         "origin": None if name.startswith("data/") else name}
        for name, data in held.items()
    ]  # fmt: skip
    total = len(held) if count is None else count
    record: dict[str, Any] = {
        "seldio_export": 1, "kind": storage, "files": listed, "features": {},
        "statistics": {"layout": "folder", "clips": 1, "splits": {}, "files": {"other": total}, "bytes": 1},
    }  # fmt: skip
    return json.dumps(record | changes).encode()


def tar(*members: tarfile.TarInfo | tuple[str, bytes], end: int | None = None) -> bytes:
    """A tar whose last member tells of a file k.wav if no other member tells of it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as made:
        for one in members:
            if isinstance(one, tarfile.TarInfo):
                made.addfile(one)
            else:
                info = tarfile.TarInfo(one[0])
                info.size = len(one[1])
                made.addfile(info, io.BytesIO(one[1]))
    return out.getvalue()[:end]


def sample(**files: Any) -> tuple[str, bytes]:
    return "k.json", json.dumps({"files": files}).encode()


def odd(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def sparse(size: int) -> bytes:
    """A member of GNU's sparse format with one byte, and a hole of *size* bytes before it."""
    info = tarfile.TarInfo("k.wav")
    info.size, info.type = 512, tarfile.GNUTYPE_SPARSE
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    head[386:410] = f"{size:011o}\0".encode() + f"{1:011o}\0".encode()
    head[483:495] = f"{size + 1:011o}\0".encode()
    head[148:156] = b" " * 8
    head[148:156] = f"{sum(head):06o}\0 ".encode()
    return bytes(head) + b"x".ljust(512, b"\0") + tar(sample(wav="a.wav"))


def claiming(size: int) -> bytes:
    """A member that is said to be larger than the file."""
    info = tarfile.TarInfo("k.wav")
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT) + tar(sample(wav="a.wav"))


def table(columns: Mapping[str, Any], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, **options)
    return out.getvalue()


def cells(*values: tuple[bytes | None, str | None] | None) -> pa.Array:
    return pa.array([value and {"bytes": value[0], "path": value[1]} for value in values], FILE)


def shard(*values: tuple[bytes | None, str | None] | None, **options: Any) -> bytes:
    return table({"clip": [f"c{n}" for n in range(len(values))], "audio": cells(*values)}, **options)


def arrow() -> bytes:
    out = io.BytesIO()
    whole = pa.table({"clip": ["a"], "audio": cells((b"x", "a.wav"))})
    with pa.ipc.new_file(out, whole.schema) as writer:
        writer.write_table(whole)
    return out.getvalue()[:-40]


NESTED = b'{"files":' + b"[" * 100_000
DEEP = b"[" * 200_000
GOOD = tar(("k.wav", b"x"), sample(wav="a.wav"))


def stored(name: str, data: bytes, count: int = 1) -> dict[str, bytes]:
    kind = "webdataset" if name == TAR else "parquet"
    return {name: data, "manifest.json": manifest(kind, {name: data}, count=count)}


def told(**changes: Any) -> dict[str, bytes]:
    return {TAR: GOOD, "manifest.json": manifest("webdataset", {TAR: GOOD}, **changes)}


def listing(**changes: Any) -> dict[str, bytes]:
    """A manifest with other values in what it tells of its one file."""
    record = json.loads(manifest("webdataset", {TAR: GOOD}))
    record["files"][0] |= changes
    return {TAR: GOOD, "manifest.json": json.dumps(record).encode()}


HOSTILE: dict[str, tuple[Callable[[], dict[str, bytes]], str]] = {
    "a hole of 5 GB": (lambda: stored(TAR, sparse(5 << 30)), "SAF105"),
    "a hole below the limit of a file": (lambda: stored(TAR, sparse(800 << 20)), "SAF105"),
    "a member larger than the file": (lambda: stored(TAR, claiming(1 << 32)), "SAF107"),
    "a symbolic link": (
        lambda: stored(TAR, tar(odd("k.wav", tarfile.SYMTYPE, "/etc/passwd"), sample(wav="a.wav"))), "SAF102"),
    "a hard link": (
        lambda: stored(TAR, tar(odd("k.wav", tarfile.LNKTYPE, "/etc/passwd"), sample(wav="a.wav"))), "SAF102"),
    "a device": (lambda: stored(TAR, tar(odd("k.wav", tarfile.CHRTYPE), sample(wav="a.wav"))), "SAF103"),
    "a pipe": (lambda: stored(TAR, tar(odd("k.wav", tarfile.FIFOTYPE), sample(wav="a.wav"))), "SAF103"),
    "a name with ..": (lambda: stored(TAR, tar(("k.wav", b"x"), sample(wav="../../evil.wav"))), "SAF101"),
    "an absolute name": (lambda: stored(TAR, tar(("k.wav", b"x"), sample(wav="/tmp/evil.wav"))), "SAF101"),
    "a member with ..": (lambda: stored(TAR, tar(("../k.wav", b"x"), sample(wav="a.wav"))), "SAF101"),
    "a name of work in progress": (
        lambda: stored(TAR, tar(("k.wav", b"x"), sample(wav="seldio-parts.json"))), "holds 0 of the 1"),
    "a cut tar": (lambda: stored(TAR, GOOD[:700]), "SAF107"),
    "members twice": (lambda: stored(TAR, tar(("k.wav", b"x"), ("k.wav", b"y"), sample(wav="a.wav"))), "SAF104"),
    "one name for two files": (
        lambda: stored(TAR, tar(("k.wav", b"x"), ("k.csv", b"y"), sample(wav="a", csv="a")), 2), "SAF104"),
    "a file that is a folder too": (
        lambda: stored(TAR, tar(("k.wav", b"x"), ("k.csv", b"y"), sample(wav="a", csv="a/b")), 2), "is a file"),
    "names that are no text": (lambda: stored(TAR, tar(("k.wav", b"x"), sample(wav=["a"]))), "SAF107"),
    "no names": (lambda: stored(TAR, tar(("k.wav", b"x"))), "holds 0 of the 1"),
    "a record that is no JSON": (lambda: stored(TAR, tar(("k.wav", b"x"), ("k.json", b"\xff{"))), "SAF107"),
    "a record without an end": (lambda: stored(TAR, tar(("k.wav", b"x"), ("k.json", NESTED))), "SAF107"),
    "no file of a type": (
        lambda: stored(PARQUET, table({"clip": ["a"], "audio": pa.array([{"bytes": 1, "path": "a.wav"}])})),
        "holds 0 of the 1"),
    "paths that are numbers": (
        lambda: stored(PARQUET, table({"clip": ["a"], "audio": pa.array([{"bytes": b"x", "path": 1}])})),
        "holds 0 of the 1"),
    "columns of nothing": (lambda: stored(PARQUET, table({"clip": [None], "audio": pa.nulls(1)})), "holds 0 of the 1"),
    "empty rows": (lambda: stored(PARQUET, shard(None, (None, None))), "holds 0 of the 1"),
    "bytes without a name": (lambda: stored(PARQUET, shard((b"x", None))), "holds 0 of the 1"),
    "a name with .. in Parquet": (lambda: stored(PARQUET, shard((b"x", "../evil.wav"))), "SAF101"),
    "an absolute name in Parquet": (lambda: stored(PARQUET, shard((b"x", "/tmp/evil.wav"))), "SAF101"),
    "a cut Parquet file": (lambda: stored(PARQUET, shard((b"x" * 999, "a.wav"))[:-500]), "SAF107"),
    "no Parquet": (lambda: stored(PARQUET, b"PAR1" * 9), "SAF107"),
    "a cut Arrow file": (lambda: stored(PARQUET, arrow()), "SAF107"),
    "one file of 64 MB in little": (
        lambda: stored(PARQUET, shard((bytes(1 << 26), "a.wav"), compression="zstd", use_dictionary=False,
                                      write_statistics=False)), "SAF105"),
    "one file in 2,000 rows": (
        lambda: stored(PARQUET, shard(*((bytes(1 << 16), f"{n}.wav") for n in range(2_000)),
                                      compression="zstd", use_dictionary=["audio.bytes"],
                                      dictionary_pagesize_limit=1 << 22), 2_000), "SAF105"),
    "a manifest that is no JSON": (lambda: told() | {"manifest.json": b'{"seldio_export": 1,'}, "cannot be read"),
    "a manifest without an end": (lambda: told() | {"manifest.json": DEEP}, "cannot be read"),
    "a manifest of a list": (lambda: told() | {"manifest.json": b"[]"}, "cannot be read"),
    "another kind": (lambda: told(kind=["parquet"]), "cannot be read"),
    "no counts": (lambda: told(statistics={}), "cannot be read"),
    "counts that are text": (lambda: told(statistics={"clips": "1", "files": {"other": 1}}), "cannot be read"),
    "files that are none": (lambda: told(files=[1]), "cannot be read"),
    "a name that is a number": (lambda: listing(name=5), "cannot be read"),
    "a hash that is none": (lambda: listing(sha256=None), "cannot be read"),
    "an origin that is a list": (lambda: listing(origin=["a"]), "cannot be read"),
    "an origin with ..": (lambda: listing(origin="../../evil.tar"), "SAF101"),
    "a shard that is not there": (lambda: listing(name="data/train-00001-of-00002.tar"), "is missing"),
    "a shard outside": (lambda: listing(name="../data/train.tar"), "is missing"),
    "a shard anywhere": (lambda: listing(name="/etc/passwd"), "is missing"),
    "fewer files than counted": (lambda: told(count=7), "holds 1 of the 7"),
}  # fmt: skip


def laid(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_export_ends_in_a_sentence(what: str, tmp_path: Path) -> None:
    make, said = HOSTILE[what]
    export = laid(tmp_path / "in/export", make())
    before = {path for path in tmp_path.rglob("*") if "in" not in path.relative_to(tmp_path).parts[:1]}
    found = CliRunner().invoke(app, ["convert", str(export), "--to", "files", "-o", str(tmp_path / "deep/out")])

    assert found.exit_code in (1, 2, 3), found.output
    assert said in found.output
    assert "a bug in seldio" not in found.output
    assert len(found.output.strip().splitlines()) == 1
    written = {path for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(tmp_path / "in")}
    assert all(path.is_relative_to(tmp_path / "deep/out") for path in written - before)


def test_a_link_out_of_an_export_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    export = laid(tmp_path / "export", {"manifest.json": manifest("files", {"a.txt": b"secret"})})
    (export / "a.txt").symlink_to(tmp_path / "secret")
    found = CliRunner().invoke(app, ["convert", str(export), "--to", "files", "-o", str(tmp_path / "out")])

    assert found.exit_code in (1, 2, 3)
    assert not (tmp_path / "out").exists()


def test_names_that_are_not_utf8_come_back(tmp_path: Path) -> None:
    info = tarfile.TarInfo("k.wav")
    info.size = 1
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", encoding="utf-8", errors="surrogateescape") as made:
        made.addfile(info, io.BytesIO(b"x"))
        record = b'{"files": {"wav": "caf\\udce9.wav"}}'
        info = tarfile.TarInfo("k.json")
        info.size = len(record)
        made.addfile(info, io.BytesIO(record))
    export = laid(tmp_path / "export", stored(TAR, out.getvalue()))
    found = CliRunner().invoke(app, ["convert", str(export), "--to", "files", "-o", str(tmp_path / "out")])

    assert found.exit_code == 0, found.output
    assert [path.read_bytes() for path in (tmp_path / "out").iterdir()] == [b"x"]


#: Bytes that the way back may take beside what the program takes.
ROOM = 400 << 20


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize(
    "what",
    ["a hole of 5 GB", "a hole below the limit of a file", "one file of 64 MB in little", "one file in 2,000 rows"],
)
def test_a_hostile_export_takes_little_memory(what: str, tmp_path: Path) -> None:
    export = laid(tmp_path / "export", HOSTILE[what][0]())
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from seldio.cli import app\n"
        "import seldio.data.exporting\n"
        "try:\n"
        "    app()\n"
        "finally:\n"
        "    print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1], file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", program, "convert", str(export), "--to", "files", "-o", str(tmp_path / "out")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert found.returncode in (1, 2, 3)
    assert int(found.stderr.split()[-1]) * 1024 < ROOM
