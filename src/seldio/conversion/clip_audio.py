"""Cut the audio of clips out of recordings, as SO-Bench has it: 16 kHz, 16 bit, FOA channels W, Y, Z, X."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, Source, atomic_write, open_source
from seldio.files.entries import name_fault
from seldio.files.sources import Lookup, on_disk
from seldio.media.arrays import RATES
from seldio.schema.qa import Item
from seldio.text import clipped, plural, printable

if TYPE_CHECKING:
    import numpy as np

    from seldio.media.audio import Probe

    Floats = np.ndarray[Any, np.dtype[np.float32]]

#: Frames a second of SO-Bench's audio.
RATE = 16_000
#: Channels of first-order ambisonics.
FOA = 4
#: The key of ``extra`` under which an item keeps where its audio was cut from.
ORIGIN = "cut_from"


class ClipSpan(NamedTuple):
    """A part of a recording."""

    name: str  # POSIX path of the clip's audio below the output folder
    recording: str  # path of the recording, as the item has it
    start: float  # where it begins in the recording, in seconds
    end: float  # where it ends


def cut(
    items: Iterable[Item],
    root: str | os.PathLike[str] | Source,
    out: str | os.PathLike[str],
    *,
    rate: int = RATE,
    say: Callable[[str], None] | None = None,
) -> Iterator[Item]:
    """Write the audio of each item's clip once, as ``audio/{split}/{audio_id}.wav`` below *out*.

    The part from ``start`` to ``end`` is read from the recording and nothing else, resampled without delay,
    and written as 16-bit WAV with the channels in their order: first-order ambisonics of the STARSS and DCASE
    datasets are W, Y, Z, X (ACN), as are those of SO-Bench. A clip has ``round((end - start) * rate)``
    frames, the first one at the recording's frame nearest to ``start``; less where the recording ends before.
    Files appear whole or not at all, and are the same on every run.
    """
    written: dict[str, ClipSpan] = {}
    with Recordings(root) as recordings:
        for item in items:
            clip = clip_of(item)
            if written.setdefault(clip.name, clip) != clip:
                raise UsageError(f"two clips are named {printable(clip.name)}: give each its own audio_id")
            if written[clip.name] is clip:
                _write(recordings.open(clip.recording), clip, Path(out), rate, say or (lambda _: None))
            yield _moved(item, clip)


def clip_of(item: Item) -> ClipSpan:
    """The part of a recording that *item* asks about."""
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
    """Where *item* has its ``audio_id``: among the further keys, or in the ``meta`` there, as MERA's records do."""
    extra = item.extra or {}
    meta = extra.get("meta")
    return meta if "audio_id" not in extra and isinstance(meta, dict) else dict(extra)


def _moved(item: Item, clip: ClipSpan) -> Item:
    """*item* with the audio of its clip."""
    origin = {"audio": clip.recording, "start": clip.start, "end": clip.end}
    kept = {key: value for key, value in _holder(item).items() if key not in ("start", "end")} | {ORIGIN: origin}
    whole = item.extra or {}
    extra = kept if "audio_id" in whole else {**whole, "meta": kept}
    return item.model_copy(update={"audio": [clip.name], "start": None, "end": None, "extra": extra})


# --- recordings --------------------------------------------------------------------------------------------


class OpenRecording(NamedTuple):
    """An open recording."""

    entry: Entry
    stream: BinaryIO
    probe: Probe

    @property
    def path(self) -> str:
        """As shown to people."""
        return printable(self.entry.path)


class Recordings:
    """The recordings of a tree, of which the last one stays open; a context manager."""

    def __init__(self, root: str | os.PathLike[str] | Source) -> None:
        # what is wrong with the source is said when its labels are read
        self._kept, self._last = ExitStack(), ExitStack()
        self._source = root if isinstance(root, Source) else self._kept.enter_context(open_source(root, lambda _: None))
        self._look = Lookup(self._source)
        self._open: tuple[str, OpenRecording] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._last.close()
        self._kept.close()

    def open(self, path: str) -> OpenRecording:
        """The recording called *path* in the items.

        Raises:
            SeldioError: it is missing, cannot be read, or is not an FOA recording.
        """
        if self._open is None or self._open[0] != path:
            self._last.close()
            self._open = path, self._opened(path)
        return self._open[1]

    def _opened(self, path: str) -> OpenRecording:
        from seldio.media.audio import NotAudio, probe
        from seldio.media.heard import array_heard

        entry = self._look.find(path) or self._beside(path)
        if entry is None:
            raise SeldioError(
                f"the recording {clipped(path, 200)} is neither in {printable(self._source.path)} nor next to it: put "
                "the foa_ folders next to the metadata_ folders, or make the questions without --audio"
            )
        stream = self._last.enter_context(entry.open())
        try:
            found = probe(stream)
        except NotAudio as error:
            raise SeldioError(
                f"{printable(entry.path)} cannot be read as audio ({printable(str(error))}): download it again"
            ) from error
        check(entry.path, found)
        if (told := array_heard(entry)) is not None and told.heard == "mic":
            raise SeldioError(
                f"{printable(entry.path)} sounds like a microphone array, whose recordings also have {FOA} channels "
                "but are not Ambisonics: use the recordings in the foa_ folders"
            )
        return OpenRecording(entry, stream, found)

    def _beside(self, path: str) -> Entry | None:
        """A recording next to an archive, or in ``foa_dev/…`` for labels in ``metadata_dev/…`` if these were named."""
        if self._source.kind == "stdin":
            return None
        start = Path(os.path.abspath(self._source.path))  # noqa: PTH100 - links must stay as they are
        if self._source.archived:
            return on_disk(str(start.parent), path)
        folder = start if self._source.kind == "folder" else start.parent
        for place in (folder, *folder.parents):
            if place.name.startswith("metadata_"):
                below = folder.relative_to(place).as_posix()
                name = "foa_" + place.name.removeprefix("metadata_") + f"/{below}/".replace("/./", "/")
                return on_disk(str(place.parent), name + path)
        return None


