"""Windows over the clips of a dataset, or its questions, each with sound, labels and pictures as numpy arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, TypeAlias, TypedDict, overload

import numpy as np

from seldio import clock
from seldio.data.targets import TARGETS, ClipLabels, TargetForm
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.formats.label_csv import Dialect
from seldio.media.arrays import RATES
from seldio.parallel import parallel_map
from seldio.schema.clips import RECORDINGS, Clip
from seldio.schema.events import origin_of
from seldio.text import meant, plural, printable
from seldio.vocabularies import vocabulary

if TYPE_CHECKING:
    from seldio.data.dataset import Dataset
    from seldio.data.stream import Even, Stream
    from seldio.media.audio import Probe, SampleType
    from seldio.media.recording import Recording
    from seldio.media.video import Video
    from seldio.schema.qa import Item

    class WindowOptions(TypedDict, total=False):
        """The keyword arguments of :class:`Windows`, see there."""

        seconds: float | Fraction | None
        hop: float | Fraction | None
        target: Target | None
        distance: bool
        elevation: bool
        onscreen: bool
        audio: Arrays
        video: tuple[int, int] | None
        items: bool
        rate: int | None
        dtype: SampleType
        texts: bool
        transform: Callable[[Element], Any] | None


#: An element: arrays, numbers and texts by name.
Element = dict[str, Any]
#: Shape and numpy type of each part of an element.
Signature = dict[str, tuple[tuple[int | None, ...], str]]
Target = Literal["rows", "activity", "activity-doa", "accdoa", "multi-accdoa"]

#: Recordings, videos and labels that are kept.
_OPEN, _VIDEOS = 256, 8

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: The recordings of a clip that are asked for, by their arrays.
Arrays: TypeAlias = str | Sequence[str] | None


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

    With *rate*, all sound has that rate, and a window has as many samples as its seconds are at it, whatever the files
    have. With *dtype* ``int16``, ``audio`` holds the samples of 16-bit PCM as they are: 32768 times float32.

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
        audio: ``foa``, ``mic``, ``stereo`` or ``audio``; ``any`` is the first of them that a clip has; several, as in
            ``("foa", "mic")``, give ``audio``, ``audio_2``, … in that order; None for none.
        video: width and height of the pictures; None for none.
        items: go through the questions.
        rate: samples per second of all sound, resampled by libsoxr (the extra ``resample``) where a file has another
            rate; None for that of each file.
        dtype: of the sound: ``float32``, or ``int16``, which takes half the memory. That is exact, so files with other
            samples than PCM of up to 16 bits are refused; resampled sound is rounded to it.
        texts: False for elements of numbers alone, as accelerate asks for: ``clip`` is then the number of the clip in
            :meth:`lengths`, which :func:`seldio.decode` knows too, and questions have no texts.
        transform: a function of an element, whose result takes its place. It is called in the process that asks for
            the element, so it is pickled for workers that are started anew: no lambda there.

    Raises:
        UsageError: options that make no sense, or there is nothing to go through.
        DataError: a clip has no recording, labels or video that was asked for, or not the samples.
        MissingLibrary: *rate* differs from that of a file, and soxr is not installed.
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
        audio: Arrays = "any",
        video: tuple[int, int] | None = None,
        items: bool = False,
        rate: int | None = None,
        dtype: SampleType = "float32",
        texts: bool = True,
        transform: Callable[[Element], Any] | None = None,
    ) -> None:
        if target is not None and (target not in TARGETS or items):
            close = "" if items else meant(str(target), TARGETS)
            choice = "questions have none" if items else f"choose from {', '.join(TARGETS)}"
            raise UsageError(f"unknown target {target!r}{close}; {choice}")
        if items and (video is not None or hop is not None):
            raise UsageError("questions have no video and no hop: each is one element")
        if dtype not in ("float32", "int16"):
            raise UsageError(f"unknown dtype {dtype!r}; choose from float32, int16")
        if rate is not None and not 1 <= operator.index(rate) <= RATES[-1]:
            raise UsageError(f"rate={rate}: choose samples per second from 1 to {RATES[-1]:,}")
        self._events = dataset.events
        self.hop = self._events.hop if target is not None else clock.HOP
        self.size = None if seconds is None else _frames(seconds, self.hop, "seconds")
        self.step = self.size if hop is None else _frames(hop, self.hop, "hop")
        if self.size is None and hop is not None:
            raise UsageError("a hop needs a window length: set seconds=")
        self.target, self.audio, self.video = target, audio, video
        self.rate, self.dtype, self.transform, self.texts = rate, dtype, transform, texts
        self.classes = len(vocabulary(self._events.vocabulary)) if target is not None else 0
        self.form = TargetForm(target or "rows", self.classes, elevation, distance, onscreen)
        self._items = list(dataset.items) if items else None
        if items:
            self._sources = question_sources(dataset, audio)
            self._ends = np.arange(1, len(self._sources.recordings) + 1)
        else:
            self._sources = clip_sources(dataset, audio, video is not None, target, self.hop, rate, dtype)
            counts = np.ones(len(self._sources.frames), np.int64)
            if self.size is not None and self.step is not None:  # the last one may run past the end of its clip
                counts += np.maximum(0, -(-(self._sources.frames - self.size) // self.step))
            self._ends = np.cumsum(counts, dtype=np.int64)
        self._start()

    def _start(self) -> None:
        self._recording = lru_cache(_OPEN)(_recording)
        # no reference to the windows themselves: files are closed as soon as they are let go of
        events, hop = self._events, self.hop
        self._labels = lru_cache(_OPEN)(lambda clip: ClipLabels.of(clip, events[clip], hop))
        self._video = lru_cache(_VIDEOS)(_video)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_recording", "_labels", "_video")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._start()

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __repr__(self) -> str:
        what = "questions" if self._items is not None else f"windows of {plural(len(self._sources.clips), 'clip')}"
        length = "whole" if self.size is None else f"{float(self.size * self.hop):g} s"
        step = "" if self.step == self.size else f" every {float((self.step or 0) * self.hop):g} s"
        end = "" if self.transform is None else f", transform={_name(self.transform)}"
        return f"Windows({len(self):,} {what}, {length}{step}, audio={self.audio}, target={self.target}{end})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> list[Element]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return element number *index*; a list of them for a slice.

        Raises:
            IndexError: there is no such element.
            InvalidData: the labels of its clip are wrong.
            SeldioError: a file cannot be read.
        """
        if isinstance(index, slice):
            return self.__getitems__(range(len(self))[index])
        number = range(len(self))[int(index)]
        element = self._window(number) if self._items is None else self._question(number, self._items[number])
        if self.transform is None:
            return element
        if (made := self.transform(element)) is None:
            raise UsageError(f"transform={_name(self.transform)} returned None: it must return the element")
        return made

    def _question(self, number: int, item: Item) -> Element:
        start = Fraction(item.start or 0)
        length = None if item.end is None else Fraction(item.end) - start
        question: Element = {}
        if self.texts:
            texts = ("id", "task", "question", "instruction", "answer", "language", "split")
            question = {**{name: getattr(item, name) or "" for name in texts}, "options": list(item.options or [])}
        question["start"] = np.float64(item.start or 0)
        return question | self._sounds(self._sources.recordings[number], start, length)

    def _window(self, number: int) -> Element:
        sources = self._sources
        clip = int(np.searchsorted(self._ends, number, "right"))
        name = sources.clips[clip]
        first = (number - (int(self._ends[clip - 1]) if clip else 0)) * (self.step or 0)
        stop = first + (int(sources.frames[clip]) if self.size is None else self.size)
        window: Element = {
            "clip": name if self.texts else np.int64(clip),
            "start": np.float64(first * self.hop),
            "frames": np.array([first, stop], np.int64),
        }
        if recordings := sources.recordings[clip]:
            window |= self._sounds(recordings, first * self.hop, None, sources.lengths[clip])
        if self.target is not None:
            window["target"] = self.form.encode(self._labels(name).between(first, stop), stop - first)
        if (film := sources.videos[clip]) is not None:
            from seldio.media.video import NotVideo

            video = self._video(film)  # whose errors name the file
            with _naming(film, NotVideo, "video"):
                window["video"] = video.pictures(range(first, stop), size=self.video, hop=self.hop, missing="hold")
        return window

    def _sounds(
        self, recordings: Sequence[Entry], start: Fraction, length: Fraction | None, counted: Ints | None = None
    ) -> Element:
        """Return the sound of recordings from *start* on, which have a number in their names from the second one on.

        It is as long as a window; of whole clips as long as *length*, or all that there is. Raise DataError for a
        recording that does not have the frames and the rate any more with which the windows were *counted*.
        """
        from seldio.media.audio import NotAudio
        from seldio.media.recording import frames_at, read_at

        sounds: Element = {}
        for place, entry in enumerate(recordings, 1):
            with _naming(entry, NotAudio, "audio"):
                recording = self._recording(entry)
                file_rate = recording.rate
                if counted is not None and counted.tolist() != [len(recording), file_rate]:
                    changed = "has changed since the windows were counted: make them again"
                    raise DataError(f"{printable(entry.path)} {changed}")
                rate = self.rate or file_rate
                first = round(start * rate)
                available = max(0, frames_at(recording, rate) - first)
                if length is not None:
                    available = min(available, round(length * rate))
                wanted = available if self.size is None else round(self.size * self.hop * rate)
                sound, filled = np.empty((recording.channels, wanted), self.dtype), min(wanted, available)
                if rate == file_rate:
                    recording.read(first, filled, sound[:, :filled], pad=True, dtype=self.dtype)
                else:
                    part = read_at(recording, rate, first, filled)
                    if self.dtype == "int16":  # the nearest whole numbers; what is beyond full scale is at full scale
                        part = np.clip(np.rint(part * np.float32(32768)), -32768, 32767)
                    sound[:, :filled] = part
                sound[:, filled:] = 0
            end = f"_{place}" if place > 1 else ""
            sounds |= {f"audio{end}": sound, f"rate{end}": np.int64(rate), f"length{end}": np.int64(filled)}
        return sounds

    def __getitems__(self, indices: Sequence[int]) -> list[Element]:
        """Return several elements, as torch asks for a batch."""
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
        """Return a stream of the elements; *seed*, *split* and *even* are those of :class:`seldio.data.Stream`.

        Args:
            shards: numbers of the only elements to go through, for what shares them out itself, such as ``datasets``
                with ``gen_kwargs={"shards": list(range(len(windows)))}``; they are not split any further, unless
                *split* is True.
            seed: of the order; None for the order of the elements.
            split: share the elements between ranks and workers.
            even: give all ranks the same number of elements: ``drop`` or ``repeat`` some.
        """
        from seldio.data.stream import Stream

        return Stream(self, seed=seed, split=split if shards is None else bool(split), even=even, only=shards)

    @property
    def signature(self) -> Signature:
        """Shape and numpy type of each part of an element; None is a length that differs. Texts are ``string``.

        The samples of windows differ where the rates of recordings do (:attr:`sound_rate`), unless *rate* is given.

        ``{name: tf.TensorSpec(*part) for name, part in windows.signature.items()}`` is what tf.data asks for.
        """
        element = self._window(0) if self._items is None else self._question(0, self._items[0])
        parts = {name: _shape(part) for name, part in element.items()}
        for name in (name for name in parts if name == "audio" or name.startswith("audio_")):
            fixed = element[name].shape[1] if self.size is not None and self.sound_rate is not None else None
            parts[name] = ((element[name].shape[0], fixed), self.dtype)
        if self.target is not None:
            parts["target"] = (self.form.shape(self.size), element["target"].dtype.name)
        if self.video is not None:
            parts["video"] = ((self.size, self.video[1], self.video[0], 3), "uint8")
        if self._items is not None and self.texts:
            parts["options"] = ((None,), "string")
        if self.transform is None:
            return parts
        # what the transform leaves as it is, as before; else what elements show, of whole clips the shortest and the
        # longest
        frames = self._sources.frames
        whole = self.size is None and self._items is None
        ends = {int(np.argmin(frames)), int(np.argmax(frames))} if whole else set[int]()
        samples: list[Any] = [self[number] for number in (0, *ends)]
        if not all(isinstance(sample, Mapping) and sample.keys() == samples[0].keys() for sample in samples):
            raise UsageError(f"transform={_name(self.transform)} must return a mapping, with the same names each time")
        signature = {}
        for name, part in samples[0].items():
            shapes = [np.shape(sample[name]) for sample in samples]
            if len({len(shape) for shape in shapes}) > 1:
                raise UsageError(f"{name} has another number of axes in other elements")
            if name in element and _shape(element[name]) == _shape(part):
                signature[name] = parts[name]
            else:
                axes = zip(*shapes, strict=True)
                signature[name] = (tuple(axis[0] if len({*axis}) == 1 else None for axis in axes), _shape(part)[1])
        return signature

    @property
    def sound_rate(self) -> int | None:
        """Samples per second that all sound has; None where files differ, and of questions without *rate*."""
        if self.rate is not None:
            return self.rate
        rates = np.unique(self._sources.lengths[:, 1])
        return int(rates[0]) if len(rates) == 1 and rates[0] else None

    @property
    def vocabulary(self) -> str:
        """The class list that class numbers index."""
        return self._events.vocabulary

    @property
    def folded(self) -> bool:
        """Return whether the labels' azimuths are folded into ±90°, as those of 2025."""
        return any(isinstance(format, Dialect) and format.folded for format in self._events.formats)

    @property
    def layout(self) -> str:
        """The label format that says how long a label frame is, if it is not 100 ms; else nothing."""
        return "" if self.hop == clock.HOP else self._events.formats[0].name

    def places(self) -> Iterator[tuple[str, int]]:
        """Yield the clip of each window and its first label frame, in order."""
        for clip, (_, count) in self.lengths().items():
            yield from ((clip, number * (self.step or 0)) for number in range(count))

    def lengths(self) -> dict[str, tuple[int, int]]:
        """Return the label frames of each clip, the last one perhaps not full, and the number of its windows."""
        frames, counts = self._sources.frames.tolist(), np.diff(self._ends, prepend=0).tolist()
        # of questions there are ends, and no clips
        return dict(zip(self._sources.clips, zip(frames, counts, strict=False), strict=False))


