"""AUD1: the recordings of a dataset tree or folder, judged by their headers; AUD2: their content.

:func:`check_recordings` opens each recording once. It reads the samples only on request, since that takes time: each
recording is read once, block by block, in constant memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from seldio.clock import onset
from seldio.engines import each
from seldio.errors import InvalidData, SeldioError
from seldio.files import Entry
from seldio.findings import Finding, Rule, Sink
from seldio.formats.datasets import DatasetSpec
from seldio.formats.trees import Tree
from seldio.media.arrays import RATES
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Found, by_folder, grouped
from seldio.rules.registry import ERROR, WARNING, rule, run
from seldio.rules.tree_media import (
    CHANNELS,
    CONTAINERS,
    MANY,
    Prescription,
    RecordingFile,
    TreeAudio,
    TreeFile,
    place_name,
)
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe
    from seldio.media.contents import SoundSurvey

#: What annotations name beside, for results that are kept (see :mod:`seldio.engines.kept`).
LATER = {"SoundSurvey": "seldio.media.contents"}
#: More flat tops than this are not a coincidence.
_MOST_FLAT = 10
#: A mean beyond this share of full scale (-40 dB) is an offset.
_OFFSET = 0.01


@rule("AUD101", ERROR)
def recording_unreadable(one: RecordingFile, found: Found) -> Iterator[Finding]:
    """Recording that is not audio, or has no samples.

    Web pages and texts saved under the name of a recording, half a header, 0 channels, 0 Hz, or a header that
    declares 0 bytes: a program that was stopped before it could fill in the length leaves such a header, and the
    samples after it are never read. (Files of 0 bytes are LAY113.)

    Example:
        foa_dev/dev-train-tau/fold3_room4_mix001.wav, which begins with <!DOCTYPE html>

    Fix:
        Download or unpack the recording again.

    Reference: libsndfile, which soundfile, torchaudio and librosa read audio with.
    """
    again = "download or unpack it again"
    if one.facts is None:
        head = b""
        with contextlib.suppress(SeldioError):
            head = one.entry.head(12)
        known = head[:4] in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS")
        # the first bytes of a file that is not audio often reveal what it is
        start = f" (it begins with {printable(head.decode('latin-1'))})" if head and not known else ""
        yield found(f"{one.file} cannot be read as audio: {printable(one.fault or '')}{start}", again)
    elif not one.facts.frames:
        header = one.facts.header
        rest = header.rest if header is not None and header.promised is None else 0
        more = f": its header was never completed, and {rest:,} bytes follow it" if rest else ""
        yield found(f"{one.file} has no samples{more}", again)


@rule("AUD102", ERROR)
def recording_cut_off(one: RecordingFile, header: Probe, found: Found) -> Iterator[Finding]:
    """Recording shorter than its header says, or an Ogg file without its last page.

    Downloads and copies get interrupted. libsndfile and FFmpeg read such a file silently, as if it ended there;
    the remaining labels then train a model on nothing, or make the baseline fail. (FLAC and MP3 show it only when
    they are decoded: AUD206.)

    Example:
        a header for 7,200,000 samples, and only 1,310,720 in the file

    Fix:
        Download or unpack the recording again.

    Reference: RIFF, the size of the data chunk; EBU Tech 3306 for RF64; RFC 3533, "end of stream" of Ogg.
    """
    if header.cut_off:
        yield found(f"{one.file} ends at {header.seconds:.3f} s: {header.cut_off}", "download or unpack it again")


@rule("AUD103", ERROR)
def recording_type(one: RecordingFile, header: Probe, found: Found) -> Iterator[Finding]:
    """Recording whose content does not match its suffix.

    Libraries that look at the content can read it, those that go by the suffix cannot: the official baselines
    read recordings with scipy.io.wavfile, which fails on anything but WAV.

    Example:
        fold3_room4_mix001.wav, and its content is FLAC

    Fix:
        Convert it to what its name says, or give it the right suffix.

    Reference: seld-dcase2023, cls_feature_class.py, ``wav.read``.
    """
    wanted, there = CONTAINERS.get(one.place.suffix.lower()), header.container
    if wanted is not None and there not in wanted:
        message = f"{one.file} contains {there}, but its suffix is .{printable(one.place.suffix)}"
        yield found(message, "convert it, or rename it")


def _rate(row: DatasetSpec, one: RecordingFile, header: Probe) -> str | None:
    if one.expected and row.rate is not None:
        return f"a rate of {header.rate:,} Hz instead of {row.rate:,} Hz" if header.rate != row.rate else None
    return f"an impossible rate of {header.rate:,} Hz" if header.rate not in RATES else None


def _channels(_: DatasetSpec, one: RecordingFile, header: Probe) -> str | None:
    field = one.place.field if one.expected else None
    wanted = CHANNELS.get(field or "")
    if wanted is None or field is None or header.channels == wanted:
        return None
    return f"{plural(header.channels, 'channel')}, but {field if field == 'stereo' else field.upper()} has {wanted}"


def _depth(row: DatasetSpec, one: RecordingFile, header: Probe) -> str | None:
    wrong = row.subtype is not None and one.expected and header.subtype != row.subtype
    return f"{header.subtype} samples instead of {row.subtype}" if wrong else None


Prescription(TreeAudio, "AUD104", "recording-rate", ERROR, _rate, "resample it, or use the original")
Prescription(TreeAudio, "AUD105", "recording-channels", ERROR, _channels, "use the original")
Prescription(
    TreeAudio, "AUD106", "recording-depth", WARNING, _depth, "write it as 16-bit PCM, or use the original"
)  # fmt: skip


@rule("AUD107", ERROR)
def labels_behind_end(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """Labels past the end of their recording.

    The recording is incomplete, the labels belong to another recording, or their frames are shorter than 100 ms.
    The last label frame of a recording may be partial; a frame that begins at its end or later is past it.

    Example:
        a label of frame 612 (61.2 s), and the recording ends at 60.000 s

    Fix:
        Compare both with the originals.

    Reference: DCASE 2023 Task 3: labels have a resolution of 100 ms and count from the start of the recording.
    """
    for labels in map(Labels, audio.collection.readings if audio.ends else ()):
        for index, number in enumerate(labels.filled if labels.has("frame") else ()):
            part, hop, rows = labels.parts[number], labels.format.hop, labels.rows_of(index)
            if part.file.name not in audio.ends:
                continue
            one, header = audio.ends[part.file.name]
            frames = labels.column("frame")[rows]
            late = np.flatnonzero(frames >= header.label_frames(hop))
            if len(late):
                frame, place = int(frames[late[0]]), part.place(int(late[0]), "frame")
                message = (
                    f"frame {frame} begins at {onset(frame, hop):g} s, but {one.file} ends at {header.seconds:.3f} s: "
                    f"{plural(len(late), 'row')} past its end"
                )
                hint = "compare both with the originals"
                yield found(part.file.path, message, hint, place.line, place.column, place.value, place.excerpt)


@rule("AUD108", ERROR)
def formats_differ(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """FOA and MIC recordings of one clip that differ in length.

    Both were made from the same 32 channels, sample by sample, and share their labels. The shorter one is
    truncated, or they are not the same recording. (A header that declares more than the file holds is AUD102.)

    Example:
        foa_dev/…/fold3_room4_mix001.wav has 1,440,000 samples, mic_dev/…/fold3_room4_mix001.wav 1,200,000

    Fix:
        Compare both with the originals.

    Reference: DCASE 2023 Task 3, both formats are extracted from the same Eigenmike recordings.
    """
    for clip in audio.tree.clips:
        pair = [audio.whole.get(name or "") for name in (clip.foa, clip.mic)]
        if pair[0] is None or pair[1] is None:
            continue
        (one, foa), (other, mic) = pair[0], pair[1]
        # with the same number of samples, only a rate is wrong
        if foa.frames != mic.frames and Fraction(foa.frames, foa.rate) != Fraction(mic.frames, mic.rate):
            message = (
                f"{one.file} ends at {foa.seconds:.3f} s ({plural(foa.frames, 'sample')}), but its MIC "
                f"recording at {mic.seconds:.3f} s ({mic.frames:,})"
            )
            yield found(one.path, message, f"compare with {printable(other.place.name)}")


@rule("AUD109", WARNING)
def header_length(one: RecordingFile, header: Probe, found: Found) -> Iterator[Finding]:
    """WAV header without a length, or audio that ends in the middle of a sample frame.

    A program that writes to a pipe cannot go back and fill in the length. Programs that read the file have to
    guess, and may treat chunks after the audio as audio. If the last sample frame is incomplete, it was
    truncated, or the number of channels is not what the header says.

    Example:
        a data chunk of 4,294,967,295 bytes in a file of 11 MB

    Fix:
        Read the file and write it again with soundfile or sox; compare the length with the original.

    Reference: RIFF, the size of the data chunk; FFmpeg writes 0xFFFFFFFF to a pipe, sox 0x7FFFF000.
    """
    wav = header.header
    if wav is not None and wav.promised is None:
        yield found(f"the header of {one.file} has no length", "write it again")
    elif wav is not None and wav.block and (spare := wav.there % wav.block) and not header.missing:
        message = f"{one.file}: the last sample frame has only {spare} of {wav.block} bytes"
        yield found(message, "compare its length with the original")


@rule("AUD110", WARNING)
def recording_unlike_others(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """Recording whose sampling rate or channel count differs from the rest of its folder.

    Reported only where the dataset does not prescribe them (that is AUD104 and AUD105) and at least three
    quarters of the folder's recordings agree. Loaders that use the rate of the first file for all play this one
    too fast or too slow.

    Example:
        one recording of 44,100 Hz among 200 of 24,000 Hz

    Fix:
        Resample it, or use the original.

    Reference: none; the value that nearly all files share is usually the intended one.
    """
    for inside in by_folder((one for one, _ in audio.whole.values() if not one.expected), place_name):
        headers = [audio.whole[one.place.name][1] for one in inside]
        kinds = Counter((header.rate, header.channels) for header in headers)
        (rate, channels), most = kinds.most_common(1)[0]
        if len(inside) < MANY or most == len(inside) or most < 0.75 * len(inside):
            continue
        for one, header in zip(inside, headers, strict=True):
            if (header.rate, header.channels) != (rate, channels):
                mine = f"{header.rate:,} Hz and {plural(header.channels, 'channel')}"
                message = f"{one.file} has {mine}, but {most:,} others here have {rate:,} Hz and {channels}"
                yield found(one.path, message, "resample it, or use the original")


def check_recordings(collection: Collection, tree: Tree, sink: Sink, *, deep: bool = False) -> int:
    """Check the recordings of a tree or folder; return how many there are.

    With *deep* their samples are read as well, which takes about a second for a few minutes of audio.
    """
    audio = TreeAudio(collection, tree)
    run(audio, sink)
    if deep:
        check_sounds([one for one, _ in audio.readable], sink)
    return len(audio.all)


# --- the content of recordings -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SurveyedSound:
    """A recording and a survey of its content."""

    entry: Entry
    name: str
    channels: int
    sound: SoundSurvey

    def finding(self, rule: Rule, message: str, hint: str) -> Finding:
        """A finding of *rule* about it."""
        return rule.at(self.entry.path, f"{self.name}: {message}", hint)

    def named(self, channels: list[int]) -> str:
        """Some of its channels in words, counted from 1."""
        if len(channels) == self.channels:
            return "all channels" if len(channels) > 1 else "the channel"
        return f"channel{'s' if len(channels) > 1 else ''} {', '.join(str(channel + 1) for channel in channels)}"


class SurveyedSounds(list[SurveyedSound]):
    """Recordings that are compared with each other."""

    @property
    def subjects(self) -> SurveyedSounds:
        """Each of them."""
        return self


@rule("AUD201", ERROR)
def silent_channel(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Silent recording or silent channel.

    All samples have the same value from the first to the last, or there is only converter noise or dither: a
    level below -60 dBFS while another channel is 30 dB louder (20 dB where no peak is 20 dB above the level), or
    all channels below -70 dBFS with no peak above -55 dBFS. No microphone of an array behaves like that: a
    channel was lost, or a file was created and never filled.

    Example:
        four channels at -30 dB, and the third at -73 dB

    Fix:
        Use the original.

    Reference: none; a quiet room is louder than the noise floor of 16 bits.
    """
    silent = one.sound.silent
    if one.sound.frames > 1 and silent:
        yield found(f"{one.named(silent)} {'is' if len(silent) == 1 else 'are'} silent", "use the original")
    if one.sound.frames > 1 and (dead := [channel for channel in one.sound.dead if channel not in silent]):
        verb, levels = "has" if len(dead) == 1 else "have", one.sound.levels
        loudest = (
            f", while the loudest channel is at {levels.max():.0f} dB" if len(dead) + len(silent) < one.channels else ""
        )
        message = f"{one.named(dead)} {verb} only noise at {levels[dead].max():.0f} dB{loudest}"
        yield found(message, "use the original")


