"""From one microphone array to the other: one recording, or all recordings of a folder."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from seldio.conversion.report import Conversion
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, in_the_way, open_source
from seldio.files.entries import packed
from seldio.files.names import is_lossless
from seldio.findings import raise_errors
from seldio.media.audio import NotAudio, WrittenSound, probe_entry, write_blocks
from seldio.media.encoding import encode
from seldio.media.intensity import SHORT, ArrayHeard, array_heard, check_heard, renamed
from seldio.media.recording import Recording
from seldio.parallel import parallel_map
from seldio.text import listed, plural, printable

Array = Literal["foa", "mic"]
OTHER: dict[Array, Array] = {"foa": "mic", "mic": "foa"}
Place = str | os.PathLike[str]
#: Sample frames that are converted at a time.
_BLOCK = 1 << 16
#: Decibels by which recordings may be made louder or quieter, at most.
_MOST_GAIN = 60
#: Largest sample that 16 bits hold, full scale being 1.
_LARGEST = 32767 / 32768


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArrayConversion(Conversion):
    """The result of converting a folder or a recording."""

    clipped: int = 0  # samples that were cut off at full scale, in the recordings that were converted
    gain: float = 0.0  # decibels by which these are louder than the filters make them

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        converted = f"{plural(self.clips, 'recording')}, {plural(len(self.written), 'file')} written"
        yield f"{' and '.join(self.formats)} to {self.target}: {converted}"
        yield from (f"  {note}" for note in self.notes)


def convert_array(
    path: Place, out: Place | BinaryIO, to: Array, *, audio: bool = False, gain: float = 0.0, said: Array | None = None
) -> ArrayConversion:
    """Convert a recording, or the recordings of a folder, to the other array; other files are copied as they are.

    Where a folder has a recording in both arrays, that of *to* is copied, or converted from the other one with *audio*.
    Names say which array recordings are of, and their sound must not contradict; where neither does, *said* does.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes files: use -o FILE or -o FOLDER")
    if not -_MOST_GAIN <= gain <= _MOST_GAIN:
        raise UsageError(f"--gain {gain:g}: choose decibels from {-_MOST_GAIN} to {_MOST_GAIN}, such as -3")
    with open_source(path, raise_errors) as source:
        if source.kind not in ("folder", "file"):
            raise UsageError(f"--to {to} needs a folder or a file on disk: unpack the archive first")
        if source.kind == "folder":
            return _folder(source, Path(out), to, gain, audio, said)
        (entry,) = source.entries
        if not is_lossless(entry.name):
            raise UsageError(
                f"{printable(entry.path)} is no recording (.wav, .flac): --to {to} converts a recording, or a folder "
                "with recordings; labels are the same for both arrays"
            )
        arrays = _arrays({entry.name: entry}, "/".join(Path(source.path).absolute().parts[-3:-1]), said, alone=True)
        if any(heard.named == to for heard in arrays.values()):
            raise DataError(
                f"{printable(source.path)} is a recording of {SHORT[to]} already: --to {OTHER[to]} converts it"
            )
        sounds = {entry.name: _converted((entry, Path(out)), to, gain, None)}
        return _report(to, gain, sounds, [str(out)], 1, arrays, [])


def _folder(source: Source, out: Path, to: Array, gain: float, audio: bool, said: Array | None) -> ArrayConversion:
    top = out.resolve()
    if top == Path(source.path).resolve():
        raise UsageError(f"{printable(str(out))} is the source: choose another folder with -o")
    files = {entry.name: entry for entry in source if entry.real is None or not Path(entry.real).is_relative_to(top)}
    recordings = {name: entry for name, entry in files.items() if is_lossless(name)}
    arrays = _arrays(recordings, "/".join(Path(source.path).absolute().parts[-2:]), said)
    others = {name: renamed(name, to) for name, heard in arrays.items() if heard.named == OTHER[to]}
    places = {name: place for name, place in others.items() if audio or place == name or place not in files}
    copied = [name for name in files if name not in others and name not in places.values()]
    for name in (*copied, *places.values()):
        in_the_way(out / name, out)
    for name in copied:
        with atomic_write(out / name, out) as stream:
            files[name].copy_to(stream)
    jobs = [(files[name], out / place) for name, place in places.items()]
    what, here = "converting recordings" if jobs else None, packed(entry for entry, _ in jobs)
    work = partial(_converted, to=to, gain=gain, out=out)
    sounds = parallel_map(work, jobs, what=what, size=lambda job: job[0].size, here=here)
    noun, both = f"{SHORT[OTHER[to]]} recording", len(others) - len(places)
    notes = [f"{plural(len(places), noun)} converted"] if places else []
    notes += [f"{plural(both, noun)} left out: in {SHORT[to]} as well"] if both else []
    notes += [] if others else [f"no {noun}: labels are the same for both arrays"]
    notes += [f"{plural(len(copied), 'other file')} copied unchanged, with the paths in them"] if copied else []
    written = sorted({*(str(out / name) for name in (*copied, *places.values()))})
    return _report(to, gain, dict(zip(places, sounds, strict=True)), written, len(others), arrays, notes)


