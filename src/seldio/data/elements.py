"""Which files the elements of a data set are made of, found once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from seldio import clock
from seldio.data.media import ARRAYS, ClipMedia, open_video
from seldio.errors import DataError, UsageError
from seldio.files import Entry
from seldio.media.audio import NotAudio, probe_entry
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.text import plural, printable

if TYPE_CHECKING:
    from seldio.data.opened import Dataset


@dataclass(frozen=True, slots=True)
class ClipFiles:
    """The files of an element.

    Args:
        clip: the name of the clip.
        frames: label frames of the clip, the last one perhaps not full.
        recordings: the chosen one; of a question, all that it is about.
        video: the video.
    """

    clip: str
    frames: int = 0
    recordings: tuple[Entry, ...] = ()
    video: Entry | None = None

    @property
    def audio(self) -> Entry | None:
        """The first recording."""
        return self.recordings[0] if self.recordings else None


def clip_files(dataset: Dataset, audio: str | None, video: bool, target: str | None) -> list[ClipFiles]:
    """The files of each clip.

    Raises:
        UsageError: there are no clips, or there is no such array.
        DataError: a clip has no recording, video or labels, and such were asked for.
        NotAudio: a recording cannot be read as audio.
    """
    if audio not in (None, "any", *ARRAYS):
        raise UsageError(f"no recordings {audio!r}; there are any, {', '.join(ARRAYS)}, and None for no sound")
    if not dataset.media:
        raise UsageError("there is no clip to make windows of" + ("; items=True: the questions" * bool(dataset.items)))
    hop = dataset.events.hop if target is not None else clock.HOP
    found = []
    for name, media in dataset.media.items():
        recording = _recording(media, audio)
        missing = [
            what for what, lacks in (
                (f"recording ({audio})", audio is not None and recording is None),
                ("video", video and "video" not in media.files),
                ("labels", target is not None and name not in dataset.events),
            ) if lacks
        ]  # fmt: skip
        if missing:
            raise DataError(
                f"clip {printable(name)} has no {' and no '.join(missing)}: ask for less, or select() others"
            )
        known = recording or _recording(media, "any")
        frames = _sound_frames(known, hop) if known is not None else _length(dataset, name, media)
        sounds = (recording,) if audio is not None and recording is not None else ()
        found.append(ClipFiles(name, frames, sounds, media.files.get("video") if video else None))
    return found


def _recording(media: ClipMedia, audio: str | None) -> Entry | None:
    fields = ARRAYS if audio in (None, "any") else (audio,)
    return next((media.files[field] for field in fields if field in media.files), None)


def _sound_frames(entry: Entry, hop: Fraction) -> int:
    """Label frames of a recording."""
    try:
        return probe_entry(entry).label_frames(hop)
    except NotAudio as error:
        raise NotAudio(f"{printable(entry.path)} cannot be read as audio: {error}") from error


def _length(dataset: Dataset, name: str, media: ClipMedia) -> int:
    """Label frames of a clip without a recording: of its video, or up to the last label."""
    hop = dataset.events.hop
    if "video" in media.files:
        with open_video(media.files["video"]) as video:
            return -int(-(video.start + video.duration) / hop // 1)
    table = dataset.events[name]
    stated = dataset.events.format(name).clip_frames or next(
        (file.frames for file in origin_of(table).files if file.clip == name), None
    )
    ends = [frame + 1 for frame in table["frame"].to_pylist()] if "frame" in table.column_names else []
    if "offset" in table.column_names:
        ends += [clock.frames_between(0, end, hop).stop for end in table["offset"].to_pylist()]
    return int(max(stated or 0, *ends, 0))


def item_files(dataset: Dataset, audio: str | None) -> list[ClipFiles]:
    """The recordings of each question.

    Raises:
        UsageError: there are no questions, or an array is named.
        DataError: a recording is missing.
    """
    if audio not in (None, "any"):
        raise UsageError("questions name their recordings themselves: audio='any', or None for no sound")
    if not dataset.items:
        raise UsageError("there are no questions")
    if audio is None:
        return [ClipFiles("") for _ in dataset.items]
    return [ClipFiles("", 0, tuple(_named(dataset, row.item, row.file))) for row in dataset.items.rows]


def _named(dataset: Dataset, item: Item, file: str) -> Iterator[Entry]:
    for path in item.audio:
        entry = dataset.find(path, file)
        if entry is None:
            raise DataError(
                f"question {printable(item.id)} is about {printable(path)}, which is not there "
                f"({plural(len(dataset.items), 'question')}): audio=None takes the texts alone"
            )
        yield entry


def item_texts(item: Item) -> dict[str, Any]:
    """The texts of a question; what it has not is empty."""
    texts = ("id", "task", "question", "instruction", "answer", "language", "split")
    return {**{name: getattr(item, name) or "" for name in texts}, "options": list(item.options or [])}
