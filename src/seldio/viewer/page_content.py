"""The content of the page about a clip: events frame by frame, findings in time, questions."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from seldio import clock, geometry
from seldio.catalogues.look import named_like_labels
from seldio.check.validation import examine
from seldio.conversion.frames import are_events, class_keys, frames_of, grouped, with_directions
from seldio.conversion.inputs import read_items
from seldio.data.index import ClipMedia, Path, clip_name_of, named_file
from seldio.errors import DataError, SeldioError, UsageError
from seldio.files import DEFAULTS, Entry, Source, open_source
from seldio.files.names import plain_stem
from seldio.files.sources import on_this_machine
from seldio.findings import Finding, all_ranges
from seldio.formats import LabelReading
from seldio.media.arrays import Format
from seldio.schema.events import origin_of
from seldio.schema.qa import Item
from seldio.scores.imaging.maps import WIDTH, Annotations, draw, polygons
from seldio.text import clipped, plural, printable
from seldio.vocabularies import vocabulary

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
    path = source.path if isinstance(source, Source) else source
    readings = [group.reading for group in examined.labels]
    clips = sum(len(reading.parts) for reading in readings)
    if clips > 1:
        raise UsageError(
            f"{printable(path)} holds {plural(clips, 'clip')}: a page shows one; choose a file of one clip, or of the "
            "labels one clip with --clip"
        )
    if len(readings) != 1 or clips != 1:
        if any(rows.reading is not None for _, rows in examined.questions):
            raise UsageError(
                f"{printable(path)} has questions: give the labels of the clip, and the questions with --questions"
            )
        worst = min(examined.report.findings, key=lambda finding: finding.severity.rank, default=None)
        if worst is None:
            raise DataError(f"{printable(path)} has no labels: give the label file of the clip")
        raise DataError(f"no labels could be read: {worst}" + (f"; {worst.hint}" if worst.hint else ""))
    (reading,) = readings
    table, hop = with_directions(reading.table), reading.format.hop
    if are_events(table):
        table, hop = frames_of(table, clock.HOP), clock.HOP
    if table.num_rows > MOST_ROWS:
        raise SeldioError(f"{printable(path)} has {table.num_rows:,} event frames; a page holds up to {MOST_ROWS:,}")
    frames = max((file.frames or 0 for file in origin_of(reading.table).files), default=0)
    last = int(np.max(table["frame"].to_numpy(), initial=-1)) if "frame" in table.column_names else -1
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
            numbers = np.round(np.asarray(table[field].to_numpy(), np.float64), digits).tolist()
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
        times = np.asarray(column.cast("float64").to_numpy(), np.float64)
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
        starts, ends = (
            every[np.append(0, breaks + 1)[: len(every)]],
            every[np.append(breaks, -1)[: len(every)]] + framed,
        )
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
    recordings: list[tuple[Entry, Format | None]] = [
        (media.played, media.array if media.array in ("foa", "mic") else None)
    ]
    recordings += [(media.sibling, "mic")] if media.sibling is not None else []
    names = " and ".join(dict.fromkeys(printable(entry.name.rpartition("/")[2]) for entry, _ in recordings))
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
        means = ((angle, getattr(recording, angle)) for angle in ("azimuth", "elevation"))
        biases = [
            f"{angle} {mean.value:+.1f}° [{mean.low:.1f}, {mean.high:.1f}]" for angle, mean in means if mean is not None
        ]
        bias = f"; mean difference (audio minus labels): {', '.join(biases)}" if biases else ""
        sentences.append(
            f"{name}: {plural(recording.events, 'event')} heard alone at {plural(recording.places, 'place')} "
            f"({recording.seconds:g} s), {recording.median:.1f}° off in the median, {100 * recording.share:.0f} % of "
            f"the time within 30°{bias}{f'; {recording.why}' if recording.why else ''}."
        )
    azimuth, elevation = geometry.to_polar(*heard.frames.direction.T)
    direct = (heard.frames.weight > _DIRECT).tolist()
    shown: dict[str, Any] = {"hop": heard.hop}
    for short, angles in (("a", azimuth), ("e", elevation)):
        shown[short] = [round(angle) if sure else None for angle, sure in zip(angles.tolist(), direct, strict=True)]
    return SoundCheck(" ".join(sentences), findings_of(findings, reading), shown)


#: Questions that a page lists; what is beyond is counted.
MOST_QUESTIONS = 500


def questions_of(path: str | os.PathLike[str], stem: str) -> tuple[list[dict[str, Any]], str]:
    """Return the questions whose recordings are called like the clip *stem*, or were cut from it, and a note."""
    names: list[str] = []
    readings = read_items(path, None, lambda finding: names.append(finding.code))
    rows = [row for reading in readings for row in reading.rows if isinstance(row, Item)]
    if not rows:
        raise UsageError(f"no questions in {printable(os.fspath(path))}; seldio info shows what it contains")
    about = []
    for row in rows:
        origin = _extra(row, "cut_from", "audio")
        if stem in map(plain_stem, [*row.audio, *([origin] if isinstance(origin, str) else [])]):
            about.append(row)
    notes = []
    if not about:
        notes.append(f"None of the {plural(len(rows), 'question')} in the file is about {printable(stem)}.")
    if len(about) > MOST_QUESTIONS:
        notes.append(f"{len(about) - MOST_QUESTIONS:,} more are not shown.")
    if names:
        notes.append(f"The file has {plural(len(names), 'finding')}: seldio validate lists them.")
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
    for proof in item.events or ():
        if proof.onset is not None:
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
