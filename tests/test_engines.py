"""Work on many parts: the same results in the same order from one process, several, Ray, and after a break."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seldio import progress
from seldio.engines import each, running
from seldio.engines.ledger import NAME
from seldio.errors import InvalidData, SeldioError, SeldioWarning, UsageError
from seldio.findings import Finding, Severity
from seldio.reports.bars import Bars
from seldio.synth import CLIPS
from seldio.synth.tree import write_tree

#: A file to which each call of some work adds a byte, so that calls in other processes can be counted.
CALLS = "SELDIO_TEST_CALLS"


def double(number: int) -> int:
    if number == 13:
        raise InvalidData(Finding("SYN101", Severity.ERROR, "thirteen", "a.csv", 3))
    return 2 * number


@dataclasses.dataclass(frozen=True)
class Power:
    exponent: int

    def __call__(self, number: int) -> int:
        with Path(os.environ[CALLS]).open("ab") as calls:
            calls.write(b"x")
        return int(number**self.exponent)


def large(number: int) -> bytes:
    return bytes(number) * 30_000_000


def stopped_while_results_travel() -> None:
    with contextlib.suppress(KeyboardInterrupt), running(workers=2):
        for _ in each(large, [1] * 40):
            raise KeyboardInterrupt


def killed(_: int) -> int:
    os._exit(9)


# --- where work runs -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_results_come_in_order_and_errors_come_through() -> None:
    taken = []

    def parts() -> Iterator[int]:
        for number in range(12):
            taken.append(number)
            yield number

    with running(2):
        results = each(double, parts())
        assert 0 == next(results)
        assert len(taken) <= 6
        assert [2 * number for number in range(1, 12)] == list(results)
    with pytest.raises(InvalidData) as caught:
        list(each(double, [12, 13]))
    with running(2), pytest.raises(InvalidData) as there:
        list(each(double, [12, 13]))
    assert caught.value.finding == there.value.finding
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_parts_are_taken_one_by_one_without_workers() -> None:
    numbers = iter(range(5))
    assert 0 == next(each(double, numbers, batch=64))
    assert [1, 2, 3, 4] == list(numbers)


@given(count=st.integers(0, 40), batch=st.integers(1, 50))
def test_batches_change_nothing(count: int, batch: int) -> None:
    assert [2 * number for number in range(count) if number != 13] == list(
        each(double, [number for number in range(count) if number != 13], batch=batch)
    )


def test_processes_are_used_and_batches_too(tmp_path: Path) -> None:
    with running(2):
        pids = set(each(_pid, range(8), batch=2))
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2


def _pid(_: int) -> int:
    time.sleep(0.02)
    return os.getpid()


def test_a_killed_worker_is_told() -> None:
    with pytest.raises(SeldioError, match="was killed"), running(2):
        list(each(killed, [1, 2]))


@pytest.mark.parametrize("workers", [0, -1, 10**6])
def test_numbers_of_workers_that_cannot_be(workers: int) -> None:
    with pytest.raises(UsageError, match="from 1 to 256"), running(workers):
        pass


def test_unknown_engines() -> None:
    with pytest.raises(UsageError, match="choose from local, ray"), running(engine="spark"):
        pass


# --- what is kept --------------------------------------------------------------------------------------------


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "calls"
    path.touch()
    monkeypatch.setenv(CALLS, str(path))
    return path


def powers(numbers: list[int], folder: Path, exponent: int = 2, batch: int = 3, workers: int = 1) -> list[int]:
    with running(workers, resume=folder):
        return list(each(Power(exponent), numbers, batch=batch, key=str))


def test_finished_parts_are_not_worked_on_again(calls: Path, tmp_path: Path) -> None:
    folder, numbers = tmp_path / "new" / "parts", list(range(20))
    assert (
        [n**2 for n in numbers]
        == powers(numbers, folder)
        == powers(numbers, folder)
        == powers(numbers, folder, workers=2)
    )
    assert 20 == calls.stat().st_size
    assert [n**2 for n in (*range(5), 50, *range(6, 20))] == powers([*range(5), 50, *range(6, 20)], folder)
    assert 23 == calls.stat().st_size, "one batch of three is new"
    assert [n**3 for n in numbers] == powers(numbers, folder, exponent=3)
    assert 43 == calls.stat().st_size
    assert 1 + 7 == len(list(folder.iterdir())), "what no run needs any more is taken away"


def stopped(numbers: list[int], folder: Path, batch: int, stop: int) -> None:
    with running(1, resume=folder):
        for number, _ in enumerate(each(Power(2), numbers, batch=batch, key=str)):
            if number == stop:
                raise KeyboardInterrupt


@pytest.mark.slow
@given(stop=st.integers(0, 19), batch=st.integers(1, 7))
@patch.dict(os.environ)
def test_a_break_at_any_place_is_gone_on_from(stop: int, batch: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("break")
    os.environ[CALLS] = str(place / "calls")
    numbers, folder = list(range(20)), place / "parts"
    with pytest.raises(KeyboardInterrupt, match=r"finished parts? kept in .*: run the same command again"):
        stopped(numbers, folder, batch, stop)
    assert '"finished": false' in (folder / NAME).read_text()
    done = (place / "calls").stat().st_size
    assert [n**2 for n in numbers] == powers(numbers, folder, batch=batch)
    assert 20 == (place / "calls").stat().st_size
    assert done == min(20, (stop // batch + 1) * batch)
    assert '"finished": true' in (folder / NAME).read_text()


def test_without_a_folder_it_is_said_how_to_go_on_next_time() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"with --resume FOLDER, the same command would resume"), running(1):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt, match=r"^it told itself$"), running(1):
        raise KeyboardInterrupt("it told itself")
    with pytest.raises(KeyboardInterrupt, match=r"^stopped; no file is half-written$"), running(1, resumable=False):
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stop_while_results_travel_leaves_nobody_waiting() -> None:
    """A worker that dies in the middle of sending a result must not keep the parent waiting for the rest of it."""
    code = "import test_engines\nfor _ in range(4):\n    test_engines.stopped_while_results_travel()"
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}

    subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=60)


@pytest.mark.slow
def test_a_stop_ends_no_process_of_the_program_itself() -> None:
    spawn = multiprocessing.get_context("spawn")
    before = set(multiprocessing.active_children())
    with contextlib.suppress(KeyboardInterrupt), running(workers=2):
        for _ in each(double, [1, 2, 3]):
            stranger = spawn.Process(target=time.sleep, args=(60,))
            stranger.start()
            workers = set(multiprocessing.active_children()) - before - {stranger}
            assert len(workers) == 2
            raise KeyboardInterrupt
    try:
        # the pool's thread may have asked first how they ended, and not yet noted it: then they pass for alive a moment
        until = time.monotonic() + 10
        while any(worker.is_alive() for worker in workers) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(worker.is_alive() for worker in workers)
        stranger.join(0.5)
        assert stranger.is_alive()
    finally:
        stranger.kill()
        stranger.join()


def test_a_process_that_may_have_no_workers_says_so() -> None:
    """As one of a DataLoader would with AssertionError."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as pool, pytest.raises(UsageError, match=r"may not start worker processes.*choose 1 worker"):
        pool.apply(with_workers, (3,))


