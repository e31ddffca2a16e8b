"""Work on parts one after another or in several processes, with the results in the order of the parts."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from seldio.errors import SeldioError, UsageError

Part = TypeVar("Part")
Result = TypeVar("Result")
#: More processes than this are a slip.
MOST = 256


def in_order(work: Callable[[Part], Result], parts: Iterable[Part], workers: int) -> Iterator[Result]:
    """The results of *work* on all *parts*, in their order, whatever the number of *workers*.

    Parts are taken and results given one by one, never more than two for each worker ahead, so that memory does
    not grow with their number.

    Args:
        work: a function at the top level of a module, which may raise.
        parts: what it works on; like the results, pickled on the way to another process.
        workers: processes; 1 works in this one.

    Raises:
        UsageError: a number of workers that cannot be.
        SeldioError: a process was killed.
    """
    if not 1 <= workers <= MOST:
        raise UsageError(f"the number of workers is from 1 to {MOST}, not {workers}")
    return map(work, parts) if workers == 1 else _spread(work, iter(parts), workers)


def _spread(work: Callable[[Part], Result], parts: Iterator[Part], workers: int) -> Iterator[Result]:
    # spawn: works alike on all systems, and does not copy locks that another thread holds
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    ahead: deque[Future[Result]] = deque()
    try:
        for part in parts:
            with _unheard():
                ahead.append(pool.submit(work, part))
            if len(ahead) > 2 * workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    except BrokenProcessPool:
        raise SeldioError(
            "a worker process was killed, perhaps for want of memory: take fewer workers; nothing is half written"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
