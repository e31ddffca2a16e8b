"""Writing under kills, full disks and rivals: the file is the old one or the whole new one, and nothing else is left."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
from commands import laid

import seldio
from seldio.errors import SeldioError, UsageError
from seldio.files import atomic_write, write_bytes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills, limits and modes are those of POSIX")

OLD = b"old\n" * 1000
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(*seldio.__path__).parent), "PYTHONDONTWRITEBYTECODE": "1"}


def python(code: str, *args: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run *code* in a child, which has imported write_bytes and finds *args* in sys.argv."""
    prelude = "import sys; from seldio.files import write_bytes; from seldio.errors import SeldioError\n"
    command = [*before, sys.executable, "-c", prelude + code, *map(str, args)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False)


REPORT = "try:\n    write_bytes(sys.argv[1], b'new' * 10**6)\nexcept SeldioError as error:\n    print(error)\n"


def temps(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".seldio-tmp")]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "out.csv"
    path.write_bytes(OLD)
    return path


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_the_mode_of_the_umask(umask: int, tmp_path: Path) -> None:
    old = os.umask(umask)
    try:
        write_bytes(tmp_path / "a.csv", b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o666 & ~umask


def test_a_link_is_written_through(target: Path) -> None:
    folder = target.parent / "links"
    folder.mkdir()
    (folder / "link.csv").symlink_to("../out.csv")
    (folder / "new.csv").symlink_to("../new.csv")
    write_bytes(folder / "link.csv", b"new")
    write_bytes(folder / "new.csv", b"newer")
    assert (folder / "link.csv").is_symlink()
    assert target.read_bytes() == b"new"
    assert (target.parent / "new.csv").read_bytes() == b"newer"
    assert temps(folder) == temps(target.parent) == []


def test_names_may_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    write_bytes(tmp_path / ("x" * 255), b"new")
    with pytest.raises(SeldioError, match=r"cannot write .*name too long"):
        write_bytes(tmp_path / ("x" * 256), b"new")
    assert temps(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file(error: type[BaseException], target: Path) -> None:
    with pytest.raises(error), atomic_write(target) as stream:  # noqa: PT012
        stream.write(b"half")
        raise error
    assert target.read_bytes() == OLD
    assert temps(target.parent) == []


@pytest.mark.parametrize("name", ["nowhere/a.csv", "out.csv/a.csv", "", ".", "loop", "pipe"])
def test_what_cannot_be_written_is_wrong_usage(name: str, target: Path) -> None:
    (target.parent / "loop").symlink_to("loop")
    os.mkfifo(target.parent / "pipe")
    before = sorted(target.parent.iterdir())
    with pytest.raises(UsageError, match="cannot write"):
        write_bytes(target.parent / name, b"new")
    assert sorted(target.parent.iterdir()) == before


def test_devices_are_written_to_and_not_replaced() -> None:
    write_bytes("/dev/null", b"new")

    assert Path("/dev/null").is_char_device()


def test_a_file_over_the_limit_of_the_process(target: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    done = python(limit + REPORT, target)
    assert (done.stdout, done.returncode) == (f"cannot write {target}: File too large\n", 0)
    assert target.read_bytes() == OLD
    assert temps(target.parent) == []


@cache
def strace_fails() -> str:
    """Why system calls cannot be watched here; empty if they can."""
    if not shutil.which("strace"):
        return "strace is not installed"
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return f"strace may not trace here: {done.stderr}" if done.returncode else ""


def failing(fault: str, *more: str) -> tuple[str, ...]:
    """What a command stands behind so that a system call fails; skips where calls cannot be watched."""
    if strace_fails():
        pytest.skip(strace_fails())
    call = fault.partition(":")[0]
    return ("strace", "-f", "-qq", "-o", "/dev/null", *more, "-e", f"trace={call}", "-e", f"inject={fault}")


@pytest.mark.parametrize(
    ("fault", "says", "left"),
    [
        ("fsync:error=ENOSPC:when=1", "No space left on device", "old"),
        ("fsync:error=EIO:when=1", "Input/output error", "old"),
        ("rename:error=EXDEV", "Invalid cross-device link", "old"),
        ("rename:error=EACCES", "Permission denied", "old"),
        ("fsync:error=EIO:when=2", "Input/output error", "new"),  # of the folder: the new file is there
        ("fsync:error=EINVAL:when=2", "", "new"),  # a file system that knows no fsync of folders
        ("fchmod:error=EPERM", "", "new"),  # a file system that knows no modes
    ],
)
def test_failing_system_calls(fault: str, says: str, left: str, target: Path) -> None:
    done = python(REPORT, target, before=failing(fault))
    assert done.stdout == (f"cannot write {target}: {says}\n" if says else ""), done.stderr
    assert target.read_bytes() == (OLD if left == "old" else b"new" * 10**6)
    assert temps(target.parent) == []


def test_the_data_is_on_disk_before_the_name(target: Path) -> None:
    if strace_fails():
        pytest.skip(strace_fails())
    log = target.parent / "log"
    traced = ("strace", "-qq", "-y", "-o", str(log), "-e", "trace=write,fsync,rename")
    python(REPORT + "print('done')", target, before=traced)
    lines = [line for line in log.read_text().splitlines() if str(target.parent) in line or "done" in line]
    order = [re.match(r"(\w+)\(\d*<?([^>]*)", line) for line in lines]
    calls = [(match[1], Path(match[2]).name[:11]) for match in order if match]
    assert calls[0] == ("write", ".seldio-tmp")
    last = [call for call, before in zip(calls, [None, *calls], strict=False) if call != before]
    assert [call for call, _ in last] == ["write", "fsync", "rename", "fsync", "write"]
    assert (last[1][1], last[3][1]) == (".seldio-tmp", target.parent.name[:11])


MANY = (
    "from pathlib import Path; from seldio.files import many_files\n"
    "try:\n"
    "    with many_files():\n"
    "        for name in 'abc': write_bytes(Path(sys.argv[1]).with_name(name), b'new' * 10**6)\n"
    "except SeldioError as error:\n    print(error)\n"
)


@pytest.mark.parametrize(
    ("fault", "says", "new"),
    [
        ("write:error=ENOSPC:when=3", r"cannot write .*: No space left on device", ""),
        ("fsync:error=ENOSPC:when=1", r"cannot write .*/[abc]: No space left on device", ""),
        ("fsync:error=EIO:when=1", r"cannot write .*/[abc]: Input/output error", ""),
        ("rename:error=EACCES:when=2", r"cannot write .*/b: Permission denied", "a"),
        ("fsync:error=EIO", r"cannot write FOLDER: Input/output error", "abc"),
        ("fsync:error=EINVAL", "", "abc"),
    ],
)
def test_failing_system_calls_among_many_files(fault: str, says: str, new: str, tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    for place in places:
        place.write_bytes(OLD)
    says = says.replace("FOLDER", str(tmp_path))
    done = python(MANY, tmp_path / "x", before=failing(fault, *([] if "when" in fault else ["-P", str(tmp_path)])))
    assert re.fullmatch(f"{says}\n" if says else "", done.stdout), done.stdout + done.stderr
    assert new == "".join(place.name for place in places if place.read_bytes() == b"new" * 10**6)
    assert all(place.read_bytes() in (OLD, b"new" * 10**6) for place in places)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["a", "b", "c"]


@pytest.mark.slow
def test_kills_at_any_time(target: Path) -> None:
    loop = "data = sys.argv[2].encode() * 500_000\nprint(flush=True)\nwhile True: write_bytes(sys.argv[1], data)"
    prelude = "import sys; from seldio.files import write_bytes\n"
    whole = {OLD} | {bytes([65 + i]) * 500_000 for i in range(20)}
    chance = random.Random(13)
    for i in range(20):
        command = [sys.executable, "-c", prelude + loop, str(target), chr(65 + i)]
        with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE) as child:
            assert child.stdout
            child.stdout.readline()
            time.sleep(chance.uniform(0, 0.02))
            child.send_signal(signal.SIGKILL)
        assert target.read_bytes() in whole
    assert python("write_bytes(sys.argv[1], b'last')", target).returncode == 0
    assert target.read_bytes() == b"last"
    assert {path.name for path in target.parent.iterdir()} - {*temps(target.parent)} == {target.name}


@pytest.mark.slow
def test_writers_at_the_same_time(target: Path) -> None:
    prelude = "import sys; from seldio.files import write_bytes\n"
    code = prelude + "for _ in range(10): write_bytes(sys.argv[1], sys.argv[2].encode() * 300_000)"
    commands = [[sys.executable, "-c", code, str(target), letter] for letter in "ABCDEFGH"]
    writers = [subprocess.Popen(command, env=ENVIRONMENT) for command in commands]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(target.read_bytes())
    assert [writer.wait() for writer in writers] == [0] * 8
    seen.add(target.read_bytes())
    assert seen <= {OLD} | {letter.encode() * 300_000 for letter in "ABCDEFGH"}
    assert list(target.parent.iterdir()) == [target]


BROKEN = b"\xef\xbb\xbf0,1,0,-50,30,100\r\n1,1,0,-50,30,100\n\n2,1,0,-50,30,100"


MENDED = b"0,1,0,-50,30,100\n1,1,0,-50,30,100\n2,1,0,-50,30,100"


FIX = "import sys; from seldio.cli import main; print(flush=True); sys.argv[1:] = ['validate', sys.argv[1], '--fix']; main()"


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    return laid(tmp_path / "labels", {f"mix{number:03}.csv": BROKEN for number in range(40)})


@pytest.mark.slow
def test_three_processes_repair_one_folder(broken: Path) -> None:
    runs = [fixing(broken) for _ in range(3)]
    seen: set[bytes] = set()
    while any(run.poll() is None for run in runs):
        seen |= contents(broken)
    errors = [run.communicate(timeout=60)[1] for run in runs]

    assert [0, 0, 0] == [run.returncode for run in runs], errors
    assert "Traceback" not in "".join(errors)
    assert seen <= {BROKEN, MENDED}
    assert {MENDED} == contents(broken)
    assert 40 == len(list(broken.iterdir()))


@pytest.mark.slow
def test_a_full_disk_stops_a_conversion(tmp_path: Path) -> None:
    """No output is half there, and nothing is left."""
    out, labels = laid(tmp_path / "out", {}), laid(tmp_path / "in", {f"mix{n:03}.csv": MENDED for n in range(5)})
    out.mkdir()
    code = "sys.argv[1:1] = ['convert', '--to', 'dcase2024-submission', '--allow-loss', 'all', '-o']; main()"
    done = python(f"from seldio.cli import main; {code}", out, labels, before=failing("fsync:error=ENOSPC:when=1"))
    assert (3, True) == (done.returncode, "No space left on device" in done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert [] == list(out.iterdir())


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755, 0o666])
def test_an_old_file_keeps_its_mode_and_owner(mode: int, target: Path) -> None:
    owner = (12345, 12346) if os.geteuid() == 0 else (os.getuid(), os.getgid())  # only root may give files away
    os.chown(target, *owner)
    target.chmod(mode)
    write_bytes(target, b"new")
    found = target.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (mode, *owner)


def fixing(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", FIX, str(folder)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents(folder: Path) -> set[bytes]:
    return {path.read_bytes() for path in folder.glob("*.csv")}
