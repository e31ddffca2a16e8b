"""From one microphone array to the other: recordings, and everything that names or describes them."""

from __future__ import annotations

import dataclasses
import io
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import pyarrow.parquet as pq

from seldio.conversion.repointing import OTHER, TITLES, Array, recordings, repointed, repointed_table, texts_of
from seldio.conversion.report import Conversion
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, make_folder, open_source, write_bytes
from seldio.files.sources import Lookup
from seldio.findings import raise_errors
from seldio.media.audio import Decoder, NotAudio, WrittenSound, probe_entry, write_blocks
from seldio.media.encoding import encode
from seldio.text import listed, plural, printable

Place = str | os.PathLike[str]
#: Files whose text may name recordings; labels and sound are none of them.
TEXTS = (".json", ".jsonl", ".md", ".yaml", ".yml", ".txt", ".csv", ".tsv")
SOUNDS = (".wav", ".flac")
#: Sample frames that are converted at a time.
_BLOCK = 1 << 16
#: Decibels by which recordings may be made louder or quieter, at most.
_MOST_GAIN = 60
#: Largest sample that 16 bits hold, full scale being 1.
_LARGEST = 32767 / 32768


@dataclasses.dataclass(frozen=True)
class ArrayConversion(Conversion):
    """What became of a data set tree, a file of metadata or a recording.

    Args:
        clipped: samples that were cut off at full scale, in the recordings that were made.
        gain: decibels by which these are louder than the filters make them.
    """

    clipped: int = 0
    gain: float = 0.0

    def lines(self) -> Iterator[str]:
        """What was done, for people."""
        made = f"{plural(self.clips, 'recording')}, {plural(len(self.written), 'file')} written"
        yield f"{' and '.join(self.formats)} to {self.target}: {made}"
        yield from (f"  {note}" for note in self.notes)


def convert_array(
    path: Place, out: Place | BinaryIO, to: Array, *, audio: bool = False, gain: float = 0.0
) -> ArrayConversion:
    """Convert a data set tree, a file of metadata or one recording to the other array.

    A tree is written anew: labels and videos as they are, metadata repointed, the recordings of the other array
    left out. The recordings of *to* are those of the tree, which have to be there and as long as those they take
    the place of; with *audio* they are made.

    Args:
        path: a folder, a file whose text names recordings, or a recording.
        out: the folder or file to write.
        to: ``mic`` or ``foa``.
        audio: make the recordings: FOA by filters from the array's response, MIC by the plane-wave model.
        gain: decibels by which all recordings that are made become louder (or quieter, if negative), so that
            none is clipped: one factor for the set. Each of them says so in a comment.

    Returns:
        What was written, how many samples were clipped, and in its notes the gain that would have kept them.

    Raises:
        UsageError: an archive, *out* is the source itself, or a gain that is no number.
        DataError: recordings of *to* are missing or of another length, or hold no four channels.
        SeldioError: a recording cannot be read, or the disk fails.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes files: name one, or a folder, with -o")
    if not -_MOST_GAIN <= gain <= _MOST_GAIN:
        raise UsageError(f"--gain {gain:g}: choose decibels from {-_MOST_GAIN} to {_MOST_GAIN}, such as -3")
    making = _Making(to, gain)
    with open_source(path, raise_errors) as source:
        if source.kind not in ("folder", "file"):
            raise UsageError(f"--to {to} wants a folder or a file on disk: unpack the archive first")
        single = source.kind == "file" and source.entries[0].name.lower().endswith(SOUNDS)
        if gain and not (audio or single):
            raise UsageError("--gain changes the recordings that are made: add --audio")
        if source.kind == "folder":
            return _tree(source, Path(out), making, audio)
        entry = source.entries[0]
        if single:
            making.record(entry, Path(out))
            return making.done([str(out)], 1, [_quality(to)])
        return _file(source, entry, Path(out), making, audio)


def _tree(source: Source, out: Path, making: _Making, audio: bool) -> ArrayConversion:
    to = making.to
    if out.resolve() == Path(source.path).resolve():
        raise UsageError(f"{printable(str(out))} is the source: name another folder with -o")
    kept = [entry for entry in source if entry.local is None or not entry.local.is_relative_to(out.resolve())]
    own = {entry.name: entry for entry in kept if entry.name.lower().endswith(SOUNDS)}
    replaced = {name: repointed(name, to) for name in own if repointed(name, to) != name}
    if not audio:
        _check_siblings({name: (own[name], own.get(sibling)) for name, sibling in replaced.items()}, to)
    lookup = Lookup(Source(source.path, source.kind, tuple(kept)))
    rest = [entry for entry in kept if entry.name not in replaced]
    named = [pair for entry in rest for pair in _named(entry, to)]
    _check_named(named, lookup, to, made=set(replaced.values()) if audio else set())
    written = [str(_place(out, entry)) for entry in rest]
    for folder in {Path(place).parent for place in written} | {(out / name).parent for name in replaced.values()}:
        make_folder(folder)
    for entry in rest:
        if not (audio and entry.name in replaced.values()):
            _copy(entry, _place(out, entry), to)
    for name, sibling in replaced.items() if audio else ():
        making.record(own[name], out / PurePosixPath(sibling))
        written.append(str(out / sibling))
    notes = [f"{plural(len(replaced), 'recording')} of the {TITLES[OTHER[to]]} {'converted' if audio else 'left out'}"]
    if not replaced and not named:
        notes = [_nothing_to_do(len(rest), to)]
    return making.done(sorted(set(written)), len(replaced), [*notes, *([_quality(to)] if audio else [])])


def _file(source: Source, entry: Entry, out: Path, making: _Making, audio: bool) -> ArrayConversion:
    """One file of metadata; its recordings stay where they are, or are made beside the output."""
    to = making.to
    before = _recordings(entry, OTHER[to])
    lookup = Lookup(source)
    notes: list[str] = []
    written = [str(out)]
    if audio:
        for path in before:
            found = lookup.find(path, entry.name)
            if found is None:
                raise DataError(f"{printable(entry.path)} names {printable(path)}, and there is no such recording")
            target = out.parent / PurePosixPath(repointed(path, to))
            make_folder(target.parent)
            making.record(found, target)
            written.append(str(target))
        notes.append(_quality(to))
    else:
        pairs = {path: (lookup.find(path, entry.name), lookup.find(repointed(path, to), entry.name)) for path in before}
        if any(pair != (None, None) for pair in pairs.values()):
            _check_siblings({path: pair for path, pair in pairs.items() if pair[0] is not None or pair[1] is None}, to)
        elif before:
            notes.append("none of its recordings is here: not checked")
    make_folder(out.parent)
    _copy(entry, out, to)
    notes.insert(0, f"{plural(len(before), 'path')} of recordings repointed" if before else _nothing_to_do(1, to))
    return making.done(written, len(before), notes)


def _named(entry: Entry, to: Array) -> Iterator[tuple[str, str]]:
    """The repointed paths in a file of metadata, with the file's name."""
    for path in _recordings(entry, OTHER[to]):
        yield repointed(path, to), entry.name


