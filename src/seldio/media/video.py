"""Video files on the true clock: which picture belongs to which label frame; the home of PyAV's decoding.

Time comes from the presentation time stamps of the container, so that start offsets, variable rates and missing
pictures do no harm. Containers without such stamps, or without a time 0 (AVI, broadcast streams), are not read.

FFmpeg never gets a name. It reads a stream that seldio opened, through a list of two containers: a text called
``.mp4`` that lists other files (ffconcat, HLS) is none of them. The packets, undecoded, tell when each picture is
shown, and where decoding can begin.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from fractions import Fraction
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO, Literal, cast, get_args

import numpy as np

from seldio import clock
from seldio.errors import DataError, UsageError, needing
from seldio.files import DEFAULTS, Entry
from seldio.files.entries import plain_file, reopening
from seldio.files.sources import on_this_machine
from seldio.text import plural, printable

with needing("av", "17.1"):  # before, it crashes at Flash videos, and does not tell what an MP4 file promises
    import av
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.reformatter import Interpolation, VideoReformatter
    from av.video.stream import VideoStream

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: Height, width and the colours red, green, blue; whole numbers from 0 to 255.
Picture = np.ndarray[Any, np.dtype[np.uint8]]
#: What to do with label frames that have no picture.
Missing = Literal["error", "hold", "skip"]

#: Pixels of a picture; 8K panoramas (7680 × 3840) are below.
MOST_PIXELS = 8192 * 4320
#: A seek costs about as much as decoding so many pictures: threads start anew, and the pictures that they had
#: begun are thrown away.
SEEK_COST = 12
#: Pictures of a video: 18 hours of 30 a second.
MOST_FRAMES = 2_000_000
#: Time stamps beyond this are damage, and sums of two would not fit.
_MOST_TICKS = 2**53
#: Bytes that FFmpeg fetches at once.
_BUFFER = 2**18
#: What FFmpeg may read: MP4, MOV, Matroska and WebM, and no other file.
_OPTIONS = {"format_whitelist": "mov,matroska", "protocol_whitelist": "none"}


class NotVideo(DataError):
    """A file that cannot be read as video."""


class SoundOnly(NotVideo):
    """A file of a type for videos that holds sound and no pictures."""


# Tags that are no UTF-8 are replaced; from version 19 on PyAV has no other way, and refuses the keyword.
_TAGS: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
#: What PyAV raises at damaged files.
FAILURES = (av.error.FFmpegError, IndexError, ValueError, OverflowError)


def reason(error: BaseException) -> str:
    """Return PyAV's reason for an error, in a few words."""
    return printable(str(getattr(error, "strerror", None) or error)).lower()


@contextmanager
def speaking() -> Iterator[None]:
    """Turn what PyAV raises into NotVideo."""
    try:
        yield
    except FAILURES as error:
        raise NotVideo(reason(error)) from error


@contextmanager
def opened(open_file: Callable[[], BinaryIO]) -> Iterator[VideoStream]:
    """Open the main video stream of the container in a file, which nothing has been decoded of."""
    with open_file() as file:
        try:
            container = av.open(file, options=dict(_OPTIONS), buffer_size=_BUFFER, **_TAGS)
        except FAILURES as error:
            file.seek(0)
            start = file.read(512)
            text = "it is a text" if not set(start) - {*range(0x20, 0x7F), *b"\t\r\n"} else ""
            other = (
                "it is no MP4, MOV, Matroska or WebM file, or it is damaged ('ffmpeg -i FILE a.mp4' converts others)"
            )
            raise NotVideo(text or other if start else "it is empty (0 bytes)") from error
        with container:
            yield _main_stream(container)


def _closed() -> BinaryIO:
    raise NotVideo("it has been closed")


def _main_stream(container: InputContainer) -> VideoStream:
    stream: Any = None
    with suppress(IndexError):  # streams that appear only while reading
        stream = container.streams.best("video")
    if not isinstance(stream, VideoStream) or stream.disposition & av.stream.Disposition.attached_pic:
        sound = next(iter(container.streams.audio), None)
        if sound is None or sound.codec_context is None:
            raise NotVideo("it has no video stream")
        kind = f"{sound.codec_context.name.upper()}, {plural(sound.channels, 'channel')} at {sound.rate:,} Hz"
        seconds = f", {container.duration / av.time_base:.3f} s" if container.duration else ""
        raise SoundOnly(f"it has no video stream, only sound ({kind}{seconds})")
    context = stream.codec_context
    if context is None:
        raise NotVideo("its video codec cannot be decoded")
    if context.width <= 0 or context.height <= 0:
        raise NotVideo("its pictures have no size")
    if context.width * context.height > MOST_PIXELS:
        raise NotVideo(f"its pictures have {context.width:,} × {context.height:,} pixels, over {MOST_PIXELS:,}")
    context.options = {"max_pixels": str(MOST_PIXELS)}
    return stream


