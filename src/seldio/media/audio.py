"""Audio files, headers first, and other sampling rates; the one home of soundfile.

What headers promise is compared with the file: libsndfile reads short files in silence.
"""

from __future__ import annotations

import dataclasses
import io
import math
import os
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from seldio import clock
from seldio.errors import SeldioError, needing
from seldio.files import Entry
from seldio.text import plural

with needing("soundfile"):
    import soundfile

Floats = np.ndarray[Any, np.dtype[np.float32]]
#: Samples as float32, whole numbers being -1 … 1, or as the 16-bit whole numbers that are in the file.
SampleType = Literal["float32", "int16"]

#: Frames of a recording that is read as a whole, at once.
BLOCK = 2**17
#: Frames decoded at once: so few that they are still in the processor's cache when they are sorted by channel.
_AT_ONCE = 2**14
#: Bytes at the beginning of an archive's member that are enough for a header.
_HEAD = 2**18


class NotAudio(SeldioError):
    """A file that cannot be read as audio."""


# --- headers -----------------------------------------------------------------------------------------------

#: The first four bytes of WAV files, and the byte order of their numbers.
_ORDERS = {b"RIFF": "<", b"RF64": "<", b"RIFX": ">"}
#: A header has few chunks; a file of nothing but small ones is not walked to its end.
_MOST_CHUNKS = 10_000
PCM, FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
#: The largest page of an Ogg file, and the flag of the last one of a stream.
_PAGE, _LAST = 27 + 255 + 255 * 255, 4


@dataclasses.dataclass(frozen=True, slots=True)
class WavHeader:
    """The header of a WAV file, as written."""

    order: str  # ``<`` or ``>``, the byte order of header and samples
    tag: int  # the sample format (1 is PCM, 3 is float), that of the extension where there is one
    channels: int  # how many
    rate: int  # frames per second
    block: int  # bytes of one frame
    bits: int  # of one sample's container
    data_at: int  # where the sound begins, in bytes
    promised: int | None  # bytes of sound by the header; None where it leaves the length open
    rest: int  # bytes in the file from *data_at* on, chunks behind the sound among them

    @property
    def there(self) -> int:
        """Bytes of sound that are there; where the length is open, all that follow."""
        return self.rest if self.promised is None else min(self.promised, self.rest)

    @property
    def missing(self) -> int:
        """Bytes of sound that are promised and not there."""
        return 0 if self.promised is None else max(0, self.promised - self.rest)


