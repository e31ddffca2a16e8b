"""What is in a container of videos: sound, AAC in ``.mp4`` too, and what a video is like, in numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from seldio.errors import SeldioError, needing
from seldio.files import Entry
from seldio.media.audio import Floats, NotAudio, Probe, ReadableSound
from seldio.media.contents import sound_contents
from seldio.media.video import Video
from seldio.media.video_packets import FAILURES, container_in, reason

with needing("av"):
    from av import AudioResampler, time_base
    from av.audio.stream import AudioStream


def container_name(names: str) -> str:
    """What people call a container, from FFmpeg's names of it."""
    first = names.partition(",")[0]
    return "MP4" if first == "mov" else first.upper()


class ContainedSound(ReadableSound):
    """The first sound in a container, which is read from a seekable stream that stays open; a context manager."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stack = ExitStack()
        self._container = self._stack.enter_context(container_in(stream, threading.Lock()))
        found: Any = next(iter(self._container.streams.audio), None)
        if found is None or found.codec_context is None or not found.rate or not found.channels:
            self.close()
            raise NotAudio("it has no audio")
        self._stream: AudioStream = found
        length = found.duration * found.time_base if found.duration is not None and found.time_base else None
        seconds = length if length is not None else (self._container.duration or 0) / time_base
        kind, codec = container_name(self._container.format.name), found.codec_context.name.upper()
        self._probe = Probe(round(seconds * found.rate), found.rate, found.channels, codec, container=kind)

    @property
    def probe(self) -> Probe:
        """What the container says."""
        return self._probe

    def close(self) -> None:
        """Let go of the container."""
        self._stack.close()

    def blocks(self, frames: int) -> Iterator[Floats]:
        """All of the sound, as :meth:`Recording.blocks` gives it; once."""
        floats = AudioResampler("fltp", self._stream.layout.name, self.rate)
        waiting, there = [np.zeros((self.channels, 0), np.float32)], 0
        try:
            decoded = chain(self._container.decode(self._stream), [None])  # at the end, what is still inside comes out
            for made in chain.from_iterable(map(floats.resample, decoded)):
                waiting.append(np.asarray(made.to_ndarray(), np.float32))
                there += waiting[-1].shape[1]
                while there >= frames:
                    whole = np.concatenate(waiting, axis=1)
                    yield np.ascontiguousarray(whole[:, :frames])
                    waiting, there = [whole[:, frames:]], there - frames
        except FAILURES as error:
            raise NotAudio(reason(error)) from error
        if there:
            yield np.concatenate(waiting, axis=1)


#: By how much the mean of a constant frame rate may be off, as timestamps are rounded.
_CONSTANT = 0.01


def video_contents(entry: Entry, video: Video) -> dict[str, Any]:
    """What is in a video, in numbers; all of its sound is read."""
    width, height = video.size
    variable = abs(video.mean_rate / video.rate - 1) > _CONSTANT
    found: dict[str, Any] = {
        "kind": "video",
        "type": f"{container_name(video.container)} {video.codec.upper()}",
        "width": width,
        "height": height,
        "rate": float(video.mean_rate if variable else video.rate),
        "pictures": video.frames,
        "start": float(video.start),
        "end": float(video.scan.end),
    }
    if video.rotation:
        found["rotation"] = video.rotation
    if variable:
        found["variable"] = True
    if video.scan.fault:
        found["fault"] = video.scan.fault
    if video.scan.has_sound:
        try:
            with entry.open() as stream, ContainedSound(stream) as sound:
                found["sound"] = sound_contents(sound)
        except SeldioError as error:
            found["sound"] = {"fault": error.text}
    return found
