"""What windows go through: clips with their lengths, or questions, each with its recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from seldio import clock
from seldio.data.clip_media import ClipMedia
from seldio.engines import each
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.recording import IN_16_BITS, not_in_16_bits
from seldio.media.resampling import resampler
from seldio.schema.clips import RECORDINGS
from seldio.schema.events import origin_of
from seldio.text import plural, printable

if TYPE_CHECKING:
    from seldio.data.dataset import Dataset

Ints = np.ndarray[Any, np.dtype[np.int64]]


class WindowSource(NamedTuple):
    """A clip with its label frames, the last one perhaps not full, its chosen recording and its video.

    Of a question, all recordings that it is about.
    """

    clip: str = ""
    frames: int = 0
    recordings: tuple[Entry, ...] = ()
    video: Entry | None = None


class SoundFacts(NamedTuple):
    """What the header of a recording says: frames that are there, frames per second, and the kind of samples."""

    frames: int
    rate: int
    subtype: str

    def label_frames(self, hop: Fraction) -> int:
        """How many label frames it has, the last one perhaps not full."""
        return -int(-(Fraction(self.frames, self.rate) / hop) // 1)


@dataclass(frozen=True)
class ClipSources(Sequence[WindowSource]):
    """Clips, column by column."""

    clips: Sequence[str]
    frames: Ints  # label frames of each
    recordings: Sequence[Entry | None]  # those that are heard; None without
    videos: Sequence[Entry | None]
    facts: Sequence[SoundFacts | None]  # of the recordings that are heard

    def __len__(self) -> int:
        return len(self.clips)

    @overload
    def __getitem__(self, number: int) -> WindowSource: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[WindowSource]: ...
    def __getitem__(self, number: int | slice) -> WindowSource | Sequence[WindowSource]:
        if isinstance(number, slice):
            return [self[one] for one in range(len(self))[number]]
        recording = self.recordings[number]
        heard = () if recording is None else (recording,)
        return WindowSource(self.clips[number], int(self.frames[number]), heard, self.videos[number])

    def check(self, rate: int | None, dtype: str) -> None:
        """Refuse sound that cannot be given at *rate* or as *dtype*.

        Raises:
            DataError: a recording has samples that int16 does not hold as they are.
            MissingLibrary: a recording has to be resampled, and soxr is not installed.
        """
        for clip, facts in zip(self.clips, self.facts, strict=True):
            if facts is not None and dtype == "int16" and facts.subtype not in IN_16_BITS:
                raise DataError(f"clip {printable(clip)} {not_in_16_bits(facts.subtype)}")
        if rate is not None and any(facts is not None and facts.rate != rate for facts in self.facts):
            resampler()  # so that what is missing is said now, and not by a worker


def clip_sources(dataset: Dataset, audio: str | None, video: bool, target: str | None, hop: Fraction) -> ClipSources:
    """The clips of a dataset, in their order.

    Args:
        dataset: has them.
        audio: the recording that is heard, ``any`` for the first one that there is; None for none.
        video: whether a video is needed.
        target: labels are needed where it is not None.
        hop: seconds of a label frame.

    Raises:
        UsageError: there are none, or no such recordings.
        DataError: a clip has not what is needed.
    """
    if audio not in (None, "any", *RECORDINGS):
        raise UsageError(
            f"unknown recordings {audio!r}; choose from any, {', '.join(RECORDINGS)}, or None for no audio"
        )
    if not dataset.media:
        raise UsageError(
            "there are no clips to make windows from" + ("; use items=True for the questions" * bool(dataset.items))
        )
    arrays = RECORDINGS if audio is None or audio == "any" else (audio,)
    chosen: list[tuple[str, ClipMedia, Entry | None]] = []
    for name, media in dataset.media.items():
        recording = media.entry(arrays)
        lacks = {
            f"recording ({audio})": audio is not None and recording is None,
            "video": video and "video" not in media.files,
            "labels": target is not None and name not in dataset.events,
        }
        if missing := [what for what, lacking in lacks.items() if lacking]:
            raise DataError(
                f"clip {printable(name)} has no {' and no '.join(missing)}: ask for less, or select() other clips"
            )
        chosen.append((name, media, recording))
    sounds = [recording or media.entry() for _, media, recording in chosen]
    known = [entry for entry in sounds if entry is not None]
    headers = each(
        sound_facts, known, batch=64, what="reading headers", key=attrgetter("stamp"),
        here=not all(entry.on_disk for entry in known),
    )  # fmt: skip
    facts = [next(headers) if entry is not None else None for entry in sounds]
    frames = [
        fact.label_frames(hop) if fact is not None else _length(dataset, name, media)
        for (name, media, _), fact in zip(chosen, facts, strict=True)
    ]
    return ClipSources(
        [name for name, _, _ in chosen],
        np.array(frames, np.int64),
        [recording if audio is not None else None for _, _, recording in chosen],
        [media.files.get("video") if video else None for _, media, _ in chosen],
        facts if audio is not None else [None] * len(facts),
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


def question_sources(dataset: Dataset, audio: str | None) -> list[WindowSource]:
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
