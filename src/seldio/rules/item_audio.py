"""QAI3: the recordings that questions are about, judged by their headers.

Each recording is opened once, and only its header is read. What each benchmark expects of
its recordings is data: :attr:`seldio.benchmarks.Benchmark.recordings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.benchmarks import find
from seldio.files import Entry
from seldio.findings import Finding
from seldio.rules.collection import Found, probed
from seldio.rules.item_table import ItemTable
from seldio.rules.items import unsafe, usual_paths
from seldio.rules.registry import ERROR, INFO, WARNING, rule
from seldio.schema.arrays import pc
from seldio.tasks.spatial import spatial
from seldio.text import clipped, plural, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

#: The file that a path of an item names.
Find = Callable[[str], "Entry | None"]


#: Seconds by which a time may be past the end: the last label frame may be partial.
SLACK = 0.1


class NamedRecording(NamedTuple):
    """A recording and where it is first mentioned."""

    path: str  # as the first item has it, without ``./``
    row: int  # number of the first item that mentions it
    number: int  # its place among the recordings of that item
    probe: Probe | None = None  # its header; None where it cannot be read
    fault: str | None = None  # why it cannot
    ours: bool = True  # whether that item is one of the benchmark, as far as it tells

    @property
    def shown(self) -> str:
        """Its path in a sentence."""
        return clipped(self.path)


class Late(NamedTuple):
    """A time (s) in an item's field after the end of its recording, or of the part of it that is the *clip*."""

    what: str
    field: str
    number: int | None
    time: float
    end: float
    clip: bool


class Audio:
    """The recordings that the questions of a file refer to."""

    def __init__(self, table: ItemTable, find: Find) -> None:
        self.table = table
        #: those that exist, by path, and the first mention of each that is missing
        self.recordings: dict[str, NamedRecording] = {}
        self.missing: list[int] = []
        paths, usual, ours = table.paths, table.shared(usual_paths), _ours(table)
        firsts = np.unique(paths.name, return_index=True)[1].tolist() if table.asks else ()
        known = {name for name in paths.names if plain(name) != name} and {*paths.names}  # most often empty
        for name, ordinary, first in zip(paths.names, usual.tolist(), firsts, strict=False):
            path, row, number = plain(name), int(paths.row[first]), int(paths.place[first])
            if not (ordinary or not unsafe(name)) or (path != name and path in known):
                continue  # unsafe paths are QAI108
            if (entry := find(path)) is None:
                self.missing.append(first)
            else:
                self.recordings[path] = NamedRecording(path, row, number, *probed(entry), ours is None or ours[row])

    @property
    def absent(self) -> Iterator[NamedRecording]:
        """Those that are missing."""
        paths = self.table.paths
        for first in self.missing:
            path = plain(paths.names[paths.name[first]])
            yield NamedRecording(path, int(paths.row[first]), int(paths.place[first]))

    @property
    def late(self) -> Iterator[tuple[int, Late]]:
        """The times after the end of a recording, by row."""
        whole = {
            path: one.probe.seconds for path, one in self.recordings.items() if one.probe and not one.probe.cut_off
        }
        return _behind(self.table, {path: seconds for path, seconds in whole.items() if seconds})

    @property
    def directed(self) -> dict[str, int]:
        """Of recordings that exist, the first row whose question takes directions or distances, by path."""
        paths, asked = self.table.paths, spatial(self.table.table)
        first: dict[str, int] = {}
        for name, row in zip(paths.name.tolist(), paths.row.tolist(), strict=True) if asked.any() else ():
            if asked[row] and plain(paths.names[name]) in self.recordings:
                first.setdefault(plain(paths.names[name]), row)
        return first

    @property
    def expected(self) -> Mapping[str, Any]:
        """What the benchmark's recordings have in common."""
        return _expected(self.table.format)

    @property
    def readable(self) -> Iterator[tuple[NamedRecording, Probe]]:
        """Those that can be read, with their headers."""
        for one in self.recordings.values():
            if one.probe is not None and one.probe.frames:
                yield one, one.probe


def _expected(format: str) -> Mapping[str, Any]:
    """What a benchmark's recordings have in common, see :attr:`seldio.benchmarks.Benchmark.recordings`."""
    known = find(format)
    return {} if known is None else known.recordings