@rule("AUD202", WARNING)
def clipped_sound(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Audio that stays at full scale or exceeds it.

    Three consecutive samples at the largest possible value mean that the top of the waveform is clipped, which
    destroys the differences between channels that carry direction. Floats may exceed full scale, but are clipped
    as soon as they are written as integers.

    Example:
        1,280 flat tops in channel 1

    Fix:
        Record or mix it at a lower level.

    Reference: EBU R 128 s1 and ITU-R BS.1770 on true peaks; three samples in a row is what editors mark.
    """
    sound = one.sound
    if (tops := int(sound.flat.sum())) >= _MOST_FLAT:
        message = f"{plural(tops, 'flat top')} at full scale in {one.named(np.flatnonzero(sound.flat).tolist())}"
        yield found(message, "record or mix it at a lower level")
    if loud := int(sound.loud.sum()):
        peak = 20 * math.log10(max(abs(sound.lowest).max(), abs(sound.highest).max()))
        message = f"{plural(loud, 'sample')} above full scale, up to {peak:+.1f} dB"
        yield found(message, "lower the level before writing integers")


@rule("AUD203", ERROR)
def channels_alike(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Two channels that are identical, or identical with the sign inverted.

    A mono recording written four times has the right number of channels and no direction. Neither ambisonics
    channels nor microphones are ever identical.

    Example:
        channels 2 and 3 of a recording in foa_dev are the same

    Fix:
        Use the original.

    Reference: DCASE 2023 Task 3, the responses of FOA and MIC differ from channel to channel.
    """
    sound, silent = one.sound, set(one.sound.silent)
    for pairs, what in ((sound.same, "identical"), (sound.opposite, "identical with the sign inverted")):
        audible = [pair for pair in pairs if not silent & set(pair)] if sound.frames > 1 else []
        every = len(audible) == math.comb(one.channels, 2) > 1
        named = listed([f"{a + 1} and {b + 1}" for a, b in audible])
        if audible:
            which = f"all {one.channels} channels" if every else f"channels {named}"
            yield found(f"{which} are {what}", "use the original")


@rule("AUD204", WARNING)
def constant_offset(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Channel with a DC offset.

    A converter or an edit added a constant. It is inaudible, but it shifts everything computed from levels; in
    ambisonics it looks like a sound that constantly comes from one direction.

    Example:
        the mean of channel 1 is 0.052 of full scale

    Fix:
        Use the original, or apply a high-pass filter at 20 Hz.

    Reference: IEC 61606, direct-current offset of converters; -40 dB of full scale is far above theirs.
    """
    offsets, silent = one.sound.offsets, one.sound.silent
    for channel in np.flatnonzero(np.abs(offsets) > _OFFSET).tolist():
        if channel not in silent:
            message = f"the mean of channel {channel + 1} is {offsets[channel]:.3f} of full scale"
            yield found(message, "use the original, or apply a high-pass filter")


@rule("AUD205", ERROR)
def samples_not_numbers(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Samples that are NaN or infinite.

    The usual cause is a division by zero before writing a file of floats. A single such sample makes a whole
    spectrum NaN, and a model trained on it stays NaN from then on.

    Example:
        12 samples of channel 3 are NaN or infinite

    Fix:
        Use the original, or fix the program that computed it.

    Reference: IEEE 754.
    """
    if count := int(one.sound.broken.sum()):
        channels = one.named(np.flatnonzero(one.sound.broken).tolist())
        yield found(f"{plural(count, 'NaN or infinite sample')} in {channels}", "use the original")


@rule("AUD206", ERROR)
def sound_breaks_off(one: SurveyedSound, found: Found) -> Iterator[Finding]:
    """Recording that cannot be decoded to its end.

    FLAC, Ogg and MP3 show it only when they are decoded: the header is fine, the rest is damaged or missing.

    Example:
        a FLAC file of 60 s that was truncated in the middle

    Fix:
        Download or unpack the recording again.

    Reference: RFC 9639, every frame of FLAC has a checksum.
    """
    if one.sound.fault is not None:
        yield found(printable(one.sound.fault), "download or unpack it again")


@rule("AUD207", ERROR)
def same_recording(recordings: SurveyedSounds, found: Found) -> Iterator[Finding]:
    """Two recordings with identical audio.

    The file was copied under another name, into another split, or into the folder of the other format: a model is
    tested on what it was trained on, or reads FOA as MIC. The samples are compared, so a different header hides
    nothing.

    Example:
        foa_dev/…/fold3_room4_mix001.wav and mic_dev/…/fold3_room4_mix001.wav are the same

    Fix:
        Check which of the two names is right, and restore the original of the other.

    Reference: none of the datasets contains a recording twice.
    """
    audible = [one for one in recordings if one.sound.fault is None and len(one.sound.silent) < one.channels]
    for first, *others in grouped(audible, lambda one: one.sound.digest).values():
        for other in others:
            message = f"{other.name} has the same audio as {printable(first.entry.path)}"
            yield found(other.entry.path, message, "check which name is right")


def check_sounds(files: Sequence[TreeFile[Any]], sink: Sink) -> SurveyedSounds:
    """Read the samples of recordings, each block by block, and compare them with each other.

    Those that cannot be opened are skipped: rules about headers report them.
    """
    entries = [one.entry for one in files]
    levels = each(_levels, entries, what="listening to recordings", size=attrgetter("size"), key=attrgetter("stamp"))
    surveyed = SurveyedSounds()
    for one, level in zip(files, levels, strict=True):
        if isinstance(level, Finding):
            sink(level)
        elif level is not None:
            surveyed.append(SurveyedSound(one.entry, one.file, *level))
    run(surveyed, sink)
    return surveyed


def _levels(entry: Entry) -> tuple[int, SoundSurvey] | Finding | None:
    """Channels and levels of a recording, or a finding about it; None if it cannot be opened."""
    from seldio.media.contents import listen, opened_sound

    try:
        with opened_sound(entry) as recording:
            return recording.channels, listen(recording)
    except InvalidData as error:
        return error.finding
    except SeldioError:
        return None
