"""What a recording or a video is, in numbers: channels, rate, length, peak and level; size, rate and length."""

from __future__ import annotations

import math
from typing import Any, Literal

from seldio.errors import SeldioError
from seldio.media.audio import Entry
from seldio.media.contained import ContainedSound, container_name, opened_sound
from seldio.media.levels import Listened, listen
from seldio.media.video import SoundOnly, Video


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


def _sound(recording: Listened) -> dict[str, Any]:
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
