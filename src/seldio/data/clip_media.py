"""The files of a clip: its recordings by array and its video, of a dataset or found next to a label file."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH100, PTH112, PTH113, PTH118, PTH119, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seldio.catalogues.trees import read_tree
from seldio.errors import UsageError
from seldio.files import DEFAULTS, Entry
from seldio.files.entries import plain_file
from seldio.files.names import MEDIA, plain_stem
from seldio.files.sources import LEVELS, on_disk, on_this_machine
from seldio.formats.datasets import TOPS
from seldio.media.recording import Recording
from seldio.schema.clips import RECORDINGS, Array, Clip
from seldio.text import clipped, listed, plural, printable

if TYPE_CHECKING:
    from seldio.media.video import Video

Path = str | os.PathLike[str]
#: The order in which recordings are chosen to be heard.
PLAYED: tuple[Array, ...] = ("stereo", "foa", "mic", "audio")


@dataclass(frozen=True, slots=True)
class ClipMedia:
    """The files of one clip."""

    clip: Clip  # its row in the clip table
    files: Mapping[str, Entry]  # by the fields of :class:`Clip`

    @staticmethod
    def of(clip: Clip, entries: Mapping[str, Entry]) -> ClipMedia:
        """Those of a clip; *entries* are the files of its dataset by name."""
        return ClipMedia(clip, {field: entries[path] for field, path in clip.files.items()})

    def entry(self, arrays: Sequence[str] = RECORDINGS) -> Entry | None:
        """The first recording of *arrays* that there is, as a file; None without."""
        return next((self.files[name] for name in arrays if name in self.files), None)

    def recording(self, array: str | None = None) -> Recording | None:
        """The recording of *array* (``foa``, ``mic``, ``stereo``, ``audio``), or the first there is; None without."""
        entry = self.entry((array,) if array else RECORDINGS)
        return Recording(entry) if entry is not None else None

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
        if field not in self.files:
            there = listed([name for name in self.files if name != "metadata"]) or "no recording and no video"
            raise UsageError(f"{printable(self.clip.clip)} has no {field}; it has {there}")
        return self.files[field]

    @property
    def array(self) -> Array:
        """The array of the recording that is heard."""
        return next((field for field in PLAYED if field in self.files), "audio")

    @property
    def played(self) -> Entry | None:
        """The recording that is heard."""
        return self.files.get(self.array)

    @property
    def sibling(self) -> Entry | None:
        """The recording of the other array, MIC where FOA is heard."""
        return self.files.get("mic") if self.array == "foa" else None

    def replaced(self, audio: Path | None, video: Path | None) -> ClipMedia:
        """The same with the recording and the video that the user named in their places."""
        files = {field: entry for field, entry in self.files.items() if audio is None or field not in RECORDINGS}
        if audio is not None:
            name = os.path.abspath(audio).replace(os.sep, "/").lstrip("/")
            arrays = (field for clip in read_tree([name]).clips for field in PLAYED if field in clip.recordings)
            files[next(arrays, "audio")] = named_file(audio)
        if video is not None:
            files["video"] = named_file(video)
        return ClipMedia(self.clip, files)


def named_file(path: Path) -> Entry:
    """The file that the user named."""
    shown = on_this_machine(os.fspath(path), DEFAULTS)
    if not os.path.isfile(shown):
        raise UsageError(f"no such file: {clipped(shown, 200)}")
    return plain_file(shown)


def open_video(entry: Entry) -> Video:
    """Open a video on disk or in an archive (then in memory)."""
    from seldio.media.video import Video

    return Video(entry)


class Media(Mapping[str, ClipMedia]):
    """The recordings and videos of a dataset by clip; nothing is opened before it is asked for."""

    def __init__(self, clips: Mapping[str, Clip], entries: Mapping[str, Entry]) -> None:
        self._clips, self._entries = clips, entries

    def __repr__(self) -> str:
        return f"Media({plural(len(self), 'clip')})"

    def __len__(self) -> int:
        return len(self._clips)

    def __iter__(self) -> Iterator[str]:
        return iter(self._clips)

    def __getitem__(self, clip: str) -> ClipMedia:
        return ClipMedia.of(self._clips[clip], self._entries)


# --- beside a label file ---------------------------------------------------------------------------------


def stem_of(path: str) -> str:
    """The name of the clip that a file is called after."""
    return "stdin" if path == "-" else plain_stem(path) or os.path.basename(path)


def media_of(labels: Path, audio: Path | None = None, video: Path | None = None) -> ClipMedia:
    """The recordings and the video that belong to a label file, as given or as found next to it.

    Looked for are files of the same name: in the same folder, and in the folders of a dataset tree that hold
    what the folder of the labels says (``metadata_dev/dev-test-tau`` and ``foa_dev/dev-test-tau``).
    """
    path = os.fspath(labels)
    if os.path.isdir(path):
        raise UsageError(f"{printable(path)} is a folder: pass the label file of one clip in it")
    clip = Clip.model_construct(clip=stem_of(path), layout="loose")
    return ClipMedia(clip, _files_of(path) if os.path.isfile(path) else {}).replaced(audio, video)


def _files_of(path: str) -> dict[str, Entry]:
    """The files of the clip, by what they are; the nearest first."""
    folder, stem = os.path.dirname(os.path.abspath(path)), stem_of(path)
    found: dict[str, Entry] = {}
    below = ""
    for _ in range(LEVELS + 1):
        rest = below.partition("/")[2]
        names = (f"{top}{rest}{stem}.{suffix}" for top in _tops(folder, below) for suffix in MEDIA)
        there = [name for name in names if os.path.isfile(os.path.join(folder, name))]
        for clip in read_tree(there, folder).clips:
            for field, name in clip.files.items():
                if (entry := on_disk(folder, name)) is not None:
                    found.setdefault(field, entry)
        below = f"{os.path.basename(folder)}/{below}"
        folder = os.path.dirname(folder)
    return found


def _tops(folder: str, below: str) -> list[str]:
    """The folders that may hold what ``folder/below`` holds in another kind; the folder itself at first.

    Their names say what is in them; a file of the same name in any other has nothing to do with the clip.
    """
    if not below:
        return [""]
    try:
        with os.scandir(folder) as items:
            return sorted(f"{item.name}/" for item in items if item.name.lower() in TOPS and item.is_dir())
    except OSError:  # what may not be listed has nothing for us
        return []
