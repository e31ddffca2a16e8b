"""Find the recordings that labels are of, and cut the audio of clips out of them: 16 kHz, 16 bit."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seldio.catalogues.trees import read_tree
from seldio.data.index import media_of
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, open_source
from seldio.files.entries import name_fault
from seldio.files.sources import LEVELS, Lookup, bases_of, on_disk
from seldio.media.arrays import RATES
from seldio.media.audio import NotAudio, margin, resample, write_wav
from seldio.media.recording import Recording
from seldio.schema.clips import Array, Clip
from seldio.schema.qa import Item
from seldio.tasks.scene import recording_place
from seldio.text import clipped, plural, printable

#: Frames a second of SO-Bench's audio.
RATE = 16_000
#: Channels of first-order ambisonics.
FOA = 4
#: The key of ``extra`` under which an item keeps where its audio was cut from.
ORIGIN = "cut_from"


# --- which recording a label file is of ---------------------------------------------------------------------

#: The order in which the recordings of a clip are chosen; the microphone array where there is nothing else.
_CHOSEN: tuple[Array, ...] = ("foa", "audio", "stereo", "mic")


def _chosen(clip: Clip) -> str:
    return next(clip.recordings[array] for array in _CHOSEN if array in clip.recordings)


@dataclasses.dataclass(frozen=True)
class RecordingFinder:
    """Find the recordings of label files in their source, or on disk next to it."""

    path: str  # of the source
    kind: str  # of the source, as :class:`Source` has it
    bases: tuple[str, ...]  # folders from which the usual path of a recording may count
    inside: Mapping[str, str]  # names of recordings by label file, and by clip where one recording alone is called so
    folder: Path | None  # of the questions; None where the clips are cut out

    @staticmethod
    def of(source: Source, folder: Path | None) -> RecordingFinder:
        """Return what finds the recordings of the label files in *source*."""
        rows = [row for row in read_tree([entry.name for entry in source], source.path).clips if row.recordings]
        counts = Counter(row.clip for row in rows)
        by_clip = {row.clip: _chosen(row) for row in rows if counts[row.clip] == 1}
        by_label = {row.metadata: _chosen(row) for row in rows if row.metadata is not None}
        bases = (os.path.dirname(source.path) or ".",) if source.archived else bases_of(source)  # noqa: PTH120
        return RecordingFinder(source.path, source.kind, tuple(bases), by_clip | by_label, folder)

    def find(self, label_file: str, clip: str) -> str | None:
        """Return the path of the recording of a *clip*, whose labels are in *label_file* of the source; None without.

        It leads down from the folder of the questions or from one above. Without that folder, and in an archive, it is
        the name in the source, or below the folder in which the recording lies.
        """
        name = self.inside.get(label_file) or self.inside.get(clip)
        place = f"{self.path}/{name}" if name is not None and self.kind == "folder" else None
        if name is None:
            beside: Entry | None = None
            if self.kind in ("file", "folder"):
                beside = media_of(self.path if self.kind == "file" else f"{self.path}/{label_file}").entry(_CHOSEN)
            usual = f"{recording_place(label_file)}.wav"
            entry = beside or next(filter(None, (on_disk(base, usual) for base in self.bases)), None)
            name, place = (None, None) if entry is None else (entry.name, entry.path)
        if name is None or place is None or self.folder is None:
            return name
        path, folder = Path(os.path.abspath(place)), Path(os.path.abspath(self.folder))  # noqa: PTH100 - links stay
        bases = (folder, *folder.parents[:LEVELS])
        return next((path.relative_to(base).as_posix() for base in bases if path.is_relative_to(base)), name)


# --- clips --------------------------------------------------------------------------------------------------


class ClipSpan(NamedTuple):
    """A part of a recording."""

    name: str  # POSIX path of the clip's audio below the output folder
    recording: str  # path of the recording, as the item has it
    start: float  # where it begins in the recording, in seconds
    end: float  # where it ends


def cut(
    items: Iterable[Item],
    root: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    rate: int = RATE,
    channels: int | None = FOA,
    say: Callable[[str], None] | None = None,
) -> Iterator[Item]:
    """Write the audio of each item's clip once, as ``audio/{split}/{audio_id}.wav`` below *out*.

    The part from ``start`` to ``end`` is read from the recording and nothing else, resampled without delay,
    and written as 16-bit WAV with the channels in their order: first-order ambisonics of the STARSS and DCASE
    datasets are W, Y, Z, X (ACN), as are those of SO-Bench; with *channels* None recordings may have any number.
    A clip has ``round((end - start) * rate)`` frames, the first one at the recording's frame nearest to ``start``;
    less where the recording ends before.
    Files appear whole or not at all, and are the same on every run.
    """
    written: dict[str, ClipSpan] = {}
    with open_source(root, lambda _: None) as source:  # what is wrong with it is said when its labels are read
        lookup = Lookup(source)
        spans = ((_span(item), item) for item in items)
        for path, group in groupby(spans, key=lambda pair: pair[0].recording):
            with _opened(source, lookup, path, channels) as recording:
                for clip, item in group:
                    if written.setdefault(clip.name, clip) != clip:
                        raise UsageError(f"two clips are named {printable(clip.name)}: give each its own audio_id")
                    if written[clip.name] is clip:
                        _write(recording, clip, Path(out), rate, say or (lambda _: None))
                    yield _moved(item, clip)


def _span(item: Item) -> ClipSpan:
    if len(item.audio) != 1 or item.start is None or item.end is None or not item.start < item.end:
        raise UsageError(
            f"the audio of {clipped(item.id)} cannot be cut: that needs one recording, a start and a later end"
        )
    names = (item.split, _holder(item).get("audio_id"))
    parts = [name for name in names if isinstance(name, str) and name]
    odd = [part for part in parts if not re.fullmatch(r"[\w-][\w.-]*", part) or name_fault(part + ".wav")]
    if odd or names[1] not in parts:
        raise UsageError(
            f"the audio of {clipped(item.id)} cannot be written: split and audio_id become folder and file names, "
            f"so use only letters, digits, - and _ (they are {clipped(repr(names))})"
        )
    return ClipSpan("/".join(("audio", *parts)) + ".wav", item.audio[0], item.start, item.end)


def _holder(item: Item) -> dict[str, Any]:
    """Return the dict with the ``audio_id`` of *item*: further keys, or the ``meta`` in there (MERA)."""
    extra = item.extra or {}
    meta = extra.get("meta")
    return meta if "audio_id" not in extra and isinstance(meta, dict) else dict(extra)


def _moved(item: Item, clip: ClipSpan) -> Item:
    origin = {"audio": clip.recording, "start": clip.start, "end": clip.end}
    other_keys = {key: value for key, value in _holder(item).items() if key not in ("start", "end")} | {ORIGIN: origin}
    whole = item.extra or {}
    extra = other_keys if "audio_id" in whole else {**whole, "meta": other_keys}
    return item.model_copy(update={"audio": [clip.name], "start": None, "end": None, "extra": extra})


def _opened(source: Source, lookup: Lookup, path: str, channels: int | None) -> Recording:
    """Return the recording called *path* in the items; raise SeldioError if it is missing or no FOA recording."""
    from seldio.media.intensity import array_heard

    entry = lookup.find(path)
    if entry is None and source.archived:
        entry = on_disk(os.path.dirname(source.path) or ".", path)  # noqa: PTH120
    if entry is None:
        raise SeldioError(
            f"the recording {clipped(path, 200)} is neither in {printable(source.path)} nor next to it: put "
            "the foa_ folders next to the metadata_ folders"
        )
    recording, shown = Recording(entry), printable(entry.path)
    try:
        probed = recording.probe
    except NotAudio as error:
        raise SeldioError(f"{shown} cannot be read as audio ({printable(str(error))}): download it again") from error
    fault, mend = "", "use the recordings in the foa_ folders"
    if channels not in (None, probed.channels):
        fault = f"has {plural(probed.channels, 'channel')}, but first-order Ambisonics has {FOA}"
    elif channels == FOA and any(part.startswith("mic_") for part in re.split(r"[/\\]", entry.path)):
        fault = f"is in a folder of microphone array recordings, which also have {FOA} channels but are not Ambisonics"
    elif probed.rate not in RATES:
        expected = f"expected {RATES[0]:,} to {RATES[-1]:,}"
        fault, mend = f"has {probed.rate:,} Hz, which is not a possible sample rate ({expected})", "download it again"
    elif channels == FOA and (heard := array_heard(entry)) is not None and heard.heard == "mic":
        fault = f"sounds like a microphone array, whose recordings also have {FOA} channels but are not Ambisonics"
    if fault:
        raise SeldioError(f"{shown} {fault}: {mend}")
    return recording


# --- cutting -----------------------------------------------------------------------------------------------


def _write(recording: Recording, clip: ClipSpan, out: Path, rate: int, say: Callable[[str], None]) -> None:
    """Write a clip, and *say* where the recording ends too early or the sound is clipped."""
    target, shown, probed = out / clip.name, printable(recording.path), recording.probe
    if os.path.realpath(recording.path) == os.path.realpath(target):
        raise UsageError(f"{printable(str(target))} is the source recording itself: choose another output folder")
    wanted, first_frame = round((clip.end - clip.start) * rate), round(clip.start * probed.rate)
    frames_left = math.ceil((probed.frames - first_frame) * rate / probed.rate)
    if frames_left <= 0:
        raise SeldioError(
            f"{shown} ends at {probed.seconds:.3f} s, before a clip that begins at {clip.start:g} s: labels and "
            "recording do not match, or the recording is cut off; download it again"
        )
    if frames_left < wanted:
        short = f"{frames_left / rate:.3f} s instead of {wanted / rate:.3f} s"
        say(f"{clip.name}: {short}, since {shown} ends at {probed.seconds:.3f} s")
    frames, padding = min(wanted, frames_left), margin(probed.rate, rate)
    try:
        length = math.ceil(frames * probed.rate / rate)
        sound = recording.read(first_frame - padding, length + 2 * padding, pad=True)
    except NotAudio as error:
        raise SeldioError(f"{shown} cannot be read ({printable(error.text)}): download it again") from error
    if not np.isfinite(sound).all():
        raise SeldioError(f"{shown} contains samples that are not numbers: download it again")
    samples = np.rint(resample(sound, probed.rate, rate, frames) * 32768.0)
    if loud := int(np.count_nonzero((samples > 32767) | (samples < -32768))):
        say(f"{clip.name}: {plural(loud, 'sample')} over full scale, clipped ({shown})")
    with atomic_write(target, out) as stream:
        write_wav(stream, np.clip(samples, -32768, 32767).astype(np.int16), rate)