def with_workers(number: int) -> list[int]:
    with running(workers=2):
        return list(each(double, [number]))


def test_damaged_parts_are_worked_on_again(calls: Path, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    powers([1, 2, 3], folder, batch=1)
    for number, path in enumerate(sorted(folder.glob("*.part"))):
        path.write_bytes([b"", path.read_bytes()[:-1], path.read_bytes()[:-1] + b"!"][number])
    with pytest.warns(SeldioWarning, match=r"^3 kept results were computed again: .*\.part is damaged, or not"):
        assert [1, 4, 9] == powers([1, 2, 3], folder, batch=1, workers=2)
    assert 6 == calls.stat().st_size
    assert [1, 4, 9] == powers([1, 2, 3], folder, batch=1)
    assert 6 == calls.stat().st_size


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1")
    with pytest.raises(UsageError, match="holds something else"), running(resume=tmp_path):
        pass
    with pytest.raises(UsageError, match="is a file"), running(resume=tmp_path / "a.csv"):
        pass


def test_a_folder_of_downloads_is_none_of_finished_parts(tmp_path: Path) -> None:
    """Browsers call what they have not finished so, too."""
    (tmp_path / "film.mkv.part").write_bytes(b"1")
    with pytest.raises(UsageError, match="holds something else"), running(resume=tmp_path):
        pass
    assert (tmp_path / "film.mkv.part").is_file()


# --- how far it is -------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_bars_are_for_what_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    terminal, clock = Terminal(), Clock()
    bars = Bars(terminal, clock)
    with progress.shown_on(bars):
        for number in each(double, range(4), what="doubling numbers", size=lambda _: 500_000):
            clock.now += 0.2
            if number == 4:
                assert "" == terminal.getvalue()
        assert [] == list(bars.summary())
        for number in each(double, range(4), what="doubling slowly", size=lambda _: 500_000):
            clock.now += 2.0
            if number == 4:
                bars._progress.refresh()
                assert "doubling slowly" in terminal.getvalue()
                assert "3 of 4, 0.5 per second, 1.5 MB of 2.0 MB, 250.0 kB/s, 2.0 s left" in terminal.getvalue()
    assert ["doubling slowly: 4, 0.5 per second, 2.0 MB, 250.0 kB/s, in 8.0 s"] == list(bars.summary())


def test_nobody_looks() -> None:
    with progress.task("x", 3) as advance:
        advance(1, 2)
    assert [1, 2] == list(progress.tracked([1, 2], "x"))


def test_kept_parts_count_as_well(tmp_path: Path) -> None:
    for _ in range(2):
        clock = Clock()
        bars = Bars(Terminal(), clock)
        with progress.shown_on(bars), running(1, resume=tmp_path):
            for _ in each(double, range(4), what="x", key=str):
                clock.now += 1.0
        assert ["x: 4, 1 per second, in 4.0 s"] == list(bars.summary())


#: A command whose bars do not wait, so that they are seen however quick it is.
AT_ONCE = "import seldio.reports.bars as p; p.PATIENCE = 0; from seldio.cli import main; main()"


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_bars_are_seen_on_a_terminal_only(tmp_path: Path) -> None:
    import pty

    write_tree(tmp_path / "data", 3, seconds=3.0, clips=CLIPS[:2], media=["audio"])
    command = [sys.executable, "-c", AT_ONCE, "validate", str(tmp_path / "data"), "--deep"]
    wide = {**os.environ, "COLUMNS": "150"}
    piped = subprocess.run(command, capture_output=True, text=True, check=False, env=wide)
    assert ("", 0) == (piped.stderr, piped.returncode)
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", closefd=True) as screen:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=wide)
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # Linux ends a terminal that way
            while piece := os.read(screen.fileno(), 4096):
                seen += piece
        assert run.stdout is not None
        assert piped.stdout == run.stdout.read().decode()
        run.stdout.close()
        assert 0 == run.wait()
    text = seen.decode()
    assert "listening to recordings" in text
    last = [line for line in text.splitlines() if line.startswith("listening to recordings: ")]
    assert 1 == len(last)
    assert re.fullmatch(
        r"listening to recordings: 4, [\d,.]+ per second, [\d.]+ MB, [\d.]+ [MG]B/s, in [\d.]+ s", last[0]
    )
