"""A stream over anything with random access: shards, order, batches, and a state from which it resumes exactly.

A batch collates each key of its elements: stacked, padded or listed, as NumPy arrays or tensors.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import chain, islice
from multiprocessing import context, sharedctypes
from typing import Any, Literal, NoReturn, Self, SupportsIndex, get_args

import numpy as np

from seldio.errors import UsageError

#: How many elements have been taken when a value is given, and the value.
_Counted = Iterator[tuple[int, Any]]
_VERSION = 1
Arrays = Sequence[np.ndarray[Any, Any]]

#: What parts of different lengths are filled up with, or ``list`` to leave them as they are: one for every part whose
#: length differs, or one for each part by name.
Pad = float | Literal["list"] | Mapping[str, float | Literal["list"]] | None
#: Shards are counted from 0: how many there are, and which one this is.
Shard = tuple[int, int]
WHOLE: Shard = (1, 0)
#: What happens to the elements at the end of a pass of which not every rank gets one.
Even = Literal["drop", "repeat"]
#: Libraries that share out what a stream gives to several ranks, by themselves or where they are asked to.
_SPLITTERS = ("datasets", "tensorflow", "accelerate")

#: Bytes up to which a tensor is not put into shared memory.
_SMALL = 4096


class Stream:
    """The elements of a source in order, or shuffled anew in each epoch; torch's loaders take it as it is.

    Ranks and workers share the elements: the k-th of n takes every n-th, from the arguments of :meth:`shard`, else
    from the environment (RANK and WORLD_SIZE, WORKER and NUM_WORKERS), else from torch, if that is already imported.
    Workers of a torch loader always share what their process has, and take whole batches of :meth:`batch` in turn, so
    that the batches are the same with any number of workers. Where something else may split the stream (a dataset
    of another class in a torch loader; ``datasets``, tensorflow or accelerate on several ranks), to split here as well
    would lose elements: then *split* has to say who does it.

    Each iteration is a new pass from the beginning, except the first one after :meth:`load_state_dict`, which resumes
    where the state was taken. Import torch before you make a stream for one of its loaders.

    Args:
        source: has ``len()`` and is indexed by numbers, such as :class:`seldio.data.Windows`.
        seed: of the order, the same on every machine; None for the order of the source.
        split: share the elements between ranks and workers: True always, False never (except by :meth:`shard`), None
            unless something else may do so.
        even: give all ranks the same number of elements, and so of batches, as training in step needs it, where their
            number is not a multiple of the ranks: ``drop`` the last elements of a pass, or ``repeat`` its first ones.
        only: the numbers of the elements to go through; None for all.

    Raises:
        UsageError: *even* is something else.
    """

    def __init__(
        self,
        source: Sequence[Any],
        *,
        seed: int | None = None,
        split: bool | None = None,
        even: Even | None = None,
        only: Sequence[int] | None = None,
    ) -> None:
        if even not in (None, *get_args(Even)):
            raise UsageError(f"even={even!r}: choose {' or '.join(map(repr, get_args(Even)))}, or None")
        self._source, self._seed, self._split, self._even, self._only = source, seed, split, even, only
        self._shard: Shard | None = None
        self._stages: tuple[_Stage, ...] = ()
        # where the last pass is: elements of all shards before it, those that this shard has taken, and of how many
        self._epoch, self._cursor, self._taken, self._shards = 0, 0, 0, 1
        self._resumed, self._shared = False, SharedEpoch()
        self._register()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._register()

    @staticmethod
    def _register() -> None:
        """Make streams virtual subclasses of torch's ``IterableDataset``, if torch is there.

        ``DataLoader`` asks with ``isinstance``, and takes any other object for one with random access.
        """
        # absent while torch is being imported
        iterable: Any = getattr(sys.modules.get("torch.utils.data"), "IterableDataset", None)
        if iterable is not None:
            iterable.register(Stream)

    def __repr__(self) -> str:
        parts = [repr(self._source) if self._only is None else f"{self._length} of {self._source!r}"]
        parts += [] if self._shard is None else [f"shard={self._shard[1]} of {self._shard[0]}"]
        options = {"seed": self._seed, "split": self._split, "even": self._even}
        parts += [f"{name}={value!r}" for name, value in options.items() if value is not None]
        return f"Stream({', '.join([*parts, *(stage.name for stage in self._stages)])})"

    def __iter__(self) -> Iterator[Any]:
        self._begin(self._shared.epoch(self._epoch))
        if not self._resumed:
            self._cursor = 0
        rank, worker = self._shares()
        self._resumed, self._taken, self._shards = False, 0, rank[0] * worker[0]
        return self._elements(self._cursor, self._places(self._length - self._cursor, rank, worker))

    def _elements(self, cursor: int, places: Sequence[range]) -> Iterator[Any]:
        length = self._length
        order: Any = range(length)
        if self._seed is not None:
            order = permutation(length, self._seed, self._epoch)
        if self._only is not None:
            order = np.asarray(self._only, np.int64)[np.asarray(order)]
        counted: _Counted = (
            (taken, self._source[int(order[(cursor + place) % length])])  # past the end the pass begins anew
            for taken, place in enumerate(chain.from_iterable(places), 1)
        )
        for stage in self._stages:
            counted = stage(counted)
        for taken, value in counted:
            self._taken = taken  # before the value is out, so that a state taken then counts it
            yield value

    def __len__(self) -> int:
        """Return how many elements, or batches, the next pass gives here: what is left of it, after a state was loaded.

        That is the share of this rank, and in a worker of a loader that of the worker. ``len(loader)`` of torch is that
        of the rank, exact for batches of :meth:`batch`. For batches of its own, the loader divides it by their size; as
        each of several workers ends with one of its own, there may be up to one more for each further worker, and
        with ``drop_last`` as many fewer.

        Raises:
            UsageError: as iterating does, where it is not clear who splits.
        """
        self._begin(self._shared.epoch(self._epoch))
        left = self._length - (self._cursor if self._resumed else 0)
        number = sum(map(len, self._places(left, *self._shares())))
        for stage in self._stages:
            number = number // stage.size if stage.drop_last else -(-number // stage.size)
        return number

    def __getitem__(self, number: object) -> NoReturn:
        """Raise UsageError: only torch's loaders ask by number, if the stream is older than the import of torch."""
        raise UsageError("a stream has no elements by number: import torch before you make a stream for its loader")

    @property
    def _length(self) -> int:
        return len(self._source if self._only is None else self._only)

    def _shares(self) -> tuple[Shard, Shard]:
        """Return the shard of this rank, and within it that of this worker.

        Raise UsageError if nobody said who splits, and a library that is imported may do that too: a torch loader
        reads something else than a stream, or there are several ranks.
        """
        if self._split is False:
            return self._shard or WHOLE, WHOLE
        loader = _loader()
        rank, worker = self._shard, None
        if rank is None:
            distributed: Any = sys.modules.get("torch.distributed")
            ranked = distributed is not None and distributed.is_available() and distributed.is_initialized()
            of_torch = (distributed.get_world_size(), distributed.get_rank()) if ranked else WHOLE
            rank = _from_environment("WORLD_SIZE", "RANK") or of_torch
            worker = _from_environment("NUM_WORKERS", "WORKER")
        worker = worker or (WHOLE if loader is None else (loader.num_workers, loader.id))
        if self._split:
            return rank, worker
        other = ""
        owner = Stream if loader is None or worker[0] == 1 else type(loader.dataset)
        if not issubclass(owner, Stream) and not owner.__module__.startswith(("torch.", "builtins")):
            other = f"{owner.__module__.partition('.')[0]}.{owner.__name__}"
        # a loader's workers share what their process has
        elif self._shard is None and (rank[0] > 1 or (loader is None and worker[0] > 1)):
            other = " or ".join(name for name in _SPLITTERS if name in sys.modules)
        if other:
            count, index = within(rank, worker)
            raise UsageError(
                f"{other} may split this stream between ranks or workers; the stream would split it again (shard "
                f"{index} of {count}), and elements would be lost. Choose split=False if {other} splits, or split=True "
                "if only the stream should. For datasets, pass the numbers of the windows as shards: "
                'IterableDataset.from_generator(windows.stream, gen_kwargs={"shards": list(range(len(windows)))})'
            )
        return rank, worker

    def _places(self, left: int, rank: Shard, worker: Shard) -> Sequence[range]:
        """Return the places of a shard in what is left: the workers of a rank take its batches in turn."""
        ranks, number = rank
        over = left % ranks
        if over and self._even is not None:  # all ranks together take fewer or more, so that each takes as many
            left += ranks - over if self._even == "repeat" else -over
        of_rank = range(number, left, ranks)
        count, index = worker
        if count == 1:
            return [of_rank]
        size = math.prod(stage.size for stage in self._stages)
        return [of_rank[start : start + size] for start in range(index * size, len(of_rank), count * size)]

    def shard(self, num_shards: int, index: int) -> Self:
        """Return a stream of every *num_shards*-th element, from number *index* on; of a shard, a shard of it.

        Raises:
            UsageError: there is no such shard.
        """
        part = _checked(num_shards, index, "shard()")
        return self._with(_shard=part if self._shard is None else within(self._shard, part))

    def shuffle(self, seed: int = 0) -> Self:
        """Return a stream in an order that *seed* and the epoch decide, the same on every machine."""
        return self._with(_seed=seed)

    def map(self, function: Callable[[Any], Any]) -> Self:
        """Return a stream with *function* on each element, or batch after :meth:`batch`; workers may pickle it."""
        name = f"map({getattr(function, '__qualname__', type(function).__qualname__)})"
        return self._with(_stages=(*self._stages, _Stage(name, function)))

    def batch(self, size: int, *, pad: Pad = None, drop_last: bool = False) -> Self:
        """Return a stream of batches of *size* elements, put together by :func:`seldio.data.collate`.

        Args:
            size: elements of a batch; the last one may have less.
            pad: what parts of different lengths are filled up with, one value or one by name, or ``list``.
            drop_last: leave out a last batch that has less.

        Raises:
            UsageError: *size* is below 1.
        """
        if size < 1:
            raise UsageError(f"batches of {size}: choose 1 or more")
        # the elements of windows have a signature, which tells the parts of which lengths always differ
        signature = getattr(self._source, "signature", {}) if pad is not None and not self._stages else {}
        ragged = {name: shape for name, (shape, kind) in signature.items() if None in shape and kind != "string"}
        together = partial(collate, pad=pad, axes={name: shape.index(None) for name, shape in ragged.items()})
        stage = _Stage(f"batch({size}, pad={pad}, drop_last={drop_last})", together, size, True, drop_last)
        return self._with(_stages=(*self._stages, stage))

    def _with(self, **changes: Any) -> Self:
        other = copy.copy(self)
        vars(other).update(_shared=SharedEpoch(self._epoch), **changes)
        return other

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the following passes, here and in workers that have been started with this stream.

        Another epoch than that of a loaded state begins anew.
        """
        self._begin(epoch)
        self._shared.choose(epoch)

    def _begin(self, epoch: int) -> None:
        if epoch != self._epoch:
            self._epoch, self._resumed, self._cursor, self._taken = epoch, False, 0, 0

    def state_dict(self) -> dict[str, Any]:
        """Return where the last pass is, as small JSON.

        ``cursor`` counts the elements that all shards have taken, each as many as this one, so that the state also
        fits another number of shards.
        """
        cursor = min(self._length, self._cursor + self._taken * self._shards)
        return self._identity() | {"epoch": self._epoch, "cursor": cursor}

    def _identity(self) -> dict[str, Any]:
        return {"version": _VERSION, "length": self._length, "seed": self._seed}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume where *state* was taken, with as many ranks and workers as there are now.

        Raises:
            UsageError: it is not that of a stream of this length and seed, so that the rest would be another.
        """
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise UsageError(
                    f"the state has {name} {state.get(name)!r}, but this stream has {value!r}: it was saved by a "
                    "different stream"
                )
        epoch: Any = state.get("epoch")
        cursor: Any = state.get("cursor")
        fits = type(epoch) is type(cursor) is int and epoch >= 0 and 0 <= cursor <= self._length
        if not fits or state.get("left"):
            raise UsageError(f"a state with epoch {epoch!r} and cursor {cursor!r} does not fit {self!r}")
        self._epoch, self._cursor, self._taken, self._resumed = epoch, cursor, 0, True


