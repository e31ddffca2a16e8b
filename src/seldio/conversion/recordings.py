"""From one microphone array to the other: one recording, or all recordings of a folder."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, NamedTuple

from seldio.conversion.report import Conversion
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, in_the_way, open_source
from seldio.files.entries import packed
from seldio.files.names import is_lossless
from seldio.findings import raise_errors
from seldio.media.audio import Decoder, NotAudio, WrittenSound, probe_entry, write_blocks
from seldio.media.encoding import encode
from seldio.media.heard import SHORT, ArrayHeard, array_heard, check_heard, renamed
from seldio.parallel import parallel_map
from seldio.text import listed, plural, printable

Array = Literal["foa", "mic"]
OTHER: dict[Array, Array] = {"foa": "mic", "mic": "foa"}
#: What each array is called.
TITLES: dict[Array, str] = {"foa": "first-order Ambisonics", "mic": "tetrahedral microphone array"}
Place = str | os.PathLike[str]
#: Sample frames that are converted at a time.
_BLOCK = 1 << 16
#: Decibels by which recordings may be made louder or quieter, at most.
_MOST_GAIN = 60
#: What to do where recordings sound like those of the other array.
_WRONG = "the wrong files are in the folder, or are called like the others"
#: Largest sample that 16 bits hold, full scale being 1.
_LARGEST = 32767 / 32768


@dataclasses.dataclass(frozen=True)
class ArrayConversion(Conversion):
    """What became of a dataset tree or a recording."""

    clipped: int = 0  # samples that were cut off at full scale, in the recordings that were made
    gain: float = 0.0  # decibels by which these are louder than the filters make them

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        made = f"{plural(self.clips, 'recording')}, {plural(len(self.written), 'file')} written"
        yield f"{' and '.join(self.formats)} to {self.target}: {made}"
        yield from (f"  {note}" for note in self.notes)


def convert_array(
    path: Place, out: Place | BinaryIO, to: Array, *, audio: bool = False, gain: float = 0.0, said: Array | None = None
) -> ArrayConversion:
    """Convert a dataset tree or one recording to the other array.

    A tree is written anew: labels, videos and texts as they are, the recordings of the other array left out. The
    recordings of *to* are those of the tree, which have to be there and as long as those they take the place of; with
    *audio* they are made. Which array recordings are of, their names say and their sound must not contradict; where
    neither does, *said* does.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes files: use -o FILE or -o FOLDER")
    if not -_MOST_GAIN <= gain <= _MOST_GAIN:
        raise UsageError(f"--gain {gain:g}: choose decibels from {-_MOST_GAIN} to {_MOST_GAIN}, such as -3")
    work = MakingRecording(to, gain)
    with open_source(path, raise_errors) as source:
        if source.kind not in ("folder", "file"):
            raise UsageError(f"--to {to} needs a folder or a file on disk: unpack the archive first")
        if source.kind == "folder":
            if gain and not audio:
                raise UsageError("--gain applies to converted recordings: add --audio")
            return _tree(source, Path(out), work, audio, said)
        entry = source.entries[0]
        if not is_lossless(entry.name):
            raise UsageError(
                f"{printable(entry.path)} is no recording (.wav, .flac): --to {to} converts a recording, or a folder "
                "with recordings; labels are the same for both arrays"
            )
        above = "/".join(Path(source.path).absolute().parts[-3:-1])
        heard = _arrays({entry.name: entry}, above, said, first=True)
        if any(one.named == to for one in heard.values()):
            raise DataError(
                f"{printable(source.path)} is a recording of {SHORT[to]} already: --to {OTHER[to]} converts it"
            )
        made = [work(RecordingToMake(entry, str(out)))]
        return _report(work, made, [str(out)], 1, [_quality(to), *_untold(heard)])


