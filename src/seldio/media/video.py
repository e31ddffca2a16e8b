"""Video files on the true clock: which picture belongs to which label frame; the home of PyAV's decoding.

Time comes from the presentation time stamps of the container where it has them, so that start offsets, variable
rates and missing pictures do no harm, and from the rate otherwise. Time 0 is that of the container, except in
broadcast streams (MPEG-TS), which begin anywhere: there it is their first moment.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from fractions import Fraction
from functools import cached_property
from typing import Any, BinaryIO, Literal, Self, TypeVar

import numpy as np

from seldio import clock
from seldio.errors import DataError, UsageError, needing
from seldio.files import open_source
from seldio.media.audio import Closing
from seldio.media.video_packets import MOST_PIXELS, Ints, NotVideo, Scan, SoundOnly, opened, scan, speaking
from seldio.text import plural, printable

with needing("av"):
    import av
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.reformatter import Interpolation, VideoReformatter
    from av.video.stream import VideoStream

__all__ = ["NotVideo", "Picture", "SoundOnly", "Video"]

#: Height, width and the colours red, green, blue; whole numbers from 0 to 255.
Picture = np.ndarray[Any, np.dtype[np.uint8]]
_Made = TypeVar("_Made")
#: What to do with label frames that have no picture.
Missing = Literal["error", "hold", "skip"]


class Video(Closing):
    """A video file; a context manager. Opening it reads the packets once and decodes nothing.

    Several threads may ask for pictures at once: each call has a decoder of its own.

    Args:
        source: a path, or a seekable stream of bytes, which stays open.
        threads: for decoding; 0 lets FFmpeg choose.

    Raises:
        NotVideo: it cannot be read as video, or is none of the containers that hold their pictures themselves.
        UsageError: nothing has that name.
        SeldioError: it may not be read, or the disk fails.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, *, threads: int = 0) -> None:
        self._own = isinstance(source, str | os.PathLike)
        self._stream = _open(source) if isinstance(source, str | os.PathLike) else source
        self._lock = threading.Lock()
        self._threads = threads
        try:
            with self._opened() as (container, stream):
                self.scan: Scan = scan(container, stream)
                self._stored: tuple[int, int] = (stream.codec_context.width, stream.codec_context.height)
                self.codec: str = stream.codec_context.name
                self.container: str = container.format.name
        except BaseException as error:
            self.close()
            if isinstance(source, str | os.PathLike) and isinstance(error, NotVideo):
                raise NotVideo(f"{printable(os.fspath(source))} cannot be read as video: {error}") from error
            raise

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._own:
            self._stream.close()

    @cached_property
    def rotation(self) -> int:
        """Degrees, counter-clockwise, by which players turn the pictures; the first picture tells."""
        with suppress(NotVideo), PictureDecoder(self._opened, self.scan, frozenset([0]), 1) as decoder:
            return round(decoder.picture(0).rotation / 90) % 4 * 90
        return 0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures as they are shown, turned where the container says so."""
        return self._stored[::-1] if self.rotation % 180 else self._stored

    @property
    def mean_rate(self) -> Fraction:
        """Frames per second over the whole video, which is the :attr:`rate` unless that is not constant."""
        return self.frames / self.duration if self.duration > 0 else self.rate

    @property
    def rate(self) -> Fraction:
        """Frames per second, as the container says; 30000/1001 for what is called 29.97."""
        return self.scan.rate

    @property
    def frames(self) -> int:
        """How many pictures there are."""
        return len(self.scan)

    @property
    def start(self) -> Fraction:
        """Seconds at which the first picture is shown."""
        return self.scan.start

    @property
    def duration(self) -> Fraction:
        """Seconds from the start of the first picture to the end of the last one."""
        return self.scan.end - self.scan.start

    def numbers(
        self, label_frames: Iterable[int], *, convention: str = "centre", hop: Fraction = clock.HOP
    ) -> Ints:  # fmt: skip
        """The number of the picture of each label frame, from 0; -1 where there is none.

        Raises:
            UsageError: there is no such convention.
        """
        return self.scan.numbers(label_frames, convention, hop)

    def frames_at(
        self,
        label_frames: Iterable[int],
        *,
        convention: str = "centre",
        size: tuple[int, int] | None = None,
        hop: Fraction = clock.HOP,
        missing: Missing = "error",
    ) -> Iterator[tuple[int, Picture]]:
        """Each label frame, in the order asked, with its picture, shape (height, width, 3).

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
            UsageError: no such convention, or no such size.
            DataError: a label frame has no picture.
            NotVideo: a picture is damaged.
        """
        if size is not None and not (min(size) > 0 and size[0] * size[1] <= MOST_PIXELS):
            raise UsageError(f"no pictures of {size[0]} × {size[1]}: both must be above 0, {MOST_PIXELS:,} in all")
        convert = _Converter(size or self._stored, scaled=size is not None)
        return self._each(label_frames, convert.picture, convention, hop, missing)

    def copies_at(
        self, label_frames: Iterable[int], size: tuple[int, int], hop: Fraction = clock.HOP
    ) -> Iterator[tuple[int, VideoFrame]]:
        """What :meth:`frames_at` gives, made smaller, for :meth:`seldio.media.video_writing.VideoWriter.picture`.

        Pictures stay as FFmpeg has them, which is quicker. Label frames without a picture are left out.
        """
        return self._each(label_frames, _Converter(size, scaled=True).frame, "centre", hop, "skip")

    def pictures(self, label_frames: Iterable[int], **options: Any) -> Picture:
        """What :meth:`frames_at` gives, as one array of shape (label frames, height, width, 3)."""
        found = [picture for _, picture in self.frames_at(label_frames, **options)]
        width, height = options.get("size") or self.size
        return np.stack(found) if found else np.zeros((0, height, width, 3), np.uint8)

    def _opened(self) -> AbstractContextManager[tuple[InputContainer, VideoStream]]:
        return opened(self._stream, self._lock)

    def _each(
        self, label_frames: Iterable[int], convert: Callable[[VideoFrame], _Made], convention: str, hop: Fraction,
        missing: Missing,
    ) -> Iterator[tuple[int, _Made]]:  # fmt: skip
        """Each label frame with what *convert* makes of its picture; those that share one get the same."""
        frames = [int(frame) for frame in label_frames]
        numbers = self.numbers(frames, convention=convention, hop=hop)
        there = numbers >= 0
        if missing == "error" and not there.all():
            gone = [frame for frame, known in zip(frames, there, strict=True) if not known]
            raise DataError(
                f"{plural(len(gone), 'label frame')} without a picture, first {gone[0]:,} "
                f"({float(clock.seconds(gone[0], hop)):g} s): the video is shown from {float(self.start):.3f} "
                f"to {float(self.scan.end):.3f} s; missing='hold' takes the nearest picture, missing='skip' none"
            )
        if missing == "skip":
            frames, numbers = [frame for frame, known in zip(frames, there, strict=True) if known], numbers[there]
        elif not there.all():
            early = np.array([clock.centre(frame, hop) < self.start for frame in frames], bool)
            numbers = np.where(there, numbers, np.where(early, 0, self.frames - 1))
        return self._decoded(frames, numbers.tolist(), convert)

    def _decoded(
        self, frames: list[int], numbers: list[int], convert: Callable[[VideoFrame], _Made]
    ) -> Iterator[tuple[int, _Made]]:
        last: tuple[int, _Made] | None = None
        with PictureDecoder(self._opened, self.scan, frozenset(numbers), self._threads) as decoder:
            for frame, number in zip(frames, numbers, strict=True):
                if last is None or last[0] != number:
                    last = number, convert(decoder.picture(number))
                yield frame, last[1]


class _Converter:
    """Turns decoded pictures into pictures of a size, turned as players turn them."""

    def __init__(self, size: tuple[int, int], scaled: bool) -> None:
        self._size = size
        # every pixel counts when a picture is made smaller
        self._interpolation = Interpolation.AREA if scaled else None
        self._reformatter = VideoReformatter()  # one for all, since it keeps its tables

    def picture(self, frame: VideoFrame) -> Picture:
        """An array of red, green and blue."""
        turns = round(frame.rotation / 90) % 4
        width, height = self._size if not (turns % 2 and self._interpolation is not None) else self._size[::-1]
        with speaking():
            made = self._reformatter.reformat(frame, width, height, "rgb24", interpolation=self._interpolation)
            picture = np.asarray(made.to_ndarray(), np.uint8)
        return np.ascontiguousarray(np.rot90(picture, turns)) if turns else picture

    def frame(self, frame: VideoFrame) -> VideoFrame:
        """A frame of FFmpeg, ready to be encoded."""
        if frame.rotation:
            return VideoFrame.from_ndarray(self.picture(frame), format="rgb24")
        with speaking():
            return self._reformatter.reformat(frame, *self._size, "yuv420p", interpolation=self._interpolation)


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    """A stream of a regular file; pipes, devices, folders and links that lead nowhere are refused."""
    faults: list[str] = []
    with open_source(path, lambda finding: faults.append(finding.message)) as source:
        if source.kind != "file" or len(source.entries) != 1:
            shown = printable(os.fspath(path))
            raise NotVideo(f"{shown} cannot be read as video: {faults[0] if faults else 'it is a ' + source.kind}")
        return source.entries[0].open()


# --- decoding --------------------------------------------------------------------------------------------

#: A seek costs about as much as decoding so many pictures: threads start anew, and the pictures that they had
#: begun are thrown away.
SEEK_COST = 12

Open = Callable[[], AbstractContextManager[tuple[InputContainer, VideoStream]]]


class PictureDecoder:
    """Decodes pictures by number; a context manager. Increasing numbers are decoded in one pass.

    In H.264, pictures that are not *wanted* and that no other picture is made from are not decoded at all.
    """

    def __init__(self, open: Open, scan: Scan, wanted: frozenset[int], threads: int = 0) -> None:
        self._open, self._scan, self._wanted, self._threads = open, scan, wanted, threads
        self._stack = ExitStack()
        self._may_seek = len(scan.keys) > 0
        self._last: tuple[int, VideoFrame] | None = None
        self._frames: Iterator[tuple[int, VideoFrame]] = iter(())
        #: how often a seek was made, for tests and the curious
        self.seeks = 0

    def __enter__(self) -> Self:
        self._restart()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def picture(self, number: int) -> VideoFrame:
        """The picture *number*, exactly as decoding everything from the beginning gives it; NotVideo, if damaged."""
        if self._last is not None and self._last[0] == number:
            return self._last[1]
        if number < self._next:
            self._restart()
        frame = self._find(number)
        if frame is None and self._sought:  # the index of the container led astray: from the beginning, then
            self._may_seek = False
            self._restart()
            frame = self._find(number)
        if frame is None:
            time = float(self._scan.time(number))
            raise NotVideo(f"picture {number:,} of {len(self._scan):,} (at {time:.3f} s) cannot be decoded")
        self._last = number, frame
        return frame

    def _restart(self) -> None:
        self._stack.close()
        with speaking():
            self._container, self._stream = self._stack.enter_context(self._open())
            context = self._stream.codec_context
            context.thread_type = "AUTO"
            context.thread_count = self._threads
        self._sparing = context.name == "h264" and len(self._scan.raw) > 0
        self._next = 0  # the number that decoding on reaches next
        self._sought = False
        self._frames = self._run(None)

    def _find(self, number: int) -> VideoFrame | None:
        key = int(self._scan.keys[number]) if self._may_seek else 0
        if key > self._next + SEEK_COST:
            self.seeks += 1
            self._sought = True
            with speaking():
                self._container.seek(int(self._scan.raw[key]), stream=self._stream)
            self._frames = self._run(key)
        for at, frame in self._frames:
            self._next = at + 1
            if at == number:
                return frame
            if at > number:
                break
        return None

    def _run(self, key: int | None) -> Iterator[tuple[int, VideoFrame]]:
        """Numbers and pictures as they are shown, from the picture *key* on."""
        count = 0
        with speaking():
            for packet in self._packets(key):
                for frame in self._decoded(packet):
                    number = self._number(frame.pts) if len(self._scan.raw) else count
                    count += 1
                    if number is not None:
                        yield number, frame

    def _packets(self, key: int | None) -> Iterator[Packet[VideoStream]]:
        """The packets from *key* on; none if the seek went past it."""
        for packet in self._container.demux(self._stream):
            if key is not None and packet.size:
                number = self._number(packet.pts)
                if number is not None and number > key:
                    return
                if number != key:
                    continue
                key = None
            if packet.size or packet.dts is None:  # empty at the end; elsewhere that says "the same picture again"
                yield packet

    def _decoded(self, packet: Packet[VideoStream]) -> list[VideoFrame]:
        if self._sparing:
            wanted = self._number(packet.pts) in self._wanted
            self._stream.codec_context.skip_frame = "DEFAULT" if wanted else "NONREF"
        try:
            return self._stream.decode(packet)
        except av.error.InvalidDataError:
            return []  # damaged; what does not come out is missed by whoever wants it

    def _number(self, stamp: int | None) -> int | None:
        return None if stamp is None else self._scan.number_of.get(stamp)