def _loader() -> Any:
    """Return what torch says of the worker of a loader that this process is; None elsewhere, and without torch."""
    data: Any = sys.modules.get("torch.utils.data")
    return data.get_worker_info() if data is not None else None


def within(outer: Shard, inner: Shard) -> Shard:
    """Return the shard *inner* of the shard *outer*."""
    return outer[0] * inner[0], outer[1] + outer[0] * inner[1]


def _checked(count: Any, index: Any, what: str) -> Shard:
    """Return a shard of numbers that may be texts."""
    try:
        shard = int(str(count)), int(str(index))
    except ValueError:
        shard = (0, 0)
    if not 0 <= shard[1] < shard[0]:
        raise UsageError(f"{what}: shard {index} of {count}; shards are counted from 0")
    return shard


def _from_environment(count: str, index: str) -> Shard | None:
    if count not in os.environ or index not in os.environ:
        return None
    return _checked(os.environ[count], os.environ[index], f"the environment has {count} and {index}")


# --- the order of a pass ---------------------------------------------------------------------------------


def permutation(length: int, seed: int, epoch: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the numbers below *length*, mixed: the same for a seed and an epoch with every version of numpy.

    Sorted by the output of SplitMix64 (Steele, Lea and Flood 2014), a bijection, so that no two are equal.
    """
    words = np.array([seed % 2**64, epoch % 2**64], np.uint64)
    start = _mixed(_mixed(words[:1]) ^ words[1:])
    keys = np.arange(length, dtype=np.uint64) + start  # wraps around, as it should
    return np.argsort(_mixed(keys), kind="stable")


def _mixed(keys: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


# --- the epoch of workers that stay ----------------------------------------------------------------------


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

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        if context.get_spawning_popen() is not None:
            return super().__reduce_ex__(protocol)
        return SharedEpoch, (self._cells[1],)

    def choose(self, epoch: int) -> None:
        """Choose the epoch here and in the workers."""
        self._cells[1] = epoch
        self._times = self._cells[0] = self._cells[0] + 1

    def epoch(self, present: int) -> int:
        """Return the epoch that another process has chosen since this was last called; *present* if none has."""
        if self._times == self._cells[0]:
            return present
        self._times = self._cells[0]
        return int(self._cells[1])


# --- what is done with the elements on their way ---------------------------------------------------------


@dataclasses.dataclass(frozen=True, repr=False)
class _Stage:
    """A function of each value, or of each list of *size* values."""

    name: str
    function: Callable[[Any], Any]
    size: int = 1
    listed: bool = False  # whether the function is given lists
    drop_last: bool = False  # leave out a last list that has fewer values

    def __call__(self, counted: _Counted) -> _Counted:
        counted = iter(counted)
        while values := list(islice(counted, self.size)):
            if len(values) == self.size or not self.drop_last:
                inputs = [value for _, value in values]
                yield values[-1][0], self.function(inputs if self.listed else inputs[0])


# --- batches ---------------------------------------------------------------------------------------------


def collate(
    elements: Sequence[Any], pad: Pad = None, *, tensors: bool = False, axes: Mapping[str, int] | None = None
) -> Any:
    """Return a batch of elements: each part with a first axis for the batch, texts and other objects as lists.

    It is the ``collate_fn`` of a loader of torch as well; to choose options, with ``functools.partial``.

    Args:
        elements: such as windows: mappings with the same names, or arrays or numbers.
        pad: for arrays of different lengths, what they are filled up with (``{"audio": 0, "target": math.nan}``, or
            one value for all); ``NAME_mask``, bool of shape (batch, longest), then tells what was there. ``list``
            makes a list of arrays. Parts that are named are always padded or listed, so that all batches have the
            same parts. None refuses different lengths.
        tensors: torch tensors instead of NumPy arrays; in a worker of a loader large ones are made in the memory that
            it shares, where arrays would be copied twice more.
        axes: by name the axes along which parts always differ.

    Returns:
        A dict, or one array for elements that are not mappings.

    Raises:
        UsageError: shapes differ, and *pad* does not say what to do; sound of different rates would go into one array;
            there are no elements; or torch is not imported.
    """
    if not len(elements):
        raise UsageError("the batch is empty: there is nothing to collate")
    if tensors and "torch" not in sys.modules:
        raise UsageError("tensors=True, but torch is not imported: import torch first")
    if not isinstance(elements[0], Mapping):
        return _stacked([np.asarray(element) for element in elements], "the element", tensors)
    in_worker = tensors and sys.modules["torch"].utils.data.get_worker_info() is not None
    batch: dict[str, Any] = _Batch() if in_worker else {}
    for name, example in elements[0].items():
        values = [element[name] for element in elements]
        if not isinstance(example, np.ndarray | np.generic | int | float):
            batch[name] = values
            continue
        arrays = [np.asarray(value) for value in values]
        shapes = {array.shape for array in arrays}
        fill = pad.get(name) if isinstance(pad, Mapping) else pad
        if fill != "list":
            _check_rates(name, elements)
        named = isinstance(pad, Mapping) and name in pad
        if fill == "list" and (named or name in (axes or ()) or len(shapes) > 1):
            batch[name] = [_stacked([array], name, True)[0] for array in arrays] if tensors else arrays
            continue
        unequal_axes = [axis for axis, lengths in enumerate(zip(*shapes, strict=False)) if len(set(lengths)) > 1]
        if len({len(shape) for shape in shapes}) > 1 or len(unequal_axes) > 1:
            raise UsageError(f"{name} cannot be stacked: shapes {', '.join(map(str, sorted(shapes)))}")
        axis = unequal_axes[0] if unequal_axes else (axes or {}).get(name, 0 if named else None)
        if fill is None or fill == "list" or axis is None:
            batch[name] = _stacked(arrays, name, tensors)
        else:
            batch[name] = _stacked(arrays, name, tensors, axis, float(fill))
            lengths = np.array([array.shape[axis] for array in arrays])
            mask = np.arange(lengths.max()) < lengths[:, None]
            batch[f"{name}_mask"] = _stacked([*mask], name, True) if tensors else mask
    return batch


def _check_rates(name: str, elements: Sequence[Mapping[str, Any]]) -> None:
    """Raise UsageError if *name* is sound of different rates: the same number of samples would be another time."""
    number = name.removeprefix("audio")  # ``rate`` of ``audio``, ``rate_2`` of ``audio_2``
    if number != name and f"rate{number}" in elements[0]:
        rates = sorted({int(element[f"rate{number}"]) for element in elements})
        if len(rates) > 1:
            raise UsageError(
                f"{name} has different rates ({', '.join(f'{rate:,}' for rate in rates)} samples per second), which "
                f"one array would mix up: make the windows with rate={rates[-1]}, or use pad={{'{name}': 'list'}}"
            )


def _stacked(arrays: Arrays, name: str, tensors: bool, axis: int | None = None, fill: float = 0) -> Any:
    """Return arrays as one, with a first axis more; those of different lengths on *axis* are filled up with *fill*."""
    shape, dtype = [*arrays[0].shape], np.result_type(*arrays)
    if axis is not None:
        shape[axis] = max(array.shape[axis] for array in arrays)
    elif len(shapes := {array.shape for array in arrays}) > 1:
        raise UsageError(
            f"{name} has different lengths ({', '.join(map(str, sorted(shapes)))}): use pad=0 or pad='list', or "
            "windows of equal length"
        )
    batch: Any = None
    if not tensors:
        batch = out = np.empty((len(arrays), *shape), dtype)
    else:
        torch: Any = sys.modules["torch"]
        kind, size = torch.from_numpy(np.empty(0, dtype)).dtype, len(arrays) * math.prod(shape) * dtype.itemsize
        if torch.utils.data.get_worker_info() is not None and size > _SMALL:
            # what lies in shared memory already goes to the loader's process without a copy
            batch = torch.empty(0, dtype=kind).set_(torch.UntypedStorage._new_shared(size))
            batch = batch.reshape(len(arrays), *shape)
        else:
            batch = torch.empty((len(arrays), *shape), dtype=kind)
        out = batch.numpy()
    if axis is None:
        np.stack(arrays, out=out)
        return batch
    out[...] = fill
    for row, array in zip(out, arrays, strict=True):
        row[(*[slice(None)] * axis, slice(array.shape[axis]))] = array
    return batch


class _Batch(dict[str, Any]):
    """A batch of tensors, which goes from a worker to its loader as a plain dict, small tensors by value.

    To hand over a tensor in shared memory takes some 0.4 ms of processor time, whatever its size.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        torch: Any = sys.modules["torch"]
        arrays = {}
        for name, part in self.items():
            with suppress(RuntimeError, TypeError):  # what numpy does not know goes as torch sends it
                if isinstance(part, torch.Tensor) and part.nbytes <= _SMALL:
                    arrays[name] = part.numpy()
        return _as_tensors, ({**self, **arrays}, tuple(arrays))


def _as_tensors(batch: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    torch: Any = import_module("torch")
    return batch | {name: torch.from_numpy(batch[name]) for name in names}
