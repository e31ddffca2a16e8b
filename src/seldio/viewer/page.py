"""One clip as one html page: sound, panorama, timeline, questions and findings; nothing is fetched from anywhere."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import base64
import dataclasses
import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.resources import files
from pathlib import Path as Disk
from string import Template
from typing import Any, BinaryIO, Literal, cast
from urllib.parse import quote

from seldio.data.index import ClipMedia, Path, open_clip
from seldio.errors import SeldioError, UsageError
from seldio.files import Entry, write_bytes
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.intensity import SHORT, array_heard
from seldio.reports.page import hashed, look
from seldio.text import Displayed, plural, printable
from seldio.viewer.page_content import (
    COLOURS,
    check_sound,
    file_stem,
    of_another_clip,
    prediction_of,
    questions_of,
    side,
)

__all__ = ["Page", "view"]


#: A page with more bytes is linked in a notebook, which would keep all of them in its file.
_SHOWN_BYTES = 8 << 20


@dataclasses.dataclass(frozen=True, repr=False)
class Page(Displayed):
    """A page, and what is in it; a notebook shows it in a frame.

    Args:
        html: its bytes, UTF-8.
        clip: the clip's name.
        events: how many labelled events.
        predictions: how many predicted ones; None without predictions.
        questions: how many; None where none were asked for.
        findings: how many, in the labels, the predictions, and between labels and sound.
        media: what can be heard and seen, in words; first, whether the predictions bear another name.
        media_bytes: of the sound and pictures in the page.
        path: where it was written; ``-`` is a stream.
    """

    html: bytes
    clip: str
    events: int
    predictions: int | None
    questions: int | None
    findings: int
    media: tuple[str, ...]
    media_bytes: int
    path: str

    def __str__(self) -> str:
        return f"{self.clip}: {plural(self.events, 'event')}, {plural(self.findings, 'finding')}, in {self.path}"

    def _repr_html_(self) -> str:
        if len(self.html) > _SHOWN_BYTES:
            return f'<a href="{html.escape(quote(os.fsencode(self.path)))}">{html.escape(printable(self.in_brief))}</a>'
        text = html.escape(self.html.decode())
        frame = 'sandbox="allow-scripts" style="width: 100%; height: 700px; border: 0"'
        return f'<iframe title="{html.escape(printable(self.clip))}" {frame} srcdoc="{text}"></iframe>'


def view(
    source: Path,
    out: Path | BinaryIO | None = None,
    *,
    clip: str | None = None,
    audio: Path | None = None,
    video: Path | None = None,
    predictions: Path | None = None,
    questions: Path | None = None,
    format: str | None = None,
    predictions_format: str | None = None,
    link_media: bool = False,
    deep: bool = False,
    no_media: bool = False,
) -> Page:
    """Write one HTML page about a clip: player, panorama with moving labels, timeline, questions, findings.

    Args:
        source: the label file of the clip; its recording (FOA before MIC) and video are found in its dataset. Or a
            dataset: a folder, archive, export, or ``hf://datasets/USER/NAME``.
        out: the page to write; ``CLIP.html`` in the current folder by default. In Python also a binary stream.
        clip: the clip to show, if the dataset has several. Named, it is also drawn with predictions whose file is
            called after another one (``fold3_room4_mix002`` for ``fold3_room4_mix001``).
        audio: the recording to use instead of the one found.
        video: the video to use instead of the one found.
        predictions: a file of predictions, or a folder with one of the clip's name.
        questions: a file of questions, of which those about the clip are shown.
        format: the format of the labels; detected from their content by default.
        predictions_format: the format of the predictions; detected by default.
        link_media: link to recording and video instead of embedding small copies.
        deep: also compare the labels with the audio of the recording.
        no_media: leave out audio and video; the clip can still be played.

    Returns:
        The page, with what is in it and where it was written.

    Raises:
        UsageError: a file or clip is missing, or holds something else, or the page would overwrite one of them.
        DataError: nothing in it can be read.
        SeldioError: it is more than a page can hold, or the disk fails.
    """
    if link_media and no_media:
        raise UsageError("--link-media and --no-media cannot be used together")
    stream = out if out is not None and not isinstance(out, str | os.PathLike) else None
    place = None if out is None or stream is not None else os.fspath(cast("Path", out))
    folder = None if stream is not None else os.path.dirname(place or "") or "."
    with open_clip(source, clip, audio, video) as (labels, found_media):
        stem = found_media.clip.clip
        reference = side(labels, format)
        media: MediaUse = "link" if link_media else "none" if no_media else "embed"
        shown = media_of(found_media, media, folder, named=(audio is not None, video is not None))
        sound = check_sound(reference.reading, found_media, deep)
    predicted = side(prediction_of(predictions, stem), predictions_format) if predictions is not None else None
    notes = (
        shown.notes if predicted is None else (*of_another_clip(predicted, stem, named=clip is not None), *shown.notes)
    )
    items, remark = questions_of(questions, stem) if questions is not None else ([], "")
    sides = {"labels": reference} if predicted is None else {"labels": reference, "predictions": predicted}
    findings = [{**finding, "side": "sound"} for finding in sound.findings]
    findings += [{**finding, "side": name} for name, labels in sides.items() for finding in labels.findings]
    record = {  # what the page's script reads
        "clip": printable(stem),
        "layout": reference.reading.format.name,
        "seconds": max(shown.seconds, *(labels.seconds for labels in sides.values()), 0.1),
        "sides": [
            {"hop": float(labels.hop), "events": labels.events, "layout": labels.reading.format.name}
            for labels in sides.values()
        ],
        "findings": findings,
        "held": sound.said,
        "heard": sound.heard,
        "media": list(notes),
        "panorama": shown.panorama,
        "colours": COLOURS,
        "questions": items,
        "remark": remark,
        "asked": questions is not None,
    }
    where = "-" if stream is not None else place if place is not None else f"{file_stem(stem)}.html"
    asked, size = len(items) if questions is not None else None, shown.size
    guessed = None if predicted is None else len(predicted.events)
    content = document(record, shown)
    page = Page(content, stem, len(reference.events), guessed, asked, len(findings), notes, size, where)
    if stream is not None:
        stream.write(page.html)
        return page
    named = (source, audio, video, predictions, questions)
    if os.path.realpath(where) in {os.path.realpath(path) for path in named if path is not None}:
        raise UsageError(f"{where} would be overwritten by the page: choose another file with -o")
    write_bytes(where, page.html, None if place is not None else ".")
    return page


def document(record: dict[str, Any], media: PageMedia) -> bytes:
    """Return the page about *record*, UTF-8.

    Its policy lets the page load nothing and run this one script only, known by its hash.
    """
    folder = files(__name__.rpartition(".")[0])
    css, script, template = (folder.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js", "html"))
    style = look() + css
    sources = "data: file: 'self'" if media.linked else "data:"
    policy = (
        f"default-src 'none'; script-src '{hashed(script)}'; style-src '{hashed(style)}'; media-src {sources}; "
        "base-uri 'none'; form-action 'none'"
    )
    video = f'<video id="video" playsinline preload="auto" src="{html.escape(media.video)}"></video>'
    audio = f'<audio id="audio" preload="auto" src="{html.escape(media.audio)}"></audio>'
    text = Template(template).substitute(
        policy=html.escape(policy, quote=True),
        title=html.escape(record["clip"]),
        style=style,
        script=script,
        data=embedded(record),
        # the sound is in the video where there is a copy of both
        player=(video if media.video else "") + (audio if media.audio else ""),
    )
    return text.encode("utf-8", errors="backslashreplace")


def embedded(record: Any) -> str:
    """Return *record* as json that can stand in a script element, whatever its texts say.

    ``<``, ``>`` and ``&`` are written as json escapes, so that no text can end the element or open a comment;
    numbers that json does not have are an error.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match.group()):04x}", text)


