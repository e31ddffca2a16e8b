"""From one microphone array to the other: recordings, and every text that names or describes them."""

from __future__ import annotations

import dataclasses
import io
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from seldio.catalogues.look import begins_like_numbers
from seldio.conversion.report import Conversion
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, in_the_way, make_folder, open_source, write_bytes
from seldio.files.entries import packed
from seldio.files.names import is_csv, is_lossless, suffix_of
from seldio.files.sources import Lookup
from seldio.findings import raise_errors
from seldio.formats.parquet import guarded
from seldio.media.audio import Decoder, NotAudio, WrittenSound, probe_entry, write_blocks
from seldio.media.encoding import encode
from seldio.media.heard import SHORT, ArrayHeard, array_heard, check_heard, renamed
from seldio.parallel import parallel_map
from seldio.text import listed, plural, printable

Array = Literal["foa", "mic"]
OTHER: dict[Array, Array] = {"foa": "mic", "mic": "foa"}
#: The channels of each array, in their order.
CHANNELS: dict[Array, tuple[str, ...]] = {"foa": ("W", "Y", "Z", "X"), "mic": ("M1", "M2", "M3", "M4")}
#: What each array is called.
TITLES: dict[Array, str] = {"foa": "first-order Ambisonics", "mic": "tetrahedral microphone array"}
#: Names of keys whose value may be the name of the array.
_KEYS = r"array|array_format|audio_format|channel_format|spatial_format|microphone_format|format"
_MARK = r"[^\s\"'`,;|<>()\[\]{}/\\]*"

Place = str | os.PathLike[str]
#: Files whose text may name recordings; labels and sound are none of them.
TEXTS = ("json", "jsonl", "md", "yaml", "yml", "txt", "csv", "tsv")
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
    """What became of a dataset tree, a file of metadata or a recording."""

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
    """Convert a dataset tree, a file of metadata or one recording to the other array.

    A tree is written anew: labels and videos as they are, metadata repointed, the recordings of the other array
    left out. The recordings of *to* are those of the tree, which have to be there and as long as those they take
    the place of; with *audio* they are made. Which array recordings are of, their names say and their sound must not
    contradict; where neither does, *said* does.
    """
    if not isinstance(out, str | os.PathLike):
        raise UsageError(f"--to {to} writes files: use -o FILE or -o FOLDER")
    if not -_MOST_GAIN <= gain <= _MOST_GAIN:
        raise UsageError(f"--gain {gain:g}: choose decibels from {-_MOST_GAIN} to {_MOST_GAIN}, such as -3")
    work = MakingRecording(to, gain)
    with open_source(path, raise_errors) as source:
        if source.kind not in ("folder", "file"):
            raise UsageError(f"--to {to} needs a folder or a file on disk: unpack the archive first")
        single = source.kind == "file" and is_lossless(source.entries[0].name)
        if gain and not (audio or single):
            raise UsageError("--gain applies to converted recordings: add --audio")
        if source.kind == "folder":
            return _tree(source, Path(out), work, audio, said)
        entry = source.entries[0]
        if single:
            above = "/".join(Path(source.path).absolute().parts[-3:-1])
            heard = _arrays({entry.name: entry}, above, said, first=True)
            if any(one.named == to for one in heard.values()):
                raise DataError(
                    f"{printable(source.path)} is a recording of {SHORT[to]} already: --to {OTHER[to]} converts it"
                )
            made = [work(RecordingToMake(entry, str(out)))]
            return _report(work, made, [str(out)], 1, [_quality(to), *_untold(heard)])
        return _file(source, entry, Path(out), work, audio)


