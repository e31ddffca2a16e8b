"""What a submission is held against: a list of clips, and how long each of them is."""

from __future__ import annotations

import posixpath
import re

from seldio.errors import InvalidData, UsageError
from seldio.files import Entry, open_source
from seldio.findings import raise_errors
from seldio.formats.trees import clip_range, expected_clips
from seldio.rules.collection import Reference
from seldio.text import printable

_AUDIO = (".wav", ".flac")


def load(text: str) -> Reference:
    """The clips that *text* names.

    Args:
        text: a range (``mix001..mix079``), a split (``starss23:dev-test``), a text file with one clip a
            line, or a folder or archive with the recordings (which tell the lengths) or the labels.

    Raises:
        UsageError: it names nothing.
    """
    if re.fullmatch(r"[^/\\]*\d\.\.[^/\\]*\d", text):
        return Reference(text, dict.fromkeys(clip_range(text)))
    if match := re.fullmatch(r"(starss2[23]):([\w-]+)", text):
        return Reference(text, dict.fromkeys(sorted(expected_clips(*match.groups()))))
    with open_source(text, raise_errors) as source:
        if source.kind == "file" and not text.lower().endswith((*_AUDIO, ".csv", ".json")):
            names = source.entries[0].read().decode("utf-8", "replace").split()
            return Reference(text, dict.fromkeys(_clip(name) for name in names))
        return Reference(text, _clips(source.entries, text))


def _clips(entries: tuple[Entry, ...], text: str) -> dict[str, int | None]:
    """Clips of recordings where there are any, of label files otherwise."""
    audio = [entry for entry in entries if entry.name.lower().endswith(_AUDIO)]
    labels = [entry for entry in entries if entry.name.lower().endswith((".csv", ".json"))]
    if not audio and not labels:
        raise UsageError(f"{printable(text)} holds neither recordings nor labels")
    if audio:
        return {_clip(entry.name): _length(entry) for entry in audio}
    return dict.fromkeys(_clip(entry.name) for entry in labels)


def _clip(name: str) -> str:
    return posixpath.basename(name.replace("\\", "/")).rsplit(".", 1)[0]


def _length(entry: Entry) -> int | None:
    """Label frames of a recording; None where it cannot be read."""
    from seldio.media.audio import NotAudio, probe

    try:
        with entry.open() as stream:
            return probe(stream).label_frames()
    except (NotAudio, InvalidData):
        return None
