"""The recordings and videos of a data set, by clip."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seldio.errors import UsageError
from seldio.files import Entry
from seldio.media.windows import Recording
from seldio.schema.clips import Clip
from seldio.text import listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.video import Video


#: Fields of a clip that are recordings, the first one there is meant where none is named.
ARRAYS = ("foa", "mic", "stereo", "audio")


@dataclass(frozen=True, slots=True)
class ClipMedia:
    """The files of one clip.

    Args:
        clip: its row in the clip table.
        files: by the fields of :class:`Clip`.
    """

    clip: Clip
    files: Mapping[str, Entry]

    def recording(self, array: str | None = None) -> Recording | None:
        """The recording of *array* (``foa``, ``mic``, ``stereo``, ``audio``), or the first there is; None without."""
        field = array or next((name for name in ARRAYS if name in self.files), "")
        return Recording(self.files[field]) if field in self.files else None

    @property
    def foa(self) -> Recording:
        """First-order Ambisonics; as :attr:`mic`, :attr:`stereo` and :attr:`video` a UsageError without that file."""
        return Recording(self._file("foa"))

    @property
    def mic(self) -> Recording:
        """Tetrahedral microphone array."""
        return Recording(self._file("mic"))

    @property
    def stereo(self) -> Recording:
        """Stereo."""
        return Recording(self._file("stereo"))

    @property
    def video(self) -> Video:
        """The video, opened."""
        return open_video(self._file("video"))

    def _file(self, field: str) -> Entry:
        """The file of *field*.

        Raises:
            UsageError: the clip has none.
        """
        if field not in self.files:
            there = listed([name for name in self.files if name != "metadata"]) or "no recording and no video"
            raise UsageError(f"{printable(self.clip.clip)} has no {field}; it has {there}")
        return self.files[field]


def open_video(entry: Entry) -> Video:
    """A video on disk or in an archive (then in memory); its file is closed when nothing refers to it any more.

    Raises:
        NotVideo: it cannot be read as video.
        SeldioError: the disk fails.
    """
    from seldio.media.video import Video

    stream = entry.open()
    try:
        video = Video(stream)
    except BaseException:
        stream.close()
        raise
    weakref.finalize(video, stream.close)
    return video


class Media(Mapping[str, ClipMedia]):
    """The recordings and videos of a data set by clip; nothing is opened before it is asked for."""

    def __init__(self, clips: Mapping[str, Clip], entries: Mapping[str, Entry]) -> None:
        self._clips, self._entries = clips, entries

    def __repr__(self) -> str:
        return f"Media({plural(len(self), 'clip')})"

    def __len__(self) -> int:
        return len(self._clips)

    def __iter__(self) -> Iterator[str]:
        return iter(self._clips)

    def __getitem__(self, clip: str) -> ClipMedia:
        row = self._clips[clip]
        paths = {field: getattr(row, field) for field in (*ARRAYS, "metadata", "video")}
        return ClipMedia(row, {field: self._entries[path] for field, path in paths.items() if path is not None})