def _recordings(entry: Entry, array: Array) -> list[str]:
    """The recordings of *array* that a file of metadata names, each once."""
    if _is_label(entry):
        return []
    if entry.name.lower().endswith(".parquet"):
        texts = texts_of(pq.read_table(io.BytesIO(entry.read())))
        return list(dict.fromkeys(path for text in texts for path in recordings(text, array)))
    if not entry.name.lower().endswith(TEXTS):
        return []
    with entry.open() as stream:
        return list(dict.fromkeys(path for line in stream for path in recordings(_text(line), array)))


def _is_label(entry: Entry) -> bool:
    """Whether a csv is made of numbers: labels name no recording."""
    return entry.name.lower().endswith(".csv") and entry.head(1) in (b"", *(b"%d" % digit for digit in range(10)))


def _copy(entry: Entry, place: Path, to: Array) -> None:
    """Write a file of the tree: metadata repointed, all else as it is."""
    name = entry.name.lower()
    if name.endswith(".parquet"):
        data = io.BytesIO()
        pq.write_table(repointed_table(pq.read_table(io.BytesIO(entry.read())), to), data)
        write_bytes(place, data.getvalue())
    elif name.endswith(TEXTS) and not _is_label(entry):
        with entry.open() as stream, atomic_write(place) as written:
            for line in stream:
                written.write(repointed(_text(line), to).encode("utf-8", "surrogateescape"))
    else:
        with entry.open() as stream, atomic_write(place) as written:
            shutil.copyfileobj(stream, written, 1 << 20)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _place(out: Path, entry: Entry) -> Path:
    return out / PurePosixPath(entry.name)


