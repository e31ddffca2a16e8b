"""Work on many parts: in this process, in several, or on a Ray cluster, with the same results in the same order.

Whoever has parts to work on calls :func:`each`. Where that happens is not their business: users say it once, around
the whole, with :func:`running`.
"""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast, runtime_checkable

from seldio.errors import UsageError

if TYPE_CHECKING:
    from seldio.engines.ledger import Ledger

Part = TypeVar("Part")
Result = TypeVar("Result")
#: More processes than this are a slip.
MOST = 256
ENGINES = ("local", "ray")


class Runner(Protocol):
    """Something that works on parts elsewhere."""

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
        """The results of *work* on all *parts*, in their order."""
        ...

    def close(self, at_once: bool) -> None:
        """End it, *at_once* or when what has begun is done."""
        ...


@runtime_checkable
class Portable(Protocol):
    """A part that has to be made ready before it goes to another process."""

    def portable(self) -> object:
        """The same as it can be pickled."""
        ...


@dataclasses.dataclass
class _Running:
    """What a user wants; the engine is started when there is work for it."""

    name: str = "local"
    workers: int | None = 1
    ledger: Ledger | None = None
    engine: Runner | None = None

    def started(self) -> Runner | None:
        """The engine; None to work in this process."""
        if self.engine is None:
            if self.name == "ray":
                from seldio.engines.cluster import Cluster

                self.engine = Cluster(self.workers)
            elif self.workers != 1:
                from seldio.engines.processes import Processes

                self.engine = Processes(self.workers or 1)
        return self.engine


_running: ContextVar[_Running | None] = ContextVar("running", default=None)


@contextmanager
def running(
    workers: int | None = None,
    engine: str = "local",
    resume: str | os.PathLike[str] | None = None,
    *,
    resumable: bool = True,
) -> Iterator[None]:
    """Let what is called inside of the block work in several processes or on a cluster. Results stay the same.

    Args:
        workers: processes; 1 is this one alone, and what is meant by None. On a cluster, parts that are worked on at a
            time; None: as many as it has processors.
        engine: *local* for processes of this machine, *ray* for a Ray cluster (see :mod:`seldio.engines.cluster`).
        resume: a folder in which finished parts are kept: the same work with the same folder resumes from there,
            and what has changed since is done again. It is created if needed.
        resumable: whether who runs this can name such a folder, as a stop then says.

    Raises:
        UsageError: a number of workers that cannot be, an unknown engine, a folder that holds something else, or Ray
            is not installed.
        SeldioError: the disk or the cluster fails.
    """
    if engine not in ENGINES:
        raise UsageError(f"unknown engine {engine!r}; choose from {', '.join(ENGINES)}")
    if workers is not None and not 1 <= workers <= MOST:
        raise UsageError(f"the number of workers must be from 1 to {MOST}, not {workers}")
    ledger = None
    if resume is not None:
        from seldio.engines.ledger import Ledger

        ledger = Ledger(Path(resume))
    now = _Running(engine, workers if engine == "ray" else workers or 1, ledger)
    token = _running.set(now)
    well = False
    try:
        yield
        well = True
    except KeyboardInterrupt as stop:
        way = "; with --resume FOLDER, the same command would resume where it stopped" if resumable else ""
        rest = f"no file is half-written{way}" if ledger is None else ledger.rest
        raise KeyboardInterrupt(str(stop) or f"stopped; {rest}") from None
    finally:
        _running.reset(token)
        if now.engine is not None:
            now.engine.close(at_once=not well)
    if ledger is not None:
        ledger.finish()


def keeping() -> bool:
    """Whether results are kept in a folder, so that they cannot hold what only this process has."""
    now = _running.get()
    return now is not None and now.ledger is not None


