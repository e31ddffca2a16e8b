"""What windows go through: clips with their lengths, or questions, each with its recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

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


class WindowSource(NamedTuple):
    """A clip with its label frames, the last one perhaps not full, its chosen recordings and its video.

    Of a question, all recordings that it is about.
    """

    clip: str = ""
    frames: int = 0
    recordings: tuple[Entry, ...] = ()
    video: Entry | None = None
    length: tuple[int, int] | None = None  # of the chosen recordings of a clip: frames and frames per second


class SoundFacts(NamedTuple):
    """What the header of a recording says: frames that are there, frames per second, and the kind of samples."""

    frames: int
    rate: int
    subtype: str


@dataclass(frozen=True)
class ClipSources(Sequence[WindowSource]):
    """Clips, column by column."""

    clips: Sequence[str]
    frames: Ints  # label frames of each
    recordings: Sequence[Sequence[Entry | None]]  # of each array that is heard those of all clips; None without
    videos: Sequence[Entry | None]
    lengths: Ints  # frames and rate of the recordings that are heard, in all arrays, shape (clips, 2); 0 without

    def __len__(self) -> int:
        return len(self.clips)

    @overload
    def __getitem__(self, number: int) -> WindowSource: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[WindowSource]: ...
    def __getitem__(self, number: int | slice) -> WindowSource | Sequence[WindowSource]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        heard = tuple(entry for array in self.recordings if (entry := array[number]) is not None)
        length = tuple(self.lengths[number].tolist()) if heard else None
        return WindowSource(self.clips[number], int(self.frames[number]), heard, self.videos[number], length)


def clip_sources(
    dataset: Dataset, audio: Arrays, video: bool, target: str | None, hop: Fraction, rate: int | None, dtype: str
) -> ClipSources:
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
    table, names = dataset.rows.table, dataset.rows.column("name").to_pylist()
    heard = [_first(table, fields) for fields in arrays] if audio is not None else []
    seen = table["video"] if video else pa.nulls(len(names), pa.string())
    lacks = {}
    for name, paths in zip(wanted, heard, strict=False):
        lacks[f"recording ({name})"] = paths.is_null()
    if video:
        lacks["video"] = seen.is_null()
    if target is not None:
        labelled = set(dataset.events)
        lacks["labels"] = pa.array([name not in labelled for name in names], pa.bool_())
    if lacking := [number for lack in lacks.values() if (number := pc.index(lack, True).as_py()) >= 0]:
        missing = [what for what, lack in lacks.items() if lack[min(lacking)].as_py()]
        raise DataError(
            f"clip {printable(names[min(lacking)])} has no {' and no '.join(missing)}: "
            "ask for less, or select() other clips"
        )
    lengths = np.zeros((0, 2), np.int64)
    for place, fields in enumerate(arrays):
        facts = _facts(dataset, fields)
        if audio is not None:
            _check(names, facts, rate, dtype)
        if wanted[place] in ("foa", "mic"):
            _check_arrays(dataset.find_all(heard[place]), "foa" if wanted[place] == "foa" else "mic")
        before, lengths = lengths, np.stack([facts[key].fill_null(0).to_numpy() for key in ("frames", "rate")], axis=1)
        if place and (differ := np.flatnonzero((before != lengths).any(axis=1))).size:
            here, there = (f"{frames:,} samples at {hz:,} Hz" for frames, hz in (before[differ[0]], lengths[differ[0]]))
            raise DataError(
                f"clip {printable(names[differ[0]])} has {here} in one recording and {there} in {wanted[place]}: they "
                "do not fit in one window"
            )
    frames = -(-(lengths[:, 0] * hop.denominator) // np.maximum(lengths[:, 1] * hop.numerator, 1))
    for number in np.flatnonzero(lengths[:, 1] == 0).tolist():
        frames[number] = _length(dataset, names[number], dataset.media[names[number]])
    return ClipSources(names, frames, [dataset.find_all(paths) for paths in heard], dataset.find_all(seen), lengths)


def _first(table: pa.Table, fields: Sequence[str]) -> pa.ChunkedArray:
    """Return the first path of each clip in *fields*."""
    return pc.coalesce(*(table[field] for field in fields))


def _facts(dataset: Dataset, arrays: Sequence[str]) -> pa.Table:
    """Read the headers of the first recording in *arrays* of each clip; its row is null without one."""
    recordings = dataset.find_all(_first(dataset.rows.table, arrays))
    entries = [entry for entry in recordings if entry is not None]
    what = "reading headers" if entries else None
    headers = parallel_map(sound_facts, entries, batch=64, what=what, here=packed(entries))
    rows = [None if entry is None else next(headers) for entry in recordings]
    columns = {name: [None if row is None else getattr(row, name) for row in rows] for name in SoundFacts._fields}
    return pa.table({name: pa.array(column, _FACT_TYPES[name]) for name, column in columns.items()})


#: The Arrow types of the fields of :class:`SoundFacts`.
_FACT_TYPES = {"frames": pa.int64(), "rate": pa.int64(), "subtype": pa.string()}


def _check(names: Sequence[str], facts: pa.Table, rate: int | None, dtype: str) -> None:
    """Refuse sound that cannot be given at *rate* or as *dtype*."""
    others = pc.invert(pc.is_in(facts["subtype"], pa.array(sorted(IN_16_BITS))))
    if dtype == "int16" and (number := pc.index(others, True).as_py()) >= 0:
        raise DataError(f"clip {printable(names[number])} {not_in_16_bits(facts['subtype'][number].as_py())}")
    if rate is not None and pc.any(pc.not_equal(facts["rate"], rate)).as_py():
        resampler()  # so that what is missing is said now, and not by a worker


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
    return SoundFacts(found.frames, found.rate, found.subtype)


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


def question_sources(dataset: Dataset, audio: Arrays) -> list[WindowSource]:
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
        return [WindowSource()] * len(dataset.items)
    found = []
    for item, file in dataset.items.rows:
        entries = [dataset.find(path, file) for path in item.audio]
        if None in entries:
            raise DataError(
                f"question {printable(item.id)} is about {printable(item.audio[entries.index(None)])}, which is "
                f"missing ({plural(len(dataset.items), 'question')}): use audio=None for the texts alone"
            )
        found.append(WindowSource(recordings=tuple(entry for entry in entries if entry is not None)))
    return found
