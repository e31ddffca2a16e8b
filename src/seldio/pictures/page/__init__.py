"""One clip as one html page: sound, panorama, timeline, questions and findings; nothing is fetched from anywhere."""

from __future__ import annotations

import dataclasses
import os
from fractions import Fraction
from typing import Any, Literal

from seldio.pictures.colours import COLOURS
from seldio.pictures.page.document import document
from seldio.pictures.page.events import Side, side
from seldio.pictures.page.files import Files, prediction_of
from seldio.pictures.page.hearing import Held, held
from seldio.pictures.page.media import Media, media_of
from seldio.pictures.page.places import placed
from seldio.pictures.page.questions import questions_of
from seldio.text import printable

__all__ = ["Page", "view"]

Path = str | os.PathLike[str]
_SIDES = ("labels", "predictions")


@dataclasses.dataclass(frozen=True)
class Page:
    """A page, and what is in it.

    Args:
        html: its bytes, UTF-8.
        clip: the clip's name.
        events: how many labelled events.
        predictions: how many predicted ones; None without predictions.
        questions: how many; None where none were asked for.
        findings: how many, in the labels, the predictions, and between labels and sound.
        media: what can be heard and seen, in words.
        media_bytes: of the sound and pictures in the page.
    """

    html: bytes
    clip: str
    events: int
    predictions: int | None
    questions: int | None
    findings: int
    media: tuple[str, ...]
    media_bytes: int


def view(
    labels: Path,
    *,
    clip: str | None = None,
    audio: Path | None = None,
    video: Path | None = None,
    predictions: Path | None = None,
    questions: Path | None = None,
    format: str | None = None,
    predictions_format: str | None = None,
    media: Literal["embed", "link", "none"] = "embed",
    folder: Path | None = None,
    deep: bool = False,
) -> Page:
    """The page about a clip.

    Args:
        labels: its label file. In a data set tree its recording (FOA before MIC) and its video are found. Or a data
            set: a folder, archive, export of :mod:`seldio.data`, or address on the Hub.
        clip: which clip of the data set; needed where it has several.
        audio: the recording, in place of the one that was found.
        video: the video, likewise.
        predictions: a file of predictions, or a folder with one of the clip's name.
        questions: a file of questions, of which those about the clip are taken.
        format: the layout of the labels; found from their content if not given.
        predictions_format: that of the predictions.
        media: *embed* puts small copies of sound and pictures into the page, *link* names the files where they
            are, *none* leaves them out.
        folder: where the page will be, from which linked files are named; by full paths if not given.
        deep: hold the labels against the sound of the recording, see ``docs/deep.md``.

    Raises:
        UsageError: a file or clip is not there, or holds something else.
        DataError: nothing in it can be read.
        SeldioError: it is more than a page can hold, or the disk fails.
    """
    with placed(labels, clip, audio, video) as (place, files):
        given = side(place, format)
        shown = media_of(files, media, folder, given=(audio is not None, video is not None))
        heard = held(given.reading, files, deep)
    predicted = side(prediction_of(predictions, files.stem), predictions_format) if predictions is not None else None
    asked, remark = questions_of(questions, files.stem) if questions is not None else ([], "")
    record = _record(files, given, predicted, shown, heard)
    record |= {"questions": asked, "remark": remark, "asked": questions is not None}
    return Page(
        document(record, shown),
        files.stem,
        len(given.events),
        None if predicted is None else len(predicted.events),
        len(asked) if questions is not None else None,
        len(record["findings"]),
        shown.told,
        shown.size,
    )


def _record(files: Files, given: Side, predicted: Side | None, shown: Media, heard: Held) -> dict[str, Any]:
    """What the page's script reads."""
    sides = [given] if predicted is None else [given, predicted]
    return {
        "clip": printable(files.stem),
        "layout": given.reading.format.name,
        "seconds": max(shown.seconds, *(one.seconds for one in sides), 0.1),
        "sides": [
            {"hop": _plain(one.hop), "events": one.events, "layout": one.reading.format.name} for one in sides
        ],
        "findings": [
            *({**finding, "side": "sound"} for finding in heard.findings),
            *({**finding, "side": name} for name, one in zip(_SIDES, sides, strict=False) for finding in one.findings),
        ],
        "held": heard.told,
        "media": list(shown.told),
        "panorama": shown.panorama,
        "colours": COLOURS,
    }  # fmt: skip


def _plain(hop: Fraction) -> float:
    return float(hop)