def each(
    work: Callable[[Part], Result], parts: Iterable[Part], *, batch: int = 1, what: str | None = None,
    size: Callable[[Part], int] | None = None, key: Callable[[Part], object] | None = None, here: bool = False,
    ledger: Ledger | None = None,
) -> Iterator[Result]:  # fmt: skip
    """The results of *work* on all *parts*, in their order, whatever works on them.

    Parts are taken and results given one by one, a few ahead of each other, so that memory does not grow with
    their number.

    Args:
        work: a function at the top level of a module, or a frozen dataclass that can be called; it may raise, and
            depends on nothing but its part and its fields.
        parts: what it works on; like the results, pickled on the way to another process, what has a method
            ``portable`` as what that returns.
        batch: parts that travel together; their number does not depend on the workers.
        what: is done, for the display of progress; nothing is shown without.
        size: the bytes of a part, for the same.
        key: what the result depends on besides *work*, as something with a ``repr``; only with one are results kept in
            the folder of :func:`running`, as the type that *work* declares (see :mod:`seldio.engines.kept`).
        here: work in this process: for what is packed, which would have to be unpacked here all the same and would
            fill the memory on its way, and for work that calls :func:`each` itself.
        ledger: keeps the results, in the place of the folder of :func:`running`.

    Raises:
        SeldioError: a process was killed, or the cluster failed; and what *work* raises.
    """
    now = _running.get() or _Running()
    engine, kept = None if here else now.started(), (ledger or now.ledger) if key is not None else None
    order: deque[_Batch] = deque()

    def todo() -> Iterator[list[Part]]:
        length, rest = batch if engine is not None or kept is not None else 1, iter(parts)
        while those := list(islice(rest, length)):
            name = None if kept is None or key is None else kept.name_of(work, [key(part) for part in those])
            there = kept is not None and name is not None and name in kept
            again = those if there else []
            order.append(_Batch(len(those), 0 if size is None else sum(map(size, those)), name, there, again))
            if not there:
                yield those if engine is None else [
                    cast("Part", part.portable()) if isinstance(part, Portable) else part for part in those
                ]  # fmt: skip

    def done(there: bool) -> Iterator[_Batch]:
        """Batches from the front of the order: those that were kept, or one that was not."""
        while order and order[0].kept == there:
            one = order.popleft()
            advance(one.parts, one.size)
            yield one

    def found(one: _Batch) -> list[Result]:
        """The results that were kept, or that are computed again, here, because a file holds something else."""
        ledger, name = cast("Ledger", kept), cast("str", one.name)
        results = ledger.get(name, kind, one.parts)
        if results is None:
            results = several(one.again)
            ledger.put(name, kind, results)
        return results

    several, known = _Each(work), parts if isinstance(parts, Sequence) else None
    kind = _results_of(work) if kept is not None else None
    whole = sum(map(size, known)) if what is not None and known is not None and size is not None else None
    shown: AbstractContextManager[Callable[[int, int], None]] = nullcontext(lambda _count, _size: None)
    if what is not None:
        from seldio import progress

        shown = progress.task(what, None if known is None else len(known), whole)
    with shown as advance:
        for results in map(several, todo()) if engine is None else engine.map(several, todo()):
            for one in done(there=True):
                yield from found(one)
            one = next(done(there=False))
            if kept is not None and one.name is not None:
                kept.put(one.name, kind, results)
            yield from results
        for one in done(there=True):
            yield from found(one)


@dataclasses.dataclass(frozen=True)
class _Each(Generic[Part, Result]):
    """*work* on several parts."""

    work: Callable[[Part], Result]

    def __call__(self, parts: Sequence[Part]) -> list[Result]:
        return [self.work(part) for part in parts]


class _Batch(NamedTuple):
    """Parts that travel together: how many, of how many bytes, the name of their results, whether these are kept."""

    parts: int
    size: int
    name: str | None
    kept: bool
    again: list[Any]  # the parts, where they are: the file may hold something else


def _results_of(work: Callable[..., Any]) -> Any:
    from seldio.engines.kept import results_of

    return results_of(work)


# --- parts by their size ---------------------------------------------------------------------------------


Thing = TypeVar("Thing")


def cut(
    things: Iterable[Thing], most: int, size: Callable[[Thing], int], count: int | None = None
) -> Iterator[list[Thing]]:
    """*things* in their order, in parts of at most *most* bytes, or of one thing that is larger.

    >>> list(cut([3, 4, 9, 1, 1, 1], 7, int, count=2))
    [[3, 4], [9], [1, 1], [1]]
    """
    part: list[Thing] = []
    total = 0
    for thing in things:
        if part and (len(part) == count or total + size(thing) > most):
            yield part
            part, total = [], 0
        part.append(thing)
        total += size(thing)
    if part:
        yield part