def _check_siblings(pairs: dict[str, tuple[Entry | None, Entry | None]], to: Array) -> None:
    """See that each recording has one of *to* that is as long.

    Raises:
        DataError: some have not; the message names them.
    """
    missing = [name for name, (_, sibling) in pairs.items() if sibling is None]
    if missing:
        raise DataError(
            f"{plural(len(missing), 'recording')} without sibling of the {TITLES[to]}: {listed(sorted(missing))}. "
            "--audio makes them"
        )
    for name, (own, sibling) in pairs.items():
        if own is None or sibling is None:
            continue
        one, other = probe_entry(own), probe_entry(sibling)
        if (one.frames, one.rate) != (other.frames, other.rate):
            raise DataError(
                f"{printable(name)} has {one.frames:,} frames at {one.rate:,} Hz and its sibling "
                f"{printable(sibling.name)} {other.frames:,} at {other.rate:,} Hz"
            )


def _check_named(named: list[tuple[str, str]], lookup: Lookup, to: Array, made: set[str]) -> None:
    """See that what metadata will name is there, or is being made.

    Raises:
        DataError: something is not.
    """
    lost = [path for path, name in named if lookup.find(path, name) is None and not _is_made(path, made)]
    if lost and len(lost) < len(named):  # where none is here, the recordings lie elsewhere
        raise DataError(
            f"metadata would name {plural(len(lost), 'recording')} of {to} that is not there: {listed(lost)}"
        )


def _is_made(path: str, made: set[str]) -> bool:
    return path in made or any(name.endswith("/" + path) or path.endswith("/" + name) for name in made)


class _Making:
    """Makes the recordings of an array, all with one gain, and counts what was clipped."""

    def __init__(self, to: Array, gain: float) -> None:
        self.to, self._gain = to, gain
        self._made: list[tuple[str, WrittenSound]] = []

    def record(self, entry: Entry, place: Path) -> None:
        """Make a recording from that of the other array, block by block, as WAV of 16 bits.

        Raises:
            DataError: it has not four channels.
            SeldioError: it cannot be read.
        """
        try:
            found = probe_entry(entry)
            if found.channels != 4:
                there = plural(found.channels, "channel")
                raise DataError(f"{printable(entry.path)} has {there}; an array recording has 4")
            with entry.open() as stream, Decoder(stream) as decoder, atomic_write(place) as written:
                blocks = (
                    decoder.read(start, min(_BLOCK, found.frames - start)) for start in range(0, found.frames, _BLOCK)
                )
                factor = 10 ** (self._gain / 20)
                louder = (block * factor for block in encode(blocks, found.rate, self.to))
                comment = f"seldio convert --to {self.to} --gain {self._gain:g} (dB)" if self._gain else ""
                self._made.append((entry.name, write_blocks(written, louder, found.rate, comment)))
        except NotAudio as error:
            raise SeldioError(f"{printable(entry.path)}: {error}") from error

    def done(self, written: list[str], number: int, notes: list[str]) -> ArrayConversion:
        """What was done, with *notes* on *number* recordings and the *written* files."""
        notes = [*notes, *self._clipping()]
        if self._gain and self._made:
            notes.append(f"gain {self._gain:+g} dB in every recording that was made; a comment in each file says so")
        clipped = sum(each.clipped for _, each in self._made)
        return ArrayConversion(
            (OTHER[self.to],), self.to, number, tuple(written), number, (number, number), {}, tuple(notes), (),
            clipped, self._gain,
        )  # fmt: skip

    def _clipping(self) -> Iterator[str]:
        those = [(name, each) for name, each in self._made if each.clipped]
        if not those:
            return
        clipped, samples = sum(each.clipped for _, each in those), sum(each.samples for _, each in self._made)
        loudest, most = max(those, key=lambda pair: pair[1].peak)
        beyond = 20 * math.log10(most.peak / _LARGEST)
        safe = self._gain - math.ceil(10 * beyond) / 10
        where = f"{len(those):,} of {plural(len(self._made), 'recording')}"
        yield (
            f"clipped: {clipped:,} of {plural(samples, 'sample')} in {where}, by up to {beyond:.1f} dB "
            f"({printable(loudest)}); --gain {safe:.1f} keeps all of them, with one factor for the whole set"
        )


def _nothing_to_do(files: int, to: Array) -> str:
    """Why files are copied and nothing more: labels have directions, which are those of both arrays."""
    return (
        f"no recording of the {TITLES[OTHER[to]]}, and nothing that names one: labels are the same for both arrays, "
        f"so {plural(files, 'file')} {'was' if files == 1 else 'were'} copied without a change"
    )


def _quality(to: Array) -> str:
    how = "a plane-wave model" if to == "mic" else "filters from the array's response"
    return (
        f"recordings made by {how}: directions are right within some degrees up to the 1 kHz octave and grow wrong "
        "above, as four capsules alias (docs/arrays.md has the measured errors); recorded siblings are better"
    )