def _tree(source: Source, out: Path, work: MakingRecording, audio: bool, said: Array | None) -> ArrayConversion:
    to = work.to
    if out.resolve() == Path(source.path).resolve():
        raise UsageError(f"{printable(str(out))} is the source: choose another folder with -o")
    kept = [entry for entry in source if entry.local is None or not entry.local.is_relative_to(out.resolve())]
    own = {entry.name: entry for entry in kept if is_lossless(entry.name)}
    replaced = {name: sibling for name in own if (sibling := renamed(name, to)) != name}
    if not audio:
        _check_siblings({name: (own[name], own.get(sibling)) for name, sibling in replaced.items()}, to)
    used = {name: entry for name, entry in own.items() if audio or name not in replaced}
    heard = _arrays(used, "/".join(Path(source.path).absolute().parts[-2:]), said)
    alike = [name for name, one in heard.items() if one.named == OTHER[to] and name not in replaced]
    if alike and not audio:
        raise DataError(
            f"{plural(len(alike), 'recording')} of {SHORT[OTHER[to]]} would be copied as {SHORT[to]}: "
            f"{listed(alike, 3)}. --audio converts them; or convert the whole dataset, which has both"
        )
    replaced |= {name: name for name in alike}
    rest = [entry for entry in kept if entry.name not in replaced]
    written = [str(out / PurePosixPath(entry.name)) for entry in rest]
    for name in (*(entry.name for entry in rest), *replaced.values()):
        in_the_way(out / name, out)
    for entry in rest:
        if not (audio and entry.name in replaced.values()):
            with entry.open() as stream, atomic_write(out / PurePosixPath(entry.name), out) as copy:
                shutil.copyfileobj(stream, copy, 1 << 20)
    made = _made(work, [(own[name], out / PurePosixPath(sibling)) for name, sibling in replaced.items() if audio], out)
    written += [str(out / sibling) for sibling in replaced.values() if audio]
    notes = [f"{plural(len(replaced), f'{TITLES[OTHER[to]]} recording')} {'converted' if audio else 'left out'}"]
    if not replaced:
        notes = [_nothing_to_do(len(rest), to)]
    elif rest:
        notes.append(f"{plural(len(rest), 'other file')} copied unchanged, with the paths in them")
    notes += [*([_quality(to)] if audio else []), *_untold(heard)]
    return _report(work, made, sorted(set(written)), len(replaced), notes)


@dataclasses.dataclass(frozen=True)
class _Hearing:
    """Which array recordings are of, below a folder whose name may say so."""

    above: str

    def __call__(self, entry: Entry) -> ArrayHeard | None:
        return array_heard(entry, f"{self.above}/{entry.name}")


def _arrays(
    recordings: Mapping[str, Entry], above: str, said: Array | None, first: bool = False
) -> dict[str, ArrayHeard]:
    """What the recordings with four channels are named or *said* to be, or else sound like, as their ``named`` array.

    Args:
        recordings: by name.
        above: the path of the folder that they are in.
        said: by the user; it goes before the name where it is said of the one recording that there is (*first*).

    Raises:
        DataError: a recording sounds like another array, or it can be either.
    """
    entries = list(recordings.values())
    what = "listening" if recordings else None
    found = parallel_map(_Hearing(above), entries, what=what, batch=8, here=packed(entries))
    heard = {
        name: one._replace(named=(said or one.named) if first else (one.named or said))
        for name, one in zip(recordings, found, strict=True) if one is not None
    }  # fmt: skip
    check_heard(heard.values(), _WRONG)
    if unknown := [name for name, one in heard.items() if one.named is None and one.heard is None]:
        raise DataError(
            f"{plural(len(unknown), 'recording')} with four channels may be FOA or MIC, as neither the name nor the "
            f"sound tells: {listed(unknown, 3)}. --format foa or --format mic says which"
        )
    return {name: one._replace(named=one.named or one.heard) for name, one in heard.items()}


def _untold(heard: Mapping[str, ArrayHeard]) -> Iterator[str]:
    """A note on recordings whose sound does not tell whether they are what they are named or said to be."""
    if untold := [name for name, one in heard.items() if one.heard is None]:
        yield (
            f"the sound of {plural(len(untold), 'recording')} does not tell FOA from MIC "
            f"({listed(untold, 3)}): the name or --format decided"
        )


def _check_siblings(pairs: dict[str, tuple[Entry | None, Entry | None]], to: Array) -> None:
    """See that each recording has one of *to* that is as long."""
    missing = [name for name, (_, sibling) in pairs.items() if sibling is None]
    if missing:
        raise DataError(
            f"{plural(len(missing), 'recording')} without a {TITLES[to]} counterpart: {listed(sorted(missing))}. "
            "--audio makes them"
        )
    for name, (own, sibling) in pairs.items():
        if own is None or sibling is None:
            continue
        one, other = probe_entry(own), probe_entry(sibling)
        if (one.frames, one.rate) != (other.frames, other.rate):
            raise DataError(
                f"{printable(name)} has {one.frames:,} frames at {one.rate:,} Hz, but its counterpart "
                f"{printable(sibling.name)} has {other.frames:,} at {other.rate:,} Hz"
            )