def _ours(table: ItemTable) -> list[bool] | None:
    """Which questions are those of the benchmark, by the field that tells; None where all are."""
    known = find(table.format) if table.asks else None
    for one in known.fields if known is not None else ():
        if known is not None and one.name == known.recordings.get("where"):
            return pc.is_in(table.field(one), value_set=pa.array(one.values)).to_pylist()  # type: ignore[no-any-return]
    return None


def plain(path: str) -> str:
    """A path without the folder that it starts in: ``./a.wav`` is ``a.wav``."""
    return path.removeprefix("./")


_TIMES = ("start", "end", "answer_meta.time_span", "answer_meta.onset_time", "events", "extra")


def _behind(table: ItemTable, lengths: Mapping[str, float]) -> Iterator[tuple[int, Late]]:
    """The times after the end of their recording, or of the part of it that is meant."""
    aside = _expected(table.format).get("aside")
    columns = [table.values(field) for field in _TIMES] if lengths else []
    for row, audio in enumerate(table.values("audio") if lengths else ()):
        seconds = lengths.get(plain(audio[0])) if len(audio) == 1 else None
        if seconds is not None:
            start, end, span, onset, events, extra = (column[row] for column in columns)
            known = start is not None and end is not None
            more = table.extra(row) if aside and extra and ('"start"' in extra or '"end"' in extra) else {}
            start = _seconds(more.get("start")) if start is None else start
            end = _seconds(more.get("end")) if end is None else end
            # the span of an item with both is QAI105, which needs no recording
            times = _times(None if known else span, onset, events)
            for late in _late(start, end, seconds, times):
                yield row, late


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _late(
    start: float | None, end: float | None, seconds: float, times: Iterable[tuple[str, str, int | None, float]]
) -> Iterator[Late]:
    """The times of an item after the end of its recording, *seconds* long, or of its part of it."""
    if start is not None and end is not None and end < start:
        return  # that is QAI105, and the length of the part is unknown
    if start is not None and start >= seconds:
        yield Late("start", "start", None, start, seconds, False)
    elif end is not None and end > seconds + SLACK:
        yield Late("end", "end", None, end, seconds, False)
    else:
        length = (min(end, seconds) if end is not None else seconds) - (start or 0.0)
        for what, field, number, time in times:
            if time > length + SLACK:
                yield Late(what, field, number, time, length, end is not None)


def _times(
    span: list[float] | None, onset: float | None, events: list[dict[str, Any]] | None
) -> Iterator[tuple[str, str, int | None, float]]:
    """The times in an item, each with its field, counted from the start of its clip."""
    if span is not None:
        yield "time_span", "answer_meta", None, max(span)
    if onset is not None:
        yield "onset_time", "answer_meta", None, onset
    for number, event in enumerate(events or ()):
        last = max((time for time in (event["onset"], event["offset"]) if time is not None), default=None)
        if last is not None:
            yield f"the end of {clipped(event['class_name'], 30)}", "events", number, last


#: From this many recordings on, a fault that all of them share is one finding.
MANY = 4


@rule("QAI301", ERROR)
def audio_missing(audio: Audio, found: Found) -> Iterator[Finding]:
    """Missing recording of a question, although others exist."""
    for one in audio.absent if audio.recordings else ():
        yield _at(one, found, f"the recording {one.shown} is missing", "download it, or correct the path")


