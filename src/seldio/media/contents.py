"""Measure the samples of sound, and describe recordings and videos in numbers."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from itertools import combinations
from typing import Any, Literal

import numpy as np

from seldio.errors import SeldioError
from seldio.files import Entry
from seldio.media.audio import BLOCK
from seldio.media.intensity import array_heard
from seldio.media.recording import Recording

# --- all samples of a recording, in one pass and little memory ---------------------------------------------------

#: A channel is dead below this level (dB of full scale) if another one is louder by so many dB: what the microphones
#: of one array hear differs by less, and so do W, Y, Z, X in a room;
_QUIET, _BELOW = -60.0, 30.0
#: by less than that, if no peak of it is so many dB above its level, as in noise without any event.
_BELOW_STEADY, _STEADY = 20.0, 20.0
#: All channels are dead below this level if nothing in them reaches this peak: noise of 16 bits, and no sound.
_NOTHING, _NO_PEAK = -70.0, -55.0


@dataclasses.dataclass
class SoundSurvey:
    """Statistics of a recording's samples; channels count from 0."""

    frames: int  # read, all of them unless *fault* is set
    lowest: Any  # smallest sample of each channel (samples that are no numbers left out)
    highest: Any  # largest one
    total: Any  # sum of each channel
    squares: Any  # sum of the squares of each channel
    broken: Any  # samples that are no numbers, or infinite
    same: list[tuple[int, int]]  # pairs of channels that are the same sample by sample
    opposite: list[tuple[int, int]]  # pairs that differ in their sign only
    digest: str = ""  # of all samples, the rate and the number of channels
    fault: str | None = None  # why the rest could not be read

    @property
    def silent(self) -> list[int]:
        """Channels in which all samples are alike."""
        return np.flatnonzero((self.lowest >= self.highest) & (self.broken == 0)).tolist()

    @property
    def offsets(self) -> Any:
        """The mean of each channel, full scale being 1."""
        return self.total / max(1, self.frames)

    @property
    def levels(self) -> Any:
        """Return the RMS level of each channel, without its offset, in dB of full scale; -inf for silence."""
        return _decibels(np.sqrt(np.maximum(0.0, self.squares / max(1, self.frames) - self.offsets**2)))

    @property
    def peaks(self) -> Any:
        """The largest absolute sample of each channel, in dB of full scale; -inf for silence."""
        return _decibels(np.maximum(0.0, np.maximum(self.highest, -self.lowest)))

    @property
    def dead(self) -> list[int]:
        """Channels in which nothing is audible above noise: by their level, alone or against the loudest channel."""
        levels, peaks = self.levels, self.peaks
        below = levels.max(initial=-np.inf) - np.maximum(levels, -1e3)
        steady = peaks < levels + _STEADY
        quiet = (levels < _QUIET) & ((below > _BELOW) | (steady & (below > _BELOW_STEADY)))
        nothing = ((levels < _NOTHING) & (peaks < _NO_PEAK)).all()
        return np.flatnonzero((quiet | nothing) & (self.broken == 0)).tolist()


def listen(recording: Recording) -> SoundSurvey:
    """Read all of *recording* once, in blocks; what breaks on the way is in ``fault``."""
    channels = recording.channels
    pairs = list(combinations(range(channels), 2))
    broken = np.zeros(channels, np.int64)
    lowest, highest = np.full(channels, np.inf), np.full(channels, -np.inf)
    total, squares = np.zeros((2, channels))
    sound = SoundSurvey(0, lowest, highest, total, squares, broken, pairs, list(pairs))
    digest = hashlib.blake2b(f"{recording.rate} {channels}".encode(), digest_size=16)
    try:
        for block in recording.blocks(BLOCK):
            digest.update(block.data)
            fine = np.isfinite(block)
            clean = block if fine.all() else np.where(fine, block, np.float32(0))
            sound.frames += block.shape[1]
            sound.broken += (~fine).sum(axis=1)
            sound.lowest = np.minimum(sound.lowest, clean.min(axis=1))
            sound.highest = np.maximum(sound.highest, clean.max(axis=1))
            sound.total = sound.total + clean.sum(axis=1, dtype=np.float64)
            sound.squares = sound.squares + np.square(clean, dtype=np.float64).sum(axis=1)
            sound.same = [(a, b) for a, b in sound.same if np.array_equal(block[a], block[b])]
            sound.opposite = [(a, b) for a, b in sound.opposite if np.array_equal(block[a], -block[b])]
    except SeldioError as error:
        sound.fault = error.text
    sound.digest = digest.hexdigest()
    return sound


def _decibels(amplitude: Any) -> Any:
    with np.errstate(divide="ignore"):
        return 20 * np.log10(amplitude)


# --- in numbers ----------------------------------------------------------------------------------------


#: By how much the mean of a constant frame rate may be off, as timestamps are rounded.
_CONSTANT = 0.01


def contents(entry: Entry, kind: Literal["audio", "video"]) -> dict[str, Any]:
    """Describe a file that is a recording or a video by its name; all samples of a recording are read."""
    if kind == "video":
        from seldio.media.video import Video

        with Video(entry) as video:
            width, height = video.size
            name = "MP4" if video.container.startswith("mov") else video.container.partition(",")[0].upper()
            variable = abs(video.mean_rate / video.rate - 1) > _CONSTANT
            facts: dict[str, Any] = {
                "kind": "video",
                "type": f"{name} {video.codec.upper()}",
                "width": width,
                "height": height,
                "rate": float(video.mean_rate if variable else video.rate),
                "pictures": video.frames,
                "start": float(video.start),
                "end": float(video.end),
            }
            facts |= {"rotation": video.rotation} if video.rotation else {}
            facts |= {"variable": True} if variable else {}
            return facts | ({"fault": video.fault} if video.fault else {})

    def rounded(level: float) -> float | None:
        return round(level, 2) if math.isfinite(level) else None  # for silence

    with Recording(entry) as recording:
        survey, probe = listen(recording), recording.probe
        levels = zip(survey.peaks.tolist(), survey.levels.tolist(), strict=True)
        facts = {
            "kind": "recording",
            "type": " ".join(part for part in (probe.container, probe.subtype) if part),
            "channels": recording.channels,
            "rate": recording.rate,
            "frames": survey.frames,
            "seconds": survey.frames / recording.rate,
            "peak": rounded(max(survey.peaks.tolist(), default=-math.inf)),
            "by_channel": [{"peak": rounded(peak), "level": rounded(level)} for peak, level in levels],
        }
        facts |= {"fault": fault} if (fault := survey.fault or probe.cut_off) else {}
    array = array_heard(entry)
    return facts if array is None else facts | {"array": {"named": array.named, "heard": array.heard}}
