"""Who takes what: shards from arguments, the environment or torch, what is left of a pass, and its order."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from seldio.errors import UsageError

#: Shards are counted from 0: how many there are, and which one this is.
Shard = tuple[int, int]
WHOLE: Shard = (1, 0)

_MASK = 2**64 - 1


def within(outer: Shard, inner: Shard) -> Shard:
    """The shard *inner* of the shard *outer*: every ``inner``-th of every ``outer``-th element."""
    return outer[0] * inner[0], outer[1] + outer[0] * inner[1]


def checked(shard: object, what: str) -> Shard:
    """The pair *shard* as a shard; its numbers may be texts.

    Raises:
        UsageError: there is no such one.
    """
    count, index = shard if isinstance(shard, tuple | list) and len(shard) == 2 else (0, 0)
    try:
        found = int(str(count)), int(str(index))
    except ValueError:
        found = (0, 0)
    if not 0 <= found[1] < found[0]:
        raise UsageError(f"{what}: shard {index} of {count}; they are counted from 0")
    return found


def here(given: Shard | None) -> Shard:
    """The shard of this process: of its rank, as given, from the environment or from torch, and of its worker.

    The environment is RANK and WORLD_SIZE, WORKER and NUM_WORKERS. Torch is asked only where it is already imported.
    """
    rank = given or _from_environment("WORLD_SIZE", "RANK") or _torch_rank() or WHOLE
    worker = (None if given else _from_environment("NUM_WORKERS", "WORKER")) or _torch_worker() or WHOLE
    return within(rank, worker)


def _from_environment(count: str, index: str) -> Shard | None:
    values = os.environ.get(count), os.environ.get(index)
    return checked(values, f"the environment has {count} and {index}") if None not in values else None


def _torch_rank() -> Shard | None:
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not (distributed.is_available() and distributed.is_initialized()):
        return None
    return distributed.get_world_size(), distributed.get_rank()


def _torch_worker() -> Shard | None:
    data: Any = sys.modules.get("torch.utils.data")
    worker = data.get_worker_info() if data is not None else None
    return (worker.num_workers, worker.id) if worker is not None else None


def register(cls: type) -> bool:
    """Make *cls* a virtual subclass of torch's ``IterableDataset``, and tell whether torch is there for that.

    ``DataLoader`` asks with ``isinstance``, and takes an object that is none for one with random access.
    """
    data: Any = sys.modules.get("torch.utils.data")
    iterable = getattr(data, "IterableDataset", None)  # absent while torch is being imported
    if iterable is not None:
        iterable.register(cls)
    return iterable is not None


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of a pass: a few places before the cursor, and all from there to the end.

    Args:
        length: of the whole pass.
        cursor: the first place from which on nothing has been taken.
        left: places before it that have not been taken, ascending.
    """

    length: int
    cursor: int = 0
    left: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.left) + self.length - self.cursor

    def places(self, shard: Shard) -> Iterator[int]:
        """The places that are the shard's, in order."""
        count, index = shard
        yield from self.left[index::count]
        behind = index - len(self.left)
        yield from range(self.cursor + (behind if behind >= 0 else behind % count), self.length, count)

    def after(self, taken: int) -> Rest:
        """What is left when *taken* more have been taken from the front."""
        beyond = max(0, taken - len(self.left))
        return Rest(self.length, min(self.length, self.cursor + beyond), self.left[taken:])


def merged(parts: Sequence[tuple[Rest, Shard]]) -> Rest:
    """What all shards of one pass together have left, however far each of them came.

    Raises:
        UsageError: they are not all shards of one pass.
    """
    shards = {shard for _, shard in parts}
    count = parts[0][1][0] if parts else 0
    if not parts or shards != {(count, index) for index in range(count)} or len(parts) != count:
        raise UsageError(f"{len(parts)} states of {count} shards: give the state of each shard once")
    rests = {shard[1]: rest for rest, shard in parts}
    longest, shortest = max(rests.values(), key=len), min(rests.values(), key=len)
    ahead = len(longest) - len(shortest)
    # what each shard has left begins where the longest rest is that much shorter
    mine = [len(longest) - len(rests[index]) for index in range(count)]
    places = [*longest.left, *range(longest.cursor, longest.cursor + max(0, ahead - len(longest.left)))][:ahead]
    open_ = [place for number, place in enumerate(places) if number >= mine[number % count]]
    return Rest(shortest.length, shortest.cursor, (*open_, *shortest.left))


def permutation(length: int, seed: int, epoch: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers below *length*, mixed: the same for a seed and an epoch with every version of numpy.

    Sorted by the output of SplitMix64 (Steele, Lea and Flood 2014), a bijection, so that no two are equal.
    """
    start = np.uint64(_mix(_mix(seed & _MASK) ^ (epoch & _MASK)))
    keys = np.arange(length, dtype=np.uint64) + start  # wraps around, as it should
    return np.argsort(_mixed(keys), kind="stable")


def _mix(number: int) -> int:
    return int(_mixed(np.array([number], np.uint64))[0])


def _mixed(keys: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def is_count(value: object) -> TypeGuard[int]:
    """Whether *value* is a whole number, 0 or above."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def rest_of(state: Mapping[str, Any], length: int) -> Rest:
    """What a state leaves of a pass of *length*.

    Raises:
        UsageError: it is no such state.
    """
    cursor, left = state.get("cursor"), state.get("left", [])
    known = is_count(cursor) and cursor <= length and isinstance(left, list | tuple)
    if not known or not all(is_count(place) and place < int(str(cursor)) for place in left):
        raise UsageError(f"a state with cursor {cursor!r} and {left!r} left does not fit a stream of {length:,}")
    return Rest(length, int(str(cursor)), tuple(left))
