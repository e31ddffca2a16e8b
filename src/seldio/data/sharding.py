"""Who takes what: shards from arguments, the environment or torch, and the order of a pass."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import context, sharedctypes
from typing import Any, Literal

import numpy as np

from seldio.errors import UsageError

#: Shards are counted from 0: how many there are, and which one this is.
Shard = tuple[int, int]
WHOLE: Shard = (1, 0)
#: What happens to the elements at the end of a pass of which not every rank gets one.
Even = Literal["drop", "repeat"]
#: Libraries that share out what a stream gives to several ranks, by themselves or where they are asked to.
_SPLITTERS = ("datasets", "tensorflow", "accelerate")

_MASK = 2**64 - 1


def within(outer: Shard, inner: Shard) -> Shard:
    """The shard *inner* of the shard *outer*."""
    return outer[0] * inner[0], outer[1] + outer[0] * inner[1]


def checked(shard: object, what: str) -> Shard:
    """The pair *shard* as a shard; its numbers may be texts."""
    count, index = shard if isinstance(shard, tuple | list) and len(shard) == 2 else (0, 0)
    try:
        found = int(str(count)), int(str(index))
    except ValueError:
        found = (0, 0)
    if not 0 <= found[1] < found[0]:
        raise UsageError(f"{what}: shard {index} of {count}; shards are counted from 0")
    return found


@dataclass(frozen=True, slots=True)
class OwnShard:
    """The share of this process in a pass: the shard *worker* of the shard *rank* of its rank."""

    rank: Shard = WHOLE
    worker: Shard = WHOLE

    @property
    def shard(self) -> Shard:
        """The shard of this process."""
        return within(self.rank, self.worker)

    def count(self, length: int, even: Even | None) -> int:
        """How many elements all ranks together take of *length*, so that each takes as many where they are *even*."""
        over = length % self.rank[0]
        return length if not over or even is None else length - over + (self.rank[0] if even == "repeat" else 0)

    def places(self, length: int, even: Even | None, size: int) -> Sequence[range]:
        """Return what this process takes of *length*: the workers of a rank take batches of *size* in turn."""
        ours = range(self.rank[1], self.count(length, even), self.rank[0])
        count, index = self.worker
        if count == 1:
            return [ours]
        return [ours[start : start + size] for start in range(index * size, len(ours), count * size)]


def own_shard(chosen: Shard | None, split: bool | None, kind: type) -> OwnShard:
    """Return what this process takes: of its rank, as *chosen*, from the environment or torch, and of its worker.

    The environment is RANK and WORLD_SIZE, WORKER and NUM_WORKERS. Torch is asked only where it is already imported.
    Whether to *split* at all is an error if nobody said so and a library that is imported may do that too: then a
    torch loader reads something else than a stream (of class *kind*), or there are several ranks.
    """
    if split is False:
        return OwnShard(chosen or WHOLE)
    distributed: Any = sys.modules.get("torch.distributed")
    data: Any = sys.modules.get("torch.utils.data")
    loader = data.get_worker_info() if data is not None else None
    rank = chosen or _from_environment("WORLD_SIZE", "RANK")
    if rank is None:
        ranked = distributed is not None and distributed.is_available() and distributed.is_initialized()
        rank = (distributed.get_world_size(), distributed.get_rank()) if ranked else WHOLE
    worker = None if chosen else _from_environment("NUM_WORKERS", "WORKER")
    own = OwnShard(rank, worker or ((loader.num_workers, loader.id) if loader is not None else WHOLE))
    if split is None and (other := _other_splitter(own, loader, chosen, kind)) is not None:
        raise UsageError(
            f"{other} may split this stream between ranks or workers; the stream would split it again (shard "
            f"{own.shard[1]} of {own.shard[0]}), and elements would be lost. Choose split=False if {other} splits, "
            "or split=True if only the stream should. For datasets, pass the numbers of the windows as shards: "
            'IterableDataset.from_generator(windows.stream, gen_kwargs={"shards": list(range(len(windows)))})'
        )
    return own


def _other_splitter(own: OwnShard, loader: Any, chosen: Shard | None, kind: type) -> str | None:
    """Return what may split a stream of *kind* too, besides the torch *loader* that reads it; None for nothing."""
    if own.worker[0] > 1 and loader is not None:
        owner = type(loader.dataset)
        if not issubclass(owner, kind) and not owner.__module__.startswith(("torch.", "builtins")):
            return f"{owner.__module__.partition('.')[0]}.{owner.__name__}"
    shared = own.shard if loader is None else own.rank  # a loader's workers share what their process has
    if chosen is not None or shared[0] == 1:
        return None
    return " or ".join(name for name in _SPLITTERS if name in sys.modules) or None


def _from_environment(count: str, index: str) -> Shard | None:
    values = os.environ.get(count), os.environ.get(index)
    return checked(values, f"the environment has {count} and {index}") if None not in values else None


def register(cls: type) -> bool:
    """Make *cls* a virtual subclass of torch's ``IterableDataset``, and tell whether torch is there for that.

    ``DataLoader`` asks with ``isinstance``, and takes any other object for one with random access.
    """
    data: Any = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)  # absent while torch is being imported
    if iterable is not None:
        iterable.register(cls)
    return iterable is not None


def permutation(length: int, seed: int, epoch: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers below *length*, mixed: the same for a seed and an epoch with every version of numpy.

    Sorted by the output of SplitMix64 (Steele, Lea and Flood 2014), a bijection, so that no two are equal.
    """
    words = np.array([seed & _MASK, epoch & _MASK], np.uint64)
    start = _mixed(_mixed(words[:1]) ^ words[1:])
    keys = np.arange(length, dtype=np.uint64) + start  # wraps around, as it should
    return np.argsort(_mixed(keys), kind="stable")


def _mixed(keys: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


class SharedEpoch:
    """The epoch of a stream, in memory that it shares with its copies in worker processes.

    Workers that stay for several passes have a copy of the stream, whose owner chooses the epochs. Copies made
    otherwise have an epoch of their own.
    """

    def __init__(self, epoch: int = 0) -> None:
        self._times = 0
        try:
            self._cells: Any = sharedctypes.RawArray("q", [0, epoch])
        except OSError:  # nowhere to put it; then workers keep their first epoch
            self._cells = [0, epoch]

    def __getstate__(self) -> dict[str, Any]:
        if context.get_spawning_popen() is not None:
            return vars(self)
        return {"_epoch": self._cells[1]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state if "_cells" in state else vars(SharedEpoch(state["_epoch"])))

    def set(self, epoch: int) -> None:
        """Choose the epoch here and in the workers."""
        self._cells[1] = epoch
        self._times = self._cells[0] = self._cells[0] + 1

    def news(self) -> int | None:
        """The epoch that another process has chosen since this was last called; None if none has."""
        if self._times == self._cells[0]:
            return None
        self._times = self._cells[0]
        return int(self._cells[1])
