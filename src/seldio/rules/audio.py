"""AUD1: the recordings of a data set tree or folder, as far as their headers tell.

:func:`check_recordings` looks at each recording once. What it sounds like is :mod:`seldio.rules.audio_samples`,
and asked for only where the user wants to wait for it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from seldio.clock import onset
from seldio.errors import SeldioError
from seldio.findings import Finding, Sink
from seldio.formats.trees import Tree
from seldio.media.headers import RATES
from seldio.rules.audio_samples import check_sounds
from seldio.rules.base import Labels
from seldio.rules.collection import Collection, Found
from seldio.rules.layout import MANY, folders
from seldio.rules.registry import ERROR, WARNING, rule, run
from seldio.rules.tree_media import CHANNELS, CONTAINERS, Prescription, RecordingFile, TreeAudio
from seldio.text import plural, printable


@rule("AUD101", ERROR)
def recording_unreadable(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """A recording that is no sound, or has none.

    Web pages and texts saved under the name of a recording, half a header, 0 channels, 0 Hz, or a header that
    promises 0 bytes: a program that was stopped before it could fill in the length leaves that, and what
    follows is not read by anybody. (Files of 0 bytes are LAY113.)

    Example:
        foa_dev/dev-train-tau/fold3_room4_mix001.wav, which begins with <!DOCTYPE html>

    Fix:
        Fetch or unpack the recording again.

    Reference: libsndfile, which soundfile, torchaudio and librosa read audio with.
    """
    for one in audio.all:
        if one.fault is not None:
            message = f"{one.file} cannot be read as audio: {printable(one.fault)}"
            yield found(one.path, message + _beginning(one), "fetch or unpack it again")
        elif one.probe is not None and not one.probe.frames:
            header = one.probe.header
            rest = header.rest if header is not None and header.promised is None else 0
            more = f": its header was never finished, and {rest:,} bytes follow it" if rest else ""
            yield found(one.path, f"{one.file} holds no samples{more}", "fetch or unpack it again")


def _beginning(one: RecordingFile) -> str:
    """The first bytes of what is no audio at all: often they say what it is."""
    with contextlib.suppress(SeldioError):
        head = one.entry.head(12)
        if head and head[:4] not in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS"):
            return f" (it begins with {printable(head.decode('latin-1'))})"
    return ""


@rule("AUD102", ERROR)
def recording_cut_off(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """A recording with less sound than its header promises, or an Ogg file without its last page.

    Downloads and copies break off. libsndfile and FFmpeg read such a file in silence, as if it ended there;
    the labels of the rest then train a model on nothing, or stop the baseline. (FLAC and MP3 show it only while
    they are decoded: AUD206.)

    Example:
        a header for 7,200,000 frames, and 1,310,720 of them in the file

    Fix:
        Fetch or unpack the recording again.

    Reference: RIFF, the size of the data chunk; EBU Tech 3306 for RF64; RFC 3533, "end of stream" of Ogg.
    """
    for one in audio.readable:
        if one.header.cut_off:
            message = f"{one.file} ends at {one.header.seconds:.3f} s: {one.header.cut_off}"
            yield found(one.path, message, "fetch or unpack it again")


@rule("AUD103", ERROR)
def recording_type(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """A recording of another file type than its name says.

    Libraries that look at the content read it, those that go by the suffix do not: the official baselines
    read recordings with scipy.io.wavfile, which stops at anything but WAV.

    Example:
        fold3_room4_mix001.wav, and its content is FLAC

    Fix:
        Convert it to what its name says, or give it the right suffix.

    Reference: seld-dcase2023, cls_feature_class.py, ``wav.read``.
    """
    for one in audio.readable:
        wanted, there = CONTAINERS.get(one.place.suffix.lower()), one.header.container
        if wanted is not None and there not in wanted:
            message = f"{one.file}: the content is {there}, the name says .{printable(one.place.suffix)}"
            yield found(one.path, message, "convert it, or rename it")


def _rate(audio: TreeAudio, one: RecordingFile) -> str | None:
    rate, wanted = one.header.rate, audio.tree.row.rate
    if one.expected and wanted is not None:
        return f"{rate:,} Hz, and {audio.tree.row.title} has {wanted:,} Hz" if rate != wanted else None
    return f"{rate:,} Hz, which cannot be" if rate not in RATES else None


def _channels(_: TreeAudio, one: RecordingFile) -> str | None:
    field = one.place.field if one.expected else None
    wanted, there = CHANNELS.get(field or ""), one.header.channels
    if wanted is None or field is None or there == wanted:
        return None
    return f"{plural(there, 'channel')}, and {field if field == 'stereo' else field.upper()} has {wanted}"


def _depth(audio: TreeAudio, one: RecordingFile) -> str | None:
    wanted, there = audio.tree.row.subtype, one.header.subtype
    if wanted is None or not one.expected or there == wanted:
        return None
    return f"samples of type {there}, and {audio.tree.row.title} has {wanted}"


Prescription(TreeAudio, "AUD104", "recording-rate", ERROR, _rate, "resample it, or take the original")
Prescription(TreeAudio, "AUD105", "recording-channels", ERROR, _channels, "take the original")
Prescription(
    TreeAudio, "AUD106", "recording-depth", WARNING, _depth, "write it as 16-bit PCM, or take the original"
)  # fmt: skip


@rule("AUD107", ERROR)
def labels_behind_end(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """Labels behind the end of their recording.

    The recording is not the whole one, or the labels are those of another recording, or their frames are
    shorter than 100 ms. The last label frame of a recording need not be full; what begins at its end or
    later is behind it.

    Example:
        a label of frame 612 (61.2 s), and the recording ends at 60.000 s

    Fix:
        Compare both with the originals.

    Reference: DCASE 2023 Task 3: labels have a resolution of 100 ms and count from the start of the recording.
    """
    ends = audio.ends
    for reading in audio.collection.readings if ends else ():
        labels = Labels(reading)
        for index, number in enumerate(labels.filled if labels.has("frame") else ()):
            one = ends.get(reading.parts[number].file.name)
            if one is not None:
                yield from _behind(labels, index, one, found)


def _behind(labels: Labels, index: int, one: RecordingFile, found: Found) -> Iterator[Finding]:
    hop = labels.format.hop
    last = one.header.label_frames(hop)
    rows = labels.rows_of(index)
    late = np.flatnonzero(labels.column("frame")[rows] >= last)
    if len(late):
        row = rows.start + int(late[0])
        frame = int(labels.column("frame")[row])
        message = (
            f"frame {frame} begins at {onset(frame, hop):g} s, and {one.file} ends at {one.header.seconds:.3f} s: "
            f"{plural(len(late), 'row')} behind its end"
        )
        part = labels.reading.part_of(row)
        place = part.place(row - part.first, "frame")
        hint = "compare both with the originals"
        yield found(part.file.path, message, hint, place.line, place.column, place.value, place.excerpt)


@rule("AUD108", ERROR)
def formats_differ(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """The FOA and the MIC recording of one clip differ in length.

    Both were made from the same 32 channels, sample by sample, and share their labels. Where one is shorter it
    is cut off, or they are not the same recording. (A header that promises more than there is, is AUD102.)

    Example:
        foa_dev/…/fold3_room4_mix001.wav has 1,440,000 frames, mic_dev/…/fold3_room4_mix001.wav 1,200,000

    Fix:
        Compare both with the originals.

    Reference: DCASE 2023 Task 3, both formats are extracted from the same Eigenmike recordings.
    """
    for clip in audio.tree.clips:
        pair = [audio.by_name.get(name or "") for name in (clip.foa, clip.mic)]
        foa, mic = (one if one is not None and one.whole else None for one in pair)
        if foa is None or mic is None:
            continue
        lengths = [Fraction(one.header.frames, one.header.rate) for one in (foa, mic)]
        if lengths[0] != lengths[1] and foa.header.frames != mic.header.frames:  # else only a rate is wrong
            message = (
                f"{foa.file} ends at {foa.header.seconds:.3f} s ({plural(foa.header.frames, 'frame')}), its MIC "
                f"recording at {mic.header.seconds:.3f} s ({mic.header.frames:,})"
            )
            yield found(foa.path, message, f"compare with {printable(mic.place.name)}")


@rule("AUD109", WARNING)
def header_length(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """A WAV header that leaves the length open, or sound that ends in the middle of a frame.

    A program that writes to a pipe cannot go back and fill in how long the recording is. What reads the file
    then guesses, and may take chunks behind the sound for sound. A last frame that is not whole was cut off, or
    the number of channels is not what the header says.

    Example:
        a data chunk of 4,294,967,295 bytes in a file of 11 MB

    Fix:
        Read it and write it again with soundfile or sox; compare the length with the original.

    Reference: RIFF, the size of the data chunk; FFmpeg writes 0xFFFFFFFF to a pipe, sox 0x7FFFF000.
    """
    for one in audio.readable:
        header = one.header.header
        if header is None:
            continue
        spare = header.there % header.block if header.block else 0
        if header.promised is None:
            yield found(one.path, f"{one.file}: its header does not say how long it is", "write it again")
        elif spare and not one.header.missing:
            message = f"{one.file}: the last frame has {spare} of {header.block} bytes"
            yield found(one.path, message, "compare its length with the original")


@rule("AUD110", WARNING)
def recording_unlike_others(audio: TreeAudio, found: Found) -> Iterator[Finding]:
    """A recording with another sampling rate or number of channels than the rest of its folder.

    Only said where the data set does not prescribe them (that is AUD104 and AUD105), and three of four
    recordings of the folder agree. Loaders that take the rate of the first file for that of all play this
    one too fast or too slow.

    Example:
        one recording of 44,100 Hz among 200 of 24,000 Hz

    Fix:
        Resample it, or take the original.

    Reference: none; what nearly all share is most often meant.
    """
    for inside in folders(one for one in audio.all if one.whole and not one.expected):
        kinds = Counter((one.header.rate, one.header.channels) for one in inside)
        (rate, channels), most = kinds.most_common(1)[0]
        if len(inside) < MANY or most == len(inside) or most < 0.75 * len(inside):
            continue
        for one in inside:
            if (one.header.rate, one.header.channels) != (rate, channels):
                mine = f"{one.header.rate:,} Hz and {plural(one.header.channels, 'channel')}"
                message = f"{one.file} has {mine}, {most:,} others here have {rate:,} Hz and {channels}"
                yield found(one.path, message, "resample it, or take the original")


def check_recordings(collection: Collection, tree: Tree, sink: Sink, *, deep: bool = False) -> int:
    """Check the recordings of a tree or folder; return how many there are.

    With *deep* they are listened to as well, which takes a second for some minutes of sound.
    """
    audio = TreeAudio(collection, tree)
    if audio.all:
        run(audio, sink)
    if deep:
        check_sounds(audio.readable, sink)
    return len(audio.all)