def _tree(source: Source, out: Path, work: MakingRecording, audio: bool, said: Array | None) -> ArrayConversion:
    to = work.to
    if out.resolve() == Path(source.path).resolve():
        raise UsageError(f"{printable(str(out))} is the source: choose another folder with -o")
    kept = [entry for entry in source if entry.local is None or not entry.local.is_relative_to(out.resolve())]
    own = {entry.name: entry for entry in kept if is_lossless(entry.name)}
    replaced = {name: repointed(name, to) for name in own if repointed(name, to) != name}
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
    replaced |= {name: renamed(name, to) for name in alike}
    lookup = Lookup(Source(source.path, source.kind, tuple(kept)))
    rest = [entry for entry in kept if entry.name not in replaced]
    named = [(repointed(path, to), entry.name) for entry in rest for path in _recordings(entry, OTHER[to])]
    _check_named(named, lookup, to, made=set(replaced.values()) if audio else set())
    written = [str(out / PurePosixPath(entry.name)) for entry in rest]
    for name in (*(entry.name for entry in rest), *replaced.values()):
        in_the_way(out / name, out)
    for entry in rest:
        if not (audio and entry.name in replaced.values()):
            _copy(entry, out / PurePosixPath(entry.name), to, out)
    made = _made(work, [(own[name], out / PurePosixPath(sibling)) for name, sibling in replaced.items() if audio], out)
    written += [str(out / sibling) for sibling in replaced.values() if audio]
    notes = [f"{plural(len(replaced), f'{TITLES[OTHER[to]]} recording')} {'converted' if audio else 'left out'}"]
    if not replaced and not named:
        notes = [_nothing_to_do(len(rest), to)]
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


def _check_array(entry: Entry | None, path: str) -> None:
    """See that a recording, if it is there, sounds like the array that its *path* in a file of metadata names."""
    if entry is not None and (heard := array_heard(entry, path)) is not None:
        check_heard([heard], _WRONG)


def _file(source: Source, entry: Entry, out: Path, work: MakingRecording, audio: bool) -> ArrayConversion:
    """One file of metadata; its recordings stay where they are, or are made next to the output."""
    to = work.to
    before = _recordings(entry, OTHER[to])
    lookup = Lookup(source)
    notes: list[str] = []
    wanted: list[tuple[Entry, Path]] = []
    if audio:
        for path in before:
            found = lookup.find(path, entry.name)
            if found is None:
                raise DataError(f"{printable(entry.path)} names the recording {printable(path)}, which does not exist")
            _check_array(found, path)
            wanted.append((found, out.parent / PurePosixPath(repointed(path, to))))
            in_the_way(wanted[-1][1], out.parent)
        notes.append(_quality(to))
    else:
        pairs = {path: (lookup.find(path, entry.name), lookup.find(repointed(path, to), entry.name)) for path in before}
        for path, (_, sibling) in pairs.items():
            _check_array(sibling, repointed(path, to))
        if any(pair != (None, None) for pair in pairs.values()):
            _check_siblings({path: pair for path, pair in pairs.items() if pair[0] is not None or pair[1] is None}, to)
        elif before:
            notes.append("none of its recordings is here, so they are not checked")
    made = _made(work, wanted, out.parent)
    make_folder(out.parent)
    _copy(entry, out, to)
    notes.insert(0, f"{plural(len(before), 'recording path')} updated" if before else _nothing_to_do(1, to))
    return _report(work, made, [str(out), *(str(place) for _, place in wanted)], len(before), notes)


def _recordings(entry: Entry, array: Array) -> list[str]:
    """The recordings of *array* that a file of metadata names, each once."""
    held = _holds(entry)
    if held == "table":
        texts = texts_of(_table(entry))
        return list(dict.fromkeys(path for text in texts for path in recordings(text, array)))
    if held is None:
        return []
    with entry.open() as stream:
        return list(dict.fromkeys(path for line in stream for path in recordings(_text(line), array)))


def _table(entry: Entry) -> pa.Table:
    """The rows of a Parquet file.

    Raises:
        InvalidData: it is none, or a damaged one.
    """
    table = guarded(entry.read(), entry.path, raise_errors, lambda file: file.read())
    assert table is not None  # errors are raised
    return table


def _holds(entry: Entry) -> Literal["table", "text"] | None:
    """How a file of metadata may name recordings; None for labels, which are made of numbers, and for all others."""
    if (suffix := suffix_of(entry.name)) == "parquet":
        return "table"
    numbers = is_csv(entry.name) and (not entry.size or begins_like_numbers(entry))
    return "text" if suffix in TEXTS and not numbers else None


def _copy(entry: Entry, place: Path, to: Array, below: Path | None = None) -> None:
    """Write a file of the tree that is *below* a folder: metadata repointed, all else as it is."""
    held = _holds(entry)
    if held == "table":
        data = io.BytesIO()
        pq.write_table(repointed_table(_table(entry), to), data)
        write_bytes(place, data.getvalue(), below)
    elif held == "text":
        with entry.open() as stream, atomic_write(place, below) as written:
            for line in stream:
                written.write(repointed(_text(line), to).encode("utf-8", "surrogateescape"))
    else:
        with entry.open() as stream, atomic_write(place, below) as written:
            shutil.copyfileobj(stream, written, 1 << 20)


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


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