class RecordingToMake(NamedTuple):
    """A recording of the other array, and the file to make of it, if that is *below* a folder."""

    entry: Entry
    place: str
    below: str | None = None


@dataclasses.dataclass(frozen=True)
class MakingRecording:
    """Make a recording from that of the other array, block by block, as WAV of 16 bits; all with one gain."""

    to: Array  # the array
    gain: float  # decibels by which it becomes louder

    def __call__(self, wanted: RecordingToMake) -> tuple[str, WrittenSound]:
        """Write one; the name of the source, and what was clipped."""
        entry = wanted.entry
        try:
            found = probe_entry(entry)
            if found.channels != 4:
                there = plural(found.channels, "channel")
                raise DataError(f"{printable(entry.path)} has {there}, but an array recording has 4")
            place = atomic_write(wanted.place, wanted.below)
            with entry.open() as stream, Decoder(stream) as decoder, place as written:
                blocks = (
                    decoder.read(start, min(_BLOCK, found.frames - start)) for start in range(0, found.frames, _BLOCK)
                )
                factor = 10 ** (self.gain / 20)
                louder = (block * factor for block in encode(blocks, found.rate, self.to))
                comment = f"seldio convert --to {self.to} --gain {self.gain:g} (dB)" if self.gain else ""
                return entry.name, write_blocks(written, louder, found.rate, comment)
        except NotAudio as error:
            raise SeldioError(f"{printable(entry.path)}: {error.text}") from error


def _made(work: MakingRecording, wanted: Sequence[tuple[Entry, Path]], below: Path) -> list[tuple[str, WrittenSound]]:
    """Make recordings below a folder, wherever :func:`seldio.running` says."""
    parts = [RecordingToMake(entry, str(place), str(below)) for entry, place in wanted]
    what = "converting recordings" if parts else None
    here = packed(entry for entry, _ in wanted)
    return list(parallel_map(work, parts, what=what, size=lambda part: part.entry.size, here=here))


def _report(
    work: MakingRecording, made: Sequence[tuple[str, WrittenSound]], written: list[str], number: int, notes: list[str]
) -> ArrayConversion:
    """What was done, with *notes* on *number* recordings and the *written* files."""
    notes = [*notes, *_clipping(work, made)]
    if work.gain and made:
        notes.append(f"gain of {work.gain:+g} dB in every converted recording; a comment in each file records it")
    return ArrayConversion(
        (OTHER[work.to],), work.to, number, tuple(written), number, (number, number), {}, tuple(notes), (),
        sum(sound.clipped for _, sound in made), work.gain,
    )  # fmt: skip


def _clipping(work: MakingRecording, made: Sequence[tuple[str, WrittenSound]]) -> Iterator[str]:
    loud = [(name, sound) for name, sound in made if sound.clipped]
    if not loud:
        return
    clipped, samples = sum(sound.clipped for _, sound in loud), sum(sound.samples for _, sound in made)
    loudest, most = max(loud, key=lambda pair: pair[1].peak)
    beyond = 20 * math.log10(most.peak / _LARGEST)
    safe = work.gain - math.ceil(10 * beyond) / 10
    where = f"{len(loud):,} of {plural(len(made), 'recording')}"
    yield (
        f"clipped: {clipped:,} of {plural(samples, 'sample')} in {where}, by up to {beyond:.1f} dB "
        f"({printable(loudest)}); --gain {safe:.1f} avoids clipping, with one factor for the whole set"
    )


def _nothing_to_do(files: int, to: Array) -> str:
    """Why files are copied and nothing more: labels have directions, which are those of both arrays."""
    return (
        f"no {TITLES[OTHER[to]]} recording: labels are the same for both arrays, "
        f"so {plural(files, 'file')} {'was' if files == 1 else 'were'} copied unchanged"
    )


def _quality(to: Array) -> str:
    how = "a plane-wave model" if to == "mic" else "filters from the array's response"
    return (
        f"recordings converted with {how}: directions are accurate to a few degrees up to the 1 kHz octave and get "
        "worse above, where four capsules alias (measured errors: docs/concepts/channels.md); original recordings "
        "are better"
    )
