"""Windows over the clips of a dataset, or its questions, each with sound, labels and pictures as numpy arrays."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np

from seldio import clock
from seldio.data import targets
from seldio.data.clip_media import ClipMedia, open_video
from seldio.engines import each
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.formats.label_csv import Dialect
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.recording import Recording
from seldio.schema.clips import RECORDINGS
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.text import plural, printable
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.data.dataset import Dataset
    from seldio.data.sharding import Even
    from seldio.data.stream import Stream

#: An element: arrays, numbers and texts by name.
Element = dict[str, Any]
Target = Literal["rows", "activity", "activity-doa", "accdoa", "multi-accdoa"]

#: Recordings, videos and labels that are kept open.
_OPEN, _VIDEOS = 256, 8


class WindowOptions(TypedDict, total=False):
    """The keyword arguments of :class:`Windows`, see there."""

    seconds: float | Fraction | None
    hop: float | Fraction | None
    target: Target | None
    distance: bool
    elevation: bool
    onscreen: bool
    audio: str | None
    video: tuple[int, int] | None
    items: bool


class Windows(Sequence[Element]):
    """A map-style dataset: windows over clips, or questions, each with its sound, labels and pictures.

    Elements have ``clip``, ``start`` (seconds) and ``frames`` (first label frame and the one after the last), and,
    if asked for:

    - ``audio``, float32 of shape (channels, samples), zeros past the end of the recording; ``rate`` (samples per
      second) and ``length`` (samples before the zeros).
    - ``target``, float32: class activity, shape (frames, classes); ACCDOA, (frames, 3, classes); activity and
      direction, (frames, 4, classes); multi-ACCDOA, (frames, 6, 4, classes); or plain rows, float64 of shape
      (rows, 7): see :mod:`seldio.data.targets`. :func:`seldio.decode` is the way back.
    - ``video``, uint8 of shape (frames, height, width, 3): the picture of each label frame on the true clock.

    With *items* there is an element for each question, which has its texts too, and its sound as long as it is; the
    recordings behind the first one, if there are any, are ``audio_2``, ``audio_3``, ….

    An element is the same each time, in each thread and process. Windows can be pickled; another process opens the
    files, or the archive that they are in, for itself.

    Args:
        dataset: what to go through.
        seconds: length of a window, a whole number of label frames; None for whole clips.
        hop: seconds from one window to the next, a multiple of label frames as well; by default their length. The last
            window covers the end.
        target: labels as ``rows``, ``activity``, ``activity-doa``, ``accdoa`` or ``multi-accdoa``; None for none.
        distance: add the distance in metres to targets with directions, after z.
        elevation: directions are x, y, z; False for x and y alone, as in DCASE 2025.
        onscreen: add the on-screen flag (0 or 1) to targets with directions, as their last part.
        audio: ``foa``, ``mic``, ``stereo`` or ``audio``; ``any`` is the first of them that a clip has; None for none.
        video: width and height of the pictures; None for none.
        items: go through the questions.

    Raises:
        UsageError: options that make no sense, or there is nothing to go through.
        DataError: a clip has no recording, labels or video that was asked for.
    """

    def __init__(
        self,
        dataset: Dataset,
        *,
        seconds: float | Fraction | None = None,
        hop: float | Fraction | None = None,
        target: Target | None = None,
        distance: bool = False,
        elevation: bool = True,
        onscreen: bool = False,
        audio: str | None = "any",
        video: tuple[int, int] | None = None,
        items: bool = False,
    ) -> None:
        if target is not None and (target not in targets.TARGETS or items):
            choice = "questions have none" if items else f"choose from {', '.join(targets.TARGETS)}"
            raise UsageError(f"unknown target {target!r}; {choice}")
        if items and (video is not None or hop is not None):
            raise UsageError("questions have no video and no hop: each is one element")
        self._events = dataset.events
        self.hop = self._events.hop if target is not None else clock.HOP
        self.size = None if seconds is None else _frames(seconds, self.hop, "seconds")
        self.step = self.size if hop is None else _frames(hop, self.hop, "hop")
        if self.size is None and hop is not None:
            raise UsageError("a hop needs a window length: set seconds=")
        self.target, self.audio, self.video = target, audio, video
        self.classes = len(vocabulary(self._events.vocabulary)) if target is not None else 0
        self.form = targets.TargetForm(target or "rows", self.classes, elevation, distance, onscreen)
        self._items = list(dataset.items) if items else None
        self._sources = _items(dataset, audio) if items else _clips(dataset, audio, video is not None, target, self.hop)
        self._ends = np.cumsum([1 if items else self._count(source.frames) for source in self._sources], dtype=np.int64)
        self._start()

    def _start(self) -> None:
        self._recording = lru_cache(_OPEN)(Recording)
        self._labels = lru_cache(_OPEN)(lambda clip: targets.ClipLabels.of(clip, self._events[clip], self.hop))
        # each process opens its own: a fork must not share the place in the file
        self._video = lru_cache(_VIDEOS)(lambda entry, _process: open_video(entry))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_recording", "_labels", "_video")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __repr__(self) -> str:
        what = "questions" if self._items is not None else f"windows of {plural(len(self._sources), 'clip')}"
        length = "whole" if self.size is None else f"{float(self.size * self.hop):g} s"
        step = "" if self.step == self.size else f" every {float((self.step or 0) * self.hop):g} s"
        parts = [f"{length}{step}", f"audio={self.audio}", f"target={self.target}"]
        parts += ["without elevation"] * (not self.form.elevation)
        parts += [f"with {part}" for part in ("distance", "onscreen") if getattr(self.form, part)]
        parts += [] if self.video is None else [f"video={self.video[0]}x{self.video[1]}"]
        return f"Windows({len(self):,} {what}, {', '.join(parts)}, #{self._digest:08x})"

    @cached_property
    def _digest(self) -> int:
        """Of what there is to go through: the same data give the same, wherever they lie."""
        clips = (f"{source.clip}\0{source.frames}" for source in self._sources)
        parts = clips if self._items is None else (item.id for item in self._items)
        return zlib.crc32("\0".join(parts).encode("utf-8", "backslashreplace"))

    def __getitem__(self, index: Any) -> Any:
        """Element number *index*; a list of them for a slice.

        Raises:
            IndexError: there is no such element.
            InvalidData: the labels of its clip are wrong.
            SeldioError: a file cannot be read.
        """
        if isinstance(index, slice):
            return self.__getitems__(range(len(self))[index])
        number = range(len(self))[int(index)]
        if self._items is not None:
            return self._question(self._items[number], self._sources[number].recordings)
        clip = int(np.searchsorted(self._ends, number, "right"))
        return self._window(self._sources[clip], number - (int(self._ends[clip - 1]) if clip else 0))

    def __getitems__(self, indices: Sequence[int]) -> list[Element]:
        """Several elements, as torch asks for a batch."""
        return [self[index] for index in indices]

    _getitems = __getitems__  # Grain's name for it

    def stream(
        self,
        *,
        shards: Sequence[int] | None = None,
        seed: int | None = None,
        split: bool | None = None,
        even: Even | None = None,
    ) -> Stream:
        """A stream of the elements, in order or shuffled with *seed*: see :class:`seldio.data.Stream`.

        Args:
            shards: numbers of the only elements to go through, for what shares them out itself, such as ``datasets``
                with ``gen_kwargs={"shards": list(range(len(windows)))}``; they are not split any further, unless
                *split* is True.
            seed: of the order; None for the order of the elements.
            split: share the elements between ranks and workers.
            even: give all ranks the same number of elements: ``drop`` or ``repeat`` some.

        Raises:
            UsageError: *even* is something else.
        """
        from seldio.data.stream import Stream, Subset

        if shards is None:
            return Stream(self, seed=seed, split=split, even=even)
        return Stream(Subset(self, shards), seed=seed, split=bool(split), even=even)

    @property
    def signature(self) -> dict[str, tuple[tuple[int | None, ...], str]]:
        """Shape and numpy type of each part of an element; None is a length that differs. Texts are ``string``.

        ``{name: tf.TensorSpec(*part) for name, part in windows.signature.items()}`` is what tf.data asks for.
        """
        if not len(self):
            raise UsageError("no windows: there is no element to take the signature from")
        first, frames = self[0], self.size
        found: dict[str, tuple[tuple[int | None, ...], str]] = {}
        for name, part in first.items():
            array = np.asarray(part)
            found[name] = (array.shape, "string" if array.dtype.kind == "U" else array.dtype.name)
        if "audio" in found:
            fixed = first["audio"].shape[1] if frames is not None else None
            found["audio"] = ((first["audio"].shape[0], fixed), "float32")
        if self.target is not None:
            found["target"] = (self.form.shape(frames), first["target"].dtype.name)
        if self.video is not None:
            found["video"] = ((frames, self.video[1], self.video[0], 3), "uint8")
        if self._items is not None:
            found["options"] = ((None,), "string")
        return found

    @property
    def vocabulary(self) -> str:
        """The class list that class numbers index."""
        return self._events.vocabulary

    @property
    def folded(self) -> bool:
        """Whether the labels' azimuths are folded into ±90°, as those of 2025."""
        return any(isinstance(format, Dialect) and format.folded for format in self._events.formats)

    def places(self) -> Iterator[tuple[str, int]]:
        """The clip of each window and its first label frame, in order."""
        for clip, (_, count) in self.lengths().items():
            yield from ((clip, number * (self.step or 0)) for number in range(count))

    def lengths(self) -> dict[str, tuple[int, int]]:
        """The label frames of each clip, the last one perhaps not full, and the number of its windows."""
        return {source.clip: (source.frames, self._count(source.frames)) for source in self._sources}

    def _count(self, frames: int) -> int:
        """The number of windows of a clip with this many label frames; the last one may run past its end."""
        return 1 if self.size is None or self.step is None else 1 + max(0, -(-(frames - self.size) // self.step))

    def _window(self, source: WindowSource, number: int) -> Element:
        first = number * (self.step or 0)
        stop = first + (source.frames if self.size is None else self.size)
        element: Element = {
            "clip": source.clip,
            "start": np.float64(first * self.hop),
            "frames": np.array([first, stop], np.int64),
        }
        for recording in source.recordings:
            element |= self._sound(recording, first * self.hop)
        if self.target is not None:
            part = self._labels(source.clip).between(first, stop)
            element["target"] = self.form.encode(part, stop - first)
        if source.video is not None:
            video = self._video(source.video, os.getpid())
            element["video"] = video.pictures(range(first, stop), size=self.video, hop=self.hop, missing="hold")
        return element

    def _question(self, item: Item, recordings: Sequence[Entry]) -> Element:
        start = Fraction(item.start or 0)
        length = None if item.end is None else Fraction(item.end) - start
        texts = ("id", "task", "question", "instruction", "answer", "language", "split")
        element: Element = {**{name: getattr(item, name) or "" for name in texts}, "options": list(item.options or [])}
        element["start"] = np.float64(item.start or 0)
        for place, entry in enumerate(recordings, 1):
            sound = self._sound(entry, start, length)
            element |= sound if place == 1 else {f"{name}_{place}": part for name, part in sound.items()}
        return element

    def _sound(self, entry: Entry, start: Fraction, length: Fraction | None = None) -> Element:
        """The sound from *start* on, as long as a window; of whole clips as long as *length*, or all that there is."""
        recording = self._recording(entry)
        rate, total = recording.rate, len(recording)
        first = round(start * rate)
        there = max(0, total - first) if length is None else min(max(0, total - first), round(length * rate))
        wanted = there if self.size is None else round(self.size * self.hop * rate)
        sound = recording.read(first, min(wanted, there), pad=True)
        if wanted > there:
            sound = np.pad(sound, ((0, 0), (0, wanted - there)))
        return {"audio": sound, "rate": np.int64(rate), "length": np.int64(min(wanted, there))}


def _frames(seconds: float | Fraction, hop: Fraction, name: str) -> int:
    """How many label frames *seconds* are."""
    exact = Fraction(str(seconds)) / hop if math.isfinite(seconds) else Fraction(0)
    if exact.denominator != 1 or exact <= 0:
        raise UsageError(f"{name}={seconds}: choose a multiple of {float(hop):g} s, the length of a label frame")
    return int(exact)


# --- what there is to go through -------------------------------------------------------------------------


class WindowSource(NamedTuple):
    """A clip with its label frames, the last one perhaps not full, its chosen recording and its video.

    Of a question, all recordings that it is about.
    """

    clip: str = ""
    frames: int = 0
    recordings: tuple[Entry, ...] = ()
    video: Entry | None = None


def _clips(
    dataset: Dataset, audio: str | None, video: bool, target: str | None, hop: Fraction
) -> list[WindowSource]:  # fmt: skip
    """The clips."""
    if audio not in (None, "any", *RECORDINGS):
        raise UsageError(
            f"unknown recordings {audio!r}; choose from any, {', '.join(RECORDINGS)}, or None for no audio"
        )
    if not dataset.media:
        raise UsageError(
            "there are no clips to make windows from" + ("; use items=True for the questions" * bool(dataset.items))
        )
    arrays = RECORDINGS if audio is None or audio == "any" else (audio,)
    chosen: list[tuple[str, ClipMedia, Entry | None]] = []
    for name, media in dataset.media.items():
        recording = media.entry(arrays)
        lacks = {
            f"recording ({audio})": audio is not None and recording is None,
            "video": video and "video" not in media.files,
            "labels": target is not None and name not in dataset.events,
        }
        if missing := [what for what, lacking in lacks.items() if lacking]:
            raise DataError(
                f"clip {printable(name)} has no {' and no '.join(missing)}: ask for less, or select() other clips"
            )
        chosen.append((name, media, recording))
    sounds = [recording or media.entry() for _, media, recording in chosen]
    known = [entry for entry in sounds if entry is not None]
    lengths = each(
        SoundFrames(hop), known, batch=64, what="reading headers", key=attrgetter("stamp"),
        here=not all(entry.on_disk for entry in known),
    )  # fmt: skip
    return [
        WindowSource(
            name, next(lengths) if entry is not None else _length(dataset, name, media),
            (recording,) if audio is not None and recording is not None else (),
            media.files.get("video") if video else None,
        )
        for (name, media, recording), entry in zip(chosen, sounds, strict=True)
    ]  # fmt: skip


@dataclass(frozen=True)
class SoundFrames:
    """How many label frames, *hop* seconds apart, recordings have."""

    hop: Fraction

    def __call__(self, entry: Entry) -> int:
        """Those of a recording."""
        try:
            return probe_entry(entry).label_frames(self.hop)
        except NotAudio as error:
            raise NotAudio(f"{printable(entry.path)} cannot be read as audio: {error.text}") from error


def _length(dataset: Dataset, name: str, media: ClipMedia) -> int:
    """Label frames of a clip without a recording: of its video, or up to the last label."""
    hop = dataset.events.hop
    if "video" in media.files:
        with media.video as video:
            return -int(-(video.start + video.duration) / hop // 1)
    table = dataset.events[name]
    stated = dataset.events.format(name).clip_frames or next(
        (file.frames for file in origin_of(table).files if file.clip == name), None
    )
    ends = [frame + 1 for frame in table["frame"].to_pylist()] if "frame" in table.column_names else []
    if "offset" in table.column_names:
        ends += [clock.frames_between(0, end, hop).stop for end in table["offset"].to_pylist()]
    return int(max(stated or 0, *ends, 0))


def _items(dataset: Dataset, audio: str | None) -> list[WindowSource]:
    """The questions with their recordings."""
    if audio not in (None, "any"):
        raise UsageError("questions name their recordings themselves: audio='any', or None for no audio")
    if not dataset.items:
        raise UsageError("there are no questions")
    if audio is None:
        return [WindowSource()] * len(dataset.items)
    found = []
    for item, file in dataset.items.rows:
        entries = [dataset.find(path, file) for path in item.audio]
        if None in entries:
            raise DataError(
                f"question {printable(item.id)} is about {printable(item.audio[entries.index(None)])}, which is "
                f"missing ({plural(len(dataset.items), 'question')}): use audio=None for the texts alone"
            )
        found.append(WindowSource(recordings=tuple(entry for entry in entries if entry is not None)))
    return found
