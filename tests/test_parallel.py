"""Work on many items: the same results in the same order from one process and several, and what happens on a stop."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Terminal, invoke

from seldio import progress, validate
from seldio.errors import InvalidData, SeldioError, UsageError
from seldio.findings import Finding, Severity
from seldio.parallel import parallel_map, running
from seldio.reports.bars import Bars
from seldio.synth import CLIPS
from seldio.synth.tree import write_tree


def double(number: int) -> int:
    if number == 13:
        raise InvalidData(Finding("SYN101", Severity.ERROR, "thirteen", "a.csv", 3))
    return 2 * number


def large(number: int) -> bytes:
    return bytes(number) * 30_000_000


def killed(_: int) -> int:
    os._exit(9)


def process(_: int) -> int:
    time.sleep(0.02)
    return os.getpid()


@pytest.mark.slow
def test_results_come_in_order_and_errors_come_through() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(12):
            taken.append(number)
            yield number

    with running(2):
        results = parallel_map(double, items())
        assert 0 == next(results)
        assert len(taken) <= 6
        assert [2 * number for number in range(1, 12)] == list(results)
    with pytest.raises(InvalidData) as alone:
        list(parallel_map(double, [12, 13]))
    with running(2), pytest.raises(InvalidData) as there:
        list(parallel_map(double, [12, 13]))
    assert alone.value.finding == there.value.finding
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_items_are_taken_one_by_one_without_workers() -> None:
    numbers = iter(range(5))
    assert 0 == next(parallel_map(double, numbers, batch=64))
    assert [1, 2, 3, 4] == list(numbers)


@pytest.mark.slow
def test_workers_find_the_same(tmp_path: Path) -> None:
    write_tree(tmp_path, 5, seconds=6.0, clips=CLIPS[:3])
    recordings = sorted(tmp_path.rglob("*.wav"))
    recordings[0].write_bytes(recordings[0].read_bytes()[:-5000])
    recordings[1].write_bytes(b"<!DOCTYPE html>")
    recordings[3].write_bytes(recordings[2].read_bytes())
    with next(tmp_path.rglob("*.csv")).open("ab") as labels:
        labels.write(b"3,99,0,10,10,200\n")
    alone = validate(tmp_path, deep=True).findings
    assert {"AUD101", "AUD102", "AUD207", "LAB102"} <= {finding.code for finding in alone}
    with running(2):
        assert alone == validate(tmp_path, deep=True).findings


@pytest.mark.slow
def test_a_killed_worker_is_reported() -> None:
    with pytest.raises(SeldioError, match="was killed"), running(2):
        list(parallel_map(killed, [1, 2]))


@pytest.mark.parametrize(("workers", "message"), [("0", "from 1 to 256, not 0"), ("-2", "not -2"), ("spark", "or ray")])
def test_the_option_refuses_what_is_no_number(workers: str, message: str, tmp_path: Path) -> None:
    result = invoke("validate", tmp_path, "--workers", workers)
    assert 2 == result.exit_code
    assert message in result.stderr


def stopped_while_results_travel() -> None:
    with contextlib.suppress(KeyboardInterrupt), running(workers=2):
        for _ in parallel_map(large, [1] * 40):
            raise KeyboardInterrupt


def in_another_process(code: str) -> subprocess.Popen[bytes]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, start_new_session=True)


@pytest.mark.slow
def test_a_stop_while_results_travel_leaves_nobody_waiting() -> None:
    code = "import test_parallel\nfor _ in range(4):\n    test_parallel.stopped_while_results_travel()"
    with in_another_process(code) as run:
        assert 0 == run.wait(60)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_workers_end_with_the_process_that_started_them() -> None:
    code = """
import test_parallel, time
from seldio.parallel import parallel_map, running
if __name__ == "__main__":
    with running(2):
        for number in parallel_map(test_parallel.process, range(10_000)):
            print(number, flush=True)
"""
    with in_another_process(code) as run:
        assert run.stdout is not None
        worker = int(run.stdout.readline())
        run.kill()
    until = time.monotonic() + 10
    while Path(f"/proc/{worker}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}").exists()


@pytest.mark.slow
def test_a_stop_ends_no_process_of_the_program_itself() -> None:
    spawn = multiprocessing.get_context("spawn")
    stranger = spawn.Process(target=time.sleep, args=(60,))
    with contextlib.suppress(KeyboardInterrupt), running(workers=2):
        for _ in parallel_map(double, [1, 2, 3]):
            stranger.start()
            raise KeyboardInterrupt
    try:
        assert stranger.is_alive()
        assert [stranger] == multiprocessing.active_children()
    finally:
        stranger.kill()
        stranger.join()


def test_a_stop_says_that_no_file_is_half_written() -> None:
    with pytest.raises(KeyboardInterrupt, match=r"^stopped; no file is half-written$"), running():
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt, match=r"^3 of 4 are written$"), running():
        raise KeyboardInterrupt("3 of 4 are written")


def with_workers(number: int) -> list[int]:
    with running(workers=2):
        return list(parallel_map(double, [number]))


@pytest.mark.slow
def test_a_process_that_may_have_no_workers_says_so() -> None:
    """As one of a DataLoader would with AssertionError."""
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1) as pool, pytest.raises(UsageError, match=r"may not start worker processes.*choose 1 worker"):
        pool.apply(with_workers, (3,))


def test_bars_are_for_what_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    terminal, passed = Terminal(), [0.0]
    bars = Bars(terminal, lambda: sum(passed))
    with progress.shown_on(bars):
        for number in parallel_map(double, range(4), what="doubling numbers", size=lambda _: 500_000):
            passed.append(0.2)
            if number == 4:
                assert "" == terminal.getvalue()
        assert "" == terminal.getvalue()
        for number in parallel_map(double, range(4), what="doubling slowly", size=lambda _: 500_000):
            passed.append(2.0)
            if number == 4:
                bars._progress.refresh()
                assert "doubling slowly" in terminal.getvalue()
                assert " 75%" in terminal.getvalue()
