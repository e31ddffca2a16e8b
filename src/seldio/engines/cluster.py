"""A Ray cluster: one that is there, or one of this machine alone, started for the work.

A node has to see the files that the work needs; one that does not is named before the work begins.
"""

from __future__ import annotations

import logging
import os
import pickle
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.text import listed, printable

if TYPE_CHECKING:
    from types import ModuleType

Part = TypeVar("Part")
Result = TypeVar("Result")


class Cluster:
    """Tasks on a Ray cluster.

    The cluster is the one that this program is connected to, else that of ``RAY_ADDRESS``, else one that runs on
    this machine, else one is started here and ended with :meth:`close`. seldio has to be installed on all nodes,
    and they have to see the same files under the same paths.
    """

    def __init__(self, workers: int | None) -> None:
        self._ray = _ray()
        self._own = not self._ray.is_initialized()
        self._alone = self._own and _connect(self._ray, workers)
        self.workers = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def map(self, work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
        """The results of *work* on all *parts*, in their order; never more than two parts for each worker ahead.

        A part whose worker or node is lost is worked on again elsewhere.
        """
        ray = self._ray
        shared = ray.put(work)
        task = ray.remote(_done)
        ahead: deque[Any] = deque()
        checked = self._alone
        try:
            for part in parts:
                if not checked:
                    self._check_nodes(needed(work, part))
                    checked = True
                ahead.append(task.remote(shared, part))
                if len(ahead) > 2 * self.workers:
                    yield self._result(ahead.popleft())
            while ahead:
                yield self._result(ahead.popleft())
        finally:
            for reference in ahead:
                ray.cancel(reference, force=True)

    def _check_nodes(self, paths: list[str]) -> None:
        """See that all nodes see *paths*."""
        if not paths:
            return
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asked: list[tuple[str, Any]] = []
        for node in self._ray.nodes():
            if node["Alive"] and node["Resources"].get("CPU"):
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                task = self._ray.remote(absent).options(num_cpus=0, scheduling_strategy=there)
                name = f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
                asked.append((name, task.remote(paths)))
        gone: dict[str, list[str]] = {}
        for name, reference in asked:
            try:
                if lacking := self._ray.get(reference):
                    gone[name] = lacking
            except self._ray.exceptions.RayError:
                continue  # lost meanwhile, or without seldio, which the work itself will say
        if gone:
            raise unseen(list(gone), next(iter(gone.values())))

    def _result(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ImportError):
                raise SeldioError(f"a node of the cluster lacks what it needs: {cause}; install seldio there") from None
            raise cause from None
        except errors.RayError as error:
            raise SeldioError(
                f"the cluster failed on a part of the work: {str(error).strip().splitlines()[0]}"
            ) from None

    def close(self, at_once: bool) -> None:  # noqa: ARG002 - what has begun is cancelled where it is waited for
        """Leave the cluster; one that was started here ends."""
        if self._own:
            self._ray.shutdown()


def _done(work: Callable[[Part], Result], part: Part) -> Result:
    import ray

    check_here(part, str(ray.util.get_node_ip_address()))  # type: ignore[no-untyped-call]
    return work(part)


def _ray() -> ModuleType:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else a warning about processors for graphics
    try:
        import ray
    except ImportError:
        raise UsageError("--engine ray needs Ray: install seldio[ray]") from None
    return ray


def _connect(ray: ModuleType, workers: int | None) -> bool:
    """Connect to a cluster that is there, or else start one of this machine alone; tell whether it is that."""
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    address = os.environ.get("RAY_ADDRESS")
    if address is not None:
        _check(address)
    try:
        ray.init("auto", **quiet)
        return False
    except ConnectionError as error:
        if address is not None:
            raise SeldioError(f"no Ray cluster at RAY_ADDRESS={address}: {error}") from None
        ray.init("local", num_cpus=workers, include_dashboard=False, **quiet)
        return True


def _check(address: str) -> None:
    """See that something answers at HOST:PORT: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "//" in address or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise SeldioError(f"no Ray cluster at RAY_ADDRESS={address}: {error.strerror or error}") from None


# --- whether a node sees the files that some work needs --------------------------------------------------


def needed(*things: object) -> list[str]:
    """The files on disk that *things* are about, however deep they are inside: they are found by pickling.

    These are the files of entries, and all absolute paths to something that is there.
    """
    found = _Places()
    found.search(things)
    return [*dict.fromkeys([*found.files, *filter(os.path.lexists, found.named)])]


def check_here(thing: object, address: str) -> None:
    """See that the files of all entries in *thing* are there."""
    found = _Places()
    found.search(thing)
    if gone := absent(found.files):
        raise unseen([f"{socket.gethostname()} ({address})"], gone)


def absent(paths: Iterable[str]) -> list[str]:
    """Those of *paths* that this node does not see."""
    return [path for path in paths if not os.path.lexists(path)]


def unseen(nodes: list[str], paths: list[str]) -> SeldioError:
    """What to say of *nodes* that do not see *paths*."""
    which, verb = ("node", "does") if len(nodes) == 1 else ("nodes", "do")
    files = listed(list(map(printable, paths)), 1)
    return SeldioError(
        f"{which} {listed(nodes)} of the cluster {verb} not see {files}: every node needs the same files under the "
        "same paths, such as on shared storage; --engine local works on this machine only"
    )


class _Nowhere:
    def write(self, data: object) -> None:
        """Let it go."""


class _Places(pickle.Pickler):
    def __init__(self) -> None:
        super().__init__(_Nowhere())
        self.files: list[str] = []
        self.named: list[str] = []

    def search(self, thing: object) -> None:
        try:
            self.dump(thing)
        except (pickle.PicklingError, AttributeError, TypeError):
            return  # something that only the cluster knows how to pickle: what was found until there counts

    def persistent_id(self, thing: object) -> object:
        if isinstance(thing, Entry):
            self.files += [] if thing.place is None else [str(thing.place)]
            return True  # not to look inside, where its bytes may be
        if isinstance(thing, str | PurePath) and PurePath(thing).is_absolute():
            self.named.append(str(thing))
        return None
