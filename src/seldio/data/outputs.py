"""Outputs of a network as one array for each clip: arrays of any library, in batches, of windows that may overlap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from seldio.data.targets import TRACKS, TargetForm
from seldio.errors import DataError, UsageError
from seldio.text import plural, printable

if TYPE_CHECKING:
    from seldio.data.windowing import Windows

Array: TypeAlias = np.ndarray[Any, Any]
#: What windows say about themselves in a batch: the names of clips, and first and last label frames.
Batch: TypeAlias = Mapping[str, Any]

#: Tracks of a network with multi-ACCDOA.
NETWORK_TRACKS = 3


def clip_outputs(outputs: Any, windows: Windows | None, form: TargetForm, partial: bool) -> Iterator[tuple[str, Array]]:
    """Each clip with its output of shape (frames, …), in any order; see :func:`seldio.decode`.

    A clip comes, and its outputs are forgotten, as soon as all its windows are in.

    Raises:
        UsageError: outputs of another shape or number, or of nobody knows which clips.
        DataError: windows of a clip are missing.
    """
    if isinstance(outputs, Mapping):
        yield from ((str(clip), _clip_output(str(clip), one, form)) for clip, one in outputs.items())
    elif windows is None:
        raise UsageError("which clips are these? Give the windows, or a mapping from clips to arrays")
    else:
        yield from _joined(outputs, windows, form, partial)


@dataclass
class _Joined:
    """The outputs of one clip so far, summed where windows overlap."""

    frames: int  # label frames of the clip
    windows: int  # how many it has
    total: Array | None = None  # the sum, shape (frames, …)
    count: Array = field(default_factory=lambda: np.zeros(0, np.int64))  # windows over each frame
    seen: set[int] = field(default_factory=set)  # first frames of the windows so far

    @property
    def whole(self) -> bool:
        return len(self.seen) == self.windows

    def add(self, first: int, output: Array) -> bool:
        """Take the output of the window from frame *first* on; whether all are in now.

        A window that comes again, to fill a batch, counts once.
        """
        if first in self.seen:
            return False
        self.seen.add(first)
        if self.total is None:
            self.total = np.zeros((self.frames, *output.shape[1:]), np.float64)
            self.count = np.zeros(self.frames, np.int64)
        stop = min(first + len(output), self.frames)
        self.total[first:stop] += output[: stop - first]
        self.count[first:stop] += 1
        return self.whole

    def mean(self, kind: Any) -> Array:
        """The means, in the precision of the outputs."""
        assert self.total is not None
        return (self.total / self.count.reshape(-1, *[1] * (self.total.ndim - 1))).astype(kind)


def _joined(outputs: Any, windows: Windows, form: TargetForm, partial: bool) -> Iterator[tuple[str, Array]]:
    """The outputs of windows, put together."""
    step = windows.step or 1
    if windows.size is not None and step > windows.size:
        raise UsageError("the hop is longer than the windows, so some label frames would have no output")
    clips = {clip: _Joined(frames, count) for clip, (frames, count) in windows.lengths().items()}
    if not clips:
        raise UsageError("these windows are of questions, or empty: they have no label frames to decode")
    for clip, first, output in _outputs(outputs, windows, form):
        if clip not in clips:
            raise UsageError(f"an output is for the clip {printable(clip)}, which the windows do not have")
        joined = clips[clip]
        if first % step or not 0 <= first // step < joined.windows:
            raise UsageError(f"an output is for frame {first} of {printable(clip)}, where none of the windows begins")
        if windows.size is None and len(output) < joined.frames:
            raise UsageError(f"{len(output)} frames for {printable(clip)}, which has {joined.frames} label frames")
        if not joined.whole and joined.add(first, output):
            yield clip, joined.mean(output.dtype)
            joined.total = None
    missing = {clip: one for clip, one in clips.items() if not one.whole}
    if missing and not partial:
        clip, one = next(iter(missing.items()))
        raise DataError(
            f"{plural(len(missing), 'clip')} of {len(clips)} without the output of each window: "
            f"{printable(clip)} has {len(one.seen)} of {one.windows}. Do not drop the last batch, and give the "
            "outputs of all ranks; partial=True leaves such clips out"
        )


def _outputs(outputs: Any, windows: Windows, form: TargetForm) -> Iterator[tuple[str, int, Array]]:
    """Clip, first label frame and output of each window."""
    places, clips = windows.places(), list(windows.lengths())
    batches = [outputs] if _is_array(outputs) else outputs
    if not isinstance(batches, Iterable):
        raise UsageError(f"outputs are arrays, or (batch, output) pairs, not {type(outputs).__name__}")
    for given in batches:
        batch, output = given if isinstance(given, tuple) and len(given) == 2 else (None, given)
        values = as_numpy(output)
        if values.ndim == 0:
            raise UsageError(
                f"outputs are arrays, or (batch, output) pairs, and one of these is a {type(output).__name__}"
            )
        if batch is None:
            which = [place for _, place in zip(range(len(values)), places, strict=False)]
            if len(which) < len(values):
                raise UsageError(f"there are more outputs than windows, of which there are {len(windows)}")
        else:
            which, values = _which(batch, values, clips)
        if values.ndim < 2 or len(which) != len(values):
            raise UsageError(f"an output of shape {values.shape} for {plural(len(which), 'window')}")
        values = _shaped(values, form)
        if windows.size is not None and values.shape[1] != windows.size:
            raise UsageError(
                f"outputs have {values.shape[1]} frames, and windows {windows.size} label frames: pool the outputs "
                "over time to one per label frame"
            )
        yield from ((clip, first, one) for (clip, first), one in zip(which, values, strict=True))


def _which(batch: Batch, values: Array, clips: Sequence[str]) -> tuple[list[tuple[str, int]], Array]:
    """Clip and first frame of each window of a batch, or of one window alone; *clips* are those that have numbers."""
    if not hasattr(batch, "keys") or not {"clip", "frames"} <= set(batch):
        raise UsageError("a pair is (batch, output), and a batch has the names clip and frames, as windows give them")
    names, frames = batch["clip"], as_numpy(batch["frames"])
    names = as_numpy(names) if hasattr(names, "detach") else np.asarray(names)  # texts in TensorFlow, too
    if names.ndim == 0:
        names, frames, values = names[None], frames[None], values[None]
    if names.dtype.kind in "iu" and names.size and not 0 <= names.min() <= names.max() < len(clips):
        raise UsageError(f"an output is for clip number {names.max()} of {len(clips)}, counted from 0")
    texts = [
        clips[name] if isinstance(name, int) else name.decode() if isinstance(name, bytes) else str(name)
        for name in names.tolist()
    ]
    return list(zip(texts, frames[:, 0].astype(int).tolist(), strict=True)), values


def _clip_output(clip: str, output: Any, form: TargetForm) -> Array:
    """The output for a clip, of shape (frames, …)."""
    found: Array
    try:
        (found,) = _shaped(as_numpy(output)[None], form)
    except UsageError as error:
        raise UsageError(f"{printable(clip)}: {error}") from error
    return found


def inner_shapes(form: TargetForm) -> list[tuple[int, ...]]:
    """The inner shapes that outputs may have."""
    parts, classes = len(form.parts), form.classes
    inner: dict[str, list[tuple[int, ...]]] = {
        "activity": [(classes,)],
        "activity-doa": [(1 + parts, classes)],
        "accdoa": [(parts, classes)],
        "multi-accdoa": [(NETWORK_TRACKS, parts, classes), (TRACKS, 1 + parts, classes)],
    }
    return inner[form.target]


def _shaped(values: Array, form: TargetForm) -> Array:
    """*values* of shape (windows, frames, …), not flattened.

    Raises:
        UsageError: another shape than the form's.
    """
    known = inner_shapes(form)
    values = values.astype(np.float32) if values.dtype.kind in "biu" else values
    if values.shape[2:] in known:
        return values
    for shape in known:
        if values.shape[2:] == (int(np.prod(shape)),):
            return values.reshape(*values.shape[:2], *shape)
    shapes = " or ".join(f"({', '.join(['windows', 'frames', *map(str, shape)])})" for shape in known)
    what = f"{form.target} of {', '.join(form.parts)}" if form.parts else form.target
    raise UsageError(f"outputs of shape {values.shape}, but {what} has {shapes}, or the same flattened")


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def as_numpy(value: Any) -> Array:
    """An array of any library, as one of numpy: of float32 or float64, or of whole numbers.

    Raises:
        UsageError: it is not an array of numbers.
    """
    if hasattr(value, "detach"):  # torch: out of the graph, and from the device
        value = value.detach().cpu()
    if "bfloat16" in str(getattr(value, "dtype", "")) and hasattr(value, "float"):
        value = value.float()  # torch's, which numpy does not know
    plain = hasattr(value, "__array__") or not hasattr(value, "__dlpack__")
    array: Array
    try:
        array = np.asarray(value) if plain else np.from_dlpack(value)
        known = array.dtype.kind in "biu" or array.dtype in (np.float32, np.float64)
        if known or array.dtype.kind in "fV":  # bfloat16 is a V for numpy
            return array if known else array.astype(np.float32)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"outputs are arrays of numbers, not {type(value).__name__}")
