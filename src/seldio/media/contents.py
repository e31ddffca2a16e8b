"""Sound out of any container, AAC in ``.mp4`` too; and what a recording or a video is, in numbers."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO, Literal

import numpy as np
from av import AudioResampler, time_base
from av.audio.stream import AudioStream

from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.media.audio import Floats, NotAudio, Probe, ReadableSound
from seldio.media.recording import Recording
from seldio.media.surveys import listen
from seldio.media.video import SoundOnly, Video
from seldio.media.video_packets import FAILURES, container_in, reason


def container_name(names: str) -> str:
    """What people call a container, from FFmpeg's names of it."""
    first = names.partition(",")[0]
    return "MP4" if first == "mov" else first.upper()


class ContainedSound(ReadableSound):
    """The first sound in a container; a context manager.

    Args:
        stream: of the file, seekable; it stays open.

    Raises:
        NotAudio: there is none.
        NotVideo: it is no container that may be read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stack = ExitStack()
        self._container = self._stack.enter_context(container_in(stream, threading.Lock()))
        found: Any = next(iter(self._container.streams.audio), None)
        if found is None or found.codec_context is None or not found.rate or not found.channels:
            self.close()
            raise NotAudio("there is no sound in it")
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
            for part in self._parts(floats):
                waiting.append(part)
                there += part.shape[1]
                while there >= frames:
                    whole = np.concatenate(waiting, axis=1)
                    yield np.ascontiguousarray(whole[:, :frames])
                    waiting, there = [whole[:, frames:]], there - frames
        except FAILURES as error:
            raise NotAudio(reason(error)) from error
        if there:
            yield np.concatenate(waiting, axis=1)

    def _parts(self, floats: AudioResampler) -> Iterator[Any]:
        for frame in self._container.decode(self._stream):
            yield from (np.asarray(made.to_ndarray(), np.float32) for made in floats.resample(frame))
        yield from (np.asarray(made.to_ndarray(), np.float32) for made in floats.resample(None))


@contextmanager
def opened_sound(entry: Entry) -> Iterator[ReadableSound]:
    """The sound of a file: as libsndfile reads it, or out of a container that it does not read.

    Raises:
        NotAudio: neither reads it; the words are those about libsndfile.
        SeldioError: it is over a limit, or the disk fails.
    """
    with ExitStack() as stack:
        found: ReadableSound = stack.enter_context(Recording(entry))
        try:
            _ = found.probe
        except NotAudio as error:
            try:
                found = stack.enter_context(ContainedSound(stack.enter_context(entry.open())))
            except SeldioError:
                raise error from None
        yield found


def contents(entry: Entry, kind: Literal["audio", "video"]) -> dict[str, Any]:
    """What is in a file that is a recording or a video by its name; all of its sound is read.

    Args:
        entry: the file.
        kind: what its name says.

    Raises:
        NotAudio, NotVideo: it cannot be read.
        SeldioError: it is over a limit, or the disk fails.
    """
    if kind == "audio":
        return _recording(entry)
    with entry.open() as stream:
        try:
            with Video(stream) as video:
                return {"kind": "video", **_video(video)} | _inside(entry, video)
        except SoundOnly:
            return _recording(entry)


def _recording(entry: Entry) -> dict[str, Any]:
    with opened_sound(entry) as sound:
        return {"kind": "recording", **_sound(sound)}


def _sound(recording: ReadableSound) -> dict[str, Any]:
    found, probe = listen(recording), recording.probe
    fault = found.fault or probe.cut_off
    return {
        "type": " ".join(part for part in (probe.container, probe.subtype) if part),
        "channels": recording.channels,
        "rate": recording.rate,
        "frames": found.frames,
        "seconds": found.frames / recording.rate,
        "peak": _decibels(max(found.peaks.tolist(), default=-math.inf)),
        "by_channel": [
            {"peak": _decibels(peak), "level": _decibels(level)}
            for peak, level in zip(found.peaks.tolist(), found.levels.tolist(), strict=True)
        ],
    } | ({"fault": fault} if fault else {})


def _decibels(value: float) -> float | None:
    """Rounded; None for silence."""
    return round(value, 2) if math.isfinite(value) else None


def _video(video: Video) -> dict[str, Any]:
    width, height = video.size
    return {
        "type": f"{container_name(video.container)} {video.codec.upper()}",
        "width": width,
        "height": height,
        "rate": float(video.rate),
        "pictures": video.frames,
        "start": float(video.start),
        "end": float(video.scan.end),
        "hidden": video.scan.hidden,
    } | ({"fault": video.scan.fault} if video.scan.fault else {})


def _inside(entry: Entry, video: Video) -> dict[str, Any]:
    """The sound inside of a video."""
    if video.scan.sound is None:
        return {}
    try:
        with entry.open() as stream, ContainedSound(stream) as sound:
            return {"sound": _sound(sound)}
    except SeldioError as error:
        return {"sound": {"fault": str(error)}}