#: What becomes of sound and pictures: small copies of them in the page, addresses of the files, or nothing.
MediaUse = Literal["embed", "link", "none"]
#: Bytes of sound and pictures that a page may hold.
MOST_BYTES = 64 * 2**20
#: Pictures twice as wide as high are panoramas; others are shown beside the labels, not under them.
_PANORAMA = 0.05


@dataclasses.dataclass(frozen=True)
class PageMedia:
    """The sound and video of a page: addresses, length of the longer of the two, and notes for people.

    The address of the sound is empty where it is in the video. *size* counts the bytes inside the page, *linked* is
    whether addresses lead out of it.
    """

    audio: str = ""
    video: str = ""
    seconds: float = 0.0
    panorama: bool = False
    notes: tuple[str, ...] = ()
    size: int = 0
    linked: bool = False


def media_of(
    clip: ClipMedia, how: MediaUse, folder: Path | None, named: tuple[bool, bool] = (False, False)
) -> PageMedia:
    """Return sound and pictures of a clip; *named*: whether the recording and the video were named by the user.

    What was found and cannot be read is left out with a note; what was named is an error.
    """
    recording, film = clip.played, clip.files.get("video")
    if how == "none" or (recording is None and film is None):
        return PageMedia()
    import seldio.media.video_writing as copies
    from seldio.media.video import Video

    notes: list[str] = []
    sound, pictures, audio, video, seconds, data = None, None, "", "", 0.0, b""
    with ExitStack() as stack:
        if film is not None:
            with _forgiven(film, "video", notes, named[1]):
                pictures = stack.enter_context(Video(stack.enter_context(film.open())))
                seconds, video = float(pictures.scan.end), _address(film, folder) if how == "link" else ""
                notes.append(f"video of {_name(film)}: {pictures.size[0]} × {pictures.size[1]}")
        if recording is not None:
            with _forgiven(recording, "sound", notes, named[0]):
                if how == "link":  # browsers mix the channels of a recording as they like
                    seconds, audio = max(seconds, probe_entry(recording).seconds), _address(recording, folder)
                    notes.append(f"sound of {_name(recording)}, linked: its channels are mixed as the browser does")
                else:
                    # mixed as what it sounds like, where its folder says another array
                    evidence, array, doubt = array_heard(recording), clip.array, list[str]()
                    heard = evidence.heard if evidence is not None else None
                    if heard is not None and array in SHORT and heard != array:
                        text = f"is among the {SHORT[array]} recordings and sounds like {SHORT[heard]}"
                        doubt.append(f"{_name(recording)} {text}: mixed as {SHORT[heard]}")
                        array = heard
                    sound = copies.sound(stack.enter_context(recording.open()), array)
                    seconds = max(seconds, sound.seconds)
                    notes += doubt
                    notes.append(f"sound of {_name(recording)}: {sound.description}")
        if sound is not None or (pictures is not None and how == "embed"):
            data = copies.copy(sound, pictures)
    if len(data) > MOST_BYTES:
        raise SeldioError(
            f"sound and pictures take {len(data) / 2**20:.0f} MB; a page holds up to {MOST_BYTES // 2**20}. "
            "--link-media links to the files instead of embedding them, --no-media leaves them out"
        )
    if data:
        address = f"data:{'video' if pictures else 'audio'}/mp4;base64,{base64.b64encode(data).decode()}"
        audio, video = ("", address) if pictures else (address, "")
    panorama = pictures is not None and abs(pictures.size[0] / pictures.size[1] / 2 - 1) < _PANORAMA
    return PageMedia(audio, video, seconds, panorama, tuple(notes), len(data), linked=how == "link")


@contextmanager
def _forgiven(entry: Entry, what: str, notes: list[str], named: bool) -> Iterator[None]:
    """Note a file that was found and cannot be read; one that was named is an error."""
    from seldio.media.video import NotVideo

    try:
        yield
    except (NotAudio, NotVideo) as error:
        if named:
            raise type(error)(f"{printable(entry.path)} cannot be read as {what}: {error.text}") from error
        notes.append(f"no {what}: {_name(entry)} cannot be read ({error.text})")


def _name(entry: Entry) -> str:
    return printable(Disk(entry.path).name)


def _address(entry: Entry, folder: Path | None) -> str:
    """Return the address of a file on disk, from the *folder* of the page where there is one."""
    if entry.real is None:
        raise UsageError(
            f"a page cannot link to {printable(entry.path)}, which lies in an archive: leave out --link-media"
        )
    path = os.path.abspath(entry.path)
    if folder is not None:
        with suppress(ValueError):  # another drive
            return "./" + quote(os.fsencode(os.path.relpath(path, os.path.abspath(folder)).replace(os.sep, "/")))
    return Disk(path).as_uri()
