"""Video containers, opened so that FFmpeg opens nothing else, and what their packets tell, undecoded.

FFmpeg never gets a name. It reads a stream that we opened, through a list of containers that hold their pictures
themselves: a text called ``.mp4`` that lists other files (ffconcat, HLS) is none of them. The packets tell when each
picture is shown, and where decoding can begin.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np

from seldio import clock
from seldio.errors import DataError, needing
from seldio.text import plural, printable

with needing("av", "17.1"):  # before, it crashes at Flash videos, and does not tell what an MP4 file promises
    import av
    from av.container import InputContainer
    from av.video.stream import VideoStream

#: FFmpeg's names of the containers that may be read.
CONTAINERS = ("mov", "matroska", "avi", "mpegts", "mpeg", "flv", "ogg", "asf", "ivf", "h264", "hevc", "m4v")
#: Pixels of a picture; 8K panoramas (7680 × 3840) are below.
MOST_PIXELS = 8192 * 4320
#: Bytes that FFmpeg fetches at once.
_BUFFER = 2**18
_OPTIONS = {
    "format_whitelist": ",".join(CONTAINERS),
    "protocol_whitelist": "none",
    "probesize": "5000000",
    "analyzeduration": "5000000",
}


class NotVideo(DataError):
    """A file that cannot be read as video."""


class SoundOnly(NotVideo):
    """A file of a type for videos that holds sound and no pictures."""


class SharedStream:
    """A reader with a position of its own on a stream that others read as well, in other threads too."""

    def __init__(self, stream: BinaryIO, lock: threading.Lock) -> None:
        self._stream = stream
        self._lock = lock
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        """The next *size* bytes, or what is left."""
        with self._lock:
            self._stream.seek(self._at)
            data = self._stream.read(size)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move the position of this reader."""
        if whence == os.SEEK_END:
            with self._lock:
                offset += self._stream.seek(0, os.SEEK_END)
        elif whence == os.SEEK_CUR:
            offset += self._at
        if offset < 0:
            raise OSError("before the beginning")
        self._at = offset
        return offset

    def tell(self) -> int:
        """The position of this reader."""
        return self._at


# Tags that are no UTF-8 are replaced; from version 19 on PyAV has no other way, and refuses the keyword.
_TAGS: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.partition(".")[0]) < 19 else {}
#: What PyAV raises at damaged files.
FAILURES = (av.error.FFmpegError, IndexError, ValueError, OverflowError)


def reason(error: BaseException) -> str:
    """What PyAV says, in a few words."""
    return printable(str(getattr(error, "strerror", None) or error)).lower()


@contextmanager
def speaking() -> Iterator[None]:
    """Turn what PyAV raises into NotVideo."""
    try:
        yield
    except FAILURES as error:
        raise NotVideo(reason(error)) from error


@contextmanager
def opened(stream: BinaryIO, lock: threading.Lock) -> Iterator[tuple[InputContainer, VideoStream]]:
    """The container in *stream* and its main video stream, which nothing has been decoded of.

    Raises:
        NotVideo: it is no container that may be read, or has no pictures.
    """
    reader: Any = SharedStream(stream, lock)

    def stay_closed(url: str, *_: Any) -> Any:
        raise OSError(f"{url} stays closed")

    try:
        container = av.open(reader, options=dict(_OPTIONS), buffer_size=_BUFFER, io_open=stay_closed, **_TAGS)
    except FAILURES as error:
        reader.seek(0)
        start = reader.read(512)
        text = "it is a text" if not set(start) - {*range(0x20, 0x7F), *b"\t\r\n"} else ""
        other = "it is not a video container, or it is damaged (known are MP4, MOV, Matroska, WebM, AVI, …)"
        raise NotVideo(text or other if start else "it is empty (0 bytes)") from error
    with container:
        yield container, _main(container)


