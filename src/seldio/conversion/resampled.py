"""A dataset, or one recording, with its sound at another rate; everything else stays as it is."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from seldio.catalogues import Catalogue
from seldio.conversion.report import Conversion
from seldio.errors import UsageError
from seldio.files import Entry, Source, atomic_write, in_the_way, open_source, write_bytes
from seldio.files.entries import packed
from seldio.files.sources import is_own
from seldio.findings import raise_errors
from seldio.formats.dataset_toml import TomlPlaces
from seldio.media.audio import Floats, WrittenSound, margin, resample, write_blocks
from seldio.media.recording import Recording
from seldio.parallel import parallel_map
from seldio.text import plural, printable

#: Rates of 8 to 192 kHz, as targets of a conversion: ``24khz``, ``44.1khz``, ``24000hz``.
TARGET = re.compile(r"(?i)(?P<number>[0-9]{1,6}(?:\.[0-9]{1,3})?)[ _]?(?P<kilo>k?)hz")
_LEAST, _MOST = 8_000, 192_000
#: Seconds that are resampled at a time.
_SECONDS = 10


class ResampledConversion(Conversion):
    """What became of the recordings of a dataset."""

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        yield f"{plural(self.files, 'recording')} to {self.target}: {plural(len(self.written), 'file')} written"
        yield from (f"  {note}" for note in self.notes)


def rate_of(target: str) -> int | None:
    """The rate that a target names; None where it names none.

    Raises:
        UsageError: it is not a possible rate.
    """
    match = TARGET.fullmatch(target)
    if match is None:
        return None
    rate = float(match["number"]) * (1000 if match["kilo"] else 1)
    if not (_LEAST <= rate <= _MOST and rate.is_integer()):
        raise UsageError(f"--to {printable(target)}: choose a rate from 8khz to 192khz, such as 24khz")
    return int(rate)


def convert_rate(path: str | os.PathLike[str], out: str | os.PathLike[str] | BinaryIO, rate: int) -> Conversion:
    """Write a folder, or one recording, with its sound at another rate, as WAV of 16 bits.

    Labels, videos and all else are copied; what ``dataset.toml`` says of the rate is put right.

    Raises:
        UsageError: there are no recordings, or the output is not a file or folder, or the source itself.
        SeldioError: a recording cannot be read, or the disk fails.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError("another rate is written to files: use -o FILE or -o FOLDER")
    place = Path(out)
    with open_source(path, raise_errors) as source:
        sounds = [entry for one in Catalogue(source, labels=False).of("recording") for entry in one.files]
        if not sounds:
            raise UsageError(f"{printable(source.path)} holds no recording")
        if place.resolve() == Path(source.path).resolve():
            raise UsageError(f"{printable(str(place))} is the source: choose another place with -o")
        if source.single:
            parts = [SoundToResample(sounds[0], str(place), str(place.parent), rate)]
        else:
            below = place.resolve()
            kept = [one for one in source if one.local is None or not one.local.is_relative_to(below)]
            parts = [
                SoundToResample(one, str(place / PurePosixPath(one.name).with_suffix(".wav")), str(place), rate)
                for one in sounds if one in kept
            ]  # fmt: skip
            twice = [place for place, count in Counter(part.place for part in parts).items() if count > 1]
            if twice:
                raise UsageError(f"several recordings would be written to {printable(twice[0])}: give them other names")
            for one in kept if parts else ():
                in_the_way(place / one.name, place)
        here = packed(part.entry for part in parts)
        made = list(parallel_map(_resampled, parts, what="resampling", size=lambda part: part.entry.size, here=here))
        written = [part.place for part in parts] + ([] if source.single else _copied(source, sounds, place, rate))
    clipped = sum(sound.clipped for sound in made)
    notes = [f"clipped: {plural(clipped, 'sample')} beyond full scale"] if clipped else []
    return ResampledConversion((), f"{rate:,} Hz", len(made), tuple(written), len(made), (0, 0), {}, tuple(notes), ())


class SoundToResample(NamedTuple):
    """A recording, and where it goes."""

    entry: Entry
    place: str
    below: str
    rate: int


def _resampled(wanted: SoundToResample) -> WrittenSound:
    """Write one recording at its new rate."""
    with Recording(wanted.entry) as sound, atomic_write(Path(wanted.place), Path(wanted.below)) as stream:
        return write_blocks(stream, blocks(sound, wanted.rate), wanted.rate)


def blocks(sound: Recording, rate: int) -> Iterator[Floats]:
    """A recording at another rate, some seconds at a time; parts fit together as if it were one."""
    aside, step = margin(sound.rate, rate), sound.rate * _SECONDS
    total = round(len(sound) * rate / sound.rate)
    for start in range(0, len(sound), step):
        first = start * rate // sound.rate
        part = sound.read(start - aside, min(step, len(sound) - start) + 2 * aside, pad=True)
        yield resample(part, sound.rate, rate, min(rate * _SECONDS, total - first))


def _copied(source: Source, sounds: list[Entry], out: Path, rate: int) -> list[str]:
    """Copy all other files of a folder; the dataset file says the new rate."""
    written = []
    names = {entry.name for entry in sounds}
    for entry in source:
        if entry.name in names or (entry.local is not None and entry.local.is_relative_to(out.resolve())):
            continue
        data = entry.read()
        if is_own(entry):
            data = _with_rate(data.decode(), rate).encode()
        write_bytes(out / PurePosixPath(entry.name), data, out)
        written.append(str(out / PurePosixPath(entry.name)))
    return written


def _with_rate(text: str, rate: int) -> str:
    """A dataset file whose recordings have another rate, where it says one."""
    lines = text.split("\n")
    place = TomlPlaces(text).at(("recordings", "rate"))
    if place.value != "rate":
        return text
    before, after = lines[place.line - 1][: place.column - 1], lines[place.line - 1][place.column - 1 :]
    lines[place.line - 1] = before + re.sub(r"=\s*[0-9_]+", f"= {rate}", after, count=1)
    return "\n".join(lines)
