"""Work on many items: in this process, in several, or on a Ray cluster, with the same results in the same order.

Code that has items to work on calls :func:`parallel_map`. Users say once, around the whole, where it works:
:func:`running`.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from seldio import progress
from seldio.errors import SeldioError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")
#: More processes than this are a slip.
MOST_WORKERS = 256


class _Workers(NamedTuple):
    number: int
    sender: Callable[[Callable[[Any], Any]], Callable[[list[Any]], Any]]  # of some work: sends a batch, returns a task
    results: Callable[[Any], list[Any]]  # waits for a task
    close: Callable[[], None]


#: Starts the workers that a user asks for, once there is work; None to work in this process.
_starter: ContextVar[Callable[[], _Workers] | None] = ContextVar("starter", default=None)


@contextmanager
def running(workers: int | None = None, ray: bool = False) -> Iterator[None]:
    """Let what is called inside of the block work in several processes or on a Ray cluster. Results stay the same.

    A stop by Ctrl-C waits for the items that are being worked on.

    Args:
        workers: processes of this machine, by default this one alone. With *ray* the items that the cluster works on at
            a time, by default one for each processor.
        ray: work on the Ray cluster that this program is connected to, else that of ``RAY_ADDRESS``, else one that is
            started on this machine. All nodes need the same seldio, and the same files under the same paths.

    Raises:
        UsageError: the number of workers is not possible, or Ray is not installed.
        SeldioError: a worker was killed, or the cluster cannot be reached.
    """
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"the number of workers must be from 1 to {MOST_WORKERS}, not {workers}")
    start = cache(partial(_cluster if ray else _processes, workers))
    token = _starter.set(start if ray or workers not in (None, 1) else None)
    try:
        yield
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(str(stop) or "stopped; no file is half-written") from None
    finally:
        _starter.reset(token)
        if start.cache_info().currsize:  # else none were started
            start().close()


def parallel_map(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    what: str | None = None,
    size: Callable[[Item], int] | None = None,
    batch: int = 1,
    here: bool = False,
) -> Iterator[Result]:
    """Return the results of *work* on all *items*, in their order.

    Items are taken and results given one by one, a few ahead of each other, so that memory does not grow with their
    number. On the way to a worker an item is pickled: it should hold no more than *work* needs of it.

    Args:
        work: a function at the top level of a module, or a frozen dataclass that can be called; it may raise.
        items: what it works on.
        what: is done, for the display of progress; nothing is shown without.
        size: the bytes of an item, for the same.
        batch: items that travel together.
        here: work in this process: on what is packed, which each worker would unpack anew, and for work that calls
            this function itself.

    Raises:
        SeldioError: a worker was killed, or the cluster failed; and what *work* raises.
    """
    start = None if here else _starter.get()
    workers = None if start is None else start()
    total, whole = None, None
    if isinstance(items, Sequence):
        total, whole = len(items), None if size is None else sum(map(size, items))
    with progress.task(what, total, whole) as advance:
        if workers is None:
            for item in items:
                result = work(item)
                advance(1, 0 if size is None else size(item))
                yield result
            return
        waiting, send = iter(items), workers.sender(work)
        tasks: deque[tuple[list[Item], Any]] = deque()
        while (sent := list(islice(waiting, batch))) or tasks:
            if sent:
                tasks.append((sent, send(sent)))
            if not sent or len(tasks) > 2 * workers.number:  # never more than two for each worker are under way
                done, task = tasks.popleft()
                results: list[Result] = workers.results(task)
                advance(len(done), 0 if size is None else sum(map(size, done)))
                yield from results


def _work_on(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    return [work(item) for item in items]


# --- processes of this machine ---------------------------------------------------------------------------


def _processes(count: int | None) -> _Workers:
    import multiprocessing
    import signal
    from concurrent.futures import ProcessPoolExecutor

    if multiprocessing.current_process().daemon:
        raise UsageError(
            "this process may not start worker processes, because it is a daemonic one itself, such as those of "
            "multiprocessing.Pool and torch's DataLoader: choose 1 worker here"
        )
    assert count is not None
    # spawn: works alike on all systems, and does not copy locks that another thread has
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _prepare)
    ours = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if main:  # workers start now and inherit that Ctrl-C is not for them
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    for _ in range(count):
        pool.submit(os.getpid)
    if main:
        signal.signal(signal.SIGINT, ours)
    # nobody is killed: a worker that ends while it sends a result leaves half of it, and this process waits for ever
    close = partial(pool.shutdown, wait=True, cancel_futures=True)
    submit: Any = pool.submit
    return _Workers(count, lambda work: partial(submit, _work_on, work), _results_of_process, close)


def _prepare() -> None:
    """Make this worker ignore Ctrl-C, and end with the process that started it, for which it would wait forever."""
    import multiprocessing
    import signal

    def wait() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=wait, daemon=True).start()


def _results_of_process(task: Any) -> list[Any]:
    from concurrent.futures.process import BrokenProcessPool

    try:
        results: list[Any] = task.result()
    except BrokenProcessPool:
        raise SeldioError(
            "a worker process was killed, perhaps for lack of memory: use fewer workers; no file is half-written "
            "(in a program of your own, it may lack the line: if __name__ == '__main__')"
        ) from None
    return results


# --- a Ray cluster ---------------------------------------------------------------------------------------


def _cluster(count: int | None) -> _Workers:
    """Connect to a cluster unless the program is connected; work of a lost node runs again elsewhere."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else a warning about graphics processors
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed: pip install 'seldio[ray]'") from None
    connected: Any = ray  # whose functions have no types
    ours = not connected.is_initialized()
    if ours:
        quiet: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
        address = os.environ.get("RAY_ADDRESS")
        if address is not None:
            _see_that_it_answers(address)
        try:
            connected.init("auto", **quiet)
        except (ConnectionError, ValueError) as error:
            if address is not None:
                raise SeldioError(f"no Ray cluster at RAY_ADDRESS={address}: {error}") from None
            connected.init("local", num_cpus=count, include_dashboard=False, **quiet)
    count = count or max(1, int(connected.cluster_resources().get("CPU", 1)))
    task = connected.remote(_work_on)
    results = partial(_results_of_task, connected)
    close = connected.shutdown if ours else lambda: None
    return _Workers(count, lambda work: partial(task.remote, connected.put(work)), results, close)


