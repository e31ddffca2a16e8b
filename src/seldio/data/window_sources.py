"""What windows go through: clips with their lengths, or questions, each with its recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from seldio import clock
from seldio.data.clip_media import ClipMedia
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.files.entries import packed
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.recording import IN_16_BITS, not_in_16_bits
from seldio.media.resampling import resampler
from seldio.parallel import parallel_map
from seldio.schema.arrays import pc
from seldio.schema.clips import RECORDINGS
from seldio.schema.events import origin_of
from seldio.text import plural, printable

if TYPE_CHECKING:
    from seldio.data.dataset import Dataset
    from seldio.media.arrays import Format

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: The recordings of a clip that are asked for, by their arrays.
Arrays: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True)
class WindowSources:
    """What windows go through, column by column: clips, or questions, of which only recordings are known."""

    recordings: Sequence[tuple[Entry, ...]]  # that are heard
    clips: Sequence[str] = ()
    frames: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # label frames, the last one perhaps not full
    videos: Sequence[Entry | None] = ()
    #: frames and rate of the recordings that are heard, shape (clips, 2); 0 without
    lengths: Ints = field(default_factory=lambda: np.zeros((0, 2), np.int64))


class SoundFacts(NamedTuple):
    """What the header of a recording says: frames that are there, frames per second, channels, kind of samples."""

    frames: int = 0
    rate: int = 0
    channels: int = 0
    subtype: str = ""


def clip_sources(
    dataset: Dataset, audio: Arrays, video: bool, target: str | None, hop: Fraction, rate: int | None, dtype: str
) -> WindowSources:
    """The clips of a dataset, in their order.

    Args:
        dataset: has them.
        audio: the recording that is heard, ``any`` for the first one that there is; several for all of them; None for
            none.
        video: whether a video is needed.
        target: labels are needed where it is not None.
        hop: seconds of a label frame.
        rate: that sound will have; None for that of each file.
        dtype: that sound will have.

    Raises:
        UsageError: there are none, or no such recordings.
        DataError: a clip has not what is needed, recordings that are not equally long, or samples that int16 does not
            hold as they are.
        MissingLibrary: a recording has to be resampled, and soxr is not installed.
    """
    wanted = (audio,) if audio is None or isinstance(audio, str) else tuple(audio)
    if unknown := [name for name in wanted if name not in (None, "any", *RECORDINGS)]:
        raise UsageError(
            f"unknown recordings {unknown[0]!r}; choose from any, {', '.join(RECORDINGS)}, or None for no audio"
        )
    if not wanted or len(set(wanted)) < len(wanted) or (len(wanted) > 1 and {None, "any"} & set(wanted)):
        raise UsageError(f"audio={audio!r}: name each of the recordings once, such as audio=('foa', 'mic')")
    if not dataset.rows:
        raise UsageError(
            "there are no clips to make windows from" + ("; use items=True for the questions" * bool(dataset.items))
        )
    arrays = [RECORDINGS if name in (None, "any") else (name,) for name in wanted]
    rows = dataset.rows
    names = rows.column("name").to_pylist()
    arrays = [RECORDINGS if name in (None, "any") else (name,) for name in wanted]
    recordings = [dataset.find_all(_first(rows.table, fields)) for fields in arrays]
    videos = dataset.find_all(rows.table["video"]) if video else [None] * len(names)
    labelled = set(dataset.events) if target is not None else set(names)
    for number, name in enumerate(names):
        missing = [f"recording ({array})" for array, entries in zip(wanted, recordings, strict=True)
                   if audio is not None and entries[number] is None]  # fmt: skip
        missing += ["video"] * (video and videos[number] is None) + ["labels"] * (name not in labelled)
        if missing:
            raise DataError(
                f"clip {printable(name)} has no {' and no '.join(missing)}: ask for less, or select() other clips"
            )
    lengths = np.zeros((len(names), 2), np.int64)
    for array, entries in zip(wanted, recordings, strict=True):
        facts = _facts(entries)
        if audio is not None:
            _check(names, facts, rate, dtype)
            _check_channels(rows.table, entries, facts)
        if array in ("foa", "mic"):
            _check_arrays(entries, "foa" if array == "foa" else "mic")
        before, lengths = lengths, np.array([fact[:2] for fact in facts], np.int64).reshape(-1, 2)
        if array != wanted[0] and (differ := np.flatnonzero((before != lengths).any(axis=1))).size:
            here, there = (f"{frames:,} samples at {hz:,} Hz" for frames, hz in (before[differ[0]], lengths[differ[0]]))
            raise DataError(
                f"clip {printable(names[differ[0]])} has {here} in one recording and {there} in {array}: they do not "
                "fit in one window"
            )
    frames = -(-(lengths[:, 0] * hop.denominator) // np.maximum(lengths[:, 1] * hop.numerator, 1))
    for number in np.flatnonzero(lengths[:, 1] == 0).tolist():
        frames[number] = _length(dataset, names[number], dataset.media[names[number]])
    heard = [tuple(filter(None, entries)) for entries in zip(*recordings, strict=True)]
    return WindowSources(heard if audio is not None else [()] * len(names), names, frames, videos, lengths)


def _first(table: pa.Table, fields: Sequence[str]) -> pa.ChunkedArray:
    """Return the first path of each clip in *fields*."""
    return pc.coalesce(*(table[field] for field in fields))


def _facts(recordings: Sequence[Entry | None]) -> list[SoundFacts]:
    """Read the headers of recordings."""
    entries = [entry for entry in recordings if entry is not None]
    what = "reading headers" if entries else None
    headers = parallel_map(sound_facts, entries, batch=64, what=what, here=packed(entries))
    return [SoundFacts() if entry is None else next(headers) for entry in recordings]


def _check(names: Sequence[str], facts: Sequence[SoundFacts], rate: int | None, dtype: str) -> None:
    """Refuse sound that cannot be given at *rate* or as *dtype*."""
    for name, fact in zip(names, facts, strict=True):
        if dtype == "int16" and fact.subtype not in IN_16_BITS:
            raise DataError(f"clip {printable(name)} {not_in_16_bits(fact.subtype)}")
    if rate is not None and any(fact.rate != rate for fact in facts):
        resampler()  # so that what is missing is said now, and not by a worker


def _check_channels(table: pa.Table, recordings: Sequence[Entry | None], facts: Sequence[SoundFacts]) -> None:
    """Refuse recordings in the places of FOA and MIC that have not four channels."""
    arrays = {path: field.upper() for field in ("foa", "mic") for path in table[field].to_pylist()}
    for entry, fact in zip(recordings, facts, strict=True):
        if entry is not None and entry.name in arrays and fact.channels != 4:
            raise DataError(
                f"{printable(entry.path)} has {plural(fact.channels, 'channel')}, but {arrays[entry.name]} has 4: use "
                "the original recording, or audio=None for no sound"
            )


#: Recordings of a dataset that are listened to, to see that they are of the array that is asked for.
_LISTENED = 8


def _check_arrays(recordings: Sequence[Entry | None], array: Format) -> None:
    """Refuse recordings that sound like another array: a few of them, from all over the dataset, tell."""
    from seldio.media.heard import array_heard, check_heard

    step = -(-len(recordings) // _LISTENED)
    found = (array_heard(entry) for entry in recordings[::step] if entry is not None)
    check_heard(
        (one._replace(named=array) for one in found if one is not None),
        'the folders hold the wrong files; audio="any" takes them as they are',
    )


def sound_facts(entry: Entry) -> SoundFacts:
    """What the header of a recording says."""
    try:
        found = probe_entry(entry)
    except NotAudio as error:
        raise NotAudio(f"{printable(entry.path)} cannot be read as audio: {error.text}") from error
    header = found.header
    if not found.frames and header is not None and header.rest >= header.block * header.rate * clock.HOP:
        raise NotAudio(
            f"{printable(entry.path)} says in its header that it has no sound, but {header.rest:,} bytes follow: the "
            "recorder was cut off; write the header again"
        )
    return SoundFacts(found.frames, found.rate, found.channels, found.subtype)


def _length(dataset: Dataset, name: str, media: ClipMedia) -> int:
    """Label frames of a clip without a recording: of its video, or up to the last label."""
    hop = dataset.events.hop
    if "video" in media.files:
        with media.video as video:
            return -int(-(video.start + video.duration) / hop // 1)
    table = dataset.events[name]
    stated = dataset.events.format(name).clip_frames or next(
        (file.frames for file in origin_of(table).files if file.clip == name), None
    )
    ends = [frame + 1 for frame in table["frame"].to_pylist()] if "frame" in table.column_names else []
    if "offset" in table.column_names:
        ends += [clock.frames_between(0, end, hop).stop for end in table["offset"].to_pylist()]
    return int(max(stated or 0, *ends, 0))


def question_sources(dataset: Dataset, audio: Arrays) -> WindowSources:
    """The questions with their recordings.

    Raises:
        UsageError: there are none, or recordings are asked for by their array.
        DataError: a recording is missing.
    """
    if audio not in (None, "any"):
        raise UsageError("questions name their recordings themselves: audio='any', or None for no audio")
    if not dataset.items:
        raise UsageError("there are no questions")
    if audio is None:
        return WindowSources([()] * len(dataset.items))
    heard = []
    for item, file in dataset.items.rows:
        entries = [dataset.find(path, file) for path in item.audio]
        if None in entries:
            raise DataError(
                f"question {printable(item.id)} is about {printable(item.audio[entries.index(None)])}, which is "
                f"missing ({plural(len(dataset.items), 'question')}): use audio=None for the texts alone"
            )
        heard.append(tuple(entry for entry in entries if entry is not None))
    return WindowSources(heard)