class Video(AbstractContextManager["Video"]):
    """A video file; a context manager. Opening it reads the packets once and decodes nothing.

    Several threads may ask for pictures at once: each call has a decoder of its own.

    Attributes:
        codec: of the pictures, by FFmpeg's name.
        container: by FFmpeg's name.
        rate: frames per second, as the container says; 30000/1001 for what is called 29.97.
        frames: how many pictures there are.
        promised: pictures that the header counts, those that an edit list hides left out; 0 where it does not.
        times: when each is shown, ascending, in units of *time_base*; from 0 on, or later with a start offset.
        time_base: seconds.
        keys: for each picture the one from which decoding has to begin.
        start: seconds at which the first picture is shown.
        end: seconds at which the last picture ends.
        duration: seconds from the start of the first picture to the end of the last one.
        fault: why reading stopped before the end, if it did.

    Args:
        source: a path, a file of an opened source, or a seekable stream of bytes, which stays open; one that is no
            file on disk is held in memory.
        threads: for decoding; 0 lets FFmpeg choose.

    Raises:
        NotVideo: it cannot be read as video, or is no MP4, MOV, Matroska or WebM file.
        UsageError: nothing has that name.
        SeldioError: it may not be read, or the disk fails.
    """

    def __init__(self, source: str | os.PathLike[str] | Entry | BinaryIO, *, threads: int = 0) -> None:
        if isinstance(source, str | os.PathLike):
            name = on_this_machine(os.fspath(source), DEFAULTS)
            if not os.path.isfile(name):  # noqa: PTH113 - which raises nothing
                missing = "not a file" if os.path.exists(name) else "no such file"  # noqa: PTH110
                raise UsageError(f"{missing}: {printable(name)}")
            source = plain_file(name)
        with source.open() if isinstance(source, Entry) else nullcontext(source) as file:
            self._open, self._threads = partial(opened, reopening(file)), threads
        try:
            with self._open() as stream:
                self._scan(stream)
                self._stored = stream.codec_context.width, stream.codec_context.height
                self.codec, self.container = stream.codec_context.name, stream.container.format.name
        except NotVideo as error:
            if isinstance(source, Entry):
                raise NotVideo(f"{printable(source.path)} cannot be read as video: {error.text}") from error
            raise

    def _scan(self, stream: VideoStream) -> None:
        """Set the attributes that packets tell; no picture is decoded."""
        container, base = cast("InputContainer", stream.container), stream.time_base
        rates = (stream.guessed_rate, stream.average_rate, stream.base_rate)
        rate = next((Fraction(rate) for rate in rates if rate is not None and 0 < rate <= 1000), None)
        if rate is None or base is None:
            raise NotVideo("it has no frame rate")
        packets: list[tuple[int | None, bool, int]] = []
        self.fault, self.promised = "", 0
        try:
            for packet in container.demux(stream):
                if packet.size and not packet.is_discard:  # an edit list hides what is discarded
                    packets.append((packet.pts, packet.is_keyframe, packet.duration or 0))
                if len(packets) > MOST_FRAMES:
                    raise NotVideo(f"it has over {MOST_FRAMES:,} pictures")
        except FAILURES as error:
            self.fault = reason(error)
        if not packets:
            raise NotVideo(f"it has no pictures{': ' if self.fault else ''}{self.fault}")
        stamps, keyed, durations = zip(*packets, strict=True)
        if "mp4" in container.format.name:
            with speaking():
                self.promised = sum(not entry.is_discard for entry in stream.index_entries)
        if None in stamps or len(set(stamps)) < len(stamps):
            raise NotVideo("not every picture has a time stamp of its own ('ffmpeg -i FILE a.mp4' gives them new ones)")
        decoded = np.array(stamps, np.int64)
        if np.abs(decoded).max() > _MOST_TICKS:
            raise NotVideo("its time stamps are implausible")
        order = np.argsort(decoded)
        last = durations[int(order[-1])] * Fraction(base) or 1 / rate
        # for each picture, as shown, the latest key picture that is neither decoded nor shown after it
        keys = np.maximum.accumulate(np.where(np.array(keyed)[order], np.arange(len(order)), 0)).astype(np.int64)
        keys[order[keys] > order] = 0  # it is decoded later, though shown earlier
        self.times, self.time_base, self.keys = decoded[order], Fraction(base), keys
        self.rate, self.frames = rate, len(order)
        self.start, self.end = self._time(0), self._time(-1) + last
        self.duration = self.end - self.start

    def _time(self, number: int) -> Fraction:
        """Return seconds at which a picture is shown."""
        return int(self.times[number]) * self.time_base

    @cached_property
    def _number_of(self) -> dict[int | None, int]:
        """The number of each picture by its time stamp."""
        return {stamp: number for number, stamp in enumerate(self.times.tolist())}

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; what is being read from it is read to its end."""
        self._open = partial(opened, _closed)

    @cached_property
    def rotation(self) -> int:
        """Degrees, counter-clockwise, by which players turn the pictures; the first picture tells."""
        with suppress(NotVideo):
            return round(next(self._decoded([0], threads=1)).rotation / 90) % 4 * 90
        return 0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures as they are shown, turned where the container says so."""
        return self._stored[::-1] if self.rotation % 180 else self._stored

    @property
    def mean_rate(self) -> Fraction:
        """Frames per second over the whole video, which is the :attr:`rate` unless that is not constant."""
        return self.frames / self.duration if self.duration > 0 else self.rate

    def numbers(self, label_frames: Iterable[int], *, convention: str = "centre", hop: Fraction = clock.HOP) -> Ints:
        """Return the number of the picture of each label frame, from 0; -1 where there is none.

        It goes by time stamps where the convention goes by time. There is no picture before the first one, by more than
        half a picture, and none past the end of the last one.

        Raises:
            UsageError: there is no such convention.
        """
        chosen = clock.named(convention)
        frames = [int(frame) for frame in label_frames]
        if chosen.by == "number":
            counted = [chosen.number(frame, self.rate, hop) for frame in frames]
            return np.array([number if 0 <= number < self.frames else -1 for number in counted], np.int64)
        shown, times = chosen.by == "shown", self.times
        moments = [clock.centre(frame, hop) if shown else chosen.moment(frame, hop) for frame in frames]
        # of two pictures at a and b, a is nearer (or as near) up to a + b = 2 * moment
        marks = 2 * times if shown else times[:-1] + times[1:]
        doubles = [min(-int(-2 * moment / self.time_base // 1), 2**62) - 1 for moment in moments]
        places = np.searchsorted(marks, np.array(doubles, np.int64), side="right") - int(shown)
        low, high = self.start - 1 / (2 * self.rate), self.end
        inside = np.array([low <= moment < high for moment in moments], bool)
        return np.where(inside, np.maximum(places, 0), -1)

    def frames_at(
        self,
        label_frames: Iterable[int],
        *,
        convention: str = "centre",
        size: tuple[int, int] | None = None,
        hop: Fraction = clock.HOP,
        missing: Missing = "error",
    ) -> Iterator[tuple[int, Picture]]:
        """Return each label frame, in the order asked, with its picture, shape (height, width, 3).

        In ascending order everything is decoded in one pass, with seeks only over what is longer than a seek
        takes; only wanted pictures are converted. The pictures are those of a full decode, turned as players turn
        them where the container says so.

        Args:
            label_frames: numbers from 0.
            convention: one of :data:`seldio.clock.CONVENTIONS`.
            size: width and height to scale to, as in (360, 180); those of the video by default.
            hop: seconds between label frames.
            missing: for label frames without a picture: an error, the nearest picture (*hold*), or nothing.

        Raises:
            UsageError: no such convention, size or *missing*.
            DataError: a label frame has no picture.
            NotVideo: a picture is damaged.
        """
        if size is not None and not (min(size) > 0 and size[0] * size[1] <= MOST_PIXELS):
            raise UsageError(f"no pictures of {size[0]} × {size[1]}: both must be above 0, {MOST_PIXELS:,} in all")
        if missing not in get_args(Missing):
            raise UsageError(f"missing={missing!r} for label frames without a picture: choose error, hold or skip")
        frames = [int(frame) for frame in label_frames]
        numbers = self.numbers(frames, convention=convention, hop=hop).tolist()
        absent = [frame for frame, number in zip(frames, numbers, strict=True) if number < 0]
        if absent and missing == "error":
            raise DataError(
                f"{plural(len(absent), 'label frame')} without a picture, first {absent[0]:,} "
                f"({float(clock.seconds(absent[0], hop)):g} s): the video is shown from {float(self.start):.3f} "
                f"to {float(self.end):.3f} s; missing='hold' takes the nearest picture, missing='skip' none"
            )
        if missing == "hold":
            last = self.frames - 1
            nearest = {frame: 0 if clock.centre(frame, hop) < self.start else last for frame in absent}
            numbers = [nearest.get(frame, number) for frame, number in zip(frames, numbers, strict=True)]
        shown = [(frame, number) for frame, number in zip(frames, numbers, strict=True) if number >= 0]
        return self._converted(shown, size)

    def pictures(self, label_frames: Iterable[int], **options: Any) -> Picture:
        """Return the pictures of :meth:`frames_at` as one array of shape (label frames, height, width, 3)."""
        pictures = [picture for _, picture in self.frames_at(label_frames, **options)]
        width, height = options.get("size") or self.size
        return np.stack(pictures) if pictures else np.zeros((0, height, width, 3), np.uint8)

    def _converted(
        self, frames: Sequence[tuple[int, int]], size: tuple[int, int] | None
    ) -> Iterator[tuple[int, Picture]]:
        """Yield label frames with the pictures of their numbers; those that share one get the same."""
        reformatter = VideoReformatter()  # one for all, since it keeps its tables
        area = Interpolation.AREA if size is not None else None  # every pixel counts when it is made smaller
        runs = [(number, list(pairs)) for number, pairs in groupby(frames, itemgetter(1))]
        decoded = self._decoded([number for number, _ in runs], self._threads)
        for picture, (_, pairs) in zip(decoded, runs, strict=True):
            turns = round(picture.rotation / 90) % 4  # as players turn it
            width, height = size or self._stored
            if size is not None and turns % 2:
                width, height = height, width
            with speaking():
                made = reformatter.reformat(picture, width, height, "rgb24", interpolation=area)
                array = np.asarray(made.to_ndarray(), np.uint8)
            turned = np.ascontiguousarray(np.rot90(array, turns)) if turns else array
            yield from ((frame, turned) for frame, _ in pairs)

    def _decoded(self, numbers: Sequence[int], threads: int) -> Iterator[VideoFrame]:
        """Yield pictures by number exactly as decoding everything gives them; raise NotVideo if one is damaged.

        Increasing numbers are decoded in one pass, with seeks only over what takes longer to decode.
        """
        wanted, seeks = frozenset(numbers), True
        run: Iterator[tuple[int, VideoFrame]] = iter(())
        stream: VideoStream | None = None
        first = following = 0  # the pictures with which the run began, and which it reaches next
        with ExitStack() as stack:
            for number in numbers:
                at, picture = -1, None
                while picture is None or at != number:
                    key = int(self.keys[number]) if seeks else 0
                    if stream is None or number < following or key > following + SEEK_COST:
                        first = key if key > SEEK_COST else 0
                        stream = stream if stream is not None and first else self._begun(stack, threads)
                        run = self._run(stream, first, wanted)
                    at, picture = next((pair for pair in run if pair[0] >= number), (-1, None))
                    if at != number:
                        if not first:
                            time = float(self._time(number))
                            raise NotVideo(f"picture {number:,} of {self.frames:,} (at {time:.3f} s) cannot be decoded")
                        seeks, stream = False, None  # the index of the container led astray: from the beginning, then
                following = number + 1
                yield picture

    def _begun(self, stack: ExitStack, threads: int) -> VideoStream:
        """Open the container at its beginning; *stack* closes it, and closes the one before."""
        stack.close()
        stream = stack.enter_context(self._open())
        stream.codec_context.thread_type, stream.codec_context.thread_count = "AUTO", threads
        return stream

    def _run(self, stream: VideoStream, key: int, wanted: frozenset[int]) -> Iterator[tuple[int, VideoFrame]]:
        """Yield numbers and pictures as they are shown, from the picture *key* on; none if the seek went past it.

        In H.264, pictures that are not *wanted* and that no other picture is made from are not decoded at all.
        """
        numbers, context = self._number_of, stream.codec_context
        container = cast("InputContainer", stream.container)
        with speaking():
            if key:
                container.seek(int(self.times[key]), stream=stream)
            for packet in container.demux(stream):
                number = numbers.get(packet.pts)
                if key and packet.size:
                    if number is not None and number > key:
                        return
                    if number != key:
                        continue
                    key = 0
                if context.name == "h264":
                    context.skip_frame = "DEFAULT" if number in wanted else "NONREF"
                try:
                    pictures = stream.decode(packet)
                except av.error.InvalidDataError:
                    continue  # damaged; what does not come out is missed by whoever wants it
                for picture in pictures:
                    if picture.pts in numbers:
                        yield numbers[picture.pts], picture
