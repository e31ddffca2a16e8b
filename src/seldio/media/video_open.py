"""Opening containers so that FFmpeg opens nothing else: no second file, no network, within limits.

FFmpeg never gets a name. It reads a stream that we opened, through a list of containers that hold their pictures
themselves: a text called ``.mp4`` that lists other files (ffconcat, HLS) is none of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from seldio.errors import DataError
from seldio.text import plural, printable

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


def _nothing_else(url: str, *_: Any) -> Any:
    raise OSError(f"{url} stays closed")


@contextmanager
def container_in(stream: BinaryIO, lock: threading.Lock) -> Iterator[InputContainer]:
    """The container in *stream*.

    Raises:
        NotVideo: it is no container that may be read.
    """
    reader: Any = SharedStream(stream, lock)
    try:
        container = av.open(
            reader, options=dict(_OPTIONS), buffer_size=_BUFFER, io_open=_nothing_else, metadata_errors="replace"
        )
    except FAILURES as error:
        raise NotVideo(_why_not(reader)) from error
    with container:
        yield container


@contextmanager
def opened(stream: BinaryIO, lock: threading.Lock) -> Iterator[tuple[InputContainer, VideoStream]]:
    """The container in *stream* and its main video stream, which nothing has been decoded of.

    Raises:
        NotVideo: it is no container that may be read, has no video, or pictures of over MOST_PIXELS.
    """
    with container_in(stream, lock) as container:
        yield container, _main(container)


def _why_not(reader: SharedStream) -> str:
    reader.seek(0)
    start = reader.read(512)
    if not start:
        return "it is empty (0 bytes)"
    text = not set(start) - {*range(0x20, 0x7F), *b"\t\r\n"}
    return (
        "it is a text"
        if text
        else "it is no video container, or a damaged one (known are MP4, MOV, Matroska, WebM, AVI, …)"
    )


def _main(container: InputContainer) -> VideoStream:
    try:
        found = container.streams.best("video")
    except IndexError:  # streams that appear only while reading
        found = None
    if not isinstance(found, VideoStream) or found.disposition & av.stream.Disposition.attached_pic:
        raise _without_pictures(container)
    context = found.codec_context
    if context is None:
        raise NotVideo("its video is of a kind that cannot be decoded")
    if context.width <= 0 or context.height <= 0:
        raise NotVideo("its pictures have no size")
    if context.width * context.height > MOST_PIXELS:
        raise NotVideo(f"its pictures have {context.width:,} × {context.height:,} pixels, over {MOST_PIXELS:,}")
    context.options = {"max_pixels": str(MOST_PIXELS)}
    return found


def _without_pictures(container: InputContainer) -> NotVideo:
    """Why there is nothing to see; a recording without pictures is a recording."""
    heard = next(iter(container.streams.audio), None)
    if heard is None or heard.codec_context is None:
        return NotVideo("it has no video stream")
    seconds = f", {container.duration / av.time_base:.3f} s" if container.duration else ""
    kind = f"{heard.codec_context.name.upper()}, {plural(heard.channels, 'channel')} at {heard.rate:,} Hz{seconds}"
    return SoundOnly(f"it has no video stream, only sound ({kind})")
