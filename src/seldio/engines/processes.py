"""Several processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from seldio.errors import SeldioError

Part = TypeVar("Part")
Result = TypeVar("Result")


class Processes:
    """Processes that wait for work until they are closed.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._others = {process.pid for process in multiprocessing.active_children()}
        # spawn: works alike on all systems, and does not copy locks that another thread holds
        self._pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_with_parent)
        with _unheard():  # all are started now: later a Ctrl-C is always heard
            for _ in range(workers):
                self._pool.submit(_nothing)

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
        """The results of *work* on all *parts*, in their order; never more than two parts for each worker ahead.

        Raises:
            SeldioError: a process was killed.
        """
        ahead: deque[Future[Result]] = deque()
        try:
            for part in parts:
                ahead.append(self._pool.submit(work, part))
                if len(ahead) > 2 * self.workers:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        except BrokenProcessPool:
            raise SeldioError(
                "a worker process was killed, perhaps for want of memory: take fewer workers; nothing is half written "
                "(in a program of your own, it may lack the line: if __name__ == '__main__')"
            ) from None
        finally:
            for future in ahead:
                future.cancel()

    def close(self, at_once: bool) -> None:
        """End the processes, *at_once* or when they have done what they began."""
        if at_once:
            for process in multiprocessing.active_children():
                if process.pid not in self._others:
                    process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _nothing() -> None:
    """What a process is started for."""


def _end_with_parent() -> None:
    """Let this process end when the one that started it was killed: else it would wait for work for ever."""

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
