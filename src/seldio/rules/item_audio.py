"""QAI3: the recordings that questions are about, judged by their headers.

Each recording is opened once, and only its header is read. What each benchmark expects of
its recordings is data: :attr:`seldio.benchmarks.Benchmark.recordings`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from seldio.benchmarks import find
from seldio.files import Entry
from seldio.findings import Finding
from seldio.rules.collection import MakeFinding, probed
from seldio.rules.item_table import ItemTable
from seldio.rules.registry import Check
from seldio.schema.arrays import pc
from seldio.tasks.specs import PUBLISHED
from seldio.text import clipped, plural, printable

if TYPE_CHECKING:
    from seldio.media.audio import Probe

#: The file that a path of an item names.
Find = Callable[[str], "Entry | None"]
#: What the recordings of a benchmark have in common, see :attr:`seldio.benchmarks.Benchmark.recordings`.
Expected = Mapping[str, Any]
#: What is wrong with a recording, by its header, in words that follow its name.
Fault = Callable[["NamedRecording", "Probe", Expected], "str | None"]
#: Seconds by which a time may be past the end: the last label frame may be partial.
SLACK = 0.1
#: From this many recordings on, a fault that all of them share is one finding.
MANY = 4


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


class Audio:
    """The recordings that the questions of a file refer to."""

    def __init__(self, table: ItemTable, look: Find) -> None:
        self.table, known = table, find(table.format)
        self.expected: Expected = known.recordings if known is not None else {}
        #: those that exist, by path, and the first mention of each that is missing
        self.recordings: dict[str, NamedRecording] = {}
        self.missing: list[int] = []
        paths, ours = table.paths, np.ones(len(table), bool)
        for one in known.fields if known is not None and table.asks else ():
            if one.name == self.expected.get("where"):
                ours = np.array(pc.is_in(table.field(one), value_set=pa.array(one.values)).to_pylist(), bool)
        mentions = np.unique(paths.name, return_index=True)[1].tolist() if table.asks else ()
        known_paths = {name for name in paths.names if plain(name) != name} and {*paths.names}  # most often empty
        for name, unsafe, mention in zip(paths.names, paths.unsafe, mentions, strict=False):
            path, row, number = plain(name), int(paths.row[mention]), int(paths.place[mention])
            if unsafe or (path != name and path in known_paths):
                continue  # unsafe paths are QAI108
            if (entry := look(path)) is None:
                self.missing.append(mention)
            else:
                self.recordings[path] = NamedRecording(path, row, number, *probed(entry), bool(ours[row]))

    @property
    def absent(self) -> Iterator[NamedRecording]:
        """Those that are missing."""
        paths = self.table.paths
        for mention in self.missing:
            path = plain(paths.names[paths.name[mention]])
            yield NamedRecording(path, int(paths.row[mention]), int(paths.place[mention]))

    @cached_property
    def readable(self) -> list[tuple[NamedRecording, Probe]]:
        """Those that can be read, with their headers."""
        return [(one, one.probe) for one in self.recordings.values() if one.probe is not None and one.probe.frames]

    @cached_property
    def lengths(self) -> dict[str, float]:
        """The seconds of those that are whole, by path."""
        return {one.path: probe.seconds for one, probe in self.readable if not probe.cut_off}


def plain(path: str) -> str:
    """Return a path without the folder that it starts in: ``./a.wav`` is ``a.wav``."""
    return path.removeprefix("./")


def _by_header(hint: str, together: bool = False) -> Callable[[Fault], Check]:
    """Make a rule of what is wrong with recordings; *together*: one finding if all of them have the same fault."""

    def made(fault: Fault) -> Check:
        def check(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
            faults = [(one, wrong) for one, probe in audio.readable if (wrong := fault(one, probe, audio.expected))]
            shared = (
                together and len(faults) == len(audio.readable) >= MANY and len({wrong for _, wrong in faults}) == 1
            )
            for one, wrong in faults[:1] if shared else faults:
                said = f"all {len(faults):,} recordings {wrong.replace('has', 'have', 1)}"
                message = said if shared else f"{one.shown} {wrong}"
                yield finding(one.row, "audio", message, hint.format("them" if shared else "it"), one.number)

        check.__name__ = fault.__name__
        return check

    return made


def audio_missing(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    for one in audio.absent if audio.recordings else ():
        message = f"the recording {one.shown} is missing"
        yield finding(one.row, "audio", message, None, one.number)


def audio_unreadable(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    for one in audio.recordings.values():
        if one.fault is not None or (one.probe is not None and not one.probe.frames):
            said = f"cannot be read as audio: {printable(one.fault)}" if one.fault is not None else "has no samples"
            yield finding(one.row, "audio", f"{one.shown} {said}", None, one.number)


@_by_header("download it again")
def audio_cut_off(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:  # noqa: ARG001
    return f"ends at {probe.seconds:.3f} s: {probe.cut_off}" if probe.cut_off else None


@_by_header("resample {}", together=True)
def audio_rate(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:
    wanted = expected.get("rate")
    if wanted is None or probe.rate in (wanted, expected.get("known", {}).get(one.path)):
        return None
    return f"has a rate of {probe.rate:,} Hz, but the benchmark's recordings are at {wanted:,} Hz"


@_by_header("use the original of {}", together=True)
def audio_channels(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:  # noqa: ARG001
    wanted = expected.get("channels")
    if wanted is None or probe.channels == wanted:
        return None
    return f"has {plural(probe.channels, 'channel')}, but the benchmark's recordings have {plural(wanted, 'channel')}"


@_by_header("cut it into clips")
def audio_too_long(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:  # noqa: ARG001
    most = expected.get("heard", math.inf)
    return f"lasts {probe.seconds:.1f} s, but models hear only the first {most:g} s" if probe.seconds > most else None


@_by_header("cut it, or download it again")
def audio_of_another_length(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:
    least, most = expected.get("seconds", (0.0, math.inf))
    if not one.ours or least - SLACK <= probe.seconds <= most + SLACK:
        return None
    return f"lasts {probe.seconds:.1f} s, but recordings of the benchmark last {least:g} to {most:g} s"


@_by_header("resample it when loading")
def audio_known_oddity(one: NamedRecording, probe: Probe, expected: Expected) -> str | None:
    usual = expected.get("rate")
    if probe.rate == usual or expected.get("known", {}).get(one.path) != probe.rate:
        return None
    return f"is at {probe.rate:,} Hz, as published; the others are at {usual:,} Hz"


def audio_not_checked(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    if audio.missing and not audio.recordings:
        yield finding(None, None, f"none of {plural(len(audio.missing), 'recording')} found: not checked")


_HEARER = r"(you|the listener|the microphone)"
#: Words of questions that ask for directions or distances and nothing else.
_SPATIAL_WORDS = (
    r"(?i)\b(azimuth|elevation|(which|what) direction|direction of arrival|how far|(to|on|from) (the|your|its) "
    r"(left|right)|(left|right)[- ](hand )?(side|channel|ear)|left or right|right or left|clockwise|"
    rf"(in front of|behind) {_HEARER})\b"
)


def _spatial(table: pa.Table) -> Any:
    """Mask the questions that take directions or distances: by their task, their truth or their words."""
    tasks = pa.array([task.name for task in PUBLISHED.values() if task.spatial])
    spatial = pc.fill_null(pc.is_in(table["task"], value_set=tasks), False)
    metas = table["answer_meta"].combine_chunks()
    for name in ("azimuth_deg", "elevation_deg", "distance_m"):
        spatial = pc.or_(spatial, pc.is_valid(pc.struct_field(metas, name)))
    words = pc.fill_null(pc.match_substring_regex(table["question"], _SPATIAL_WORDS), False)
    return pc.or_(spatial, words).to_numpy(zero_copy_only=False)


def direction_of_one_channel(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    mono = {one.path for one, probe in audio.readable if probe.channels == 1}
    if not mono or audio.expected.get("channels") is not None:
        return
    paths, asked, rows = audio.table.paths, _spatial(audio.table.table), dict[str, int]()
    for name, row in zip(paths.name.tolist(), paths.row.tolist(), strict=True):
        if asked[row] and plain(paths.names[name]) in mono:
            rows.setdefault(plain(paths.names[name]), row)
    for path, row in [*rows.items()][:1]:
        more = f", and {plural(len(rows) - 1, 'other recording')}" if len(rows) > 1 else ""
        message = f"{clipped(path)} has 1 channel, but the question takes a direction or distance to answer{more}"
        yield finding(row, "audio", message)


def time_outside_audio(audio: Audio, finding: MakeFinding) -> Iterator[Finding]:
    table, aside = audio.table, audio.expected.get("aside")
    columns = [table.values(field) for field in _TIMES] if audio.lengths else []
    for row, (recordings, start, end, span, onset, events) in enumerate(zip(*columns, strict=True)):
        seconds = audio.lengths.get(plain(recordings[0])) if len(recordings) == 1 else None
        if seconds is None:
            continue
        # the span of an item with both is QAI105, which needs no recording
        times = _times(None if start is not None and end is not None else span, onset, events)
        start = _seconds(table.further("start")[row]) if start is None and aside else start
        end = _seconds(table.further("end")[row]) if end is None and aside else end
        whole = "recording" if end is None else "clip"
        for what, field, number, time, last in _late(start, end, seconds, times):
            thing = "recording" if field in ("start", "end") else whole
            message = f"{what} is {time:g} s, but the {thing} ends at {last:.3f} s"
            yield finding(row, field, message, None, number)


_TIMES = ("audio", "start", "end", "answer_meta.time_span", "answer_meta.onset_time", "events")


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _late(
    start: float | None, end: float | None, seconds: float, times: Iterator[tuple[str, str, int | None, float]]
) -> Iterator[tuple[str, str, int | None, float, float]]:
    if start is not None and end is not None and end < start:
        return  # that is QAI105, and the length of the part is unknown
    if start is not None and start >= seconds:
        yield "start", "start", None, start, seconds
    elif end is not None and end > seconds + SLACK:
        yield "end", "end", None, end, seconds
    else:
        length = (min(end, seconds) if end is not None else seconds) - (start or 0.0)
        yield from ((*time, length) for time in times if time[-1] > length + SLACK)


def _times(
    span: list[float] | None, onset: float | None, events: list[dict[str, Any]] | None
) -> Iterator[tuple[str, str, int | None, float]]:
    if span is not None:
        yield "time_span", "answer_meta", None, max(span)
    if onset is not None:
        yield "onset_time", "answer_meta", None, onset
    for number, event in enumerate(events or ()):
        last = max((time for time in (event["onset"], event["offset"]) if time is not None), default=None)
        if last is not None:
            yield f"the end of {clipped(event['class_name'], 30)}", "events", number, last


RECORDING_RULES = (
    audio_missing,
    audio_unreadable,
    audio_cut_off,
    audio_rate,
    audio_channels,
    audio_too_long,
    audio_of_another_length,
    audio_known_oddity,
    audio_not_checked,
    direction_of_one_channel,
    time_outside_audio,
)