def _main(container: InputContainer) -> VideoStream:
    try:
        found = container.streams.best("video")
    except IndexError:  # streams that appear only while reading
        found = None
    if not isinstance(found, VideoStream) or found.disposition & av.stream.Disposition.attached_pic:
        raise _without_pictures(container)
    context = found.codec_context
    if context is None:
        raise NotVideo("its video codec cannot be decoded")
    if context.width <= 0 or context.height <= 0:
        raise NotVideo("its pictures have no size")
    if context.width * context.height > MOST_PIXELS:
        raise NotVideo(f"its pictures have {context.width:,} × {context.height:,} pixels, over {MOST_PIXELS:,}")
    context.options = {"max_pixels": str(MOST_PIXELS)}
    return found


def _without_pictures(container: InputContainer) -> NotVideo:
    """Why there is nothing to see; a recording without pictures is a recording."""
    sound = next(iter(container.streams.audio), None)
    if sound is None or sound.codec_context is None:
        return NotVideo("it has no video stream")
    seconds = f", {container.duration / av.time_base:.3f} s" if container.duration else ""
    kind = f"{sound.codec_context.name.upper()}, {plural(sound.channels, 'channel')} at {sound.rate:,} Hz{seconds}"
    return SoundOnly(f"it has no video stream, only sound ({kind})")


# --- what packets tell -----------------------------------------------------------------------------------

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: Presentation and decoding time stamps of a packet, whether it is a key, and its length.
Stamps = tuple[int | None, int | None, bool, int]

#: Pictures of a video: 18 hours of 30 a second.
MOST_FRAMES = 2_000_000
#: Time stamps beyond this are damage, and sums of two would not fit.
_MOST_TICKS = 2**53
#: Containers whose time stamps only say in which order pictures are decoded.
_ORDER_ONLY = ("avi",)
#: FFmpeg's flag (AVFMT_TS_DISCONT) of containers whose time has no zero of its own and may jump: broadcasts.
_JUMPS = 0x200


