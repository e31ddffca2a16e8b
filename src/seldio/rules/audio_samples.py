"""AUD2: what recordings sound like; each is read once, block by block, in memory that does not grow."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from seldio.engines import each
from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry
from seldio.findings import Finding, Sink
from seldio.rules.collection import Found
from seldio.rules.registry import ERROR, WARNING, rule, run
from seldio.rules.tree_media import TreeFile
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.surveys import SoundSurvey

#: Flat tops that are too many to be chance.
_MOST_FLAT = 10
#: A mean beyond this share of full scale (-40 dB) is an offset.
_OFFSET = 0.01


@dataclasses.dataclass(frozen=True)
class SurveyedSound:
    """A recording and what it sounds like."""

    entry: Entry
    name: str
    channels: int
    sound: SoundSurvey


@dataclasses.dataclass(frozen=True)
class SurveyedSounds:
    """Recordings that are compared with each other."""

    all: Sequence[SurveyedSound]


def _of(surveyed: SurveyedSound, channels: list[int]) -> str:
    """The channels of a recording in words; they count from 1 for people."""
    if len(channels) == surveyed.channels:
        return "all channels" if len(channels) > 1 else "the channel"
    return f"channel{'s' if len(channels) > 1 else ''} {', '.join(str(channel + 1) for channel in channels)}"


@rule("AUD201", ERROR)
def silent_channel(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """A recording, or a channel of it, in which nothing sounds.

    All samples are alike, from the first to the last, or there is nothing but the noise of a converter or of
    dither: a level below -60 dB of full scale while another channel is 30 dB louder (20 dB, where no peak is
    20 dB above the level), or all channels below -70 dB with no peak above -55 dB. No microphone of an array
    does that: a channel was lost, or a file was made and never filled.

    Example:
        four channels at -30 dB, and the third has -73 dB

    Fix:
        Take the original.

    Reference: none; a quiet room is louder than 16 bits are deep.
    """
    silent = one.sound.silent
    if one.sound.frames > 1 and silent:
        verb = "is" if len(silent) == 1 else "are"
        yield found(one.entry.path, f"{one.name}: {_of(one, silent)} {verb} silent", "take the original")
    if one.sound.frames > 1 and (dead := [channel for channel in one.sound.dead if channel not in silent]):
        verb = "has" if len(dead) == 1 else "have"
        levels = one.sound.levels
        loudest = f", the loudest channel {levels.max():.0f} dB" if len(dead) + len(silent) < one.channels else ""
        message = f"{one.name}: {_of(one, dead)} {verb} nothing but noise at {levels[dead].max():.0f} dB{loudest}"
        yield found(one.entry.path, message, "take the original")


@rule("AUD202", WARNING)
def clipped_sound(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Sound that stays at full scale, or goes beyond it.

    Three samples in a row at the largest value there is: the top of the wave is cut off, and with it go the
    differences between channels that directions are heard by. Floats may go beyond full scale; they are cut
    off as soon as somebody writes them as whole numbers.

    Example:
        1,280 flat tops in channel 1

    Fix:
        Record or mix it at a lower level.

    Reference: EBU R 128 s1 and ITU-R BS.1770 on true peaks; three samples in a row is what editors mark.
    """
    sound = one.sound
    if (tops := int(sound.flat.sum())) >= _MOST_FLAT:
        channels = np.flatnonzero(sound.flat).tolist()
        message = f"{one.name}: {plural(tops, 'flat top')} at full scale in {_of(one, channels)}"
        yield found(one.entry.path, message, "record or mix it at a lower level")
    if loud := int(sound.loud.sum()):
        peak = 20 * math.log10(max(abs(sound.lowest).max(), abs(sound.highest).max()))
        message = f"{one.name}: {plural(loud, 'sample')} beyond full scale, up to {peak:+.1f} dB"
        yield found(one.entry.path, message, "lower the level before it is written as whole numbers")