def _see_that_it_answers(address: str) -> None:
    """Raise SeldioError if nothing answers at HOST:PORT: Ray would try for minutes, then end the process."""
    import socket

    host, _, port = address.rpartition(":")
    if not host or "//" in address or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise SeldioError(f"no Ray cluster at RAY_ADDRESS={address}: {error.strerror or error}") from None


def _results_of_task(ray: Any, task: Any) -> list[Any]:
    try:
        results: list[Any] = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ImportError):
            raise SeldioError(f"a node of the cluster lacks a module ({error.cause}): install seldio there") from None
        raise error.cause from None
    except ray.exceptions.RayError as error:
        raise SeldioError(f"the Ray cluster failed: {str(error).strip().splitlines()[0]}") from None
    return results


Thing = TypeVar("Thing")


def cut(things: Iterable[Thing], most: int, size: Callable[[Thing], int]) -> Iterator[list[Thing]]:
    """Yield *things* in their order, in runs of at most *most* bytes, or of one larger thing.

    >>> list(cut([3, 4, 9, 1, 1, 1], 7, int))
    [[3, 4], [9], [1, 1, 1]]
    """
    run: list[Thing] = []
    total = 0
    for thing in things:
        if run and total + size(thing) > most:
            yield run
            run, total = [], 0
        run.append(thing)
        total += size(thing)
    if run:
        yield run