def _check_named(named: list[tuple[str, str]], lookup: Lookup, to: Array, made: set[str]) -> None:
    """See that what metadata will name is there, or is being made."""
    lost = [
        path for path, name in named
        if lookup.find(path, name) is None and path not in made
        and not any(one.endswith("/" + path) or path.endswith("/" + one) for one in made)
    ]  # fmt: skip
    if lost and len(lost) < len(named):  # where none is here, the recordings lie elsewhere
        raise DataError(f"metadata would name {plural(len(lost), f'missing {to} recording')}: {listed(lost)}")


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
        f"no {TITLES[OTHER[to]]} recording, and nothing that names one: labels are the same for both arrays, "
        f"so {plural(files, 'file')} {'was' if files == 1 else 'were'} copied unchanged"
    )


def _quality(to: Array) -> str:
    how = "a plane-wave model" if to == "mic" else "filters from the array's response"
    return (
        f"recordings converted with {how}: directions are accurate to a few degrees up to the 1 kHz octave and get "
        "worse above, where four capsules alias (measured errors: docs/concepts/channels.md); original recordings "
        "are better"
    )


# --- texts -----------------------------------------------------------------------------------------------------------


def repointed(text: str, to: Array) -> str:
    """*text* with paths to recordings of the other array, its channels and its name replaced by those of *to*.

    A path has a folder ``foa`` or ``foa_…`` (``mic`` in the same way), or a recording whose name begins with it.
    Everything else stays as it is, to the letter.
    """
    source = OTHER[to]
    text = _folders(source).sub(to, text)
    channels = r"(?<!\w)" + r"(\W{1,4})".join(CHANNELS[source]) + r"(?!\w)"  # one after the other, quoted or not
    names = dict(zip(CHANNELS[source], CHANNELS[to], strict=True))
    text = re.sub(channels, lambda all: re.sub(r"\w+", lambda one: names[one.group()], all.group()), text)
    # the array's name as the value of a key, in json and yaml
    value = rf"((?<!\w)[\"']?(?:{_KEYS})[\"']?\s*[:=]\s*[\"']?)({source})(?![\w/-])"
    text = re.sub(value, lambda match: match.group(1) + _cased(match.group(2), to), text, flags=re.IGNORECASE)
    return re.sub(re.escape(TITLES[source]), lambda match: _cased(match.group(), TITLES[to]), text, flags=re.IGNORECASE)


def recordings(text: str, array: Array) -> list[str]:
    """The paths in *text* that lead to a recording of *array*."""
    pattern = rf"{_MARK}(?:/{_MARK})*\.(?:wav|flac)(?![\w])"
    return [path for path in re.findall(pattern, text) if _folders(array).search(path)]


def repointed_table(table: pa.Table, to: Array) -> pa.Table:
    """*table* with all its texts repointed; its types and metadata stay."""

    def changed(column: pa.ChunkedArray) -> pa.ChunkedArray:
        values = _mapped(column.to_pylist(), lambda text: repointed(text, to))
        return pa.chunked_array([pa.array(values, column.type)])

    columns = [changed(column) if _textual(column.type) else column for column in table.columns]
    return pa.table(columns, schema=table.schema)


def texts_of(table: pa.Table) -> list[str]:
    """All texts of *table*, wherever they are."""
    found: list[str] = []

    def collect(text: str) -> str:
        found.append(text)
        return text

    for column in table.columns:
        if _textual(column.type):
            _mapped(column.to_pylist(), collect)
    return found


def _textual(type: pa.DataType) -> bool:
    """Whether a column may hold texts."""
    if pa.types.is_dictionary(type):
        return _textual(type.value_type)
    nested = [type.field(number).type for number in range(type.num_fields)]
    return pa.types.is_string(type) or pa.types.is_large_string(type) or any(map(_textual, nested))


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """*value* with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(part, change) for part in value]
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    return value


def _folders(array: Array) -> re.Pattern[str]:
    """The word in paths: a folder ``foa`` or ``foa_…``, or the beginning of a recording's name."""
    return re.compile(rf"(?<![\w-]){array}(?=(?:_{_MARK})?[/\\]|_(?:dev|eval)\b|_{_MARK}\.(?:wav|flac)\b)")


def _cased(like: str, word: str) -> str:
    """*word* in capitals where *like* is, or with a capital."""
    if like.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if like[0].isupper() else word