@dataclasses.dataclass(frozen=True)
class Scan:
    """The pictures of a video in the order in which they are shown."""

    times: Ints  # when each is shown, ascending, in units of *time_base*; from 0 on, or later with a start offset
    time_base: Fraction  # seconds
    rate: Fraction  # frames per second, as the container has it
    last: Fraction  # how long the last picture is shown, in seconds
    stamped: bool  # whether the container says when each picture is shown; otherwise the rate does
    raw: Ints  # FFmpeg's time stamp of each picture, or nothing where pictures can only be counted
    keys: Ints  # for each picture the one from which decoding has to begin; nothing where seeking is not safe
    fault: str = ""  # why reading stopped before the end, if it did
    promised: int = 0  # pictures that the header counts, 0 where it does not; those that an edit list hides left out

    def __len__(self) -> int:
        return len(self.times)

    def time(self, number: int) -> Fraction:
        """Seconds at which a picture is shown."""
        return int(self.times[number]) * self.time_base

    @property
    def start(self) -> Fraction:
        """Seconds at which the first picture is shown."""
        return self.time(0)

    @property
    def end(self) -> Fraction:
        """Seconds at which the last picture ends."""
        return self.time(-1) + self.last

    @cached_property
    def number_of(self) -> dict[int, int]:
        """The number of each picture by FFmpeg's time stamp."""
        return {stamp: number for number, stamp in enumerate(self.raw.tolist())}

    @property
    def ahead(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Seconds by which each picture is shown later than rate and number say."""
        numbers = np.arange(len(self)) / float(self.rate)
        return np.asarray(self.times * float(self.time_base) - numbers, np.float64)

    def numbers(self, label_frames: Iterable[int], name: str = "centre", hop: Fraction = clock.HOP) -> Ints:
        """The picture of each label frame by a convention, by time stamps where it goes by time; -1 for none.

        There is none before the first one, by more than half a picture, and none past the end of the last one.
        """
        chosen = clock.named(name)
        frames = [int(frame) for frame in label_frames]
        if chosen.by == "number":
            found = [chosen.number(frame, self.rate, hop) for frame in frames]
            return np.array([n if 0 <= n < len(self) else -1 for n in found], np.int64)
        shown = chosen.by == "shown"
        moments = [clock.centre(frame, hop) if shown else chosen.moment(frame, hop) for frame in frames]
        # of two pictures at a and b, a is nearer (or as near) up to a + b = 2 * moment
        marks = 2 * self.times if shown else self.times[:-1] + self.times[1:]
        doubles = [min(-int(-2 * moment / self.time_base // 1), 2**62) - 1 for moment in moments]
        places = np.searchsorted(marks, np.array(doubles, np.int64), side="right") - int(shown)
        low, high = self.start - 1 / (2 * self.rate), self.end
        there = np.array([low <= moment < high for moment in moments], bool)
        return np.where(there, np.maximum(places, 0), -1)


def scan(container: InputContainer, stream: VideoStream) -> Scan:
    """Go through all packets of *stream*, and decode none."""
    rates = (stream.guessed_rate, stream.average_rate, stream.base_rate)
    rate = next((Fraction(rate) for rate in rates if rate is not None and 0 < rate <= 1000), None)
    if rate is None:
        raise NotVideo("it has no frame rate")
    packets: list[Stamps] = []
    fault = ""
    try:
        for packet in container.demux(stream):
            if packet.size and not packet.is_discard:  # an edit list hides what is discarded
                packets.append((packet.pts, packet.dts, packet.is_keyframe, packet.duration or 0))
            if len(packets) > MOST_FRAMES:
                raise NotVideo(f"it has over {MOST_FRAMES:,} pictures")
    except FAILURES as error:
        fault = reason(error)
    if not packets:
        raise NotVideo(f"it has no pictures{': ' if fault else ''}{fault}")
    with speaking():
        listed = stream.index_entries if container.format.name.startswith("mov") else ()
        promised = sum(not entry.is_discard for entry in listed)  # of an MP4 file, those to be shown
    found = _scan(container, stream, packets, rate)
    return dataclasses.replace(found, fault=fault, promised=promised)


def _scan(container: InputContainer, stream: VideoStream, packets: list[Stamps], rate: Fraction) -> Scan:
    name, nothing = container.format.name, np.zeros(0, np.int64)
    place = 1 if name in _ORDER_ONLY else 0
    stamps = [packet[place] for packet in packets]
    if stream.time_base is None or any(stamp is None for stamp in stamps):
        counted = np.arange(len(packets), dtype=np.int64)
        return Scan(counted, 1 / rate, rate, 1 / rate, False, nothing, nothing)
    if any(abs(stamp) > _MOST_TICKS for stamp in stamps if stamp is not None):
        raise NotVideo("its time stamps are implausible")
    decoded = np.array(stamps, np.int64)
    order = np.argsort(decoded, kind="stable")
    raw, base = decoded[order], Fraction(stream.time_base)
    zero = _zero(container, base)
    last = packets[int(order[-1])][3] * base or 1 / rate
    if place or (np.diff(raw) <= 0).any():
        return Scan(raw - zero, base, rate, last, not place, nothing, nothing)
    keys = nothing if _jumps(container) else _keys(order, np.array([packet[2] for packet in packets], bool))
    return Scan(raw - zero, base, rate, last, True, raw, keys)


def _jumps(container: InputContainer) -> bool:
    return bool(container.format.flags & _JUMPS)


def _zero(container: InputContainer, base: Fraction) -> int:
    """The stamp (in units of *base*) at which all that is in the container begins."""
    start = container.start_time if _jumps(container) else None
    return round(Fraction(start, av.time_base) / base) if start is not None else 0


def _keys(order: Ints, is_key: np.ndarray[Any, np.dtype[np.bool_]]) -> Ints:
    """For each picture (as shown) the latest key picture that is neither decoded nor shown after it."""
    before = np.maximum.accumulate(np.where(is_key[order], np.arange(len(order)), 0))
    late = order[before] > order  # a key picture that is decoded later, though shown earlier
    before[late] = 0
    return np.asarray(before, np.int64)