@rule("QAI302", ERROR)
def audio_unreadable(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording that is not audio, or has no samples."""
    for one in audio.recordings.values():
        if one.fault is not None:
            yield _at(one, found, f"{one.shown} cannot be read as audio: {printable(one.fault)}", "download it again")
        elif one.probe is not None and not one.probe.frames:
            yield _at(one, found, f"{one.shown} has no samples", "download it again")


@rule("QAI303", ERROR)
def audio_cut_off(audio: Audio, found: Found) -> Iterator[Finding]:
    """WAV file shorter than its header says."""
    for one, probe in audio.readable:
        if probe.cut_off:
            message = f"{one.shown} ends at {probe.seconds:.3f} s: {probe.cut_off}"
            yield _at(one, found, message, "download it again")


@rule("QAI304", ERROR)
def audio_rate(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording whose sampling rate differs from the benchmark's."""
    wanted = audio.expected.get("rate")
    if wanted is not None:
        known = audio.expected.get("known", {})
        wrong = [
            (one, f"a rate of {p.rate:,} Hz")
            for one, p in audio.readable
            if p.rate not in (wanted, known.get(one.path))
        ]
        yield from _shared(
            audio, wrong, f"but the benchmark's recordings are at {wanted:,} Hz", "resample {them}", found
        )


@rule("QAI305", ERROR)
def audio_channels(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording with the wrong number of channels for the benchmark."""
    wanted = audio.expected.get("channels")
    if wanted is not None:
        wrong = [(one, plural(p.channels, "channel")) for one, p in audio.readable if p.channels != wanted]
        text = f"but the benchmark's recordings have {plural(wanted, 'channel')}"
        yield from _shared(audio, wrong, text, "use the original of {them}", found)


@rule("QAI306", WARNING)
def audio_too_long(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording longer than models process."""
    most = audio.expected.get("heard")
    if most is not None:
        for one, probe in audio.readable:
            if probe.seconds > most:
                message = f"{one.shown} lasts {probe.seconds:.1f} s, but models hear only the first {most:g} s"
                yield _at(one, found, message, "cut it into clips")


@rule("QAI311", WARNING)
def audio_of_another_length(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording shorter or longer than those of the benchmark."""
    least, most = audio.expected.get("seconds", (0.0, math.inf))
    for one, probe in audio.readable:
        if one.ours and not least - SLACK <= probe.seconds <= most + SLACK:
            message = f"{one.shown} lasts {probe.seconds:.1f} s, but the benchmark's recordings {least:g} to {most:g} s"
            yield _at(one, found, message, "cut it, or download it again")


@rule("QAI307", ERROR)
def time_outside_audio(audio: Audio, found: Found) -> Iterator[Finding]:
    """Time after the end of the recording."""
    for row, time in audio.late:
        end = f"the {'clip' if time.clip else 'recording'} ends at {time.end:.3f} s"
        hint = "write times in seconds from its start"
        message = f"{time.what} is {time.time:g} s, but {end}"
        yield found(row, time.field, message, hint, time.number)


@rule("QAI308", INFO)
def audio_known_oddity(audio: Audio, found: Found) -> Iterator[Finding]:
    """Recording published with a sampling rate that differs from the rest."""
    usual, known = audio.expected.get("rate"), audio.expected.get("known", {})
    for one, probe in audio.readable:
        if probe.rate != usual and known.get(one.path) == probe.rate:
            message = f"{one.shown} is at {probe.rate:,} Hz, as published; the others are at {usual:,} Hz"
            yield _at(one, found, message, "resample it when loading")


@rule("QAI309", INFO)
def audio_not_checked(audio: Audio, found: Found) -> Iterator[Finding]:
    """File of questions without any of its recordings."""
    if audio.missing and not audio.recordings:
        hint = "put them where the paths point, relative to this file's folder or one above it"
        yield found(None, None, f"none of {plural(len(audio.missing), 'recording')} found: not checked", hint)


@rule("QAI310", WARNING)
def direction_of_one_channel(audio: Audio, found: Found) -> Iterator[Finding]:
    """Direction or distance question about a mono recording."""
    if audio.expected.get("channels") is not None:
        return
    directed = audio.directed if audio.recordings else {}
    mono = [one for one, probe in audio.readable if probe.channels == 1 and one.path in directed]
    if mono:
        more = f", and {plural(len(mono) - 1, 'other recording')}" if len(mono) > 1 else ""
        message = f"{mono[0].shown} has 1 channel, but the question takes a direction or distance to answer{more}"
        yield found(directed[mono[0].path], "audio", message, "use the recordings with all their channels")


# --- what rules share --------------------------------------------------------------------------------------


def _at(one: NamedRecording, found: Found, message: str, hint: str) -> Finding:
    """A finding about a recording, at the first item that mentions it."""
    return found(one.row, "audio", message, hint, one.number)


def _shared(
    audio: Audio, wrong: list[tuple[NamedRecording, str]], rest: str, hint: str, found: Found
) -> Iterator[Finding]:  # fmt: skip
    """A finding for each recording; a single one where all are wrong in the same way."""
    values = {value for _, value in wrong}
    if len(wrong) >= MANY and len(values) == 1 and len(wrong) == sum(1 for _ in audio.readable):
        message = f"all {len(wrong):,} recordings have {wrong[0][1]}, {rest}"
        yield _at(wrong[0][0], found, message, hint.format(them="them"))
        return
    for one, value in wrong:
        yield _at(one, found, f"{one.shown} has {value}, {rest}", hint.format(them="it"))
