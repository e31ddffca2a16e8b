"""Windows of sound from any offset: mapped into memory where a WAV file has 16 or 32 bits, decoded otherwise.

At another rate a part is what the whole, resampled by libsoxr, has there: sound around it is read as well, as far as
the filter reaches. What conversion writes is made by FFmpeg (:func:`seldio.media.audio.resample`), which every
installation has.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, cast

import numpy as np

from seldio.errors import UsageError, needing
from seldio.files import Entry
from seldio.files.entries import inside, plain_file
from seldio.media.arrays import RATES
from seldio.media.audio import FLOAT, PCM, Decoder, Floats, NotAudio, Probe, SampleType, WavHeader, probe
from seldio.text import plural, printable

#: Sound as float32 or int16, shape (channels, frames).
Samples = np.ndarray[Any, Any]
#: Frames from which on it is seen whether the last one is there before any is read.
_LONG = 2**24
#: Kinds of samples (libsndfile's names) that int16 holds as they are.
IN_16_BITS = frozenset({"PCM_16", "PCM_S8", "PCM_U8"})


def not_in_16_bits(subtype: str) -> str:
    """Return why samples of a *subtype* cannot become int16, to follow the name of the file."""
    return f"has samples of another kind ({subtype}), which int16 would round or cut off: use dtype='float32'"


class Recording(AbstractContextManager["Recording"]):
    """A recording that gives any part of its sound.

    It is opened when it is first asked for something, may be used by several threads, and can be pickled: each
    process opens it anew. WAV files of 16 and 32 bits are mapped into memory; all else that libsndfile reads is
    decoded. Either way the samples are those that libsndfile gives as float32.

    Args:
        source: a path, or a file of an opened source.
    """

    def __init__(self, source: str | os.PathLike[str] | Entry) -> None:
        self._entry: Entry = plain_file(source) if isinstance(source, str | os.PathLike) else source
        self._lock = threading.RLock()
        self._opened: _Mapped | Decoder | None = None

    def __repr__(self) -> str:
        return f"Recording({self.path!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Recording, (self._entry,)

    def __len__(self) -> int:
        """Return the number of frames."""
        return self.probe.frames

    @property
    def path(self) -> str:
        """As shown to people."""
        return self._entry.path

    @property
    def probe(self) -> Probe:
        """Return the header; raise NotAudio where the file cannot be read as audio."""
        return self._sound().probe

    @property
    def rate(self) -> int:
        """Frames per second."""
        return self.probe.rate

    @property
    def channels(self) -> int:
        """How many."""
        return self.probe.channels

    def read(
        self,
        start: int = 0,
        frames: int | None = None,
        out: Samples | None = None,
        *,
        pad: bool = False,
        dtype: SampleType = "float32",
    ) -> Samples:
        """Return the sound from frame *start* on, shape (channels, frames), float32; whole numbers become -1 … 1.

        Args:
            start: the first frame.
            frames: how many, all that follow if None; fewer are given where the recording ends.
            out: an array to fill, of *dtype*, shape (channels, frames); the result is a part of it.
            pad: give zeros for what lies before the beginning (*start* below 0) and past the end.
            dtype: ``int16`` for the samples as they are in PCM of up to 16 bits: 1/32768 of them is float32.

        Raises:
            UsageError: there is no such part, or the samples do not fit into *dtype*.
            NotAudio: the file cannot be read as audio.
        """
        sound = self._sound()
        if dtype == "int16" and sound.probe.subtype not in IN_16_BITS:
            raise UsageError(f"{printable(self.path)} {not_in_16_bits(sound.probe.subtype)}")
        total, channels = sound.probe.frames, sound.probe.channels
        if frames is None:
            frames = out.shape[-1] if out is not None else max(0, total - start)
        if frames < 0 or not (pad or 0 <= start <= total):
            raise UsageError(f"{printable(self.path)} has {plural(total, 'frame')}: no {frames} from {start} on")
        low, high = (min(max(edge, 0), total) for edge in (start, start + frames))
        before = min(low - start, frames) if start < 0 else 0
        width = frames if pad else high - low
        if out is not None and (out.shape != (channels, frames) or out.dtype != dtype):
            needed = (channels, frames)
            raise UsageError(f"out has shape {out.shape} of {out.dtype}; needed is {needed} of {dtype}")
        if high - low > _LONG:  # no memory is taken for what only a header promises
            sound.fill(high - 1, np.empty((channels, 1), dtype))
        given = np.empty((channels, width), dtype) if out is None else out[:, :width]
        given[:, :before] = 0
        given[:, before + high - low :] = 0
        if high > low:
            sound.fill(low, given[:, before : before + high - low])
        return given

    def blocks(self, frames: int) -> Iterator[Floats]:
        """Yield the whole sound, *frames* at a time, in memory that does not grow; raises what :meth:`read` raises."""
        for start in range(0, len(self), frames):
            yield self.read(start, min(frames, len(self) - start))
            if isinstance(sound := self._sound(), _Mapped):
                sound.forget()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed."""
        with self._lock:
            opened, self._opened = self._opened, None
            if opened is not None:
                opened.close()

    def _sound(self) -> _Mapped | Decoder:
        """Return the opened file: one for each process, since forks share the place in a stream."""
        opened = self._opened
        if opened is None or opened.owner != os.getpid():
            with self._lock:
                opened = self._opened
                if opened is None or opened.owner != os.getpid():
                    self._opened = opened = _open(self._entry, self._lock)
        return opened