@rule("AUD203", ERROR)
def channels_alike(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Two channels that are the same, sample by sample, perhaps with the sign turned around.

    A mono recording written four times has the right number of channels and no direction. In ambisonics and
    between microphones no two channels are ever the same.

    Example:
        channels 2 and 3 of a recording in foa_dev are the same

    Fix:
        Take the original.

    Reference: DCASE 2023 Task 3, the responses of FOA and MIC differ from channel to channel.
    """
    sound, silent = one.sound, set(one.sound.silent)
    for pairs, what in ((sound.same, "the same"), (sound.opposite, "the same with the sign turned around")):
        told = [pair for pair in pairs if not silent & set(pair)] if sound.frames > 1 else []
        if told and len(told) == math.comb(one.channels, 2) > 1:
            yield found(one.entry.path, f"{one.name}: all {one.channels} channels are {what}", "take the original")
        elif told:
            named = listed([f"{a + 1} and {b + 1}" for a, b in told])
            yield found(one.entry.path, f"{one.name}: channels {named} are {what}", "take the original")


@rule("AUD204", WARNING)
def constant_offset(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """A channel whose mean is far from zero.

    A converter or an edit has added a constant. It is not heard, and it moves whatever is computed from levels;
    in ambisonics it looks like a sound that comes from one direction all the time.

    Example:
        the mean of channel 1 is 0.052 of full scale

    Fix:
        Take the original, or a high-pass filter at 20 Hz.

    Reference: IEC 61606, direct-current offset of converters; -40 dB of full scale is far above theirs.
    """
    offsets = one.sound.offsets
    silent = one.sound.silent
    for channel in np.flatnonzero(np.abs(offsets) > _OFFSET).tolist():
        if channel not in silent:
            message = f"{one.name}: the mean of channel {channel + 1} is {offsets[channel]:.3f} of full scale"
            yield found(one.entry.path, message, "take the original, or filter it")


@rule("AUD205", ERROR)
def samples_not_numbers(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Samples that are no numbers, or infinite.

    A division by zero on the way into a file of floats. One of them makes a whole spectrum NaN, and a model
    that is trained on it is NaN from then on.

    Example:
        12 samples of channel 3 are NaN or infinite

    Fix:
        Take the original, or find what computed it.

    Reference: IEEE 754.
    """
    if count := int(one.sound.broken.sum()):
        channels = _of(one, np.flatnonzero(one.sound.broken).tolist())
        message = f"{one.name}: {plural(count, 'sample')} of {channels} NaN or infinite"
        yield found(one.entry.path, message, "take the original")


@rule("AUD206", ERROR)
def sound_breaks_off(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """A recording that cannot be decoded to its end.

    FLAC, Ogg and MP3 show it only while they are decoded: the header is fine, the rest is damaged or missing.

    Example:
        a FLAC file of 60 s that was cut off in the middle

    Fix:
        Fetch or unpack the recording again.

    Reference: RFC 9639, every frame of FLAC has a checksum.
    """
    if one.sound.fault is not None:
        yield found(one.entry.path, f"{one.name}: {printable(one.sound.fault)}", "fetch or unpack it again")


@rule("AUD207", ERROR)
def same_recording(recordings: SurveyedSounds, found: Found) -> Iterator[Finding]:
    """Two recordings that hold the same sound.

    A copy under another name, in another split or in the folder of the other format: a model is tested on what
    it was trained on, or takes FOA for MIC. Compared are the samples, so that another header hides nothing.

    Example:
        foa_dev/…/fold3_room4_mix001.wav and mic_dev/…/fold3_room4_mix001.wav are the same

    Fix:
        Find out which of the two names is right, and take the original of the other.

    Reference: none of the data sets holds a recording twice.
    """
    groups: defaultdict[str, list[SurveyedSound]] = defaultdict(list)
    for one in recordings.all:
        if one.sound.fault is None and len(one.sound.silent) < one.channels:
            groups[one.sound.digest].append(one)
    for first, *others in groups.values():
        for other in others:
            message = f"{other.name} holds the same sound as {printable(first.entry.path)}"
            yield found(other.entry.path, message, "find out which name is right")


def check_sounds(files: Sequence[TreeFile], sink: Sink) -> list[SurveyedSound]:
    """Listen to recordings, each block by block, and compare them with each other.

    Those that cannot be opened are left out: their headers tell.
    """
    entries = [one.entry for one in files]
    levels = each(_levels, entries, what="listening to recordings", size=attrgetter("size"), key=attrgetter("stamp"))
    surveyed: list[SurveyedSound] = []
    for one, level in zip(files, levels, strict=True):
        if isinstance(level, Finding):
            sink(level)
        elif level is not None:
            surveyed.append(SurveyedSound(one.entry, one.file, *level))
            run(surveyed[-1], sink)
    run(SurveyedSounds(surveyed), sink)
    return surveyed


def _levels(entry: Entry) -> tuple[int, SoundSurvey] | Finding | None:
    """Channels and levels of a recording, or what is wrong; None where it cannot be opened."""
    from seldio.media.contents import opened_sound
    from seldio.media.surveys import listen

    try:
        with opened_sound(entry) as recording:
            return recording.channels, listen(recording)
    except InvalidData as error:
        return error.finding
    except SeldioError:
        return None