def check(path: str, found: Probe) -> None:
    """See that a recording is one in first-order ambisonics, as far as its header and its path tell."""
    shown = printable(path)
    if found.channels != FOA:
        raise SeldioError(
            f"{shown} has {plural(found.channels, 'channel')}, but first-order Ambisonics has {FOA}: "
            "use the recordings in the foa_ folders"
        )
    if any(part.startswith("mic_") for part in re.split(r"[/\\]", path)):
        raise SeldioError(
            f"{shown} is in a folder of microphone array recordings, which also have {FOA} channels but are not "
            "Ambisonics: use the recordings in the foa_ folders"
        )
    if found.rate not in RATES:
        raise SeldioError(
            f"{shown} has {found.rate:,} Hz, which is not a possible sample rate (expected {RATES[0]:,} to "
            f"{RATES[-1]:,}): "
            "download it again"
        )


# --- cutting -----------------------------------------------------------------------------------------------


def _write(recording: OpenRecording, clip: ClipSpan, out: Path, rate: int, say: Callable[[str], None]) -> None:
    import numpy as np

    from seldio.media.audio import resample, write_wav

    target = out / clip.name
    if recording.entry.local is not None and recording.entry.local == Path(os.path.realpath(target)):
        raise UsageError(f"{printable(str(target))} is the source recording itself: choose another output folder")
    frames = _frames(recording, clip, rate, say)
    sound = resample(_part(recording, clip, frames, rate), recording.probe.rate, rate, frames)
    whole = np.rint(sound * 32768.0)
    if loud := int(np.count_nonzero((whole > 32767) | (whole < -32768))):
        say(f"{clip.name}: {plural(loud, 'sample')} over full scale, clipped ({recording.path})")
    with atomic_write(target, out) as stream:
        write_wav(stream, np.clip(whole, -32768, 32767).astype(np.int16), rate)


def _frames(recording: OpenRecording, clip: ClipSpan, rate: int, say: Callable[[str], None]) -> int:
    """How many frames the clip has at *rate*, as far as the recording goes."""
    found = recording.probe
    wanted = round((clip.end - clip.start) * rate)
    there = math.ceil((found.frames - round(clip.start * found.rate)) * rate / found.rate)
    if there <= 0:
        raise SeldioError(
            f"{recording.path} ends at {found.seconds:.3f} s, before a clip that begins at {clip.start:g} s: "
            "labels and recording do not match, or the recording is cut off; download it again"
        )
    if there < wanted:
        say(
            f"{clip.name}: {there / rate:.3f} s instead of {wanted / rate:.3f} s, since {recording.path} ends at "
            f"{found.seconds:.3f} s"
        )
    return min(wanted, there)


def _part(recording: OpenRecording, clip: ClipSpan, frames: int, rate: int) -> Floats:
    """The clip's sound with the margins that the resampler wants, zeros outside the recording."""
    import numpy as np

    from seldio.media.audio import NotAudio, margin, read

    found = recording.probe
    first, aside = round(clip.start * found.rate), margin(found.rate, rate)
    length = math.ceil(frames * found.rate / rate)
    low, high = max(0, first - aside), min(found.frames, first + length + aside)
    try:
        sound = read(recording.stream, low, high - low)
    except NotAudio as error:
        raise SeldioError(f"{recording.path} cannot be read ({printable(str(error))}): download it again") from error
    if sound.shape[1] != high - low:
        raise SeldioError(
            f"{recording.path} ends at {(low + sound.shape[1]) / found.rate:.3f} s, but its header states "
            f"{found.seconds:.3f} s: download it again"
        )
    if not np.isfinite(sound).all():
        raise SeldioError(f"{recording.path} contains samples that are not numbers: download it again")
    return np.pad(sound, ((0, 0), (low - first + aside, first + length + aside - high)))