def _recording(entry: Entry) -> Recording:
    from seldio.media.recording import Recording

    return Recording(entry)


def _video(entry: Entry) -> Video:
    from seldio.media.video import Video

    return Video(entry)


@contextmanager
def _naming(entry: Entry, unreadable: type[SeldioError], kind: str) -> Iterator[None]:
    """Name the recording or the video in an error about it."""
    try:
        yield
    except unreadable as error:
        raise unreadable(f"{printable(entry.path)} cannot be read as {kind}: {error.text}") from error


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def _shape(part: Any) -> tuple[tuple[int | None, ...], str]:
    array = np.asarray(part)
    return array.shape, "string" if array.dtype.kind == "U" else array.dtype.name


def _frames(seconds: float | Fraction, hop: Fraction, name: str) -> int:
    exact = Fraction(str(seconds)) / hop if math.isfinite(seconds) else Fraction(0)
    if exact.denominator != 1 or exact <= 0:
        raise UsageError(f"{name}={seconds}: choose a multiple of {float(hop):g} s, the length of a label frame")
    return int(exact)


# --- what windows go through ----------------------------------------------------------------------------


class WindowSources(NamedTuple):
    """The data that windows iterate over, by column: clips, or questions, of which only recordings are known."""

    recordings: Sequence[tuple[Entry, ...]]  # that are heard
    clips: Sequence[str] = ()
    frames: Ints = np.zeros(0, np.int64)  # label frames, the last one perhaps not full
    videos: Sequence[Entry | None] = ()
    #: frames and rate of the recordings that are heard, shape (clips, 2); 0 without
    lengths: Ints = np.zeros((0, 2), np.int64)