def read_header(stream: BinaryIO) -> WavHeader | None:
    """Return the header of a WAV file (RIFF, RIFX or RF64); None for others, and for those without a ``data`` chunk.

    Chunks before ``data`` are passed over, and may have an odd length. The stream is left at its beginning.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    try:
        head = stream.read(12)
        order = _ORDERS.get(head[:4])
        if len(head) < 12 or order is None or head[8:] != b"WAVE":
            return None
        at, long, format = 12, 0, (0, 0, 0, 0, 0)
        for _ in range(_MOST_CHUNKS):
            stream.seek(at)
            chunk = stream.read(8)
            if len(chunk) < 8:
                break
            name, size = struct.unpack(f"{order}4sI", chunk)
            if name == b"ds64":
                sizes = stream.read(16)
                long = struct.unpack("<QQ", sizes)[1] if len(sizes) == 16 else 0
            elif name == b"fmt ":
                format = _format(stream.read(min(size, 40)), order)
            elif name == b"data":
                promised = long if head[:4] == b"RF64" and size == 0xFFFFFFFF else size
                # writers to a pipe cannot go back and correct it: FFmpeg and libsndfile leave 0xFFFFFFFF, sox
                # 0x7FFFF000, arecord 0x80000000, others nearly these or 0
                left = 0x7FFFF000 <= promised <= 0x80000000 or 0xFFFFF000 <= promised <= 0xFFFFFFFF
                length = None if left or not promised else promised
                return WavHeader(order, *format, at + 8, length, max(0, end - at - 8))
            at += 8 + size + size % 2
        return None
    finally:
        stream.seek(0)


def _format(body: bytes, order: str) -> tuple[int, int, int, int, int]:
    """Return tag, channels, rate, block and bits of a ``fmt`` chunk; zeros if it is too short."""
    if len(body) < 16:
        return 0, 0, 0, 0, 0
    tag, channels, rate, _, block, bits = struct.unpack(f"{order}HHIIHH", body[:16])
    if tag == _EXTENSIBLE and len(body) >= 26:
        (tag,) = struct.unpack(f"{order}H", body[24:26])  # the GUID begins with the tag
    return tag, channels, rate, block, bits


def _missing_part(stream: BinaryIO) -> tuple[int, bool]:
    """Return bytes that the header of an AIFF, W64 or AU file counts but the file lacks, and whether an Ogg file ends.

    The header of an Ogg file tells no length: without a last page it is not whole, or not marked as such.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(24)
    promised, open_end = 0, False
    if head[:4] == b"OggS":
        stream.seek(max(0, end - 2 * _PAGE))
        tail = stream.read(2 * _PAGE)
        at = tail.rfind(b"OggS")
        count = tail[at + 26] if 0 <= at < len(tail) - 27 else 0
        sizes = tail[at + 27 : at + 27 + count]
        whole = at >= 0 and len(sizes) == count and at + 27 + count + sum(sizes) <= len(tail)
        open_end = not (whole and tail[at + 5] & _LAST)
    elif len(head) == 24 and head[:4] == b"FORM" and head[8:12] in (b"AIFF", b"AIFC"):
        promised = 8 + struct.unpack(">I", head[4:8])[0]
    elif len(head) == 24 and head[:8] == b"riff\x2e\x91\xcf\x11":
        promised = struct.unpack("<Q", head[16:24])[0]
    elif len(head) == 24 and head[:4] == b".snd":
        begin, size = struct.unpack(">II", head[4:12])
        promised = begin + size if size != 0xFFFFFFFF else 0
    stream.seek(0)
    return int(max(0, promised - end)), open_end


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """The header of a recording: sample frames that are there, samples per second, channels."""

    frames: int  # frames that are there by libsndfile's count
    rate: int  # frames per second
    channels: int  # how many
    subtype: str = ""  # libsndfile's name of the sample format (``PCM_16``, ``FLOAT``, …)
    missing: int = 0  # bytes of sound that the header promises but the file lacks (WAV, AIFF, W64, AU)
    container: str = ""  # libsndfile's name of the file format (``WAV``, ``WAVEX``, ``RF64``, ``FLAC``, …)
    header: WavHeader | None = None  # of a WAV file
    open_end: bool = False  # whether an Ogg file has no last page

    @property
    def cut_off(self) -> str:
        """Return in words which part of the file is missing; empty if it is complete."""
        if self.missing:
            return f"{plural(self.missing, 'byte')} of sound {'is' if self.missing == 1 else 'are'} missing"
        return "its last Ogg page is missing, and all that came before that" if self.open_end else ""

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.frames / self.rate

    def label_frames(self, hop: Fraction = clock.HOP) -> int:
        """Return how many label frames the recording has, the last one perhaps not full."""
        return -int(-(Fraction(self.frames, self.rate) / hop) // 1)


@contextmanager
def _speaking() -> Iterator[None]:
    """Turn what soundfile raises into NotAudio."""
    try:
        yield
    except (soundfile.LibsndfileError, TypeError, ValueError) as error:
        words = getattr(error, "error_string", str(error)).removeprefix("Error : ")
        if words.startswith("Internal error"):  # libsndfile speaks of its own insides
            words = "the header says something impossible about rate, channels or length"
        raise NotAudio(words.rstrip(". \n")) from error


def probe(stream: BinaryIO) -> Probe:
    """Return the header of an audio file; raise NotAudio where libsndfile cannot read it."""
    header = read_header(stream)
    if header is not None and header.block and not header.rate:
        raise NotAudio("the header says 0 frames per second")  # libsndfile speaks of its own insides
    with _speaking():
        info = soundfile.info(stream)
    missing, open_end = (header.missing, False) if header is not None else _missing_part(stream)
    frames, rate, channels = int(info.frames), int(info.samplerate), int(info.channels)
    return Probe(frames, rate, channels, str(info.subtype), missing, str(info.format), header, open_end)


class _Beginning(io.BytesIO):
    """The first bytes of a file, that knows how long the whole is."""

    def __init__(self, head: bytes, size: int) -> None:
        super().__init__(head)
        self._size = size

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_END:
            return super().seek(self._size + offset)
        return super().seek(offset, whence)


def first_bytes(entry: Entry) -> bytes:
    """Return the first 12 bytes of a file, which tell a container; none where it cannot be opened."""
    with suppress(SeldioError):
        return entry.head(12)
    return b""


def probe_entry(entry: Entry) -> Probe:
    """Return the header of a file on disk or in an archive, of which no more is unpacked than that takes."""
    if entry.real is None and entry.size > _HEAD:
        head = entry.head(_HEAD)
        stream = _Beginning(head, entry.size)
        if head[:4] == b"fLaC" or read_header(stream) is not None:
            return probe(stream)
    with entry.open() as whole:
        return probe(whole)


class _SoundFile(soundfile.SoundFile):  # type: ignore[misc]
    """A file that can be read without soundfile's seek after each read, to the frame that has been reached anyway.

    That seek decodes a block of FLAC anew. It also fails where a header states more frames than the file has.
    """

    onward = False

    def seekable(self) -> bool:
        return not self.onward and bool(super().seekable())


class Decoder:
    """A recording that libsndfile decodes, from any frame, by one thread at a time; it closes *stream*."""

    def __init__(self, stream: BinaryIO, header: Probe, lock: threading.RLock) -> None:
        self.probe, self.owner, self._lock = header, os.getpid(), lock
        stream.seek(0)
        with _speaking():
            if type(stream) is io.BufferedReader and isinstance(stream.raw, io.FileIO):
                # libsndfile reads a file faster than it asks Python for each of its blocks
                stream.seek(0, os.SEEK_END)  # so that nothing is left in the buffer
                stream.raw.seek(0)
                self._file = _SoundFile(stream.fileno(), closefd=False)
            else:
                self._file = _SoundFile(stream)
        self._at = 0
        # and not __del__: of a cycle (a traceback makes one) the file may go first, with a warning that it was open
        self._release = weakref.finalize(self, _released, self._file, stream)

    def fill(self, start: int, out: np.ndarray[Any, Any]) -> None:
        """Write sound from frame *start* on into *out*, shape (channels, frames), float32 or int16.

        Raises:
            NotAudio: it is damaged, or ends before.
        """
        done, frames = 0, out.shape[1]
        block = np.empty((min(frames, _AT_ONCE), self._file.channels), out.dtype)
        with self._lock, _speaking():
            at, self._at = self._at, -1  # where it is after an error, nobody knows
            if start != at:  # decoders go on quicker than they go elsewhere
                at = self._file.seek(start)
            self._file.onward = True
            try:
                while done < frames:
                    wanted = min(len(block), frames - done)
                    part = self._file.read(out=block[:wanted])
                    out[:, done : done + len(part)] = part.T
                    done += len(part)
                    if len(part) < wanted:
                        break
            finally:
                self._file.onward = False
            self._at = at + done
        if done < frames:
            end = (start + done) / self.probe.rate
            raise NotAudio(f"it is cut off at {end:.3f} s, but its header states more")

    def close(self) -> None:
        """Let go of the stream."""
        with self._lock:
            self._release()


def _released(file: _SoundFile, stream: BinaryIO) -> None:
    file.close()
    stream.close()


def write_wav(stream: BinaryIO, sound: np.ndarray[Any, np.dtype[np.int16]], rate: int) -> None:
    """Write *sound*, shape (channels, frames), as WAV of 16-bit whole numbers; the same bytes each time."""
    soundfile.write(stream, sound.T, rate, format="WAV", subtype="PCM_16")


class WrittenSound(NamedTuple):
    """The result of writing blocks of sound."""

    samples: int = 0  # written, of all channels
    clipped: int = 0  # of them, those that lay beyond full scale
    peak: float = 0.0  # the largest absolute value before that, full scale being 1


def write_blocks(stream: BinaryIO, blocks: Iterable[Floats], rate: int, comment: str = "") -> WrittenSound:
    """Write *blocks*, each of shape (channels, frames), one after the other as WAV of 16-bit whole numbers.

    Floating point counts from -1 to 1; what lies beyond is cut off, and counted. A *comment* goes into the chunk INFO,
    as ICMT.
    """
    samples, clipped, peak = 0, 0, 0.0
    file: soundfile.SoundFile | None = None
    for block in blocks:
        whole = np.rint(block.T * 32768.0)
        samples += whole.size
        clipped += int(((whole > 32767) | (whole < -32768)).sum())
        peak = max(peak, float(np.abs(block).max(initial=0.0)))
        if file is None:
            file = soundfile.SoundFile(stream, "w", rate, block.shape[0], "PCM_16", format="WAV")
            if comment:
                file.comment = comment
        file.write(np.clip(whole, -32768, 32767).astype(np.int16))
    if file is not None:
        file.close()
    return WrittenSound(samples, clipped, peak)


_FILTER = "filter_size=256:cutoff=0.97"
#: Frames of sound on either side that the filter looks at, and more.
_REACH = 1024


def margin(rate: int, target: int) -> int:
    """Return the frames (at *rate*) that :func:`resample` wants on either side: whole ones at *target* too."""
    unit = rate // math.gcd(rate, target)
    return unit * math.ceil(max(_REACH, _REACH * rate / target) / unit) if rate != target else 0


def resample(sound: Floats, rate: int, target: int, frames: int) -> Floats:
    """Return *sound* at another rate; each channel is treated alone and alike.

    Args:
        sound: shape (channels, margin + n + margin), float32, with :func:`margin` frames of what sounds
            before and after, zeros where nothing does.
        rate: of *sound*, frames per second.
        target: frames per second of the result.
        frames: of the result, at most ``ceil(n * target / rate)``.

    Returns:
        Shape (channels, frames), float32; its first frame is at the time of the first one behind the margin.
    """
    skip = margin(rate, target)
    if rate == target:
        return sound[:, :frames]
    first = skip * target // rate
    with needing("av"):
        import av  # not for those that only look at headers

    channels: list[Floats] = []
    for channel in sound:
        graph = av.filter.Graph()
        source = graph.add_abuffer(sample_rate=rate, format="fltp", layout="mono")
        filter = graph.add("aresample", f"{target}:{_FILTER}")
        sink = graph.add("abuffersink")
        source.link_to(filter)
        filter.link_to(sink)
        graph.configure()
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(channel[np.newaxis], np.float32), "fltp", "mono")
        frame.sample_rate = rate
        graph.push(frame)
        graph.push(None)  # what is still inside comes out
        parts: list[Floats] = []
        with suppress(av.EOFError, BlockingIOError):
            while True:
                part = graph.pull()
                assert isinstance(part, av.AudioFrame)
                parts.append(part.to_ndarray()[0])
        channels.append(np.concatenate(parts)[first : first + frames])
    return np.stack(channels)
