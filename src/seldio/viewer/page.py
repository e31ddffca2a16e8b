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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from fractions import Fraction
from importlib.resources import files
from pathlib import Path as Disk
from string import Template
from typing import Any, BinaryIO, Literal, cast
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.catalogues.look import named_like_labels
from seldio.check.validation import examine
from seldio.conversion.frames import are_events, class_keys, frames_of, grouped, with_directions
from seldio.conversion.inputs import read_items
from seldio.data.index import ClipMedia, Path, clip_name_of, named_file, open_clip
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import DEFAULTS, Entry, Source, open_source, write_bytes
from seldio.files.names import plain_stem
from seldio.files.sources import on_this_machine, path_of
from seldio.findings import Finding, all_ranges
from seldio.formats import LabelReading
from seldio.media.arrays import Format
from seldio.media.audio import NotAudio, probe_entry
from seldio.media.intensity import SHORT, array_heard
from seldio.reports.page import hashed, look
from seldio.schema.arrays import to_numpy
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.text import Displayed, clipped, plural, printable
from seldio.vocabularies import vocabulary

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
    sides, notes = {"labels": reference}, shown.notes
    if predictions is not None:
        sides["predictions"] = predicted = side(prediction_of(predictions, stem), predictions_format)
        notes = (*of_another_clip(predicted, stem, named=clip is not None), *notes)
    items, remark = questions_of(questions, stem) if questions is not None else ([], "")
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
    page = Page(
        document(record, shown),
        stem,
        len(reference.events),
        len(sides["predictions"].events) if "predictions" in sides else None,
        len(items) if questions is not None else None,
        len(findings),
        notes,
        shown.size,
        where,
    )
    if stream is not None:
        stream.write(page.html)
        return page
    inputs = (source, audio, video, predictions, questions)
    if os.path.realpath(where) in {os.path.realpath(path) for path in inputs if path is not None}:
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


# --- sound and pictures ---------------------------------------------------------------------------------

#: What becomes of sound and pictures: small copies of them in the page, addresses of the files, or nothing.
MediaUse = Literal["embed", "link", "none"]
#: Bytes of sound and pictures that a page may hold.
MOST_BYTES = 64 * 2**20
#: Pictures twice as wide as high are panoramas; others are shown beside the labels, not under them.
_PANORAMA = 0.05


