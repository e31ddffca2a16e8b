"""Sound and pictures of a page: small copies inside it, or links to the files."""

# Plain strings, as in seldio.files.
# ruff: noqa: PTH100

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path as Disk
from typing import Literal
from urllib.parse import quote

from seldio.errors import SeldioError, UsageError
from seldio.files import Entry
from seldio.media import compact
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.video import NotVideo, Video
from seldio.pictures.page.files import Files, Path
from seldio.text import printable

#: Bytes of sound and pictures that a page may hold.
MOST_BYTES = 64 * 2**20
#: Pictures twice as wide as high are panoramas; others are shown beside the labels, not under them.
_PANORAMA = 0.05


@dataclasses.dataclass(frozen=True)
class Media:
    """What can be heard and seen.

    Args:
        audio: an address, data: or relative; empty where the sound is in the video or there is none.
        video: likewise.
        seconds: how long the longer of the two lasts.
        panorama: whether the video is an equirectangular picture.
        told: what there is, for people.
        size: bytes inside the page.
        linked: whether addresses lead out of the page.
    """

    audio: str = ""
    video: str = ""
    seconds: float = 0.0
    panorama: bool = False
    told: tuple[str, ...] = ()
    size: int = 0
    linked: bool = False


def media_of(
    files: Files, how: Literal["embed", "link", "none"], folder: Path | None, given: tuple[bool, bool] = (False, False)
) -> Media:
    """Sound and pictures of a clip; *given*: whether the recording and the video were named by the user.

    What was found and cannot be read is left out and told of; what was named is an error.

    Raises:
        NotAudio, NotVideo: a file that was named cannot be read.
        SeldioError: it is too long, too much for a page, or the disk fails.
    """
    if how == "none" or (files.audio is None and files.video is None):
        return Media()
    told: list[str] = []
    with ExitStack() as stack:
        seen = _video(files.video, stack, told, given[1])
        if how == "link":
            return _linked(files, seen, folder, told, given[0])
        heard = _sound(files, stack, told, given[0])
        if heard is None and seen is None:
            return Media(told=tuple(told))
        data = compact.copy(heard, seen)
    if len(data) > MOST_BYTES:
        raise SeldioError(
            f"sound and pictures take {len(data) / 2**20:.0f} MB; a page holds up to {MOST_BYTES // 2**20}. "
            "--link-media names the files in place of copying them, --no-media leaves them out"
        )
    address = f"data:{'video' if seen else 'audio'}/mp4;base64,{base64.b64encode(data).decode()}"
    seconds = max(heard.seconds if heard else 0.0, float(seen.scan.end) if seen else 0.0)
    audio, video = ("", address) if seen else (address, "")
    return Media(audio, video, seconds, _panorama(seen), tuple(told), len(data))


def _panorama(seen: Video | None) -> bool:
    return seen is not None and abs(seen.size[0] / seen.size[1] / 2 - 1) < _PANORAMA


def _sound(files: Files, stack: ExitStack, told: list[str], named: bool) -> compact.Sound | None:
    if files.audio is None:
        return None
    heard = None
    with _forgiven(files.audio, "sound", told, named):
        heard = compact.sound(stack.enter_context(files.audio.open()), files.array)
        told.append(f"sound of {_name(files.audio)}: {heard.told}")
    return heard


def _video(entry: Entry | None, stack: ExitStack, told: list[str], named: bool) -> Video | None:
    if entry is None:
        return None
    seen = None
    with _forgiven(entry, "video", told, named):
        seen = stack.enter_context(Video(stack.enter_context(entry.open())))
        told.append(f"video of {_name(entry)}: {seen.size[0]} × {seen.size[1]}")
    return seen


@contextmanager
def _forgiven(entry: Entry, what: str, told: list[str], named: bool) -> Iterator[None]:
    """A file that was found and cannot be read is told of; one that was named is an error."""
    try:
        yield
    except (NotAudio, NotVideo) as error:
        if named:
            raise type(error)(f"{printable(entry.path)} cannot be read as {what}: {error}") from error
        told.append(f"no {what}: {_name(entry)} cannot be read ({error})")


def _linked(files: Files, seen: Video | None, folder: Path | None, told: list[str], named: bool) -> Media:
    """Addresses of the files themselves; browsers mix the channels of a recording as they like."""
    audio, seconds = "", float(seen.scan.end) if seen is not None else 0.0
    if files.audio is not None:
        with _forgiven(files.audio, "sound", told, named):
            seconds = max(seconds, probe_entry(files.audio).seconds)
            audio = _address(files.audio, folder)
            told.append(f"sound of {_name(files.audio)}, linked: its channels are mixed as the browser does")
    video = _address(files.video, folder) if files.video is not None and seen is not None else ""
    return Media(audio, video, seconds, _panorama(seen), tuple(told), 0, linked=True)


def _name(entry: Entry) -> str:
    return printable(Disk(entry.path).name)


def _address(entry: Entry, folder: Path | None) -> str:
    """The address of a file on disk, from the *folder* of the page where there is one.

    Raises:
        UsageError: it lies inside of another file.
    """
    if entry.local is None:
        raise UsageError(
            f"{printable(entry.path)} is no file of its own, so no page can link it: leave --link-media out"
        )
    path = os.path.abspath(entry.path)
    if folder is not None:
        try:
            relative = os.path.relpath(path, os.path.abspath(folder)).replace(os.sep, "/")
        except ValueError:  # another drive
            return Disk(path).as_uri()
        return "./" + quote(os.fsencode(relative))
    return Disk(path).as_uri()