# --- opened files ------------------------------------------------------------------------------------------


def _open(entry: Entry, lock: threading.RLock) -> _Mapped | Decoder:
    stream = entry.open()
    try:
        header = probe(stream)
        if header.rate > RATES[-1]:  # a second at such a rate may fill the memory
            raise NotAudio(f"it has {header.rate:,} Hz, but a possible sample rate is at most {RATES[-1]:,} Hz")
        wav, plain = header.header, _PLAIN.get(header.subtype)
        if (
            entry.on_disk
            and wav is not None
            and plain is not None
            and header.frames > 0
            and (wav.order, wav.tag, wav.bits, wav.channels) == ("<", *plain[:2], header.channels)
            and wav.block * 8 == wav.channels * wav.bits
            and header.frames * wav.block <= wav.rest
        ):
            with stream:
                return _Mapped(stream, header, wav, inside(stream))
        return Decoder(stream, header, lock)
    except BaseException:
        stream.close()
        raise


class _Mapped:
    """A recording that is mapped into memory."""

    def __init__(self, stream: BinaryIO, probe: Probe, header: WavHeader, base: int) -> None:
        self.probe, self.owner = probe, os.getpid()
        *_, dtype, self._factor = _PLAIN[probe.subtype]
        start = base - base % mmap.ALLOCATIONGRANULARITY  # of a shard no more than the recording
        at = base + header.data_at
        self._end = at + probe.frames * header.block
        self._map = mmap.mmap(stream.fileno(), self._end - start, access=mmap.ACCESS_READ, offset=start)
        shape = probe.frames, probe.channels
        self._samples = np.frombuffer(self._map, dtype, math.prod(shape), at - start).reshape(shape)

    def fill(self, start: int, out: Samples) -> None:
        if self._map.size() < self._end:  # to look past the end would kill the process
            raise NotAudio("it was shortened after it was opened")
        np.copyto(out, self._samples[start : start + out.shape[1]].T, casting="same_kind")
        if self._factor != 1 and out.dtype != np.int16:
            out *= np.float32(self._factor)

    def forget(self) -> None:
        """Give pages of the map back: they count as this process's memory until they are given back."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Leave the map to the last array that is still being read."""


#: Kinds of samples that are read where they lie, by libsndfile's name: the tag and bits in the header, the type in
#: numpy, and what full scale is multiplied by.
_PLAIN = {
    "PCM_16": (PCM, 16, "<i2", 2.0**-15),
    "PCM_32": (PCM, 32, "<i4", 2.0**-31),
    "FLOAT": (FLOAT, 32, "<f4", 1.0),
}


# --- at another rate -----------------------------------------------------------------------------------

#: Frames, at the lower of the two rates, that are read on either side: parts then differ from the whole by rounding
#: alone (2e-7 of full scale, measured over ten pairs of rates; from 128 frames on it does not become less).
REACH = 256
#: soxr's preset of 20 bits: passes 91 % of the lower band, and rejects by more than 120 dB what would fold back.
QUALITY = "HQ"


def resampler() -> Callable[..., Floats]:
    """Return soxr's function for resampling; raise MissingLibrary where that is not installed."""
    with needing("soxr"):
        import soxr
    return cast("Callable[..., Floats]", soxr.resample)


def frames_at(recording: Recording, rate: int) -> int:
    """Return how many frames a recording has at a *rate*: as long as it lasts, rounded to the nearest one."""
    return (2 * len(recording) * rate + recording.rate) // (2 * recording.rate)


def read_at(recording: Recording, rate: int, start: int, frames: int) -> Floats:
    """Return a part of a recording at another rate, shape (channels, frames), float32; zeros past its end.

    Args:
        recording: at another rate.
        rate: frames per second of the result.
        start: its first frame, counted at *rate*.
        frames: how many.

    Raises:
        MissingLibrary: soxr is not installed.
        NotAudio: the file cannot be read as audio.
    """
    from_rate = recording.rate
    common = math.gcd(from_rate, rate)
    unit, unit_out = from_rate // common, rate // common  # as long as each other, so that no time is between frames
    reach = math.ceil(REACH * max(1, from_rate / rate))
    first = max(0, (start // unit_out) * unit - math.ceil(reach / unit) * unit)
    stop = min(len(recording), -(-(start + frames) * from_rate // rate) + reach)
    out = np.zeros((recording.channels, frames), np.float32)
    if stop > first:
        made = resampler()(recording.read(first, stop - first).T, from_rate, rate, QUALITY).T
        skip = start - first // unit * unit_out
        part = made[:, skip : skip + min(frames, max(0, frames_at(recording, rate) - start))]
        out[:, : part.shape[1]] = part
    return out