@dataclasses.dataclass(frozen=True)
class PageMedia:
    """The sound and video of a page: their addresses, the length of the longer one, and notes to print.

    *audio* is empty if the video has the sound, *size* counts the bytes embedded in the page, and *linked* tells
    whether addresses lead outside.
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
    from seldio.media.recording import Recording
    from seldio.media.video import Video

    notes: list[str] = []
    sound, pictures, audio, video, seconds, data = None, None, "", "", 0.0, b""
    with ExitStack() as stack:
        if film is not None:
            with _forgiven(film, "video", notes, named[1]):
                pictures = stack.enter_context(Video(stack.enter_context(film.open())))
                seconds, video = float(pictures.end), _address(film, folder) if how == "link" else ""
                notes.append(f"video of {_name(film)}: {pictures.size[0]} × {pictures.size[1]}")
        if recording is not None and how == "link":  # browsers mix the channels of a recording as they like
            with _forgiven(recording, "sound", notes, named[0]):
                seconds, audio = max(seconds, probe_entry(recording).seconds), _address(recording, folder)
                notes.append(f"sound of {_name(recording)}, linked: its channels are mixed as the browser does")
        elif recording is not None:
            with _forgiven(recording, "sound", notes, named[0]):
                # mixed as what it sounds like, where its folder says another array
                evidence, array, doubt = array_heard(recording), clip.array, list[str]()
                heard = evidence.heard if evidence is not None else None
                if heard is not None and array in SHORT and heard != array:
                    text = f"is among the {SHORT[array]} recordings and sounds like {SHORT[heard]}"
                    doubt.append(f"{_name(recording)} {text}: mixed as {SHORT[heard]}")
                    array = heard
                sound = copies.sound(stack.enter_context(Recording(recording)), array)
                seconds = max(seconds, sound.recording.probe.seconds)
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


# --- labels and predictions -------------------------------------------------------------------------------

#: The colours of classes, the same in a plot and on the page, by index; the next one is always far from those before.
#:
#: They were chosen by a search for the greatest least difference (CIE76 in CIELAB) between any two of them as seen
#: with normal, protanopic, deuteranopic and tritanopic eyes (Machado, Oliveira and Fernandes 2009, severity 1). No
#: two come closer than 23 there, and all stand out from white (contrast of 1.75 at least) and from black (2.2).
#: A picture never tells classes apart by colour alone: their names are there too.
COLOURS: tuple[str, ...] = (
    "#0000ff", "#ff2700", "#d8b1ff", "#89143b", "#62d89d", "#4e3b76", "#d862ff", "#8900c4", "#9dc462", "#9d0000",
    "#ffb100", "#8976b1", "#4e7676", "#9d764e",
)  # fmt: skip
#: Event frames that a page may hold.
MOST_ROWS = 200_000
#: Energy maps that a page holds: as many as a clip of ten minutes has with one source.
MOST_MAPS = 6_000
#: Levels of energy that a page distinguishes, written as one digit to the base of 16.
_LEVELS = "0123456789abcdef"
#: How direct (0 to 1) the sound of a label frame is where a page shows its direction.
_DIRECT = 0.3


@dataclasses.dataclass(frozen=True)
class PageLabels:
    """The labels or the predictions of a clip."""

    reading: LabelReading  # their rows
    #: what is drawn, one record an event: class name ``c``, number of the class in its vocabulary ``n``, source ``s``,
    #: first frame ``f``, and for each frame azimuth ``a``, elevation ``e`` (degrees) and distance ``d`` (metres), null
    #: where unknown; of energy maps also ``m``, as :func:`packed` has them
    events: list[dict[str, Any]]
    hop: Fraction  # seconds between frames
    seconds: float  # how long the clip is by this file
    findings: list[dict[str, Any]]  # what is wrong, all of it, as :func:`findings_of` gives it


def side(source: str | Source, format: str | None) -> PageLabels:
    """Read and check the label or prediction file of one clip, which may be an open source."""
    with all_ranges():
        examined = examine(source, format=format)
    path = path_of(source)
    clips = sum(len(reading.parts) for reading in examined.labels)
    if clips > 1:
        raise UsageError(
            f"{printable(path)} holds {plural(clips, 'clip')}: a page shows one; choose a file of one clip, or of the "
            "labels one clip with --clip"
        )
    if len(examined.labels) != 1 or clips != 1:
        if any(rows.part is not None for _, rows in examined.questions):
            raise UsageError(
                f"{printable(path)} has questions: give the labels of the clip, and the questions with --questions"
            )
        worst = min(examined.report.findings, key=lambda finding: finding.severity.rank, default=None)
        if worst is None:
            raise DataError(f"{printable(path)} has no labels: give the label file of the clip")
        raise DataError(f"no labels could be read: {worst}" + (f"; {worst.hint}" if worst.hint else ""))
    (reading,) = examined.labels
    table, hop = with_directions(reading.table), reading.format.hop
    if are_events(table):
        table, hop = frames_of(table, clock.HOP), clock.HOP
    if table.num_rows > MOST_ROWS:
        raise SeldioError(f"{printable(path)} has {table.num_rows:,} event frames; a page holds up to {MOST_ROWS:,}")
    frames = max((file.frames or 0 for file in origin_of(reading.table).files), default=0)
    last = int(np.max(to_numpy(table["frame"]), initial=-1)) if "frame" in table.column_names else -1
    seconds = max(clock.onset(frames, hop), clock.offset(last, hop))
    events = _events(table, hop, reading.format.vocabulary)
    return PageLabels(reading, events, hop, seconds, findings_of(examined.report.findings, reading))


def prediction_of(path: Path, stem: str) -> str | Source:
    """Return the file of predictions for the clip *stem*: *path* itself, or the file of that name in the folder."""
    shown = on_this_machine(os.fspath(path), DEFAULTS)
    if not os.path.isdir(shown):  # noqa: PTH112 - a plain string, as in seldio.files
        return os.fspath(named_file(path).path)
    with open_source(shown, lambda _: None) as source:
        entries = [entry for entry in source if clip_name_of(entry.name) == stem and named_like_labels(entry)]
    if len(entries) != 1:
        count = "no file" if not entries else f"{len(entries)} files"
        raise UsageError(f"{printable(shown)} has {count} of the name {clipped(stem)}: choose the file itself")
    return entries[0].path if entries[0].real is not None else Source(entries[0].path, "file", (entries[0],))


def file_stem(clip: str) -> str:
    """Return the name of a clip as that of a file: tables of labels may contain any."""
    return re.sub(r'[\x00-\x1f\x7f\\/:*?"<>|]', "_", clip).lstrip(".")[:100] or "clip"


def of_another_clip(predicted: PageLabels, stem: str, *, named: bool) -> list[str]:
    """Return a note if predictions are named unlike the clip *stem*; raise UsageError if only numbers differ."""
    other = predicted.reading.parts[0].origin.clip
    pairs = ((stem, other), (other, stem))
    if "stdin" in (stem, other) or any(
        re.search(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])", name) for name, part in pairs
    ):
        return []
    difference = f"the predictions are called {clipped(other)}, the labels {clipped(stem)}"
    if not named and re.sub(r"\d+", "#", other) == re.sub(r"\d+", "#", stem):
        raise UsageError(
            f"{difference}: choose the predictions of the same clip, or draw these with --clip {printable(stem)}"
        )
    return [difference]


def _events(table: Any, hop: Fraction, class_list: str) -> list[dict[str, Any]]:
    """Return the events in the event frames of a clip by onset; every row is in one of them."""
    if not table.num_rows or "frame" not in table.column_names:
        return []
    values: dict[str, list[Any] | None] = {}
    for short, field, digits in (("a", "azimuth", 2), ("e", "elevation", 2), ("d", "distance", 3)):
        if field in table.column_names and table[field].null_count < table.num_rows:
            numbers = np.round(np.asarray(to_numpy(table[field]), np.float64), digits).tolist()
            # for JSON whole ones without a decimal point
            values[short] = [
                None if number != number else int(number) if number == int(number) else number for number in numbers
            ]
    values["m"] = packed(table)
    (keys, codes), events, words = class_keys(table), grouped(table, hop), vocabulary(class_list)
    frames = table["frame"].to_pylist()
    sources = table["source"].to_pylist() if "source" in table.column_names else None
    records = []
    for rows in map(events.trajectory, range(len(events))):
        class_id, name = keys[int(codes[rows[0]])]
        shown = printable(name or words.label(-1 if class_id is None else class_id))
        record: dict[str, Any] = {"c": shown, "n": class_id, "f": frames[rows[0]], "k": len(rows)}
        record |= {"s": sources[rows[0]]} if sources is not None else {}
        record |= {short: [column[row] for row in rows] for short, column in values.items() if column is not None}
        records.append(record)
    return records


def packed(table: pa.Table) -> list[list[Any] | None] | None:
    """Return the maps of all rows for a page: left column, first row, width and a digit for each pixel, row by row.

    Columns count on past the right edge, where they are those on the left. None for a row without energy; None as a
    whole where the labels have no maps, or more than a page holds.
    """
    if "segmentation" not in table.column_names or not 0 < table.num_rows <= MOST_MAPS:
        return None
    from seldio.scores.imaging.maps import WIDTH, Annotations, draw, polygons  # these load scipy

    sides, maps = Annotations(table), list[list[Any] | None]()
    for row in range(table.num_rows):
        levels = np.rint(draw(polygons(sides.shape(row))) * (len(_LEVELS) - 1)).astype(int)
        rows, columns = (np.flatnonzero(levels.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            maps.append(None)
            continue
        # the widest empty stretch, around the circle, is what is left out
        gaps = np.diff(np.append(columns, columns[0] + WIDTH))
        left = int(columns[(int(gaps.argmax()) + 1) % len(columns)])
        width = WIDTH - int(gaps.max()) + 1
        top, bottom = int(rows[0]), int(rows[-1]) + 1
        inside = levels[top:bottom].take(range(left, left + width), axis=1, mode="wrap")
        maps.append([left, top, width, "".join(_LEVELS[level] for level in inside.ravel().tolist())])
    return maps


# --- findings ----------------------------------------------------------------------------------------------


def findings_of(findings: list[Finding], reading: LabelReading) -> list[dict[str, Any]]:
    """Return findings with the times (seconds) of the rows that they are about.

    That of the first row, or of the row before a line that could not be read, is ``t``, null for the file as a whole;
    those of all rows are ``s``: start and end of each stretch of frames that follow each other.
    """
    part, table = reading.parts[0], reading.table
    framed = "frame" in table.column_names
    hop = float(reading.format.hop) if framed else 1.0
    times = np.zeros(0)
    if framed or "onset" in table.column_names:
        column = table["frame" if framed else "onset"][part.first : part.first + part.rows]
        times = np.asarray(to_numpy(column), np.float64)
    # rows stand in the file in their order
    row_lines: Any = part.lines(np.arange(part.rows)) if findings and len(times) else []

    def moments(finding: Finding, lines: Sequence[tuple[int, int]]) -> Any:
        """Return the times of the rows in some lines; none for a header or a line before the first row."""
        if finding.line is None or finding.path != part.file.path or not len(times):
            return times[:0]
        bounds = [np.searchsorted(row_lines, ends, side="right").tolist() for ends in lines]
        moments = np.concatenate([times[max(0, low - 1) : high] for low, high in bounds])
        return moments[np.isfinite(moments)]

    records = []
    for finding in findings:
        here = (finding.line or 0, finding.line or 0)
        first, every = moments(finding, [here]), np.unique(moments(finding, finding.ranges or [here]))
        breaks = np.flatnonzero(np.diff(every) > framed)
        starts = every[np.append(0, breaks + 1)[: len(every)]]
        ends = every[np.append(breaks, -1)[: len(every)]] + framed
        records.append(
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "message": printable(finding.message),
                "hint": printable(finding.hint) if finding.hint else None,
                "line": finding.line,
                "column": finding.column,
                "count": finding.count,
                "t": float(first[0] * hop) if len(first) else None,
                "s": np.round(np.stack((starts, ends), axis=1) * hop, 3).ravel().tolist(),
            }
        )
    return records


@dataclasses.dataclass(frozen=True)
class SoundCheck:
    """The labels of a clip compared with its recording."""

    said: str  # what was done and heard, or the command that does it, in sentences
    findings: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # as :func:`findings_of` gives them
    #: what was heard in each label frame of a hop ``hop`` (s): azimuths ``a`` and elevations ``e``, null where nothing
    heard: dict[str, Any] | None = None


def check_sound(reading: LabelReading, media: ClipMedia, deep: bool) -> SoundCheck:
    """Compare the labels of a clip with its recording, if *deep*."""
    if media.played is None:
        return SoundCheck("No recording was found to compare the labels with.")
    if not deep:
        return SoundCheck(
            "The labels were not compared with the audio: use seldio view --deep for a clip, "
            "or seldio validate --deep for a dataset."
        )
    from seldio.rules.deep import check_clip

    findings: list[Finding] = []
    array = media.array if media.array in ("foa", "mic") else None
    recordings: list[tuple[Entry, Format | None]] = [(media.played, array)]
    recordings += [(media.sibling, "mic")] if media.sibling is not None else []
    names = " and ".join(dict.fromkeys(_name(entry) for entry, _ in recordings))
    heard = check_clip(reading, recordings, findings.append)
    if heard is None:
        return SoundCheck(
            f"The labels could not be compared with {names}: this requires directions, and an FOA or MIC recording."
        )
    both = " (FOA and MIC)" if media.sibling is not None else ""
    sentence = f"The labels were compared with the audio of {names}{both}"
    if not findings:
        sentence += ": nothing contradicts them, which does not prove that they are right"
    sentences = [f"{sentence}."]
    for recording in heard.recordings:
        name = recording.format.upper() or "the recording"
        if recording.median is None or recording.share is None:
            sentences.append(f"In {name}, {recording.why or 'nothing was heard'}.")
            continue
        sentences.append(
            f"{name}: {plural(recording.events, 'event')} heard alone at {plural(recording.places, 'place')} "
            f"({recording.seconds:g} s), {recording.median:.1f}° off in the median, {100 * recording.share:.0f} % of "
            f"the time within 30°{f'; {recording.why}' if recording.why else ''}."
        )
    direct = heard.frames.weight > _DIRECT
    shown: dict[str, Any] = {"hop": heard.hop}
    for short, angles in zip("ae", geometry.to_polar(*heard.frames.direction.T), strict=True):
        shown[short] = [round(angle) if sure else None for angle, sure in zip(angles.tolist(), direct, strict=True)]
    return SoundCheck(" ".join(sentences), findings_of(findings, reading), shown)


#: Questions that a page lists; what is beyond is counted.
MOST_QUESTIONS = 500


def questions_of(path: str | os.PathLike[str], stem: str) -> tuple[list[dict[str, Any]], str]:
    """Return the questions whose recordings are called like the clip *stem*, or were cut from it, and a note."""
    findings: list[Finding] = []
    readings = read_items(path, None, findings.append)
    rows = [row for reading in readings for row in reading.rows if isinstance(row, Item)]
    if not rows:
        raise UsageError(f"no questions in {printable(os.fspath(path))}; seldio info shows what it contains")
    about = [row for row in rows if stem in map(plain_stem, [*row.audio, str(_extra(row, "cut_from", "audio") or "")])]
    notes = []
    if not about:
        notes.append(f"None of the {plural(len(rows), 'question')} in the file is about {printable(stem)}.")
    if len(about) > MOST_QUESTIONS:
        notes.append(f"{len(about) - MOST_QUESTIONS:,} more are not shown.")
    if findings:
        notes.append(f"The file has {plural(len(findings), 'finding')}: seldio validate lists them.")
    return [_record(row) for row in about[:MOST_QUESTIONS]], " ".join(notes)


def _extra(item: Item, *keys: str) -> Any:
    value: Any = item.extra
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _bound(item: Item, name: str) -> float | None:
    """Return where in the recording the item begins or ends; formats without a field for it keep it in ``meta``."""
    values = (getattr(item, name), _extra(item, name), _extra(item, "cut_from", name))
    return next((float(value) for value in values if isinstance(value, int | float)), None)


def _lines(text: str | None) -> str | None:
    return None if text is None else "\n".join(map(printable, text.splitlines()))


def _record(item: Item) -> dict[str, Any]:
    start, meta = _bound(item, "start"), item.answer_meta
    # the moments to jump to: events that prove the answer, or else its times
    times: list[tuple[str, float | None, float | None]] = []
    for proof in (proof for proof in item.events or () if proof.onset is not None):
        where = f" at {proof.azimuth:g}°" if proof.azimuth is not None else ""
        times.append((f"{printable(proof.class_name)}{where}", proof.onset, proof.offset))
    if not times and meta is not None:
        times += [("the answer", meta.time_span[0], meta.time_span[1])] if meta.time_span is not None else []
        times += [("the answer", meta.onset_time, None)] if meta.onset_time is not None else []
    moments = []  # seconds of the clip
    for text, onset, offset in times:
        end = None if offset is None else round((start or 0.0) + offset, 3)
        moments.append({"text": text, "t": round((start or 0.0) + (onset or 0.0), 3), "end": end})
    return {
        "id": printable(item.id),
        "task": None if item.task is None else printable(item.task),
        "question": _lines(item.question),
        "options": None if item.options is None else [_lines(option) for option in item.options],
        "answer": _lines(item.answer if item.answer is not None else item.canonical_answer),
        "start": start,
        "end": _bound(item, "end"),
        "language": item.language,
        "moments": moments,
    }
