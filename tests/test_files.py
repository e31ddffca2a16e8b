"""Sources: what is read, what is refused, and that nothing hangs, fills the memory or leaves the folder."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import socket
import stat
import sys
import tarfile
import unicodedata
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import laid
from effort import some
from test_rules import assert_agrees

from seldio import validate
from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.files import DEFAULTS, Limits, open_source, read_entries
from seldio.findings import Finding, Severity, raise_errors

ROWS = b"0,1,0,-50,30\n"


def read(path: str | Path, limits: Limits = DEFAULTS) -> tuple[dict[str, bytes], list[Finding]]:
    """What can be read of a source, by name, and everything found."""
    found: list[Finding] = []
    with open_source(path, found.append, limits) as source:
        contents = {entry.name: data for entry, data in read_entries(source, found.append)}
    for finding in found:
        assert_agrees(finding)
    return contents, found


def codes(found: list[Finding]) -> list[str]:
    return sorted(finding.code for finding in found)


def make_zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # duplicate names
        for name, data in members:
            archive.writestr(name, data, compress_type=zipfile.ZIP_DEFLATED)
    return path


def zip_info(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def tar_info(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def make_tar(path: Path, *members: tuple[str | tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_folder_is_walked_in_the_order_of_names(tmp_path: Path) -> None:
    names = ["b.csv", "a/z.csv", "a/b/c.csv", "a-b.csv", "Z.csv", "é.csv", "10.csv", "9.csv"]
    laid(tmp_path, {name: name for name in random.Random(3).sample(names, len(names))})
    with open_source(tmp_path, raise_errors) as source:
        assert source.kind == "folder"
        assert [entry.name for entry in source] == sorted(names, key=str.encode)
        for entry in source:
            assert entry.read() == entry.name.encode()
            assert entry.path == f"{tmp_path}/{entry.name}"
            assert entry.real == str(tmp_path / entry.name)


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
def test_hidden_names_are_skipped(kind: str, tmp_path: Path) -> None:
    hidden = (".a.csv", "..csv", ".git/x.csv", "__pycache__/x.csv", "d/.DS_Store", "Thumbs.db", "__MACOSX/._a.csv")
    members = [(name, ROWS) for name in (*hidden, "a.csv")]
    path = tmp_path / "source"
    if kind == "folder":
        laid(path, dict(members))
    else:
        (make_zip if kind == "zip" else make_tar)(path, *members)
    assert read(path) == ({"a.csv": ROWS}, [])


def test_a_hidden_file_named_by_the_user_is_read(tmp_path: Path) -> None:
    (tmp_path / ".a.csv").write_bytes(ROWS)
    assert read(tmp_path / ".a.csv") == ({".a.csv": ROWS}, [])


PACKED: dict[str, Callable[..., Path]] = {
    "zip": make_zip,
    **{
        f"tar {mode}": lambda path, *m, mode=mode: make_tar(path, *m, mode=mode)
        for mode in ("w", "w:gz", "w:bz2", "w:xz")
    },
}


@pytest.mark.parametrize("make", PACKED.values(), ids=PACKED)
def test_archives_are_told_by_content_and_read_in_place(make: Callable[..., Path], tmp_path: Path) -> None:
    contents = {f"d/{i:02}.csv": bytes([i]) * i * 100 for i in range(30)}
    shuffled = random.Random(1).sample(list(contents.items()), len(contents))
    path = make(tmp_path / "no-suffix", *shuffled, ("./top.csv", ROWS))
    with open_source(path, raise_errors) as source:
        assert source.kind in ("zip", "tar")
        assert [entry.name for entry in source] == [*contents, "top.csv"]
        for entry in source:
            assert entry.read() == contents.get(entry.name, ROWS)
            assert (entry.path, entry.real) == (f"{path}!/{entry.name}", None)
            assert entry.size == len(contents.get(entry.name, ROWS))
            with entry.open() as stream:
                assert stream.seekable()
                assert stream.read(3) == contents.get(entry.name, ROWS)[:3]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("module", "suffix"), [(gzip, ".gz"), (bz2, ".bz2"), (lzma, ".XZ")])
def test_a_single_packed_file(module, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.csv{suffix}"
    path.write_bytes(module.compress(ROWS) + module.compress(ROWS))
    with open_source(path, raise_errors) as source:
        assert source.kind == "gzip"
        (entry,) = source
        assert (entry.name, entry.path, entry.size, entry.real) == ("x.csv", str(path), -1, None)
        assert entry.read() == entry.read() == ROWS * 2


def test_a_compressed_tar_is_inflated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = random.Random(5)
    members = [(f"{number:04}.csv", noise.randbytes(4000)) for number in range(400)]
    path = make_tar(tmp_path / "x.tgz", *reversed(members), mode="w:gz")
    inflated = []
    read_plain = gzip._GzipReader.read

    def noted(self: Any, size: int = -1) -> bytes:
        inflated.append(len(data := read_plain(self, size)))
        return data

    monkeypatch.setattr(gzip._GzipReader, "read", noted)
    assert read(path) == (dict(members), [])
    assert 0 < sum(inflated) < 1.5 * 400 * (tarfile.BLOCKSIZE + 4096)


def with_stdin(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_stdin(monkeypatch, tmp_path: Path) -> None:
    with_stdin(monkeypatch, ROWS)
    with open_source("-", raise_errors) as source:
        assert (source.kind, source.path) == ("stdin", "<stdin>")
        (entry,) = source
        assert (entry.path, entry.size, entry.real) == ("<stdin>", len(ROWS), None)
        assert entry.read() == entry.read() == ROWS
    with_stdin(monkeypatch, make_zip(tmp_path / "x", ("a.csv", ROWS)).read_bytes())
    with open_source("-", raise_errors) as source:
        assert [(entry.path, entry.read()) for entry in source] == [("<stdin>!/a.csv", ROWS)]
    with_stdin(monkeypatch, b"x" * 11)
    contents, found = read("-", Limits(file_bytes=10))
    assert (contents, codes(found)) == ({}, ["SAF105"])
    with_stdin(monkeypatch, b"x" * 10)
    assert read("-", Limits(file_bytes=10)) == ({"<stdin>": b"x" * 10}, [])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SeldioError, match="closed"):
        open_source("-", raise_errors)


def test_a_file_that_hides_its_size() -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("there is no /proc here")
    contents, found = read("/proc/self/status")
    assert b"Pid:" in contents["status"]
    assert found == []
    assert codes(read("/proc/self/pagemap", Limits(file_bytes=800))[1]) == ["SAF105"]  # of gigabytes


@pytest.mark.parametrize(
    "name",
    [
        "../a.csv",
        "a/../../b.csv",
        "/tmp/a.csv",
        "//server/share/a.csv",
        "C:/a.csv",
        "c:a.csv",
        "..\\a.csv",
        "a\\..\\..\\b",
        "\\\\server\\a",
        "\\a",
        ".. /a.csv",
        "x/..",
        "../.hidden",
    ],
)
@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_saf101_names_that_leave_the_folder(make, name: str, tmp_path: Path) -> None:
    path = make(tmp_path / "x", (name, ROWS), ("ok.csv", ROWS))
    contents, found = read(path)
    assert (contents, codes(found)) == ({"ok.csv": ROWS}, ["SAF101"])
    assert found[0].path == f"{path}!/{name}"
    assert found[0].severity is Severity.ERROR
    assert found[0].hint
    with pytest.raises(InvalidData, match="SAF101"):
        open_source(path, raise_errors)


def test_saf103_pipes_and_sockets_on_disk(tmp_path: Path, monkeypatch) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes on this system")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # the names of sockets may not be long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert codes(read(tmp_path)[1]) == ["SAF103", "SAF103"]
        for name in ("pipe", "socket"):
            contents, found = read(name)
            assert (contents, codes(found), found[0].path) == ({}, ["SAF103"], name)


def test_saf103_pipes_and_devices_named_by_the_user() -> None:
    reading, writing = os.pipe()
    try:
        for name in (f"/dev/fd/{reading}", "/dev/zero", "/dev/null", "/dev/tty"):  # as in: seldio validate <(command)
            if Path(name).exists():
                contents, found = read(name)
                assert (contents, codes(found)) == ({}, ["SAF103"])
    finally:
        os.close(reading)
        os.close(writing)


def test_saf103_a_pipe_that_takes_the_place_of_a_file(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes on this system")
    (tmp_path / "a.csv").write_bytes(ROWS)
    with open_source(tmp_path, raise_errors) as source:
        (tmp_path / "a.csv").unlink()
        os.mkfifo(tmp_path / "a.csv")
        found: list[Finding] = []
        assert list(read_entries(source, found.append)) == []
        assert codes(found) == ["SAF103"]


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_saf104_the_first_of_two_members_is_read(make, tmp_path: Path) -> None:
    path = make(tmp_path / "x", ("d/a.csv", b"first"), ("./d//a.csv", b"the second"))
    contents, found = read(path)
    assert (contents, codes(found)) == ({"d/a.csv": b"first"}, ["SAF104"])
    assert "5 bytes at offset 0" in found[0].message
    assert "10 bytes at offset" in found[0].message


def test_saf105_a_member_that_is_packed_too_well(tmp_path: Path) -> None:
    contents, found = read(make_zip(tmp_path / "x", ("bomb.csv", bytes(3 * 2**20)), ("ok.csv", bytes(2**20))))
    assert (list(contents), codes(found)) == (["ok.csv"], ["SAF105"])  # up to 1 MiB any ratio will do


def test_saf105_a_file_that_is_packed_too_well(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(bytes(3 * 2**20)))
    with open_source(tmp_path / "x.gz", raise_errors) as source:
        (entry,) = source
        with pytest.raises(InvalidData, match="SAF105"):
            entry.read()
        with pytest.raises(InvalidData, match="SAF105"):
            entry.open()


@pytest.mark.parametrize("mode", some(["w:gz", "w:bz2", "w:xz"], 3))
def test_saf105_a_tar_that_is_packed_too_well(mode: str, tmp_path: Path) -> None:
    assert read(make_tar(tmp_path / "x", ("a.csv", bytes(9 * 2**20)), mode=mode))[1] == []  # as many small files alike
    assert read(make_tar(tmp_path / "x", ("bomb.csv", bytes(65 * 2**20)), mode=mode))[1][0].code == "SAF105"


def test_lines_on_disk_may_be_longer(tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_bytes(b"x" * 11)
    for place in (tmp_path, tmp_path / "qa.jsonl"):
        assert ({"qa.jsonl": b"x" * 11}, []) == read(place, Limits(file_bytes=10, lines_bytes=11))
        assert ["SAF105"] == codes(read(place, Limits(lines_bytes=10))[1])


def test_saf105_large_files_and_folders(tmp_path: Path) -> None:
    laid(tmp_path, {"a.csv": b"x" * 11, "b.csv": b"x" * 10})
    contents, found = read(tmp_path, Limits(file_bytes=10))
    assert (list(contents), codes(found)) == (["b.csv"], ["SAF105"])
    assert found[0].path == f"{tmp_path}/a.csv"
    with open_source(tmp_path, raise_errors, Limits(file_bytes=10)) as source, source.entries[0].open() as stream:
        assert len(stream.read()) == 11  # a stream fills no memory
    assert read(tmp_path, Limits(members=1))[1] == [], "that is for archives, which may unpack to anything"


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_saf105_large_archives(make, tmp_path: Path) -> None:
    members = [(f"{i}.csv", ROWS) for i in range(5)]
    path = make(tmp_path / "x", *members)
    for limits in (Limits(members=3), Limits(total_bytes=3 * len(ROWS))):
        contents, found = read(path, limits)
        assert (contents, codes(found)) == (dict(members[:3]), ["SAF105"])
    assert codes(read(path, Limits(file_bytes=5))[1]) == ["SAF105"] * 5


HARMLESS = [
    "-rf.csv",
    "[bold]x[/].csv",
    " leading.csv",
    "a'b\".csv",
    "%s%n.csv",
    "$(touch x).csv",
    "🐶.csv",
    "icon.csv",
    "console",
    "com.csv",
]


NOISE = random.Random(7).randbytes(3000)
CONTENTS = {"a.csv": NOISE, "b.csv": ROWS}
LINK, PIPE = {"type": tarfile.SYMTYPE, "linkname": "/tmp"}, {"type": tarfile.FIFOTYPE}


def two(make: Callable[..., Path], change: Callable[[bytes], bytes], **more: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(make(path, *CONTENTS.items(), **more).read_bytes()))


def flip(data: bytes) -> bytes:
    return data[:1500] + bytes([data[1500] ^ 1]) + data[1501:]


def forged() -> bytes:
    """CVE-2025-8194: a negative size sends tarfile back to where it was."""
    header = bytearray(tarfile.TarInfo("a.csv").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = b"\xff" * 8 + (-1024 & 0xFFFFFFFF).to_bytes(4, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return tarfile.TarInfo("z").tobuf() * 2 + bytes(header) + bytes(1024)


def pax_tar(path: Path, header: bytes, type: bytes = tarfile.XHDTYPE) -> None:
    """A tar of an empty file behind an extended header."""
    extended = tarfile.TarInfo("pax")
    extended.type, extended.size = type, len(header)
    head = extended.tobuf(tarfile.USTAR_FORMAT) + header + bytes(-len(header) % 512)
    path.write_bytes(head + tarfile.TarInfo("b.csv").tobuf() + bytes(1024))


#: How a source is made, and what is found in it.
FOUND: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "zip: NUL in a name": (lambda path: path.write_bytes(make_zip(path, ("b.csv_.exe", ROWS)).read_bytes().replace(b"v_", b"v\0")), {"SAF101"}),
    "tar: an empty name": (lambda path: make_tar(path, (".", ROWS)), {"SAF101"}),
    "tar: a link and what lies beneath": (lambda path: make_tar(path, ("d/a.csv", ROWS), (tar_info("d", **LINK), b"")), {"SAF102"}),
    "tar: a hard link": (lambda path: make_tar(path, (tar_info("d", type=tarfile.LNKTYPE, linkname="/tmp"), b"")), {"SAF102"}),
    "zip: a link and what lies beneath": (lambda path: make_zip(path, (zip_info("d", stat.S_IFLNK | 0o777), b"/tmp"), ("d/a.csv", ROWS)), {"SAF102"}),
    "tar: a device": (lambda path: make_tar(path, (tar_info("zero", type=tarfile.CHRTYPE), b""), ("b.csv", ROWS)), {"SAF103"}),
    "tar: a pipe": (lambda path: make_tar(path, (tar_info("zero", **PIPE), b""), ("b.csv", ROWS)), {"SAF103"}),
    "zip: a socket": (lambda path: make_zip(path, (zip_info("zero", stat.S_IFSOCK | 0o644), b""), ("b.csv", ROWS)), {"SAF103"}),
    "zip: a long directory": (lambda path: path.write_bytes(b"PK\3\4" + bytes(2**25 + 1) + b"PK\5\6\0\0\0\0\1\0\1\0" + (2**25 + 1).to_bytes(4, "little") + bytes(6)), {"SAF105"}),
    "tar: a long header": (lambda path: pax_tar(path, b"9000010 a=" + b"x" * 8_999_999 + b"\n"), {"SAF105"}),
    "tar: a name of megabytes": (lambda path: pax_tar(path, b"x" * 2**23, tarfile.GNUTYPE_LONGNAME), {"SAF105"}),
    "tar: many global records": (lambda path: pax_tar(path, b"".join(b"8 %04d=\n" % n for n in range(300)), tarfile.XGLTYPE), {"SAF105"}),
    "tar: a number of a million digits": (lambda path: pax_tar(path, b"1000010 a=" + b"1" * 999_999 + b"\n"), {"SAF105"}),  # CVE-2024-6232
    "tar: one key again and again": (lambda path: pax_tar(path, b"6 aaa\n" * 170_000 + b"="), {"SAF107"}),
    "tar: overlapping records": (lambda path: pax_tar(path, b"8 a=" * 250_000), {"SAF107"}),
    "zip: a lie about the size": (lambda path: path.write_bytes(make_zip(path, ("x.csv", bytes(2**20))).read_bytes().replace((2**20).to_bytes(4, "little"), bytes([10, 0, 0, 0]))), {"SAF107"}),
    "zip: cut short": (two(make_zip, lambda data: data[:-30]), {"SAF107"}),
    "zip: a wrong byte": (two(make_zip, flip), {"SAF107"}),
    "zip: without its end": (two(make_zip, lambda data: data[:1000]), {"SAF107"}),
    "zip: a password": (two(make_zip, lambda data: data.replace(b"PK\1\2\x14\3\x14\0\0", b"PK\1\2\x14\3\x14\0\1")), {"SAF107"}),
    "zip: an unknown method": (two(make_zip, lambda data: data.replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x63\0")), {"SAF107"}),
    "tar: cut within a member": (two(make_tar, lambda data: data[:2000]), {"SAF107"}),
    "tar: cut between members": (two(make_tar, lambda data: data[: 512 + 3072]), {"SAF107"}),
    "tar: a damaged header": (two(make_tar, lambda data: data[:3600] + b"!" + data[3601:]), {"SAF107"}),
    "tar: a forged size": (lambda path: path.write_bytes(forged()), {"SAF104", "SAF107"}),
    "tar.gz: cut short": (two(make_tar, lambda data: data[:-1000], mode="w:gz"), {"SAF107"}),
    "tar.gz: a wrong byte": (two(make_tar, flip, mode="w:gz"), {"SAF107"}),
    "gz: cut short": (lambda path: path.write_bytes(gzip.compress(NOISE)[:-10]), {"SAF107"}),
    "gz: a wrong checksum": (lambda path: path.write_bytes(gzip.compress(NOISE)[:-8] + bytes(8)), {"SAF107"}),
    "gz: rubbish behind": (lambda path: path.write_bytes(gzip.compress(NOISE) + b"rubbish"), {"SAF107"}),
    "gz: bz2 inside": (lambda path: path.write_bytes(gzip.compress(bz2.compress(ROWS))), {"SAF107"}),
    "tar: a long name": (lambda path: make_tar(path, ("é" * 126 + ".csv", ROWS)), {"SAF109"}),
    "tar: names that differ in case": (lambda path: make_tar(path, ("b.csv", ROWS), ("B.CSV", ROWS)), {"SAF109"}),
    "zip: names that differ in case": (lambda path: make_zip(path, ("b.csv", ROWS), ("b.CSV", ROWS)), {"SAF109"}),
    "tar: names that differ in form": (lambda path: make_tar(path, *((unicodedata.normalize(form, "café.csv"), ROWS) for form in ("NFC", "NFD"))), {"SAF109"}),
    "tar: keys of WebDataset": (lambda path: make_tar(path, ("a.b.wav", ROWS), ("d.e/c.wav", ROWS), ("f.json", ROWS)), {"SAF111"}),
    "zip: keys of WebDataset": (lambda path: make_zip(path, ("a.b.wav", ROWS)), set()),
    "tar: headers that programs write": (lambda path: make_tar(path, *((tar_info(f"{'é' * 90}{n}.csv", pax_headers={"mtime": "1.25", "SCHILY.xattr.user.sha256": "0=\n" * 20}), ROWS) for n in range(2000))), set()),
}  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), FOUND.values(), ids=FOUND)
def test_what_is_found_in_archives(make: Callable[[Path], object], expected: set[str], tmp_path: Path) -> None:
    make(tmp_path / "x")
    contents, found = read(tmp_path / "x")
    assert set(codes(found)) == expected
    warnings_alone = expected <= {"SAF109", "SAF111"}
    assert warnings_alone or any(finding.severity is Severity.ERROR for finding in found)
    assert contents or not warnings_alone
    assert not contents or "SAF102" not in expected, "what lies beneath a link was read"
    assert all(data in (CONTENTS.get(name, NOISE if name == "x" else ROWS), b"") for name, data in contents.items())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data[:1000], "the list of its files, at its end, is missing"),
        (lambda data: data[:35] + b"\xff" + data[36:], "its compressed data is broken"),
        (lambda data: data[: data.rfind(b"PK\1\2") + 10] + b"\xff" * 18 + data[data.rfind(b"PK\1\2") + 28 :], "the list of its files says that b.csv goes beyond its end"),
        (lambda data: b"PK\3\4" + data[4:].replace(b"PK\3\4", b"XXXX", 1), "the header of the file is broken"),
    ],
)  # fmt: skip
def test_saf107_says_what_of_a_zip_is_broken(change: Callable[[bytes], bytes], says: str, tmp_path: Path) -> None:
    two(make_zip, change)(tmp_path / "x.zip")
    (finding,) = read(tmp_path / "x.zip")[1]
    assert finding.code == "SAF107"
    assert f"({says}" in finding.message


def link_beside(target: str) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        laid(path, {"../outside.csv": ROWS, "mix001.csv": ROWS})
        (path / "mix002.csv").symlink_to(target)

    return make


def named(*names: str) -> Callable[[Path], object]:
    return lambda path: laid(path, dict.fromkeys(names, ROWS))


#: What validate says of sources of labels, and that it says nothing else of them.
VALIDATED: list[tuple[Callable[[Path], object], set[str]]] = [
    (lambda path: make_zip(path, ("a/mix001.csv", ROWS)), set()),
    (lambda path: make_tar(path, ("mix001.csv", ROWS), ("mix001.txt", b"notes")), set()),
    (link_beside("mix001.csv"), set()),
    (named("mix001.csv", "fold1_room2-a.csv"), set()),
    (lambda path: make_zip(path, ("../../mix001.csv", ROWS)), {"SAF101"}),
    (lambda path: make_tar(path, (tar_info("a", **LINK), b""), ("a/mix001.csv", ROWS)), {"SAF102"}),
    (lambda path: (path.mkdir(), (path / "mix001.csv").write_bytes(ROWS), os.mkfifo(path / "mix002.csv")), {"SAF103"}),
    (lambda path: make_zip(path, ("a.csv", bytes(3 * 2**20))), {"SAF105"}),
    (lambda path: path.write_bytes(make_tar(path, ("mix001.csv", ROWS)).read_bytes()[:819]), {"SAF107"}),
    (link_beside("../outside.csv"), {"SAF108"}),
    (named("mix001.csv", "Mix001.csv"), {"SAF109"}),
    (named("caf\u00e9.csv", "cafe\u0301.csv"), {"SAF109"}),
    (named("mix\udcff.csv"), {"SAF109"}),
]


@pytest.mark.skipif(sys.platform != "linux", reason="links, pipes and names of any bytes")
@pytest.mark.parametrize(("make", "expected"), VALIDATED)
def test_what_validate_says_of_sources(make: Callable[[Path], object], expected: set[str], tmp_path: Path) -> None:
    make(tmp_path / "x")
    report = validate(tmp_path / "x", format="starss22")
    for finding in report.findings:
        assert_agrees(finding)
    assert set(report.by_rule()) == expected


@pytest.mark.slow
def test_mutated_archives_end_in_findings_only(tmp_path: Path) -> None:
    chance = random.Random(11)
    members = [("a.csv", ROWS * 20), ("d/b.csv", NOISE[:200]), ("é" * 60 + ".csv", ROWS)]
    seeds = [make(tmp_path / "seed", *members).read_bytes() for make in PACKED.values()]
    seeds.append(gzip.compress(ROWS * 50))
    path, small = tmp_path / "x", Limits(file_bytes=2**20, total_bytes=2**22)
    for _ in range(1500):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 6)):
            place = chance.choice((chance.randrange(len(data)), chance.randrange(min(len(data), 600))))
            data[place] = chance.randrange(256)
        path.write_bytes(data[: len(data) - chance.choice((0, 0, 0, chance.randrange(len(data))))])
        for finding in read(path, small)[1]:
            assert finding.code.startswith("SAF1")


def test_saf108_links_in_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    laid(tmp_path, {"root/sub/a.csv": ROWS, "root-2/secret.csv": "secret"})
    for name, target in {
        "good.csv": "sub/a.csv",
        "good": "sub",
        "dangling.csv": "nowhere.csv",
        "through.csv": "sub/a.csv/x",
        "loop": "loop",
        "dirloop": ".",
        "sub/up": "..",
        "escape.csv": "../root-2/secret.csv",
        "escape": "../root-2",
        "absolute.csv": "/etc/hostname",
        "chain.csv": "escape.csv",
    }.items():
        (root / name).symlink_to(target)
    contents, found = read(root)
    assert contents == {"good.csv": ROWS, "good/a.csv": ROWS, "sub/a.csv": ROWS}
    assert set(codes(found)) == {"SAF108"}
    refused = {finding.path.removeprefix(f"{root}/") for finding in found}
    loops = {"loop", "dirloop", "sub/up", "good/up"}
    assert refused == loops | {"dangling.csv", "through.csv", "escape.csv", "escape", "absolute.csv", "chain.csv"}


def test_an_archive_that_is_replaced_is_not_read_on(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "a.tar", ("a.csv", ROWS))
    with open_source(path, raise_errors) as source:
        path.unlink()
        make_tar(path, ("a.csv", ROWS), ("b.csv", ROWS))
        with pytest.raises(SeldioError, match="has changed since it was opened"):
            source.entries[0].read()


def test_links_that_multiply_are_bounded(tmp_path: Path) -> None:
    for i in range(40):
        (tmp_path / f"{i:02}").mkdir()
        for name in "ab" * (i > 0):
            (tmp_path / f"{i - 1:02}" / name).symlink_to(f"../{i:02}")
    assert codes(read(tmp_path, Limits(members=500))[1]) == ["SAF105"]


def test_saf108_links_named_by_the_user(tmp_path: Path) -> None:
    laid(tmp_path, {"folder/a.csv": ROWS})
    for name, target in {"good.csv": "folder/a.csv", "good": "folder", "loop": "loop", "dangling": "x"}.items():
        (tmp_path / name).symlink_to(target)
    assert read(tmp_path / "good.csv") == ({"good.csv": ROWS}, [])
    assert read(tmp_path / "good") == ({"a.csv": ROWS}, [])
    with open_source(tmp_path / "good.csv", raise_errors) as source:
        assert source.entries[0].real == str(tmp_path / "folder" / "a.csv")
    for name in ("loop", "dangling"):
        contents, found = read(tmp_path / name)
        assert (contents, codes(found), found[0].path) == ({}, ["SAF108"], str(tmp_path / name))


AWKWARD = {
    "CON.csv": "device",
    "d/nul": "device",
    "lpt1.csv": "device",
    "a ": "ends in",
    "d./a.csv": "ends in",
    "10:30.csv": "forbids",
    "a\\b.csv": "forbids",
    "new\nline.csv": "control",
    "\x1b]0;owned\x07.csv": "control",
    "\u202etxt.csv": "control",
    "\u200bzero.csv": "control",
    "not-utf8-\udcff.csv": "UTF-8",
}


@pytest.mark.parametrize(("name", "word"), AWKWARD.items(), ids=[ascii(name) for name in AWKWARD])
def test_saf109_names_that_fail_elsewhere(name: str, word: str, tmp_path: Path) -> None:
    contents, found = read(make_tar(tmp_path / "x.tar", (name, ROWS)))
    assert (contents, codes(found)) == ({name: ROWS}, ["SAF109"])
    assert word in found[0].message
    assert found[0].severity is Severity.WARNING
    path = tmp_path / "folder" / name
    path.parent.mkdir(parents=True)
    try:
        path.write_bytes(ROWS)
    except (OSError, UnicodeError) as error:
        pytest.skip(f"this file system refuses the name: {error}")
    assert codes(read(tmp_path / "folder")[1]) == ["SAF109"]
    if "/" not in name:
        assert codes(read(path)[1]) == ["SAF109"]


def test_harmless_names(tmp_path: Path) -> None:
    for make in (make_zip, make_tar):
        assert read(make(tmp_path / "x", *((name, ROWS) for name in HARMLESS))) == (dict.fromkeys(HARMLESS, ROWS), [])


def test_zip_names_in_utf8_without_the_flag(tmp_path: Path) -> None:
    data = make_zip(tmp_path / "x", ("\N{CYRILLIC SMALL LETTER SHORT I}.csv", ROWS)).read_bytes()
    (tmp_path / "x").write_bytes(data.replace(b"\x14\0\0\x08", b"\x14\0\0\0"))
    assert read(tmp_path / "x") == ({"\N{CYRILLIC SMALL LETTER SHORT I}.csv": ROWS}, [])


@pytest.mark.parametrize("name", ["nowhere", "a.csv/b", "nowhere/a.csv", "nul\0.csv", ""])
def test_what_does_not_exist_is_wrong_usage(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    with pytest.raises(UsageError, match="no such file or folder"):
        open_source(name, raise_errors)


def test_a_name_too_long_for_the_system(tmp_path: Path) -> None:
    with pytest.raises(SeldioError, match=r"cannot read .*name too long"):
        open_source(tmp_path / ("x" * 5000), raise_errors)


def test_a_file_that_vanishes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ROWS)
    with open_source(tmp_path, raise_errors) as source:
        (tmp_path / "a.csv").unlink()
        for deed in (source.entries[0].read, source.entries[0].open):
            with pytest.raises(SeldioError, match=r"a\.csv vanished") as caught:
                deed()
            assert not isinstance(caught.value, InvalidData)


def test_a_link_that_takes_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ROWS)
    with open_source(tmp_path, raise_errors) as source:
        (tmp_path / "a.csv").unlink()
        (tmp_path / "a.csv").symlink_to("/etc/passwd")
        with pytest.raises(SeldioError, match="cannot read"):
            source.entries[0].read()


def test_files_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "a.csv").touch(mode=0)
    if os.access(tmp_path / "locked" / "a.csv", os.R_OK):
        pytest.skip("this user may read everything (root)")
    with open_source(tmp_path, raise_errors) as source, pytest.raises(SeldioError, match="Permission denied"):
        source.entries[0].read()
    (tmp_path / "locked").chmod(0)
    try:
        for path in (tmp_path, tmp_path / "locked", tmp_path / "locked" / "a.csv"):
            with pytest.raises(SeldioError, match="Permission denied"):
                open_source(path, raise_errors)
    finally:
        (tmp_path / "locked").chmod(0o700)


def test_a_failing_disk_is_no_finding(tmp_path: Path, monkeypatch) -> None:
    make_zip(tmp_path / "x", ("a.csv", ROWS))
    found: list[Finding] = []
    with open_source(tmp_path / "x", found.append) as source:

        def fail(*_: object) -> bytes:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(zipfile.ZipExtFile, "read", fail)
        with pytest.raises(SeldioError, match=r"cannot read .*Input/output error") as caught:
            list(read_entries(source, found.append))
        assert not isinstance(caught.value, InvalidData)
        assert found == []
