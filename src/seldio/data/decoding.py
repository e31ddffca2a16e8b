"""From what a network gives to an event table: the way back from the targets of :mod:`seldio.data.targets`.

Sources of a class count as active where their activity is above a threshold: the activity itself, or, for ACCDOA, the
length of the vector. The three tracks of multi-ACCDOA are compared, and those of one class that point the same way are
one source, as their mean (Shimada et al., "Multi-ACCDOA", ICASSP 2022, section 3.3). Predictions are those of the
baselines of DCASE 2023 to 2025 (``train_seldnet.py``, ``utils.py``), in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from seldio import geometry
from seldio.data.targets import TARGETS, TRACKS, TargetForm
from seldio.errors import DataError, UsageError
from seldio.schema.events import COLUMNS, ClipFile, Origin, with_origin
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary as class_list

if TYPE_CHECKING:
    from seldio.data.windowing import Target, Windows
    from seldio.schema import arrow_types

Array: TypeAlias = np.ndarray[Any, Any]

#: Tracks of a network with multi-ACCDOA.
NETWORK_TRACKS = 3
#: The pairs of those tracks that are compared, in the order of the baselines, each with the track that is left.
_PAIRS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def decode(
    outputs: Any,
    windows: Windows | None = None,
    *,
    target: Target | None = None,
    distance: bool | None = None,
    elevation: bool | None = None,
    onscreen: bool | None = None,
    vocabulary: str | None = None,
    threshold: float | Sequence[float] = 0.5,
    unify: float = 15.0,
    median: int = 1,
    onscreen_threshold: float = 0.5,
    folded: bool | None = None,
    vectors: bool = False,
    partial: bool = False,
) -> arrow_types.Table:
    """Return the event table that the outputs of a network mean, for :func:`seldio.write` and :func:`seldio.score`.

    Outputs are arrays of numpy, torch, JAX, TensorFlow or anything else that has ``__array__`` or ``__dlpack__``, on
    any device. Parts of a source are x (front), y (left), z (up), then metres, then the on-screen flag. The inner
    shape of an output, after windows and label frames:

    - ``activity``: (classes,)
    - ``activity-doa``: (1 + parts, classes), the activity first
    - ``accdoa``: (parts, classes)
    - ``multi-accdoa``: (3, parts, classes), three tracks; or (6, 1 + parts, classes), as in targets

    or the same flattened, as the baselines give it. Windows that overlap are averaged, and frames past the end of a
    clip left out. A negative distance becomes 0.

    Args:
        outputs: of windows: an array of shape (windows, frames, …), an iterable of such arrays in the order of
            *windows*, or an iterable of pairs ``(batch, output)`` in any order, where a batch has the ``clip`` and
            the ``frames`` of its windows. Without windows: a mapping from clips to arrays of shape (frames, …).
        windows: what the network was given; also says the next five, where they are None.
        target: the kind of output: ``activity``, ``activity-doa``, ``accdoa`` or ``multi-accdoa``.
        distance: whether there are distances in metres.
        elevation: whether directions are x, y, z (default), or x and y alone, as in DCASE 2025.
        onscreen: whether there is an on-screen flag.
        vocabulary: the class list, ``starss`` by default.
        threshold: the activity, or length of a vector, above which a source is active; one number, or one per class.
        unify: tracks of one class closer than this are one source (degrees); 0 keeps all.
        median: label frames, an odd number, of a median filter in time over each value, before the threshold; at the
            ends of a clip its first or last value is repeated. 1 is none.
        onscreen_threshold: a source is on screen from this value on. The baseline of 2025 cuts decimals off, which
            is 1.0: its sigmoid never says so.
        folded: whether azimuths are folded into ±90° where there is no elevation; by default if the labels of
            *windows* are.
        vectors: add ``x``, ``y``, ``z`` as they are, which the baselines write; other formats cannot hold them.
        partial: leave out clips of which windows are missing, which is an error otherwise.

    Returns:
        The columns ``clip``, ``frame`` and ``class_id``; ``azimuth`` (degrees, +90 is left) and ``elevation``
        (degrees, +90 is up); and those asked for. Rows are in the order of clip, frame and class. Clips without any
        row are listed in the metadata, so that they get their empty file.

    Raises:
        UsageError: options that make no sense, or outputs of another shape or number.
        DataError: a value is not finite, a direction is (0, 0, 0), or windows of a clip are missing.
    """
    names = vocabulary or (windows.vocabulary if windows is not None else "starss")
    classes = len(class_list(names))
    windows_form = windows.form if windows is not None and windows.target is not None else None
    kind = target or (windows_form.target if windows_form is not None else None)
    if kind is None or kind not in TARGETS:
        problem = "which kind of outputs are these? Set target= to" if kind is None else f"target={kind!r}: choose from"
        raise UsageError(f"{problem} {', '.join(name for name in TARGETS if name != 'rows')}")
    if kind == "rows":
        raise UsageError("target='rows': plain rows are a table already, and there is nothing to decode")
    flags = {"distance": distance, "elevation": elevation, "onscreen": onscreen}
    chosen: dict[str, Any] = {name: value for name, value in flags.items() if value is not None}
    form = replace(windows_form or TargetForm(kind, classes), target=kind, classes=classes, **chosen)
    thresholds = np.asarray(threshold, np.float64)
    if thresholds.shape not in ((), (classes,)) or not np.isfinite(thresholds).all() or (thresholds < 0).any():
        raise UsageError(f"threshold={threshold}: give a number from 0 on, or one for each of the {classes} classes")
    settings = Decoding(
        form,
        np.broadcast_to(thresholds, (classes,)),
        float(unify),
        median,
        float(onscreen_threshold),
        bool(folded if folded is not None else windows is not None and windows.folded),
        vectors,
    )
    if median < 1 or median % 2 == 0:
        raise UsageError(f"median={median}: choose an odd number of label frames, 1 for no filter")
    if vectors and "z" not in form.parts:
        raise UsageError("vectors=True needs x, y and z, which these outputs do not have")
    rows = {clip: settings.rows(clip, values) for clip, values in clip_outputs(outputs, windows, form, partial)}
    if windows is not None and not isinstance(outputs, Mapping):
        rows = {clip: rows[clip] for clip in windows.lengths() if clip in rows}
    # rows of no frame have the columns and their types, if there are no others
    columns = settings.rows("", np.zeros((0, *form.inner), np.float32))
    codes = np.repeat(np.arange(len(rows), dtype=np.int32), [len(of_clip["frame"]) for of_clip in rows.values()])
    table: dict[str, Any] = {
        "clip": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(list(rows), pa.string()))
    }
    for name in (name for name in COLUMNS if name in columns):
        table[name] = pa.array(np.concatenate([of_clip[name] for of_clip in (columns, *rows.values())]), COLUMNS[name])
    files = tuple(ClipFile(clip, f"{clip}.csv") for clip in rows)
    return with_origin(pa.table(table), Origin(windows.layout if windows is not None else "", names, files))


# --- one clip ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decoding:
    """How the output of a clip is read."""

    form: TargetForm  # what it holds
    thresholds: Array  # of each class
    unify: float  # degrees
    median: int  # label frames
    onscreen: float  # the flag from which on a source is on screen
    folded: bool  # whether azimuths are folded where there is no elevation
    vectors: bool  # whether x, y, z are kept

    def rows(self, clip: str, values: Array) -> dict[str, Array]:
        """Return the columns of the rows in an output of shape (frames, …), in the order of frame, class and track."""
        if not np.isfinite(values).all():
            bad = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise DataError(
                f"the output for {printable(clip)} is not finite from frame {bad} on: has the training diverged?"
            )
        if self.median > 1 and len(values):
            half = self.median // 2
            padded = np.concatenate([values[:1].repeat(half, 0), values, values[-1:].repeat(half, 0)])
            values = np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, self.median, 0), -1))
        # activity of shape (frames, tracks, classes), and parts of shape (frames, tracks, parts, classes)
        kind, axes = self.form.target, 2 + self.form.elevation
        if kind == "activity":
            activity, parts = values[:, None], values[:, None, None][:, :, :0]
        elif kind == "activity-doa":
            activity, parts = values[:, None, 0], values[:, None, 1:]
        elif kind == "multi-accdoa" and values.shape[1] == TRACKS:
            activity, parts = values[:, :, 0], values[:, :, 1:]
        else:
            parts = values[:, None] if kind == "accdoa" else values
            activity = np.asarray(np.sqrt(sum(parts[:, :, axis] ** 2 for axis in range(axes))))
        active = activity > self.thresholds.astype(activity.dtype)
        if "distance" in self.form.parts:  # before any mean, as in the baselines
            at = self.form.parts.index("distance")
            distances = np.maximum(parts[:, :, at : at + 1], 0)
            parts = np.concatenate([parts[:, :, :at], distances, parts[:, :, at + 1 :]], 2)
        if parts.shape[1] == NETWORK_TRACKS and self.unify > 0:
            active, parts = unified(active, parts, axes, self.unify, flag=self.form.onscreen)
        frame, number, track = np.nonzero(active.transpose(0, 2, 1))
        chosen = parts[frame, track, :, number]
        columns: dict[str, Array] = {"frame": frame, "class_id": number}
        by_part = dict(zip(self.form.parts, chosen.T.astype(np.float64), strict=True))
        if "onscreen" in by_part:
            columns["onscreen"] = chosen[:, -1] >= self.onscreen
        if "distance" in by_part:
            columns["distance"] = by_part["distance"]
        if by_part:
            x, y = by_part["x"], by_part["y"]
            z = by_part.get("z", np.zeros_like(x))
            if (pointless := (x == 0) & (y == 0) & (z == 0)).any():
                raise DataError(
                    f"the output for {printable(clip)} has an active source without direction, (0, 0, 0), in frame "
                    f"{frame[pointless][0]}"
                )
            columns["azimuth"], elevation = geometry.to_polar(x, y, z)
            if "z" in by_part:
                columns["elevation"] = elevation
            elif self.folded:
                columns["azimuth"] = geometry.fold(columns["azimuth"])
            if self.vectors:
                columns |= {"x": x, "y": y, "z": z}
        return columns


def unified(active: Array, parts: Array, axes: int, limit: float, *, flag: bool = False) -> tuple[Array, Array]:
    """Return three tracks with those unified that are active in one class and point the same way, within *limit* (°).

    If one pair is alike, its mean comes after the third track; if two or three pairs are, all three tracks become
    their mean. The flag, if the last part is one, has no mean: it is that of the first of them. *active* has the shape
    (frames, 3, classes), *parts* (frames, 3, parts, classes), with the direction in the first *axes* parts.
    """
    near = [_angle(parts[:, a], parts[:, b], axes) < limit for a, b, _ in _PAIRS]
    alike = [active[:, a] & active[:, b] & same for (a, b, _), same in zip(_PAIRS, near, strict=True)]
    count = np.sum(np.stack(alike), axis=0)
    flags = slice(parts.shape[2] - flag, None)
    active, merged = np.array(active), np.array(parts)
    for (a, b, third), same in zip(_PAIRS, alike, strict=True):
        frame, number = np.nonzero(same & (count == 1))
        merged[frame, 0, :, number] = parts[frame, third, :, number]
        merged[frame, 1, :, number] = (parts[frame, a, :, number] + parts[frame, b, :, number]) / 2
        merged[frame, 1, flags, number] = parts[frame, a, flags, number]
        active[frame, 0, number] = active[frame, third, number]
        active[frame, 1, number], active[frame, 2, number] = True, False
    frame, number = np.nonzero(count >= 2)
    merged[frame, 0, :, number] = (
        parts[frame, 0, :, number] + parts[frame, 1, :, number] + parts[frame, 2, :, number]
    ) / 3
    merged[frame, 0, flags, number] = parts[frame, 0, flags, number]
    active[frame, 1, number] = active[frame, 2, number] = False
    return active, merged


def _angle(first: Array, second: Array, axes: int) -> Array:
    """Return degrees between directions of shape (frames, parts, classes), in the arithmetic of the baselines."""
    squares = [sum(side[:, axis] ** 2 for axis in range(axes)) for side in (first, second)]
    lengths = [np.sqrt(square + 1e-10) for square in squares]
    cosine = sum((first[:, axis] / lengths[0]) * (second[:, axis] / lengths[1]) for axis in range(axes))
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) * 180 / np.pi)


# --- outputs of windows, put together ------------------------------------------------------------------------


def clip_outputs(outputs: Any, windows: Windows | None, form: TargetForm, partial: bool) -> Iterator[tuple[str, Array]]:
    """Yield each clip with its output of shape (frames, …), as soon as all its windows are in."""
    if isinstance(outputs, Mapping):
        for clip, output in outputs.items():
            try:
                (values,) = _shaped(as_numpy(output)[None], form)
            except UsageError as error:
                raise UsageError(f"{printable(str(clip))}: {error}") from error
            yield str(clip), values
        return
    if windows is None:
        raise UsageError("which clips are these? Give the windows, or a mapping from clips to arrays")
    step = windows.step or 1
    if windows.size is not None and step > windows.size:
        raise UsageError("the hop is longer than the windows, so some label frames would have no output")
    lengths = windows.lengths()
    if not lengths:
        raise UsageError("these windows are of questions, or empty: they have no label frames to decode")
    seen: dict[str, set[int]] = {clip: set() for clip in lengths}  # the first frames of the windows so far
    sums: dict[str, tuple[Array, Array]] = {}  # of outputs, and how many windows cover each frame
    for clip, first, output in _outputs(outputs, windows, form):
        if clip not in lengths:
            raise UsageError(f"an output is for the clip {printable(clip)}, which the windows do not have")
        frames, count = lengths[clip]
        if first % step or not 0 <= first // step < count:
            raise UsageError(f"an output is for frame {first} of {printable(clip)}, where none of the windows begins")
        if windows.size is None and len(output) < frames:
            raise UsageError(f"{len(output)} frames for {printable(clip)}, which has {frames} label frames")
        if first in seen[clip]:  # it comes again to fill a batch
            continue
        if not seen[clip]:
            sums[clip] = np.zeros((frames, *output.shape[1:])), np.zeros((frames, *[1] * (output.ndim - 1)), np.int64)
        seen[clip].add(first)
        total, covering = sums[clip]
        stop = min(first + len(output), frames)
        total[first:stop] += output[: stop - first]
        covering[first:stop] += 1
        if len(seen[clip]) == count:
            del sums[clip]
            yield clip, (total / covering).astype(output.dtype)
    missing = [clip for clip, (_, count) in lengths.items() if len(seen[clip]) < count]
    if missing and not partial:
        clip = missing[0]
        raise DataError(
            f"{plural(len(missing), 'clip')} of {len(lengths)} without the output of each window: "
            f"{printable(clip)} has {len(seen[clip])} of {lengths[clip][1]}. Do not drop the last batch, and give the "
            "outputs of all ranks; partial=True leaves such clips out"
        )


def _outputs(outputs: Any, windows: Windows, form: TargetForm) -> Iterator[tuple[str, int, Array]]:
    """Yield clip, first label frame and output of each window."""
    places, clips = windows.places(), list(windows.lengths())
    batches = [outputs] if hasattr(outputs, "__array__") or hasattr(outputs, "__dlpack__") else outputs
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
            if not hasattr(batch, "keys") or not {"clip", "frames"} <= set(batch):
                raise UsageError(
                    "a pair is (batch, output), and a batch has the names clip and frames, as windows give them"
                )
            names, frames = batch["clip"], as_numpy(batch["frames"])
            names = as_numpy(names) if hasattr(names, "detach") else np.asarray(names)  # texts in TensorFlow, too
            if names.ndim == 0:  # one window alone
                names, frames, values = names[None], frames[None], values[None]
            if names.dtype.kind in "iu" and names.size and not 0 <= names.min() <= names.max() < len(clips):
                raise UsageError(f"an output is for clip number {names.max()} of {len(clips)}, counted from 0")
            texts = [
                clips[name] if isinstance(name, int) else name.decode() if isinstance(name, bytes) else str(name)
                for name in names.tolist()
            ]
            which = list(zip(texts, frames[:, 0].astype(int).tolist(), strict=True))
        if values.ndim < 2 or len(which) != len(values):
            raise UsageError(f"an output of shape {values.shape} for {plural(len(which), 'window')}")
        values = _shaped(values, form)
        if windows.size is not None and values.shape[1] != windows.size:
            raise UsageError(
                f"outputs have {values.shape[1]} frames, and windows {windows.size} label frames: pool the outputs "
                "over time to one per label frame"
            )
        yield from ((clip, first, window) for (clip, first), window in zip(which, values, strict=True))


def _shaped(values: Array, form: TargetForm) -> Array:
    """Return *values* of shape (windows, frames, …), not flattened; refuse another shape than the form's."""
    tracks = (NETWORK_TRACKS, len(form.parts), form.classes)
    inner = [tracks, form.inner] if form.target == "multi-accdoa" else [form.inner]
    values = values.astype(np.float32) if values.dtype.kind in "biu" else values
    if values.shape[2:] in inner:
        return values
    for shape in inner:
        if values.shape[2:] == (int(np.prod(shape)),):
            return values.reshape(*values.shape[:2], *shape)
    shapes = " or ".join(f"({', '.join(['windows', 'frames', *map(str, shape)])})" for shape in inner)
    what = f"{form.target} of {', '.join(form.parts)}" if form.parts else form.target
    raise UsageError(f"outputs of shape {values.shape}, but {what} has {shapes}, or the same flattened")


def as_numpy(value: Any) -> Array:
    """Return an array of numbers of any library, as one of numpy: of float32 or float64, or of whole numbers."""
    if hasattr(value, "detach"):  # torch: out of the graph, and from the device
        value = value.detach().cpu()
    if "bfloat16" in str(getattr(value, "dtype", "")) and hasattr(value, "float"):
        value = value.float()  # torch's, which numpy does not know
    plain = hasattr(value, "__array__") or not hasattr(value, "__dlpack__")
    array: Array
    try:
        array = np.asarray(value) if plain else np.from_dlpack(value)
        if array.dtype.kind in "biu" or array.dtype in (np.float32, np.float64):
            return array
        if array.dtype.kind in "fV":  # bfloat16 is a V for numpy
            return array.astype(np.float32)
    except (TypeError, ValueError):
        pass
    raise UsageError(f"outputs are arrays of numbers, not {type(value).__name__}")
