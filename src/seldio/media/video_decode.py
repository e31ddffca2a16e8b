"""Decoding the wanted pictures of a video, in one pass wherever that is quickest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Self

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from seldio.media.video_open import NotVideo, speaking
from seldio.media.video_scan import Scan

#: A seek costs about as much as decoding so many pictures: threads start anew, and the pictures that they had
#: begun are thrown away.
SEEK_COST = 12

Open = Callable[[], AbstractContextManager[tuple[InputContainer, VideoStream]]]


class Decoder:
    """Decodes pictures by number; a context manager. Numbers that go up are decoded in one pass.

    Args:
        open: opens the container anew.
        scan: its packets.
        wanted: the numbers that will be asked for. In H.264, pictures that are not among them and that no other
            picture is made from are not decoded at all.
        threads: 0 lets FFmpeg choose.
    """

    def __init__(self, open: Open, scan: Scan, wanted: frozenset[int], threads: int = 0) -> None:
        self._open = open
        self._scan = scan
        self._wanted = wanted
        self._threads = threads
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
        """The picture *number*, exactly as decoding everything from the beginning gives it.

        Raises:
            NotVideo: it is damaged.
        """
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

    def rest(self) -> Iterator[tuple[int, VideoFrame]]:
        """All pictures from here on that come out of the decoder, with their numbers."""
        for number, frame in self._frames:
            self._next = number + 1
            yield number, frame

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
            self._seek(key)
        for at, frame in self._frames:
            self._next = at + 1
            if at == number:
                return frame
            if at > number:
                break
        return None

    def _seek(self, key: int) -> None:
        self.seeks += 1
        self._sought = True
        with speaking():
            self._container.seek(int(self._scan.raw[key]), stream=self._stream)
        self._frames = self._run(key)

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
