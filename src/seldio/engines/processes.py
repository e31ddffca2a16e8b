"""Several processes of this machine."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Generic, TypeVar

from seldio.errors import SeldioError, UsageError

Part = TypeVar("Part")
Result = TypeVar("Result")
#: Seconds in which a process has to end before it is killed.
PATIENCE = 2.0


class Processes:
    """Processes that wait for work until they are closed."""

    def __init__(self, workers: int) -> None:
        if multiprocessing.current_process().daemon:
            raise UsageError(
                "this process may not start worker processes, because it is a daemonic one itself, such as those of "
                "multiprocessing.Pool and torch's DataLoader: choose 1 worker here"
            )
        self.workers = workers
        others = {process.pid for process in multiprocessing.active_children()}
        # spawn: works alike on all systems, and does not copy locks that another thread holds
        self._pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare)
        with _unheard():  # all are started now: later a Ctrl-C is always heard
            for _ in range(workers):
                self._pool.submit(_nothing)
        # of this moment: what the program starts later for itself is not ours to end
        self._own = [process for process in multiprocessing.active_children() if process.pid not in others]

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
        """The results of *work* on all *parts*, in their order; never more than two parts for each worker ahead."""
        ahead: deque[Future[Result]] = deque()
        try:
            for part in parts:
                ahead.append(self._pool.submit(_Interruptible(work), part))
                if len(ahead) > 2 * self.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        except BrokenProcessPool:
            raise SeldioError(
                "a worker process was killed, perhaps for lack of memory: use fewer workers; no file is half-written "
                "(in a program of your own, it may lack the line: if __name__ == '__main__')"
            ) from None
        finally:
            for future in ahead:
                future.cancel()

    def close(self, at_once: bool) -> None:
        """End the processes, *at_once* or when they have done what they began."""
        if at_once:
            for process in self._own:
                process.terminate()
            self._pool.shutdown(wait=False, cancel_futures=True)
            deadline = time.monotonic() + PATIENCE
            for process in self._own:
                process.join(max(0.0, deadline - time.monotonic()))
                process.kill()  # one that is deep in a library does not hear the signal
                process.join(PATIENCE)
        self._pool.shutdown(wait=True, cancel_futures=True)


@dataclasses.dataclass
class _Worker:
    """This process, where it is a worker: is it at work on a part, and shall it end as soon as it can?"""

    working: bool = False
    ending: bool = False

    def end_if_wanted(self) -> None:
        if self.ending and self.working:
            os._exit(1)

    def end(self, *_: object) -> None:
        """The answer to SIGTERM."""
        self.ending = True
        self.end_if_wanted()


_worker = _Worker()


@dataclasses.dataclass(frozen=True)
class _Interruptible(Generic[Part, Result]):
    """*work* that a signal may end at any moment, which it may not while a result is sent.

    A process that dies in the middle of sending leaves half a message in the pipe, and the parent would wait for the
    rest for ever.
    """

    work: Callable[[Part], Result]

    def __call__(self, part: Part) -> Result:
        _worker.working = True
        try:
            _worker.end_if_wanted()
            return self.work(part)
        finally:
            _worker.working = False


def _nothing() -> None:
    """What a process is started for."""


def _prepare() -> None:
    """Let this process end with the one that started it, else it would wait for work for ever; and end it gently."""
    signal.signal(signal.SIGTERM, _worker.end)

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _unheard() -> Iterator[None]:
    """Processes that are started inside inherit that Ctrl-C is not for them: this one hears it and stops them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