def clip_sources(
    dataset: Dataset, audio: Arrays, video: bool, target: str | None, hop: Fraction, rate: int | None, dtype: str
) -> WindowSources:
    """Return the clips of a dataset, in their order, and see that each has what the options of windows ask for."""
    wanted = (audio,) if audio is None or isinstance(audio, str) else tuple(audio)
    if unknown := [name for name in wanted if name not in (None, "any", *RECORDINGS)]:
        raise UsageError(
            f"unknown recordings {unknown[0]!r}; choose from any, {', '.join(RECORDINGS)}, or None for no audio"
        )
    if not wanted or len(set(wanted)) < len(wanted) or (len(wanted) > 1 and {None, "any"} & set(wanted)):
        raise UsageError(f"audio={audio!r}: name each of the recordings once, such as audio=('foa', 'mic')")
    if not dataset.rows:
        hint = "; use items=True for the questions" if dataset.items else ""
        raise UsageError(f"there are no clips to make windows from{hint}")
    rows, names = dataset.rows, list(dataset.rows)
    labelled = set(dataset.events) if target is not None else set(names)
    recordings: list[tuple[Entry, ...]] = []
    videos: list[Entry | None] = []
    for name, media in dataset.media.items():
        entries = [media.entry(RECORDINGS if array in (None, "any") else (array,)) for array in wanted]
        missing = [
            f"recording ({array})" for array, entry in zip(wanted, entries, strict=True) if array and entry is None
        ]
        missing += ["video"] * (video and "video" not in media.files) + ["labels"] * (name not in labelled)
        if missing:
            raise DataError(
                f"clip {printable(name)} has no {' and no '.join(missing)}: select() other clips, or do not ask for it "
                "(audio=None, video=None, target=None)"
            )
        recordings.append(tuple(entry for entry in entries if entry is not None))
        videos.append(media.files.get("video"))
    lengths = _lengths(rows, wanted, recordings, rate, dtype)
    frames = -(-(lengths[:, 0] * hop.denominator) // np.maximum(lengths[:, 1] * hop.numerator, 1))
    for number in np.flatnonzero(lengths[:, 1] == 0).tolist():
        frames[number] = _frames_without_sound(dataset, names[number], videos[number])
    heard = recordings if audio is not None else [()] * len(names)
    return WindowSources(heard, names, frames, videos if video else [None] * len(names), lengths)


def _lengths(
    clips: Mapping[str, Clip],
    arrays: Sequence[str | None],
    recordings: Sequence[tuple[Entry, ...]],
    rate: int | None,
    dtype: str,
) -> Ints:
    """Return frames and rate of the *recordings* of each clip, shape (clips, 2), 0 without, by their headers.

    Refuse sound that cannot be given as *dtype*, FOA and MIC without four channels, and recordings of a clip with
    different lengths; nothing where no array is asked for.
    """
    files = {entry.name: entry for entries in recordings for entry in entries}
    probes = parallel_map(header_of, [*files.values()], batch=64, what="reading headers", here=packed(files.values()))
    headers = dict(zip(files, probes if files else (), strict=True))
    lengths = np.zeros((len(clips), 2), np.int64)
    for number, ((name, clip), entries) in enumerate(zip(clips.items(), recordings, strict=True)):
        said: dict[tuple[int, int], str | None] = {}  # the first array of each length
        for array, entry in zip(arrays, entries, strict=False):
            header = headers[entry.name]
            said.setdefault((header.frames, header.rate), array)
            if array is not None:
                _check_samples(name, clip, entry, header, dtype)
        if len(said) > 1:
            first, other, *_ = (f"{count:,} samples at {hz:,} Hz in {array}" for (count, hz), array in said.items())
            raise DataError(f"clip {printable(name)} has {first} and {other}: they do not fit in one window")
        lengths[number] = next(iter(said), (0, 0))
    if rate is not None and arrays[0] is not None and any(header.rate != rate for header in headers.values()):
        from seldio.media.recording import resampler

        resampler()  # so that what is missing is said now, and not by a worker
    return lengths


def _check_samples(name: str, clip: Clip, entry: Entry, header: Probe, dtype: str) -> None:
    """Raise DataError for a recording of a clip that is not of *dtype*, or of FOA or MIC and without four channels."""
    from seldio.media.recording import IN_16_BITS, not_in_16_bits

    if dtype == "int16" and header.subtype not in IN_16_BITS:
        raise DataError(f"clip {printable(name)} {not_in_16_bits(header.subtype)}")
    if entry.name in (clip.foa, clip.mic) and header.channels != 4:
        array = "FOA" if entry.name == clip.foa else "MIC"
        raise DataError(
            f"{printable(entry.path)} has {plural(header.channels, 'channel')}, but {array} has 4: use the original "
            "recording, or audio=None for no sound"
        )


def header_of(entry: Entry) -> Probe:
    """Return what the header of a recording says."""
    from seldio.media.audio import NotAudio, probe_entry

    with _naming(entry, NotAudio, "audio"):
        probe = probe_entry(entry)
    header = probe.header
    if not probe.frames and header is not None and header.rest >= header.block * header.rate * clock.HOP:
        raise NotAudio(
            f"{printable(entry.path)} says in its header that it has no sound, but {header.rest:,} bytes follow: the "
            "recorder was cut off; write the header again"
        )
    return probe


def _frames_without_sound(dataset: Dataset, name: str, film: Entry | None) -> int:
    """Return label frames of a clip without a recording: of its video, or up to the last label."""
    hop = dataset.events.hop
    if film is not None:
        with _video(film) as video:
            return -int(-video.end / hop // 1)
    table = dataset.events[name]
    stated = dataset.events.format(name).clip_frames or next(
        (file.frames for file in origin_of(table).files if file.clip == name), None
    )
    ends = [frame + 1 for frame in table["frame"].to_pylist()] if "frame" in table.column_names else []
    if "offset" in table.column_names:
        ends += [clock.frames_between(0, end, hop).stop for end in table["offset"].to_pylist()]
    return int(max(stated or 0, *ends, 0))


def question_sources(dataset: Dataset, audio: Arrays) -> WindowSources:
    """Return the questions with their recordings; raise DataError where one is missing."""
    if audio not in (None, "any"):
        raise UsageError("questions name their recordings themselves: audio='any', or None for no audio")
    if not dataset.items:
        raise UsageError("there are no questions")
    if audio is None:
        return WindowSources([()] * len(dataset.items))
    heard = []
    for item, file in dataset.items.rows:
        entries = [dataset.index.lookup.find(path, file) for path in item.audio]
        if None in entries:
            raise DataError(
                f"question {printable(item.id)} is about {printable(item.audio[entries.index(None)])}, which is "
                f"missing ({plural(len(dataset.items), 'question')}): use audio=None for the texts alone"
            )
        heard.append(tuple(entry for entry in entries if entry is not None))
    return WindowSources(heard)