def _arrays(
    recordings: Mapping[str, Entry], above: str, said: Array | None, alone: bool = False
) -> dict[str, ArrayHeard]:
    """Return the array of recordings, stated, named or heard; raise DataError if sound and name contradict."""
    jobs, what = [(entry, f"{above}/{name}") for name, entry in recordings.items()], "listening" if recordings else None
    heard = parallel_map(_heard, jobs, what=what, batch=8, here=packed(recordings.values()))
    arrays = {
        name: array._replace(named=(said or array.named) if alone else (array.named or said))
        for name, array in zip(recordings, heard, strict=True)
        if array is not None
    }
    check_heard(arrays.values(), "the wrong files are in the folder, or are called like the others")
    if unknown := [name for name, array in arrays.items() if array.named is None and array.heard is None]:
        raise DataError(
            f"{plural(len(unknown), 'recording')} with four channels may be FOA or MIC, as neither the name nor the "
            f"sound tells: {listed(unknown, 3)}. --format foa or --format mic says which"
        )
    return {name: array._replace(named=array.named or array.heard) for name, array in arrays.items()}


def _heard(job: tuple[Entry, str]) -> ArrayHeard | None:
    return array_heard(*job)


def _converted(job: tuple[Entry, Path], to: Array, gain: float, out: Path | None) -> WrittenSound:
    """Write a recording of the other array block by block, as WAV of 16 bits; the file stays below *out*."""
    entry, place = job
    try:
        header = probe_entry(entry)
        if header.channels != 4:
            channels = plural(header.channels, "channel")
            raise DataError(f"{printable(entry.path)} has {channels}, but an array recording has 4")
        with Recording(entry) as recording, atomic_write(place, out) as written:
            louder = (block * 10 ** (gain / 20) for block in encode(recording.blocks(_BLOCK), recording.rate, to))
            comment = f"seldio convert --to {to} --gain {gain:g} (dB)" if gain else ""
            return write_blocks(written, louder, recording.rate, comment)
    except NotAudio as error:
        raise SeldioError(f"{printable(entry.path)}: {error.text}") from error


def _report(
    to: Array,
    gain: float,
    sounds: Mapping[str, WrittenSound],
    written: Sequence[str],
    count: int,
    arrays: Mapping[str, ArrayHeard],
    notes: list[str],
) -> ArrayConversion:
    if sounds:
        how = "a plane-wave model" if to == "mic" else "filters from the array's response"
        notes.append(
            f"recordings converted with {how}: directions are accurate to a few degrees up to the 1 kHz octave and get "
            "worse above, where four capsules alias (measured errors: docs/concepts/channels.md); original recordings "
            "are better"
        )
    if names := [name for name, heard in arrays.items() if heard.heard is None]:
        recordings = f"the sound of {plural(len(names), 'recording')} does not tell FOA from MIC"
        notes.append(f"{recordings} ({listed(names, 3)}): the name or --format decided")
    clipped = {name: sound for name, sound in sounds.items() if sound.clipped}
    total = sum(sound.clipped for sound in clipped.values())
    if clipped:
        peak, loudest = max((sound.peak, name) for name, sound in clipped.items())
        beyond = 20 * math.log10(peak / _LARGEST)
        samples = plural(sum(sound.samples for sound in sounds.values()), "sample")
        notes.append(
            f"clipped: {total:,} of {samples} in {len(clipped):,} of {plural(len(sounds), 'recording')}, by up to "
            f"{beyond:.1f} dB ({printable(loudest)}); --gain {gain - math.ceil(10 * beyond) / 10:.1f} avoids clipping, "
            "with one factor for the whole set"
        )
    if gain:
        recorded = f"gain of {gain:+g} dB in every converted recording; a comment in each file records it"
        notes.append(recorded if sounds else "--gain has no effect: no recording was converted")
    rows, source = (count, count), (OTHER[to],)
    return ArrayConversion(source, to, count, tuple(written), count, rows, notes=tuple(notes), clipped=total, gain=gain)
